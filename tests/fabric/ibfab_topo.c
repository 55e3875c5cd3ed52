// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The topology: nodes, their ports, the cables between ports, and the states of links.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "ibfab_vport.h"

/* The default SLtoVL table maps SL n to VL n modulo the number of data VLs. A byte has two SLs. */
static void sl2vl_default(u8 *table)
{
	unsigned int vls = 1 << (IBFAB_VLCAP - 1);
	unsigned int i;

	for (i = 0; i < IBFAB_SMP_SL2VL_BYTES; i++)
		table[i] = (2 * i % vls) << 4 | (2 * i + 1) % vls;
}

static int port_init(struct ibfab_node *node, u8 num)
{
	unsigned int inputs = node->type == IBFAB_NODE_CA ? 1 :
			      node->num_ports + 1;
	struct ibfab_port *port = &node->ports[num];
	unsigned int i;

	port->node = node;
	port->num = num;
	port->base = port;
	INIT_LIST_HEAD(&port->vports);
	port->state = IB_PORT_DOWN;
	port->phys_state = IB_PORT_PHYS_STATE_POLLING;
	port->mtu_cap = IB_MTU_4096;
	port->mtu = port->mtu_cap;
	port->gid_prefix = IBFAB_GID_PREFIX;
	port->pkey[0] = IB_DEFAULT_PKEY_FULL;
	ibfab_portinfo_init(port);
	INIT_LIST_HEAD(&port->faults.rules);
	ibfab_tap_init(&port->tap);

	port->sl2vl = kvcalloc(inputs, sizeof(*port->sl2vl), GFP_KERNEL);
	if (!port->sl2vl)
		return -ENOMEM;
	for (i = 0; i < inputs; i++)
		sl2vl_default(port->sl2vl[i]);
	return ibfab_port_is_endport(port) ? ibfab_traps_create(port) : 0;
}

/**
 * ibfab_node_init() - Allocate the ports of a node, which are down.
 * @node: the node, zeroed except for its type, name and GUID
 * @num_ports: number of external ports
 *
 * Context: process.
 * Return: 0, or -ENOMEM with nothing left allocated.
 */
int ibfab_node_init(struct ibfab_node *node, u8 num_ports)
{
	unsigned int i;
	int ret;

	node->num_ports = num_ports;
	node->ports = kvcalloc(num_ports + 1, sizeof(*node->ports), GFP_KERNEL);
	if (!node->ports)
		return -ENOMEM;

	for (i = 0; i <= num_ports; i++) {
		ret = port_init(node, i);
		if (ret) {
			ibfab_node_cleanup(node);
			return ret;
		}
	}
	return 0;
}

/**
 * ibfab_node_cleanup() - Free a node's ports.
 * @node: the node, whose ports no packet can reach any more
 *
 * Context: process.
 */
void ibfab_node_cleanup(struct ibfab_node *node)
{
	unsigned int i;

	for (i = 0; i <= node->num_ports; i++) {
		ibfab_traps_destroy(&node->ports[i]);
		kvfree(node->ports[i].sl2vl);
		ibfab_tap_free(&node->ports[i].tap);
	}
	kvfree(node->ports);
	node->ports = NULL;
}

/**
 * ibfab_port_peer() - The port at the other end of a port's cable.
 * @port: the port
 *
 * Context: under rcu_read_lock() or mgmt_lock, under which the result is valid.
 * Return: the port, or NULL if there is no cable.
 */
struct ibfab_port *ibfab_port_peer(const struct ibfab_port *port)
{
	return rcu_dereference_check(port->peer,
				     lockdep_is_held(&ibfab.mgmt_lock));
}

/**
 * ibfab_port_event() - Have the engine report an event of a port to ib_core.
 * @port: the port. Virtual ports on it report the event too. At a switch, the event is not
 *	reported.
 * @event: the event
 *
 * Context: mgmt_lock held.
 */
void ibfab_port_event(struct ibfab_port *port, enum ib_event_type event)
{
	struct ibfab_hca *hca;

	lockdep_assert_held(&ibfab.mgmt_lock);
	if (port->node->type != IBFAB_NODE_CA)
		return;

	ibfab_vports_event(port, event);
	hca = node_to_hca(port->node);
	if (!hca->live)
		return;
	port->events |= BIT(event);
	ibfab_engine_kick(hca);
}

/* A switch reports the changed state of a port to the SM by a bit of SwitchInfo (14.2.5.4) and by a
 * trap, unless a Set(PortInfo) has asked for the change.
 */
static void note_state_change(struct ibfab_port *port)
{
	if (port->node->type != IBFAB_NODE_SWITCH)
		return;
	node_to_switch(port->node)->info.life_psc |= IBFAB_SI_PORT_STATE_CHANGE;
	ibfab_trap_link_state(port);
}

/**
 * ibfab_port_set_state() - Set the logical link state of a port (7.2.7).
 * @port: the port
 * @state: enum ib_port_state
 *
 * Context: mgmt_lock held.
 */
