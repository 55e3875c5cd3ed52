// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The last step of a packet in each direction: the link-layer header of the other side.
 */
#include <linux/if_vlan.h>

#include "eipoib.h"

/**
 * eipoib_sent() - count a packet that was given to the lower netdevice
 * @eth: what has sent it
 * @result: what dev_queue_xmit() has returned
 * @len: its length on the Ethernet side
 *
 * Context: BHs disabled.
 */
void eipoib_sent(struct eipoib_dev *eth, int result, u32 len)
{
	if (likely(result == NET_XMIT_SUCCESS || result == NET_XMIT_CN))
		dev_sw_netstats_tx_add(eth->netdev, 1, len);
	else
		eipoib_count(eth, EIPOIB_STAT_TX_LOWER);
}

/**
 * eipoib_send() - send a packet by the lower netdevice
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header
 * @to: the receiver
 *
 * Context: BHs disabled.
 */
void eipoib_send(struct eipoib_dev *eth, struct sk_buff *skb, const struct eipoib_lladdr *to)
{
	struct net_device *lower = eth->lower;
	u32 len = skb->len + ETH_HLEN;

	if (unlikely(skb_cow_head(skb, LL_RESERVED_SPACE(lower)))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_NO_MEMORY);
		return;
	}
	skb->dev = lower;
	if (unlikely(dev_hard_header(skb, lower, ntohs(skb->protocol), to, NULL, skb->len) < 0)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOWER);
		return;
	}
	eipoib_sent(eth, dev_queue_xmit(skb), len);
}

/**
 * eipoib_received() - count and classify a frame that the Ethernet netdevice has received
 * @eth: what has received it
 * @skb: the packet, whose data begins with its Ethernet header
 *
 * Context: BHs disabled.
 */
void eipoib_received(struct eipoib_dev *eth, struct sk_buff *skb)
{
	u16 vlan = READ_ONCE(eth->slave.vlan);

	dev_sw_netstats_rx_add(eth->netdev, skb->len);
	skb->protocol = eth_type_trans(skb, eth->netdev);
	if (vlan)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), vlan);
	/* The stack keeps that of the lower netdevice when the RX handler returns */
	skb_reset_mac_len(skb);
}

/**
 * eipoib_frame() - make a packet one that the Ethernet netdevice has received
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header
 * @to: MAC address of the receiver
 * @from: MAC address of the sender
 *
 * Context: BHs disabled.
 * Return: false if it was dropped, as there is no memory.
 */
bool eipoib_frame(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *to, const u8 *from)
{
	struct ethhdr *ether;

	if (unlikely(skb_cow_head(skb, ETH_HLEN))) {
		eipoib_drop(eth, skb, EIPOIB_STAT_RX_NO_MEMORY);
		return false;
	}
	ether = __skb_push(skb, ETH_HLEN);
	ether_addr_copy(ether->h_dest, to);
	ether_addr_copy(ether->h_source, from);
	ether->h_proto = skb->protocol;
	skb->pkt_type = PACKET_HOST;
	eipoib_received(eth, skb);
	return true;
}

/**
 * eipoib_deliver() - pass a packet to the Ethernet side
 * @eth: the netdevice
 * @skb: the packet, whose data begins with its network header
 * @to: MAC address of the receiver
 * @from: MAC address of the sender
 *
 * Context: BHs disabled.
 */
void eipoib_deliver(struct eipoib_dev *eth, struct sk_buff *skb, const u8 *to, const u8 *from)
{
	if (eipoib_frame(eth, skb, to, from))
		netif_rx(skb);
}
