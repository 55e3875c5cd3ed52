// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles. Paths and groups publish them, and the data path uses them without
 * taking a reference. This file makes sure that an AH is not destroyed before the last
 * WR that refers to it has completed.
 */
#include "ipoib.h"

#define AH_GRACE	(HZ / 20)	/* interval of checks for the end of a grace period */

/**
 * ipoib_same_port() - tell whether two LIDs belong to the same port
 * @priv: the device; the LMC of its port is taken for that of all ports of the subnet
 * @lid: one LID
 * @other: the other LID
 *
 * The LIDs of a port differ only in the lowest LMC bits (IBA 7.11.1).
 *
 * Context: any.
 * Return: true if they belong to the same port.
 */
bool ipoib_same_port(const struct ipoib_dev *priv, u32 lid, u32 other)
{
	u8 lmc = 0;

	ib_get_cached_lmc(priv->ibdev, priv->port->number, &lmc);
	return !((lid ^ other) >> lmc);
}

/**
 * ipoib_ah_create() - create an address handle
 * @priv: the device
 * @attr: attributes of the AH; remain owned by the caller
 *
 * Context: process.
 * Return: the AH, to be published once and then given to ipoib_ah_retire(); or
 * an ERR_PTR.
 */
struct ipoib_ah *ipoib_ah_create(struct ipoib_dev *priv, struct rdma_ah_attr *attr)
{
	struct ipoib_ah *ah = kzalloc(sizeof(*ah), GFP_KERNEL);
	struct ib_ah *ibah;

	if (!ah)
		return ERR_PTR(-ENOMEM);
	ibah = rdma_create_ah(priv->pd, attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ibah)) {
		kfree(ah);
		return ERR_CAST(ibah);
	}
	ah->ibah = ibah;
	ah->priv = priv;
	ah->dlid = rdma_ah_get_dlid(attr);
	ah->sl = rdma_ah_get_sl(attr);
	ah->rate = rdma_ah_get_static_rate(attr);
	ah->grh = rdma_ah_get_ah_flags(attr) & IB_AH_GRH;
	if (ah->grh)
		ah->hop_limit = rdma_ah_read_grh(attr)->hop_limit;
	return ah;
}

/**
 * ipoib_ah_retire() - destroy an AH as soon as nothing uses it
 * @ah: the AH, which new readers can no longer find; or NULL
 *
 * The data path takes no reference. After an RCU grace period, every sender that
 * had seen the AH has put its WR on a send ring. When the rings have completed all
 * WRs that they held at that time, no WR can refer to the AH. The end of the grace
 * period is polled for, instead of using call_rcu(), because a device that is being
 * removed has usually seen a grace period already, in the network core, and need
 * not wait for the RCU callbacks of the whole machine.
 *
 * Context: process.
 */
void ipoib_ah_retire(struct ipoib_ah *ah)
{
	struct ipoib_dev *priv;

	if (!ah)
		return;
	priv = ah->priv;
	spin_lock_bh(&priv->ahs.lock);
	list_add_tail(&ah->dead, &priv->ahs.dead);
	get_state_synchronize_rcu_full(&priv->ahs.dead_seen);
	spin_unlock_bh(&priv->ahs.lock);
	queue_delayed_work(priv->wq, &priv->ahs.work, 0);
}

/**
 * ipoib_ah_replace() - publish an AH and retire the one that it replaces
 * @slot: the pointer of the path or group
 * @ah: the new AH, or NULL for none
 *
 * A caller that afterwards takes the queued packets of the destination, with the lock of
 * ipoib_dests held, finds all packets of senders that saw no AH, because senders check for the AH
 * and queue their packets under the same lock.
 *
 * Context: control path, which is the only writer of these pointers.
 */
void ipoib_ah_replace(struct ipoib_ah __rcu **slot, struct ipoib_ah *ah)
{
	ipoib_ah_retire(rcu_replace_pointer(*slot, ah, true));
}

/* Takes the AHs that were retired since the last call. Called when those of the last call are
 * destroyed.
 */
static void ah_take_dead(struct ipoib_dev *priv)
{
	spin_lock_bh(&priv->ahs.lock);
	list_splice_init(&priv->ahs.dead, &priv->ahs.going);
	priv->ahs.going_seen = priv->ahs.dead_seen;
	spin_unlock_bh(&priv->ahs.lock);
	priv->ahs.marked = false;
	if (!poll_state_synchronize_rcu_full(&priv->ahs.going_seen))
		start_poll_synchronize_rcu_full(&priv->ahs.going_seen);
}

/* Marks the send rings after the grace period, when no WR that is posted from now on can refer to
 * the AHs. Returns whether they are marked.
 */
static bool ah_mark(struct ipoib_dev *priv)
{
	if (priv->ahs.marked)
		return true;
	if (!poll_state_synchronize_rcu_full(&priv->ahs.going_seen))
		return false;
	priv->transport->mark(priv);
	priv->ahs.marked = true;
	return true;
}

/* Returns whether the send rings have completed all WRs before their marks. If not, has the TX poll
 * queue the work when WRs complete.
 */
static bool ah_unused(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->ahs.waiting, false);
	if (priv->transport->is_past_mark(priv))
		return true;
	WRITE_ONCE(priv->ahs.waiting, true);
	/* Pairs with the barrier in the TX poll: either the poll sees this flag,
	 * or the completions that it processed before are seen here.
	 */
	smp_mb();
	return priv->transport->is_past_mark(priv);
}

static void ah_destroy_going(struct ipoib_dev *priv)
{
	struct ipoib_ah *ah, *next;

	list_for_each_entry_safe(ah, next, &priv->ahs.going, dead) {
		rdma_destroy_ah(ah->ibah, RDMA_DESTROY_AH_SLEEPABLE);
		kfree(ah);
	}
	INIT_LIST_HEAD(&priv->ahs.going);
}

static void ah_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, ahs.work.work);

	if (list_empty(&priv->ahs.going))
		ah_take_dead(priv);
	if (list_empty(&priv->ahs.going))
		return;
	if (!ah_mark(priv)) {
		queue_delayed_work(priv->wq, &priv->ahs.work, AH_GRACE);
		return;
	}
	if (!ah_unused(priv))
		return;
	ah_destroy_going(priv);
	/* AHs may have been retired meanwhile */
	queue_delayed_work(priv->wq, &priv->ahs.work, 0);
}

/**
 * ipoib_ahs_init() - initialize the lists of retired AHs
 * @priv: the device; its workqueue exists
 *
 * Context: any.
 */
void ipoib_ahs_init(struct ipoib_dev *priv)
{
	spin_lock_init(&priv->ahs.lock);
	INIT_LIST_HEAD(&priv->ahs.dead);
	INIT_LIST_HEAD(&priv->ahs.going);
	INIT_DELAYED_WORK(&priv->ahs.work, ah_work);
}

/**
 * ipoib_ahs_flush() - destroy all retired AHs
 * @priv: the device; it has no paths and no groups, and its send rings are empty
 *
 * Context: may sleep.
 */
void ipoib_ahs_flush(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->ahs.work);
	list_splice_init(&priv->ahs.dead, &priv->ahs.going);
	if (list_empty(&priv->ahs.going))
		return;
	cond_synchronize_rcu_expedited_full(&priv->ahs.dead_seen);
	ah_destroy_going(priv);
}
