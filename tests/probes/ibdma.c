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

#include "ibtool.h"

#define IBDMA_QKEY	0x1bfa
#define IBDMA_LENGTH	60
#define IBDMA_BUFFER	(IB_GRH_BYTES + 2 * IBDMA_LENGTH)
#define IBDMA_MAX_LINE	64
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
 * @ibdev: the HCA
 * @way: how
 * @rate: of the address
 * @pd: protection domain
 * @cq: of both queues
 * @qp: sends to itself
 * @ah: the port's own
 * @data: what is sent
 * @buffer: what is received
 * @data_dma: @data, mapped
 * @buffer_dma: @buffer, mapped
 */
struct ibdma_transfer {
	struct ib_device *ibdev;
	const struct ibdma_way *way;
	u8 rate;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_ah *ah;
	u8 *data;
	u8 *buffer;
	u64 data_dma;
	u64 buffer_dma;
};

static int ibdma_map(struct ibdma_transfer *t)
{
	struct ib_device *ibdev = t->ibdev;

	t->data = kmalloc(IBDMA_LENGTH, GFP_KERNEL);
	t->buffer = kmalloc(IBDMA_BUFFER, GFP_KERNEL);
	if (!t->data || !t->buffer)
		goto err_free;
	memset(t->data, IBDMA_FIRST, IBDMA_LENGTH);
	memset(t->buffer, IBDMA_EMPTY, IBDMA_BUFFER);
	t->data_dma = ib_dma_map_single(ibdev, t->data, IBDMA_LENGTH, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, t->data_dma))
		goto err_free;
	t->buffer_dma = ib_dma_map_single(ibdev, t->buffer, IBDMA_BUFFER, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ibdev, t->buffer_dma))
		goto err_unmap;
	return 0;

err_unmap:
	ib_dma_unmap_single(ibdev, t->data_dma, IBDMA_LENGTH, DMA_TO_DEVICE);
err_free:
	kfree(t->buffer);
	kfree(t->data);
	return -ENOMEM;
}

static void ibdma_unmap_data(struct ibdma_transfer *t)
{
	ib_dma_unmap_single(t->ibdev, t->data_dma, IBDMA_LENGTH, DMA_TO_DEVICE);
}

static void ibdma_unmap(struct ibdma_transfer *t)
{
	if (!t->way->early)
		ibdma_unmap_data(t);
	kfree(t->data);
	if (t->way->leak)
		return;
	ib_dma_unmap_single(t->ibdev, t->buffer_dma, IBDMA_BUFFER, DMA_FROM_DEVICE);
	kfree(t->buffer);
}

