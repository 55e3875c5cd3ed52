// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the QP and its P_Key: the P_Key index, ring sizes that fit the HCA,
 * and the replacement of queues.
 */
#include <linux/delay.h>
#include <linux/rtnetlink.h>

#include "ipoib_verbs.c"
#include "kunit.h"

struct pkey_example {
	const char *name;
	u16 first;	/* in the port's P_Key table */
	u16 wanted;
};

static const struct pkey_example pkey_examples[] = {
	{ "full default", 0xffff, 0xffff },
	{ "limited default", 0x7fff, 0xffff },
	{ "full member", 0x8001, 0x8001 },
	{ "limited member", 0x0001, 0x8001 },
	{ "the SM has not written the table", 0x0000, 0xffff },
	{ "invalid with the membership bit", 0x8000, 0xffff },
};

static void pkey_describe(const struct pkey_example *example, char *name)
{
	strscpy(name, example->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pkey, pkey_examples, pkey_describe);

static void pkey_of_port(struct kunit *test)
{
	const struct pkey_example *example = test->param_value;
	struct fixture *fx = test->priv;
	u16 pkey = 0;

	fx->hca->pkeys[0] = example->first;
	KUNIT_EXPECT_EQ(test, ipoib_pkey_default(fx->port, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, example->wanted);
}

static void pkey_unreadable(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ipoib_port beyond = { .ibdev = &fx->hca->ibdev, .number = 2 };
	u16 pkey;

	atomic_set(&fx->hca->fail_in, 1);
	KUNIT_EXPECT_EQ(test, ipoib_pkey_default(fx->port, &pkey), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ipoib_pkey_default(&beyond, &pkey), -EINVAL);
}

/* If the table has both a full and a limited membership of the partition, the full one is used */
static void pkey_index_prefers_full(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hca_pkey(fx->hca, 0, 0);
	hca_pkey(fx->hca, 2, 0x7fff);
	hca_pkey(fx->hca, 6, 0xffff);
	fixture_up(test);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->pkey_index, 6);
	hca_pkey(fx->hca, 6, 0);
	ipoib_link_event(fx->priv, IPOIB_EVENT_CHECK);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->pkey_index, 2);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static struct kunit_case pkey_cases[] = {
	KUNIT_CASE_PARAM(pkey_of_port, pkey_gen_params),
	KUNIT_CASE(pkey_unreadable),
	KUNIT_CASE(pkey_index_prefers_full),
	{}
};

static struct kunit_suite pkey_suite = {
	.name = "ipoib_pkey",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = pkey_cases,
};

static void qp_ring_limit(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_device_attr *attrs = &fx->hca->ibdev.attrs;
	static const struct {
		int max_qp_wr, max_cqe;
		u32 limit;
	} examples[] = {
		{ 16384, 16384, 8192 }, { 8192, 100000, 8192 }, { 8191, 16384, 4096 },
		{ 16384, 100, 64 }, { 1, 1, 1 }, { 0, 0, 1 }, { 1000, 300, 256 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		attrs->max_qp_wr = examples[i].max_qp_wr;
		attrs->max_cqe = examples[i].max_cqe;
		KUNIT_EXPECT_EQ(test, verbs_ring_limit(fx->priv), examples[i].limit);
	}
}

static void qp_created(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, (int)fx->hca->qp->state, (int)IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->send_size, (u32)IPOIB_TX_RING_DEFAULT);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->recv_size, (u32)FIXTURE_RX_RING);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_PD]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_CQ]), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_QP]), 1);
}

static u32 cq_vector(struct ib_cq *cq)
{
	return container_of(cq, struct hca_cq, ibcq)->vector;
}

/* The queues of a netdevice, and those of the next netdevice, use the
 * completion vectors in turn. Queues keep theirs when they are replaced.
 */
static void qp_vectors(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *child;
	u32 first, i;

	fx->hca->ibdev.num_comp_vectors = 3;
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 4, 64, 64), 0);
	first = cq_vector(fx->priv->rx.cq);
	KUNIT_EXPECT_EQ(test, first, fx->priv->first_vector % 3);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, cq_vector(fx->priv->channels[i].tx.cq), (first + i) % 3);
	for (i = 1; i < 4; i++) {
		rtnl_lock();
		KUNIT_EXPECT_EQ(test, ipoib_child_create(fx->priv, 0x8000 | i), 0);
		child = list_last_entry(&fx->port->children, struct ipoib_dev, sibling);
		KUNIT_EXPECT_EQ(test, cq_vector(child->rx.cq), (first + i) % 3);
		rtnl_unlock();
	}
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8000 | i), 0);
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 128, 64), 0);
	KUNIT_EXPECT_EQ(test, cq_vector(fx->priv->rx.cq), first);
}

