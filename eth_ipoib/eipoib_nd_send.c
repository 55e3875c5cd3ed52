// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Neighbor discovery (RFC 4861): what its messages have in common, and those of this module's own.
 */
#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ip6_checksum.h>
#include <net/ndisc.h>

#include "eipoib.h"
#include "eipoib_nd.h"

/**
 * eipoib_nd_checksum() - compute the checksum of a message (RFC 4443 section 2.3)
 * @ip6: the IPv6 header, which the message follows
 * @len: length of the message
 *
 * Context: any.
 * Return: the checksum, or 0 if the message has a checksum that is right.
 */
__sum16 eipoib_nd_checksum(const struct ipv6hdr *ip6, u32 len)
{
	return csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len, IPPROTO_ICMPV6,
			       csum_partial(ip6 + 1, len, 0));
}

/**
 * eipoib_nd_finish() - write the length and the checksum of a packet that is complete
 * @skb: the packet, whose data begins with its IPv6 header; linear
 *
 * Context: any.
 */
void eipoib_nd_finish(struct sk_buff *skb)
{
	struct ipv6hdr *ip6 = ipv6_hdr(skb);
	struct icmp6hdr *icmp = (struct icmp6hdr *)(ip6 + 1);
	u32 len = skb->len - sizeof(*ip6);

	ip6->payload_len = htons(len);
	icmp->icmp6_cksum = 0;
	icmp->icmp6_cksum = eipoib_nd_checksum(ip6, len);
}

/**
 * eipoib_nd_put_ib() - append an option with a link-layer address of IPoIB
 * @skb: the packet, which has room for it
 * @type: ND_OPT_SOURCE_LL_ADDR or ND_OPT_TARGET_LL_ADDR
 *
 * Context: any.
 * Return: the option, whose address the caller writes.
 */
struct eipoib_nd_opt_ib *eipoib_nd_put_ib(struct sk_buff *skb, u8 type)
{
	struct eipoib_nd_opt_ib *option = skb_put_zero(skb, sizeof(*option));

	option->head.nd_opt_type = type;
	option->head.nd_opt_len = sizeof(*option) / EIPOIB_ND_UNIT;
	return option;
}

/**
 * eipoib_nd_put_eth() - append an option with a MAC address
 * @skb: the packet, which has room for it
 * @type: ND_OPT_SOURCE_LL_ADDR or ND_OPT_TARGET_LL_ADDR
 *
 * Context: any.
 * Return: the option, whose address the caller writes.
 */
struct eipoib_nd_opt_eth *eipoib_nd_put_eth(struct sk_buff *skb, u8 type)
{
	struct eipoib_nd_opt_eth *option = skb_put_zero(skb, sizeof(*option));

	option->head.nd_opt_type = type;
	option->head.nd_opt_len = sizeof(*option) / EIPOIB_ND_UNIT;
	return option;
}

/* Makes a message about an IP address, with room for options */
static struct sk_buff *message_make(const struct eipoib_dev *eth, u8 type,
				    const struct in6_addr *from, const struct in6_addr *ip,
				    u32 options)
{
	u32 room = LL_RESERVED_SPACE(eth->lower);
	struct sk_buff *skb = alloc_skb(room + sizeof(struct ipv6hdr) + sizeof(struct nd_msg) +
					options, GFP_ATOMIC);
	struct ipv6hdr *ip6;
	struct nd_msg *msg;

	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IPV6);
	ip6 = skb_put_zero(skb, sizeof(*ip6));
	ip6->version = 6;
	ip6->nexthdr = IPPROTO_ICMPV6;
	ip6->hop_limit = EIPOIB_ND_HOP_LIMIT;
	ip6->saddr = *from;
	msg = skb_put_zero(skb, sizeof(*msg));
	skb_set_transport_header(skb, sizeof(*ip6));
	msg->icmph.icmp6_type = type;
	msg->target = *ip;
	return skb;
}

/* Makes a solicitation for an IP address. @from may be the unspecified address. */
static struct sk_buff *ns_make(const struct eipoib_dev *eth, const struct in6_addr *from,
			       const struct in6_addr *ip, u32 options)
{
	struct sk_buff *skb;

	skb = message_make(eth, NDISC_NEIGHBOUR_SOLICITATION, from, ip, options);
	if (skb)
		addrconf_addr_solict_mult(ip, &ipv6_hdr(skb)->daddr);
	return skb;
}

static void group_send(struct eipoib_dev *eth, struct sk_buff *skb)
{
	struct eipoib_lladdr to;

	eipoib_nd_finish(skb);
	eipoib_group_lladdr(eth, &ipv6_hdr(skb)->daddr, &to);
	eipoib_send(eth, skb, &to);
}

/**
 * eipoib_nd_ask_ib() - ask on the IPoIB side who has an IP address
 * @eth: the netdevice
 * @from: IP address of the host of the Ethernet side that needs it, or the unspecified address
 * @ip: the IP address
 *
 * Context: BHs disabled.
 */
