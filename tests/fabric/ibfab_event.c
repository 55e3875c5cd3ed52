// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Asynchronous events (11.6.3) of ports, QPs and shared receive queues. An event is noted where it
 * happens. The engine reports it at the end of its run, without any lock held and after it has
 * called the CQs' handlers.
 */
#include "ibfab.h"

/* Errors and changes are reported before PORT_ACTIVE, so that a consumer which queries the port at
 * each event sees the final attributes at the last one
 */
static void dispatch_port(struct ibfab_port *port, unsigned long events)
{
	static const enum ib_event_type order[] = {
		IB_EVENT_PORT_ERR, IB_EVENT_LID_CHANGE, IB_EVENT_PKEY_CHANGE,
		IB_EVENT_GID_CHANGE, IB_EVENT_SM_CHANGE, IB_EVENT_PORT_ACTIVE,
		IB_EVENT_CLIENT_REREGISTER,
	};
	struct ib_event event = {
		.device = &node_to_hca(port->node)->ibdev,
		.element.port_num = port->num,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		if (!(events & BIT(order[i])))
			continue;
		event.event = order[i];
		ib_dispatch_event(&event);
	}
}

static void run_ports(struct ibfab_hca *hca)
{
	unsigned long flags, events;
	struct ibfab_port *port;
	unsigned int i;

	for (i = 1; i <= hca->node.num_ports; i++) {
		port = &hca->node.ports[i];
		if (!READ_ONCE(port->events))
			continue;
		spin_lock_irqsave(&ibfab.mgmt_lock, flags);
		events = port->events;
		port->events = 0;
		spin_unlock_irqrestore(&ibfab.mgmt_lock, flags);
		dispatch_port(port, events);
	}
}

/* The events are reported in the order of their values, so IB_EVENT_QP_LAST_WQE_REACHED comes after
 * an error of the QP
 */
static void dispatch_qp(struct ibfab_qp *qp)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
	};
	unsigned long events = qp->events;
	unsigned int type;

	qp->events = 0;
	if (!qp->ibqp.event_handler)
		return;
	for_each_set_bit(type, &events, BITS_PER_LONG) {
		event.event = type;
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	}
}

static void run_qps(struct ibfab_hca *hca)
{
	struct ibfab_qp *qp;

	while ((qp = list_first_entry_or_null(&hca->event_qps, struct ibfab_qp, event_node))) {
		list_del_init(&qp->event_node);
		dispatch_qp(qp);
	}
}

static void run_srqs(struct ibfab_hca *hca)
{
	struct ib_event event = {
		.device = &hca->ibdev,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};
	struct ibfab_srq *srq;

	while ((srq = list_first_entry_or_null(&hca->event_srqs, struct ibfab_srq, event_node))) {
		list_del_init(&srq->event_node);
		event.element.srq = &srq->ibsrq;
		if (srq->ibsrq.event_handler)
			srq->ibsrq.event_handler(&event,
						 srq->ibsrq.srq_context);
	}
}

/**
 * ibfab_event_qp() - Note an event of a QP.
 * @qp: the QP
 * @type: the event
 *
 * Context: the engine.
 */
void ibfab_event_qp(struct ibfab_qp *qp, enum ib_event_type type)
{
	qp->events |= BIT(type);
	if (list_empty(&qp->event_node))
		list_add_tail(&qp->event_node, &qp->hca->event_qps);
}

/**
 * ibfab_event_srq() - Note that a shared receive queue's limit was reached.
 * @srq: the queue
 *
 * Context: the engine.
 */
void ibfab_event_srq(struct ibfab_srq *srq)
{
	if (list_empty(&srq->event_node))
		list_add_tail(&srq->event_node, &srq->hca->event_srqs);
}

/**
 * ibfab_event_run() - Report the events that were noted.
 * @hca: the HCA
 *
 * Context: the engine, no lock held.
 */
void ibfab_event_run(struct ibfab_hca *hca)
{
	unsigned long flags;

	run_ports(hca);
	/* Interrupts are off, as they are in the interrupt handler of real hardware */
	local_irq_save(flags);
	run_qps(hca);
	run_srqs(hca);
	local_irq_restore(flags);
}
