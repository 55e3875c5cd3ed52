// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibcma: connections, datagrams and multicast groups by the kernel's RDMA CM, between IP addresses
 * in the network namespace of the process that writes. For tests, by files in
 * /sys/kernel/debug/ibcma/:
 *
 *  listen   a line creates a service, which accepts all requests and sends back all
 *           messages: name=s1 address=10.0.0.1 port=7000 [ud=1]
 *           With ud the service is for datagrams, otherwise for reliable connections.
 *  connect  a line connects to a service, sends messages, waits for each of them to come
 *           back, and disconnects: to=10.0.0.1 port=7000 [from=10.0.0.2] [ud=1] [count=8]
 *           The write returns when this is done.
 *  result   the result of the last connect
 *  join     a line joins a group on the interface that has the address:
 *           name=m1 address=10.0.0.1 group=239.1.1.1 [ipoib=1]
 *           With ipoib it is the group of the IP layer, otherwise one of the RDMA CM's own.
 *  send     a line sends to a group that was joined: name=m1 payload=<hex> [count=1]
 *  end      name=s1 ends a service or a membership
 *  names    all services and memberships
 *
 * Addresses are of IPv4 or IPv6; a link-local one is written "fe80::1%ib0". "dev" is the interface
 * to which the RDMA CM has bound an end. An HCA cannot be removed while it has services or
 * memberships.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm_ib.h>

#include "ibcma.h"

#define IBCMA_MAX_COUNT	1000000

static struct dentry *root;

/* Lines */

static int read_payload(const char *value, void *of)
{
	struct ibcma_params *params = of;
	int size = ibtool_read_hex(value, params->payload, IBCMA_MAX_SIZE);

	if (size < 0)
		return size;
	params->size = size;
	return 0;
}

#define WORD(member, kind) IBTOOL_WORD(struct ibcma_params, member, kind)
#define TEXT(name, member) { name, offsetof(struct ibcma_params, member), ibtool_read_text }

static const struct ibtool_word words[] = {
	WORD(name, text), WORD(address, text), TEXT("from", address), TEXT("group", peer),
	TEXT("to", peer), WORD(port, text), WORD(ud, u32), WORD(ipoib, u32), WORD(count, u32),
	{ "payload", 0, read_payload },
};

/* An address that the line does not have keeps the family AF_UNSPEC */
static int parse_address(const char *text, const char *port, struct sockaddr_storage *to)
{
	if (!text)
		return 0;
	return inet_pton_with_scope(current->nsproxy->net_ns, AF_UNSPEC, text, port, to);
}

static int params_read(struct ibcma_params *params, char *line)
{
	int ret;

	params->count = 1;
	params->size = 1024;
	ret = ibtool_read_line(line, words, ARRAY_SIZE(words), params);
	if (ret)
		return ret;
	if (!params->count || params->count > IBCMA_MAX_COUNT || params->size < sizeof(__be32))
		return -EINVAL;
	if (params->name && strlen(params->name) >= IBCMA_NAME)
		return -EINVAL;
	ret = parse_address(params->address, params->peer ? NULL : params->port, &params->here);
	return ret ?: parse_address(params->peer, params->port, &params->there);
}

/* IDs of the RDMA CM */

/**
 * ibcma_id_dev() - Get the interface to which the RDMA CM has bound an ID.
 * @id: the ID
 * @name: set to the name of the interface, or to "none"; it has IFNAMSIZ bytes
 *
 * Context: any.
 */
void ibcma_id_dev(const struct rdma_cm_id *id, char *name)
{
	const struct rdma_dev_addr *addr = &id->route.addr.dev_addr;
	struct net_device *netdev;

	rcu_read_lock();
	netdev = dev_get_by_index_rcu(addr->net, addr->bound_dev_if);
	strscpy(name, netdev ? netdev->name : "none", IFNAMSIZ);
	rcu_read_unlock();
}

/**
 * ibcma_conn_param() - The parameters of a connection, which are the same at both ends.
 * @qp: the QP of this end
 *
 * Context: any.
 * Return: the parameters.
 */
struct rdma_conn_param ibcma_conn_param(const struct ib_qp *qp)
{
	return (struct rdma_conn_param) {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = qp->qp_num,
		.qkey = RDMA_UDP_QKEY,
	};
}

