/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues of work requests, a QP's or shared ones. Whoever posts fills slots and
 * moves prod, under the lock; the engine alone empties them and moves cons. The
 * slots are a power of two, so the counts may wrap. Inlined is what each datagram
 * needs.
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
 * struct ibfab_av - Address vector: what a work request keeps of its AH
 * @attr: as given to create_ah; the sgid_attr in it is not ours to use
 */
struct ibfab_av {
	struct rdma_ah_attr attr;
};

/* A posted send: inline data lies where the SGEs would */
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
	u32 mss;	/* of a large send, and hlen; the slot ends with its header */
	u32 hlen;
	u64 remote_addr;	/* of an RDMA WRITE, and rkey */
	u32 rkey;
	u32 psn;	/* of its first packet, once that was sent; the engine's */
	struct ibfab_av av;
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

/* A posted receive. With a bad key its buffers are not ours to write to. The addresses of
 * SGEs here are the kernel's, see ibfab_sge_resolve().
 */
struct ibfab_rwr {
	u64 wr_id;
	u32 num_sge;
	u32 length;
	bool bad_key;
	struct ib_sge sge[];
};

/**
 * struct ibfab_queue - A ring of work requests
 * @lock: guards @prod and the slots being filled; for a QP's two queues, both
 *	locks together guard its state. Send queue's before receive queue's.
 * @ring: slots
 * @stride: bytes of a slot
 * @size: slots
 * @max_sge: scatter/gather entries in a slot
 * @prod: work requests ever posted
 * @cons: work requests ever completed; written by the engine alone
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
 * @ibsrq: core's part
 * @hca: whose it is
 * @queue: receives; its lock guards @limit too
 * @limit: with fewer receives than that left the event is due, once; 0: never
 * @event_node: in &ibfab_hca.event_srqs; the engine's
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
 * ibfab_queue_slot() - A slot of a queue.
 * @queue: the queue
 * @count: the how many-th work request ever posted it is of
 *
 * Return: &struct ibfab_swr or &struct ibfab_rwr.
 */
static inline void *ibfab_queue_slot(const struct ibfab_queue *queue, u32 count)
{
	return queue->ring + (count & (queue->size - 1)) * queue->stride;
}

/**
 * ibfab_queue_room() - The slot to fill next.
 * @queue: the queue
 *
 * Context: any, lock held.
 * Return: it, or NULL if all are taken.
 */
static inline void *ibfab_queue_room(const struct ibfab_queue *queue)
{
	/* Pairs with ibfab_queue_pop(): the engine is done with the slot */
	if (queue->prod - smp_load_acquire(&queue->cons) >= queue->size)
		return NULL;
	return ibfab_queue_slot(queue, queue->prod);
}

/**
 * ibfab_queue_push() - Hand the slot just filled to the engine.
 * @queue: the queue
 *
 * Context: any, lock held.
 */
static inline void ibfab_queue_push(struct ibfab_queue *queue)
{
	/* Pairs with ibfab_queue_posted(): the slot is filled */
	smp_store_release(&queue->prod, queue->prod + 1);
}

/**
 * ibfab_queue_posted() - How many work requests were ever posted.
 * @queue: the queue
 *
 * Context: the engine. The slots up to that count may be read.
 * Return: the count.
 */
static inline u32 ibfab_queue_posted(const struct ibfab_queue *queue)
{
	/* Pairs with ibfab_queue_push() */
	return smp_load_acquire(&queue->prod);
}

/**
 * ibfab_sge_resolve() - What an HCA that does DMA reaches by an address.
 * @ibdev: the HCA
 * @sge: @sge->addr becomes the kernel's address of the memory. Where there is none @sge->lkey
 *	becomes a bad key: a bus error
 *
 * The memory is that which a device would reach. If the DMA API gave a bounce buffer for what it
 * was asked to map, that is it: the HCA sees what was synced to it, and what it writes is seen by
 * nobody who does not sync or unmap.
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
 * ibfab_queue_post_recv() - Add a receive.
 * @queue: the queue
 * @ibdev: whose it is
 * @wr: copied
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
 * ibfab_scatter() - Copy octets into a receive's buffers.
 * @wr: the work request
 * @offset: where the first one belongs in its message
 * @data: the octets
 * @len: how many; there is room for them
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
 * ibfab_send_status() - Whether a send's memory is within its keys' reach (10.6.7.2.4).
 * @ibdev: the device
 * @wr: the work request
 *
 * Return: the status that it completes with, if nothing else is wrong.
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
