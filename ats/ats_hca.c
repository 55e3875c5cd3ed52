// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The HCAs, of which this module is an ib_client, with their ports, and the lookup of the
 * port that an interface is on.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "ats.h"

/* How long the removal of an HCA waits until its records are deleted */
#define ATS_REMOVE_WAIT		(2 * HZ)

static DEFINE_MUTEX(ports_lock);	/* guards the list */
static LIST_HEAD(ports);
static unsigned int ports_version;	/* also read without the mutex */
static bool exiting;
static unsigned long exit_until;	/* jiffies; while exiting, no HCA waits longer */

/* ---- Finding ports ---- */

static struct ats_port *port_by_id(u64 id)
{
	struct ats_port *port;

	list_for_each_entry(port, &ports, list)
		if (port->id == id)
			return port;
	return NULL;
}

/**
 * ats_ports_version() - detect changes of the list of ports
 *
 * Context: any.
 * Return: a number that changes whenever an HCA is added or removed.
 */
unsigned int ats_ports_version(void)
{
	return READ_ONCE(ports_version);
}

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

/* Whether the port has the GID and, according to ib_core's cache, the P_Key */
static bool port_serves(struct ats_port *port, const struct ats_key *key)
{
	const struct ib_gid_attr *attr;
	u16 index;

	attr = rdma_find_gid_by_port(port->ibdev, &key->gid, IB_GID_TYPE_IB, port->port, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return !ib_find_cached_pkey(port->ibdev, port->port, key->pkey, &index);
}

/* A bond over IPoIB has no parent device, but its address has a GID of an HCA */
static struct ats_port *port_by_key(struct device *parent, u32 dev_port,
				    const struct ats_key *key)
{
	struct ats_port *port;

	list_for_each_entry(port, &ports, list)
		if ((!parent || parent == port->ibdev->dev.parent) &&
		    (!dev_port || dev_port == port->port) && port_serves(port, key))
			return port;
	return NULL;
}

static bool port_clear(struct ats_port *port, const void *owner)
{
	struct ats_source *source = kvzalloc(sizeof(*source), GFP_KERNEL);

	if (!source)
		return false;
	source->owner = owner;
	ats_port_submit(port, source);
	return true;
}

/**
 * ats_route() - pass the addresses of a netdevice to the port that it is on
 * @parent: the netdevice's parent device, or NULL
 * @dev_port: the number of the HCA's port that it is on; 0: only the GID determines the port
 * @source: the addresses; this function takes them over
 * @port_id: ID of the port that has the netdevice's former addresses, 0 for none; updated. If
 *	there is no memory to withdraw them from there, it stays unchanged, and @source
 *	is dropped
 *
 * Context: may sleep.
 */
void ats_route(struct device *parent, u32 dev_port, struct ats_source *source, u64 *port_id)
{
	struct ats_port *old, *port = NULL;

	mutex_lock(&ports_lock);
	old = port_by_id(*port_id);
	if (source->count)
		port = port_by_key(parent, dev_port, &source->key);
	if (old && old != port && !port_clear(old, source->owner))
		goto out;
	*port_id = port ? port->id : 0;
	if (port) {
		ats_port_submit(port, source);
		source = NULL;
	}
out:
	mutex_unlock(&ports_lock);
	kvfree(source);
}

/* ---- HCAs ---- */

static void ports_leave(struct list_head *list)
{
	struct ats_port *port;

	list_for_each_entry(port, list, list)
		ats_port_event(port, ATS_EVENT_LEAVE);
}

static void ports_wait_idle(struct list_head *list, unsigned long until)
{
	struct ats_port *port;

	list_for_each_entry(port, list, list)
		ats_port_wait_idle(port, until);
}

static void ports_destroy(struct list_head *list)
{
	struct ats_port *port, *next;

	list_for_each_entry_safe(port, next, list, list)
		ats_port_destroy(port);
}

static int ats_add(struct ib_device *ibdev)
{
	struct ats_port *port;
	LIST_HEAD(added);
	u32 number;

	rdma_for_each_port(ibdev, number) {
		if (!rdma_cap_ib_sa(ibdev, number))
			continue;
		port = ats_port_create(ibdev, number);
		if (IS_ERR(port)) {
			ports_destroy(&added);
			return PTR_ERR(port);
		}
		list_add_tail(&port->list, &added);
	}
	if (list_empty(&added))
		return -EOPNOTSUPP;
	mutex_lock(&ports_lock);
	list_splice_tail(&added, &ports);
	WRITE_ONCE(ports_version, ports_version + 1);
	mutex_unlock(&ports_lock);
	ats_netdev_rescan();
	return 0;
}

static void ats_remove(struct ib_device *ibdev, void *client_data)
{
	struct ats_port *port, *next;
	LIST_HEAD(removed);

	mutex_lock(&ports_lock);
	list_for_each_entry_safe(port, next, &ports, list)
		if (port->ibdev == ibdev)
			list_move_tail(&port->list, &removed);
	WRITE_ONCE(ports_version, ports_version + 1);
	mutex_unlock(&ports_lock);
	ports_leave(&removed);
	ports_wait_idle(&removed, exiting ? exit_until : jiffies + ATS_REMOVE_WAIT);
	ports_destroy(&removed);
}

static struct ib_client ats_client = {
	.name = "ats",
	.add = ats_add,
	.remove = ats_remove,
};

/**
 * ats_hcas_leave() - begin to delete all records of all ports
 *
 * Does not wait for the end: see ats_hcas_wait_idle().
 *
 * Context: may sleep.
 */
void ats_hcas_leave(void)
{
	mutex_lock(&ports_lock);
	ports_leave(&ports);
	mutex_unlock(&ports_lock);
}

/**
 * ats_hcas_wait_idle() - wait until the records of all ports are deleted
 * @until: jiffies when the wait ends in any case
 *
 * To be called after ats_hcas_leave().
 *
 * Context: may sleep.
 */
void ats_hcas_wait_idle(unsigned long until)
{
	mutex_lock(&ports_lock);
	ports_wait_idle(&ports, until);
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
	exiting = true;
	ats_hcas_leave();
	ib_unregister_client(&ats_client);
}
