// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reliable and unreliable connections: packets in both directions. Builds packets to the peer,
 * checks packets that came in, and passes them to the requester or the responder.
 */
#include <linux/seq_file.h>
#include <linux/xarray.h>

#include "ibfab_net.h"

static const char * const counter_names[] = {
	[IBFAB_RC_RETRANSMITS] = "retransmits",
	[IBFAB_RC_TIMEOUTS] = "timeouts",
	[IBFAB_RC_ACKS_SENT] = "acks_sent",
	[IBFAB_RC_ACKS_RCVD] = "acks_received",
	[IBFAB_RC_RNR_SENT] = "rnr_naks_sent",
	[IBFAB_RC_RNR_RCVD] = "rnr_naks_received",
	[IBFAB_RC_NAKS_SENT + IBFAB_NAK_SEQUENCE] = "sequence_naks_sent",
	[IBFAB_RC_NAKS_SENT + IBFAB_NAK_INVALID_REQUEST] = "invalid_naks_sent",
	[IBFAB_RC_NAKS_SENT + IBFAB_NAK_REMOTE_ACCESS] = "access_naks_sent",
	[IBFAB_RC_NAKS_SENT + IBFAB_NAK_REMOTE_OPERATION] =
		"operation_naks_sent",
	[IBFAB_RC_NAKS_RCVD + IBFAB_NAK_SEQUENCE] = "sequence_naks_received",
	[IBFAB_RC_NAKS_RCVD + IBFAB_NAK_INVALID_REQUEST] =
		"invalid_naks_received",
	[IBFAB_RC_NAKS_RCVD + IBFAB_NAK_REMOTE_ACCESS] =
		"access_naks_received",
	[IBFAB_RC_NAKS_RCVD + IBFAB_NAK_REMOTE_OPERATION] =
		"operation_naks_received",
	[IBFAB_RC_DUPLICATES] = "duplicates",
	[IBFAB_RC_GAPS] = "gaps",
	[IBFAB_RC_DROPPED] = "dropped",
	[IBFAB_RC_STRAYS] = "strays",
};

static_assert(ARRAY_SIZE(counter_names) == IBFAB_RC_NUM);

/* 9.2: the traits of each opcode. An opcode that is missing is a request that is refused, or is
 * reserved. Those of unreliable connections have the same order, but no responses.
 */
static const u8 opcode_traits[IBFAB_BTH_OPERATION + 1] = {
	[IB_OPCODE_RC_SEND_FIRST] = IBFAB_RC_SEND | IBFAB_RC_FIRST,
	[IB_OPCODE_RC_SEND_MIDDLE] = IBFAB_RC_SEND,
	[IB_OPCODE_RC_SEND_LAST] = IBFAB_RC_SEND | IBFAB_RC_LAST,
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] =
		IBFAB_RC_SEND | IBFAB_RC_LAST | IBFAB_RC_IMM,
	[IB_OPCODE_RC_SEND_ONLY] =
		IBFAB_RC_SEND | IBFAB_RC_FIRST | IBFAB_RC_LAST,
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] =
		IBFAB_RC_SEND | IBFAB_RC_FIRST | IBFAB_RC_LAST | IBFAB_RC_IMM,
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] = IBFAB_RC_WRITE | IBFAB_RC_FIRST,
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = IBFAB_RC_WRITE,
	[IB_OPCODE_RC_RDMA_WRITE_LAST] = IBFAB_RC_WRITE | IBFAB_RC_LAST,
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		IBFAB_RC_WRITE | IBFAB_RC_LAST | IBFAB_RC_IMM,
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] =
		IBFAB_RC_WRITE | IBFAB_RC_FIRST | IBFAB_RC_LAST,
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		IBFAB_RC_WRITE | IBFAB_RC_FIRST | IBFAB_RC_LAST | IBFAB_RC_IMM,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] = IBFAB_RC_STRAY,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = IBFAB_RC_STRAY,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST] = IBFAB_RC_STRAY,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] = IBFAB_RC_STRAY,
	[IB_OPCODE_RC_ACKNOWLEDGE] = IBFAB_RC_ACK,
	[IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE] = IBFAB_RC_STRAY,
};

