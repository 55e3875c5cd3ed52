// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A send queue: the ring of slots of one QP, and the WRs posted to it.
 *
 * Each WR takes one slot. A packet is sent by one WR, except a large packet that the HCA
 * cannot segment: it takes one WR per segment (ipoib_gso.c), and the slot of the last
 * segment holds the skb. A small packet is copied, which is cheaper than mapping it, and
 * its skb is freed at once. WRs are chained while the stack has more packets to send, and
 * posted by one ib_post_send(). Only the last WR of a chain requests a CQE. Sends complete
 * in order, so its CQE also reports the completion of the WRs before it.
 */
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>

#include "ipoib.h"
#include "ipoib_csum.h"
#include "ipoib_map.h"

#define SQ_HEADERS_PER_PAGE	(PAGE_SIZE / IPOIB_TX_HEADER_MAX)

static struct ipoib_tx_buf *sq_slot(struct ipoib_sq *sq, u32 index)
{
	return &sq->buf[index & (sq->size - 1)];
}

/*
 * ib_post_send() failed at the WR @bad. That WR and those after it stay in the ring, and the
 * consumer reclaims them in order, because byte queue limits allow only one context to complete
 * packets. The WRs before it were posted, but no CQE will report them, because the last WR of
 * the chain, which requests the CQE, was not posted.
 */
static void sq_refused(struct ipoib_sq *sq, u32 first, const struct ib_send_wr *bad, int err)
{
	u32 i;

	if (net_ratelimit())
		netdev_warn(sq->priv->netdev, "HCA refuses to send: error %d\n", err);
	for (i = first; i != sq->head; i++)
		/* Pairs with sq_fate(): the other members of the slot are written before */
		smp_store_release(&sq_slot(sq, i)->fate, i - first < (u32)bad->wr_id - first ?
				  IPOIB_TX_SILENT : IPOIB_TX_REFUSED);
	sq->refusals++;
	ipoib_link_event(sq->priv, IPOIB_EVENT_HEAVY);
	ipoib_tx_reap(sq->txq);
}

/**
 * ipoib_sq_doorbell() - post the chained WRs to the HCA
 * @sq: the send queue
 *
 * If the HCA refuses them, the QP is reset, and the packets are counted as dropped when their
 * slots are reclaimed.
 *
 * Context: as ipoib_sq_put().
 */
void ipoib_sq_doorbell(struct ipoib_sq *sq)
{
	/* Not every HCA says which WR it has refused, if it has refused all */
	const struct ib_send_wr *bad = &sq->chain[0].wr;
	struct ib_send_wr *last;
	int err;

	if (!sq->chained)
		return;
	last = &sq->chain[sq->chained - 1].wr;
	last->next = NULL;
	last->send_flags |= IB_SEND_SIGNALED;
	sq->chained = 0;
	sq->sges = 0;
	err = ib_post_send(sq->qp, &sq->chain[0].wr, &bad);
	if (unlikely(err))
		sq_refused(sq, sq->chain[0].wr.wr_id, bad, err);
	ipoib_tx_ask(sq->txq);
}

/* Returns the next WR of the chain, to be filled in by the caller, for the ring's next slot. Posts
 * the chain before if it is full. Inlined, as each packet takes it.
 */
static __always_inline struct ib_ud_wr *sq_next_wr(struct ipoib_sq *sq)
{
	struct ib_ud_wr *ud;

	if (sq->chained == IPOIB_TX_CHAIN_MAX ||
	    sq->sges + IPOIB_TX_SGE_MAX > IPOIB_TX_CHAIN_SGES)
		ipoib_sq_doorbell(sq);
	ud = &sq->chain[sq->chained];
	if (sq->chained)
		ud[-1].wr.next = &ud->wr;
	ud->wr.sg_list = &sq->sge[sq->sges];
	ud->wr.wr_id = sq->head;
	ud->wr.opcode = IB_WR_SEND;
	ud->wr.send_flags = 0;
	return ud;
}

static void sq_chain(struct ipoib_sq *sq, struct ib_ud_wr *ud, struct ib_ah *ibah, u32 qpn)
{
	ud->ah = ibah;
	ud->remote_qpn = qpn;
	ud->remote_qkey = READ_ONCE(sq->priv->qkey);
	sq->chained++;
	sq->sges += ud->wr.num_sge;
	WRITE_ONCE(sq->head, sq->head + 1);
}

