// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of error paths. In each of probe, open, link and child, the first
 * allocation fails, then the second and so on, and likewise each verb. No
 * object may be left, and the next attempt has to succeed.
 *
 * Allocations fail by the kernel's failslab and fail_page_alloc, which have to
 * be configured: see tests/cases/kunit.sh.
 */
#include <linux/rtnetlink.h>
#include <linux/sched.h>

#include "kunit.h"

/* The operation under test */
struct attempt {
	struct fixture *fx;
	int (*act)(struct fixture *fx);
	void (*undo)(struct fixture *fx);
	bool verbs;		/* verbs fail instead of allocations */
	unsigned int least;	/* at least so many must fail, else fault injection does not work */
	int before;		/* objects of the HCA before the attempt */
};

/* Without a netdevice, as these tests create their own */
static int unwind_init(struct kunit *test)
{
	struct fixture *fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);

	if (!fx)
		return -ENOMEM;
	fx->hca = hca_register();
	test->priv = fx;
	return fx->hca ? 0 : -ENOMEM;
}

static void unwind_exit(struct kunit *test)
{
	struct fixture *fx = test->priv;

	if (!fx || !fx->hca)
		return;
	KUNIT_EXPECT_EQ(test, hca_leaks(fx->hca), 0);
	hca_unregister(fx->hca);
}

static int probe(struct fixture *fx)
{
	int err = driver_probe();

	if (err)
		return err;
	fx->netdev = driver_netdev(&fx->hca->ibdev);
	if (fx->netdev) {
		fx->priv = ipoib_priv(fx->netdev);
		fx->port = fx->priv->port;
		return 0;
	}
	driver_remove();
	return -ENODEV;
}

static void unprobe(struct fixture *fx)
{
	driver_remove();
	fx->netdev = NULL;
	fx->priv = NULL;
	fx->port = NULL;
}

static int open(struct fixture *fx)
{
	int err;

	rtnl_lock();
	err = dev_open(fx->netdev, NULL);
	rtnl_unlock();
	return err;
}

static void close(struct fixture *fx)
{
	rtnl_lock();
	dev_close(fx->netdev);
	rtnl_unlock();
	fixture_settle(fx);
}

static int child(struct fixture *fx)
{
	int err;

	rtnl_lock();
	err = ipoib_child_create(fx->priv, 0x8001);
	rtnl_unlock();
	return err;
}

static void unchild(struct fixture *fx)
{
	fixture_child_delete(fx, 0x8001);
}

/* Runs the driver's own allocations for a netdevice, without registering it: what the stack
 * allocates on registration is not under test, and its sysctls print stack dumps on failure.
 */
static int init(struct fixture *fx, struct ipoib_port *port)
{
	struct net_device *netdev;
	struct ipoib_dev *priv;
	int err;

	netdev = alloc_netdev(sizeof(*priv), "kunit%d", NET_NAME_ENUM, ipoib_setup);
	if (!netdev)
		return -ENOMEM;
	priv = ipoib_priv(netdev);
	priv->parent = fx->netdev;
	priv->pkey = priv->parent ? 0x8001 : 0xffff;
	err = ipoib_bind(priv, port);
	if (!err)
		err = netdev->netdev_ops->ndo_init(netdev);
	if (!err) {
		netdev->netdev_ops->ndo_uninit(netdev);
		netdev->priv_destructor(netdev);
	}
	free_netdev(netdev);
	return err;
}

static int init_locked(struct fixture *fx)
{
	struct ipoib_port *port = fx->port;
	int err;

	if (!port)
		port = ipoib_port_create(&fx->hca->ibdev, 1, &ipoib_sa_ops);
	if (IS_ERR(port))
		return PTR_ERR(port);
	rtnl_lock();
	err = init(fx, port);
	rtnl_unlock();
	if (!fx->port)
		ipoib_port_destroy(port);
	return err;
}

static void nothing(struct fixture *fx)
{
}

/* Fails the N-th allocation or verb. Returns whether there were that many. */
static bool act_with_fault(struct attempt *attempt, unsigned int n, int *err)
{
	struct fixture *fx = attempt->fx;
	bool failed;

	if (attempt->verbs)
		atomic_set(&fx->hca->fail_in, n);
	else
		WRITE_ONCE(current->fail_nth, n);
	*err = attempt->act(fx);
	failed = attempt->verbs ? atomic_read(&fx->hca->fail_in) <= 0 : !current->fail_nth;
	WRITE_ONCE(current->fail_nth, 0);
	atomic_set(&fx->hca->fail_in, 0);
	return failed;
}

