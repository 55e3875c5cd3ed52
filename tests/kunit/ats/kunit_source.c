// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suite of the addresses of netdevices: sets that they share, moves, and the
 * choice of the primary address.
 */
#include <net/net_namespace.h>

#include "kunit.h"

/* Netdevices */
static const char one, two, three;

static unsigned int refs_of(struct fake_port *fake, u8 guid, unsigned int number)
{
	struct in6_addr ip = fake_ip(number);
	const struct ats_addr *addr = ats_set_find(fake_set(fake, guid), &ip);

	return addr ? addr->refs : 0;
}

/* Sets the netdevice's addresses and the primary one that it chooses (0: none) */
static void has(struct fake_port *fake, const void *owner, u8 guid, unsigned int first,
		unsigned int count, unsigned int choice)
{
	struct ats_source *source = fake_source(fake, owner, guid, first, count);

	if (choice)
		source->choice = fake_ip(choice);
	ats_source_replace(&fake->port, source);
}

/* The number of the primary address, after slots have been assigned */
static unsigned int primary(struct fake_port *fake, u8 guid)
{
	struct ats_set *set = fake_set(fake, guid);

	ats_set_assign(set);
	return set->slot[0].want ? be32_to_cpu(set->slot[0].want->ip.s6_addr32[3]) & 0xffff : 0;
}

static unsigned int sources(const struct fake_port *fake)
{
	const struct ats_source *source;
	unsigned int count = 0;

	list_for_each_entry(source, &fake->port.sources, list)
		count++;
	return count;
}

static void source_shared(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 1, 2, 0);
	has(fake, &two, 1, 2, 2, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 2u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 3), 1u);
	ats_source_drop(&fake->port, &one);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 0u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 1u);
	KUNIT_EXPECT_EQ(test, sources(fake), 1u);
	ats_source_drop(&fake->port, &one);
	KUNIT_EXPECT_EQ(test, sources(fake), 1u);
	ats_source_drop_all(&fake->port);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 0u);
	KUNIT_EXPECT_EQ(test, sources(fake), 0u);
}

static void source_again(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	const struct ats_source *before;

	has(fake, &one, 1, 1, 2, 2);
	before = ats_source_find(&fake->port, &one);
	KUNIT_EXPECT_TRUE(test, fake->port.dirty);
	fake->port.dirty = false;
	has(fake, &one, 1, 1, 2, 2);
	ats_source_drop(&fake->port, &two);
	/* Nothing has changed, so the port's work has nothing to do */
	KUNIT_EXPECT_FALSE(test, fake->port.dirty);
	KUNIT_EXPECT_PTR_EQ(test, before,
			    (const struct ats_source *)ats_source_find(&fake->port, &one));
	has(fake, &one, 1, 1, 3, 2);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 3), 1u);
	KUNIT_EXPECT_EQ(test, sources(fake), 1u);
}

/* A list that is read in parts continues behind the netdevice that it has reached */
static void source_place(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	const struct ats_source *first;

	has(fake, &one, 1, 1, 2, 0);
	has(fake, &two, 1, 11, 2, 0);
	has(fake, &one, 1, 1, 3, 0);
	first = list_first_entry(&fake->port.sources, struct ats_source, list);
	KUNIT_EXPECT_PTR_EQ(test, first->owner, (const void *)&one);
	KUNIT_EXPECT_EQ(test, first->count, 3u);
	KUNIT_EXPECT_EQ(test, sources(fake), 2u);
}

/* A netdevice moves to another GID, then to another namespace; then another
 * netdevice has its owner pointer
 */
static void source_moves(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct ats_source *source;

	has(fake, &one, 1, 1, 2, 0);
	has(fake, &one, 2, 1, 2, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 0u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 2, 1), 1u);
	source = fake_source(fake, &one, 2, 1, 2);
	source->net_cookie = FAKE_GUEST;
	ats_source_replace(&fake->port, source);
	source = ats_source_find(&fake->port, &one);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, source);
	KUNIT_EXPECT_EQ(test, source->net_cookie, FAKE_GUEST + 0ull);
	source = fake_source(fake, &one, 2, 1, 2);
	source->net_cookie = FAKE_GUEST;
	source->ifindex++;
	ats_source_replace(&fake->port, source);
	source = ats_source_find(&fake->port, &one);
	KUNIT_EXPECT_EQ(test, source->ifindex, 8);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 2, 1), 1u);
}

static void source_choice(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 1, 3, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	has(fake, &one, 1, 1, 3, 2);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 2u);
	has(fake, &two, 1, 1, 3, 3);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 3u);
	/* A change of the first one's addresses is not a choice of the primary address */
	has(fake, &one, 1, 1, 4, 2);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 3u);
	has(fake, &one, 1, 1, 4, 4);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 4u);
	/* When the first one withdraws its choice, that of the other one counts */
	has(fake, &one, 1, 1, 4, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 3u);
}

/* Like has(), for a netdevice of this namespace */
static void guest_has(struct fake_port *fake, const void *owner, u64 net_cookie,
		      unsigned int first, unsigned int count, unsigned int choice)
{
	struct ats_source *source = fake_source(fake, owner, 1, first, count);

	source->net_cookie = net_cookie;
	if (choice)
		source->choice = fake_ip(choice);
	ats_source_replace(&fake->port, source);
}

