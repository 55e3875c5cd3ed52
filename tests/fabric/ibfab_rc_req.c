// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The requester of connections (9.7.5, 9.9.2). It splits messages into packets, keeps a
 * window of packets outstanding, and goes back to the oldest unacknowledged one if a packet was
 * lost. Nothing is copied for a retransmission: the buffers belong to the WR until it completes,
 * and the PSN of a packet determines which part of them it has. Packets of an unreliable connection
 * need no acknowledgment: they count as acknowledged when they are sent (9.8.2).
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "ibfab_net.h"

#define RC_WINDOW	128	/* outstanding packets */
#define RC_ACK_EVERY	32	/* packets of a long message; a divisor of 2^24 */
#define RC_BURST	16	/* packets that a QP sends at its turn */
#define RC_RNR_UNIT_NS	10000
#define RC_RNR_FOREVER	7	/* 9.7.5.2.8 */

/* 9.7.5.2.8: the time for which an RNR NAK asks, by its code and in units of RC_RNR_UNIT_NS */
static const u32 rnr_units[IBFAB_AETH_VALUE + 1] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
	32768, 49152,
};

static u32 num_packets(const struct ibfab_qp *qp, const struct ibfab_swr *wr)
{
	return max(DIV_ROUND_UP(wr->length, ibfab_rc_mtu(qp->rc)), 1U);
}

static bool outstanding(const struct ibfab_rc_req *req)
{
	return req->una != req->high;
}

/* Time is measured by the clock, not in jiffies, which may stand still for a while and then catch
 * up if a guest's CPU is preempted. The timer only kicks the engine.
 */

static void wake_in(struct ibfab_rc *rc, u64 ns)
{
	timer_reduce(&rc->timer, jiffies + nsecs_to_jiffies(ns) + 1);
}

static void set_due(struct ibfab_rc *rc, u64 ns)
{
	rc->req.timed = true;
	rc->req.due = ktime_get_ns() + ns;
	wake_in(rc, ns);
}

static void await_answer(struct ibfab_rc *rc)
{
	rc->req.timed = false;
	if (outstanding(&rc->req) && rc->timeout)
		set_due(rc, 4096ULL << rc->timeout);
}

static void pause(struct ibfab_rc *rc, u64 ns)
{
	rc->req.paused = true;
	set_due(rc, ns);
}

/* Positions in the send queue */

/* Makes an unacknowledged packet the next one to send */
static void seek(struct ibfab_qp *qp, u32 psn)
{
	struct ibfab_rc_req *req = &qp->rc->req;
	const struct ibfab_swr *wr;
	int ahead;

	req->next = psn;
	for (req->cur = qp->sq.cons; req->cur != req->begun; req->cur++) {
		wr = ibfab_queue_slot(&qp->sq, req->cur);
		ahead = ibfab_psn_diff(psn, wr->psn);
		if (ahead < (int)num_packets(qp, wr)) {
			req->offset = ahead * ibfab_rc_mtu(qp->rc);
			return;
		}
	}
	req->offset = 0;
}

/* 10.3.1: the oldest WR completes with an error, and those behind it are flushed. A UC QP still
 * receives (10.3.1.6).
 */
static void fail(struct ibfab_qp *qp, enum ib_wc_status status)
{
	const struct ibfab_swr *wr = ibfab_queue_peek(&qp->sq);

	if (wr)
		ibfab_complete_send(qp, wr, status);
	ibfab_qp_fail(qp, ibfab_rc_is_unreliable(qp) ? IB_QPS_SQE : IB_QPS_ERR);
}

static void complete_acknowledged(struct ibfab_qp *qp)
{
	struct ibfab_rc_req *req = &qp->rc->req;
	const struct ibfab_swr *wr;

	while (qp->sq.cons != req->begun) {
		wr = ibfab_queue_slot(&qp->sq, qp->sq.cons);
		if (ibfab_psn_diff(req->una, wr->psn) <
		    (int)num_packets(qp, wr))
			return;
		ibfab_complete_send(qp, wr, IB_WC_SUCCESS);
	}
}

