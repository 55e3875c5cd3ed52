// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Maintains the set of multicast groups that a device is a member of.
 * ipoib_join.c joins them, and ipoib_groups.c has the work that drives both.
 *
 * The broadcast group defines the link (RFC 4391 section 5): it is joined first,
 * and all other groups use its parameters. Groups that the IP layer has joined
 * follow the netdevice's multicast list. A group that is only sent to is joined
 * when its first packet is sent. A join that failed is retried with a back-off
 * per group, so that it does not delay other groups.
 *
 * A router is also a member of the groups of other hosts, as long as these exist:
 * see ipoib_router.c.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_GROUP_EXPIRE_MAX	(60 * HZ)	/* largest interval of scans for idle groups */
#define IPOIB_GROUP_CROWDED_IDLE 30	/* seconds, while the limit of groups is reached */

static unsigned int sendonly_idle = 300;
module_param(sendonly_idle, uint, 0644);
MODULE_PARM_DESC(sendonly_idle,
		 "Seconds without sending after which a send-only group is left (default 300, 0: never)");

/* Creates a group. It is not added to ipoib_groups.all, which only the control path may use: a
 * caller on the control path adds it, and the control path adds groups of the data path when it
 * first processes them.
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

/* Queues a packet until the group has an AH, or drops it */
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

/* Finds or creates the group to send to. The number of send-only groups is limited, because a
 * scan of IPv6 addresses sends to a group per address, and each group costs the fabric a join
 * and an MLID. At the limit, packets to further groups are sent to the broadcast group (RFC
 * 4391 section 10), whose members include all listeners, and idle groups are left sooner, so
 * that a continuing stream of packets soon gets a group of its own.
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

/* Writes the link's P_Key into the destination MGID if it has none. A program that uses a packet
 * socket knows how an MGID is built, but not the P_Key of the link, and all groups of the link
 * have that P_Key.
 */
static int group_set_pkey(struct ipoib_dev *priv, struct sk_buff *skb)
{
	struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	int err;

	if (!ipoib_mgid_lacks_pkey(priv, (struct ipoib_mgid *)hwaddr->gid))
		return 0;
	/* A packet socket that captures packets may hold a clone */
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
 * @skb: the packet; begins with struct ipoib_header
 *
 * If the device is not a member of the group, the group is joined for sending only.
 *
 * Context: RCU read side, BHs disabled.
 * Return: the AH, or NULL if the packet was consumed: queued until there is an AH, or dropped.
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

/* A group was deleted. Nothing is sent to its old MLID any more; packets to the group wait until it
 * is joined again.
 */
static void group_forget(struct ipoib_group *group)
{
	ipoib_group_rejoin(group, group->role);
	ipoib_group_detach(group);
	ipoib_ah_replace(&group->dest.ah, NULL);
}

/* Ends a router's membership of a group of other hosts: the group was deleted, or is not listed
 * by the fabric, or the device is no longer a router. If packets wait for the group, it is kept
 * and joined for sending.
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
	group_forget(group);
}

/**
 * ipoib_groups_adopt() - add the groups that the data path created to the list of all groups
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

static bool sibling_is_member(struct ipoib_dev *sibling, const void *mgid)
{
	struct ipoib_dest *dest;
	bool joined;

	spin_lock_bh(&sibling->groups.dests.lock);
	dest = ipoib_dest_find(&sibling->groups.dests, mgid);
	joined = dest && READ_ONCE(ipoib_group_of(dest)->joined);
	spin_unlock_bh(&sibling->groups.dests.lock);
	return joined;
}

/**
 * ipoib_group_is_of_sibling() - tell whether another netdevice of the port is a member of a group
 * @priv: the device
 * @mgid: the group
 *
 * Context: control path.
 * Return: true if there is such a netdevice.
 */
bool ipoib_group_is_of_sibling(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	return ipoib_port_any_other(priv, sibling_is_member, mgid);
}

/**
 * ipoib_group_is_of_user() - tell whether a group is left to a user-space program that joined it
 * @priv: the device
 * @mgid: the group, which the device does not have
 *
 * This is so if the umcast attribute is set and the port is a member of the group already. But if
 * another netdevice of the port has the group, that explains the membership, and it is not so: for
 * example, all containers of a partition join 224.0.0.1.
 *
 * Context: control path.
 * Return: true if the device must not join the group.
 */
bool ipoib_group_is_of_user(struct ipoib_dev *priv, union ib_gid *mgid)
{
	return READ_ONCE(priv->umcast) && priv->port->fabric->is_joined(priv, mgid) &&
	       !ipoib_port_any_other(priv, sibling_has_group, mgid);
}

/* Returns whether what looks like a program's membership may be one that this device has left, as
 * it does with all of them when its address changes
 */
static bool groups_are_leaving(const struct ipoib_dev *priv)
{
	return time_before(jiffies, priv->groups.left_at + IPOIB_LEAVE_TIME);
}

static void group_want(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);
	bool of_user = !group && ipoib_group_is_of_user(priv, mgid);

	if (of_user && !groups_are_leaving(priv))
		return;
	if (!group && !of_user)
		group = group_create_listed(priv, mgid, IPOIB_GROUP_MEMBER);
	if (!group) {
		/* No memory, the data path has just created the group, or it is not known whether a
		 * program has joined it: read the list again
		 */
		WRITE_ONCE(priv->groups.mc_list_changed, true);
		return;
	}
	group->wanted = true;
	if (group->role < IPOIB_GROUP_MEMBER)
		ipoib_group_rejoin(group, IPOIB_GROUP_MEMBER);
}