/**
 * ibfab_rc_is_unreliable() - Whether a QP's connection is unreliable.
 * @qp: the QP, which has a connection
 *
 * Context: any.
 * Return: true for a UC QP.
 */
bool ibfab_rc_is_unreliable(const struct ibfab_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UC;
}

/**
 * ibfab_rc_count() - Increment an RC counter of a QP's port.
 * @qp: the QP
 * @counter: enum ibfab_rc_counter; for NAKs, their code is added
 *
 * Context: the engine.
 */
void ibfab_rc_count(const struct ibfab_qp *qp, unsigned int counter)
{
	atomic64_inc(&ibfab_qp_port(qp)->rc[counter]);
}

/**
 * ibfab_rc_show() - Print the RC counters of a port.
 * @m: the file, which gets one counter a line
 * @port: the port; a switch's port has none
 *
 * Context: process.
 */
void ibfab_rc_show(struct seq_file *m, const struct ibfab_port *port)
{
	if (port->node->type == IBFAB_NODE_CA)
		ibfab_show_counters(m, port, "rc.", counter_names, port->rc, IBFAB_RC_NUM);
}

/**
 * ibfab_rc_mtu() - The path MTU of a connection.
 * @rc: the connection
 *
 * Context: the engine.
 * Return: bytes of payload.
 */
unsigned int ibfab_rc_mtu(const struct ibfab_rc *rc)
{
	return ib_mtu_enum_to_int(rc->path_mtu);
}

/**
 * ibfab_rc_build() - Build a packet to the peer, up to and including its BTH.
 * @qp: the QP
 * @hdr: the contents of its BTH, and its lengths
 * @ext: set to where its extended headers and its payload are to be written
 *
 * Context: the engine.
 * Return: the packet, or NULL if there is no memory.
 */
struct ibfab_pkt *ibfab_rc_build(struct ibfab_qp *qp,
				 struct ibfab_hdr *hdr, void **ext)
{
	struct ibfab_port *port = ibfab_qp_port(qp);

	hdr->pkey = ibfab_port_pkey(port, READ_ONCE(qp->pkey_index));
	hdr->dqpn = qp->rc->dest_qpn;
	return ibfab_net_build(qp, port, &qp->rc->av, hdr, ext);
}

/**
 * ibfab_rc_transmit() - Send a packet to the peer.
 * @qp: the QP
 * @pkt: the packet, which is consumed
 *
 * Context: the engine.
 */
void ibfab_rc_transmit(struct ibfab_qp *qp, struct ibfab_pkt *pkt)
{
	struct ibfab_port *port = ibfab_qp_port(qp);

	ibfab_rate_count(qp, port, &qp->rc->av, pkt->frame->len);
	if (ibfab_net_sl_admitted(qp, port, &qp->rc->av))
		ibfab_net_transmit(port, pkt);
	else
		ibfab_pkt_drop(pkt, port, IBFAB_DROP_TX_SL);
}

/* Receiving */

/* Checks that do not depend on a QP (7.8, 8.3, 9.6.1.1) */
static enum ibfab_drop check_packet(const struct ibfab_port *port,
				    const struct ibfab_hdrs *h)
{
	if (ibfab_lrh_vl(h->lrh) == IBFAB_VL_SMP)
		return IBFAB_DROP_RX_MALFORMED;
	if (!ibfab_port_has_lid(port, be16_to_cpu(h->lrh->dlid)))
		return IBFAB_DROP_RX_DLID;
	if (h->grh && !ibfab_net_check_dgid(port, &h->grh->dgid))
		return IBFAB_DROP_RX_DGID;
	return IBFAB_DROP_NONE;
}

static const void *take(struct ibfab_rc_in *in, unsigned int bytes)
{
	const void *at = in->payload;

	if (in->len < bytes)
		return NULL;
	in->payload += bytes;
	in->len -= bytes;
	return at;
}

