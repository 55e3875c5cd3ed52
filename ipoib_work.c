// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queuing of work: events for the link's work, work of a netdevice that needs rtnl, and how
 * long a retry waits. The works' functions are elsewhere, in files that call many others;
 * these functions call none, so that all files may call them without a circle of calls.
 */
#include <linux/random.h>

#include "ipoib.h"

#define IPOIB_BACKOFF_FIRST	(HZ / 4)
#define IPOIB_BACKOFF_DOUBLINGS	6

/* Work that needs rtnl, for which ndo_stop() cannot wait */
struct workqueue_struct *ipoib_netdev_wq;

/**
 * ipoib_work_init() - work under rtnl can be queued
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_work_init(void)
{
	ipoib_netdev_wq = alloc_workqueue("ipoib_netdev", 0, 0);
	return ipoib_netdev_wq ? 0 : -ENOMEM;
}

/**
 * ipoib_work_exit() - the end, when there is no netdevice any more
 *
 * Context: may sleep; without rtnl.
 */
void ipoib_work_exit(void)
{
	destroy_workqueue(ipoib_netdev_wq);
}

/**
 * ipoib_backoff() - how long to wait after a failure
 * @failures: how many came before it without a success
 *
 * Doubles from a quarter of a second to sixteen seconds, a quarter of it either
 * way by chance, so that the ports of a fabric do not ask in step.
 *
 * Context: any.
 * Return: jiffies, at least 1.
 */
unsigned long ipoib_backoff(u8 failures)
{
	u32 wait = IPOIB_BACKOFF_FIRST << min_t(u8, failures, IPOIB_BACKOFF_DOUBLINGS);

	return wait - wait / 4 + get_random_u32_below(wait / 2 + 1);
}

/**
 * ipoib_retry_at() - count a failure, and tell when to try again
 * @failures: since the last success, before this one
 *
 * Context: any.
 * Return: a time in jiffies, later with each failure.
 */
unsigned long ipoib_retry_at(u8 *failures)
{
	unsigned long at = jiffies + ipoib_backoff(*failures);

	if (*failures < U8_MAX)
		(*failures)++;
	return at;
}

/**
 * ipoib_link_event() - have the link's work look at something
 * @priv: the device
 * @event: what may differ, or how much to build anew
 *
 * Context: any.
 */
void ipoib_link_event(struct ipoib_dev *priv, enum ipoib_link_event event)
{
	set_bit(event, &priv->link.events);
	mod_delayed_work(priv->wq, &priv->link.work, 0);
}

/**
 * ipoib_link_look_later() - have the link's work look again, as something has failed
 * @priv: the device
 * @delay: jiffies until then, unless an event comes first
 *
 * Context: any.
 */
void ipoib_link_look_later(struct ipoib_dev *priv, unsigned long delay)
{
	queue_delayed_work(priv->wq, &priv->link.work, delay);
}

/**
 * ipoib_netdev_kick() - have the netdevice follow the link
 * @priv: the device
 *
 * Its address, MTU and carrier are set soon, under rtnl, to what the link has.
 *
 * Context: any.
 */
void ipoib_netdev_kick(struct ipoib_dev *priv)
{
	dev_hold(priv->netdev);
	if (!queue_work(ipoib_netdev_wq, &priv->netdev_work))
		dev_put(priv->netdev);
}

/**
 * ipoib_netdev_later() - have one of a netdevice's own works run
 * @priv: the device
 * @work: puts the netdevice in the end
 * @delay: jiffies until then; nothing changes if the work waits already
 *
 * Context: any.
 */
void ipoib_netdev_later(struct ipoib_dev *priv, struct delayed_work *work, unsigned long delay)
{
	dev_hold(priv->netdev);
	if (!queue_delayed_work(ipoib_netdev_wq, work, delay))
		dev_put(priv->netdev);
}

/**
 * ipoib_netdev_repair() - have a netdevice's queues replaced
 * @priv: the device, one of whose CQs has failed
 *
 * Context: any.
 */
void ipoib_netdev_repair(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->cq_failed, true);
	ipoib_netdev_later(priv, &priv->repair_work, 0);
}
