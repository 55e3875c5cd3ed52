// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibdma: sends a datagram from a port to itself, with the DMA API used well, or wrong in
 * one way, to see what an HCA makes of that. A line in /sys/kernel/debug/ibdma/do is an
 * HCA and a way, and the static rate's code if the address is to have one:
 *
 *	ibfab0 good rate=3
 *
 *  good           nothing is wrong
 *  changed        what is sent changes after it was mapped
 *  synced         the same, and that is synced
 *  address        the address is one that nobody ever mapped
 *  kernel         the address is the kernel's own
 *  early          what is sent is unmapped before
 *  leak           the receive stays mapped
 *
 * What came of the last one is in /sys/kernel/debug/ibdma/result.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#include "ibprobe.h"

#define IBDMA_QKEY	0x1bfa
#define IBDMA_LENGTH	60
#define IBDMA_BUFFER	(IB_GRH_BYTES + 2 * IBDMA_LENGTH)
#define IBDMA_TRIES	50	/* of 20 ms */

enum ibdma_octet {
	IBDMA_FIRST = 0x11,	/* what is sent, when it is mapped */
	IBDMA_CHANGED = 0x22,	/* what takes its place */
	IBDMA_EMPTY = 0x33,	/* what the receive holds before */
};

static struct dentry *ibdma_dir;

/* Guards the rest: one datagram at a time */
static DEFINE_MUTEX(ibdma_mutex);

/**
 * struct ibdma_way - How the DMA API is used
 * @word: its name
 * @change: write to what is sent after it was mapped
 * @sync: and sync it
 * @wrong_address: one that is not mapped
 * @kernel_address: the kernel's
 * @early: unmap what is sent before it is posted
 * @leak: do not unmap the receive
 */
struct ibdma_way {
	const char *word;
	bool change;
	bool sync;
	bool wrong_address;
	bool kernel_address;
	bool early;
	bool leak;
};

static const struct ibdma_way ibdma_ways[] = {
	{ .word = "good" },
	{ .word = "changed", .change = true },
	{ .word = "synced", .change = true, .sync = true },
	{ .word = "address", .wrong_address = true },
	{ .word = "kernel", .kernel_address = true },
	{ .word = "early", .early = true },
	{ .word = "leak", .leak = true },
};

/**
 * struct ibdma_result - What came of it
 * @send_status: enum ib_wc_status
 * @recv_status: the same; -1 if nothing came
 * @grh: the receive's first octets
 * @unsynced: of the payload's first octet, what the CPU saw at first
 * @synced: what it saw once that was synced
 * @behind: the first octet behind the payload
 */
static struct ibdma_result {
	int send_status;
	int recv_status;
	u8 grh[IB_GRH_BYTES];
	u8 unsynced;
	u8 synced;
	u8 behind;
} ibdma_result;

/**
 * struct ibdma_transfer - What one datagram takes
 * @end: the HCA, and what the QP stands on
 * @way: how
 * @rate: of the address
 * @qp: sends to itself
 * @ah: the port's own
 * @data: what is sent
 * @buffer: what is received
 */
struct ibdma_transfer {
	struct ibprobe_end end;
	const struct ibdma_way *way;
	u8 rate;
	struct ib_qp *qp;
	struct ib_ah *ah;
	struct ibprobe_buf data;
	struct ibprobe_buf buffer;
};

static int ibdma_map(struct ibdma_transfer *t)
{
	struct ib_device *ibdev = t->end.ibdev;
	int ret;

	ret = ibprobe_buf_alloc(&t->data, ibdev, IBDMA_LENGTH, IBDMA_FIRST, DMA_TO_DEVICE);
	if (ret)
		return ret;
	ret = ibprobe_buf_alloc(&t->buffer, ibdev, IBDMA_BUFFER, IBDMA_EMPTY, DMA_FROM_DEVICE);
	if (ret)
		ibprobe_buf_free(&t->data);
	return ret;
}

static void ibdma_unmap(struct ibdma_transfer *t)
{
	if (t->way->early)
		kfree(t->data.data);
	else
		ibprobe_buf_free(&t->data);
	if (!t->way->leak)
		ibprobe_buf_free(&t->buffer);
}

static int ibdma_open(struct ibdma_transfer *t, struct ib_device *ibdev)
{
	int ret = ibprobe_end_open(&t->end, ibdev, 4, IB_POLL_DIRECT);

	if (ret)
		return ret;
	t->qp = ibprobe_ud_open(&t->end, 1, 1, 1, 0, IBDMA_QKEY);
	ret = PTR_ERR_OR_ZERO(t->qp);
	if (ret)
		goto err_end;
	t->ah = ibprobe_ah_to(&t->end, ibdev, 1, t->rate);
	ret = PTR_ERR_OR_ZERO(t->ah);
	if (!ret)
		return 0;
	ib_destroy_qp(t->qp);
err_end:
	ibprobe_end_close(&t->end);
	return ret;
}

static void ibdma_close(struct ibdma_transfer *t)
{
	ibprobe_ah_free(t->ah);
	ib_destroy_qp(t->qp);
	ibprobe_end_close(&t->end);
}

static u64 ibdma_address(const struct ibdma_transfer *t)
{
	if (t->way->wrong_address)
		return BIT_ULL(60);
	return t->way->kernel_address ? (uintptr_t)t->data.data : t->data.addr;
}

