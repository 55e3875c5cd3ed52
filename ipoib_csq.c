// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sending by a connection: the slots of its QP, and the packets that wait for one.
 *
 * A packet is one message. It keeps its socket's memory charged until the peer has acknowledged
 * it, so that a peer that does not receive only stops the sockets that send to it.
 */
#include "ipoib.h"
#include "ipoib_csum.h"
#include "ipoib_map.h"

/* Limits of the memory of packets that wait for a slot of one connection, in octets: of packets
 * that are forwarded, and of those of sockets, which have limits of their own
 */
#define CSQ_WAITING_MAX		SZ_1M
#define CSQ_WAITING_SOCKETS	SZ_16M

/* One of so many WRs requests a CQE in any case, to have the slots of short packets freed. There
 * are several of them among the WRs of a full queue. So does the first one that is posted some time
 * after the last CQE, so that a connection that is stuck is noticed.
 */
#define CSQ_SIGNAL		(IPOIB_CSQ_SIZE / 4)
#define CSQ_SIGNAL_AGAIN	HZ

/* The least octets that are worth while to have copied by the HCA: a TCP segment without data */
#define CSQ_INLINE_LEAST	64

static u32 csq_used(const struct ipoib_csq *sq)
{
	return sq->head - sq->tail;
}

static struct ipoib_tx_buf *csq_slot(const struct ipoib_csq *sq, u32 index)
{
	return &sq->buf[index & (IPOIB_CSQ_SIZE - 1)];
}

/* Returns whether a CQE is due */
static bool csq_awaits(const struct ipoib_csq *sq)
{
	return (s32)(sq->asked - sq->tail) > 0;
}

/* Accepts no more packets, and posts none of those that wait */
static void csq_stop(struct ipoib_csq *sq)
{
	WRITE_ONCE(sq->open, false);
	sq->posts = false;
}

/* Has the connection closed, since it does not work */
static void csq_break(struct ipoib_conn *conn)
{
	csq_stop(&conn->sq);
	set_bit(IPOIB_CONN_BROKEN, &conn->events);
	ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
}

/* Returns whether the next WR requests a CQE in any case */
static bool csq_asks(const struct ipoib_csq *sq)
{
	return sq->head % CSQ_SIGNAL == CSQ_SIGNAL - 1 ||
	       (!csq_awaits(sq) && time_after(jiffies, sq->moved + CSQ_SIGNAL_AGAIN));
}

/* Posts a WR for the next slot. If the HCA refuses it, the connection is closed. */
static __always_inline int csq_post_wr(struct ipoib_conn *conn, struct ib_send_wr *wr)
{
	struct ipoib_csq *sq = &conn->sq;
	const struct ib_send_wr *bad;
	int err;

	wr->wr_id = IPOIB_CSQ_WR | sq->head;
	wr->opcode = IB_WR_SEND;
	if (csq_asks(sq))
		wr->send_flags |= IB_SEND_SIGNALED;
	err = ib_post_send(conn->qp, wr, &bad);
	if (unlikely(err)) {
		csq_break(conn);
		return err;
	}
	sq->head++;
	if (!(wr->send_flags & IB_SEND_SIGNALED))
		return 0;
	if (!csq_awaits(sq))
		sq->moved = jiffies;
	sq->asked = sq->head;
	return 0;
}

/* Fills in the SGEs of a packet that the HCA copies, which are virtual addresses. Returns their
 * number, or 0 if a fragment has no such address.
 */
static u32 csq_inline_sges(const struct sk_buff *skb, struct ib_sge *sge)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	const void *address;
	u32 i;

	sge[0].addr = (uintptr_t)skb->data;
	sge[0].length = skb_headlen(skb);
	for (i = 0; i < shared->nr_frags; i++) {
		address = skb_frag_address_safe(&shared->frags[i]);
		if (unlikely(!address))
			return 0;
		sge[i + 1].addr = (uintptr_t)address;
		sge[i + 1].length = skb_frag_size(&shared->frags[i]);
	}
	return i + 1;
}

