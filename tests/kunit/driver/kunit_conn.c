// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of a connection's end, of one that completes nothing, and of one whose time has passed.
 */
#include <kunit/test.h>

#include "ipoib_conn.c"
#include "ipoib_map.h"
#include "kunit.h"

static struct ipoib_conn *conn_now;
static bool netdevice_known;

static void packet_freed(struct sk_buff *skb)
{
	netdevice_known = rcu_access_pointer(conn_now->priv);
}

/* A connection of the fixture's netdevice with a packet that the HCA has not sent; the test has a
 * reference
 */
static struct ipoib_conn *conn_make(struct kunit *test)
{
	struct ipoib_conn *conn = conn_alloc(IPOIB_CONN_LIVE, GFP_KERNEL);
	struct fixture *fx = test->priv;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, conn);
	KUNIT_ASSERT_EQ(test, ipoib_csq_create(&conn->sq, &fx->hca->ibdev), 0);
	skb = alloc_skb(100, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->destructor = packet_freed;
	conn->sq.buf[0].skb = skb;
	KUNIT_ASSERT_EQ(test, ipoib_map(&fx->hca->ibdev, &conn->sq.buf[0]), 0);
	conn->sq.head = 1;
	conn->sq.asked = 1;
	conn->sq.moved = jiffies;
	refcount_inc(&conn->refs);
	/* Like conn_start(), but its work does not run */
	conn->conns = &fx->port->conns;
	rcu_assign_pointer(conn->priv, fx->priv);
	list_add_tail(&conn->node, &conn->conns->list);
	atomic_inc(&conn->conns->alive);
	conn_now = conn;
	return conn;
}

/* When a connection cannot be found any more by a netdevice that is removed, nothing is done with
 * that netdevice
 */
static void conn_ends(struct kunit *test)
{
	struct ipoib_conn *conn = conn_make(test);
	struct fixture *fx = test->priv;

	netdevice_known = true;
	conn_free(conn);
	KUNIT_EXPECT_FALSE(test, netdevice_known);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_CONN_LOST), 1ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->port->conns.alive), 0);
	ipoib_conn_put(conn);
}

/* Senders may wait for what they have sent, and send nothing more */
static void conn_stuck(struct kunit *test)
{
	struct ipoib_conn *conn = conn_make(test);

	ipoib_csq_watch(conn);
	KUNIT_EXPECT_EQ(test, conn->events, 0ul);
	conn->sq.moved = jiffies - IPOIB_CSQ_STALL - 1;
	/* Not its work, which would close it by the communication manager */
	set_bit(IPOIB_CONN_CLOSE, &conn->events);
	ipoib_csq_watch(conn);
	KUNIT_EXPECT_TRUE(test, test_bit(IPOIB_CONN_BROKEN, &conn->events));
	conn_free(conn);
	ipoib_conn_put(conn);
}

static void no_work(struct work_struct *work)
{
}

/* A connection that a peer has opened, without a QP; its work does nothing */
static struct ipoib_conn *conn_accepted(struct kunit *test)
{
	struct ipoib_conn *conn = conn_alloc(IPOIB_CONN_LIVE, GFP_KERNEL);
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, conn);
	INIT_DELAYED_WORK(&conn->work, no_work);
	conn->conns = &fx->port->conns;
	conn->live_since = jiffies;
	conn->id = ib_create_cm_id(&fx->hca->ibdev, conn_cm_event, conn);
	KUNIT_ASSERT_FALSE(test, IS_ERR(conn->id));
	rcu_assign_pointer(conn->priv, fx->priv);
	list_add_tail(&conn->node, &conn->conns->list);
	atomic_inc(&conn->conns->alive);
	return conn;
}

/* A connection that was closed waits for the peer's answer, unless the HCA is dead */
static void conn_of_dead_hca(struct kunit *test)
{
	struct ipoib_conn *closed = conn_accepted(test), *live = conn_accepted(test);
	struct fixture *fx = test->priv;
	struct ipoib_conns *conns = &fx->port->conns;

	closed->state = IPOIB_CONN_DRAINING;
	closed->until = jiffies + CONN_DRAIN;
	closed->events = BIT(IPOIB_CONN_CLOSE);
	conn_drain(closed);
	KUNIT_ASSERT_EQ(test, (int)closed->state, (int)IPOIB_CONN_DRAINING);
	KUNIT_EXPECT_TRUE(test, timer_pending(&closed->work.timer));
	ipoib_conns_hca_died(fx->port);
	KUNIT_EXPECT_FALSE(test, timer_pending(&closed->work.timer));
	KUNIT_EXPECT_EQ(test, live->events, BIT(IPOIB_CONN_CLOSE));
	flush_workqueue(conns->wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&conns->alive), 2);
	conn_drain(closed);
	KUNIT_EXPECT_EQ(test, atomic_read(&conns->alive), 1);
	/* The fixture waits for the end of all */
	if (atomic_read(&conns->alive) > 1)
		conn_free(closed);
	conn_free(live);
	conns->hca_died = false;
}

