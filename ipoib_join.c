// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How the fabric is asked for memberships of groups, and what follows from its answers.
 *
 * Every group that is not joined is in one of these places:
 *
 *   busy		it has news, a new group or an answer, for the groups' work to read
 *   waiting	it is to be asked for, when the window has room
 *   asked	the fabric owes an answer
 *   failing	it is asked for again when its time has come
 *
 * The window is how many may be asked for at once. It follows how fast the answers come,
 * as that of paths does: after a client re-register all groups of all hosts are asked for
 * again, and an SA that is late is asked by ib_core again and again. The broadcast group
 * comes first, as the others take their parameters from it; those follow by age. What a
 * run of the work costs depends on how many groups have news, not on how many there are.
 */
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_JOINS_FIRST	8		/* the window, to begin with ... */
#define IPOIB_JOINS_MIN		4		/* ... so that a lost answer stops not all ... */
#define IPOIB_JOINS_MAX		64
#define IPOIB_JOIN_SLOW		(HZ / 4)	/* answers that take longer close it */
#define IPOIB_JOIN_LEAVE_WAIT	(HZ / 100)	/* how soon a membership may be given up */
#define IPOIB_JOIN_RETRY_PACE	(HZ / 20)	/* failing groups are looked through so often */

/**
 * ipoib_group_make_busy() - have the groups' work look at a group
 * @group: the group
 *
 * Context: ipoib_dev.lock held. The caller kicks the work.
 */
void ipoib_group_make_busy(struct ipoib_group *group)
{
	lockdep_assert_held(&group->priv->lock);
	if (list_empty(&group->busy))
		list_add_tail(&group->busy, &group->priv->groups_busy);
}

/**
 * ipoib_group_answer() - the fabric's answer to ipoib_fabric_ops.join
 * @group: the group
 * @status: 0 or a negative error; -ENETRESET if a membership that was granted
 *	is void now
 * @params: the group's parameters if @status is 0
 *
 * Context: any but hard interrupt.
 */
void ipoib_group_answer(struct ipoib_group *group, int status,
			const struct ipoib_group_params *params)
{
	struct ipoib_dev *priv = group->priv;

	spin_lock_bh(&priv->lock);
	group->request = IPOIB_REQUEST_ANSWERED;
	group->status = status;
	if (!status)
		group->answer = *params;
	if (!group->dead)
		ipoib_group_make_busy(group);
	ipoib_groups_kick(priv);
	spin_unlock_bh(&priv->lock);
}

/**
 * ipoib_group_detach() - have the QP receive from a group no more
 * @group: the group
 *
 * Context: control path.
 */
void ipoib_group_detach(struct ipoib_group *group)
{
	int err;

	if (!group->attached)
		return;
	err = ib_detach_mcast(group->priv->qp, &group->mgid, group->params.mlid);
	if (err && net_ratelimit())
		netdev_warn(group->priv->netdev, "cannot detach QP from %pI6: error %d\n",
			    group->mgid.raw, err);
	group->attached = false;
}

static bool group_is_heard(const struct ipoib_group *group)
{
	return group->role != IPOIB_GROUP_SEND_ONLY || group->priv->routing;
}

static int group_attach(struct ipoib_group *group)
{
	int err;

	if (group->attached || !group_is_heard(group))
		return 0;
	err = ib_attach_mcast(group->priv->qp, &group->mgid, group->params.mlid);
	if (!err)
		group->attached = true;
	return err;
}

/* Sends what is for a group to it, or to the one that is to stand in for it */
static int group_new_ah(struct ipoib_group *group, struct ipoib_group *target)
{
	struct ipoib_dev *priv = group->priv;
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = priv->fabric->group_attr(target, &attr);
	if (err)
		return err;
	ah = ipoib_ah_create(priv, &attr);
	rdma_destroy_ah_attr(&attr);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ipoib_ah_replace(priv, &group->ah, ah);
	return 0;
}

/* RFC 4391 section 5: the link's Q_Key and MTU are those of all its groups. Members of
 * one that has others would not get our packets, however gladly the SA takes us.
 */
