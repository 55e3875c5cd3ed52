/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The types of the virtual InfiniBand subnet, and the interface of each file.
 *
 * A subnet consists of nodes (HCAs and switches), whose ports are connected by cables. A packet
 * that crosses a cable has the same bytes as on a real wire. Code runs in these contexts:
 *
 * - Verbs, in any context in which they may be called (interrupts may be off), only put WRs into
 *   queues and kick the engine of the HCA.
 * - The engine of an HCA is one tasklet. Only the engine removes WRs from queues, builds packets,
 *   carries them through the switches to the input queue of the receiving HCA, delivers what came
 *   into its own input queue, completes WRs and calls completion handlers.
 * - Management (SMPs and cables) changes port attributes and forwarding tables under
 *   ibfab_fabric.mgmt_lock. The data path reads them without a lock, each as a single word.
 * - The engine of the trunk is one more tasklet, see ibfab_trunk.h.
 *
 * Lock order: ibfab_queue.lock of a QP's send queue, then that of its receive queue. No other lock
 * is taken while another one is held. All locks are taken with interrupts off, because ib_mad posts
 * its sends with interrupts off.
 */
#ifndef _IBFAB_H
#define _IBFAB_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "ibfab_caps.h"
#include "ibfab_capture.h"
#include "ibfab_fault.h"
#include "ibfab_queue.h"
#include "ibfab_rc.h"
#include "ibfab_wire.h"

#define IBFAB_MAX_HCAS		256
#define IBFAB_MAX_SWITCHES	16
#define IBFAB_SWITCH_MAX_PORTS	254	/* 14.2.5.3: NumPorts, where 0xff means no port */
#define IBFAB_PKEY_TABLE_MAX	128
#define IBFAB_GUID_TABLE_LEN	32	/* 14.2.5.6: GUIDCap, at most 255 */
#define IBFAB_LFT_CAP		49152	/* one entry for each unicast LID */
#define IBFAB_MFT_CAP		4096
#define IBFAB_MFT_POSITIONS	16	/* of 16 ports each */
#define IBFAB_RATES		64	/* 9.11: AVs have six bits for the rate */
#define IBFAB_VLCAP		4	/* 14.2.5.6: VL0 to VL7 */
#define IBFAB_MAX_MSG		0x40000000	/* octets */
#define IBFAB_MCAST_BUCKETS	256
#define IBFAB_OUI		0x021bfa /* locally administered */

struct ibfab_hca;
struct ibfab_node;
struct ibfab_pkt;
struct ibfab_port;
struct ibfab_traps;
struct ibfab_vport;
struct dentry;
struct seq_file;

enum ibfab_node_type {
	IBFAB_NODE_TRUNK,	/* not visible on the wire */
	IBFAB_NODE_CA = 1,	/* 14.2.5.3: NodeType */
	IBFAB_NODE_SWITCH = 2,
};

enum ibfab_counter {
#define IBFAB_CNT(counter, name) IBFAB_CNT_##counter,
#include "ibfab_counters.h"
	IBFAB_CNT_NUM,
};

/* The traps that an SMA sends (14.2.5.1) */
enum ibfab_trap {
	IBFAB_TRAP_LINK_STATE,		/* 128: a switch port's link changed */
	IBFAB_TRAP_LOCAL_CHANGES,	/* 144: CapabilityMask or NodeDescription changed */
	IBFAB_TRAP_BAD_MKEY,		/* 256 */
	IBFAB_TRAP_BAD_PKEY,		/* 257 */
	IBFAB_TRAP_BAD_QKEY,		/* 258 */
	IBFAB_TRAP_NUM,
};

/* The counters of an HCA's offloads, in debugfs */
enum ibfab_offload_counter {
	IBFAB_OFFLOAD_TX_CSUM,		/* computed */
	IBFAB_OFFLOAD_TX_CSUM_NONE,	/* requested, but the packet is neither TCP nor UDP */
	IBFAB_OFFLOAD_TX_LSO,		/* large sends */
	IBFAB_OFFLOAD_TX_LSO_SEGMENTS,	/* the segments that they were split into */
	IBFAB_OFFLOAD_RX_CSUM_OK,
	IBFAB_OFFLOAD_RX_CSUM_BAD,
	IBFAB_OFFLOAD_RX_CSUM_NONE,	/* nothing to verify */
	IBFAB_OFFLOAD_NUM,
};

