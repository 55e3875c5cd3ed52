// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups: which MGIDs this device is to be a member of, joining and
 * leaving them, and the address handles to send to them.
 *
 * The broadcast group makes the link (RFC 4391 section 5): it is joined first,
 * and its parameters are those of all other groups. The groups that the IP
 * layer listens to follow the netdevice's multicast list; a group that is only
 * sent to is joined when the first packet comes. A group whose join failed is
 * asked for again, by a back-off of its own: it holds up no other.
 *
 * A router hears the groups of others as well, as long as they have them: see
 * ipoib_router.c.
 */
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_GROUP_EXPIRE_MAX	(60 * HZ)	/* how often idle groups are looked for */
#define IPOIB_GROUP_LEAVE_WAIT	(HZ / 100)	/* how soon a membership may be given up */

static unsigned int sendonly_idle = 300;
module_param(sendonly_idle, uint, 0644);
MODULE_PARM_DESC(sendonly_idle,
		 "Seconds after which a group that was only sent to is left (default 300, 0: never)");

/* For rhashtable: 0 if the group is the one that is looked for */
static int group_is_other(struct rhashtable_compare_arg *arg, const void *group)
{
	return !ipoib_gid_equal(arg->key, ((const struct ipoib_group *)group)->mgid.raw);
}

static const struct rhashtable_params groups_params = {
	.hashfn = ipoib_gid_hash,
	.obj_cmpfn = group_is_other,
	.key_len = sizeof_field(struct ipoib_group, mgid),
	.key_offset = offsetof(struct ipoib_group, mgid),
	.head_offset = offsetof(struct ipoib_group, node),
	.automatic_shrinking = true,
};

static void group_make_busy(struct ipoib_group *group)
{
	lockdep_assert_held(&group->priv->lock);
	if (list_empty(&group->busy))
		list_add_tail(&group->busy, &group->priv->groups_busy);
}

/**
 * ipoib_groups_kick() - have the groups' work look at what has changed
 * @priv: the device
 *
 * Context: any.
 */
void ipoib_groups_kick(struct ipoib_dev *priv)
{
	mod_delayed_work(priv->wq, &priv->group_work, 0);
}

/* The caller puts the group on groups_all, which the control path owns */
static struct ipoib_group *group_create(struct ipoib_dev *priv, const u8 *mgid,
					enum ipoib_group_role role)
{
	struct ipoib_group *group = kzalloc(sizeof(*group), GFP_ATOMIC);

	lockdep_assert_held(&priv->lock);
	if (!group)
		return NULL;
	memcpy(group->mgid.raw, mgid, sizeof(group->mgid));
	group->priv = priv;
	group->role = role;
	group->retry_at = jiffies;
	group->created = jiffies;
	group->used = jiffies;
	INIT_LIST_HEAD(&group->busy);
	INIT_LIST_HEAD(&group->all);
	__skb_queue_head_init(&group->queue);
	if (rhashtable_insert_fast(&priv->groups, &group->node, groups_params)) {
		kfree(group);
		return NULL;
	}
	group_make_busy(group);
	ipoib_groups_kick(priv);
	return group;
}

/* Keeps a packet until the group has an AH */
static void group_queue(struct ipoib_dev *priv, struct ipoib_group *group,
			struct sk_buff *skb)
{
	if (group->dead)
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_GROUP_FAILED);
	else if (skb_queue_len(&group->queue) >= IPOIB_GROUP_QUEUE_MAX)
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_GROUP_FULL);
	else
		__skb_queue_tail(&group->queue, skb);
}

static struct ipoib_ah *group_xmit_slow(struct ipoib_dev *priv, struct sk_buff *skb)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	struct ipoib_group *group;
	struct ipoib_ah *ah = NULL;

	spin_lock_bh(&priv->lock);
	if (priv->link != IPOIB_LINK_RUNNING) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_CARRIER);
		goto out;
	}
	group = rhashtable_lookup_fast(&priv->groups, hwaddr->gid, groups_params);
	if (!group)
		group = group_create(priv, hwaddr->gid, IPOIB_GROUP_SEND_ONLY);
	if (!group) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		goto out;
	}
	ah = rcu_dereference_protected(group->ah, lockdep_is_held(&priv->lock));
	if (!ah)
		group_queue(priv, group, skb);
