// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Groups that hosts of the Ethernet side have reported. They are joined on the IPoIB side, and left
 * when nobody reports them any more.
 *
 * Hosts report a group when they join it, and again when they are queried. So a group whose last
 * report is older than two general queries may not be wanted any more. The queries that this host
 * has heard may be such that other hosts drop them, for their source or for an option, whatever is
 * checked here. So it asks itself before it leaves the group. As long as nobody queries, groups
 * stay. If there is no multicast router, this host can query its Ethernet side (RFC 2236,
 * RFC 3376, RFC 3810), unless somebody else does.
 *
 * A host that leaves a group may say so. Then the others are asked whether one is still in it.
 *
 * The groups by which IPv6 addresses are asked for are wanted by hosts that never report them. So
 * they are required as long as the address is known, whoever says that he leaves them. If they are
 * reported as well, they stay even if the address is not known any more.
 *
 * Each MAC address has a part of the groups, so that a host that wants many does not keep others
 * from having theirs.
 */
#include <linux/etherdevice.h>

#include "eipoib.h"

/* Groups that are reported, and those that are required by IPv6 addresses */
#define MEMBERS_MAX		4096
#define MEMBERS_MAX_PER_MAC	256
#define MEMBERS_MAX_REQUIRED	16384

/* Times of queries: the interval, that at the beginning and for how many queries it is used, and
 * for how long the queries of somebody else count (RFC 3376 section 8)
 */
#define QUERY_INTERVAL		(125 * HZ)
#define QUERY_STARTUP_INTERVAL	(QUERY_INTERVAL / 4)
#define QUERY_STARTUP		2
#define QUERY_OTHERS		(255 * HZ)

/* Until when a general query is answered, and how far two of them have to be apart to count as two:
 * a host that is to answer the second one may not have answered the first one yet
 */
#define RESPONSE_TIME		(15 * HZ)

/* The same for a query about a group that a host has left, which is repeated after half of it */
#define LEAVE_TIME		(2 * HZ)

/* For how long a group stays after it was required, which happens each minute */
#define REQUIRED_TIME		(130 * HZ)

/* How often the work looks at everything, and while a group is being left */
#define LOOK			(15 * HZ)
#define LOOK_LEAVING		(HZ / 2)

/* What was joined for a MAC address */
struct member_owner {
	struct rhash_head node;
	u8 mac[ETH_ALEN];
	u32 count[EIPOIB_MEMBER_REASONS];	/* groups */
	struct rcu_head rcu;
};

struct member {
	struct rhash_head node;
	struct list_head list_node;
	unsigned long number;
	struct in6_addr ip;
	/* By reason: the first host that has reported it, and that by whose IPv6 address it is
	 * required, or NULL; and jiffies when it was last reported or required by anybody
	 */
	struct member_owner *owner[EIPOIB_MEMBER_REASONS];
	unsigned long renewed[EIPOIB_MEMBER_REASONS];
	bool leaving;			/* a host has left it since, at the time that follows */
	bool asked_again;		/* whether somebody is still in it */
	unsigned long left;
	struct rcu_head rcu;
};

static const struct rhashtable_params member_params = {
	.head_offset = offsetof(struct member, node),
	.key_offset = offsetof(struct member, ip),
	.key_len = sizeof_field(struct member, ip),
	.automatic_shrinking = true,
};

static const struct rhashtable_params owner_params = {
	.head_offset = offsetof(struct member_owner, node),
	.key_offset = offsetof(struct member_owner, mac),
	.key_len = ETH_ALEN,
	.automatic_shrinking = true,
};

static int join(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct eipoib_lladdr lladdr;

	eipoib_group_lladdr(eth, ip, &lladdr);
	return dev_mc_add(eth->lower, (const u8 *)&lladdr);
}

static void leave(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct eipoib_lladdr lladdr;

	eipoib_group_lladdr(eth, ip, &lladdr);
	dev_mc_del(eth->lower, (const u8 *)&lladdr);
}

/* Finds or makes what a MAC address has. The lock is held. */
static struct member_owner *owner_get(struct eipoib_members *members, const u8 *mac)
{
	struct member_owner *owner = rhashtable_lookup_fast(&members->by_mac, mac, owner_params);

