// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What received packets tell of their senders.
 *
 * The HCA, not software, writes the LID and the QPN that a packet comes from, and the
 * GID of its GRH if it has one, as all multicasts have. So the first ARP request or
 * neighbour solicitation of a peer tells all that it takes to answer it: "without
 * consulting the SM/SA", as IPoIB was once meant to be
 * (draft-kashyap-ipv4-arp-over-infiniband).
 *
 * Three uses are made of it:
 *
 *  - a path to a peer that has just spoken is made at once, and confirmed by the
 *    fabric later (ipoib_arp.c);
 *  - received packets show their sender's link-layer address to the network stack;
 *  - ARP and ND that claim another one can be told from true ones, and dropped.
 *
 * Senders are kept in a table of fixed size, by LID and QPN: on a large fabric every
 * host hears all others' broadcasts, but talks to few of them.
 */
#include <linux/if_arp.h>
#include <linux/jhash.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

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
	unsigned long heard;		/* jiffies of its last packet */
	unsigned long told;		/* jiffies when its path was last told */
};

/**
 * struct ipoib_learn - the senders of late
 * @lock: guards what follows. Only the receive poll adds senders, so it reads
 *	them without. Taken within ipoib_dev.lock.
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

/* LIDs and QPNs are dense, so neighbours in number do not meet in a slot */
static u32 qp_slot(const struct ib_wc *wc)
{
	return (wc->slid + wc->src_qp) % LEARN_SLOTS;
}

