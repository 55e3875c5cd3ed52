// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Large packets of TCP and UDP: which of them the driver accepts, and their segmentation
 * by the driver, for HCAs that cannot do it.
 *
 * The stack passes down one packet of up to 64 KiB. For each segment, headers are built in
 * memory that belongs to the slot of the ring. The payload is not copied: its pieces follow
 * the headers in the SGE list of the WR. No sk_buff is allocated for a segment.
 */
#include <linux/udp.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>
#include <net/tso.h>

#include "ipoib.h"

#define GSO_KNOWN	(SKB_GSO_TCPV4 | SKB_GSO_TCPV6 | SKB_GSO_UDP_L4 | SKB_GSO_DODGY)

/* The longest headers, which are those of IPv4 and TCP with all options, must fit */
static_assert(IPOIB_ENCAP_LEN + 2 * 60 <= IPOIB_TX_HEADER_MAX);

static u32 transport_len(const struct sk_buff *skb)
{
	return skb_is_gso_tcp(skb) ? tcp_hdrlen(skb) : sizeof(struct udphdr);
}

/**
 * ipoib_gso_can_cut() - tell whether ipoib_gso_next() can segment a large packet
 * @skb: the packet
 *
 * Packets with IPv6 extension headers are not accepted, as <net/tso.h> does not count their
 * length; nor are TCP packets whose headers are not linear, which are rare: they come from
 * forwarding or from raw sockets. A packet from an untrusted source may have any header.
 *
 * Context: any.
 * Return: true if it can.
 */
bool ipoib_gso_can_cut(const struct sk_buff *skb)
{
	u32 network_len = skb_transport_offset(skb) - skb_network_offset(skb);
	bool ip6 = skb->protocol == htons(ETH_P_IPV6);

	if (skb_shinfo(skb)->gso_type & ~GSO_KNOWN)
		return false;
	if (ip6 ? network_len != sizeof(struct ipv6hdr) :
		  network_len - sizeof(struct iphdr) > MAX_IPOPTLEN)
		return false;
	if (!skb_is_gso_tcp(skb))
		return true;
	return skb_headlen(skb) >= skb_transport_offset(skb) + sizeof(struct tcphdr) &&
	       tcp_hdrlen(skb) >= sizeof(struct tcphdr);
}

/* Returns whether a packet exceeds the limit of segments, and the stack has not noticed that. The
 * stack compares gso_segs with the limit, but packets from a tap device or a packet socket come
 * without it.
 */
static bool is_uncounted(const struct sk_buff *skb, const struct net_device *netdev)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return unlikely(!info->gso_segs) &&
	       skb->len > (u32)info->gso_size * READ_ONCE(netdev->gso_max_segs);
}

/**
 * ipoib_features_check() - ndo_features_check: restrict the offloads for a packet
 * @skb: the packet
 * @netdev: the device
 * @features: the offloads that the device supports in general
 *
 * The stack has to segment a large packet that has more fragments than a WR can have SGEs,
 * which is cheaper than linearizing it; also one with unusual headers, and one with more
 * segments than the ring accepts.
 *
 * A packet socket that bypasses the qdisc calls this without any lock, while the rings may be
 * being replaced. Therefore no ring is accessed here.
 *
 * Context: any.
 * Return: @features, without the offloads that are not possible for this packet.
 */
