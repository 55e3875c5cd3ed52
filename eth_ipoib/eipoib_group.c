// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Groups. The Ethernet address of a group has only a part of its IP address, so the group that a
 * packet is for is told by its IP header; and only those can be joined by the list of the
 * netdevice's Ethernet addresses whose other bits are known: 224.0.0.x, ff02::x and the
 * solicited-node groups.
 */
#include <net/if_inet6.h>
#include <net/ip.h>

#include "eipoib.h"

/**
 * eipoib_group_lladdr() - get the link-layer address of a group (RFC 4391 section 4)
 * @eth: the netdevice
 * @ip: the group's IP address
 * @to: filled in
 *
 * Context: any.
 */
void eipoib_group_lladdr(const struct eipoib_dev *eth, const struct in6_addr *ip,
			 struct eipoib_lladdr *to)
{
	if (ipv6_addr_v4mapped(ip))
		ip_ib_mc_map(ip->s6_addr32[3], eth->lower->broadcast, (char *)to);
	else
		ipv6_ib_mc_map(ip, eth->lower->broadcast, (char *)to);
}

/* Gets the link-layer address of the only group that an Ethernet address is likely to stand for.
 * Returns false if there are several.
 */
static bool lladdr_of_mac(const struct eipoib_dev *eth, const u8 *mac, struct eipoib_lladdr *to)
{
	static const u8 ip4_local[] = { 0x01, 0x00, 0x5e, 0x00, 0x00 };
	static const u8 ip6_local[] = { 0x33, 0x33, 0x00, 0x00, 0x00 };
	static const u8 ip6_solicited[] = { 0x33, 0x33, 0xff };
	struct in6_addr ip = { .s6_addr = { 0xff, 0x02 } };

	if (!memcmp(mac, ip4_local, sizeof(ip4_local))) {
		ip = eipoib_ip4(htonl(INADDR_UNSPEC_GROUP | mac[5]));
	} else if (!memcmp(mac, ip6_local, sizeof(ip6_local))) {
		ip.s6_addr[15] = mac[5];
	} else if (!memcmp(mac, ip6_solicited, sizeof(ip6_solicited))) {
		ip.s6_addr[11] = 1;
		memcpy(&ip.s6_addr[12], &mac[2], 4);
	} else {
		return false;
	}
	eipoib_group_lladdr(eth, &ip, to);
	return true;
}

static int join(struct eipoib_dev *eth, const u8 *mac)
{
	struct eipoib_lladdr lladdr;

	return lladdr_of_mac(eth, mac, &lladdr) ? dev_mc_add(eth->lower, (u8 *)&lladdr) : 0;
}

static void leave(struct eipoib_dev *eth, const u8 *mac)
{
	struct eipoib_lladdr lladdr;

	/* It is not there if the lower netdevice has lost its list */
	if (lladdr_of_mac(eth, mac, &lladdr))
		dev_mc_del(eth->lower, (u8 *)&lladdr);
}

/* The list of the Ethernet netdevice does not tell in which VLAN an address is wanted, so the group
 * is joined on each link. The first one decides whether it has succeeded.
 */
static int group_join(struct net_device *netdev, const unsigned char *mac)
{
	struct eipoib_dev *base = eipoib_priv(netdev);
	struct eipoib_slave *slave;

	rcu_read_lock();
	list_for_each_entry_rcu(slave, &base->slaves.list, node)
		if (slave->vlan)
			join(eipoib_of_slave(slave), mac);
	rcu_read_unlock();
	return join(base, mac);
}

static int group_leave(struct net_device *netdev, const unsigned char *mac)
{
	struct eipoib_dev *base = eipoib_priv(netdev);
	struct eipoib_slave *slave;

	rcu_read_lock();
	list_for_each_entry_rcu(slave, &base->slaves.list, node)
		if (slave->vlan)
			leave(eipoib_of_slave(slave), mac);
	rcu_read_unlock();
	leave(base, mac);
	return 0;
}

/**
 * eipoib_groups_sync() - ndo_set_rx_mode: join the groups of the netdevice's list, and leave others
 * @netdev: the netdevice
 *
 * Context: the netdevice's address list lock held.
 */
void eipoib_groups_sync(struct net_device *netdev)
{
	__dev_mc_sync(netdev, group_join, group_leave);
}

/**
 * eipoib_groups_leave() - leave all groups
 * @eth: the netdevice
 *
 * Context: rtnl held.
 */
void eipoib_groups_leave(struct eipoib_dev *eth)
{
	netif_addr_lock_bh(eth->netdev);
	__dev_mc_unsync(eth->netdev, group_leave);
	netif_addr_unlock_bh(eth->netdev);
}

/**
 * eipoib_groups_join_listed() - join the groups of the Ethernet netdevice's list on another link
 * @eth: what sends and receives there
 *
 * Context: the Ethernet netdevice's address list lock held.
 */
void eipoib_groups_join_listed(struct eipoib_dev *eth)
{
	struct netdev_hw_addr *address;

	if (eth->domain != eth)
		return;
	netdev_for_each_mc_addr(address, eth->netdev)
		if (address->sync_cnt)
			join(eth, address->addr);
}

/**
 * eipoib_groups_leave_listed() - undo eipoib_groups_join_listed()
 * @eth: what sends and receives there
 *
 * Context: the Ethernet netdevice's address list lock held.
 */
void eipoib_groups_leave_listed(struct eipoib_dev *eth)
{
	struct netdev_hw_addr *address;

	if (eth->domain != eth)
		return;
	netdev_for_each_mc_addr(address, eth->netdev)
		if (address->sync_cnt)
			leave(eth, address->addr);
}

/**
 * eipoib_groups_rejoin() - join these groups again, as the lower netdevice has lost its list
 * @eth: what sends and receives by it
 *
 * Context: rtnl held.
 */
void eipoib_groups_rejoin(struct eipoib_dev *eth)
{
	netif_addr_lock_bh(eth->netdev);
	eipoib_groups_join_listed(eth);
	netif_addr_unlock_bh(eth->netdev);
}
