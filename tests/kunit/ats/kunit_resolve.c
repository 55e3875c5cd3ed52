// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of queries. Up to two queries of modules and one of users are outstanding at a time. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <net/net_namespace.h>

#include "kunit.h"

#define ASKED_ANSWERS	4
#define TIMEOUT_MS	2000

/* A query and its result */
struct asked {
	struct ib_ats_question question;
	bool user;
	u64 id;
	struct completion told;
	unsigned int ended;		/* number of calls of the callback */
	int err;
	unsigned int count;
	struct ib_ats_answer answers[ASKED_ANSWERS];
};

static struct asked *asked_create(struct kunit *test, unsigned int count)
{
	struct asked *asked = kunit_kcalloc(test, count, sizeof(*asked), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, asked);
	return asked;
}

static void asked_done(void *context, int err, const struct ib_ats_answer *answers,
		       unsigned int count)
{
	struct asked *asked = context;

	asked->ended++;
	asked->err = err;
	asked->count = count;
	memcpy(asked->answers, answers, min(count, ASKED_ANSWERS + 0u) * sizeof(*answers));
	complete_all(&asked->told);
}

static void ask_begin(struct fake_port *fake, struct asked *asked)
{
	asked->ended = 0;
	init_completion(&asked->told);
	KUNIT_ASSERT_EQ(fake->test, ats_ask(&asked->question, GFP_KERNEL, asked->user, asked_done,
					    asked, &asked->id), 0);
}

/* Returns when a query has been passed to each port */
static void ask(struct fake_port *fake, struct asked *asked)
{
	unsigned long until = jiffies + 5 * HZ;
	size_t wanted = fake_waiting(fake) + fake->ports;

	ask_begin(fake, asked);
	while (fake_waiting(fake) < wanted && time_before(jiffies, until))
		cond_resched();
	KUNIT_ASSERT_EQ(fake->test, fake_waiting(fake), wanted);
}

/* The number of calls of the callback, after all queued work is done */
static unsigned int ended(struct asked *asked)
{
	msleep(20);
	return asked->ended;
}

/* An IPv4-mapped address, the form that modules use */
static struct in6_addr mapped(unsigned int number)
{
	struct in6_addr ip = fake_ip(number);

	ats_addr_to_mapped(&ip);
	return ip;
}

/* Runs the port's work after the deadline */
static void run_late(struct fake_port *fake)
{
	fake->now = jiffies + msecs_to_jiffies(TIMEOUT_MS) + 1;
	fake_run(fake);
	fake->now = jiffies;
}

static void ask_addr(struct fake_port *fake, struct asked *asked, unsigned int number)
{
	asked->question.kind = IB_ATS_KIND_ADDR;
	asked->question.addr = mapped(number);
	asked->question.timeout_ms = TIMEOUT_MS;
	ask(fake, asked);
}

/* Expects that the query has ended with this error. Then the callback does not use it any more */
static void expect_ended(struct fake_port *fake, struct asked *asked, int err)
{
	wait_for_completion_timeout(&asked->told, 5 * HZ);
	KUNIT_EXPECT_EQ(fake->test, asked->ended, 1u);
	KUNIT_EXPECT_EQ(fake->test, asked->err, err);
	if (err)
		KUNIT_EXPECT_EQ(fake->test, asked->count, 0u);
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

/* ---- Requests to the SA ---- */

/* Expects this request to the SA, and ends the query */
static void expect_posted(struct fake_port *fake, struct asked *asked, u8 method, u64 mask)
{
	unsigned int number = fake->posted_count;

	ask(fake, asked);
	fake_run(fake);
	KUNIT_ASSERT_EQ(fake->test, fake->posted_count, number + 1);
	KUNIT_EXPECT_EQ(fake->test, fake->posted[number].sent.method, method);
	KUNIT_EXPECT_EQ(fake->test, fake->posted[number].sent.mask, mask);
	KUNIT_EXPECT_STREQ(fake->test, (const char *)fake->posted[number].sent.record.name,
			   ATS_SERVICE_NAME);
	fake_end(fake, number, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, asked, -EREMOTEIO);
}

static void resolve_asks_addr(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_KIND_ADDR, .addr = mapped(1) } };
	struct fake_port *fake = test->priv;
	struct in6_addr ip = fake_ip(1);

	expect_posted(fake, &asked, IB_MGMT_METHOD_GET, ATS_MASK_NAME | ATS_MASK_DATA8);
	KUNIT_EXPECT_EQ(test, memcmp(fake->posted[0].sent.record.data8, &ip, sizeof(ip)), 0);
	asked.question.pkey = 0x8001;
	expect_posted(fake, &asked, IB_MGMT_METHOD_GET,
		      ATS_MASK_NAME | ATS_MASK_DATA8 | ATS_MASK_PKEY);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(fake->posted[1].sent.record.pkey), 0x8001);
}

