/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types of the driver, and each file's interface, grouped by file.
 *
 * Contexts. Three kinds of code touch a device's state:
 *
 *  - the data path (xmit and the NAPI polls): takes no lock beyond the TX
 *    queue's own; reads paths and groups under RCU;
 *  - the control path: works on the device's ordered workqueue own every state
 *    change, so they never run beside each other. They never take rtnl, hence
 *    ndo_stop() may flush them;
 *  - callbacks of the fabric (SA answers, port events): record what came in,
 *    under the lock of the part that it concerns, and queue work.
 */
#ifndef _IPOIB_H
#define _IPOIB_H

#include <linux/dim.h>
#include <linux/ethtool.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/tso.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "ipoib_dest.h"
#include "ipoib_inform.h"
#include "ipoib_link.h"
#include "ipoib_port.h"
#include "ipoib_wire.h"

#define IPOIB_RING_MIN		64
#define IPOIB_RING_MAX		8192
#define IPOIB_TX_RING_DEFAULT	256
#define IPOIB_RX_RING_DEFAULT	512
#define IPOIB_RX_MTU_DEFAULT	2044	/* of an IB MTU of 2048, which most fabrics have */
#define IPOIB_TX_QUEUES_MAX	16
#define IPOIB_TX_CHAIN_MAX	32	/* WRs that one ib_post_send() takes */
#define IPOIB_TX_CHAIN_SGES	128	/* theirs altogether */
#define IPOIB_TX_SGE_MAX	(MAX_SKB_FRAGS + 2)	/* of one: headers, linear part, frags */
#define IPOIB_TX_SEGMENTS_MAX	64	/* that a large packet is cut into */
#define IPOIB_TX_HEADER_MAX	128	/* octets in front of a segment's payload; up to
					 * so many, packets are copied
					 */
#define IPOIB_RX_POST_BATCH	16	/* WRs that go back to the HCA at once */
#define IPOIB_TX_REAP_SLOTS	16	/* in use: the HCA is to tell of their end */
#define IPOIB_TX_REAP_NS	500000	/* until fewer are looked for ... */
#define IPOIB_TX_REAP_SMALL_NS	5000000	/* ... and if none of them holds a packet */
#define IPOIB_WC_BATCH		16	/* CQEs that one ib_poll_cq() takes */
#define IPOIB_PATH_QUEUE_MAX	32	/* packets that wait for one path */
#define IPOIB_PATHS_QUEUED_MAX	SZ_16M	/* octets of memory that wait for all of them */
#define IPOIB_PATHS_MAX		65536	/* more than a subnet has unicast LIDs */
#define IPOIB_GROUP_QUEUE_MAX	64	/* packets that wait for one group ... */
#define IPOIB_GROUPS_QUEUED_MAX	2048	/* ... and for all of a netdevice's */
#define IPOIB_GROUPS_SENT_MAX	1024	/* groups that are only sent to */
#define IPOIB_GROUPS_LISTED_MAX	4096	/* that the IP layer listens to */
#define IPOIB_GROUPS_HEARD_MAX	16384	/* that a router hears because others have them */
#define IPOIB_CHILDREN_MAX	1024	/* of a port */

struct ipoib_dev;

/*
 * An address handle, published by one path or group. Retired when replaced,
 * destroyed once the send ring shows that no WR can still refer to it.
 */
struct ipoib_ah {
	struct ib_ah *ibah;
	struct ipoib_dev *priv;
	struct list_head dead;		/* in ipoib_ahs.dead or .going */
	u32 dlid;			/* for debugfs, as are these */
	u8 sl;
	u8 rate;			/* enum ib_rate */
	bool grh;
};

/* One question to the fabric: by which path is this GID reached? */
struct ipoib_path_query {
	struct ipoib_path *path;
	struct ipoib_dev *priv;
	struct completion done;		/* the fabric is through with the query */
	int status;			/* 0, or a negative error */
	struct rdma_ah_attr attr;	/* valid if status is 0 */
	void *handle;			/* the fabric service's own, as are these */
	int handle_id;
	void *own;			/* memory, freed with the query */
};

/* Where a packet with a GRH came from, as its completion tells */
struct ipoib_heard {
	u16 lid;
	u8 sl;
	bool needs_grh;			/* its port gets no packet that has none */
};

/*
 * What is known about one peer GID. All neighbours behind that GID share it:
 * the QPN, the only other thing that a packet needs, stands in its
 * destination's link-layer address.
 */
struct ipoib_path {
	struct ipoib_dest dest;		/* its GID is the peer's */

