// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages of IGMP (RFC 1112, RFC 2236, RFC 3376) and MLD (RFC 2710, RFC 3810). Hosts of the
 * Ethernet side report by them which groups they want to receive; a bridge does not put the groups
 * of its ports into the lists of its other ports. They are passed on in any case, but what one with
 * a wrong checksum or length says is not used (RFC 4541 section 2.1.1).
 */
#include <linux/icmpv6.h>
#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "eipoib.h"

/* Where IGMPv1 and IGMPv2 (RFC 2236 section 2) and MLDv1 (RFC 2710 section 3) have the group, and
 * the time in which to answer a query; and where queries of IGMPv3 (RFC 3376 section 4.1) and MLDv2
 * (RFC 3810 section 5.1) have the number of sources
 */
#define IGMP_GROUP	4
#define IGMP_TIME	1
#define IGMP_SOURCES	10
#define MLD_GROUP	8
#define MLD_TIME	4
#define MLD_SOURCES	26

/* The longest time of queries that are noted, 12.8 s, in tenths of a second and milliseconds: with
 * larger values, the versions differ in what they mean
 */
#define IGMP_TIME_MAX	128
#define MLD_TIME_MAX	12800

/* What a record says about its group */
enum wish {
	WISH_NOTHING,
	WISH_REPORT,
	WISH_LEAVE,
};

/* Reads a group's IP address, of this length, at this place of a packet. Returns false if there is
 * none.
 */
static bool group_read(const struct sk_buff *skb, u32 at, u32 address_len, struct in6_addr *ip)
{
	__be32 ip4;

	if (address_len == sizeof(*ip))
		return !skb_copy_bits(skb, at, ip, sizeof(*ip));
	if (skb_copy_bits(skb, at, &ip4, sizeof(ip4)))
		return false;
	*ip = eipoib_ip4(ip4);
	return true;
}

static bool is_group(const struct in6_addr *ip)
{
	return ipv6_addr_v4mapped(ip) ? ipv4_is_multicast(ip->s6_addr32[3]) :
					ipv6_addr_is_multicast(ip);
}

/* Does what a host wants with a group. Returns false if it is refused. */
static bool wish_do(struct eipoib_dev *eth, enum wish wish, const struct in6_addr *ip,
		    const u8 *mac)
{
	if (wish == WISH_REPORT)
		return eipoib_member_report(eth->domain, ip, mac);
	if (wish == WISH_LEAVE)
		eipoib_member_leave(eth->domain, ip);
	return true;
}

static void wish_at(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at, u32 address_len,
		    enum wish wish, const u8 *mac)
{
	struct in6_addr ip;

	if (group_read(skb, at, address_len, &ip) && is_group(&ip))
		wish_do(eth, wish, &ip, mac);
}

/**
 * eipoib_snoop_solicited() - join the group by which an IPv6 address is asked for
 * @eth: the netdevice
 * @ip: the IP address, on the Ethernet side; may be one of IPv4
 * @mac: its MAC address
 *
 * Hosts should report this group, but not all do.
 *
 * Context: BHs disabled.
 */
void eipoib_snoop_solicited(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	struct in6_addr group;

	if (ipv6_addr_v4mapped(ip))
		return;
	addrconf_addr_solict_mult(ip, &group);
	eipoib_member_require(eth->domain, &group, mac);
}

/* Returns what a record says. Which sources a host wants to receive makes no difference here. */
static enum wish record_wish(u8 type, __be16 sources)
{
	switch (type) {
	case EIPOIB_MODE_IS_EXCLUDE:
	case EIPOIB_CHANGE_TO_EXCLUDE:
		return WISH_REPORT;
	case EIPOIB_MODE_IS_INCLUDE:
	case EIPOIB_ALLOW_NEW_SOURCES:
		return sources ? WISH_REPORT : WISH_NOTHING;
	case EIPOIB_CHANGE_TO_INCLUDE:
		return sources ? WISH_REPORT : WISH_LEAVE;
	}
	return WISH_NOTHING;
}

/* Reads a report of IGMPv3 or MLDv2, which differ in the length of addresses; up to the first group
 * that is refused, as the others would be
 */
static void records_read(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at,
			 u32 address_len, const u8 *mac)
{
	struct eipoib_record record;
	struct eipoib_report report;
	struct in6_addr ip;
	u32 n;

	if (skb_copy_bits(skb, at, &report, sizeof(report)))
		return;
	at += sizeof(report);
	for (n = ntohs(report.records); n; n--) {
		if (skb_copy_bits(skb, at, &record, sizeof(record)))
			return;
		at += sizeof(record);
		if (!group_read(skb, at, address_len, &ip) || !is_group(&ip) ||
		    !wish_do(eth, record_wish(record.type, record.sources), &ip, mac))
			return;
		at += address_len * (1 + ntohs(record.sources)) +
		      sizeof(__be32) * record.aux_words;
	}
}

/* Returns whether hosts take a query for a general one, which is about no group and no sources.
 * Only later versions have sources, whose number is at @sources.
 */
static bool query_is_general(const struct sk_buff *skb, u32 at, u32 address_len, u32 sources)
{
	struct in6_addr group, ip4_none = eipoib_ip4(htonl(INADDR_ANY));
	__be16 count;

	return group_read(skb, at, address_len, &group) &&
	       (ipv6_addr_any(&group) || ipv6_addr_equal(&group, &ip4_none)) &&
	       (skb_copy_bits(skb, sources, &count, sizeof(count)) || !count);
}

