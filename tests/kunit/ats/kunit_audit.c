// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of audits: leftovers of an earlier boot are found under every GID of
 * the port, another port's record of an address is reported once, and only one
 * request of an audit is outstanding at a time.
 */
#include "kunit.h"

/* Runs the part of the port's work that handles audits */
static void run(struct fake_port *fake)
{
	fake->next = fake->now + MAX_JIFFY_OFFSET / 2;
	ats_audit_run(&fake->port, fake->now, &fake->next);
	ats_view_update(&fake->port);
}

static void put(struct fake_answer *answer, unsigned int at, u8 guid, u16 pkey,
		unsigned int number)
{
	struct ats_record record = {
		.key = fake_key(guid), .sid = ATS_SID_PRIMARY, .addr = fake_ip(number),
	};

	record.key.pkey = pkey;
	fake_answer_put(answer, at * sizeof(struct ats_wire_record), &record);
}

static bool has_set(struct fake_port *fake, u8 guid, u16 pkey)
{
	struct ats_key key = fake_key(guid);

	key.pkey = pkey;
	return ats_engine_find(&fake->port.engine, &key);
}

/* The SA has no records under the port's GIDs */
static void pass_leftovers(struct fake_port *fake)
{
	run(fake);
	KUNIT_ASSERT_EQ(fake->test, fake->posted_count, 1u);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	fake->posted_count = 0;
}

/* A set is created for the leftovers of each partition, which the engine then deletes */
static void audit_leftovers(struct kunit *test)
{
	u64 mask = ATS_MASK_GID | ATS_MASK_NAME;
	struct fake_port *fake = test->priv;
	struct fake_answer *answer = fake_answer_create(test, 4);

	fake->gids[1] = fake_key(2).gid;
	/* That of another host was not asked for, and would be deleted */
	put(answer, 3, 9, 0x8001, 3);
	put(answer, 0, 1, 0x8001, 1);
	put(answer, 1, 1, 0x8001, 2);
	put(answer, 2, 1, 0x8002, 1);
	run(fake);
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	KUNIT_EXPECT_EQ(test, fake->posted[0].sent.method, IB_SA_METHOD_GET_TABLE);
	KUNIT_EXPECT_EQ(test, fake->posted[0].sent.mask, mask);
	KUNIT_EXPECT_EQ(test, fake->posted[0].sent.record.gid[15], 1);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	KUNIT_EXPECT_TRUE(test, has_set(fake, 1, 0x8001));
	KUNIT_EXPECT_TRUE(test, has_set(fake, 1, 0x8002));
	KUNIT_EXPECT_FALSE(test, has_set(fake, 9, 0x8001));
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_LEFTOVERS], 2ull);
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	KUNIT_EXPECT_EQ(test, fake->posted[1].sent.record.gid[15], 2);
	fake_end(fake, 1, ATS_RESULT_NO_RECORD, NULL);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
	/* A new SM may mean another SA */
	ats_audit_contact(&fake->port, fake->now);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 3u);
}

/* What the SA has may be wanted, until the addresses of this host are known */
static void audit_waits_for_addresses(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	fake->port.audit.ready = false;
	run(fake);
	ats_audit_contact(&fake->port, fake->now);
	run(fake);
	fake->now = fake->port.audit.at;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 0u);
	fake->port.audit.ready = true;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
}

/* A request that times out is repeated after a while; one that is refused is not */
static void audit_unanswered(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	KUNIT_EXPECT_TRUE(test, time_after(fake->next, fake->now));
	KUNIT_EXPECT_TRUE(test, time_before(fake->next, fake->now + 10 * HZ));
	fake->now = fake->next;
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	fake_end(fake, 1, ATS_RESULT_REFUSED, NULL);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
}

static void audit_offline(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	fake->port.engine.online = false;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 0u);
	fake->port.engine.online = true;
	fake->port.engine.trouble = 1;
	fake->port.engine.quiet_until = fake->now + HZ;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 0u);
	KUNIT_EXPECT_EQ(test, fake->next, fake->now + HZ);
	fake->now = fake->next;
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	KUNIT_EXPECT_EQ(test, fake->port.engine.trouble, 0u);
}

