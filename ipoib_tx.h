/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A TX queue of the network stack, and the send queue that it feeds.
 */
#ifndef _IPOIB_TX_H
#define _IPOIB_TX_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>

#include "ipoib_ring.h"
#include "ipoib_sq.h"

struct ipoib_path;
struct ipoib_peer;

#define IPOIB_TX_RING_DEFAULT	256
#define IPOIB_TX_QUEUES_MAX	16
#define IPOIB_TX_REAP_SLOTS	16	/* slots in use from which on CQ events are requested */
#define IPOIB_TX_REAP_NS	500000	/* delay of the reaper's poll below that number ... */
#define IPOIB_TX_REAP_SMALL_NS	5000000	/* ... and when no slot in use holds a packet */

struct ipoib_txq {
	/* used by the producer, ndo_start_xmit(), under the stack's lock of the queue */
	struct ipoib_dev *priv;
	struct netdev_queue *queue;
	struct ib_cq *cq;
	struct napi_struct *napi;	/* the channel's NAPI context, the consumer */
	struct ipoib_path *path;	/* path of the last packet, or NULL */
	u32 path_removals;		/* ipoib_dev.path_removals when path was looked up */
	u32 index;
	u8 connects;			/* flags of the link-layer addresses of peers to which
					 * packets may go by connections; written with rtnl held
					 */
	bool reaper_soon;		/* the reaper was started for a slot that has a packet */
	struct ipoib_sq sq;
	struct ipoib_peer *peer;	/* peer of the last packet in connected mode, or NULL */
	u32 peer_removals;		/* ipoib_peers.removals when peer was looked up */

	/* used by the consumer */
	atomic_t armed;			/* the CQ is armed: an event will come */
	bool reap;			/* the next poll must poll the CQ */
	struct hrtimer reaper;		/* sets reap and schedules NAPI */
	struct ipoib_ring_stats stats;
	struct ib_wc wc[IPOIB_WC_BATCH];
};

/* ipoib_reap.c: decides when send CQs are polled */
void ipoib_tx_reap(struct ipoib_txq *tx);
void ipoib_tx_ask(struct ipoib_txq *tx);
void ipoib_tx_poll_end(struct ipoib_txq *tx);
void ipoib_tx_reaper_init(struct ipoib_txq *tx);

/* ipoib_tx.c */
netdev_tx_t ipoib_start_xmit(struct sk_buff *skb, struct net_device *netdev);
u16 ipoib_select_queue(struct net_device *netdev, struct sk_buff *skb,
		       struct net_device *sb_dev);
bool ipoib_tx_poll(struct ipoib_txq *tx, int budget);
void ipoib_tx_empty(struct ipoib_txq *tx);

#endif /* _IPOIB_TX_H */
