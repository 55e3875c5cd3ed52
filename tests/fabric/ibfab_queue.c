// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queues of WRs, and copying from and to the buffers that WRs name.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "ibfab.h"

/**
 * ibfab_queue_init() - Initialize a queue.
 * @queue: zeroed
 * @wrs: how many WRs it must hold
 * @max_sge: the maximum number of SGEs of a WR
 * @stride: the size of a WR in bytes
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ibfab_queue_init(struct ibfab_queue *queue, u32 wrs, u32 max_sge,
		     size_t stride)
{
	spin_lock_init(&queue->lock);
	queue->size = roundup_pow_of_two(max(wrs, 1U));
	queue->stride = ALIGN(stride, sizeof(u64));
	queue->max_sge = max_sge;
	queue->ring = kvcalloc(queue->size, queue->stride, GFP_KERNEL);
	return queue->ring ? 0 : -ENOMEM;
}

/**
 * ibfab_queue_init_recv() - Initialize a queue of receive WRs.
 * @queue: zeroed
 * @wrs: how many WRs it must hold
 * @max_sge: the maximum number of SGEs of a WR
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ibfab_queue_init_recv(struct ibfab_queue *queue, u32 wrs, u32 max_sge)
{
	return ibfab_queue_init(queue, wrs, max_sge,
				struct_size((struct ibfab_rwr *)NULL, sge,
					    max_sge));
}

/**
 * ibfab_queue_free() - Free a queue's memory.
 * @queue: the queue, to which nobody posts and which the engine does not use any more
 *
 * Context: process.
 */
void ibfab_queue_free(struct ibfab_queue *queue)
{
	kvfree(queue->ring);
}

/**
 * ibfab_queue_peek() - Get the oldest WR of a queue.
 * @queue: the queue
 *
 * Context: the engine.
 * Return: &struct ibfab_swr or &struct ibfab_rwr, which is valid until ibfab_queue_pop(), or NULL
 * if the queue is empty.
 */
void *ibfab_queue_peek(const struct ibfab_queue *queue)
{
	if (queue->cons == ibfab_queue_posted(queue))
		return NULL;
	return ibfab_queue_slot(queue, queue->cons);
}

/**
 * ibfab_queue_pop() - Release the slot of the oldest WR.
 * @queue: the queue, which is not empty
 *
 * Context: the engine.
 */
void ibfab_queue_pop(struct ibfab_queue *queue)
{
	/* Pairs with the load in ibfab_queue_room() */
	smp_store_release(&queue->cons, queue->cons + 1);
}

/**
 * ibfab_gather() - Copy bytes from the buffers of a send WR.
 * @to: where they are copied to
 * @wr: the WR
 * @offset: offset of the first byte in the message
 * @len: how many bytes, all of them within the message
 *
 * Context: the engine.
 */
void ibfab_gather(u8 *to, const struct ibfab_swr *wr, u32 offset, u32 len)
{
	const struct ib_sge *sge;
	u32 part;

	if (wr->flags & IB_SEND_INLINE) {
		memcpy(to, wr->inline_data + offset, len);
		return;
	}
	for (sge = wr->sge; len; sge++) {
		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		part = min(len, sge->length - offset);
		memcpy(to, (void *)(uintptr_t)sge->addr + offset, part);
		to += part;
		len -= part;
		offset = 0;
	}
}
