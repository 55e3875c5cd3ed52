// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of neighbor discovery: each message, built by the test for both sides, becomes that of the
 * other side octet by octet; and those that no receiver would accept are dropped.
 */
#include <linux/icmpv6.h>
#include <net/addrconf.h>
#include <net/ip6_checksum.h>
#include <net/ndisc.h>

#include "kunit.h"

#define ND_OPT_REDIRECTED	4	/* RFC 4861 section 4.6 */
#define ND_OPT_NONCE_NUMBER	14	/* RFC 3971 section 5.3 */
#define ND_OPT_RDNSS_NUMBER	25	/* RFC 8106 section 5.1 */

static const struct in6_addr guest_ip = { .s6_addr = { 0xfe, 0x80, [15] = 0x11 } };
static const struct in6_addr peer_ip = { .s6_addr = { 0xfe, 0x80, [15] = 0x22 } };
static const struct in6_addr all_nodes = { .s6_addr = { 0xff, 0x02, [15] = 1 } };
static const struct in6_addr all_routers = { .s6_addr = { 0xff, 0x02, [15] = 2 } };

/* A message that is being built */
struct message {
	u8 data[512];
	u32 len;
};

/* What a message says of link-layer addresses, which have another form on each side */
struct addresses {
	bool ib;			/* the form */
	const u8 *mac;
	struct eipoib_lladdr lladdr;
};

static struct ipv6hdr *ip6_of(struct message *message)
{
	return (struct ipv6hdr *)message->data;
}

static struct icmp6hdr *icmp_of(struct message *message)
{
	return (struct icmp6hdr *)(message->data + sizeof(struct ipv6hdr));
}

static void *put(struct message *message, const void *octets, u32 len)
{
	void *at = message->data + message->len;

	if (octets)
		memcpy(at, octets, len);
	message->len += len;
	return at;
}

/* Begins a message with the octets before its options */
static void begin(struct message *message, u8 type, const struct in6_addr *from,
		  const struct in6_addr *to, u32 fixed)
{
	memset(message, 0, sizeof(*message));
	message->len = sizeof(struct ipv6hdr) + fixed;
	ip6_of(message)->version = 6;
	ip6_of(message)->priority = 3;
	ip6_of(message)->nexthdr = IPPROTO_ICMPV6;
	ip6_of(message)->hop_limit = 255;
	ip6_of(message)->saddr = *from;
	ip6_of(message)->daddr = *to;
	icmp_of(message)->icmp6_type = type;
}

/* An option of a multiple of eight octets, filled with a pattern */
static void put_option(struct message *message, u8 type, u8 units)
{
	u8 *option = put(message, NULL, 8 * units);

	memset(option, 0xa0 + type, 8 * units);
	option[0] = type;
	option[1] = units;
}

static void put_address(struct message *message, u8 type, const struct addresses *addresses)
{
	u8 head[4] = { type, addresses->ib ? 3 : 1 };

	put(message, head, addresses->ib ? 4 : 2);
	if (addresses->ib)
		put(message, &addresses->lladdr, sizeof(addresses->lladdr));
	else
		put(message, addresses->mac, ETH_ALEN);
}

static void checksum(struct message *message)
{
	u32 len = message->len - sizeof(struct ipv6hdr);

	icmp_of(message)->icmp6_cksum = 0;
	icmp_of(message)->icmp6_cksum =
		csum_ipv6_magic(&ip6_of(message)->saddr, &ip6_of(message)->daddr, len,
				IPPROTO_ICMPV6, csum_partial(icmp_of(message), len, 0));
}

static void end(struct message *message)
{
	ip6_of(message)->payload_len = htons(message->len - sizeof(struct ipv6hdr));
	checksum(message);
}

/* Messages of a sender with these addresses; each has all the options that it may have */

