// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of requests for connections: which REQs a netdevice accepts, and why it refuses others.
 */
#include <kunit/test.h>

#include "ipoib_cm.c"
#include "kunit.h"

#define PEER_QPN	0x123456
#define PEER_LID	0x42

/* A REQ as the communication manager passes it on */
struct request {
	struct ib_cm_req_event_param req;
	struct sa_path_rec path;
	struct ipoib_cm_offer offer;
};

/* Fills in a REQ that is accepted */
static void request_build(struct fixture *fx, struct request *request)
{
	memset(request, 0, sizeof(*request));
	request->req.port = 1;
	request->req.primary_path = &request->path;
	request->req.qp_type = IB_QPT_RC;
	request->path.sgid = fx->priv->local_gid;
	request->path.dgid = fx->priv->local_gid;
	request->path.dgid.raw[15] ^= 0x55;
	request->path.pkey = cpu_to_be16(0xffff);
	request->path.rec_type = SA_PATH_REC_TYPE_IB;
	sa_path_set_dlid(&request->path, PEER_LID);
	ipoib_cm_data_build(&request->offer.data, PEER_QPN, IPOIB_MESSAGE_MAX);
}

/* Returns the reason why the netdevice refuses a REQ, or 0 */
static int request_result(struct fixture *fx, struct request *request)
{
	const struct ib_cm_event event = {
		.event = IB_CM_REQ_RECEIVED,
		.param.req_rcvd = request->req,
		.private_data = &request->offer,
	};
	struct ipoib_conn conn = {};
	int reason;

	conn_fill(&conn, &event, cpu_to_be64(IPOIB_SERVICE_ID_RFC));
	spin_lock_bh(&fx->port->conns.lock);
	reason = req_refusal(fx->priv, &request->req, &conn);
	spin_unlock_bh(&fx->port->conns.lock);
	return reason;
}

/* Section 6 of RFC 4755 */
static void private_data(struct kunit *test)
{
	static const u8 octets[] = { 0, 0x12, 0x34, 0x56, 0, 0, 0xff, 0xf4 };
	struct ipoib_cm_data data;

	memset(&data, 0xff, sizeof(data));
	ipoib_cm_data_build(&data, 0xff000000 | PEER_QPN, 65524);
	KUNIT_EXPECT_EQ(test, memcmp(&data, octets, sizeof(octets)), 0);
	data.reserved = 0xaa;
	KUNIT_EXPECT_EQ(test, ipoib_cm_data_qpn(&data), PEER_QPN);
}

static void accepted(struct kunit *test)
{
	struct request request;

	request_build(test->priv, &request);
	KUNIT_EXPECT_EQ(test, request_result(test->priv, &request), 0);
	request.offer.data.receive_mtu = cpu_to_be32(IPOIB_RECEIVE_MTU_MIN);
	request.offer.data.reserved = 0xff;
	KUNIT_EXPECT_EQ(test, request_result(test->priv, &request), 0);
}

static void accepted_unreliable(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct request request;

	fx->priv->cm.flags = IPOIB_FLAG_RC | IPOIB_FLAG_UC;
	request_build(fx, &request);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	request.req.qp_type = IB_QPT_UC;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	request.req.qp_type = IB_QPT_XRC_INI;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_INVALID_TRANSPORT_TYPE);
	fx->priv->cm.flags = 0;
}

static void of_another_port(struct request *request)
{
	request->req.port = 2;
}

static void by_uc(struct request *request)
{
	request->req.qp_type = IB_QPT_UC;
}

static void to_another_gid(struct request *request)
{
	request->path.sgid.raw[8] ^= 1;
}

static void without_mtu(struct request *request)
{
	request->offer.data.receive_mtu = 0;
}

static void with_a_small_mtu(struct request *request)
{
	request->offer.data.receive_mtu = cpu_to_be32(IPOIB_RECEIVE_MTU_MIN - 1);
}

static void without_qpn(struct request *request)
{
	memset(request->offer.data.qpn, 0, sizeof(request->offer.data.qpn));
}

static void from_multicast_qpn(struct request *request)
{
	memset(request->offer.data.qpn, 0xff, sizeof(request->offer.data.qpn));
}

static void from_multicast_gid(struct request *request)
{
	request->path.dgid.raw[0] = 0xff;
}

static void of_another_partition(struct request *request)
{
	request->path.pkey = cpu_to_be16(0x8001);
}

