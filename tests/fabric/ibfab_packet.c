// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets: allocating, copying and dropping them, and finding their headers.
 */
#include "ibfab.h"

static unsigned int frame_bytes(unsigned int len)
{
	return offsetof(struct ibfab_frame, data) + len;
}

/**
 * ibfab_pkt_alloc() - Allocate a packet.
 * @len: number of bytes from LRH through ICRC
 *
 * Context: any.
 * Return: the packet, whose bytes are not initialised, or NULL if there is no memory.
 */
struct ibfab_pkt *ibfab_pkt_alloc(unsigned int len)
{
	struct ibfab_frame *frame;
	struct ibfab_pkt *pkt = ibfab_pool_get(sizeof(*pkt));

	if (!pkt)
		return NULL;
	frame = ibfab_pool_get(frame_bytes(len));
	if (!frame) {
		ibfab_pool_put(pkt, sizeof(*pkt));
		return NULL;
	}
	refcount_set(&frame->refs, 1);
	frame->len = len;
	*pkt = (struct ibfab_pkt) { .frame = frame };
	return pkt;
}

/**
 * ibfab_pkt_clone() - Copy a packet, sharing its bytes.
 * @pkt: the original
 *
 * Context: any.
 * Return: the copy, or NULL if there is no memory. The bytes of both must not be written
 * afterwards.
 */
struct ibfab_pkt *ibfab_pkt_clone(const struct ibfab_pkt *pkt)
{
	struct ibfab_pkt *clone = ibfab_pool_get(sizeof(*clone));

	if (!clone)
		return NULL;
	*clone = *pkt;
	refcount_inc(&clone->frame->refs);
	return clone;
}

/**
 * ibfab_pkt_copy() - Copy a packet with its bytes, or the first of them.
 * @pkt: the original
 * @len: how many bytes the copy has, at most as many as the original
 *
 * Context: any.
 * Return: the copy, whose bytes may be written, or NULL if there is no memory.
 */
struct ibfab_pkt *ibfab_pkt_copy(const struct ibfab_pkt *pkt, unsigned int len)
{
	struct ibfab_pkt *copy = ibfab_pkt_alloc(len);
	struct ibfab_frame *frame;

	if (!copy)
		return NULL;
	frame = copy->frame;
	memcpy(frame->data, pkt->frame->data, len);
	*copy = *pkt;
	copy->frame = frame;
	return copy;
}

/**
 * ibfab_pkt_free() - Free a packet that was delivered.
 * @pkt: the packet, which is consumed
 *
 * Context: any.
 */
void ibfab_pkt_free(struct ibfab_pkt *pkt)
{
	if (refcount_dec_and_test(&pkt->frame->refs))
		ibfab_pool_put(pkt->frame, frame_bytes(pkt->frame->len));
	ibfab_pool_put(pkt, sizeof(*pkt));
}

/**
 * ibfab_pkt_drop() - Free a packet that is dropped, and count it.
 * @pkt: the packet, which is consumed
 * @port: the port at which it is dropped
 * @reason: the reason
 *
 * Context: any.
 */
void ibfab_pkt_drop(struct ibfab_pkt *pkt, struct ibfab_port *port,
		    enum ibfab_drop reason)
{
	atomic64_inc(&port->drop[reason]);
	ibfab_pkt_free(pkt);
}

/* 8.3.1: the checks by which a receiver decides whether a GRH is valid */
static bool grh_valid(const struct ib_grh *grh, unsigned int rest)
{
	return be32_to_cpu(grh->version_tclass_flow) >> 28 == IBFAB_GRH_IPVER &&
	       grh->next_hdr == IBFAB_GRH_NEXT_HDR &&
	       be16_to_cpu(grh->paylen) == rest;
}

/* A position in a packet. Each call of take() returns it and moves on by one header. */
struct cursor {
	u8 *at;
	unsigned int left;
};

static void *take(struct cursor *c, unsigned int bytes)
{
	void *at = c->at;

	if (c->left < bytes)
		return NULL;
	c->at += bytes;
	c->left -= bytes;
	return at;
}

static bool parse_network(struct cursor *c, struct ibfab_hdrs *h)
{
	u8 lnh;

	h->lrh = take(c, sizeof(*h->lrh));
	if (!h->lrh || h->lrh->vl_lver & 0x0f)
		return false;

	lnh = h->lrh->sl_lnh & 3;
	h->grh = NULL;
	if (lnh == IB_LNH_IBA_LOCAL)
		return true;
	if (lnh != IB_LNH_IBA_GLOBAL)
		return false;
	h->grh = take(c, sizeof(*h->grh));
	return h->grh && grh_valid(h->grh, c->left);
}

static bool parse_transport(struct cursor *c, struct ibfab_hdrs *h)
{
	h->bth = take(c, sizeof(*h->bth));
	if (!h->bth || h->bth->flags & IBFAB_BTH_TVER_MASK)
		return false;

	h->deth = NULL;
	h->imm = NULL;
	if ((h->bth->opcode & IBFAB_BTH_TRANSPORT) != IB_OPCODE_UD)
		return true;
	h->deth = take(c, sizeof(*h->deth));
	if (!h->deth)
		return false;
	if (h->bth->opcode != IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE)
		return true;
	h->imm = take(c, IBFAB_IMM_BYTES);
	return h->imm;
}

/**
 * ibfab_pkt_parse() - Find and validate the headers of a packet.
 * @pkt: the packet
 * @h: filled in
 *
 * Context: any.
 * Return: false if the packet is malformed: wrong versions of LRH, GRH or BTH, or lengths that
 * disagree (7.8, 8.3, 9.2).
 */
bool ibfab_pkt_parse(const struct ibfab_pkt *pkt, struct ibfab_hdrs *h)
{
	struct cursor c = { .at = pkt->frame->data, .left = pkt->frame->len };
	unsigned int tail, words;

	if (!parse_network(&c, h))
		return false;
	words = be16_to_cpu(h->lrh->pktlen) & IBFAB_LRH_PKTLEN_MASK;
	if (words * 4 != pkt->frame->len)
		return false;
	if (!parse_transport(&c, h))
		return false;

	tail = IB_ICRC_BYTES + (h->bth->flags >> IBFAB_BTH_PAD_SHIFT &
				IBFAB_BTH_PAD_MASK);
	if (c.left < tail)
		return false;
	h->payload = c.at;
	h->payload_len = c.left - tail;
	return true;
}
