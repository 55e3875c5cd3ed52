// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of checksums that are left out on connections.
 */
#include <kunit/test.h>

#include "ipoib_csum.c"
#include "kunit.h"

#define QPN		0x123456
#define PAYLOAD		40

static void offered(struct kunit *test)
{
	static const u8 octets[] = { 0, 0x12, 0x34, 0x56, 0, 0, 0xff, 0xf4,
				     'i', 'p', 'o', 'f', 0, 0, 0, 1 };
	struct ipoib_cm_offer offer;

	omit_checksums = true;
	KUNIT_EXPECT_EQ(test, ipoib_csum_offer(&offer, QPN, 65524), sizeof(octets));
	KUNIT_EXPECT_EQ(test, memcmp(&offer, octets, sizeof(octets)), 0);
	omit_checksums = false;
	memset(&offer, 0, sizeof(offer));
	KUNIT_EXPECT_EQ(test, ipoib_csum_offer(&offer, QPN, 65524), sizeof(offer.data));
	KUNIT_EXPECT_EQ(test, memcmp(&offer.data, octets, sizeof(offer.data)), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(offer.magic), 0u);
}

/* Both sides must offer it, by all of the octets */
static void agreed(struct kunit *test)
{
	struct ipoib_cm_offer offer;

	omit_checksums = true;
	ipoib_csum_offer(&offer, QPN, 65524);
	KUNIT_EXPECT_TRUE(test, ipoib_csum_is_agreed(&offer));
	offer.flags |= cpu_to_be32(0xfffffffe);
	KUNIT_EXPECT_TRUE(test, ipoib_csum_is_agreed(&offer));
	offer.flags = cpu_to_be32(0xfffffffe);
	KUNIT_EXPECT_FALSE(test, ipoib_csum_is_agreed(&offer));
	ipoib_csum_offer(&offer, QPN, 65524);
	offer.magic ^= cpu_to_be32(1);
	KUNIT_EXPECT_FALSE(test, ipoib_csum_is_agreed(&offer));
	ipoib_csum_offer(&offer, QPN, 65524);
	omit_checksums = false;
	KUNIT_EXPECT_FALSE(test, ipoib_csum_is_agreed(&offer));
}

struct packet {
	const char *what;
	bool ip6;
	u8 protocol;
	u8 gap;			/* octets between the IP header and what is summed */
	u16 offset;		/* of the checksum */
	bool fragment;
	bool omitted;
};

#define TCP_CHECK	offsetof(struct tcphdr, check)
#define UDP_CHECK	offsetof(struct udphdr, check)

static const struct packet packets[] = {
	{ "TCP4", false, IPPROTO_TCP, 0, TCP_CHECK, false, true },
	{ "UDP4", false, IPPROTO_UDP, 0, UDP_CHECK, false, true },
	{ "TCP6", true, IPPROTO_TCP, 0, TCP_CHECK, false, true },
	{ "UDP6", true, IPPROTO_UDP, 0, UDP_CHECK, false, true },
	{ "UDP4 fragment", false, IPPROTO_UDP, 0, UDP_CHECK, true, false },
	{ "UDP4 in UDP4", false, IPPROTO_UDP, 28, UDP_CHECK, false, false },
	{ "UDP6 in UDP6", true, IPPROTO_UDP, 48, UDP_CHECK, false, false },
	{ "TCP4 in UDP4", false, IPPROTO_UDP, 28, TCP_CHECK, false, false },
	{ "TCP6 behind a header", true, IPPROTO_HOPOPTS, 8, TCP_CHECK, false, false },
	{ "UDP4 with another's offset", false, IPPROTO_UDP, 0, TCP_CHECK, false, false },
	{ "SCTP", false, IPPROTO_SCTP, 0, 8, false, false },
	{ "ICMPv6", true, IPPROTO_ICMPV6, 0, 2, false, false },
};