void eipoib_nd_ask_ib(struct eipoib_dev *eth, const struct in6_addr *from,
		      const struct in6_addr *ip)
{
	struct sk_buff *skb = ns_make(eth, from, ip, sizeof(struct eipoib_nd_opt_ib));

	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_TX_NO_MEMORY);
		return;
	}
	if (!ipv6_addr_any(from))
		eipoib_nd_put_ib(skb, ND_OPT_SOURCE_LL_ADDR)->lladdr = *eipoib_own_lladdr(eth);
	group_send(eth, skb);
}

/* Makes an unsolicited advertisement (RFC 4861 section 7.2.6), with room for options */
static struct sk_buff *na_make(const struct eipoib_dev *eth, const struct in6_addr *ip, u32 options)
{
	struct sk_buff *skb;

	skb = message_make(eth, NDISC_NEIGHBOUR_ADVERTISEMENT, ip, ip, options);
	if (!skb)
		return NULL;
	ipv6_hdr(skb)->daddr = in6addr_linklocal_allnodes;
	icmp6_hdr(skb)->icmp6_override = 1;
	return skb;
}

/**
 * eipoib_nd_announce() - tell the IPoIB side that an IP address is here
 * @eth: the netdevice
 * @ip: the IP address, on the Ethernet side
 *
 * Context: BHs disabled.
 */
void eipoib_nd_announce(struct eipoib_dev *eth, const struct in6_addr *ip)
{
	struct sk_buff *skb = na_make(eth, ip, sizeof(struct eipoib_nd_opt_ib));

	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_TX_NO_MEMORY);
		return;
	}
	eipoib_nd_put_ib(skb, ND_OPT_TARGET_LL_ADDR)->lladdr = *eipoib_own_lladdr(eth);
	group_send(eth, skb);
}

/**
 * eipoib_nd_ask_eth() - ask on the Ethernet side who has an IP address
 * @eth: the netdevice
 * @mac: MAC address of the interface of the IPoIB side that needs it
 * @from: its IP address, or the unspecified address; then the answer goes to all nodes (RFC 4861
 *	section 7.2.4)
 * @ip: the IP address
 *
 * Context: BHs disabled.
 */
void eipoib_nd_ask_eth(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *from,
		       const struct in6_addr *ip)
{
	struct sk_buff *skb = ns_make(eth, from, ip, sizeof(struct eipoib_nd_opt_eth));
	u8 to[ETH_ALEN];

	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return;
	}
	if (!ipv6_addr_any(from))
		ether_addr_copy(eipoib_nd_put_eth(skb, ND_OPT_SOURCE_LL_ADDR)->mac, mac);
	eipoib_nd_finish(skb);
	ipv6_eth_mc_map(&ipv6_hdr(skb)->daddr, to);
	eipoib_deliver(eth, skb, to, mac);
}

/**
 * eipoib_nd_asker() - get the IP address that questions of this module come from, and MLD queries
 * @mac: the MAC address that they come from
 * @ip: set to the address, a link-local one
 *
 * Context: any.
 */
void eipoib_nd_asker(const u8 *mac, struct in6_addr *ip)
{
	ipv6_addr_set(ip, htonl(0xfe800000), 0, 0, 0);
	addrconf_addr_eui48(&ip->s6_addr[8], mac);
}

/**
 * eipoib_nd_ask_host() - ask a host of the Ethernet side whether it has an IP address
 * @eth: the netdevice, which needs it itself
 * @mac: MAC address of the host
 * @ip: the IP address
 *
 * A host that is about to use the address ignores this, since it has a sender's address (RFC 4862
 * section 5.4.3): a link-local one of this netdevice's own MAC address, as queries of MLD have.
 *
 * Context: BHs disabled.
 */
void eipoib_nd_ask_host(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *ip)
{
	struct in6_addr from;
	struct sk_buff *skb;

	eipoib_nd_asker(eth->own_mac, &from);
	skb = ns_make(eth, &from, ip, sizeof(struct eipoib_nd_opt_eth));
	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return;
	}
	ether_addr_copy(eipoib_nd_put_eth(skb, ND_OPT_SOURCE_LL_ADDR)->mac, eth->own_mac);
	eipoib_nd_finish(skb);
	eipoib_deliver(eth, skb, mac, eth->own_mac);
}

/**
 * eipoib_nd_announce_eth() - tell the Ethernet side that an IP address is there, too
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address
 *
 * The frame has a MAC address of this netdevice's own, as in eipoib_arp_announce_eth().
 *
 * Context: BHs disabled.
 */
void eipoib_nd_announce_eth(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	struct sk_buff *skb = na_make(eth, ip, sizeof(struct eipoib_nd_opt_eth));
	u8 to[ETH_ALEN];

	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return;
	}
	ether_addr_copy(eipoib_nd_put_eth(skb, ND_OPT_TARGET_LL_ADDR)->mac, mac);
	eipoib_nd_finish(skb);
	ipv6_eth_mc_map(&ipv6_hdr(skb)->daddr, to);
	eipoib_deliver(eth, skb, to, eth->own_mac);
}
