// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs: creating and destroying them, their states, and posting WRs to them. The engine
 * processes the WRs.
 */
#include "ibfab.h"

#define IBFAB_QP_FLAGS (IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | \
			IB_QP_CREATE_IPOIB_UD_LSO)

/* As with mlx4, a QP with a shared receive queue cannot have its own as well */
static bool init_valid(const struct ibfab_hca *hca,
		       const struct ib_qp_init_attr *init)
{
	return init->send_cq && init->recv_cq && !(init->srq && init->cap.max_recv_wr) &&
	       ibfab_caps_qp_valid(&hca->caps, init);
}

static int type_supported(const struct ibfab_hca *hca,
			  const struct ib_qp_init_attr *init)
{
	u32 flags = IBFAB_QP_FLAGS;

	if (!hca->caps.mcast_block)
		flags &= ~IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	switch (init->qp_type) {
	case IB_QPT_SMI:
	case IB_QPT_GSI:
	case IB_QPT_UD:
		if (init->srq)
			return -EOPNOTSUPP;
		break;
	case IB_QPT_UC:
		if (!hca->caps.uc)
			return -EOPNOTSUPP;
		fallthrough;
	case IB_QPT_RC:
		flags = 0;
		break;
	default:
		return -EOPNOTSUPP;
	}
	return init->create_flags & ~flags ? -EOPNOTSUPP : 0;
}

static void free_queues(struct ibfab_qp *qp)
{
	ibfab_rc_destroy(qp);
	ibfab_queue_free(&qp->rq);
	ibfab_queue_free(&qp->sq);
}

/* A QP with a shared receive queue does not use its own */
static int alloc_recv(struct ibfab_qp *qp, struct ib_srq *srq,
		      const struct ib_qp_cap *cap)
{
	u32 max_sge = srq ? to_srq(srq)->queue.max_sge : cap->max_recv_sge;
	int ret;

	ret = srq ? ibfab_queue_init_recv(&qp->rq, 0, 0) :
		    ibfab_queue_init_recv(&qp->rq, cap->max_recv_wr, max_sge);
	if (ret || !ibfab_rc_is_connected(qp->ibqp.qp_type))
		return ret;
	return ibfab_rc_create(qp, max_sge);
}

static int alloc_queues(struct ibfab_qp *qp, const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;
	size_t room = max_t(size_t, cap->max_send_sge * sizeof(struct ib_sge),
			    cap->max_inline_data);
	int ret;

	room = ALIGN(room, sizeof(u64)) + ibfab_lso_room(qp->create_flags);
	ret = ibfab_queue_init(&qp->sq, cap->max_send_wr, cap->max_send_sge,
			       sizeof(struct ibfab_swr) + room) ?:
	      alloc_recv(qp, init->srq, cap);
	if (ret)
		free_queues(qp);
	return ret;
}

/* Each port has one QP0 and one QP1. All other QPs get the next free number. */
static int assign_number(struct ibfab_qp *qp, struct ib_qp_init_attr *init)
{
	struct ibfab_hca *hca = qp->hca;
	struct ibfab_port *port;
	int ret;

	if (init->qp_type != IB_QPT_SMI && init->qp_type != IB_QPT_GSI) {
		if (!atomic_add_unless(&hca->num_qps, 1, hca->caps.max_qp))
			return -ENOMEM;
		ret = xa_alloc_cyclic(&hca->qps, &qp->ibqp.qp_num, qp,
				      XA_LIMIT(2, IBFAB_QPN_MCAST - 1),
				      &hca->next_qpn, GFP_KERNEL);
		if (ret < 0)
			atomic_dec(&hca->num_qps);
		return min(ret, 0);
	}

	if (!rdma_is_port_valid(&hca->ibdev, init->port_num))
		return -EINVAL;
	port = &hca->node.ports[init->port_num];
	qp->ibqp.qp_num = init->qp_type == IB_QPT_GSI;
	qp->port_num = init->port_num;
	if (rcu_access_pointer(port->special[qp->ibqp.qp_num]))
		return -EBUSY;
	rcu_assign_pointer(port->special[qp->ibqp.qp_num], qp);
	return 0;
}

/**
 * ibfab_create_qp() - Verb: create a queue pair.
 * @ibqp: the QP, zeroed by the core except for its type and CQs
 * @init: the attributes; the sizes of the queues are raised to the actual ones
 * @udata: not used, as there are no user verbs
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP, -EINVAL, -EBUSY (a second QP0 or QP1) or -ENOMEM.
 */
