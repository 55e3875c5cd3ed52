// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The performance management agent (16.1): PortCounters and their extended
 * version, which show what crossed the ports.
 */
#include "ibfab.h"

#define IBFAB_PMA_CLASS_VERSION	1
#define IBFAB_PMA_RESP_TIME	16	/* 4.096 us * 2^n */
#define IBFAB_PMA_FURTHER_COUNTERS BIT(6) /* bit 1 of CapabilityMask2 */
#define IBFAB_PMA_SEL_RELAY	0x0020	/* 16.1.3.5: PortRcvSwitchRelayErrors */

#define STATUS_UNSUPPORTED \
	cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB)
#define STATUS_INVALID \
	cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE)

/**
 * struct pma_field - Where a counter lies in an attribute
 * @counter: the counter
 * @select: its bit of CounterSelect
 * @select2: its bit of CounterSelect2, which only the extended version has
 * @offset: in the attribute
 * @width: bytes
 */
struct pma_field {
	enum ibfab_counter counter;
	__be16 select;
	u16 select2;
	u8 offset;
	u8 width;
};

#define CLASSIC_AT(member) offsetof(struct ib_pma_portcounters, member)
#define EXTENDED_AT(member) offsetof(struct ib_pma_portcounters_ext, member)
#define FURTHER_AT(member) offsetof(struct ibfab_pma_ext, member)

static const struct pma_field classic[] = {
	{ IBFAB_CNT_LINK_DOWNED, IB_PMA_SEL_LINK_DOWNED, 0,
	  CLASSIC_AT(link_downed_counter), 1 },
	{ IBFAB_CNT_RCV_ERRORS, IB_PMA_SEL_PORT_RCV_ERRORS, 0,
	  CLASSIC_AT(port_rcv_errors), 2 },
	{ IBFAB_CNT_RCV_RELAY_ERRORS, cpu_to_be16(IBFAB_PMA_SEL_RELAY), 0,
	  CLASSIC_AT(port_rcv_switch_relay_errors), 2 },
	{ IBFAB_CNT_XMIT_DISCARDS, IB_PMA_SEL_PORT_XMIT_DISCARDS, 0,
	  CLASSIC_AT(port_xmit_discards), 2 },
	{ IBFAB_CNT_VL15_DROPPED, IB_PMA_SEL_PORT_VL15_DROPPED, 0,
	  CLASSIC_AT(vl15_dropped), 2 },
	{ IBFAB_CNT_XMIT_DATA, IB_PMA_SEL_PORT_XMIT_DATA, 0,
	  CLASSIC_AT(port_xmit_data), 4 },
	{ IBFAB_CNT_RCV_DATA, IB_PMA_SEL_PORT_RCV_DATA, 0,
	  CLASSIC_AT(port_rcv_data), 4 },
	{ IBFAB_CNT_XMIT_PACKETS, IB_PMA_SEL_PORT_XMIT_PACKETS, 0,
	  CLASSIC_AT(port_xmit_packets), 4 },
	{ IBFAB_CNT_RCV_PACKETS, IB_PMA_SEL_PORT_RCV_PACKETS, 0,
	  CLASSIC_AT(port_rcv_packets), 4 },
};

static const struct pma_field extended[] = {
	{ IBFAB_CNT_XMIT_DATA, IB_PMA_SELX_PORT_XMIT_DATA, 0,
	  EXTENDED_AT(port_xmit_data), 8 },
	{ IBFAB_CNT_RCV_DATA, IB_PMA_SELX_PORT_RCV_DATA, 0,
	  EXTENDED_AT(port_rcv_data), 8 },
	{ IBFAB_CNT_XMIT_PACKETS, IB_PMA_SELX_PORT_XMIT_PACKETS, 0,
	  EXTENDED_AT(port_xmit_packets), 8 },
	{ IBFAB_CNT_RCV_PACKETS, IB_PMA_SELX_PORT_RCV_PACKETS, 0,
	  EXTENDED_AT(port_rcv_packets), 8 },
	{ IBFAB_CNT_UCAST_XMIT, IB_PMA_SELX_PORT_UNI_XMIT_PACKETS, 0,
	  EXTENDED_AT(port_unicast_xmit_packets), 8 },
	{ IBFAB_CNT_UCAST_RCV, IB_PMA_SELX_PORT_UNI_RCV_PACKETS, 0,
	  EXTENDED_AT(port_unicast_rcv_packets), 8 },
	{ IBFAB_CNT_MCAST_XMIT, IB_PMA_SELX_PORT_MULTI_XMIT_PACKETS, 0,
	  EXTENDED_AT(port_multicast_xmit_packets), 8 },
	{ IBFAB_CNT_MCAST_RCV, IB_PMA_SELX_PORT_MULTI_RCV_PACKETS, 0,
	  EXTENDED_AT(port_multicast_rcv_packets), 8 },
	{ IBFAB_CNT_LINK_DOWNED, 0, BIT(2), FURTHER_AT(link_downed), 8 },
	{ IBFAB_CNT_RCV_ERRORS, 0, BIT(3), FURTHER_AT(rcv_errors), 8 },
	{ IBFAB_CNT_RCV_RELAY_ERRORS, 0, BIT(5),
	  FURTHER_AT(rcv_switch_relay_errors), 8 },
	{ IBFAB_CNT_XMIT_DISCARDS, 0, BIT(6), FURTHER_AT(xmit_discards), 8 },
	{ IBFAB_CNT_VL15_DROPPED, 0, BIT(11), FURTHER_AT(vl15_dropped), 8 },
	{ IBFAB_CNT_QP1_DROPPED, 0, BIT(13), FURTHER_AT(qp1_dropped), 8 },
};

