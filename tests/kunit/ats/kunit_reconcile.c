// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the engine. Its simulated SA loses requests and answers, answers in
 * any order, is busy, refuses, executes requests late, and loses its records.
 * The test controls the clock.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "ats.h"

#define FAKE_IPS	6
#define FAKE_IN_FLIGHT	4
/* The engine must have reached its goal after so many runs */
#define FAKE_ROUNDS	3000

/* The fate of a request */
enum fate {
	FATE_DONE,
	FATE_LOST,			/* the request is lost */
	FATE_UNANSWERED,		/* executed, but the answer is lost */
	FATE_LATE,			/* not answered, executed later */
	FATE_BUSY,
	FATE_REFUSED,
	FATES
};

struct fake_request {
	struct list_head list;
	struct ats_set *set;
	unsigned int slot;
	u8 method;			/* 0: reads the set */
	struct in6_addr ip;
};

struct fake {
	struct kunit *test;
	struct ats_engine engine;
	struct list_head pending;
	struct list_head late;
	unsigned long now;
	unsigned long next;
	bool has[ATS_SIDS];		/* whether the SA has a record for each Service ID */
	struct in6_addr ip[ATS_SIDS];
	bool wanted[FAKE_IPS];
	unsigned int sent;
	int send_error;
};

static const struct ats_key fake_key = { .pkey = 0xffff };

static struct fake *fake_of(struct ats_engine *engine)
{
	return container_of(engine, struct fake, engine);
}

static void fake_ip(struct in6_addr *ip, unsigned int number)
{
	ipv6_addr_set(ip, 0, 0, 0, cpu_to_be32(0x0a000000 | number));
}

static int fake_queue(struct fake *fake, struct ats_set *set, unsigned int slot)
{
	struct fake_request *request;

	if (fake->send_error)
		return fake->send_error;
	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return -ENOMEM;
	request->set = set;
	request->slot = slot;
	if (slot < ATS_SIDS) {
		request->method = set->slot[slot].method;
		request->ip = set->slot[slot].sent;
	}
	list_add_tail(&request->list, &fake->pending);
	fake->sent++;
	KUNIT_EXPECT_LE(fake->test, fake->engine.in_flight, (unsigned int)FAKE_IN_FLIGHT);
	return 0;
}

static int fake_send(struct ats_engine *engine, struct ats_set *set, unsigned int slot)
{
	struct fake *fake = fake_of(engine);
	const struct fake_request *other;

	list_for_each_entry(other, &fake->pending, list)
		KUNIT_EXPECT_NE(fake->test, other->slot, slot);
	return fake_queue(fake, set, slot);
}

static int fake_read(struct ats_engine *engine, struct ats_set *set)
{
	return fake_queue(fake_of(engine), set, ATS_SIDS);
}

/* Executes a request at the SA */
static enum ats_result fake_do(struct fake *fake, const struct fake_request *request)
{
	bool had = fake->has[request->slot];

	fake->has[request->slot] = request->method == IB_MGMT_METHOD_SET;
	fake->ip[request->slot] = request->ip;
	return request->method == IB_MGMT_METHOD_SET || had ? ATS_RESULT_OK : ATS_RESULT_NO_RECORD;
}

static void fake_tell(struct fake *fake, struct ats_set *set)
{
	struct ats_record record = { .key = fake_key, .lease = ATS_LEASE_INFINITE };
	unsigned int i;

	for (i = 0; i < ATS_SIDS; i++) {
		if (!fake->has[i])
			continue;
		record.sid = ats_slot_sid(i);
		record.addr = fake->ip[i];
		ats_engine_read_record(set, &record);
	}
}

static enum ats_result fate_result(enum fate fate)
{
	if (fate == FATE_BUSY)
		return ATS_RESULT_BUSY;
	return fate == FATE_REFUSED ? ATS_RESULT_REFUSED : ATS_RESULT_TIMEOUT;
}

