// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the data path's sending half: chains of WRs, WRs that the HCA
 * refuses or fails, and headers.
 */
#include <linux/delay.h>
#include <linux/platform_device.h>
#include <linux/tcp.h>
#include <net/ip.h>

#include "ipoib_channel.c"
#include "ipoib_rx.c"
#include "ipoib_tx.c"
#include "kunit.h"

static void send(struct kunit *test, u32 len, bool more)
{
	union ib_gid gid;

	fixture_gid(&gid, 9);
	fixture_send(test->priv, fixture_packet(test, gid.raw, len), more);
}

static void tx_one(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct hca_send *sent;

	send(test, 1000, false);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	sent = hca_sent(fx->hca, 0);
	KUNIT_EXPECT_EQ(test, (int)sent->opcode, (int)IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, sent->flags, (int)IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, sent->num_sge, 1);
	KUNIT_EXPECT_EQ(test, sent->length, 1004u);
	KUNIT_EXPECT_EQ(test, sent->qpn, 0xabcdefu);
	KUNIT_EXPECT_EQ(test, sent->qkey, 0xb1bu);
	KUNIT_EXPECT_EQ(test, sent->dlid, 9);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
}

/* The QPN in a multicast hardware address is ignored, because neighbour entries
 * may have any QPN there
 */
static void tx_multicast_qpn(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send(fx, fixture_packet(test, fx->netdev->broadcast + 4, 100), false);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->qpn, 0xffffffu);
}

/* Packets that follow each other at once need one doorbell and one CQE */
static void tx_chained(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	for (i = 0; i < 5; i++) {
		send(test, 10 + i, i < 4);
		KUNIT_EXPECT_EQ(test, fx->hca->doorbells, (u32)(i == 4));
	}
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 5u);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 4 - i)->length, 14u + i);
		KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 4 - i)->doorbell, 1u);
		KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 4 - i)->flags,
				i < 4 ? 0 : (int)IB_SEND_SIGNALED);
	}
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
}

static void tx_chain_is_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	for (i = 0; i < IPOIB_TX_CHAIN_MAX + 1; i++)
		send(test, 10, true);
	KUNIT_EXPECT_EQ(test, fx->hca->doorbells, 1u);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, (u32)IPOIB_TX_CHAIN_MAX);
	KUNIT_EXPECT_EQ(test, fx->priv->channels->tx.sq.chained, 1u);
	send(test, 10, false);
	KUNIT_EXPECT_EQ(test, fx->hca->doorbells, 2u);
	KUNIT_EXPECT_EQ(test, fx->priv->channels->tx.sq.chained, 0u);
}

/* Sends as if the reaper's timer had expired meanwhile, which on a slow machine it may have. The
 * poll that this causes runs on the same CPU, so it does not come between.
 */
static void send_unwatched(struct kunit *test, u32 len)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	skb = fixture_packet(test, gid.raw, len);
	hca_wait(fx->hca);
	local_bh_disable();
	atomic_set(&fx->priv->channels->tx.armed, false);
	fixture_send(fx, skb, false);
	local_bh_enable();
}

/* The reaper's timer is shorter if the ring holds a packet that is freed only on completion */
static void tx_reaper_hurries(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;

	hrtimer_cancel(&tx->reaper);
	fx->hca->hold = true;
	migrate_disable();
	send_unwatched(test, 10);
	KUNIT_EXPECT_FALSE(test, tx->reaper_soon);
	send_unwatched(test, IPOIB_TX_HEADER_MAX);
	KUNIT_EXPECT_TRUE(test, tx->reaper_soon);
	send_unwatched(test, 10);
	KUNIT_EXPECT_TRUE(test, tx->reaper_soon);
	migrate_enable();
	hca_complete(fx->hca, 3, IB_WC_SUCCESS);
	hrtimer_cancel(&tx->reaper);
	send(test, 10, false);
	KUNIT_EXPECT_FALSE(test, tx->reaper_soon);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 1u);
}

