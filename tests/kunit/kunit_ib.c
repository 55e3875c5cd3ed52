// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the data path: work requests in chains, what becomes of those that the
 * HCA refuses or fails, headers, and what is taken of what comes in.
 */
#include <linux/tcp.h>
#include <net/ip.h>

#include "ipoib_ib.c"
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
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(fx->priv->tx), 0u);
}

/* A neighbour may have been told a group's GID with any QPN */
static void tx_multicast_qpn(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send(fx, fixture_packet(test, fx->netdev->broadcast + 4, 100), false);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->qpn, 0xffffffu);
}

/* One doorbell for all that follow each other, and one CQE */
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
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(fx->priv->tx), 0u);
}

static void tx_chain_is_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	for (i = 0; i < IPOIB_TX_CHAIN_MAX + 1; i++)
		send(test, 10, true);
	KUNIT_EXPECT_EQ(test, fx->hca->doorbells, 1u);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, (u32)IPOIB_TX_CHAIN_MAX);
	KUNIT_EXPECT_EQ(test, fx->priv->tx->chained, 1u);
	send(test, 10, false);
	KUNIT_EXPECT_EQ(test, fx->hca->doorbells, 2u);
	KUNIT_EXPECT_EQ(test, fx->priv->tx->chained, 0u);
}

/* What is in the ring is looked for sooner if one of it is a packet that is not freed yet */
static void tx_reaper_hurries(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_tx_ring *tx = fx->priv->tx;

	hrtimer_cancel(&tx->reaper);
	fx->hca->hold = true;
	send(test, 10, false);
	KUNIT_EXPECT_FALSE(test, tx->reaper_soon);
	send(test, IPOIB_TX_HEADER_MAX, false);
	KUNIT_EXPECT_TRUE(test, tx->reaper_soon);
	send(test, 10, false);
	KUNIT_EXPECT_TRUE(test, tx->reaper_soon);
	hca_complete(fx->hca, 3, IB_WC_SUCCESS);
	hrtimer_cancel(&tx->reaper);
	send(test, 10, false);
	KUNIT_EXPECT_FALSE(test, tx->reaper_soon);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(tx), 1u);
}

/* The last of a chain is dropped before it gets to the ring: the others go */
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

/* The HCA takes the first of five: the others are counted, and the QP is reset */
static void tx_refusal(struct kunit *test)
{
	struct fixture *fx = test->priv;
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
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(fx->priv->tx), 0u);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	send(test, 10, false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
}

static void tx_failure(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->hca->hold = true;
	send(test, 10, false);
	send(test, 10, false);
	hca_complete(fx->hca, 1, IB_WC_LOC_QP_OP_ERR);
	fx->hca->hold = false;
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_ERROR), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

/* Stopped when the largest packet has no room, woken when half of the slots are free */
static void tx_ring_fills(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct netdev_queue *txq = netdev_get_tx_queue(fx->netdev, 0);
	u32 size = fx->priv->tx->size, most = size - fx->priv->tx->segments_max + 1;
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
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(fx->priv->tx), 0u);
}

/* What an HCA reports of a WR that was given up touches none of today's */
static void tx_stale_completion(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_tx_ring *tx = fx->priv->tx;
	struct ib_wc wc = { .status = IB_WC_SUCCESS };
	struct tx_done done = {};

	fx->hca->hold = true;
	send(test, 10, false);
	send(test, 10, false);
	wc.wr_id = tx->tail - 1;
	tx_complete(tx, &wc, &done, 64);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(tx), 2u);
	wc.wr_id = tx->head;
	tx_complete(tx, &wc, &done, 64);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(tx), 2u);
	KUNIT_EXPECT_EQ(test, done.packets, 0u);
	hca_complete(fx->hca, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(tx), 0u);
}

/* The HCA takes three of a chain, and not the one that was to be reported: nothing will
 * ever be said of them, and nobody waits for it
 */
