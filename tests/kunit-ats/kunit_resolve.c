// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of queries: what the SA is asked, what becomes of its answers, tries, deadlines,
 * cancelling, and what a port without an SA knows. Two may be under way at once.
 */
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "kunit.h"

#define ASKED_ANSWERS	4
#define TIMEOUT_MS	2000

/* A query, and how it ended */
struct asked {
	struct ib_ats_question question;
	struct ib_ats_query *query;
	unsigned int ended;		/* how often */
	int err;
	unsigned int count;
	struct ib_ats_answer answers[ASKED_ANSWERS];
};

static const char one, two;

static void asked_done(void *context, int err, const struct ib_ats_answer *answers,
		       unsigned int count)
{
	struct asked *asked = context;

	asked->ended++;
	asked->err = err;
	asked->count = count;
	memcpy(asked->answers, answers, min(count, ASKED_ANSWERS + 0u) * sizeof(*answers));
}

static void ask(struct fake_port *fake, struct asked *asked)
{
	asked->query = ib_ats_ask(&asked->question, asked_done, asked);
	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(asked->query));
}

/* As modules name it */
static struct in6_addr mapped(unsigned int number)
{
	struct in6_addr ip = fake_ip(number);

	ats_addr_to_mapped(&ip);
	return ip;
}

static void ask_addr(struct fake_port *fake, struct asked *asked, unsigned int number)
{
	asked->question.kind = IB_ATS_BY_ADDR;
	asked->question.addr = mapped(number);
	asked->question.timeout_ms = TIMEOUT_MS;
	ask(fake, asked);
}

/* Expects that it has ended so; and lets go of it */
static void expect_ended(struct fake_port *fake, struct asked *asked, int err)
{
	KUNIT_EXPECT_EQ(fake->test, asked->ended, 1u);
	KUNIT_EXPECT_EQ(fake->test, asked->err, err);
	if (err)
		KUNIT_EXPECT_EQ(fake->test, asked->count, 0u);
	ib_ats_free(asked->query);
}

static void put(struct fake_answer *answer, unsigned int at, u8 guid, unsigned int slot,
		unsigned int number)
{
	struct ats_record record = {
		.key = fake_key(guid),
		.sid = ats_slot_sid(slot),
		.lease = ATS_LEASE_INFINITE,
		.addr = fake_ip(number),
	};

	fake_answer_put(answer, at * sizeof(struct ats_wire_record), &record);
}

static struct fake_answer *answer_create(struct kunit *test, unsigned int records)
{
	struct fake_answer *answer = kunit_kzalloc(test, sizeof(*answer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, answer);
	fake_answer_init(answer, records);
	return answer;
}

/* ---- What the SA is asked ---- */

/* Expects that the SA was asked so, and ends the query */
static void expect_posted(struct fake_port *fake, struct asked *asked, u8 method, u64 mask)
{
	unsigned int number = fake->posted_count;

	ask(fake, asked);
	fake_run(fake);
	KUNIT_ASSERT_EQ(fake->test, fake->posted_count, number + 1);
	KUNIT_EXPECT_EQ(fake->test, fake->posted[number].method, method);
	KUNIT_EXPECT_EQ(fake->test, fake->posted[number].mask, mask);
	KUNIT_EXPECT_STREQ(fake->test, (const char *)fake->posted[number].wire.name,
			   ATS_SERVICE_NAME);
	fake_end(fake, number, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, asked, -EREMOTEIO);
}

static void resolve_asks_addr(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_BY_ADDR, .addr = mapped(1) } };
	struct fake_port *fake = test->priv;
	struct in6_addr ip = fake_ip(1);

	expect_posted(fake, &asked, IB_MGMT_METHOD_GET, ATS_MASK_NAME | ATS_MASK_DATA8);
	KUNIT_EXPECT_EQ(test, memcmp(fake->posted[0].wire.data8, &ip, sizeof(ip)), 0);
	asked.ended = 0;
	asked.question.pkey = 0x8001;
	expect_posted(fake, &asked, IB_MGMT_METHOD_GET,
		      ATS_MASK_NAME | ATS_MASK_DATA8 | ATS_MASK_PKEY);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(fake->posted[1].wire.pkey), 0x8001);
}

static void resolve_asks_gid(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_BY_GID, .gid = fake_key(3).gid } };
	struct fake_port *fake = test->priv;

	expect_posted(fake, &asked, IB_SA_METHOD_GET_TABLE, ATS_MASK_NAME | ATS_MASK_GID);
	KUNIT_EXPECT_EQ(test, fake->posted[0].wire.gid[15], 3);
}

