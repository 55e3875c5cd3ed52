// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibdma: sends a datagram from a port to itself. It uses the DMA API correctly, or incorrectly in
 * one way, to show how an HCA handles that. A line in /sys/kernel/debug/ibdma/do names an HCA and a
 * way, and optionally the code of the static rate of the AH:
 *
 *	hca=ibfab0 way=good rate=3
 *
 *  good           the DMA API is used correctly
 *  changed        the payload is changed after it was mapped
 *  synced         the same, and then the payload is synced
 *  address        the SGE has an address that was never mapped
 *  kernel         the SGE has the kernel's address of the payload
 *  early          the payload is unmapped before it is sent
 *  leak           the receive buffer is not unmapped
 *
 * The result of the last line is in /sys/kernel/debug/ibdma/result.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#include "ibdevice.h"
#include "ibprobe.h"

#define IBDMA_QKEY	0x1bfa
#define IBDMA_LENGTH	60
#define IBDMA_BUFFER	(IB_GRH_BYTES + 2 * IBDMA_LENGTH)
#define IBDMA_TRIES	50	/* number of polls, with 20 ms between them */
#define IBDMA_AFTER	5	/* number of polls after a send that failed */

enum ibdma_octet {
	IBDMA_FIRST = 0x11,	/* the payload when it is mapped */
	IBDMA_CHANGED = 0x22,	/* the payload after it was changed */
	IBDMA_EMPTY = 0x33,	/* the receive buffer before a datagram comes in */
};

static struct dentry *ibdma_dir;

/* Serializes lines, and protects ibdma_result */
static DEFINE_MUTEX(ibdma_mutex);

/**
 * struct ibdma_way - A way to use the DMA API
 * @word: its name
 * @change: change the payload after it was mapped
 * @sync: sync the payload after it was changed
 * @wrong_address: send from an address that is not mapped
 * @kernel_address: send from the kernel's address
 * @early: unmap the payload before it is sent
 * @leak: do not unmap the receive buffer
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
 * struct ibdma_result - The result of a line
 * @send_status: enum ib_wc_status of the send, or -1 if it did not complete
 * @recv_status: enum ib_wc_status of the receive, or -1 if it did not complete
 * @grh: the first bytes of the receive buffer
 * @unsynced: the first byte of the received payload before the buffer is synced
 * @synced: the same byte after the buffer is synced
 * @behind: the first byte after the received payload
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
 * struct ibdma_line - The words of a line
 * @hca: name of the HCA
 * @way: how the DMA API is used
 * @rate: static rate of the AH
 */
struct ibdma_line {
	char hca[IB_DEVICE_NAME_MAX];
	const struct ibdma_way *way;
	u32 rate;
};

/**
 * struct ibdma_transfer - The resources for one datagram
 * @end: the HCA, and the PD and the CQ that the QP uses
 * @way: how the DMA API is used
 * @qp: the QP, which sends to itself
 * @ah: an AH of the port itself
 * @data: the payload
 * @buffer: the receive buffer
 */
struct ibdma_transfer {
	struct ibprobe_end end;
	const struct ibdma_way *way;
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

static int ibdma_open(struct ibdma_transfer *t, struct ib_device *ibdev, u8 rate)
{
	int ret = ibprobe_end_open(&t->end, ibdev, 4, IB_POLL_DIRECT);

	if (ret)
		return ret;
	t->qp = ibprobe_ud_open(&t->end, 1, 1, 1, 0, IBDMA_QKEY);
	ret = PTR_ERR_OR_ZERO(t->qp);
	if (ret)
		goto err_end;
	t->ah = ibprobe_ah_to(&t->end, ibdev, 1, rate);
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

static void ibdma_poll_once(struct ibdma_transfer *t)
{
	struct ib_wc wc;

	while (ib_poll_cq(t->end.cq, 1, &wc) == 1) {
		if (wc.wr_id == IB_WC_RECV)
			ibdma_result.recv_status = wc.status;
		else
			ibdma_result.send_status = wc.status;
	}
}

/* Waits for both completions. After a send that fails nothing should be received, but it might. */
static void ibdma_poll(struct ibdma_transfer *t)
{
	int tries = IBDMA_TRIES;

	ibdma_result = (struct ibdma_result){ .send_status = -1, .recv_status = -1 };
	while (tries--) {
		ibdma_poll_once(t);
		if (ibdma_result.recv_status >= 0 && ibdma_result.send_status >= 0)
			return;
		if (ibdma_result.send_status > 0)
			tries = min(tries, IBDMA_AFTER);
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

static int ibdma_transfer(struct ibdma_transfer *t, struct ib_device *ibdev, u8 rate)
{
	int ret;

	ret = ibdma_open(t, ibdev, rate);
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
	/* The QP is destroyed first, so that no memory of a posted WR is unmapped */
	ibdma_close(t);
	if (t->data.data)
		ibdma_unmap(t);
	return ret;
}

static int read_way(const char *value, void *to)
{
	const struct ibdma_way **way = to;

	*way = ibtool_find(value, ibdma_ways, ARRAY_SIZE(ibdma_ways), sizeof(*ibdma_ways));
	return *way ? 0 : -EINVAL;
}

static const struct ibtool_word words[] = {
	IBTOOL_WORD(struct ibdma_line, hca, name), IBTOOL_WORD(struct ibdma_line, rate, u32),
	{ "way", offsetof(struct ibdma_line, way), read_way },
};

static int do_line(void *of, char *text)
{
	struct ibdma_transfer t = {};
	struct ibdma_line line = {};
	struct ib_device *ibdev;
	int ret;

	ret = ibtool_read_line(text, words, ARRAY_SIZE(words), &line);
	if (ret)
		return ret;
	if (!line.way || line.rate > U8_MAX)
		return -EINVAL;
	ibdev = ibdevice_get(line.hca);
	if (!ibdev)
		return -ENODEV;
	t.way = line.way;
	mutex_lock(&ibdma_mutex);
	ret = ibdma_transfer(&t, ibdev, line.rate);
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
