// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Static rates (9.11): with which one each packet left a port, and, on request, senders
 * that keep to it. Links here have no speed, and what runs here is slower than any: to be
 * seen, rates are made smaller.
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
 * ibfab_pace_init() - Have a QP send as fast as it can.
 * @qp: new
 *
 * Context: process.
 */
void ibfab_pace_init(struct ibfab_qp *qp)
{
	hrtimer_init(&qp->pace.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->pace.timer.function = may_send;
}

/**
 * ibfab_pace_stop() - Wake the engine no more for a QP.
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
 * ibfab_paced() - Whether a QP's last packets still take their time.
 * @qp: the QP; if so, the engine looks at it again when that is over
 *
 * Context: the engine.
 * Return: true if it must not send yet.
 */
bool ibfab_paced(struct ibfab_qp *qp)
{
	if (!qp->pace.next || ktime_get() >= qp->pace.next)
		return false;
	hrtimer_start(&qp->pace.timer, qp->pace.next, HRTIMER_MODE_ABS_SOFT);
	return true;
}

/* Nobody waits for a rate that is the port's own, or is not known */
static void keep_pace(struct ibfab_qp *qp, u8 rate, unsigned int bytes, unsigned int times)
{
	u64 bits = (u64)bytes * BITS_PER_BYTE * times;
	int mbps = ib_rate_to_mbps(rate);

	if (mbps > 0)
		qp->pace.next = max(qp->pace.next, ktime_get()) +
				div_u64(bits * NSEC_PER_USEC, mbps);
}

/**
 * ibfab_rate_count() - Count a packet that leaves, and take the time that its rate says.
 * @qp: whose it is
 * @port: the port
 * @av: the address that it goes to
 * @bytes: of the packet
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
 * ibfab_rate_show() - Write how many packets left at each rate.
 * @m: where to
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
