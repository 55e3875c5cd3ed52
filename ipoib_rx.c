// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The receive ring of a UD QP.
 *
 * Each packet takes one WR. WRs are posted to the HCA in chains. A buffer is as long as
 * the broadcast group's MTU requires. But any host can send packets up to the MTU of the
 * physical link, and a QP that receives a packet into a buffer that is too short goes to
 * the error state (IBA 10.3.1.7). Therefore each WR has a second SGE, the spill, which is
 * memory shared by all WRs. It takes the excess of long packets, which are dropped.
 */
#include <linux/etherdevice.h>
#include <linux/ipv6.h>
#include <linux/vmalloc.h>
#include <net/checksum.h>
#include <net/sch_generic.h>

#include "ipoib.h"
#include "ipoib_trace.h"

/* The largest packet that can be received: no link has a larger MTU (IBA 7.7.8) */
#define IPOIB_RX_LONGEST	(IB_GRH_BYTES + 4096)

/* Room in front of the GRH, for headers that the stack may push onto a received packet */
#define IPOIB_RX_HEADROOM	NET_SKB_PAD

/* The least octets of a UDP packet whose checksum is computed here */
#define IPOIB_RX_SUMMED		256

/* Memory for one packet: a fragment of a page of the pool */
struct rx_frag {
	struct page *page;
	unsigned int offset;
};

/* Returns the address of a fragment for the HCA */
static u64 rx_frag_addr(const struct ipoib_rx_ring *rx, const struct rx_frag *frag)
{
	return ipoib_pool_addr(rx->priv->ibdev, frag->page) + frag->offset + IPOIB_RX_HEADROOM;
}

/* Returns the packet in a slot's buffer, which begins with the GRH */
static void *rx_data(const struct ipoib_rx_buf *buf)
{
	return page_address(buf->page) + buf->offset + IPOIB_RX_HEADROOM;
}

static int rx_frag_alloc(struct ipoib_rx_ring *rx, struct rx_frag *frag, gfp_t gfp)
{
	frag->page = page_pool_alloc_frag(rx->pool, &frag->offset, rx->frag_len, gfp);
	return likely(frag->page) ? 0 : -ENOMEM;
}

/* Gives the slot a new fragment, and stores the old one in @frag. On error it is unchanged. */
static int rx_exchange(struct ipoib_rx_ring *rx, struct ipoib_rx_buf *buf, struct rx_frag *frag)
{
	int err = rx_frag_alloc(rx, frag, GFP_ATOMIC | __GFP_NOWARN);

	if (unlikely(err))
		return err;
	buf->sge[0].addr = rx_frag_addr(rx, frag);
	swap(buf->page, frag->page);
	swap(buf->offset, frag->offset);
	return 0;
}

static unsigned char rx_pkt_type(const struct ipoib_rx_ring *rx, const struct ib_grh *grh)
{
	const struct ipoib_hwaddr *broadcast = (void *)rx->priv->netdev->broadcast;

	if (!ipoib_gid_is_multicast(grh->dgid.raw))
		return PACKET_HOST;
	if (!memcmp(grh->dgid.raw, broadcast->gid, sizeof(grh->dgid)))
		return PACKET_BROADCAST;
	return PACKET_MULTICAST;
}

/* Not inlined, since few packets tell anything new about their sender */
static noinline void rx_heard(struct ipoib_rx_ring *rx, const struct ipoib_hwaddr *sender,
			      const struct ipoib_heard *from)
{
	union ib_gid gid;

	memcpy(&gid, sender->gid, sizeof(gid));
	ipoib_path_heard(rx->priv, &gid, from);
}

/* Replaces the GRH by the pseudo header. The pseudo header overwrites the GRH, which therefore has
 * to be evaluated before.
 */
