// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A send queue: the slots of one QP, and what has been posted to it.
 *
 * A WR takes a slot. A packet is one WR, but for a large one that the HCA cannot cut:
 * that is as many as it has segments (ipoib_gso.c), and belongs to the last of them. A
 * small one is copied, which is cheaper than to map it, and done with at once. WRs are
 * chained while the stack has more to send and handed over by one ib_post_send().
 * Only the last of a chain asks for a CQE. Sends complete in their order, so that
 * stands for all before it.
 */
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>

#include "ipoib.h"

#define SQ_HEADERS_PER_PAGE	(PAGE_SIZE / IPOIB_TX_HEADER_MAX)

static struct ipoib_tx_buf *sq_slot(struct ipoib_sq *sq, u32 index)
{
	return &sq->buf[index & (sq->size - 1)];
}

/* Octets of the linear part that go by DMA: a large send's header is copied */
static u32 sq_linear_len(const struct ipoib_tx_buf *buf)
{
	return skb_headlen(buf->skb) - buf->header_len;
}

static void sq_unmap(struct ib_device *ibdev, struct ipoib_tx_buf *buf, int frags)
{
	struct sk_buff *skb = buf->skb;
	u64 *mapping = buf->mapping;
	int i;

	if (sq_linear_len(buf))
		ib_dma_unmap_single(ibdev, *mapping++, sq_linear_len(buf), DMA_TO_DEVICE);
	for (i = 0; i < frags; i++)
		ib_dma_unmap_page(ibdev, mapping[i],
				  skb_frag_size(&skb_shinfo(skb)->frags[i]), DMA_TO_DEVICE);
}

static int sq_map_frags(struct ib_device *ibdev, struct ipoib_tx_buf *buf, u64 *mapping)
{
	struct sk_buff *skb = buf->skb;
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		mapping[i] = ib_dma_map_page(ibdev, skb_frag_page(frag), skb_frag_off(frag),
					     skb_frag_size(frag), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, mapping[i])) {
			sq_unmap(ibdev, buf, i);
			return -EIO;
		}
	}
	return 0;
}

static int sq_map(struct ib_device *ibdev, struct ipoib_tx_buf *buf)
{
	struct sk_buff *skb = buf->skb;
	u64 *mapping = buf->mapping;

	if (sq_linear_len(buf)) {
		*mapping = ib_dma_map_single(ibdev, skb->data + buf->header_len,
					     sq_linear_len(buf), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, *mapping))
			return -EIO;
		mapping++;
	}
	return sq_map_frags(ibdev, buf, mapping);
}

static u32 sq_fill_sges(struct ipoib_dev *priv, struct ib_sge *sge,
			const struct ipoib_tx_buf *buf)
{
	const struct sk_buff *skb = buf->skb;
	u32 i, n = 0;

	if (sq_linear_len(buf))
		sge[n++].length = sq_linear_len(buf);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		sge[n++].length = skb_frag_size(&skb_shinfo(skb)->frags[i]);
	for (i = 0; i < n; i++) {
		sge[i].addr = buf->mapping[i];
		sge[i].lkey = priv->pd->local_dma_lkey;
	}
	return n;
}

/*
 * WRs that the HCA refused stay in the ring and are reclaimed in their turn by
 * the consumer: byte queue limits allow only one context to complete packets. Those
 * that it took of the same chain have lost the one that was to speak for them.
 */
static void sq_refused(struct ipoib_sq *sq, u32 first, const struct ib_send_wr *bad, int err)
{
	u32 i;

	if (net_ratelimit())
		netdev_warn(sq->priv->netdev, "HCA refuses to send: error %d\n", err);
	for (i = first; i != sq->head; i++)
		/* Pairs with sq_fate(): the slot is whole */
		smp_store_release(&sq_slot(sq, i)->fate, i - first < (u32)bad->wr_id - first ?
				  IPOIB_TX_SILENT : IPOIB_TX_REFUSED);
	sq->refusals++;
	ipoib_link_event(sq->priv, IPOIB_EVENT_HEAVY);
	ipoib_tx_reap(sq->txq);
}

/**
 * ipoib_sq_doorbell() - hand over to the HCA what waits for that
 * @sq: the send queue
 *
 * Context: as ipoib_sq_put().
 */
