// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Turns the addresses of netdevices on a port into the sets of each GID and P_Key. An
 * address that several netdevices have gets a holder for each, and the administrator's
 * choice for one of them determines the primary address.
 *
 * The HCA's own network namespace is the host; others are guests. A guest may hold only a
 * limited number of addresses on a port. It cannot choose the primary address of a set in
 * which the host has addresses, and does not see partitions that it is not in.
 */
#include "ats.h"

/**
 * ats_local_guest() - whether a namespace is a guest of a port
 * @port: the port
 * @net: the namespace; NULL: a caller that sees all of them
 *
 * Context: any.
 * Return: the guest's cookie, or 0 for the host.
 */
u64 ats_local_guest(const struct ats_port *port, const struct net *net)
{
	return net && net->net_cookie != port->host_cookie ? net->net_cookie : 0;
}

/**
 * ats_local_in_partition() - whether a namespace has an interface in a partition
 * @port: the port that the interface is on
 * @guest: the namespace's cookie
 * @pkey: the partition's P_Key, with or without the full-member bit; 0: any
 *
 * Context: process; port->mutex is held.
 * Return: true if it has.
 */
bool ats_local_in_partition(const struct ats_port *port, u64 guest, u16 pkey)
{
	const struct ats_local *local;

	list_for_each_entry(local, &port->locals, list)
		if (local->net_cookie == guest &&
		    (!pkey || !((local->key.pkey ^ pkey) & ~ATS_PKEY_FULL)))
			return true;
	return false;
}

/**
 * ats_local_on_port() - whether a namespace is the host, or has addresses on a port
 * @port: the port
 * @guest: from ats_local_guest()
 * @pkey: the P_Key of the partition that the addresses are in; 0: any
 *
 * Context: may sleep; takes port->mutex.
 * Return: true if it is or has.
 */
bool ats_local_on_port(struct ats_port *port, u64 guest, u16 pkey)
{
	bool on;

	if (!guest)
		return true;
	mutex_lock(&port->mutex);
	on = ats_local_in_partition(port, guest, pkey);
	mutex_unlock(&port->mutex);
	return on;
}

/**
 * ats_local_set() - find or create the set of a GID and P_Key, which the engine then reads back
 * @port: the port
 * @key: the GID and P_Key
 *
 * Context: may sleep; port->mutex is held.
 * Return: the set, or NULL if there is no memory.
 */
struct ats_set *ats_local_set(struct ats_port *port, const struct ats_key *key)
{
	struct ats_set *set = ats_engine_find(&port->engine, key);

	if (set)
		return set;
	set = ats_set_create(key);
	if (set)
		list_add_tail(&set->list, &port->engine.sets);
	return set;
}

static bool local_is_host(const struct ats_port *port, const struct ats_local *local)
{
	return local->net_cookie == port->host_cookie;
}

/* How many more addresses a namespace may hold */
static unsigned int net_room(const struct ats_port *port, u64 net_cookie)
{
	const struct ats_local *local;
	unsigned int held = 0;

	if (net_cookie == port->host_cookie)
		return UINT_MAX;
	list_for_each_entry(local, &port->locals, list)
		held += local->held && local->net_cookie == net_cookie;
	return ats_netns_records - min(held, ats_netns_records);
}

/* Others are notified first */
static void local_remove(struct ats_port *port, struct ats_local *local)
{
	unsigned long until = jiffies + msecs_to_jiffies(port->leaving ? 0 : ats_linger_ms);

	if (local->told) {
		local->state = IB_ATS_RECORD_GONE;
		local->since = jiffies;
		ats_view_tell(port, local);
	}
	if (local->held)
		ats_set_put(local->held, local_is_host(port, local), until);
	hash_del(&local->node);
	list_del(&local->list);
	kfree(local);
}

/**
 * ats_local_drop_all() - remove the addresses of all netdevices
 * @port: the port
 *
 * Context: may sleep; port->mutex is held, or nobody else uses the port.
 */
void ats_local_drop_all(struct ats_port *port)
{
	struct ats_local *local, *next;

	list_for_each_entry_safe(local, next, &port->locals, list)
		local_remove(port, local);
}

/*
 * The owner of a set is the host if it has addresses in the set, otherwise the only namespace that
 * has any, if there is one. The owner's latest choice counts.
 */
