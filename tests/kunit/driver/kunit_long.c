// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of packets that are longer than their receivers can receive.
 */
#include <kunit/test.h>
#include <linux/udp.h>

#include "ipoib_long.c"
#include "kunit.h"

#define MTU	2044
#define PAYLOAD	5000

/* A packet that is too long */
struct long_packet {
	const char *what;
	bool ip6;
	u8 protocol;
	bool df;
	bool ignore_df;
	bool fragment;		/* it is a fragment itself */
	bool summed;		/* its checksum was computed by the stack or by another host */
	bool forwarded;		/* it has no socket */
	u32 gso_size;
	/* and what becomes of it */
	bool cut;
	u32 fragments;
};

static const struct long_packet packets[] = {
	{ .what = "UDP4", .protocol = IPPROTO_UDP, .fragments = 3 },
	{ .what = "UDP4 with DF", .protocol = IPPROTO_UDP, .df = true },
	{ .what = "UDP4 of a socket", .protocol = IPPROTO_UDP, .df = true, .ignore_df = true,
	  .fragments = 3 },
	{ .what = "UDP4 summed", .protocol = IPPROTO_UDP, .summed = true, .fragments = 3 },
	{ .what = "fragment", .protocol = IPPROTO_UDP, .fragment = true, .summed = true,
	  .fragments = 3 },
	{ .what = "large UDP4", .protocol = IPPROTO_UDP, .gso_size = 4000 },
	{ .what = "UDP6", .protocol = IPPROTO_UDP, .ip6 = true },
	{ .what = "TCP4", .protocol = IPPROTO_TCP, .df = true, .cut = true },
	{ .what = "large TCP4", .protocol = IPPROTO_TCP, .df = true, .gso_size = 4000,
	  .cut = true },
	{ .what = "TCP4 of another host without a checksum", .protocol = IPPROTO_TCP, .df = true,
	  .forwarded = true },
	{ .what = "TCP4 of another host", .protocol = IPPROTO_TCP, .df = true, .summed = true },
	{ .what = "TCP4 of another host without DF", .protocol = IPPROTO_TCP, .summed = true,
	  .fragments = 3 },
	{ .what = "TCP6", .protocol = IPPROTO_TCP, .ip6 = true, .cut = true },
	{ .what = "TCP6 of another host", .protocol = IPPROTO_TCP, .ip6 = true, .summed = true },
};

