// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of tables of IP addresses: what is learned, what makes room, and who reads meanwhile.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "kunit.h"

#define LIMIT	64
#define LIMIT_PER_MAC	8

static struct eipoib_ip_table *table_make(struct kunit *test, u32 max, u32 max_per_mac)
{
	struct fixture *fx = test->priv;
	struct eipoib_ip_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_ASSERT_EQ(test, eipoib_ip_table_init(table, fx->eth, EIPOIB_STAT_LOCAL_EVICTED), 0);
	eipoib_ip_set_limits(table, max, max_per_mac);
	return table;
}

static struct in6_addr ip(u32 number)
{
	return eipoib_ip4(htonl(0x0a000000 | number));
}

/* Returns a MAC address, which is valid until this is called again */
static const u8 *mac(u32 number)
{
	static u8 address[ETH_ALEN];

	address[0] = 0x52;
	address[1] = 0;
	put_unaligned_be32(number, &address[2]);
	return address;
}

static enum eipoib_ip_change set(struct eipoib_ip_table *table, u32 ip_number, u32 mac_number)
{
	struct in6_addr address = ip(ip_number);

	return eipoib_ip_set(table, &address, mac(mac_number));
}

static enum eipoib_ip_change set_static(struct eipoib_ip_table *table, u32 ip_number,
					u32 mac_number)
{
	struct in6_addr address = ip(ip_number);

	return eipoib_ip_set_static(table, &address, mac(mac_number));
}

static bool has(struct eipoib_ip_table *table, u32 ip_number, u32 mac_number)
{
	struct in6_addr address = ip(ip_number);

	return eipoib_ip_is(table, &address, mac(mac_number));
}

static bool knows(struct eipoib_ip_table *table, u32 ip_number)
{
	struct in6_addr address = ip(ip_number);
	u8 any[ETH_ALEN];

	return eipoib_ip_get(table, &address, any);
}

static bool count_one(void *context, const struct eipoib_ip_info *info)
{
	(*(u32 *)context)++;
	return true;
}

static u32 entries(struct eipoib_ip_table *table)
{
	u32 count = 0;

	eipoib_ip_walk(table, 0, count_one, &count);
	return count;
}

static u32 entries_of(struct eipoib_ip_table *table, u32 mac_number)
{
	u32 count = 0;

	eipoib_ip_walk_mac(table, mac(mac_number), count_one, &count);
	return count;
}

static void ip_learned(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);

	KUNIT_EXPECT_FALSE(test, knows(table, 1));
	KUNIT_EXPECT_EQ(test, set(table, 1, 1), EIPOIB_IP_NEW);
	KUNIT_EXPECT_EQ(test, set(table, 1, 1), EIPOIB_IP_SAME);
	KUNIT_EXPECT_TRUE(test, has(table, 1, 1));
	KUNIT_EXPECT_FALSE(test, has(table, 1, 2));
	KUNIT_EXPECT_EQ(test, set(table, 1, 2), EIPOIB_IP_MOVED);
	KUNIT_EXPECT_TRUE(test, has(table, 1, 2));
	KUNIT_EXPECT_FALSE(test, has(table, 1, 1));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(table, mac(1)));
	KUNIT_EXPECT_TRUE(test, eipoib_ip_has_mac(table, mac(2)));
	KUNIT_EXPECT_EQ(test, entries(table), 1u);
	eipoib_ip_table_destroy(table);
}

static void ip_forgotten(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);
	struct in6_addr address = ip(1);

	KUNIT_EXPECT_FALSE(test, eipoib_ip_forget(table, &address));
	set(table, 1, 1);
	KUNIT_EXPECT_TRUE(test, eipoib_ip_forget(table, &address));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_forget(table, &address));
	KUNIT_EXPECT_FALSE(test, knows(table, 1));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(table, mac(1)));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_use(table, &address, mac(1)));
	eipoib_ip_table_destroy(table);
}