static void resolve_asks_primary(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_PRIMARY, .gid = fake_key(3).gid } };
	u64 mask = ATS_MASK_NAME | ATS_MASK_GID | ATS_MASK_SID;
	struct fake_port *fake = test->priv;

	expect_posted(fake, &asked, IB_MGMT_METHOD_GET, mask);
	asked.ended = 0;
	asked.question.pkey = 0xffff;
	expect_posted(fake, &asked, IB_MGMT_METHOD_GET, mask | ATS_MASK_PKEY);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(fake->posted[1].wire.service_id), ATS_SID_PRIMARY);
}

static void resolve_asks_sid(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_BY_SID, .sid = ATS_SID_BASE + 7 } };
	struct fake_port *fake = test->priv;

	expect_posted(fake, &asked, IB_SA_METHOD_GET_TABLE, ATS_MASK_NAME | ATS_MASK_SID);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(fake->posted[0].wire.service_id), ATS_SID_BASE + 7);
}

static int ask_error(const struct ib_ats_question *question)
{
	struct ib_ats_query *query = ib_ats_ask(question, asked_done, NULL);

	return IS_ERR(query) ? PTR_ERR(query) : 0;
}

static void resolve_senseless(struct kunit *test)
{
	struct ib_ats_question question = { .kind = IB_ATS_BY_SID, .sid = ATS_SID_BASE - 1 };

	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.sid = ATS_SID_BASE + ATS_SIDS;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.kind = IB_ATS_BY_ADDR;
	question.addr = in6addr_any;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.kind = IB_ATS_BY_SID + 1;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -EINVAL);
	question.kind = IB_ATS_BY_GID;
	question.port = 9;
	KUNIT_EXPECT_EQ(test, ask_error(&question), -ENODEV);
}

/* ---- Answers ---- */

static void expect_answer(struct fake_port *fake, const struct asked *asked, unsigned int number,
			  u8 guid, unsigned int slot, unsigned int ip)
{
	const struct ib_ats_answer *answer = &asked->answers[number];
	struct in6_addr addr = mapped(ip);

	KUNIT_EXPECT_EQ(fake->test, answer->gid.raw[15], guid);
	KUNIT_EXPECT_EQ(fake->test, answer->sid, ats_slot_sid(slot));
	KUNIT_EXPECT_EQ(fake->test, answer->primary, !slot);
	KUNIT_EXPECT_EQ(fake->test, answer->pkey, 0xffff);
	KUNIT_EXPECT_TRUE(fake->test, ats_ip_same(&answer->addr, &addr));
}

/* Those of primary addresses first, then by GID and Service ID around the block's end */
static void resolve_order(struct kunit *test)
{
	struct fake_answer *answer = answer_create(test, 4);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 2, 200, 1);
	put(answer, 1, 2, 100, 2);
	put(answer, 2, 1, 4, 3);
	put(answer, 3, 2, 0, 4);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	KUNIT_ASSERT_EQ(test, asked.count, 4u);
	expect_answer(fake, &asked, 0, 2, 0, 4);
	expect_answer(fake, &asked, 1, 1, 4, 3);
	expect_answer(fake, &asked, 2, 2, 100, 2);
	expect_answer(fake, &asked, 3, 2, 200, 1);
	expect_ended(fake, &asked, 0);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count.queries, 1ull);
}

/* Whoever has an IPv4 address in the older form is found after all */
static void resolve_other_form(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct in6_addr ip = mapped(1);
	struct asked asked = {}, other = {};

	ask_addr(fake, &other, 2);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	fake_end(fake, 1, ATS_RESULT_NO_RECORD, NULL);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
	KUNIT_EXPECT_EQ(test, memcmp(fake->posted[2].wire.data8, &ip, sizeof(ip)), 0);
	fake_end(fake, 2, ATS_RESULT_NO_RECORD, NULL);
	expect_ended(fake, &asked, -ENOENT);

	/* An empty table is the same */
	fake_end(fake, 0, ATS_RESULT_OK, answer_create(test, 0));
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 4u);
	fake_end(fake, 3, ATS_RESULT_OK, answer_create(test, 0));
	expect_ended(fake, &other, -ENOENT);
}

