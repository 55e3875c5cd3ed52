// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of IGMP and MLD: which reports make the lower netdevice join a group, and that none that is
 * malformed does harm. All are passed on.
 */
#include <linux/icmpv6.h>
#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "kunit.h"

/* Types of messages (RFC 1112, RFC 2236, RFC 3376) */
#define IGMP_V1		0x12
#define IGMP_V2		0x16
#define IGMP_V3		0x22

#define MEMBERS_OF_ONE	256	/* groups that one host may report */

/* A packet that is being built */
struct report {
	bool ip6;
	u8 data[1400];
	u32 len;
};

static void put(struct report *report, const void *octets, u32 len)
{
	memcpy(report->data + report->len, octets, len);
	report->len += len;
}

static void begin4(struct report *report)
{
	struct iphdr ip = {
		.version = 4, .ihl = 6, .ttl = 1, .protocol = IPPROTO_IGMP,
		.saddr = htonl(0x0a000001), .daddr = htonl(0xe0000016),
	};

	report->ip6 = false;
	report->len = 0;
	put(report, &ip, sizeof(ip));
	/* Router alert (RFC 2113) */
	put(report, (u8[]) { 0x94, 0x04, 0, 0 }, 4);
}

static void begin6(struct report *report)
{
	struct ipv6hdr ip = {
		.version = 6, .hop_limit = 1, .nexthdr = NEXTHDR_HOP,
		.saddr = { .s6_addr = { 0xfe, 0x80, [15] = 1 } },
		.daddr = { .s6_addr = { 0xff, 0x02, [15] = 0x16 } },
	};

	report->ip6 = true;
	report->len = 0;
	put(report, &ip, sizeof(ip));
	/* Router alert (RFC 2711), and padding */
	put(report, (u8[]) { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 }, 8);
}

static void begin(struct report *report, bool ip6)
{
	if (ip6)
		begin6(report);
	else
		begin4(report);
}

/* Groups that no host joins by itself: on IPoIB, those of other scopes are the same ones */
static struct in6_addr group(bool ip6, u16 number)
{
	struct in6_addr ip = { .s6_addr = { 0xff, 0x05, [12] = 0x12, [14] = number >> 8, number } };

	return ip6 ? ip : eipoib_ip4(htonl(0xef010000 | number));
}

static void put_group(struct report *report, u16 number)
{
	struct in6_addr ip = group(report->ip6, number);

	if (report->ip6)
		put(report, &ip, sizeof(ip));
	else
		put(report, &ip.s6_addr32[3], sizeof(__be32));
}

/* The head of a report of IGMPv3 or MLDv2, which says how many records follow */
static void put_head(struct report *report, u16 records)
{
	struct eipoib_report head = {
		.type = report->ip6 ? ICMPV6_MLD2_REPORT : IGMP_V3,
		.records = htons(records),
	};

	put(report, &head, sizeof(head));
}

/* A record, with its sources and auxiliary data */
static void put_record(struct report *report, u8 type, u16 number, u16 sources, u8 aux_words)
{
	struct eipoib_record record = {
		.type = type, .aux_words = aux_words, .sources = htons(sources)
	};

	put(report, &record, sizeof(record));
	put_group(report, number);
	while (sources--)
		put_group(report, 0x7777);
	while (aux_words--)
		put(report, (u8[]) { 1, 2, 3, 4 }, 4);
}

/* Sends a packet as it is, and expects that it is passed on */
static void send_raw(struct fixture *fx, const struct report *report)
{
	const u8 *mac = report->ip6 ? (u8[]) { 0x33, 0x33, 0, 0, 0, 0x16 } :
				      (u8[]) { 0x01, 0x00, 0x5e, 0, 0, 0x16 };
	u16 ethertype = report->ip6 ? ETH_P_IPV6 : ETH_P_IP;
	struct sk_buff *skb;

	fixture_xmit(fx, fixture_frame(fx, mac, guest_mac, ethertype, report->data, report->len));
	skb = fixture_sent(fx, ethertype);
	KUNIT_EXPECT_EQ(fx->test, skb->len, (u32)sizeof(struct eipoib_header) + report->len);
	KUNIT_EXPECT_EQ(fx->test, memcmp(skb->data + sizeof(struct eipoib_header), report->data,
					 report->len), 0);
	kfree_skb(skb);
}

