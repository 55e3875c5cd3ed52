// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * PortInfo (14.2.5.6), the attribute with which an SM brings up a port.
 *
 * The fields that the data path reads are in &struct ibfab_port itself. The others are stored in
 * the format of the attribute.
 */
#include "ibfab.h"

#define WIDTHS		0x03	/* 1x and 4x */
#define WIDTH_4X	0x02
#define SPEEDS		0x07	/* SDR, DDR, QDR */
#define SPEED_QDR	0x04
#define SPEEDS_EXT	0x03	/* FDR, EDR */
#define SPEED_EXT_EDR	0x02
#define SPEED_EXT_OFF	0x1e
#define VL_ARB_CAP	64
#define SUBNET_TIMEOUT	18	/* in units of 4.096 us * 2^n */
#define RESP_TIME	16	/* in the same units */
#define LMC_MAX		7
#define CLIENT_REREGISTER 0x80
#define LINK_DOWN_POLLING 2	/* LinkDownDefaultState */

#define MOD_EXT_SPEEDS	BIT(31)

#define CAP_SYS_GUID	BIT(11)
#define CAP_EXT_SPEEDS	BIT(14)

static u8 hi(u8 byte)
{
	return byte >> 4;
}

static u8 lo(u8 byte)
{
	return byte & 0x0f;
}

static u8 pair(u8 high, u8 low)
{
	return high << 4 | low;
}

static bool is_port0(const struct ibfab_port *port)
{
	return !port->num;
}

/**
 * ibfab_port_is_endport() - Whether a port is an endport, which has a LID.
 * @port: the port, whose node and number are set
 *
 * Return: true for an HCA's ports and port 0 of a switch.
 */
bool ibfab_port_is_endport(const struct ibfab_port *port)
{
	return port->node->type == IBFAB_NODE_CA || is_port0(port);
}

/**
 * ibfab_portinfo_init() - Set the values that a port's PortInfo has before an SM sets it.
 * @port: the port, which is otherwise initialized
 *
 * Context: any.
 */
void ibfab_portinfo_init(struct ibfab_port *port)
{
	struct ib_port_info *info = &port->info.base;

	info->link_width_enabled = WIDTHS;
	info->link_width_supported = WIDTHS;
	info->link_width_active = WIDTH_4X;
	info->linkspeed_portstate = pair(SPEEDS, 0);
	info->portphysstate_linkdown = pair(0, LINK_DOWN_POLLING);
	info->linkspeedactive_enabled = pair(SPEED_QDR, SPEEDS);
	info->vlcap_inittype = pair(IBFAB_VLCAP, 0);
	info->vl_arb_high_cap = VL_ARB_CAP;
	info->vl_arb_low_cap = VL_ARB_CAP;
	info->operationalvl_pei_peo_fpi_fpo = pair(IBFAB_VLCAP, 0);
	port->info.speed_ext.active_supported = pair(SPEED_EXT_EDR, SPEEDS_EXT);
	port->info.speed_ext.enabled = SPEEDS_EXT;
	port->cap_mask = CAP_EXT_SPEEDS;
	if (!ibfab_port_is_endport(port))
		return;

	port->cap_mask |= CAP_SYS_GUID | IB_PORT_TRAP_SUP | IB_PORT_SL_MAP_SUP;
	info->guid_cap = IBFAB_GUID_TABLE_LEN;
	info->clientrereg_resv_subnetto = SUBNET_TIMEOUT;
	info->resv_resptimevalue = RESP_TIME;
	if (port->node->type == IBFAB_NODE_CA)
		port->cap_mask |= IB_PORT_CM_SUP | IB_PORT_CLIENT_REG_SUP |
				  IB_PORT_CAP_MASK_NOTICE_SUP |
				  IB_PORT_OTHER_LOCAL_CHANGES_SUP;
}

/* The low byte of the modifier is the port number. Bit 31 tells that the SM supports extended
 * speeds.
 */
static struct ibfab_port *select_port(struct ibfab_port *port,
				      const struct ib_smp *smp)
{
	u32 num = be32_to_cpu(smp->attr_mod) & ~MOD_EXT_SPEEDS;
	struct ibfab_node *node = port->node;

	if (num > node->num_ports)
		return NULL;
	if (node->type == IBFAB_NODE_SWITCH)
		return &node->ports[num];
	return num ? &node->ports[num] : port;
}

static __be16 clamp_be16(const atomic_t *counter)
{
	return cpu_to_be16(min(atomic_read(counter), U16_MAX));
}

