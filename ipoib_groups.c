// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Starts and stops a device's groups, and has the work that drives them. The work first updates
 * the set of groups, from the fabric's reports (ipoib_router.c) and the multicast list
 * (ipoib_multicast.c), and then joins the groups (ipoib_join.c).
 */
#include "ipoib.h"

static void group_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, groups.work.work);
	unsigned long wait;

	if (!priv->groups.broadcast)
		return;
	ipoib_groups_adopt(priv);
	ipoib_router_read(priv);
	ipoib_groups_follow_list(priv);
	wait = min(ipoib_groups_join(priv), ipoib_router_ask(priv));
	if (READ_ONCE(priv->groups.mc_list_changed))
		wait = min_t(unsigned long, wait, HZ);
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(priv->wq, &priv->groups.work, wait);
}

/**
 * ipoib_groups_changed() - have the netdevice's multicast list read, as it has changed
 * @priv: the device
 *
 * Context: any but hard interrupt.
 */
void ipoib_groups_changed(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->groups.mc_list_changed, true);
	ipoib_groups_kick(priv);
}

/**
 * ipoib_groups_start() - start to join the broadcast group, and then all others
 * @priv: the device; its QP runs
 *
 * Does nothing if the broadcast group has been created already. If there is no memory for it, the
 * link's work tries again after a second.
 *
 * Context: control path.
 */
void ipoib_groups_start(struct ipoib_dev *priv)
{
	if (priv->groups.broadcast)
		return;
	priv->groups.broadcast = ipoib_group_create_broadcast(priv);
	if (priv->groups.broadcast)
		ipoib_groups_changed(priv);
	else
		ipoib_link_look_later(priv, HZ);
}

/**
 * ipoib_groups_stop() - leave and free all groups
 * @priv: the device; its link no longer runs
 *
 * Context: control path.
 */
void ipoib_groups_stop(struct ipoib_dev *priv)
{
	ipoib_dests_sync(&priv->groups.dests);
	priv->groups.broadcast = NULL;
	priv->groups.routing = false;
	ipoib_groups_remove(priv);
	ipoib_router_stop(priv);
}

/**
 * ipoib_groups_link_params() - get the parameters of the broadcast group
 * @priv: the device; it has a broadcast group
 *
 * Context: control path.
 * Return: the parameters, which are zero until the group is joined for the first time.
 */
const struct ipoib_group_params *ipoib_groups_link_params(const struct ipoib_dev *priv)
{
	return &priv->groups.broadcast->params;
}

/**
 * ipoib_groups_init() - initialize the groups of a device
 * @priv: the device; its workqueue exists
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_groups_init(struct ipoib_dev *priv)
{
	int err;

	err = ipoib_groups_join_init(priv);
	if (err)
		return err;
	ipoib_router_init(priv);
	INIT_DELAYED_WORK(&priv->groups.work, group_work);
	ipoib_groups_expire_init(priv);
	return 0;
}

/**
 * ipoib_groups_destroy() - free the table of groups
 * @priv: the device; its link is down, and it has no groups
 *
 * Context: may sleep.
 */
void ipoib_groups_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->groups.expire_work);
	cancel_delayed_work_sync(&priv->groups.work);
	ipoib_dests_destroy(&priv->groups.dests);
}
