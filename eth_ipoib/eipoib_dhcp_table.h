/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The DHCP clients of the Ethernet side that wait for an answer.
 */
#ifndef _EIPOIB_DHCP_TABLE_H
#define _EIPOIB_DHCP_TABLE_H

#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define EIPOIB_DHCP_BUCKETS	256

/* What a client has asked for */
struct eipoib_dhcp_asked {
	__be32 xid;
	__be32 wanted;			/* the address that it has requested, or 0 */
	u8 mac[ETH_ALEN];
	bool rewritten;			/* into the form of RFC 4390 */
	bool id_added;			/* ... with an identifier that is not its own */
};

struct eipoib_dhcp_table {
	spinlock_t lock;		/* guards all of this; nothing nests inside */
	struct list_head entries;	/* struct dhcp_entry, the oldest first */
	u32 count;			/* length of that list */
	u32 seed;			/* of the hashes */
	struct hlist_head by_mac[EIPOIB_DHCP_BUCKETS];
	struct hlist_head by_xid[EIPOIB_DHCP_BUCKETS];	/* those that were rewritten */
};

void eipoib_dhcp_table_init(struct eipoib_dhcp_table *table);
void eipoib_dhcp_table_destroy(struct eipoib_dhcp_table *table);
void eipoib_dhcp_table_expire(struct eipoib_dhcp_table *table);
bool eipoib_dhcp_remember(struct eipoib_dhcp_table *table, struct eipoib_dhcp_asked *asked);
bool eipoib_dhcp_asked_by(struct eipoib_dhcp_table *table, __be32 xid, const u8 *mac,
			  struct eipoib_dhcp_asked *asked);
bool eipoib_dhcp_asked_rewritten(struct eipoib_dhcp_table *table, __be32 xid,
				 struct eipoib_dhcp_asked *asked);

#endif /* _EIPOIB_DHCP_TABLE_H */