/* The last packet of a chain is dropped before it is put on the ring; the others are sent */
static void tx_chain_ends_with_drop(struct kunit *test)
{
	struct fixture *fx = test->priv;

	send(test, 10, true);
	send(test, 10, true);
	send(test, fx->netdev->mtu + 1, false);
	KUNIT_EXPECT_EQ(test, fx->hca->doorbells, 1u);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 1ull);
}

/* The HCA accepts the first of five WRs. The others are counted, and the QP is reset. */
static void tx_refusal(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_sq *sq = &fx->priv->channels->tx.sq;
	int i;

	atomic_set(&fx->hca->fail_in, 2);
	fx->hca->hold = true;
	for (i = 0; i < 5; i++)
		send(test, 10, i < 4);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	fx->hca->hold = false;
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_POST), 4ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(sq), 0u);
	for (i = 0; i < sq->size; i++)
		KUNIT_EXPECT_EQ(test, (int)sq->buf[i].fate, (int)IPOIB_TX_POSTED);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	send(test, 10, false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
}

/* The HCA refuses a chain, and does not say at which WR */
static void tx_refusal_of_all(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct fixture_block block;
	int i;

	fixture_block(fx, &block);
	fx->hca->mute = true;
	for (i = 0; i < 3; i++)
		send(test, 10, i < 2);
	fx->hca->mute = false;
	fixture_unblock(fx, &block);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_POST), 3ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
}

/* A send fails and the QP is reset. Until then no packet is outstanding for BQL. */
static void tx_failure(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct dql *dql = &netdev_get_tx_queue(fx->netdev, 0)->dql;
	struct fixture_block block;

	fixture_block(fx, &block);
	fx->hca->hold = true;
	send(test, 10, false);
	hca_complete(fx->hca, 1, IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_GT(test, dql->num_queued, 0u);
	KUNIT_EXPECT_EQ(test, dql->num_completed, dql->num_queued);
	send(test, 10, false);
	fx->hca->hold = false;
	fixture_unblock(fx, &block);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_ERROR), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

/* A flushed send while the QP's state is RTS means that the QP has failed without an event */
static void tx_silent_error(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->hca->hold = true;
	send(test, 10, false);
	hca_complete(fx->hca, 1, IB_WC_WR_FLUSH_ERR);
	fx->hca->hold = false;
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

/* The queue is stopped when the largest packet does not fit, and woken when
 * half of the slots are free
 */
static void tx_ring_fills(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct netdev_queue *txq = netdev_get_tx_queue(fx->netdev, 0);
	const struct ipoib_txq *tx = &fx->priv->channels->tx;
	u32 size = tx->sq.size, most = size - tx->sq.segments_max + 1;
	u32 i;

	fx->hca->hold = true;
	for (i = 0; i < most; i++) {
		KUNIT_EXPECT_FALSE(test, netif_tx_queue_stopped(txq));
		send(test, 1, false);
	}
	KUNIT_EXPECT_TRUE(test, netif_tx_queue_stopped(txq));
	hca_complete(fx->hca, most - size / 2 - 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, netif_tx_queue_stopped(txq));
	hca_complete(fx->hca, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, netif_tx_queue_stopped(txq));
	hca_complete(fx->hca, size, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
}

/* A poll that has found the QP running does not open the queue if it has been closed meanwhile */
static void tx_closed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	int running;

	for (running = 0; running <= 1; running++) {
		WRITE_ONCE(fx->priv->qp_running, running);
		netif_tx_disable(fx->netdev);
		local_bh_disable();
		tx_reopen(tx);
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, netif_tx_queue_stopped(tx->queue), !running);
	}
}

/* A stale CQE, of a WR that was given up, does not complete any current WR */
static void tx_stale_completion(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	struct ib_wc wc = { .status = IB_WC_SUCCESS, .qp = tx->sq.qp };
	struct ipoib_sq_done done = {};

	fx->hca->hold = true;
	send(test, 10, false);
	send(test, 10, false);
	wc.wr_id = tx->sq.tail - 1;
	tx_complete(tx, &wc, &done, 64);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 2u);
	wc.wr_id = tx->sq.head;
	tx_complete(tx, &wc, &done, 64);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 2u);
	KUNIT_EXPECT_EQ(test, done.packets, 0u);
	hca_complete(fx->hca, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 0u);
}

