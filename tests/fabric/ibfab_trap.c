// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traps (13.4.9, 14.2.5.1), by which the SMA of a port reports events to the SM. A trap is repeated
 * until the SM sends a TrapRepress.
 *
 * For each kind of trap a port keeps only the newest notice. The time between two traps of a port
 * is at least the SubnetTimeOut of its PortInfo.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timer.h>

#include "ibfab_net.h"

#define IBFAB_TRAP_TID		0x1bfaULL	/* high half of the TransactionIDs of traps */
#define IBFAB_TRAP_NODE_DESC	IB_NOTICE_TRAP_NODE_DESC_CHG
#define IBFAB_TRAP_LOCAL_CHANGE	0x01	/* ChangeFlags tell what changed */
#define IBFAB_TRAP_PATH_LEN	\
	sizeof_field(struct ib_mad_notice_attr, details.ntc_256.dr_rtn_path)

/* 13.4.8.2: an SMP has the notice without the GID of its issuer */
static_assert(sizeof(struct ib_mad_notice_attr) == IB_SMP_DATA_SIZE);

struct trap_kind {
	u16 num;
	u8 type;
};

static const struct trap_kind kinds[] = {
	[IBFAB_TRAP_LINK_STATE] = { 128, IB_NOTICE_TYPE_URGENT },
	[IBFAB_TRAP_LOCAL_CHANGES] = { 144, IB_NOTICE_TYPE_INFO },
	[IBFAB_TRAP_BAD_MKEY] = { 256, IB_NOTICE_TYPE_SECURITY },
	[IBFAB_TRAP_BAD_PKEY] = { 257, IB_NOTICE_TYPE_SECURITY },
	[IBFAB_TRAP_BAD_QKEY] = { 258, IB_NOTICE_TYPE_SECURITY },
};

static_assert(ARRAY_SIZE(kinds) == IBFAB_TRAP_NUM);

/**
 * struct trap - The newest trap of one kind
 * @notice: the notice for the SM
 * @tid: TransactionID of the trap, which the TrapRepress repeats
 * @pending: the trap has not been repressed yet
 * @tries: how often it was sent
 * @raised: number of events of this kind
 * @no_sm: events that were not reported because no SM has set up the port
 * @replaced: events that were followed by another one before they were repressed
 * @sent: number of traps sent
 * @repressed: number of TrapRepresses for a pending trap
 */
struct trap {
	struct ib_mad_notice_attr notice;
	u64 tid;
	bool pending;
	unsigned int tries;
	u64 raised;
	u64 no_sm;
	u64 replaced;
	u64 sent;
	u64 repressed;
};

/**
 * struct ibfab_traps - The traps of a port that has a LID; protected by mgmt_lock
 * @port: the port
 * @timer: sends the next trap
 * @not_before: the earliest time of the next trap, in jiffies
 * @next_tid: low half of the next TransactionID
 * @stopped: the node is going away
 * @stray: number of TrapRepresses that match no pending trap
 * @trap: one trap of each kind
 */
struct ibfab_traps {
	struct ibfab_port *port;
	struct timer_list timer;
	unsigned long not_before;
	u32 next_tid;
	bool stopped;
	u64 stray;
	struct trap trap[IBFAB_TRAP_NUM];
};

/* A switch has one SMA, at port 0. A virtual port has none and uses that of its physical port. */
static struct ibfab_traps *traps_of(const struct ibfab_port *port)
{
	if (port->node->type == IBFAB_NODE_SWITCH)
		port = &port->node->ports[0];
	return port->base->traps;
}

static unsigned long interval(const struct ibfab_port *port)
{
	u8 timeout = port->info.base.clientrereg_resv_subnetto & 0x1f;

	return nsecs_to_jiffies(4096ULL << timeout) + 1;
}

static void arm(struct ibfab_traps *traps)
{
	unsigned long now = jiffies;

	mod_timer(&traps->timer, time_after(traps->not_before, now) ?
				 traps->not_before : now);
}

static void notice_init(struct ib_mad_notice_attr *notice,
			const struct ibfab_port *port,
			const struct trap_kind *kind)
{
	memset(notice, 0, sizeof(*notice));
	notice->generic_type = kind->type;
	notice->prod_type_lsb = cpu_to_be16(port->node->type);
	notice->trap_num = cpu_to_be16(kind->num);
	notice->issuer_lid = cpu_to_be16(port->lid);
}

/* Returns the notice, whose details the caller fills in, or NULL if there is no SM. Called with
 * mgmt_lock held.
 */
