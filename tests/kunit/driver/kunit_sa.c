// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the SA's client: the requests, how answers are read, and which
 * actions the port's events cause.
 */
#include <linux/delay.h>
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

static const struct {
	const char *what;
	u8 mtu;
	u8 rate;
	u16 mlid;
} sa_impossible[] = {
	{ "no MTU", 0, IB_RATE_100_GBPS, 0xc000 },
	{ "first MTU code behind the last", 6, IB_RATE_100_GBPS, 0xc000 },
	{ "last MTU code", 63, IB_RATE_100_GBPS, 0xc000 },
	{ "larger than the port's", IB_MTU_4096, IB_RATE_100_GBPS, 0xc000 },
	{ "no rate", IB_MTU_2048, 0, 0xc000 },
	{ "reserved rate", IB_MTU_2048, 1, 0xc000 },
	{ "first rate code behind the last", IB_MTU_2048, SA_RATE_LAST + 1, 0xc000 },
	{ "last rate code", IB_MTU_2048, 63, 0xc000 },
	{ "no MLID", IB_MTU_2048, IB_RATE_100_GBPS, 0 },
	{ "unicast LID", IB_MTU_2048, IB_RATE_100_GBPS, 0xbfff },
	{ "permissive LID", IB_MTU_2048, IB_RATE_100_GBPS, 0xffff },
};

static void answer_broadcast_of(struct fixture *fx, const union ib_gid *mgid, u8 mtu, u8 rate,
				u16 mlid, u32 qkey)
{
	struct ib_sa_multicast membership = {
		.rec = {
			.mgid = *mgid,
			.mtu = mtu,
			.rate = rate,
			.mlid = cpu_to_be16(mlid),
			.qkey = cpu_to_be32(qkey),
			.join_state = SA_JOIN_FULL_MEMBER,
		},
		.context = fx->priv->groups.broadcast,
	};

	sa_joined(0, &membership);
	fixture_settle(fx);
}

static void answer_broadcast(struct fixture *fx, u8 mtu, u8 rate, u16 mlid, u32 qkey)
{
	answer_broadcast_of(fx, &fx->priv->groups.broadcast->dest.gid, mtu, rate, mlid, qkey);
}

/* The link does not come up by an invalid answer of the SA, and the join is not repeated at once.
 * It comes up by the next valid answer, also with a Q_Key that means the QP's own.
 */
static void sa_impossible_answers(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *priv = fx->priv;
	union ib_gid other;
	int i;

	fx->port->max_mtu = IB_MTU_2048;
	fx->fabric.answers = false;
	fixture_up(test);
	for (i = 0; i < ARRAY_SIZE(sa_impossible); i++) {
		answer_broadcast(fx, sa_impossible[i].mtu, sa_impossible[i].rate,
				 sa_impossible[i].mlid, 0xb1b);
		KUNIT_EXPECT_EQ_MSG(test, priv->link.state, IPOIB_LINK_WAIT_JOIN, "%s",
				    sa_impossible[i].what);
		KUNIT_EXPECT_FALSE(test, netif_carrier_ok(fx->netdev));
		KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 4092u);
		KUNIT_EXPECT_EQ(test, priv->rx.mtu, (u32)IPOIB_RX_MTU_DEFAULT);
		/* The back-off depends on it */
		KUNIT_EXPECT_EQ(test, priv->groups.broadcast->dest.failures, i + 1);
	}
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_FAILURES),
			(u64)ARRAY_SIZE(sa_impossible));
	other = priv->groups.broadcast->dest.gid;
	other.raw[15] ^= 1;
	answer_broadcast_of(fx, &other, IB_MTU_2048, IB_RATE_100_GBPS, 0xc000, 0xb1b);
	KUNIT_EXPECT_EQ(test, priv->link.state, IPOIB_LINK_WAIT_JOIN);
	KUNIT_EXPECT_EQ(test, priv->groups.broadcast->dest.failures,
			(int)ARRAY_SIZE(sa_impossible) + 1);
	answer_broadcast(fx, IB_MTU_2048, IB_RATE_100_GBPS, 0xfffe, 0x80010b1b);
	KUNIT_EXPECT_EQ(test, priv->link.state, IPOIB_LINK_RUNNING);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 2044u);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->qkey, 0x80010b1bu);
}

