// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of several send rings: creation and removal, the choice of the queue
 * for a packet, and that the rings do not block each other.
 */
#include <linux/icmpv6.h>
#include <linux/rtnetlink.h>
#include <net/ndisc.h>

#include "kunit.h"

#define QUEUES 3

static int set_channels(struct fixture *fx, u32 count)
{
	const struct ethtool_ops *ops = fx->netdev->ethtool_ops;
	struct ethtool_channels channels = { .rx_count = 1, .tx_count = count };
	int err;

	rtnl_lock();
	err = ops->set_channels(fx->netdev, &channels);
	rtnl_unlock();
	fixture_settle(fx);
	return err;
}

/* Resolves the path to peer 9, and empties the log of sends */
static void path_make(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	hca_choose(fx->hca, fx->priv->qp);
	fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
	fixture_settle(fx);
	fx->hca->logged = 0;
}

static int queues_init(struct kunit *test)
{
	struct fixture *fx;
	int err = fixture_init(test);

	if (err)
		return err;
	fx = test->priv;
	err = set_channels(fx, QUEUES);
	if (err)
		return err;
	fixture_up(test);
	path_make(test);
	return 0;
}

static void send_by(struct kunit *test, u16 queue)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	hca_choose(fx->hca, fx->priv->channels[queue].tx.sq.qp);
	fixture_send_by(fx, queue, fixture_packet(test, gid.raw, 10), false);
}

static enum ib_qp_state state_of(const struct ipoib_txq *tx)
{
	return container_of(tx->sq.qp, struct hca_qp, ibqp)->state;
}

static void expect_objects(struct kunit *test, int queues)
{
	struct fixture *fx = test->priv;
	const struct ipoib_hwaddr *hwaddr = (const void *)fx->netdev->dev_addr;

	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_CQ]), queues + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_QP]), queues);
	KUNIT_EXPECT_EQ(test, fx->netdev->real_num_tx_queues, (unsigned int)queues);
	KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(hwaddr), fx->priv->channels->tx.sq.qp->qp_num);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static void queues_come_and_go(struct kunit *test)
{
	static const u32 counts[] = { 1, 4, 2, 1 };
	struct fixture *fx = test->priv;
	int i;

	expect_objects(test, QUEUES);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		KUNIT_EXPECT_EQ(test, set_channels(fx, counts[i]), 0);
		expect_objects(test, counts[i]);
	}
}

/* If any verb fails while the rings are replaced, the old ones are kept and the link runs again */
static void queues_fail(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int n;

	KUNIT_EXPECT_EQ(test, set_channels(fx, 1), 0);
	for (n = 1; n <= 1 + 2 * QUEUES; n++) {
		fixture_down(fx);
		atomic_set(&fx->hca->fail_in, n);
		KUNIT_EXPECT_EQ(test, set_channels(fx, QUEUES), -ENOMEM);
		fixture_up(test);
		expect_objects(test, 1);
	}
}

/* If any step of any QP fails, the next attempt brings up all QPs */
static void queues_start_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u32 queue;
	int n;

	/* Three state transitions of each QP, and the posting of receives */
	for (n = 1; n <= 3 * QUEUES + 1; n++) {
		fixture_down(fx);
		atomic_set(&fx->hca->fail_in, n);
		fixture_up(test);
		ipoib_link_event(fx->priv, IPOIB_EVENT_CHECK);
		fixture_settle(fx);
		KUNIT_EXPECT_LE(test, atomic_read(&fx->hca->fail_in), 0);
		KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
		for (queue = 0; queue < fx->priv->queues.count; queue++)
			KUNIT_EXPECT_EQ(test, (int)state_of(&fx->priv->channels[queue].tx),
					(int)IB_QPS_RTS);
	}
}

static void queues_send(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	for (i = 0; i < QUEUES; i++) {
		send_by(test, i);
		KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->source_qpn,
				fx->priv->channels[i].tx.sq.qp->qp_num);
		KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels[i].tx.sq), 0u);
	}
	KUNIT_EXPECT_EQ(test, fx->hca->logged, (u32)QUEUES);
}

/* A full ring stops only its own queue */
static void queues_fill(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u32 i, most = fx->priv->channels->tx.sq.size - fx->priv->channels->tx.sq.segments_max + 1;

	fx->hca->hold = true;
	for (i = 0; i < most; i++)
		send_by(test, 1);
	KUNIT_EXPECT_TRUE(test, __netif_subqueue_stopped(fx->netdev, 1));
	KUNIT_EXPECT_FALSE(test, __netif_subqueue_stopped(fx->netdev, 0));
	send_by(test, 2);
	KUNIT_EXPECT_FALSE(test, __netif_subqueue_stopped(fx->netdev, 2));
	hca_complete(fx->hca, 1, IB_WC_SUCCESS);
	hca_choose(fx->hca, fx->priv->channels[1].tx.sq.qp);
	hca_complete(fx->hca, most, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, __netif_subqueue_stopped(fx->netdev, 1));
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels[1].tx.sq), 0u);
}

