// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The send ring of a UD QP.
 *
 * A WR takes a slot. A packet is one WR, but for a large one that the HCA cannot cut:
 * that is as many as it has segments (ipoib_gso.c), and belongs to the last of them. A
 * small one is copied, which is cheaper than to map it, and done with at once. WRs are
 * chained while the stack has more to send and handed over by one ib_post_send().
 * Only the last of a chain asks for a CQE. Sends complete in their order, so that
 * stands for all before it.
 *
 * A device has one ring, or as many as the administrator asks for (ethtool -L), so that
 * CPUs send without waiting for each other. Each has a QP of its own. The first one's is
 * what the link-layer address names; what tells addresses goes by that.
 *
 * An event for each CQE would cost more than the CQE. It is asked for once
 * IPOIB_TX_REAP_SLOTS are in use, or the queue was stopped; a few sends are looked for
 * later, by a timer that is started once for all that come meanwhile. Where a packet waits
 * to be freed, that is a moment later: its socket may wait for it.
 */
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/ndisc.h>
#include <net/tcp.h>

#include "ipoib.h"
#include "ipoib_trace.h"

/* There is no drop to count */
#define TX_SENT			IPOIB_STAT_COUNT

#define TX_HEADERS_PER_PAGE	(PAGE_SIZE / IPOIB_TX_HEADER_MAX)

