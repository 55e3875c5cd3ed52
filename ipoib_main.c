// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * IP over InfiniBand (RFC 4391, RFC 4392): the module, and its ib_client, which creates a
 * netdevice for each port.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "ipoib.h"
#include "version.h"

MODULE_DESCRIPTION("IP over InfiniBand");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IB_IPOIB_VERSION);

static struct ib_client ipoib_client;

/* Client data of an HCA */
struct ipoib_hca {
	struct list_head ports;		/* ipoib_port.node; written by .add and .remove only */
};

/* RoCE interfaces have their own names, since rxe devices come and go: they must not change the
 * numbers of the InfiniBand interfaces, whose names occur in configuration files.
 */
static const char *port_name_format(struct ib_device *ibdev, u32 port)
{
	return rdma_protocol_ib(ibdev, port) ? "ib%d" : "roce%d";
}

/* Creates the port's own netdevice */
static int ipoib_add_netdev(struct ipoib_port *port)
{
	struct net_device *netdev;
	struct ipoib_dev *priv;
	int err;

	netdev = alloc_netdev_mqs(sizeof(*priv), port_name_format(port->ibdev, port->number),
				  NET_NAME_UNKNOWN, ipoib_setup, ipoib_queues_max(), 1);
	if (!netdev)
		return -ENOMEM;
	netdev->rtnl_link_ops = &ipoib_link_ops;
	priv = ipoib_priv(netdev);
	err = ipoib_pkey_default(port, &priv->pkey);
	if (!err)
		err = ipoib_bind(priv, port);
	if (!err)
		err = register_netdev(netdev);
	if (err)
		free_netdev(netdev);
	return err;
}

static int ipoib_add_port(struct ipoib_hca *hca, struct ib_device *ibdev, u32 number)
{
	struct ipoib_port *port;
	int err;

	port = ipoib_port_create(ibdev, number, rdma_protocol_ib(ibdev, number) ?
				 &ipoib_sa_ops : &ipoib_roce_ops);
	if (IS_ERR(port))
		return PTR_ERR(port);
	err = ipoib_add_netdev(port);
	if (err) {
		ipoib_port_destroy(port);
		return err;
	}
	list_add_tail(&port->node, &hca->ports);
	return 0;
}

static int ipoib_add_one(struct ib_device *ibdev)
{
	struct ipoib_hca *hca;
	u32 port;
	int err;

	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca)
		return -ENOMEM;
	INIT_LIST_HEAD(&hca->ports);
	rdma_for_each_port(ibdev, port) {
		if (!rdma_protocol_ib(ibdev, port) && !ipoib_roce_wants(ibdev, port))
			continue;
		err = ipoib_add_port(hca, ibdev, port);
		if (err)
			dev_err(&ibdev->dev, "no IPoIB netdevice for port %u: error %d\n",
				port, err);
	}
	if (list_empty(&hca->ports)) {
		kfree(hca);
		return -EOPNOTSUPP;
	}
	ib_set_client_data(ibdev, &ipoib_client, hca);
	return 0;
}

static void ipoib_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct ipoib_hca *hca = client_data;
	struct ipoib_port *port, *next;
	LIST_HEAD(gone);

	rtnl_lock();
	list_for_each_entry(port, &hca->ports, node)
		ipoib_port_unregister(port, &gone);
	unregister_netdevice_many(&gone);
	rtnl_unlock();
	list_for_each_entry_safe(port, next, &hca->ports, node)
		ipoib_port_destroy(port);
	kfree(hca);
}

/* Announces the address when the stack has noticed the carrier. Before that, the qdisc drops all
 * packets.
 */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_CHANGE && ipoib_is_ours(netdev) && netif_carrier_ok(netdev))
		ipoib_netdev_announce(ipoib_priv(netdev));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* During this call, ib_core does not call .remove, so the list of ports does not change */
static struct net_device *ipoib_find_netdev(struct ib_device *ibdev, u32 port, u16 pkey,
					    const union ib_gid *gid, const struct sockaddr *addr,
					    void *client_data)
{
	const struct ipoib_hca *hca = client_data;

	return ipoib_rdma_cm_netdev(&hca->ports, port, pkey, gid, addr);
}

static struct ib_client ipoib_client = {
	.name = "ipoib",
	.add = ipoib_add_one,
	.remove = ipoib_remove_one,
	.get_net_dev_by_params = ipoib_find_netdev,
};

/* Initializes what all netdevices need. This comes before the registration with ib_core and
 * rtnetlink, which create netdevices.
 */
static int services_begin(void)
{
	int err;

	err = ipoib_work_init();
	if (err)
		return err;
	ipoib_setup_begin(&ipoib_sysfs_group, &ipoib_sysfs_child_group);
	ipoib_sa_init();
	err = ipoib_debugfs_init();
	if (err)
		goto err_sa;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto err_debugfs;
	err = ipoib_roce_init();
	if (err)
		goto err_notifier;
	return 0;

err_notifier:
	unregister_netdevice_notifier(&netdev_notifier);
err_debugfs:
	ipoib_debugfs_exit();
err_sa:
	ipoib_sa_exit();
	ipoib_work_exit();
	return err;
}

static void services_end(void)
{
	ipoib_roce_exit();
	unregister_netdevice_notifier(&netdev_notifier);
	ipoib_debugfs_exit();
	ipoib_sa_exit();
	ipoib_work_exit();
}

static int __init ipoib_module_init(void)
{
	int err;

	err = services_begin();
	if (err)
		return err;
	err = rtnl_link_register(&ipoib_link_ops);
	if (err)
		goto err_services;
	err = ib_register_client(&ipoib_client);
	if (err)
		goto err_link;
	return 0;

err_link:
	rtnl_link_unregister(&ipoib_link_ops);
err_services:
	services_end();
	return err;
}

static void __exit ipoib_module_exit(void)
{
	ib_unregister_client(&ipoib_client);
	rtnl_link_unregister(&ipoib_link_ops);
	services_end();
}

module_init(ipoib_module_init);
module_exit(ipoib_module_exit);
