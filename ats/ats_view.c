// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What others may see of a port: a view of its netdevices' addresses with the state of
 * each one's record, and how the port stands. The port's work alone makes them, when
 * it has changed something. Whoever reads holds a view that does not change any more, so that
 * neither waits for the other. What differs from the view before is told to user space.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "ats.h"

/* Walks the addresses of all netdevices of a port */
struct walk {
	struct ats_port *port;
	const struct ats_source *source;
	const struct ats_set *set;
	unsigned int i;
};

static void walk_begin(struct walk *walk, struct ats_port *port)
{
	walk->port = port;
	walk->source = list_entry(&port->sources, struct ats_source, list);
	walk->set = NULL;
	walk->i = 0;
}

/* Sources in the list have addresses, and a set */
static bool walk_source(struct walk *walk)
{
	if (list_is_last(&walk->source->list, &walk->port->sources))
		return false;
	walk->source = list_next_entry(walk->source, list);
	walk->set = ats_engine_find(&walk->port->engine, &walk->source->key);
	walk->i = 0;
	return true;
}

static bool walk_next(struct walk *walk, struct ats_local *local)
{
	const struct ats_addr *addr;

	if ((!walk->set || walk->i == walk->source->count) && !walk_source(walk))
		return false;
	memset(local, 0, sizeof(*local));
	local->net_cookie = walk->source->net_cookie;
	local->ifindex = walk->source->ifindex;
	local->key = walk->source->key;
	local->ip = walk->source->ip[walk->i++];
	addr = ats_set_find(walk->set, &local->ip);
	local->slot = addr->slot;
	local->state = ats_set_state(walk->set, addr);
	if (local->state == IB_ATS_RECORD_REGISTERED && ats_port_is_local(walk->port))
		local->state = IB_ATS_RECORD_LOCAL;
	return true;
}

