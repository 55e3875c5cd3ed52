// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of child interfaces: valid P_Keys, netlink options, and that children
 * are created and removed, set up and down with their parent.
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

/* A netlink attribute */
struct attr {
	struct nlattr nla;
	u32 value;
};

static struct nlattr *attr_set(struct attr *attr, u16 type, size_t len, u32 value)
{
	attr->nla.nla_type = type;
	attr->nla.nla_len = nla_attr_size(len);
	attr->value = value;
	return &attr->nla;
}

/* Attributes for `ip link add`; those that are 0 are left out */
struct wish {
	u16 pkey;
	u16 mode;
	u16 umcast;
	u32 mtu;
};

static int link_make(struct fixture *fx, struct net_device *netdev, const struct wish *wish)
{
	struct nlattr *tb[IFLA_MAX + 1] = {}, *data[IFLA_IPOIB_MAX + 1] = {};
	struct attr link, mtu, pkey, mode, umcast;
	struct netlink_ext_ack extack = {};

	tb[IFLA_LINK] = attr_set(&link, IFLA_LINK, sizeof(u32), fx->netdev->ifindex);
	if (wish->mtu)
		tb[IFLA_MTU] = attr_set(&mtu, IFLA_MTU, sizeof(u32), wish->mtu);
	if (wish->pkey)
		data[IFLA_IPOIB_PKEY] = attr_set(&pkey, IFLA_IPOIB_PKEY, sizeof(u16), wish->pkey);
	if (wish->mode)
		data[IFLA_IPOIB_MODE] = attr_set(&mode, IFLA_IPOIB_MODE, sizeof(u16), wish->mode);
	if (wish->umcast)
		data[IFLA_IPOIB_UMCAST] = attr_set(&umcast, IFLA_IPOIB_UMCAST, sizeof(u16),
						   wish->umcast);
	return compat_call_newlink(&ipoib_link_ops, netdev, tb,
				   wish->pkey || wish->mode || wish->umcast ? data : NULL,
				   &extack);
}

/* Like `ip link add link ... type ipoib` */
static int add(struct fixture *fx, const struct wish *wish)
{
	struct net_device *netdev;
	int err;

	netdev = alloc_netdev_mqs(sizeof(struct ipoib_dev), "twin%d", NET_NAME_ENUM,
				  ipoib_link_ops.setup, 1, 1);
	if (!netdev)
		return -ENOMEM;
	rtnl_lock();
	err = link_make(fx, netdev, wish);
	rtnl_unlock();
	if (err)
		free_netdev(netdev);
	return err;
}

static u32 children_with(struct fixture *fx, u16 pkey)
{
	struct ipoib_dev *child;
	u32 count = 0;

	list_for_each_entry(child, &fx->port->children, sibling)
		count += child->pkey == pkey;
	return count;
}

static struct ipoib_dev *child_of(struct fixture *fx)
{
	return list_first_entry_or_null(&fx->port->children, struct ipoib_dev, sibling);
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
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8003), -ENODEV);
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x0001), 0);
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8001), -ENODEV);
	KUNIT_EXPECT_EQ(test, child_of(fx)->pkey, 0x8002);
}

/* The files of a parent are used while a child is deleted, so that does not wait for the child's
 * users. Until it is gone, its P_Key can be neither deleted nor created again.
 */
static void child_leaves(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ipoib_child_delete(fx->priv, 0x8001), 0);
	KUNIT_ASSERT_NOT_NULL(test, child_of(fx));
	KUNIT_EXPECT_EQ(test, (int)child_of(fx)->netdev->reg_state, (int)NETREG_REGISTERED);
	KUNIT_EXPECT_EQ(test, ipoib_child_delete(fx->priv, 0x8001), -ENODEV);
	KUNIT_EXPECT_EQ(test, ipoib_child_create(fx->priv, 0x8001), -ERESTARTNOINTR);
	/* Set for a system call, which this is not */
	clear_thread_flag(TIF_SIGPENDING);
	rtnl_unlock();
	flush_workqueue(ipoib_netdev_wq);
	KUNIT_EXPECT_NULL(test, child_of(fx));
	KUNIT_EXPECT_EQ(test, create(fx, 0x8001), 0);
}

/* Another user of a netdevice, who gives it back after a while */
struct holder {
	struct delayed_work work;
	struct net_device *netdev;
};

static void holder_end(struct work_struct *work)
{
	dev_put(container_of(work, struct holder, work.work)->netdev);
}

