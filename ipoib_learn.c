// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What received packets tell of their senders.
 *
 * The HCA, not software, writes the LID and the QPN that a packet comes from, and the
 * GID of its GRH if it has one, as all multicasts have. So the first ARP request or
 * neighbour solicitation of a peer tells all that it takes to answer it
 * (draft-kashyap-ipv4-arp-over-infiniband). Packets without a GRH prove nothing about a
 * GID, and what they claim in their payload is not taken note of here.
 *
 * Three uses are made of it:
 *
 *  - a peer that has just spoken is answered at once, by what its packet told, while the
 *    fabric is asked for the path (ipoib_arp.c);
 *  - received packets show their sender's link-layer address to the network stack;
 *  - ARP and ND that claim another one can be told from true ones (ipoib_verify.c).
 *
 * Senders are kept in a table of fixed size, by LID and QPN: on a large fabric every
 * host hears all others' broadcasts, but talks to few of them.
 *
 * Ports may share a LID: virtual ones are told apart by GRHs alone, and number their QPs each
 * on its own. So a LID and a QPN that two GIDs have sent by tell of no sender any more.
 */
#include <linux/jhash.h>

#include "ipoib.h"

#define LEARN_SLOTS	1024
#define LEARN_FRESH	(30 * HZ)	/* a sender heard so long ago is where it was */
#define LEARN_KEEP	(10 * HZ)	/* one heard so long ago gives way to another */
#define LEARN_AGAIN	(HZ / 4)	/* the path to a sender is looked at so often */

/* Where a GID's packets come from */
struct sender {
	union ib_gid gid;
	u32 qpn;
	u32 epoch;			/* ipoib_learn.epoch, or the slot is empty */
	struct ipoib_heard from;
	bool grh_only;			/* packets without a GRH need not be its own */
	unsigned long heard;		/* jiffies of its last packet */
	unsigned long told;		/* jiffies when its path was last told */
};

/**
 * struct ipoib_learn - the senders of late
 * @lock: guards what follows. Only the receive poll adds senders, so it reads
 *	them without. Taken within ipoib_dests.lock.
 * @epoch: senders of another one are forgotten; never 0
 * @by_gid: slot of the last sender of a GID, by the GID's hash
 * @by_qp: senders, by LID and QPN
 */
struct ipoib_learn {
	spinlock_t lock;		/* the rest */
	u32 epoch;
	u16 by_gid[LEARN_SLOTS];
	struct sender by_qp[LEARN_SLOTS];
};

/* LIDs and QPNs are dense. Neighbours in either number do not meet in a slot, nor do two
 * peers whose LIDs are exchanged; a sum without a factor would let them.
 */
static u32 qp_slot(const struct ib_wc *wc)
{
	return (wc->slid + 61 * wc->src_qp) % LEARN_SLOTS;
}

static u32 gid_slot(const void *gid)
{
	return jhash(gid, sizeof(union ib_gid), 0) % LEARN_SLOTS;
}

static bool sender_is_set(const struct ipoib_learn *learn, const struct sender *sender)
{
	return sender->epoch == READ_ONCE(learn->epoch);
}

static bool sender_is(const struct ipoib_learn *learn, const struct sender *sender,
		      const struct ib_wc *wc)
{
	return sender->qpn == wc->src_qp && sender->from.lid == wc->slid &&
	       sender_is_set(learn, sender);
}

/* The sender of a packet without a GRH; NULL if it is not known */
static struct sender *sender_without_grh(struct ipoib_learn *learn, const struct ib_wc *wc)
{
	struct sender *sender = &learn->by_qp[qp_slot(wc)];

	return sender_is(learn, sender, wc) && !sender->grh_only ? sender : NULL;
}

/* Of this subnet, for a packet of another comes from the LID of a router; and from a
 * LID at all, which Ethernet lacks.
 */
