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
#define IPOIB_PATH_QUERIES	8		/* under way at once, to begin with ... */
#define IPOIB_PATH_QUERIES_MAX	64		/* ... and at most */
#define IPOIB_PATH_SLOW		(HZ / 4)	/* an answer later than that is slow */
#define IPOIB_PATH_DOUBT	(10 * HZ)	/* packets may have a path asked for so often */
#define IPOIB_PATH_WANTED	HZ		/* a failing path is given up so soon */
#define IPOIB_PATH_RETRY_PACE	(HZ / 10)	/* failing paths are looked through so often */

/* For rhashtable: 0 if the path is the one that is looked for */
static int path_is_other(struct rhashtable_compare_arg *arg, const void *path)
{
	return !ipoib_gid_equal(arg->key, ((const struct ipoib_path *)path)->gid.raw);
}

static const struct rhashtable_params paths_params = {
	.hashfn = ipoib_gid_hash,
	.obj_cmpfn = path_is_other,
	.key_len = sizeof_field(struct ipoib_path, gid),
	.key_offset = offsetof(struct ipoib_path, gid),
	.head_offset = offsetof(struct ipoib_path, node),
	.automatic_shrinking = true,
};

/* Whether a stopgap may be made of what packets told */
static bool path_may_learn(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->learn_paths) && priv->fabric->heard_attr;
}

/* Has path_work look at a path */
static void path_make_busy(struct ipoib_path *path, struct ipoib_dev *priv)
{
	lockdep_assert_held(&priv->lock);
	if (!path->dead && list_empty(&path->busy))
		list_add_tail(&path->busy, &priv->paths_busy);
}

/* ... and ask the fabric for it, when it is its turn */
static void path_want_answer(struct ipoib_path *path, struct ipoib_dev *priv)
{
	path->ask = true;
	path_make_busy(path, priv);
}

static void path_kick(struct ipoib_dev *priv)
{
	mod_delayed_work(priv->wq, &priv->path_work, 0);
}

/* Anybody can make the network stack send to a GID that does not exist, by ARP or ND
 * that claims it. There is always room for a peer that has proven its GID of late.
 */
static struct ipoib_path *path_create(struct ipoib_dev *priv, const union ib_gid *gid)
{
	struct ipoib_heard heard = {};
	struct ipoib_path *path;

	ipoib_learn_find(priv, gid, &heard);
	if (!path_may_learn(priv))
		heard.lid = 0;
	if (!heard.lid && atomic_read(&priv->paths.nelems) >= IPOIB_PATHS_MAX)
		return ERR_PTR(-ENOSPC);
	path = kzalloc(sizeof(*path), GFP_ATOMIC);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->gid = *gid;
	path->heard = heard;
	path->needs_grh = heard.needs_grh;
	INIT_LIST_HEAD(&path->busy);
	INIT_LIST_HEAD(&path->waits);
	__skb_queue_head_init(&path->queue);
	path->used = jiffies;
	path->retry_at = jiffies;
	path->doubted = jiffies - IPOIB_PATH_DOUBT;
	if (rhashtable_insert_fast(&priv->paths, &path->node, paths_params)) {
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
	lockdep_assert_held(&priv->lock);
	if (path->dead) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_PATH_FAILED);
		return;
	}
	if (skb_queue_len(&path->queue) >= IPOIB_PATH_QUEUE_MAX ||
	    priv->paths_queued + skb->truesize > IPOIB_PATHS_QUEUED_MAX) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_PATH_FULL);
		return;
	}
	priv->paths_queued += skb->truesize;
	__skb_queue_tail(&path->queue, skb);
}

