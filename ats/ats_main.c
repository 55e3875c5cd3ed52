// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address Translation Service for InfiniBand, version 1 of the DAT Collaborative's
 * specification: keeps the SA's ServiceRecords in step with the IP addresses of a host's
 * IPoIB interfaces. Here: the module, the ib_client, and which port an interface is on.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "ats.h"

MODULE_DESCRIPTION("Address Translation Service for InfiniBand");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");

unsigned int ats_max_in_flight = 8;
module_param_named(max_in_flight, ats_max_in_flight, uint, 0444);
MODULE_PARM_DESC(max_in_flight,
		 "Registrations that may be under way to an SA at once, a port");

unsigned int ats_max_queries = 32;
module_param_named(max_queries, ats_max_queries, uint, 0444);
MODULE_PARM_DESC(max_queries, "Queries that may be under way to an SA at once, a port");

unsigned int ats_linger_ms = 500;
module_param_named(linger_ms, ats_linger_ms, uint, 0644);
MODULE_PARM_DESC(linger_ms,
		 "Milliseconds until an address that went is taken for gone, and has not moved");

unsigned int ats_audit_interval = 600;
module_param_named(audit_interval, ats_audit_interval, uint, 0444);
MODULE_PARM_DESC(audit_interval,
		 "Seconds after which the SA's records are read back, about (0: never)");

unsigned int ats_sa_timeout_ms = 1000;
module_param_named(sa_timeout_ms, ats_sa_timeout_ms, uint, 0444);
MODULE_PARM_DESC(sa_timeout_ms, "Milliseconds that an SA may take to answer");

/* How long a module or an HCA that goes waits for its records to be deleted */
#define ATS_EXIT_WAIT		(5 * HZ)
#define ATS_REMOVE_WAIT		(2 * HZ)

static struct ib_client ats_client;

static DEFINE_MUTEX(hcas_lock);		/* guards the list */
static LIST_HEAD(hcas);
static bool exiting;
static unsigned long exit_until;	/* jiffies */

/* ---- Which port ---- */

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

/* 0: it must not be asked; else the higher, the better */
static unsigned int port_rank(struct ats_port *port, const struct ib_ats_question *question)
{
	const struct net *net = question->net;
	unsigned int rank = 1;

	if ((question->ibdev && port->ibdev != question->ibdev) ||
	    (question->port && port->port != question->port) ||
	    (net && !rdma_dev_access_netns(port->ibdev, net)))
		return 0;
	if (net && ats_view_has_net(port, net->net_cookie))
		rank += 2;
	if (READ_ONCE(port->engine.online) && port->sa.agent)
		rank++;
	return rank;
}

static struct ats_port *port_by_question(const struct ib_ats_question *question)
{
	unsigned int i, rank, best = 0;
	struct ats_port *found = NULL;
	struct ats_hca *hca;

	list_for_each_entry(hca, &hcas, list) {
		for (i = 0; i < hca->ports; i++) {
			rank = port_rank(hca->port[i], question);
			if (rank > best)
				found = hca->port[i];
			best = max(best, rank);
		}
	}
	return found;
}

/**
 * ats_with_port() - do something with the port that a question is for
 * @question: the question; of the ports that fit the best one is taken
 * @act: does it; the port stays until it returns
 * @arg: for @act
 *
 * Context: may sleep.
 * Return: 0, or -ENODEV: there is no such port.
 */
int ats_with_port(const struct ib_ats_question *question,
		  void (*act)(struct ats_port *port, void *arg), void *arg)
{
	struct ats_port *port;

	mutex_lock(&hcas_lock);
	port = port_by_question(question);
	if (port)
		act(port, arg);
	mutex_unlock(&hcas_lock);
	return port ? 0 : -ENODEV;
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
 * ats_each_port() - do something with all ports that a namespace may use
 * @net: the namespace
 * @act: does it; an error of it is the end
 * @arg: for @act
 *
 * Context: may sleep.
 * Return: 0, or the error.
 */
int ats_each_port(const struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg)
{
	struct ats_hca *hca;
	int err = 0;

	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list) {
		if (rdma_dev_access_netns(hca->ibdev, net))
			err = hca_each_port(hca, act, arg);
		if (err)
			break;
	}
	mutex_unlock(&hcas_lock);
	return err;
}

/* One that is in the partition, as far as it is known to be */
static bool port_serves(struct ats_port *port, const struct ats_key *key)
{
	u16 index;

	return ats_port_has_gid(port, &key->gid, 0) &&
	       !ib_find_cached_pkey(port->ibdev, port->port, key->pkey, &index);
}

/* A bond over IPoIB has no parent device, but an address of an HCA's */
static struct ats_port *port_by_key(struct device *parent, const struct ats_key *key)
{
	struct ats_hca *hca;
	unsigned int i;

	list_for_each_entry(hca, &hcas, list) {
		if (parent && hca->ibdev->dev.parent != parent)
			continue;
		for (i = 0; i < hca->ports; i++)
			if (port_serves(hca->port[i], key))
				return hca->port[i];
	}
	return NULL;
}

static bool port_clear(struct ats_port *port, const void *owner)
{
	struct ats_source *source = kzalloc(sizeof(*source), GFP_KERNEL);

	if (!source)
		return false;
	source->owner = owner;
	ats_port_submit(port, source);
	return true;
}

/**
 * ats_route() - bring what a netdevice has to the port that it is on
 * @parent: the netdevice's parent device, or NULL
 * @source: what it has; this function's from here on
 * @port_id: where what it had before is, 0 for nowhere; is brought up to date. Without
 *	memory it stays, and with it what is there.
 *
 * Context: may sleep.
 */
void ats_route(struct device *parent, struct ats_source *source, u64 *port_id)
{
	struct ats_port *old, *port = NULL;

	mutex_lock(&hcas_lock);
	old = port_by_id(*port_id);
	if (source->count)
		port = port_by_key(parent, &source->key);
	if (old && old != port && !port_clear(old, source->owner))
		goto out;
	*port_id = port ? port->id : 0;
	if (port) {
		ats_port_submit(port, source);
		source = NULL;
	}
out:
	mutex_unlock(&hcas_lock);
	kfree(source);
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

	if (!rdma_protocol_ib(hca->ibdev, number) && !rdma_protocol_roce(hca->ibdev, number))
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

static int __init ats_init(void)
{
	int err;

	if (!ats_max_in_flight || !ats_max_queries || !ats_sa_timeout_ms)
		return -EINVAL;
	err = ats_netlink_init();
	if (err)
		return err;
	err = ats_netdev_init();
	if (err)
		goto exit_netlink;
	err = ib_register_client(&ats_client);
	if (!err)
		return 0;
	ats_netdev_stop();
	ats_netdev_exit();
exit_netlink:
	ats_netlink_exit();
	return err;
}

/* All ports delete their records at once; HCAs are removed one after the other */
static void __exit ats_exit(void)
{
	struct ats_hca *hca;

	ats_netdev_stop();
	exit_until = jiffies + ATS_EXIT_WAIT;
	exiting = true;
	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list)
		hca_leave(hca);
	mutex_unlock(&hcas_lock);
	ib_unregister_client(&ats_client);
	ats_netdev_exit();
	ats_netlink_exit();
}

module_init(ats_init);
module_exit(ats_exit);