/* Of many connections that are closed at once, one may be looked at only after its limit. If the
 * HCA has returned its WRs by then, it gets the time for the last one.
 */
static void conn_drained_late(struct kunit *test)
{
	struct ipoib_conn *conn = conn_accepted(test);
	struct fixture *fx = test->priv;

	/* Each QP has WRs of its own, so no other one is posted */
	fx->hca->ibdev.attrs.max_srq = 0;
	KUNIT_ASSERT_EQ(test, ipoib_conns_make_srq(conn->conns), 0);
	conn->state = IPOIB_CONN_DRAINING;
	conn->until = jiffies - 1;
	conn->events = BIT(IPOIB_CONN_LAST_WQE);
	conn->qp = fx->priv->qp;
	conn->ring = ERR_PTR(-ENODEV);
	conn_drain(conn);
	KUNIT_ASSERT_EQ(test, (int)conn->state, (int)IPOIB_CONN_DRAINING);
	KUNIT_EXPECT_TRUE(test, conn->marked);
	KUNIT_EXPECT_TRUE(test, time_after(conn->until, jiffies));
	cancel_delayed_work_sync(&conn->work);
	conn->qp = NULL;
	conn->ring = NULL;
	conn_free(conn);
}

static void conn_happens(struct ipoib_conn *conn, enum ib_cm_event_type type)
{
	const struct ib_cm_event event = { .event = type };

	conn_cm_event(conn->id, &event);
	cancel_delayed_work_sync(&conn->work);
}

/* What a request has made is closed if neither the RTU nor a message comes */
static void conn_unheard(struct kunit *test)
{
	struct ipoib_conn *conn = conn_accepted(test);

	conn_look_at_peer(conn);
	KUNIT_EXPECT_EQ(test, conn->events, 0ul);
	conn->live_since = jiffies - CONN_ANSWER - 1;
	conn_look_at_peer(conn);
	cancel_delayed_work_sync(&conn->work);
	KUNIT_EXPECT_EQ(test, conn->events, BIT(IPOIB_CONN_CLOSE));
	conn_free(conn);
}

static void conn_heard(struct kunit *test)
{
	struct ipoib_conn *conn = conn_accepted(test);

	ipoib_conn_hear(conn);
	cancel_delayed_work_sync(&conn->work);
	conn->live_since = jiffies - CONN_ANSWER - 1;
	conn_look_at_peer(conn);
	KUNIT_EXPECT_TRUE(test, conn->lived);
	KUNIT_EXPECT_EQ(test, conn->events, BIT(IPOIB_CONN_HEARD));
	conn_free(conn);
}

static void conn_events(struct kunit *test)
{
	struct ipoib_conn *conn = conn_accepted(test);

	conn_happens(conn, IB_CM_MRA_RECEIVED);
	KUNIT_EXPECT_EQ(test, conn->events, 0ul);
	conn_happens(conn, IB_CM_RTU_RECEIVED);
	KUNIT_EXPECT_EQ(test, conn->events, BIT(IPOIB_CONN_HEARD));
	conn->events = 0;
	conn_happens(conn, IB_CM_REP_ERROR);
	KUNIT_EXPECT_EQ(test, conn->events, BIT(IPOIB_CONN_CLOSE));
	conn_happens(conn, IB_CM_DREQ_ERROR);
	KUNIT_EXPECT_EQ(test, conn->events, BIT(IPOIB_CONN_CLOSE) | BIT(IPOIB_CONN_PARTED));
	/* Its memory is about to be freed */
	conn->events = 0;
	conn->state = IPOIB_CONN_GONE;
	conn_happens(conn, IB_CM_DREQ_ERROR);
	KUNIT_EXPECT_EQ(test, conn->events, 0ul);
	conn_free(conn);
}

