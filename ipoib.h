/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Defines struct ipoib_dev, whose parts have their types in the headers included here, and
 * declares the functions of the source files that have no header of their own, grouped by file.
 *
 * Contexts: three kinds of code access a device's state:
 *
 *  - The data path (ndo_start_xmit() and the NAPI polls) takes no lock beyond
 *    the TX queue's own. It reads paths and groups under RCU.
 *  - The control path consists of the work items on the device's ordered
 *    workqueue. They make every change of state, and never run concurrently.
 *    They never take rtnl, so that ndo_stop() may flush them.
 *  - The callbacks of the fabric (SA responses, port events) record what was
 *    received, under the lock of the part concerned, and queue work.
 */
#ifndef _IPOIB_H
#define _IPOIB_H

#include <linux/ethtool.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "ipoib_ah.h"
#include "ipoib_channel.h"
#include "ipoib_cm.h"
#include "ipoib_conn.h"
#include "ipoib_fabric.h"
#include "ipoib_gso.h"
#include "ipoib_groups.h"
#include "ipoib_inform.h"
#include "ipoib_link.h"
#include "ipoib_long.h"
#include "ipoib_path.h"
#include "ipoib_peer.h"
#include "ipoib_port.h"
#include "ipoib_reason.h"
#include "ipoib_srq.h"
#include "ipoib_stat.h"
#include "ipoib_transport.h"
#include "ipoib_wire.h"

#define IPOIB_CHILDREN_MAX	1024	/* per port */

/* How many times a new address is announced. Without that, peers would send to the old address
 * until their neighbour entries time out.
 */
#define IPOIB_ANNOUNCEMENTS	4

/* Which interface a child is of, and whether it is being deleted */
enum ipoib_child_origin {
	IPOIB_CHILD_OF_RTNETLINK,
	IPOIB_CHILD_OF_SYSFS,		/* create_child */
	IPOIB_CHILD_LEAVES_SYSFS,	/* delete_child: its work will unregister it */
};

/* One netdevice, which belongs to one port and one P_Key */
struct ipoib_dev {
	/* read for every packet, written only when the link changes: one cache line */
	struct net_device *netdev;
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ipoib_channel *channels;	/* array of ipoib_queues.count channels */
	struct ipoib_learn *learn;
	struct ipoib_pcpu_stats __percpu *stats;
	u32 qkey;
	u32 mtu;			/* the broadcast group's MTU, less encapsulation */
	u32 path_removals;		/* number of paths that have been removed from the
					 * table; written under ipoib_paths.dests.lock
					 */
	u8 max_sge;			/* per send WR */
	bool learn_paths;		/* ethtool private flags; written under rtnl */
	bool arp_verify;
	bool qp_running;		/* written by the control path */

	/* read for most packets */
	struct ib_qp *qp;		/* receives, and sends for the first channel */
	union ib_gid local_gid;
	struct ipoib_paths paths;
	struct ipoib_groups groups;
	struct ipoib_peers peers;

	struct ipoib_rx_ring rx ____cacheline_aligned_in_smp;	/* the first channel's */

	struct ipoib_link link ____cacheline_aligned_in_smp;
	bool admin_up;			/* written under rtnl */
	bool cq_failed;			/* a CQ failed: the queues must be replaced */

	struct ipoib_port *port;
	const struct ipoib_transport_ops *transport;
	u16 pkey;			/* with the full-member bit */
	u16 pkey_index;
	struct ipoib_watcher watcher;
	struct workqueue_struct *wq;	/* ordered; runs the control path */
	struct ipoib_ahs ahs;
	struct ipoib_cm cm;
	struct ipoib_too_long too_long;

	struct dentry *path_file;	/* ipoib_debugfs.c; guarded by rtnl */
	struct dentry *group_file;
	struct dentry *conn_file;

