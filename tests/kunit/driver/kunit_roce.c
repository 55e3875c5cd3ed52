// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the driver on two rxe devices, rxe0 and rxe1, on both ends of a veth
 * pair in this kernel: the life of the QP, joins, sending and receiving, and
 * events of the port. The devices must exist before the module is loaded: see
 * tests/cases/kunit.sh.
 */
#include <linux/delay.h>
#include <net/sch_generic.h>

#include "ipoib_roce.c"
#include "kunit.h"

/**
 * driver_roce() - set whether the driver uses rxe devices, too
 * @on: whether it does
 *
 * Most suites are about one HCA alone. Context: any, before driver_probe().
 */
void driver_roce(bool on)
{
	roce_mode = on ? ROCE_RXE : ROCE_OFF;
}

/* The two ends, and what was received at the second */
struct pair {
	struct ib_device *ibdev[2];
	struct ipoib_dev *priv[2];
	struct packet_type type;
	atomic_t packets;
	u32 len;
	u8 pkt_type;
};

static int pair_take(struct sk_buff *skb, struct net_device *netdev, struct packet_type *type,
		     struct net_device *orig)
{
	struct pair *pair = type->af_packet_priv;

	pair->len = skb->len;
	pair->pkt_type = skb->pkt_type;
	atomic_inc(&pair->packets);
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/* The link is in this state with the corresponding carrier. A running link has
 * a qdisc, too, which linkwatch activates some time after the carrier is on.
 */
static bool link_is(const struct ipoib_dev *priv, enum ipoib_link_state state)
{
	bool running = state == IPOIB_LINK_RUNNING;

	return READ_ONCE(priv->link.state) == state && netif_carrier_ok(priv->netdev) == running &&
	       !(running && qdisc_tx_is_noop(priv->netdev));
}

static bool link_becomes(const struct ipoib_dev *priv, enum ipoib_link_state state)
{
	unsigned long limit = jiffies + 60 * HZ;

	while (!link_is(priv, state)) {
		if (time_after(jiffies, limit))
			return false;
		msleep(20);
	}
	return true;
}

static bool comes_in(const struct pair *pair, int packets)
{
	unsigned long limit = jiffies + 60 * HZ;

	while (atomic_read(&pair->packets) < packets) {
		if (time_after(jiffies, limit))
			return false;
		msleep(20);
	}
	return true;
}

static int set_up(struct net_device *netdev, bool up)
{
	int err = 0;

	rtnl_lock();
	if (up)
		err = dev_open(netdev, NULL);
	else
		dev_close(netdev);
	rtnl_unlock();
	return err;
}

/* Returns the rxe device on an Ethernet netdevice, for ib_device_put(), or NULL */
static struct ib_device *device_on(const char *name)
{
	struct net_device *netdev = dev_get_by_name(&init_net, name);
	struct ib_device *ibdev;

	if (!netdev)
		return NULL;
	ibdev = ib_device_get_by_netdev(netdev, RDMA_DRIVER_RXE);
	dev_put(netdev);
	return ibdev;
}

static int pair_find(struct pair *pair)
{
	static const char * const names[] = { "v0", "v1" };
	struct net_device *netdev;
	int i;

	for (i = 0; i < 2; i++) {
		pair->ibdev[i] = device_on(names[i]);
		if (!pair->ibdev[i])
			return -ENODEV;
		netdev = driver_netdev(pair->ibdev[i]);
		if (!netdev)
			return -ENODEV;
		pair->priv[i] = ipoib_priv(netdev);
	}
	return 0;
}

static int pair_init(struct kunit *test)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	int err;

	if (!pair)
		return -ENOMEM;
	driver_roce(true);
	err = driver_probe();
	if (err)
		return err;
	test->priv = pair;
	err = pair_find(pair);
	if (err)
		return err;
	pair->type.type = htons(ETH_P_802_EX1);
	pair->type.dev = pair->priv[1]->netdev;
	pair->type.func = pair_take;
	pair->type.af_packet_priv = pair;
	dev_add_pack(&pair->type);
	return set_up(pair->priv[0]->netdev, true) ?: set_up(pair->priv[1]->netdev, true);
}

