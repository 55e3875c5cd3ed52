/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is on the wire, and what the network stack is shown of it: headers, link-layer
 * addresses and MGIDs of RFC 4391.
 */
#ifndef _IPOIB_WIRE_H
#define _IPOIB_WIRE_H

#include <linux/etherdevice.h>
#include <linux/if_infiniband.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* RFC 4391 section 6: the encapsulation header in front of each IP or ARP
 * packet. Reserved is sent as zero and ignored on receive.
 */
struct ipoib_encap {
	__be16 ethertype;
	__be16 reserved;
} __packed;
static_assert(sizeof(struct ipoib_encap) == 4);

/* RFC 4391 section 9.1.1: the link-layer address in ARP and ND. The first octet
 * is reserved (RFC 4755 uses it for connected-mode flags).
 */
struct ipoib_hwaddr {
	u8 flags;
	u8 qpn[3];
	u8 gid[16];
} __packed;
static_assert(sizeof(struct ipoib_hwaddr) == INFINIBAND_ALEN);

/* RFC 4391 section 4: an MGID that an IP multicast address maps to */
struct ipoib_mgid {
	u8 prefix;
	u8 flags_scope;
	__be16 signature;
	__be16 pkey;
	u8 group_id[10];
} __packed;
static_assert(sizeof(struct ipoib_mgid) == sizeof(union ib_gid));

/* IBA 14.4.9, table "SA notices": what is reported of multicast groups */
#define IPOIB_TRAP_GROUP_CREATED	66
#define IPOIB_TRAP_GROUP_DELETED	67

#define IPOIB_MGID_PREFIX		0xff
#define IPOIB_MGID_FLAG_TRANSIENT	0x10
#define IPOIB_MGID_SCOPE_LINK_LOCAL	0x02
#define IPOIB_MGID_SIGNATURE_IPV4	0x401b
#define IPOIB_MGID_SIGNATURE_IPV6	0x601b

/* The header that this device shows to the network stack: the destination's
 * link-layer address, which never leaves the host, then the encapsulation.
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
 * ipoib_hwaddr_build() - put a link-layer address together
 * @hwaddr: filled in
 * @qpn: QP number, 24 bits
 * @gid: port GID
 *
 * RFC 4391 section 9.1.1. Context: any.
 */
static inline void ipoib_hwaddr_build(struct ipoib_hwaddr *hwaddr, u32 qpn,
				      const union ib_gid *gid)
{
	put_unaligned_be32(qpn & IPOIB_QPN_MASK, hwaddr);
	memcpy(hwaddr->gid, gid->raw, sizeof(hwaddr->gid));
}

static inline bool ipoib_gid_is_multicast(const u8 *gid)
{
	return gid[0] == IPOIB_MGID_PREFIX;
}

#endif /* _IPOIB_WIRE_H */