static void solicitation(struct message *message, const struct in6_addr *from,
			 const struct in6_addr *to, const struct in6_addr *target,
			 const struct addresses *sender)
{
	begin(message, NDISC_NEIGHBOUR_SOLICITATION, from, to, sizeof(struct nd_msg));
	((struct nd_msg *)icmp_of(message))->target = *target;
	put_option(message, ND_OPT_NONCE_NUMBER, 1);
	put_address(message, ND_OPT_SOURCE_LL_ADDR, sender);
	end(message);
}

static void advertisement(struct message *message, const struct in6_addr *from,
			  const struct in6_addr *to, const struct addresses *sender)
{
	begin(message, NDISC_NEIGHBOUR_ADVERTISEMENT, from, to, sizeof(struct nd_msg));
	icmp_of(message)->icmp6_override = 1;
	((struct nd_msg *)icmp_of(message))->target = *from;
	put_address(message, ND_OPT_TARGET_LL_ADDR, sender);
	end(message);
}

static void router_solicitation(struct message *message, const struct in6_addr *from,
				const struct addresses *sender)
{
	begin(message, NDISC_ROUTER_SOLICITATION, from, &all_routers, sizeof(struct rs_msg));
	put_address(message, ND_OPT_SOURCE_LL_ADDR, sender);
	end(message);
}

static void router_advertisement(struct message *message, const struct in6_addr *from,
				 const struct addresses *sender)
{
	begin(message, NDISC_ROUTER_ADVERTISEMENT, from, &all_nodes, sizeof(struct ra_msg));
	icmp_of(message)->icmp6_hop_limit = 64;
	put_option(message, ND_OPT_PREFIX_INFO, 4);
	put_address(message, ND_OPT_SOURCE_LL_ADDR, sender);
	put_option(message, ND_OPT_MTU, 1);
	put_option(message, ND_OPT_RDNSS_NUMBER, 3);
	end(message);
}

static void redirect(struct message *message, const struct in6_addr *from,
		     const struct in6_addr *to, const struct addresses *target)
{
	begin(message, NDISC_REDIRECT, from, to, sizeof(struct rd_msg));
	((struct rd_msg *)icmp_of(message))->target = all_nodes;
	((struct rd_msg *)icmp_of(message))->dest = peer_ip;
	put_address(message, ND_OPT_TARGET_LL_ADDR, target);
	put_option(message, ND_OPT_REDIRECTED, 10);
	end(message);
}

/* The addresses of a guest, as each side sees them */
static struct addresses guest(struct fixture *fx, bool ib)
{
	return (struct addresses) {
		.ib = ib, .mac = guest_mac, .lladdr = *eipoib_own_lladdr(fx->eth),
	};
}

/* Those of an interface of the IPoIB side */
static struct addresses peer(struct fixture *fx, bool ib)
{
	static u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	return (struct addresses) { .ib = ib, .mac = peer_mac, .lladdr = fixture_peer(1) };
}

static struct sk_buff *frame(struct fixture *fx, const u8 *to, const struct message *message)
{
	return fixture_frame(fx, to, guest_mac, ETH_P_IPV6, message->data, message->len);
}

static struct sk_buff *packet(struct fixture *fx, const struct message *message)
{
	struct eipoib_lladdr from = fixture_peer(1);

	return fixture_packet(fx, &from, ETH_P_IPV6, message->data, message->len);
}

static void group_mac(const struct in6_addr *group, u8 *mac)
{
	mac[0] = 0x33;
	mac[1] = 0x33;
	memcpy(&mac[2], &group->s6_addr[12], 4);
}

static void expect_sent(struct fixture *fx, const struct eipoib_lladdr *to,
			const struct message *wanted)
{
	struct sk_buff *skb = fixture_sent(fx, ETH_P_IPV6);
	const struct eipoib_header *header = (struct eipoib_header *)skb->data;

	KUNIT_EXPECT_EQ(fx->test, memcmp(&header->from, to, sizeof(*to)), 0);
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)sizeof(*header) + wanted->len);
	KUNIT_EXPECT_EQ(fx->test, memcmp(header + 1, wanted->data, wanted->len), 0);
	KUNIT_EXPECT_NE(fx->test, (int)skb->ip_summed, CHECKSUM_PARTIAL);
	kfree_skb(skb);
	fixture_dropped(fx, NULL);
}

