// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Static rates (9.11): counters of the rates with which packets left a port and, if a module
 * parameter asks for it, QPs that keep to their rates. These links have no speed of their own and
 * are slower than any real rate. To have a visible effect, rates are therefore divided by the value
 * of the parameter.
 */
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>

#include "ibfab.h"

static uint pace;
module_param(pace, uint, 0644);
MODULE_PARM_DESC(pace, "QPs keep to their addresses' static rates, as if these were so many times slower; 0: they do not (default)");

static enum hrtimer_restart may_send(struct hrtimer *timer)
{
	struct ibfab_qp *qp = container_of(timer, struct ibfab_qp, pace.timer);

	ibfab_engine_kick_qp(qp);
	return HRTIMER_NORESTART;
}

/**
 * ibfab_pace_init() - Initialize the pacing of a QP.
 * @qp: the QP, which is new
 *
 * Context: process.
 */
void ibfab_pace_init(struct ibfab_qp *qp)
{
	hrtimer_setup(&qp->pace.timer, may_send, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/**
 * ibfab_pace_stop() - Stop the pacing of a QP.
 * @qp: the QP
 *
 * Context: process; the engine is disabled.
 */
void ibfab_pace_stop(struct ibfab_qp *qp)
{
	hrtimer_cancel(&qp->pace.timer);
	qp->pace.next = 0;
}

/**
 * ibfab_paced() - Whether a QP must wait before it sends again.
 * @qp: the QP. If it must wait, the engine is kicked when the time is over.
 *
 * Context: the engine.
 * Return: true if it must wait.
 */
bool ibfab_paced(struct ibfab_qp *qp)
{
	if (!qp->pace.next || ktime_get() >= qp->pace.next)
		return false;
	hrtimer_start(&qp->pace.timer, qp->pace.next, HRTIMER_MODE_ABS_SOFT);
	return true;
}

/* The port's own rate and unknown rates cause no wait */
static void keep_pace(struct ibfab_qp *qp, u8 rate, unsigned int bytes, unsigned int times)
{
	u64 bits = (u64)bytes * BITS_PER_BYTE * times;
	int mbps = ib_rate_to_mbps(rate);

	if (mbps > 0)
		qp->pace.next = max(qp->pace.next, ktime_get()) +
				div_u64(bits * NSEC_PER_USEC, mbps);
}

/**
 * ibfab_rate_count() - Count a packet by its static rate, and pace its QP.
 * @qp: the QP
 * @port: the port by which the packet leaves
 * @av: the address vector of its destination
 * @bytes: its length
 *
 * Context: the engine.
 */
void ibfab_rate_count(struct ibfab_qp *qp, struct ibfab_port *port,
		      const struct rdma_ah_attr *av, unsigned int bytes)
{
	u8 rate = av->static_rate % IBFAB_RATES;
	unsigned int times = READ_ONCE(pace);

	atomic64_inc(&port->rate[rate]);
	if (unlikely(times))
		keep_pace(qp, rate, bytes, times);
}

/**
 * ibfab_rate_show() - Print how many packets left a port at each rate.
 * @m: the file
 * @port: the port
 *
 * Context: process.
 */
void ibfab_rate_show(struct seq_file *m, const struct ibfab_port *port)
{
	s64 count, unknown = 0;
	unsigned int rate;
	int mbps;

	if (port->node->type != IBFAB_NODE_CA)
		return;
	seq_printf(m, "port%u.static_rate.none %lld\n", port->num,
		   atomic64_read(&port->rate[IB_RATE_PORT_CURRENT]));
	for (rate = IB_RATE_PORT_CURRENT + 1; rate < IBFAB_RATES; rate++) {
		count = atomic64_read(&port->rate[rate]);
		mbps = ib_rate_to_mbps(rate);
		if (mbps > 0)
			seq_printf(m, "port%u.static_rate.%d %lld\n", port->num, mbps, count);
		else
			unknown += count;
	}
	seq_printf(m, "port%u.static_rate.unknown %lld\n", port->num, unknown);
}
