// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The plan: how many HCAs and switches the module parameters ask for, and which port is cabled to
 * which.
 *
 * In a line, every switch is cabled to the next one and has HCAs. A tree has two levels. The upper
 * level is the first switch or, if there are four switches or more, the first two. Each of the
 * other switches has HCAs and is cabled to every switch of the upper level.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>

#include "ibfab.h"

#define IBFAB_MAX_HCA_PORTS	2
#define IBFAB_SWITCH_LINKS	2	/* ports that are reserved for other switches */
#define IBFAB_MAX_PART		255

#define IBFAB_GUID_CA		0x021bfa0100000000ULL
#define IBFAB_GUID_SWITCH	0x021bfa0500000000ULL

static unsigned int hcas = 2;
module_param(hcas, uint, 0444);
MODULE_PARM_DESC(hcas, "number of HCAs (1 to 256, default 2)");

static unsigned int ports = 1;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "ports of each HCA (1 or 2, default 1)");

static unsigned int switches = 1;
module_param(switches, uint, 0444);
MODULE_PARM_DESC(switches, "number of switches (1 to 16, default 1)");

static char *shape = "line";
module_param(shape, charp, 0444);
MODULE_PARM_DESC(shape, "how the switches are cabled: line or tree (default line)");

static unsigned int subnet_part;
module_param(subnet_part, uint, 0444);
MODULE_PARM_DESC(subnet_part, "which part of a subnet of several kernels this is (0 to 255, default 0); goes into GUIDs");

/* The number of switches in the upper level of a tree; 0 for a line */
static unsigned int spines;

/* The number of switches that have HCAs, whose ports are assigned to them in turn */
static unsigned int leaves(void)
{
	return switches - spines;
}

static unsigned int leaf_ports(void)
{
	return DIV_ROUND_UP(hcas * ports, leaves()) + IBFAB_SWITCH_LINKS;
}

/* The number of trunk ports of a switch: the last port of the last switch, if there is a trunk */
static unsigned int trunk_ports(unsigned int index)
{
	return index == switches - 1 && ibfab_trunk_wanted();
}

static bool count_valid(const char *name, unsigned int value, unsigned int max)
{
	if (value >= 1 && value <= max)
		return true;
	pr_err("%s=%u is not between 1 and %u\n", name, value, max);
	return false;
}

static bool part_valid(void)
{
	if (subnet_part <= IBFAB_MAX_PART)
		return true;
	pr_err("subnet_part=%u is more than %u\n", subnet_part,
	       IBFAB_MAX_PART);
	return false;
}

static bool shape_valid(void)
{
	if (!strcmp(shape, "line"))
		return true;
	if (strcmp(shape, "tree")) {
		pr_err("shape=%s is neither line nor tree\n", shape);
		return false;
	}
	if (switches < 2) {
		pr_err("shape=tree needs two switches or more\n");
		return false;
	}
	spines = switches < 4 ? 1 : 2;
	return true;
}

/**
 * ibfab_plan_init() - Check the module parameters.
 *
 * Context: process, before any other function of this file.
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_plan_init(void)
{
	if (!count_valid("hcas", hcas, IBFAB_MAX_HCAS) ||
	    !count_valid("ports", ports, IBFAB_MAX_HCA_PORTS) ||
	    !count_valid("switches", switches, IBFAB_MAX_SWITCHES) ||
	    !part_valid() || !shape_valid())
		return -EINVAL;
	if (ibfab_plan_switch_ports(switches - 1) > IBFAB_SWITCH_MAX_PORTS) {
		pr_err("%u switches with HCAs have too few ports for %u HCAs of %u\n",
		       leaves(), hcas, ports);
		return -EINVAL;
	}
	return 0;
}

/**
 * ibfab_plan_hcas() - How many HCAs there are.
 *
 * Return: 1 to IBFAB_MAX_HCAS.
 */
unsigned int ibfab_plan_hcas(void)
{
	return hcas;
}

