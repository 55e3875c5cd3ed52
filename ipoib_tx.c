// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * TX queues: sending of packets from the network stack, and processing of their completions.
 *
 * A device has one TX queue, or as many as the administrator has set (ethtool -L), so that
 * several CPUs can send without waiting for each other. Each TX queue has its own UD QP. The
 * link-layer address contains the QPN of the first one. Packets that announce this address,
 * and multicast packets, are sent through the first TX queue.
 *
 * What each datagram passes is inlined. The compiler would not do so with functions that are also
 * used for rare packets, and calls are a twentieth of what this driver adds to a small packet.
 */
#include <net/ndisc.h>

#include "ipoib.h"
#include "ipoib_trace.h"

static void tx_stop_if_full(struct ipoib_txq *tx)
{
	if (likely(!ipoib_sq_is_full(&tx->sq)))
		return;
	netif_tx_stop_queue(tx->queue);
	/* Pairs with the barrier in tx_wake(): either tx_wake() sees the queue
	 * stopped, or the slots that it freed are seen here.
	 */
	smp_mb();
	if (!ipoib_sq_is_full(&tx->sq))
		netif_tx_start_queue(tx->queue);
}

/* Returns whether a packet must be sent from the QP whose number is part of our link-layer
 * address. This is so for ARP and ND packets, because peers may compare the address that
 * these claim with the QP that they come from (as ipoib_verify.c does), and for multicast
 * packets, from which peers learn our address.
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
	/* skb->protocol may be unset in a packet from a packet socket */
	if (header->encap.ethertype != htons(ETH_P_IPV6))
		return header->encap.ethertype == htons(ETH_P_ARP);
	ip = skb_header_pointer(skb, sizeof(*header), sizeof(*ip), &ip_copy);
	if (!ip || ip->nexthdr != NEXTHDR_ICMP)
		return false;
	message = skb_header_pointer(skb, sizeof(*header) + sizeof(*ip), 1, &message_copy);
	return message && *message >= NDISC_ROUTER_SOLICITATION && *message <= NDISC_REDIRECT;
}

/**
 * ipoib_select_queue() - ndo_select_queue: choose the TX queue for a packet
 * @netdev: the device
 * @skb: the packet; begins with struct ipoib_header
 * @sb_dev: a subordinate device with its own queue mapping, or NULL
 *
 * Context: BHs disabled; not called if there is only one TX queue.
 * Return: the index of the TX queue.
 */
u16 ipoib_select_queue(struct net_device *netdev, struct sk_buff *skb,
		       struct net_device *sb_dev)
{
	return tx_tells_address(skb) ? 0 : netdev_pick_tx(netdev, skb, sb_dev);
}

/* Multicast packets are sent to QP 0xffffff (IBA 10.5.2), whatever QPN the address contains */
static u32 tx_qpn(const struct ipoib_hwaddr *hwaddr)
{
	return ipoib_gid_is_multicast(hwaddr->gid) ? IPOIB_QPN_MULTICAST :
						     ipoib_hwaddr_qpn(hwaddr);
}

/* Puts a packet on the send queue, where it takes @slots slots. Returns true if the WRs have to be
 * posted now, even if the stack has more packets.
 */
static __always_inline bool tx_put(struct ipoib_txq *tx, struct sk_buff *skb, struct ib_ah *ibah,
				   u32 slots)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	u32 qpn = tx_qpn(hwaddr);
	int len;

	trace_ipoib_tx(tx, skb, hwaddr);
	__skb_pull(skb, INFINIBAND_ALEN);
	len = ipoib_sq_put(&tx->sq, skb, ibah, qpn, slots);
	if (unlikely(len < 0)) {
		ipoib_tx_drop(tx->priv, skb, len == -EIO ? IPOIB_STAT_TX_DMA_MAP :
							   IPOIB_STAT_TX_NO_MEMORY);
		return false;
	}
	tx_stop_if_full(tx);
	return __netdev_tx_sent_queue(tx->queue, len, netdev_xmit_more());
}

/* Has the stack segment a large packet. Returns the list of segments, or NULL if it was dropped. */
static struct sk_buff *tx_segment(struct ipoib_txq *tx, struct sk_buff *skb)
{
	struct net_device *netdev = tx->priv->netdev;
	struct sk_buff *segments;

	segments = skb_gso_segment(skb, netdev->features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segments)) {
		ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_TOO_LONG);
		return NULL;
	}
	consume_skb(skb);
	return segments;
}

/* Sends a large packet that the send queue cannot take as it is: has the stack segment it, and
 * sends the segments. There is always room for segments_max of them, and usually for more.
 */