/**
 * ibcma_id_create() - Create an ID in the network namespace of the process.
 * @params: whether the ID is for multicast groups of the IP layer
 * @ud: whether the ID is for datagrams
 * @handler: called for each event of the ID
 * @context: the ID's context
 * @id: set to the ID, or unchanged on failure
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibcma_id_create(const struct ibcma_params *params, bool ud, rdma_cm_event_handler handler,
		    void *context, struct rdma_cm_id **id)
{
	enum rdma_ucm_port_space ps = ud ? RDMA_PS_UDP : RDMA_PS_TCP;
	struct rdma_cm_id *new;

	new = rdma_create_id(current->nsproxy->net_ns, handler, context,
			     params->ipoib ? RDMA_PS_IPOIB : ps, ud ? IB_QPT_UD : IB_QPT_RC);
	if (IS_ERR(new))
		return PTR_ERR(new);
	*id = new;
	return 0;
}

/* Objects with names */

static DEFINE_MUTEX(things_lock);	/* protects things, and serializes sending */
static LIST_HEAD(things);

/**
 * ibcma_thing_add() - Name an object, and add it to the list.
 * @thing: the object
 * @name: its name
 * @kind: the functions of its kind
 *
 * Context: process.
 */
void ibcma_thing_add(struct ibcma_thing *thing, const char *name, const struct ibcma_kind *kind)
{
	strscpy(thing->name, name, sizeof(thing->name));
	thing->kind = kind;
	mutex_lock(&things_lock);
	list_add_tail(&thing->list, &things);
	mutex_unlock(&things_lock);
}

static int send_by_name(const struct ibcma_params *params)
{
	struct ibcma_thing *thing;
	int ret = -ENOENT;

	if (!params->name)
		return -EINVAL;
	mutex_lock(&things_lock);
	list_for_each_entry(thing, &things, list)
		if (thing->kind->send && !strcmp(thing->name, params->name))
			ret = thing->kind->send(thing, params);
	mutex_unlock(&things_lock);
	return ret;
}

/* Ends all objects with a name, or all objects. Returns how many there were. */
static int end_things(const char *name)
{
	struct ibcma_thing *thing, *next;
	int ended = 0;

	mutex_lock(&things_lock);
	list_for_each_entry_safe(thing, next, &things, list) {
		if (name && strcmp(thing->name, name))
			continue;
		list_del(&thing->list);
		thing->kind->free(thing);
		ended++;
	}
	mutex_unlock(&things_lock);
	return ended;
}

static int end_by_name(const struct ibcma_params *params)
{
	if (!params->name)
		return -EINVAL;
	return end_things(params->name) ? 0 : -ENOENT;
}

/* Files */

/* A file, and the function that processes its lines */
static const struct ibcma_act {
	const char *name;
	int (*act)(const struct ibcma_params *params);
} acts[] = {
	{ "listen", ibcma_listen },
	{ "connect", ibcma_connect },
	{ "join", ibcma_join },
	{ "send", send_by_name },
	{ "end", end_by_name },
};

static int act_line(void *of, char *line)
{
	const struct ibcma_act *act = of;
	struct ibcma_params *params = kzalloc(sizeof(*params), GFP_KERNEL);
	int ret;

	if (!params)
		return -ENOMEM;
	ret = params_read(params, line) ?:
	      act->act(params);
	kfree(params);
	return ret;
}

DEFINE_IBTOOL_LINES(act);

DEFINE_SHOW_ATTRIBUTE(ibcma_result);

static int names_show(struct seq_file *m, void *v)
{
	struct ibcma_thing *thing;

	mutex_lock(&things_lock);
	list_for_each_entry(thing, &things, list)
		thing->kind->show(m, thing);
	mutex_unlock(&things_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(names);

static int __init ibcma_init(void)
{
	unsigned int i;

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	for (i = 0; i < ARRAY_SIZE(acts); i++)
		debugfs_create_file(acts[i].name, 0200, root, (void *)&acts[i], &act_fops);
	debugfs_create_file("result", 0400, root, NULL, &ibcma_result_fops);
	debugfs_create_file("names", 0400, root, NULL, &names_fops);
	return 0;
}
module_init(ibcma_init);

static void __exit ibcma_exit(void)
{
	debugfs_remove(root);
	end_things(NULL);
}
module_exit(ibcma_exit);

MODULE_DESCRIPTION("Connections and groups by the RDMA CM, for tests");
MODULE_LICENSE("Dual BSD/GPL");
