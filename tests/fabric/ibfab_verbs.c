// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The verbs other than those of QPs, SRQs, CQs and multicast groups: queries of the device and its
 * ports, protection domains, address handles, DMA memory regions, and MADs for the device's agents.
 */
#include <linux/slab.h>
#include <rdma/ib_mad.h>

#include "ibfab_slot.h"
#include "ibfab_vport.h"

#define IBFAB_MAX_OBJECTS	65536
#define IBFAB_WIDTH_4X		2

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct ibfab_hca *hca = to_hca(ibdev);

	attr->sys_image_guid = hca->node.guid;
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = PAGE_SIZE;
	attr->vendor_id = IBFAB_OUI;
	attr->vendor_part_id = IBFAB_NODE_CA;
	attr->max_qp = hca->caps.max_qp;
	attr->max_qp_wr = hca->caps.max_qp_wr;
	attr->max_qp_rd_atom = IBFAB_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = IBFAB_MAX_RD_ATOMIC;
	attr->device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR |
				 IB_DEVICE_BAD_QKEY_CNTR |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	if (hca->caps.mcast_block)
		attr->kernel_cap_flags |= IBK_BLOCK_MULTICAST_LOOPBACK;
	attr->max_send_sge = hca->caps.max_send_sge;
	attr->max_recv_sge = hca->caps.max_recv_sge;
	attr->max_sge_rd = hca->caps.max_send_sge;
	attr->max_cq = IBFAB_MAX_OBJECTS;
	attr->max_cqe = hca->caps.max_cqe;
	attr->max_mr = IBFAB_MAX_OBJECTS;
	attr->max_pd = IBFAB_MAX_OBJECTS;
	attr->max_mcast_grp = IBFAB_MAX_OBJECTS;
	attr->max_mcast_qp_attach = IBFAB_MAX_OBJECTS;
	attr->max_total_mcast_qp_attach = IBFAB_MAX_OBJECTS;
	attr->max_ah = IBFAB_MAX_OBJECTS;
	attr->max_pkeys = ibfab_pkeys;
	if (hca->caps.srq) {
		attr->max_srq = IBFAB_MAX_OBJECTS;
		attr->max_srq_wr = hca->caps.max_qp_wr;
		attr->max_srq_sge = hca->caps.max_recv_sge;
	}
	ibfab_offload_query(hca, attr);
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 port_num,
		      struct ib_port_attr *attr)
{
	struct ibfab_port *port = &to_hca(ibdev)->node.ports[port_num];
	const struct ibfab_port *base = port->base;
	const struct ib_port_info *info = &base->info.base;
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	attr->subnet_prefix = base->gid_prefix;
	attr->state = base->state;
	attr->phys_state = base->phys_state;
	attr->max_mtu = base->mtu_cap;
	attr->active_mtu = base->mtu;
	attr->lid = base->lid;
	attr->lmc = base->lmc;
	attr->sm_lid = base->sm_lid;
	attr->sm_sl = info->neighbormtu_mastersmsl & 0x0f;
	attr->subnet_timeout = info->clientrereg_resv_subnetto & 0x1f;
	attr->init_type_reply = info->inittypereply_mtucap >> 4;
	attr->port_cap_flags = port->cap_mask;
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);

	attr->gid_tbl_len = IBFAB_GUID_TABLE_LEN;
	attr->pkey_tbl_len = ibfab_pkeys;
	attr->max_msg_sz = IBFAB_MAX_MSG;
	attr->max_vl_num = IBFAB_VLCAP;
	attr->bad_pkey_cntr = atomic_read(&port->pkey_violations);
	attr->qkey_viol_cntr = atomic_read(&port->qkey_violations);
	attr->active_width = IBFAB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port_num,
			      struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	/* Only a physical port has SMPs */
	if (to_hca(ibdev)->node.ports[port_num].vport) {
		immutable->core_cap_flags &= ~RDMA_CORE_CAP_IB_SMI;
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	}
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->pkey_tbl_len = ibfab_pkeys;
	immutable->gid_tbl_len = IBFAB_GUID_TABLE_LEN;
	return 0;
}