/* Takes all that waits for a path */
static void path_dequeue(struct ipoib_dev *priv, struct ipoib_path *path,
			 struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	lockdep_assert_held(&priv->lock);
	skb_queue_walk(&path->queue, skb)
		priv->paths_queued -= skb->truesize;
	skb_queue_splice_tail_init(&path->queue, queue);
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
	union ib_gid gid;

	spin_lock_bh(&priv->lock);
	if (priv->link != IPOIB_LINK_RUNNING) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_CARRIER);
		goto out;
	}
	if (!path)
		path = rhashtable_lookup_fast(&priv->paths, hwaddr->gid, paths_params);
	if (!path) {
		memcpy(&gid, hwaddr->gid, sizeof(gid));
		path = path_create(priv, &gid);
	}
	if (IS_ERR(path)) {
		ipoib_tx_drop(priv, skb, PTR_ERR(path) == -ENOSPC ?
			      IPOIB_STAT_TX_PATH_LIMIT : IPOIB_STAT_TX_NO_MEMORY);
		goto out;
	}
	ah = rcu_dereference_protected(path->ah, lockdep_is_held(&priv->lock));
	if (!ah)
		path_queue(priv, path, skb);
out:
	spin_unlock_bh(&priv->lock);
	return ah;
}

/* The last packet's path is the next one's, mostly. It is as good as any that is found in
 * the table, as long as none has left that since: RCU holds it from then on.
 */
static struct ipoib_path *path_lookup(struct ipoib_tx_ring *tx, const u8 *gid)
{
	struct ipoib_dev *priv = tx->priv;
	/* Pairs with path_unhash(): who sees its count does not find its path any more */
	u32 removals = smp_load_acquire(&priv->path_removals);

	if (likely(tx->path && tx->path_removals == removals &&
		   ipoib_gid_equal(tx->path->gid.raw, gid)))
		return tx->path;
	tx->path = rhashtable_lookup(&priv->paths, gid, paths_params);
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
struct ipoib_ah *ipoib_path_xmit(struct ipoib_tx_ring *tx, struct sk_buff *skb)
{
	const struct ipoib_hwaddr *hwaddr = (struct ipoib_hwaddr *)skb->data;
	unsigned long now = jiffies;
	struct ipoib_path *path;
	struct ipoib_ah *ah;