/* As long as a netdevice has users, the kernel repeats its NETDEV_UNREGISTER every second */
static void child_is_held(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct holder holder;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	holder.netdev = child_of(fx)->netdev;
	dev_hold(holder.netdev);
	INIT_DELAYED_WORK_ONSTACK(&holder.work, holder_end);
	schedule_delayed_work(&holder.work, 5 * HZ / 2);
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8001), 0);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&holder.work));
	flush_delayed_work(&holder.work);
	destroy_delayed_work_on_stack(&holder.work);
	KUNIT_EXPECT_NULL(test, child_of(fx));
}

/* Children made by rtnetlink may share a P_Key; sysfs finds only its own, by the P_Key */
static void child_twins(struct kunit *test)
{
	const struct wish parents = { .pkey = 0x7fff }, other = { .pkey = 0x8001 };
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, add(fx, &parents), 0);
	KUNIT_EXPECT_EQ(test, add(fx, &parents), 0);
	KUNIT_EXPECT_EQ(test, children_with(fx, 0xffff), 2u);
	KUNIT_EXPECT_EQ(test, create(fx, 0xffff), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, add(fx, &other), 0);
	KUNIT_EXPECT_EQ(test, create(fx, 0x8001), 0);
	KUNIT_EXPECT_EQ(test, add(fx, &other), 0);
	KUNIT_EXPECT_EQ(test, children_with(fx, 0x8001), 3u);
	KUNIT_EXPECT_EQ(test, create(fx, 0x8001), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8001), 0);
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8001), -ENODEV);
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0xffff), -ENODEV);
	KUNIT_EXPECT_EQ(test, children_with(fx, 0x8001), 2u);
	KUNIT_EXPECT_EQ(test, children_with(fx, 0xffff), 2u);
}

static void child_without_wishes(struct kunit *test)
{
	const struct wish none = {}, umcast = { .umcast = 1 };
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, add(fx, &none), 0);
	KUNIT_EXPECT_EQ(test, add(fx, &umcast), 0);
	KUNIT_EXPECT_EQ(test, children_with(fx, fx->priv->pkey), 2u);
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

/* The operations on the port's virtual functions are not available through a child */
static void child_ops(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct net_device_ops *ops = fx->netdev->netdev_ops;

	KUNIT_EXPECT_NOT_NULL(test, ops->ndo_set_vf_guid);
	KUNIT_EXPECT_NOT_NULL(test, ops->ndo_get_vf_config);
	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	ops = child_of(fx)->netdev->netdev_ops;
	KUNIT_EXPECT_NULL(test, ops->ndo_set_vf_link_state);
	KUNIT_EXPECT_NULL(test, ops->ndo_get_vf_config);
	KUNIT_EXPECT_NULL(test, ops->ndo_get_vf_stats);
	KUNIT_EXPECT_NULL(test, ops->ndo_get_vf_guid);
	KUNIT_EXPECT_NULL(test, ops->ndo_set_vf_guid);
	KUNIT_EXPECT_TRUE(test, ipoib_is_ours(child_of(fx)->netdev));
}

static void child_limit(struct kunit *test)
{
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	KUNIT_EXPECT_EQ(test, fx->port->children_count, 1u);
	fx->port->children_count = IPOIB_CHILDREN_MAX;
	KUNIT_EXPECT_EQ(test, create(fx, 0x8002), -ENOSPC);
	fx->port->children_count = IPOIB_CHILDREN_MAX - 1;
	KUNIT_EXPECT_EQ(test, create(fx, 0x8002), 0);
	KUNIT_EXPECT_EQ(test, create(fx, 0x8003), -ENOSPC);
	fx->port->children_count = 2;
	KUNIT_EXPECT_EQ(test, fixture_child_delete(fx, 0x8001), 0);
	KUNIT_EXPECT_EQ(test, fx->port->children_count, 1u);
}

static u8 last_octet(const struct net_device *netdev)
{
	return netdev->dev_addr[INFINIBAND_ALEN - 1];
}

/* A GUID set for the parent applies to its children, also to later ones */
static void child_guid(struct kunit *test)
{
	struct sockaddr_storage address = { .ss_family = ARPHRD_INFINIBAND };
	struct fixture *fx = test->priv;
	struct ipoib_dev *child;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	memcpy(address.__data, fx->netdev->dev_addr, INFINIBAND_ALEN);
	address.__data[INFINIBAND_ALEN - 1] = 0x77;
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mac_address(fx->netdev, (void *)&address, NULL),
			0);
	rtnl_unlock();
	child = child_of(fx);
	flush_workqueue(child->wq);
	driver_settle();
	KUNIT_EXPECT_EQ(test, last_octet(child->netdev), 0x77);
	KUNIT_ASSERT_EQ(test, create(fx, 0x8002), 0);
	list_for_each_entry(child, &fx->port->children, sibling)
		KUNIT_EXPECT_EQ(test, last_octet(child->netdev), 0x77);
}

