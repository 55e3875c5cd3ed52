/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send ring of a UD QP, and how a large packet is cut for it.
 */
#ifndef _IPOIB_TX_H
#define _IPOIB_TX_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/tso.h>

#include "ipoib_ring.h"

struct ipoib_dev;
struct ipoib_path;

#define IPOIB_TX_RING_DEFAULT	256
#define IPOIB_TX_QUEUES_MAX	16
#define IPOIB_TX_CHAIN_MAX	32	/* WRs that one ib_post_send() takes */
#define IPOIB_TX_CHAIN_SGES	128	/* theirs altogether */
#define IPOIB_TX_SGE_MAX	(MAX_SKB_FRAGS + 2)	/* of one: headers, linear part, frags */
#define IPOIB_TX_SEGMENTS_MAX	64	/* that a large packet is cut into */
#define IPOIB_TX_HEADER_MAX	128	/* octets in front of a segment's payload; up to
					 * so many, packets are copied
					 */
#define IPOIB_TX_REAP_SLOTS	16	/* in use: the HCA is to tell of their end */
#define IPOIB_TX_REAP_NS	500000	/* until fewer are looked for ... */
#define IPOIB_TX_REAP_SMALL_NS	5000000	/* ... and if none of them holds a packet */

/* What is known of a WR in the send ring */
enum ipoib_tx_fate {
	IPOIB_TX_POSTED,		/* a CQE will come, its own or a later one's */
	IPOIB_TX_SILENT,		/* the HCA has it, but was not told to report it */
	IPOIB_TX_REFUSED,		/* by ib_post_send() */
};

/* One slot of the send ring */
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

/* A UD QP's */
struct ipoib_tx_ring {
	/* the producer's: ndo_start_xmit(), under the TX queue's lock. Two cache lines. */
	struct ipoib_dev *priv;
	struct netdev_queue *txq;
	struct ib_qp *qp;
	u32 head;			/* slots ever filled */
	u32 chained;			/* WRs that wait for the doorbell */
	u32 sges;			/* theirs */
	u32 size;			/* a power of two */
	u32 segments_max;		/* that a packet is cut into */
	u32 refusals;			/* of ib_post_send() */
	u32 held;			/* head behind the last slot that has a packet */
	bool reaper_soon;		/* the reaper was started for such a one */
	bool hca_offloads;		/* over IPv4: makes checksums of TCP and UDP, and cuts
					 * large packets of TCP
					 */
	u32 path_removals;		/* of ipoib_dev, when this was looked up: */
	struct ipoib_path *path;	/* the last packet's; NULL: none */
	struct ipoib_tx_buf *buf;
	struct ib_ud_wr *chain;		/* IPOIB_TX_CHAIN_MAX of them, and one */
	struct ib_sge *sge;		/* IPOIB_TX_CHAIN_SGES of them */
	struct ipoib_tx_headers *headers;
	struct ib_cq *cq;
	struct napi_struct *napi;	/* its consumer: the channel's */

	/* the consumer's */
	u32 tail ____cacheline_aligned_in_smp;	/* slots ever emptied */
	bool armed;			/* an event of the CQ is due */
	bool reap;			/* the poll is to look at the CQ */
	struct hrtimer reaper;		/* asks for that */
	struct ipoib_ring_stats stats;
	struct ib_wc wc[IPOIB_WC_BATCH];
	u32 index;
	u32 ah_mark;			/* head when ipoib_ahs.going were unseen */
};

/* Slots that are in use */
static inline u32 ipoib_tx_used(const struct ipoib_tx_ring *tx)
{
	return READ_ONCE(tx->head) - READ_ONCE(tx->tail);
}

int ipoib_tx_ring_create(struct ipoib_tx_ring *tx);
void ipoib_tx_ring_empty(struct ipoib_tx_ring *tx);
void ipoib_tx_ring_destroy(struct ipoib_tx_ring *tx);
u32 ipoib_tx_pending(struct ipoib_tx_ring *tx);
netdev_tx_t ipoib_start_xmit(struct sk_buff *skb, struct net_device *netdev);
void ipoib_tx_reap(struct ipoib_tx_ring *tx);
bool ipoib_tx_poll(struct ipoib_tx_ring *tx, int budget);
void ipoib_tx_poll_end(struct ipoib_tx_ring *tx);
u16 ipoib_select_queue(struct net_device *netdev, struct sk_buff *skb,
		       struct net_device *sb_dev);

/* A large packet that is being cut */
struct ipoib_gso {
	struct tso_t tso;
	struct ipoib_dev *priv;
	const struct ipoib_tx_buf *buf;
	u32 left;			/* octets of payload */
	bool hca_sums;			/* makes the segments' checksums */
};

/* ipoib_gso.c: large packets, cut without the HCA's help */
netdev_features_t ipoib_features_check(struct sk_buff *skb, struct net_device *netdev,
				       netdev_features_t features);
bool ipoib_gso_can_cut(const struct sk_buff *skb);
u32 ipoib_gso_header_len(const struct sk_buff *skb);
u32 ipoib_gso_segments(const struct sk_buff *skb);
void ipoib_gso_start(struct ipoib_gso *gso, struct ipoib_dev *priv,
		     const struct ipoib_tx_buf *buf);
u32 ipoib_gso_next(struct ipoib_gso *gso, const struct ipoib_tx_headers *headers, u32 offset,
		   struct ib_sge *sge);

#endif /* _IPOIB_TX_H */
