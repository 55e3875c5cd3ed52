// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An HCA for the suites, without any wire: posted WRs are recorded, and
 * complete, receive and fail as the test says. It counts its objects.
 */
#include <linux/delay.h>

#include "kunit.h"

struct hca_pd {
	struct ib_pd ibpd;
};

static struct hca *to_hca(struct ib_device *ibdev)
{
	return container_of(ibdev, struct hca, ibdev);
}

static struct hca_qp *to_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct hca_qp, ibqp);
}

static struct hca_cq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct hca_cq, ibcq);
}

/* Called by every verb that may fail */
static bool fails(struct ib_device *ibdev)
{
	return !atomic_dec_return(&to_hca(ibdev)->fail_in);
}

static int made(struct ib_device *ibdev, enum hca_object kind)
{
	if (fails(ibdev))
		return -ENOMEM;
	atomic_inc(&to_hca(ibdev)->objects[kind]);
	return 0;
}

static void gone(struct ib_device *ibdev, enum hca_object kind)
{
	atomic_dec(&to_hca(ibdev)->objects[kind]);
}

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct hca *hca = to_hca(ibdev);

	attr->max_qp = 64;
	attr->max_srq = 1;
	attr->max_srq_sge = 32;
	attr->max_qp_wr = hca->max_qp_wr;
	attr->max_cqe = hca->max_cqe;
	attr->max_cq = 64;
	attr->max_send_sge = 32;
	attr->max_recv_sge = 2;
	attr->max_pkeys = HCA_PKEYS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct hca *hca = to_hca(ibdev);

	atomic_inc(&hca->queries);
	if (fails(ibdev))
		return -ENOMEM;
	attr->state = hca->state;
	attr->max_mtu = hca->max_mtu;
	attr->active_mtu = hca->max_mtu;
	attr->gid_tbl_len = 2;
	attr->pkey_tbl_len = HCA_PKEYS;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

/* Without IB MADs, so that no client but the driver uses the port */
static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = HCA_PKEYS;
	immutable->gid_tbl_len = 2;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	atomic_inc(&to_hca(ibdev)->queries);
	if (fails(ibdev))
		return -ENOMEM;
	if (index >= HCA_PKEYS)
		return -EINVAL;
	*pkey = to_hca(ibdev)->pkeys[index];
	return 0;
}

static int query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	*gid = index ? to_hca(ibdev)->alias : to_hca(ibdev)->gid;
	return 0;
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return made(ibpd->device, HCA_PD);
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	gone(ibpd->device, HCA_PD);
	return 0;
}

static int create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	struct hca_ah *ah = container_of(ibah, struct hca_ah, ibah);

	ah->dlid = rdma_ah_get_dlid(init->ah_attr);
	return made(ibah->device, HCA_AH);
}

static int destroy_ah(struct ib_ah *ibah, u32 flags)
{
	gone(ibah->device, HCA_AH);
	return 0;
}

static struct ib_mr *get_dma_mr(struct ib_pd *ibpd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

/* As in an interrupt: NAPI polls as soon as bottom halves are enabled again */
static void cq_interrupt(struct ib_cq *ibcq)
{
	WRITE_ONCE(to_cq(ibcq)->armed, false);
	local_bh_disable();
	ibcq->comp_handler(ibcq, ibcq->cq_context);
	local_bh_enable();
}

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct compat_cq_udata *udata)
{
	struct hca_cq *cq = to_cq(ibcq);
	u32 room = to_hca(ibcq->device)->cq_room;
	int err;

	if (room && attr->cqe > room)
		return -EINVAL;
	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	ibcq->cqe = attr->cqe;
	cq->vector = attr->comp_vector;
	cq->wc = kcalloc(cq->size, sizeof(*cq->wc), GFP_KERNEL);
	if (!cq->wc)
		return -ENOMEM;
	err = made(ibcq->device, HCA_CQ);
	if (err)
		kfree(cq->wc);
	return err;
}

/* An event may be on its way to the CPU until the CQ is gone */
static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	if (READ_ONCE(to_cq(ibcq)->armed))
		cq_interrupt(ibcq);
	kfree(to_cq(ibcq)->wc);
	gone(ibcq->device, HCA_CQ);
	return 0;
}