	/* guarded by ipoib_dests.lock */
	struct ipoib_heard heard;	/* to make a stopgap of; LID 0: nothing new */
	unsigned long doubted;		/* jiffies when a packet last had it asked for */
	bool ask;			/* the fabric is to be asked */

	bool needs_grh;			/* as the peer said; read by all */
	bool stopgap;			/* the AH is not the fabric's answer; written by the
					 * control path, read by all
					 */

	/* control path only */
	struct ipoib_path_query *query;
};

/* All of a device's; ipoib_arp.c */
struct ipoib_paths {
	struct ipoib_dests dests;	/* .queued counts octets of memory */
	struct delayed_work work;
	struct delayed_work expire_work;
};

/* How a LID and the path to a GID agree */
enum ipoib_path_match {
	IPOIB_PATH_UNKNOWN,		/* there is no path */
	IPOIB_PATH_SAME,		/* a LID of the same port */
	IPOIB_PATH_OTHER,
};

/* What the members of a group share: MCMemberRecord, IBA 15.2.5.17 */
struct ipoib_group_params {
	u32 qkey;
	u32 flow_label;
	u16 mlid;
	u8 mtu;				/* enum ib_mtu */
	u8 rate;			/* enum ib_rate */
	u8 sl;
	u8 traffic_class;
	u8 hop_limit;
	bool fleeting;			/* our membership does not keep the group alive */
};

/* Why this device has a group */
enum ipoib_group_role {
	IPOIB_GROUP_SEND_ONLY,		/* only sends to it */
	IPOIB_GROUP_ROUTER,		/* others have it, and we hear all groups */
	IPOIB_GROUP_MEMBER,		/* the IP layer listens to it */
	IPOIB_GROUP_BROADCAST,		/* the broadcast group: makes the link */
	IPOIB_GROUP_ROLES
};

/* One IB multicast group that this device is, or wants to be, a member of */
struct ipoib_group {
	struct ipoib_dest dest;		/* its GID is the MGID */
	struct ipoib_dev *priv;

	/* guarded by ipoib_dests.lock */
	int status;			/* of the last answer */
	struct ipoib_group_params answer;

	/* control path only */
	struct list_head all;		/* in ipoib_groups.all */
	enum ipoib_group_role role;	/* written under ipoib_dests.lock */
	bool joined;
	bool attached;			/* our QP receives from it */
	bool wanted;			/* mark of mark-and-sweep */
	bool fleeting;			/* counted in ipoib_groups.fleeting */
	u32 listed;			/* ipoib_group_news.round when last seen at the fabric */
	unsigned long created;		/* jiffies */
	struct ipoib_group_params params;
	void *membership;		/* the fabric service's own */
};

static inline struct ipoib_group *ipoib_group_of(struct ipoib_dest *dest)
{
	return container_of(dest, struct ipoib_group, dest);
}

/* One of them, until the control path has read it */
struct ipoib_group_report {
	struct list_head node;		/* in ipoib_group_news.reports */
	union ib_gid mgid;
	bool exists;			/* now; else it was deleted */
};

/* What the fabric tells of the groups that others have; ipoib_router.c */
struct ipoib_group_news {
	spinlock_t lock;		/* guards the next five; innermost */
	struct list_head reports;	/* to be read */
	unsigned int reports_count;
	union ib_gid *list;		/* the answer to ipoib_fabric_ops.list; kvfree() */
	int list_count;			/* of it, or a negative error */
	enum ipoib_request list_request;

	bool list_wanted;		/* the fabric's list needs a look */
	bool reports_begin;		/* they come from now on; before, some may be missing */
	bool reports_come;

	/* control path only */
	bool broadcast_doubted;		/* reported deleted: the list has to tell */
	u8 list_failures;		/* since the last success */
	enum ipoib_reports wanted;	/* asked for */
	u32 round;			/* counts the questions for the list */
	unsigned long list_at;		/* jiffies of the next */
};

/* All of a device's groups; ipoib_join.c, ipoib_multicast.c, ipoib_router.c, ipoib_groups.c */
struct ipoib_groups {
	struct ipoib_dests dests;	/* .queued counts packets; .lock guards the next one */
	u32 of[IPOIB_GROUP_ROLES];	/* how many have each role */
	bool mc_list_changed;		/* the IP layer's list needs a look */

	/* control path only */
	bool routing;			/* a member of all groups there are */
	unsigned int fleeting;		/* how many memberships do not keep their group */
	struct list_head all;
	struct ipoib_group *broadcast;	/* NULL until the link is to be made */
	struct ipoib_group_news news;
	struct delayed_work work;
	struct delayed_work expire_work;
};

