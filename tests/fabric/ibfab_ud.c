// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Unreliable datagrams, the management QPs' among them: builds a packet from a
 * work request, and checks and delivers one that came in.
 */
#include <linux/rculist.h>

#include "ibfab.h"

#define IBFAB_BTH_MIGRATED 0x40

static bool av_has_grh(const struct ibfab_swr *wr)
{
	return rdma_ah_get_ah_flags(&wr->av.attr) & IB_AH_GRH;
}

static unsigned int port_mtu(const struct ibfab_port *port)
{
	return ib_mtu_enum_to_int(READ_ONCE(port->mtu));
}

/* 10.6.7.2.4: is the memory within its key's reach, and the message sendable? */
static enum ib_wc_status check_send(const struct ibfab_qp *qp,
				    const struct ibfab_port *port,
				    const struct ibfab_swr *wr)
{
	unsigned int max = qp->ibqp.qp_type == IB_QPT_SMI ? IB_MGMT_MAD_SIZE :
							    port_mtu(port);
	u16 i;

	if (ibfab_lso_longest(wr) > max)
		return IB_WC_LOC_LEN_ERR;
	for (i = 0; i < wr->num_sge; i++)
		if (wr->sge[i].lkey != qp->ibqp.device->local_dma_lkey)
			return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

static u8 sl_to_vl(const struct ibfab_qp *qp, const struct ibfab_port *port,
		   u8 sl)
{
	u8 pair;

	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return IBFAB_VL_SMP;
	pair = READ_ONCE(port->sl2vl[0][sl / 2]);
	return sl & 1 ? pair & 0x0f : pair >> 4;
}

/* 7.6.6: an SL that the table gives to VL15 is not to be sent with */
static bool sl_admitted(const struct ibfab_qp *qp, const struct ibfab_port *port,
			const struct ibfab_swr *wr)
{
	u8 sl = rdma_ah_get_sl(&wr->av.attr) & 0x0f;

	return qp->ibqp.qp_type == IB_QPT_SMI ||
	       sl_to_vl(qp, port, sl) != IBFAB_VL_SMP;
}

static void *put_lrh(void *at, const struct ibfab_qp *qp,
		     const struct ibfab_port *port, const struct ibfab_swr *wr,
		     unsigned int bytes)
{
	u16 dlid = rdma_ah_get_dlid(&wr->av.attr);
	u8 lmc_mask = (1 << READ_ONCE(port->lmc)) - 1;
	u8 sl = rdma_ah_get_sl(&wr->av.attr) & 0x0f;
	struct ibfab_lrh *lrh = at;
	u16 slid;

	slid = READ_ONCE(port->lid) |
	       (rdma_ah_get_path_bits(&wr->av.attr) & lmc_mask);
	/* 14.2.2: purely directed-route SMPs have both LIDs permissive */
	if (dlid == IBFAB_LID_PERMISSIVE)
		slid = IBFAB_LID_PERMISSIVE;

	lrh->vl_lver = sl_to_vl(qp, port, sl) << 4;
	lrh->sl_lnh = sl << 4 | (av_has_grh(wr) ? IB_LNH_IBA_GLOBAL :
						  IB_LNH_IBA_LOCAL);
	lrh->dlid = cpu_to_be16(dlid);
	lrh->pktlen = cpu_to_be16(bytes / 4);
	lrh->slid = cpu_to_be16(slid);
	return lrh + 1;
}

static void *put_grh(void *at, const struct ibfab_port *port,
		     const struct ibfab_swr *wr, unsigned int bytes)
{
	const struct ib_global_route *route = rdma_ah_read_grh(&wr->av.attr);
	struct ib_grh *grh = at;

	grh->version_tclass_flow = cpu_to_be32(IBFAB_GRH_IPVER << 28 |
					       route->traffic_class << 20 |
					       (route->flow_label & 0xfffff));
	grh->paylen = cpu_to_be16(bytes - IB_LRH_BYTES - IB_GRH_BYTES);
	grh->next_hdr = IBFAB_GRH_NEXT_HDR;
	grh->hop_limit = route->hop_limit;
	ibfab_port_gid(port, route->sgid_index, &grh->sgid);
	grh->dgid = route->dgid;
	return grh + 1;
}

static u16 send_pkey(const struct ibfab_qp *qp, const struct ibfab_port *port,
		     const struct ibfab_swr *wr)
{
	u16 index = READ_ONCE(qp->pkey_index);

	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return IB_DEFAULT_PKEY_FULL;
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		index = wr->pkey_index;
	return index < IBFAB_PKEY_TABLE_LEN ? ibfab_port_pkey(port, index) : 0;
}

static void *put_bth(void *at, struct ibfab_qp *qp,
		     const struct ibfab_port *port, const struct ibfab_swr *wr,
		     unsigned int pad)
{
	struct ibfab_bth *bth = at;

	bth->opcode = wr->opcode == IB_WR_SEND_WITH_IMM ?
		      IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
		      IB_OPCODE_UD_SEND_ONLY;
	bth->flags = pad << IBFAB_BTH_PAD_SHIFT | IBFAB_BTH_MIGRATED;
	if (wr->flags & IB_SEND_SOLICITED)
		bth->flags |= IBFAB_BTH_SOLICITED;
	bth->pkey = cpu_to_be16(send_pkey(qp, port, wr));
	bth->dqpn = cpu_to_be32(wr->remote_qpn);
	bth->psn = cpu_to_be32(qp->sq_psn);
	qp->sq_psn = (qp->sq_psn + 1) & IBFAB_PSN_MASK;
	return bth + 1;
}

static void *put_deth(void *at, const struct ibfab_qp *qp,
		      const struct ibfab_swr *wr)
{
	struct ibfab_deth *deth = at;
	__be32 *imm = (__be32 *)(deth + 1);
	u32 qkey = wr->remote_qkey;

	/* 10.2.5: a Q_Key with its top bit set stands for the QP's own */
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

static void put_payload(u8 *at, const struct ibfab_swr *wr)
{
	const struct ib_sge *sge;
	u16 i;

	if (wr->flags & IB_SEND_INLINE)
		memcpy(at, wr->inline_data, wr->length);
	for (i = 0; i < wr->num_sge; i++) {
		sge = &wr->sge[i];
		memcpy(at, (void *)(uintptr_t)sge->addr, sge->length);
		at += sge->length;
	}
}

/**
 * ibfab_ud_build() - Build a packet but for its payload.
 * @qp: the QP that sends it
 * @port: its port
 * @wr: the work request that it is of
 * @len: octets of payload
 * @payload: set to where they belong
 *
 * Behind them are zeroes for pad and ICRC: the links here spoil no bit, so the CRC
 * is left out.
 *
 * Context: the engine.
 * Return: it, or NULL without memory.
 */
struct ibfab_pkt *ibfab_ud_build(struct ibfab_qp *qp,
				 const struct ibfab_port *port,
				 const struct ibfab_swr *wr, unsigned int len,
				 u8 **payload)
{
	unsigned int pad = -len & 3, bytes;
	struct ibfab_pkt *pkt;
	void *at;

	bytes = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES + len + pad +
		IB_ICRC_BYTES;
	if (av_has_grh(wr))
		bytes += IB_GRH_BYTES;
	if (wr->opcode == IB_WR_SEND_WITH_IMM)
		bytes += IBFAB_IMM_BYTES;

	pkt = ibfab_pkt_alloc(bytes);
	if (!pkt)
		return NULL;
	pkt->source = qp->hca;
	at = put_lrh(pkt->frame->data, qp, port, wr, bytes);
	if (av_has_grh(wr))
		at = put_grh(at, port, wr, bytes);
	at = put_bth(at, qp, port, wr, pad);
	*payload = put_deth(at, qp, wr);
	memset(*payload + len, 0, pad + IB_ICRC_BYTES);
	return pkt;
}

/* A copy for the HCA's own attached QPs: no switch sends one back (10.5.2.1) */
static void loop_mcast(struct ibfab_port *port, const struct ibfab_swr *wr,
		       const struct ibfab_pkt *pkt)
{
	struct ibfab_pkt *copy;

	if (!av_has_grh(wr) ||
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
 * ibfab_port_has_lid() - Whether a LID is one of a port's.
 * @port: the port
 * @lid: with whatever path bits
 *
 * Context: any.
 * Return: true if it is.
 */
bool ibfab_port_has_lid(const struct ibfab_port *port, u16 lid)
{
	u16 own = READ_ONCE(port->lid);

	return own && lid >> READ_ONCE(port->lmc) == own >> port->lmc &&
	       ibfab_lid_is_ucast(lid);
}

/**
 * ibfab_ud_transmit() - Send a packet, or take it back in if it is for the port.
 * @port: the port
 * @wr: the work request that it is of
 * @pkt: consumed
 *
 * Context: the engine.
 */
void ibfab_ud_transmit(struct ibfab_port *port, const struct ibfab_swr *wr,
		       struct ibfab_pkt *pkt)
{
	u16 dlid = be16_to_cpu(ibfab_pkt_lrh(pkt)->dlid);
	bool smp = ibfab_lrh_vl(ibfab_pkt_lrh(pkt)) == IBFAB_VL_SMP;

	if (!ibfab_port_has_lid(port, dlid)) {
		if (ibfab_lid_is_mcast(dlid) &&
		    READ_ONCE(port->state) == IB_PORT_ACTIVE)
			loop_mcast(port, wr, pkt);
		ibfab_wire_send(port, pkt);
		return;
	}
	if (!smp && READ_ONCE(port->state) != IB_PORT_ACTIVE) {
		ibfab_pkt_drop(pkt, port, IBFAB_DROP_TX_INACTIVE);
		return;
	}
	pkt->port = port;
	pkt->loopback = true;
	ibfab_engine_receive(port, pkt, NULL);
}

/* A work request that is one packet */
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
	put_payload(payload, wr);
	if (wr->flags & IB_SEND_IP_CSUM)
		ibfab_csum_fill(port, payload, wr->length);
	ibfab_ud_transmit(port, wr, pkt);
}

/**
 * ibfab_ud_send() - Build and send what a datagram work request asks for.
 * @qp: the QP
 * @wr: the work request
 *
 * Context: the engine.
 * Return: the completion's status. A packet that is lost later, or for want of
 * memory, is a success, as datagrams are; it is counted.
 */
enum ib_wc_status ibfab_ud_send(struct ibfab_qp *qp,
				const struct ibfab_swr *wr)
{
	struct ibfab_port *port = ibfab_qp_port(qp);
	enum ib_wc_status status;

	status = check_send(qp, port, wr);
	if (status != IB_WC_SUCCESS)
		return status;

	if (!sl_admitted(qp, port, wr)) {
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

/* What a packet is checked for before any QP is looked at (7.8, 8.3, 9.6.1.1) */
static enum ibfab_drop check_packet(const struct ibfab_port *port,
				    const struct ibfab_hdrs *h)
{
	u16 dlid = be16_to_cpu(h->lrh->dlid);
	bool smp = ibfab_lrh_vl(h->lrh) == IBFAB_VL_SMP;

	if (!h->deth)
		return IBFAB_DROP_RX_OPCODE;
	if (h->bth->opcode != IB_OPCODE_UD_SEND_ONLY &&
	    h->bth->opcode != IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE)
		return IBFAB_DROP_RX_OPCODE;
	if (h->payload_len > (smp ? IB_MGMT_MAD_SIZE : port_mtu(port)))
		return IBFAB_DROP_RX_MTU;
	/* 7.6.4: VL15 is QP0's alone, and QP0 has no other */
	if (smp != !(be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK))
		return IBFAB_DROP_RX_MALFORMED;
	if (dlid == IBFAB_LID_PERMISSIVE)
		return smp ? IBFAB_DROP_NONE : IBFAB_DROP_RX_DLID;
	if (ibfab_lid_is_mcast(dlid) || ibfab_port_has_lid(port, dlid))
		return IBFAB_DROP_NONE;
	return IBFAB_DROP_RX_DLID;
}

/* 8.3: a unicast packet's GRH must name this port */
static bool dgid_is_own(const struct ibfab_port *port,
			const union ib_gid *dgid)
{
	union ib_gid gid;
	unsigned int i;

	for (i = 0; i < IBFAB_GUID_TABLE_LEN; i++) {
		ibfab_port_gid(port, i, &gid);
		if (gid.global.interface_id &&
		    !memcmp(&gid, dgid, sizeof(gid)))
			return true;
	}
	return false;
}

/* 10.9.3 and 10.2.5. QP1 takes any partition that its port is in. */
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

static enum ibfab_drop check_qp(const struct ibfab_qp *qp,
				const struct ibfab_port *port)
{
	enum ib_qp_state state = ibfab_qp_state(qp);

	if (READ_ONCE(qp->port_num) != port->num)
		return IBFAB_DROP_RX_NO_QP;
	return state >= IB_QPS_RTR && state != IB_QPS_ERR ?
	       IBFAB_DROP_NONE : IBFAB_DROP_RX_QP_STATE;
}

/* Copy bytes to an offset of a receive's buffers, which have the room */
static void scatter(const struct ibfab_rwr *wr, u32 offset, const void *data,
		    u32 len)
{
	u32 i, part;

	for (i = 0; len && i < wr->num_sge; i++) {
		if (offset >= wr->sge[i].length) {
			offset -= wr->sge[i].length;
			continue;
		}
		part = min(len, wr->sge[i].length - offset);
		memcpy((void *)(uintptr_t)wr->sge[i].addr + offset, data, part);
		data += part;
		len -= part;
		offset = 0;
	}
}

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
		wc.dlid_path_bits = dlid & ((1 << READ_ONCE(port->lmc)) - 1);
	if (status == IB_WC_SUCCESS)
		wc.wc_flags |= ibfab_csum_verify(qp, port, h);
	if (h->imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = *h->imm;
	}
	ibfab_cq_push(to_cq(qp->ibqp.recv_cq), &wc,
		      h->bth->flags & IBFAB_BTH_SOLICITED);
}

/* A receive that cannot take a good packet is its owner's error: it completes
 * so, and the QP goes to ERR (10.3.1.7, 11.6.2).
 */
static enum ibfab_drop fail_recv(struct ibfab_qp *qp,
				 const struct ibfab_rwr *rwr,
				 const struct ibfab_hdrs *h, u16 pkey_index)
{
	complete_recv(qp, rwr, h, pkey_index, rwr->bad_key ?
		      IB_WC_LOC_PROT_ERR : IB_WC_LOC_LEN_ERR);
	ibfab_queue_pop(&qp->rq);
	ibfab_qp_fail(qp, IB_QPS_ERR);
	return IBFAB_DROP_RX_BUFFER;
}

/* Copy a packet into a QP's next receive. The first 40 bytes are the GRH's,
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
	if (h->grh)
		scatter(rwr, 0, h->grh, IB_GRH_BYTES);
	scatter(rwr, IB_GRH_BYTES, h->payload, h->payload_len);
	complete_recv(qp, rwr, h, pkey_index, IB_WC_SUCCESS);
	ibfab_queue_pop(&qp->rq);
	return IBFAB_DROP_NONE;
}

static enum ibfab_drop deliver(struct ibfab_qp *qp, struct ibfab_port *port,
			       const struct ibfab_hdrs *h)
{
	enum ibfab_drop drop;
	u16 pkey_index = 0;

	drop = check_qp(qp, port);
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

	if (h->grh && !dgid_is_own(port, &h->grh->dgid))
		return IBFAB_DROP_RX_DGID;
	qp = qpn > 1 ? xa_load(&hca->qps, qpn) :
		       rcu_dereference(port->special[qpn]);
	return qp ? deliver(qp, port, h) : IBFAB_DROP_RX_NO_QP;
}

static void count_drop(struct ibfab_port *port, enum ibfab_drop drop)
{
	atomic64_inc(&port->drop[drop]);
	switch (drop) {
	case IBFAB_DROP_RX_PKEY:
		atomic_inc(&port->pkey_violations);
		break;
	case IBFAB_DROP_RX_QKEY:
		atomic_inc(&port->qkey_violations);
		break;
	case IBFAB_DROP_RX_MALFORMED:
	case IBFAB_DROP_RX_MTU:
		ibfab_count(port, IBFAB_CNT_RCV_ERRORS);
		break;
	default:
		break;
	}
}

/* A QP that does not want to hear itself does not count as a drop */
static bool blocks_own(const struct ibfab_qp *qp, const struct ibfab_pkt *pkt,
		       const struct ibfab_hdrs *h)
{
	return pkt->loopback &&
	       (qp->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK) &&
	       (be32_to_cpu(h->deth->sqpn) & IBFAB_QPN_MASK) ==
	       qp->ibqp.qp_num;
}

/* To every attached QP, each with its own checks (10.5.2.2) */
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
			count_drop(pkt->port, drop);
	}
	return found ? IBFAB_DROP_NONE : IBFAB_DROP_RX_NO_GROUP;
}

static enum ibfab_drop receive(struct ibfab_hca *hca,
			       const struct ibfab_pkt *pkt)
{
	struct ibfab_port *port = pkt->port;
	enum ibfab_drop drop;
	struct ibfab_hdrs h;

	if (!ibfab_pkt_parse(pkt, &h))
		return IBFAB_DROP_RX_MALFORMED;
	drop = check_packet(port, &h);
	if (drop)
		return drop;
	if (ibfab_lid_is_mcast(be16_to_cpu(h.lrh->dlid)))
		return deliver_mcast(hca, pkt, &h);
	return deliver_ucast(hca, port, &h);
}

/**
 * ibfab_ud_receive() - Check a packet that came in and deliver it.
 * @hca: to which
 * @pkt: consumed
 *
 * Context: the engine.
 */
void ibfab_ud_receive(struct ibfab_hca *hca, struct ibfab_pkt *pkt)
{
	enum ibfab_drop drop = receive(hca, pkt);

	if (drop)
		count_drop(pkt->port, drop);
	ibfab_pkt_free(pkt);
}
