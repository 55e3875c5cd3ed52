// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of ARP: what the packets of each side look like on the other side, whom they go to, and
 * what is learned from them.
 */
#include <linux/etherdevice.h>

#include "kunit.h"

#define OP_OTHER	8	/* InARP request (RFC 2390) */

static const u8 zero_mac[ETH_ALEN];
static const struct eipoib_lladdr no_lladdr;

static __be32 ip(u32 number)
{
	return htonl(0x0a000000 | number);
}

static bool is_local(struct fixture *fx, u32 number, const u8 *mac)
{
	struct in6_addr address = eipoib_ip4(ip(number));

	return eipoib_ip_is(&fx->eth->local, &address, mac);
}

static bool is_known(struct eipoib_ip_table *table, u32 number)
{
	struct in6_addr address = eipoib_ip4(ip(number));
	u8 mac[ETH_ALEN];

	return eipoib_ip_get(table, &address, mac);
}

static bool is_heard(struct fixture *fx, u32 number, const u8 *mac)
{
	struct in6_addr address = eipoib_ip4(ip(number));

	return eipoib_ip_is(&fx->eth->heard, &address, mac);
}

static void learn_local(struct fixture *fx, u32 number, const u8 *mac)
{
	struct in6_addr address = eipoib_ip4(ip(number));

	local_bh_disable();
	eipoib_learn_local(fx->eth, &address, mac);
	local_bh_enable();
}

static struct eipoib_arp_ib arp_ib(u16 op, struct eipoib_lladdr sha, __be32 spa,
				   struct eipoib_lladdr tha, __be32 tpa)
{
	return (struct eipoib_arp_ib) {
		.head = {
			.ar_hrd = htons(ARPHRD_INFINIBAND),
			.ar_pro = htons(ETH_P_IP),
			.ar_hln = INFINIBAND_ALEN,
			.ar_pln = sizeof(__be32),
			.ar_op = htons(op),
		},
		.sha = sha,
		.spa = spa,
		.tha = tha,
		.tpa = tpa,
	};
}

static struct sk_buff *arp_frame(struct fixture *fx, const u8 *to, struct eipoib_arp_eth arp)
{
	return fixture_frame(fx, to, arp.sha, ETH_P_ARP, &arp, sizeof(arp));
}

static void expect_sent(struct fixture *fx, const struct eipoib_lladdr *to,
			struct eipoib_arp_ib wanted)
{
	struct sk_buff *skb = fixture_sent(fx, ETH_P_ARP);
	const struct eipoib_header *header = (struct eipoib_header *)skb->data;

	KUNIT_EXPECT_EQ(fx->test, memcmp(&header->from, to, sizeof(*to)), 0);
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)(sizeof(*header) + sizeof(wanted)));
	KUNIT_EXPECT_EQ(fx->test, memcmp(header + 1, &wanted, sizeof(wanted)), 0);
	kfree_skb(skb);
	fixture_dropped(fx, NULL);
}

static void expect_received(struct fixture *fx, const u8 *to, struct eipoib_arp_eth wanted)
{
	struct sk_buff *skb = fixture_received(fx, ETH_P_ARP);
	const struct ethhdr *ether = (struct ethhdr *)skb->data;

	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_dest, to));
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_source, wanted.sha));
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)(sizeof(*ether) + sizeof(wanted)));
	KUNIT_EXPECT_EQ(fx->test, memcmp(ether + 1, &wanted, sizeof(wanted)), 0);
	kfree_skb(skb);
	fixture_dropped(fx, NULL);
}

static void receive(struct fixture *fx, struct eipoib_arp_ib arp, u8 pkt_type)
{
	fixture_receive(fx, fixture_packet(fx, &arp.sha, ETH_P_ARP, &arp, sizeof(arp)), pkt_type);
}

static void arp_request_out(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_xmit(fx, arp_frame(fx, fx->netdev->broadcast,
				   fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(2))));
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, *eipoib_own_lladdr(fx->eth), ip(1), no_lladdr, ip(2)));
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
}