static void rx_headers(struct ipoib_rx_ring *rx, struct sk_buff *skb, const struct ib_wc *wc)
{
	struct ipoib_header *header;
	struct ipoib_hwaddr sender;
	struct ipoib_heard from;

	if (wc->wc_flags & IB_WC_GRH)
		skb->pkt_type = rx_pkt_type(rx, (struct ib_grh *)skb->data);
	if (unlikely(ipoib_learn_sender(rx->priv, wc, (struct ib_grh *)skb->data, &sender, &from)))
		rx_heard(rx, &sender, &from);
	__skb_pull(skb, IB_GRH_BYTES - INFINIBAND_ALEN);
	header = (struct ipoib_header *)skb->data;
	header->hwaddr = sender;
	skb->protocol = header->encap.ethertype;
	skb->dev = rx->priv->netdev;
	if ((wc->wc_flags & IB_WC_IP_CSUM_OK) && (rx->priv->netdev->features & NETIF_F_RXCSUM))
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb_reset_mac_header(skb);
	__skb_pull(skb, IPOIB_HARD_LEN);
}

/* Returns whether a packet may claim a link-layer address: whatever is not IPv4 */
static bool rx_makes_claim(const struct sk_buff *skb)
{
	return skb->protocol != htons(ETH_P_IP);
}

/* What one poll has delivered: packets and octets for the statistics */
struct rx_done {
	unsigned int packets;
	unsigned int bytes;
	bool alone;			/* the poll has received only one packet */
};

/* Returns whether a packet has to go through GRO. GRO costs the parsing of headers, which is
 * wasted on a packet that is alone in its poll. But if GRO holds packets already, it must be used
 * to preserve the order, and if gro_flush_timeout is set, the administrator wants packets of
 * several polls to be merged.
 */
static bool rx_needs_gro(const struct ipoib_rx_ring *rx, const struct rx_done *done)
{
	return !done->alone || ipoib_gro_holds(rx->napi) ||
	       READ_ONCE(rx->priv->netdev->gro_flush_timeout);
}

static bool rx_is_udp(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ((const struct iphdr *)skb->data)->protocol == IPPROTO_UDP;
	return skb->protocol == htons(ETH_P_IPV6) &&
	       ((const struct ipv6hdr *)skb->data)->nexthdr == IPPROTO_UDP;
}

/* Sums a packet for UDP, which otherwise sums it while it copies it to the program, and that takes
 * longer than one after the other. GRO sums what goes through it in the same way. A rule of the
 * firewall may change the packet's header without the sum, so csum_complete_sw is not set: UDP
 * would drop a packet that does not fit the sum, instead of summing it again.
 */
static void rx_sum(struct sk_buff *skb)
{
	if (skb->len < IPOIB_RX_SUMMED || skb->ip_summed != CHECKSUM_NONE || !rx_is_udp(skb))
		return;
	skb->csum = csum_partial(skb->data, skb->len, 0);
	skb->ip_summed = CHECKSUM_COMPLETE;
}

static void rx_deliver(struct ipoib_rx_ring *rx, struct sk_buff *skb, const struct ib_wc *wc,
		       struct rx_done *done)
{
	bool gro;

	rx_headers(rx, skb, wc);
	if (unlikely(rx_makes_claim(skb) && !ipoib_verify_claim(rx->priv, wc, skb))) {
		dev_kfree_skb_any(skb);
		return;
	}
	if (skb->pkt_type != PACKET_HOST)
		ipoib_count(rx->priv, IPOIB_STAT_RX_MULTICAST);
	done->packets++;
	done->bytes += skb->len + IPOIB_ENCAP_LEN;
	gro = rx_needs_gro(rx, done);
	if (!gro)
		rx_sum(skb);
	ipoib_rx_hand_up(rx->napi, skb, gro);
}

static bool qpn_is_ours(const struct ipoib_dev *priv, u32 qpn)
{
	const struct ipoib_channel *channel;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		if (channel->tx.sq.qp->qp_num == qpn)
			return true;
	return false;
}

/* Returns whether a packet is a multicast packet that this device has sent, looped back by the
 * switch or the HCA. Many hosts may have the same QPNs, so the GID is compared as well.
 */
static bool rx_is_loopback(struct ipoib_rx_ring *rx, const struct ib_wc *wc)
{
	const struct ib_grh *grh = rx_data(&rx->buf[wc->wr_id]);

	if (!(wc->wc_flags & IB_WC_GRH) || likely(!qpn_is_ours(rx->priv, wc->src_qp)))
		return false;
	return !memcmp(&grh->sgid, &rx->priv->local_gid, sizeof(grh->sgid));
}

