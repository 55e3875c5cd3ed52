// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Switches forward packets according to the tables that the SM wrote.
 */
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "ibfab.h"

#define IBFAB_LFT_NONE 0xff	/* 14.2.5.10: stands for no port */

static void relay_error(struct ibfab_pkt *pkt, enum ibfab_drop reason)
{
	struct ibfab_port *in = pkt->port;

	ibfab_count(in, IBFAB_CNT_RCV_RELAY_ERRORS);
	ibfab_pkt_drop(pkt, in, reason);
}

static void forward_ucast(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
			  u16 dlid, struct list_head *out)
{
	u8 num = IBFAB_LFT_NONE;

	if (ibfab_lid_is_ucast(dlid) && dlid <= READ_ONCE(sw->linear_top))
		num = READ_ONCE(sw->lft[dlid]);
	if (!num || num > sw->node.num_ports) {
		relay_error(pkt, IBFAB_DROP_FWD_NO_ROUTE);
		return;
	}
	if (num == pkt->port->num) {
		relay_error(pkt, IBFAB_DROP_FWD_LOOP);
		return;
	}
	pkt->port = &sw->node.ports[num];
	list_add_tail(&pkt->list, out);
}

static void copy_to_port(struct ibfab_switch *sw, const struct ibfab_pkt *pkt,
			 unsigned int num, struct list_head *out)
{
	struct ibfab_pkt *copy = ibfab_pkt_clone(pkt);

	if (!copy) {
		atomic64_inc(&pkt->port->drop[IBFAB_DROP_FWD_NO_MEMORY]);
		return;
	}
	copy->port = &sw->node.ports[num];
	list_add_tail(&copy->list, out);
}

/* Sends a copy to each port of the group except for the one at which the packet came in
 * (18.2.4.3.3)
 */
static void forward_mcast(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
			  u16 dlid, struct list_head *out)
{
	unsigned int position, bit, num, entry = dlid - IBFAB_LID_MCAST_FIRST;
	bool any = false;
	unsigned long mask;

	if (entry >= IBFAB_MFT_CAP) {
		relay_error(pkt, IBFAB_DROP_FWD_NO_ROUTE);
		return;
	}
	for (position = 0; position < IBFAB_MFT_POSITIONS; position++) {
		mask = READ_ONCE(sw->mft[entry][position]);
		any |= mask;
		for_each_set_bit(bit, &mask, 16) {
			num = position * 16 + bit;
			if (num && num <= sw->node.num_ports &&
			    num != pkt->port->num)
				copy_to_port(sw, pkt, num, out);
		}
	}
	if (any)
		ibfab_pkt_free(pkt);
	else
		relay_error(pkt, IBFAB_DROP_FWD_NO_ROUTE);
}

/**
 * ibfab_switch_forward() - Forward a packet by its DLID.
 * @sw: the switch
 * @pkt: the packet, which is consumed. Its port is the one at which it came in, or port 0 if
 *	the switch itself sends it.
 * @out: packets that leave the switch are added to it
 *
 * Context: softirq.
 */
void ibfab_switch_forward(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
			  struct list_head *out)
{
	u16 dlid = be16_to_cpu(ibfab_pkt_lrh(pkt)->dlid);

	if (ibfab_lid_is_mcast(dlid))
		forward_mcast(sw, pkt, dlid, out);
	else
		forward_ucast(sw, pkt, dlid, out);
}

static void switch_receive(struct ibfab_port *in, struct ibfab_pkt *pkt,
			   struct list_head *out)
{
	struct ibfab_switch *sw = node_to_switch(in->node);
	const struct ibfab_lrh *lrh = ibfab_pkt_lrh(pkt);
	u16 dlid = be16_to_cpu(lrh->dlid);

	if (dlid != IBFAB_LID_PERMISSIVE &&
	    dlid != READ_ONCE(sw->node.ports[0].lid))
		ibfab_switch_forward(sw, pkt, out);
	else if (ibfab_lrh_vl(lrh) == IBFAB_VL_SMP)
		ibfab_smp_receive(sw, pkt, out);
	else
		ibfab_gmp_receive(sw, pkt, out);
}

static const struct ibfab_node_ops switch_ops = {
	.receive = switch_receive,
};

static void info_init(struct ibfab_switch *sw)
{
	sw->info.linear_cap = cpu_to_be16(IBFAB_LFT_CAP);
	sw->info.mcast_cap = cpu_to_be16(IBFAB_MFT_CAP);
}

/* 14.2.5.6: a base switch port 0 has no link, so it is ACTIVE from the beginning */
static void port0_init(struct ibfab_port *port, __be64 guid)
{
	port->state = IB_PORT_ACTIVE;
	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->guid[0] = guid;
}

/**
 * ibfab_switch_create() - Create a switch without cables.
 * @index: its index in &ibfab_fabric.sw, which its name and GUID contain
 * @num_ports: number of external ports
 *
 * Context: process.
 * Return: the switch, or NULL if there is no memory.
 */
struct ibfab_switch *ibfab_switch_create(unsigned int index, u8 num_ports)
{
	struct ibfab_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return NULL;
	sw->node.type = IBFAB_NODE_SWITCH;
	sw->node.ops = &switch_ops;
	sw->node.guid = ibfab_plan_guid(sw->node.type, index);
	snprintf(sw->node.name, sizeof(sw->node.name), "switch%u", index);
	ibfab_plan_describe(&sw->node);
	info_init(sw);

	sw->lft = kvmalloc(IBFAB_LFT_CAP, GFP_KERNEL);
	sw->mft = kvcalloc(IBFAB_MFT_CAP, sizeof(*sw->mft), GFP_KERNEL);
	if (!sw->lft || !sw->mft)
		goto err_free;
	memset(sw->lft, IBFAB_LFT_NONE, IBFAB_LFT_CAP);

	if (ibfab_node_init(&sw->node, num_ports))
		goto err_free;
	port0_init(&sw->node.ports[0], sw->node.guid);
	return sw;

err_free:
	kvfree(sw->mft);
	kvfree(sw->lft);
	kfree(sw);
	return NULL;
}

/**
 * ibfab_switch_destroy() - Free a switch.
 * @sw: the switch, which has no cables
 *
 * Context: process.
 */
void ibfab_switch_destroy(struct ibfab_switch *sw)
{
	ibfab_node_cleanup(&sw->node);
	kvfree(sw->mft);
	kvfree(sw->lft);
	kfree(sw);
}
