// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * TX queues: packets that the stack hands over, and what becomes of the queue when they are
 * complete.
 *
 * A device has one TX queue, or as many as the administrator asks for (ethtool -L), so that
 * CPUs send without waiting for each other. Each has a UD QP of its own. The first one's is
 * what the link-layer address names; what tells addresses goes by that.
 */
#include <net/ndisc.h>

#include "ipoib.h"
#include "ipoib_trace.h"

static void tx_stop_if_full(struct ipoib_txq *tx)
{
	if (likely(!ipoib_sq_is_full(&tx->sq)))
		return;
	netif_tx_stop_queue(tx->queue);
	/* Pairs with the barrier in tx_wake(): either it sees the queue
	 * stopped, or the room that it made is seen here.
	 */
	smp_mb();
	if (!ipoib_sq_is_full(&tx->sq))
		netif_tx_start_queue(tx->queue);
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

/* IBA 10.5.2: all of a group are QP 0xffffff, whatever a neighbour has been told */
static u32 tx_qpn(const struct ipoib_hwaddr *hwaddr)
{
	return ipoib_gid_is_multicast(hwaddr->gid) ? IPOIB_QPN_MULTICAST :
						     ipoib_hwaddr_qpn(hwaddr);
}

/* Puts a packet on the send queue, of which it takes so many slots; true if the doorbell must
 * not wait for more
 */
static bool tx_put(struct ipoib_txq *tx, struct sk_buff *skb, struct ib_ah *ibah, u32 slots)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	u32 qpn = tx_qpn(hwaddr);
	int len;

	trace_ipoib_tx(tx, skb, hwaddr);
	skb_pull(skb, INFINIBAND_ALEN);
	len = ipoib_sq_put(&tx->sq, skb, ibah, qpn, slots);
	if (unlikely(len < 0)) {
		ipoib_tx_drop(tx->priv, skb, len == -EIO ? IPOIB_STAT_TX_DMA_MAP :
							   IPOIB_STAT_TX_NO_MEMORY);
		return false;
	}
	tx_stop_if_full(tx);
	return __netdev_tx_sent_queue(tx->queue, len, netdev_xmit_more());
}

/* A large packet that the ring cannot take goes as the packets that the stack makes of it.
 * There is always room for segments_max of them, and mostly for more.
 */
static bool tx_put_segmented(struct ipoib_txq *tx, struct sk_buff *skb, struct ib_ah *ibah)
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
		if (ipoib_sq_used(&tx->sq) < tx->sq.size)
			kick |= tx_put(tx, skb, ibah, 1);
		else
			ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_TOO_LONG);
	}
	return kick;
}

static bool tx_packet(struct ipoib_txq *tx, struct sk_buff *skb, struct ib_ah *ibah)
{
	u32 slots = ipoib_sq_slots(&tx->sq, skb);

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
static struct ipoib_ah *tx_address(struct ipoib_txq *tx, struct sk_buff *skb)
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
	struct ipoib_txq *tx = &priv->channels[skb_get_queue_mapping(skb)].tx;
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
		ipoib_sq_doorbell(&tx->sq);
	return NETDEV_TX_OK;
}

/* What the CQE of a send says of it */
static enum ipoib_stat tx_status(struct ipoib_dev *priv, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return IPOIB_TX_SENT;
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

static void tx_complete(struct ipoib_txq *tx, const struct ib_wc *wc,
			struct ipoib_sq_done *done, int budget)
{
	struct ipoib_sq *sq = wc->qp->qp_context;
	enum ipoib_stat why = tx_status(tx->priv, wc);

	trace_ipoib_tx_complete(tx, wc->wr_id, wc->status);
	ipoib_sq_complete(sq, wc->wr_id, why, done, budget);
}

static void tx_wake(struct ipoib_txq *tx, const struct ipoib_sq_done *done)
{
	struct ipoib_dev *priv = tx->priv;

	netdev_tx_completed_queue(tx->queue, done->packets, done->bytes);
	/* Pairs with the barrier in tx_stop_if_full() */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(tx->queue)) && READ_ONCE(priv->qp_running) &&
	    ipoib_sq_used(&tx->sq) <= tx->sq.size / 2)
		netif_tx_wake_queue(tx->queue);
	ipoib_ahs_moved(priv);
}

static void tx_account(struct ipoib_txq *tx, const struct ipoib_sq_done *done)
{
	if (done->sent_packets)
		dev_sw_netstats_tx_add(tx->priv->netdev, done->sent_packets, done->sent_bytes);
	ipoib_ring_account(&tx->stats, done->sent_packets, done->sent_bytes);
	tx_wake(tx, done);
}

/**
 * ipoib_tx_poll() - take what the HCA says of sends
 * @tx: their TX queue
 * @budget: of the NAPI poll; 0 where an skb must not be freed at once
 *
 * Context: NAPI poll.
 * Return: true if there may be more.
 */
bool ipoib_tx_poll(struct ipoib_txq *tx, int budget)
{
	struct ipoib_sq_done done = {};
	u32 polled = 0;
	int n, i;

	WRITE_ONCE(tx->reap, false);
	do {
		n = ib_poll_cq(tx->cq, IPOIB_WC_BATCH, tx->wc);
		for (i = 0; i < n; i++)
			tx_complete(tx, &tx->wc[i], &done, budget);
		polled += IPOIB_WC_BATCH;
	} while (n == IPOIB_WC_BATCH && polled < tx->sq.size);
	ipoib_sq_reclaim_refused(&tx->sq, &done, budget);
	if (done.packets)
		tx_account(tx, &done);
	return n == IPOIB_WC_BATCH;
}

/**
 * ipoib_tx_empty() - give up what the HCA never reported
 * @tx: the TX queue; nothing sends or polls, its QP holds no WR any more
 *
 * Context: control path.
 */
void ipoib_tx_empty(struct ipoib_txq *tx)
{
	hrtimer_cancel(&tx->reaper);
	ipoib_sq_empty(&tx->sq);
	netdev_tx_reset_queue(tx->queue);
}
