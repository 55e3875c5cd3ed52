// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queries of IGMPv3 (RFC 3376 section 4.1) and MLDv2 (RFC 3810 section 5.1) to the Ethernet side,
 * which hosts with older versions understand as well. Their sources are those of a host that does
 * not take part in the election of the querier: 0.0.0.0 (RFC 4541 section 2.1.1), and the
 * link-local address of this netdevice's own MAC address, since MLD requires one.
 */
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>

#include "eipoib.h"

/* Codes of the time in which to answer: 10 s in general, and 1 s about a group, in tenths of a
 * second (IGMP) and in milliseconds (MLD)
 */
#define IGMP_TIME		100
#define IGMP_TIME_GROUP		10
#define MLD_TIME		10000
#define MLD_TIME_GROUP		1000

/* Robustness variable, and the code of the interval, 125 s (RFC 3376 section 4.1.7) */
#define QUERY_ROBUSTNESS	2
#define QUERY_INTERVAL_CODE	125

#define IGMP_TOS		0xc0	/* internetwork control (RFC 3376 section 4) */

struct igmp_query {
	u8 type;
	u8 time;
	__sum16 checksum;
	__be32 group;
	u8 robustness;
	u8 interval;
	__be16 sources;
} __packed;
static_assert(sizeof(struct igmp_query) == 12);

/* The IPv4 header with a router alert option (RFC 2113) */
struct igmp_packet {
	struct iphdr ip;
	u8 router_alert[4];
	struct igmp_query query;
} __packed;
static_assert(sizeof(struct igmp_packet) == 36);

struct mld_query {
	u8 type;
	u8 code;
	__sum16 checksum;
	__be16 time;
	__be16 reserved;
	struct in6_addr group;
	u8 robustness;
	u8 interval;
	__be16 sources;
} __packed;
static_assert(sizeof(struct mld_query) == 28);

/* The IPv6 header with a router alert option (RFC 2711) in a hop-by-hop header */
struct mld_packet {
	struct ipv6hdr ip;
	u8 hop_by_hop[8];
	struct mld_query query;
} __packed;
static_assert(sizeof(struct mld_packet) == 76);

static const u8 router_alert4[] = { IPOPT_RA, 4, 0, 0 };

/* The option and its value, MLD, and padding of two octets */
static const u8 hop_by_hop_mld[] = { IPPROTO_ICMPV6, 0, IPV6_TLV_ROUTERALERT, 2, 0, 0,
				     IPV6_TLV_PADN, 0 };

static void igmp_write(struct igmp_packet *packet, __be32 group)
{
	struct igmp_query *query = &packet->query;

	query->type = EIPOIB_IGMP_QUERY;
	query->time = group ? IGMP_TIME_GROUP : IGMP_TIME;
	query->group = group;
	query->robustness = QUERY_ROBUSTNESS;
	query->interval = QUERY_INTERVAL_CODE;
	query->checksum = ip_compute_csum(query, sizeof(*query));

	memcpy(packet->router_alert, router_alert4, sizeof(router_alert4));
	packet->ip.version = 4;
	packet->ip.ihl = offsetof(struct igmp_packet, query) / 4;
	packet->ip.tos = IGMP_TOS;
	packet->ip.tot_len = htons(sizeof(*packet));
	packet->ip.ttl = 1;
	packet->ip.protocol = IPPROTO_IGMP;
	packet->ip.daddr = group ?: htonl(INADDR_ALLHOSTS_GROUP);
	ip_send_check(&packet->ip);
}

static void mld_write(struct mld_packet *packet, const u8 *mac, const struct in6_addr *group)
{
	struct mld_query *query = &packet->query;

	memcpy(packet->hop_by_hop, hop_by_hop_mld, sizeof(hop_by_hop_mld));
	packet->ip.version = 6;
	packet->ip.payload_len = htons(sizeof(*packet) - sizeof(packet->ip));
	packet->ip.nexthdr = NEXTHDR_HOP;
	packet->ip.hop_limit = 1;
	eipoib_nd_asker(mac, &packet->ip.saddr);
	if (ipv6_addr_any(group))
		packet->ip.daddr = in6addr_linklocal_allnodes;
	else
		packet->ip.daddr = *group;

	query->type = ICMPV6_MGM_QUERY;
	query->time = htons(ipv6_addr_any(group) ? MLD_TIME : MLD_TIME_GROUP);
	query->group = *group;
	query->robustness = QUERY_ROBUSTNESS;
	query->interval = QUERY_INTERVAL_CODE;
	query->checksum = csum_ipv6_magic(&packet->ip.saddr, &packet->ip.daddr, sizeof(*query),
					  IPPROTO_ICMPV6, csum_partial(query, sizeof(*query), 0));
}

static struct sk_buff *packet_make(struct eipoib_dev *eth, __be16 protocol, u32 len)
{
	struct sk_buff *skb = alloc_skb(ETH_HLEN + len, GFP_ATOMIC);

	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	skb_put_zero(skb, len);
	skb->protocol = protocol;
	return skb;
}

/**
 * eipoib_query_igmp() - query the Ethernet side by IGMP
 * @eth: the netdevice
 * @group: the group that is asked about, or 0 for all
 *
 * Context: any but hard interrupt.
 */
void eipoib_query_igmp(struct eipoib_dev *eth, __be32 group)
{
	struct sk_buff *skb = packet_make(eth, htons(ETH_P_IP), sizeof(struct igmp_packet));
	u8 to[ETH_ALEN];

	if (!skb)
		return;
	igmp_write((struct igmp_packet *)skb->data, group);
	ip_eth_mc_map(ip_hdr(skb)->daddr, to);
	eipoib_count(eth, EIPOIB_STAT_QUERIES);
	local_bh_disable();
	eipoib_deliver(eth, skb, to, eth->own_mac);
	local_bh_enable();
}

/**
 * eipoib_query_mld() - query the Ethernet side by MLD
 * @eth: the netdevice
 * @group: the group that is asked about, or the unspecified address for all
 *
 * Context: any but hard interrupt.
 */
void eipoib_query_mld(struct eipoib_dev *eth, const struct in6_addr *group)
{
	struct sk_buff *skb = packet_make(eth, htons(ETH_P_IPV6), sizeof(struct mld_packet));
	u8 to[ETH_ALEN];

	if (!skb)
		return;
	mld_write((struct mld_packet *)skb->data, eth->own_mac, group);
	ipv6_eth_mc_map(&ipv6_hdr(skb)->daddr, to);
	eipoib_count(eth, EIPOIB_STAT_QUERIES);
	local_bh_disable();
	eipoib_deliver(eth, skb, to, eth->own_mac);
	local_bh_enable();
}
