// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Neighbor discovery (RFC 4861). The options with link-layer addresses have another length on each
 * side: 8 octets on Ethernet, 24 on IPoIB (RFC 4391 section 9.3). So each packet is made anew,
 * with all other options as they are. Those with the certificates of SEND (RFC 3971), which do not
 * hold any more, pass as well. Messages behind extension headers, which no implementation sends but
 * hosts accept, do not pass: what they say is not checked.
 */
#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ndisc.h>

#include "eipoib.h"
#include "eipoib_nd.h"

/* The longest message, which is more than fits any usual link. A larger one of a link whose MTU
 * allows it would take memory that there may not be.
 */
#define ND_MAX	9000

/* A packet that is being made. The addresses that it is about are those of its options. */
struct nd_copy {
	struct eipoib_dev *eth;
	bool to_ib;
	struct sk_buff *skb;
	u8 mac[ETH_ALEN];		/* that of such options, on the Ethernet side */
	bool has_address;
};

/* Returns the octets before the options of an ND message, or 0 if it is none */
static u32 nd_fixed_len(u8 type)
{
	switch (type) {
	case NDISC_ROUTER_SOLICITATION:
		return sizeof(struct rs_msg);
	case NDISC_ROUTER_ADVERTISEMENT:
		return sizeof(struct ra_msg);
	case NDISC_NEIGHBOUR_SOLICITATION:
	case NDISC_NEIGHBOUR_ADVERTISEMENT:
		return sizeof(struct nd_msg);
	case NDISC_REDIRECT:
		return sizeof(struct rd_msg);
	}
	return 0;
}

/**
 * eipoib_nd_is() - tell whether a packet is one of neighbor discovery
 * @skb: the packet, whose data begins with its IPv6 header, which is linear
 *
 * Context: any.
 * Return: true if it is.
 */
bool eipoib_nd_is(struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);

	return ip6->nexthdr == IPPROTO_ICMPV6 &&
	       pskb_may_pull(skb, sizeof(*ip6) + sizeof(struct icmp6hdr)) &&
	       nd_fixed_len(((struct icmp6hdr *)(ipv6_hdr(skb) + 1))->icmp6_type);
}

/**
 * eipoib_nd_is_behind() - tell whether a packet is one of neighbor discovery behind other headers
 * @skb: the packet, whose data begins with its IPv6 header, which is linear
 *
 * Context: any.
 * Return: true if there are extension headers, and such a message follows them.
 */
bool eipoib_nd_is_behind(const struct sk_buff *skb)
{
	u8 type, nexthdr = ipv6_hdr(skb)->nexthdr;
	__be16 fragment;
	int at;

	if (!ipv6_ext_hdr(nexthdr))
		return false;
	at = ipv6_skip_exthdr(skb, sizeof(struct ipv6hdr), &nexthdr, &fragment);
	return at >= 0 && nexthdr == IPPROTO_ICMPV6 &&
	       !skb_copy_bits(skb, at, &type, sizeof(type)) && nd_fixed_len(type);
}

/* Returns whether a receiver would accept the packet, which is made linear */
static bool nd_is_valid(struct sk_buff *skb)
{
	const struct icmp6hdr *icmp;
	u32 len;

	if (skb_linearize(skb))
		return false;
	icmp = (struct icmp6hdr *)(ipv6_hdr(skb) + 1);
	len = ntohs(ipv6_hdr(skb)->payload_len);
	if (ipv6_hdr(skb)->hop_limit != EIPOIB_ND_HOP_LIMIT || icmp->icmp6_code ||
	    len < nd_fixed_len(icmp->icmp6_type) || len > skb->len - sizeof(struct ipv6hdr))
		return false;
	/* That of a guest may be left to the device */
	return skb->ip_summed == CHECKSUM_PARTIAL || !eipoib_nd_checksum(ipv6_hdr(skb), len);
}

/* Notes the link-layer address of an option. Receivers differ in which one of several they use, so
 * there may not be two of them.
 */
static bool address_note(struct nd_copy *copy, const u8 *mac)
{
	if (copy->has_address)
		return ether_addr_equal(copy->mac, mac);
	copy->has_address = true;
	ether_addr_copy(copy->mac, mac);
	return true;
}

/* Writes the option for IPoIB that says what this one for Ethernet does. A MAC address that is none
 * of the link's is one of this host's.
 */
static bool copy_to_ib(struct nd_copy *copy, const struct nd_opt_hdr *from)
{
	const struct eipoib_nd_opt_eth *option = (const struct eipoib_nd_opt_eth *)from;
	struct eipoib_nd_opt_ib *to;

	if (from->nd_opt_len != sizeof(*option) / EIPOIB_ND_UNIT ||
	    !is_valid_ether_addr(option->mac))
		return false;
	to = eipoib_nd_put_ib(copy->skb, from->nd_opt_type);
	if (!eipoib_remote_lladdr(&copy->eth->domain->remotes, option->mac, &to->lladdr))
		to->lladdr = *eipoib_own_lladdr(copy->eth);
	return address_note(copy, option->mac);
}

