// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: sends, receives and checks messages, and has the scenario "transfer", which does nothing
 * else. Only the thread of the run polls the CQs.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "ibrc.h"

#define IBRC_BATCH	64	/* how many completions are polled at once */

static struct ibrc_buf *to_buf(const struct ib_wc *wc)
{
	return container_of(wc->wr_cqe, struct ibrc_buf, cqe);
}

/* Sending */

/* Whether a message is signaled. The very last one is signaled in any case, so that its completion
 * is seen. If a queue were full of unsignaled WRs, it would never have room again.
 */
static bool is_signaled(const struct ibrc_params *params, u64 number)
{
	return (number + 1) % params->signal == 0 ||
	       number + 1 == params->count;
}

static u64 next_signaled(const struct ibrc_qp *qp)
{
	u64 number = qp->tx.completed;

	while (!is_signaled(&qp->end->run->params, number))
		number++;
	return number;
}

/* 10.8.3.3: sends complete in order. A WR that fails generates a completion even if it is not
 * signaled.
 */
static bool send_in_order(const struct ibrc_qp *qp, const struct ib_wc *wc,
			  u64 number)
{
	if (wc->status == IB_WC_SUCCESS)
		return !qp->failed && number == next_signaled(qp);
	if (qp->failed)
		return number == qp->tx.completed;
	return number >= qp->tx.completed && number <= next_signaled(qp);
}

/**
 * ibrc_send_done() - Process the completion of a send.
 * @cq: the CQ
 * @wc: the completion
 *
 * Context: the run.
 */
void ibrc_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibrc_buf *buf = to_buf(wc);
	struct ibrc_qp *qp = buf->qp;
	struct ibrc_result *result = qp->end->run->result;

	if (!buf->posted || !send_in_order(qp, wc, buf->number))
		result->spoilt[IBRC_SPOILT_ORDER]++;
	if (wc->qp != qp->ib)
		result->spoilt[IBRC_SPOILT_WC]++;
	result->sends[wc->status]++;
	if (wc->status != IB_WC_SUCCESS) {
		/* The unsignaled WRs before it have succeeded */
		if (!qp->failed)
			result->completed += buf->number - qp->tx.completed;
		qp->failed = true;
	} else {
		if (wc->opcode != IB_WC_SEND)
			result->spoilt[IBRC_SPOILT_WC]++;
		result->completed += buf->number + 1 - qp->tx.completed;
	}
	buf->posted = false;
	qp->tx.completed = buf->number + 1;
}

/* Corrupts a message on purpose, to test that the receiver detects it */
static void make_flaw(u8 *message, u32 length, struct ib_send_wr *wr)
{
	if (length)
		message[length - 1] ^= 1;
	if (wr->opcode == IB_WR_SEND_WITH_IMM)
		wr->ex.imm_data ^= cpu_to_be32(1);
}

static void fill_buf(struct ibrc_buf *buf, u32 length)
{
	struct ibrc_run *run = buf->end->run;

	ibrc_buf_cut(buf, length);
	ibprobe_buf_for_cpu(&buf->mem);
	ibrc_buf_scatter(buf, run->scratch, length);
	ibprobe_buf_for_device(&buf->mem);
}

static void fill_send(struct ibrc_buf *buf, struct ib_send_wr *wr)
{
	struct ibrc_run *run = buf->end->run;
	const struct ibrc_params *params = &run->params;
	u32 length = ibrc_message_length(params, buf->qp, buf->number);

	wr->opcode = IB_WR_SEND;
	if (ibrc_message_has_imm(params, buf->number)) {
		wr->opcode = IB_WR_SEND_WITH_IMM;
		wr->ex.imm_data = ibrc_message_imm(buf->number);
	}
	ibrc_message_fill(buf->qp, buf->number, run->scratch, length);
	if (buf->number + 1 == params->flaw)
		make_flaw(run->scratch, length, wr);
	fill_buf(buf, length);
	wr->wr_cqe = &buf->cqe;
	wr->sg_list = buf->sge;
	wr->num_sge = buf->num_sge;
	if (is_signaled(params, buf->number))
		wr->send_flags |= IB_SEND_SIGNALED;
	if (length && length <= params->inline_data) {
		wr->send_flags |= IB_SEND_INLINE;
		ibrc_buf_inline(buf);
	}
}

