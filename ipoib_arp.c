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
 */
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_PATH_IDLE		(300 * HZ)	/* unused for so long: freed */
#define IPOIB_PATH_EXPIRE	(60 * HZ)	/* how often that is looked at */
#define IPOIB_PATH_QUERIES	8		/* under way at once, to begin with ... */
#define IPOIB_PATH_QUERIES_MAX	64		/* ... and at most */
#define IPOIB_PATH_SLOW		(HZ / 4)	/* an answer later than that is slow */
#define IPOIB_PATH_DOUBT	(10 * HZ)	/* another LID is looked into so often */
#define IPOIB_PATH_DENIALS	3		/* in a row, before a claim is given up */
#define IPOIB_PATH_CONFIRM	(5 * HZ)	/* a learned path has to be in use so late ... */
#define IPOIB_PATH_CONFIRM_PACE	(HZ / 10)	/* ... and is asked for after so long a path, ... */
#define IPOIB_PATH_CONFIRM_SLOW	(10 * HZ)	/* ... but not longer */
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

/* Whether a path may be made of what a packet said. Who verifies ARP does not believe a
 * GID that is only claimed.
 */
static bool path_believes(const struct ipoib_dev *priv, const struct ipoib_heard *heard)
{
	return READ_ONCE(priv->learn_paths) && priv->fabric->heard_attr &&
	       (heard->proven || !READ_ONCE(priv->arp_verify));
}

/* Has the peer spoken of late? */
static void path_look_up(struct ipoib_dev *priv, const union ib_gid *gid,
			 struct ipoib_heard *heard)
{
	if (!ipoib_learn_find(priv, gid, heard) || !path_believes(priv, heard))
		*heard = (struct ipoib_heard) {};
}

/* Counts the paths that neither the fabric nor the HCA vouches for */
static void path_set_unproven(struct ipoib_dev *priv, struct ipoib_path *path, bool unproven)
{
	lockdep_assert_held(&priv->lock);
	priv->paths_unproven += unproven - path->unproven;
	path->unproven = unproven;
}

/* Anybody can make the network stack send to a GID that does not exist, by ARP or ND
 * that claims it. There is always room for a peer that the HCA vouches for.
 */
static struct ipoib_path *path_create(struct ipoib_dev *priv, const union ib_gid *gid)
{
	struct ipoib_heard heard;
	struct ipoib_path *path;

	path_look_up(priv, gid, &heard);
	if (!heard.proven && priv->paths_unproven >= IPOIB_PATHS_UNPROVEN_MAX)
		return ERR_PTR(-ENOSPC);
	path = kzalloc(sizeof(*path), GFP_ATOMIC);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->gid = *gid;
	path->heard = heard;
	INIT_LIST_HEAD(&path->busy);
	INIT_LIST_HEAD(&path->waits);
	INIT_LIST_HEAD(&path->unconfirmed);
	__skb_queue_head_init(&path->queue);
	path->used = jiffies;
	path->retry_at = jiffies;
	path->doubted = jiffies - IPOIB_PATH_DOUBT;
	if (rhashtable_insert_fast(&priv->paths, &path->node, paths_params)) {
		kfree(path);
		return ERR_PTR(-ENOMEM);
	}
	path_set_unproven(priv, path, true);
	path_want_answer(path, priv);
	path_kick(priv);
	return path;
}

/* Keeps a packet until the path has an AH */
static void path_queue(struct ipoib_dev *priv, struct ipoib_path *path, struct sk_buff *skb)
{
	if (path->dead)
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_PATH_FAILED);
	else if (skb_queue_len(&path->queue) >= IPOIB_PATH_QUEUE_MAX)
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_PATH_FULL);
	else
		__skb_queue_tail(&path->queue, skb);
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
 * ipoib_path_compare() - hold a LID against what the fabric says of a GID
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
	ah = path && !READ_ONCE(path->learned) ? rcu_dereference(path->ah) : NULL;
	if (ah)
		match = ipoib_same_port(priv, ah->dlid, lid) ? IPOIB_PATH_SAME : IPOIB_PATH_OTHER;
	rcu_read_unlock();
	return match;
}

/* A path follows what the HCA vouches for. One without an AH, or with one that was
 * learned, follows a mere claim, too, unless the fabric has said that there is no such
 * path. What is not believed is a reason to ask.
 */
static void path_doubt(struct ipoib_dev *priv, struct ipoib_path *path,
		       const struct ipoib_heard *heard)
{
	bool weak = path->learned || !rcu_access_pointer(path->ah);

	lockdep_assert_held(&priv->lock);
	if (path->dead)
		return;
	if (path_believes(priv, heard) && (heard->proven || (weak && !path->refused))) {
		path->heard = *heard;
	} else {
		if (time_before(jiffies, path->doubted + IPOIB_PATH_DOUBT))
			return;
		path->doubted = jiffies;
		path->ask = true;
	}
	path_make_busy(path, priv);
	path_kick(priv);
}

