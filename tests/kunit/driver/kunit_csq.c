// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the send queue of a connection. The verb that posts is replaced by one that records.
 */
#include <kunit/test.h>

#include "ipoib_csq.c"
#include "kunit.h"

#define SHORT	100	/* octets of a message that the HCA copies */
#define LONG	1000

/* The WRs that were posted */
static struct {
	int flags[2 * IPOIB_CSQ_SIZE];
	u64 wr_id[2 * IPOIB_CSQ_SIZE];
	u8 octets[IPOIB_CSQ_INLINE];	/* of the last one, if it was to be copied */
	u32 n;
} posted;

static int freed;

static int record_post(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	u8 *to = posted.octets;
	int i;

	posted.flags[posted.n] = wr->send_flags;
	posted.wr_id[posted.n++] = wr->wr_id;
	if (!(wr->send_flags & IB_SEND_INLINE))
		return 0;
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
	return 0;
}

static void packet_freed(struct sk_buff *skb)
{
	freed++;
}

static bool is_signaled(u32 index)
{
	return posted.flags[index] & IB_SEND_SIGNALED;
}

static struct ipoib_conn *csq_make(struct kunit *test)
{
	struct ipoib_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, conn);
	memset(&posted, 0, sizeof(posted));
	freed = 0;
	fx->hca->ibdev.ops.post_send = record_post;
	conn->conns = &fx->port->conns;
	conn->qp = fx->priv->qp;
	/* Its work does not run */
	set_bit(IPOIB_CONN_CLOSE, &conn->events);
	spin_lock_init(&conn->sq.lock);
	__skb_queue_head_init(&conn->sq.waiting);
	KUNIT_ASSERT_EQ(test, ipoib_csq_create(&conn->sq, &fx->hca->ibdev), 0);
	ipoib_csq_open(&conn->sq);
	return conn;
}

static void csq_end(struct ipoib_conn *conn)
{
	csq_shut(&conn->sq);
	ipoib_csq_purge(conn);
	ipoib_csq_destroy(&conn->sq);
}

static struct sk_buff *csq_packet(struct kunit *test, u32 len)
{
	struct sk_buff *skb = alloc_skb(INFINIBAND_ALEN + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->destructor = packet_freed;
	skb_put_zero(skb, INFINIBAND_ALEN);
	memset(skb_put(skb, len), 0x5a, len);
	return skb;
}

static void csq_give(struct kunit *test, struct ipoib_conn *conn, struct sk_buff *skb)
{
	struct fixture *fx = test->priv;

	local_bh_disable();
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, ipoib_csq_send(fx->priv, conn, skb));
	rcu_read_unlock();
	local_bh_enable();
}

/* Sends a message of so many octets */
static void csq_say(struct kunit *test, struct ipoib_conn *conn, u32 len)
{
	csq_give(test, conn, csq_packet(test, len));
}

/* Completes the WR with this number */
static void csq_done(struct kunit *test, struct ipoib_conn *conn, u32 index,
		     enum ib_wc_status status)
{
	const struct ib_wc wc = { .wr_id = posted.wr_id[index], .status = status };
	struct fixture *fx = test->priv;

	local_bh_disable();
	rcu_read_lock();
	ipoib_csq_complete(fx->priv, conn, &wc);
	rcu_read_unlock();
	local_bh_enable();
}

static u64 csq_sent(struct kunit *test)
{
	struct rtnl_link_stats64 stats;
	struct fixture *fx = test->priv;

	dev_get_stats(fx->netdev, &stats);
	return stats.tx_packets;
}

/* A short packet is copied and freed at once, and needs no completion of its own */
static void short_is_copied(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);
	u64 sent = csq_sent(test);
	u32 i;

	for (i = 0; i < CSQ_SIGNAL; i++) {
		KUNIT_EXPECT_FALSE(test, csq_awaits(&conn->sq));
		csq_say(test, conn, SHORT);
		KUNIT_EXPECT_EQ(test, freed, (int)i + 1);
		KUNIT_EXPECT_TRUE(test, posted.flags[i] & IB_SEND_INLINE);
		KUNIT_EXPECT_EQ(test, is_signaled(i), i == CSQ_SIGNAL - 1);
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(posted.octets, 0x5a, SHORT));
	KUNIT_EXPECT_EQ(test, csq_sent(test) - sent, (u64)CSQ_SIGNAL);
	KUNIT_EXPECT_EQ(test, csq_used(&conn->sq), (u32)CSQ_SIGNAL);
	csq_done(test, conn, CSQ_SIGNAL - 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, csq_used(&conn->sq), 0u);
	KUNIT_EXPECT_EQ(test, csq_sent(test) - sent, (u64)CSQ_SIGNAL);
	csq_end(conn);
}

/* A short packet in fragments is copied from where they are */
static void short_in_fragments(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);
	struct sk_buff *skb = csq_packet(test, 40);
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page_address(page) + 500, 0x6b, 60);
	for (i = 0; i < 2; i++) {
		get_page(page);
		skb_add_rx_frag(skb, i, page, 500 + 30 * i, 30, PAGE_SIZE);
	}
	csq_give(test, conn, skb);
	KUNIT_EXPECT_EQ(test, freed, 1);
	KUNIT_EXPECT_TRUE(test, posted.flags[0] & IB_SEND_INLINE);
	KUNIT_EXPECT_NULL(test, memchr_inv(posted.octets, 0x5a, 40));
	KUNIT_EXPECT_NULL(test, memchr_inv(posted.octets + 40, 0x6b, 60));
	put_page(page);
	csq_end(conn);
}

/* Nothing is due for short packets, so a connection is not stuck, and can be closed; but some time
 * after the last CQE, one is requested again
 */
