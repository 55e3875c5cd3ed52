// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of large packets that the driver segments. Each segment is parsed and
 * its checksums are verified as a receiver would, and the payload is put
 * together again.
 */
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip6_checksum.h>

#include "kunit.h"

#define ID		0xfffe		/* of the first segment: it wraps around */
#define SEQ		0xffffff00u	/* likewise */
#define LENGTH_MOST	60000

/* A large packet and its layout in memory */
struct large {
	bool ip6;
	u8 protocol;
	u32 options;		/* octets of TCP options */
	u32 extension;		/* octets of an IPv6 extension header */
	u32 payload;
	u32 mss;
	u32 linear;		/* octets of payload in the linear part */
	u32 piece;		/* octets of each frag */
	bool hca_sums;
};

/* The result of sending a large packet */
static struct {
	const struct large *large;
	u32 segments;
	u32 payload;
	const char *fault;	/* the last one that was found */
	u32 fault_at;
} seen;

static u8 pattern(u32 at)
{
	return at * 7 + (at >> 8);
}

static u32 network_len(const struct large *large)
{
	return large->ip6 ? sizeof(struct ipv6hdr) + large->extension : sizeof(struct iphdr);
}

static u32 transport_len(const struct large *large)
{
	return large->protocol == IPPROTO_UDP ? sizeof(struct udphdr) :
		sizeof(struct tcphdr) + large->options;
}

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	seen.fault = what;
	seen.fault_at = seen.segments;
}

static __sum16 pseudo_sum(const void *network, u32 len, __wsum sum)
{
	const struct ipv6hdr *ip6 = network;
	const struct iphdr *ip = network;

	if (seen.large->ip6)
		return csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len, seen.large->protocol, sum);
	return csum_tcpudp_magic(ip->saddr, ip->daddr, len, seen.large->protocol, sum);
}

static void check_network(const void *network, u32 len)
{
	const struct ipv6hdr *ip6 = network;
	const struct iphdr *ip = network;

	if (seen.large->ip6) {
		expect(ntohs(ip6->payload_len) == len - sizeof(*ip6), "IPv6 length");
		return;
	}
	expect(ntohs(ip->tot_len) == len, "IPv4 length");
	expect(ntohs(ip->id) == (u16)(ID + seen.segments), "IPv4 ID");
	expect(!ip_fast_csum(ip, ip->ihl), "IPv4 checksum");
}

static void check_tcp(const struct tcphdr *tcp, bool last)
{
	const u8 *options = (const void *)(tcp + 1);
	u32 i;

	expect(ntohl(tcp->seq) == SEQ + seen.payload, "sequence number");
	expect(tcp->ack && ntohl(tcp->ack_seq) == 0x12345678, "acknowledged number");
	expect(tcp->psh == last && tcp->fin == last, "flags that only the last has");
	for (i = 0; i < seen.large->options; i++)
		expect(options[i] == pattern(i), "options");
}

static void check_sum(const void *network, const void *transport, u32 len)
{
	const struct tcphdr *tcp = transport;
	const struct udphdr *udp = transport;
	__sum16 check = seen.large->protocol == IPPROTO_UDP ? udp->check : tcp->check;

	if (seen.large->hca_sums)
		expect(check == (__force __sum16)~pseudo_sum(network, len, 0),
		       "pseudo header's checksum");
	else
		expect(check && !pseudo_sum(network, len, csum_partial(transport, len, 0)),
		       "checksum");
}