static void pair_exit(struct kunit *test)
{
	struct pair *pair = test->priv;
	int i;

	if (!pair)
		return;
	if (pair->type.func)
		dev_remove_pack(&pair->type);
	driver_remove();
	for (i = 0; i < 2; i++)
		if (pair->ibdev[i])
			ib_device_put(pair->ibdev[i]);
}

static void pair_run(struct kunit *test)
{
	struct pair *pair = test->priv;

	KUNIT_ASSERT_TRUE(test, link_becomes(pair->priv[0], IPOIB_LINK_RUNNING));
	KUNIT_ASSERT_TRUE(test, link_becomes(pair->priv[1], IPOIB_LINK_RUNNING));
}

static void expect_qp(struct kunit *test, enum ib_qp_state state)
{
	struct pair *pair = test->priv;
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};

	KUNIT_EXPECT_EQ(test, ib_query_qp(pair->priv[0]->qp, &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, (int)attr.qp_state, (int)state);
}

/* Sends a packet from the first end through its qdisc */
static void pair_send(struct kunit *test, const struct ipoib_hwaddr *hwaddr, u32 len)
{
	struct pair *pair = test->priv;
	struct sk_buff *skb = alloc_skb(IPOIB_HARD_LEN + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	skb_reserve(skb, IPOIB_HARD_LEN);
	skb_put_zero(skb, len);
	skb->dev = pair->priv[0]->netdev;
	skb->protocol = htons(ETH_P_802_EX1);
	dev_hard_header(skb, skb->dev, ETH_P_802_EX1, hwaddr, NULL, len);
	dev_queue_xmit(skb);
}

static void roce_qp_life(struct kunit *test)
{
	struct pair *pair = test->priv;
	int i;

	for (i = 0; i < 3; i++) {
		pair_run(test);
		expect_qp(test, IB_QPS_RTS);
		set_up(pair->priv[0]->netdev, false);
		KUNIT_EXPECT_EQ(test, pair->priv[0]->link.state, IPOIB_LINK_DOWN);
		expect_qp(test, IB_QPS_RESET);
		KUNIT_EXPECT_EQ(test, set_up(pair->priv[0]->netdev, true), 0);
	}
}

static void roce_joins(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct ipoib_group *broadcast;

	pair_run(test);
	broadcast = pair->priv[0]->groups.broadcast;
	KUNIT_ASSERT_NOT_NULL(test, broadcast);
	KUNIT_EXPECT_TRUE(test, broadcast->joined);
	KUNIT_EXPECT_TRUE(test, broadcast->attached);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(broadcast->dest.ah));
	KUNIT_EXPECT_EQ(test, pair->priv[0]->qkey, roce_qkey);
}

static void roce_broadcast(struct kunit *test)
{
	struct pair *pair = test->priv;

	pair_run(test);
	pair_send(test, (const void *)pair->priv[0]->netdev->broadcast, 333);
	KUNIT_ASSERT_TRUE(test, comes_in(pair, 1));
	KUNIT_EXPECT_EQ(test, pair->len, 333u);
	KUNIT_EXPECT_EQ(test, pair->pkt_type, PACKET_BROADCAST);
}

/* Lengths from one octet to the link's MTU */
static void roce_unicast(struct kunit *test)
{
	struct pair *pair = test->priv;
	u32 mtu, lens[3];
	int i;

	pair_run(test);
	mtu = pair->priv[0]->netdev->mtu;
	lens[0] = 1;
	lens[1] = mtu / 2;
	lens[2] = mtu;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		pair_send(test, (const void *)pair->priv[1]->netdev->dev_addr, lens[i]);
		KUNIT_ASSERT_TRUE(test, comes_in(pair, i + 1));
		KUNIT_EXPECT_EQ(test, pair->len, lens[i]);
		KUNIT_EXPECT_EQ(test, pair->pkt_type, PACKET_HOST);
	}
	KUNIT_EXPECT_EQ(test, ipoib_stat_read(pair->priv[0], IPOIB_STAT_PATH_QUERIES), 1ull);
}

