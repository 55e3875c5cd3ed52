// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Joins multicast groups, and processes the fabric's answers.
 *
 * The joins are scheduled by ipoib_dest.c, since after a client reregistration all hosts join all
 * their groups again. The broadcast group is joined first, as the other groups take their
 * parameters from it.
 */
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_trace.h"

#define IPOIB_JOIN_LEAVE_WAIT	(HZ / 100)	/* delay before a join that found the
						 * earlier membership still being given up
						 */

static const struct ipoib_dests_pace groups_pace = {
	.first = 8,
	.min = 4,			/* so that a lost answer does not block all joins */
	.max = 64,
	.retry = HZ / 20,
};

/**
 * ipoib_groups_kick() - queue the groups' work
 * @priv: the device
 *
 * Context: any.
 */
void ipoib_groups_kick(struct ipoib_dev *priv)
{
	mod_delayed_work(priv->wq, &priv->groups.work, 0);
}

/**
 * ipoib_groups_doubt() - read the fabric's list of groups soon, as a group may not exist
 * @priv: the device
 *
 * Context: control path.
 */
void ipoib_groups_doubt(struct ipoib_dev *priv)
{
	unsigned long soon = jiffies + IPOIB_LIST_DOUBT;

	if (time_before(soon, priv->groups.news.list_at))
		priv->groups.news.list_at = soon;
}

/**
 * ipoib_group_answer() - deliver the fabric's answer to ipoib_fabric_ops.join
 * @group: the group
 * @status: 0 or a negative error; -ENETRESET if the fabric revokes a membership
 *	that it had granted
 * @params: the group's parameters; not read unless @status is 0
 *
 * Context: any but hard interrupt.
 */
void ipoib_group_answer(struct ipoib_group *group, int status,
			const struct ipoib_group_params *params)
{
	struct ipoib_dev *priv = group->priv;

	spin_lock_bh(&priv->groups.dests.lock);
	group->dest.request = IPOIB_REQUEST_ANSWERED;
	group->status = status;
	if (!status)
		group->answer = *params;
	ipoib_dest_make_busy(&priv->groups.dests, &group->dest);
	ipoib_groups_kick(priv);
	spin_unlock_bh(&priv->groups.dests.lock);
}

/**
 * ipoib_group_detach() - detach the QP from a group, if it is attached
 * @group: the group
 *
 * Context: control path.
 */
void ipoib_group_detach(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	int err;

	if (!group->attached)
		return;
	err = priv->transport->detach(priv, &group->dest.gid, group->params.mlid);
	if (err && net_ratelimit())
		netdev_warn(priv->netdev, "cannot detach QP from %pI6: error %d\n",
			    group->dest.gid.raw, err);
	group->attached = false;
}

static bool group_is_heard(const struct ipoib_group *group)
{
	return group->role != IPOIB_GROUP_SEND_ONLY || group->priv->groups.routing;
}

static int group_attach(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	int err;

	if (group->attached || !group_is_heard(group))
		return 0;
	err = priv->transport->attach(priv, &group->dest.gid, group->params.mlid);
	if (!err)
		group->attached = true;
	return err;
}

/* Gives @group an AH that leads to @target: the group itself, or the broadcast group instead */
static int group_new_ah(struct ipoib_group *group, struct ipoib_group *target)
{
	struct ipoib_dev *priv = group->priv;
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = priv->port->fabric->group_attr(target, &attr);
	if (err)
		return err;
	ah = ipoib_ah_create(priv, &attr);
	rdma_destroy_ah_attr(&attr);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ipoib_ah_replace(&group->dest.ah, ah);
	return 0;
}

/* All groups of a link have its Q_Key and at least its MTU (RFC 4391 section 5). The members of a
 * group with other parameters would not receive our packets, even if the SA lets us join.
 */
static bool group_fits(const struct ipoib_group *group, const struct ipoib_group_params *params)
{
	const struct ipoib_group *broadcast = group->priv->groups.broadcast;

	return group == broadcast || (params->qkey == broadcast->params.qkey &&
				      params->mtu >= broadcast->params.mtu);
}

/**
 * ipoib_group_leave() - give up a membership, or the request for it
 * @group: the group
 *
 * On return no answer is outstanding, and no join is scheduled.
 *
 * Context: control path.
 */
