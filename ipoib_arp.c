// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Resolves the GIDs of link-layer addresses to paths.
 *
 * The kernel's neighbour code maps IP addresses to 20-octet link-layer addresses by ARP and ND.
 * This file takes the remaining step, from the GID in the link-layer address to a path (RFC 4391
 * section 9.1). The first packet to a GID creates the path. From then on, a path has an AH, or a
 * query to the fabric is outstanding or scheduled. A path is freed when no packet has used it for
 * some time, and sooner if it has no AH.
 *
 * Replies to a peer that has just sent a packet need not wait for the fabric: they use a stopgap,
 * which is an AH made from the addresses of that packet. The packet's GRH proves who sent it (see
 * ipoib_learn.c). The fabric is queried nevertheless, and its answer replaces the stopgap. After
 * that, received packets do not change the path: one from another port only causes a new query.
 */
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_PATH_IDLE		(300 * HZ)	/* paths unused for this time are freed */
#define IPOIB_PATH_EXPIRE	(60 * HZ)	/* interval of the scan for them */
#define IPOIB_PATH_DOUBT	(10 * HZ)	/* minimum interval of queries caused by packets */
#define IPOIB_PATH_WANTED	HZ		/* failing paths unused for this time are freed */
#define IPOIB_PATH_STALE	(3 * HZ)	/* as long as the stack waits for an ARP reply */

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

/* The caller holds ipoib_dests.lock */
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

/* Returns whether stopgaps may be made from received packets */
static bool path_may_learn(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->learn_paths) && priv->port->fabric->heard_attr;
}

/* Has path_work() query the fabric for a path as soon as the window allows */
static void path_want_answer(struct ipoib_path *path, struct ipoib_dev *priv)
{
	path->ask = true;
	ipoib_dest_make_busy(&priv->paths.dests, &path->dest);
}

static void path_kick(struct ipoib_dev *priv)
{
	mod_delayed_work(priv->wq, &priv->paths.work, 0);
}

/* Any host can make the network stack send to GIDs that do not exist, by ARP or ND packets that
 * claim them. Hence the number of paths is limited, except for peers whose packets have recently
 * proven their GID.
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

/* Queues a packet until the path has an AH. Many paths may be waiting for an AH at the same time,
 * so the memory in all their queues is limited as well.
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

/* Moves all packets that wait for a path to the end of @queue */
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

/* Most packets use the same path as the packet before them. The cached path is valid as long as no
 * path has been removed from the table since it was looked up. A path that is removed after the
 * check is not freed before an RCU grace period has passed.
 */
