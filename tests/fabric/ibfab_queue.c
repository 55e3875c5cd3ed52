// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queues of work requests, and the buffers that these name.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "ibfab.h"

/**
 * ibfab_queue_init() - Set up a queue.
 * @queue: zeroed
 * @wrs: work requests that it must hold
 * @max_sge: scatter/gather entries of each
 * @stride: bytes of each
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
 * ibfab_queue_init_recv() - Set up a queue of receives.
 * @queue: zeroed
 * @wrs: work requests that it must hold
 * @max_sge: scatter/gather entries of each
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
 * @queue: the queue; nobody posts to it, and the engine does not look at it
 *
 * Context: process.
 */
void ibfab_queue_free(struct ibfab_queue *queue)
{
	kvfree(queue->ring);
}

/**
 * ibfab_queue_peek() - The oldest work request of a queue.
 * @queue: the queue
 *
 * Context: the engine.
 * Return: &struct ibfab_swr or &struct ibfab_rwr, which lasts until
 * ibfab_queue_pop(); NULL if the queue is empty.
 */
void *ibfab_queue_peek(const struct ibfab_queue *queue)
{
	if (queue->cons == ibfab_queue_posted(queue))
		return NULL;
	return ibfab_queue_slot(queue, queue->cons);
}

/**
 * ibfab_queue_pop() - Give the oldest work request's slot back.
 * @queue: a queue that is not empty
 *
 * Context: the engine.
 */
void ibfab_queue_pop(struct ibfab_queue *queue)
{
	/* Pairs with ibfab_queue_room() */
	smp_store_release(&queue->cons, queue->cons + 1);
}

/**
 * ibfab_gather() - Copy octets out of a send's buffers.
 * @to: where to
 * @wr: the work request
 * @offset: of the first one in its message
 * @len: how many; it has them
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
