// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The wires. Carries packets over cables from node to node, until each one is in the input queue of
 * an HCA or dropped. Everything that happens to a packet between two ports, such as counting it and
 * checking the state of the link, is done here.
 */
#include <linux/rcupdate.h>

#include "ibfab.h"

/* A packet that has crossed so many cables is in a loop of the forwarding tables. Real switches
 * would discard it when its head-of-queue lifetime expires.
 */
#define IBFAB_MAX_HOPS 64

static bool is_smp(const struct ibfab_lrh *lrh)
{
	return ibfab_lrh_vl(lrh) == IBFAB_VL_SMP;
}

/* 7.2.7: a port in DOWN passes nothing, and in states between DOWN and ACTIVE only SMPs */
static bool port_passes(const struct ibfab_port *port,
			const struct ibfab_lrh *lrh)
{
	u8 state = READ_ONCE(port->state);

	return state == IB_PORT_ACTIVE ||
	       (is_smp(lrh) && state >= IB_PORT_INIT);
}

/* The counters for a packet that leaves a port, or comes in at one */
struct direction {
	enum ibfab_counter packets;
	enum ibfab_counter data;
	enum ibfab_counter ucast;
	enum ibfab_counter mcast;
};

static const struct direction xmit = {
	IBFAB_CNT_XMIT_PACKETS, IBFAB_CNT_XMIT_DATA,
	IBFAB_CNT_UCAST_XMIT, IBFAB_CNT_MCAST_XMIT,
};

static const struct direction rcv = {
	IBFAB_CNT_RCV_PACKETS, IBFAB_CNT_RCV_DATA,
	IBFAB_CNT_UCAST_RCV, IBFAB_CNT_MCAST_RCV,
};

static void count_packet(struct ibfab_port *port, const struct ibfab_lrh *lrh,
			 const struct direction *dir)
{
	bool mcast = ibfab_lid_is_mcast(be16_to_cpu(lrh->dlid));

	ibfab_count(port, dir->packets);
	ibfab_count(port, mcast ? dir->mcast : dir->ucast);
	atomic64_add(be16_to_cpu(lrh->pktlen) & IBFAB_LRH_PKTLEN_MASK,
		     &port->counter[dir->data]);
}

/**
 * ibfab_wire_count_xmit() - Count a packet that a port without a cable sends.
 * @port: the port
 * @lrh: LRH of the packet
 *
 * Context: any.
 */
void ibfab_wire_count_xmit(struct ibfab_port *port, const struct ibfab_lrh *lrh)
{
	count_packet(port, lrh, &xmit);
}

/**
 * ibfab_wire_count_rcv() - Count a packet that a port without a cable receives.
 * @port: the port
 * @lrh: LRH of the packet
 *
 * Context: any.
 */
void ibfab_wire_count_rcv(struct ibfab_port *port, const struct ibfab_lrh *lrh)
{
	count_packet(port, lrh, &rcv);
}

static void discard_xmit(struct ibfab_port *port, struct ibfab_pkt *pkt,
			 enum ibfab_drop reason)
{
	ibfab_count(port, IBFAB_CNT_XMIT_DISCARDS);
	ibfab_pkt_drop(pkt, port, reason);
}

/**
 * ibfab_wire_arrive() - Let a packet come in at a port.
 * @in: the port
 * @pkt: the packet, which is consumed
 * @work: packets that a switch forwards are added to it
 *
 * Context: softirq, under rcu_read_lock().
 */
void ibfab_wire_arrive(struct ibfab_port *in, struct ibfab_pkt *pkt,
		       struct list_head *work)
{
	const struct ibfab_lrh *lrh = ibfab_pkt_lrh(pkt);

	if (!port_passes(in, lrh)) {
		ibfab_pkt_drop(pkt, in, IBFAB_DROP_RX_INACTIVE);
		return;
	}
	if (++pkt->hops > IBFAB_MAX_HOPS) {
		ibfab_count(in, IBFAB_CNT_RCV_RELAY_ERRORS);
		ibfab_pkt_drop(pkt, in, IBFAB_DROP_FWD_HOPS);
		return;
	}
	count_packet(in, lrh, &rcv);
	if (ibfab_capture_any())
		ibfab_capture_packet(in, pkt, IBFAB_CAPTURE_RCV);
	pkt->port = in;
	in->node->ops->receive(in, pkt, work);
}

/* Carries a packet over the cable of the port by which it leaves */
static void cross_cable(struct ibfab_pkt *pkt, struct list_head *work)
{
	const struct ibfab_lrh *lrh = ibfab_pkt_lrh(pkt);
	struct ibfab_port *out = pkt->port;
	struct ibfab_port *in = rcu_dereference(out->peer);

	if (!in || !READ_ONCE(out->cable_up)) {
		discard_xmit(out, pkt, IBFAB_DROP_TX_NO_LINK);
		return;
	}
	if (!port_passes(out, lrh)) {
		discard_xmit(out, pkt, IBFAB_DROP_TX_INACTIVE);
		return;
	}
	count_packet(out, lrh, &xmit);
	if (ibfab_capture_any())
		ibfab_capture_packet(out, pkt, IBFAB_CAPTURE_XMIT);
	if (ibfab_fault_any())
		ibfab_fault_cross(out, in, pkt, work);
	else
		ibfab_wire_arrive(in, pkt, work);
}

/**
 * ibfab_wire_run() - Send the packets that switches have forwarded.
 * @work: the packets, each with the port by which it leaves; empty afterwards
 *
 * This is not recursive: packets that the next switch forwards are added to the list.
 *
 * Context: softirq, under rcu_read_lock(). No lock held.
 */
void ibfab_wire_run(struct list_head *work)
{
	struct ibfab_pkt *pkt;

	while ((pkt = ibfab_pkt_pop(work)))
		cross_cable(pkt, work);
}

/**
 * ibfab_wire_send() - Send a packet out of a port.
 * @out: the port
 * @pkt: the packet, which is consumed
 *
 * The packet, and the copies that switches make of it, are carried to the input queues of all
 * receivers.
 *
 * Context: softirq, under rcu_read_lock(). No lock held.
 */
void ibfab_wire_send(struct ibfab_port *out, struct ibfab_pkt *pkt)
{
	LIST_HEAD(work);

	pkt->port = out;
	list_add_tail(&pkt->list, &work);
	ibfab_wire_run(&work);
}
