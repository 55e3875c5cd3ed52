// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Opens and closes a netdevice, replaces its rings, and makes it follow its link: everything
 * about its address, MTU and carrier that has to be done with rtnl held, and the announcement
 * of its address to peers.
 */
#include <linux/rtnetlink.h>
#include <net/sch_generic.h>

#include "ipoib.h"

/* Intervals of announcements. A new address is announced more than once, because an SM answers a
 * join before the switches forward multicast packets to the new member: some milliseconds before,
 * or seconds if it is busy.
 */
static const unsigned long announce_gaps[] = { HZ / 8, HZ, 4 * HZ };
static_assert(ARRAY_SIZE(announce_gaps) == IPOIB_ANNOUNCEMENTS - 1);

/* Schedules the next announcement, if any is left */
static void netdev_announce(struct ipoib_dev *priv, unsigned long delay)
{
	if (priv->announcements)
		ipoib_netdev_later(priv, &priv->announce_work, delay);
}

/* The IP addresses may be those of a bond */
static void notify_peers(struct net_device *netdev)
{
	struct net_device *bond = ipoib_address_bond(netdev);

	call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, netdev);
	if (bond)
		call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, bond);
}

static void announce_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, announce_work.work);
	struct net_device *netdev = priv->netdev;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED && netif_carrier_ok(netdev) &&
	    priv->announcements) {
		notify_peers(netdev);
		if (--priv->announcements)
			netdev_announce(priv, announce_gaps[IPOIB_ANNOUNCEMENTS - 1 -
							    priv->announcements]);
	}
	rtnl_unlock();
	dev_put(netdev);
}

/**
 * ipoib_netdev_announce() - announce the netdevice's address to peers, if it has changed
 * @priv: the device; it has carrier
 *
 * Only queues the work that does so. A new address does not wait until the next announcement of the
 * former one is due.
 *
 * Context: rtnl held.
 */
void ipoib_netdev_announce(struct ipoib_dev *priv)
{
	if (priv->announcements == IPOIB_ANNOUNCEMENTS &&
	    cancel_delayed_work(&priv->announce_work))
		dev_put(priv->netdev);
	netdev_announce(priv, 0);
}

/* Returns the longest IP packet that a connection can carry */
static u32 netdev_connected_mtu(const struct ipoib_dev *priv)
{
	return ipoib_srq_message_max(priv->ibdev) - IPOIB_ENCAP_LEN;
}

/* Returns the netdevice's MTU: that of the link, or in connected mode that of connections, unless
 * the administrator has set a smaller one
 */
static u32 netdev_mtu(const struct ipoib_dev *priv)
{
	return min(priv->admin_mtu, priv->connected ? netdev_connected_mtu(priv) :
						      READ_ONCE(priv->mtu));
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
	if (priv->connected)
		ipoib_peers_start(priv);
	/* Until the link opens them, since not every sender looks at the carrier */
	netif_tx_stop_all_queues(priv->netdev);
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
	ipoib_peers_stop(priv);
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
		/* The stack may notice the carrier only after a second. If it has not even noticed
		 * that there was none, it sends packets at once.
		 */
		if (netif_carrier_ok(priv->netdev) && !qdisc_tx_is_noop(priv->netdev))
			ipoib_netdev_announce(priv);
	}
	rtnl_unlock();
	dev_put(priv->netdev);
}

/* Makes the netdevice's MTU and its limit those of its mode, as the in-tree driver does */
static void netdev_mode_mtu(struct ipoib_dev *priv)
{
	struct net_device *netdev = priv->netdev;

	netdev->max_mtu = priv->connected ? netdev_connected_mtu(priv) :
					    ipoib_ib_mtu_to_mtu(priv->port->max_mtu);
	if (priv->connected)
		priv->admin_mtu = netdev->max_mtu;
	if (netdev->reg_state == NETREG_REGISTERED)
		netdev_follow_mtu(priv);
	else
		netdev->mtu = netdev_mtu(priv);
}

/* Has packets keep their routes, which their path MTU belongs to. A bond that the netdevice is
 * part of follows when it is notified.
 */
static void netdev_keep_routes(struct net_device *netdev)
{
	netif_keep_dst(netdev);
	if (netdev->reg_state == NETREG_REGISTERED)
		netdev_features_change(netdev);
}

/**
 * ipoib_set_mode() - choose between datagram and connected mode
 * @priv: the device
 * @mode: IPOIB_MODE_DATAGRAM or IPOIB_MODE_CONNECTED
 * @extack: receives the error message; may be NULL
 *
 * Connections of peers are accepted in both modes.
 *
 * Context: rtnl held.
 * Return: 0, or -EOPNOTSUPP if the device has no connections.
 */
int ipoib_set_mode(struct ipoib_dev *priv, u16 mode, struct netlink_ext_ack *extack)
{
	bool connected = mode == IPOIB_MODE_CONNECTED;

	if (connected == priv->connected)
		return 0;
	if (connected && (!ipoib_cm_is_possible(priv) ||
			  rdma_cap_opa_ah(priv->ibdev, priv->port->number))) {
		NL_SET_ERR_MSG(extack, "The HCA or port has no connections, or connected=0 is set");
		if (net_ratelimit())
			netdev_warn(priv->netdev, "connected mode is not possible: the HCA or port has no connections, or connected=0 is set\n");
		return -EOPNOTSUPP;
	}
	WRITE_ONCE(priv->connected, connected);
	if (connected)
		netdev_keep_routes(priv->netdev);
	if (connected && priv->admin_up)
		ipoib_peers_start(priv);
	if (!connected)
		ipoib_peers_stop(priv);
	netdev_mode_mtu(priv);
	return 0;
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
