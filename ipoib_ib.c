// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The datagram data path: the send and receive rings of one UD QP, posting to
 * them and polling them.
 *
 * A packet takes one WR. On the way out WRs are chained while the stack has
 * more to send and handed over by one ib_post_send(); on the way in, the
 * buffers of one poll go back to the HCA in one chain.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/vmalloc.h>

#include "ipoib.h"
#include "ipoib_trace.h"

/* Room in front of the GRH for whoever pushes headers on a received packet */
#define IPOIB_RX_HEADROOM	NET_SKB_PAD

#define IPOIB_DRAIN_MS		5000

static struct ipoib_tx_buf *tx_slot(struct ipoib_tx_ring *tx, u32 index)
{
	return &tx->buf[index & (tx->size - 1)];
}

static u32 tx_used(const struct ipoib_tx_ring *tx)
{
	return READ_ONCE(tx->head) - READ_ONCE(tx->tail);
}

/* Octets of the linear part that go by DMA: a large send's header is copied */
static u32 tx_linear_len(const struct ipoib_tx_buf *buf)
{
	return skb_headlen(buf->skb) - buf->header_len;
}

static void tx_unmap(struct ib_device *ibdev, struct ipoib_tx_buf *buf, int frags)
{
	struct sk_buff *skb = buf->skb;
	u64 *mapping = buf->mapping;
	int i;

	if (tx_linear_len(buf))
		ib_dma_unmap_single(ibdev, *mapping++, tx_linear_len(buf), DMA_TO_DEVICE);
	for (i = 0; i < frags; i++)
		ib_dma_unmap_page(ibdev, mapping[i],
				  skb_frag_size(&skb_shinfo(skb)->frags[i]), DMA_TO_DEVICE);
}

static int tx_map_frags(struct ib_device *ibdev, struct ipoib_tx_buf *buf, u64 *mapping)
{
	struct sk_buff *skb = buf->skb;
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		mapping[i] = ib_dma_map_page(ibdev, skb_frag_page(frag), skb_frag_off(frag),
					     skb_frag_size(frag), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, mapping[i])) {
			tx_unmap(ibdev, buf, i);
			return -EIO;
		}
	}
	return 0;
}

static int tx_map(struct ib_device *ibdev, struct ipoib_tx_buf *buf)
{
	struct sk_buff *skb = buf->skb;
	u64 *mapping = buf->mapping;

	if (tx_linear_len(buf)) {
		*mapping = ib_dma_map_single(ibdev, skb->data + buf->header_len,
					     tx_linear_len(buf), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, *mapping))
			return -EIO;
		mapping++;
	}
	return tx_map_frags(ibdev, buf, mapping);
}

static int tx_fill_sges(struct ipoib_dev *priv, struct ipoib_tx_wr *wr,
			const struct ipoib_tx_buf *buf)
{
	const struct sk_buff *skb = buf->skb;
	int i, n = 0;

	if (tx_linear_len(buf))
		wr->sge[n++].length = tx_linear_len(buf);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		wr->sge[n++].length = skb_frag_size(&skb_shinfo(skb)->frags[i]);
	for (i = 0; i < n; i++) {
		wr->sge[i].addr = buf->mapping[i];
		wr->sge[i].lkey = priv->pd->local_dma_lkey;
	}
	return n;
}

static void tx_offload(struct ib_ud_wr *ud, const struct ipoib_tx_buf *buf)
{
	struct sk_buff *skb = buf->skb;

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		ud->wr.send_flags |= IB_SEND_IP_CSUM;
	if (!buf->header_len)
		return;
	ud->wr.opcode = IB_WR_LSO;
	ud->header = skb->data;
	ud->hlen = buf->header_len;
	ud->mss = skb_shinfo(skb)->gso_size;
}

static void tx_chain(struct ipoib_dev *priv, const struct ipoib_tx_buf *buf,
		     struct ib_ah *ibah, u32 qpn)
{
	struct ipoib_tx_ring *tx = &priv->tx;
	struct ipoib_tx_wr *wr = &tx->chain[tx->chained];

