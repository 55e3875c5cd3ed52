// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that are longer than their receivers can receive. In connected mode, the MTU of a
 * netdevice is that of connections, 65520, but peers without a connection, and all groups, receive
 * datagrams of 2044 or 4092 octets only. What is longer is handled by the first of these that is
 * possible:
 *
 *  - A TCP packet of this host is cut into segments, as the driver does for any large packet.
 *  - An IPv4 packet that may be fragmented is fragmented.
 *  - The sender is told the MTU, by ICMP and by the route's path MTU (RFC 1191, RFC 8201).
 */
#include <linux/icmpv6.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "ipoib.h"

/* Limit of the packets whose senders are still to be told */
#define LONG_QUEUE_MAX		64

/* Returns the octets of the network header, if a TCP header follows and the stack has left the
 * checksum to the driver, which it only does for whole segments of this host; or 0
 */
static u32 tcp_network_len(const struct sk_buff *skb)
{
	u32 len = skb_transport_offset(skb) - skb_network_offset(skb);
	const struct iphdr *ip = ip_hdr(skb);

	if (skb->ip_summed != CHECKSUM_PARTIAL ||
	    skb->csum_offset != offsetof(struct tcphdr, check) ||
	    skb_checksum_start_offset(skb) != skb_transport_offset(skb))
		return 0;
	if (skb->protocol == htons(ETH_P_IPV6))
		return ipv6_hdr(skb)->nexthdr == IPPROTO_TCP && len == sizeof(struct ipv6hdr) ?
		       len : 0;
	return ip->protocol == IPPROTO_TCP && !ip_is_fragment(ip) && len == ip->ihl * 4 ? len : 0;
}

/* Returns whether the socket allows its packets to be cut. One that signs each segment does not
 * (RFC 2385). This is not known of a packet that is forwarded, which may lack its checksum as well.
 */
static bool socket_allows_cut(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	return skb_is_gso(skb) || (sk && (!sk_fullsock(sk) || sk_can_gso(sk)));
}

/* Makes a TCP packet a large one, for the driver to cut into segments that fit. Its socket and
 * packet sockets may have clones, which stay as they are.
 */
static bool tcp_cut(struct sk_buff *skb, u32 mtu)
{
	bool ip6 = skb->protocol == htons(ETH_P_IPV6);
	u32 network_len = tcp_network_len(skb);
	struct skb_shared_info *info;
	u32 header_len;

	if (!network_len || !socket_allows_cut(skb) ||
	    !pskb_may_pull(skb, skb_transport_offset(skb) + sizeof(struct tcphdr)) ||
	    !pskb_may_pull(skb, skb_transport_offset(skb) + tcp_hdrlen(skb)))
		return false;
	header_len = network_len + tcp_hdrlen(skb);
	if (mtu <= header_len || tcp_hdrlen(skb) < sizeof(struct tcphdr) ||
	    skb_unclone(skb, GFP_ATOMIC))
		return false;
	info = skb_shinfo(skb);
	if (!skb_is_gso(skb))
		info->gso_type |= (ip6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4) |
				  (tcp_hdr(skb)->cwr ? SKB_GSO_TCP_ECN : 0);
	info->gso_size = mtu - header_len;
	info->gso_segs = DIV_ROUND_UP(skb->len - IPOIB_HARD_LEN - header_len, info->gso_size);
	return true;
}

static bool may_fragment(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) && !skb_is_gso(skb) &&
	       (skb->ignore_df || !(ip_hdr(skb)->frag_off & htons(IP_DF)));
}

/* Replaces the options that only the first fragment is to have (RFC 791 section 3.1), such as a
 * record of the route. The kernel does not export its function for that, which would also write to
 * a header that clones share.
 */
static void omit_options(struct sk_buff *fragment)
{
	struct iphdr *ip = ip_hdr(fragment);
	u8 *end = (u8 *)ip + ip->ihl * 4, *option, len;

	for (option = (u8 *)(ip + 1); end - option >= 2 && *option != IPOPT_END; option += len) {
		len = *option == IPOPT_NOOP ? 1 : option[1];
		if (!len || len > end - option)
			break;
		if (!IPOPT_COPIED(*option))
			memset(option, IPOPT_NOOP, len);
	}
	ip_send_check(ip);
}

/* Returns the fragments of a packet whose data begins with the IPv4 header, or NULL */
static struct sk_buff *fragments_of(struct sk_buff *skb, const struct ipoib_header *header, u32 mtu)
{
	struct sk_buff *first = NULL, **next = &first, *fragment;
	u32 header_len = ip_hdrlen(skb);
	struct ip_frag_state state;

	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	ip_frag_init(skb, header_len, IPOIB_HARD_LEN, mtu - header_len, false, &state);
	while (state.left) {
		fragment = ip_frag_next(skb, &state);
		if (IS_ERR(fragment)) {
			kfree_skb_list(first);
			return NULL;
		}
		if (first && header_len > sizeof(struct iphdr))
			omit_options(fragment);
		*(struct ipoib_header *)skb_push(fragment, IPOIB_HARD_LEN) = *header;
		skb_reset_mac_header(fragment);
		skb_set_queue_mapping(fragment, skb_get_queue_mapping(skb));
		*next = fragment;
		next = &fragment->next;
	}
	return first;
}

