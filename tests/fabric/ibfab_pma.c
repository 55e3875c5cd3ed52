// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The performance management agent (16.1) has PortCounters and PortCountersExtended.
 */
#include "ibfab.h"

#define IBFAB_PMA_CLASS_VERSION	1
#define IBFAB_PMA_RESP_TIME	16	/* in units of 4.096 us * 2^n */
#define IBFAB_PMA_FURTHER_COUNTERS BIT(6) /* bit 1 of CapabilityMask2 */
#define IBFAB_PMA_CAP_QP1_DROPPED cpu_to_be16(BIT(15))
#define IBFAB_PMA_ALL_PORTS	0xff
#define IBFAB_PMA_SEL_RELAY	0x0020	/* 16.1.3.5: PortRcvSwitchRelayErrors */

/**
 * struct pma_field - A counter's field in an attribute
 * @counter: the counter
 * @select: its bit in CounterSelect, or 0
 * @select2: its bit in CounterSelect2, or 0
 * @offset: its offset in the attribute
 * @width: its width in bytes
 */
struct pma_field {
	enum ibfab_counter counter;
	__be16 select;
	u16 select2;
	u8 offset;
	u8 width;
};

#define CLASSIC(counter, select, member, width)					\
	{ IBFAB_CNT_##counter, select, 0, offsetof(struct ib_pma_portcounters, member), width }
#define CLASSIC_2(counter, bit, member, width)					\
	{ IBFAB_CNT_##counter, 0, BIT(bit), offsetof(struct ib_pma_portcounters, member), width }
#define EXTENDED(counter, select, member)					\
	{ IBFAB_CNT_##counter, IB_PMA_SELX_PORT_##select, 0,			\
	  offsetof(struct ib_pma_portcounters_ext, member), 8 }
#define EXTENDED_2(counter, bit, member)					\
	{ IBFAB_CNT_##counter, 0, BIT(bit), offsetof(struct ibfab_pma_ext, member), 8 }

static const struct pma_field classic[] = {
	CLASSIC(LINK_DOWNED, IB_PMA_SEL_LINK_DOWNED, link_downed_counter, 1),
	CLASSIC(RCV_ERRORS, IB_PMA_SEL_PORT_RCV_ERRORS, port_rcv_errors, 2),
	CLASSIC(RCV_RELAY_ERRORS, cpu_to_be16(IBFAB_PMA_SEL_RELAY),
		port_rcv_switch_relay_errors, 2),
	CLASSIC(XMIT_DISCARDS, IB_PMA_SEL_PORT_XMIT_DISCARDS, port_xmit_discards, 2),
	CLASSIC(VL15_DROPPED, IB_PMA_SEL_PORT_VL15_DROPPED, vl15_dropped, 2),
	CLASSIC(XMIT_DATA, IB_PMA_SEL_PORT_XMIT_DATA, port_xmit_data, 4),
	CLASSIC(RCV_DATA, IB_PMA_SEL_PORT_RCV_DATA, port_rcv_data, 4),
	CLASSIC(XMIT_PACKETS, IB_PMA_SEL_PORT_XMIT_PACKETS, port_xmit_packets, 4),
	CLASSIC(RCV_PACKETS, IB_PMA_SEL_PORT_RCV_PACKETS, port_rcv_packets, 4),
	CLASSIC_2(XMIT_WAIT, 0, port_xmit_wait, 4),
	CLASSIC_2(QP1_DROPPED, 1, reserved2, 2),
};

static const struct pma_field extended[] = {
	EXTENDED(XMIT_DATA, XMIT_DATA, port_xmit_data),
	EXTENDED(RCV_DATA, RCV_DATA, port_rcv_data),
	EXTENDED(XMIT_PACKETS, XMIT_PACKETS, port_xmit_packets),
	EXTENDED(RCV_PACKETS, RCV_PACKETS, port_rcv_packets),
	EXTENDED(UCAST_XMIT, UNI_XMIT_PACKETS, port_unicast_xmit_packets),
	EXTENDED(UCAST_RCV, UNI_RCV_PACKETS, port_unicast_rcv_packets),
	EXTENDED(MCAST_XMIT, MULTI_XMIT_PACKETS, port_multicast_xmit_packets),
	EXTENDED(MCAST_RCV, MULTI_RCV_PACKETS, port_multicast_rcv_packets),
	EXTENDED_2(LINK_DOWNED, 2, link_downed),
	EXTENDED_2(RCV_ERRORS, 3, rcv_errors),
	EXTENDED_2(RCV_RELAY_ERRORS, 5, rcv_switch_relay_errors),
	EXTENDED_2(XMIT_DISCARDS, 6, xmit_discards),
	EXTENDED_2(VL15_DROPPED, 11, vl15_dropped),
	EXTENDED_2(XMIT_WAIT, 12, xmit_wait),
	EXTENDED_2(QP1_DROPPED, 13, qp1_dropped),
};

/**
 * struct pma_attr - An attribute with counters
 * @id: AttributeID
 * @fields: its counters
 * @num_fields: number of counters
 * @base: offset in struct ibfab_port of the values that the counters had when last set
 * @select2_at: offset of CounterSelect2
 * @select2_width: width of CounterSelect2 in bytes
 */
struct pma_attr {
	__be16 id;
	const struct pma_field *fields;
	unsigned int num_fields;
	size_t base;
	u8 select2_at;
	u8 select2_width;
};

static const struct pma_attr attrs[] = {
	{ IB_PMA_PORT_COUNTERS, classic, ARRAY_SIZE(classic),
	  offsetof(struct ibfab_port, clear_base),
	  offsetof(struct ib_pma_portcounters, reserved1), 1 },
	{ IB_PMA_PORT_COUNTERS_EXT, extended, ARRAY_SIZE(extended),
	  offsetof(struct ibfab_port, clear_base_ext),
	  offsetof(struct ib_pma_portcounters_ext, reserved1), 4 },
};

/**
 * struct pma_ports - The ports that PortSelect names
 * @first: the first of them
 * @num: 1, or the number of external ports of a switch
 */
struct pma_ports {
	struct ibfab_port *first;
	unsigned int num;
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

/* 16.1.3.5: a counter stops at its maximum */
static void put_field(u8 *attr, const struct pma_field *field, u64 value)
{
	if (field->width < sizeof(u64))
		value = min(value, (1ULL << 8 * field->width) - 1);
	put_be(attr + field->offset, value, field->width);
}

/* Finds the ports that PortSelect names. Only the agent of a switch serves all ports of its node.
 * PortSelect is the second byte of both attributes, and CounterSelect the next two.
 */
static bool select_ports(const struct ibfab_node *node, u8 num,
			 struct pma_ports *ports)
{
	bool is_switch = node->type == IBFAB_NODE_SWITCH;

	ports->num = 1;
	ports->first = &node->ports[num];
	if (num == IBFAB_PMA_ALL_PORTS && is_switch) {
		ports->num = node->num_ports;
		ports->first = &node->ports[1];
		return true;
	}
	return num <= node->num_ports && (num || is_switch);
}

static u64 *base_of(struct ibfab_port *port, const struct pma_attr *attr,
		    const struct pma_field *field)
{
	u64 *bases = (u64 *)((char *)port + attr->base);

	return &bases[field->counter];
}

/* The value of a counter since it was last set, summed over all ports */
static u64 value_of(const struct pma_ports *ports, const struct pma_attr *attr,
		    const struct pma_field *field)
{
	struct ibfab_port *port = ports->first;
	u64 sum = 0;

	for (; port < ports->first + ports->num; port++)
		sum += atomic64_read(&port->counter[field->counter]) -
		       *base_of(port, attr, field);
	return sum;
}

static void read_counters(const struct pma_ports *ports,
			  const struct pma_attr *attr, u8 *data)
{
	u8 num = data[1];
	unsigned int i;

	memset(data, 0, sizeof_field(struct ib_pma_mad, data));
	data[1] = num;
	for (i = 0; i < attr->num_fields; i++)
		put_field(data, &attr->fields[i],
			  value_of(ports, attr, &attr->fields[i]));
}

/* Sets a counter of each port */
static void set_counter(const struct pma_ports *ports,
			const struct pma_attr *attr,
			const struct pma_field *field, u64 value)
{
	struct ibfab_port *port = ports->first;

	for (; port < ports->first + ports->num; port++)
		*base_of(port, attr, field) =
			atomic64_read(&port->counter[field->counter]) - value;
}

static void write_counters(const struct pma_ports *ports,
			   const struct pma_attr *attr, const u8 *data)
{
	u32 select2 = get_be(data + attr->select2_at, attr->select2_width);
	u16 select = get_be(data + 2, 2);
	const struct pma_field *field;
	unsigned int i;

	for (i = 0; i < attr->num_fields; i++) {
		field = &attr->fields[i];
		if ((select & be16_to_cpu(field->select)) ||
		    (select2 & field->select2))
			set_counter(ports, attr, field,
				    get_be(data + field->offset, field->width));
	}
}

static __be16 access_counters(const struct ibfab_port *port,
			      const struct pma_attr *attr,
			      struct ib_pma_mad *mad)
{
	struct pma_ports ports;

	if (!select_ports(port->node, mad->data[1], &ports))
		return IBFAB_MAD_INVALID;
	if (mad->mad_hdr.method == IB_MGMT_METHOD_SET)
		write_counters(&ports, attr, mad->data);
	read_counters(&ports, attr, mad->data);
	return 0;
}

static __be16 class_port_info(const struct ibfab_port *port,
			      struct ib_pma_mad *mad)
{
	struct ib_class_port_info *info = (void *)mad->data;

	if (mad->mad_hdr.attr_mod || mad->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IBFAB_MAD_INVALID;
	memset(mad->data, 0, sizeof(mad->data));
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = IBFAB_PMA_CLASS_VERSION;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH |
				IB_PMA_CLASS_CAP_XMIT_WAIT |
				IBFAB_PMA_CAP_QP1_DROPPED;
	if (port->node->type == IBFAB_NODE_SWITCH)
		info->capability_mask |= IB_PMA_CLASS_CAP_ALLPORTSELECT;
	info->cap_mask2_resp_time = cpu_to_be32(IBFAB_PMA_FURTHER_COUNTERS |
						IBFAB_PMA_RESP_TIME);
	return 0;
}

/* Called with mgmt_lock held */
static __be16 access_attr(const struct ibfab_port *port, struct ib_pma_mad *mad)
{
	unsigned int i;

	if (mad->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		return class_port_info(port, mad);
	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (mad->mad_hdr.attr_id == attrs[i].id)
			return access_counters(port, &attrs[i], mad);
	return IBFAB_MAD_UNSUPPORTED;
}

/**
 * ibfab_pma_process() - Process a MAD for a port's performance management agent.
 * @port: the port at which it came in
 * @in: the MAD
 * @out: filled in with the response, if there is one
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
