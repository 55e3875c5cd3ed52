// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Unreliable datagrams, including those of QP0 and QP1: building packets from WRs, and checking and
 * delivering packets that came in.
 */
#include <linux/rculist.h>

#include "ibfab_garbage.h"
#include "ibfab_net.h"

static enum ib_wc_status check_send(const struct ibfab_qp *qp,
				    const struct ibfab_port *port,
				    const struct ibfab_swr *wr)
{
	unsigned int max = qp->ibqp.qp_type == IB_QPT_SMI ? IB_MGMT_MAD_SIZE :
							    ibfab_port_mtu(port);

	if (ibfab_lso_longest(wr) > max)
		return IB_WC_LOC_LEN_ERR;
	return ibfab_send_status(qp->ibqp.device, wr);
}

static u16 send_pkey(const struct ibfab_qp *qp, const struct ibfab_port *port,
		     const struct ibfab_swr *wr)
{
	u16 index = READ_ONCE(qp->pkey_index);

	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return IB_DEFAULT_PKEY_FULL;
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		index = wr->pkey_index;
	return index < ibfab_pkeys ? ibfab_port_pkey(port, index) : 0;
}

static void *put_deth(void *at, const struct ibfab_qp *qp,
		      const struct ibfab_swr *wr)
{
	struct ibfab_deth *deth = at;
	__be32 *imm = (__be32 *)(deth + 1);
	u32 qkey = wr->remote_qkey;

	/* 10.2.5: a Q_Key whose most significant bit is set stands for the QP's own Q_Key */
	if (qkey & BIT(31))
		qkey = READ_ONCE(qp->qkey);
	if (qp->ibqp.qp_type == IB_QPT_SMI)
		qkey = 0;
	deth->qkey = cpu_to_be32(qkey);
	deth->sqpn = cpu_to_be32(qp->ibqp.qp_num);
	if (wr->opcode != IB_WR_SEND_WITH_IMM)
		return imm;
	*imm = wr->imm;
	return imm + 1;
}

/**
 * ibfab_ud_build() - Build a packet except for its payload.
 * @qp: the QP that sends it
 * @port: the port of the QP
 * @wr: the send WR
 * @len: length of the payload
 * @payload: set to where the payload is to be written
 *
 * Context: the engine.
 * Return: the packet, or NULL if there is no memory.
 */
struct ibfab_pkt *ibfab_ud_build(struct ibfab_qp *qp,
				 const struct ibfab_port *port,
				 const struct ibfab_swr *wr, unsigned int len,
				 u8 **payload)
{
	bool imm = wr->opcode == IB_WR_SEND_WITH_IMM;
	struct ibfab_hdr hdr = {
		.opcode = imm ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE : IB_OPCODE_UD_SEND_ONLY,
		.flags = wr->flags & IB_SEND_SOLICITED ? IBFAB_BTH_SOLICITED : 0,
		.pkey = send_pkey(qp, port, wr),
		.dqpn = wr->remote_qpn,
		.psn = qp->sq_psn,
		.ext = IB_DETH_BYTES + (imm ? IBFAB_IMM_BYTES : 0),
		.len = len,
	};
	struct ibfab_pkt *pkt;
	void *at;

	pkt = ibfab_net_build(qp, port, &wr->av.attr, &hdr, &at);
	if (!pkt)
		return NULL;
	qp->sq_psn = ibfab_psn_add(qp->sq_psn, 1);
	*payload = put_deth(at, qp, wr);
	return pkt;
}

/* Loops a copy back to the HCA's own attached QPs, as no switch sends a packet back to the port
 * from which it came (10.5.2.1)
 */
static void loop_mcast(struct ibfab_port *port, const struct ibfab_swr *wr,
		       const struct ibfab_pkt *pkt)
{
	struct ibfab_pkt *copy;

	if (!ibfab_av_has_grh(&wr->av.attr) ||
	    !ibfab_mcast_attached(node_to_hca(port->node),
				  &rdma_ah_read_grh(&wr->av.attr)->dgid))
		return;
	copy = ibfab_pkt_clone(pkt);
	if (!copy) {
		atomic64_inc(&port->drop[IBFAB_DROP_TX_NO_MEMORY]);
		return;
	}
	copy->port = port;
	copy->loopback = true;
	ibfab_engine_receive(port, copy, NULL);
}

