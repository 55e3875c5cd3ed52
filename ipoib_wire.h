/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Formats on the wire and towards the network stack: headers, link-layer addresses and MGIDs of
 * RFC 4391.
 */
#ifndef _IPOIB_WIRE_H
#define _IPOIB_WIRE_H

#include <linux/etherdevice.h>
#include <linux/if_infiniband.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* The encapsulation header in front of each IP or ARP packet (RFC 4391 section 6).
 * The reserved field is sent as zero and ignored on receive, except by connections whose sides have
 * agreed on its use, see struct ipoib_cm_offer.
 */
struct ipoib_encap {
	__be16 ethertype;
	__be16 reserved;
} __packed;
static_assert(sizeof(struct ipoib_encap) == 4);

#define IPOIB_ENCAP_UNSUMMED	cpu_to_be16(0x0001)	/* the TCP or UDP checksum is left out */

/* The link-layer address in ARP and ND (RFC 4391 section 9.1.1). The first octet
 * has flags of connected mode (RFC 4755 section 3.1).
 */
struct ipoib_hwaddr {
	u8 flags;
	u8 qpn[3];
	u8 gid[16];
} __packed;
static_assert(sizeof(struct ipoib_hwaddr) == INFINIBAND_ALEN);

#define IPOIB_FLAG_RC		0x80	/* the interface accepts RC connections */
#define IPOIB_FLAG_UC		0x40	/* ... and UC connections */

/* Private data of every message of the communication manager (RFC 4755 section 6) */
struct ipoib_cm_data {
	u8 reserved;
	u8 qpn[3];			/* of the sender's UD QP */
	__be32 receive_mtu;		/* octets of the longest message that the sender receives,
					 * with the encapsulation header
					 */
} __packed;
static_assert(sizeof(struct ipoib_cm_data) == 8);

/* Private data of a REQ or REP of this driver that offers more than RFC 4755 defines. Others ignore
 * what follows the eight octets of the RFC. An offer holds for a connection if both sides make it.
 */
struct ipoib_cm_offer {
	struct ipoib_cm_data data;
	__be32 magic;
	__be32 flags;
} __packed;
static_assert(sizeof(struct ipoib_cm_offer) == 16);

#define IPOIB_OFFER_MAGIC	cpu_to_be32(0x69706f66)
#define IPOIB_OFFER_UNSUMMED	cpu_to_be32(0x00000001)	/* see IPOIB_ENCAP_UNSUMMED */

/* Service IDs of interfaces, with the QPN of the UD QP in the last three octets. Linux and Windows
 * use another prefix than RFC 4755 section 3.5 defines.
 */
#define IPOIB_SERVICE_ID_RFC	0x0100000000000000ull
#define IPOIB_SERVICE_ID_LINUX	0x1000000000000000ull

/* The MGID of an IP multicast address (RFC 4391 section 4) */
struct ipoib_mgid {
	u8 prefix;
	u8 flags_scope;
	__be16 signature;
	__be16 pkey;
	u8 group_id[10];
} __packed;
static_assert(sizeof(struct ipoib_mgid) == sizeof(union ib_gid));

/* Trap numbers of reports about multicast groups (IBA 14.4.9, table "SA notices") */
#define IPOIB_TRAP_GROUP_CREATED	66
#define IPOIB_TRAP_GROUP_DELETED	67

#define IPOIB_MGID_PREFIX		0xff
#define IPOIB_MGID_FLAG_TRANSIENT	0x10
#define IPOIB_MGID_SCOPE_LINK_LOCAL	0x02
#define IPOIB_MGID_SIGNATURE_IPV4	0x401b
#define IPOIB_MGID_SIGNATURE_IPV6	0x601b

/* The header of packets between the network stack and this driver: the destination's
 * link-layer address, which is not sent on the wire, then the encapsulation header.
 */
struct ipoib_header {
	struct ipoib_hwaddr hwaddr;
	struct ipoib_encap encap;
} __packed;
static_assert(sizeof(struct ipoib_header) == 24);

#define IPOIB_HARD_LEN		sizeof(struct ipoib_header)
#define IPOIB_ENCAP_LEN		sizeof(struct ipoib_encap)

#define IPOIB_PKEY_FULL		0x8000	/* IBA 10.9.3: full membership */
#define IPOIB_QPN_MASK		0xffffff
#define IPOIB_QPN_MULTICAST	0xffffff

static inline u32 ipoib_hwaddr_qpn(const struct ipoib_hwaddr *hwaddr)
{
	return get_unaligned_be32(hwaddr) & IPOIB_QPN_MASK;
}

/**
 * ipoib_hwaddr_build() - build a link-layer address
 * @hwaddr: filled in
 * @qpn: QP number, 24 bits
 * @gid: port GID
 *
 * RFC 4391 section 9.1.1. Sets the first octet, the flags, to zero. Context: any.
 */
static inline void ipoib_hwaddr_build(struct ipoib_hwaddr *hwaddr, u32 qpn,
				      const union ib_gid *gid)
{
	put_unaligned_be32(qpn & IPOIB_QPN_MASK, hwaddr);
	memcpy(hwaddr->gid, gid->raw, sizeof(hwaddr->gid));
}

static inline u32 ipoib_cm_data_qpn(const struct ipoib_cm_data *data)
{
	return get_unaligned_be32(data) & IPOIB_QPN_MASK;
}

/**
 * ipoib_cm_data_build() - build the private data of a message of the communication manager
 * @data: filled in
 * @qpn: number of the interface's UD QP, 24 bits
 * @receive_mtu: octets of the longest message that it receives, with the encapsulation header
 *
 * RFC 4755 section 6. Context: any.
 */
static inline void ipoib_cm_data_build(struct ipoib_cm_data *data, u32 qpn, u32 receive_mtu)
{
	put_unaligned_be32(qpn & IPOIB_QPN_MASK, data);
	data->receive_mtu = cpu_to_be32(receive_mtu);
}

static inline bool ipoib_gid_is_multicast(const u8 *gid)
{
	return gid[0] == IPOIB_MGID_PREFIX;
}

#endif /* _IPOIB_WIRE_H */
