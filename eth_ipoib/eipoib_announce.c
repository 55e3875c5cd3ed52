// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Announcements of where IP addresses of the Ethernet side are: gratuitous ARP and unsolicited
 * advertisements. Other hosts of the link need them when an address has come from there, and when
 * the lower netdevice has got another link-layer address.
 *
 * A hypervisor says by RARP that a virtual machine has arrived. This tells its MAC address, and
 * none of its IP addresses. So it is asked for the IP addresses that were heard of on the IPoIB
 * side, where it may have come from, and for some seconds also for the source of what it sends, and
 * for those of its addresses that somebody on the IPoIB side claims, as the place that it has come
 * from does until it hears the announcements of this one. Those that it has are learned from its
 * answers, and announced.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <net/ipv6.h>

#include "eipoib.h"

/* How many announcements are sent per second, and as many questions, by runs of their works */
#define ANNOUNCE_RUNS		10
#define ANNOUNCE_PER_RUN	10

/* Until the same address is announced again, and how often it is */
#define ANNOUNCE_INTERVAL	(HZ / 2)
#define ANNOUNCE_TIMES		3

#define ANNOUNCE_MAX		16384	/* addresses that wait */
#define ANNOUNCE_MANY		1000	/* beyond that, each is announced once */
#define ANNOUNCE_ETH_AGAIN	10	/* announcements per second to hosts that have come */

/* How often an arrived host is asked for the source of what it sends, or for an address of it that
 * others claim, how many addresses that were heard of it is asked for, how many of its addresses
 * are announced at once, and for how long a hypervisor's further messages count as the same one
 */
#define ARRIVAL_QUESTIONS	64
#define ARRIVAL_HEARD		1024
#define ARRIVAL_ADDRESSES	16
#define ARRIVAL_SAME		(2 * HZ)

struct announcement {
	struct list_head node;
	struct hlist_node ip_node;
	struct in6_addr ip;
	struct list_head *list;		/* where it belongs */
	u32 times;			/* that it is to be sent yet */
	unsigned long due;		/* jiffies */
};

static void send(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	u8 mac[ETH_ALEN];

	/* It may have moved away meanwhile */
	if (!eipoib_ip_get(&eth->local, ip, mac))
		return;
	eipoib_count(eth, EIPOIB_STAT_ANNOUNCED);
	rcu_read_lock_bh();
	if (ipv6_addr_v4mapped(ip))
		eipoib_arp_announce(eipoib_slave_of_mac(eth, mac), ip->s6_addr32[3]);
	else
		eipoib_nd_announce(eipoib_slave_of_mac(eth, mac), ip);
	rcu_read_unlock_bh();
}

/* Hosts choose their addresses, so without a secret all could be in the same bucket */
static u32 ip_hash(const struct eipoib_announce *announce, const struct in6_addr *ip)
{
	return __ipv6_addr_jhash(ip, announce->seed);
}

/* Returns the announcement of an IP address that waits, or NULL. The lock is held. */
static struct announcement *find(struct eipoib_announce *announce, const struct in6_addr *ip)
{
	struct announcement *entry;

	hash_for_each_possible(announce->by_ip, entry, ip_node, ip_hash(announce, ip))
		if (ipv6_addr_equal(&entry->ip, ip))
			return entry;
	return NULL;
}

/* Has an announcement wait behind another one of its list. The lock is held. */
static void link_behind(struct eipoib_announce *announce, struct announcement *entry,
			struct list_head *before)
{
	list_add(&entry->node, before);
	hash_add(announce->by_ip, &entry->ip_node, ip_hash(announce, &entry->ip));
	announce->count++;
}

/* Undoes this. The lock is held. */
static void unlink(struct eipoib_announce *announce, struct announcement *entry)
{
	list_del(&entry->node);
	hash_del(&entry->ip_node);
	announce->count--;
}

/* Takes the next announcement off a list if it is due */
static struct announcement *take_due(struct eipoib_announce *announce, struct list_head *list)
{
	struct announcement *next;

	spin_lock_bh(&announce->lock);
	next = list_first_entry_or_null(list, struct announcement, node);
	if (next && time_after_eq(jiffies, next->due))
		unlink(announce, next);
	else
		next = NULL;
	spin_unlock_bh(&announce->lock);
	return next;
}