static void fake_end_read(struct fake *fake, struct fake_request *request, enum fate fate)
{
	enum ats_result result = ATS_RESULT_OK;

	if (fate == FATE_DONE)
		fake_tell(fake, request->set);
	else
		result = fate_result(fate);
	ats_engine_read_end(&fake->engine, request->set, result, fake->now);
	kfree(request);
}

static void fake_end(struct fake *fake, struct fake_request *request, enum fate fate)
{
	enum ats_result result = fate_result(fate);
	struct ats_set *set = request->set;
	unsigned int slot = request->slot;

	list_del(&request->list);
	if (!request->method) {
		fake_end_read(fake, request, fate);
		return;
	}
	if (fate == FATE_DONE)
		result = fake_do(fake, request);
	else if (fate == FATE_UNANSWERED)
		fake_do(fake, request);
	if (fate == FATE_LATE)
		list_add_tail(&request->list, &fake->late);
	else
		kfree(request);
	ats_engine_answer(&fake->engine, set, slot, result, fake->now);
}

static void fake_do_late(struct fake *fake)
{
	struct fake_request *request, *next;

	list_for_each_entry_safe(request, next, &fake->late, list) {
		list_del(&request->list);
		fake_do(fake, request);
		kfree(request);
	}
}

static struct ats_set *fake_set(struct fake *fake)
{
	struct ats_set *set = ats_engine_find(&fake->engine, &fake_key);

	if (set)
		return set;
	set = ats_set_create(&fake_key);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, set);
	list_add_tail(&set->list, &fake->engine.sets);
	return set;
}

static void fake_run(struct fake *fake)
{
	struct ats_set *set = fake_set(fake);
	unsigned long next = fake->now + 1000000;

	ats_set_expire(set, fake->now, &next);
	ats_set_assign(set);
	fake->next = ats_engine_run(&fake->engine, fake->now);
	ats_engine_reap(&fake->engine);
}

static void fake_toggle(struct fake *fake, unsigned int number)
{
	struct ats_set *set = fake_set(fake);
	struct in6_addr ip;

	fake_ip(&ip, number + 1);
	if (fake->wanted[number])
		ats_set_put(ats_set_find(set, &ip), true, fake->now);
	else
		KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, ats_set_get(set, &ip, true));
	fake->wanted[number] = !fake->wanted[number];
}

static struct fake_request *fake_first(struct fake *fake)
{
	return list_first_entry_or_null(&fake->pending, struct fake_request, list);
}

static bool fake_settled(struct fake *fake)
{
	struct ats_set *set = ats_engine_find(&fake->engine, &fake_key);

	return list_empty(&fake->pending) && (!set || (ats_set_settled(set) && !set->verify));
}

/* From now on all requests succeed; the engine must reach its goal and stop */
static void fake_finish(struct fake *fake)
{
	unsigned int rounds = FAKE_ROUNDS;

	do {
		fake_run(fake);
		if (fake_first(fake))
			fake_end(fake, fake_first(fake), FATE_DONE);
		else
			fake->now = fake->next;
	} while (--rounds && !fake_settled(fake));
	KUNIT_EXPECT_NE(fake->test, rounds, 0u);
}

/* The SA has a record for each wanted address, in its slot, and no others */
static void fake_compare(struct fake *fake)
{
	struct ats_set *set = fake_set(fake);
	unsigned int i, wanted = 0, had = 0;

	fake_run(fake);
	set = fake_set(fake);
	for (i = 0; i < FAKE_IPS; i++)
		wanted += fake->wanted[i];
	for (i = 0; i < ATS_SIDS; i++) {
		had += fake->has[i];
		KUNIT_EXPECT_EQ(fake->test, fake->has[i], !!set->slot[i].want);
		if (fake->has[i] && set->slot[i].want)
			KUNIT_EXPECT_EQ(fake->test, memcmp(&fake->ip[i], &set->slot[i].want->ip,
							   sizeof(fake->ip[i])), 0);
	}
	KUNIT_EXPECT_EQ(fake->test, wanted, had);
	KUNIT_EXPECT_EQ(fake->test, fake->engine.in_flight, 0u);
}