/* Posts the next message of a QP. Inline data is read before the verb returns (10.7.2.2), so its
 * buffer is overwritten afterwards.
 */
static int post_send(struct ibrc_qp *qp)
{
	struct ibrc_ring *ring = &qp->tx;
	struct ibrc_buf *buf = &ring->bufs[ring->posted % ring->depth];
	struct ib_send_wr wr = {};
	int ret;

	buf->number = ring->posted;
	fill_send(buf, &wr);
	buf->posted = true;
	ret = ib_post_send(qp->ib, &wr, NULL);
	if (ret) {
		buf->posted = false;
		return ret;
	}
	if (wr.send_flags & IB_SEND_INLINE)
		memset(buf->mem.data, IBRC_POISON, buf->mem.size);
	ring->posted++;
	qp->end->run->result->sent++;
	return 0;
}

/**
 * ibrc_post_sends() - Post the next messages of a QP.
 * @qp: the QP
 * @n: how many, for which the queue has room
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_post_sends(struct ibrc_qp *qp, u32 n)
{
	int ret = 0;

	ibrc_stage(qp->end->run, "post_send");
	while (n-- && !ret)
		ret = post_send(qp);
	return ret;
}

/* Receiving */

static int post_recv(struct ibrc_buf *buf)
{
	struct ib_recv_wr wr = {
		.wr_cqe = &buf->cqe,
		.sg_list = buf->sge,
		.num_sge = buf->num_sge,
	};
	int ret;

	buf->posted = true;
	ret = ibrc_recv(buf->end, buf->qp, &wr, NULL);
	if (ret) {
		buf->posted = false;
		return ret;
	}
	if (buf->qp)
		buf->number = buf->qp->rx.posted++;
	return 0;
}

static int post_ring(struct ibrc_ring *ring, u32 n)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < ring->depth && n && !ret; i++) {
		if (ring->bufs[i].posted)
			continue;
		ret = post_recv(&ring->bufs[i]);
		n--;
	}
	return ret;
}

/**
 * ibrc_post_recvs() - Post receive WRs.
 * @qp: the QP. If its end has an SRQ, they are posted there.
 * @n: how many; fewer if fewer buffers are free
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_post_recvs(struct ibrc_qp *qp, u32 n)
{
	struct ibrc_end *end = qp->end;

	ibrc_stage(end->run, "post_recv");
	return post_ring(end->srq ? &end->srq_ring : &qp->rx, n);
}

static void check_wc(const struct ibrc_qp *qp, const struct ib_wc *wc)
{
	const struct ibrc_params *params = &qp->end->run->params;
	struct ibrc_result *result = qp->end->run->result;
	bool imm = wc->wc_flags & IB_WC_WITH_IMM;

	if (wc->opcode != IB_WC_RECV ||
	    wc->wc_flags & (IB_WC_WITH_INVALIDATE | IB_WC_IP_CSUM_OK))
		result->spoilt[IBRC_SPOILT_WC]++;
	if (imm != ibrc_message_has_imm(params, qp->received) ||
	    (imm && wc->ex.imm_data != ibrc_message_imm(qp->received)))
		result->spoilt[IBRC_SPOILT_IMM]++;
}

static bool is_message(struct ibrc_qp *qp, struct ibrc_buf *buf, u64 number, u32 length)
{
	struct ibrc_run *run = qp->end->run;

	if (ibrc_message_length(&run->params, qp->peer, number) != length)
		return false;
	ibrc_message_fill(qp->peer, number, run->scratch, length);
	return !ibrc_buf_differs(buf, run->scratch, length);
}

/* An unreliable connection may lose messages. If this one is not the next one but a later one, the
 * others between them were lost. Otherwise it is spoilt.
 */
static void skip_lost(struct ibrc_qp *qp, struct ibrc_buf *buf, u32 length)
{
	struct ibrc_run *run = qp->end->run;
	u64 number = qp->received;

	while (number < run->params.count && !is_message(qp, buf, number, length))
		number++;
	if (number == run->params.count)
		return;
	run->result->lost += number - qp->received;
	qp->received = number;
}