/* The QP is in the error state, which not every HCA reports by an event. Has the QP reset, once.
 * Until then nothing is posted, since the HCA would flush it at once.
 */
static void rx_failed(struct ipoib_rx_ring *rx, const struct ib_wc *wc)
{
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		ipoib_count(rx->priv, IPOIB_STAT_RX_ERROR);
	else if (!READ_ONCE(rx->priv->qp_running))
		return;
	if (rx->failed)
		return;
	rx->failed = true;
	if (net_ratelimit())
		netdev_warn(rx->priv->netdev,
			    "receive failed: %s (vendor error %#x), resetting QP\n",
			    ib_wc_status_msg(wc->status), wc->vendor_err);
	ipoib_link_event(rx->priv, IPOIB_EVENT_HEAVY);
}

static bool rx_is_good(struct ipoib_rx_ring *rx, const struct ib_wc *wc)
{
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rx_failed(rx, wc);
		return false;
	}
	if (unlikely(wc->byte_len < IB_GRH_BYTES + IPOIB_ENCAP_LEN)) {
		ipoib_count(rx->priv, IPOIB_STAT_RX_SHORT);
		return false;
	}
	if (unlikely(wc->byte_len > rx->longest)) {
		ipoib_count(rx->priv, IPOIB_STAT_RX_TOO_LONG);
		return false;
	}
	return true;
}

/* Makes a packet of a buffer that was taken out of its slot */
static struct sk_buff *rx_build(struct ipoib_rx_ring *rx, const struct rx_frag *frag, u32 len)
{
	struct sk_buff *skb = ipoib_pool_skb(rx->pool, frag->page, frag->offset, rx->frag_len);

	if (unlikely(!skb)) {
		ipoib_count(rx->priv, IPOIB_STAT_RX_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, IPOIB_RX_HEADROOM);
	skb_put(skb, len);
	return skb;
}

/* Makes a copy of a packet. This needs less memory at one place than a page of the pool. */
static struct sk_buff *rx_copy(struct ipoib_rx_ring *rx, const struct ipoib_rx_buf *buf, u32 len)
{
	struct sk_buff *skb = napi_alloc_skb(rx->napi, len);

	if (likely(skb))
		skb_put_data(skb, rx_data(buf), len);
	else
		ipoib_count(rx->priv, IPOIB_STAT_RX_NO_MEMORY);
	return skb;
}

/* Takes a packet out of its slot, and gives the slot a new buffer. If there is no memory for one,
 * the slot keeps its buffer, and the packet is copied. Returns NULL if the packet is not wanted or
 * there is no memory for it, either.
 */
static struct sk_buff *rx_take(struct ipoib_rx_ring *rx, const struct ib_wc *wc)
{
	struct ipoib_rx_buf *buf = &rx->buf[wc->wr_id];
	struct sk_buff *skb = NULL;
	struct rx_frag frag;

