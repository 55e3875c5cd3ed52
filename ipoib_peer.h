/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The peers that a netdevice in connected mode sends to, and their connections.
 */
#ifndef _IPOIB_PEER_H
#define _IPOIB_PEER_H

#include <linux/list.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "ipoib_wire.h"

struct ipoib_conn;
struct ipoib_dev;
struct ipoib_txq;

#define IPOIB_PEERS_MAX		1024	/* per netdevice */

struct ipoib_peers {
	struct rhashtable table;	/* struct ipoib_peer, by link-layer address */
	spinlock_t lock;		/* guards the rest, changes of the table, and what is marked
					 * so in each peer. ipoib_conns.lock nests inside
					 */
	bool on;			/* connections are opened */
	u32 count;			/* entries of the list */
	u32 removals;			/* peers that have been removed; read without the lock */
	struct list_head list;
};

int ipoib_peers_init(struct ipoib_dev *priv);
void ipoib_peers_destroy(struct ipoib_dev *priv);
void ipoib_peers_start(struct ipoib_dev *priv);
void ipoib_peers_stop(struct ipoib_dev *priv);
struct ipoib_conn *ipoib_peer_conn(struct ipoib_txq *tx, const struct sk_buff *skb);

#endif /* _IPOIB_PEER_H */