static void get_endport(const struct ibfab_port *port, struct ib_port_info *pi)
{
	pi->gid_prefix = cpu_to_be64(port->gid_prefix);
	pi->lid = cpu_to_be16(port->lid);
	pi->sm_lid = cpu_to_be16(port->sm_lid);
	pi->mkeyprot_resv_lmc |= port->lmc;
	pi->pkey_violations = clamp_be16(&port->pkey_violations);
	pi->qkey_violations = clamp_be16(&port->qkey_violations);
}

/**
 * ibfab_portinfo_get() - Process Get(PortInfo).
 * @port: the port at which the SMP came in; the AttributeModifier names the port to read
 * @smp: the SMP, whose data is filled in
 *
 * Context: mgmt_lock held.
 * Return: MAD status.
 */
__be16 ibfab_portinfo_get(struct ibfab_port *port, struct ib_smp *smp)
{
	union ibfab_port_info *out = (union ibfab_port_info *)smp->data;
	struct ib_port_info *pi = &out->base;
	u8 arrived = port->num;

	port = select_port(port, smp);
	if (!port)
		return IBFAB_MAD_INVALID;

	*out = port->info;
	pi->local_port_num = arrived;
	pi->cap_mask = cpu_to_be32(port->cap_mask);
	pi->linkspeed_portstate |= port->state;
	pi->portphysstate_linkdown |= port->phys_state << 4;
	pi->neighbormtu_mastersmsl |= port->mtu << 4;
	pi->inittypereply_mtucap |= port->mtu_cap;
	if (ibfab_port_is_endport(port))
		get_endport(port, pi);
	if (!ibfab_mkey_shown(port, smp))
		pi->mkey = 0;
	return 0;
}

/* 7.2.7: an SM takes a port up one state at a time, and down from any state */
static bool state_valid(const struct ibfab_port *port, u8 state)
{
	switch (state) {
	case IB_PORT_NOP:
		return true;
	case IB_PORT_DOWN:
		return !is_port0(port);
	case IB_PORT_ARMED:
		return port->state >= IB_PORT_INIT;
	case IB_PORT_ACTIVE:
		return port->state >= IB_PORT_ARMED;
	default:
		return false;
	}
}

static bool phys_valid(u8 phys)
{
	return phys <= IB_PORT_PHYS_STATE_DISABLED;
}

static bool lids_valid(const struct ib_port_info *new)
{
	return ibfab_lid_is_ucast(be16_to_cpu(new->lid)) &&
	       ibfab_lid_is_ucast(be16_to_cpu(new->sm_lid)) &&
	       (new->mkeyprot_resv_lmc & 0x07) <= LMC_MAX;
}

static bool subset_valid(u8 value, u8 supported, u8 all)
{
	return value == all || !(value & ~supported);
}

static bool ext_valid(u8 value)
{
	return value == SPEED_EXT_OFF || subset_valid(value, SPEEDS_EXT, 0x1f);
}

static bool set_valid(const struct ibfab_port *port,
		      const union ibfab_port_info *in)
{
	const struct ib_port_info *new = &in->base;

	return (!ibfab_port_is_endport(port) || lids_valid(new)) &&
	       state_valid(port, lo(new->linkspeed_portstate)) &&
	       phys_valid(hi(new->portphysstate_linkdown)) &&
	       hi(new->neighbormtu_mastersmsl) <= port->mtu_cap &&
	       hi(new->operationalvl_pei_peo_fpi_fpo) <= IBFAB_VLCAP &&
	       subset_valid(new->link_width_enabled, WIDTHS, 0xff) &&
	       subset_valid(lo(new->linkspeedactive_enabled), SPEEDS, 0x0f) &&
	       ext_valid(in->speed_ext.enabled & 0x1f);
}

/* Zero leaves the field unchanged, all ones enables all that is supported */
static void set_subset(u8 *field, u8 value, u8 supported, u8 all)
{
	if (value)
		*field = value == all ? supported : value;
}

