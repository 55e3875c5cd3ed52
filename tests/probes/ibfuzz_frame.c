// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibfuzz: creates an IPoIB frame from random numbers. Most frames begin as one that a host might
 * send and are then modified a little. Some are noise.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ndisc.h>

#include "ibfuzz.h"

#define ENCAP_LEN	4
#define MAX_SPOILS	3
#define MAX_TAIL	64	/* maximum number of bytes by which a frame is extended */

/* RFC 826 with the addresses of RFC 4391, section 9 */
struct arp_frame {
	struct arphdr hdr;
	u8 sender_hw[IBFUZZ_HWADDR];
	__be32 sender_ip;
	u8 target_hw[IBFUZZ_HWADDR];
	__be32 target_ip;
} __packed;
static_assert(sizeof(struct arp_frame) == 56);

/* RFC 4391, section 9.3: option of an ND message, padded to 24 octets */
struct nd_lladdr {
	u8 type;
	u8 units;
	u8 hwaddr[IBFUZZ_HWADDR];
	u8 pad[2];
} __packed;
static_assert(sizeof(struct nd_lladdr) == 24);

/**
 * struct frame - A frame that is being created
 * @rnd: generator
 * @ends: the addresses of sender and receiver
 * @data: the bytes of the frame, beginning with the encapsulation header
 * @len: length of the frame
 * @max: maximum length of the frame
 * @transport: offset of the transport header, 0 if there is none
 * @check: offset of its checksum
 * @protocol: its protocol
 */
struct frame {
	struct rnd_state *rnd;
	const struct ibfuzz_ends *ends;
	u8 *data;
	u32 len;
	u32 max;
	u32 transport;
	u32 check;
	u8 protocol;
};

/* Adds zeroes to a frame and returns their address */
static void *put(struct frame *f, u32 bytes)
{
	void *at = f->data + f->len;

	memset(at, 0, bytes);
	f->len += bytes;
	return at;
}

static void put_noise(struct frame *f, u32 bytes)
{
	prandom_bytes_state(f->rnd, f->data + f->len, bytes);
	f->len += bytes;
}

static void put_encap(struct frame *f, u16 ethertype)
{
	*(__be16 *)put(f, ENCAP_LEN) = htons(ethertype);
}

/* Returns the claimed sender's address in most cases, otherwise another one of its subnet */
static __be32 any_ip4(struct frame *f)
{
	__be32 ip = f->ends->from.ip4;

	if (ibfuzz_below(f->rnd, 4))
		return ip;
	return htonl((ntohl(ip) & ~0xff) | ibfuzz_below(f->rnd, 256));
}

static struct in6_addr any_ip6(struct frame *f)
{
	struct in6_addr ip = f->ends->from.ip6;

	if (!ibfuzz_below(f->rnd, 4))
		ip.s6_addr[15] = prandom_u32_state(f->rnd);
	return ip;
}

/* Writes the sender's link-layer address, or one that differs from it in one byte of QPN, prefix or
 * GUID
 */
static void put_hwaddr(struct frame *f, u8 *at)
{
	memcpy(at, f->ends->from.hwaddr, IBFUZZ_HWADDR);
	if (!ibfuzz_below(f->rnd, 4))
		at[ibfuzz_below(f->rnd, IBFUZZ_HWADDR)] = prandom_u32_state(f->rnd);
}

static void make_arp(struct frame *f, u8 op)
{
	struct arp_frame *arp;

	put_encap(f, ETH_P_ARP);
	arp = put(f, sizeof(*arp));
	arp->hdr.ar_hrd = htons(ARPHRD_INFINIBAND);
	arp->hdr.ar_pro = htons(ETH_P_IP);
	arp->hdr.ar_hln = IBFUZZ_HWADDR;
	arp->hdr.ar_pln = sizeof(arp->sender_ip);
	arp->hdr.ar_op = htons(op);
	put_hwaddr(f, arp->sender_hw);
	arp->sender_ip = any_ip4(f);
	arp->target_ip = f->ends->to.ip4;
	if (op == ARPOP_REPLY)
		memcpy(arp->target_hw, f->ends->to.hwaddr, IBFUZZ_HWADDR);
}

