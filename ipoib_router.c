// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Follows the groups that other hosts create and delete.
 *
 * A multicast router receives all groups of its link (RFC 4392, "Router Considerations").
 * The kernel sets IFF_ALLMULTI on netdevices that multicast routing uses. While it is set,
 * the device also joins the groups of other hosts: first all groups that the fabric lists,
 * then each group that it reports as created. It leaves them when they are reported as
 * deleted. The list is read again periodically, because a report may be lost, and whenever
 * reports begin to be delivered.
 *
 * A device that only sends to a group needs to know when the group is deleted, unless its
 * own membership keeps the group alive: the MLID may be assigned to another group.
 *
 * Everything runs on the device's workqueue, except the fabric's callbacks, which only
 * record what was received and queue the work.
 */
#include "ipoib.h"
#include "ipoib_trace.h"

/* Period of reading the fabric's list, with and without reports */
#define IPOIB_LIST_PERIOD	(300 * HZ)
#define IPOIB_LIST_PERIOD_DEAF	(15 * HZ)

/* Limit of unread reports. If it is exceeded, the list is read instead. */
#define IPOIB_REPORTS_MAX	1024

/**
 * ipoib_group_report() - deliver the fabric's report that a group was created or deleted
 * @priv: the device
 * @mgid: the group; ignored if it does not belong to the device's link
 * @exists: true if the group was created, false if it was deleted
 *
 * Context: any but hard interrupt.
 */
void ipoib_group_report(struct ipoib_dev *priv, const union ib_gid *mgid, bool exists)
{
	struct ipoib_group_news *news = &priv->groups.news;
	struct ipoib_group_report *report;

	if (!ipoib_mgid_is_ours(priv, mgid))
		return;
	ipoib_count(priv, exists ? IPOIB_STAT_REPORTS_CREATED : IPOIB_STAT_REPORTS_DELETED);
	trace_ipoib_group_report(priv, mgid, exists);
	report = kmalloc(sizeof(*report), GFP_ATOMIC);
	if (report) {
		report->mgid = *mgid;
		report->exists = exists;
	}
	spin_lock_bh(&news->lock);
	if (report && news->reports_count < IPOIB_REPORTS_MAX) {
		list_add_tail(&report->node, &news->reports);
		news->reports_count++;
		report = NULL;
	} else {
		WRITE_ONCE(news->reports_begin, true);
	}
	spin_unlock_bh(&news->lock);
	kfree(report);
	ipoib_groups_kick(priv);
}

/**
 * ipoib_groups_reported() - note whether the fabric delivers the reports that were requested
 * @priv: the device
 * @status: 0 if reports are delivered from now on, although earlier ones may have been
 *	missed; or the negative error for which the subscription failed
 *
 * Context: any but hard interrupt.
 */
void ipoib_groups_reported(struct ipoib_dev *priv, int status)
{
	struct ipoib_group_news *news = &priv->groups.news;

	ipoib_count(priv, status ? IPOIB_STAT_SUBSCRIPTION_FAILURES : IPOIB_STAT_SUBSCRIPTIONS);
	trace_ipoib_subscription(priv, status);
	WRITE_ONCE(news->reports_come, !status);
	if (!status)
		WRITE_ONCE(news->reports_begin, true);
	ipoib_groups_kick(priv);
}

/**
 * ipoib_groups_listed() - deliver the fabric's answer to ipoib_fabric_ops.list
 * @priv: the device
 * @count: number of groups, or a negative error
 * @mgids: the groups, which need not belong to the device's link. Owned by this function,
 *	which frees it with kvfree()
 *
 * Context: any but hard interrupt.
 */
void ipoib_groups_listed(struct ipoib_dev *priv, int count, union ib_gid *mgids)
{
	struct ipoib_group_news *news = &priv->groups.news;

	spin_lock_bh(&news->lock);
	news->list_count = count;
	swap(news->list, mgids);
	WRITE_ONCE(news->list_request, IPOIB_REQUEST_ANSWERED);
	spin_unlock_bh(&news->lock);
	/* An earlier list that has not been read */
	kvfree(mgids);
	ipoib_groups_kick(priv);
}

static void router_note_group(struct ipoib_dev *priv, union ib_gid *mgid)
{
	if (priv->groups.routing && ipoib_mgid_is_ours(priv, mgid) &&
	    !ipoib_group_appeared(priv, mgid))
		ipoib_groups_doubt(priv);
}

static void router_read_reports(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;
	struct ipoib_group_report *report, *next;
	LIST_HEAD(reports);

	spin_lock_bh(&news->lock);
	list_splice_init(&news->reports, &reports);
	news->reports_count = 0;
	spin_unlock_bh(&news->lock);
	list_for_each_entry_safe(report, next, &reports, node) {
		if (report->exists) {
			router_note_group(priv, &report->mgid);
			ipoib_group_was_created(priv, &report->mgid);
		} else {
			ipoib_group_vanished(priv, &report->mgid);
		}
		kfree(report);
	}
}

static void router_follow_list(struct ipoib_dev *priv, union ib_gid *mgids, int count)
{
	int i;

	priv->groups.news.list_failures = 0;
	for (i = 0; i < count; i++) {
		ipoib_group_was_listed(priv, &mgids[i]);
		router_note_group(priv, &mgids[i]);
		cond_resched();
	}
	ipoib_groups_judge(priv);
}

