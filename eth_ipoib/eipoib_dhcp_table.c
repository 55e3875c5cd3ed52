// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The DHCP clients of the Ethernet side that wait for an answer. An answer is matched by its
 * transaction ID and the client's MAC address, or by the transaction ID alone if the request was
 * rewritten into a form without MAC addresses. Two such requests never have the same one.
 *
 * A host can send any number of requests, with as many MAC addresses. So that they do not take the
 * place of others that are just being answered, the oldest entry makes room only if it is not
 * young. Who is not remembered for this reason still gets an answer by broadcast.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "eipoib_dhcp_table.h"

#define DHCP_MAX	4096		/* entries */
#define DHCP_MAC_MAX	4		/* ... of one MAC address */
#define DHCP_AGE	(60 * HZ)	/* how long they are kept */
#define DHCP_YOUNG	(2 * HZ)	/* ... at least */

struct dhcp_entry {
	struct list_head node;
	struct hlist_node mac_node;
	struct hlist_node xid_node;	/* if it was rewritten */
	struct eipoib_dhcp_asked asked;
	unsigned long since;		/* jiffies of the last request */
};

static struct hlist_head *mac_bucket(struct eipoib_dhcp_table *table, const u8 *mac)
{
	return &table->by_mac[jhash(mac, ETH_ALEN, table->seed) % EIPOIB_DHCP_BUCKETS];
}

static struct hlist_head *xid_bucket(struct eipoib_dhcp_table *table, __be32 xid)
{
	return &table->by_xid[jhash_1word((__force u32)xid, table->seed) % EIPOIB_DHCP_BUCKETS];
}

/**
 * eipoib_dhcp_table_init() - prepare a table
 * @table: the table, zeroed
 *
 * Context: any.
 */
void eipoib_dhcp_table_init(struct eipoib_dhcp_table *table)
{
	spin_lock_init(&table->lock);
	INIT_LIST_HEAD(&table->entries);
	table->seed = get_random_u32();
}

/* The functions up to eipoib_dhcp_table_expire() are called with the lock held */
static void entry_unlink(struct eipoib_dhcp_table *table, struct dhcp_entry *entry)
{
	list_del(&entry->node);
	hlist_del(&entry->mac_node);
	if (entry->asked.rewritten)
		hlist_del(&entry->xid_node);
	table->count--;
}

static void entry_link(struct eipoib_dhcp_table *table, struct dhcp_entry *entry)
{
	list_add_tail(&entry->node, &table->entries);
	hlist_add_head(&entry->mac_node, mac_bucket(table, entry->asked.mac));
	if (entry->asked.rewritten)
		hlist_add_head(&entry->xid_node, xid_bucket(table, entry->asked.xid));
	table->count++;
}

static struct dhcp_entry *oldest(struct eipoib_dhcp_table *table)
{
	return list_first_entry_or_null(&table->entries, struct dhcp_entry, node);
}

static bool is_older(const struct dhcp_entry *entry, unsigned long age)
{
	return time_after(jiffies, entry->since + age);
}

static void expire(struct eipoib_dhcp_table *table)
{
	struct dhcp_entry *entry;

	while ((entry = oldest(table)) != NULL && is_older(entry, DHCP_AGE)) {
		entry_unlink(table, entry);
		kfree(entry);
	}
}

static struct dhcp_entry *find_mac(struct eipoib_dhcp_table *table, __be32 xid, const u8 *mac)
{
	struct dhcp_entry *entry;

	hlist_for_each_entry(entry, mac_bucket(table, mac), mac_node)
		if (entry->asked.xid == xid && ether_addr_equal(entry->asked.mac, mac))
			return entry;
	return NULL;
}

static struct dhcp_entry *find_xid(struct eipoib_dhcp_table *table, __be32 xid)
{
	struct dhcp_entry *entry;

	hlist_for_each_entry(entry, xid_bucket(table, xid), xid_node)
		if (entry->asked.xid == xid)
			return entry;
	return NULL;
}

/* Returns the oldest entry of a MAC address that has as many as it may have, or NULL. The newest
 * ones come first.
 */
static struct dhcp_entry *find_excess(struct eipoib_dhcp_table *table, const u8 *mac)
{
	struct dhcp_entry *entry;
	u32 count = 0;