/* AHs that are not published any more; ipoib_ah.c */
struct ipoib_ahs {
	spinlock_t lock;		/* guards the next two; innermost */
	struct list_head dead;		/* for the next turn of the work */
	struct rcu_gp_oldstate dead_seen;	/* when the last of these died */

	/* control path only */
	struct list_head going;		/* until the send rings are past their marks */
	struct rcu_gp_oldstate going_seen;	/* until a grace period later, by xmits */
	bool marked;			/* that is over: the rings have their marks */
	bool waiting;			/* the work is to be told when a send ring moves; read by
					 * its poll
					 */
	struct delayed_work work;
};

/*
 * Fabric services: all that the driver needs from the kind of fabric that its
 * port is on. Every function that is given a device is called from its ordered
 * workqueue, but for speed (rtnl held), and may sleep.
 *
 * @partitions:	there are P_Keys besides the default one
 * @start:	a port that has no netdevice yet; may sleep
 * @stop:	a port that has none any more; may sleep
 * @reports_void: what was asked for by @report may have been forgotten; NULL where
 *		@report is. Any context but hard interrupt
 * @port_ready:	0 if packets can pass the port now; in any case its GID is filled
 *		in if there is another one than the caller knows
 * @speed:	the port's, in Mbit/s; rtnl held
 * @join:	ask for membership as the group's role says; on 0, answered by
 *		ipoib_group_answer(), possibly before it returns and, when the
 *		fabric takes the membership back, again later (-ENETRESET). -EAGAIN:
 *		an earlier membership is still being given up
 * @leave:	give the membership up, or the request for it; no answer comes
 *		after its return
 * @is_joined:	whether somebody on this port is a member of a group already
 * @group_attr:	fill in the AH attributes to send to a joined group; the caller
 *		destroys them with rdma_destroy_ah_attr()
 * @report:	choose which news come by ipoib_group_report(); after
 *		IPOIB_REPORTS_NONE none do, nor does the answer to @list. NULL, as
 *		@list is then, where the fabric keeps no record of groups
 * @list:	ask for all groups of the P_Key; on 0, answered once by
 *		ipoib_groups_listed()
 * @resolve:	ask for a path; on 0, answered once by ipoib_path_answer()
 * @cancel:	have an unanswered query answered soon, with an error
 * @heard_attr:	fill in the AH attributes to answer a packet of the GID's, with a GRH;
 *		NULL if packets do not tell. The caller destroys them with
 *		rdma_destroy_ah_attr()
 */
struct ipoib_fabric_ops {
	bool partitions;
	int (*start)(struct ipoib_port *port);
	void (*stop)(struct ipoib_port *port);
	void (*reports_void)(struct ipoib_port *port);
	int (*port_ready)(struct ipoib_dev *priv, union ib_gid *gid);
	int (*speed)(struct ipoib_dev *priv, u32 *mbps);
	int (*join)(struct ipoib_group *group);
	void (*leave)(struct ipoib_group *group);
	bool (*is_joined)(struct ipoib_dev *priv, union ib_gid *mgid);
	int (*group_attr)(struct ipoib_group *group, struct rdma_ah_attr *attr);
	void (*report)(struct ipoib_dev *priv, enum ipoib_reports reports);
	int (*list)(struct ipoib_dev *priv);
	int (*resolve)(struct ipoib_path_query *query);
	void (*cancel)(struct ipoib_path_query *query);
	int (*heard_attr)(struct ipoib_dev *priv, const union ib_gid *gid,
			  const struct ipoib_heard *heard, struct rdma_ah_attr *attr);
};

/* CQs and QPs: made and replaced together */
struct ipoib_queues {
	struct ib_cq *rx_cq;
	struct ipoib_tx_ring *tx;	/* tx_count of them, each with its CQ and QP */
	u32 tx_count;
	u32 tx_size;			/* packets, a power of two */
	u32 rx_size;			/* likewise */
	u32 max_send_sge;
	u32 max_recv_sge;
};

/* What the HCA gathers before it interrupts; zeroes: nothing */
struct ipoib_moderation {
	bool rx_adaptive;		/* rather than what follows of it */
	u16 rx_frames;
	u16 rx_usecs;
	u16 tx_frames;
	u16 tx_usecs;
};

/* What one ring moved, by its NAPI poll; read by others */
struct ipoib_ring_stats {
	struct u64_stats_sync syncp;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t polls;
};

