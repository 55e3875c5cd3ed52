// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of what received packets tell: the table of senders, and the check
 * whether ARP and ND packets may claim their link-layer address.
 */
#include <linux/delay.h>

#include "ipoib_learn.c"
#include "kunit.h"

#define PEER_QPN	0x99
#define PEER_LID	9

/* The largest message that the tests send */
struct frame {
	struct ib_grh grh;
	struct ipoib_encap encap;
	u8 data[256];
} __packed;

static int learn_init(struct kunit *test)
{
	int err = fixture_init(test);

	if (!err)
		fixture_up(test);
	return err;
}

static struct frame *frame(struct kunit *test, u16 ethertype)
{
	struct frame *frame = kunit_kzalloc(test, sizeof(*frame), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, frame);
	frame->encap.ethertype = htons(ethertype);
	fixture_gid(&frame->grh.sgid, PEER_LID);
	return frame;
}

static struct ib_wc peer(int flags)
{
	return (struct ib_wc) {
		.src_qp = PEER_QPN, .slid = PEER_LID, .sl = 5, .wc_flags = flags,
	};
}

static void receive(struct kunit *test, const struct frame *frame, u32 len,
		    const struct ib_wc *wc)
{
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_EQ(test, hca_receive(fx->hca, frame, offsetof(struct frame, data) + len, wc),
			0);
	fixture_settle(fx);
}

/* The peer sends a packet with a GRH */
static void speak(struct kunit *test, const struct ib_wc *wc)
{
	struct ib_wc like = *wc;

	like.wc_flags |= IB_WC_GRH;
	receive(test, frame(test, ETH_P_802_EX1), 50, &like);
}

static bool find_gid(struct kunit *test, const union ib_gid *gid, struct ipoib_heard *heard)
{
	struct fixture *fx = test->priv;
	bool found;

	local_bh_disable();
	found = ipoib_learn_find(fx->priv, gid, heard);
	local_bh_enable();
	return found;
}

static bool find(struct kunit *test, u8 last, struct ipoib_heard *heard)
{
	union ib_gid gid;

	fixture_gid(&gid, last);
	return find_gid(test, &gid, heard);
}

static void sender_known(struct kunit *test)
{
	struct ib_wc wc = peer(0);
	struct ipoib_heard heard;

	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
	speak(test, &wc);
	KUNIT_ASSERT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_EQ(test, heard.lid, PEER_LID);
	KUNIT_EXPECT_EQ(test, heard.sl, 5);
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID + 1, &heard));
}

static void sender_forgotten(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = peer(0);
	struct ipoib_heard heard;

	speak(test, &wc);
	fx->priv->learn->by_qp[qp_slot(&wc)].heard = jiffies - LEARN_FRESH;
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
	speak(test, &wc);
	KUNIT_EXPECT_TRUE(test, find(test, PEER_LID, &heard));
	ipoib_learn_flush(fx->priv);
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
	/* Epoch 0, that of empty slots, is skipped when the epoch wraps around */
	fx->priv->learn->epoch = U32_MAX;
	ipoib_learn_flush(fx->priv);
	KUNIT_EXPECT_EQ(test, fx->priv->learn->epoch, 1u);
}

/* Packets from another subnet, with an invalid SLID, or with an IPv4 header in
 * place of the GRH are ignored
 */
static void sender_not_local(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct frame *f = frame(test, ETH_P_802_EX1);
	struct ib_wc wc = peer(IB_WC_GRH);
	struct ipoib_heard heard;

	f->grh.sgid.raw[1] ^= 0x40;
	receive(test, f, 50, &wc);
	KUNIT_EXPECT_FALSE(test, find_gid(test, &f->grh.sgid, &heard));
	f->grh.sgid.raw[1] ^= 0x40;
	wc.slid = 0;
	receive(test, f, 50, &wc);
	wc.slid = 0xc000;
	receive(test, f, 50, &wc);
	wc.slid = PEER_LID;
	wc.wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	wc.network_hdr_type = RDMA_NETWORK_IPV4;
	receive(test, f, 50, &wc);
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_SHORT), 0ull);
	wc.network_hdr_type = RDMA_NETWORK_IPV6;
	receive(test, f, 50, &wc);
	KUNIT_EXPECT_TRUE(test, find(test, PEER_LID, &heard));
}

