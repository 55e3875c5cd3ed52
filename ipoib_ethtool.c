// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ethtool operations: driver information, speed, rings, channels, interrupt
 * moderation, private flags, and counters. The counters show why packets were
 * dropped, and what the control path did.
 */
#include <linux/ethtool.h>
#include <linux/log2.h>

#include "ipoib.h"

/* The first counters; their names are those that IPoIB interfaces have always had */
static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;		/* in struct rtnl_link_stats64 */
} link_stats[] = {
	{ "rx_packets", offsetof(struct rtnl_link_stats64, rx_packets) },
	{ "tx_packets", offsetof(struct rtnl_link_stats64, tx_packets) },
	{ "rx_bytes", offsetof(struct rtnl_link_stats64, rx_bytes) },
	{ "tx_bytes", offsetof(struct rtnl_link_stats64, tx_bytes) },
	{ "tx_errors", offsetof(struct rtnl_link_stats64, tx_errors) },
	{ "rx_dropped", offsetof(struct rtnl_link_stats64, rx_dropped) },
	{ "tx_dropped", offsetof(struct rtnl_link_stats64, tx_dropped) },
	{ "multicast", offsetof(struct rtnl_link_stats64, multicast) },
};

/* Counters of each ring; the name of the ring comes before these names */
static const char * const ring_stat_names[] = { "packets", "bytes", "polls" };

#define RING_STATS	ARRAY_SIZE(ring_stat_names)

static const char ipoib_stat_names[IPOIB_STAT_COUNT][ETH_GSTRING_LEN] = {
	[IPOIB_STAT_TX_SHORT]		= "tx_short",
	[IPOIB_STAT_TX_TOO_LONG]	= "tx_too_long",
	[IPOIB_STAT_TX_NO_MEMORY]	= "tx_no_memory",
	[IPOIB_STAT_TX_DMA_MAP]		= "tx_dma_map_failed",
	[IPOIB_STAT_TX_POST]		= "tx_post_failed",
	[IPOIB_STAT_TX_ERROR]		= "tx_completion_error",
	[IPOIB_STAT_TX_FLUSHED]		= "tx_flushed",
	[IPOIB_STAT_TX_NO_CARRIER]	= "tx_no_carrier",
	[IPOIB_STAT_TX_PATH_FULL]	= "tx_path_queue_full",
	[IPOIB_STAT_TX_PATH_FAILED]	= "tx_path_failed",
	[IPOIB_STAT_TX_PATH_LIMIT]	= "tx_path_limit",
	[IPOIB_STAT_TX_CONN_FULL]	= "tx_conn_queue_full",
	[IPOIB_STAT_TX_CONN_LOST]	= "tx_conn_lost",
	[IPOIB_STAT_TX_CONN_AWAITED]	= "tx_conn_awaited",
	[IPOIB_STAT_TX_GROUP_FULL]	= "tx_group_queue_full",
	[IPOIB_STAT_TX_GROUP_FAILED]	= "tx_group_failed",
	[IPOIB_STAT_TX_GROUP_BACKLOG]	= "tx_group_backlog",
	[IPOIB_STAT_TX_GROUP_LIMIT]	= "tx_group_limit",
	[IPOIB_STAT_TX_LINEARIZED]	= "tx_linearized",
	[IPOIB_STAT_TX_SEGMENTED]	= "tx_segmented",
	[IPOIB_STAT_TX_FRAGMENTED]	= "tx_fragmented",
	[IPOIB_STAT_TX_TIMEOUTS]	= "tx_timeouts",
	[IPOIB_STAT_RX_SHORT]		= "rx_short",
	[IPOIB_STAT_RX_TOO_LONG]	= "rx_too_long",
	[IPOIB_STAT_RX_ERROR]		= "rx_completion_error",
	[IPOIB_STAT_RX_NO_MEMORY]	= "rx_no_memory",
	[IPOIB_STAT_RX_LOOPBACK]	= "rx_loopback",
	[IPOIB_STAT_RX_NO_CARRIER]	= "rx_no_carrier",
	[IPOIB_STAT_RX_NO_CHECKSUM]	= "rx_no_checksum",
	[IPOIB_STAT_RX_MULTICAST]	= "rx_multicast",
	[IPOIB_STAT_RX_FORGED]		= "rx_forged",
	[IPOIB_STAT_RX_FORGED_DROPPED]	= "rx_forged_dropped",
	[IPOIB_STAT_PATH_QUERIES]	= "path_queries",
	[IPOIB_STAT_PATH_FAILURES]	= "path_failures",
	[IPOIB_STAT_PATHS_LEARNED]	= "paths_learned",
	[IPOIB_STAT_PATHS_CORRECTED]	= "paths_corrected",
	[IPOIB_STAT_GROUP_JOINS]	= "group_joins",
	[IPOIB_STAT_GROUP_FAILURES]	= "group_failures",
	[IPOIB_STAT_GROUP_FALLBACKS]	= "group_fallbacks",
	[IPOIB_STAT_GROUP_EXPIRIES]	= "group_expiries",
	[IPOIB_STAT_GROUP_LIMIT]	= "group_limit",
	[IPOIB_STAT_REPORTS_CREATED]	= "reports_created",
	[IPOIB_STAT_REPORTS_DELETED]	= "reports_deleted",
	[IPOIB_STAT_REPORTS_FORGED]	= "reports_forged",
	[IPOIB_STAT_SUBSCRIPTIONS]	= "subscriptions",
	[IPOIB_STAT_SUBSCRIPTION_FAILURES] = "subscribe_failures",
	[IPOIB_STAT_GROUP_LISTS]	= "group_lists",
	[IPOIB_STAT_GROUP_LIST_FAILURES] = "list_failures",
	[IPOIB_STAT_QP_RESETS]		= "qp_resets",
	[IPOIB_STAT_CONN_ACCEPTED]	= "conns_accepted",
	[IPOIB_STAT_CONN_REFUSED]	= "conns_refused",
	[IPOIB_STAT_CONN_OPENED]	= "conns_opened",
	[IPOIB_STAT_CONN_FAILED]	= "conns_failed",
};