static struct ipoib_tx_buf *tx_slot(struct ipoib_tx_ring *tx, u32 index)
{
	return &tx->buf[index & (tx->size - 1)];
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

static u32 tx_fill_sges(struct ipoib_dev *priv, struct ib_sge *sge,
			const struct ipoib_tx_buf *buf)
{
	const struct sk_buff *skb = buf->skb;
	u32 i, n = 0;

	if (tx_linear_len(buf))
		sge[n++].length = tx_linear_len(buf);
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
static void tx_refused(struct ipoib_tx_ring *tx, u32 first, const struct ib_send_wr *bad, int err)
{
	u32 i;

	if (net_ratelimit())
		netdev_warn(tx->priv->netdev, "HCA refuses to send: error %d\n", err);
	for (i = first; i != tx->head; i++)
		/* Pairs with tx_fate(): the slot is whole */
		smp_store_release(&tx_slot(tx, i)->fate, i - first < (u32)bad->wr_id - first ?
				  IPOIB_TX_SILENT : IPOIB_TX_REFUSED);
	tx->refusals++;
	ipoib_link_event(tx->priv, IPOIB_EVENT_HEAVY);
	ipoib_tx_reap(tx);
}

static void tx_look_later(struct ipoib_tx_ring *tx)
{
	bool soon = (s32)(tx->held - READ_ONCE(tx->tail)) > 0;

	if (hrtimer_is_queued(&tx->reaper) && (tx->reaper_soon || !soon))
		return;
	tx->reaper_soon = soon;
	hrtimer_start(&tx->reaper, ns_to_ktime(soon ? IPOIB_TX_REAP_NS : IPOIB_TX_REAP_SMALL_NS),
		      HRTIMER_MODE_REL_PINNED);
}

/* Sees to it that what has been posted is reaped */
static void tx_ask(struct ipoib_tx_ring *tx)
{
	/* Pairs with ipoib_cq_arm()'s callers: whoever takes back what is found here
	 * to be under way, polls after that, and finds the new head.
	 */
	smp_mb();
	if (READ_ONCE(tx->armed))
		return;
	if (ipoib_tx_used(tx) >= IPOIB_TX_REAP_SLOTS || netif_xmit_stopped(tx->txq)) {
		if (ipoib_cq_arm(tx->cq, &tx->armed))
			ipoib_tx_reap(tx);
	} else {
		tx_look_later(tx);
	}
}

static void tx_doorbell(struct ipoib_tx_ring *tx)
{
	struct ib_send_wr *last;
	const struct ib_send_wr *bad;
	int err;

	if (!tx->chained)
		return;
	last = &tx->chain[tx->chained - 1].wr;
	last->next = NULL;
	last->send_flags |= IB_SEND_SIGNALED;
	tx->chained = 0;
	tx->sges = 0;
	err = ib_post_send(tx->qp, &tx->chain[0].wr, &bad);
	if (unlikely(err))
		tx_refused(tx, tx->chain[0].wr.wr_id, bad, err);
	tx_ask(tx);
}

/* The next WR of the chain, to be filled in; it has the ring's next slot */
static struct ib_ud_wr *tx_next_wr(struct ipoib_tx_ring *tx)
{
	struct ib_ud_wr *ud;

	if (tx->chained == IPOIB_TX_CHAIN_MAX ||
	    tx->sges + IPOIB_TX_SGE_MAX > IPOIB_TX_CHAIN_SGES)
		tx_doorbell(tx);
	ud = &tx->chain[tx->chained];
	ud->wr.sg_list = &tx->sge[tx->sges];
	ud->wr.wr_id = tx->head;
	ud->wr.opcode = IB_WR_SEND;
	ud->wr.send_flags = 0;
	return ud;
}

static void tx_chain(struct ipoib_tx_ring *tx, struct ib_ud_wr *ud, struct ib_ah *ibah, u32 qpn)
{
	ud->ah = ibah;
	ud->remote_qpn = qpn;
	ud->remote_qkey = READ_ONCE(tx->priv->qkey);
	ud->wr.next = &tx->chain[tx->chained + 1].wr;
	tx->chained++;
	tx->sges += ud->wr.num_sge;
	tx_slot(tx, tx->head)->fate = IPOIB_TX_POSTED;
	WRITE_ONCE(tx->head, tx->head + 1);
}

/* One WR for all of the packet, be it that the HCA cuts it */
static void tx_whole(struct ipoib_tx_ring *tx, const struct ipoib_tx_buf *buf,
		     struct ib_ah *ibah, u32 qpn)
{
	struct ib_ud_wr *ud = tx_next_wr(tx);
	struct sk_buff *skb = buf->skb;

	ud->wr.num_sge = tx_fill_sges(tx->priv, ud->wr.sg_list, buf);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		ud->wr.send_flags |= IB_SEND_IP_CSUM;
	if (buf->header_len) {
		ud->wr.opcode = IB_WR_LSO;
		ud->header = skb->data;
		ud->hlen = buf->header_len;
		ud->mss = skb_shinfo(skb)->gso_size;
	}
	tx_chain(tx, ud, ibah, qpn);
}

/* A slot's own memory, for headers or a small packet */
static struct ipoib_tx_headers *tx_own_page(struct ipoib_tx_ring *tx, u32 index, u32 *offset)
{
	u32 slot = index & (tx->size - 1);

	*offset = slot % TX_HEADERS_PER_PAGE * IPOIB_TX_HEADER_MAX;
	return &tx->headers[slot / TX_HEADERS_PER_PAGE];
}

/* A WR for each segment; the last one's slot has the packet */
static void tx_segments(struct ipoib_tx_ring *tx, struct ipoib_tx_buf *buf,
			struct ib_ah *ibah, u32 qpn)
{
	u32 offset, refusals = tx->refusals;
	struct ipoib_tx_headers *page;
	struct ipoib_gso gso;
	struct ib_ud_wr *ud;

	ipoib_count(tx->priv, IPOIB_STAT_TX_SEGMENTED);
	ipoib_gso_start(&gso, tx->priv, buf);
	while (gso.left) {
		ud = tx_next_wr(tx);
		page = tx_own_page(tx, tx->head, &offset);
		ud->wr.num_sge = ipoib_gso_next(&gso, page, offset, ud->wr.sg_list);
		if (gso.hca_sums)
			ud->wr.send_flags |= IB_SEND_IP_CSUM;
		tx_chain(tx, ud, ibah, qpn);
	}
	/* The last segment waits for its doorbell yet */
	buf->torn = tx->refusals != refusals;
}

/* There must be room for the largest packet before the next one is taken */
static bool tx_is_full(const struct ipoib_tx_ring *tx)
{
	return ipoib_tx_used(tx) + tx->segments_max > tx->size;
}

static void tx_stop_if_full(struct ipoib_tx_ring *tx)
{
	if (likely(!tx_is_full(tx)))
		return;
	netif_tx_stop_queue(tx->txq);
	/* Pairs with the barrier in tx_wake(): either it sees the queue
	 * stopped, or the room that it made is seen here.
	 */
	smp_mb();
	if (!tx_is_full(tx))
		netif_tx_start_queue(tx->txq);
}

/* What tells our link-layer address goes by the QP that it names: peers may hold one
 * against the other (ipoib_learn.c). So does what is for groups, from which they know us.
 */
static bool tx_tells_address(const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb->data;
	const struct ipv6hdr *ip;
	const u8 *message;
	struct ipv6hdr ip_copy;
	u8 message_copy;

	if (skb_headlen(skb) < sizeof(*header) || ipoib_gid_is_multicast(header->hwaddr.gid))
		return true;
	/* A packet socket need not have told the stack its protocol */
	if (header->encap.ethertype != htons(ETH_P_IPV6))
		return header->encap.ethertype == htons(ETH_P_ARP);
	ip = skb_header_pointer(skb, sizeof(*header), sizeof(*ip), &ip_copy);
	if (!ip || ip->nexthdr != NEXTHDR_ICMP)
		return false;
	message = skb_header_pointer(skb, sizeof(*header) + sizeof(*ip), 1, &message_copy);
	return message && *message >= NDISC_ROUTER_SOLICITATION && *message <= NDISC_REDIRECT;
}

/**
 * ipoib_select_queue() - ndo_select_queue: by which ring a packet goes
 * @netdev: the device
 * @skb: the packet
 * @sb_dev: a subordinate device that speaks for itself, or NULL
 *
 * Context: BHs disabled; not called as long as there is one ring.
 * Return: the ring's number.
 */
u16 ipoib_select_queue(struct net_device *netdev, struct sk_buff *skb,
		       struct net_device *sb_dev)
{
	return tx_tells_address(skb) ? 0 : netdev_pick_tx(netdev, skb, sb_dev);
}

/* Whether the HCA makes the checksums: it does those of TCP and UDP over IPv4 alone */
static bool tx_hca_sums(const struct ipoib_tx_ring *tx, const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (!tx->hca_offloads || skb->protocol != htons(ETH_P_IP) ||
	    skb_checksum_start_offset(skb) != skb_network_offset(skb) + ip_hdrlen(skb))
		return false;
	return (ip->protocol == IPPROTO_TCP &&
		skb->csum_offset == offsetof(struct tcphdr, check)) ||
	       (ip->protocol == IPPROTO_UDP &&
		skb->csum_offset == offsetof(struct udphdr, check));
}

/* Whether a packet takes a WR for each of its segments */
static bool tx_is_cut(const struct ipoib_tx_ring *tx, const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       !(tx->hca_offloads && (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4));
}

/* Slots that a packet takes; none if the ring cannot take it. The stack has asked
 * ipoib_features_check(), but of an untrusted source's packet it read the headers only
 * then, and put right where they begin; nor need the rings be those of that moment.
 */
static u32 tx_slots(const struct ipoib_tx_ring *tx, const struct sk_buff *skb)
{
	u32 segments;

	if (!skb_is_gso(skb))
		return 1;
	if (unlikely(skb_shinfo(skb)->nr_frags + 2 > tx->priv->max_sge ||
		     !ipoib_gso_can_cut(skb)))
		return 0;
	segments = ipoib_gso_segments(skb);
	if (unlikely(segments > tx->segments_max))
		return 0;
	return tx_is_cut(tx, skb) ? segments : min(segments, 1u);
}

static int tx_linearize(struct ipoib_tx_ring *tx, struct sk_buff *skb)
{
	if (likely(skb_shinfo(skb)->nr_frags + !!skb_headlen(skb) <= tx->priv->max_sge))
		return 0;
	ipoib_count(tx->priv, IPOIB_STAT_TX_LINEARIZED);
	return skb_linearize(skb);
}

/* IBA 10.5.2: all of a group are QP 0xffffff, whatever a neighbour has been told */
static u32 tx_qpn(const struct ipoib_hwaddr *hwaddr)
{
	return ipoib_gid_is_multicast(hwaddr->gid) ? IPOIB_QPN_MULTICAST :
						     ipoib_hwaddr_qpn(hwaddr);
}

/* What of a packet must be so before it can be posted */
static int tx_prepare(struct ipoib_tx_ring *tx, struct sk_buff *skb)
{
	int header_len = skb_is_gso(skb) ? ipoib_gso_header_len(skb) : 0;

	if (unlikely(!pskb_may_pull(skb, header_len) || tx_linearize(tx, skb)))
		return -ENOMEM;
	if (skb->ip_summed != CHECKSUM_PARTIAL || header_len || tx_hca_sums(tx, skb))
		return 0;
	return skb_checksum_help(skb);
}

static void tx_buf_init(struct ipoib_tx_buf *buf, struct sk_buff *skb)
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

static bool tx_is_small(const struct sk_buff *skb)
{
	return skb->len <= IPOIB_TX_HEADER_MAX && !skb_is_gso(skb);
}

static void tx_copy(struct ipoib_tx_ring *tx, const struct sk_buff *skb, struct ib_ud_wr *ud,
		    void *to)
{
	__sum16 *sum;

	if (skb->ip_summed != CHECKSUM_PARTIAL && !skb_is_nonlinear(skb)) {
		memcpy(to, skb->data, skb->len);
	} else if (skb->ip_summed != CHECKSUM_PARTIAL) {
		skb_copy_bits(skb, 0, to, skb->len);
	} else if (tx_hca_sums(tx, skb)) {
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
static bool tx_small(struct ipoib_tx_ring *tx, struct sk_buff *skb, struct ib_ah *ibah, u32 qpn)
{
	struct ib_ud_wr *ud = tx_next_wr(tx);
	struct ib_sge *sge = ud->wr.sg_list;
	struct ipoib_tx_headers *page;
	struct ipoib_tx_buf *buf;
	u32 offset, len = skb->len;

	buf = tx_slot(tx, tx->head);
	buf->len = len;
	buf->packets = 1;
	buf->header_len = 0;
	page = tx_own_page(tx, tx->head, &offset);
	tx_copy(tx, skb, ud, page->octets + offset);
	sge->addr = page->addr + offset;
	sge->length = len;
	sge->lkey = tx->priv->pd->local_dma_lkey;
	ud->wr.num_sge = 1;
	skb_tx_timestamp(skb);
	dev_consume_skb_any(skb);
	tx_chain(tx, ud, ibah, qpn);
	tx_stop_if_full(tx);
	return __netdev_tx_sent_queue(tx->txq, len, netdev_xmit_more());
}

/* Puts a packet on the ring that takes so many slots; true if the doorbell must not wait
 * for more
 */
static bool tx_put(struct ipoib_tx_ring *tx, struct sk_buff *skb, struct ib_ah *ibah, u32 slots)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	struct ipoib_dev *priv = tx->priv;
	u32 qpn = tx_qpn(hwaddr);
	struct ipoib_tx_buf *buf;

	trace_ipoib_tx(tx, skb, hwaddr);
	skb_pull(skb, INFINIBAND_ALEN);
	if (tx_is_small(skb))
		return tx_small(tx, skb, ibah, qpn);
	if (unlikely(tx_prepare(tx, skb))) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		return false;
	}
	buf = tx_slot(tx, tx->head + slots - 1);
	tx_buf_init(buf, skb);
	if (unlikely(tx_map(priv->ibdev, buf))) {
		buf->skb = NULL;
		buf->len = 0;
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_DMA_MAP);
		return false;
	}
	skb_tx_timestamp(skb);
	if (tx_is_cut(tx, skb))
		tx_segments(tx, buf, ibah, qpn);
	else
		tx_whole(tx, buf, ibah, qpn);
	tx->held = tx->head;
	tx_stop_if_full(tx);
	return __netdev_tx_sent_queue(tx->txq, skb->len, netdev_xmit_more());
}

/* A large packet that the ring cannot take goes as the packets that the stack makes of it.
 * There is always room for tx->segments_max of them, and mostly for more.
 */
static bool tx_put_segmented(struct ipoib_tx_ring *tx, struct sk_buff *skb, struct ib_ah *ibah)
{
	struct net_device *netdev = tx->priv->netdev;
	struct sk_buff *segments, *next;
	bool kick = false;

	segments = skb_gso_segment(skb, netdev->features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segments)) {
		ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_TOO_LONG);
		return false;
	}
	consume_skb(skb);
	skb_list_walk_safe(segments, skb, next) {
		skb_mark_not_on_list(skb);
		if (ipoib_tx_used(tx) < tx->size)
			kick |= tx_put(tx, skb, ibah, 1);
		else
			ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_TOO_LONG);
	}
	return kick;
}

