// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the back-off, of the link's states, and of the reasons why there is no
 * carrier: each transition of the drawing in Documentation/ipoib.rst, and each flush
 * level.
 */
#include "ipoib_link.c"
#include "kunit.h"

static void backoff_bounds(struct kunit *test)
{
	unsigned long wait, middle;
	int failures, i;

	for (failures = 0; failures <= U8_MAX; failures++) {
		middle = (HZ / 4) << min(failures, 6);
		for (i = 0; i < 50; i++) {
			wait = ipoib_backoff(failures);
			KUNIT_EXPECT_GE(test, wait, middle - middle / 4);
			/* Divisions round down, and one is subtracted */
			KUNIT_EXPECT_LE(test, wait, middle + middle / 4 + 1);
			KUNIT_EXPECT_GE(test, wait, 1ul);
		}
	}
}

static void backoff_is_random(struct kunit *test)
{
	unsigned long least = ULONG_MAX, most = 0;
	int i;

	for (i = 0; i < 200; i++) {
		least = min(least, ipoib_backoff(6));
		most = max(most, ipoib_backoff(6));
	}
	KUNIT_EXPECT_GT(test, most - least, 4ul * HZ);
}

static struct kunit_case backoff_cases[] = {
	KUNIT_CASE(backoff_bounds),
	KUNIT_CASE(backoff_is_random),
	{}
};

static struct kunit_suite backoff_suite = {
	.name = "ipoib_backoff",
	.test_cases = backoff_cases,
};

static void expect_link(struct kunit *test, enum ipoib_link_state state)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, fx->priv->link.state, state);
	KUNIT_EXPECT_EQ(test, netif_carrier_ok(fx->netdev), state == IPOIB_LINK_RUNNING);
}

static void event(struct fixture *fx, enum ipoib_link_event event)
{
	ipoib_link_event(fx->priv, event);
	fixture_settle(fx);
}

static void link_runs(struct kunit *test)
{
	struct fixture *fx = test->priv;

	expect_link(test, IPOIB_LINK_DOWN);
	fixture_up(test);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, (int)fx->hca->qp->state, (int)IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->qkey, 0xb1bu);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 2044u);
	fixture_down(fx);
	expect_link(test, IPOIB_LINK_DOWN);
	KUNIT_EXPECT_EQ(test, (int)fx->hca->qp->state, (int)IB_QPS_RESET);
}

static void link_waits_for_port(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hca_port_state(fx->hca, IB_PORT_INIT);
	fixture_up(test);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), 0);
	hca_port_state(fx->hca, IB_PORT_ACTIVE);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	hca_port_state(fx->hca, IB_PORT_DOWN);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
	KUNIT_EXPECT_NULL(test, fx->priv->groups.broadcast);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->priv->groups.all));
	fixture_down(fx);
	expect_link(test, IPOIB_LINK_DOWN);
}

static void link_waits_for_pkey(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hca_pkey(fx->hca, 0, 0x8001);
	fixture_up(test);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
	hca_pkey(fx->hca, 3, 0xffff);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->pkey_index, 3);
	hca_pkey(fx->hca, 3, 0);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
}

static void link_waits_for_join(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->fabric.answers = false;
	fixture_up(test);
	expect_link(test, IPOIB_LINK_WAIT_JOIN);
	KUNIT_ASSERT_NOT_NULL(test, fx->priv->groups.broadcast);
	ipoib_group_answer(fx->priv->groups.broadcast, -EINVAL, NULL);
	fixture_settle(fx);
	expect_link(test, IPOIB_LINK_WAIT_JOIN);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.broadcast->dest.failures, 1);
	ipoib_group_answer(fx->priv->groups.broadcast, 0, &fx->fabric.params);
	fixture_settle(fx);
	expect_link(test, IPOIB_LINK_RUNNING);
}

static void link_down_while_joining(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int leaves;

	fx->fabric.answers = false;
	fixture_up(test);
	leaves = atomic_read(&fx->fabric.leaves);
	fixture_down(fx);
	expect_link(test, IPOIB_LINK_DOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 1);
	fx->fabric.answers = true;
	fixture_up(test);
	expect_link(test, IPOIB_LINK_RUNNING);
}

/* What the HCA has said about the port serves until the port's next event, for all netdevices and
 * whatever the link looks at
 */
static void link_asks_once(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int queries, i;

	fixture_up(test);
	hca_event(fx->hca, IB_EVENT_CLIENT_REREGISTER);
	fixture_settle(fx);
	queries = atomic_read(&fx->hca->queries);
	for (i = IPOIB_EVENT_CHECK; i <= IPOIB_EVENT_ADDRESS; i++)
		event(fx, i);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->queries), queries);
}