/* A guest looks whether its neighbour is still there */
static void arp_probe_out(struct kunit *test)
{
	struct eipoib_lladdr peer = fixture_peer(1);
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	eipoib_remote_mac_of(&peer, peer_mac);
	/* It is not known any more, so it is asked for */
	fixture_xmit(fx, arp_frame(fx, peer_mac,
				   fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(2))));
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, *eipoib_own_lladdr(fx->eth), ip(1), no_lladdr, ip(2)));
	fixture_peer_mac(fx, 1, peer_mac);
	fixture_xmit(fx, arp_frame(fx, peer_mac,
				   fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), peer_mac, ip(2))));
	expect_sent(fx, &peer,
		    arp_ib(ARPOP_REQUEST, *eipoib_own_lladdr(fx->eth), ip(1), no_lladdr, ip(2)));
}

static void arp_reply_out(struct kunit *test)
{
	struct eipoib_lladdr peer = fixture_peer(1);
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	fixture_xmit(fx, arp_frame(fx, peer_mac,
				   fixture_arp(ARPOP_REPLY, guest_mac, ip(1), peer_mac, ip(2))));
	expect_sent(fx, &peer,
		    arp_ib(ARPOP_REPLY, *eipoib_own_lladdr(fx->eth), ip(1), peer, ip(2)));
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
}

/* Gratuitous ARP, of both kinds; the address moves from one host to the other */
static void arp_gratuitous_out(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr own = *eipoib_own_lladdr(fx->eth);

	fixture_xmit(fx, arp_frame(fx, fx->netdev->broadcast,
				   fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(1))));
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, own, ip(1), no_lladdr, ip(1)));
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
	fixture_xmit(fx, arp_frame(fx, fx->netdev->broadcast,
				   fixture_arp(ARPOP_REPLY, other_mac, ip(1), other_mac, ip(1))));
	expect_sent(fx, eipoib_broadcast(fx->eth), arp_ib(ARPOP_REPLY, own, ip(1), own, ip(1)));
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, other_mac));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_moved"), 1ull);
}

/* Duplicate address detection (RFC 5227): nobody has the address yet */
static void arp_dad_out(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_xmit(fx, arp_frame(fx, fx->netdev->broadcast,
				   fixture_arp(ARPOP_REQUEST, guest_mac, 0, zero_mac, ip(1))));
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, *eipoib_own_lladdr(fx->eth), 0, no_lladdr, ip(1)));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, 1));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(&fx->eth->local, guest_mac));
}

/* A frame has at least 60 octets; the padding does not belong to the packet */
static void arp_padding_out(struct kunit *test)
{
	struct eipoib_arp_eth arp = fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(2));
	struct fixture *fx = test->priv;
	struct sk_buff *skb;

	skb = arp_frame(fx, fx->netdev->broadcast, arp);
	KUNIT_ASSERT_EQ(test, skb_put_padto(skb, ETH_ZLEN), 0);
	fixture_xmit(fx, skb);
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, *eipoib_own_lladdr(fx->eth), ip(1), no_lladdr, ip(2)));
}

/* A frame in pages, and one that a packet socket has as well */
static void arp_shapes_out(struct kunit *test)
{
	struct eipoib_arp_eth arp = fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(2));
	struct fixture *fx = test->priv;
	struct eipoib_arp_ib wanted = arp_ib(ARPOP_REQUEST, *eipoib_own_lladdr(fx->eth), ip(1),
					     no_lladdr, ip(2));
	struct sk_buff *skb, *clone;

	fixture_xmit(fx, fixture_scatter(fx, arp_frame(fx, fx->netdev->broadcast, arp), 3));
	expect_sent(fx, eipoib_broadcast(fx->eth), wanted);
	skb = arp_frame(fx, fx->netdev->broadcast, arp);
	clone = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clone);
	fixture_xmit(fx, skb);
	expect_sent(fx, eipoib_broadcast(fx->eth), wanted);
	KUNIT_EXPECT_EQ(test, memcmp(clone->data + ETH_HLEN, &arp, sizeof(arp)), 0);
	kfree_skb(clone);
}