	if (owner)
		return owner;
	owner = kzalloc(sizeof(*owner), GFP_ATOMIC);
	if (!owner)
		return NULL;
	ether_addr_copy(owner->mac, mac);
	if (!rhashtable_insert_fast(&members->by_mac, &owner->node, owner_params))
		return owner;
	kfree(owner);
	return NULL;
}

/* Frees what a MAC address has if that is nothing. The lock is held. */
static void owner_free(struct eipoib_members *members, struct member_owner *owner)
{
	if (owner->count[EIPOIB_MEMBER_REPORTED] || owner->count[EIPOIB_MEMBER_REQUIRED])
		return;
	rhashtable_remove_fast(&members->by_mac, &owner->node, owner_params);
	kfree_rcu(owner, rcu);
}

/* Counts another group of a MAC address, which may require as many as it may have IP addresses. The
 * lock is held. Returns NULL if it may not have one.
 */
static struct member_owner *owner_count(struct eipoib_dev *eth, const u8 *mac,
					enum eipoib_member_reason reason)
{
	bool reported = reason == EIPOIB_MEMBER_REPORTED;
	u32 most_per_mac = reported ? MEMBERS_MAX_PER_MAC : READ_ONCE(eth->local.max_per_mac);
	u32 most = reported ? MEMBERS_MAX : MEMBERS_MAX_REQUIRED;
	struct eipoib_members *members = &eth->members;
	struct member_owner *owner = owner_get(members, mac);

	if (!owner)
		return NULL;
	if (members->count[reason] >= most || owner->count[reason] >= most_per_mac) {
		owner_free(members, owner);
		return NULL;
	}
	members->count[reason]++;
	owner->count[reason]++;
	return owner;
}

static void owner_uncount(struct eipoib_members *members, struct member_owner *owner,
			  enum eipoib_member_reason reason)
{
	members->count[reason]--;
	owner->count[reason]--;
	owner_free(members, owner);
}

/* A group is not there for this reason any more, if it was. The lock is held. */
static void reason_end(struct eipoib_members *members, struct member *member,
		       enum eipoib_member_reason reason)
{
	if (member->owner[reason])
		owner_uncount(members, member->owner[reason], reason);
	member->owner[reason] = NULL;
}

/* Leaves a group. The lock is held. */
static void member_remove(struct eipoib_dev *eth, struct member *member)
{
	reason_end(&eth->members, member, EIPOIB_MEMBER_REPORTED);
	reason_end(&eth->members, member, EIPOIB_MEMBER_REQUIRED);
	rhashtable_remove_fast(&eth->members.by_ip, &member->node, member_params);
	list_del(&member->list_node);
	leave(eth, &member->ip);
	eipoib_count(eth, EIPOIB_STAT_GROUP_LEAVES);
	kfree_rcu(member, rcu);
}

/* Returns whether nobody has reported a group when it was time to. The lock is held. */
static bool is_unanswered(const struct eipoib_members *members, const struct member *member)
{
	const struct eipoib_queries *queries;

	queries = ipv6_addr_v4mapped(&member->ip) ? &members->igmp : &members->mld;
	return queries->any_before &&
	       time_before(member->renewed[EIPOIB_MEMBER_REPORTED], queries->before) &&
	       time_after(jiffies, queries->last + RESPONSE_TIME);
}

/* Returns whether a group is to be left. The lock is held. */
static bool member_is_over(struct eipoib_members *members, struct member *member)
{
	if (member->leaving && time_after_eq(jiffies, member->left + LEAVE_TIME)) {
		reason_end(members, member, EIPOIB_MEMBER_REPORTED);
		member->leaving = false;
	}
	if (time_after_eq(jiffies, member->renewed[EIPOIB_MEMBER_REQUIRED] + REQUIRED_TIME))
		reason_end(members, member, EIPOIB_MEMBER_REQUIRED);
	return !member->owner[EIPOIB_MEMBER_REPORTED] && !member->owner[EIPOIB_MEMBER_REQUIRED];
}

/* Asks the Ethernet side whether somebody is in a group */
static void ask(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	if (ipv6_addr_v4mapped(ip))
		eipoib_query_igmp(eth, ip->s6_addr32[3]);
	else
		eipoib_query_mld(eth, ip);
}

