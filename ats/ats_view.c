// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shows the addresses of a port's netdevices, and the state of each record, to others. The
 * port's work compares the state with the one that it last reported, and notifies user space
 * and other modules of differences. Lists show the state that was last reported.
 */
#include <linux/export.h>
#include <linux/notifier.h>

#include "ats.h"

static BLOCKING_NOTIFIER_HEAD(changes);

/* Notifies user space; set by ats_netlink.c while there are no ports */
void (*ats_view_notify_user)(const struct ats_port *port, const struct ats_local *local);

/* Changes with each notification, and with the list of ports, which may be being read meanwhile */
atomic_t ats_view_version;

/**
 * ib_ats_register_notifier() - be notified of changes of this host's records
 * @nb: called with the new state (enum ib_ats_record_state) as event and a struct
 *	ib_ats_change as data, for each record that changes. It may sleep, but that delays
 *	registration, and it must not wait for a question of its own
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int ib_ats_register_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&changes, nb);
}
EXPORT_SYMBOL_GPL(ib_ats_register_notifier);

/**
 * ib_ats_unregister_notifier() - stop being notified
 * @nb: a registered notifier; it is not called any more after the return
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int ib_ats_unregister_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_unregister(&changes, nb);
}
EXPORT_SYMBOL_GPL(ib_ats_unregister_notifier);

/**
 * ats_view_record() - describe an address and its record in the form for others
 * @port: the port
 * @local: the address
 * @record: filled in; its Service ID is 0 if the address has none
 *
 * Context: port->mutex is held.
 */
void ats_view_record(const struct ats_port *port, const struct ats_local *local,
		     struct ib_ats_answer *record)
{
	struct ats_record of = { .key = local->key, .addr = local->ip };

	if (local->slot >= 0)
		of.sid = ats_slot_sid(local->slot);
	ats_record_answer(&of, port, record);
}

/**
 * ats_view_tell() - notify others of an address
 * @port: the port
 * @local: the address, in its present state
 *
 * Context: may sleep; port->mutex is held, or the port is being destroyed.
 */
void ats_view_tell(struct ats_port *port, const struct ats_local *local)
{
	struct ib_ats_change change = { .state = local->state };

	atomic_inc(&ats_view_version);
	ats_view_record(port, local, &change.record);
	blocking_notifier_call_chain(&changes, change.state, &change);
	ats_view_notify_user(port, local);
}

static void local_update(struct ats_port *port, struct ats_local *local)
{
	const struct ats_addr *addr = local->held;
	const struct ats_set *set = local->set;
	const struct ats_local was = *local;

	local->slot = addr ? addr->slot : -1;
	local->state = addr ? ats_set_state(set, addr) : IB_ATS_RECORD_QUOTA;
	local->chosen = !local->slot && ipv6_addr_equal(&set->choice, &local->ip);
	local->refusal = local->state == IB_ATS_RECORD_REFUSED ?
				 set->slot[local->slot].refusal : 0;
	if (was.told && local->slot == was.slot && local->state == was.state &&
	    local->chosen == was.chosen && local->refusal == was.refusal)
		return;
	if (!was.told || local->state != was.state)
		local->since = jiffies;
	local->told = true;
	ats_view_tell(port, local);
}

/**
 * ats_view_update() - notify others of all changes
 * @port: the port
 *
 * Context: the port's work; may sleep.
 */
void ats_view_update(struct ats_port *port)
{
	struct ats_local *local;

	list_for_each_entry(local, &port->locals, list)
		local_update(port, local);
}

/**
 * ats_view_sa() - the state of a port's SA
 * @port: the port
 *
 * Context: port->mutex is held.
 * Return: the state.
 */
enum ib_ats_sa_state ats_view_sa(const struct ats_port *port)
{
	if (!port->engine.online)
		return IB_ATS_SA_AWAY;
	return port->engine.trouble ? IB_ATS_SA_TROUBLE : IB_ATS_SA_ONLINE;
}
