// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: scenarios with requests that a responder must refuse. The peer has no memory for RDMA
 * WRITE. An RDMA WRITE of no bytes needs no R_Key and must succeed (IBA volume 1, 9.7.4.1.5).
 * Others are SENDs that become invalid on their way.
 */
#include "ibrc.h"

#define WRITE_IMM	0x01bfa000

/* An RDMA WRITE, and the receive WR for its immediate data */
struct write {
	struct ibrc_ended send;
	struct ibrc_ended recv;
};

/* Posts an RDMA WRITE with an arbitrary address and R_Key, neither of which the peer has */
static int post_write(struct ibrc_qp *qp, struct write *write,
		      enum ib_wr_opcode opcode, u32 length)
{
	struct ib_sge sge = ibprobe_sge(qp->end->pd, qp->tx.bufs[0].mem.addr, length);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &write->send.cqe,
			.sg_list = &sge,
			.num_sge = !!length,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(WRITE_IMM),
		},
		.remote_addr = PAGE_SIZE,
		.rkey = 1,
	};

	write->send.cqe.done = ibrc_note_ended;
	return ib_post_send(qp->ib, &wr.wr, NULL);
}

static int post_empty_recv(struct ibrc_qp *qp, struct write *write)
{
	struct ib_recv_wr wr = { .wr_cqe = &write->recv.cqe };

	write->recv.cqe.done = ibrc_note_ended;
	return ibrc_recv(qp->end, qp, &wr, NULL);
}

static void expect_status(struct ibrc_run *run, const struct write *write,
			  enum ib_wc_status status)
{
	ibrc_expect_is(run, write->send.wc.status, status, "status of the write");
}

static void expect_imm(struct ibrc_run *run, const struct write *write)
{
	const struct ib_wc *wc = &write->recv.wc;
	u32 imm = be32_to_cpu(wc->ex.imm_data);

	ibrc_expect_is(run, wc->status, IB_WC_SUCCESS, "status of the receive");
	ibrc_expect_is(run, wc->opcode, IB_WC_RECV_RDMA_WITH_IMM,
		       "opcode of the receive");
	ibrc_expect(run, wc->wc_flags & IB_WC_WITH_IMM && imm == WRITE_IMM, imm,
		    WRITE_IMM, "immediate data");
}

/* An RDMA WRITE of no bytes, which the peer does not notice */
static int write_nothing(struct ibrc_run *run, struct write *write)
{
	int ret;

	ret = post_write(ibrc_sender(run), write, IB_WR_RDMA_WRITE, 0) ?:
	      ibrc_until(run, &write->send.num, 1);
	expect_status(run, write, IB_WC_SUCCESS);
	ibrc_expect_is(run, write->send.wc.opcode, IB_WC_RDMA_WRITE,
		       "opcode of the write");
	return ret;
}

/* An RDMA WRITE of no bytes with immediate data, which needs a receive WR and waits for one */
static int write_imm(struct ibrc_run *run, struct write *write)
{
	int ret;

	ret = post_write(ibrc_sender(run), write, IB_WR_RDMA_WRITE_WITH_IMM, 0) ?:
	      ibrc_settle(run, IBRC_SETTLE);
	ibrc_expect_is(run, write->send.num, 1, "writes, one without a receive");
	ret = ret ?:
	      post_empty_recv(ibrc_sender(run)->peer, write) ?:
	      ibrc_until(run, &write->recv.num, 1) ?:
	      ibrc_until(run, &write->send.num, 2);
	expect_status(run, write, IB_WC_SUCCESS);
	expect_imm(run, write);
	return ret;
}

/* The peer reports an event and goes to ERR */
static int expect_refusal(struct ibrc_run *run, enum ib_event_type type)
{
	int ret = ibrc_expect_events(run, type, 1, 0);

	ibrc_expect_is(run, ibrc_state(ibrc_sender(run)->peer), IB_QPS_ERR, "state of the peer");
	return ret;
}

static int until_refused(struct ibrc_run *run, struct write *write,
			 enum ib_wc_status status, enum ib_event_type type)
{
	int ret = ibrc_until(run, &write->send.num, write->send.num + 1);

	if (ret)
		return ret;
	expect_status(run, write, status);
	return expect_refusal(run, type);
}

/**
 * ibrc_write() - Scenario: RDMA WRITE of no bytes, with and without immediate data, and then of
 * some bytes.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_write(struct ibrc_run *run)
{
	struct write write = {};

	return write_nothing(run, &write) ?:
	       write_imm(run, &write) ?:
	       post_write(ibrc_sender(run), &write, IB_WR_RDMA_WRITE, max(run->params.max, 1U)) ?:
	       until_refused(run, &write, IB_WC_REM_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR);
}

/**
 * ibrc_write_denied() - Scenario: the peer does not allow RDMA WRITE, not even of no bytes.
 * @run: the run, connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_write_denied(struct ibrc_run *run)
{
	struct ib_qp_attr attr = { .qp_access_flags = IB_ACCESS_LOCAL_WRITE };
	struct write write = {};

	return ib_modify_qp(ibrc_sender(run)->peer->ib, &attr, IB_QP_ACCESS_FLAGS) ?:
	       post_write(ibrc_sender(run), &write, IB_WR_RDMA_WRITE, 0) ?:
	       until_refused(run, &write, IB_WC_REM_INV_REQ_ERR, IB_EVENT_QP_REQ_ERR);
}

/**
 * ibrc_invalid() - Scenario: one of the first messages becomes invalid on its way.
 * @run: the run, connected. A rule of the fabric, which the test adds, changes the message.
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_invalid(struct ibrc_run *run)
{
	const struct ibrc_result *result = run->result;
	struct ibrc_qp *qp = ibrc_sender(run);
	int ret;

	ret = ibrc_post_recvs(qp->peer, run->params.depth) ?:
	      ibrc_post_sends(qp, ibrc_num_sends(run)) ?:
	      ibrc_until(run, &qp->tx.completed, qp->tx.posted);
	if (ret)
		return ret;
	ibrc_expect_is(run, result->sends[IB_WC_REM_INV_REQ_ERR], 1, "invalid sends");
	return expect_refusal(run, IB_EVENT_QP_REQ_ERR);
}
