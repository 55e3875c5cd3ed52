/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * eth_ipoib.ko: an Ethernet netdevice over an IPoIB one.
 */
#ifndef _EIPOIB_H
#define _EIPOIB_H

#include <linux/etherdevice.h>
#include <linux/netdevice.h>

#include "compat.h"
#include "eipoib_announce.h"
#include "eipoib_config.h"
#include "eipoib_dhcp_table.h"
#include "eipoib_ip.h"
#include "eipoib_member.h"
#include "eipoib_remote.h"
#include "eipoib_slave.h"
#include "eipoib_stat.h"
#include "eipoib_wait.h"
#include "eipoib_wire.h"

#define EIPOIB_KIND	"eipoib"

/* What sends and receives by an IPoIB netdevice of any driver, whose rx_handler_data it is. That of
 * the first lower netdevice is the private data of the Ethernet netdevice. Those of further ones,
 * see eipoib_slave.c, share its tables if they are on the same link.
 */
struct eipoib_dev {
	struct net_device *netdev;
	struct net_device *lower;	/* does not change; a reference is held */
	struct eipoib_dev *domain;	/* the one whose tables are used */
	struct eipoib_slaves slaves;	/* of the Ethernet netdevice's private data only */
	struct eipoib_slave slave;
	struct eipoib_config config;
	u8 own_mac[ETH_ALEN];		/* see eipoib_follow_address() */
	struct eipoib_ip_table local;	/* IP addresses on the Ethernet side, by ARP and ND */
	struct eipoib_ip_table heard;	/* those on the IPoIB side, with their MAC addresses */
	struct eipoib_members members;	/* groups that were reported on the Ethernet side */
	struct eipoib_remotes remotes;	/* interfaces on the IPoIB side */
	struct eipoib_wait to_ib;	/* packets until their IP address is heard of */
	struct eipoib_wait to_eth;	/* packets until their IP address is known locally */
	struct eipoib_dhcp_table dhcp;	/* clients on the Ethernet side */
	struct eipoib_announce announce;
	struct delayed_work age_work;
	struct eipoib_pcpu_stats __percpu *stats;
};

static inline struct eipoib_dev *eipoib_priv(const struct net_device *netdev)
{
	return netdev_priv(netdev);
}

static inline const struct eipoib_lladdr *eipoib_own_lladdr(const struct eipoib_dev *eth)
{
	return (const struct eipoib_lladdr *)eth->lower->dev_addr;
}

static inline const struct eipoib_lladdr *eipoib_broadcast(const struct eipoib_dev *eth)
{
	return (const struct eipoib_lladdr *)eth->lower->broadcast;
}

/* Returns what sends and receives by a further lower netdevice */
static inline struct eipoib_dev *eipoib_of_slave(struct eipoib_slave *slave)
{
	return container_of(slave, struct eipoib_dev, slave);
}

/* Returns whether a lower netdevice is that of one host of the Ethernet side */
static inline bool eipoib_is_dedicated(const struct eipoib_dev *eth)
{
	return eth->domain != eth && !is_zero_ether_addr(eth->slave.mac);
}

/* Returns whether a MAC address is the one that other hosts compute for this one */
static inline bool eipoib_mac_is_own(const struct eipoib_dev *eth, const u8 *mac)
{
	return ether_addr_equal(mac, eth->own_mac) ||
	       ether_addr_equal(mac, eth->domain->own_mac);
}

/* eipoib_netdev.c */
extern struct rtnl_link_ops eipoib_link_ops;

/* eipoib_link.c */
int eipoib_tables_init(struct eipoib_dev *eth);
void eipoib_tables_destroy(struct eipoib_dev *eth);
void eipoib_follow_address(struct eipoib_dev *eth);

/* eipoib_out.c */
void eipoib_sent(struct eipoib_dev *eth, int result, u32 len);
void eipoib_send(struct eipoib_dev *eth, struct sk_buff *skb, const struct eipoib_lladdr *to);
bool eipoib_frame(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *to, const u8 *from);
void eipoib_deliver(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *to, const u8 *from);
void eipoib_received(struct eipoib_dev *eth, struct sk_buff *skb);

/* eipoib_tx.c */
netdev_tx_t eipoib_xmit(struct sk_buff *skb, struct net_device *netdev);
void eipoib_send_waiting(struct eipoib_dev *eth, struct sk_buff *skb);

