// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How the fabric is asked for destinations: paths (ipoib_arp.c) and groups (ipoib_join.c).
 *
 * Every destination that is to be asked for is in one of these places:
 *
 *   busy		it has news, it is new or answered, for the work to read
 *   waiting	it is to be asked for, when the window has room
 *   asked	the fabric owes an answer
 *   failing	it is asked for again when its time has come
 *
 * The window is how many may be asked for at once. It follows how fast the answers come, as a
 * TCP window does: an SA that all hosts of a large fabric ask at once gets each question time
 * and again otherwise, since ib_sa repeats those whose answers are late. What a run of the work
 * costs depends on how many destinations have news, not on how many there are.
 */
#include "ipoib.h"

/* An answer that takes longer closes the window, in jiffies */
#define DEST_ANSWER_SLOW	(HZ / 4)

/**
 * ipoib_dests_walk() - see each destination
 * @dests: all of a kind
 * @see: called with each, which it may take out of the table
 * @context: passed on
 *
 * While a table is resized the walk begins anew: it misses nothing, and may meet an
 * entry twice.
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
 * ipoib_dest_find() - look for a destination
 * @dests: all of its kind
 * @gid: its GID, 16 octets
 *
 * Context: the control path, which may use it until it removes it itself; or any with
 *	@dests->lock held; or any that only asks whether there is one.
 * Return: the destination, or NULL.
 */
struct ipoib_dest *ipoib_dest_find(struct ipoib_dests *dests, const void *gid)
{
	return rhashtable_lookup_fast(&dests->table, gid, ipoib_dest_params);
}

/**
 * ipoib_dests_sync() - wait for senders that still take the link for running
 * @dests: all of a kind
 *
 * A sender that finds no AH looks at the link's state under the lock before it makes a
 * destination or queues a packet. Those that come later find the link as it is now.
 *
 * Context: control path, after the link's state was written.
 */
void ipoib_dests_sync(struct ipoib_dests *dests)
{
	spin_lock_bh(&dests->lock);
	spin_unlock_bh(&dests->lock);
}

/**
 * ipoib_dest_add() - enter a new destination into the table
 * @dests: all of its kind; @dests->lock held
 * @dest: zeroes
 * @gid: its GID, 16 octets
 *
 * Context: any but hard interrupt.
 * Return: 0, or a negative error if there is no room or one of that GID.
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
 * ipoib_dest_remove() - take a destination out of the table
 * @dests: all of its kind; @dests->lock held
 * @dest: the destination; no packet is queued and nothing makes it busy from now on
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
 * ipoib_dest_make_busy() - have the work look at a destination
 * @dests: all of its kind; @dests->lock held
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
 * ipoib_dests_serve() - look at each destination that has news
 * @dests: all of a kind
 * @serve: takes one a step on. One that is busy again meanwhile is the next run's
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
 * ipoib_dest_asked() - note that the fabric is being asked
 * @dests: all of the kind
 * @dest: the destination
 *
 * Context: control path, before the question: its answer may come at once.
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
 * ipoib_dest_not_asked() - note that no answer is to come, or that it does not matter
 * @dests: all of the kind
 * @dest: the destination, asked for or not
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
 * ipoib_dest_answered() - note that an answer is being read, and how long it took
 * @dests: all of the kind
 * @dest: the destination. One that was not asked for tells nothing of the fabric's pace
 *
 * Context: control path, ipoib_dests.lock held: the next answer of a fabric that gives more
 * than one must not come between this and the reading.
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
 * ipoib_dest_failed() - set the time when a destination is asked for again
 * @dest: the destination
 *
 * Context: control path.
 */
void ipoib_dest_failed(struct ipoib_dest *dest)
{
	dest->retry_at = ipoib_retry_at(&dest->failures);
}

/**
 * ipoib_dest_await() - put a destination where it waits for its time, or for its turn
 * @dests: all of its kind
 * @dest: one that the fabric is to be asked for
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
 * ipoib_dests_retry() - look for failing destinations whose time has come
 * @dests: all of a kind
 * @due: called with each whose time has come; takes it off this list, if not for good
 *
 * Now and then, not by each answer: there may be thousands of failing ones.
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
 * ipoib_dests_next() - whom to ask for now
 * @dests: all of a kind
 *
 * Context: control path.
 * Return: the one that has waited longest, or NULL if none waits or the window is full.
 */
struct ipoib_dest *ipoib_dests_next(struct ipoib_dests *dests)
{
	if (dests->asked >= dests->window)
		return NULL;
	return list_first_entry_or_null(&dests->waiting, struct ipoib_dest, waits);
}

/**
 * ipoib_dests_wait() - when there is more to do
 * @dests: all of a kind
 *
 * Context: control path.
 * Return: jiffies until then, MAX_JIFFY_OFFSET if an answer will be the occasion.
 */
unsigned long ipoib_dests_wait(const struct ipoib_dests *dests)
{
	long wait = dests->retry_at - jiffies;

	return list_empty(&dests->failing) ? MAX_JIFFY_OFFSET : max(wait, 0L);
}

/**
 * ipoib_dests_init() - prepare for destinations of a kind
 * @dests: filled in
 * @priv: the device
 * @pace: how the fabric is asked for them
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
 * ipoib_dests_destroy() - the end of them
 * @dests: of which there are none left
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
 * @queue: a list of the caller's own; emptied
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
