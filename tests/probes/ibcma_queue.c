// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibcma: a QP with its buffers. A message is received into a buffer and can then be sent from the
 * same buffer. Completions are processed by a workqueue, so the functions may sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "ibcma.h"

DECLARE_WAIT_QUEUE_HEAD(ibcma_wait);

/* Tasks wait until all WRs have completed, or until the last send has */
static void completed(struct ibcma_queue *queue, const struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		atomic_inc(&queue->errors);
	/* Who sees that it has completed also sees its error */
	atomic_dec_return_release(&queue->posted);
	wake_up(&ibcma_wait);
}

/**
 * ibcma_slot_receive() - Post a slot as a receive WR.
 * @slot: a slot in the queue's in[]
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibcma_slot_receive(struct ibcma_slot *slot)
{
	struct ibcma_queue *queue = slot->queue;
	struct ib_sge sge = ibprobe_sge(queue->end.pd, slot->buf.addr, IBCMA_BUFFER);
	struct ib_recv_wr wr = { .wr_cqe = &slot->recv, .sg_list = &sge, .num_sge = 1 };
	int ret;

	ibprobe_buf_for_device(&slot->buf);
	atomic_inc(&queue->posted);
	ret = ib_post_recv(queue->qp, &wr, NULL);
	if (ret)
		atomic_dec(&queue->posted);
	return ret;
}

static void slot_drop_ah(struct ibcma_slot *slot)
{
	ibprobe_ah_free(slot->ah);
	slot->ah = NULL;
}

/**
 * ibcma_slot_send() - Send a message from a slot.
 * @slot: any slot; one in the queue's in[] is posted as a receive WR afterwards
 * @offset: where the message begins in the slot's buffer
 * @length: length of the message
 * @target: the destination, if it is a datagram
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibcma_slot_send(struct ibcma_slot *slot, u32 offset, u32 length,
		    const struct ibprobe_target *target)
{
	struct ibcma_queue *queue = slot->queue;
	struct ib_sge sge = ibprobe_sge(queue->end.pd, slot->buf.addr + offset, length);
	struct ib_ud_wr wr = ibprobe_ud_wr(&slot->send, &sge, target);
	int ret;

	ibprobe_buf_for_device(&slot->buf);
	atomic_inc(&queue->posted);
	ret = ib_post_send(queue->qp, &wr.wr, NULL);
	if (!ret)
		return 0;
	slot_drop_ah(slot);
	atomic_dec(&queue->posted);
	return ret;
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibcma_slot *slot = container_of(wc->wr_cqe, struct ibcma_slot, recv);
	struct ibcma_queue *queue = slot->queue;

	if (wc->status == IB_WC_SUCCESS) {
		ibprobe_buf_for_cpu(&slot->buf);
		queue->received(slot, wc);
	}
	completed(queue, wc);
}

/* A buffer that was sent back is posted again for the next message */
static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibcma_slot *slot = container_of(wc->wr_cqe, struct ibcma_slot, send);
	struct ibcma_queue *queue = slot->queue;

	slot_drop_ah(slot);
	if (wc->status == IB_WC_SUCCESS && slot != &queue->out && ibcma_slot_receive(slot))
		atomic_inc(&queue->errors);
	completed(queue, wc);
}

static int slot_init(struct ibcma_queue *queue, struct ibcma_slot *slot)
{
	slot->queue = queue;
	slot->recv.done = recv_done;
	slot->send.done = send_done;
	return ibprobe_buf_alloc(&slot->buf, queue->end.ibdev, IBCMA_BUFFER, 0, DMA_BIDIRECTIONAL);
}

static void slot_free(struct ibcma_slot *slot)
{
	slot_drop_ah(slot);
	ibprobe_buf_free(&slot->buf);
}

/**
 * ibcma_queue_quiesce() - Take a QP to ERR and wait until all its WRs have completed.
 * @queue: the queue
 *
 * A QP without WRs may be in RESET, which it cannot leave for ERR. If the HCA refuses the
 * transition, the WRs end when the QP is destroyed.
 *
 * Context: process, before the QP is destroyed.
 */
