// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the fabric sees of the trunk: a node with one port, at the other end of the
 * cable of a switch's last port. Its own fabric's links are none of the trunk's
 * business; where this port has one is where the two kernels agreed on it.
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
 * ibfab_trunk_sender() - What stops the trunk's packets into the fabric.
 *
 * Context: under rcu_read_lock(), which the result needs to last.
 * Return: it, or NULL without a trunk.
 */
struct ibfab_sender *ibfab_trunk_sender(void)
{
	return READ_ONCE(ibfab_trunk.running) ? &ibfab_trunk.sender : NULL;
}

/**
 * ibfab_trunk_inbox() - Where packets for the trunk wait.
 *
 * Context: any.
 * Return: it, or NULL without a trunk.
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

/* Down here is down there: without the other end there is no link again */
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
 * ibfab_trunk_link_set() - Let the switch's port have its link, or take it away.
 * @up: whether both ends agree that there is one
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
 * Return: false if its cable is pulled or it is disabled.
 */
bool ibfab_trunk_link_ready(void)
{
	const struct ibfab_port *port = ibfab_trunk.far_port;

	return READ_ONCE(port->cable_up) &&
	       READ_ONCE(port->phys_state) != IB_PORT_PHYS_STATE_DISABLED;
}

/**
 * ibfab_trunk_init() - Check the parameter, and set up a trunk that does nothing.
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
 * ibfab_trunk_start() - Cable the trunk, if there is to be one, and let it run.
 *
 * Context: process; the switches are there.
 * Return: 0 or a negative errno. ibfab_trunk_stop() and ibfab_trunk_exit() are to
 * be called in any case.
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
 * ibfab_trunk_stop() - Take the link down for good.
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
	/* What the fabric sent while the engine stopped */
	ibfab_inbox_take(&trunk->inbox, &trunk->tx.data);
	ibfab_trunk_tx_reset();
	ibfab_inbox_wake(&trunk->inbox);
	ibfab_sender_forget(&trunk->sender);
}

/**
 * ibfab_trunk_exit() - Free the trunk.
 *
 * Context: process; after ibfab_trunk_stop(), and its file is gone.
 */
void ibfab_trunk_exit(void)
{
	if (ibfab_trunk.port)
		ibfab_node_cleanup(&ibfab_trunk.node);
	ibfab_trunk.port = NULL;
}

/* What the engine is at, as it happens to be */
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
 * ibfab_trunk_add_file() - Make the file that tells of the trunk.
 * @root: the fabric's folder
 *
 * Context: process.
 */
void ibfab_trunk_add_file(struct dentry *root)
{
	debugfs_create_file("trunk", 0444, root, NULL, &trunk_fops);
}