/* The capabilities of the HCA, and the create flags of the first QP and of the others */
static void qp_flags(struct kunit *test)
{
	static const struct {
		u64 device_caps;
		u32 kernel_caps, first, others;
	} examples[] = {
		{ 0, 0, 0, 0 },
		{ IB_DEVICE_UD_IP_CSUM, 0, 0, 0 },
		{ 0, IBK_UD_TSO, 0, 0 },
		{ IB_DEVICE_UD_IP_CSUM, IBK_UD_TSO,
		  IB_QP_CREATE_IPOIB_UD_LSO, IB_QP_CREATE_IPOIB_UD_LSO },
		{ 0, IBK_BLOCK_MULTICAST_LOOPBACK, IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK,
		  IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK },
		{ IB_DEVICE_MANAGED_FLOW_STEERING, 0, IB_QP_CREATE_NETIF_QP, 0 },
		{ 0, IBK_RDMA_NETDEV_OPA, IB_QP_CREATE_NETDEV_USE, IB_QP_CREATE_NETDEV_USE },
	};
	struct fixture *fx = test->priv;
	struct ib_device_attr *attrs = &fx->hca->ibdev.attrs;
	const struct hca_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		attrs->device_cap_flags = examples[i].device_caps;
		attrs->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | examples[i].kernel_caps;
		KUNIT_EXPECT_EQ(test, fixture_resize(fx, 2, 64, 64), 0);
		qp = container_of(fx->priv->channels[0].tx.sq.qp, struct hca_qp, ibqp);
		KUNIT_EXPECT_EQ_MSG(test, qp->create_flags, examples[i].first, "example %d", i);
		qp = container_of(fx->priv->channels[1].tx.sq.qp, struct hca_qp, ibqp);
		KUNIT_EXPECT_EQ_MSG(test, qp->create_flags, examples[i].others, "example %d", i);
	}
}

/* Creates the queues as for a new netdevice */
static int create_again(struct fixture *fx, u32 tx_size, u32 rx_size)
{
	int err;

	rtnl_lock();
	ipoib_ahs_flush(fx->priv);
	verbs_destroy(fx->priv);
	fx->priv->queues.tx_size = tx_size;
	fx->priv->queues.rx_size = rx_size;
	err = verbs_create(fx->priv);
	rtnl_unlock();
	return err;
}

/* The segments of large packets are limited by the ring, and perhaps by the administrator */
static void qp_limits_segments(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), 0);
	KUNIT_EXPECT_EQ(test, (u32)fx->netdev->gso_max_segs, 16u);
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 256, 64), 0);
	KUNIT_EXPECT_EQ(test, (u32)fx->netdev->gso_max_segs, 64u);
	fx->netdev->gso_max_segs = 20;
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 512, 64), 0);
	KUNIT_EXPECT_EQ(test, (u32)fx->netdev->gso_max_segs, 20u);
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), 0);
	KUNIT_EXPECT_EQ(test, (u32)fx->netdev->gso_max_segs, 16u);
}

/* Rings are shortened until the HCA can hold them, then WRs */
static void qp_fits_hca(struct kunit *test)
{
	static const struct {
		u32 send_room, cq_room, tx_size, rx_size, sges;
	} examples[] = {
		{ 0, 0, 8192, 1024, IPOIB_TX_SGE_MAX },
		{ 8192 * (64 + 16 * IPOIB_TX_SGE_MAX), 0, 8192, 1024, IPOIB_TX_SGE_MAX },
		{ 8192 * (64 + 16 * IPOIB_TX_SGE_MAX) - 1, 0, 4096, 1024, IPOIB_TX_SGE_MAX },
		{ 0, 8191, 4096, 1024, IPOIB_TX_SGE_MAX },
		{ 0, 512, 512, 512, IPOIB_TX_SGE_MAX },
		{ 64 * (64 + 16 * IPOIB_TX_SGE_MAX), 0, 64, 128, IPOIB_TX_SGE_MAX },
		{ 64 * (64 + 16 * IPOIB_TX_SGE_MAX) - 1, 0, 64, 64, IPOIB_TX_SGE_MAX / 2 },
		{ 64 * (64 + 16), 0, 64, 64, 1 },
	};
	struct fixture *fx = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		fx->hca->send_room = examples[i].send_room;
		fx->hca->cq_room = examples[i].cq_room;
		KUNIT_ASSERT_EQ(test, create_again(fx, 8192, 1024), 0);
		KUNIT_EXPECT_EQ_MSG(test, fx->priv->queues.tx_size, examples[i].tx_size,
				    "example %d", i);
		KUNIT_EXPECT_EQ_MSG(test, fx->priv->queues.rx_size, examples[i].rx_size,
				    "example %d", i);
		KUNIT_EXPECT_EQ_MSG(test, (u32)fx->priv->max_sge, examples[i].sges,
				    "example %d", i);
		KUNIT_EXPECT_EQ(test, fx->hca->qp->send_size, examples[i].tx_size);
		KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_QP]), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_CQ]), 2);
	}
	fx->hca->send_room = 0;
}

