// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What it takes to send to 20-byte link-layer addresses: the paths to peer GIDs.
 *
 * The kernel's neighbour code maps IP addresses to link-layer addresses (ARP,
 * ND); this file takes the step that is left, from the GID in the link-layer
 * address to a path (RFC 4391 section 9.1). A path is made by the first packet
 * that needs it, and from then on either has an AH, or a query to the fabric
 * that is under way or has its time set: no packet finds one that is left without.
 * It goes when no packet has used it for a while, and soon if it leads nowhere.
 *
 * A peer that has just spoken is answered at once, by a stopgap: an AH made of what its
 * packet told, whose GRH proves who sent it (ipoib_learn.c). The fabric is asked all the
 * same, and its answer takes the stopgap's place. From then on no packet changes the
 * path: one that comes from another port only makes the fabric be asked again.
 */
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_PATH_IDLE		(300 * HZ)	/* unused for so long: freed */
#define IPOIB_PATH_EXPIRE	(60 * HZ)	/* how often that is looked at */
#define IPOIB_PATH_DOUBT	(10 * HZ)	/* packets may have a path asked for so often */
#define IPOIB_PATH_WANTED	HZ		/* a failing path is given up so soon */

static const struct ipoib_dests_pace paths_pace = {
	.first = 8,
	.min = 1,
	.max = 64,
	.retry = HZ / 10,
};

static struct ipoib_path *path_of(struct ipoib_dest *dest)
{
	return container_of(dest, struct ipoib_path, dest);
}

/* The lock is held */
static struct ipoib_path *path_by_gid(struct ipoib_dev *priv, const void *gid)
{
	struct ipoib_dest *dest = ipoib_dest_find(&priv->paths.dests, gid);

	return dest ? path_of(dest) : NULL;
}

static struct ipoib_path *path_by_gid_rcu(struct ipoib_dev *priv, const void *gid)
{
	struct ipoib_dest *dest = ipoib_dest_find_rcu(&priv->paths.dests, gid);

	return dest ? path_of(dest) : NULL;
}

/* Whether a stopgap may be made of what packets told */
static bool path_may_learn(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->learn_paths) && priv->port->fabric->heard_attr;
}

/* Has path_work look at a path, and ask the fabric for it when it is its turn */
static void path_want_answer(struct ipoib_path *path, struct ipoib_dev *priv)
{
	path->ask = true;
	ipoib_dest_make_busy(&priv->paths.dests, &path->dest);
}

static void path_kick(struct ipoib_dev *priv)
{
	mod_delayed_work(priv->wq, &priv->paths.work, 0);
}

/* Anybody can make the network stack send to a GID that does not exist, by ARP or ND
 * that claims it. There is always room for a peer that has proven its GID of late.
 */
static struct ipoib_path *path_create(struct ipoib_dev *priv, const u8 *gid)
{
	struct ipoib_heard heard = {};
	struct ipoib_path *path;

	ipoib_learn_find(priv, gid, &heard);
	if (!path_may_learn(priv))
		heard.lid = 0;
	if (!heard.lid && atomic_read(&priv->paths.dests.table.nelems) >= IPOIB_PATHS_MAX)
		return ERR_PTR(-ENOSPC);
	path = kzalloc(sizeof(*path), GFP_ATOMIC);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->heard = heard;
	path->needs_grh = heard.needs_grh;
	path->doubted = jiffies - IPOIB_PATH_DOUBT;
	if (ipoib_dest_add(&priv->paths.dests, &path->dest, gid)) {
		kfree(path);
		return ERR_PTR(-ENOMEM);
	}
	path_want_answer(path, priv);
	path_kick(priv);
	return path;
}

/* Keeps a packet until the path has an AH. Many paths may wait at once, so what all of
 * them keep is bounded as well.
 */
static void path_queue(struct ipoib_dev *priv, struct ipoib_path *path, struct sk_buff *skb)
{
	lockdep_assert_held(&priv->paths.dests.lock);
	if (path->dest.dead) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_PATH_FAILED);
		return;
	}
	if (skb_queue_len(&path->dest.queue) >= IPOIB_PATH_QUEUE_MAX ||
	    priv->paths.dests.queued + skb->truesize > IPOIB_PATHS_QUEUED_MAX) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_PATH_FULL);
		return;
	}
	priv->paths.dests.queued += skb->truesize;
	__skb_queue_tail(&path->dest.queue, skb);
}

