// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Virtual ports. An HCA with virtual ports has no cables but shares the ports of another HCA, as a
 * virtual function of a ConnectX-4 or later does. The link, the LIDs, the P_Keys and everything
 * else that an SM sets belong to the physical port. Each HCA has its own GUIDs, QPs, multicast
 * groups and events. A packet to the shared LID is delivered by the DGID of its GRH, or to the
 * physical port if it has no GRH.
 *
 * A packet between two ports that share a LID is not sent out; the HCA's internal switch delivers
 * it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "ibfab_net.h"
#include "ibfab_vport.h"

static char *vport[IBFAB_MAX_HCAS];
static unsigned int num_vport;
module_param_array(vport, charp, &num_vport, 0444);
MODULE_PARM_DESC(vport, "HCAs that share the ports of others, as 3:1: ibfab3 has ibfab1's (default none)");

/* For each HCA, the index of the HCA whose ports it uses: its own, or another one's */
static u16 base_of[IBFAB_MAX_HCAS];

/* How many of the HCAs with an index below @end share the ports of the HCA @base */
static unsigned int sharers(unsigned int base, unsigned int end)
{
	unsigned int i, n = 0;

	for (i = base + 1; i < end; i++)
		n += base_of[i] == base;
	return n;
}

/* The other HCA must have a lower index and ports of its own */
static bool pair_valid(unsigned int index, unsigned int base)
{
	return index < ibfab_plan_hcas() && base < index && base_of[base] == base &&
	       base_of[index] == index && !sharers(index, ibfab_plan_hcas()) &&
	       sharers(base, ibfab_plan_hcas()) < IBFAB_GUID_TABLE_LEN - 1;
}

/**
 * ibfab_vport_init() - Check the module parameter.
 *
 * Context: process, after ibfab_plan_init().
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_vport_init(void)
{
	unsigned int i, index, base;
	char rest;

	for (i = 0; i < IBFAB_MAX_HCAS; i++)
		base_of[i] = i;
	for (i = 0; i < num_vport; i++) {
		if (sscanf(vport[i], "%u:%u%c", &index, &base, &rest) != 2 ||
		    !pair_valid(index, base)) {
			pr_err("vport=%s is not an HCA and an earlier one that has ports of its own\n",
			       vport[i]);
			return -EINVAL;
		}
		base_of[index] = base;
	}
	return 0;
}

/* Finds the port for which a unicast packet to the LID of a physical port is */
static struct ibfab_port *owner(struct ibfab_port *base, const struct ibfab_pkt *pkt)
{
	struct ibfab_vport *v;
	struct ibfab_hdrs h;

	if (!ibfab_pkt_parse(pkt, &h) || !h.grh)
		return base;
	list_for_each_entry_rcu(v, &base->vports, node)
		if (ibfab_net_check_dgid(v->port, &h.grh->dgid))
			return v->port;
	return base;
}

/* Delivers a packet, which is consumed. A virtual port counts it; a physical port has counted what
 * crossed its cable.
 */
static void hand_over(struct ibfab_port *to, struct ibfab_pkt *pkt)
{
	if (to->vport)
		ibfab_wire_count_rcv(to, ibfab_pkt_lrh(pkt));
	pkt->port = to;
	ibfab_engine_receive(to, pkt, NULL);
}

static bool is_member(const struct ibfab_port *port, const struct ibfab_hdrs *h)
{
	return ibfab_mcast_attached(node_to_hca(port->node), &h->grh->dgid);
}

static void hand_over_copy(struct ibfab_port *to, const struct ibfab_pkt *pkt)
{
	struct ibfab_pkt *copy = ibfab_pkt_clone(pkt);

	if (copy)
		hand_over(to, copy);
	else
		atomic64_inc(&to->drop[IBFAB_DROP_FWD_NO_MEMORY]);
}

/* Delivers copies to the virtual ports that have the multicast group, except for the sender, which
 * has looped the packet back itself. Returns whether there were any.
 */
static bool copy_to_vports(struct ibfab_port *base, const struct ibfab_port *sender,
			   const struct ibfab_pkt *pkt, const struct ibfab_hdrs *h)
{
	struct ibfab_vport *v;
	bool any = false;

	list_for_each_entry_rcu(v, &base->vports, node) {
		if (v->port == sender || !is_member(v->port, h))
			continue;
		hand_over_copy(v->port, pkt);
		any = true;
	}
	return any;
}

/* A multicast that came in by the cable. If only virtual ports have the group, the physical port
 * does not count it as a drop.
 */
static void receive_mcast(struct ibfab_port *base, struct ibfab_pkt *pkt)
{
	struct ibfab_hdrs h;

	if (ibfab_pkt_parse(pkt, &h) && h.grh && copy_to_vports(base, NULL, pkt, &h) &&
	    !is_member(base, &h))
		ibfab_pkt_free(pkt);
	else
		hand_over(base, pkt);
}

static bool is_mcast(const struct ibfab_pkt *pkt)
{
	return ibfab_lid_is_mcast(be16_to_cpu(ibfab_pkt_lrh(pkt)->dlid));
}

static void shared_receive(struct ibfab_port *in, struct ibfab_pkt *pkt, struct list_head *out)
{
	if (is_mcast(pkt))
		receive_mcast(in, pkt);
	else
		hand_over(owner(in, pkt), pkt);
}

/* The functions of an HCA whose ports are shared */
static const struct ibfab_node_ops shared_ops = {
	.receive = shared_receive,
};

