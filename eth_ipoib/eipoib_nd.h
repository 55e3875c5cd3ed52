/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Neighbor discovery: options with link-layer addresses, and messages of this module's own.
 */
#ifndef _EIPOIB_ND_H
#define _EIPOIB_ND_H

#include <linux/ipv6.h>
#include <net/ndisc.h>

#include "eipoib_wire.h"

#define EIPOIB_ND_HOP_LIMIT	255

/* The options, and the address in them (RFC 2464 section 6; RFC 4391 section 9.3) */
struct eipoib_nd_opt_eth {
	struct nd_opt_hdr head;
	u8 mac[ETH_ALEN];
} __packed;
static_assert(sizeof(struct eipoib_nd_opt_eth) == 8);

struct eipoib_nd_opt_ib {
	struct nd_opt_hdr head;
	u8 zero[2];
	struct eipoib_lladdr lladdr;
} __packed;
static_assert(sizeof(struct eipoib_nd_opt_ib) == 24);

#define EIPOIB_ND_UNIT		8	/* octets that the length of an option counts */

__sum16 eipoib_nd_checksum(const struct ipv6hdr *ip6, u32 len);
void eipoib_nd_finish(struct sk_buff *skb);
struct eipoib_nd_opt_ib *eipoib_nd_put_ib(struct sk_buff *skb, u8 type);
struct eipoib_nd_opt_eth *eipoib_nd_put_eth(struct sk_buff *skb, u8 type);

#endif /* _EIPOIB_ND_H */
