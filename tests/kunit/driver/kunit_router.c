// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of reports about groups that other hosts create and delete: which
 * groups a router joins and leaves, and what happens to groups that are only
 * sent to.
 */
#include <linux/rtnetlink.h>
#include <net/ip.h>

#include "ipoib_router.c"
#include "kunit.h"

/* The MGID of 239.0.0.LAST */
static void group_mgid(struct fixture *fx, union ib_gid *mgid, u8 last)
{
	struct ipoib_hwaddr hwaddr;

	ip_ib_mc_map(htonl(0xef000000 | last), fx->netdev->broadcast, (u8 *)&hwaddr);
	memcpy(mgid, hwaddr.gid, sizeof(*mgid));
}

/* To be called only while the driver has nothing to do */
static struct ipoib_group *group_of(struct fixture *fx, u8 last)
{
	struct ipoib_group *group;
	union ib_gid mgid;

	group_mgid(fx, &mgid, last);
	list_for_each_entry(group, &fx->priv->groups.all, all)
		if (!memcmp(&group->dest.gid, &mgid, sizeof(mgid)))
			return group;
	return NULL;
}

static int role_of(struct fixture *fx, u8 last)
{
	struct ipoib_group *group = group_of(fx, last);

	return group ? (int)group->role : -1;
}

static void allmulti(struct fixture *fx, int inc)
{
	rtnl_lock();
	dev_set_allmulti(fx->netdev, inc);
	rtnl_unlock();
	fixture_settle(fx);
}

static void report(struct fixture *fx, u8 last, bool exists)
{
	union ib_gid mgid;

	group_mgid(fx, &mgid, last);
	ipoib_group_report(fx->priv, &mgid, exists);
	fixture_settle(fx);
}

/* The SA has confirmed the subscriptions */
static void reports_begin(struct fixture *fx)
{
	ipoib_groups_reported(fx->priv, 0);
	fixture_settle(fx);
}

/* The SA's list of groups: 239.0.0.FIRST to LAST, and two groups of other links */
static void list_answer(struct kunit *test, u8 first, u8 last)
{
	struct fixture *fx = test->priv;
	union ib_gid *mgids = kvcalloc(last - first + 3, sizeof(*mgids), GFP_KERNEL);
	int n = 0;

	KUNIT_ASSERT_NOT_NULL(test, mgids);
	for (; first <= last; first++)
		group_mgid(fx, &mgids[n++], first);
	group_mgid(fx, &mgids[n], 200);
	mgids[n++].raw[5] ^= 1;
	group_mgid(fx, &mgids[n], 201);
	mgids[n++].raw[1] = 0x15;
	ipoib_groups_listed(fx->priv, n, mgids);
	fixture_settle(fx);
}

/* A list of one group */
static union ib_gid *kvmemdup_gid(struct kunit *test, const union ib_gid *gid)
{
	union ib_gid *copy = kvmalloc(sizeof(*copy), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	*copy = *gid;
	return copy;
}

static void listen(struct fixture *fx, u8 last, bool on)
{
	struct ipoib_hwaddr hwaddr;

	ip_ib_mc_map(htonl(0xef000000 | last), fx->netdev->broadcast, (u8 *)&hwaddr);
	rtnl_lock();
	if (on)
		dev_mc_add(fx->netdev, (u8 *)&hwaddr);
	else
		dev_mc_del(fx->netdev, (u8 *)&hwaddr);
	rtnl_unlock();
	fixture_settle(fx);
}

static void send_to(struct kunit *test, u8 last)
{
	struct fixture *fx = test->priv;
	union ib_gid mgid;

	group_mgid(fx, &mgid, last);
	fixture_send(fx, fixture_packet(test, mgid.raw, 100), false);
	fixture_settle(fx);
}

/* Lets the driver request the list now */
static void list_is_due(struct fixture *fx)
{
	fx->priv->groups.news.list_at = jiffies;
	ipoib_groups_kick(fx->priv);
	fixture_settle(fx);
}

/* A router whose SA sends reports and has listed 239.0.0.1 and 2 */
static struct fixture *router_make(struct kunit *test)
{
	struct fixture *fx = test->priv;

