// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of DHCP: messages in both directions, and the table of requests.
 */
#include <linux/if_arp.h>
#include <linux/random.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>

#include "eipoib_dhcp_table.c"
#include "eipoib_dhcp_msg.h"
#include "kunit.h"

#define XID		htonl(0x12345678)
#define OPTIONS		300

/* Options: 53 is the type of the message, 50 an address, 61 a client identifier, 255 the end */
static const u8 discover[] = { 53, 1, 1, 255 };
static const u8 offer[] = { 53, 1, 2, 255 };
static const u8 request[] = { 53, 1, 3, 50, 4, 10, 0, 0, 61, 255 };
static const u8 ack[] = { 53, 1, 5, 255 };

/* With an identifier of the client's own, and with the one that is made for guest_mac */
static const u8 discover_own[] = { 53, 1, 1, 61, 7, 1, 0x52, 0x54, 0, 0, 0, 1, 255 };
static const u8 discover_made[] = {
	53, 1, 1, 61, 15, 255, 0, 0, 0, 1, 0, 3, 0, 1, 0x52, 0x54, 0, 0, 0, 1, 255
};

static const u8 request_made[] = {
	53, 1, 3, 61, 15, 255, 0, 0, 0, 1, 0, 3, 0, 1, 0x52, 0x54, 0, 0, 0, 1, 255
};

static const u8 made_ack[] = {
	61, 15, 255, 0, 0, 0, 1, 0, 3, 0, 1, 0x52, 0x54, 0, 0, 0, 1, 53, 1, 5, 255
};

struct message {
	struct iphdr ip;
	struct udphdr udp;
	struct eipoib_bootp bootp;
	__be32 cookie;
	u8 options[OPTIONS];
} __packed;

#define MESSAGE_HEAD	offsetof(struct message, options)

/* Makes a client's message, which has an END if @options have, and @len octets of options */
static void request_make(struct message *msg, const u8 *options, u32 given, u32 len)
{
	memset(msg, 0, sizeof(*msg));
	msg->ip.version = 4;
	msg->ip.ihl = 5;
	msg->ip.ttl = 64;
	msg->ip.protocol = IPPROTO_UDP;
	msg->ip.daddr = htonl(INADDR_BROADCAST);
	msg->ip.tot_len = htons(MESSAGE_HEAD + len);
	msg->udp.source = htons(68);
	msg->udp.dest = htons(67);
	msg->udp.len = htons(MESSAGE_HEAD + len - sizeof(msg->ip));
	msg->bootp.op = EIPOIB_BOOTP_REQUEST;
	msg->bootp.htype = ARPHRD_ETHER;
	msg->bootp.hlen = ETH_ALEN;
	msg->bootp.xid = XID;
	ether_addr_copy(msg->bootp.chaddr, guest_mac);
	msg->cookie = htonl(0x63825363);
	memcpy(msg->options, options, given);
}

/* Makes a server's answer out of that */
static void answer_make(struct message *msg, const u8 *options, u32 given)
{
	request_make(msg, options, given, given);
	msg->ip.saddr = htonl(0x0a000002);
	msg->udp.source = htons(67);
	msg->udp.dest = htons(68);
	msg->bootp.op = EIPOIB_BOOTP_REPLY;
	msg->bootp.yiaddr = htonl(0x0a00003d);
}

static __sum16 udp_sum(const struct message *msg)
{
	u32 len = ntohs(msg->udp.len);

	return csum_tcpudp_magic(msg->ip.saddr, msg->ip.daddr, len, IPPROTO_UDP,
				 csum_partial(&msg->udp, len, 0));
}

static void sums_make(struct message *msg)
{
	msg->ip.check = 0;
	msg->ip.check = ip_fast_csum(&msg->ip, msg->ip.ihl);
	msg->udp.check = 0;
	msg->udp.check = udp_sum(msg);
}

static void expect_sums(struct kunit *test, const struct message *msg)
{
	KUNIT_EXPECT_FALSE(test, ip_fast_csum(&msg->ip, msg->ip.ihl));
	KUNIT_EXPECT_FALSE(test, udp_sum(msg));
}

static struct sk_buff *frame(struct kunit *test, const struct message *msg, u32 len)
{
	u8 to[ETH_ALEN];

	eth_broadcast_addr(to);
	return fixture_frame(test->priv, to, guest_mac, ETH_P_IP, msg, len);
}

