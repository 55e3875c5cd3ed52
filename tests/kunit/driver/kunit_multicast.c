// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the MGIDs of IP multicast addresses (RFC 4391, section 4) and of
 * the life of a group.
 */
#include <linux/delay.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "ipoib_multicast.c"
#include "kunit.h"

struct mgid_example {
	const char *name;
	u8 scope;
	u16 pkey;
	u8 ip[16];
	bool ipv6;
	u8 mgid[16];
};

static const struct mgid_example mgid_examples[] = {
	{
		"224.0.0.1 link-local", 0x2, 0xffff, { 224, 0, 0, 1 }, false,
		{ 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	}, {
		"239.255.255.255 keeps 28 bits", 0x2, 0x8001, { 239, 255, 255, 255 }, false,
		{ 0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, 0, 0, 0, 0, 0, 0, 0x0f, 0xff, 0xff, 0xff },
	}, {
		"224.2.3.4 organization-local", 0x8, 0x8123, { 224, 2, 3, 4 }, false,
		{ 0xff, 0x18, 0x40, 0x1b, 0x81, 0x23, 0, 0, 0, 0, 0, 0, 0, 2, 3, 4 },
	}, {
		"ff02::1 link-local", 0x2, 0xffff,
		{ 0xff, 0x02, [15] = 1 }, true,
		{ 0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	}, {
		"ff02::1:ff00:1234 solicited node", 0x2, 0x8001,
		{ 0xff, 0x02, [11] = 0x01, 0xff, 0x00, 0x12, 0x34 }, true,
		{ 0xff, 0x12, 0x60, 0x1b, 0x80, 0x01, 0, 0, 0, 0, 0, 0x01, 0xff, 0, 0x12, 0x34 },
	}, {
		"ff0e:a:b:c:d:e:f:1 keeps 80 bits, link's scope", 0x5, 0xffff,
		{ 0xff, 0x0e, 0, 0xa, 0, 0xb, 0, 0xc, 0, 0xd, 0, 0xe, 0, 0xf, 0, 1 }, true,
		{ 0xff, 0x15, 0x60, 0x1b, 0xff, 0xff, 0, 0xc, 0, 0xd, 0, 0xe, 0, 0xf, 0, 1 },
	},
};

static void mgid_describe(const struct mgid_example *example, char *name)
{
	strscpy(name, example->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(mgid, mgid_examples, mgid_describe);

/* The stack maps the address, using the broadcast address that the driver has set */
static void mgid_map(const struct mgid_example *example, struct ipoib_hwaddr *hwaddr)
{
	struct ipoib_hwaddr broadcast;
	struct in6_addr ipv6;
	__be32 ipv4;

	ipoib_broadcast_build(&broadcast, example->pkey, example->scope);
	memcpy(&ipv4, example->ip, sizeof(ipv4));
	memcpy(&ipv6, example->ip, sizeof(ipv6));
	if (example->ipv6)
		ipv6_ib_mc_map(&ipv6, (u8 *)&broadcast, (u8 *)hwaddr);
	else
		ip_ib_mc_map(ipv4, (u8 *)&broadcast, (u8 *)hwaddr);
}

/* A device with a P_Key and nothing else */
static struct ipoib_dev *mgid_device(struct kunit *test, u16 pkey)
{
	struct ipoib_dev *priv = kunit_kzalloc(test, sizeof(*priv), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, priv);
	priv->pkey = pkey;
	return priv;
}

static void mgid_mapped(struct kunit *test)
{
	const struct mgid_example *example = test->param_value;
	struct ipoib_dev *priv = mgid_device(test, example->pkey);
	struct ipoib_hwaddr hwaddr;

	mgid_map(example, &hwaddr);
	KUNIT_EXPECT_EQ(test, memcmp(hwaddr.gid, example->mgid, sizeof(hwaddr.gid)), 0);
	KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(&hwaddr), (u32)IPOIB_QPN_MULTICAST);
	KUNIT_EXPECT_TRUE(test, ipoib_mgid_is_listed(priv, (u8 *)&hwaddr));
}

static void mgid_broadcast(struct kunit *test)
{
	static const u8 wanted[INFINIBAND_ALEN] = {
		0x00, 0xff, 0xff, 0xff,
		0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};
	struct ipoib_hwaddr hwaddr;
	u8 scope;

	ipoib_broadcast_build(&hwaddr, 0x8001, IPOIB_MGID_SCOPE_LINK_LOCAL);
	KUNIT_EXPECT_EQ(test, memcmp(&hwaddr, wanted, sizeof(wanted)), 0);
	for (scope = 1; scope < 16; scope++) {
		ipoib_broadcast_build(&hwaddr, 0xffff, scope);
		KUNIT_EXPECT_EQ(test, hwaddr.gid[1], 0x10 | scope);
	}
}

/* Addresses that a packet socket or another protocol may add to the list */
static void mgid_foreign(struct kunit *test)
{
	struct ipoib_dev *priv = mgid_device(test, 0x8001);
	struct ipoib_hwaddr good, bad;
	u8 *octet = (u8 *)&bad;
	int i;
	static const struct {
		u8 index, value;
	} wrong[] = {
		{ 1, 0 },	/* not the multicast QPN */
		{ 4, 0xfe },	/* not a multicast GID */
		{ 5, 0x02 },	/* not transient */
		{ 8, 0x00 },	/* a limited member's P_Key */
		{ 9, 0x02 },	/* of another partition */
	};

	ipoib_broadcast_build(&good, 0x8001, IPOIB_MGID_SCOPE_LINK_LOCAL);
	KUNIT_EXPECT_TRUE(test, ipoib_mgid_is_listed(priv, (u8 *)&good));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		bad = good;
		octet[wrong[i].index] = wrong[i].value;
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_mgid_is_listed(priv, octet), "octet %u",
				       wrong[i].index);
	}
}

static struct kunit_case mgid_cases[] = {
	KUNIT_CASE_PARAM(mgid_mapped, mgid_gen_params),
	KUNIT_CASE(mgid_broadcast),
	KUNIT_CASE(mgid_foreign),
	{}
};

static struct kunit_suite mgid_suite = {
	.name = "ipoib_mgid",
	.test_cases = mgid_cases,
};

/* The address of the IPv4 group 239.0.0.LAST */
static void group_address(struct fixture *fx, struct ipoib_hwaddr *hwaddr, u8 last)
{
	ip_ib_mc_map(htonl(0xef000000 | last), fx->netdev->broadcast, (u8 *)hwaddr);
}

static struct ipoib_group *group_of(struct fixture *fx, u8 last)
{
	struct ipoib_hwaddr hwaddr;

	group_address(fx, &hwaddr, last);
	return group_find(fx->priv, (union ib_gid *)hwaddr.gid);
}

static void send_to(struct kunit *test, u8 last)
{
	struct fixture *fx = test->priv;
	struct ipoib_hwaddr hwaddr;

	group_address(fx, &hwaddr, last);
	fixture_send(fx, fixture_packet(test, hwaddr.gid, 100), false);
	fixture_settle(fx);
}

/* The stack starts or stops listening to a group */
static void listen(struct fixture *fx, u8 last, bool on)
{
	struct ipoib_hwaddr hwaddr;

	group_address(fx, &hwaddr, last);
	rtnl_lock();
	if (on)
		dev_mc_add(fx->netdev, (u8 *)&hwaddr);
	else
		dev_mc_del(fx->netdev, (u8 *)&hwaddr);
	rtnl_unlock();
	fixture_settle(fx);
}

static void answer(struct fixture *fx, struct ipoib_group *group, int status)
{
	ipoib_group_answer(group, status, &fx->fabric.params);
	fixture_settle(fx);
}

static struct ipoib_group *group_asked(struct kunit *test, u8 last, bool member)
{
	struct ipoib_group *group;

	if (member)
		listen(test->priv, last, true);
	else
		send_to(test, last);
	group = group_of(test->priv, last);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	return group;
}

static void group_member(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);
	int attached = atomic_read(&fx->hca->objects[HCA_ATTACHED]);

	KUNIT_EXPECT_EQ(test, (int)group->role, (int)IPOIB_GROUP_MEMBER);
	KUNIT_EXPECT_FALSE(test, group->joined);
	fx->fabric.params.mlid = 0xc001;
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->joined);
	KUNIT_EXPECT_TRUE(test, group->attached);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_ATTACHED]), attached + 1);
	send_to(test, 1);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc001);
	listen(fx, 1, false);
	KUNIT_EXPECT_NULL(test, group_of(fx, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_ATTACHED]), attached);
}

