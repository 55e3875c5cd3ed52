// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The subnet management agent (SMA) of HCAs and switches: its attributes (14.2.5) except for
 * PortInfo.
 */
#include "ibfab.h"

#define IBFAB_SMA_CLASS_VERSION 1

/**
 * struct sma_attr - An attribute
 * @id: AttributeID
 * @node_type: the kind of node that has it, 0 for both kinds
 * @get: writes the attribute into the SMP's data; NULL for a block of a table
 * @set: sets the attribute from the SMP's data; NULL if it cannot be set, or is a plain
 *	block
 * @block: for an attribute that is a block of a table: finds the block that the
 *	AttributeModifier names, or NULL if there is no such block
 * @size: size of a block in bytes
 *
 * The functions get the port at which the SMP came in. @get and @set return a MAD status.
 */
struct sma_attr {
	__be16 id;
	enum ibfab_node_type node_type;
	__be16 (*get)(struct ibfab_port *port, struct ib_smp *smp);
	__be16 (*set)(struct ibfab_port *port, struct ib_smp *smp);
	void *(*block)(struct ibfab_port *port, const struct ib_smp *smp);
	size_t size;
};

static u32 attr_mod(const struct ib_smp *smp)
{
	return be32_to_cpu(smp->attr_mod);
}

static bool is_switch(const struct ibfab_port *port)
{
	return port->node->type == IBFAB_NODE_SWITCH;
}

static __be16 node_desc_get(struct ibfab_port *port, struct ib_smp *smp)
{
	memcpy(smp->data, port->node->desc, sizeof(smp->data));
	return 0;
}

static __be16 node_info_get(struct ibfab_port *port, struct ib_smp *smp)
{
	struct ib_node_info *info = (struct ib_node_info *)smp->data;
	struct ibfab_node *node = port->node;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = IBFAB_SMA_CLASS_VERSION;
	info->node_type = node->type;
	info->num_ports = node->num_ports;
	info->sys_guid = node->guid;
	info->node_guid = node->guid;
	info->port_guid = is_switch(port) ? node->guid : port->guid[0];
	info->partition_cap = cpu_to_be16(ibfab_pkeys);
	info->device_id = cpu_to_be16(node->type);
	info->local_port_num = port->num;
	put_unaligned_be24(IBFAB_OUI, info->vendor_id);
	return 0;
}

static __be16 switch_info_get(struct ibfab_port *port, struct ib_smp *smp)
{
	struct ibfab_switch_info *info = &node_to_switch(port->node)->info;

	if (attr_mod(smp))
		return IBFAB_MAD_INVALID;
	memcpy(smp->data, info, sizeof(*info));
	return 0;
}

static __be16 switch_info_set(struct ibfab_port *port, struct ib_smp *smp)
{
	const struct ibfab_switch_info *new = (const void *)smp->data;
	struct ibfab_switch *sw = node_to_switch(port->node);
	struct ibfab_switch_info *info = &sw->info;
	u16 top = be16_to_cpu(new->linear_top);

	if (attr_mod(smp) || top >= IBFAB_LFT_CAP)
		return IBFAB_MAD_INVALID;
	info->linear_top = new->linear_top;
	WRITE_ONCE(sw->linear_top, top);
	info->default_port = new->default_port;
	info->default_mcast_primary = new->default_mcast_primary;
	info->default_mcast_not_primary = new->default_mcast_not_primary;
	info->mcast_top = new->mcast_top;
	info->life_psc &= ~IBFAB_SI_LIFETIME_MASK;
	info->life_psc |= new->life_psc & IBFAB_SI_LIFETIME_MASK;
	/* A Set with PortStateChange clears it */
	info->life_psc &= ~(new->life_psc & IBFAB_SI_PORT_STATE_CHANGE);
	return 0;
}

