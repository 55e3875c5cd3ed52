/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Settings of an Ethernet netdevice, by rtnetlink.
 */
#ifndef _EIPOIB_CONFIG_H
#define _EIPOIB_CONFIG_H

#include <net/netlink.h>

#include "eipoib_netlink.h"

struct eipoib_dev;

/* Changed under rtnl, and read by the data path at any time. The limits are those of its table of
 * IP addresses.
 */
struct eipoib_config {
	bool learning;
	bool querier;
	u8 dhcp;			/* enum eipoib_dhcp_mode */
};

extern const struct nla_policy eipoib_config_policy[IFLA_EIPOIB_MAX + 1];

void eipoib_config_set_learning(struct eipoib_dev *eth, bool learning);
void eipoib_config_init(struct eipoib_dev *eth);
int eipoib_config_change(struct eipoib_dev *eth, struct nlattr *data[],
			 struct netlink_ext_ack *extack);
size_t eipoib_config_size(const struct net_device *netdev);
int eipoib_config_fill(struct sk_buff *skb, const struct net_device *netdev);

#endif /* _EIPOIB_CONFIG_H */
