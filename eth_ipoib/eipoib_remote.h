/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interfaces of an IPoIB link, and the MAC addresses that they have on the Ethernet side.
 */
#ifndef _EIPOIB_REMOTE_H
#define _EIPOIB_REMOTE_H

#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "eipoib_lru.h"
#include "eipoib_wire.h"

/* How many interfaces are known at most */
#define EIPOIB_REMOTES_MAX	16384

struct eipoib_dev;

struct eipoib_remotes {
	struct rhashtable by_lladdr;	/* struct remote, by QPN and GID */
	struct rhashtable by_mac;	/* the same ones, by MAC address */
	struct xarray by_number;	/* the same ones, in the order in which they were entered */
	struct list_head queue;		/* the same ones, see eipoib_lru.h */
	spinlock_t lock;		/* guards changes, the queue, and what follows */
	u32 next_number;
	struct eipoib_dev *eth;
};

/* An interface of the link, for those who list them */
struct eipoib_remote_info {
	unsigned long number;		/* that of no other interface */
	struct eipoib_lladdr lladdr;
	u8 mac[ETH_ALEN];
	unsigned long age;		/* jiffies since its last packet */
};

int eipoib_remotes_init(struct eipoib_remotes *remotes, struct eipoib_dev *eth);
void eipoib_remotes_destroy(struct eipoib_remotes *remotes);
bool eipoib_remote_mac(struct eipoib_remotes *remotes, const struct eipoib_lladdr *lladdr, u8 *mac);
void eipoib_remote_set_flags(struct eipoib_remotes *remotes, const struct eipoib_lladdr *lladdr);
bool eipoib_remote_is(struct eipoib_remotes *remotes, const u8 *mac);
bool eipoib_remote_lladdr(struct eipoib_remotes *remotes, const u8 *mac,
			  struct eipoib_lladdr *lladdr);
void eipoib_remote_mac_of(const struct eipoib_lladdr *lladdr, u8 *mac);
u32 eipoib_remotes_count(const struct eipoib_remotes *remotes);
void eipoib_remotes_walk(struct eipoib_remotes *remotes, unsigned long first,
			 bool (*visit)(void *context, const struct eipoib_remote_info *info),
			 void *context);
void eipoib_remotes_expire(struct eipoib_remotes *remotes, unsigned long age);

#endif /* _EIPOIB_REMOTE_H */