static bool fake_has(struct fake *fake, unsigned int number)
{
	struct in6_addr ip;
	unsigned int i;

	fake_ip(&ip, number + 1);
	for (i = 0; i < ATS_SIDS; i++)
		if (fake->has[i] && !memcmp(&fake->ip[i], &ip, sizeof(ip)))
			return true;
	return false;
}

static void fake_reset(struct fake *fake)
{
	struct fake_request *request, *next;
	struct ats_set *set, *next_set;

	list_splice_init(&fake->late, &fake->pending);
	list_for_each_entry_safe(request, next, &fake->pending, list)
		kfree(request);
	list_for_each_entry_safe(set, next_set, &fake->engine.sets, list)
		ats_set_destroy(set);
	memset(&fake->engine, 0, sizeof(fake->engine));
	fake->engine.send = fake_send;
	fake->engine.read = fake_read;
	INIT_LIST_HEAD(&fake->engine.sets);
	fake->engine.online = true;
	INIT_LIST_HEAD(&fake->pending);
	memset(fake->has, 0, sizeof(fake->has));
	memset(fake->wanted, 0, sizeof(fake->wanted));
	fake->sent = 0;
	fake->now += 1000000;
}

/* ---- Single sequences of events ---- */

static void engine_registers(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_toggle(fake, 0);
	fake_toggle(fake, 1);
	fake_finish(fake);
	fake_compare(fake);
	/* Two registrations, and one query for the whole set */
	KUNIT_EXPECT_EQ(test, fake->sent, 3u);
	fake_toggle(fake, 0);
	fake_toggle(fake, 1);
	fake_finish(fake);
	fake_compare(fake);
	KUNIT_EXPECT_EQ(test, fake->sent, 5u);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_REPAIRS], 0ull);
}

/* Changes that cancel each other out while the SA cannot be reached are not sent */
static void engine_sends_the_outcome(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned int before;
	int i;

	fake_toggle(fake, 0);
	fake_finish(fake);
	before = fake->sent;
	fake->engine.online = false;
	for (i = 0; i < 21; i++) {
		fake_toggle(fake, 1);
		fake_run(fake);
		fake_toggle(fake, 2);
		fake_run(fake);
		fake_toggle(fake, 2);
	}
	fake->engine.online = true;
	fake_finish(fake);
	fake_compare(fake);
	KUNIT_EXPECT_EQ(test, fake->sent, before + 1);
}

/* While the SA does not answer, one request at a time is sent, with increasing intervals */
static void engine_backs_off(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned long begin;
	int i;

	for (i = 0; i < FAKE_IPS; i++)
		fake_toggle(fake, i);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.in_flight, (unsigned int)FAKE_IN_FLIGHT);
	while (fake_first(fake))
		fake_end(fake, fake_first(fake), FATE_LOST);
	KUNIT_EXPECT_EQ(test, fake->engine.trouble, 1u);
	begin = fake->now;
	for (i = 0; i < 20; i++) {
		fake_run(fake);
		KUNIT_EXPECT_EQ(test, fake->engine.in_flight, 0u);
		fake->now = fake->next;
		fake_run(fake);
		KUNIT_EXPECT_EQ(test, fake->engine.in_flight, 1u);
		fake_end(fake, fake_first(fake), FATE_LOST);
	}
	/* At least half of 0.5 + 1 + 2 + 4 + 8 + 16 + 14 times 32 s, at most all of it */
	KUNIT_EXPECT_GE(test, fake->now - begin, 239ul * HZ);
	KUNIT_EXPECT_LE(test, fake->now - begin, 480ul * HZ);
	fake_finish(fake);
	fake_compare(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.trouble, 0u);
}