/* The group is no longer needed for its role. A router stays a member as long as the fabric lists
 * the group.
 */
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

/* Copies the MGIDs of the multicast list that the device has to join, oldest first, up to @room of
 * them. Returns their total number, which may be greater than @room.
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

/* The number of groups has to be limited: any user of this host can join groups by sockets, and
 * the administrator of a container can put any number of addresses on the list.
 */
static void mc_list_is_too_long(struct ipoib_dev *priv)
{
	ipoib_count(priv, IPOIB_STAT_GROUP_LIMIT);
	if (net_ratelimit())
		netdev_warn(priv->netdev, "listens to more than %u groups: only these are joined\n",
			    IPOIB_GROUPS_LISTED_MAX);
}

/* The list is copied, because it has to be read under a lock that must not be held in
 * group_want(). If the list grows before it is read, it will be read again.
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
 * ipoib_groups_follow_list() - join and leave groups as the netdevice's multicast list says
 * @priv: the device
 *
 * Does nothing if the list has not changed since the last call. This is a mark-and-sweep pass:
 * groups with the role IPOIB_GROUP_MEMBER that are not on the list are withdrawn.
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
 * ipoib_group_appeared() - have a router join a group that exists in the fabric
 * @priv: the device; a router
 * @mgid: a group of its link
 *
 * Any member of the partition can create groups, so a router joins at most as many as a subnet has
 * MLIDs. A group beyond this limit is counted and ignored.
 *
 * Context: control path.
 * Return: false if it has to be called again: there was no memory for the group, or it is not known
 * whether a program has joined it.
 */
bool ipoib_group_appeared(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group && ipoib_group_is_of_user(priv, mgid))
		return !groups_are_leaving(priv);
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

/**
 * ipoib_group_was_created() - note the report that a group was created
 * @priv: the device
 * @mgid: the group; nothing happens if the device does not have it
 *
 * Context: control path.
 */
void ipoib_group_was_created(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (group)
		group->reported = jiffies;
}

/* A router's group was reported deleted. The SA repeats a Report until it is answered, so this one
 * may be older than that of the group's creation: then the list decides.
 */
static void group_lose(struct ipoib_group *group)
{
	if (time_before(jiffies, group->reported + IPOIB_LIST_DOUBT))
		ipoib_groups_doubt(group->priv);
	group_unroute(group);
}

/* A group that our membership keeps alive was reported deleted. Most likely the Report is late, and
 * the group was created again since. To leave it would cost packets and, if we are its only member,
 * would delete it, which would be reported again. So the fabric's list is read before: the next one
 * that is requested, and at once if the link itself is in doubt.
 */
static void group_doubt(struct ipoib_group *group)
{
	struct ipoib_group_news *news = &group->priv->groups.news;

	group->doubted = news->round + 1;
	news->doubts = true;
	if (group->role == IPOIB_GROUP_BROADCAST)
		WRITE_ONCE(news->list_wanted, true);
	else
		ipoib_groups_doubt(group->priv);
}

