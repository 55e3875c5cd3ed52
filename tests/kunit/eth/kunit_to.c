// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of IP packets: whom they go to on the other side. Groups, broadcast, hosts whose addresses
 * are known, and hosts that have to be asked for.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "kunit.h"

static const u8 multicast_mac[ETH_ALEN] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };

/* A datagram without a payload, of either protocol */
struct datagram {
	u16 ethertype;
	u32 len;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	};
};

static struct datagram datagram4(u32 from, u32 to)
{
	return (struct datagram) {
		.ethertype = ETH_P_IP,
		.len = sizeof(struct iphdr),
		.ip4 = {
			.version = 4,
			.ihl = 5,
			.tot_len = htons(sizeof(struct iphdr)),
			.ttl = 7,
			.protocol = IPPROTO_UDP,
			.saddr = htonl(from),
			.daddr = htonl(to),
		},
	};
}

static struct datagram datagram6(const struct in6_addr *from, const struct in6_addr *to)
{
	return (struct datagram) {
		.ethertype = ETH_P_IPV6,
		.len = sizeof(struct ipv6hdr),
		.ip6 = {
			.version = 6,
			.hop_limit = 7,
			.nexthdr = IPPROTO_UDP,
			.saddr = *from,
			.daddr = *to,
		},
	};
}

static void xmit(struct fixture *fx, const u8 *to, const struct datagram *datagram)
{
	fixture_xmit(fx, fixture_frame(fx, to, guest_mac, datagram->ethertype, &datagram->ip4,
				       datagram->len));
}

static void receive(struct fixture *fx, const struct datagram *datagram, u8 pkt_type)
{
	struct eipoib_lladdr from = fixture_peer(1);

	fixture_receive(fx, fixture_packet(fx, &from, datagram->ethertype, &datagram->ip4,
					   datagram->len), pkt_type);
}

static void expect_sent(struct fixture *fx, const void *to, const struct datagram *datagram)
{
	struct sk_buff *skb = fixture_sent(fx, datagram->ethertype);

	KUNIT_EXPECT_EQ(fx->test, memcmp(skb->data, to, INFINIBAND_ALEN), 0);
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)sizeof(struct eipoib_header) + datagram->len);
	KUNIT_EXPECT_EQ(fx->test, memcmp(skb->data + sizeof(struct eipoib_header), &datagram->ip4,
					 datagram->len), 0);
	kfree_skb(skb);
}

static void expect_received(struct fixture *fx, const u8 *to, const struct datagram *datagram)
{
	struct sk_buff *skb = fixture_received(fx, datagram->ethertype);
	const struct ethhdr *ether = (struct ethhdr *)skb->data;
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_dest, to));
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_source, peer_mac));
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)ETH_HLEN + datagram->len);
	KUNIT_EXPECT_EQ(fx->test, memcmp(ether + 1, &datagram->ip4, datagram->len), 0);
	kfree_skb(skb);
}

static void learn_local(struct fixture *fx, const struct in6_addr *ip, const u8 *mac)
{
	local_bh_disable();
	eipoib_learn_local(fx->eth, ip, mac);
	local_bh_enable();
}

static void learn_heard(struct fixture *fx, u32 ip, u8 peer)
{
	struct in6_addr address = eipoib_ip4(htonl(ip));
	u8 mac[ETH_ALEN];

	fixture_peer_mac(fx, peer, mac);
	local_bh_disable();
	eipoib_learn_heard(fx->eth, &address, mac);
	local_bh_enable();
}

/* The group's whole address counts, and not the part in the Ethernet one (RFC 4391 section 4) */
static void group_out4(struct kunit *test)
{
	static const u8 to[INFINIBAND_ALEN] = {
		0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0,
		0, 0, 0, 0, 0x0f, 0x81, 0x02, 0x03
	};
	struct datagram datagram = datagram4(0x0a000001, 0xef810203);
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	xmit(fx, multicast_mac, &datagram);
	expect_sent(fx, to, &datagram);
	/* A switch with snooping, or a client of a load balancer, has other Ethernet addresses */
	xmit(fx, peer_mac, &datagram);
	expect_sent(fx, to, &datagram);
	xmit(fx, fx->netdev->broadcast, &datagram);
	expect_sent(fx, to, &datagram);
	fixture_dropped(fx, NULL);
}