static int modify_cq(struct ib_cq *ibcq, u16 frames, u16 usecs)
{
	struct completion *gate = READ_ONCE(to_hca(ibcq->device)->gate);
	struct hca_cq *cq = to_cq(ibcq);

	if (gate)
		wait_for_completion_timeout(gate, 5 * HZ);
	if (fails(ibcq->device))
		return -ENOMEM;
	cq->frames = frames;
	cq->usecs = usecs;
	return 0;
}

static int poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc)
{
	struct hca_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < count && cq->tail != cq->head)
		wc[n++] = cq->wc[cq->tail++ % cq->size];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags wanted)
{
	struct hca_cq *cq = to_cq(ibcq);

	WRITE_ONCE(cq->armed, true);
	return READ_ONCE(cq->tail) != READ_ONCE(cq->head);
}

static void cq_put(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct hca_cq *cq = to_cq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->wc[cq->head++ % cq->size] = *wc;
	spin_unlock_irqrestore(&cq->lock, flags);
}

static int create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	return 0;
}

static int destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	return 0;
}

static int modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		      struct ib_udata *udata)
{
	if (mask & IB_SRQ_LIMIT)
		container_of(ibsrq, struct hca_srq, ibsrq)->limit = attr->srq_limit;
	return 0;
}

static int post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	for (; wr; wr = wr->next)
		container_of(ibsrq, struct hca_srq, ibsrq)->posted++;
	return 0;
}

static bool has_room(const struct hca *hca, const struct ib_qp_cap *cap)
{
	return !hca->send_room ||
	       cap->max_send_wr * (64 + 16 * cap->max_send_sge) <= hca->send_room;
}

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct hca_qp *qp = to_qp(ibqp);
	struct hca *hca = to_hca(ibqp->device);
	int err = -ENOMEM;

	if (!has_room(hca, &init->cap))
		return -EINVAL;
	spin_lock_init(&qp->lock);
	qp->create_flags = init->create_flags;
	qp->recv_size = init->cap.max_recv_wr;
	qp->send_size = init->cap.max_send_wr;
	qp->recv = kcalloc(qp->recv_size, sizeof(*qp->recv), GFP_KERNEL);
	qp->sends = kcalloc(qp->send_size, sizeof(*qp->sends), GFP_KERNEL);
	if (qp->recv && qp->sends)
		err = made(ibqp->device, HCA_QP);
	if (err) {
		kfree(qp->recv);
		kfree(qp->sends);
		return err;
	}
	ibqp->qp_num = hca->next_qpn++;
	hca->qp = qp;
	return 0;
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct hca_qp *qp = to_qp(ibqp);
	struct hca *hca = to_hca(ibqp->device);
	struct ib_event event = {
		.device = ibqp->device,
		.element.qp = ibqp,
		.event = IB_EVENT_QP_FATAL,
	};

	if (hca->dies_loudly) {
		hca->deaths++;
		ibqp->event_handler(&event, ibqp->qp_context);
	}
	if (hca->qp == qp)
		hca->qp = NULL;
	kfree(qp->recv);
	kfree(qp->sends);
	gone(ibqp->device, HCA_QP);
	return 0;
}

static bool qp_pop_send(struct hca_qp *qp, struct hca_posted *send)
{
	unsigned long flags;
	bool some;

	spin_lock_irqsave(&qp->lock, flags);
	some = qp->send_tail != qp->send_head;
	if (some)
		*send = qp->sends[qp->send_tail++ % qp->send_size];
	spin_unlock_irqrestore(&qp->lock, flags);
	return some;
}

static bool qp_pop_recv(struct hca_qp *qp, struct hca_recv *recv)
{
	unsigned long flags;
	bool some;

	spin_lock_irqsave(&qp->lock, flags);
	some = qp->recv_tail != qp->recv_head;
	if (some)
		*recv = qp->recv[qp->recv_tail++ % qp->recv_size];
	spin_unlock_irqrestore(&qp->lock, flags);
	return some;
}

/* Completes all WRs, without an interrupt */
static void qp_give_back(struct hca_qp *qp)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR, .qp = &qp->ibqp };
	struct hca_posted send;
	struct hca_recv recv;

	while (qp_pop_send(qp, &send)) {
		wc.wr_id = send.wr_id;
		qp->flushed++;
		cq_put(qp->ibqp.send_cq, &wc);
	}
	while (qp_pop_recv(qp, &recv)) {
		wc.wr_id = recv.wr_id;
		qp->flushed++;
		cq_put(qp->ibqp.recv_cq, &wc);
	}
}