static void refused_out(struct fixture *fx, struct eipoib_arp_eth arp, u32 len)
{
	fixture_xmit(fx, fixture_frame(fx, fx->netdev->broadcast, guest_mac, ETH_P_ARP, &arp, len));
	fixture_dropped(fx, "tx_bad_arp");
	KUNIT_EXPECT_FALSE(fx->test, is_known(&fx->eth->local, 1));
}

static void arp_malformed_out(struct kunit *test)
{
	const struct eipoib_arp_eth good = fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac,
						       ip(2));
	struct fixture *fx = test->priv;
	struct eipoib_arp_eth arp;

	refused_out(fx, good, sizeof(good) - 1);
	refused_out(fx, good, 0);
	arp = good;
	arp.head.ar_hrd = htons(ARPHRD_INFINIBAND);
	refused_out(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_pro = htons(ETH_P_IPV6);
	refused_out(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_hln = INFINIBAND_ALEN;
	refused_out(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_pln = sizeof(struct in6_addr);
	refused_out(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_op = htons(OP_OTHER);
	refused_out(fx, arp, sizeof(arp));
	refused_out(fx, fixture_arp(ARPOP_REQUEST, zero_mac, ip(1), zero_mac, ip(2)), sizeof(arp));
	refused_out(fx, fixture_arp(ARPOP_REQUEST, fx->netdev->broadcast, ip(1), zero_mac, ip(2)),
		    sizeof(arp));
}

static void arp_request_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	receive(fx, arp_ib(ARPOP_REQUEST, fixture_peer(1), ip(2), no_lladdr, ip(1)),
		PACKET_BROADCAST);
	fixture_peer_mac(fx, 1, peer_mac);
	expect_received(fx, fx->netdev->broadcast,
			fixture_arp(ARPOP_REQUEST, peer_mac, ip(2), zero_mac, ip(1)));
	KUNIT_EXPECT_TRUE(test, is_heard(fx, 2, peer_mac));
}

static void arp_probe_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	receive(fx, arp_ib(ARPOP_REQUEST, fixture_peer(1), ip(2), no_lladdr, ip(1)), PACKET_HOST);
	expect_received(fx, fx->netdev->broadcast,
			fixture_arp(ARPOP_REQUEST, peer_mac, ip(2), zero_mac, ip(1)));
	learn_local(fx, 1, guest_mac);
	receive(fx, arp_ib(ARPOP_REQUEST, fixture_peer(1), ip(2), no_lladdr, ip(1)), PACKET_HOST);
	expect_received(fx, guest_mac,
			fixture_arp(ARPOP_REQUEST, peer_mac, ip(2), zero_mac, ip(1)));
}

static void arp_reply_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr own = *eipoib_own_lladdr(fx->eth);
	u8 peer_mac[ETH_ALEN];

	learn_local(fx, 1, guest_mac);
	receive(fx, arp_ib(ARPOP_REPLY, fixture_peer(1), ip(2), own, ip(1)), PACKET_HOST);
	fixture_peer_mac(fx, 1, peer_mac);
	expect_received(fx, guest_mac, fixture_arp(ARPOP_REPLY, peer_mac, ip(2), guest_mac, ip(1)));
	KUNIT_EXPECT_TRUE(test, is_heard(fx, 2, peer_mac));
}

