// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which netdevice a request to the RDMA CM is for. A request names the port, the P_Key,
 * the port's GID (a connection's; that for a datagram service does not), and the IP
 * address that the peer wants. Several netdevices of a port may have the same P_Key, and
 * they all have the port's GID: these are told apart by their IP addresses. Neither the
 * peer nor ib_core says which network namespace is meant; it is that of the netdevice.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "ipoib.h"

/**
 * struct cm_search - what a request asks for, and what was found so far
 * @port: of the HCA
 * @pkey: with the full-member bit
 * @gid: the port's; NULL if the request has none
 * @addr: the IP address; NULL if the request has none
 * @candidates: how many netdevices have the port, the P_Key and the GID
 * @first: the first of these
 * @owner: what has @addr and belongs to a candidate
 * @rival: another that does
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

/* Routes of a bond's members are the bond's. Those in a VRF are the members' own, and the
 * RDMA CM refuses a netdevice that is not the way back to the peer.
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

/* The netdevice or what is above it, if that has the address. A VRF's own address can be
 * reached by all of its members.
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

	/* Not one whose registration may still fail: nobody would wait for a reference */
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

/* One that is alone need not have the address: it may be an address of the loopback
 * interface that is routed to it.
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
 * ipoib_rdma_cm_netdev() - the netdevice that a request to the RDMA CM is for
 * @ports: of the HCA that it came in by, which stay, each with its own netdevice
 * @port: the HCA's port
 * @pkey: of the request, with or without the full-member bit
 * @gid: the port's GID; NULL if the request has none
 * @addr: the IP address that is asked for; NULL if the request has none
 *
 * If the port has but one netdevice with this P_Key, that is it, whatever its addresses
 * are; if there are several, the one that has @addr. If that is a member of a bond, the
 * bond is returned.
 *
 * Context: any.
 * Return: the netdevice, which the caller puts, or NULL.
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
