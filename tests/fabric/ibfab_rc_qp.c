// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reliable connections: the attributes of RC QPs, and what happens when their state changes.
 */
#include <linux/slab.h>

#include "ibfab.h"

#define IBFAB_MAX_TIMEOUT	31	/* five bits each */
#define IBFAB_MAX_RNR_TIMER	31
#define IBFAB_MAX_RETRY		7	/* three bits each */

static void kick_timer(struct timer_list *timer)
{
	struct ibfab_rc *rc = timer_container_of(rc, timer, timer);

	ibfab_engine_kick_qp(rc->qp);
}

/**
 * ibfab_rc_create() - Allocate the connection of an RC QP.
 * @qp: the QP
 * @max_recv_sge: maximum number of SGEs of its receive WRs
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ibfab_rc_create(struct ibfab_qp *qp, u32 max_recv_sge)
{
	struct ibfab_rc *rc = kzalloc(sizeof(*rc), GFP_KERNEL);

	if (!rc)
		return -ENOMEM;
	rc->resp.wr = kzalloc(struct_size(rc->resp.wr, sge, max_recv_sge),
			      GFP_KERNEL);
	if (!rc->resp.wr) {
		kfree(rc);
		return -ENOMEM;
	}
	rc->qp = qp;
	timer_setup(&rc->timer, kick_timer, 0);
	INIT_LIST_HEAD(&rc->resp.ack_node);
	qp->rc = rc;
	return 0;
}

/**
 * ibfab_rc_destroy() - Free the connection of a QP.
 * @qp: the QP, which was reset; other QPs than RC QPs have no connection
 *
 * Context: process.
 */
void ibfab_rc_destroy(struct ibfab_qp *qp)
{
	if (!qp->rc)
		return;
	kfree(qp->rc->resp.wr);
	kfree(qp->rc);
	qp->rc = NULL;
}

/**
 * ibfab_rc_reset() - Reset the connection of a QP.
 * @qp: the QP in RESET; other QPs than RC QPs have no connection
 *
 * Context: process, the engine is disabled.
 */
void ibfab_rc_reset(struct ibfab_qp *qp)
{
	struct ibfab_rc *rc = qp->rc;
	struct ibfab_rwr *wr;

	if (!rc)
		return;
	timer_delete_sync(&rc->timer);
	wr = rc->resp.wr;
	list_del(&rc->resp.ack_node);
	memset(&rc->req, 0, sizeof(rc->req));
	memset(&rc->resp, 0, sizeof(rc->resp));
	rc->resp.wr = wr;
	INIT_LIST_HEAD(&rc->resp.ack_node);
	rc->report_drained = false;
}

static bool av_valid(const struct ibfab_qp *qp, const struct rdma_ah_attr *av)
{
	if (!rdma_is_port_valid(qp->ibqp.device, rdma_ah_get_port_num(av)) ||
	    !ibfab_lid_is_ucast(rdma_ah_get_dlid(av)))
		return false;
	return !ibfab_av_has_grh(av) ||
	       rdma_ah_read_grh(av)->sgid_index < IBFAB_GUID_TABLE_LEN;
}

/* Whether an attribute is either not set or not larger than the maximum */
static bool within(int set, u32 value, u32 max)
{
	return !set || value <= max;
}

static bool path_valid(const struct ibfab_qp *qp,
		       const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_AV) && !av_valid(qp, &attr->ah_attr))
		return false;
	if ((mask & IB_QP_PATH_MTU) &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > qp->hca->caps.mtu))
		return false;
	return within(mask & IB_QP_DEST_QPN, attr->dest_qp_num, IBFAB_QPN_MASK);
}

static bool limits_valid(const struct ib_qp_attr *attr, int mask)
{
	return within(mask & IB_QP_TIMEOUT, attr->timeout, IBFAB_MAX_TIMEOUT) &&
	       within(mask & IB_QP_RETRY_CNT, attr->retry_cnt, IBFAB_MAX_RETRY) &&
	       within(mask & IB_QP_RNR_RETRY, attr->rnr_retry, IBFAB_MAX_RETRY) &&
	       within(mask & IB_QP_MIN_RNR_TIMER, attr->min_rnr_timer, IBFAB_MAX_RNR_TIMER) &&
	       within(mask & IB_QP_MAX_QP_RD_ATOMIC, attr->max_rd_atomic, IBFAB_MAX_RD_ATOMIC) &&
	       within(mask & IB_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic,
		      IBFAB_MAX_RD_ATOMIC);
}

/**
 * ibfab_rc_attr_check() - Check attributes of a connection.
 * @qp: the QP
 * @attr: the values
 * @mask: which attributes are set
 *
 * Context: any.
 * Return: 0, -EINVAL, or -EOPNOTSUPP for an alternate path.
 */
