// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The trunk as a node of the fabric. The node has one port, which is cabled to the last port of a
 * switch. The states of other links of this fabric do not concern the trunk. The link of its own
 * port is up while the two kernels agree that it is.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "ibfab_trunk.h"

static const char * const state_names[] = {
	[IBFAB_TRUNK_DOWN] = "down",
	[IBFAB_TRUNK_HEARD] = "heard",
	[IBFAB_TRUNK_UP] = "up",
};

static const char * const counter_names[] = {
#define IBFAB_TRUNK(counter, name) name,
#include "ibfab_trunk_counters.h"
};

/**
 * ibfab_trunk_sender() - The sender of the packets from the trunk into the fabric.
 *
 * Context: under rcu_read_lock(), under which the result is valid.
 * Return: the sender, or NULL if there is no trunk.
 */
struct ibfab_sender *ibfab_trunk_sender(void)
{
	return READ_ONCE(ibfab_trunk.running) ? &ibfab_trunk.sender : NULL;
}

/**
 * ibfab_trunk_inbox() - The queue of packets for the trunk.
 *
 * Context: any.
 * Return: the queue, or NULL if there is no trunk.
 */
struct ibfab_inbox *ibfab_trunk_inbox(void)
{
	return READ_ONCE(ibfab_trunk.running) ? &ibfab_trunk.inbox : NULL;
}

static void trunk_receive(struct ibfab_port *in, struct ibfab_pkt *pkt,
			  struct list_head *out)
{
	if (!ibfab_inbox_put(&ibfab_trunk.inbox, pkt)) {
		ibfab_count(ibfab_trunk.far_port, IBFAB_CNT_VL15_DROPPED);
		ibfab_pkt_drop(pkt, ibfab_trunk.far_port,
			       IBFAB_DROP_TRUNK_VL15);
		return;
	}
	ibfab_trunk_kick();
}

/* A link that is down at this end is down at both. The port stays disabled until both ends agree
 * again.
 */
static void link_lost(struct ibfab_port *port)
{
	port->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	ibfab_trunk_lose();
}

static const struct ibfab_node_ops trunk_ops = {
	.receive = trunk_receive,
	.link_lost = link_lost,
};

/**
 * ibfab_trunk_link_set() - Take the link of the switch's port up or down.
 * @up: whether both ends agree that there is a link
 *
 * Context: the engine.
 */
void ibfab_trunk_link_set(bool up)
{
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	if (up)
		ibfab_link_retrain(ibfab_trunk.port);
	else
		ibfab_link_disable(ibfab_trunk.port);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
}

/**
 * ibfab_trunk_link_ready() - Whether the switch's port may have a link.
 *
 * Context: any.
 * Return: false if its cable is pulled or the port is disabled.
 */
bool ibfab_trunk_link_ready(void)
{
	const struct ibfab_port *port = ibfab_trunk.far_port;

	return READ_ONCE(port->cable_up) &&
	       READ_ONCE(port->phys_state) != IB_PORT_PHYS_STATE_DISABLED;
}

/**
 * ibfab_trunk_init() - Check the module parameter, and initialize the trunk.
 *
 * Context: process.
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_trunk_init(void)
{
	ibfab_trunk_engine_init();
	return ibfab_trunk_dev_check();
}

static int make_node(struct ibfab_trunk *trunk)
{
	struct ibfab_node *node = &trunk->node;
	int ret;

	node->type = IBFAB_NODE_TRUNK;
	node->ops = &trunk_ops;
	strscpy(node->name, "trunk", sizeof(node->name));
	ret = ibfab_node_init(node, 1);
	if (ret)
		return ret;
	trunk->port = &node->ports[1];
	trunk->port->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	return 0;
}

/**
 * ibfab_trunk_start() - Cable the trunk, if there is one, and start it.
 *
 * Context: process; the switches exist.
 * Return: 0 or a negative errno. ibfab_trunk_stop() and ibfab_trunk_exit() must be called in either
 * case.
 */
int ibfab_trunk_start(void)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;
	int ret;

	if (!ibfab_trunk_wanted())
		return 0;
	ret = make_node(trunk);
	if (ret)
		return ret;
	trunk->far_port = ibfab_plan_trunk_peer();
	ret = ibfab_trunk_dev_start();
	if (ret)
		return ret;
	ibfab_cable(trunk->far_port, trunk->port);
	ibfab_trunk_engine_start();
	return 0;
}

/**
 * ibfab_trunk_stop() - Stop the trunk for good.
 *
 * Context: process; waits for grace periods.
 */
void ibfab_trunk_stop(void)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;

	if (!trunk->running)
		return;
	ibfab_trunk_engine_stop();
	ibfab_trunk_dev_stop();
	skb_queue_purge(&trunk->frames);
	ibfab_uncable(trunk->port);
	/* Packets that the fabric sent while the engine was being stopped */
	ibfab_inbox_take(&trunk->inbox, &trunk->tx.data);
	ibfab_trunk_tx_reset();
	ibfab_inbox_wake(&trunk->inbox);
	ibfab_sender_forget(&trunk->sender);
}

/**
 * ibfab_trunk_exit() - Free the trunk.
 *
 * Context: process; after ibfab_trunk_stop() and the removal of its debugfs file.
 */
void ibfab_trunk_exit(void)
{
	if (ibfab_trunk.port)
		ibfab_node_cleanup(&ibfab_trunk.node);
	ibfab_trunk.port = NULL;
}

/* A snapshot of the engine's state, which is not consistent */
static void show_state(struct seq_file *m, const struct ibfab_trunk *trunk)
{
	const struct ibfab_trunk_tx *tx = &trunk->tx;
	const struct ibfab_trunk_rx *rx = &trunk->rx;

	seq_printf(m, "device %s\n", ibfab_trunk_dev_name());
	seq_printf(m, "state %s\n", state_names[READ_ONCE(trunk->state)]);
	seq_printf(m, "port %s %u\n", trunk->far_port->node->name,
		   trunk->far_port->num);
	seq_printf(m, "instance %016llx\n", READ_ONCE(trunk->instance));
	seq_printf(m, "peer %016llx\n", READ_ONCE(trunk->peer));
	seq_printf(m, "peer_mac %pM\n", trunk->peer_mac);
	seq_printf(m, "waiting %u\n", READ_ONCE(trunk->inbox.len));
	seq_printf(m, "unacknowledged %u\n",
		   READ_ONCE(tx->seq) - READ_ONCE(tx->ack));
	seq_printf(m, "credits %u\n",
		   READ_ONCE(tx->limit) - READ_ONCE(tx->sent_data));
	seq_printf(m, "held %u\n",
		   READ_ONCE(rx->received) - READ_ONCE(rx->taken));
	seq_printf(m, "senders_stopped %llu\n", READ_ONCE(trunk->inbox.stops));
}

static int trunk_show(struct seq_file *m, void *v)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;
	unsigned int i;

	if (!READ_ONCE(trunk->running))
		return 0;
	show_state(m, trunk);
	for (i = 0; i < IBFAB_TRUNK_COUNTERS; i++)
		seq_printf(m, "%s %lld\n", counter_names[i],
			   atomic64_read(&trunk->count[i]));
	ibfab_debugfs_show_port(m, trunk->port);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(trunk);

/**
 * ibfab_trunk_add_file() - Create the file that shows the state of the trunk.
 * @root: the fabric's debugfs folder
 *
 * Context: process.
 */
void ibfab_trunk_add_file(struct dentry *root)
{
	debugfs_create_file("trunk", 0444, root, NULL, &trunk_fops);
}
