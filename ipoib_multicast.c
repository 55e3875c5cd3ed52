// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups: which MGIDs this device is to be a member of, and for how long.
 * How they are joined is in ipoib_join.c, and what has it done in ipoib_groups.c.
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
#include <linux/mm.h>
#include <linux/moduleparam.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_GROUP_EXPIRE_MAX	(60 * HZ)	/* how often idle groups are looked for */
#define IPOIB_GROUP_CROWDED_IDLE 30	/* seconds, while groups are as many as may be */

static unsigned int sendonly_idle = 300;
module_param(sendonly_idle, uint, 0644);
MODULE_PARM_DESC(sendonly_idle,
		 "Seconds after which a group that was only sent to is left (default 300, 0: never)");

/* ipoib_groups.all is the control path's: whoever makes a group there enters it, the others when
 * they are served for the first time.
 */
static struct ipoib_group *group_create(struct ipoib_dev *priv, const u8 *mgid,
					enum ipoib_group_role role)
{
	struct ipoib_group *group = kzalloc(sizeof(*group), GFP_ATOMIC);

	lockdep_assert_held(&priv->groups.dests.lock);
	if (!group)
		return NULL;
	group->priv = priv;
	group->role = role;
	group->created = jiffies;
	INIT_LIST_HEAD(&group->all);
	if (ipoib_dest_add(&priv->groups.dests, &group->dest, mgid)) {
		kfree(group);
		return NULL;
	}
	priv->groups.of[role]++;
	ipoib_dest_make_busy(&priv->groups.dests, &group->dest);
	ipoib_groups_kick(priv);
	return group;
}

/* Keeps a packet until the group has an AH */
static void group_queue(struct ipoib_dev *priv, struct ipoib_group *group,
			struct sk_buff *skb)
{
	if (group->dest.dead) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_GROUP_FAILED);
	} else if (skb_queue_len(&group->dest.queue) >= IPOIB_GROUP_QUEUE_MAX) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_GROUP_FULL);
	} else if (priv->groups.dests.queued >= IPOIB_GROUPS_QUEUED_MAX) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_GROUP_BACKLOG);
	} else {
		__skb_queue_tail(&group->dest.queue, skb);
		priv->groups.dests.queued++;
	}
}

/* A scan of IPv6 addresses sends to a group for each, of which every one costs the fabric
 * a join and an MLID. When there are as many as may be, what is for another goes to all
 * (RFC 4391 section 10), which reaches whoever listens, and idle ones are given up sooner:
 * a stream of packets gets the next place that is free.
 */
static struct ipoib_group *group_for_sending(struct ipoib_dev *priv, const u8 *mgid)
{
	u32 *sent_to = &priv->groups.of[IPOIB_GROUP_SEND_ONLY];
	struct ipoib_group *group;
	struct ipoib_dest *dest;

	lockdep_assert_held(&priv->groups.dests.lock);
	dest = ipoib_dest_find(&priv->groups.dests, mgid);
	if (dest)
		return ipoib_group_of(dest);
	if (*sent_to >= IPOIB_GROUPS_SENT_MAX) {
		ipoib_count(priv, IPOIB_STAT_TX_GROUP_LIMIT);
		return priv->groups.broadcast;
	}
	group = group_create(priv, mgid, IPOIB_GROUP_SEND_ONLY);
	if (*sent_to >= IPOIB_GROUPS_SENT_MAX)
		mod_delayed_work(priv->wq, &priv->groups.expire_work, HZ);
	return group;
}

static struct ipoib_ah *group_xmit_slow(struct ipoib_dev *priv, struct sk_buff *skb)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	struct ipoib_group *group;
	struct ipoib_ah *ah = NULL;

	spin_lock_bh(&priv->groups.dests.lock);
	if (!ipoib_link_runs(priv)) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_CARRIER);
		goto out;
	}
	group = group_for_sending(priv, hwaddr->gid);
	if (!group) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		goto out;
	}
	ah = rcu_dereference(group->dest.ah);
	if (!ah)
		group_queue(priv, group, skb);
out:
	spin_unlock_bh(&priv->groups.dests.lock);
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
	struct ipoib_dest *dest;
	struct ipoib_ah *ah;

	if (group_set_pkey(priv, skb)) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		return NULL;
	}
	hwaddr = (struct ipoib_hwaddr *)skb->data;
	dest = ipoib_dest_find_rcu(&priv->groups.dests, hwaddr->gid);
	if (likely(dest)) {
		ipoib_dest_use(dest);
		ah = rcu_dereference(dest->ah);
		if (likely(ah))
			return ah;
	}
	return group_xmit_slow(priv, skb);
}