/* Begins to leave a group, unless somebody says that he is in it. The lock is held. */
static void leave_begin(struct eipoib_dev *eth, struct member *member)
{
	member->leaving = true;
	member->asked_again = false;
	member->left = jiffies;
	ask(eth, &member->ip);
}

/* Asks once more about a group that is being left. The lock is held. */
static void ask_again(struct eipoib_dev *eth, struct member *member)
{
	if (member->asked_again || time_before(jiffies, member->left + LEAVE_TIME / 2))
		return;
	member->asked_again = true;
	ask(eth, &member->ip);
}

/* Leaves the groups that are not wanted any more. Returns whether one may be left soon. */
static bool members_expire(struct eipoib_dev *eth)
{
	struct eipoib_members *members = &eth->members;
	struct member *member, *next;
	bool leaving = false;

	spin_lock_bh(&members->lock);
	list_for_each_entry_safe(member, next, &members->list, list_node) {
		if (member->owner[EIPOIB_MEMBER_REPORTED] && !member->leaving &&
		    is_unanswered(members, member))
			leave_begin(eth, member);
		if (member_is_over(members, member)) {
			member_remove(eth, member);
		} else if (member->leaving) {
			ask_again(eth, member);
			leaving = true;
		}
	}
	members->leaving = leaving;
	spin_unlock_bh(&members->lock);
	return leaving;
}

static void queries_note(struct eipoib_queries *queries)
{
	if (queries->any && time_before(jiffies, queries->last + RESPONSE_TIME))
		return;
	queries->before = queries->last;
	queries->any_before = queries->any;
	queries->last = jiffies;
	queries->any = true;
}

/* Returns whether nobody else queries, and notes a query of this host then */
static bool query_own(struct eipoib_members *members, struct eipoib_queries *queries)
{
	bool own;

	spin_lock_bh(&members->lock);
	own = !queries->any_others || time_after(jiffies, queries->others + QUERY_OTHERS);
	if (own)
		queries_note(queries);
	spin_unlock_bh(&members->lock);
	return own;
}

/* Queries the Ethernet side if it is time to */
static void query(struct eipoib_dev *eth)
{
	static const struct in6_addr all;
	struct eipoib_members *members = &eth->members;

	if (!READ_ONCE(eth->config.querier) || !netif_running(eth->netdev)) {
		members->queries_sent = 0;
		members->query_due = jiffies;
		return;
	}
	if (time_before(jiffies, members->query_due))
		return;
	if (query_own(members, &members->igmp))
		eipoib_query_igmp(eth, 0);
	if (query_own(members, &members->mld))
		eipoib_query_mld(eth, &all);
	members->query_due = jiffies + (members->queries_sent < QUERY_STARTUP ?
					QUERY_STARTUP_INTERVAL : QUERY_INTERVAL);
	members->queries_sent++;
}

static void members_work(struct work_struct *work)
{
	struct eipoib_dev *eth = container_of(work, struct eipoib_dev, members.work.work);
	bool leaving;

	leaving = members_expire(eth);
	query(eth);
	schedule_delayed_work(&eth->members.work, leaving ? LOOK_LEAVING : LOOK);
}

/**
 * eipoib_members_init() - prepare the table
 * @eth: the netdevice
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int eipoib_members_init(struct eipoib_dev *eth)
{
	struct eipoib_members *members = &eth->members;
	int err;

	err = rhashtable_init(&members->by_ip, &member_params);
	if (err)
		return err;
	err = rhashtable_init(&members->by_mac, &owner_params);
	if (err) {
		rhashtable_destroy(&members->by_ip);
		return err;
	}
	spin_lock_init(&members->lock);
	INIT_LIST_HEAD(&members->list);
	INIT_DELAYED_WORK(&members->work, members_work);
	schedule_delayed_work(&members->work, LOOK);
	return 0;
}

/**
 * eipoib_members_destroy() - leave all groups
 * @eth: the netdevice, by which nothing is sent any more
 *
 * Context: may sleep.
 */
