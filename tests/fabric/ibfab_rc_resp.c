// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The responder of connections (9.7.4, 9.9.3). It processes requests in the order of their
 * PSNs, writes messages directly into the buffers of receive WRs, and responds. An acknowledgment
 * is sent when the engine has delivered its input, so one may acknowledge several packets. A NAK is
 * sent immediately. An unreliable connection does not respond (9.8.3).
 */
#include "ibfab_net.h"

/* Responding */

static void answer(struct ibfab_qp *qp, u32 psn, u8 syndrome)
{
	struct ibfab_hdr hdr = {
		.opcode = IB_OPCODE_RC_ACKNOWLEDGE,
		.psn = psn,
		.ext = sizeof(struct ibfab_aeth),
	};
	struct ibfab_aeth *aeth;
	struct ibfab_pkt *pkt;
	void *at;

	pkt = ibfab_rc_build(qp, &hdr, &at);
	if (!pkt) {
		atomic64_inc(&ibfab_qp_port(qp)->drop[IBFAB_DROP_TX_NO_MEMORY]);
		return;
	}
	aeth = at;
	aeth->syndrome_msn = cpu_to_be32(syndrome << IBFAB_AETH_SHIFT |
					 qp->rc->resp.msn);
	ibfab_rc_transmit(qp, pkt);
}

static void owe_ack(struct ibfab_qp *qp)
{
	struct list_head *node = &qp->rc->resp.ack_node;

	if (list_empty(node))
		list_add_tail(node, &qp->hca->rc_acks);
}

/**
 * ibfab_rc_acknowledge() - Send the acknowledgments that are due.
 * @hca: the HCA
 *
 * This does not wait for room in the peer's input queue, so two engines never wait for each other.
 *
 * Context: the engine, after it has delivered packets.
 */
void ibfab_rc_acknowledge(struct ibfab_hca *hca)
{
	struct ibfab_rc *rc;

	while ((rc = list_first_entry_or_null(&hca->rc_acks, struct ibfab_rc, resp.ack_node))) {
		list_del_init(&rc->resp.ack_node);
		if (ibfab_net_check_qp(rc->qp, ibfab_qp_port(rc->qp)))
			continue;
		ibfab_rc_count(rc->qp, IBFAB_RC_ACKS_SENT);
		answer(rc->qp, ibfab_psn_add(rc->resp.epsn, -1),
		       IBFAB_AETH_ACK | IBFAB_AETH_NO_CREDITS);
	}
}

/* A NAK also acknowledges all packets before the expected one, so no separate ACK is needed */
static void nak(struct ibfab_qp *qp, u8 syndrome)
{
	list_del_init(&qp->rc->resp.ack_node);
	answer(qp, qp->rc->resp.epsn, syndrome);
}

static void nak_rnr(struct ibfab_qp *qp)
{
	qp->rc->resp.quiet = true;
	ibfab_rc_count(qp, IBFAB_RC_RNR_SENT);
	nak(qp, IBFAB_AETH_RNR | qp->rc->min_rnr_timer);
}

static void nak_sequence(struct ibfab_qp *qp)
{
	ibfab_rc_count(qp, IBFAB_RC_GAPS);
	if (qp->rc->resp.quiet)
		return;
	qp->rc->resp.quiet = true;
	ibfab_rc_count(qp, IBFAB_RC_NAKS_SENT + IBFAB_NAK_SEQUENCE);
	nak(qp, IBFAB_AETH_NAK | IBFAB_NAK_SEQUENCE);
}

/* Refuses a request, which ends the connection. Returns false, which is what its callers return. */
static bool refuse(struct ibfab_qp *qp, u8 code)
{
	ibfab_rc_count(qp, IBFAB_RC_NAKS_SENT + code);
	nak(qp, IBFAB_AETH_NAK | code);
	ibfab_qp_fail(qp, IB_QPS_ERR);
	return false;
}

/* The same for a request that completes no WR; an event reports the error to the owner (9.9.3) */
static bool refuse_request(struct ibfab_qp *qp, u8 code)
{
	ibfab_event_qp(qp, code == IBFAB_NAK_REMOTE_ACCESS ?
		       IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR);
	return refuse(qp, code);
}