static void put_ip4(struct frame *f, u8 protocol)
{
	struct iphdr *ip;

	put_encap(f, ETH_P_IP);
	ip = put(f, sizeof(*ip));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->ttl = 64;
	ip->id = (__force __be16)prandom_u32_state(f->rnd);
	ip->protocol = protocol;
	ip->saddr = any_ip4(f);
	ip->daddr = f->ends->to.ip4;
	f->protocol = protocol;
}

static void put_ip6(struct frame *f, u8 protocol)
{
	struct ipv6hdr *ip;

	put_encap(f, ETH_P_IPV6);
	ip = put(f, sizeof(*ip));
	ip->version = 6;
	ip->hop_limit = 255;
	ip->nexthdr = protocol;
	ip->saddr = any_ip6(f);
	ip->daddr = f->ends->to.ip6;
	f->protocol = protocol;
}

static void *put_transport(struct frame *f, u32 bytes, u32 check)
{
	f->transport = f->len;
	f->check = f->len + check;
	return put(f, bytes);
}

static void make_nd(struct frame *f, u8 type)
{
	struct nd_lladdr *option;
	struct nd_msg *nd;

	put_ip6(f, IPPROTO_ICMPV6);
	nd = put_transport(f, sizeof(*nd), offsetof(struct nd_msg, icmph.icmp6_cksum));
	nd->icmph.icmp6_type = type;
	nd->target = f->ends->to.ip6;
	if (type == NDISC_NEIGHBOUR_ADVERTISEMENT) {
		nd->icmph.icmp6_solicited = 1;
		nd->icmph.icmp6_override = 1;
		nd->target = any_ip6(f);
	}
	option = put(f, sizeof(*option));
	option->type = type == NDISC_NEIGHBOUR_SOLICITATION ? ND_OPT_SOURCE_LL_ADDR :
							      ND_OPT_TARGET_LL_ADDR;
	option->units = sizeof(*option) / 8;
	put_hwaddr(f, option->hwaddr);
}

static void put_echo4(struct frame *f)
{
	struct icmphdr *icmp;

	icmp = put_transport(f, sizeof(*icmp), offsetof(struct icmphdr, checksum));
	icmp->type = ICMP_ECHO;
	put_noise(f, ibfuzz_below(f->rnd, 200));
}

static void put_echo6(struct frame *f)
{
	struct icmp6hdr *icmp;

	icmp = put_transport(f, sizeof(*icmp), offsetof(struct icmp6hdr, icmp6_cksum));
	icmp->icmp6_type = ICMPV6_ECHO_REQUEST;
	put_noise(f, ibfuzz_below(f->rnd, 200));
}

static void put_udp(struct frame *f)
{
	u32 len = ibfuzz_below(f->rnd, 200);
	struct udphdr *udp;

	udp = put_transport(f, sizeof(*udp), offsetof(struct udphdr, check));
	udp->source = htons(1024 + ibfuzz_below(f->rnd, 1024));
	udp->dest = htons(ibfuzz_below(f->rnd, 1024));
	udp->len = htons(sizeof(*udp) + len);
	put_noise(f, len);
}

static void put_tcp(struct frame *f)
{
	struct tcphdr *tcp;

	tcp = put_transport(f, sizeof(*tcp), offsetof(struct tcphdr, check));
	tcp->source = htons(1024 + ibfuzz_below(f->rnd, 1024));
	tcp->dest = htons(ibfuzz_below(f->rnd, 1024));
	tcp->seq = (__force __be32)prandom_u32_state(f->rnd);
	tcp->doff = sizeof(*tcp) / 4;
	tcp->syn = ibfuzz_below(f->rnd, 2);
	tcp->ack = !tcp->syn;
	tcp->window = htons(1000);
	put_noise(f, ibfuzz_below(f->rnd, 200));
}