/* Adds one WR for the whole packet. If the packet is large, the HCA segments it. */
static void sq_whole(struct ipoib_sq *sq, const struct ipoib_tx_buf *buf,
		     struct ib_ah *ibah, u32 qpn)
{
	struct ib_ud_wr *ud = sq_next_wr(sq);
	struct sk_buff *skb = buf->skb;

	ud->wr.num_sge = ipoib_map_sges(sq->lkey, buf, ud->wr.sg_list);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		ud->wr.send_flags |= IB_SEND_IP_CSUM;
	if (buf->header_len) {
		ud->wr.opcode = IB_WR_LSO;
		ud->header = skb->data;
		ud->hlen = buf->header_len;
		ud->mss = skb_shinfo(skb)->gso_size;
	}
	sq_chain(sq, ud, ibah, qpn);
}

/* Returns the page and the offset of a slot's memory for headers or for a small packet */
static struct ipoib_tx_headers *sq_own_page(struct ipoib_sq *sq, u32 index, u32 *offset)
{
	u32 slot = index & (sq->size - 1);

	*offset = slot % SQ_HEADERS_PER_PAGE * IPOIB_TX_HEADER_MAX;
	return &sq->headers[slot / SQ_HEADERS_PER_PAGE];
}

/* Adds a WR for each segment of a large packet. The last segment's slot is @buf. */
static void sq_segments(struct ipoib_sq *sq, struct ipoib_tx_buf *buf,
			struct ib_ah *ibah, u32 qpn)
{
	u32 offset, refusals = sq->refusals;
	struct ipoib_tx_headers *page;
	struct ipoib_gso gso;
	struct ib_ud_wr *ud;

	ipoib_count(sq->priv, IPOIB_STAT_TX_SEGMENTED);
	ipoib_gso_start(&gso, sq, buf);
	while (gso.left) {
		ud = sq_next_wr(sq);
		page = sq_own_page(sq, sq->head, &offset);
		ud->wr.num_sge = ipoib_gso_next(&gso, page, offset, ud->wr.sg_list);
		if (gso.hca_sums)
			ud->wr.send_flags |= IB_SEND_IP_CSUM;
		sq_chain(sq, ud, ibah, qpn);
	}
	/* A refusal until here concerns earlier segments only: the last one is not posted yet */
	buf->torn = sq->refusals != refusals;
}

/* Returns whether the HCA computes the checksum of a packet: only for TCP and UDP over IPv4 */
static bool sq_hca_sums(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	return sq->hca_offloads && ipoib_csum_is_ip4(skb);
}

/* Returns whether a large packet takes one WR per segment */
static bool sq_is_cut(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	return !sq->hca_offloads || !(skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4);
}

/**
 * ipoib_sq_large_slots() - compute how many slots a large packet takes
 * @sq: the send queue
 * @skb: the packet, with or without the pseudo header
 *
 * This repeats the checks of ipoib_features_check(), for two reasons: the stack parses the headers
 * of a packet from an untrusted source only after that call, and corrects their offsets; and the
 * queues may have been replaced since.
 *
 * Context: as ipoib_sq_put().
 * Return: number of slots, or 0 if the queue cannot take the packet as it is.
 */
u32 ipoib_sq_large_slots(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	u32 segments;

	if (unlikely(skb_shinfo(skb)->nr_frags + 2 > sq->priv->max_sge ||
		     !ipoib_gso_can_cut(skb)))
		return 0;
	segments = ipoib_gso_segments(skb);
	if (unlikely(segments > sq->segments_max))
		return 0;
	return sq_is_cut(sq, skb) ? segments : min(segments, 1u);
}

static int sq_linearize(struct ipoib_sq *sq, struct sk_buff *skb)
{
	if (likely(skb_shinfo(skb)->nr_frags + !!skb_headlen(skb) <= sq->priv->max_sge))
		return 0;
	ipoib_count(sq->priv, IPOIB_STAT_TX_LINEARIZED);
	return skb_linearize(skb);
}

