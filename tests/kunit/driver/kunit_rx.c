// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the data path's receiving half: which packets are accepted, the
 * handling of buffers, and QPs that fail. The second suite is about an HCA with
 * a DMA device.
 */
#include <linux/delay.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/sch_generic.h>

#include "kunit.h"

/* What the network stack receives */
struct received {
	struct packet_type type;
	u32 packets;
	u32 len;
	u8 pkt_type;
	u8 ip_summed;
	bool sums_agree;	/* skb->csum is that of the packet */
	bool sum_is_final;	/* the stack drops the packet if they do not agree */
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
	received->sums_agree = !csum_fold(csum_sub(skb_checksum(skb, 0, skb->len, 0), skb->csum));
	received->sum_is_final = skb->csum_complete_sw;
	memcpy(&received->header, skb_mac_header(skb), sizeof(received->header));
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

static struct received received;

static void rx_listen(struct kunit *test)
{
	struct fixture *fx = test->priv;

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
}

static int rx_init(struct kunit *test)
{
	int err = fixture_init(test);

	if (!err)
		rx_listen(test);
	return err;
}

static int rx_dma_init(struct kunit *test)
{
	int err = fixture_init_dma(test);

	if (!err)
		rx_listen(test);
	return err;
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

/* A packet of another port */
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

/* Receives that are posted to the HCA, and those that will be posted as a batch */
static u32 rx_slots(const struct fixture *fx)
{
	return fx->priv->rx.posted + fx->priv->rx.kept;
}

/* Lengths shorter than the headers are errors; those up to the buffer's are accepted */
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

/* Buffers have room for packets longer than the MTU, so that the QP does not
 * fail; such packets are dropped
 */
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

/* Buffers are replaced by larger ones when the group's MTU grows */
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

/* If receive WRs have a single SGE, buffers are larger than the link's packets */
static void rx_longest_of_one_piece(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	u32 longest = offsetof(struct rx_packet, payload[2044]);

	fx->hca->ibdev.attrs.max_recv_sge = 1;
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), 0);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.buf_len, 4136u);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.buf[0].wr.num_sge, 1);
	hca_receive(fx->hca, packet, longest, &rx_like);
	KUNIT_EXPECT_EQ(test, received.len, 2044u);
	hca_receive(fx->hca, packet, longest + 1, &rx_like);
	hca_receive(fx->hca, packet, 4136, &rx_like);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_TOO_LONG), 2ull);
	KUNIT_EXPECT_EQ(test, received.packets, 1u);
}

/* The reserved field is ignored, and the header has no made-up address of the sender */
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
	like.wc_flags = 0;	/* then there is no GRH in the buffer */
	hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, received.pkt_type, PACKET_HOST);
	KUNIT_EXPECT_EQ(test, received.packets, 3u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_MULTICAST), 2ull);
}

/* A multicast is our own only if both QPN and GID match, as another host's QP
 * may have the same number
 */
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

/* A QP in the error state without an event is detected by its flushed receives.
 * Each is flushed once, and not posted again.
 */
static void rx_silent_error(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct hca_qp *qp = fx->hca->qp;
	u32 size = fx->priv->rx.size;

	hca_break(fx->hca);
	msleep(100);
	KUNIT_EXPECT_LE(test, READ_ONCE(qp->flushed), size);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, (int)qp->state, (int)IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_ERROR), 0ull);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.posted, size);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	hca_receive(fx->hca, rx_packet(test), 100, &rx_like);
	KUNIT_EXPECT_EQ(test, received.packets, 1u);
}

/* Sets all netdevices up; all QPs run on return */
static void rx_up(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *child;

	fixture_up(test);
	KUNIT_EXPECT_TRUE(test, fx->priv->qp_running);
	list_for_each_entry(child, &fx->port->children, sibling) {
		flush_workqueue(child->wq);
		KUNIT_EXPECT_TRUE(test, child->qp_running);
	}
}

/* Sets all netdevices down, and returns the time that takes in milliseconds */
static unsigned int rx_down(struct fixture *fx)
{
	unsigned long begin = jiffies;

	fixture_down(fx);
	return jiffies_to_msecs(jiffies - begin);
}