static bool sender_is_local(const struct ipoib_dev *priv, const struct ib_wc *wc,
			    const union ib_gid *gid)
{
	return wc->slid && wc->slid < be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       gid->global.subnet_prefix == priv->local_gid.global.subnet_prefix;
}

/* A unicast packet has a GRH because the SA said so, or ports need one: then there is a hop
 * limit in it. That of a stopgap is 0.
 */
static bool grh_is_needed(const struct ib_grh *grh)
{
	return grh->dgid.raw[0] != 0xff && grh->hop_limit;
}

static bool sender_is_active(const struct ipoib_learn *learn, const struct sender *sender)
{
	return sender_is_set(learn, sender) &&
	       time_before(jiffies, sender->heard + LEARN_KEEP);
}

/* The slot for a GID: that of its LID and QPN. If another GID is active by the same, ports share
 * the LID, and the second has a slot that depends on the GID too.
 */
static u32 sender_slot(struct ipoib_learn *learn, const struct ib_wc *wc,
		       const union ib_gid *gid)
{
	u32 slot = qp_slot(wc);
	struct sender *first = &learn->by_qp[slot];

	if (!sender_is(learn, first, wc) || ipoib_gid_equal(&first->gid, gid))
		return slot;
	first->grh_only = true;
	if (!sender_is_active(learn, first))
		return slot;
	return (slot + 1 + gid_slot(gid) % (LEARN_SLOTS - 1)) % LEARN_SLOTS;
}

/* Writes to the sender's slot. Returns false if nobody needs to be told: all that stood
 * there, or the slot is another's who is active.
 */
static bool sender_put(struct ipoib_learn *learn, const struct ib_wc *wc,
		       const union ib_gid *gid, struct ipoib_heard *from)
{
	u32 slot = sender_slot(learn, wc, gid);
	struct sender *sender = &learn->by_qp[slot];
	bool same_qp = sender_is(learn, sender, wc);
	bool same = same_qp && ipoib_gid_equal(&sender->gid, gid);

	if (!same_qp && sender_is_active(learn, sender))
		return false;
	sender->heard = jiffies;
	from->needs_grh |= same && sender->from.needs_grh;
	if (same && sender->from.needs_grh == from->needs_grh &&
	    time_before(jiffies, sender->told + LEARN_AGAIN))
		return false;
	*sender = (struct sender) {
		.gid = *gid,
		.qpn = wc->src_qp,
		.epoch = learn->epoch,
		.from = *from,
		.grh_only = from->needs_grh || (same_qp && sender->grh_only),
		.heard = jiffies,
		.told = jiffies,
	};
	learn->by_gid[gid_slot(gid)] = slot;
	return true;
}

/* Has it been heard just now? Then the lock is spared, for virtual ports send every packet with
 * a GRH. Nobody else writes to the table.
 */
static bool sender_is_fresh(const struct ipoib_learn *learn, const struct ib_wc *wc,
			    const union ib_gid *gid, bool needs_grh)
{
	const struct sender *sender = &learn->by_qp[qp_slot(wc)];

	return !time_before(sender->heard, jiffies) && sender_is(learn, sender, wc) &&
	       ipoib_gid_equal(&sender->gid, gid) && sender->from.needs_grh >= needs_grh;
}

/* Returns whether *from is for the sender's path to know */
static bool sender_learn(struct ipoib_dev *priv, const struct ib_wc *wc,
			 const union ib_gid *gid, bool needs_grh, struct ipoib_heard *from)
{
	bool news;

	if (!sender_is_local(priv, wc, gid) || sender_is_fresh(priv->learn, wc, gid, needs_grh))
		return false;
	*from = (struct ipoib_heard) { .lid = wc->slid, .sl = wc->sl, .needs_grh = needs_grh };
	spin_lock(&priv->learn->lock);
	news = sender_put(priv->learn, wc, gid, from);
	spin_unlock(&priv->learn->lock);
	return news;
}

