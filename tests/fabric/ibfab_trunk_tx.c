// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The sending direction of the trunk: packets become frames, in order, as soon as there is credit
 * for them. Each packet is kept until the other end acknowledges it. If a frame was lost, its
 * packet and all later ones are sent again.
 *
 * SMPs go first and need no credit. If too many wait they are dropped, because VL15 has no flow
 * control (3.5.8.1).
 */
#include <linux/etherdevice.h>
#include <linux/jiffies.h>

#include "ibfab_trunk.h"

#define TIMEOUT_MS	200	/* for an acknowledgment; doubled by each time-out ... */
#define MAX_BACKOFF	3	/* ... up to this number */

static const u8 everyone[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

static bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/**
 * ibfab_trunk_tx_reset() - Reset the sending direction, as there is no link.
 *
 * Context: the engine.
 */
void ibfab_trunk_tx_reset(void)
{
	struct ibfab_trunk_tx *tx = &ibfab_trunk.tx;
	unsigned int waiting = tx->num_smps + tx->num_data;

	ibfab_trunk_go_on(&tx->blocked, IBFAB_TRUNK_CREDIT_WAIT_US);
	ibfab_trunk_drop(&tx->resend);
	ibfab_trunk_drop(&tx->unacked);
	ibfab_trunk_drop(&tx->smps);
	ibfab_trunk_drop(&tx->data);
	*tx = (struct ibfab_trunk_tx) {
		.smps = LIST_HEAD_INIT(tx->smps),
		.data = LIST_HEAD_INIT(tx->data),
		.resend = LIST_HEAD_INIT(tx->resend),
		.unacked = LIST_HEAD_INIT(tx->unacked),
	};
	ibfab_inbox_done(&ibfab_trunk.inbox, waiting);
}

/* Frees the packets that the other end has acknowledged. The list is in the order of sequence
 * numbers.
 */
static void free_acked(struct ibfab_trunk_tx *tx, struct list_head *list)
{
	struct ibfab_pkt *pkt, *tmp;

	list_for_each_entry_safe(pkt, tmp, list, list) {
		if (!before(pkt->seq, tx->ack))
			return;
		list_del(&pkt->list);
		if (ibfab_pkt_is_smp(pkt))
			tx->unacked_smps--;
		ibfab_pkt_free(pkt);
	}
}

/**
 * ibfab_trunk_tx_acked() - Process an acknowledgment of the other end.
 * @ack: it has received all packets before this one
 * @limit: how many data packets may be sent
 *
 * Context: the engine.
 */
void ibfab_trunk_tx_acked(u32 ack, u32 limit)
{
	struct ibfab_trunk_tx *tx = &ibfab_trunk.tx;

	if (before(tx->seq, ack)) {
		ibfab_trunk_count(IBFAB_TRUNK_MALFORMED);
		return;
	}
	if (before(tx->limit, limit))
		tx->limit = limit;
	if (!before(tx->ack, ack))
		return;
	tx->ack = ack;
	tx->progress = jiffies;
	tx->backoff = 0;
	free_acked(tx, &tx->unacked);
	free_acked(tx, &tx->resend);
}

/**
 * ibfab_trunk_tx_again() - Send all unacknowledged packets again.
 *
 * Context: the engine.
 */
void ibfab_trunk_tx_again(void)
{
	struct ibfab_trunk_tx *tx = &ibfab_trunk.tx;

	list_splice_init(&tx->unacked, &tx->resend);
}

static unsigned long timeout_at(const struct ibfab_trunk_tx *tx)
{
	return tx->progress + msecs_to_jiffies(TIMEOUT_MS << tx->backoff);
}

static void check_timeout(struct ibfab_trunk_tx *tx)
{
	if (list_empty(&tx->unacked) || time_before(jiffies, timeout_at(tx)))
		return;
	tx->progress = jiffies;
	if (tx->backoff < MAX_BACKOFF)
		tx->backoff++;
	ibfab_trunk_count(IBFAB_TRUNK_TIMEOUTS);
	ibfab_trunk_tx_again();
}

static void put_frame(struct sk_buff *skb, const struct ibfab_pkt *pkt,
		      unsigned int offset, unsigned int length)
{
	struct ibfab_trunk_data *data;

	ibfab_trunk_fill_hdr(skb_put(skb, sizeof(struct ibfab_trunk_hdr)),
			     IBFAB_TRUNK_DATA);
	data = skb_put(skb, sizeof(*data));
	*data = (struct ibfab_trunk_data) {
		.seq = cpu_to_be32(pkt->seq),
		.total = cpu_to_be16(pkt->frame->len),
		.offset = cpu_to_be16(offset),
		.length = cpu_to_be16(length),
		.hops = pkt->hops,
	};
	skb_put_data(skb, pkt->frame->data + offset, length);
}

static bool send_part(const struct ibfab_pkt *pkt, unsigned int offset,
		      unsigned int length)
{
	struct sk_buff *skb;

	skb = ibfab_trunk_dev_alloc(IBFAB_TRUNK_OVERHEAD + length);
	if (!skb)
		return false;
	put_frame(skb, pkt, offset, length);
	if (!ibfab_trunk_dev_send(skb, ibfab_trunk.peer_mac))
		return false;
	ibfab_trunk_count(IBFAB_TRUNK_FRAMES_SENT);
	return true;
}

/* Sends a packet in as many frames as necessary. Returns false if the device refuses one. */
static bool send_packet(const struct ibfab_pkt *pkt)
{
	unsigned int room = ibfab_trunk_dev_mtu() - IBFAB_TRUNK_OVERHEAD;
	unsigned int offset, length, total = pkt->frame->len;

	for (offset = 0; offset < total; offset += length) {
		length = min(room, total - offset);
		if (!send_part(pkt, offset, length))
			return false;
	}
	return true;
}

/* Assigns a sequence number to a packet that is sent for the first time, and makes room for another
 * one in the input queue
 */
static struct ibfab_pkt *number(struct ibfab_trunk_tx *tx, struct ibfab_pkt *pkt)
{
	pkt->seq = tx->seq++;
	ibfab_trunk_count(IBFAB_TRUNK_PACKETS_SENT);
	ibfab_inbox_done(&ibfab_trunk.inbox, 1);
	return pkt;
}

static struct ibfab_pkt *next_smp(struct ibfab_trunk_tx *tx)
{
	if (list_empty(&tx->smps) || tx->unacked_smps >= IBFAB_TRUNK_SMPS)
		return NULL;
	tx->num_smps--;
	tx->unacked_smps++;
	return number(tx, ibfab_pkt_pop(&tx->smps));
}

static struct ibfab_pkt *next_data(struct ibfab_trunk_tx *tx)
{
	if (list_empty(&tx->data))
		return NULL;
	if (!before(tx->sent_data, tx->limit)) {
		ibfab_count(ibfab_trunk.far_port, IBFAB_CNT_XMIT_WAIT);
		ibfab_trunk_wait(&tx->blocked, IBFAB_TRUNK_CREDIT_WAITS);
		return NULL;
	}
	ibfab_trunk_go_on(&tx->blocked, IBFAB_TRUNK_CREDIT_WAIT_US);
	tx->num_data--;
	tx->sent_data++;
	return number(tx, ibfab_pkt_pop(&tx->data));
}

static struct ibfab_pkt *next_packet(struct ibfab_trunk_tx *tx)
{
	struct ibfab_pkt *pkt;

	if (!list_empty(&tx->resend)) {
		ibfab_trunk_count(IBFAB_TRUNK_PACKETS_RESENT);
		return ibfab_pkt_pop(&tx->resend);
	}
	pkt = next_smp(tx);
	return pkt ?: next_data(tx);
}

/* The device refused a packet, which will be the first to be sent again */
static void refuse(struct ibfab_trunk_tx *tx, struct ibfab_pkt *pkt)
{
	list_add(&pkt->list, &tx->resend);
	tx->refused = true;
	tx->retry = jiffies + 1;
}

static void sent(struct ibfab_trunk_tx *tx, struct ibfab_pkt *pkt)
{
	if (list_empty(&tx->unacked))
		tx->progress = jiffies;
	list_add_tail(&pkt->list, &tx->unacked);
}

static void drop_smp(struct ibfab_pkt *pkt)
{
	ibfab_count(ibfab_trunk.far_port, IBFAB_CNT_VL15_DROPPED);
	ibfab_pkt_drop(pkt, ibfab_trunk.far_port, IBFAB_DROP_TRUNK_VL15);
	ibfab_inbox_done(&ibfab_trunk.inbox, 1);
}

static void queue_packet(struct ibfab_trunk_tx *tx, struct ibfab_pkt *pkt)
{
	if (!ibfab_pkt_is_smp(pkt)) {
		tx->num_data++;
		list_add_tail(&pkt->list, &tx->data);
	} else if (tx->num_smps < IBFAB_TRUNK_SMPS) {
		tx->num_smps++;
		list_add_tail(&pkt->list, &tx->smps);
	} else {
		drop_smp(pkt);
	}
}

static void collect(struct ibfab_trunk_tx *tx)
{
	struct ibfab_pkt *pkt;
	LIST_HEAD(list);

	ibfab_inbox_take(&ibfab_trunk.inbox, &list);
	while ((pkt = ibfab_pkt_pop(&list)))
		queue_packet(tx, pkt);
}

/**
 * ibfab_trunk_tx_run() - Send the packets that the fabric has for the other end.
 *
 * Context: the engine.
 * Return: whether there is more that can be sent now.
 */
bool ibfab_trunk_tx_run(void)
{
	struct ibfab_trunk_tx *tx = &ibfab_trunk.tx;
	struct ibfab_pkt *pkt;
	unsigned int n;

	collect(tx);
	if (ibfab_trunk.state != IBFAB_TRUNK_UP) {
		ibfab_trunk_tx_reset();
		return false;
	}
	if (tx->refused && time_before(jiffies, tx->retry))
		return false;
	tx->refused = false;
	check_timeout(tx);
	for (n = 0; n < IBFAB_TRUNK_BUDGET; n++) {
		pkt = next_packet(tx);
		if (!pkt)
			return false;
		if (!send_packet(pkt)) {
			refuse(tx, pkt);
			return false;
		}
		sent(tx, pkt);
	}
	return true;
}

static void sooner(unsigned long *due, unsigned long when)
{
	if (time_before(when, *due))
		*due = when;
}

/**
 * ibfab_trunk_tx_due() - When the engine must run even if it is not kicked.
 * @due: moved to an earlier time if necessary, in jiffies
 *
 * Context: the engine.
 */
void ibfab_trunk_tx_due(unsigned long *due)
{
	struct ibfab_trunk_tx *tx = &ibfab_trunk.tx;

	if (tx->refused)
		sooner(due, tx->retry);
	if (!list_empty(&tx->unacked))
		sooner(due, timeout_at(tx));
}

/**
 * ibfab_trunk_tx_hello() - Send a frame without data.
 * @flags: 0 or IBFAB_TRUNK_NAK
 *
 * Without a link it is broadcast. A frame that is lost is not sent again, because the next one has
 * the same information.
 *
 * Context: the engine.
 */
void ibfab_trunk_tx_hello(u8 flags)
{
	bool up = ibfab_trunk.state == IBFAB_TRUNK_UP;
	struct sk_buff *skb;

	skb = ibfab_trunk_dev_alloc(sizeof(struct ibfab_trunk_hdr));
	if (!skb)
		return;
	ibfab_trunk_fill_hdr(skb_put(skb, sizeof(struct ibfab_trunk_hdr)),
			     flags);
	if (ibfab_trunk_dev_send(skb, up ? ibfab_trunk.peer_mac : everyone))
		ibfab_trunk_count(IBFAB_TRUNK_HELLOS_SENT);
}