	ib_dma_sync_single_for_cpu(rx->priv->ibdev, buf->sge[0].addr, wc->byte_len,
				   DMA_FROM_DEVICE);
	if (unlikely(rx_is_loopback(rx, wc)))
		ipoib_count(rx->priv, IPOIB_STAT_RX_LOOPBACK);
	else if (unlikely(rx_exchange(rx, buf, &frag)))
		skb = rx_copy(rx, buf, wc->byte_len);
	else
		return rx_build(rx, &frag, wc->byte_len);
	ib_dma_sync_single_for_device(rx->priv->ibdev, buf->sge[0].addr, wc->byte_len,
				      DMA_FROM_DEVICE);
	return skb;
}

static void rx_complete(struct ipoib_rx_ring *rx, const struct ib_wc *wc, struct rx_done *done)
{
	struct sk_buff *skb;

	trace_ipoib_rx(rx->priv, wc);
	rx->posted--;
	if (!rx_is_good(rx, wc))
		return;
	skb = rx_take(rx, wc);
	if (likely(skb))
		rx_deliver(rx, skb, wc, done);
}

static int rx_post(struct ipoib_rx_ring *rx, struct ib_recv_wr *first, u32 n)
{
	/* Not every HCA says which WR it has refused, if it has refused all */
	const struct ib_recv_wr *bad = first, *wr;
	int err;

	rx->posted += n;
	err = ib_post_recv(rx->priv->qp, first, &bad);
	if (likely(!err))
		return 0;
	for (wr = bad; wr; wr = wr->next)
		rx->posted--;
	return err;
}

static void rx_keep_none(struct ipoib_rx_ring *rx)
{
	rx->kept = 0;
	rx->next_kept = &rx->first_kept;
}

static void rx_post_kept(struct ipoib_rx_ring *rx)
{
	int err;

	*rx->next_kept = NULL;
	err = rx_post(rx, rx->first_kept, rx->kept);
	rx_keep_none(rx);
	if (likely(!err))
		return;
	if (net_ratelimit())
		netdev_warn(rx->priv->netdev, "HCA refuses receive buffers: error %d\n", err);
	ipoib_link_event(rx->priv, IPOIB_EVENT_HEAVY);
}

/* Adds the slots of the last n CQEs to the list of WRs to be posted, and posts the list when it has
 * reached the size of a batch
 */
static void rx_repost(struct ipoib_rx_ring *rx, int n)
{
	int i;

	if (unlikely(!READ_ONCE(rx->priv->qp_running) || rx->failed))
		return;
	for (i = 0; i < n; i++) {
		struct ib_recv_wr *wr = &rx->buf[rx->wc[i].wr_id].wr;

		*rx->next_kept = wr;
		rx->next_kept = &wr->next;
	}
	rx->kept += n;
	if (rx->kept >= IPOIB_RX_POST_BATCH)
		rx_post_kept(rx);
}

/* Returns whether linkwatch has not activated the qdisc yet, which happens a moment after the
 * carrier. The qdisc is also inactive while it is changed: this is no reason to drop packets.
 */
static bool rx_awaits_qdisc(struct net_device *netdev)
{
	return test_bit(__LINK_STATE_LINKWATCH_PENDING, &netdev->state) &&
	       rcu_access_pointer(netdev_get_tx_queue(netdev, 0)->qdisc) == &noop_qdisc;
}

/* Returns whether the stack could not reply to a packet now. Then the stack's packets are dropped,
 * and so would be the ARP request for its reply, which it repeats only after a second. It is better
 * to drop the received packet, as its sender repeats it sooner.
 */
static bool rx_is_unanswerable(const struct ipoib_dev *priv)
{
	return !netif_carrier_ok(priv->netdev) || unlikely(rx_awaits_qdisc(priv->netdev));
}

static void rx_refuse(struct ipoib_rx_ring *rx, const struct ib_wc *wc)
{
	trace_ipoib_rx(rx->priv, wc);
	rx->posted--;
	if (rx_is_good(rx, wc))
		ipoib_count(rx->priv, IPOIB_STAT_RX_NO_CARRIER);
}

static void rx_complete_all(struct ipoib_rx_ring *rx, int n, struct rx_done *done)
{
	const struct ib_wc *wc;

	if (unlikely(rx_is_unanswerable(rx->priv))) {
		for (wc = rx->wc; wc < rx->wc + n; wc++)
			rx_refuse(rx, wc);
		return;
	}
	for (wc = rx->wc; wc < rx->wc + n; wc++)
		rx_complete(rx, wc, done);
}

static void rx_account(struct ipoib_rx_ring *rx, const struct rx_done *done)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(rx->priv->netdev->tstats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->rx_packets, done->packets);
	u64_stats_add(&stats->rx_bytes, done->bytes);
	u64_stats_update_end(&stats->syncp);
	ipoib_ring_account(&rx->stats, done->packets, done->bytes);
}

/**
 * ipoib_rx_poll() - process received packets
 * @rx: the ring
 * @budget: limit of CQEs to process
 *
 * Context: NAPI poll.
 * Return: number of CQEs that were processed; fewer than @budget if the CQ is empty.
 */
int ipoib_rx_poll(struct ipoib_rx_ring *rx, int budget)
{
	int polled = 0, want, n;
	struct rx_done done = {};

	do {
		want = min(budget - polled, IPOIB_WC_BATCH);
		n = max(ib_poll_cq(rx->cq, want, rx->wc), 0);
		done.alone = polled + n == 1 && n < want;
		rx_complete_all(rx, n, &done);
		rx_repost(rx, n);
		polled += n;
	} while (n == want && polled < budget);
	if (polled)
		rx_account(rx, &done);
	return polled;
}