/* RoCE by IPv4 has another header in the GRH's place */
static bool has_gid(const struct ib_wc *wc)
{
	return (wc->wc_flags & IB_WC_GRH) &&
	       !((wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE) &&
		 wc->network_hdr_type == RDMA_NETWORK_IPV4);
}

/* One that was known, from time to time. Apart, since few packets come here. */
static noinline bool sender_again(struct ipoib_dev *priv, const struct ib_wc *wc,
				  const struct sender *sender, struct ipoib_heard *from)
{
	union ib_gid gid = sender->gid;

	return sender_learn(priv, wc, &gid, false, from);
}

/**
 * ipoib_learn_sender() - tell a packet's true sender, and keep it in mind
 * @priv: the device
 * @wc: the packet's
 * @grh: its GRH, if @wc says that it has one
 * @hwaddr: filled in: the sender's link-layer address, or zeroes if it is not known
 * @from: filled in if that is news: where the packet came from
 *
 * Context: the receive poll.
 * Return: true if it is news, which ipoib_path_heard() is to be told.
 */
bool ipoib_learn_sender(struct ipoib_dev *priv, const struct ib_wc *wc, const struct ib_grh *grh,
			struct ipoib_hwaddr *hwaddr, struct ipoib_heard *from)
{
	struct sender *sender;

	if (has_gid(wc)) {
		ipoib_hwaddr_build(hwaddr, wc->src_qp, &grh->sgid);
		return sender_learn(priv, wc, &grh->sgid, grh_is_needed(grh), from);
	}
	sender = sender_without_grh(priv->learn, wc);
	if (!sender) {
		memset(hwaddr, 0, sizeof(*hwaddr));
		return false;
	}
	ipoib_hwaddr_build(hwaddr, sender->qpn, &sender->gid);
	/* Not written by each packet: others read the table */
	if (unlikely(!time_before(jiffies, sender->told + LEARN_AGAIN)))
		return sender_again(priv, wc, sender, from);
	if (time_before(sender->heard, jiffies))
		WRITE_ONCE(sender->heard, jiffies);
	return false;
}

/**
 * ipoib_learn_find() - where was a GID last heard?
 * @priv: the device
 * @gid: the peer's
 * @from: filled in
 *
 * Context: any but hard interrupt, BHs disabled.
 * Return: true if it was heard of late, and what it said may be used.
 */
bool ipoib_learn_find(struct ipoib_dev *priv, const void *gid, struct ipoib_heard *from)
{
	struct ipoib_learn *table = priv->learn;
	const struct sender *sender;
	bool found;

	spin_lock(&table->lock);
	sender = &table->by_qp[table->by_gid[gid_slot(gid)]];
	found = sender_is_set(table, sender) && ipoib_gid_equal(&sender->gid, gid) &&
		time_before(jiffies, READ_ONCE(sender->heard) + LEARN_FRESH);
	if (found)
		*from = sender->from;
	spin_unlock(&table->lock);
	return found;
}

/**
 * ipoib_learn_flush() - forget all senders
 * @priv: the device
 *
 * For LIDs may have changed.
 *
 * Context: control path.
 */
void ipoib_learn_flush(struct ipoib_dev *priv)
{
	spin_lock_bh(&priv->learn->lock);
	WRITE_ONCE(priv->learn->epoch, priv->learn->epoch + 1 ?: 1);
	spin_unlock_bh(&priv->learn->lock);
}

/**
 * ipoib_learn_init() - prepare the table of senders
 * @priv: the device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_learn_init(struct ipoib_dev *priv)
{
	priv->learn = kvzalloc(sizeof(*priv->learn), GFP_KERNEL);
	if (!priv->learn)
		return -ENOMEM;
	spin_lock_init(&priv->learn->lock);
	priv->learn->epoch = 1;
	return 0;
}

/**
 * ipoib_learn_destroy() - free the table
 * @priv: the device; no packets are received any more
 *
 * Context: may sleep.
 */
void ipoib_learn_destroy(struct ipoib_dev *priv)
{
	kvfree(priv->learn);
}
