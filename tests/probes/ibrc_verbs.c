// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: scenarios of errors that verbs return, and of the attributes that they report.
 */
#include <linux/slab.h>

#include "ibrc.h"

/* For WRs that must not complete: they are refused, their QP is not connected, or the peer has no
 * receive WRs. Those of a QP that fails go when it is reset.
 */
static void stray_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibrc_end *end = cq->cq_context;

	end->run->result->spoilt[IBRC_SPOILT_ORDER]++;
}

static struct ib_cqe stray = { .done = stray_done };

/* Full queues */

static int post_empty_send(struct ibrc_qp *qp)
{
	struct ib_send_wr wr = {
		.wr_cqe = &stray,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(qp->ib, &wr, NULL);
}

static int post_empty_recv(struct ibrc_qp *qp)
{
	struct ib_recv_wr wr = { .wr_cqe = &stray };

	return ibrc_recv(qp->end, qp, &wr, NULL);
}

static void fill_queue(struct ibrc_qp *qp, int (*post)(struct ibrc_qp *qp),
		       u32 room, const char *what)
{
	u32 n = 0;
	int ret;

	do {
		ret = post(qp);
	} while (!ret && ++n <= room);
	ibrc_expect_is(qp->end->run, n, room, "%s", what);
	ibrc_expect_error(qp->end->run, ret, ENOMEM, what);
}

/**
 * ibrc_queue_full() - Scenario: a queue takes as many WRs as it is deep, and no more.
 * @run: the run, connected. The peer has no receive WRs, so the sends do not complete.
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_queue_full(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	struct ib_srq_attr srq = {};
	struct ib_qp_attr attr = {};
	int ret;

	ret = ibrc_query(qp, &attr);
	if (!ret && qp->end->srq)
		ret = ib_query_srq(qp->end->srq, &srq);
	if (ret)
		return ret;
	fill_queue(qp, post_empty_send, attr.cap.max_send_wr, "sends");
	fill_queue(qp, post_empty_recv, qp->end->srq ? srq.max_wr : attr.cap.max_recv_wr,
		   "receives");
	ret = ibrc_settle(run, IBRC_SETTLE);
	ibrc_expect_is(run, run->result->spoilt[IBRC_SPOILT_ORDER], 0, "completions");
	return ret;
}

/* Too much in one work request */

/* A send before an invalid one, and what the peer receives. Static, because receive WRs stay posted
 * when the scenario returns.
 */
static struct ibrc_ended before_invalid = { .cqe.done = ibrc_note_ended };
static struct ibrc_ended received = { .cqe.done = ibrc_note_ended };

static int expect_messages(struct ibrc_qp *qp)
{
	struct ib_recv_wr wrs[2] = {
		{ .wr_cqe = &received.cqe, .next = &wrs[1] },
		{ .wr_cqe = &received.cqe },
	};

	before_invalid.num = 0;
	received.num = 0;
	return ibrc_recv(qp->end, qp, wrs, NULL);
}

/* Posts three sends, of which the second one has this list */
static void post_three(struct ibrc_qp *qp, struct ib_sge *sge, u32 n, u32 send_flags,
		       const char *what)
{
	struct ib_send_wr wrs[3] = {};
	const struct ib_send_wr *bad = NULL;
	int ret, i;

	for (i = 0; i < 3; i++) {
		wrs[i].wr_cqe = i ? &stray : &before_invalid.cqe;
		wrs[i].opcode = IB_WR_SEND;
		wrs[i].send_flags = IB_SEND_SIGNALED;
		wrs[i].next = i < 2 ? &wrs[i + 1] : NULL;
	}
	wrs[1].sg_list = sge;
	wrs[1].num_sge = n;
	wrs[1].send_flags |= send_flags;
	ret = ib_post_send(qp->ib, wrs, &bad);
	ibrc_expect_error(qp->end->run, ret, EINVAL, what);
	ibrc_expect_is(qp->end->run, bad - wrs, 1, "bad_wr");
}

/* The WR before the invalid one is posted and completes, the one after it is not */
static int refuse_sges(struct ibrc_qp *qp, struct ib_sge *sge, u32 n, u32 send_flags,
		       const char *what)
{
	struct ibrc_run *run = qp->end->run;
	int ret;

	ret = expect_messages(qp->peer);
	if (ret)
		return ret;
	post_three(qp, sge, n, send_flags, what);
	ret = ibrc_until(run, &before_invalid.num, 1) ?:
	      ibrc_settle(run, IBRC_SETTLE);
	ibrc_expect_is(run, before_invalid.wc.status, IB_WC_SUCCESS, "status of the send before %s",
		       what);
	ibrc_expect_is(run, received.num, 1, "%s: messages received", what);
	return ret;
}

static void refuse_recv_sges(struct ibrc_qp *qp, struct ib_sge *sge, u32 n)
{
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr wr = {
		.wr_cqe = &stray,
		.sg_list = sge,
		.num_sge = n,
	};
	int ret;

	ret = ibrc_recv(qp->end, qp, &wr, &bad);
	ibrc_expect_error(qp->end->run, ret, EINVAL, "receive SGEs");
	ibrc_expect_is(qp->end->run, bad - &wr, 0, "bad_wr");
}

static int recv_sges(struct ibrc_qp *qp, const struct ib_qp_attr *attr)
{
	struct ib_srq_attr srq = {};
	int ret;

	if (!qp->end->srq)
		return attr->cap.max_recv_sge;
	ret = ib_query_srq(qp->end->srq, &srq);
	return ret ?: srq.max_sge;
}

/* All SGEs refer to the same byte of a buffer */
static struct ib_sge *make_sges(struct ibrc_qp *qp, u32 n)
{
	struct ib_sge *sge = kcalloc(n, sizeof(*sge), GFP_KERNEL);
	u32 i;

	for (i = 0; sge && i < n; i++)
		sge[i] = ibprobe_sge(qp->end->pd, qp->tx.bufs[0].mem.addr, 1);
	return sge;
}

static int refuse_inline(struct ibrc_qp *qp, u32 most)
{
	u8 *data = kzalloc(most + 1, GFP_KERNEL);
	struct ib_sge sge = ibprobe_sge(qp->end->pd, (uintptr_t)data, most + 1);
	int ret;

	if (!data)
		return -ENOMEM;
	ret = refuse_sges(qp, &sge, 1, IB_SEND_INLINE, "inline data");
	kfree(data);
	return ret;
}

/**
 * ibrc_too_large() - Scenario: a WR has one SGE, inline or not, or one byte of inline data, more
 * than the QP supports.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_too_large(struct ibrc_run *run)
{
	struct ibrc_qp *qp = ibrc_sender(run);
	struct ib_qp_attr attr = {};
	struct ib_sge *sge;
	int ret, recv;

	ret = ibrc_query(qp, &attr);
	if (ret)
		return ret;
	recv = recv_sges(qp, &attr);
	if (recv < 0)
		return recv;
	sge = make_sges(qp, max_t(u32, recv, attr.cap.max_send_sge) + 1);
	if (!sge)
		return -ENOMEM;
	ret = refuse_sges(qp, sge, attr.cap.max_send_sge + 1, 0, "send SGEs") ?:
	      refuse_sges(qp, sge, attr.cap.max_send_sge + 1, IB_SEND_INLINE, "inline SGEs");
	refuse_recv_sges(qp, sge, recv + 1);
	kfree(sge);
	return ret ?: refuse_inline(qp, attr.cap.max_inline_data);
}

/* Attributes */

static void expect_av(struct ibrc_run *run, struct rdma_ah_attr *got,
		      struct rdma_ah_attr *wanted)
{
	ibrc_expect_is(run, rdma_ah_get_dlid(got), rdma_ah_get_dlid(wanted), "dlid");
	ibrc_expect_is(run, rdma_ah_get_sl(got), rdma_ah_get_sl(wanted), "sl");
	ibrc_expect_is(run, rdma_ah_get_ah_flags(got), rdma_ah_get_ah_flags(wanted), "ah_flags");
	ibrc_expect_is(run, rdma_ah_get_port_num(got), rdma_ah_get_port_num(wanted),
		       "port of the path");
	if (!(rdma_ah_get_ah_flags(wanted) & IB_AH_GRH))
		return;
	ibrc_expect_is(run, memcmp(&got->grh.dgid, &wanted->grh.dgid, sizeof(union ib_gid)), 0,
		       "dgid");
	ibrc_expect_is(run, got->grh.hop_limit, wanted->grh.hop_limit, "hop_limit");
}

static void expect_cap(struct ibrc_run *run, const struct ib_qp_cap *cap)
{
	const struct ibrc_params *params = &run->params;

	ibrc_expect_least(run, cap->max_send_wr, params->depth, "max_send_wr");
	ibrc_expect_least(run, cap->max_send_sge, params->sge, "max_send_sge");
	ibrc_expect_least(run, cap->max_inline_data, params->inline_data, "max_inline_data");
	if (params->srq)
		return;
	ibrc_expect_least(run, cap->max_recv_wr, params->depth, "max_recv_wr");
	ibrc_expect_least(run, cap->max_recv_sge, params->sge, "max_recv_sge");
}

static void expect_attrs(struct ibrc_run *run, const struct ib_qp_attr *got,
			 const struct ib_qp_attr *wanted)
{
	ibrc_expect_is(run, got->qp_state, wanted->qp_state, "qp_state");
	ibrc_expect_is(run, got->port_num, wanted->port_num, "port_num");
	ibrc_expect_is(run, got->pkey_index, wanted->pkey_index, "pkey_index");
	ibrc_expect_is(run, got->qp_access_flags, wanted->qp_access_flags, "qp_access_flags");
	ibrc_expect_is(run, got->path_mtu, wanted->path_mtu, "path_mtu");
	ibrc_expect_is(run, got->dest_qp_num, wanted->dest_qp_num, "dest_qp_num");
	ibrc_expect_is(run, got->rq_psn, wanted->rq_psn, "rq_psn");
	ibrc_expect_is(run, got->sq_psn, wanted->sq_psn, "sq_psn");
	ibrc_expect_is(run, got->max_dest_rd_atomic, wanted->max_dest_rd_atomic,
		       "max_dest_rd_atomic");
	ibrc_expect_is(run, got->max_rd_atomic, wanted->max_rd_atomic, "max_rd_atomic");
	ibrc_expect_is(run, got->min_rnr_timer, wanted->min_rnr_timer, "min_rnr_timer");
	ibrc_expect_is(run, got->timeout, wanted->timeout, "timeout");
	ibrc_expect_is(run, got->retry_cnt, wanted->retry_cnt, "retry_cnt");
	ibrc_expect_is(run, got->rnr_retry, wanted->rnr_retry, "rnr_retry");
}

static int check_attrs(struct ibrc_qp *qp)
{
	struct ib_qp_attr got = {}, wanted;
	struct ibrc_run *run = qp->end->run;
	struct ib_qp_init_attr init = {};
	bool created;
	int ret;

	ret = ibrc_attr(qp, IB_QPS_RTS, &wanted);
	if (ret < 0)
		return ret;
	ret = ib_query_qp(qp->ib, &got, ~0, &init);
	if (ret)
		return ret;
	expect_attrs(run, &got, &wanted);
	expect_av(run, &got.ah_attr, &wanted.ah_attr);
	expect_cap(run, &got.cap);
	created = init.send_cq == qp->end->send_cq &&
		  init.recv_cq == qp->end->recv_cq &&
		  init.srq == qp->end->srq && init.qp_type == IB_QPT_RC &&
		  init.sq_sig_type == IB_SIGNAL_REQ_WR;
	ibrc_expect_is(run, created, true, "what it was created with");
	return 0;
}

/**
 * ibrc_attrs() - Scenario: query_qp returns the attributes that were set by modify_qp.
 * @run: the run, connected without the connection manager
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_attrs(struct ibrc_run *run)
{
	int ret;

	ret = check_attrs(&run->ends[0].qps[0]);
	return ret ?: check_attrs(&run->ends[1].qps[0]);
}

/* Transitions */

/* Expects that modify_qp fails, and changes nothing */
static void refuse(struct ibrc_qp *qp, struct ib_qp_attr *attr, int mask,
		   const char *what)
{
	enum ib_qp_state before = ibrc_state(qp), after;
	struct ibrc_run *run = qp->end->run;
	int ret;

	ret = ib_modify_qp(qp->ib, attr, mask);
	after = ibrc_state(qp);
	ibrc_expect(run, ret == -EINVAL, -ret, EINVAL,
		    "%s, from state %u to %u, mask %x: error", what, before,
		    attr->qp_state, mask);
	ibrc_expect_is(run, after, before, "%s: state", what);
}

/* Leaves out each mandatory attribute in turn, and then adds one that an RC QP does not have */
static void refuse_masks(struct ibrc_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr;
	int bit, mask = ibrc_attr(qp, state, &attr);

	for (bit = 0; bit < 32; bit++)
		if (mask & BIT(bit) & ~IB_QP_STATE)
			refuse(qp, &attr, mask & ~BIT(bit), "lacks one");
	refuse(qp, &attr, mask | IB_QP_QKEY, "with a Q_Key");
	attr.cur_qp_state = IB_QPS_SQE;
	refuse(qp, &attr, mask | IB_QP_CUR_STATE, "from another state");
}

static void refuse_init_values(struct ibrc_qp *qp)
{
	struct ib_qp_attr good, attr;
	int mask = ibrc_attr(qp, IB_QPS_INIT, &good);

	/* No larger one: ib_core takes the port's data from an array before it calls the driver */
	attr = good;
	attr.port_num = 0;
	refuse(qp, &attr, mask, "port_num");
	attr = good;
	attr.pkey_index = qp->end->port.pkey_tbl_len;
	refuse(qp, &attr, mask, "pkey_index");
}

static void refuse_rtr_values(struct ibrc_qp *qp)
{
	struct ib_qp_attr good, attr;
	int mask = ibrc_attr(qp, IB_QPS_RTR, &good);

	attr = good;
	attr.path_mtu = 0;
	refuse(qp, &attr, mask, "path_mtu");
	attr = good;
	attr.path_mtu = qp->end->port.max_mtu + 1;
	refuse(qp, &attr, mask, "path_mtu");
	attr = good;
	attr.min_rnr_timer = 32;
	refuse(qp, &attr, mask, "min_rnr_timer");
}

static void refuse_rts_values(struct ibrc_qp *qp)
{
	struct ib_qp_attr good, attr;
	int mask = ibrc_attr(qp, IB_QPS_RTS, &good);

	attr = good;
	attr.timeout = 32;
	refuse(qp, &attr, mask, "timeout");
	attr = good;
	attr.retry_cnt = 8;
	refuse(qp, &attr, mask, "retry_cnt");
	attr = good;
	attr.rnr_retry = 8;
	refuse(qp, &attr, mask, "rnr_retry");
}

static void refuse_states(struct ibrc_qp *qp, unsigned long states)
{
	struct ib_qp_attr attr;
	unsigned int state;
	int mask;

	for_each_set_bit(state, &states, BITS_PER_LONG) {
		mask = ibrc_attr(qp, state, &attr);
		refuse(qp, &attr, mask, "no such transition");
	}
}

static void expect_posts(struct ibrc_qp *qp, int send, int recv)
{
	ibrc_expect_error(qp->end->run, post_empty_send(qp), send, "a send in this state");
	if (!qp->end->srq)
		ibrc_expect_error(qp->end->run, post_empty_recv(qp), recv,
				  "a receive in this state");
}

/**
 * struct station - A state of a QP on the way of this test
 * @refused: bits of the states to which there is no transition
 * @next: the next state
 * @refuse_values: tries invalid attributes for the next state; NULL if it needs none
 * @send: the error of a send that is posted in this state, or 0
 * @recv: the error of a receive that is posted in this state, or 0
 */
struct station {
	unsigned long refused;
	enum ib_qp_state next;
	void (*refuse_values)(struct ibrc_qp *qp);
	int send;
	int recv;
};

#define SQ_STATES	(BIT(IB_QPS_SQD) | BIT(IB_QPS_SQE))

/* From RESET through INIT, RTR, RTS and ERR back to RESET */
static const struct station stations[] = {
	{ BIT(IB_QPS_RTR) | BIT(IB_QPS_RTS) | SQ_STATES, IB_QPS_INIT, refuse_init_values,
	  EINVAL, EINVAL },
	{ BIT(IB_QPS_RTS) | SQ_STATES, IB_QPS_RTR, refuse_rtr_values, EINVAL, 0 },
	{ BIT(IB_QPS_INIT) | BIT(IB_QPS_RTR) | SQ_STATES, IB_QPS_RTS, refuse_rts_values,
	  EINVAL, 0 },
	{ BIT(IB_QPS_INIT) | BIT(IB_QPS_RTR) | BIT(IB_QPS_SQE), IB_QPS_ERR },
	{ BIT(IB_QPS_INIT) | BIT(IB_QPS_RTR) | BIT(IB_QPS_RTS) | SQ_STATES, IB_QPS_RESET },
};

static int pass(struct ibrc_qp *qp, const struct station *station)
{
	if (station->refuse_values)
		expect_posts(qp, station->send, station->recv);
	refuse_states(qp, station->refused);
	if (!station->refuse_values)
		return ibprobe_set_state(qp->ib, station->next);
	refuse_masks(qp, station->next);
	station->refuse_values(qp);
	return ibrc_to(qp, station->next);
}

/**
 * ibrc_transitions() - Scenario: modify_qp only accepts what 11.2.5.2 allows, and changes nothing
 * if it fails. The QP can be used afterwards.
 * @run: the run, not connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_transitions(struct ibrc_run *run)
{
	int ret = 0, i;

	for (i = 0; i < ARRAY_SIZE(stations) && !ret; i++)
		ret = pass(ibrc_sender(run), &stations[i]);
	return ret ?: ibrc_connect(run) ?: ibrc_transfer(run);
}

/* Limits of the HCA */

static void try_qp(struct ibrc_qp *qp, const struct ib_qp_cap *cap, int wanted,
		   const char *what)
{
	struct ib_qp *ib = ibrc_qp_make(qp, cap);

	ibrc_expect_error(qp->end->run, PTR_ERR_OR_ZERO(ib), wanted, what);
	if (!IS_ERR(ib))
		ib_destroy_qp(ib);
}

/* One limit at a time: an HCA need not have all of them at once */
static void try_qp_limit(struct ibrc_qp *qp, struct ib_qp_cap *cap, u32 *value, u32 most,
			 const char *what)
{
	*value = most;
	try_qp(qp, cap, 0, what);
	*value = most + 1;
	try_qp(qp, cap, EINVAL, what);
	*value = 1;
}

static void try_qps(struct ibrc_qp *qp)
{
	const struct ib_device_attr *attrs = &qp->end->ibdev->attrs;
	struct ib_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};

	try_qp_limit(qp, &cap, &cap.max_send_wr, attrs->max_qp_wr, "max_send_wr");
	try_qp_limit(qp, &cap, &cap.max_recv_wr, attrs->max_qp_wr, "max_recv_wr");
	try_qp_limit(qp, &cap, &cap.max_send_sge, attrs->max_send_sge, "max_send_sge");
	try_qp_limit(qp, &cap, &cap.max_recv_sge, attrs->max_recv_sge, "max_recv_sge");
}