/* The HCA accepts three WRs of a chain, but not the signaled one. No CQE will
 * come for them, and the reaper does not wait for any.
 */
static void tx_silence(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	struct fixture_block block;
	int i;

	/* Prevents that the QP is reset before the checks */
	fixture_block(fx, &block);
	atomic_set(&fx->hca->fail_in, 4);
	fx->hca->hold = true;
	for (i = 0; i < 5; i++)
		send(test, 10, i < 4);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 3u);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 5u);
	KUNIT_EXPECT_EQ(test, ipoib_sq_pending(&tx->sq), 0u);
	hca_complete(fx->hca, 3, IB_WC_SUCCESS);
	fx->hca->hold = false;
	fixture_unblock(fx, &block);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_POST), 2ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 3ull);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 0u);
}

static void tx_short(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	u32 len;

	for (len = 0; len < IPOIB_HARD_LEN; len++) {
		skb = alloc_skb(IPOIB_HARD_LEN, GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
		skb_put_zero(skb, len);
		skb->dev = fx->netdev;
		fixture_send(fx, skb, false);
	}
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_SHORT), (u64)IPOIB_HARD_LEN);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
}

/* A packet socket may say that a checksum begins anywhere, such as in the pseudo header */
static void tx_checksum_in_headers(struct kunit *test)
{
	static const u32 starts[] = { 0, INFINIBAND_ALEN - 1, INFINIBAND_ALEN, IPOIB_HARD_LEN - 1 };
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	union ib_gid gid;
	u32 i;

	fixture_gid(&gid, 9);
	for (i = 0; i < 2 * ARRAY_SIZE(starts); i++) {
		skb = fixture_packet(test, gid.raw, i % 2 ? 400 : 40);
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) + starts[i / 2];
		skb->csum_offset = 30;
		fixture_send(fx, skb, false);
	}
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_SHORT), (u64)i);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
}

/* Datagrams for which there are not enough slots. The stack stops to send before, but a connection
 * may turn back several large packets into which it has cut one.
 */
static void tx_datagrams_without_room(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	u32 used, segments = tx->sq.segments_max;
	struct sk_buff *skb;
	union ib_gid gid;

	fx->hca->hold = true;
	do
		send(test, 1, false);
	while (!ipoib_sq_is_full(&tx->sq));
	used = ipoib_sq_used(&tx->sq);
	fixture_gid(&gid, 9);
	skb = fixture_packet(test, gid.raw, 40 + 4 * segments);
	skb_set_network_header(skb, IPOIB_HARD_LEN);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + 20);
	tcp_hdr(skb)->doff = 5;
	skb_shinfo(skb)->gso_size = 4;
	skb_shinfo(skb)->gso_segs = segments;
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
	local_bh_disable();
	rcu_read_lock();
	tx_datagrams(tx, ERR_PTR(-EINPROGRESS), skb);
	rcu_read_unlock();
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), used);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 1ull);
	hca_complete(fx->hca, U32_MAX, IB_WC_SUCCESS);
}

/* What is left in a qdisc while the queues are stopped is sent when the link runs again, even if
 * the stack has not noticed that there was no carrier
 */
static void tx_left_in_qdisc(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	netif_tx_disable(fx->netdev);
	skb = fixture_packet(test, gid.raw, 10);
	skb_reset_mac_header(skb);
	KUNIT_EXPECT_EQ(test, dev_queue_xmit(skb), NET_XMIT_SUCCESS);
	msleep(50);
	netif_tx_start_all_queues(fx->netdev);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
	ipoib_link_carrier(fx->priv);
	msleep(50);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
}

static void tx_length_limit(struct kunit *test)
{
	struct fixture *fx = test->priv;

	send(test, fx->netdev->mtu, false);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, fx->netdev->mtu + 4);
	send(test, fx->netdev->mtu + 1, false);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 1ull);
}