static void ipoib_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	strscpy(info->driver, "ib_ipoib", sizeof(info->driver));
	ib_get_device_fw_str(priv->ibdev, info->fw_version);
	if (priv->ibdev->dev.parent)
		strscpy(info->bus_info, dev_name(priv->ibdev->dev.parent),
			sizeof(info->bus_info));
}

static int ipoib_get_link_ksettings(struct net_device *netdev,
				    struct ethtool_link_ksettings *settings)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	u32 mbps;
	int err;

	settings->base.speed = SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_UNKNOWN;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_ENABLE;
	if (!netif_carrier_ok(netdev))
		return 0;
	err = priv->port->fabric->speed(priv, &mbps);
	if (err)
		return err;
	settings->base.speed = mbps;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

/* Tells more about a link without carrier, where ethtool has words for it. A port that polls looks
 * for a partner on its cable. For reasons of the subnet there are none.
 */
static int ipoib_get_link_ext_state(struct net_device *netdev,
				    struct ethtool_link_ext_state_info *info)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct ib_port_attr attr;

	if (!ipoib_reason_is_of_port(ipoib_link_reason(priv)) ||
	    ib_query_port(priv->ibdev, priv->port->number, &attr) ||
	    ipoib_reason_of_port(attr.state) != IPOIB_REASON_PORT_DOWN ||
	    attr.phys_state != IB_PORT_PHYS_STATE_POLLING)
		return -ENODATA;
	info->link_ext_state = ETHTOOL_LINK_EXT_STATE_AUTONEG;
	info->autoneg = ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED;
	return 0;
}

static void ipoib_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	ring->rx_max_pending = priv->transport->ring_limit(priv);
	ring->tx_max_pending = priv->transport->ring_limit(priv);
	ring->rx_pending = priv->queues.rx_size;
	ring->tx_pending = priv->queues.tx_size;
}

static int ipoib_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	if (!is_power_of_2(ring->rx_pending) || !is_power_of_2(ring->tx_pending) ||
	    ring->rx_pending < IPOIB_RING_MIN || ring->tx_pending < IPOIB_RING_MIN) {
		NL_SET_ERR_MSG(extack, "A ring's size is a power of two, and at least 64");
		return -EINVAL;
	}
	if (ring->rx_pending == priv->queues.rx_size &&
	    ring->tx_pending == priv->queues.tx_size)
		return 0;
	err = ipoib_netdev_resize(priv, priv->queues.count, ring->tx_pending,
				  ring->rx_pending);
	if (err == -EINVAL || err == -ENOMEM)
		NL_SET_ERR_MSG(extack, "No room for such rings in HCA or memory: try smaller ones");
	return err;
}

