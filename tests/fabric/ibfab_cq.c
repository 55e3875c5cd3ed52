// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues. Only the engine of an HCA adds CQEs to its CQs, so no completion handler is
 * ever called from within a verb.
 */
#include <linux/mm.h>

#include "ibfab.h"
#include "ibfab_meter.h"

/**
 * ibfab_create_cq() - Verb: create a completion queue.
 * @ibcq: zeroed by the core
 * @attr: its size and its completion vector
 * @udata: none, there are no user verbs
 *
 * Context: process.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int ibfab_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct compat_cq_udata *udata)
{
	const struct ibfab_caps *caps = &to_hca(ibcq->device)->caps;
	struct ibfab_cq *cq = to_cq(ibcq);

	if (!attr->cqe || attr->cqe > caps->max_cqe || attr->flags ||
	    attr->comp_vector >= caps->vectors)
		return -EINVAL;

	cq->ring = kvcalloc(attr->cqe, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	cq->hca = to_hca(ibcq->device);
	spin_lock_init(&cq->lock);
	INIT_LIST_HEAD(&cq->notify);
	INIT_LIST_HEAD(&cq->late);
	ibfab_moderate_init(cq);
	cq->limit = attr->cqe;
	ibcq->cqe = attr->cqe;
	return 0;
}

/**
 * ibfab_destroy_cq() - Verb: destroy a completion queue.
 * @ibcq: one that no QP uses
 * @udata: none
 *
 * Context: process; waits for the engine, so no handler runs after it returns.
 * Return: 0.
 */
int ibfab_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct ibfab_cq *cq = to_cq(ibcq);

	tasklet_disable(&cq->hca->engine);
	list_del_init(&cq->notify);
	list_del_init(&cq->late);
	ibfab_moderate_stop(cq);
	tasklet_enable(&cq->hca->engine);
	kvfree(cq->ring);
	return 0;
}

/**
 * ibfab_poll_cq() - Verb: take completions.
 * @ibcq: the queue
 * @num_entries: how many CQEs @wc has room for
 * @wc: filled in, oldest first
 *
 * Context: any.
 * Return: the number of CQEs taken.
 */
int ibfab_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct ibfab_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int n;

	spin_lock_irqsave(&cq->lock, flags);
	for (n = 0; n < num_entries && cq->count > cq->hidden; n++) {
		wc[n] = cq->ring[cq->head];
		if (++cq->head == ibcq->cqe)
			cq->head = 0;
		cq->count--;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/**
 * ibfab_req_notify_cq() - Verb: request a call of the handler for the next completion.
 * @ibcq: the queue
 * @flags: which completions count, and whether to report completions that are already there
 *
 * Context: any.
 * Return: 1 if IB_CQ_REPORT_MISSED_EVENTS is set and the queue is not empty, else 0.
 */
int ibfab_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	int kind = flags & IB_CQ_SOLICITED_MASK;
	struct ibfab_cq *cq = to_cq(ibcq);
	unsigned long irq;
	int missed;

	spin_lock_irqsave(&cq->lock, irq);
	/* 11.4.2.2: a request for solicited completions does not weaken one for any completion */
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = kind;
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) &&
		 cq->count > cq->hidden;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}

/* Called with the lock held. Returns false if the queue is full now or has overrun before. */
static bool ring_add(struct ibfab_cq *cq, const struct ib_wc *wc)
{
	unsigned int tail;

	if (cq->overrun)
		return false;
	if (cq->count >= cq->limit) {
		cq->overrun = true;
		cq->fail = true;
		return false;
	}
	tail = cq->head + cq->count;
	if (tail >= cq->ibcq.cqe)
		tail -= cq->ibcq.cqe;
	cq->ring[tail] = *wc;
	cq->count++;
	return true;
}

/**
 * ibfab_cq_fire() - Have the engine call the handler if the CQ is armed.
 * @cq: the queue
 *
 * Context: the engine, the queue's lock held.
 */
void ibfab_cq_fire(struct ibfab_cq *cq)
{
	if (!cq->armed)
		return;
	cq->armed = 0;
	cq->fire = true;
	if (list_empty(&cq->notify))
		list_add_tail(&cq->notify, &cq->hca->notify);
}

/**
 * ibfab_cq_completed() - Have the engine call the handler if it waits for this completion.
 * @cq: the queue, in which the completion is visible
 * @urgent: the completion is an error, or solicited
 *
 * Context: the engine, the queue's lock held.
 */
void ibfab_cq_completed(struct ibfab_cq *cq, bool urgent)
{
	if (cq->armed != IB_CQ_NEXT_COMP &&
	    !(cq->armed == IB_CQ_SOLICITED && urgent))
		return;
	if (cq->gather && !urgent && ibfab_moderate_hold(cq))
		return;
	ibfab_cq_fire(cq);
}

/**
 * ibfab_cq_set_full() - Make the next completion overrun the queue.
 * @cq: the queue
 *
 * Context: any.
 */
void ibfab_cq_set_full(struct ibfab_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->limit = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * ibfab_cq_push() - Add a completion.
 * @cq: the queue. If it is full, the completion is lost, IB_EVENT_CQ_ERR is reported, and
 *	the queue takes no further completions (11.6.3.1).
 * @wc: the completion, which is copied
 * @solicited: the sender requested a solicited event
 *
 * Context: the engine, which calls the handler at the end of its run.
 */
void ibfab_cq_push(struct ibfab_cq *cq, const struct ib_wc *wc, bool solicited)
{
	bool urgent = solicited || wc->status != IB_WC_SUCCESS;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (ring_add(cq, wc) &&
	    !(ibfab_fault_any() && ibfab_late_hide(cq, urgent)))
		ibfab_cq_completed(cq, urgent);
	if (cq->fail && list_empty(&cq->notify))
		list_add_tail(&cq->notify, &cq->hca->notify);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * ibfab_cq_notify() - Call the handlers of a queue that are due.
 * @cq: the queue, which is no longer in &ibfab_hca.notify
 *
 * Context: the engine, no lock held.
 */
void ibfab_cq_notify(struct ibfab_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};
	unsigned long flags;
	bool fire, fail;
	cycles_t begin;

	spin_lock_irqsave(&cq->lock, flags);
	fire = cq->fire;
	fail = cq->fail;
	cq->fire = false;
	cq->fail = false;
	/* Handlers are called with interrupts off, as from the interrupt of real hardware. Lockdep
	 * reports handlers that rely on softirq context.
	 */
	spin_unlock(&cq->lock);
	begin = ibfab_meter_now();
	if (fail && cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	if (fire && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	ibfab_meter_except(begin);
	local_irq_restore(flags);
}

/**
 * ibfab_cq_purge() - Remove the completions of a QP.
 * @cq: the queue, or NULL
 * @qp: a QP that is about to be reset or destroyed (11.2.5.4)
 *
 * Context: the engine is disabled.
 */
void ibfab_cq_purge(struct ibfab_cq *cq, const struct ibfab_qp *qp)
{
	unsigned int i, from, to, kept = 0, shown;
	unsigned long flags;

	if (!cq)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	shown = cq->count - cq->hidden;
	for (i = 0; i < cq->count; i++) {
		from = (cq->head + i) % cq->ibcq.cqe;
		if (cq->ring[from].qp == &qp->ibqp) {
			cq->hidden -= i >= shown;
			continue;
		}
		to = (cq->head + kept++) % cq->ibcq.cqe;
		if (to != from)
			cq->ring[to] = cq->ring[from];
	}
	cq->count = kept;
	spin_unlock_irqrestore(&cq->lock, flags);
}