static void resolve_asks_gid(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_KIND_GID, .gid = fake_key(3).gid } };
	struct fake_port *fake = test->priv;

	expect_posted(fake, &asked, IB_SA_METHOD_GET_TABLE, ATS_MASK_NAME | ATS_MASK_GID);
	KUNIT_EXPECT_EQ(test, fake->posted[0].sent.record.gid[15], 3);
}

static void resolve_asks_primary(struct kunit *test)
{
	struct asked asked = {
		.question = { .kind = IB_ATS_KIND_PRIMARY, .gid = fake_key(3).gid }
	};
	u64 mask = ATS_MASK_NAME | ATS_MASK_GID | ATS_MASK_SID;
	struct fake_port *fake = test->priv;

	expect_posted(fake, &asked, IB_MGMT_METHOD_GET, mask);
	asked.question.pkey = 0xffff;
	expect_posted(fake, &asked, IB_MGMT_METHOD_GET, mask | ATS_MASK_PKEY);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(fake->posted[1].sent.record.service_id), ATS_SID_PRIMARY);
}

static void resolve_asks_sid(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_KIND_SID, .sid = ATS_SID_BASE + 7 } };
	struct fake_port *fake = test->priv;

	expect_posted(fake, &asked, IB_SA_METHOD_GET_TABLE, ATS_MASK_NAME | ATS_MASK_SID);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(fake->posted[0].sent.record.service_id),
			ATS_SID_BASE + 7);
}

/* No port matches the number, the HCA, its name, or the partitions of the caller's namespace */
static void resolve_no_port(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_KIND_GID, .port = 9 } };
	struct fake_port *fake = test->priv;

	ask_begin(fake, &asked);
	expect_ended(fake, &asked, -ENODEV);
	asked.question.port = 0;
	asked.question.ibdev = &fake->ibdev + 1;
	ask_begin(fake, &asked);
	expect_ended(fake, &asked, -ENODEV);
	asked.question.ibdev = &fake->ibdev;
	strscpy(asked.question.device, "fake", sizeof(asked.question.device));
	ask_begin(fake, &asked);
	expect_ended(fake, &asked, -ENODEV);
	strscpy(asked.question.device, "fake0", sizeof(asked.question.device));
	asked.question.net = &init_net;
	ask_begin(fake, &asked);
	expect_ended(fake, &asked, -ENODEV);
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
	KUNIT_EXPECT_TRUE(fake->test, ipv6_addr_equal(&answer->addr, &addr));
	KUNIT_EXPECT_PTR_EQ(fake->test, answer->ibdev, (const struct ib_device *)&fake->ibdev);
	KUNIT_EXPECT_STREQ(fake->test, answer->device, "fake0");
	KUNIT_EXPECT_EQ(fake->test, answer->port, 1u);
}