	wr->ud.wr.next = NULL;
	wr->ud.wr.wr_id = tx->head;
	wr->ud.wr.sg_list = wr->sge;
	wr->ud.wr.num_sge = tx_fill_sges(priv, wr, buf);
	wr->ud.wr.opcode = IB_WR_SEND;
	wr->ud.wr.send_flags = IB_SEND_SIGNALED;
	tx_offload(&wr->ud, buf);
	wr->ud.ah = ibah;
	wr->ud.remote_qpn = qpn;
	wr->ud.remote_qkey = READ_ONCE(priv->qkey);
	if (tx->chained)
		tx->chain[tx->chained - 1].ud.wr.next = &wr->ud.wr;
	tx->chained++;
}

/*
 * WRs that the HCA refused stay in the ring and are reclaimed in their turn by
 * the consumer: byte queue limits allow only one context to complete packets.
 */
static void tx_refused(struct ipoib_dev *priv, const struct ib_send_wr *bad)
{
	struct ipoib_tx_ring *tx = &priv->tx;
	u32 i;

	for (i = bad->wr_id; i != tx->head; i++)
		/* Pairs with tx_is_refused(): the slot is whole */
		smp_store_release(&tx_slot(tx, i)->refused, true);
	ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
	napi_schedule(&tx->napi);
}

static void tx_doorbell(struct ipoib_dev *priv)
{
	struct ipoib_tx_ring *tx = &priv->tx;
	const struct ib_send_wr *bad;

	if (!tx->chained)
		return;
	tx->chained = 0;
	if (unlikely(ib_post_send(priv->qp, &tx->chain[0].ud.wr, &bad)))
		tx_refused(priv, bad);
}

static void tx_stop_if_full(struct ipoib_tx_ring *tx, struct netdev_queue *txq)
{
	if (likely(tx_used(tx) < tx->size))
		return;
	netif_tx_stop_queue(txq);
	/* Pairs with the barrier in tx_wake(): either it sees the queue
	 * stopped, or the room that it made is seen here.
	 */
	smp_mb();
	if (tx_used(tx) < tx->size)
		netif_tx_start_queue(txq);
}

/**
 * ipoib_features_check() - ndo_features_check: what the HCA cannot do for a packet
 * @skb: the packet
 * @netdev: the device
 * @features: what it can do in general
 *
 * A large packet in more pieces than a work request takes is segmented by the
 * stack: cheaper than to copy it into one.
 *
 * Context: any.
 * Return: @features, or fewer.
 */
netdev_features_t ipoib_features_check(struct sk_buff *skb, struct net_device *netdev,
				       netdev_features_t features)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	if (skb_is_gso(skb) && skb_shinfo(skb)->nr_frags + 1 > priv->tx.max_sge)
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

/* A large packet's headers in one piece, and their length in @buf */
static int tx_large(struct ipoib_tx_buf *buf, struct sk_buff *skb)
{
	buf->header_len = skb_is_gso(skb) ? skb_tcp_all_headers(skb) : 0;
	return pskb_may_pull(skb, buf->header_len) ? 0 : -ENOMEM;
}

static int tx_linearize(struct ipoib_dev *priv, struct sk_buff *skb)
{
	if (likely(skb_shinfo(skb)->nr_frags + !!skb_headlen(skb) <= priv->tx.max_sge))
		return 0;
	ipoib_count(priv, IPOIB_STAT_TX_LINEARIZED);
	return skb_linearize(skb);
}

/* IBA 10.5.2: all of a group are QP 0xffffff, whatever a neighbour has been told */
static u32 tx_qpn(const struct ipoib_hwaddr *hwaddr)
{
	return ipoib_gid_is_multicast(hwaddr->gid) ? IPOIB_QPN_MULTICAST :
						     ipoib_hwaddr_qpn(hwaddr);
}