/* Takes what was sent, and has @msg describe it. Returns its length. */
static u32 take_sent(struct kunit *test, struct message *msg)
{
	struct sk_buff *skb = fixture_sent(test->priv, ETH_P_IP);
	u32 len;

	skb_pull(skb, sizeof(struct eipoib_header));
	len = min_t(u32, skb->len, sizeof(*msg));
	memset(msg, 0, sizeof(*msg));
	memcpy(msg, skb->data, len);
	kfree_skb(skb);
	return len;
}

/* Sends a message, and has it describe what was sent. Returns the length of that. */
static u32 send(struct kunit *test, struct message *msg)
{
	fixture_xmit(test->priv, frame(test, msg, ntohs(msg->ip.tot_len)));
	return take_sent(test, msg);
}

static u32 count(struct kunit *test, const char *name)
{
	return fixture_count(test->priv, name);
}

static void set_mode(struct kunit *test, u8 mode)
{
	struct fixture *fx = test->priv;

	fx->eth->config.dhcp = mode;
}

/* Expects that a message is sent as it is */
static void expect_same(struct kunit *test, struct message *msg)
{
	struct message was = *msg;
	u32 len = ntohs(msg->ip.tot_len);

	KUNIT_EXPECT_EQ(test, send(test, msg), len);
	KUNIT_EXPECT_EQ(test, memcmp(msg, &was, len), 0);
}

/* ... but for the broadcast flag */
static void expect_flagged(struct kunit *test, struct message *msg)
{
	struct message was = *msg;
	u32 len = ntohs(msg->ip.tot_len);

	KUNIT_EXPECT_EQ(test, send(test, msg), len);
	expect_sums(test, msg);
	KUNIT_EXPECT_EQ(test, ntohs(msg->bootp.flags), 0x8000);
	was.bootp.flags = msg->bootp.flags;
	was.udp.check = msg->udp.check;
	KUNIT_EXPECT_EQ(test, memcmp(msg, &was, len), 0);
}

static void flag_is_set(struct kunit *test)
{
	struct message msg;

	request_make(&msg, discover, sizeof(discover), 60);
	sums_make(&msg);
	expect_flagged(test, &msg);
	/* Without options, as in BOOTP */
	request_make(&msg, NULL, 0, 0);
	msg.ip.tot_len = htons(offsetof(struct message, cookie));
	msg.udp.len = htons(offsetof(struct message, cookie) - sizeof(msg.ip));
	sums_make(&msg);
	expect_flagged(test, &msg);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_flagged"), 2u);
}

static void flag_is_not_set(struct kunit *test)
{
	struct message msg;

	request_make(&msg, discover, sizeof(discover), 60);
	msg.bootp.ciaddr = htonl(0x0a00003d);
	sums_make(&msg);
	expect_same(test, &msg);
	request_make(&msg, discover, sizeof(discover), 60);
	msg.bootp.giaddr = htonl(0x0a000001);
	sums_make(&msg);
	expect_same(test, &msg);
	request_make(&msg, discover, sizeof(discover), 60);
	msg.bootp.flags = htons(0x8000);
	sums_make(&msg);
	expect_same(test, &msg);
	set_mode(test, EIPOIB_DHCP_OFF);
	request_make(&msg, discover, sizeof(discover), 60);
	sums_make(&msg);
	expect_same(test, &msg);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_flagged"), 0u);
}

/* 0 stays 0, wrong stays wrong, and the sum that is left to the device is completed */
static void sums_of_each_kind(struct kunit *test)
{
	u8 modes[] = { EIPOIB_DHCP_FLAG, EIPOIB_DHCP_RFC4390 };
	struct sk_buff *skb;
	struct message msg;
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		set_mode(test, modes[i]);
		request_make(&msg, discover, sizeof(discover), sizeof(discover));
		msg.udp.check = 0;
		send(test, &msg);
		KUNIT_EXPECT_EQ(test, (__force int)msg.udp.check, 0);
		request_make(&msg, discover, sizeof(discover), sizeof(discover));
		sums_make(&msg);
		msg.bootp.secs = htons(1);
		send(test, &msg);
		KUNIT_EXPECT_TRUE(test, udp_sum(&msg));
		request_make(&msg, discover, sizeof(discover), sizeof(discover));
		sums_make(&msg);
		msg.udp.check = ~csum_tcpudp_magic(msg.ip.saddr, msg.ip.daddr, ntohs(msg.udp.len),
						   IPPROTO_UDP, 0);
		skb = frame(test, &msg, ntohs(msg.ip.tot_len));
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) + ETH_HLEN + sizeof(msg.ip);
		skb->csum_offset = offsetof(struct udphdr, check);
		fixture_xmit(test->priv, skb);
		take_sent(test, &msg);
		expect_sums(test, &msg);
	}
}