static void expect_group(struct fixture *fx, const struct in6_addr *group,
			 const struct message *wanted)
{
	struct eipoib_lladdr to;

	eipoib_group_lladdr(fx->eth, group, &to);
	expect_sent(fx, &to, wanted);
}

static void expect_received(struct fixture *fx, const u8 *to, const u8 *from,
			    const struct message *wanted)
{
	struct sk_buff *skb = fixture_received(fx, ETH_P_IPV6);
	const struct ethhdr *ether = (struct ethhdr *)skb->data;

	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_dest, to));
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_source, from));
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)sizeof(*ether) + wanted->len);
	KUNIT_EXPECT_EQ(fx->test, memcmp(ether + 1, wanted->data, wanted->len), 0);
	kfree_skb(skb);
	fixture_dropped(fx, NULL);
}

static bool is_local(struct fixture *fx, const struct in6_addr *ip)
{
	return eipoib_ip_is(&fx->eth->local, ip, guest_mac);
}

static bool is_heard(struct fixture *fx, const struct in6_addr *ip)
{
	return eipoib_ip_is(&fx->eth->heard, ip, peer(fx, false).mac);
}

static bool is_known(struct eipoib_ip_table *table, const struct in6_addr *ip)
{
	u8 mac[ETH_ALEN];

	return eipoib_ip_get(table, ip, mac);
}

static void learn_local(struct fixture *fx, const struct in6_addr *ip)
{
	local_bh_disable();
	eipoib_learn_local(fx->eth, ip, guest_mac);
	local_bh_enable();
}

static void nd_solicitation_out(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = guest(fx, true), to = peer(fx, false);
	static struct message message, wanted;
	struct in6_addr group;
	u8 mac[ETH_ALEN];

	addrconf_addr_solict_mult(&peer_ip, &group);
	group_mac(&group, mac);
	solicitation(&message, &guest_ip, &group, &peer_ip, &eth);
	solicitation(&wanted, &guest_ip, &group, &peer_ip, &ib);
	fixture_xmit(fx, frame(fx, mac, &message));
	expect_group(fx, &group, &wanted);
	KUNIT_EXPECT_TRUE(test, is_local(fx, &guest_ip));
	/* To a neighbour, which is known or not known any more */
	solicitation(&message, &guest_ip, &peer_ip, &peer_ip, &eth);
	solicitation(&wanted, &guest_ip, &peer_ip, &peer_ip, &ib);
	fixture_xmit(fx, frame(fx, to.mac, &message));
	expect_sent(fx, &to.lladdr, &wanted);
	eipoib_remotes_expire(&fx->eth->remotes, 0);
	fixture_xmit(fx, frame(fx, to.mac, &message));
	expect_group(fx, &group, &wanted);
}

/* Duplicate address detection: there is no sender yet, and nothing to rewrite */
static void nd_dad_out(struct kunit *test)
{
	struct fixture *fx = test->priv;
	static struct message message;
	struct in6_addr group;
	u8 mac[ETH_ALEN];

	addrconf_addr_solict_mult(&guest_ip, &group);
	group_mac(&group, mac);
	begin(&message, NDISC_NEIGHBOUR_SOLICITATION, &in6addr_any, &group, sizeof(struct nd_msg));
	((struct nd_msg *)icmp_of(&message))->target = guest_ip;
	put_option(&message, ND_OPT_NONCE_NUMBER, 1);
	end(&message);
	fixture_xmit(fx, frame(fx, mac, &message));
	expect_group(fx, &group, &message);
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, &guest_ip));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, &in6addr_any));
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	expect_received(fx, mac, peer(fx, false).mac, &message);
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->heard, &guest_ip));
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->heard, &in6addr_any));
}