/* An error on any ring resets all QPs, and every packet is counted */
static void queues_reset(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	fx->hca->hold = true;
	for (i = 0; i < QUEUES; i++)
		send_by(test, i);
	hca_complete(fx->hca, 1, IB_WC_LOC_QP_OP_ERR);
	fx->hca->hold = false;
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_ERROR), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), QUEUES - 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	path_make(test);
	queues_send(test);
}

/* An AH is kept as long as any ring may hold a WR that refers to it */
static void queues_hold_ah(struct kunit *test)
{
	struct fixture *fx = test->priv;
	atomic_t *ahs = &fx->hca->objects[HCA_AH];
	int before = atomic_read(ahs);

	fx->hca->hold = true;
	send_by(test, 2);
	ipoib_link_event(fx->priv, IPOIB_EVENT_NORMAL);
	fixture_grace(fx);
	/* Old AHs are in use until the sends complete. New ones exist except for the path. */
	KUNIT_EXPECT_EQ(test, atomic_read(ahs), 2 * before - 1);
	hca_complete(fx->hca, 1, IB_WC_SUCCESS);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(ahs), before - 1);
}

/* The host's own multicasts are recognized by the QPN of any of its QPs */
static void queues_loopback(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc like = { .wc_flags = IB_WC_GRH };
	struct {
		struct ib_grh grh;
		struct ipoib_encap encap;
	} packet = { .grh.sgid = fx->hca->gid };
	int i;

	hca_choose(fx->hca, fx->priv->qp);
	for (i = 0; i < QUEUES; i++) {
		like.src_qp = fx->priv->channels[i].tx.sq.qp->qp_num;
		KUNIT_EXPECT_EQ(test, hca_receive(fx->hca, &packet, sizeof(packet), &like), 0);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_LOOPBACK), i + 1ull);
	}
}

/* The queue that the driver selects for a packet that the stack would map to the last queue */
static u16 selected(struct fixture *fx, struct sk_buff *skb)
{
	u16 queue;

	skb_record_rx_queue(skb, QUEUES - 1);
	queue = fx->netdev->netdev_ops->ndo_select_queue(fx->netdev, skb, NULL);
	kfree_skb(skb);
	return queue;
}

/* Sets the ethertype, but not skb->protocol, like a packet socket without a protocol */
static void set_ethertype(struct sk_buff *skb, u16 ethertype)
{
	((struct ipoib_header *)skb->data)->encap.ethertype = htons(ethertype);
	skb->protocol = 0;
}

static struct sk_buff *icmpv6(struct kunit *test, const u8 *gid, u8 next, u8 type)
{
	struct sk_buff *skb = fixture_packet(test, gid, sizeof(struct ipv6hdr) + 8);
	struct ipv6hdr *ip = (void *)skb->data + IPOIB_HARD_LEN;

	set_ethertype(skb, ETH_P_IPV6);
	ip->nexthdr = next;
	*(u8 *)(ip + 1) = type;
	return skb;
}

/* ARP, ND and multicasts use the first queue, the QP of which is part of the hardware address */
static void queues_select(struct kunit *test)
{
	static const struct {
		u8 next, type;
		u16 queue;
	} messages[] = {
		{ NEXTHDR_ICMP, ICMPV6_ECHO_REQUEST, QUEUES - 1 },
		{ NEXTHDR_ICMP, NDISC_ROUTER_SOLICITATION - 1, QUEUES - 1 },
		{ NEXTHDR_ICMP, NDISC_ROUTER_SOLICITATION, 0 },
		{ NEXTHDR_ICMP, NDISC_NEIGHBOUR_SOLICITATION, 0 },
		{ NEXTHDR_ICMP, NDISC_NEIGHBOUR_ADVERTISEMENT, 0 },
		{ NEXTHDR_ICMP, NDISC_REDIRECT, 0 },
		{ NEXTHDR_ICMP, NDISC_REDIRECT + 1, QUEUES - 1 },
		{ NEXTHDR_UDP, NDISC_NEIGHBOUR_SOLICITATION, QUEUES - 1 },
	};
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	union ib_gid gid;
	int i;

	/* XPS maps of CPUs would take precedence; after this there are none */
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), 0);
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, QUEUES, 64, 64), 0);
	fixture_gid(&gid, 9);
	KUNIT_EXPECT_EQ(test, selected(fx, fixture_packet(test, gid.raw, 10)), QUEUES - 1);
	skb = fixture_packet(test, gid.raw, 10);
	set_ethertype(skb, ETH_P_ARP);
	KUNIT_EXPECT_EQ(test, selected(fx, skb), 0);
	skb = fixture_packet(test, fx->netdev->broadcast + 4, 10);
	KUNIT_EXPECT_EQ(test, selected(fx, skb), 0);
	skb = fixture_packet(test, gid.raw, 10);
	skb_trim(skb, IPOIB_HARD_LEN - 1);
	KUNIT_EXPECT_EQ(test, selected(fx, skb), 0);
	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		skb = icmpv6(test, gid.raw, messages[i].next, messages[i].type);
		KUNIT_EXPECT_EQ(test, selected(fx, skb), messages[i].queue);
	}
	skb = icmpv6(test, gid.raw, NEXTHDR_ICMP, NDISC_NEIGHBOUR_SOLICITATION);
	skb_trim(skb, IPOIB_HARD_LEN + sizeof(struct ipv6hdr));
	KUNIT_EXPECT_EQ(test, selected(fx, skb), QUEUES - 1);
}