/* Posts a short packet, and frees it, since the HCA has copied it. It counts as sent, as nobody
 * waits for its completion. Returns as csq_post().
 */
static enum ipoib_stat csq_post_short(struct ipoib_conn *conn, struct ipoib_dev *priv,
				      struct sk_buff *skb, u32 sges)
{
	struct ipoib_csq *sq = &conn->sq;
	struct ib_send_wr wr = {
		.sg_list = sq->sge,
		.num_sge = sges,
		.send_flags = IB_SEND_INLINE,
	};
	int err;

	skb_tx_timestamp(skb);
	err = csq_post_wr(conn, &wr);
	if (likely(!err && priv))
		dev_sw_netstats_tx_add(priv->netdev, 1, skb->len);
	dev_consume_skb_any(skb);
	return likely(!err) ? IPOIB_TX_SENT : IPOIB_STAT_TX_POST;
}

/* Posts a packet that the HCA reads itself. Returns as csq_post(). Not inlined, so that short
 * packets need not save the registers that this takes.
 */
static noinline enum ipoib_stat csq_post_mapped(struct ipoib_conn *conn, struct sk_buff *skb)
{
	struct ipoib_csq *sq = &conn->sq;
	struct ipoib_tx_buf *buf = csq_slot(sq, sq->head);
	struct ib_send_wr wr = { .sg_list = sq->sge, .send_flags = IB_SEND_SIGNALED };
	enum ipoib_stat why = IPOIB_STAT_TX_DMA_MAP;

	buf->skb = skb;
	if (unlikely(ipoib_map(conn->qp->device, buf)))
		goto err_skb;
	wr.num_sge = ipoib_map_sges(conn->qp->pd->local_dma_lkey, buf, sq->sge);
	skb_tx_timestamp(skb);
	why = IPOIB_STAT_TX_POST;
	if (unlikely(csq_post_wr(conn, &wr)))
		goto err_map;
	return IPOIB_TX_SENT;

err_map:
	ipoib_map_undo(conn->qp->device, buf, skb_shinfo(skb)->nr_frags);
err_skb:
	buf->skb = NULL;
	dev_kfree_skb_any(skb);
	return why;
}

/* Posts a packet. Returns IPOIB_TX_SENT, or the counter for the packet, which is freed then.
 * @priv may be NULL.
 */
static enum ipoib_stat csq_post(struct ipoib_conn *conn, struct ipoib_dev *priv,
				struct sk_buff *skb)
{
	struct ipoib_csq *sq = &conn->sq;
	u32 sges = skb->len <= sq->inline_max ? csq_inline_sges(skb, sq->sge) : 0;

	return sges ? csq_post_short(conn, priv, skb, sges) : csq_post_mapped(conn, skb);
}

/* Packets that this host forwards for others do not compete with those of its own sockets */
static u32 *csq_waiting_size(struct ipoib_csq *sq, const struct sk_buff *skb)
{
	return &sq->waiting_size[!!skb->sk];
}

/* Posts a packet, or has it wait for a slot behind those that wait already */
static enum ipoib_stat csq_put(struct ipoib_conn *conn, struct ipoib_dev *priv,
			       struct sk_buff *skb)
{
	u32 limit = skb->sk ? CSQ_WAITING_SOCKETS : CSQ_WAITING_MAX;
	struct ipoib_csq *sq = &conn->sq;
	u32 *size = csq_waiting_size(sq, skb);

	if (likely(csq_used(sq) < IPOIB_CSQ_SIZE && skb_queue_empty(&sq->waiting)))
		return csq_post(conn, priv, skb);
	if (*size + skb->truesize > limit) {
		dev_kfree_skb_any(skb);
		return IPOIB_STAT_TX_CONN_FULL;
	}
	*size += skb->truesize;
	__skb_queue_tail(&sq->waiting, skb);
	return IPOIB_TX_SENT;
}