	allmulti(fx, 1);
	reports_begin(fx);
	list_answer(test, 1, 2);
	return fx;
}

static const struct {
	u8 index, value;
} router_foreign[] = {
	{ 0, 0xfe },		/* not a multicast GID */
	{ 1, 0x02 },		/* not transient */
	{ 1, 0x15 },		/* another scope */
	{ 2, 0xa0 },		/* another signature */
	{ 4, 0x7f },		/* a limited member's P_Key */
	{ 5, 0xfe },		/* another partition */
};

static void router_mgids(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid good, bad;
	int i;

	group_mgid(fx, &good, 1);
	KUNIT_EXPECT_TRUE(test, ipoib_mgid_is_ours(fx->priv, &good));
	good.raw[2] = 0x60;
	KUNIT_EXPECT_TRUE(test, ipoib_mgid_is_ours(fx->priv, &good));
	for (i = 0; i < ARRAY_SIZE(router_foreign); i++) {
		bad = good;
		bad.raw[router_foreign[i].index] = router_foreign[i].value;
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_mgid_is_ours(fx->priv, &bad), "octet %u",
				       router_foreign[i].index);
	}
}

/* When the subscriptions are confirmed, the driver requests the list of groups */
static void router_begins(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_NONE);
	allmulti(fx, 1);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_ALL);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), 0);
	reports_begin(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), 1);
	list_answer(test, 1, 2);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_EQ(test, role_of(fx, 2), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 1)->attached);
	KUNIT_EXPECT_EQ(test, role_of(fx, 200), -1);
	KUNIT_EXPECT_EQ(test, role_of(fx, 201), -1);
	allmulti(fx, -1);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), -1);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_NONE);
}

static void router_reports(struct kunit *test)
{
	struct fixture *fx = router_make(test);

	report(fx, 3, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
	report(fx, 1, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), -1);
	report(fx, 99, false);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_REPORTS_CREATED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_REPORTS_DELETED), 2ull);
	allmulti(fx, -1);
	report(fx, 4, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 4), -1);
}

/* A group is left if it is not in the list and was not reported since the list was requested */
static void router_sweeps(struct kunit *test)
{
	struct fixture *fx = router_make(test);

	listen(fx, 7, true);
	WRITE_ONCE(fx->priv->groups.news.list_wanted, true);
	ipoib_groups_kick(fx->priv);
	fixture_settle(fx);
	report(fx, 5, true);
	list_answer(test, 2, 3);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), -1);
	KUNIT_EXPECT_EQ(test, role_of(fx, 2), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_EQ(test, role_of(fx, 5), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_EQ(test, role_of(fx, 7), (int)IPOIB_GROUP_MEMBER);
}

static void router_list_fails(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	int lists = atomic_read(&fx->fabric.lists);

	fx->fabric.list_error = -ENOMEM;
	WRITE_ONCE(fx->priv->groups.news.list_wanted, true);
	ipoib_groups_kick(fx->priv);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_LIST_FAILURES), 1ull);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_TRUE(test, time_before(fx->priv->groups.news.list_at,
					    jiffies + IPOIB_LIST_PERIOD_DEAF));
}

/* The stack starts and stops listening to a group while others are members */
static void router_listens(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	int leaves = atomic_read(&fx->fabric.leaves);

	listen(fx, 1, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), (int)IPOIB_GROUP_MEMBER);
	listen(fx, 1, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 1)->joined);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 2);
	/* Nobody else is a member: leaving deletes the group, which the SA reports */
	listen(fx, 9, true);
	fx->fabric.status = -EINVAL;
	listen(fx, 9, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 9), (int)IPOIB_GROUP_ROUTER);
	report(fx, 9, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 9), -1);
}

/* ib_core returns -EINVAL also if the SA is busy, so the join is repeated and
 * the list is requested soon. A group that is not in the list is left.
 */
