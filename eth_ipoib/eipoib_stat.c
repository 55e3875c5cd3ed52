// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters and ethtool.
 */
#include <linux/ethtool.h>

#include "eipoib.h"
#include "version.h"

static const char names[EIPOIB_STAT_COUNT][ETH_GSTRING_LEN] = {
	[EIPOIB_STAT_TX_SHORT]		= "tx_short",
	[EIPOIB_STAT_TX_NO_MEMORY]	= "tx_no_memory",
	[EIPOIB_STAT_TX_LOWER]		= "tx_lower",
	[EIPOIB_STAT_TX_LOOP]		= "tx_loop",
	[EIPOIB_STAT_TX_VLAN]		= "tx_vlan",
	[EIPOIB_STAT_TX_LLC]		= "tx_llc",
	[EIPOIB_STAT_TX_LINK]		= "tx_link_protocol",
	[EIPOIB_STAT_TX_PROTOCOL]	= "tx_protocol",
	[EIPOIB_STAT_TX_IP]		= "tx_bad_ip",
	[EIPOIB_STAT_TX_ARP]		= "tx_bad_arp",
	[EIPOIB_STAT_TX_ND]		= "tx_bad_nd",
	[EIPOIB_STAT_TX_FORGED]		= "tx_forged",
	[EIPOIB_STAT_TX_LOCAL]		= "tx_local",
	[EIPOIB_STAT_TX_UNKNOWN]	= "tx_unknown",
	[EIPOIB_STAT_TX_UNANSWERED]	= "tx_unanswered",
	[EIPOIB_STAT_RX_SHORT]		= "rx_short",
	[EIPOIB_STAT_RX_NO_MEMORY]	= "rx_no_memory",
	[EIPOIB_STAT_RX_DOWN]		= "rx_down",
	[EIPOIB_STAT_RX_REPEATED]	= "rx_repeated",
	[EIPOIB_STAT_RX_PROTOCOL]	= "rx_protocol",
	[EIPOIB_STAT_RX_IP]		= "rx_bad_ip",
	[EIPOIB_STAT_RX_ARP]		= "rx_bad_arp",
	[EIPOIB_STAT_RX_ND]		= "rx_bad_nd",
	[EIPOIB_STAT_RX_FORGED]		= "rx_forged",
	[EIPOIB_STAT_RX_UNKNOWN]	= "rx_unknown",
	[EIPOIB_STAT_RX_UNANSWERED]	= "rx_unanswered",
	[EIPOIB_STAT_LOCAL_NEW]		= "local_new",
	[EIPOIB_STAT_LOCAL_MOVED]	= "local_moved",
	[EIPOIB_STAT_LOCAL_LEFT]	= "local_left",
	[EIPOIB_STAT_LOCAL_EVICTED]	= "local_evicted",
	[EIPOIB_STAT_LOCAL_REFUSED]	= "local_refused",
	[EIPOIB_STAT_HEARD_EVICTED]	= "heard_evicted",
	[EIPOIB_STAT_HEARD_REFUSED]	= "heard_refused",
	[EIPOIB_STAT_REMOTE_EVICTED]	= "remote_evicted",
	[EIPOIB_STAT_REMOTE_REFUSED]	= "remote_refused",
	[EIPOIB_STAT_GROUP_JOINS]	= "group_joins",
	[EIPOIB_STAT_GROUP_LEAVES]	= "group_leaves",
	[EIPOIB_STAT_GROUP_REFUSED]	= "group_refused",
	[EIPOIB_STAT_ASKED_IB]		= "asked_ib",
	[EIPOIB_STAT_ASKED_ETH]		= "asked_eth",
	[EIPOIB_STAT_QUERIES]		= "queries",
	[EIPOIB_STAT_RARP]		= "rarp",
	[EIPOIB_STAT_RARP_REFUSED]	= "rarp_refused",
	[EIPOIB_STAT_ANNOUNCED]		= "announced",
	[EIPOIB_STAT_ANNOUNCED_ETH]	= "announced_eth",
	[EIPOIB_STAT_ANNOUNCE_REFUSED]	= "announce_refused",
	[EIPOIB_STAT_DHCP_FLAGGED]	= "dhcp_flagged",
	[EIPOIB_STAT_DHCP_REWRITTEN]	= "dhcp_rewritten",
	[EIPOIB_STAT_DHCP_REFUSED]	= "dhcp_refused",
	[EIPOIB_STAT_DHCP_ANSWERED]	= "dhcp_answered",
	[EIPOIB_STAT_DHCP_BOUND]	= "dhcp_bound",
	[EIPOIB_STAT_DHCP_BROADCAST]	= "dhcp_broadcast",
	[EIPOIB_STAT_DHCP_BAD]		= "dhcp_bad",
};