static void group_send_only(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);

	KUNIT_EXPECT_EQ(test, (int)group->role, (int)IPOIB_GROUP_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&group->dest.queue), 1u);
	fx->fabric.params.mlid = 0xc001;
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->joined);
	KUNIT_EXPECT_FALSE(test, group->attached);
	KUNIT_EXPECT_TRUE(test, list_empty(&group->dest.busy));
	KUNIT_EXPECT_TRUE(test, list_empty(&group->dest.waits));
	/* The switches may not know the group yet, but they know the broadcast group */
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid,
			fx->priv->groups.broadcast->params.mlid);
	send_to(test, 1);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 2u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc001);
}

static void group_without_detour(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);

	fx->fabric.ops.routes_late = false;
	fx->fabric.params.mlid = 0xc001;
	answer(fx, group, 0);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc001);
}

/* A group address from a packet socket with another P_Key, or none, is that of
 * the link's partition
 */
static void group_of_another_pkey(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_hwaddr hwaddr;

	group_address(fx, &hwaddr, 1);
	hwaddr.gid[4] = 0;
	hwaddr.gid[5] = 0;
	fixture_send(fx, fixture_packet(test, hwaddr.gid, 1), false);
	fixture_settle(fx);
	KUNIT_ASSERT_NOT_NULL(test, group_of(fx, 1));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&group_of(fx, 1)->dest.queue), 1u);
}

