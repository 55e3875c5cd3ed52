// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups: the attachments of an HCA's QPs to MGIDs.
 */
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "ibfab.h"

/**
 * ibfab_mcast_bucket() - Find the list that has a group's attachments.
 * @hca: the HCA
 * @mgid: the group's MGID
 *
 * Context: any; the list is walked under rcu_read_lock() or mcast_lock.
 * Return: the list, which may have attachments of other groups too.
 */
struct hlist_head *ibfab_mcast_bucket(struct ibfab_hca *hca,
				      const union ib_gid *mgid)
{
	return &hca->mcast[jhash(mgid, sizeof(*mgid), 0) % IBFAB_MCAST_BUCKETS];
}

/**
 * ibfab_mcast_attached() - Whether any QP of an HCA is attached to a group.
 * @hca: the HCA
 * @mgid: the group
 *
 * Context: under rcu_read_lock().
 * Return: true if one is.
 */
bool ibfab_mcast_attached(struct ibfab_hca *hca, const union ib_gid *mgid)
{
	struct ibfab_mcast *m;

	hlist_for_each_entry_rcu(m, ibfab_mcast_bucket(hca, mgid), node)
		if (!memcmp(&m->mgid, mgid, sizeof(*mgid)))
			return true;
	return false;
}

/* Called with mcast_lock held */
static struct ibfab_mcast *mcast_find(struct ibfab_qp *qp,
				      const union ib_gid *mgid)
{
	struct ibfab_mcast *m;

	hlist_for_each_entry(m, ibfab_mcast_bucket(qp->hca, mgid), node)
		if (m->qp == qp && !memcmp(&m->mgid, mgid, sizeof(*mgid)))
			return m;
	return NULL;
}

/**
 * ibfab_attach_mcast() - Verb: attach a QP to a multicast group.
 * @ibqp: the QP
 * @gid: the group's MGID
 * @lid: the group's MLID, which is not used: once the switches have brought a packet to the
 *	HCA, its MGID alone identifies the group
 *
 * Context: process.
 * Return: 0, also if the QP is attached already (11.3.1), or -ENOMEM.
 */
int ibfab_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ibfab_qp *qp = to_qp(ibqp);
	struct ibfab_mcast *m;
	unsigned long flags;

	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->mgid = *gid;
	m->qp = qp;

	spin_lock_irqsave(&qp->hca->mcast_lock, flags);
	if (mcast_find(qp, gid))
		kfree(m);
	else
		hlist_add_head_rcu(&m->node, ibfab_mcast_bucket(qp->hca, gid));
	spin_unlock_irqrestore(&qp->hca->mcast_lock, flags);
	return 0;
}

/**
 * ibfab_detach_mcast() - Verb: detach a QP from a multicast group.
 * @ibqp: the QP
 * @gid: the group's MGID
 * @lid: the group's MLID, which is not used
 *
 * Context: process.
 * Return: 0, or -EINVAL if the QP is not attached.
 */
int ibfab_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ibfab_qp *qp = to_qp(ibqp);
	struct ibfab_mcast *m;
	unsigned long flags;

	spin_lock_irqsave(&qp->hca->mcast_lock, flags);
	m = mcast_find(qp, gid);
	if (m)
		hlist_del_rcu(&m->node);
	spin_unlock_irqrestore(&qp->hca->mcast_lock, flags);
	if (!m)
		return -EINVAL;
	kfree_rcu(m, rcu);
	return 0;
}
