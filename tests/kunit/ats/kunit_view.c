// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the view of a port's records: the list, notifications about changes,
 * and that each namespace has its own.
 */
#include "kunit.h"

/* Sets a netdevice's addresses and, like answer(), clears the recorded notifications */
static void has(struct fake_port *fake, unsigned int dev, unsigned int first, unsigned int count)
{
	fake->told_count = 0;
	fake_has(fake, dev, 1, first, count);
}

/* Runs the part of the port's work that handles records */
static void update(struct fake_port *fake)
{
	unsigned long next = jiffies + HZ;
	struct ats_set *set;

	list_for_each_entry(set, &fake->port.engine.sets, list) {
		ats_set_expire(set, jiffies, &next);
		ats_set_assign(set);
	}
	ats_engine_run(&fake->port.engine, jiffies);
	ats_engine_reap(&fake->port.engine);
	ats_view_update(&fake->port);
}

static void answer(struct fake_port *fake, unsigned int slot, enum ats_result result)
{
	fake->told_count = 0;
	ats_engine_answer(&fake->port.engine, fake_set(fake, 1), slot, result, jiffies);
}

/* Expects that the record of an address is in this state, in the list or a notification */
static void expect_local(struct fake_port *fake, const struct ats_local *local,
			 unsigned int number, int slot, enum ib_ats_record_state state)
{
	struct in6_addr ip = fake_ip(number);

	KUNIT_EXPECT_TRUE(fake->test, ipv6_addr_equal(&local->ip, &ip));
	KUNIT_EXPECT_EQ(fake->test, local->slot, slot);
	KUNIT_EXPECT_EQ(fake->test, (int)local->state, (int)state);
}

/* Expects that the host has this number of records that were announced, including this one */
static void expect_listed(struct fake_port *fake, unsigned int count, unsigned int number,
			  int slot, enum ib_ats_record_state state)
{
	const struct ats_local *local;
	unsigned int told = 0;

	list_for_each_entry(local, &fake->port.locals, list)
		told += local->told && local->net_cookie == FAKE_HOST;
	KUNIT_EXPECT_EQ(fake->test, told, count);
	expect_local(fake, fake_local(fake, number), number, slot, state);
}

static void expect_status(struct fake_port *fake, enum ib_ats_sa_state sa)
{
	KUNIT_EXPECT_EQ(fake->test, (int)ats_view_sa(&fake->port), (int)sa);
}

/* Each state, from the first request on, is listed, and is notified once */
static void view_states(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, 2);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_PENDING);
	expect_local(fake, &fake->told[1], 2, 1, IB_ATS_RECORD_PENDING);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_HOST);
	KUNIT_EXPECT_EQ(test, fake->told[0].ifindex, FAKE_IFINDEX);
	answer(fake, 1, ATS_RESULT_OK);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 2, 1, IB_ATS_RECORD_REGISTERED);
	fake_set(fake, 1)->slot[0].refusal = 0x0200;
	answer(fake, 0, ATS_RESULT_REFUSED);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_REFUSED);
	KUNIT_EXPECT_EQ(test, fake->told[0].refusal, 0x0200);
	expect_listed(fake, 2, 1, 0, IB_ATS_RECORD_REFUSED);
	expect_listed(fake, 2, 2, 1, IB_ATS_RECORD_REGISTERED);
}

/* After a re-registration, records are pending until the SA answers */
static void view_forgotten(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, 1);
	update(fake);
	answer(fake, 0, ATS_RESULT_OK);
	update(fake);
	fake->told_count = 0;
	ats_engine_forget(&fake->port.engine, jiffies);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_PENDING);
}

/* Without a change there is no notification, and the list stays the same */
static void view_same(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	int version;

	has(fake, 0, 1, 3);
	update(fake);
	version = atomic_read(&ats_view_version);
	has(fake, 0, 1, 3);
	update(fake);
	KUNIT_EXPECT_EQ(test, fake->told_count, 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&ats_view_version), version);
	has(fake, 0, 1, 4);
	update(fake);
	KUNIT_EXPECT_EQ(test, fake->told_count, 1u);
	KUNIT_EXPECT_NE(test, atomic_read(&ats_view_version), version);
}

/* "since" only changes when an address enters another state */
static void view_since(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, 1);
	update(fake);
	fake_local(fake, 1)->since -= HZ;
	has(fake, 0, 1, 2);
	update(fake);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fake_local(fake, 1)->since, jiffies - HZ));
	answer(fake, 0, ATS_RESULT_OK);
	update(fake);
	KUNIT_EXPECT_TRUE(test, time_after(fake_local(fake, 1)->since, jiffies - HZ));
}

