// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the netdevice's operations and counters. Also the setup of the
 * module that all suites need, because KUnit runs the suites before the
 * module's own init function.
 */
#include "ipoib_main.c"
#include "ipoib_setup.c"
#include "kunit.h"

/**
 * driver_begin() - a suite's init: do what the module's init does, except for the ib_client
 * @suite: the suite
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int driver_begin(struct kunit_suite *suite)
{
	int err = services_begin();

	if (!err)
		driver_roce(false);
	return err;
}

/**
 * driver_end() - a suite's exit
 * @suite: the suite
 *
 * Context: may sleep.
 */
void driver_end(struct kunit_suite *suite)
{
	if (suite->suite_init_err)
		return;
	services_end();
}

/**
 * driver_settle() - wait until all netdevices have followed the state of their links
 *
 * Context: may sleep; rtnl not held.
 */
void driver_settle(void)
{
	flush_workqueue(ipoib_netdev_wq);
}

/**
 * driver_probe() - have the driver probe all HCAs
 *
 * Context: may sleep.
 * Return: 0 or a negative error. It is not an error if the driver refuses an HCA.
 */
int driver_probe(void)
{
	return ib_register_client(&ipoib_client);
}

/**
 * driver_remove() - undo driver_probe()
 *
 * Context: may sleep.
 */
void driver_remove(void)
{
	ib_unregister_client(&ipoib_client);
}

/**
 * driver_netdev() - get the netdevice of an HCA's first port
 * @ibdev: the HCA
 *
 * Context: between driver_probe() and driver_remove().
 * Return: the netdevice, or NULL if the driver does not use the HCA.
 */
struct net_device *driver_netdev(struct ib_device *ibdev)
{
	struct ipoib_hca *hca = ib_get_client_data(ibdev, &ipoib_client);

	if (!hca)
		return NULL;
	return list_first_entry(&hca->ports, struct ipoib_port, node)->own->netdev;
}

static void header_built(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct ipoib_header *header;
	int len;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	skb_reserve(skb, 64);
	len = dev_hard_header(skb, fx->netdev, ETH_P_IPV6, fx->netdev->broadcast, NULL, 0);
	header = (struct ipoib_header *)skb->data;
	KUNIT_EXPECT_EQ(test, len, (int)sizeof(*header));
	KUNIT_EXPECT_EQ(test, skb->len, (u32)sizeof(*header));
	KUNIT_EXPECT_EQ(test, memcmp(&header->hwaddr, fx->netdev->broadcast, 20), 0);
	KUNIT_EXPECT_EQ(test, ntohs(header->encap.ethertype), ETH_P_IPV6);
	KUNIT_EXPECT_EQ(test, ntohs(header->encap.reserved), 0);
	kfree_skb(skb);
}

/* The neighbour code fills in the address later, if the return value says that it is missing */
static void header_without_destination(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct ipoib_header *header;
	int len;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	memset(skb->data, 0xee, 64);
	skb_reserve(skb, 64);
	len = dev_hard_header(skb, fx->netdev, ETH_P_IP, NULL, NULL, 0);
	header = (struct ipoib_header *)skb->data;
	KUNIT_EXPECT_EQ(test, len, -(int)sizeof(*header));
	KUNIT_EXPECT_NULL(test, memchr_inv(&header->hwaddr, 0, sizeof(header->hwaddr)));
	KUNIT_EXPECT_EQ(test, ntohs(header->encap.ethertype), ETH_P_IP);
	kfree_skb(skb);
}