/* The fabric says that the path has another SL or leads to another port now */
static void conn_path_replaced(struct kunit *test)
{
	struct ipoib_conn *conn = conn_accepted(test);
	struct fixture *fx = test->priv;
	union ib_gid gid;

	fixture_up(test);
	fixture_gid(&gid, 9);
	fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
	fixture_settle(fx);
	conn->opened = true;
	conn->lived = true;
	ipoib_hwaddr_build(&conn->peer, 7, &gid);
	KUNIT_ASSERT_EQ(test, ipoib_path_record(fx->priv, gid.raw, &conn->path), 0);
	conn->lid = be32_to_cpu(sa_path_get_dlid(&conn->path));
	conn_look_at_path(conn);
	KUNIT_EXPECT_EQ(test, conn->events, 0ul);
	conn->path.sl ^= 1;
	conn_look_at_path(conn);
	cancel_delayed_work_sync(&conn->work);
	KUNIT_EXPECT_EQ(test, conn->events, BIT(IPOIB_CONN_CLOSE));
	conn_free(conn);
	fixture_down(fx);
}

static int accept_post(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	return 0;
}

/* An unreliable connection that this driver has opened, with a packet that the HCA has not sent,
 * and another one that waits; its work does nothing. The test has a reference.
 */
static struct ipoib_conn *conn_unreliable(struct kunit *test)
{
	struct ipoib_conn *conn = conn_make(test);
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	INIT_DELAYED_WORK(&conn->work, no_work);
	conn->opened = true;
	conn->lived = true;
	conn->live_since = jiffies;
	conn->type = IB_QPT_UC;
	KUNIT_ASSERT_EQ(test, conn_make_qp(conn), 0);
	conn->id = ib_create_cm_id(&fx->hca->ibdev, conn_cm_event, conn);
	KUNIT_ASSERT_FALSE(test, IS_ERR(conn->id));
	fx->hca->ibdev.ops.post_send = accept_post;
	ipoib_csq_open(&conn->sq);
	conn->sq.waiting_size[false] = skb->truesize;
	__skb_queue_tail(&conn->sq.waiting, skb);
	return conn;
}

/* Returns whether a connection is not closed, so many jiffies after its time has passed */
static bool conn_stays(struct ipoib_conn *conn, unsigned long late)
{
	conn->live_since = jiffies - CONN_UNRELIABLE - late;
	/* One that was closed too early is not closed again */
	if (conn->state == IPOIB_CONN_LIVE)
		conn_look(conn);
	cancel_delayed_work_sync(&conn->work);
	return conn->state == IPOIB_CONN_LIVE;
}

/* It is replaced by another one, but what was passed to it is sent before */
static void conn_retired(struct kunit *test)
{
	const struct ib_wc sent = { .wr_id = IPOIB_CSQ_WR, .status = IB_WC_SUCCESS };
	struct ipoib_conn *conn = conn_unreliable(test);
	struct fixture *fx = test->priv;

	conn_look(conn);
	cancel_delayed_work_sync(&conn->work);
	KUNIT_EXPECT_TRUE(test, ipoib_csq_is_open(&conn->sq));
	conn->used = jiffies - 2;
	KUNIT_EXPECT_TRUE(test, conn_stays(conn, 0));
	KUNIT_EXPECT_FALSE(test, ipoib_csq_is_open(&conn->sq));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&conn->sq.waiting), 1u);
	local_bh_disable();
	rcu_read_lock();
	ipoib_csq_complete(fx->priv, conn, &sent);
	rcu_read_unlock();
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, conn->sq.head, 2u);
	/* That was a short packet, for which no CQE comes: the HCA may still be sending it */
	conn->used = jiffies + HZ;
	KUNIT_EXPECT_TRUE(test, conn_stays(conn, 0));
	conn->used = jiffies - 2;
	KUNIT_EXPECT_FALSE(test, conn_stays(conn, 0));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_CONN_LOST), 0ull);
	conn_free(conn);
	ipoib_conn_put(conn);
}

/* What cannot be sent does not keep it for long */
static void conn_retired_late(struct kunit *test)
{
	struct ipoib_conn *conn = conn_unreliable(test);
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_TRUE(test, conn_stays(conn, CONN_RETIREMENT / 2));
	KUNIT_EXPECT_FALSE(test, conn_stays(conn, CONN_RETIREMENT + 1));
	conn_free(conn);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_CONN_LOST), 2ull);
	ipoib_conn_put(conn);
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(conn_ends),
	KUNIT_CASE(conn_stuck),
	KUNIT_CASE(conn_unheard),
	KUNIT_CASE(conn_heard),
	KUNIT_CASE(conn_events),
	KUNIT_CASE(conn_of_dead_hca),
	KUNIT_CASE(conn_drained_late),
	KUNIT_CASE(conn_path_replaced),
	KUNIT_CASE(conn_retired),
	KUNIT_CASE(conn_retired_late),
	{}
};

static struct kunit_suite conn_suite = {
	.name = "ipoib_conn",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = conn_cases,
};

kunit_test_suites(&conn_suite);
