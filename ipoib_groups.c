// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The work of a device's groups, and their life: what changes which groups there are
 * (ipoib_multicast.c) and what the fabric tells of others' (ipoib_router.c) come before what
 * has them joined (ipoib_join.c).
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
 * ipoib_groups_changed() - the IP layer's multicast list has changed
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
 * ipoib_groups_start() - join the broadcast group, and then all others
 * @priv: the device; its QP runs. Nothing happens if the broadcast group is there already
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
 * ipoib_groups_stop() - leave and forget all groups
 * @priv: the device; its link is not running any more
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
 * ipoib_groups_link_params() - what the broadcast group says of the link
 * @priv: the device; it has a broadcast group
 *
 * Context: control path.
 * Return: the group's parameters, zeroes until it was first joined.
 */
const struct ipoib_group_params *ipoib_groups_link_params(const struct ipoib_dev *priv)
{
	return &priv->groups.broadcast->params;
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
 * ipoib_groups_destroy() - the end of a device's groups
 * @priv: the device; link down, no groups
 *
 * Context: may sleep.
 */
void ipoib_groups_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->groups.expire_work);
	cancel_delayed_work_sync(&priv->groups.work);
	ipoib_dests_destroy(&priv->groups.dests);
}
