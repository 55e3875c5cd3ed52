// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the lookup of netdevices for the RDMA CM: which netdevice of a port
 * a request is for, by P_Key, GID and IP address.
 */
#include <linux/etherdevice.h>
#include <net/l3mdev.h>

#include "ipoib_rdma_cm.c"
#include "kunit.h"

#define CHILDREN	3
#define NETDEVS		(1 + CHILDREN)	/* of the port */

/* The state of this suite beside the fixture; only one test runs at a time */
static struct {
	struct list_head ports;
	struct ipoib_dev *devs[NETDEVS];	/* the parent, then its children */
	struct net_device *upper;
	struct in_ifaddr addresses[NETDEVS + 1];	/* of these, then of the upper device */
} cm;

static struct in_device *in_dev_of(struct net_device *netdev)
{
	struct in_device *in_dev;

	rtnl_lock();
	in_dev = __in_dev_get_rtnl(netdev);
	rtnl_unlock();
	return in_dev;
}

/* The netdevice with this number; NETDEVS is the upper one */
static struct net_device *netdev_number(unsigned int i)
{
	return i == NETDEVS ? cm.upper : cm.devs[i]->netdev;
}

static __be32 number_to_ip(unsigned int number)
{
	return htonl(0x0a000000 + number);
}

/* Adds the address only to the list that the lookup searches, as nothing is sent */
static void give_address(unsigned int i, unsigned int number)
{
	cm.addresses[i].ifa_local = number_to_ip(number);
	rcu_assign_pointer(in_dev_of(netdev_number(i))->ifa_list, &cm.addresses[i]);
}

static void take_addresses(void)
{
	unsigned int i;

	for (i = 0; i <= NETDEVS; i++)
		if (cm.addresses[i].ifa_local)
			rcu_assign_pointer(in_dev_of(netdev_number(i))->ifa_list, NULL);
	synchronize_rcu();
}

/* Each child's P_Key has one bit set; a test may change it */
static int make_children(struct fixture *fx)
{
	struct ipoib_dev *child;
	unsigned int i;
	int err = 0;

	rtnl_lock();
	for (i = 0; i < CHILDREN && !err; i++)
		err = ipoib_child_create(fx->priv, BIT(i));
	i = 0;
	cm.devs[i++] = fx->priv;
	list_for_each_entry(child, &fx->port->children, sibling)
		cm.devs[i++] = child;
	rtnl_unlock();
	return err;
}

static int cm_init(struct kunit *test)
{
	struct fixture *fx;
	int err;

	memset(&cm, 0, sizeof(cm));
	INIT_LIST_HEAD(&cm.ports);
	err = fixture_init(test);
	if (err)
		return err;
	fx = test->priv;
	list_add(&fx->port->node, &cm.ports);
	return make_children(fx);
}

static void remove_upper(void)
{
	if (!cm.upper)
		return;
	unregister_netdev(cm.upper);
	free_netdev(cm.upper);
}

static void cm_exit(struct kunit *test)
{
	struct fixture *fx = test->priv;

	if (!fx)
		return;
	take_addresses();
	remove_upper();
	list_del(&fx->port->node);
	fixture_exit(test);
}

/* Sets the P_Keys of all children to the parent's */
static void make_twins(void)
{
	unsigned int i;

	for (i = 1; i < NETDEVS; i++)
		cm.devs[i]->pkey = cm.devs[0]->pkey;
}

static struct net_device *find(u32 port, u16 pkey, const union ib_gid *gid,
			       const struct sockaddr *addr)
{
	struct net_device *netdev = ipoib_rdma_cm_netdev(&cm.ports, port, pkey, gid, addr);

	dev_put(netdev);
	return netdev;
}

static struct net_device *find_ip(u16 pkey, unsigned int number)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = number_to_ip(number),
	};

	return find(1, pkey, NULL, (struct sockaddr *)&addr);
}

/* If only one netdevice has the P_Key, it is chosen whatever its addresses are */
static void alone(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid other = fx->hca->gid;

	other.raw[15] ^= 1;
	give_address(0, 1);
	KUNIT_EXPECT_PTR_EQ(test, find(1, 0xffff, NULL, NULL), fx->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find(1, 0x7fff, NULL, NULL), fx->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find(1, 0xffff, &fx->hca->gid, NULL), fx->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 1), fx->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 9), fx->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0x8002, 1), cm.devs[2]->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0x0004, 9), cm.devs[3]->netdev);
	KUNIT_EXPECT_NULL(test, find(2, 0xffff, NULL, NULL));
	KUNIT_EXPECT_NULL(test, find(1, 0x8008, NULL, NULL));
	KUNIT_EXPECT_NULL(test, find(1, 0xffff, &other, NULL));
}