static int rx_fill(struct ipoib_rx_ring *rx)
{
	int err;
	u32 i;

	for (i = 0; i < rx->size; i++) {
		struct ipoib_rx_buf *buf = &rx->buf[i];
		struct rx_frag frag;

		err = rx_frag_alloc(rx, &frag, GFP_KERNEL);
		if (err)
			return err;
		buf->page = frag.page;
		buf->offset = frag.offset;
		buf->sge[0].addr = rx_frag_addr(rx, &frag);
		buf->sge[0].length = rx->buf_len;
		buf->sge[0].lkey = rx->priv->pd->local_dma_lkey;
		buf->sge[1].addr = rx->spill_addr;
		buf->sge[1].length = IPOIB_RX_LONGEST - rx->buf_len;
		buf->sge[1].lkey = rx->priv->pd->local_dma_lkey;
		buf->wr.wr_id = i;
		buf->wr.sg_list = buf->sge;
		buf->wr.num_sge = buf->sge[1].length ? 2 : 1;
		buf->wr.next = i + 1 < rx->size ? &rx->buf[i + 1].wr : NULL;
	}
	return 0;
}

/**
 * ipoib_rx_empty() - return all buffers to the pool
 * @rx: the ring; it is not polled, and its QP holds no WR any more
 *
 * Context: control path.
 */
void ipoib_rx_empty(struct ipoib_rx_ring *rx)
{
	u32 i;

	ipoib_cq_purge(rx->cq, rx->wc);
	for (i = 0; i < rx->size; i++) {
		struct ipoib_rx_buf *buf = &rx->buf[i];

		if (!buf->page)
			continue;
		page_pool_put_full_page(rx->pool, buf->page, false);
		buf->page = NULL;
	}
	rx->posted = 0;
}

/* Returns the octets of a fragment: a buffer with the room that napi_build_skb() needs around it */
static u32 rx_frag_len(u32 buf_len)
{
	return SKB_DATA_ALIGN(IPOIB_RX_HEADROOM + buf_len) +
	       SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
}

/* Returns the smallest page order at which fragments leave at most an eighth of the page unused.
 * Larger pages are avoided, because a packet that is not freed for long keeps its whole page.
 */
static unsigned int rx_page_order(u32 frag_len)
{
	unsigned int order = get_order(frag_len);

	while (order < PAGE_ALLOC_COSTLY_ORDER &&
	       (PAGE_SIZE << order) % frag_len > (PAGE_SIZE << order) / 8)
		order++;
	return order;
}

static int rx_spill_create(struct ipoib_rx_ring *rx)
{
	rx->spill = kmalloc(IPOIB_RX_LONGEST, GFP_KERNEL);
	if (!rx->spill)
		return -ENOMEM;
	rx->spill_addr = ib_dma_map_single(rx->priv->ibdev, rx->spill, IPOIB_RX_LONGEST,
					   DMA_FROM_DEVICE);
	if (!ib_dma_mapping_error(rx->priv->ibdev, rx->spill_addr))
		return 0;
	kfree(rx->spill);
	return -EIO;
}

static void rx_spill_destroy(struct ipoib_rx_ring *rx)
{
	ib_dma_unmap_single(rx->priv->ibdev, rx->spill_addr, IPOIB_RX_LONGEST,
			    DMA_FROM_DEVICE);
	kfree(rx->spill);
}

/* Creates a new pool, for packets up to @mtu. The caller destroys the old pool, if any. On error
 * the ring is unchanged.
 */