static void nd_advertisement_out(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = guest(fx, true), to = peer(fx, false);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	advertisement(&message, &guest_ip, &peer_ip, &eth);
	advertisement(&wanted, &guest_ip, &peer_ip, &ib);
	fixture_xmit(fx, frame(fx, to.mac, &message));
	expect_sent(fx, &to.lladdr, &wanted);
	KUNIT_EXPECT_TRUE(test, is_local(fx, &guest_ip));
	group_mac(&all_nodes, mac);
	advertisement(&message, &guest_ip, &all_nodes, &eth);
	advertisement(&wanted, &guest_ip, &all_nodes, &ib);
	fixture_xmit(fx, frame(fx, mac, &message));
	expect_group(fx, &all_nodes, &wanted);
}

static void nd_routers_out(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = guest(fx, true), to = peer(fx, false);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	group_mac(&all_routers, mac);
	router_solicitation(&message, &guest_ip, &eth);
	router_solicitation(&wanted, &guest_ip, &ib);
	fixture_xmit(fx, frame(fx, mac, &message));
	expect_group(fx, &all_routers, &wanted);
	group_mac(&all_nodes, mac);
	router_advertisement(&message, &guest_ip, &eth);
	router_advertisement(&wanted, &guest_ip, &ib);
	fixture_xmit(fx, frame(fx, mac, &message));
	expect_group(fx, &all_nodes, &wanted);
	KUNIT_EXPECT_TRUE(test, is_local(fx, &guest_ip));
	/* A redirect to an interface of the IPoIB side has that one's address */
	redirect(&message, &guest_ip, &peer_ip, &to);
	to.ib = true;
	redirect(&wanted, &guest_ip, &peer_ip, &to);
	fixture_xmit(fx, frame(fx, to.mac, &message));
	expect_sent(fx, &to.lladdr, &wanted);
}

static void nd_solicitation_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = peer(fx, false), ib = peer(fx, true);
	static struct message message, wanted;
	struct in6_addr group;
	u8 mac[ETH_ALEN];

	addrconf_addr_solict_mult(&guest_ip, &group);
	group_mac(&group, mac);
	solicitation(&message, &peer_ip, &group, &guest_ip, &ib);
	solicitation(&wanted, &peer_ip, &group, &guest_ip, &eth);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	expect_received(fx, mac, eth.mac, &wanted);
	KUNIT_EXPECT_TRUE(test, is_heard(fx, &peer_ip));
	/* To a guest, which is known or not known any more */
	solicitation(&message, &peer_ip, &guest_ip, &guest_ip, &ib);
	solicitation(&wanted, &peer_ip, &guest_ip, &guest_ip, &eth);
	fixture_receive(fx, packet(fx, &message), PACKET_HOST);
	expect_received(fx, fx->netdev->broadcast, eth.mac, &wanted);
	learn_local(fx, &guest_ip);
	fixture_receive(fx, packet(fx, &message), PACKET_HOST);
	expect_received(fx, guest_mac, eth.mac, &wanted);
}

/* The address of a guest is taken over by the IPoIB side */
static void nd_advertisement_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = peer(fx, false), ib = peer(fx, true);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	learn_local(fx, &guest_ip);
	group_mac(&all_nodes, mac);
	advertisement(&message, &guest_ip, &all_nodes, &ib);
	advertisement(&wanted, &guest_ip, &all_nodes, &eth);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	expect_received(fx, mac, eth.mac, &wanted);
	KUNIT_EXPECT_FALSE(test, is_known(&fx->eth->local, &guest_ip));
	KUNIT_EXPECT_TRUE(test, is_heard(fx, &guest_ip));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_left"), 1ull);
}