	path = path_lookup(tx, hwaddr->gid);
	if (likely(path)) {
		/* Not written by each packet, so that its cache line stays shared */
		if (READ_ONCE(path->used) != now)
			WRITE_ONCE(path->used, now);
		ah = rcu_dereference(path->ah);
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

	ib_get_cached_lmc(priv->ibdev, priv->port, &lmc);
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
	path = rhashtable_lookup(&priv->paths, gid, paths_params);
	ah = path ? rcu_dereference(path->ah) : NULL;
	if (ah)
		match = ipoib_same_port(priv, ah->dlid, lid) ? IPOIB_PATH_SAME : IPOIB_PATH_OTHER;
	rcu_read_unlock();
	return match;
}

static bool path_has_answer(const struct ipoib_path *path)
{
	return rcu_access_pointer(path->ah) && !READ_ONCE(path->stopgap);
}

/* Something contradicts the path. Whoever it is that does so, the fabric is not asked
 * again and again.
 */
static void path_doubt(struct ipoib_dev *priv, struct ipoib_path *path)
{
	lockdep_assert_held(&priv->lock);
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

	spin_lock(&priv->lock);
	path = rhashtable_lookup_fast(&priv->paths, gid, paths_params);
	if (path)
		path_doubt(priv, path);
	spin_unlock(&priv->lock);
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
	lockdep_assert_held(&priv->lock);
	if (heard->needs_grh)
		WRITE_ONCE(path->needs_grh, true);
	if (path_lacks_grh(rcu_dereference_protected(path->ah, true), heard)) {
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
	path_make_busy(path, priv);
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
	path = rhashtable_lookup(&priv->paths, gid, paths_params);
	if (!path)
		goto out;
	ah = rcu_dereference(path->ah);
	if (ah && ipoib_same_port(priv, ah->dlid, heard->lid) && !path_lacks_grh(ah, heard))
		goto out;
	spin_lock(&priv->lock);
	path_hear(priv, path, heard);
	spin_unlock(&priv->lock);
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
	spin_lock_bh(&priv->lock);
	path->request = IPOIB_REQUEST_ANSWERED;
	path_make_busy(path, priv);
	path_kick(priv);
	spin_unlock_bh(&priv->lock);
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
	query->asked = jiffies;
	path->query = query;
	spin_lock_bh(&priv->lock);
	path->request = IPOIB_REQUEST_SENT;
	path->ask = false;
	spin_unlock_bh(&priv->lock);
	ipoib_count(priv, IPOIB_STAT_PATH_QUERIES);
	trace_ipoib_path_state(priv, path, -EINPROGRESS);
	ipoib_debug(priv, "asking for a path to %pI6\n", path->gid.raw);
	err = priv->fabric->resolve(query);
	if (!err) {
		priv->paths_asked++;
		return 0;
	}
	path->request = IPOIB_REQUEST_NONE;
	path->query = NULL;
	query_free(query);
	return err;
}

/* How many are asked for at once follows how fast the answers come, as a TCP window does.
 * An SA that is asked by all hosts of a large fabric at once gets each question time and
 * again otherwise, since ib_sa repeats those whose answers are late.
 */
static void paths_pace(struct ipoib_dev *priv, const struct ipoib_path_query *query)
{
	if (time_after(jiffies, query->asked + IPOIB_PATH_SLOW))
		priv->paths_window = max(priv->paths_window / 2, 1U);
	else
		priv->paths_window = min(priv->paths_window + 1, (u32)IPOIB_PATH_QUERIES_MAX);
}

/* Frees an answered query with what the answer holds */
static int path_take_answer(struct ipoib_dev *priv, struct ipoib_path *path,
			    struct ipoib_ah **ah)
{
	struct ipoib_path_query *query = path->query;
	int err;

	wait_for_completion(&query->done);
	priv->paths_asked--;
	paths_pace(priv, query);
	path->query = NULL;
	path->request = IPOIB_REQUEST_NONE;
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
	ipoib_debug(priv, "path to %pI6: LID %#x, SL %u%s\n", path->gid.raw, ah->dlid, ah->sl,
		    path->stopgap ? ", by what a packet told" : "");
	ipoib_ah_replace(priv, &path->ah, ah);
	trace_ipoib_path_state(priv, path, 0);
	spin_lock_bh(&priv->lock);
	path_dequeue(priv, path, &queue);
	spin_unlock_bh(&priv->lock);
	ipoib_queue_resend(priv, &queue);
}

/* There is nothing more to ask the fabric about the path */
static void path_settle(struct ipoib_dev *priv, struct ipoib_path *path)
{
	path->failures = 0;
	list_del_init(&path->waits);
	spin_lock_bh(&priv->lock);
	path->ask = false;
	path->heard.lid = 0;
	spin_unlock_bh(&priv->lock);
}

static bool ah_leads_elsewhere(struct ipoib_dev *priv, const struct ipoib_ah *ah,
			       const struct ipoib_ah *other)
{
	return !ipoib_same_port(priv, ah->dlid, other->dlid) || ah->sl != other->sl;
}

static void path_succeeded(struct ipoib_dev *priv, struct ipoib_path *path,
			   struct ipoib_ah *ah)
{
	const struct ipoib_ah *old = rcu_dereference_protected(path->ah, true);

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
	ipoib_debug(priv, "no path to %pI6: error %d\n", path->gid.raw, err);
	if (net_ratelimit())
		netdev_warn(priv->netdev, "no path to %pI6: error %d\n", path->gid.raw, err);
	path->retry_at = jiffies + ipoib_backoff(path->failures);
	if (path->failures < U8_MAX)
		path->failures++;
	spin_lock_bh(&priv->lock);
	path->ask = true;
	path_purge(priv, path);
	spin_unlock_bh(&priv->lock);
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
	spin_lock_bh(&priv->lock);
	*heard = path->heard;
	path->heard.lid = 0;
	spin_unlock_bh(&priv->lock);
	return heard->lid && !path_has_answer(path);
}

static struct ipoib_ah *stopgap_ah(struct ipoib_dev *priv, const struct ipoib_path *path,
				   const struct ipoib_heard *heard)
{
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = priv->fabric->heard_attr(priv, &path->gid, heard, &attr);
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

/* Puts a path that the fabric is to be asked for among those that wait for their time,
 * or for their turn
 */
static void path_await(struct ipoib_dev *priv, struct ipoib_path *path)
{
	if (!path->ask || path->request != IPOIB_REQUEST_NONE)
		return;
	if (time_before_eq(path->retry_at, jiffies)) {
		list_move_tail(&path->waits, &priv->paths_waiting);
		return;
	}
	if (list_empty(&priv->paths_failing) || time_before(path->retry_at, priv->paths_retry_at))
		priv->paths_retry_at = path->retry_at;
	list_move_tail(&path->waits, &priv->paths_failing);
}

/* Takes the path one step on */
static void path_serve(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct ipoib_heard heard;

	if (path->request == IPOIB_REQUEST_ANSWERED)
		path_serve_answer(priv, path);
	if (path_take_heard(priv, path, &heard))
		path_learn(priv, path, &heard);
	path_await(priv, path);
}

static struct ipoib_path *path_next_busy(struct ipoib_dev *priv, struct list_head *busy)
{
	struct ipoib_path *path;

	spin_lock_bh(&priv->lock);
	path = list_first_entry_or_null(busy, struct ipoib_path, busy);
	if (path)
		list_del_init(&path->busy);
	spin_unlock_bh(&priv->lock);
	return path;
}

/* Those that are busy again meanwhile are the next run's */
static void paths_serve(struct ipoib_dev *priv)
{
	struct ipoib_path *path;
	LIST_HEAD(busy);

	spin_lock_bh(&priv->lock);
	list_splice_init(&priv->paths_busy, &busy);
	spin_unlock_bh(&priv->lock);
	while ((path = path_next_busy(priv, &busy)))
		path_serve(priv, path);
}

static void path_unhash(struct ipoib_dev *priv, struct ipoib_path *path)
{
	spin_lock_bh(&priv->lock);
	rhashtable_remove_fast(&priv->paths, &path->node, paths_params);
	/* Pairs with path_lookup(), which sees this before it can see the path freed */
	smp_store_release(&priv->path_removals, priv->path_removals + 1);
	path->dead = true;
	list_del_init(&path->busy);
	path_purge(priv, path);
	spin_unlock_bh(&priv->lock);
}

static void path_free(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct ipoib_ah *ah = NULL;

	list_del_init(&path->waits);
	if (path->query && !path_take_answer(priv, path, &ah))
		ipoib_ah_retire(ah);
	ipoib_ah_replace(priv, &path->ah, NULL);
	kfree_rcu(path, rcu);
}

static void path_forget(struct ipoib_dev *priv, struct ipoib_path *path)
{
	path_unhash(priv, path);
	path_free(priv, path);
}

/* One that leads nowhere is asked for again only if there is something to send */
static bool path_is_wanted(const struct ipoib_path *path)
{
	return rcu_access_pointer(path->ah) || !skb_queue_empty_lockless(&path->queue) ||
	       time_before_eq(jiffies, READ_ONCE(path->used) + IPOIB_PATH_WANTED);
}

/* Now and then, not by each answer: there may be thousands of failing paths */
static void paths_retry(struct ipoib_dev *priv)
{
	unsigned long now = jiffies, soonest = now + IPOIB_PATH_EXPIRE;
	struct ipoib_path *path, *next;

	if (time_before(now, priv->paths_retry_at))
		return;
	list_for_each_entry_safe(path, next, &priv->paths_failing, waits) {
		if (time_after(path->retry_at, now))
			soonest = time_before(path->retry_at, soonest) ? path->retry_at : soonest;
		else if (path_is_wanted(path))
			list_move_tail(&path->waits, &priv->paths_waiting);
		else
			path_forget(priv, path);
	}
	if (time_before(soonest, now + IPOIB_PATH_RETRY_PACE))
		soonest = now + IPOIB_PATH_RETRY_PACE;
	priv->paths_retry_at = soonest;
}

/* As many as the window has room for, those first that have waited longest */
static void paths_ask(struct ipoib_dev *priv)
{
	struct ipoib_path *path;
	int err;

	while (priv->paths_asked < priv->paths_window) {
		path = list_first_entry_or_null(&priv->paths_waiting, struct ipoib_path, waits);
		if (!path)
			return;
		list_del_init(&path->waits);
		err = path_ask(priv, path);
		if (!err)
			continue;
		path_failed(priv, path, err);
		path_await(priv, path);
	}
}

/* What it costs depends on how many paths have news, not on how many wait */
static void path_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, path_work.work);
	long wait;

	paths_serve(priv);
	paths_retry(priv);
	paths_ask(priv);
	if (list_empty(&priv->paths_failing))
		return;
	wait = priv->paths_retry_at - jiffies;
	queue_delayed_work(priv->wq, &priv->path_work, max(wait, 0L));
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
	return time_after(jiffies, READ_ONCE(path->used) + IPOIB_PATH_IDLE);
}

static void path_collect(void *entry, void *context)
{
	struct path_removal *removal = context;
	struct ipoib_path *path = entry;

	if (!removal->filter(path))
		return;
	path_unhash(removal->priv, path);
	list_add(&path->busy, &removal->gone);
}

static void paths_remove(struct ipoib_dev *priv, path_filter filter)
{
	struct path_removal removal = {
		.priv = priv,
		.filter = filter,
		.gone = LIST_HEAD_INIT(removal.gone),
	};
	struct ipoib_path *path, *next;

	ipoib_table_walk(&priv->paths, path_collect, &removal);
	list_for_each_entry(path, &removal.gone, busy)
		if (path->query)
			priv->fabric->cancel(path->query);
	list_for_each_entry_safe(path, next, &removal.gone, busy) {
		list_del_init(&path->busy);
		path_free(priv, path);
	}
}

/**
 * ipoib_paths_flush() - forget all paths
 * @priv: the device
 *
 * Queries under way are cancelled and waited for; packets that wait are
 * dropped and counted. A packet that comes later makes its path anew.
 *
 * Context: control path.
 */
void ipoib_paths_flush(struct ipoib_dev *priv)
{
	paths_remove(priv, path_any);
}

static void path_expire_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, path_expire_work.work);