void ipoib_group_leave(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (group->membership) {
		priv->port->fabric->leave(group);
		priv->groups.left_at = jiffies;
	}
	group->membership = NULL;
	group->doubted = 0;
	WRITE_ONCE(group->joined, false);
	list_del_init(&group->dest.waits);
	ipoib_dest_not_asked(&priv->groups.dests, &group->dest);
}

/* Moves the packets that wait for a group to @queue */
static void group_take_queued(struct ipoib_group *group, struct sk_buff_head *queue)
{
	struct ipoib_dev *priv = group->priv;

	__skb_queue_head_init(queue);
	spin_lock_bh(&priv->groups.dests.lock);
	priv->groups.dests.queued -= skb_queue_len(&group->dest.queue);
	skb_queue_splice_init(&group->dest.queue, queue);
	spin_unlock_bh(&priv->groups.dests.lock);
}

static void group_send_queued(struct ipoib_group *group)
{
	struct sk_buff_head queue;

	group_take_queued(group, &queue);
	ipoib_queue_resend(group->priv, &queue);
}

/* Sends the packets that wait for a group that has just been joined. The SA answers before it has
 * changed the switches, which may not forward packets to the group at all until then: a group with
 * one member needs no route. So these packets are sent to the broadcast group, whose members
 * include all listeners (RFC 4391 section 10). Otherwise the first Neighbor Solicitation would
 * often be lost, and the second is sent a second later.
 */
static void group_broadcast_queued(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	struct sk_buff_head queue, copies;
	struct sk_buff *skb;

	group_take_queued(group, &queue);
	__skb_queue_head_init(&copies);
	while ((skb = __skb_dequeue(&queue))) {
		/* A packet socket that captures packets may hold a clone */
		if (skb_cow_head(skb, 0)) {
			ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
			continue;
		}
		ipoib_hwaddr_build((struct ipoib_hwaddr *)skb->data, IPOIB_QPN_MULTICAST,
				   &priv->groups.broadcast->dest.gid);
		__skb_queue_tail(&copies, skb);
	}
	ipoib_queue_resend(priv, &copies);
}

/**
 * ipoib_group_drop_queued() - drop and count the packets that wait for a group
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

/* Packets to a group that cannot be joined may be sent to the broadcast group (RFC 4391 section
 * 10): the IP layers of its members discard what they did not ask for. The AH is made anew at each
 * failure, since the broadcast group's parameters may have changed.
 */
static bool group_fall_back(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	if (group == priv->groups.broadcast || !priv->groups.broadcast->joined ||
	    group_new_ah(group, priv->groups.broadcast))
		return false;
	ipoib_count(priv, IPOIB_STAT_GROUP_FALLBACKS);
	return true;
}

static void group_failed(struct ipoib_group *group, enum ipoib_reason reason, int err)
{
	struct ipoib_dev *priv = group->priv;

	if (group->role == IPOIB_GROUP_BROADCAST)
		ipoib_link_report_failure(priv, reason);
	ipoib_count(priv, IPOIB_STAT_GROUP_FAILURES);
	trace_ipoib_group_state(group, err);
	ipoib_mcast_debug(priv, "cannot join %pI6: error %d\n", group->dest.gid.raw, err);
	ipoib_group_leave(group);
	if (group->role > IPOIB_GROUP_ROUTER && net_ratelimit())
		netdev_warn(priv->netdev, "cannot join %pI6: error %d, will try again\n",
			    group->dest.gid.raw, err);
	ipoib_dest_failed(&group->dest);
	if (group_fall_back(group))
		group_send_queued(group);
	else
		ipoib_group_drop_queued(group);
}

/* A join as NonMember does not create the group, so a refusal may mean that the group does not
 * exist. It may also mean that the SA is busy, for which ib_core returns the same error. Unless a
 * Report settles this before, the fabric's list does.
 */
static void group_not_joined(struct ipoib_group *group, enum ipoib_reason reason, int err)
{
	if (group->role == IPOIB_GROUP_ROUTER && err == -EINVAL && !group->dest.failures)
		ipoib_groups_doubt(group->priv);
	if (err == -EINVAL)
		group->refused = !group->refused;
	group_failed(group, reason, err);
}

/**
 * ipoib_group_set_fleeting() - note whether the device's membership keeps a group alive
 * @group: the group
 * @fleeting: true if it does not. Then the fabric has to report the group's deletion
 *
 * Context: control path.
 */
void ipoib_group_set_fleeting(struct ipoib_group *group, bool fleeting)
{
	group->priv->groups.fleeting += fleeting - group->fleeting;
	group->fleeting = fleeting;
}