/* A new SM ends the back-off, and all records are registered again */
static void engine_registers_again(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned long begin;

	fake_toggle(fake, 0);
	fake_toggle(fake, 1);
	fake_finish(fake);
	memset(fake->has, 0, sizeof(fake->has));
	fake_toggle(fake, 2);
	fake_run(fake);
	while (fake_first(fake))
		fake_end(fake, fake_first(fake), FATE_LOST);
	fake->engine.quiet_until = fake->now + 30 * HZ;
	begin = fake->now;
	ats_engine_forget(&fake->engine, fake->now);
	fake_finish(fake);
	KUNIT_EXPECT_LE(test, fake->now - begin, (unsigned long)HZ);
	fake_compare(fake);
}

/* An answer to a request from before the SM changed does not count */
static void engine_stale_answers(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_toggle(fake, 0);
	fake_run(fake);
	ats_engine_forget(&fake->engine, fake->now);
	fake_end(fake, fake_first(fake), FATE_DONE);
	memset(fake->has, 0, sizeof(fake->has));
	fake_finish(fake);
	fake_compare(fake);
	/* No repair was necessary, as the answer was ignored */
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_REPAIRS], 0ull);

	ats_engine_verify(&fake->engine);
	fake_run(fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake_first(fake));
	KUNIT_EXPECT_EQ(test, fake_first(fake)->method, 0);
	ats_engine_forget(&fake->engine, fake->now);
	fake_end(fake, fake_first(fake), FATE_DONE);
	memset(fake->has, 0, sizeof(fake->has));
	fake_finish(fake);
	fake_compare(fake);
}

/* The engine repairs changes by others, and deletes leftovers of an earlier boot */
static void engine_repairs(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->has[7] = true;
	fake_ip(&fake->ip[7], 99);
	fake_toggle(fake, 0);
	fake_toggle(fake, 1);
	fake_finish(fake);
	fake_compare(fake);
	fake->has[0] = false;
	fake_ip(&fake->ip[1], 77);
	fake->has[200] = true;
	ats_engine_verify(&fake->engine);
	fake_finish(fake);
	fake_compare(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_REPAIRS], 4ull);
}

/* A record that the SA refuses does not delay the others */
static void engine_refused(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_request *request, *next;
	int i;

	for (i = 0; i < FAKE_IPS; i++)
		fake_toggle(fake, i);
	for (i = 0; i < 10; i++) {
		fake_run(fake);
		list_for_each_entry_safe(request, next, &fake->pending, list)
			fake_end(fake, request, request->slot == 2 ? FATE_REFUSED : FATE_DONE);
	}
	for (i = 0; i < FAKE_IPS; i++)
		KUNIT_EXPECT_EQ(test, fake_has(fake, i), i != 2);
	KUNIT_EXPECT_EQ(test, fake->engine.trouble, 0u);
	fake_finish(fake);
	fake_compare(fake);
}

/* If the SA refuses a deletion repeatedly, the engine gives up and removes the set */
static void engine_gives_up(struct kunit *test)
{
	struct fake *fake = test->priv;
	int i;

	fake_toggle(fake, 0);
	fake_finish(fake);
	fake_toggle(fake, 0);
	for (i = 0; i < 40 && !fake->engine.count[IB_ATS_COUNTER_ABANDONED]; i++) {
		fake_run(fake);
		if (fake_first(fake))
			fake_end(fake, fake_first(fake), FATE_REFUSED);
		else
			fake->now = fake->next;
	}
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_ABANDONED], 1ull);
	fake_finish(fake);
	ats_engine_reap(&fake->engine);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->engine.sets));
}