/* Ethernet packets forwarded by an nftables flow table have a headroom of only 16 octets */
static void header_makes_room(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL), *clone;
	struct ipoib_header *header;
	int len;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	skb_reserve(skb, 16);
	skb_put_data(skb, "payload", 8);
	clone = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clone);
	len = dev_hard_header(skb, fx->netdev, ETH_P_IP, fx->netdev->broadcast, NULL, 8);
	header = (struct ipoib_header *)skb->data;
	KUNIT_EXPECT_EQ(test, len, (int)sizeof(*header));
	KUNIT_EXPECT_EQ(test, skb->len, (u32)sizeof(*header) + 8);
	KUNIT_EXPECT_EQ(test, memcmp(&header->hwaddr, fx->netdev->broadcast, 20), 0);
	KUNIT_EXPECT_EQ(test, ntohs(header->encap.ethertype), ETH_P_IP);
	KUNIT_EXPECT_STREQ(test, (char *)(header + 1), "payload");
	KUNIT_EXPECT_STREQ(test, (char *)clone->data, "payload");
	kfree_skb(clone);
	kfree_skb(skb);
}

static void netdev_is_infiniband(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct netdev_phys_item_id id;

	KUNIT_EXPECT_EQ(test, fx->netdev->type, ARPHRD_INFINIBAND);
	KUNIT_EXPECT_EQ(test, fx->netdev->addr_len, 20);
	KUNIT_EXPECT_EQ(test, fx->netdev->hard_header_len, 24);
	KUNIT_EXPECT_EQ(test, memcmp(fx->netdev->dev_addr + 4, &fx->hca->gid, 16), 0);
	KUNIT_EXPECT_EQ(test, ipoib_address_port_id(fx->netdev, &id), 0);
	KUNIT_EXPECT_EQ(test, id.id_len, 8);
	KUNIT_EXPECT_EQ(test, memcmp(id.id, fx->hca->gid.raw + 8, 8), 0);
	KUNIT_EXPECT_EQ(test, dev_get_iflink(fx->netdev), fx->netdev->ifindex);
	KUNIT_EXPECT_TRUE(test, ipoib_is_ours(fx->netdev));
	KUNIT_EXPECT_TRUE(test, fx->netdev->priv_flags & IFF_DISABLE_NETPOLL);
	KUNIT_EXPECT_FALSE(test, ipoib_is_ours(dev_net(fx->netdev)->loopback_dev));
}

static int set_mtu(struct fixture *fx, int mtu)
{
	int err;

	rtnl_lock();
	err = dev_set_mtu(fx->netdev, mtu);
	rtnl_unlock();
	return err;
}

static void group_mtu(struct fixture *fx, enum ib_mtu mtu)
{
	fx->fabric.params.mtu = mtu;
	ipoib_link_event(fx->priv, IPOIB_EVENT_NORMAL);
	fixture_settle(fx);
}

/* The MTU may be set up to the port's maximum. The group's MTU limits it while that is smaller. */
static void mtu_beyond_group(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, set_mtu(fx, 4093), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_mtu(fx, 4000), 0);
	fx->fabric.params.mtu = IB_MTU_2048;
	fixture_up(test);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 2044u);
	group_mtu(fx, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 4000u);
	group_mtu(fx, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, set_mtu(fx, 4092), 0);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 1020u);
	KUNIT_EXPECT_EQ(test, set_mtu(fx, 4093), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_mtu(fx, 1000), 0);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 1000u);
	KUNIT_EXPECT_EQ(test, set_mtu(fx, 3000), 0);
	fixture_down(fx);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 1020u);
	fixture_up(test);
	group_mtu(fx, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 3000u);
}

/* Like `ip link set address` with the netdevice's own address, but octet @at XORed with @by */
static int set_address(struct fixture *fx, size_t at, u8 by)
{
	struct sockaddr_storage address = { .ss_family = ARPHRD_INFINIBAND };
	int err;

	memcpy(address.__data, fx->netdev->dev_addr, INFINIBAND_ALEN);
	address.__data[at] ^= by;
	rtnl_lock();
	err = dev_set_mac_address(fx->netdev, (void *)&address, NULL);
	rtnl_unlock();
	return err;
}

static void gids_change(struct fixture *fx)
{
	hca_event(fx->hca, IB_EVENT_GID_CHANGE);
	ipoib_link_event(fx->priv, IPOIB_EVENT_CHECK);
	fixture_settle(fx);
}

