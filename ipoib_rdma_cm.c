// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Finds the netdevice that a request to the RDMA CM is for. A request contains the port,
 * the P_Key, the port's GID (unless it is for a datagram service), and the IP address that
 * the peer wants to reach. Several netdevices of a port may have the same P_Key, and all of
 * them usually have the port's GID. They are distinguished by their IP addresses. Neither
 * the peer nor ib_core specifies a network namespace; it follows from the netdevice.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "ipoib.h"

/**
 * struct cm_search - a request, and the netdevices found so far
 * @port: number of the port of the HCA
 * @pkey: P_Key, with the full-member bit
 * @gid: GID of the port; NULL if the request has none
 * @addr: IP address; NULL if the request has none
 * @candidates: number of netdevices that have the port, the P_Key and the GID
 * @first: the first candidate
 * @owner: the netdevice with @addr that is a candidate, or an upper device of one
 * @rival: a second such netdevice
 */
struct cm_search {
	u32 port;
	u16 pkey;
	const union ib_gid *gid;
	const struct sockaddr *addr;
	unsigned int candidates;
	struct net_device *first;
	struct net_device *owner;
	struct net_device *rival;
};

static bool has_ipv4(struct net_device *netdev, __be32 address)
{
	const struct in_device *in_dev = __in_dev_get_rcu(netdev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == address)
			return true;
	return false;
}

static bool has_ipv6(struct net_device *netdev, const struct in6_addr *address)
{
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_addr(dev_net(netdev), address, netdev, 1);
}

static bool has_address(struct net_device *netdev, const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return has_ipv4(netdev, ((struct sockaddr_in *)addr)->sin_addr.s_addr);
	case AF_INET6:
		return has_ipv6(netdev, &((struct sockaddr_in6 *)addr)->sin6_addr);
	default:
		return false;
	}
}

/* Returns the netdevice that has the routes: the bond, if the netdevice is a member of a bond.
 * In a VRF, in contrast, routes refer to the members. The choice matters, because the RDMA CM
 * refuses a netdevice unless the route back to the peer uses it.
 */
static struct net_device *with_routes(struct net_device *netdev)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(netdev);

	return master && netif_is_bond_master(master) ? master : netdev;
}

struct upper_search {
	const struct sockaddr *addr;
	struct net_device *found;
};

static int match_upper(struct net_device *upper, struct netdev_nested_priv *nested)
{
	struct upper_search *search = nested->data;

	if (!has_address(upper, search->addr))
		return 0;
	search->found = upper;
	return 1;
}

/* Returns the netdevice, or an upper device of it, that has the address; or NULL. The address of a
 * VRF device can be reached through each of its members.
 */
static struct net_device *address_owner(struct net_device *netdev, const struct sockaddr *addr)
{
	struct upper_search search = { .addr = addr };
	struct netdev_nested_priv nested = { .data = &search };

	if (has_address(netdev, addr))
		return netdev;
	netdev_walk_all_upper_dev_rcu(netdev, match_upper, &nested);
	if (search.found && netif_is_l3_master(search.found))
		return with_routes(netdev);
	return search.found;
}

static void see_candidate(struct cm_search *search, struct ipoib_dev *priv)
{
	struct net_device *owner;

	/* If its registration fails, a netdevice is freed without waiting for references */
	if (priv->pkey != search->pkey || priv->netdev->reg_state != NETREG_REGISTERED)
		return;
	if (search->gid && memcmp(search->gid, &priv->local_gid, sizeof(*search->gid)))
		return;
	if (!search->candidates++)
		search->first = priv->netdev;
	if (!search->addr)
		return;
	owner = address_owner(priv->netdev, search->addr);
	if (!search->owner)
		search->owner = owner;
	else if (owner && owner != search->owner)
		search->rival = owner;
}

static void see_port(struct cm_search *search, const struct ipoib_port *port)
{
	struct ipoib_dev *child;

	if (port->number != search->port)
		return;
	see_candidate(search, port->own);
	list_for_each_entry_rcu(child, &port->children, sibling)
		see_candidate(search, child);
}

/* Returns the netdevice for the request, or NULL. A single candidate need not have the address,
 * which may be an address of the loopback interface to which packets are routed through it.
 */
static struct net_device *choose(const struct cm_search *search)
{
	if (!search->candidates)
		return NULL;
	if (search->candidates == 1 || !search->addr)
		return with_routes(search->first);
	if (search->rival)
		net_warn_ratelimited("%s and %s have the address %pIS: RDMA CM requests go to %s\n",
				     netdev_name(search->owner), netdev_name(search->rival),
				     search->addr, netdev_name(search->owner));
	return search->owner;
}

/**
 * ipoib_rdma_cm_netdev() - find the netdevice that a request to the RDMA CM is for
 * @ports: list of the ports of the HCA that received the request. The caller makes sure that it
 *	does not change, and that each port has its own netdevice
 * @port: number of the port
 * @pkey: P_Key of the request, with or without the full-member bit
 * @gid: GID of the port; NULL if the request has none
 * @addr: requested IP address; NULL if the request has none
 *
 * If only one netdevice of the port has this P_Key, it is chosen whatever its addresses are. If
 * there are several, the one that has @addr is chosen. If the netdevice is a member of a bond, the
 * bond is returned instead.
 *
 * Context: any.
 * Return: the netdevice, whose reference the caller has to put, or NULL.
 */
struct net_device *ipoib_rdma_cm_netdev(const struct list_head *ports, u32 port, u16 pkey,
					const union ib_gid *gid, const struct sockaddr *addr)
{
	struct cm_search search = {
		.port = port,
		.pkey = pkey | IPOIB_PKEY_FULL,
		.gid = gid,
		.addr = addr,
	};
	const struct ipoib_port *each;
	struct net_device *netdev;

	rcu_read_lock();
	list_for_each_entry(each, ports, node)
		see_port(&search, each);
	netdev = choose(&search);
	dev_hold(netdev);
	rcu_read_unlock();
	return netdev;
}