static bool tx_packet(struct ipoib_tx_ring *tx, struct sk_buff *skb, struct ib_ah *ibah)
{
	u32 slots = tx_slots(tx, skb);

	if (unlikely(!slots))
		return tx_put_segmented(tx, skb, ibah);
	return tx_put(tx, skb, ibah, slots);
}

/* Of a large packet each segment counts. The MTU may have shrunk a moment ago. */
static bool tx_is_too_long(const struct sk_buff *skb, u32 mtu)
{
	if (likely(skb->len <= mtu + IPOIB_HARD_LEN))
		return false;
	return !skb_is_gso(skb) || !skb_gso_validate_network_len(skb, mtu);
}

/* The AH to send to, or NULL if the packet was kept for later or dropped */
static struct ipoib_ah *tx_address(struct ipoib_tx_ring *tx, struct sk_buff *skb)
{
	const struct ipoib_header *header;
	struct ipoib_dev *priv = tx->priv;

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
	return ipoib_path_xmit(tx, skb);
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
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct ipoib_tx_ring *tx = &priv->channels[skb_get_queue_mapping(skb)].tx;
	bool kick = !netdev_xmit_more();
	struct ipoib_ah *ah;

	/* Who bypasses the queueing discipline may have chosen the queue before there were fewer */
	if (unlikely(skb_get_queue_mapping(skb) >= netdev->real_num_tx_queues)) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_FLUSHED);
		return NETDEV_TX_OK;
	}
	/* An AH stays valid after the section: once the packet is on the ring,
	 * it is the ring that holds it (see ipoib_ah_retire()).
	 */
	rcu_read_lock();
	ah = tx_address(tx, skb);
	if (likely(ah))
		kick |= tx_packet(tx, skb, ah->ibah);
	rcu_read_unlock();
	if (kick)
		tx_doorbell(tx);
	return NETDEV_TX_OK;
}