static void group_becomes_member(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);
	int leaves = atomic_read(&fx->fabric.leaves);

	answer(fx, group, 0);
	listen(fx, 1, true);
	KUNIT_EXPECT_PTR_EQ(test, group_of(fx, 1), group);
	KUNIT_EXPECT_EQ(test, (int)group->role, (int)IPOIB_GROUP_MEMBER);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 1);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->attached);
}

/* RFC 4391, section 10: until the join succeeds, packets go to the broadcast group */
static void group_falls_back(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);

	answer(fx, group, -EINVAL);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 1);
	KUNIT_EXPECT_FALSE(test, group->joined);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_FALLBACKS), 1ull);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc000);
	fx->fabric.params.mlid = 0xc005;
	fixture_group_retry(fx, group);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	answer(fx, group, 0);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 0);
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc005);
}

/* A refusal has the other kind of membership requested, but a timeout does not */
static void group_changes_kind(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);

	answer(fx, group, -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, group->refused);
	fixture_group_retry(fx, group);
	answer(fx, group, -EINVAL);
	KUNIT_EXPECT_TRUE(test, group->refused);
	fixture_group_retry(fx, group);
	answer(fx, group, -EINVAL);
	KUNIT_EXPECT_FALSE(test, group->refused);
}

/* If there is no AH for the broadcast group either, waiting packets are dropped */
static void group_cannot_fall_back(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);

	fx->fabric.attr_error = -EINVAL;
	answer(fx, group, -EINVAL);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(group->dest.ah));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_FAILED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_FALLBACKS), 0ull);
}

/* A failed join is repeated without any further event */
static void group_asks_again(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);
	unsigned long limit;

	answer(fx, group, -EINVAL);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_NONE);
	limit = jiffies + 30 * HZ;
	while (READ_ONCE(group->dest.request) != IPOIB_REQUEST_SENT && time_before(jiffies, limit))
		msleep(20);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->joined);
}

