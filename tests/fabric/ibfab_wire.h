/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The formats on the wire: headers and management attributes that the kernel's own headers
 * (rdma/ib_smi.h, rdma/ib_pma.h, rdma/ib_mad.h) do not have. Section numbers are those of the
 * InfiniBand Architecture Specification, volume 1.
 */
#ifndef _IBFAB_WIRE_H
#define _IBFAB_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>

#define IBFAB_VL_SMP		15	/* 7.6.4: the management VL */
#define IBFAB_LID_PERMISSIVE	0xffff	/* 4.1.3 */
#define IBFAB_LID_MCAST_FIRST	0xc000
#define IBFAB_LID_UCAST_LAST	0xbfff
#define IBFAB_GID_PREFIX	0xfe80000000000000ULL /* 4.1.1: the default */
#define IBFAB_QPN_MCAST		0xffffff	/* 9.3: destination of multicasts */
#define IBFAB_QPN_MASK		0xffffff
#define IBFAB_PSN_MASK		0xffffff
#define IBFAB_PKEY_FULL		0x8000	/* 10.9.2: the membership bit */
#define IBFAB_PKEY_BASE		0x7fff

/* 7.7: local route header */
struct ibfab_lrh {
	u8 vl_lver;	/* VL: 7..4, LVer: 3..0 */
	u8 sl_lnh;	/* SL: 7..4, LNH: 1..0 */
	__be16 dlid;
	__be16 pktlen;	/* in words, LRH to ICRC: 10..0 */
	__be16 slid;
} __packed;
static_assert(sizeof(struct ibfab_lrh) == IB_LRH_BYTES);

#define IBFAB_LRH_PKTLEN_MASK	0x07ff

/* 8.3: the global route header is struct ib_grh */
static_assert(sizeof(struct ib_grh) == IB_GRH_BYTES);

#define IBFAB_GRH_IPVER		6
#define IBFAB_GRH_NEXT_HDR	0x1b

/* 9.2: base transport header */
struct ibfab_bth {
	u8 opcode;
	u8 flags;	/* SE: 7, M: 6, PadCnt: 5..4, TVer: 3..0 */
	__be16 pkey;
	__be32 dqpn;	/* 23..0 */
	__be32 psn;	/* A: 31, PSN: 23..0 */
} __packed;
static_assert(sizeof(struct ibfab_bth) == IB_BTH_BYTES);

#define IBFAB_BTH_SOLICITED	0x80
#define IBFAB_BTH_MIGRATED	0x40
#define IBFAB_BTH_PAD_SHIFT	4
#define IBFAB_BTH_PAD_MASK	0x03
#define IBFAB_BTH_TVER_MASK	0x0f
#define IBFAB_BTH_TRANSPORT	0xe0	/* of the opcode */
#define IBFAB_BTH_OPERATION	0x1f
#define IBFAB_BTH_ACK_REQ	0x80000000	/* of the PSN's word */

/* 9.3: datagram extended transport header */
struct ibfab_deth {
	__be32 qkey;
	__be32 sqpn;	/* 23..0 */
} __packed;
static_assert(sizeof(struct ibfab_deth) == IB_DETH_BYTES);

/* 9.3: RDMA extended transport header */
struct ibfab_reth {
	__be64 va;
	__be32 rkey;
	__be32 dma_len;
} __packed;
static_assert(sizeof(struct ibfab_reth) == 16);

/* 9.3: ACK extended transport header */
struct ibfab_aeth {
	__be32 syndrome_msn;	/* syndrome: 31..24, MSN: 23..0 */
} __packed;
static_assert(sizeof(struct ibfab_aeth) == 4);

/* 9.7.5.1: syndromes */
#define IBFAB_AETH_SHIFT		24
#define IBFAB_AETH_KIND			0x60
#define IBFAB_AETH_VALUE		0x1f
#define IBFAB_AETH_ACK			0x00	/* value: credits */
#define IBFAB_AETH_RNR			0x20	/* value: timer */
#define IBFAB_AETH_NAK			0x60	/* value: code */
#define IBFAB_AETH_NO_CREDITS		0x1f	/* credits are not used */
#define IBFAB_NAK_SEQUENCE		0
#define IBFAB_NAK_INVALID_REQUEST	1
#define IBFAB_NAK_REMOTE_ACCESS		2
#define IBFAB_NAK_REMOTE_OPERATION	3