enum ibfab_drop {
	IBFAB_DROP_NONE,
#define IBFAB_DROP(reason, name) IBFAB_DROP_##reason,
#include "ibfab_drops.h"
	IBFAB_DROP_NUM,
};

/**
 * struct ibfab_port - A port of a node
 * @node: the node
 * @num: port number; 0 is the management port of a switch
 * @base: the port whose link, LIDs and tables it uses: its own, or the physical port's if
 *	this is a virtual port
 * @vport: the additional fields of a virtual port, else NULL
 * @vports: the virtual ports on it, &ibfab_vport.node; read under RCU, changed under
 *	mgmt_lock
 * @aliases: how many GUIDs after the first one in @guid belong to virtual ports
 * @peer: the port at the other end of the cable; RCU
 * @cable_up: whether the cable is plugged in; mgmt_lock
 * @state: enum ib_port_state
 * @phys_state: enum ib_port_phys_state
 * @lid: base LID, 0 until the SM assigns one
 * @lmc: number of low bits of the LID that are path bits
 * @mtu: NeighborMTU, enum ib_mtu
 * @mtu_cap: largest MTU, enum ib_mtu
 * @sm_lid: LID of the master SM
 * @gid_prefix: subnet prefix
 * @cap_mask: CapabilityMask
 * @pkey: P_Key table
 * @guid: GUID table, whose first entry is the port's own GUID
 * @info: the other fields of PortInfo as the SM set them; mgmt_lock
 * @mkey_leased: whether the lease period of the M_Key is running; mgmt_lock
 * @mkey_lease_end: when the lease period ends, in jiffies; mgmt_lock
 * @traps: the traps of a port that has a LID of its own, else NULL
 * @sl2vl: SLtoVL table for each input port, packed as on the wire; mgmt_lock
 * @vl_arb: VL arbitration blocks; mgmt_lock
 * @pkey_violations: packets refused because of their P_Key
 * @qkey_violations: packets refused because of their Q_Key
 * @counter: performance counters since the module was loaded
 * @clear_base: value of each counter when PortCounters last set it; mgmt_lock
 * @clear_base_ext: the same for PortCountersExtended; mgmt_lock
 * @drop: packets dropped, by reason
 * @offload: counters of the HCA's offloads
 * @rc: counters of RC QPs
 * @rate: packets sent, by the static rate of their AV
 * @events: bits of enum ib_event_type that the engine has yet to report; mgmt_lock
 * @special: QP0 and QP1 of an HCA's port; RCU
 * @faults: the faults of the port
 * @tap: the capture of the port
 *
 * Fields for which no lock is named are written under mgmt_lock and read by the data path without a
 * lock. Of the fields up to @sl2vl that an SM sets, a virtual port only has a CapabilityMask and
 * one GUID.
 */
struct ibfab_port {
	struct ibfab_node *node;
	u8 num;
	struct ibfab_port *base;
	struct ibfab_vport *vport;
	struct list_head vports;
	u8 aliases;
	struct ibfab_port __rcu *peer;
	bool cable_up;

	u8 state;
	u8 phys_state;
	u16 lid;
	u8 lmc;
	u8 mtu;
	u8 mtu_cap;
	u16 sm_lid;
	u64 gid_prefix;
	u32 cap_mask;
	u16 pkey[IBFAB_PKEY_TABLE_MAX];	/* the first ibfab_pkeys entries are used */
	__be64 guid[IBFAB_GUID_TABLE_LEN];

	union ibfab_port_info info;
	bool mkey_leased;
	unsigned long mkey_lease_end;
	struct ibfab_traps *traps;
	u8 (*sl2vl)[IBFAB_SMP_SL2VL_BYTES];
	u8 vl_arb[IBFAB_SMP_VLARB_BLOCKS][IB_SMP_DATA_SIZE];

	atomic_t pkey_violations;
	atomic_t qkey_violations;
	atomic64_t counter[IBFAB_CNT_NUM];
	u64 clear_base[IBFAB_CNT_NUM];
	u64 clear_base_ext[IBFAB_CNT_NUM];
	atomic64_t drop[IBFAB_DROP_NUM];
	atomic64_t offload[IBFAB_OFFLOAD_NUM];
	atomic64_t rc[IBFAB_RC_NUM];
	atomic64_t rate[IBFAB_RATES];

	unsigned long events;
	struct ibfab_qp __rcu *special[2];
	struct ibfab_port_faults faults;
	struct ibfab_tap tap;
};