static bool copy_to_eth(struct nd_copy *copy, const struct nd_opt_hdr *from)
{
	const struct eipoib_nd_opt_ib *option = (const struct eipoib_nd_opt_ib *)from;
	struct eipoib_nd_opt_eth *to;

	if (from->nd_opt_len != sizeof(*option) / EIPOIB_ND_UNIT ||
	    eipoib_lladdr_is_group(&option->lladdr) ||
	    eipoib_lladdr_is_own(copy->eth, &option->lladdr))
		return false;
	to = eipoib_nd_put_eth(copy->skb, from->nd_opt_type);
	if (!eipoib_remote_mac(&copy->eth->domain->remotes, &option->lladdr, to->mac))
		eipoib_count(copy->eth, EIPOIB_STAT_REMOTE_REFUSED);
	eipoib_remote_set_flags(&copy->eth->domain->remotes, &option->lladdr);
	return address_note(copy, to->mac);
}

static bool copy_option(struct nd_copy *copy, const struct nd_opt_hdr *from)
{
	if (from->nd_opt_type != ND_OPT_SOURCE_LL_ADDR &&
	    from->nd_opt_type != ND_OPT_TARGET_LL_ADDR) {
		skb_put_data(copy->skb, from, from->nd_opt_len * EIPOIB_ND_UNIT);
		return true;
	}
	return copy->to_ib ? copy_to_ib(copy, from) : copy_to_eth(copy, from);
}

static bool copy_options(struct nd_copy *copy, const u8 *from, u32 len)
{
	const struct nd_opt_hdr *option;
	u32 option_len;

	for (; len; from += option_len, len -= option_len) {
		option = (const struct nd_opt_hdr *)from;
		if (len < sizeof(*option) || !option->nd_opt_len)
			return false;
		option_len = option->nd_opt_len * EIPOIB_ND_UNIT;
		if (option_len > len || !copy_option(copy, option))
			return false;
	}
	return true;
}

/* Makes the packet for the other side. Each option is at most three times as long there. */
static bool nd_copy(struct nd_copy *copy, const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	const struct icmp6hdr *icmp = (const struct icmp6hdr *)(ip6 + 1);
	u32 fixed = nd_fixed_len(icmp->icmp6_type), len = ntohs(ip6->payload_len);
	u32 room = LL_RESERVED_SPACE(copy->eth->lower);

	/* It fits a packet of the other side only if it is one here */
	if (sizeof(*ip6) + len > copy->eth->lower->mtu || len > ND_MAX)
		return false;
	copy->skb = alloc_skb(room + sizeof(*ip6) + fixed + 3 * (len - fixed),
			      GFP_ATOMIC | __GFP_NOWARN);
	if (!copy->skb)
		return false;
	skb_reserve(copy->skb, room);
	skb_reset_network_header(copy->skb);
	skb_set_transport_header(copy->skb, sizeof(*ip6));
	skb_put_data(copy->skb, ip6, sizeof(*ip6) + fixed);
	if (!copy_options(copy, (const u8 *)icmp + fixed, len - fixed) ||
	    copy->skb->len > copy->eth->lower->mtu) {
		kfree_skb(copy->skb);
		return false;
	}
	copy->skb->protocol = htons(ETH_P_IPV6);
	copy->skb->priority = skb->priority;
	eipoib_nd_finish(copy->skb);
	return true;
}

/* Returns the IP address that the message says something about: the sender's, or that of an
 * advertisement. Returns NULL if there is none, or if it is that of no host: a sender may have none
 * yet, and neither a group nor an IPv4 address in the form of IPv6 is anybody's.
 */
static const struct in6_addr *nd_subject(const struct sk_buff *skb)
{
	const struct nd_msg *msg = (const struct nd_msg *)(ipv6_hdr(skb) + 1);
	const struct in6_addr *subject = &ipv6_hdr(skb)->saddr;

	if (msg->icmph.icmp6_type == NDISC_REDIRECT)
		return NULL;
	if (msg->icmph.icmp6_type == NDISC_NEIGHBOUR_ADVERTISEMENT)
		subject = &msg->target;
	return ipv6_addr_type(subject) & IPV6_ADDR_UNICAST ? subject : NULL;
}

/* Learns from a packet of the Ethernet side. Returns false if it is to be dropped. */
static bool may_send(const struct nd_copy *copy, const struct ethhdr *ether)
{
	const struct in6_addr *subject = nd_subject(copy->skb);

	/* The router that it says to be */
	if (icmp6_hdr(copy->skb)->icmp6_type == NDISC_REDIRECT)
		return eipoib_learn_permits(copy->eth, &ipv6_hdr(copy->skb)->saddr,
					    ether->h_source);
	return !subject || eipoib_learn_local(copy->eth, subject,
					      copy->has_address ? copy->mac : ether->h_source);
}

/* Returns whether a packet is for the sender of the questions of this module: an answer, or a
 * question whether the sender is still there
 */