/* The administrator may choose which of the port's GUIDs the address has */
static void address_of_other_gid(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid other = fx->hca->gid;
	struct netdev_phys_item_id id;

	other.raw[15] ^= 0x80;
	KUNIT_EXPECT_EQ(test, set_address(fx, 19, 0x80), 0);
	KUNIT_EXPECT_EQ(test, memcmp(fx->netdev->dev_addr + 4, &other, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&fx->priv->local_gid, &other, 16), 0);
	KUNIT_EXPECT_EQ(test, ipoib_address_port_id(fx->netdev, &id), 0);
	KUNIT_EXPECT_EQ(test, memcmp(id.id, fx->hca->gid.raw + 8, 8), 0);
	fixture_up(test);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_WAIT_PORT);
	fx->hca->alias = other;
	gids_change(fx);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, memcmp(fx->netdev->dev_addr + 4, &other, 16), 0);
	KUNIT_EXPECT_EQ(test, set_address(fx, 19, 0x80), -EBUSY);
	fixture_down(fx);
	KUNIT_EXPECT_EQ(test, set_address(fx, 19, 0x80), 0);
	KUNIT_EXPECT_EQ(test, memcmp(fx->netdev->dev_addr + 4, &fx->hca->gid, 16), 0);
	/* The address has the first GID again, so it follows when this GID changes */
	fx->hca->gid.raw[15] ^= 0x40;
	gids_change(fx);
	KUNIT_EXPECT_EQ(test, memcmp(fx->netdev->dev_addr + 4, &fx->hca->gid, 16), 0);
}