/* Receives */

static void complete_recv(struct ibfab_qp *qp, const struct ibfab_rc_in *in,
			  enum ib_wc_status status)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;
	struct ib_wc wc = {
		.wr_id = resp->wr->wr_id,
		.status = status,
		.opcode = in->traits & IBFAB_RC_WRITE ?
			  IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = resp->received,
		.qp = &qp->ibqp,
		.src_qp = qp->rc->dest_qpn,
		.slid = be16_to_cpu(in->h->lrh->slid),
		.pkey_index = READ_ONCE(qp->pkey_index),
		.sl = in->h->lrh->sl_lnh >> 4,
		.port_num = qp->port_num,
	};

	if (in->imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = *in->imm;
	}
	resp->have_wr = false;
	ibfab_cq_push(to_cq(qp->ibqp.recv_cq), &wc,
		      in->h->bth->flags & IBFAB_BTH_SOLICITED);
}

/* Takes the next receive WR for a message that begins */
static bool take_wr(struct ibfab_qp *qp)
{
	struct ib_srq *srq = qp->ibqp.srq;
	struct ibfab_rc_resp *resp = &qp->rc->resp;
	const struct ibfab_rwr *wr;

	wr = ibfab_queue_peek(srq ? &to_srq(srq)->queue : &qp->rq);
	if (!wr)
		return false;
	memcpy(resp->wr, wr, struct_size(wr, sge, wr->num_sge));
	resp->have_wr = true;
	resp->received = 0;
	if (srq)
		ibfab_srq_pop(to_srq(srq));
	else
		ibfab_queue_pop(&qp->rq);
	return true;
}

/* A receive WR that cannot hold a valid message is an error of its owner */
static bool fail_wr(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	bool bad_key = qp->rc->resp.wr->bad_key;

	complete_recv(qp, in, bad_key ? IB_WC_LOC_PROT_ERR : IB_WC_LOC_LEN_ERR);
	return refuse(qp, bad_key ? IBFAB_NAK_REMOTE_OPERATION :
				    IBFAB_NAK_INVALID_REQUEST);
}

/* Processing the request with the expected PSN. Each function returns false if it does not take the
 * packet.
 */

static bool sequence_valid(const struct ibfab_rc *rc,
			   const struct ibfab_rc_in *in)
{
	bool first = in->traits & IBFAB_RC_FIRST;

	/* Only a SEND can consist of several packets, because an RDMA WRITE with data is refused */
	if (rc->resp.in_message)
		return in->traits & IBFAB_RC_SEND && !first;
	return first;
}

/* 9.7.4.1.6: all packets of a message but the last one are full. The last one is not empty unless
 * it is the only one.
 */
static bool length_valid(const struct ibfab_rc *rc,
			 const struct ibfab_rc_in *in)
{
	unsigned int mtu = ibfab_rc_mtu(rc);

	if (!(in->traits & IBFAB_RC_LAST))
		return in->len == mtu;
	return in->len <= mtu && (in->len || in->traits & IBFAB_RC_FIRST);
}

static bool take_send(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;

	if (in->traits & IBFAB_RC_FIRST && !take_wr(qp)) {
		nak_rnr(qp);
		return false;
	}
	if (resp->wr->bad_key ||
	    in->len > resp->wr->length - resp->received)
		return fail_wr(qp, in);
	ibfab_scatter(resp->wr, resp->received, in->payload, in->len);
	resp->received += in->len;
	if (in->traits & IBFAB_RC_LAST)
		complete_recv(qp, in, IB_WC_SUCCESS);
	return true;
}

/* There is no memory to which a peer may write. An RDMA WRITE of no bytes needs no R_Key
 * (9.7.4.1.5) and succeeds.
 */
static bool take_write(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	if (!(qp->rc->access & IB_ACCESS_REMOTE_WRITE))
		return refuse_request(qp, IBFAB_NAK_INVALID_REQUEST);
	if (in->reth->dma_len)
		return refuse_request(qp, IBFAB_NAK_REMOTE_ACCESS);
	if (!(in->traits & IBFAB_RC_LAST) || in->len)
		return refuse_request(qp, IBFAB_NAK_INVALID_REQUEST);
	if (!in->imm)
		return true;
	if (!take_wr(qp)) {
		nak_rnr(qp);
		return false;
	}
	complete_recv(qp, in, IB_WC_SUCCESS);
	return true;
}

