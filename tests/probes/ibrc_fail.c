// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: scenarios in which connections fail, or end with outstanding WRs. The first QP of the first
 * end sends. The expected results are those of IBA volume 1, 9.9 and 10.8.5.
 */
#include <linux/ktime.h>

#include "ibrc.h"

/* Expected results of a scenario */

static void expect_sends(struct ibrc_run *run, enum ib_wc_status status, u64 n)
{
	ibrc_expect_is(run, run->result->sends[status], n, "sends with status %u", status);
}

static void expect_recvs(struct ibrc_run *run, enum ib_wc_status status, u64 n)
{
	ibrc_expect_is(run, run->result->recvs[status], n, "receives with status %u", status);
}

static void expect_state(struct ibrc_qp *qp, enum ib_qp_state state)
{
	ibrc_expect_is(qp->end->run, ibrc_state(qp), state, "state of end %u's QP",
		       (u32)(qp->end - qp->end->run->ends));
}

static void expect_received(struct ibrc_run *run, u64 n)
{
	ibrc_expect_is(run, run->result->received, n, "messages received");
}

/* The number of receive WRs that are flushed if a QP fails. Those in an SRQ stay there. */
static u32 num_recvs(const struct ibrc_qp *qp)
{
	return qp->end->srq ? 0 : qp->rx.depth;
}

static int until_sends(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);

	return ibrc_until(run, &qp->tx.completed, qp->tx.posted);
}

/* Posts all sends of the first QP, and measures the time until the last one has completed */
static int timed_sends(struct ibrc_run *run)
{
	u64 begin = ktime_get_ns();
	int ret;

	ret = ibrc_post_sends(ibrc_sender(run), ibrc_num_sends(run)) ?:
	      until_sends(run);
	run->result->ns = ktime_get_ns() - begin;
	return ret;
}

/* The first send fails, the others are flushed, and the QP is in ERR (10.8.5) */
static void expect_first_fails(struct ibrc_run *run, enum ib_wc_status status)
{
	expect_sends(run, status, 1);
	expect_sends(run, IB_WC_WR_FLUSH_ERR, ibrc_num_sends(run) - 1);
	expect_sends(run, IB_WC_SUCCESS, 0);
	expect_state(ibrc_sender(run), IB_QPS_ERR);
}

/* RNR */

/* 9.7.5.2.8: in microseconds */
static u32 rnr_timer_us(u32 code)
{
	static const u32 us[] = {
		655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640,
		960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480,
		30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680,
		491520,
	};

	return us[code];
}

/* A retry count of 7 stands for no limit, so receive WRs that are posted late are still used */
static int rnr_recovers(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	u32 n = ibrc_num_sends(run);
	int ret;

	ret = ibrc_post_sends(qp, n) ?:
	      ibrc_settle(run, IBRC_SETTLE);
	if (ret)
		return ret;
	ibrc_expect_is(run, qp->tx.completed, 0, "completed without a receive");
	run->ends[1].repost = true;
	ret = ibrc_post_recvs(qp->peer, 1) ?:
	      until_sends(run);
	expect_sends(run, IB_WC_SUCCESS, n);
	expect_received(run, n);
	expect_state(qp, IB_QPS_RTS);
	return ret;
}

/**
 * ibrc_rnr() - Scenario: the receiver has posted no receive WR.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_rnr(struct ibrc_run *run)
{
	const struct ibrc_params *params = &run->params;
	int ret;

	if (params->rnr == 7)
		return rnr_recovers(run);
	ret = timed_sends(run);
	if (ret)
		return ret;
	expect_first_fails(run, IB_WC_RNR_RETRY_EXC_ERR);
	expect_received(run, 0);
	expect_state(ibrc_sender(run)->peer, IB_QPS_RTS);
	ibrc_expect_least(run, run->result->ns,
			  (u64)params->rnr * NSEC_PER_USEC * rnr_timer_us(params->rnr_timer),
			  "ns at least");
	return 0;
}

/* Errors at the receiver */

/* The first receive of the peer fails, and so does the first send */
static int receiver_fails(struct ibrc_run *run, enum ib_wc_status recv,
			  enum ib_wc_status send)
{
	struct ibrc_qp *peer = ibrc_sender(run)->peer;
	u64 failed, wanted = max(num_recvs(peer), 1U);
	int ret;