out:
	spin_unlock_bh(&priv->lock);
	return ah;
}

/* Packet sockets may be given one address for all links: programs know how it is
 * made, not which partition the link is in. The link has no other groups than those
 * with its own P_Key.
 */
static int group_set_pkey(struct ipoib_dev *priv, struct sk_buff *skb)
{
	struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	int err;

	if (!ipoib_mgid_lacks_pkey(priv, (struct ipoib_mgid *)hwaddr->gid))
		return 0;
	/* Who captures packets may hold a clone */
	err = skb_cow_head(skb, 0);
	if (err)
		return err;
	hwaddr = (struct ipoib_hwaddr *)skb->data;
	((struct ipoib_mgid *)hwaddr->gid)->pkey = cpu_to_be16(priv->pkey);
	return 0;
}

/**
 * ipoib_group_xmit() - find the AH for a multicast packet
 * @priv: the device
 * @skb: begins with struct ipoib_header
 *
 * A group that the device is no member of is joined for sending only.
 *
 * Context: RCU read side, BHs disabled.
 * Return: the AH, or NULL if the packet was kept until there is one, or dropped.
 */
struct ipoib_ah *ipoib_group_xmit(struct ipoib_dev *priv, struct sk_buff *skb)
{
	const struct ipoib_hwaddr *hwaddr;
	unsigned long now = jiffies;
	struct ipoib_group *group;
	struct ipoib_ah *ah;

	if (group_set_pkey(priv, skb)) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		return NULL;
	}
	hwaddr = (struct ipoib_hwaddr *)skb->data;
	group = rhashtable_lookup(&priv->groups, hwaddr->gid, groups_params);
	if (likely(group)) {
		/* Not written by each packet, so that its cache line stays shared */
		if (READ_ONCE(group->used) != now)
			WRITE_ONCE(group->used, now);
		ah = rcu_dereference(group->ah);
		if (likely(ah))
			return ah;
	}
	return group_xmit_slow(priv, skb);
}

/**
 * ipoib_group_answer() - the fabric's answer to ipoib_fabric_ops.join
 * @group: the group
 * @status: 0 or a negative error; -ENETRESET if a membership that was granted
 *	is void now
 * @params: the group's parameters if @status is 0
 *
 * Context: any but hard interrupt.
 */
void ipoib_group_answer(struct ipoib_group *group, int status,
			const struct ipoib_group_params *params)
{
	struct ipoib_dev *priv = group->priv;

	spin_lock_bh(&priv->lock);
	group->request = IPOIB_REQUEST_ANSWERED;
	group->status = status;
	if (!status)
		group->answer = *params;
	if (!group->dead)
		group_make_busy(group);
	ipoib_groups_kick(priv);
	spin_unlock_bh(&priv->lock);
}

static void group_detach(struct ipoib_group *group)
{
	int err;

	if (!group->attached)
		return;
	err = ib_detach_mcast(group->priv->qp, &group->mgid, group->params.mlid);
	if (err && net_ratelimit())
		netdev_warn(group->priv->netdev, "cannot detach QP from %pI6: error %d\n",
			    group->mgid.raw, err);
	group->attached = false;
}

static bool group_is_heard(const struct ipoib_group *group)
{
	return group->role != IPOIB_GROUP_SEND_ONLY || group->priv->routing;
}

static int group_attach(struct ipoib_group *group)
{
	int err;

	if (group->attached || !group_is_heard(group))
		return 0;
	err = ib_attach_mcast(group->priv->qp, &group->mgid, group->params.mlid);
	if (!err)
		group->attached = true;
	return err;
}