/* Primary addresses come first, then the order is by GID and Service ID */
static void resolve_order(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 4);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 2, 200, 1);
	put(answer, 1, 2, 100, 2);
	put(answer, 2, 1, 4, 3);
	put(answer, 3, 2, 0, 4);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	expect_ended(fake, &asked, 0);
	KUNIT_ASSERT_EQ(test, asked.count, 4u);
	expect_answer(fake, &asked, 0, 2, 0, 4);
	expect_answer(fake, &asked, 1, 1, 4, 3);
	expect_answer(fake, &asked, 2, 2, 100, 2);
	expect_answer(fake, &asked, 3, 2, 200, 1);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_QUERIES], 1ull);
}

/* If an IPv4 address is not found, its older form is queried, too */
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
	KUNIT_EXPECT_EQ(test, memcmp(fake->posted[2].sent.record.data8, &ip, sizeof(ip)), 0);
	fake_end(fake, 2, ATS_RESULT_NO_RECORD, NULL);
	expect_ended(fake, &asked, -ENOENT);

	/* An empty table means the same as "no record" */
	fake_end(fake, 0, ATS_RESULT_OK, fake_answer_create(test, 0));
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 4u);
	fake_end(fake, 3, ATS_RESULT_OK, fake_answer_create(test, 0));
	expect_ended(fake, &other, -ENOENT);
}

/* An answer that exceeds one packet is read as a table, here in the older form */
static void resolve_too_many(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 2);
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
	KUNIT_EXPECT_EQ(test, fake->posted[1].sent.method, IB_MGMT_METHOD_GET);
	KUNIT_EXPECT_EQ(test, fake->posted[2].sent.method, IB_SA_METHOD_GET_TABLE);
	KUNIT_EXPECT_EQ(test, fake->posted[2].sent.mask, fake->posted[1].sent.mask);
	KUNIT_EXPECT_EQ(test, memcmp(fake->posted[2].sent.record.data8,
				     fake->posted[1].sent.record.data8,
				     sizeof(fake->posted[1].sent.record.data8)), 0);
	fake_end(fake, 2, ATS_RESULT_OK, answer);
	expect_ended(fake, &asked, 0);
	KUNIT_ASSERT_EQ(test, asked.count, 2u);
	expect_answer(fake, &asked, 0, 1, 0, 1);
	expect_answer(fake, &asked, 1, 2, 5, 1);
}

static void resolve_nobody(struct kunit *test)
{
	struct asked asked = { .question.kind = IB_ATS_KIND_ADDR };
	struct fake_port *fake = test->priv;

	asked.question.addr.s6_addr[0] = 0xfd;
	ask(fake, &asked);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	expect_ended(fake, &asked, -ENOENT);
}

static void resolve_malformed(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 1);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 1, 0, 1);
	answer->mad[0].sa_hdr.attr_offset = cpu_to_be16(2);
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	expect_ended(fake, &asked, -EREMOTEIO);
}

/* ---- Retries and deadlines ---- */

static void resolve_again(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 1);
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
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_QUERIES], 2ull);
}

static void resolve_gives_up(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_BUSY, NULL);
	run_late(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	expect_ended(fake, &asked, -ETIMEDOUT);
}

/* A request that cannot be sent is repeated like one that is not answered */
static void resolve_cannot_send(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	fake->post_error = -EAGAIN;
	ask_addr(fake, &asked, 1);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->port.engine.count[IB_ATS_COUNTER_QUERIES], 0ull);
	KUNIT_EXPECT_TRUE(test, time_before(fake->next, fake->now + HZ));
	fake->post_error = 0;
	fake->now = fake->next;
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	fake_end(fake, 0, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, &asked, -EREMOTEIO);
}

/* A local error is not the SA's answer that there is no such record */
static void resolve_cannot_ever_send(struct kunit *test)
{
	static const int errors[] = { -ENOENT, -ENODEV, -EAGAIN };
	struct fake_port *fake = test->priv;
	struct asked asked = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		fake->post_error = errors[i];
		ask_addr(fake, &asked, 1);
		fake_run(fake);
		run_late(fake);
		expect_ended(fake, &asked, -ENETUNREACH);
	}
}