/* Expects the form of RFC 4390, and these options at the beginning */
static void expect_rewritten(struct kunit *test, const struct message *msg, const u8 *options,
			     u32 len)
{
	expect_sums(test, msg);
	KUNIT_EXPECT_EQ(test, msg->bootp.htype, ARPHRD_INFINIBAND);
	KUNIT_EXPECT_EQ(test, msg->bootp.hlen, 0);
	KUNIT_EXPECT_FALSE(test, memchr_inv(msg->bootp.chaddr, 0, sizeof(msg->bootp.chaddr)));
	KUNIT_EXPECT_EQ(test, memcmp(msg->options, options, len), 0);
}

static void request_is_rewritten(struct kunit *test)
{
	struct message msg;

	set_mode(test, EIPOIB_DHCP_RFC4390);
	/* The message grows */
	request_make(&msg, discover, sizeof(discover), sizeof(discover));
	sums_make(&msg);
	KUNIT_EXPECT_EQ(test, send(test, &msg), MESSAGE_HEAD + sizeof(discover_made));
	expect_rewritten(test, &msg, discover_made, sizeof(discover_made));
	KUNIT_EXPECT_EQ(test, ntohs(msg.bootp.flags), 0x8000);
	/* There is padding */
	request_make(&msg, discover, sizeof(discover), 60);
	sums_make(&msg);
	KUNIT_EXPECT_EQ(test, send(test, &msg), MESSAGE_HEAD + 60);
	expect_rewritten(test, &msg, discover_made, sizeof(discover_made));
	/* The client has an identifier, and an address */
	request_make(&msg, discover_own, sizeof(discover_own), sizeof(discover_own));
	msg.bootp.ciaddr = htonl(0x0a00003d);
	sums_make(&msg);
	KUNIT_EXPECT_EQ(test, send(test, &msg), MESSAGE_HEAD + sizeof(discover_own));
	expect_rewritten(test, &msg, discover_own, sizeof(discover_own));
	KUNIT_EXPECT_EQ(test, ntohs(msg.bootp.flags), 0);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_rewritten"), 3u);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_flagged"), 0u);
}

/* What cannot be rewritten gets the flag */
static void no_room(struct kunit *test)
{
	static const u8 overloaded[] = { 53, 1, 1, 52, 1, 1, 255 };
	static const u8 endless[] = { 53, 1, 1 }, cut[] = { 53, 1, 1, 61, 200 };
	struct fixture *fx = test->priv;
	struct message msg;

	set_mode(test, EIPOIB_DHCP_RFC4390);
	request_make(&msg, overloaded, sizeof(overloaded), sizeof(overloaded));
	sums_make(&msg);
	expect_flagged(test, &msg);
	request_make(&msg, endless, sizeof(endless), sizeof(endless));
	sums_make(&msg);
	expect_flagged(test, &msg);
	request_make(&msg, cut, sizeof(cut), sizeof(cut));
	sums_make(&msg);
	expect_flagged(test, &msg);
	request_make(&msg, discover, sizeof(discover), sizeof(discover));
	sums_make(&msg);
	fx->lower->mtu = MESSAGE_HEAD + sizeof(discover) + 16;
	expect_flagged(test, &msg);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_rewritten"), 0u);
	request_make(&msg, discover, sizeof(discover), sizeof(discover));
	sums_make(&msg);
	fx->lower->mtu++;
	send(test, &msg);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_rewritten"), 1u);
}

/* A request that somebody else sends is not remembered, but gets the flag */
static void request_of_others(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct message msg;

	set_mode(test, EIPOIB_DHCP_RFC4390);
	request_make(&msg, discover, sizeof(discover), 60);
	ether_addr_copy(msg.bootp.chaddr, other_mac);
	sums_make(&msg);
	expect_flagged(test, &msg);
	KUNIT_EXPECT_EQ(test, fx->eth->dhcp.count, 0u);
}

