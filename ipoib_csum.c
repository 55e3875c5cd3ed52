// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checksums that are left out between two hosts with this driver.
 *
 * No HCA computes checksums for connections, so the CPU reads each octet once more, at both ends.
 * On the way, packets are protected by the invariant CRC of IBA 9.2.1. With the parameter, a packet
 * whose TCP or UDP checksum the stack has left to the driver is sent without it, if the peer has
 * offered to take it so. The receiver passes the packet to the stack as one of this host, whose
 * checksum is still to be computed: so it gets one if it is forwarded to a device that needs it.
 *
 * This is off by default, since the CRC does not protect the memory and the buses of the two hosts,
 * and programs that capture packets see wrong checksums.
 */
#include <linux/moduleparam.h>

#include "ipoib.h"
#include "ipoib_csum.h"

static bool omit_checksums;
module_param(omit_checksums, bool, 0444);
MODULE_PARM_DESC(omit_checksums, "Leave out TCP and UDP checksums on connections to peers that do the same (default: no)");

/**
 * ipoib_csum_offer() - build the private data of a REQ or REP
 * @offer: filled in
 * @qpn: number of the interface's UD QP, 24 bits
 * @receive_mtu: octets of the longest message that it receives, with the encapsulation header
 *
 * Context: any.
 * Return: octets of private data: those of RFC 4755 section 6 only, if nothing is offered.
 */
u8 ipoib_csum_offer(struct ipoib_cm_offer *offer, u32 qpn, u32 receive_mtu)
{
	ipoib_cm_data_build(&offer->data, qpn, receive_mtu);
	if (!omit_checksums)
		return sizeof(offer->data);
	offer->magic = IPOIB_OFFER_MAGIC;
	offer->flags = IPOIB_OFFER_UNSUMMED;
	return sizeof(*offer);
}

/**
 * ipoib_csum_is_agreed() - tell whether a connection's packets may come without checksums
 * @offer: private data of the peer's REQ or REP, with zeros behind it
 *
 * Context: any.
 * Return: true if both sides offer it.
 */
bool ipoib_csum_is_agreed(const struct ipoib_cm_offer *offer)
{
	return omit_checksums && offer->magic == IPOIB_OFFER_MAGIC &&
	       offer->flags & IPOIB_OFFER_UNSUMMED;
}

static bool csum_is_ip6(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IPV6) &&
	       ipoib_csum_follows(skb, sizeof(struct ipv6hdr), ipv6_hdr(skb)->nexthdr);
}

/**
 * ipoib_csum_can_omit() - tell whether the receiver would know which checksum is left out
 * @skb: a packet whose checksum the stack has left to the driver
 *
 * Context: any.
 * Return: true if it is that of a TCP or UDP header which follows the IP header.
 */
bool ipoib_csum_can_omit(const struct sk_buff *skb)
{
	return csum_is_ip6(skb) || (ipoib_csum_is_ip4(skb) && !ip_is_fragment(ip_hdr(skb)));
}

/**
 * ipoib_csum_restore() - have the stack compute a checksum that the peer has left out
 * @skb: the packet, whose data begins with the IP header
 *
 * Context: NAPI poll.
 * Return: false if there is no TCP or UDP header.
 */
bool ipoib_csum_restore(struct sk_buff *skb)
{
	skb_reset_network_header(skb);
	return !skb_checksum_setup(skb, false);
}
