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
 * ats_source_guest() - whether a namespace is a guest of a port
 * @port: the port
 * @net: the namespace; NULL: a caller that sees all of them
 *
 * Context: any.
 * Return: the guest's cookie, or 0 for the host.
 */
u64 ats_source_guest(const struct ats_port *port, const struct net *net)
{
	return net && net->net_cookie != port->host_cookie ? net->net_cookie : 0;
}

/**
 * ats_source_in_partition() - whether a namespace has an interface in a partition
 * @port: the port that the interface is on
 * @guest: the namespace's cookie
 * @pkey: the partition's P_Key, with or without the full-member bit; 0: any
 *
 * Context: process; port->mutex is held.
 * Return: true if it has.
 */
bool ats_source_in_partition(const struct ats_port *port, u64 guest, u16 pkey)
{
	const struct ats_source *source;

	list_for_each_entry(source, &port->sources, list)
		if (source->net_cookie == guest &&
		    (!pkey || !((source->key.pkey ^ pkey) & ~ATS_PKEY_FULL)))
			return true;
	return false;
}

/**
 * ats_source_on_port() - whether a namespace is the host, or has addresses on a port
 * @port: the port
 * @guest: from ats_source_guest()
 * @pkey: the P_Key of the partition that the addresses are in; 0: any
 *
 * Context: may sleep; takes port->mutex.
 * Return: true if it is or has.
 */
bool ats_source_on_port(struct ats_port *port, u64 guest, u16 pkey)
{
	bool on;

	mutex_lock(&port->mutex);
	on = !guest || ats_source_in_partition(port, guest, pkey);
	mutex_unlock(&port->mutex);
	return on;
}

/**
 * ats_source_find() - find the addresses of a netdevice on a port
 * @port: the port
 * @owner: the netdevice's ats_source.owner
 *
 * Context: port->mutex is held.
 * Return: the source, or NULL.
 */
struct ats_source *ats_source_find(struct ats_port *port, const void *owner)
{
	struct ats_source *source;

	list_for_each_entry(source, &port->sources, list)
		if (source->owner == owner)
			return source;
	return NULL;
}

static bool place_same(const struct ats_source *a, const struct ats_source *b)
{
	return a->net_cookie == b->net_cookie && a->ifindex == b->ifindex &&
	       ats_key_same(&a->key, &b->key);
}

/*
 * The memory of an owner may be reused for another netdevice, in another namespace, so the
 * place is compared, too. Addresses that are not held, because of the quota or for lack of
 * memory, are tried again at each scan.
 */
static bool source_same(const struct ats_source *old, const struct ats_source *new)
{
	unsigned int i;

	if (!place_same(old, new) || !ipv6_addr_equal(&old->choice, &new->choice) ||
	    old->count != new->count)
		return false;
	for (i = 0; i < old->count; i++)
		if (!old->local[i].held || !ipv6_addr_equal(&old->local[i].ip, &new->local[i].ip))
			return false;
	return true;
}

/**
 * ats_source_set() - find or create the set of a GID and P_Key, which the engine then reads back
 * @port: the port
 * @key: the GID and P_Key
 *
 * Context: may sleep; port->mutex is held.
 * Return: the set, or NULL if there is no memory.
 */
struct ats_set *ats_source_set(struct ats_port *port, const struct ats_key *key)
{
	struct ats_set *set = ats_engine_find(&port->engine, key);

	if (set)
		return set;
	set = ats_set_create(key);
	if (set)
		list_add_tail(&set->list, &port->engine.sets);
	return set;
}

static bool source_is_host(const struct ats_port *port, const struct ats_source *source)
{
	return source->net_cookie == port->host_cookie;
}

/* The number of addresses that a netdevice may hold */
static unsigned int source_quota(const struct ats_port *port, const struct ats_source *source)
{
	const struct ats_source *other;
	unsigned int i, held = 0;

	if (source_is_host(port, source))
		return UINT_MAX;
	list_for_each_entry(other, &port->sources, list) {
		if (other->net_cookie != source->net_cookie || other->owner == source->owner)
			continue;
		for (i = 0; i < other->count; i++)
			held += !!other->local[i].held;
	}
	return ats_netns_records > held ? ats_netns_records - held : 0;
}

static void source_get(struct ats_port *port, struct ats_source *source)
{
	unsigned int i, quota = min(source_quota(port, source), source->count);
	struct ats_set *set = quota ? ats_source_set(port, &source->key) : NULL;
	bool host = source_is_host(port, source);

	for (i = 0; set && i < quota; i++) {
		source->local[i].held = ats_set_get(set, &source->local[i].ip, host);
		source->chooses |= source->local[i].held &&
				   ipv6_addr_equal(&source->local[i].ip, &source->choice);
	}
}

