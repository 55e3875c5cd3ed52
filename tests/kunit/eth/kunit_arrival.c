// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of hosts that arrive on the Ethernet side, as a hypervisor says by RARP: which IP addresses
 * they are asked for, how many, and how fast.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ip6_checksum.h>
#include <net/ndisc.h>

#include "kunit.h"

#define HEARD_ASKED	1024	/* questions that a host is asked at most */
#define RUN		10	/* questions of each run of the work */
#define RUN_TIME	(HZ / 10)
#define SOME_TIME	(30 * HZ)

/* Not octets: GCC 12 reads those of a constant as 0 where ipv6_addr_equal() has them as a long */
static const struct in6_addr ip6 = {
	.s6_addr32 = { htonl(0xfd000000), 0, 0, htonl(0x00010203) }
};

static struct in6_addr ip4(u32 number)
{
	return eipoib_ip4(htonl(0x0a000000 | number));
}

static void hear(struct fixture *fx, struct in6_addr ip)
{
	u8 mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, mac);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(fx->test, eipoib_learn_heard(fx->eth, &ip, mac));
	local_bh_enable();
}

static void hear_many(struct fixture *fx, u32 count)
{
	u32 number;

	for (number = 1; number <= count; number++)
		hear(fx, ip4(number));
}

/* What QEMU sends for a host that has arrived */
static void arrive(struct fixture *fx, const u8 *mac)
{
	struct eipoib_arp_eth arp = fixture_arp(ARPOP_RREQUEST, mac, 0, mac, 0);

	fixture_xmit(fx, fixture_frame(fx, fx->netdev->broadcast, mac, ETH_P_RARP, &arp,
				       sizeof(arp)));
}

/* Has all questions be asked, without the time between the runs of the work */
static void ask_all(struct fixture *fx)
{
	struct delayed_work *work = &fx->eth->announce.ask_work;

	do {
		flush_delayed_work(work);
	} while (delayed_work_pending(work));
}

static u32 asked(struct fixture *fx)
{
	return fixture_count(fx, "asked_eth");
}

static void wait_for_received(struct fixture *fx, u32 count)
{
	unsigned long limit = jiffies + SOME_TIME;

	while (skb_queue_len(&fx->received) < count && time_before(jiffies, limit))
		msleep(20);
	KUNIT_ASSERT_EQ(fx->test, skb_queue_len(&fx->received), count);
}

/* A probe, for this host only */
static void expect_asked4(struct fixture *fx, const u8 *mac, u32 number)
{
	static const u8 zero_mac[ETH_ALEN];
	struct in6_addr ip = ip4(number);
	struct eipoib_arp_eth wanted = fixture_arp(ARPOP_REQUEST, fx->eth->own_mac, 0,
						   zero_mac, ip.s6_addr32[3]);
	struct sk_buff *skb = fixture_received(fx, ETH_P_ARP);
	const struct ethhdr *ether = (struct ethhdr *)skb->data;

	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_dest, mac));
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_source, fx->eth->own_mac));
	KUNIT_EXPECT_EQ(fx->test, memcmp(ether + 1, &wanted, sizeof(wanted)), 0);
	kfree_skb(skb);
}

static struct in6_addr linklocal_of(const u8 *mac)
{
	struct in6_addr ip = { .s6_addr32 = { htonl(0xfe800000) } };

	addrconf_addr_eui48(&ip.s6_addr[8], mac);
	return ip;
}

/* Not what a host would take for a duplicate address while it tries to get the address */
static void expect_asked6(struct fixture *fx, const u8 *mac, const struct in6_addr *ip)
{
	struct sk_buff *skb = fixture_received(fx, ETH_P_IPV6);
	const struct ethhdr *ether = (struct ethhdr *)skb->data;
	const struct ipv6hdr *head = (struct ipv6hdr *)(ether + 1);
	const struct nd_msg *message = (struct nd_msg *)(head + 1);
	struct in6_addr group, asker = linklocal_of(fx->eth->own_mac);

	addrconf_addr_solict_mult(ip, &group);
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_dest, mac));
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(ether->h_source, fx->eth->own_mac));
	KUNIT_EXPECT_TRUE(fx->test, ipv6_addr_equal(&head->saddr, &asker));
	KUNIT_EXPECT_TRUE(fx->test, ipv6_addr_equal(&head->daddr, &group));
	KUNIT_EXPECT_EQ(fx->test, message->opt[0], ND_OPT_SOURCE_LL_ADDR);
	KUNIT_EXPECT_TRUE(fx->test, ether_addr_equal(message->opt + 2, fx->eth->own_mac));
	KUNIT_EXPECT_EQ(fx->test, message->icmph.icmp6_type, NDISC_NEIGHBOUR_SOLICITATION);
	KUNIT_EXPECT_TRUE(fx->test, ipv6_addr_equal(&message->target, ip));
	kfree_skb(skb);
}