static void roce_nobody(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct ipoib_hwaddr hwaddr;
	union ib_gid gid;

	pair_run(test);
	fixture_gid(&gid, 0x77);
	ipoib_hwaddr_build(&hwaddr, 1, &gid);
	pair_send(test, &hwaddr, 10);
	set_up(pair->priv[0]->netdev, false);
	KUNIT_EXPECT_EQ(test, ipoib_stat_read(pair->priv[0], IPOIB_STAT_TX_PATH_FAILED), 1ull);
}

static void roce_qp_event(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct ipoib_dev *priv = pair->priv[0];
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };

	pair_run(test);
	event.element.qp = priv->qp;
	priv->qp->event_handler(&event, priv->qp->qp_context);
	flush_workqueue(priv->wq);
	pair_run(test);
	KUNIT_EXPECT_EQ(test, ipoib_stat_read(priv, IPOIB_STAT_QP_RESETS), 1ull);
	pair_send(test, (const void *)priv->netdev->broadcast, 10);
	KUNIT_EXPECT_TRUE(test, comes_in(pair, 1));
}

static void roce_port_event(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct net_device *ethernet;

	pair_run(test);
	ethernet = local_ethernet(pair->priv[0]);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ethernet);
	set_up(ethernet, false);
	KUNIT_EXPECT_TRUE(test, link_becomes(pair->priv[0], IPOIB_LINK_WAIT_PORT));
	set_up(ethernet, true);
	dev_put(ethernet);
	pair_run(test);
}

/* If the port goes down and up at once, ib_core queries it twice and may cache the older result */
static void roce_stale_cache(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct ipoib_dev *priv = pair->priv[0];
	struct ib_port_cache *cache = &priv->ibdev->port_data[priv->port->number].cache;

	pair_run(test);
	/* ib_core's cache may be in this state already, for the same reason */
	cache->port_state = IB_PORT_DOWN;
	ipoib_link_event(priv, IPOIB_EVENT_CHECK);
	flush_workqueue(priv->wq);
	KUNIT_EXPECT_EQ(test, (int)priv->link.state, (int)IPOIB_LINK_RUNNING);
	cache->port_state = IB_PORT_ACTIVE;
}

/* A group is left while the work serves its membership: the next run of the work frees that */
static void roce_left_while_served(struct kunit *test)
{
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	struct pair *pair = test->priv;
	struct roce_membership *membership;
	bool wanted = false;

	KUNIT_ASSERT_NOT_NULL(test, group);
	pair_run(test);
	flush_workqueue(roce_wq);
	group->priv = pair->priv[0];
	group->role = IPOIB_GROUP_MEMBER;
	memcpy(&group->dest.gid, group->priv->netdev->broadcast + 4, sizeof(group->dest.gid));
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, roce_join_member(group), 0);
	membership = membership_next(&wanted);
	KUNIT_EXPECT_PTR_EQ(test, membership, group->membership);
	KUNIT_EXPECT_TRUE(test, wanted);
	roce_leave(group);
	membership_listen(membership);
	KUNIT_EXPECT_FALSE(test, list_empty(&roce_todo));
	rtnl_unlock();
	flush_workqueue(roce_wq);
	KUNIT_EXPECT_TRUE(test, list_empty(&roce_todo));
}

static struct kunit_case roce_cases[] = {
	KUNIT_CASE(roce_qp_life),
	KUNIT_CASE(roce_joins),
	KUNIT_CASE(roce_broadcast),
	KUNIT_CASE(roce_unicast),
	KUNIT_CASE(roce_nobody),
	KUNIT_CASE(roce_qp_event),
	KUNIT_CASE(roce_port_event),
	KUNIT_CASE(roce_stale_cache),
	KUNIT_CASE(roce_left_while_served),
	{}
};

static struct kunit_suite roce_suite = {
	.name = "ipoib_roce",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = pair_init,
	.exit = pair_exit,
	.test_cases = roce_cases,
};

kunit_test_suites(&roce_suite);
