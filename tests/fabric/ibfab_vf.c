// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Virtual functions. The settings that are made by the physical function are stored, and can be
 * read again. There are no devices that use them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_link.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ibfab.h"
#include "ibfab_slot.h"

#define IBFAB_MAX_VFS	127

static unsigned int vfs;
module_param(vfs, uint, 0444);
MODULE_PARM_DESC(vfs, "virtual functions of each HCA (0 to 127, default 0)");

/**
 * ibfab_vf_init() - Check the module parameter.
 *
 * Context: process.
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_vf_init(void)
{
	if (vfs <= IBFAB_MAX_VFS)
		return 0;
	pr_err("vfs=%u is more than %u\n", vfs, IBFAB_MAX_VFS);
	return -EINVAL;
}

/**
 * ibfab_vf_num() - How many virtual functions an HCA has.
 *
 * Return: the number, which is the same for all HCAs.
 */
unsigned int ibfab_vf_num(void)
{
	return vfs;
}

/**
 * ibfab_vf_alloc() - Allocate the virtual functions of an HCA's ports.
 * @hca: the HCA, which is new
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ibfab_vf_alloc(struct ibfab_hca *hca)
{
	if (!vfs)
		return 0;
	hca->vfs = kcalloc(hca->node.num_ports * vfs, sizeof(*hca->vfs), GFP_KERNEL);
	return hca->vfs ? 0 : -ENOMEM;
}

/**
 * ibfab_vf_free() - Free the virtual functions of an HCA.
 * @hca: the HCA, which is not registered
 *
 * Context: process.
 */
void ibfab_vf_free(struct ibfab_hca *hca)
{
	kfree(hca->vfs);
}

static struct ibfab_vf *find(struct ib_device *ibdev, int vf, u32 port)
{
	struct ibfab_hca *hca = to_hca(ibdev);

	if (vf < 0 || vf >= vfs || !rdma_is_port_valid(ibdev, port))
		return NULL;
	return &hca->vfs[(port - 1) * vfs + vf];
}

/**
 * ibfab_set_vf_link_state() - Verb: set the link state of a virtual function.
 * @ibdev: the HCA
 * @vf: the virtual function, from 0
 * @port: of the HCA
 * @state: IFLA_VF_LINK_STATE_AUTO, _ENABLE or _DISABLE
 *
 * Context: process, under RTNL, as are the following verbs.
 * Return: 0 or -EINVAL.
 */
int ibfab_set_vf_link_state(struct ib_device *ibdev, int vf, u32 port, int state)
{
	struct ibfab_vf *v = find(ibdev, vf, port);

	if (!v || state < 0 || state >= __IFLA_VF_LINK_STATE_MAX)
		return -EINVAL;
	v->link_state = state;
	return 0;
}

/**
 * ibfab_get_vf_config() - Verb: get the settings of a virtual function, except for its GUIDs.
 * @ibdev: the HCA
 * @vf: the virtual function
 * @port: the port of the HCA
 * @info: filled in
 *
 * Return: 0 or -EINVAL.
 */
int ibfab_get_vf_config(struct ib_device *ibdev, int vf, u32 port, struct ifla_vf_info *info)
{
	const struct ibfab_vf *v = find(ibdev, vf, port);

	if (!v)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	info->linkstate = v->link_state;
	return 0;
}

/**
 * ibfab_get_vf_stats() - Verb: get the statistics of a virtual function.
 * @ibdev: the HCA
 * @vf: the virtual function
 * @port: the port of the HCA
 * @stats: filled in with zeroes
 *
 * Return: 0 or -EINVAL.
 */
int ibfab_get_vf_stats(struct ib_device *ibdev, int vf, u32 port, struct ifla_vf_stats *stats)
{
	if (!find(ibdev, vf, port))
		return -EINVAL;
	memset(stats, 0, sizeof(*stats));
	return 0;
}

/**
 * ibfab_get_vf_guid() - Verb: get the GUIDs of a virtual function.
 * @ibdev: the HCA
 * @vf: the virtual function
 * @port: the port of the HCA
 * @node: filled in with the node GUID
 * @guid: filled in with the port GUID
 *
 * Return: 0 or -EINVAL.
 */
int ibfab_get_vf_guid(struct ib_device *ibdev, int vf, u32 port, struct ifla_vf_guid *node,
		      struct ifla_vf_guid *guid)
{
	const struct ibfab_vf *v = find(ibdev, vf, port);

	if (!v)
		return -EINVAL;
	node->guid = v->node_guid;
	guid->guid = v->port_guid;
	return 0;
}

/**
 * ibfab_set_vf_guid() - Verb: set a GUID of a virtual function.
 * @ibdev: the HCA
 * @vf: the virtual function
 * @port: the port of the HCA
 * @guid: the GUID in host order
 * @type: IFLA_VF_IB_NODE_GUID or IFLA_VF_IB_PORT_GUID
 *
 * Return: 0 or -EINVAL.
 */
int ibfab_set_vf_guid(struct ib_device *ibdev, int vf, u32 port, u64 guid, int type)
{
	struct ibfab_vf *v = find(ibdev, vf, port);

	if (!v)
		return -EINVAL;
	switch (type) {
	case IFLA_VF_IB_NODE_GUID:
		v->node_guid = guid;
		return 0;
	case IFLA_VF_IB_PORT_GUID:
		v->port_guid = guid;
		return 0;
	default:
		return -EINVAL;
	}
}