/* Packets and octets of one poll, for the statistics and the queue limits */
struct tx_done {
	unsigned int packets;
	unsigned int bytes;
	unsigned int sent_packets;
	unsigned int sent_bytes;
};

static enum ipoib_tx_fate tx_fate(struct ipoib_tx_ring *tx)
{
	/* Pairs with the release in tx_refused() */
	return ipoib_tx_used(tx) ? smp_load_acquire(&tx_slot(tx, tx->tail)->fate) : IPOIB_TX_POSTED;
}

/* Empties the oldest slot. @why: what to count if it was not sent, and not refused */
static void tx_reclaim(struct ipoib_tx_ring *tx, struct tx_done *done, int budget,
		       enum ipoib_stat why)
{
	struct ipoib_tx_buf *buf = tx_slot(tx, tx->tail);
	struct sk_buff *skb = buf->skb;

	if (unlikely(buf->torn || tx_fate(tx) == IPOIB_TX_REFUSED))
		why = IPOIB_STAT_TX_POST;
	if (buf->len) {
		done->packets++;
		done->bytes += buf->len;
		if (likely(why == TX_SENT)) {
			done->sent_packets += buf->packets;
			done->sent_bytes += buf->len + (buf->packets - 1) * buf->header_len;
		} else {
			ipoib_count(tx->priv, why);
		}
		buf->len = 0;
		buf->torn = false;
	}
	if (skb) {
		tx_unmap(tx->priv->ibdev, buf, skb_shinfo(skb)->nr_frags);
		buf->skb = NULL;
		napi_consume_skb(skb, budget);
	}
	/* Pairs with ipoib_tx_used() in the producer: the slot is free only now */
	smp_store_release(&tx->tail, tx->tail + 1);
}

