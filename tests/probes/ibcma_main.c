// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibcma: connections, datagrams and multicast groups by the kernel's RDMA CM, between IP
 * addresses in the network namespace of the process that writes. For tests, by files in
 * /sys/kernel/debug/ibcma/:
 *
 *  listen   a line makes a service, which takes all requests and sends back all that it
 *           is sent: name=s1 address=10.0.0.1 port=7000 [ud=1]
 *           With ud it is one for datagrams, else one for reliable connections.
 *  connect  a line connects to a service, sends messages, wants each of them back, and
 *           disconnects: to=10.0.0.1 port=7000 [from=10.0.0.2] [ud=1] [count=8]
 *           [size=1024]. The write returns when that is over.
 *  result   what came of the last connect
 *  join     a line joins a group on the interface that has the address:
 *           name=m1 address=10.0.0.1 group=239.1.1.1 [ipoib=1]
 *           With ipoib the group is that of the IP layer, else one of the RDMA CM's own.
 *  send     a line sends to a group that was joined: name=m1 payload=<hex> [count=1]
 *  end      name=s1 ends a service or a membership
 *  names    all services and memberships
 *
 * Addresses are of IPv4 or IPv6, "fe80::1%ib0" for a link-local one. "dev" is the
 * interface that the RDMA CM bound an end to. An HCA cannot be removed while there are
 * services or memberships on it.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm_ib.h>

#include "ibcma.h"
#include "ibtool.h"

#define IBCMA_MAX_LINE	5000
#define IBCMA_MAX_COUNT	1000000

static struct dentry *root;

/* Lines */

static int parse_payload(struct ibcma_params *params, const char *value)
{
	size_t digits = strlen(value);

	if (digits % 2 || digits / 2 > IBCMA_MAX_SIZE)
		return -EINVAL;
	params->size = digits / 2;
	return hex2bin(params->payload, value, params->size);
}

static int parse_text(struct ibcma_params *params, const char *word, const char *value)
{
	if (!strcmp(word, "name"))
		params->name = value;
	else if (!strcmp(word, "address") || !strcmp(word, "from"))
		params->address = value;
	else if (!strcmp(word, "group") || !strcmp(word, "to"))
		params->peer = value;
	else if (!strcmp(word, "port"))
		params->port = value;
	else
		return -EINVAL;
	return 0;
}

static int parse_word(void *of, char *word)
{
	struct ibcma_params *params = of;
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = 0;
	if (!strcmp(word, "payload"))
		return parse_payload(params, value);
	if (!strcmp(word, "ud"))
		return kstrtou32(value, 0, &params->ud);
	if (!strcmp(word, "ipoib"))
		return kstrtou32(value, 0, &params->ipoib);
	if (!strcmp(word, "count"))
		return kstrtou32(value, 0, &params->count);
	if (!strcmp(word, "size"))
		return kstrtou32(value, 0, &params->size);
	return parse_text(params, word, value);
}

/* An address that the line does not give has the family AF_UNSPEC */
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
	ret = ibtool_each_word(line, parse_word, params);
	if (ret)
		return ret;
	if (!params->count || params->count > IBCMA_MAX_COUNT || params->size < sizeof(__be32) ||
	    params->size > IBCMA_MAX_SIZE)
		return -EINVAL;
	if (params->name && strlen(params->name) >= IBCMA_NAME)
		return -EINVAL;
	ret = parse_address(params->address, params->peer ? NULL : params->port, &params->here);
	return ret ?: parse_address(params->peer, params->port, &params->there);
}

/* What a file's lines are for */
typedef int (*ibcma_act)(const struct ibcma_params *params);

static int line_act(void *of, char *line)
{
	const ibcma_act *act = of;
	struct ibcma_params *params = kzalloc(sizeof(*params), GFP_KERNEL);
	int ret;

	if (!params)
		return -ENOMEM;
	ret = params_read(params, line);
	if (!ret)
		ret = (*act)(params);
	kfree(params);
	return ret;
}

static ssize_t line_write(const char __user *from, size_t count, ibcma_act act)
{
	return ibtool_line_write(from, count, IBCMA_MAX_LINE, line_act, &act);
}

/* IDs of the RDMA CM */

/**
 * ibcma_id_dev() - The interface that the RDMA CM bound an ID to.
 * @id: the ID
 * @name: its name is put here, IFNAMSIZ octets; "none" if there is none
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
 * ibcma_conn_param() - What either end asks of a connection.
 * @qp: its QP
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
 * ibcma_id_create() - Make an ID in the network namespace of the process.
 * @params: whether it is for the IP layer's groups
 * @ud: for datagrams
 * @handler: of its events
 * @context: the ID's
 *
 * Context: process.
 * Return: the ID or an error pointer.
 */
struct rdma_cm_id *ibcma_id_create(const struct ibcma_params *params, bool ud,
				   rdma_cm_event_handler handler, void *context)
{
	enum rdma_ucm_port_space ps = ud ? RDMA_PS_UDP : RDMA_PS_TCP;

	return rdma_create_id(current->nsproxy->net_ns, handler, context,
			      params->ipoib ? RDMA_PS_IPOIB : ps, ud ? IB_QPT_UD : IB_QPT_RC);
}

/* Files */

static int end_line(const struct ibcma_params *params)
{
	if (!params->name)
		return -EINVAL;
	return ibcma_services_end(params->name) + ibcma_members_end(params->name) ? 0 : -ENOENT;
}

#define LINE_FILE(name, act)							\
static ssize_t name##_write(struct file *file, const char __user *from,		\
			    size_t count, loff_t *pos)				\
{										\
	return line_write(from, count, act);					\
}										\
static const struct file_operations name##_fops = {				\
	.owner = THIS_MODULE,							\
	.open = simple_open,							\
	.write = name##_write,							\
}

LINE_FILE(listen, ibcma_listen);
LINE_FILE(connect, ibcma_connect);
LINE_FILE(join, ibcma_join);
LINE_FILE(send, ibcma_send);
LINE_FILE(end, end_line);

static int result_show(struct seq_file *m, void *v)
{
	ibcma_result_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int names_show(struct seq_file *m, void *v)
{
	ibcma_services_show(m);
	ibcma_members_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(names);

static int __init ibcma_init(void)
{
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("listen", 0200, root, NULL, &listen_fops);
	debugfs_create_file("connect", 0200, root, NULL, &connect_fops);
	debugfs_create_file("result", 0400, root, NULL, &result_fops);
	debugfs_create_file("join", 0200, root, NULL, &join_fops);
	debugfs_create_file("send", 0200, root, NULL, &send_fops);
	debugfs_create_file("end", 0200, root, NULL, &end_fops);
	debugfs_create_file("names", 0400, root, NULL, &names_fops);
	return 0;
}
module_init(ibcma_init);

static void __exit ibcma_exit(void)
{
	debugfs_remove(root);
	ibcma_services_end(NULL);
	ibcma_members_end(NULL);
}
module_exit(ibcma_exit);

MODULE_DESCRIPTION("Connections and groups by the RDMA CM, for tests");
MODULE_LICENSE("Dual BSD/GPL");