/* Checks each segment as it is sent */
static void see(struct hca *hca, const struct hca_send *send, const u8 *octets)
{
	const struct large *large = seen.large;
	const struct ipoib_encap *encap = (const void *)octets;
	const u8 *network = octets + sizeof(*encap);
	const u8 *transport = network + network_len(large);
	const u8 *payload = transport + transport_len(large);
	u32 len = send->length - (payload - octets), i;
	bool last = seen.payload + len == large->payload;

	expect(ntohs(encap->ethertype) == (large->ip6 ? ETH_P_IPV6 : ETH_P_IP), "ethertype");
	expect(last ? len <= large->mss : len == large->mss, "payload's length");
	expect(!!(send->flags & IB_SEND_IP_CSUM) == large->hca_sums, "flag for the HCA");
	check_network(network, send->length - sizeof(*encap));
	if (large->protocol == IPPROTO_TCP)
		check_tcp((const void *)transport, last);
	else
		expect(ntohs(((const struct udphdr *)transport)->len) ==
		       len + sizeof(struct udphdr), "UDP's length");
	check_sum(network, transport, transport_len(large) + len);
	for (i = 0; i < len && payload[i] == pattern(seen.payload + i); i++)
		;
	expect(i == len, "payload");
	seen.segments++;
	seen.payload += len;
}

/* A destination options header of IPv6 with nothing but padding */
static void put_extension(struct sk_buff *skb, const struct large *large)
{
	u8 *extension = skb_put_zero(skb, large->extension);

	extension[0] = large->protocol;
	extension[1] = large->extension / 8 - 1;
	extension[2] = IPV6_TLV_PADN;
	extension[3] = large->extension - 4;
}

static void put_network(struct sk_buff *skb, const struct large *large)
{
	struct ipv6hdr *ip6;
	struct iphdr *ip;

	skb_set_network_header(skb, skb->len);
	if (large->ip6) {
		ip6 = skb_put_zero(skb, sizeof(*ip6));
		ip6->version = 6;
		ip6->nexthdr = large->protocol;
		ip6->saddr.s6_addr[15] = 1;
		ip6->daddr.s6_addr[15] = 2;
		if (!large->extension)
			return;
		ip6->nexthdr = NEXTHDR_DEST;
		put_extension(skb, large);
		return;
	}
	ip = skb_put_zero(skb, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->id = htons(ID);
	ip->protocol = large->protocol;
	ip->saddr = htonl(0x0a000001);
	ip->daddr = htonl(0x0a000002);
}

static void put_transport(struct sk_buff *skb, const struct large *large)
{
	struct tcphdr *tcp;
	u8 *options;
	u32 i;

	skb_set_transport_header(skb, skb->len);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	if (large->protocol == IPPROTO_UDP) {
		skb_put_zero(skb, sizeof(struct udphdr));
		skb->csum_offset = offsetof(struct udphdr, check);
		return;
	}
	tcp = skb_put_zero(skb, sizeof(*tcp));
	tcp->doff = transport_len(large) / 4;
	tcp->seq = htonl(SEQ);
	tcp->ack_seq = htonl(0x12345678);
	tcp->ack = 1;
	tcp->psh = 1;
	tcp->fin = 1;
	skb->csum_offset = offsetof(struct tcphdr, check);
	options = skb_put(skb, large->options);
	for (i = 0; i < large->options; i++)
		options[i] = pattern(i);
}

static void put_payload(struct kunit *test, struct sk_buff *skb, const struct large *large)
{
	u32 at, i, len = min(large->linear, large->payload);
	struct page *page;
	u8 *octets = skb_put(skb, len);

	for (i = 0; i < len; i++)
		octets[i] = pattern(i);
	for (at = len; at < large->payload; at += len) {
		len = min(large->piece, large->payload - at);
		page = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, page);
		octets = page_address(page) + PAGE_SIZE - len;
		for (i = 0; i < len; i++)
			octets[i] = pattern(at + i);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, PAGE_SIZE - len, len,
				PAGE_SIZE);
	}
}

/* Like the stack, stores the checksum of the pseudo header, with the length of the whole packet */
static void put_sum(struct sk_buff *skb, const struct large *large)
{
	u32 len = transport_len(large) + large->payload;
	struct udphdr *udp = udp_hdr(skb);
	__sum16 sum;

	seen.large = large;
	sum = (__force __sum16)~pseudo_sum(skb_network_header(skb), len, 0);
	if (large->protocol == IPPROTO_TCP) {
		tcp_hdr(skb)->check = sum;
		return;
	}
	udp->len = htons(len);
	udp->check = sum;
}