/* No verb checks the MLID of a group that is only sent to, as no QP is attached to it */
static void sa_impossible_mlid(struct kunit *test)
{
	struct ib_sa_multicast membership = {
		.rec = {
			.mtu = IB_MTU_2048,
			.rate = IB_RATE_100_GBPS,
			.mlid = cpu_to_be16(0xbfff),
			.qkey = cpu_to_be32(0xb1b),
			.join_state = SA_JOIN_SEND_ONLY_FULL,
		},
	};
	struct fixture *fx = test->priv;
	struct ipoib_group *group;

	fixture_up(test);
	fx->fabric.answers = false;
	membership.rec.mgid = fx->priv->groups.broadcast->dest.gid;
	membership.rec.mgid.raw[15] = 1;
	fixture_send(fx, fixture_packet(test, membership.rec.mgid.raw, 1), false);
	fixture_settle(fx);
	group = list_last_entry(&fx->priv->groups.all, struct ipoib_group, all);
	KUNIT_ASSERT_EQ(test, (int)group->role, (int)IPOIB_GROUP_SEND_ONLY);
	membership.context = group;
	sa_joined(0, &membership);
	fixture_settle(fx);
	KUNIT_EXPECT_FALSE(test, group->joined);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 1);
}

/* The SendOnlyFullMember join state is tried first, and the other one if it is refused */
static void sa_join_states(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_SEND_ONLY;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(SENDONLY_FULLMEMBER_JOIN));
	group->refused = true;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(SENDONLY_NONMEBER_JOIN));
	group->refused = false;
	group->role = IPOIB_GROUP_MEMBER;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
	group->role = IPOIB_GROUP_BROADCAST;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
}

/* All interfaces of a port that have the same P_Key are the same kind of member */
static void sa_join_states_of_twins(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	struct ipoib_dev *child;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_SEND_ONLY;
	rtnl_lock();
	KUNIT_ASSERT_EQ(test, ipoib_child_create(fx->priv, 0x8001), 0);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(SENDONLY_FULLMEMBER_JOIN));
	child = list_first_entry(&fx->port->children, struct ipoib_dev, sibling);
	child->pkey = fx->priv->pkey;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
	child->pkey = 0x8001;
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8001), 0);
}

/* A router joins groups that it only listens to as a non-member, and receives
 * from groups that it sends to
 */
static void sa_join_states_of_router(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	struct ib_sa_mcmember_rec rec;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	fixture_up(test);
	fx->priv->groups.routing = true;
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_ROUTER;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(NONMEMBER_JOIN));
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == sa_join_mask);
	group->role = IPOIB_GROUP_SEND_ONLY;
	KUNIT_EXPECT_EQ(test, sa_join_state(group),
			BIT(NONMEMBER_JOIN) | BIT(SENDONLY_FULLMEMBER_JOIN));
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == (sa_join_mask | sa_create_mask));
	group->refused = true;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(NONMEMBER_JOIN));
	KUNIT_EXPECT_TRUE(test, sa_join_rec(group, &rec) == sa_join_mask);
	group->role = IPOIB_GROUP_MEMBER;
	KUNIT_EXPECT_EQ(test, sa_join_state(group), BIT(FULLMEMBER_JOIN));
	fx->priv->groups.routing = false;
}

/* A join has the group's attributes only if it may create the group */
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
	group->refused = true;
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
		{ IB_SPEED_HDR, 50000 }, { IB_SPEED_NDR, 100000 }, { IB_SPEED_NDR << 1, 200000 },
		{ IB_SPEED_NDR << 2, SPEED_UNKNOWN }, { 0, SPEED_UNKNOWN },
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
	{ IB_EVENT_PORT_ACTIVE, BIT(IPOIB_EVENT_LIGHT) },
	{ IB_EVENT_PORT_ERR, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_PKEY_CHANGE, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_GID_CHANGE, BIT(IPOIB_EVENT_CHECK) },
	{ IB_EVENT_COMM_EST, 0 },
};

static void event_tell(struct fixture *fx, struct ib_event *event)
{
	fx->port->event_handler.handler(&fx->port->event_handler, event);
}

