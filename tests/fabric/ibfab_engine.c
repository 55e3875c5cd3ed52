// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine of an HCA is one tasklet. It delivers received packets, sends what was posted, flushes
 * QPs in error, and then calls the completion handlers of the CQs that it filled and reports
 * events.
 *
 * No packet is lost because a receiver has no buffer. If the input queue of the receiver is full,
 * the sending engine stops (ibfab_flow.c), and the receiver's engine wakes it. Delivering packets
 * never waits for sending, so there is no deadlock.
 */
#include <linux/rcupdate.h>

#include "ibfab_flow.h"
#include "ibfab_meter.h"

#define IBFAB_RX_BUDGET	64	/* packets that one run delivers */
#define IBFAB_TX_BUDGET	64	/* WRs that one run sends */
#define IBFAB_TX_BURST	16	/* WRs that one QP sends at its turn */

/**
 * ibfab_engine_kick() - Schedule an HCA's engine.
 * @hca: the HCA
 *
 * Context: any.
 */
void ibfab_engine_kick(struct ibfab_hca *hca)
{
	tasklet_schedule(&hca->engine);
}

static void queue_qp(struct ibfab_qp *qp)
{
	struct ibfab_hca *hca = qp->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->tx_lock, flags);
	if (list_empty(&qp->tx_node))
		list_add_tail(&qp->tx_node, &hca->tx_qps);
	spin_unlock_irqrestore(&hca->tx_lock, flags);
}

/**
 * ibfab_engine_kick_qp() - Have the engine serve a QP.
 * @qp: a QP that has something posted or is in a new state
 *
 * Context: any.
 */
void ibfab_engine_kick_qp(struct ibfab_qp *qp)
{
	queue_qp(qp);
	ibfab_engine_kick(qp->hca);
}

/**
 * ibfab_engine_forget_qp() - Remove a QP from the engine's list.
 * @qp: a QP in RESET
 *
 * Context: the engine is disabled.
 */
void ibfab_engine_forget_qp(struct ibfab_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->hca->tx_lock, flags);
	list_del_init(&qp->tx_node);
	spin_unlock_irqrestore(&qp->hca->tx_lock, flags);
}

/**
 * ibfab_engine_receive() - Put a packet into an HCA's input queue.
 * @in: the port at which it came in
 * @pkt: the packet, which is consumed
 * @out: not used, as an HCA forwards nothing
 *
 * Context: softirq, under rcu_read_lock().
 */
void ibfab_engine_receive(struct ibfab_port *in, struct ibfab_pkt *pkt,
			  struct list_head *out)
{
	struct ibfab_hca *hca = node_to_hca(in->node);

	if (!ibfab_inbox_put(&hca->inbox, pkt)) {
		ibfab_count(in, IBFAB_CNT_VL15_DROPPED);
		ibfab_pkt_drop(pkt, in, IBFAB_DROP_RX_VL15_FULL);
		return;
	}
	ibfab_engine_kick(hca);
}

/* Returns whether there are more packets to deliver */
static bool run_receive(struct ibfab_hca *hca)
{
	struct ibfab_pkt *pkt;
	unsigned int n = 0;

	ibfab_inbox_take(&hca->inbox, &hca->rx_run);
	while (n < IBFAB_RX_BUDGET && (pkt = ibfab_pkt_pop(&hca->rx_run))) {
		ibfab_net_receive(hca, pkt);
		n++;
	}
	if (!n)
		return false;
	ibfab_inbox_done(&hca->inbox, n);
	return !list_empty(&hca->rx_run);
}

static enum ib_wc_opcode send_wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_LSO:
		return IB_WC_LSO;
	default:
		return IB_WC_SEND;
	}
}

/**
 * ibfab_complete_send() - Complete the oldest send WR of a QP.
 * @qp: the QP
 * @wr: the WR, which is not valid afterwards
 * @status: its status; a success is reported only if a completion was requested
 *
 * The slot is released before the completion is visible, because the consumer may post the next WR
 * as soon as it sees the completion.
 *
 * Context: the engine.
 */