static int ipoib_get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			      struct kernel_ethtool_coalesce *kernel_coalesce,
			      struct netlink_ext_ack *extack)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	coalesce->use_adaptive_rx_coalesce = priv->moderation.rx_adaptive;
	coalesce->rx_coalesce_usecs = priv->moderation.rx_usecs;
	coalesce->rx_max_coalesced_frames = priv->moderation.rx_frames;
	coalesce->tx_coalesce_usecs = priv->moderation.tx_usecs;
	coalesce->tx_max_coalesced_frames = priv->moderation.tx_frames;
	return 0;
}

/* Returns whether only fixed values for the receive ring are set. Scripts set these on any HCA and
 * do not expect an error if the HCA does not support moderation.
 */
static bool only_rx_is_set(const struct ipoib_moderation *moderation)
{
	return !moderation->rx_adaptive && !moderation->tx_frames && !moderation->tx_usecs;
}

static int ipoib_set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			      struct kernel_ethtool_coalesce *kernel_coalesce,
			      struct netlink_ext_ack *extack)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct ipoib_moderation moderation = {
		.rx_adaptive = coalesce->use_adaptive_rx_coalesce,
		.rx_usecs = coalesce->rx_coalesce_usecs,
		.rx_frames = coalesce->rx_max_coalesced_frames,
		.tx_usecs = coalesce->tx_coalesce_usecs,
		.tx_frames = coalesce->tx_max_coalesced_frames,
	};
	int err;

	if (max(coalesce->rx_coalesce_usecs, coalesce->tx_coalesce_usecs) > U16_MAX ||
	    max(coalesce->rx_max_coalesced_frames, coalesce->tx_max_coalesced_frames) > U16_MAX) {
		NL_SET_ERR_MSG(extack, "At most 65535 microseconds and frames");
		return -EINVAL;
	}
	err = priv->transport->moderate(priv, &moderation);
	if (err == -EOPNOTSUPP && only_rx_is_set(&moderation)) {
		priv->moderation = moderation;
		return 0;
	}
	if (err == -EOPNOTSUPP)
		NL_SET_ERR_MSG(extack, "The HCA cannot moderate completions");
	return err;
}

static void ipoib_get_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	channels->max_rx = 1;
	channels->max_tx = min_t(u32, netdev->num_tx_queues, IPOIB_TX_QUEUES_MAX);
	channels->rx_count = 1;
	channels->tx_count = priv->queues.count;
}

/* Distributes the CPUs over the send queues. The administrator may change this by XPS. */
static void spread_queues(struct net_device *netdev)
{
	unsigned int queue, count = netdev->real_num_tx_queues;
	cpumask_var_t mask;
	int cpu;

	if (count == 1 || !zalloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	for (queue = 0; queue < count; queue++) {
		cpumask_clear(mask);
		for_each_possible_cpu(cpu)
			if (cpu % count == queue)
				cpumask_set_cpu(cpu, mask);
		netif_set_xps_queue(netdev, mask, queue);
	}
	free_cpumask_var(mask);
}

static int ipoib_set_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	if (channels->tx_count == priv->queues.count)
		return 0;
	err = ipoib_netdev_resize(priv, channels->tx_count, priv->queues.tx_size,
				  priv->queues.rx_size);
	if (!err)
		spread_queues(netdev);
	return err;
}

/* Names of the private flags (ethtool --set-priv-flags), in the order of their bits */
static const char private_flag_names[][ETH_GSTRING_LEN] = {
	"learn-paths", "trust-learned", "arp-verify",
};

enum private_flag { FLAG_LEARN_PATHS, FLAG_TRUST_LEARNED, FLAG_ARP_VERIFY };

static u32 ipoib_get_priv_flags(struct net_device *netdev)
{
	const struct ipoib_dev *priv = ipoib_priv(netdev);

	return priv->learn_paths << FLAG_LEARN_PATHS |
	       priv->trust_learned << FLAG_TRUST_LEARNED | priv->arp_verify << FLAG_ARP_VERIFY;
}