/* The address of a host of the IPoIB side comes to a guest, as its neighbours are told */
static void nd_comes(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = peer(fx, true);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	group_mac(&all_nodes, mac);
	advertisement(&message, &guest_ip, &all_nodes, &ib);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	kfree_skb(fixture_received(fx, ETH_P_IPV6));
	advertisement(&message, &guest_ip, &peer_ip, &eth);
	fixture_xmit(fx, frame(fx, peer(fx, false).mac, &message));
	kfree_skb(fixture_sent(fx, ETH_P_IPV6));
	advertisement(&wanted, &guest_ip, &all_nodes, &eth);
	ip6_of(&wanted)->priority = 0;
	/* It is announced on the IPoIB side, too, at any time */
	cancel_delayed_work_sync(&fx->eth->announce.work);
	skb_queue_purge(&fx->sent);
	expect_received(fx, mac, fx->eth->own_mac, &wanted);
}

static void nd_routers_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = peer(fx, false), ib = peer(fx, true);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	group_mac(&all_routers, mac);
	router_solicitation(&message, &peer_ip, &ib);
	router_solicitation(&wanted, &peer_ip, &eth);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	expect_received(fx, mac, eth.mac, &wanted);
	group_mac(&all_nodes, mac);
	router_advertisement(&message, &peer_ip, &ib);
	router_advertisement(&wanted, &peer_ip, &eth);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	expect_received(fx, mac, eth.mac, &wanted);
	learn_local(fx, &guest_ip);
	redirect(&message, &peer_ip, &guest_ip, &ib);
	redirect(&wanted, &peer_ip, &guest_ip, &eth);
	fixture_receive(fx, packet(fx, &message), PACKET_HOST);
	expect_received(fx, guest_mac, eth.mac, &wanted);
}

/* Removes the option at the end of a message, which has an address of the IPoIB side */
static void drop_address(struct message *message)
{
	message->len -= 4 + sizeof(struct eipoib_lladdr);
	end(message);
}

/* In the name of a host with a static entry, nothing comes from the IPoIB side, even if it has no
 * link-layer address: that it is no router any more, that its address is in use, or a redirect
 */
static void nd_static_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses ib = peer(fx, true);
	static struct message message;

	KUNIT_ASSERT_EQ(test, eipoib_learn_static(fx->eth, &guest_ip, guest_mac), 0);
	cancel_delayed_work_sync(&fx->eth->announce.work);
	advertisement(&message, &guest_ip, &all_nodes, &ib);
	drop_address(&message);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	router_solicitation(&message, &guest_ip, &ib);
	drop_address(&message);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	redirect(&message, &guest_ip, &all_nodes, &ib);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "rx_forged"), 3ull);
	/* Of another host they do */
	advertisement(&message, &peer_ip, &all_nodes, &ib);
	drop_address(&message);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "rx_forged"), 3ull);
	kfree_skb(fixture_received(fx, ETH_P_IPV6));
}

/* The link-layer address in a redirect is not that of its sender */
static void nd_redirect_teaches_nothing(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses ib = peer(fx, true);
	static struct message message;
	u8 mac[ETH_ALEN];

	redirect(&message, &peer_ip, &all_nodes, &ib);
	fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
	kfree_skb(fixture_received(fx, ETH_P_IPV6));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_get(&fx->eth->heard, &peer_ip, mac));
}

/* The in-tree driver does not tell who has sent a packet, but the packet does */
static void nd_sender_not_told(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = peer(fx, false), ib = peer(fx, true);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	group_mac(&all_nodes, mac);
	advertisement(&message, &peer_ip, &all_nodes, &ib);
	advertisement(&wanted, &peer_ip, &all_nodes, &eth);
	fixture_receive(fx, fixture_packet(fx, NULL, ETH_P_IPV6, message.data, message.len),
			PACKET_MULTICAST);
	expect_received(fx, mac, eth.mac, &wanted);
}

