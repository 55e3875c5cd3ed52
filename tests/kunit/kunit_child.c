// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of P_Key children: which P_Keys they may have, and that they come, go, and
 * are set up and down with their parent.
 */
#include "ipoib_child.c"
#include "kunit.h"

static int create(struct fixture *fx, u16 pkey)
{
	int err;

	rtnl_lock();
	err = ipoib_child_create(fx->priv, pkey);
	rtnl_unlock();
	return err;
}

static int delete(struct fixture *fx, u16 pkey)
{
	int err;

	rtnl_lock();
	err = ipoib_child_delete(fx->priv, pkey);
	rtnl_unlock();
	return err;
}

static struct ipoib_dev *child_of(struct fixture *fx)
{
	return list_first_entry_or_null(&fx->priv->children, struct ipoib_dev, siblings);
}

/* The fixture ends with its children, as an HCA that goes */
static void child_exit(struct kunit *test)
{
	struct fixture *fx = test->priv;
	LIST_HEAD(gone);

	if (!fx)
		return;
	atomic_set(&fx->hca->fail_in, 0);
	rtnl_lock();
	ipoib_children_remove(fx->priv, &gone);
	unregister_netdevice_many(&gone);
	rtnl_unlock();
	fixture_exit(test);
}

static void child_pkeys(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, create(fx, 0x0000), -EINVAL);
	KUNIT_EXPECT_EQ(test, create(fx, 0x8000), -EINVAL);
	KUNIT_EXPECT_EQ(test, create(fx, 0xffff), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, create(fx, 0x7fff), -ENOTUNIQ);
	KUNIT_EXPECT_NULL(test, child_of(fx));
	KUNIT_EXPECT_EQ(test, create(fx, 0x0001), 0);
	KUNIT_ASSERT_NOT_NULL(test, child_of(fx));
	KUNIT_EXPECT_EQ(test, child_of(fx)->pkey, 0x8001);
	KUNIT_EXPECT_EQ(test, create(fx, 0x8001), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, create(fx, 0x0001), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, create(fx, 0x8002), 0);
	KUNIT_EXPECT_EQ(test, delete(fx, 0x8003), -ENODEV);
	KUNIT_EXPECT_EQ(test, delete(fx, 0x0001), 0);
	KUNIT_EXPECT_EQ(test, delete(fx, 0x8001), -ENODEV);
	KUNIT_EXPECT_EQ(test, child_of(fx)->pkey, 0x8002);
}

static void child_address(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct net_device *child;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8123), 0);
	child = child_of(fx)->netdev;
	KUNIT_EXPECT_EQ(test, child->broadcast[8], 0x81);
	KUNIT_EXPECT_EQ(test, child->broadcast[9], 0x23);
	KUNIT_EXPECT_EQ(test, memcmp(child->dev_addr + 4, fx->hca->gid.raw, 16), 0);
	KUNIT_EXPECT_NE(test, memcmp(child->dev_addr, fx->netdev->dev_addr, 20), 0);
	KUNIT_EXPECT_EQ(test, dev_get_iflink(child), fx->netdev->ifindex);
	KUNIT_EXPECT_PTR_EQ(test, child->rtnl_link_ops->get_link_net(child), &init_net);
}

static void child_follows_parent(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct net_device *child;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	child = child_of(fx)->netdev;
	KUNIT_EXPECT_FALSE(test, netif_running(child));
	fixture_up(test);
	KUNIT_EXPECT_TRUE(test, netif_running(child));
	fixture_down(fx);
	KUNIT_EXPECT_FALSE(test, netif_running(child));
}

/* Of its own link nothing depends on the parent's: its P_Key is not there */
static void child_without_pkey(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *child;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	child = child_of(fx);
	fixture_up(test);
	flush_workqueue(child->wq);
	KUNIT_EXPECT_EQ(test, child->link, IPOIB_LINK_WAIT_PORT);
	fx->hca->pkeys[4] = 0x8001;
	hca_event(fx->hca, IB_EVENT_PKEY_CHANGE);
	flush_workqueue(child->wq);
	KUNIT_EXPECT_EQ(test, child->link, IPOIB_LINK_WAIT_JOIN);
	KUNIT_EXPECT_EQ(test, child->pkey_index, 4);
	KUNIT_EXPECT_EQ(test, fx->priv->link, IPOIB_LINK_RUNNING);
}

static void child_mode(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct netlink_ext_ack extack = {};

	KUNIT_EXPECT_EQ(test, ipoib_set_mode(fx->priv, IPOIB_MODE_DATAGRAM, &extack), 0);
	KUNIT_EXPECT_NULL(test, extack._msg);
	KUNIT_EXPECT_EQ(test, ipoib_set_mode(fx->priv, IPOIB_MODE_CONNECTED, &extack),
			-EOPNOTSUPP);
	KUNIT_EXPECT_NOT_NULL(test, extack._msg);
}

static struct kunit_case child_cases[] = {
	KUNIT_CASE(child_pkeys),
	KUNIT_CASE(child_address),
	KUNIT_CASE(child_follows_parent),
	KUNIT_CASE(child_without_pkey),
	KUNIT_CASE(child_mode),
	{}
};

static struct kunit_suite child_suite = {
	.name = "ipoib_child",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = child_exit,
	.test_cases = child_cases,
};

kunit_test_suites(&child_suite);
