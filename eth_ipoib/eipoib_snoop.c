// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Groups that hosts of the Ethernet side want to receive. They say so by IGMP (RFC 1112, RFC 2236,
 * RFC 3376) and MLD (RFC 2710, RFC 3810); a bridge does not put the groups of its ports into the
 * lists of its other ports. What is reported is joined on the IPoIB side, until the netdevice is
 * deleted: a host that leaves a group does not know whether another one is still in it.
 */
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "eipoib.h"

/* Types of messages. The kernel's header has them, and structures that sparse does not accept. */
#define IGMP1_REPORT	0x12
#define IGMP2_REPORT	0x16
#define IGMP3_REPORT	0x22

/* Where IGMPv1 and IGMPv2 (RFC 2236 section 2) and MLDv1 (RFC 2710 section 3) have the group */
#define IGMP_GROUP	4
#define MLD_GROUP	8

static void want(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	static const u8 no_mac[ETH_ALEN];
	struct eipoib_lladdr lladdr;

	switch (eipoib_ip_set(&eth->groups, ip, no_mac)) {
	case EIPOIB_IP_NEW:
		eipoib_group_lladdr(eth, ip, &lladdr);
		if (dev_mc_add(eth->lower, (const u8 *)&lladdr))
			eipoib_ip_forget(&eth->groups, ip);
		else
			eipoib_count(eth, EIPOIB_STAT_GROUP_JOINS);
		break;
	case EIPOIB_IP_REFUSED:
		eipoib_count(eth, EIPOIB_STAT_GROUP_REFUSED);
		break;
	default:
		break;
	}
}

/* Joins the group whose IP address, of this length, is at this place of a packet */
static bool want_at(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at, u32 address_len)
{
	union {
		__be32 ip4;
		struct in6_addr ip6;
	} group;
	struct in6_addr ip;

	if (skb_copy_bits(skb, at, &group, address_len))
		return false;
	if (address_len == sizeof(group.ip4))
		ip = eipoib_ip4(group.ip4);
	else
		ip = group.ip6;
	if (address_len == sizeof(group.ip4) ? ipv4_is_multicast(group.ip4) :
					       ipv6_addr_is_multicast(&ip))
		want(eth, &ip);
	return true;
}

/**
 * eipoib_snoop_solicited() - join the group by which an IPv6 address is asked for
 * @eth: the netdevice
 * @ip: the IP address, on the Ethernet side; may be one of IPv4
 *
 * A host reports this group, but not again when this netdevice is made anew.
 *
 * Context: BHs disabled.
 */
void eipoib_snoop_solicited(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct in6_addr group;

	if (ipv6_addr_v4mapped(ip))
		return;
	addrconf_addr_solict_mult(ip, &group);
	want(eth, &group);
}

/* Returns whether a record says that its group is to be received from any source at all */
static bool record_wants(u8 type, __be16 sources)
{
	switch (type) {
	case EIPOIB_MODE_IS_EXCLUDE:
	case EIPOIB_CHANGE_TO_EXCLUDE:
		return true;
	case EIPOIB_MODE_IS_INCLUDE:
	case EIPOIB_CHANGE_TO_INCLUDE:
	case EIPOIB_ALLOW_NEW_SOURCES:
		return sources;
	}
	return false;
}

/* Reads a report of IGMPv3 or MLDv2, which differ in the length of addresses */
static void records_read(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at, u32 address_len)
{
	struct eipoib_record record;
	struct eipoib_report report;
	u32 n;

	if (skb_copy_bits(skb, at, &report, sizeof(report)))
		return;
	at += sizeof(report);
	for (n = ntohs(report.records); n; n--) {
		if (skb_copy_bits(skb, at, &record, sizeof(record)))
			return;
		at += sizeof(record);
		if (record_wants(record.type, record.sources) &&
		    !want_at(eth, skb, at, address_len))
			return;
		at += address_len * (1 + ntohs(record.sources)) +
		      sizeof(__be32) * record.aux_words;
	}
}

/**
 * eipoib_snoop4() - see which groups an IPv4 packet of the Ethernet side reports
 * @eth: the netdevice
 * @skb: an IGMP packet, whose data begins with its IP header, which is linear
 *
 * Context: BHs disabled.
 */
void eipoib_snoop4(struct eipoib_dev *eth, const struct sk_buff *skb)
{
	u32 at = ip_hdrlen(skb);
	u8 type;

	if (skb_copy_bits(skb, at, &type, sizeof(type)))
		return;
	switch (type) {
	case IGMP1_REPORT:
	case IGMP2_REPORT:
		want_at(eth, skb, at + IGMP_GROUP, sizeof(__be32));
		break;
	case IGMP3_REPORT:
		records_read(eth, skb, at, sizeof(__be32));
	}
}

/**
 * eipoib_snoop6() - see which groups an IPv6 packet of the Ethernet side reports
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its IP header. MLD has a hop-by-hop header behind it
 *	(RFC 3810 section 5).
 *
 * Context: BHs disabled.
 */
void eipoib_snoop6(struct eipoib_dev *eth, const struct sk_buff *skb)
{
	u32 at = sizeof(struct ipv6hdr);
	struct ipv6_opt_hdr hop;
	u8 type;

	if (skb_copy_bits(skb, at, &hop, sizeof(hop)) || hop.nexthdr != IPPROTO_ICMPV6)
		return;
	at += ipv6_optlen(&hop);
	if (skb_copy_bits(skb, at, &type, sizeof(type)))
		return;
	if (type == ICMPV6_MGM_REPORT)
		want_at(eth, skb, at + MLD_GROUP, sizeof(struct in6_addr));
	else if (type == ICMPV6_MLD2_REPORT)
		records_read(eth, skb, at, sizeof(struct in6_addr));
}

static bool leave(void *context, const struct eipoib_ip_info *info)
{
	const struct eipoib_dev *eth = context;
	struct eipoib_lladdr lladdr;

	eipoib_group_lladdr(eth, &info->ip, &lladdr);
	dev_mc_del(eth->lower, (const u8 *)&lladdr);
	return true;
}

/**
 * eipoib_snoop_end() - leave all groups that were joined because of reports
 * @eth: the netdevice, by which nothing is sent any more
 *
 * Context: rtnl held.
 */
void eipoib_snoop_end(struct eipoib_dev *eth)
{
	eipoib_ip_walk(&eth->groups, 0, leave, eth);
}