static const struct refusal {
	const char *what;
	void (*spoil)(struct request *request);
	enum ib_cm_rej_reason reason;
} refusals[] = {
	{ "another port", of_another_port, IB_CM_REJ_INVALID_SERVICE_ID },
	{ "UC", by_uc, IB_CM_REJ_INVALID_TRANSPORT_TYPE },
	{ "another GID", to_another_gid, IB_CM_REJ_INVALID_GID },
	{ "no Receive MTU", without_mtu, IB_CM_REJ_INVALID_MTU },
	{ "a Receive MTU of 71", with_a_small_mtu, IB_CM_REJ_INVALID_MTU },
	{ "no QPN", without_qpn, IB_CM_REJ_CONSUMER_DEFINED },
	{ "the multicast QPN", from_multicast_qpn, IB_CM_REJ_CONSUMER_DEFINED },
	{ "a multicast GID", from_multicast_gid, IB_CM_REJ_CONSUMER_DEFINED },
	{ "another P_Key", of_another_partition, IB_CM_REJ_CONSUMER_DEFINED },
};

static void refusal_name(const struct refusal *refusal, char *name)
{
	strscpy(name, refusal->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refusals, refusal_name);

static void refused(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;
	struct request request;

	request_build(test->priv, &request);
	refusal->spoil(&request);
	KUNIT_EXPECT_EQ(test, request_result(test->priv, &request), refusal->reason);
}

static void refused_from_itself(struct kunit *test)
{
	struct ipoib_dev *priv = ((struct fixture *)test->priv)->priv;
	struct ipoib_hwaddr peer;

	ipoib_hwaddr_build(&peer, priv->qp->qp_num, &priv->local_gid);
	KUNIT_EXPECT_TRUE(test, is_self(priv, &peer));
	KUNIT_EXPECT_FALSE(test, peer_is_valid(priv, &peer, PEER_LID));
	peer.gid[15] ^= 1;
	KUNIT_EXPECT_FALSE(test, is_self(priv, &peer));
	ipoib_hwaddr_build(&peer, priv->qp->qp_num ^ 1, &priv->local_gid);
	KUNIT_EXPECT_FALSE(test, is_self(priv, &peer));
}

/* A request with the GID of a port that was heard at another LID */
static void refused_with_false_gid(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = { .src_qp = 1, .slid = PEER_LID + 1, .wc_flags = IB_WC_GRH };
	struct ipoib_hwaddr sender;
	struct request request;
	struct ipoib_heard from;
	struct ib_grh grh = {};

	request_build(fx, &request);
	grh.sgid = request.path.dgid;
	local_bh_disable();
	ipoib_learn_sender(fx->priv, &wc, &grh, &sender, &from);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_CONSUMER_DEFINED);
	sa_path_set_dlid(&request.path, PEER_LID + 1);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
}

static void refused_without_link(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct request request;

	request_build(fx, &request);
	hca_port_state(fx->hca, IB_PORT_DOWN);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_INVALID_SERVICE_ID);
}

/* Two limited members of a partition cannot communicate (IBA 10.9.3) */
static void limited_members(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct request request;

	request_build(fx, &request);
	request.path.pkey = cpu_to_be16(0x7fff);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	hca_pkey(fx->hca, 0, 0x7fff);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_CONSUMER_DEFINED);
	request.path.pkey = cpu_to_be16(0xffff);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
}

static void no_work(struct work_struct *work)
{
}

/* Adds connections that peers have opened, all of them just now, and from one LID */
static struct ipoib_conn *conns_add(struct kunit *test, u32 n)
{
	struct fixture *fx = test->priv;
	struct ipoib_conns *conns = &fx->port->conns;
	struct ipoib_conn *many = kvcalloc(n, sizeof(*many), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, many);
	for (i = 0; i < n; i++) {
		many[i].conns = conns;
		many[i].used = jiffies;
		many[i].lid = PEER_LID;
		set_bit(IPOIB_CONN_HEARD, &many[i].events);
		INIT_DELAYED_WORK(&many[i].work, no_work);
		RCU_INIT_POINTER(many[i].priv, fx->priv);
		list_add_tail(&many[i].node, &conns->list);
	}
	return many;
}

static void conns_remove(struct kunit *test, struct ipoib_conn *many, u32 n)
{
	struct fixture *fx = test->priv;
	u32 i;

	INIT_LIST_HEAD(&fx->port->conns.list);
	for (i = 0; i < n; i++)
		flush_delayed_work(&many[i].work);
	kvfree(many);
}