static void link_light(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int joins;

	fixture_up(test);
	joins = atomic_read(&fx->fabric.joins);
	event(fx, IPOIB_EVENT_LIGHT);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 0ull);
}

static void link_normal(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int joins;

	fixture_up(test);
	joins = atomic_read(&fx->fabric.joins);
	event(fx, IPOIB_EVENT_NORMAL);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_GT(test, atomic_read(&fx->fabric.joins), joins);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 0ull);
}

static void link_heavy(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_up(test);
	event(fx, IPOIB_EVENT_HEAVY);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, (int)fx->hca->qp->state, (int)IB_QPS_RTS);
}

static void link_pkey_moves(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_up(test);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->pkey_index, 0);
	hca_pkey(fx->hca, 0, 0x8001);
	hca_pkey(fx->hca, 5, 0xffff);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->pkey_index, 5);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
}

static void link_new_gid(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ipoib_hwaddr *hwaddr = (const void *)fx->netdev->dev_addr;

	fixture_up(test);
	fx->hca->gid.global.subnet_prefix = cpu_to_be64(0xfec0000000000001ULL);
	hca_event(fx->hca, IB_EVENT_GID_CHANGE);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, memcmp(hwaddr->gid, fx->hca->gid.raw, sizeof(hwaddr->gid)), 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 0ull);
}

/* Sets the link up while the n-th verb fails. Returns whether a verb has failed. */
static bool up_with_fault(struct kunit *test, int n)
{
	struct fixture *fx = test->priv;
	bool failed;

	atomic_set(&fx->hca->fail_in, n);
	fixture_up(test);
	failed = atomic_read(&fx->hca->fail_in) <= 0;
	atomic_set(&fx->hca->fail_in, 0);
	return failed;
}

/* Any verb that fails is tried again until it succeeds; a flush ends the back-off */
static void link_verbs(struct kunit *test)
{
	struct fixture *fx = test->priv;
	bool failed;
	int n = 0;

	do {
		failed = up_with_fault(test, ++n);
		if (failed)
			event(fx, IPOIB_EVENT_NORMAL);
		expect_link(test, IPOIB_LINK_RUNNING);
		fixture_down(fx);
		expect_link(test, IPOIB_LINK_DOWN);
	} while (failed);
	kunit_info(test, "%d in turn failed\n", n - 1);
	KUNIT_EXPECT_GT(test, n, 8);
}

static void link_qkey_cannot_be_set(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->fabric.answers = false;
	fixture_up(test);
	atomic_set(&fx->hca->fail_in, 3);	/* the verb after attach_mcast and create_ah */
	fx->fabric.answers = true;
	ipoib_group_answer(fx->priv->groups.broadcast, 0, &fx->fabric.params);
	fixture_settle(fx);
	/* Not retried at once, as the fabric may answer within microseconds, each time */
	expect_link(test, IPOIB_LINK_WAIT_JOIN);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&fx->priv->link.work));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 0ull);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->qkey, 0xb1bu);
}

/* The group's MTU limits the link's MTU; a smaller one that was configured is kept */
static void link_mtu(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int err;

	fixture_up(test);
	rtnl_lock();
	err = dev_set_mtu(fx->netdev, 1500);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, err, 0);
	fx->fabric.params.mtu = IB_MTU_1024;
	event(fx, IPOIB_EVENT_NORMAL);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 1020u);
	fx->fabric.params.mtu = IB_MTU_4096;
	event(fx, IPOIB_EVENT_NORMAL);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 1500u);
	KUNIT_EXPECT_EQ(test, fx->netdev->max_mtu, 4092u);
}

static void expect_reason(struct kunit *test, enum ipoib_reason reason)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_STREQ(test, ipoib_reason_name(ipoib_link_reason(fx->priv)),
			   ipoib_reason_name(reason));
}

static void expect_reason_in(struct kunit *test, enum ib_port_state state,
			     enum ipoib_reason reason)
{
	struct fixture *fx = test->priv;

	hca_port_state(fx->hca, state);
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, reason);
}

/* The reason that is nearest to the cable comes first */
static void reason_of_waiting(struct kunit *test)
{
	struct fixture *fx = test->priv;

	expect_reason(test, IPOIB_REASON_ADMIN_DOWN);
	hca_port_state(fx->hca, IB_PORT_DOWN);
	hca_pkey(fx->hca, 0, 0x8001);
	fixture_up(test);
	expect_reason(test, IPOIB_REASON_PORT_DOWN);
	expect_reason_in(test, IB_PORT_INIT, IPOIB_REASON_PORT_INIT);
	expect_reason_in(test, IB_PORT_ARMED, IPOIB_REASON_PORT_ARMED);
	expect_reason_in(test, IB_PORT_ACTIVE, IPOIB_REASON_NO_PKEY);
	fx->fabric.answers = false;
	hca_pkey(fx->hca, 0, 0xffff);
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, IPOIB_REASON_JOINING);
	ipoib_group_answer(fx->priv->groups.broadcast, 0, &fx->fabric.params);
	fixture_settle(fx);
	expect_reason(test, IPOIB_REASON_NONE);
	expect_link(test, IPOIB_LINK_RUNNING);
	fixture_down(fx);
	expect_reason(test, IPOIB_REASON_ADMIN_DOWN);
}