int ibfab_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct ibfab_hca *hca = to_hca(ibqp->device);
	struct ibfab_qp *qp = to_qp(ibqp);
	int ret;

	ret = type_supported(hca, init);
	if (ret)
		return ret;
	if (!ibfab_offload_qp_valid(hca, init))
		return -EOPNOTSUPP;
	if (!init_valid(hca, init))
		return -EINVAL;
	qp->create_flags = init->create_flags;
	ret = alloc_queues(qp, init);
	if (ret)
		return ret;

	qp->hca = hca;
	qp->state = IB_QPS_RESET;
	qp->max_inline = init->cap.max_inline_data;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	INIT_LIST_HEAD(&qp->tx_node);
	INIT_LIST_HEAD(&qp->event_node);
	ibfab_pace_init(qp);

	ret = assign_number(qp, init);
	if (ret) {
		free_queues(qp);
		return ret;
	}
	init->cap.max_send_wr = qp->sq.size;
	init->cap.max_recv_wr = init->srq ? 0 : qp->rq.size;
	return 0;
}

/**
 * ibfab_qp_state() - The state of a QP.
 * @qp: the QP
 *
 * Context: any. The state may change at any time unless the lock of one of the QP's queues is held.
 * Return: the state.
 */
enum ib_qp_state ibfab_qp_state(const struct ibfab_qp *qp)
{
	return READ_ONCE(qp->state);
}

/* Sets the state of a QP. The engine processes the WRs accordingly. The state changes under the
 * locks of both queues, so whoever posts under one of them sees a constant state. The lock of the
 * receive queue is always taken inside that of the send queue. Only the owner of a QP can take it
 * out of RESET or ERR.
 */
static void set_state(struct ibfab_qp *qp, enum ib_qp_state state, bool owner)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->sq.lock, flags);
	spin_lock_nested(&qp->rq.lock, SINGLE_DEPTH_NESTING);
	if (owner || (qp->state != IB_QPS_RESET && qp->state != IB_QPS_ERR))
		WRITE_ONCE(qp->state, state);
	spin_unlock(&qp->rq.lock);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	ibfab_engine_kick_qp(qp);
}

/**
 * ibfab_qp_fail() - Take a QP to an error state.
 * @qp: the QP, which stays in RESET or ERR if its owner has taken it there
 * @state: IB_QPS_SQE or IB_QPS_ERR
 *
 * Context: the engine.
 */
void ibfab_qp_fail(struct ibfab_qp *qp, enum ib_qp_state state)
{
	set_state(qp, state, false);
}

/* 11.2.5.2: a QP that goes to RESET loses its WRs and their completions */
static void reset_qp(struct ibfab_qp *qp)
{
	set_state(qp, IB_QPS_RESET, true);
	tasklet_disable(&qp->hca->engine);
	ibfab_rc_reset(qp);
	ibfab_pace_stop(qp);
	ibfab_engine_forget_qp(qp);
	qp->sq.prod = 0;
	qp->sq.cons = 0;
	qp->rq.prod = 0;
	qp->rq.cons = 0;
	ibfab_cq_purge(to_cq(qp->ibqp.send_cq), qp);
	ibfab_cq_purge(to_cq(qp->ibqp.recv_cq), qp);
	tasklet_enable(&qp->hca->engine);
}

static int attr_check(const struct ibfab_qp *qp, const struct ib_qp_attr *attr,
		      int mask)
{
	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index >= ibfab_pkeys)
		return -EINVAL;
	if ((mask & IB_QP_PORT) &&
	    !rdma_is_port_valid(qp->ibqp.device, attr->port_num))
		return -EINVAL;
	return qp->rc ? ibfab_rc_attr_check(qp, attr, mask) : 0;
}

static void apply_attr(struct ibfab_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	if (mask & IB_QP_PKEY_INDEX)
		WRITE_ONCE(qp->pkey_index, attr->pkey_index);
	if (mask & IB_QP_PORT)
		WRITE_ONCE(qp->port_num, attr->port_num);
	if (mask & IB_QP_QKEY)
		WRITE_ONCE(qp->qkey, attr->qkey);
	if (mask & IB_QP_SQ_PSN)
		WRITE_ONCE(qp->sq_psn, attr->sq_psn & IBFAB_PSN_MASK);
	if (qp->rc)
		ibfab_rc_apply(qp, attr, mask);
}