/* Sends what is for a group to it, or to the one that is to stand in for it */
static int group_new_ah(struct ipoib_group *group, struct ipoib_group *target)
{
	struct ipoib_dev *priv = group->priv;
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = priv->fabric->group_attr(target, &attr);
	if (err)
		return err;
	ah = ipoib_ah_create(priv, &attr);
	rdma_destroy_ah_attr(&attr);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ipoib_ah_replace(priv, &group->ah, ah);
	return 0;
}

/* RFC 4391 section 5: the link's Q_Key and MTU are those of all its groups. Members of
 * one that has others would not get our packets, however gladly the SA takes us.
 */
static bool group_fits(const struct ipoib_group *group, const struct ipoib_group_params *params)
{
	const struct ipoib_group *broadcast = group->priv->broadcast;

	return group == broadcast || (params->qkey == broadcast->params.qkey &&
				      params->mtu >= broadcast->params.mtu);
}

/* Takes over what the group's members share; packets go on by the old AH until
 * the new one is there.
 */
static int group_set_params(struct ipoib_group *group, const struct ipoib_group_params *params)
{
	int err;

	if (!group_fits(group, params))
		return -EINVAL;
	if (params->mlid != group->params.mlid)
		group_detach(group);
	group->params = *params;
	err = group_attach(group);
	if (err)
		return err;
	return group_new_ah(group, group);
}

static void group_leave(struct ipoib_group *group)
{
	if (group->membership)
		group->priv->fabric->leave(group);
	group->membership = NULL;
	group->joined = false;
	spin_lock_bh(&group->priv->lock);
	group->request = IPOIB_REQUEST_NONE;
	spin_unlock_bh(&group->priv->lock);
}

static void group_send_queued(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&priv->lock);
	skb_queue_splice_init(&group->queue, &queue);
	spin_unlock_bh(&priv->lock);
	ipoib_queue_resend(priv, &queue);
}

/* RFC 4391 section 10: what is for a group that cannot be had may go to all, whose
 * IP layers know what they listen to. Made anew at each failure, since the
 * broadcast group's address may have changed as well.
 */
static bool group_fall_back(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (group == priv->broadcast || !priv->broadcast->joined ||
	    group_new_ah(group, priv->broadcast))
		return false;
	ipoib_count(priv, IPOIB_STAT_GROUP_FALLBACKS);
	return true;
}

static void group_failed(struct ipoib_group *group, int err)
{
	struct ipoib_dev *priv = group->priv;

	ipoib_count(priv, IPOIB_STAT_GROUP_FAILURES);
	trace_ipoib_group_state(group, err);
	ipoib_mcast_debug(priv, "cannot join %pI6: error %d\n", group->mgid.raw, err);
	group_leave(group);
	if (group->role > IPOIB_GROUP_ROUTER && net_ratelimit())
		netdev_warn(priv->netdev, "cannot join %pI6: error %d, will try again\n",
			    group->mgid.raw, err);
	group->retry_at = jiffies + ipoib_backoff(group->failures);
	if (group->failures < U8_MAX)
		group->failures++;
	if (group_fall_back(group)) {
		group_send_queued(group);
		return;
	}
	spin_lock_bh(&priv->lock);
	ipoib_queue_purge(priv, &group->queue, IPOIB_STAT_TX_GROUP_FAILED);
	spin_unlock_bh(&priv->lock);
}

/* Groups that may go while we are in them are why their deletion must be reported */
static void group_set_fleeting(struct ipoib_group *group, bool fleeting)
{
	group->priv->groups_fleeting += fleeting - group->fleeting;
	group->fleeting = fleeting;
}

static void group_succeeded(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	group->failures = 0;
	group->joined = true;
	group_set_fleeting(group, group->params.fleeting);
	trace_ipoib_group_state(group, 0);
	ipoib_mcast_debug(priv, "joined %pI6: MLID %#x\n", group->mgid.raw, group->params.mlid);
	if (group->role == IPOIB_GROUP_BROADCAST) {
		ipoib_link_joined(priv, &group->params);
		/* The others have waited for it */
		ipoib_groups_kick(priv);
	}
	spin_lock_bh(&priv->lock);
	/* Another answer may have come meanwhile: then it is still to be served */
	if (group->request == IPOIB_REQUEST_NONE)
		list_del_init(&group->busy);
	spin_unlock_bh(&priv->lock);
	group_send_queued(group);
}