/* Puts a packet on the ring; true if the doorbell must not wait for more */
static bool tx_packet(struct ipoib_dev *priv, struct sk_buff *skb, struct ib_ah *ibah)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	u32 qpn = tx_qpn(hwaddr);
	struct netdev_queue *txq = netdev_get_tx_queue(priv->netdev, 0);
	struct ipoib_tx_ring *tx = &priv->tx;
	struct ipoib_tx_buf *buf = tx_slot(tx, tx->head);

	trace_ipoib_tx(priv, skb, hwaddr);
	skb_pull(skb, INFINIBAND_ALEN);
	if (unlikely(tx_linearize(priv, skb) || tx_large(buf, skb))) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		return false;
	}
	buf->skb = skb;
	buf->refused = false;
	if (unlikely(tx_map(priv->ibdev, buf))) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_DMA_MAP);
		return false;
	}
	tx_chain(priv, buf, ibah, qpn);
	skb_tx_timestamp(skb);
	WRITE_ONCE(tx->head, tx->head + 1);
	tx_stop_if_full(tx, txq);
	return __netdev_tx_sent_queue(txq, skb->len, netdev_xmit_more()) ||
	       tx->chained == IPOIB_TX_CHAIN_MAX;
}

/* Of a large packet each segment counts. The MTU may have shrunk a moment ago. */
static bool tx_is_too_long(const struct sk_buff *skb, u32 mtu)
{
	if (likely(skb->len <= mtu + IPOIB_HARD_LEN))
		return false;
	return !skb_is_gso(skb) || !skb_gso_validate_network_len(skb, mtu);
}

/* The AH to send to, or NULL if the packet was kept for later or dropped */
static struct ipoib_ah *tx_address(struct ipoib_dev *priv, struct sk_buff *skb)
{
	const struct ipoib_header *header;

	if (unlikely(!pskb_may_pull(skb, IPOIB_HARD_LEN))) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_SHORT);
		return NULL;
	}
	if (unlikely(tx_is_too_long(skb, READ_ONCE(priv->mtu)))) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_TOO_LONG);
		return NULL;
	}
	header = (struct ipoib_header *)skb->data;
	if (ipoib_gid_is_multicast(header->hwaddr.gid))
		return ipoib_group_xmit(priv, skb);
	return ipoib_path_xmit(priv, skb);
}

/**
 * ipoib_start_xmit() - ndo_start_xmit: send one packet
 * @skb: begins with struct ipoib_header
 * @netdev: the device
 *
 * Context: BHs disabled, TX queue's lock held.
 * Return: NETDEV_TX_OK, always: the packet was posted, kept until its
 * destination is resolved, or dropped and counted.
 */
netdev_tx_t ipoib_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct ipoib_dev *priv = netdev_priv(netdev);
	bool kick = !netdev_xmit_more();
	struct ipoib_ah *ah;

	/* An AH stays valid after the section: once the packet is on the ring,
	 * it is the ring that holds it (see ipoib_ah_retire()).
	 */
	rcu_read_lock();
	ah = tx_address(priv, skb);
	if (likely(ah))
		kick |= tx_packet(priv, skb, ah->ibah);
	rcu_read_unlock();
	if (kick)
		tx_doorbell(priv);
	return NETDEV_TX_OK;
}

/* Packets and octets of one poll, for the statistics and the queue limits */
struct tx_done {
	unsigned int packets;
	unsigned int bytes;
	unsigned int sent_packets;
	unsigned int sent_bytes;
};

static void tx_reclaim(struct ipoib_dev *priv, struct tx_done *done, int budget, bool sent)
{
	struct ipoib_tx_ring *tx = &priv->tx;
	struct ipoib_tx_buf *buf = tx_slot(tx, tx->tail);
	struct sk_buff *skb = buf->skb;

	tx_unmap(priv->ibdev, buf, skb_shinfo(skb)->nr_frags);
	done->packets++;
	done->bytes += skb->len;
	done->sent_packets += sent;
	done->sent_bytes += sent ? skb->len : 0;
	napi_consume_skb(skb, budget);
	/* Pairs with tx_used() in the producer: the slot is free only now */
	smp_store_release(&tx->tail, tx->tail + 1);
}