/* Begins an audit and answers its first request */
static void begin(struct fake_port *fake)
{
	fake->now = fake->port.audit.at;
	pass_leftovers(fake);
}

/* A single record of an address must be this host's own; if there are more,
 * they are read as a table
 */
static void audit_rivals(struct kunit *test)
{
	struct fake_answer *single = fake_answer_create(test, 1);
	struct fake_answer *table = fake_answer_create(test, 2);
	struct fake_port *fake = test->priv;
	unsigned int i;

	put(single, 0, 1, 0xffff, 1);
	put(table, 0, 1, 0xffff, 2);
	put(table, 1, 7, 0xffff, 2);
	fake_has(fake, 0, 1, 1, 2);
	pass_leftovers(fake);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 0u);
	for (i = 0; i < 2; i++) {
		begin(fake);
		fake->told_count = 0;
		run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
		KUNIT_EXPECT_EQ(test, fake->posted[0].sent.method, IB_MGMT_METHOD_GET);
		KUNIT_EXPECT_EQ(test, fake->posted[0].sent.mask,
				ATS_MASK_PKEY | ATS_MASK_NAME | ATS_MASK_DATA8);
		fake_end(fake, 0, ATS_RESULT_OK, single);
		run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
		KUNIT_EXPECT_EQ(test, fake->posted[1].sent.record.data8[15], 2);
		fake_end(fake, 1, ATS_RESULT_TOO_MANY, NULL);
		KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
		fake->port.audit.wait_until = fake->now;
		run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
		KUNIT_EXPECT_EQ(test, fake->posted[2].sent.method, IB_SA_METHOD_GET_TABLE);
		fake_end(fake, 2, ATS_RESULT_OK, table);
		run(fake);
		KUNIT_EXPECT_EQ(test, fake->posted_count, 3u);
		/* The conflict is reported once */
		KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_CONFLICTS], 1ull);
		KUNIT_ASSERT_EQ(test, fake->told_count, 1u - i);
		fake->posted_count = 0;
	}
	KUNIT_EXPECT_FALSE(test, rdma_is_zero_gid(&fake->told[0].rival));
	KUNIT_EXPECT_EQ(test, fake->told[0].rival.raw[15], 7);

	/* The end of the conflict is reported, too */
	begin(fake);
	for (i = 0; i < 2; i++) {
		run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, i + 1);
		fake_end(fake, i, ATS_RESULT_NO_RECORD, NULL);
	}
	KUNIT_ASSERT_EQ(test, fake->told_count, 1u);
	KUNIT_EXPECT_TRUE(test, rdma_is_zero_gid(&fake->told[0].rival));
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_CONFLICTS], 1ull);
}

/* An address that is removed while its records are queried causes no conflict */
static void audit_rival_goes(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 1);
	struct fake_port *fake = test->priv;

	put(answer, 0, 7, 0xffff, 1);
	fake_has(fake, 0, 1, 1, 1);
	pass_leftovers(fake);
	begin(fake);
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	fake_has(fake, 0, 1, 2, 1);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_CONFLICTS], 0ull);
	/* The new address is queried by the next audit */
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	fake->posted_count = 0;
	begin(fake);
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	KUNIT_EXPECT_EQ(test, fake->posted[0].sent.record.data8[15], 2);
}

/* If a query for one address fails, the audit continues with the others */
static void audit_rival_unanswered(struct kunit *test)
{
	static const enum ats_result results[] = { ATS_RESULT_TIMEOUT, ATS_RESULT_REFUSED };
	struct fake_port *fake = test->priv;
	unsigned int i;

	fake_has(fake, 0, 1, 1, 3);
	pass_leftovers(fake);
	begin(fake);
	for (i = 0; i < 2; i++) {
		run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, i + 1);
		fake_end(fake, i, results[i], NULL);
		fake->port.audit.wait_until = fake->now;
	}
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
	KUNIT_EXPECT_EQ(test, fake->posted[2].sent.record.data8[15], 3);
}