/* Two queries are outstanding at a time, in the order of the calls */
static void resolve_window(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked *asked = asked_create(test, 5);
	unsigned int i;

	for (i = 0; i < 5; i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, fake->posted[i].sent.record.data8[15], i + 1);
		fake_end(fake, i, ATS_RESULT_REFUSED, NULL);
		fake_run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, min(i + 3, 5u));
		expect_ended(fake, &asked[i], -EREMOTEIO);
	}
	KUNIT_EXPECT_EQ(test, fake->port.queries_in_flight[false], 0u);
}

/* Users' queries are sent one at a time, and do not delay those of modules */
static void resolve_users(struct kunit *test)
{
	struct asked *asked = asked_create(test, 4);
	struct fake_port *fake = test->priv;
	unsigned int i;

	asked[0].user = true;
	asked[1].user = true;
	for (i = 0; i < 4; i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
	KUNIT_EXPECT_EQ(test, fake->posted[0].sent.record.data8[15], 3);
	KUNIT_EXPECT_EQ(test, fake->posted[1].sent.record.data8[15], 4);
	KUNIT_EXPECT_EQ(test, fake->posted[2].sent.record.data8[15], 1);
	fake_end(fake, 2, ATS_RESULT_REFUSED, NULL);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 4u);
	for (i = 0; i < 4; i++)
		if (i != 2)
			fake_end(fake, i, ATS_RESULT_REFUSED, NULL);
	for (i = 0; i < 4; i++)
		expect_ended(fake, &asked[i], -EREMOTEIO);
}

/* A query ends when its time is over, also if it could not be sent until then */
static void resolve_expires(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked *asked = asked_create(test, 4);
	unsigned int i;

	for (i = 0; i < 4; i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fake->next,
					       jiffies + msecs_to_jiffies(TIMEOUT_MS)));
	fake->now = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
	expect_ended(fake, &asked[2], -ETIMEDOUT);
	expect_ended(fake, &asked[3], -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ended(&asked[0]) + ended(&asked[1]), 0u);
	fake_end(fake, 0, ATS_RESULT_REFUSED, NULL);
	fake_end(fake, 1, ATS_RESULT_TIMEOUT, NULL);
	fake_run(fake);
	expect_ended(fake, &asked[0], -EREMOTEIO);
	expect_ended(fake, &asked[1], -ETIMEDOUT);
}

/* The timeout of a request is at most the time that its query has left */
static void resolve_request_time(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	const struct ats_query *query;
	struct asked asked = {};

	ask_addr(fake, &asked, 1);
	query = list_first_entry(&fake->port.queries[false], struct ats_query, list);
	fake->now = query->ask->deadline - msecs_to_jiffies(100);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	KUNIT_EXPECT_GE(test, fake->posted[0].request->timeout_ms, 1u);
	KUNIT_EXPECT_LE(test, fake->posted[0].request->timeout_ms, 100u);
	fake_end(fake, 0, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, &asked, -EREMOTEIO);
}

/* ---- Cancellation and removal ---- */

/* Queries that are outstanding, that wait for the window or a retry, or that are new */
static void resolve_cancelled(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked *asked = asked_create(test, 5);
	unsigned int i;

	for (i = 0; i < 4; i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 3u);
	ask_addr(fake, &asked[4], 5);
	fake->threaded = true;
	for (i = 0; i < 5; i++) {
		ib_ats_cancel(asked[i].id);
		KUNIT_EXPECT_EQ(test, asked[i].ended, 1u);
		KUNIT_EXPECT_EQ(test, asked[i].err, -ECANCELED);
		/* Cancelling a query that has ended does nothing */
		ib_ats_cancel(asked[i].id);
	}
	KUNIT_EXPECT_TRUE(test, fake->posted[1].cancelled);
	flush_delayed_work(&fake->port.work);
	KUNIT_EXPECT_EQ(test, fake->port.queries_in_flight[false], 0u);
}