/**
 * ipoib_group_vanished() - handle the report that a group was deleted
 * @priv: the device
 * @mgid: the group; nothing happens if the device does not have it
 *
 * Nothing may be sent to the group's MLID any more, since the fabric may assign it to another
 * group. A send-only group is removed; the next packet to it creates it again. But if our own
 * membership keeps the group alive, the Report is checked first.
 *
 * Context: control path.
 */
void ipoib_group_vanished(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (!group)
		return;
	if (group->role == IPOIB_GROUP_ROUTER)
		group_lose(group);
	else if (group->role == IPOIB_GROUP_BROADCAST || (group->joined && !group->fleeting))
		group_doubt(group);
	else if (group->role == IPOIB_GROUP_SEND_ONLY && group->joined)
		group_remove(group);
	else
		group_forget(group);
}

/**
 * ipoib_group_was_listed() - note that the fabric's list has a group
 * @priv: the device
 * @mgid: the group; nothing happens if the device does not have it
 *
 * Context: control path.
 */
void ipoib_group_was_listed(struct ipoib_dev *priv, const union ib_gid *mgid)
{
	struct ipoib_group *group = group_find(priv, mgid);

	if (group)
		group->listed = priv->groups.news.round;
}

/* The list lacks a doubted group, so our membership is void. All other members of the group may
 * find that, too: the join is delayed as if the fabric had revoked the membership. Until then
 * nothing is sent to the MLID.
 */
static void group_revoke(struct ipoib_group *group)
{
	ipoib_ah_replace(&group->dest.ah, NULL);
	ipoib_group_answer(group, -ENETRESET, NULL);
}

/**
 * ipoib_groups_judge() - give up groups that the fabric's list lacks
 * @priv: the device
 *
 * These are doubted groups, and a router's groups of other hosts. Those that have come into doubt
 * since this list was requested are left to the next one.
 *
 * Context: control path.
 */
void ipoib_groups_judge(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;
	struct ipoib_group *group, *next;
	bool listed;

	news->doubts = false;
	list_for_each_entry_safe(group, next, &priv->groups.all, all) {
		listed = group->listed == news->round;
		if (group->doubted > news->round) {
			news->doubts = true;
		} else if (group->doubted) {
			group->doubted = 0;
			if (!listed)
				group_revoke(group);
		}
		if (group->role == IPOIB_GROUP_ROUTER && !listed)
			group_unroute(group);
	}
}

/**
 * ipoib_groups_follow_routing() - adapt all groups after the device became or ceased to be a router
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
 * ipoib_groups_confirm() - rejoin groups whose deletion may have been missed
 * @priv: the device
 *
 * These are the send-only groups that the device's membership does not keep alive.
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
		/* Makes the join request the kind of membership that was granted before */
		group->refused = true;
	}
}

/* Returns whether the limit of send-only groups is reached: then idle ones are left sooner */
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
	unsigned int seconds = min_t(u32, READ_ONCE(sendonly_idle), INT_MAX / HZ);
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
 * ipoib_group_create_broadcast() - create the broadcast group
 * @priv: the device; it has no broadcast group
 *
 * The caller stores it in &ipoib_groups.broadcast.
 *
 * Context: control path.
 * Return: the group, or NULL if there is no memory for it or its MGID is in the table already.
 */
struct ipoib_group *ipoib_group_create_broadcast(struct ipoib_dev *priv)
{
	const struct ipoib_hwaddr *hwaddr = (void *)priv->netdev->broadcast;

	return group_create_listed(priv, (const union ib_gid *)hwaddr->gid,
				   IPOIB_GROUP_BROADCAST);
}

/**
 * ipoib_groups_remove() - leave and free all groups
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
 * ipoib_groups_walk() - call a function for each group
 * @priv: the device
 * @see: called with each struct ipoib_group; must not sleep
 * @context: passed to @see
 *
 * Context: process; @see is called on the RCU read side.
 */
void ipoib_groups_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		       void *context)
{
	ipoib_dests_walk(&priv->groups.dests, see, context);
}

/**
 * ipoib_groups_expire_init() - initialize the list of all groups, and start the scan for idle ones
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
