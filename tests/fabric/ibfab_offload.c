// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Stateless offloads of UD QPs, for payloads that have the encapsulation header of RFC 4391 (four
 * bytes, with the EtherType) and then IP. Checksum offload computes the checksums of IPv4, TCP and
 * UDP when sending and verifies them when receiving. Large send offload (LSO) turns one WR with a
 * header and much payload into as many TCP segments as necessary.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>

#include "ibfab.h"

#define IBFAB_LSO_MAX		(256 * 1024)	/* bytes of payload in a large send */
#define IBFAB_LSO_HEADER	160		/* bytes: IPoIB, IP, TCP, options */

static char *offload[IBFAB_MAX_HCAS];
static unsigned int num_offload;
module_param_array(offload, charp, &num_offload, 0444);
MODULE_PARM_DESC(offload, "stateless offloads of each HCA: none, csum, or csum+lso (default its profile's)");

/* RFC 4391, 6: the encapsulation header */
struct ipoib_header {
	__be16 type;
	__be16 reserved;
} __packed;

static_assert(sizeof(struct ipoib_header) == 4);

static const char * const counter_names[] = {
	[IBFAB_OFFLOAD_TX_CSUM] = "tx_csum",
	[IBFAB_OFFLOAD_TX_CSUM_NONE] = "tx_csum_none",
	[IBFAB_OFFLOAD_TX_LSO] = "tx_lso",
	[IBFAB_OFFLOAD_TX_LSO_SEGMENTS] = "tx_lso_segments",
	[IBFAB_OFFLOAD_RX_CSUM_OK] = "rx_csum_ok",
	[IBFAB_OFFLOAD_RX_CSUM_BAD] = "rx_csum_bad",
	[IBFAB_OFFLOAD_RX_CSUM_NONE] = "rx_csum_none",
};

static_assert(ARRAY_SIZE(counter_names) == IBFAB_OFFLOAD_NUM);

/* Capabilities */

static int parse(const char *value)
{
	if (!strcmp(value, "none"))
		return 0;
	if (!strcmp(value, "csum"))
		return IBFAB_OFFLOAD_CSUM;
	if (!strcmp(value, "csum+lso"))
		return IBFAB_OFFLOAD_CSUM | IBFAB_OFFLOAD_LSO;
	return -EINVAL;
}

/**
 * ibfab_offload_init() - Check the module parameter.
 *
 * Context: process.
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_offload_init(void)
{
	unsigned int i;

	for (i = 0; i < num_offload; i++) {
		if (parse(offload[i]) < 0) {
			pr_err("offload=%s is not none, csum or csum+lso\n",
			       offload[i]);
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * ibfab_offload_caps() - Get the offloads of an HCA.
 * @index: the HCA's index; if the list is shorter, the last entry applies
 * @otherwise: what the HCA has if the parameter is not set
 *
 * Context: any.
 * Return: bits of enum ibfab_offload.
 */
u8 ibfab_offload_caps(unsigned int index, u8 otherwise)
{
	return num_offload ? parse(offload[min(index, num_offload - 1)]) : otherwise;
}

/**
 * ibfab_offload_query() - Report an HCA's offloads to ib_core.
 * @hca: the HCA
 * @attr: the flags of the offloads are added to it
 *
 * Context: any.
 */
void ibfab_offload_query(const struct ibfab_hca *hca,
			 struct ib_device_attr *attr)
{
	if (hca->caps.offload & IBFAB_OFFLOAD_CSUM)
		attr->device_cap_flags |= IB_DEVICE_UD_IP_CSUM;
	if (hca->caps.offload & IBFAB_OFFLOAD_LSO)
		attr->kernel_cap_flags |= IBK_UD_TSO;
}

/**
 * ibfab_offload_qp_valid() - Whether an HCA has the offloads that a QP asks for.
 * @hca: the HCA
 * @init: the QP's attributes
 *
 * Context: any.
 * Return: true if it has.
 */
bool ibfab_offload_qp_valid(const struct ibfab_hca *hca,
			    const struct ib_qp_init_attr *init)
{
	if (!(init->create_flags & IB_QP_CREATE_IPOIB_UD_LSO))
		return true;
	return init->qp_type == IB_QPT_UD &&
	       (hca->caps.offload & IBFAB_OFFLOAD_LSO);
}

/**
 * ibfab_offload_show() - Print the offload counters of a port.
 * @m: the file, which gets one counter a line
 * @port: the port; a switch's port has none
 *
 * Context: process.
 */