netdev_features_t ipoib_features_check(struct sk_buff *skb, struct net_device *netdev,
				       netdev_features_t features)
{
	const struct ipoib_dev *priv = ipoib_priv(netdev);

	if (skb_is_gso(skb) && (skb_shinfo(skb)->nr_frags + 2 > READ_ONCE(priv->max_sge) ||
				!ipoib_gso_can_cut(skb) || is_uncounted(skb, netdev)))
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

/**
 * ipoib_gso_header_len() - compute the length of a large packet's headers
 * @skb: the packet, which begins with the encapsulation header
 *
 * Context: any.
 * Return: octets before the payload.
 */
u32 ipoib_gso_header_len(const struct sk_buff *skb)
{
	return skb_transport_offset(skb) + transport_len(skb);
}

/**
 * ipoib_gso_segments() - compute the number of segments of a large packet
 * @skb: the packet, which begins with the encapsulation header
 *
 * The value of gso_segs cannot be relied on.
 *
 * Context: any.
 * Return: number of segments.
 */
u32 ipoib_gso_segments(const struct sk_buff *skb)
{
	return DIV_ROUND_UP(skb->len - ipoib_gso_header_len(skb), skb_shinfo(skb)->gso_size);
}

/**
 * ipoib_gso_start() - begin to segment a large packet
 * @gso: filled in
 * @sq: the send queue
 * @buf: the slot that holds the packet, which is mapped for DMA except its headers
 *
 * Context: any.
 */
void ipoib_gso_start(struct ipoib_gso *gso, const struct ipoib_sq *sq,
		     const struct ipoib_tx_buf *buf)
{
	struct sk_buff *skb = buf->skb;

	gso->sq = sq;
	gso->buf = buf;
	gso->hca_sums = sq->hca_offloads && skb->protocol == htons(ETH_P_IP);
	tso_start(skb, &gso->tso);
	gso->left = skb->len - buf->header_len;
}

/* Returns the DMA address of tso.data */
static u64 payload_addr(const struct ipoib_gso *gso)
{
	const struct sk_buff *skb = gso->buf->skb;
	const u64 *mapping = gso->buf->mapping;
	int frag = gso->tso.next_frag_idx - 1;

	if (frag < 0)
		return mapping[0] + (gso->tso.data - (void *)skb->data) - gso->buf->header_len;
	if (skb_headlen(skb) > gso->buf->header_len)
		mapping++;
	return mapping[frag] +
	       (gso->tso.data - skb_frag_address(&skb_shinfo(skb)->frags[frag]));
}

/* Fills in the SGEs for the next @len octets of payload, and returns their number. Adds the
 * checksum of the payload to *sum, unless the HCA computes it.
 */
static u32 cut_payload(struct ipoib_gso *gso, u32 len, struct ib_sge *sge, __wsum *sum)
{
	u32 done, piece, n = 0;

	for (done = 0; done < len; done += piece) {
		piece = min_t(u32, gso->tso.size, len - done);
		sge[n].addr = payload_addr(gso);
		sge[n].length = piece;
		sge[n].lkey = gso->sq->lkey;
		if (!gso->hca_sums)
			*sum = csum_block_add(*sum, csum_partial(gso->tso.data, piece, 0), done);
		tso_build_data(gso->buf->skb, &gso->tso, piece);
		n += !!piece;
	}
	return n;
}

static __sum16 sum_of(const struct sk_buff *skb, const void *network, u32 len, u8 protocol,
		      __wsum sum)
{
	const struct ipv6hdr *ip6 = network;
	const struct iphdr *ip = network;

	if (skb->protocol == htons(ETH_P_IPV6))
		return csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len, protocol, sum);
	return csum_tcpudp_magic(ip->saddr, ip->daddr, len, protocol, sum);
}

/* Writes the checksum of a segment into its header. An HCA that computes the checksum expects that
 * of the TCP or UDP pseudo header in this place.
 */
static void set_sum(const struct ipoib_gso *gso, void *header, u32 len, __wsum sum)
{
	const struct sk_buff *skb = gso->buf->skb;
	void *network = header + skb_network_offset(skb);
	void *transport = header + skb_transport_offset(skb);
	u8 protocol = skb_is_gso_tcp(skb) ? IPPROTO_TCP : IPPROTO_UDP;
	__sum16 *check = transport + (protocol == IPPROTO_TCP ?
		offsetof(struct tcphdr, check) : offsetof(struct udphdr, check));

	*check = 0;
	if (gso->hca_sums) {
		*check = ~sum_of(skb, network, len, protocol, 0);
		return;
	}
	sum = csum_partial(transport, gso->tso.tlen, sum);
	*check = sum_of(skb, network, len, protocol, sum);
	if (protocol == IPPROTO_UDP && !*check)
		*check = CSUM_MANGLED_0;
}

/**
 * ipoib_gso_next() - build the next segment of a large packet
 * @gso: the state of the segmentation; @gso->left is not zero
 * @headers: the page in which the segment's headers are built
 * @offset: where in this page
 * @sge: filled in with the headers, then each piece of payload; at most IPOIB_TX_SGE_MAX entries
 *
 * Context: any.
 * Return: number of entries of @sge that were filled in.
 */
u32 ipoib_gso_next(struct ipoib_gso *gso, const struct ipoib_tx_headers *headers, u32 offset,
		   struct ib_sge *sge)
{
	struct sk_buff *skb = gso->buf->skb;
	u32 size = min_t(u32, gso->left, skb_shinfo(skb)->gso_size);
	void *header = headers->octets + offset;
	__wsum sum = 0;
	u32 n;

	gso->left -= size;
	tso_build_hdr(skb, header, &gso->tso, size, !gso->left);
	if (skb->protocol == htons(ETH_P_IP))
		ip_send_check(header + skb_network_offset(skb));
	n = cut_payload(gso, size, sge + 1, &sum);
	set_sum(gso, header, gso->tso.tlen + size, sum);
	sge->addr = headers->addr + offset;
	sge->length = gso->buf->header_len;
	sge->lkey = gso->sq->lkey;
	return n + 1;
}