static void group_succeeded(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;

	group->dest.failures = 0;
	WRITE_ONCE(group->joined, true);
	ipoib_group_set_fleeting(group, group->params.fleeting);
	trace_ipoib_group_state(group, 0);
	ipoib_mcast_debug(priv, "joined %pI6: MLID %#x\n", group->dest.gid.raw, group->params.mlid);
	if (group->role == IPOIB_GROUP_BROADCAST)
		ipoib_link_report_join(priv, &group->params);
	if (priv->port->fabric->routes_late)
		group_broadcast_queued(group);
	else
		group_send_queued(group);
}

/* The fabric has revoked the membership (the SM restarted, or the LID changed). The group is
 * joined again after a random delay, so that not all ports do so at once. The AH remains in use,
 * as in most cases it is still right.
 */
static void group_reset(struct ipoib_group *group)
{
	ipoib_group_leave(group);
	group->refused = false;
	group->dest.retry_at = jiffies + get_random_u32_below(HZ / 8);
}

/* Schedules the join of a group that needs one. The broadcast group goes to the queue's front. */
static void group_await(struct ipoib_group *group)
{
	struct ipoib_dests *dests = &group->priv->groups.dests;

	if (group->joined || group->dest.request != IPOIB_REQUEST_NONE)
		return;
	ipoib_dest_await(dests, &group->dest);
	if (group == group->priv->groups.broadcast &&
	    time_before_eq(group->dest.retry_at, jiffies))
		list_move(&group->dest.waits, &dests->waiting);
}

/* Returns whether groups that are created with the parameters of the one are like those that are
 * created with the parameters of the other
 */
static bool params_alike(const struct ipoib_group_params *one,
			 const struct ipoib_group_params *other)
{
	return one->qkey == other->qkey && one->mtu == other->mtu && one->rate == other->rate &&
	       one->sl == other->sl && one->traffic_class == other->traffic_class &&
	       one->flow_label == other->flow_label && one->hop_limit == other->hop_limit;
}

/* The broadcast group has other parameters than before. Those groups that have been joined with the
 * earlier ones, or are being joined, are joined anew. The SA may have created such a group with
 * them: a restarted SM knows no groups, and ib_core revokes the memberships one by one, in the
 * order of the MGIDs, so a group may ask again before the broadcast group has lost its membership.
 * Hosts that know the new parameters could not join it.
 */
static void groups_renew(struct ipoib_dev *priv)
{
	struct ipoib_group *group;

	list_for_each_entry(group, &priv->groups.all, all) {
		if (group == priv->groups.broadcast ||
		    (!group->joined && group->dest.request == IPOIB_REQUEST_NONE))
			continue;
		group_reset(group);
		group_await(group);
	}
}

/* Applies the group's parameters. Packets use the old AH until it is replaced by the new one. */
static int group_set_params(struct ipoib_group *group, const struct ipoib_group_params *params)
{
	struct ipoib_dev *priv = group->priv;
	int err;

	if (!group_fits(group, params))
		return -EINVAL;
	if (group == priv->groups.broadcast && !params_alike(&group->params, params))
		groups_renew(priv);
	if (params->mlid != group->params.mlid)
		ipoib_group_detach(group);
	group->params = *params;
	err = group_attach(group);
	if (err)
		return err;
	return group_new_ah(group, group);
}

static void group_serve_answer(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	struct ipoib_group_params params;
	enum ipoib_reason reason;
	int status;

	spin_lock_bh(&priv->groups.dests.lock);
	ipoib_dest_answered(&priv->groups.dests, &group->dest);
	status = group->status;
	params = group->answer;
	spin_unlock_bh(&priv->groups.dests.lock);

	if (status == -ENETRESET) {
		group_reset(group);
		return;
	}
	reason = ipoib_reason_of_join(status);
	if (!status) {
		status = group_set_params(group, &params);
		reason = IPOIB_REASON_NOT_ATTACHED;
	}
	if (status)
		group_not_joined(group, reason, status);
	else
		group_succeeded(group);
}

static void group_join(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	int err;

	ipoib_dest_asked(&priv->groups.dests, &group->dest);
	ipoib_count(priv, IPOIB_STAT_GROUP_JOINS);
	trace_ipoib_group_state(group, -EINPROGRESS);
	ipoib_mcast_debug(priv, "joining %pI6\n", group->dest.gid.raw);
	err = priv->port->fabric->join(group);
	if (err == -EAGAIN) {
		ipoib_group_leave(group);
		group->dest.retry_at = jiffies + IPOIB_JOIN_LEAVE_WAIT;
	} else if (err) {
		group_failed(group, ipoib_reason_of_join(err), err);
	}
}