static struct ipoib_path *path_lookup(struct ipoib_txq *tx, const u8 *gid)
{
	struct ipoib_dev *priv = tx->priv;
	/* Pairs with path_unhash(): a reader of its new count cannot find the removed path */
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
 * @tx: the TX queue that sends the packet
 * @skb: the packet; begins with struct ipoib_header
 *
 * Creates the path if there is none.
 *
 * Context: RCU read side, BHs disabled, the lock of the TX queue held.
 * Return: the AH, or NULL if the packet was consumed: queued until there is an AH, or dropped.
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
 * ipoib_path_compare() - compare a LID with the path to a GID
 * @priv: the device
 * @gid: the peer's GID
 * @lid: LID that a packet of this peer came from
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

/**
 * ipoib_path_differs() - tell whether the fabric has another path to a GID than one in use
 * @priv: the device
 * @gid: the GID, 16 octets
 * @lid: LID of the path in use
 * @sl: SL of the path in use
 *
 * Context: any but hard interrupt.
 * Return: true if the fabric has answered with another SL, or with the LID of another port.
 */
bool ipoib_path_differs(struct ipoib_dev *priv, const void *gid, u32 lid, u8 sl)
{
	const struct ipoib_path *path;
	const struct ipoib_ah *ah;
	bool differs;

	rcu_read_lock();
	path = path_by_gid_rcu(priv, gid);
	ah = path ? rcu_dereference(path->dest.ah) : NULL;
	differs = ah && !ah->learned && (ah->sl != sl || !ipoib_same_port(priv, ah->dlid, lid));
	rcu_read_unlock();
	return differs;
}

static void path_prepare(struct ipoib_dev *priv, const void *gid)
{
	spin_lock_bh(&priv->paths.dests.lock);
	if (ipoib_link_runs(priv) && !path_by_gid(priv, gid))
		path_create(priv, gid);
	spin_unlock_bh(&priv->paths.dests.lock);
}

/* Returns the path's MTU. If the SA has not said it, that of the broadcast group is used, which all
 * its members support.
 */
static enum ib_mtu path_mtu(const struct ipoib_dev *priv, const struct ipoib_ah *ah)
{
	if (ah->mtu >= IB_MTU_256 && ah->mtu <= priv->port->max_mtu)
		return ah->mtu;
	return ib_mtu_int_to_enum(READ_ONCE(priv->mtu) + IPOIB_ENCAP_LEN);
}

/* A path with a GRH to a port of this subnet may have a hop limit of 0. In a record, that would
 * mean that there is no GRH.
 */
static void path_fill_record(struct ipoib_dev *priv, const struct ipoib_path *path,
			     const struct ipoib_ah *ah, struct sa_path_rec *rec)
{
	rec->dgid = path->dest.gid;
	rec->sgid = priv->local_gid;
	rec->pkey = cpu_to_be16(priv->pkey);
	rec->sl = ah->sl;
	rec->rate = ah->rate;
	rec->mtu = path_mtu(priv, ah);
	rec->mtu_selector = IB_SA_EQ;
	rec->rate_selector = IB_SA_EQ;
	rec->packet_life_time_selector = IB_SA_EQ;
	rec->reversible = 1;
	if (ah->grh)
		rec->hop_limit = max_t(u8, ah->hop_limit, 1);
	sa_path_set_dlid(rec, ah->dlid);
}

/**
 * ipoib_path_record() - make a path record from a path that is known
 * @priv: the device
 * @gid: the peer's GID, 16 octets
 * @rec: filled in, except for the LID of the device's own port; its type is set
 *
 * If the path is not known, the fabric is queried for it, as for a packet. A stopgap is not used,
 * unless trust_learned is set: it lacks the rate and the MTU, and its SL is the peer's.
 *
 * Context: any but hard interrupt.
 * Return: 0; -EOPNOTSUPP on Omni-Path; or -EAGAIN if the path is not known yet.
 */
int ipoib_path_record(struct ipoib_dev *priv, const void *gid, struct sa_path_rec *rec)
{
	const struct ipoib_path *path;
	const struct ipoib_ah *ah;

	if (rdma_cap_opa_ah(priv->ibdev, priv->port->number))
		return -EOPNOTSUPP;
	rcu_read_lock();
	path = path_by_gid_rcu(priv, gid);
	ah = path ? rcu_dereference(path->dest.ah) : NULL;
	if (ah && ah->learned && !READ_ONCE(priv->trust_learned))
		ah = NULL;
	if (ah)
		path_fill_record(priv, path, ah, rec);
	rcu_read_unlock();
	if (!path)
		path_prepare(priv, gid);
	return ah ? 0 : -EAGAIN;
}

static bool path_has_answer(const struct ipoib_path *path)
{
	return rcu_access_pointer(path->dest.ah) && !READ_ONCE(path->stopgap);
}

/* A received packet contradicts the path. Any host can send such packets, so the rate of the
 * queries that follow is limited.
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
 * ipoib_path_doubt() - query the fabric whether a path is still right
 * @priv: the device
 * @gid: the peer's GID
 *
 * Does nothing if there is no path to the GID. The query is asynchronous, and there is at most
 * one per path within ten seconds.
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

/* Returns whether the peer does not receive the path's packets because they lack a GRH */
static bool path_lacks_grh(const struct ipoib_ah *ah, const struct ipoib_heard *heard)
{
	return ah && heard->needs_grh && !ah->grh;
}

/* Only another answer of the fabric replaces the fabric's answer. If that answer came before it
 * was known that the peer needs a GRH, it is incomplete: the fabric is queried again.
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
 * ipoib_path_heard() - use the address of a received packet for the path to its sender
 * @priv: the device
 * @gid: the sender's GID, from the GRH
 * @heard: where the packet came from
 *
 * If the path to the GID has no AH, or has a stopgap that leads to another port, it gets a
 * stopgap made from @heard. If its AH is the fabric's answer, that answer remains, but a GRH
 * is added if the peer needs one. Does nothing if there is no path to the GID.
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
 * ipoib_path_answer() - deliver the fabric's answer to ipoib_fabric_ops.resolve
 * @query: the query; its attr is valid if @status is 0
 * @status: 0 or a negative error
 *
 * Called exactly once per query. The control path may free the query afterwards.
 *
 * Context: any but hard interrupt.
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

static void path_no_ask(struct ipoib_dev *priv, struct ipoib_path *path)
{
	spin_lock_bh(&priv->paths.dests.lock);
	path->ask = false;
	spin_unlock_bh(&priv->paths.dests.lock);
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
	path_no_ask(priv, path);
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

/* Makes *ah from the answer to the path's query, and frees the query. Waits until the fabric
 * service no longer uses the query.
 */
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
		if (!err)
			(*ah)->mtu = query->mtu;
		rdma_destroy_ah_attr(&query->attr);
	}
	query_free(query);
	return err;
}