/* Fragments of few packets, so that some match and some overlap */
static void put_fragment4(struct frame *f)
{
	struct iphdr *ip = (struct iphdr *)(f->data + ENCAP_LEN);

	ip->id = htons(ibfuzz_below(f->rnd, 8));
	ip->frag_off = htons(ibfuzz_below(f->rnd, 16) |
			     (ibfuzz_below(f->rnd, 2) ? IP_MF : 0));
	put_noise(f, 8 * (1 + ibfuzz_below(f->rnd, 16)));
}

static void put_fragment6(struct frame *f)
{
	struct frag_hdr *frag = put(f, sizeof(*frag));

	frag->nexthdr = IPPROTO_UDP;
	frag->identification = htonl(ibfuzz_below(f->rnd, 8));
	frag->frag_off = htons(8 * ibfuzz_below(f->rnd, 16) | ibfuzz_below(f->rnd, 2));
	put_noise(f, 8 * (1 + ibfuzz_below(f->rnd, 16)));
}

/* Filling in lengths and checksums, if the headers are still complete */

static __wsum transport_sum(const struct frame *f)
{
	return csum_partial(f->data + f->transport, f->len - f->transport, 0);
}

static void finish_ip4(struct frame *f)
{
	struct iphdr *ip = (struct iphdr *)(f->data + ENCAP_LEN);
	u32 rest = f->len - f->transport;
	__sum16 *check;

	ip->tot_len = htons(f->len - ENCAP_LEN);
	ip->check = 0;
	ip->check = ip_fast_csum(ip, sizeof(*ip) / 4);
	if (!f->transport || f->check + sizeof(*check) > f->len)
		return;
	check = (__sum16 *)(f->data + f->check);
	*check = 0;
	*check = f->protocol == IPPROTO_ICMP ? csum_fold(transport_sum(f)) :
		 csum_tcpudp_magic(ip->saddr, ip->daddr, rest, f->protocol,
				   transport_sum(f));
}

static void finish_ip6(struct frame *f)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)(f->data + ENCAP_LEN);
	u32 rest = f->len - f->transport;
	__sum16 *check;

	ip->payload_len = htons(f->len - ENCAP_LEN - sizeof(*ip));
	if (!f->transport || f->check + sizeof(*check) > f->len)
		return;
	check = (__sum16 *)(f->data + f->check);
	*check = 0;
	*check = csum_ipv6_magic(&ip->saddr, &ip->daddr, rest, f->protocol,
				 transport_sum(f));
}

/**
 * struct kind - A kind of frames
 * @name: its name
 * @header: adds the header of the network layer
 * @arg: passed to @header: the protocol above, or the type of a message
 * @body: adds what follows the header; NULL if @header does this
 * @finish: fills in lengths and checksums; NULL if there are none
 * @least: the minimum length for which @finish is called
 */
struct kind {
	const char *name;
	void (*header)(struct frame *f, u8 arg);
	u8 arg;
	void (*body)(struct frame *f);
	void (*finish)(struct frame *f);
	u32 least;
};

#define KIND4(name, protocol, body) \
	{ name, put_ip4, protocol, body, finish_ip4, ENCAP_LEN + sizeof(struct iphdr) }
#define KIND6(name, protocol, body) \
	{ name, put_ip6, protocol, body, finish_ip6, ENCAP_LEN + sizeof(struct ipv6hdr) }
#define KIND_ND(name, type) \
	{ name, make_nd, type, NULL, finish_ip6, ENCAP_LEN + sizeof(struct ipv6hdr) }