/* Notes a general query that hosts answer, and in time. Others do not come from a router of the
 * link, so that nobody answers them.
 */
static void query4_note(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at)
{
	u8 time;

	if (ip_hdr(skb)->ttl == 1 && ip_hdr(skb)->daddr == htonl(INADDR_ALLHOSTS_GROUP) &&
	    !skb_copy_bits(skb, at + IGMP_TIME, &time, sizeof(time)) && time <= IGMP_TIME_MAX &&
	    query_is_general(skb, at + IGMP_GROUP, sizeof(__be32), at + IGMP_SOURCES))
		eipoib_members_queried(eth->domain, htons(ETH_P_IP));
}

/* RFC 3810 section 6.2: a query without this option, which says that it is MLD, is not answered */
static bool has_router_alert(const struct sk_buff *skb)
{
	static const u8 alert[] = { IPV6_TLV_ROUTERALERT, 2, 0, 0 };
	int at = ipv6_find_tlv(skb, sizeof(struct ipv6hdr), IPV6_TLV_ROUTERALERT);

	return at >= 0 && !memcmp(skb_network_header(skb) + at, alert, sizeof(alert));
}

static void query6_note(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	__be16 time;

	if (ip6->hop_limit == 1 && ipv6_addr_equal(&ip6->daddr, &in6addr_linklocal_allnodes) &&
	    has_router_alert(skb) &&
	    !skb_copy_bits(skb, at + MLD_TIME, &time, sizeof(time)) &&
	    ntohs(time) <= MLD_TIME_MAX &&
	    query_is_general(skb, at + MLD_GROUP, sizeof(struct in6_addr), at + MLD_SOURCES))
		eipoib_members_queried(eth->domain, htons(ETH_P_IPV6));
}

/* Notes a report of the IPoIB side, of a version whose hosts do not repeat each other's */
static void report_note(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at,
			u32 address_len)
{
	struct in6_addr ip;

	if (group_read(skb, at, address_len, &ip) && is_group(&ip))
		eipoib_member_refresh(eth->domain, &ip);
}

/**
 * eipoib_snoop4() - see what an IGMP message of the Ethernet side says
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its IP header, which is linear
 * @mac: the sender's MAC address
 *
 * Context: BHs disabled.
 */
void eipoib_snoop4(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *mac)
{
	u32 at;

	if (ip_mc_check_igmp(skb))
		return;
	at = skb_transport_offset(skb);
	switch (*skb_transport_header(skb)) {
	case IGMP_HOST_MEMBERSHIP_REPORT:
	case IGMPV2_HOST_MEMBERSHIP_REPORT:
		wish_at(eth, skb, at + IGMP_GROUP, sizeof(__be32), WISH_REPORT, mac);
		break;
	case IGMP_HOST_LEAVE_MESSAGE:
		wish_at(eth, skb, at + IGMP_GROUP, sizeof(__be32), WISH_LEAVE, mac);
		break;
	case IGMPV3_HOST_MEMBERSHIP_REPORT:
		records_read(eth, skb, at, sizeof(__be32), mac);
	}
}

/**
 * eipoib_snoop6() - see what an MLD message of the Ethernet side says
 * @eth: the netdevice
 * @skb: a packet with a hop-by-hop header, whose data begins with its IP header
 * @mac: the sender's MAC address
 *
 * Context: BHs disabled.
 */
void eipoib_snoop6(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *mac)
{
	u32 at;

	if (ipv6_mc_check_mld(skb))
		return;
	at = skb_transport_offset(skb);
	switch (*skb_transport_header(skb)) {
	case ICMPV6_MGM_REPORT:
		wish_at(eth, skb, at + MLD_GROUP, sizeof(struct in6_addr), WISH_REPORT, mac);
		break;
	case ICMPV6_MGM_REDUCTION:
		wish_at(eth, skb, at + MLD_GROUP, sizeof(struct in6_addr), WISH_LEAVE, mac);
		break;
	case ICMPV6_MLD2_REPORT:
		records_read(eth, skb, at, sizeof(struct in6_addr), mac);
	}
}

/**
 * eipoib_snoop_received4() - see what an IGMP message of the IPoIB side says
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its IP header, which is linear
 *
 * Context: BHs disabled.
 */
void eipoib_snoop_received4(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u32 at;

	if (ip_mc_check_igmp(skb))
		return;
	at = skb_transport_offset(skb);
	switch (*skb_transport_header(skb)) {
	case EIPOIB_IGMP_QUERY:
		query4_note(eth, skb, at);
		break;
	case IGMP_HOST_MEMBERSHIP_REPORT:
	case IGMPV2_HOST_MEMBERSHIP_REPORT:
		report_note(eth, skb, at + IGMP_GROUP, sizeof(__be32));
	}
}

/**
 * eipoib_snoop_received6() - see what an MLD message of the IPoIB side says
 * @eth: the netdevice
 * @skb: a packet with a hop-by-hop header, whose data begins with its IP header
 *
 * Context: BHs disabled.
 */
void eipoib_snoop_received6(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u32 at;

	if (ipv6_mc_check_mld(skb))
		return;
	at = skb_transport_offset(skb);
	switch (*skb_transport_header(skb)) {
	case ICMPV6_MGM_QUERY:
		query6_note(eth, skb, at);
		break;
	case ICMPV6_MGM_REPORT:
		report_note(eth, skb, at + MLD_GROUP, sizeof(struct in6_addr));
	}
}