static bool closes(const struct ipoib_conn *conn)
{
	return test_bit(IPOIB_CONN_CLOSE, &conn->events);
}

/* One LID may have some connections to a netdevice, but not all. Of these, one that nothing has
 * followed gives way after a second, and others after ten.
 */
static void too_many_from_one(struct kunit *test)
{
	struct ib_device_attr attrs = {
		.max_srq = 1, .max_srq_sge = 16, .max_qp = 4096, .max_cqe = 1 << 20,
	};
	struct ipoib_conn *many = conns_add(test, IPOIB_CONNS_PEER_MAX - 1);
	struct fixture *fx = test->priv;
	struct request request;
	struct ipoib_conn *last;

	swap(fx->hca->ibdev.attrs, attrs);
	request_build(fx, &request);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	last = conns_add(test, 1);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	sa_path_set_dlid(&request.path, PEER_LID ^ 1);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	/* With an LMC of 1, that is another LID of the same port */
	fx->hca->ibdev.port_data[1].cache.lmc = 1;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	fx->hca->ibdev.port_data[1].cache.lmc = 0;
	sa_path_set_dlid(&request.path, PEER_LID);
	many[1].used = jiffies - 5 * HZ;
	many[2].used = jiffies - 2 * HZ;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	KUNIT_EXPECT_FALSE(test, closes(&many[1]) || closes(&many[2]));
	clear_bit(IPOIB_CONN_HEARD, &many[2].events);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	KUNIT_EXPECT_TRUE(test, closes(&many[2]));
	KUNIT_EXPECT_FALSE(test, closes(&many[1]));
	many[1].used = jiffies - 11 * HZ;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	KUNIT_EXPECT_TRUE(test, closes(&many[1]));
	many[3].opened = true;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	flush_delayed_work(&last->work);
	conns_remove(test, many, IPOIB_CONNS_PEER_MAX - 1);
	kvfree(last);
	swap(fx->hca->ibdev.attrs, attrs);
}

/* One that was idle for long gives way, for the next request. Those that peers have opened, however
 * many, do not keep the netdevice from opening others.
 */
static void too_many(struct kunit *test)
{
	struct ib_device_attr attrs = {
		.max_srq = 1, .max_srq_sge = 16, .max_qp = 1 << 16, .max_cqe = 1 << 20,
	};
	struct ipoib_conn *many = conns_add(test, IPOIB_CONNS_PORT_MAX);
	struct fixture *fx = test->priv;
	struct request request;
	u32 i, closing = 0;

	swap(fx->hca->ibdev.attrs, attrs);
	request_build(fx, &request);
	sa_path_set_dlid(&request.path, PEER_LID + 1);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	many[7].used = jiffies - 60 * HZ;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	for (i = 0; i < IPOIB_CONNS_PORT_MAX; i++)
		closing += closes(&many[i]);
	KUNIT_EXPECT_EQ(test, closing, 1u);
	KUNIT_EXPECT_TRUE(test, closes(&many[7]));
	KUNIT_EXPECT_TRUE(test, ipoib_conns_may_open(fx->priv));
	list_del(&many[0].node);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	conns_remove(test, many, IPOIB_CONNS_PORT_MAX);
	swap(fx->hca->ibdev.attrs, attrs);
}

/* Identifiers that come with other events than a REQ have no other owner */
static void other_events_are_refused(struct kunit *test)
{
	const struct ib_cm_event event = { .event = IB_CM_SIDR_REQ_RECEIVED };

	KUNIT_EXPECT_LT(test, listener_event(NULL, &event), 0);
}

static void guests_add(struct fixture *fx, struct ipoib_conn *many, int n, const struct net *net)
{
	struct ipoib_conns *conns = &fx->port->conns;
	int i;

	for (i = 0; i < n; i++) {
		many[i].conns = conns;
		many[i].used = jiffies;
		many[i].net = net;
		set_bit(IPOIB_CONN_HEARD, &many[i].events);
		INIT_DELAYED_WORK(&many[i].work, no_work);
		list_add(&many[i].node, &conns->list);
	}
}

/* A namespace other than the HCA's has as many connections as it leaves to others at most, even of
 * netdevices that it has removed: here 40 of the 80 that others do not have. It gets none by
 * having those of others closed.
 */
