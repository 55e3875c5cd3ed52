// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What netdevices have on a port becomes the sets of each GID and P_Key: addresses that
 * several of them have are held as often, and which of them names the primary one.
 */
#include <linux/slab.h>

#include "ats.h"

/**
 * ats_source_find() - what a netdevice has
 * @sources: where it is looked for
 * @owner: the netdevice's
 *
 * Context: that of the list's owner.
 * Return: that, or NULL.
 */
struct ats_source *ats_source_find(struct list_head *sources, const void *owner)
{
	struct ats_source *source;

	list_for_each_entry(source, sources, list)
		if (source->owner == owner)
			return source;
	return NULL;
}

static bool choice_same(const struct ats_source *a, const struct ats_source *b)
{
	return a->has_choice == b->has_choice && ats_key_same(&a->key, &b->key) &&
	       ats_ip_same(&a->choice, &b->choice);
}

/* An owner that is freed may be another netdevice's next, in another namespace */
static bool source_same(const struct ats_source *a, const struct ats_source *b)
{
	return a->net_cookie == b->net_cookie && a->ifindex == b->ifindex &&
	       a->count == b->count && choice_same(a, b) &&
	       !memcmp(a->ip, b->ip, array_size(a->count, sizeof(a->ip[0])));
}

static struct ats_set *port_set(struct ats_port *port, const struct ats_key *key)
{
	struct ats_set *set = ats_engine_find(&port->engine, key);

	if (set)
		return set;
	set = ats_set_create(key);
	if (set)
		list_add_tail(&set->list, &port->engine.sets);
	return set;
}

/* What there is no memory for comes with a later scan: the source differs from it */
static void source_get(struct ats_port *port, struct ats_source *source)
{
	struct ats_set *set = port_set(port, &source->key);
	unsigned int i;

	for (i = 0; set && i < source->count; i++)
		if (ats_set_get(set, &source->ip[i]))
			break;
	source->count = set ? i : 0;
}

static void source_put(struct ats_port *port, struct ats_source *source)
{
	unsigned long until = jiffies + msecs_to_jiffies(port->leaving ? 0 : ats_linger_ms);
	struct ats_set *set = ats_engine_find(&port->engine, &source->key);
	unsigned int i;

	for (i = 0; i < source->count; i++)
		ats_set_put(set, &source->ip[i], until);
	list_del(&source->list);
	kfree(source);
}

static void choice_drop(struct ats_port *port, const struct ats_source *source)
{
	struct ats_set *set = ats_engine_find(&port->engine, &source->key);

	if (set->has_choice && ats_ip_same(&set->choice, &source->choice))
		ats_set_choose(set, NULL);
}

/* Where netdevices share a set the last word counts, which must be a new one */
static void source_choose(struct ats_port *port, const struct ats_source *source,
			  const struct ats_source *old)
{
	if (old && source->count && choice_same(old, source))
		return;
	if (old && old->has_choice)
		choice_drop(port, old);
	if (source->count && source->has_choice)
		ats_set_choose(ats_engine_find(&port->engine, &source->key), &source->choice);
}

/**
 * ats_source_replace() - a netdevice has something else now
 * @port: the port that it is on
 * @source: what it has; nothing: it is not on this port any more. This function's from
 *	here on
 *
 * The new addresses come first: one that stays is never let go of.
 *
 * Context: the port's work; may sleep.
 */
void ats_source_replace(struct ats_port *port, struct ats_source *source)
{
	struct ats_source *old = ats_source_find(&port->sources, source->owner);

	if ((old && source_same(old, source)) || port->leaving) {
		kfree(source);
		return;
	}
	if (source->count)
		source_get(port, source);
	source_choose(port, source, old);
	if (old)
		source_put(port, old);
	if (source->count)
		list_add_tail(&source->list, &port->sources);
	else
		kfree(source);
}

/**
 * ats_source_drop_all() - no netdevice has anything any more
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