/* No other one is due later. A new one of the same IP address may have come meanwhile. */
static void put_back(struct eipoib_announce *announce, struct announcement *again)
{
	spin_lock_bh(&announce->lock);
	if (find(announce, &again->ip))
		kfree(again);
	else
		link_behind(announce, again, again->list->prev);
	spin_unlock_bh(&announce->lock);
}

/* Makes the next announcement of a list if it is due. Returns false if none is. */
static bool announce_next(struct eipoib_dev *eth, struct list_head *list)
{
	struct eipoib_announce *announce = &eth->announce;
	struct announcement *next = take_due(announce, list);

	if (!next)
		return false;
	send(eth, &next->ip);
	next->due = jiffies + ANNOUNCE_INTERVAL;
	if (--next->times)
		put_back(announce, next);
	else
		kfree(next);
	return true;
}

/* Both lists take turns. Nothing can be sent without carrier, so they wait for it. */
static void announce_work(struct work_struct *work)
{
	struct eipoib_dev *eth = container_of(work, struct eipoib_dev, announce.work.work);
	struct eipoib_announce *announce = &eth->announce;
	int i;

	for (i = 0; i < ANNOUNCE_PER_RUN && netif_carrier_ok(eth->lower); i++)
		if (!announce_next(eth, i % 2 ? &announce->all : &announce->list) &&
		    !announce_next(eth, i % 2 ? &announce->list : &announce->all))
			break;
	spin_lock_bh(&announce->lock);
	if (announce->count)
		schedule_delayed_work(&announce->work,
				      netif_carrier_ok(eth->lower) ? HZ / ANNOUNCE_RUNS : HZ);
	spin_unlock_bh(&announce->lock);
}

/* Asks a host of the Ethernet side whether it has an IP address */
static void ask(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *ip)
{
	eipoib_count(eth, EIPOIB_STAT_ASKED_ETH);
	if (ipv6_addr_v4mapped(ip))
		eipoib_arp_ask_host(eth, mac, ip->s6_addr32[3]);
	else
		eipoib_nd_ask_host(eth, mac, ip);
}

static bool visit_heard(void *context, const struct eipoib_ip_info *info)
{
	*(struct eipoib_ip_info *)context = *info;
	return false;
}

/* Finds the next IP address that a host is asked for: one that has moved recently, and after the
 * last of these the others. Returns false if there is none.
 */
static bool find_heard(struct eipoib_dev *eth, struct eipoib_arrival *arrival,
		       struct eipoib_ip_info *info)
{
	info->number = EIPOIB_NUMBER_MAX + 1;
	eipoib_ip_walk(&eth->heard, arrival->heard_next, visit_heard, info);
	if (arrival->heard_next >= arrival->heard_first) {
		if (info->number <= EIPOIB_NUMBER_MAX)
			return true;
		arrival->heard_next = 0;
		eipoib_ip_walk(&eth->heard, 0, visit_heard, info);
	}
	return info->number < arrival->heard_first;
}

/* Gets the next IP address that a host is asked for. Returns false if there is none. The lock is
 * held.
 */
static bool next_heard(struct eipoib_dev *eth, struct eipoib_arrival *arrival, struct in6_addr *ip)
{
	struct eipoib_ip_info info;

	if (!arrival->heard_left)
		return false;
	if (!find_heard(eth, arrival, &info)) {
		arrival->heard_left = 0;
		return false;
	}
	arrival->heard_next = info.number + 1;
	arrival->heard_left--;
	if (arrival->heard_next == arrival->heard_first)
		arrival->heard_left = 0;
	*ip = info.ip;
	return true;
}

/* Asks one of the hosts that have arrived, which take turns. Returns false if there is nothing to
 * be asked.
 */
static bool ask_next(struct eipoib_dev *eth)
{
	struct eipoib_announce *announce = &eth->announce;
	struct eipoib_arrival *arrival;
	u8 mac[ETH_ALEN];
	struct in6_addr ip;
	bool found = false;
	int i;

	spin_lock_bh(&announce->lock);
	for (i = 0; i < EIPOIB_ARRIVALS && !found; i++) {
		arrival = &announce->arrivals[announce->turn++ % EIPOIB_ARRIVALS];
		found = next_heard(eth, arrival, &ip);
		ether_addr_copy(mac, arrival->mac);
	}
	spin_unlock_bh(&announce->lock);
	if (!found)
		return false;
	local_bh_disable();
	ask(eth, mac, &ip);
	local_bh_enable();
	return true;
}

