// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The HCAs, of which this module is an ib_client, with their ports, and the lookup of the
 * port that an interface is on.
 */
#include "ats.h"

/* How long the removal of an HCA waits until its records are deleted */
#define ATS_REMOVE_WAIT		(2 * HZ)

static DEFINE_MUTEX(ports_lock);	/* guards the list */
static LIST_HEAD(ports);
static unsigned long exit_until;	/* jiffies; if not 0, no HCA waits longer */

/* ---- Finding ports ---- */

/**
 * ats_each_port() - call a function for each port that a namespace may use
 * @net: the namespace; NULL: all ports
 * @act: the function; a return value other than 0 ends the iteration
 * @arg: argument for @act
 *
 * Context: may sleep; @act is called with the mutex of the list of ports held.
 * Return: 0, or the value that ended the iteration.
 */
int ats_each_port(struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg)
{
	struct ats_port *port;
	int err = 0;

	mutex_lock(&ports_lock);
	list_for_each_entry(port, &ports, list) {
		if (!net || rdma_dev_access_netns(port->ibdev, net))
			err = act(port, arg);
		if (err)
			break;
	}
	mutex_unlock(&ports_lock);
	return err;
}

/*
 * Whether a netdevice is on a port, which then has its GID and, according to ib_core's cache, its
 * P_Key. A bond over IPoIB has no parent device, but its address has a GID of an HCA.
 */
static bool port_has(const struct ats_port *port, const struct ats_local *local)
{
	const struct ib_gid_attr *attr;
	u16 index;

	if ((local->parent && local->parent != port->ibdev->dev.parent) ||
	    (local->dev_port && local->dev_port != port->port))
		return false;
	attr = rdma_find_gid_by_port(port->ibdev, &local->key.gid, IB_GID_TYPE_IB, port->port,
				     NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return !ib_find_cached_pkey(port->ibdev, port->port, local->key.pkey, &index);
}

/**
 * ats_route() - pass the addresses of netdevices to the ports that they are on
 * @locals: those of all netdevices; what no port has stays there
 *
 * Context: may sleep.
 */
void ats_route(struct list_head *locals)
{
	struct ats_local *local, *next, *last;
	struct ats_port *port;
	bool has = false;

	mutex_lock(&ports_lock);
	list_for_each_entry(port, &ports, list) {
		LIST_HEAD(its);

		last = NULL;
		list_for_each_entry_safe(local, next, locals, list) {
			/* All addresses of a netdevice are alike */
			has = last && last->ifindex == local->ifindex &&
			      last->net_cookie == local->net_cookie ? has : port_has(port, local);
			last = local;
			if (has)
				list_move_tail(&local->list, &its);
		}
		ats_local_update(port, &its);
	}
	mutex_unlock(&ports_lock);
}

/* ---- HCAs ---- */

/* Has the ports delete all their records, and waits for the end of that, but not after @until */
static void ports_leave(struct list_head *list, unsigned long until)
{
	struct ats_port *port;

	list_for_each_entry(port, list, list)
		ats_port_event(port, ATS_EVENT_LEAVE);
	list_for_each_entry(port, list, list)
		wait_for_completion_timeout(&port->idle, max_t(long, until - jiffies, 0));
}

static void ats_remove(struct ib_device *ibdev, void *client_data)
{
	struct ats_port *port, *next;
	LIST_HEAD(removed);

	mutex_lock(&ports_lock);
	list_for_each_entry_safe(port, next, &ports, list)
		if (port->ibdev == ibdev)
			list_move_tail(&port->list, &removed);
	atomic_inc(&ats_view_version);
	mutex_unlock(&ports_lock);
	ports_leave(&removed, exit_until ?: jiffies + ATS_REMOVE_WAIT);
	list_for_each_entry_safe(port, next, &removed, list)
		ats_port_destroy(port);
}

static int ats_add(struct ib_device *ibdev)
{
	struct ats_port *port;
	int err = -EOPNOTSUPP;
	u32 number;

	rdma_for_each_port(ibdev, number) {
		if (!rdma_cap_ib_sa(ibdev, number))
			continue;
		port = ats_port_create(ibdev, number);
		err = PTR_ERR_OR_ZERO(port);
		if (err)
			break;
		mutex_lock(&ports_lock);
		list_add_tail(&port->list, &ports);
		mutex_unlock(&ports_lock);
	}
	if (err)
		ats_remove(ibdev, NULL);
	atomic_inc(&ats_view_version);
	ats_netdev_rescan();
	return err;
}

static struct ib_client ats_client = {
	.name = "ats",
	.add = ats_add,
	.remove = ats_remove,
};

/**
 * ats_hcas_leave() - delete all records of all ports
 * @until: jiffies when the wait for the end of that ends in any case
 *
 * Context: may sleep.
 */
void ats_hcas_leave(unsigned long until)
{
	mutex_lock(&ports_lock);
	ports_leave(&ports, until);
	mutex_unlock(&ports_lock);
}

/**
 * ats_hca_init() - serve all present and future HCAs
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int __init ats_hca_init(void)
{
	return ib_register_client(&ats_client);
}

/**
 * ats_hca_exit() - stop serving HCAs
 * @until: jiffies when the wait for the deletion of records ends in any case
 *
 * All ports begin to delete their records at once; then HCAs are removed one by one.
 *
 * Context: may sleep.
 */
void ats_hca_exit(unsigned long until)
{
	exit_until = until;
	/* Nobody who needs the list of ports waits for an SA */
	ats_hcas_leave(jiffies);
	ib_unregister_client(&ats_client);
}
