// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibfab: an InfiniBand subnet in software, for developing and testing upper-layer protocols and
 * subnet managers. This file creates the HCAs and switches that the plan asks for, and cables them.
 */
#include <linux/module.h>

#include "ibfab_garbage.h"
#include "ibfab_meter.h"
#include "ibfab_slot.h"
#include "ibfab_vport.h"
#include "version.h"

#define IBFAB_LKEY	0x1bfa

static bool dma = true;
module_param(dma, bool, 0444);
MODULE_PARM_DESC(dma, "HCAs reach memory by the DMA API's addresses, not the kernel's (default: yes)");

struct ibfab_fabric ibfab = {
	.mgmt_lock = __SPIN_LOCK_UNLOCKED(ibfab.mgmt_lock),
};

static const struct ibfab_node_ops hca_ops = {
	.receive = ibfab_engine_receive,
};

/**
 * ibfab_hca_get() - Find an HCA by its index.
 * @index: below IBFAB_MAX_HCAS
 *
 * Context: under rcu_read_lock(), under which the result is valid.
 * Return: the HCA, or NULL if there is none.
 */
struct ibfab_hca *ibfab_hca_get(unsigned int index)
{
	return rcu_dereference(ibfab.hca[index]);
}

static int hca_init_node(struct ibfab_hca *hca)
{
	struct ibfab_node *node = &hca->node;
	unsigned int i;
	u64 guid;
	int ret;

	node->type = IBFAB_NODE_CA;
	node->ops = &hca_ops;
	node->guid = ibfab_plan_guid(node->type, hca->index);
	snprintf(node->name, sizeof(node->name), "ibfab%u", hca->index);
	ibfab_plan_describe(node);
	ret = ibfab_node_init(node, ibfab_plan_hca_ports());
	if (ret)
		return ret;
	guid = be64_to_cpu(node->guid);
	for (i = 1; i <= node->num_ports; i++) {
		node->ports[i].guid[0] = cpu_to_be64(guid + i);
		node->ports[i].mtu_cap = hca->caps.mtu;
		node->ports[i].mtu = hca->caps.mtu;
	}
	ret = ibfab_vports_create(hca);
	if (ret)
		ibfab_node_cleanup(node);
	return ret;
}

static void hca_init(struct ibfab_hca *hca, unsigned int index)
{
	hca->index = index;
	ibfab_caps_get(index, &hca->caps);
	ibfab_engine_init(hca);
	ibfab_late_init(hca);
	xa_init_flags(&hca->qps, XA_FLAGS_ALLOC);
	spin_lock_init(&hca->mcast_lock);
}

static void hca_init_ibdev(struct ibfab_hca *hca)
{
	struct ib_device *ibdev = &hca->ibdev;

	ibfab_meter_add_verbs(ibdev);
	ib_set_device_ops(ibdev, &ibfab_device_ops);
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = hca->node.guid;
	ibdev->phys_port_cnt = hca->node.num_ports;
	ibdev->num_comp_vectors = hca->caps.vectors;
	ibdev->local_dma_lkey = IBFAB_LKEY;
	ibdev->dev.parent = ibfab_slot(hca->index);
	memcpy(ibdev->node_desc, hca->node.desc, sizeof(ibdev->node_desc));
}

static void hca_free(struct ibfab_hca *hca)
{
	xa_destroy(&hca->qps);
	ibfab_fault_verbs_free(hca);
	ibfab_vf_free(hca);
	ibfab_vports_destroy(hca);
	ibfab_node_cleanup(&hca->node);
	ib_dealloc_device(&hca->ibdev);
}

static struct ibfab_hca *hca_alloc(unsigned int index)
{
	struct ibfab_hca *hca = ib_alloc_device(ibfab_hca, ibdev);
	int ret;

	if (!hca)
		return ERR_PTR(-ENOMEM);
	hca_init(hca, index);
	ret = hca_init_node(hca);
	if (ret) {
		ib_dealloc_device(&hca->ibdev);
		return ERR_PTR(ret);
	}
	hca_init_ibdev(hca);
	ret = ibfab_vf_alloc(hca) ?:
	      ibfab_fault_verbs_init(hca);
	if (ret) {
		hca_free(hca);
		return ERR_PTR(ret);
	}
	return hca;
}

/* Frees an HCA that is not registered, once nobody can find it and its engine has stopped */
static void hca_forget(struct ibfab_hca *hca)
{
	ibfab_traps_stop(&hca->node);
	RCU_INIT_POINTER(ibfab.hca[hca->index], NULL);
	synchronize_rcu();
	ibfab_engine_stop(hca);
	hca_free(hca);
}

/* Port events are reported only while an HCA is live */
static void hca_set_live(struct ibfab_hca *hca, bool live)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	hca->live = live;
	for (i = 1; i <= hca->node.num_ports; i++)
		hca->node.ports[i].events = 0;
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
}

static void hca_cable(struct ibfab_hca *hca)
{
	struct ibfab_port *port;
	unsigned int i;

	for (i = 1; i <= hca->node.num_ports; i++) {
		port = &hca->node.ports[i];
		if (port->vport)
			ibfab_vport_join(port);
		else
			ibfab_cable(port, ibfab_plan_hca_peer(hca, i));
	}
}

