/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Further lower netdevices of an Ethernet netdevice: one for each VLAN or MAC address.
 */
#ifndef _EIPOIB_SLAVE_H
#define _EIPOIB_SLAVE_H

#include <linux/if_ether.h>
#include <linux/list.h>
#include <net/netlink.h>

#include "eipoib_netlink.h"

struct eipoib_dev;
struct eipoib_lladdr;

#define EIPOIB_SLAVE_BUCKETS	32

/* Changed under rtnl, and read under RCU */
struct eipoib_slaves {
	struct list_head list;		/* all of them, by slave.node */
	struct hlist_head by_vlan[EIPOIB_SLAVE_BUCKETS];	/* by slave.key_node */
	struct hlist_head by_mac[EIPOIB_SLAVE_BUCKETS];		/* likewise */
	u32 count;
	u32 dedicated;			/* those of them that are on the netdevice's own link */
};

/* How a lower netdevice is one of an Ethernet netdevice; all zero for the first one */
struct eipoib_slave {
	struct list_head node;
	struct hlist_node key_node;	/* not if it is one for a MAC address that is not set yet */
	u16 vlan;			/* 0 if it is one for a MAC address */
	u8 mac[ETH_ALEN];
};

static inline u32 eipoib_slave_bucket(const u8 *mac)
{
	return (mac[3] ^ mac[4] ^ mac[5]) % EIPOIB_SLAVE_BUCKETS;
}

extern const struct nla_policy eipoib_slave_policy[IFLA_EIPOIB_SLAVE_MAX + 1];

void eipoib_slaves_init(struct eipoib_dev *base);
void eipoib_slaves_remove(struct eipoib_dev *base);
int eipoib_slave_add(struct net_device *netdev, struct net_device *lower,
		     struct netlink_ext_ack *extack);
int eipoib_slave_del(struct net_device *netdev, struct net_device *lower);
int eipoib_slave_changelink(struct net_device *netdev, struct net_device *lower,
			    struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack);
size_t eipoib_slave_size(const struct net_device *netdev, const struct net_device *lower);
int eipoib_slave_fill(struct sk_buff *skb, const struct net_device *netdev,
		      const struct net_device *lower);

void eipoib_slaves_configure(struct eipoib_dev *base);
struct eipoib_dev *eipoib_of_lower(const struct net_device *lower);

/* eipoib_lower.c */
struct eipoib_dev *eipoib_slave_of_vlan(const struct eipoib_dev *base, u16 vlan);
struct eipoib_dev *eipoib_slave_of_mac(struct eipoib_dev *base, const u8 *mac);
bool eipoib_lladdr_is_own(const struct eipoib_dev *eth, const struct eipoib_lladdr *lladdr);

#endif /* _EIPOIB_SLAVE_H */