/* Sends a packet to the broadcast group */
static void rx_send(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send(fx, fixture_packet(test, fx->priv->groups.broadcast->dest.gid.raw, 1), false);
}

/* If the HCA does not flush WRs, only the first netdevice waits for it, for
 * five seconds. As soon as the HCA flushes again, the driver waits again.
 */
static void rx_never_flushed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	unsigned int took;
	u16 i;

	for (i = 1; i <= 4; i++)
		hca_pkey(fx->hca, i, 0x8000 | i);
	rtnl_lock();
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, ipoib_child_create(fx->priv, 0x8000 | i), 0);
	rtnl_unlock();
	fixture_down(fx);
	rx_up(test);
	fx->hca->stuck = true;
	took = rx_down(fx);
	KUNIT_EXPECT_GE(test, took, 5000u);
	KUNIT_EXPECT_LT(test, took, 7500u);
	rx_up(test);
	KUNIT_EXPECT_LT(test, rx_down(fx), 2500u);
	fx->hca->stuck = false;
	rx_up(test);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	fixture_down(fx);
	rx_up(test);
	fx->hca->hold = true;
	rx_send(test);
	fx->hca->hold = false;
	fx->hca->stuck = true;
	fx->hca->lingers = true;
	KUNIT_EXPECT_GE(test, rx_down(fx), 5000u);
	fx->hca->stuck = false;
	fx->hca->lingers = false;
	/* The CQEs that the HCA has left are not taken for those of new WRs */
	rx_up(test);
	rx_send(test);
	local_bh_disable();
	ipoib_tx_reap(&fx->priv->channels->tx);
	local_bh_enable();
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.posted + fx->priv->rx.kept, fx->priv->rx.size);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 0ull);
	fixture_down(fx);
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8000 | i), 0);
}

/* The stack does not receive packets that it could not answer */
static void rx_without_carrier(struct kunit *test)
{
	struct rx_packet *packet = rx_packet(test);
	struct fixture *fx = test->priv;

	hca_port_state(fx->hca, IB_PORT_DOWN);
	ipoib_link_event(fx->priv, IPOIB_EVENT_CHECK);
	fixture_settle(fx);
	hca_receive(fx->hca, packet, 100, &rx_like);
	hca_receive(fx->hca, packet, 100, &rx_like);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, received.packets, 0u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_NO_CARRIER), 2ull);
	KUNIT_EXPECT_EQ(test, fx->priv->rx.posted + fx->priv->rx.kept, fx->priv->rx.size);
	hca_port_state(fx->hca, IB_PORT_ACTIVE);
	ipoib_link_event(fx->priv, IPOIB_EVENT_CHECK);
	fixture_settle(fx);
	hca_receive(fx->hca, packet, 100, &rx_like);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, received.packets, 1u);
}

/* The qdisc is inactive while it is changed. Packets are dropped only if it is inactive because
 * linkwatch has not seen the carrier yet.
 */
static void rx_without_qdisc(struct kunit *test)
{
	struct rx_packet *packet = rx_packet(test);
	struct fixture *fx = test->priv;
	struct netdev_queue *txq = netdev_get_tx_queue(fx->netdev, 0);
	void *qdisc;
	int i;

	rtnl_lock();
	qdisc = rcu_replace_pointer(txq->qdisc, &noop_qdisc, lockdep_rtnl_is_held());
	for (i = 0; i < 2; i++) {
		hca_receive(fx->hca, packet, 100, &rx_like);
		KUNIT_EXPECT_EQ(test, received.packets, 1u);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_NO_CARRIER), (u64)i);
		set_bit(__LINK_STATE_LINKWATCH_PENDING, &fx->netdev->state);
	}
	clear_bit(__LINK_STATE_LINKWATCH_PENDING, &fx->netdev->state);
	rcu_assign_pointer(txq->qdisc, qdisc);
	rtnl_unlock();
}

