/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Announcements of where IP addresses of the Ethernet side are.
 */
#ifndef _EIPOIB_ANNOUNCE_H
#define _EIPOIB_ANNOUNCE_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct eipoib_dev;

/* How many hosts may have arrived shortly before */
#define EIPOIB_ARRIVALS		64

/* For how long a host has just arrived */
#define EIPOIB_ARRIVAL_TIME	(10 * HZ)

struct eipoib_arrival {
	u8 mac[ETH_ALEN];
	u32 questions;			/* about the sources of its packets, asked since */
	unsigned long when;		/* jiffies */
	unsigned long heard_first;	/* number of the IP address that it is asked for first */
	unsigned long heard_next;	/* that of the next one; after the last one follows 0 */
	u32 heard_left;			/* how many it may be asked for yet */
};

struct eipoib_announce {
	spinlock_t lock;		/* guards all but the works; nothing nests inside */
	struct list_head list;		/* struct announcement, the next one first */
	struct list_head all;		/* the same, made by eipoib_announce_all() */
	DECLARE_HASHTABLE(by_ip, 8);	/* those of both lists */
	u32 seed;			/* of that hash */
	u32 count;			/* length of both lists */
	struct eipoib_arrival arrivals[EIPOIB_ARRIVALS];
	u32 turn;			/* the number of the arrival that is asked next */
	bool any_arrived;		/* also read without the lock, as the next one is */
	unsigned long arrived;		/* jiffies of the last arrival */
	struct ratelimit_state eth_again;	/* has a lock of its own */
	struct delayed_work work;
	struct delayed_work ask_work;	/* asks the arrived hosts for addresses */
};

/* Returns whether any host has just arrived */
static inline bool eipoib_arrived(const struct eipoib_announce *announce)
{
	return READ_ONCE(announce->any_arrived) &&
	       time_before(jiffies, READ_ONCE(announce->arrived) + EIPOIB_ARRIVAL_TIME);
}

void eipoib_announce_init(struct eipoib_dev *eth);
void eipoib_announce_destroy(struct eipoib_dev *eth);
void eipoib_announce_mac(struct eipoib_dev *eth, const u8 *mac);
void eipoib_announce_all(struct eipoib_dev *eth);
void eipoib_announce_again(struct eipoib_dev *eth);
void eipoib_announce_eth(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
void eipoib_announce_eth_again(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
void eipoib_announce_learned(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
			     bool was_heard);
void eipoib_arrival(struct eipoib_dev *eth, const u8 *mac);
void eipoib_arrival_probes(struct eipoib_dev *eth, const u8 *mac);
void eipoib_arrival_verify(struct eipoib_dev *eth, const u8 *mac, const struct in6_addr *ip);

#endif /* _EIPOIB_ANNOUNCE_H */