static void qp_flush(struct hca_qp *qp)
{
	if (to_hca(qp->ibqp.device)->stuck)
		return;
	qp_give_back(qp);
	cq_interrupt(qp->ibqp.send_cq);
	cq_interrupt(qp->ibqp.recv_cq);
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	struct hca_qp *qp = to_qp(ibqp);

	if (fails(ibqp->device))
		return -ENOMEM;
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (!(mask & IB_QP_STATE))
		return 0;
	qp->state = attr->qp_state;
	if (qp->state == IB_QPS_ERR)
		qp_flush(qp);
	if (qp->state == IB_QPS_RESET) {
		if (to_hca(ibqp->device)->lingers)
			qp_give_back(qp);
		qp->recv_tail = qp->recv_head;
		qp->send_tail = qp->send_head;
	}
	return 0;
}

static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	attr->qp_state = to_qp(ibqp)->state;
	attr->port_num = 1;
	return 0;
}

/* Without a DMA device, DMA addresses are kernel virtual addresses. With one
 * they are physical addresses, as there is neither an IOMMU nor bounce buffers.
 */
static void *dma_memory(const struct hca *hca, u64 addr)
{
	return hca->ibdev.dma_device ? phys_to_virt(addr) : (void *)(uintptr_t)addr;
}

static void show_send(struct hca *hca, const struct hca_send *send, const struct ib_ud_wr *wr)
{
	u8 *octets = kmalloc(send->length, GFP_ATOMIC);
	u32 done = 0;
	int i;

	if (!octets)
		return;
	for (i = 0; i < wr->wr.num_sge; i++) {
		memcpy(octets + done, dma_memory(hca, wr->wr.sg_list[i].addr),
		       wr->wr.sg_list[i].length);
		done += wr->wr.sg_list[i].length;
	}
	hca->seen(hca, send, octets);
	kfree(octets);
}

static void log_send(struct hca *hca, struct ib_qp *ibqp, const struct ib_ud_wr *wr)
{
	struct hca_send *send = &hca->log[hca->logged++ % HCA_LOG];
	int i;

	*send = (struct hca_send) {
		.wr_id = wr->wr.wr_id,
		.opcode = wr->wr.opcode,
		.flags = wr->wr.send_flags,
		.num_sge = wr->wr.num_sge,
		.source_qpn = ibqp->qp_num,
		.qpn = wr->remote_qpn,
		.qkey = wr->remote_qkey,
		.dlid = container_of(wr->ah, struct hca_ah, ibah)->dlid,
		.doorbell = hca->doorbells,
	};
	for (i = 0; i < wr->wr.num_sge; i++)
		send->length += wr->wr.sg_list[i].length;
	if (hca->seen)
		show_send(hca, send, wr);
	if (send->opcode != IB_WR_LSO)
		return;
	send->mss = wr->mss;
	send->hlen = wr->hlen;
}

static void sends_complete(struct hca *hca, struct hca_qp *qp, u32 count,
			   enum ib_wc_status status)
{
	struct ib_wc wc = {
		.status = status,
		.opcode = IB_WC_SEND,
		.qp = &qp->ibqp,
	};
	struct hca_posted send;

	while (count-- && qp_pop_send(qp, &send)) {
		wc.wr_id = send.wr_id;
		if (send.signaled || status != IB_WC_SUCCESS)
			cq_put(qp->ibqp.send_cq, &wc);
	}
	cq_interrupt(qp->ibqp.send_cq);
}

static int post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct hca *hca = to_hca(ibqp->device);
	struct hca_qp *qp = to_qp(ibqp);

	hca->doorbells++;
	if (hca->mute)
		return -EINVAL;
	for (; wr; wr = wr->next) {
		if (fails(ibqp->device) || qp->send_head - qp->send_tail == qp->send_size) {
			*bad = wr;
			return -ENOMEM;
		}
		log_send(hca, ibqp, ud_wr(wr));
		qp->sends[qp->send_head++ % qp->send_size] = (struct hca_posted) {
			.wr_id = wr->wr_id,
			.signaled = wr->send_flags & IB_SEND_SIGNALED,
		};
	}
	if (qp->state == IB_QPS_ERR)
		qp_flush(qp);
	else if (!hca->hold)
		sends_complete(hca, qp, U32_MAX, IB_WC_SUCCESS);
	return 0;
}

