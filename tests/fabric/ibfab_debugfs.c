// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * debugfs: the topology as the fabric knows it, with which the findings of management tools can be
 * compared, the counters of each node, and a file that pulls cables.
 */
#include <linux/debugfs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>

#include "ibfab.h"
#include "ibfab_meter.h"
#include "ibtool.h"

static struct dentry *root;

static const char * const state_names[] = {
	[IB_PORT_NOP] = "NOP",
	[IB_PORT_DOWN] = "DOWN",
	[IB_PORT_INIT] = "INIT",
	[IB_PORT_ARMED] = "ARMED",
	[IB_PORT_ACTIVE] = "ACTIVE",
};

static const char * const counter_names[] = {
#define IBFAB_CNT(counter, name) name,
#include "ibfab_counters.h"
};

/* IBFAB_DROP_NONE has no counter */
static const char * const drop_names[] = {
#define IBFAB_DROP(reason, name) name,
#include "ibfab_drops.h"
};

static void show_port(struct seq_file *m, const struct ibfab_port *port)
{
	const struct ibfab_port *peer = rcu_dereference(port->peer);

	const struct ibfab_port *base = port->base;

	seq_printf(m, "%s %016llx %u lid %u lmc %u %s ", port->node->name,
		   be64_to_cpu(port->node->guid), port->num, base->lid,
		   base->lmc, state_names[base->state]);
	if (base != port)
		seq_printf(m, "on %s %u\n", base->node->name, base->num);
	else if (peer)
		seq_printf(m, "%s %016llx %u cable %s\n", peer->node->name,
			   be64_to_cpu(peer->node->guid), peer->num,
			   port->cable_up ? "up" : "down");
	else
		seq_puts(m, "-\n");
}

static void show_node(struct seq_file *m, const struct ibfab_node *node)
{
	unsigned int i;

	for (i = 1; i <= node->num_ports; i++)
		show_port(m, &node->ports[i]);
}

/* One line for each port: node, GUID, port number, LID, LMC and state, then node, GUID and number
 * of the port at the other end of its cable
 */
static int topology_show(struct seq_file *m, void *v)
{
	struct ibfab_hca *hca;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < ibfab.num_switches; i++)
		show_node(m, &ibfab.sw[i]->node);
	for (i = 0; i < ibfab.num_hcas; i++) {
		hca = ibfab_hca_get(i);
		if (hca)
			show_node(m, &hca->node);
	}
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(topology);

/* Finds a node by its name, which also tells its kind. Called under rcu_read_lock(). */
static struct ibfab_node *find_node(const char *name)
{
	struct ibfab_hca *hca;
	unsigned int i;

	if (sscanf(name, "switch%u", &i) == 1)
		return i < ibfab.num_switches ? &ibfab.sw[i]->node : NULL;
	if (sscanf(name, "ibfab%u", &i) != 1 || i >= ibfab.num_hcas)
		return NULL;
	hca = ibfab_hca_get(i);
	return hca ? &hca->node : NULL;
}

/* "switch0 3 down" pulls the cable at port 3 of switch0, "up" plugs it in again */
static int cable_line(void *of, char *line)
{
	char name[IB_DEVICE_NAME_MAX], action[8];
	struct ibfab_node *node;
	unsigned int num;
	int ret = -ENODEV;

	if (sscanf(line, "%63s %u %7s", name, &num, action) != 3)
		return -EINVAL;
	if (strcmp(action, "up") && strcmp(action, "down"))
		return -EINVAL;

	rcu_read_lock();
	node = find_node(name);
	if (node && num && num <= node->num_ports)
		ret = ibfab_cable_set(&node->ports[num],
				      !strcmp(action, "up"));
	rcu_read_unlock();
	return ret;
}

DEFINE_IBTOOL_LINES(cable);

/**
 * ibfab_show_counters() - Print some counters of a port.
 * @m: the file, which gets one counter a line: "port1.drop.rx_pkey 3"
 * @port: the port
 * @prefix: what the counters' names begin with, such as "drop."
 * @names: the rest of their names
 * @counters: the counters
 * @num: how many there are
 *
 * Context: process.
 */