/* With PACKET_QDISC_BYPASS a packet socket selects a queue some time before it
 * sends; that queue may have been removed meanwhile.
 */
static void queues_gone(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;
	u16 queue;

	KUNIT_EXPECT_EQ(test, set_channels(fx, 1), 0);
	path_make(test);
	fixture_gid(&gid, 9);
	for (queue = 1; queue < QUEUES; queue++) {
		fixture_send_by(fx, queue, fixture_packet(test, gid.raw, 10), false);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), (u64)queue);
	}
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
}

/* The stack's watchdog reports any queue that may exist */
static void queues_watched(struct kunit *test)
{
	struct fixture *fx = test->priv;
	unsigned int queue;

	KUNIT_EXPECT_EQ(test, set_channels(fx, 1), 0);
	/* All of them, because KASAN only detects accesses right behind the rings */
	for (queue = 1; queue < fx->netdev->num_tx_queues; queue++) {
		fx->netdev->netdev_ops->ndo_tx_timeout(fx->netdev, queue);
		fixture_settle(fx);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TIMEOUTS), (u64)queue);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), (u64)queue);
		KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	}
}

/* The group's MTU grows while the link runs, and the QP cannot be restarted
 * with larger buffers: the carrier stays off as long as the queues are stopped.
 */
static void queues_stop_without_carrier(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, set_channels(fx, 1), 0);
	fx->fabric.params.mtu = IB_MTU_4096;
	atomic_set(&fx->hca->fail_in, 4);	/* transition to INIT, or posting of buffers */
	ipoib_group_answer(fx->priv->groups.broadcast, 0, &fx->fabric.params);
	fixture_settle(fx);
	KUNIT_EXPECT_LE(test, atomic_read(&fx->hca->fail_in), 0);
	KUNIT_EXPECT_TRUE(test, __netif_subqueue_stopped(fx->netdev, 0));
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(fx->netdev));
	ipoib_link_event(fx->priv, IPOIB_EVENT_CHECK);
	fixture_settle(fx);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 4092u);
	for (i = 0; i < fx->netdev->num_tx_queues; i++)
		KUNIT_EXPECT_FALSE(test, __netif_subqueue_stopped(fx->netdev, i));
}

/* Events of the CQs that were due, and did not come, are not waited for when the QPs start again */
static void queues_lost_event(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct hca_cq *cq = container_of(fx->priv->rx.cq, struct hca_cq, ibcq);

	KUNIT_EXPECT_TRUE(test, atomic_read(&fx->priv->rx.armed));
	fixture_down(fx);
	/* The events of the flush have come */
	atomic_set(&fx->priv->rx.armed, true);
	atomic_set(&fx->priv->channels[0].tx.armed, true);
	cq->armed = false;
	fixture_up(test);
	KUNIT_EXPECT_TRUE(test, cq->armed);
	KUNIT_EXPECT_FALSE(test, atomic_read(&fx->priv->channels[0].tx.armed));
}

/* A sender that does not look at the carrier finds the queues stopped until the link runs */
static void queues_stopped_before_link(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct fixture_block block;
	int i;

	fixture_down(fx);
	for (i = 0; i < fx->netdev->num_tx_queues; i++)
		netif_start_subqueue(fx->netdev, i);
	fixture_block(fx, &block);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_open(fx->netdev, NULL), 0);
	for (i = 0; i < fx->netdev->num_tx_queues; i++)
		KUNIT_EXPECT_TRUE(test, __netif_subqueue_stopped(fx->netdev, i));
	rtnl_unlock();
	fixture_unblock(fx, &block);
	KUNIT_EXPECT_FALSE(test, __netif_subqueue_stopped(fx->netdev, 0));
}

static struct kunit_case queues_cases[] = {
	KUNIT_CASE(queues_come_and_go),
	KUNIT_CASE(queues_fail),
	KUNIT_CASE(queues_start_fails),
	KUNIT_CASE(queues_send),
	KUNIT_CASE(queues_fill),
	KUNIT_CASE(queues_reset),
	KUNIT_CASE(queues_hold_ah),
	KUNIT_CASE(queues_loopback),
	KUNIT_CASE(queues_select),
	KUNIT_CASE(queues_gone),
	KUNIT_CASE(queues_watched),
	KUNIT_CASE(queues_stop_without_carrier),
	KUNIT_CASE(queues_lost_event),
	KUNIT_CASE(queues_stopped_before_link),
	{}
};

static struct kunit_suite queues_suite = {
	.name = "ipoib_queues",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = queues_init,
	.exit = fixture_exit,
	.test_cases = queues_cases,
};

kunit_test_suites(&queues_suite);