/**
 * ipoib_path_heard() - a packet says where a GID is
 * @priv: the device
 * @gid: its sender's
 * @heard: where it came from
 *
 * Is there a path to it that leads elsewhere, or nowhere, then it is mended.
 *
 * Context: the receive poll.
 */
void ipoib_path_heard(struct ipoib_dev *priv, const union ib_gid *gid,
		      const struct ipoib_heard *heard)
{
	const struct ipoib_ah *ah;
	struct ipoib_path *path;

	if (!READ_ONCE(priv->learn_paths))
		return;
	rcu_read_lock();
	path = rhashtable_lookup(&priv->paths, gid, paths_params);
	if (!path)
		goto out;
	ah = rcu_dereference(path->ah);
	if (ah && ipoib_same_port(priv, ah->dlid, heard->lid))
		goto out;
	spin_lock(&priv->lock);
	path_doubt(priv, path, heard);
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
	path->failures = 0;
	ipoib_debug(priv, "path to %pI6: LID %#x, SL %u%s\n", path->gid.raw, ah->dlid, ah->sl,
		    path->learned ? ", not confirmed" : "");
	ipoib_ah_replace(priv, &path->ah, ah);
	trace_ipoib_path_state(priv, path, 0);
	list_del_init(&path->waits);
	spin_lock_bh(&priv->lock);
	path->heard.lid = 0;
	path->refused = false;
	path->ask = false;
	path_set_unproven(priv, path, path->learned && !path->proven);
	skb_queue_splice_init(&path->queue, &queue);
	spin_unlock_bh(&priv->lock);
	ipoib_queue_resend(priv, &queue);
}

static void path_succeeded(struct ipoib_dev *priv, struct ipoib_path *path,
			   struct ipoib_ah *ah)
{
	const struct ipoib_ah *old = rcu_dereference_protected(path->ah, true);

	if (path->learned && old->dlid != ah->dlid)
		ipoib_count(priv, IPOIB_STAT_PATHS_CORRECTED);
	WRITE_ONCE(path->learned, false);
	list_del_init(&path->unconfirmed);
	ipoib_learn_confirmed(priv, &path->gid, ah->dlid);
	path_publish(priv, path, ah);
}

/* There is no such path, whatever a packet claimed. What the HCA vouches for is kept, and
 * so is a claim at first: an SA that has just begun denies what it will know soon.
 */
static void path_denied(struct ipoib_dev *priv, struct ipoib_path *path)
{
	spin_lock_bh(&priv->lock);
	path->refused = true;
	spin_unlock_bh(&priv->lock);
	if (!path->learned || path->proven || path->failures < IPOIB_PATH_DENIALS)
		return;
	ipoib_count(priv, IPOIB_STAT_PATHS_CORRECTED);
	WRITE_ONCE(path->learned, false);
	list_del_init(&path->unconfirmed);
	ipoib_ah_replace(priv, &path->ah, NULL);
	spin_lock_bh(&priv->lock);
	path_set_unproven(priv, path, true);
	spin_unlock_bh(&priv->lock);
}

/* The path is to be asked for again. An AH that it has is kept, since an SA that
 * does not answer is no sign that the path is gone.
 */
static void path_failed(struct ipoib_dev *priv, struct ipoib_path *path, int err)
{
	if (err == -EINVAL)
		path_denied(priv, path);
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
	ipoib_queue_purge(priv, &path->queue, IPOIB_STAT_TX_PATH_FAILED);
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
	return heard->lid;
}

static struct ipoib_ah *heard_ah(struct ipoib_dev *priv, const struct ipoib_heard *heard)
{
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = priv->fabric->heard_attr(priv, heard, &attr);
	if (err)
		return ERR_PTR(err);
	ah = ipoib_ah_create(priv, &attr);
	rdma_destroy_ah_attr(&attr);
	return ah;
}

/* The path of what the peer said. That is in use at once; the fabric is asked when the
 * rush is over, if the path is still in use then.
 */
