// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ARP and ND tell about IP addresses. Nothing else does, since the source of any other packet
 * may have been forwarded.
 */
#include "eipoib.h"

/**
 * eipoib_learn_local() - note an IP address on the Ethernet side
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address
 *
 * Packets that have been waiting for it go on.
 *
 * Context: BHs disabled.
 */
void eipoib_learn_local(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	/* It is on the other side, whatever the packet says */
	if (eipoib_remote_is(&eth->remotes, mac)) {
		eipoib_count(eth, EIPOIB_STAT_LOCAL_REFUSED);
		return;
	}
	switch (eipoib_ip_set(&eth->local, ip, mac)) {
	case EIPOIB_IP_SAME:
		break;
	case EIPOIB_IP_NEW:
		eipoib_count(eth, EIPOIB_STAT_LOCAL_NEW);
		eipoib_snoop_solicited(eth, ip);
		break;
	case EIPOIB_IP_MOVED:
		eipoib_count(eth, EIPOIB_STAT_LOCAL_MOVED);
		break;
	case EIPOIB_IP_REFUSED:
		eipoib_count(eth, EIPOIB_STAT_LOCAL_REFUSED);
		return;
	}
	eipoib_ip_forget(&eth->heard, ip);
	/* Even if it was known: a packet may have begun to wait just before */
	eipoib_wait_end(&eth->to_eth, ip);
}

/**
 * eipoib_learn_heard() - note an IP address on the IPoIB side
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: the MAC address of the interface that has it
 *
 * If it was on the Ethernet side, it has moved away. Packets that have been waiting for it go on.
 *
 * Context: BHs disabled.
 */
void eipoib_learn_heard(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	if (eipoib_ip_forget(&eth->local, ip))
		eipoib_count(eth, EIPOIB_STAT_LOCAL_LEFT);
	if (eipoib_ip_set(&eth->heard, ip, mac) == EIPOIB_IP_REFUSED)
		eipoib_count(eth, EIPOIB_STAT_HEARD_REFUSED);
	else
		eipoib_wait_end(&eth->to_ib, ip);
}