static struct ib_mad_notice_attr *raise(const struct ibfab_port *port,
					enum ibfab_trap which)
{
	struct ibfab_traps *traps = traps_of(port);
	struct trap *trap = &traps->trap[which];

	lockdep_assert_held(&ibfab.mgmt_lock);
	trap->raised++;
	if (traps->stopped || !traps->port->lid || !traps->port->sm_lid) {
		trap->no_sm++;
		return NULL;
	}
	if (trap->pending)
		trap->replaced++;
	notice_init(&trap->notice, traps->port, &kinds[which]);
	trap->tid = IBFAB_TRAP_TID << 32 | traps->next_tid++;
	trap->tries = 0;
	trap->pending = true;
	arm(traps);
	return &trap->notice;
}

/**
 * ibfab_trap_link_state() - Report that a link of a switch went up or down: trap 128.
 * @port: the switch's port
 *
 * Context: mgmt_lock held.
 */
void ibfab_trap_link_state(struct ibfab_port *port)
{
	struct ib_mad_notice_attr *notice = raise(port, IBFAB_TRAP_LINK_STATE);

	/* The details of trap 128 are the LID only, with which those of traps 129 to 131 begin */
	if (notice)
		notice->details.ntc_129_131.lid = notice->issuer_lid;
}

static struct ib_mad_notice_attr *raise_change(struct ibfab_port *port)
{
	struct ib_mad_notice_attr *notice;

	notice = raise(port, IBFAB_TRAP_LOCAL_CHANGES);
	if (!notice)
		return NULL;
	notice->details.ntc_144.lid = notice->issuer_lid;
	notice->details.ntc_144.new_cap_mask = cpu_to_be32(port->cap_mask);
	return notice;
}

/**
 * ibfab_trap_cap_mask() - Report that the CapabilityMask of a port changed: trap 144.
 * @port: the port of an HCA
 *
 * Context: mgmt_lock held.
 */
void ibfab_trap_cap_mask(struct ibfab_port *port)
{
	raise_change(port);
}

/**
 * ibfab_trap_node_desc() - Report that a NodeDescription changed: trap 144.
 * @port: a port of the HCA; each port may have an SM of its own
 *
 * Context: mgmt_lock held.
 */
void ibfab_trap_node_desc(struct ibfab_port *port)
{
	struct ib_mad_notice_attr *notice = raise_change(port);

	if (!notice)
		return;
	notice->details.ntc_144.local_changes = IBFAB_TRAP_LOCAL_CHANGE;
	notice->details.ntc_144.change_flags = IBFAB_TRAP_NODE_DESC;
}

/**
 * ibfab_trap_bad_mkey() - Report an SMP with a wrong M_Key: trap 256.
 * @port: the port at which it came in
 * @slid: SLID of its packet
 * @smp: the SMP
 *
 * Context: mgmt_lock held.
 */