static void arrival_asks(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hear(fx, ip4(5));
	hear(fx, ip6);
	hear(fx, ip4(6));
	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 3u);
	wait_for_received(fx, 3);
	expect_asked4(fx, guest_mac, 5);
	expect_asked6(fx, guest_mac, &ip6);
	expect_asked4(fx, guest_mac, 6);
	/* Nothing follows from the RARP alone */
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(&fx->eth->local, guest_mac));
	KUNIT_EXPECT_EQ(test, eipoib_ip_count(&fx->eth->heard), 3u);
	fixture_nothing(fx);
}

/* What it has is announced on both sides, and nothing else */
static void arrival_answers(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr its = ip4(5), other = ip4(6);
	struct eipoib_arp_eth arp = fixture_arp(ARPOP_REPLY, guest_mac, its.s6_addr32[3],
						fx->eth->own_mac, 0);
	struct sk_buff *skb;

	hear(fx, its);
	hear(fx, other);
	arrive(fx, guest_mac);
	ask_all(fx);
	wait_for_received(fx, 2);
	skb_queue_purge(&fx->received);
	fixture_xmit(fx, fixture_frame(fx, fx->eth->own_mac, guest_mac, ETH_P_ARP, &arp,
				       sizeof(arp)));
	KUNIT_EXPECT_TRUE(test, eipoib_ip_is(&fx->eth->local, &its, guest_mac));
	KUNIT_EXPECT_EQ(test, eipoib_ip_count(&fx->eth->local), 1u);
	KUNIT_EXPECT_EQ(test, eipoib_ip_count(&fx->eth->heard), 1u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced_eth"), 1ull);
	kfree_skb(fixture_received(fx, ETH_P_ARP));
	flush_delayed_work(&fx->eth->announce.work);
	cancel_delayed_work_sync(&fx->eth->announce.work);
	skb = fixture_sent(fx, ETH_P_ARP);
	KUNIT_EXPECT_EQ(test, memcmp(skb->data, fx->lower->broadcast, INFINIBAND_ALEN), 0);
	kfree_skb(skb);
}

/* The answer to a solicitation, without options, since it is unicast */
static void answer6(struct fixture *fx, const u8 *mac, const struct in6_addr *ip)
{
	struct {
		struct ipv6hdr head;
		struct nd_msg message;
	} __packed packet = {
		.head = {
			.version = 6,
			.payload_len = htons(sizeof(packet.message)),
			.nexthdr = IPPROTO_ICMPV6,
			.hop_limit = 255,
			.saddr = *ip,
			.daddr = linklocal_of(fx->eth->own_mac),
		},
		.message = {
			.icmph = { .icmp6_type = NDISC_NEIGHBOUR_ADVERTISEMENT },
			.target = *ip,
		},
	};

	packet.message.icmph.icmp6_solicited = 1;
	packet.message.icmph.icmp6_cksum =
		csum_ipv6_magic(&packet.head.saddr, &packet.head.daddr, sizeof(packet.message),
				IPPROTO_ICMPV6,
				csum_partial(&packet.message, sizeof(packet.message), 0));
	fixture_xmit(fx, fixture_frame(fx, fx->eth->own_mac, mac, ETH_P_IPV6, &packet,
				       sizeof(packet)));
}

/* The answer is for this host only */
static void arrival_answers6(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hear(fx, ip6);
	arrive(fx, guest_mac);
	ask_all(fx);
	wait_for_received(fx, 1);
	expect_asked6(fx, guest_mac, &ip6);
	answer6(fx, guest_mac, &ip6);
	KUNIT_EXPECT_TRUE(test, eipoib_ip_is(&fx->eth->local, &ip6, guest_mac));
	KUNIT_EXPECT_EQ(test, eipoib_ip_count(&fx->eth->heard), 0u);
	/* Both sides are told, and nothing else is sent */
	kfree_skb(fixture_received(fx, ETH_P_IPV6));
	flush_delayed_work(&fx->eth->announce.work);
	cancel_delayed_work_sync(&fx->eth->announce.work);
	kfree_skb(fixture_sent(fx, ETH_P_IPV6));
	fixture_nothing(fx);
}

/* A host that probes is about to use an address. It would take a question for a conflict. */
static void arrival_probes(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr its = ip4(40);
	struct eipoib_arp_eth arp = fixture_arp(ARPOP_REQUEST, guest_mac, 0, other_mac,
						its.s6_addr32[3]);

	hear_many(fx, 5 * RUN);
	arrive(fx, guest_mac);
	fixture_xmit(fx, fixture_frame(fx, fx->netdev->broadcast, guest_mac, ETH_P_ARP, &arp,
				       sizeof(arp)));
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 0u);
}

