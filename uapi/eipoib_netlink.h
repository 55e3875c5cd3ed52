/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Ethernet over IPoIB: the settings of a netdevice of kind `eipoib`.
 */
#ifndef _UAPI_EIPOIB_NETLINK_H
#define _UAPI_EIPOIB_NETLINK_H

/* What becomes of DHCP messages of clients on the Ethernet side */
enum eipoib_dhcp_mode {
	EIPOIB_DHCP_OFF,		/* they pass as they are */
	EIPOIB_DHCP_FLAG,		/* they ask for an answer by broadcast */
	EIPOIB_DHCP_RFC4390,		/* they become those of an InfiniBand client */

	__EIPOIB_DHCP_MAX,
	EIPOIB_DHCP_MAX = __EIPOIB_DHCP_MAX - 1
};

/* Attributes of IFLA_INFO_DATA */
enum {
	IFLA_EIPOIB_UNSPEC,
	IFLA_EIPOIB_LEARNING,		/* u8, 0 or 1: learn addresses from ARP, ND and DHCP */
	IFLA_EIPOIB_DHCP,		/* u8, enum eipoib_dhcp_mode */
	IFLA_EIPOIB_QUERIER,		/* u8, 0 or 1: IGMP and MLD queries to the Ethernet side */
	IFLA_EIPOIB_MAX_IPS,		/* u32: limit of IP addresses on the Ethernet side */
	IFLA_EIPOIB_MAX_IPS_PER_MAC,	/* u32: ... and of those learned from one MAC address */

	__IFLA_EIPOIB_MAX,
	IFLA_EIPOIB_MAX = __IFLA_EIPOIB_MAX - 1
};

/* Attributes of IFLA_INFO_SLAVE_DATA, of an IPoIB netdevice whose master is one of this kind */
enum {
	IFLA_EIPOIB_SLAVE_UNSPEC,
	IFLA_EIPOIB_SLAVE_VLAN,		/* u16: the VLAN id that its partition has */
	IFLA_EIPOIB_SLAVE_MAC,		/* 6 octets: the MAC address that its QPN is for */

	__IFLA_EIPOIB_SLAVE_MAX,
	IFLA_EIPOIB_SLAVE_MAX = __IFLA_EIPOIB_SLAVE_MAX - 1
};

#endif /* _UAPI_EIPOIB_NETLINK_H */
