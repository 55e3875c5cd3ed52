// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Learns the addresses of senders from received packets.
 *
 * The HCA, not software, writes the LID and the QPN that a packet comes from, and the
 * source GID of the GRH if there is one, as in all multicast packets. So the first ARP
 * request or neighbour solicitation of a peer contains everything needed to reply to it
 * (draft-kashyap-ipv4-arp-over-infiniband). A packet without a GRH proves nothing about a
 * GID, and the addresses that it claims in its payload are not learned here.
 *
 * The learned addresses have three uses:
 *
 *  - Replies to a peer that has just sent a packet use the addresses of this packet, while
 *    the fabric is queried for the path (ipoib_arp.c).
 *  - The sender's link-layer address is shown to the network stack in received packets.
 *  - ARP and ND messages that claim a false address can be detected (ipoib_verify.c).
 *
 * The table of senders has a fixed size and is indexed by LID and QPN, because on a large
 * fabric every host receives the broadcasts of all others, but communicates with few of them.
 *
 * Several ports may share a LID: virtual ports can be distinguished only by GRHs, and each has
 * its own numbering of QPs. If packets with the same LID and QPN came from two GIDs, packets
 * without a GRH from there no longer identify their sender.
 */
#include <linux/jhash.h>

#include "ipoib.h"

#define LEARN_SLOTS	1024
#define LEARN_FRESH	(30 * HZ)	/* a sender heard within this time has not moved */
#define LEARN_KEEP	(10 * HZ)	/* a slot is not reused within this time */
#define LEARN_AGAIN	(HZ / 4)	/* interval of reporting a sender to its path */

/* A sender: a GID, and where its packets come from */
struct sender {
	union ib_gid gid;
	u32 qpn;
	u32 epoch;			/* the slot is empty unless this is ipoib_learn.epoch */
	struct ipoib_heard from;
	bool grh_only;			/* packets without a GRH may be those of another sender */
	unsigned long heard;		/* jiffies of its last packet */
	unsigned long told;		/* jiffies when it was last reported to its path */
};

/**
 * struct ipoib_learn - table of recent senders
 * @lock: guards the other members. The receive poll reads them without the lock, as
 *	it is the only one to add senders. Nests inside ipoib_dests.lock.
 * @epoch: entries of @by_qp with another epoch are empty; never 0
 * @by_gid: index in @by_qp of the last sender with a GID, by the GID's hash
 * @by_qp: senders, by a hash of LID and QPN
 */
struct ipoib_learn {
	spinlock_t lock;		/* guards the other members */
	u32 epoch;
	u16 by_gid[LEARN_SLOTS];
	struct sender by_qp[LEARN_SLOTS];
};

/* LIDs and QPNs are assigned densely. With the factor, senders whose LIDs or QPNs are close to each
 * other have different slots; in the plain sum of LID and QPN, such differences could cancel out.
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

/* Returns the sender of a packet without a GRH, or NULL if it is not known */
static struct sender *sender_without_grh(struct ipoib_learn *learn, const struct ib_wc *wc)
{
	struct sender *sender = &learn->by_qp[qp_slot(wc)];

	return sender_is(learn, sender, wc) && !sender->grh_only ? sender : NULL;
}

/* Returns whether a packet comes from a unicast LID, which RoCE packets do not have, and from a
 * GID of this subnet: packets of other subnets have the LID of a router.
 */
static bool sender_is_local(const struct ipoib_dev *priv, const struct ib_wc *wc,
			    const union ib_gid *gid)
{
	return wc->slid && wc->slid < be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       gid->global.subnet_prefix == priv->local_gid.global.subnet_prefix;
}

/* Returns whether a packet shows that its sender needs a GRH. This is so if it is a unicast packet
 * with a GRH whose hop limit is not 0. In that case the SA or a port has asked for the GRH, whereas
 * packets sent by a stopgap AH have the hop limit 0.
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

/* Returns the slot for a GID, which depends on the packet's LID and QPN. If a sender with another
 * GID is active there with the same LID and QPN, ports share the LID. Then the second sender gets
 * a slot that also depends on its GID.
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

/* Writes a sender to its slot. Returns false if its path need not be told: the slot had the same
 * contents, or it belongs to another active sender and was not written.
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

/* Returns whether the table already shows that the sender was heard in this jiffy. This saves the
 * lock, since virtual ports send every packet with a GRH. The table can be read without the lock,
 * as only this poll adds senders.
 */
static bool sender_is_fresh(const struct ipoib_learn *learn, const struct ib_wc *wc,
			    const union ib_gid *gid, bool needs_grh)
{
	const struct sender *sender = &learn->by_qp[qp_slot(wc)];

	return !time_before(sender->heard, jiffies) && sender_is(learn, sender, wc) &&
	       ipoib_gid_equal(&sender->gid, gid) && sender->from.needs_grh >= needs_grh;
}

/* Returns whether *from was filled in and is to be reported to the sender's path */
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

/* RoCE packets over IPv4 have another header in place of the GRH */
static bool has_gid(const struct ib_wc *wc)
{
	return (wc->wc_flags & IB_WC_GRH) &&
	       !((wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE) &&
		 wc->network_hdr_type == RDMA_NETWORK_IPV4);
}

/* Refreshes a sender that was found by LID and QPN. Not inlined, since it is called rarely. */
static noinline bool sender_again(struct ipoib_dev *priv, const struct ib_wc *wc,
				  const struct sender *sender, struct ipoib_heard *from)
{
	union ib_gid gid = sender->gid;

	return sender_learn(priv, wc, &gid, false, from);
}

/**
 * ipoib_learn_sender() - determine the true sender of a packet, and learn it
 * @priv: the device
 * @wc: the packet's CQE
 * @grh: the packet's GRH; not read unless @wc says that it has one
 * @hwaddr: filled in with the sender's link-layer address, or with zeroes if it is not known
 * @from: filled in with where the packet came from, if true is returned
 *
 * Context: the receive poll.
 * Return: true if the caller has to pass @from to ipoib_path_heard().
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
	/* Written at most once per jiffy, as other CPUs read the table */
	if (unlikely(!time_before(jiffies, sender->told + LEARN_AGAIN)))
		return sender_again(priv, wc, sender, from);
	if (time_before(sender->heard, jiffies))
		WRITE_ONCE(sender->heard, jiffies);
	return false;
}

/**
 * ipoib_learn_find() - look up where recent packets of a GID came from
 * @priv: the device
 * @gid: the GID, 16 octets
 * @from: filled in if true is returned
 *
 * Context: any but hard interrupt, BHs disabled.
 * Return: true if a packet was received from the GID within the last 30 seconds.
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
 * Called when LIDs may have changed.
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
 * ipoib_learn_init() - allocate the table of senders
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
 * ipoib_learn_destroy() - free the table of senders
 * @priv: the device; it no longer receives packets
 *
 * Context: may sleep.
 */
void ipoib_learn_destroy(struct ipoib_dev *priv)
{
	kvfree(priv->learn);
}