/* Asks for what has moved last before the rest, and for nothing twice */
static void arrival_recent_first(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr first = ip4(1);

	/* Each takes a number, so that those of the first ones are not recent any more */
	hear_many(fx, HEARD_ASKED + 100);
	eipoib_ip_expire(&fx->eth->heard, 0);
	hear_many(fx, 3 * RUN);
	KUNIT_ASSERT_TRUE(test, eipoib_ip_forget(&fx->eth->heard, &first));
	hear(fx, first);
	fx->eth->heard.next_number += HEARD_ASKED - 1;
	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 3u * RUN);
	wait_for_received(fx, 3 * RUN);
	expect_asked4(fx, guest_mac, 1);
	expect_asked4(fx, guest_mac, 2);
}

static void arrival_without_heard(struct kunit *test)
{
	struct fixture *fx = test->priv;

	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 0u);
	fixture_nothing(fx);
}

/* Nothing would be learned from the answers */
static void arrival_learning_off(struct kunit *test)
{
	struct fixture *fx = test->priv;

	WRITE_ONCE(fx->eth->config.learning, false);
	hear_many(fx, 3);
	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 0u);
}

/* Others can say on the link that they have any number of addresses */
static void arrival_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hear_many(fx, HEARD_ASKED + 100);
	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), (u32)HEARD_ASKED);
}

static void arrival_paced(struct kunit *test)
{
	struct fixture *fx = test->priv;
	unsigned long begin = jiffies;

	hear_many(fx, 100);
	arrive(fx, guest_mac);
	arrive(fx, other_mac);
	while (asked(fx) < 5 * RUN && time_before(jiffies, begin + SOME_TIME))
		msleep(20);
	KUNIT_EXPECT_GE(test, asked(fx), 5u * RUN);
	KUNIT_EXPECT_GE(test, jiffies - begin, 4ul * RUN_TIME);
	KUNIT_EXPECT_LE(test, asked(fx), (u32)((jiffies - begin) / RUN_TIME + 1) * RUN);
}

/* Hosts that arrive together are asked in turn. The first one may be alone for some time. */
static void arrival_of_two(struct kunit *test)
{
	struct fixture *fx = test->priv;
	const struct ethhdr *ether;
	u32 number, others = 0;
	struct sk_buff *skb;

	hear_many(fx, 10 * RUN);
	arrive(fx, guest_mac);
	/* However long it takes until the other one arrives */
	cancel_delayed_work_sync(&fx->eth->announce.ask_work);
	arrive(fx, other_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 20u * RUN);
	wait_for_received(fx, 20 * RUN);
	for (number = 0; number < 10 * RUN; number++) {
		skb = fixture_received(fx, ETH_P_ARP);
		ether = (struct ethhdr *)skb->data;
		others += ether_addr_equal(ether->h_dest, other_mac);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_GE(test, others, 2u * RUN);
}

/* Has all hosts that have arrived so far have done so at another time */
static void arrived_at(struct fixture *fx, unsigned long when)
{
	struct eipoib_announce *announce = &fx->eth->announce;
	int i;

	spin_lock_bh(&announce->lock);
	for (i = 0; i < EIPOIB_ARRIVALS; i++)
		announce->arrivals[i].when = when;
	spin_unlock_bh(&announce->lock);
}

/* A hypervisor says it some times, and may say it again while the host is being asked */
static void arrival_repeated(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hear_many(fx, 5 * RUN);
	arrive(fx, guest_mac);
	cancel_delayed_work_sync(&fx->eth->announce.ask_work);
	arrived_at(fx, jiffies - 5 * HZ);
	arrive(fx, guest_mac);
	schedule_delayed_work(&fx->eth->announce.ask_work, 0);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 5u * RUN);
	arrived_at(fx, jiffies + SOME_TIME);
	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 5u * RUN);
	arrived_at(fx, jiffies - 5 * HZ);
	arrive(fx, guest_mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), 10u * RUN);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "rarp"), 4ull);
}