static void group_remove(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	ipoib_mcast_debug(priv, "leaving %pI6\n", group->dest.gid.raw);
	spin_lock_bh(&priv->groups.dests.lock);
	ipoib_dest_remove(&priv->groups.dests, &group->dest);
	priv->groups.of[group->role]--;
	spin_unlock_bh(&priv->groups.dests.lock);

	ipoib_group_drop_queued(group);
	ipoib_group_leave(group);
	ipoib_group_detach(group);
	ipoib_group_set_fleeting(group, false);
	ipoib_ah_replace(&group->dest.ah, NULL);
	list_del(&group->all);
	kfree_rcu(group, dest.rcu);
}

/**
 * ipoib_group_forget() - a group is not what it was, or not any more
 * @group: the group
 *
 * Nothing may be sent by its old address. What is to be sent waits for the new one.
 *
 * Context: control path.
 */
void ipoib_group_forget(struct ipoib_group *group)
{
	ipoib_group_rejoin(group, group->role);
	ipoib_group_detach(group);
	ipoib_ah_replace(&group->dest.ah, NULL);
}

/* A router is through with a group that others had: it was deleted, or its fabric
 * does not let us hear it. What is to be sent to it is reason to ask for it still.
 */
static void group_unroute(struct ipoib_group *group)
{
	bool waiting;

	spin_lock_bh(&group->priv->groups.dests.lock);
	waiting = !skb_queue_empty(&group->dest.queue);
	spin_unlock_bh(&group->priv->groups.dests.lock);
	if (!waiting) {
		group_remove(group);
		return;
	}
	ipoib_group_set_role(group, IPOIB_GROUP_SEND_ONLY);
	ipoib_group_forget(group);
}

/**
 * ipoib_groups_adopt() - enter groups into the list of all that the data path has made
 * @priv: the device
 *
 * Context: control path, which owns the list.
 */
void ipoib_groups_adopt(struct ipoib_dev *priv)
{
	struct ipoib_group *group;

	spin_lock_bh(&priv->groups.dests.lock);
	list_for_each_entry(group, &priv->groups.dests.busy, dest.busy)
		if (list_empty(&group->all))
			list_add_tail(&group->all, &priv->groups.all);
	spin_unlock_bh(&priv->groups.dests.lock);
}

static struct ipoib_group *group_find(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	struct ipoib_dest *dest;

	spin_lock_bh(&priv->groups.dests.lock);
	dest = ipoib_dest_find(&priv->groups.dests, mgid);
	spin_unlock_bh(&priv->groups.dests.lock);
	return dest ? ipoib_group_of(dest) : NULL;
}

static struct ipoib_group *group_create_listed(struct ipoib_dev *priv,
					       const union ib_gid *mgid,
					       enum ipoib_group_role role)
{
	struct ipoib_group *group;

	spin_lock_bh(&priv->groups.dests.lock);
	group = group_create(priv, mgid->raw, role);
	if (group)
		list_add_tail(&group->all, &priv->groups.all);
	spin_unlock_bh(&priv->groups.dests.lock);
	return group;
}

static bool sibling_has_group(struct ipoib_dev *sibling, const void *mgid)
{
	return group_find(sibling, mgid);
}

/**
 * ipoib_group_is_of_user() - whether a group is left to a program that has joined it
 * @priv: the device
 * @mgid: the group, which the device does not have
 *
 * With umcast, it is if the port is a member of the group already. That tells of no program
 * where another netdevice of the port has the group: all containers of a partition
 * listen to 224.0.0.1.
 *
 * Context: control path.
 * Return: true if so.
 */
bool ipoib_group_is_of_user(struct ipoib_dev *priv, union ib_gid *mgid)
{
	return READ_ONCE(priv->umcast) && priv->port->fabric->is_joined(priv, mgid) &&
	       !ipoib_port_any_other(priv, sibling_has_group, mgid);
}

static void group_want(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group && ipoib_group_is_of_user(priv, mgid))
		return;
	if (!group)
		group = group_create_listed(priv, mgid, IPOIB_GROUP_MEMBER);
	if (!group) {
		/* Out of memory, or a packet to it came just now: look again soon */
		WRITE_ONCE(priv->groups.mc_list_changed, true);
		return;
	}
	group->wanted = true;
	if (group->role < IPOIB_GROUP_MEMBER)
		ipoib_group_rejoin(group, IPOIB_GROUP_MEMBER);
}