	ret = ibrc_post_recvs(peer, run->params.depth) ?:
	      timed_sends(run);
	if (ret)
		return ret;
	expect_first_fails(run, send);
	if (num_recvs(peer))
		ret = ibrc_until(run, &peer->rx.completed, wanted);
	else
		ret = ibrc_until(run, &run->result->recvs[recv], wanted);
	failed = run->result->recvs[IB_WC_WR_FLUSH_ERR];
	ibrc_expect_is(run, failed, wanted - 1, "receives flushed");
	expect_recvs(run, recv, 1);
	expect_received(run, 0);
	expect_state(peer, IB_QPS_ERR);
	return ret;
}

/**
 * ibrc_short() - Scenario: the messages are longer than the receive WRs (9.9.3.1.1).
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_short(struct ibrc_run *run)
{
	return receiver_fails(run, IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR);
}

/* Builds the lists of receive buffers again, with an invalid L_Key */
static void spoil_lkey(struct ibrc_end *end, struct ibrc_ring *ring)
{
	u32 i;

	end->lkey = ~end->pd->local_dma_lkey;
	for (i = 0; i < ring->depth; i++)
		ibrc_buf_cut(&ring->bufs[i], end->run->params.recv);
}

/**
 * ibrc_bad_recv_lkey() - Scenario: the receive WRs have an invalid L_Key.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_bad_recv_lkey(struct ibrc_run *run)
{
	struct ibrc_qp *peer = ibrc_sender(run)->peer;
	struct ibrc_end *end = peer->end;

	spoil_lkey(end, end->srq ? &end->srq_ring : &peer->rx);
	return receiver_fails(run, IB_WC_LOC_PROT_ERR, IB_WC_REM_OP_ERR);
}

/* Errors at the sender */

/**
 * ibrc_bad_lkey() - Scenario: the send WRs have an invalid L_Key.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_bad_lkey(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	int ret;

	ret = ibrc_post_recvs(qp->peer, run->params.depth);
	if (ret)
		return ret;
	qp->end->lkey = ~qp->end->pd->local_dma_lkey;
	ret = timed_sends(run);
	if (ret)
		return ret;
	expect_first_fails(run, IB_WC_LOC_PROT_ERR);
	ret = ibrc_settle(run, IBRC_SETTLE);
	expect_received(run, 0);
	expect_state(qp->peer, IB_QPS_RTS);
	return ret;
}

static int take_peer_away(struct ibrc_qp *peer)
{
	switch (peer->end->run->params.peer) {
	case IBRC_PEER_ERROR:
		return ibprobe_set_state(peer->ib, IB_QPS_ERR);
	case IBRC_PEER_DESTROYED:
		ib_destroy_qp(peer->ib);
		peer->ib = NULL;
		return 0;
	default:
		return ibprobe_set_state(peer->ib, IB_QPS_RESET);
	}
}

/**
 * ibrc_peer_gone() - Scenario: the peer does not respond any more.
 * @run: the run, connected
 *
 * The sender tries retry + 1 times. After each try, it waits between one and four times 4096 ns *
 * 2^timeout. If the timeout is 0, it waits forever (9.7.6.1.3).
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_peer_gone(struct ibrc_run *run)
{
	const struct ibrc_params *params = &run->params;
	struct ibrc_qp *qp = ibrc_sender(run);
	int ret;

	ret = take_peer_away(qp->peer);
	if (ret)
		return ret;
	if (!params->timeout) {
		ret = ibrc_post_sends(qp, ibrc_num_sends(run)) ?:
		      ibrc_settle(run, IBRC_SETTLE);
		ibrc_expect_is(run, qp->tx.completed, 0, "completed without an answer");
		return ret;
	}
	ret = timed_sends(run);
	if (ret)
		return ret;
	expect_first_fails(run, IB_WC_RETRY_EXC_ERR);
	ibrc_expect_least(run, run->result->ns,
			  (params->retry + 1ULL) * (4096ULL << params->timeout), "ns at least");
	return 0;
}

/* Connections that end with outstanding WRs: the peer has no receive WRs, and the sender retries */

static int leave_outstanding(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	int ret;

	ret = ibrc_post_recvs(qp, run->params.depth) ?:
	      ibrc_post_sends(qp, ibrc_num_sends(run)) ?:
	      ibrc_settle(run, IBRC_SETTLE);
	ibrc_expect_is(run, qp->tx.completed, 0, "completed without a receive");
	return ret;
}

static void expect_flushed(struct ibrc_run *run, u64 sends, u64 recvs)
{
	expect_sends(run, IB_WC_WR_FLUSH_ERR, sends);
	expect_recvs(run, IB_WC_WR_FLUSH_ERR, recvs);
	expect_sends(run, IB_WC_SUCCESS, 0);
	expect_recvs(run, IB_WC_SUCCESS, 0);
	expect_state(ibrc_sender(run), IB_QPS_ERR);
}