void ibfab_trap_bad_mkey(struct ibfab_port *port, u16 slid,
			 const struct ib_smp *smp)
{
	struct ib_mad_notice_attr *notice = raise(port, IBFAB_TRAP_BAD_MKEY);
	u8 hops = smp->hop_cnt;

	if (!notice)
		return;
	notice->details.ntc_256.lid = cpu_to_be16(slid);
	notice->details.ntc_256.method = smp->method;
	notice->details.ntc_256.attr_id = smp->attr_id;
	notice->details.ntc_256.attr_mod = smp->attr_mod;
	notice->details.ntc_256.mkey = smp->mkey;
	if (smp->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return;

	notice->details.ntc_256.dr_slid = smp->dr_slid;
	notice->details.ntc_256.dr_trunc_hop = IB_NOTICE_TRAP_DR_NOTICE;
	if (hops > IBFAB_TRAP_PATH_LEN) {
		notice->details.ntc_256.dr_trunc_hop |= IB_NOTICE_TRAP_DR_TRUNC;
		hops = IBFAB_TRAP_PATH_LEN;
	}
	notice->details.ntc_256.dr_trunc_hop |= hops;
	memcpy(notice->details.ntc_256.dr_rtn_path, smp->return_path + 1, hops);
}

static __be32 bad_key(enum ibfab_trap which, const struct ibfab_hdrs *h)
{
	if (which == IBFAB_TRAP_BAD_QKEY)
		return h->deth->qkey;
	return cpu_to_be32(be16_to_cpu(h->bth->pkey));
}

static void fill_bad_key(struct ib_mad_notice_attr *notice,
			 enum ibfab_trap which, const struct ibfab_hdrs *h)
{
	u32 sqpn = h->deth ? be32_to_cpu(h->deth->sqpn) & IBFAB_QPN_MASK : 0;
	u32 sl = h->lrh->sl_lnh >> 4;

	notice->details.ntc_257_258.lid1 = h->lrh->slid;
	notice->details.ntc_257_258.lid2 = h->lrh->dlid;
	notice->details.ntc_257_258.key = bad_key(which, h);
	notice->details.ntc_257_258.sl_qp1 = cpu_to_be32(sl << 28 | sqpn);
	notice->details.ntc_257_258.qp2 =
		h->bth->dqpn & cpu_to_be32(IBFAB_QPN_MASK);
	if (!h->grh)
		return;
	notice->details.ntc_257_258.gid1 = h->grh->sgid;
	notice->details.ntc_257_258.gid2 = h->grh->dgid;
}

/**
 * ibfab_trap_bad_key() - Report a packet with a wrong P_Key or Q_Key: trap 257 or 258.
 * @port: the port at which it came in
 * @which: IBFAB_TRAP_BAD_PKEY, or IBFAB_TRAP_BAD_QKEY for a packet that has a Q_Key
 * @h: its headers
 *
 * Context: any, mgmt_lock not held.
 */
void ibfab_trap_bad_key(struct ibfab_port *port, enum ibfab_trap which,
			const struct ibfab_hdrs *h)
{
	struct ib_mad_notice_attr *notice;
	unsigned long flags;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	notice = raise(port, which);
	if (notice)
		fill_bad_key(notice, which, h);
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
}

/**
 * ibfab_trap_repress() - Process a TrapRepress, which ends the repetition of a trap.
 * @port: the port at which it came in
 * @smp: the TrapRepress
 *
 * Context: mgmt_lock held.
 */
void ibfab_trap_repress(struct ibfab_port *port, const struct ib_smp *smp)
{
	struct ibfab_traps *traps = traps_of(port);
	struct trap *trap;
	unsigned int i;

	lockdep_assert_held(&ibfab.mgmt_lock);
	for (i = 0; i < IBFAB_TRAP_NUM; i++) {
		trap = &traps->trap[i];
		if (!trap->pending || be64_to_cpu(smp->tid) != trap->tid)
			continue;
		trap->pending = false;
		trap->repressed++;
		return;
	}
	traps->stray++;
}

/* Finds the pending trap that was sent least often */
static struct trap *next_trap(struct ibfab_traps *traps)
{
	struct trap *trap, *next = NULL;
	unsigned int i;

	for (i = 0; i < IBFAB_TRAP_NUM; i++) {
		trap = &traps->trap[i];
		if (trap->pending && (!next || trap->tries < next->tries))
			next = trap;
	}
	return next;
}

static void fill_smp(struct ib_smp *smp, const struct trap *trap)
{
	memset(smp, 0, sizeof(*smp));
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->tid = cpu_to_be64(trap->tid);
	smp->attr_id = IB_SMP_ATTR_NOTICE;
	memcpy(smp->data, &trap->notice, sizeof(trap->notice));
}

/* Builds the packet of a trap, which goes from QP0 to QP0 of the SM. Called with mgmt_lock held. */
static struct ibfab_pkt *build(struct ibfab_port *port, const struct trap *trap)
{
	unsigned int bytes = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES +
			     sizeof(struct ib_smp) + IB_ICRC_BYTES;
	struct ibfab_pkt *pkt = ibfab_pkt_alloc(bytes);
	struct ibfab_deth *deth;
	struct ibfab_lrh *lrh;
	struct ibfab_bth *bth;

	if (!pkt) {
		atomic64_inc(&port->drop[IBFAB_DROP_TX_NO_MEMORY]);
		return NULL;
	}
	memset(pkt->frame->data, 0, bytes);
	lrh = ibfab_pkt_lrh(pkt);
	lrh->vl_lver = IBFAB_VL_SMP << 4;
	lrh->sl_lnh = IB_LNH_IBA_LOCAL;
	lrh->dlid = cpu_to_be16(port->sm_lid);
	lrh->slid = cpu_to_be16(port->lid);
	lrh->pktlen = cpu_to_be16(bytes / 4);
	bth = (struct ibfab_bth *)(lrh + 1);
	bth->opcode = IB_OPCODE_UD_SEND_ONLY;
	bth->pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	deth = (struct ibfab_deth *)(bth + 1);
	fill_smp((struct ib_smp *)(deth + 1), trap);
	pkt->port = port;
	return pkt;
}

static struct ibfab_pkt *take_next(struct ibfab_traps *traps)
{
	struct ibfab_pkt *pkt = NULL;
	unsigned long flags;
	struct trap *trap;

	spin_lock_irqsave(&ibfab.mgmt_lock, flags);
	trap = next_trap(traps);
	if (trap && !traps->stopped) {
		trap->tries++;
		trap->sent++;
		traps->not_before = jiffies + interval(traps->port);
		arm(traps);
		pkt = build(traps->port, trap);
	}
	spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
	return pkt;
}

static void send_from_switch(struct ibfab_switch *sw, struct ibfab_pkt *pkt)
{
	LIST_HEAD(out);

	ibfab_switch_forward(sw, pkt, &out);
	while ((pkt = ibfab_pkt_pop(&out)))
		ibfab_wire_send(pkt->port, pkt);
}

static void send(struct ibfab_port *port, struct ibfab_pkt *pkt)
{
	u16 dlid = be16_to_cpu(ibfab_pkt_lrh(pkt)->dlid);

	if (port->node->type == IBFAB_NODE_SWITCH) {
		send_from_switch(node_to_switch(port->node), pkt);
	} else if (ibfab_port_has_lid(port, dlid)) {
		pkt->loopback = true;
		ibfab_engine_receive(port, pkt, NULL);
	} else {
		ibfab_wire_send(port, pkt);
	}
}

static void traps_timer(struct timer_list *timer)
{
	struct ibfab_traps *traps = timer_container_of(traps, timer, timer);
	struct ibfab_pkt *pkt;

	rcu_read_lock();
	pkt = take_next(traps);
	if (pkt)
		send(traps->port, pkt);
	rcu_read_unlock();
}

/**
 * ibfab_traps_create() - Allocate the traps of a port.
 * @port: a port that has a LID of its own
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ibfab_traps_create(struct ibfab_port *port)
{
	struct ibfab_traps *traps = kzalloc(sizeof(*traps), GFP_KERNEL);

	if (!traps)
		return -ENOMEM;
	traps->port = port;
	traps->not_before = jiffies;
	timer_setup(&traps->timer, traps_timer, 0);
	port->traps = traps;
	return 0;
}

/**
 * ibfab_traps_stop() - Stop the traps of a node.
 * @node: the node, which is going away. On return, none of its traps is on its way.
 *
 * Context: process.
 */
void ibfab_traps_stop(struct ibfab_node *node)
{
	struct ibfab_traps *traps;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i <= node->num_ports; i++) {
		traps = node->ports[i].traps;
		if (!traps)
			continue;
		spin_lock_irqsave(&ibfab.mgmt_lock, flags);
		traps->stopped = true;
		spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
		timer_delete_sync(&traps->timer);
	}
}

