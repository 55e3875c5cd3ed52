// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues (10.2.9): receive WRs that several QPs take, in the order in which their
 * messages begin.
 */
#include "ibfab.h"

/**
 * ibfab_create_srq() - Verb: create a shared receive queue.
 * @ibsrq: the SRQ, zeroed by the core
 * @init: the attributes; max_wr is raised to the actual size
 * @udata: not used, as there are no user verbs
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP (the HCA has no SRQs, or none of that type), -EINVAL or -ENOMEM.
 */
int ibfab_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct ibfab_hca *hca = to_hca(ibsrq->device);
	struct ibfab_srq *srq = to_srq(ibsrq);
	struct ib_srq_attr *attr = &init->attr;
	int ret;

	if (!hca->caps.srq || init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > hca->caps.max_qp_wr ||
	    attr->max_sge > hca->caps.max_recv_sge || attr->srq_limit > attr->max_wr)
		return -EINVAL;
	ret = ibfab_queue_init_recv(&srq->queue, attr->max_wr, attr->max_sge);
	if (ret)
		return ret;
	srq->hca = hca;
	srq->limit = attr->srq_limit;
	INIT_LIST_HEAD(&srq->event_node);
	attr->max_wr = srq->queue.size;
	return 0;
}

/**
 * ibfab_modify_srq() - Verb: arm the limit of a shared receive queue.
 * @ibsrq: the SRQ
 * @attr: the limit, 0 to disarm it
 * @mask: which attributes to modify; the size cannot be changed
 * @udata: not used
 *
 * IB_EVENT_SRQ_LIMIT_REACHED is reported once, when a WR is taken and fewer than the limit are left
 * (10.2.9.1).
 *
 * Context: any.
 * Return: 0, -EOPNOTSUPP or -EINVAL.
 */
int ibfab_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct ibfab_srq *srq = to_srq(ibsrq);
	unsigned long flags;

	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->queue.size)
		return -EINVAL;
	spin_lock_irqsave(&srq->queue.lock, flags);
	WRITE_ONCE(srq->limit, attr->srq_limit);
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	return 0;
}

/**
 * ibfab_query_srq() - Verb: query the attributes of a shared receive queue.
 * @ibsrq: the queue
 * @attr: filled in; the limit is 0 after it was reached
 *
 * Context: any.
 * Return: 0.
 */
int ibfab_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct ibfab_srq *srq = to_srq(ibsrq);

	attr->max_wr = srq->queue.size;
	attr->max_sge = srq->queue.max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

/**
 * ibfab_destroy_srq() - Verb: destroy a shared receive queue.
 * @ibsrq: the SRQ, which no QP uses
 * @udata: not used
 *
 * Context: process; waits for the engine, so no event is reported after it returns.
 * Return: 0.
 */
int ibfab_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct ibfab_srq *srq = to_srq(ibsrq);

	tasklet_disable(&srq->hca->engine);
	list_del_init(&srq->event_node);
	tasklet_enable(&srq->hca->engine);
	ibfab_queue_free(&srq->queue);
	return 0;
}

/**
 * ibfab_post_srq_recv() - Verb: post receive WRs to a shared queue.
 * @ibsrq: the SRQ
 * @wr: a list of WRs, which are copied
 * @bad_wr: set to the first WR that is not posted
 *
 * Context: any.
 * Return: 0, -EINVAL (too many SGEs), -ENOMEM (queue full) or -EIO (HCA unplugged).
 */
int ibfab_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct ibfab_queue *queue = &to_srq(ibsrq)->queue;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&queue->lock, flags);
	for (; wr; wr = wr->next) {
		ret = READ_ONCE(to_srq(ibsrq)->hca->dead) ? -EIO :
		      ibfab_queue_post_recv(queue, ibsrq->device, wr);
		if (ret)
			break;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	if (ret)
		*bad_wr = wr;
	return ret;
}

/* Whether fewer WRs are left than the limit, which is disarmed in this case */
static bool limit_reached(struct ibfab_srq *srq)
{
	struct ibfab_queue *queue = &srq->queue;
	unsigned long flags;
	bool reached;

	if (!READ_ONCE(srq->limit))
		return false;
	spin_lock_irqsave(&queue->lock, flags);
	reached = queue->prod - queue->cons < srq->limit;
	if (reached)
		WRITE_ONCE(srq->limit, 0);
	spin_unlock_irqrestore(&queue->lock, flags);
	return reached;
}

/**
 * ibfab_srq_pop() - Release the slot of the oldest WR.
 * @srq: the SRQ, which is not empty
 *
 * Context: the engine.
 */
void ibfab_srq_pop(struct ibfab_srq *srq)
{
	ibfab_queue_pop(&srq->queue);
	if (limit_reached(srq))
		ibfab_event_srq(srq);
}
