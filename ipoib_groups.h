/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups: the types, and the functions that each of their source files exports.
 */
#ifndef _IPOIB_GROUPS_H
#define _IPOIB_GROUPS_H

#include "ipoib_dest.h"
#include "ipoib_inform.h"

#define IPOIB_GROUP_QUEUE_MAX	64	/* queued packets per group */
#define IPOIB_GROUPS_QUEUED_MAX	2048	/* queued packets per netdevice */
#define IPOIB_GROUPS_SENT_MAX	1024	/* send-only groups per netdevice */
#define IPOIB_GROUPS_LISTED_MAX	4096	/* groups that the IP layer has joined */
#define IPOIB_GROUPS_HEARD_MAX	16384	/* groups of other hosts that a router joins */

/* Parameters common to all members of a group: MCMemberRecord, IBA 15.2.5.17 */
struct ipoib_group_params {
	u32 qkey;
	u32 flow_label;
	u16 mlid;
	u8 mtu;				/* enum ib_mtu */
	u8 rate;			/* enum ib_rate */
	u8 sl;
	u8 traffic_class;
	u8 hop_limit;
	bool fleeting;			/* our membership does not keep the group alive */
};

/* Why this device is a member of a group */
enum ipoib_group_role {
	IPOIB_GROUP_SEND_ONLY,		/* the device only sends to it */
	IPOIB_GROUP_ROUTER,		/* other hosts use it, and a router receives all groups */
	IPOIB_GROUP_MEMBER,		/* the IP layer has joined it */
	IPOIB_GROUP_BROADCAST,		/* the broadcast group, which defines the link */
	IPOIB_GROUP_ROLES
};

/* One IB multicast group that this device is, or wants to be, a member of */
struct ipoib_group {
	struct ipoib_dest dest;		/* its GID is the MGID */
	struct ipoib_dev *priv;

	/* guarded by ipoib_dests.lock */
	int status;			/* of the last answer: 0 or a negative error */
	struct ipoib_group_params answer;

	/* control path only */
	struct list_head all;		/* in ipoib_groups.all */
	enum ipoib_group_role role;	/* written under ipoib_dests.lock */
	bool joined;			/* siblings read it, too */
	bool attached;			/* our QP receives from it */
	bool wanted;			/* the mark of a mark-and-sweep pass */
	bool fleeting;			/* counted in ipoib_groups.fleeting */
	bool refused;			/* the kind of membership that is better for a sender was
					 * refused: the other one is requested
					 */
	u32 listed;			/* ipoib_group_news.round when the fabric last listed it */
	u32 doubted;			/* it was reported deleted: the list of this round decides;
					 * 0 if it is not in doubt
					 */
	unsigned long reported;		/* jiffies when it was last reported that it was created */
	unsigned long created;		/* jiffies */
	struct ipoib_group_params params;
	void *membership;		/* private to the fabric service */
};

static inline struct ipoib_group *ipoib_group_of(struct ipoib_dest *dest)
{
	return container_of(dest, struct ipoib_group, dest);
}

/* A report that the control path has not read yet */
struct ipoib_group_report {
	struct list_head node;		/* in ipoib_group_news.reports */
	union ib_gid mgid;
	bool exists;			/* true if the group was created, false if it was deleted */
};

/* What the fabric reports about the groups of other hosts; see ipoib_router.c */
struct ipoib_group_news {
	spinlock_t lock;		/* guards the next five members; no lock nests inside */
	struct list_head reports;	/* reports that have not been read */
	unsigned int reports_count;
	union ib_gid *list;		/* the answer to ipoib_fabric_ops.list; kvfree() */
	int list_count;			/* entries of the list, or a negative error */
	enum ipoib_request list_request;

	bool list_wanted;		/* the fabric's list must be read */
	bool reports_begin;		/* earlier reports may be missing: read the list */
	bool reports_come;		/* the fabric delivers reports */

	/* control path only */
	bool doubts;			/* some groups are doubted */
	u8 list_failures;		/* consecutive failures */
	enum ipoib_reports wanted;	/* the reports that were requested */
	u32 round;			/* number of requests for the list */
	unsigned long list_at;		/* jiffies when the list is to be requested next */
};

/* All groups of a device; see ipoib_join.c, ipoib_multicast.c, ipoib_router.c, ipoib_groups.c */
struct ipoib_groups {
	struct ipoib_dests dests;	/* .queued counts packets; .lock guards the next member */
	u32 of[IPOIB_GROUP_ROLES];	/* number of groups per role */
	bool mc_list_changed;		/* the netdevice's multicast list must be read */