static int ibdma_create_ah(struct ibdma_transfer *t)
{
	struct ib_port_attr port;
	struct rdma_ah_attr attr;
	int ret;

	ret = ib_query_port(t->ibdev, 1, &port);
	if (ret)
		return ret;
	ibtool_ah_attr(&attr, t->ibdev, 1, port.lid, NULL);
	rdma_ah_set_static_rate(&attr, t->rate);
	t->ah = rdma_create_ah(t->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	return PTR_ERR_OR_ZERO(t->ah);
}

static int ibdma_open(struct ibdma_transfer *t)
{
	struct ib_cq_init_attr cq_init = { .cqe = 4 };
	struct ib_qp_init_attr qp_init = {
		.qp_type = IB_QPT_UD,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	int ret;

	t->pd = ib_alloc_pd(t->ibdev, 0);
	if (IS_ERR(t->pd))
		return PTR_ERR(t->pd);
	t->cq = ib_create_cq(t->ibdev, NULL, NULL, NULL, &cq_init);
	ret = PTR_ERR_OR_ZERO(t->cq);
	if (ret)
		goto err_pd;
	qp_init.send_cq = t->cq;
	qp_init.recv_cq = t->cq;
	t->qp = ib_create_qp(t->pd, &qp_init);
	ret = PTR_ERR_OR_ZERO(t->qp);
	if (ret)
		goto err_cq;
	ret = ibtool_ud_to_rts(t->qp, 1, 0, IBDMA_QKEY);
	if (!ret)
		ret = ibdma_create_ah(t);
	if (!ret)
		return 0;
	ib_destroy_qp(t->qp);
err_cq:
	ib_destroy_cq(t->cq);
err_pd:
	ib_dealloc_pd(t->pd);
	return ret;
}

static void ibdma_close(struct ibdma_transfer *t)
{
	rdma_destroy_ah(t->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_destroy_qp(t->qp);
	ib_destroy_cq(t->cq);
	ib_dealloc_pd(t->pd);
}

static u64 ibdma_address(const struct ibdma_transfer *t)
{
	if (t->way->wrong_address)
		return BIT_ULL(60);
	return t->way->kernel_address ? (uintptr_t)t->data : t->data_dma;
}

static int ibdma_post(struct ibdma_transfer *t)
{
	struct ib_sge buffer = {
		.addr = t->buffer_dma,
		.length = IBDMA_BUFFER,
		.lkey = t->pd->local_dma_lkey,
	}, data = {
		.addr = ibdma_address(t),
		.length = IBDMA_LENGTH,
		.lkey = t->pd->local_dma_lkey,
	};
	struct ib_recv_wr recv = { .wr_id = IB_WC_RECV, .sg_list = &buffer, .num_sge = 1 };
	struct ib_ud_wr send = {
		.wr = {
			.wr_id = IB_WC_SEND,
			.sg_list = &data,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
		},
		.ah = t->ah,
		.remote_qpn = t->qp->qp_num,
		.remote_qkey = IBDMA_QKEY,
	};
	int ret;

	ret = ib_post_recv(t->qp, &recv, NULL);
	return ret ?: ib_post_send(t->qp, &send.wr, NULL);
}

/* A send that fails has nothing received, which is not waited for */
static void ibdma_poll(struct ibdma_transfer *t)
{
	struct ib_wc wc;
	int tries;

	ibdma_result = (struct ibdma_result){ .send_status = -1, .recv_status = -1 };
	for (tries = 0; tries < IBDMA_TRIES; tries++) {
		while (ib_poll_cq(t->cq, 1, &wc) == 1) {
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

static void ibdma_look(struct ibdma_transfer *t)
{
	ibdma_result.unsynced = READ_ONCE(t->buffer[IB_GRH_BYTES]);
	ib_dma_sync_single_for_cpu(t->ibdev, t->buffer_dma, IBDMA_BUFFER, DMA_FROM_DEVICE);
	ibdma_result.synced = READ_ONCE(t->buffer[IB_GRH_BYTES]);
	ibdma_result.behind = t->buffer[IB_GRH_BYTES + IBDMA_LENGTH];
	memcpy(ibdma_result.grh, t->buffer, IB_GRH_BYTES);
}

static int ibdma_transfer(struct ibdma_transfer *t)
{
	int ret;

	ret = ibdma_open(t);
	if (ret)
		return ret;
	ret = ibdma_map(t);
	if (ret)
		goto close;
	if (t->way->change)
		memset(t->data, IBDMA_CHANGED, IBDMA_LENGTH);
	if (t->way->sync)
		ib_dma_sync_single_for_device(t->ibdev, t->data_dma, IBDMA_LENGTH, DMA_TO_DEVICE);
	if (t->way->early)
		ibdma_unmap_data(t);
	ret = ibdma_post(t);
	if (!ret) {
		ibdma_poll(t);
		ibdma_look(t);
	}
	/* Nothing is posted once the QP is gone, so that no memory is unmapped too early */
	ibdma_close(t);
	ibdma_unmap(t);
	return ret;

close:
	ibdma_close(t);
	return ret;
}

static const struct ibdma_way *ibdma_way_of(const char *word)
{
	const struct ibdma_way *way;

	for (way = ibdma_ways; way < ibdma_ways + ARRAY_SIZE(ibdma_ways); way++)
		if (!strcmp(way->word, word))
			return way;
	return NULL;
}

static int ibdma_line(void *of, char *line)
{
	char hca[IB_DEVICE_NAME_MAX], word[16];
	struct ibdma_transfer t = {};
	int ret;

	if (sscanf(line, "%63s %15s rate=%hhu", hca, word, &t.rate) < 2)
		return -EINVAL;
	t.way = ibdma_way_of(word);
	if (!t.way)
		return -EINVAL;
	t.ibdev = ib_device_get_by_name(hca, RDMA_DRIVER_UNKNOWN);
	if (!t.ibdev)
		return -ENODEV;
	mutex_lock(&ibdma_mutex);
	ret = ibdma_transfer(&t);
	mutex_unlock(&ibdma_mutex);
	ib_device_put(t.ibdev);
	return ret;
}

static ssize_t ibdma_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	return ibtool_line_write(from, count, IBDMA_MAX_LINE, ibdma_line, NULL);
}

static const struct file_operations ibdma_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ibdma_write,
};

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
	debugfs_create_file("do", 0200, ibdma_dir, NULL, &ibdma_fops);
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