static void send(struct fixture *fx, struct report *report)
{
	fixture_finish(report->ip6 ? ETH_P_IPV6 : ETH_P_IP, report->data, report->len);
	send_raw(fx, report);
}

static bool joined(struct fixture *fx, bool ip6, u16 number)
{
	struct in6_addr ip = group(ip6, number);

	return fixture_joined(fx, &ip);
}

static u64 joins(struct fixture *fx)
{
	return fixture_count(fx, "group_joins");
}

static void igmp_old_reports(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct report report;

	begin4(&report);
	put(&report, (u8[]) { IGMP_V1, 0, 0, 0 }, 4);
	put_group(&report, 1);
	send(fx, &report);
	KUNIT_EXPECT_TRUE(test, joined(fx, false, 1));
	begin4(&report);
	put(&report, (u8[]) { IGMP_V2, 0, 0, 0 }, 4);
	put_group(&report, 2);
	send(fx, &report);
	KUNIT_EXPECT_TRUE(test, joined(fx, false, 2));
	send(fx, &report);
	KUNIT_EXPECT_EQ(test, joins(fx), 2ull);
	fixture_dropped(fx, NULL);
}

static void mld_old_report(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct report report;

	begin6(&report);
	put(&report, (u8[]) { ICMPV6_MGM_REPORT, 0, 0, 0, 0, 0, 0, 0 }, 8);
	put_group(&report, 1);
	send(fx, &report);
	KUNIT_EXPECT_TRUE(test, joined(fx, true, 1));
	KUNIT_EXPECT_EQ(test, joins(fx), 1ull);
	fixture_dropped(fx, NULL);
}

/* A group is wanted if any source of it is */
static void records(struct kunit *test, bool ip6)
{
	struct fixture *fx = test->priv;
	static struct report report;

	begin(&report, ip6);
	put_head(&report, 8);
	put_record(&report, EIPOIB_MODE_IS_INCLUDE, 1, 0, 0);
	put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 2, 0, 0);
	put_record(&report, EIPOIB_CHANGE_TO_INCLUDE, 3, 0, 1);
	put_record(&report, EIPOIB_CHANGE_TO_EXCLUDE, 4, 3, 0);
	put_record(&report, EIPOIB_ALLOW_NEW_SOURCES, 5, 1, 2);
	put_record(&report, 6, 6, 2, 0);
	put_record(&report, EIPOIB_MODE_IS_INCLUDE, 7, 2, 0);
	put_record(&report, 77, 8, 1, 0);
	send(fx, &report);
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 1));
	KUNIT_EXPECT_TRUE(test, joined(fx, ip6, 2));
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 3));
	KUNIT_EXPECT_TRUE(test, joined(fx, ip6, 4));
	KUNIT_EXPECT_TRUE(test, joined(fx, ip6, 5));
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 6));
	KUNIT_EXPECT_TRUE(test, joined(fx, ip6, 7));
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 8));
	KUNIT_EXPECT_EQ(test, joins(fx), 4ull);
	fixture_dropped(fx, NULL);
}

static void igmp3_records(struct kunit *test)
{
	records(test, false);
}

static void mld2_records(struct kunit *test)
{
	records(test, true);
}

/* Heads that promise more than there is: what is there counts, and nothing else */
static void lies(struct kunit *test, bool ip6)
{
	struct fixture *fx = test->priv;
	static struct report report;
	u32 len, at;

	begin(&report, ip6);
	at = report.len;
	put_head(&report, 0xffff);
	put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 1, 0, 0);
	send(fx, &report);
	KUNIT_EXPECT_TRUE(test, joined(fx, ip6, 1));
	begin(&report, ip6);
	put_head(&report, 2);
	put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 2, 0, 0);
	/* Sources that are not there; the group behind them is none */
	((struct eipoib_record *)(report.data + at + sizeof(struct eipoib_report)))->sources =
		htons(0xffff);
	put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 3, 0, 0);
	send(fx, &report);
	KUNIT_EXPECT_TRUE(test, joined(fx, ip6, 2));
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 3));
	begin(&report, ip6);
	put_head(&report, 0);
	put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 4, 0, 0);
	send(fx, &report);
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 4));
	KUNIT_EXPECT_EQ(test, joins(fx), 2ull);
	/* Cut at each octet */
	begin(&report, ip6);
	put_head(&report, 1);
	put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 5, 0, 0);
	for (len = report.len - 1; len >= at; len--) {
		report.len = len;
		send(fx, &report);
	}
	KUNIT_EXPECT_FALSE(test, joined(fx, ip6, 5));
	KUNIT_EXPECT_EQ(test, joins(fx), 2ull);
	fixture_dropped(fx, NULL);
}