/**
 * ibfab_ud_transmit() - Send a datagram; a multicast is looped back too.
 * @qp: the QP that sends it
 * @port: the port of the QP
 * @wr: the send WR
 * @pkt: the packet, which is consumed
 *
 * Context: the engine.
 */
void ibfab_ud_transmit(struct ibfab_qp *qp, struct ibfab_port *port,
		       const struct ibfab_swr *wr, struct ibfab_pkt *pkt)
{
	ibfab_rate_count(qp, port, &wr->av.attr, pkt->frame->len);
	if (ibfab_lid_is_mcast(be16_to_cpu(ibfab_pkt_lrh(pkt)->dlid)) &&
	    READ_ONCE(port->base->state) == IB_PORT_ACTIVE)
		loop_mcast(port, wr, pkt);
	ibfab_net_transmit(port, pkt);
}

/* Sends a WR that is a single packet */
static void send_one(struct ibfab_qp *qp, struct ibfab_port *port,
		     const struct ibfab_swr *wr)
{
	struct ibfab_pkt *pkt;
	u8 *payload;

	pkt = ibfab_ud_build(qp, port, wr, wr->length, &payload);
	if (!pkt) {
		atomic64_inc(&port->drop[IBFAB_DROP_TX_NO_MEMORY]);
		return;
	}
	ibfab_gather(payload, wr, 0, wr->length);
	if (ibfab_csum_heeded(qp, wr))
		ibfab_csum_fill(port, payload, wr->length);
	ibfab_ud_transmit(qp, port, wr, pkt);
}

/**
 * ibfab_ud_send() - Build and send the packets of a datagram WR.
 * @qp: the QP
 * @wr: the send WR
 *
 * Context: the engine.
 * Return: the status of the completion. It is IB_WC_SUCCESS even if a packet is lost later or
 * cannot be allocated, because delivery of datagrams is not guaranteed. Such packets are counted.
 */
enum ib_wc_status ibfab_ud_send(struct ibfab_qp *qp,
				const struct ibfab_swr *wr)
{
	struct ibfab_port *port = ibfab_qp_port(qp);
	enum ib_wc_status status;

	status = check_send(qp, port, wr);
	if (status != IB_WC_SUCCESS)
		return status;

	if (!ibfab_net_sl_admitted(qp, port, &wr->av.attr)) {
		atomic64_inc(&port->drop[IBFAB_DROP_TX_SL]);
		return IB_WC_SUCCESS;
	}
	if (wr->opcode == IB_WR_LSO)
		ibfab_lso_send(qp, port, wr);
	else
		send_one(qp, port, wr);
	return IB_WC_SUCCESS;
}

/* Receiving */

/* Checks that do not depend on a QP (7.8, 8.3, 9.6.1.1) */
static enum ibfab_drop check_packet(const struct ibfab_port *port,
				    const struct ibfab_hdrs *h)
{
	bool smp = ibfab_lrh_vl(h->lrh) == IBFAB_VL_SMP;

	if (h->bth->opcode != IB_OPCODE_UD_SEND_ONLY &&
	    h->bth->opcode != IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE)
		return IBFAB_DROP_RX_OPCODE;
	if (h->payload_len > (smp ? IB_MGMT_MAD_SIZE : ibfab_port_mtu(port)))
		return IBFAB_DROP_RX_MTU;
	/* 7.6.4: packets to QP0 use VL15, and no others do */
	if (smp != !(be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK))
		return IBFAB_DROP_RX_MALFORMED;
	return ibfab_net_check_dlid(port, h->lrh);
}