static void path_learn(struct ipoib_dev *priv, struct ipoib_path *path,
		       const struct ipoib_heard *heard)
{
	struct ipoib_ah *ah = heard_ah(priv, heard);

	if (IS_ERR(ah))
		return;
	ipoib_count(priv, IPOIB_STAT_PATHS_LEARNED);
	WRITE_ONCE(path->learned, true);
	path->proven = heard->proven;
	path->confirm_at = jiffies + IPOIB_PATH_CONFIRM +
			   get_random_u32_below(IPOIB_PATH_CONFIRM);
	if (list_empty(&path->unconfirmed))
		list_add_tail(&path->unconfirmed, &priv->paths_unconfirmed);
	queue_delayed_work(priv->wq, &priv->path_confirm_work, IPOIB_PATH_CONFIRM);
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
	else if (path_take_heard(priv, path, &heard))
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
	path_set_unproven(priv, path, false);
	list_del_init(&path->busy);
	ipoib_queue_purge(priv, &path->queue, IPOIB_STAT_TX_PATH_FAILED);
	spin_unlock_bh(&priv->lock);
}

static void path_free(struct ipoib_dev *priv, struct ipoib_path *path)
{
	struct ipoib_ah *ah = NULL;

	list_del_init(&path->unconfirmed);
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

/* A path that is not used any more is let go: it costs nothing to learn it again. Returns
 * whether the path is still to be confirmed.
 */
static bool path_confirmable(struct ipoib_dev *priv, struct ipoib_path *path)
{
	list_del_init(&path->unconfirmed);
	if (path->query)
		return false;
	if (!time_after(jiffies, READ_ONCE(path->used) + IPOIB_PATH_CONFIRM))
		return true;
	path_forget(priv, path);
	return false;
}

static struct ipoib_path *path_first(struct list_head *unconfirmed)
{
	return list_first_entry_or_null(unconfirmed, struct ipoib_path, unconfirmed);
}

/* Which of them are in use, as soon as they are old enough: these wait for their turn */
static void paths_look(struct ipoib_dev *priv)
{
	struct ipoib_path *path;

	while ((path = path_first(&priv->paths_unconfirmed)) &&
	       time_after_eq(jiffies, path->confirm_at)) {
		if (path_confirmable(priv, path))
			list_add_tail(&path->unconfirmed, &priv->paths_confirmable);
		cond_resched();
	}
}

/* Who has many paths has them to hosts with as many: the more there are, the longer each
 * waits, so that a fabric in which all talk to all does not ask its SA more often.
 */
static unsigned long confirm_pace(struct ipoib_dev *priv)
{
	unsigned long pace = IPOIB_PATH_CONFIRM_PACE * atomic_read(&priv->paths.nelems);

	pace = clamp_t(unsigned long, pace, IPOIB_PATH_CONFIRM_PACE, IPOIB_PATH_CONFIRM_SLOW);
	return pace / 2 + get_random_u32_below(pace);
}

static void paths_ask_next(struct ipoib_dev *priv)
{
	struct ipoib_path *path;

	while ((path = path_first(&priv->paths_confirmable))) {
		if (path_confirmable(priv, path)) {
			spin_lock_bh(&priv->lock);
			path_want_answer(path, priv);
			spin_unlock_bh(&priv->lock);
			path_kick(priv);
			priv->paths_confirm_at = get_jiffies_64() + confirm_pace(priv);
			return;
		}
		cond_resched();
	}
}

/* The fabric is asked for one path at a time, for there may be thousands */
static void path_confirm_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, path_confirm_work.work);
	long wait = IPOIB_PATH_CONFIRM;
	struct ipoib_path *path;

	paths_look(priv);
	if (time_after_eq64(get_jiffies_64(), priv->paths_confirm_at))
		paths_ask_next(priv);
	path = path_first(&priv->paths_unconfirmed);
	if (path)
		wait = min_t(long, wait, path->confirm_at - jiffies);
	else if (list_empty(&priv->paths_confirmable))
		return;
	if (!list_empty(&priv->paths_confirmable))
		wait = min_t(s64, wait, priv->paths_confirm_at - get_jiffies_64());
	queue_delayed_work(priv->wq, &priv->path_confirm_work, max(wait, 1L));
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
 * ipoib_paths_refresh() - have all paths confirmed by the fabric
 * @priv: the device
 *
 * Each keeps its AH until the answer comes: most will not have changed. What packets
 * have said is forgotten: the LIDs may be others now. The
 * queries are spread over a quarter of a second, for on a large fabric every
 * port asks at the same time.
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
	INIT_DELAYED_WORK(&priv->path_confirm_work, path_confirm_work);
	INIT_LIST_HEAD(&priv->paths_unconfirmed);
	INIT_LIST_HEAD(&priv->paths_confirmable);
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
	cancel_delayed_work_sync(&priv->path_confirm_work);
	cancel_delayed_work_sync(&priv->path_expire_work);
	cancel_delayed_work_sync(&priv->path_work);
	rhashtable_destroy(&priv->paths);
}