/**
 * ibfab_port_pkey() - Get a P_Key of a port.
 * @port: the port
 * @index: below ibfab_pkeys
 *
 * Context: any.
 * Return: the P_Key with its membership bit, in host order; 0 if the entry is empty.
 */
u16 ibfab_port_pkey(const struct ibfab_port *port, unsigned int index)
{
	return READ_ONCE(port->base->pkey[index]);
}

/**
 * ibfab_pkey_match() - Whether two P_Keys match, so that their members may communicate (10.9.3).
 * @a: a P_Key in host order
 * @b: another P_Key
 *
 * Return: true if both are in the same valid partition, and at least one has full membership.
 */
bool ibfab_pkey_match(u16 a, u16 b)
{
	return (a & IBFAB_PKEY_BASE) &&
	       (a & IBFAB_PKEY_BASE) == (b & IBFAB_PKEY_BASE) &&
	       ((a | b) & IBFAB_PKEY_FULL);
}

/**
 * ibfab_pkey_find() - Find a P_Key of a port that matches another one.
 * @port: the port
 * @pkey: the other P_Key, in host order
 *
 * Context: any.
 * Return: the index, or -ENOENT.
 */
int ibfab_pkey_find(const struct ibfab_port *port, u16 pkey)
{
	unsigned int i;

	for (i = 0; i < ibfab_pkeys; i++)
		if (ibfab_pkey_match(ibfab_port_pkey(port, i), pkey))
			return i;
	return -ENOENT;
}

static int query_pkey(struct ib_device *ibdev, u32 port_num, u16 index,
		      u16 *pkey)
{
	if (index >= ibfab_pkeys)
		return -EINVAL;
	*pkey = ibfab_port_pkey(&to_hca(ibdev)->node.ports[port_num], index);
	return 0;
}

/**
 * ibfab_port_gid() - Get a GID of a port.
 * @port: the port
 * @index: below IBFAB_GUID_TABLE_LEN
 * @gid: filled in; zero if the entry is empty or belongs to a virtual port
 *
 * Context: any.
 */
void ibfab_port_gid(const struct ibfab_port *port, unsigned int index,
		    union ib_gid *gid)
{
	__be64 guid = READ_ONCE(port->guid[index]);

	*gid = (union ib_gid) {};
	if (!guid || (index && index <= port->aliases))
		return;
	gid->global.subnet_prefix = cpu_to_be64(READ_ONCE(port->base->gid_prefix));
	gid->global.interface_id = guid;
}

static int query_gid(struct ib_device *ibdev, u32 port_num, int index,
		     union ib_gid *gid)
{
	if (index < 0 || index >= IBFAB_GUID_TABLE_LEN)
		return -EINVAL;
	ibfab_port_gid(&to_hca(ibdev)->node.ports[port_num], index, gid);
	return 0;
}

static int modify_device(struct ib_device *ibdev, int mask,
			 struct ib_device_modify *modify)
{
	struct ibfab_node *node = &to_hca(ibdev)->node;
	unsigned long flags;
	unsigned int i;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	memcpy(node->desc, modify->node_desc, sizeof(node->desc));
	memcpy(ibdev->node_desc, modify->node_desc, sizeof(node->desc));
	for (i = 1; i <= node->num_ports; i++)
		if (!node->ports[i].vport)
			ibfab_trap_node_desc(&node->ports[i]);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	return 0;
}

static int modify_port(struct ib_device *ibdev, u32 port_num, int mask,
		       struct ib_port_modify *modify)
{
	struct ibfab_port *port = &to_hca(ibdev)->node.ports[port_num];
	unsigned long flags;
	u32 cap_mask;

