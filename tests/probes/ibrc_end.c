// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: the two ends of a run, each with PD, CQs, SRQ, QPs and buffers.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "ibrc.h"

/* The WR that ib_drain_qp() posts to each queue */
#define IBRC_DRAIN	1

/* Events */

static void count_event(struct ibrc_end *end, const struct ib_event *event)
{
	if (event->event < IBRC_NUM_EVENTS)
		atomic_inc(&end->run->result->events[event->event]);
	wake_up(&ibrc_wait);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct ibrc_qp *qp = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		atomic_inc(&qp->last_wqe);
	count_event(qp->end, event);
}

static void srq_event(struct ib_event *event, void *context)
{
	count_event(context, event);
}

/* Buffers */

static int buf_create(struct ibrc_end *end, struct ibrc_buf *buf, u32 room)
{
	u32 sges = end->run->params.sge;
	size_t bytes = room + (sges + 1) * IBRC_GUARD;
	void *data;

	buf->end = end;
	buf->sge = kcalloc(sges, sizeof(*buf->sge), GFP_KERNEL);
	if (!buf->sge)
		return -ENOMEM;
	data = alloc_pages_exact(bytes, GFP_KERNEL);
	if (!data)
		goto err_sge;
	memset(data, IBRC_POISON, bytes);
	if (!ibprobe_buf_map(&buf->mem, end->ibdev, data, bytes, DMA_BIDIRECTIONAL))
		return 0;
	free_pages_exact(data, bytes);
err_sge:
	kfree(buf->sge);
	return -ENOMEM;
}

static void buf_destroy(struct ibrc_buf *buf)
{
	ibprobe_buf_unmap(&buf->mem);
	free_pages_exact(buf->mem.data, buf->mem.size);
	kfree(buf->sge);
}

static void ring_destroy(struct ibrc_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->depth; i++)
		buf_destroy(&ring->bufs[i]);
	kvfree(ring->bufs);
}

/* Creates the buffers of a QP's queue, or of an SRQ if @qp is NULL */
static int ring_create(struct ibrc_end *end, struct ibrc_ring *ring, u32 depth, u32 room,
		       struct ibrc_qp *qp, void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ibrc_buf *buf;
	int ret;

	ring->bufs = kvcalloc(depth, sizeof(*ring->bufs), GFP_KERNEL);
	if (!ring->bufs)
		return -ENOMEM;
	for (; ring->depth < depth; ring->depth++) {
		buf = &ring->bufs[ring->depth];
		buf->cqe.done = done;
		buf->qp = qp;
		buf->number = ring->depth;
		ret = buf_create(end, buf, room);
		if (ret) {
			ring_destroy(ring);
			return ret;
		}
	}
	return 0;
}

/* The list of a receive buffer is built once, with the length of all receives */
static int recvs_create(struct ibrc_end *end, struct ibrc_ring *ring, u32 depth,
			struct ibrc_qp *qp)
{
	u32 i, room = end->run->params.recv;
	int ret;

	ret = ring_create(end, ring, depth, room, qp, ibrc_recv_done);
	if (ret)
		return ret;
	for (i = 0; i < depth; i++)
		ibrc_buf_cut(&ring->bufs[i], room);
	return 0;
}

/* QPs */

/**
 * ibrc_qp_make() - Verb: create a QP.
 * @qp: the end of the connection, which determines the CQs and the SRQ
 * @cap: the capabilities of the QP
 *
 * Context: the run.
 * Return: the QP, or an error pointer.
 */
struct ib_qp *ibrc_qp_make(struct ibrc_qp *qp, const struct ib_qp_cap *cap)
{
	struct ibrc_end *end = qp->end;
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = qp,
		.qp_type = ibrc_type(end->run),
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.srq = end->srq,
		.cap = *cap,
	};

	return ib_create_qp(end->pd, &init);
}

/**
 * ibrc_recv() - Verb: post receive WRs, to the SRQ if there is one.
 * @end: the end
 * @qp: the QP; may be NULL if there is an SRQ
 * @wr: the WRs
 * @bad: set to the WR that was refused; NULL if that does not matter
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_recv(const struct ibrc_end *end, const struct ibrc_qp *qp, const struct ib_recv_wr *wr,
	      const struct ib_recv_wr **bad)
{
	if (end->srq)
		return ib_post_srq_recv(end->srq, wr, bad);
	return ib_post_recv(qp->ib, wr, bad);
}

static int qp_create(struct ibrc_end *end, struct ibrc_qp *qp, u32 index)
{
	const struct ibrc_params *params = &end->run->params;
	struct ib_qp_cap cap = {
		.max_send_wr = params->depth + IBRC_DRAIN,
		.max_recv_wr = end->srq ? 0 : params->depth + IBRC_DRAIN,
		.max_send_sge = params->sge,
		.max_recv_sge = end->srq ? 0 : params->sge,
		.max_inline_data = params->inline_data,
	};
	int ret;

	qp->end = end;
	qp->index = index;
	/* The two directions begin with different PSNs */
	qp->psn = (params->psn + 7 * (end - end->run->ends)) & IBRC_PSN_MASK;
	qp->ib = ibrc_qp_make(qp, &cap);
	if (IS_ERR(qp->ib))
		return PTR_ERR(qp->ib);
	ret = ring_create(end, &qp->tx, params->depth, params->max, qp, ibrc_send_done);
	if (ret)
		goto err_qp;
	if (!end->srq)
		ret = recvs_create(end, &qp->rx, params->depth, qp);
	if (ret)
		goto err_sends;
	return 0;