/* What does not go into one packet is asked for as a table, by and by in both forms */
static void resolve_too_many(struct kunit *test)
{
	struct fake_answer *answer = answer_create(test, 2);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 2, 5, 1);
	put(answer, 1, 1, 0, 1);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	fake_run(fake);
	fake_end(fake, 1, ATS_RESULT_TOO_MANY, NULL);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
	KUNIT_EXPECT_EQ(test, fake->posted[1].method, IB_MGMT_METHOD_GET);
	KUNIT_EXPECT_EQ(test, fake->posted[2].method, IB_SA_METHOD_GET_TABLE);
	KUNIT_EXPECT_EQ(test, fake->posted[2].mask, fake->posted[1].mask);
	KUNIT_EXPECT_EQ(test, memcmp(fake->posted[2].wire.data8, fake->posted[1].wire.data8,
				     sizeof(fake->posted[1].wire.data8)), 0);
	fake_end(fake, 2, ATS_RESULT_OK, answer);
	KUNIT_ASSERT_EQ(test, asked.count, 2u);
	expect_answer(fake, &asked, 0, 1, 0, 1);
	expect_answer(fake, &asked, 1, 2, 5, 1);
	expect_ended(fake, &asked, 0);
}

static void resolve_nobody(struct kunit *test)
{
	struct asked asked = { .question.kind = IB_ATS_BY_ADDR };
	struct fake_port *fake = test->priv;

	asked.question.addr.s6_addr[0] = 0xfd;
	ask(fake, &asked);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	expect_ended(fake, &asked, -ENOENT);
}

static void resolve_malformed(struct kunit *test)
{
	struct fake_answer *answer = answer_create(test, 1);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 1, 0, 1);
	answer->mad[0].sa_hdr.attr_offset = cpu_to_be16(2);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	expect_ended(fake, &asked, -EREMOTEIO);
}

/* ---- Tries and deadlines ---- */

static void resolve_again(struct kunit *test)
{
	struct fake_answer *answer = answer_create(test, 1);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 1, 0, 1);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	KUNIT_EXPECT_TRUE(test, time_before(fake->now, fake->next));
	KUNIT_EXPECT_TRUE(test, time_before(fake->next, fake->now + HZ));
	fake->now = fake->next - 1;
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	fake->now++;
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	fake_end(fake, 1, ATS_RESULT_OK, answer);
	expect_ended(fake, &asked, 0);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count.queries, 2ull);
}

static void resolve_gives_up(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_BUSY, NULL);
	fake->now = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	expect_ended(fake, &asked, -ETIMEDOUT);
}

/* What cannot be sent is tried again, as what is not answered */
static void resolve_cannot_send(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	fake->post_error = -EAGAIN;
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count.queries, 0ull);
	KUNIT_EXPECT_TRUE(test, time_before(fake->next, fake->now + HZ));
	fake->post_error = 0;
	fake->now = fake->next;
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	fake_end(fake, 0, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, &asked, -EREMOTEIO);
}

/* As many as there is room for, in their order */
static void resolve_window(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked[5] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		KUNIT_EXPECT_EQ(test, fake->posted[i].wire.data8[15], i + 1);
		fake_end(fake, i, ATS_RESULT_REFUSED, NULL);
		fake_run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, min(i + 3, 5u));
		expect_ended(fake, &asked[i], -EREMOTEIO);
	}
	KUNIT_EXPECT_EQ(test, fake->port.queries_in_flight, 0u);
}

/* For whom there is no room until his time is over, he need not wait any longer */
static void resolve_expires(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked[4] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fake->next,
					       jiffies + msecs_to_jiffies(TIMEOUT_MS)));
	fake->now = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	fake_end(fake, 0, ATS_RESULT_REFUSED, NULL);
	fake_run(fake);
	/* There was room for one of the two, and this is its one try */
	KUNIT_EXPECT_EQ(test, fake->posted_count, 3u);
	expect_ended(fake, &asked[0], -EREMOTEIO);
	expect_ended(fake, &asked[3], -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, asked[1].ended + asked[2].ended, 0u);
	fake_end(fake, 1, ATS_RESULT_REFUSED, NULL);
	fake_end(fake, 2, ATS_RESULT_TIMEOUT, NULL);
	fake_run(fake);
	expect_ended(fake, &asked[1], -EREMOTEIO);
	expect_ended(fake, &asked[2], -ETIMEDOUT);
}

/* ---- Ends ---- */

/* Under way, waiting for room, for another try, and not yet taken in */
static void resolve_cancelled(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked[5] = {};
	unsigned int i;

	for (i = 0; i < 4; i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
	ask_addr(fake, &asked[4], 5);
	fake->threaded = true;
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		ib_ats_free(asked[i].query);
		KUNIT_EXPECT_EQ(test, asked[i].ended, 1u);
		KUNIT_EXPECT_EQ(test, asked[i].err, -ECANCELED);
	}
	KUNIT_EXPECT_TRUE(test, fake->posted[1].cancelled);
	flush_work(&fake->work);
	KUNIT_EXPECT_EQ(test, fake->port.queries_in_flight, 0u);
}