static bool one_fault(struct kunit *test, struct attempt *attempt, unsigned int n)
{
	struct fixture *fx = attempt->fx;
	bool failed;
	int err;

	failed = act_with_fault(attempt, n, &err);
	if (!err)
		attempt->undo(fx);
	if (fx->netdev)
		fixture_grace(fx);
	KUNIT_EXPECT_EQ_MSG(test, hca_leaks(fx->hca), attempt->before, "after fault %u", n);
	if (!failed)
		KUNIT_EXPECT_EQ(test, err, 0);
	return failed;
}

static void each_fault(struct kunit *test, struct attempt *attempt)
{
	unsigned int n = 0;

	attempt->fx = test->priv;
	attempt->before = hca_leaks(attempt->fx->hca);
	while (one_fault(test, attempt, n + 1))
		n++;
	kunit_info(test, "%u in turn failed\n", n);
	KUNIT_EXPECT_GE(test, n, attempt->least);
}

static void init_allocations(struct kunit *test)
{
	struct attempt attempt = { .act = init_locked, .undo = nothing, .least = 10 };

	each_fault(test, &attempt);
}

static void init_verbs(struct kunit *test)
{
	struct attempt attempt = {
		.act = init_locked,
		.undo = nothing,
		.verbs = true,
		.least = 5,
	};

	each_fault(test, &attempt);
}

static void probe_verbs(struct kunit *test)
{
	struct attempt attempt = { .act = probe, .undo = unprobe, .verbs = true, .least = 6 };

	each_fault(test, &attempt);
}

static void with_netdev(struct kunit *test, struct attempt *attempt)
{
	int err = probe(test->priv);

	KUNIT_ASSERT_EQ(test, err, 0);
	each_fault(test, attempt);
	unprobe(test->priv);
}

static void open_allocations(struct kunit *test)
{
	struct attempt attempt = { .act = open, .undo = close, .least = 4 };

	with_netdev(test, &attempt);
}

/* The last event of a QP arrives when the rest of the netdevice is gone. The
 * work that it starts must not use freed memory, which KASAN would detect.
 */
static void init_event_at_end(struct kunit *test)
{
	struct attempt attempt = {
		.act = init_locked,
		.undo = nothing,
		.verbs = true,
		.least = 4,
	};
	struct fixture *fx = test->priv;

	fx->hca->dies_loudly = true;
	each_fault(test, &attempt);
	KUNIT_EXPECT_GT(test, fx->hca->deaths, 0u);
}

static void child_init_allocations(struct kunit *test)
{
	struct attempt attempt = { .act = init_locked, .undo = nothing, .least = 10 };

	with_netdev(test, &attempt);
}

static void child_verbs(struct kunit *test)
{
	struct attempt attempt = { .act = child, .undo = unchild, .verbs = true, .least = 4 };

	with_netdev(test, &attempt);
}

/* Runs the control path with a fault on its own workqueue, where nothing else runs */
struct faulty_work {
	struct work_struct work;
	struct ipoib_dev *priv;
	unsigned int n;
	struct completion is_up;
	bool failed;
	bool lacks_group;		/* after the fault, though the QP runs */
	bool has_group;			/* after another run */
};

static void faulty_run(struct work_struct *work)
{
	struct faulty_work *faulty = container_of(work, struct faulty_work, work);
	struct work_struct *link = &faulty->priv->link.work.work;
	struct work_struct *groups = &faulty->priv->groups.work.work;

	WRITE_ONCE(current->fail_nth, faulty->n);
	link->func(link);
	groups->func(groups);
	groups->func(groups);
	faulty->failed = !current->fail_nth;
	WRITE_ONCE(current->fail_nth, 0);
}

/* The failed operation is repeated without any event */
static bool link_recovers(struct fixture *fx)
{
	int i;

	for (i = 0; i < 100 && READ_ONCE(fx->priv->link.state) != IPOIB_LINK_RUNNING; i++) {
		msleep(50);
		fixture_settle(fx);
	}
	return fx->priv->link.state == IPOIB_LINK_RUNNING;
}

/* QP, groups and AHs are created again while an allocation fails */
static bool link_with_fault(struct kunit *test, unsigned int n)
{
	struct fixture *fx = test->priv;
	struct faulty_work faulty = { .priv = fx->priv, .n = n };

	INIT_WORK_ONSTACK(&faulty.work, faulty_run);
	set_bit(IPOIB_EVENT_HEAVY, &fx->priv->link.events);
	queue_work(fx->priv->wq, &faulty.work);
	fixture_settle(fx);
	destroy_work_on_stack(&faulty.work);
	KUNIT_EXPECT_TRUE_MSG(test, link_recovers(fx), "after fault %u", n);
	return faulty.failed;
}