/**
 * ipoib_group_set_role() - change the reason for which the device has a group
 * @group: the group
 * @role: the new role
 *
 * Context: control path.
 */
void ipoib_group_set_role(struct ipoib_group *group, enum ipoib_group_role role)
{
	struct ipoib_dev *priv = group->priv;

	spin_lock_bh(&priv->groups.dests.lock);
	priv->groups.of[group->role]--;
	priv->groups.of[role]++;
	WRITE_ONCE(group->role, role);
	spin_unlock_bh(&priv->groups.dests.lock);
}

/**
 * ipoib_group_rejoin() - join a group again, possibly for another role
 * @group: the group
 * @role: the new role, which may be the same as before
 *
 * The AH is kept, so that packets can be sent meanwhile.
 *
 * Context: control path.
 */
void ipoib_group_rejoin(struct ipoib_group *group, enum ipoib_group_role role)
{
	ipoib_group_set_role(group, role);
	ipoib_group_leave(group);
	if (!group_is_heard(group))
		ipoib_group_detach(group);
	group->dest.retry_at = jiffies;
	group->dest.failures = 0;
	group->refused = false;
	group_await(group);
	ipoib_groups_kick(group->priv);
}

/**
 * ipoib_groups_hurry() - join those groups soon whose join has failed
 * @priv: the device; a subnet manager has appeared, or the port is at another place of the fabric
 *
 * The time of a back-off was chosen for a subnet manager that did not answer, or refused. The delay
 * is random, so that not all ports ask at once.
 *
 * Context: control path.
 */
void ipoib_groups_hurry(struct ipoib_dev *priv)
{
	struct ipoib_group *group;

	list_for_each_entry(group, &priv->groups.all, all) {
		if (!group->dest.failures)
			continue;
		group->dest.failures = 0;
		group->refused = false;
		group->dest.retry_at = jiffies + get_random_u32_below(HZ / 8);
		group_await(group);
	}
	ipoib_groups_kick(priv);
}

/* Processes a busy group. If the data path created it, it is not in ipoib_groups.all yet. */
static void group_serve(struct ipoib_dev *priv, struct ipoib_dest *dest)
{
	struct ipoib_group *group = ipoib_group_of(dest);

	if (list_empty(&group->all))
		list_add_tail(&group->all, &priv->groups.all);
	if (group->dest.request == IPOIB_REQUEST_ANSWERED)
		group_serve_answer(group);
	group_await(group);
}

static void group_retry(struct ipoib_dev *priv, struct ipoib_dest *dest)
{
	group_await(ipoib_group_of(dest));
}

/* All other groups take their parameters from the broadcast group */
static bool group_may_join(const struct ipoib_group *group)
{
	const struct ipoib_group *broadcast = group->priv->groups.broadcast;

	return group == broadcast || broadcast->joined;
}

/* Sends as many joins as the window allows, in the order of the queue */
static void groups_ask(struct ipoib_dev *priv)
{
	struct ipoib_group *group;
	struct ipoib_dest *dest;

	while ((dest = ipoib_dests_next(&priv->groups.dests))) {
		group = ipoib_group_of(dest);
		if (!group_may_join(group))
			return;
		list_del_init(&dest->waits);
		group_join(group);
		group_await(group);
	}
}

/**
 * ipoib_groups_join() - process the answers of the fabric, and send the joins that are due
 * @priv: the device; it has a broadcast group
 *
 * Context: control path.
 * Return: jiffies until this has to be called again, or MAX_JIFFY_OFFSET if only an answer or
 * another event requires that.
 */
unsigned long ipoib_groups_join(struct ipoib_dev *priv)
{
	struct ipoib_dests *dests = &priv->groups.dests;

	ipoib_dests_serve(dests, group_serve);
	ipoib_dests_retry(dests, group_retry);
	groups_ask(priv);
	return ipoib_dests_wait(dests);
}

/**
 * ipoib_groups_join_init() - initialize the table of groups
 * @priv: the device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_groups_join_init(struct ipoib_dev *priv)
{
	priv->groups.left_at = jiffies - IPOIB_LEAVE_TIME;
	return ipoib_dests_init(&priv->groups.dests, priv, &groups_pace);
}
