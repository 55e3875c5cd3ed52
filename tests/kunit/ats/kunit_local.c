// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of the addresses of netdevices: sets that they share, moves, and the
 * choice of the primary address.
 */
#include <net/net_namespace.h>

#include "kunit.h"

/* Netdevices */
enum {
	ONE,
	TWO,
	THREE,
	FOUR,
};

static unsigned int refs_of(struct fake_port *fake, u8 guid, unsigned int number)
{
	struct in6_addr ip = fake_ip(number);
	const struct ats_addr *addr = ats_set_find(fake_set(fake, guid), &ip);

	return addr ? addr->refs : 0;
}

/* Sets the netdevice's addresses and the primary one that it chooses (0: none) */
static void has(struct fake_port *fake, unsigned int index, u8 guid, unsigned int first,
		unsigned int count, unsigned int choice)
{
	struct fake_dev *dev = &fake->devs[index];

	if (dev->choice != choice)
		dev->chosen_at = ++fake->choices;
	dev->choice = choice;
	fake_has(fake, index, guid, first, count);
}

/* The netdevice is removed */
static void gone(struct fake_port *fake, unsigned int index)
{
	has(fake, index, 0, 0, 0, 0);
}

/* The number of the primary address, after slots have been assigned */
static unsigned int primary(struct fake_port *fake, u8 guid)
{
	struct ats_set *set = fake_set(fake, guid);

	ats_set_assign(set);
	return set->slot[0].want ? be32_to_cpu(set->slot[0].want->ip.s6_addr32[3]) & 0xffff : 0;
}

static unsigned int locals(const struct fake_port *fake)
{
	const struct ats_local *local;
	unsigned int count = 0;

	list_for_each_entry(local, &fake->port.locals, list)
		count++;
	return count;
}

static void local_shared(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, ONE, 1, 1, 2, 0);
	has(fake, TWO, 1, 2, 2, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 2u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 3), 1u);
	gone(fake, ONE);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 0u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 1u);
	KUNIT_EXPECT_EQ(test, locals(fake), 2u);
	gone(fake, ONE);
	KUNIT_EXPECT_EQ(test, locals(fake), 2u);
	ats_local_drop_all(&fake->port);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 0u);
	KUNIT_EXPECT_EQ(test, locals(fake), 0u);
}

static void local_again(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	const struct ats_local *before;

	has(fake, ONE, 1, 1, 2, 2);
	before = fake_local(fake, 2);
	KUNIT_EXPECT_TRUE(test, fake->port.dirty);
	fake->port.dirty = false;
	fake_scan(fake);
	gone(fake, TWO);
	/* Nothing has changed, so the port's work has nothing to do */
	KUNIT_EXPECT_FALSE(test, fake->port.dirty);
	KUNIT_EXPECT_PTR_EQ(test, before, (const struct ats_local *)fake_local(fake, 2));
	has(fake, ONE, 1, 1, 3, 2);
	KUNIT_EXPECT_TRUE(test, fake->port.dirty);
	KUNIT_EXPECT_PTR_EQ(test, before, (const struct ats_local *)fake_local(fake, 2));
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 3), 1u);
	KUNIT_EXPECT_EQ(test, locals(fake), 3u);
}

/* A netdevice may have an IPv4 address with several prefixes, which the scan finds each time */
static void local_twice(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_local *local;
	LIST_HEAD(scanned);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		local = kzalloc(sizeof(*local), GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, local);
		local->net_cookie = FAKE_HOST;
		local->key = fake_key(1);
		local->ip = fake_ip(i / 2);
		list_add_tail(&local->list, &scanned);
	}
	ats_local_update(&fake->port, &scanned);
	KUNIT_EXPECT_EQ(test, locals(fake), 2u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 0), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
}