int ibfab_rc_attr_check(const struct ibfab_qp *qp,
			const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PATH_MIG_STATE) &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	return path_valid(qp, attr, mask) && limits_valid(attr, mask) ?
	       0 : -EINVAL;
}

static void apply_path(struct ibfab_rc *rc, const struct ib_qp_attr *attr,
		       int mask)
{
	if (mask & IB_QP_AV) {
		rc->av = attr->ah_attr;
		rc->av.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_PATH_MTU)
		rc->path_mtu = attr->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		rc->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		rc->access = attr->qp_access_flags;
}

static void apply_limits(struct ibfab_rc *rc, const struct ib_qp_attr *attr,
			 int mask)
{
	if (mask & IB_QP_TIMEOUT)
		rc->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT) {
		rc->retry_cnt = attr->retry_cnt;
		rc->req.retries = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		rc->rnr_retry = attr->rnr_retry;
		rc->req.rnr_retries = attr->rnr_retry;
	}
	if (mask & IB_QP_MIN_RNR_TIMER)
		rc->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		rc->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		rc->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

static void apply_psns(struct ibfab_rc *rc, const struct ib_qp_attr *attr,
		       int mask)
{
	if (mask & IB_QP_RQ_PSN) {
		rc->rq_psn = attr->rq_psn & IBFAB_PSN_MASK;
		rc->resp.epsn = rc->rq_psn;
	}
	if (mask & IB_QP_SQ_PSN) {
		rc->req.una = attr->sq_psn & IBFAB_PSN_MASK;
		rc->req.next = rc->req.una;
		rc->req.high = rc->req.una;
	}
}

/**
 * ibfab_rc_apply() - Set attributes of a connection.
 * @qp: the QP
 * @attr: the values, which were checked
 * @mask: which attributes to set; if only the state is set, there is no need to wait for the
 *	engine
 *
 * Context: process.
 */
void ibfab_rc_apply(struct ibfab_qp *qp, const struct ib_qp_attr *attr,
		    int mask)
{
	struct ibfab_rc *rc = qp->rc;

	if (!(mask & ~(IB_QP_STATE | IB_QP_CUR_STATE)))
		return;
	tasklet_disable(&qp->hca->engine);
	apply_path(rc, attr, mask);
	apply_limits(rc, attr, mask);
	apply_psns(rc, attr, mask);
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		rc->report_drained = attr->en_sqd_async_notify;
	tasklet_enable(&qp->hca->engine);
}

/**
 * ibfab_rc_query() - Query the attributes of a connection.
 * @qp: the QP
 * @attr: the connection's attributes are filled in
 *
 * Context: any.
 */
void ibfab_rc_query(const struct ibfab_qp *qp, struct ib_qp_attr *attr)
{
	const struct ibfab_rc *rc = qp->rc;

	attr->ah_attr = rc->av;
	attr->path_mtu = rc->path_mtu;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->dest_qp_num = rc->dest_qpn;
	attr->qp_access_flags = rc->access;
	attr->rq_psn = READ_ONCE(rc->resp.epsn);
	attr->sq_psn = READ_ONCE(rc->req.high);
	attr->timeout = rc->timeout;
	attr->retry_cnt = rc->retry_cnt;
	attr->rnr_retry = rc->rnr_retry;
	attr->min_rnr_timer = rc->min_rnr_timer;
	attr->max_rd_atomic = rc->max_rd_atomic;
	attr->max_dest_rd_atomic = rc->max_dest_rd_atomic;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    READ_ONCE(rc->req.una) != READ_ONCE(rc->req.high);
}

/**
 * ibfab_rc_flush() - Flush the receive WR of a message that is incomplete.
 * @qp: the QP in ERR, whose other receive WRs are still in their queue
 *
 * Context: the engine.
 */
void ibfab_rc_flush(struct ibfab_qp *qp)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;

	qp->rc->req.timed = false;
	if (!resp->have_wr)
		return;
	resp->have_wr = false;
	ibfab_flush_recv(qp, resp->wr->wr_id);
}

/**
 * ibfab_rc_flushed() - Report that all WRs of a QP are flushed.
 * @qp: the QP in ERR. If it has a shared receive queue, its owner is told once that the QP
 *	takes no more WRs from it and that those it took have completed (10.2.9.3, 11.6.3.1).
 *
 * Context: the engine.
 */
void ibfab_rc_flushed(struct ibfab_qp *qp)
{
	struct ibfab_rc_resp *resp = &qp->rc->resp;

	if (!qp->ibqp.srq || resp->last_wqe || READ_ONCE(qp->hca->dead))
		return;
	resp->last_wqe = true;
	ibfab_event_qp(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}