/* Guests choose the primary address only among addresses that no host netdevice shares */
static void source_choice_of_guests(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	guest_has(fake, &one, FAKE_GUEST, 1, 2, 2);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 2u);
	guest_has(fake, &two, FAKE_GUEST + 1, 3, 2, 4);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	ats_source_drop(&fake->port, &one);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 4u);
	has(fake, &three, 1, 7, 2, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 7u);
	has(fake, &three, 1, 7, 2, 8);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 8u);
	ats_source_drop(&fake->port, &three);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 4u);
}

/* The number of addresses of a guest is limited, on all its interfaces; it may
 * add some when others are removed
 */
static void source_quota_of_guests(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	guest_has(fake, &one, FAKE_GUEST, 1, 3, 0);
	guest_has(fake, &two, FAKE_GUEST, 11, 3, 0);
	has(fake, &three, 1, 21, 8, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 3), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 11), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 12), 0u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 28), 1u);
	guest_has(fake, &one, FAKE_GUEST, 1, 1, 0);
	guest_has(fake, &two, FAKE_GUEST, 11, 3, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 11), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 13), 1u);
	guest_has(fake, &one, FAKE_GUEST, 1, 8, 0);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, refs_of(fake, 1, 2), 0u);
}

/* The partitions about which a namespace may send queries */
static void source_partitions(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	struct net *net = &init_net;
	u64 guest = net->net_cookie;

	KUNIT_EXPECT_EQ(test, ats_source_guest(&fake->port, NULL), 0ull);
	KUNIT_EXPECT_EQ(test, ats_source_guest(&fake->port, net), guest);
	KUNIT_EXPECT_TRUE(test, ats_source_on_port(&fake->port, 0, 0x8001));
	KUNIT_EXPECT_FALSE(test, ats_source_on_port(&fake->port, guest, 0));
	guest_has(fake, &one, guest, 1, 1, 0);
	KUNIT_EXPECT_TRUE(test, ats_source_on_port(&fake->port, guest, 0));
	KUNIT_EXPECT_TRUE(test, ats_source_on_port(&fake->port, guest, 0xffff));
	KUNIT_EXPECT_TRUE(test, ats_source_on_port(&fake->port, guest, 0x7fff));
	KUNIT_EXPECT_FALSE(test, ats_source_on_port(&fake->port, guest, 0x8001));
	fake->port.host_cookie = guest;
	KUNIT_EXPECT_EQ(test, ats_source_guest(&fake->port, net), 0ull);
}

/* The choice of an address that the host's netdevice does not have does not
 * make a guest's address primary
 */
static void source_choice_stale(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 1, 3, 9);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	guest_has(fake, &two, FAKE_GUEST, 9, 1, 9);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	has(fake, &one, 1, 1, 9, 9);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 9u);
}

/* The choice of a netdevice does not count any more when the netdevice is removed or moves */
static void source_choice_goes(struct kunit *test)
{
	struct fake_port *fake = test->priv;

	has(fake, &one, 1, 1, 3, 2);
	has(fake, &two, 1, 1, 3, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 2u);
	has(fake, &one, 2, 1, 3, 3);
	KUNIT_EXPECT_EQ(test, primary(fake, 1), 1u);
	KUNIT_EXPECT_EQ(test, primary(fake, 2), 3u);
	has(fake, &two, 2, 1, 3, 2);
	ats_source_drop(&fake->port, &one);
	KUNIT_EXPECT_EQ(test, primary(fake, 2), 2u);
	ats_source_drop(&fake->port, &two);
	has(fake, &one, 2, 1, 3, 0);
	KUNIT_EXPECT_EQ(test, primary(fake, 2), 1u);
}

/* An address lingers after its removal, but not if the port is going away */
static void source_linger(struct kunit *test)
{
	struct fake_port *fake = test->priv;
	unsigned long next = jiffies + 1000 * HZ;
	struct in6_addr ip = fake_ip(1);

	ats_linger_ms = 10 * MSEC_PER_SEC;
	has(fake, &one, 1, 1, 1, 0);
	ats_source_drop(&fake->port, &one);
	ats_set_expire(fake_set(fake, 1), jiffies, &next);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, ats_set_find(fake_set(fake, 1), &ip));
	KUNIT_EXPECT_TRUE(test, time_before(next, jiffies + 11 * HZ));
	has(fake, &one, 1, 1, 1, 0);
	fake->port.leaving = true;
	ats_source_drop_all(&fake->port);
	ats_set_expire(fake_set(fake, 1), jiffies, &next);
	KUNIT_EXPECT_PTR_EQ(test, ats_set_find(fake_set(fake, 1), &ip), NULL);
	has(fake, &one, 1, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, sources(fake), 0u);
	ats_linger_ms = 0;
}

static struct kunit_case source_cases[] = {
	KUNIT_CASE(source_shared),
	KUNIT_CASE(source_again),
	KUNIT_CASE(source_place),
	KUNIT_CASE(source_moves),
	KUNIT_CASE(source_choice),
	KUNIT_CASE(source_choice_of_guests),
	KUNIT_CASE(source_choice_stale),
	KUNIT_CASE(source_quota_of_guests),
	KUNIT_CASE(source_partitions),
	KUNIT_CASE(source_choice_goes),
	KUNIT_CASE(source_linger),
	{}
};

static struct kunit_suite source_suite = {
	.name = "ats_source",
	.init = fake_port_init,
	.exit = fake_port_exit,
	.test_cases = source_cases,
};

kunit_test_suites(&source_suite);