/* Checks P_Key and Q_Key (10.9.3, 10.2.5). QP1 accepts every P_Key that the port's table has. */
static enum ibfab_drop check_keys(const struct ibfab_qp *qp,
				  struct ibfab_port *port,
				  const struct ibfab_hdrs *h, u16 *pkey_index)
{
	u16 pkey = be16_to_cpu(h->bth->pkey);
	int index = READ_ONCE(qp->pkey_index);

	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return IBFAB_DROP_NONE;
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		index = ibfab_pkey_find(port, pkey);
	else if (!ibfab_pkey_match(ibfab_port_pkey(port, index), pkey))
		index = -ENOENT;
	if (index < 0) {
		ibfab_trap_bad_key(port, IBFAB_TRAP_BAD_PKEY, h);
		return IBFAB_DROP_RX_PKEY;
	}
	*pkey_index = index;
	if (be32_to_cpu(h->deth->qkey) == READ_ONCE(qp->qkey))
		return IBFAB_DROP_NONE;
	ibfab_trap_bad_key(port, IBFAB_TRAP_BAD_QKEY, h);
	return IBFAB_DROP_RX_QKEY;
}

/* The slot is released before the completion is visible, because the consumer may post the next WR
 * as soon as it sees the completion
 */
static void complete_recv(struct ibfab_qp *qp, const struct ibfab_rwr *rwr,
			  const struct ibfab_hdrs *h, u16 pkey_index,
			  enum ib_wc_status status)
{
	struct ibfab_port *port = ibfab_qp_port(qp);
	u16 dlid = be16_to_cpu(h->lrh->dlid);
	struct ib_wc wc = {
		.wr_id = rwr->wr_id,
		.status = status,
		.opcode = IB_WC_RECV,
		.byte_len = IB_GRH_BYTES + h->payload_len,
		.qp = &qp->ibqp,
		.src_qp = be32_to_cpu(h->deth->sqpn) & IBFAB_QPN_MASK,
		.slid = be16_to_cpu(h->lrh->slid),
		.wc_flags = h->grh ? IB_WC_GRH : 0,
		.pkey_index = pkey_index,
		.sl = h->lrh->sl_lnh >> 4,
		.port_num = port->num,
	};

	if (ibfab_lid_is_ucast(dlid))
		wc.dlid_path_bits = dlid & ((1 << READ_ONCE(port->base->lmc)) - 1);
	if (status == IB_WC_SUCCESS)
		wc.wc_flags |= ibfab_csum_verify(qp, port, h);
	if (h->imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = *h->imm;
	}
	ibfab_queue_pop(&qp->rq);
	ibfab_cq_push(to_cq(qp->ibqp.recv_cq), &wc,
		      h->bth->flags & IBFAB_BTH_SOLICITED);
}

/* A receive WR that cannot hold a valid packet is an error of its owner: the WR completes with an
 * error, and the QP goes to ERR (10.3.1.7, 11.6.2)
 */
static enum ibfab_drop fail_recv(struct ibfab_qp *qp,
				 const struct ibfab_rwr *rwr,
				 const struct ibfab_hdrs *h, u16 pkey_index)
{
	complete_recv(qp, rwr, h, pkey_index, rwr->bad_key ?
		      IB_WC_LOC_PROT_ERR : IB_WC_LOC_LEN_ERR);
	ibfab_qp_fail(qp, IB_QPS_ERR);
	return IBFAB_DROP_RX_BUFFER;
}

/* Copies a packet into the next receive WR of a QP. The first 40 bytes are reserved for the GRH,
 * whether there is one or not (11.4.1.2).
 */
static enum ibfab_drop fill_recv(struct ibfab_qp *qp,
				 const struct ibfab_hdrs *h, u16 pkey_index)
{
	struct ibfab_rwr *rwr = ibfab_queue_peek(&qp->rq);

	if (!rwr) {
		if (qp->ibqp.qp_type == IB_QPT_GSI)
			ibfab_count(ibfab_qp_port(qp), IBFAB_CNT_QP1_DROPPED);
		return IBFAB_DROP_RX_NO_WR;
	}
	if (rwr->bad_key || rwr->length < IB_GRH_BYTES + h->payload_len)
		return fail_recv(qp, rwr, h, pkey_index);
	ibfab_garbage_receive(rwr, h);
	if (h->grh)
		ibfab_scatter(rwr, 0, h->grh, IB_GRH_BYTES);
	ibfab_scatter(rwr, IB_GRH_BYTES, h->payload, h->payload_len);
	complete_recv(qp, rwr, h, pkey_index, IB_WC_SUCCESS);
	return IBFAB_DROP_NONE;
}