/* 10.3.1.5: once the engine has been idle, all datagrams that were begun have been sent */
static void report_drained(struct ibfab_qp *qp)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = IB_EVENT_SQ_DRAINED,
	};

	tasklet_disable(&qp->hca->engine);
	tasklet_enable(&qp->hca->engine);
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/**
 * ibfab_modify_qp() - Verb: modify the attributes and the state of a QP.
 * @ibqp: the QP
 * @attr: the new values
 * @mask: which attributes to modify
 * @udata: not used
 *
 * Context: process; waits for the engine if the QP goes to RESET.
 * Return: 0, -EINVAL for a transition or a value that 11.2.5.2 does not allow, or -EOPNOTSUPP.
 */
int ibfab_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct ibfab_qp *qp = to_qp(ibqp);
	enum ib_qp_state now = ibfab_qp_state(qp), cur, next;
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : now;
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	if (cur != now || !ib_modify_qp_is_ok(cur, next, ibqp->qp_type, mask))
		return -EINVAL;
	ret = attr_check(qp, attr, mask);
	if (ret)
		return ret;

	apply_attr(qp, attr, mask);
	if (next == IB_QPS_RESET)
		reset_qp(qp);
	else if (next != cur)
		set_state(qp, next, true);

	if (next == IB_QPS_SQD && (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) &&
	    attr->en_sqd_async_notify && !qp->rc)
		report_drained(qp);
	return 0;
}

/**
 * ibfab_query_qp() - Verb: query the attributes of a QP.
 * @ibqp: the QP
 * @attr: filled in
 * @mask: which attributes the caller wants; all are filled in
 * @init: filled in
 *
 * Context: any.
 * Return: 0.
 */
int ibfab_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct ibfab_qp *qp = to_qp(ibqp);

	*attr = (struct ib_qp_attr) {
		.qp_state = ibfab_qp_state(qp),
		.cur_qp_state = ibfab_qp_state(qp),
		.pkey_index = READ_ONCE(qp->pkey_index),
		.port_num = READ_ONCE(qp->port_num),
		.qkey = READ_ONCE(qp->qkey),
		.sq_psn = READ_ONCE(qp->sq_psn),
		.cap = {
			.max_send_wr = qp->sq.size,
			.max_recv_wr = ibqp->srq ? 0 : qp->rq.size,
			.max_send_sge = qp->sq.max_sge,
			.max_recv_sge = qp->rq.max_sge,
			.max_inline_data = qp->max_inline,
		},
	};
	if (qp->rc)
		ibfab_rc_query(qp, attr);
	*init = (struct ib_qp_init_attr) {
		.event_handler = ibqp->event_handler,
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.cap = attr->cap,
		.sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR,
		.qp_type = ibqp->qp_type,
		.create_flags = qp->create_flags,
		.port_num = ibqp->port,
	};
	return 0;
}

/**
 * ibfab_destroy_qp() - Verb: destroy a queue pair.
 * @ibqp: the QP, whose completions are removed from its CQs
 * @udata: not used
 *
 * Context: process; waits for the engine.
 * Return: 0.
 */
int ibfab_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct ibfab_qp *qp = to_qp(ibqp);
	struct ibfab_hca *hca = qp->hca;

	if (ibqp->qp_num > 1) {
		xa_erase(&hca->qps, ibqp->qp_num);
		atomic_dec(&hca->num_qps);
	} else {
		RCU_INIT_POINTER(hca->node.ports[qp->port_num]
				 .special[ibqp->qp_num], NULL);
	}
	reset_qp(qp);
	free_queues(qp);
	return 0;
}

/* 10.7.2.2: inline data is read while the verb runs, so its L_Keys are not checked */
static int fill_inline(const struct ibfab_qp *qp, struct ibfab_swr *swr,
		       const struct ib_send_wr *wr)
{
	u32 at = 0;
	int i;

	if (swr->length > qp->max_inline)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(swr->inline_data + at,
		       (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		at += wr->sg_list[i].length;
	}
	return 0;
}

static int fill_sges(const struct ibfab_qp *qp, struct ibfab_swr *swr,
		     const struct ib_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		swr->sge[i] = wr->sg_list[i];
		ibfab_sge_resolve(qp->ibqp.device, &swr->sge[i]);
	}
	swr->num_sge = wr->num_sge;
	return 0;
}

static int fill_ud(struct ibfab_swr *swr, const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	if (wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_IMM &&
	    wr->opcode != IB_WR_LSO)
		return -EINVAL;
	if (!ud->ah)
		return -EINVAL;
	swr->remote_qpn = ud->remote_qpn & IBFAB_QPN_MASK;
	swr->remote_qkey = ud->remote_qkey;
	swr->pkey_index = ud->pkey_index;
	swr->av = to_ah(ud->ah)->av;
	return 0;
}

