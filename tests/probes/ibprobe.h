/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the probes that use an RDMA device share: memory that the device accesses, and datagrams.
 */
#ifndef _IBPROBE_H
#define _IBPROBE_H

#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "ibtool.h"

/**
 * struct ibprobe_buf - Memory that a device accesses
 * @ibdev: the device
 * @dir: how the device uses it
 * @size: its size in bytes
 * @data: its address for the CPU; NULL if there is no memory
 * @addr: its address for the device
 */
struct ibprobe_buf {
	struct ib_device *ibdev;
	enum dma_data_direction dir;
	size_t size;
	void *data;
	u64 addr;
};

/**
 * ibprobe_buf_map() - Map memory that the caller allocated.
 * @buf: filled in on success, unchanged otherwise
 * @ibdev: the device
 * @data: the memory
 * @size: its size in bytes
 * @dir: how the device uses it
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
static inline int ibprobe_buf_map(struct ibprobe_buf *buf, struct ib_device *ibdev, void *data,
				  size_t size, enum dma_data_direction dir)
{
	u64 addr = ib_dma_map_single(ibdev, data, size, dir);

	if (ib_dma_mapping_error(ibdev, addr))
		return -ENOMEM;
	*buf = (struct ibprobe_buf) {
		.ibdev = ibdev, .dir = dir, .size = size, .data = data, .addr = addr,
	};
	return 0;
}

/**
 * ibprobe_buf_unmap() - Undo ibprobe_buf_map(). The memory stays.
 * @buf: the memory
 *
 * Context: process.
 */
static inline void ibprobe_buf_unmap(const struct ibprobe_buf *buf)
{
	ib_dma_unmap_single(buf->ibdev, buf->addr, buf->size, buf->dir);
}

/**
 * ibprobe_buf_alloc() - Allocate memory, fill it, and map it.
 * @buf: filled in on success, unchanged otherwise; the caller has zeroed it
 * @ibdev: the device
 * @size: how many bytes to allocate
 * @fill: the value that each byte has before the memory is mapped
 * @dir: how the device uses the memory
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
static inline int ibprobe_buf_alloc(struct ibprobe_buf *buf, struct ib_device *ibdev, size_t size,
				    u8 fill, enum dma_data_direction dir)
{
	void *data = kmalloc(size, GFP_KERNEL);
	int ret;

	if (!data)
		return -ENOMEM;
	memset(data, fill, size);
	ret = ibprobe_buf_map(buf, ibdev, data, size, dir);
	if (ret)
		kfree(data);
	return ret;
}

/**
 * ibprobe_buf_free() - Undo ibprobe_buf_alloc().
 * @buf: the memory; there may be none
 *
 * Context: process.
 */