/* Takes all that waits for a path */
static void path_dequeue(struct ipoib_dev *priv, struct ipoib_path *path,
			 struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	lockdep_assert_held(&priv->paths.dests.lock);
	skb_queue_walk(&path->dest.queue, skb)
		priv->paths.dests.queued -= skb->truesize;
	skb_queue_splice_tail_init(&path->dest.queue, queue);
}

static void path_purge(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	path_dequeue(priv, path, &queue);
	ipoib_queue_purge(priv, &queue, IPOIB_STAT_TX_PATH_FAILED);
}

static struct ipoib_ah *path_xmit_slow(struct ipoib_dev *priv, struct ipoib_path *path,
				       struct sk_buff *skb)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	struct ipoib_ah *ah = NULL;

	spin_lock_bh(&priv->paths.dests.lock);
	if (!ipoib_link_runs(priv)) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_CARRIER);
		goto out;
	}
	if (!path)
		path = path_by_gid(priv, hwaddr->gid);
	if (!path)
		path = path_create(priv, hwaddr->gid);
	if (IS_ERR(path)) {
		ipoib_tx_drop(priv, skb, PTR_ERR(path) == -ENOSPC ?
			      IPOIB_STAT_TX_PATH_LIMIT : IPOIB_STAT_TX_NO_MEMORY);
		goto out;
	}
	ah = rcu_dereference(path->dest.ah);
	if (!ah)
		path_queue(priv, path, skb);
out:
	spin_unlock_bh(&priv->paths.dests.lock);
	return ah;
}

/* Most packets go by the same path as the one before them. That path may be used without a
 * look at the table for as long as no path has left the table since it was found there: one
 * that leaves is not freed before an RCU grace period.
 */
static struct ipoib_path *path_lookup(struct ipoib_txq *tx, const u8 *gid)
{
	struct ipoib_dev *priv = tx->priv;
	/* Pairs with path_unhash(): who sees its count does not find its path any more */
	u32 removals = smp_load_acquire(&priv->path_removals);

	if (likely(tx->path && tx->path_removals == removals &&
		   ipoib_gid_equal(tx->path->dest.gid.raw, gid)))
		return tx->path;
	tx->path = path_by_gid_rcu(priv, gid);
	tx->path_removals = removals;
	return tx->path;
}

/**
 * ipoib_path_xmit() - find the AH for a unicast packet
 * @tx: the ring that it is to go by
 * @skb: begins with struct ipoib_header
 *
 * Context: RCU read side, BHs disabled, the ring's TX queue's lock held.
 * Return: the AH, or NULL if the packet was kept until there is one, or dropped.
 */
struct ipoib_ah *ipoib_path_xmit(struct ipoib_txq *tx, struct sk_buff *skb)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	struct ipoib_path *path;
	struct ipoib_ah *ah;

	path = path_lookup(tx, hwaddr->gid);
	if (likely(path)) {
		ipoib_dest_use(&path->dest);
		ah = rcu_dereference(path->dest.ah);
		if (likely(ah))
			return ah;
	}
	return path_xmit_slow(tx->priv, path, skb);
}

/**
 * ipoib_same_port() - whether two LIDs lead to one port
 * @priv: the device, whose port has as many LIDs as others of the subnet
 * @lid: one
 * @other: the other
 *
 * IBA 7.11.1: a port's LIDs differ in the lowest LMC bits.
 *
 * Context: any.
 */
bool ipoib_same_port(const struct ipoib_dev *priv, u32 lid, u32 other)
{
	u8 lmc = 0;

	ib_get_cached_lmc(priv->ibdev, priv->port->number, &lmc);
	return !((lid ^ other) >> lmc);
}

/**
 * ipoib_path_compare() - hold a LID against the path to a GID
 * @priv: the device
 * @gid: the peer's
 * @lid: where it was heard
 *
 * Context: any but hard interrupt.
 * Return: see enum ipoib_path_match.
 */
enum ipoib_path_match ipoib_path_compare(struct ipoib_dev *priv, const union ib_gid *gid,
					 u32 lid)
{
	enum ipoib_path_match match = IPOIB_PATH_UNKNOWN;
	const struct ipoib_path *path;
	const struct ipoib_ah *ah;

	rcu_read_lock();
	path = path_by_gid_rcu(priv, gid);
	ah = path ? rcu_dereference(path->dest.ah) : NULL;
	if (ah)
		match = ipoib_same_port(priv, ah->dlid, lid) ? IPOIB_PATH_SAME : IPOIB_PATH_OTHER;
	rcu_read_unlock();
	return match;
}