/* The packet is a clone, and has its data in pages */
static void clone_is_not_changed(struct kunit *test)
{
	struct sk_buff *skb, *clone;
	struct message msg, was;
	struct page *page;
	u32 len;

	set_mode(test, EIPOIB_DHCP_RFC4390);
	request_make(&msg, discover, sizeof(discover), 60);
	sums_make(&msg);
	was = msg;
	len = ntohs(msg.ip.tot_len);
	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, page);
	memcpy(page_address(page), (u8 *)&msg + 60, len - 60);
	skb = frame(test, &msg, 60);
	skb_add_rx_frag(skb, 0, page, 0, len - 60, PAGE_SIZE);
	clone = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clone);
	fixture_xmit(test->priv, skb);
	take_sent(test, &msg);
	expect_sums(test, &msg);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_rewritten"), 1u);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(clone, ETH_HLEN, &msg, len), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, &was, len), 0);
	kfree_skb(clone);
}

static void bad_passes(struct kunit *test)
{
	struct message msg;
	u32 bad = 0;

	/* Each length that cuts it */
	for (bad = 0; bad < MESSAGE_HEAD - sizeof(msg.ip) - sizeof(msg.udp) + 10; bad++) {
		request_make(&msg, discover, sizeof(discover), 10);
		fixture_xmit(test->priv, frame(test, &msg, sizeof(msg.ip) + sizeof(msg.udp) + bad));
		take_sent(test, &msg);
		KUNIT_EXPECT_EQ(test, count(test, "dhcp_bad"), bad + 1);
	}
	/* Lengths of IP and UDP that differ */
	request_make(&msg, discover, sizeof(discover), 60);
	msg.udp.len = htons(ntohs(msg.udp.len) - 1);
	expect_same(test, &msg);
	request_make(&msg, discover, sizeof(discover), 60);
	msg.ip.frag_off = htons(IP_MF);
	expect_same(test, &msg);
	/* No fixed part */
	request_make(&msg, discover, sizeof(discover), 60);
	msg.ip.tot_len = htons(sizeof(msg.ip) + sizeof(msg.udp) + 235);
	msg.udp.len = htons(sizeof(msg.udp) + 235);
	expect_same(test, &msg);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_bad"), bad + 3);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_flagged"), 0u);
}

/* Has the netdevice receive an answer. Returns whether it is delivered to this MAC address, and has
 * @msg describe what is delivered.
 */
static bool delivered(struct kunit *test, struct message *msg, const u8 *mac)
{
	struct eipoib_lladdr server = fixture_peer(1);
	u32 len = ntohs(msg->ip.tot_len);
	struct sk_buff *skb;
	bool is;

	fixture_receive(test->priv, fixture_packet(test->priv, &server, ETH_P_IP, msg, len),
			PACKET_BROADCAST);
	skb = fixture_received(test->priv, ETH_P_IP);
	is = ether_addr_equal(eth_hdr(skb)->h_dest, mac);
	KUNIT_EXPECT_EQ(test, skb->len, ETH_HLEN + len);
	memcpy(msg, skb->data + ETH_HLEN, min_t(u32, skb->len - ETH_HLEN, sizeof(*msg)));
	kfree_skb(skb);
	return is;
}

static void ask(struct kunit *test, const u8 *options, u32 len)
{
	struct message msg;

	request_make(&msg, options, len, len);
	sums_make(&msg);
	send(test, &msg);
}

static void answer_goes_to_client(struct kunit *test)
{
	struct message msg;
	u8 all[ETH_ALEN];

	eth_broadcast_addr(all);
	ask(test, discover, sizeof(discover));
	answer_make(&msg, offer, sizeof(offer));
	sums_make(&msg);
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, guest_mac));
	expect_sums(test, &msg);
	/* Those of others go to all, as before */
	msg.bootp.xid = htonl(1);
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, all));
	msg.bootp.xid = XID;
	ether_addr_copy(msg.bootp.chaddr, other_mac);
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, all));
	/* So does one without a MAC address: the request had one */
	answer_make(&msg, offer, sizeof(offer));
	msg.bootp.hlen = 0;
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, all));
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_answered"), 1u);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_bound"), 0u);
}

static bool is_bound(struct kunit *test)
{
	struct in6_addr ip = eipoib_ip4(htonl(0x0a00003d));
	struct fixture *fx = test->priv;
	u8 mac[ETH_ALEN];

	return eipoib_ip_get(&fx->eth->local, &ip, mac) && ether_addr_equal(mac, guest_mac);
}