/**
 * struct ibfab_node_ops - The data path functions of a kind of node
 * @receive: takes a packet that came in at a port, which it consumes. Called in softirq
 *	context under rcu_read_lock(). A node that forwards packets adds them to @out, each with
 *	&ibfab_pkt.port set.
 * @link_lost: called when the port has lost its link, with mgmt_lock held; may be NULL
 */
struct ibfab_node_ops {
	void (*receive)(struct ibfab_port *in, struct ibfab_pkt *pkt,
			struct list_head *out);
	void (*link_lost)(struct ibfab_port *port);
};

/**
 * struct ibfab_node - A channel adapter, a switch, or the trunk
 * @type: the kind of node
 * @ops: the functions of its kind
 * @name: its name in debugfs
 * @desc: NodeDescription; mgmt_lock
 * @guid: NodeGUID
 * @num_ports: external ports
 * @ports: @num_ports + 1 ports, indexed by port number; a CA does not use port 0
 */
struct ibfab_node {
	enum ibfab_node_type type;
	const struct ibfab_node_ops *ops;
	char name[IB_DEVICE_NAME_MAX];
	char desc[IB_SMP_DATA_SIZE];
	__be64 guid;
	u8 num_ports;
	struct ibfab_port *ports;
};

/**
 * struct ibfab_switch - A switch
 * @node: the node
 * @lft: linear forwarding table: the output port of each unicast LID
 * @mft: multicast forwarding table: the port masks of each multicast LID
 * @info: SwitchInfo; mgmt_lock
 * @linear_top: LinearFDBTop
 *
 * The tables are written under mgmt_lock and read without a lock.
 */
struct ibfab_switch {
	struct ibfab_node node;
	u8 *lft;
	u16 (*mft)[IBFAB_MFT_POSITIONS];
	struct ibfab_switch_info info;
	u16 linear_top;
};

#define IBFAB_SENDER_TRUNK	IBFAB_MAX_HCAS	/* the number after those of the HCAs */
#define IBFAB_SENDERS		(IBFAB_MAX_HCAS + 1)

/**
 * struct ibfab_sender - The sending side of an engine, which full input queues stop
 * @id: index of the HCA, or IBFAB_SENDER_TRUNK
 * @blockers: number of full input queues for which it waits
 * @engine: scheduled when there are none any more
 */
struct ibfab_sender {
	unsigned int id;
	atomic_t blockers;
	struct tasklet_struct *engine;
};

/**
 * struct ibfab_inbox - An input queue
 * @lock: protects the other fields; no other lock is taken under it
 * @queue: packets, each with the port at which it came in
 * @len: number of packets in @queue, and of those that were taken out but not delivered yet
 * @waiters: senders that wait for @len to fall
 * @stops: how often a sender had to stop
 */
struct ibfab_inbox {
	spinlock_t lock;	/* guards the rest */
	struct list_head queue;
	unsigned int len;
	DECLARE_BITMAP(waiters, IBFAB_SENDERS);
	u64 stops;
};

/**
 * struct ibfab_frame - The bytes of a packet, which its multicast copies share
 * @refs: one reference for each &struct ibfab_pkt
 * @len: number of bytes from LRH through ICRC
 * @data: the bytes, which are not written if there is more than one reference
 */
struct ibfab_frame {
	refcount_t refs;
	u16 len;
	u8 data[] __aligned(8);
};

/**
 * struct ibfab_pkt - A packet on its way
 * @list: in the queue that holds it
 * @frame: its bytes
 * @port: the port by which it will leave, then the port at which it came in
 * @source: the sender that stops if the receiver's input queue is full; NULL if there is
 *	none
 * @seq: its sequence number on the trunk; used by the trunk's engine only
 * @hops: number of cables that it crossed
 * @loopback: it never left the HCA
 */
struct ibfab_pkt {
	struct list_head list;
	struct ibfab_frame *frame;
	struct ibfab_port *port;
	struct ibfab_sender *source;
	u32 seq;
	u8 hops;
	bool loopback;
};

/**
 * struct ibfab_hdrs - The headers of a packet
 * @lrh: local route header
 * @grh: global route header, NULL if there is none
 * @bth: base transport header
 * @deth: datagram extended transport header, NULL for other transports, whose extended
 *	headers are part of the payload
 * @imm: immediate data of a datagram, NULL if there is none
 * @payload: the payload
 * @payload_len: its length, without pad and ICRC
 */