static bool group_fits(const struct ipoib_group *group, const struct ipoib_group_params *params)
{
	const struct ipoib_group *broadcast = group->priv->broadcast;

	return group == broadcast || (params->qkey == broadcast->params.qkey &&
				      params->mtu >= broadcast->params.mtu);
}

/* Takes over what the group's members share; packets go on by the old AH until
 * the new one is there.
 */
static int group_set_params(struct ipoib_group *group, const struct ipoib_group_params *params)
{
	int err;

	if (!group_fits(group, params))
		return -EINVAL;
	if (params->mlid != group->params.mlid)
		ipoib_group_detach(group);
	group->params = *params;
	err = group_attach(group);
	if (err)
		return err;
	return group_new_ah(group, group);
}

static void group_asked(struct ipoib_group *group)
{
	group->asked = true;
	group->asked_at = jiffies;
	group->priv->groups_asked++;
}

static void group_not_asked(struct ipoib_group *group)
{
	group->priv->groups_asked -= group->asked;
	group->asked = false;
}

/**
 * ipoib_group_leave() - give up a membership, or the wish to have it
 * @group: the group; no answer comes any more
 *
 * Context: control path.
 */
void ipoib_group_leave(struct ipoib_group *group)
{
	if (group->membership)
		group->priv->fabric->leave(group);
	group->membership = NULL;
	group->joined = false;
	group_not_asked(group);
	list_del_init(&group->waits);
	spin_lock_bh(&group->priv->lock);
	group->request = IPOIB_REQUEST_NONE;
	spin_unlock_bh(&group->priv->lock);
}

/* The packets that wait for a group leave it */
static void group_take_queued(struct ipoib_group *group, struct sk_buff_head *queue)
{
	struct ipoib_dev *priv = group->priv;

	__skb_queue_head_init(queue);
	spin_lock_bh(&priv->lock);
	priv->groups_queued -= skb_queue_len(&group->queue);
	skb_queue_splice_init(&group->queue, queue);
	spin_unlock_bh(&priv->lock);
}

static void group_send_queued(struct ipoib_group *group)
{
	struct sk_buff_head queue;

	group_take_queued(group, &queue);
	ipoib_queue_resend(group->priv, &queue);
}

/**
 * ipoib_group_drop_queued() - the packets that wait for a group do so in vain
 * @group: the group
 *
 * Context: control path.
 */
void ipoib_group_drop_queued(struct ipoib_group *group)
{
	struct sk_buff_head queue;

	group_take_queued(group, &queue);
	ipoib_queue_purge(group->priv, &queue, IPOIB_STAT_TX_GROUP_FAILED);
}

/* RFC 4391 section 10: what is for a group that cannot be had may go to all, whose
 * IP layers know what they listen to. Made anew at each failure, since the
 * broadcast group's address may have changed as well.
 */
static bool group_fall_back(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (group == priv->broadcast || !priv->broadcast->joined ||
	    group_new_ah(group, priv->broadcast))
		return false;
	ipoib_count(priv, IPOIB_STAT_GROUP_FALLBACKS);
	return true;
}

static void group_failed(struct ipoib_group *group, int err)
{
	struct ipoib_dev *priv = group->priv;

	ipoib_count(priv, IPOIB_STAT_GROUP_FAILURES);
	trace_ipoib_group_state(group, err);
	ipoib_mcast_debug(priv, "cannot join %pI6: error %d\n", group->mgid.raw, err);
	ipoib_group_leave(group);
	if (group->role > IPOIB_GROUP_ROUTER && net_ratelimit())
		netdev_warn(priv->netdev, "cannot join %pI6: error %d, will try again\n",
			    group->mgid.raw, err);
	group->retry_at = jiffies + ipoib_backoff(group->failures);
	if (group->failures < U8_MAX)
		group->failures++;
	if (group_fall_back(group))
		group_send_queued(group);
	else
		ipoib_group_drop_queued(group);
}

/* A NonMember creates no group, so that it is refused may mean that there is none. It
 * may as well mean that the SA is busy, which ib_core tells by the same error: the list
 * has to decide, if no Report does.
 */
static void group_not_joined(struct ipoib_group *group, int err)
{
	if (group->role == IPOIB_GROUP_ROUTER && err == -EINVAL && !group->failures)
		ipoib_groups_doubt(group->priv);
	group_failed(group, err);
}