/**
 * ibfab_traps_destroy() - Free a port's traps.
 * @port: the port of a node after ibfab_traps_stop(), or one that was never in use
 *
 * Context: process.
 */
void ibfab_traps_destroy(struct ibfab_port *port)
{
	kfree(port->traps);
	port->traps = NULL;
}

/**
 * ibfab_traps_show() - Print the trap counters of a port.
 * @m: the file, which gets lines like "port1.trap128.sent 3"
 * @port: the port
 *
 * Context: process.
 */
void ibfab_traps_show(struct seq_file *m, const struct ibfab_port *port)
{
	const struct ibfab_traps *traps = port->traps;
	const struct trap *trap;
	char prefix[24];
	unsigned int i;

	if (!traps)
		return;
	spin_lock_irq(&ibfab.mgmt_lock);
	for (i = 0; i < IBFAB_TRAP_NUM; i++) {
		trap = &traps->trap[i];
		snprintf(prefix, sizeof(prefix), "port%u.trap%u", port->num, kinds[i].num);
		seq_printf(m, "%s.raised %llu\n", prefix, trap->raised);
		seq_printf(m, "%s.no_sm %llu\n", prefix, trap->no_sm);
		seq_printf(m, "%s.replaced %llu\n", prefix, trap->replaced);
		seq_printf(m, "%s.sent %llu\n", prefix, trap->sent);
		seq_printf(m, "%s.repressed %llu\n", prefix, trap->repressed);
	}
	seq_printf(m, "port%u.trap.stray_represses %llu\n", port->num,
		   traps->stray);
	spin_unlock_irq(&ibfab.mgmt_lock);
}