/* The SA refuses a deletion, and hides the record when the set is read back */
static void engine_refused_hidden(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_request *read;

	fake_toggle(fake, 0);
	fake_finish(fake);
	fake_toggle(fake, 0);
	ats_engine_forget(&fake->engine, fake->now);
	fake->now += HZ;
	fake_run(fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake_first(fake));
	KUNIT_EXPECT_EQ(test, fake_first(fake)->method, IB_SA_METHOD_DELETE);
	fake_end(fake, fake_first(fake), FATE_REFUSED);
	fake_run(fake);
	read = fake_first(fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, read);
	KUNIT_ASSERT_EQ(test, read->method, 0);
	list_del(&read->list);
	ats_engine_read_end(&fake->engine, read->set, ATS_RESULT_OK, fake->now);
	kfree(read);
	KUNIT_EXPECT_TRUE(test, fake->has[0]);
	fake_finish(fake);
	KUNIT_EXPECT_FALSE(test, fake->has[0]);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_DELETES], 2ull);
}

static void engine_cannot_send(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->send_error = -ENOMEM;
	fake_toggle(fake, 0);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.in_flight, 0u);
	KUNIT_EXPECT_EQ(test, fake->engine.trouble, 1u);
	fake->send_error = 0;
	fake_finish(fake);
	fake_compare(fake);
}

/* A query for the set that cannot be sent is repeated */
static void engine_cannot_read(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_toggle(fake, 0);
	fake_finish(fake);
	ats_engine_verify(&fake->engine);
	fake->send_error = -ENOMEM;
	fake_run(fake);
	KUNIT_EXPECT_TRUE(test, fake_set(fake)->verify);
	KUNIT_EXPECT_FALSE(test, fake_set(fake)->reading);
	KUNIT_EXPECT_EQ(test, fake->engine.in_flight, 0u);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_BUSY], 1ull);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_READS], 1ull);
	fake->send_error = 0;
	fake_finish(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_READS], 2ull);
	fake_compare(fake);
}

/* A query for the set that the SA refuses is repeated later */
static void engine_read_refused(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_toggle(fake, 0);
	fake_finish(fake);
	ats_engine_verify(&fake->engine);
	fake_run(fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake_first(fake));
	fake_end(fake, fake_first(fake), FATE_REFUSED);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_REFUSALS], 1ull);
	fake_run(fake);
	KUNIT_EXPECT_PTR_EQ(test, fake_first(fake), NULL);
	KUNIT_EXPECT_TRUE(test, time_before(fake->now, fake->next));
	fake->now = fake->next;
	fake_run(fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake_first(fake));
	fake_finish(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_READS], 3ull);
	KUNIT_EXPECT_EQ(test, fake_set(fake)->read_refusals, 0);
	fake_compare(fake);
}

/* While the primary address changes no address is unregistered, whatever the order of answers */
static void engine_no_window(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct in6_addr ip;
	int round, i;

	for (i = 0; i < FAKE_IPS; i++)
		fake_toggle(fake, i);
	fake_finish(fake);
	for (round = 1; round < 12; round++) {
		fake_ip(&ip, round % FAKE_IPS + 1);
		fake_set(fake)->choice = ip;
		do {
			fake_run(fake);
			if (list_empty(&fake->pending))
				break;
			fake_end(fake, round % 2 ? fake_first(fake) :
				 list_last_entry(&fake->pending, struct fake_request, list),
				 FATE_DONE);
			for (i = 0; i < FAKE_IPS; i++)
				KUNIT_EXPECT_TRUE(test, fake_has(fake, i));
		} while (true);
		fake_compare(fake);
		KUNIT_EXPECT_EQ(test, memcmp(&fake->ip[0], &ip, sizeof(ip)), 0);
	}
}

/* There is an address for each slot */
static struct ats_set *fake_fill(struct fake *fake)
{
	struct ats_set *set = fake_set(fake);
	struct in6_addr ip;
	int i;

	for (i = 0; i < FAKE_IPS; i++)
		fake_toggle(fake, i);
	for (i = FAKE_IPS; i < ATS_SIDS; i++) {
		fake_ip(&ip, i + 1);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, ats_set_get(set, &ip, true));
	}
	return set;
}

