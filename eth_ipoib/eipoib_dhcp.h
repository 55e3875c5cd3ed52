/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DHCP for IPv4 between clients and servers on both sides.
 */
#ifndef _EIPOIB_DHCP_H
#define _EIPOIB_DHCP_H

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#define EIPOIB_DHCP_SERVER	htons(67)
#define EIPOIB_DHCP_CLIENT	htons(68)

struct eipoib_dev;

/* Returns whether a packet, whose data begins with its IPv4 header, which is linear, is between a
 * DHCP client and a server
 */
static inline bool eipoib_dhcp_is(const struct sk_buff *skb)
{
	const struct udphdr *udp;
	struct udphdr buffer;

	if (ip_hdr(skb)->protocol != IPPROTO_UDP)
		return false;
	udp = skb_header_pointer(skb, ip_hdrlen(skb), sizeof(buffer), &buffer);
	if (!udp)
		return false;
	return (udp->dest == EIPOIB_DHCP_SERVER && udp->source == EIPOIB_DHCP_CLIENT) ||
	       (udp->dest == EIPOIB_DHCP_CLIENT && udp->source == EIPOIB_DHCP_SERVER);
}

bool eipoib_dhcp_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether);
bool eipoib_dhcp_receive(struct eipoib_dev *eth, struct sk_buff *skb, u8 *mac);

#endif /* _EIPOIB_DHCP_H */