void ibfab_complete_send(struct ibfab_qp *qp, const struct ibfab_swr *wr,
			 enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_id = wr->wr_id,
		.status = status,
		.opcode = send_wc_opcode(wr->opcode),
		.qp = &qp->ibqp,
		.port_num = qp->port_num,
	};
	bool report = status != IB_WC_SUCCESS || qp->sig_all ||
		      (wr->flags & IB_SEND_SIGNALED);

	ibfab_queue_pop(&qp->sq);
	if (report)
		ibfab_cq_push(to_cq(qp->ibqp.send_cq), &wc, false);
}

static void flush_sends(struct ibfab_qp *qp)
{
	struct ibfab_swr *wr;

	while ((wr = ibfab_queue_peek(&qp->sq)))
		ibfab_complete_send(qp, wr, IB_WC_WR_FLUSH_ERR);
}

/**
 * ibfab_flush_recv() - Flush a receive WR.
 * @qp: the QP
 * @wr_id: the WR, which was removed from its queue before
 *
 * Context: the engine.
 */
void ibfab_flush_recv(struct ibfab_qp *qp, u64 wr_id)
{
	struct ib_wc wc = {
		.wr_id = wr_id,
		.status = IB_WC_WR_FLUSH_ERR,
		.opcode = IB_WC_RECV,
		.qp = &qp->ibqp,
		.port_num = qp->port_num,
	};

	ibfab_cq_push(to_cq(qp->ibqp.recv_cq), &wc, false);
}

static void flush_receives(struct ibfab_qp *qp)
{
	struct ibfab_rwr *wr;
	u64 wr_id;

	while ((wr = ibfab_queue_peek(&qp->rq))) {
		wr_id = wr->wr_id;
		ibfab_queue_pop(&qp->rq);
		ibfab_flush_recv(qp, wr_id);
	}
}

/**
 * ibfab_engine_blocked() - Whether full input queues keep a QP from sending.
 * @qp: the QP; QP0 is never blocked, as SMPs need no credits
 *
 * Context: the engine.
 * Return: true if the QP must wait.
 */
bool ibfab_engine_blocked(const struct ibfab_qp *qp)
{
	return qp->ibqp.qp_type != IB_QPT_SMI &&
	       atomic_read(&qp->hca->sender.blockers);
}

/* Sends up to IBFAB_TX_BURST WRs. Returns how many were sent, and sets *@more to whether the send
 * queue has more.
 */
static unsigned int send_burst(struct ibfab_qp *qp, bool *more)
{
	enum ib_wc_status status;
	struct ibfab_swr *wr;
	unsigned int n;

	*more = false;
	for (n = 0; n < IBFAB_TX_BURST; n++) {
		wr = ibfab_queue_peek(&qp->sq);
		if (!wr)
			return n;
		if (ibfab_engine_blocked(qp)) {
			ibfab_count(ibfab_qp_port(qp), IBFAB_CNT_XMIT_WAIT);
			*more = true;
			return n;
		}
		status = ibfab_ud_send(qp, wr);
		ibfab_complete_send(qp, wr, status);
		if (status != IB_WC_SUCCESS) {
			/* 10.3.1.6: a send that fails takes a UD QP to SQE */
			ibfab_qp_fail(qp, IB_QPS_SQE);
			return n + 1;
		}
	}
	*more = ibfab_queue_peek(&qp->sq);
	return n;
}

static void flush_qp(struct ibfab_qp *qp)
{
	if (qp->rc)
		ibfab_rc_flush(qp);
	flush_receives(qp);
	flush_sends(qp);
	if (qp->rc)
		ibfab_rc_flushed(qp);
}

/* Does for a QP what its state requires. Returns whether the QP needs another turn. */
static bool service_qp(struct ibfab_qp *qp, unsigned int *sent)
{
	bool more = false;

	switch (ibfab_qp_state(qp)) {
	case IB_QPS_ERR:
		flush_qp(qp);
		break;
	case IB_QPS_SQE:
		flush_sends(qp);
		break;
	case IB_QPS_RTS:
		if (ibfab_paced(qp))
			return false;
		if (qp->rc)
			return ibfab_rc_send(qp, sent);
		*sent += send_burst(qp, &more);
		break;
	case IB_QPS_SQD:
		if (qp->rc)
			return ibfab_rc_send(qp, sent);
		break;
	default:
		break;
	}
	return more;
}

