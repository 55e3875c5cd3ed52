/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues of WRs, which belong to a QP or are shared. Whoever posts a WR fills a slot and increments
 * prod, under the lock. Only the engine removes WRs and increments cons. The number of slots is a
 * power of two, so prod and cons may wrap around. The functions that each datagram needs are
 * inline.
 */
#ifndef _IBFAB_QUEUE_H
#define _IBFAB_QUEUE_H

#include <linux/dma-direct.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ibfab_hca;

/**
 * struct ibfab_av - Address vector: the part of an AH that a WR keeps
 * @attr: the attributes given to create_ah, without sgid_attr, which the caller owns
 */
struct ibfab_av {
	struct rdma_ah_attr attr;
};

/* A posted send WR. Inline data takes the place of the SGEs. */
struct ibfab_swr {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	int flags;
	__be32 imm;
	u32 remote_qpn;
	u32 remote_qkey;
	u16 pkey_index;
	u16 num_sge;
	u32 length;
	u32 mss;	/* for a large send, as is hlen; its header is at the end of the slot */
	u32 hlen;
	u64 remote_addr;	/* for an RDMA WRITE, as is rkey */
	u32 rkey;
	u32 psn;	/* PSN of its first packet, once it was sent; used by the engine only */
	struct ibfab_av av;
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

/* A posted receive WR. If bad_key is set, its buffers must not be written to. The addresses in
 * these SGEs are kernel addresses, see ibfab_sge_resolve().
 */
struct ibfab_rwr {
	u64 wr_id;
	u32 num_sge;
	u32 length;
	bool bad_key;
	struct ib_sge sge[];
};

/**
 * struct ibfab_queue - A ring of WRs
 * @lock: protects @prod and the slots that are being filled. The locks of both queues of a
 *	QP together protect the QP's state; the send queue's is taken first.
 * @ring: the slots
 * @stride: size of a slot in bytes
 * @size: number of slots
 * @max_sge: maximum number of SGEs in a slot
 * @prod: number of WRs ever posted
 * @cons: number of WRs ever completed; written by the engine only
 */
struct ibfab_queue {
	spinlock_t lock;	/* guards prod and the slots being filled */
	void *ring;
	size_t stride;
	u32 size;
	u32 max_sge;
	u32 prod;
	u32 cons;
};

/**
 * struct ibfab_srq - Shared receive queue
 * @ibsrq: the core's part
 * @hca: the HCA
 * @queue: the receive WRs; its lock also protects @limit
 * @limit: the event is due once when fewer WRs are left; 0 if it is not armed
 * @event_node: in &ibfab_hca.event_srqs; used by the engine only
 */
struct ibfab_srq {
	struct ib_srq ibsrq;
	struct ibfab_hca *hca;
	struct ibfab_queue queue;
	u32 limit;
	struct list_head event_node;
};

static inline struct ibfab_srq *to_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct ibfab_srq, ibsrq);
}

/**
 * ibfab_queue_slot() - Get a slot of a queue.
 * @queue: the queue
 * @count: the number of WRs that were posted before the slot's WR
 *
 * Return: &struct ibfab_swr or &struct ibfab_rwr.
 */
static inline void *ibfab_queue_slot(const struct ibfab_queue *queue, u32 count)
{
	return queue->ring + (count & (queue->size - 1)) * queue->stride;
}

/**
 * ibfab_queue_room() - Get the next free slot of a queue.
 * @queue: the queue
 *
 * Context: any, lock held.
 * Return: the slot, or NULL if the queue is full.
 */
static inline void *ibfab_queue_room(const struct ibfab_queue *queue)
{
	/* Pairs with the store in ibfab_queue_pop(): the engine no longer uses the slot */
	if (queue->prod - smp_load_acquire(&queue->cons) >= queue->size)
		return NULL;
	return ibfab_queue_slot(queue, queue->prod);
}

/**
 * ibfab_queue_push() - Pass the slot that was just filled to the engine.
 * @queue: the queue
 *
 * Context: any, lock held.
 */
static inline void ibfab_queue_push(struct ibfab_queue *queue)
{
	/* Pairs with the load in ibfab_queue_posted(): the slot is filled */
	smp_store_release(&queue->prod, queue->prod + 1);
}

/**
 * ibfab_queue_posted() - How many WRs were ever posted.
 * @queue: the queue
 *
 * Context: the engine, which may read the slots up to that number.
 * Return: the number.
 */
static inline u32 ibfab_queue_posted(const struct ibfab_queue *queue)
{
	/* Pairs with the store in ibfab_queue_push() */
	return smp_load_acquire(&queue->prod);
}