/* Gives the free slots to packets that wait. @priv counts those that fail, unless it is NULL. */
static void csq_feed(struct ipoib_conn *conn, struct ipoib_dev *priv)
{
	struct ipoib_csq *sq = &conn->sq;
	enum ipoib_stat why;
	struct sk_buff *skb;

	while (sq->posts && csq_used(sq) < IPOIB_CSQ_SIZE && (skb = __skb_dequeue(&sq->waiting))) {
		*csq_waiting_size(sq, skb) -= skb->truesize;
		why = csq_post(conn, priv, skb);
		if (unlikely(why != IPOIB_TX_SENT && priv))
			ipoib_count(priv, why);
	}
}

/* Returns whether what was posted has not been completed for too long */
static bool csq_is_stuck(const struct ipoib_csq *sq)
{
	return csq_awaits(sq) && time_after(jiffies, sq->moved + IPOIB_CSQ_STALL);
}

/* Leaves the checksum to the peer if it can, or computes it. No HCA does this for connections. */
static int csq_sum(const struct ipoib_conn *conn, struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb->data;

	/* The peer knows the protocol from the header only */
	if (!conn->unsummed || header->encap.ethertype != skb->protocol ||
	    !ipoib_csum_can_omit(skb))
		return skb_checksum_help(skb);
	return skb_cow_head(skb, 0);
}

/* Clears the reserved field of a packet whose header a packet socket has written */
static int csq_unmark(struct sk_buff *skb)
{
	if (likely(!((struct ipoib_header *)skb->data)->encap.reserved))
		return 0;
	if (skb_cow_head(skb, 0))
		return -ENOMEM;
	((struct ipoib_header *)skb->data)->encap.reserved = 0;
	return 0;
}

/* Makes a packet one that the QP can send. The headers can be written to if it has no checksum. */
static int csq_prepare(const struct ipoib_conn *conn, struct ipoib_dev *priv, struct sk_buff *skb)
{
	if (unlikely(skb_shinfo(skb)->nr_frags + !!skb_headlen(skb) > conn->sq.max_sge)) {
		ipoib_count(priv, IPOIB_STAT_TX_LINEARIZED);
		if (skb_linearize(skb))
			return -ENOMEM;
	}
	if (conn->unsummed && csq_unmark(skb))
		return -ENOMEM;
	return skb->ip_summed == CHECKSUM_PARTIAL ? csq_sum(conn, skb) : 0;
}

static void csq_mark_unsummed(struct sk_buff *skb)
{
	struct ipoib_encap *encap = (struct ipoib_encap *)skb->data;

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		encap->reserved = IPOIB_ENCAP_UNSUMMED;
}

/**
 * ipoib_csq_send() - send a packet by a connection
 * @priv: the netdevice
 * @conn: the connection
 * @skb: the packet, which the peer can receive as one message; begins with struct ipoib_header
 *
 * Context: BHs disabled, RCU read side.
 * Return: true if the packet was consumed: sent, waiting for a slot, or dropped and counted. False
 * if the connection does not accept packets any more, or there is no memory to make this one fit
 * the HCA.
 */
bool ipoib_csq_send(struct ipoib_dev *priv, struct ipoib_conn *conn, struct sk_buff *skb)
{
	struct ipoib_csq *sq = &conn->sq;
	enum ipoib_stat why;

	if (unlikely(csq_prepare(conn, priv, skb)))
		return false;
	__skb_pull(skb, INFINIBAND_ALEN);
	spin_lock(&sq->lock);
	if (unlikely(csq_is_stuck(sq)))
		csq_break(conn);
	if (unlikely(!sq->open)) {
		spin_unlock(&sq->lock);
		skb_push(skb, INFINIBAND_ALEN);
		return false;
	}
	skb_dst_drop(skb);
	csq_mark_unsummed(skb);
	why = csq_put(conn, priv, skb);
	spin_unlock(&sq->lock);
	if (unlikely(why != IPOIB_TX_SENT))
		ipoib_count(priv, why);
	ipoib_conn_use(conn);
	return true;
}