/* A user's query ends only when its outstanding request ends */
static void resolve_user_cancelled(struct kunit *test)
{
	struct asked *asked = asked_create(test, 2);
	struct fake_port *fake = test->priv;

	asked[0].user = true;
	asked[1].user = true;
	ask_addr(fake, &asked[0], 1);
	ask_addr(fake, &asked[1], 2);
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	ats_ask_cancel(asked[0].id);
	ats_ask_cancel(asked[1].id);
	fake_run(fake);
	expect_ended(fake, &asked[1], -ECANCELED);
	KUNIT_EXPECT_FALSE(test, fake->posted[0].cancelled);
	KUNIT_EXPECT_EQ(test, ended(&asked[0]), 0u);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	expect_ended(fake, &asked[0], -ECANCELED);
}

/* If a query is cancelled while its request ends, the request is not repeated in any form */
static void resolve_cancelled_late(struct kunit *test)
{
	static const enum ats_result results[] = {
		ATS_RESULT_TIMEOUT, ATS_RESULT_TOO_MANY, ATS_RESULT_NO_RECORD,
	};
	struct fake_port *fake = test->priv;
	struct asked asked = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		ask_addr(fake, &asked, 1);
		fake_run(fake);
		ats_ask_cancel(asked.id);
		fake_run(fake);
		KUNIT_EXPECT_TRUE(test, fake->posted[i].cancelled);
		fake_end(fake, i, results[i], NULL);
		fake_run(fake);
		KUNIT_EXPECT_EQ(test, fake->posted_count, i + 1);
		expect_ended(fake, &asked, -ECANCELED);
	}
}

/* When the request is repeated in another form, the query keeps its deadline */
static void resolve_again_late(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	ask_addr(fake, &asked, 1);
	fake_run(fake);
	/* All waiting queries are checked once before the SA cannot be reached any more */
	ats_port_event(&fake->port, ATS_EVENT_HURRY);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_NO_RECORD, NULL);
	fake->port.engine.online = false;
	fake_run(fake);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fake->next,
					       jiffies + msecs_to_jiffies(TIMEOUT_MS)));
	run_late(fake);
	expect_ended(fake, &asked, -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
}

/* A request that is sent after the deadline has the shortest timeout */
static void resolve_request_late(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	ask_addr(fake, &asked, 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TOO_MANY, NULL);
	fake->port.queries_at = jiffies + 1000 * HZ;
	fake->now = jiffies + msecs_to_jiffies(TIMEOUT_MS) + HZ;
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 2u);
	KUNIT_EXPECT_LE(test, fake->posted[1].request->timeout_ms, jiffies_to_msecs(1));
	fake_end(fake, 1, ATS_RESULT_REFUSED, NULL);
	expect_ended(fake, &asked, -EREMOTEIO);
}

/* The HCA is removed: all queries end; the MAD layer cancels outstanding requests */
static void resolve_unplugged(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct asked *asked = asked_create(test, 4);
	unsigned int i;

	for (i = 0; i < 4; i++)
		ask_addr(fake, &asked[i], i + 1);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	fake->port.stopped = true;
	fake_end(fake, 1, ATS_RESULT_CANCELLED, NULL);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 2u);
	for (i = 0; i < 4; i++)
		expect_ended(fake, &asked[i], -ENODEV);
}

/* ---- Without an SA ---- */