/* While the GID cache is updated the port has no GID, and netlink messages do without it */
static void port_without_gid(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid gid = fx->hca->gid;
	struct netdev_phys_item_id id;

	fx->hca->gid = zgid;
	hca_event(fx->hca, IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_EQ(test, ipoib_address_port_id(fx->netdev, &id), -EOPNOTSUPP);
	rtnl_lock();
	call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, fx->netdev);
	rtnl_unlock();
	fx->hca->gid = gid;
	hca_event(fx->hca, IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_EQ(test, ipoib_address_port_id(fx->netdev, &id), 0);
}

static void address_refused(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid gid = fx->hca->gid;
	size_t at;

	for (at = 0; at < 12; at++)
		KUNIT_EXPECT_EQ(test, set_address(fx, at, 0x10), -EINVAL);
	fx->hca->ibdev.attrs.kernel_cap_flags |= IBK_VIRTUAL_FUNCTION;
	KUNIT_EXPECT_EQ(test, set_address(fx, 19, 0x80), -EOPNOTSUPP);
	fx->hca->ibdev.attrs.kernel_cap_flags &= ~(u64)IBK_VIRTUAL_FUNCTION;
	KUNIT_EXPECT_EQ(test, memcmp(fx->netdev->dev_addr + 4, &gid, 16), 0);
}

/* The field of struct rtnl_link_stats64 in which each counter is included, or NO_SUM */
#define SUM(field)	offsetof(struct rtnl_link_stats64, field)
#define NO_SUM		SIZE_MAX

static const size_t stat_sums[IPOIB_STAT_COUNT] = {
	[IPOIB_STAT_TX_SHORT] = SUM(tx_dropped),
	[IPOIB_STAT_TX_TOO_LONG] = SUM(tx_dropped),
	[IPOIB_STAT_TX_NO_MEMORY] = SUM(tx_dropped),
	[IPOIB_STAT_TX_DMA_MAP] = SUM(tx_errors),
	[IPOIB_STAT_TX_POST] = SUM(tx_errors),
	[IPOIB_STAT_TX_ERROR] = SUM(tx_errors),
	[IPOIB_STAT_TX_FLUSHED] = SUM(tx_dropped),
	[IPOIB_STAT_TX_NO_CARRIER] = SUM(tx_dropped),
	[IPOIB_STAT_TX_PATH_FULL] = SUM(tx_dropped),
	[IPOIB_STAT_TX_PATH_FAILED] = SUM(tx_dropped),
	[IPOIB_STAT_TX_PATH_LIMIT] = SUM(tx_dropped),
	[IPOIB_STAT_TX_CONN_FULL] = SUM(tx_dropped),
	[IPOIB_STAT_TX_CONN_LOST] = SUM(tx_dropped),
	[IPOIB_STAT_TX_CONN_AWAITED] = SUM(tx_dropped),
	[IPOIB_STAT_TX_GROUP_FULL] = SUM(tx_dropped),
	[IPOIB_STAT_TX_GROUP_FAILED] = SUM(tx_dropped),
	[IPOIB_STAT_TX_GROUP_BACKLOG] = SUM(tx_dropped),
	[IPOIB_STAT_TX_GROUP_LIMIT] = NO_SUM,
	[IPOIB_STAT_TX_LINEARIZED] = NO_SUM,
	[IPOIB_STAT_TX_SEGMENTED] = NO_SUM,
	[IPOIB_STAT_TX_FRAGMENTED] = NO_SUM,
	[IPOIB_STAT_TX_TIMEOUTS] = NO_SUM,
	[IPOIB_STAT_RX_SHORT] = SUM(rx_errors),
	[IPOIB_STAT_RX_TOO_LONG] = SUM(rx_errors),
	[IPOIB_STAT_RX_ERROR] = SUM(rx_errors),
	[IPOIB_STAT_RX_NO_MEMORY] = SUM(rx_dropped),
	[IPOIB_STAT_RX_LOOPBACK] = NO_SUM,
	[IPOIB_STAT_RX_NO_CARRIER] = NO_SUM,
	[IPOIB_STAT_RX_NO_CHECKSUM] = SUM(rx_dropped),
	[IPOIB_STAT_RX_MULTICAST] = SUM(multicast),
	[IPOIB_STAT_RX_FORGED] = NO_SUM,
	[IPOIB_STAT_RX_FORGED_DROPPED] = SUM(rx_dropped),
	[IPOIB_STAT_PATH_QUERIES] = NO_SUM,
	[IPOIB_STAT_PATH_FAILURES] = NO_SUM,
	[IPOIB_STAT_PATHS_LEARNED] = NO_SUM,
	[IPOIB_STAT_PATHS_CORRECTED] = NO_SUM,
	[IPOIB_STAT_GROUP_JOINS] = NO_SUM,
	[IPOIB_STAT_GROUP_FAILURES] = NO_SUM,
	[IPOIB_STAT_GROUP_FALLBACKS] = NO_SUM,
	[IPOIB_STAT_GROUP_EXPIRIES] = NO_SUM,
	[IPOIB_STAT_GROUP_LIMIT] = NO_SUM,
	[IPOIB_STAT_REPORTS_CREATED] = NO_SUM,
	[IPOIB_STAT_REPORTS_DELETED] = NO_SUM,
	[IPOIB_STAT_REPORTS_FORGED] = NO_SUM,
	[IPOIB_STAT_SUBSCRIPTIONS] = NO_SUM,
	[IPOIB_STAT_SUBSCRIPTION_FAILURES] = NO_SUM,
	[IPOIB_STAT_GROUP_LISTS] = NO_SUM,
	[IPOIB_STAT_GROUP_LIST_FAILURES] = NO_SUM,
	[IPOIB_STAT_QP_RESETS] = NO_SUM,
	[IPOIB_STAT_CONN_ACCEPTED] = NO_SUM,
	[IPOIB_STAT_CONN_REFUSED] = NO_SUM,
	[IPOIB_STAT_CONN_OPENED] = NO_SUM,
	[IPOIB_STAT_CONN_FAILED] = NO_SUM,
};

static u64 all_drops(const struct rtnl_link_stats64 *stats)
{
	return stats->tx_dropped + stats->tx_errors + stats->rx_dropped + stats->rx_errors +
	       stats->multicast;
}

/* Each counter is included in one sum at most */
static void counters_sum_up(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct rtnl_link_stats64 was, is;
	enum ipoib_stat stat;
	size_t sum;

	for (stat = 0; stat < IPOIB_STAT_COUNT; stat++) {
		sum = stat_sums[stat];
		memset(&was, 0, sizeof(was));
		memset(&is, 0, sizeof(is));
		ipoib_get_stats64(fx->netdev, &was);
		ipoib_count(fx->priv, stat);
		ipoib_get_stats64(fx->netdev, &is);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, stat), 1ull);
		KUNIT_EXPECT_EQ_MSG(test, all_drops(&is) - all_drops(&was),
				    (u64)(sum != NO_SUM), "counter %u", stat);
		if (sum != NO_SUM)
			KUNIT_EXPECT_EQ(test, *(u64 *)((u8 *)&is + sum),
					*(u64 *)((u8 *)&was + sum) + 1);
	}
}