/* The flags for the link's work after each event, of this port or another */
static void sa_events(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_event event = { .device = &fx->hca->ibdev };
	struct fixture_block block;
	int i;

	/* Blocks the link's work, which clears the flags */
	fixture_block(fx, &block);
	for (i = 0; i < ARRAY_SIZE(sa_event_bits); i++) {
		event.event = sa_event_bits[i].type;
		event.element.port_num = 2;
		event_tell(fx, &event);
		KUNIT_EXPECT_EQ(test, xchg(&fx->priv->link.events, 0), 0ul);
		event.element.port_num = 1;
		event_tell(fx, &event);
		KUNIT_EXPECT_EQ(test, xchg(&fx->priv->link.events, 0), sa_event_bits[i].bits);
	}
	fixture_unblock(fx, &block);
}

static void port_event(struct fixture *fx, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &fx->hca->ibdev,
		.element.port_num = 1,
		.event = type,
	};

	event_tell(fx, &event);
}

/* If the port goes down and up before the link's work has run, paths are resolved again: once,
 * also if the SM requests a reregistration at the same time.
 */
static void sa_port_bounce(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct fixture_block block;
	union ib_gid gid;
	int asked, i;

	fixture_up(test);
	fixture_gid(&gid, 9);
	fixture_send(fx, fixture_packet(test, gid.raw, 100), false);
	fixture_settle(fx);
	asked = atomic_read(&fx->fabric.resolves);
	KUNIT_EXPECT_EQ(test, asked, 1);

	fixture_block(fx, &block);
	port_event(fx, IB_EVENT_PORT_ERR);
	port_event(fx, IB_EVENT_PORT_ACTIVE);
	fixture_unblock(fx, &block);
	/* This takes at most a quarter of a second */
	for (i = 0; i < 50 && atomic_read(&fx->fabric.resolves) == asked; i++)
		msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), asked + 1);
	fixture_settle(fx);

	fixture_block(fx, &block);
	port_event(fx, IB_EVENT_PORT_ACTIVE);
	port_event(fx, IB_EVENT_CLIENT_REREGISTER);
	fixture_unblock(fx, &block);
	msleep(500);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), asked + 2);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

/* A port without MADs causes an error, not a crash */
static void sa_without_sa(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	group->priv = fx->priv;
	group->role = IPOIB_GROUP_BROADCAST;
	KUNIT_EXPECT_LT(test, sa_join(group), 0);
	KUNIT_EXPECT_NULL(test, group->membership);
	KUNIT_EXPECT_FALSE(test, sa_is_joined(fx->priv, &group->dest.gid));
}

/* The AH for answering a packet has the port's own rate, and a GRH */
static void sa_stopgap(struct kunit *test)
{
	const struct ipoib_heard heard = { .lid = 7, .sl = 3 };
	struct fixture *fx = test->priv;
	struct rdma_ah_attr attr;
	union ib_gid gid;

	fixture_up(test);
	/* The group's rate is that of its slowest member, which need not be the peer */
	fx->priv->groups.broadcast->params.rate = IB_RATE_10_GBPS;
	fixture_gid(&gid, 7);
	KUNIT_ASSERT_EQ(test, sa_heard_attr(fx->priv, &gid, &heard, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 7u);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), IB_RATE_PORT_CURRENT);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&attr), 1u);
	KUNIT_ASSERT_TRUE(test, rdma_ah_get_ah_flags(&attr) & IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, memcmp(&attr.grh.dgid, &gid, sizeof(gid)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&attr.grh.sgid_attr->gid, &fx->hca->gid, sizeof(gid)), 0);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 0);
	rdma_destroy_ah_attr(&attr);
	/* No AH if the port does not have the local GID any more */
	fx->priv->local_gid.raw[15] ^= 1;
	KUNIT_EXPECT_LT(test, sa_heard_attr(fx->priv, &gid, &heard, &attr), 0);
	fx->priv->local_gid.raw[15] ^= 1;
}

/* Rates that a newer standard has added are accepted, but not passed to the HCA. A group is created
 * with the broadcast group's rate, whatever that is.
 */