/* Takes the packet out of a slot, and unmaps it. Returns NULL if there is none. */
static struct sk_buff *csq_release(struct ipoib_conn *conn, struct ipoib_tx_buf *buf)
{
	struct sk_buff *skb = buf->skb;

	if (skb)
		ipoib_map_undo(conn->conns->ibdev, buf, skb_shinfo(skb)->nr_frags);
	buf->skb = NULL;
	return skb;
}

/**
 * ipoib_csq_complete() - free the slots whose completion a CQE reports
 * @priv: the netdevice, or NULL if it has let go of the connection
 * @conn: the connection; closed if the CQE reports an error
 * @wc: the CQE of a WR with the bit IPOIB_CSQ_WR
 *
 * Context: NAPI poll, RCU read side.
 */
void ipoib_csq_complete(struct ipoib_dev *priv, struct ipoib_conn *conn, const struct ib_wc *wc)
{
	bool sent = wc->status == IB_WC_SUCCESS;
	struct ipoib_csq *sq = &conn->sq;
	u32 index = wc->wr_id;
	struct sk_buff *skb;

	/* Only short packets, which have been freed, are in the slots before this one */
	spin_lock(&sq->lock);
	skb = csq_release(conn, csq_slot(sq, index));
	sq->tail = index + 1;
	sq->moved = jiffies;
	if (unlikely(!sent))
		csq_stop(sq);
	csq_feed(conn, priv);
	spin_unlock(&sq->lock);
	if (priv && sent && skb)
		dev_sw_netstats_tx_add(priv->netdev, 1, skb->len);
	else if (priv && !sent)
		ipoib_count(priv, IPOIB_STAT_TX_CONN_LOST);
	if (skb)
		napi_consume_skb(skb, 1);
	if (likely(sent))
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		set_bit(IPOIB_CONN_BROKEN, &conn->events);
	ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
}

/* Accepts no more packets, and drops those that wait. Returns their number. */
static u32 csq_shut(struct ipoib_csq *sq)
{
	struct sk_buff_head dropped;
	u32 n;

	__skb_queue_head_init(&dropped);
	spin_lock_bh(&sq->lock);
	csq_stop(sq);
	skb_queue_splice_init(&sq->waiting, &dropped);
	memset(sq->waiting_size, 0, sizeof(sq->waiting_size));
	spin_unlock_bh(&sq->lock);
	n = skb_queue_len(&dropped);
	__skb_queue_purge(&dropped);
	return n;
}

static void csq_count_lost(struct ipoib_dev *priv, u32 n)
{
	while (n--)
		ipoib_count(priv, IPOIB_STAT_TX_CONN_LOST);
}

/**
 * ipoib_csq_retire() - accept no more packets, but post those that wait
 * @sq: the send queue
 *
 * Context: any but hard interrupt.
 * Return: true if there is none left, and no CQE of what was posted is due.
 */
bool ipoib_csq_retire(struct ipoib_csq *sq)
{
	bool done;

	spin_lock_bh(&sq->lock);
	WRITE_ONCE(sq->open, false);
	done = !csq_awaits(sq) && skb_queue_empty(&sq->waiting);
	spin_unlock_bh(&sq->lock);
	return done;
}

/**
 * ipoib_csq_close() - accept no more packets
 * @conn: the connection
 * @priv: its netdevice, which counts the packets that wait, or NULL if it has let go of the
 *	connection
 *
 * Context: any but hard interrupt.
 */
void ipoib_csq_close(struct ipoib_conn *conn, struct ipoib_dev *priv)
{
	u32 n = csq_shut(&conn->sq);

	if (priv)
		csq_count_lost(priv, n);
}

/**
 * ipoib_csq_abandon() - accept no more packets, as the netdevice lets go of the connection
 * @conn: the connection, which is of no netdevice any more
 *
 * The netdevice counts the packets whose completion is not reported yet as lost, because it will
 * not know what becomes of them. It may be freed when those are done who have read conn->priv
 * before.
 *
 * Context: ipoib_conns.lock held.
 */