	hlist_for_each_entry(entry, mac_bucket(table, mac), mac_node)
		if (ether_addr_equal(entry->asked.mac, mac) && ++count >= DHCP_MAC_MAX)
			return entry;
	return NULL;
}

/* Returns the entry that a request replaces, or NULL */
static struct dhcp_entry *find_replaced(struct eipoib_dhcp_table *table,
					const struct eipoib_dhcp_asked *asked)
{
	struct dhcp_entry *entry = find_mac(table, asked->xid, asked->mac);

	if (!entry)
		entry = find_excess(table, asked->mac);
	if (!entry && table->count >= DHCP_MAX)
		entry = oldest(table);
	return entry;
}

/* Returns an entry that is not in the table, or NULL if there is no room for one */
static struct dhcp_entry *entry_get(struct eipoib_dhcp_table *table,
				    const struct eipoib_dhcp_asked *asked)
{
	struct dhcp_entry *entry = find_replaced(table, asked);

	if (!entry)
		return kmalloc(sizeof(*entry), GFP_ATOMIC);
	if (!ether_addr_equal(entry->asked.mac, asked->mac) && !is_older(entry, DHCP_YOUNG))
		return NULL;
	entry_unlink(table, entry);
	return entry;
}

/**
 * eipoib_dhcp_table_expire() - remove the entries whose time is over
 * @table: the table
 *
 * Context: any but hard interrupt.
 */
void eipoib_dhcp_table_expire(struct eipoib_dhcp_table *table)
{
	spin_lock_bh(&table->lock);
	expire(table);
	spin_unlock_bh(&table->lock);
}

/**
 * eipoib_dhcp_table_destroy() - remove all entries
 * @table: the table, which nobody uses any more
 *
 * Context: any.
 */
void eipoib_dhcp_table_destroy(struct eipoib_dhcp_table *table)
{
	struct dhcp_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &table->entries, node)
		kfree(entry);
}

/**
 * eipoib_dhcp_remember() - note a client's request
 * @table: the table
 * @asked: the request. @asked->rewritten is cleared if another client's request with the same
 *	transaction ID was rewritten.
 *
 * Context: any but hard interrupt.
 * Return: false if there are too many, or there is no memory.
 */
bool eipoib_dhcp_remember(struct eipoib_dhcp_table *table, struct eipoib_dhcp_asked *asked)
{
	struct dhcp_entry *entry;

	spin_lock_bh(&table->lock);
	expire(table);
	entry = entry_get(table, asked);
	if (entry) {
		if (find_xid(table, asked->xid))
			asked->rewritten = false;
		entry->asked = *asked;
		entry->since = jiffies;
		entry_link(table, entry);
	}
	spin_unlock_bh(&table->lock);
	return entry;
}

/* Copies what an entry says, if it is still to be used. The lock is held. */
static bool entry_read(const struct dhcp_entry *entry, struct eipoib_dhcp_asked *asked)
{
	if (!entry || is_older(entry, DHCP_AGE))
		return false;
	*asked = entry->asked;
	return true;
}

/**
 * eipoib_dhcp_asked_by() - find the request that an answer is for
 * @table: the table
 * @xid: transaction ID of the answer
 * @mac: MAC address of the client that it is for
 * @asked: filled in
 *
 * Context: any but hard interrupt.
 * Return: false if there is none.
 */
bool eipoib_dhcp_asked_by(struct eipoib_dhcp_table *table, __be32 xid, const u8 *mac,
			  struct eipoib_dhcp_asked *asked)
{
	bool found;

	spin_lock_bh(&table->lock);
	found = entry_read(find_mac(table, xid, mac), asked);
	spin_unlock_bh(&table->lock);
	return found;
}

/**
 * eipoib_dhcp_asked_rewritten() - find the rewritten request that an answer is for
 * @table: the table
 * @xid: transaction ID of the answer
 * @asked: filled in
 *
 * Context: any but hard interrupt.
 * Return: false if there is none.
 */
bool eipoib_dhcp_asked_rewritten(struct eipoib_dhcp_table *table, __be32 xid,
				 struct eipoib_dhcp_asked *asked)
{
	bool found;

	spin_lock_bh(&table->lock);
	found = entry_read(find_xid(table, xid), asked);
	spin_unlock_bh(&table->lock);
	return found;
}
