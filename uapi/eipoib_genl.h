/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * The generic netlink family of Ethernet over IPoIB: the tables of its netdevices.
 * Documentation/netlink/specs/eipoib.yaml describes the attributes of each command.
 */
#ifndef _UAPI_EIPOIB_GENL_H
#define _UAPI_EIPOIB_GENL_H

#define EIPOIB_GENL_NAME	"eipoib"
#define EIPOIB_GENL_VERSION	1
#define EIPOIB_GENL_LOCALS	"locals"	/* multicast group: EIPOIB_CMD_LOCAL_NTF */

enum eipoib_cmd {
	EIPOIB_CMD_UNSPEC,
	EIPOIB_CMD_DEV_GET,		/* dump: how many entries the tables of netdevices have */
	EIPOIB_CMD_LOCAL_GET,		/* dump: IP addresses on the Ethernet side */
	EIPOIB_CMD_LOCAL_NTF,		/* notification: one of these has changed */
	EIPOIB_CMD_LOCAL_ADD,		/* do: enter one that is not learned, but stays */
	EIPOIB_CMD_LOCAL_DEL,		/* do: remove one, which may be learned again */
	EIPOIB_CMD_HEARD_GET,		/* dump: IP addresses heard of on the IPoIB side */
	EIPOIB_CMD_REMOTE_GET,		/* dump: interfaces on the IPoIB side */
	EIPOIB_CMD_GROUP_GET,		/* dump: groups reported on the Ethernet side */

	__EIPOIB_CMD_MAX,
	EIPOIB_CMD_MAX = __EIPOIB_CMD_MAX - 1
};

/* What has happened to an IP address on the Ethernet side */
enum eipoib_event {
	EIPOIB_EVENT_NEW,		/* it was learned, or entered by the administrator */
	EIPOIB_EVENT_MOVED,		/* it has another MAC address, or is static now */
	EIPOIB_EVENT_LEFT,		/* an interface on the IPoIB side has it now */
	EIPOIB_EVENT_EXPIRED,		/* it was not used for long, or learning was turned off */
	EIPOIB_EVENT_EVICTED,		/* it had to make room for another one */
	EIPOIB_EVENT_DELETED,		/* the administrator has removed it */

	__EIPOIB_EVENT_MAX,
	EIPOIB_EVENT_MAX = __EIPOIB_EVENT_MAX - 1
};

enum eipoib_attr {
	EIPOIB_ATTR_UNSPEC,
	EIPOIB_ATTR_IFINDEX,		/* s32: the Ethernet netdevice */
	EIPOIB_ATTR_VLAN,		/* u16: whose partition has these tables; absent if none */
	EIPOIB_ATTR_ADDR,		/* 16 octets; an IPv4 address as ::ffff:a.b.c.d */
	EIPOIB_ATTR_MAC,		/* 6 octets */
	EIPOIB_ATTR_LLADDR,		/* 20 octets: the address on the IPoIB side */
	EIPOIB_ATTR_IS_STATIC,		/* flag: entered by the administrator */
	EIPOIB_ATTR_AGE,		/* u64, milliseconds since it was used */
	EIPOIB_ATTR_EVENT,		/* u32, enum eipoib_event */
	EIPOIB_ATTR_LOWER,		/* s32: the IPoIB netdevice below */
	EIPOIB_ATTR_LOCALS,		/* nest of enum eipoib_count, likewise the next three */
	EIPOIB_ATTR_HEARD,
	EIPOIB_ATTR_REMOTES,
	EIPOIB_ATTR_GROUPS,
	EIPOIB_ATTR_PAD,

	__EIPOIB_ATTR_MAX,
	EIPOIB_ATTR_MAX = __EIPOIB_ATTR_MAX - 1
};

/* The size of a table, u32 each */
enum eipoib_count {
	EIPOIB_COUNT_UNSPEC,
	EIPOIB_COUNT_ENTRIES,		/* how many it has */
	EIPOIB_COUNT_LIMIT,		/* how many it may have */

	__EIPOIB_COUNT_MAX,
	EIPOIB_COUNT_MAX = __EIPOIB_COUNT_MAX - 1
};

#endif /* _UAPI_EIPOIB_GENL_H */