static void hca_uncable(struct ibfab_hca *hca)
{
	struct ibfab_port *port;
	unsigned int i;

	for (i = 1; i <= hca->node.num_ports; i++) {
		port = &hca->node.ports[i];
		if (port->vport)
			ibfab_vport_leave(port);
		else
			ibfab_uncable(port);
	}
}

/**
 * ibfab_hca_create() - Create an HCA and plug it in.
 * @index: the HCA's index in &ibfab_fabric.hca, where there is none yet
 *
 * The ports are cabled last, because events need a registered device.
 *
 * Context: process; nobody else creates or destroys HCAs at the same time.
 * Return: 0 or a negative errno.
 */
int ibfab_hca_create(unsigned int index)
{
	struct ibfab_hca *hca = hca_alloc(index);
	int ret;

	if (IS_ERR(hca))
		return PTR_ERR(hca);
	rcu_assign_pointer(ibfab.hca[index], hca);
	ret = ib_register_device(&hca->ibdev, hca->node.name, dma ? ibfab_slot(index) : NULL);
	if (ret) {
		hca_forget(hca);
		return ret;
	}
	hca_set_live(hca, true);
	ibfab_debugfs_add_hca(hca);
	hca_cable(hca);
	return 0;
}

/**
 * ibfab_hca_disconnect() - Disconnect an HCA from the fabric.
 * @hca: the HCA, which receives no packet and reports no port event afterwards
 *
 * Context: process; waits for grace periods.
 */
void ibfab_hca_disconnect(struct ibfab_hca *hca)
{
	hca_set_live(hca, false);
	hca_uncable(hca);
}

/**
 * ibfab_hca_destroy() - Unregister and free an HCA.
 * @hca: the HCA, which is disconnected
 *
 * Context: process; nobody else creates or destroys HCAs at the same time. Waits for the HCA's
 * users.
 */
void ibfab_hca_destroy(struct ibfab_hca *hca)
{
	ibfab_debugfs_remove_hca(hca);
	ibfab_fault_clear(&hca->node);
	ibfab_late_stop(hca);
	ib_unregister_device(&hca->ibdev);
	hca_forget(hca);
}

/* HCAs that share the ports of another have a higher index and are destroyed before it */
static void destroy_hcas(void)
{
	struct ibfab_hca *hca;
	unsigned int i;

	for (i = ibfab.num_hcas; i-- > 0;) {
		hca = rcu_dereference_protected(ibfab.hca[i], true);
		if (!hca)
			continue;
		ibfab_hca_disconnect(hca);
		ibfab_hca_destroy(hca);
	}
}

static int create_hcas(void)
{
	unsigned int i;
	int ret;

	ibfab.num_hcas = ibfab_plan_hcas();
	for (i = 0; i < ibfab.num_hcas; i++) {
		ret = ibfab_hca_create(i);
		if (ret)
			return ret;
	}
	return 0;
}

static void destroy_switches(void)
{
	unsigned int i;

	for (i = 0; i < ibfab.num_switches; i++)
		ibfab_traps_stop(&ibfab.sw[i]->node);
	for (i = 0; i < ibfab.num_switches; i++) {
		ibfab_fault_clear(&ibfab.sw[i]->node);
		ibfab_capture_remove_node(&ibfab.sw[i]->node);
		ibfab_switch_destroy(ibfab.sw[i]);
	}
	ibfab.num_switches = 0;
}

static int create_switches(void)
{
	unsigned int i;

	for (i = 0; i < ibfab_plan_switches(); i++) {
		ibfab.sw[i] = ibfab_switch_create(i, ibfab_plan_switch_ports(i));
		if (!ibfab.sw[i])
			return -ENOMEM;
		ibfab.num_switches++;
		ibfab_debugfs_add_switch(ibfab.sw[i]);
	}
	ibfab_plan_cable_switches();
	return 0;
}

static void fabric_destroy(void)
{
	ibfab_hotplug_exit();
	ibfab_trunk_stop();
	destroy_hcas();
	ibfab_alias_exit();
	ibfab_garbage_exit();
	ibfab_slots_exit();
	ibfab_debugfs_exit();
	ibfab_trunk_exit();
	destroy_switches();
	ibfab_pool_exit();
}

static int __init ibfab_init(void)
{
	int ret;

	ret = ibfab_plan_init() ?:
	      ibfab_vport_init() ?:
	      ibfab_caps_init() ?:
	      ibfab_vf_init() ?:
	      ibfab_slots_init(ibfab_plan_hcas());
	if (ret)
		return ret;
	ret = ibfab_garbage_init();
	if (ret)
		goto err_slots;
	ret = ibfab_trunk_init();
	if (ret)
		goto err_garbage;
	ibfab_alias_init();
	ibfab_meter_init();
	ret = ibfab_pool_init();
	ibfab_debugfs_init();
	if (!ret)
		ret = create_switches();
	if (!ret)
		ret = create_hcas();
	if (!ret)
		ret = ibfab_trunk_start();
	if (ret)
		fabric_destroy();
	return ret;

err_garbage:
	ibfab_garbage_exit();
err_slots:
	ibfab_slots_exit();
	return ret;
}
module_init(ibfab_init);

static void __exit ibfab_exit(void)
{
	fabric_destroy();
}
module_exit(ibfab_exit);

MODULE_DESCRIPTION("Virtual InfiniBand subnet");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IB_IPOIB_VERSION);
