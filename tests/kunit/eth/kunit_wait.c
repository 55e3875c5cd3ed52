// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of packets that wait until it is known where an IP address is.
 */
#include <linux/delay.h>

#include "kunit.h"

#define IPS	64	/* limits of the table */
#define IPS_PER_MAC	16
#define PACKETS	3

/* The packets that went on, in that order. Tests run one at a time. */
static struct sk_buff_head gone_on;

static void go_on(struct eipoib_dev *eth, struct sk_buff *skb)
{
	skb_queue_tail(&gone_on, skb);
}

static struct eipoib_wait *wait_make(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_wait *wait = kunit_kzalloc(test, sizeof(*wait), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wait);
	skb_queue_head_init(&gone_on);
	eipoib_wait_init(wait, fx->eth, EIPOIB_STAT_TX_UNANSWERED, go_on);
	return wait;
}

static void wait_unmake(struct eipoib_wait *wait)
{
	eipoib_wait_destroy(wait);
	skb_queue_purge(&gone_on);
}

static struct in6_addr ip(u32 number)
{
	return eipoib_ip4(htonl(0x0a000000 | number));
}

/* Has a packet of this sender with this mark wait. One that is refused is freed. */
static enum eipoib_waiting add_of(struct kunit *test, struct eipoib_wait *wait, u8 sender,
				  u32 number, u32 mark)
{
	const u8 mac[ETH_ALEN] = { 0x52, [5] = sender };
	struct in6_addr address = ip(number);
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	enum eipoib_waiting result;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	skb->mark = mark;
	result = eipoib_wait_add(wait, &address, mac, skb);
	if (result == EIPOIB_WAIT_REFUSED)
		kfree_skb(skb);
	return result;
}

/* There are as many senders as it takes */
static enum eipoib_waiting add(struct kunit *test, struct eipoib_wait *wait, u32 number, u32 mark)
{
	return add_of(test, wait, number / IPS_PER_MAC, number, mark);
}

static void end(struct eipoib_wait *wait, u32 number)
{
	struct in6_addr address = ip(number);

	local_bh_disable();
	eipoib_wait_end(wait, &address);
	local_bh_enable();
}

static void expect_gone_on(struct kunit *test, u32 mark)
{
	struct sk_buff *skb = skb_dequeue(&gone_on);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->mark, mark);
	kfree_skb(skb);
}

static u64 unanswered(struct kunit *test)
{
	return fixture_count(test->priv, "tx_unanswered");
}

static void wait_in_order(struct kunit *test)
{
	struct eipoib_wait *wait = wait_make(test);

	KUNIT_EXPECT_EQ(test, add(test, wait, 1, 11), EIPOIB_WAIT_FIRST);
	KUNIT_EXPECT_EQ(test, add(test, wait, 2, 21), EIPOIB_WAIT_FIRST);
	KUNIT_EXPECT_EQ(test, add(test, wait, 1, 12), EIPOIB_WAIT_MORE);
	KUNIT_EXPECT_EQ(test, add(test, wait, 1, 13), EIPOIB_WAIT_MORE);
	KUNIT_EXPECT_EQ(test, add(test, wait, 1, 14), EIPOIB_WAIT_REFUSED);
	end(wait, 3);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&gone_on), 0u);
	end(wait, 1);
	KUNIT_ASSERT_EQ(test, skb_queue_len(&gone_on), (u32)PACKETS);
	expect_gone_on(test, 11);
	expect_gone_on(test, 12);
	expect_gone_on(test, 13);
	end(wait, 2);
	expect_gone_on(test, 21);
	/* Once only */
	end(wait, 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&gone_on), 0u);
	KUNIT_EXPECT_EQ(test, unanswered(test), 0ull);
	wait_unmake(wait);
}

static void wait_limit(struct kunit *test)
{
	struct eipoib_wait *wait = wait_make(test);
	u32 n;

	for (n = 0; n < IPS; n++)
		KUNIT_EXPECT_EQ(test, add(test, wait, n, n), EIPOIB_WAIT_FIRST);
	KUNIT_EXPECT_EQ(test, add(test, wait, IPS, IPS), EIPOIB_WAIT_REFUSED);
	KUNIT_EXPECT_EQ(test, add(test, wait, 0, 0), EIPOIB_WAIT_MORE);
	end(wait, 5);
	expect_gone_on(test, 5);
	KUNIT_EXPECT_EQ(test, add(test, wait, IPS, IPS), EIPOIB_WAIT_FIRST);
	/* All that still wait are dropped, and counted */
	wait_unmake(wait);
	KUNIT_EXPECT_EQ(test, unanswered(test), (u64)IPS + 1);
}

/* One sender does not keep others' packets from waiting */
static void wait_share(struct kunit *test)
{
	struct eipoib_wait *wait = wait_make(test);
	u32 n;

	for (n = 0; n < IPS_PER_MAC; n++)
		KUNIT_EXPECT_EQ(test, add_of(test, wait, 1, n, n), EIPOIB_WAIT_FIRST);
	for (; n < IPS; n++)
		KUNIT_EXPECT_EQ(test, add_of(test, wait, 1, n, n), EIPOIB_WAIT_REFUSED);
	KUNIT_EXPECT_EQ(test, add_of(test, wait, 2, n, n), EIPOIB_WAIT_FIRST);
	/* It may wait with them */
	KUNIT_EXPECT_EQ(test, add_of(test, wait, 1, n, n), EIPOIB_WAIT_MORE);
	end(wait, 5);
	expect_gone_on(test, 5);
	KUNIT_EXPECT_EQ(test, add_of(test, wait, 1, 5, 5), EIPOIB_WAIT_FIRST);
	wait_unmake(wait);
}

/* Waits until so many are dropped, which must not be before a second after @begin */
static void expect_unanswered(struct kunit *test, u64 count, unsigned long begin)
{
	while (unanswered(test) < count && time_before(jiffies, begin + 20 * HZ))
		msleep(20);
	KUNIT_EXPECT_GE(test, jiffies - begin, (unsigned long)HZ);
	KUNIT_EXPECT_GE(test, unanswered(test), count);
}

/* Each waits for a second, counted from its own beginning */
static void wait_for_a_second(struct kunit *test)
{
	struct eipoib_wait *wait = wait_make(test);
	unsigned long first = jiffies, second;

	add(test, wait, 1, 11);
	add(test, wait, 1, 12);
	msleep(500);
	second = jiffies;
	add(test, wait, 2, 21);
	expect_unanswered(test, 1, first);
	/* It drops those of one address together */
	msleep(20);
	KUNIT_EXPECT_GE(test, unanswered(test), 2ull);
	expect_unanswered(test, 3, second);
	KUNIT_EXPECT_EQ(test, unanswered(test), 3ull);
	end(wait, 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&gone_on), 0u);
	/* It is asked for again */
	KUNIT_EXPECT_EQ(test, add(test, wait, 1, 13), EIPOIB_WAIT_FIRST);
	wait_unmake(wait);
	KUNIT_EXPECT_EQ(test, unanswered(test), 4ull);
}

static struct kunit_case wait_cases[] = {
	KUNIT_CASE(wait_in_order),
	KUNIT_CASE(wait_limit),
	KUNIT_CASE(wait_share),
	KUNIT_CASE(wait_for_a_second),
	{}
};

static struct kunit_suite wait_suite = {
	.name = "eipoib_wait",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = wait_cases,
};

kunit_test_suite(wait_suite);
