// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Schedules the requests to the fabric for destinations: paths (ipoib_arp.c) and groups
 * (ipoib_join.c).
 *
 * A destination that needs a request is in one of these states:
 *
 *   busy		It is new, or was answered: the work has to process it.
 *   waiting	A request is sent for it as soon as the window allows.
 *   asked	A request is outstanding.
 *   failing	A request is sent for it again at the time retry_at.
 *
 * The window limits the number of outstanding requests. It adapts to how fast the answers come,
 * as a TCP window does. Without it, an SA that all hosts of a large fabric query at the same time
 * would receive each request several times, since ib_sa repeats requests whose answers are late.
 * The cost of a run of the work depends on the number of busy destinations, not on their total
 * number.
 */
#include "ipoib.h"

/* An answer that takes longer than this halves the window, in jiffies */
#define DEST_ANSWER_SLOW	(HZ / 4)

/**
 * ipoib_dests_walk() - call a function for each destination
 * @dests: destinations of one kind
 * @see: called with each destination, which it may remove from the table; must not sleep
 * @context: passed to @see
 *
 * If the table is resized meanwhile, the walk starts over: @see is called at least once for each
 * destination, but may be called twice.
 *
 * Context: process; @see is called on the RCU read side.
 */
void ipoib_dests_walk(struct ipoib_dests *dests, void (*see)(void *entry, void *context),
		      void *context)
{
	struct rhashtable_iter iter;
	void *entry;

	rhashtable_walk_enter(&dests->table, &iter);
	rhashtable_walk_start(&iter);
	while ((entry = rhashtable_walk_next(&iter)))
		if (!IS_ERR(entry))
			see(entry, context);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

/**
 * ipoib_dest_find() - look a destination up
 * @dests: destinations of one kind
 * @gid: its GID, 16 octets
 *
 * Context: any. The destination that is returned may be used on the control path until the
 *	control path removes it, and elsewhere while @dests->lock is held.
 * Return: the destination, or NULL.
 */
struct ipoib_dest *ipoib_dest_find(struct ipoib_dests *dests, const void *gid)
{
	return rhashtable_lookup_fast(&dests->table, gid, ipoib_dest_params);
}

/**
 * ipoib_dests_sync() - wait for senders that have read an old state of the link
 * @dests: destinations of one kind
 *
 * A sender that finds no AH reads the link's state with @dests->lock held before it creates a
 * destination or queues a packet. Senders that take the lock after this call see the new state.
 *
 * Context: control path, after the link's state has been written.
 */
void ipoib_dests_sync(struct ipoib_dests *dests)
{
	spin_lock_bh(&dests->lock);
	spin_unlock_bh(&dests->lock);
}

/**
 * ipoib_dest_add() - add a new destination to the table
 * @dests: destinations of its kind; @dests->lock held
 * @dest: the destination; zeroed by the caller
 * @gid: its GID, 16 octets
 *
 * Context: any but hard interrupt.
 * Return: 0, or a negative error if there is no memory or the table has this GID already.
 */
int ipoib_dest_add(struct ipoib_dests *dests, struct ipoib_dest *dest, const void *gid)
{
	memcpy(&dest->gid, gid, sizeof(dest->gid));
	dest->used = jiffies;
	dest->retry_at = jiffies;
	INIT_LIST_HEAD(&dest->busy);
	INIT_LIST_HEAD(&dest->waits);
	__skb_queue_head_init(&dest->queue);
	return rhashtable_insert_fast(&dests->table, &dest->node, ipoib_dest_params);
}

/**
 * ipoib_dest_remove() - remove a destination from the table
 * @dests: destinations of its kind; @dests->lock held
 * @dest: the destination
 *
 * Afterwards no packet is queued for it, and it does not become busy.
 *
 * Context: control path.
 */
void ipoib_dest_remove(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	lockdep_assert_held(&dests->lock);
	rhashtable_remove_fast(&dests->table, &dest->node, ipoib_dest_params);
	dest->dead = true;
	list_del_init(&dest->busy);
}

/**
 * ipoib_dest_make_busy() - have the work process a destination
 * @dests: destinations of its kind; @dests->lock held
 * @dest: the destination
 *
 * Context: any. The caller queues the work.
 */
void ipoib_dest_make_busy(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	lockdep_assert_held(&dests->lock);
	if (!dest->dead && list_empty(&dest->busy))
		list_add_tail(&dest->busy, &dests->busy);
}

static struct ipoib_dest *dest_next_busy(struct ipoib_dests *dests, struct list_head *busy)
{
	struct ipoib_dest *dest;

	spin_lock_bh(&dests->lock);
	dest = list_first_entry_or_null(busy, struct ipoib_dest, busy);
	if (dest)
		list_del_init(&dest->busy);
	spin_unlock_bh(&dests->lock);
	return dest;
}

/**
 * ipoib_dests_serve() - process each busy destination
 * @dests: destinations of one kind
 * @serve: processes one destination. One that becomes busy again meanwhile is left to the
 *	next call
 *
 * Context: control path.
 */
void ipoib_dests_serve(struct ipoib_dests *dests, ipoib_dest_step serve)
{
	struct ipoib_dest *dest;
	LIST_HEAD(busy);

	spin_lock_bh(&dests->lock);
	list_splice_init(&dests->busy, &busy);
	spin_unlock_bh(&dests->lock);
	while ((dest = dest_next_busy(dests, &busy)))
		serve(dests->priv, dest);
}

/**
 * ipoib_dest_asked() - note that a request is outstanding
 * @dests: destinations of its kind
 * @dest: the destination
 *
 * Context: control path, before the request is sent, since the answer may come at once.
 */
void ipoib_dest_asked(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	spin_lock_bh(&dests->lock);
	dest->request = IPOIB_REQUEST_SENT;
	spin_unlock_bh(&dests->lock);
	dest->asked = true;
	dest->asked_at = jiffies;
	dests->asked++;
}

static void dest_question_over(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	lockdep_assert_held(&dests->lock);
	dest->request = IPOIB_REQUEST_NONE;
	dests->asked -= dest->asked;
	dest->asked = false;
}

/**
 * ipoib_dest_not_asked() - note that no request is outstanding, or that its answer is ignored
 * @dests: destinations of its kind
 * @dest: the destination, whether a request was noted for it or not
 *
 * Context: control path.
 */
void ipoib_dest_not_asked(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	spin_lock_bh(&dests->lock);
	dest_question_over(dests, dest);
	spin_unlock_bh(&dests->lock);
}

/**
 * ipoib_dest_answered() - note that an answer is being read, and adapt the window
 * @dests: destinations of its kind
 * @dest: the destination. The window is left alone if no request was noted for it
 *
 * Context: control path, @dests->lock held. The caller reads the answer before it releases the
 * lock, since the fabric may deliver another answer (see ipoib_group_answer()).
 */
void ipoib_dest_answered(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	if (dest->asked && time_after(jiffies, dest->asked_at + DEST_ANSWER_SLOW))
		dests->window = max(dests->window / 2, dests->pace->min);
	else if (dest->asked)
		dests->window = min(dests->window + 1, dests->pace->max);
	dest_question_over(dests, dest);
}

/**
 * ipoib_dest_failed() - set the time of the next request for a destination, by its back-off
 * @dest: the destination
 *
 * Context: control path.
 */
void ipoib_dest_failed(struct ipoib_dest *dest)
{
	dest->retry_at = ipoib_retry_at(&dest->failures);
}

/**
 * ipoib_dest_await() - schedule a request for a destination
 * @dests: destinations of its kind
 * @dest: the destination; the request is not sent before its retry_at
 *
 * Context: control path.
 */
void ipoib_dest_await(struct ipoib_dests *dests, struct ipoib_dest *dest)
{
	if (time_before_eq(dest->retry_at, jiffies)) {
		list_move_tail(&dest->waits, &dests->waiting);
		return;
	}
	if (list_empty(&dests->failing) || time_before(dest->retry_at, dests->retry_at))
		dests->retry_at = dest->retry_at;
	list_move_tail(&dest->waits, &dests->failing);
}

/**
 * ipoib_dests_retry() - process the failing destinations that are due
 * @dests: destinations of one kind
 * @due: called with each destination whose retry_at has passed; schedules it or removes it
 *
 * There may be thousands of failing destinations, so they are not scanned at each call, but only
 * now and then: see &ipoib_dests_pace.retry.
 *
 * Context: control path.
 */
void ipoib_dests_retry(struct ipoib_dests *dests, ipoib_dest_step due)
{
	unsigned long now = jiffies, soonest = now + MAX_JIFFY_OFFSET;
	struct ipoib_dest *dest, *next;

	if (list_empty(&dests->failing) || time_before(now, dests->retry_at))
		return;
	list_for_each_entry_safe(dest, next, &dests->failing, waits) {
		if (time_before_eq(dest->retry_at, now))
			due(dests->priv, dest);
		else if (time_before(dest->retry_at, soonest))
			soonest = dest->retry_at;
	}
	if (time_before(soonest, now + dests->pace->retry))
		soonest = now + dests->pace->retry;
	dests->retry_at = soonest;
}

/**
 * ipoib_dests_next() - find the destination to send a request for now
 * @dests: destinations of one kind
 *
 * Context: control path.
 * Return: the first destination in the queue, or NULL if none waits or the window is full.
 */
struct ipoib_dest *ipoib_dests_next(struct ipoib_dests *dests)
{
	if (dests->asked >= dests->window)
		return NULL;
	return list_first_entry_or_null(&dests->waiting, struct ipoib_dest, waits);
}

/**
 * ipoib_dests_wait() - compute when the work has to run next
 * @dests: destinations of one kind
 *
 * Context: control path.
 * Return: delay in jiffies, or MAX_JIFFY_OFFSET if no destination is failing: then the work
 *	need not run before an answer or a new destination queues it.
 */
unsigned long ipoib_dests_wait(const struct ipoib_dests *dests)
{
	long wait = dests->retry_at - jiffies;

	return list_empty(&dests->failing) ? MAX_JIFFY_OFFSET : max(wait, 0L);
}

/**
 * ipoib_dests_init() - initialize the table of destinations of one kind
 * @dests: the table
 * @priv: the device
 * @pace: limits of the requests for them
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_dests_init(struct ipoib_dests *dests, struct ipoib_dev *priv,
		     const struct ipoib_dests_pace *pace)
{
	dests->priv = priv;
	dests->pace = pace;
	dests->window = pace->first;
	spin_lock_init(&dests->lock);
	INIT_LIST_HEAD(&dests->busy);
	INIT_LIST_HEAD(&dests->waiting);
	INIT_LIST_HEAD(&dests->failing);
	return rhashtable_init(&dests->table, &ipoib_dest_params);
}

/**
 * ipoib_dests_destroy() - free the table of destinations
 * @dests: the table; it is empty
 *
 * Context: may sleep.
 */
void ipoib_dests_destroy(struct ipoib_dests *dests)
{
	rhashtable_destroy(&dests->table);
}

/**
 * ipoib_queue_resend() - send packets that waited for an AH
 * @priv: the device
 * @queue: a list private to the caller; emptied
 *
 * The packets bypass the filters, the queueing discipline and packet sockets, which they have
 * been through before. Only if the ring has no room, they are passed through these again.
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
 * ipoib_queue_purge() - drop packets that waited for an AH
 * @priv: the device
 * @queue: a list, private to the caller or guarded by a lock that it holds; emptied
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