/* In a full set, without a free slot, three addresses can exchange their slots */
static void engine_full_set(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct ats_set *set = fake_fill(fake);
	struct in6_addr ip;
	int i;

	fake_finish(fake);
	fake->engine.online = false;
	for (i = 2; i <= 3; i++) {
		fake_ip(&ip, i);
		set->choice = ip;
		fake_run(fake);
	}
	fake->engine.online = true;
	fake_finish(fake);
	for (i = 0; i < ATS_SIDS; i++)
		KUNIT_EXPECT_EQ(test, memcmp(&fake->ip[i], &set->slot[i].want->ip, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&fake->ip[0], &ip, sizeof(ip)), 0);
}

/* They can do so also while another slot of the set is refused again and again */
static void engine_full_set_refused(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct ats_set *set = fake_fill(fake);
	struct in6_addr ip;
	int i;

	fake_ip(&ip, 2);
	for (i = 0; i < FAKE_ROUNDS; i++) {
		if (i == FAKE_ROUNDS / 2)
			set->choice = ip;
		fake_run(fake);
		if (fake_first(fake))
			fake_end(fake, fake_first(fake), fake_first(fake)->slot == 200 ?
				 FATE_REFUSED : FATE_DONE);
		else
			fake->now = fake->next;
	}
	KUNIT_EXPECT_FALSE(test, fake->has[200]);
	KUNIT_EXPECT_EQ(test, memcmp(&fake->ip[0], &ip, sizeof(ip)), 0);
	KUNIT_EXPECT_TRUE(test, fake_has(fake, 0));
}

/* ---- All orders of events ---- */

enum event {
	EVENT_TOGGLE_FIRST,
	EVENT_TOGGLE_SECOND,
	EVENT_CHOOSE,
	EVENT_FORGET,
	EVENT_END_FIRST,		/* followed by one event for each fate */
	EVENT_END_LAST = EVENT_END_FIRST + FATES,
	EVENT_LATE,
	EVENTS
};

static void fake_choose(struct fake *fake, unsigned int number)
{
	struct in6_addr ip;

	fake_ip(&ip, number + 1);
	fake_set(fake)->choice = ip;
}

static void fake_event(struct fake *fake, unsigned int event)
{
	switch (event) {
	case EVENT_TOGGLE_FIRST:
	case EVENT_TOGGLE_SECOND:
		fake_toggle(fake, event);
		break;
	case EVENT_CHOOSE:
		fake_choose(fake, 1);
		break;
	case EVENT_FORGET:
		memset(fake->has, 0, sizeof(fake->has));
		ats_engine_forget(&fake->engine, fake->now);
		break;
	case EVENT_END_LAST:
		if (fake_first(fake))
			fake_end(fake, list_last_entry(&fake->pending, struct fake_request, list),
				 FATE_DONE);
		break;
	case EVENT_LATE:
		fake_do_late(fake);
		break;
	default:
		if (fake_first(fake))
			fake_end(fake, fake_first(fake), event - EVENT_END_FIRST);
		break;
	}
	fake_run(fake);
	if (!fake_first(fake))
		fake->now = ats_earlier(fake->next, fake->now + HZ);
}

/* Verifying the set discovers requests that were executed late */
static void fake_end_well(struct fake *fake)
{
	fake_finish(fake);
	fake_do_late(fake);
	ats_engine_verify(&fake->engine);
	fake_set(fake);
	fake_finish(fake);
	fake_compare(fake);
	fake_reset(fake);
}

static void engine_every_order(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned int all = EVENTS * EVENTS * EVENTS, n, left, i;

	for (n = 0; n < all && !fake->test->status; n++) {
		fake_event(fake, EVENT_TOGGLE_FIRST);
		for (left = n, i = 0; i < 3; left /= EVENTS, i++)
			fake_event(fake, left % EVENTS);
		fake_end_well(fake);
	}
	KUNIT_EXPECT_EQ(test, n, all);
}