/**
 * ibfab_sge_resolve() - Find the memory that an HCA reaches at a DMA address.
 * @ibdev: the HCA
 * @sge: the SGE. Its address becomes the kernel's address of the memory. If there is no
 *	memory at the address, its L_Key becomes an invalid one, which stands for a bus error.
 *
 * The memory is what a real device would reach. If the DMA API mapped a bounce buffer, it is that
 * buffer: the HCA sees only what was synced to it, and its writes are visible only after a sync or
 * an unmap.
 *
 * Context: any.
 */
static inline void ibfab_sge_resolve(const struct ib_device *ibdev, struct ib_sge *sge)
{
	phys_addr_t phys;

	if (ib_uses_virt_dma((struct ib_device *)ibdev) || !sge->length)
		return;
	phys = dma_to_phys(ibdev->dma_device, sge->addr);
	if (!pfn_valid(PHYS_PFN(phys)) || !pfn_valid(PHYS_PFN(phys + sge->length - 1)))
		sge->lkey = ~ibdev->local_dma_lkey;
	else
		sge->addr = (uintptr_t)phys_to_virt(phys);
}

/**
 * ibfab_queue_post_recv() - Add a receive WR to a queue.
 * @queue: the queue
 * @ibdev: the HCA
 * @wr: the WR, which is copied
 *
 * Context: any, lock held.
 * Return: 0, -EINVAL (too many SGEs) or -ENOMEM (queue full).
 */
static inline int ibfab_queue_post_recv(struct ibfab_queue *queue,
					const struct ib_device *ibdev,
					const struct ib_recv_wr *wr)
{
	struct ibfab_rwr *rwr;
	int i;

	if (wr->num_sge > queue->max_sge)
		return -EINVAL;
	rwr = ibfab_queue_room(queue);
	if (!rwr)
		return -ENOMEM;

	rwr->wr_id = wr->wr_id;
	rwr->num_sge = wr->num_sge;
	rwr->length = 0;
	rwr->bad_key = false;
	for (i = 0; i < wr->num_sge; i++) {
		rwr->sge[i] = wr->sg_list[i];
		ibfab_sge_resolve(ibdev, &rwr->sge[i]);
		rwr->length += rwr->sge[i].length;
		rwr->bad_key |= rwr->sge[i].lkey != ibdev->local_dma_lkey;
	}
	ibfab_queue_push(queue);
	return 0;
}

/**
 * ibfab_scatter() - Copy bytes into the buffers of a receive WR.
 * @wr: the WR
 * @offset: offset of the first byte in the message
 * @data: the bytes
 * @len: how many bytes, for which the buffers have room
 *
 * Context: the engine.
 */
static inline void ibfab_scatter(const struct ibfab_rwr *wr, u32 offset,
				 const void *data, u32 len)
{
	u32 i, part;

	for (i = 0; len && i < wr->num_sge; i++) {
		if (offset >= wr->sge[i].length) {
			offset -= wr->sge[i].length;
			continue;
		}
		part = min(len, wr->sge[i].length - offset);
		memcpy((void *)(uintptr_t)wr->sge[i].addr + offset, data, part);
		data += part;
		len -= part;
		offset = 0;
	}
}

/**
 * ibfab_send_status() - Check the L_Keys of a send WR (10.6.7.2.4).
 * @ibdev: the HCA
 * @wr: the WR
 *
 * Return: IB_WC_SUCCESS if they are valid, else the status with which the WR completes.
 */
static inline enum ib_wc_status ibfab_send_status(const struct ib_device *ibdev,
						  const struct ibfab_swr *wr)
{
	u16 i;

	for (i = 0; i < wr->num_sge; i++)
		if (wr->sge[i].lkey != ibdev->local_dma_lkey)
			return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

/* ibfab_queue.c */
int ibfab_queue_init(struct ibfab_queue *queue, u32 wrs, u32 max_sge,
		     size_t stride);
int ibfab_queue_init_recv(struct ibfab_queue *queue, u32 wrs, u32 max_sge);
void ibfab_queue_free(struct ibfab_queue *queue);
void *ibfab_queue_peek(const struct ibfab_queue *queue);
void ibfab_queue_pop(struct ibfab_queue *queue);
void ibfab_gather(u8 *to, const struct ibfab_swr *wr, u32 offset, u32 len);

/* ibfab_srq.c */
int ibfab_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int ibfab_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int ibfab_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int ibfab_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int ibfab_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);
void ibfab_srq_pop(struct ibfab_srq *srq);

#endif /* _IBFAB_QUEUE_H */