err_sends:
	ring_destroy(&qp->tx);
err_qp:
	ib_destroy_qp(qp->ib);
	return ret;
}

static void qp_destroy(struct ibrc_qp *qp)
{
	if (qp->ib)
		ib_destroy_qp(qp->ib);
	ring_destroy(&qp->rx);
	ring_destroy(&qp->tx);
}

static void qps_destroy(struct ibrc_end *end, u32 n)
{
	while (n--)
		qp_destroy(&end->qps[n]);
	kfree(end->qps);
}

static int qps_create(struct ibrc_end *end)
{
	u32 i, n = end->run->params.qps;
	int ret;

	ibrc_stage(end->run, "create_qp");
	end->qps = kcalloc(n, sizeof(*end->qps), GFP_KERNEL);
	if (!end->qps)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ret = qp_create(end, &end->qps[i], i);
		if (ret) {
			qps_destroy(end, i);
			return ret;
		}
	}
	return 0;
}

static int srq_create(struct ibrc_end *end)
{
	const struct ibrc_params *params = &end->run->params;
	struct ib_srq_init_attr init = {
		.event_handler = srq_event,
		.srq_context = end,
		.srq_type = IB_SRQT_BASIC,
		.attr = {
			.max_wr = params->depth * params->qps,
			.max_sge = params->sge,
		},
	};
	struct ib_srq *srq;
	int ret;

	if (!params->srq)
		return 0;
	ibrc_stage(end->run, "create_srq");
	srq = ib_create_srq(end->pd, &init);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	ret = recvs_create(end, &end->srq_ring, init.attr.max_wr, NULL);
	if (ret)
		ib_destroy_srq(srq);
	else
		end->srq = srq;
	return ret;
}

static void srq_destroy(struct ibrc_end *end)
{
	if (!end->srq)
		return;
	ib_destroy_srq(end->srq);
	ring_destroy(&end->srq_ring);
}

/* Ends */

static int cqs_create(struct ibrc_end *end)
{
	const struct ibrc_params *params = &end->run->params;
	u32 depth = params->qps * (params->depth + IBRC_DRAIN);

	ibrc_stage(end->run, "create_cq");
	end->send_cq = ib_alloc_cq(end->ibdev, end, depth, 0, IB_POLL_DIRECT);
	if (IS_ERR(end->send_cq))
		return PTR_ERR(end->send_cq);
	end->recv_cq = ib_alloc_cq(end->ibdev, end, depth, 0, IB_POLL_DIRECT);
	if (!IS_ERR(end->recv_cq))
		return 0;
	ib_free_cq(end->send_cq);
	return PTR_ERR(end->recv_cq);
}

static void cqs_destroy(struct ibrc_end *end)
{
	ib_free_cq(end->recv_cq);
	ib_free_cq(end->send_cq);
}

static int end_query(struct ibrc_end *end)
{
	ibrc_stage(end->run, "query_port");
	return ib_query_port(end->ibdev, IBRC_PORT, &end->port) ?:
	       rdma_query_gid(end->ibdev, IBRC_PORT, 0, &end->gid);
}

static int end_create(struct ibrc_end *end)
{
	int ret;

	end->ibdev = end->dev->ibdev;
	ret = end_query(end);
	if (ret)
		return ret;
	ibrc_stage(end->run, "alloc_pd");
	end->pd = ib_alloc_pd(end->ibdev, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->lkey = end->pd->local_dma_lkey;
	ret = cqs_create(end);
	if (ret)
		goto err_pd;
	ret = srq_create(end);
	if (ret)
		goto err_cqs;
	ret = qps_create(end);
	if (ret)
		goto err_srq;
	return 0;

err_srq:
	srq_destroy(end);
err_cqs:
	cqs_destroy(end);
err_pd:
	ib_dealloc_pd(end->pd);
	return ret;
}

static void end_destroy(struct ibrc_end *end)
{
	qps_destroy(end, end->run->params.qps);
	srq_destroy(end);
	cqs_destroy(end);
	ib_dealloc_pd(end->pd);
}

/**
 * ibrc_ends_create() - Create both ends of a run.
 * @run: the run, which holds its HCAs
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_ends_create(struct ibrc_run *run)
{
	u32 i;
	int ret;

	ret = end_create(&run->ends[0]);
	if (ret)
		return ret;
	ret = end_create(&run->ends[1]);
	if (ret) {
		end_destroy(&run->ends[0]);
		return ret;
	}
	for (i = 0; i < run->params.qps; i++) {
		run->ends[0].qps[i].peer = &run->ends[1].qps[i];
		run->ends[1].qps[i].peer = &run->ends[0].qps[i];
	}
	return 0;
}

/**
 * ibrc_ends_destroy() - Undo ibrc_ends_create().
 * @run: the run, which may have outstanding WRs
 *
 * Context: the run.
 */
void ibrc_ends_destroy(struct ibrc_run *run)
{
	end_destroy(&run->ends[1]);
	end_destroy(&run->ends[0]);
}
