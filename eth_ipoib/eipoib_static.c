// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Entries that the administrator makes and removes, by generic netlink or as those of a forwarding
 * database.
 */
#include <linux/in.h>

#include "eipoib.h"

/* Returns whether an IP address may be that of one host of a link */
static bool is_of_host(const struct in6_addr *ip)
{
	__be32 ip4 = ip->s6_addr32[3];

	if (ipv6_addr_v4mapped(ip))
		return !ipv4_is_multicast(ip4) && !ipv4_is_lbcast(ip4) && !ipv4_is_zeronet(ip4) &&
		       !ipv4_is_loopback(ip4);
	return !ipv6_addr_is_multicast(ip) && !ipv6_addr_any(ip) && !ipv6_addr_loopback(ip);
}

static int check(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
		 struct netlink_ext_ack *extack)
{
	if (!is_of_host(ip)) {
		NL_SET_ERR_MSG(extack, "Give an IP address of one host");
		return -EINVAL;
	}
	if (!is_valid_ether_addr(mac)) {
		NL_SET_ERR_MSG(extack, "Give a MAC address of one host");
		return -EINVAL;
	}
	if (eipoib_remote_is(&eth->remotes, mac) || eipoib_mac_is_own(eth, mac)) {
		NL_SET_ERR_MSG(extack,
			       "The MAC address is that of an interface on the InfiniBand link");
		return -EINVAL;
	}
	return 0;
}

/**
 * eipoib_static_replace() - make a static entry, in the place of any other one
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address on the Ethernet side
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held.
 * Return: 0, -EINVAL if one of the addresses cannot be, or -ENOSPC.
 */
int eipoib_static_replace(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			  struct netlink_ext_ack *extack)
{
	int err = check(eth, ip, mac, extack);

	if (err)
		return err;
	err = eipoib_learn_static(eth, ip, mac);
	if (err)
		NL_SET_ERR_MSG(extack, "All entries are static; delete some, or raise max_ips");
	return err;
}

/**
 * eipoib_static_add() - make a static entry, unless there is one
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address on the Ethernet side
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held, so that nobody else makes one.
 * Return: as eipoib_static_replace(), or -EEXIST.
 */
int eipoib_static_add(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
		      struct netlink_ext_ack *extack)
{
	if (eipoib_ip_is_static(&eth->local, ip)) {
		NL_SET_ERR_MSG(extack, "There is a static entry already; delete it first");
		return -EEXIST;
	}
	return eipoib_static_replace(eth, ip, mac, extack);
}

/**
 * eipoib_static_delete() - remove an IP address on the Ethernet side, static or not
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: the MAC address that it must have, or NULL for any
 * @extack: for a sentence that says what is wrong
 *
 * Context: process.
 * Return: 0 or -ENOENT.
 */
int eipoib_static_delete(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			 struct netlink_ext_ack *extack)
{
	if (eipoib_ip_delete(&eth->local, ip, mac))
		return 0;
	if (mac)
		NL_SET_ERR_MSG(extack, "There is no such IP address with this MAC address");
	else
		NL_SET_ERR_MSG(extack, "There is no such IP address on the Ethernet side");
	return -ENOENT;
}