/* No page of the pool can be allocated: packets are copied, and slots keep their buffers */
static void rx_without_pages(struct kunit *test)
{
	struct page_pool_params params = {
		.flags = PP_FLAG_PAGE_FRAG, .order = 16, .pool_size = 1, .nid = NUMA_NO_NODE,
	};
	struct rx_packet *packet = rx_packet(test);
	struct fixture *fx = test->priv;
	struct page_pool *pool = page_pool_create(&params);
	u32 i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	swap(fx->priv->rx.pool, pool);
	for (i = 1; i <= 2 * fx->priv->rx.size; i++) {
		hca_receive(fx->hca, packet, 100, &rx_like);
		KUNIT_EXPECT_EQ(test, received.packets, i);
		KUNIT_EXPECT_EQ(test, received.len, 56u);
		KUNIT_EXPECT_EQ(test, be16_to_cpu(received.header.encap.ethertype), ETH_P_802_EX1);
	}
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_NO_MEMORY), 0ull);
	swap(fx->priv->rx.pool, pool);
	page_pool_destroy(pool);
}

/* If the HCA refuses to take back a receive, the QP is reset and no buffer is lost. It may not say
 * which receive it has refused.
 */
static void rx_repost_refused(struct kunit *test)
{
	struct rx_packet *packet = rx_packet(test);
	struct fixture *fx = test->priv;
	struct fixture_block block;
	struct hca_qp *qp;
	int i, mute;

	for (mute = 0; mute <= 1; mute++) {
		fixture_block(fx, &block);
		qp = fx->hca->qp;
		fx->hca->mute = mute;
		atomic_set(&fx->hca->fail_in, !mute);
		for (i = 0; i < IPOIB_RX_POST_BATCH; i++)
			hca_receive(fx->hca, packet, 100, &rx_like);
		KUNIT_EXPECT_EQ(test, fx->priv->rx.posted, qp->recv_head - qp->recv_tail);
		KUNIT_EXPECT_LT(test, fx->priv->rx.posted, fx->priv->rx.size);
		fx->hca->mute = false;
		fixture_unblock(fx, &block);
		KUNIT_EXPECT_EQ(test, received.packets, (mute + 1u) * IPOIB_RX_POST_BATCH);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), mute + 1ull);
		KUNIT_EXPECT_EQ(test, fx->priv->rx.posted, fx->priv->rx.size);
		KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	}
}

/* A TCP segment for GRO; the HCA reports that its checksum is good */
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