static struct sk_buff *build(struct kunit *test, const struct large *large)
{
	struct fixture *fx = test->priv;
	struct ipoib_header *header;
	struct sk_buff *skb;
	union ib_gid gid;

	skb = alloc_skb(IPOIB_HARD_LEN + IPOIB_TX_HEADER_MAX + large->extension + large->linear,
			GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	fixture_gid(&gid, 9);
	header = skb_put_zero(skb, sizeof(*header));
	ipoib_hwaddr_build(&header->hwaddr, 0xabcdef, &gid);
	skb->protocol = htons(large->ip6 ? ETH_P_IPV6 : ETH_P_IP);
	header->encap.ethertype = skb->protocol;
	skb->dev = fx->netdev;
	put_network(skb, large);
	put_transport(skb, large);
	put_payload(test, skb, large);
	put_sum(skb, large);
	skb_shinfo(skb)->gso_size = large->mss;
	skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(large->payload, large->mss);
	skb_shinfo(skb)->gso_type = large->protocol == IPPROTO_UDP ? SKB_GSO_UDP_L4 :
		large->ip6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
	return skb;
}

static void cut(struct kunit *test, const struct large *large)
{
	struct fixture *fx = test->priv;

	seen.large = large;
	seen.segments = 0;
	seen.payload = 0;
	seen.fault = NULL;
	fixture_send(fx, build(test, large), false);
	KUNIT_EXPECT_EQ_MSG(test, seen.payload, large->payload, "MSS %u, linear %u, pieces of %u",
			    large->mss, large->linear, large->piece);
	KUNIT_EXPECT_EQ(test, seen.segments, (u32)DIV_ROUND_UP(large->payload, large->mss));
	KUNIT_EXPECT_NULL_MSG(test, seen.fault,
			      "%s of segment %u: payload %u, MSS %u, linear %u, pieces of %u",
			      seen.fault, seen.fault_at, large->payload, large->mss, large->linear,
			      large->piece);
}

/* Splits the payload into as many frags as it needs */
static void cut_in_pieces(struct kunit *test, struct large *large)
{
	static const u32 linears[] = { 0, 1, 101 };
	static const u32 pieces[] = { 1, 333, 1000, PAGE_SIZE - 1, PAGE_SIZE };
	int i, k;

	for (i = 0; i < ARRAY_SIZE(linears); i++) {
		for (k = 0; k < ARRAY_SIZE(pieces); k++) {
			large->linear = linears[i];
			large->piece = pieces[k];
			if (large->payload <= large->linear + MAX_SKB_FRAGS * large->piece)
				cut(test, large);
		}
	}
}

static void cut_all(struct kunit *test, struct large *large)
{
	static const u32 sizes[] = { 1, 2, 3, 8, 101, 536, 1447, 1448, 1900 };
	u32 i, mss;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		mss = sizes[i];
		large->mss = mss;
		large->payload = mss;
		cut_in_pieces(test, large);
		large->payload = mss + 1;
		cut_in_pieces(test, large);
		large->payload = 5 * mss - 1;
		cut_in_pieces(test, large);
		large->payload = min_t(u32, IPOIB_TX_SEGMENTS_MAX * mss, LENGTH_MOST);
		cut_in_pieces(test, large);
	}
}

static void gso_tcp4(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_TCP };

	cut_all(test, &large);
}

static void gso_tcp6(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_TCP, .ip6 = true };

	cut_all(test, &large);
}

static void gso_udp4(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_UDP };

	cut_all(test, &large);
}

static void gso_udp6(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_UDP, .ip6 = true };

	cut_all(test, &large);
}

