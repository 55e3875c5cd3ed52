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

static void want4(struct eipoib_dev *eth, __be32 group)
{
	struct in6_addr ip = eipoib_ip4(group);

	if (ipv4_is_multicast(group))
		want(eth, &ip);
}

static void want6(struct eipoib_dev *eth, const struct in6_addr *group)
{
	if (ipv6_addr_is_multicast(group))
		want(eth, group);
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

static void igmp_records(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at)
{
	const struct eipoib_igmp_record *record;
	const struct eipoib_report *report;
	struct eipoib_igmp_record copy;
	struct eipoib_report head;
	u32 n;

	report = skb_header_pointer(skb, at, sizeof(head), &head);
	if (!report)
		return;
	at += sizeof(*report);
	for (n = ntohs(report->records); n; n--) {
		record = skb_header_pointer(skb, at, sizeof(copy), &copy);
		if (!record)
			return;
		if (record_wants(record->type, record->sources))
			want4(eth, record->group);
		at += sizeof(*record) + sizeof(__be32) * (ntohs(record->sources) +
							  record->aux_words);
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
	const struct eipoib_igmp *igmp;
	u32 at = ip_hdrlen(skb);
	struct eipoib_igmp copy;

	igmp = skb_header_pointer(skb, at, sizeof(copy), &copy);
	if (!igmp)
		return;
	switch (igmp->type) {
	case IGMP1_REPORT:
	case IGMP2_REPORT:
		want4(eth, igmp->group);
		break;
	case IGMP3_REPORT:
		igmp_records(eth, skb, at);
	}
}

static void mld_records(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at)
{
	const struct eipoib_mld_record *record;
	const struct eipoib_report *report;
	struct eipoib_mld_record copy;
	struct eipoib_report head;
	u32 n;

	report = skb_header_pointer(skb, at, sizeof(head), &head);
	if (!report)
		return;
	at += sizeof(*report);
	for (n = ntohs(report->records); n; n--) {
		record = skb_header_pointer(skb, at, sizeof(copy), &copy);
		if (!record)
			return;
		if (record_wants(record->type, record->sources))
			want6(eth, &record->group);
		at += sizeof(*record) + sizeof(struct in6_addr) * ntohs(record->sources) +
		      sizeof(__be32) * record->aux_words;
	}
}

static void mld_report(struct eipoib_dev *eth, const struct sk_buff *skb, u32 at)
{
	const struct eipoib_mld *mld;
	struct eipoib_mld copy;

	mld = skb_header_pointer(skb, at, sizeof(copy), &copy);
	if (mld)
		want6(eth, &mld->group);
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
	const struct ipv6_opt_hdr *hop;
	struct ipv6_opt_hdr hop_copy;
	u8 type_copy;
	const u8 *type;

	hop = skb_header_pointer(skb, at, sizeof(hop_copy), &hop_copy);
	if (!hop || hop->nexthdr != IPPROTO_ICMPV6)
		return;
	at += ipv6_optlen(hop);
	type = skb_header_pointer(skb, at, sizeof(type_copy), &type_copy);
	if (type && *type == ICMPV6_MGM_REPORT)
		mld_report(eth, skb, at);
	else if (type && *type == ICMPV6_MLD2_REPORT)
		mld_records(eth, skb, at);
}

static void leave(void *context, const struct in6_addr *ip, const u8 *mac)
{
	const struct eipoib_dev *eth = context;
	struct eipoib_lladdr lladdr;

	eipoib_group_lladdr(eth, ip, &lladdr);
	dev_mc_del(eth->lower, (const u8 *)&lladdr);
}

/**
 * eipoib_snoop_end() - leave all groups that were joined because of reports
 * @eth: the netdevice, by which nothing is sent any more
 *
 * Context: rtnl held.
 */
void eipoib_snoop_end(struct eipoib_dev *eth)
{
	eipoib_ip_walk(&eth->groups, leave, eth);
}