static bool tx_is_refused(struct ipoib_tx_ring *tx)
{
	/* Pairs with the release in tx_refused() */
	return tx_used(tx) && smp_load_acquire(&tx_slot(tx, tx->tail)->refused);
}

static void tx_reclaim_refused(struct ipoib_dev *priv, struct tx_done *done, int budget)
{
	struct ipoib_tx_ring *tx = &priv->tx;

	while (tx_is_refused(tx)) {
		tx_slot(tx, tx->tail)->refused = false;
		ipoib_count(priv, IPOIB_STAT_TX_POST);
		tx_reclaim(priv, done, budget, false);
	}
}

static void tx_failed(struct ipoib_dev *priv, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		ipoib_count(priv, IPOIB_STAT_TX_FLUSHED);
		return;
	}
	ipoib_count(priv, IPOIB_STAT_TX_ERROR);
	if (net_ratelimit())
		netdev_warn(priv->netdev, "send failed: %s (vendor error %#x)\n",
			    ib_wc_status_msg(wc->status), wc->vendor_err);
	ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
}

static void tx_complete(struct ipoib_dev *priv, const struct ib_wc *wc,
			struct tx_done *done, int budget)
{
	bool sent = wc->status == IB_WC_SUCCESS;

	trace_ipoib_tx_complete(priv, wc->wr_id, wc->status);
	tx_reclaim_refused(priv, done, budget);
	if (unlikely(!sent))
		tx_failed(priv, wc);
	tx_reclaim(priv, done, budget, sent);
}

static void tx_wake(struct ipoib_dev *priv, const struct tx_done *done)
{
	struct netdev_queue *txq = netdev_get_tx_queue(priv->netdev, 0);
	struct ipoib_tx_ring *tx = &priv->tx;

	netdev_tx_completed_queue(txq, done->packets, done->bytes);
	/* Pairs with the barrier in tx_stop_if_full() */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(txq)) && READ_ONCE(priv->qp_running) &&
	    tx_used(tx) <= tx->size / 2)
		netif_tx_wake_queue(txq);
	if (unlikely(READ_ONCE(priv->ah_waiting)))
		queue_work(priv->wq, &priv->ah_work);
}

/* What a poll moved. A ring has one poller, which alone writes its figures. */
static void ring_account(struct ipoib_ring_stats *stats, unsigned int packets,
			 unsigned int bytes)
{
	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->packets, packets);
	u64_stats_add(&stats->bytes, bytes);
	u64_stats_inc(&stats->polls);
	u64_stats_update_end(&stats->syncp);
}

static void tx_account(struct ipoib_dev *priv, const struct tx_done *done)
{
	if (done->sent_packets)
		dev_sw_netstats_tx_add(priv->netdev, done->sent_packets, done->sent_bytes);
	ring_account(&priv->tx.stats, done->sent_packets, done->sent_bytes);
	if (done->packets)
		tx_wake(priv, done);
}