void ibfab_offload_show(struct seq_file *m, const struct ibfab_port *port)
{
	if (port->node->type == IBFAB_NODE_CA)
		ibfab_show_counters(m, port, "offload.", counter_names, port->offload,
				    IBFAB_OFFLOAD_NUM);
}

static void count(struct ibfab_port *port, enum ibfab_offload_counter counter)
{
	atomic64_inc(&port->offload[counter]);
}

/* The contents of a datagram */

/**
 * struct inner - The IP packet in a datagram, and its transport header
 * @ip4: the IPv4 header, or NULL
 * @ip6: the IPv6 header, or NULL
 * @l4: the beginning of the transport header
 * @left: bytes from there to the end of the datagram
 * @protocol: IPPROTO_TCP, IPPROTO_UDP, or 0 for other protocols and fragments, whose
 *	checksum cannot be determined from this packet alone
 */
struct inner {
	struct iphdr *ip4;
	struct ipv6hdr *ip6;
	u8 *l4;
	unsigned int left;
	u8 protocol;
};

static bool find_ip4(struct inner *in, u8 *data, unsigned int len)
{
	struct iphdr *ip = (struct iphdr *)data;
	unsigned int header;

	if (len < sizeof(*ip) || ip->version != 4)
		return false;
	header = ip->ihl * 4;
	if (header < sizeof(*ip) || len < header)
		return false;
	in->ip4 = ip;
	in->l4 = data + header;
	in->left = len - header;
	in->protocol = ip_is_fragment(ip) ? 0 : ip->protocol;
	return true;
}

/* Packets with extension headers have no offload, as on real HCAs */
static bool find_ip6(struct inner *in, u8 *data, unsigned int len)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)data;

	if (len < sizeof(*ip) || ip->version != 6)
		return false;
	in->ip6 = ip;
	in->l4 = data + sizeof(*ip);
	in->left = len - sizeof(*ip);
	in->protocol = ip->nexthdr;
	return true;
}

static bool find_ip(struct inner *in, u8 *data, unsigned int len)
{
	const struct ipoib_header *header = (struct ipoib_header *)data;
	bool found = false;

	*in = (struct inner) {};
	if (len < sizeof(*header))
		return false;
	data += sizeof(*header);
	len -= sizeof(*header);
	if (header->type == htons(ETH_P_IP))
		found = find_ip4(in, data, len);
	else if (header->type == htons(ETH_P_IPV6))
		found = find_ip6(in, data, len);
	if (in->protocol == IPPROTO_TCP && in->left >= sizeof(struct tcphdr))
		return found;
	if (in->protocol == IPPROTO_UDP && in->left >= sizeof(struct udphdr))
		return found;
	in->protocol = 0;
	return found;
}

/* Checksums */

static __sum16 *l4_check(const struct inner *in)
{
	if (in->protocol == IPPROTO_TCP)
		return &((struct tcphdr *)in->l4)->check;
	return &((struct udphdr *)in->l4)->check;
}

/* The length of the transport header and its payload according to the IP header. There may be a pad
 * behind it. Returns 0 if the length is invalid.
 */
static unsigned int l4_len(const struct inner *in)
{
	unsigned int len;

	if (in->ip6)
		len = ntohs(in->ip6->payload_len);
	else
		len = max_t(int, ntohs(in->ip4->tot_len) - in->ip4->ihl * 4, 0);
	if (len < (in->protocol == IPPROTO_TCP ? sizeof(struct tcphdr) :
						 sizeof(struct udphdr)))
		return 0;
	return len <= in->left ? len : 0;
}

/* The checksum of the pseudo-header, the transport header and its payload, including the checksum
 * field as it is
 */
static __sum16 l4_sum(const struct inner *in, unsigned int len)
{
	__wsum sum = csum_partial(in->l4, len, 0);

	if (in->ip6)
		return csum_ipv6_magic(&in->ip6->saddr, &in->ip6->daddr, len,
				       in->protocol, sum);
	return csum_tcpudp_magic(in->ip4->saddr, in->ip4->daddr, len,
				 in->protocol, sum);
}

static void fill_ip4_check(struct iphdr *ip)
{
	ip->check = 0;
	ip->check = ip_fast_csum(ip, ip->ihl);
}

static void fill_l4_check(const struct inner *in, unsigned int len)
{
	__sum16 *check = l4_check(in);

	*check = 0;
	*check = l4_sum(in, len);
	/* RFC 768: a checksum of zero means that there is none */
	if (!*check && in->protocol == IPPROTO_UDP)
		*check = CSUM_MANGLED_0;
}

