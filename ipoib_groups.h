/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups: the types, and the functions of each file for those above it.
 */
#ifndef _IPOIB_GROUPS_H
#define _IPOIB_GROUPS_H

#include "ipoib_dest.h"
#include "ipoib_inform.h"

#define IPOIB_GROUP_QUEUE_MAX	64	/* packets that wait for one group ... */
#define IPOIB_GROUPS_QUEUED_MAX	2048	/* ... and for all of a netdevice's */
#define IPOIB_GROUPS_SENT_MAX	1024	/* groups that are only sent to */
#define IPOIB_GROUPS_LISTED_MAX	4096	/* that the IP layer listens to */
#define IPOIB_GROUPS_HEARD_MAX	16384	/* that a router hears because others have them */

/* What the members of a group share: MCMemberRecord, IBA 15.2.5.17 */
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

/* Why this device has a group */
enum ipoib_group_role {
	IPOIB_GROUP_SEND_ONLY,		/* only sends to it */
	IPOIB_GROUP_ROUTER,		/* others have it, and we hear all groups */
	IPOIB_GROUP_MEMBER,		/* the IP layer listens to it */
	IPOIB_GROUP_BROADCAST,		/* the broadcast group: makes the link */
	IPOIB_GROUP_ROLES
};

/* One IB multicast group that this device is, or wants to be, a member of */
struct ipoib_group {
	struct ipoib_dest dest;		/* its GID is the MGID */
	struct ipoib_dev *priv;

	/* guarded by ipoib_dests.lock */
	int status;			/* of the last answer */
	struct ipoib_group_params answer;

	/* control path only */
	struct list_head all;		/* in ipoib_groups.all */
	enum ipoib_group_role role;	/* written under ipoib_dests.lock */
	bool joined;
	bool attached;			/* our QP receives from it */
	bool wanted;			/* mark of mark-and-sweep */
	bool fleeting;			/* counted in ipoib_groups.fleeting */
	u32 listed;			/* ipoib_group_news.round when last seen at the fabric */
	unsigned long created;		/* jiffies */
	struct ipoib_group_params params;
	void *membership;		/* the fabric service's own */
};

static inline struct ipoib_group *ipoib_group_of(struct ipoib_dest *dest)
{
	return container_of(dest, struct ipoib_group, dest);
}

/* One of them, until the control path has read it */
struct ipoib_group_report {
	struct list_head node;		/* in ipoib_group_news.reports */
	union ib_gid mgid;
	bool exists;			/* now; else it was deleted */
};

/* What the fabric tells of the groups that others have; ipoib_router.c */
struct ipoib_group_news {
	spinlock_t lock;		/* guards the next five; innermost */
	struct list_head reports;	/* to be read */
	unsigned int reports_count;
	union ib_gid *list;		/* the answer to ipoib_fabric_ops.list; kvfree() */
	int list_count;			/* of it, or a negative error */
	enum ipoib_request list_request;

	bool list_wanted;		/* the fabric's list needs a look */
	bool reports_begin;		/* they come from now on; before, some may be missing */
	bool reports_come;

	/* control path only */
	bool broadcast_doubted;		/* reported deleted: the list has to tell */
	u8 list_failures;		/* since the last success */
	enum ipoib_reports wanted;	/* asked for */
	u32 round;			/* counts the questions for the list */
	unsigned long list_at;		/* jiffies of the next */
};

/* All of a device's groups; ipoib_join.c, ipoib_multicast.c, ipoib_router.c, ipoib_groups.c */
struct ipoib_groups {
	struct ipoib_dests dests;	/* .queued counts packets; .lock guards the next one */
	u32 of[IPOIB_GROUP_ROLES];	/* how many have each role */
	bool mc_list_changed;		/* the IP layer's list needs a look */

	/* control path only */
	bool routing;			/* a member of all groups there are */
	unsigned int fleeting;		/* how many memberships do not keep their group */
	struct list_head all;
	struct ipoib_group *broadcast;	/* NULL until the link is to be made */
	struct ipoib_group_news news;
	struct delayed_work work;
	struct delayed_work expire_work;
};

/* How soon the fabric's list of groups is read for whoever doubts that a group exists. All who do
 * so meanwhile are told by the same list.
 */
#define IPOIB_LIST_DOUBT	(5 * HZ)

/* ipoib_join.c: how groups are asked for */
void ipoib_groups_kick(struct ipoib_dev *priv);
void ipoib_groups_doubt(struct ipoib_dev *priv);
void ipoib_group_answer(struct ipoib_group *group, int status,
			const struct ipoib_group_params *params);
void ipoib_group_detach(struct ipoib_group *group);
void ipoib_group_leave(struct ipoib_group *group);
void ipoib_group_set_role(struct ipoib_group *group, enum ipoib_group_role role);
void ipoib_group_rejoin(struct ipoib_group *group, enum ipoib_group_role role);
void ipoib_group_drop_queued(struct ipoib_group *group);
void ipoib_group_set_fleeting(struct ipoib_group *group, bool fleeting);
unsigned long ipoib_groups_join(struct ipoib_dev *priv);
int ipoib_groups_join_init(struct ipoib_dev *priv);

/* ipoib_multicast.c: which groups there are */
struct ipoib_ah *ipoib_group_xmit(struct ipoib_dev *priv, struct sk_buff *skb);
void ipoib_group_forget(struct ipoib_group *group);
bool ipoib_group_appeared(struct ipoib_dev *priv, union ib_gid *mgid);
void ipoib_group_vanished(struct ipoib_dev *priv, const union ib_gid *mgid);
bool ipoib_group_is_of_user(struct ipoib_dev *priv, union ib_gid *mgid);
void ipoib_groups_sweep(struct ipoib_dev *priv);
void ipoib_groups_follow_routing(struct ipoib_dev *priv);
void ipoib_groups_confirm(struct ipoib_dev *priv);
void ipoib_groups_adopt(struct ipoib_dev *priv);
void ipoib_groups_follow_list(struct ipoib_dev *priv);
void ipoib_groups_remove(struct ipoib_dev *priv);
struct ipoib_group *ipoib_group_create_broadcast(struct ipoib_dev *priv);
void ipoib_groups_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		       void *context);
void ipoib_groups_expire_init(struct ipoib_dev *priv);

/* ipoib_router.c: news of the groups of others */
void ipoib_group_report(struct ipoib_dev *priv, const union ib_gid *mgid, bool exists);
void ipoib_groups_reported(struct ipoib_dev *priv, int status);
void ipoib_groups_listed(struct ipoib_dev *priv, int count, union ib_gid *mgids);
void ipoib_router_read(struct ipoib_dev *priv);
unsigned long ipoib_router_ask(struct ipoib_dev *priv);
bool ipoib_groups_routing(const struct ipoib_dev *priv);
void ipoib_router_init(struct ipoib_dev *priv);
void ipoib_router_stop(struct ipoib_dev *priv);

/* ipoib_groups.c: the groups' work and life */
void ipoib_groups_changed(struct ipoib_dev *priv);
void ipoib_groups_start(struct ipoib_dev *priv);
void ipoib_groups_stop(struct ipoib_dev *priv);
const struct ipoib_group_params *ipoib_groups_link_params(const struct ipoib_dev *priv);
int ipoib_groups_init(struct ipoib_dev *priv);
void ipoib_groups_destroy(struct ipoib_dev *priv);

#endif /* _IPOIB_GROUPS_H */
