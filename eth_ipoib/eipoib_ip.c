// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tables of the MAC addresses that IP addresses have. Readers use RCU. What a reader sees of an
 * entry does not change: if its address moves to another MAC address, another entry takes its
 * place.
 *
 * Entries are learned from packets, so anybody can make many. A table that is full gives up an
 * entry that has not been used for long (eipoib_lru.h), and a MAC address that has too many the
 * first one of its own. Static entries stay.
 */
#include <linux/etherdevice.h>

#include "eipoib.h"

/* What a MAC address has */
struct ip_owner {
	struct rhash_head node;
	u8 mac[ETH_ALEN];
	u32 learned;			/* entries of the list that are not static */
	struct list_head entries;	/* struct ip_entry */
	struct rcu_head rcu;
};

struct ip_entry {
	struct rhash_head node;
	struct in6_addr ip;
	u8 mac[ETH_ALEN];
	bool is_static;
	u32 number;
	struct eipoib_lru lru;		/* in the table's queue, if it is not static */
	struct list_head owner_node;
	struct ip_owner *owner;
	struct rcu_head rcu;
};

static const struct rhashtable_params ip_params = {
	.head_offset = offsetof(struct ip_entry, node),
	.key_offset = offsetof(struct ip_entry, ip),
	.key_len = sizeof_field(struct ip_entry, ip),
	.automatic_shrinking = true,
};

static const struct rhashtable_params mac_params = {
	.head_offset = offsetof(struct ip_owner, node),
	.key_offset = offsetof(struct ip_owner, mac),
	.key_len = ETH_ALEN,
	.automatic_shrinking = true,
};

/**
 * eipoib_ip_table_init() - prepare a table
 * @table: the table
 * @eth: the netdevice whose events are counted
 * @evicted: the counter of entries that had to make room for others
 *
 * The limits are those of eipoib_ip_set_limits(), which has to be called before it is used.
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int eipoib_ip_table_init(struct eipoib_ip_table *table, struct eipoib_dev *eth,
			 enum eipoib_stat evicted)
{
	int err;

	spin_lock_init(&table->lock);
	INIT_LIST_HEAD(&table->learned);
	xa_init_flags(&table->by_number, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	table->eth = eth;
	table->evicted = evicted;
	err = rhashtable_init(&table->by_ip, &ip_params);
	if (err)
		return err;
	err = rhashtable_init(&table->by_mac, &mac_params);
	if (err)
		rhashtable_destroy(&table->by_ip);
	return err;
}

static void free_one(void *pointer, void *unused)
{
	kfree(pointer);
}

/**
 * eipoib_ip_table_destroy() - undo eipoib_ip_table_init()
 * @table: the table, which nobody reads any more
 *
 * Context: may sleep.
 */
void eipoib_ip_table_destroy(struct eipoib_ip_table *table)
{
	xa_destroy(&table->by_number);
	rhashtable_free_and_destroy(&table->by_mac, free_one, NULL);
	rhashtable_free_and_destroy(&table->by_ip, free_one, NULL);
}

/* Finds or makes what a MAC address has. The lock is held. */
static struct ip_owner *owner_get(struct eipoib_ip_table *table, const u8 *mac)
{
	struct ip_owner *owner = rhashtable_lookup_fast(&table->by_mac, mac, mac_params);

	if (owner)
		return owner;
	owner = kzalloc(sizeof(*owner), GFP_ATOMIC);
	if (!owner)
		return NULL;
	ether_addr_copy(owner->mac, mac);
	INIT_LIST_HEAD(&owner->entries);
	if (!rhashtable_insert_fast(&table->by_mac, &owner->node, mac_params))
		return owner;
	kfree(owner);
	return NULL;
}

/* Frees what a MAC address has if that is nothing. The lock is held. */
static void owner_put(struct eipoib_ip_table *table, struct ip_owner *owner)
{
	if (!list_empty(&owner->entries))
		return;
	rhashtable_remove_fast(&table->by_mac, &owner->node, mac_params);
	kfree_rcu(owner, rcu);
}

static void info_of(const struct ip_entry *entry, struct eipoib_ip_info *info)
{
	info->number = entry->number;
	info->ip = entry->ip;
	ether_addr_copy(info->mac, entry->mac);
	info->is_static = entry->is_static;
	info->age = eipoib_lru_age(&entry->lru);
}