/**
 * ibfab_csum_fill() - Compute the checksums of a datagram.
 * @port: counts whether there were any
 * @data: the payload of the datagram
 * @len: its length
 *
 * A payload of a kind that has no known checksum is left as it is.
 *
 * Context: the engine.
 */
void ibfab_csum_fill(struct ibfab_port *port, u8 *data, unsigned int len)
{
	struct inner in;
	unsigned int l4;

	if (!find_ip(&in, data, len)) {
		count(port, IBFAB_OFFLOAD_TX_CSUM_NONE);
		return;
	}
	if (in.ip4)
		fill_ip4_check(in.ip4);
	l4 = in.protocol ? l4_len(&in) : 0;
	if (!l4) {
		count(port, IBFAB_OFFLOAD_TX_CSUM_NONE);
		return;
	}
	fill_l4_check(&in, l4);
	count(port, IBFAB_OFFLOAD_TX_CSUM);
}

static enum ibfab_offload_counter verify(u8 *data, unsigned int len)
{
	struct inner in;
	unsigned int l4;

	if (!find_ip(&in, data, len))
		return IBFAB_OFFLOAD_RX_CSUM_NONE;
	if (in.ip4 && ip_fast_csum(in.ip4, in.ip4->ihl))
		return IBFAB_OFFLOAD_RX_CSUM_BAD;
	if (!in.protocol)
		return IBFAB_OFFLOAD_RX_CSUM_NONE;
	if (in.protocol == IPPROTO_UDP && !*l4_check(&in))
		return IBFAB_OFFLOAD_RX_CSUM_NONE;
	l4 = l4_len(&in);
	return l4 && !l4_sum(&in, l4) ? IBFAB_OFFLOAD_RX_CSUM_OK :
					IBFAB_OFFLOAD_RX_CSUM_BAD;
}

/**
 * ibfab_csum_verify() - Verify the checksums of a datagram that came in.
 * @qp: the QP that receives it
 * @port: counts the result
 * @h: the headers of the datagram
 *
 * Context: the engine.
 * Return: IB_WC_IP_CSUM_OK if the checksums of TCP or UDP and of an IPv4 header are right, 0 if
 * they are not, if there are none, or if the HCA does not verify them.
 */
int ibfab_csum_verify(const struct ibfab_qp *qp, struct ibfab_port *port,
		      const struct ibfab_hdrs *h)
{
	enum ibfab_offload_counter result;

	if (!(qp->hca->caps.offload & IBFAB_OFFLOAD_CSUM) ||
	    qp->ibqp.qp_type != IB_QPT_UD)
		return 0;
	result = verify(h->payload, h->payload_len);
	count(port, result);
	return result == IBFAB_OFFLOAD_RX_CSUM_OK ? IB_WC_IP_CSUM_OK : 0;
}

/**
 * ibfab_csum_heeded() - Whether the HCA computes the checksums of a datagram.
 * @qp: the QP that sends it
 * @wr: the WR
 *
 * Some HCAs silently ignore IB_SEND_IP_CSUM on QPs that were not created for LSO.
 *
 * Context: the engine.
 * Return: true if it does.
 */
bool ibfab_csum_heeded(const struct ibfab_qp *qp, const struct ibfab_swr *wr)
{
	if (!(wr->flags & IB_SEND_IP_CSUM))
		return false;
	return !(qp->hca->caps.offload & IBFAB_OFFLOAD_CSUM_LSO_QP) ||
	       (qp->create_flags & IB_QP_CREATE_IPOIB_UD_LSO);
}

/* Large send */

/**
 * ibfab_lso_room() - The room that a send queue's slot needs for an LSO header.
 * @create_flags: the QP's enum ib_qp_create_flags
 *
 * Context: any.
 * Return: the number of bytes.
 */
size_t ibfab_lso_room(u32 create_flags)
{
	return create_flags & IB_QP_CREATE_IPOIB_UD_LSO ? IBFAB_LSO_HEADER : 0;
}

/* The header is at the end of the slot */
static u8 *lso_header(const struct ibfab_qp *qp, const struct ibfab_swr *wr)
{
	return (u8 *)wr + qp->sq.stride - IBFAB_LSO_HEADER;
}

/* Whether the header that was posted is valid: it must end at the end of its TCP header */
static bool template_valid(u8 *header, unsigned int len)
{
	struct inner in;

	return find_ip(&in, header, len) && in.protocol == IPPROTO_TCP &&
	       in.left == ((struct tcphdr *)in.l4)->doff * 4;
}

