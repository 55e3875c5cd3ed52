// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of random packets to both sides. What comes out is well formed, and the sum is right: each
 * packet is sent, received, or counted as dropped.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/udp.h>

#include "kunit.h"
#include "kunit_frames.h"

static uint fuzz_frames = 2000;
module_param(fuzz_frames, uint, 0444);
MODULE_PARM_DESC(fuzz_frames, "How many random packets each test of the suite eipoib_fuzz has");

static uint fuzz_seed = 1;
module_param(fuzz_seed, uint, 0444);
MODULE_PARM_DESC(fuzz_seed, "Which random packets");

#define SETTLE_MAX	(60 * HZ)

/* Reads a parameter, because KUnit runs the suites before the module's parameters are set */
static u32 parameter(const char *name, u32 value)
{
	const char *at = strstr(compat_module_args(THIS_MODULE), name);
	char word[16];

	if (!at)
		return value;
	strscpy(word, at + strlen(name), sizeof(word));
	word[strcspn(word, " ")] = '\0';
	return kstrtou32(word, 0, &value) ? 0 : value;
}

/* What has happened so far */
struct sums {
	u64 in;			/* packets of the test */
	u64 out;		/* sent or received */
};

/* Has a packet be in pages, shared, with a checksum that is left to do, or several in one. Returns
 * a clone that must not change, if there is one.
 */
static struct sk_buff *reshape(struct fixture *fx, struct frames *frames, struct sk_buff **pskb,
			       u32 head)
{
	u32 choice = prandom_u32_state(&frames->random) % 8;
	struct sk_buff *skb = *pskb;
	u32 transport;

	if (choice == 0 && skb->len >= 2) {
		*pskb = fixture_scatter(fx, skb, prandom_u32_state(&frames->random) %
						 min(skb->len - 1, 64u));
	} else if (choice == 1) {
		return skb_clone(skb, GFP_KERNEL);
	} else if (choice == 2 && !frames->spoilt &&
		   (frames->ethertype == ETH_P_IP || frames->ethertype == ETH_P_IPV6)) {
		transport = head + (frames->ethertype == ETH_P_IP ? sizeof(struct iphdr) :
								    sizeof(struct ipv6hdr));
		if (skb->len < transport + sizeof(struct udphdr) + 400)
			return NULL;
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) + transport;
		skb->csum_offset = offsetof(struct udphdr, check);
		skb_set_transport_header(skb, transport);
		skb_shinfo(skb)->gso_size = 200;
		skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(skb->len - transport, 200);
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
	return NULL;
}

/* What leaves is one of the three protocols, and ARP has the form of the side that it goes to */
static void check_out(struct fixture *fx, struct sk_buff *skb, u32 head, u16 ethertype, u32 arp_len)
{
	struct kunit *test = fx->test;
	bool passes = ethertype == ETH_P_IP || ethertype == ETH_P_IPV6 || ethertype == ETH_P_ARP;

	KUNIT_EXPECT_TRUE(test, passes);
	KUNIT_EXPECT_EQ(test, ntohs(skb->protocol), ethertype);
	if (ethertype == ETH_P_ARP)
		KUNIT_EXPECT_EQ(test, skb->len, head + arp_len);
	else if (ethertype == ETH_P_IP)
		KUNIT_EXPECT_GE(test, skb->len, head + (u32)sizeof(struct iphdr));
	else
		KUNIT_EXPECT_GE(test, skb->len, head + (u32)sizeof(struct ipv6hdr));
}

static void take_out(struct fixture *fx, struct sums *sums)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&fx->sent)) != NULL) {
		KUNIT_ASSERT_TRUE(fx->test, pskb_may_pull(skb, sizeof(struct eipoib_header)));
		check_out(fx, skb, sizeof(struct eipoib_header),
			  ntohs(((struct eipoib_header *)skb->data)->ethertype),
			  sizeof(struct eipoib_arp_ib));
		sums->out++;
		kfree_skb(skb);
	}
	while ((skb = skb_dequeue(&fx->received)) != NULL) {
		KUNIT_ASSERT_TRUE(fx->test, pskb_may_pull(skb, ETH_HLEN));
		check_out(fx, skb, ETH_HLEN, ntohs(((struct ethhdr *)skb->data)->h_proto),
			  sizeof(struct eipoib_arp_eth));
		sums->out++;
		kfree_skb(skb);
	}
}