static void ask_work(struct work_struct *work)
{
	struct eipoib_dev *eth = container_of(work, struct eipoib_dev, announce.ask_work.work);
	int i;

	for (i = 0; i < ANNOUNCE_PER_RUN; i++)
		if (!ask_next(eth))
			return;
	schedule_delayed_work(&eth->announce.ask_work, HZ / ANNOUNCE_RUNS);
}

/**
 * eipoib_announce_init() - prepare the list
 * @eth: the netdevice
 *
 * Context: any.
 */
void eipoib_announce_init(struct eipoib_dev *eth)
{
	struct eipoib_announce *announce = &eth->announce;
	int i;

	spin_lock_init(&announce->lock);
	INIT_LIST_HEAD(&announce->list);
	INIT_LIST_HEAD(&announce->all);
	hash_init(announce->by_ip);
	announce->seed = get_random_u32();
	INIT_DELAYED_WORK(&announce->work, announce_work);
	INIT_DELAYED_WORK(&announce->ask_work, ask_work);
	ratelimit_state_init(&announce->eth_again, HZ, ANNOUNCE_ETH_AGAIN);
	ratelimit_set_flags(&announce->eth_again, RATELIMIT_MSG_ON_RELEASE);
	for (i = 0; i < EIPOIB_ARRIVALS; i++)
		announce->arrivals[i].when = jiffies - EIPOIB_ARRIVAL_TIME;
}

/**
 * eipoib_announce_destroy() - drop all announcements
 * @eth: the netdevice, by which nothing is received any more
 *
 * Context: may sleep.
 */
void eipoib_announce_destroy(struct eipoib_dev *eth)
{
	struct announcement *entry, *next;

	cancel_delayed_work_sync(&eth->announce.ask_work);
	cancel_delayed_work_sync(&eth->announce.work);
	list_splice(&eth->announce.all, &eth->announce.list);
	list_for_each_entry_safe(entry, next, &eth->announce.list, node)
		kfree(entry);
}

/* Returns whether a waiting announcement is as good as a new one: it is due, and does not wait
 * behind those of all addresses
 */
static bool is_new(const struct eipoib_announce *announce, const struct announcement *entry)
{
	return entry->list == &announce->list && time_after_eq(jiffies, entry->due);
}

/* Adds a new announcement to a list, which is sorted by the time when they are due: behind other
 * new ones, and before those that are only made again. An IP address has only one, however
 * often somebody has it move. It is counted if there are too many, or there is no memory.
 */
static void append(struct eipoib_dev *eth, struct list_head *list, const struct in6_addr *ip)
{
	struct eipoib_announce *announce = &eth->announce;
	struct announcement *entry, *before;

	spin_lock_bh(&announce->lock);
	entry = find(announce, ip);
	if (entry && is_new(announce, entry))
		goto out;
	if (entry)
		unlink(announce, entry);
	else if (announce->count < ANNOUNCE_MAX)
		entry = kmalloc(sizeof(*entry), GFP_ATOMIC);
	if (!entry) {
		eipoib_count(eth, EIPOIB_STAT_ANNOUNCE_REFUSED);
		goto out;
	}
	entry->ip = *ip;
	entry->list = list;
	entry->times = announce->count < ANNOUNCE_MANY ? ANNOUNCE_TIMES : 1;
	entry->due = jiffies;
	list_for_each_entry_reverse(before, list, node)
		if (!time_after(before->due, entry->due))
			break;
	if (!announce->count)
		schedule_delayed_work(&announce->work, 0);
	link_behind(announce, entry, &before->node);
out:
	spin_unlock_bh(&announce->lock);
}

static void announce_ip(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	append(eth, &eth->announce.list, ip);
}

static bool visit(void *context, const struct eipoib_ip_info *info)
{
	announce_ip(context, &info->ip);
	return true;
}

static bool visit_all(void *context, const struct eipoib_ip_info *info)
{
	struct eipoib_dev *eth = context;

	append(eth, &eth->announce.all, &info->ip);
	return true;
}

/* Drops the announcements of all addresses */
static void drop_all(struct eipoib_announce *announce)
{
	struct announcement *entry, *next;

	spin_lock_bh(&announce->lock);
	list_for_each_entry_safe(entry, next, &announce->all, node) {
		unlink(announce, entry);
		kfree(entry);
	}
	spin_unlock_bh(&announce->lock);
}