/* The SM is gone: queries wait until it is back or their time is over */
static void resolve_sm_goes(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 1);
	struct fake_port *fake = test->priv;
	struct asked *asked = asked_create(test, 2);

	put(answer, 0, 1, 0, 1);
	fake->port.engine.online = false;
	ask_addr(fake, &asked[0], 1);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 0u);
	KUNIT_EXPECT_EQ(test, ended(&asked[0]), 0u);
	fake->port.engine.online = true;
	fake_run(fake);
	KUNIT_ASSERT_EQ(test, fake->posted_count, 1u);
	fake_end(fake, 0, ATS_RESULT_OK, answer);
	expect_ended(fake, &asked[0], 0);
	fake->port.engine.online = false;
	ask_addr(fake, &asked[1], 1);
	run_late(fake);
	KUNIT_EXPECT_EQ(test, fake->posted_count, 1u);
	expect_ended(fake, &asked[1], -ENETUNREACH);
}

static void ask_alone(struct fake_port *fake, struct asked *asked, int err)
{
	fake->port.engine.online = false;
	asked->question.timeout_ms = TIMEOUT_MS;
	ask(fake, asked);
	run_late(fake);
	KUNIT_EXPECT_EQ(fake->test, fake->posted_count, 0u);
	expect_ended(fake, asked, err);
}

/* Two netdevices with the same GID have 10.0.0.1 and .2, and .2 and .3 */
static void have_two(struct fake_port *fake)
{
	fake_has(fake, 0, 1, 1, 2);
	fake_has(fake, 1, 1, 2, 2);
	ats_set_assign(fake_set(fake, 1));
}

static void resolve_alone(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_KIND_GID, .gid = fake_key(1).gid } };
	struct fake_port *fake = test->priv;

	have_two(fake);
	ask_alone(fake, &asked, 0);
	KUNIT_ASSERT_EQ(test, asked.count, 3u);
	expect_answer(fake, &asked, 0, 1, 0, 1);
	expect_answer(fake, &asked, 1, 1, 1, 2);
	expect_answer(fake, &asked, 2, 1, 2, 3);
	asked.question.kind = IB_ATS_KIND_PRIMARY;
	ask_alone(fake, &asked, 0);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	expect_answer(fake, &asked, 0, 1, 0, 1);
	asked.question.kind = IB_ATS_KIND_SID;
	asked.question.sid = ats_slot_sid(1);
	ask_alone(fake, &asked, 0);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	expect_answer(fake, &asked, 0, 1, 1, 2);
	asked.question.sid = ats_slot_sid(3);
	ask_alone(fake, &asked, -ENETUNREACH);
	asked.question.kind = IB_ATS_KIND_ADDR;
	asked.question.addr = mapped(3);
	ask_alone(fake, &asked, 0);
	KUNIT_ASSERT_EQ(test, asked.count, 1u);
	expect_answer(fake, &asked, 0, 1, 2, 3);
	asked.question.pkey = 0x8001;
	ask_alone(fake, &asked, -ENETUNREACH);
}

/* ATS section 5.1: a GID of this subnet is also the IP address of its port, and vice versa */
static void resolve_gid_as_addr(struct kunit *test)
{
	union ib_gid gid = fake_key(9).gid;
	struct asked asked = { .question = { .kind = IB_ATS_KIND_ADDR, .gid = gid } };
	struct fake_port *fake = test->priv;
	static const enum ib_ats_kind kinds[] = {
		IB_ATS_KIND_ADDR, IB_ATS_KIND_GID, IB_ATS_KIND_PRIMARY,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		asked.question.kind = kinds[i];
		ask_alone(fake, &asked, 0);
		KUNIT_ASSERT_EQ(test, asked.count, 1u);
		KUNIT_EXPECT_EQ(test, memcmp(&asked.answers[0].gid, &gid, sizeof(gid)), 0);
		KUNIT_EXPECT_EQ(test, memcmp(&asked.answers[0].addr, &gid, sizeof(gid)), 0);
		KUNIT_EXPECT_TRUE(test, asked.answers[0].primary);
	}
	asked.question.gid.raw[7] = 1;
	ask_alone(fake, &asked, -ENETUNREACH);
}

