// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Opens and closes a netdevice, replaces its rings, and makes it follow its link: everything
 * about its address, MTU and carrier that has to be done with rtnl held, and the announcement
 * of its address to peers.
 */
#include <linux/rtnetlink.h>

#include "ipoib.h"

/* Interval of announcements. A new address is announced more than once, because an SM answers a
 * join before the switches forward multicast packets to the new member.
 */
#define IPOIB_ANNOUNCE_GAP	(2 * HZ)

/* Schedules the next announcement, if any is left */
static void netdev_announce(struct ipoib_dev *priv, unsigned long delay)
{
	if (priv->announcements)
		ipoib_netdev_later(priv, &priv->announce_work, delay);
}

static void announce_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, announce_work.work);
	struct net_device *netdev = priv->netdev;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED && netif_carrier_ok(netdev) &&
	    priv->announcements) {
		call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, netdev);
		priv->announcements--;
		netdev_announce(priv, IPOIB_ANNOUNCE_GAP);
	}
	rtnl_unlock();
	dev_put(netdev);
}

/**
 * ipoib_netdev_announce() - announce the netdevice's address to peers, if it has changed
 * @priv: the device; it has carrier
 *
 * Only queues the work that does so.
 *
 * Context: rtnl held.
 */
void ipoib_netdev_announce(struct ipoib_dev *priv)
{
	netdev_announce(priv, 0);
}

/* Returns the netdevice's MTU: that of the link, unless the administrator has set a smaller one */
static u32 netdev_mtu(const struct ipoib_dev *priv)
{
	return min(priv->admin_mtu, READ_ONCE(priv->mtu));
}

static void netdev_follow_mtu(struct ipoib_dev *priv)
{
	u32 wanted = priv->admin_mtu, mtu = netdev_mtu(priv);
	int err;

	if (priv->netdev->mtu == mtu)
		return;
	err = dev_set_mtu(priv->netdev, mtu);
	if (err)
		netdev_warn(priv->netdev, "cannot set MTU to %u: error %d\n", mtu, err);
	priv->admin_mtu = wanted;
}

/**
 * ipoib_netdev_start() - bring a netdevice up
 * @priv: the device
 *
 * Allocates the memory of the rings and has the link brought up asynchronously.
 *
 * Context: rtnl held, may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_netdev_start(struct ipoib_dev *priv)
{
	int err;

	err = priv->transport->open(priv);
	if (err)
		return err;
	ipoib_cm_open(priv);
	WRITE_ONCE(priv->admin_up, true);
	ipoib_link_event(priv, IPOIB_EVENT_CHECK);
	return 0;
}

/**
 * ipoib_netdev_stop() - undo ipoib_netdev_start()
 * @priv: the device; nothing happens if ipoib_netdev_start() has failed
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_netdev_stop(struct ipoib_dev *priv)
{
	if (!priv->admin_up)
		return;
	WRITE_ONCE(priv->admin_up, false);
	ipoib_cm_close(priv);
	ipoib_link_flush(priv);
	priv->transport->close(priv);
}

/**
 * ipoib_netdev_resize() - change the number and the sizes of a netdevice's rings
 * @priv: the device, up or down
 * @tx_count: number of send rings
 * @tx_size: slots in each of them, a power of two
 * @rx_size: slots in the receive ring, a power of two
 *
 * The link-layer address changes. It is announced to peers when there is carrier again.
 *
 * Context: rtnl held, may sleep.
 * Return: 0, or a negative error: then the old rings are kept. If there is not even
 * memory to start these, the netdevice is closed and has to be set up again.
 */
int ipoib_netdev_resize(struct ipoib_dev *priv, u32 tx_count, u32 tx_size, u32 rx_size)
{
	bool running = netif_running(priv->netdev);
	int err, start_err = 0;

	if (running)
		ipoib_netdev_stop(priv);
	err = priv->transport->resize(priv, tx_count, tx_size, rx_size);
	ipoib_address_follow(priv);
	if (running)
		start_err = ipoib_netdev_start(priv);
	if (start_err) {
		netdev_err(priv->netdev, "no memory for the rings, going down\n");
		dev_close(priv->netdev);
	}
	return err ?: start_err;
}

/* Replaces the queues if a CQ has failed, as a CQ and its QPs cannot be repaired */
static void netdev_repair(struct ipoib_dev *priv)
{
	const struct ipoib_queues *queues = &priv->queues;
	int err;

	if (!READ_ONCE(priv->cq_failed))
		return;
	ipoib_count(priv, IPOIB_STAT_QP_RESETS);
	err = ipoib_netdev_resize(priv, queues->count, queues->tx_size, queues->rx_size);
	if (!err)
		return;
	if (net_ratelimit())
		netdev_warn(priv->netdev, "cannot replace the failed CQ: error %d, will try again\n",
			    err);
	ipoib_netdev_later(priv, &priv->repair_work, HZ);
}

/* Separate from netdev_work(), which runs each time that the link comes up: an HCA with problems
 * must not be asked for new queues, with rtnl held, that often.
 */
static void repair_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, repair_work.work);

	rtnl_lock();
	if (priv->netdev->reg_state == NETREG_REGISTERED)
		netdev_repair(priv);
	rtnl_unlock();
	dev_put(priv->netdev);
}

static void netdev_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, netdev_work);

	rtnl_lock();
	if (priv->netdev->reg_state == NETREG_REGISTERED) {
		ipoib_address_follow(priv);
		netdev_follow_mtu(priv);
		ipoib_link_carrier(priv);
	}
	rtnl_unlock();
	dev_put(priv->netdev);
}

/**
 * ipoib_change_mtu() - ndo_change_mtu: set the limit of the netdevice's MTU
 * @netdev: the device
 * @mtu: the MTU that the administrator wants, up to the port's. While it exceeds the broadcast
 *	group's MTU, that is used; it takes effect if the group's MTU grows
 *
 * Context: rtnl held.
 * Return: 0.
 */
int ipoib_change_mtu(struct net_device *netdev, int mtu)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	priv->admin_mtu = mtu;
	netdev->mtu = netdev_mtu(priv);
	return 0;
}

/**
 * ipoib_netdev_forget() - cancel the delayed work of a netdevice
 * @priv: the device, being unregistered
 *
 * Context: rtnl held.
 */
void ipoib_netdev_forget(struct ipoib_dev *priv)
{
	if (cancel_delayed_work(&priv->announce_work))
		dev_put(priv->netdev);
	if (cancel_delayed_work(&priv->repair_work))
		dev_put(priv->netdev);
}

/**
 * ipoib_netdev_init() - initialize the work of a netdevice that needs rtnl
 * @priv: the device
 *
 * Context: any.
 */
void ipoib_netdev_init(struct ipoib_dev *priv)
{
	INIT_WORK(&priv->netdev_work, netdev_work);
	INIT_DELAYED_WORK(&priv->repair_work, repair_work);
	INIT_DELAYED_WORK(&priv->announce_work, announce_work);
}