/* The reason for a group is gone. A router hears it on, if others have it. */
static void group_withdraw(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (!priv->groups.routing) {
		group_remove(group);
		return;
	}
	group->listed = priv->groups.news.round;
	ipoib_group_rejoin(group, IPOIB_GROUP_ROUTER);
}

/* The entries that we join, those first that are on the list for longest. Returns how many
 * there are, also beyond those that there is room for.
 */
static int mc_list_read(struct ipoib_dev *priv, union ib_gid *copy, int room)
{
	struct net_device *netdev = priv->netdev;
	struct netdev_hw_addr *entry;
	int n = 0;

	netif_addr_lock_bh(netdev);
	netdev_for_each_mc_addr(entry, netdev) {
		if (!ipoib_mgid_is_listed(priv, entry->addr))
			continue;
		if (n < room)
			memcpy(&copy[n], ((struct ipoib_hwaddr *)entry->addr)->gid, sizeof(*copy));
		n++;
	}
	netif_addr_unlock_bh(netdev);
	return n;
}

/* Anybody on this host may have sockets that join, and the administrator of a container
 * may put any number of addresses on the list
 */
static void mc_list_is_too_long(struct ipoib_dev *priv)
{
	ipoib_count(priv, IPOIB_STAT_GROUP_LIMIT);
	if (net_ratelimit())
		netdev_warn(priv->netdev, "listens to more than %u groups: only these are joined\n",
			    IPOIB_GROUPS_LISTED_MAX);
}

/* The list may only be read under a lock that group_want() must not hold. If it grows
 * meanwhile, it will be read again.
 */
static union ib_gid *mc_list_copy(struct ipoib_dev *priv, int *count)
{
	int room = min(netdev_mc_count(priv->netdev) + 1, IPOIB_GROUPS_LISTED_MAX);
	union ib_gid *copy = kvmalloc_array(room, sizeof(*copy), GFP_KERNEL);
	int found;

	if (!copy)
		return NULL;
	found = mc_list_read(priv, copy, room);
	if (found > IPOIB_GROUPS_LISTED_MAX)
		mc_list_is_too_long(priv);
	*count = min(found, room);
	return copy;
}

/**
 * ipoib_groups_follow_list() - be a member of what the IP layer listens to
 * @priv: the device
 *
 * Mark and sweep. Nothing happens if its list is the same as before.
 *
 * Context: control path.
 */
void ipoib_groups_follow_list(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;
	union ib_gid *list;
	int count, i;

	if (!READ_ONCE(priv->groups.mc_list_changed))
		return;
	WRITE_ONCE(priv->groups.mc_list_changed, false);
	list = mc_list_copy(priv, &count);
	if (!list) {
		WRITE_ONCE(priv->groups.mc_list_changed, true);
		return;
	}
	ipoib_groups_adopt(priv);
	list_for_each_entry(group, &priv->groups.all, all)
		group->wanted = group->role != IPOIB_GROUP_MEMBER;
	for (i = 0; i < count; i++)
		group_want(priv, &list[i]);
	list_for_each_entry_safe(group, next, &priv->groups.all, all)
		if (!group->wanted)
			group_withdraw(group);
	kvfree(list);
}

/**
 * ipoib_group_appeared() - the fabric has a group that a router is to hear
 * @priv: the device; a router
 * @mgid: a group of its link
 *
 * As many are heard as a subnet has MLIDs: any member of the partition can create some.
 *
 * Context: control path.
 * Return: false if there was no memory for it.
 */
bool ipoib_group_appeared(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group && ipoib_group_is_of_user(priv, mgid))
		return true;
	if (!group && priv->groups.of[IPOIB_GROUP_ROUTER] >= IPOIB_GROUPS_HEARD_MAX) {
		ipoib_count(priv, IPOIB_STAT_GROUP_LIMIT);
		return true;
	}
	if (!group)
		group = group_create_listed(priv, mgid, IPOIB_GROUP_ROUTER);
	if (group)
		group->listed = priv->groups.news.round;
	return group;
}

/* The broadcast group is the link: its members keep it, and before it is given up the list
 * is to tell whether there is none.
 */