static void packet_name(const struct long_packet *packet, char *name)
{
	strscpy(name, packet->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(packet, packets, packet_name);

static u32 transport_len(const struct long_packet *packet)
{
	return packet->protocol == IPPROTO_TCP ? sizeof(struct tcphdr) : sizeof(struct udphdr);
}

static u32 headers_len(const struct long_packet *packet)
{
	return (packet->ip6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) +
	       transport_len(packet);
}

static void ip_build(struct sk_buff *skb, const struct long_packet *packet)
{
	struct ipv6hdr *ip6 = ipv6_hdr(skb);
	struct iphdr *ip = ip_hdr(skb);
	u32 len = headers_len(packet) + PAYLOAD;

	if (packet->ip6) {
		ip6->version = 6;
		ip6->nexthdr = packet->protocol;
		ip6->payload_len = htons(len - sizeof(*ip6));
		return;
	}
	ip->version = 4;
	ip->ihl = 5;
	ip->protocol = packet->protocol;
	ip->tot_len = htons(len);
	ip->id = htons(77);
	ip->frag_off = htons((packet->df ? IP_DF : 0) | (packet->fragment ? IP_MF | 100 : 0));
	ip_send_check(ip);
}

static void socket_let_go(struct sk_buff *skb)
{
	skb->sk = NULL;
}

/* A socket that allows its packets to be cut, and does not count their memory */
static void socket_add(struct kunit *test, struct sk_buff *skb)
{
	struct sock *sk = kunit_kzalloc(test, sizeof(*sk), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sk->sk_state = TCP_ESTABLISHED;
	skb->sk = sk;
	skb->destructor = socket_let_go;
}

static struct sk_buff *packet_make(struct kunit *test, const struct long_packet *packet)
{
	struct sk_buff *skb;
	union ib_gid gid;
	u32 i;

	fixture_gid(&gid, 9);
	skb = fixture_packet(test, gid.raw, headers_len(packet) + PAYLOAD);
	skb->protocol = htons(packet->ip6 ? ETH_P_IPV6 : ETH_P_IP);
	((struct ipoib_header *)skb->data)->encap.ethertype = skb->protocol;
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, IPOIB_HARD_LEN);
	skb_set_transport_header(skb, IPOIB_HARD_LEN + headers_len(packet) - transport_len(packet));
	memset(skb_network_header(skb), 0, headers_len(packet));
	ip_build(skb, packet);
	for (i = 0; i < PAYLOAD; i++)
		skb->data[IPOIB_HARD_LEN + headers_len(packet) + i] = i % 251;
	if (packet->protocol == IPPROTO_TCP)
		tcp_hdr(skb)->doff = sizeof(struct tcphdr) / 4;
	if (!packet->summed) {
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_transport_header(skb) - skb->head;
		skb->csum_offset = packet->protocol == IPPROTO_TCP ?
				   offsetof(struct tcphdr, check) : offsetof(struct udphdr, check);
	}
	if (packet->protocol == IPPROTO_TCP && !packet->summed && !packet->forwarded)
		socket_add(test, skb);
	skb->ignore_df = packet->ignore_df;
	skb_shinfo(skb)->gso_size = packet->gso_size;
	if (packet->gso_size)
		skb_shinfo(skb)->gso_type = packet->protocol == IPPROTO_TCP ? SKB_GSO_TCPV4 :
									      SKB_GSO_UDP_L4;
	return skb;
}

/* The fragments have the datagram's octets in order, and headers that a receiver accepts */
static void expect_fragments(struct kunit *test, const struct long_packet *packet,
			     struct sk_buff *skb)
{
	u32 offset = packet->fragment ? 100 : 0, at = 0, n = 0, wrong = 0, len, i;
	const u8 *octets;
	struct iphdr *ip;

	for (; skb; skb = skb->next, n++) {
		ip = ip_hdr(skb);
		len = skb->len - IPOIB_HARD_LEN - sizeof(*ip);
		KUNIT_EXPECT_EQ(test, skb_network_offset(skb), (int)IPOIB_HARD_LEN);
		KUNIT_EXPECT_EQ(test, skb->data[1], 0xab);
		KUNIT_EXPECT_LE(test, skb->len, (u32)(MTU + IPOIB_HARD_LEN));
		KUNIT_EXPECT_EQ(test, (__force u16)ip_fast_csum(ip, ip->ihl), 0);
		KUNIT_EXPECT_EQ(test, ntohs(ip->tot_len), skb->len - IPOIB_HARD_LEN);
		KUNIT_EXPECT_EQ(test, ntohs(ip->id), 77);
		KUNIT_EXPECT_EQ(test, ntohs(ip->frag_off),
				(offset + at / 8) | (skb->next || packet->fragment ? IP_MF : 0));
		octets = (u8 *)(ip + 1);
		for (i = 0; i < len; i++, at++)
			wrong += at >= transport_len(packet) &&
				 octets[i] != (at - transport_len(packet)) % 251;
	}
	KUNIT_EXPECT_EQ(test, n, packet->fragments);
	KUNIT_EXPECT_EQ(test, at, transport_len(packet) + PAYLOAD);
	KUNIT_EXPECT_EQ(test, wrong, 0u);
}

static void expect_cut(struct kunit *test, const struct long_packet *packet,
		       const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 size = MTU - headers_len(packet);

	KUNIT_EXPECT_EQ(test, info->gso_size, size);
	KUNIT_EXPECT_EQ(test, info->gso_segs, DIV_ROUND_UP(PAYLOAD, size));
	KUNIT_EXPECT_EQ(test, info->gso_type, packet->ip6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4);
	KUNIT_EXPECT_TRUE(test, skb_gso_validate_network_len(skb, MTU));
}

static void cut(struct kunit *test)
{
	const struct long_packet *packet = test->param_value;
	struct sk_buff *skb = packet_make(test, packet), *result;
	struct sk_buff *clone = skb_clone(skb, GFP_KERNEL);
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, clone);
	result = ipoib_long_cut(fx->priv, skb, MTU);
	KUNIT_EXPECT_EQ(test, skb_shinfo(clone)->gso_size, packet->gso_size);
	kfree_skb(clone);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FRAGMENTED),
			(u64)!!packet->fragments);
	if (packet->cut) {
		KUNIT_EXPECT_PTR_EQ(test, result, skb);
		expect_cut(test, packet, skb);
	} else if (packet->fragments) {
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, result);
		expect_fragments(test, packet, result);
		skb = result;
	} else {
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(result), -EMSGSIZE);
	}
	kfree_skb_list(skb);
}

/* The first segment of a packet with CWR is the only one that has it */
static void cut_with_cwr(struct kunit *test)
{
	const struct long_packet packet = { .protocol = IPPROTO_TCP, .df = true };
	struct sk_buff *skb = packet_make(test, &packet);
	struct fixture *fx = test->priv;

	tcp_hdr(skb)->cwr = 1;
	KUNIT_EXPECT_PTR_EQ(test, ipoib_long_cut(fx->priv, skb, MTU), skb);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_type, SKB_GSO_TCPV4 | SKB_GSO_TCP_ECN);
	kfree_skb(skb);
}

#define OPTIONS_LEN	16