/* Nobody can look after the cable of a virtual function */
static void reason_of_vf(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u64 *flags = &fx->hca->ibdev.attrs.kernel_cap_flags;

	*flags |= IBK_VIRTUAL_FUNCTION;
	hca_port_state(fx->hca, IB_PORT_DOWN);
	fixture_up(test);
	expect_reason(test, IPOIB_REASON_VF_DOWN);
	expect_reason_in(test, IB_PORT_INIT, IPOIB_REASON_VF_INIT);
	expect_reason_in(test, IB_PORT_ACTIVE, IPOIB_REASON_NONE);
	*flags &= ~(u64)IBK_VIRTUAL_FUNCTION;
}

static void reason_of_hca(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hca_port_state(fx->hca, IB_PORT_DOWN);
	fixture_up(test);
	expect_reason(test, IPOIB_REASON_PORT_DOWN);
	atomic_set(&fx->hca->fail_in, 1);
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, IPOIB_REASON_HCA_FAILED);
	/* It says that the port is ACTIVE, and ib_core does not know yet */
	fx->hca->state = IB_PORT_ACTIVE;
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, IPOIB_REASON_NONE);
}

/* When updates of ib_core's cache overlap, the last one may store an old state */
static void cached_state_is_old(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_port_cache *cache = &fx->hca->ibdev.port_data[1].cache;

	fixture_up(test);
	expect_link(test, IPOIB_LINK_RUNNING);
	cache->port_state = IB_PORT_INIT;
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	hca_port_state(fx->hca, IB_PORT_DOWN);
	cache->port_state = IB_PORT_ACTIVE;
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
	cache->port_state = IB_PORT_DOWN;
}

/* The HCA is not asked by a netdevice that does not wait for its port */
static void not_asked_while_down(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int queries;

	hca_port_state(fx->hca, IB_PORT_DOWN);
	fixture_settle(fx);
	queries = atomic_read(&fx->hca->queries);
	event(fx, IPOIB_EVENT_CHECK);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->queries), queries);
	fixture_up(test);
	KUNIT_EXPECT_GT(test, atomic_read(&fx->hca->queries), queries);
}

static void reason_of_guid(struct kunit *test)
{
	struct fixture *fx = test->priv;

	WRITE_ONCE(fx->priv->admin_guid, cpu_to_be64(0x1234));
	fixture_up(test);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
	expect_reason(test, IPOIB_REASON_NO_GUID);
	WRITE_ONCE(fx->priv->admin_guid, 0);
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, IPOIB_REASON_NONE);
}

static int gid_misses;

static enum ipoib_reason port_ready_without_gid(struct ipoib_dev *priv, union ib_gid *gid)
{
	if (gid_misses-- > 0)
		return IPOIB_REASON_NO_GID;
	return ipoib_sa_ops.port_ready(priv, gid);
}

/* ib_core's table lacks the GID at one look: the link runs on. If the GID stays away, the link goes
 * down, and looks for it each second.
 */
static void gid_is_missed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int leaves;

	fixture_up(test);
	leaves = atomic_read(&fx->fabric.leaves);
	fx->fabric.ops.port_ready = port_ready_without_gid;
	gid_misses = 1;
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves);
	gid_misses = INT_MAX;
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_WAIT_PORT);
	expect_reason(test, IPOIB_REASON_NO_GID);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fx->priv->link.work.timer.expires, jiffies + HZ));
	gid_misses = 0;
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_TRUE(test, time_after(fx->priv->link.work.timer.expires, jiffies + HZ));
}

static void answer_broadcast(struct fixture *fx, int status)
{
	ipoib_group_answer(fx->priv->groups.broadcast, status, &fx->fabric.params);
	fixture_settle(fx);
}