/* Prepares a packet for posting: makes its headers linear if it is large, reduces its fragments to
 * what the HCA supports, and computes the checksum if the HCA does not.
 */
static int sq_prepare(struct ipoib_sq *sq, struct sk_buff *skb, u32 header_len)
{
	if (unlikely(!pskb_may_pull(skb, header_len) || sq_linearize(sq, skb)))
		return -ENOMEM;
	if (skb->ip_summed != CHECKSUM_PARTIAL || header_len || sq_hca_sums(sq, skb))
		return 0;
	return skb_checksum_help(skb);
}

static void sq_buf_init(struct ipoib_tx_buf *buf, struct sk_buff *skb, u32 header_len)
{
	buf->skb = skb;
	buf->len = skb->len;
	buf->header_len = header_len;
	buf->packets = header_len ? ipoib_gso_segments(skb) : 1;
	buf->torn = false;
}

static bool sq_is_small(const struct sk_buff *skb)
{
	return skb->len <= IPOIB_TX_HEADER_MAX && !skb_is_gso(skb);
}

static void sq_copy(struct ipoib_sq *sq, const struct sk_buff *skb, struct ib_ud_wr *ud,
		    void *to)
{
	__sum16 *sum;

	if (skb->ip_summed != CHECKSUM_PARTIAL && !skb_is_nonlinear(skb)) {
		memcpy(to, skb->data, skb->len);
	} else if (skb->ip_summed != CHECKSUM_PARTIAL) {
		skb_copy_bits(skb, 0, to, skb->len);
	} else if (sq_hca_sums(sq, skb)) {
		skb_copy_bits(skb, 0, to, skb->len);
		ud->wr.send_flags |= IB_SEND_IP_CSUM;
	} else {
		skb_copy_and_csum_dev(skb, to);
		sum = to + skb_checksum_start_offset(skb) + skb->csum_offset;
		/* A zero checksum means that there is none (RFC 768) */
		if (!*sum)
			*sum = CSUM_MANGLED_0;
	}
}

/* Copies a small packet to the slot's own memory, adds its WR, and frees the skb */
static int sq_small(struct ipoib_sq *sq, struct sk_buff *skb, struct ib_ah *ibah, u32 qpn)
{
	struct ib_ud_wr *ud = sq_next_wr(sq);
	struct ib_sge *sge = ud->wr.sg_list;
	struct ipoib_tx_headers *page;
	struct ipoib_tx_buf *buf;
	u32 offset, len = skb->len;

	buf = sq_slot(sq, sq->head);
	buf->len = len;
	buf->packets = 1;
	buf->header_len = 0;
	page = sq_own_page(sq, sq->head, &offset);
	sq_copy(sq, skb, ud, page->octets + offset);
	sge->addr = page->addr + offset;
	sge->length = len;
	sge->lkey = sq->lkey;
	ud->wr.num_sge = 1;
	skb_tx_timestamp(skb);
	dev_consume_skb_any(skb);
	sq_chain(sq, ud, ibah, qpn);
	return len;
}

/**
 * ipoib_sq_put() - put a packet on a send queue
 * @sq: the send queue; it has @slots free slots
 * @skb: the packet, without the pseudo header; consumed unless an error is returned
 * @ibah: the AH to send it with
 * @qpn: the QP to send it to
 * @slots: the return value of ipoib_sq_slots() for the packet
 *
 * The WRs are posted by ipoib_sq_doorbell(), or before that if the chain is full.
 *
 * Context: BHs disabled, the lock of the TX queue held.
 * Return: octets of the packet, to be added to the byte queue limits; -ENOMEM; or -EIO if the
 * packet cannot be mapped for DMA.
 */
int ipoib_sq_put(struct ipoib_sq *sq, struct sk_buff *skb, struct ib_ah *ibah, u32 qpn, u32 slots)
{
	struct ipoib_tx_buf *buf;
	u32 len, header_len;

	if (sq_is_small(skb))
		return sq_small(sq, skb, ibah, qpn);
	header_len = skb_is_gso(skb) ? ipoib_gso_header_len(skb) : 0;
	if (unlikely(sq_prepare(sq, skb, header_len)))
		return -ENOMEM;
	buf = sq_slot(sq, sq->head + slots - 1);
	sq_buf_init(buf, skb, header_len);
	if (unlikely(ipoib_map(sq->priv->ibdev, buf))) {
		buf->skb = NULL;
		buf->len = 0;
		return -EIO;
	}
	len = skb->len;
	skb_tx_timestamp(skb);
	if (header_len && sq_is_cut(sq, skb))
		sq_segments(sq, buf, ibah, qpn);
	else
		sq_whole(sq, buf, ibah, qpn);
	sq->held = sq->head;
	return len;
}