static struct sk_buff *fragment(struct ipoib_dev *priv, struct sk_buff *skb, u32 mtu)
{
	const struct ipoib_header header = *(struct ipoib_header *)skb->data;
	struct sk_buff *first = NULL;

	if (skb->ip_summed != CHECKSUM_PARTIAL || !skb_checksum_help(skb)) {
		__skb_pull(skb, IPOIB_HARD_LEN);
		first = fragments_of(skb, &header, mtu);
	}
	if (!first) {
		ipoib_tx_drop(priv, skb, IPOIB_STAT_TX_NO_MEMORY);
		return NULL;
	}
	ipoib_count(priv, IPOIB_STAT_TX_FRAGMENTED);
	consume_skb(skb);
	return first;
}

/* Returns whether the checksum that is still to be computed, if any, covers nothing of the header.
 * A packet socket may have it written into the header, which would be another one then.
 */
static bool keeps_header(const struct sk_buff *skb, u32 len)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) >= (int)(IPOIB_HARD_LEN + len);
}

/* Returns whether the headers of the packet are where the network stack says */
static bool has_ip_header(struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb->data;
	bool ip4 = header->encap.ethertype == htons(ETH_P_IP);
	u32 len = ip4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);

	if (skb->protocol != header->encap.ethertype ||
	    (!ip4 && skb->protocol != htons(ETH_P_IPV6)) ||
	    skb_network_offset(skb) != IPOIB_HARD_LEN || !pskb_may_pull(skb, IPOIB_HARD_LEN + len))
		return false;
	if (ip4)
		len = ip_hdrlen(skb);
	return len >= sizeof(struct iphdr) && pskb_may_pull(skb, IPOIB_HARD_LEN + len) &&
	       keeps_header(skb, len);
}

/**
 * ipoib_long_cut() - cut a packet that is too long for its receivers
 * @priv: the device
 * @skb: the packet; begins with struct ipoib_header. Consumed unless an error is returned
 * @mtu: octets of the longest IP packet that the receivers can receive
 *
 * Context: BHs disabled.
 * Return: the list of packets to be sent instead, the same one if it is cut by the send queue; NULL
 * if it was dropped, and counted; or -EMSGSIZE if it must not be cut.
 */
struct sk_buff *ipoib_long_cut(struct ipoib_dev *priv, struct sk_buff *skb, u32 mtu)
{
	if (!has_ip_header(skb))
		return ERR_PTR(-EMSGSIZE);
	if ((!skb_is_gso(skb) || skb_is_gso_tcp(skb)) && skb_transport_header_was_set(skb) &&
	    tcp_cut(skb, mtu))
		return skb;
	return may_fragment(skb) ? fragment(priv, skb, mtu) : ERR_PTR(-EMSGSIZE);
}

static void tell(struct sk_buff *skb, u32 mtu)
{
	skb_pull(skb, IPOIB_HARD_LEN);
	memset(skb->cb, 0, sizeof(skb->cb));
	if (skb->protocol == htons(ETH_P_IP))
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
	else
		icmpv6_ndo_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
}

static void long_work(struct work_struct *work)
{
	struct ipoib_too_long *too_long = container_of(work, struct ipoib_too_long, work);
	struct sk_buff *skb;
	u32 mtu;

	while ((skb = skb_dequeue(&too_long->queue))) {
		mtu = *(u32 *)skb->cb;
		tell(skb, mtu);
		kfree_skb(skb);
	}
}

/**
 * ipoib_long_refuse() - drop a packet that is too long for its receivers, and tell its sender
 * @priv: the device
 * @skb: the packet; begins with struct ipoib_header; consumed
 * @mtu: octets of the longest IP packet that the receivers can receive
 *
 * The message is sent by a work, as it may have to be sent through this netdevice, whose lock the
 * caller holds.
 *
 * Context: BHs disabled.
 */
void ipoib_long_refuse(struct ipoib_dev *priv, struct sk_buff *skb, u32 mtu)
{
	struct ipoib_too_long *too_long = &priv->too_long;

	ipoib_count(priv, IPOIB_STAT_TX_TOO_LONG);
	if (!has_ip_header(skb) || !skb_dst(skb) ||
	    skb_queue_len_lockless(&too_long->queue) >= LONG_QUEUE_MAX) {
		dev_kfree_skb_any(skb);
		return;
	}
	skb_dst_update_pmtu_no_confirm(skb, mtu);
	skb_dst_force(skb);
	*(u32 *)skb->cb = mtu;
	skb_queue_tail(&too_long->queue, skb);
	queue_work(system_long_wq, &too_long->work);
}

/**
 * ipoib_long_init() - prepare for packets whose senders have to be told
 * @priv: the device
 *
 * Context: any.
 */
void ipoib_long_init(struct ipoib_dev *priv)
{
	skb_queue_head_init(&priv->too_long.queue);
	INIT_WORK(&priv->too_long.work, long_work);
}

/**
 * ipoib_long_destroy() - forget the packets whose senders have not been told
 * @priv: the device; nothing is sent any more
 *
 * Context: may sleep.
 */
void ipoib_long_destroy(struct ipoib_dev *priv)
{
	cancel_work_sync(&priv->too_long.work);
	skb_queue_purge(&priv->too_long.queue);
}