void eipoib_members_destroy(struct eipoib_dev *eth)
{
	struct eipoib_members *members = &eth->members;
	struct member *member, *next;

	cancel_delayed_work_sync(&members->work);
	spin_lock_bh(&members->lock);
	list_for_each_entry_safe(member, next, &members->list, list_node)
		member_remove(eth, member);
	spin_unlock_bh(&members->lock);
	rhashtable_destroy(&members->by_mac);
	rhashtable_destroy(&members->by_ip);
}

/* Joins a group, which is neither reported nor required yet. The lock is held. Returns NULL if that
 * fails.
 */
static struct member *member_add(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct eipoib_members *members = &eth->members;
	struct member *member;

	member = kzalloc(sizeof(*member), GFP_ATOMIC);
	if (!member)
		return NULL;
	member->number = members->next_number++;
	member->ip = *ip;
	if (rhashtable_insert_fast(&members->by_ip, &member->node, member_params))
		goto err_member;
	if (join(eth, ip))
		goto err_hash;
	list_add_tail(&member->list_node, &members->list);
	eipoib_count(eth, EIPOIB_STAT_GROUP_JOINS);
	return member;

err_hash:
	/* The table itself may look at it until readers have gone */
	rhashtable_remove_fast(&members->by_ip, &member->node, member_params);
	kfree_rcu(member, rcu);
	return NULL;

err_member:
	kfree(member);
	return NULL;
}

static struct member *member_find(struct eipoib_members *members, const struct in6_addr *ip)
{
	return rhashtable_lookup_fast(&members->by_ip, ip, member_params);
}

/* Notes that there is a reason for a group once more. The lock is held. */
static void reason_renew(struct member *member, enum eipoib_member_reason reason)
{
	member->renewed[reason] = jiffies;
	if (reason == EIPOIB_MEMBER_REPORTED)
		member->leaving = false;
}

/* Notes a reason for a group. The lock is held. Returns false if it is refused. */
static bool reason_begin(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			 enum eipoib_member_reason reason)
{
	struct member *member = member_find(&eth->members, ip);
	struct member_owner *owner;

	if (!member || !member->owner[reason]) {
		owner = owner_count(eth, mac, reason);
		if (!owner)
			return false;
		if (!member)
			member = member_add(eth, ip);
		if (!member) {
			owner_uncount(&eth->members, owner, reason);
			return false;
		}
		member->owner[reason] = owner;
	}
	reason_renew(member, reason);
	return true;
}

/* Notes a reason for a group, or counts that it is refused. Returns whether it is not. */
static bool member_want(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			enum eipoib_member_reason reason)
{
	bool wanted;

	spin_lock_bh(&eth->members.lock);
	wanted = reason_begin(eth, ip, mac, reason);
	spin_unlock_bh(&eth->members.lock);
	if (!wanted)
		eipoib_count(eth, EIPOIB_STAT_GROUP_REFUSED);
	return wanted;
}

/**
 * eipoib_member_report() - join a group that a host has reported
 * @eth: the netdevice
 * @ip: the group's IP address
 * @mac: the host's MAC address
 *
 * Context: BHs disabled.
 * Return: false if it was refused, as there are too many, or there is no memory.
 */
bool eipoib_member_report(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	return member_want(eth, ip, mac, EIPOIB_MEMBER_REPORTED);
}

/**
 * eipoib_member_require() - join a group that hosts need although they may not report it
 * @eth: the netdevice
 * @ip: the group's IP address
 * @mac: MAC address of the host that needs it
 *
 * It is left if this is not called again for some minutes, unless it is reported.
 *
 * Context: BHs disabled.
 */
void eipoib_member_require(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	member_want(eth, ip, mac, EIPOIB_MEMBER_REQUIRED);
}

/**
 * eipoib_member_refresh() - note a report of the IPoIB side
 * @eth: the netdevice
 * @ip: the group's IP address
 *
 * A host of the Ethernet side that hears it does not report the group itself (RFC 2236 section 3,
 * RFC 2710 section 4).
 *
 * Context: BHs disabled.
 */