/* The same with an SA, if the SA knows a port with that GID and has no records for it */
static void resolve_gid_in_fabric(struct kunit *test)
{
	static const enum ats_result results[] = {
		ATS_RESULT_OK, ATS_RESULT_NO_RECORD, ATS_RESULT_REFUSED,
	};
	union ib_gid gid = fake_key(9).gid;
	struct asked asked = { .question = { .kind = IB_ATS_KIND_ADDR, .gid = gid } };
	struct fake_port *fake = test->priv;
	unsigned int i;
	const u8 *path;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		ask(fake, &asked);
		fake_run(fake);
		fake_end(fake, 2 * i, ATS_RESULT_NO_RECORD, NULL);
		fake_run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, 2 * i + 2);
		KUNIT_EXPECT_EQ(test, fake->posted[2 * i + 1].sent.method, IB_MGMT_METHOD_GET);
		KUNIT_EXPECT_EQ(test, fake->posted[2 * i + 1].sent.mask, ATS_MASK_DGID |
				ATS_MASK_SGID | (i ? ATS_MASK_PATH_PKEY : 0));
		path = (u8 *)&fake->posted[2 * i + 1].sent.record;
		KUNIT_EXPECT_EQ(test, path[FAKE_PATH_DGID + 15], 9);
		KUNIT_EXPECT_EQ(test, path[FAKE_PATH_SGID + 15], 1);
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(path + FAKE_PATH_PKEY), i ? 0x8001 : 0);
		fake_end(fake, 2 * i + 1, results[i], NULL);
		expect_ended(fake, &asked, i ? -ENOENT : 0);
		KUNIT_EXPECT_EQ(test, asked.count, !i);
		asked.question.pkey = 0x8001;	/* now the port has to be in that partition */
	}
	KUNIT_EXPECT_EQ(test, memcmp(&asked.answers[0].gid, &gid, sizeof(gid)), 0);
}

/* If no SA listens, the query waits, as one may be started; a request cut short does not show it */
static void resolve_nobody_listens(struct kunit *test)
{
	struct asked asked = { .question = { .kind = IB_ATS_KIND_GID, .gid = fake_key(9).gid } };
	struct fake_port *fake = test->priv;

	asked.question.timeout_ms = TIMEOUT_MS;
	ask(fake, &asked);
	fake_run(fake);
	fake_end(fake, 0, ATS_RESULT_NOBODY, NULL);
	KUNIT_EXPECT_EQ(test, ended(&asked), 0u);
	fake->now = jiffies + msecs_to_jiffies(TIMEOUT_MS) - HZ / 10;
	fake_run(fake);
	fake_end(fake, 1, ATS_RESULT_TIMEOUT, NULL);
	run_late(fake);
	expect_ended(fake, &asked, 0);
	KUNIT_EXPECT_EQ(test, asked.count, 1u);
}

/* A guest gets answers only about its own partitions, but of all hosts there. Then others ask */
static void resolve_guest(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 2);
	struct asked asked = {};
	struct fake_port *fake = test->priv;
	struct ats_record record = { .key = fake_key(2), .sid = ats_slot_sid(1) };
	unsigned int i;

	fake->devs[0].net_cookie = init_net.net_cookie;
	fake_has(fake, 0, 1, 1, 1);
	put(answer, 0, 2, 0, 1);
	record.key.pkey = 0x8001;
	record.addr = fake_ip(1);
	fake_answer_put(answer, sizeof(struct ats_wire_record), &record);
	for (i = 0; i < 3; i++) {
		ats_foreign_partitions = i == 1;
		asked.question.net = i < 2 ? &init_net : NULL;
		ask_addr(fake, &asked, 1);
		fake_run(fake);
		fake_end(fake, i, ATS_RESULT_OK, answer);
		expect_ended(fake, &asked, 0);
		KUNIT_EXPECT_EQ(test, asked.count, i ? 2u : 1u);
		if (!i)
			expect_answer(fake, &asked, 0, 2, 0, 1);
	}
	ats_foreign_partitions = false;
}