/* Delivers a multicast that one of the ports sends to the others */
static void switch_mcast(struct ibfab_port *sender, const struct ibfab_pkt *pkt)
{
	struct ibfab_port *base = sender->base;
	struct ibfab_hdrs h;

	if (READ_ONCE(base->state) != IB_PORT_ACTIVE || !ibfab_pkt_parse(pkt, &h) || !h.grh)
		return;
	copy_to_vports(base, sender, pkt, &h);
	if (base != sender && is_member(base, &h))
		hand_over_copy(base, pkt);
}

/**
 * ibfab_vport_transmit() - Send a packet from a port that shares its LID.
 * @port: the port
 * @pkt: the packet, which is consumed
 *
 * Context: the engine of the port's HCA.
 */
void ibfab_vport_transmit(struct ibfab_port *port, struct ibfab_pkt *pkt)
{
	const struct ibfab_lrh *lrh = ibfab_pkt_lrh(pkt);
	bool smp = ibfab_lrh_vl(lrh) == IBFAB_VL_SMP;
	struct ibfab_port *base = port->base, *to;

	if (port->vport)
		ibfab_wire_count_xmit(port, lrh);
	if (is_mcast(pkt))
		switch_mcast(port, pkt);
	if (!ibfab_port_has_lid(port, be16_to_cpu(lrh->dlid))) {
		ibfab_wire_send(base, pkt);
		return;
	}
	if (!smp && READ_ONCE(base->state) != IB_PORT_ACTIVE) {
		ibfab_pkt_drop(pkt, port, IBFAB_DROP_TX_INACTIVE);
		return;
	}
	to = owner(base, pkt);
	pkt->loopback = to == port;
	hand_over(to, pkt);
}

/**
 * ibfab_vports_event() - Report an event of a physical port at its virtual ports.
 * @base: the physical port
 * @event: the event
 *
 * Context: mgmt_lock held.
 */
void ibfab_vports_event(struct ibfab_port *base, enum ib_event_type event)
{
	struct ibfab_vport *v;

	list_for_each_entry(v, &base->vports, node) {
		ibfab_port_event(v->port, event);
		ibfab_alias_event(v, event);
	}
}

/**
 * ibfab_vport_join() - Let packets and events reach a virtual port.
 * @port: the port of a registered HCA
 *
 * Context: process.
 */
void ibfab_vport_join(struct ibfab_port *port)
{
	struct ibfab_port *base = port->base;
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	list_add_tail_rcu(&port->vport->node, &base->vports);
	if (base->state == IB_PORT_ACTIVE) {
		ibfab_port_event(port, IB_EVENT_PORT_ACTIVE);
		ibfab_alias_event(port->vport, IB_EVENT_PORT_ACTIVE);
	}
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
}

/**
 * ibfab_vport_leave() - Let no packets and events reach a virtual port any more.
 * @port: the port after ibfab_vport_join()
 *
 * Context: process; waits for a grace period.
 */
void ibfab_vport_leave(struct ibfab_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	list_del_rcu(&port->vport->node);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	synchronize_rcu();
	ibfab_alias_stop(port->vport);
}

static int vport_create(struct ibfab_port *port, struct ibfab_port *base)
{
	struct ibfab_vport *v = kzalloc(sizeof(*v), GFP_KERNEL);

	if (!v)
		return -ENOMEM;
	v->port = port;
	v->alias = 1 + sharers(node_to_hca(base->node)->index, node_to_hca(port->node)->index);
	ibfab_alias_create(v);
	port->vport = v;
	port->base = base;
	return 0;
}

/**
 * ibfab_vports_create() - Make the ports of an HCA virtual or shared, as the parameter says.
 * @hca: the HCA, which is new and has ports of its own
 *
 * Context: process; nobody else creates or destroys HCAs at the same time.
 * Return: 0, -ENODEV if it shares the ports of an HCA that does not exist now, or -ENOMEM.
 */
int ibfab_vports_create(struct ibfab_hca *hca)
{
	unsigned int base_index = base_of[hca->index], i;
	struct ibfab_hca *base;
	int ret = 0;

	if (base_index == hca->index) {
		for (i = 1; i <= hca->node.num_ports; i++)
			hca->node.ports[i].aliases = sharers(hca->index, ibfab_plan_hcas());
		if (ibfab_port_shares(&hca->node.ports[1]))
			hca->node.ops = &shared_ops;
		return 0;
	}
	base = rcu_dereference_protected(ibfab.hca[base_index], true);
	if (!base)
		return -ENODEV;
	for (i = 1; i <= hca->node.num_ports && !ret; i++)
		ret = vport_create(&hca->node.ports[i], &base->node.ports[i]);
	if (ret)
		ibfab_vports_destroy(hca);
	return ret;
}

/**
 * ibfab_vports_destroy() - Undo ibfab_vports_create().
 * @hca: the HCA, which is disconnected
 *
 * Context: process.
 */
void ibfab_vports_destroy(struct ibfab_hca *hca)
{
	unsigned int i;

	for (i = 1; i <= hca->node.num_ports; i++)
		kfree(hca->node.ports[i].vport);
}

/**
 * ibfab_vport_is_on() - Whether an HCA shares the ports of another.
 * @index: index of the HCA
 * @base: the other HCA
 *
 * Context: any.
 * Return: true if it does, even if it is unplugged now. It must be removed before the other HCA.
 */
bool ibfab_vport_is_on(unsigned int index, const struct ibfab_hca *base)
{
	return index != base->index && base_of[index] == base->index;
}
