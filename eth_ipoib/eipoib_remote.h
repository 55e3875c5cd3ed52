/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interfaces of an IPoIB link, and the MAC addresses that they have on the Ethernet side.
 */
#ifndef _EIPOIB_REMOTE_H
#define _EIPOIB_REMOTE_H

#include <linux/rhashtable.h>
#include <linux/spinlock.h>

#include "eipoib_wire.h"

/* A MAC address that no interface has: a packet for it is sent by its IP address */
#define EIPOIB_NOBODY	((const u8[ETH_ALEN]) { 0x02 })

struct eipoib_remotes {
	struct rhashtable by_lladdr;	/* struct remote, by QPN and GID */
	struct rhashtable by_mac;	/* the same ones, by MAC address */
	spinlock_t lock;		/* guards changes; nothing nests inside */
};

int eipoib_remotes_init(struct eipoib_remotes *remotes);
void eipoib_remotes_destroy(struct eipoib_remotes *remotes);
bool eipoib_remote_mac(struct eipoib_remotes *remotes, const struct eipoib_lladdr *lladdr, u8 *mac);
void eipoib_remote_set_flags(struct eipoib_remotes *remotes, const struct eipoib_lladdr *lladdr);
bool eipoib_remote_is(struct eipoib_remotes *remotes, const u8 *mac);
bool eipoib_remote_lladdr(struct eipoib_remotes *remotes, const u8 *mac,
			  struct eipoib_lladdr *lladdr);
void eipoib_remotes_expire(struct eipoib_remotes *remotes, unsigned long age);

#endif /* _EIPOIB_REMOTE_H */
