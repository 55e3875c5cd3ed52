// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of event subscriptions (InformInfo) at the SA: the contents of the
 * MADs, and the steps that answers and the wishes of interfaces cause.
 */
#include "ipoib_inform.c"
#include "ipoib_inform_mad.c"
#include "kunit.h"

/* InformInfo as in IBA 13.4.8.3 */
static void inform_words(struct kunit *test)
{
	static const u8 wanted[sizeof(struct inform_info)] = {
		[16] = 0xff, [17] = 0xff,	/* all LIDs */
		[22] = 1, [23] = 1,		/* generic, subscribe */
		[24] = 0xff, [25] = 0xff,	/* all types */
		[27] = 66,
		[30] = 1, [31] = 18,		/* QP1, response time 1 s */
		[35] = 4,			/* class manager */
	};
	struct ib_sa_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mad);
	ipoib_inform_fill(mad, 66, true);
	KUNIT_EXPECT_EQ(test, memcmp(mad->data, wanted, sizeof(wanted)), 0);
	ipoib_inform_fill(mad, 67, false);
	KUNIT_EXPECT_EQ(test, mad->data[23], 0);
	KUNIT_EXPECT_EQ(test, mad->data[27], 67);
}

static void inform_list_words(struct kunit *test)
{
	struct ib_sa_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mad);
	ipoib_list_fill(mad, 0x8123);
	KUNIT_EXPECT_EQ(test, mad->data[40], 0x81);
	KUNIT_EXPECT_EQ(test, mad->data[41], 0x23);
	KUNIT_EXPECT_EQ(test, (__force u64)mad->sa_hdr.comp_mask,
			(__force u64)cpu_to_be64(BIT_ULL(7)));
}

struct report_example {
	const char *name;
	u8 method, attribute, type, trap;
	bool ours, exists;
};

static const struct report_example report_examples[] = {
	{ "created", IB_MGMT_METHOD_REPORT, 2, 0x83, 66, true, true },
	{ "deleted", IB_MGMT_METHOD_REPORT, 2, 0x83, 67, true, false },
	{ "deleted, of type informational", IB_MGMT_METHOD_REPORT, 2, 0x84, 67, true, false },
	{ "a port that appeared", IB_MGMT_METHOD_REPORT, 2, 0x83, 64, false },
	{ "a vendor's", IB_MGMT_METHOD_REPORT, 2, 0x03, 66, false },
	{ "another attribute", IB_MGMT_METHOD_REPORT, 3, 0x83, 66, false },
	{ "a trap", IB_MGMT_METHOD_TRAP, 2, 0x83, 66, false },
};

static void report_describe(const struct report_example *example, char *name)
{
	strscpy(name, example->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(report, report_examples, report_describe);

static void inform_report(struct kunit *test)
{
	const struct report_example *example = test->param_value;
	struct ib_sa_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);
	union ib_gid mgid = {};
	bool exists = false;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mad);
	mad->mad_hdr.method = example->method;
	mad->mad_hdr.attr_id = cpu_to_be16(example->attribute);
	mad->data[0] = example->type;
	mad->data[5] = example->trap;
	/* Type, producer, trap, LID and toggle: 10 octets; 6 reserved octets follow */
	mad->data[16] = 0xff;
	mad->data[31] = 0x42;
	KUNIT_EXPECT_EQ(test, ipoib_report_parse(mad, &mgid, &exists), example->ours);
	if (!example->ours)
		return;
	KUNIT_EXPECT_EQ(test, exists, example->exists);
	KUNIT_EXPECT_EQ(test, mgid.raw[0], 0xff);
	KUNIT_EXPECT_EQ(test, mgid.raw[15], 0x42);
}

/* An answer in segments of 200 octets, as RMPP reassembles it */
struct answer {
	struct ib_mad_recv_wc wc;
	struct ib_mad_recv_buf more[3];
	struct ib_sa_mad mads[4];
};

static struct answer *answer_make(struct kunit *test, int records, u16 words, int octets)
{
	struct answer *answer = kunit_kzalloc(test, sizeof(*answer), GFP_KERNEL);
	int i, at;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, answer);
	INIT_LIST_HEAD(&answer->wc.rmpp_list);
	answer->wc.recv_buf.mad = (struct ib_mad *)&answer->mads[0];
	list_add_tail(&answer->wc.recv_buf.list, &answer->wc.rmpp_list);
	for (i = 0; i < ARRAY_SIZE(answer->more); i++) {
		answer->more[i].mad = (struct ib_mad *)&answer->mads[i + 1];
		list_add_tail(&answer->more[i].list, &answer->wc.rmpp_list);
	}
	for (i = 0; i < records; i++) {
		at = i * words * 8;
		answer->mads[at / IB_MGMT_SA_DATA].data[at % IB_MGMT_SA_DATA] = 0xff;
		at += 15;
		answer->mads[at / IB_MGMT_SA_DATA].data[at % IB_MGMT_SA_DATA] = i + 1;
	}
	answer->mads[0].sa_hdr.attr_offset = cpu_to_be16(words);
	answer->wc.mad_len = IB_MGMT_SA_HDR + octets;
	return answer;
}