static bool path_has_answer(const struct ipoib_path *path)
{
	return rcu_access_pointer(path->dest.ah) && !READ_ONCE(path->stopgap);
}

/* Something contradicts the path. Whoever it is that does so, the fabric is not asked
 * again and again.
 */
static void path_doubt(struct ipoib_dev *priv, struct ipoib_path *path)
{
	lockdep_assert_held(&priv->paths.dests.lock);
	if (time_before(jiffies, path->doubted + IPOIB_PATH_DOUBT))
		return;
	path->doubted = jiffies;
	path_want_answer(path, priv);
	path_kick(priv);
}

/**
 * ipoib_path_doubt() - have the fabric asked whether a path is still right
 * @priv: the device
 * @gid: the peer's; nothing happens if there is no path to it
 *
 * Context: the receive poll.
 */
void ipoib_path_doubt(struct ipoib_dev *priv, const union ib_gid *gid)
{
	struct ipoib_path *path;

	spin_lock(&priv->paths.dests.lock);
	path = path_by_gid(priv, gid);
	if (path)
		path_doubt(priv, path);
	spin_unlock(&priv->paths.dests.lock);
}

/* Does a path lose all packets because they lack a GRH? */
static bool path_lacks_grh(const struct ipoib_ah *ah, const struct ipoib_heard *heard)
{
	return ah && heard->needs_grh && !ah->grh;
}

/* The fabric's answer stands, until the fabric gives another one. That it gave it before the
 * peer could say that it needs a GRH does not make it wrong, only incomplete.
 */
static void path_hear(struct ipoib_dev *priv, struct ipoib_path *path,
		      const struct ipoib_heard *heard)
{
	lockdep_assert_held(&priv->paths.dests.lock);
	if (heard->needs_grh)
		WRITE_ONCE(path->needs_grh, true);
	if (path_lacks_grh(rcu_dereference(path->dest.ah), heard)) {
		path_want_answer(path, priv);
		path_kick(priv);
		return;
	}
	if (!path_may_learn(priv))
		return;
	if (path_has_answer(path)) {
		path_doubt(priv, path);
		return;
	}
	path->heard = *heard;
	ipoib_dest_make_busy(&priv->paths.dests, &path->dest);
	path_kick(priv);
}

/**
 * ipoib_path_heard() - a packet proves where a GID is
 * @priv: the device
 * @gid: its sender's, from the GRH
 * @heard: where it came from
 *
 * If there is a path to it that leads nowhere yet, or a stopgap that leads elsewhere, it
 * is used for that path. What the fabric said of a path stands, but gets a GRH if the peer
 * needs one.
 *
 * Context: the receive poll.
 */
void ipoib_path_heard(struct ipoib_dev *priv, const union ib_gid *gid,
		      const struct ipoib_heard *heard)
{
	const struct ipoib_ah *ah;
	struct ipoib_path *path;

	rcu_read_lock();
	path = path_by_gid_rcu(priv, gid);
	if (!path)
		goto out;
	ah = rcu_dereference(path->dest.ah);
	if (ah && ipoib_same_port(priv, ah->dlid, heard->lid) && !path_lacks_grh(ah, heard))
		goto out;
	spin_lock(&priv->paths.dests.lock);
	path_hear(priv, path, heard);
	spin_unlock(&priv->paths.dests.lock);
out:
	rcu_read_unlock();
}

/**
 * ipoib_path_answer() - the fabric's answer to ipoib_fabric_ops.resolve
 * @query: the question; its attr is valid if @status is 0
 * @status: 0 or a negative error
 *
 * Context: any but hard interrupt. Once per query.
 */
void ipoib_path_answer(struct ipoib_path_query *query, int status)
{
	struct ipoib_dev *priv = query->priv;
	struct ipoib_path *path = query->path;

	query->status = status;
	spin_lock_bh(&priv->paths.dests.lock);
	path->dest.request = IPOIB_REQUEST_ANSWERED;
	ipoib_dest_make_busy(&priv->paths.dests, &path->dest);
	path_kick(priv);
	spin_unlock_bh(&priv->paths.dests.lock);
	complete(&query->done);
}

static void query_free(struct ipoib_path_query *query)
{
	kfree(query->own);
	kfree(query);
}