static void packet_name(const struct packet *packet, char *name)
{
	strscpy(name, packet->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(packet, packets, packet_name);

/* The data begin with the IP header */
static struct sk_buff *packet_make(struct kunit *test, const struct packet *packet)
{
	u32 ip_len = packet->ip6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 len = ip_len + packet->gap + PAYLOAD;
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, len);
	skb_reset_network_header(skb);
	if (packet->ip6) {
		skb->protocol = htons(ETH_P_IPV6);
		ipv6_hdr(skb)->version = 6;
		ipv6_hdr(skb)->nexthdr = packet->protocol;
		ipv6_hdr(skb)->payload_len = htons(len - ip_len);
	} else {
		skb->protocol = htons(ETH_P_IP);
		ip_hdr(skb)->version = 4;
		ip_hdr(skb)->ihl = 5;
		ip_hdr(skb)->protocol = packet->protocol;
		ip_hdr(skb)->tot_len = htons(len);
		ip_hdr(skb)->frag_off = htons(packet->fragment ? IP_MF : 0);
	}
	KUNIT_ASSERT_TRUE(test, skb_partial_csum_set(skb, ip_len + packet->gap, packet->offset));
	return skb;
}

/* What is left out is found again, although only the octets and the protocol get to the peer */
static void omitted_and_restored(struct kunit *test)
{
	const struct packet *packet = test->param_value;
	struct sk_buff *skb = packet_make(test, packet);
	u32 start = skb->csum_start;

	KUNIT_EXPECT_EQ(test, ipoib_csum_can_omit(skb), packet->omitted);
	if (packet->omitted) {
		skb->ip_summed = CHECKSUM_NONE;
		skb->csum_start = 0;
		skb->csum_offset = 0;
		KUNIT_EXPECT_TRUE(test, ipoib_csum_restore(skb));
		KUNIT_EXPECT_EQ(test, (u32)skb->ip_summed, (u32)CHECKSUM_PARTIAL);
		KUNIT_EXPECT_EQ(test, (u32)skb->csum_start, start);
		KUNIT_EXPECT_EQ(test, (u32)skb->csum_offset, (u32)packet->offset);
	}
	kfree_skb(skb);
}

static const struct packet bad_packets[] = {
	{ .what = "SCTP", .protocol = IPPROTO_SCTP },
	{ .what = "ICMPv6", .ip6 = true, .protocol = IPPROTO_ICMPV6 },
	{ .what = "fragment", .protocol = IPPROTO_UDP, .fragment = true },
};

KUNIT_ARRAY_PARAM(bad_packet, bad_packets, packet_name);

static void not_restored(struct kunit *test)
{
	struct sk_buff *skb = packet_make(test, test->param_value);

	skb->ip_summed = CHECKSUM_NONE;
	KUNIT_EXPECT_FALSE(test, ipoib_csum_restore(skb));
	kfree_skb(skb);
}

/* A packet that ends before the checksum, or within the IP header, is not read beyond its end */
static void not_restored_if_short(struct kunit *test)
{
	static const struct packet tcp = { .protocol = IPPROTO_TCP, .offset = TCP_CHECK };
	static const u32 lens[] = { 0, 1, 19, 20, 36 };
	struct sk_buff *skb;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		skb = packet_make(test, &tcp);
		skb->ip_summed = CHECKSUM_NONE;
		skb_trim(skb, lens[i]);
		KUNIT_EXPECT_FALSE(test, ipoib_csum_restore(skb));
		kfree_skb(skb);
	}
}

static struct kunit_case csum_cases[] = {
	KUNIT_CASE(offered),
	KUNIT_CASE(agreed),
	KUNIT_CASE_PARAM(omitted_and_restored, packet_gen_params),
	KUNIT_CASE_PARAM(not_restored, bad_packet_gen_params),
	KUNIT_CASE(not_restored_if_short),
	{}
};

static struct kunit_suite csum_suite = {
	.name = "ipoib_csum",
	.test_cases = csum_cases,
};

kunit_test_suites(&csum_suite);