static int ibdma_post(struct ibdma_transfer *t)
{
	const struct ibprobe_target to = { .ah = t->ah, .qpn = t->qp->qp_num, .qkey = IBDMA_QKEY };
	struct ib_sge buffer = ibprobe_sge(t->end.pd, t->buffer.addr, IBDMA_BUFFER);
	struct ib_sge data = ibprobe_sge(t->end.pd, ibdma_address(t), IBDMA_LENGTH);
	struct ib_recv_wr recv = { .wr_id = IB_WC_RECV, .sg_list = &buffer, .num_sge = 1 };
	struct ib_ud_wr send = ibprobe_ud_wr(NULL, &data, &to);

	send.wr.wr_id = IB_WC_SEND;
	return ib_post_recv(t->qp, &recv, NULL) ?:
	       ib_post_send(t->qp, &send.wr, NULL);
}

/* A send that fails has nothing received, which is not waited for */
static void ibdma_poll(struct ibdma_transfer *t)
{
	struct ib_wc wc;
	int tries;

	ibdma_result = (struct ibdma_result){ .send_status = -1, .recv_status = -1 };
	for (tries = 0; tries < IBDMA_TRIES; tries++) {
		while (ib_poll_cq(t->end.cq, 1, &wc) == 1) {
			if (wc.wr_id == IB_WC_RECV)
				ibdma_result.recv_status = wc.status;
			else
				ibdma_result.send_status = wc.status;
		}
		if (ibdma_result.recv_status >= 0 || ibdma_result.send_status > 0)
			return;
		msleep(20);
	}
}

static void ibdma_look(const struct ibprobe_buf *buffer)
{
	const u8 *octets = buffer->data;

	ibdma_result.unsynced = READ_ONCE(octets[IB_GRH_BYTES]);
	ibprobe_buf_for_cpu(buffer);
	ibdma_result.synced = READ_ONCE(octets[IB_GRH_BYTES]);
	ibdma_result.behind = octets[IB_GRH_BYTES + IBDMA_LENGTH];
	memcpy(ibdma_result.grh, octets, IB_GRH_BYTES);
}

static int ibdma_transfer(struct ibdma_transfer *t, struct ib_device *ibdev)
{
	int ret;

	ret = ibdma_open(t, ibdev);
	if (ret)
		return ret;
	ret = ibdma_map(t);
	if (ret)
		goto close;
	if (t->way->change)
		memset(t->data.data, IBDMA_CHANGED, IBDMA_LENGTH);
	if (t->way->sync)
		ibprobe_buf_for_device(&t->data);
	if (t->way->early)
		ibprobe_buf_unmap(&t->data);
	ret = ibdma_post(t);
	if (!ret) {
		ibdma_poll(t);
		ibdma_look(&t->buffer);
	}
close:
	/* Nothing is posted once the QP is gone, so that no memory is unmapped too early */
	ibdma_close(t);
	if (t->data.data)
		ibdma_unmap(t);
	return ret;
}

static int do_line(void *of, char *line)
{
	char hca[IB_DEVICE_NAME_MAX], word[16];
	struct ibdma_transfer t = {};
	struct ib_device *ibdev;
	int ret;

	if (sscanf(line, "%63s %15s rate=%hhu", hca, word, &t.rate) < 2)
		return -EINVAL;
	t.way = ibtool_find(word, ibdma_ways, ARRAY_SIZE(ibdma_ways), sizeof(*ibdma_ways));
	if (!t.way)
		return -EINVAL;
	ibdev = ib_device_get_by_name(hca, RDMA_DRIVER_UNKNOWN);
	if (!ibdev)
		return -ENODEV;
	mutex_lock(&ibdma_mutex);
	ret = ibdma_transfer(&t, ibdev);
	mutex_unlock(&ibdma_mutex);
	ib_device_put(ibdev);
	return ret;
}

DEFINE_IBTOOL_LINES(do);

static int ibdma_result_show(struct seq_file *m, void *v)
{
	mutex_lock(&ibdma_mutex);
	seq_printf(m, "send_status %d\n", ibdma_result.send_status);
	seq_printf(m, "recv_status %d\n", ibdma_result.recv_status);
	seq_printf(m, "unsynced %02x\n", ibdma_result.unsynced);
	seq_printf(m, "synced %02x\n", ibdma_result.synced);
	seq_printf(m, "behind %02x\n", ibdma_result.behind);
	seq_printf(m, "grh %*phN\n", IB_GRH_BYTES, ibdma_result.grh);
	mutex_unlock(&ibdma_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ibdma_result);

static int __init ibdma_init(void)
{
	ibdma_dir = debugfs_create_dir("ibdma", NULL);
	debugfs_create_file("do", 0200, ibdma_dir, NULL, &do_fops);
	debugfs_create_file("result", 0400, ibdma_dir, NULL, &ibdma_result_fops);
	return 0;
}
module_init(ibdma_init);

static void __exit ibdma_exit(void)
{
	debugfs_remove(ibdma_dir);
}
module_exit(ibdma_exit);

MODULE_DESCRIPTION("Datagrams with the DMA API used well, and wrong");
MODULE_LICENSE("Dual BSD/GPL");
