// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The work of a device's groups, and their life: what changes which groups there are
 * (ipoib_multicast.c) and what the fabric tells of others' (ipoib_router.c) come before what
 * has them joined (ipoib_join.c).
 */
#include "ipoib.h"

static void group_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, group_work.work);
	unsigned long wait;

	if (!priv->broadcast)
		return;
	ipoib_groups_adopt(priv);
	ipoib_router_read(priv);
	ipoib_groups_follow_list(priv);
	wait = min(ipoib_groups_join(priv), ipoib_router_ask(priv));
	if (READ_ONCE(priv->mc_list_changed))
		wait = min_t(unsigned long, wait, HZ);
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(priv->wq, &priv->group_work, wait);
}

/**
 * ipoib_groups_changed() - the IP layer's multicast list has changed
 * @priv: the device
 *
 * Context: any but hard interrupt.
 */
void ipoib_groups_changed(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->mc_list_changed, true);
	ipoib_groups_kick(priv);
}

/**
 * ipoib_groups_start() - join the broadcast group, and then all others
 * @priv: the device; its QP runs. Nothing happens if started already
 *
 * Context: control path.
 */
void ipoib_groups_start(struct ipoib_dev *priv)
{
	if (priv->broadcast)
		return;
	priv->broadcast = ipoib_group_create_broadcast(priv);
	if (priv->broadcast)
		ipoib_groups_changed(priv);
	else
		queue_delayed_work(priv->wq, &priv->link_work, HZ);
}

/**
 * ipoib_groups_stop() - leave and forget all groups
 * @priv: the device; its link is not running any more
 *
 * Context: control path.
 */
void ipoib_groups_stop(struct ipoib_dev *priv)
{
	priv->broadcast = NULL;
	priv->routing = false;
	ipoib_groups_remove(priv);
	ipoib_router_stop(priv);
}

/**
 * ipoib_groups_init() - prepare for groups
 * @priv: the device; its workqueue exists
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_groups_init(struct ipoib_dev *priv)
{
	INIT_LIST_HEAD(&priv->group_reports);
	ipoib_groups_join_init(priv);
	INIT_DELAYED_WORK(&priv->group_work, group_work);
	return ipoib_group_table_init(priv);
}

/**
 * ipoib_groups_destroy() - the end of a device's groups
 * @priv: the device; link down, no groups
 *
 * Context: may sleep.
 */
void ipoib_groups_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->group_work);
	ipoib_group_table_destroy(priv);
}