#define IBFAB_IMM_BYTES		4	/* 9.3: immediate data */

#define IBFAB_MAD_UNSUPPORTED	cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB)
#define IBFAB_MAD_INVALID	cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE)

/* 14.2.5.4: SwitchInfo */
struct ibfab_switch_info {
	__be16 linear_cap;
	__be16 random_cap;
	__be16 mcast_cap;
	__be16 linear_top;
	u8 default_port;
	u8 default_mcast_primary;
	u8 default_mcast_not_primary;
	u8 life_psc;	/* LifeTimeValue: 7..3, PortStateChange: 2 */
	__be16 lids_per_port;
	__be16 enforce_cap;
	u8 flags;
	u8 reserved;
	__be16 mcast_top;
} __packed;
static_assert(sizeof(struct ibfab_switch_info) == 20);

#define IBFAB_SI_PORT_STATE_CHANGE	0x04
#define IBFAB_SI_LIFETIME_MASK		0xf8

/* 14.2.5.6: PortInfo. The kernel's struct ends before the extended speeds and has padding in their
 * place.
 */
union ibfab_port_info {
	struct ib_port_info base;
	struct {
		u8 reserved[60];
		__be16 cap_mask2;
		u8 active_supported;	/* active: 7..4, supported: 3..0 */
		u8 enabled;		/* 4..0 */
	} __packed speed_ext;
};

static_assert(sizeof(union ibfab_port_info) == IB_SMP_DATA_SIZE);

static_assert(sizeof(struct ib_smp) == IB_MGMT_MAD_SIZE);
static_assert(sizeof(struct ib_pma_mad) == IB_MGMT_MAD_SIZE);
static_assert(sizeof(struct ib_node_info) == 40);

/* 16.1.4.11: PortCountersExtended continues where the kernel's struct ends */
struct ibfab_pma_ext {
	struct ib_pma_portcounters_ext base;
	__be64 symbol_errors;
	__be64 link_error_recovery;
	__be64 link_downed;
	__be64 rcv_errors;
	__be64 rcv_remphys_errors;
	__be64 rcv_switch_relay_errors;
	__be64 xmit_discards;
	__be64 xmit_constraint_errors;
	__be64 rcv_constraint_errors;
	__be64 local_link_integrity_errors;
	__be64 buffer_overrun_errors;
	__be64 vl15_dropped;
	__be64 xmit_wait;
	__be64 qp1_dropped;
} __packed;
static_assert(sizeof(struct ibfab_pma_ext) == 184);
static_assert(sizeof(struct ibfab_pma_ext) <=
	      sizeof_field(struct ib_pma_mad, data));

#define IBFAB_SMP_LFT_BLOCK	64	/* 14.2.5.10: ports in a block */
#define IBFAB_SMP_MFT_BLOCK	32	/* 14.2.5.12: MLIDs in a block */
#define IBFAB_SMP_PKEY_BLOCK	32	/* 14.2.5.7 */
#define IBFAB_SMP_GUID_BLOCK	8	/* 14.2.5.5 */
#define IBFAB_SMP_SL2VL_BYTES	8	/* 14.2.5.8: sixteen 4-bit VLs */
#define IBFAB_SMP_VLARB_BLOCKS	4	/* 14.2.5.9 */

/**
 * ibfab_lrh_vl() - The virtual lane of a packet.
 * @lrh: its local route header
 *
 * Return: 0 to 15.
 */
static inline u8 ibfab_lrh_vl(const struct ibfab_lrh *lrh)
{
	return lrh->vl_lver >> 4;
}

/**
 * ibfab_lid_is_mcast() - Whether a LID names a multicast group (4.1.3).
 * @lid: in host order
 *
 * Return: true for 0xC000 to 0xFFFE.
 */
static inline bool ibfab_lid_is_mcast(u16 lid)
{
	return lid >= IBFAB_LID_MCAST_FIRST && lid != IBFAB_LID_PERMISSIVE;
}

/**
 * ibfab_lid_is_ucast() - Whether a LID may name a port (4.1.3).
 * @lid: in host order
 *
 * Return: true for 1 to 0xBFFF.
 */
static inline bool ibfab_lid_is_ucast(u16 lid)
{
	return lid && lid <= IBFAB_LID_UCAST_LAST;
}

#endif /* _IBFAB_WIRE_H */
