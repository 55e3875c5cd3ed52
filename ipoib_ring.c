// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Functions common to send and receive rings. */
#include "ipoib.h"

/**
 * ipoib_ring_account() - count the packets of a poll
 * @stats: counters of the ring; only its NAPI poll writes them
 * @packets: number of packets
 * @bytes: octets of these packets
 *
 * Context: softirq.
 */
void ipoib_ring_account(struct ipoib_ring_stats *stats, unsigned int packets,
			unsigned int bytes)
{
	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->packets, packets);
	u64_stats_add(&stats->bytes, bytes);
	u64_stats_inc(&stats->polls);
	u64_stats_update_end(&stats->syncp);
}

/**
 * ipoib_ring_read() - read the counters of a ring
 * @stats: the counters
 *
 * Context: any but the ring's NAPI poll.
 * Return: the counters, all as of the same poll.
 */
struct ipoib_ring_figures ipoib_ring_read(const struct ipoib_ring_stats *stats)
{
	struct ipoib_ring_figures figures;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->syncp);
		figures.packets = u64_stats_read(&stats->packets);
		figures.bytes = u64_stats_read(&stats->bytes);
		figures.polls = u64_stats_read(&stats->polls);
	} while (u64_stats_fetch_retry(&stats->syncp, start));
	return figures;
}

/**
 * ipoib_cq_arm() - request the next event of a CQ
 * @cq: the CQ
 * @armed: whether an event is due already, in which case nothing happens. The handler of the event
 *	clears it
 *
 * An unnecessary call does no harm. But if several CPUs requested the same event, one of them could
 * do so after it has come, and an HCA that numbers the requests would ignore that.
 *
 * Context: any.
 * Return: true if the CQ may have CQEs for which no event will come: the caller has to have it
 * polled.
 */
bool ipoib_cq_arm(struct ib_cq *cq, atomic_t *armed)
{
	if (atomic_read(armed) || atomic_xchg(armed, true))
		return false;
	if (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) <= 0)
		return false;
	atomic_set(armed, false);
	return true;
}

/**
 * ipoib_cq_purge() - discard the CQEs of a CQ
 * @cq: the CQ; it is not polled, and its QPs hold no WRs or are being reset
 * @wc: memory for IPOIB_WC_BATCH CQEs
 *
 * Not every HCA discards the CQEs of a QP that is reset. They would be taken for CQEs of the WRs
 * that are posted when the QP is started again.
 *
 * Context: control path.
 */
void ipoib_cq_purge(struct ib_cq *cq, struct ib_wc *wc)
{
	int left = cq->cqe, n;

	do {
		n = ib_poll_cq(cq, IPOIB_WC_BATCH, wc);
		left -= n;
	} while (n > 0 && left > 0);
}

/**
 * ipoib_pool_map() - have a pool map its pages for an HCA
 * @ibdev: the HCA
 * @params: parameters of the pool; their order is set
 *
 * The pool maps pages while it owns them, and syncs them for the HCA when they are recycled. A
 * software HCA uses the kernel's virtual addresses and needs neither.
 *
 * Context: any.
 */
void ipoib_pool_map(struct ib_device *ibdev, struct page_pool_params *params)
{
	if (ib_uses_virt_dma(ibdev))
		return;
	params->flags |= PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV;
	params->dev = ibdev->dma_device;
	params->dma_dir = DMA_FROM_DEVICE;
	params->max_len = PAGE_SIZE << params->order;
}