static bool take_request(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	if (!sequence_valid(qp->rc, in) || !length_valid(qp->rc, in))
		return refuse_request(qp, IBFAB_NAK_INVALID_REQUEST);
	return in->traits & IBFAB_RC_SEND ? take_send(qp, in) :
					    take_write(qp, in);
}

/* 10.3.1.3: the first packet that arrives in RTR shows that the connection is established */
static void report_established(struct ibfab_qp *qp)
{
	if (qp->rc->resp.established || ibfab_qp_state(qp) != IB_QPS_RTR)
		return;
	qp->rc->resp.established = true;
	ibfab_event_qp(qp, IB_EVENT_COMM_EST);
}

static void take_next(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;

	resp->quiet = false;
	if (!take_request(qp, in))
		return;
	resp->epsn = ibfab_psn_add(resp->epsn, 1);
	resp->in_message = !(in->traits & IBFAB_RC_LAST);
	if (!resp->in_message)
		resp->msn = (resp->msn + 1) & IBFAB_PSN_MASK;
	if (in->h->bth->psn & cpu_to_be32(IBFAB_BTH_ACK_REQ))
		owe_ack(qp);
}

/**
 * ibfab_rc_requested() - Process a request (9.7.4.1).
 * @qp: the QP that receives it
 * @in: the packet
 *
 * Context: the engine.
 */
void ibfab_rc_requested(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	int ahead = ibfab_psn_diff(in->psn, qp->rc->resp.epsn);

	report_established(qp);
	if (ahead > 0) {
		nak_sequence(qp);
	} else if (ahead < 0) {
		ibfab_rc_count(qp, IBFAB_RC_DUPLICATES);
		owe_ack(qp);
	} else {
		take_next(qp, in);
	}
}

/* A WR that cannot hold a message is an error of its owner, also without an acknowledgment */
static void uc_fail_wr(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	complete_recv(qp, in, qp->rc->resp.wr->bad_key ? IB_WC_LOC_PROT_ERR : IB_WC_LOC_LEN_ERR);
	ibfab_qp_fail(qp, IB_QPS_ERR);
}

/* Takes a packet that continues the message, or begins one. Returns false if it is dropped. The WR
 * of a message that was not completed is used for the next one.
 */
static bool uc_take(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;

	if (!sequence_valid(qp->rc, in) || !length_valid(qp->rc, in))
		return false;
	if (!resp->have_wr && !take_wr(qp))
		return false;
	if (in->traits & IBFAB_RC_FIRST)
		resp->received = 0;
	if (resp->wr->bad_key || in->len > resp->wr->length - resp->received) {
		uc_fail_wr(qp, in);
		return true;
	}
	ibfab_scatter(resp->wr, resp->received, in->payload, in->len);
	resp->received += in->len;
	resp->in_message = !(in->traits & IBFAB_RC_LAST);
	if (!resp->in_message)
		complete_recv(qp, in, IB_WC_SUCCESS);
	return true;
}

/**
 * ibfab_uc_requested() - Process a request of an unreliable connection (9.8.3).
 * @qp: the QP that receives it
 * @in: the packet
 *
 * If a packet of a message is missing, or there is no WR for it, the whole message is lost. The
 * next one is received nevertheless.
 *
 * Context: the engine.
 */
void ibfab_uc_requested(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;
	bool gap = in->psn != resp->epsn;

	if (!(in->traits & IBFAB_RC_SEND)) {
		ibfab_rc_count(qp, IBFAB_RC_DROPPED);
		return;
	}
	report_established(qp);
	if (gap)
		ibfab_rc_count(qp, IBFAB_RC_GAPS);
	if (gap || in->traits & IBFAB_RC_FIRST)
		resp->in_message = false;
	resp->epsn = ibfab_psn_add(in->psn, 1);
	if (uc_take(qp, in))
		return;
	resp->in_message = false;
	ibfab_rc_count(qp, IBFAB_RC_DROPPED);
}
