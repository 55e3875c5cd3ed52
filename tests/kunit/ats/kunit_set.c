// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of the addresses of a GID and P_Key: their slots, their holders, the primary address. */
#include <kunit/test.h>

#include "ats.h"

#define NOW	1000UL

static const struct ats_key set_key = { .pkey = 0xffff };

static void set_ip(struct in6_addr *ip, unsigned int number)
{
	ipv6_addr_set(ip, 0, 0, 0, cpu_to_be32(0x0a000000 | number));
}

static void set_ip6(struct in6_addr *ip, unsigned int number)
{
	memset(ip, 0, sizeof(*ip));
	ip->s6_addr[0] = 0xfd;
	ip->s6_addr32[3] = cpu_to_be32(number);
}

static void add(struct kunit *test, unsigned int number)
{
	struct ats_set *set = test->priv;
	struct in6_addr ip;

	set_ip(&ip, number);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ats_set_get(set, &ip, true));
}

static void drop(struct kunit *test, unsigned int number, unsigned long until)
{
	struct in6_addr ip;

	set_ip(&ip, number);
	ats_set_put(ats_set_find(test->priv, &ip), true, until);
}

/* Returns when the next address expires, or a time far away */
static unsigned long expire(struct kunit *test, unsigned long now)
{
	unsigned long next = now + 1000000;

	ats_set_expire(test->priv, now, &next);
	return next - now;
}

/* The slot of an address; -2: it is not in the set */
static int slot_of(struct kunit *test, unsigned int number)
{
	const struct ats_addr *addr;
	struct in6_addr ip;

	set_ip(&ip, number);
	addr = ats_set_find(test->priv, &ip);
	return addr ? addr->slot : -2;
}

/* Each address is in exactly the slot that it refers to */
static void check_slots(struct kunit *test)
{
	struct ats_set *set = test->priv;
	const struct ats_addr *addr;
	unsigned int with = 0, full = 0;
	int i;

	list_for_each_entry(addr, &set->order, order) {
		if (addr->slot < 0)
			continue;
		with++;
		KUNIT_EXPECT_PTR_EQ(test, (const struct ats_addr *)set->slot[addr->slot].want,
				    addr);
	}
	for (i = 0; i < ATS_SIDS; i++)
		full += !!set->slot[i].want;
	KUNIT_EXPECT_EQ(test, with, full);
	KUNIT_EXPECT_EQ(test, !list_empty(&set->order), !!set->slot[0].want);
}

static unsigned int assign(struct kunit *test)
{
	unsigned int refused = ats_set_assign(test->priv);

	check_slots(test);
	return refused;
}

static void set_all_slots(struct kunit *test)
{
	int i;

	for (i = 0; i < 256; i++) {
		add(test, i + 1);
		KUNIT_EXPECT_EQ(test, assign(test), 0u);
		KUNIT_EXPECT_EQ(test, slot_of(test, i + 1), i);
	}
	add(test, 257);
	add(test, 258);
	KUNIT_EXPECT_EQ(test, assign(test), 2u);
	KUNIT_EXPECT_EQ(test, assign(test), 0u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 257), -1);
	drop(test, 100, NOW);
	expire(test, NOW);
	KUNIT_EXPECT_EQ(test, assign(test), 0u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 257), 99);
	KUNIT_EXPECT_EQ(test, slot_of(test, 258), -1);
}

static void set_gaps(struct kunit *test)
{
	int i;

	for (i = 1; i <= 6; i++)
		add(test, i);
	assign(test);
	drop(test, 3, NOW);
	drop(test, 5, NOW);
	expire(test, NOW);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 3), -2);
	add(test, 7);
	add(test, 8);
	add(test, 9);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 7), 2);
	KUNIT_EXPECT_EQ(test, slot_of(test, 8), 4);
	KUNIT_EXPECT_EQ(test, slot_of(test, 9), 6);
	KUNIT_EXPECT_EQ(test, slot_of(test, 6), 5);
}

/* An address is held by two netdevices, moves between them, and comes back before it expires */
static void set_holders(struct kunit *test)
{
	add(test, 1);
	add(test, 1);
	assign(test);
	drop(test, 1, NOW);
	KUNIT_EXPECT_EQ(test, expire(test, NOW), 1000000ul);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	drop(test, 1, NOW + 50);
	KUNIT_EXPECT_EQ(test, expire(test, NOW), 50ul);
	KUNIT_EXPECT_EQ(test, expire(test, NOW + 49), 1ul);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	add(test, 1);
	KUNIT_EXPECT_EQ(test, expire(test, NOW + 60), 1000000ul);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	drop(test, 1, NOW + 70);
	expire(test, NOW + 70);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), -2);
	KUNIT_EXPECT_TRUE(test, list_empty(&((struct ats_set *)test->priv)->order));
}