static void router_is_refused(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	int lists = atomic_read(&fx->fabric.lists), failures;

	fx->fabric.status = -EINVAL;
	report(fx, 3, true);
	report(fx, 4, true);
	KUNIT_ASSERT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
	failures = group_of(fx, 3)->dest.failures;
	KUNIT_EXPECT_GT(test, failures, 0);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fx->priv->groups.news.list_at,
					       jiffies + IPOIB_LIST_DOUBT));
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists);
	fixture_group_retry(fx, group_of(fx, 3));
	KUNIT_EXPECT_GT(test, (int)group_of(fx, 3)->dest.failures, failures);
	fx->fabric.status = 0;
	fixture_group_retry(fx, group_of(fx, 3));
	KUNIT_EXPECT_TRUE(test, group_of(fx, 3)->joined);
	list_is_due(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	list_answer(test, 1, 3);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_EQ(test, role_of(fx, 4), -1);
}

/* No more groups than the limit are joined, whether by reports or by the list */
static void router_is_bounded(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	u32 *heard = &fx->priv->groups.of[IPOIB_GROUP_ROUTER];
	u32 more = IPOIB_GROUPS_HEARD_MAX - *heard;
	int lists = atomic_read(&fx->fabric.lists);

	*heard += more;
	report(fx, 3, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), -1);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_LIMIT), 1ull);
	list_is_due(fx);
	list_answer(test, 1, 4);
	KUNIT_EXPECT_EQ(test, role_of(fx, 4), -1);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_LIMIT), 3ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	*heard -= more;
	report(fx, 3, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
}

/* After a report that the broadcast group was deleted, it is kept until the list confirms that */
static void broadcast_deleted(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *broadcast = fx->priv->groups.broadcast;
	struct ipoib_ah *ah = rcu_access_pointer(broadcast->dest.ah);
	int joins, leaves, lists;
	union ib_gid *mgids;

	fx->fabric.params.fleeting = true;
	send_to(test, 1);
	reports_begin(fx);
	joins = atomic_read(&fx->fabric.joins);
	leaves = atomic_read(&fx->fabric.leaves);
	lists = atomic_read(&fx->fabric.lists);
	ipoib_group_report(fx->priv, &broadcast->dest.gid, false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(broadcast->dest.ah), ah);
	KUNIT_EXPECT_TRUE(test, broadcast->joined && broadcast->attached);
	/* The request for the list fails and is repeated */
	ipoib_groups_listed(fx->priv, -ETIMEDOUT, NULL);
	fixture_settle(fx);
	list_is_due(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 2);
	mgids = kvmemdup_gid(test, &broadcast->dest.gid);
	ipoib_groups_listed(fx->priv, 1, mgids);
	fixture_settle(fx);
	list_is_due(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(broadcast->dest.ah), ah);
	/* Now the list confirms that the group was deleted */
	ipoib_group_report(fx->priv, &broadcast->dest.gid, false);
	fixture_settle(fx);
	list_answer(test, 1, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 1);
	fixture_group_retry(fx, broadcast);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 1);
	KUNIT_EXPECT_TRUE(test, broadcast->joined);
	KUNIT_EXPECT_EQ(test, (int)fx->priv->link.state, (int)IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, role_of(fx, 2), -1);
}

/* Routing is disabled before the list has arrived, and enabled again */
static void router_forgets_list(struct kunit *test)
{
	struct fixture *fx = test->priv;

	allmulti(fx, 1);
	reports_begin(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), 1);
	allmulti(fx, -1);
	allmulti(fx, 1);
	reports_begin(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), 2);
	list_answer(test, 1, 1);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), (int)IPOIB_GROUP_ROUTER);
}

