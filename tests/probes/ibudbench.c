// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibudbench: measures the cost of a datagram without any protocol. A UD QP of one HCA sends to a UD
 * QP of another, with receives posted in advance, as fast as one CPU can. WRs are posted with
 * bottom halves disabled and several at a time, as a network device does. By two files in
 * /sys/kernel/debug/ibudbench/:
 *
 *  run     a line runs a measurement; the write returns when it is over, and fails with
 *          EBADMSG if a WR failed or a packet was spoilt:
 *          from=ibfab0 to=ibfab1 [size=64] [count=10000] [chain=1]
 *          [signal=1] [depth=256]
 *          size is the length of the payload, chain how many WRs are posted at once, depth
 *          the size of the queues. One WR in signal is signaled.
 *  result  the result of the last measurement. Under QEMU's -icount shift=0 a cycle is an
 *          instruction.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#include "ibdevice.h"
#include "ibprobe.h"

#define IBUDBENCH_PORT		1
#define IBUDBENCH_QKEY		0x1bfbe
#define IBUDBENCH_MAX_SIZE	4096
#define IBUDBENCH_MAX_COUNT	100000000
#define IBUDBENCH_MAX_DEPTH	512
#define IBUDBENCH_POISON	0xa5
#define IBUDBENCH_BATCH		32		/* how many completions are polled at once */
#define IBUDBENCH_STALLED	(2 * HZ)	/* give up when no packet came for so long */

struct ibudbench_params {
	char from[IB_DEVICE_NAME_MAX];
	char to[IB_DEVICE_NAME_MAX];
	u32 size;
	u32 count;
	u32 chain;
	u32 signal;
	u32 depth;
};

struct ibudbench_result {
	struct ibudbench_params params;
	u64 sent;
	u64 received;
	u64 failed;	/* number of completions with an error */
	u64 spoilt;	/* wrong lengths, and buffers with wrong contents at the end */
	u64 ns;
	u64 cycles;
};

/**
 * struct ibudbench_end - The sending or the receiving end
 * @base: the HCA, and the PD and the CQ that the QP uses
 * @qp: the QP
 * @buf: as many receive buffers as the queue is deep, or one send buffer
 * @stride: size of each buffer in bytes
 */
struct ibudbench_end {
	struct ibprobe_end base;
	struct ib_qp *qp;
	struct ibprobe_buf buf;
	size_t stride;
};

/**
 * struct ibudbench - A measurement
 * @params: the words of the line
 * @result: the result
 * @tx: the sending end
 * @rx: the receiving end
 * @ah: the AH from @tx to @rx
 * @goal: number of packets to send until the buffers are filled with poison, or until the end
 * @send_sge: the only SGE of sends
 * @send_wr: a list of send WRs, which is posted again and again
 * @recv_sge: an SGE for each receive buffer
 * @recv_wr: a WR for each receive buffer, linked anew before each post
 * @completed: number of sends that are known to have completed
 * @wc: room for completions
 */
struct ibudbench {
	struct ibudbench_params params;
	struct ibudbench_result result;
	struct ibudbench_end tx;
	struct ibudbench_end rx;
	struct ib_ah *ah;
	u64 goal;
	struct ib_sge send_sge;
	struct ib_ud_wr *send_wr;
	struct ib_sge *recv_sge;
	struct ib_recv_wr *recv_wr;
	u64 completed;
	struct ib_wc wc[IBUDBENCH_BATCH];
};

static DEFINE_MUTEX(lock);	/* serializes measurements, and protects last */
static struct ibudbench_result last;
static struct dentry *root;

/* Lines */

#define WORD(member, kind) IBTOOL_WORD(struct ibudbench_params, member, kind)

static const struct ibtool_word words[] = {
	WORD(from, name), WORD(to, name), WORD(size, u32), WORD(count, u32),
	WORD(chain, u32), WORD(signal, u32), WORD(depth, u32),
};