/* A slot is not given to another sender as long as its own is active */
static void sender_slots(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = peer(0), other = wc;
	struct frame *f = frame(test, ETH_P_802_EX1);
	struct ipoib_heard heard;

	other.wc_flags = IB_WC_GRH;
	other.src_qp += LEARN_SLOTS;
	KUNIT_ASSERT_EQ(test, qp_slot(&wc), qp_slot(&other));
	fixture_gid(&f->grh.sgid, 77);
	speak(test, &wc);
	receive(test, f, 50, &other);
	KUNIT_EXPECT_FALSE(test, find(test, 77, &heard));
	fx->priv->learn->by_qp[qp_slot(&wc)].heard = jiffies - LEARN_KEEP;
	receive(test, f, 50, &other);
	KUNIT_EXPECT_TRUE(test, find(test, 77, &heard));
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
}

/* Two peers with consecutive LIDs and QPNs exchange their LIDs */
static void sender_exchanged(struct kunit *test)
{
	struct frame *f = frame(test, ETH_P_802_EX1);
	struct ib_wc wc = peer(IB_WC_GRH);
	struct ipoib_heard heard;
	int i;

	for (i = 0; i < 4; i++) {
		wc.src_qp = PEER_QPN + i % 2;
		wc.slid = PEER_LID + (i % 2 ^ i / 2);
		fixture_gid(&f->grh.sgid, i % 2);
		receive(test, f, 50, &wc);
		KUNIT_ASSERT_TRUE(test, find(test, i % 2, &heard));
		KUNIT_EXPECT_EQ(test, heard.lid, wc.slid);
	}
}

/* Is the sender of a packet without a GRH known? */
static bool is_told(struct kunit *test, const struct ib_wc *wc)
{
	struct fixture *fx = test->priv;
	struct ipoib_hwaddr hwaddr;
	struct ipoib_heard from;

	local_bh_disable();
	ipoib_learn_sender(fx->priv, wc, NULL, &hwaddr, &from);
	local_bh_enable();
	return memchr_inv(&hwaddr, 0, sizeof(hwaddr));
}

/* A sender of a unicast with a GRH and a hop limit above 0 needs a GRH itself. Later multicasts do
 * not change that, and packets without a GRH are not attributed to it.
 */
static void sender_needs_grh(struct kunit *test)
{
	struct frame *f = frame(test, ETH_P_802_EX1);
	struct ib_wc wc = peer(IB_WC_GRH);
	struct ipoib_heard heard;

	receive(test, f, 50, &wc);
	KUNIT_ASSERT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_FALSE(test, heard.needs_grh);
	f->grh.dgid.raw[0] = 0xff;
	f->grh.hop_limit = 1;
	receive(test, f, 50, &wc);
	KUNIT_ASSERT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_FALSE(test, heard.needs_grh);
	f->grh.dgid.raw[0] = 0xfe;
	receive(test, f, 50, &wc);
	KUNIT_ASSERT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_TRUE(test, heard.needs_grh);
	f->grh.dgid.raw[0] = 0xff;
	msleep(300);
	receive(test, f, 50, &wc);
	KUNIT_ASSERT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_TRUE(test, heard.needs_grh);
	wc.wc_flags = 0;
	KUNIT_EXPECT_FALSE(test, is_told(test, &wc));
}

/* Two GIDs share a LID and QPN: both are known, but a packet without a GRH cannot be attributed.
 * When the first sender has been silent, the second takes over its slot.
 */
static void sender_shares_lid(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct frame *f = frame(test, ETH_P_802_EX1);
	struct ib_wc wc = peer(IB_WC_GRH), bare = peer(0);
	struct ipoib_heard heard;

	receive(test, f, 50, &wc);
	KUNIT_EXPECT_TRUE(test, is_told(test, &bare));
	fixture_gid(&f->grh.sgid, 77);
	receive(test, f, 50, &wc);
	KUNIT_ASSERT_TRUE(test, find(test, 77, &heard));
	KUNIT_EXPECT_EQ(test, heard.lid, PEER_LID);
	KUNIT_EXPECT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_FALSE(test, is_told(test, &bare));
	fx->priv->learn->by_qp[qp_slot(&wc)].heard = jiffies - LEARN_KEEP;
	receive(test, f, 50, &wc);
	KUNIT_EXPECT_TRUE(test, find(test, 77, &heard));
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_FALSE(test, is_told(test, &bare));
}

