// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The receiving direction of the trunk: frames become packets again, in order, and are passed to
 * the fabric. Data packets wait while the input queue of an HCA is full, which reduces the credit
 * of the other end. SMPs do not wait.
 */
#include <linux/etherdevice.h>

#include "ibfab_trunk.h"

#define TELL_PACKETS	16	/* tell the other end after so many packets */
#define TELL_CREDITS	(IBFAB_TRUNK_WINDOW / 4)
#define MIN_PACKET	(IB_LRH_BYTES + IB_BTH_BYTES + IB_ICRC_BYTES)

static void drop_partial(struct ibfab_trunk_rx *rx)
{
	if (rx->partial)
		ibfab_pkt_free(rx->partial);
	rx->partial = NULL;
	rx->offset = 0;
}

/**
 * ibfab_trunk_rx_reset() - Reset the receiving direction, as there is no link.
 *
 * Context: the engine.
 */
void ibfab_trunk_rx_reset(void)
{
	struct ibfab_trunk_rx *rx = &ibfab_trunk.rx;

	ibfab_trunk_go_on(&rx->blocked, IBFAB_TRUNK_HELD_BACK_US);
	drop_partial(rx);
	ibfab_trunk_drop(&rx->data);
	*rx = (struct ibfab_trunk_rx) {
		.data = LIST_HEAD_INIT(rx->data),
	};
}

static void tell_soon(struct ibfab_trunk_rx *rx)
{
	if (rx->tell_soon)
		return;
	rx->tell_soon = true;
	rx->tell_at = jiffies + 1;
}

/* A frame was lost, because a part came before one that precedes it. A NAK is sent once, and again
 * only if the other end has started again and lost the same frame.
 */
static void note_gap(struct ibfab_trunk_rx *rx, u32 seq, u16 offset)
{
	bool again = seq == rx->gap_seq ? offset <= rx->gap_offset :
					  (s32)(seq - rx->gap_seq) < 0;

	ibfab_trunk_count(IBFAB_TRUNK_OUT_OF_ORDER);
	if (!rx->gap || again) {
		ibfab_trunk_count(IBFAB_TRUNK_NAKS_SENT);
		ibfab_trunk_tx_hello(IBFAB_TRUNK_NAK);
	}
	rx->gap = true;
	rx->gap_seq = seq;
	rx->gap_offset = offset;
}

static bool has_room(const struct ibfab_trunk_rx *rx, bool smp)
{
	return smp || rx->received - rx->taken < IBFAB_TRUNK_WINDOW;
}

static void take_packet(struct ibfab_trunk_rx *rx)
{
	bool smp = ibfab_pkt_is_smp(rx->partial);
	struct ibfab_pkt *pkt = rx->partial;

	if (!has_room(rx, smp)) {
		ibfab_trunk_count(IBFAB_TRUNK_OVERRUN);
		drop_partial(rx);
		return;
	}
	rx->partial = NULL;
	rx->offset = 0;
	rx->seq++;
	ibfab_trunk_count(IBFAB_TRUNK_PACKETS_RECEIVED);
	if (rx->seq - rx->told_seq >= TELL_PACKETS)
		rx->tell = true;
	else
		tell_soon(rx);
	if (smp) {
		ibfab_wire_send(ibfab_trunk.port, pkt);
		return;
	}
	rx->received++;
	list_add_tail(&pkt->list, &rx->data);
}

static bool begin_packet(struct ibfab_trunk_rx *rx,
			 const struct ibfab_trunk_data *data)
{
	drop_partial(rx);
	rx->partial = ibfab_pkt_alloc(be16_to_cpu(data->total));
	if (!rx->partial) {
		ibfab_trunk_count(IBFAB_TRUNK_NO_MEMORY);
		return false;
	}
	rx->partial->source = &ibfab_trunk.sender;
	rx->partial->hops = data->hops;
	return true;
}

/* Takes the part that is expected, or the first part of the packet again */
static void take_part(struct ibfab_trunk_rx *rx, const struct sk_buff *skb,
		      const struct ibfab_trunk_data *data)
{
	u16 offset = be16_to_cpu(data->offset);
	u16 length = be16_to_cpu(data->length);

	if (!offset && !begin_packet(rx, data))
		return;
	if (rx->partial->frame->len != be16_to_cpu(data->total)) {
		ibfab_trunk_count(IBFAB_TRUNK_MALFORMED);
		return;
	}
	rx->gap = false;
	skb_copy_bits(skb, IBFAB_TRUNK_OVERHEAD,
		      rx->partial->frame->data + offset, length);
	rx->offset = offset + length;
	if (rx->offset == rx->partial->frame->len)
		take_packet(rx);
}

