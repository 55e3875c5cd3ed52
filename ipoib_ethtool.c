// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ethtool: who drives the interface, and the counters that say why a packet was
 * dropped and what the control path did.
 */

#include "ipoib.h"

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
	[IPOIB_STAT_TX_GROUP_FULL]	= "tx_group_queue_full",
	[IPOIB_STAT_TX_GROUP_FAILED]	= "tx_group_failed",
	[IPOIB_STAT_TX_LINEARIZED]	= "tx_linearized",
	[IPOIB_STAT_TX_TIMEOUTS]	= "tx_timeouts",
	[IPOIB_STAT_RX_SHORT]		= "rx_short",
	[IPOIB_STAT_RX_ERROR]		= "rx_completion_error",
	[IPOIB_STAT_RX_NO_MEMORY]	= "rx_no_memory",
	[IPOIB_STAT_RX_LOOPBACK]	= "rx_loopback",
	[IPOIB_STAT_RX_MULTICAST]	= "rx_multicast",
	[IPOIB_STAT_PATH_QUERIES]	= "path_queries",
	[IPOIB_STAT_PATH_FAILURES]	= "path_failures",
	[IPOIB_STAT_GROUP_JOINS]	= "group_joins",
	[IPOIB_STAT_GROUP_FAILURES]	= "group_failures",
	[IPOIB_STAT_QP_RESETS]		= "qp_resets",
};

static void ipoib_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	strscpy(info->driver, "ib_ipoib", sizeof(info->driver));
	ib_get_device_fw_str(priv->ibdev, info->fw_version);
	if (priv->ibdev->dev.parent)
		strscpy(info->bus_info, dev_name(priv->ibdev->dev.parent),
			sizeof(info->bus_info));
}

static int ipoib_get_sset_count(struct net_device *netdev, int sset)
{
	return sset == ETH_SS_STATS ? IPOIB_STAT_COUNT : -EOPNOTSUPP;
}

static void ipoib_get_strings(struct net_device *netdev, u32 sset, u8 *data)
{
	if (sset == ETH_SS_STATS)
		memcpy(data, ipoib_stat_names, sizeof(ipoib_stat_names));
}

static void ipoib_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats,
				    u64 *data)
{
	struct ipoib_dev *priv = netdev_priv(netdev);
	int i;

	for (i = 0; i < IPOIB_STAT_COUNT; i++)
		data[i] = ipoib_stat_read(priv, i);
}

const struct ethtool_ops ipoib_ethtool_ops = {
	.get_drvinfo = ipoib_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = ipoib_get_sset_count,
	.get_strings = ipoib_get_strings,
	.get_ethtool_stats = ipoib_get_ethtool_stats,
};