static int path_ask(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct ipoib_path_query *query = kzalloc(sizeof(*query), GFP_KERNEL);
	int err;

	if (!query)
		return -ENOMEM;
	query->path = path;
	query->priv = priv;
	init_completion(&query->done);
	path->query = query;
	spin_lock_bh(&priv->paths.dests.lock);
	path->ask = false;
	spin_unlock_bh(&priv->paths.dests.lock);
	ipoib_dest_asked(&priv->paths.dests, &path->dest);
	ipoib_count(priv, IPOIB_STAT_PATH_QUERIES);
	trace_ipoib_path_state(priv, path, -EINPROGRESS);
	ipoib_debug(priv, "asking for a path to %pI6\n", path->dest.gid.raw);
	err = priv->port->fabric->resolve(query);
	if (!err)
		return 0;
	ipoib_dest_not_asked(&priv->paths.dests, &path->dest);
	path->query = NULL;
	query_free(query);
	return err;
}

/* Frees an answered query with what the answer holds */
static int path_take_answer(struct ipoib_dev *priv, struct ipoib_path *path,
			    struct ipoib_ah **ah)
{
	struct ipoib_path_query *query = path->query;
	int err;

	wait_for_completion(&query->done);
	spin_lock_bh(&priv->paths.dests.lock);
	ipoib_dest_answered(&priv->paths.dests, &path->dest);
	spin_unlock_bh(&priv->paths.dests.lock);
	path->query = NULL;
	err = query->status;
	if (!err) {
		*ah = ipoib_ah_create(priv, &query->attr);
		err = PTR_ERR_OR_ZERO(*ah);
		rdma_destroy_ah_attr(&query->attr);
	}
	query_free(query);
	return err;
}

/* Packets go by this AH from now on, those that waited first */
static void path_publish(struct ipoib_dev *priv, struct ipoib_path *path, struct ipoib_ah *ah)
{
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	ipoib_debug(priv, "path to %pI6: LID %#x, SL %u%s\n", path->dest.gid.raw, ah->dlid, ah->sl,
		    path->stopgap ? ", by what a packet told" : "");
	ipoib_ah_replace(&path->dest.ah, ah);
	trace_ipoib_path_state(priv, path, 0);
	spin_lock_bh(&priv->paths.dests.lock);
	path_dequeue(priv, path, &queue);
	spin_unlock_bh(&priv->paths.dests.lock);
	ipoib_queue_resend(priv, &queue);
}

/* There is nothing more to ask the fabric about the path */
static void path_settle(struct ipoib_dev *priv, struct ipoib_path *path)
{
	path->dest.failures = 0;
	list_del_init(&path->dest.waits);
	spin_lock_bh(&priv->paths.dests.lock);
	path->ask = false;
	path->heard.lid = 0;
	spin_unlock_bh(&priv->paths.dests.lock);
}

static bool ah_leads_elsewhere(struct ipoib_dev *priv, const struct ipoib_ah *ah,
			       const struct ipoib_ah *other)
{
	return !ipoib_same_port(priv, ah->dlid, other->dlid) || ah->sl != other->sl;
}

static void path_succeeded(struct ipoib_dev *priv, struct ipoib_path *path,
			   struct ipoib_ah *ah)
{
	const struct ipoib_ah *old = rcu_dereference_protected(path->dest.ah, true);

	if (path->stopgap && ah_leads_elsewhere(priv, old, ah))
		ipoib_count(priv, IPOIB_STAT_PATHS_CORRECTED);
	WRITE_ONCE(path->stopgap, false);
	path_settle(priv, path);
	path_publish(priv, path, ah);
}

/* The path is to be asked for again. An AH that it has is kept: an SA that does not
 * answer is no sign that the path is gone, and ib_core tells an SA that is busy from one
 * that knows no such path as little.
 */
static void path_failed(struct ipoib_dev *priv, struct ipoib_path *path, int err)
{
	ipoib_count(priv, IPOIB_STAT_PATH_FAILURES);
	trace_ipoib_path_state(priv, path, err);
	ipoib_debug(priv, "no path to %pI6: error %d\n", path->dest.gid.raw, err);
	if (net_ratelimit())
		netdev_warn(priv->netdev, "no path to %pI6: error %d\n", path->dest.gid.raw, err);
	ipoib_dest_failed(&path->dest);
	spin_lock_bh(&priv->paths.dests.lock);
	path->ask = true;
	path_purge(priv, path);
	spin_unlock_bh(&priv->paths.dests.lock);
}

static void path_serve_answer(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct ipoib_ah *ah;
	int err;

	err = path_take_answer(priv, path, &ah);
	if (err)
		path_failed(priv, path, err);
	else
		path_succeeded(priv, path, ah);
}