static int post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct hca_qp *qp = to_qp(ibqp);
	struct hca_recv *recv;

	if (to_hca(ibqp->device)->mute)
		return -EINVAL;
	*bad = wr;
	if (fails(ibqp->device))
		return -ENOMEM;
	for (; wr; wr = wr->next) {
		if (qp->recv_head - qp->recv_tail == qp->recv_size) {
			*bad = wr;
			return -ENOMEM;
		}
		recv = &qp->recv[qp->recv_head++ % qp->recv_size];
		recv->wr_id = wr->wr_id;
		recv->addr = wr->sg_list->addr;
		recv->length = wr->sg_list->length;
	}
	if (qp->state == IB_QPS_ERR)
		qp_flush(qp);
	return 0;
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	int err = made(ibqp->device, HCA_ATTACHED);

	if (!err)
		to_hca(ibqp->device)->attached_mlid = lid;
	return err;
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	if (atomic_add_unless(&to_hca(ibqp->device)->fail_detach, -1, 0))
		return -ENOMEM;
	gone(ibqp->device, HCA_ATTACHED);
	return 0;
}

static const struct ib_device_ops hca_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.query_pkey = query_pkey,
	.query_gid = query_gid,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.destroy_ah = destroy_ah,
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = compat_reg_user_mr,
	.dereg_mr = dereg_mr,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.modify_cq = modify_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.modify_srq = modify_srq,
	.post_srq_recv = post_srq_recv,
	.create_qp = create_qp,
	.destroy_qp = destroy_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	.attach_mcast = attach_mcast,
	.detach_mcast = detach_mcast,
	INIT_RDMA_OBJ_SIZE(ib_pd, hca_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ah, hca_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, hca_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_qp, hca_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, hca_srq, ibsrq),
};

static void hca_preset(struct hca *hca)
{
	hca->state = IB_PORT_ACTIVE;
	hca->max_mtu = IB_MTU_4096;
	hca->gid.global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	hca->gid.global.interface_id = cpu_to_be64(0x021bfa0100000001ULL);
	hca->pkeys[0] = 0xffff;
	hca->max_qp_wr = 16384;
	hca->max_cqe = 16384;
	hca->next_qpn = 0x123456;
}

/**
 * hca_register() - register an HCA with an active port, without a DMA device
 *
 * Context: may sleep.
 * Return: the HCA, to be passed to hca_unregister(), or NULL.
 */
struct hca *hca_register(void)
{
	return hca_register_with(NULL);
}

/**
 * hca_register_with() - like hca_register(), with a DMA device
 * @dma_device: the device, from dma_begin()
 *
 * Context: may sleep.
 * Return: the HCA, to be passed to hca_unregister(), or NULL.
 */
struct hca *hca_register_with(struct device *dma_device)
{
	struct hca *hca = ib_alloc_device(hca, ibdev);

	if (!hca)
		return NULL;
	hca_preset(hca);
	hca->ibdev.phys_port_cnt = 1;
	hca->ibdev.num_comp_vectors = 1;
	hca->ibdev.node_type = RDMA_NODE_IB_CA;
	hca->ibdev.node_guid = cpu_to_be64(0x021bfa0100000000ULL);
	ib_set_device_ops(&hca->ibdev, &hca_ops);
	if (!ib_register_device(&hca->ibdev, "ipoibkunit%d", dma_device))
		return hca;
	ib_dealloc_device(&hca->ibdev);
	return NULL;
}

/**
 * hca_unregister() - unregister and free an HCA
 * @hca: the HCA, which is not in use any more
 *
 * Context: may sleep.
 */
void hca_unregister(struct hca *hca)
{
	ib_unregister_device(&hca->ibdev);
	ib_dealloc_device(&hca->ibdev);
}

/**
 * hca_leaks() - count the objects that still exist
 * @hca: the HCA
 *
 * Context: any.
 * Return: the number of objects, 0 if all were destroyed.
 */
int hca_leaks(struct hca *hca)
{
	int i, n = 0;

	for (i = 0; i < HCA_OBJECTS; i++)
		n += abs(atomic_read(&hca->objects[i]));
	return n;
}

/**
 * hca_event() - dispatch an event of the port, and wait for its handlers
 * @hca: the HCA
 * @type: the event
 *
 * Context: may sleep.
 */
void hca_event(struct hca *hca, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &hca->ibdev,
		.element.port_num = 1,
		.event = type,
	};

	ib_dispatch_event(&event);
	flush_workqueue(ib_wq);
}

/**
 * hca_port_state() - change the state of the port, and dispatch the event for it
 * @hca: the HCA
 * @state: the new state
 *
 * Context: may sleep.
 */