/* What is known of a WR in the send ring */
enum ipoib_tx_fate {
	IPOIB_TX_POSTED,		/* a CQE will come, its own or a later one's */
	IPOIB_TX_SILENT,		/* the HCA has it, but was not told to report it */
	IPOIB_TX_REFUSED,		/* by ib_post_send() */
};

/* One slot of the send ring */
struct ipoib_tx_buf {
	struct sk_buff *skb;		/* ends here and is to be freed, or NULL */
	enum ipoib_tx_fate fate;
	u32 len;			/* of the packet that ends here, 0 if none does */
	u16 header_len;			/* of a large packet: not mapped */
	u16 packets;			/* on the wire */
	bool torn;			/* the HCA refused segments of it */
	u64 mapping[MAX_SKB_FRAGS + 1];	/* linear part, if any, then frags */
};

/* A page for headers of segments and for small packets: each slot has a place in one */
struct ipoib_tx_headers {
	void *octets;
	dma_addr_t addr;		/* the HCA's */
};

/* A UD QP's */
struct ipoib_tx_ring {
	/* the producer's: ndo_start_xmit(), under the TX queue's lock. Two cache lines. */
	struct ipoib_dev *priv;
	struct netdev_queue *txq;
	struct ib_qp *qp;
	u32 head;			/* slots ever filled */
	u32 chained;			/* WRs that wait for the doorbell */
	u32 sges;			/* theirs */
	u32 size;			/* a power of two */
	u32 segments_max;		/* that a packet is cut into */
	u32 refusals;			/* of ib_post_send() */
	u32 held;			/* head behind the last slot that has a packet */
	bool reaper_soon;		/* the reaper was started for such a one */
	bool hca_offloads;		/* over IPv4: makes checksums of TCP and UDP, and cuts
					 * large packets of TCP
					 */
	u32 path_removals;		/* of ipoib_dev, when this was looked up: */
	struct ipoib_path *path;	/* the last packet's; NULL: none */
	struct ipoib_tx_buf *buf;
	struct ib_ud_wr *chain;		/* IPOIB_TX_CHAIN_MAX of them, and one */
	struct ib_sge *sge;		/* IPOIB_TX_CHAIN_SGES of them */
	struct ipoib_tx_headers *headers;
	struct ib_cq *cq;
	struct napi_struct *napi;	/* its consumer: the first one's is ipoib_dev.napi */

	/* the consumer's */
	u32 tail ____cacheline_aligned_in_smp;	/* slots ever emptied */
	bool armed;			/* an event of the CQ is due */
	bool reap;			/* the poll is to look at the CQ */
	struct hrtimer reaper;		/* asks for that */
	struct ipoib_ring_stats stats;
	struct ib_wc wc[IPOIB_WC_BATCH];
	struct napi_struct own_napi;	/* all but the first one's */
	u32 index;
	u32 ah_mark;			/* head when ipoib_ahs.going were unseen */
};

/* One slot of the receive ring; its index is the WR's wr_id */
struct ipoib_rx_buf {
	struct ib_recv_wr wr;
	struct ib_sge sge[2];		/* its buffer, and the ring's spill */
	struct page *page;		/* NULL: it has no buffer */
	unsigned int offset;		/* of the buffer in there */
};

struct ipoib_rx_ring {
	/* what every packet needs: one cache line */
	struct ib_cq *cq;
	struct ipoib_rx_buf *buf;
	struct page_pool *pool;
	struct ib_recv_wr *first_kept;	/* of WRs that wait to be posted with others ... */
	struct ib_recv_wr **next_kept;	/* ... where the next one's place is ... */
	u32 kept;			/* ... and their number */
	u32 posted;			/* WRs that the HCA has */
	u32 longest;			/* octets of a packet of the link's, with its GRH */
	u32 frag_len;			/* of a buffer, with what an skb needs around it */
	u16 events;			/* of the CQ, for DIM */
	bool adaptive;			/* DIM moderates the CQ; written under rtnl */
	bool failed;			/* the QP is to be reset: nothing is posted */
	bool armed;			/* an event of the CQ is due */

	bool has_spill;			/* the HCA takes two SGEs */
	u32 size;			/* a power of two */
	u32 mtu;			/* IP MTU that the buffers are for */
	u32 buf_len;			/* octets that a buffer takes */
	void *spill;			/* takes what more a longer packet has; all share it */
	u64 spill_addr;			/* the HCA's */
	struct ipoib_ring_stats stats;
	struct ib_wc wc[IPOIB_WC_BATCH];
	struct dim dim;
};