static bool path_take_heard(struct ipoib_dev *priv, struct ipoib_path *path,
			    struct ipoib_heard *heard)
{
	spin_lock_bh(&priv->paths.dests.lock);
	*heard = path->heard;
	path->heard.lid = 0;
	spin_unlock_bh(&priv->paths.dests.lock);
	return heard->lid && !path_has_answer(path);
}

static struct ipoib_ah *stopgap_ah(struct ipoib_dev *priv, const struct ipoib_path *path,
				   const struct ipoib_heard *heard)
{
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = priv->port->fabric->heard_attr(priv, &path->dest.gid, heard, &attr);
	if (err)
		return ERR_PTR(err);
	ah = ipoib_ah_create(priv, &attr);
	rdma_destroy_ah_attr(&attr);
	return ah;
}

/* The path is in use at once; that the fabric is asked for it goes on, unless the
 * administrator knows that what packets tell is what the fabric would say.
 */
static void path_learn(struct ipoib_dev *priv, struct ipoib_path *path,
		       const struct ipoib_heard *heard)
{
	struct ipoib_ah *ah = stopgap_ah(priv, path, heard);

	if (IS_ERR(ah))
		return;
	ipoib_count(priv, IPOIB_STAT_PATHS_LEARNED);
	WRITE_ONCE(path->stopgap, true);
	if (READ_ONCE(priv->trust_learned))
		path_settle(priv, path);
	path_publish(priv, path, ah);
}

static void path_await(struct ipoib_dev *priv, struct ipoib_path *path)
{
	if (path->ask && path->dest.request == IPOIB_REQUEST_NONE)
		ipoib_dest_await(&priv->paths.dests, &path->dest);
}

/* Takes the path one step on */
static void path_serve(struct ipoib_dev *priv, struct ipoib_dest *dest)
{
	struct ipoib_path *path = path_of(dest);
	struct ipoib_heard heard;

	if (path->dest.request == IPOIB_REQUEST_ANSWERED)
		path_serve_answer(priv, path);
	if (path_take_heard(priv, path, &heard))
		path_learn(priv, path, &heard);
	path_await(priv, path);
}

static void path_unhash(struct ipoib_dev *priv, struct ipoib_path *path)
{
	spin_lock_bh(&priv->paths.dests.lock);
	ipoib_dest_remove(&priv->paths.dests, &path->dest);
	/* Pairs with path_lookup(), which sees this before it can see the path freed */
	smp_store_release(&priv->path_removals, priv->path_removals + 1);
	path_purge(priv, path);
	spin_unlock_bh(&priv->paths.dests.lock);
}

static void path_free(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct ipoib_ah *ah = NULL;

	list_del_init(&path->dest.waits);
	if (path->query && !path_take_answer(priv, path, &ah))
		ipoib_ah_retire(ah);
	ipoib_ah_replace(&path->dest.ah, NULL);
	kfree_rcu(path, dest.rcu);
}

static void path_forget(struct ipoib_dev *priv, struct ipoib_path *path)
{
	path_unhash(priv, path);
	path_free(priv, path);
}

/* One that leads nowhere is asked for again only if there is something to send */
static bool path_is_wanted(const struct ipoib_path *path)
{
	return rcu_access_pointer(path->dest.ah) || !skb_queue_empty_lockless(&path->dest.queue) ||
	       time_before_eq(jiffies, READ_ONCE(path->dest.used) + IPOIB_PATH_WANTED);
}

static void path_retry(struct ipoib_dev *priv, struct ipoib_dest *dest)
{
	struct ipoib_path *path = path_of(dest);

	if (path_is_wanted(path))
		ipoib_dest_await(&priv->paths.dests, dest);
	else
		path_forget(priv, path);
}

/* As many as the window has room for, those first that have waited longest */
static void paths_ask(struct ipoib_dev *priv)
{
	struct ipoib_dest *dest;
	struct ipoib_path *path;
	int err;

	while ((dest = ipoib_dests_next(&priv->paths.dests))) {
		path = path_of(dest);
		list_del_init(&dest->waits);
		err = path_ask(priv, path);
		if (!err)
			continue;
		path_failed(priv, path, err);
		path_await(priv, path);
	}
}

static void path_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, paths.work.work);
	struct ipoib_dests *dests = &priv->paths.dests;
	unsigned long wait;

	ipoib_dests_serve(dests, path_serve);
	ipoib_dests_retry(dests, path_retry);
	paths_ask(priv);
	wait = ipoib_dests_wait(dests);
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(priv->wq, &priv->paths.work, wait);
}

