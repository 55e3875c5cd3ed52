/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receive WRs of connections, and their memory.
 */
#ifndef _IPOIB_SRQ_RING_H
#define _IPOIB_SRQ_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "ipoib.h"

struct page_pool;

#define IPOIB_SRQ_SIZE		256	/* WRs of the SRQ */
#define IPOIB_SRQ_CONN_SIZE	32	/* WRs of a connection, if there is no SRQ */

/* Pages of the longest message */
#define IPOIB_SRQ_PAGES		DIV_ROUND_UP(IPOIB_MESSAGE_MAX, PAGE_SIZE)

struct ipoib_srq_buf {
	struct ib_recv_wr wr;
	struct ib_sge sge[IPOIB_SRQ_PAGES];
	struct page *page[IPOIB_SRQ_PAGES];
};

/* The WRs of the SRQ or, if there is none, of a QP, and where they get pages. The pool is used by
 * the poll only, once the first WR is posted.
 */
struct ipoib_srq_ring {
	struct ib_pd *pd;
	struct page_pool *pool;
	u32 pages;			/* per WR */
	u32 size;
	u32 filled;			/* WRs that have pages, the first ones; read anywhere */
	struct ipoib_srq_buf buf[];
};

struct ipoib_srq_ring *ipoib_srq_ring_create(struct ib_pd *pd, unsigned int order, u32 pages,
					     u32 size);
void ipoib_srq_ring_destroy(struct ipoib_srq_ring *ring);
int ipoib_srq_ring_fill(struct ipoib_srq_ring *ring, u32 n, gfp_t gfp);
bool ipoib_srq_ring_exchange(struct ipoib_srq_ring *ring, struct ipoib_srq_buf *buf, u32 n,
			     struct page **pages);

#endif /* _IPOIB_SRQ_RING_H */