/* Why a packet was dropped, and what else is worth counting: ethtool -S */
enum ipoib_stat {
	IPOIB_STAT_TX_SHORT,
	IPOIB_STAT_TX_TOO_LONG,
	IPOIB_STAT_TX_NO_MEMORY,
	IPOIB_STAT_TX_DMA_MAP,
	IPOIB_STAT_TX_POST,
	IPOIB_STAT_TX_ERROR,
	IPOIB_STAT_TX_FLUSHED,
	IPOIB_STAT_TX_NO_CARRIER,
	IPOIB_STAT_TX_PATH_FULL,
	IPOIB_STAT_TX_PATH_FAILED,
	IPOIB_STAT_TX_PATH_LIMIT,
	IPOIB_STAT_TX_GROUP_FULL,
	IPOIB_STAT_TX_GROUP_FAILED,
	IPOIB_STAT_TX_GROUP_BACKLOG,
	IPOIB_STAT_TX_GROUP_LIMIT,
	IPOIB_STAT_TX_LINEARIZED,
	IPOIB_STAT_TX_SEGMENTED,
	IPOIB_STAT_TX_TIMEOUTS,
	IPOIB_STAT_RX_SHORT,
	IPOIB_STAT_RX_TOO_LONG,
	IPOIB_STAT_RX_ERROR,
	IPOIB_STAT_RX_NO_MEMORY,
	IPOIB_STAT_RX_LOOPBACK,
	IPOIB_STAT_RX_NO_CARRIER,
	IPOIB_STAT_RX_MULTICAST,
	IPOIB_STAT_RX_FORGED,
	IPOIB_STAT_RX_FORGED_DROPPED,
	IPOIB_STAT_PATH_QUERIES,
	IPOIB_STAT_PATH_FAILURES,
	IPOIB_STAT_PATHS_LEARNED,
	IPOIB_STAT_PATHS_CORRECTED,
	IPOIB_STAT_GROUP_JOINS,
	IPOIB_STAT_GROUP_FAILURES,
	IPOIB_STAT_GROUP_FALLBACKS,
	IPOIB_STAT_GROUP_EXPIRIES,
	IPOIB_STAT_GROUP_LIMIT,
	IPOIB_STAT_REPORTS_CREATED,
	IPOIB_STAT_REPORTS_DELETED,
	IPOIB_STAT_REPORTS_FORGED,
	IPOIB_STAT_SUBSCRIPTIONS,
	IPOIB_STAT_SUBSCRIPTION_FAILURES,
	IPOIB_STAT_GROUP_LISTS,
	IPOIB_STAT_GROUP_LIST_FAILURES,
	IPOIB_STAT_QP_RESETS,
	IPOIB_STAT_COUNT
};

struct ipoib_pcpu_stats {
	unsigned long count[IPOIB_STAT_COUNT];
};

/* One netdevice: a port and a P_Key */
struct ipoib_dev {
	/* read by every packet, written when the link changes: one cache line */
	struct net_device *netdev;
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ipoib_tx_ring *tx;	/* ipoib_dev.queues.tx_count of them */
	struct ipoib_learn *learn;
	struct ipoib_pcpu_stats __percpu *stats;
	u32 qkey;
	u32 mtu;			/* of the broadcast group, less encap */
	u32 path_removals;		/* paths that ever left the table; written under
					 * ipoib_paths.dests.lock
					 */
	u8 max_sge;			/* of a send */
	bool learn_paths;		/* private flags of ethtool; under rtnl */
	bool arp_verify;
	bool qp_running;		/* written by the control path */

	/* read by most packets */
	struct ib_qp *qp;		/* that receives, and sends for the first ring */
	union ib_gid local_gid;
	struct ipoib_paths paths;
	struct ipoib_groups groups;

	struct ipoib_rx_ring rx ____cacheline_aligned_in_smp;
	struct napi_struct napi;	/* of this, and of the first send ring */

	struct ipoib_link link ____cacheline_aligned_in_smp;
	bool admin_up;			/* written under rtnl */
	bool cq_failed;			/* other queues are needed */

	struct ipoib_port *port;
	u16 pkey;			/* with the full-member bit */
	u16 pkey_index;
	struct ipoib_watcher watcher;
	struct workqueue_struct *wq;	/* the device's, ordered */
	struct ipoib_ahs ahs;

	struct dentry *path_file;	/* ipoib_debugfs.c; rtnl */
	struct dentry *group_file;