void ipoib_sq_doorbell(struct ipoib_sq *sq)
{
	struct ib_send_wr *last;
	const struct ib_send_wr *bad;
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

/* The next WR of the chain, to be filled in; it has the ring's next slot */
static struct ib_ud_wr *sq_next_wr(struct ipoib_sq *sq)
{
	struct ib_ud_wr *ud;

	if (sq->chained == IPOIB_TX_CHAIN_MAX ||
	    sq->sges + IPOIB_TX_SGE_MAX > IPOIB_TX_CHAIN_SGES)
		ipoib_sq_doorbell(sq);
	ud = &sq->chain[sq->chained];
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
	ud->wr.next = &sq->chain[sq->chained + 1].wr;
	sq->chained++;
	sq->sges += ud->wr.num_sge;
	sq_slot(sq, sq->head)->fate = IPOIB_TX_POSTED;
	WRITE_ONCE(sq->head, sq->head + 1);
}

/* One WR for all of the packet, be it that the HCA cuts it */
static void sq_whole(struct ipoib_sq *sq, const struct ipoib_tx_buf *buf,
		     struct ib_ah *ibah, u32 qpn)
{
	struct ib_ud_wr *ud = sq_next_wr(sq);
	struct sk_buff *skb = buf->skb;

	ud->wr.num_sge = sq_fill_sges(sq->priv, ud->wr.sg_list, buf);
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

/* A slot's own memory, for headers or a small packet */
static struct ipoib_tx_headers *sq_own_page(struct ipoib_sq *sq, u32 index, u32 *offset)
{
	u32 slot = index & (sq->size - 1);

	*offset = slot % SQ_HEADERS_PER_PAGE * IPOIB_TX_HEADER_MAX;
	return &sq->headers[slot / SQ_HEADERS_PER_PAGE];
}

/* A WR for each segment; the last one's slot has the packet */
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
	/* The last segment waits for its doorbell yet */
	buf->torn = sq->refusals != refusals;
}

/* Whether the HCA makes the checksums: it does those of TCP and UDP over IPv4 alone */
static bool sq_hca_sums(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (!sq->hca_offloads || skb->protocol != htons(ETH_P_IP) ||
	    skb_checksum_start_offset(skb) != skb_network_offset(skb) + ip_hdrlen(skb))
		return false;
	return (ip->protocol == IPPROTO_TCP &&
		skb->csum_offset == offsetof(struct tcphdr, check)) ||
	       (ip->protocol == IPPROTO_UDP &&
		skb->csum_offset == offsetof(struct udphdr, check));
}

/* Whether a packet takes a WR for each of its segments */
static bool sq_is_cut(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       !(sq->hca_offloads && (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4));
}

/**
 * ipoib_sq_slots() - how many slots a packet takes
 * @sq: the send queue
 * @skb: the packet, without the pseudo header or with it
 *
 * The stack has asked ipoib_features_check(), but of an untrusted source's packet it read the
 * headers only then, and put right where they begin; nor need the queue be that of that moment.
 *
 * Context: as ipoib_sq_put().
 * Return: slots, 0 if the queue cannot take the packet as it is.
 */
u32 ipoib_sq_slots(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	u32 segments;

	if (!skb_is_gso(skb))
		return 1;
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

/* What of a packet must be so before it can be posted */
static int sq_prepare(struct ipoib_sq *sq, struct sk_buff *skb)
{
	int header_len = skb_is_gso(skb) ? ipoib_gso_header_len(skb) : 0;

	if (unlikely(!pskb_may_pull(skb, header_len) || sq_linearize(sq, skb)))
		return -ENOMEM;
	if (skb->ip_summed != CHECKSUM_PARTIAL || header_len || sq_hca_sums(sq, skb))
		return 0;
	return skb_checksum_help(skb);
}

static void sq_buf_init(struct ipoib_tx_buf *buf, struct sk_buff *skb)
{
	buf->skb = skb;
	buf->len = skb->len;
	buf->header_len = 0;
	buf->packets = 1;
	buf->torn = false;
	if (!skb_is_gso(skb))
		return;
	buf->header_len = ipoib_gso_header_len(skb);
	buf->packets = ipoib_gso_segments(skb);
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
		/* RFC 768: zeroes stand for none */
		if (!*sum)
			*sum = CSUM_MANGLED_0;
	}
}

/* All of a small packet goes into the slot's own memory, and the packet is freed */
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
	sge->lkey = sq->priv->pd->local_dma_lkey;
	ud->wr.num_sge = 1;
	skb_tx_timestamp(skb);
	dev_consume_skb_any(skb);
	sq_chain(sq, ud, ibah, qpn);
	return len;
}