/* Who lets go of a query waits for its end */
struct waiter {
	struct work_struct work;
	struct ib_ats_query *query;
};

static void waiter_work(struct work_struct *work)
{
	ib_ats_free(container_of(work, struct waiter, work)->query);
}

/* One that is cancelled as its request ends by itself is not asked again, in any form */
static void resolve_cancelled_late(struct kunit *test)
{
	static const enum ats_result results[] = {
		ATS_RESULT_TIMEOUT, ATS_RESULT_TOO_MANY, ATS_RESULT_NO_RECORD,
	};
	struct fake_port *fake = test->priv;
	struct waiter waiter;
	struct asked asked;
	unsigned int i;

	INIT_WORK_ONSTACK(&waiter.work, waiter_work);
	for (i = 0; i < ARRAY_SIZE(results); i++) {
		memset(&asked, 0, sizeof(asked));
		ask_addr(fake, &asked, 1);
		fake_run(fake);
		waiter.query = asked.query;
		schedule_work(&waiter.work);
		while (!fake->posted[i].cancelled) {
			fake_run(fake);
			cond_resched();
		}
		fake_end(fake, i, results[i], NULL);
		fake_run(fake);
		KUNIT_EXPECT_EQ(test, fake->posted_count, i + 1);
		KUNIT_EXPECT_EQ(test, asked.ended, 1u);
		KUNIT_EXPECT_EQ(test, asked.err, results[i] == ATS_RESULT_NO_RECORD ? -ENOENT :
										     -ECANCELED);
		flush_work(&waiter.work);
	}
	destroy_work_on_stack(&waiter.work);
}

/* The HCA goes: what waits, and what is under way, which the MAD layer ends */
static void resolve_unplugged(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked[4] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	fake->port.stopped = true;
	fake_end(fake, 1, ATS_RESULT_CANCELLED, NULL);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
	for (i = 0; i < ARRAY_SIZE(asked); i++)
		expect_ended(fake, &asked[i], -ENODEV);
}

/* The SM goes: those that wait have the answer that there is here */
static void resolve_sm_goes(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked[4] = {};
	unsigned int i;

	ats_source_replace(&fake->port, fake_source(fake, &one, 1, 2, 1));
	ats_set_assign(fake_set(fake, 1));
	for (i = 0; i < ARRAY_SIZE(asked); i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	fake_end(fake, 1, ATS_RESULT_TIMEOUT, NULL);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 4u);
	fake->port.engine.online = false;
	fake_run(fake);
	expect_ended(fake, &asked[0], -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, asked[1].count, 1u);
	expect_answer(fake, &asked[1], 0, 1, 0, 2);
	expect_ended(fake, &asked[1], 0);
	/* The SA may answer yet those that it was asked */
	KUNIT_EXPECT_EQ(test, asked[2].ended + asked[3].ended, 0u);
	fake_end(fake, 2, ATS_RESULT_REFUSED, NULL);
	fake_end(fake, 3, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, &asked[2], -EREMOTEIO);
	expect_ended(fake, &asked[3], -EREMOTEIO);
}

/* ---- Without an SA ---- */

/* Two netdevices of one GID with 10.0.0.1 and .2, and .2 and .3; the second's namespace */
static void have_two(struct fake_port *fake, u64 net_cookie)
{
	struct ats_source *source = fake_source(fake, &two, 1, 2, 2);

	fake_port_have_no_sa(fake);
	source->net_cookie = net_cookie;
	ats_source_replace(&fake->port, fake_source(fake, &one, 1, 1, 2));
	ats_source_replace(&fake->port, source);
	ats_set_assign(fake_set(fake, 1));
}

static void ask_locally(struct fake_port *fake, struct asked *asked)
{
	asked->ended = 0;
	ask(fake, asked);
	fake_run(fake);
	KUNIT_EXPECT_EQ(fake->test, fake->posted_count, 0u);
}

