/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address handles and their deferred destruction.
 */
#ifndef _IPOIB_AH_H
#define _IPOIB_AH_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

struct ipoib_dev;

/*
 * An address handle, published by one path or group. It is retired when it is
 * replaced, and destroyed when no WR in a send ring can refer to it any more.
 */
struct ipoib_ah {
	struct ib_ah *ibah;
	struct ipoib_dev *priv;
	struct list_head dead;		/* in ipoib_ahs.dead or .going */
	u32 dlid;			/* this and the following members are shown in debugfs */
	u8 sl;
	u8 rate;			/* enum ib_rate */
	u8 hop_limit;			/* of the GRH */
	u8 mtu;				/* enum ib_mtu of the path; 0 if it is not known */
	bool grh;
	bool learned;			/* from a received packet, not from the fabric's answer */
};

/* AHs that are no longer published; see ipoib_ah.c */
struct ipoib_ahs {
	spinlock_t lock;		/* guards the next two members; no lock nests inside */
	struct list_head dead;		/* AHs for the next run of the work */
	struct compat_gp_state dead_seen;	/* RCU state when the last of these was retired */

	/* control path only */
	struct list_head going;		/* AHs that may still be referred to by WRs */
	struct compat_gp_state going_seen;	/* their RCU state: senders may use them until a
						 * grace period after it
						 */
	bool marked;			/* the grace period is over and the send rings are marked */
	bool waiting;			/* send polls must queue the work when they complete WRs */
	struct delayed_work work;
};

bool ipoib_same_port(const struct ipoib_dev *priv, u32 lid, u32 other);
struct ipoib_ah *ipoib_ah_create(struct ipoib_dev *priv, struct rdma_ah_attr *attr);
void ipoib_ah_retire(struct ipoib_ah *ah);
void ipoib_ah_replace(struct ipoib_ah __rcu **slot, struct ipoib_ah *ah);
void ipoib_ahs_init(struct ipoib_dev *priv);
void ipoib_ahs_flush(struct ipoib_dev *priv);

#endif /* _IPOIB_AH_H */