static struct sk_buff *packet_in_pieces(struct kunit *test, int pieces)
{
	struct sk_buff *skb;
	struct page *page;
	union ib_gid gid;
	int i;

	fixture_gid(&gid, 9);
	skb = fixture_packet(test, gid.raw, 8);
	for (i = 0; i < pieces; i++) {
		page = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, page);
		skb_add_rx_frag(skb, i, page, 16 * i, 64, PAGE_SIZE);
	}
	return skb;
}

static void tx_pieces(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send(fx, packet_in_pieces(test, 3), false);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->num_sge, 4);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, 12u + 3 * 64);
	fx->priv->max_sge = 4;
	fixture_send(fx, packet_in_pieces(test, 4), false);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->num_sge, 1);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, 12u + 4 * 64);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_LINEARIZED), 1ull);
}

/* GSO is left to the stack if a packet, with a header for each segment, has
 * more pieces than a WR has SGEs, or headers that the driver cannot replicate
 */
static void tx_features(struct kunit *test)
{
	struct fixture *fx = test->priv;
	netdev_features_t all = NETIF_F_GSO_MASK | NETIF_F_SG, kept;
	struct sk_buff *skb = packet_in_pieces(test, 4);

	fx->priv->max_sge = 5;
	skb_set_network_header(skb, IPOIB_HARD_LEN);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + sizeof(struct ipv6hdr));
	skb->protocol = htons(ETH_P_IPV6);
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, all);
	skb_shinfo(skb)->gso_size = 1000;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, (netdev_features_t)NETIF_F_SG);
	fx->priv->max_sge = 6;
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, all);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + sizeof(struct ipv6hdr) + 8);
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, (netdev_features_t)NETIF_F_SG);
	kfree_skb(skb);
}

/* A packet socket with PACKET_QDISC_BYPASS checks the features while the rings are replaced */
static void tx_features_without_ring(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_channel *channels = fx->priv->channels;
	struct sk_buff *skb = packet_in_pieces(test, 4);
	netdev_features_t all = NETIF_F_GSO_MASK | NETIF_F_SG, kept;

	fixture_down(fx);
	skb_set_network_header(skb, IPOIB_HARD_LEN);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + sizeof(struct ipv6hdr));
	skb->protocol = htons(ETH_P_IPV6);
	skb_shinfo(skb)->gso_size = 1000;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	fx->priv->channels = NULL;
	kept = ipoib_features_check(skb, fx->netdev, all);
	fx->priv->channels = channels;
	KUNIT_EXPECT_EQ(test, kept, all);
	kfree_skb(skb);
}

/* The ring caches the path of the last packet, unless this path was removed from the table */
static void tx_path_at_hand(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	send(test, 10, false);
	KUNIT_ASSERT_NOT_NULL(test, tx->path);
	KUNIT_EXPECT_TRUE(test, ipoib_gid_equal(tx->path->dest.gid.raw, gid.raw));
	KUNIT_EXPECT_EQ(test, tx->path_removals, fx->priv->path_removals);
	ipoib_paths_flush(fx->priv);
	KUNIT_EXPECT_NE(test, tx->path_removals, fx->priv->path_removals);
	rcu_barrier();
	send(test, 10, false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
	KUNIT_EXPECT_EQ(test, tx->path_removals, fx->priv->path_removals);
	KUNIT_ASSERT_NOT_NULL(test, tx->path);
	KUNIT_EXPECT_TRUE(test, ipoib_gid_equal(tx->path->dest.gid.raw, gid.raw));
}

static u32 packets_freed;
static u8 small_octets[IPOIB_TX_HEADER_MAX];

static void packet_freed(struct sk_buff *skb)
{
	packets_freed++;
}

static void small_seen(struct hca *hca, const struct hca_send *sent, const u8 *octets)
{
	memcpy(small_octets, octets, min_t(u32, sent->length, sizeof(small_octets)));
}

/* A small packet (up to 128 octets) is copied, and freed before the HCA has sent it */
static void tx_small_is_copied(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	union ib_gid gid;
	u32 len;

	fixture_gid(&gid, 9);
	fx->hca->hold = true;
	for (len = 123; len <= 125; len++) {
		skb = fixture_packet(test, gid.raw, len);
		skb->destructor = packet_freed;
		packets_freed = 0;
		fixture_send(fx, skb, false);
		KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, len + IPOIB_ENCAP_LEN);
		KUNIT_EXPECT_EQ(test, packets_freed, (u32)(len + IPOIB_ENCAP_LEN <= 128));
	}
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 3u);
	hca_complete(fx->hca, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, packets_freed, 1u);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
}