/* Arms the CQ once it is empty; a CQE that slipped in is polled at once */
static void poll_complete(struct napi_struct *napi, struct ib_cq *cq, int done)
{
	if (!napi_complete_done(napi, done))
		return;
	if (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		napi_schedule(napi);
}

/**
 * ipoib_tx_poll() - NAPI poll of the send CQ
 * @napi: the send ring's
 * @budget: CQEs to take at most
 *
 * Context: softirq.
 * Return: CQEs taken; less than @budget if the CQ is armed again.
 */
int ipoib_tx_poll(struct napi_struct *napi, int budget)
{
	struct ipoib_tx_ring *tx = container_of(napi, struct ipoib_tx_ring, napi);
	struct ipoib_dev *priv = container_of(tx, struct ipoib_dev, tx);
	int limit = max(budget, 1), polled = 0, n, i;
	struct tx_done done = {};

	do {
		n = ib_poll_cq(tx->cq, min(limit - polled, IPOIB_WC_BATCH), tx->wc);
		for (i = 0; i < n; i++)
			tx_complete(priv, &tx->wc[i], &done, budget);
		polled += max(n, 0);
	} while (n == IPOIB_WC_BATCH && polled < limit);
	tx_reclaim_refused(priv, &done, budget);
	tx_account(priv, &done);
	if (polled >= budget)
		return budget;
	poll_complete(napi, tx->cq, polled);
	return polled;
}

static int rx_map(struct ipoib_dev *priv, struct page *page, u64 *addr)
{
	*addr = ib_dma_map_page(priv->ibdev, page, IPOIB_RX_HEADROOM, priv->rx.buf_len,
				DMA_FROM_DEVICE);
	return ib_dma_mapping_error(priv->ibdev, *addr) ? -EIO : 0;
}

/* Gives the slot a fresh page, unless there is none; returns the old one */
static struct page *rx_exchange(struct ipoib_dev *priv, struct ipoib_rx_buf *buf)
{
	struct page *page = page_pool_dev_alloc_pages(priv->rx.pool);
	struct page *old = buf->page;
	u64 addr;

	if (unlikely(!page))
		return NULL;
	if (unlikely(rx_map(priv, page, &addr))) {
		page_pool_recycle_direct(priv->rx.pool, page);
		return NULL;
	}
	ib_dma_unmap_page(priv->ibdev, buf->sge.addr, priv->rx.buf_len, DMA_FROM_DEVICE);
	buf->sge.addr = addr;
	buf->page = page;
	return old;
}

static unsigned char rx_pkt_type(const struct ipoib_dev *priv, const struct ib_wc *wc,
				 const struct ib_grh *grh)
{
	const struct ipoib_hwaddr *broadcast = (void *)priv->netdev->broadcast;

	if (!(wc->wc_flags & IB_WC_GRH) || !ipoib_gid_is_multicast(grh->dgid.raw))
		return PACKET_HOST;
	if (!memcmp(grh->dgid.raw, broadcast->gid, sizeof(grh->dgid)))
		return PACKET_BROADCAST;
	return PACKET_MULTICAST;
}

/* The GRH's place is taken by the pseudo header, so it is read before */
static void rx_headers(struct ipoib_dev *priv, struct sk_buff *skb, const struct ib_wc *wc)
{
	struct ipoib_header *header;
	struct ipoib_hwaddr sender;

	skb->pkt_type = rx_pkt_type(priv, wc, (struct ib_grh *)skb->data);
	ipoib_learn_sender(priv, wc, (struct ib_grh *)skb->data, &sender);
	skb_pull(skb, IB_GRH_BYTES - INFINIBAND_ALEN);
	header = (struct ipoib_header *)skb->data;
	header->hwaddr = sender;
	skb->protocol = header->encap.ethertype;
	skb->dev = priv->netdev;
	if ((wc->wc_flags & IB_WC_IP_CSUM_OK) && (priv->netdev->features & NETIF_F_RXCSUM))
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb_reset_mac_header(skb);
	skb_pull(skb, IPOIB_HARD_LEN);
}

/* Packets and octets of one poll, for the statistics */
struct rx_done {
	unsigned int packets;
	unsigned int bytes;
};

static void rx_deliver(struct ipoib_dev *priv, struct page *page, const struct ib_wc *wc,
		       struct rx_done *done)
{
	struct sk_buff *skb = napi_build_skb(page_address(page), priv->rx.page_len);

	if (unlikely(!skb)) {
		ipoib_count(priv, IPOIB_STAT_RX_NO_MEMORY);
		page_pool_recycle_direct(priv->rx.pool, page);
		return;
	}
	skb_mark_for_recycle(skb);
	skb_reserve(skb, IPOIB_RX_HEADROOM);
	skb_put(skb, wc->byte_len);
	rx_headers(priv, skb, wc);
	if (unlikely(!ipoib_learn_claim(priv, wc, skb))) {
		dev_kfree_skb_any(skb);
		return;
	}
	if (skb->pkt_type != PACKET_HOST)
		ipoib_count(priv, IPOIB_STAT_RX_MULTICAST);
	done->packets++;
	done->bytes += skb->len + IPOIB_ENCAP_LEN;
	napi_gro_receive(&priv->rx.napi, skb);
}

/* A multicast packet of our own, come back from the switch or the HCA. QPNs are
 * often the same on many hosts, so those of the same number are looked at closely.
 */
static bool rx_is_loopback(struct ipoib_dev *priv, const struct ib_wc *wc)
{
	const struct ipoib_rx_buf *buf = &priv->rx.buf[wc->wr_id];
	const struct ib_grh *grh = page_address(buf->page) + IPOIB_RX_HEADROOM;

	if (likely(wc->src_qp != priv->qp->qp_num) || !(wc->wc_flags & IB_WC_GRH))
		return false;
	ib_dma_sync_single_for_cpu(priv->ibdev, buf->sge.addr, sizeof(*grh), DMA_FROM_DEVICE);
	return !memcmp(&grh->sgid, &priv->local_gid, sizeof(grh->sgid));
}

static bool rx_is_good(struct ipoib_dev *priv, const struct ib_wc *wc)
{
	if (unlikely(wc->status == IB_WC_WR_FLUSH_ERR))
		return false;
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		ipoib_count(priv, IPOIB_STAT_RX_ERROR);
		if (net_ratelimit())
			netdev_warn(priv->netdev, "receive failed: %s (vendor error %#x)\n",
				    ib_wc_status_msg(wc->status), wc->vendor_err);
		ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
		return false;
	}
	if (unlikely(wc->byte_len < IB_GRH_BYTES + IPOIB_ENCAP_LEN)) {
		ipoib_count(priv, IPOIB_STAT_RX_SHORT);
		return false;
	}
	if (unlikely(rx_is_loopback(priv, wc))) {
		ipoib_count(priv, IPOIB_STAT_RX_LOOPBACK);
		return false;
	}
	return true;
}

