// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address Translation Service for InfiniBand, version 1 of the DAT Collaborative's
 * specification: keeps the SA's ServiceRecords in step with the IP addresses of a host's
 * IPoIB interfaces. Here: the module, the ib_client, and which port an interface is on.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/reboot.h>
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

unsigned int ats_max_user_queries = 2;
module_param_named(max_user_queries, ats_max_user_queries, uint, 0444);
MODULE_PARM_DESC(max_user_queries,
		 "Queries of user space that may be under way to an SA at once, a port");

unsigned int ats_max_questions = 512;
module_param_named(max_questions, ats_max_questions, uint, 0644);
MODULE_PARM_DESC(max_questions, "Questions that user space may have open at a time");

unsigned int ats_max_user_questions = 32;
module_param_named(max_user_questions, ats_max_user_questions, uint, 0644);
MODULE_PARM_DESC(max_user_questions, "Questions that one user may have open at a time");

unsigned int ats_netns_records = 64;
module_param_named(netns_records, ats_netns_records, uint, 0644);
MODULE_PARM_DESC(netns_records,
		 "Addresses that may be registered on a port for a network namespace other than the HCA's");

bool ats_foreign_partitions;
module_param_named(foreign_partitions, ats_foreign_partitions, bool, 0644);
MODULE_PARM_DESC(foreign_partitions,
		 "Let network namespaces see records of partitions that they have no interface in");

unsigned int ats_lease;
module_param_named(lease, ats_lease, uint, 0444);
MODULE_PARM_DESC(lease,
		 "Seconds after which the SA drops a record that is not renewed (0: never)");

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
/* Seconds: so that an SA which is away for a while does not find all leases ended */
#define ATS_LEASE_MIN		30

static struct ib_client ats_client;

static DEFINE_MUTEX(hcas_lock);		/* guards the list */
static LIST_HEAD(hcas);
static unsigned int hcas_version;	/* read without the mutex */
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

/**
 * ats_ports_version() - whether the ports are still those that there were
 *
 * Context: any.
 * Return: a number that is another after each HCA that comes or goes.
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
 * ats_each_port() - do something with all ports that a namespace may use
 * @net: the namespace; NULL: with all ports
 * @act: does it; an error of it is the end
 * @arg: for @act
 *
 * Context: may sleep.
 * Return: 0, or the error.
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

/* One that is in the partition, as far as it is known to be */
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

/* A bond over IPoIB has no parent device, but an address of an HCA's */
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
 * ats_route() - bring what a netdevice has to the port that it is on
 * @parent: the netdevice's parent device, or NULL
 * @dev_port: the number of the HCA's port that it is on; 0: its GID alone tells
 * @source: what it has; this function's from here on
 * @port_id: where what it had before is, 0 for nowhere; is brought up to date. Without
 *	memory it stays, and with it what is there.
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

static void hcas_leave(void)
{
	struct ats_hca *hca;

	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list)
		hca_leave(hca);
	mutex_unlock(&hcas_lock);
}

/* ATS section 2.1: records are deleted before their service goes offline */
static int reboot_event(struct notifier_block *nb, unsigned long event, void *unused)
{
	unsigned long until = jiffies + ATS_REMOVE_WAIT;
	struct ats_hca *hca;

	hcas_leave();
	mutex_lock(&hcas_lock);
	list_for_each_entry(hca, &hcas, list)
		hca_wait_idle(hca, until);
	mutex_unlock(&hcas_lock);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_nb = { .notifier_call = reboot_event };

static int __init ats_init(void)
{
	int err;

	if (!ats_max_in_flight || !ats_max_queries || !ats_max_user_queries ||
	    !ats_sa_timeout_ms || (ats_lease && ats_lease < ATS_LEASE_MIN))
		return -EINVAL;
	err = ats_ask_init();
	if (err)
		return err;
	err = ats_netlink_init();
	if (err)
		goto exit_ask;
	err = ats_netdev_init();
	if (err)
		goto exit_netlink;
	err = ib_register_client(&ats_client);
	if (err)
		goto exit_netdev;
	register_reboot_notifier(&reboot_nb);
	return 0;

exit_netdev:
	ats_netdev_stop();
	ats_netdev_exit();
exit_netlink:
	ats_netlink_exit();
exit_ask:
	ats_ask_exit();
	return err;
}

/* All ports delete their records at once; HCAs are removed one after the other */
static void __exit ats_exit(void)
{
	unregister_reboot_notifier(&reboot_nb);
	ats_netdev_stop();
	exit_until = jiffies + ATS_EXIT_WAIT;
	exiting = true;
	hcas_leave();
	ib_unregister_client(&ats_client);
	ats_netdev_exit();
	ats_netlink_exit();
	ats_ask_exit();
}

module_init(ats_init);
module_exit(ats_exit);