static int answer_count(struct kunit *test, struct answer *answer)
{
	union ib_gid *mgids;
	int count = -1, i;

	mgids = ipoib_list_parse(&answer->wc, &count);
	KUNIT_ASSERT_NOT_NULL(test, mgids);
	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, mgids[i].raw[0], 0xff);
		KUNIT_EXPECT_EQ(test, mgids[i].raw[15], i + 1);
	}
	kvfree(mgids);
	return count;
}

static void inform_list(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 13, 7, 13 * 56)), 13);
	/* The last record without its padding */
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 13, 7, 12 * 56 + 52)), 13);
	/* The last record is truncated */
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 13, 7, 12 * 56 + 51)), 12);
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 8, 10, 640)), 8);
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 0, 7, 0)), 0);
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 0, 0, 56)), 0);
	/* An attribute offset with which the records would overlap */
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 1, 6, 56)), 0);
	KUNIT_EXPECT_EQ(test, answer_count(test, answer_make(test, 1, 7, -20)), 0);
}

/* The length exceeds the segments: the rest is zeroes, not uninitialized memory */
static void inform_list_lacks(struct kunit *test)
{
	struct answer *answer = answer_make(test, 13, 7, 30 * 56);
	union ib_gid *mgids, zero = {};
	int count = 0;

	mgids = ipoib_list_parse(&answer->wc, &count);
	KUNIT_ASSERT_NOT_NULL(test, mgids);
	KUNIT_EXPECT_EQ(test, count, 30);
	KUNIT_EXPECT_EQ(test, memcmp(&mgids[20], &zero, sizeof(zero)), 0);
	kvfree(mgids);
}

/* An answer longer than any valid list is ignored as a whole, as the groups
 * that it lacks would be left
 */
static void inform_list_too_long(struct kunit *test)
{
	struct answer *answer = answer_make(test, 13, 7, INFORM_LIST_MAX + 1);
	int count = 0;

	KUNIT_EXPECT_EQ(test, PTR_ERR(ipoib_list_parse(&answer->wc, &count)), (long)-EMSGSIZE);
}

/* A port whose interfaces may request reports, without MADs */
static struct inform *inform_make(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_EQ(test, ipoib_inform_start(fx->port), 0);
	return fx->port->fabric_own;
}

static void inform_end(struct fixture *fx)
{
	ipoib_inform_report(fx->priv, IPOIB_REPORTS_NONE);
	ipoib_inform_stop(fx->port);
	fixture_settle(fx);
}

/* The SA's answer to a subscription or unsubscription */
static void trap_answer(struct inform *inform, enum inform_trap_index index, bool subscribe,
			int status)
{
	struct inform_trap *trap = &inform->traps[index];

	spin_lock_bh(&inform->lock);
	trap->subscribe = subscribe;
	trap->request.status = status;
	trap_done(inform, trap);
	spin_unlock_bh(&inform->lock);
}

static bool trap_is_wanted(struct inform *inform, enum inform_trap_index index)
{
	bool wanted;

	spin_lock_bh(&inform->lock);
	wanted = trap_wanted(inform, index);
	spin_unlock_bh(&inform->lock);
	return wanted;
}

static void inform_wants(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);

	KUNIT_EXPECT_FALSE(test, trap_is_wanted(inform, INFORM_CREATED));
	KUNIT_EXPECT_FALSE(test, trap_is_wanted(inform, INFORM_DELETED));
	watcher_want(inform, fx->priv, IPOIB_REPORTS_DELETED);
	KUNIT_EXPECT_FALSE(test, trap_is_wanted(inform, INFORM_CREATED));
	KUNIT_EXPECT_TRUE(test, trap_is_wanted(inform, INFORM_DELETED));
	watcher_want(inform, fx->priv, IPOIB_REPORTS_ALL);
	KUNIT_EXPECT_TRUE(test, trap_is_wanted(inform, INFORM_CREATED));
	KUNIT_EXPECT_TRUE(test, trap_is_wanted(inform, INFORM_DELETED));
	inform_end(fx);
}

/* The interface is notified once, when all its subscriptions are confirmed, and
 * again after the SA may have lost them.
 */
