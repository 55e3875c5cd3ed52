// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From Ethernet to IPoIB: the Ethernet header is removed, and the packet is sent by the lower
 * netdevice to the interface whose MAC address it was for. An IPoIB link has IP, ARP and nothing
 * else; ARP and ND are rewritten (eipoib_arp.c, eipoib_nd.c).
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ipv6.h>

#include "eipoib.h"
#include "eipoib_dhcp.h"

/* Returns whether it is known which interface has an IP address */
static bool lladdr_of_ip(struct eipoib_dev *eth, const struct in6_addr *ip,
			 struct eipoib_lladdr *lladdr)
{
	u8 mac[ETH_ALEN];

	return eipoib_ip_get_to_use(&eth->domain->heard, ip, mac) &&
	       eipoib_remote_lladdr(&eth->domain->remotes, mac, lladdr);
}

/* Asks for the IP address that a packet is for, on behalf of its sender */
static void ask(struct eipoib_dev *eth, const struct in6_addr *from, const u8 *mac,
		const struct in6_addr *ip)
{
	struct in6_addr sender;

	eipoib_ip_to_ask_from(&eth->domain->local, from, mac, ip, &sender);
	eipoib_count(eth, EIPOIB_STAT_ASKED_IB);
	if (ipv6_addr_v4mapped(ip))
		eipoib_arp_ask_ib(eth, sender.s6_addr32[3], ip->s6_addr32[3]);
	else
		eipoib_nd_ask_ib(eth, &sender, ip);
}

/* Sends a packet whose MAC address is not known, as when a guest has kept it for longer than this
 * host, by what has been heard of its IP address; or has it wait.
 */
static void xmit_unknown(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	struct in6_addr from, ip;
	struct eipoib_lladdr to;
	u8 mac[ETH_ALEN];

	/* The bridge has flooded it */
	if (eipoib_ip_has_mac(&eth->domain->local, ether->h_dest)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOCAL);
		return;
	}
	eipoib_ips_of(skb, &from, &ip);
	if (lladdr_of_ip(eth, &ip, &to)) {
		eipoib_send(eth, skb, &to);
		return;
	}
	/* It is for a host of the Ethernet side which was on the other one, or its sender was */
	if (eipoib_ip_get(&eth->domain->local, &ip, mac)) {
		eipoib_announce_eth_again(eth, &ip, mac);
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOCAL);
		return;
	}
	/* The answer may come at any time, so a packet that waits is not touched any more */
	switch (eipoib_wait_add(&eth->domain->to_ib, &ip, ether->h_source, skb)) {
	case EIPOIB_WAIT_FIRST:
		ask(eth, &from, ether->h_source, &ip);
		break;
	case EIPOIB_WAIT_MORE:
		break;
	case EIPOIB_WAIT_REFUSED:
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_UNKNOWN);
	}
}

/**
 * eipoib_send_waiting() - send a packet that has waited for its IP address
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header, behind the Ethernet header
 *
 * What it is sent by follows from its source again, since it may be another one meanwhile.
 *
 * Context: BHs disabled.
 */
void eipoib_send_waiting(struct eipoib_dev *eth, struct sk_buff *skb)
{
	struct in6_addr from, ip;
	struct eipoib_lladdr to;

	eth = eipoib_slave_of_mac(eth, eth_hdr(skb)->h_source);
	eipoib_ips_of(skb, &from, &ip);
	if (lladdr_of_ip(eth, &ip, &to))
		eipoib_send(eth, skb, &to);
	else
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_UNKNOWN);
}

/* Sends a packet for one IP address. It goes to everybody if it came so. */
static void xmit_unicast(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	struct eipoib_lladdr to;

	if (is_multicast_ether_addr(ether->h_dest))
		eipoib_send(eth, skb, eipoib_broadcast(eth));
	else if (likely(eipoib_remote_lladdr(&eth->domain->remotes, ether->h_dest, &to)))
		eipoib_send(eth, skb, &to);
	else
		xmit_unknown(eth, skb, ether);
}

/* Notes that a host has sent a packet from an IP address, which may be that of another one */
static void use_source(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac)
{
	struct eipoib_dev *domain = eth->domain;

	if (unlikely(!eipoib_ip_use(&domain->local, ip, mac) &&
		     eipoib_arrived(&domain->announce)))
		eipoib_arrival_verify(domain, mac, ip);
}