/* Addresses are listed by netdevice, whenever they were added */
static void local_place(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	const struct ats_local *local;
	unsigned int i = 0;

	has(fake, ONE, 1, 1, 2, 0);
	has(fake, TWO, 1, 11, 2, 0);
	has(fake, ONE, 1, 1, 3, 0);
	list_for_each_entry(local, &fake->port.locals, list) {
		static const unsigned int numbers[] = { 1, 2, 3, 11, 12 };
		struct in6_addr ip;

		KUNIT_ASSERT_LT(test, i, ARRAY_SIZE(numbers) + 0u);
		ip = fake_ip(numbers[i++]);
		KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&local->ip, &ip));
	}
	KUNIT_EXPECT_EQ(test, i, 5u);
}

/* A netdevice moves to another GID, then to another namespace */
static void local_moves(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, ONE, 1, 1, 2, 0);
	has(fake, ONE, 2, 1, 2, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 0u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 2, 1), 1u);
	fake->devs[ONE].net_cookie = FAKE_GUEST;
	fake_scan(fake);
	KUNIT_EXPECT_EQ(test, fake_local(fake, 1)->net_cookie, FAKE_GUEST + 0ull);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 2, 1), 1u);
	KUNIT_EXPECT_EQ(test, locals(fake), 2u);
}

/* An address that moves to another netdevice keeps its record; neither is it ever without one */
static void local_address_moves(struct kunit *test)
{
	struct in6_addr ip = fake_ip(1);
	struct fake_port *fake = test->priv;
	const struct ats_addr *addr;

	has(fake, ONE, 1, 1, 1, 0);
	ats_set_assign(fake_set(fake, 1));
	addr = ats_set_find(fake_set(fake, 1), &ip);
	fake->devs[ONE].count = 0;
	has(fake, TWO, 1, 1, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, addr,
			    (const struct ats_addr *)ats_set_find(fake_set(fake, 1), &ip));
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, locals(fake), 1u);
}

static void local_choice(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, ONE, 1, 1, 3, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	has(fake, ONE, 1, 1, 3, 2);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 2u);
	has(fake, TWO, 1, 1, 3, 3);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 3u);
	/* A change of the first one's addresses is not a choice of the primary address */
	has(fake, ONE, 1, 1, 4, 2);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 3u);
	has(fake, ONE, 1, 1, 4, 4);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 4u);
	/* When the first one withdraws its choice, that of the other one counts */
	has(fake, ONE, 1, 1, 4, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 3u);
}

/* Like has(), for a netdevice of this namespace */
static void guest_has(struct fake_port *fake, unsigned int index, u64 net_cookie,
		      unsigned int first, unsigned int count, unsigned int choice)
{
	fake->devs[index].net_cookie = net_cookie;
	has(fake, index, 1, first, count, choice);
}

/* Guests choose the primary address only among addresses that no host netdevice shares */
static void local_choice_of_guests(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	guest_has(fake, ONE, FAKE_GUEST, 1, 2, 2);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 2u);
	guest_has(fake, TWO, FAKE_GUEST + 1, 3, 2, 4);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	gone(fake, ONE);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 4u);
	has(fake, THREE, 1, 7, 2, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 7u);
	has(fake, THREE, 1, 7, 2, 8);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 8u);
	gone(fake, THREE);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 4u);
}

/* The number of addresses of a guest is limited, on all its interfaces; it may
 * add some when others are removed
 */
static void local_quota_of_guests(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	guest_has(fake, ONE, FAKE_GUEST, 1, 3, 0);
	guest_has(fake, TWO, FAKE_GUEST, 11, 3, 0);
	has(fake, THREE, 1, 21, 8, 0);
	guest_has(fake, FOUR, FAKE_GUEST + 1, 31, 2, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 3), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 11), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 12), 0u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 28), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 32), 1u);
	guest_has(fake, ONE, FAKE_GUEST, 1, 1, 0);
	guest_has(fake, TWO, FAKE_GUEST, 11, 3, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 11), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 13), 1u);
	guest_has(fake, ONE, FAKE_GUEST, 1, 8, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 0u);
}