void ipoib_csq_abandon(struct ipoib_conn *conn)
{
	struct ipoib_dev *priv = rcu_dereference_protected(conn->priv,
							   lockdep_is_held(&conn->conns->lock));
	u32 i, n = 0;

	RCU_INIT_POINTER(conn->priv, NULL);
	if (!priv)
		return;
	ipoib_csq_close(conn, priv);
	spin_lock_bh(&conn->sq.lock);
	for (i = conn->sq.tail; i != conn->sq.head; i++)
		n += !!csq_slot(&conn->sq, i)->skb;
	spin_unlock_bh(&conn->sq.lock);
	csq_count_lost(priv, n);
}

/**
 * ipoib_csq_open() - accept packets from now on
 * @sq: the send queue of a connection that is established
 *
 * Context: any but hard interrupt.
 */
void ipoib_csq_open(struct ipoib_csq *sq)
{
	spin_lock_bh(&sq->lock);
	sq->posts = true;
	sq->moved = jiffies;
	/* Pairs with ipoib_csq_is_open(): send_max is written before */
	smp_store_release(&sq->open, true);
	spin_unlock_bh(&sq->lock);
}

/**
 * ipoib_csq_watch() - have a connection closed that completes nothing
 * @conn: the connection
 *
 * Each packet that is sent checks this as well, but there may be none if the senders wait for the
 * completions.
 *
 * Context: any but hard interrupt.
 */
void ipoib_csq_watch(struct ipoib_conn *conn)
{
	spin_lock_bh(&conn->sq.lock);
	if (csq_is_stuck(&conn->sq))
		csq_break(conn);
	spin_unlock_bh(&conn->sq.lock);
}

/**
 * ipoib_csq_create() - allocate the memory of a connection's send queue
 * @sq: the send queue; its lock is initialized
 * @ibdev: the HCA
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_csq_create(struct ipoib_csq *sq, const struct ib_device *ibdev)
{
	sq->inline_max = IPOIB_CSQ_INLINE;
	sq->max_sge = min_t(u32, ibdev->attrs.max_send_sge, MAX_SKB_FRAGS + 1);
	sq->sge = kcalloc(MAX_SKB_FRAGS + 1, sizeof(*sq->sge), GFP_KERNEL);
	if (!sq->sge)
		return -ENOMEM;
	sq->buf = kvcalloc(IPOIB_CSQ_SIZE, sizeof(*sq->buf), GFP_KERNEL);
	if (sq->buf)
		return 0;
	kfree(sq->sge);
	sq->sge = NULL;
	return -ENOMEM;
}

/**
 * ipoib_csq_shrink() - need less of a send WR
 * @sq: the send queue, whose QP the HCA refuses
 *
 * First, fewer octets are to be copied by the HCA, and then none. After that, the number of pieces
 * is halved; packets with more pieces are copied into one.
 *
 * Context: any; the send queue is not open yet.
 * Return: false if no less is possible.
 */
bool ipoib_csq_shrink(struct ipoib_csq *sq)
{
	if (sq->inline_max) {
		sq->inline_max = sq->inline_max > CSQ_INLINE_LEAST ? CSQ_INLINE_LEAST : 0;
		return true;
	}
	if (sq->max_sge < 2)
		return false;
	sq->max_sge /= 2;
	return true;
}

/**
 * ipoib_csq_purge() - free the packets whose completion the HCA did not report
 * @conn: the connection, which its netdevice has let go of; its QP is gone, or will complete
 *	nothing any more
 *
 * Context: any but hard interrupt.
 */
void ipoib_csq_purge(struct ipoib_conn *conn)
{
	struct ipoib_csq *sq = &conn->sq;

	for (; csq_used(sq); sq->tail++)
		dev_kfree_skb_any(csq_release(conn, csq_slot(sq, sq->tail)));
}

/**
 * ipoib_csq_destroy() - free the memory of a connection's send queue
 * @sq: the send queue, without packets
 *
 * Context: may sleep.
 */
void ipoib_csq_destroy(struct ipoib_csq *sq)
{
	kvfree(sq->buf);
	kfree(sq->sge);
}