static void group_out6(struct kunit *test)
{
	static const u8 to[INFINIBAND_ALEN] = {
		0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, 0, 0,
		0, 0, 0, 1, 0xff, 0x01, 0x02, 0x03
	};
	static const u8 mac[ETH_ALEN] = { 0x33, 0x33, 0xff, 0x01, 0x02, 0x03 };
	const struct in6_addr from = { .s6_addr = { 0xfe, 0x80, [15] = 1 } };
	const struct in6_addr group = {
		.s6_addr = { 0xff, 0x02, [11] = 1, 0xff, 0x01, 0x02, 0x03 }
	};
	struct datagram datagram = datagram6(&from, &group);
	struct fixture *fx = test->priv;

	xmit(fx, mac, &datagram);
	expect_sent(fx, to, &datagram);
	xmit(fx, fx->netdev->broadcast, &datagram);
	expect_sent(fx, to, &datagram);
	fixture_dropped(fx, NULL);
}

static void broadcast_out(struct kunit *test)
{
	struct datagram all = datagram4(0x0a000001, 0xffffffff);
	struct datagram subnet = datagram4(0x0a000001, 0x0a0000ff);
	struct fixture *fx = test->priv;

	xmit(fx, fx->netdev->broadcast, &all);
	expect_sent(fx, fx->lower->broadcast, &all);
	xmit(fx, fx->netdev->broadcast, &subnet);
	expect_sent(fx, fx->lower->broadcast, &subnet);
	fixture_dropped(fx, NULL);
}

static void group_in(struct kunit *test)
{
	static const u8 mac6[ETH_ALEN] = { 0x33, 0x33, 0x00, 0x01, 0x02, 0x03 };
	const struct in6_addr from = { .s6_addr = { 0xfe, 0x80, [15] = 1 } };
	const struct in6_addr group = { .s6_addr = { 0xff, 0x05, [13] = 0x01, 0x02, 0x03 } };
	struct datagram datagram = datagram4(0x0a000002, 0xef810203);
	struct fixture *fx = test->priv;

	receive(fx, &datagram, PACKET_MULTICAST);
	expect_received(fx, multicast_mac, &datagram);
	datagram = datagram4(0x0a000002, 0xffffffff);
	receive(fx, &datagram, PACKET_BROADCAST);
	expect_received(fx, fx->netdev->broadcast, &datagram);
	datagram = datagram4(0x0a000002, 0x0a0000ff);
	receive(fx, &datagram, PACKET_BROADCAST);
	expect_received(fx, fx->netdev->broadcast, &datagram);
	datagram = datagram6(&from, &group);
	receive(fx, &datagram, PACKET_MULTICAST);
	expect_received(fx, mac6, &datagram);
	fixture_dropped(fx, NULL);
}

static void known_out(struct kunit *test)
{
	struct datagram datagram = datagram4(0x0a000001, 0x0a000002);
	struct eipoib_lladdr peer = fixture_peer(1), other = fixture_peer(2);
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	xmit(fx, peer_mac, &datagram);
	expect_sent(fx, &peer, &datagram);
	/* The MAC address says whom it is for, as it may be forwarded there */
	learn_heard(fx, 0x0a000002, 2);
	xmit(fx, peer_mac, &datagram);
	expect_sent(fx, &peer, &datagram);
	/* Unless that is not known any more */
	xmit(fx, (const u8[ETH_ALEN]) { 0x02, 1, 2, 3, 4, 5 }, &datagram);
	expect_sent(fx, &other, &datagram);
	fixture_dropped(fx, NULL);
}

static void known_in(struct kunit *test)
{
	struct datagram datagram = datagram4(0x0a000002, 0x0a000001);
	struct in6_addr ip = eipoib_ip4(htonl(0x0a000001));
	struct fixture *fx = test->priv;

	learn_local(fx, &ip, guest_mac);
	receive(fx, &datagram, PACKET_HOST);
	expect_received(fx, guest_mac, &datagram);
	learn_local(fx, &ip, other_mac);
	receive(fx, &datagram, PACKET_HOST);
	expect_received(fx, other_mac, &datagram);
	fixture_dropped(fx, NULL);
}

