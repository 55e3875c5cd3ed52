/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A send queue: the ring of slots of one QP, and the WRs posted to it.
 */
#ifndef _IPOIB_SQ_H
#define _IPOIB_SQ_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "ipoib_stat.h"

struct ipoib_dev;
struct ipoib_txq;

#define IPOIB_TX_CHAIN_MAX	32	/* WRs per ib_post_send() */
#define IPOIB_TX_CHAIN_SGES	128	/* SGEs of all WRs of one ib_post_send() */
#define IPOIB_TX_SGE_MAX	(MAX_SKB_FRAGS + 2)	/* per WR: headers, linear part, frags */
#define IPOIB_TX_SEGMENTS_MAX	64	/* segments of a large packet */
#define IPOIB_TX_HEADER_MAX	128	/* limit of a segment's headers in octets; packets that
					 * are no longer than this are copied
					 */

/* Used in place of a drop counter when the packet was sent */
#define IPOIB_TX_SENT		IPOIB_STAT_COUNT

/* State of the WR of a slot */
enum ipoib_tx_fate {
	IPOIB_TX_POSTED,		/* its own CQE or a later one will report it */
	IPOIB_TX_SILENT,		/* posted to the HCA, but without a request for a CQE */
	IPOIB_TX_REFUSED,		/* ib_post_send() failed */
};

struct ipoib_tx_buf {
	struct sk_buff *skb;		/* packet to free that ends in this slot, or NULL */
	enum ipoib_tx_fate fate;
	u32 len;			/* of the packet that ends in this slot, 0 if none does */
	u16 header_len;			/* of a large packet, whose headers are not mapped */
	u16 packets;			/* number of packets on the wire */
	bool torn;			/* ib_post_send() refused segments of the packet */
	u64 mapping[MAX_SKB_FRAGS + 1];	/* DMA addresses: linear part, if any, then frags */
};

/* A page for headers of segments and for copies of small packets. Each slot has a fixed place in
 * one of these pages.
 */
struct ipoib_tx_headers {
	void *octets;
	dma_addr_t addr;		/* DMA address */
};

struct ipoib_sq {
	/* used by the producer, under the lock of the TX queue */
	struct ipoib_dev *priv;
	struct ipoib_txq *txq;		/* the TX queue whose packets it sends */
	struct ib_qp *qp;
	u32 head;			/* number of slots filled so far */
	u32 chained;			/* WRs to be posted by the next ib_post_send() */
	u32 sges;			/* SGEs of these WRs */
	u32 size;			/* a power of two */
	u32 segments_max;		/* limit of the segments of a packet */
	u32 refusals;			/* number of failed calls of ib_post_send() */
	u32 lkey;			/* of the PD, for each SGE */
	u32 held;			/* value of head after the last slot that holds a packet */
	bool hca_offloads;		/* the HCA computes TCP and UDP checksums over IPv4, and
					 * segments large TCP packets over IPv4
					 */
	struct ipoib_tx_buf *buf;
	struct ib_ud_wr *chain;		/* IPOIB_TX_CHAIN_MAX WRs */
	struct ib_sge *sge;		/* IPOIB_TX_CHAIN_SGES entries */
	struct ipoib_tx_headers *headers;

	/* used by the consumer, the poll of the TX queue */
	u32 tail ____cacheline_aligned_in_smp;	/* number of slots freed so far */
	u32 mark;			/* value of head at the last ipoib_sq_mark() */
};

/* Packets and octets that one poll completed, for the statistics and for BQL */
struct ipoib_sq_done {
	unsigned int packets;
	unsigned int bytes;
	unsigned int sent_packets;
	unsigned int sent_bytes;
};

/* Returns the number of slots in use */
static inline u32 ipoib_sq_used(const struct ipoib_sq *sq)
{
	return READ_ONCE(sq->head) - READ_ONCE(sq->tail);
}

/* Returns whether the largest possible packet would not fit: the TX queue has to be stopped */
static inline bool ipoib_sq_is_full(const struct ipoib_sq *sq)
{
	return ipoib_sq_used(sq) + sq->segments_max > sq->size;
}

/* Notes the WRs that have been posted so far, for ipoib_sq_is_past_mark() */
static inline void ipoib_sq_mark(struct ipoib_sq *sq)
{
	sq->mark = READ_ONCE(sq->head);
}

/* Returns whether all WRs posted before the last ipoib_sq_mark() are complete */
static inline bool ipoib_sq_is_past_mark(const struct ipoib_sq *sq)
{
	/* Pairs with the release in the poll, which has finished with the completed WRs */
	return (s32)(smp_load_acquire(&sq->tail) - sq->mark) >= 0;
}

int ipoib_sq_create(struct ipoib_sq *sq);
void ipoib_sq_destroy(struct ipoib_sq *sq);
u32 ipoib_sq_large_slots(const struct ipoib_sq *sq, const struct sk_buff *skb);
int ipoib_sq_put(struct ipoib_sq *sq, struct sk_buff *skb, struct ib_ah *ibah, u32 qpn, u32 slots);
void ipoib_sq_doorbell(struct ipoib_sq *sq);
void ipoib_sq_complete(struct ipoib_sq *sq, u32 index, enum ipoib_stat why,
		       struct ipoib_sq_done *done, int budget);
void ipoib_sq_reclaim_refused(struct ipoib_sq *sq, struct ipoib_sq_done *done, int budget);
void ipoib_sq_empty(struct ipoib_sq *sq);
u32 ipoib_sq_pending(struct ipoib_sq *sq);

/* Returns how many slots a packet takes, or 0 if the queue cannot take it as it is */
static inline u32 ipoib_sq_slots(const struct ipoib_sq *sq, const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? ipoib_sq_large_slots(sq, skb) : 1;
}

#endif /* _IPOIB_SQ_H */