/* The partitions about which a namespace may send queries */
static void local_partitions(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct net *net = &init_net;
	u64 guest = net->net_cookie;

	KUNIT_EXPECT_EQ(test, ats_local_guest(&fake->port, NULL), 0ull);
	KUNIT_EXPECT_EQ(test, ats_local_guest(&fake->port, net), guest);
	KUNIT_EXPECT_TRUE(test, ats_local_on_port(&fake->port, 0, 0x8001));
	KUNIT_EXPECT_FALSE(test, ats_local_on_port(&fake->port, guest, 0));
	guest_has(fake, ONE, guest, 1, 1, 0);
	KUNIT_EXPECT_TRUE(test, ats_local_on_port(&fake->port, guest, 0));
	KUNIT_EXPECT_TRUE(test, ats_local_on_port(&fake->port, guest, 0xffff));
	KUNIT_EXPECT_TRUE(test, ats_local_on_port(&fake->port, guest, 0x7fff));
	KUNIT_EXPECT_FALSE(test, ats_local_on_port(&fake->port, guest, 0x8001));
	fake->port.host_cookie = guest;
	KUNIT_EXPECT_EQ(test, ats_local_guest(&fake->port, net), 0ull);
}

/* The choice of an address that the host's netdevice does not have does not
 * make a guest's address primary
 */
static void local_choice_stale(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, ONE, 1, 1, 3, 9);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	guest_has(fake, TWO, FAKE_GUEST, 9, 1, 9);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	has(fake, ONE, 1, 1, 9, 9);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 9u);
}

/* The choice of a netdevice does not count any more when the netdevice is removed or moves */
static void local_choice_goes(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, ONE, 1, 1, 3, 2);
	has(fake, TWO, 1, 1, 3, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 2u);
	has(fake, ONE, 2, 1, 3, 3);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	KUNIT_EXPECT_EQ(test, primary(fake, 2), 3u);
	has(fake, TWO, 2, 1, 3, 2);
	gone(fake, ONE);
	KUNIT_EXPECT_EQ(test, primary(fake, 2), 2u);
	gone(fake, TWO);
	has(fake, ONE, 2, 1, 3, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 2), 1u);
}

/* An address lingers after its removal, but not if the port is going away */
static void local_linger(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	unsigned long next = jiffies + 1000 * HZ;
	struct in6_addr ip = fake_ip(1);

	ats_linger_ms = 10 * MSEC_PER_SEC;
	has(fake, ONE, 1, 1, 1, 0);
	gone(fake, ONE);
	ats_set_expire(fake_set(fake, 1), jiffies, &next);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, ats_set_find(fake_set(fake, 1), &ip));
	KUNIT_EXPECT_TRUE(test, time_before(next, jiffies + 11 * HZ));
	has(fake, ONE, 1, 1, 1, 0);
	fake->port.leaving = true;
	ats_local_drop_all(&fake->port);
	ats_set_expire(fake_set(fake, 1), jiffies, &next);
	KUNIT_EXPECT_PTR_EQ(test, ats_set_find(fake_set(fake, 1), &ip), NULL);
	has(fake, ONE, 1, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, locals(fake), 0u);
	ats_linger_ms = 0;
}

static struct kunit_case local_cases[] = {
	KUNIT_CASE(local_shared),
	KUNIT_CASE(local_again),
	KUNIT_CASE(local_twice),
	KUNIT_CASE(local_place),
	KUNIT_CASE(local_moves),
	KUNIT_CASE(local_address_moves),
	KUNIT_CASE(local_choice),
	KUNIT_CASE(local_choice_of_guests),
	KUNIT_CASE(local_choice_stale),
	KUNIT_CASE(local_quota_of_guests),
	KUNIT_CASE(local_partitions),
	KUNIT_CASE(local_choice_goes),
	KUNIT_CASE(local_linger),
	{}
};

static struct kunit_suite local_suite = {
	.name = "ats_local",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = local_cases,
};

kunit_test_suites(&local_suite);