/* eipoib_rx.c */
rx_handler_result_t eipoib_receive(struct sk_buff **pskb);
void eipoib_deliver_waiting(struct eipoib_dev *eth, struct sk_buff *skb);

/* eipoib_learn.c */
bool eipoib_learn_permits(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
bool eipoib_learn_local(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
int eipoib_learn_static(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
bool eipoib_learn_heard(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);

/* eipoib_static.c */
int eipoib_static_replace(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			  struct netlink_ext_ack *extack);
int eipoib_static_add(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
		      struct netlink_ext_ack *extack);
int eipoib_static_delete(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			 struct netlink_ext_ack *extack);

/* eipoib_fdb.c */
int eipoib_fdb_add(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *netdev,
		   const unsigned char *mac, u16 vid, u16 flags, bool *notified,
		   struct netlink_ext_ack *extack);
int eipoib_fdb_del(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *netdev,
		   const unsigned char *mac, u16 vid, bool *notified,
		   struct netlink_ext_ack *extack);
int eipoib_fdb_dump(struct sk_buff *skb, struct netlink_callback *cb, struct net_device *netdev,
		    struct net_device *filter_dev, int *idx);

/* eipoib_netlink.c */
void eipoib_netlink_tell(struct eipoib_dev *eth, const struct eipoib_ip_info *info,
			 enum eipoib_event event);
int eipoib_netlink_init(void);
void eipoib_netlink_exit(void);

/* eipoib_arp.c */
void eipoib_arp_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether);
void eipoib_arp_receive(struct eipoib_dev *eth, struct sk_buff *skb);
void eipoib_rarp_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether);

/* eipoib_arp_send.c */
void eipoib_arp_send(struct eipoib_dev *eth, int op, __be32 spa, __be32 tpa,
		     const struct eipoib_lladdr *to, const struct eipoib_lladdr *tha);
void eipoib_arp_deliver(struct eipoib_dev *eth, int op, __be32 spa, __be32 tpa, const u8 *to,
			const u8 *sha, const u8 *tha);
void eipoib_arp_ask_ib(struct eipoib_dev *eth, __be32 from, __be32 ip);
void eipoib_arp_ask_eth(struct eipoib_dev *eth, const u8 *mac, __be32 from, __be32 ip);
void eipoib_arp_ask_host(struct eipoib_dev *eth, const u8 *mac, __be32 ip);
void eipoib_arp_announce(struct eipoib_dev *eth, __be32 ip);
void eipoib_arp_announce_eth(struct eipoib_dev *eth, __be32 ip, const u8 *mac);

/* eipoib_nd.c */
bool eipoib_nd_is(struct sk_buff *skb);
bool eipoib_nd_is_behind(const struct sk_buff *skb);
void eipoib_nd_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether);
void eipoib_nd_receive(struct eipoib_dev *eth, struct sk_buff *skb,
		       const struct eipoib_lladdr *from);

/* eipoib_nd_send.c */
void eipoib_nd_ask_ib(struct eipoib_dev *eth, const struct in6_addr *from,
		      const struct in6_addr *ip);
void eipoib_nd_ask_eth(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *from,
		       const struct in6_addr *ip);
void eipoib_nd_asker(const u8 *mac, struct in6_addr *ip);
void eipoib_nd_ask_host(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *ip);
void eipoib_nd_announce(struct eipoib_dev *eth, const struct in6_addr *ip);
void eipoib_nd_announce_eth(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);

/* eipoib_group.c */
void eipoib_group_lladdr(const struct eipoib_dev *eth, const struct in6_addr *ip,
			 struct eipoib_lladdr *to);
void eipoib_groups_sync(struct net_device *netdev);
void eipoib_groups_leave(struct eipoib_dev *eth);
void eipoib_groups_rejoin(struct eipoib_dev *eth);
void eipoib_groups_join_listed(struct eipoib_dev *eth);
void eipoib_groups_leave_listed(struct eipoib_dev *eth);

/* eipoib_query.c */
void eipoib_query_igmp(struct eipoib_dev *eth, __be32 group);
void eipoib_query_mld(struct eipoib_dev *eth, const struct in6_addr *group);

/* eipoib_snoop.c */
void eipoib_snoop4(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *mac);
void eipoib_snoop6(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *mac);
void eipoib_snoop_received4(struct eipoib_dev *eth, struct sk_buff *skb);
void eipoib_snoop_received6(struct eipoib_dev *eth, struct sk_buff *skb);
void eipoib_snoop_solicited(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);

#endif /* _EIPOIB_H */