	/* guarded by rtnl */
	struct list_head sibling;	/* a child's: in ipoib_port.children */
	bool is_child;
	bool of_sysfs;			/* a child that create_child made */
	bool umcast;			/* groups that user space joined are its own */
	bool trust_learned;		/* another private flag */
	struct work_struct netdev_work;
	struct delayed_work repair_work;
	u32 admin_mtu;			/* what the administrator asked for */
	__be64 admin_guid;		/* likewise, for the port GID; or 0 */
	u8 announcements;		/* how often peers are yet to be told our address */
	struct delayed_work announce_work;
	struct ipoib_queues queues;
	u32 first_vector;		/* of completion vectors, modulo their number */
	struct ipoib_moderation moderation;
};

/* The driver's part of a netdevice that it has made */
static inline struct ipoib_dev *ipoib_priv(const struct net_device *netdev)
{
	return netdev_priv(netdev);
}

/* The port's own netdevice, which its children have for a parent */
static inline struct net_device *ipoib_port_netdev(const struct ipoib_port *port)
{
	return port->own->netdev;
}

/* The broadcast group has been joined, or joined again. On the control path. */
static inline void ipoib_link_report_join(struct ipoib_dev *priv,
					  const struct ipoib_group_params *params)
{
	priv->link.joined(priv, params);
}

static inline bool ipoib_link_runs(const struct ipoib_dev *priv)
{
	return READ_ONCE(priv->link.state) == IPOIB_LINK_RUNNING;
}

/* ipoib_trace.c: module parameters debug_level and mcast_debug_level; 0 is quiet */
extern int ipoib_debug_level;
extern int ipoib_mcast_debug_level;

#define ipoib_debug_at(level, priv, ...)					\
do {										\
	if (READ_ONCE(level) > 0)						\
		netdev_printk(KERN_DEBUG, (priv)->netdev, __VA_ARGS__);		\
} while (0)

/* For the control path: the data path has tracepoints */
#define ipoib_debug(priv, ...)	 ipoib_debug_at(ipoib_debug_level, priv, __VA_ARGS__)
#define ipoib_mcast_debug(priv, ...) \
	ipoib_debug_at(ipoib_mcast_debug_level, priv, __VA_ARGS__)

/* IBA 5.2.2.2: octets of payload that an MTU code stands for, less our encap */
static inline u32 ipoib_ib_mtu_to_mtu(enum ib_mtu mtu)
{
	return ib_mtu_enum_to_int(mtu) - IPOIB_ENCAP_LEN;
}

/* Slots of the send ring that are in use */
static inline u32 ipoib_tx_used(const struct ipoib_tx_ring *tx)
{
	return READ_ONCE(tx->head) - READ_ONCE(tx->tail);
}

/* Behind the last of ipoib_dev.tx */
static inline struct ipoib_tx_ring *ipoib_tx_end(const struct ipoib_dev *priv)
{
	return priv->tx + priv->queues.tx_count;
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

/* A send ring has completed WRs. In the send poll, behind a full memory barrier. */
static inline void ipoib_ahs_moved(struct ipoib_dev *priv)
{
	if (unlikely(READ_ONCE(priv->ahs.waiting)))
		queue_delayed_work(priv->wq, &priv->ahs.work, 0);
}

static inline bool ipoib_is_vf(const struct ib_device *ibdev)
{
	return ibdev->attrs.kernel_cap_flags & IBK_VIRTUAL_FUNCTION;
}

/* Send queues that a netdevice can have */
static inline unsigned int ipoib_queues_max(void)
{
	return min_t(unsigned int, num_possible_cpus(), IPOIB_TX_QUEUES_MAX);
}

/* ipoib_work.c: when something is to be done */
extern struct workqueue_struct *ipoib_netdev_wq;
int ipoib_work_init(void);
void ipoib_work_exit(void);
unsigned long ipoib_backoff(u8 failures);
unsigned long ipoib_retry_at(u8 *failures);
void ipoib_netdev_kick(struct ipoib_dev *priv);
void ipoib_netdev_later(struct ipoib_dev *priv, struct delayed_work *work, unsigned long delay);
void ipoib_netdev_repair(struct ipoib_dev *priv);

/* ipoib_stat.c: counters */
int ipoib_stats_init(struct ipoib_dev *priv);
void ipoib_stats_destroy(struct ipoib_dev *priv);
u64 ipoib_stat_read(struct ipoib_dev *priv, enum ipoib_stat stat);
void ipoib_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats);

/* ipoib_netdev.c: up and down, and what follows the link under rtnl */
void ipoib_netdev_init(struct ipoib_dev *priv);
int ipoib_netdev_start(struct ipoib_dev *priv);
void ipoib_netdev_stop(struct ipoib_dev *priv);
int ipoib_netdev_resize(struct ipoib_dev *priv, u32 tx_count, u32 tx_size, u32 rx_size);
void ipoib_netdev_announce(struct ipoib_dev *priv);
void ipoib_netdev_forget(struct ipoib_dev *priv);
int ipoib_change_mtu(struct net_device *netdev, int mtu);