/* The fabric has forgotten the group (SM restart, new LID): join again, soon but
 * not all ports at once. The AH stays: most often it still leads there.
 */
static void group_reset(struct ipoib_group *group)
{
	group_leave(group);
	group->retry_at = jiffies + get_random_u32_below(HZ / 8);
}

static void group_remove(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	ipoib_mcast_debug(priv, "leaving %pI6\n", group->mgid.raw);
	spin_lock_bh(&priv->lock);
	rhashtable_remove_fast(&priv->groups, &group->node, groups_params);
	group->dead = true;
	list_del_init(&group->busy);
	ipoib_queue_purge(priv, &group->queue, IPOIB_STAT_TX_GROUP_FAILED);
	spin_unlock_bh(&priv->lock);

	group_leave(group);
	group_detach(group);
	group_set_fleeting(group, false);
	ipoib_ah_replace(priv, &group->ah, NULL);
	list_del(&group->all);
	kfree_rcu(group, rcu);
}

/* A membership of another kind is needed: what a packet needs stays */
static void group_rejoin(struct ipoib_group *group, enum ipoib_group_role role)
{
	WRITE_ONCE(group->role, role);
	group_leave(group);
	if (!group_is_heard(group))
		group_detach(group);
	group->retry_at = jiffies;
	group->failures = 0;
	spin_lock_bh(&group->priv->lock);
	group_make_busy(group);
	spin_unlock_bh(&group->priv->lock);
}

/* The group is not what it was, or not any more: nothing may be sent by its old
 * address. What is to be sent waits for the new one.
 */
static void group_forget(struct ipoib_group *group)
{
	group_rejoin(group, group->role);
	group_detach(group);
	ipoib_ah_replace(group->priv, &group->ah, NULL);
}

/* A router is through with a group that others had: it was deleted, or its fabric
 * does not let us hear it. What is to be sent to it is reason to ask for it still.
 */
static void group_unroute(struct ipoib_group *group)
{
	bool waiting;

	spin_lock_bh(&group->priv->lock);
	waiting = !skb_queue_empty(&group->queue);
	spin_unlock_bh(&group->priv->lock);
	if (!waiting) {
		group_remove(group);
		return;
	}
	WRITE_ONCE(group->role, IPOIB_GROUP_SEND_ONLY);
	group_forget(group);
}

/* A NonMember creates no group, so that it is refused may mean that there is none */
static void group_not_joined(struct ipoib_group *group, int err)
{
	if (group->role == IPOIB_GROUP_ROUTER && err == -EINVAL) {
		trace_ipoib_group_state(group, err);
		group_unroute(group);
		return;
	}
	group_failed(group, err);
}

static void group_serve_answer(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	struct ipoib_group_params params;
	int status;

	spin_lock_bh(&priv->lock);
	group->request = IPOIB_REQUEST_NONE;
	status = group->status;
	params = group->answer;
	spin_unlock_bh(&priv->lock);

	if (status == -ENETRESET) {
		group_reset(group);
		return;
	}
	if (!status)
		status = group_set_params(group, &params);
	if (status)
		group_not_joined(group, status);
	else
		group_succeeded(group);
}

static void group_join(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	int err;

	spin_lock_bh(&priv->lock);
	group->request = IPOIB_REQUEST_SENT;
	spin_unlock_bh(&priv->lock);
	ipoib_count(priv, IPOIB_STAT_GROUP_JOINS);
	trace_ipoib_group_state(group, -EINPROGRESS);
	ipoib_mcast_debug(priv, "joining %pI6\n", group->mgid.raw);
	err = priv->fabric->join(group);
	if (err == -EAGAIN) {
		group_leave(group);
		group->retry_at = jiffies + IPOIB_GROUP_LEAVE_WAIT;
	} else if (err) {
		group_failed(group, err);
	}
}

