// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of what is asked of a subnet administrator, how its answers are read, and
 * what the port's events lead to.
 */
#include <linux/rtnetlink.h>

#include "ipoib_sa.c"
#include "kunit.h"

static const struct ipoib_group_params sa_params = {
	.qkey = 0x12345678,
	.flow_label = 0x9abcd,
	.mlid = 0xc123,
	.mtu = IB_MTU_2048,
	.rate = IB_RATE_100_GBPS,
	.sl = 5,
	.traffic_class = 0x42,
	.hop_limit = 9,
};

static void sa_params_both_ways(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec = {};
	struct ipoib_group_params params;

	sa_rec_from_params(&sa_params, &rec);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.qkey), 0x12345678u);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rec.mlid), 0xc123);
	KUNIT_EXPECT_EQ(test, rec.mtu_selector, IB_SA_EQ);
	KUNIT_EXPECT_EQ(test, rec.rate_selector, IB_SA_EQ);
	memset(&params, 0, sizeof(params));
	sa_params_from_rec(&rec, &params);
	KUNIT_EXPECT_EQ(test, memcmp(&params, &sa_params, sizeof(params)), 0);
}

/* A group that is only sent to: the newer kind first, then by turns */
static void sa_join_states(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_SEND_ONLY;
	for (group->failures = 0; group->failures < 10; group->failures++)
		KUNIT_EXPECT_EQ(test, sa_join_state(group),
				group->failures % 2 ? BIT(SENDONLY_NONMEBER_JOIN) :
						      BIT(SENDONLY_FULLMEMBER_JOIN));
	group->role = IPOIB_GROUP_MEMBER;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
	group->role = IPOIB_GROUP_BROADCAST;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
}

/* A router keeps no group that it only hears, and hears what it sends to */
static void sa_join_states_of_router(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	struct ib_sa_mcmember_rec rec;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	fixture_up(test);
	fx->priv->routing = true;
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_ROUTER;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(NONMEMBER_JOIN));
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == sa_join_mask);
	group->role = IPOIB_GROUP_SEND_ONLY;
	KUNIT_EXPECT_EQ(test, sa_join_state(group),
			BIT(NONMEMBER_JOIN) | BIT(SENDONLY_FULLMEMBER_JOIN));
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == (sa_join_mask | sa_create_mask));
	group->failures = 1;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(NONMEMBER_JOIN));
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == sa_join_mask);
	group->role = IPOIB_GROUP_MEMBER;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
	fx->priv->routing = false;
}

/* Only who may create a group says what it is to be like */
static void sa_join_records(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	struct ib_sa_mcmember_rec rec;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	fixture_up(test);
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_BROADCAST;
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == sa_join_mask);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rec.pkey), 0xffff);
	KUNIT_EXPECT_EQ(test, memcmp(&rec.port_gid, &fx->hca->gid, sizeof(rec.port_gid)), 0);
	group->role = IPOIB_GROUP_MEMBER;
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == (sa_join_mask | sa_create_mask));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.qkey), 0xb1bu);
	KUNIT_EXPECT_EQ(test, rec.mtu, IB_MTU_2048);
	group->role = IPOIB_GROUP_SEND_ONLY;
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == (sa_join_mask | sa_create_mask));
	group->failures = 1;
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == sa_join_mask);
}

static void sa_speeds(struct kunit *test)
{
	static const struct {
		u16 speed;
		int mbps;
	} lanes[] = {
		{ IB_SPEED_SDR, 2500 }, { IB_SPEED_DDR, 5000 }, { IB_SPEED_QDR, 10000 },
		{ IB_SPEED_FDR10, 10000 }, { IB_SPEED_FDR, 14000 }, { IB_SPEED_EDR, 25000 },
		{ IB_SPEED_HDR, 50000 }, { IB_SPEED_NDR, 100000 }, { 0, SPEED_UNKNOWN },
	};
	struct fixture *fx = test->priv;
	u32 mbps = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(lanes); i++)
		KUNIT_EXPECT_EQ(test, lane_mbps(lanes[i].speed), lanes[i].mbps);
	KUNIT_EXPECT_EQ(test, sa_speed(fx->priv, &mbps), 0);
	KUNIT_EXPECT_EQ(test, mbps, 100000u);
	atomic_set(&fx->hca->fail_in, 1);
	KUNIT_EXPECT_EQ(test, sa_speed(fx->priv, &mbps), -ENOMEM);
}

static const struct {
	enum ib_event_type type;
	unsigned long bits;
} sa_event_bits[] = {
	{ IB_EVENT_SM_CHANGE, BIT(IPOIB_EVENT_LIGHT) },
	{ IB_EVENT_CLIENT_REREGISTER, BIT(IPOIB_EVENT_LIGHT) },
	{ IB_EVENT_LID_CHANGE, BIT(IPOIB_EVENT_LIGHT) },
	{ IB_EVENT_PORT_ACTIVE, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_PORT_ERR, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_PKEY_CHANGE, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_GID_CHANGE, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_COMM_EST, 0 },
};

/* What the link's work is to look at after an event of the port, or of another */
static void sa_events(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_event event = { .device = &fx->hca->ibdev };
	struct fixture_block block;
	int i;

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ipoib_inform_start(fx->priv), 0);
	rtnl_unlock();
	/* What takes the bits away waits behind this */
	fixture_block(fx, &block);
	for (i = 0; i < ARRAY_SIZE(sa_event_bits); i++) {
		event.event = sa_event_bits[i].type;
		event.element.port_num = 2;
		sa_event(&fx->priv->event_handler, &event);
		KUNIT_EXPECT_EQ(test, xchg(&fx->priv->events, 0), 0ul);
		event.element.port_num = 1;
		sa_event(&fx->priv->event_handler, &event);
		KUNIT_EXPECT_EQ(test, xchg(&fx->priv->events, 0), sa_event_bits[i].bits);
	}
	fixture_unblock(fx, &block);
	rtnl_lock();
	ipoib_inform_stop(fx->priv);
	rtnl_unlock();
}

/* No MADs at this port: an error, not a crash */
static void sa_without_sa(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_BROADCAST;
	KUNIT_EXPECT_LT(test, sa_join(group), 0);
	KUNIT_EXPECT_NULL(test, group->membership);
	KUNIT_EXPECT_FALSE(test, sa_is_joined(fx->priv, &group->mgid));
}

static struct kunit_case sa_cases[] = {
	KUNIT_CASE(sa_params_both_ways),
	KUNIT_CASE(sa_join_states),
	KUNIT_CASE(sa_join_states_of_router),
	KUNIT_CASE(sa_join_records),
	KUNIT_CASE(sa_speeds),
	KUNIT_CASE(sa_events),
	KUNIT_CASE(sa_without_sa),
	{}
};

static struct kunit_suite sa_suite = {
	.name = "ipoib_sa",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = sa_cases,
};

kunit_test_suites(&sa_suite);
