// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Statistics of queues for the netlink family "netdev" (qstats-get), on kernels that have it.
 */
#include <net/netdev_queues.h>

#include "ipoib.h"
#include "ipoib_qstats.h"

static void qstats_get_rx(struct net_device *netdev, int index,
			  struct netdev_queue_stats_rx *stats)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct ipoib_ring_figures figures = ipoib_ring_read(&priv->rx.stats);

	stats->packets = figures.packets;
	stats->bytes = figures.bytes;
}

static void qstats_get_tx(struct net_device *netdev, int index,
			  struct netdev_queue_stats_tx *stats)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	struct ipoib_ring_figures figures = ipoib_ring_read(&priv->channels[index].tx.stats);

	stats->packets = figures.packets;
	stats->bytes = figures.bytes;
}

/* The statistics of queues that do not exist any more: those of the netdevice, less those of its
 * queues. Queues are counted before the netdevice is, so that the difference is not negative.
 */
static void qstats_get_base(struct net_device *netdev, struct netdev_queue_stats_rx *rx,
			    struct netdev_queue_stats_tx *tx)
{
	struct netdev_queue_stats_rx rx_queue;
	struct netdev_queue_stats_tx tx_queue;
	struct rtnl_link_stats64 link;
	unsigned int i;

	tx->packets = 0;
	tx->bytes = 0;
	qstats_get_rx(netdev, 0, &rx_queue);
	for (i = 0; i < netdev->real_num_tx_queues; i++) {
		qstats_get_tx(netdev, i, &tx_queue);
		tx->packets -= tx_queue.packets;
		tx->bytes -= tx_queue.bytes;
	}
	dev_get_stats(netdev, &link);
	rx->packets = link.rx_packets - rx_queue.packets;
	rx->bytes = link.rx_bytes - rx_queue.bytes;
	tx->packets += link.tx_packets;
	tx->bytes += link.tx_bytes;
}

const struct netdev_stat_ops ipoib_stat_ops = {
	.get_queue_stats_rx = qstats_get_rx,
	.get_queue_stats_tx = qstats_get_tx,
	.get_base_stats = qstats_get_base,
};
