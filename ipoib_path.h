/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Paths to peers' ports.
 */
#ifndef _IPOIB_PATH_H
#define _IPOIB_PATH_H

#include <linux/completion.h>
#include <linux/sizes.h>

#include "ipoib_dest.h"

struct ipoib_txq;
struct sa_path_rec;

#define IPOIB_PATH_QUEUE_MAX	32	/* queued packets per path */
#define IPOIB_PATHS_QUEUED_MAX	SZ_16M	/* octets of memory in the queues of all paths */
#define IPOIB_PATHS_MAX		65536	/* more than a subnet has unicast LIDs */

/* One query to the fabric for the path to a GID */
struct ipoib_path_query {
	struct ipoib_path *path;
	struct ipoib_dev *priv;
	struct completion done;		/* the fabric service no longer uses the query */
	int status;			/* 0, or a negative error */
	struct rdma_ah_attr attr;	/* valid if status is 0 */
	u8 mtu;				/* enum ib_mtu of the path; 0 if it is not known */
	void *handle;			/* this and the rest are private to the fabric service */
	int handle_id;
	void *own;			/* kfree()d with the query */
};

/* Where a packet with a GRH came from, according to its CQE */
struct ipoib_heard {
	u16 lid;
	u8 sl;
	bool needs_grh;			/* packets without a GRH do not reach the sender's port */
};

/*
 * The path to one peer GID. All neighbours with that GID share it, since the
 * only other thing needed to send a packet, the QPN, is part of the
 * destination's link-layer address.
 */
struct ipoib_path {
	struct ipoib_dest dest;		/* its GID is the peer's */

	/* guarded by ipoib_dests.lock */
	struct ipoib_heard heard;	/* for a stopgap AH; LID 0 if there is nothing new */
	unsigned long doubted;		/* jiffies when a received packet last caused a query */
	bool ask;			/* the fabric must be queried */

	bool needs_grh;			/* the peer's packets show it; read without the lock */
	bool stopgap;			/* the AH was made from a received packet; written by the
					 * control path, read without the lock
					 */

	/* control path only */
	struct ipoib_path_query *query;
};

/* All paths of a device; see ipoib_arp.c */
struct ipoib_paths {
	struct ipoib_dests dests;	/* .queued counts octets of memory */
	struct delayed_work work;
	struct delayed_work expire_work;
};

/* Result of comparing a LID with the path to a GID */
enum ipoib_path_match {
	IPOIB_PATH_UNKNOWN,		/* there is no path */
	IPOIB_PATH_SAME,		/* the path leads to the port that has the LID */
	IPOIB_PATH_OTHER,		/* the path leads to another port */
};

struct ipoib_ah *ipoib_path_xmit(struct ipoib_txq *tx, struct sk_buff *skb);
void ipoib_path_answer(struct ipoib_path_query *query, int status);
void ipoib_path_heard(struct ipoib_dev *priv, const union ib_gid *gid,
		      const struct ipoib_heard *heard);
void ipoib_path_doubt(struct ipoib_dev *priv, const union ib_gid *gid);
bool ipoib_path_differs(struct ipoib_dev *priv, const void *gid, u32 lid, u8 sl);
enum ipoib_path_match ipoib_path_compare(struct ipoib_dev *priv, const union ib_gid *gid,
					 u32 lid);
int ipoib_path_record(struct ipoib_dev *priv, const void *gid, struct sa_path_rec *rec);
void ipoib_paths_refresh(struct ipoib_dev *priv);
void ipoib_paths_flush(struct ipoib_dev *priv);
void ipoib_paths_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		      void *context);
int ipoib_paths_init(struct ipoib_dev *priv);
void ipoib_paths_destroy(struct ipoib_dev *priv);

#endif /* _IPOIB_PATH_H */