/* Runs the link's work with a fault as soon as the interface is up, and once more if there was no
 * memory for the broadcast group. Nothing else runs on the workqueue meanwhile.
 */
static void faulty_join(struct work_struct *work)
{
	struct faulty_work *faulty = container_of(work, struct faulty_work, work);
	struct ipoib_dev *priv = faulty->priv;
	struct work_struct *link = &priv->link.work.work;

	wait_for_completion(&faulty->is_up);
	WRITE_ONCE(current->fail_nth, faulty->n);
	link->func(link);
	faulty->failed = !current->fail_nth;
	WRITE_ONCE(current->fail_nth, 0);
	faulty->lacks_group = priv->qp_running && !priv->groups.broadcast;
	if (faulty->lacks_group)
		link->func(link);
	faulty->has_group = priv->groups.broadcast;
}

static void open_with_fault(struct kunit *test, struct faulty_work *faulty)
{
	struct fixture *fx = test->priv;

	INIT_WORK_ONSTACK(&faulty->work, faulty_join);
	init_completion(&faulty->is_up);
	queue_work(fx->priv->wq, &faulty->work);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_open(fx->netdev, NULL), 0);
	rtnl_unlock();
	complete(&faulty->is_up);
	flush_work(&faulty->work);
	destroy_work_on_stack(&faulty->work);
}

/* A link that is up but for its broadcast group, for which there was no memory, creates it at its
 * next look at the port, though nothing has happened.
 */
static void broadcast_allocation(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct faulty_work faulty = { .priv = fx->priv };
	unsigned int lacking = 0;

	do {
		faulty.n++;
		open_with_fault(test, &faulty);
		lacking += faulty.lacks_group;
		KUNIT_EXPECT_TRUE_MSG(test, faulty.has_group || !faulty.lacks_group,
				      "after fault %u", faulty.n);
		KUNIT_EXPECT_TRUE(test, link_recovers(fx));
		fixture_down(fx);
	} while (faulty.failed);
	kunit_info(test, "%u in turn failed\n", faulty.n - 1);
	KUNIT_EXPECT_GE(test, lacking, 1u);
}

/* The rings are replaced while an allocation fails: either the old ones are
 * kept, or the interface is down and can be set up again.
 */
static bool resize_with_fault(struct kunit *test, unsigned int n)
{
	struct fixture *fx = test->priv;
	bool failed;

	fixture_up(test);
	rtnl_lock();
	WRITE_ONCE(current->fail_nth, n);
	ipoib_netdev_resize(fx->priv, 1, IPOIB_RING_MIN, IPOIB_RING_MIN);
	failed = !current->fail_nth;
	WRITE_ONCE(current->fail_nth, 0);
	rtnl_unlock();
	fixture_settle(fx);
	KUNIT_EXPECT_EQ_MSG(test, fx->priv->admin_up, netif_running(fx->netdev),
			    "after fault %u", n);
	return failed;
}

static void resize_allocations(struct kunit *test)
{
	struct fixture *fx = test->priv;
	unsigned int n = 0;

	while (resize_with_fault(test, n + 1))
		n++;
	kunit_info(test, "%u in turn failed\n", n);
	KUNIT_EXPECT_GE(test, n, 8u);
	fixture_up(test);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static void link_allocations(struct kunit *test)
{
	struct fixture *fx = test->priv;
	unsigned int n = 0;
	int err;

	rtnl_lock();
	err = ipoib_netdev_resize(fx->priv, 1, IPOIB_RING_MIN, IPOIB_RING_MIN);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	fixture_up(test);
	while (link_with_fault(test, n + 1))
		n++;
	kunit_info(test, "%u in turn failed\n", n);
	KUNIT_EXPECT_GE(test, n, 10u);
}

static struct kunit_case relink_cases[] = {
	KUNIT_CASE(link_allocations),
	KUNIT_CASE(broadcast_allocation),
	KUNIT_CASE(resize_allocations),
	{}
};

static struct kunit_suite relink_suite = {
	.name = "ipoib_relink",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = relink_cases,
};

static struct kunit_case unwind_cases[] = {
	KUNIT_CASE(init_allocations),
	KUNIT_CASE(init_verbs),
	KUNIT_CASE(init_event_at_end),
	KUNIT_CASE(child_init_allocations),
	KUNIT_CASE(probe_verbs),
	KUNIT_CASE(open_allocations),
	KUNIT_CASE(child_verbs),
	{}
};

static struct kunit_suite unwind_suite = {
	.name = "ipoib_unwind",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = unwind_init,
	.exit = unwind_exit,
	.test_cases = unwind_cases,
};

kunit_test_suites(&unwind_suite, &relink_suite);