/* Several netdevices with one P_Key are distinguished by their addresses, with or without a GID */
static void twins(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sockaddr_in addr = { .sin_family = AF_INET };
	unsigned int i;

	make_twins();
	for (i = 0; i < NETDEVS; i++)
		give_address(i, 1 + i);
	for (i = 0; i < NETDEVS; i++) {
		addr.sin_addr.s_addr = number_to_ip(1 + i);
		KUNIT_EXPECT_PTR_EQ(test, find_ip(0x7fff, 1 + i), cm.devs[i]->netdev);
		KUNIT_EXPECT_PTR_EQ(test, find(1, 0xffff, &fx->hca->gid,
					       (struct sockaddr *)&addr), cm.devs[i]->netdev);
	}
	KUNIT_EXPECT_NULL(test, find_ip(0xffff, 9));
	addr.sin_family = AF_UNSPEC;
	KUNIT_EXPECT_NULL(test, find(1, 0xffff, NULL, (struct sockaddr *)&addr));
	KUNIT_EXPECT_PTR_EQ(test, find(1, 0xffff, NULL, NULL), fx->netdev);
}

/* The port's own netdevice has another P_Key */
static void twin_children(struct kunit *test)
{
	cm.devs[3]->pkey = cm.devs[2]->pkey;
	give_address(0, 1);
	give_address(2, 2);
	give_address(3, 3);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0x8002, 2), cm.devs[2]->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0x8002, 3), cm.devs[3]->netdev);
	KUNIT_EXPECT_NULL(test, find_ip(0x8002, 1));
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0x8001, 2), cm.devs[1]->netdev);
}

static void duplicate(struct kunit *test)
{
	make_twins();
	give_address(1, 5);
	give_address(3, 5);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 5), cm.devs[1]->netdev);
}

static const struct net_device_ops upper_ops = {};
static const struct l3mdev_ops upper_l3mdev_ops = {};

static void upper_setup(struct net_device *netdev)
{
	ether_setup(netdev);
	netdev->netdev_ops = &upper_ops;
}

/* Makes a device above the second child */
static void make_upper(struct kunit *test, bool vrf)
{
	int err;

	cm.upper = alloc_netdev(0, "upper%d", NET_NAME_ENUM, upper_setup);
	KUNIT_ASSERT_NOT_NULL(test, cm.upper);
	if (vrf) {
		cm.upper->priv_flags |= IFF_L3MDEV_MASTER;
		cm.upper->l3mdev_ops = &upper_l3mdev_ops;
	}
	KUNIT_ASSERT_EQ(test, register_netdev(cm.upper), 0);
	rtnl_lock();
	err = netdev_upper_dev_link(cm.devs[2]->netdev, cm.upper, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
}

static void unlink_upper(void)
{
	rtnl_lock();
	netdev_upper_dev_unlink(cm.devs[2]->netdev, cm.upper);
	rtnl_unlock();
}

static void address_of_upper(struct kunit *test)
{
	make_twins();
	make_upper(test, false);
	give_address(1, 1);
	give_address(2, 2);
	give_address(NETDEVS, 3);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 3), cm.upper);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 2), cm.devs[2]->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 1), cm.devs[1]->netdev);
	unlink_upper();
	KUNIT_EXPECT_NULL(test, find_ip(0xffff, 3));
}

/* The netdevice is found through its VRF, as the route to the peer uses the VRF's member */
static void address_of_vrf(struct kunit *test)
{
	make_twins();
	make_upper(test, true);
	give_address(2, 2);
	give_address(NETDEVS, 3);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 3), cm.devs[2]->netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 2), cm.devs[2]->netdev);
	unlink_upper();
}

/* The caller holds a reference to the netdevice that is returned */
static void reference(struct kunit *test)
{
	struct net_device *child = cm.devs[2]->netdev;
	int before = netdev_refcnt_read(child);

	KUNIT_EXPECT_PTR_EQ(test, ipoib_rdma_cm_netdev(&cm.ports, 1, 0x8002, NULL, NULL), child);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(child), before + 1);
	dev_put(child);
	make_twins();
	give_address(2, 2);
	KUNIT_EXPECT_PTR_EQ(test, find_ip(0xffff, 2), child);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(child), before);
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(alone),
	KUNIT_CASE(twins),
	KUNIT_CASE(twin_children),
	KUNIT_CASE(duplicate),
	KUNIT_CASE(address_of_upper),
	KUNIT_CASE(address_of_vrf),
	KUNIT_CASE(reference),
	{}
};

static struct kunit_suite cm_suite = {
	.name = "ipoib_rdma_cm",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = cm_init,
	.exit = cm_exit,
	.test_cases = cm_cases,
};

kunit_test_suites(&cm_suite);