/* In a full set, addresses without holder yield their slots at once, except for
 * the primary address
 */
static void set_lingering(struct kunit *test)
{
	int i;

	for (i = 1; i <= 256; i++)
		add(test, i);
	assign(test);
	drop(test, 1, NOW + 50);
	drop(test, 9, NOW + 50);
	add(test, 300);
	add(test, 301);
	KUNIT_EXPECT_EQ(test, assign(test), 1u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 300), 8);
	KUNIT_EXPECT_EQ(test, slot_of(test, 301), -1);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	expire(test, NOW + 50);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 2), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 301), 1);
}

static void set_primary(struct kunit *test)
{
	struct ats_set *set = test->priv;
	struct in6_addr ip6, choice;

	set_ip6(&ip6, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ats_set_get(set, &ip6, true));
	assign(test);
	KUNIT_EXPECT_EQ(test, ats_set_find(set, &ip6)->slot, 0);
	add(test, 1);
	add(test, 2);
	add(test, 3);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	KUNIT_EXPECT_EQ(test, ats_set_find(set, &ip6)->slot, 1);

	/* The administrator chooses another primary address: the former one gets a free slot */
	set_ip(&choice, 3);
	set->choice = choice;
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 3), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 4);
	KUNIT_EXPECT_EQ(test, slot_of(test, 2), 2);
	drop(test, 3, NOW);
	expire(test, NOW);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	add(test, 3);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 3), 0);
	set->choice = in6addr_any;
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
}

static void set_primary_of_full(struct kunit *test)
{
	struct ats_set *set = test->priv;
	struct in6_addr choice;
	int i;

	for (i = 1; i <= 257; i++)
		add(test, i);
	assign(test);
	set_ip(&choice, 50);
	set->choice = choice;
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 50), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 49);

	/* The chosen address has no slot: the former primary address loses its own */
	set_ip(&choice, 257);
	set->choice = choice;
	KUNIT_EXPECT_EQ(test, assign(test), 1u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 257), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 50), -1);
	drop(test, 257, NOW);
	expire(test, NOW);
	assign(test);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 50), 49);
}

static int set_init(struct kunit *test)
{
	test->priv = ats_set_create(&set_key);
	return test->priv ? 0 : -ENOMEM;
}

/* Addresses that only guests hold yield to those of the host, also as the primary address */
static void set_guests(struct kunit *test)
{
	struct ats_set *set = test->priv;
	struct in6_addr ip;
	unsigned int i;

	for (i = 0; i < ATS_SIDS; i++) {
		set_ip(&ip, i + 1);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ats_set_get(set, &ip, false));
	}
	KUNIT_EXPECT_EQ(test, ats_set_assign(set), 0u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), 0);
	add(test, 1000);
	KUNIT_EXPECT_EQ(test, ats_set_assign(set), 1u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1000), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1), -1);
	add(test, 1001);
	KUNIT_EXPECT_EQ(test, ats_set_assign(set), 0u);
	KUNIT_EXPECT_GT(test, slot_of(test, 1001), 0);
	KUNIT_EXPECT_EQ(test, slot_of(test, 2), -1);

	/* The host's address keeps its slot until it expires; guests do not displace each other */
	drop(test, 1000, jiffies + HZ);
	KUNIT_EXPECT_EQ(test, ats_set_assign(set), 1u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 1000), 0);
	set_ip(&ip, 2000);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ats_set_get(set, &ip, false));
	KUNIT_EXPECT_EQ(test, ats_set_assign(set), 1u);
	KUNIT_EXPECT_EQ(test, slot_of(test, 2000), -1);
}

static void set_exit(struct kunit *test)
{
	if (test->priv)
		ats_set_destroy(test->priv);
}

static struct kunit_case set_cases[] = {
	KUNIT_CASE(set_all_slots),
	KUNIT_CASE(set_gaps),
	KUNIT_CASE(set_holders),
	KUNIT_CASE(set_lingering),
	KUNIT_CASE(set_primary),
	KUNIT_CASE(set_primary_of_full),
	KUNIT_CASE(set_guests),
	{}
};

static struct kunit_suite set_suite = {
	.name = "ats_set",
	.init = set_init,
	.exit = set_exit,
	.test_cases = set_cases,
};

kunit_test_suites(&set_suite);