/* ipoib_setup.c: what a netdevice is made of */
void ipoib_setup_begin(const struct attribute_group *port, const struct attribute_group *child);
void ipoib_setup(struct net_device *netdev);
int ipoib_bind(struct ipoib_dev *priv, struct ipoib_port *port);
bool ipoib_is_ours(const struct net_device *netdev);

/* ipoib_address.c: the netdevice's link-layer address */
void ipoib_address_init(struct ipoib_dev *priv);
void ipoib_address_follow(struct ipoib_dev *priv);
int ipoib_address_set(struct net_device *netdev, void *address);
int ipoib_address_port_id(struct net_device *netdev, struct netdev_phys_item_id *id);

/* A large packet that is being cut */
struct ipoib_gso {
	struct tso_t tso;
	struct ipoib_dev *priv;
	const struct ipoib_tx_buf *buf;
	u32 left;			/* octets of payload */
	bool hca_sums;			/* makes the segments' checksums */
};

/* ipoib_gso.c: large packets, cut without the HCA's help */
netdev_features_t ipoib_features_check(struct sk_buff *skb, struct net_device *netdev,
				       netdev_features_t features);
bool ipoib_gso_can_cut(const struct sk_buff *skb);
u32 ipoib_gso_header_len(const struct sk_buff *skb);
u32 ipoib_gso_segments(const struct sk_buff *skb);
void ipoib_gso_start(struct ipoib_gso *gso, struct ipoib_dev *priv,
		     const struct ipoib_tx_buf *buf);
u32 ipoib_gso_next(struct ipoib_gso *gso, const struct ipoib_tx_headers *headers, u32 offset,
		   struct ib_sge *sge);

/* ipoib_ring.c: what rings have in common */
bool ipoib_cq_arm(struct ib_cq *cq, bool *armed);
void ipoib_ring_account(struct ipoib_ring_stats *stats, unsigned int packets,
			unsigned int bytes);

/* ipoib_tx.c: the send ring */
int ipoib_tx_ring_create(struct ipoib_tx_ring *tx);
void ipoib_tx_ring_empty(struct ipoib_tx_ring *tx);
void ipoib_tx_ring_destroy(struct ipoib_tx_ring *tx);
u32 ipoib_tx_pending(struct ipoib_tx_ring *tx);
netdev_tx_t ipoib_start_xmit(struct sk_buff *skb, struct net_device *netdev);
void ipoib_tx_reap(struct ipoib_tx_ring *tx);
bool ipoib_tx_poll(struct ipoib_tx_ring *tx, int budget);
void ipoib_tx_poll_end(struct ipoib_tx_ring *tx);
int ipoib_tx_napi_poll(struct napi_struct *napi, int budget);
u16 ipoib_select_queue(struct net_device *netdev, struct sk_buff *skb,
		       struct net_device *sb_dev);

/* ipoib_ib.c: the datagram data path */
int ipoib_rings_create(struct ipoib_dev *priv);
void ipoib_rings_destroy(struct ipoib_dev *priv);
int ipoib_rings_fit(struct ipoib_dev *priv, u32 mtu);
int ipoib_rings_start(struct ipoib_dev *priv);
void ipoib_rings_drain(struct ipoib_dev *priv);
void ipoib_rings_stop(struct ipoib_dev *priv);
int ipoib_poll(struct napi_struct *napi, int budget);

/* ipoib_dim.c: adaptive moderation */
void ipoib_dim_init(struct ipoib_dev *priv);
void ipoib_dim_start(struct ipoib_dev *priv);
void ipoib_dim_event(struct ipoib_dev *priv);
void ipoib_dim_cancel(struct ipoib_dev *priv);
void ipoib_dim_stop(struct ipoib_dev *priv);

/* ipoib_ah.c: address handles */
struct ipoib_ah *ipoib_ah_create(struct ipoib_dev *priv, struct rdma_ah_attr *attr);
void ipoib_ah_retire(struct ipoib_ah *ah);
void ipoib_ah_replace(struct ipoib_ah __rcu **slot, struct ipoib_ah *ah);
void ipoib_ahs_init(struct ipoib_dev *priv);
void ipoib_ahs_flush(struct ipoib_dev *priv);

