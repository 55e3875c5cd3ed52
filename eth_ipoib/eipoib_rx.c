// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From IPoIB to Ethernet: what the lower netdevice has received gets an Ethernet header. Its
 * source is the MAC address of the interface that has sent it. Its destination is the one that has
 * the IP address, since all of the Ethernet side have the lower netdevice's link-layer address.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/if_inet6.h>
#include <net/ip.h>

#include "eipoib.h"
#include "eipoib_dhcp.h"

static bool is_zero(const struct eipoib_lladdr *lladdr)
{
	return !memchr_inv(lladdr, 0, sizeof(*lladdr));
}

/* Gets the MAC address of a packet's sender. The in-tree driver does not tell its link-layer
 * address; then it is the interface that is known to have the IP address, if there is any.
 */
static void sender_mac(struct eipoib_dev *eth, const struct sk_buff *skb,
		       const struct in6_addr *ip, u8 *mac)
{
	const struct eipoib_header *header = (struct eipoib_header *)skb_mac_header(skb);

	if (is_zero(&header->from)) {
		if (!eipoib_ip_get_to_use(&eth->domain->heard, ip, mac))
			ether_addr_copy(mac, eth->own_mac);
		return;
	}
	if (!eipoib_remote_mac(&eth->domain->remotes, &header->from, mac))
		eipoib_count(eth, EIPOIB_STAT_REMOTE_REFUSED);
}

/* Gets the MAC address of a packet's receiver. Returns false if it is not known. */
static bool receiver_mac(struct eipoib_dev *eth, const struct sk_buff *skb,
			 const struct in6_addr *ip, u8 *mac)
{
	if (skb->protocol == htons(ETH_P_IP) && ipv4_is_multicast(ip_hdr(skb)->daddr))
		ip_eth_mc_map(ip_hdr(skb)->daddr, mac);
	else if (skb->protocol == htons(ETH_P_IPV6) && ipv6_addr_is_multicast(ip))
		ipv6_eth_mc_map(ip, mac);
	else if (skb->pkt_type == PACKET_BROADCAST || skb->pkt_type == PACKET_MULTICAST)
		eth_broadcast_addr(mac);
	else if (eipoib_is_dedicated(eth))
		ether_addr_copy(mac, eth->slave.mac);
	else
		return eipoib_ip_get(&eth->domain->local, ip, mac);
	return true;
}

/* Asks for the IP address that a packet is for, on behalf of the interface that has sent it */
static void ask(struct eipoib_dev *eth, const struct in6_addr *from, const u8 *mac,
		const struct in6_addr *ip)
{
	struct in6_addr sender;

	eipoib_ip_to_ask_from(&eth->domain->heard, from, mac, ip, &sender);
	eipoib_count(eth, EIPOIB_STAT_ASKED_ETH);
	if (ipv6_addr_v4mapped(ip))
		eipoib_arp_ask_eth(eth, mac, sender.s6_addr32[3], ip->s6_addr32[3]);
	else
		eipoib_nd_ask_eth(eth, mac, &sender, ip);
}

static void wait_for_receiver(struct eipoib_dev *eth, struct sk_buff *skb,
			      const struct in6_addr *from, const struct in6_addr *ip)
{
	u8 mac[ETH_ALEN];

	/* Nothing would be learned from the answer */
	if (!READ_ONCE(eth->domain->config.learning)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_UNKNOWN);
		return;
	}
	sender_mac(eth, skb, from, mac);
	/* The lower netdevice may be gone before the packet is, which is not touched any more */
	skb->dev = eth->netdev;
	switch (eipoib_wait_add(&eth->domain->to_eth, ip, mac, skb)) {
	case EIPOIB_WAIT_FIRST:
		ask(eth, from, mac, ip);
		break;
	case EIPOIB_WAIT_MORE:
		break;
	case EIPOIB_WAIT_REFUSED:
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_UNKNOWN);
	}
}

/**
 * eipoib_deliver_waiting() - pass a packet to the Ethernet side that has waited for its IP address
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header
 *
 * Context: BHs disabled.
 */
void eipoib_deliver_waiting(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u8 source[ETH_ALEN], destination[ETH_ALEN];
	struct in6_addr from, to;

	eipoib_ips_of(skb, &from, &to);
	sender_mac(eth, skb, &from, source);
	if (receiver_mac(eth, skb, &to, destination))
		eipoib_deliver(eth, skb, destination, source);
	else
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_UNKNOWN);
}

