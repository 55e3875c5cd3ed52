/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A send queue: the slots of one QP, and what has been posted to it.
 */
#ifndef _IPOIB_SQ_H
#define _IPOIB_SQ_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "ipoib_stat.h"

struct ipoib_dev;
struct ipoib_txq;

#define IPOIB_TX_CHAIN_MAX	32	/* WRs that one ib_post_send() takes */
#define IPOIB_TX_CHAIN_SGES	128	/* theirs altogether */
#define IPOIB_TX_SGE_MAX	(MAX_SKB_FRAGS + 2)	/* of one: headers, linear part, frags */
#define IPOIB_TX_SEGMENTS_MAX	64	/* that a large packet is cut into */
#define IPOIB_TX_HEADER_MAX	128	/* octets in front of a segment's payload; up to
					 * so many, packets are copied
					 */

/* There is no drop to count */
#define IPOIB_TX_SENT		IPOIB_STAT_COUNT

/* What is known of the WR of a slot */
enum ipoib_tx_fate {
	IPOIB_TX_POSTED,		/* a CQE will come, its own or a later one's */
	IPOIB_TX_SILENT,		/* the HCA has it, but was not told to report it */
	IPOIB_TX_REFUSED,		/* by ib_post_send() */
};

struct ipoib_tx_buf {
	struct sk_buff *skb;		/* ends here and is to be freed, or NULL */
	enum ipoib_tx_fate fate;
	u32 len;			/* of the packet that ends here, 0 if none does */
	u16 header_len;			/* of a large packet: not mapped */
	u16 packets;			/* on the wire */
	bool torn;			/* the HCA refused segments of it */
	u64 mapping[MAX_SKB_FRAGS + 1];	/* linear part, if any, then frags */
};

/* A page for headers of segments and for small packets: each slot has a place in one */
struct ipoib_tx_headers {
	void *octets;
	dma_addr_t addr;		/* the HCA's */
};

struct ipoib_sq {
	/* the producer's, under the lock of the TX queue */
	struct ipoib_dev *priv;
	struct ipoib_txq *txq;		/* whose packets it sends */
	struct ib_qp *qp;
	u32 head;			/* slots ever filled */
	u32 chained;			/* WRs that wait for the doorbell */
	u32 sges;			/* theirs */
	u32 size;			/* a power of two */
	u32 segments_max;		/* that a packet is cut into */
	u32 refusals;			/* of ib_post_send() */
	u32 held;			/* head behind the last slot that has a packet */
	bool hca_offloads;		/* over IPv4: makes checksums of TCP and UDP, and cuts
					 * large packets of TCP
					 */
	struct ipoib_tx_buf *buf;
	struct ib_ud_wr *chain;		/* IPOIB_TX_CHAIN_MAX of them, and one */
	struct ib_sge *sge;		/* IPOIB_TX_CHAIN_SGES of them */
	struct ipoib_tx_headers *headers;

	/* the consumer's: the poll of the TX queue */
	u32 tail ____cacheline_aligned_in_smp;	/* slots ever emptied */
	u32 mark;			/* head, when it was noted */
};

/* Packets and octets of one poll, for the statistics and the queue limits */
struct ipoib_sq_done {
	unsigned int packets;
	unsigned int bytes;
	unsigned int sent_packets;
	unsigned int sent_bytes;
};

/* Slots that are in use */
static inline u32 ipoib_sq_used(const struct ipoib_sq *sq)
{
	return READ_ONCE(sq->head) - READ_ONCE(sq->tail);
}

/* There must be room for the largest packet before the next one is taken */
static inline bool ipoib_sq_is_full(const struct ipoib_sq *sq)
{
	return ipoib_sq_used(sq) + sq->segments_max > sq->size;
}

/* Notes what has been posted until now */
static inline void ipoib_sq_mark(struct ipoib_sq *sq)
{
	sq->mark = READ_ONCE(sq->head);
}

/* Whether all of that is complete */
static inline bool ipoib_sq_is_past_mark(const struct ipoib_sq *sq)
{
	/* Pairs with the release in the poll: what it has completed is over */
	return (s32)(smp_load_acquire(&sq->tail) - sq->mark) >= 0;
}

int ipoib_sq_create(struct ipoib_sq *sq);
void ipoib_sq_destroy(struct ipoib_sq *sq);
u32 ipoib_sq_slots(const struct ipoib_sq *sq, const struct sk_buff *skb);
int ipoib_sq_put(struct ipoib_sq *sq, struct sk_buff *skb, struct ib_ah *ibah, u32 qpn, u32 slots);
void ipoib_sq_doorbell(struct ipoib_sq *sq);
void ipoib_sq_complete(struct ipoib_sq *sq, u32 index, enum ipoib_stat why,
		       struct ipoib_sq_done *done, int budget);
void ipoib_sq_reclaim_refused(struct ipoib_sq *sq, struct ipoib_sq_done *done, int budget);
void ipoib_sq_empty(struct ipoib_sq *sq);
u32 ipoib_sq_pending(struct ipoib_sq *sq);

#endif /* _IPOIB_SQ_H */