struct ibfab_hdrs {
	struct ibfab_lrh *lrh;
	struct ib_grh *grh;
	struct ibfab_bth *bth;
	struct ibfab_deth *deth;
	__be32 *imm;
	u8 *payload;
	u16 payload_len;
};

struct ibfab_ah {
	struct ib_ah ibah;
	struct ibfab_av av;
};

struct ibfab_pd {
	struct ib_pd ibpd;
};

/**
 * struct ibfab_cq - Completion queue
 * @ibcq: the core's part, whose cqe is the size of the ring
 * @hca: the HCA
 * @lock: protects the fields below up to @fire; no other lock is taken under it
 * @ring: CQEs
 * @limit: how many CQEs fit
 * @head: index of the oldest CQE
 * @count: number of CQEs in the ring
 * @armed: the enum ib_cq_notify_flags that the next completion must satisfy, 0 if not armed
 * @overrun: a CQE was lost, and no further ones are added
 * @fail: the overrun has yet to be reported
 * @fire: the completion handler has yet to be called
 * @notify: in &ibfab_hca.notify; used by the engine only
 * @hidden: how many of the newest CQEs are not visible yet
 * @hidden_urgent: one of these is an error, or solicited
 * @due: when these become visible; used by the engine only
 * @late: in &ibfab_hca_faults.late; used by the engine only
 * @gather: how many completions gather before the handler is called, 0 if it is called for
 *	each. Written with the engine disabled, as is @period_us
 * @period_us: how long after the first completion the handler is called in any case
 * @gathered: completions that wait for others; used by the engine only
 * @period_over: the period has ended
 * @timer: ends the period
 * @moderated: in &ibfab_hca.moderated; used by the engine only
 */
struct ibfab_cq {
	struct ib_cq ibcq;
	struct ibfab_hca *hca;
	spinlock_t lock;	/* guards what follows, up to fire */
	struct ib_wc *ring;
	unsigned int limit;
	unsigned int head;
	unsigned int count;
	int armed;
	bool overrun;
	bool fail;
	bool fire;
	struct list_head notify;
	unsigned int hidden;
	bool hidden_urgent;
	unsigned long due;
	struct list_head late;
	u16 gather;
	u16 period_us;
	u16 gathered;
	bool period_over;
	struct hrtimer timer;
	struct list_head moderated;
};

/**
 * struct ibfab_pace - Pacing of a QP that keeps to static rates
 * @next: when it may send again; used by the engine only
 * @timer: kicks the engine at that time
 */
struct ibfab_pace {
	ktime_t next;
	struct hrtimer timer;
};

/**
 * struct ibfab_qp - Queue pair
 * @ibqp: the core's part
 * @hca: the HCA
 * @state: enum ib_qp_state. Written under the locks of both queues. Posting checks it under
 *	the lock of the queue, the engine reads it without a lock.
 * @port_num: its port
 * @pkey_index: index into the port's P_Key table
 * @qkey: Q_Key
 * @sq_psn: next PSN of a UD QP; used by the engine only
 * @sq: send queue
 * @rq: receive queue
 * @max_inline: maximum length of inline data
 * @create_flags: enum ib_qp_create_flags
 * @sig_all: every send WR generates a completion, signaled or not
 * @tx_node: in &ibfab_hca.tx_qps; protected by its tx_lock
 * @pace: its pacing
 * @rc: the connection of an RC QP, NULL for other QPs
 * @events: bits of enum ib_event_type to be reported; used by the engine only
 * @event_node: in &ibfab_hca.event_qps; used by the engine only
 */
struct ibfab_qp {
	struct ib_qp ibqp;
	struct ibfab_hca *hca;
	enum ib_qp_state state;
	u8 port_num;
	u16 pkey_index;
	u32 qkey;
	u32 sq_psn;
	struct ibfab_queue sq;
	struct ibfab_queue rq;
	u32 max_inline;
	u32 create_flags;
	bool sig_all;
	struct list_head tx_node;
	struct ibfab_pace pace;
	struct ibfab_rc *rc;
	unsigned long events;
	struct list_head event_node;
};

/* The attachment of a QP to a multicast group; freed by RCU */
struct ibfab_mcast {
	struct hlist_node node;
	struct rcu_head rcu;
	union ib_gid mgid;
	struct ibfab_qp *qp;
};