static void rx_complete(struct ipoib_dev *priv, const struct ib_wc *wc, struct rx_done *done)
{
	struct page *page;

	trace_ipoib_rx(priv, wc);
	priv->rx.posted--;
	if (!rx_is_good(priv, wc))
		return;
	page = rx_exchange(priv, &priv->rx.buf[wc->wr_id]);
	if (unlikely(!page)) {
		ipoib_count(priv, IPOIB_STAT_RX_NO_MEMORY);
		return;
	}
	rx_deliver(priv, page, wc, done);
}

static int rx_post(struct ipoib_dev *priv, struct ib_recv_wr *first, u32 n)
{
	const struct ib_recv_wr *bad, *wr;
	int err;

	priv->rx.posted += n;
	err = ib_post_recv(priv->qp, first, &bad);
	if (likely(!err))
		return 0;
	for (wr = bad; wr; wr = wr->next)
		priv->rx.posted--;
	return err;
}

/* Hands the slots of the last n CQEs back to the HCA */
static void rx_repost(struct ipoib_dev *priv, int n)
{
	struct ipoib_rx_ring *rx = &priv->rx;
	struct ib_recv_wr *first = NULL, **link = &first;
	int i;

	if (!n || unlikely(!READ_ONCE(priv->qp_running)))
		return;
	for (i = 0; i < n; i++) {
		*link = &rx->buf[rx->wc[i].wr_id].wr;
		link = &(*link)->next;
	}
	*link = NULL;
	if (unlikely(rx_post(priv, first, n)))
		ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
}

static void rx_account(struct ipoib_dev *priv, const struct rx_done *done)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(priv->netdev->tstats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->rx_packets, done->packets);
	u64_stats_add(&stats->rx_bytes, done->bytes);
	u64_stats_update_end(&stats->syncp);
	ring_account(&priv->rx.stats, done->packets, done->bytes);
}

/**
 * ipoib_rx_poll() - NAPI poll of the receive CQ
 * @napi: the receive ring's
 * @budget: packets to take at most
 *
 * Context: softirq.
 * Return: packets taken; less than @budget if the CQ is armed again.
 */