static void engine_random(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct rnd_state random;
	unsigned int seed, i, kind;

	for (seed = 1; seed <= 100 && !fake->test->status; seed++) {
		prandom_seed_state(&random, seed);
		for (i = 0; i < 60; i++) {
			kind = prandom_u32_state(&random) % (EVENTS + FAKE_IPS);
			if (kind >= EVENTS)
				fake_toggle(fake, kind - EVENTS);
			fake_event(fake, kind < EVENTS ? kind : EVENT_END_FIRST);
		}
		fake_end_well(fake);
		KUNIT_EXPECT_FALSE_MSG(test, fake->test->status, "seed %u", seed);
	}
}

static int engine_init(struct kunit *test)
{
	struct fake *fake = kzalloc(sizeof(*fake), GFP_KERNEL);

	if (!fake)
		return -ENOMEM;
	fake->test = test;
	ats_max_in_flight = FAKE_IN_FLIGHT;
	INIT_LIST_HEAD(&fake->late);
	INIT_LIST_HEAD(&fake->pending);
	INIT_LIST_HEAD(&fake->engine.sets);
	fake->now = jiffies;
	fake_reset(fake);
	test->priv = fake;
	return 0;
}

static void engine_exit(struct kunit *test)
{
	if (!test->priv)
		return;
	fake_reset(test->priv);
	kfree(test->priv);
}

/* Renewing a lease is not reported as a change; a record whose lease is not as
 * requested is registered again
 */
static void engine_renews(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct ats_record record = { .key = fake_key, .sid = ats_slot_sid(0), .lease = 60 };
	struct ats_set *set = fake_set(fake);
	u64 sets;

	ats_lease = 60;
	fake_toggle(fake, 0);
	fake_finish(fake);
	sets = fake->engine.count[IB_ATS_COUNTER_SETS];
	ats_engine_renew(&fake->engine);
	KUNIT_EXPECT_FALSE(test, ats_set_settled(set));
	KUNIT_EXPECT_EQ(test, (int)ats_set_state(set, set->slot[0].want),
			(int)IB_ATS_RECORD_REGISTERED);
	fake_run(fake);
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_SETS], sets + 1);
	fake_finish(fake);
	KUNIT_EXPECT_TRUE(test, ats_set_settled(set));
	KUNIT_EXPECT_EQ(test, fake->engine.count[IB_ATS_COUNTER_SETS], sets + 1);

	/* The lease of a record that is read back has partly elapsed */
	record.addr = set->slot[0].want->ip;
	ats_engine_read_record(set, &record);
	KUNIT_EXPECT_EQ(test, (int)set->slot[0].found, (int)ATS_PRESENT);
	record.lease = ATS_LEASE_INFINITE;
	ats_engine_read_record(set, &record);
	KUNIT_EXPECT_EQ(test, (int)set->slot[0].found, (int)ATS_DOUBT);
	ats_lease = 0;
	ats_engine_read_record(set, &record);
	KUNIT_EXPECT_EQ(test, (int)set->slot[0].found, (int)ATS_PRESENT);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(engine_registers),
	KUNIT_CASE(engine_sends_the_outcome),
	KUNIT_CASE(engine_backs_off),
	KUNIT_CASE(engine_registers_again),
	KUNIT_CASE(engine_stale_answers),
	KUNIT_CASE(engine_repairs),
	KUNIT_CASE(engine_refused),
	KUNIT_CASE(engine_gives_up),
	KUNIT_CASE(engine_refused_hidden),
	KUNIT_CASE(engine_cannot_send),
	KUNIT_CASE(engine_cannot_read),
	KUNIT_CASE(engine_read_refused),
	KUNIT_CASE(engine_no_window),
	KUNIT_CASE(engine_full_set),
	KUNIT_CASE(engine_full_set_refused),
	KUNIT_CASE(engine_every_order),
	KUNIT_CASE(engine_renews),
	KUNIT_CASE(engine_random),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "ats_reconcile",
	.init = engine_init,
	.exit = engine_exit,
	.test_cases = engine_cases,
};

kunit_test_suites(&engine_suite);
