/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that wait until it is known which MAC address an IP address has.
 */
#ifndef _EIPOIB_WAIT_H
#define _EIPOIB_WAIT_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "eipoib_stat.h"

struct eipoib_dev;

struct eipoib_wait {
	spinlock_t lock;		/* guards ips and count; nothing nests inside */
	struct list_head ips;		/* struct wait_ip, the oldest first */
	u32 count;			/* length of that list */
	struct eipoib_dev *eth;
	enum eipoib_stat unanswered;	/* counts those that have waited for too long */
	void (*go_on)(struct eipoib_dev *eth, struct sk_buff *skb);
	struct delayed_work work;	/* drops those that have waited for too long */
};

/* What becomes of a packet */
enum eipoib_waiting {
	EIPOIB_WAIT_FIRST,		/* it waits, and somebody has to be asked */
	EIPOIB_WAIT_MORE,		/* it waits, and somebody has been asked */
	EIPOIB_WAIT_REFUSED,		/* too many are waiting; the caller has it */
};

void eipoib_wait_init(struct eipoib_wait *wait, struct eipoib_dev *eth, enum eipoib_stat unanswered,
		      void (*go_on)(struct eipoib_dev *eth, struct sk_buff *skb));
void eipoib_wait_destroy(struct eipoib_wait *wait);
enum eipoib_waiting eipoib_wait_add(struct eipoib_wait *wait, const struct in6_addr *ip,
				    const u8 *mac, struct sk_buff *skb);
void eipoib_wait_end(struct eipoib_wait *wait, const struct in6_addr *ip);

#endif /* _EIPOIB_WAIT_H */
