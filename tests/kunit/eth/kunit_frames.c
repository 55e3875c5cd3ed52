// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Random packets of both sides: valid ones of all protocols that the module reads, some of which
 * are spoilt afterwards. A seed always gives the same packets.
 */
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip6_checksum.h>
#include <net/ndisc.h>

#include "kunit.h"
#include "kunit_frames.h"

#define HOSTS		4	/* on each side */
#define DHCP_LEN	300

enum kind {
	KIND_ARP,
	KIND_RARP,
	KIND_ND,
	KIND_IGMP,
	KIND_MLD,
	KIND_DHCP,
	KIND_UDP4,
	KIND_UDP6,
	KIND_OTHER,
	KINDS
};

static u32 below(struct frames *frames, u32 limit)
{
	return prandom_u32_state(&frames->random) % limit;
}

static bool one_in(struct frames *frames, u32 n)
{
	return !below(frames, n);
}

static void put(struct frames *frames, const void *octets, u32 len)
{
	memcpy(frames->data + frames->len, octets, len);
	frames->len += len;
}

static void put_random(struct frames *frames, u32 len)
{
	prandom_bytes_state(&frames->random, frames->data + frames->len, len);
	frames->len += len;
}

/* A host of the Ethernet side, an interface of the IPoIB side, or anybody */
static void any_mac(struct frames *frames, u8 *mac)
{
	struct eipoib_lladdr peer = fixture_peer(below(frames, HOSTS));

	switch (below(frames, 6)) {
	case 0:
		eth_broadcast_addr(mac);
		return;
	case 1:
		prandom_bytes_state(&frames->random, mac, ETH_ALEN);
		return;
	case 2:
	case 3:
		eipoib_remote_mac_of(&peer, mac);
		return;
	}
	ether_addr_copy(mac, guest_mac);
	mac[5] = below(frames, HOSTS);
}

static __be32 any_ip4(struct frames *frames)
{
	static const u32 special[] = { 0, 0xffffffff, 0xe0000001, 0xe0000016, 0xef010203,
				       0x7f000001, 0x0a0000ff };

	if (one_in(frames, 4))
		return htonl(special[below(frames, ARRAY_SIZE(special))]);
	return htonl(0x0a000000 | below(frames, 2 * HOSTS));
}

static struct in6_addr any_ip6(struct frames *frames)
{
	struct in6_addr ip = { .s6_addr = { 0xfe, 0x80, [15] = below(frames, 2 * HOSTS) } };

	switch (below(frames, 8)) {
	case 0:
		return in6addr_any;
	case 1:
		return eipoib_ip4(any_ip4(frames));
	case 2:
		return (struct in6_addr) {
			.s6_addr = { 0xff, 0x02, [15] = below(frames, 32) }
		};
	case 3:
		return (struct in6_addr) {
			.s6_addr = { 0xff, 0x02, [11] = 1, 0xff, [15] = below(frames, 2 * HOSTS) }
		};
	}
	return ip;
}

/* A link-layer address of this packet's side */
static void put_address(struct frames *frames)
{
	struct eipoib_lladdr lladdr = fixture_peer(below(frames, HOSTS));
	u8 mac[ETH_ALEN];

	if (frames->ib) {
		put(frames, &lladdr, sizeof(lladdr));
		return;
	}
	any_mac(frames, mac);
	put(frames, mac, sizeof(mac));
}

static void make_arp(struct frames *frames, u16 op)
{
	struct arphdr head = {
		.ar_hrd = htons(frames->ib ? ARPHRD_INFINIBAND : ARPHRD_ETHER),
		.ar_pro = htons(ETH_P_IP),
		.ar_hln = frames->ib ? INFINIBAND_ALEN : ETH_ALEN,
		.ar_pln = sizeof(__be32),
		.ar_op = htons(op),
	};
	__be32 ip = any_ip4(frames);

	put(frames, &head, sizeof(head));
	put_address(frames);
	put(frames, &ip, sizeof(ip));
	put_address(frames);
	ip = any_ip4(frames);
	put(frames, &ip, sizeof(ip));
}

static void begin4(struct frames *frames, u8 protocol)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = protocol,
		.saddr = any_ip4(frames), .daddr = any_ip4(frames),
	};

	frames->ethertype = ETH_P_IP;
	put(frames, &ip, sizeof(ip));
}