static inline void ibprobe_buf_free(struct ibprobe_buf *buf)
{
	if (!buf->data)
		return;
	ibprobe_buf_unmap(buf);
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
 * struct ibprobe_end - The PD and the CQ that QPs use
 * @ibdev: the device
 * @pd: protection domain
 * @cq: completion queue for sends and receives
 */
struct ibprobe_end {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *cq;
};

/**
 * ibprobe_end_open() - Create the PD and the CQ that QPs use.
 * @end: filled in
 * @ibdev: the device
 * @cqe: how many CQEs the CQ has room for
 * @poll: how the CQ is polled
 *
 * Context: process.
 * Return: 0, or a negative errno with nothing left allocated.
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
 * ibprobe_end_close() - Undo ibprobe_end_open().
 * @end: the PD and the CQ, which no QP uses any more
 *
 * Context: process.
 */
static inline void ibprobe_end_close(struct ibprobe_end *end)
{
	ib_free_cq(end->cq);
	ib_dealloc_pd(end->pd);
}

/**
 * ibprobe_qp_attr() - The attributes of a new QP.
 * @end: the PD and the CQ that it uses
 * @type: its type
 * @sends: how many send WRs it has room for
 * @recvs: how many receive WRs it has room for
 *
 * Context: any.
 * Return: the attributes. WRs have one SGE, and a send WR generates a completion if it is signaled.
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
 * ibprobe_ud_create() - Create a UD QP.
 * @end: the PD and the CQ that it uses
 * @sends: how many send WRs it has room for
 * @recvs: how many receive WRs it has room for
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
 * ibprobe_set_state() - Take a QP to a state that needs no further attributes.
 * @qp: the QP
 * @state: RESET, ERR, SQD, RTR of a UD QP, or RTS from SQD
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
 * ibprobe_ud_to_rts() - Take a UD QP from RESET to RTS.
 * @qp: the QP
 * @port: its port
 * @pkey_index: the index of its P_Key
 * @qkey: its Q_Key
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
static inline int ibprobe_ud_to_rts(struct ib_qp *qp, u32 port, u16 pkey_index, u32 qkey)
{
	const int init_mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY;
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = pkey_index,
		.port_num = port,
		.qkey = qkey,
	};
	struct ib_qp_attr rts = { .qp_state = IB_QPS_RTS };

	return ib_modify_qp(qp, &init, init_mask) ?:
	       ibprobe_set_state(qp, IB_QPS_RTR) ?:
	       ib_modify_qp(qp, &rts, IB_QP_STATE | IB_QP_SQ_PSN);
}

/**
 * ibprobe_ud_open() - Create a UD QP and take it to RTS.
 * @end: the PD and the CQ that it uses
 * @sends: how many send WRs it has room for
 * @recvs: how many receive WRs it has room for
 * @port: its port
 * @pkey_index: the index of its P_Key
 * @qkey: its Q_Key
 *
 * Context: process.
 * Return: the QP or an error pointer.
 */
static inline struct ib_qp *ibprobe_ud_open(const struct ibprobe_end *end, u32 sends, u32 recvs,
					    u32 port, u16 pkey_index, u32 qkey)
{
	struct ib_qp *qp = ibprobe_ud_create(end, sends, recvs, 0);
	int ret;

	if (IS_ERR(qp))
		return qp;
	ret = ibprobe_ud_to_rts(qp, port, pkey_index, qkey);
	if (!ret)
		return qp;
	ib_destroy_qp(qp);
	return ERR_PTR(ret);
}

/**
 * ibprobe_sge() - An SGE, with the L_Key of all memory that the DMA API maps.
 * @pd: the protection domain
 * @addr: the address as the device sees it
 * @length: how many bytes
 *
 * Context: any.
 * Return: the SGE.
 */
static inline struct ib_sge ibprobe_sge(const struct ib_pd *pd, u64 addr, u32 length)
{
	return (struct ib_sge) {
		.addr = addr,
		.length = length,
		.lkey = pd->local_dma_lkey,
	};
}

/**
 * struct ibprobe_target - Where a datagram is sent
 * @ah: address handle
 * @qpn: number of the QP that receives it
 * @qkey: the Q_Key that it carries
 */
struct ibprobe_target {
	struct ib_ah *ah;
	u32 qpn;
	u32 qkey;
};

/**
 * ibprobe_ud_wr() - A WR that sends a datagram.
 * @cqe: called when it completes
 * @sge: the payload; an SGE without a length is left out
 * @to: where the datagram is sent
 *
 * Context: any.
 * Return: the WR, which is signaled.
 */
static inline struct ib_ud_wr ibprobe_ud_wr(struct ib_cqe *cqe, struct ib_sge *sge,
					    const struct ibprobe_target *to)
{
	return (struct ib_ud_wr) {
		.wr = {
			.wr_cqe = cqe,
			.sg_list = sge,
			.num_sge = sge->length ? 1 : 0,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.ah = to->ah,
		.remote_qpn = to->qpn,
		.remote_qkey = to->qkey,
	};
}

/**
 * ibprobe_ah_attr() - Fill in the attributes of an AH.
 * @attr: filled in
 * @ibdev: the device that sends
 * @port: the port by which it sends
 * @dlid: the DLID
 * @gid: the DGID of the GRH; NULL for no GRH
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
 * ibprobe_ah_to() - Create an AH whose destination is a port of a device.
 * @end: the sending end
 * @to: the device of the destination
 * @port: the number of the destination's port, and of the port that sends
 * @rate: static rate
 *
 * Context: process.
 * Return: the AH or an error pointer.
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
 * ibprobe_ah_free() - Destroy an AH.
 * @ah: the AH, or NULL
 *
 * Context: process.
 */
static inline void ibprobe_ah_free(struct ib_ah *ah)
{
	if (ah)
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

#endif /* _IBPROBE_H */