/* Addresses of both protocols are different ones, and found by their MAC address */
static void ip_of_mac(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);
	struct in6_addr ip4 = ip(1), found;
	struct in6_addr ip6 = { .s6_addr = { 0xfe, 0x80, [15] = 1 } };

	KUNIT_EXPECT_FALSE(test, eipoib_ip_of_mac(table, mac(1), &ip4, &found));
	set(table, 1, 1);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_of_mac(table, mac(1), &ip6, &found));
	KUNIT_EXPECT_EQ(test, eipoib_ip_set(table, &ip6, mac(1)), EIPOIB_IP_NEW);
	KUNIT_EXPECT_TRUE(test, eipoib_ip_of_mac(table, mac(1), &ip6, &found));
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&found, &ip6));
	KUNIT_EXPECT_TRUE(test, eipoib_ip_of_mac(table, mac(1), &ip4, &found));
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&found, &ip4));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_of_mac(table, mac(2), &ip4, &found));
	KUNIT_EXPECT_EQ(test, entries_of(table, 1), 2u);
	KUNIT_EXPECT_EQ(test, entries_of(table, 2), 0u);
	eipoib_ip_table_destroy(table);
}

/* A table that is full gives up its oldest entries */
static void ip_limit(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);
	struct fixture *fx = test->priv;
	u32 n;

	for (n = 0; n < LIMIT + 10; n++)
		KUNIT_EXPECT_EQ(test, set(table, n, n), EIPOIB_IP_NEW);
	KUNIT_EXPECT_EQ(test, entries(table), LIMIT);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_evicted"), 10ull);
	for (n = 0; n < LIMIT + 10; n++)
		KUNIT_EXPECT_EQ_MSG(test, has(table, n, n), n >= 10, "entry %u", n);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(table, mac(0)));
	/* A move takes no room */
	KUNIT_EXPECT_EQ(test, set(table, 20, 1000), EIPOIB_IP_MOVED);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_evicted"), 10ull);
	eipoib_ip_set_limits(table, 8, 8);
	KUNIT_EXPECT_EQ(test, entries(table), 8u);
	KUNIT_EXPECT_TRUE(test, has(table, LIMIT + 9, LIMIT + 9));
	eipoib_ip_table_destroy(table);
}

/* Of two entries, the one that is used stays, although it is the older one */
static void ip_used_stays(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, 2, 2);
	struct in6_addr address = ip(1);

	set(table, 1, 1);
	set(table, 2, 2);
	msleep(1100);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_use(table, &address, mac(2)));
	KUNIT_EXPECT_TRUE(test, eipoib_ip_use(table, &address, mac(1)));
	KUNIT_EXPECT_EQ(test, set(table, 3, 3), EIPOIB_IP_NEW);
	KUNIT_EXPECT_TRUE(test, has(table, 1, 1));
	KUNIT_EXPECT_FALSE(test, knows(table, 2));
	eipoib_ip_table_destroy(table);
}

/* One MAC address that has many IP addresses takes no room of others */
static void ip_limit_per_mac(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT_PER_MAC);
	u32 n;

	set(table, 1000, 1);
	for (n = 0; n < 100; n++)
		KUNIT_EXPECT_EQ(test, set(table, n, 2), EIPOIB_IP_NEW);
	KUNIT_EXPECT_EQ(test, entries_of(table, 2), LIMIT_PER_MAC);
	KUNIT_EXPECT_TRUE(test, has(table, 1000, 1));
	for (n = 100 - LIMIT_PER_MAC; n < 100; n++)
		KUNIT_EXPECT_TRUE(test, has(table, n, 2));
	/* Also if they move there */
	for (n = 0; n < LIMIT_PER_MAC; n++)
		set(table, 2000 + n, 3);
	KUNIT_EXPECT_EQ(test, set(table, 2000, 2), EIPOIB_IP_MOVED);
	KUNIT_EXPECT_TRUE(test, has(table, 2000, 2));
	KUNIT_EXPECT_EQ(test, entries_of(table, 2), LIMIT_PER_MAC);
	KUNIT_EXPECT_EQ(test, entries_of(table, 3), LIMIT_PER_MAC - 1);
	eipoib_ip_table_destroy(table);
}