	/* guarded by rtnl */
	struct net_device *parent;	/* of a child: the port's own netdevice; else NULL */
	netdevice_tracker parent_tracker;
	struct list_head sibling;	/* of a child: in ipoib_port.children */
	enum ipoib_child_origin origin;	/* of a child */
	bool connected;			/* the mode: connections to peers are opened */
	bool umcast;			/* groups that user space joined are left to it */
	bool trust_learned;		/* ethtool private flag */
	struct work_struct netdev_work;
	struct work_struct delete_work;	/* of a child: delete_child */
	struct delayed_work repair_work;
	u32 admin_mtu;			/* the MTU that the administrator requested */
	__be64 admin_guid;		/* the GUID that the administrator requested, or 0 */
	u8 announcements;		/* address announcements that are still to be sent */
	struct delayed_work announce_work;
	struct ipoib_queues queues;
	u32 first_vector;		/* completion vector of the first CQ, modulo their number */
	struct ipoib_moderation moderation;
};

/* Returns the driver's private data of one of its netdevices */
static inline struct ipoib_dev *ipoib_priv(const struct net_device *netdev)
{
	return netdev_priv(netdev);
}

/* Reports that the broadcast group was joined or rejoined. Called on the control path. */
static inline void ipoib_link_report_join(struct ipoib_dev *priv,
					  const struct ipoib_group_params *params)
{
	priv->link.joined(priv, params);
}

/* Reports that the broadcast group could not be joined. Called on the control path. */
static inline void ipoib_link_report_failure(struct ipoib_dev *priv, enum ipoib_reason reason)
{
	priv->link.not_joined(priv, reason);
}

/* Returns why the link does not run. The carrier may follow a little later. */
static inline enum ipoib_reason ipoib_link_reason(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->link.reason);
}

static inline bool ipoib_link_runs(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->link.state) == IPOIB_LINK_RUNNING;
}

/* ipoib_trace.c: module parameters debug_level and mcast_debug_level; 0 disables messages */
extern int ipoib_debug_level;
extern int ipoib_mcast_debug_level;

#define ipoib_debug_at(level, priv, ...)					\
do {										\
	if (READ_ONCE(level) > 0)						\
		netdev_printk(KERN_DEBUG, (priv)->netdev, __VA_ARGS__);		\
} while (0)

/* Debug messages of the control path. The data path uses tracepoints instead. */
#define ipoib_debug(priv, ...)	 ipoib_debug_at(ipoib_debug_level, priv, __VA_ARGS__)
#define ipoib_mcast_debug(priv, ...) \
	ipoib_debug_at(ipoib_mcast_debug_level, priv, __VA_ARGS__)

/* Returns the IP MTU for an IB MTU code (IBA 5.2.2.2): its octets, less the encapsulation header */
static inline u32 ipoib_ib_mtu_to_mtu(enum ib_mtu mtu)
{
	return ib_mtu_enum_to_int(mtu) - IPOIB_ENCAP_LEN;
}

/* Returns the end of the array ipoib_dev.channels */
static inline struct ipoib_channel *ipoib_channels_end(const struct ipoib_dev *priv)
{
	return priv->channels + priv->queues.count;
}

static inline void ipoib_count(struct ipoib_dev *priv, enum ipoib_stat stat)
{
	this_cpu_inc(priv->stats->count[stat]);
}

static inline void ipoib_tx_drop(struct ipoib_dev *priv, struct sk_buff *skb,
				 enum ipoib_stat why)
{
	ipoib_count(priv, why);
	dev_kfree_skb_any(skb);
}

/* Tells the AH work that a send ring has completed WRs. Called by the send poll, after a full
 * memory barrier.
 */
static inline void ipoib_ahs_moved(struct ipoib_dev *priv)
{
	if (unlikely(READ_ONCE(priv->ahs.waiting)))
		queue_delayed_work(priv->wq, &priv->ahs.work, 0);
}

static inline bool ipoib_is_vf(const struct ib_device *ibdev)
{
	return ibdev->attrs.kernel_cap_flags & IBK_VIRTUAL_FUNCTION;
}

/* Returns the largest number of send queues that a netdevice can have */
static inline unsigned int ipoib_queues_max(void)
{
	return min_t(unsigned int, num_possible_cpus(), IPOIB_TX_QUEUES_MAX);
}

/* ipoib_work.c: queueing of work, and back-off */
extern struct workqueue_struct *ipoib_netdev_wq;
int ipoib_work_init(void);
void ipoib_work_exit(void);
unsigned long ipoib_backoff(u8 failures);
unsigned long ipoib_retry_at(u8 *failures);
void ipoib_netdev_kick(struct ipoib_dev *priv);
void ipoib_netdev_later(struct ipoib_dev *priv, struct delayed_work *work, unsigned long delay);
void ipoib_netdev_repair(struct ipoib_dev *priv);