static void igmp3_lies(struct kunit *test)
{
	lies(test, false);
}

static void mld2_lies(struct kunit *test)
{
	lies(test, true);
}

/* What arrives with errors is not used (RFC 4541 section 2.1.1) */
static void wrong_checksums(struct kunit *test)
{
	struct fixture *fx = test->priv;
	static struct report report;
	u32 n;

	for (n = 0; n < 2; n++) {
		begin(&report, n);
		put_head(&report, 1);
		put_record(&report, EIPOIB_MODE_IS_EXCLUDE, 2, 0, 0);
		fixture_finish(n ? ETH_P_IPV6 : ETH_P_IP, report.data, report.len);
		report.data[report.len - 1] ^= 1;
		send_raw(fx, &report);
	}
	KUNIT_EXPECT_EQ(test, joins(fx), 0ull);
	fixture_dropped(fx, NULL);
}

/* What is said to be a group, and is none, is not joined */
static void no_groups(struct kunit *test)
{
	struct fixture *fx = test->priv;
	static struct report report;

	begin4(&report);
	put(&report, (u8[]) { IGMP_V2, 0, 0, 0, 10, 0, 0, 1 }, 8);
	send(fx, &report);
	begin4(&report);
	put_head(&report, 1);
	put(&report, (u8[]) { EIPOIB_MODE_IS_EXCLUDE, 0, 0, 0, 255, 255, 255, 255 }, 8);
	send(fx, &report);
	begin6(&report);
	put(&report, (u8[24]) { ICMPV6_MGM_REPORT, [8] = 0xfe, 0x80, [23] = 1 }, 24);
	send(fx, &report);
	KUNIT_EXPECT_EQ(test, joins(fx), 0ull);
	fixture_dropped(fx, NULL);
}

/* One host cannot have all groups joined, and others are not kept from joining theirs */
static void report_limit(struct kunit *test)
{
	struct fixture *fx = test->priv;
	static struct report report;
	struct in6_addr ip;
	u32 n;

	for (n = 0; n < MEMBERS_OF_ONE + 3; n++) {
		begin4(&report);
		put(&report, (u8[]) { IGMP_V2, 0, 0, 0 }, 4);
		put_group(&report, n);
		send(fx, &report);
	}
	KUNIT_EXPECT_EQ(test, joins(fx), (u64)MEMBERS_OF_ONE);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "group_refused"), 3ull);
	KUNIT_EXPECT_FALSE(test, joined(fx, false, MEMBERS_OF_ONE));
	ip = group(false, 1000);
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, eipoib_member_report(fx->eth, &ip, other_mac));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, joined(fx, false, 1000));
	fixture_dropped(fx, NULL);
}

/* All groups are left when the netdevice is deleted */
static void reports_end(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct report report;

	begin4(&report);
	put(&report, (u8[]) { IGMP_V2, 0, 0, 0 }, 4);
	put_group(&report, 1);
	send(fx, &report);
	KUNIT_EXPECT_GT(test, netdev_mc_count(fx->lower), 0);
	rtnl_lock();
	netdev_rx_handler_unregister(fx->netdev);
	eipoib_link_ops.dellink(fx->netdev, NULL);
	rtnl_unlock();
	fx->netdev = NULL;
	KUNIT_EXPECT_EQ(test, netdev_mc_count(fx->lower), fx->own_groups);
}

static struct kunit_case snoop_cases[] = {
	KUNIT_CASE(igmp_old_reports),
	KUNIT_CASE(mld_old_report),
	KUNIT_CASE(igmp3_records),
	KUNIT_CASE(mld2_records),
	KUNIT_CASE(igmp3_lies),
	KUNIT_CASE(mld2_lies),
	KUNIT_CASE(wrong_checksums),
	KUNIT_CASE(no_groups),
	KUNIT_CASE(report_limit),
	KUNIT_CASE(reports_end),
	{}
};

static struct kunit_suite snoop_suite = {
	.name = "eipoib_snoop",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = snoop_cases,
};

kunit_test_suite(snoop_suite);