/* Expects a request on the IPoIB side for an IPv4 address, on behalf of another one */
static void expect_asked_ib(struct fixture *fx, u32 spa, u32 tpa)
{
	struct sk_buff *skb = fixture_sent(fx, ETH_P_ARP);
	const struct eipoib_arp_ib *arp = (void *)(skb->data + sizeof(struct eipoib_header));

	KUNIT_EXPECT_EQ(fx->test, memcmp(skb->data, fx->lower->broadcast, INFINIBAND_ALEN), 0);
	KUNIT_EXPECT_EQ(fx->test, ntohs(arp->head.ar_op), ARPOP_REQUEST);
	KUNIT_EXPECT_EQ(fx->test, ntohl(arp->spa), spa);
	KUNIT_EXPECT_EQ(fx->test, ntohl(arp->tpa), tpa);
	kfree_skb(skb);
}

/* The same on the Ethernet side */
static void expect_asked_eth(struct fixture *fx, u32 spa, u32 tpa)
{
	struct sk_buff *skb = fixture_received(fx, ETH_P_ARP);
	const struct eipoib_arp_eth *arp = (void *)(skb->data + ETH_HLEN);

	KUNIT_EXPECT_TRUE(fx->test, is_broadcast_ether_addr(skb->data));
	KUNIT_EXPECT_EQ(fx->test, ntohs(arp->head.ar_op), ARPOP_REQUEST);
	KUNIT_EXPECT_EQ(fx->test, ntohl(arp->spa), spa);
	KUNIT_EXPECT_EQ(fx->test, ntohl(arp->tpa), tpa);
	kfree_skb(skb);
}

/* A packet for an interface that is not known waits until it has been heard of */
static void unknown_out(struct kunit *test)
{
	struct datagram datagram = datagram4(0x0a000001, 0x0a000002);
	struct in6_addr own = eipoib_ip4(htonl(0x0a000001));
	struct eipoib_lladdr peer = fixture_peer(1);
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	learn_local(fx, &own, guest_mac);
	eipoib_remote_mac_of(&peer, peer_mac);
	xmit(fx, peer_mac, &datagram);
	expect_asked_ib(fx, 0x0a000001, 0x0a000002);
	xmit(fx, peer_mac, &datagram);
	fixture_dropped(fx, NULL);
	learn_heard(fx, 0x0a000002, 1);
	expect_sent(fx, &peer, &datagram);
	expect_sent(fx, &peer, &datagram);
	fixture_dropped(fx, NULL);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "asked_ib"), 1ull);
}

static void unknown_in(struct kunit *test)
{
	struct datagram datagram = datagram4(0x0a000002, 0x0a000001);
	struct in6_addr ip = eipoib_ip4(htonl(0x0a000001));
	struct fixture *fx = test->priv;

	learn_heard(fx, 0x0a000002, 1);
	receive(fx, &datagram, PACKET_HOST);
	expect_asked_eth(fx, 0x0a000002, 0x0a000001);
	receive(fx, &datagram, PACKET_HOST);
	fixture_dropped(fx, NULL);
	migrate_disable();
	learn_local(fx, &ip, guest_mac);
	fixture_settle(fx);
	migrate_enable();
	expect_received(fx, guest_mac, &datagram);
	expect_received(fx, guest_mac, &datagram);
	fixture_dropped(fx, NULL);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "asked_eth"), 1ull);
}

/* A bridge floods what it does not know. What is for a host of the Ethernet side stays there. */
static void flooded(struct kunit *test)
{
	struct datagram datagram = datagram4(0x0a000001, 0x0a000003);
	struct datagram routed = datagram4(0x0a000001, 0x0a000009);
	struct in6_addr ip = eipoib_ip4(htonl(0x0a000003));
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	learn_local(fx, &ip, other_mac);
	xmit(fx, other_mac, &datagram);
	fixture_dropped(fx, "tx_local");
	/* Whatever its IP address, as that host may be a router */
	xmit(fx, other_mac, &routed);
	fixture_dropped(fx, "tx_local");
	/* Also what comes from the IPoIB side and goes to everybody */
	fixture_peer_mac(fx, 1, peer_mac);
	fixture_xmit(fx, fixture_frame(fx, fx->netdev->broadcast, peer_mac, ETH_P_IP,
				       &datagram.ip4, datagram.len));
	fixture_dropped(fx, "tx_loop");
	fixture_xmit(fx, fixture_frame(fx, multicast_mac, peer_mac, ETH_P_IP,
				       &datagram.ip4, datagram.len));
	fixture_dropped(fx, "tx_loop");
}