/**
 * ipoib_group_set_fleeting() - note whether our membership keeps a group alive
 * @group: the group
 * @fleeting: it does not: the group's deletion must be reported
 *
 * Context: control path.
 */
void ipoib_group_set_fleeting(struct ipoib_group *group, bool fleeting)
{
	group->priv->groups_fleeting += fleeting - group->fleeting;
	group->fleeting = fleeting;
}

static void group_succeeded(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	group->failures = 0;
	group->joined = true;
	ipoib_group_set_fleeting(group, group->params.fleeting);
	trace_ipoib_group_state(group, 0);
	ipoib_mcast_debug(priv, "joined %pI6: MLID %#x\n", group->mgid.raw, group->params.mlid);
	if (group->role == IPOIB_GROUP_BROADCAST)
		priv->broadcast_joined(priv, &group->params);
	group_send_queued(group);
}

/* The fabric has forgotten the group (SM restart, new LID): join again, soon but
 * not all ports at once. The AH stays: most often it still leads there.
 */
static void group_reset(struct ipoib_group *group)
{
	ipoib_group_leave(group);
	group->retry_at = jiffies + get_random_u32_below(HZ / 8);
}

static void groups_pace(struct ipoib_dev *priv, const struct ipoib_group *group)
{
	if (time_after(jiffies, group->asked_at + IPOIB_JOIN_SLOW))
		priv->groups_window = max(priv->groups_window / 2, (u32)IPOIB_JOINS_MIN);
	else
		priv->groups_window = min(priv->groups_window + 1, (u32)IPOIB_JOINS_MAX);
}

static void group_serve_answer(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	struct ipoib_group_params params;
	int status;

	if (group->asked)
		groups_pace(priv, group);
	group_not_asked(group);
	spin_lock_bh(&priv->lock);
	group->request = IPOIB_REQUEST_NONE;
	status = group->status;
	params = group->answer;
	spin_unlock_bh(&priv->lock);

	if (status == -ENETRESET) {
		group_reset(group);
		return;
	}
	if (!status)
		status = group_set_params(group, &params);
	if (status)
		group_not_joined(group, status);
	else
		group_succeeded(group);
}

static void group_join(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	int err;

	spin_lock_bh(&priv->lock);
	group->request = IPOIB_REQUEST_SENT;
	spin_unlock_bh(&priv->lock);
	group_asked(group);
	ipoib_count(priv, IPOIB_STAT_GROUP_JOINS);
	trace_ipoib_group_state(group, -EINPROGRESS);
	ipoib_mcast_debug(priv, "joining %pI6\n", group->mgid.raw);
	err = priv->fabric->join(group);
	if (err == -EAGAIN) {
		ipoib_group_leave(group);
		group->retry_at = jiffies + IPOIB_JOIN_LEAVE_WAIT;
	} else if (err) {
		group_failed(group, err);
	}
}

/* Puts a group that is to be joined where it waits for its time, or for its turn */
static void group_await(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (group->joined || group->request != IPOIB_REQUEST_NONE)
		return;
	if (time_after(group->retry_at, jiffies)) {
		if (list_empty(&priv->groups_failing) ||
		    time_before(group->retry_at, priv->groups_retry_at))
			priv->groups_retry_at = group->retry_at;
		list_move_tail(&group->waits, &priv->groups_failing);
	} else if (group == priv->broadcast) {
		list_move(&group->waits, &priv->groups_waiting);
	} else {
		list_move_tail(&group->waits, &priv->groups_waiting);
	}
}

/**
 * ipoib_group_set_role() - another reason to have a group
 * @group: the group
 * @role: why this device has it now
 *
 * Context: control path.
 */
void ipoib_group_set_role(struct ipoib_group *group, enum ipoib_group_role role)
{
	struct ipoib_dev *priv = group->priv;

	spin_lock_bh(&priv->lock);
	priv->groups_of[group->role]--;
	priv->groups_of[role]++;
	WRITE_ONCE(group->role, role);
	spin_unlock_bh(&priv->lock);
}