static void ip_static(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, 4, 4);
	struct in6_addr address = ip(1);
	u32 n;

	KUNIT_EXPECT_EQ(test, set_static(table, 1, 1), EIPOIB_IP_NEW);
	KUNIT_EXPECT_EQ(test, set_static(table, 1, 1), EIPOIB_IP_SAME);
	KUNIT_EXPECT_EQ(test, set(table, 1, 1), EIPOIB_IP_SAME);
	KUNIT_EXPECT_EQ(test, set(table, 1, 2), EIPOIB_IP_CONFLICT);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_forget(table, &address));
	KUNIT_EXPECT_TRUE(test, has(table, 1, 1));
	/* What was learned becomes static */
	set(table, 2, 2);
	address = ip(2);
	KUNIT_EXPECT_EQ(test, set_static(table, 2, 2), EIPOIB_IP_MOVED);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_forget(table, &address));
	/* They stay, whatever is learned */
	for (n = 10; n < 30; n++)
		set(table, n, n);
	eipoib_ip_expire(table, 0);
	KUNIT_EXPECT_EQ(test, entries(table), 2u);
	KUNIT_EXPECT_TRUE(test, has(table, 1, 1) && has(table, 2, 2));
	set_static(table, 3, 3);
	set_static(table, 4, 4);
	KUNIT_EXPECT_EQ(test, set_static(table, 5, 5), EIPOIB_IP_REFUSED);
	KUNIT_EXPECT_EQ(test, set(table, 5, 5), EIPOIB_IP_REFUSED);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(table, mac(5)));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_delete(table, &address, mac(3)));
	KUNIT_EXPECT_TRUE(test, eipoib_ip_delete(table, &address, mac(2)));
	KUNIT_EXPECT_EQ(test, set(table, 5, 5), EIPOIB_IP_NEW);
	eipoib_ip_table_destroy(table);
}

static void ip_expires(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);
	struct in6_addr address = ip(2);

	set(table, 1, 1);
	set(table, 2, 2);
	msleep(1200);
	eipoib_ip_use(table, &address, mac(2));
	set(table, 3, 3);
	eipoib_ip_expire(table, 10 * HZ);
	KUNIT_EXPECT_EQ(test, entries(table), 3u);
	eipoib_ip_expire(table, HZ);
	KUNIT_EXPECT_FALSE(test, knows(table, 1));
	KUNIT_EXPECT_TRUE(test, has(table, 2, 2));
	KUNIT_EXPECT_TRUE(test, has(table, 3, 3));
	eipoib_ip_expire(table, 0);
	KUNIT_EXPECT_EQ(test, entries(table), 0u);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(table, mac(3)));
	eipoib_ip_table_destroy(table);
}

struct reader {
	struct eipoib_ip_table *table;
	u32 wrong;
	u32 looks;
};

/* The address is always there, and has one of two MAC addresses */
static int reads(void *context)
{
	struct reader *reader = context;
	struct in6_addr address = ip(1);
	u8 its[ETH_ALEN];

	while (!kthread_should_stop()) {
		if (!eipoib_ip_get(reader->table, &address, its) ||
		    its[0] != 0x52 || get_unaligned_be32(&its[2]) - 1 > 1)
			reader->wrong++;
		reader->looks++;
		cond_resched();
	}
	return 0;
}

static void ip_moves_while_read(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);
	struct reader *reader = kunit_kzalloc(test, sizeof(*reader), GFP_KERNEL);
	struct task_struct *task;
	u32 n;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reader);
	reader->table = table;
	set(table, 1, 1);
	task = kthread_run(reads, reader, "kunit_reader");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* The hash grows and shrinks meanwhile */
	for (n = 0; n < 2000 || !READ_ONCE(reader->looks); n++) {
		set(table, 1, 1 + n % 2);
		set(table, 100 + n % 40, n % 7);
		if (n % 40 == 39)
			eipoib_ip_set_limits(table, LIMIT - n / 40 % 2, LIMIT);
		cond_resched();
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, reader->wrong, 0u);
	KUNIT_EXPECT_GT(test, reader->looks, 0u);
	eipoib_ip_table_destroy(table);
}