/* Only port 0 of a switch has GUIDs and P_Keys, as the other ports do not enforce partitions */
static struct ibfab_port *table_port(struct ibfab_port *port)
{
	return is_switch(port) ? &port->node->ports[0] : port;
}

static void *guid_block(struct ibfab_port *port, const struct ib_smp *smp)
{
	u32 block = attr_mod(smp);

	if (block >= IBFAB_GUID_TABLE_LEN / IBFAB_SMP_GUID_BLOCK)
		return NULL;
	return &table_port(port)->guid[block * IBFAB_SMP_GUID_BLOCK];
}

/* The first entry of the table is the port's own GUID and cannot be changed */
static __be16 guid_info_set(struct ibfab_port *port, struct ib_smp *smp)
{
	const __be64 *new = (const __be64 *)smp->data;
	__be64 *guid = guid_block(port, smp);
	bool changed = false;
	unsigned int i;

	if (!guid)
		return IBFAB_MAD_INVALID;
	port = table_port(port);
	for (i = guid == port->guid ? 1 : 0; i < IBFAB_SMP_GUID_BLOCK; i++) {
		changed |= guid[i] != new[i];
		WRITE_ONCE(guid[i], new[i]);
	}
	if (changed)
		ibfab_port_event(port, IB_EVENT_GID_CHANGE);
	return 0;
}

/* 14.2.5.7: the low half of the modifier is the block, the high half a switch's port */
static u16 *pkey_block(struct ibfab_port *port, const struct ib_smp *smp)
{
	u32 block = attr_mod(smp) & 0xffff, num = attr_mod(smp) >> 16;

	if (block >= ibfab_pkeys / IBFAB_SMP_PKEY_BLOCK || (is_switch(port) && num))
		return NULL;
	return &table_port(port)->pkey[block * IBFAB_SMP_PKEY_BLOCK];
}

static __be16 pkey_table_get(struct ibfab_port *port, struct ib_smp *smp)
{
	const u16 *block = pkey_block(port, smp);
	__be16 *table = (__be16 *)smp->data;
	unsigned int i;

	if (!block)
		return IBFAB_MAD_INVALID;
	for (i = 0; i < IBFAB_SMP_PKEY_BLOCK; i++)
		table[i] = cpu_to_be16(block[i]);
	return 0;
}

static __be16 pkey_table_set(struct ibfab_port *port, struct ib_smp *smp)
{
	const __be16 *table = (const __be16 *)smp->data;
	u16 *block = pkey_block(port, smp);
	bool changed = false;
	unsigned int i;
	u16 pkey;

	if (!block)
		return IBFAB_MAD_INVALID;
	for (i = 0; i < IBFAB_SMP_PKEY_BLOCK; i++) {
		pkey = be16_to_cpu(table[i]);
		changed |= block[i] != pkey;
		WRITE_ONCE(block[i], pkey);
	}
	if (changed)
		ibfab_port_event(table_port(port), IB_EVENT_PKEY_CHANGE);
	return 0;
}

/* 14.2.5.8: the modifier of a switch has the input port in bits 15..8 and the output port in 7..0
 */
static void *sl2vl_table(struct ibfab_port *port, const struct ib_smp *smp)
{
	u8 in = attr_mod(smp) >> 8 & 0xff, out = attr_mod(smp) & 0xff;
	struct ibfab_node *node = port->node;

	if (!is_switch(port))
		return port->sl2vl[0];
	if (in > node->num_ports || out > node->num_ports)
		return NULL;
	return node->ports[out].sl2vl[in];
}

/* 14.2.5.9: the high half of the modifier is the block, from 1 to 4, the low half the output port
 */
static void *vl_arb_block(struct ibfab_port *port, const struct ib_smp *smp)
{
	u32 block = attr_mod(smp) >> 16, num = attr_mod(smp) & 0xff;

	if (block < 1 || block > IBFAB_SMP_VLARB_BLOCKS)
		return NULL;
	if (!is_switch(port))
		return port->vl_arb[block - 1];
	if (num > port->node->num_ports)
		return NULL;
	return port->node->ports[num].vl_arb[block - 1];
}