static void resolve_locally(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_BY_GID, .gid = fake_key(1).gid } };
	struct fake_port *fake = test->priv;

	have_two(fake, FAKE_NET);
	ask_locally(fake, &asked);
	KUNIT_ASSERT_EQ(test, asked.count, 3u);
	expect_answer(fake, &asked, 0, 1, 0, 1);
	expect_answer(fake, &asked, 1, 1, 1, 2);
	expect_answer(fake, &asked, 2, 1, 2, 3);
	expect_ended(fake, &asked, 0);
	asked.question.kind = IB_ATS_PRIMARY;
	ask_locally(fake, &asked);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	expect_answer(fake, &asked, 0, 1, 0, 1);
	expect_ended(fake, &asked, 0);
	asked.question.pkey = 0x8001;
	ask_locally(fake, &asked);
	expect_ended(fake, &asked, -ENETUNREACH);
}

static void resolve_locally_one(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_BY_ADDR, .addr = mapped(3) } };
	struct fake_port *fake = test->priv;

	have_two(fake, FAKE_NET);
	ask_locally(fake, &asked);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	expect_answer(fake, &asked, 0, 1, 2, 3);
	expect_ended(fake, &asked, 0);
	asked.question.kind = IB_ATS_BY_SID;
	asked.question.sid = ats_slot_sid(1);
	ask_locally(fake, &asked);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	expect_answer(fake, &asked, 0, 1, 1, 2);
	expect_ended(fake, &asked, 0);
	asked.question.sid = ats_slot_sid(3);
	ask_locally(fake, &asked);
	expect_ended(fake, &asked, -ENETUNREACH);
}

/* A namespace is told of what its own interfaces have, and of no other's */
static void resolve_namespaces(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_BY_GID, .gid = fake_key(1).gid } };
	struct fake_port *fake = test->priv;

	have_two(fake, init_net.net_cookie);
	asked.question.net = &init_net;
	ask_locally(fake, &asked);
	KUNIT_ASSERT_EQ(test, asked.count, 2u);
	expect_answer(fake, &asked, 0, 1, 1, 2);
	expect_answer(fake, &asked, 1, 1, 2, 3);
	expect_ended(fake, &asked, 0);
	asked.question.kind = IB_ATS_BY_ADDR;
	asked.question.addr = mapped(1);
	ask_locally(fake, &asked);
	expect_ended(fake, &asked, -ENETUNREACH);
}

/* ATS section 5.1: a GID is an IP address */
static void resolve_gid_as_addr(struct kunit *test)
{
	struct asked asked = { .question.kind = IB_ATS_BY_ADDR };
	struct fake_port *fake = test->priv;

	fake_port_have_no_sa(fake);
	fake->gid = fake_key(9).gid;
	fake->gid_net = init_net.net_cookie;
	memcpy(&asked.question.addr, &fake->gid, sizeof(fake->gid));
	asked.question.net = &init_net;
	ask_locally(fake, &asked);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	KUNIT_EXPECT_EQ(test, memcmp(&asked.answers[0].gid, &fake->gid, sizeof(fake->gid)), 0);
	KUNIT_EXPECT_TRUE(test, ats_ip_same(&asked.answers[0].addr, &asked.question.addr));
	KUNIT_EXPECT_TRUE(test, asked.answers[0].primary);
	expect_ended(fake, &asked, 0);
	fake->gid_net = init_net.net_cookie + 1;
	ask_locally(fake, &asked);
	expect_ended(fake, &asked, -ENETUNREACH);
}

static struct kunit_case resolve_cases[] = {
	KUNIT_CASE(resolve_asks_addr),
	KUNIT_CASE(resolve_asks_gid),
	KUNIT_CASE(resolve_asks_primary),
	KUNIT_CASE(resolve_asks_sid),
	KUNIT_CASE(resolve_senseless),
	KUNIT_CASE(resolve_order),
	KUNIT_CASE(resolve_other_form),
	KUNIT_CASE(resolve_too_many),
	KUNIT_CASE(resolve_nobody),
	KUNIT_CASE(resolve_malformed),
	KUNIT_CASE(resolve_again),
	KUNIT_CASE(resolve_gives_up),
	KUNIT_CASE(resolve_cannot_send),
	KUNIT_CASE(resolve_window),
	KUNIT_CASE(resolve_expires),
	KUNIT_CASE(resolve_cancelled),
	KUNIT_CASE(resolve_cancelled_late),
	KUNIT_CASE(resolve_unplugged),
	KUNIT_CASE(resolve_sm_goes),
	KUNIT_CASE(resolve_locally),
	KUNIT_CASE(resolve_locally_one),
	KUNIT_CASE(resolve_namespaces),
	KUNIT_CASE(resolve_gid_as_addr),
	{}
};

static struct kunit_suite resolve_suite = {
	.name = "ats_resolve",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = resolve_cases,
};

kunit_test_suites(&resolve_suite);