/* Tells of a change. The lock is held. */
static void tell(struct eipoib_ip_table *table, const struct ip_entry *entry,
		 enum eipoib_event event)
{
	struct eipoib_ip_info info;

	if (!table->tell)
		return;
	info_of(entry, &info);
	table->tell(table->eth, &info, event);
}

/* Takes an entry out of everything but the hash by IP addresses, where another one may have taken
 * its place. The lock is held.
 */
static void entry_unlink(struct eipoib_ip_table *table, struct ip_entry *entry)
{
	xa_erase(&table->by_number, entry->number);
	list_del(&entry->owner_node);
	if (!entry->is_static) {
		list_del(&entry->lru.node);
		entry->owner->learned--;
	}
	owner_put(table, entry->owner);
	kfree_rcu(entry, rcu);
}

/* Removes an entry. The lock is held. */
static void entry_remove(struct eipoib_ip_table *table, struct ip_entry *entry,
			 enum eipoib_event event)
{
	tell(table, entry, event);
	rhashtable_remove_fast(&table->by_ip, &entry->node, ip_params);
	entry_unlink(table, entry);
}

static void entry_link(struct eipoib_ip_table *table, struct ip_entry *entry)
{
	list_add_tail(&entry->owner_node, &entry->owner->entries);
	if (entry->is_static)
		return;
	eipoib_lru_add(&table->learned, &entry->lru);
	entry->owner->learned++;
}

static void entry_evict(struct eipoib_ip_table *table, struct ip_entry *entry)
{
	eipoib_count(table->eth, table->evicted);
	entry_remove(table, entry, EIPOIB_EVENT_EVICTED);
}

static struct ip_entry *victim_of_owner(const struct ip_owner *owner)
{
	struct ip_entry *entry;

	list_for_each_entry(entry, &owner->entries, owner_node)
		if (!entry->is_static)
			return entry;
	return NULL;
}

/* Makes room until the table has fewer entries than this. Returns false if that cannot be. */
static bool make_room(struct eipoib_ip_table *table, u32 max)
{
	struct eipoib_lru *victim;

	while (atomic_read(&table->by_ip.nelems) >= max) {
		victim = eipoib_lru_victim(&table->learned);
		if (!victim)
			return false;
		entry_evict(table, container_of(victim, struct ip_entry, lru));
	}
	return true;
}

/* Has a MAC address keep as many learned entries as it may have, the newest ones */
static void make_room_of_owner(struct eipoib_ip_table *table, struct ip_owner *owner)
{
	while (owner->learned > max_t(u32, table->max_per_mac, 1))
		entry_evict(table, victim_of_owner(owner));
}

/**
 * eipoib_ip_set_limits() - set how many entries there may be
 * @table: the table. If it has more, some are given up, unless they are static.
 * @max: limit of all entries
 * @max_per_mac: limit of those that a MAC address may have by learning; those that have more keep
 *	them until another one is learned
 *
 * Context: any but hard interrupt.
 */
void eipoib_ip_set_limits(struct eipoib_ip_table *table, u32 max, u32 max_per_mac)
{
	spin_lock_bh(&table->lock);
	table->max = max;
	table->max_per_mac = max_per_mac;
	make_room(table, max + 1);
	spin_unlock_bh(&table->lock);
}

/* Makes an entry that is in no list yet, but has a number. The lock is held. */
static struct ip_entry *entry_make(struct eipoib_ip_table *table, const struct in6_addr *ip,
				   struct ip_owner *owner, bool is_static)
{
	struct ip_entry *entry = kzalloc(sizeof(*entry), GFP_ATOMIC);

	if (!entry)
		return NULL;
	entry->ip = *ip;
	ether_addr_copy(entry->mac, owner->mac);
	entry->is_static = is_static;
	entry->lru.used = jiffies;
	entry->owner = owner;
	if (xa_alloc_cyclic(&table->by_number, &entry->number, entry, EIPOIB_NUMBERS,
			    &table->next_number, GFP_ATOMIC) >= 0)
		return entry;
	kfree(entry);
	return NULL;
}

/* Puts an entry into the hash, in the place of another one if there is such. The lock is held. */
static int entry_hash(struct eipoib_ip_table *table, struct ip_entry *old, struct ip_entry *entry)
{
	if (old)
		return rhashtable_replace_fast(&table->by_ip, &old->node, &entry->node, ip_params);
	return rhashtable_insert_fast(&table->by_ip, &entry->node, ip_params);
}

