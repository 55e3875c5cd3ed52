/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of multicast groups, each file's for those above it. Read by ipoib.h, which
 * has the types.
 */
#ifndef _IPOIB_GROUPS_H
#define _IPOIB_GROUPS_H

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