/* An answer to a request from before the SM changed does not count */
static void audit_stale(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	ats_audit_contact(&fake->port, fake->now);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	KUNIT_EXPECT_EQ(test, fake->posted[1].sent.record.gid[15], 1);
	fake_end(fake, 1, ATS_RESULT_NO_RECORD, NULL);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
}

/* Audits on request are granted, but not in immediate succession */
static void audit_wishes(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	unsigned int round = fake->port.audit.round;

	pass_leftovers(fake);
	fake->port.audit.wished = true;
	run(fake);
	pass_leftovers(fake);
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.audit.round, round + 1);
	fake->port.audit.wished = true;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.audit.round, round + 1);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fake->next, fake->now + 2 * HZ));
	fake->now = fake->next;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.audit.round, round + 2);
}

/* However often somebody requests audits, each of them comes to its end */
static void audit_wishes_always(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	unsigned int round, i;

	fake_has(fake, 0, 1, 1, 3);
	pass_leftovers(fake);
	begin(fake);
	round = fake->port.audit.round;
	for (i = 0; i < 3; i++) {
		fake->now += 3 * HZ;
		fake->port.audit.wished = true;
		run(fake);
		KUNIT_EXPECT_EQ(test, fake->port.audit.round, round);
		KUNIT_ASSERT_EQ(test, fake->posted_count, i + 1);
		KUNIT_EXPECT_EQ(test, fake->posted[i].sent.record.data8[15], i + 1);
		fake_end(fake, i, ATS_RESULT_NO_RECORD, NULL);
	}
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.audit.round, round + 1);
	/* A regular one does not wait for the end of another */
	fake->now = fake->port.audit.at;
	run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.audit.round, round + 2);
}

/* Leases are renewed by regular audits, which requested ones do not put off */
static void audit_wish_renews_nothing(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	unsigned long at = fake->port.audit.at;

	ats_lease = 90;
	fake_has(fake, 0, 1, 1, 1);
	pass_leftovers(fake);
	fake->port.audit.wished = true;
	run(fake);
	pass_leftovers(fake);
	KUNIT_EXPECT_FALSE(test, fake_set(fake, 1)->slot[0].renew);
	KUNIT_EXPECT_EQ(test, fake->port.audit.at, at);
	fake->now = at;
	run(fake);
	KUNIT_EXPECT_TRUE(test, fake_set(fake, 1)->slot[0].renew);
	ats_lease = 0;
}

/* Audits are frequent enough for the lease, or disabled */
static void audit_times(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	KUNIT_EXPECT_TRUE(test, time_after(fake->port.audit.at, jiffies + 500 * HZ));
	ats_lease = 90;
	ats_audit_init(&fake->port);
	KUNIT_EXPECT_TRUE(test, time_before(fake->port.audit.at, jiffies + 36 * HZ));
	ats_lease = 0;
	ats_audit_interval = 0;
	ats_audit_init(&fake->port);
	KUNIT_EXPECT_TRUE(test, time_after(fake->port.audit.at, jiffies + 10000 * HZ));
	ats_audit_interval = 600;
}

static struct kunit_case audit_cases[] = {
	KUNIT_CASE(audit_leftovers),
	KUNIT_CASE(audit_waits_for_addresses),
	KUNIT_CASE(audit_unanswered),
	KUNIT_CASE(audit_offline),
	KUNIT_CASE(audit_rivals),
	KUNIT_CASE(audit_rival_goes),
	KUNIT_CASE(audit_rival_unanswered),
	KUNIT_CASE(audit_stale),
	KUNIT_CASE(audit_wishes),
	KUNIT_CASE(audit_wishes_always),
	KUNIT_CASE(audit_wish_renews_nothing),
	KUNIT_CASE(audit_times),
	{}
};

static struct kunit_suite audit_suite = {
	.name = "ats_audit",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = audit_cases,
};

kunit_test_suites(&audit_suite);