/* While there are as many new arrivals as there are notes, no other host arrives */
static void arrivals_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u8 mac[ETH_ALEN];
	u32 number;

	hear(fx, ip4(5));
	ether_addr_copy(mac, guest_mac);
	for (number = 0; number < EIPOIB_ARRIVALS + 3; number++) {
		mac[5] = number;
		arrive(fx, mac);
		ask_all(fx);
		if (number == EIPOIB_ARRIVALS - 1)
			arrived_at(fx, jiffies + SOME_TIME);
	}
	KUNIT_EXPECT_EQ(test, asked(fx), (u32)EIPOIB_ARRIVALS);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "rarp_refused"), 3ull);
	arrived_at(fx, jiffies - 5 * HZ);
	arrive(fx, mac);
	ask_all(fx);
	KUNIT_EXPECT_EQ(test, asked(fx), (u32)EIPOIB_ARRIVALS + 1);
}

/* It is also asked for the source of what it sends, which nobody has heard of */
static void arrival_sends(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct iphdr head = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(head)),
		.ttl = 7,
		.protocol = IPPROTO_UDP,
		.saddr = htonl(0x0a000009),
		.daddr = htonl(0x0a000005),
	};
	u8 peer_mac[ETH_ALEN];

	fixture_peer_mac(fx, 1, peer_mac);
	fixture_xmit(fx, fixture_frame(fx, peer_mac, guest_mac, ETH_P_IP, &head, sizeof(head)));
	KUNIT_EXPECT_EQ(test, asked(fx), 0u);
	arrive(fx, guest_mac);
	fixture_xmit(fx, fixture_frame(fx, peer_mac, guest_mac, ETH_P_IP, &head, sizeof(head)));
	KUNIT_EXPECT_EQ(test, asked(fx), 1u);
	expect_asked4(fx, guest_mac, 9);
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(&fx->eth->local, guest_mac));
}

static void have(struct fixture *fx, struct in6_addr ip)
{
	local_bh_disable();
	KUNIT_ASSERT_TRUE(fx->test, eipoib_learn_local(fx->eth, &ip, guest_mac));
	local_bh_enable();
}

/* The place that a host has come from claims its address, as it has not heard of the new place */
static void arrival_claimed(struct kunit *test)
{
	struct fixture *fx = test->priv;

	have(fx, ip4(8));
	have(fx, ip4(9));
	hear(fx, ip4(8));
	KUNIT_EXPECT_EQ(test, asked(fx), 0u);
	arrive(fx, guest_mac);
	ask_all(fx);
	wait_for_received(fx, 1);
	expect_asked4(fx, guest_mac, 8);
	hear(fx, ip4(9));
	KUNIT_EXPECT_EQ(test, asked(fx), 2u);
	expect_asked4(fx, guest_mac, 9);
	/* This host is not known to have it any more */
	hear(fx, ip4(9));
	KUNIT_EXPECT_EQ(test, asked(fx), 2u);
	cancel_delayed_work_sync(&fx->eth->announce.work);
}

static u32 announcements(struct fixture *fx)
{
	u32 count;

	spin_lock_bh(&fx->eth->announce.lock);
	count = fx->eth->announce.count;
	spin_unlock_bh(&fx->eth->announce.lock);
	return count;
}

/* The lower netdevice asks for announcements again before the last ones are made */
static void announced_once(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr ip;
	u32 number;

	local_bh_disable();
	for (number = 1; number <= 50; number++) {
		ip = ip4(number);
		KUNIT_ASSERT_TRUE(test, eipoib_learn_local(fx->eth, &ip, guest_mac));
	}
	local_bh_enable();
	eipoib_announce_all(fx->eth);
	eipoib_announce_again(fx->eth);
	eipoib_announce_again(fx->eth);
	KUNIT_EXPECT_LE(test, announcements(fx), 50u);
	eipoib_announce_all(fx->eth);
	KUNIT_EXPECT_LE(test, announcements(fx), 60u);
	cancel_delayed_work_sync(&fx->eth->announce.work);
}