void ibfab_show_counters(struct seq_file *m, const struct ibfab_port *port, const char *prefix,
			 const char * const *names, const atomic64_t *counters, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		seq_printf(m, "port%u.%s%s %lld\n", port->num, prefix, names[i],
			   atomic64_read(&counters[i]));
}

static void show_faults(struct seq_file *m, struct ibfab_port *port)
{
	char prefix[16];

	ibfab_show_counters(m, port, "fault.", ibfab_fault_names, port->faults.count,
			    IBFAB_FAULT_NUM);
	snprintf(prefix, sizeof(prefix), "port%u.", port->num);
	ibfab_tap_show(m, prefix, &port->tap);
}

/**
 * ibfab_debugfs_show_port() - Print all counters of a port.
 * @m: the file, which gets one counter a line: "port1.drop.rx_pkey 3"
 * @port: the port
 *
 * Context: process.
 */
void ibfab_debugfs_show_port(struct seq_file *m, struct ibfab_port *port)
{
	ibfab_show_counters(m, port, "", counter_names, port->counter, IBFAB_CNT_NUM);
	ibfab_show_counters(m, port, "drop.", drop_names, port->drop + 1, ARRAY_SIZE(drop_names));
	seq_printf(m, "port%u.pkey_violations %d\n", port->num,
		   atomic_read(&port->pkey_violations));
	seq_printf(m, "port%u.qkey_violations %d\n", port->num,
		   atomic_read(&port->qkey_violations));
	ibfab_traps_show(m, port);
	show_faults(m, port);
	ibfab_offload_show(m, port);
	ibfab_rate_show(m, port);
	ibfab_rc_show(m, port);
}

static int counters_show(struct seq_file *m, void *v)
{
	const struct ibfab_node *node = m->private;
	unsigned int i = node->type == IBFAB_NODE_CA ? 1 : 0;

	for (; i <= node->num_ports; i++)
		ibfab_debugfs_show_port(m, &node->ports[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static struct dentry *add_node(struct ibfab_node *node)
{
	struct dentry *dir = debugfs_create_dir(node->name, root);

	debugfs_create_file("counters", 0444, dir, node, &counters_fops);
	ibfab_fault_add_node(node, dir);
	ibfab_fault_add_ports(node, dir);
	ibfab_capture_add_node(node, dir);
	return dir;
}

/**
 * ibfab_debugfs_init() - Create the fabric's folder.
 *
 * Context: process.
 */
void ibfab_debugfs_init(void)
{
	root = debugfs_create_dir("ibfab", NULL);
	debugfs_create_file("topology", 0444, root, NULL, &topology_fops);
	debugfs_create_file("cable", 0200, root, NULL, &cable_fops);
	ibfab_hotplug_init(root);
	ibfab_capture_init(root);
	ibfab_trunk_add_file(root);
	ibfab_meter_add_file(root);
}

/**
 * ibfab_debugfs_exit() - Remove the fabric's folder and what is left in it.
 *
 * Context: process.
 */
void ibfab_debugfs_exit(void)
{
	debugfs_remove(root);
	ibfab_capture_exit();
}

/**
 * ibfab_debugfs_add_hca() - Create an HCA's folder.
 * @hca: the HCA
 *
 * Context: process.
 */
void ibfab_debugfs_add_hca(struct ibfab_hca *hca)
{
	hca->debugfs = add_node(&hca->node);
	ibfab_fault_add_verbs(hca, hca->debugfs);
	ibfab_fault_add_cqs(hca, hca->debugfs);
}

/**
 * ibfab_debugfs_remove_hca() - Remove an HCA's folder.
 * @hca: the HCA
 *
 * Context: process; waits for readers.
 */
void ibfab_debugfs_remove_hca(struct ibfab_hca *hca)
{
	ibfab_capture_remove_node(&hca->node);
	debugfs_remove(hca->debugfs);
}

/**
 * ibfab_debugfs_add_switch() - Create a switch's folder.
 * @sw: the switch, whose folder stays until the fabric's is removed
 *
 * Context: process.
 */
void ibfab_debugfs_add_switch(struct ibfab_switch *sw)
{
	add_node(&sw->node);
}