static void inform_told(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);

	watcher_want(inform, fx->priv, IPOIB_REPORTS_ALL);
	trap_answer(inform, INFORM_DELETED, true, 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTIONS), 0ull);
	trap_answer(inform, INFORM_CREATED, true, 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTIONS), 1ull);
	trap_answer(inform, INFORM_CREATED, true, 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTIONS), 1ull);
	watcher_want(inform, fx->priv, IPOIB_REPORTS_NONE);
	ipoib_inform_void(fx->port);
	cancel_delayed_work_sync(&inform->work);
	KUNIT_EXPECT_FALSE(test, inform->traps[INFORM_CREATED].subscribed);
	watcher_want(inform, fx->priv, IPOIB_REPORTS_DELETED);
	trap_answer(inform, INFORM_DELETED, true, 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTIONS), 2ull);
	trap_answer(inform, INFORM_DELETED, false, -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, inform->traps[INFORM_DELETED].subscribed);
	inform_end(fx);
}

static void inform_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);
	struct inform_trap *trap = &inform->traps[INFORM_DELETED];

	watcher_want(inform, fx->priv, IPOIB_REPORTS_DELETED);
	trap_answer(inform, INFORM_DELETED, true, -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, trap->subscribed);
	KUNIT_EXPECT_EQ(test, trap->failures, 1);
	KUNIT_EXPECT_TRUE(test, time_after(trap->retry_at, jiffies - HZ));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTION_FAILURES), 1ull);
	trap_answer(inform, INFORM_DELETED, true, 0);
	KUNIT_EXPECT_TRUE(test, trap->subscribed);
	KUNIT_EXPECT_EQ(test, trap->failures, 0);
	inform_end(fx);
}

/* An answer to a request from before the SM changed is ignored */
static void inform_stale(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);
	struct inform_trap *trap = &inform->traps[INFORM_DELETED];
	static struct ib_mad_send_buf buf;

	watcher_want(inform, fx->priv, IPOIB_REPORTS_DELETED);
	trap->request.buf = &buf;
	spin_lock_bh(&inform->lock);
	trap_void(trap);
	trap->request.buf = NULL;
	spin_unlock_bh(&inform->lock);
	trap_answer(inform, INFORM_DELETED, true, 0);
	KUNIT_EXPECT_FALSE(test, trap->subscribed);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTIONS), 0ull);
	trap_answer(inform, INFORM_DELETED, true, 0);
	KUNIT_EXPECT_TRUE(test, trap->subscribed);
	inform_end(fx);
}

struct source_example {
	const char *name;
	u32 sm_lid, lid, qpn;
	u8 lmc;
	bool grh, grh_required;
	bool sa;
};

static const struct source_example source_examples[] = {
	{ "the SM's LID, QP1", 5, 5, 1, 0, false, false, true },
	{ "with a GRH", 5, 5, 1, 0, true, false, true },
	{ "another host's QP1", 5, 6, 1, 0, false, false, false },
	{ "a user's QP beside the SM", 5, 5, 0x48, 0, false, false, false },
	{ "QP0", 5, 5, 0, 0, false, false, false },
	{ "another LID of the SM's port", 4, 7, 1, 2, false, false, true },
	{ "a LID beyond these", 4, 8, 1, 2, false, false, false },
	{ "no SM is known", 0, 0, 1, 0, false, false, false },
	{ "no GRH where one is needed", 5, 5, 1, 0, false, true, false },
	{ "a GRH where one is needed", 5, 5, 1, 0, true, true, true },
};

static void source_describe(const struct source_example *example, char *name)
{
	strscpy(name, example->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(source, source_examples, source_describe);

static void inform_source(struct kunit *test)
{
	const struct source_example *example = test->param_value;
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);
	struct ib_wc wc = {
		.slid = example->lid,
		.src_qp = example->qpn,
		.wc_flags = example->grh ? IB_WC_GRH : 0,
	};
	u32 *caps = &fx->hca->ibdev.port_data[1].immutable.core_cap_flags;
	u32 kept = *caps;

	if (example->grh_required)
		*caps |= RDMA_CORE_PORT_IB_GRH_REQUIRED;
	inform->sm_lid = example->sm_lid;
	inform->lmc = example->lmc;
	KUNIT_EXPECT_EQ(test, mad_is_of_sa(inform, &wc), example->sa);
	*caps = kept;
	inform_end(fx);
}

/* The SM is looked up only after an event */
static void inform_follows_sm(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);

	inform->sm_lid = 77;
	inform->sm_stale = false;
	sm_follow(inform);
	KUNIT_EXPECT_EQ(test, inform->sm_lid, 77u);
	ipoib_inform_void(fx->port);
	cancel_delayed_work_sync(&inform->work);
	KUNIT_EXPECT_TRUE(test, inform->sm_stale);
	sm_follow(inform);
	KUNIT_EXPECT_NE(test, inform->sm_lid, 77u);
	KUNIT_EXPECT_FALSE(test, inform->sm_stale);
	inform_end(fx);
}

/* MADs of an address that was not the SM's when the HCA was asked last have it asked again, but not
 * often
 */