/* Removes the extended headers that the opcode requires from the beginning of the payload */
static enum ibfab_drop parse(struct ibfab_rc_in *in,
			     const struct ibfab_port *port,
			     const struct ibfab_hdrs *h)
{
	u8 traits = opcode_traits[h->bth->opcode & IBFAB_BTH_OPERATION];

	*in = (struct ibfab_rc_in) {
		.h = h,
		.traits = traits,
		.psn = be32_to_cpu(h->bth->psn) & IBFAB_PSN_MASK,
		.payload = h->payload,
		.len = h->payload_len,
	};
	if (traits & IBFAB_RC_WRITE && traits & IBFAB_RC_FIRST) {
		in->reth = take(in, sizeof(*in->reth));
		if (!in->reth)
			return IBFAB_DROP_RX_MALFORMED;
	}
	if (traits & IBFAB_RC_ACK) {
		in->aeth = take(in, sizeof(*in->aeth));
		if (!in->aeth)
			return IBFAB_DROP_RX_MALFORMED;
	}
	if (traits & IBFAB_RC_IMM) {
		in->imm = take(in, IBFAB_IMM_BYTES);
		if (!in->imm)
			return IBFAB_DROP_RX_MALFORMED;
	}
	return in->len > ibfab_port_mtu(port) ? IBFAB_DROP_RX_MTU :
						IBFAB_DROP_NONE;
}

/* 9.6.1.5: a connected QP only accepts packets from its peer */
static bool from_peer(const struct ibfab_rc *rc, const struct ibfab_hdrs *h)
{
	const struct rdma_ah_attr *av = &rc->av;

	if (be16_to_cpu(h->lrh->slid) != rdma_ah_get_dlid(av))
		return false;
	if (!ibfab_av_has_grh(av))
		return !h->grh;
	return h->grh && !memcmp(&h->grh->sgid, &rdma_ah_read_grh(av)->dgid,
				 sizeof(h->grh->sgid));
}

static u8 transport(const struct ibfab_qp *qp)
{
	return ibfab_rc_is_unreliable(qp) ? IB_OPCODE_UC : IB_OPCODE_RC;
}

static enum ibfab_drop check_qp(const struct ibfab_qp *qp,
				struct ibfab_port *port,
				const struct ibfab_hdrs *h)
{
	enum ibfab_drop drop = ibfab_net_check_qp(qp, port);
	u16 own;

	if (drop)
		return drop;
	if ((h->bth->opcode & IBFAB_BTH_TRANSPORT) != transport(qp))
		return IBFAB_DROP_RX_OPCODE;
	own = ibfab_port_pkey(port, READ_ONCE(qp->pkey_index));
	if (!ibfab_pkey_match(own, be16_to_cpu(h->bth->pkey))) {
		ibfab_trap_bad_key(port, IBFAB_TRAP_BAD_PKEY, h);
		return IBFAB_DROP_RX_PKEY;
	}
	return from_peer(qp->rc, h) ? IBFAB_DROP_NONE : IBFAB_DROP_RX_PEER;
}

static void deliver(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	if (ibfab_rc_is_unreliable(qp))
		ibfab_uc_requested(qp, in);
	else if (in->traits & IBFAB_RC_ACK)
		ibfab_rc_answered(qp, in);
	else if (in->traits & IBFAB_RC_STRAY)
		ibfab_rc_count(qp, IBFAB_RC_STRAYS);
	else
		ibfab_rc_requested(qp, in);
}

/**
 * ibfab_rc_receive() - Check a packet that is not a datagram, and deliver it.
 * @hca: the HCA that received it
 * @port: the port at which it came in
 * @h: its headers
 *
 * A packet that reaches a connection is counted by the connection, not as a drop.
 *
 * Context: the engine.
 * Return: the reason for which it is dropped, or IBFAB_DROP_NONE.
 */
enum ibfab_drop ibfab_rc_receive(struct ibfab_hca *hca,
				 struct ibfab_port *port,
				 const struct ibfab_hdrs *h)
{
	u32 qpn = be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK;
	enum ibfab_drop drop = check_packet(port, h);
	struct ibfab_rc_in in;
	struct ibfab_qp *qp;

	if (drop)
		return drop;
	qp = xa_load(&hca->qps, qpn);
	if (!qp)
		return IBFAB_DROP_RX_NO_QP;
	if (!qp->rc)
		return IBFAB_DROP_RX_OPCODE;
	drop = check_qp(qp, port, h);
	if (drop)
		return drop;
	drop = parse(&in, port, h);
	if (!drop)
		deliver(qp, &in);
	return drop;
}