/* A request for rings that the HCA cannot hold fails, and the present rings are kept */
static void qp_refuses_rings(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ethtool_ops *ops = fx->netdev->ethtool_ops;
	struct ethtool_ringparam ring = { .tx_pending = 8192, .rx_pending = 512 };
	struct kernel_ethtool_ringparam kernel_ring = {};
	struct netlink_ext_ack extack = {};
	int err;

	fixture_up(test);
	fx->hca->send_room = 4096 * (64 + 16 * IPOIB_TX_SGE_MAX);
	rtnl_lock();
	err = ops->set_ringparam(fx->netdev, &ring, &kernel_ring, &extack);
	rtnl_unlock();
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, err, -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_EQ(test, fx->priv->queues.tx_size, (u32)IPOIB_TX_RING_DEFAULT);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	ring.tx_pending = 4096;
	rtnl_lock();
	err = ops->set_ringparam(fx->netdev, &ring, &kernel_ring, &extack);
	rtnl_unlock();
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, fx->priv->queues.tx_size, 4096u);
	fx->hca->send_room = 0;
}

static void qp_replaced(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ipoib_hwaddr *hwaddr = (const void *)fx->netdev->dev_addr;
	u32 before;

	fixture_up(test);
	before = ipoib_hwaddr_qpn(hwaddr);
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 128, 64), 0);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->send_size, 128u);
	KUNIT_EXPECT_EQ(test, fx->hca->qp->recv_size, 64u);
	KUNIT_EXPECT_NE(test, ipoib_hwaddr_qpn(hwaddr), before);
	KUNIT_EXPECT_EQ(test, ipoib_hwaddr_qpn(hwaddr), fx->priv->qp->qp_num);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

/* If any verb fails, the old queues are kept and the link runs again */
static void qp_cannot_be_replaced(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_queues queues;
	int n;

	for (n = 1; n <= 3; n++) {
		queues = fx->priv->queues;
		atomic_set(&fx->hca->fail_in, n);
		KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), -ENOMEM);
		KUNIT_EXPECT_EQ(test, memcmp(&queues, &fx->priv->queues, sizeof(queues)), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_CQ]), 2);
		KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_QP]), 1);
	}
	fixture_up(test);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static void cq_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_event event = { .event = IB_EVENT_CQ_ERR };
	struct ib_cq *cq;

	fixture_up(test);
	cq = fx->priv->rx.cq;
	event.element.cq = cq;
	cq->event_handler(&event, cq->cq_context);
	fixture_settle(fx);
	KUNIT_EXPECT_FALSE(test, fx->priv->cq_failed);
	KUNIT_EXPECT_PTR_NE(test, fx->priv->rx.cq, cq);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->hca->objects[HCA_CQ]), 2);
}

static u64 resets(struct fixture *fx)
{
	return fixture_count(fx, IPOIB_STAT_QP_RESETS);
}

/* While the HCA refuses a new CQ, creating it is repeated with a back-off */
static void cq_fails_for_long(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_event event = { .event = IB_EVENT_CQ_ERR };
	struct ib_cq *cq;
	int i;

	fixture_up(test);
	cq = fx->priv->rx.cq;
	event.element.cq = cq;
	/* The third verb, after the two that stop the QP */
	atomic_set(&fx->hca->fail_in, 3);
	cq->event_handler(&event, cq->cq_context);
	fixture_settle(fx);
	KUNIT_EXPECT_TRUE(test, fx->priv->cq_failed);
	KUNIT_EXPECT_EQ(test, resets(fx), 1ull);
	for (i = 0; i < 100 && READ_ONCE(fx->priv->cq_failed); i++)
		msleep(100);
	fixture_settle(fx);
	KUNIT_EXPECT_FALSE(test, fx->priv->cq_failed);
	KUNIT_EXPECT_EQ(test, resets(fx), 2ull);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static void qp_fails(struct kunit *test)
{
	static const struct {
		enum ib_event_type type;
		u64 resets;
	} events[] = {
		{ IB_EVENT_QP_FATAL, 1 },
		{ IB_EVENT_QP_REQ_ERR, 2 },
		{ IB_EVENT_QP_ACCESS_ERR, 3 },
		{ IB_EVENT_COMM_EST, 3 },
	};
	struct fixture *fx = test->priv;
	struct ib_event event = {};
	int i;

	fixture_up(test);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		event.event = events[i].type;
		fx->priv->qp->event_handler(&event, fx->priv->qp->qp_context);
		fixture_settle(fx);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS),
				events[i].resets);
		KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	}
}