/* ipoib_dest.c: packets that waited for an AH; ipoib_dest.h has the rest */
void ipoib_queue_resend(struct ipoib_dev *priv, struct sk_buff_head *queue);
void ipoib_queue_purge(struct ipoib_dev *priv, struct sk_buff_head *queue,
		       enum ipoib_stat why);

/* ipoib_arp.c: paths */
struct ipoib_ah *ipoib_path_xmit(struct ipoib_tx_ring *tx, struct sk_buff *skb);
void ipoib_path_answer(struct ipoib_path_query *query, int status);
void ipoib_path_heard(struct ipoib_dev *priv, const union ib_gid *gid,
		      const struct ipoib_heard *heard);
void ipoib_path_doubt(struct ipoib_dev *priv, const union ib_gid *gid);
enum ipoib_path_match ipoib_path_compare(struct ipoib_dev *priv, const union ib_gid *gid,
					 u32 lid);
bool ipoib_same_port(const struct ipoib_dev *priv, u32 lid, u32 other);
void ipoib_paths_refresh(struct ipoib_dev *priv);
void ipoib_paths_flush(struct ipoib_dev *priv);
void ipoib_paths_walk(struct ipoib_dev *priv, void (*see)(void *entry, void *context),
		      void *context);
int ipoib_paths_init(struct ipoib_dev *priv);
void ipoib_paths_destroy(struct ipoib_dev *priv);

/* ipoib_learn.c: what received packets tell of their senders */
bool ipoib_learn_sender(struct ipoib_dev *priv, const struct ib_wc *wc, const struct ib_grh *grh,
			struct ipoib_hwaddr *hwaddr, struct ipoib_heard *from);
bool ipoib_learn_find(struct ipoib_dev *priv, const void *gid, struct ipoib_heard *from);
void ipoib_learn_flush(struct ipoib_dev *priv);
int ipoib_learn_init(struct ipoib_dev *priv);
void ipoib_learn_destroy(struct ipoib_dev *priv);

/* ipoib_verify.c: whether ARP and ND tell the truth about their sender */
bool ipoib_verify_claim(struct ipoib_dev *priv, const struct ib_wc *wc,
			const struct sk_buff *skb);

/* ipoib_mgid.c: MGIDs that IP multicast addresses map to */
void ipoib_broadcast_build(struct ipoib_hwaddr *hwaddr, u16 pkey, u8 scope);
bool ipoib_mgid_lacks_pkey(const struct ipoib_dev *priv, const struct ipoib_mgid *mgid);
bool ipoib_mgid_is_ours(const struct ipoib_dev *priv, const union ib_gid *gid);
bool ipoib_mgid_is_listed(const struct ipoib_dev *priv, const u8 *addr);

#include "ipoib_groups.h"

/* ipoib_verbs.c: PD, CQs, QP, P_Key index */
int ipoib_verbs_create(struct ipoib_dev *priv);
void ipoib_verbs_destroy(struct ipoib_dev *priv);
u32 ipoib_ring_limit(const struct ipoib_dev *priv);
int ipoib_queues_resize(struct ipoib_dev *priv, u32 tx_count, u32 tx_size, u32 rx_size);
int ipoib_moderate(struct ipoib_dev *priv, const struct ipoib_moderation *moderation);
int ipoib_qp_start(struct ipoib_dev *priv);
void ipoib_qp_stop(struct ipoib_dev *priv);
int ipoib_qp_set_qkey(struct ipoib_dev *priv, u32 qkey);
int ipoib_pkey_default(const struct ipoib_port *port, u16 *pkey);

/* ipoib_sa.c: fabric services on InfiniBand ports */
extern const struct ipoib_fabric_ops ipoib_sa_ops;
void ipoib_sa_init(void);
void ipoib_sa_exit(void);

/* ipoib_roce.c: fabric services on RoCE ports */
extern const struct ipoib_fabric_ops ipoib_roce_ops;
bool ipoib_roce_wants(const struct ib_device *ibdev, u32 port);
int ipoib_roce_init(void);
void ipoib_roce_exit(void);

/* ipoib_child.c: P_Key children, and rtnetlink */
extern struct rtnl_link_ops ipoib_link_ops;
int ipoib_child_create(struct ipoib_dev *parent, u16 pkey);
int ipoib_child_delete(struct ipoib_dev *parent, u16 pkey);
int ipoib_set_mode(struct ipoib_dev *priv, u16 mode, struct netlink_ext_ack *extack);
void ipoib_set_umcast(struct ipoib_dev *priv, bool umcast);

/* ipoib_rdma_cm.c: which netdevice a request to the RDMA CM is for */
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