static void group_refused(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group;

	fx->fabric.refusal = -ENOMEM;
	send_to(test, 1);
	group = group_of(fx, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	KUNIT_EXPECT_GT(test, group->dest.failures, 0);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_NONE);
	KUNIT_EXPECT_FALSE(test, list_empty(&group->dest.waits));
	fx->fabric.refusal = 0;
	fixture_group_retry(fx, group);
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->joined);
}

/* Groups whose Q_Key differs or whose MTU is too small cannot be used, as packets would be lost */
static void group_does_not_fit(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);

	fx->fabric.params.qkey = 0x1234;
	answer(fx, group, 0);
	KUNIT_EXPECT_FALSE(test, group->joined);
	KUNIT_EXPECT_FALSE(test, group->attached);
	fx->fabric.params.qkey = 0xb1b;
	fx->fabric.params.mtu = IB_MTU_1024;
	fixture_group_retry(fx, group);
	answer(fx, group, 0);
	KUNIT_EXPECT_FALSE(test, group->joined);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 2);
	fx->fabric.params.mtu = IB_MTU_4096;
	fixture_group_retry(fx, group);
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->joined);
}

static void group_attach_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);

	atomic_set(&fx->hca->fail_in, 1);
	answer(fx, group, 0);
	KUNIT_EXPECT_FALSE(test, group->attached);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 1);
	fixture_group_retry(fx, group);
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->attached);
}

/* A QP that stays attached could never be destroyed */
static void group_detach_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);
	int attached = atomic_read(&fx->hca->objects[HCA_ATTACHED]);

	answer(fx, group, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_ATTACHED]), attached + 1);
	atomic_set(&fx->hca->fail_detach, 1);
	listen(fx, 1, false);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->fail_detach), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_ATTACHED]), attached);
}

/* After a restart of the SM the group is joined again, and the old AH is used meanwhile */
static void group_void(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);
	int leaves = atomic_read(&fx->fabric.leaves);
	struct ipoib_ah *ah;
	int attached;

	answer(fx, group, 0);
	attached = atomic_read(&fx->hca->objects[HCA_ATTACHED]);
	ah = rcu_access_pointer(group->dest.ah);
	answer(fx, group, -ENETRESET);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 1);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(group->dest.ah), ah);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 0);
	fixture_group_retry(fx, group);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	fx->fabric.params.mlid = 0xc007;
	answer(fx, group, 0);
	KUNIT_EXPECT_EQ(test, group->params.mlid, 0xc007);
	KUNIT_EXPECT_TRUE(test, group->attached);
	KUNIT_EXPECT_EQ(test, fx->hca->attached_mlid, 0xc007);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_ATTACHED]), attached);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_RUNNING);
}

/* A membership is revoked before the driver has processed the answer that granted it */
static void group_void_at_once(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, true);

	ipoib_group_answer(group, 0, &fx->fabric.params);
	answer(fx, group, -ENETRESET);
	fixture_group_retry(fx, group);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	answer(fx, group, 0);
	KUNIT_EXPECT_TRUE(test, group->joined);
}

static void broadcast_void(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *broadcast = fx->priv->groups.broadcast;
	struct ipoib_group *group;

	answer(fx, broadcast, -ENETRESET);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_RUNNING);
	listen(fx, 1, true);
	group = group_of(fx, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_NONE);
	fixture_group_retry(fx, broadcast);
	fx->fabric.params.mtu = IB_MTU_1024;
	answer(fx, broadcast, 0);
	KUNIT_EXPECT_EQ(test, (int)group->dest.request, (int)IPOIB_REQUEST_SENT);
	KUNIT_EXPECT_EQ(test, fx->netdev->mtu, 1020u);
	answer(fx, group, 0);
}

/* The SA may have created a group with the broadcast group's old parameters if it was joined, or
 * asked for, with them. A new MLID alone does not matter.
 */