/* A join that a busy SA does not answer is repeated */
static void router_retries(struct kunit *test)
{
	struct fixture *fx = router_make(test);

	fx->fabric.status = -ETIMEDOUT;
	report(fx, 3, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
	KUNIT_EXPECT_EQ(test, group_of(fx, 3)->dest.failures, 1);
}

/* The Report of a deletion that is repeated after the group was created again is not believed for
 * long
 */
static void router_late_report(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	struct ipoib_group_news *news = &fx->priv->groups.news;

	report(fx, 3, true);
	report(fx, 3, true);
	report(fx, 3, false);
	KUNIT_EXPECT_TRUE(test, time_before_eq(news->list_at, jiffies + IPOIB_LIST_DOUBT));
	news->list_at = jiffies + IPOIB_LIST_PERIOD;
	report(fx, 3, true);
	group_of(fx, 3)->reported -= IPOIB_LIST_DOUBT;
	report(fx, 3, false);
	KUNIT_EXPECT_TRUE(test, time_after(news->list_at, jiffies + IPOIB_LIST_DOUBT));
	/* One that only the list has was not created again */
	list_answer(test, 3, 4);
	news->list_at = jiffies + IPOIB_LIST_PERIOD;
	report(fx, 3, false);
	KUNIT_EXPECT_TRUE(test, time_after(news->list_at, jiffies + IPOIB_LIST_DOUBT));
}

/* If Reports cease to come, the list is read as often as without them */
static void router_goes_deaf(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	struct ipoib_group_news *news = &fx->priv->groups.news;

	KUNIT_EXPECT_TRUE(test, time_after(news->list_at, jiffies + IPOIB_LIST_PERIOD_DEAF));
	ipoib_groups_reported(fx->priv, -ETIMEDOUT);
	fixture_settle(fx);
	KUNIT_EXPECT_TRUE(test, time_before_eq(news->list_at, jiffies + IPOIB_LIST_PERIOD_DEAF));
}

/* A router also receives from the groups that it sends to */
static void router_sends(struct kunit *test)
{
	struct fixture *fx = test->priv;

	send_to(test, 3);
	KUNIT_EXPECT_FALSE(test, group_of(fx, 3)->attached);
	router_make(test);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_SEND_ONLY);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 3)->attached);
	send_to(test, 4);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 4)->attached);
	allmulti(fx, -1);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_SEND_ONLY);
	KUNIT_EXPECT_FALSE(test, group_of(fx, 3)->attached);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 3)->joined);
}

/* A packet waits for a group that is deleted before the join is answered */
static void router_keeps_packets(struct kunit *test)
{
	struct fixture *fx = router_make(test);

	fx->fabric.answers = false;
	report(fx, 3, true);
	send_to(test, 3);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
	fx->fabric.answers = true;
	report(fx, 3, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
}

/* A send-only membership does not keep a group: after the report of its
 * deletion nothing goes to its MLID
 */
static void fleeting_deleted(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->fabric.params.fleeting = true;
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_DELETED);
	reports_begin(fx);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 1)->joined);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), 0);
	report(fx, 2, true);
	KUNIT_EXPECT_EQ(test, role_of(fx, 2), -1);
	report(fx, 1, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), -1);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_NONE);
	fx->fabric.params.fleeting = false;
	fx->fabric.params.mlid = 0xc009;
	send_to(test, 1);
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc009);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_NONE);
}

/* The group may have been deleted before the subscription was confirmed, so it is joined again */
static void fleeting_confirmed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int joins;

	fx->fabric.params.fleeting = true;
	send_to(test, 1);
	joins = atomic_read(&fx->fabric.joins);
	fx->fabric.params.mlid = 0xc009;
	reports_begin(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 1);
	KUNIT_EXPECT_EQ(test, group_of(fx, 1)->params.mlid, 0xc009);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_DELETED);
}

/* The report of the deletion of a group that is being joined */
static void deleted_while_joining(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int joins = atomic_read(&fx->fabric.joins);

	fx->fabric.answers = false;
	send_to(test, 2);
	report(fx, 2, false);
	KUNIT_EXPECT_EQ(test, role_of(fx, 2), (int)IPOIB_GROUP_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&group_of(fx, 2)->dest.queue), 1u);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 2);
}

/* Groups that memberships of this host keep alive are reported deleted: one that it listens to, and
 * one that it sends to. They are kept if the fabric's list has them, and joined again if not. A
 * list that was requested before does not decide.
 */