static void ack_binds(struct kunit *test)
{
	struct message msg;

	/* Not asked for */
	answer_make(&msg, ack, sizeof(ack));
	delivered(test, &msg, guest_mac);
	KUNIT_EXPECT_FALSE(test, is_bound(test));
	/* A DISCOVER requests nothing */
	ask(test, discover, sizeof(discover));
	delivered(test, &msg, guest_mac);
	KUNIT_EXPECT_FALSE(test, is_bound(test));
	ask(test, request, sizeof(request));
	/* Another transaction, another client, another type, another address */
	msg.bootp.xid = htonl(1);
	delivered(test, &msg, guest_mac);
	answer_make(&msg, ack, sizeof(ack));
	ether_addr_copy(msg.bootp.chaddr, other_mac);
	delivered(test, &msg, guest_mac);
	answer_make(&msg, offer, sizeof(offer));
	delivered(test, &msg, guest_mac);
	answer_make(&msg, ack, sizeof(ack));
	msg.bootp.yiaddr = htonl(0x0a00003e);
	delivered(test, &msg, guest_mac);
	KUNIT_EXPECT_FALSE(test, is_bound(test));
	KUNIT_EXPECT_EQ(test, count(test, "local_new"), 0u);
	answer_make(&msg, ack, sizeof(ack));
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, guest_mac));
	KUNIT_EXPECT_TRUE(test, is_bound(test));
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_bound"), 1u);
}

/* Makes the answer to a rewritten request */
static void rewritten_answer_make(struct message *msg, const u8 *options, u32 len)
{
	answer_make(msg, options, len);
	msg->bootp.htype = ARPHRD_INFINIBAND;
	msg->bootp.hlen = 0;
	memset(msg->bootp.chaddr, 0, sizeof(msg->bootp.chaddr));
	sums_make(msg);
}

static void rewriting_is_undone(struct kunit *test)
{
	struct message msg;

	set_mode(test, EIPOIB_DHCP_RFC4390);
	ask(test, request, sizeof(request));
	rewritten_answer_make(&msg, made_ack, sizeof(made_ack));
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, guest_mac));
	expect_sums(test, &msg);
	KUNIT_EXPECT_EQ(test, msg.bootp.htype, ARPHRD_ETHER);
	KUNIT_EXPECT_EQ(test, msg.bootp.hlen, ETH_ALEN);
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(msg.bootp.chaddr, guest_mac));
	/* There is padding instead of the identifier that the client did not have */
	KUNIT_EXPECT_FALSE(test, memchr_inv(msg.options, 0, 17));
	KUNIT_EXPECT_EQ(test, memcmp(msg.options + 17, made_ack + 17, sizeof(made_ack) - 17), 0);
	KUNIT_EXPECT_TRUE(test, is_bound(test));
	/* If it is the client's own one, it stays */
	ask(test, request_made, sizeof(request_made));
	rewritten_answer_make(&msg, made_ack, sizeof(made_ack));
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, guest_mac));
	expect_sums(test, &msg);
	KUNIT_EXPECT_EQ(test, memcmp(msg.options, made_ack, sizeof(made_ack)), 0);
}

/* The second client with this transaction ID keeps its MAC address in the request */
static void same_transaction(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct message msg;
	u8 to[ETH_ALEN];

	set_mode(test, EIPOIB_DHCP_RFC4390);
	ask(test, discover, sizeof(discover));
	request_make(&msg, discover, sizeof(discover), 60);
	ether_addr_copy(msg.bootp.chaddr, other_mac);
	sums_make(&msg);
	eth_broadcast_addr(to);
	fixture_xmit(fx, fixture_frame(fx, to, other_mac, ETH_P_IP, &msg, MESSAGE_HEAD + 60));
	take_sent(test, &msg);
	KUNIT_EXPECT_EQ(test, msg.bootp.htype, ARPHRD_ETHER);
	KUNIT_EXPECT_EQ(test, ntohs(msg.bootp.flags), 0x8000);
	answer_make(&msg, ack, sizeof(ack));
	ether_addr_copy(msg.bootp.chaddr, other_mac);
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, other_mac));
	rewritten_answer_make(&msg, ack, sizeof(ack));
	KUNIT_EXPECT_TRUE(test, delivered(test, &msg, guest_mac));
}