static bool tx_put_segmented(struct ipoib_txq *tx, struct sk_buff *skb, struct ib_ah *ibah)
{
	struct sk_buff *segments = tx_segment(tx, skb), *next;
	bool kick = false;

	skb_list_walk_safe(segments, skb, next) {
		skb_mark_not_on_list(skb);
		if (ipoib_sq_used(&tx->sq) < tx->sq.size)
			kick |= tx_put(tx, skb, ibah, 1);
		else
			ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_TOO_LONG);
	}
	return kick;
}

static __always_inline bool tx_packet(struct ipoib_txq *tx, struct sk_buff *skb, struct ib_ah *ibah)
{
	u32 slots = ipoib_sq_slots(&tx->sq, skb);

	if (unlikely(!slots))
		return tx_put_segmented(tx, skb, ibah);
	return tx_put(tx, skb, ibah, slots);
}

/* Returns whether a packet, or any segment of a large packet, exceeds the MTU. This can happen
 * when the MTU has just been reduced.
 */
static bool tx_is_too_long(const struct sk_buff *skb, u32 mtu)
{
	if (likely(skb->len <= mtu + IPOIB_HARD_LEN))
		return false;
	return !skb_is_gso(skb) || !skb_gso_validate_network_len(skb, mtu);
}

/* Returns whether a packet has its headers. A packet socket may say that a checksum begins within
 * them, or in the pseudo header, which is not sent.
 */
static __always_inline bool tx_is_whole(struct sk_buff *skb)
{
	return pskb_may_pull(skb, IPOIB_HARD_LEN) &&
	       (skb->ip_summed != CHECKSUM_PARTIAL ||
		skb_checksum_start_offset(skb) >= (int)IPOIB_HARD_LEN);
}

/* Returns the AH for a packet, or NULL if the packet was consumed: queued for later, or dropped */
static __always_inline struct ipoib_ah *tx_address(struct ipoib_txq *tx, struct sk_buff *skb)
{
	const struct ipoib_header *header;
	struct ipoib_dev *priv = tx->priv;

	if (unlikely(!tx_is_whole(skb))) {
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

/* Sends a packet as a datagram, or queues it until its destination is resolved. Returns true if the
 * WRs have to be posted now.
 */
static __always_inline bool tx_datagram(struct ipoib_txq *tx, struct sk_buff *skb)
{
	/* The AH stays valid after the RCU read-side section, because it is not
	 * destroyed while a WR in the ring refers to it (see ipoib_ah_retire()).
	 */
	struct ipoib_ah *ah = tx_address(tx, skb);

	return likely(ah) && tx_packet(tx, skb, ah->ibah);
}

/* Returns the connection for a packet, -EINPROGRESS if there will be one soon, or NULL. ARP, ND and
 * multicast packets are always datagrams (RFC 4755 section 7), and so is what is not IP.
 */
static struct ipoib_conn *tx_conn(struct ipoib_txq *tx, const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb->data;
	__be16 type = header->encap.ethertype;

	if (!(header->hwaddr.flags & READ_ONCE(tx->connects)) ||
	    (type != htons(ETH_P_IP) && type != htons(ETH_P_IPV6)) || tx_tells_address(skb))
		return NULL;
	return ipoib_peer_conn(tx, skb);
}

/* Returns the octets of the longest IP packet for a connection. That of datagrams is never more. */
static u32 tx_conn_mtu(const struct ipoib_conn *conn)
{
	return conn->send_max - IPOIB_ENCAP_LEN;
}

/* Handles a packet that is too long for its receivers. Returns what is to be sent instead. */
static struct sk_buff *tx_shorten(struct ipoib_txq *tx, struct ipoib_conn *conn,
				  struct sk_buff *skb, u32 mtu)
{
	struct sk_buff *pieces = ipoib_long_cut(tx->priv, skb, mtu);

	if (!IS_ERR(pieces))
		return pieces;
	/* A path MTU that is told now could not be raised when the connection is there */
	if (IS_ERR(conn))
		ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_CONN_AWAITED);
	else
		ipoib_long_refuse(tx->priv, skb, mtu);
	return NULL;
}

/* Sends a packet as datagrams. There may be several for one packet that the stack has passed down,
 * and no more room in the ring. Returns true if the WRs have to be posted now.
 */
static bool tx_datagrams(struct ipoib_txq *tx, struct ipoib_conn *conn, struct sk_buff *skb)
{
	u32 slots, mtu = READ_ONCE(tx->priv->mtu);
	struct sk_buff *next;
	bool kick = false;

	if (unlikely(tx_is_too_long(skb, mtu)))
		skb = tx_shorten(tx, conn, skb, mtu);
	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		slots = skb_is_gso(skb) ? tx->sq.segments_max : 1;
		if (likely(ipoib_sq_used(&tx->sq) + slots <= tx->sq.size))
			kick |= tx_datagram(tx, skb);
		else
			ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_TOO_LONG);
	}
	return kick;
}

