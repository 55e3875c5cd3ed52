/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The capabilities of an HCA, and the checks that enforce them.
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
	IBFAB_OFFLOAD_CSUM_LSO_QP = BIT(2),	/* only QPs with LSO compute checksums */
};

/**
 * struct ibfab_caps - What an HCA can do
 * @mtu: largest IB MTU, enum ib_mtu
 * @max_send_sge: SGEs of a send WR
 * @max_recv_sge: SGEs of a receive WR
 * @max_inline: bytes of inline data
 * @srq: whether it has shared receive queues
 * @uc: whether it has unreliable connections
 * @mcast_block: whether a QP can block the multicast packets that it sends itself
 * @offload: bits of enum ibfab_offload
 * @max_qp: number of QPs, not counting QP0 and QP1
 * @max_qp_wr: number of WRs in a queue
 * @max_cqe: number of CQEs in a CQ
 * @wqe_block: size of the blocks of which a send WR takes one or more, in bytes. A send
 *	queue has @max_qp_wr blocks. 0 if all WRs have the same size.
 * @wqe_max: size of the largest send WR in bytes
 * @max_cq_period: longest time of the moderation of a CQ, in microseconds; 0 if there is no limit
 * @vectors: number of completion vectors
 */
struct ibfab_caps {
	u8 mtu;
	u16 max_send_sge;
	u16 max_recv_sge;
	u16 max_inline;
	bool srq;
	bool uc;
	bool mcast_block;
	u8 offload;
	u32 max_qp;
	u32 max_qp_wr;
	u32 max_cqe;
	u16 wqe_block;
	u16 wqe_max;
	u16 max_cq_period;
	u16 vectors;
};

extern unsigned int ibfab_pkeys;
int ibfab_caps_init(void);
void ibfab_caps_get(unsigned int index, struct ibfab_caps *caps);
bool ibfab_caps_qp_valid(const struct ibfab_caps *caps, const struct ib_qp_init_attr *init);

#endif /* _IBFAB_CAPS_H */