static void tx_reclaim_refused(struct ipoib_tx_ring *tx, struct tx_done *done, int budget)
{
	while (tx_fate(tx) == IPOIB_TX_REFUSED)
		tx_reclaim(tx, done, budget, IPOIB_STAT_TX_POST);
}

/* What the CQE of a send says of it */
static enum ipoib_stat tx_status(struct ipoib_dev *priv, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return TX_SENT;
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		/* By a QP in the error state of which no event told */
		if (READ_ONCE(priv->qp_running))
			ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
		return IPOIB_STAT_TX_FLUSHED;
	}
	if (net_ratelimit())
		netdev_warn(priv->netdev, "send failed: %s (vendor error %#x)\n",
			    ib_wc_status_msg(wc->status), wc->vendor_err);
	ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
	return IPOIB_STAT_TX_ERROR;
}

static void tx_complete(struct ipoib_tx_ring *tx, const struct ib_wc *wc,
			struct tx_done *done, int budget)
{
	enum ipoib_stat why = tx_status(tx->priv, wc);

	trace_ipoib_tx_complete(tx, wc->wr_id, wc->status);
	/* Of a WR that was given up with an earlier life of the QP */
	if (unlikely((u32)wc->wr_id - tx->tail >= ipoib_tx_used(tx)))
		return;
	while (tx->tail != (u32)wc->wr_id)
		tx_reclaim(tx, done, budget, TX_SENT);
	tx_reclaim(tx, done, budget, why);
}