static void place_part(struct ibfab_trunk_rx *rx, const struct sk_buff *skb,
		       const struct ibfab_trunk_data *data)
{
	u16 offset = be16_to_cpu(data->offset);
	u32 seq = be32_to_cpu(data->seq);

	if ((s32)(seq - rx->seq) > 0 ||
	    (seq == rx->seq && offset > rx->offset)) {
		note_gap(rx, seq, offset);
	} else if (seq == rx->seq && (!offset || offset == rx->offset)) {
		take_part(rx, skb, data);
	} else {
		ibfab_trunk_count(IBFAB_TRUNK_DUPLICATE);
		rx->tell = true;
	}
}

static bool data_valid(const struct sk_buff *skb,
		       const struct ibfab_trunk_data *data)
{
	unsigned int offset = be16_to_cpu(data->offset);
	unsigned int length = be16_to_cpu(data->length);
	unsigned int total = be16_to_cpu(data->total);

	return length && offset + length <= total && total >= MIN_PACKET &&
	       total <= IBFAB_TRUNK_MAX_PACKET &&
	       length <= skb->len - IBFAB_TRUNK_OVERHEAD;
}

static void take_data(const struct sk_buff *skb)
{
	const struct ibfab_trunk_data *data;
	struct ibfab_trunk_data copy;

	ibfab_trunk_count(IBFAB_TRUNK_FRAMES_RECEIVED);
	data = skb_header_pointer(skb, sizeof(struct ibfab_trunk_hdr),
				  sizeof(copy), &copy);
	if (!data || !data_valid(skb, data)) {
		ibfab_trunk_count(IBFAB_TRUNK_MALFORMED);
		return;
	}
	place_part(&ibfab_trunk.rx, skb, data);
}

static void take_frame(const struct sk_buff *skb)
{
	const struct ibfab_trunk_hdr *hdr;
	struct ibfab_trunk_hdr copy;

	hdr = skb_header_pointer(skb, 0, sizeof(copy), &copy);
	if (!hdr || hdr->version != IBFAB_TRUNK_VERSION || !hdr->from) {
		ibfab_trunk_count(IBFAB_TRUNK_MALFORMED);
		return;
	}
	if (!(hdr->flags & IBFAB_TRUNK_DATA))
		ibfab_trunk_count(IBFAB_TRUNK_HELLOS_RECEIVED);
	if (!ibfab_trunk_heard(eth_hdr(skb)->h_source, hdr))
		return;
	ibfab_trunk_tx_acked(be32_to_cpu(hdr->ack), be32_to_cpu(hdr->limit));
	if (hdr->flags & IBFAB_TRUNK_NAK) {
		ibfab_trunk_count(IBFAB_TRUNK_NAKS_RECEIVED);
		ibfab_trunk_tx_again();
	}
	if (hdr->flags & IBFAB_TRUNK_DATA)
		take_data(skb);
}

/* Passes data packets to the fabric. Returns whether there are more that it would take now. */
static bool deliver(struct ibfab_trunk_rx *rx)
{
	unsigned int n;

	for (n = 0; n < IBFAB_TRUNK_BUDGET && !list_empty(&rx->data); n++) {
		if (atomic_read(&ibfab_trunk.sender.blockers)) {
			ibfab_trunk_wait(&rx->blocked, IBFAB_TRUNK_HELD_BACK);
			break;
		}
		ibfab_trunk_go_on(&rx->blocked, IBFAB_TRUNK_HELD_BACK_US);
		rx->taken++;
		ibfab_wire_send(ibfab_trunk.port, ibfab_pkt_pop(&rx->data));
	}
	if (rx->taken + IBFAB_TRUNK_WINDOW - rx->told_limit >= TELL_CREDITS)
		rx->tell = true;
	return !list_empty(&rx->data) && !rx->blocked.on;
}

/**
 * ibfab_trunk_rx_run() - Read frames, and pass packets to the fabric.
 *
 * Context: the engine.
 * Return: whether there is more that can be done now.
 */
bool ibfab_trunk_rx_run(void)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;
	struct sk_buff *skb;
	unsigned int n;
	bool again;

	for (n = 0; n < IBFAB_TRUNK_BUDGET; n++) {
		skb = skb_dequeue(&trunk->frames);
		if (!skb)
			break;
		take_frame(skb);
		consume_skb(skb);
	}
	again = trunk->state == IBFAB_TRUNK_UP && deliver(&trunk->rx);
	return again || !skb_queue_empty(&trunk->frames);
}
