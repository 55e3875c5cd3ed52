// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive WRs of connections, and their memory: pages of a pool, which become those of the packets.
 */
#include "ipoib.h"
#include "ipoib_srq_ring.h"

static void buf_set_page(struct ipoib_srq_ring *ring, struct ipoib_srq_buf *buf, u32 i,
			 struct page *page)
{
	buf->page[i] = page;
	buf->sge[i].addr = ipoib_pool_addr(ring->pd->device, page);
}

/* Prepares the WR with this index, and gives it the pages that it does not have yet */
static int buf_fill(struct ipoib_srq_ring *ring, u32 index, gfp_t gfp)
{
	struct ipoib_srq_buf *buf = &ring->buf[index];
	struct page *page;
	u32 i;

	for (i = 0; i < ring->pages; i++) {
		page = buf->page[i] ?: page_pool_alloc_pages(ring->pool, gfp);
		if (!page)
			return -ENOMEM;
		buf_set_page(ring, buf, i, page);
		buf->sge[i].length = PAGE_SIZE << ring->pool->p.order;
		buf->sge[i].lkey = ring->pd->local_dma_lkey;
	}
	buf->wr.wr_id = index;
	buf->wr.sg_list = buf->sge;
	buf->wr.num_sge = ring->pages;
	return 0;
}

/**
 * ipoib_srq_ring_fill() - give pages to WRs
 * @ring: the WRs
 * @n: the number of WRs that are to have pages, if there are so many
 * @gfp: how to allocate them
 *
 * Context: the poll, or before the first WR is posted.
 * Return: 0, or -ENOMEM if fewer have got them.
 */
int ipoib_srq_ring_fill(struct ipoib_srq_ring *ring, u32 n, gfp_t gfp)
{
	u32 filled = ring->filled;
	int err = 0;

	for (n = min(n, ring->size); filled < n && !err; filled += !err)
		err = buf_fill(ring, filled, gfp);
	WRITE_ONCE(ring->filled, filled);
	return err;
}

/**
 * ipoib_srq_ring_exchange() - take pages out of a WR, and give it others
 * @ring: the WRs
 * @buf: the WR, which no queue has
 * @n: the number of pages, the first ones
 * @pages: filled in with what was taken
 *
 * Context: the poll.
 * Return: false if there are no others; the WR keeps its pages then.
 */
bool ipoib_srq_ring_exchange(struct ipoib_srq_ring *ring, struct ipoib_srq_buf *buf, u32 n,
			     struct page **pages)
{
	u32 i;

	for (i = 0; i < n; i++) {
		pages[i] = page_pool_alloc_pages(ring->pool, GFP_ATOMIC | __GFP_NOWARN);
		if (unlikely(!pages[i]))
			goto err_pages;
	}
	for (i = 0; i < n; i++) {
		struct page *page = pages[i];

		pages[i] = buf->page[i];
		buf_set_page(ring, buf, i, page);
	}
	return true;

err_pages:
	while (i--)
		page_pool_put_full_page(ring->pool, pages[i], true);
	return false;
}

/**
 * ipoib_srq_ring_destroy() - undo ipoib_srq_ring_create()
 * @ring: the WRs, which no queue has any more; or NULL
 *
 * Context: may sleep.
 */
void ipoib_srq_ring_destroy(struct ipoib_srq_ring *ring)
{
	u32 i, j;

	if (!ring)
		return;
	for (i = 0; i < ring->size; i++)
		for (j = 0; j < ring->pages; j++)
			if (ring->buf[i].page[j])
				page_pool_put_full_page(ring->pool, ring->buf[i].page[j], false);
	page_pool_destroy(ring->pool);
	kvfree(ring);
}

static int pool_create(struct ipoib_srq_ring *ring, unsigned int order)
{
	struct page_pool_params params = {
		.order = order,
		.pool_size = ring->size * ring->pages,
		.nid = ibdev_to_node(ring->pd->device),
	};

	ipoib_pool_map(ring->pd->device, &params);
	ring->pool = page_pool_create(&params);
	return PTR_ERR_OR_ZERO(ring->pool);
}

/**
 * ipoib_srq_ring_create() - make WRs, without pages yet
 * @pd: the PD of the queue that they are for
 * @order: of their pages
 * @pages: number of pages of each
 * @size: number of WRs
 *
 * Context: may sleep.
 * Return: the WRs or an ERR_PTR.
 */
struct ipoib_srq_ring *ipoib_srq_ring_create(struct ib_pd *pd, unsigned int order, u32 pages,
					     u32 size)
{
	struct ipoib_srq_ring *ring;
	int err;

	ring = kvzalloc(struct_size(ring, buf, size), GFP_KERNEL);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->pd = pd;
	ring->pages = pages;
	ring->size = size;
	err = pool_create(ring, order);
	if (!err)
		return ring;
	kvfree(ring);
	return ERR_PTR(err);
}