/* A counter's value is the sum of those of all CPUs */
static void counters_of_all_cpus(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu_ptr(fx->priv->stats, cpu)->count[IPOIB_STAT_RX_SHORT] = cpu + 1;
		sum += cpu + 1;
	}
	KUNIT_EXPECT_EQ(test, ipoib_stat_read(fx->priv, IPOIB_STAT_RX_SHORT), sum);
}

/* There are as many names as values; none is empty and all differ */
static void counters_have_names(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ethtool_ops *ops = fx->netdev->ethtool_ops;
	int count = ops->get_sset_count(fx->netdev, ETH_SS_STATS), i, k;
	char (*names)[ETH_GSTRING_LEN];

	KUNIT_ASSERT_GT(test, count, IPOIB_STAT_COUNT);
	names = kunit_kzalloc(test, count * ETH_GSTRING_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	ops->get_strings(fx->netdev, ETH_SS_STATS, (u8 *)names);
	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_NE(test, names[i][0], 0);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_NE(test, strcmp(names[i], names[k]), 0);
	}
	KUNIT_EXPECT_EQ(test, ops->get_sset_count(fx->netdev, ETH_SS_TEST), -EOPNOTSUPP);
}

static void counters_of_ethtool(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ethtool_ops *ops = fx->netdev->ethtool_ops;
	int count = ops->get_sset_count(fx->netdev, ETH_SS_STATS), i;
	struct ethtool_stats request = {};
	u64 *values = kunit_kcalloc(test, count, sizeof(*values), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, values);
	for (i = 0; i < IPOIB_STAT_COUNT; i++)
		this_cpu_write(fx->priv->stats->count[i], 100 + i);
	rtnl_lock();
	ops->get_ethtool_stats(fx->netdev, &request, values);
	rtnl_unlock();
	for (i = 0; i < IPOIB_STAT_COUNT; i++)
		KUNIT_EXPECT_EQ(test, values[count - IPOIB_STAT_COUNT + i],
				fixture_count(fx, i));
}

static void traffic_is_counted(struct kunit *test)
{
	struct ib_wc like = { .src_qp = 0x99 };
	struct fixture *fx = test->priv;
	struct rtnl_link_stats64 stats;
	union ib_gid gid;

	fixture_up(test);
	fixture_gid(&gid, 9);
	fixture_send(fx, fixture_packet(test, gid.raw, 100), false);
	fixture_settle(fx);
	hca_receive(fx->hca, NULL, IB_GRH_BYTES + IPOIB_ENCAP_LEN + 50, &like);
	dev_get_stats(fx->netdev, &stats);
	KUNIT_EXPECT_EQ(test, stats.tx_packets, 1ull);
	KUNIT_EXPECT_EQ(test, stats.tx_bytes, 104ull);
	KUNIT_EXPECT_EQ(test, stats.rx_packets, 1ull);
	KUNIT_EXPECT_EQ(test, stats.rx_bytes, 54ull);
}

