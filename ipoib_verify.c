// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Is what ARP and ND say of their sender's link-layer address true?
 *
 * The HCA writes the LID and the QPN that a packet comes from, and its GID if the packet
 * has a GRH. The link-layer address that an ARP or ND message claims for its sender must
 * agree with them. Where there is no GRH, the claimed GID is held against the path to it,
 * or against where it was heard of late.
 *
 * A claim never makes or changes a path, whether it holds or not: one that contradicts
 * the path in use is only a reason to ask the fabric again.
 */
#include <linux/if_arp.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "ipoib.h"

/* RFC 826; RFC 4391 section 9.1: the sender's link-layer address */
static const struct ipoib_hwaddr *arp_claim(const struct sk_buff *skb)
{
	const struct arphdr *arp = (const struct arphdr *)skb->data;

	if (skb->len < sizeof(*arp) + INFINIBAND_ALEN || arp->ar_hln != INFINIBAND_ALEN)
		return NULL;
	return (const struct ipoib_hwaddr *)(arp + 1);
}

/* RFC 4861 section 4: which option tells the sender's own link-layer address, and how
 * long the message is before its options; 0: there are none.
 */
static size_t nd_length(u8 message, u8 *type)
{
	*type = ND_OPT_SOURCE_LL_ADDR;
	switch (message) {
	case NDISC_ROUTER_SOLICITATION:
		return sizeof(struct rs_msg);
	case NDISC_ROUTER_ADVERTISEMENT:
		return sizeof(struct ra_msg);
	case NDISC_NEIGHBOUR_SOLICITATION:
		return sizeof(struct nd_msg);
	case NDISC_NEIGHBOUR_ADVERTISEMENT:
		*type = ND_OPT_TARGET_LL_ADDR;
		return sizeof(struct nd_msg);
	default:
		return 0;
	}
}

/* Where the options of an ND message begin, and end; NULL if this is none. Headers may
 * stand between IPv6's and ICMPv6's.
 */
static const u8 *nd_options_find(const struct sk_buff *skb, const u8 **end, u8 *type)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;
	int offset = sizeof(*ip);
	__be16 fragment;
	size_t len;
	u8 next;

	if (skb->len < sizeof(*ip))
		return NULL;
	next = ip->nexthdr;
	if (next != NEXTHDR_ICMP && ipv6_ext_hdr(next))
		offset = ipv6_skip_exthdr(skb, offset, &next, &fragment);
	if (next != NEXTHDR_ICMP || offset < 0 || offset >= skb->len)
		return NULL;
	len = nd_length(skb->data[offset], type);
	*end = skb->data + min_t(u32, skb->len, sizeof(*ip) + be16_to_cpu(ip->payload_len));
	if (!len || offset + len > *end - skb->data)
		return NULL;
	return skb->data + offset + len;
}

/* Is the GID known to be at a port other than the one that the packet came from? Either by
 * the path to it, or by packets of late, whose GRH proved it.
 */
static bool gid_is_elsewhere(struct ipoib_dev *priv, const union ib_gid *gid, u32 lid)
{
	struct ipoib_heard heard;

	switch (ipoib_path_compare(priv, gid, lid)) {
	case IPOIB_PATH_SAME:
		return false;
	case IPOIB_PATH_OTHER:
		/* Its port may have got another LID */
		ipoib_path_doubt(priv, gid);
		return true;
	default:
		return ipoib_learn_find(priv, gid, &heard) &&
		       !ipoib_same_port(priv, heard.lid, lid);
	}
}

/* Whether a packet may have come from where it says. @known is what its pseudo header
 * tells of its true sender, with a QPN of zero if that is nothing.
 */
static bool claim_holds(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct ipoib_hwaddr *known, const struct ipoib_hwaddr *claimed)
{
	union ib_gid gid;

	if (ipoib_hwaddr_qpn(claimed) != wc->src_qp)
		return false;
	memcpy(&gid, claimed->gid, sizeof(gid));
	if (ipoib_hwaddr_qpn(known))
		return ipoib_gid_equal(known->gid, &gid);
	return !gid_is_elsewhere(priv, &gid, wc->slid);
}

static bool arp_holds(struct ipoib_dev *priv, const struct ib_wc *wc,
		      const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	const struct ipoib_hwaddr *claimed = arp_claim(skb);

	return !claimed || claim_holds(priv, wc, known, claimed);
}

/* RFC 4861 section 4.6.1. Each option counts, for which of two is believed is the network
 * stack's affair.
 */
static bool nd_holds(struct ipoib_dev *priv, const struct ib_wc *wc,
		     const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	const struct ipoib_hwaddr *claimed;
	struct nd_opt_hdr *option;
	const u8 *at, *end;
	u8 type;

	at = nd_options_find(skb, &end, &type);
	for (; at && end - at >= sizeof(*option); at += option->nd_opt_len << 3) {
		option = (struct nd_opt_hdr *)at;
		if (!option->nd_opt_len || option->nd_opt_len << 3 > end - at)
			break;
		if (option->nd_opt_type != type)
			continue;
		claimed = (void *)__ndisc_opt_addr_data(option, INFINIBAND_ALEN,
							ndisc_addr_option_pad(ARPHRD_INFINIBAND));
		if (claimed && !claim_holds(priv, wc, known, claimed))
			return false;
	}
	return true;
}

/**
 * ipoib_verify_claim() - hold what ARP and ND say against the packet's true sender
 * @priv: the device
 * @wc: the packet's completion
 * @skb: the packet, ARP or IPv6; its pseudo header is as by ipoib_learn_sender(), data
 *	begins with the network layer's header
 *
 * Context: the receive poll.
 * Return: false if the packet is to be dropped: it claims a link-layer address that it
 * cannot have come from, and the administrator wants such packets dropped. The QPN tells
 * in any case; the GID if the packet has a GRH, if its sender has sent one that had, or
 * if the claimed GID is known to be at another port.
 */
bool ipoib_verify_claim(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb_mac_header(skb);
	bool holds;

	if (skb->protocol == htons(ETH_P_ARP))
		holds = arp_holds(priv, wc, &header->hwaddr, skb);
	else
		holds = nd_holds(priv, wc, &header->hwaddr, skb);
	if (likely(holds))
		return true;
	ipoib_count(priv, IPOIB_STAT_RX_FORGED);
	if (!READ_ONCE(priv->arp_verify))
		return true;
	ipoib_count(priv, IPOIB_STAT_RX_FORGED_DROPPED);
	return false;
}