static int until_flushed(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);

	return until_sends(run) ?:
	       ibrc_until(run, &qp->rx.completed, qp->rx.posted);
}

/**
 * ibrc_flush() - Scenario: a QP is taken to ERR, and its WRs are flushed. WRs that are posted then
 * are flushed too (10.3.1.7).
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_flush(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	u32 sends = ibrc_num_sends(run), recvs = num_recvs(qp);
	int ret;

	ret = leave_outstanding(run) ?:
	      ibprobe_set_state(qp->ib, IB_QPS_ERR) ?:
	      until_flushed(run);
	if (ret)
		return ret;
	expect_flushed(run, sends, recvs);

	ret = ibrc_post_sends(qp, sends) ?:
	      ibrc_post_recvs(qp, recvs) ?:
	      until_flushed(run);
	expect_flushed(run, 2 * sends, 2 * recvs);
	return ret;
}

/**
 * ibrc_drain() - Scenario: all WRs have completed when ib_drain_qp() returns.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_drain(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	int ret;

	ret = leave_outstanding(run);
	if (ret)
		return ret;
	ib_drain_qp(qp->ib);
	expect_flushed(run, ibrc_num_sends(run), num_recvs(qp));
	return 0;
}

/**
 * ibrc_destroy() - Scenario: a QP is destroyed while it sends, and none of its WRs completes
 * afterwards.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_destroy(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	u64 ended;
	int ret;

	ret = ibrc_post_recvs(qp, run->params.depth) ?:
	      ibrc_post_recvs(qp->peer, run->params.depth) ?:
	      ibrc_post_sends(qp, ibrc_num_sends(run));
	if (ret)
		return ret;
	ib_destroy_qp(qp->ib);
	qp->ib = NULL;
	ret = ibrc_settle(run, IBRC_SETTLE);
	/* Those of an SRQ's WRs are spoilt, as they have no QP any more */
	ended = qp->tx.completed + qp->rx.completed + ibrc_spoilt(run->result);
	ibrc_expect_is(run, ended, 0, "completions of a destroyed QP");
	ibrc_expect(run, run->result->received <= ibrc_num_sends(run),
		    run->result->received, ibrc_num_sends(run),
		    "messages of a destroyed QP, at most");
	return ret;
}

/* Other states */

static int begin_sqd(struct ibrc_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_SQD,
		.en_sqd_async_notify = 1,
	};

	return ib_modify_qp(qp->ib, &attr,
			    IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
}

/**
 * ibrc_sqd() - Scenario: a QP in SQD sends nothing but receives messages. It sends again when it is
 * back in RTS (10.3.1.5).
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_sqd(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run), *peer = qp->peer;
	u32 n = ibrc_num_sends(run);
	int ret;

	run->ends[0].repost = true;
	run->ends[1].repost = true;
	ret = ibrc_post_recvs(qp, run->params.depth) ?:
	      ibrc_post_recvs(peer, run->params.depth) ?:
	      begin_sqd(qp) ?:
	      ibrc_expect_events(run, IB_EVENT_SQ_DRAINED, 1, 0) ?:
	      ibrc_post_sends(qp, n) ?:
	      ibrc_post_sends(peer, n) ?:
	      ibrc_until(run, &qp->received, n) ?:
	      ibrc_settle(run, IBRC_SETTLE);
	ibrc_expect_is(run, peer->received, 0, "sent in SQD");
	return ret ?:
	       ibprobe_set_state(qp->ib, IB_QPS_RTS) ?:
	       ibrc_until(run, &peer->received, n) ?:
	       until_sends(run);
}

/**
 * ibrc_comm_est() - Scenario: a QP in RTR receives a message, and reports an event (11.6.3.1).
 * @run: the run, not connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_comm_est(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run), *peer = qp->peer;
	u32 n = ibrc_num_sends(run);
	int ret;

	ret = ibrc_to(peer, IB_QPS_INIT) ?:
	      ibrc_post_recvs(peer, run->params.depth) ?:
	      ibrc_to(qp, IB_QPS_INIT) ?:
	      ibrc_to(peer, IB_QPS_RTR) ?:
	      ibrc_to(qp, IB_QPS_RTR) ?:
	      ibrc_to(qp, IB_QPS_RTS) ?:
	      timed_sends(run);
	if (ret)
		return ret;
	expect_sends(run, IB_WC_SUCCESS, n);
	expect_received(run, n);
	expect_state(peer, IB_QPS_RTR);
	return ibrc_expect_events(run, IB_EVENT_COMM_EST, 1, 0) ?:
	       ibrc_to(peer, IB_QPS_RTS);
}
