// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the tables of paths and of groups have in common, and the packets that wait in
 * their entries.
 */
#include "ipoib.h"

/**
 * ipoib_table_walk() - see each path, or each group
 * @table: of either
 * @see: called with each entry; it may take that one out of the table
 * @context: passed on
 *
 * While a table is resized the walk begins anew: it misses nothing, and may meet an
 * entry twice.
 *
 * Context: process; @see is called on the RCU read side.
 */
void ipoib_table_walk(struct rhashtable *table, void (*see)(void *entry, void *context),
		      void *context)
{
	struct rhashtable_iter iter;
	void *entry;

	rhashtable_walk_enter(table, &iter);
	rhashtable_walk_start(&iter);
	while ((entry = rhashtable_walk_next(&iter)))
		if (!IS_ERR(entry))
			see(entry, context);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

/**
 * ipoib_queue_resend() - send packets that waited for an AH
 * @priv: the device
 * @queue: a private list; emptied
 *
 * They have been through filters, the queueing discipline and packet sockets before, and
 * go through these again only if the ring has no room.
 *
 * Context: process, no locks held.
 */
void ipoib_queue_resend(struct ipoib_dev *priv, struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue))) {
		skb->dev = priv->netdev;
		/* The packet still begins with its pseudo header */
		if (!dev_xmit_complete(__dev_direct_xmit(skb, skb_get_queue_mapping(skb))))
			dev_queue_xmit(skb);
	}
}

/**
 * ipoib_queue_purge() - drop packets that waited in vain
 * @priv: the device
 * @queue: a private list, or one under ipoib_dev.lock; emptied
 * @why: the counter to add them to
 *
 * Context: any but hard interrupt.
 */
void ipoib_queue_purge(struct ipoib_dev *priv, struct sk_buff_head *queue,
		       enum ipoib_stat why)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		ipoib_tx_drop(priv, skb, why);
}