static void reason_of_join(struct kunit *test)
{
	static const struct {
		int status;
		enum ipoib_reason reason;
	} joins[] = {
		{ -EAGAIN, IPOIB_REASON_NO_SM },
		{ -ETIMEDOUT, IPOIB_REASON_NO_ANSWER },
		{ -EINVAL, IPOIB_REASON_REFUSED },
		{ -EPROTO, IPOIB_REASON_BAD_GROUP },
		{ -EMSGSIZE, IPOIB_REASON_BAD_GROUP },
		{ -ENOMEM, IPOIB_REASON_JOIN_FAILED },
		{ -EINTR, IPOIB_REASON_JOIN_FAILED },
	};
	struct fixture *fx = test->priv;
	unsigned int i;

	fx->fabric.answers = false;
	fixture_up(test);
	for (i = 0; i < ARRAY_SIZE(joins); i++) {
		answer_broadcast(fx, joins[i].status);
		expect_link(test, IPOIB_LINK_WAIT_JOIN);
		expect_reason(test, joins[i].reason);
	}
	/* An event that changes nothing does not bring a new reason */
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, IPOIB_REASON_JOIN_FAILED);
	fx->fabric.attr_error = -EINVAL;
	answer_broadcast(fx, 0);
	expect_reason(test, IPOIB_REASON_NOT_ATTACHED);
	fx->fabric.attr_error = 0;
	answer_broadcast(fx, 0);
	expect_reason(test, IPOIB_REASON_NONE);
}

/* A link that runs has carrier, whatever becomes of a rejoin, or of another group */
static void reason_of_rejoin(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_up(test);
	fx->fabric.answers = false;
	answer_broadcast(fx, -ENETRESET);
	answer_broadcast(fx, -ETIMEDOUT);
	expect_link(test, IPOIB_LINK_RUNNING);
	expect_reason(test, IPOIB_REASON_NONE);
}

/* The reason of a failure is kept by a retry, from which nothing is known yet */
static void reason_of_setup(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->fabric.answers = false;
	fixture_up(test);
	atomic_set(&fx->hca->fail_in, 3);	/* the verb after attach_mcast and create_ah */
	answer_broadcast(fx, 0);
	expect_reason(test, IPOIB_REASON_NO_QKEY);
	event(fx, IPOIB_EVENT_CHECK);
	expect_link(test, IPOIB_LINK_WAIT_JOIN);
	expect_reason(test, IPOIB_REASON_NO_QKEY);
	answer_broadcast(fx, 0);
	expect_reason(test, IPOIB_REASON_NONE);
	fixture_down(fx);
	atomic_set(&fx->hca->fail_in, 1);	/* the first verb that starts the QP */
	fixture_up(test);
	expect_reason(test, IPOIB_REASON_NO_QP);
	event(fx, IPOIB_EVENT_CHECK);
	expect_reason(test, IPOIB_REASON_JOINING);
}

static void reason_of_port_state(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipoib_reason_of_port(IB_PORT_ACTIVE), IPOIB_REASON_NONE);
	KUNIT_EXPECT_EQ(test, ipoib_reason_of_port(IB_PORT_NOP), IPOIB_REASON_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, ipoib_reason_of_port(IB_PORT_ACTIVE_DEFER), IPOIB_REASON_PORT_DOWN);
}

static void reasons_have_names(struct kunit *test)
{
	int i, k;

	for (i = 0; i < IPOIB_REASON_COUNT; i++) {
		KUNIT_ASSERT_NOT_NULL(test, ipoib_reason_name(i));
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, ipoib_reason_name(i), ipoib_reason_name(k));
	}
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE(link_runs),
	KUNIT_CASE(link_waits_for_port),
	KUNIT_CASE(link_waits_for_pkey),
	KUNIT_CASE(link_waits_for_join),
	KUNIT_CASE(link_down_while_joining),
	KUNIT_CASE(link_asks_once),
	KUNIT_CASE(link_light),
	KUNIT_CASE(link_normal),
	KUNIT_CASE(link_heavy),
	KUNIT_CASE(link_pkey_moves),
	KUNIT_CASE(link_new_gid),
	KUNIT_CASE(link_verbs),
	KUNIT_CASE(link_qkey_cannot_be_set),
	KUNIT_CASE(link_mtu),
	KUNIT_CASE(reason_of_waiting),
	KUNIT_CASE(reason_of_vf),
	KUNIT_CASE(reason_of_hca),
	KUNIT_CASE(not_asked_while_down),
	KUNIT_CASE(cached_state_is_old),
	KUNIT_CASE(reason_of_guid),
	KUNIT_CASE(gid_is_missed),
	KUNIT_CASE(reason_of_join),
	KUNIT_CASE(reason_of_rejoin),
	KUNIT_CASE(reason_of_setup),
	KUNIT_CASE(reason_of_port_state),
	KUNIT_CASE(reasons_have_names),
	{}
};

static struct kunit_suite link_suite = {
	.name = "ipoib_link",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = link_cases,
};

kunit_test_suites(&backoff_suite, &link_suite);
