// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The netdevice's link-layer address (RFC 4391 section 9.1.1). It consists of the QPN,
 * which the HCA chooses, and the port GID, and changes with them. If the port has several
 * GIDs, the administrator may choose one by its GUID: `ip link set address`.
 */
#include <linux/if_arp.h>

#include "ipoib.h"

/**
 * ipoib_address_init() - set the initial address and the broadcast address
 * @priv: the device, about to be registered; it has its QP
 *
 * Context: rtnl held.
 */
void ipoib_address_init(struct ipoib_dev *priv)
{
	struct net_device *netdev = priv->netdev;
	struct ipoib_hwaddr hwaddr;

	ipoib_hwaddr_build(&hwaddr, priv->qp->qp_num, &priv->local_gid);
	hwaddr.flags = ipoib_cm_flags(priv);
	__dev_addr_set(netdev, &hwaddr, sizeof(hwaddr));
	ipoib_broadcast_build(&hwaddr, priv->pkey, IPOIB_MGID_SCOPE_LINK_LOCAL);
	memcpy(netdev->broadcast, &hwaddr, sizeof(hwaddr));
	/* Peers may know the address from before the module was reloaded, with another QPN */
	priv->announcements = IPOIB_ANNOUNCEMENTS;
}

/**
 * ipoib_address_bond() - find the bond that has this netdevice's address
 * @netdev: the netdevice
 *
 * With the only policy that IPoIB permits, fail_over_mac=active, a bond copies the address of its
 * active slave when it chooses that slave.
 *
 * Context: rtnl held.
 * Return: the bond, or NULL.
 */
struct net_device *ipoib_address_bond(struct net_device *netdev)
{
	struct net_device *master = netdev_master_upper_dev_get(netdev);

	if (!master || !netif_is_bond_master(master) || master->addr_len != netdev->addr_len ||
	    memcmp(master->dev_addr, netdev->dev_addr, netdev->addr_len))
		return NULL;
	return master;
}

static void address_change(struct net_device *netdev, const struct ipoib_hwaddr *hwaddr)
{
	__dev_addr_set(netdev, hwaddr, sizeof(*hwaddr));
	call_netdevice_notifiers(NETDEV_CHANGEADDR, netdev);
}

/**
 * ipoib_address_follow() - update the address to the current QPN and port GID
 * @priv: the device
 *
 * A bond that has the address gets the new one. The bonding driver itself does not heed a change of
 * the address, so the bond would go on to answer with the QPN of a QP that no longer exists.
 *
 * Context: rtnl held.
 */
void ipoib_address_follow(struct ipoib_dev *priv)
{
	struct net_device *netdev = priv->netdev;
	struct net_device *bond = ipoib_address_bond(netdev);
	struct ipoib_hwaddr hwaddr;

	ipoib_hwaddr_build(&hwaddr, priv->qp->qp_num, &priv->local_gid);
	hwaddr.flags = ipoib_cm_flags(priv);
	if (!memcmp(netdev->dev_addr, &hwaddr, sizeof(hwaddr)))
		return;
	address_change(netdev, &hwaddr);
	if (bond)
		address_change(bond, &hwaddr);
	priv->announcements = IPOIB_ANNOUNCEMENTS;
}

/* Returns whether the administrator may set this address: only the GUID may be changed */
static bool address_is_possible(const struct net_device *netdev,
				const struct ipoib_hwaddr *hwaddr)
{
	const union ib_gid *gid = (const union ib_gid *)hwaddr->gid;

	return !memcmp(netdev->dev_addr, hwaddr,
		       offsetof(struct ipoib_hwaddr, gid) + sizeof(gid->global.subnet_prefix)) &&
	       get_unaligned(&gid->global.interface_id);
}

/**
 * ipoib_address_set() - ndo_set_mac_address: choose the GUID in the link-layer address
 * @netdev: the netdevice
 * @address: &struct sockaddr with a link-layer address that differs from the current one at most
 *	in the GUID
 *
 * If the netdevice is the port's own, its children get the same GUID. While the port has no GID
 * with this GUID, there is no carrier.
 *
 * Context: rtnl held, may sleep.
 * Return: 0; -EBUSY if the netdevice is up; -EINVAL if other parts of the address differ, or the
 * GUID is 0; or -EOPNOTSUPP if the HCA is a virtual function or the port a RoCE port.
 */
int ipoib_address_set(struct net_device *netdev, void *address)
{
	const struct ipoib_hwaddr *hwaddr = (void *)((struct sockaddr *)address)->sa_data;
	struct ipoib_dev *priv = ipoib_priv(netdev);

	if (!rdma_protocol_ib(priv->ibdev, priv->port->number) || ipoib_is_vf(priv->ibdev))
		return -EOPNOTSUPP;
	if (netif_running(netdev))
		return -EBUSY;
	if (!address_is_possible(netdev, hwaddr))
		return -EINVAL;
	ipoib_link_set_guid(priv, get_unaligned((__be64 *)&hwaddr->gid[8]));
	if (!priv->parent)
		ipoib_children_follow_guid(priv->port);
	ipoib_address_follow(priv);
	return 0;
}

/**
 * ipoib_address_port_id() - ndo_get_phys_port_id: get the port's GUID
 * @netdev: the netdevice
 * @id: filled in with the port's GUID, which is the same for all netdevices of the port
 *
 * Context: rtnl held.
 * Return: 0, or -EOPNOTSUPP if the GUID is not known at the moment.
 */
int ipoib_address_port_id(struct net_device *netdev, struct netdev_phys_item_id *id)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	union ib_gid gid;

	/* This fails while ib_core updates its cache of GIDs. For any other error than -EOPNOTSUPP,
	 * rtnetlink would fail to report the netdevice, as if the message were too long.
	 */
	if (rdma_query_gid(priv->ibdev, priv->port->number, 0, &gid))
		return -EOPNOTSUPP;
	id->id_len = sizeof(gid.global.interface_id);
	memcpy(id->id, &gid.global.interface_id, id->id_len);
	return 0;
}