static void set_link(struct ibfab_port *port, const union ibfab_port_info *in)
{
	const struct ib_port_info *new = &in->base;
	struct ib_port_info *pi = &port->info.base;
	u8 speed = lo(pi->linkspeedactive_enabled);
	u8 mtu = hi(new->neighbormtu_mastersmsl);
	u8 vls = hi(new->operationalvl_pei_peo_fpi_fpo);

	set_subset(&pi->link_width_enabled, new->link_width_enabled, WIDTHS,
		   0xff);
	set_subset(&speed, lo(new->linkspeedactive_enabled), SPEEDS, 0x0f);
	pi->linkspeedactive_enabled = pair(SPEED_QDR, speed);
	set_subset(&port->info.speed_ext.enabled, in->speed_ext.enabled & 0x1f,
		   SPEEDS_EXT, 0x1f);
	if (lo(new->portphysstate_linkdown))
		pi->portphysstate_linkdown = lo(new->portphysstate_linkdown);
	if (mtu)
		WRITE_ONCE(port->mtu, mtu);
	if (vls)
		pi->operationalvl_pei_peo_fpi_fpo = pair(vls, 0);
	pi->vl_high_limit = new->vl_high_limit;
	pi->vlstallcnt_hoqlife = new->vlstallcnt_hoqlife;
	pi->localphyerrors_overrunerrors = new->localphyerrors_overrunerrors;
}

static void set_sm(struct ibfab_port *port, const struct ib_port_info *new)
{
	struct ib_port_info *pi = &port->info.base;
	u16 sm_lid = be16_to_cpu(new->sm_lid);
	u8 sm_sl = lo(new->neighbormtu_mastersmsl);

	if (port->sm_lid != sm_lid || pi->neighbormtu_mastersmsl != sm_sl)
		ibfab_port_event(port, IB_EVENT_SM_CHANGE);
	port->sm_lid = sm_lid;
	pi->neighbormtu_mastersmsl = sm_sl;
	pi->mkey = new->mkey;
	pi->mkey_lease_period = new->mkey_lease_period;
	pi->mkeyprot_resv_lmc = new->mkeyprot_resv_lmc & 0xc0;
	pi->clientrereg_resv_subnetto = new->clientrereg_resv_subnetto & 0x1f;
}

static void set_address(struct ibfab_port *port, const struct ib_port_info *new)
{
	u64 prefix = be64_to_cpu(new->gid_prefix);
	u8 lmc = new->mkeyprot_resv_lmc & 0x07;
	u16 lid = be16_to_cpu(new->lid);

	if (is_port0(port))
		lmc = 0;	/* a base switch port 0 has one LID */
	if (port->lid != lid || port->lmc != lmc)
		ibfab_port_event(port, IB_EVENT_LID_CHANGE);
	if (port->gid_prefix != prefix)
		ibfab_port_event(port, IB_EVENT_GID_CHANGE);
	WRITE_ONCE(port->lid, lid);
	WRITE_ONCE(port->lmc, lmc);
	WRITE_ONCE(port->gid_prefix, prefix);
}

/* Violation counters can only be set to zero */
static void set_endport(struct ibfab_port *port, const struct ib_port_info *new)
{
	set_address(port, new);
	set_sm(port, new);
	if (!new->mkey_violations)
		port->info.base.mkey_violations = 0;
	if (!new->pkey_violations)
		atomic_set(&port->pkey_violations, 0);
	if (!new->qkey_violations)
		atomic_set(&port->qkey_violations, 0);
	if (new->clientrereg_resv_subnetto & CLIENT_REREGISTER)
		ibfab_port_event(port, IB_EVENT_CLIENT_REREGISTER);
}

/* PortPhysicalState has an effect only if it takes the link down, or if it takes a disabled port
 * back to polling
 */
static void set_states(struct ibfab_port *port, u8 state, u8 phys)
{
	bool disabled = port->phys_state == IB_PORT_PHYS_STATE_DISABLED;

	if (is_port0(port))
		return;
	if (phys == IB_PORT_PHYS_STATE_DISABLED)
		ibfab_link_disable(port);
	else if (disabled ? phys : state == IB_PORT_DOWN)
		ibfab_link_retrain(port);
	else if (state > IB_PORT_DOWN)
		ibfab_port_set_state(port, state);
}

/**
 * ibfab_portinfo_set() - Process Set(PortInfo).
 * @port: the port at which the SMP came in; the AttributeModifier names the port to set
 * @smp: the SMP. If any of its values is invalid, nothing is set.
 *
 * Context: mgmt_lock held.
 * Return: MAD status.
 */
__be16 ibfab_portinfo_set(struct ibfab_port *port, struct ib_smp *smp)
{
	const union ibfab_port_info *in = (const void *)smp->data;
	const struct ib_port_info *new = &in->base;

	port = select_port(port, smp);
	if (!port || !set_valid(port, in))
		return IBFAB_MAD_INVALID;

	set_link(port, in);
	if (ibfab_port_is_endport(port))
		set_endport(port, new);
	set_states(port, lo(new->linkspeed_portstate),
		   hi(new->portphysstate_linkdown));
	return 0;
}
