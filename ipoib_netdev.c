// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A netdevice goes up and down, and follows its link: what there is to be done with rtnl held
 * about its rings, its address, its MTU and its carrier, and who is told.
 */
#include <linux/rtnetlink.h>

#include "ipoib.h"

/* Peers are told of a new address more than once: an SM answers a join before the switches
 * forward to the new member.
 */
#define IPOIB_ANNOUNCE_GAP	(2 * HZ)

/* Has the announcements that are left made, if any are */
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
 * ipoib_netdev_announce() - peers are told of the netdevice's address, if that is another one
 * @priv: the device; it has carrier
 *
 * Context: rtnl held.
 */
void ipoib_netdev_announce(struct ipoib_dev *priv)
{
	netdev_announce(priv, 0);
}

/* As large as the link allows, but no larger than the administrator wants */
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
 * ipoib_netdev_start() - a netdevice goes up
 * @priv: the device
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
	WRITE_ONCE(priv->admin_up, true);
	ipoib_link_event(priv, IPOIB_EVENT_CHECK);
	return 0;
}

/**
 * ipoib_netdev_stop() - undo ipoib_netdev_start()
 * @priv: the device. Nothing happens if that has failed
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_netdev_stop(struct ipoib_dev *priv)
{
	if (!priv->admin_up)
		return;
	WRITE_ONCE(priv->admin_up, false);
	ipoib_link_flush(priv);
	priv->transport->close(priv);
}

/**
 * ipoib_netdev_resize() - give a netdevice rings of other sizes, or more or fewer
 * @priv: the device, up or down
 * @tx_count: send rings
 * @tx_size: packets in each, a power of two
 * @rx_size: likewise
 *
 * Its link-layer address changes; peers are told once there is carrier again.
 *
 * Context: rtnl held, may sleep.
 * Return: 0, or a negative error; the rings are as they were then, unless there
 * was no memory even for these: then the link stays down until it is set up.
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

/* A CQ that failed takes its QP with it */
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

/* Apart from netdev_work(), which runs each time that the link comes up: an HCA in trouble is
 * not asked for other queues, with rtnl held, as often as that.
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
 * ipoib_change_mtu() - ndo_change_mtu
 * @netdev: the device
 * @mtu: what the administrator wants, up to the port's: what is more than the group's counts
 *	when that grows
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
 * ipoib_netdev_forget() - what was to be done later for a netdevice is not done any more
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
 * ipoib_netdev_init() - a netdevice that follows its link
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
