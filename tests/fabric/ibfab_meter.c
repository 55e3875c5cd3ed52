// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A meter of the work of the virtual HCAs. A real HCA does this work itself, whereas a virtual one
 * does it on the CPUs of the host. A benchmark that counts CPU cycles can subtract those that the
 * meter has counted: those of the engines, without the completion handlers that they call, and
 * those of the verbs that the data path uses. An interrupt during that time is counted, too.
 */
#include <linux/debugfs.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "ibfab.h"
#include "ibfab_meter.h"

static bool meter;
module_param(meter, bool, 0444);
MODULE_PARM_DESC(meter, "count the CPU cycles of the HCAs' work, for benchmarks (default: no)");

DEFINE_STATIC_KEY_FALSE(ibfab_metered);

/* The cycles that each CPU has spent */
static DEFINE_PER_CPU(u64, spent);

/**
 * ibfab_meter_add() - Count cycles of this CPU.
 * @cycles: how many; a negative number, as an unsigned one, if they have been counted elsewhere
 *
 * Context: interrupts or BHs disabled.
 */
void ibfab_meter_add(cycles_t cycles)
{
	this_cpu_add(spent, cycles);
}

/* Defines the replacement of a verb, which is called with interrupts or BHs disabled: its
 * parameters, and the call of the real verb
 */
#define METER_VERB(verb, params, call)			\
static int metered_##verb params			\
{							\
	cycles_t begin = ibfab_meter_now();		\
	int ret = call;					\
							\
	ibfab_meter_count(begin);			\
	return ret;					\
}

METER_VERB(poll_cq, (struct ib_cq *cq, int num, struct ib_wc *wc), ibfab_poll_cq(cq, num, wc))
METER_VERB(req_notify_cq, (struct ib_cq *cq, enum ib_cq_notify_flags flags),
	   ibfab_req_notify_cq(cq, flags))
METER_VERB(post_send,
	   (struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad_wr),
	   ibfab_post_send(qp, wr, bad_wr))
METER_VERB(post_recv,
	   (struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad_wr),
	   ibfab_post_recv(qp, wr, bad_wr))
METER_VERB(post_srq_recv,
	   (struct ib_srq *srq, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad_wr),
	   ibfab_post_srq_recv(srq, wr, bad_wr))

static const struct ib_device_ops metered_ops = {
	.poll_cq = metered_poll_cq,
	.req_notify_cq = metered_req_notify_cq,
	.post_send = metered_post_send,
	.post_recv = metered_post_recv,
	.post_srq_recv = metered_post_srq_recv,
};

/**
 * ibfab_meter_init() - Turn the meter on if the module's parameter says so.
 *
 * Context: process.
 */
void ibfab_meter_init(void)
{
	if (meter)
		static_branch_enable(&ibfab_metered);
}

/**
 * ibfab_meter_add_verbs() - Have the meter count an HCA's verbs, if it is on.
 * @ibdev: the HCA, whose table of verbs is not complete yet: the first setting of a verb counts
 *
 * Context: process.
 */
void ibfab_meter_add_verbs(struct ib_device *ibdev)
{
	if (static_key_enabled(&ibfab_metered))
		ib_set_device_ops(ibdev, &metered_ops);
}

static int meter_show(struct seq_file *m, void *v)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&spent, cpu));
	seq_printf(m, "%llu\n", sum);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(meter);

/**
 * ibfab_meter_add_file() - Create the file with the number of cycles, if the meter is on.
 * @root: the fabric's folder
 *
 * Context: process.
 */
void ibfab_meter_add_file(struct dentry *root)
{
	if (static_key_enabled(&ibfab_metered))
		debugfs_create_file("meter", 0444, root, NULL, &meter_fops);
}