/* In pages, shared with others, with a checksum that is left to the device, with padding */
static void nd_shapes(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = guest(fx, true);
	static struct message message, wanted;
	struct sk_buff *skb, *clone;
	u8 mac[ETH_ALEN];

	group_mac(&all_nodes, mac);
	advertisement(&message, &guest_ip, &all_nodes, &eth);
	advertisement(&wanted, &guest_ip, &all_nodes, &ib);
	fixture_xmit(fx, fixture_scatter(fx, frame(fx, mac, &message), ETH_HLEN + 5));
	expect_group(fx, &all_nodes, &wanted);
	skb = frame(fx, mac, &message);
	clone = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clone);
	fixture_xmit(fx, skb);
	expect_group(fx, &all_nodes, &wanted);
	KUNIT_EXPECT_EQ(test, memcmp(clone->data + ETH_HLEN, message.data, message.len), 0);
	kfree_skb(clone);
	skb = frame(fx, mac, &message);
	KUNIT_ASSERT_EQ(test, skb_put_padto(skb, 200), 0);
	fixture_xmit(fx, skb);
	expect_group(fx, &all_nodes, &wanted);
	icmp_of(&message)->icmp6_cksum =
		~csum_ipv6_magic(&guest_ip, &all_nodes, message.len - sizeof(struct ipv6hdr),
				 IPPROTO_ICMPV6, 0);
	skb = frame(fx, mac, &message);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + ETH_HLEN + sizeof(struct ipv6hdr);
	skb->csum_offset = offsetof(struct icmp6hdr, icmp6_cksum);
	fixture_xmit(fx, skb);
	expect_group(fx, &all_nodes, &wanted);
}

static void refused_out(struct fixture *fx, const struct message *message)
{
	u8 mac[ETH_ALEN];

	group_mac(&all_nodes, mac);
	fixture_xmit(fx, frame(fx, mac, message));
	fixture_dropped(fx, "tx_bad_nd");
	KUNIT_EXPECT_FALSE(fx->test, is_known(&fx->eth->local, &guest_ip));
}

static void refused_in(struct fixture *fx, const struct message *message)
{
	fixture_receive(fx, packet(fx, message), PACKET_MULTICAST);
	fixture_dropped(fx, "rx_bad_nd");
	KUNIT_EXPECT_FALSE(fx->test, is_known(&fx->eth->heard, &guest_ip));
}

/* Faults of a message that are the same on both sides: octets that follow the good ones, and what
 * is said about the length
 */
static void refused_both(struct kunit *test, void (*refused)(struct fixture *fx,
							     const struct message *message),
			 const struct addresses *sender)
{
	struct fixture *fx = test->priv;
	static struct message message;

	advertisement(&message, &guest_ip, &all_nodes, sender);
	icmp_of(&message)->icmp6_cksum = csum16_add(icmp_of(&message)->icmp6_cksum, htons(0x0100));
	refused(fx, &message);
	advertisement(&message, &guest_ip, &all_nodes, sender);
	ip6_of(&message)->hop_limit = 254;
	refused(fx, &message);
	advertisement(&message, &guest_ip, &all_nodes, sender);
	icmp_of(&message)->icmp6_code = 1;
	checksum(&message);
	refused(fx, &message);
	/* Less than the header says */
	advertisement(&message, &guest_ip, &all_nodes, sender);
	message.len--;
	refused(fx, &message);
	/* An option of no length, one that is longer than what is left, and a half one */
	advertisement(&message, &guest_ip, &all_nodes, sender);
	put_option(&message, ND_OPT_NONCE_NUMBER, 1);
	message.data[message.len - 7] = 0;
	end(&message);
	refused(fx, &message);
	advertisement(&message, &guest_ip, &all_nodes, sender);
	put_option(&message, ND_OPT_NONCE_NUMBER, 1);
	message.data[message.len - 7] = 2;
	end(&message);
	refused(fx, &message);
	advertisement(&message, &guest_ip, &all_nodes, sender);
	put(&message, "", 1);
	end(&message);
	refused(fx, &message);
	/* No options, and not all that is in front of them */
	begin(&message, NDISC_NEIGHBOUR_ADVERTISEMENT, &guest_ip, &all_nodes,
	      sizeof(struct nd_msg) - 1);
	end(&message);
	refused(fx, &message);
	begin(&message, NDISC_ROUTER_ADVERTISEMENT, &guest_ip, &all_nodes,
	      sizeof(struct ra_msg) - 1);
	end(&message);
	refused(fx, &message);
	begin(&message, NDISC_REDIRECT, &guest_ip, &all_nodes, sizeof(struct rd_msg) - 1);
	end(&message);
	refused(fx, &message);
}