static void broadcast_differs(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *broadcast = fx->priv->groups.broadcast;
	struct ipoib_group *early = group_asked(test, 1, true);
	struct ipoib_group *late = group_asked(test, 2, false);

	answer(fx, early, 0);
	answer(fx, broadcast, -ENETRESET);
	KUNIT_EXPECT_TRUE(test, early->joined);
	KUNIT_EXPECT_EQ(test, (int)late->dest.request, (int)IPOIB_REQUEST_SENT);
	fixture_group_retry(fx, broadcast);
	fx->fabric.params.rate = IB_RATE_25_GBPS;
	late->dest.asked_at = jiffies - 60 * HZ;
	answer(fx, broadcast, 0);
	KUNIT_EXPECT_FALSE(test, early->joined);
	fixture_group_retry(fx, early);
	fixture_group_retry(fx, late);
	KUNIT_EXPECT_EQ(test, (int)early->dest.request, (int)IPOIB_REQUEST_SENT);
	KUNIT_EXPECT_EQ(test, (int)late->dest.request, (int)IPOIB_REQUEST_SENT);
	KUNIT_EXPECT_TRUE(test, time_after(late->dest.asked_at, jiffies - 30 * HZ));
	answer(fx, early, 0);
	answer(fx, late, 0);
	answer(fx, broadcast, -ENETRESET);
	fixture_group_retry(fx, broadcast);
	fx->fabric.params.mlid = 0xc007;
	answer(fx, broadcast, 0);
	KUNIT_EXPECT_TRUE(test, early->joined && late->joined);
}

static void group_queue_is_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_hwaddr hwaddr;
	int i;

	group_address(fx, &hwaddr, 1);
	for (i = 0; i < IPOIB_GROUP_QUEUE_MAX + 2; i++)
		fixture_send(fx, fixture_packet(test, hwaddr.gid, 1), false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_FULL), 2ull);
	answer(fx, group_of(fx, 1), 0);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, (u32)IPOIB_GROUP_QUEUE_MAX);
}

static void group_left_while_asked(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int leaves = atomic_read(&fx->fabric.leaves);

	group_asked(test, 1, true);
	send_to(test, 1);
	listen(fx, 1, false);
	KUNIT_EXPECT_NULL(test, group_of(fx, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.leaves), leaves + 1);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_FAILED), 1ull);
}

/* A sender has found the group just before it is removed */
static void group_dead(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group group = { .dest.dead = true };
	struct ipoib_hwaddr hwaddr;

	group_address(fx, &hwaddr, 1);
	__skb_queue_head_init(&group.dest.queue);
	group_queue(fx->priv, &group, fixture_packet(test, hwaddr.gid, 1));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_FAILED), 1ull);
}

static void group_expires(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *idle = group_asked(test, 1, false);
	struct ipoib_group *member = group_asked(test, 2, true);

	answer(fx, idle, 0);
	answer(fx, member, 0);
	WRITE_ONCE(idle->dest.used, jiffies - sendonly_idle * HZ - 2);
	WRITE_ONCE(member->dest.used, jiffies - sendonly_idle * HZ - 2);
	mod_delayed_work(fx->priv->wq, &fx->priv->groups.expire_work, 0);
	fixture_settle(fx);
	KUNIT_EXPECT_NULL(test, group_of(fx, 1));
	KUNIT_EXPECT_PTR_EQ(test, group_of(fx, 2), member);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_GROUP_EXPIRIES), 1ull);
}

/* A time that is too long for the arithmetic is long, not short */
static void group_never_expires(struct kunit *test)
{
	unsigned int usual = sendonly_idle;
	struct fixture *fx = test->priv;
	struct ipoib_group *group = group_asked(test, 1, false);

	answer(fx, group, 0);
	WRITE_ONCE(group->dest.used, jiffies - 60 * HZ);
	sendonly_idle = U32_MAX / HZ + 2;
	mod_delayed_work(fx->priv->wq, &fx->priv->groups.expire_work, 0);
	fixture_settle(fx);
	sendonly_idle = usual;
	KUNIT_EXPECT_PTR_EQ(test, group_of(fx, 1), group);
}