static void xmit_ip4(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	struct eipoib_lladdr group;
	struct in6_addr from, to;

	if (unlikely(!pskb_may_pull(skb, sizeof(struct iphdr)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_SHORT);
		return;
	}
	from = eipoib_ip4(ip_hdr(skb)->saddr);
	to = eipoib_ip4(ip_hdr(skb)->daddr);
	use_source(eth, &from, ether->h_source);
	if (unlikely(eipoib_dhcp_is(skb)) && eipoib_dhcp_xmit(eth, skb, ether))
		return;
	if (!ipv4_is_multicast(ip_hdr(skb)->daddr)) {
		xmit_unicast(eth, skb, ether);
		return;
	}
	if (unlikely(ip_hdr(skb)->protocol == IPPROTO_IGMP))
		eipoib_snoop4(eth, skb, ether->h_source);
	eipoib_group_lladdr(eth, &to, &group);
	eipoib_send(eth, skb, &group);
}

static void xmit_ip6(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	struct eipoib_lladdr group;
	struct in6_addr to;

	if (unlikely(!pskb_may_pull(skb, sizeof(struct ipv6hdr)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_SHORT);
		return;
	}
	if (unlikely(eipoib_ip6_is_mapped(ipv6_hdr(skb)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_IP);
		return;
	}
	if (unlikely(eipoib_nd_is_behind(skb))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_ND);
		return;
	}
	if (unlikely(eipoib_nd_is(skb))) {
		eipoib_nd_xmit(eth, skb, ether);
		return;
	}
	to = ipv6_hdr(skb)->daddr;
	use_source(eth, &ipv6_hdr(skb)->saddr, ether->h_source);
	if (!ipv6_addr_is_multicast(&to)) {
		xmit_unicast(eth, skb, ether);
		return;
	}
	if (unlikely(ipv6_hdr(skb)->nexthdr == NEXTHDR_HOP))
		eipoib_snoop6(eth, skb, ether->h_source);
	eipoib_group_lladdr(eth, &to, &group);
	eipoib_send(eth, skb, &group);
}

/* Returns the counter of packets that cannot pass, since an IPoIB link has nothing like them */
static enum eipoib_stat refusal(__be16 protocol)
{
	switch (protocol) {
	case htons(ETH_P_8021Q):
	case htons(ETH_P_8021AD):
		return EIPOIB_STAT_TX_VLAN;
	case htons(ETH_P_SLOW):
	case htons(ETH_P_PAE):
	case htons(ETH_P_LLDP):
	case htons(ETH_P_1588):
	case htons(ETH_P_MACSEC):
	case htons(ETH_P_PPP_DISC):
	case htons(ETH_P_PPP_SES):
		return EIPOIB_STAT_TX_LINK;
	}
	return eth_proto_is_802_3(protocol) ? EIPOIB_STAT_TX_PROTOCOL : EIPOIB_STAT_TX_LLC;
}

/* Removes the VLAN header. Returns what sends in that VLAN, or NULL if there is none. The VLAN id 0
 * only has a priority (IEEE 802.1Q).
 */
static struct eipoib_dev *vlan_pop(struct eipoib_dev *base, struct sk_buff *skb)
{
	__be16 protocol;
	u16 tci;

	if (skb_vlan_tag_present(skb)) {
		protocol = skb->vlan_proto;
		tci = skb_vlan_tag_get(skb);
		__vlan_hwaccel_clear_tag(skb);
	} else {
		protocol = eth_hdr(skb)->h_proto;
		if (__skb_vlan_pop(skb, &tci))
			return NULL;
	}
	if (protocol != htons(ETH_P_8021Q))
		return NULL;
	if (tci & VLAN_VID_MASK)
		return eipoib_slave_of_vlan(base, tci & VLAN_VID_MASK);
	return eipoib_slave_of_mac(base, eth_hdr(skb)->h_source);
}

/* Returns whether a source is on the IPoIB side: that of another interface, or of this one as it
 * looks by another netdevice in the same bridge
 */
static bool is_looped(struct eipoib_dev *eth, const u8 *mac)
{
	return eipoib_remote_is(&eth->domain->remotes, mac) || eipoib_mac_is_own(eth, mac);
}

/**
 * eipoib_xmit() - ndo_start_xmit
 * @skb: the packet, which begins with its Ethernet header
 * @netdev: the netdevice
 *
 * Context: BHs disabled.
 * Return: NETDEV_TX_OK
 */
netdev_tx_t eipoib_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	struct ethhdr ether;

	if (unlikely(!pskb_may_pull(skb, ETH_HLEN))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_SHORT);
		return NETDEV_TX_OK;
	}
	skb_reset_mac_header(skb);
	if (unlikely(skb_vlan_tag_present(skb) || eth_type_vlan(eth_hdr(skb)->h_proto)))
		eth = vlan_pop(eth, skb);
	else
		eth = eipoib_slave_of_mac(eth, eth_hdr(skb)->h_source);
	if (unlikely(!eth)) {
		eipoib_drop(eipoib_priv(netdev), skb, EIPOIB_STAT_TX_VLAN);
		return NETDEV_TX_OK;
	}
	memcpy(&ether, skb->data, sizeof(ether));
	if (unlikely(is_multicast_ether_addr(ether.h_dest) && is_looped(eth, ether.h_source))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOOP);
		return NETDEV_TX_OK;
	}
	__skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	skb->protocol = ether.h_proto;
	switch (ether.h_proto) {
	case htons(ETH_P_IP):
		xmit_ip4(eth, skb, &ether);
		break;
	case htons(ETH_P_IPV6):
		xmit_ip6(eth, skb, &ether);
		break;
	case htons(ETH_P_ARP):
		eipoib_arp_xmit(eth, skb, &ether);
		break;
	case htons(ETH_P_RARP):
		eipoib_rarp_xmit(eth, skb, &ether);
		break;
	default:
		eipoib_drop(eth, skb, refusal(ether.h_proto));
	}
	return NETDEV_TX_OK;
}
