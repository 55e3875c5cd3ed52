// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The netdevice's link-layer address (RFC 4391 section 9.1.1): the QPN, which the HCA
 * chooses, and the port GID. It follows the QP and the port. Where the port has several
 * GIDs the administrator may choose one, by its GUID: `ip link set address`.
 */
#include <linux/if_arp.h>

#include "ipoib.h"

/* Peers would send to an old address until their neighbour entries time out, so they
 * are told of a new one so often
 */
#define IPOIB_ANNOUNCEMENTS	3

/**
 * ipoib_address_init() - set the first address, and the broadcast address
 * @priv: the device, about to be registered; it has its QP
 *
 * Context: rtnl held.
 */
void ipoib_address_init(struct ipoib_dev *priv)
{
	struct net_device *netdev = priv->netdev;
	struct ipoib_hwaddr hwaddr;

	ipoib_hwaddr_build(&hwaddr, priv->qp->qp_num, &priv->local_gid);
	__dev_addr_set(netdev, &hwaddr, sizeof(hwaddr));
	ipoib_broadcast_build(&hwaddr, priv->pkey, IPOIB_MGID_SCOPE_LINK_LOCAL);
	memcpy(netdev->broadcast, &hwaddr, sizeof(hwaddr));
	/* The QPN is another one than that of the module's last load, too */
	priv->announcements = IPOIB_ANNOUNCEMENTS;
}

/**
 * ipoib_address_follow() - set the address to what QP and port have now
 * @priv: the device
 *
 * Context: rtnl held.
 */
void ipoib_address_follow(struct ipoib_dev *priv)
{
	struct net_device *netdev = priv->netdev;
	struct ipoib_hwaddr hwaddr;

	ipoib_hwaddr_build(&hwaddr, priv->qp->qp_num, &priv->local_gid);
	if (!memcmp(netdev->dev_addr, &hwaddr, sizeof(hwaddr)))
		return;
	__dev_addr_set(netdev, &hwaddr, sizeof(hwaddr));
	call_netdevice_notifiers(NETDEV_CHANGEADDR, netdev);
	priv->announcements = IPOIB_ANNOUNCEMENTS;
}

/* Flags, QPN and subnet prefix are not for the administrator to choose */
static bool address_is_possible(const struct net_device *netdev,
				const struct ipoib_hwaddr *hwaddr)
{
	const union ib_gid *gid = (const union ib_gid *)hwaddr->gid;

	return !memcmp(netdev->dev_addr, hwaddr,
		       offsetof(struct ipoib_hwaddr, gid) + sizeof(gid->global.subnet_prefix)) &&
	       get_unaligned(&gid->global.interface_id);
}

/**
 * ipoib_address_set() - the netdevice's ndo_set_mac_address
 * @netdev: the netdevice
 * @address: &struct sockaddr of a link-layer address that differs by its GUID at most
 *
 * The children get the GUID, too. While the port has no GID of that GUID there is no carrier.
 *
 * Context: rtnl held, may sleep.
 * Return: 0, -EBUSY while the netdevice is up, -EINVAL for an address that it cannot have, or
 * -EOPNOTSUPP for a virtual function's and a RoCE port's.
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
 * ipoib_address_port_id() - the netdevice's ndo_get_phys_port_id
 * @netdev: the netdevice
 * @id: filled in: the port's GUID, the same for all netdevices on it
 *
 * Context: rtnl held.
 * Return: 0 or -EOPNOTSUPP: it is not known now.
 */
int ipoib_address_port_id(struct net_device *netdev, struct netdev_phys_item_id *id)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	union ib_gid gid;

	/* It has none while the cache of GIDs is brought up to date. By any other error rtnetlink
	 * takes all that it says of the netdevice for too long.
	 */
	if (rdma_query_gid(priv->ibdev, priv->port->number, 0, &gid))
		return -EOPNOTSUPP;
	id->id_len = sizeof(gid.global.interface_id);
	memcpy(id->id, &gid.global.interface_id, id->id_len);
	return 0;
}
