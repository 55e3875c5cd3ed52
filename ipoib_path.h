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

#define IPOIB_PATH_QUEUE_MAX	32	/* packets that wait for one path */
#define IPOIB_PATHS_QUEUED_MAX	SZ_16M	/* octets of memory that wait for all of them */
#define IPOIB_PATHS_MAX		65536	/* more than a subnet has unicast LIDs */

/* One question to the fabric: by which path is this GID reached? */
struct ipoib_path_query {
	struct ipoib_path *path;
	struct ipoib_dev *priv;
	struct completion done;		/* the fabric is through with the query */
	int status;			/* 0, or a negative error */
	struct rdma_ah_attr attr;	/* valid if status is 0 */
	void *handle;			/* the fabric service's own, as are these */
	int handle_id;
	void *own;			/* memory, freed with the query */
};

/* Where a packet with a GRH came from, as its completion tells */
struct ipoib_heard {
	u16 lid;
	u8 sl;
	bool needs_grh;			/* its port gets no packet that has none */
};

/*
 * What is known about one peer GID. All neighbours behind that GID share it:
 * the QPN, the only other thing that a packet needs, stands in its
 * destination's link-layer address.
 */
struct ipoib_path {
	struct ipoib_dest dest;		/* its GID is the peer's */

	/* guarded by ipoib_dests.lock */
	struct ipoib_heard heard;	/* to make a stopgap of; LID 0: nothing new */
	unsigned long doubted;		/* jiffies when a packet last had it asked for */
	bool ask;			/* the fabric is to be asked */

	bool needs_grh;			/* as the peer said; read by all */
	bool stopgap;			/* the AH is not the fabric's answer; written by the
					 * control path, read by all
					 */

	/* control path only */
	struct ipoib_path_query *query;
};

/* All of a device's; ipoib_arp.c */
struct ipoib_paths {
	struct ipoib_dests dests;	/* .queued counts octets of memory */
	struct delayed_work work;
	struct delayed_work expire_work;
};

/* How a LID and the path to a GID agree */
enum ipoib_path_match {
	IPOIB_PATH_UNKNOWN,		/* there is no path */
	IPOIB_PATH_SAME,		/* a LID of the same port */
	IPOIB_PATH_OTHER,
};

struct ipoib_ah *ipoib_path_xmit(struct ipoib_txq *tx, struct sk_buff *skb);
void ipoib_path_answer(struct ipoib_path_query *query, int status);
void ipoib_path_heard(struct ipoib_dev *priv, const union ib_gid *gid,
		      const struct ipoib_heard *heard);
void ipoib_path_doubt(struct ipoib_dev *priv, const union ib_gid *gid);
enum ipoib_path_match ipoib_path_compare(struct ipoib_dev *priv, const union ib_gid *gid,
					 u32 lid);
bool ipoib_same_port(const struct ipoib_dev *priv, u32 lid, u32 other);
void ipoib_paths_refresh(struct ipoib_dev *priv);
void ipoib_paths_flush(struct ipoib_dev *priv);
void ipoib_paths_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		      void *context);
int ipoib_paths_init(struct ipoib_dev *priv);
void ipoib_paths_destroy(struct ipoib_dev *priv);

#endif /* _IPOIB_PATH_H */
