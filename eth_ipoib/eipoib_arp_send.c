// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ARP packets that this module makes: those that pass, with link-layer addresses of the other side,
 * and its own requests and announcements.
 */
#include <net/arp.h>

#include "eipoib.h"

/**
 * eipoib_arp_send() - send an ARP packet to the IPoIB side
 * @eth: the netdevice
 * @op: ARPOP_REQUEST or ARPOP_REPLY
 * @spa: IP address of the sender, or 0
 * @tpa: that of the target
 * @to: the receiver
 * @tha: link-layer address of the target, or NULL
 *
 * Context: BHs disabled.
 */
void eipoib_arp_send(struct eipoib_dev *eth, int op, __be32 spa, __be32 tpa,
		     const struct eipoib_lladdr *to, const struct eipoib_lladdr *tha)
{
	struct sk_buff *skb;

	skb = arp_create(op, ETH_P_ARP, tpa, eth->lower, spa, (const u8 *)to, NULL,
			 (const u8 *)tha);
	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_TX_NO_MEMORY);
		return;
	}
	eipoib_sent(eth, dev_queue_xmit(skb), ETH_HLEN + sizeof(struct eipoib_arp_eth));
}

/**
 * eipoib_arp_deliver() - pass an ARP packet to the Ethernet side
 * @eth: the netdevice
 * @op: ARPOP_REQUEST or ARPOP_REPLY
 * @spa: IP address of the sender, or 0
 * @tpa: that of the target
 * @to: MAC address of the receiver
 * @sha: that of the sender
 * @tha: that of the target, or NULL
 *
 * Context: BHs disabled.
 */
void eipoib_arp_deliver(struct eipoib_dev *eth, int op, __be32 spa, __be32 tpa, const u8 *to,
			const u8 *sha, const u8 *tha)
{
	struct sk_buff *skb;

	skb = arp_create(op, ETH_P_ARP, tpa, eth->netdev, spa, to, sha, tha);
	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return;
	}
	eipoib_received(eth, skb);
	netif_rx(skb);
}

/**
 * eipoib_arp_ask_ib() - ask on the IPoIB side who has an IP address
 * @eth: the netdevice
 * @from: IP address of the host of the Ethernet side that needs it, or 0
 * @ip: the IP address
 *
 * Context: BHs disabled.
 */
void eipoib_arp_ask_ib(struct eipoib_dev *eth, __be32 from, __be32 ip)
{
	eipoib_arp_send(eth, ARPOP_REQUEST, from, ip, eipoib_broadcast(eth), NULL);
}

/**
 * eipoib_arp_ask_eth() - ask on the Ethernet side who has an IP address
 * @eth: the netdevice
 * @mac: MAC address of the interface of the IPoIB side that needs it
 * @from: its IP address, or 0
 * @ip: the IP address
 *
 * Without a sender's IP address it is a probe (RFC 5227 section 1.1), which changes no tables, but
 * keeps a host from taking the address at this moment.
 *
 * Context: BHs disabled.
 */
void eipoib_arp_ask_eth(struct eipoib_dev *eth, const u8 *mac, __be32 from, __be32 ip)
{
	u8 to[ETH_ALEN];

	eth_broadcast_addr(to);
	eipoib_arp_deliver(eth, ARPOP_REQUEST, from, ip, to, mac, NULL);
}

/**
 * eipoib_arp_ask_host() - ask a host of the Ethernet side whether it has an IP address
 * @eth: the netdevice, which needs it itself
 * @mac: MAC address of the host
 * @ip: the IP address
 *
 * This is a probe as well.
 *
 * Context: BHs disabled.
 */
void eipoib_arp_ask_host(struct eipoib_dev *eth, const u8 *mac, __be32 ip)
{
	eipoib_arp_deliver(eth, ARPOP_REQUEST, 0, ip, mac, eth->own_mac, NULL);
}

/**
 * eipoib_arp_announce() - tell the IPoIB side that an IP address is here
 * @eth: the netdevice
 * @ip: the IP address, on the Ethernet side
 *
 * Context: BHs disabled.
 */
void eipoib_arp_announce(struct eipoib_dev *eth, __be32 ip)
{
	eipoib_arp_send(eth, ARPOP_REQUEST, ip, ip, eipoib_broadcast(eth), NULL);
}

/**
 * eipoib_arp_announce_eth() - tell the Ethernet side that an IP address is there, too
 * @eth: the netdevice
 * @ip: the IP address
 * @mac: its MAC address
 *
 * The frame has a MAC address of this netdevice's own, since a bridge would otherwise look for the
 * host here.
 *
 * Context: BHs disabled.
 */
void eipoib_arp_announce_eth(struct eipoib_dev *eth, __be32 ip, const u8 *mac)
{
	struct sk_buff *skb;

	skb = arp_create(ARPOP_REQUEST, ETH_P_ARP, ip, eth->netdev, ip, NULL, mac, NULL);
	if (!skb) {
		eipoib_count(eth, EIPOIB_STAT_RX_NO_MEMORY);
		return;
	}
	ether_addr_copy(((struct ethhdr *)skb->data)->h_source, eth->own_mac);
	eipoib_received(eth, skb);
	netif_rx(skb);
}