/* Padding is zero in all of them */
static bool local_same(const struct ats_local *a, const struct ats_local *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool local_same_address(const struct ats_local *a, const struct ats_local *b)
{
	return a->net_cookie == b->net_cookie && a->ifindex == b->ifindex &&
	       ats_key_same(&a->key, &b->key) && ats_ip_same(&a->ip, &b->ip);
}

static unsigned int view_count(const struct ats_view *view)
{
	return view ? view->count : 0;
}

/* Most runs of the work change nothing: *count is the number of addresses */
static bool view_current(struct ats_port *port, unsigned int *count)
{
	const struct ats_view *view = port->view;
	struct ats_local local;
	bool same = true;
	struct walk walk;

	*count = 0;
	for (walk_begin(&walk, port); walk_next(&walk, &local); (*count)++)
		same = same && *count < view_count(view) &&
		       local_same(&local, &view->local[*count]);
	return same && *count == view_count(view);
}

static struct ats_view *view_create(struct ats_port *port, unsigned int count)
{
	struct ats_view *view;
	struct walk walk;

	view = kvmalloc(struct_size(view, local, count), GFP_KERNEL);
	if (!view)
		return NULL;
	refcount_set(&view->refs, 1);
	walk_begin(&walk, port);
	for (view->count = 0; view->count < count; view->count++)
		walk_next(&walk, &view->local[view->count]);
	return view;
}

/* Two views have most addresses in the same order: the search begins at *hint */
static const struct ats_local *view_find(const struct ats_view *view,
					 const struct ats_local *wanted, unsigned int *hint)
{
	unsigned int i, at, count = view_count(view);

	for (i = 0; i < count; i++) {
		at = (*hint + i) % count;
		if (!local_same_address(&view->local[at], wanted))
			continue;
		*hint = at + 1;
		return &view->local[at];
	}
	return NULL;
}

static void view_tell_new(const struct ats_port *port, const struct ats_view *old,
			  const struct ats_view *new)
{
	const struct ats_local *was;
	unsigned int i, hint = 0;

	for (i = 0; i < view_count(new); i++) {
		was = view_find(old, &new->local[i], &hint);
		if (!was || !local_same(was, &new->local[i]))
			ats_netlink_notify(port, &new->local[i]);
	}
}

static void view_tell_gone(const struct ats_port *port, const struct ats_view *old,
			   const struct ats_view *new)
{
	unsigned int i, hint = 0;
	struct ats_local gone;

	for (i = 0; i < view_count(old); i++) {
		if (view_find(new, &old->local[i], &hint))
			continue;
		gone = old->local[i];
		gone.state = IB_ATS_RECORD_GONE;
		ats_netlink_notify(port, &gone);
	}
}

static void view_replace(struct ats_port *port, struct ats_view *new)
{
	struct ats_view *old = port->view;

	spin_lock_irq(&port->lock);
	port->view = new;
	spin_unlock_irq(&port->lock);
	view_tell_gone(port, old, new);
	view_tell_new(port, old, new);
	ats_view_put(old);
}

static enum ib_ats_sa_state sa_state(const struct ats_port *port)
{
	if (ats_port_is_local(port))
		return IB_ATS_SA_NONE;
	if (!port->engine.online)
		return IB_ATS_SA_AWAY;
	return port->engine.trouble ? IB_ATS_SA_TROUBLE : IB_ATS_SA_ONLINE;
}

/**
 * ats_view_set_status() - have others see what a port did, and how it stands
 * @port: the port
 *
 * Context: the port's work.
 */
void ats_view_set_status(struct ats_port *port)
{
	spin_lock_irq(&port->lock);
	port->status.count = port->engine.count;
	port->status.sa = sa_state(port);
	spin_unlock_irq(&port->lock);
}

/**
 * ats_view_update() - have others see what records there are now
 * @port: the port
 *
 * Context: the port's work; may sleep.
 * Return: false: without memory they see what there was, until the next time.
 */
bool ats_view_update(struct ats_port *port)
{
	struct ats_view *view;
	unsigned int count;

	if (view_current(port, &count))
		return true;
	view = view_create(port, count);
	if (view)
		view_replace(port, view);
	return view;
}

/**
 * ats_view_get() - hold what there is to be seen of a port's addresses
 * @port: the port
 *
 * Context: process.
 * Return: the view, for ats_view_put(); NULL: there never were any.
 */
struct ats_view *ats_view_get(struct ats_port *port)
{
	struct ats_view *view;

	spin_lock_irq(&port->lock);
	view = port->view;
	if (view)
		refcount_inc(&view->refs);
	spin_unlock_irq(&port->lock);
	return view;
}

/**
 * ats_view_put() - let go of a view
 * @view: the view, or NULL
 *
 * Context: may sleep.
 */
void ats_view_put(struct ats_view *view)
{
	if (view && refcount_dec_and_test(&view->refs))
		kvfree(view);
}

/**
 * ats_view_destroy() - nothing is to be seen any more
 * @port: a port whose work has ended
 *
 * Context: may sleep.
 */
void ats_view_destroy(struct ats_port *port)
{
	view_replace(port, NULL);
}

/**
 * ats_view_has_net() - whether an interface of a namespace has an address on a port
 * @port: the port
 * @net_cookie: the namespace's
 *
 * Context: process.
 * Return: whether it has.
 */
bool ats_view_has_net(struct ats_port *port, u64 net_cookie)
{
	struct ats_view *view = ats_view_get(port);
	bool found = false;
	unsigned int i;

	for (i = 0; i < view_count(view) && !found; i++)
		found = view->local[i].net_cookie == net_cookie;
	ats_view_put(view);
	return found;
}

/**
 * ats_view_status() - what a port did, and how it stands
 * @port: the port
 *
 * Context: process.
 * Return: that.
 */
struct ats_status ats_view_status(struct ats_port *port)
{
	struct ats_status status;

	spin_lock_irq(&port->lock);
	status = port->status;
	spin_unlock_irq(&port->lock);
	return status;
}