	paths_remove(priv, path_is_idle);
	queue_delayed_work(priv->wq, &priv->path_expire_work, IPOIB_PATH_EXPIRE);
}

static void path_refresh(void *entry, void *context)
{
	struct ipoib_path *path = entry;
	struct ipoib_dev *priv = context;

	spin_lock_bh(&priv->lock);
	if (path->request == IPOIB_REQUEST_NONE) {
		path->retry_at = jiffies + get_random_u32_below(HZ / 4);
		path_want_answer(path, priv);
	}
	spin_unlock_bh(&priv->lock);
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
	ipoib_table_walk(&priv->paths, path_refresh, priv);
	path_kick(priv);
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

	err = rhashtable_init(&priv->paths, &paths_params);
	if (err)
		return err;
	priv->paths_window = IPOIB_PATH_QUERIES;
	INIT_LIST_HEAD(&priv->paths_busy);
	INIT_LIST_HEAD(&priv->paths_waiting);
	INIT_LIST_HEAD(&priv->paths_failing);
	INIT_DELAYED_WORK(&priv->path_work, path_work);
	INIT_DELAYED_WORK(&priv->path_expire_work, path_expire_work);
	queue_delayed_work(priv->wq, &priv->path_expire_work, IPOIB_PATH_EXPIRE);
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
	cancel_delayed_work_sync(&priv->path_expire_work);
	cancel_delayed_work_sync(&priv->path_work);
	rhashtable_destroy(&priv->paths);
}