/* All packets before a PSN have arrived. As this is progress, the retry counters start again. */
static void acknowledge_before(struct ibfab_qp *qp, u32 psn)
{
	struct ibfab_rc *rc = qp->rc;
	struct ibfab_rc_req *req = &rc->req;

	if (ibfab_psn_diff(psn, req->una) <= 0)
		return;
	req->una = psn;
	req->retries = rc->retry_cnt;
	req->rnr_retries = rc->rnr_retry;
	req->paused = false;
	complete_acknowledged(qp);
	if (ibfab_psn_diff(psn, req->next) > 0)
		seek(qp, psn);
	await_answer(rc);
}

/* Sending */

/* Assigns PSNs to the next WR. A WR that cannot be sent fails, but not before the WRs in front of
 * it have completed.
 */
static bool begin(struct ibfab_qp *qp)
{
	struct ibfab_rc_req *req = &qp->rc->req;
	enum ib_wc_status status;
	struct ibfab_swr *wr;

	if (ibfab_qp_state(qp) != IB_QPS_RTS ||
	    req->begun == ibfab_queue_posted(&qp->sq))
		return false;
	wr = ibfab_queue_slot(&qp->sq, req->begun);
	status = ibfab_send_status(qp->ibqp.device, wr);
	if (status == IB_WC_SUCCESS) {
		wr->psn = req->high;
		req->begun++;
		return true;
	}
	if (!outstanding(req))
		fail(qp, status);
	return false;
}

static bool can_send(struct ibfab_qp *qp)
{
	struct ibfab_rc_req *req = &qp->rc->req;

	if (req->paused || ibfab_psn_diff(req->next, req->una) >= RC_WINDOW)
		return false;
	return req->cur != req->begun || begin(qp);
}