static enum ipoib_tx_fate sq_fate(struct ipoib_sq *sq)
{
	/* Pairs with the release in sq_refused() */
	return ipoib_sq_used(sq) ? smp_load_acquire(&sq_slot(sq, sq->tail)->fate) : IPOIB_TX_POSTED;
}

/* Frees the oldest slot and adds its packet, if any, to @done. @why is IPOIB_TX_SENT or the counter
 * for the packet. It is ignored if ib_post_send() refused the packet, which has its own counter.
 */
static void sq_reclaim(struct ipoib_sq *sq, struct ipoib_sq_done *done, int budget,
		       enum ipoib_stat why)
{
	struct ipoib_tx_buf *buf = sq_slot(sq, sq->tail);
	struct sk_buff *skb = buf->skb;

	if (unlikely(buf->torn || READ_ONCE(buf->fate) == IPOIB_TX_REFUSED))
		why = IPOIB_STAT_TX_POST;
	if (buf->len) {
		done->packets++;
		done->bytes += buf->len;
		if (likely(why == IPOIB_TX_SENT)) {
			done->sent_packets += buf->packets;
			done->sent_bytes += buf->len + (buf->packets - 1) * buf->header_len;
		} else {
			ipoib_count(sq->priv, why);
		}
		buf->len = 0;
		buf->torn = false;
	}
	if (skb) {
		ipoib_map_undo(sq->priv->ibdev, buf, skb_shinfo(skb)->nr_frags);
		buf->skb = NULL;
		napi_consume_skb(skb, budget);
	}
	/* Not left to the producer: another CPU could see the new head, but still the old fate */
	WRITE_ONCE(buf->fate, IPOIB_TX_POSTED);
	/* Pairs with ipoib_sq_used() in the producer, which may reuse the slot from now on */
	smp_store_release(&sq->tail, sq->tail + 1);
}

/**
 * ipoib_sq_reclaim_refused() - free the oldest slots, as far as ib_post_send() refused their WRs
 * @sq: the send queue
 * @done: the packets of these slots are added to it
 * @budget: as for ipoib_sq_complete()
 *
 * Context: NAPI poll.
 */
void ipoib_sq_reclaim_refused(struct ipoib_sq *sq, struct ipoib_sq_done *done, int budget)
{
	while (sq_fate(sq) == IPOIB_TX_REFUSED)
		sq_reclaim(sq, done, budget, IPOIB_STAT_TX_POST);
}

/**
 * ipoib_sq_complete() - free the slots whose completion a CQE reports
 * @sq: the send queue
 * @index: index of the last of these slots, counted as &ipoib_sq.head; the wr_id of the CQE
 * @why: IPOIB_TX_SENT, or the counter for the packet in the last slot. The packets in the slots
 *	before it were sent
 * @done: the packets of these slots are added to it
 * @budget: the budget of the NAPI poll; 0 if skbs must not be freed at once (see
 *	napi_consume_skb())
 *
 * Context: NAPI poll.
 */
void ipoib_sq_complete(struct ipoib_sq *sq, u32 index, enum ipoib_stat why,
		       struct ipoib_sq_done *done, int budget)
{
	/* The WR was given up by ipoib_sq_empty(), before the QP was restarted */
	if (unlikely(index - sq->tail >= ipoib_sq_used(sq)))
		return;
	while (sq->tail != index)
		sq_reclaim(sq, done, budget, IPOIB_TX_SENT);
	sq_reclaim(sq, done, budget, why);
}

/**
 * ipoib_sq_pending() - count the sends whose completion is still to be reported
 * @sq: the send queue
 *
 * Context: any. The result is exact only when nothing is being sent.
 * Return: number of slots in use, or 0 if no CQE will report the oldest of them, so that there is
 * nothing to wait for.
 */