/* An unsupported mode is refused and changes nothing */
static void child_options(struct kunit *test)
{
	struct nlattr *data[IFLA_IPOIB_MAX + 1] = {};
	struct fixture *fx = test->priv;
	struct attr mode, umcast;
	int err;

	data[IFLA_IPOIB_MODE] = attr_set(&mode, IFLA_IPOIB_MODE, sizeof(u16),
					 IPOIB_MODE_CONNECTED);
	data[IFLA_IPOIB_UMCAST] = attr_set(&umcast, IFLA_IPOIB_UMCAST, sizeof(u16), 1);
	rtnl_lock();
	err = ipoib_link_ops.changelink(fx->netdev, NULL, data, NULL);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, err, -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, fx->priv->umcast);
	attr_set(&mode, IFLA_IPOIB_MODE, sizeof(u16), IPOIB_MODE_DATAGRAM);
	rtnl_lock();
	err = ipoib_link_ops.changelink(fx->netdev, NULL, data, NULL);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_TRUE(test, fx->priv->umcast);
}

static void child_mtu(struct kunit *test)
{
	const struct wish small = { .mtu = 1500 }, large = { .mtu = 4092 }, jumbo = { .mtu = 4093 };
	struct fixture *fx = test->priv;

	KUNIT_EXPECT_EQ(test, add(fx, &jumbo), -EINVAL);
	KUNIT_EXPECT_EQ(test, add(fx, &small), 0);
	KUNIT_EXPECT_EQ(test, child_of(fx)->netdev->mtu, 1500u);
	KUNIT_EXPECT_EQ(test, child_of(fx)->admin_mtu, 1500u);
	KUNIT_EXPECT_EQ(test, add(fx, &large), 0);
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

/* The link of a child whose P_Key is missing does not follow the parent's link */
static void child_without_pkey(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *child;

	KUNIT_ASSERT_EQ(test, create(fx, 0x8001), 0);
	child = child_of(fx);
	fixture_up(test);
	flush_workqueue(child->wq);
	KUNIT_EXPECT_EQ(test, child->link.state, IPOIB_LINK_WAIT_PORT);
	fx->hca->pkeys[4] = 0x8001;
	hca_event(fx->hca, IB_EVENT_PKEY_CHANGE);
	flush_workqueue(child->wq);
	KUNIT_EXPECT_GE(test, child->link.state, IPOIB_LINK_WAIT_JOIN);
	KUNIT_EXPECT_EQ(test, child->pkey_index, 4);
	KUNIT_EXPECT_EQ(test, fx->priv->link.state, IPOIB_LINK_RUNNING);
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

/* The umcast option: a membership of the port is assumed to be a program's only
 * if no other netdevice of the port has joined the group
 */
static void child_umcast(struct kunit *test)
{
	const struct wish umcast = { .umcast = 1 };
	struct fixture *fx = test->priv;
	struct ipoib_dev *child;
	union ib_gid mgid;

	fixture_up(test);
	KUNIT_ASSERT_EQ(test, add(fx, &umcast), 0);
	child = child_of(fx);
	fx->fabric.taken = true;
	memcpy(&mgid, fx->netdev->broadcast + 4, sizeof(mgid));
	KUNIT_EXPECT_FALSE(test, ipoib_group_is_of_user(child, &mgid));
	mgid.raw[15] = 0x01;
	KUNIT_EXPECT_TRUE(test, ipoib_group_is_of_user(child, &mgid));
	fx->fabric.taken = false;
	KUNIT_EXPECT_FALSE(test, ipoib_group_is_of_user(child, &mgid));
}

static struct kunit_case child_cases[] = {
	KUNIT_CASE(child_pkeys),
	KUNIT_CASE(child_leaves),
	KUNIT_CASE(child_is_held),
	KUNIT_CASE(child_twins),
	KUNIT_CASE(child_without_wishes),
	KUNIT_CASE(child_address),
	KUNIT_CASE(child_ops),
	KUNIT_CASE(child_limit),
	KUNIT_CASE(child_guid),
	KUNIT_CASE(child_options),
	KUNIT_CASE(child_mtu),
	KUNIT_CASE(child_follows_parent),
	KUNIT_CASE(child_without_pkey),
	KUNIT_CASE(child_mode),
	KUNIT_CASE(child_umcast),
	{}
};

static struct kunit_suite child_suite = {
	.name = "ipoib_child",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = child_cases,
};

kunit_test_suites(&child_suite);
