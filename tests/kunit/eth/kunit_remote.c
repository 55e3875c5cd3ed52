// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of the MAC addresses that interfaces of the IPoIB link have.
 */
#include <linux/delay.h>

#include "eipoib_remote.c"
#include "kunit.h"

/* That of fixture_peer(1), computed by another implementation of SipHash-2-4. Hosts with other
 * versions of this module have to agree on it.
 */
static const u8 first_mac[ETH_ALEN] = { 0x42, 0x96, 0x47, 0x3e, 0x68, 0xc0 };

static struct eipoib_remotes *remotes_make(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_remotes *remotes = kunit_kzalloc(test, sizeof(*remotes), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, remotes);
	KUNIT_ASSERT_EQ(test, eipoib_remotes_init(remotes, fx->eth), 0);
	return remotes;
}

static struct eipoib_lladdr nth(u32 number)
{
	struct eipoib_lladdr lladdr = fixture_peer(0);

	put_unaligned_be32(number, &lladdr.gid[12]);
	return lladdr;
}

static void remote_has_one_mac(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test), *others = remotes_make(test);
	struct eipoib_lladdr lladdr = fixture_peer(1), found;
	u8 mac[ETH_ALEN], again[ETH_ALEN];

	KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(remotes, &lladdr, mac));
	KUNIT_EXPECT_EQ(test, memcmp(mac, first_mac, ETH_ALEN), 0);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_is(remotes, mac));
	/* Whatever the flags are, and at another host */
	lladdr.flags = 0x80;
	KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(remotes, &lladdr, again));
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(mac, again));
	KUNIT_EXPECT_FALSE(test, eipoib_remote_is(others, mac));
	KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(others, &lladdr, again));
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(mac, again));
	eipoib_remote_mac_of(&lladdr, again);
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(mac, again));
	KUNIT_EXPECT_TRUE(test, eipoib_remote_lladdr(remotes, mac, &found));
	KUNIT_EXPECT_TRUE(test, eipoib_lladdr_equal(&found, &lladdr));
	eipoib_remotes_destroy(others);
	eipoib_remotes_destroy(remotes);
}

static void remote_macs_differ(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test);
	struct eipoib_lladdr lladdr = fixture_peer(1);
	u8 mac[ETH_ALEN];
	int bit;

	for (bit = 8; bit < 8 * INFINIBAND_ALEN; bit++) {
		lladdr = fixture_peer(1);
		((u8 *)&lladdr)[bit / 8] ^= BIT(bit % 8);
		KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(remotes, &lladdr, mac));
		KUNIT_EXPECT_FALSE(test, ether_addr_equal(mac, first_mac));
		KUNIT_EXPECT_EQ_MSG(test, mac[0] & 0x0f, 2, "a local address of one station");
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&remotes->by_mac.nelems), 8 * 19);
	eipoib_remotes_destroy(remotes);
}

/* Has an interface take the MAC address that another one would have */
static void mac_take(struct kunit *test, struct eipoib_remotes *remotes,
		     const struct eipoib_lladdr *taker, const struct eipoib_lladdr *other)
{
	struct remote *remote;

	rcu_read_lock();
	remote = remote_find(remotes, taker);
	rcu_read_unlock();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, remote);
	rhashtable_remove_fast(&remotes->by_mac, &remote->mac_node, mac_params);
	mac_compute(other, remote->mac);
	KUNIT_ASSERT_EQ(test, rhashtable_insert_fast(&remotes->by_mac, &remote->mac_node,
						     mac_params), 0);
}

/* Expects that the first interface gets a MAC address that is not the computed one, and that it is
 * reached by that
 */
static void expect_another(struct kunit *test, struct eipoib_remotes *remotes, u8 *mac)
{
	struct eipoib_lladdr lladdr = fixture_peer(1), found = { };
	u8 again[ETH_ALEN];

	KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(remotes, &lladdr, mac));
	KUNIT_EXPECT_FALSE(test, ether_addr_equal(mac, first_mac));
	KUNIT_EXPECT_EQ(test, mac[0] & 0x0f, 2);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_lladdr(remotes, mac, &found));
	KUNIT_EXPECT_TRUE(test, eipoib_lladdr_equal(&found, &lladdr));
	KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(remotes, &lladdr, again));
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(mac, again));
}

static void remote_macs_collide(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test);
	struct eipoib_lladdr lladdr = fixture_peer(1), taker;
	u8 mac[ETH_ALEN], again[ETH_ALEN];

	taker = nth(1000);
	mac_take(test, remotes, &taker, &lladdr);
	expect_another(test, remotes, mac);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_mac(remotes, &taker, again));
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(again, first_mac));
	eipoib_remotes_destroy(remotes);
}

/* The MAC address of a host of the Ethernet side stays its own, whoever has searched for a
 * link-layer address that leads to it; and which one is had instead cannot be told beforehand
 */
static void remote_of_guest(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test), *others = remotes_make(test);
	struct in6_addr ip = eipoib_ip4(htonl(0x0a000001));
	u8 mac[ETH_ALEN], again[ETH_ALEN];
	struct fixture *fx = test->priv;

	eipoib_ip_set(&fx->eth->local, &ip, first_mac);
	expect_another(test, remotes, mac);
	KUNIT_EXPECT_FALSE(test, eipoib_remote_is(remotes, first_mac));
	expect_another(test, others, again);
	KUNIT_EXPECT_FALSE(test, ether_addr_equal(mac, again));
	eipoib_remotes_destroy(others);
	eipoib_remotes_destroy(remotes);
}

