/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The receive ring of a UD QP.
 */
#ifndef _IPOIB_RX_H
#define _IPOIB_RX_H

#include <linux/dim.h>
#include <linux/netdevice.h>
#include <net/busy_poll.h>

#include "compat.h"
#include "ipoib_ring.h"

#ifndef CONFIG_PAGE_POOL
#error "ib_ipoib needs a kernel with CONFIG_PAGE_POOL, which most network drivers select"
#endif

/* Where page pools need this flag, they refuse it on such kernels */
#if PP_FLAG_PAGE_FRAG && defined(CONFIG_ARCH_DMA_ADDR_T_64BIT) && !defined(CONFIG_64BIT)
#error "ib_ipoib needs a newer 32-bit kernel, or one whose DMA addresses have 32 bits"
#endif

struct ipoib_dev;
struct page_pool;

#define IPOIB_RX_RING_DEFAULT	512
#define IPOIB_RX_MTU_DEFAULT	2044	/* for an IB MTU of 2048, which most fabrics have */
#define IPOIB_RX_POST_BATCH	16	/* WRs per ib_post_recv() */

/* One slot of the ring; its index is the WR's wr_id */
struct ipoib_rx_buf {
	struct ib_recv_wr wr;
	struct ib_sge sge[2];		/* the slot's buffer, and the ring's spill */
	struct page *page;		/* NULL if the slot has no buffer */
	unsigned int offset;		/* of the buffer in the page */
};

struct ipoib_rx_ring {
	/* used for every packet: one cache line */
	struct ib_cq *cq;
	struct ipoib_rx_buf *buf;
	struct page_pool *pool;
	struct ib_recv_wr *first_kept;	/* list of WRs to be posted together */
	struct ib_recv_wr **next_kept;	/* tail of that list */
	u32 kept;			/* length of that list */
	u32 posted;			/* WRs that the HCA has */
	u32 longest;			/* octets of the link's largest packet, with its GRH */
	u32 frag_len;			/* of a buffer, with the room that an skb needs around it */
	u16 events;			/* number of events of the CQ, for DIM */
	bool adaptive;			/* DIM moderates the CQ; written under rtnl */
	bool failed;			/* the QP must be reset: nothing is posted */
	atomic_t armed;			/* the CQ is armed: an event will come */

	bool has_spill;			/* the HCA supports two SGEs per receive WR */
	struct ipoib_dev *priv;
	struct napi_struct *napi;	/* its consumer */
	u32 size;			/* a power of two */
	u32 mtu;			/* IP MTU that the buffers are made for */
	u32 buf_len;			/* octets that the HCA may write to a buffer */
	void *spill;			/* takes the excess of long packets; shared by all slots */
	u64 spill_addr;			/* its DMA address */
	struct ipoib_ring_stats stats;
	struct ib_wc wc[IPOIB_WC_BATCH];
	struct dim dim;
};

/* Returns how many WRs the HCA has. May be called outside the poll. */
static inline u32 ipoib_rx_pending(const struct ipoib_rx_ring *rx)
{
	return READ_ONCE(rx->posted);
}

/* Passes a received packet to the stack, by GRO or directly. Context: NAPI poll. */
static inline void ipoib_rx_hand_up(struct napi_struct *napi, struct sk_buff *skb, bool gro)
{
	if (gro) {
		napi_gro_receive(napi, skb);
		return;
	}
	skb_mark_napi_id(skb, napi);
	netif_receive_skb(skb);
}

/* Handles an event of the CQ */
static inline void ipoib_rx_event(struct ipoib_rx_ring *rx)
{
	atomic_set(&rx->armed, false);
	napi_schedule(rx->napi);
}

/* Returns whether packets of a link with this MTU fit into the buffers */
static inline bool ipoib_rx_holds(const struct ipoib_rx_ring *rx, u32 mtu)
{
	return mtu <= rx->mtu;
}

void ipoib_rx_init(struct ipoib_rx_ring *rx, struct ipoib_dev *priv);
void ipoib_rx_use(struct ipoib_rx_ring *rx, struct ib_cq *cq, struct napi_struct *napi,
		  u32 size, bool has_spill);
int ipoib_rx_create(struct ipoib_rx_ring *rx);
void ipoib_rx_destroy(struct ipoib_rx_ring *rx);
int ipoib_rx_fit(struct ipoib_rx_ring *rx, u32 mtu);
int ipoib_rx_start(struct ipoib_rx_ring *rx);
void ipoib_rx_empty(struct ipoib_rx_ring *rx);
int ipoib_rx_poll(struct ipoib_rx_ring *rx, int budget);

/* ipoib_dim.c: adaptive moderation */
void ipoib_dim_init(struct ipoib_rx_ring *rx);
void ipoib_dim_start(struct ipoib_rx_ring *rx);
void ipoib_dim_event(struct ipoib_rx_ring *rx);
void ipoib_dim_cancel(struct ipoib_rx_ring *rx);
void ipoib_dim_stop(struct ipoib_rx_ring *rx);

#endif /* _IPOIB_RX_H */
