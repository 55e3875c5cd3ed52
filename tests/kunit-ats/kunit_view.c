// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of what others see of a port: the list, what is told as it changes, and that
 * each namespace has its own.
 */
#include "kunit.h"

static const char one, two;

static void has(struct fake_port *fake, const void *owner, unsigned int first, unsigned int count)
{
	ats_source_replace(&fake->port, fake_source(fake, owner, 1, first, count));
}

/* The port's work, as far as records are concerned; what was told before is forgotten */
static void update(struct fake_port *fake)
{
	unsigned long next = jiffies + HZ;
	struct ats_set *set;

	fake->told_count = 0;
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
	ats_engine_answer(&fake->port.engine, fake_set(fake, 1), slot, result, jiffies);
}

/* Expects that a record of an address is, or was told to be, in this state */
static void expect_local(struct fake_port *fake, const struct ats_local *local,
			 unsigned int number, int slot, enum ib_ats_record_state state)
{
	struct ats_key key = fake_key(1);
	struct in6_addr ip = fake_ip(number);

	KUNIT_EXPECT_TRUE(fake->test, ats_ip_same(&local->ip, &ip));
	KUNIT_EXPECT_TRUE(fake->test, ats_key_same(&local->key, &key));
	KUNIT_EXPECT_EQ(fake->test, local->slot, slot);
	KUNIT_EXPECT_EQ(fake->test, (int)local->state, (int)state);
}

/* Expects that there are so many records in the list, this one among them */
static void expect_listed(struct fake_port *fake, unsigned int count, unsigned int number,
			  int slot, enum ib_ats_record_state state)
{
	struct ats_view *view = ats_view_get(&fake->port);
	struct in6_addr ip = fake_ip(number);
	unsigned int i, found = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, view);
	KUNIT_EXPECT_EQ(fake->test, view->count, count);
	for (i = 0; i < view->count; i++) {
		if (!ats_ip_same(&view->local[i].ip, &ip))
			continue;
		expect_local(fake, &view->local[i], number, slot, state);
		found++;
	}
	KUNIT_EXPECT_EQ(fake->test, found, 1u);
	ats_view_put(view);
}

static void expect_status(struct fake_port *fake, enum ib_ats_sa_state sa)
{
	ats_view_set_status(&fake->port);
	KUNIT_EXPECT_EQ(fake->test, (int)ats_view_status(&fake->port).sa, (int)sa);
}

/* From the first request on, each state is seen, and told once */
static void view_states(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	KUNIT_EXPECT_PTR_EQ(test, ats_view_get(&fake->port), NULL);
	has(fake, &one, 1, 2);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_PENDING);
	expect_local(fake, &fake->told[1], 2, 1, IB_ATS_RECORD_PENDING);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_NET);
	KUNIT_EXPECT_EQ(test, fake->told[0].ifindex, 7);
	answer(fake, 1, ATS_RESULT_OK);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 2, 1, IB_ATS_RECORD_REGISTERED);
	answer(fake, 0, ATS_RESULT_REFUSED);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_REFUSED);
	expect_listed(fake, 2, 1, 0, IB_ATS_RECORD_REFUSED);
	expect_listed(fake, 2, 2, 1, IB_ATS_RECORD_REGISTERED);
}

/* After a re-registration nothing is sure, until it is answered */
static void view_forgotten(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 1);
	update(fake);
	answer(fake, 0, ATS_RESULT_OK);
	update(fake);
	ats_engine_forget(&fake->port.engine, jiffies);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_PENDING);
}

/* What does not change is not told, and is the same view */
static void view_same(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_view *before, *after;

	has(fake, &one, 1, 3);
	update(fake);
	before = ats_view_get(&fake->port);
	has(fake, &one, 1, 3);
	update(fake);
	after = ats_view_get(&fake->port);
	KUNIT_EXPECT_PTR_EQ(test, before, after);
	KUNIT_EXPECT_EQ(test, fake->told_count, 0u);
	ats_view_put(before);
	ats_view_put(after);
}

/* Who looks sees what there was when he began, whatever becomes of it */
static void view_held(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_view *held;

	has(fake, &one, 1, 2);
	update(fake);
	held = ats_view_get(&fake->port);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, held);
	has(fake, &one, 0, 0);
	update(fake);
	KUNIT_EXPECT_EQ(test, held->count, 2u);
	expect_local(fake, &held->local[1], 2, 1, IB_ATS_RECORD_PENDING);
	KUNIT_EXPECT_EQ(test, refcount_read(&held->refs), 1u);
	ats_view_put(held);
}

static void view_gone(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 3);
	update(fake);
	has(fake, &one, 2, 2);
	update(fake);
	/* It went from the list; the next one is the primary now */
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	expect_local(fake, &fake->told[1], 2, 0, IB_ATS_RECORD_PENDING);
	expect_listed(fake, 2, 2, 0, IB_ATS_RECORD_PENDING);
	has(fake, &one, 0, 0);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	expect_local(fake, &fake->told[0], 2, 0, IB_ATS_RECORD_GONE);
	expect_local(fake, &fake->told[1], 3, 2, IB_ATS_RECORD_GONE);
}