static void hwaddr_shown(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = peer(0), other = wc;
	struct ipoib_hwaddr hwaddr, wanted;
	struct ipoib_heard from;
	union ib_gid gid;

	fixture_gid(&gid, PEER_LID);
	ipoib_hwaddr_build(&wanted, PEER_QPN, &gid);
	local_bh_disable();
	ipoib_learn_sender(fx->priv, &wc, NULL, &hwaddr, &from);
	local_bh_enable();
	KUNIT_EXPECT_NULL(test, memchr_inv(&hwaddr, 0, sizeof(hwaddr)));
	speak(test, &wc);
	local_bh_disable();
	ipoib_learn_sender(fx->priv, &wc, NULL, &hwaddr, &from);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, memcmp(&hwaddr, &wanted, sizeof(wanted)), 0);
	/* Nothing is known of another QP of that port */
	other.src_qp += LEARN_SLOTS;
	local_bh_disable();
	ipoib_learn_sender(fx->priv, &other, NULL, &hwaddr, &from);
	local_bh_enable();
	KUNIT_EXPECT_NULL(test, memchr_inv(&hwaddr, 0, sizeof(hwaddr)));
}

static struct kunit_case sender_cases[] = {
	KUNIT_CASE(sender_known),
	KUNIT_CASE(sender_forgotten),
	KUNIT_CASE(sender_not_local),
	KUNIT_CASE(sender_slots),
	KUNIT_CASE(sender_exchanged),
	KUNIT_CASE(sender_needs_grh),
	KUNIT_CASE(sender_shares_lid),
	KUNIT_CASE(hwaddr_shown),
	{}
};

static struct kunit_suite sender_suite = {
	.name = "ipoib_sender",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = learn_init,
	.exit = fixture_exit,
	.test_cases = sender_cases,
};

static struct frame *arp(struct kunit *test, u32 qpn, u8 last)
{
	static const u8 header[] = { 0, 32, 8, 0, INFINIBAND_ALEN, 4, 0, 2 };
	struct frame *f = frame(test, ETH_P_ARP);
	union ib_gid gid;

	memcpy(f->data, header, sizeof(header));
	fixture_gid(&gid, last);
	ipoib_hwaddr_build((void *)f->data + sizeof(header), qpn, &gid);
	return f;
}

#define ARP_LEN	(8 + 2 * (INFINIBAND_ALEN + 4))

/* The number of packets counted as forged since the last call */
static u64 forged(struct kunit *test)
{
	struct fixture *fx = test->priv;
	static u64 before;
	u64 now = fixture_count(fx, IPOIB_STAT_RX_FORGED), since;

	since = now < before ? now : now - before;
	before = now;
	return since;
}