	/* control path only */
	bool routing;			/* a router: joins all groups of the link */
	unsigned long left_at;		/* jiffies when a membership was last given up */
	unsigned int fleeting;		/* number of groups that are ipoib_group.fleeting */
	struct list_head all;
	struct ipoib_group *broadcast;	/* NULL until the link is brought up */
	struct ipoib_group_news news;
	struct delayed_work work;
	struct delayed_work expire_work;
};

/* For how long the port may still be a member of a group that was left: ib_core sends the SA up to
 * four requests, three seconds apart
 */
#define IPOIB_LEAVE_TIME	(15 * HZ)

/* Delay until the fabric's list of groups is read when a group may no longer exist. One reading
 * serves all the groups that come into doubt within that time.
 */
#define IPOIB_LIST_DOUBT	(5 * HZ)

/* ipoib_join.c: joining of groups */
void ipoib_groups_kick(struct ipoib_dev *priv);
void ipoib_groups_doubt(struct ipoib_dev *priv);
void ipoib_group_answer(struct ipoib_group *group, int status,
			const struct ipoib_group_params *params);
void ipoib_group_detach(struct ipoib_group *group);
void ipoib_group_leave(struct ipoib_group *group);
void ipoib_group_set_role(struct ipoib_group *group, enum ipoib_group_role role);
void ipoib_group_rejoin(struct ipoib_group *group, enum ipoib_group_role role);
void ipoib_groups_hurry(struct ipoib_dev *priv);
void ipoib_group_drop_queued(struct ipoib_group *group);
void ipoib_group_set_fleeting(struct ipoib_group *group, bool fleeting);
unsigned long ipoib_groups_join(struct ipoib_dev *priv);
int ipoib_groups_join_init(struct ipoib_dev *priv);

/* ipoib_multicast.c: the set of groups of a device */
struct ipoib_ah *ipoib_group_xmit(struct ipoib_dev *priv, struct sk_buff *skb);
bool ipoib_group_appeared(struct ipoib_dev *priv, union ib_gid *mgid);
void ipoib_group_was_created(struct ipoib_dev *priv, const union ib_gid *mgid);
void ipoib_group_vanished(struct ipoib_dev *priv, const union ib_gid *mgid);
bool ipoib_group_is_of_sibling(struct ipoib_dev *priv, const union ib_gid *mgid);
bool ipoib_group_is_of_user(struct ipoib_dev *priv, union ib_gid *mgid);
void ipoib_group_was_listed(struct ipoib_dev *priv, const union ib_gid *mgid);
void ipoib_groups_judge(struct ipoib_dev *priv);
void ipoib_groups_follow_routing(struct ipoib_dev *priv);
void ipoib_groups_confirm(struct ipoib_dev *priv);
void ipoib_groups_adopt(struct ipoib_dev *priv);
void ipoib_groups_follow_list(struct ipoib_dev *priv);
void ipoib_groups_remove(struct ipoib_dev *priv);
struct ipoib_group *ipoib_group_create_broadcast(struct ipoib_dev *priv);
void ipoib_groups_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		       void *context);
void ipoib_groups_expire_init(struct ipoib_dev *priv);

/* ipoib_router.c: reports about the groups of other hosts */
void ipoib_group_report(struct ipoib_dev *priv, const union ib_gid *mgid, bool exists);
void ipoib_groups_reported(struct ipoib_dev *priv, int status);
void ipoib_groups_listed(struct ipoib_dev *priv, int count, union ib_gid *mgids);
void ipoib_router_read(struct ipoib_dev *priv);
unsigned long ipoib_router_ask(struct ipoib_dev *priv);
bool ipoib_groups_routing(const struct ipoib_dev *priv);
void ipoib_router_init(struct ipoib_dev *priv);
void ipoib_router_stop(struct ipoib_dev *priv);

/* ipoib_groups.c: the work that processes groups; starting and stopping them */
void ipoib_groups_changed(struct ipoib_dev *priv);
void ipoib_groups_start(struct ipoib_dev *priv);
void ipoib_groups_stop(struct ipoib_dev *priv);
const struct ipoib_group_params *ipoib_groups_link_params(const struct ipoib_dev *priv);
int ipoib_groups_init(struct ipoib_dev *priv);
void ipoib_groups_destroy(struct ipoib_dev *priv);

#endif /* _IPOIB_GROUPS_H */