static struct ibfab_qp *next_qp(struct ibfab_hca *hca)
{
	struct ibfab_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&hca->tx_lock, flags);
	qp = list_first_entry_or_null(&hca->tx_qps, struct ibfab_qp, tx_node);
	if (qp)
		list_del_init(&qp->tx_node);
	spin_unlock_irqrestore(&hca->tx_lock, flags);
	return qp;
}

/* Returns whether there is more to send and no full input queue stops the engine */
static bool run_send(struct ibfab_hca *hca)
{
	unsigned int sent = 0;
	struct ibfab_qp *qp;

	while (sent < IBFAB_TX_BUDGET) {
		qp = next_qp(hca);
		if (!qp)
			return false;
		if (!service_qp(qp, &sent))
			continue;
		queue_qp(qp);
		if (atomic_read(&hca->sender.blockers))
			return false;
	}
	return true;
}

static void run_notify(struct ibfab_hca *hca)
{
	struct ibfab_cq *cq;

	while ((cq = list_first_entry_or_null(&hca->notify, struct ibfab_cq, notify))) {
		list_del_init(&cq->notify);
		ibfab_cq_notify(cq);
	}
}

/* Checked here because events are rare, and a call for each run of the engine costs time */
static bool has_events(const struct ibfab_hca *hca)
{
	unsigned int i;

	for (i = 1; i <= hca->node.num_ports; i++)
		if (READ_ONCE(hca->node.ports[i].events))
			return true;
	return !list_empty(&hca->event_qps) || !list_empty(&hca->event_srqs);
}

static void engine_run(struct tasklet_struct *tasklet)
{
	struct ibfab_hca *hca = from_tasklet(hca, tasklet, engine);
	cycles_t begin = ibfab_meter_now();
	bool again;

	rcu_read_lock();
	again = run_receive(hca);
	if (!list_empty(&hca->rc_acks))
		ibfab_rc_acknowledge(hca);
	again |= run_send(hca);
	if (ibfab_fault_any())
		ibfab_late_show(hca);
	if (!list_empty(&hca->moderated))
		ibfab_moderate_run(hca);
	run_notify(hca);
	if (has_events(hca))
		ibfab_event_run(hca);
	rcu_read_unlock();
	if (again)
		ibfab_engine_kick(hca);
	ibfab_meter_count(begin);
}

/**
 * ibfab_engine_init() - Set up an HCA's engine.
 * @hca: the HCA, zeroed except for its index
 *
 * Context: process.
 */
void ibfab_engine_init(struct ibfab_hca *hca)
{
	tasklet_setup(&hca->engine, engine_run);
	ibfab_sender_init(&hca->sender, hca->index, &hca->engine);
	ibfab_inbox_init(&hca->inbox);
	INIT_LIST_HEAD(&hca->rx_run);
	spin_lock_init(&hca->tx_lock);
	INIT_LIST_HEAD(&hca->tx_qps);
	INIT_LIST_HEAD(&hca->notify);
	INIT_LIST_HEAD(&hca->moderated);
	INIT_LIST_HEAD(&hca->rc_acks);
	INIT_LIST_HEAD(&hca->event_qps);
	INIT_LIST_HEAD(&hca->event_srqs);
}

static void drop_queue(struct list_head *queue)
{
	struct ibfab_pkt *pkt;

	while ((pkt = ibfab_pkt_pop(queue)))
		ibfab_pkt_drop(pkt, pkt->port, IBFAB_DROP_RX_UNPLUGGED);
}

/**
 * ibfab_engine_stop() - Stop an HCA's engine for good.
 * @hca: has no QPs, CQs or cable, and is not in &ibfab_fabric.hca any more
 *
 * Context: process.
 */
void ibfab_engine_stop(struct ibfab_hca *hca)
{
	tasklet_kill(&hca->engine);
	ibfab_inbox_take(&hca->inbox, &hca->rx_run);
	drop_queue(&hca->rx_run);
	ibfab_inbox_wake(&hca->inbox);
	ibfab_sender_forget(&hca->sender);
}
