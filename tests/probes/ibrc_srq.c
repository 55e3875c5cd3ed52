// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: scenarios of shared receive queues (IBA volume 1, 10.2.9), which need "srq=1". They test
 * the SRQ of the second end.
 */
#include "ibrc.h"

static struct ibrc_end *receiver(struct ibrc_run *run)
{
	return &run->ends[1];
}

static void expect_limit(struct ibrc_end *end, u32 limit)
{
	struct ib_srq_attr attr = {};
	int ret;

	ret = ib_query_srq(end->srq, &attr);
	ibrc_expect(end->run, !ret, -ret, 0, "error of query_srq");
	ibrc_expect_is(end->run, attr.srq_limit, limit, "srq_limit");
}

static int arm(struct ibrc_end *end, u32 limit)
{
	struct ib_srq_attr attr = { .srq_limit = limit };

	return ib_modify_srq(end->srq, &attr, IB_SRQ_LIMIT);
}

static int send_and_wait(struct ibrc_run *run, u32 n)
{
	struct ibrc_qp *qp = &run->ends[0].qps[0];
	u64 wanted = qp->peer->received + n;

	return ibrc_post_sends(qp, n) ?:
	       ibrc_until(run, &qp->peer->received, wanted) ?:
	       ibrc_until(run, &qp->tx.completed, qp->tx.posted);
}

/* Takes WRs from the full SRQ until one less than the limit is left */
static int cross_limit(struct ibrc_run *run, u64 before)
{
	struct ibrc_end *end = receiver(run);
	u32 limit = run->params.depth / 2;
	int ret;

	ret = arm(end, limit);
	if (ret)
		return ret;
	expect_limit(end, limit);
	ret = send_and_wait(run, run->params.depth - limit) ?:
	      ibrc_expect_events(run, IB_EVENT_SRQ_LIMIT_REACHED, before, IBRC_SETTLE) ?:
	      send_and_wait(run, 1) ?:
	      ibrc_expect_events(run, IB_EVENT_SRQ_LIMIT_REACHED, before + 1, IBRC_SETTLE);
	expect_limit(end, 0);
	return ret;
}

/**
 * ibrc_srq_limit() - Scenario: an armed limit is reported once, when fewer receive WRs are left
 * (10.2.9.1).
 * @run: the run, connected, with one connection and at least four receive WRs
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_srq_limit(struct ibrc_run *run)
{
	struct ibrc_end *end = receiver(run);
	u32 depth = run->params.depth;

	if (!end->srq || run->params.qps != 1 || depth < 4)
		return -EINVAL;
	return ibrc_post_recvs(end->qps, depth) ?:
	       cross_limit(run, 0) ?:
	       send_and_wait(run, 1) ?:
	       ibrc_expect_events(run, IB_EVENT_SRQ_LIMIT_REACHED, 1, IBRC_SETTLE) ?:
	       ibrc_post_recvs(end->qps, depth) ?:
	       cross_limit(run, 1);
}

static int fail_all(struct ibrc_end *end)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < end->run->params.qps && !ret; i++)
		ret = ibprobe_set_state(end->qps[i].ib, IB_QPS_ERR);
	return ret;
}

/**
 * ibrc_last_wqe() - Scenario: each QP with an SRQ reports an event when it goes to ERR and takes no
 * more WRs from the SRQ (11.6.3.2), and only then.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_last_wqe(struct ibrc_run *run)
{
	struct ibrc_end *end = receiver(run);
	u32 i, n = run->params.qps, got;
	int ret;

	if (!end->srq)
		return -EINVAL;
	ret = ibrc_post_recvs(end->qps, run->params.depth * n) ?:
	      fail_all(end) ?:
	      ibrc_expect_events(run, IB_EVENT_QP_LAST_WQE_REACHED, n, IBRC_SETTLE) ?:
	      fail_all(end) ?:
	      ibrc_expect_events(run, IB_EVENT_QP_LAST_WQE_REACHED, n, IBRC_SETTLE);
	for (i = 0; i < n; i++) {
		got = atomic_read(&end->qps[i].last_wqe);
		ibrc_expect_is(run, got, 1, "events of QP %u", i);
	}
	return ret;
}

/**
 * ibrc_srq_attrs() - Scenario: an SRQ has at least the requested size, and refuses a larger limit.
 * @run: the run
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_srq_attrs(struct ibrc_run *run)
{
	const struct ibrc_params *params = &run->params;
	struct ibrc_end *end = receiver(run);
	u32 wrs = params->depth * params->qps;
	struct ib_srq_attr attr = {};
	int ret;

	if (!end->srq)
		return -EINVAL;
	ret = ib_query_srq(end->srq, &attr);
	if (ret)
		return ret;
	ibrc_expect_least(run, attr.max_wr, wrs, "max_wr");
	ibrc_expect_least(run, attr.max_sge, params->sge, "max_sge");
	expect_limit(end, 0);
	ret = arm(end, attr.max_wr + 1);
	ibrc_expect_error(run, ret, EINVAL, "limit beyond max_wr");
	expect_limit(end, 0);
	ret = arm(end, attr.max_wr);
	expect_limit(end, attr.max_wr);
	return ret;
}