/* Others are notified first */
static void source_put(struct ats_port *port, struct ats_source *source)
{
	unsigned long until = jiffies + msecs_to_jiffies(port->leaving ? 0 : ats_linger_ms);
	bool host = source_is_host(port, source);
	unsigned int i;

	ats_view_tell_gone(port, source);
	for (i = 0; i < source->count; i++)
		if (source->local[i].held)
			ats_set_put(source->local[i].held, host, until);
	list_del(&source->list);
	kvfree(source);
}

/*
 * After a change of the addresses of a set: its owner is the host if it has addresses in the set,
 * otherwise the only namespace that has any, if there is one. The owner's latest choice counts,
 * and the work looks at the set.
 */
static void port_choose(struct ats_port *port, const struct ats_key *key)
{
	struct ats_set *set = ats_engine_find(&port->engine, key);
	const struct ats_source *source, *owner = NULL, *last = NULL;
	bool shared = false;

	port->dirty = true;
	ats_port_kick(port);
	if (!set)
		return;
	list_for_each_entry(source, &port->sources, list) {
		if (!ats_key_same(&source->key, key))
			continue;
		if (!owner || (source_is_host(port, source) && !source_is_host(port, owner))) {
			owner = source;
			last = NULL;
		}
		if (source->net_cookie != owner->net_cookie)
			shared = true;
		else if (source->chooses && (!last || source->chosen_at > last->chosen_at))
			last = source;
	}
	if (last && (!shared || source_is_host(port, last)))
		set->choice = last->choice;
	else
		set->choice = in6addr_any;
}

/* What was reported about an address remains valid for the new source */
static void source_inherit(struct ats_port *port, struct ats_source *source,
			   struct ats_source *old)
{
	unsigned int i, j;

	if (ats_key_same(&old->key, &source->key) &&
	    ipv6_addr_equal(&old->choice, &source->choice))
		source->chosen_at = old->chosen_at;
	if (!place_same(old, source))
		return;
	for (i = 0; i < source->count; i++) {
		for (j = 0; j < old->count; j++) {
			if (!ipv6_addr_equal(&source->local[i].ip, &old->local[j].ip))
				continue;
			source->local[i] = old->local[j];
			source->local[i].held = NULL;
			old->local[j].told = false;
			break;
		}
	}
}

/*
 * The new addresses are added before the old ones are removed, so an address in both is held
 * all the time. They take the place of the old ones, where a list that is being read continues.
 */
static void source_change(struct ats_port *port, struct ats_source *source, struct ats_source *old)
{
	struct ats_key old_key = old ? old->key : source->key;
	unsigned int i;

	source->chosen_at = ++port->choices;
	/* Rivals of new addresses are looked for by the next audit */
	for (i = 0; i < source->count; i++)
		source->local[i].round = port->audit.round;
	if (old)
		source_inherit(port, source, old);
	source_get(port, source);
	list_add_tail(&source->list, old ? &old->list : &port->sources);
	if (old)
		source_put(port, old);
	port_choose(port, &source->key);
	port_choose(port, &old_key);
}

/**
 * ats_source_replace() - replace the addresses of a netdevice
 * @port: the port that it is on
 * @source: its addresses. This function takes @source over
 *
 * Makes the port's work run only if something changes, as each scan of the netdevices passes
 * the addresses of all of them.
 *
 * Context: may sleep; takes port->mutex.
 */
void ats_source_replace(struct ats_port *port, struct ats_source *source)
{
	struct ats_source *old;

	mutex_lock(&port->mutex);
	old = ats_source_find(port, source->owner);
	if ((old && source_same(old, source)) || port->leaving)
		kvfree(source);
	else
		source_change(port, source, old);
	mutex_unlock(&port->mutex);
}

/**
 * ats_source_drop() - remove the addresses of a netdevice
 * @port: the port
 * @owner: the netdevice's ats_source.owner; it may have no addresses there
 *
 * Context: may sleep; takes port->mutex.
 */
void ats_source_drop(struct ats_port *port, const void *owner)
{
	struct ats_source *source;
	struct ats_key key;

	mutex_lock(&port->mutex);
	source = ats_source_find(port, owner);
	if (source) {
		key = source->key;
		source_put(port, source);
		port_choose(port, &key);
	}
	mutex_unlock(&port->mutex);
}

/**
 * ats_source_drop_all() - remove the addresses of all netdevices
 * @port: the port
 *
 * Context: the port's work.
 */
void ats_source_drop_all(struct ats_port *port)
{
	struct ats_source *source, *next;

	list_for_each_entry_safe(source, next, &port->sources, list)
		source_put(port, source);
}
