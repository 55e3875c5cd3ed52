/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send queue of a connection.
 */
#ifndef _IPOIB_CSQ_H
#define _IPOIB_CSQ_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct ipoib_conn;
struct ipoib_dev;
struct ipoib_tx_buf;

#define IPOIB_CSQ_SIZE	64	/* WRs, a power of two */
#define IPOIB_CSQ_INLINE	128	/* octets of a packet that the HCA is to copy at once */

/* A connection without any completion for this time is broken */
#define IPOIB_CSQ_STALL	(5 * HZ)

/* Bit of the wr_id of a connection's sends. The wr_ids of its other WRs do not have it. */
#define IPOIB_CSQ_WR	BIT_ULL(32)

/*
 * Every packet takes one slot. The completion of a long packet is reported by a CQE of its own. A
 * short one is copied by the HCA when it is posted, and freed at once; its slot is freed by the
 * CQE of a later packet. Packets for which there is no slot wait in memory, as far as the limit
 * allows: the TX queue of the stack is not stopped, since other peers' packets come by it.
 */
struct ipoib_csq {
	spinlock_t lock;		/* guards all members; no other lock nests inside */
	bool open;			/* packets are accepted; also read without the lock */
	bool posts;			/* packets that wait are posted */
	u32 head;			/* number of slots filled so far */
	u32 tail;			/* number of slots freed so far */
	u32 asked;			/* head after the last WR that requests a CQE */
	unsigned long moved;		/* jiffies of the last CQE, or when one was requested and
					 * no other was due
					 */
	u32 max_sge;			/* per WR */
	u32 inline_max;			/* octets that the HCA copies; 0 if it does not */
	struct ipoib_tx_buf *buf;	/* NULL if the connection only receives */
	struct ib_sge *sge;		/* for one WR */
	struct sk_buff_head waiting;	/* packets without a slot */
	u32 waiting_size[2];		/* their octets of memory: without a socket, and with one */
};

/* Returns whether packets are accepted. The connection's members that are for senders are valid
 * then.
 */
static inline bool ipoib_csq_is_open(const struct ipoib_csq *sq)
{
	/* Pairs with ipoib_csq_open() */
	return smp_load_acquire(&sq->open);
}

int ipoib_csq_create(struct ipoib_csq *sq, const struct ib_device *ibdev);
bool ipoib_csq_shrink(struct ipoib_csq *sq);
void ipoib_csq_purge(struct ipoib_conn *conn);
void ipoib_csq_destroy(struct ipoib_csq *sq);
void ipoib_csq_open(struct ipoib_csq *sq);
void ipoib_csq_watch(struct ipoib_conn *conn);
bool ipoib_csq_retire(struct ipoib_csq *sq);
void ipoib_csq_close(struct ipoib_conn *conn, struct ipoib_dev *priv);
void ipoib_csq_abandon(struct ipoib_conn *conn);
bool ipoib_csq_send(struct ipoib_dev *priv, struct ipoib_conn *conn, struct sk_buff *skb);
void ipoib_csq_complete(struct ipoib_dev *priv, struct ipoib_conn *conn, const struct ib_wc *wc);

#endif /* _IPOIB_CSQ_H */