u32 ipoib_sq_pending(struct ipoib_sq *sq)
{
	return sq_fate(sq) == IPOIB_TX_SILENT ? 0 : ipoib_sq_used(sq);
}

/**
 * ipoib_sq_empty() - free all slots, and count the packets in them as flushed
 * @sq: the send queue; nothing sends or polls, and its QP holds no WR any more
 *
 * Context: control path.
 */
void ipoib_sq_empty(struct ipoib_sq *sq)
{
	struct ipoib_sq_done done = {};

	while (ipoib_sq_used(sq))
		sq_reclaim(sq, &done, 0, IPOIB_STAT_TX_FLUSHED);
	sq->chained = 0;
	sq->sges = 0;
}

static u32 sq_header_pages(const struct ipoib_sq *sq)
{
	return DIV_ROUND_UP(sq->size, SQ_HEADERS_PER_PAGE);
}

/* Allocates a page for headers. It is coherent memory, because the driver writes to a part of it
 * while the HCA may be reading others. A software device uses the kernel's virtual addresses.
 */
static int sq_headers_page(struct ib_device *ibdev, struct ipoib_tx_headers *headers)
{
	if (ib_uses_virt_dma(ibdev)) {
		headers->octets = (void *)get_zeroed_page(GFP_KERNEL);
		headers->addr = (uintptr_t)headers->octets;
	} else {
		headers->octets = dma_alloc_coherent(ibdev->dma_device, PAGE_SIZE,
						     &headers->addr, GFP_KERNEL);
	}
	return headers->octets ? 0 : -ENOMEM;
}

static void sq_headers_page_free(struct ib_device *ibdev, struct ipoib_tx_headers *headers)
{
	if (ib_uses_virt_dma(ibdev))
		free_page((unsigned long)headers->octets);
	else
		dma_free_coherent(ibdev->dma_device, PAGE_SIZE, headers->octets, headers->addr);
}

static void sq_headers_destroy(struct ipoib_sq *sq, u32 pages)
{
	while (pages--)
		sq_headers_page_free(sq->priv->ibdev, &sq->headers[pages]);
	kfree(sq->headers);
}

static int sq_headers_create(struct ipoib_sq *sq)
{
	u32 i, pages = sq_header_pages(sq);
	int err;

	sq->headers = kcalloc(pages, sizeof(*sq->headers), GFP_KERNEL);
	if (!sq->headers)
		return -ENOMEM;
	for (i = 0; i < pages; i++) {
		err = sq_headers_page(sq->priv->ibdev, &sq->headers[i]);
		if (err) {
			sq_headers_destroy(sq, i);
			return err;
		}
	}
	return 0;
}

/**
 * ipoib_sq_create() - allocate the memory of a send queue
 * @sq: the send queue; its size is set
 *
 * Context: may sleep; rtnl held.
 * Return: 0 or a negative error.
 */
int ipoib_sq_create(struct ipoib_sq *sq)
{
	int err = -ENOMEM;

	sq->buf = kvcalloc(sq->size, sizeof(*sq->buf), GFP_KERNEL);
	if (!sq->buf)
		return err;
	sq->chain = kcalloc(IPOIB_TX_CHAIN_MAX, sizeof(*sq->chain), GFP_KERNEL);
	if (!sq->chain)
		goto err_buf;
	sq->sge = kcalloc(IPOIB_TX_CHAIN_SGES, sizeof(*sq->sge), GFP_KERNEL);
	if (!sq->sge)
		goto err_chain;
	err = sq_headers_create(sq);
	if (err)
		goto err_sge;
	return 0;

err_sge:
	kfree(sq->sge);
err_chain:
	kfree(sq->chain);
err_buf:
	kvfree(sq->buf);
	return err;
}

/**
 * ipoib_sq_destroy() - free what ipoib_sq_create() allocated
 * @sq: the send queue; it is empty
 *
 * Context: may sleep; rtnl held.
 */
void ipoib_sq_destroy(struct ipoib_sq *sq)
{
	sq_headers_destroy(sq, sq_header_pages(sq));
	kfree(sq->sge);
	kfree(sq->chain);
	kvfree(sq->buf);
}