/* The checksum is computed while the packet is copied; 0 is sent as 0xffff, as
 * 0 means "no checksum"
 */
static void tx_small_checksum(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	union ib_gid gid;
	u8 *data;
	int i;

	fixture_gid(&gid, 9);
	fx->hca->seen = small_seen;
	for (i = 0; i < 2; i++) {
		skb = fixture_packet(test, gid.raw, 40);
		data = skb->data + IPOIB_HARD_LEN;
		memset(data, 0, 40);
		/* The sum is 0xfffe, of which the complement is 1, then 0xffff,
		 * of which the complement is 0
		 */
		put_unaligned_be16(i ? 0xffff : 0xfffe, data + 30);
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = data + 20 - skb->head;
		skb->csum_offset = 6;
		fixture_send(fx, skb, false);
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(small_octets + IPOIB_ENCAP_LEN + 26),
				i ? 0xffff : 1);
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(small_octets + IPOIB_ENCAP_LEN + 30),
				i ? 0xffff : 0xfffe);
	}
	fx->hca->seen = NULL;
}

/* On an HCA with a DMA device, both copied and mapped packets reach the HCA */
static void tx_dma(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct platform_device *device =
		platform_device_register_simple("ipoib-kunit", PLATFORM_DEVID_AUTO, NULL, 0);
	u32 len, i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(device));
	fixture_down(fx);
	fx->hca->ibdev.dma_device = &device->dev;
	fixture_up(test);
	send(test, 1, false);
	fixture_settle(fx);
	fx->hca->seen = small_seen;
	for (len = 100; len < 1000; len += 800) {
		memset(small_octets, 0, sizeof(small_octets));
		send(test, len, false);
		KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, len + IPOIB_ENCAP_LEN);
		for (i = IPOIB_ENCAP_LEN; i < 100; i++)
			KUNIT_EXPECT_EQ(test, small_octets[i], 0x5a);
	}
	fx->hca->seen = NULL;
	fixture_down(fx);
	fx->hca->ibdev.dma_device = NULL;
	platform_device_unregister(device);
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(tx_one),
	KUNIT_CASE(tx_path_at_hand),
	KUNIT_CASE(tx_small_is_copied),
	KUNIT_CASE(tx_small_checksum),
	KUNIT_CASE(tx_dma),
	KUNIT_CASE(tx_multicast_qpn),
	KUNIT_CASE(tx_chained),
	KUNIT_CASE(tx_chain_is_bounded),
	KUNIT_CASE(tx_chain_ends_with_drop),
	KUNIT_CASE(tx_reaper_hurries),
	KUNIT_CASE(tx_refusal),
	KUNIT_CASE(tx_refusal_of_all),
	KUNIT_CASE(tx_failure),
	KUNIT_CASE(tx_silent_error),
	KUNIT_CASE(tx_ring_fills),
	KUNIT_CASE(tx_closed),
	KUNIT_CASE(tx_stale_completion),
	KUNIT_CASE(tx_silence),
	KUNIT_CASE(tx_short),
	KUNIT_CASE(tx_checksum_in_headers),
	KUNIT_CASE(tx_datagrams_without_room),
	KUNIT_CASE(tx_left_in_qdisc),
	KUNIT_CASE(tx_length_limit),
	KUNIT_CASE(tx_pieces),
	KUNIT_CASE(tx_features),
	KUNIT_CASE(tx_features_without_ring),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "ipoib_tx",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_sending,
	.exit = fixture_exit,
	.test_cases = tx_cases,
};

kunit_test_suites(&tx_suite);