/* Makes an entry, in the place of another one if there is such. The lock is held. */
static enum eipoib_ip_change entry_enter(struct eipoib_ip_table *table, struct ip_entry *old,
					 const struct in6_addr *ip, const u8 *mac, bool is_static)
{
	struct ip_owner *owner;
	struct ip_entry *entry;

	if (!old && !make_room(table, table->max))
		return EIPOIB_IP_REFUSED;
	owner = owner_get(table, mac);
	if (!owner)
		return EIPOIB_IP_REFUSED;
	entry = entry_make(table, ip, owner, is_static);
	if (!entry)
		goto err_owner;
	if (entry_hash(table, old, entry))
		goto err_entry;
	entry_link(table, entry);
	tell(table, entry, old ? EIPOIB_EVENT_MOVED : EIPOIB_EVENT_NEW);
	if (old)
		entry_unlink(table, old);
	make_room_of_owner(table, owner);
	return old ? EIPOIB_IP_MOVED : EIPOIB_IP_NEW;

err_entry:
	/* Somebody may have listed it already */
	xa_erase(&table->by_number, entry->number);
	kfree_rcu(entry, rcu);
err_owner:
	owner_put(table, owner);
	return EIPOIB_IP_REFUSED;
}

/* Sets what has been learned. The lock is held. */
static enum eipoib_ip_change learn(struct eipoib_ip_table *table, struct ip_entry *old,
				   const struct in6_addr *ip, const u8 *mac)
{
	if (!old || !ether_addr_equal(old->mac, mac)) {
		if (old && old->is_static)
			return EIPOIB_IP_CONFLICT;
		return entry_enter(table, old, ip, mac, false);
	}
	eipoib_lru_use(&old->lru);
	return EIPOIB_IP_SAME;
}

/**
 * eipoib_ip_set() - note which MAC address an IP address has, as has been learned
 * @table: the table
 * @ip: the IP address
 * @mac: the MAC address
 *
 * Context: any but hard interrupt.
 * Return: what has changed.
 */
enum eipoib_ip_change eipoib_ip_set(struct eipoib_ip_table *table, const struct in6_addr *ip,
				    const u8 *mac)
{
	enum eipoib_ip_change change;

	spin_lock_bh(&table->lock);
	change = learn(table, rhashtable_lookup_fast(&table->by_ip, ip, ip_params), ip, mac);
	spin_unlock_bh(&table->lock);
	return change;
}

/**
 * eipoib_ip_set_static() - set which MAC address an IP address has, whatever is learned
 * @table: the table
 * @ip: the IP address
 * @mac: the MAC address
 *
 * Context: any but hard interrupt.
 * Return: what has changed. A learned entry that becomes static has moved.
 */
enum eipoib_ip_change eipoib_ip_set_static(struct eipoib_ip_table *table,
					   const struct in6_addr *ip, const u8 *mac)
{
	enum eipoib_ip_change change = EIPOIB_IP_SAME;
	struct ip_entry *old;

	spin_lock_bh(&table->lock);
	old = rhashtable_lookup_fast(&table->by_ip, ip, ip_params);
	if (!old || !old->is_static || !ether_addr_equal(old->mac, mac))
		change = entry_enter(table, old, ip, mac, true);
	spin_unlock_bh(&table->lock);
	return change;
}

/**
 * eipoib_ip_get() - look up the MAC address that an IP address has
 * @table: the table
 * @ip: the IP address
 * @mac: filled in
 *
 * Context: any but hard interrupt.
 * Return: false if it is not known.
 */
bool eipoib_ip_get(struct eipoib_ip_table *table, const struct in6_addr *ip, u8 *mac)
{
	const struct ip_entry *entry;

	rcu_read_lock();
	entry = rhashtable_lookup(&table->by_ip, ip, ip_params);
	if (entry)
		ether_addr_copy(mac, entry->mac);
	rcu_read_unlock();
	return entry;
}

/**
 * eipoib_ip_get_to_use() - look up the MAC address that an IP address has, and note a use
 * @table: the table
 * @ip: the IP address
 * @mac: filled in
 *
 * Context: any but hard interrupt.
 * Return: false if it is not known.
 */
bool eipoib_ip_get_to_use(struct eipoib_ip_table *table, const struct in6_addr *ip, u8 *mac)
{
	struct ip_entry *entry;

	rcu_read_lock();
	entry = rhashtable_lookup(&table->by_ip, ip, ip_params);
	if (entry) {
		ether_addr_copy(mac, entry->mac);
		eipoib_lru_use(&entry->lru);
	}
	rcu_read_unlock();
	return entry;
}