/* All other groups take their parameters from the broadcast group */
static bool group_may_join(const struct ipoib_group *group)
{
	const struct ipoib_group *broadcast = group->priv->broadcast;

	return group == broadcast || (broadcast && broadcast->joined);
}

/* Takes the group one step on. Returns the jiffies until it needs another look,
 * MAX_JIFFY_OFFSET if an answer, its own or the broadcast group's, will be the
 * occasion.
 */
static unsigned long group_serve(struct ipoib_group *group)
{
	long wait;

	/* An answer that has come just now is the next run's */
	if (list_empty(&group->busy) || group->request != IPOIB_REQUEST_NONE ||
	    !group_may_join(group))
		return MAX_JIFFY_OFFSET;
	wait = group->retry_at - jiffies;
	if (wait > 0)
		return wait;
	group_join(group);
	wait = group->retry_at - jiffies;
	return wait > 0 ? wait : MAX_JIFFY_OFFSET;
}

/* Groups made by the data path are not on the control path's list yet */
static void groups_adopt(struct ipoib_dev *priv)
{
	struct ipoib_group *group;

	spin_lock_bh(&priv->lock);
	list_for_each_entry(group, &priv->groups_busy, busy)
		if (list_empty(&group->all))
			list_add_tail(&group->all, &priv->groups_all);
	spin_unlock_bh(&priv->lock);
}

static struct ipoib_group *group_find(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	struct ipoib_group *group;

	spin_lock_bh(&priv->lock);
	group = rhashtable_lookup_fast(&priv->groups, mgid, groups_params);
	spin_unlock_bh(&priv->lock);
	return group;
}

static struct ipoib_group *group_create_listed(struct ipoib_dev *priv,
					       const union ib_gid *mgid,
					       enum ipoib_group_role role)
{
	struct ipoib_group *group;

	spin_lock_bh(&priv->lock);
	group = group_create(priv, mgid->raw, role);
	if (group)
		list_add_tail(&group->all, &priv->groups_all);
	spin_unlock_bh(&priv->lock);
	return group;
}

/* A group that a program on this host has joined at the fabric is left to it */
static bool group_is_of_user(struct ipoib_dev *priv, union ib_gid *mgid)
{
	return READ_ONCE(priv->umcast) && priv->fabric->is_joined(priv, mgid);
}

static void group_want(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group && group_is_of_user(priv, mgid))
		return;
	if (!group)
		group = group_create_listed(priv, mgid, IPOIB_GROUP_MEMBER);
	if (!group) {
		/* Out of memory, or a packet to it came just now: look again soon */
		WRITE_ONCE(priv->mc_list_changed, true);
		return;
	}
	group->wanted = true;
	if (group->role < IPOIB_GROUP_MEMBER)
		group_rejoin(group, IPOIB_GROUP_MEMBER);
}

/* The reason for a group is gone. A router hears it on, if others have it. */
static void group_withdraw(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (!priv->routing) {
		group_remove(group);
		return;
	}
	group->listed = priv->list_round;
	group_rejoin(group, IPOIB_GROUP_ROUTER);
}

/* The list may only be read under a lock that group_want() must not hold */
static union ib_gid *mc_list_copy(struct ipoib_dev *priv, int *count)
{
	struct net_device *netdev = priv->netdev;
	struct netdev_hw_addr *entry;
	union ib_gid *copy;
	int n = 0;

	netif_addr_lock_bh(netdev);
	copy = kcalloc(netdev_mc_count(netdev) + 1, sizeof(*copy), GFP_ATOMIC);
	if (copy)
		netdev_for_each_mc_addr(entry, netdev)
			if (ipoib_mgid_is_listed(priv, entry->addr))
				memcpy(&copy[n++], ((struct ipoib_hwaddr *)entry->addr)->gid,
				       sizeof(*copy));
	netif_addr_unlock_bh(netdev);
	*count = n;
	return copy;
}