/* When paths learned from packets are no longer trusted, the SA has to be queried for them */
static int ipoib_set_priv_flags(struct net_device *netdev, u32 flags)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	bool trusted = priv->learn_paths && priv->trust_learned;

	WRITE_ONCE(priv->learn_paths, flags & BIT(FLAG_LEARN_PATHS));
	WRITE_ONCE(priv->trust_learned, flags & BIT(FLAG_TRUST_LEARNED));
	WRITE_ONCE(priv->arp_verify, flags & BIT(FLAG_ARP_VERIFY));
	if (trusted && !(priv->learn_paths && priv->trust_learned))
		ipoib_link_event(priv, IPOIB_EVENT_LIGHT);
	return 0;
}

static int ipoib_get_sset_count(struct net_device *netdev, int sset)
{
	const struct ipoib_dev *priv = ipoib_priv(netdev);

	switch (sset) {
	case ETH_SS_STATS:
		return ARRAY_SIZE(link_stats) + (1 + priv->queues.count) * RING_STATS +
		       IPOIB_STAT_COUNT;
	case ETH_SS_PRIV_FLAGS:
		return ARRAY_SIZE(private_flag_names);
	default:
		return -EOPNOTSUPP;
	}
}

static void put_ring_names(u8 **data, const char *direction, u32 ring)
{
	unsigned int i;

	for (i = 0; i < RING_STATS; i++)
		ethtool_sprintf(data, "%s%u_%s", direction, ring, ring_stat_names[i]);
}

static void get_stat_names(const struct ipoib_dev *priv, u8 *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(link_stats); i++)
		ethtool_sprintf(&data, "%s", link_stats[i].name);
	put_ring_names(&data, "rx", 0);
	for (i = 0; i < priv->queues.count; i++)
		put_ring_names(&data, "tx", i);
	memcpy(data, ipoib_stat_names, sizeof(ipoib_stat_names));
}

static void ipoib_get_strings(struct net_device *netdev, u32 sset, u8 *data)
{
	if (sset == ETH_SS_STATS)
		get_stat_names(ipoib_priv(netdev), data);
	else if (sset == ETH_SS_PRIV_FLAGS)
		memcpy(data, private_flag_names, sizeof(private_flag_names));
}

static u64 *put_ring_stats(u64 *data, const struct ipoib_ring_stats *stats)
{
	struct ipoib_ring_figures figures = ipoib_ring_read(stats);

	data[0] = figures.packets;
	data[1] = figures.bytes;
	data[2] = figures.polls;
	return data + RING_STATS;
}

static void ipoib_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats,
				    u64 *data)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct rtnl_link_stats64 link;
	struct ipoib_channel *channel;
	unsigned int i;

	dev_get_stats(netdev, &link);
	for (i = 0; i < ARRAY_SIZE(link_stats); i++)
		*data++ = *(u64 *)((u8 *)&link + link_stats[i].offset);
	data = put_ring_stats(data, &priv->rx.stats);
	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		data = put_ring_stats(data, &channel->tx.stats);
	for (i = 0; i < IPOIB_STAT_COUNT; i++)
		data[i] = ipoib_stat_read(priv, i);
}

const struct ethtool_ops ipoib_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES |
				     ETHTOOL_COALESCE_USE_ADAPTIVE_RX,
	.get_drvinfo = ipoib_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ext_state = ipoib_get_link_ext_state,
	.get_link_ksettings = ipoib_get_link_ksettings,
	.get_ts_info = ethtool_op_get_ts_info,
	.get_ringparam = ipoib_get_ringparam,
	.set_ringparam = ipoib_set_ringparam,
	.get_coalesce = ipoib_get_coalesce,
	.set_coalesce = ipoib_set_coalesce,
	.get_channels = ipoib_get_channels,
	.set_channels = ipoib_set_channels,
	.get_priv_flags = ipoib_get_priv_flags,
	.set_priv_flags = ipoib_set_priv_flags,
	.get_sset_count = ipoib_get_sset_count,
	.get_strings = ipoib_get_strings,
	.get_ethtool_stats = ipoib_get_ethtool_stats,
};
