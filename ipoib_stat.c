// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The counters of a netdevice. */
#include <linux/netdevice.h>

#include "ipoib.h"

/**
 * ipoib_stats_init() - allocate the counters of a device
 * @priv: the device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_stats_init(struct ipoib_dev *priv)
{
	priv->stats = alloc_percpu(struct ipoib_pcpu_stats);
	if (!priv->stats)
		return -ENOMEM;
	priv->netdev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (priv->netdev->tstats)
		return 0;
	free_percpu(priv->stats);
	return -ENOMEM;
}

/**
 * ipoib_stats_destroy() - undo ipoib_stats_init()
 * @priv: the device; nothing uses its counters any more
 *
 * Context: may sleep.
 */
void ipoib_stats_destroy(struct ipoib_dev *priv)
{
	free_percpu(priv->netdev->tstats);
	free_percpu(priv->stats);
}

/**
 * ipoib_stat_read() - read a counter
 * @priv: the device
 * @stat: the counter
 *
 * Context: any.
 * Return: sum over all CPUs.
 */
u64 ipoib_stat_read(struct ipoib_dev *priv, enum ipoib_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(priv->stats, cpu)->count[stat]);
	return sum;
}

static u64 stat_sum(struct ipoib_dev *priv, enum ipoib_stat first, enum ipoib_stat last)
{
	u64 sum = 0;

	for (; first <= last; first++)
		sum += ipoib_stat_read(priv, first);
	return sum;
}

/**
 * ipoib_get_stats64() - ndo_get_stats64: read the standard counters
 * @netdev: the device
 * @stats: filled in
 *
 * Context: any.
 */
void ipoib_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	dev_fetch_sw_netstats(stats, netdev->tstats);
	stats->multicast = ipoib_stat_read(priv, IPOIB_STAT_RX_MULTICAST);
	stats->rx_length_errors = stat_sum(priv, IPOIB_STAT_RX_SHORT, IPOIB_STAT_RX_TOO_LONG);
	stats->rx_errors = stats->rx_length_errors + ipoib_stat_read(priv, IPOIB_STAT_RX_ERROR);
	stats->rx_dropped = ipoib_stat_read(priv, IPOIB_STAT_RX_NO_MEMORY) +
			    ipoib_stat_read(priv, IPOIB_STAT_RX_NO_CHECKSUM) +
			    ipoib_stat_read(priv, IPOIB_STAT_RX_FORGED_DROPPED);
	stats->tx_errors = stat_sum(priv, IPOIB_STAT_TX_DMA_MAP, IPOIB_STAT_TX_ERROR);
	stats->tx_dropped = stat_sum(priv, IPOIB_STAT_TX_SHORT, IPOIB_STAT_TX_NO_MEMORY) +
			    stat_sum(priv, IPOIB_STAT_TX_FLUSHED, IPOIB_STAT_TX_GROUP_BACKLOG);
	stats->tx_carrier_errors = ipoib_stat_read(priv, IPOIB_STAT_TX_NO_CARRIER);
}