/* Takes the list from the last answer, or NULL. The request for it is finished or void. */
static union ib_gid *router_take_list(struct ipoib_dev *priv, int *count)
{
	struct ipoib_group_news *news = &priv->groups.news;
	union ib_gid *mgids;

	spin_lock_bh(&news->lock);
	mgids = news->list;
	news->list = NULL;
	news->list_request = IPOIB_REQUEST_NONE;
	*count = news->list_count;
	spin_unlock_bh(&news->lock);
	return mgids;
}

static void router_read_list(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;
	union ib_gid *mgids;
	int count;

	mgids = router_take_list(priv, &count);
	if (count >= 0) {
		router_follow_list(priv, mgids, count);
	} else {
		ipoib_count(priv, IPOIB_STAT_GROUP_LIST_FAILURES);
		news->list_at = ipoib_retry_at(&news->list_failures);
	}
	kvfree(mgids);
}

static void router_forget_list(struct ipoib_dev *priv)
{
	int count;

	kvfree(router_take_list(priv, &count));
}

/* Requests the list if it is due. Returns the jiffies until it is due again, or MAX_JIFFY_OFFSET
 * if it is not needed or a request is outstanding.
 */
static unsigned long router_ask_list(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;
	long period = READ_ONCE(news->reports_come) ? IPOIB_LIST_PERIOD : IPOIB_LIST_PERIOD_DEAF;
	long wait;

	if (!(priv->groups.routing || news->doubts) ||
	    READ_ONCE(news->list_request) == IPOIB_REQUEST_SENT)
		return MAX_JIFFY_OFFSET;
	if (xchg(&news->list_wanted, false))
		news->list_at = jiffies;
	wait = news->list_at - jiffies;
	/* Reports may have come until now */
	if (wait > period)
		news->list_at = jiffies + period;
	if (wait > 0)
		return min(wait, period);
	news->list_at = jiffies + period;
	news->round++;
	WRITE_ONCE(news->list_request, IPOIB_REQUEST_SENT);
	ipoib_count(priv, IPOIB_STAT_GROUP_LISTS);
	if (priv->port->fabric->list(priv))
		ipoib_groups_listed(priv, -EIO, NULL);
	return period;
}

/* Reports have begun to be delivered, or some were lost: finds out what may have been missed */
static void router_begin(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;

	WRITE_ONCE(news->reports_begin, false);
	WRITE_ONCE(news->list_wanted, true);
	ipoib_groups_confirm(priv);
}

static void router_follow_flags(struct ipoib_dev *priv)
{
	bool routing = priv->port->fabric->list && READ_ONCE(priv->netdev->flags) & IFF_ALLMULTI;

	if (routing == priv->groups.routing)
		return;
	priv->groups.routing = routing;
	/* The list is read when reports begin. If they do not, it is read at this time. */
	priv->groups.news.list_at = jiffies + IPOIB_LIST_PERIOD_DEAF;
	ipoib_groups_follow_routing(priv);
}

static void router_choose_reports(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;
	enum ipoib_reports reports = IPOIB_REPORTS_NONE;

	if (priv->groups.routing)
		reports = IPOIB_REPORTS_ALL;
	else if (priv->groups.fleeting || news->doubts)
		reports = IPOIB_REPORTS_DELETED;
	if (reports == news->wanted || !priv->port->fabric->report)
		return;
	news->wanted = reports;
	WRITE_ONCE(news->reports_come, false);
	WRITE_ONCE(news->reports_begin, false);
	priv->port->fabric->report(priv, reports);
	/* The answer to an outstanding request will not be delivered */
	if (!reports)
		router_forget_list(priv);
}

/**
 * ipoib_router_read() - process received reports and lists, and the netdevice's flags
 * @priv: the device; its link runs or waits for the broadcast group
 *
 * Context: control path.
 */
void ipoib_router_read(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;

	router_follow_flags(priv);
	if (READ_ONCE(news->reports_begin))
		router_begin(priv);
	router_read_reports(priv);
	if (READ_ONCE(news->list_request) == IPOIB_REQUEST_ANSWERED)
		router_read_list(priv);
}

/**
 * ipoib_router_ask() - request the reports and the list that are needed now
 * @priv: the device
 *
 * Context: control path.
 * Return: jiffies until this has to be called again, or MAX_JIFFY_OFFSET if only an event
 * requires that.
 */
unsigned long ipoib_router_ask(struct ipoib_dev *priv)
{
	router_choose_reports(priv);
	return router_ask_list(priv);
}

/**
 * ipoib_groups_routing() - tell whether the device is a router
 * @priv: the device
 *
 * Context: control path.
 * Return: true if the device joins all groups of its link.
 */
bool ipoib_groups_routing(const struct ipoib_dev *priv)
{
	return priv->groups.routing;
}

/**
 * ipoib_router_init() - initialize the state of reports and lists
 * @priv: the device
 *
 * Context: any.
 */
void ipoib_router_init(struct ipoib_dev *priv)
{
	struct ipoib_group_news *news = &priv->groups.news;

	spin_lock_init(&news->lock);
	INIT_LIST_HEAD(&news->reports);
}

/**
 * ipoib_router_stop() - end the delivery of reports, and discard those that were received
 * @priv: the device; it has no groups
 *
 * Context: control path.
 */
void ipoib_router_stop(struct ipoib_dev *priv)
{
	priv->groups.routing = false;
	priv->groups.news.doubts = false;
	router_choose_reports(priv);
	/* Only frees the reports, since the device has no groups */
	router_read_reports(priv);
	router_forget_list(priv);
}
