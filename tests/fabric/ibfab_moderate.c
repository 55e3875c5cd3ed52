// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Moderation of CQs. The handler is called when a number of completions have gathered, or some time
 * after the first of them. Completions with an error and solicited ones do not wait.
 */
#include "ibfab.h"

static enum hrtimer_restart period_over(struct hrtimer *timer)
{
	struct ibfab_cq *cq = container_of(timer, struct ibfab_cq, timer);

	WRITE_ONCE(cq->period_over, true);
	ibfab_engine_kick(cq->hca);
	return HRTIMER_NORESTART;
}

/**
 * ibfab_moderate_init() - Initialize a CQ without moderation.
 * @cq: the queue
 *
 * Context: process.
 */
void ibfab_moderate_init(struct ibfab_cq *cq)
{
	INIT_LIST_HEAD(&cq->moderated);
	hrtimer_setup(&cq->timer, period_over, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/**
 * ibfab_modify_cq() - Verb: moderate a completion queue.
 * @ibcq: the queue
 * @count: how many completions gather before the handler is called
 * @period: after how many microseconds the handler is called for fewer completions
 *
 * If either is zero, the handler is called for each completion. Completions that have gathered
 * already are reported soon.
 *
 * Context: process; waits for the engine.
 * Return: 0, or -EINVAL if the HCA does not moderate for so long.
 */
int ibfab_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	u16 most = to_hca(ibcq->device)->caps.max_cq_period;
	struct ibfab_cq *cq = to_cq(ibcq);

	if (most && period > most)
		return -EINVAL;
	tasklet_disable(&cq->hca->engine);
	cq->gather = period ? count : 0;
	cq->period_us = period;
	WRITE_ONCE(cq->period_over, true);
	tasklet_enable(&cq->hca->engine);
	ibfab_engine_kick(cq->hca);
	return 0;
}

static void end(struct ibfab_cq *cq)
{
	cq->gathered = 0;
	list_del_init(&cq->moderated);
}

/**
 * ibfab_moderate_hold() - Decide whether a completion waits for others.
 * @cq: its queue, which is moderated
 *
 * Context: the engine, the queue's lock held.
 * Return: true if the handler is not called for it yet.
 */
bool ibfab_moderate_hold(struct ibfab_cq *cq)
{
	if (++cq->gathered >= cq->gather) {
		end(cq);
		return false;
	}
	if (list_empty(&cq->moderated)) {
		list_add_tail(&cq->moderated, &cq->hca->moderated);
		WRITE_ONCE(cq->period_over, false);
		hrtimer_start(&cq->timer, ns_to_ktime(cq->period_us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	}
	return true;
}

static void expire(struct ibfab_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	end(cq);
	ibfab_cq_fire(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * ibfab_moderate_run() - Report completions that have waited long enough.
 * @hca: the HCA
 *
 * Context: the engine.
 */
void ibfab_moderate_run(struct ibfab_hca *hca)
{
	struct ibfab_cq *cq, *tmp;

	list_for_each_entry_safe(cq, tmp, &hca->moderated, moderated)
		if (READ_ONCE(cq->period_over))
			expire(cq);
}

/**
 * ibfab_moderate_stop() - End a CQ's moderation.
 * @cq: the queue, which is about to be destroyed
 *
 * Context: process; the engine is disabled.
 */
void ibfab_moderate_stop(struct ibfab_cq *cq)
{
	list_del_init(&cq->moderated);
	hrtimer_cancel(&cq->timer);
}
