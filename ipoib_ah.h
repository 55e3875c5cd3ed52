/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address handles, and when they can be destroyed.
 */
#ifndef _IPOIB_AH_H
#define _IPOIB_AH_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct ipoib_dev;

/*
 * An address handle, published by one path or group. Retired when replaced,
 * destroyed once the send ring shows that no WR can still refer to it.
 */
struct ipoib_ah {
	struct ib_ah *ibah;
	struct ipoib_dev *priv;
	struct list_head dead;		/* in ipoib_ahs.dead or .going */
	u32 dlid;			/* for debugfs, as are these */
	u8 sl;
	u8 rate;			/* enum ib_rate */
	bool grh;
};

/* AHs that are not published any more; ipoib_ah.c */
struct ipoib_ahs {
	spinlock_t lock;		/* guards the next two; innermost */
	struct list_head dead;		/* for the next turn of the work */
	struct rcu_gp_oldstate dead_seen;	/* when the last of these died */

	/* control path only */
	struct list_head going;		/* until the send rings are past their marks */
	struct rcu_gp_oldstate going_seen;	/* until a grace period later, by xmits */
	bool marked;			/* that is over: the rings have their marks */
	bool waiting;			/* the work is to be told when a send ring moves; read by
					 * its poll
					 */
	struct delayed_work work;
};

struct ipoib_ah *ipoib_ah_create(struct ipoib_dev *priv, struct rdma_ah_attr *attr);
void ipoib_ah_retire(struct ipoib_ah *ah);
void ipoib_ah_replace(struct ipoib_ah __rcu **slot, struct ipoib_ah *ah);
void ipoib_ahs_init(struct ipoib_dev *priv);
void ipoib_ahs_flush(struct ipoib_dev *priv);

#endif /* _IPOIB_AH_H */