/* The slot of an unsignaled WR is released only when a later, signaled one completes */
static bool params_valid(const struct ibudbench_params *params)
{
	return params->size <= IBUDBENCH_MAX_SIZE &&
	       params->count && params->count <= IBUDBENCH_MAX_COUNT &&
	       params->depth && params->depth <= IBUDBENCH_MAX_DEPTH &&
	       params->chain && params->signal &&
	       params->chain + params->signal <= params->depth;
}

static int parse_line(struct ibudbench_params *params, char *line)
{
	int ret;

	*params = (struct ibudbench_params) {
		.size = 64,
		.count = 10000,
		.chain = 1,
		.signal = 1,
		.depth = 256,
	};
	ret = ibtool_read_line(line, words, ARRAY_SIZE(words), params);
	if (ret)
		return ret;
	return params_valid(params) ? 0 : -EINVAL;
}

/* Ends */

static int end_create(struct ibudbench_end *end, const char *name, u32 buffers,
		      size_t stride, u32 depth)
{
	struct ib_device *ibdev = ibdevice_get(name);
	int ret;

	if (!ibdev)
		return -ENODEV;
	end->stride = stride;
	ret = ibprobe_buf_alloc(&end->buf, ibdev, max_t(size_t, buffers * stride, 1), 0,
				DMA_BIDIRECTIONAL);
	if (ret)
		goto err_put;
	ret = ibprobe_end_open(&end->base, ibdev, depth, IB_POLL_DIRECT);
	if (ret)
		goto err_buf;
	end->qp = ibprobe_ud_open(&end->base, depth, depth, IBUDBENCH_PORT, 0, IBUDBENCH_QKEY);
	ret = PTR_ERR_OR_ZERO(end->qp);
	if (!ret)
		return 0;
	ibprobe_end_close(&end->base);
err_buf:
	ibprobe_buf_free(&end->buf);
err_put:
	ib_device_put(ibdev);
	return ret;
}

static void end_destroy(struct ibudbench_end *end)
{
	ib_destroy_qp(end->qp);
	ibprobe_end_close(&end->base);
	ibprobe_buf_free(&end->buf);
	ib_device_put(end->base.ibdev);
}

/* Sending */

static int prepare_sends(struct ibudbench *bench)
{
	const struct ibudbench_params *params = &bench->params;
	const struct ibprobe_target to = {
		.ah = bench->ah, .qpn = bench->rx.qp->qp_num, .qkey = IBUDBENCH_QKEY,
	};
	u32 i;

	for (i = 0; i < params->size; i++)
		((u8 *)bench->tx.buf.data)[i] = i;
	ibprobe_buf_for_device(&bench->tx.buf);
	bench->send_sge = ibprobe_sge(bench->tx.base.pd, bench->tx.buf.addr, params->size);
	bench->send_wr = kcalloc(params->chain, sizeof(*bench->send_wr), GFP_KERNEL);
	if (!bench->send_wr)
		return -ENOMEM;
	for (i = 0; i < params->chain; i++)
		bench->send_wr[i] = ibprobe_ud_wr(NULL, &bench->send_sge, &to);
	return 0;
}

/* Links all WRs into a chain, which next_chain() may cut */
static void link_sends(struct ibudbench *bench)
{
	u32 i;

	for (i = 1; i < bench->params.chain; i++)
		bench->send_wr[i - 1].wr.next = &bench->send_wr[i].wr;
}

/* Prepares the next WRs to post. The last one before the goal is signaled in any case, so that its
 * completion is seen. There may be fewer WRs than chain says at the end.
 */
static u32 next_chain(struct ibudbench *bench)
{
	const struct ibudbench_params *params = &bench->params;
	u64 at = bench->result.sent;
	u32 i, n = min_t(u64, params->chain, bench->goal - at);
	struct ib_send_wr *wr;

	for (i = 0; i < n; i++) {
		wr = &bench->send_wr[i].wr;
		wr->wr_id = ++at;
		wr->send_flags = at % params->signal && at != bench->goal ? 0 : IB_SEND_SIGNALED;
	}
	bench->send_wr[n - 1].wr.next = NULL;
	return n;
}

