// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks the link-layer address that ARP and ND messages claim for their sender.
 *
 * The sender's HCA writes the LID and the QPN that a packet comes from, and the GID if
 * the packet has a GRH. The claimed link-layer address must agree with them. If there is
 * no GRH, the LID is compared with the path to the claimed GID, or with the LID that
 * recent packets of that GID came from. A packet with the tag of a VLAN could hide a claim.
 *
 * A claim never creates or changes a path, whether it is true or not. A claim that
 * contradicts the path in use only causes a new query to the fabric.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "ipoib.h"

/* Returns the sender's link-layer address in an ARP packet, or NULL (RFC 826; RFC 4391 section
 * 9.1)
 */
static const struct ipoib_hwaddr *arp_claim(const struct sk_buff *skb)
{
	const struct arphdr *arp = (const struct arphdr *)skb->data;

	if (skb->len < sizeof(*arp) + INFINIBAND_ALEN || arp->ar_hln != INFINIBAND_ALEN)
		return NULL;
	return (const struct ipoib_hwaddr *)(arp + 1);
}

/* Sets *type to the option that contains the sender's own link-layer address (RFC 4861 section 4).
 * Returns the length of the message before its options, or 0 if it is not checked.
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

/* Returns the octets of an IPv6 packet. As the stack does, takes all that was received if the
 * payload has no length, which jumbograms do not have (RFC 2675).
 */
static u32 ip6_length(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;

	if (!ip->payload_len && ip->nexthdr == NEXTHDR_HOP)
		return skb->len;
	return min_t(u32, skb->len, sizeof(*ip) + be16_to_cpu(ip->payload_len));
}

/* Returns the beginning of the options of an ND message, and sets *end to their end. Returns NULL
 * if the packet is not an ND message. There may be extension headers before the ICMPv6 header.
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
	*end = skb->data + ip6_length(skb);
	if (!len || offset + len > *end - skb->data)
		return NULL;
	return skb->data + offset + len;
}

/* Returns whether the GID is known to belong to another port than the one that has the LID. This is
 * known from the path to the GID, or else from recent packets whose GRH proved the GID.
 */
static bool gid_is_elsewhere(struct ipoib_dev *priv, const union ib_gid *gid, u32 lid)
{
	struct ipoib_heard heard;

	switch (ipoib_path_compare(priv, gid, lid)) {
	case IPOIB_PATH_SAME:
		return false;
	case IPOIB_PATH_OTHER:
		/* The LID of the GID's port may have changed */
		ipoib_path_doubt(priv, gid);
		return true;
	default:
		return ipoib_learn_find(priv, gid, &heard) &&
		       !ipoib_same_port(priv, heard.lid, lid);
	}
}

/**
 * ipoib_verify_gid() - tell whether a GID may be that of the port with a LID
 * @priv: the device
 * @gid: the GID
 * @lid: the LID
 *
 * Context: any but hard interrupt, BHs disabled.
 * Return: false if the GID is known to belong to another port.
 */
bool ipoib_verify_gid(struct ipoib_dev *priv, const union ib_gid *gid, u32 lid)
{
	return !gid_is_elsewhere(priv, gid, lid);
}

/* In ascending order, of which a packet with several claims has the highest */
enum claim {
	CLAIM_MAY_HOLD,
	CLAIM_FALSE,		/* another sender's address, which a proxy may claim */
	CLAIM_IMPOSSIBLE,	/* one that nobody may make, not even a proxy */
};

/* Judges whether the claimed address may be that of the packet's sender. @known is the sender's
 * address from the pseudo header; its QPN is zero if the sender is not known. No sender has the
 * address of a group (RFC 1812 section 3.3.2): if the stack took it for a neighbour's, packets to
 * this neighbour would go to all hosts, and each such claim could make this host create a group.
 */
static enum claim claim_judge(struct ipoib_dev *priv, const struct ib_wc *wc,
			      const struct ipoib_hwaddr *known, const struct ipoib_hwaddr *claimed)
{
	union ib_gid gid;
	bool holds;

	if (ipoib_gid_is_multicast(claimed->gid))
		return CLAIM_IMPOSSIBLE;
	if (ipoib_hwaddr_qpn(claimed) != wc->src_qp)
		return CLAIM_FALSE;
	memcpy(&gid, claimed->gid, sizeof(gid));
	if (ipoib_hwaddr_qpn(known))
		holds = ipoib_gid_equal(known->gid, &gid);
	else
		holds = !gid_is_elsewhere(priv, &gid, wc->slid);
	return holds ? CLAIM_MAY_HOLD : CLAIM_FALSE;
}

static enum claim arp_judge(struct ipoib_dev *priv, const struct ib_wc *wc,
			    const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	const struct ipoib_hwaddr *claimed = arp_claim(skb);

	return claimed ? claim_judge(priv, wc, known, claimed) : CLAIM_MAY_HOLD;
}

/* Checks every link-layer address option (RFC 4861 section 4.6.1) of the sender, since it is up to
 * the network stack which of several options it believes.
 */
static enum claim nd_judge(struct ipoib_dev *priv, const struct ib_wc *wc,
			   const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	const struct ipoib_hwaddr *claimed;
	enum claim worst = CLAIM_MAY_HOLD;
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
		if (claimed)
			worst = max(worst, claim_judge(priv, wc, known, claimed));
	}
	return worst;
}

/* Judges a packet's claim. IPoIB has no VLANs, but the stack removes the tag of a VLAN, and takes
 * what is behind it for a message of the sender.
 */
static enum claim packet_judge(struct ipoib_dev *priv, const struct ib_wc *wc,
			       const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	switch (skb->protocol) {
	case htons(ETH_P_ARP):
		return arp_judge(priv, wc, known, skb);
	case htons(ETH_P_IPV6):
		return nd_judge(priv, wc, known, skb);
	default:
		return eth_type_vlan(skb->protocol) ? CLAIM_IMPOSSIBLE : CLAIM_MAY_HOLD;
	}
}

/**
 * ipoib_verify_claim() - compare the address that ARP or ND claims with the packet's true sender
 * @priv: the device
 * @wc: the packet's CQE; for one of a connection, the QPN of the peer's UD QP, and its LID
 * @skb: the packet, linear. The address in its pseudo header was set by ipoib_learn_sender(), and
 *	its data begins with the network header
 *
 * The QPN can always be checked. The GID can be checked if the packet has a GRH, if its sender
 * has sent a packet with a GRH before, or if the claimed GID is known to belong to another port.
 * Counts packets with a false claim, or with the tag of a VLAN.
 *
 * Context: the receive poll.
 * Return: false if the packet must be dropped, because it claims the address of a group or has a
 * tag, or because it claims a link-layer address that it cannot have come from, and the private
 * flag arp-verify is set.
 */
bool ipoib_verify_claim(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb_mac_header(skb);
	enum claim claim;

	claim = packet_judge(priv, wc, &header->hwaddr, skb);
	if (likely(claim == CLAIM_MAY_HOLD))
		return true;
	ipoib_count(priv, IPOIB_STAT_RX_FORGED);
	if (claim == CLAIM_FALSE && !READ_ONCE(priv->arp_verify))
		return true;
	ipoib_count(priv, IPOIB_STAT_RX_FORGED_DROPPED);
	return false;
}
