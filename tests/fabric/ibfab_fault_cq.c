// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Faults of completions: the completions of an HCA are delayed, or a CQ overruns. A delayed
 * completion is in its CQ but not visible. All completions that a CQ hides become visible together
 * when the first of them is due, so they stay in order.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "ibfab.h"
#include "ibtool.h"

#define MAX_LATE_MS 60000

static void late_timer(struct timer_list *timer)
{
	struct ibfab_hca *hca = timer_container_of(hca, timer, faults.late_timer);

	ibfab_engine_kick(hca);
}

/**
 * ibfab_late_init() - Prepare an HCA for delayed completions.
 * @hca: the HCA
 *
 * Context: process.
 */
void ibfab_late_init(struct ibfab_hca *hca)
{
	INIT_LIST_HEAD(&hca->faults.late);
	timer_setup(&hca->faults.late_timer, late_timer, 0);
}

/**
 * ibfab_late_hide() - Hide a completion that was just added, if completions are delayed.
 * @cq: its queue
 * @urgent: whether it is an error, or solicited
 *
 * Context: the engine, the queue's lock held.
 * Return: true if it is not visible yet.
 */
bool ibfab_late_hide(struct ibfab_cq *cq, bool urgent)
{
	struct ibfab_hca_faults *faults = &cq->hca->faults;
	u32 ms = READ_ONCE(faults->late_ms);

	if (!ms && !cq->hidden)
		return false;
	if (!cq->hidden++) {
		cq->due = jiffies + msecs_to_jiffies(ms);
		list_add_tail(&cq->late, &faults->late);
		mod_timer(&faults->late_timer, cq->due);
	}
	cq->hidden_urgent |= urgent;
	atomic64_inc(&faults->late_count);
	return true;
}

static void show(struct ibfab_cq *cq)
{
	unsigned long flags;

	list_del_init(&cq->late);
	spin_lock_irqsave(&cq->lock, flags);
	if (cq->hidden)
		ibfab_cq_completed(cq, cq->hidden_urgent);
	cq->hidden = 0;
	cq->hidden_urgent = false;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * ibfab_late_show() - Make the delayed completions visible that are due.
 * @hca: the HCA
 *
 * Context: the engine.
 */
void ibfab_late_show(struct ibfab_hca *hca)
{
	struct ibfab_hca_faults *faults = &hca->faults;
	bool all = !READ_ONCE(faults->late_ms);
	struct ibfab_cq *cq, *tmp;

	list_for_each_entry_safe(cq, tmp, &faults->late, late) {
		if (all || time_after_eq(jiffies, cq->due))
			show(cq);
		else
			timer_reduce(&faults->late_timer, cq->due);
	}
}

/* Serializes changes of the delay */
static DEFINE_MUTEX(late_mutex);

static void set_late(struct ibfab_hca *hca, u32 ms)
{
	struct ibfab_hca_faults *faults = &hca->faults;
	u32 old;

	mutex_lock(&late_mutex);
	old = faults->late_ms;
	if (ms && !old)
		atomic_inc(&ibfab_fault_users);
	WRITE_ONCE(faults->late_ms, ms);
	if (old && !ms) {
		tasklet_disable(&hca->engine);
		ibfab_late_show(hca);
		tasklet_enable(&hca->engine);
		ibfab_engine_kick(hca);
		atomic_dec(&ibfab_fault_users);
	}
	mutex_unlock(&late_mutex);
}

/**
 * ibfab_late_stop() - Stop delaying the completions of an HCA.
 * @hca: the HCA
 *
 * Context: process.
 */
void ibfab_late_stop(struct ibfab_hca *hca)
{
	set_late(hca, 0);
	timer_delete_sync(&hca->faults.late_timer);
}

static void overrun_send(struct ibfab_qp *qp)
{
	ibfab_cq_set_full(to_cq(qp->ibqp.send_cq));
	atomic64_inc(&qp->hca->faults.overrun_count);
}

static void overrun_recv(struct ibfab_qp *qp)
{
	ibfab_cq_set_full(to_cq(qp->ibqp.recv_cq));
	atomic64_inc(&qp->hca->faults.overrun_count);
}

/* The QP's WRs are flushed, but no event tells the consumer why */
static void silent_error(struct ibfab_qp *qp)
{
	ibfab_qp_fail(qp, IB_QPS_ERR);
	atomic64_inc(&qp->hca->faults.error_count);
}

/* Applies a fault to a QP, which cannot be destroyed while the table of QPs is locked */
static int of_qp(struct ibfab_hca *hca, u32 qpn, void (*fault)(struct ibfab_qp *qp))
{
	struct ibfab_qp *qp;

	xa_lock(&hca->qps);
	qp = xa_load(&hca->qps, qpn);
	if (qp)
		fault(qp);
	xa_unlock(&hca->qps);
	return qp ? 0 : -ENOENT;
}

/* "late 20" delays completions by 20 ms, "late 0" not any more; "overrun QPN send|recv" makes one
 * of the QP's CQs overrun; "error QPN" takes the QP to ERR
 */
static int completions_line(void *of, char *line)
{
	struct ibfab_hca *hca = of;
	char which[5];
	u32 value;

	if (sscanf(line, "late %u", &value) == 1) {
		if (value > MAX_LATE_MS)
			return -EINVAL;
		set_late(hca, value);
		return 0;
	}
	if (sscanf(line, "error %i", &value) == 1)
		return of_qp(hca, value, silent_error);
	if (sscanf(line, "overrun %i %4s", &value, which) != 2)
		return -EINVAL;
	if (!strcmp(which, "send"))
		return of_qp(hca, value, overrun_send);
	return strcmp(which, "recv") ? -EINVAL : of_qp(hca, value, overrun_recv);
}

static int completions_show(struct seq_file *m, void *v)
{
	const struct ibfab_hca *hca = m->private;
	const struct ibfab_hca_faults *faults = &hca->faults;

	seq_printf(m, "late_ms %u\nlate %lld\noverrun %lld\nerror %lld\n", faults->late_ms,
		   atomic64_read(&faults->late_count),
		   atomic64_read(&faults->overrun_count),
		   atomic64_read(&faults->error_count));
	return 0;
}

DEFINE_IBTOOL_SHOW_LINES(completions);

/**
 * ibfab_fault_add_cqs() - Create the file for the completion faults of an HCA.
 * @hca: the HCA
 * @dir: its debugfs folder
 *
 * Context: process.
 */
void ibfab_fault_add_cqs(struct ibfab_hca *hca, struct dentry *dir)
{
	debugfs_create_file("completions", 0600, dir, hca, &completions_fops);
}