/* The driver segments UDP, and the HCA computes the checksums */
static void gso_hca_sums(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_UDP, .hca_sums = true };
	struct fixture *fx = test->priv;

	fx->priv->channels->tx.sq.hca_offloads = true;
	cut_all(test, &large);
}

/* Checksums of segments are left to the HCA only if it supports both IP checksums and TSO */
static void gso_hca_promises(struct kunit *test)
{
	static const struct {
		u64 device_caps;
		u32 kernel_caps;
		bool sums;
	} examples[] = {
		{ 0, 0, false },
		{ IB_DEVICE_UD_IP_CSUM, 0, false },
		{ 0, IBK_UD_TSO, false },
		{ IB_DEVICE_UD_IP_CSUM, IBK_UD_TSO, true },
	};
	struct large large = { .protocol = IPPROTO_UDP, .mss = 1000, .payload = 9999,
			       .piece = 4096 };
	struct fixture *fx = test->priv;
	struct ib_device_attr *attrs = &fx->hca->ibdev.attrs;
	union ib_gid gid;
	int i;

	fixture_gid(&gid, 9);
	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		attrs->device_cap_flags = examples[i].device_caps;
		attrs->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | examples[i].kernel_caps;
		fx->hca->seen = NULL;
		KUNIT_EXPECT_EQ(test, fixture_resize(fx, 1, 256, 64), 0);
		fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
		fixture_settle(fx);
		fx->hca->seen = see;
		large.hca_sums = examples[i].sums;
		cut(test, &large);
	}
}

static void gso_options(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_TCP, .mss = 1000, .payload = 9999 };

	for (large.options = 0; large.options <= 40; large.options += 4) {
		large.ip6 = false;
		cut_in_pieces(test, &large);
		large.ip6 = true;
		cut_in_pieces(test, &large);
	}
}

static void gso_counts_segments(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_TCP, .mss = 1000, .payload = 9999,
			       .linear = 9999 };
	struct fixture *fx = test->priv;
	struct rtnl_link_stats64 before, after;

	dev_get_stats(fx->netdev, &before);
	cut(test, &large);
	dev_get_stats(fx->netdev, &after);
	KUNIT_EXPECT_EQ(test, after.tx_packets - before.tx_packets, 10ull);
	KUNIT_EXPECT_EQ(test, after.tx_bytes - before.tx_bytes, 9999ull + 10 * (4 + 20 + 20));
}

/* Packets with more segments than the ring always has room for are segmented by the stack */
static void gso_too_many(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct large large = { .mss = 8, .piece = 1000 };

	large.payload = 8 * fx->priv->channels->tx.sq.segments_max + 1;
	for (large.ip6 = false; ; large.ip6 = true) {
		large.protocol = IPPROTO_UDP;
		cut(test, &large);
		large.protocol = IPPROTO_TCP;
		cut(test, &large);
		if (large.ip6)
			break;
	}
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 0ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_SEGMENTED), 0ull);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
}

/* Of a packet with more segments than the ring has slots, the others are counted as dropped */
static void gso_far_too_many(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	struct large large = { .protocol = IPPROTO_TCP, .mss = 8, .piece = 1000 };

	fx->hca->hold = true;
	large.payload = 8 * (tx->sq.size + 10);
	fixture_send(fx, build(test, &large), false);
	KUNIT_EXPECT_EQ(test, seen.segments, tx->sq.size);
	KUNIT_EXPECT_NULL(test, seen.fault);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 10ull);
	KUNIT_EXPECT_TRUE(test, __netif_subqueue_stopped(fx->netdev, 0));
	hca_complete(fx->hca, U32_MAX, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, __netif_subqueue_stopped(fx->netdev, 0));
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&tx->sq), 0u);
}

