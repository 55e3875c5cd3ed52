// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tables of the MAC addresses that IP addresses have. Readers use RCU. An entry does not change: if
 * its address moves to another MAC address, another entry takes its place.
 */
#include <linux/etherdevice.h>

#include "eipoib_ip.h"

struct ip_entry {
	struct rhash_head node;
	struct in6_addr ip;
	u8 mac[ETH_ALEN];
	unsigned long used;		/* jiffies of the last packet */
	struct rcu_head rcu;
};

static const struct rhashtable_params ip_params = {
	.head_offset = offsetof(struct ip_entry, node),
	.key_offset = offsetof(struct ip_entry, ip),
	.key_len = sizeof_field(struct ip_entry, ip),
	.automatic_shrinking = true,
};

/**
 * eipoib_ip_table_init() - prepare a table
 * @table: the table
 * @max: limit of its entries
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int eipoib_ip_table_init(struct eipoib_ip_table *table, u32 max)
{
	spin_lock_init(&table->lock);
	table->max = max;
	return rhashtable_init(&table->hash, &ip_params);
}

static void entry_free(void *entry, void *unused)
{
	kfree(entry);
}

/**
 * eipoib_ip_table_destroy() - undo eipoib_ip_table_init()
 * @table: the table, which nobody reads any more
 *
 * Context: may sleep.
 */
void eipoib_ip_table_destroy(struct eipoib_ip_table *table)
{
	rhashtable_free_and_destroy(&table->hash, entry_free, NULL);
}

static struct ip_entry *entry_make(const struct in6_addr *ip, const u8 *mac)
{
	struct ip_entry *entry = kmalloc(sizeof(*entry), GFP_ATOMIC);

	if (!entry)
		return NULL;
	entry->ip = *ip;
	ether_addr_copy(entry->mac, mac);
	entry->used = jiffies;
	return entry;
}

static enum eipoib_ip_change entry_insert(struct eipoib_ip_table *table, struct ip_entry *old,
					  const struct in6_addr *ip, const u8 *mac)
{
	struct ip_entry *entry;
	int err;

	if (!old && atomic_read(&table->hash.nelems) >= table->max)
		return EIPOIB_IP_REFUSED;
	entry = entry_make(ip, mac);
	if (!entry)
		return EIPOIB_IP_REFUSED;
	if (old)
		err = rhashtable_replace_fast(&table->hash, &old->node, &entry->node, ip_params);
	else
		err = rhashtable_insert_fast(&table->hash, &entry->node, ip_params);
	if (err) {
		kfree(entry);
		return EIPOIB_IP_REFUSED;
	}
	if (!old)
		return EIPOIB_IP_NEW;
	kfree_rcu(old, rcu);
	return EIPOIB_IP_MOVED;
}

/**
 * eipoib_ip_set() - note which MAC address an IP address has
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
	enum eipoib_ip_change change = EIPOIB_IP_SAME;
	struct ip_entry *entry;

	spin_lock_bh(&table->lock);
	entry = rhashtable_lookup_fast(&table->hash, ip, ip_params);
	if (entry && ether_addr_equal(entry->mac, mac))
		WRITE_ONCE(entry->used, jiffies);
	else
		change = entry_insert(table, entry, ip, mac);
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
	entry = rhashtable_lookup(&table->hash, ip, ip_params);
	if (entry)
		ether_addr_copy(mac, entry->mac);
	rcu_read_unlock();
	return entry;
}

/**
 * eipoib_ip_use() - note that an IP address was used with a MAC address
 * @table: the table
 * @ip: the IP address
 * @mac: the MAC address
 *
 * Changes nothing but the time of the last use, and that at most once per second, so that the cache
 * line stays shared.
 *
 * Context: any but hard interrupt.
 */
void eipoib_ip_use(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac)
{
	struct ip_entry *entry;

	rcu_read_lock();
	entry = rhashtable_lookup(&table->hash, ip, ip_params);
	if (entry && ether_addr_equal(entry->mac, mac) &&
	    time_after(jiffies, READ_ONCE(entry->used) + HZ))
		WRITE_ONCE(entry->used, jiffies);
	rcu_read_unlock();
}

static void entry_remove(struct eipoib_ip_table *table, struct ip_entry *entry)
{
	if (!rhashtable_remove_fast(&table->hash, &entry->node, ip_params))
		kfree_rcu(entry, rcu);
}

/**
 * eipoib_ip_forget() - remove an IP address
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
	entry = rhashtable_lookup_fast(&table->hash, ip, ip_params);
	if (entry)
		entry_remove(table, entry);
	spin_unlock_bh(&table->lock);
	return entry;
}

/* Calls a function for each entry, at least if there are no concurrent changes. RCU read side. */
static void entries_walk(struct eipoib_ip_table *table,
			 void (*visit)(void *context, struct ip_entry *entry), void *context)
{
	struct rhashtable_iter iter;
	struct ip_entry *entry;

	rhashtable_walk_enter(&table->hash, &iter);
	rhashtable_walk_start(&iter);
	while ((entry = rhashtable_walk_next(&iter)) != NULL)
		if (!IS_ERR(entry))
			visit(context, entry);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

struct expiry {
	struct eipoib_ip_table *table;
	unsigned long age;
};

static void entry_expire(void *context, struct ip_entry *entry)
{
	const struct expiry *expiry = context;

	if (time_before(jiffies, READ_ONCE(entry->used) + expiry->age))
		return;
	spin_lock_bh(&expiry->table->lock);
	entry_remove(expiry->table, entry);
	spin_unlock_bh(&expiry->table->lock);
}

/**
 * eipoib_ip_expire() - remove the entries that have not been used for some time
 * @table: the table
 * @age: that time, in jiffies
 *
 * Context: process.
 */
void eipoib_ip_expire(struct eipoib_ip_table *table, unsigned long age)
{
	struct expiry expiry = { .table = table, .age = age };

	entries_walk(table, entry_expire, &expiry);
}

struct visitor {
	void (*visit)(void *context, const struct in6_addr *ip, const u8 *mac);
	void *context;
};

static void entry_visit(void *context, struct ip_entry *entry)
{
	const struct visitor *visitor = context;

	visitor->visit(visitor->context, &entry->ip, entry->mac);
}

/**
 * eipoib_ip_walk() - call a function for each entry
 * @table: the table
 * @visit: the function; must not sleep
 * @context: passed to @visit
 *
 * Context: process.
 */
void eipoib_ip_walk(struct eipoib_ip_table *table,
		    void (*visit)(void *context, const struct in6_addr *ip, const u8 *mac),
		    void *context)
{
	struct visitor visitor = { .visit = visit, .context = context };

	entries_walk(table, entry_visit, &visitor);
}