static int rx_pool_create(struct ipoib_rx_ring *rx, u32 mtu)
{
	u32 longest = IB_GRH_BYTES + IPOIB_ENCAP_LEN + mtu;
	u32 buf_len = rx->has_spill ? longest : IPOIB_RX_LONGEST;
	u32 frag_len = rx_frag_len(buf_len);
	struct page_pool_params params = {
		.flags = PP_FLAG_PAGE_FRAG,
		.order = rx_page_order(frag_len),
		.pool_size = rx->size,	/* pages; sockets give many back at once */
		.nid = ibdev_to_node(rx->priv->ibdev),
	};
	struct page_pool *pool;

	ipoib_pool_map(rx->priv->ibdev, &params);
	compat_page_pool_set_netdev(&params, rx->priv->netdev);
	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	rx->pool = pool;
	rx->mtu = mtu;
	rx->longest = longest;
	rx->buf_len = buf_len;
	rx->frag_len = frag_len;
	return 0;
}

/**
 * ipoib_rx_fit() - adapt the size of the receive buffers to the link's MTU
 * @rx: the ring; its QP does not run
 * @mtu: the link's IP MTU, in octets
 *
 * Context: control path, may sleep.
 * Return: 0, or a negative error: then the size is unchanged.
 */
int ipoib_rx_fit(struct ipoib_rx_ring *rx, u32 mtu)
{
	struct page_pool *old = rx->pool;
	int err = rx_pool_create(rx, mtu);

	if (!err)
		page_pool_destroy(old);
	return err;
}

/**
 * ipoib_rx_init() - initialize a receive ring without a CQ and without memory
 * @rx: the ring, zeroed by the caller
 * @priv: its device
 *
 * Context: any.
 */
void ipoib_rx_init(struct ipoib_rx_ring *rx, struct ipoib_dev *priv)
{
	rx->priv = priv;
	rx->mtu = IPOIB_RX_MTU_DEFAULT;
	u64_stats_init(&rx->stats.syncp);
	ipoib_dim_init(rx);
}

/**
 * ipoib_rx_use() - set the queues of a receive ring
 * @rx: the ring; it is stopped
 * @cq: its new CQ
 * @napi: the NAPI context that polls the CQ
 * @size: number of slots, a power of two
 * @has_spill: whether a receive WR may have two SGEs
 *
 * Context: rtnl held.
 */
void ipoib_rx_use(struct ipoib_rx_ring *rx, struct ib_cq *cq, struct napi_struct *napi,
		  u32 size, bool has_spill)
{
	rx->cq = cq;
	rx->napi = napi;
	rx->size = size;
	rx->has_spill = has_spill;
	atomic_set(&rx->armed, false);
}

/**
 * ipoib_rx_create() - allocate the memory of a receive ring
 * @rx: the ring; its size and MTU are set
 *
 * Context: may sleep; rtnl held.
 * Return: 0 or a negative error.
 */
int ipoib_rx_create(struct ipoib_rx_ring *rx)
{
	int err;

	rx->buf = kvcalloc(rx->size, sizeof(*rx->buf), GFP_KERNEL);
	if (!rx->buf)
		return -ENOMEM;
	err = rx_spill_create(rx);
	if (err)
		goto err_buf;
	err = rx_pool_create(rx, rx->mtu);
	if (err)
		goto err_spill;
	return 0;

err_spill:
	rx_spill_destroy(rx);
err_buf:
	kvfree(rx->buf);
	return err;
}

/**
 * ipoib_rx_destroy() - free what ipoib_rx_create() allocated
 * @rx: the ring; it is stopped
 *
 * Context: may sleep; rtnl held.
 */
void ipoib_rx_destroy(struct ipoib_rx_ring *rx)
{
	page_pool_destroy(rx->pool);
	rx_spill_destroy(rx);
	kvfree(rx->buf);
}

/**
 * ipoib_rx_start() - allocate the receive buffers and post them to the HCA
 * @rx: the ring; its QP is in the state INIT
 *
 * Context: control path, may sleep.
 * Return: 0, or -ENOMEM or the error of ib_post_recv(): then the ring is empty.
 */
int ipoib_rx_start(struct ipoib_rx_ring *rx)
{
	int err;

	err = rx_fill(rx);
	if (err)
		goto err_empty;
	rx_keep_none(rx);
	rx->failed = false;
	/* An event that was due, and was lost, is not waited for any longer */
	atomic_set(&rx->armed, false);
	err = rx_post(rx, &rx->buf[0].wr, rx->size);
	if (err)
		goto err_empty;
	return 0;

err_empty:
	ipoib_rx_empty(rx);
	return err;
}