static void try_srq(struct ibrc_qp *qp, u32 wrs, u32 sges, int wanted,
		    const char *what)
{
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC,
		.attr = { .max_wr = wrs, .max_sge = sges },
	};
	struct ib_srq *srq = ib_create_srq(qp->end->pd, &init);

	ibrc_expect_error(qp->end->run, PTR_ERR_OR_ZERO(srq), wanted, what);
	if (!IS_ERR(srq))
		ib_destroy_srq(srq);
}

static void try_srqs(struct ibrc_qp *qp)
{
	const struct ib_device_attr *attrs = &qp->end->ibdev->attrs;

	if (!attrs->max_srq) {
		try_srq(qp, 1, 1, EOPNOTSUPP, "SRQ where there are none");
		return;
	}
	try_srq(qp, attrs->max_srq_wr, 1, 0, "max_srq_wr");
	try_srq(qp, attrs->max_srq_wr + 1, 1, EINVAL, "max_srq_wr");
	try_srq(qp, 1, attrs->max_srq_sge, 0, "max_srq_sge");
	try_srq(qp, 1, attrs->max_srq_sge + 1, EINVAL, "max_srq_sge");
}

/**
 * ibrc_create_beyond() - Scenario: QPs and SRQs can be as large in each respect as the HCA reports,
 * and not larger.
 * @run: the run, not connected, without an SRQ
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_create_beyond(struct ibrc_run *run)
{
	if (run->params.srq)
		return -EINVAL;
	try_qps(ibrc_sender(run));
	try_srqs(ibrc_sender(run));
	return 0;
}