/* A decision about one path: is it to go? */
typedef bool (*path_filter)(const struct ipoib_path *path);

/* The paths that are to go leave the table for a list of their own */
struct path_removal {
	struct ipoib_dev *priv;
	path_filter filter;
	struct list_head gone;
};

static bool path_any(const struct ipoib_path *path)
{
	return true;
}

static bool path_is_idle(const struct ipoib_path *path)
{
	return time_after(jiffies, READ_ONCE(path->dest.used) + IPOIB_PATH_IDLE);
}

static void path_collect(void *entry, void *context)
{
	struct path_removal *removal = context;
	struct ipoib_path *path = entry;

	if (!removal->filter(path))
		return;
	path_unhash(removal->priv, path);
	list_add(&path->dest.busy, &removal->gone);
}

static void paths_remove(struct ipoib_dev *priv, path_filter filter)
{
	struct path_removal removal = {
		.priv = priv,
		.filter = filter,
		.gone = LIST_HEAD_INIT(removal.gone),
	};
	struct ipoib_path *path, *next;

	ipoib_dests_walk(&priv->paths.dests, path_collect, &removal);
	list_for_each_entry(path, &removal.gone, dest.busy)
		if (path->query)
			priv->port->fabric->cancel(path->query);
	list_for_each_entry_safe(path, next, &removal.gone, dest.busy) {
		list_del_init(&path->dest.busy);
		path_free(priv, path);
	}
}

/**
 * ipoib_paths_flush() - forget all paths
 * @priv: the device; if its link does not run, no packet makes a path any more
 *
 * Queries under way are cancelled and waited for; packets that wait are
 * dropped and counted. A packet that comes later makes its path anew.
 *
 * Context: control path.
 */
void ipoib_paths_flush(struct ipoib_dev *priv)
{
	ipoib_dests_sync(&priv->paths.dests);
	paths_remove(priv, path_any);
}

static void path_expire_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, paths.expire_work.work);

	paths_remove(priv, path_is_idle);
	queue_delayed_work(priv->wq, &priv->paths.expire_work, IPOIB_PATH_EXPIRE);
}

static void path_refresh(void *entry, void *context)
{
	struct ipoib_path *path = entry;
	struct ipoib_dev *priv = context;

	spin_lock_bh(&priv->paths.dests.lock);
	if (path->dest.request == IPOIB_REQUEST_NONE) {
		path->dest.retry_at = jiffies + get_random_u32_below(HZ / 4);
		path_want_answer(path, priv);
	}
	spin_unlock_bh(&priv->paths.dests.lock);
}

/**
 * ipoib_paths_refresh() - have all paths asked for again
 * @priv: the device
 *
 * Each keeps its AH until the answer comes: most will not have changed. What packets
 * have said is forgotten: the LIDs may be others now. The queries are spread over a
 * quarter of a second, for on a large fabric every port asks at the same time.
 *
 * Context: control path.
 */
void ipoib_paths_refresh(struct ipoib_dev *priv)
{
	ipoib_learn_flush(priv);
	ipoib_dests_walk(&priv->paths.dests, path_refresh, priv);
	path_kick(priv);
}

/**
 * ipoib_paths_walk() - see each path
 * @priv: the device
 * @see: called with each struct ipoib_path
 * @context: passed on
 *
 * Context: process; @see is called on the RCU read side.
 */
void ipoib_paths_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		      void *context)
{
	ipoib_dests_walk(&priv->paths.dests, see, context);
}

/**
 * ipoib_paths_init() - prepare the table of paths
 * @priv: the device; its workqueue exists
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_paths_init(struct ipoib_dev *priv)
{
	int err;

	err = ipoib_dests_init(&priv->paths.dests, priv, &paths_pace);
	if (err)
		return err;
	INIT_DELAYED_WORK(&priv->paths.work, path_work);
	INIT_DELAYED_WORK(&priv->paths.expire_work, path_expire_work);
	queue_delayed_work(priv->wq, &priv->paths.expire_work, IPOIB_PATH_EXPIRE);
	return 0;
}

/**
 * ipoib_paths_destroy() - free the table
 * @priv: the device; link down, no paths
 *
 * Context: may sleep.
 */
void ipoib_paths_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->paths.expire_work);
	cancel_delayed_work_sync(&priv->paths.work);
	ipoib_dests_destroy(&priv->paths.dests);
}
