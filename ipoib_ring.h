/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Common to send and receive rings.
 */
#ifndef _IPOIB_RING_H
#define _IPOIB_RING_H

#include <linux/u64_stats_sync.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

#define IPOIB_RING_MIN		64
#define IPOIB_RING_MAX		8192
#define IPOIB_WC_BATCH		16	/* CQEs per ib_poll_cq() */

/* Counters of a ring: written by its NAPI poll, read by others */
struct ipoib_ring_stats {
	struct u64_stats_sync syncp;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t polls;
};

/* The values of struct ipoib_ring_stats at one time */
struct ipoib_ring_figures {
	u64 packets;
	u64 bytes;
	u64 polls;
};

bool ipoib_cq_arm(struct ib_cq *cq, atomic_t *armed);
void ipoib_cq_purge(struct ib_cq *cq, struct ib_wc *wc);
void ipoib_pool_map(struct ib_device *ibdev, struct page_pool_params *params);
void ipoib_ring_account(struct ipoib_ring_stats *stats, unsigned int packets,
			unsigned int bytes);
struct ipoib_ring_figures ipoib_ring_read(const struct ipoib_ring_stats *stats);

/* Returns the address of a page of a pool for the HCA. Such pages are never in high memory. */
static inline u64 ipoib_pool_addr(struct ib_device *ibdev, struct page *page)
{
	return ib_uses_virt_dma(ibdev) ? (uintptr_t)page_address(page) :
					 page_pool_get_dma_addr(page);
}

/* Makes a packet of @len octets of a pool's page. If there is no memory for it, gives them back to
 * the pool, and returns NULL. The caller is a NAPI poll.
 */
static inline struct sk_buff *ipoib_pool_skb(struct page_pool *pool, struct page *page,
					     unsigned int offset, unsigned int len)
{
	struct sk_buff *skb = napi_build_skb(page_address(page) + offset, len);

	if (likely(skb))
		skb_mark_for_recycle(skb);
	else
		page_pool_put_full_page(pool, page, true);
	return skb;
}

#endif /* _IPOIB_RING_H */