static void tx_silence(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_tx_ring *tx = fx->priv->tx;
	struct fixture_block block;
	int i;

	/* The QP is to be reset only when we have looked */
	fixture_block(fx, &block);
	atomic_set(&fx->hca->fail_in, 4);
	fx->hca->hold = true;
	for (i = 0; i < 5; i++)
		send(test, 10, i < 4);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 3u);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(tx), 5u);
	KUNIT_EXPECT_EQ(test, ipoib_tx_pending(tx), 0u);
	hca_complete(fx->hca, 3, IB_WC_SUCCESS);
	fx->hca->hold = false;
	fixture_unblock(fx, &block);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_POST), 2ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 3ull);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(tx), 0u);
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
	fx->priv->tx->max_sge = 4;
	fixture_send(fx, packet_in_pieces(test, 4), false);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->num_sge, 1);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, 12u + 4 * 64);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_LINEARIZED), 1ull);
}

/* A large packet in more pieces than a work request takes, with the segments' headers,
 * or with headers that are not known how to make again, is segmented by the stack
 */
static void tx_features(struct kunit *test)
{
	struct fixture *fx = test->priv;
	netdev_features_t all = NETIF_F_GSO_MASK | NETIF_F_SG, kept;
	struct sk_buff *skb = packet_in_pieces(test, 4);

	fx->priv->tx->max_sge = 5;
	skb_set_network_header(skb, IPOIB_HARD_LEN);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + sizeof(struct ipv6hdr));
	skb->protocol = htons(ETH_P_IPV6);
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, all);
	skb_shinfo(skb)->gso_size = 1000;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, (netdev_features_t)NETIF_F_SG);
	fx->priv->tx->max_sge = 6;
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, all);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + sizeof(struct ipv6hdr) + 8);
	kept = ipoib_features_check(skb, fx->netdev, all);
	KUNIT_EXPECT_EQ(test, kept, (netdev_features_t)NETIF_F_SG);
	kfree_skb(skb);
}

/* The ring has the last packet's path at hand, but none that has left the table */
static void tx_path_at_hand(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_tx_ring *tx = fx->priv->tx;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	send(test, 10, false);
	KUNIT_ASSERT_NOT_NULL(test, tx->path);
	KUNIT_EXPECT_TRUE(test, ipoib_gid_equal(tx->path->gid.raw, gid.raw));
	KUNIT_EXPECT_EQ(test, tx->path_removals, fx->priv->path_removals);
	ipoib_paths_flush(fx->priv);
	KUNIT_EXPECT_NE(test, tx->path_removals, fx->priv->path_removals);
	rcu_barrier();
	send(test, 10, false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
	KUNIT_EXPECT_EQ(test, tx->path_removals, fx->priv->path_removals);
	KUNIT_ASSERT_NOT_NULL(test, tx->path);
	KUNIT_EXPECT_TRUE(test, ipoib_gid_equal(tx->path->gid.raw, gid.raw));
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

/* A small packet is gone while the HCA has yet to send it; the next octet is too many */
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
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(fx->priv->tx), 3u);
	hca_complete(fx->hca, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, packets_freed, 1u);
	KUNIT_EXPECT_EQ(test, ipoib_tx_used(fx->priv->tx), 0u);
}

/* The checksum is made as it is copied; one of 0 would say that there is none */
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
		/* The sum is 0xfffe once, its complement 1; and 0xffff, its complement 0 */
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

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(tx_one),
	KUNIT_CASE(tx_path_at_hand),
	KUNIT_CASE(tx_small_is_copied),
	KUNIT_CASE(tx_small_checksum),
	KUNIT_CASE(tx_multicast_qpn),
	KUNIT_CASE(tx_chained),
	KUNIT_CASE(tx_chain_is_bounded),
	KUNIT_CASE(tx_chain_ends_with_drop),
	KUNIT_CASE(tx_reaper_hurries),
	KUNIT_CASE(tx_refusal),
	KUNIT_CASE(tx_failure),
	KUNIT_CASE(tx_ring_fills),
	KUNIT_CASE(tx_stale_completion),
	KUNIT_CASE(tx_silence),
	KUNIT_CASE(tx_short),
	KUNIT_CASE(tx_length_limit),
	KUNIT_CASE(tx_pieces),
	KUNIT_CASE(tx_features),
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