static u32 gid_slot(const union ib_gid *gid)
{
	return jhash(gid, sizeof(*gid), 0) % LEARN_SLOTS;
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

/* Of this subnet, for a packet of another comes from the LID of a router; and from a
 * LID at all, which Ethernet lacks.
 */
static bool sender_is_local(const struct ipoib_dev *priv, const struct ib_wc *wc,
			    const union ib_gid *gid)
{
	return wc->slid && wc->slid < be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       gid->global.subnet_prefix == priv->local_gid.global.subnet_prefix;
}

/* Writes to the sender's slot. Returns false if nobody needs to be told: all that stood
 * there, or the slot is another's who is active.
 */
static bool sender_put(struct ipoib_learn *learn, const struct ib_wc *wc,
		       const union ib_gid *gid, bool proven)
{
	u32 slot = qp_slot(wc);
	struct sender *sender = &learn->by_qp[slot];
	bool same = sender_is(learn, sender, wc);

	if (!same && sender_is_set(learn, sender) &&
	    time_before(jiffies, sender->heard + LEARN_KEEP))
		return false;
	same = same && sender->from.proven == proven && !memcmp(&sender->gid, gid, sizeof(*gid));
	sender->heard = jiffies;
	if (same && time_before(jiffies, sender->told + LEARN_AGAIN))
		return false;
	*sender = (struct sender) {
		.gid = *gid,
		.qpn = wc->src_qp,
		.epoch = learn->epoch,
		.from = { .lid = wc->slid, .sl = wc->sl, .proven = proven },
		.heard = jiffies,
		.told = jiffies,
	};
	learn->by_gid[gid_slot(gid)] = slot;
	return true;
}

static void sender_learn(struct ipoib_dev *priv, const struct ib_wc *wc,
			 const union ib_gid *gid, bool proven)
{
	const struct ipoib_heard from = { .lid = wc->slid, .sl = wc->sl, .proven = proven };
	bool news;

	if (!sender_is_local(priv, wc, gid))
		return;
	spin_lock(&priv->learn->lock);
	news = sender_put(priv->learn, wc, gid, proven);
	spin_unlock(&priv->learn->lock);
	if (news)
		ipoib_path_heard(priv, gid, &from);
}

/* RoCE by IPv4 has another header in the GRH's place */
static bool has_gid(const struct ib_wc *wc)
{
	return (wc->wc_flags & IB_WC_GRH) &&
	       !((wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE) &&
		 wc->network_hdr_type == RDMA_NETWORK_IPV4);
}

/* One that was known, from time to time. Apart, since few packets come here. */
static noinline void sender_again(struct ipoib_dev *priv, const struct ib_wc *wc,
				  const struct sender *sender)
{
	union ib_gid gid = sender->gid;

	sender_learn(priv, wc, &gid, true);
}

/**
 * ipoib_learn_sender() - tell a packet's true sender, and keep it in mind
 * @priv: the device
 * @wc: the packet's
 * @grh: its GRH, if @wc says that it has one
 * @hwaddr: filled in: the sender's link-layer address, or zeroes if it is not known
 *
 * Context: the receive poll.
 */
void ipoib_learn_sender(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct ib_grh *grh, struct ipoib_hwaddr *hwaddr)
{
	struct ipoib_learn *table = priv->learn;
	struct sender *sender = &table->by_qp[qp_slot(wc)];

	if (has_gid(wc)) {
		ipoib_hwaddr_build(hwaddr, wc->src_qp, &grh->sgid);
		sender_learn(priv, wc, &grh->sgid, true);
		return;
	}
	if (!sender_is(table, sender, wc) || !sender->from.proven) {
		memset(hwaddr, 0, sizeof(*hwaddr));
		return;
	}
	ipoib_hwaddr_build(hwaddr, sender->qpn, &sender->gid);
	/* Not written by each packet: others read the table */
	if (unlikely(!time_before(jiffies, sender->told + LEARN_AGAIN)))
		sender_again(priv, wc, sender);
	else if (time_before(sender->heard, jiffies))
		WRITE_ONCE(sender->heard, jiffies);
}

/* RFC 826; RFC 4391 section 9.1: the sender's link-layer address */
static const struct ipoib_hwaddr *arp_claim(const struct sk_buff *skb)
{
	const struct arphdr *arp = (const struct arphdr *)skb->data;

	if (skb->len < sizeof(*arp) + INFINIBAND_ALEN || arp->ar_hln != INFINIBAND_ALEN)
		return NULL;
	return (const struct ipoib_hwaddr *)(arp + 1);
}

/* RFC 4861 section 4: which option tells the sender's own link-layer address, and how
 * long the message is before its options; 0: there are none.
 */
static size_t nd_length(u8 message, u8 *type)
{
	*type = ND_OPT_SOURCE_LL_ADDR;
	switch (message) {
	case NDISC_ROUTER_SOLICITATION:
		return sizeof(struct rs_msg);
	case NDISC_ROUTER_ADVERTISEMENT:
		return sizeof(struct ra_msg);
	case NDISC_NEIGHBOUR_SOLICITATION:
		return sizeof(struct nd_msg);
	case NDISC_NEIGHBOUR_ADVERTISEMENT:
		*type = ND_OPT_TARGET_LL_ADDR;
		return sizeof(struct nd_msg);
	default:
		return 0;
	}
}

/* Where the options of an ND message begin, and end; NULL if this is none. Headers may
 * stand between IPv6's and ICMPv6's.
 */
static const u8 *nd_options_find(const struct sk_buff *skb, const u8 **end, u8 *type)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;
	int offset = sizeof(*ip);
	__be16 fragment;
	size_t len;
	u8 next;

	if (skb->len < sizeof(*ip))
		return NULL;
	next = ip->nexthdr;
	if (next != NEXTHDR_ICMP && ipv6_ext_hdr(next))
		offset = ipv6_skip_exthdr(skb, offset, &next, &fragment);
	if (next != NEXTHDR_ICMP || offset < 0 || offset >= skb->len)
		return NULL;
	len = nd_length(skb->data[offset], type);
	*end = skb->data + min_t(u32, skb->len, sizeof(*ip) + be16_to_cpu(ip->payload_len));
	if (!len || offset + len > *end - skb->data)
		return NULL;
	return skb->data + offset + len;
}

/* Whether a packet may have come from where it says. What is known of its sender stands
 * in the pseudo header; if that is nothing, the path to the claimed GID may tell.
 */
static bool claim_holds(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct ipoib_hwaddr *known, const struct ipoib_hwaddr *claimed)
{
	struct ipoib_heard from = { .lid = wc->slid, .sl = wc->sl };
	union ib_gid gid;

	if (ipoib_hwaddr_qpn(claimed) != wc->src_qp)
		return false;
	memcpy(&gid, claimed->gid, sizeof(gid));
	if (ipoib_hwaddr_qpn(known))
		return !memcmp(known->gid, &gid, sizeof(gid));
	switch (ipoib_path_compare(priv, &gid, wc->slid)) {
	case IPOIB_PATH_SAME:
		sender_learn(priv, wc, &gid, true);
		return true;
	case IPOIB_PATH_OTHER:
		/* Or the peer has got another LID: the fabric is asked */
		ipoib_path_heard(priv, &gid, &from);
		return false;
	default:
		sender_learn(priv, wc, &gid, false);
		return true;
	}
}

