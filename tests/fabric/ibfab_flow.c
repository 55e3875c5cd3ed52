// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flow control: stopping engines and waking them.
 */
#include <linux/rcupdate.h>

#include "ibfab_flow.h"

/**
 * ibfab_sender_init() - Initialize the sender of an engine.
 * @sender: zeroed
 * @id: index of its HCA, or IBFAB_SENDER_TRUNK
 * @engine: scheduled when it may send again
 *
 * Context: any.
 */
void ibfab_sender_init(struct ibfab_sender *sender, unsigned int id,
		       struct tasklet_struct *engine)
{
	sender->id = id;
	sender->engine = engine;
}

/* Called under rcu_read_lock(), under which the result is valid */
static struct ibfab_sender *find_sender(unsigned int id)
{
	struct ibfab_hca *hca;

	if (id == IBFAB_SENDER_TRUNK)
		return ibfab_trunk_sender();
	hca = ibfab_hca_get(id);
	return hca ? &hca->sender : NULL;
}

static void forget(struct ibfab_inbox *box, const struct ibfab_sender *sender)
{
	unsigned long flags;

	spin_lock_irqsave(&box->lock, flags);
	clear_bit(sender->id, box->waiters);
	spin_unlock_irqrestore(&box->lock, flags);
}

/**
 * ibfab_sender_forget() - Remove a sender from all input queues.
 * @sender: a sender that cannot be found by its number any more. Its successor, which gets
 *	the same number, must not be woken in its place.
 *
 * Context: process.
 */
void ibfab_sender_forget(struct ibfab_sender *sender)
{
	struct ibfab_hca *hca;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < IBFAB_MAX_HCAS; i++) {
		hca = ibfab_hca_get(i);
		if (hca)
			forget(&hca->inbox, sender);
	}
	rcu_read_unlock();
	if (ibfab_trunk_inbox())
		forget(ibfab_trunk_inbox(), sender);
}

/**
 * ibfab_inbox_init() - Initialize an empty input queue.
 * @box: zeroed
 *
 * Context: any.
 */
void ibfab_inbox_init(struct ibfab_inbox *box)
{
	spin_lock_init(&box->lock);
	INIT_LIST_HEAD(&box->queue);
}

/**
 * ibfab_inbox_stop() - Stop a sender until an input queue has room again.
 * @box: the queue
 * @sender: the sender whose packet filled it
 *
 * Context: the queue's lock held.
 */
void ibfab_inbox_stop(struct ibfab_inbox *box, struct ibfab_sender *sender)
{
	if (test_and_set_bit(sender->id, box->waiters))
		return;
	atomic_inc(&sender->blockers);
	box->stops++;
}

/**
 * ibfab_inbox_wake() - Wake the senders that wait for an input queue.
 * @box: the queue
 *
 * Context: any.
 */
void ibfab_inbox_wake(struct ibfab_inbox *box)
{
	DECLARE_BITMAP(wake, IBFAB_SENDERS);
	struct ibfab_sender *sender;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&box->lock, flags);
	bitmap_copy(wake, box->waiters, IBFAB_SENDERS);
	bitmap_zero(box->waiters, IBFAB_SENDERS);
	spin_unlock_irqrestore(&box->lock, flags);

	rcu_read_lock();
	for_each_set_bit(i, wake, IBFAB_SENDERS) {
		sender = find_sender(i);
		if (sender && atomic_dec_and_test(&sender->blockers))
			tasklet_schedule(sender->engine);
	}
	rcu_read_unlock();
}