/* Likewise the addresses of the netdevice itself: that on the Ethernet side, and the one that other
 * hosts compute
 */
static void remote_of_host(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test);
	struct fixture *fx = test->priv;
	u8 mac[ETH_ALEN];

	rtnl_lock();
	eth_hw_addr_set(fx->netdev, first_mac);
	rtnl_unlock();
	expect_another(test, remotes, mac);
	eipoib_remotes_destroy(remotes);
	rtnl_lock();
	eth_hw_addr_set(fx->netdev, guest_mac);
	rtnl_unlock();
	remotes = remotes_make(test);
	ether_addr_copy(fx->eth->own_mac, first_mac);
	expect_another(test, remotes, mac);
	eipoib_remotes_destroy(remotes);
}

/* And that of a host with a QPN of its own, of which no IP address need be known */
static void remote_of_slave(struct kunit *test)
{
	struct eipoib_dev *slave = kunit_kzalloc(test, sizeof(*slave), GFP_KERNEL);
	struct eipoib_remotes *remotes = remotes_make(test);
	struct fixture *fx = test->priv;
	u8 mac[ETH_ALEN];

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, slave);
	ether_addr_copy(slave->slave.mac, first_mac);
	hlist_add_head_rcu(&slave->slave.key_node,
			   &fx->eth->slaves.by_mac[eipoib_slave_bucket(first_mac)]);
	fx->eth->slaves.dedicated = 1;
	expect_another(test, remotes, mac);
	fx->eth->slaves.dedicated = 0;
	hlist_del_rcu(&slave->slave.key_node);
	synchronize_net();
	eipoib_remotes_destroy(remotes);
}

static void remote_flags(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test);
	struct eipoib_lladdr lladdr = fixture_peer(1), found;
	u8 mac[ETH_ALEN];

	lladdr.flags = 0x80;
	/* Not known yet */
	eipoib_remote_set_flags(remotes, &lladdr);
	eipoib_remote_mac(remotes, &lladdr, mac);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_lladdr(remotes, mac, &found));
	KUNIT_EXPECT_EQ(test, found.flags, 0);
	eipoib_remote_set_flags(remotes, &lladdr);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_lladdr(remotes, mac, &found));
	KUNIT_EXPECT_EQ(test, found.flags, 0x80);
	/* Those of a packet's sender do not count */
	lladdr.flags = 0;
	eipoib_remote_mac(remotes, &lladdr, mac);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_lladdr(remotes, mac, &found));
	KUNIT_EXPECT_EQ(test, found.flags, 0x80);
	eipoib_remotes_destroy(remotes);
}

static void remote_limit(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test);
	struct eipoib_lladdr lladdr;
	u8 mac[ETH_ALEN];
	u32 n;

	for (n = 0; n < EIPOIB_REMOTES_MAX + 10; n++) {
		lladdr = nth(n);
		if (!eipoib_remote_mac(remotes, &lladdr, mac))
			break;
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, n, EIPOIB_REMOTES_MAX + 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&remotes->by_lladdr.nelems), EIPOIB_REMOTES_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&remotes->by_mac.nelems), EIPOIB_REMOTES_MAX);
	KUNIT_EXPECT_EQ(test, fixture_count(test->priv, "remote_evicted"), 10ull);
	for (n = 0; n < 20; n++) {
		lladdr = nth(n);
		eipoib_remote_mac_of(&lladdr, mac);
		KUNIT_EXPECT_EQ_MSG(test, eipoib_remote_is(remotes, mac), n >= 10, "%u", n);
	}
	eipoib_remotes_destroy(remotes);
}

static void remote_expires(struct kunit *test)
{
	struct eipoib_remotes *remotes = remotes_make(test);
	struct eipoib_lladdr lladdr = nth(1), other = nth(2), found;
	u8 mac[ETH_ALEN], other_mac[ETH_ALEN];

	eipoib_remote_mac(remotes, &lladdr, mac);
	eipoib_remote_mac(remotes, &other, other_mac);
	msleep(1200);
	/* It has been sent to */
	eipoib_remote_lladdr(remotes, other_mac, &found);
	eipoib_remotes_expire(remotes, 10 * HZ);
	KUNIT_EXPECT_TRUE(test, eipoib_remote_is(remotes, mac));
	eipoib_remotes_expire(remotes, HZ);
	KUNIT_EXPECT_FALSE(test, eipoib_remote_is(remotes, mac));
	KUNIT_EXPECT_TRUE(test, eipoib_remote_is(remotes, other_mac));
	eipoib_remotes_expire(remotes, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&remotes->by_lladdr.nelems), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&remotes->by_mac.nelems), 0);
	eipoib_remotes_destroy(remotes);
}

static struct kunit_case remote_cases[] = {
	KUNIT_CASE(remote_has_one_mac),
	KUNIT_CASE(remote_macs_differ),
	KUNIT_CASE(remote_macs_collide),
	KUNIT_CASE(remote_of_guest),
	KUNIT_CASE(remote_of_host),
	KUNIT_CASE(remote_of_slave),
	KUNIT_CASE(remote_flags),
	KUNIT_CASE(remote_limit),
	KUNIT_CASE(remote_expires),
	{}
};

static struct kunit_suite remote_suite = {
	.name = "eipoib_remote",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = remote_cases,
};

kunit_test_suite(remote_suite);
