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

static struct ib_client ats_client;

static DEFINE_MUTEX(hcas_lock);		/* guards the list */
static LIST_HEAD(hcas);
static unsigned int hcas_version;	/* also read without the mutex */
static bool exiting;
static unsigned long exit_until;	/* jiffies; while exiting, no HCA waits longer */

/* ---- Finding ports ---- */

static struct ats_port *port_by_id(u64 id)
{
	struct ats_hca *hca;
	unsigned int i;

	list_for_each_entry(hca, &hcas, list)
		for (i = 0; i < hca->ports; i++)
			if (hca->port[i]->id == id)
				return hca->port[i];
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
	return READ_ONCE(hcas_version);
}

static int hca_each_port(struct ats_hca *hca, int (*act)(struct ats_port *port, void *arg),
			 void *arg)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < hca->ports && !err; i++)
		err = act(hca->port[i], arg);
	return err;
}

/**
 * ats_each_port() - call a function for each port that a namespace may use
 * @net: the namespace; NULL: all ports
 * @act: the function; a return value other than 0 ends the iteration
 * @arg: argument for @act
 *
 * Context: may sleep; @act is called with the mutex of the list of HCAs held.
 * Return: 0, or the value that ended the iteration.
 */
int ats_each_port(struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg)
{
	struct ats_hca *hca;
	int err = 0;

	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list) {
		if (!net || rdma_dev_access_netns(hca->ibdev, net))
			err = hca_each_port(hca, act, arg);
		if (err)
			break;
	}
	mutex_unlock(&hcas_lock);
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
	struct ats_hca *hca;
	unsigned int i;

	list_for_each_entry(hca, &hcas, list) {
		if (parent && hca->ibdev->dev.parent != parent)
			continue;
		for (i = 0; i < hca->ports; i++)
			if ((!dev_port || dev_port == hca->port[i]->port) &&
			    port_serves(hca->port[i], key))
				return hca->port[i];
	}
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

	mutex_lock(&hcas_lock);
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
	mutex_unlock(&hcas_lock);
	kvfree(source);
}

/* ---- HCAs ---- */

static void hca_destroy(struct ats_hca *hca)
{
	while (hca->ports)
		ats_port_destroy(hca->port[--hca->ports]);
	kfree(hca);
}

static int hca_add_port(struct ats_hca *hca, u32 number)
{
	struct ats_port *port;

	if (!rdma_cap_ib_sa(hca->ibdev, number))
		return 0;
	port = ats_port_create(hca->ibdev, number);
	if (IS_ERR(port))
		return PTR_ERR(port);
	hca->port[hca->ports++] = port;
	return 0;
}

static int ats_add(struct ib_device *ibdev)
{
	struct ats_hca *hca;
	u32 number;
	int err = -ENOMEM;

	hca = kzalloc(struct_size(hca, port, ibdev->phys_port_cnt), GFP_KERNEL);
	if (!hca)
		return err;
	hca->ibdev = ibdev;
	rdma_for_each_port(ibdev, number) {
		err = hca_add_port(hca, number);
		if (err)
			goto destroy;
	}
	err = -EOPNOTSUPP;
	if (!hca->ports)
		goto destroy;
	mutex_lock(&hcas_lock);
	list_add_tail(&hca->list, &hcas);
	WRITE_ONCE(hcas_version, hcas_version + 1);
	mutex_unlock(&hcas_lock);
	ib_set_client_data(ibdev, &ats_client, hca);
	ats_netdev_rescan();
	return 0;

destroy:
	hca_destroy(hca);
	return err;
}

static void hca_leave(struct ats_hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->ports; i++)
		ats_port_leave(hca->port[i]);
}

static void hca_wait_idle(struct ats_hca *hca, unsigned long until)
{
	unsigned int i;

	for (i = 0; i < hca->ports; i++)
		ats_port_wait_idle(hca->port[i], until);
}

static void ats_remove(struct ib_device *ibdev, void *client_data)
{
	struct ats_hca *hca = client_data;

	mutex_lock(&hcas_lock);
	list_del(&hca->list);
	WRITE_ONCE(hcas_version, hcas_version + 1);
	mutex_unlock(&hcas_lock);
	hca_leave(hca);
	hca_wait_idle(hca, exiting ? exit_until : jiffies + ATS_REMOVE_WAIT);
	hca_destroy(hca);
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
	struct ats_hca *hca;

	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list)
		hca_leave(hca);
	mutex_unlock(&hcas_lock);
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
	struct ats_hca *hca;

	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list)
		hca_wait_idle(hca, until);
	mutex_unlock(&hcas_lock);
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
