/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What paths and groups have in common. Both are destinations: each is known by a GID, the
 * fabric is asked for it, and packets are sent to it by the AH that follows from the answer.
 */
#ifndef _IPOIB_DEST_H
#define _IPOIB_DEST_H

#include <asm/unaligned.h>
#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ipoib_stat.h"

struct ipoib_ah;
struct ipoib_dev;

/* How far a question to the fabric has come */
enum ipoib_request {
	IPOIB_REQUEST_NONE,		/* none under way */
	IPOIB_REQUEST_SENT,		/* the fabric owes an answer */
	IPOIB_REQUEST_ANSWERED,		/* the answer waits for the workqueue */
};

/* The beginning of struct ipoib_path and of struct ipoib_group */
struct ipoib_dest {
	struct rhash_head node;		/* in ipoib_dests.table */
	union ib_gid gid;
	struct ipoib_ah __rcu *ah;	/* NULL until there is one; written by the control path */
	unsigned long used;		/* jiffies of the last packet sent by it */

	/* guarded by ipoib_dests.lock */
	struct list_head busy;		/* in ipoib_dests.busy */
	struct sk_buff_head queue;	/* packets that wait for the AH */
	enum ipoib_request request;
	bool dead;			/* out of the table: queue nothing any more */

	/* control path only */
	bool asked;			/* counted in ipoib_dests.asked */
	u8 failures;			/* since the last success */
	unsigned long asked_at;		/* jiffies, as is */
	unsigned long retry_at;
	struct list_head waits;		/* in ipoib_dests.waiting or .failing */
	struct rcu_head rcu;
};

/* How the fabric is asked for destinations of a kind */
struct ipoib_dests_pace {
	u32 first;			/* the window, to begin with ... */
	u32 min;			/* ... and its limits */
	u32 max;
	unsigned long retry;		/* failing ones are looked through so often, in jiffies */
};

/* All of one kind that a device has */
struct ipoib_dests {
	struct rhashtable table;
	struct ipoib_dev *priv;

	/* Guards the next two members and, of each destination, those that say so. Nests inside a
	 * TX queue's lock, and that of ipoib_roce.c; that of ipoib_learn.c nests inside it.
	 */
	spinlock_t lock;
	struct list_head busy;		/* these have news for the work */
	u32 queued;			/* packets that wait in all, or their octets */

	/* control path only */
	const struct ipoib_dests_pace *pace;
	u32 window;			/* so many may be asked for at once */
	u32 asked;			/* so many are */
	struct list_head waiting;	/* until the window has room, by age */
	struct list_head failing;	/* until it is time to ask again */
	unsigned long retry_at;		/* jiffies when these need a look */
};

/* Takes a destination one step on, or decides about it */
typedef void (*ipoib_dest_step)(struct ipoib_dev *priv, struct ipoib_dest *dest);

/* rhashtable_params.hashfn of tables by GID: cheaper than jhash() of 16 octets. All of
 * those that peers can choose count; prefixes are few.
 */
static inline u32 ipoib_gid_hash(const void *gid, u32 len, u32 seed)
{
	u64 prefix = get_unaligned((const u64 *)gid), id = get_unaligned((const u64 *)gid + 1);

	return jhash_3words(id, id >> 32, prefix ^ (prefix >> 32), seed);
}

static inline bool ipoib_gid_equal(const void *a, const void *b)
{
	return !((get_unaligned((const u64 *)a) ^ get_unaligned((const u64 *)b)) |
		 (get_unaligned((const u64 *)a + 1) ^ get_unaligned((const u64 *)b + 1)));
}

/* For rhashtable: 0 if the destination is the one that is looked for */
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

/* On the RCU read side. In line, as each packet to a group and many to paths need it. */
static inline struct ipoib_dest *ipoib_dest_find_rcu(struct ipoib_dests *dests, const void *gid)
{
	return rhashtable_lookup(&dests->table, gid, ipoib_dest_params);
}

/* Not written by each packet, so that its cache line stays shared */
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

/* Packets that waited for an AH */
void ipoib_queue_resend(struct ipoib_dev *priv, struct sk_buff_head *queue);
void ipoib_queue_purge(struct ipoib_dev *priv, struct sk_buff_head *queue,
		       enum ipoib_stat why);

#endif /* _IPOIB_DEST_H */