int ipoib_rx_poll(struct napi_struct *napi, int budget)
{
	struct ipoib_rx_ring *rx = container_of(napi, struct ipoib_rx_ring, napi);
	struct ipoib_dev *priv = container_of(rx, struct ipoib_dev, rx);
	int polled = 0, want, n, i;
	struct rx_done done = {};

	do {
		want = min(budget - polled, IPOIB_WC_BATCH);
		n = max(ib_poll_cq(rx->cq, want, rx->wc), 0);
		for (i = 0; i < n; i++)
			rx_complete(priv, &rx->wc[i], &done);
		rx_repost(priv, n);
		polled += n;
	} while (n == want && polled < budget);
	rx_account(priv, &done);
	if (polled < budget)
		poll_complete(napi, rx->cq, polled);
	return polled;
}

static int rx_fill(struct ipoib_dev *priv)
{
	struct ipoib_rx_ring *rx = &priv->rx;
	u32 i;

	for (i = 0; i < rx->size; i++) {
		struct ipoib_rx_buf *buf = &rx->buf[i];

		buf->page = page_pool_alloc_pages(rx->pool, GFP_KERNEL);
		if (!buf->page)
			return -ENOMEM;
		if (rx_map(priv, buf->page, &buf->sge.addr)) {
			page_pool_put_full_page(rx->pool, buf->page, false);
			buf->page = NULL;
			return -EIO;
		}
		buf->sge.length = rx->buf_len;
		buf->sge.lkey = priv->pd->local_dma_lkey;
		buf->wr.wr_id = i;
		buf->wr.sg_list = &buf->sge;
		buf->wr.num_sge = 1;
		buf->wr.next = i + 1 < rx->size ? &rx->buf[i + 1].wr : NULL;
	}
	return 0;
}

static void rx_empty(struct ipoib_dev *priv)
{
	struct ipoib_rx_ring *rx = &priv->rx;
	u32 i;

	for (i = 0; i < rx->size; i++) {
		struct ipoib_rx_buf *buf = &rx->buf[i];

		if (!buf->page)
			continue;
		ib_dma_unmap_page(priv->ibdev, buf->sge.addr, rx->buf_len, DMA_FROM_DEVICE);
		page_pool_put_full_page(rx->pool, buf->page, false);
		buf->page = NULL;
	}
	rx->posted = 0;
}

static void tx_empty(struct ipoib_dev *priv)
{
	struct ipoib_tx_ring *tx = &priv->tx;
	struct tx_done done = {};

	while (tx_used(tx)) {
		ipoib_count(priv, IPOIB_STAT_TX_FLUSHED);
		tx_reclaim(priv, &done, 0, false);
	}
	tx->chained = 0;
	netdev_reset_queue(priv->netdev);
}

static void rings_arm(struct ipoib_dev *priv)
{
	const enum ib_cq_notify_flags flags = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;

	napi_enable(&priv->rx.napi);
	napi_enable(&priv->tx.napi);
	local_bh_disable();
	if (ib_req_notify_cq(priv->rx.cq, flags) > 0)
		napi_schedule(&priv->rx.napi);
	if (ib_req_notify_cq(priv->tx.cq, flags) > 0)
		napi_schedule(&priv->tx.napi);
	local_bh_enable();
}

/**
 * ipoib_rings_start() - give the HCA its receive buffers, begin to poll
 * @priv: the device; its QP is in INIT and its rings are empty
 *
 * Context: control path.
 * Return: 0, -ENOMEM, -EIO, or what ib_post_recv() says; nothing runs then.
 */
int ipoib_rings_start(struct ipoib_dev *priv)
{
	int err;

	err = rx_fill(priv);
	if (err)
		goto err_empty;
	err = rx_post(priv, &priv->rx.buf[0].wr, priv->rx.size);
	if (err)
		goto err_empty;
	rings_arm(priv);
	return 0;

err_empty:
	rx_empty(priv);
	return err;
}

