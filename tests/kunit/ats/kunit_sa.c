// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of requests to the SA: at which address it is, and how a request ends. */
#include "kunit.h"

/* The result of the request that ended last */
static enum ats_result last;

static void sa_done(struct ats_port *port, struct ats_request *request, enum ats_result result)
{
	last = result;
}

/* Sends a request. Returns the LID that it goes to */
static u16 post(struct fake_port *fake)
{
	const struct ats_request request = { .method = IB_MGMT_METHOD_GET, .done = sa_done };

	KUNIT_ASSERT_TRUE(fake->test, ats_sa_find_sm(&fake->port));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, ats_sa_post(&fake->port, &request));
	return rdma_ah_get_dlid(&fake->port.sa.sm);
}

/* The MAD layer ends the request that was posted last. Returns the result */
static enum ats_result end(struct fake_port *fake, enum ib_wc_status status,
			   struct fake_answer *answer)
{
	struct fake_posted *posted = &fake->posted[fake->posted_count - 1];
	struct ib_mad_send_wc wc = { .send_buf = posted->request->mad, .status = status };

	posted->request->answer = answer ? &answer->wc : NULL;
	posted->request = NULL;
	fake->agent.send_handler(&fake->agent, &wc);
	ats_sa_finish(&fake->port);
	return last;
}

/* Returns whether an SM was found that may have no records */
static bool is_new(struct fake_port *fake)
{
	return test_and_clear_bit(ATS_EVENT_FORGET, &fake->port.events);
}

/* An HCA need not notify of an SM that has moved: that is noticed if the SA does not answer */
static void sa_moves(struct kunit *test)
{
	struct fake_answer *answer = fake_answer_create(test, 0);
	struct fake_port *fake = test->priv;

	KUNIT_EXPECT_EQ(test, post(fake), 1);
	fake->sm_lid = 2;
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_SUCCESS, answer), (int)ATS_RESULT_OK);
	KUNIT_EXPECT_EQ(test, post(fake), 1);
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_RESP_TIMEOUT_ERR, NULL),
			(int)ATS_RESULT_TIMEOUT);
	KUNIT_EXPECT_FALSE(test, is_new(fake));
	KUNIT_EXPECT_EQ(test, post(fake), 2);
	KUNIT_EXPECT_TRUE(test, is_new(fake));
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_RESP_TIMEOUT_ERR, NULL),
			(int)ATS_RESULT_TIMEOUT);
	KUNIT_EXPECT_EQ(test, post(fake), 2);
	KUNIT_EXPECT_FALSE(test, is_new(fake));
	fake->sm_lid = 3;
	answer->mad[0].mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD);
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_SUCCESS, answer), (int)ATS_RESULT_NOBODY);
	KUNIT_EXPECT_EQ(test, post(fake), 3);
	KUNIT_EXPECT_TRUE(test, is_new(fake));
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_WR_FLUSH_ERR, NULL),
			(int)ATS_RESULT_CANCELLED);
	/* An event has said that the SM is new */
	fake->sm_lid = 4;
	rdma_ah_set_dlid(&fake->port.sa.sm, 0);
	ats_sa_lose_sm(&fake->port);
	KUNIT_EXPECT_TRUE(test, ats_sa_find_sm(&fake->port));
	KUNIT_EXPECT_FALSE(test, is_new(fake));
}

/* Anybody can send to QP1. An answer comes from the SA that was asked */
static void sa_forged(struct kunit *test)
{
	static const struct ib_wc senders[] = {
		{ .slid = 5, .src_qp = 1 }, { .slid = 1, .src_qp = 7 }, { .slid = 1, .src_qp = 1 },
	};
	struct fake_answer *answer = fake_answer_create(test, 0);
	struct fake_port *fake = test->priv;
	struct ats_request *request;
	struct ib_wc wc;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, post(fake), 1);
	request = fake->posted[fake->posted_count - 1].request;
	for (i = 0; i < ARRAY_SIZE(senders); i++) {
		KUNIT_EXPECT_NULL(test, request->answer);
		wc = senders[i];
		answer->wc.wc = &wc;
		fake->agent.recv_handler(&fake->agent, request->mad, &answer->wc);
	}
	KUNIT_EXPECT_PTR_EQ(test, request->answer, &answer->wc);
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_SUCCESS, NULL), (int)ATS_RESULT_TIMEOUT);
}

/* Without an SM nothing is sent until there is one, and the HCA is only asked at times */
static void sa_lacks_sm(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	unsigned long *look_at = &fake->port.sa.look_at;
	unsigned int i;

	fake->sm_lid = 0;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, ats_sa_find_sm(&fake->port));
	KUNIT_EXPECT_EQ(test, fake->port_queries, 1);
	KUNIT_EXPECT_TRUE(test, time_in_range(*look_at, jiffies + HZ, jiffies + 5 * HZ));
	*look_at = jiffies;
	KUNIT_EXPECT_FALSE(test, ats_sa_find_sm(&fake->port));
	KUNIT_EXPECT_EQ(test, fake->port_queries, 2);
	/* An event */
	fake->sm_lid = 4;
	ats_sa_lose_sm(&fake->port);
	KUNIT_EXPECT_EQ(test, post(fake), 4);
	KUNIT_EXPECT_EQ(test, fake->port_queries, 3);
	KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_WR_FLUSH_ERR, NULL),
			(int)ATS_RESULT_CANCELLED);
}

/* What the statuses of the SA's answers mean */
static void sa_results(struct kunit *test)
{
	static const struct {
		u16 status;
		enum ats_result result;
	} results[] = {
		{ 0, ATS_RESULT_OK },
		{ IB_MGMT_MAD_STATUS_BUSY, ATS_RESULT_BUSY },
		{ ATS_STATUS_NO_RESOURCES, ATS_RESULT_BUSY },
		{ ATS_STATUS_TOO_MANY, ATS_RESULT_TOO_MANY },
		{ ATS_STATUS_NO_RECORDS, ATS_RESULT_NO_RECORD },
		{ IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB, ATS_RESULT_NOBODY },
		{ 0x0200, ATS_RESULT_REFUSED },
	};
	struct fake_answer *answer = fake_answer_create(test, 0);
	struct fake_port *fake = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		post(fake);
		answer->mad[0].mad_hdr.status = cpu_to_be16(results[i].status);
		KUNIT_EXPECT_EQ(test, (int)end(fake, IB_WC_SUCCESS, answer),
				(int)results[i].result);
	}
}

static struct kunit_case sa_cases[] = {
	KUNIT_CASE(sa_moves),
	KUNIT_CASE(sa_forged),
	KUNIT_CASE(sa_lacks_sm),
	KUNIT_CASE(sa_results),
	{}
};

static struct kunit_suite sa_suite = {
	.name = "ats_sa",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = sa_cases,
};

kunit_test_suites(&sa_suite);
