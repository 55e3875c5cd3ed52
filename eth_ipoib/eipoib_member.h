/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Groups that hosts of the Ethernet side have reported.
 */
#ifndef _EIPOIB_MEMBER_H
#define _EIPOIB_MEMBER_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct eipoib_dev;

/* General queries of one protocol, which hosts answer by reports. Times are in jiffies. */
struct eipoib_queries {
	unsigned long last;		/* when there was one */
	unsigned long before;		/* when there was one before that */
	unsigned long others;		/* when there was one of somebody else */
	bool any;			/* whether there was one */
	bool any_before;
	bool any_others;
};

/* Why a group is joined: hosts report it, or an IPv6 address requires it */
enum eipoib_member_reason {
	EIPOIB_MEMBER_REPORTED,
	EIPOIB_MEMBER_REQUIRED,
	EIPOIB_MEMBER_REASONS,
};

struct eipoib_members {
	struct rhashtable by_ip;	/* struct member */
	struct rhashtable by_mac;	/* struct member_owner */
	struct list_head list;		/* all of them, in the order of their numbers */
	unsigned long next_number;
	u32 count[EIPOIB_MEMBER_REASONS];	/* by reason; a group may have both */
	bool leaving;			/* one of them is being left, and the work looks often */
	struct eipoib_queries igmp;
	struct eipoib_queries mld;
	/* Guards all but the work; the address list lock of the lower netdevice nests inside */
	spinlock_t lock;
	struct delayed_work work;	/* leaves groups, and queries */
	unsigned long query_due;	/* jiffies of this host's next query, used by the work */
	u32 queries_sent;		/* since they were turned on, used by the work */
};

/* A group, for those who list them */
struct eipoib_member_info {
	unsigned long number;		/* that of no other group */
	struct in6_addr ip;
	u8 mac[ETH_ALEN];		/* the first host that has reported it, or requires it */
	unsigned long age;		/* jiffies since the last report */
};

int eipoib_members_init(struct eipoib_dev *eth);
void eipoib_members_destroy(struct eipoib_dev *eth);
bool eipoib_member_report(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
void eipoib_member_require(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac);
void eipoib_member_refresh(struct eipoib_dev *eth, const struct in6_addr *ip);
void eipoib_member_leave(struct eipoib_dev *eth, const struct in6_addr *ip);
void eipoib_members_queried(struct eipoib_dev *eth, __be16 protocol);
void eipoib_members_rejoin(struct eipoib_dev *eth);
void eipoib_members_query(struct eipoib_dev *eth);
u32 eipoib_members_count(const struct eipoib_dev *eth);
u32 eipoib_members_limit(void);
void eipoib_members_walk(struct eipoib_dev *eth, unsigned long first,
			 bool (*visit)(void *context, const struct eipoib_member_info *info),
			 void *context);

#endif /* _EIPOIB_MEMBER_H */