/**
 * ibfab_plan_hca_ports() - How many ports an HCA has.
 *
 * Return: 1 or 2.
 */
u8 ibfab_plan_hca_ports(void)
{
	return ports;
}

/**
 * ibfab_plan_switches() - How many switches there are.
 *
 * Return: 1 to IBFAB_MAX_SWITCHES.
 */
unsigned int ibfab_plan_switches(void)
{
	return switches;
}

/**
 * ibfab_plan_switch_ports() - How many external ports a switch has.
 * @index: the switch's index
 *
 * The last two ports lead to other switches, or are free. After them, the last switch has one more
 * port if there is a trunk.
 *
 * Return: the number of external ports.
 */
unsigned int ibfab_plan_switch_ports(unsigned int index)
{
	if (index < spines)
		return leaves() + IBFAB_SWITCH_LINKS;
	return leaf_ports() + trunk_ports(index);
}

/**
 * ibfab_plan_hca_peer() - The switch port to which an HCA's port is cabled.
 * @hca: the HCA
 * @num: number of the HCA's port
 *
 * Return: the switch's port.
 */
struct ibfab_port *ibfab_plan_hca_peer(const struct ibfab_hca *hca, u8 num)
{
	unsigned int nth = hca->index * ports + num - 1;
	struct ibfab_switch *sw = ibfab.sw[spines + nth % leaves()];

	return &sw->node.ports[nth / leaves() + 1];
}

/* The port that is @back ports before the last one of a switch, not counting the trunk's */
static struct ibfab_port *from_last(unsigned int index, unsigned int back)
{
	struct ibfab_node *node = &ibfab.sw[index]->node;

	return &node->ports[node->num_ports - trunk_ports(index) - back];
}

static void cable_line(void)
{
	unsigned int i;

	for (i = 1; i < switches; i++)
		ibfab_cable(from_last(i - 1, 0), from_last(i, 1));
}

static void cable_tree(void)
{
	unsigned int spine, leaf;

	for (spine = 0; spine < spines; spine++)
		for (leaf = 0; leaf < leaves(); leaf++)
			ibfab_cable(&ibfab.sw[spine]->node.ports[leaf + 1],
				    from_last(spines + leaf, 1 - spine));
}

/**
 * ibfab_plan_cable_switches() - Cable the switches to each other.
 *
 * Context: process; all switches exist.
 */
void ibfab_plan_cable_switches(void)
{
	if (spines)
		cable_tree();
	else
		cable_line();
}

/**
 * ibfab_plan_trunk_peer() - The switch port to which the trunk is cabled.
 *
 * Context: process; all switches exist, and there is a trunk.
 * Return: the last port of the last switch.
 */
struct ibfab_port *ibfab_plan_trunk_peer(void)
{
	struct ibfab_node *node = &ibfab.sw[switches - 1]->node;

	return &node->ports[node->num_ports];
}

/**
 * ibfab_plan_guid() - The GUID of a node.
 * @type: whether it is a channel adapter or a switch
 * @index: its index
 *
 * Return: the NodeGUID. The GUIDs that differ from it only in the last byte belong to its ports.
 */
__be64 ibfab_plan_guid(enum ibfab_node_type type, unsigned int index)
{
	u64 base = type == IBFAB_NODE_CA ? IBFAB_GUID_CA : IBFAB_GUID_SWITCH;

	return cpu_to_be64(base | subnet_part << 16 | index << 8);
}

/**
 * ibfab_plan_describe() - Fill in the NodeDescription of a node.
 * @node: the node, whose name and type are set
 */
void ibfab_plan_describe(struct ibfab_node *node)
{
	int at = scnprintf(node->desc, sizeof(node->desc), "%s%s",
			   node->type == IBFAB_NODE_SWITCH ? "ibfab " : "",
			   node->name);

	if (subnet_part)
		snprintf(node->desc + at, sizeof(node->desc) - at, " part %u",
			 subnet_part);
}