static void claim_by_qpn(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = peer(0);

	forged(test);
	receive(test, arp(test, PEER_QPN, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	receive(test, arp(test, PEER_QPN + 1, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED_DROPPED), 0ull);
	fx->priv->arp_verify = true;
	receive(test, arp(test, PEER_QPN + 1, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED_DROPPED), 1ull);
}

static void claim_by_grh(struct kunit *test)
{
	struct ib_wc wc = peer(IB_WC_GRH);

	forged(test);
	receive(test, arp(test, PEER_QPN, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	receive(test, arp(test, PEER_QPN, PEER_LID + 1), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
}

/* A packet without a GRH; its sender is known from a packet with one */
static void claim_by_sender(struct kunit *test)
{
	struct ib_wc wc = peer(0);
	struct ipoib_heard heard;

	forged(test);
	speak(test, &wc);
	receive(test, arp(test, PEER_QPN, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	receive(test, arp(test, PEER_QPN, 77), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
	KUNIT_EXPECT_FALSE(test, find(test, 77, &heard));
}

/* A packet without a GRH; there is a path to its sender */
static void claim_by_path(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = peer(0);
	struct ipoib_heard heard;
	union ib_gid gid;

	forged(test);
	fixture_gid(&gid, PEER_LID);
	fixture_send(fx, fixture_packet(test, gid.raw, 100), false);
	fixture_settle(fx);
	wc.slid = PEER_LID + 1;
	receive(test, arp(test, PEER_QPN, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
	/* The mismatch causes a query for the path */
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 2);
	wc.slid = PEER_LID;
	receive(test, arp(test, PEER_QPN, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
}

/* A packet without a GRH claims a GID that was heard from another LID, which stays known */
static void claim_by_other(struct kunit *test)
{
	struct ib_wc wc = peer(0);
	struct ipoib_heard heard;

	forged(test);
	speak(test, &wc);
	wc.src_qp++;
	wc.slid++;
	receive(test, arp(test, PEER_QPN + 1, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
	KUNIT_ASSERT_TRUE(test, find(test, PEER_LID, &heard));
	KUNIT_EXPECT_EQ(test, heard.lid, PEER_LID);
}

/* An address that no neighbour has is not believed, even if nothing else is wrong with it, and also
 * without arp-verify
 */
static void claim_of_group(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct frame *f = arp(test, PEER_QPN, PEER_LID);
	struct ib_wc wc = peer(0);

	forged(test);
	f->data[8 + offsetof(struct ipoib_hwaddr, gid)] = 0xff;
	receive(test, f, ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED_DROPPED), 1ull);
}

/* If the claim can be neither confirmed nor refuted the packet is delivered,
 * and nothing is learned
 */
static void claim_unknown(struct kunit *test)
{
	struct ib_wc wc = peer(0);
	struct ipoib_heard heard;

	forged(test);
	receive(test, arp(test, PEER_QPN, PEER_LID), ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	KUNIT_EXPECT_FALSE(test, find(test, PEER_LID, &heard));
}

static void arp_malformed(struct kunit *test)
{
	struct frame *f = arp(test, PEER_QPN + 1, PEER_LID);
	struct ib_wc wc = peer(0);
	u32 len;

	forged(test);
	for (len = 0; len < 8 + INFINIBAND_ALEN; len++)
		receive(test, f, len, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	f->data[4] = ETH_ALEN;
	receive(test, f, ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	f->data[4] = INFINIBAND_ALEN;
	receive(test, f, len, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
}

/* The stack would remove the tag of a VLAN, and see the claim behind it. Such packets are dropped
 * also without arp-verify.
 */
static void arp_behind_tag(struct kunit *test)
{
	static const u16 tags[] = { ETH_P_8021Q, ETH_P_8021AD };
	struct frame *f = arp(test, PEER_QPN + 1, PEER_LID);
	struct fixture *fx = test->priv;
	struct ib_wc wc = peer(0);
	int i;

	forged(test);
	memmove(f->data + 4, f->data, ARP_LEN);
	memset(f->data, 0, 2);
	put_unaligned_be16(ETH_P_ARP, f->data + 2);
	for (i = 0; i < ARRAY_SIZE(tags); i++) {
		f->encap.ethertype = htons(tags[i]);
		receive(test, f, 4 + ARP_LEN, &wc);
		KUNIT_EXPECT_EQ(test, forged(test), 1ull);
		KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED_DROPPED), i + 1ull);
	}
	f->encap.ethertype = htons(ETH_P_802_EX1);
	receive(test, f, 4 + ARP_LEN, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
}

static u8 *put_option(u8 *at, u8 type, u32 qpn)
{
	union ib_gid gid;

	fixture_gid(&gid, PEER_LID);
	at[0] = type;
	at[1] = 3;
	ipoib_hwaddr_build((struct ipoib_hwaddr *)(at + 4), qpn, &gid);
	return at + 24;
}

/* Builds an ND message after an extension header of the given length */
static u32 put_nd(struct frame *f, u8 message, u32 extension, u32 length, u8 option, u32 qpn)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)f->data;
	u8 *at = (u8 *)(ip + 1);

	memset(f->data, 0, sizeof(f->data));
	ip->version = 6;
	ip->nexthdr = extension ? NEXTHDR_DEST : NEXTHDR_ICMP;
	ip->payload_len = htons(extension + length + 24);
	if (extension) {
		at[0] = NEXTHDR_ICMP;
		at[1] = extension / 8 - 1;
	}
	at[extension] = message;
	put_option(at + extension + length, option, qpn);
	return sizeof(*ip) + extension + length + 24;
}

static const struct {
	u8 message;
	u8 option;
	u8 length;
} nd_messages[] = {
	{ NDISC_ROUTER_SOLICITATION, ND_OPT_SOURCE_LL_ADDR, 8 },
	{ NDISC_ROUTER_ADVERTISEMENT, ND_OPT_SOURCE_LL_ADDR, 16 },
	{ NDISC_NEIGHBOUR_SOLICITATION, ND_OPT_SOURCE_LL_ADDR, 24 },
	{ NDISC_NEIGHBOUR_ADVERTISEMENT, ND_OPT_TARGET_LL_ADDR, 24 },
};

static void nd_claims(struct kunit *test)
{
	struct frame *f = frame(test, ETH_P_IPV6);
	struct ib_wc wc = peer(0);
	u32 len, extension;
	int i;

	forged(test);
	for (i = 0; i < ARRAY_SIZE(nd_messages); i++) {
		for (extension = 0; extension <= 16; extension += 8) {
			len = put_nd(f, nd_messages[i].message, extension, nd_messages[i].length,
				     nd_messages[i].option, PEER_QPN);
			receive(test, f, len, &wc);
			KUNIT_EXPECT_EQ(test, forged(test), 0ull);
			len = put_nd(f, nd_messages[i].message, extension, nd_messages[i].length,
				     nd_messages[i].option, PEER_QPN + 1);
			receive(test, f, len, &wc);
			KUNIT_EXPECT_EQ(test, forged(test), 1ull);
		}
		/* The other option does not hold the sender's own address */
		len = put_nd(f, nd_messages[i].message, 0, nd_messages[i].length,
			     nd_messages[i].option ^ 3, PEER_QPN + 1);
		receive(test, f, len, &wc);
		KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	}
	len = put_nd(f, NDISC_REDIRECT, 0, 40, ND_OPT_TARGET_LL_ADDR, PEER_QPN + 1);
	receive(test, f, len, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
}

/* Truncated packets: no option is read beyond the end */
static void nd_malformed(struct kunit *test)
{
	struct frame *f = frame(test, ETH_P_IPV6);
	struct ipv6hdr *ip = (struct ipv6hdr *)f->data;
	struct ib_wc wc = peer(0);
	u32 whole, len;

	forged(test);
	whole = put_nd(f, NDISC_NEIGHBOUR_SOLICITATION, 8, 24, ND_OPT_SOURCE_LL_ADDR,
		       PEER_QPN + 1);
	for (len = 0; len < whole; len++)
		receive(test, f, len, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	for (len = 0; len < whole - sizeof(*ip); len++) {
		ip->payload_len = htons(len);
		receive(test, f, whole, &wc);
	}
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	ip->payload_len = htons(len);
	f->data[whole - 23] = 0;
	receive(test, f, whole, &wc);
	f->data[whole - 23] = 2;
	receive(test, f, whole, &wc);
	f->data[whole - 23] = 4;
	receive(test, f, whole, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 0ull);
	f->data[whole - 23] = 3;
	receive(test, f, whole, &wc);
	KUNIT_EXPECT_EQ(test, forged(test), 1ull);
}

/* The packet has two options, either of which is false */
static void nd_two_options(struct kunit *test)
{
	struct frame *f = frame(test, ETH_P_IPV6);
	struct ipv6hdr *ip = (struct ipv6hdr *)f->data;
	struct ib_wc wc = peer(0);
	u32 len;
	int i;

	forged(test);
	for (i = 0; i < 2; i++) {
		len = put_nd(f, NDISC_NEIGHBOUR_SOLICITATION, 0, 24, ND_OPT_SOURCE_LL_ADDR,
			     PEER_QPN + i);
		put_option(f->data + len, ND_OPT_SOURCE_LL_ADDR, PEER_QPN + !i);
		ip->payload_len = htons(len - sizeof(*ip) + 24);
		receive(test, f, len + 24, &wc);
		KUNIT_EXPECT_EQ(test, forged(test), 1ull);
	}
}

/* The stack accepts a packet without a payload length if it has a hop-by-hop header */
static void nd_without_length(struct kunit *test)
{
	struct frame *f = frame(test, ETH_P_IPV6);
	struct ipv6hdr *ip = (struct ipv6hdr *)f->data;
	struct ib_wc wc = peer(0);
	u32 i, len;

	forged(test);
	for (i = 0; i < 2; i++) {
		len = put_nd(f, NDISC_NEIGHBOUR_ADVERTISEMENT, 8, 24, ND_OPT_TARGET_LL_ADDR,
			     PEER_QPN + i);
		ip->nexthdr = NEXTHDR_HOP;
		ip->payload_len = 0;
		receive(test, f, len, &wc);
		KUNIT_EXPECT_EQ(test, forged(test), (u64)i);
	}
}

static struct kunit_case claim_cases[] = {
	KUNIT_CASE(claim_by_qpn),
	KUNIT_CASE(claim_by_grh),
	KUNIT_CASE(claim_by_sender),
	KUNIT_CASE(claim_by_path),
	KUNIT_CASE(claim_by_other),
	KUNIT_CASE(claim_of_group),
	KUNIT_CASE(claim_unknown),
	KUNIT_CASE(arp_malformed),
	KUNIT_CASE(arp_behind_tag),
	KUNIT_CASE(nd_claims),
	KUNIT_CASE(nd_malformed),
	KUNIT_CASE(nd_two_options),
	KUNIT_CASE(nd_without_length),
	{}
};

static struct kunit_suite claim_suite = {
	.name = "ipoib_claim",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = learn_init,
	.exit = fixture_exit,
	.test_cases = claim_cases,
};

kunit_test_suites(&sender_suite, &claim_suite);
