// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * M_Keys (14.2.4): which SMPs a port's SMA obeys. How strictly is up to the
 * protect bits; a lease that ran out clears them, so that a new SM can find out
 * the key of one that is gone.
 */
#include <linux/jiffies.h>

#include "ibfab.h"

#define IBFAB_MKEY_PROTECT	0xc0	/* in the byte that has the LMC too */
#define IBFAB_MKEY_PROTECT_ALL	0x80	/* this bit: Get needs the key too */

static u8 protect_bits(const struct ibfab_port *port)
{
	return port->info.base.mkeyprot_resv_lmc & IBFAB_MKEY_PROTECT;
}

static void end_lease(struct ibfab_port *port)
{
	if (!port->mkey_leased || time_before(jiffies, port->mkey_lease_end))
		return;
	port->mkey_leased = false;
	port->info.base.mkeyprot_resv_lmc &= ~IBFAB_MKEY_PROTECT;
}

/* The lease runs from the first refused SMP on */
static void begin_lease(struct ibfab_port *port)
{
	u16 seconds = be16_to_cpu(port->info.base.mkey_lease_period);

	if (port->mkey_leased || !seconds)
		return;
	port->mkey_leased = true;
	port->mkey_lease_end = jiffies + seconds * HZ;
}

static void count_violation(struct ibfab_port *port)
{
	u16 count = be16_to_cpu(port->info.base.mkey_violations);

	if (count < U16_MAX)
		port->info.base.mkey_violations = cpu_to_be16(count + 1);
}

/**
 * ibfab_mkey_check() - Whether an SMP has the right M_Key, or needs none.
 * @port: where it came in
 * @slid: source LID of its packet
 * @smp: the SMP. If it is refused, that is counted, and the SM is told.
 *
 * Context: mgmt_lock held.
 * Return: true if it is to be obeyed.
 */
bool ibfab_mkey_check(struct ibfab_port *port, u16 slid,
		      const struct ib_smp *smp)
{
	if (port->node->type == IBFAB_NODE_SWITCH)
		port = &port->node->ports[0];
	if (!port->info.base.mkey)
		return true;

	end_lease(port);
	if (smp->mkey == port->info.base.mkey) {
		port->mkey_leased = false;
		return true;
	}
	if (smp->method == IB_MGMT_METHOD_GET &&
	    !(protect_bits(port) & IBFAB_MKEY_PROTECT_ALL))
		return true;

	count_violation(port);
	begin_lease(port);
	ibfab_trap_bad_mkey(port, slid, smp);
	return false;
}

/**
 * ibfab_mkey_shown() - Whether a PortInfo may tell the port's M_Key.
 * @port: the port
 * @smp: what asks for it
 *
 * Context: mgmt_lock held.
 * Return: false if the protect bits say that only who knows it may.
 */
bool ibfab_mkey_shown(const struct ibfab_port *port, const struct ib_smp *smp)
{
	return !protect_bits(port) || smp->method == IB_MGMT_METHOD_SET ||
	       smp->mkey == port->info.base.mkey;
}