static int fill_lso(const struct ibfab_qp *qp, struct ibfab_swr *swr,
		    const struct ib_ud_wr *ud)
{
	u8 *header = lso_header(qp, swr);

	if (!(qp->create_flags & IB_QP_CREATE_IPOIB_UD_LSO) ||
	    (swr->flags & IB_SEND_INLINE))
		return -EINVAL;
	if (ud->hlen <= 0 || ud->hlen > IBFAB_LSO_HEADER || ud->mss <= 0 ||
	    ud->mss > IBFAB_LSO_MAX)
		return -EINVAL;
	memcpy(header, ud->header, ud->hlen);
	swr->hlen = ud->hlen;
	swr->mss = ud->mss;
	return template_valid(header, swr->hlen) ? 0 : -EINVAL;
}

/**
 * ibfab_offload_fill() - Fill in the offloads that a WR asks for.
 * @qp: the QP
 * @swr: the WR's slot, which is filled in except for payload and length
 * @wr: the WR that was posted
 *
 * Context: any, the send queue's lock held.
 * Return: 0, or -EINVAL for an offload that the HCA or the QP does not have.
 */
int ibfab_offload_fill(const struct ibfab_qp *qp, struct ibfab_swr *swr,
		       const struct ib_send_wr *wr)
{
	if ((wr->send_flags & IB_SEND_IP_CSUM) &&
	    (qp->ibqp.qp_type != IB_QPT_UD ||
	     !(qp->hca->caps.offload & IBFAB_OFFLOAD_CSUM)))
		return -EINVAL;
	if (wr->opcode != IB_WR_LSO)
		return 0;
	return fill_lso(qp, swr, ud_wr(wr));
}

/**
 * ibfab_lso_longest() - The length of the largest datagram that a WR sends.
 * @wr: the WR, which may be a large send
 *
 * Context: the engine.
 * Return: bytes of payload.
 */
u32 ibfab_lso_longest(const struct ibfab_swr *wr)
{
	if (wr->opcode != IB_WR_LSO)
		return wr->length;
	return wr->hlen + min(wr->mss, wr->length);
}

/* Adapts the header to the segment at @offset. FIN and PSH belong to the last segment only, and CWR
 * to the first.
 */
static void fit_header(u8 *data, const struct ibfab_swr *wr, u32 offset,
		       u32 len)
{
	struct tcphdr *tcp;
	struct inner in;

	find_ip(&in, data, wr->hlen);
	tcp = (struct tcphdr *)in.l4;
	if (in.ip4) {
		in.ip4->tot_len = htons(in.ip4->ihl * 4 + in.left + len);
		in.ip4->id = htons(ntohs(in.ip4->id) + offset / wr->mss);
	} else {
		in.ip6->payload_len = htons(in.left + len);
	}
	tcp->seq = htonl(ntohl(tcp->seq) + offset);
	if (offset)
		tcp->cwr = 0;
	if (offset + len < wr->length) {
		tcp->fin = 0;
		tcp->psh = 0;
	}
}

static void send_segment(struct ibfab_qp *qp, struct ibfab_port *port,
			 const struct ibfab_swr *wr, u32 offset)
{
	u32 len = min(wr->mss, wr->length - offset);
	struct ibfab_pkt *pkt;
	u8 *payload;

	pkt = ibfab_ud_build(qp, port, wr, wr->hlen + len, &payload);
	if (!pkt) {
		atomic64_inc(&port->drop[IBFAB_DROP_TX_NO_MEMORY]);
		return;
	}
	memcpy(payload, lso_header(qp, wr), wr->hlen);
	ibfab_gather(payload + wr->hlen, wr, offset, len);
	fit_header(payload, wr, offset, len);
	if (wr->flags & IB_SEND_IP_CSUM)
		ibfab_csum_fill(port, payload, wr->hlen + len);
	count(port, IBFAB_OFFLOAD_TX_LSO_SEGMENTS);
	ibfab_ud_transmit(qp, port, wr, pkt);
}

/**
 * ibfab_lso_send() - Send all segments of a large send.
 * @qp: the QP
 * @port: the port of the QP
 * @wr: the WR
 *
 * Context: the engine.
 */
void ibfab_lso_send(struct ibfab_qp *qp, struct ibfab_port *port,
		    const struct ibfab_swr *wr)
{
	u32 offset = 0;

	count(port, IBFAB_OFFLOAD_TX_LSO);
	do {
		send_segment(qp, port, wr, offset);
		offset += wr->mss;
	} while (offset < wr->length);
}