static void two_ports(struct fake_port *fake, struct asked *asked)
{
	fake->ports = 2;
	ask_addr(fake, asked, 1);
	fake_run(fake);
	KUNIT_ASSERT_EQ(fake->test, fake->posted_count, 2u);
}

/* If one port has an answer, the other one's request is waited for but not repeated */
static void resolve_one_of_two(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 1);
	struct fake_port *fake = test->priv;
	struct asked asked = {};

	put(answer, 0, 1, 0, 1);
	two_ports(fake, &asked);
	fake_end(fake, 0, ATS_RESULT_TIMEOUT, NULL);
	KUNIT_EXPECT_EQ(test, ended(&asked), 0u);
	fake_end(fake, 1, ATS_RESULT_OK, answer);
	KUNIT_EXPECT_EQ(test, ended(&asked), 0u);
	fake_run(fake);
	expect_ended(fake, &asked, 0);
	KUNIT_EXPECT_EQ(test, asked.count, 1u);
}

/* The result is "not found" only if both SAs say so; an HCA that is removed does not count */
static void resolve_none_of_two(struct kunit *test)
{
	static const enum ats_result results[] = { ATS_RESULT_NO_RECORD, ATS_RESULT_REFUSED,
						   ATS_RESULT_CANCELLED };
	struct asked asked = { .question.kind = IB_ATS_KIND_GID };
	struct fake_port *fake = test->priv;
	unsigned int i;

	fake->ports = 2;
	for (i = 0; i < ARRAY_SIZE(results); i++) {
		ask(fake, &asked);
		fake_run(fake);
		KUNIT_ASSERT_EQ(test, fake->posted_count, 2 * i + 2);
		fake_end(fake, 2 * i, ATS_RESULT_NO_RECORD, NULL);
		fake->port.stopped = results[i] == ATS_RESULT_CANCELLED;
		fake_end(fake, 2 * i + 1, results[i], NULL);
		expect_ended(fake, &asked, i == 1 ? -EREMOTEIO : -ENOENT);
	}
}

static struct kunit_case resolve_cases[] = {
	KUNIT_CASE(resolve_asks_addr),
	KUNIT_CASE(resolve_asks_gid),
	KUNIT_CASE(resolve_asks_primary),
	KUNIT_CASE(resolve_asks_sid),
	KUNIT_CASE(resolve_no_port),
	KUNIT_CASE(resolve_order),
	KUNIT_CASE(resolve_other_form),
	KUNIT_CASE(resolve_too_many),
	KUNIT_CASE(resolve_nobody),
	KUNIT_CASE(resolve_malformed),
	KUNIT_CASE(resolve_again),
	KUNIT_CASE(resolve_gives_up),
	KUNIT_CASE(resolve_cannot_send),
	KUNIT_CASE(resolve_cannot_ever_send),
	KUNIT_CASE(resolve_window),
	KUNIT_CASE(resolve_users),
	KUNIT_CASE(resolve_expires),
	KUNIT_CASE(resolve_request_time),
	KUNIT_CASE(resolve_cancelled),
	KUNIT_CASE(resolve_user_cancelled),
	KUNIT_CASE(resolve_cancelled_late),
	KUNIT_CASE(resolve_again_late),
	KUNIT_CASE(resolve_request_late),
	KUNIT_CASE(resolve_unplugged),
	KUNIT_CASE(resolve_sm_goes),
	KUNIT_CASE(resolve_alone),
	KUNIT_CASE(resolve_gid_as_addr),
	KUNIT_CASE(resolve_gid_in_fabric),
	KUNIT_CASE(resolve_nobody_listens),
	KUNIT_CASE(resolve_guest),
	KUNIT_CASE(resolve_one_of_two),
	KUNIT_CASE(resolve_none_of_two),
	{}
};

static struct kunit_suite resolve_suite = {
	.name = "ats_resolve",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = resolve_cases,
};

kunit_test_suites(&resolve_suite);