/* Makes packets use this AH, and sends the packets that waited for it */
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

/* Forgets failures and what packets told: the path's AH is right. If path->ask was set while the
 * query was outstanding, another one follows, as the SA may have answered before the change.
 */
static void path_settle(struct ipoib_dev *priv, struct ipoib_path *path)
{
	path->dest.failures = 0;
	list_del_init(&path->dest.waits);
	spin_lock_bh(&priv->paths.dests.lock);
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

/* Schedules another query for the path. If the path has an AH, that is kept: a missing answer
 * does not mean that the path is gone, and ib_core reports the same error for an SA that is busy
 * as for one that does not know the path.
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

/* Makes the path usable at once by a stopgap. The query to the fabric continues, unless the
 * administrator has set trust_learned, as the fabric's answers are known to be the same.
 */
static void path_learn(struct ipoib_dev *priv, struct ipoib_path *path,
		       const struct ipoib_heard *heard)
{
	struct ipoib_ah *ah = stopgap_ah(priv, path, heard);

	if (IS_ERR(ah))
		return;
	ah->learned = true;
	ipoib_count(priv, IPOIB_STAT_PATHS_LEARNED);
	WRITE_ONCE(path->stopgap, true);
	if (READ_ONCE(priv->trust_learned)) {
		path_no_ask(priv, path);
		path_settle(priv, path);
	}
	path_publish(priv, path, ah);
}

static void path_await(struct ipoib_dev *priv, struct ipoib_path *path)
{
	if (path->ask && path->dest.request == IPOIB_REQUEST_NONE)
		ipoib_dest_await(&priv->paths.dests, &path->dest);
}

/* Processes what has happened to the path since the last run of the work */
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
	/* Pairs with path_lookup(), which must see the new count before the path is freed */
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

/* Returns whether a failed path is to be queried again. Without an AH, it is only queried while
 * there are packets to send.
 */
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

/* No packet has used the path for too long. Forged ARP might keep a slow SA busy for minutes. */
static bool path_is_stale(const struct ipoib_path *path)
{
	return !rcu_access_pointer(path->dest.ah) &&
	       time_after(jiffies, READ_ONCE(path->dest.used) + IPOIB_PATH_STALE);
}

/* Sends as many queries as the window allows, in the order in which the paths began to wait */
static void paths_ask(struct ipoib_dev *priv)
{
	struct ipoib_dest *dest;
	struct ipoib_path *path;
	int err;

	while ((dest = ipoib_dests_next(&priv->paths.dests))) {
		path = path_of(dest);
		if (path_is_stale(path)) {
			path_forget(priv, path);
			continue;
		}
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

/* Returns whether the path is to be removed */
typedef bool (*path_filter)(const struct ipoib_path *path);

/* Moves the paths to be removed from the table to a private list */
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
 * ipoib_paths_flush() - remove all paths
 * @priv: the device
 *
 * Cancels outstanding queries and waits for their end. Drops and counts the
 * packets that wait for a path. If the link runs, later packets create their
 * paths anew; otherwise no path is created after this returns.
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
	path->dest.retry_at = jiffies + get_random_u32_below(HZ / 4);
	path_want_answer(path, priv);
	spin_unlock_bh(&priv->paths.dests.lock);
}

/**
 * ipoib_paths_refresh() - query all paths again
 * @priv: the device
 *
 * Each path keeps its AH until the answer comes, since most paths will not have changed.
 * The senders learned from packets are forgotten, since LIDs may have changed. The queries
 * are spread over a quarter of a second, because on a large fabric all ports do this at
 * the same time.
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
 * ipoib_paths_walk() - call a function for each path
 * @priv: the device
 * @see: called with each struct ipoib_path; must not sleep
 * @context: passed to @see
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
 * ipoib_paths_destroy() - free the table of paths
 * @priv: the device; its link is down, and it has no paths
 *
 * Context: may sleep.
 */
void ipoib_paths_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->paths.expire_work);
	cancel_delayed_work_sync(&priv->paths.work);
	ipoib_dests_destroy(&priv->paths.dests);
}