static void nd_malformed_out(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = guest(fx, true);
	static struct message message;

	refused_both(test, refused_out, &eth);
	/* An address of the other side's form, and those of no host */
	advertisement(&message, &guest_ip, &all_nodes, &ib);
	refused_out(fx, &message);
	eth.mac = fx->netdev->broadcast;
	advertisement(&message, &guest_ip, &all_nodes, &eth);
	refused_out(fx, &message);
	eth.mac = (u8[ETH_ALEN]) { };
	advertisement(&message, &guest_ip, &all_nodes, &eth);
	refused_out(fx, &message);
}

static void nd_malformed_in(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = peer(fx, false), ib = peer(fx, true);
	static struct message message;

	refused_both(test, refused_in, &ib);
	advertisement(&message, &guest_ip, &all_nodes, &eth);
	refused_in(fx, &message);
	ib.lladdr = *eipoib_broadcast(fx->eth);
	advertisement(&message, &guest_ip, &all_nodes, &ib);
	refused_in(fx, &message);
	ib.lladdr = *eipoib_own_lladdr(fx->eth);
	advertisement(&message, &guest_ip, &all_nodes, &ib);
	refused_in(fx, &message);
}

/* A message that is too long for the link when its options have grown */
static void nd_too_long(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = guest(fx, true);
	static struct message message, wanted;
	u8 mac[ETH_ALEN];

	group_mac(&all_nodes, mac);
	advertisement(&message, &guest_ip, &all_nodes, &eth);
	advertisement(&wanted, &guest_ip, &all_nodes, &ib);
	fx->lower->mtu = wanted.len;
	fixture_xmit(fx, frame(fx, mac, &message));
	expect_group(fx, &all_nodes, &wanted);
	fx->lower->mtu = wanted.len - 1;
	fixture_xmit(fx, frame(fx, mac, &message));
	fixture_dropped(fx, "tx_bad_nd");
}

/* Puts eight octets in front of a message, which fit as an extension header of this kind */
static void put_header(struct message *message, u8 kind)
{
	/* An option of padding, and the header of a fragment which is not the last */
	static const u8 options[] = { IPPROTO_ICMPV6, 0, 1, 4, 0, 0, 0, 0 };
	static const u8 fragment[] = { IPPROTO_ICMPV6, 0, 0, 1, 0, 0, 0, 0 };
	const u8 *header = kind == NEXTHDR_FRAGMENT ? fragment : options;
	u8 *icmp = message->data + sizeof(struct ipv6hdr);

	memmove(icmp + sizeof(options), icmp, message->len - sizeof(struct ipv6hdr));
	memcpy(icmp, header, sizeof(options));
	message->len += sizeof(options);
	ip6_of(message)->nexthdr = kind;
	ip6_of(message)->payload_len = htons(message->len - sizeof(struct ipv6hdr));
}