static bool is_write(const struct ibfab_swr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE ||
	       wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(const struct ibfab_swr *wr)
{
	return wr->opcode == IB_WR_SEND_WITH_IMM ||
	       wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* 9.2: the six opcodes of SEND and the six of RDMA WRITE have the same order, and those of
 * unreliable connections the same as well
 */
static u8 opcode(const struct ibfab_swr *wr, bool first, bool last)
{
	u8 op = is_write(wr) ? IB_OPCODE_RC_RDMA_WRITE_FIRST :
			       IB_OPCODE_RC_SEND_FIRST;

	if (!last)
		return first ? op : op + IB_OPCODE_RC_SEND_MIDDLE;
	op += first ? IB_OPCODE_RC_SEND_ONLY : IB_OPCODE_RC_SEND_LAST;
	return has_imm(wr) ? op + 1 : op;
}

/* An acknowledgment is requested at the end of a message, regularly within a long message, and for
 * the oldest unacknowledged packet, which may be the only one that the peer lacks
 */
static bool wants_ack(const struct ibfab_rc_req *req, bool last)
{
	return last || req->next == req->una ||
	       !(ibfab_psn_add(req->next, 1) % RC_ACK_EVERY);
}

static void fill_header(const struct ibfab_qp *qp, const struct ibfab_swr *wr,
			struct ibfab_hdr *hdr)
{
	const struct ibfab_rc_req *req = &qp->rc->req;
	bool first = !req->offset, last;

	hdr->len = min(wr->length - req->offset, ibfab_rc_mtu(qp->rc));
	last = req->offset + hdr->len == wr->length;
	hdr->opcode = opcode(wr, first, last);
	hdr->psn = req->next;
	if (ibfab_rc_is_unreliable(qp))
		hdr->opcode += IB_OPCODE_UC;
	else if (wants_ack(req, last))
		hdr->psn |= IBFAB_BTH_ACK_REQ;
	hdr->flags = last && wr->flags & IB_SEND_SOLICITED ?
		     IBFAB_BTH_SOLICITED : 0;
	hdr->ext = 0;
	if (first && is_write(wr))
		hdr->ext += sizeof(struct ibfab_reth);
	if (last && has_imm(wr))
		hdr->ext += IBFAB_IMM_BYTES;
}

static void *put_reth(void *at, const struct ibfab_swr *wr)
{
	struct ibfab_reth *reth = at;

	reth->va = cpu_to_be64(wr->remote_addr);
	reth->rkey = cpu_to_be32(wr->rkey);
	reth->dma_len = cpu_to_be32(wr->length);
	return reth + 1;
}

static struct ibfab_pkt *build(struct ibfab_qp *qp, const struct ibfab_swr *wr,
			       struct ibfab_hdr *hdr)
{
	u32 offset = qp->rc->req.offset;
	struct ibfab_pkt *pkt;
	void *at;

	pkt = ibfab_rc_build(qp, hdr, &at);
	if (!pkt)
		return NULL;
	if (!offset && is_write(wr))
		at = put_reth(at, wr);
	if (offset + hdr->len == wr->length && has_imm(wr)) {
		*(__be32 *)at = wr->imm;
		at += IBFAB_IMM_BYTES;
	}
	ibfab_gather(at, wr, offset, hdr->len);
	return pkt;
}

static void advance(struct ibfab_qp *qp, const struct ibfab_swr *wr, u32 len)
{
	struct ibfab_rc_req *req = &qp->rc->req;

	if (req->next == req->high)
		req->high = ibfab_psn_add(req->high, 1);
	else
		ibfab_rc_count(qp, IBFAB_RC_RETRANSMITS);
	req->next = ibfab_psn_add(req->next, 1);
	req->offset += len;
	if (req->offset == wr->length) {
		req->cur++;
		req->offset = 0;
	}
	if (!req->timed)
		await_answer(qp->rc);
}

/* If there is no memory for a packet, sending pauses and tries again */
static void send_packet(struct ibfab_qp *qp)
{
	const struct ibfab_swr *wr = ibfab_queue_slot(&qp->sq,
						      qp->rc->req.cur);
	struct ibfab_hdr hdr;
	struct ibfab_pkt *pkt;

	fill_header(qp, wr, &hdr);
	pkt = build(qp, wr, &hdr);
	if (!pkt) {
		atomic64_inc(&ibfab_qp_port(qp)->drop[IBFAB_DROP_TX_NO_MEMORY]);
		pause(qp->rc, 0);
		return;
	}
	advance(qp, wr, hdr.len);
	ibfab_rc_transmit(qp, pkt);
	if (ibfab_rc_is_unreliable(qp))
		acknowledge_before(qp, qp->rc->req.next);
}

/* Retransmission */

/* 9.9.2.1: send again from the oldest unacknowledged packet, if there are retries left */
static void retry(struct ibfab_qp *qp)
{
	struct ibfab_rc *rc = qp->rc;

	if (!rc->req.retries) {
		fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	rc->req.retries--;
	seek(qp, rc->req.una);
	await_answer(rc);
}

static void check_time(struct ibfab_qp *qp)
{
	struct ibfab_rc *rc = qp->rc;
	struct ibfab_rc_req *req = &rc->req;
	s64 left;

	if (!req->timed)
		return;
	left = req->due - ktime_get_ns();
	if (left > 0) {
		wake_in(rc, left);
		return;
	}
	req->timed = false;
	if (req->paused) {
		req->paused = false;
		await_answer(rc);
		return;
	}
	ibfab_rc_count(qp, IBFAB_RC_TIMEOUTS);
	retry(qp);
}

/* 10.3.1.5: in SQD, the send queue has drained when all WRs that were begun have completed */
static void check_drained(struct ibfab_qp *qp)
{
	struct ibfab_rc *rc = qp->rc;

	if (!rc->report_drained || ibfab_qp_state(qp) != IB_QPS_SQD ||
	    qp->sq.cons != rc->req.begun)
		return;
	rc->report_drained = false;
	ibfab_event_qp(qp, IB_EVENT_SQ_DRAINED);
}

/**
 * ibfab_rc_send() - Send packets of a connection at its QP's turn.
 * @qp: the QP in RTS or SQD
 * @sent: the number of packets is added to it
 *
 * Context: the engine.
 * Return: whether the QP needs another turn.
 */
bool ibfab_rc_send(struct ibfab_qp *qp, unsigned int *sent)
{
	unsigned int n;

	check_time(qp);
	for (n = 0; n < RC_BURST; n++) {
		if (ibfab_engine_blocked(qp)) {
			ibfab_count(ibfab_qp_port(qp), IBFAB_CNT_XMIT_WAIT);
			break;
		}
		if (ibfab_qp_state(qp) == IB_QPS_ERR || !can_send(qp)) {
			*sent += n;
			check_drained(qp);
			return false;
		}
		send_packet(qp);
	}
	*sent += n;
	return true;
}

/* Responses */

static enum ib_wc_status nak_status(u8 code)
{
	switch (code) {
	case IBFAB_NAK_INVALID_REQUEST:
		return IB_WC_REM_INV_REQ_ERR;
	case IBFAB_NAK_REMOTE_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	default:
		return IB_WC_REM_OP_ERR;
	}
}

/* If this packet is the next one to send already, nothing was sent since the last retransmission
 * began, so the NAK is an old one
 */
static void take_nak(struct ibfab_qp *qp, u32 psn, u8 code)
{
	if (code > IBFAB_NAK_REMOTE_OPERATION) {
		ibfab_rc_count(qp, IBFAB_RC_STRAYS);
		return;
	}
	ibfab_rc_count(qp, IBFAB_RC_NAKS_RCVD + code);
	acknowledge_before(qp, psn);
	if (code != IBFAB_NAK_SEQUENCE)
		fail(qp, nak_status(code));
	else if (qp->rc->req.next != psn)
		retry(qp);
	ibfab_engine_kick_qp(qp);
}

static void take_rnr(struct ibfab_qp *qp, u32 psn, u8 timer)
{
	struct ibfab_rc *rc = qp->rc;

	ibfab_rc_count(qp, IBFAB_RC_RNR_RCVD);
	acknowledge_before(qp, psn);
	if (!rc->req.rnr_retries) {
		fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (rc->rnr_retry != RC_RNR_FOREVER)
		rc->req.rnr_retries--;
	seek(qp, psn);
	pause(rc, (u64)rnr_units[timer] * RC_RNR_UNIT_NS);
}

static void take_ack(struct ibfab_qp *qp, u32 psn)
{
	ibfab_rc_count(qp, IBFAB_RC_ACKS_RCVD);
	acknowledge_before(qp, ibfab_psn_add(psn, 1));
	ibfab_engine_kick_qp(qp);
}

/**
 * ibfab_rc_answered() - Process an ACK or a NAK (9.7.5.1).
 * @qp: the QP that receives it
 * @in: the packet
 *
 * A response to a PSN that is not outstanding is counted and ignored.
 *
 * Context: the engine.
 */
void ibfab_rc_answered(struct ibfab_qp *qp, const struct ibfab_rc_in *in)
{
	u8 syndrome = be32_to_cpu(in->aeth->syndrome_msn) >> IBFAB_AETH_SHIFT;
	const struct ibfab_rc_req *req = &qp->rc->req;
	u8 value = syndrome & IBFAB_AETH_VALUE;

	if (ibfab_qp_state(qp) < IB_QPS_RTS ||
	    ibfab_psn_diff(in->psn, req->una) < 0 ||
	    ibfab_psn_diff(in->psn, req->high) >= 0) {
		ibfab_rc_count(qp, IBFAB_RC_STRAYS);
		return;
	}
	switch (syndrome & IBFAB_AETH_KIND) {
	case IBFAB_AETH_ACK:
		take_ack(qp, in->psn);
		break;
	case IBFAB_AETH_RNR:
		take_rnr(qp, in->psn, value);
		break;
	case IBFAB_AETH_NAK:
		take_nak(qp, in->psn, value);
		break;
	default:
		ibfab_rc_count(qp, IBFAB_RC_STRAYS);
	}
}