/* Mark and sweep: the members are what the IP layer's list says */
static void groups_follow_list(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;
	union ib_gid *list;
	int count, i;

	WRITE_ONCE(priv->mc_list_changed, false);
	list = mc_list_copy(priv, &count);
	if (!list) {
		WRITE_ONCE(priv->mc_list_changed, true);
		return;
	}
	groups_adopt(priv);
	list_for_each_entry(group, &priv->groups_all, all)
		group->wanted = group->role != IPOIB_GROUP_MEMBER;
	for (i = 0; i < count; i++)
		group_want(priv, &list[i]);
	list_for_each_entry_safe(group, next, &priv->groups_all, all)
		if (!group->wanted)
			group_withdraw(group);
	kfree(list);
}

/* The control path alone takes groups off the list, so one that it is at stays */
static struct ipoib_group *group_next_busy(struct ipoib_dev *priv, struct ipoib_group *group)
{
	struct list_head *next;

	spin_lock_bh(&priv->lock);
	next = group ? group->busy.next : priv->groups_busy.next;
	spin_unlock_bh(&priv->lock);
	return next == &priv->groups_busy ? NULL : list_entry(next, struct ipoib_group, busy);
}

/**
 * ipoib_group_appeared() - the fabric has a group that a router is to hear
 * @priv: the device; a router
 * @mgid: a group of its link
 *
 * Context: control path.
 * Return: false if there was no memory for it.
 */
bool ipoib_group_appeared(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group && group_is_of_user(priv, mgid))
		return true;
	if (!group)
		group = group_create_listed(priv, mgid, IPOIB_GROUP_ROUTER);
	if (group)
		group->listed = priv->list_round;
	return group;
}

/**
 * ipoib_group_vanished() - the fabric has a group no more
 * @priv: the device
 * @mgid: the group, whether we have it or not
 *
 * Its MLID may soon be another group's. One that is only sent to is asked for again
 * when there is something to send.
 *
 * Context: control path.
 */
void ipoib_group_vanished(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group)
		return;
	if (group->role == IPOIB_GROUP_ROUTER)
		group_unroute(group);
	else if (group->role == IPOIB_GROUP_SEND_ONLY && group->joined)
		group_remove(group);
	else
		group_forget(group);
}

/**
 * ipoib_groups_sweep() - drop what a router has and the fabric's list has not
 * @priv: the device
 *
 * Context: control path.
 */
void ipoib_groups_sweep(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;

	list_for_each_entry_safe(group, next, &priv->groups_all, all)
		if (group->role == IPOIB_GROUP_ROUTER && group->listed != priv->list_round)
			group_unroute(group);
}

/**
 * ipoib_groups_follow_routing() - ipoib_dev.routing is another than before
 * @priv: the device
 *
 * Context: control path.
 */
void ipoib_groups_follow_routing(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;

	list_for_each_entry_safe(group, next, &priv->groups_all, all) {
		if (group->role == IPOIB_GROUP_SEND_ONLY)
			group_rejoin(group, group->role);
		else if (group->role == IPOIB_GROUP_ROUTER)
			group_unroute(group);
	}
}

/**
 * ipoib_groups_confirm() - ask again for groups whose deletion may have been missed
 * @priv: the device
 *
 * Context: control path.
 */
void ipoib_groups_confirm(struct ipoib_dev *priv)
{
	struct ipoib_group *group;

	list_for_each_entry(group, &priv->groups_all, all) {
		if (group->role != IPOIB_GROUP_SEND_ONLY || !group->fleeting || !group->joined)
			continue;
		group_rejoin(group, group->role);
		/* By the kind that was granted before */
		group->failures = 1;
	}
}

static unsigned long groups_serve(struct ipoib_dev *priv)
{
	unsigned long wait = MAX_JIFFY_OFFSET;
	struct ipoib_group *group, *next;

	groups_adopt(priv);
	for (group = group_next_busy(priv, NULL); group; group = next) {
		next = group_next_busy(priv, group);
		if (group->request == IPOIB_REQUEST_ANSWERED)
			group_serve_answer(group);
	}
	for (group = group_next_busy(priv, NULL); group; group = next) {
		next = group_next_busy(priv, group);
		wait = min(wait, group_serve(group));
	}
	return wait;
}