/* A host that has come here has the MAC address of this interface for those that were here before.
 * It is told theirs, but not for each packet.
 */
static void comes_to_others(struct kunit *test)
{
	struct in6_addr ip6 = { { { 0xfd, [15] = 3 } } }, from6 = { { { 0xfd, [15] = 1 } } };
	struct datagram by_ip4 = datagram4(0x0a000001, 0x0a000003);
	struct datagram by_ip6 = datagram6(&from6, &ip6);
	struct in6_addr ip = eipoib_ip4(htonl(0x0a000003));
	struct fixture *fx = test->priv;
	const struct eipoib_arp_eth *arp;
	struct sk_buff *skb;
	u64 told;

	learn_local(fx, &ip, other_mac);
	learn_local(fx, &ip6, other_mac);
	xmit(fx, fx->eth->own_mac, &by_ip4);
	skb = fixture_received(fx, ETH_P_ARP);
	arp = (struct eipoib_arp_eth *)(skb->data + ETH_HLEN);
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(arp->sha, other_mac));
	KUNIT_EXPECT_EQ(test, ntohl(arp->spa), 0x0a000003u);
	kfree_skb(skb);
	fixture_dropped(fx, "tx_local");
	xmit(fx, fx->eth->own_mac, &by_ip6);
	kfree_skb(fixture_received(fx, ETH_P_IPV6));
	fixture_dropped(fx, "tx_local");
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced_eth"), 2ull);
	while (fixture_count(fx, "tx_local") < 100)
		xmit(fx, fx->eth->own_mac, &by_ip4);
	/* In ten seconds, if this takes so long, there may be a hundred */
	told = fixture_count(fx, "announced_eth");
	KUNIT_EXPECT_GE(test, told, 10ull);
	KUNIT_EXPECT_LT(test, told, 100ull);
	while (told-- > 2)
		kfree_skb(fixture_received(fx, ETH_P_ARP));
}

/* The packet of another host is not changed if somebody else has it as well */
static void shared_in(struct kunit *test)
{
	struct datagram datagram = datagram4(0x0a000002, 0x0a000001);
	struct in6_addr ip = eipoib_ip4(htonl(0x0a000001));
	struct eipoib_lladdr from = fixture_peer(1);
	struct fixture *fx = test->priv;
	struct sk_buff *skb, *clone;

	learn_local(fx, &ip, guest_mac);
	skb = fixture_packet(fx, &from, ETH_P_IP, &datagram.ip4, datagram.len);
	clone = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clone);
	fixture_receive(fx, skb, PACKET_HOST);
	expect_received(fx, guest_mac, &datagram);
	KUNIT_EXPECT_EQ(test, memcmp(skb_mac_header(clone), &from, sizeof(from)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(clone->data, &datagram.ip4, datagram.len), 0);
	kfree_skb(clone);
	skb = fixture_packet(fx, &from, ETH_P_IP, &datagram.ip4, datagram.len);
	fixture_receive(fx, fixture_scatter(fx, skb, 0), PACKET_HOST);
	expect_received(fx, guest_mac, &datagram);
	fixture_dropped(fx, NULL);
}

static struct kunit_case to_cases[] = {
	KUNIT_CASE(group_out4),
	KUNIT_CASE(group_out6),
	KUNIT_CASE(broadcast_out),
	KUNIT_CASE(group_in),
	KUNIT_CASE(known_out),
	KUNIT_CASE(known_in),
	KUNIT_CASE(unknown_out),
	KUNIT_CASE(unknown_in),
	KUNIT_CASE(flooded),
	KUNIT_CASE(comes_to_others),
	KUNIT_CASE(shared_in),
	{}
};

static struct kunit_suite to_suite = {
	.name = "eipoib_to",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = to_cases,
};

kunit_test_suite(to_suite);
