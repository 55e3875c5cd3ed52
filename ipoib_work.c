// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queuing of work: events for the link's work, work of a netdevice that needs rtnl, and the
 * back-off of retries. The work functions themselves are in files that call many others. The
 * functions here call no other file, so that all files may call them without circular calls.
 */
#include <linux/random.h>

#include "ipoib.h"

#define IPOIB_BACKOFF_FIRST	(HZ / 4)
#define IPOIB_BACKOFF_DOUBLINGS	6

/* For work that takes rtnl, for which ndo_stop() must not wait, since it holds rtnl; and for work
 * of a port.
 */
struct workqueue_struct *ipoib_netdev_wq;

/**
 * ipoib_work_init() - create the workqueue for work that needs rtnl, and for ports
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_work_init(void)
{
	ipoib_netdev_wq = alloc_workqueue("ipoib_netdev", WQ_UNBOUND, 0);
	return ipoib_netdev_wq ? 0 : -ENOMEM;
}

/**
 * ipoib_work_exit() - destroy this workqueue
 *
 * Context: may sleep; no port and no netdevice is left, and rtnl must not be held.
 */
void ipoib_work_exit(void)
{
	destroy_workqueue(ipoib_netdev_wq);
}

/**
 * ipoib_backoff() - compute how long to wait after a failure
 * @failures: number of consecutive failures before this one
 *
 * The time doubles from a quarter of a second to sixteen seconds. It varies at
 * random by up to a quarter in either direction, so that the ports of a fabric do
 * not send their requests at the same time.
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
 * ipoib_retry_at() - count a failure, and compute when to retry
 * @failures: number of consecutive failures before this one; incremented
 *
 * Context: any.
 * Return: the time of the retry in jiffies, see ipoib_backoff().
 */
unsigned long ipoib_retry_at(u8 *failures)
{
	unsigned long at = jiffies + ipoib_backoff(*failures);

	if (*failures < U8_MAX)
		(*failures)++;
	return at;
}

/**
 * ipoib_link_event() - report an event to the link's work
 * @priv: the device
 * @event: what may have changed, or the flush level
 *
 * Context: any.
 */
void ipoib_link_event(struct ipoib_dev *priv, enum ipoib_link_event event)
{
	set_bit(event, &priv->link.events);
	mod_delayed_work(priv->wq, &priv->link.work, 0);
}

/**
 * ipoib_link_look_later() - have the link's work run again later, after a failure
 * @priv: the device
 * @delay: delay in jiffies; the work runs earlier if an event comes before
 *
 * Context: any.
 */
void ipoib_link_look_later(struct ipoib_dev *priv, unsigned long delay)
{
	queue_delayed_work(priv->wq, &priv->link.work, delay);
}

/**
 * ipoib_netdev_kick() - have the netdevice adopt the state of the link
 * @priv: the device
 *
 * Queues work that takes rtnl and sets the netdevice's address, MTU and carrier. Nothing is queued
 * for a netdevice that is not registered: if its registration fails, it is freed at once, but a
 * work that waits for rtnl would still use it.
 *
 * Context: any.
 */
void ipoib_netdev_kick(struct ipoib_dev *priv)
{
	if (priv->netdev->reg_state != NETREG_REGISTERED)
		return;
	dev_hold(priv->netdev);
	if (!queue_work(ipoib_netdev_wq, &priv->netdev_work))
		dev_put(priv->netdev);
}

/**
 * ipoib_netdev_later() - queue a work item of a netdevice that needs rtnl
 * @priv: the device
 * @work: the work item. Holds a reference to the netdevice, which its function has to put
 * @delay: delay in jiffies; ignored if the work is queued already
 *
 * As for ipoib_netdev_kick(), nothing is queued for a netdevice that is not registered.
 *
 * Context: any.
 */
void ipoib_netdev_later(struct ipoib_dev *priv, struct delayed_work *work, unsigned long delay)
{
	if (priv->netdev->reg_state != NETREG_REGISTERED)
		return;
	dev_hold(priv->netdev);
	if (!queue_delayed_work(ipoib_netdev_wq, work, delay))
		dev_put(priv->netdev);
}

/**
 * ipoib_netdev_repair() - queue the replacement of a netdevice's queues
 * @priv: the device, one of whose CQs has failed
 *
 * Context: any.
 */
void ipoib_netdev_repair(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->cq_failed, true);
	ipoib_netdev_later(priv, &priv->repair_work, 0);
}