/**
 * eipoib_ip_is_static() - tell whether there is a static entry of an IP address
 * @table: the table
 * @ip: the IP address
 *
 * Context: any but hard interrupt.
 * Return: true if there is.
 */
bool eipoib_ip_is_static(struct eipoib_ip_table *table, const struct in6_addr *ip)
{
	const struct ip_entry *entry;
	bool is;

	rcu_read_lock();
	entry = rhashtable_lookup(&table->by_ip, ip, ip_params);
	is = entry && entry->is_static;
	rcu_read_unlock();
	return is;
}

/**
 * eipoib_ip_is() - tell whether an IP address has this MAC address
 * @table: the table
 * @ip: the IP address
 * @mac: the MAC address
 *
 * Context: any but hard interrupt.
 * Return: true if it has.
 */
bool eipoib_ip_is(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac)
{
	u8 its[ETH_ALEN];

	return eipoib_ip_get(table, ip, its) && ether_addr_equal(its, mac);
}

/**
 * eipoib_ip_has_mac() - tell whether a MAC address has any IP address
 * @table: the table
 * @mac: the MAC address
 *
 * Context: any but hard interrupt.
 * Return: true if it has.
 */
bool eipoib_ip_has_mac(struct eipoib_ip_table *table, const u8 *mac)
{
	bool has;

	rcu_read_lock();
	has = rhashtable_lookup(&table->by_mac, mac, mac_params);
	rcu_read_unlock();
	return has;
}

/**
 * eipoib_ip_of_mac() - get an IP address that a MAC address has
 * @table: the table
 * @mac: the MAC address
 * @like: an address of the same protocol, IPv4 or IPv6
 * @ip: filled in
 *
 * Context: any but hard interrupt.
 * Return: false if there is none.
 */
bool eipoib_ip_of_mac(struct eipoib_ip_table *table, const u8 *mac, const struct in6_addr *like,
		      struct in6_addr *ip)
{
	const struct ip_owner *owner;
	const struct ip_entry *entry;
	bool found = false;

	spin_lock_bh(&table->lock);
	owner = rhashtable_lookup_fast(&table->by_mac, mac, mac_params);
	if (!owner)
		goto out;
	list_for_each_entry(entry, &owner->entries, owner_node) {
		if (ipv6_addr_v4mapped(&entry->ip) != ipv6_addr_v4mapped(like))
			continue;
		*ip = entry->ip;
		found = true;
		break;
	}
out:
	spin_unlock_bh(&table->lock);
	return found;
}

/**
 * eipoib_ip_to_ask_from() - choose the IP address to ask from on behalf of a packet's sender
 * @table: the table
 * @from: the packet's source
 * @mac: MAC address of its sender
 * @ip: the IP address that is asked for
 * @asker: filled in: the source if it is the sender's own, or another one of the sender's, as when
 *	it has forwarded the packet; or the unspecified address if none is known
 *
 * Context: any but hard interrupt.
 */
void eipoib_ip_to_ask_from(struct eipoib_ip_table *table, const struct in6_addr *from,
			   const u8 *mac, const struct in6_addr *ip, struct in6_addr *asker)
{
	if (eipoib_ip_is(table, from, mac))
		*asker = *from;
	else if (!eipoib_ip_of_mac(table, mac, ip, asker))
		*asker = in6addr_any;
}

/**
 * eipoib_ip_use() - note that an IP address was used with a MAC address
 * @table: the table
 * @ip: the IP address
 * @mac: the MAC address
 *
 * Changes nothing but the time of the last use.
 *
 * Context: any but hard interrupt.
 * Return: false if it is not known that it has this MAC address.
 */
bool eipoib_ip_use(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac)
{
	struct ip_entry *entry;
	bool is;

	rcu_read_lock();
	entry = rhashtable_lookup(&table->by_ip, ip, ip_params);
	is = entry && ether_addr_equal(entry->mac, mac);
	if (is)
		eipoib_lru_use(&entry->lru);
	rcu_read_unlock();
	return is;
}

/**
 * eipoib_ip_forget() - remove an IP address that was learned
 * @table: the table
 * @ip: the IP address
 *
 * Context: any but hard interrupt.
 * Return: false if there was no such entry.
 */