void ibcma_queue_quiesce(struct ibcma_queue *queue)
{
	if (!atomic_read(&queue->posted))
		return;
	if (ibprobe_set_state(queue->qp, IB_QPS_ERR))
		pr_err("%s: a QP does not stop\n", dev_name(&queue->end.ibdev->dev));
	else
		wait_event_idle(ibcma_wait, !atomic_read(&queue->posted));
}

/**
 * ibcma_queue_free() - Undo ibcma_queue_init().
 * @queue: the queue, whose QP was destroyed
 *
 * Context: process.
 */
void ibcma_queue_free(struct ibcma_queue *queue)
{
	int i;

	slot_free(&queue->out);
	for (i = 0; i < IBCMA_SLOTS; i++)
		slot_free(&queue->in[i]);
	ibprobe_ah_free(queue->target.ah);
	ibprobe_end_close(&queue->end);
}

/**
 * ibcma_queue_init() - Initialize a queue except for its QP.
 * @queue: zeroed
 * @ibdev: the device
 * @ud: whether the QP is a UD QP
 * @received: called for each message that comes in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibcma_queue_init(struct ibcma_queue *queue, struct ib_device *ibdev, bool ud,
		     ibcma_received received)
{
	int ret, i;

	queue->received = received;
	queue->offset = ud ? IB_GRH_BYTES : 0;
	ret = ibprobe_end_open(&queue->end, ibdev, 2 * IBCMA_SLOTS + 2, IB_POLL_WORKQUEUE);
	if (ret)
		return ret;
	ret = slot_init(queue, &queue->out);
	for (i = 0; i < IBCMA_SLOTS && !ret; i++)
		ret = slot_init(queue, &queue->in[i]);
	if (ret)
		ibcma_queue_free(queue);
	return ret;
}

/**
 * ibcma_queue_post() - Post all slots in a queue's in[] as receive WRs.
 * @queue: the queue, whose QP is in INIT or a later state
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibcma_queue_post(struct ibcma_queue *queue)
{
	int ret = 0, i;

	for (i = 0; i < IBCMA_SLOTS && !ret; i++)
		ret = ibcma_slot_receive(&queue->in[i]);
	return ret;
}

/**
 * ibcma_queue_of_id() - Initialize a queue whose QP belongs to an ID of the RDMA CM.
 * @queue: zeroed
 * @id: the ID, which is bound to a device. The RDMA CM changes the states of the QP.
 * @received: called for each message that comes in
 *
 * Context: process.
 * Return: 0, or a negative errno with nothing left allocated.
 */
int ibcma_queue_of_id(struct ibcma_queue *queue, struct rdma_cm_id *id,
		      ibcma_received received)
{
	struct ib_qp_init_attr attr;
	int ret;

	ret = ibcma_queue_init(queue, id->device, id->qp_type == IB_QPT_UD, received);
	if (ret)
		return ret;
	attr = ibprobe_qp_attr(&queue->end, id->qp_type, IBCMA_SLOTS + 1, IBCMA_SLOTS);
	ret = rdma_create_qp(id, queue->end.pd, &attr);
	if (ret)
		goto err_queue;
	queue->qp = id->qp;
	ret = ibcma_queue_post(queue);
	if (ret)
		goto err_qp;
	return 0;

err_qp:
	ibcma_queue_quiesce(queue);
	rdma_destroy_qp(id);
err_queue:
	ibcma_queue_free(queue);
	return ret;
}

/**
 * ibcma_queue_end() - Undo ibcma_queue_of_id().
 * @queue: the queue
 * @id: the ID
 *
 * Context: process.
 */
void ibcma_queue_end(struct ibcma_queue *queue, struct rdma_cm_id *id)
{
	ibcma_queue_quiesce(queue);
	rdma_destroy_qp(id);
	ibcma_queue_free(queue);
}

/**
 * ibcma_queue_aim() - Set the destination of all datagrams of a queue.
 * @queue: the queue
 * @param: the destination, as an event of the RDMA CM reports it
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibcma_queue_aim(struct ibcma_queue *queue, struct rdma_ud_param *param)
{
	struct ib_ah *ah;

	ah = rdma_create_ah(queue->end.pd, &param->ah_attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	queue->target = (struct ibprobe_target) {
		.ah = ah,
		.qpn = param->qp_num,
		.qkey = param->qkey,
	};
	return 0;
}
