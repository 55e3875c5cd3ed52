// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * M_Keys (14.2.4) decide which SMPs a port's SMA obeys. The protect bits say how strict the check
 * is. When the lease period expires the protect bits are cleared, so that a new SM can read the
 * M_Key that a failed SM has set.
 */
#include <linux/jiffies.h>

#include "ibfab.h"

#define IBFAB_MKEY_PROTECT	0xc0	/* in the byte that also has the LMC */
#define IBFAB_MKEY_PROTECT_ALL	0x80	/* with this bit Get requires the M_Key too */

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

/* The lease period begins with the first SMP that is refused */
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
 * ibfab_mkey_check() - Check the M_Key of an SMP.
 * @port: the port at which it came in
 * @slid: SLID of its packet
 * @smp: the SMP. A violation is counted and reported to the SM.
 *
 * Context: mgmt_lock held.
 * Return: true if the SMA obeys the SMP, because its M_Key is right or it needs none.
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
 * ibfab_mkey_shown() - Whether a PortInfo response contains the port's M_Key.
 * @port: the port
 * @smp: the request
 *
 * Context: mgmt_lock held.
 * Return: false if the protect bits hide the M_Key from a request that does not have it.
 */
bool ibfab_mkey_shown(const struct ibfab_port *port, const struct ib_smp *smp)
{
	return !protect_bits(port) || smp->method == IB_MGMT_METHOD_SET ||
	       smp->mkey == port->info.base.mkey;
}