/* If gso_segs is 0, ndo_features_check computes whether the stack has to segment the packet */
static void gso_uncounted(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct large large = { .protocol = IPPROTO_TCP, .mss = 100, .piece = 1000 };
	netdev_features_t kept, all = NETIF_F_GSO_MASK | NETIF_F_SG;
	u32 most = fx->priv->channels->tx.sq.segments_max;
	struct sk_buff *skb;

	for (large.payload = 100 * (most - 2); large.payload <= 100 * (most + 2);
	     large.payload += 400) {
		skb = build(test, &large);
		kept = ipoib_features_check(skb, fx->netdev, all);
		KUNIT_EXPECT_EQ(test, kept, all);
		skb_shinfo(skb)->gso_segs = 0;
		skb_shinfo(skb)->gso_type |= SKB_GSO_DODGY;
		kept = ipoib_features_check(skb, fx->netdev, all);
		KUNIT_EXPECT_EQ_MSG(test, kept & NETIF_F_GSO_MASK,
				    large.payload < 100 * most ? NETIF_F_GSO_MASK : 0,
				    "payload %u", large.payload);
		kfree_skb(skb);
	}
}

/* GSO packets whose type or headers the driver cannot segment, as an untrusted
 * source may send them
 */
static void gso_lies(struct kunit *test)
{
	static const u32 types[] = {
		SKB_GSO_UDP, SKB_GSO_SCTP, SKB_GSO_TCPV4 | SKB_GSO_GRE,
		SKB_GSO_TCPV4 | SKB_GSO_TCP_FIXEDID, SKB_GSO_UDP_L4 | SKB_GSO_UDP_TUNNEL,
		SKB_GSO_TCPV4 | SKB_GSO_PARTIAL, SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST,
	};
	struct large large = { .protocol = IPPROTO_TCP, .mss = 100, .payload = 1000,
			       .linear = 1000 };
	struct sk_buff *skb = build(test, &large);
	int network = skb_network_offset(skb), transport = skb_transport_offset(skb), i;

	KUNIT_EXPECT_TRUE(test, ipoib_gso_can_cut(skb));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		skb_shinfo(skb)->gso_type = types[i];
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_gso_can_cut(skb), "type %#x", types[i]);
	}
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4 | SKB_GSO_DODGY;
	KUNIT_EXPECT_TRUE(test, ipoib_gso_can_cut(skb));
	for (i = 0; i <= 200; i++) {
		skb_set_transport_header(skb, i);
		KUNIT_EXPECT_FALSE_MSG(test, (i < network + 20 || i > network + 60) &&
				       ipoib_gso_can_cut(skb), "transport header at %d", i);
	}
	skb_set_transport_header(skb, transport);
	tcp_hdr(skb)->doff = 4;
	KUNIT_EXPECT_FALSE(test, ipoib_gso_can_cut(skb));
	kfree_skb(skb);
}

/* A packet without payload has no segments; nothing is put on the ring */
static void gso_nothing(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct large large = { .protocol = IPPROTO_TCP, .mss = 1000, .piece = 1000 };

	fixture_send(fx, build(test, &large), false);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_TOO_LONG), 1ull);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
	KUNIT_EXPECT_EQ(test, ipoib_sq_used(&fx->priv->channels->tx.sq), 0u);
	large.payload = 1000;
	cut(test, &large);
}

/* The features were checked with the transport header in the usual place. Then the stack has found
 * it elsewhere, and the headers are longer than a slot's memory.
 */
static void gso_headers_grow(struct kunit *test)
{
	struct large large = { .protocol = IPPROTO_TCP, .ip6 = true, .mss = 1000,
			       .payload = 9999, .piece = 4096 };

	for (large.extension = 8; large.extension <= 240; large.extension += 8)
		cut(test, &large);
}