static bool arp_holds(struct ipoib_dev *priv, const struct ib_wc *wc,
		      const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	const struct ipoib_hwaddr *claimed = arp_claim(skb);

	return !claimed || claim_holds(priv, wc, known, claimed);
}

/* RFC 4861 section 4.6.1. Each option counts, for which of two is believed is the network
 * stack's affair.
 */
static bool nd_holds(struct ipoib_dev *priv, const struct ib_wc *wc,
		     const struct ipoib_hwaddr *known, const struct sk_buff *skb)
{
	const struct ipoib_hwaddr *claimed;
	struct nd_opt_hdr *option;
	const u8 *at, *end;
	u8 type;

	at = nd_options_find(skb, &end, &type);
	for (; at && end - at >= sizeof(*option); at += option->nd_opt_len << 3) {
		option = (struct nd_opt_hdr *)at;
		if (!option->nd_opt_len || option->nd_opt_len << 3 > end - at)
			break;
		if (option->nd_opt_type != type)
			continue;
		claimed = (void *)__ndisc_opt_addr_data(option, INFINIBAND_ALEN,
							ndisc_addr_option_pad(ARPHRD_INFINIBAND));
		if (claimed && !claim_holds(priv, wc, known, claimed))
			return false;
	}
	return true;
}

/**
 * ipoib_learn_claim() - hold what ARP and ND say against the packet's true sender
 * @priv: the device
 * @wc: the packet's
 * @skb: the packet, ARP or IPv6; its pseudo header is as by ipoib_learn_sender(), data
 *	begins with the network layer's header
 *
 * Context: the receive poll.
 * Return: false if the packet is to be dropped: it claims a link-layer address that it
 * cannot have come from, and the administrator wants such packets dropped. The QPN tells
 * in any case, the GID if this peer has sent a multicast of late, or the fabric has told
 * the path to the claimed GID.
 */
bool ipoib_learn_claim(struct ipoib_dev *priv, const struct ib_wc *wc,
		       const struct sk_buff *skb)
{
	const struct ipoib_header *header = (struct ipoib_header *)skb_mac_header(skb);
	bool holds;

	if (skb->protocol == htons(ETH_P_ARP))
		holds = arp_holds(priv, wc, &header->hwaddr, skb);
	else
		holds = nd_holds(priv, wc, &header->hwaddr, skb);
	if (likely(holds))
		return true;
	ipoib_count(priv, IPOIB_STAT_RX_FORGED);
	if (!READ_ONCE(priv->arp_verify))
		return true;
	ipoib_count(priv, IPOIB_STAT_RX_FORGED_DROPPED);
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
bool ipoib_learn_find(struct ipoib_dev *priv, const union ib_gid *gid,
		      struct ipoib_heard *from)
{
	struct ipoib_learn *table = priv->learn;
	const struct sender *sender;
	bool found;

	spin_lock(&table->lock);
	sender = &table->by_qp[table->by_gid[gid_slot(gid)]];
	found = sender_is_set(table, sender) && !memcmp(&sender->gid, gid, sizeof(*gid)) &&
		time_before(jiffies, READ_ONCE(sender->heard) + LEARN_FRESH);
	if (found)
		*from = sender->from;
	spin_unlock(&table->lock);
	return found;
}

/**
 * ipoib_learn_confirmed() - the fabric says where a GID is
 * @priv: the device
 * @gid: the peer's
 * @lid: its LID, or one of them
 *
 * What was only claimed by the peer is proven, if it says the same.
 *
 * Context: process.
 */
void ipoib_learn_confirmed(struct ipoib_dev *priv, const union ib_gid *gid, u32 lid)
{
	struct ipoib_learn *table = priv->learn;
	struct sender *sender;

	spin_lock_bh(&table->lock);
	sender = &table->by_qp[table->by_gid[gid_slot(gid)]];
	if (sender_is_set(table, sender) && !memcmp(&sender->gid, gid, sizeof(*gid)) &&
	    ipoib_same_port(priv, sender->from.lid, lid))
		WRITE_ONCE(sender->from.proven, true);
	spin_unlock_bh(&table->lock);
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
