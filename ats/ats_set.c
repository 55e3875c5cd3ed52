// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The set of addresses of one port GID and P_Key: the number of holders of each address,
 * which one is the primary one, and the slot (Service ID) of each. This file does not
 * depend on an SA.
 */
#include "ats.h"

/**
 * ats_set_create() - create a set without addresses
 * @key: its GID and P_Key
 *
 * The set is marked to be read back from the SA.
 *
 * Context: may sleep.
 * Return: the set, or NULL if there is no memory.
 */
struct ats_set *ats_set_create(const struct ats_key *key)
{
	struct ats_set *set = kvzalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return NULL;
	set->key = *key;
	INIT_LIST_HEAD(&set->order);
	/* Records from before a restart of this host may still be at the SA */
	set->verify = true;
	return set;
}

static void addr_free(struct ats_set *set, struct ats_addr *addr)
{
	if (addr->slot >= 0)
		set->slot[addr->slot].want = NULL;
	list_del(&addr->order);
	kfree(addr);
}

/**
 * ats_set_destroy() - free a set and its addresses
 * @set: the set; not in a list
 *
 * Context: may sleep.
 */
void ats_set_destroy(struct ats_set *set)
{
	struct ats_addr *addr, *next;

	list_for_each_entry_safe(addr, next, &set->order, order)
		addr_free(set, addr);
	kvfree(set);
}

/**
 * ats_set_find() - find an address of a set
 * @set: the set
 * @ip: the address
 *
 * Context: that of the set's owner.
 * Return: the address, or NULL. An address without holders is found until it expires.
 */
struct ats_addr *ats_set_find(const struct ats_set *set, const struct in6_addr *ip)
{
	struct ats_addr *addr;

	list_for_each_entry(addr, &set->order, order)
		if (ipv6_addr_equal(&addr->ip, ip))
			return addr;
	return NULL;
}

/**
 * ats_set_get() - add a holder of an address
 * @set: the set
 * @ip: the address, which is added if the set does not have it
 * @host: the holder is an interface of the host, not of a guest
 *
 * Context: that of the set's owner; may sleep.
 * Return: the address, for ats_set_put(), or NULL if there is no memory.
 */
struct ats_addr *ats_set_get(struct ats_set *set, const struct in6_addr *ip, bool host)
{
	struct ats_addr *addr = ats_set_find(set, ip);

	if (!addr) {
		addr = kzalloc(sizeof(*addr), GFP_KERNEL);
		if (!addr)
			return NULL;
		addr->ip = *ip;
		addr->slot = -1;
		list_add_tail(&addr->order, &set->order);
	}
	if (!addr->refs)
		addr->host_refs = 0;
	addr->refs++;
	addr->host_refs += host;
	return addr;
}

/**
 * ats_set_put() - remove a holder of an address
 * @addr: an address that ats_set_get() has returned
 * @host: the holder is an interface of the host, not of a guest
 * @until: jiffies when the address expires, if this was the last holder and no other one
 *	is added before
 *
 * Context: that of the set's owner.
 */
void ats_set_put(struct ats_addr *addr, bool host, unsigned long until)
{
	/* An address without holders keeps its rank until it expires */
	if (--addr->refs)
		addr->host_refs -= host;
	addr->expires = until;
}

/**
 * ats_set_expire() - remove the addresses that have had no holder for long enough
 * @set: the set
 * @now: jiffies
 * @next: set to an earlier time, in jiffies, if another address expires before it
 *
 * Context: that of the set's owner.
 */
void ats_set_expire(struct ats_set *set, unsigned long now, unsigned long *next)
{
	struct ats_addr *addr, *other;

	list_for_each_entry_safe(addr, other, &set->order, order) {
		if (addr->refs)
			continue;
		if (time_after_eq(now, addr->expires))
			addr_free(set, addr);
		else
			*next = ats_earlier(*next, addr->expires);
	}
}

/* The address of the highest rank becomes primary: the host's before guests', then IPv4 */
static int primary_rank(const struct ats_addr *addr)
{
	return 2 * !!addr->host_refs + ats_addr_is_ipv4(&addr->ip);
}

/* The administrator's choice, otherwise the first address of the highest rank */
static struct ats_addr *select_primary(struct ats_set *set)
{
	struct ats_addr *addr = ats_set_find(set, &set->choice), *best = NULL;

	if (addr)
		return addr;
	list_for_each_entry(addr, &set->order, order)
		if (!best || primary_rank(addr) > primary_rank(best))
			best = addr;
	return best;
}

static void slot_give(struct ats_set *set, struct ats_addr *addr, int slot)
{
	if (addr->slot >= 0 && set->slot[addr->slot].want == addr)
		set->slot[addr->slot].want = NULL;
	addr->slot = slot;
	if (slot >= 0)
		set->slot[slot].want = addr;
}

/* Slot 0 is reserved for the primary address */
static int slot_free(const struct ats_set *set)
{
	int slot;

	for (slot = 1; slot < ATS_SIDS; slot++)
		if (!set->slot[slot].want)
			return slot;
	return -1;
}

/*
 * In a full set, an address without holders loses its slot before it expires, and an address
 * that only guests hold loses it to an address of the host.
 */
static int slot_find(struct ats_set *set, const struct ats_addr *newcomer)
{
	int slot = slot_free(set);
	struct ats_addr *addr;

	if (slot >= 0)
		return slot;
	list_for_each_entry(addr, &set->order, order) {
		if (addr->slot <= 0 || (addr->refs && (addr->host_refs || !newcomer->host_refs)))
			continue;
		slot = addr->slot;
		if (addr->refs)
			slot_give(set, addr, -1);
		else
			addr_free(set, addr);
		break;
	}
	return slot;
}

/*
 * The old primary address gets a slot that is free now, so that it can be registered there
 * before the new one takes its place. If all slots are taken, the two addresses swap them.
 */
static void primary_give(struct ats_set *set, struct ats_addr *addr)
{
	struct ats_addr *old = set->slot[0].want;
	int slot = slot_free(set);

	if (addr->slot == 0)
		return;
	if (slot < 0)
		slot = addr->slot;
	slot_give(set, addr, 0);
	if (old)
		slot_give(set, old, slot);
}

/**
 * ats_set_assign() - assign a slot to each address
 * @set: the set, after a change
 *
 * Context: that of the set's owner.
 * Return: the number of addresses that got no slot now, but were not refused before.
 */
unsigned int ats_set_assign(struct ats_set *set)
{
	struct ats_addr *addr = select_primary(set);
	unsigned int refused = 0;
	int slot;

	if (addr)
		primary_give(set, addr);
	list_for_each_entry(addr, &set->order, order) {
		if (addr->slot >= 0 || !addr->refs)
			continue;
		slot = slot_find(set, addr);
		if (slot >= 0)
			slot_give(set, addr, slot);
		refused += slot < 0 && !addr->refused;
		addr->refused = slot < 0;
	}
	return refused;
}