static void fuzz_eth(struct fixture *fx, struct frames *frames)
{
	struct sk_buff *skb, *clone;

	frames_next(frames, false);
	skb = fixture_frame(fx, frames->to, frames->from, frames->ethertype, frames->data,
			    frames->len);
	clone = reshape(fx, frames, &skb, ETH_HLEN);
	dev_queue_xmit(skb);
	if (clone)
		KUNIT_EXPECT_EQ(fx->test, memcmp(clone->data + ETH_HLEN, frames->data,
						 frames->len), 0);
	kfree_skb(clone);
}

static void fuzz_ib(struct fixture *fx, struct frames *frames)
{
	static const u8 types[] = { PACKET_HOST, PACKET_BROADCAST, PACKET_MULTICAST };
	struct eipoib_lladdr from = fixture_peer(prandom_u32_state(&frames->random) % 4);
	u8 type = types[prandom_u32_state(&frames->random) % ARRAY_SIZE(types)];
	bool told = prandom_u32_state(&frames->random) % 4;
	struct sk_buff *skb, *clone;

	frames_next(frames, true);
	skb = fixture_packet(fx, told ? &from : NULL, frames->ethertype, frames->data,
			     frames->len);
	clone = reshape(fx, frames, &skb, 0);
	skb->pkt_type = type;
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
	if (clone)
		KUNIT_EXPECT_EQ(fx->test, memcmp(clone->data, frames->data, frames->len), 0);
	kfree_skb(clone);
}

/* Packets that this module has made itself */
static u64 own_packets(struct fixture *fx)
{
	return fixture_count(fx, "asked_ib") + fixture_count(fx, "asked_eth") +
	       fixture_count(fx, "announced") + fixture_count(fx, "announced_eth") +
	       fixture_count(fx, "queries");
}

static bool is_idle(struct fixture *fx)
{
	return !READ_ONCE(fx->eth->to_ib.count) && !READ_ONCE(fx->eth->to_eth.count) &&
	       !READ_ONCE(fx->eth->announce.count) &&
	       !delayed_work_pending(&fx->eth->announce.ask_work);
}

/* Waits until no packet waits any more, all announcements are sent, and all questions are asked. An
 * announcement that is being sent is not in the list, to which it may return, so it must be idle
 * for some time.
 */
static void wait_until_idle(struct fixture *fx, struct sums *sums)
{
	unsigned long limit = jiffies + SETTLE_MAX;
	u32 idle = 0;

	while (idle < 10 && time_before(jiffies, limit)) {
		idle = is_idle(fx) ? idle + 1 : 0;
		msleep(100);
		take_out(fx, sums);
	}
	KUNIT_EXPECT_TRUE(fx->test, is_idle(fx));
}

static void fuzz(struct kunit *test, void (*one)(struct fixture *fx, struct frames *frames),
		 void (*other)(struct fixture *fx, struct frames *frames))
{
	struct fixture *fx = test->priv;
	struct frames *frames = kunit_kzalloc(test, sizeof(*frames), GFP_KERNEL);
	u32 count = parameter("fuzz_frames=", fuzz_frames);
	u32 seed = parameter("fuzz_seed=", fuzz_seed);
	struct rtnl_link_stats64 stats = { };
	struct sums sums = { };

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, frames);
	frames_begin(frames, seed);
	while (sums.in < count) {
		(sums.in % 2 ? one : other)(fx, frames);
		sums.in++;
		take_out(fx, &sums);
		cond_resched();
	}
	wait_until_idle(fx, &sums);
	fx->netdev->netdev_ops->ndo_get_stats64(fx->netdev, &stats);
	kunit_info(test, "seed %u: %llu packets, %llu came out, %llu of the module's own, %llu dropped",
		   seed, sums.in, sums.out, own_packets(fx),
		   stats.tx_dropped + stats.rx_dropped);
	KUNIT_EXPECT_EQ(test, sums.in, sums.out - own_packets(fx) + stats.tx_dropped +
			stats.rx_dropped + fixture_count(fx, "rarp"));
	KUNIT_EXPECT_GT(test, sums.out, sums.in / 10);
}

static void fuzz_from_eth(struct kunit *test)
{
	fuzz(test, fuzz_eth, fuzz_eth);
}

static void fuzz_from_ib(struct kunit *test)
{
	fuzz(test, fuzz_ib, fuzz_ib);
}

static void fuzz_from_both(struct kunit *test)
{
	fuzz(test, fuzz_eth, fuzz_ib);
}

static struct kunit_case fuzz_cases[] = {
	KUNIT_CASE(fuzz_from_eth),
	KUNIT_CASE(fuzz_from_ib),
	KUNIT_CASE(fuzz_from_both),
	{}
};

static struct kunit_suite fuzz_suite = {
	.name = "eipoib_fuzz",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = fuzz_cases,
};

kunit_test_suite(fuzz_suite);