static bool is_answer(const struct eipoib_dev *eth, const struct in6_addr *to, const u8 *mac)
{
	struct in6_addr asker;

	if (!eipoib_mac_is_own(eth, mac))
		return false;
	eipoib_nd_asker(mac, &asker);
	return ipv6_addr_equal(to, &asker);
}

/* Returns whether the bridge has flooded a packet that is for a host of the Ethernet side */
static bool is_for_local(struct eipoib_dev *eth, const u8 *mac)
{
	return !eipoib_remote_is(&eth->domain->remotes, mac) &&
	       eipoib_ip_has_mac(&eth->domain->local, mac);
}

/* The same for one of the IPoIB side. Without a link-layer address it tells nothing to learn, but
 * may still claim to be from the host of a static entry: an advertisement by which a router ceases
 * to be one, or a redirect.
 */
static bool may_receive(const struct nd_copy *copy)
{
	bool redirect = icmp6_hdr(copy->skb)->icmp6_type == NDISC_REDIRECT;
	const struct in6_addr *subject = redirect ? &ipv6_hdr(copy->skb)->saddr :
						    nd_subject(copy->skb);

	if (!subject)
		return true;
	if (redirect || !copy->has_address)
		return !eipoib_ip_is_static(&copy->eth->domain->local, subject);
	return eipoib_learn_heard(copy->eth, subject, copy->mac);
}

/**
 * eipoib_nd_xmit() - send an ND packet of the Ethernet side
 * @eth: the netdevice
 * @skb: the packet, without its Ethernet header; consumed
 * @ether: that header
 *
 * A solicitation that is for a MAC address which this host does not know any more goes to the
 * solicited-node group, so that the sender is answered nevertheless.
 *
 * Context: BHs disabled.
 */
void eipoib_nd_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	struct nd_copy copy = { .eth = eth, .to_ib = true };
	struct eipoib_lladdr to;
	struct in6_addr group;

	if (!nd_is_valid(skb) || !nd_copy(&copy, skb)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_ND);
		return;
	}
	if (!may_send(&copy, ether)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_FORGED);
		kfree_skb(copy.skb);
		return;
	}
	if (is_answer(eth, &ipv6_hdr(copy.skb)->daddr, ether->h_dest)) {
		consume_skb(skb);
		kfree_skb(copy.skb);
		return;
	}
	if (is_for_local(eth, ether->h_dest)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOCAL);
		kfree_skb(copy.skb);
		return;
	}
	if (ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr)) {
		eipoib_group_lladdr(eth, &ipv6_hdr(skb)->daddr, &to);
	} else if (!eipoib_remote_lladdr(&eth->domain->remotes, ether->h_dest, &to)) {
		addrconf_addr_solict_mult(&ipv6_hdr(skb)->daddr, &group);
		eipoib_group_lladdr(eth, &group, &to);
	}
	eipoib_send(eth, copy.skb, &to);
	consume_skb(skb);
}

/* Gets the MAC address of the sender of an ND packet */
static void nd_sender(struct nd_copy *copy, const struct sk_buff *skb,
		      const struct eipoib_lladdr *from, u8 *mac)
{
	if (from)
		eipoib_remote_mac(&copy->eth->domain->remotes, from, mac);
	else if (copy->has_address)
		ether_addr_copy(mac, copy->mac);
	else if (!eipoib_ip_get(&copy->eth->domain->heard, &ipv6_hdr(skb)->saddr, mac))
		ether_addr_copy(mac, copy->eth->own_mac);
}

static void nd_receiver(struct eipoib_dev *eth, const struct in6_addr *ip, u8 *mac)
{
	if (ipv6_addr_is_multicast(ip))
		ipv6_eth_mc_map(ip, mac);
	else if (eipoib_is_dedicated(eth))
		ether_addr_copy(mac, eth->slave.mac);
	else if (!eipoib_ip_get(&eth->domain->local, ip, mac))
		eth_broadcast_addr(mac);
}

/**
 * eipoib_nd_receive() - pass an ND packet of the IPoIB side on
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header; consumed
 * @from: the sender's link-layer address, or NULL if the lower netdevice's driver does not tell
 *
 * Context: softirq.
 */
void eipoib_nd_receive(struct eipoib_dev *eth, struct sk_buff *skb,
		       const struct eipoib_lladdr *from)
{
	struct nd_copy copy = { .eth = eth };
	u8 source[ETH_ALEN], destination[ETH_ALEN];
	struct eipoib_lladdr sender;

	/* It is in the packet, which is about to be made linear */
	if (from)
		sender = *from;
	if (!nd_is_valid(skb) || !nd_copy(&copy, skb)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_ND);
		return;
	}
	if (!may_receive(&copy)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_FORGED);
		kfree_skb(copy.skb);
		return;
	}
	nd_sender(&copy, skb, from ? &sender : NULL, source);
	nd_receiver(eth, &ipv6_hdr(skb)->daddr, destination);
	eipoib_deliver(eth, copy.skb, destination, source);
	consume_skb(skb);
}