/**
 * struct ibfab_hca - A host channel adapter
 * @ibdev: the core's part
 * @node: the node
 * @index: its index in &ibfab_fabric.hca
 * @caps: its capabilities
 * @live: events may be reported: it is registered and not about to go away; mgmt_lock
 * @dead: it was unplugged. As mlx5's driver does for hardware that is gone, it flushes what was
 *	posted, takes nothing but what it can flush, and does not report
 *	IB_EVENT_QP_LAST_WQE_REACHED.
 * @engine: the tasklet. What only the engine accesses needs no lock. Others that must access
 *	it, to destroy a QP or a CQ, disable the tasklet meanwhile.
 * @inbox: packets that came in
 * @rx_run: packets that the engine is delivering; used by the engine only
 * @tx_lock: protects @tx_qps; no other lock is taken under it
 * @tx_qps: QPs that have something to send or to flush
 * @sender: stops the engine if an input queue is full
 * @notify: CQs whose handlers have yet to be called; used by the engine only
 * @moderated: CQs whose completions gather; used by the engine only
 * @event_qps: QPs that have events to report; used by the engine only
 * @event_srqs: SRQs whose limit was reached; used by the engine only
 * @rc_acks: QPs that have yet to acknowledge packets; used by the engine only
 * @qps: QPs by number, except for QP0 and QP1
 * @num_qps: number of QPs in @qps
 * @next_qpn: where the search for a free number begins
 * @mcast_lock: protects @mcast against changes; no other lock is taken under it
 * @mcast: attachments to multicast groups, by MGID; RCU
 * @vfs: virtual functions of its first port, then of the next; protected by RTNL
 * @debugfs: its folder
 * @faults: its faults
 */
struct ibfab_hca {
	struct ib_device ibdev;
	struct ibfab_node node;
	unsigned int index;
	struct ibfab_caps caps;
	bool live;
	bool dead;

	struct tasklet_struct engine;
	struct ibfab_inbox inbox;
	struct list_head rx_run;
	spinlock_t tx_lock;	/* guards tx_qps */
	struct list_head tx_qps;
	struct ibfab_sender sender;
	struct list_head notify;
	struct list_head moderated;
	struct list_head event_qps;
	struct list_head event_srqs;
	struct list_head rc_acks;

	struct xarray qps;
	atomic_t num_qps;
	u32 next_qpn;
	spinlock_t mcast_lock;	/* guards changes of mcast */
	struct hlist_head mcast[IBFAB_MCAST_BUCKETS];
	struct ibfab_vf *vfs;
	struct dentry *debugfs;
	struct ibfab_hca_faults faults;
};

/**
 * struct ibfab_fabric - The subnet
 * @mgmt_lock: protects the attributes of all ports, the tables of switches and the state of
 *	links; no other lock is taken under it
 * @num_hcas: number of HCAs, including unplugged ones
 * @num_switches: number of switches
 * @hca: HCAs; an entry is NULL while that HCA is unplugged; RCU
 * @sw: switches
 */
struct ibfab_fabric {
	spinlock_t mgmt_lock;	/* guards ports, tables and links */
	unsigned int num_hcas;
	unsigned int num_switches;
	struct ibfab_hca __rcu *hca[IBFAB_MAX_HCAS];
	struct ibfab_switch *sw[IBFAB_MAX_SWITCHES];
};

extern struct ibfab_fabric ibfab;

static inline struct ibfab_hca *to_hca(struct ib_device *ibdev)
{
	return container_of(ibdev, struct ibfab_hca, ibdev);
}

static inline struct ibfab_hca *node_to_hca(struct ibfab_node *node)
{
	return container_of(node, struct ibfab_hca, node);
}

static inline struct ibfab_switch *node_to_switch(struct ibfab_node *node)
{
	return container_of(node, struct ibfab_switch, node);
}

static inline struct ibfab_cq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct ibfab_cq, ibcq);
}

static inline struct ibfab_qp *to_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct ibfab_qp, ibqp);
}

static inline struct ibfab_ah *to_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct ibfab_ah, ibah);
}

static inline struct ibfab_port *ibfab_qp_port(const struct ibfab_qp *qp)
{
	return &qp->hca->node.ports[READ_ONCE(qp->port_num)];
}

static inline bool ibfab_av_has_grh(const struct rdma_ah_attr *av)
{
	return rdma_ah_get_ah_flags(av) & IB_AH_GRH;
}

static inline unsigned int ibfab_port_mtu(const struct ibfab_port *port)
{
	return ib_mtu_enum_to_int(READ_ONCE(port->base->mtu));
}