static void timeout_resets_qp(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_up(test);
	fx->netdev->netdev_ops->ndo_tx_timeout(fx->netdev, 0);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TIMEOUTS), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static int coalesce(struct fixture *fx, const struct ethtool_coalesce *wish)
{
	struct ethtool_coalesce coalesce = *wish;
	struct netlink_ext_ack extack = {};
	int err;

	rtnl_lock();
	err = fx->netdev->ethtool_ops->set_coalesce(fx->netdev, &coalesce, NULL, &extack);
	rtnl_unlock();
	return err;
}

/* An HCA without CQ moderation accepts the settings and reports them, as
 * scripts set them on all hosts
 */
static void coalescing_without_hca(struct kunit *test)
{
	const struct ethtool_coalesce receive = {
		.rx_coalesce_usecs = 16,
		.rx_max_coalesced_frames = 8,
	};
	const struct ethtool_coalesce send = { .tx_coalesce_usecs = 16 };
	const struct ethtool_coalesce adaptive = { .use_adaptive_rx_coalesce = 1 };
	const struct ethtool_coalesce large = { .rx_coalesce_usecs = 65536 };
	struct ethtool_coalesce is = {};
	struct fixture *fx = test->priv;

	fx->hca->ibdev.ops.modify_cq = NULL;
	KUNIT_EXPECT_EQ(test, coalesce(fx, &receive), 0);
	KUNIT_EXPECT_EQ(test, coalesce(fx, &send), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, coalesce(fx, &adaptive), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, coalesce(fx, &large), -EINVAL);
	rtnl_lock();
	fx->netdev->ethtool_ops->get_coalesce(fx->netdev, &is, NULL, NULL);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, is.rx_coalesce_usecs, 16u);
	KUNIT_EXPECT_EQ(test, is.rx_max_coalesced_frames, 8u);
}

static void ring_sizes(struct kunit *test)
{
	static const struct {
		unsigned int asked, got;
	} sizes[] = {
		{ 0, 64 }, { 1, 64 }, { 64, 64 }, { 65, 128 }, { 256, 256 }, { 300, 512 },
		{ 8192, 8192 }, { 8193, 8192 }, { UINT_MAX, 8192 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ(test, ring_size("a size", sizes[i].asked), sizes[i].got);
}

static void features_of_hca(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_device *ibdev = &fx->hca->ibdev;
	struct ib_device_attr *attrs = &ibdev->attrs;
	netdev_features_t cut = NETIF_F_SG | NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_GSO_UDP_L4;

	KUNIT_EXPECT_EQ(test, hw_features(ibdev), NETIF_F_HW_CSUM | cut);
	attrs->device_cap_flags |= IB_DEVICE_UD_IP_CSUM;
	KUNIT_EXPECT_EQ(test, hw_features(ibdev), NETIF_F_HW_CSUM | NETIF_F_RXCSUM | cut);
	attrs->max_send_sge = 1;
	KUNIT_EXPECT_EQ(test, hw_features(ibdev),
			(netdev_features_t)(NETIF_F_HW_CSUM | NETIF_F_RXCSUM));
}

static struct kunit_case netdev_cases[] = {
	KUNIT_CASE(header_built),
	KUNIT_CASE(header_without_destination),
	KUNIT_CASE(header_makes_room),
	KUNIT_CASE(netdev_is_infiniband),
	KUNIT_CASE(mtu_beyond_group),
	KUNIT_CASE(address_of_other_gid),
	KUNIT_CASE(port_without_gid),
	KUNIT_CASE(address_refused),
	KUNIT_CASE(counters_sum_up),
	KUNIT_CASE(counters_of_all_cpus),
	KUNIT_CASE(counters_have_names),
	KUNIT_CASE(counters_of_ethtool),
	KUNIT_CASE(traffic_is_counted),
	KUNIT_CASE(timeout_resets_qp),
	KUNIT_CASE(coalescing_without_hca),
	KUNIT_CASE(ring_sizes),
	KUNIT_CASE(features_of_hca),
	{}
};

static struct kunit_suite netdev_suite = {
	.name = "ipoib_netdev",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = netdev_cases,
};

kunit_test_suites(&netdev_suite);
