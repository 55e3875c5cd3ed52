// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of received messages: which of them are examined for the address that they claim.
 */
#include <kunit/test.h>
#include <linux/icmpv6.h>

#include "ipoib_srq.c"
#include "kunit.h"

struct message {
	const char *what;
	__be16 protocol;
	u8 next;		/* in the IPv6 header */
	u8 extension;		/* octets of headers before the ICMPv6 header, with NEXTHDR_DEST */
	u8 type;
	bool claims;
};

static const struct message messages[] = {
	{ "IPv4", htons(ETH_P_IP), IPPROTO_ICMPV6, 0, 136, false },
	{ "ARP", htons(ETH_P_ARP), 0, 0, 0, true },
	{ "VLAN", htons(ETH_P_8021Q), 0, 0, 0, true },
	{ "TCP", htons(ETH_P_IPV6), IPPROTO_TCP, 0, 136, false },
	{ "echo", htons(ETH_P_IPV6), IPPROTO_ICMPV6, 0, ICMPV6_ECHO_REQUEST, false },
	{ "solicitation", htons(ETH_P_IPV6), IPPROTO_ICMPV6, 0, 135, true },
	{ "router solicitation", htons(ETH_P_IPV6), IPPROTO_ICMPV6, 0, 133, true },
	{ "echo behind a header", htons(ETH_P_IPV6), NEXTHDR_DEST, 8, ICMPV6_ECHO_REPLY, false },
	{ "advertisement behind a header", htons(ETH_P_IPV6), NEXTHDR_DEST, 8, 136, true },
	{ "advertisement behind a long one", htons(ETH_P_IPV6), NEXTHDR_DEST, 248, 136, true },
};

static void message_name(const struct message *message, char *name)
{
	strscpy(name, message->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(message, messages, message_name);

/* Copies the first octets to the linear part, and the rest to a page, as srq_take() does */
static struct sk_buff *message_make(struct kunit *test, const u8 *octets, u32 len)
{
	struct sk_buff *skb = alloc_skb(SRQ_HEADERS, GFP_KERNEL);
	u32 linear = min_t(u32, len, SRQ_HEADERS);
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, octets, linear);
	if (len == linear)
		return skb;
	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page), octets + linear, len - linear);
	skb_add_rx_frag(skb, 0, page, 0, len - linear, PAGE_SIZE);
	return skb;
}

static void claims(struct kunit *test)
{
	const struct message *message = test->param_value;
	u8 octets[512] = { 0x60 };
	struct ipv6hdr *ip = (struct ipv6hdr *)octets;
	u32 len = sizeof(*ip) + message->extension;
	struct sk_buff *skb;

	ip->nexthdr = message->next;
	ip->payload_len = htons(message->extension + 32);
	octets[sizeof(*ip)] = message->extension ? IPPROTO_ICMPV6 : 0;
	octets[sizeof(*ip) + 1] = message->extension ? message->extension / 8 - 1 : 0;
	octets[len] = message->type;
	skb = message_make(test, octets, len + 32);
	skb->protocol = message->protocol;
	KUNIT_EXPECT_EQ(test, srq_makes_claim(skb), message->claims);
	kfree_skb(skb);
}

/* A message that ends before its header does claims nothing, and nothing is read behind it */
static void claims_of_short_ones(struct kunit *test)
{
	const u8 octets[48] = { 0x60, 0, 0, 0, 0, 0, IPPROTO_ICMPV6, 255 };
	struct sk_buff *skb;
	u32 len;

	for (len = 0; len <= sizeof(struct ipv6hdr); len++) {
		skb = message_make(test, octets, len);
		skb->protocol = htons(ETH_P_IPV6);
		KUNIT_EXPECT_FALSE(test, srq_makes_claim(skb));
		kfree_skb(skb);
	}
}

/* A CQ event that was due, and did not come, is not waited for after NAPI was disabled */
static void lost_event(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_srq *srq;
	struct hca_cq *cq;

	srq = ipoib_srq_create(&fx->hca->ibdev, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	cq = container_of(srq->cq, struct hca_cq, ibcq);
	ipoib_srq_flush(srq);
	KUNIT_EXPECT_TRUE(test, cq->armed);
	cq->armed = false;
	ipoib_srq_flush(srq);
	KUNIT_EXPECT_TRUE(test, cq->armed);
	ipoib_srq_destroy(srq);
}

/* Messages that have begun, and do not end, keep their WRs: the SRQ gets others when few are left,
 * although nothing completes, but not endlessly
 */
static void nearly_dry(struct kunit *test)
{
	struct ib_event low = { .event = IB_EVENT_SRQ_LIMIT_REACHED };
	struct fixture *fx = test->priv;
	struct ipoib_srq *srq = ipoib_srq_create(&fx->hca->ibdev, NULL, NULL);
	struct hca_srq *fake;
	u32 n;

	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	fake = container_of(srq->ibsrq, struct hca_srq, ibsrq);
	for (n = SRQ_FIRST; n < IPOIB_SRQ_SIZE; n += SRQ_GROWTH) {
		KUNIT_EXPECT_EQ(test, fake->posted, n);
		KUNIT_EXPECT_EQ(test, fake->limit, (u32)SRQ_LOW);
		fake->limit = 0;
		srq_event(&low, srq);
		flush_delayed_work(&srq->low_work);
		ipoib_srq_flush(srq);
	}
	KUNIT_EXPECT_EQ(test, fake->posted, (u32)IPOIB_SRQ_SIZE);
	srq_event(&low, srq);
	flush_delayed_work(&srq->low_work);
	ipoib_srq_flush(srq);
	KUNIT_EXPECT_EQ(test, fake->posted, (u32)IPOIB_SRQ_SIZE);
	ipoib_srq_destroy(srq);
}

/* A packet that is alone, or long, bypasses GRO, unless GRO holds others */
static void merged(struct kunit *test)
{
	struct ipoib_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->len = 100;
	KUNIT_EXPECT_TRUE(test, srq_needs_gro(srq, skb));
	srq->alone = true;
	KUNIT_EXPECT_FALSE(test, srq_needs_gro(srq, skb));
	srq->alone = false;
	skb->len = SRQ_MERGED + 1;
	KUNIT_EXPECT_FALSE(test, srq_needs_gro(srq, skb));
	skb->len = 0;
	kfree_skb(skb);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE_PARAM(claims, message_gen_params),
	KUNIT_CASE(claims_of_short_ones),
	KUNIT_CASE(merged),
	KUNIT_CASE(lost_event),
	KUNIT_CASE(nearly_dry),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "ipoib_srq",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = srq_cases,
};

kunit_test_suites(&srq_suite);
