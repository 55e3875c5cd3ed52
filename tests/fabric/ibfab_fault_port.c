// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Changes of a port that its SM does not make: of the P_Key table, the LID and the GID prefix, with
 * the events that report them. Also the names and the counters of all faults of ports.
 */
#include <linux/debugfs.h>

#include "ibfab.h"
#include "ibtool.h"

const char * const ibfab_fault_names[IBFAB_FAULT_NUM] = {
	[IBFAB_FAULT_DROP] = "drop",
	[IBFAB_FAULT_DUPLICATE] = "duplicate",
	[IBFAB_FAULT_DELAY] = "delay",
	[IBFAB_FAULT_REORDER] = "reorder",
	[IBFAB_FAULT_PKEY] = "pkey",
	[IBFAB_FAULT_QKEY] = "qkey",
	[IBFAB_FAULT_SGID] = "sgid",
	[IBFAB_FAULT_OPCODE] = "opcode",
	[IBFAB_FAULT_STATUS] = "status",
	[IBFAB_FAULT_TRUNCATE] = "truncate",
	[IBFAB_FAULT_GARBLE] = "garble",
	[IBFAB_FAULT_PUT] = "put",
	[IBFAB_FAULT_CABLE_DOWN] = "cable_down",
	[IBFAB_FAULT_CABLE_UP] = "cable_up",
	[IBFAB_FAULT_PKEY_TABLE] = "pkey_table",
	[IBFAB_FAULT_LID] = "lid",
	[IBFAB_FAULT_GID_PREFIX] = "gid_prefix",
};

/**
 * ibfab_fault_count() - Count a fault.
 * @port: where it happened
 * @fault: which
 *
 * Context: any.
 */
void ibfab_fault_count(struct ibfab_port *port, enum ibfab_fault fault)
{
	atomic64_inc(&port->faults.count[fault]);
}

/* The functions that change a port are called with mgmt_lock held. They return 0 or a negative
 * errno.
 */

/* Moves each entry of the P_Key table by @steps indices; the last entries move to the front */
static int rotate_pkeys(struct ibfab_port *port, u64 steps)
{
	u16 old[IBFAB_PKEY_TABLE_MAX];
	unsigned int i;

	if (steps % ibfab_pkeys == 0)
		return -EINVAL;
	memcpy(old, port->pkey, sizeof(old));
	for (i = 0; i < ibfab_pkeys; i++)
		WRITE_ONCE(port->pkey[(i + steps) % ibfab_pkeys], old[i]);
	ibfab_port_event(port, IB_EVENT_PKEY_CHANGE);
	return 0;
}

static int set_lid(struct ibfab_port *port, u64 lid)
{
	if (lid > U16_MAX || !ibfab_lid_is_ucast(lid))
		return -EINVAL;
	WRITE_ONCE(port->lid, lid);
	ibfab_port_event(port, IB_EVENT_LID_CHANGE);
	return 0;
}

static int set_gid_prefix(struct ibfab_port *port, u64 prefix)
{
	WRITE_ONCE(port->gid_prefix, prefix);
	ibfab_port_event(port, IB_EVENT_GID_CHANGE);
	return 0;
}

static const struct change {
	const char *name;
	enum ibfab_fault fault;
	int (*act)(struct ibfab_port *port, u64 value);
} changes[] = {
	{ "rotate_pkeys", IBFAB_FAULT_PKEY_TABLE, rotate_pkeys },
	{ "lid", IBFAB_FAULT_LID, set_lid },
	{ "gid_prefix", IBFAB_FAULT_GID_PREFIX, set_gid_prefix },
};

static int change_port(struct ibfab_port *port, const char *name, u64 value)
{
	const struct change *change;
	unsigned long flags;
	int ret;

	change = ibtool_find(name, changes, ARRAY_SIZE(changes), sizeof(*changes));
	if (!change)
		return -EINVAL;
	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	ret = change->act(port, value);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	if (!ret)
		ibfab_fault_count(port, change->fault);
	return ret;
}

/* A line names a port, an attribute and its new value: "1 lid 0x4d" */
static int change_line(void *of, char *line)
{
	struct ibfab_node *node = of;
	unsigned int num;
	char name[16];
	u64 value;

	if (sscanf(line, "%u %15s %lli", &num, name, &value) != 3)
		return -EINVAL;
	if (!num || num > node->num_ports || node->ports[num].vport)
		return -EINVAL;
	return change_port(&node->ports[num], name, value);
}

DEFINE_IBTOOL_LINES(change);

/**
 * ibfab_fault_add_ports() - Create the file that changes a node's ports.
 * @node: the node
 * @dir: its debugfs folder
 *
 * Context: process.
 */
void ibfab_fault_add_ports(struct ibfab_node *node, struct dentry *dir)
{
	debugfs_create_file("change", 0200, dir, node, &change_fops);
}
