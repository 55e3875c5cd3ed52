// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What rings of packets have in common, whichever way these go. */
#include "ipoib.h"

/**
 * ipoib_ring_account() - count what a poll moved
 * @stats: the ring's; it has one poller, which alone writes them
 * @packets: how many
 * @bytes: their octets
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
 * ipoib_cq_arm() - ask for the next event of a CQ
 * @cq: the CQ
 * @armed: whether one is due yet; whoever takes the event clears it
 *
 * Context: any; once too often is no harm.
 * Return: true if one was missed: the CQ is to be polled.
 */
bool ipoib_cq_arm(struct ib_cq *cq, bool *armed)
{
	if (READ_ONCE(*armed))
		return false;
	WRITE_ONCE(*armed, true);
	if (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) <= 0)
		return false;
	WRITE_ONCE(*armed, false);
	return true;
}