/**
 * ipoib_sq_put() - put a packet on a send queue
 * @sq: the send queue; it has the slots that the packet takes
 * @skb: the packet, without the pseudo header; consumed unless an error is returned
 * @ibah: the AH to send it by
 * @qpn: the QP to send it to
 * @slots: what ipoib_sq_slots() says
 *
 * The HCA gets it with the doorbell.
 *
 * Context: BHs disabled, the lock of the TX queue held.
 * Return: octets of the packet, as they count for the TX queue until it is complete, or -ENOMEM or
 * -EIO (DMA).
 */
int ipoib_sq_put(struct ipoib_sq *sq, struct sk_buff *skb, struct ib_ah *ibah, u32 qpn, u32 slots)
{
	struct ipoib_tx_buf *buf;
	u32 len;

	if (sq_is_small(skb))
		return sq_small(sq, skb, ibah, qpn);
	if (unlikely(sq_prepare(sq, skb)))
		return -ENOMEM;
	buf = sq_slot(sq, sq->head + slots - 1);
	sq_buf_init(buf, skb);
	if (unlikely(sq_map(sq->priv->ibdev, buf))) {
		buf->skb = NULL;
		buf->len = 0;
		return -EIO;
	}
	len = skb->len;
	skb_tx_timestamp(skb);
	if (sq_is_cut(sq, skb))
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

/* Empties the oldest slot. @why: what to count if it was not sent, and not refused */
static void sq_reclaim(struct ipoib_sq *sq, struct ipoib_sq_done *done, int budget,
		       enum ipoib_stat why)
{
	struct ipoib_tx_buf *buf = sq_slot(sq, sq->tail);
	struct sk_buff *skb = buf->skb;

	if (unlikely(buf->torn || sq_fate(sq) == IPOIB_TX_REFUSED))
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
		sq_unmap(sq->priv->ibdev, buf, skb_shinfo(skb)->nr_frags);
		buf->skb = NULL;
		napi_consume_skb(skb, budget);
	}
	/* Pairs with ipoib_sq_used() in the producer: the slot is free only now */
	smp_store_release(&sq->tail, sq->tail + 1);
}

/**
 * ipoib_sq_reclaim_refused() - empty the oldest slots whose WRs the HCA has refused
 * @sq: the send queue
 * @done: what was in them is added
 * @budget: of the NAPI poll
 *
 * Context: NAPI poll.
 */
void ipoib_sq_reclaim_refused(struct ipoib_sq *sq, struct ipoib_sq_done *done, int budget)
{
	while (sq_fate(sq) == IPOIB_TX_REFUSED)
		sq_reclaim(sq, done, budget, IPOIB_STAT_TX_POST);
}

/**
 * ipoib_sq_complete() - empty the slots that a CQE stands for
 * @sq: the send queue
 * @index: of the last of them, in all that were ever filled
 * @why: IPOIB_TX_SENT, or what to count for the last one; those before it were sent
 * @done: what was in them is added
 * @budget: of the NAPI poll; 0 where an skb must not be freed at once
 *
 * Context: NAPI poll.
 */
void ipoib_sq_complete(struct ipoib_sq *sq, u32 index, enum ipoib_stat why,
		       struct ipoib_sq_done *done, int budget)
{
	/* Of a WR that was given up with an earlier life of the QP */
	if (unlikely(index - sq->tail >= ipoib_sq_used(sq)))
		return;
	while (sq->tail != index)
		sq_reclaim(sq, done, budget, IPOIB_TX_SENT);
	sq_reclaim(sq, done, budget, why);
}

/**
 * ipoib_sq_pending() - how many sends the HCA will report yet
 * @sq: the send queue
 *
 * Context: any; exact where nothing is sent any more.
 * Return: slots that are in use, 0 if none of them can be waited for.
 */
u32 ipoib_sq_pending(struct ipoib_sq *sq)
{
	return sq_fate(sq) == IPOIB_TX_SILENT ? 0 : ipoib_sq_used(sq);
}

/**
 * ipoib_sq_empty() - give up what the HCA never reported
 * @sq: the send queue; nothing sends or polls, its QP holds no WR any more
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

/* The page is written again and again while the HCA may read other parts of it: it is
 * coherent memory, which belongs to both. A device that software makes has no other
 * addresses than the kernel's.
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
 * ipoib_sq_create() - allocate what a send queue needs
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
	sq->chain = kcalloc(IPOIB_TX_CHAIN_MAX + 1, sizeof(*sq->chain), GFP_KERNEL);
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