static void sa_new_rates(struct kunit *test)
{
	struct ipoib_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	const struct ipoib_path_query query = { .path = path };
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB, .rate = SA_RATE_LAST };
	struct fixture *fx = test->priv;
	struct ib_sa_mcmember_rec create;
	struct ipoib_group *broadcast;
	struct rdma_ah_attr attr;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	fx->fabric.answers = false;
	fixture_up(test);
	answer_broadcast(fx, IB_MTU_2048, SA_RATE_LAST, 0xc000, 0xb1b);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_RUNNING);
	broadcast = fx->priv->groups.broadcast;
	sa_rec_from_params(ipoib_groups_link_params(fx->priv), &create);
	KUNIT_EXPECT_EQ(test, create.rate, SA_RATE_LAST);
	KUNIT_ASSERT_EQ(test, sa_group_attr(broadcast, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), IB_RATE_PORT_CURRENT);
	rdma_destroy_ah_attr(&attr);
	broadcast->params.rate = IB_RATE_10_GBPS;
	KUNIT_ASSERT_EQ(test, sa_group_attr(broadcast, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), IB_RATE_10_GBPS);
	rdma_destroy_ah_attr(&attr);
	fixture_gid(&path->dest.gid, 7);
	rec.dgid = path->dest.gid;
	rec.sgid = fx->priv->local_gid;
	sa_path_set_dlid(&rec, 7);
	KUNIT_EXPECT_TRUE(test, sa_path_rec_valid(&query, &rec));
	KUNIT_ASSERT_EQ(test, sa_path_attr(fx->priv, path, &rec, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), IB_RATE_PORT_CURRENT);
	rdma_destroy_ah_attr(&attr);
	rec.rate = IB_RATE_PORT_CURRENT;
	KUNIT_EXPECT_FALSE(test, sa_path_rec_valid(&query, &rec));
	rec.rate = SA_RATE_LAST + 1;
	KUNIT_EXPECT_FALSE(test, sa_path_rec_valid(&query, &rec));
}

/* The hop limit of the GRH for an SA path with this hop limit; -1: no GRH */
static int sa_path_hops(struct kunit *test, const struct ipoib_path *path, u8 hop_limit)
{
	struct fixture *fx = test->priv;
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.dgid = path->dest.gid,
		.sgid = fx->priv->local_gid,
		.hop_limit = hop_limit,
		.flow_label = cpu_to_be32(0x123),
		.traffic_class = 4,
	};
	struct rdma_ah_attr attr;
	int hops = -1;

	sa_path_set_dlid(&rec, 7);
	KUNIT_ASSERT_EQ(test, sa_path_attr(fx->priv, path, &rec, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 7u);
	if (rdma_ah_get_ah_flags(&attr) & IB_AH_GRH) {
		hops = attr.grh.hop_limit;
		KUNIT_EXPECT_EQ(test, memcmp(&attr.grh.dgid, &path->dest.gid,
					     sizeof(path->dest.gid)), 0);
		KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0x123u);
		KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 4);
	}
	rdma_destroy_ah_attr(&attr);
	return hops;
}

/* A path from the SA has a GRH if its hop limit, the peer or our own port
 * requires one. In the last case the peer is told so by the hop limit.
 */
static void sa_path_grh(struct kunit *test)
{
	struct ipoib_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	struct fixture *fx = test->priv;
	u32 *flags = &fx->hca->ibdev.port_data[1].immutable.core_cap_flags;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	fixture_up(test);
	fixture_gid(&path->dest.gid, 7);
	KUNIT_EXPECT_EQ(test, sa_path_hops(test, path, 0), -1);
	KUNIT_EXPECT_EQ(test, sa_path_hops(test, path, 64), 64);
	path->needs_grh = true;
	KUNIT_EXPECT_EQ(test, sa_path_hops(test, path, 0), 0);
	KUNIT_EXPECT_EQ(test, sa_path_hops(test, path, 64), 64);
	*flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	KUNIT_EXPECT_EQ(test, sa_path_hops(test, path, 0), 1);
	path->needs_grh = false;
	KUNIT_EXPECT_EQ(test, sa_path_hops(test, path, 0), 1);
	*flags &= ~RDMA_CORE_CAP_IB_GRH_REQUIRED;
}

static struct kunit_case sa_cases[] = {
	KUNIT_CASE(sa_params_both_ways),
	KUNIT_CASE(sa_impossible_answers),
	KUNIT_CASE(sa_impossible_mlid),
	KUNIT_CASE(sa_join_states),
	KUNIT_CASE(sa_join_states_of_twins),
	KUNIT_CASE(sa_join_states_of_router),
	KUNIT_CASE(sa_join_records),
	KUNIT_CASE(sa_speeds),
	KUNIT_CASE(sa_events),
	KUNIT_CASE(sa_port_bounce),
	KUNIT_CASE(sa_without_sa),
	KUNIT_CASE(sa_stopgap),
	KUNIT_CASE(sa_new_rates),
	KUNIT_CASE(sa_path_grh),
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