/* What the network stack gets */
struct received {
	struct packet_type type;
	u32 packets;
	u32 len;
	u8 pkt_type;
	u8 ip_summed;
	struct ipoib_header header;
};

static int received_take(struct sk_buff *skb, struct net_device *netdev,
			 struct packet_type *type, struct net_device *orig)
{
	struct received *received = type->af_packet_priv;

	received->packets++;
	received->len = skb->len;
	received->pkt_type = skb->pkt_type;
	received->ip_summed = skb->ip_summed;
	memcpy(&received->header, skb_mac_header(skb), sizeof(received->header));
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

static struct received received;

static int rx_init(struct kunit *test)
{
	struct fixture *fx;
	int err = fixture_init(test);

	if (err)
		return err;
	fx = test->priv;
	fixture_up(test);
	received = (struct received) {
		.type = {
			.type = htons(ETH_P_802_EX1),
			.dev = fx->netdev,
			.func = received_take,
			.af_packet_priv = &received,
		},
	};
	dev_add_pack(&received.type);
	return 0;
}

static void rx_exit(struct kunit *test)
{
	if (received.type.func)
		dev_remove_pack(&received.type);
	received.type.func = NULL;
	fixture_exit(test);
}

struct rx_packet {
	struct ib_grh grh;
	struct ipoib_encap encap;
	u8 payload[4092];
} __packed;

/* Another port's packet */
static const struct ib_wc rx_like = { .src_qp = 0x99, .wc_flags = IB_WC_GRH };

static struct rx_packet *rx_packet(struct kunit *test)
{
	struct rx_packet *packet = kunit_kzalloc(test, sizeof(*packet), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	packet->encap.ethertype = htons(ETH_P_802_EX1);
	packet->encap.reserved = htons(0xdead);
	fixture_gid(&packet->grh.dgid, 1);
	return packet;
}

/* Those that the HCA has, and those that it will get with others */
static u32 rx_slots(const struct fixture *fx)
{
	return fx->priv->rx.posted + fx->priv->rx.kept;
}

/* Every length that is shorter than the headers, and the first that is not */
static void rx_every_length(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	u32 posted = rx_slots(fx);
	u32 least = IB_GRH_BYTES + IPOIB_ENCAP_LEN, len;

	for (len = 0; len < least; len++) {
		KUNIT_EXPECT_EQ(test, hca_receive(fx->hca, packet, len, &rx_like), 0);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_SHORT), len + 1ull);
		KUNIT_EXPECT_EQ(test, rx_slots(fx), posted);
	}
	KUNIT_EXPECT_EQ(test, received.packets, 0u);
	for (len = least; len <= fx->priv->rx.buf_len; len += len < least + 8 ? 1 : 97) {
		KUNIT_EXPECT_EQ(test, hca_receive(fx->hca, packet, len, &rx_like), 0);
		KUNIT_EXPECT_EQ(test, received.len, len - least);
	}
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_SHORT), (u64)least);
	KUNIT_EXPECT_EQ(test, rx_slots(fx), posted);
}

/* What is longer has room, so that the QP takes no harm, but is not taken */
static void rx_overlong(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_rx_ring *rx = &fx->priv->rx;
	u32 packets = received.packets;

	KUNIT_EXPECT_EQ(test, rx->buf[0].wr.num_sge, 2);
	KUNIT_EXPECT_EQ(test, rx->buf[0].sge[0].length + rx->buf[0].sge[1].length, 4136u);
	KUNIT_EXPECT_EQ(test, rx->buf[1].sge[1].addr, rx->buf[0].sge[1].addr);
	hca_receive(fx->hca, NULL, rx->buf_len + 1, &rx_like);
	hca_receive(fx->hca, NULL, 4136, &rx_like);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_TOO_LONG), 2ull);
	KUNIT_EXPECT_EQ(test, received.packets, packets);
}