/* A list that goes on after each entry, while others change */
struct listing {
	unsigned long next;
	u32 seen[16];			/* how often each of 10.0.0.x was visited */
};

static bool list_one(void *context, const struct eipoib_ip_info *info)
{
	struct listing *listing = context;

	listing->next = info->number + 1;
	listing->seen[info->ip.s6_addr[15] % ARRAY_SIZE(listing->seen)]++;
	return false;
}

static void ip_listed(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, LIMIT, LIMIT);
	struct listing listing = { };
	struct in6_addr gone = ip(3);
	u32 n, before;

	for (n = 1; n <= 8; n++)
		set(table, n, n);
	do {
		before = listing.next;
		eipoib_ip_walk(table, listing.next, list_one, &listing);
		/* One that was visited, and one that was not, go; many others come and go */
		if (before == 0) {
			eipoib_ip_forget(table, &gone);
			set(table, 1, 9);
		}
		for (n = 100; n < 140; n++)
			set(table, n * 256, n);
		for (n = 100; n < 140; n++) {
			gone = ip(n * 256);
			eipoib_ip_forget(table, &gone);
		}
	} while (listing.next != before);
	/* The one that has moved meanwhile has both MAC addresses in turn */
	KUNIT_EXPECT_EQ(test, listing.seen[1], 2u);
	KUNIT_EXPECT_EQ(test, listing.seen[3], 0u);
	for (n = 4; n <= 8; n++)
		KUNIT_EXPECT_EQ(test, listing.seen[n], 1u);
	eipoib_ip_table_destroy(table);
}

/* What the last change was */
static enum eipoib_event told;
static struct eipoib_ip_info told_info;

static void tell(struct eipoib_dev *eth, const struct eipoib_ip_info *info,
		 enum eipoib_event event)
{
	told = event;
	told_info = *info;
}

static void ip_told(struct kunit *test)
{
	struct eipoib_ip_table *table = table_make(test, 2, 2);
	struct in6_addr address = ip(1);

	table->tell = tell;
	set(table, 1, 1);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_NEW);
	set(table, 1, 2);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_MOVED);
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(told_info.mac, mac(2)));
	eipoib_ip_forget(table, &address);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_LEFT);
	set_static(table, 1, 1);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_NEW);
	KUNIT_EXPECT_TRUE(test, told_info.is_static);
	eipoib_ip_delete(table, &address, NULL);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_DELETED);
	set(table, 1, 1);
	eipoib_ip_set_limits(table, 0, 1);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_EVICTED);
	eipoib_ip_set_limits(table, 2, 2);
	set(table, 1, 1);
	eipoib_ip_expire(table, 0);
	KUNIT_EXPECT_EQ(test, told, EIPOIB_EVENT_EXPIRED);
	eipoib_ip_table_destroy(table);
}

static struct kunit_case ip_cases[] = {
	KUNIT_CASE(ip_learned),
	KUNIT_CASE(ip_forgotten),
	KUNIT_CASE(ip_of_mac),
	KUNIT_CASE(ip_limit),
	KUNIT_CASE(ip_used_stays),
	KUNIT_CASE(ip_limit_per_mac),
	KUNIT_CASE(ip_static),
	KUNIT_CASE(ip_expires),
	KUNIT_CASE(ip_moves_while_read),
	KUNIT_CASE(ip_listed),
	KUNIT_CASE(ip_told),
	{}
};

static struct kunit_suite ip_suite = {
	.name = "eipoib_ip",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ip_cases,
};

kunit_test_suite(ip_suite);