/* Hosts accept messages behind extension headers, so these do not pass without being read */
static void nd_behind_headers(struct kunit *test)
{
	static const u8 kinds[] = { NEXTHDR_DEST, NEXTHDR_HOP, NEXTHDR_ROUTING, NEXTHDR_FRAGMENT };
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = peer(fx, true);
	static struct message message;
	u32 n;

	for (n = 0; n < ARRAY_SIZE(kinds); n++) {
		advertisement(&message, &guest_ip, &all_nodes, &eth);
		put_header(&message, kinds[n]);
		refused_out(fx, &message);
		advertisement(&message, &peer_ip, &all_nodes, &ib);
		put_header(&message, kinds[n]);
		refused_in(fx, &message);
	}
}

/* Of two addresses, a receiver may use the one that was not checked */
static void nd_two_addresses(struct kunit *test)
{
	static const u8 types[] = { ND_OPT_TARGET_LL_ADDR, ND_OPT_SOURCE_LL_ADDR };
	struct fixture *fx = test->priv;
	struct addresses own = guest(fx, false), other = peer(fx, false);
	struct addresses own_ib = guest(fx, true), other_ib = peer(fx, true);
	static struct message message;
	u32 n;

	for (n = 0; n < ARRAY_SIZE(types); n++) {
		advertisement(&message, &guest_ip, &all_nodes, &other);
		put_address(&message, types[n], &own);
		end(&message);
		refused_out(fx, &message);
		own_ib.lladdr = fixture_peer(2);
		advertisement(&message, &peer_ip, &all_nodes, &other_ib);
		put_address(&message, types[n], &own_ib);
		end(&message);
		refused_in(fx, &message);
	}
}

/* What an advertisement says of a group, or of no address, is nothing (RFC 4861 section 7.1.2) */
static void nd_of_no_host(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct addresses eth = guest(fx, false), ib = peer(fx, true);
	const struct in6_addr mapped = eipoib_ip4(htonl(0x0a000001));
	const struct in6_addr *ips[] = { &all_routers, &in6addr_any, &mapped };
	static struct message message;
	u8 mac[ETH_ALEN];
	int n;

	group_mac(&all_nodes, mac);
	for (n = 0; n < ARRAY_SIZE(ips); n++) {
		advertisement(&message, &guest_ip, &all_nodes, &eth);
		((struct nd_msg *)icmp_of(&message))->target = *ips[n];
		checksum(&message);
		fixture_xmit(fx, frame(fx, mac, &message));
		KUNIT_EXPECT_FALSE_MSG(test, is_known(&fx->eth->local, ips[n]), "%d", n);
		advertisement(&message, &peer_ip, &all_nodes, &ib);
		((struct nd_msg *)icmp_of(&message))->target = *ips[n];
		checksum(&message);
		fixture_receive(fx, packet(fx, &message), PACKET_MULTICAST);
		KUNIT_EXPECT_FALSE_MSG(test, is_known(&fx->eth->heard, ips[n]), "%d", n);
	}
}

static struct kunit_case nd_cases[] = {
	KUNIT_CASE(nd_solicitation_out),
	KUNIT_CASE(nd_dad_out),
	KUNIT_CASE(nd_advertisement_out),
	KUNIT_CASE(nd_routers_out),
	KUNIT_CASE(nd_solicitation_in),
	KUNIT_CASE(nd_advertisement_in),
	KUNIT_CASE(nd_comes),
	KUNIT_CASE(nd_routers_in),
	KUNIT_CASE(nd_static_in),
	KUNIT_CASE(nd_redirect_teaches_nothing),
	KUNIT_CASE(nd_sender_not_told),
	KUNIT_CASE(nd_shapes),
	KUNIT_CASE(nd_malformed_out),
	KUNIT_CASE(nd_malformed_in),
	KUNIT_CASE(nd_too_long),
	KUNIT_CASE(nd_behind_headers),
	KUNIT_CASE(nd_two_addresses),
	KUNIT_CASE(nd_of_no_host),
	{}
};

static struct kunit_suite nd_suite = {
	.name = "eipoib_nd",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = nd_cases,
};

kunit_test_suite(nd_suite);
