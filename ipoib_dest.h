/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Destinations: the common part of paths and groups. A destination is identified by a GID. The
 * fabric is queried for it, and packets are sent to it with the AH made from the answer.
 */
#ifndef _IPOIB_DEST_H
#define _IPOIB_DEST_H

#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "ipoib_stat.h"

struct ipoib_ah;
struct ipoib_dev;

/* State of a request to the fabric */
enum ipoib_request {
	IPOIB_REQUEST_NONE,		/* no request is outstanding */
	IPOIB_REQUEST_SENT,		/* the fabric has not answered yet */
	IPOIB_REQUEST_ANSWERED,		/* the answer has not been processed by the control path */
};

/* The first member of struct ipoib_path and of struct ipoib_group */
struct ipoib_dest {
	struct rhash_head node;		/* in ipoib_dests.table */
	union ib_gid gid;
	struct ipoib_ah __rcu *ah;	/* or NULL; written by the control path */
	unsigned long used;		/* jiffies when a packet was last sent to it */

	/* guarded by ipoib_dests.lock */
	struct list_head busy;		/* in ipoib_dests.busy */
	struct sk_buff_head queue;	/* packets that wait for the AH */
	enum ipoib_request request;
	bool dead;			/* removed from the table: no packet may be queued */

	/* control path only */
	bool asked;			/* counted in ipoib_dests.asked */
	u8 failures;			/* consecutive failures */
	unsigned long asked_at;		/* jiffies when the request was sent */
	unsigned long retry_at;		/* jiffies before which it is not asked for again */
	struct list_head waits;		/* in ipoib_dests.waiting or .failing */
	struct rcu_head rcu;
};

/* Limits for the requests to the fabric for one kind of destination */
struct ipoib_dests_pace {
	u32 first;			/* initial window, in requests */
	u32 min;			/* smallest window */
	u32 max;			/* largest window */
	unsigned long retry;		/* interval between scans of failing ones, in jiffies */
};

/* All destinations of one kind (paths or groups) of a device */
struct ipoib_dests {
	struct rhashtable table;
	struct ipoib_dev *priv;

	/* Guards the next two members, and the members of each destination that are marked so.
	 * Nests inside a TX queue's lock and inside the lock of ipoib_roce.c. The lock of
	 * ipoib_learn.c nests inside it.
	 */
	spinlock_t lock;
	struct list_head busy;		/* destinations that the work has to look at */
	u32 queued;			/* queued packets of all destinations, or their octets */

	/* control path only */
	const struct ipoib_dests_pace *pace;
	u32 window;			/* limit of outstanding requests */
	u32 asked;			/* outstanding requests */
	struct list_head waiting;	/* destinations to ask for when the window allows, FIFO */
	struct list_head failing;	/* destinations to ask for at their retry_at */
	unsigned long retry_at;		/* jiffies when the failing ones are scanned next */
};

/* Processes one destination on the control path */
typedef void (*ipoib_dest_step)(struct ipoib_dev *priv, struct ipoib_dest *dest);

/* rhashtable_params.hashfn of tables that are indexed by GID. Peers can choose all octets, also
 * those of the subnet prefix, by claiming a GID. So all enter the hash in full: if two GIDs had the
 * same hash with every seed, a peer could make one long chain of them.
 */
static inline u32 ipoib_gid_hash(const void *gid, u32 len, u32 seed)
{
	u32 words[sizeof(union ib_gid) / sizeof(u32)];

	memcpy(words, gid, sizeof(words));
	return jhash2(words, ARRAY_SIZE(words), seed);
}

static inline bool ipoib_gid_equal(const void *a, const void *b)
{
	return !((get_unaligned((const u64 *)a) ^ get_unaligned((const u64 *)b)) |
		 (get_unaligned((const u64 *)a + 1) ^ get_unaligned((const u64 *)b + 1)));
}

/* rhashtable_params.obj_cmpfn: returns 0 if the destination has the GID */
static inline int ipoib_dest_is_other(struct rhashtable_compare_arg *arg, const void *dest)
{
	return !ipoib_gid_equal(arg->key, ((const struct ipoib_dest *)dest)->gid.raw);
}

static const struct rhashtable_params ipoib_dest_params = {
	.hashfn = ipoib_gid_hash,
	.obj_cmpfn = ipoib_dest_is_other,
	.key_len = sizeof_field(struct ipoib_dest, gid),
	.key_offset = offsetof(struct ipoib_dest, gid),
	.head_offset = offsetof(struct ipoib_dest, node),
	.automatic_shrinking = true,
};

/* Returns the destination or NULL. The caller is in an RCU read-side critical section. Inline,
 * since each packet to a group and many packets to paths call it.
 */
static inline struct ipoib_dest *ipoib_dest_find_rcu(struct ipoib_dests *dests, const void *gid)
{
	return rhashtable_lookup(&dests->table, gid, ipoib_dest_params);
}

/* Notes that a packet is sent to the destination. Writes at most once per jiffy, so that the
 * cache line stays shared between CPUs.
 */
static inline void ipoib_dest_use(struct ipoib_dest *dest)
{
	unsigned long now = jiffies;

	if (READ_ONCE(dest->used) != now)
		WRITE_ONCE(dest->used, now);
}

int ipoib_dests_init(struct ipoib_dests *dests, struct ipoib_dev *priv,
		     const struct ipoib_dests_pace *pace);
void ipoib_dests_destroy(struct ipoib_dests *dests);
void ipoib_dests_walk(struct ipoib_dests *dests, void (*see)(void *entry, void *context),
		      void *context);
struct ipoib_dest *ipoib_dest_find(struct ipoib_dests *dests, const void *gid);
void ipoib_dests_sync(struct ipoib_dests *dests);
int ipoib_dest_add(struct ipoib_dests *dests, struct ipoib_dest *dest, const void *gid);
void ipoib_dest_remove(struct ipoib_dests *dests, struct ipoib_dest *dest);
void ipoib_dest_make_busy(struct ipoib_dests *dests, struct ipoib_dest *dest);
void ipoib_dests_serve(struct ipoib_dests *dests, ipoib_dest_step serve);
void ipoib_dest_asked(struct ipoib_dests *dests, struct ipoib_dest *dest);
void ipoib_dest_not_asked(struct ipoib_dests *dests, struct ipoib_dest *dest);
void ipoib_dest_answered(struct ipoib_dests *dests, struct ipoib_dest *dest);
void ipoib_dest_failed(struct ipoib_dest *dest);
void ipoib_dest_await(struct ipoib_dests *dests, struct ipoib_dest *dest);
void ipoib_dests_retry(struct ipoib_dests *dests, ipoib_dest_step due);
struct ipoib_dest *ipoib_dests_next(struct ipoib_dests *dests);
unsigned long ipoib_dests_wait(const struct ipoib_dests *dests);

/* Packets that were queued for lack of an AH */
void ipoib_queue_resend(struct ipoib_dev *priv, struct sk_buff_head *queue);
void ipoib_queue_purge(struct ipoib_dev *priv, struct sk_buff_head *queue,
		       enum ipoib_stat why);

#endif /* _IPOIB_DEST_H */