static void check_message(struct ibrc_qp *qp, struct ibrc_buf *buf,
			  const struct ib_wc *wc)
{
	struct ibrc_run *run = qp->end->run;
	struct ibrc_result *result = run->result;
	u32 length;

	ibprobe_buf_for_cpu(&buf->mem);
	if (run->params.uc)
		skip_lost(qp, buf, wc->byte_len);
	check_wc(qp, wc);
	length = ibrc_message_length(&run->params, qp->peer, qp->received);
	if (wc->byte_len != length) {
		result->spoilt[IBRC_SPOILT_LENGTH]++;
		length = min(length, wc->byte_len);
	}
	ibrc_message_fill(qp->peer, qp->received, run->scratch, length);
	if (ibrc_buf_differs(buf, run->scratch, length))
		result->spoilt[IBRC_SPOILT_CONTENTS]++;
	if (!ibrc_buf_restore(buf, length))
		result->spoilt[IBRC_SPOILT_BEYOND]++;
	/* The poison must be visible to the HCA in the bytes that the next message does not
	 * overwrite
	 */
	ibprobe_buf_for_device(&buf->mem);
	result->bytes += length;
	result->received++;
	qp->received++;
}

/* The receive WRs of a QP complete in the order in which they were posted. Those of an SRQ complete
 * in any order, as several QPs take them.
 */
static bool recv_in_order(struct ibrc_buf *buf)
{
	if (!buf->posted)
		return false;
	return !buf->qp || buf->number == buf->qp->rx.completed++;
}

/* The QP of a receive completion: for an SRQ's WR that which the completion names. It may have been
 * destroyed, so only its address is used. NULL if it does not exist any more.
 */
static struct ibrc_qp *qp_of(const struct ibrc_buf *buf, const struct ib_wc *wc)
{
	struct ibrc_end *end = buf->end;
	u32 i;

	if (buf->qp)
		return buf->qp;
	for (i = 0; i < end->run->params.qps; i++)
		if (end->qps[i].ib == wc->qp)
			return &end->qps[i];
	return NULL;
}

/**
 * ibrc_recv_done() - Process the completion of a receive.
 * @cq: the CQ
 * @wc: the completion
 *
 * Context: the run.
 */
void ibrc_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibrc_buf *buf = to_buf(wc);
	struct ibrc_qp *qp = qp_of(buf, wc);
	struct ibrc_result *result = buf->end->run->result;

	if (!recv_in_order(buf))
		result->spoilt[IBRC_SPOILT_ORDER]++;
	buf->posted = false;
	result->recvs[wc->status]++;
	if (!qp || qp->ib != wc->qp) {
		result->spoilt[IBRC_SPOILT_WC]++;
		return;
	}
	if (wc->status != IB_WC_SUCCESS) {
		qp->failed = true;
		return;
	}
	check_message(qp, buf, wc);
	if (qp->end->repost && post_recv(buf))
		qp->failed = true;
}

/**
 * ibrc_note_ended() - Count a WR that has completed, and keep the completion.
 * @cq: the CQ
 * @wc: the completion
 *
 * Context: the run.
 */
void ibrc_note_ended(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibrc_ended *ended = container_of(wc->wr_cqe, struct ibrc_ended, cqe);

	ended->wc = *wc;
	ended->num++;
}

/* Polling */

/**
 * ibrc_poll() - Process completions.
 * @run: the run
 *
 * If there are none, this sleeps for a moment.
 *
 * Context: the run.
 * Return: 0, or -ENODEV if one of the HCAs is being removed.
 */
int ibrc_poll(struct ibrc_run *run)
{
	int i, n = 0;

	for (i = 0; i < 2; i++) {
		n += ib_process_cq_direct(run->ends[i].send_cq, IBRC_BATCH);
		n += ib_process_cq_direct(run->ends[i].recv_cq, IBRC_BATCH);
	}
	if (n)
		cond_resched();
	else
		usleep_range(20, 100);
	return ibrc_gone(run) ? -ENODEV : 0;
}

/**
 * ibrc_settle() - Process completions for some time.
 * @run: the run
 * @ms: for how long
 *
 * Context: the run.
 * Return: 0 or -ENODEV.
 */
int ibrc_settle(struct ibrc_run *run, u32 ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	int ret = 0;

	while (!ret && time_before(jiffies, end))
		ret = ibrc_poll(run);
	return ret;
}

/**
 * ibrc_until() - Process completions until a counter reaches a value.
 * @run: the run
 * @figure: the counter
 * @wanted: the value
 *
 * Context: the run.
 * Return: 0, -ENODEV, or -ETIMEDOUT if the counter did not change for too long.
 */
