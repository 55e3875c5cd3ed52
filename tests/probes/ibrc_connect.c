// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: the states of QPs, and connections without the connection manager. As both ends are in this
 * kernel, each end gets the QPN and the PSN of the other directly.
 */
#include <rdma/ib_cache.h>

#include "ibrc.h"

#define IBRC_HOP_LIMIT	64

/* Fills in the address vector of the peer. The SL is 0 in both directions. */
static int fill_av(const struct ibrc_qp *qp, struct rdma_ah_attr *av)
{
	const struct ibrc_end *end = qp->end, *peer = qp->peer->end;
	bool roce = rdma_protocol_roce(end->ibdev, IBRC_PORT);
	const struct ib_gid_attr *gid;

	ibprobe_ah_attr(av, end->ibdev, IBRC_PORT, peer->port.lid,
			end->run->params.grh || roce ? &peer->gid : NULL);
	av->grh.hop_limit = IBRC_HOP_LIMIT;
	if (!roce)
		return 0;
	gid = rdma_get_gid_attr(peer->ibdev, IBRC_PORT, 0);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	rdma_read_gid_l2_fields(gid, NULL, av->roce.dmac);
	rdma_put_gid_attr(gid);
	return 0;
}

static enum ib_mtu path_mtu(const struct ibrc_qp *qp)
{
	const struct ibrc_params *params = &qp->end->run->params;

	if (params->mtu)
		return ib_mtu_int_to_enum(params->mtu);
	return min(qp->end->port.active_mtu, qp->peer->end->port.active_mtu);
}

static int unreliable_mask(enum ib_qp_state state)
{
	return state == IB_QPS_RTS ? IB_QP_STATE | IB_QP_SQ_PSN :
				     IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				     IB_QP_RQ_PSN;
}

/**
 * ibrc_attr() - The attributes that take a QP to its next state.
 * @qp: the QP
 * @state: INIT, RTR or RTS
 * @attr: filled in
 *
 * Context: the run.
 * Return: the mask of the attributes, which are those that 11.2.5.2 requires, or an error.
 */
int ibrc_attr(const struct ibrc_qp *qp, enum ib_qp_state state,
	      struct ib_qp_attr *attr)
{
	const struct ibrc_params *params = &qp->end->run->params;
	int ret;

	*attr = (struct ib_qp_attr) {
		.qp_state = state,
		.port_num = IBRC_PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE,
		.path_mtu = path_mtu(qp),
		.dest_qp_num = qp->peer->ib->qp_num,
		.rq_psn = qp->peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = params->rnr_timer,
		.sq_psn = qp->psn,
		.timeout = params->timeout,
		.retry_cnt = params->retry,
		.rnr_retry = params->rnr,
		.max_rd_atomic = 1,
	};
	ret = fill_av(qp, &attr->ah_attr);
	if (ret)
		return ret;

	if (params->uc && state != IB_QPS_INIT)
		return unreliable_mask(state);
	switch (state) {
	case IB_QPS_INIT:
		return IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
		       IB_QP_ACCESS_FLAGS;
	case IB_QPS_RTR:
		return IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
		       IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		       IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	default:
		return IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
		       IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
		       IB_QP_MAX_QP_RD_ATOMIC;
	}
}

/**
 * ibrc_to() - Take a QP one state further from RESET to RTS.
 * @qp: the QP, in the preceding state
 * @state: INIT, RTR or RTS
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_to(struct ibrc_qp *qp, enum ib_qp_state state)
{
	static const char * const stages[] = {
		[IB_QPS_INIT] = "init",
		[IB_QPS_RTR] = "rtr",
		[IB_QPS_RTS] = "rts",
	};
	struct ib_qp_attr attr;
	int mask;

	ibrc_stage(qp->end->run, stages[state]);
	mask = ibrc_attr(qp, state, &attr);
	return mask < 0 ? mask : ib_modify_qp(qp->ib, &attr, mask);
}

/**
 * ibrc_query() - Verb: query the state and the capabilities of a QP.
 * @qp: the QP
 * @attr: filled in
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_query(struct ibrc_qp *qp, struct ib_qp_attr *attr)
{
	struct ib_qp_init_attr init;

	return ib_query_qp(qp->ib, attr, IB_QP_STATE | IB_QP_CAP, &init);
}

/**
 * ibrc_state() - The state of a QP, as the HCA reports it.
 * @qp: the QP
 *
 * Context: the run.
 * Return: the state. If the query fails, IB_QPS_RESET; the expectation that it succeeds fails too.
 */
enum ib_qp_state ibrc_state(struct ibrc_qp *qp)
{
	struct ib_qp_attr attr = {};
	int ret;

	ret = ibrc_query(qp, &attr);
	ibrc_expect(qp->end->run, !ret, -ret, 0, "error of query_qp");
	return attr.qp_state;
}

static int connect_by_hand(struct ibrc_run *run)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS,
	};
	u32 i, s;
	int ret;

	for (s = 0; s < ARRAY_SIZE(states); s++) {
		for (i = 0; i < run->params.qps; i++) {
			ret = ibrc_to(&run->ends[0].qps[i], states[s]) ?:
			      ibrc_to(&run->ends[1].qps[i], states[s]);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/**
 * ibrc_connect() - Connect all QPs of a run.
 * @run: the run; its QPs are in RESET
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_connect(struct ibrc_run *run)
{
	ibrc_stage(run, "connect");
	return run->params.cm ? ibrc_cm_connect(run) : connect_by_hand(run);
}

/**
 * ibrc_disconnect() - End all connections of a run.
 * @run: the run; its QPs may be in any state
 *
 * Context: the run.
 */
void ibrc_disconnect(struct ibrc_run *run)
{
	if (run->params.cm)
		ibrc_cm_disconnect(run);
}