static void begin6(struct frames *frames, u8 next, u8 hops)
{
	struct ipv6hdr ip = {
		.version = 6, .nexthdr = next, .hop_limit = hops,
		.saddr = any_ip6(frames), .daddr = any_ip6(frames),
	};

	frames->ethertype = ETH_P_IPV6;
	put(frames, &ip, sizeof(ip));
}

/* Options of ND, of which some have addresses */
static void put_options(struct frames *frames)
{
	u32 count, units;
	u8 type;

	for (count = below(frames, 4); count; count--) {
		type = below(frames, 6);
		if (type == ND_OPT_SOURCE_LL_ADDR || type == ND_OPT_TARGET_LL_ADDR) {
			put(frames, (u8[]) { type, frames->ib ? 3 : 1, 0, 0 }, frames->ib ? 4 : 2);
			put_address(frames);
			continue;
		}
		units = 1 + below(frames, 5);
		put(frames, (u8[]) { type, units }, 2);
		put_random(frames, 8 * units - 2);
	}
}

static void make_nd(struct frames *frames)
{
	static const u8 fixed[] = { sizeof(struct rs_msg), sizeof(struct ra_msg),
				    sizeof(struct nd_msg), sizeof(struct nd_msg),
				    sizeof(struct rd_msg) };
	struct in6_addr target = any_ip6(frames);
	u32 which = below(frames, ARRAY_SIZE(fixed)), at;

	begin6(frames, IPPROTO_ICMPV6, 255);
	at = frames->len;
	put_random(frames, fixed[which]);
	frames->data[at] = NDISC_ROUTER_SOLICITATION + which;
	frames->data[at + 1] = 0;
	if (fixed[which] >= sizeof(struct nd_msg))
		memcpy(frames->data + at + 8, &target, sizeof(target));
	put_options(frames);
}

/* Reports of version 2 or 3, of which the head may promise what is not there */
static void put_records(struct frames *frames, u8 type, bool ip6)
{
	u32 count = below(frames, 5), said = one_in(frames, 4) ? below(frames, 0x10000) : count;
	struct in6_addr group = any_ip6(frames);
	__be32 group4 = any_ip4(frames);
	u32 sources;

	put(frames, (u8[]) { type, 0, 0, 0, 0, 0, said >> 8, said }, 8);
	for (; count; count--) {
		sources = below(frames, 4);
		put(frames, (u8[]) { below(frames, 8), one_in(frames, 4), 0, sources }, 4);
		if (ip6)
			put(frames, &group, sizeof(group));
		else
			put(frames, &group4, sizeof(group4));
		put_random(frames, sources * (ip6 ? 16 : 4));
	}
}

static void make_igmp(struct frames *frames)
{
	static const u8 types[] = { 0x11, 0x12, 0x16, 0x17, 0x22, 0x22 };
	u8 type = types[below(frames, ARRAY_SIZE(types))];
	__be32 group = any_ip4(frames);

	begin4(frames, IPPROTO_IGMP);
	if (type == 0x22) {
		put_records(frames, type, false);
		return;
	}
	put(frames, (u8[]) { type, 10, 0, 0 }, 4);
	put(frames, &group, sizeof(group));
}

static void make_mld(struct frames *frames)
{
	static const u8 types[] = { ICMPV6_MGM_QUERY, ICMPV6_MGM_REPORT, ICMPV6_MGM_REDUCTION,
				    ICMPV6_MLD2_REPORT, ICMPV6_MLD2_REPORT };
	u8 type = types[below(frames, ARRAY_SIZE(types))];
	struct in6_addr group = any_ip6(frames);

	begin6(frames, NEXTHDR_HOP, 1);
	put(frames, (u8[]) { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 }, 8);
	if (type == ICMPV6_MLD2_REPORT) {
		put_records(frames, type, true);
		return;
	}
	put(frames, (u8[]) { type, 0, 0, 0, 0, 0, 0, 0 }, 8);
	put(frames, &group, sizeof(group));
}

static void put_udp(struct frames *frames, u16 from, u16 to, u32 len)
{
	struct udphdr udp = {
		.source = htons(from), .dest = htons(to), .len = htons(sizeof(udp) + len),
	};

	put(frames, &udp, sizeof(udp));
	put_random(frames, len);
}