static void put_be(u8 *at, u64 value, u8 width)
{
	while (width--) {
		at[width] = value & 0xff;
		value >>= 8;
	}
}

static u64 get_be(const u8 *at, u8 width)
{
	u64 value = 0;

	while (width--)
		value = value << 8 | *at++;
	return value;
}

/* 16.1.3.5: a counter stops at its largest value */
static void put_field(u8 *attr, const struct pma_field *field, u64 value)
{
	if (field->width < sizeof(u64))
		value = min(value, (1ULL << 8 * field->width) - 1);
	put_be(attr + field->offset, value, field->width);
}

/* Both attributes have PortSelect in their second byte and CounterSelect in the
 * next two
 */
static struct ibfab_port *selected_port(struct ibfab_port *port,
					const u8 *attr)
{
	struct ibfab_node *node = port->node;
	u8 num = attr[1];

	if (num > node->num_ports || (!num && node->type == IBFAB_NODE_CA))
		return NULL;
	return &node->ports[num];
}

static __be16 read_counters(struct ibfab_port *port, u8 *attr,
			    const struct pma_field *fields, unsigned int n,
			    const u64 *base)
{
	u8 num = attr[1];
	unsigned int i;
	u64 now;

	memset(attr, 0, sizeof_field(struct ib_pma_mad, data));
	attr[1] = num;
	for (i = 0; i < n; i++) {
		now = atomic64_read(&port->counter[fields[i].counter]);
		put_field(attr, &fields[i], now - base[fields[i].counter]);
	}
	return 0;
}

static void write_counters(struct ibfab_port *port, const u8 *attr,
			   const struct pma_field *fields, unsigned int n,
			   u64 *base)
{
	u16 select = get_be(attr + 2, 2);
	u32 select2 = get_be(attr + 4, 4);
	unsigned int i;
	u64 now;

	for (i = 0; i < n; i++) {
		if (!(select & be16_to_cpu(fields[i].select)) &&
		    !(select2 & fields[i].select2))
			continue;
		now = atomic64_read(&port->counter[fields[i].counter]);
		base[fields[i].counter] = now - get_be(attr + fields[i].offset,
						       fields[i].width);
	}
}

static __be16 access_counters(struct ibfab_port *port, struct ib_pma_mad *mad,
			      const struct pma_field *fields, unsigned int n,
			      u64 *base)
{
	if (mad->mad_hdr.method == IB_MGMT_METHOD_SET)
		write_counters(port, mad->data, fields, n, base);
	return read_counters(port, mad->data, fields, n, base);
}

static __be16 class_port_info(struct ib_pma_mad *mad)
{
	struct ib_class_port_info *info = (void *)mad->data;

	if (mad->mad_hdr.attr_mod || mad->mad_hdr.method != IB_MGMT_METHOD_GET)
		return STATUS_INVALID;
	memset(mad->data, 0, sizeof(mad->data));
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = IBFAB_PMA_CLASS_VERSION;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	info->cap_mask2_resp_time = cpu_to_be32(IBFAB_PMA_FURTHER_COUNTERS |
						IBFAB_PMA_RESP_TIME);
	return 0;
}

/* mgmt_lock held */
static __be16 access_attr(struct ibfab_port *port, struct ib_pma_mad *mad)
{
	if (mad->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		return class_port_info(mad);

	port = selected_port(port, mad->data);
	if (mad->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		return port ? access_counters(port, mad, classic,
					      ARRAY_SIZE(classic),
					      port->clear_base) :
			      STATUS_INVALID;
	if (mad->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT)
		return port ? access_counters(port, mad, extended,
					      ARRAY_SIZE(extended),
					      port->clear_base_ext) :
			      STATUS_INVALID;
	return STATUS_UNSUPPORTED;
}

/**
 * ibfab_pma_process() - Have a port's performance agent answer a MAD.
 * @port: where it came in
 * @in: the MAD
 * @out: the answer, if there is one
 *
 * Context: any.
 * Return: IB_MAD_RESULT_SUCCESS, with IB_MAD_RESULT_REPLY if @out is to be sent.
 */
int ibfab_pma_process(struct ibfab_port *port, const struct ib_pma_mad *in,
		      struct ib_pma_mad *out)
{
	unsigned long flags;
	__be16 status;

	if (in->mad_hdr.method != IB_MGMT_METHOD_GET &&
	    in->mad_hdr.method != IB_MGMT_METHOD_SET)
		return IB_MAD_RESULT_SUCCESS;

	*out = *in;
	if (in->mad_hdr.class_version != IBFAB_PMA_CLASS_VERSION) {
		status = cpu_to_be16(IB_MGMT_MAD_STATUS_BAD_VERSION);
	} else {
		spin_lock_irqsave(&ibfab.mgmt_lock, flags);
		status = access_attr(port, out);
		spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	}
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = status;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
