/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the probes share that use an RDMA device: memory that it reaches, and datagrams.
 */
#ifndef _IBPROBE_H
#define _IBPROBE_H

#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "ibtool.h"

/**
 * struct ibprobe_buf - Memory that a device reaches
 * @ibdev: the device
 * @dir: how it uses it
 * @size: octets
 * @data: for the CPU; NULL where there is none
 * @addr: for the device
 */
struct ibprobe_buf {
	struct ib_device *ibdev;
	enum dma_data_direction dir;
	size_t size;
	void *data;
	u64 addr;
};

/**
 * ibprobe_buf_alloc() - Allocate memory, and map it.
 * @buf: filled in; zeros
 * @ibdev: the device
 * @size: octets
 * @fill: what each is before it is mapped
 * @dir: how the device uses them
 *
 * Context: process.
 * Return: 0 or -ENOMEM, and @buf is as it was.
 */
static inline int ibprobe_buf_alloc(struct ibprobe_buf *buf, struct ib_device *ibdev, size_t size,
				    u8 fill, enum dma_data_direction dir)
{
	void *data = kmalloc(size, GFP_KERNEL);
	u64 addr;

	if (!data)
		return -ENOMEM;
	memset(data, fill, size);
	addr = ib_dma_map_single(ibdev, data, size, dir);
	if (ib_dma_mapping_error(ibdev, addr)) {
		kfree(data);
		return -ENOMEM;
	}
	*buf = (struct ibprobe_buf) {
		.ibdev = ibdev, .dir = dir, .size = size, .data = data, .addr = addr,
	};
	return 0;
}

/**
 * ibprobe_buf_free() - Undo that.
 * @buf: the memory; none is fine
 *
 * Context: process.
 */
static inline void ibprobe_buf_free(struct ibprobe_buf *buf)
{
	if (!buf->data)
		return;
	ib_dma_unmap_single(buf->ibdev, buf->addr, buf->size, buf->dir);
	kfree(buf->data);
	buf->data = NULL;
}

static inline void ibprobe_buf_for_cpu(const struct ibprobe_buf *buf)
{
	ib_dma_sync_single_for_cpu(buf->ibdev, buf->addr, buf->size, buf->dir);
}

static inline void ibprobe_buf_for_device(const struct ibprobe_buf *buf)
{
	ib_dma_sync_single_for_device(buf->ibdev, buf->addr, buf->size, buf->dir);
}

/**
 * struct ibprobe_end - What QPs stand on
 * @ibdev: the device
 * @pd: protection domain
 * @cq: completion queue, of both directions
 */
struct ibprobe_end {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *cq;
};

/**
 * ibprobe_end_open() - Make what QPs stand on.
 * @end: filled in
 * @ibdev: the device
 * @cqe: completions that the CQ has room for
 * @poll: who polls it
 *
 * Context: process.
 * Return: 0 or a negative errno, with nothing left allocated.
 */
static inline int ibprobe_end_open(struct ibprobe_end *end, struct ib_device *ibdev, int cqe,
				   enum ib_poll_context poll)
{
	end->ibdev = ibdev;
	end->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->cq = ib_alloc_cq(ibdev, end, cqe, 0, poll);
	if (!IS_ERR(end->cq))
		return 0;
	ib_dealloc_pd(end->pd);
	return PTR_ERR(end->cq);
}

/**
 * ibprobe_end_close() - Undo that.
 * @end: its QPs are gone
 *
 * Context: process.
 */
static inline void ibprobe_end_close(struct ibprobe_end *end)
{
	ib_free_cq(end->cq);
	ib_dealloc_pd(end->pd);
}

/**
 * ibprobe_qp_attr() - What a QP is to be like.
 * @end: what it stands on
 * @type: its type
 * @sends: work requests that it has room for
 * @recvs: likewise
 *
 * Context: any.
 * Return: the attributes: buffers of one piece, and what is to complete says so.
 */
static inline struct ib_qp_init_attr ibprobe_qp_attr(const struct ibprobe_end *end,
						     enum ib_qp_type type, u32 sends, u32 recvs)
{
	return (struct ib_qp_init_attr) {
		.qp_type = type,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = sends,
			.max_recv_wr = recvs,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
}

/**
 * ibprobe_ud_create() - Make a QP for datagrams.
 * @end: what it stands on
 * @sends: work requests that it has room for
 * @recvs: likewise
 * @flags: enum ib_qp_create_flags
 *
 * Context: process.
 * Return: the QP or an error pointer.
 */
static inline struct ib_qp *ibprobe_ud_create(const struct ibprobe_end *end, u32 sends, u32 recvs,
					      u32 flags)
{
	struct ib_qp_init_attr init = ibprobe_qp_attr(end, IB_QPT_UD, sends, recvs);

	init.create_flags = flags;
	return ib_create_qp(end->pd, &init);
}

/**
 * ibprobe_ud_to_rts() - Take a UD QP from RESET to RTS.
 * @qp: the QP
 * @port: its port
 * @pkey_index: its P_Key
 * @qkey: its Q_Key
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
static inline int ibprobe_ud_to_rts(struct ib_qp *qp, u32 port, u16 pkey_index, u32 qkey)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = pkey_index,
		.port_num = port,
		.qkey = qkey,
	};
	int ret;

	ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
				      IB_QP_PORT | IB_QP_QKEY);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/**
 * ibprobe_set_state() - Take a QP to a state that needs no attributes.
 * @qp: the QP
 * @state: RESET, ERR, SQD, or back to RTS
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
static inline int ibprobe_set_state(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/**
 * ibprobe_ah_attr() - Fill in where an address handle leads.
 * @attr: filled in
 * @ibdev: the device
 * @port: its port
 * @dlid: the LID
 * @gid: of the GRH; NULL for none
 *
 * Context: any.
 */
static inline void ibprobe_ah_attr(struct rdma_ah_attr *attr, struct ib_device *ibdev, u32 port,
				   u32 dlid, const union ib_gid *gid)
{
	*attr = (struct rdma_ah_attr) {
		.type = rdma_ah_find_type(ibdev, port),
	};
	rdma_ah_set_port_num(attr, port);
	rdma_ah_set_dlid(attr, dlid);
	if (!gid)
		return;
	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	rdma_ah_set_grh(attr, (union ib_gid *)gid, 0, 0, 1, 0);
}

/**
 * ibprobe_ah_to() - Make an address handle that leads to a device.
 * @end: where it leads from
 * @to: the device, which has the same port
 * @port: the port
 * @rate: static rate
 *
 * Context: process.
 * Return: the handle or an error pointer.
 */
static inline struct ib_ah *ibprobe_ah_to(const struct ibprobe_end *end, struct ib_device *to,
					  u32 port, u8 rate)
{
	struct ib_port_attr port_attr;
	struct rdma_ah_attr attr;
	int ret;

	ret = ib_query_port(to, port, &port_attr);
	if (ret)
		return ERR_PTR(ret);
	ibprobe_ah_attr(&attr, end->ibdev, port, port_attr.lid, NULL);
	rdma_ah_set_static_rate(&attr, rate);
	return rdma_create_ah(end->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/**
 * ibprobe_ah_free() - Destroy an address handle.
 * @ah: the handle; NULL is none
 *
 * Context: process.
 */
static inline void ibprobe_ah_free(struct ib_ah *ah)
{
	if (ah)
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

#endif /* _IBPROBE_H */