static inline void ibfab_count(struct ibfab_port *port,
			       enum ibfab_counter counter)
{
	atomic64_inc(&port->counter[counter]);
}

static inline struct ibfab_lrh *ibfab_pkt_lrh(const struct ibfab_pkt *pkt)
{
	return (struct ibfab_lrh *)pkt->frame->data;
}

/**
 * ibfab_pkt_pop() - Take the first packet off a list.
 * @list: the list
 *
 * Return: the packet, or NULL if there is none.
 */
static inline struct ibfab_pkt *ibfab_pkt_pop(struct list_head *list)
{
	struct ibfab_pkt *pkt = list_first_entry_or_null(list, struct ibfab_pkt, list);

	if (pkt)
		list_del(&pkt->list);
	return pkt;
}

/* ibfab_main.c */
struct ibfab_hca *ibfab_hca_get(unsigned int index);
int ibfab_hca_create(unsigned int index);
void ibfab_hca_disconnect(struct ibfab_hca *hca);
void ibfab_hca_destroy(struct ibfab_hca *hca);

/* ibfab_plan.c */
int ibfab_plan_init(void);
unsigned int ibfab_plan_hcas(void);
u8 ibfab_plan_hca_ports(void);
unsigned int ibfab_plan_switches(void);
unsigned int ibfab_plan_switch_ports(unsigned int index);
struct ibfab_port *ibfab_plan_hca_peer(const struct ibfab_hca *hca, u8 num);
void ibfab_plan_cable_switches(void);
struct ibfab_port *ibfab_plan_trunk_peer(void);
__be64 ibfab_plan_guid(enum ibfab_node_type type, unsigned int index);
void ibfab_plan_describe(struct ibfab_node *node);

/* ibfab_topo.c */
int ibfab_node_init(struct ibfab_node *node, u8 num_ports);
void ibfab_node_cleanup(struct ibfab_node *node);
void ibfab_cable(struct ibfab_port *a, struct ibfab_port *b);
void ibfab_uncable(struct ibfab_port *port);
int ibfab_cable_set(struct ibfab_port *port, bool up);
void ibfab_link_disable(struct ibfab_port *port);
void ibfab_link_retrain(struct ibfab_port *port);
void ibfab_port_set_state(struct ibfab_port *port, u8 state);
void ibfab_port_event(struct ibfab_port *port, enum ib_event_type event);
struct ibfab_port *ibfab_port_peer(const struct ibfab_port *port);

/* ibfab_wire.c */
void ibfab_wire_count_xmit(struct ibfab_port *port, const struct ibfab_lrh *lrh);
void ibfab_wire_count_rcv(struct ibfab_port *port, const struct ibfab_lrh *lrh);
void ibfab_wire_send(struct ibfab_port *out, struct ibfab_pkt *pkt);
void ibfab_wire_arrive(struct ibfab_port *in, struct ibfab_pkt *pkt,
		       struct list_head *work);
void ibfab_wire_run(struct list_head *work);

/* ibfab_pool.c */
int ibfab_pool_init(void);
void ibfab_pool_exit(void);
void *ibfab_pool_get(unsigned int bytes);
void ibfab_pool_put(void *object, unsigned int bytes);

/* ibfab_packet.c */
struct ibfab_pkt *ibfab_pkt_alloc(unsigned int len);
struct ibfab_pkt *ibfab_pkt_clone(const struct ibfab_pkt *pkt);
struct ibfab_pkt *ibfab_pkt_copy(const struct ibfab_pkt *pkt, unsigned int len);
void ibfab_pkt_free(struct ibfab_pkt *pkt);
void ibfab_pkt_drop(struct ibfab_pkt *pkt, struct ibfab_port *port,
		    enum ibfab_drop reason);
bool ibfab_pkt_parse(const struct ibfab_pkt *pkt, struct ibfab_hdrs *h);

/* ibfab_verbs.c */
extern const struct ib_device_ops ibfab_device_ops;
u16 ibfab_port_pkey(const struct ibfab_port *port, unsigned int index);
bool ibfab_pkey_match(u16 a, u16 b);
int ibfab_pkey_find(const struct ibfab_port *port, u16 pkey);
void ibfab_port_gid(const struct ibfab_port *port, unsigned int index,
		    union ib_gid *gid);

/* ibfab_mcast.c */
int ibfab_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int ibfab_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
struct hlist_head *ibfab_mcast_bucket(struct ibfab_hca *hca,
				      const union ib_gid *mgid);
