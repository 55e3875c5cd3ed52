// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the decision which peers get a connection, and when. The simulated HCA has no SRQs, so
 * every request fails.
 */
#include <kunit/test.h>

#include "ipoib_peer.c"
#include "kunit.h"

#define PEER	9	/* last octet of the GID of a peer whose path is known */

static int peer_init(struct kunit *test)
{
	struct fixture *fx;
	union ib_gid gid;
	int err = fixture_init_running(test);

	if (err)
		return err;
	fx = test->priv;
	/* Room for the completions of connections that send */
	fx->hca->ibdev.attrs.max_cqe = 1 << 20;
	fx->hca->ibdev.attrs.max_qp = 1 << 16;
	fixture_gid(&gid, PEER);
	fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
	fixture_settle(fx);
	ipoib_peers_start(fx->priv);
	return 0;
}

static void peer_exit(struct kunit *test)
{
	struct fixture *fx = test->priv;

	if (!fx)
		return;
	ipoib_peers_stop(fx->priv);
	flush_workqueue(fx->port->conns.wq);
	fixture_exit(test);
}

/* Returns the connection for a packet to the QP of a peer */
static struct ipoib_conn *conn_to(struct kunit *test, u32 qpn, u32 len)
{
	struct fixture *fx = test->priv;
	struct ipoib_header *header;
	struct ipoib_conn *conn;
	struct sk_buff *skb;
	union ib_gid gid;

	fixture_gid(&gid, PEER);
	skb = fixture_packet(test, gid.raw, len);
	header = (struct ipoib_header *)skb->data;
	ipoib_hwaddr_build(&header->hwaddr, qpn, &gid);
	header->hwaddr.flags = IPOIB_FLAG_RC;
	local_bh_disable();
	rcu_read_lock();
	conn = ipoib_peer_conn(&fx->priv->channels->tx, skb);
	rcu_read_unlock();
	local_bh_enable();
	kfree_skb(skb);
	return conn;
}

static struct ipoib_peer *only_peer(struct fixture *fx)
{
	return list_first_entry(&fx->priv->peers.list, struct ipoib_peer, entry);
}

static bool has_conn(struct fixture *fx)
{
	return rcu_access_pointer(only_peer(fx)->conn);
}

/* Lets the request fail, and a packet notice it */
static void request_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_TRUE(test, has_conn(fx));
	flush_workqueue(fx->port->conns.wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->port->conns.alive), 0);
	conn_to(test, 7, 100);
	KUNIT_EXPECT_FALSE(test, has_conn(fx));
}

/* The eighth packet opens a connection. When it has failed, there is none for some time, and the
 * senders of long packets are not told another MTU before it has failed five times.
 */
static void opened_for_packets(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u32 i;

	for (i = 1; i < PEER_PACKETS; i++) {
		KUNIT_EXPECT_EQ(test, PTR_ERR(conn_to(test, 7, 100)), (long)-EINPROGRESS);
		KUNIT_EXPECT_FALSE(test, has_conn(fx));
	}
	KUNIT_EXPECT_EQ(test, PTR_ERR(conn_to(test, 7, 100)), (long)-EINPROGRESS);
	request_fails(test);
	KUNIT_EXPECT_TRUE(test, time_after(only_peer(fx)->retry_at, jiffies));
	for (i = 0; i < 2 * PEER_PACKETS; i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR(conn_to(test, 7, 60000)), (long)-EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, has_conn(fx));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_CONN_FAILED), 1ull);
	for (i = 2; i <= PEER_FAILURES; i++) {
		only_peer(fx)->retry_at = jiffies;
		KUNIT_EXPECT_EQ(test, PTR_ERR(conn_to(test, 7, 60000)), (long)-EINPROGRESS);
		request_fails(test);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_CONN_FAILED), (u64)i);
	}
	KUNIT_EXPECT_NULL(test, conn_to(test, 7, 60000));
}

static void opened_for_a_long_packet(struct kunit *test)
{
	struct fixture *fx = test->priv;

	conn_to(test, 7, fx->priv->mtu);
	KUNIT_EXPECT_FALSE(test, has_conn(fx));
	conn_to(test, 7, fx->priv->mtu + 1);
	KUNIT_EXPECT_TRUE(test, has_conn(fx));
}

/* Even a packet that cannot be sent has the path looked up, for the next one's connection */
static void path_is_looked_up(struct kunit *test)
{
	struct fixture *fx = test->priv;

	ipoib_paths_flush(fx->priv);
	KUNIT_EXPECT_EQ(test, PTR_ERR(conn_to(test, 7, 60000)), (long)-EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, has_conn(fx));
	fixture_settle(fx);
	conn_to(test, 7, 60000);
	KUNIT_EXPECT_TRUE(test, has_conn(fx));
}

/* Packets with and without flags are for one peer, those to another QP are not */
static void peers_are_addresses(struct kunit *test)
{
	struct fixture *fx = test->priv;

	conn_to(test, 7, 100);
	conn_to(test, 7, 100);
	KUNIT_EXPECT_EQ(test, fx->priv->peers.count, 1u);
	KUNIT_EXPECT_EQ(test, only_peer(fx)->hwaddr.flags, 0);
	conn_to(test, 8, 100);
	KUNIT_EXPECT_EQ(test, fx->priv->peers.count, 2u);
}

