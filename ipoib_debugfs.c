// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * debugfs: the files ipoib/<interface>_path and ipoib/<interface>_mcg show the paths
 * and the groups of each interface, in the format that existing scripts parse, and
 * ipoib/<interface>_conn its connections.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "ipoib.h"

static struct dentry *ipoib_debugfs_root;

/* Prints all eight groups of digits, which %pI6c would not do */
static void show_gid(struct seq_file *m, const union ib_gid *gid)
{
	const __be16 *word = (const __be16 *)gid->raw;

	seq_printf(m, "GID: %x:%x:%x:%x:%x:%x:%x:%x\n", be16_to_cpu(word[0]),
		   be16_to_cpu(word[1]), be16_to_cpu(word[2]), be16_to_cpu(word[3]),
		   be16_to_cpu(word[4]), be16_to_cpu(word[5]), be16_to_cpu(word[6]),
		   be16_to_cpu(word[7]));
}

static const char *yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

/* The rate "port's" stands for IB_RATE_PORT_CURRENT, which has no fixed value */
static void show_rate(struct seq_file *m, enum ib_rate rate)
{
	int mbps = ib_rate_to_mbps(rate);

	if (mbps > 0)
		seq_printf(m, "  rate: %8d.%d Gb/sec\n", mbps / 1000, mbps % 1000);
	else
		seq_puts(m, "  rate:       port's\n");
}

static void show_path(void *entry, void *context)
{
	const struct ipoib_path *path = entry;
	struct seq_file *m = context;
	const struct ipoib_ah *ah = rcu_dereference(path->dest.ah);

	show_gid(m, &path->dest.gid);
	seq_printf(m, "  complete: %6s\n", yes_no(ah));
	if (ah) {
		seq_printf(m, "  DLID:     0x%04x\n", ah->dlid);
		seq_printf(m, "  SL: %12d\n", ah->sl);
		show_rate(m, ah->rate);
		seq_printf(m, "  stopgap: %7s\n", yes_no(READ_ONCE(path->stopgap)));
		seq_printf(m, "  GRH: %11s\n", yes_no(ah->grh));
	}
	seq_putc(m, '\n');
}

static void show_group(void *entry, void *context)
{
	const struct ipoib_group *group = entry;
	struct seq_file *m = context;

	show_gid(m, &group->dest.gid);
	seq_printf(m, "  created: %10lu\n", group->created);
	seq_printf(m, "  queuelen: %9u\n", skb_queue_len_lockless(&group->dest.queue));
	seq_printf(m, "  complete: %9s\n", yes_no(rcu_access_pointer(group->dest.ah)));
	seq_printf(m, "  send_only: %8s\n",
		   yes_no(READ_ONCE(group->role) == IPOIB_GROUP_SEND_ONLY));
	seq_printf(m, "  router: %11s\n",
		   yes_no(READ_ONCE(group->role) == IPOIB_GROUP_ROUTER));
	seq_printf(m, "  joined: %11s\n\n", yes_no(READ_ONCE(group->joined)));
}

static void show_conn(const struct ipoib_conn *conn, void *context)
{
	static const char * const states[] = {
		[IPOIB_CONN_REQUESTED] = "requested",
		[IPOIB_CONN_WANTED] = "wanted",
		[IPOIB_CONN_ASKED] = "asked",
		[IPOIB_CONN_LIVE] = "live",
		[IPOIB_CONN_DRAINING] = "draining",
		[IPOIB_CONN_GONE] = "gone",
	};
	struct seq_file *m = context;
	union ib_gid gid;

	memcpy(&gid, conn->peer.gid, sizeof(gid));
	show_gid(m, &gid);
	seq_printf(m, "  UD QPN: %12u\n", ipoib_hwaddr_qpn(&conn->peer));
	seq_printf(m, "  service ID: %#018llx\n", be64_to_cpu(conn->service_id));
	seq_printf(m, "  type: %14s\n", conn->type == IB_QPT_UC ? "UC" : "RC");
	seq_printf(m, "  opened by: %9s\n", conn->opened ? "self" : "peer");
	seq_printf(m, "  receive MTU: %7u\n", conn->receive_mtu);
	seq_printf(m, "  checksums: %9s\n", conn->unsummed ? "omitted" : "computed");
	seq_printf(m, "  state: %13s\n", states[READ_ONCE(conn->state)]);
	seq_printf(m, "  idle: %11u ms\n\n", jiffies_to_msecs(jiffies - READ_ONCE(conn->used)));
}

