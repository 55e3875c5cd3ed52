// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Decides when the NAPI poll looks for completions of sends.
 *
 * An event for each CQE would cost more than processing the CQE. Events are requested only
 * while at least IPOIB_TX_REAP_SLOTS slots are in use or the TX queue is stopped. Otherwise
 * a timer has the CQ polled, once for all sends that are posted until it expires. Its time
 * is shorter if a slot holds an skb, as a socket may be waiting for this to be freed.
 */
#include "ipoib.h"

/**
 * ipoib_tx_reap() - schedule NAPI, and have it poll the CQ of a TX queue
 * @tx: the TX queue
 *
 * Context: any.
 */
void ipoib_tx_reap(struct ipoib_txq *tx)
{
	WRITE_ONCE(tx->reap, true);
	napi_schedule(tx->napi);
}

static void tx_look_later(struct ipoib_txq *tx)
{
	bool soon = (s32)(tx->sq.held - READ_ONCE(tx->sq.tail)) > 0;

	if (hrtimer_is_queued(&tx->reaper) && (tx->reaper_soon || !soon))
		return;
	tx->reaper_soon = soon;
	hrtimer_start(&tx->reaper, ns_to_ktime(soon ? IPOIB_TX_REAP_NS : IPOIB_TX_REAP_SMALL_NS),
		      HRTIMER_MODE_REL_PINNED);
}

/**
 * ipoib_tx_ask() - make sure that the completions of posted WRs are processed
 * @tx: the TX queue, after WRs have been posted to its QP
 *
 * Requests an event of the CQ or starts the timer, unless an event is due already.
 *
 * Context: BHs disabled, the lock of the TX queue held.
 */
void ipoib_tx_ask(struct ipoib_txq *tx)
{
	/* Orders the update of head before the reads below. If an event or a timer is
	 * found to be due here, the poll that it causes sees the new head.
	 */
	smp_mb();
	if (atomic_read(&tx->armed))
		return;
	if (ipoib_sq_used(&tx->sq) >= IPOIB_TX_REAP_SLOTS || netif_xmit_stopped(tx->queue)) {
		if (ipoib_cq_arm(tx->cq, &tx->armed))
			ipoib_tx_reap(tx);
	} else {
		tx_look_later(tx);
	}
}

/**
 * ipoib_tx_poll_end() - request an event of the CQ at the end of a poll
 * @tx: the TX queue
 *
 * Does nothing if no WR is outstanding or the timer is running. If the CQ is not empty, NAPI is
 * scheduled again.
 *
 * Context: NAPI poll, after napi_complete_done().
 */
void ipoib_tx_poll_end(struct ipoib_txq *tx)
{
	if (ipoib_sq_used(&tx->sq) && !hrtimer_is_queued(&tx->reaper) &&
	    ipoib_cq_arm(tx->cq, &tx->armed))
		ipoib_tx_reap(tx);
}

static enum hrtimer_restart tx_reaper(struct hrtimer *timer)
{
	ipoib_tx_reap(container_of(timer, struct ipoib_txq, reaper));
	return HRTIMER_NORESTART;
}

/**
 * ipoib_tx_reaper_init() - initialize the timer of a TX queue
 * @tx: the TX queue
 *
 * Context: any.
 */
void ipoib_tx_reaper_init(struct ipoib_txq *tx)
{
	hrtimer_setup(&tx->reaper, tx_reaper, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
}
