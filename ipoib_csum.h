/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checksums that are left out between two hosts with this driver.
 */
#ifndef _IPOIB_CSUM_H
#define _IPOIB_CSUM_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

struct ipoib_cm_offer;

/* Returns whether a checksum that the stack has left to the driver is that of a TCP or UDP header
 * which follows an IP header of this length and protocol
 */
static inline bool ipoib_csum_follows(const struct sk_buff *skb, u32 header_len, u8 protocol)
{
	if (skb_checksum_start_offset(skb) != skb_network_offset(skb) + header_len)
		return false;
	return (protocol == IPPROTO_TCP && skb->csum_offset == offsetof(struct tcphdr, check)) ||
	       (protocol == IPPROTO_UDP && skb->csum_offset == offsetof(struct udphdr, check));
}

/* The same, if the IP header is one of IPv4 */
static inline bool ipoib_csum_is_ip4(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) &&
	       ipoib_csum_follows(skb, ip_hdrlen(skb), ip_hdr(skb)->protocol);
}

u8 ipoib_csum_offer(struct ipoib_cm_offer *offer, u32 qpn, u32 receive_mtu);
bool ipoib_csum_is_agreed(const struct ipoib_cm_offer *offer);
bool ipoib_csum_can_omit(const struct sk_buff *skb);
bool ipoib_csum_restore(struct sk_buff *skb);

#endif /* _IPOIB_CSUM_H */