/* A message of DHCP (RFC 2131 section 2), with options */
static void make_dhcp(struct frames *frames)
{
	static const u8 cookie[] = { 0x63, 0x82, 0x53, 0x63, 53, 1 };
	bool request = one_in(frames, 2);
	u8 *bootp, mac[ETH_ALEN];

	begin4(frames, IPPROTO_UDP);
	put_udp(frames, request ? 68 : 67, request ? 67 : 68, DHCP_LEN);
	bootp = frames->data + frames->len - DHCP_LEN;
	any_mac(frames, mac);
	bootp[0] = request ? 1 : 2;
	bootp[1] = one_in(frames, 3) ? ARPHRD_INFINIBAND : ARPHRD_ETHER;
	bootp[2] = bootp[1] == ARPHRD_ETHER ? ETH_ALEN : 0;
	bootp[7] = below(frames, 4);
	memcpy(bootp + 28, mac, sizeof(mac));
	memcpy(bootp + 236, cookie, sizeof(cookie));
	bootp[236 + sizeof(cookie)] = below(frames, 9);
}

static void make_other(struct frames *frames)
{
	static const u16 types[] = { 0, 38, 0x5ff, ETH_P_LLDP, ETH_P_PPP_SES, ETH_P_MPLS_UC,
				     ETH_P_IP, ETH_P_IPV6, ETH_P_ARP };

	frames->ethertype = types[below(frames, ARRAY_SIZE(types))];
	put_random(frames, below(frames, 100));
}

static void make(struct frames *frames, enum kind kind)
{
	frames->len = 0;
	switch (kind) {
	case KIND_ARP:
		frames->ethertype = ETH_P_ARP;
		make_arp(frames, ARPOP_REQUEST + below(frames, 2));
		break;
	case KIND_RARP:
		frames->ethertype = ETH_P_RARP;
		make_arp(frames, ARPOP_RREQUEST);
		break;
	case KIND_ND:
		make_nd(frames);
		break;
	case KIND_IGMP:
		make_igmp(frames);
		break;
	case KIND_MLD:
		make_mld(frames);
		break;
	case KIND_DHCP:
		make_dhcp(frames);
		break;
	case KIND_UDP4:
		begin4(frames, IPPROTO_UDP);
		put_udp(frames, 1000, 2000, below(frames, 1200));
		break;
	case KIND_UDP6:
		begin6(frames, IPPROTO_UDP, 64);
		put_udp(frames, 1000, 2000, below(frames, 1200));
		break;
	default:
		make_other(frames);
	}
}

static void spoil(struct frames *frames)
{
	static const u8 values[] = { 0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff };
	u32 at = below(frames, min(max(frames->len, 1u), 120u));

	switch (below(frames, 5)) {
	case 0:
		frames->data[at] ^= BIT(below(frames, 8));
		break;
	case 1:
		frames->data[at] = values[below(frames, ARRAY_SIZE(values))];
		break;
	case 2:
		frames->len = min(frames->len, at);
		break;
	case 3:
		put_random(frames, below(frames, 40));
		break;
	default:
		/* An option or a record again, somewhere else */
		memmove(frames->data + at, frames->data + at / 2, below(frames, 24));
	}
}

/**
 * frames_begin() - begin a sequence of random packets
 * @frames: the sequence
 * @seed: which sequence
 *
 * Context: any.
 */
void frames_begin(struct frames *frames, u32 seed)
{
	prandom_seed_state(&frames->random, seed);
}

/**
 * frames_next() - make the next packet
 * @frames: the sequence, whose data, len and ethertype are filled in
 * @ib: whether it is one of the IPoIB side
 *
 * Context: any.
 */
void frames_next(struct frames *frames, bool ib)
{
	u32 spoils = one_in(frames, 2) ? 0 : 1 + below(frames, 4);

	frames->ib = ib;
	frames->spoilt = spoils;
	make(frames, below(frames, KINDS));
	fixture_finish(frames->ethertype, frames->data, frames->len);
	while (spoils--)
		spoil(frames);
	if (frames->spoilt && one_in(frames, 2))
		fixture_finish(frames->ethertype, frames->data, frames->len);
	any_mac(frames, frames->to);
	any_mac(frames, frames->from);
}