static void *lft_block(struct ibfab_port *port, const struct ib_smp *smp)
{
	if (attr_mod(smp) >= IBFAB_LFT_CAP / IBFAB_SMP_LFT_BLOCK)
		return NULL;
	return node_to_switch(port->node)->lft +
	       attr_mod(smp) * IBFAB_SMP_LFT_BLOCK;
}

/* 14.2.5.12: bits 31..28 of the modifier name a group of 16 ports, bits 8..0 a block of MLIDs.
 * Returns the entry of the block's first MLID for these ports, or NULL.
 */
static u16 *mft_column(struct ibfab_port *port, const struct ib_smp *smp)
{
	u32 position = attr_mod(smp) >> 28, block = attr_mod(smp) & 0x1ff;

	if (position > port->node->num_ports / 16 ||
	    block >= IBFAB_MFT_CAP / IBFAB_SMP_MFT_BLOCK)
		return NULL;
	return &node_to_switch(port->node)->mft[block * IBFAB_SMP_MFT_BLOCK]
					       [position];
}

static __be16 mft_get(struct ibfab_port *port, struct ib_smp *smp)
{
	const u16 *entry = mft_column(port, smp);
	__be16 *mask = (__be16 *)smp->data;
	unsigned int i;

	if (!entry)
		return IBFAB_MAD_INVALID;
	for (i = 0; i < IBFAB_SMP_MFT_BLOCK; i++)
		mask[i] = cpu_to_be16(entry[i * IBFAB_MFT_POSITIONS]);
	return 0;
}

static __be16 mft_set(struct ibfab_port *port, struct ib_smp *smp)
{
	const __be16 *mask = (const __be16 *)smp->data;
	u16 *entry = mft_column(port, smp);
	unsigned int i;

	if (!entry)
		return IBFAB_MAD_INVALID;
	for (i = 0; i < IBFAB_SMP_MFT_BLOCK; i++)
		WRITE_ONCE(entry[i * IBFAB_MFT_POSITIONS],
			   be16_to_cpu(mask[i]));
	return 0;
}

static const struct sma_attr attrs[] = {
	{ IB_SMP_ATTR_NODE_DESC, 0, node_desc_get, NULL },
	{ IB_SMP_ATTR_NODE_INFO, 0, node_info_get, NULL },
	{ IB_SMP_ATTR_SWITCH_INFO, IBFAB_NODE_SWITCH,
	  switch_info_get, switch_info_set },
	{ IB_SMP_ATTR_GUID_INFO, 0, NULL, guid_info_set,
	  guid_block, IBFAB_SMP_GUID_BLOCK * sizeof(__be64) },
	{ IB_SMP_ATTR_PORT_INFO, 0, ibfab_portinfo_get, ibfab_portinfo_set },
	{ IB_SMP_ATTR_PKEY_TABLE, 0, pkey_table_get, pkey_table_set },
	{ IB_SMP_ATTR_SL_TO_VL_TABLE, 0, NULL, NULL, sl2vl_table, IBFAB_SMP_SL2VL_BYTES },
	{ IB_SMP_ATTR_VL_ARB_TABLE, 0, NULL, NULL, vl_arb_block, IB_SMP_DATA_SIZE },
	{ IB_SMP_ATTR_LINEAR_FORWARD_TABLE, IBFAB_NODE_SWITCH, NULL, NULL,
	  lft_block, IBFAB_SMP_LFT_BLOCK },
	{ IB_SMP_ATTR_MCAST_FORWARD_TABLE, IBFAB_NODE_SWITCH,
	  mft_get, mft_set },
};

static const struct sma_attr *find_attr(const struct ibfab_port *port,
					__be16 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (attrs[i].id == id && (!attrs[i].node_type ||
					  attrs[i].node_type == port->node->type))
			return &attrs[i];
	return NULL;
}