static void a_guest_leaves_room(struct kunit *test)
{
	struct ib_device_attr attrs = { .max_recv_sge = 16, .max_qp = 4096, .max_cqe = 1 << 20 };
	struct ipoib_conn *many = kunit_kcalloc(test, 88, sizeof(*many), GFP_KERNEL);
	struct fixture *fx = test->priv;
	struct net *net = dev_net(fx->priv->netdev);
	struct request request;

	KUNIT_ASSERT_NOT_NULL(test, many);
	swap(fx->hca->ibdev.attrs, attrs);
	KUNIT_ASSERT_EQ(test, ipoib_srq_receivers_max(&fx->hca->ibdev), 128u);
	request_build(fx, &request);
	guests_add(fx, many, 48, NULL);
	guests_add(fx, many + 48, 39, net);
	write_pnet(&fx->hca->ibdev.coredev.rdma_net, NULL);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	guests_add(fx, many + 87, 1, net);
	many[0].used = jiffies - 60 * HZ;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	KUNIT_EXPECT_FALSE(test, closes(&many[0]));
	many[87].used = jiffies - 30 * HZ;
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), IB_CM_REJ_NO_QP);
	KUNIT_EXPECT_TRUE(test, closes(&many[87]));
	KUNIT_EXPECT_FALSE(test, closes(&many[0]));
	write_pnet(&fx->hca->ibdev.coredev.rdma_net, net);
	KUNIT_EXPECT_EQ(test, request_result(fx, &request), 0);
	INIT_LIST_HEAD(&fx->port->conns.list);
	flush_delayed_work(&many[87].work);
	swap(fx->hca->ibdev.attrs, attrs);
}

/* An accepted connection needs a single CQE, of the half of the CQ that also has 256 for the SRQ.
 * What is left is for those that this driver opens, 65 CQEs each.
 */
static void limits_with_srqs(struct kunit *test)
{
	struct ib_device_attr attrs = {
		.max_srq = 1, .max_srq_sge = 16, .max_qp = 1 << 16, .max_cqe = 1 << 20,
	};
	struct fixture *fx = test->priv;
	struct ib_device *ibdev = &fx->hca->ibdev;

	swap(ibdev->attrs, attrs);
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 4096u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 512u);
	ibdev->attrs.max_cqe = 4096;
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 1792u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_recv_cqes(ibdev), 2048u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 31u);
	ibdev->attrs.max_qp = 64;
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 16u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 16u);
	ibdev->attrs.max_cqe = 511;
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 0u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 3u);
	swap(ibdev->attrs, attrs);
}

/* Without SRQs, each accepted connection has receive WRs of its own: 33 CQEs of half of the CQ */
static void limits_without_srqs(struct kunit *test)
{
	struct ib_device_attr attrs = { .max_recv_sge = 16, .max_qp = 4096, .max_cqe = 1 << 20 };
	struct fixture *fx = test->priv;
	struct ib_device *ibdev = &fx->hca->ibdev;

	swap(ibdev->attrs, attrs);
	KUNIT_EXPECT_FALSE(test, ipoib_srq_is_shared(ibdev));
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 128u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 512u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_message_max(ibdev), 65524u);
	ibdev->attrs.max_cqe = 2048;
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 31u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 15u);
	ibdev->attrs.max_qp = 16;
	ibdev->attrs.max_recv_sge = 1;
	KUNIT_EXPECT_EQ(test, ipoib_srq_receivers_max(ibdev), 4u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_senders_max(ibdev), 4u);
	KUNIT_EXPECT_EQ(test, ipoib_srq_message_max(ibdev), 32768u);
	swap(ibdev->attrs, attrs);
}

/* The simulated HCA has no communication manager */
static void not_supported(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, ipoib_cm_flags(fx->priv), 0);
	KUNIT_EXPECT_NULL(test, fx->priv->cm.listener);
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(private_data),
	KUNIT_CASE(accepted),
	KUNIT_CASE(accepted_unreliable),
	KUNIT_CASE_PARAM(refused, refused_gen_params),
	KUNIT_CASE(refused_from_itself),
	KUNIT_CASE(refused_with_false_gid),
	KUNIT_CASE(refused_without_link),
	KUNIT_CASE(limited_members),
	KUNIT_CASE(too_many_from_one),
	KUNIT_CASE(too_many),
	KUNIT_CASE(a_guest_leaves_room),
	KUNIT_CASE(other_events_are_refused),
	KUNIT_CASE(limits_with_srqs),
	KUNIT_CASE(limits_without_srqs),
	KUNIT_CASE(not_supported),
	{}
};

static struct kunit_suite cm_suite = {
	.name = "ipoib_cm",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_running,
	.exit = fixture_exit,
	.test_cases = cm_cases,
};

kunit_test_suites(&cm_suite);