/* An address of the Ethernet side moves away, and back */
static void arp_gratuitous_in(struct kunit *test)
{
	struct eipoib_lladdr peer = fixture_peer(1);
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	learn_local(fx, 1, guest_mac);
	peer.flags = 0x80;
	receive(fx, arp_ib(ARPOP_REQUEST, peer, ip(1), no_lladdr, ip(1)), PACKET_BROADCAST);
	fixture_peer_mac(fx, 1, peer_mac);
	expect_received(fx, fx->netdev->broadcast,
			fixture_arp(ARPOP_REQUEST, peer_mac, ip(1), zero_mac, ip(1)));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, 1));
	KUNIT_EXPECT_TRUE(test, is_heard(fx, 1, peer_mac));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_left"), 1ull);
	/* The flags in the packet are those of the interface */
	KUNIT_EXPECT_TRUE(test, eipoib_remote_lladdr(&fx->eth->remotes, peer_mac, &peer));
	KUNIT_EXPECT_EQ(test, peer.flags, 0x80);
	learn_local(fx, 1, guest_mac);
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->heard, 1));
}

/* An address that comes to the Ethernet side: its other hosts have the MAC address of an interface
 * for it. A bridge must not learn from this where the host is.
 */
static void arp_comes(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ethhdr *ether;
	struct eipoib_arp_eth wanted;
	struct sk_buff *skb;

	receive(fx, arp_ib(ARPOP_REQUEST, fixture_peer(1), ip(1), no_lladdr, ip(2)),
		PACKET_BROADCAST);
	kfree_skb(fixture_received(fx, ETH_P_ARP));
	fixture_xmit(fx, arp_frame(fx, fx->netdev->broadcast,
				   fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(3))));
	skb = fixture_received(fx, ETH_P_ARP);
	ether = (struct ethhdr *)skb->data;
	wanted = fixture_arp(ARPOP_REQUEST, guest_mac, ip(1), zero_mac, ip(1));
	KUNIT_EXPECT_TRUE(test, is_broadcast_ether_addr(ether->h_dest));
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(ether->h_source, fx->eth->own_mac));
	KUNIT_EXPECT_EQ(test, memcmp(ether + 1, &wanted, sizeof(wanted)), 0);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced_eth"), 1ull);
}

static void arp_dad_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u8 peer_mac[ETH_ALEN];

	learn_local(fx, 1, guest_mac);
	receive(fx, arp_ib(ARPOP_REQUEST, fixture_peer(1), 0, no_lladdr, ip(1)),
		PACKET_BROADCAST);
	fixture_peer_mac(fx, 1, peer_mac);
	expect_received(fx, fx->netdev->broadcast,
			fixture_arp(ARPOP_REQUEST, peer_mac, 0, zero_mac, ip(1)));
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->heard, 1));
}

static void refused_in(struct fixture *fx, struct eipoib_arp_ib arp, u32 len)
{
	struct eipoib_lladdr from = fixture_peer(1);

	fixture_receive(fx, fixture_packet(fx, &from, ETH_P_ARP, &arp, len), PACKET_BROADCAST);
	fixture_dropped(fx, "rx_bad_arp");
	KUNIT_EXPECT_FALSE(fx->test, is_known(&fx->eth->heard, 2));
}

