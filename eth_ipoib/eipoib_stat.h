/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counters, shown by ethtool -S.
 */
#ifndef _EIPOIB_STAT_H
#define _EIPOIB_STAT_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

struct eipoib_dev;

/* Those up to EIPOIB_STAT_DROPS are the reasons why packets are dropped */
enum eipoib_stat {
	EIPOIB_STAT_TX_SHORT,
	EIPOIB_STAT_TX_NO_MEMORY,
	EIPOIB_STAT_TX_LOWER,
	EIPOIB_STAT_TX_LOOP,
	EIPOIB_STAT_TX_VLAN,
	EIPOIB_STAT_TX_LLC,
	EIPOIB_STAT_TX_LINK,
	EIPOIB_STAT_TX_PROTOCOL,
	EIPOIB_STAT_TX_ARP,
	EIPOIB_STAT_TX_ND,
	EIPOIB_STAT_TX_FORGED,
	EIPOIB_STAT_TX_LOCAL,
	EIPOIB_STAT_TX_UNKNOWN,
	EIPOIB_STAT_RX_SHORT,
	EIPOIB_STAT_RX_NO_MEMORY,
	EIPOIB_STAT_RX_DOWN,
	EIPOIB_STAT_RX_PROTOCOL,
	EIPOIB_STAT_RX_ARP,
	EIPOIB_STAT_RX_ND,
	EIPOIB_STAT_RX_FORGED,
	EIPOIB_STAT_RX_UNKNOWN,
	EIPOIB_STAT_UNANSWERED,
	EIPOIB_STAT_DROPS,

	EIPOIB_STAT_LOCAL_NEW = EIPOIB_STAT_DROPS,
	EIPOIB_STAT_LOCAL_MOVED,
	EIPOIB_STAT_LOCAL_LEFT,
	EIPOIB_STAT_LOCAL_EVICTED,
	EIPOIB_STAT_LOCAL_REFUSED,
	EIPOIB_STAT_HEARD_EVICTED,
	EIPOIB_STAT_HEARD_REFUSED,
	EIPOIB_STAT_REMOTE_EVICTED,
	EIPOIB_STAT_REMOTE_REFUSED,
	EIPOIB_STAT_GROUP_JOINS,
	EIPOIB_STAT_GROUP_REFUSED,
	EIPOIB_STAT_ASKED_IB,
	EIPOIB_STAT_ASKED_ETH,
	EIPOIB_STAT_COUNT
};

struct eipoib_pcpu_stats {
	unsigned long count[EIPOIB_STAT_COUNT];
};

extern const struct ethtool_ops eipoib_ethtool_ops;

void eipoib_count(struct eipoib_dev *eth, enum eipoib_stat stat);
void eipoib_drop(struct eipoib_dev *eth, struct sk_buff *skb, enum eipoib_stat why);
void eipoib_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats);

#endif /* _EIPOIB_STAT_H */