static void inform_doubts_sm(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);
	struct ib_port_attr state = {};

	sm_look(inform, &state);
	mutex_lock(&inform->serving);
	mad_refuse(inform);
	KUNIT_EXPECT_FALSE(test, inform->sm_stale);
	KUNIT_EXPECT_FALSE(test, work_busy(&inform->work.work));
	inform->sm_looked -= INFORM_LOOK + 1;
	mad_refuse(inform);
	KUNIT_EXPECT_TRUE(test, work_busy(&inform->work.work));
	mutex_unlock(&inform->serving);
	cancel_delayed_work_sync(&inform->work);
	KUNIT_EXPECT_TRUE(test, inform->sm_stale);
	sm_follow(inform);
	KUNIT_EXPECT_FALSE(test, inform->sm_stale);
	inform_end(fx);
}

/* How the SA's status is mapped to errors: "busy" differs from a refusal */
static void inform_status(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);
	struct inform_trap *trap = &inform->traps[INFORM_DELETED];
	struct answer *answer = answer_make(test, 0, 7, 0);
	static struct ib_mad_send_buf buf;

	trap->request.buf = &buf;
	answer_take(inform, &buf, &answer->wc);
	KUNIT_EXPECT_EQ(test, trap->request.status, 0);
	answer->mads[0].mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_BUSY);
	answer_take(inform, &buf, &answer->wc);
	KUNIT_EXPECT_EQ(test, trap->request.status, -EBUSY);
	answer->mads[0].mad_hdr.status = cpu_to_be16(0x0200);
	answer_take(inform, &buf, &answer->wc);
	KUNIT_EXPECT_EQ(test, trap->request.status, -EINVAL);
	trap->request.buf = NULL;
	inform_end(fx);
}

/* A port without MADs: subscriptions fail, and the list of groups is answered with an error */
static void inform_without_mads(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);

	ipoib_inform_report(fx->priv, IPOIB_REPORTS_ALL);
	KUNIT_EXPECT_EQ(test, ipoib_inform_list(fx->priv), 0);
	flush_delayed_work(&inform->work);
	KUNIT_EXPECT_GT(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTION_FAILURES), 0ull);
	KUNIT_EXPECT_EQ(test, (int)fx->priv->groups.news.list_request, (int)IPOIB_REQUEST_ANSWERED);
	KUNIT_EXPECT_EQ(test, fx->priv->groups.news.list_count, -ENODEV);
	fx->priv->groups.news.list_request = IPOIB_REQUEST_NONE;
	inform_end(fx);
}

/* The interfaces of a port share its subscriptions */
static void inform_shared(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct inform *inform = inform_make(test);
	struct ipoib_dev *child;

	rtnl_lock();
	KUNIT_ASSERT_EQ(test, ipoib_child_create(fx->priv, 0x8001), 0);
	rtnl_unlock();
	child = list_first_entry(&fx->port->children, struct ipoib_dev, sibling);
	watcher_want(inform, fx->priv, IPOIB_REPORTS_DELETED);
	watcher_want(inform, child, IPOIB_REPORTS_DELETED);
	trap_answer(inform, INFORM_DELETED, true, 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_SUBSCRIPTIONS), 1ull);
	KUNIT_EXPECT_EQ(test, ipoib_stat_read(child, IPOIB_STAT_SUBSCRIPTIONS), 1ull);
	watcher_want(inform, fx->priv, IPOIB_REPORTS_NONE);
	KUNIT_EXPECT_TRUE(test, trap_is_wanted(inform, INFORM_DELETED));
	watcher_want(inform, child, IPOIB_REPORTS_NONE);
	KUNIT_EXPECT_FALSE(test, trap_is_wanted(inform, INFORM_DELETED));
	inform_end(fx);
}

static struct kunit_case inform_cases[] = {
	KUNIT_CASE(inform_words),
	KUNIT_CASE(inform_list_words),
	KUNIT_CASE_PARAM(inform_report, report_gen_params),
	KUNIT_CASE(inform_list),
	KUNIT_CASE(inform_list_lacks),
	KUNIT_CASE(inform_list_too_long),
	KUNIT_CASE_PARAM(inform_source, source_gen_params),
	KUNIT_CASE(inform_follows_sm),
	KUNIT_CASE(inform_doubts_sm),
	KUNIT_CASE(inform_status),
	KUNIT_CASE(inform_wants),
	KUNIT_CASE(inform_told),
	KUNIT_CASE(inform_fails),
	KUNIT_CASE(inform_stale),
	KUNIT_CASE(inform_without_mads),
	KUNIT_CASE(inform_shared),
	{}
};

static struct kunit_suite inform_suite = {
	.name = "ipoib_inform",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = inform_cases,
};

kunit_test_suites(&inform_suite);