/* Buffers grow with the group's MTU */
static void rx_longest(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);

	KUNIT_EXPECT_EQ(test, fx->priv->rx.buf_len, (u32)offsetof(struct rx_packet, payload[2044]));
	hca_receive(fx->hca, packet, fx->priv->rx.buf_len, &rx_like);
	KUNIT_EXPECT_EQ(test, received.len, 2044u);
	rx_overlong(test);
	fx->fabric.params.mtu = IB_MTU_4096;
	ipoib_link_event(fx->priv, IPOIB_EVENT_NORMAL);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.buf_len, (u32)sizeof(*packet));
	KUNIT_EXPECT_EQ(test, fx->priv->rx.buf[0].wr.num_sge, 1);
	hca_receive(fx->hca, packet, sizeof(*packet), &rx_like);
	KUNIT_EXPECT_EQ(test, received.len, (u32)sizeof(packet->payload));
}

/* Reserved is not looked at, and no address of the sender's is made up */
static void rx_header(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc like = { .src_qp = 0x99 };

	hca_receive(fx->hca, rx_packet(test), 100, &like);
	KUNIT_ASSERT_EQ(test, received.packets, 1u);
	KUNIT_EXPECT_EQ(test, received.len, 56u);
	KUNIT_EXPECT_EQ(test, received.pkt_type, PACKET_HOST);
	KUNIT_EXPECT_EQ(test, ntohs(received.header.encap.ethertype), ETH_P_802_EX1);
	KUNIT_EXPECT_NULL(test, memchr_inv(&received.header.hwaddr, 0, INFINIBAND_ALEN));
}

static void rx_types(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	struct ib_wc like = rx_like;

	memcpy(packet->grh.dgid.raw, fx->netdev->broadcast + 4, 16);
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.pkt_type, PACKET_BROADCAST);
	packet->grh.dgid.raw[15] = 1;
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.pkt_type, PACKET_MULTICAST);
	like.wc_flags = 0;	/* then the GRH's place holds nothing */
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.pkt_type, PACKET_HOST);
	KUNIT_EXPECT_EQ(test, received.packets, 3u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_MULTICAST), 2ull);
}

/* Ours only if both QPN and GID are: another host's QP may have the same number */
static void rx_loopback(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	struct ib_wc like = { .src_qp = fx->priv->qp->qp_num, .wc_flags = IB_WC_GRH };

	packet->grh.sgid = fx->hca->gid;
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.packets, 0u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_LOOPBACK), 1ull);
	packet->grh.sgid.raw[15]++;
	hca_receive(fx->hca, packet, 100, &like);
	packet->grh.sgid.raw[15]--;
	like.src_qp++;
	hca_receive(fx->hca, packet, 100, &like);
	like.src_qp--;
	like.wc_flags = 0;
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.packets, 3u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_LOOPBACK), 1ull);
}

static void rx_checksum(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	struct ib_wc like = rx_like;

	like.wc_flags |= IB_WC_IP_CSUM_OK;
	fx->netdev->features &= ~NETIF_F_RXCSUM;
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.ip_summed, CHECKSUM_NONE);
	fx->netdev->features |= NETIF_F_RXCSUM;
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.ip_summed, CHECKSUM_UNNECESSARY);
	hca_receive(fx->hca, packet, 100, &rx_like);
	KUNIT_EXPECT_EQ(test, received.ip_summed, CHECKSUM_NONE);
}

static void rx_failure(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc like = { .status = IB_WC_LOC_LEN_ERR };

	hca_receive(fx->hca, NULL, 100, &like);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, received.packets, 0u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_ERROR), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.posted, fx->priv->rx.size);
}

/* A receive that the HCA does not take back: the QP is reset, nothing is lost */
static void rx_repost_refused(struct kunit *test)
{
	struct rx_packet *packet = rx_packet(test);
	struct fixture *fx = test->priv;
	int i;

	atomic_set(&fx->hca->fail_in, 1);
	for (i = 0; i < IPOIB_RX_POST_BATCH; i++)
		hca_receive(fx->hca, packet, 100, &rx_like);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, received.packets, (u32)IPOIB_RX_POST_BATCH);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.posted, fx->priv->rx.size);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

/* A segment of a TCP connection, as long as the HCA says that its checksum is good */
struct rx_segment {
	struct ib_grh grh;
	struct ipoib_encap encap;
	struct iphdr ip;
	struct tcphdr tcp;
	u8 payload[100];
} __packed;

