// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ARP: each packet is made anew for the other side, because the addresses in it have another
 * length.
 */
#include "eipoib.h"

/* Returns the payload of an ARP packet for IPv4, whose link-layer addresses have this type and
 * length; or NULL
 */
static void *arp_parse(struct sk_buff *skb, u16 type, u8 address_len, u32 len)
{
	const struct arphdr *head;

	if (!pskb_may_pull(skb, len))
		return NULL;
	head = (struct arphdr *)skb->data;
	if (head->ar_hrd != htons(type) || head->ar_pro != htons(ETH_P_IP) ||
	    head->ar_hln != address_len || head->ar_pln != sizeof(__be32))
		return NULL;
	if (head->ar_op != htons(ARPOP_REQUEST) && head->ar_op != htons(ARPOP_REPLY))
		return NULL;
	return skb->data;
}

/* Gets the link-layer address that belongs to a MAC address of the Ethernet side's view: that of an
 * interface of the link, or else that of this host
 */
static void target_lladdr(struct eipoib_dev *eth, const u8 *mac, struct eipoib_lladdr *lladdr)
{
	if (!eipoib_remote_lladdr(&eth->domain->remotes, mac, lladdr))
		*lladdr = *eipoib_own_lladdr(eth);
}

/**
 * eipoib_arp_xmit() - send an ARP packet of the Ethernet side
 * @eth: the netdevice
 * @skb: the packet, without its Ethernet header; consumed
 * @ether: that header
 *
 * A request that is for a MAC address which this host does not know any more goes to everybody, so
 * that the sender is answered nevertheless.
 *
 * Context: BHs disabled.
 */
void eipoib_arp_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	const struct eipoib_arp_eth *arp;
	struct eipoib_lladdr to, tha;
	struct in6_addr spa;
	u16 op;

	arp = arp_parse(skb, ARPHRD_ETHER, ETH_ALEN, sizeof(*arp));
	if (!arp || !is_valid_ether_addr(arp->sha)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_ARP);
		return;
	}
	op = ntohs(arp->head.ar_op);
	spa = eipoib_ip4(arp->spa);
	if (arp->spa && !eipoib_learn_local(eth, &spa, arp->sha)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_FORGED);
		return;
	}
	if (!arp->spa && eipoib_arrived(&eth->domain->announce))
		eipoib_arrival_probes(eth->domain, ether->h_source);
	/* The answer to a request of this module, see eipoib_arp_ask_eth() */
	if (op == ARPOP_REPLY && eipoib_mac_is_own(eth, ether->h_dest)) {
		consume_skb(skb);
		return;
	}
	if (!eipoib_remote_lladdr(&eth->domain->remotes, ether->h_dest, &to)) {
		if (eipoib_ip_has_mac(&eth->domain->local, ether->h_dest)) {
			eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOCAL);
			return;
		}
		to = *eipoib_broadcast(eth);
	}
	target_lladdr(eth, arp->tha, &tha);
	eipoib_arp_send(eth, op, arp->spa, arp->tpa, &to, op == ARPOP_REPLY ? &tha : NULL);
	consume_skb(skb);
}

/**
 * eipoib_rarp_xmit() - see which host has arrived, as a hypervisor says by RARP (RFC 903)
 * @eth: the netdevice
 * @skb: the packet, without its Ethernet header; consumed, since hosts of the IPoIB side would not
 *	understand it
 * @ether: that header
 *
 * Context: BHs disabled.
 */
void eipoib_rarp_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	const struct eipoib_arp_eth *arp = NULL;

	if (pskb_may_pull(skb, sizeof(*arp)))
		arp = (const struct eipoib_arp_eth *)skb->data;
	if (!arp || arp->head.ar_hrd != htons(ARPHRD_ETHER) || arp->head.ar_hln != ETH_ALEN ||
	    arp->head.ar_op != htons(ARPOP_RREQUEST) ||
	    !ether_addr_equal(arp->sha, ether->h_source) ||
	    !is_valid_ether_addr(arp->sha)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_ARP);
		return;
	}
	eipoib_count(eth, EIPOIB_STAT_RARP);
	eipoib_arrival(eth->domain, arp->sha);
	consume_skb(skb);
}

/* Gets the receiver of an ARP packet: the one that has its target's IP address, or else everybody
 */
static void arp_receiver(struct eipoib_dev *eth, const struct sk_buff *skb, __be32 tpa, u8 *mac)
{
	struct in6_addr ip = eipoib_ip4(tpa);

	if (eipoib_is_dedicated(eth))
		ether_addr_copy(mac, eth->slave.mac);
	else if (skb->pkt_type != PACKET_HOST || !eipoib_ip_get(&eth->domain->local, &ip, mac))
		eth_broadcast_addr(mac);
}

/**
 * eipoib_arp_receive() - pass an ARP packet of the IPoIB side on
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header; consumed
 *
 * Context: softirq.
 */
void eipoib_arp_receive(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u8 sha[ETH_ALEN], tha[ETH_ALEN] = { }, to[ETH_ALEN];
	const struct eipoib_arp_ib *arp;
	struct in6_addr spa;

	arp = arp_parse(skb, ARPHRD_INFINIBAND, INFINIBAND_ALEN, sizeof(*arp));
	if (!arp || eipoib_lladdr_is_group(&arp->sha) ||
	    eipoib_lladdr_is_own(eth, &arp->sha)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_ARP);
		return;
	}
	if (!eipoib_remote_mac(&eth->domain->remotes, &arp->sha, sha))
		eipoib_count(eth, EIPOIB_STAT_REMOTE_REFUSED);
	eipoib_remote_set_flags(&eth->domain->remotes, &arp->sha);
	spa = eipoib_ip4(arp->spa);
	if (arp->spa && !eipoib_learn_heard(eth, &spa, sha)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_FORGED);
		return;
	}
	arp_receiver(eth, skb, arp->tpa, to);
	if (arp->head.ar_op == htons(ARPOP_REPLY))
		ether_addr_copy(tha, to);
	eipoib_arp_deliver(eth, ntohs(arp->head.ar_op), arp->spa, arp->tpa, to, sha, tha);
	consume_skb(skb);
}