static const struct kind kinds[] = {
	{ "arp_request", make_arp, ARPOP_REQUEST },
	{ "arp_reply", make_arp, ARPOP_REPLY },
	KIND_ND("nd_ns", NDISC_NEIGHBOUR_SOLICITATION),
	KIND_ND("nd_na", NDISC_NEIGHBOUR_ADVERTISEMENT),
	KIND4("ping4", IPPROTO_ICMP, put_echo4),
	KIND6("ping6", IPPROTO_ICMPV6, put_echo6),
	KIND4("udp4", IPPROTO_UDP, put_udp),
	KIND6("udp6", IPPROTO_UDP, put_udp),
	KIND4("tcp4", IPPROTO_TCP, put_tcp),
	KIND6("tcp6", IPPROTO_TCP, put_tcp),
	KIND4("fragment4", IPPROTO_UDP, put_fragment4),
	KIND6("fragment6", NEXTHDR_FRAGMENT, put_fragment6),
	{ "noise" },
};

static_assert(ARRAY_SIZE(kinds) == IBFUZZ_KINDS);

/**
 * ibfuzz_kind_name() - The name of a kind of frames.
 * @kind: below IBFUZZ_KINDS
 *
 * Context: any.
 * Return: the name.
 */
const char *ibfuzz_kind_name(unsigned int kind)
{
	return kinds[kind].name;
}

static void finish(struct frame *f, const struct kind *kind)
{
	if (kind->finish && f->len >= kind->least)
		kind->finish(f);
}

/* Modifying frames. Each function is called with a frame that is not empty. */

static void spoil_bit(struct frame *f)
{
	f->data[ibfuzz_below(f->rnd, f->len)] ^= 1 << ibfuzz_below(f->rnd, 8);
}

static void spoil_octet(struct frame *f)
{
	f->data[ibfuzz_below(f->rnd, f->len)] = prandom_u32_state(f->rnd);
}

/* Sets a byte of the headers, which may be part of a length or an offset, to an extreme value */
static void spoil_extreme(struct frame *f)
{
	u32 at = ibfuzz_below(f->rnd, min(f->len, 64U));

	f->data[at] = ibfuzz_below(f->rnd, 2) ? 0xff : 0;
}

static void spoil_cut(struct frame *f)
{
	f->len = ibfuzz_below(f->rnd, f->len);
}

static void spoil_extend(struct frame *f)
{
	put_noise(f, ibfuzz_below(f->rnd, min(f->max - f->len, (u32)MAX_TAIL) + 1));
}

static void spoil_ethertype(struct frame *f)
{
	prandom_bytes_state(f->rnd, f->data, min(f->len, 2U));
}

/* RFC 4391, section 6: zero when sent, ignored on receipt */
static void spoil_reserved(struct frame *f)
{
	if (f->len >= ENCAP_LEN)
		prandom_bytes_state(f->rnd, f->data + 2, 2);
}

static void (* const spoils[])(struct frame *f) = {
	spoil_bit, spoil_octet, spoil_extreme, spoil_cut, spoil_extend,
	spoil_ethertype, spoil_reserved,
};

static void spoil(struct frame *f)
{
	u32 n = ibfuzz_below(f->rnd, MAX_SPOILS + 1);

	while (n-- && f->len)
		spoils[ibfuzz_below(f->rnd, ARRAY_SIZE(spoils))](f);
}

/**
 * ibfuzz_frame() - Create a frame.
 * @rnd: generator
 * @ends: the addresses of sender and receiver
 * @index: number of the frame. The kinds take turns, and noise has each length in turn.
 * @max: maximum length of the frame, at least 512
 * @data: filled in; it has room for @max bytes
 *
 * Context: any.
 * Return: the length of the frame.
 */
u32 ibfuzz_frame(struct rnd_state *rnd, const struct ibfuzz_ends *ends, u32 index,
		 u32 max, u8 *data)
{
	const struct kind *kind = &kinds[index % IBFUZZ_KINDS];
	struct frame f = {
		.rnd = rnd, .ends = ends, .data = data, .max = max,
	};

	if (!kind->header) {
		put_noise(&f, index / IBFUZZ_KINDS % (max + 1));
		return f.len;
	}
	kind->header(&f, kind->arg);
	if (kind->body)
		kind->body(&f);
	finish(&f, kind);
	spoil(&f);
	/* A frame with correct checksums gets further into the receiver */
	if (ibfuzz_below(rnd, 2))
		finish(&f, kind);
	return f.len;
}