/**
 * eipoib_count() - count an event
 * @eth: the netdevice
 * @stat: the counter
 *
 * Context: any.
 */
void eipoib_count(struct eipoib_dev *eth, enum eipoib_stat stat)
{
	this_cpu_inc(eth->stats->count[stat]);
}

/**
 * eipoib_drop() - drop a packet and count it
 * @eth: the netdevice
 * @skb: the packet
 * @why: the counter
 *
 * Context: any but hard interrupt.
 */
void eipoib_drop(struct eipoib_dev *eth, struct sk_buff *skb, enum eipoib_stat why)
{
	eipoib_count(eth, why);
	kfree_skb(skb);
}

static u64 stat_read(const struct eipoib_dev *eth, enum eipoib_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(eth->stats, cpu)->count[stat]);
	return sum;
}

static u64 stat_sum(const struct eipoib_dev *eth, enum eipoib_stat first, enum eipoib_stat last)
{
	u64 sum = 0;

	for (; first <= last; first++)
		sum += stat_read(eth, first);
	return sum;
}

/**
 * eipoib_get_stats64() - ndo_get_stats64: read the standard counters
 * @netdev: the netdevice
 * @stats: filled in
 *
 * Context: any.
 */
void eipoib_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	const struct eipoib_dev *eth = eipoib_priv(netdev);

	dev_fetch_sw_netstats(stats, netdev->tstats);
	stats->tx_dropped = stat_sum(eth, EIPOIB_STAT_TX_SHORT, EIPOIB_STAT_TX_UNANSWERED);
	stats->rx_dropped = stat_sum(eth, EIPOIB_STAT_RX_SHORT, EIPOIB_STAT_RX_UNANSWERED);
}

static void get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	const struct eipoib_dev *eth = eipoib_priv(netdev);

	strscpy(info->driver, EIPOIB_KIND, sizeof(info->driver));
	strscpy(info->version, IB_IPOIB_VERSION, sizeof(info->version));
	strscpy(info->bus_info, netdev_name(eth->lower), sizeof(info->bus_info));
}

static void get_strings(struct net_device *netdev, u32 set, u8 *strings)
{
	if (set == ETH_SS_STATS)
		memcpy(strings, names, sizeof(names));
}

static int get_sset_count(struct net_device *netdev, int set)
{
	return set == ETH_SS_STATS ? EIPOIB_STAT_COUNT : -EOPNOTSUPP;
}

static void get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *unused, u64 *counts)
{
	const struct eipoib_dev *eth = eipoib_priv(netdev);
	int i;

	for (i = 0; i < EIPOIB_STAT_COUNT; i++)
		counts[i] = stat_read(eth, i);
}

static int get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	const struct eipoib_dev *eth = eipoib_priv(netdev);

	return __ethtool_get_link_ksettings(eth->lower, settings);
}

const struct ethtool_ops eipoib_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
	.get_strings = get_strings,
	.get_sset_count = get_sset_count,
	.get_ethtool_stats = get_ethtool_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