static bool has_room(const struct ibudbench *bench)
{
	const struct ibudbench_params *params = &bench->params;
	u64 sent = bench->result.sent;

	return sent < bench->goal &&
	       sent + params->chain <= bench->completed + params->depth &&
	       sent + params->chain <= bench->result.received + params->depth;
}

static int send_chain(struct ibudbench *bench)
{
	u32 n;
	int ret;

	if (!has_room(bench))
		return 0;
	n = next_chain(bench);
	local_bh_disable();
	ret = ib_post_send(bench->tx.qp, &bench->send_wr[0].wr, NULL);
	local_bh_enable();
	if (!ret)
		bench->result.sent += n;
	return ret;
}

static void poll_sends(struct ibudbench *bench)
{
	int i, n = ib_poll_cq(bench->tx.base.cq, IBUDBENCH_BATCH, bench->wc);

	for (i = 0; i < n; i++) {
		if (bench->wc[i].status != IB_WC_SUCCESS)
			bench->result.failed++;
		bench->completed = bench->wc[i].wr_id;
	}
}

/* Receiving */

static int prepare_receives(struct ibudbench *bench)
{
	u32 i, depth = bench->params.depth;

	bench->recv_sge = kcalloc(depth, sizeof(*bench->recv_sge), GFP_KERNEL);
	bench->recv_wr = kcalloc(depth, sizeof(*bench->recv_wr), GFP_KERNEL);
	if (!bench->recv_sge || !bench->recv_wr)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		bench->recv_sge[i] = ibprobe_sge(bench->rx.base.pd,
						 bench->rx.buf.addr + i * bench->rx.stride,
						 bench->rx.stride);
		bench->recv_wr[i] = (struct ib_recv_wr) {
			.next = i + 1 < depth ? &bench->recv_wr[i + 1] : NULL,
			.wr_id = i,
			.sg_list = &bench->recv_sge[i],
			.num_sge = 1,
		};
	}
	return ib_post_recv(bench->rx.qp, bench->recv_wr, NULL);
}

/* Takes the packets that came, and posts their buffers again in one list */
static int poll_receives(struct ibudbench *bench)
{
	int i, n = ib_poll_cq(bench->rx.base.cq, IBUDBENCH_BATCH, bench->wc);
	struct ib_recv_wr *first = NULL, **next = &first;
	const struct ib_wc *wc;

	for (i = 0; i < n; i++) {
		wc = &bench->wc[i];
		if (wc->status != IB_WC_SUCCESS) {
			bench->result.failed++;
			continue;
		}
		bench->result.received++;
		if (wc->byte_len != IB_GRH_BYTES + bench->params.size)
			bench->result.spoilt++;
		*next = &bench->recv_wr[wc->wr_id];
		next = &(*next)->next;
	}
	*next = NULL;
	return first ? ib_post_recv(bench->rx.qp, first, NULL) : 0;
}

/* Checks the packet that each buffer received last */
static void check_contents(struct ibudbench *bench)
{
	u64 used = min_t(u64, bench->result.received, bench->params.depth);
	u64 i;

	ibprobe_buf_for_cpu(&bench->rx.buf);
	for (i = 0; i < used; i++)
		if (memcmp(bench->rx.buf.data + i * bench->rx.stride + IB_GRH_BYTES,
			   bench->tx.buf.data, bench->params.size))
			bench->result.spoilt++;
}

/* Sends and receives until the goal is reached, or until no packet has come for some time */
static int exchange(struct ibudbench *bench)
{
	unsigned long deadline = jiffies + IBUDBENCH_STALLED;
	u64 seen = 0;
	int ret;

	while (bench->result.received < bench->goal || bench->completed < bench->goal) {
		ret = send_chain(bench);
		if (ret)
			return ret;
		poll_sends(bench);
		ret = poll_receives(bench);
		if (ret)
			return ret;
		if (bench->result.received != seen) {
			seen = bench->result.received;
			deadline = jiffies + IBUDBENCH_STALLED;
		} else if (time_after(jiffies, deadline)) {
			return -ETIMEDOUT;
		}
		cond_resched();
	}
	return 0;
}