/**
 * eipoib_announce_mac() - announce the IP addresses of a MAC address
 * @eth: the netdevice
 * @mac: the MAC address, on the Ethernet side
 *
 * Context: any but hard interrupt.
 */
void eipoib_announce_mac(struct eipoib_dev *eth, const u8 *mac)
{
	eipoib_ip_walk_mac(&eth->local, mac, visit, eth);
}

/**
 * eipoib_announce_all() - announce all IP addresses that are reached by a lower netdevice
 * @eth: what sends and receives by it; its link-layer address has changed
 *
 * Context: process.
 */
void eipoib_announce_all(struct eipoib_dev *eth)
{
	if (eth->domain == eth) {
		drop_all(&eth->announce);
		eipoib_ip_walk(&eth->local, 0, visit_all, eth);
	} else {
		eipoib_announce_mac(eth->domain, eth->slave.mac);
	}
}

/**
 * eipoib_announce_again() - announce all IP addresses, unless that is still being done
 * @eth: what sends and receives by a lower netdevice
 *
 * The lower netdevice's driver asks for this several times, in shorter intervals than it takes to
 * announce many addresses.
 *
 * Context: process.
 */
void eipoib_announce_again(struct eipoib_dev *eth)
{
	struct eipoib_announce *announce = &eth->domain->announce;
	bool busy;

	spin_lock_bh(&announce->lock);
	busy = !list_empty(&announce->all);
	spin_unlock_bh(&announce->lock);
	if (!busy)
		eipoib_announce_all(eth);
}

static bool is_younger(const struct eipoib_arrival *arrival, unsigned long age)
{
	return time_before(jiffies, arrival->when + age);
}

/* Returns the note of a host that has just arrived, or NULL. The lock is held. */
static struct eipoib_arrival *arrival_find(struct eipoib_announce *announce, const u8 *mac)
{
	struct eipoib_arrival *arrival = announce->arrivals;
	int i;

	for (i = 0; i < EIPOIB_ARRIVALS; i++, arrival++)
		if (ether_addr_equal(arrival->mac, mac) && is_younger(arrival, EIPOIB_ARRIVAL_TIME))
			return arrival;
	return NULL;
}

/* Returns the note for an arrival: that of the same host's last one, or else the oldest one. The
 * lock is held.
 */
static struct eipoib_arrival *arrival_choose(struct eipoib_announce *announce, const u8 *mac)
{
	struct eipoib_arrival *arrival = announce->arrivals, *oldest = arrival;
	int i;

	for (i = 0; i < EIPOIB_ARRIVALS; i++, arrival++) {
		if (ether_addr_equal(arrival->mac, mac))
			return arrival;
		if (time_before(arrival->when, oldest->when))
			oldest = arrival;
	}
	return oldest;
}

/* Has an arrived host be asked for the addresses that were heard of. If it is being asked, that
 * goes on. The lock is held.
 */
static void arrival_ask(struct eipoib_dev *eth, struct eipoib_arrival *arrival)
{
	/* Nothing would be learned from the answers */
	if (arrival->heard_left || !READ_ONCE(eth->config.learning))
		return;
	/* Others never move, so it is more likely one of those that have moved recently */
	arrival->heard_first = eipoib_ip_recent(&eth->heard, ARRIVAL_HEARD);
	arrival->heard_next = arrival->heard_first;
	arrival->heard_left = ARRIVAL_HEARD;
	/* Not at once, since it may have run just now */
	schedule_delayed_work(&eth->announce.ask_work, HZ / ANNOUNCE_RUNS);
}

/* Notes an arrival. Returns false if it has been noted shortly before, or if there are too many. */
static bool arrival_note(struct eipoib_dev *eth, const u8 *mac)
{
	struct eipoib_announce *announce = &eth->announce;
	struct eipoib_arrival *arrival;
	bool noted;

	spin_lock_bh(&announce->lock);
	arrival = arrival_choose(announce, mac);
	noted = !is_younger(arrival, ARRIVAL_SAME);
	if (!noted && !ether_addr_equal(arrival->mac, mac))
		eipoib_count(eth, EIPOIB_STAT_RARP_REFUSED);
	if (noted) {
		if (!ether_addr_equal(arrival->mac, mac))
			arrival->heard_left = 0;
		ether_addr_copy(arrival->mac, mac);
		arrival->when = jiffies;
		arrival->questions = 0;
		arrival_ask(eth, arrival);
		WRITE_ONCE(announce->arrived, jiffies);
		WRITE_ONCE(announce->any_arrived, true);
	}
	spin_unlock_bh(&announce->lock);
	return noted;
}