/* What is to be announced waits for carrier */
static void announced_with_carrier(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr ip = ip4(1);

	have(fx, ip);
	netif_carrier_off(fx->lower);
	eipoib_announce_all(fx->eth);
	flush_delayed_work(&fx->eth->announce.work);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced"), 0ull);
	netif_carrier_on(fx->lower);
	flush_delayed_work(&fx->eth->announce.work);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced"), 1ull);
	cancel_delayed_work_sync(&fx->eth->announce.work);
}

/* An address that has come is announced at the next opportunity, although another one is about to
 * be announced again
 */
static void announced_before_repeats(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct delayed_work *work = &fx->eth->announce.work;
	struct in6_addr first = ip4(1), second = ip4(2);
	unsigned long begin;

	hear(fx, first);
	hear(fx, second);
	begin = jiffies;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, eipoib_learn_local(fx->eth, &first, guest_mac));
	local_bh_enable();
	flush_delayed_work(work);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced"), 1ull);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, eipoib_learn_local(fx->eth, &second, guest_mac));
	local_bh_enable();
	flush_delayed_work(work);
	cancel_delayed_work_sync(work);
	if (time_before(jiffies, begin + HZ / 2)) {
		KUNIT_EXPECT_EQ(test, announcements(fx), 2u);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, "announced"), 2ull);
	}
}

/* Somebody has an address move again and again */
static void announced_one_each(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr flapping = ip4(1), other = ip4(2);
	int i;

	netif_carrier_off(fx->lower);
	for (i = 0; i < 100; i++) {
		hear(fx, flapping);
		local_bh_disable();
		KUNIT_EXPECT_TRUE(test, eipoib_learn_local(fx->eth, &flapping, guest_mac));
		local_bh_enable();
	}
	KUNIT_EXPECT_EQ(test, announcements(fx), 1u);
	hear(fx, other);
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, eipoib_learn_local(fx->eth, &other, guest_mac));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, announcements(fx), 2u);
	/* Also if all are announced at the same time */
	eipoib_announce_all(fx->eth);
	KUNIT_EXPECT_EQ(test, announcements(fx), 2u);
	netif_carrier_on(fx->lower);
	cancel_delayed_work_sync(&fx->eth->announce.work);
}

/* The further lower netdevice of a MAC address gets another link-layer address, and asks for
 * announcements
 */
static void announced_of_slave(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_dev *slave = kunit_kzalloc(test, sizeof(*slave), GFP_KERNEL);
	struct in6_addr ip = ip4(1);

	KUNIT_ASSERT_NOT_NULL(test, slave);
	slave->domain = fx->eth;
	ether_addr_copy(slave->slave.mac, guest_mac);
	have(fx, ip);
	KUNIT_EXPECT_EQ(test, announcements(fx), 0u);
	/* The work has an announcement off the list while it sends it */
	netif_carrier_off(fx->lower);
	eipoib_announce_again(slave);
	KUNIT_EXPECT_EQ(test, announcements(fx), 1u);
	netif_carrier_on(fx->lower);
	cancel_delayed_work_sync(&fx->eth->announce.work);
}

static struct kunit_case arrival_cases[] = {
	KUNIT_CASE(arrival_asks),
	KUNIT_CASE(arrival_answers),
	KUNIT_CASE(arrival_answers6),
	KUNIT_CASE(arrival_probes),
	KUNIT_CASE(arrival_recent_first),
	KUNIT_CASE(announced_once),
	KUNIT_CASE(announced_with_carrier),
	KUNIT_CASE(announced_before_repeats),
	KUNIT_CASE(announced_one_each),
	KUNIT_CASE(announced_of_slave),
	KUNIT_CASE(arrival_without_heard),
	KUNIT_CASE(arrival_learning_off),
	KUNIT_CASE(arrival_bounded),
	KUNIT_CASE(arrival_paced),
	KUNIT_CASE(arrival_of_two),
	KUNIT_CASE(arrival_repeated),
	KUNIT_CASE(arrivals_bounded),
	KUNIT_CASE(arrival_sends),
	KUNIT_CASE(arrival_claimed),
	{}
};

static struct kunit_suite arrival_suite = {
	.name = "eipoib_arrival",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = arrival_cases,
};

kunit_test_suite(arrival_suite);