/* RDMA READ, atomic operations and those on memory regions are not supported */
static int fill_rc(struct ibfab_swr *swr, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return 0;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		swr->remote_addr = rdma_wr(wr)->remote_addr;
		swr->rkey = rdma_wr(wr)->rkey;
		return 0;
	default:
		return -EINVAL;
	}
}

static int fill_length(struct ibfab_swr *swr, const struct ib_send_wr *wr)
{
	u64 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	swr->length = length;
	return length <= IBFAB_MAX_MSG ? 0 : -EINVAL;
}

/* In ERR only the fields that flushing needs are filled in, because draining posts opcodes there
 * that the QP's type does not support
 */
static int fill_send(const struct ibfab_qp *qp, struct ibfab_swr *swr,
		     const struct ib_send_wr *wr)
{
	int ret;

	swr->wr_id = wr->wr_id;
	swr->opcode = wr->opcode;
	swr->flags = wr->send_flags;
	swr->imm = wr->ex.imm_data;
	swr->num_sge = 0;
	swr->length = 0;
	if (qp->state == IB_QPS_ERR)
		return 0;

	ret = qp->rc ? fill_rc(swr, wr) : fill_ud(swr, wr);
	if (!ret)
		ret = ibfab_offload_fill(qp, swr, wr);
	if (!ret)
		ret = fill_length(swr, wr);
	if (ret)
		return ret;
	/* mlx5's driver refuses too many SGEs with inline data as well */
	if (wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	return wr->send_flags & IB_SEND_INLINE ? fill_inline(qp, swr, wr) :
						 fill_sges(qp, swr, wr);
}

/* Called with the lock of one of the queues held. ib_core posts to QP0 and QP1 until the HCA is
 * unregistered. What is posted in ERR is flushed: ib_drain_qp() needs that, for which mlx5's driver
 * has verbs of its own.
 */
static bool is_dead(const struct ibfab_qp *qp)
{
	return READ_ONCE(qp->hca->dead) && qp->ibqp.qp_num > 1 && qp->state != IB_QPS_ERR;
}

/* Called with the send queue's lock held */
static int post_one_send(struct ibfab_qp *qp, const struct ib_send_wr *wr)
{
	struct ibfab_swr *swr;
	int ret;

	if (is_dead(qp))
		return -EIO;
	if (qp->state < IB_QPS_RTS)
		return -EINVAL;
	swr = ibfab_queue_room(&qp->sq);
	if (!swr)
		return -ENOMEM;
	ret = fill_send(qp, swr, wr);
	if (!ret)
		ibfab_queue_push(&qp->sq);
	return ret;
}

/**
 * ibfab_post_send() - Verb: post send WRs.
 * @ibqp: the QP
 * @wr: a list of WRs. The WRs, the contents of their AHs and inline data are copied; the
 *	engine reads other payload later.
 * @bad_wr: set to the first WR that is not posted
 *
 * Context: any.
 * Return: 0, -EINVAL (state, opcode or sizes), -ENOMEM (queue full) or -EIO (HCA
 * unplugged, and the QP not in ERR).
 */
int ibfab_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct ibfab_qp *qp = to_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		ret = post_one_send(qp, wr);
		if (ret)
			break;
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);

	if (ret)
		*bad_wr = wr;
	ibfab_engine_kick_qp(qp);
	return ret;
}

/* Called with the receive queue's lock held */
static int post_one_recv(struct ibfab_qp *qp, const struct ib_recv_wr *wr)
{
	if (is_dead(qp))
		return -EIO;
	if (qp->state == IB_QPS_RESET || qp->ibqp.srq)
		return -EINVAL;
	return ibfab_queue_post_recv(&qp->rq, qp->ibqp.device, wr);
}

/**
 * ibfab_post_recv() - Verb: post receive WRs.
 * @ibqp: the QP
 * @wr: a list of WRs, which are copied
 * @bad_wr: set to the first WR that is not posted
 *
 * Context: any.
 * Return: 0, -EINVAL (state, too many SGEs, or a QP with a shared queue), -ENOMEM (queue full) or
 * -EIO (HCA unplugged, and the QP not in ERR).
 */
int ibfab_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct ibfab_qp *qp = to_qp(ibqp);
	unsigned long flags;
	bool flush;
	int ret = 0;

	spin_lock_irqsave(&qp->rq.lock, flags);
	for (; wr; wr = wr->next) {
		ret = post_one_recv(qp, wr);
		if (ret)
			break;
	}
	flush = qp->state == IB_QPS_ERR;
	spin_unlock_irqrestore(&qp->rq.lock, flags);

	if (ret)
		*bad_wr = wr;
	if (flush)
		ibfab_engine_kick_qp(qp);
	return ret;
}