static void tx_wake(struct ipoib_tx_ring *tx, const struct tx_done *done)
{
	struct ipoib_dev *priv = tx->priv;

	netdev_tx_completed_queue(tx->txq, done->packets, done->bytes);
	/* Pairs with the barrier in tx_stop_if_full() */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(tx->txq)) && READ_ONCE(priv->qp_running) &&
	    ipoib_tx_used(tx) <= tx->size / 2)
		netif_tx_wake_queue(tx->txq);
	ipoib_ahs_moved(priv);
}

static void tx_account(struct ipoib_tx_ring *tx, const struct tx_done *done)
{
	if (done->sent_packets)
		dev_sw_netstats_tx_add(tx->priv->netdev, done->sent_packets, done->sent_bytes);
	ipoib_ring_account(&tx->stats, done->sent_packets, done->sent_bytes);
	tx_wake(tx, done);
}

/**
 * ipoib_tx_reap() - have a send ring looked at
 * @tx: the ring
 *
 * Context: any.
 */
void ipoib_tx_reap(struct ipoib_tx_ring *tx)
{
	WRITE_ONCE(tx->reap, true);
	napi_schedule(tx->napi);
}

static enum hrtimer_restart tx_reaper(struct hrtimer *timer)
{
	ipoib_tx_reap(container_of(timer, struct ipoib_tx_ring, reaper));
	return HRTIMER_NORESTART;
}

/**
 * ipoib_tx_poll() - take what the HCA says of sends
 * @tx: their ring
 * @budget: of the NAPI poll; 0 where an skb must not be freed at once
 *
 * Context: NAPI poll.
 * Return: true if there may be more.
 */
bool ipoib_tx_poll(struct ipoib_tx_ring *tx, int budget)
{
	struct tx_done done = {};
	u32 polled = 0;
	int n, i;

	WRITE_ONCE(tx->reap, false);
	do {
		n = ib_poll_cq(tx->cq, IPOIB_WC_BATCH, tx->wc);
		for (i = 0; i < n; i++)
			tx_complete(tx, &tx->wc[i], &done, budget);
		polled += IPOIB_WC_BATCH;
	} while (n == IPOIB_WC_BATCH && polled < tx->size);
	tx_reclaim_refused(tx, &done, budget);
	if (done.packets)
		tx_account(tx, &done);
	return n == IPOIB_WC_BATCH;
}

/**
 * ipoib_tx_poll_end() - leave a send ring to events, if it is not empty
 * @tx: the ring
 *
 * Context: NAPI poll, completed.
 */
void ipoib_tx_poll_end(struct ipoib_tx_ring *tx)
{
	if (ipoib_tx_used(tx) && !hrtimer_is_queued(&tx->reaper) &&
	    ipoib_cq_arm(tx->cq, &tx->armed))
		ipoib_tx_reap(tx);
}

