// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When the poll looks for completions of sends.
 *
 * An event for each CQE would cost more than the CQE. It is asked for once
 * IPOIB_TX_REAP_SLOTS are in use, or the queue was stopped; a few sends are looked for
 * later, by a timer that is started once for all that come meanwhile. Where a packet waits
 * to be freed, that is a moment later: its socket may wait for it.
 */
#include "ipoib.h"

/**
 * ipoib_tx_reap() - have the poll look at the CQ of a TX queue
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
 * ipoib_tx_ask() - see to it that what has been posted is reaped
 * @tx: the TX queue, of which something has just been posted
 *
 * Context: BHs disabled, the lock of the TX queue held.
 */
void ipoib_tx_ask(struct ipoib_txq *tx)
{
	/* Pairs with ipoib_cq_arm()'s callers: whoever takes back what is found here
	 * to be under way, polls after that, and finds the new head.
	 */
	smp_mb();
	if (READ_ONCE(tx->armed))
		return;
	if (ipoib_sq_used(&tx->sq) >= IPOIB_TX_REAP_SLOTS || netif_xmit_stopped(tx->queue)) {
		if (ipoib_cq_arm(tx->cq, &tx->armed))
			ipoib_tx_reap(tx);
	} else {
		tx_look_later(tx);
	}
}

/**
 * ipoib_tx_poll_end() - leave a TX queue to events, if anything of it is under way
 * @tx: the TX queue
 *
 * Context: NAPI poll, completed.
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
 * ipoib_tx_reaper_init() - prepare the timer of a TX queue
 * @tx: the TX queue
 *
 * Context: any.
 */
void ipoib_tx_reaper_init(struct ipoib_txq *tx)
{
	hrtimer_init(&tx->reaper, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
	tx->reaper.function = tx_reaper;
}