/* Has a server on the Ethernet side answer to this MAC address by unicast */
static void answer_from_eth(struct kunit *test, const u8 *mac)
{
	struct fixture *fx = test->priv;
	struct message msg;

	answer_make(&msg, ack, sizeof(ack));
	ether_addr_copy(msg.bootp.chaddr, mac);
	fixture_xmit(fx, fixture_frame(fx, mac, other_mac, ETH_P_IP, &msg,
				       ntohs(msg.ip.tot_len)));
}

static void server_on_ethernet(struct kunit *test)
{
	static const u8 nobody[] = { 0x52, 0x54, 0, 0, 0, 9 };
	struct fixture *fx = test->priv;
	struct eipoib_header *header;
	struct sk_buff *skb;

	ask(test, discover, sizeof(discover));
	fixture_dropped(fx, NULL);
	answer_from_eth(test, guest_mac);
	fixture_dropped(fx, "tx_local");
	answer_from_eth(test, nobody);
	KUNIT_EXPECT_EQ(test, count(test, "dhcp_broadcast"), 1u);
	skb = fixture_sent(fx, ETH_P_IP);
	header = (struct eipoib_header *)skb->data;
	KUNIT_EXPECT_TRUE(test, eipoib_lladdr_equal(&header->from, eipoib_broadcast(fx->eth)));
	kfree_skb(skb);
}

/* Random octets, most of which look like options, in both directions */
static void fuzz(struct kunit *test)
{
	struct eipoib_lladdr server = fixture_peer(1);
	struct fixture *fx = test->priv;
	struct message msg;
	u32 round, len, i;

	for (round = 0; round < 500; round++) {
		len = get_random_u32() % OPTIONS;
		set_mode(test, EIPOIB_DHCP_FLAG + round % 2);
		request_make(&msg, NULL, 0, len);
		for (i = 0; i < len; i++)
			msg.options[i] = get_random_u32() % (round % 5 ? 64 : 256);
		if (round % 3)
			msg.options[0] = 52;
		get_random_bytes(msg.bootp.sname, sizeof(msg.bootp.sname) + sizeof(msg.bootp.file));
		if (round % 7 == 0)
			((u8 *)&msg)[get_random_u32() % MESSAGE_HEAD] ^= get_random_u32();
		fixture_xmit(fx, frame(test, &msg, ntohs(msg.ip.tot_len) % sizeof(msg)));
		msg.bootp.op = EIPOIB_BOOTP_REPLY;
		swap(msg.udp.source, msg.udp.dest);
		if (round % 2)
			msg.bootp.hlen = 0;
		fixture_receive(fx, fixture_packet(fx, &server, ETH_P_IP, &msg,
						   ntohs(msg.ip.tot_len) % sizeof(msg)),
				PACKET_BROADCAST);
		skb_queue_purge(&fx->sent);
		skb_queue_purge(&fx->received);
	}
	KUNIT_EXPECT_GT(test, count(test, "dhcp_rewritten") + count(test, "dhcp_flagged"), 25u);
	KUNIT_EXPECT_GT(test, count(test, "dhcp_answered"), 25u);
}

static struct kunit_case message_cases[] = {
	KUNIT_CASE(flag_is_set),
	KUNIT_CASE(flag_is_not_set),
	KUNIT_CASE(sums_of_each_kind),
	KUNIT_CASE(request_is_rewritten),
	KUNIT_CASE(no_room),
	KUNIT_CASE(request_of_others),
	KUNIT_CASE(clone_is_not_changed),
	KUNIT_CASE(bad_passes),
	KUNIT_CASE(answer_goes_to_client),
	KUNIT_CASE(ack_binds),
	KUNIT_CASE(rewriting_is_undone),
	KUNIT_CASE(same_transaction),
	KUNIT_CASE(server_on_ethernet),
	KUNIT_CASE(fuzz),
	{}
};

static struct kunit_suite message_suite = {
	.name = "eipoib_dhcp",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = message_cases,
};

static int table_init(struct kunit *test)
{
	struct eipoib_dhcp_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	if (!table)
		return -ENOMEM;
	eipoib_dhcp_table_init(table);
	test->priv = table;
	return 0;
}

static void table_exit(struct kunit *test)
{
	if (test->priv)
		eipoib_dhcp_table_destroy(test->priv);
}