/* The queue stops while there is still room for the largest packet; no slot is used twice */
static void gso_ring_fills(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct netdev_queue *txq = netdev_get_tx_queue(fx->netdev, 0);
	struct ipoib_txq *tx = &fx->priv->channels->tx;
	struct large large = { .protocol = IPPROTO_TCP, .mss = 1000, .piece = 4096 };
	u32 packets;

	seen.large = &large;
	large.payload = 1000 * (tx->sq.segments_max - 5) + 1;
	fx->hca->hold = true;
	for (packets = 0; !netif_tx_queue_stopped(txq); packets++) {
		seen.payload = 0;
		seen.segments = 0;
		fixture_send(fx, build(test, &large), false);
	}
	KUNIT_EXPECT_EQ(test, fx->hca->logged, packets * (tx->sq.segments_max - 4));
	KUNIT_EXPECT_LE(test, fx->hca->logged, tx->sq.size);
	KUNIT_EXPECT_NULL(test, seen.fault);
	hca_complete(fx->hca, U32_MAX, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, netif_tx_queue_stopped(txq));
	KUNIT_EXPECT_EQ(test, ipoib_sq_pending(&tx->sq), 0u);
}

/* The HCA refuses any of the segments: the packet is counted once, and no slot stays in use */
static void gso_refused(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct large large = { .protocol = IPPROTO_TCP, .mss = 1000, .payload = 39001,
			       .piece = 4096 };
	union ib_gid gid;
	u32 at;

	fixture_gid(&gid, 9);
	fx->hca->seen = NULL;
	for (at = 1; at <= 40; at += 13) {
		/* After a reset the path is resolved again */
		fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
		fixture_settle(fx);
		atomic_set(&fx->hca->fail_in, at);
		fixture_send(fx, build(test, &large), false);
		atomic_set(&fx->hca->fail_in, 0);
		fixture_settle(fx);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_POST) +
				fixture_count(fx, IPOIB_STAT_TX_FLUSHED), at / 13 + 1ull);
		KUNIT_EXPECT_EQ(test, ipoib_sq_pending(&fx->priv->channels->tx.sq), 0u);
		KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
	}
}

/* A segment in the middle fails, and those after it are flushed */
static void gso_failed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct large large = { .protocol = IPPROTO_UDP, .mss = 1000, .payload = 20000,
			       .piece = 4096 };

	seen.large = &large;
	fx->hca->hold = true;
	fixture_send(fx, build(test, &large), false);
	hca_complete(fx->hca, 7, IB_WC_SUCCESS);
	hca_complete(fx->hca, 1, IB_WC_LOC_PROT_ERR);
	fx->hca->hold = false;
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_FLUSHED), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_QP_RESETS), 1ull);
	KUNIT_EXPECT_EQ(test, ipoib_sq_pending(&fx->priv->channels->tx.sq), 0u);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(fx->netdev));
}

static int gso_init(struct kunit *test)
{
	struct fixture *fx;
	int err = fixture_init_sending(test);

	if (err)
		return err;
	fx = test->priv;
	memset(&seen, 0, sizeof(seen));
	fx->hca->seen = see;
	return 0;
}

static struct kunit_case gso_cases[] = {
	KUNIT_CASE(gso_tcp4),
	KUNIT_CASE(gso_tcp6),
	KUNIT_CASE(gso_udp4),
	KUNIT_CASE(gso_udp6),
	KUNIT_CASE(gso_hca_sums),
	KUNIT_CASE(gso_hca_promises),
	KUNIT_CASE(gso_options),
	KUNIT_CASE(gso_counts_segments),
	KUNIT_CASE(gso_too_many),
	KUNIT_CASE(gso_far_too_many),
	KUNIT_CASE(gso_uncounted),
	KUNIT_CASE(gso_lies),
	KUNIT_CASE(gso_nothing),
	KUNIT_CASE(gso_headers_grow),
	KUNIT_CASE(gso_ring_fills),
	KUNIT_CASE(gso_refused),
	KUNIT_CASE(gso_failed),
	{}
};

static struct kunit_suite gso_suite = {
	.name = "ipoib_gso",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = gso_init,
	.exit = fixture_exit,
	.test_cases = gso_cases,
};

kunit_test_suites(&gso_suite);