/**
 * ipoib_tx_pending() - how many sends the HCA will report yet
 * @tx: the ring
 *
 * Context: any; exact where nothing is sent any more.
 * Return: slots that are in use, 0 if none of them can be waited for.
 */
u32 ipoib_tx_pending(struct ipoib_tx_ring *tx)
{
	return tx_fate(tx) == IPOIB_TX_SILENT ? 0 : ipoib_tx_used(tx);
}

/**
 * ipoib_tx_ring_empty() - give up what the HCA never reported
 * @tx: the ring; nothing sends or polls, its QP holds no WR any more
 *
 * Context: control path.
 */
void ipoib_tx_ring_empty(struct ipoib_tx_ring *tx)
{
	struct tx_done done = {};

	hrtimer_cancel(&tx->reaper);
	while (ipoib_tx_used(tx))
		tx_reclaim(tx, &done, 0, IPOIB_STAT_TX_FLUSHED);
	tx->chained = 0;
	tx->sges = 0;
	netdev_tx_reset_queue(tx->txq);
}

static u32 tx_header_pages(const struct ipoib_tx_ring *tx)
{
	return DIV_ROUND_UP(tx->size, TX_HEADERS_PER_PAGE);
}

/* The page is written again and again while the HCA may read other parts of it: it is
 * coherent memory, which belongs to both. A device that software makes has no other
 * addresses than the kernel's.
 */
static int tx_headers_page(struct ib_device *ibdev, struct ipoib_tx_headers *headers)
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

static void tx_headers_page_free(struct ib_device *ibdev, struct ipoib_tx_headers *headers)
{
	if (ib_uses_virt_dma(ibdev))
		free_page((unsigned long)headers->octets);
	else
		dma_free_coherent(ibdev->dma_device, PAGE_SIZE, headers->octets, headers->addr);
}

static void tx_headers_destroy(struct ipoib_tx_ring *tx, u32 pages)
{
	while (pages--)
		tx_headers_page_free(tx->priv->ibdev, &tx->headers[pages]);
	kfree(tx->headers);
}

static int tx_headers_create(struct ipoib_tx_ring *tx)
{
	u32 i, pages = tx_header_pages(tx);
	int err;

	tx->headers = kcalloc(pages, sizeof(*tx->headers), GFP_KERNEL);
	if (!tx->headers)
		return -ENOMEM;
	for (i = 0; i < pages; i++) {
		err = tx_headers_page(tx->priv->ibdev, &tx->headers[i]);
		if (err) {
			tx_headers_destroy(tx, i);
			return err;
		}
	}
	return 0;
}

/**
 * ipoib_tx_ring_create() - allocate what a send ring needs
 * @tx: the ring; its size is set
 *
 * Context: may sleep; rtnl held.
 * Return: 0 or a negative error.
 */
int ipoib_tx_ring_create(struct ipoib_tx_ring *tx)
{
	int err = -ENOMEM;

	tx->buf = kvcalloc(tx->size, sizeof(*tx->buf), GFP_KERNEL);
	if (!tx->buf)
		return err;
	tx->chain = kcalloc(IPOIB_TX_CHAIN_MAX + 1, sizeof(*tx->chain), GFP_KERNEL);
	if (!tx->chain)
		goto err_buf;
	tx->sge = kcalloc(IPOIB_TX_CHAIN_SGES, sizeof(*tx->sge), GFP_KERNEL);
	if (!tx->sge)
		goto err_chain;
	err = tx_headers_create(tx);
	if (err)
		goto err_sge;
	hrtimer_init(&tx->reaper, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
	tx->reaper.function = tx_reaper;
	return 0;

err_sge:
	kfree(tx->sge);
err_chain:
	kfree(tx->chain);
err_buf:
	kvfree(tx->buf);
	return err;
}

/**
 * ipoib_tx_ring_destroy() - free what ipoib_tx_ring_create() allocated
 * @tx: the ring; it is empty
 *
 * Context: may sleep; rtnl held.
 */
void ipoib_tx_ring_destroy(struct ipoib_tx_ring *tx)
{
	tx_headers_destroy(tx, tx_header_pages(tx));
	kfree(tx->sge);
	kfree(tx->chain);
	kvfree(tx->buf);
}