static void set_choose(struct ats_port *port, struct ats_set *set)
{
	const struct ats_local *local, *owner = NULL, *last = NULL;
	bool shared = false;

	list_for_each_entry(local, &port->locals, list) {
		if (!ats_key_same(&local->key, &set->key))
			continue;
		if (!owner || (local_is_host(port, local) && !local_is_host(port, owner))) {
			owner = local;
			last = NULL;
		}
		if (local->net_cookie != owner->net_cookie)
			shared = true;
		else if (local->held && local->choice > (last ? last->choice : 0))
			last = local;
	}
	set->choice = last && (!shared || local_is_host(port, last)) ? last->ip : in6addr_any;
}

static struct ats_local *local_find(struct ats_port *port, const struct ats_local *like, u32 hash)
{
	struct ats_local *local;

	hash_for_each_possible(port->by_ip, local, node, hash)
		if (local->net_cookie == like->net_cookie && local->ifindex == like->ifindex &&
		    ats_key_same(&local->key, &like->key) && ipv6_addr_equal(&local->ip, &like->ip))
			return local;
	return NULL;
}

/*
 * Moves the port's addresses to the places that they have in the scan. What is left in the port's
 * list is gone. A netdevice may have an IPv4 address several times, with different prefixes.
 * Returns whether any address is new or chosen anew.
 */
static bool locals_match(struct ats_port *port, struct list_head *locals)
{
	struct ats_local *local, *next, *old;
	bool changed = false;
	u32 hash;

	list_for_each_entry_safe(local, next, locals, list) {
		hash = __ipv6_addr_jhash(&local->ip, port->hash_seed);
		old = local_find(port, local, hash);
		changed |= !old || old->choice != local->choice;
		if (!old) {
			/* Rivals of new addresses are looked for by the next audit */
			local->round = port->audit.round;
			hash_add(port->by_ip, &local->node, hash);
			continue;
		}
		old->choice = local->choice;
		list_move(&old->list, &local->list);
		list_del(&local->list);
		kfree(local);
	}
	return changed;
}

/* Returns whether any address is held that was not. A scan has the addresses of each namespace in
 * sequence, so that they are rarely counted.
 */
static bool locals_get(struct ats_port *port)
{
	struct ats_local *local;
	unsigned int room = 0;
	u64 net_cookie = 0;
	bool any = false;

	list_for_each_entry(local, &port->locals, list) {
		if (local->held)
			continue;
		if (local->net_cookie != net_cookie) {
			net_cookie = local->net_cookie;
			room = net_room(port, net_cookie);
		}
		local->set = room ? ats_local_set(port, &local->key) : NULL;
		if (local->set)
			local->held = ats_set_get(local->set, &local->ip,
						  local_is_host(port, local));
		if (!local->held)
			continue;
		room--;
		any = true;
	}
	return any;
}

/* An address that moves to another netdevice is removed and added under the same lock */
static void locals_update(struct ats_port *port, struct list_head *locals)
{
	bool changed = locals_match(port, locals) || !list_empty(&port->locals) ||
		       !port->audit.ready;
	struct ats_set *set;

	port->audit.ready = true;
	ats_local_drop_all(port);
	list_splice(locals, &port->locals);
	if (!locals_get(port) && !changed)
		return;
	list_for_each_entry(set, &port->engine.sets, list)
		set_choose(port, set);
	port->dirty = true;
	ats_port_kick(port);
}

/**
 * ats_local_update() - update the addresses of all netdevices on a port
 * @port: the port
 * @locals: the addresses; they are taken over
 *
 * Makes the port's work run only if something changes, as each scan passes all addresses.
 *
 * Context: may sleep; takes port->mutex.
 */
void ats_local_update(struct ats_port *port, struct list_head *locals)
{
	mutex_lock(&port->mutex);
	if (port->leaving)
		ats_local_free(locals);
	else
		locals_update(port, locals);
	mutex_unlock(&port->mutex);
}

/**
 * ats_local_free() - free addresses that no port has
 * @locals: the addresses
 *
 * Context: any.
 */
void ats_local_free(struct list_head *locals)
{
	struct ats_local *local, *next;

	list_for_each_entry_safe(local, next, locals, list)
		kfree(local);
}