static void group_of_user_space(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->fabric.taken = true;
	listen(fx, 1, true);
	KUNIT_EXPECT_NOT_NULL(test, group_of(fx, 1));
	rtnl_lock();
	ipoib_set_umcast(fx->priv, true);
	rtnl_unlock();
	listen(fx, 2, true);
	KUNIT_EXPECT_NULL(test, group_of(fx, 2));
	fx->fabric.taken = false;
	listen(fx, 3, true);
	KUNIT_EXPECT_NOT_NULL(test, group_of(fx, 3));
	KUNIT_EXPECT_NOT_NULL(test, group_of(fx, 2));
}

/* A membership that is being left looks like a program's. The list is read again. */
static void group_of_own_past(struct kunit *test)
{
	struct fixture *fx = test->priv;

	rtnl_lock();
	ipoib_set_umcast(fx->priv, true);
	rtnl_unlock();
	listen(fx, 1, true);
	KUNIT_EXPECT_NOT_NULL(test, group_of(fx, 1));
	fx->fabric.taken = true;
	ipoib_link_event(fx->priv, IPOIB_EVENT_NORMAL);
	fixture_settle(fx);
	KUNIT_EXPECT_NULL(test, group_of(fx, 1));
	fx->fabric.taken = false;
	mod_delayed_work(fx->priv->wq, &fx->priv->groups.work, 0);
	fixture_settle(fx);
	KUNIT_EXPECT_NOT_NULL(test, group_of(fx, 1));
}

/* Failed joins do not wait for the end of their back-off when a subnet manager appears */
static void group_hurries(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group;
	int i;

	fx->fabric.refusal = -ETIMEDOUT;
	listen(fx, 1, true);
	group = group_of(fx, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	for (i = 0; i < 8; i++)
		fixture_group_retry(fx, group);
	KUNIT_EXPECT_TRUE(test, time_after(group->dest.retry_at, jiffies + 2 * HZ));
	fx->fabric.refusal = 0;
	hca_event(fx->hca, IB_EVENT_CLIENT_REREGISTER);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, group->dest.failures, 0);
	KUNIT_EXPECT_TRUE(test, time_before(group->dest.retry_at, jiffies + HZ));
}

/* The address of the IPv4 group 239.1.0.0 + N */
static void many_address(struct fixture *fx, struct ipoib_hwaddr *hwaddr, u16 n)
{
	ip_ib_mc_map(htonl(0xef010000 | n), fx->netdev->broadcast, (u8 *)hwaddr);
}

/* Each answer lets the window admit more joins, which the fabric answers as well */
static void many_settle(struct fixture *fx)
{
	do
		fixture_settle(fx);
	while (fx->fabric.answers &&
	       (READ_ONCE(fx->priv->groups.dests.asked) ||
		!list_empty(&fx->priv->groups.dests.waiting)));
	/* Packets that waited for the last answer may not be sent yet */
	fixture_settle(fx);
}

static void many_send(struct kunit *test, u16 first, u16 count)
{
	struct fixture *fx = test->priv;
	struct ipoib_hwaddr hwaddr;

	for (; count; count--) {
		many_address(fx, &hwaddr, first++);
		fixture_send(fx, fixture_packet(test, hwaddr.gid, 1), false);
	}
	many_settle(fx);
}

static struct ipoib_group *many_find(struct fixture *fx, u16 n)
{
	struct ipoib_hwaddr hwaddr;

	many_address(fx, &hwaddr, n);
	return group_find(fx->priv, (union ib_gid *)hwaddr.gid);
}

/* Answers in time for the window, even if this machine is slow */
static void answer_soon(struct fixture *fx, struct ipoib_group *group)
{
	group->dest.asked_at = jiffies + 60 * HZ;
	answer(fx, group, 0);
}