static int ipoib_path_show(struct seq_file *m, void *unused)
{
	struct ipoib_dev *priv = m->private;

	ipoib_paths_walk(priv, show_path, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ipoib_path);

static int ipoib_conn_show(struct seq_file *m, void *unused)
{
	struct ipoib_dev *priv = m->private;

	seq_printf(m, "receive buffers: %u\n\n", ipoib_conns_buffers(priv));
	ipoib_conns_walk(priv, show_conn, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ipoib_conn);

static int ipoib_mcg_show(struct seq_file *m, void *unused)
{
	struct ipoib_dev *priv = m->private;

	ipoib_groups_walk(priv, show_group, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ipoib_mcg);

static bool name_is_taken(const char *name)
{
	struct dentry *file = debugfs_lookup(name, ipoib_debugfs_root);

	/* An error is returned by kernels that are built without debugfs */
	if (IS_ERR_OR_NULL(file))
		return false;
	dput(file);
	return true;
}

/* Several network namespaces may have an ib0. If the name of a file is in use, the inode number of
 * the namespace is added.
 */
static struct dentry *create_file(struct ipoib_dev *priv, const char *what,
				  const struct file_operations *fops)
{
	char name[IFNAMSIZ + 32];

	snprintf(name, sizeof(name), "%s_%s", priv->netdev->name, what);
	if (name_is_taken(name))
		snprintf(name, sizeof(name), "%s@%u_%s", priv->netdev->name,
			 dev_net(priv->netdev)->ns.inum, what);
	return debugfs_create_file(name, 0444, ipoib_debugfs_root, priv, fops);
}

static void create_files(struct ipoib_dev *priv)
{
	priv->path_file = create_file(priv, "path", &ipoib_path_fops);
	priv->group_file = create_file(priv, "mcg", &ipoib_mcg_fops);
	priv->conn_file = create_file(priv, "conn", &ipoib_conn_fops);
}

static void remove_files(struct ipoib_dev *priv)
{
	debugfs_remove(priv->path_file);
	debugfs_remove(priv->group_file);
	debugfs_remove(priv->conn_file);
	/* The kernel repeats NETDEV_UNREGISTER while somebody still holds the netdevice */
	priv->path_file = NULL;
	priv->group_file = NULL;
	priv->conn_file = NULL;
}

/* Creates and removes the files of an interface, also when it is renamed or moved to another
 * namespace
 */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);
	struct ipoib_dev *priv = ipoib_priv(netdev);

	if (!ipoib_is_ours(netdev))
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_REGISTER:
		create_files(priv);
		break;
	case NETDEV_CHANGENAME:
		remove_files(priv);
		create_files(priv);
		break;
	case NETDEV_UNREGISTER:
		remove_files(priv);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * ipoib_debugfs_init() - create the directory, and files for each interface registered from now on
 *
 * Context: process; no interface exists yet.
 * Return: 0 or a negative error.
 */
int ipoib_debugfs_init(void)
{
	int err;

	ipoib_debugfs_root = debugfs_create_dir("ipoib", NULL);
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		debugfs_remove(ipoib_debugfs_root);
	return err;
}

/**
 * ipoib_debugfs_exit() - undo ipoib_debugfs_init()
 *
 * Context: process; no interface is left.
 */
void ipoib_debugfs_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	debugfs_remove(ipoib_debugfs_root);
}