/* Sends a packet by a connection. What it does not take is sent as datagrams. Returns true if the
 * WRs have to be posted now.
 */
static bool tx_messages(struct ipoib_txq *tx, struct ipoib_conn *conn, struct sk_buff *skb)
{
	struct sk_buff *next;
	bool kick = false;

	if (unlikely(tx_is_too_long(skb, tx_conn_mtu(conn))))
		skb = tx_shorten(tx, conn, skb, tx_conn_mtu(conn));
	/* HCAs do not segment messages of connections */
	if (skb && skb_is_gso(skb))
		skb = tx_segment(tx, skb);
	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		if (unlikely(!ipoib_csq_send(tx->priv, conn, skb)))
			kick |= tx_datagrams(tx, ERR_PTR(-EINPROGRESS), skb);
	}
	return kick;
}

/* Sends a packet in connected mode. Returns true if the WRs have to be posted now. */
static noinline bool tx_connected(struct ipoib_txq *tx, struct sk_buff *skb)
{
	struct ipoib_conn *conn;

	if (unlikely(!tx_is_whole(skb))) {
		ipoib_tx_drop(tx->priv, skb, IPOIB_STAT_TX_SHORT);
		return false;
	}
	conn = tx_conn(tx, skb);
	return IS_ERR_OR_NULL(conn) ? tx_datagrams(tx, conn, skb) : tx_messages(tx, conn, skb);
}

/**
 * ipoib_start_xmit() - ndo_start_xmit: send one packet
 * @skb: the packet; begins with struct ipoib_header; consumed
 * @netdev: the device
 *
 * Context: BHs disabled, the lock of the TX queue held.
 * Return: always NETDEV_TX_OK: the packet was put on the send queue, queued
 * until its destination is resolved, or dropped and counted.
 */
netdev_tx_t ipoib_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct ipoib_txq *tx = &priv->channels[skb_get_queue_mapping(skb)].tx;
	bool kick = !netdev_xmit_more();

	/* A sender that bypasses the qdisc may have chosen a queue that no longer exists */
	if (unlikely(skb_get_queue_mapping(skb) >= netdev->real_num_tx_queues)) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_FLUSHED);
		return NETDEV_TX_OK;
	}
	rcu_read_lock();
	kick |= READ_ONCE(tx->connects) ? tx_connected(tx, skb) : tx_datagram(tx, skb);
	rcu_read_unlock();
	if (kick)
		ipoib_sq_doorbell(&tx->sq);
	return NETDEV_TX_OK;
}

/* Returns IPOIB_TX_SENT, or the counter for the error in a CQE. On an error, has the QP reset. */
static enum ipoib_stat tx_status(struct ipoib_dev *priv, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return IPOIB_TX_SENT;
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		/* The QP is in the error state, but no event has reported that */
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

/* Wakes a stopped queue, unless it is closed, since its QP is about to be reset. The lock is that
 * under which it is closed.
 */
static void tx_reopen(struct ipoib_txq *tx)
{
	__netif_tx_lock(tx->queue, smp_processor_id());
	if (READ_ONCE(tx->priv->qp_running))
		netif_tx_wake_queue(tx->queue);
	__netif_tx_unlock(tx->queue);
}

static void tx_wake(struct ipoib_txq *tx, const struct ipoib_sq_done *done)
{
	netdev_tx_completed_queue(tx->queue, done->packets, done->bytes);
	/* Pairs with the barrier in tx_stop_if_full() */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(tx->queue)) &&
	    ipoib_sq_used(&tx->sq) <= tx->sq.size / 2)
		tx_reopen(tx);
	ipoib_ahs_moved(tx->priv);
}

static void tx_account(struct ipoib_txq *tx, const struct ipoib_sq_done *done)
{
	if (done->sent_packets)
		dev_sw_netstats_tx_add(tx->priv->netdev, done->sent_packets, done->sent_bytes);
	ipoib_ring_account(&tx->stats, done->sent_packets, done->sent_bytes);
	tx_wake(tx, done);
}

/**
 * ipoib_tx_poll() - process the completions of sends
 * @tx: the TX queue
 * @budget: the budget of the NAPI poll, which does not limit the number of completions. 0 if
 *	skbs must not be freed at once (see napi_consume_skb())
 *
 * Context: NAPI poll.
 * Return: true if the CQ may have more CQEs.
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
 * ipoib_tx_empty() - free the packets whose completion the HCA did not report
 * @tx: the TX queue; nothing sends or polls, and its QP holds no WR any more
 *
 * Context: control path.
 */
void ipoib_tx_empty(struct ipoib_txq *tx)
{
	hrtimer_cancel(&tx->reaper);
	ipoib_cq_purge(tx->cq, tx->wc);
	ipoib_sq_empty(&tx->sq);
	netdev_tx_reset_queue(tx->queue);
}