bool ibfab_mcast_attached(struct ibfab_hca *hca, const union ib_gid *mgid);

/* ibfab_qp.c */
int ibfab_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int ibfab_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int ibfab_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int ibfab_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int ibfab_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int ibfab_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
enum ib_qp_state ibfab_qp_state(const struct ibfab_qp *qp);
void ibfab_qp_fail(struct ibfab_qp *qp, enum ib_qp_state state);

/* ibfab_cq.c */
int ibfab_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct compat_cq_udata *udata);
int ibfab_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int ibfab_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int ibfab_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void ibfab_cq_push(struct ibfab_cq *cq, const struct ib_wc *wc, bool solicited);
void ibfab_cq_purge(struct ibfab_cq *cq, const struct ibfab_qp *qp);
void ibfab_cq_notify(struct ibfab_cq *cq);
void ibfab_cq_set_full(struct ibfab_cq *cq);
void ibfab_cq_completed(struct ibfab_cq *cq, bool urgent);
void ibfab_cq_fire(struct ibfab_cq *cq);

/* ibfab_moderate.c */
void ibfab_moderate_init(struct ibfab_cq *cq);
int ibfab_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
bool ibfab_moderate_hold(struct ibfab_cq *cq);
void ibfab_moderate_run(struct ibfab_hca *hca);
void ibfab_moderate_stop(struct ibfab_cq *cq);

/* ibfab_engine.c */
void ibfab_engine_init(struct ibfab_hca *hca);
void ibfab_engine_stop(struct ibfab_hca *hca);
void ibfab_engine_kick(struct ibfab_hca *hca);
void ibfab_engine_kick_qp(struct ibfab_qp *qp);
void ibfab_engine_forget_qp(struct ibfab_qp *qp);
void ibfab_engine_receive(struct ibfab_port *in, struct ibfab_pkt *pkt,
			  struct list_head *out);
bool ibfab_engine_blocked(const struct ibfab_qp *qp);
void ibfab_flush_recv(struct ibfab_qp *qp, u64 wr_id);
void ibfab_complete_send(struct ibfab_qp *qp, const struct ibfab_swr *wr,
			 enum ib_wc_status status);

/* ibfab_event.c */
void ibfab_event_qp(struct ibfab_qp *qp, enum ib_event_type type);
void ibfab_event_srq(struct ibfab_srq *srq);
void ibfab_event_run(struct ibfab_hca *hca);

/* ibfab_net.c */
void ibfab_net_transmit(struct ibfab_port *port, struct ibfab_pkt *pkt);
bool ibfab_net_check_dgid(const struct ibfab_port *port,
			  const union ib_gid *dgid);
void ibfab_net_count_drop(struct ibfab_port *port, enum ibfab_drop drop);
void ibfab_net_receive(struct ibfab_hca *hca, struct ibfab_pkt *pkt);

/* ibfab_ud.c */
enum ib_wc_status ibfab_ud_send(struct ibfab_qp *qp,
				const struct ibfab_swr *wr);
enum ibfab_drop ibfab_ud_receive(struct ibfab_hca *hca,
				 const struct ibfab_pkt *pkt,
				 const struct ibfab_hdrs *h);
struct ibfab_pkt *ibfab_ud_build(struct ibfab_qp *qp,
				 const struct ibfab_port *port,
				 const struct ibfab_swr *wr, unsigned int len,
				 u8 **payload);
void ibfab_ud_transmit(struct ibfab_qp *qp, struct ibfab_port *port, const struct ibfab_swr *wr,
		       struct ibfab_pkt *pkt);

/* ibfab_rate.c */
void ibfab_pace_init(struct ibfab_qp *qp);
void ibfab_pace_stop(struct ibfab_qp *qp);
bool ibfab_paced(struct ibfab_qp *qp);
void ibfab_rate_count(struct ibfab_qp *qp, struct ibfab_port *port,
		      const struct rdma_ah_attr *av, unsigned int bytes);
void ibfab_rate_show(struct seq_file *m, const struct ibfab_port *port);

/* ibfab_rc.c */
enum ibfab_drop ibfab_rc_receive(struct ibfab_hca *hca,
				 struct ibfab_port *port,
				 const struct ibfab_hdrs *h);