static enum ibfab_drop deliver(struct ibfab_qp *qp, struct ibfab_port *port,
			       const struct ibfab_hdrs *h)
{
	enum ibfab_drop drop;
	u16 pkey_index = 0;

	drop = ibfab_net_check_qp(qp, port);
	if (drop)
		return drop;
	drop = check_keys(qp, port, h, &pkey_index);
	if (drop)
		return drop;
	return fill_recv(qp, h, pkey_index);
}

static enum ibfab_drop deliver_ucast(struct ibfab_hca *hca,
				     struct ibfab_port *port,
				     const struct ibfab_hdrs *h)
{
	u32 qpn = be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK;
	struct ibfab_qp *qp;

	if (h->grh && !ibfab_net_check_dgid(port, &h->grh->dgid))
		return IBFAB_DROP_RX_DGID;
	qp = qpn > 1 ? xa_load(&hca->qps, qpn) :
		       rcu_dereference(port->special[qpn]);
	if (!qp)
		return IBFAB_DROP_RX_NO_QP;
	return qp->rc ? IBFAB_DROP_RX_OPCODE : deliver(qp, port, h);
}

/* A multicast that loops back to a QP which blocks its own multicasts does not count as a drop */
static bool blocks_own(const struct ibfab_qp *qp, const struct ibfab_pkt *pkt,
		       const struct ibfab_hdrs *h)
{
	return pkt->loopback &&
	       (qp->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK) &&
	       (be32_to_cpu(h->deth->sqpn) & IBFAB_QPN_MASK) ==
	       qp->ibqp.qp_num;
}

/* Delivers to each attached QP, with that QP's own checks (10.5.2.2) */
static enum ibfab_drop deliver_mcast(struct ibfab_hca *hca,
				     const struct ibfab_pkt *pkt,
				     const struct ibfab_hdrs *h)
{
	struct ibfab_mcast *m;
	enum ibfab_drop drop;
	bool found = false;

	if (!h->grh)
		return IBFAB_DROP_RX_NO_GRH;
	if ((be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK) != IBFAB_QPN_MCAST)
		return IBFAB_DROP_RX_NO_QP;

	hlist_for_each_entry_rcu(m, ibfab_mcast_bucket(hca, &h->grh->dgid),
				 node) {
		if (memcmp(&m->mgid, &h->grh->dgid, sizeof(m->mgid)))
			continue;
		found = true;
		if (blocks_own(m->qp, pkt, h))
			continue;
		drop = deliver(m->qp, pkt->port, h);
		if (drop)
			ibfab_net_count_drop(pkt->port, drop);
	}
	return found ? IBFAB_DROP_NONE : IBFAB_DROP_RX_NO_GROUP;
}

/**
 * ibfab_ud_receive() - Check a datagram that came in and deliver it.
 * @hca: the HCA that received it
 * @pkt: the packet
 * @h: its headers
 *
 * Context: the engine.
 * Return: the reason for which it is dropped, or IBFAB_DROP_NONE.
 */
enum ibfab_drop ibfab_ud_receive(struct ibfab_hca *hca,
				 const struct ibfab_pkt *pkt,
				 const struct ibfab_hdrs *h)
{
	enum ibfab_drop drop = check_packet(pkt->port, h);

	if (drop)
		return drop;
	if (ibfab_lid_is_mcast(be16_to_cpu(h->lrh->dlid)))
		return deliver_mcast(hca, pkt, h);
	return deliver_ucast(hca, pkt->port, h);
}