/* Returns whether a packet has got its Ethernet header, and is to be received by the netdevice */
static bool receive_ip(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u8 source[ETH_ALEN], destination[ETH_ALEN];
	struct in6_addr from, to;

	eipoib_ips_of(skb, &from, &to);
	if (unlikely(!receiver_mac(eth, skb, &to, destination))) {
		wait_for_receiver(eth, skb, &from, &to);
		return false;
	}
	sender_mac(eth, skb, &from, source);
	return eipoib_frame(eth, skb, destination, source);
}

static bool receive_dhcp(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u8 source[ETH_ALEN], destination[ETH_ALEN];
	struct in6_addr from, to;

	if (!eipoib_dhcp_receive(eth, skb, destination))
		return receive_ip(eth, skb);
	eipoib_ips_of(skb, &from, &to);
	sender_mac(eth, skb, &from, source);
	return eipoib_frame(eth, skb, destination, source);
}

static bool receive_ip4(struct eipoib_dev *eth, struct sk_buff *skb)
{
	if (unlikely(!pskb_may_pull(skb, sizeof(struct iphdr)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_SHORT);
		return false;
	}
	if (unlikely(eipoib_dhcp_is(skb)))
		return receive_dhcp(eth, skb);
	if (unlikely(ip_hdr(skb)->protocol == IPPROTO_IGMP))
		eipoib_snoop_received4(eth, skb);
	return receive_ip(eth, skb);
}

static bool receive_ip6(struct eipoib_dev *eth, struct sk_buff *skb)
{
	const struct eipoib_header *header;

	if (unlikely(!pskb_may_pull(skb, sizeof(struct ipv6hdr)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_SHORT);
		return false;
	}
	if (unlikely(eipoib_ip6_is_mapped(ipv6_hdr(skb)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_IP);
		return false;
	}
	if (unlikely(ipv6_hdr(skb)->nexthdr == NEXTHDR_HOP))
		eipoib_snoop_received6(eth, skb);
	if (unlikely(eipoib_nd_is_behind(skb))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_ND);
		return false;
	}
	if (likely(!eipoib_nd_is(skb)))
		return receive_ip(eth, skb);
	header = (struct eipoib_header *)skb_mac_header(skb);
	eipoib_nd_receive(eth, skb, is_zero(&header->from) ? NULL : &header->from);
	return false;
}

static bool receive(struct eipoib_dev *eth, struct sk_buff *skb)
{
	skb_reset_network_header(skb);
	switch (skb->protocol) {
	case htons(ETH_P_IP):
		return receive_ip4(eth, skb);
	case htons(ETH_P_IPV6):
		return receive_ip6(eth, skb);
	case htons(ETH_P_ARP):
		eipoib_arp_receive(eth, skb);
		return false;
	}
	eipoib_drop(eth, skb, EIPOIB_STAT_RX_PROTOCOL);
	return false;
}

/* Returns whether a packet for several receivers comes from this host, or is the copy of a lower
 * netdevice other than the first one of its link
 */
static bool is_repeated(const struct eipoib_dev *eth, const struct sk_buff *skb)
{
	const struct eipoib_header *header = (struct eipoib_header *)skb_mac_header(skb);

	return eth->domain != eth || eipoib_lladdr_is_own(eth, &header->from);
}

/**
 * eipoib_receive() - the RX handler of the lower netdevice
 * @pskb: the packet, whose data begins with its network header
 *
 * Context: softirq, RCU read side.
 * Return: RX_HANDLER_ANOTHER if the packet is one of the Ethernet netdevice now.
 */
rx_handler_result_t eipoib_receive(struct sk_buff **pskb)
{
	struct eipoib_dev *eth = rcu_dereference((*pskb)->dev->rx_handler_data);
	struct sk_buff *skb = *pskb;

	if (unlikely(skb->pkt_type == PACKET_LOOPBACK))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb)) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return RX_HANDLER_CONSUMED;
	}
	*pskb = skb;
	if (unlikely(!netif_running(eth->netdev))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_DOWN);
		return RX_HANDLER_CONSUMED;
	}
	/* A packet with an 802.1Q header is none of IPoIB. The stack has taken that off, and would
	 * have the Ethernet side put the packet into a VLAN that the sender has chosen.
	 */
	if (unlikely(skb_vlan_tag_present(skb))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_PROTOCOL);
		return RX_HANDLER_CONSUMED;
	}
	if (unlikely(skb->data - skb_mac_header(skb) != sizeof(struct eipoib_header))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_SHORT);
		return RX_HANDLER_CONSUMED;
	}
	if (unlikely(skb->pkt_type != PACKET_HOST && is_repeated(eth, skb))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_REPEATED);
		return RX_HANDLER_CONSUMED;
	}
	return receive(eth, skb) ? RX_HANDLER_ANOTHER : RX_HANDLER_CONSUMED;
}