/**
 * ipoib_group_rejoin() - have a membership of another kind, or the same once more
 * @group: the group
 * @role: why it is needed
 *
 * What a packet needs to be sent stays.
 *
 * Context: control path.
 */
void ipoib_group_rejoin(struct ipoib_group *group, enum ipoib_group_role role)
{
	ipoib_group_set_role(group, role);
	ipoib_group_leave(group);
	if (!group_is_heard(group))
		ipoib_group_detach(group);
	group->retry_at = jiffies;
	group->failures = 0;
	group_await(group);
	ipoib_groups_kick(group->priv);
}

/* Groups made by the data path are not on the control path's list yet */
static void group_serve(struct ipoib_group *group)
{
	if (list_empty(&group->all))
		list_add_tail(&group->all, &group->priv->groups_all);
	if (group->request == IPOIB_REQUEST_ANSWERED)
		group_serve_answer(group);
	group_await(group);
}

static struct ipoib_group *group_next_busy(struct ipoib_dev *priv, struct list_head *busy)
{
	struct ipoib_group *group;

	spin_lock_bh(&priv->lock);
	group = list_first_entry_or_null(busy, struct ipoib_group, busy);
	if (group)
		list_del_init(&group->busy);
	spin_unlock_bh(&priv->lock);
	return group;
}

/* Those that are busy again meanwhile are the next run's */
static void groups_serve(struct ipoib_dev *priv)
{
	struct ipoib_group *group;
	LIST_HEAD(busy);

	spin_lock_bh(&priv->lock);
	list_splice_init(&priv->groups_busy, &busy);
	spin_unlock_bh(&priv->lock);
	while ((group = group_next_busy(priv, &busy)))
		group_serve(group);
}

/* Those whose time has come wait for their turn */
static void groups_retry(struct ipoib_dev *priv)
{
	unsigned long now = jiffies, soonest = now + MAX_JIFFY_OFFSET;
	struct ipoib_group *group, *next;

	if (list_empty(&priv->groups_failing) || time_before(now, priv->groups_retry_at))
		return;
	list_for_each_entry_safe(group, next, &priv->groups_failing, waits) {
		if (time_after(group->retry_at, now))
			soonest = time_before(group->retry_at, soonest) ? group->retry_at : soonest;
		else
			group_await(group);
	}
	if (time_before(soonest, now + IPOIB_JOIN_RETRY_PACE))
		soonest = now + IPOIB_JOIN_RETRY_PACE;
	priv->groups_retry_at = soonest;
}

/* All other groups take their parameters from the broadcast group */
static bool group_may_join(const struct ipoib_group *group)
{
	const struct ipoib_group *broadcast = group->priv->broadcast;

	return group == broadcast || broadcast->joined;
}

/* As many as the window has room for, those first that have waited longest */
static void groups_ask(struct ipoib_dev *priv)
{
	struct ipoib_group *group;

	while (priv->groups_asked < priv->groups_window) {
		group = list_first_entry_or_null(&priv->groups_waiting, struct ipoib_group, waits);
		if (!group || !group_may_join(group))
			return;
		list_del_init(&group->waits);
		group_join(group);
		group_await(group);
	}
}

/**
 * ipoib_groups_join() - take every group as far as it goes now
 * @priv: the device; it has a broadcast group
 *
 * Context: control path.
 * Return: jiffies until there is more to do, MAX_JIFFY_OFFSET if an answer will be the
 * occasion.
 */
unsigned long ipoib_groups_join(struct ipoib_dev *priv)
{
	long wait;

	groups_serve(priv);
	groups_retry(priv);
	groups_ask(priv);
	if (list_empty(&priv->groups_failing))
		return MAX_JIFFY_OFFSET;
	wait = priv->groups_retry_at - jiffies;
	return max(wait, 0L);
}

/**
 * ipoib_groups_join_init() - nothing has been asked for yet
 * @priv: the device
 *
 * Context: any.
 */
void ipoib_groups_join_init(struct ipoib_dev *priv)
{
	INIT_LIST_HEAD(&priv->groups_busy);
	INIT_LIST_HEAD(&priv->groups_waiting);
	INIT_LIST_HEAD(&priv->groups_failing);
	priv->groups_window = IPOIB_JOINS_FIRST;
}