static void group_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, group_work.work);
	unsigned long wait;

	if (!priv->broadcast)
		return;
	groups_adopt(priv);
	ipoib_router_read(priv);
	if (READ_ONCE(priv->mc_list_changed))
		groups_follow_list(priv);
	wait = min(groups_serve(priv), ipoib_router_ask(priv));
	if (READ_ONCE(priv->mc_list_changed))
		wait = min_t(unsigned long, wait, HZ);
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(priv->wq, &priv->group_work, wait);
}

static bool group_is_idle(const struct ipoib_group *group, unsigned int seconds)
{
	return group->role == IPOIB_GROUP_SEND_ONLY &&
	       time_after(jiffies, READ_ONCE(group->used) + seconds * HZ);
}

static void group_expire_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, group_expire_work.work);
	unsigned int seconds = READ_ONCE(sendonly_idle);
	unsigned long wait = IPOIB_GROUP_EXPIRE_MAX;
	struct ipoib_group *group, *next;

	if (seconds) {
		list_for_each_entry_safe(group, next, &priv->groups_all, all) {
			if (!group_is_idle(group, seconds))
				continue;
			ipoib_count(priv, IPOIB_STAT_GROUP_EXPIRIES);
			group_withdraw(group);
		}
		wait = min(wait, max(seconds * HZ / 4, (unsigned long)HZ));
	}
	queue_delayed_work(priv->wq, &priv->group_expire_work, wait);
}

/**
 * ipoib_groups_changed() - the IP layer's multicast list has changed
 * @priv: the device
 *
 * Context: any but hard interrupt.
 */
void ipoib_groups_changed(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->mc_list_changed, true);
	ipoib_groups_kick(priv);
}

/**
 * ipoib_groups_start() - join the broadcast group, and then all others
 * @priv: the device; its QP runs. Nothing happens if started already
 *
 * Context: control path.
 */
void ipoib_groups_start(struct ipoib_dev *priv)
{
	const struct ipoib_hwaddr *hwaddr = (void *)priv->netdev->broadcast;

	if (priv->broadcast)
		return;
	spin_lock_bh(&priv->lock);
	priv->broadcast = group_create(priv, hwaddr->gid, IPOIB_GROUP_BROADCAST);
	if (priv->broadcast)
		list_add_tail(&priv->broadcast->all, &priv->groups_all);
	spin_unlock_bh(&priv->lock);
	if (priv->broadcast)
		ipoib_groups_changed(priv);
	else
		queue_delayed_work(priv->wq, &priv->link_work, HZ);
}

/**
 * ipoib_groups_stop() - leave and forget all groups
 * @priv: the device; its link is not running any more
 *
 * Context: control path.
 */
void ipoib_groups_stop(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;

	groups_adopt(priv);
	priv->broadcast = NULL;
	priv->routing = false;
	list_for_each_entry_safe(group, next, &priv->groups_all, all)
		group_remove(group);
	ipoib_router_stop(priv);
}

/**
 * ipoib_groups_init() - prepare the table of groups
 * @priv: the device; its workqueue exists
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_groups_init(struct ipoib_dev *priv)
{
	int err;

	INIT_LIST_HEAD(&priv->groups_all);
	INIT_LIST_HEAD(&priv->groups_busy);
	INIT_LIST_HEAD(&priv->group_reports);
	INIT_DELAYED_WORK(&priv->group_work, group_work);
	INIT_DELAYED_WORK(&priv->group_expire_work, group_expire_work);
	err = rhashtable_init(&priv->groups, &groups_params);
	if (!err)
		queue_delayed_work(priv->wq, &priv->group_expire_work, HZ);
	return err;
}

/**
 * ipoib_groups_destroy() - free the table
 * @priv: the device; link down, no groups
 *
 * Context: may sleep.
 */
void ipoib_groups_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->group_expire_work);
	cancel_delayed_work_sync(&priv->group_work);
	rhashtable_destroy(&priv->groups);
}