static int timed_exchange(struct ibudbench *bench, u64 goal)
{
	cycles_t cycles;
	u64 ns;
	int ret;

	link_sends(bench);
	bench->goal = goal;
	ns = ktime_get_ns();
	cycles = get_cycles();
	ret = exchange(bench);
	bench->result.cycles += get_cycles() - cycles;
	bench->result.ns += ktime_get_ns() - ns;
	return ret;
}

/* All packets are the same, so one that is not written to its buffer is noticed only if the buffer
 * had other contents. All buffers are posted, and no packet is under way.
 */
static void poison(struct ibudbench *bench)
{
	ibprobe_buf_for_cpu(&bench->rx.buf);
	memset(bench->rx.buf.data, IBUDBENCH_POISON, bench->rx.buf.size);
	ibprobe_buf_for_device(&bench->rx.buf);
}

/* The last packets, one for each buffer, are those that are checked */
static int measure(struct ibudbench *bench)
{
	const struct ibudbench_params *params = &bench->params;
	int ret;

	ret = prepare_receives(bench) ?:
	      prepare_sends(bench) ?:
	      timed_exchange(bench, params->count - min(params->count, params->depth));
	if (ret)
		return ret;
	poison(bench);
	ret = timed_exchange(bench, params->count);
	check_contents(bench);
	if (ret)
		return ret;
	return bench->result.failed || bench->result.spoilt ? -EBADMSG : 0;
}

static int bench_run(struct ibudbench *bench)
{
	const struct ibudbench_params *params = &bench->params;
	int ret;

	ret = end_create(&bench->tx, params->from, 1, params->size,
			 params->depth);
	if (ret)
		return ret;
	ret = end_create(&bench->rx, params->to, params->depth,
			 ALIGN(IB_GRH_BYTES + params->size, SMP_CACHE_BYTES),
			 params->depth);
	if (ret)
		goto err_tx;
	bench->ah = ibprobe_ah_to(&bench->tx.base, bench->rx.base.ibdev, IBUDBENCH_PORT, 0);
	ret = PTR_ERR_OR_ZERO(bench->ah);
	if (ret)
		goto err_rx;
	ret = measure(bench);
	rdma_destroy_ah(bench->ah, RDMA_DESTROY_AH_SLEEPABLE);
err_rx:
	end_destroy(&bench->rx);
err_tx:
	end_destroy(&bench->tx);
	kfree(bench->recv_wr);
	kfree(bench->recv_sge);
	kfree(bench->send_wr);
	return ret;
}

static int run_line(void *unused, char *line)
{
	struct ibudbench *bench = kzalloc(sizeof(*bench), GFP_KERNEL);
	int ret;

	if (!bench)
		return -ENOMEM;
	ret = parse_line(&bench->params, line);
	if (ret)
		goto out;
	mutex_lock(&lock);
	ret = bench_run(bench);
	last = bench->result;
	last.params = bench->params;
	mutex_unlock(&lock);
out:
	kfree(bench);
	return ret;
}

DEFINE_IBTOOL_LINES(run);

static int result_show(struct seq_file *m, void *v)
{
	mutex_lock(&lock);
	seq_printf(m, "size %u\nchain %u\nsignal %u\n", last.params.size,
		   last.params.chain, last.params.signal);
	seq_printf(m, "sent %llu\nreceived %llu\nfailed %llu\nspoilt %llu\n",
		   last.sent, last.received, last.failed, last.spoilt);
	seq_printf(m, "ns %llu\ncycles %llu\n", last.ns, last.cycles);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int __init ibudbench_init(void)
{
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("run", 0200, root, NULL, &run_fops);
	debugfs_create_file("result", 0400, root, NULL, &result_fops);
	return 0;
}
module_init(ibudbench_init);

static void __exit ibudbench_exit(void)
{
	debugfs_remove(root);
}
module_exit(ibudbench_exit);

MODULE_DESCRIPTION("Bare datagrams between two HCAs, to measure");
MODULE_LICENSE("Dual BSD/GPL");