/**
 * ipoib_rings_drain() - wait until the HCA has given back every WR
 * @priv: the device; its QP is in the error state, polling still goes on
 *
 * An HCA that does not flush its queues is given IPOIB_DRAIN_MS, then told on. A
 * CQ that failed will report nothing.
 *
 * Context: control path.
 */
void ipoib_rings_drain(struct ipoib_dev *priv)
{
	unsigned long limit = jiffies + msecs_to_jiffies(IPOIB_DRAIN_MS);

	while (READ_ONCE(priv->rx.posted) || tx_used(&priv->tx)) {
		if (READ_ONCE(priv->cq_failed))
			return;
		if (time_after(jiffies, limit)) {
			netdev_warn(priv->netdev, "HCA did not flush %u receives, %u sends\n",
				    READ_ONCE(priv->rx.posted), tx_used(&priv->tx));
			return;
		}
		usleep_range(100, 1000);
	}
}

/**
 * ipoib_rings_stop() - stop polling and empty both rings
 * @priv: the device; its QP holds no WR any more
 *
 * Context: control path; qp_running is false.
 */
void ipoib_rings_stop(struct ipoib_dev *priv)
{
	napi_disable(&priv->rx.napi);
	napi_disable(&priv->tx.napi);
	/* A poll may have woken the queue until just now; nobody does after */
	netif_tx_disable(priv->netdev);
	tx_empty(priv);
	rx_empty(priv);
}

static struct page_pool *rx_pool_create(struct ipoib_dev *priv)
{
	struct page_pool_params params = {
		.order = get_order(priv->rx.page_len),
		.pool_size = priv->rx.size,
		.nid = ibdev_to_node(priv->ibdev),
	};

	return page_pool_create(&params);
}

/* The buffer must hold what the link's largest IB MTU allows, not what today's
 * broadcast group does: that may grow without the ring being filled anew.
 */
static void rx_set_lengths(struct ipoib_dev *priv)
{
	u32 mtu = ipoib_ib_mtu_to_mtu(priv->max_mtu);

	priv->rx.buf_len = IB_GRH_BYTES + IPOIB_ENCAP_LEN + mtu;
	priv->rx.page_len = PAGE_SIZE << get_order(IPOIB_RX_HEADROOM + priv->rx.buf_len +
				SKB_DATA_ALIGN(sizeof(struct skb_shared_info)));
}

/**
 * ipoib_rings_create() - allocate both rings
 * @priv: the device; the rings' sizes are set
 *
 * Context: may sleep; rtnl held.
 * Return: 0 or a negative error.
 */
int ipoib_rings_create(struct ipoib_dev *priv)
{
	struct ipoib_tx_ring *tx = &priv->tx;
	struct ipoib_rx_ring *rx = &priv->rx;
	int err = -ENOMEM;

	rx_set_lengths(priv);
	tx->buf = kvcalloc(tx->size, sizeof(*tx->buf), GFP_KERNEL);
	if (!tx->buf)
		return err;
	tx->chain = kcalloc(IPOIB_TX_CHAIN_MAX, sizeof(*tx->chain), GFP_KERNEL);
	if (!tx->chain)
		goto err_tx;
	rx->buf = kvcalloc(rx->size, sizeof(*rx->buf), GFP_KERNEL);
	if (!rx->buf)
		goto err_chain;
	rx->pool = rx_pool_create(priv);
	if (IS_ERR(rx->pool)) {
		err = PTR_ERR(rx->pool);
		goto err_rx;
	}
	return 0;

err_rx:
	kvfree(rx->buf);
err_chain:
	kfree(tx->chain);
err_tx:
	kvfree(tx->buf);
	return err;
}

/**
 * ipoib_rings_destroy() - free what ipoib_rings_create() allocated
 * @priv: the device; both rings are stopped
 *
 * Context: may sleep; rtnl held.
 */
void ipoib_rings_destroy(struct ipoib_dev *priv)
{
	page_pool_destroy(priv->rx.pool);
	kvfree(priv->rx.buf);
	kfree(priv->tx.chain);
	kvfree(priv->tx.buf);
}