bool eipoib_ip_forget(struct eipoib_ip_table *table, const struct in6_addr *ip)
{
	struct ip_entry *entry;

	spin_lock_bh(&table->lock);
	entry = rhashtable_lookup_fast(&table->by_ip, ip, ip_params);
	if (entry && entry->is_static)
		entry = NULL;
	if (entry)
		entry_remove(table, entry, EIPOIB_EVENT_LEFT);
	spin_unlock_bh(&table->lock);
	return entry;
}

/**
 * eipoib_ip_delete() - remove an IP address as the administrator wants it, static or not
 * @table: the table
 * @ip: the IP address
 * @mac: the MAC address that it must have, or NULL for any
 *
 * Context: any but hard interrupt.
 * Return: false if there was no such entry.
 */
bool eipoib_ip_delete(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac)
{
	struct ip_entry *entry;

	spin_lock_bh(&table->lock);
	entry = rhashtable_lookup_fast(&table->by_ip, ip, ip_params);
	if (entry && mac && !ether_addr_equal(entry->mac, mac))
		entry = NULL;
	if (entry)
		entry_remove(table, entry, EIPOIB_EVENT_DELETED);
	spin_unlock_bh(&table->lock);
	return entry;
}

/**
 * eipoib_ip_expire() - remove the learned entries that have not been used for some time
 * @table: the table
 * @age: that time, in jiffies
 *
 * Context: process.
 */
void eipoib_ip_expire(struct eipoib_ip_table *table, unsigned long age)
{
	struct ip_entry *entry, *next;

	spin_lock_bh(&table->lock);
	list_for_each_entry_safe(entry, next, &table->learned, lru.node)
		if (eipoib_lru_age(&entry->lru) >= age)
			entry_remove(table, entry, EIPOIB_EVENT_EXPIRED);
	spin_unlock_bh(&table->lock);
}

/**
 * eipoib_ip_count() - get the number of entries
 * @table: the table
 *
 * Context: any.
 * Return: that number.
 */
u32 eipoib_ip_count(const struct eipoib_ip_table *table)
{
	return atomic_read(&table->by_ip.nelems);
}

/**
 * eipoib_ip_recent() - find where the entries begin that were made or moved last
 * @table: the table
 * @count: how many
 *
 * Context: any.
 * Return: a number for eipoib_ip_walk(): there are at most @count entries from it on, which are
 * newer than all others.
 */
unsigned long eipoib_ip_recent(const struct eipoib_ip_table *table, u32 count)
{
	u32 next = READ_ONCE(table->next_number);

	return next > count ? next - count : 0;
}

/**
 * eipoib_ip_walk() - call a function for each entry, in the order of their numbers
 * @table: the table
 * @first: the first number
 * @visit: the function; must not sleep. Returns whether to go on.
 * @context: passed to @visit
 *
 * Entries that there are all the time are visited exactly once, even if the walk is interrupted
 * and goes on at the next number later. An IP address that moves may be visited with both MAC
 * addresses.
 *
 * Context: any but hard interrupt.
 */
void eipoib_ip_walk(struct eipoib_ip_table *table, unsigned long first,
		    bool (*visit)(void *context, const struct eipoib_ip_info *info),
		    void *context)
{
	const struct ip_entry *entry;
	struct eipoib_ip_info info;
	unsigned long number;

	rcu_read_lock();
	xa_for_each_start(&table->by_number, number, entry, first) {
		info_of(entry, &info);
		if (!visit(context, &info))
			break;
	}
	rcu_read_unlock();
}

/**
 * eipoib_ip_walk_mac() - call a function for each entry of a MAC address
 * @table: the table
 * @mac: the MAC address
 * @visit: the function; called with the table's lock held, so it must not use this table. Returns
 *	whether to go on.
 * @context: passed to @visit
 *
 * Context: any but hard interrupt.
 */
void eipoib_ip_walk_mac(struct eipoib_ip_table *table, const u8 *mac,
			bool (*visit)(void *context, const struct eipoib_ip_info *info),
			void *context)
{
	const struct ip_owner *owner;
	const struct ip_entry *entry;
	struct eipoib_ip_info info;

	spin_lock_bh(&table->lock);
	owner = rhashtable_lookup_fast(&table->by_mac, mac, mac_params);
	if (!owner)
		goto out;
	list_for_each_entry(entry, &owner->entries, owner_node) {
		info_of(entry, &info);
		if (!visit(context, &info))
			break;
	}
out:
	spin_unlock_bh(&table->lock);
}