void eipoib_member_refresh(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct eipoib_members *members = &eth->members;
	struct member *member;

	spin_lock_bh(&members->lock);
	member = member_find(members, ip);
	if (member && member->owner[EIPOIB_MEMBER_REPORTED])
		reason_renew(member, EIPOIB_MEMBER_REPORTED);
	spin_unlock_bh(&members->lock);
}

/**
 * eipoib_member_leave() - ask whether somebody is still in a group that a host has left
 * @eth: the netdevice
 * @ip: the group's IP address
 *
 * Context: BHs disabled.
 */
void eipoib_member_leave(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct eipoib_members *members = &eth->members;
	struct member *member;

	spin_lock_bh(&members->lock);
	member = member_find(members, ip);
	if (!member || !member->owner[EIPOIB_MEMBER_REPORTED] || member->leaving)
		goto out;
	leave_begin(eth, member);
	/* Not each time, which would put the work off again and again */
	if (!members->leaving) {
		members->leaving = true;
		mod_delayed_work(system_wq, &members->work, LOOK_LEAVING);
	}
out:
	spin_unlock_bh(&members->lock);
}

/**
 * eipoib_members_queried() - note a general query of somebody on the IPoIB side
 * @eth: the netdevice
 * @protocol: ETH_P_IP for IGMP, or ETH_P_IPV6 for MLD
 *
 * Context: any but hard interrupt.
 */
void eipoib_members_queried(struct eipoib_dev *eth, __be16 protocol)
{
	struct eipoib_members *members = &eth->members;
	struct eipoib_queries *queries;

	queries = protocol == htons(ETH_P_IP) ? &members->igmp : &members->mld;
	spin_lock_bh(&members->lock);
	queries->others = jiffies;
	queries->any_others = true;
	queries_note(queries);
	spin_unlock_bh(&members->lock);
}

/**
 * eipoib_members_rejoin() - join all groups again, as the lower netdevice has lost its list
 * @eth: the netdevice
 *
 * Context: rtnl held.
 */
void eipoib_members_rejoin(struct eipoib_dev *eth)
{
	struct eipoib_members *members = &eth->members;
	struct member *member;

	spin_lock_bh(&members->lock);
	list_for_each_entry(member, &members->list, list_node)
		join(eth, &member->ip);
	spin_unlock_bh(&members->lock);
}

/**
 * eipoib_members_query() - begin to query, or end to, as the settings say
 * @eth: the netdevice
 *
 * Context: any.
 */
void eipoib_members_query(struct eipoib_dev *eth)
{
	mod_delayed_work(system_wq, &eth->members.work, 0);
}

/**
 * eipoib_members_count() - get the number of groups
 * @eth: the netdevice
 *
 * Context: any.
 * Return: that number.
 */
u32 eipoib_members_count(const struct eipoib_dev *eth)
{
	return atomic_read(&eth->members.by_ip.nelems);
}

/**
 * eipoib_members_limit() - get how many groups there may be
 *
 * Context: any.
 * Return: that number.
 */
u32 eipoib_members_limit(void)
{
	return MEMBERS_MAX + MEMBERS_MAX_REQUIRED;
}

/**
 * eipoib_members_walk() - call a function for each group, in the order of their numbers
 * @eth: the netdevice
 * @first: the first number
 * @visit: the function; must not sleep. Returns whether to go on.
 * @context: passed to @visit
 *
 * Context: any but hard interrupt.
 */
void eipoib_members_walk(struct eipoib_dev *eth, unsigned long first,
			 bool (*visit)(void *context, const struct eipoib_member_info *info),
			 void *context)
{
	struct eipoib_members *members = &eth->members;
	struct eipoib_member_info info;
	enum eipoib_member_reason reason;
	const struct member *member;

	spin_lock_bh(&members->lock);
	list_for_each_entry(member, &members->list, list_node) {
		if (member->number < first)
			continue;
		reason = member->owner[EIPOIB_MEMBER_REPORTED] ? EIPOIB_MEMBER_REPORTED :
								 EIPOIB_MEMBER_REQUIRED;
		info.number = member->number;
		info.ip = member->ip;
		ether_addr_copy(info.mac, member->owner[reason]->mac);
		info.age = jiffies - member->renewed[reason];
		if (!visit(context, &info))
			break;
	}
	spin_unlock_bh(&members->lock);
}
