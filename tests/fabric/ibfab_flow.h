/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Flow control. An HCA's input queue that fills up stops the engines that send to it, as a lack of
 * link credits would (7.9). SMPs use no credits (3.5.8.1): they never stop their sender, and are
 * dropped if too many of them wait.
 *
 * The functions that every packet needs are inline.
 */
#ifndef _IBFAB_FLOW_H
#define _IBFAB_FLOW_H

#include "ibfab.h"

#define IBFAB_INBOX_HIGH	256	/* senders stop when a queue has so many packets */
#define IBFAB_INBOX_LOW		128	/* stopped senders go on when it has no more than these */
#define IBFAB_INBOX_VL15	1024	/* an SMP is refused when it has so many packets */

void ibfab_sender_init(struct ibfab_sender *sender, unsigned int id,
		       struct tasklet_struct *engine);
void ibfab_sender_forget(struct ibfab_sender *sender);
void ibfab_inbox_init(struct ibfab_inbox *box);
void ibfab_inbox_stop(struct ibfab_inbox *box, struct ibfab_sender *sender);
void ibfab_inbox_wake(struct ibfab_inbox *box);

/**
 * ibfab_pkt_is_smp() - Whether a packet is on VL15.
 * @pkt: the packet
 *
 * Return: true if it is.
 */
static inline bool ibfab_pkt_is_smp(const struct ibfab_pkt *pkt)
{
	return ibfab_lrh_vl(ibfab_pkt_lrh(pkt)) == IBFAB_VL_SMP;
}

/**
 * ibfab_inbox_put() - Put a packet into an input queue.
 * @box: the queue, whose engine the caller kicks afterwards
 * @pkt: the packet. If the queue is full now, the packet's source stops.
 *
 * Context: softirq; the source's engine if the packet has a source.
 * Return: false if the packet is an SMP and was not taken.
 */
static inline bool ibfab_inbox_put(struct ibfab_inbox *box,
				   struct ibfab_pkt *pkt)
{
	bool smp = ibfab_pkt_is_smp(pkt);
	unsigned long flags;

	spin_lock_irqsave(&box->lock, flags);
	if (smp && box->len >= IBFAB_INBOX_VL15) {
		spin_unlock_irqrestore(&box->lock, flags);
		return false;
	}
	if (++box->len >= IBFAB_INBOX_HIGH && pkt->source && !smp)
		ibfab_inbox_stop(box, pkt->source);
	list_add_tail(&pkt->list, &box->queue);
	spin_unlock_irqrestore(&box->lock, flags);
	return true;
}

/**
 * ibfab_inbox_take() - Take all packets out of an input queue.
 * @box: the queue, which counts the packets until ibfab_inbox_done()
 * @to: the list to which they are added
 *
 * Packets that are put in at the same time may be missed. Whoever puts one in kicks the engine
 * afterwards.
 *
 * Context: the engine that owns the queue.
 */
static inline void ibfab_inbox_take(struct ibfab_inbox *box,
				    struct list_head *to)
{
	unsigned long flags;

	if (list_empty(&box->queue))
		return;
	spin_lock_irqsave(&box->lock, flags);
	list_splice_tail_init(&box->queue, to);
	spin_unlock_irqrestore(&box->lock, flags);
}

/**
 * ibfab_inbox_done() - Make room for as many packets as were delivered.
 * @box: the queue
 * @n: how many
 *
 * Context: any.
 */
static inline void ibfab_inbox_done(struct ibfab_inbox *box, unsigned int n)
{
	unsigned long flags;
	bool wake;

	spin_lock_irqsave(&box->lock, flags);
	box->len -= n;
	wake = box->len <= IBFAB_INBOX_LOW &&
	       !bitmap_empty(box->waiters, IBFAB_SENDERS);
	spin_unlock_irqrestore(&box->lock, flags);
	if (wake)
		ibfab_inbox_wake(box);
}

#endif /* _IBFAB_FLOW_H */