static void not_opened_when_off(struct kunit *test)
{
	struct fixture *fx = test->priv;

	ipoib_peers_stop(fx->priv);
	KUNIT_EXPECT_FALSE(test, fx->priv->channels->tx.connects);
	KUNIT_EXPECT_NULL(test, conn_to(test, 7, 60000));
	KUNIT_EXPECT_EQ(test, fx->priv->peers.count, 0u);
}

/* The peer without a connection to which nothing was sent for the longest time makes room. The new
 * one has to expect the same, so its senders are told the MTU of datagrams.
 */
static void bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	struct ipoib_peer *first;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, conn);
	for (i = 0; i < IPOIB_PEERS_MAX; i++)
		conn_to(test, i + 2, 100);
	KUNIT_EXPECT_EQ(test, fx->priv->peers.count, (u32)IPOIB_PEERS_MAX);
	first = only_peer(fx);
	KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(&first->hwaddr), 2u);
	conn->state = IPOIB_CONN_LIVE;
	rcu_assign_pointer(first->conn, conn);
	KUNIT_EXPECT_NULL(test, conn_to(test, 9999, 100));
	KUNIT_EXPECT_EQ(test, fx->priv->peers.count, (u32)IPOIB_PEERS_MAX);
	KUNIT_EXPECT_PTR_EQ(test, only_peer(fx), first);
	KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(&list_next_entry(first, entry)->hwaddr), 4u);
	RCU_INIT_POINTER(first->conn, NULL);
	kfree(conn);
}

/* The two Service IDs are tried in turn; what follows depends on how a connection has ended */
static void after_the_end(struct kunit *test)
{
	struct ipoib_peer peer = { .service = IPOIB_SERVICE_ID_RFC, .packets = 100 };
	struct ipoib_conn conn = { .refusal = IB_CM_REJ_INVALID_SERVICE_ID };
	struct fixture *fx = test->priv;

	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.service, IPOIB_SERVICE_ID_LINUX);
	KUNIT_EXPECT_FALSE(test, time_before(jiffies, peer.retry_at));
	KUNIT_EXPECT_EQ(test, peer.packets, 100u);
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.service, IPOIB_SERVICE_ID_RFC);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, peer.retry_at));
	KUNIT_EXPECT_EQ(test, peer.packets, 0u);
	KUNIT_EXPECT_EQ(test, peer.failures, 1);
	conn.refusal = IB_CM_REJ_NO_QP;
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.failures, 2);
	conn.refusal = 0;
	conn.lived = true;
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.failures, 3);
	conn.proven = true;
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.failures, 0);
	KUNIT_EXPECT_FALSE(test, time_before(jiffies, peer.retry_at));
	set_bit(IPOIB_CONN_BROKEN, &conn.events);
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.failures, 1);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, peer.retry_at));
}

/* A peer whose address says that it has unreliable connections, but that refuses one */
static void reliable_after_failure(struct kunit *test)
{
	const u8 both = IPOIB_FLAG_RC | IPOIB_FLAG_UC;
	struct ipoib_conn conn = { .type = IB_QPT_UC, .lived = true, .proven = true };
	struct fixture *fx = test->priv;
	struct ipoib_peer peer = {};

	KUNIT_EXPECT_EQ(test, peer_conn_type(fx->priv, &peer, both), IB_QPT_RC);
	fx->priv->cm.flags = both;
	KUNIT_EXPECT_EQ(test, peer_conn_type(fx->priv, &peer, IPOIB_FLAG_RC), IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, peer_conn_type(fx->priv, &peer, both), IB_QPT_UC);
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer_conn_type(fx->priv, &peer, both), IB_QPT_UC);
	conn.lived = false;
	conn.proven = false;
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer_conn_type(fx->priv, &peer, both), IB_QPT_RC);
	fx->priv->cm.flags = 0;
}

/* A connection for both directions would have to receive, so none is requested */
static void without_srqs(struct kunit *test)
{
	struct ipoib_peer peer = { .service = IPOIB_SERVICE_ID_LINUX };
	struct ipoib_conn conn = { .refusal = IB_CM_REJ_INVALID_SERVICE_ID };
	struct fixture *fx = test->priv;

	fx->hca->ibdev.attrs.max_srq = 0;
	KUNIT_EXPECT_EQ(test, peer_first_service(fx->priv), IPOIB_SERVICE_ID_LINUX);
	peer_conn_over(fx->priv, &peer, &conn);
	KUNIT_EXPECT_EQ(test, peer.service, IPOIB_SERVICE_ID_LINUX);
	KUNIT_EXPECT_EQ(test, peer.failures, 1);
	fx->hca->ibdev.attrs.max_srq = 1;
}

static struct kunit_case peer_cases[] = {
	KUNIT_CASE(opened_for_packets),
	KUNIT_CASE(opened_for_a_long_packet),
	KUNIT_CASE(path_is_looked_up),
	KUNIT_CASE(peers_are_addresses),
	KUNIT_CASE(not_opened_when_off),
	KUNIT_CASE(bounded),
	KUNIT_CASE(after_the_end),
	KUNIT_CASE(reliable_after_failure),
	KUNIT_CASE(without_srqs),
	{}
};

static struct kunit_suite peer_suite = {
	.name = "ipoib_peer",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = peer_init,
	.exit = peer_exit,
	.test_cases = peer_cases,
};

kunit_test_suites(&peer_suite);