static void view_gone(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, 3);
	update(fake);
	has(fake, 0, 2, 2);
	update(fake);
	/* The first address is removed, so the next one becomes primary */
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	expect_local(fake, &fake->told[1], 2, 0, IB_ATS_RECORD_PENDING);
	expect_listed(fake, 2, 2, 0, IB_ATS_RECORD_PENDING);
	has(fake, 0, 0, 0);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	expect_local(fake, &fake->told[0], 2, 0, IB_ATS_RECORD_GONE);
	expect_local(fake, &fake->told[1], 3, 2, IB_ATS_RECORD_GONE);
}

/* When the port is removed, the removal of all records is notified */
static void view_ends(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, 1);
	update(fake);
	fake->told_count = 0;
	ats_local_drop_all(&fake->port);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
}

static void view_primary(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct in6_addr ip = fake_ip(2);

	has(fake, 0, 1, 2);
	update(fake);
	fake->told_count = 0;
	fake_set(fake, 1)->choice = ip;
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	KUNIT_EXPECT_FALSE(test, fake->told[0].chosen);
	KUNIT_EXPECT_TRUE(test, fake->told[1].chosen);
	expect_listed(fake, 2, 1, 2, IB_ATS_RECORD_PENDING);
	expect_listed(fake, 2, 2, 0, IB_ATS_RECORD_PENDING);
}

static void view_full(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, ATS_SIDS + 1);
	update(fake);
	KUNIT_EXPECT_EQ(test, fake->told_count, ATS_SIDS + 1u);
	expect_listed(fake, ATS_SIDS + 1, ATS_SIDS, ATS_SIDS - 1, IB_ATS_RECORD_PENDING);
	expect_listed(fake, ATS_SIDS + 1, ATS_SIDS + 1, -1, IB_ATS_RECORD_NO_SID);
	has(fake, 0, 2, ATS_SIDS);
	update(fake);
	expect_listed(fake, ATS_SIDS, ATS_SIDS + 1, 1, IB_ATS_RECORD_PENDING);
}

/* An address on interfaces of two namespaces is in both lists */
static void view_namespaces(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	fake->devs[1].net_cookie = FAKE_GUEST;
	has(fake, 0, 1, 1);
	has(fake, 1, 1, 1);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_HOST);
	KUNIT_EXPECT_EQ(test, fake->told[1].net_cookie, (u64)FAKE_GUEST);
	expect_local(fake, &fake->told[1], 1, 0, IB_ATS_RECORD_PENDING);
	has(fake, 0, 0, 0);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_HOST);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	KUNIT_EXPECT_FALSE(test, ats_local_in_partition(&fake->port, FAKE_HOST, 0));
	KUNIT_EXPECT_TRUE(test, ats_local_in_partition(&fake->port, FAKE_GUEST, 0));
}

/* The record is removed from the old namespace, and added in the new one */
static void view_moves(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, 0, 1, 1);
	update(fake);
	KUNIT_EXPECT_TRUE(test, ats_local_in_partition(&fake->port, FAKE_HOST, 0));
	fake->devs[0].net_cookie = FAKE_GUEST;
	has(fake, 0, 1, 1);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_HOST);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	KUNIT_EXPECT_EQ(test, fake->told[1].net_cookie, (u64)FAKE_GUEST);
	expect_local(fake, &fake->told[1], 1, 0, IB_ATS_RECORD_PENDING);
	KUNIT_EXPECT_FALSE(test, ats_local_in_partition(&fake->port, FAKE_HOST, 0));
}

static void view_status(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	expect_status(fake, IB_ATS_SA_ONLINE);
	has(fake, 0, 1, 2);
	update(fake);
	answer(fake, 0, ATS_RESULT_TIMEOUT);
	expect_status(fake, IB_ATS_SA_TROUBLE);
	answer(fake, 1, ATS_RESULT_OK);
	expect_status(fake, IB_ATS_SA_ONLINE);
	fake->port.engine.online = false;
	expect_status(fake, IB_ATS_SA_AWAY);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_SETS], 2ull);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_TIMEOUTS], 1ull);
}

static struct kunit_case view_cases[] = {
	KUNIT_CASE(view_states),
	KUNIT_CASE(view_forgotten),
	KUNIT_CASE(view_same),
	KUNIT_CASE(view_since),
	KUNIT_CASE(view_gone),
	KUNIT_CASE(view_ends),
	KUNIT_CASE(view_primary),
	KUNIT_CASE(view_full),
	KUNIT_CASE(view_namespaces),
	KUNIT_CASE(view_moves),
	KUNIT_CASE(view_status),
	{}
};

static struct kunit_suite view_suite = {
	.name = "ats_view",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = view_cases,
};

kunit_test_suites(&view_suite);