/* ibfab_offload.c */
int ibfab_offload_init(void);
u8 ibfab_offload_caps(unsigned int index, u8 otherwise);
void ibfab_offload_query(const struct ibfab_hca *hca,
			 struct ib_device_attr *attr);
bool ibfab_offload_qp_valid(const struct ibfab_hca *hca,
			    const struct ib_qp_init_attr *init);
void ibfab_offload_show(struct seq_file *m, const struct ibfab_port *port);
int ibfab_offload_fill(const struct ibfab_qp *qp, struct ibfab_swr *swr,
		       const struct ib_send_wr *wr);
void ibfab_csum_fill(struct ibfab_port *port, u8 *data, unsigned int len);
int ibfab_csum_verify(const struct ibfab_qp *qp, struct ibfab_port *port,
		      const struct ibfab_hdrs *h);
bool ibfab_csum_heeded(const struct ibfab_qp *qp, const struct ibfab_swr *wr);
size_t ibfab_lso_room(u32 create_flags);
u32 ibfab_lso_longest(const struct ibfab_swr *wr);
void ibfab_lso_send(struct ibfab_qp *qp, struct ibfab_port *port,
		    const struct ibfab_swr *wr);

/* ibfab_switch.c */
struct ibfab_switch *ibfab_switch_create(unsigned int index, u8 num_ports);
void ibfab_switch_destroy(struct ibfab_switch *sw);
void ibfab_switch_forward(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
			  struct list_head *out);

/* ibfab_smp.c */
void ibfab_smp_receive(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
		       struct list_head *out);
void ibfab_gmp_receive(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
		       struct list_head *out);

/* ibfab_sma.c */
int ibfab_sma_process(struct ibfab_port *port, u16 slid,
		      const struct ib_smp *in, struct ib_smp *out);

/* ibfab_mkey.c */
bool ibfab_mkey_check(struct ibfab_port *port, u16 slid,
		      const struct ib_smp *smp);
bool ibfab_mkey_shown(const struct ibfab_port *port, const struct ib_smp *smp);

/* ibfab_trap.c */
int ibfab_traps_create(struct ibfab_port *port);
void ibfab_traps_stop(struct ibfab_node *node);
void ibfab_traps_destroy(struct ibfab_port *port);
void ibfab_traps_show(struct seq_file *m, const struct ibfab_port *port);
void ibfab_trap_link_state(struct ibfab_port *port);
void ibfab_trap_cap_mask(struct ibfab_port *port);
void ibfab_trap_node_desc(struct ibfab_port *port);
void ibfab_trap_bad_mkey(struct ibfab_port *port, u16 slid,
			 const struct ib_smp *smp);
void ibfab_trap_bad_key(struct ibfab_port *port, enum ibfab_trap which,
			const struct ibfab_hdrs *h);
void ibfab_trap_repress(struct ibfab_port *port, const struct ib_smp *smp);

/* ibfab_portinfo.c */
bool ibfab_port_is_endport(const struct ibfab_port *port);
__be16 ibfab_portinfo_get(struct ibfab_port *port, struct ib_smp *smp);
__be16 ibfab_portinfo_set(struct ibfab_port *port, struct ib_smp *smp);
void ibfab_portinfo_init(struct ibfab_port *port);

/* ibfab_pma.c */
int ibfab_pma_process(struct ibfab_port *port, const struct ib_pma_mad *in,
		      struct ib_pma_mad *out);

/* ibfab_trunk_dev.c */
bool ibfab_trunk_wanted(void);

/* ibfab_trunk_link.c */
struct ibfab_sender *ibfab_trunk_sender(void);
struct ibfab_inbox *ibfab_trunk_inbox(void);
int ibfab_trunk_init(void);
int ibfab_trunk_start(void);
void ibfab_trunk_stop(void);
void ibfab_trunk_exit(void);
void ibfab_trunk_add_file(struct dentry *root);

/* ibfab_debugfs.c */
void ibfab_debugfs_init(void);
void ibfab_debugfs_exit(void);
void ibfab_debugfs_add_hca(struct ibfab_hca *hca);
void ibfab_debugfs_remove_hca(struct ibfab_hca *hca);
void ibfab_debugfs_add_switch(struct ibfab_switch *sw);
void ibfab_show_counters(struct seq_file *m, const struct ibfab_port *port, const char *prefix,
			 const char * const *names, const atomic64_t *counters, unsigned int num);
void ibfab_debugfs_show_port(struct seq_file *m, struct ibfab_port *port);

#endif /* _IBFAB_H */