static void deleted_while_ours(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group_news *news = &fx->priv->groups.news;
	int joins, leaves, lists = atomic_read(&fx->fabric.lists);

	listen(fx, 1, true);
	send_to(test, 2);
	joins = atomic_read(&fx->fabric.joins);
	leaves = atomic_read(&fx->fabric.leaves);
	news->list_at = jiffies + IPOIB_LIST_PERIOD;
	report(fx, 1, false);
	list_is_due(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_DELETED);
	report(fx, 2, false);
	KUNIT_ASSERT_NOT_NULL(test, group_of(fx, 2));
	list_answer(test, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fx->priv->groups.news.list_at,
					       jiffies + IPOIB_LIST_DOUBT));
	list_is_due(fx);
	list_answer(test, 2, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(group_of(fx, 1)->dest.ah));
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_NONE);

	report(fx, 1, false);
	report(fx, 2, false);
	fx->fabric.answers = false;
	list_is_due(fx);
	list_answer(test, 2, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 1);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(group_of(fx, 1)->dest.ah));
	KUNIT_EXPECT_TRUE(test, group_of(fx, 2)->joined);
	fixture_group_retry(fx, group_of(fx, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 1);
	ipoib_group_answer(group_of(fx, 1), 0, &fx->fabric.params);
	fixture_settle(fx);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 1)->joined);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), (int)IPOIB_GROUP_MEMBER);
}

/* A join that is refused while the previous membership is being left is not counted as a failure */
static void join_again(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group;

	fx->fabric.again = true;
	send_to(test, 1);
	group = group_of(fx, 1);
	KUNIT_ASSERT_NOT_NULL(test, group);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 0);
	fixture_group_retry(fx, group);
	KUNIT_EXPECT_TRUE(test, group->joined);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_FAILURES), 0ull);
}

/* If more reports arrive than are queued, the list is requested */
static void reports_overflow(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	int lists = atomic_read(&fx->fabric.lists), i;
	union ib_gid mgid;

	group_mgid(fx, &mgid, 3);
	fx->priv->groups.news.reports_count = IPOIB_REPORTS_MAX;
	ipoib_group_report(fx->priv, &mgid, true);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), -1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.lists), lists + 1);
	list_answer(test, 1, 3);
	KUNIT_EXPECT_EQ(test, role_of(fx, 3), (int)IPOIB_GROUP_ROUTER);
	for (i = 0; i < 10; i++)
		report(fx, 4, true);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.news.reports_count, 0u);
}

/* The link goes down with reports and a list that have not been processed */
static void router_goes_down(struct kunit *test)
{
	struct fixture *fx = router_make(test);
	union ib_gid mgid;

	group_mgid(fx, &mgid, 3);
	ipoib_group_report(fx->priv, &mgid, true);
	ipoib_groups_listed(fx->priv, 0, kvzalloc(sizeof(mgid), GFP_KERNEL));
	fixture_down(fx);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_NONE);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->priv->groups.news.reports));
	fixture_up(test);
	KUNIT_EXPECT_EQ(test, (int)fx->fabric.reports, (int)IPOIB_REPORTS_ALL);
	KUNIT_EXPECT_EQ(test, role_of(fx, 1), -1);
}

static struct kunit_case router_cases[] = {
	KUNIT_CASE(router_mgids),
	KUNIT_CASE(router_begins),
	KUNIT_CASE(router_reports),
	KUNIT_CASE(router_sweeps),
	KUNIT_CASE(router_list_fails),
	KUNIT_CASE(router_listens),
	KUNIT_CASE(router_is_refused),
	KUNIT_CASE(router_is_bounded),
	KUNIT_CASE(router_forgets_list),
	KUNIT_CASE(broadcast_deleted),
	KUNIT_CASE(router_retries),
	KUNIT_CASE(router_late_report),
	KUNIT_CASE(router_goes_deaf),
	KUNIT_CASE(router_sends),
	KUNIT_CASE(router_keeps_packets),
	KUNIT_CASE(fleeting_deleted),
	KUNIT_CASE(fleeting_confirmed),
	KUNIT_CASE(deleted_while_joining),
	KUNIT_CASE(deleted_while_ours),
	KUNIT_CASE(join_again),
	KUNIT_CASE(reports_overflow),
	KUNIT_CASE(router_goes_down),
	{}
};

static struct kunit_suite router_suite = {
	.name = "ipoib_router",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_running,
	.exit = fixture_exit,
	.test_cases = router_cases,
};

kunit_test_suites(&router_suite);