static void short_is_not_awaited(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);

	csq_say(test, conn, SHORT);
	conn->sq.moved = jiffies - IPOIB_CSQ_STALL - 1;
	ipoib_csq_watch(conn);
	KUNIT_EXPECT_FALSE(test, test_bit(IPOIB_CONN_BROKEN, &conn->events));
	KUNIT_EXPECT_TRUE(test, ipoib_csq_retire(&conn->sq));
	ipoib_csq_open(&conn->sq);
	conn->sq.moved = jiffies - CSQ_SIGNAL_AGAIN - 1;
	csq_say(test, conn, SHORT);
	KUNIT_EXPECT_TRUE(test, is_signaled(1));
	csq_say(test, conn, SHORT);
	KUNIT_EXPECT_FALSE(test, is_signaled(2));
	csq_done(test, conn, 1, IB_WC_SUCCESS);
	csq_say(test, conn, LONG);
	KUNIT_EXPECT_FALSE(test, ipoib_csq_retire(&conn->sq));
	ipoib_csq_watch(conn);
	KUNIT_EXPECT_FALSE(test, test_bit(IPOIB_CONN_BROKEN, &conn->events));
	conn->sq.moved = jiffies - IPOIB_CSQ_STALL - 1;
	ipoib_csq_watch(conn);
	KUNIT_EXPECT_TRUE(test, test_bit(IPOIB_CONN_BROKEN, &conn->events));
	csq_end(conn);
}

/* The completion of a long packet reports those of short ones before it as well */
static void long_reports_short(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);
	struct fixture *fx = test->priv;
	u64 sent = csq_sent(test);

	csq_say(test, conn, SHORT);
	csq_say(test, conn, LONG);
	csq_say(test, conn, SHORT);
	KUNIT_EXPECT_FALSE(test, is_signaled(0) || is_signaled(2));
	KUNIT_EXPECT_TRUE(test, is_signaled(1));
	KUNIT_EXPECT_EQ(test, freed, 2);
	csq_done(test, conn, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, freed, 3);
	KUNIT_EXPECT_EQ(test, csq_used(&conn->sq), 1u);
	KUNIT_EXPECT_EQ(test, csq_sent(test) - sent, 3ull);
	csq_done(test, conn, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_CONN_LOST), 1ull);
	KUNIT_EXPECT_FALSE(test, ipoib_csq_is_open(&conn->sq));
	csq_end(conn);
}

/* When all slots are taken, packets wait until a completion frees some */
static void full_of_short(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);
	u32 i;

	for (i = 0; i < IPOIB_CSQ_SIZE + 2; i++)
		csq_say(test, conn, SHORT);
	KUNIT_EXPECT_EQ(test, posted.n, (u32)IPOIB_CSQ_SIZE);
	KUNIT_EXPECT_EQ(test, freed, IPOIB_CSQ_SIZE);
	csq_done(test, conn, CSQ_SIGNAL - 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, posted.n, IPOIB_CSQ_SIZE + 2u);
	KUNIT_EXPECT_EQ(test, freed, IPOIB_CSQ_SIZE + 2);
	csq_end(conn);
}

/* Packets of sockets, for which more memory is allowed, leave room for those that are forwarded */
static void full_of_sockets(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);
	const struct sk_buff of_socket = { .sk = ERR_PTR(-ENOTSOCK) };
	struct fixture *fx = test->priv;
	u32 i;

	for (i = 0; i < IPOIB_CSQ_SIZE; i++)
		csq_say(test, conn, SHORT);
	*csq_waiting_size(&conn->sq, &of_socket) = CSQ_WAITING_SOCKETS;
	csq_say(test, conn, SHORT);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&conn->sq.waiting), 1u);
	conn->sq.waiting_size[false] = CSQ_WAITING_MAX;
	csq_say(test, conn, SHORT);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&conn->sq.waiting), 1u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_CONN_FULL), 1ull);
	csq_end(conn);
	KUNIT_EXPECT_EQ(test, *csq_waiting_size(&conn->sq, &of_socket), 0u);
}

/* An HCA may copy fewer octets, or none */
static void less_is_copied(struct kunit *test)
{
	struct ipoib_conn *conn = csq_make(test);
	u32 pieces = conn->sq.max_sge;

	KUNIT_EXPECT_TRUE(test, ipoib_csq_shrink(&conn->sq));
	csq_say(test, conn, SHORT);
	csq_say(test, conn, CSQ_INLINE_LEAST);
	KUNIT_EXPECT_FALSE(test, posted.flags[0] & IB_SEND_INLINE);
	KUNIT_EXPECT_TRUE(test, posted.flags[1] & IB_SEND_INLINE);
	KUNIT_EXPECT_TRUE(test, ipoib_csq_shrink(&conn->sq));
	csq_say(test, conn, CSQ_INLINE_LEAST);
	KUNIT_EXPECT_FALSE(test, posted.flags[2] & IB_SEND_INLINE);
	KUNIT_EXPECT_EQ(test, conn->sq.max_sge, pieces);
	csq_end(conn);
}

static struct kunit_case csq_cases[] = {
	KUNIT_CASE(short_is_copied),
	KUNIT_CASE(short_in_fragments),
	KUNIT_CASE(short_is_not_awaited),
	KUNIT_CASE(long_reports_short),
	KUNIT_CASE(full_of_short),
	KUNIT_CASE(full_of_sockets),
	KUNIT_CASE(less_is_copied),
	{}
};

static struct kunit_suite csq_suite = {
	.name = "ipoib_csq",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = csq_cases,
};

kunit_test_suites(&csq_suite);