static void broadcast_doubt(struct ipoib_dev *priv)
{
	priv->groups.news.broadcast_doubted = true;
	WRITE_ONCE(priv->groups.news.list_wanted, true);
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
	if (group->role == IPOIB_GROUP_BROADCAST)
		broadcast_doubt(priv);
	else if (group->role == IPOIB_GROUP_ROUTER)
		group_unroute(group);
	else if (group->role == IPOIB_GROUP_SEND_ONLY && group->joined)
		group_remove(group);
	else
		ipoib_group_forget(group);
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

	list_for_each_entry_safe(group, next, &priv->groups.all, all)
		if (group->role == IPOIB_GROUP_ROUTER && group->listed != priv->groups.news.round)
			group_unroute(group);
}

/**
 * ipoib_groups_follow_routing() - whether the device is a router has changed
 * @priv: the device
 *
 * Context: control path.
 */
void ipoib_groups_follow_routing(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;

	list_for_each_entry_safe(group, next, &priv->groups.all, all) {
		if (group->role == IPOIB_GROUP_SEND_ONLY)
			ipoib_group_rejoin(group, group->role);
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

	list_for_each_entry(group, &priv->groups.all, all) {
		if (group->role != IPOIB_GROUP_SEND_ONLY || !group->fleeting || !group->joined)
			continue;
		ipoib_group_rejoin(group, group->role);
		/* By the kind that was granted before */
		group->dest.failures = 1;
	}
}

/* Without so many groups nobody needs the place of one that is idle */
static bool groups_are_crowded(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->groups.of[IPOIB_GROUP_SEND_ONLY]) >= IPOIB_GROUPS_SENT_MAX;
}

static bool group_is_idle(const struct ipoib_group *group, unsigned int seconds)
{
	return group->role == IPOIB_GROUP_SEND_ONLY &&
	       time_after(jiffies, READ_ONCE(group->dest.used) + seconds * HZ);
}

static void group_expire_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, groups.expire_work.work);
	unsigned int seconds = READ_ONCE(sendonly_idle);
	unsigned long wait = IPOIB_GROUP_EXPIRE_MAX;
	struct ipoib_group *group, *next;

	ipoib_groups_adopt(priv);
	if (groups_are_crowded(priv))
		seconds = min_t(unsigned int, seconds, IPOIB_GROUP_CROWDED_IDLE);
	if (seconds) {
		list_for_each_entry_safe(group, next, &priv->groups.all, all) {
			if (!group_is_idle(group, seconds))
				continue;
			ipoib_count(priv, IPOIB_STAT_GROUP_EXPIRIES);
			group_withdraw(group);
		}
		wait = min(wait, max(seconds * HZ / 4, (unsigned long)HZ));
	}
	if (groups_are_crowded(priv))
		wait = HZ;
	queue_delayed_work(priv->wq, &priv->groups.expire_work, wait);
}

/**
 * ipoib_group_create_broadcast() - make the group that makes the link
 * @priv: the device; it has none
 *
 * Context: control path.
 * Return: the group, or NULL.
 */
struct ipoib_group *ipoib_group_create_broadcast(struct ipoib_dev *priv)
{
	const struct ipoib_hwaddr *hwaddr = (void *)priv->netdev->broadcast;

	return group_create_listed(priv, (const union ib_gid *)hwaddr->gid,
				   IPOIB_GROUP_BROADCAST);
}

/**
 * ipoib_groups_remove() - leave and forget all groups
 * @priv: the device
 *
 * Context: control path.
 */
void ipoib_groups_remove(struct ipoib_dev *priv)
{
	struct ipoib_group *group, *next;

	ipoib_groups_adopt(priv);
	list_for_each_entry_safe(group, next, &priv->groups.all, all)
		group_remove(group);
}

/**
 * ipoib_groups_walk() - see each group
 * @priv: the device
 * @see: called with each struct ipoib_group
 * @context: passed on
 *
 * Context: process; @see is called on the RCU read side.
 */
void ipoib_groups_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		       void *context)
{
	ipoib_dests_walk(&priv->groups.dests, see, context);
}

/**
 * ipoib_groups_expire_init() - make the list of all groups, and begin to look for unused ones
 * @priv: the device; its workqueue exists
 *
 * Context: any.
 */
void ipoib_groups_expire_init(struct ipoib_dev *priv)
{
	INIT_LIST_HEAD(&priv->groups.all);
	INIT_DELAYED_WORK(&priv->groups.expire_work, group_expire_work);
	queue_delayed_work(priv->wq, &priv->groups.expire_work, HZ);
}