static void qp_moderation_is_kept(struct kunit *test)
{
	struct ipoib_moderation moderation = {
		.rx_frames = 11, .rx_usecs = 22, .tx_frames = 33, .tx_usecs = 44,
	};
	struct fixture *fx = test->priv;
	struct hca_cq *cq;

	KUNIT_EXPECT_EQ(test, verbs_moderate(fx->priv, &moderation), 0);
	KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 64, 64), 0);
	cq = container_of(fx->priv->rx.cq, struct hca_cq, ibcq);
	KUNIT_EXPECT_EQ(test, cq->frames, 11);
	KUNIT_EXPECT_EQ(test, cq->usecs, 22);
	cq = container_of(fx->priv->channels->tx.cq, struct hca_cq, ibcq);
	KUNIT_EXPECT_EQ(test, cq->frames, 33);
	KUNIT_EXPECT_EQ(test, cq->usecs, 44);
	atomic_set(&fx->hca->fail_in, 1);
	moderation.rx_frames = 1;
	KUNIT_EXPECT_EQ(test, verbs_moderate(fx->priv, &moderation), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fx->priv->moderation.rx_frames, 11);
	atomic_set(&fx->hca->fail_in, 2);	/* that of the send CQ */
	KUNIT_EXPECT_EQ(test, verbs_moderate(fx->priv, &moderation), -ENOMEM);
	cq = container_of(fx->priv->rx.cq, struct hca_cq, ibcq);
	KUNIT_EXPECT_EQ(test, cq->frames, 11);
}

/* After an interval without packets, any number is an improvement: DIM tries the next profile */
static void qp_moderation_adapts(struct kunit *test)
{
	const struct ib_wc like = { .status = IB_WC_SUCCESS, .src_qp = 1 };
	struct ipoib_moderation fixed = { .rx_frames = 11, .rx_usecs = 22 };
	struct ipoib_moderation adaptive = { .rx_adaptive = true };
	struct fixture *fx = test->priv;
	struct hca_cq *cq = container_of(fx->priv->rx.cq, struct hca_cq, ibcq);
	int i;

	fixture_up(test);
	KUNIT_EXPECT_EQ(test, verbs_moderate(fx->priv, &adaptive), 0);
	KUNIT_EXPECT_EQ(test, cq->usecs, 0);
	for (i = 0; i < 1000 && !READ_ONCE(cq->usecs); i++)
		hca_receive(fx->hca, NULL, 100, &like);
	KUNIT_EXPECT_NE(test, cq->usecs, 0);
	KUNIT_EXPECT_GE(test, i, 64);
	KUNIT_EXPECT_EQ(test, verbs_moderate(fx->priv, &fixed), 0);
	KUNIT_EXPECT_EQ(test, cq->usecs, 22);
	for (i = 0; i < 300; i++)
		hca_receive(fx->hca, NULL, 100, &like);
	flush_work(&fx->priv->rx.dim.work);
	KUNIT_EXPECT_EQ(test, cq->usecs, 22);
}

/* DIM's work is on a kernel workqueue that may wait for memory. The link's work, which may be
 * needed to free memory, does not wait for DIM's: workqueues would warn of that as well.
 */
static void qp_stops_while_dim_works(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(gate);
	struct fixture *fx = test->priv;
	struct work_struct *work = &fx->priv->rx.dim.work;
	int i;

	fixture_up(test);
	WRITE_ONCE(fx->hca->gate, &gate);
	schedule_work(work);
	for (i = 0; i < 10000 && !(work_busy(work) & WORK_BUSY_RUNNING); i++)
		usleep_range(1000, 2000);
	fixture_down(fx);
	KUNIT_EXPECT_TRUE(test, work_busy(work) & WORK_BUSY_RUNNING);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_DOWN);
	WRITE_ONCE(fx->hca->gate, NULL);
	complete(&gate);
	flush_work(work);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(qp_ring_limit),
	KUNIT_CASE(qp_created),
	KUNIT_CASE(qp_vectors),
	KUNIT_CASE(qp_flags),
	KUNIT_CASE(qp_limits_segments),
	KUNIT_CASE(qp_fits_hca),
	KUNIT_CASE(qp_refuses_rings),
	KUNIT_CASE(qp_replaced),
	KUNIT_CASE(qp_cannot_be_replaced),
	KUNIT_CASE(cq_fails),
	KUNIT_CASE(cq_fails_for_long),
	KUNIT_CASE(qp_fails),
	KUNIT_CASE(qp_moderation_is_kept),
	KUNIT_CASE(qp_moderation_adapts),
	KUNIT_CASE(qp_stops_while_dim_works),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "ipoib_qp",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = qp_cases,
};

kunit_test_suites(&pkey_suite, &qp_suite);