	if (mask & ~(IB_PORT_RESET_QKEY_CNTR | IB_PORT_SHUTDOWN) ||
	    (port->vport && mask & IB_PORT_SHUTDOWN))
		return -EOPNOTSUPP;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	cap_mask = port->cap_mask;
	port->cap_mask |= modify->set_port_cap_mask;
	port->cap_mask &= ~modify->clr_port_cap_mask;
	if (port->cap_mask != cap_mask && !port->vport)
		ibfab_trap_cap_mask(port);
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		atomic_set(&port->qkey_violations, 0);
	if (mask & IB_PORT_SHUTDOWN)
		ibfab_link_disable(port);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	return 0;
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

static int create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;
	u32 port_num = rdma_ah_get_port_num(attr);

	if (!rdma_is_port_valid(ibah->device, port_num))
		return -EINVAL;
	if ((rdma_ah_get_ah_flags(attr) & IB_AH_GRH) &&
	    rdma_ah_read_grh(attr)->sgid_index >= IBFAB_GUID_TABLE_LEN)
		return -EINVAL;

	to_ah(ibah)->av.attr = *attr;
	to_ah(ibah)->av.attr.grh.sgid_attr = NULL;
	return 0;
}

static int query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_ah(ibah)->av.attr;
	return 0;
}

static int destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}

static struct ib_mr *get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->lkey = ibpd->device->local_dma_lkey;
	mr->rkey = ibpd->device->local_dma_lkey;
	return mr;
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	kfree(ibmr);
	return 0;
}

static int process_mad(struct ib_device *ibdev, int mad_flags, u32 port_num,
		       const struct ib_wc *in_wc, const struct ib_grh *in_grh,
		       const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_mad_size, u16 *out_mad_pkey_index)
{
	struct ibfab_port *port = &to_hca(ibdev)->node.ports[port_num];

	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return ibfab_sma_process(port, in_wc ? in_wc->slid : 0,
					 (const struct ib_smp *)in,
					 (struct ib_smp *)out);
	case IB_MGMT_CLASS_PERF_MGMT:
		return ibfab_pma_process(port, (const struct ib_pma_mad *)in,
					 (struct ib_pma_mad *)out);
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

static void get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, "virtual", IB_FW_VERSION_NAME_MAX);
}

/* Attributes that ibstat and other tools show */

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", KBUILD_MODNAME);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static struct attribute *hca_attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	NULL,
};

static const struct attribute_group hca_attribute_group = {
	.attrs = hca_attributes,
};

const struct ib_device_ops ibfab_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.device_group = &hca_attribute_group,

	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.query_pkey = query_pkey,
	.query_gid = query_gid,
	.modify_device = modify_device,
	.modify_port = modify_port,
	.get_dev_fw_str = get_dev_fw_str,
	.process_mad = process_mad,

	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.query_ah = query_ah,
	.destroy_ah = destroy_ah,
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = compat_reg_user_mr,
	.dereg_mr = dereg_mr,

	.create_cq = ibfab_create_cq,
	.destroy_cq = ibfab_destroy_cq,
	.modify_cq = ibfab_modify_cq,
	.poll_cq = ibfab_poll_cq,
	.req_notify_cq = ibfab_req_notify_cq,

	.create_srq = ibfab_create_srq,
	.modify_srq = ibfab_modify_srq,
	.query_srq = ibfab_query_srq,
	.destroy_srq = ibfab_destroy_srq,
	.post_srq_recv = ibfab_post_srq_recv,

	.create_qp = ibfab_create_qp,
	.modify_qp = ibfab_modify_qp,
	.query_qp = ibfab_query_qp,
	.destroy_qp = ibfab_destroy_qp,
	.post_send = ibfab_post_send,
	.post_recv = ibfab_post_recv,
	.attach_mcast = ibfab_attach_mcast,
	.detach_mcast = ibfab_detach_mcast,

	.set_vf_link_state = ibfab_set_vf_link_state,
	.get_vf_config = ibfab_get_vf_config,
	.get_vf_stats = ibfab_get_vf_stats,
	.get_vf_guid = ibfab_get_vf_guid,
	.set_vf_guid = ibfab_set_vf_guid,

	INIT_RDMA_OBJ_SIZE(ib_pd, ibfab_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ah, ibfab_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, ibfab_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_qp, ibfab_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, ibfab_srq, ibsrq),
};