/* Adds the request of a client, which has this number, as its transaction has */
static bool add(struct kunit *test, u32 client, u32 xid)
{
	struct eipoib_dhcp_asked asked = {
		.xid = htonl(xid),
		.mac = { 0x02, 0, client >> 24, client >> 16, client >> 8, client },
		.rewritten = true,
	};

	return eipoib_dhcp_remember(test->priv, &asked) && asked.rewritten;
}

static bool has(struct kunit *test, u32 client, u32 xid)
{
	u8 mac[ETH_ALEN] = { 0x02, 0, client >> 24, client >> 16, client >> 8, client };
	struct eipoib_dhcp_asked asked;

	return eipoib_dhcp_asked_by(test->priv, htonl(xid), mac, &asked) &&
	       eipoib_dhcp_asked_rewritten(test->priv, htonl(xid), &asked) &&
	       ether_addr_equal(asked.mac, mac);
}

/* Has all entries be older by this time */
static void grow_older(struct kunit *test, unsigned long age)
{
	struct eipoib_dhcp_table *table = test->priv;
	struct dhcp_entry *entry;

	list_for_each_entry(entry, &table->entries, node)
		entry->since -= age;
}

static void table_of_one_client(struct kunit *test)
{
	struct eipoib_dhcp_table *table = test->priv;
	u32 xid;

	for (xid = 1; xid <= 5; xid++)
		KUNIT_EXPECT_TRUE(test, add(test, 1, xid));
	KUNIT_EXPECT_EQ(test, table->count, 4u);
	KUNIT_EXPECT_FALSE(test, has(test, 1, 1));
	for (xid = 2; xid <= 5; xid++)
		KUNIT_EXPECT_TRUE(test, has(test, 1, xid));
	/* Again, so it is the newest one */
	KUNIT_EXPECT_TRUE(test, add(test, 1, 2));
	KUNIT_EXPECT_TRUE(test, add(test, 1, 6));
	KUNIT_EXPECT_TRUE(test, has(test, 1, 2));
	KUNIT_EXPECT_FALSE(test, has(test, 1, 3));
}

static void table_ages(struct kunit *test)
{
	struct eipoib_dhcp_table *table = test->priv;

	KUNIT_EXPECT_TRUE(test, add(test, 1, 1));
	grow_older(test, 50 * HZ);
	KUNIT_EXPECT_TRUE(test, add(test, 2, 2));
	KUNIT_EXPECT_TRUE(test, has(test, 1, 1));
	grow_older(test, 11 * HZ);
	KUNIT_EXPECT_FALSE(test, has(test, 1, 1));
	KUNIT_EXPECT_TRUE(test, has(test, 2, 2));
	eipoib_dhcp_table_expire(table);
	KUNIT_EXPECT_EQ(test, table->count, 1u);
}

/* Young entries are not given up for others, old ones are */
static void table_is_full(struct kunit *test)
{
	struct eipoib_dhcp_table *table = test->priv;
	u32 n;

	for (n = 1; n <= 4096; n++)
		KUNIT_ASSERT_TRUE(test, add(test, n, n));
	KUNIT_EXPECT_FALSE(test, add(test, 5000, 5000));
	KUNIT_EXPECT_TRUE(test, add(test, 1, 1));
	KUNIT_EXPECT_EQ(test, table->count, 4096u);
	grow_older(test, 3 * HZ);
	KUNIT_EXPECT_TRUE(test, add(test, 5000, 5000));
	KUNIT_EXPECT_EQ(test, table->count, 4096u);
	KUNIT_EXPECT_TRUE(test, has(test, 1, 1));
	KUNIT_EXPECT_FALSE(test, has(test, 2, 2));
	KUNIT_EXPECT_TRUE(test, has(test, 5000, 5000));
}

/* Only one of them is found by the transaction ID */
static void table_of_same_transactions(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, add(test, 1, 1));
	KUNIT_EXPECT_FALSE(test, add(test, 2, 1));
	KUNIT_EXPECT_TRUE(test, add(test, 1, 1));
	KUNIT_EXPECT_TRUE(test, has(test, 1, 1));
	KUNIT_EXPECT_FALSE(test, has(test, 2, 1));
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table_of_one_client),
	KUNIT_CASE(table_ages),
	KUNIT_CASE(table_is_full),
	KUNIT_CASE(table_of_same_transactions),
	{}
};

static struct kunit_suite table_suite = {
	.name = "eipoib_dhcp_table",
	.init = table_init,
	.exit = table_exit,
	.test_cases = table_cases,
};

kunit_test_suites(&message_suite, &table_suite);