static struct rx_segment *rx_segment(struct kunit *test, u32 seq)
{
	struct rx_segment *segment = kunit_kzalloc(test, sizeof(*segment), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, segment);
	fixture_gid(&segment->grh.dgid, 1);
	segment->encap.ethertype = htons(ETH_P_IP);
	segment->ip = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(segment->ip) / 4,
		.tot_len = htons(sizeof(*segment) - offsetof(struct rx_segment, ip)),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = IPPROTO_TCP,
		.saddr = htonl(0x0a000001),
		.daddr = htonl(0x0a000002),
	};
	segment->ip.check = ip_fast_csum(&segment->ip, segment->ip.ihl);
	segment->tcp = (struct tcphdr) {
		.source = htons(1000),
		.dest = htons(2000),
		.seq = htonl(seq),
		.ack_seq = htonl(1),
		.doff = sizeof(segment->tcp) / 4,
		.ack = 1,
		.window = htons(1000),
	};
	return segment;
}

static void rx_take_segment(struct kunit *test, u32 n)
{
	struct fixture *fx = test->priv;
	const struct rx_segment *segment = rx_segment(test, n * sizeof(segment->payload));
	struct ib_wc like = rx_like;

	like.wc_flags |= IB_WC_IP_CSUM_OK;
	KUNIT_ASSERT_EQ(test, hca_receive(fx->hca, segment, sizeof(*segment), &like), 0);
}

/* Takes a segment, the next one after @n, that GRO is to keep, and leaves it there. GRO lets
 * go of what is a tick old all the same: where one came meanwhile the answer says nothing, and
 * one more segment brings up whatever there is. Returns how many there were.
 */
static u32 rx_have_kept(struct kunit *test, u32 n)
{
	struct fixture *fx = test->priv;
	unsigned long begin;
	unsigned int packets;

	for (;;) {
		packets = received.packets;
		WRITE_ONCE(fx->netdev->gro_flush_timeout, 100ul * NSEC_PER_SEC);
		begin = jiffies;
		rx_take_segment(test, n++);
		WRITE_ONCE(fx->netdev->gro_flush_timeout, 0);
		if (!time_after(jiffies, begin))
			break;
		rx_take_segment(test, n++);
	}
	KUNIT_EXPECT_EQ(test, received.packets, packets);
	return n;
}

/* One that comes alone goes up at once, but GRO keeps it if told to, and with what it has
 * kept the next one goes
 */
static void rx_gro(struct kunit *test)
{
	struct fixture *fx = test->priv;
	unsigned int packets;
	u32 n;

	dev_remove_pack(&received.type);
	received.type.type = htons(ETH_P_IP);
	dev_add_pack(&received.type);
	fx->netdev->features |= NETIF_F_RXCSUM;
	rx_take_segment(test, 0);
	KUNIT_EXPECT_EQ(test, received.packets, 1u);
	KUNIT_EXPECT_EQ(test, received.len, 140u);

	n = rx_have_kept(test, 1);
	packets = received.packets;
	rx_take_segment(test, n);
	KUNIT_EXPECT_EQ(test, received.packets, packets + 1);
	KUNIT_EXPECT_EQ(test, received.len, 240u);
	rx_take_segment(test, n + 1);
	KUNIT_EXPECT_EQ(test, received.packets, packets + 2);
	KUNIT_EXPECT_EQ(test, received.len, 140u);
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE(rx_every_length),
	KUNIT_CASE(rx_longest),
	KUNIT_CASE(rx_header),
	KUNIT_CASE(rx_types),
	KUNIT_CASE(rx_loopback),
	KUNIT_CASE(rx_checksum),
	KUNIT_CASE(rx_failure),
	KUNIT_CASE(rx_repost_refused),
	KUNIT_CASE(rx_gro),
	{}
};

static struct kunit_suite rx_suite = {
	.name = "ipoib_rx",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = rx_init,
	.exit = rx_exit,
	.test_cases = rx_cases,
};

kunit_test_suites(&tx_suite, &rx_suite);