/* What all netdevices have goes with the port, and is told */
static void view_ends(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 1);
	update(fake);
	fake->told_count = 0;
	ats_view_destroy(&fake->port);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	KUNIT_EXPECT_PTR_EQ(test, ats_view_get(&fake->port), NULL);
}

static void view_primary(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct in6_addr ip = fake_ip(2);

	has(fake, &one, 1, 2);
	update(fake);
	ats_set_choose(fake_set(fake, 1), &ip);
	update(fake);
	KUNIT_EXPECT_EQ(test, fake->told_count, 2u);
	expect_listed(fake, 2, 1, 2, IB_ATS_RECORD_PENDING);
	expect_listed(fake, 2, 2, 0, IB_ATS_RECORD_PENDING);
}

static void view_full(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, ATS_SIDS + 1);
	update(fake);
	KUNIT_EXPECT_EQ(test, fake->told_count, ATS_SIDS + 1u);
	expect_listed(fake, ATS_SIDS + 1, ATS_SIDS, ATS_SIDS - 1, IB_ATS_RECORD_PENDING);
	expect_listed(fake, ATS_SIDS + 1, ATS_SIDS + 1, -1, IB_ATS_RECORD_NO_SID);
	has(fake, &one, 2, ATS_SIDS);
	update(fake);
	expect_listed(fake, ATS_SIDS, ATS_SIDS + 1, 1, IB_ATS_RECORD_PENDING);
}

static void view_local(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	fake_port_have_no_sa(fake);
	has(fake, &one, 1, 1);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_LOCAL);
	expect_status(fake, IB_ATS_SA_NONE);
}

/* An address that interfaces of two namespaces have is in both lists */
static void view_namespaces(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_source *source;

	has(fake, &one, 1, 1);
	source = fake_source(fake, &two, 1, 1, 1);
	source->net_cookie = FAKE_NET + 1;
	ats_source_replace(&fake->port, source);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_NET);
	KUNIT_EXPECT_EQ(test, fake->told[1].net_cookie, FAKE_NET + 1ull);
	expect_local(fake, &fake->told[1], 1, 0, IB_ATS_RECORD_PENDING);
	has(fake, &one, 0, 0);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_NET);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	KUNIT_EXPECT_FALSE(test, ats_view_has_net(&fake->port, FAKE_NET));
	KUNIT_EXPECT_TRUE(test, ats_view_has_net(&fake->port, FAKE_NET + 1));
}

/* In the namespace that it leaves it goes, in the other it comes */
static void view_moves(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_source *source;

	has(fake, &one, 1, 1);
	update(fake);
	KUNIT_EXPECT_TRUE(test, ats_view_has_net(&fake->port, FAKE_NET));
	source = fake_source(fake, &one, 1, 1, 1);
	source->net_cookie = FAKE_NET + 1;
	ats_source_replace(&fake->port, source);
	update(fake);
	KUNIT_ASSERT_EQ(test, fake->told_count, 2u);
	KUNIT_EXPECT_EQ(test, fake->told[0].net_cookie, (u64)FAKE_NET);
	expect_local(fake, &fake->told[0], 1, 0, IB_ATS_RECORD_GONE);
	KUNIT_EXPECT_EQ(test, fake->told[1].net_cookie, FAKE_NET + 1ull);
	expect_local(fake, &fake->told[1], 1, 0, IB_ATS_RECORD_PENDING);
	KUNIT_EXPECT_FALSE(test, ats_view_has_net(&fake->port, FAKE_NET));
}

static void view_status(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	expect_status(fake, IB_ATS_SA_ONLINE);
	has(fake, &one, 1, 2);
	update(fake);
	answer(fake, 0, ATS_RESULT_TIMEOUT);
	expect_status(fake, IB_ATS_SA_TROUBLE);
	answer(fake, 1, ATS_RESULT_OK);
	expect_status(fake, IB_ATS_SA_ONLINE);
	fake->port.engine.online = false;
	expect_status(fake, IB_ATS_SA_AWAY);
	KUNIT_EXPECT_EQ(test, ats_view_status(&fake->port).count.sets, 2ull);
	KUNIT_EXPECT_EQ(test, ats_view_status(&fake->port).count.timeouts, 1ull);
}

static struct kunit_case view_cases[] = {
	KUNIT_CASE(view_states),
	KUNIT_CASE(view_forgotten),
	KUNIT_CASE(view_same),
	KUNIT_CASE(view_held),
	KUNIT_CASE(view_gone),
	KUNIT_CASE(view_ends),
	KUNIT_CASE(view_primary),
	KUNIT_CASE(view_full),
	KUNIT_CASE(view_local),
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