void hca_port_state(struct hca *hca, enum ib_port_state state)
{
	hca->state = state;
	hca_event(hca, state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/**
 * hca_pkey() - change an entry of the P_Key table, as the SM does
 * @hca: the HCA
 * @index: the index of the entry
 * @pkey: the P_Key
 *
 * Context: may sleep.
 */
void hca_pkey(struct hca *hca, u16 index, u16 pkey)
{
	hca->pkeys[index] = pkey;
	hca_event(hca, IB_EVENT_PKEY_CHANGE);
}

/* The driver's poll has finished, or NAPI is disabled */
static bool napi_is_idle(const struct napi_struct *napi)
{
	unsigned long state = READ_ONCE(napi->state);

	return !(state & NAPIF_STATE_SCHED) || state & NAPIF_STATE_NPSVC;
}

static bool cq_is_empty(struct ib_cq *ibcq)
{
	struct hca_cq *cq = to_cq(ibcq);

	return READ_ONCE(cq->head) == READ_ONCE(cq->tail);
}

static bool qp_is_idle(struct hca_qp *qp)
{
	const struct ipoib_txq *tx = qp->ibqp.send_cq->cq_context;

	return cq_is_empty(qp->ibqp.send_cq) && cq_is_empty(qp->ibqp.recv_cq) &&
	       napi_is_idle(tx->napi) && napi_is_idle(tx->priv->rx.napi);
}

/**
 * hca_choose() - set the QP that the functions below use
 * @hca: the HCA
 * @ibqp: one of its QPs
 *
 * Context: any.
 */
void hca_choose(struct hca *hca, struct ib_qp *ibqp)
{
	hca->qp = to_qp(ibqp);
}

/**
 * hca_break() - move the QP to the error state without an event
 * @hca: the HCA
 *
 * Context: process.
 */
void hca_break(struct hca *hca)
{
	hca->qp->state = IB_QPS_ERR;
	qp_flush(hca->qp);
}

/**
 * hca_wait() - wait until all completions have been polled
 * @hca: the HCA
 *
 * A late softirq may poll them after the function that caused them has returned.
 *
 * Context: process.
 */
void hca_wait(struct hca *hca)
{
	unsigned long limit = jiffies + 30 * HZ;

	while (time_before(jiffies, limit)) {
		if (qp_is_idle(hca->qp))
			return;
		usleep_range(100, 200);
	}
	WARN(1, "completions were not polled within 30 s\n");
}

/* Without a DMA device, DMA addresses are kernel virtual addresses */
static void put_received(struct hca *hca, const struct hca_recv *recv, const void *data, u32 len)
{
	if (hca->ibdev.dma_device)
		dma_write(recv->addr, data, len);
	else
		memcpy((void *)(uintptr_t)recv->addr, data, len);
}

/**
 * hca_receive() - receive a packet, and wait until it has been polled
 * @hca: the HCA
 * @data: @len octets that are written to the buffer; may be NULL
 * @len: the length in the CQE
 * @like: the other fields of the CQE
 *
 * Context: may sleep.
 * Return: 0, or -ENOBUFS if no receive WR is posted.
 */
int hca_receive(struct hca *hca, const void *data, u32 len, const struct ib_wc *like)
{
	struct ib_wc wc = *like;
	struct hca_recv recv;

	if (!qp_pop_recv(hca->qp, &recv))
		return -ENOBUFS;
	if (data)
		put_received(hca, &recv, data, min(len, recv.length));
	wc.wr_id = recv.wr_id;
	wc.byte_len = len;
	cq_put(hca->qp->ibqp.recv_cq, &wc);
	cq_interrupt(hca->qp->ibqp.recv_cq);
	hca_wait(hca);
	return 0;
}

/**
 * hca_complete() - complete sends, and wait until they have been polled
 * @hca: the HCA
 * @count: how many, the oldest first
 * @status: the status of each
 *
 * Context: process.
 */
void hca_complete(struct hca *hca, u32 count, enum ib_wc_status status)
{
	sends_complete(hca, hca->qp, count, status);
	hca_wait(hca);
}

/**
 * hca_sent() - get the record of a WR that was posted
 * @hca: the HCA
 * @index: 0 for the last WR, 1 for the one before, and so on
 *
 * Context: any.
 * Return: the record.
 */
const struct hca_send *hca_sent(struct hca *hca, u32 index)
{
	return &hca->log[(hca->logged - 1 - index) % HCA_LOG];
}
