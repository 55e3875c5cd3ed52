// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ARP and ND tell about IP addresses, and DHCP about those of its clients. Nothing else does,
 * since the source of any other packet may have been forwarded.
 */
#include "eipoib.h"

/**
 * eipoib_learn_permits() - tell whether a host may say something as the one with an IP address
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: the host's MAC address, on the Ethernet side
 *
 * Context: any but hard interrupt.
 * Return: false if a static entry, or the lack of one while nothing is learned, says otherwise, or
 * if the lower netdevice is that of another MAC address, to which it would have the packets go.
 */
bool eipoib_learn_permits(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	struct eipoib_ip_table *local = &eth->domain->local;

	if (eipoib_is_dedicated(eth) && !ether_addr_equal(mac, eth->slave.mac))
		return false;
	if (READ_ONCE(eth->domain->config.learning) && !eipoib_ip_is_static(local, ip))
		return true;
	return eipoib_ip_is(local, ip, mac);
}

/* An IP address that was on the IPoIB side, or nowhere, is on the Ethernet side */
static void now_local(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	bool was_heard = eipoib_ip_forget(&eth->domain->heard, ip);

	if (was_heard)
		eipoib_announce_eth(eth, ip, mac);
	eipoib_snoop_solicited(eth, ip, mac);
	eipoib_announce_learned(eth->domain, ip, mac, was_heard);
}

/**
 * eipoib_learn_local() - note an IP address on the Ethernet side
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address
 *
 * Packets that have been waiting for it go on.
 *
 * Context: BHs disabled.
 * Return: false if the packet that says so is to be dropped, since static entries, or the lack of
 * one while nothing is learned, say otherwise.
 */
bool eipoib_learn_local(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	if (!is_valid_ether_addr(mac) || !eipoib_learn_permits(eth, ip, mac))
		return false;
	if (!READ_ONCE(eth->domain->config.learning))
		return true;
	/* It is on the other side, whatever the packet says */
	if (eipoib_remote_is(&eth->domain->remotes, mac) || eipoib_mac_is_own(eth, mac)) {
		eipoib_count(eth, EIPOIB_STAT_LOCAL_REFUSED);
		return true;
	}
	switch (eipoib_ip_set(&eth->domain->local, ip, mac)) {
	case EIPOIB_IP_SAME:
		break;
	case EIPOIB_IP_NEW:
		eipoib_count(eth, EIPOIB_STAT_LOCAL_NEW);
		now_local(eth, ip, mac);
		break;
	case EIPOIB_IP_MOVED:
		eipoib_count(eth, EIPOIB_STAT_LOCAL_MOVED);
		break;
	case EIPOIB_IP_CONFLICT:
		return false;
	case EIPOIB_IP_REFUSED:
		eipoib_count(eth, EIPOIB_STAT_LOCAL_REFUSED);
		return true;
	}
	/* Even if it was known: a packet may have begun to wait just before */
	eipoib_wait_end(&eth->domain->to_eth, ip);
	return true;
}

/**
 * eipoib_learn_static() - make a static entry of an IP address on the Ethernet side
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address
 *
 * Context: any but hard interrupt.
 * Return: 0 or -ENOSPC.
 */
int eipoib_learn_static(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	if (eipoib_ip_set_static(&eth->domain->local, ip, mac) == EIPOIB_IP_REFUSED)
		return -ENOSPC;
	local_bh_disable();
	now_local(eth, ip, mac);
	eipoib_wait_end(&eth->domain->to_eth, ip);
	local_bh_enable();
	return 0;
}

/**
 * eipoib_learn_heard() - note an IP address on the IPoIB side
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: the MAC address of the interface that has it
 *
 * If it was on the Ethernet side, it has moved away. If its host has just arrived there, the place
 * that it comes from may not know yet, and announce it once more: both would take it to be at the
 * other one. So the host is asked. Packets that have been waiting for it go on.
 *
 * Context: BHs disabled.
 * Return: false if the packet that says so is to be dropped, since a static entry says otherwise.
 */
bool eipoib_learn_heard(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	struct eipoib_dev *domain = eth->domain;
	u8 local_mac[ETH_ALEN];
	bool was_local;

	if (eipoib_ip_is_static(&domain->local, ip))
		return false;
	was_local = eipoib_ip_get(&domain->local, ip, local_mac) &&
		    eipoib_ip_forget(&domain->local, ip);
	if (was_local)
		eipoib_count(eth, EIPOIB_STAT_LOCAL_LEFT);
	if (eipoib_ip_set(&domain->heard, ip, mac) == EIPOIB_IP_REFUSED)
		eipoib_count(eth, EIPOIB_STAT_HEARD_REFUSED);
	else
		eipoib_wait_end(&domain->to_ib, ip);
	if (was_local && eipoib_arrived(&domain->announce))
		eipoib_arrival_verify(domain, local_mac, ip);
	return true;
}