/* The window limits the outstanding joins. It grows with each answer and shrinks with a late one,
 * and groups are joined in the order in which they have waited.
 */
static void groups_are_paced(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int joins = atomic_read(&fx->fabric.joins), n;

	fx->priv->groups.dests.window = 8;
	many_send(test, 0, 40);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 8);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.asked, 8u);
	KUNIT_EXPECT_EQ(test, (int)many_find(fx, 7)->dest.request, (int)IPOIB_REQUEST_SENT);
	KUNIT_EXPECT_EQ(test, (int)many_find(fx, 8)->dest.request, (int)IPOIB_REQUEST_NONE);
	answer_soon(fx, many_find(fx, 3));
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 10);
	KUNIT_EXPECT_EQ(test, (int)many_find(fx, 9)->dest.request, (int)IPOIB_REQUEST_SENT);
	many_find(fx, 4)->dest.asked_at = jiffies - HZ;
	answer(fx, many_find(fx, 4), 0);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.window, 4u);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 10);
	/* All waiting groups are joined in the end */
	fx->fabric.answers = true;
	for (n = 0; n < 40; n++)
		if (many_find(fx, n)->dest.asked)
			ipoib_group_answer(many_find(fx, n), 0, &fx->fabric.params);
	many_settle(fx);
	for (n = 0; n < 40; n++)
		KUNIT_EXPECT_TRUE(test, many_find(fx, n)->joined);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.asked, 0u);
}

/* After a restart of the SM all groups are joined again, the broadcast group
 * first, within the window
 */
static void groups_rejoin_paced(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_group *group;
	int joins;

	fx->fabric.answers = true;
	many_send(test, 0, 40);
	fx->fabric.answers = false;
	fx->priv->groups.dests.window = 8;
	joins = atomic_read(&fx->fabric.joins);
	list_for_each_entry(group, &fx->priv->groups.all, all)
		ipoib_group_answer(group, -ENETRESET, NULL);
	fixture_settle(fx);
	list_for_each_entry(group, &fx->priv->groups.all, all)
		group->dest.retry_at = jiffies;
	fixture_group_retry(fx, fx->priv->groups.broadcast);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 1);
	KUNIT_EXPECT_EQ(test, (int)fx->priv->groups.broadcast->dest.request,
			(int)IPOIB_REQUEST_SENT);
	answer_soon(fx, fx->priv->groups.broadcast);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.asked, 9u);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins + 1 + 9);
}

/* A scan: the number of groups that are only sent to is limited. Packets to further groups go to
 * the broadcast group until a group that is idle is removed.
 */
static void groups_sent_are_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u32 *sent_to = &fx->priv->groups.of[IPOIB_GROUP_SEND_ONLY];
	int joins;

	fx->fabric.answers = true;
	fx->fabric.params.mlid = 0xc001;
	many_send(test, 0, IPOIB_GROUPS_SENT_MAX - *sent_to);
	KUNIT_EXPECT_EQ(test, *sent_to, (u32)IPOIB_GROUPS_SENT_MAX);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_LIMIT), 0ull);
	joins = atomic_read(&fx->fabric.joins);
	fx->hca->logged = 0;
	many_send(test, 5000, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.joins), joins);
	KUNIT_EXPECT_NULL(test, many_find(fx, 5000));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_LIMIT), 3ull);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 3u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc000);
	/* Groups that the stack listens to are joined all the same */
	listen(fx, 9, true);
	KUNIT_EXPECT_TRUE(test, group_of(fx, 9)->joined);
	KUNIT_ASSERT_NOT_NULL(test, many_find(fx, 7));
	WRITE_ONCE(many_find(fx, 7)->dest.used, jiffies - (IPOIB_GROUP_CROWDED_IDLE + 1) * HZ);
	mod_delayed_work(fx->priv->wq, &fx->priv->groups.expire_work, 0);
	fixture_settle(fx);
	KUNIT_EXPECT_NULL(test, many_find(fx, 7));
	fx->hca->logged = 0;
	many_send(test, 5000, 1);
	KUNIT_EXPECT_NOT_NULL(test, many_find(fx, 5000));
	many_send(test, 5000, 1);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 2u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 0xc001);
}