void ibfab_port_set_state(struct ibfab_port *port, u8 state)
{
	u8 old = port->state;

	lockdep_assert_held(&ibfab.mgmt_lock);
	if (old == state)
		return;
	WRITE_ONCE(port->state, state);

	if (state == IB_PORT_DOWN)
		ibfab_count(port, IBFAB_CNT_LINK_DOWNED);
	if (old == IB_PORT_ACTIVE)
		ibfab_port_event(port, IB_EVENT_PORT_ERR);
	if (state == IB_PORT_ACTIVE)
		ibfab_port_event(port, IB_EVENT_PORT_ACTIVE);
}

static void port_lose_link(struct ibfab_port *port)
{
	const struct ibfab_node_ops *ops = port->node->ops;

	if (port->state != IB_PORT_DOWN) {
		note_state_change(port);
		if (ops->link_lost)
			ops->link_lost(port);
	}
	ibfab_port_set_state(port, IB_PORT_DOWN);
	if (port->phys_state != IB_PORT_PHYS_STATE_DISABLED)
		port->phys_state = IB_PORT_PHYS_STATE_POLLING;
}

/* The state of a port after training. No SM takes the port of the trunk further. The switch ports
 * at both ends of the trunk decide what may pass.
 */
static u8 trained_state(const struct ibfab_port *port)
{
	return port->node->type == IBFAB_NODE_TRUNK ? IB_PORT_ACTIVE :
						      IB_PORT_INIT;
}

static void port_gain_link(struct ibfab_port *port)
{
	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	ibfab_port_set_state(port, trained_state(port));
	note_state_change(port);
}

static bool port_ready(const struct ibfab_port *port)
{
	return port->cable_up &&
	       port->phys_state != IB_PORT_PHYS_STATE_DISABLED;
}

/* Training takes no time: a link is up as soon as both of its ends are ready */
static void link_update(struct ibfab_port *port)
{
	struct ibfab_port *peer = ibfab_port_peer(port);

	if (!peer) {
		port_lose_link(port);
		return;
	}
	if (!port_ready(port) || !port_ready(peer)) {
		port_lose_link(port);
		port_lose_link(peer);
		return;
	}
	if (port->state == IB_PORT_DOWN) {
		port_gain_link(port);
		port_gain_link(peer);
	}
}

/**
 * ibfab_cable() - Connect two ports by a cable and let the link train.
 * @a: a port without a cable
 * @b: another port without a cable
 *
 * Context: any.
 */
void ibfab_cable(struct ibfab_port *a, struct ibfab_port *b)
{
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	rcu_assign_pointer(a->peer, b);
	rcu_assign_pointer(b->peer, a);
	a->cable_up = true;
	b->cable_up = true;
	link_update(a);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
}

/**
 * ibfab_uncable() - Remove the cable of a port.
 * @port: the port. On return, no packet is on its way into or out of it.
 *
 * Context: process; waits for a grace period.
 */
void ibfab_uncable(struct ibfab_port *port)
{
	struct ibfab_port *peer;
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	peer = ibfab_port_peer(port);
	RCU_INIT_POINTER(port->peer, NULL);
	port->cable_up = false;
	link_update(port);
	if (peer) {
		RCU_INIT_POINTER(peer->peer, NULL);
		peer->cable_up = false;
		link_update(peer);
	}
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	synchronize_rcu();
}

/**
 * ibfab_cable_set() - Pull the cable of a port, or plug it in again.
 * @port: the port
 * @up: whether to plug the cable in
 *
 * Context: any.
 * Return: 0, or -ENODEV if the port has no cable.
 */
int ibfab_cable_set(struct ibfab_port *port, bool up)
{
	struct ibfab_port *peer;
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	peer = ibfab_port_peer(port);
	if (peer) {
		port->cable_up = up;
		peer->cable_up = up;
		link_update(port);
	}
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	if (!peer)
		return -ENODEV;
	ibfab_fault_count(port, up ? IBFAB_FAULT_CABLE_UP :
				     IBFAB_FAULT_CABLE_DOWN);
	return 0;
}

/**
 * ibfab_link_disable() - Disable a port, as Set(PortInfo) can.
 * @port: the port, whose link stays down until ibfab_link_retrain()
 *
 * Context: mgmt_lock held.
 */
void ibfab_link_disable(struct ibfab_port *port)
{
	lockdep_assert_held(&ibfab.mgmt_lock);
	port->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	ibfab_port_set_state(port, IB_PORT_DOWN);
	link_update(port);
}

/**
 * ibfab_link_retrain() - Take a link down, and up again if both ends are ready.
 * @port: the port at one end
 *
 * Context: mgmt_lock held.
 */
void ibfab_link_retrain(struct ibfab_port *port)
{
	struct ibfab_port *peer = ibfab_port_peer(port);

	lockdep_assert_held(&ibfab.mgmt_lock);
	port->phys_state = IB_PORT_PHYS_STATE_POLLING;
	ibfab_port_set_state(port, IB_PORT_DOWN);
	if (peer)
		port_lose_link(peer);
	link_update(port);
}