static __be16 get_attr(const struct sma_attr *attr, struct ibfab_port *port, struct ib_smp *smp)
{
	const void *block;

	memset(smp->data, 0, sizeof(smp->data));
	if (attr->get)
		return attr->get(port, smp);
	block = attr->block(port, smp);
	if (!block)
		return IBFAB_MAD_INVALID;
	memcpy(smp->data, block, attr->size);
	return 0;
}

static __be16 set_attr(const struct sma_attr *attr, struct ibfab_port *port, struct ib_smp *smp)
{
	unsigned int i;
	u8 *block;

	if (attr->set)
		return attr->set(port, smp);
	if (!attr->block)
		return IBFAB_MAD_UNSUPPORTED;
	block = attr->block(port, smp);
	if (!block)
		return IBFAB_MAD_INVALID;
	for (i = 0; i < attr->size; i++)
		WRITE_ONCE(block[i], smp->data[i]);
	return 0;
}

/* Called with mgmt_lock held. The response to a Set has the new value of the attribute. */
static __be16 access_attr(struct ibfab_port *port, struct ib_smp *smp)
{
	const struct sma_attr *attr = find_attr(port, smp->attr_id);
	__be16 status = 0;

	if (!attr)
		return IBFAB_MAD_UNSUPPORTED;
	if (smp->method == IB_MGMT_METHOD_SET)
		status = set_attr(attr, port, smp);
	return status ?: get_attr(attr, port, smp);
}

/* Whether an SMP is for the SMA, and not for the SM or another manager */
static bool is_request(const struct ibfab_port *port, const struct ib_smp *smp)
{
	switch (smp->method) {
	case IB_MGMT_METHOD_GET:
	case IB_MGMT_METHOD_SET:
		return smp->attr_id != IB_SMP_ATTR_SM_INFO || is_switch(port);
	case IB_MGMT_METHOD_TRAP_REPRESS:
		return true;
	default:
		return false;
	}
}

/* Called with mgmt_lock held. Returns whether there is a response. */
static bool handle(struct ibfab_port *port, u16 slid, const struct ib_smp *in,
		   struct ib_smp *out)
{
	if (!ibfab_mkey_check(port, slid, in)) {
		atomic64_inc(&port->drop[IBFAB_DROP_SMP_MKEY]);
		return false;
	}
	if (in->method == IB_MGMT_METHOD_TRAP_REPRESS) {
		ibfab_trap_repress(port, in);
		return false;
	}

	*out = *in;
	if (in->class_version == IBFAB_SMA_CLASS_VERSION)
		out->status = access_attr(port, out);
	else
		out->status = cpu_to_be16(IB_MGMT_MAD_STATUS_BAD_VERSION);
	out->method = IB_MGMT_METHOD_GET_RESP;
	if (in->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->status |= IB_SMP_DIRECTION;
	return true;
}

/**
 * ibfab_sma_process() - Process an SMP for a port's SMA.
 * @port: the port at which it came in
 * @slid: SLID of its packet
 * @in: the SMP
 * @out: filled in with the response, if there is one
 *
 * SMInfo and SMPs that are not requests are left to the SM and other managers.
 *
 * Context: any.
 * Return: IB_MAD_RESULT_SUCCESS, with IB_MAD_RESULT_REPLY if @out is to be sent, or with
 * IB_MAD_RESULT_CONSUMED if there is nothing more to do.
 */
int ibfab_sma_process(struct ibfab_port *port, u16 slid,
		      const struct ib_smp *in, struct ib_smp *out)
{
	unsigned long flags;
	bool reply;

	if (!is_request(port, in))
		return IB_MAD_RESULT_SUCCESS;
	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	reply = handle(port, slid, in, out);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	return IB_MAD_RESULT_SUCCESS |
	       (reply ? IB_MAD_RESULT_REPLY : IB_MAD_RESULT_CONSUMED);
}
