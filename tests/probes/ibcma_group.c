// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibcma: memberships in multicast groups. For a kernel QP the RDMA CM only joins the group at the
 * SA and reports the attributes of the group. The QP is created and attached here.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "ibcma.h"

#define IBCMA_SHOWN	64	/* bytes of the last packet */

struct ibcma_member {
	struct ibcma_thing thing;
	struct ibcma_queue queue;
	struct rdma_cm_id *id;
	struct completion joined;	/* the SA has answered */
	int status;			/* the result */
	union ib_gid mgid;
	u16 mlid;
	bool attached;
	spinlock_t lock;	/* protects the following members */
	u64 packets;
	u32 last_length;
	u8 last[IBCMA_SHOWN];
};

static void member_received(struct ibcma_slot *slot, const struct ib_wc *wc)
{
	struct ibcma_queue *queue = slot->queue;
	struct ibcma_member *member = container_of(queue, struct ibcma_member, queue);

	spin_lock(&member->lock);
	member->packets++;
	member->last_length = wc->byte_len - queue->offset;
	memcpy(member->last, slot->buf.data + queue->offset,
	       min_t(u32, member->last_length, IBCMA_SHOWN));
	spin_unlock(&member->lock);
	if (ibcma_slot_receive(slot))
		atomic_inc(&queue->errors);
}

static int member_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct ibcma_member *member = id->context;
	struct rdma_ud_param *param = &event->param.ud;
	int status = event->status;

	if (event->event != RDMA_CM_EVENT_MULTICAST_JOIN &&
	    event->event != RDMA_CM_EVENT_MULTICAST_ERROR)
		return 0;
	if (event->event == RDMA_CM_EVENT_MULTICAST_JOIN) {
		member->mgid = rdma_ah_read_grh(&param->ah_attr)->dgid;
		member->mlid = rdma_ah_get_dlid(&param->ah_attr);
		status = ibcma_queue_aim(&member->queue, param);
	} else if (!status) {
		status = -EIO;
	}
	member->status = status;
	complete(&member->joined);
	return 0;
}

/* The RDMA CM does not attach a kernel QP */
static int member_attach(struct ibcma_member *member)
{
	struct rdma_cm_id *id = member->id;
	u16 index;
	int ret;

	ret = ib_find_cached_pkey(id->device, id->port_num,
				  ib_addr_get_pkey(&id->route.addr.dev_addr), &index) ?:
	      ibprobe_ud_to_rts(member->queue.qp, id->port_num, index, member->queue.target.qkey) ?:
	      ibcma_queue_post(&member->queue) ?:
	      ib_attach_mcast(member->queue.qp, &member->mgid, member->mlid);
	member->attached = !ret;
	return ret;
}

static int member_join(struct ibcma_member *member, const struct ibcma_params *params)
{
	int ret;

	ret = rdma_join_multicast(member->id, (struct sockaddr *)&params->there,
				  BIT(FULLMEMBER_JOIN), NULL);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&member->joined, IBCMA_TIMEOUT))
		return -ETIMEDOUT;
	return member->status ?: member_attach(member);
}

static int member_queue(struct ibcma_member *member)
{
	struct ibcma_queue *queue = &member->queue;
	struct ib_qp *qp;
	int ret;

	if (!member->id->device)
		return -ENODEV;
	ret = ibcma_queue_init(queue, member->id->device, true, member_received);
	if (ret)
		return ret;
	qp = ibprobe_ud_create(&queue->end, IBCMA_SLOTS + 1, IBCMA_SLOTS, 0);
	if (IS_ERR(qp)) {
		ibcma_queue_free(queue);
		return PTR_ERR(qp);
	}
	queue->qp = qp;
	return 0;
}

/* After the ID is destroyed, no event creates an AH any more */
static void member_free(struct ibcma_thing *thing)
{
	struct ibcma_member *member = container_of(thing, struct ibcma_member, thing);
	struct ibcma_queue *queue = &member->queue;

	if (member->attached)
		ib_detach_mcast(queue->qp, &member->mgid, member->mlid);
	if (member->id)
		rdma_destroy_id(member->id);
	if (queue->qp) {
		ibcma_queue_quiesce(queue);
		ib_destroy_qp(queue->qp);
		ibcma_queue_free(queue);
	}
	kfree(member);
}

/* Returns when the HCA has sent the datagram, so that its buffer can be used again */
static int send_one(struct ibcma_queue *queue, u32 size)
{
	int errors = atomic_read(&queue->errors);
	int ret;

	ret = ibcma_slot_send(&queue->out, 0, size, &queue->target);
	if (ret)
		return ret;
	if (!wait_event_idle_timeout(ibcma_wait, atomic_read_acquire(&queue->posted) <= IBCMA_SLOTS,
				     IBCMA_TIMEOUT))
		return -ETIMEDOUT;
	return atomic_read(&queue->errors) == errors ? 0 : -EIO;
}

static int member_send(struct ibcma_thing *thing, const struct ibcma_params *params)
{
	struct ibcma_member *member = container_of(thing, struct ibcma_member, thing);
	struct ibcma_queue *queue = &member->queue;
	struct ibcma_slot *out = &queue->out;
	int ret = 0;
	u32 i;

	ibprobe_buf_for_cpu(&out->buf);
	memcpy(out->buf.data, params->payload, params->size);
	for (i = 0; i < params->count && !ret; i++)
		ret = send_one(queue, params->size);
	return ret;
}

static void member_show(struct seq_file *m, struct ibcma_thing *thing)
{
	struct ibcma_member *member = container_of(thing, struct ibcma_member, thing);
	char dev[IFNAMSIZ];

	ibcma_id_dev(member->id, dev);
	seq_printf(m, "%s dev %s mgid %pI6c mlid 0x%x qkey 0x%x errors %d", thing->name, dev,
		   &member->mgid, member->mlid, member->queue.target.qkey,
		   atomic_read(&member->queue.errors));
	spin_lock(&member->lock);
	seq_printf(m, " packets %llu length %u last %*phN\n", member->packets,
		   member->last_length, (int)min_t(u32, member->last_length, IBCMA_SHOWN),
		   member->last);
	spin_unlock(&member->lock);
}

static const struct ibcma_kind member_kind = {
	.show = member_show,
	.send = member_send,
	.free = member_free,
};

/**
 * ibcma_join() - Join a multicast group.
 * @params: the name of the membership, an address of the interface, and that of the group
 *
 * Context: process; the addresses are those of its network namespace.
 * Return: 0 or a negative errno.
 */
int ibcma_join(const struct ibcma_params *params)
{
	struct ibcma_member *member;
	int ret;

	if (!params->name || !params->address || !params->peer)
		return -EINVAL;
	member = kzalloc(sizeof(*member), GFP_KERNEL);
	if (!member)
		return -ENOMEM;
	spin_lock_init(&member->lock);
	init_completion(&member->joined);
	ret = ibcma_id_create(params, true, member_event, member, &member->id) ?:
	      rdma_bind_addr(member->id, (struct sockaddr *)&params->here) ?:
	      member_queue(member) ?:
	      member_join(member, params);
	if (ret)
		member_free(&member->thing);
	else
		ibcma_thing_add(&member->thing, params->name, &member_kind);
	return ret;
}