/* Receives segment @n, which GRO has to hold back. GRO flushes segments that are older than a
 * jiffy, so if one has passed meanwhile, another segment is received to flush GRO and the next one
 * is tried. Returns the number of the segment that follows.
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

/* A segment that comes alone is delivered at once, unless GRO is told to hold
 * it back; then it is merged with the next one.
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

struct summed {
	const char *what;
	u16 ethertype;
	u8 protocol;
	u32 len;
	int summed;
};

static const struct summed summeds[] = {
	{ "UDP4", ETH_P_IP, IPPROTO_UDP, 400, CHECKSUM_COMPLETE },
	{ "UDP6", ETH_P_IPV6, IPPROTO_UDP, 400, CHECKSUM_COMPLETE },
	{ "short UDP4", ETH_P_IP, IPPROTO_UDP, 100, CHECKSUM_NONE },
	{ "short UDP6", ETH_P_IPV6, IPPROTO_UDP, 100, CHECKSUM_NONE },
	{ "TCP4", ETH_P_IP, IPPROTO_TCP, 400, CHECKSUM_NONE },
	{ "TCP6", ETH_P_IPV6, IPPROTO_TCP, 400, CHECKSUM_NONE },
	{ "neither", ETH_P_802_EX1, IPPROTO_UDP, 400, CHECKSUM_NONE },
};

static void summed_name(const struct summed *summed, char *name)
{
	strscpy(name, summed->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(summed, summeds, summed_name);

/* UDP packets that are not short, and come alone, are summed for the stack */
static void rx_summed(struct kunit *test)
{
	const struct summed *summed = test->param_value;
	u32 head = IB_GRH_BYTES + IPOIB_ENCAP_LEN;
	struct fixture *fx = test->priv;
	u8 *octets = kunit_kzalloc(test, head + summed->len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, octets);
	dev_remove_pack(&received.type);
	received.type.type = htons(summed->ethertype);
	dev_add_pack(&received.type);
	fixture_gid(&((struct ib_grh *)octets)->dgid, 1);
	*(__be16 *)(octets + IB_GRH_BYTES) = htons(summed->ethertype);
	memset(octets + head, 0x5a, summed->len);
	octets[head] = summed->ethertype == ETH_P_IPV6 ? 0x60 : 0x45;
	octets[head + (summed->ethertype == ETH_P_IPV6 ? 6 : 9)] = summed->protocol;
	KUNIT_ASSERT_EQ(test, hca_receive(fx->hca, octets, head + summed->len, &rx_like), 0);
	KUNIT_ASSERT_EQ(test, received.packets, 1u);
	KUNIT_EXPECT_EQ(test, (int)received.ip_summed, summed->summed);
	if (summed->summed == CHECKSUM_COMPLETE)
		KUNIT_EXPECT_TRUE(test, received.sums_agree);
	KUNIT_EXPECT_FALSE(test, received.sum_is_final);
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE_PARAM(rx_summed, summed_gen_params),
	KUNIT_CASE(rx_every_length),
	KUNIT_CASE(rx_longest),
	KUNIT_CASE(rx_longest_of_one_piece),
	KUNIT_CASE(rx_header),
	KUNIT_CASE(rx_types),
	KUNIT_CASE(rx_loopback),
	KUNIT_CASE(rx_checksum),
	KUNIT_CASE(rx_failure),
	KUNIT_CASE(rx_silent_error),
	KUNIT_CASE(rx_never_flushed),
	KUNIT_CASE(rx_repost_refused),
	KUNIT_CASE(rx_without_pages),
	KUNIT_CASE(rx_without_carrier),
	KUNIT_CASE(rx_without_qdisc),
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

/* Pages are mapped once, not for each packet */
static void rx_dma_maps(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	u32 maps = dma_maps();
	int i;

	KUNIT_EXPECT_GT(test, maps, 0u);
	for (i = 0; i < 1000; i++)
		hca_receive(fx->hca, packet, 100, &rx_like);
	KUNIT_EXPECT_EQ(test, received.packets, 1000u);
	KUNIT_EXPECT_LT(test, dma_maps() - maps, 100u);
	KUNIT_EXPECT_EQ(test, dma_wrong(), 0u);
}

/* The memory of a send ring's slots is coherent, as later writes to a mapping might not reach the
 * HCA. Small packets are copied there; larger ones are mapped.
 */
static void tx_dma_coherent(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, dma_maps_to_device(), 0u);
	fixture_send(fx, fixture_packet(test, gid.raw, 1000), false);
	KUNIT_EXPECT_EQ(test, dma_maps_to_device(), 1u);
}

/* A buffer that is read and stays in its slot is synced for the device before
 * it is posted again. Each slot is used more than once.
 */
static void rx_dma_given_back(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rx_packet *packet = rx_packet(test);
	struct ib_wc like = { .wc_flags = IB_WC_GRH };
	int i;

	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), 0);
	like.src_qp = fx->priv->qp->qp_num;
	packet->grh.sgid = fx->hca->gid;
	for (i = 0; i < 200; i++)
		hca_receive(fx->hca, packet, 100, &like);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_LOOPBACK), 200ull);
	KUNIT_EXPECT_EQ(test, dma_wrong(), 0u);
	hca_receive(fx->hca, packet, 100, &rx_like);
	KUNIT_EXPECT_EQ(test, received.packets, 1u);
}

static struct kunit_case rx_dma_cases[] = {
	KUNIT_CASE(rx_dma_maps),
	KUNIT_CASE(rx_dma_given_back),
	KUNIT_CASE(tx_dma_coherent),
	KUNIT_CASE(rx_every_length),
	KUNIT_CASE(rx_longest),
	KUNIT_CASE(rx_header),
	KUNIT_CASE(rx_types),
	KUNIT_CASE(rx_silent_error),
	KUNIT_CASE(rx_gro),
	{}
};

static struct kunit_suite rx_dma_suite = {
	.name = "ipoib_rx_dma",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = rx_dma_init,
	.exit = rx_exit,
	.test_cases = rx_dma_cases,
};

kunit_test_suites(&rx_suite, &rx_dma_suite);