/* The number of packets that wait for all groups together is limited */
static void groups_queues_are_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	for (i = 0; i < IPOIB_GROUP_QUEUE_MAX; i++)
		many_send(test, 0, IPOIB_GROUPS_QUEUED_MAX / IPOIB_GROUP_QUEUE_MAX);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.queued, (u32)IPOIB_GROUPS_QUEUED_MAX);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_BACKLOG), 0ull);
	many_send(test, 5000, 2);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.queued, (u32)IPOIB_GROUPS_QUEUED_MAX);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_BACKLOG), 2ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_GROUP_FULL), 0ull);
	fx->hca->logged = 0;
	answer(fx, many_find(fx, 0), 0);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, (u32)IPOIB_GROUP_QUEUE_MAX);
	many_send(test, 5000, 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&many_find(fx, 5000)->dest.queue), 1u);
	fixture_down(fx);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.dests.queued, 0u);
}

/* The number of groups that the stack lists is limited, as a container may add any */
static void groups_listed_are_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_hwaddr hwaddr;
	int i;

	fx->fabric.answers = true;
	rtnl_lock();
	for (i = 0; i <= IPOIB_GROUPS_LISTED_MAX; i++) {
		many_address(fx, &hwaddr, i);
		dev_mc_add(fx->netdev, (u8 *)&hwaddr);
	}
	rtnl_unlock();
	many_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.of[IPOIB_GROUP_MEMBER],
			(u32)IPOIB_GROUPS_LISTED_MAX);
	KUNIT_EXPECT_NOT_NULL(test, many_find(fx, 0));
	KUNIT_EXPECT_NULL(test, many_find(fx, IPOIB_GROUPS_LISTED_MAX));
	KUNIT_EXPECT_GT(test, fixture_count(fx, IPOIB_STAT_GROUP_LIMIT), 0ull);
}

static struct kunit_case group_cases[] = {
	KUNIT_CASE(group_member),
	KUNIT_CASE(group_send_only),
	KUNIT_CASE(group_without_detour),
	KUNIT_CASE(group_of_another_pkey),
	KUNIT_CASE(group_becomes_member),
	KUNIT_CASE(group_falls_back),
	KUNIT_CASE(group_changes_kind),
	KUNIT_CASE(group_cannot_fall_back),
	KUNIT_CASE(group_asks_again),
	KUNIT_CASE(group_refused),
	KUNIT_CASE(group_does_not_fit),
	KUNIT_CASE(group_attach_fails),
	KUNIT_CASE(group_detach_fails),
	KUNIT_CASE(group_void),
	KUNIT_CASE(group_void_at_once),
	KUNIT_CASE(broadcast_void),
	KUNIT_CASE(broadcast_differs),
	KUNIT_CASE(group_queue_is_bounded),
	KUNIT_CASE(group_left_while_asked),
	KUNIT_CASE(group_dead),
	KUNIT_CASE(group_expires),
	KUNIT_CASE(group_never_expires),
	KUNIT_CASE(group_of_user_space),
	KUNIT_CASE(group_of_own_past),
	KUNIT_CASE(group_hurries),
	KUNIT_CASE(groups_are_paced),
	KUNIT_CASE(groups_rejoin_paced),
	KUNIT_CASE(groups_sent_are_bounded),
	KUNIT_CASE(groups_queues_are_bounded),
	KUNIT_CASE(groups_listed_are_bounded),
	{}
};

static struct kunit_suite group_suite = {
	.name = "ipoib_group",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_unanswered,
	.exit = fixture_exit,
	.test_cases = group_cases,
};

kunit_test_suites(&mgid_suite, &group_suite);