/* Makes room for options in an IPv4 header, and fills them in */
static void options_add(struct sk_buff *skb, const u8 *options)
{
	u8 *data = skb_push(skb, OPTIONS_LEN);

	memmove(data, data + OPTIONS_LEN, IPOIB_HARD_LEN + sizeof(struct iphdr));
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, IPOIB_HARD_LEN);
	memcpy(ip_hdr(skb) + 1, options, OPTIONS_LEN);
	ip_hdr(skb)->ihl += OPTIONS_LEN / 4;
	ip_hdr(skb)->tot_len = htons(skb->len - IPOIB_HARD_LEN);
	ip_send_check(ip_hdr(skb));
}

/* The options of a packet, and those of its fragments after the first one */
static const struct {
	u8 of_first[OPTIONS_LEN];
	u8 of_others[OPTIONS_LEN];
} options[] = {
	/* Record Route, Router Alert, and the end */
	{ { 1, 7, 7, 4, 10, 0, 0, 1, 148, 4, 0, 0, 0, 7, 2, 7 },
	  { 1, 1, 1, 1, 1, 1, 1, 1, 148, 4, 0, 0, 0, 7, 2, 7 } },
	/* Timestamp, and an option with a length that is too long */
	{ { 68, 8, 5, 0, 0, 0, 0, 0, 7, 9, 4, 0, 0, 0, 0, 0 },
	  { 1, 1, 1, 1, 1, 1, 1, 1, 7, 9, 4, 0, 0, 0, 0, 0 } },
	/* A length that is too short, */
	{ { 7, 0, 7, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7 },
	  { 7, 0, 7, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7 } },
	/* and an option without a length */
	{ { 148, 15, 7, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7 },
	  { 148, 15, 7, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7 } },
};

static void expect_options(struct kunit *test, const struct sk_buff *skb, const u8 *expected)
{
	const struct iphdr *ip = ip_hdr(skb);

	KUNIT_EXPECT_EQ(test, ip->ihl * 4, 20 + OPTIONS_LEN);
	KUNIT_EXPECT_EQ(test, memcmp(ip + 1, expected, OPTIONS_LEN), 0);
	KUNIT_EXPECT_EQ(test, (__force u16)ip_fast_csum(ip, ip->ihl), 0);
}

/* Only the options that are to be copied are in all fragments. Others may have the packet as well,
 * and see it as it was.
 */
static void fragments_have_options(struct kunit *test)
{
	const struct long_packet packet = { .protocol = IPPROTO_UDP, .summed = true };
	struct sk_buff *skb, *clone, *first, *next;
	struct fixture *fx = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		skb = packet_make(test, &packet);
		KUNIT_ASSERT_EQ(test, pskb_expand_head(skb, OPTIONS_LEN, 0, GFP_KERNEL), 0);
		options_add(skb, options[i].of_first);
		clone = skb_clone(skb, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, clone);
		first = ipoib_long_cut(fx->priv, skb, MTU);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
		KUNIT_EXPECT_NOT_NULL(test, first->next);
		expect_options(test, clone, options[i].of_first);
		expect_options(test, first, options[i].of_first);
		for (next = first->next; next; next = next->next)
			expect_options(test, next, options[i].of_others);
		kfree_skb_list(first);
		kfree_skb(clone);
	}
}

/* Packet sockets pass down anything */
static void not_cut_if_malformed(struct kunit *test)
{
	const struct long_packet packet = { .protocol = IPPROTO_UDP };
	struct fixture *fx = test->priv;
	struct sk_buff *skb;
	u32 what;

	for (what = 0; what < 5; what++) {
		skb = packet_make(test, &packet);
		if (what == 0)
			ip_hdr(skb)->ihl = 4;
		else if (what == 1)
			skb->protocol = 0;
		else if (what == 2)
			skb_set_network_header(skb, 0);
		else if (what == 3)	/* the checksum would be the header's first octets */
			skb->csum_start -= sizeof(struct iphdr);
		else
			((struct ipoib_header *)skb->data)->encap.ethertype = htons(ETH_P_ARP);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ipoib_long_cut(fx->priv, skb, MTU)),
				-EMSGSIZE);
		kfree_skb(skb);
	}
}

/* Without a route, there is nobody to be told */
static void refused(struct kunit *test)
{
	const struct long_packet packet = { .protocol = IPPROTO_UDP, .df = true };
	struct fixture *fx = test->priv;

	ipoib_long_refuse(fx->priv, packet_make(test, &packet), MTU);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 1ull);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&fx->priv->too_long.queue), 0u);
}

static struct kunit_case long_cases[] = {
	KUNIT_CASE_PARAM(cut, packet_gen_params),
	KUNIT_CASE(cut_with_cwr),
	KUNIT_CASE(fragments_have_options),
	KUNIT_CASE(not_cut_if_malformed),
	KUNIT_CASE(refused),
	{}
};

static struct kunit_suite long_suite = {
	.name = "ipoib_long",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_running,
	.exit = fixture_exit,
	.test_cases = long_cases,
};

kunit_test_suites(&long_suite);