/* ipoib_netdev.c: opening and closing, and what has to be done under rtnl after link changes */
void ipoib_netdev_init(struct ipoib_dev *priv);
int ipoib_netdev_start(struct ipoib_dev *priv);
void ipoib_netdev_stop(struct ipoib_dev *priv);
int ipoib_netdev_resize(struct ipoib_dev *priv, u32 tx_count, u32 tx_size, u32 rx_size);
void ipoib_netdev_announce(struct ipoib_dev *priv);
void ipoib_netdev_forget(struct ipoib_dev *priv);
int ipoib_change_mtu(struct net_device *netdev, int mtu);
int ipoib_set_mode(struct ipoib_dev *priv, u16 mode, struct netlink_ext_ack *extack);

/* ipoib_setup.c: setup of a netdevice, and its operations */
void ipoib_setup_begin(const struct attribute_group *port, const struct attribute_group *child);
void ipoib_setup(struct net_device *netdev);
int ipoib_bind(struct ipoib_dev *priv, struct ipoib_port *port);
bool ipoib_is_ours(const struct net_device *netdev);

/* ipoib_address.c: the netdevice's link-layer address */
void ipoib_address_init(struct ipoib_dev *priv);
struct net_device *ipoib_address_bond(struct net_device *netdev);
void ipoib_address_follow(struct ipoib_dev *priv);
int ipoib_address_set(struct net_device *netdev, void *address);
int ipoib_address_port_id(struct net_device *netdev, struct netdev_phys_item_id *id);

/* ipoib_learn.c: learns the senders' addresses from received packets */
bool ipoib_learn_sender(struct ipoib_dev *priv, const struct ib_wc *wc, const struct ib_grh *grh,
			struct ipoib_hwaddr *hwaddr, struct ipoib_heard *from);
bool ipoib_learn_find(struct ipoib_dev *priv, const void *gid, struct ipoib_heard *from);
void ipoib_learn_flush(struct ipoib_dev *priv);
int ipoib_learn_init(struct ipoib_dev *priv);
void ipoib_learn_destroy(struct ipoib_dev *priv);

/* ipoib_verify.c: checks the sender's address that ARP and ND packets claim */
bool ipoib_verify_gid(struct ipoib_dev *priv, const union ib_gid *gid, u32 lid);
bool ipoib_verify_claim(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct sk_buff *skb);

/* ipoib_mgid.c: MGIDs of IP multicast addresses */
void ipoib_broadcast_build(struct ipoib_hwaddr *hwaddr, u16 pkey, u8 scope);
bool ipoib_mgid_lacks_pkey(const struct ipoib_dev *priv, const struct ipoib_mgid *mgid);
bool ipoib_mgid_is_ours(const struct ipoib_dev *priv, const union ib_gid *gid);
bool ipoib_mgid_is_listed(const struct ipoib_dev *priv, const u8 *addr);

/* ipoib_verbs.c: the P_Key of a port's own netdevice. See also ipoib_transport.h. */
int ipoib_pkey_default(const struct ipoib_port *port, u16 *pkey);

/* ipoib_child.c: P_Key children and rtnl_link_ops */
extern struct rtnl_link_ops ipoib_link_ops;
int ipoib_child_create(struct ipoib_dev *parent, u16 pkey);
int ipoib_child_delete(struct ipoib_dev *parent, u16 pkey);
void ipoib_set_umcast(struct ipoib_dev *priv, bool umcast);

/* ipoib_rdma_cm.c: finds the netdevice that a request to the RDMA CM is for */
struct net_device *ipoib_rdma_cm_netdev(const struct list_head *ports, u32 port, u16 pkey,
					const union ib_gid *gid, const struct sockaddr *addr);

/* ipoib_sysfs.c */
extern const struct attribute_group ipoib_sysfs_group;
extern const struct attribute_group ipoib_sysfs_child_group;

/* ipoib_debugfs.c */
int ipoib_debugfs_init(void);
void ipoib_debugfs_exit(void);

/* ipoib_ethtool.c */
extern const struct ethtool_ops ipoib_ethtool_ops;

#endif /* _IPOIB_H */