static void arp_malformed_in(struct kunit *test)
{
	const struct eipoib_arp_ib good = arp_ib(ARPOP_REQUEST, fixture_peer(1), ip(2), no_lladdr,
						 ip(1));
	struct fixture *fx = test->priv;
	struct eipoib_arp_ib arp;

	refused_in(fx, good, sizeof(good) - 1);
	refused_in(fx, good, 0);
	arp = good;
	arp.head.ar_hrd = htons(ARPHRD_ETHER);
	refused_in(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_pro = htons(ETH_P_IPV6);
	refused_in(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_hln = ETH_ALEN;
	refused_in(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_pln = sizeof(struct in6_addr);
	refused_in(fx, arp, sizeof(arp));
	arp = good;
	arp.head.ar_op = htons(OP_OTHER);
	refused_in(fx, arp, sizeof(arp));
	/* Nobody else has the address of this host, and a group is no interface */
	arp = good;
	arp.sha = *eipoib_own_lladdr(fx->eth);
	refused_in(fx, arp, sizeof(arp));
	arp = good;
	arp.sha = *eipoib_broadcast(fx->eth);
	refused_in(fx, arp, sizeof(arp));
}

static void make_static(struct fixture *fx, u32 number, const u8 *mac)
{
	struct in6_addr address = eipoib_ip4(ip(number));

	KUNIT_ASSERT_EQ(fx->test, eipoib_learn_static(fx->eth, &address, mac), 0);
}

static void claim(struct fixture *fx, const u8 *mac, __be32 spa)
{
	fixture_xmit(fx, arp_frame(fx, fx->netdev->broadcast,
				   fixture_arp(ARPOP_REQUEST, mac, spa, zero_mac, ip(2))));
}

/* While nothing is learned, a host may have the addresses of its static entries, and no others */
static void arp_learning_off(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr own = *eipoib_own_lladdr(fx->eth);

	WRITE_ONCE(fx->eth->config.learning, false);
	claim(fx, guest_mac, ip(1));
	fixture_dropped(fx, "tx_forged");
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, 1));
	make_static(fx, 1, guest_mac);
	claim(fx, guest_mac, ip(1));
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, own, ip(1), no_lladdr, ip(2)));
	claim(fx, other_mac, ip(1));
	fixture_dropped(fx, "tx_forged");
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
	/* Duplicate address detection claims nothing */
	claim(fx, other_mac, 0);
	expect_sent(fx, eipoib_broadcast(fx->eth),
		    arp_ib(ARPOP_REQUEST, own, 0, no_lladdr, ip(2)));
}

/* A static entry holds, whatever either side says */
static void arp_static(struct kunit *test)
{
	struct fixture *fx = test->priv;

	make_static(fx, 1, guest_mac);
	claim(fx, other_mac, ip(1));
	fixture_dropped(fx, "tx_forged");
	receive(fx, arp_ib(ARPOP_REQUEST, fixture_peer(1), ip(1), no_lladdr, ip(1)),
		PACKET_BROADCAST);
	fixture_dropped(fx, "rx_forged");
	KUNIT_EXPECT_TRUE(test, is_local(fx, 1, guest_mac));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->heard, 1));
}

/* The MAC address of an interface of the IPoIB side is nobody else's */
static void arp_remote_claimed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_arp_eth arp;
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	arp = fixture_arp(ARPOP_REQUEST, peer_mac, ip(1), zero_mac, ip(2));
	fixture_xmit(fx, fixture_frame(fx, fx->netdev->broadcast, guest_mac, ETH_P_ARP, &arp,
				       sizeof(arp)));
	kfree_skb(fixture_sent(fx, ETH_P_ARP));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, 1));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_refused"), 1ull);
	claim(fx, peer_mac, ip(1));
	fixture_dropped(fx, "tx_loop");
}

static struct kunit_case arp_cases[] = {
	KUNIT_CASE(arp_request_out),
	KUNIT_CASE(arp_probe_out),
	KUNIT_CASE(arp_reply_out),
	KUNIT_CASE(arp_gratuitous_out),
	KUNIT_CASE(arp_dad_out),
	KUNIT_CASE(arp_padding_out),
	KUNIT_CASE(arp_shapes_out),
	KUNIT_CASE(arp_malformed_out),
	KUNIT_CASE(arp_request_in),
	KUNIT_CASE(arp_probe_in),
	KUNIT_CASE(arp_reply_in),
	KUNIT_CASE(arp_gratuitous_in),
	KUNIT_CASE(arp_comes),
	KUNIT_CASE(arp_dad_in),
	KUNIT_CASE(arp_malformed_in),
	KUNIT_CASE(arp_learning_off),
	KUNIT_CASE(arp_static),
	KUNIT_CASE(arp_remote_claimed),
	{}
};

static struct kunit_suite arp_suite = {
	.name = "eipoib_arp",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = arp_cases,
};

kunit_test_suite(arp_suite);