int ibrc_until(struct ibrc_run *run, const u64 *figure, u64 wanted)
{
	unsigned long begin = jiffies;
	u64 was = *figure;
	int ret = 0;

	while (!ret && *figure < wanted) {
		ret = ibrc_poll(run);
		if (was != *figure) {
			was = *figure;
			begin = jiffies;
		} else if (time_after(jiffies, begin + run->params.stall * HZ)) {
			ibrc_stage(run, "stalled");
			return -ETIMEDOUT;
		}
	}
	return ret;
}

/* Transfer */

static bool may_send(const struct ibrc_qp *qp)
{
	const struct ibrc_params *params = &qp->end->run->params;
	u64 posted = qp->tx.posted;

	if (posted == params->count || qp->failed ||
	    posted - qp->tx.completed >= params->depth)
		return false;
	return !params->credits ||
	       posted - qp->peer->received < params->depth;
}

/* Posts one message of each QP, so that the packets of different QPs are interleaved */
static int post_round(struct ibrc_end *end)
{
	u32 i;
	int ret;

	for (i = 0; i < end->run->params.qps; i++) {
		if (!may_send(&end->qps[i]))
			continue;
		ret = post_send(&end->qps[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static bool has_failed(const struct ibrc_run *run)
{
	u32 i;

	for (i = 0; i < run->params.qps; i++)
		if (run->ends[0].qps[i].failed || run->ends[1].qps[i].failed)
			return true;
	return false;
}

static int exchange(struct ibrc_run *run)
{
	const struct ibrc_params *params = &run->params;
	u64 wanted = (u64)params->count * params->qps << params->bidir, was = 0;
	struct ibrc_result *result = run->result;
	unsigned long begin = jiffies;
	int ret = 0;

	while (!ret && (result->received < wanted - params->lost ||
			result->completed < wanted)) {
		ret = post_round(&run->ends[0]);
		if (!ret && params->bidir)
			ret = post_round(&run->ends[1]);
		if (!ret)
			ret = ibrc_poll(run);
		if (has_failed(run))
			return -EIO;
		if (was != result->received + result->completed) {
			was = result->received + result->completed;
			begin = jiffies;
		} else if (time_after(jiffies, begin + params->stall * HZ)) {
			ibrc_stage(run, "stalled");
			return -ETIMEDOUT;
		}
	}
	return ret;
}

static int post_all_recvs(struct ibrc_end *end)
{
	const struct ibrc_params *params = &end->run->params;
	u32 i;
	int ret = 0;

	end->repost = true;
	for (i = 0; i < params->qps && !ret; i++)
		ret = ibrc_post_recvs(&end->qps[i], params->depth);
	return ret;
}

/* Messages that come after all expected ones, such as duplicates, are errors */
static int linger(struct ibrc_run *run)
{
	struct ibrc_result *result = run->result;
	u64 before = result->received;
	int ret;

	ret = ibrc_settle(run, run->params.linger);
	result->spoilt[IBRC_SPOILT_ORDER] += result->received - before;
	return ret;
}

/* After a failure, the remaining WRs of all connections are flushed and counted */
static void drain(struct ibrc_end *end)
{
	u32 i;

	for (i = 0; i < end->run->params.qps; i++)
		ib_drain_qp(end->qps[i].ib);
}

/**
 * ibrc_transfer() - Scenario: each connection transfers a number of messages, in one or both
 * directions.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0, or an error if not all messages arrived as they were sent.
 */
int ibrc_transfer(struct ibrc_run *run)
{
	u64 begin;
	int ret;

	ret = post_all_recvs(&run->ends[0]) ?:
	      post_all_recvs(&run->ends[1]);
	if (ret)
		return ret;
	ibrc_stage(run, "transfer");
	begin = ktime_get_ns();
	ret = exchange(run);
	run->result->ns = ktime_get_ns() - begin;
	if (!ret)
		ret = linger(run);
	run->ends[0].repost = false;
	run->ends[1].repost = false;
	if (ret) {
		drain(&run->ends[0]);
		drain(&run->ends[1]);
		return ret;
	}
	if (ibrc_spoilt(run->result))
		return -EBADMSG;
	ibrc_stage(run, "done");
	return 0;
}
