// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * HCAs that are unplugged from a running kernel, and plugged in again in the same place, with the
 * same GUIDs.
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "ibfab_vport.h"
#include "ibtool.h"

static struct dentry *hotplug_file;
static atomic64_t unplugged[IBFAB_MAX_HCAS];

/* Serializes plugging and unplugging */
static DEFINE_MUTEX(hotplug_mutex);

static struct ibfab_hca *hca_at(unsigned int index)
{
	return rcu_dereference_protected(ibfab.hca[index],
					 lockdep_is_held(&hotplug_mutex));
}

static void report(struct ibfab_hca *hca, enum ib_event_type type, u8 port)
{
	struct ib_event event = {
		.device = &hca->ibdev,
		.event = type,
		.element.port_num = port,
	};

	ib_dispatch_event(&event);
}

/* QP0 and QP1 are not in the table of QPs. They belong to ib_core, which destroys them when the HCA
 * is unregistered.
 */
static void fail_special_qps(struct ibfab_port *port)
{
	struct ibfab_qp *qp;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(port->special); i++) {
		qp = rcu_dereference(port->special[i]);
		if (qp)
			ibfab_qp_fail(qp, IB_QPS_ERR);
	}
	rcu_read_unlock();
}

/* Hardware that is gone completes nothing. Without the flush, each outstanding MAD would be waited
 * for until its last retry times out. A QP cannot be destroyed while the table of QPs is locked.
 */
static void fail_qps(struct ibfab_hca *hca)
{
	struct ibfab_qp *qp;
	unsigned long qpn;
	unsigned int i;

	xa_lock(&hca->qps);
	xa_for_each(&hca->qps, qpn, qp)
		ibfab_qp_fail(qp, IB_QPS_ERR);
	xa_unlock(&hca->qps);
	for (i = 1; i <= hca->node.num_ports; i++)
		fail_special_qps(&hca->node.ports[i]);
}

static void unplug(struct ibfab_hca *hca)
{
	unsigned int i;

	ibfab_hca_disconnect(hca);
	WRITE_ONCE(hca->dead, true);
	for (i = 1; i <= hca->node.num_ports; i++)
		report(hca, IB_EVENT_PORT_ERR, i);
	report(hca, IB_EVENT_DEVICE_FATAL, 0);
	fail_qps(hca);
	atomic64_inc(&unplugged[hca->index]);
	ibfab_hca_destroy(hca);
}

/* Unplugs the HCAs that share the ports of another HCA, which is about to be unplugged. Called with
 * hotplug_mutex held.
 */
static void unplug_vports(struct ibfab_hca *base)
{
	struct ibfab_hca *hca;
	unsigned int i;

	for (i = 0; i < ibfab.num_hcas; i++) {
		hca = hca_at(i);
		if (hca && ibfab_vport_is_on(i, base))
			unplug(hca);
	}
}

/* Called with hotplug_mutex held */
static int plug_or_unplug(const char *line)
{
	struct ibfab_hca *hca;
	unsigned int index;
	char action[8];

	if (sscanf(line, "ibfab%u %7s", &index, action) != 2)
		return -EINVAL;
	if (index >= ibfab.num_hcas)
		return -ENODEV;
	hca = hca_at(index);
	if (!strcmp(action, "plug"))
		return hca ? -EEXIST : ibfab_hca_create(index);
	if (strcmp(action, "unplug"))
		return -EINVAL;
	if (!hca)
		return -ENODEV;
	unplug_vports(hca);
	unplug(hca);
	return 0;
}

/* "ibfab1 unplug" or "ibfab1 plug". The write returns when this is done. */
static int hotplug_line(void *of, char *line)
{
	int ret;

	mutex_lock(&hotplug_mutex);
	ret = plug_or_unplug(line);
	mutex_unlock(&hotplug_mutex);
	return ret;
}

static int hotplug_show(struct seq_file *m, void *v)
{
	unsigned int i;

	for (i = 0; i < ibfab.num_hcas; i++)
		seq_printf(m, "ibfab%u %s unplugged %lld\n", i,
			   rcu_access_pointer(ibfab.hca[i]) ? "in" : "out",
			   atomic64_read(&unplugged[i]));
	return 0;
}

DEFINE_IBTOOL_SHOW_LINES(hotplug);

/**
 * ibfab_hotplug_init() - Create the file that plugs and unplugs HCAs.
 * @root: the fabric's debugfs folder
 *
 * Context: process.
 */
void ibfab_hotplug_init(struct dentry *root)
{
	hotplug_file = debugfs_create_file("hotplug", 0600, root, NULL,
					   &hotplug_fops);
}

/**
 * ibfab_hotplug_exit() - Remove the file that plugs and unplugs HCAs.
 *
 * Context: process; waits for a write that is in progress.
 */
void ibfab_hotplug_exit(void)
{
	debugfs_remove(hotplug_file);
	hotplug_file = NULL;
}