struct arrival_visit {
	struct eipoib_dev *eth;
	u32 left;			/* addresses that may be announced yet */
};

static bool visit_arrived(void *context, const struct eipoib_ip_info *info)
{
	struct arrival_visit *arrival = context;

	announce_ip(arrival->eth, &info->ip);
	return --arrival->left;
}

/**
 * eipoib_arrival() - note that a host has arrived on the Ethernet side
 * @eth: the netdevice
 * @mac: its MAC address
 *
 * Some IP addresses of it, if any are known, are announced. It is asked for others.
 *
 * Context: any but hard interrupt.
 */
void eipoib_arrival(struct eipoib_dev *eth, const u8 *mac)
{
	struct arrival_visit arrival = { .eth = eth, .left = ARRIVAL_ADDRESSES };

	if (arrival_note(eth, mac))
		eipoib_ip_walk_mac(&eth->local, mac, visit_arrived, &arrival);
}

/**
 * eipoib_arrival_probes() - ask a host nothing more, since it asks whether an IP address is free
 * @eth: the netdevice
 * @mac: the host's MAC address
 *
 * It has just started, and would take a probe for that address for that of another host which is
 * about to use it (RFC 5227 section 2.1.1). It announces its addresses itself.
 *
 * Context: BHs disabled.
 */
void eipoib_arrival_probes(struct eipoib_dev *eth, const u8 *mac)
{
	struct eipoib_announce *announce = &eth->announce;
	struct eipoib_arrival *arrival;

	spin_lock(&announce->lock);
	arrival = arrival_find(announce, mac);
	if (arrival) {
		arrival->heard_left = 0;
		arrival->questions = ARRIVAL_QUESTIONS;
	}
	spin_unlock(&announce->lock);
}

/**
 * eipoib_arrival_verify() - ask a host whether it has an IP address, if it has just arrived
 * @eth: the netdevice
 * @mac: the host's MAC address
 * @ip: the IP address, which it sends from, or which is claimed by somebody on the IPoIB side
 *
 * Context: BHs disabled.
 */
void eipoib_arrival_verify(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *ip)
{
	struct eipoib_announce *announce = &eth->announce;
	struct eipoib_arrival *arrival;
	bool asks;

	spin_lock(&announce->lock);
	arrival = arrival_find(announce, mac);
	asks = arrival && arrival->questions < ARRIVAL_QUESTIONS;
	if (asks)
		arrival->questions++;
	spin_unlock(&announce->lock);
	if (asks)
		ask(eth, mac, ip);
}

/**
 * eipoib_announce_eth() - tell hosts of the Ethernet side that an IP address is among them now
 * @eth: the netdevice
 * @ip: the IP address, for which they may have the MAC address of an interface of the link
 * @mac: its MAC address
 *
 * What its host has said may have gone to others.
 *
 * Context: BHs disabled.
 */
void eipoib_announce_eth(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	eipoib_count(eth, EIPOIB_STAT_ANNOUNCED_ETH);
	if (ipv6_addr_v4mapped(ip))
		eipoib_arp_announce_eth(eth, ip->s6_addr32[3], mac);
	else
		eipoib_nd_announce_eth(eth, ip, mac);
}

/**
 * eipoib_announce_eth_again() - tell a host that does not know it, unless too many have been told
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address
 *
 * A host that has arrived still has the MAC address of this link's interface for all those that it
 * shares the Ethernet side with now.
 *
 * Context: BHs disabled.
 */
void eipoib_announce_eth_again(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	if (__ratelimit(&eth->domain->announce.eth_again))
		eipoib_announce_eth(eth, ip, mac);
}

/**
 * eipoib_announce_learned() - announce an IP address that was learned if others need it
 * @eth: the netdevice
 * @ip: the IP address, on the Ethernet side
 * @mac: its MAC address
 * @was_heard: whether it was on the IPoIB side before
 *
 * Context: any but hard interrupt.
 */
void eipoib_announce_learned(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			     bool was_heard)
{
	bool arrived = false;

	if (!was_heard && eipoib_arrived(&eth->announce)) {
		spin_lock_bh(&eth->announce.lock);
		arrived = arrival_find(&eth->announce, mac);
		spin_unlock_bh(&eth->announce.lock);
	}
	if (was_heard || arrived)
		announce_ip(eth, ip);
}
