/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an HCA can do, and that nobody gets more.
 */
#ifndef _IBFAB_CAPS_H
#define _IBFAB_CAPS_H

#include <linux/bits.h>
#include <linux/types.h>

struct ib_qp_init_attr;

/* Bits of &ibfab_caps.offload */
enum ibfab_offload {
	IBFAB_OFFLOAD_CSUM = BIT(0),
	IBFAB_OFFLOAD_LSO = BIT(1),
	IBFAB_OFFLOAD_CSUM_LSO_QP = BIT(2),	/* checksums are made for QPs with LSO alone */
};

/**
 * struct ibfab_caps - What an HCA can do
 * @mtu: largest IB MTU, enum ib_mtu
 * @max_send_sge: scatter/gather entries of a work request that sends
 * @max_recv_sge: those of one that receives
 * @max_inline: bytes of inline data
 * @srq: shared receive queues
 * @mcast_block: QPs that do not get their own multicasts
 * @offload: enum ibfab_offload
 * @max_qp: QPs, QP0 and QP1 not counted
 * @max_qp_wr: work requests of a queue
 * @max_cqe: completions of a CQ
 * @wqe_block: octets of which work requests that send take one or more, and a send queue
 *	has @max_qp_wr; 0 if they are all of one size
 * @wqe_max: octets of the largest
 * @vectors: completion vectors
 */
struct ibfab_caps {
	u8 mtu;
	u16 max_send_sge;
	u16 max_recv_sge;
	u16 max_inline;
	bool srq;
	bool mcast_block;
	u8 offload;
	u32 max_qp;
	u32 max_qp_wr;
	u32 max_cqe;
	u16 wqe_block;
	u16 wqe_max;
	u16 vectors;
};

extern unsigned int ibfab_pkeys;
int ibfab_caps_init(void);
void ibfab_caps_get(unsigned int index, struct ibfab_caps *caps);
bool ibfab_caps_qp_valid(const struct ibfab_caps *caps, const struct ib_qp_init_attr *init);

#endif /* _IBFAB_CAPS_H */
