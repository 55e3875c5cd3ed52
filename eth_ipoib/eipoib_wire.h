/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Formats of an IPoIB link (RFC 4391), and of ARP on both kinds of links.
 */
#ifndef _EIPOIB_WIRE_H
#define _EIPOIB_WIRE_H

#include <linux/build_bug.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_infiniband.h>
#include <linux/string.h>
#include <linux/types.h>

/* The link-layer address (RFC 4391 section 9.1.1) */
struct eipoib_lladdr {
	u8 flags;			/* of connected mode (RFC 4755 section 3.1) */
	u8 qpn[3];
	u8 gid[16];
} __packed;
static_assert(sizeof(struct eipoib_lladdr) == INFINIBAND_ALEN);

/* The header of a received packet in front of its network header: the sender's address, which only
 * some drivers fill in, and the encapsulation (RFC 4391 section 6)
 */
struct eipoib_header {
	struct eipoib_lladdr from;
	__be16 ethertype;
	__be16 reserved;
} __packed;
static_assert(sizeof(struct eipoib_header) == 24);

/* ARP for IPv4 (RFC 826), on Ethernet and on IPoIB (RFC 4391 section 9.1.2) */
struct eipoib_arp_eth {
	struct arphdr head;
	u8 sha[ETH_ALEN];
	__be32 spa;
	u8 tha[ETH_ALEN];
	__be32 tpa;
} __packed;
static_assert(sizeof(struct eipoib_arp_eth) == 28);

struct eipoib_arp_ib {
	struct arphdr head;
	struct eipoib_lladdr sha;
	__be32 spa;
	struct eipoib_lladdr tha;
	__be32 tpa;
} __packed;
static_assert(sizeof(struct eipoib_arp_ib) == 56);

/* Reports of IGMPv3 (RFC 3376 section 4.2) and MLDv2 (RFC 3810 section 5.2): a head, and records,
 * each followed by its group, its sources and auxiliary data
 */
struct eipoib_report {
	u8 type;
	u8 reserved1;
	__sum16 checksum;
	__be16 reserved2;
	__be16 records;
} __packed;
static_assert(sizeof(struct eipoib_report) == 8);

struct eipoib_record {
	u8 type;
	u8 aux_words;			/* of four octets */
	__be16 sources;
} __packed;
static_assert(sizeof(struct eipoib_record) == 4);

/* Types of records, of both protocols */
#define EIPOIB_MODE_IS_INCLUDE		1
#define EIPOIB_MODE_IS_EXCLUDE		2
#define EIPOIB_CHANGE_TO_INCLUDE	3
#define EIPOIB_CHANGE_TO_EXCLUDE	4
#define EIPOIB_ALLOW_NEW_SOURCES	5

#define EIPOIB_IGMP_QUERY		0x11

/* Returns whether two addresses are those of one interface, whose flags may change */
static inline bool eipoib_lladdr_equal(const struct eipoib_lladdr *a, const struct eipoib_lladdr *b)
{
	return !memcmp(a->qpn, b->qpn, sizeof(*a) - offsetof(struct eipoib_lladdr, qpn));
}

/* Returns whether an address is that of a group, as the GID of a group begins with ff */
static inline bool eipoib_lladdr_is_group(const struct eipoib_lladdr *lladdr)
{
	return lladdr->gid[0] == 0xff;
}

#endif /* _EIPOIB_WIRE_H */
