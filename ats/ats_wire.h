/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The records that an SA and this module exchange: ServiceRecords as defined by the
 * InfiniBand Architecture (release 1.2, section 15.2.5.14), and the values that the Address
 * Translation Service version 1 puts into them.
 */
#ifndef _ATS_WIRE_H
#define _ATS_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/* ATS section 2.3: the octets after the name are zero when sent, and ignored when received.
 * OpenSM compares all 64 octets in a query.
 */
#define ATS_SERVICE_NAME	"DAPL Address Translation Service"
#define ATS_NAME_LEN		64

/* ATS section 2.4: a block of 256 Service IDs, with that of the primary addresses in the
 * middle. Some of the numbers in that text lack a digit, by mistake.
 */
#define ATS_SID_BASE		0x10000ce100415400ULL
#define ATS_SID_PRIMARY		0x10000ce100415453ULL
#define ATS_SIDS		256

/* OpenIB's ib_at numbered further addresses in this octet of the primary Service ID */
#define ATS_SID_OPENIB_MASK	GENMASK_ULL(31, 24)

/* ATS section 2.7 */
#define ATS_LEASE_INFINITE	0xffffffff

/* IBA 15.2.5.14 */
struct ats_wire_record {
	__be64 service_id;
	u8 gid[16];
	__be16 pkey;
	__be16 reserved;
	__be32 lease;
	u8 key[16];
	u8 name[ATS_NAME_LEN];
	u8 data8[16];
	__be16 data16[8];
	__be32 data32[4];
	__be64 data64[2];
} __packed;
static_assert(sizeof(struct ats_wire_record) == 176);

/* IBA 15.2.5.14: bits of the ComponentMask, in the order of the components */
#define ATS_MASK_SID		BIT_ULL(0)
#define ATS_MASK_GID		BIT_ULL(1)
#define ATS_MASK_PKEY		BIT_ULL(2)
#define ATS_MASK_LEASE		BIT_ULL(4)
#define ATS_MASK_KEY		BIT_ULL(5)
#define ATS_MASK_NAME		BIT_ULL(6)
#define ATS_MASK_DATA8		GENMASK_ULL(22, 7)

/* IBA 15.2.5.16: bits of the ComponentMask of a PathRecord, in which ServiceID takes two bits */
#define ATS_MASK_DGID		BIT_ULL(2)
#define ATS_MASK_SGID		BIT_ULL(3)
#define ATS_MASK_PATH_PKEY	BIT_ULL(13)

/* IBA 13.4.7 and 15.2.2: MADHeader:Status of an SA's answer */
#define ATS_STATUS_INVALID	0x001c
#define ATS_STATUS_NO_RESOURCES	0x0100
#define ATS_STATUS_NO_RECORDS	0x0300
#define ATS_STATUS_TOO_MANY	0x0400

#endif /* _ATS_WIRE_H */
