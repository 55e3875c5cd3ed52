// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: connections by the connection manager (IBA volume 1, chapter 12). The first end queries the
 * SA for the path and sends REQs to a service on which the second end listens. Both ends check all
 * private data.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>

#include "ibrc.h"

#define IBRC_SERVICE		0x10001bfa00000000ULL
#define IBRC_NO_SERVICE		0x10001bfaffffffffULL
#define IBRC_IPOIB_SERVICE	0x0100000000000000ULL	/* RFC 4755 section 6.1 */
#define IBRC_CM_TIMEOUT		16	/* 268 ms */
#define IBRC_CM_RETRIES		15
#define IBRC_PATH_TIMEOUT	5000	/* in ms */
#define IBRC_PATH_TRIES		10
#define IBRC_PATH_PAUSE		200	/* in ms, before the SA is queried again */

/* The kind of a message that has private data */
enum ibrc_private {
	IBRC_REQ,
	IBRC_REP,
	IBRC_RTU,
	IBRC_DREQ,
	IBRC_DREP,
	IBRC_REJ,
	IBRC_ARI,
	IBRC_NUM_PRIVATE
};

static const u32 private_sizes[IBRC_NUM_PRIVATE] = {
	[IBRC_REQ] = IB_CM_REQ_PRIVATE_DATA_SIZE,
	[IBRC_REP] = IB_CM_REP_PRIVATE_DATA_SIZE,
	[IBRC_RTU] = IB_CM_RTU_PRIVATE_DATA_SIZE,
	[IBRC_DREQ] = IB_CM_DREQ_PRIVATE_DATA_SIZE,
	[IBRC_DREP] = IB_CM_DREP_PRIVATE_DATA_SIZE,
	[IBRC_REJ] = IB_CM_REJ_PRIVATE_DATA_SIZE,
	[IBRC_ARI] = IB_CM_REJ_ARI_LENGTH,
};

static struct ib_sa_client sa_client;

/* States */

static void set_cm_state(struct ibrc_qp *qp, enum ibrc_cm_state state)
{
	WRITE_ONCE(qp->cm_state, state);
	wake_up(&ibrc_wait);
}

static bool left_state(const struct ibrc_qp *qp, enum ibrc_cm_state state)
{
	return READ_ONCE(qp->cm_state) != state || ibrc_gone(qp->end->run);
}

/* Waits until the handler changes the state, the HCA is removed, or the time is over */
static void wait_leaving(struct ibrc_qp *qp, enum ibrc_cm_state state)
{
	struct ibrc_run *run = qp->end->run;

	wait_event_idle_timeout(ibrc_wait, left_state(qp, state),
				run->params.stall * HZ);
}

/* Private data */

static void make_private(const struct ibrc_qp *qp, enum ibrc_private kind,
			 u8 *to)
{
	ibrc_private_data(qp->index, kind, to, private_sizes[kind]);
}

static void check_private(const struct ibrc_qp *qp, enum ibrc_private kind,
			  const void *got)
{
	u8 wanted[IB_CM_RTU_PRIVATE_DATA_SIZE];

	make_private(qp, kind, wanted);
	if (!got || memcmp(got, wanted, private_sizes[kind]))
		atomic_inc(&qp->end->run->result->cm_spoilt);
}

/* QPs. The starting PSN of a REQ or a REP is that of the packets which the receiver of the message
 * sends (12.7.31), not of those which its sender sends. Attributes that the connection manager
 * leaves at a default, or derives from the packet lifetime of the path, get the values of the line.
 */
static int cm_to(struct ibrc_qp *qp, enum ib_qp_state state)
{
	const struct ibrc_params *params = &qp->end->run->params;
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, ret;

	ret = ib_cm_init_qp_attr(qp->cm_id, &attr, &mask);
	if (ret)
		return ret;
	/* The listening end goes to RTR before ib_cm has got the PSN, which is in the REP */
	if (state == IB_QPS_RTR) {
		attr.rq_psn = qp->peer->psn;
		attr.min_rnr_timer = params->rnr_timer;
	}
	if (state == IB_QPS_RTS)
		attr.timeout = params->timeout;
	return ib_modify_qp(qp->ib, &attr, mask);
}

static int cm_to_rts(struct ibrc_qp *qp)
{
	return cm_to(qp, IB_QPS_INIT) ?:
	       cm_to(qp, IB_QPS_RTR) ?:
	       cm_to(qp, IB_QPS_RTS);
}

/* The listening end */

static int send_rep(struct ibrc_qp *qp)
{
	const struct ibrc_params *params = &qp->end->run->params;
	u8 private[IB_CM_REP_PRIVATE_DATA_SIZE];
	struct ib_cm_rep_param rep = {
		.qp_num = qp->ib->qp_num,
		.starting_psn = qp->peer->psn,
		.private_data = private,
		.private_data_len = sizeof(private),
		.responder_resources = 1,
		.initiator_depth = 1,
		.flow_control = 1,
		.rnr_retry_count = params->rnr,
		.srq = params->srq,
	};

	make_private(qp, IBRC_REP, private);
	return ib_send_cm_rep(qp->cm_id, &rep);
}

/* Rejects a request. The connection manager destroys the ID of a request whose handler does not
 * return 0.
 */
static int send_rej(struct ibrc_qp *qp, struct ib_cm_id *cm_id)
{
	u8 private[IB_CM_REJ_PRIVATE_DATA_SIZE], ari[IB_CM_REJ_ARI_LENGTH];

	make_private(qp, IBRC_REJ, private);
	make_private(qp, IBRC_ARI, ari);
	ib_send_cm_rej(cm_id, IB_CM_REJ_CONSUMER_DEFINED, ari, sizeof(ari),
		       private, sizeof(private));
	return -ECONNREFUSED;
}

static bool req_valid(const struct ibrc_qp *qp, const struct ib_cm_event *event)
{
	const struct ib_cm_req_event_param *req = &event->param.req_rcvd;
	const struct ibrc_params *params = &qp->end->run->params;
	const struct ibrc_qp *peer = qp->peer;

	return req->remote_ca_guid == peer->end->ibdev->node_guid &&
	       req->remote_qpn == peer->ib->qp_num &&
	       req->qp_type == ibrc_type(qp->end->run) && req->starting_psn == qp->psn &&
	       req->retry_count == params->retry &&
	       req->rnr_retry_count == params->rnr && req->srq == params->srq;
}

static int req_received(struct ibrc_end *end, struct ib_cm_id *cm_id,
			const struct ib_cm_event *event)
{
	u32 index = be32_to_cpup(event->private_data);
	struct ibrc_qp *qp;
	int ret;

	if (index >= end->run->params.qps || end->qps[index].cm_id) {
		atomic_inc(&end->run->result->cm_spoilt);
		return -EINVAL;
	}
	qp = &end->qps[index];
	check_private(qp, IBRC_REQ, event->private_data);
	if (!req_valid(qp, event))
		atomic_inc(&end->run->result->cm_spoilt);
	if (end->run->reject)
		return send_rej(qp, cm_id);

	qp->cm_id = cm_id;
	cm_id->context = qp;
	ret = cm_to_rts(qp) ?:
	      send_rep(qp);
	if (!ret)
		return 0;
	qp->cm_id = NULL;
	set_cm_state(qp, IBRC_CM_FAILED);
	return ret;
}

/* Events of a connection, at either end */

static void rep_received(struct ibrc_qp *qp, const struct ib_cm_event *event)
{
	u8 private[IB_CM_RTU_PRIVATE_DATA_SIZE];
	int ret;

	check_private(qp, IBRC_REP, event->private_data);
	ret = cm_to_rts(qp);
	if (!ret) {
		make_private(qp, IBRC_RTU, private);
		ret = ib_send_cm_rtu(qp->cm_id, private, sizeof(private));
	}
	set_cm_state(qp, ret ? IBRC_CM_FAILED : IBRC_CM_ESTABLISHED);
}

static void rej_received(struct ibrc_qp *qp, const struct ib_cm_event *event)
{
	const struct ib_cm_rej_event_param *rej = &event->param.rej_rcvd;

	qp->reason = rej->reason;
	if (rej->reason == IB_CM_REJ_CONSUMER_DEFINED) {
		check_private(qp, IBRC_REJ, event->private_data);
		check_private(qp, IBRC_ARI, rej->ari);
	}
	set_cm_state(qp, IBRC_CM_REJECTED);
}

static void dreq_received(struct ibrc_qp *qp, const struct ib_cm_event *event)
{
	u8 private[IB_CM_DREP_PRIVATE_DATA_SIZE];

	check_private(qp, IBRC_DREQ, event->private_data);
	make_private(qp, IBRC_DREP, private);
	ib_send_cm_drep(qp->cm_id, private, sizeof(private));
	set_cm_state(qp, IBRC_CM_DISCONNECTED);
}

/* The DREP that ib_cm itself sends for a connection that no longer exists has no private data */
static void drep_received(struct ibrc_qp *qp, const struct ib_cm_event *event)
{
	if (memchr_inv(event->private_data, 0, IB_CM_DREP_PRIVATE_DATA_SIZE))
		check_private(qp, IBRC_DREP, event->private_data);
	else
		atomic_inc(&qp->end->run->result->cm_bare);
	set_cm_state(qp, IBRC_CM_DISCONNECTED);
}

static void connection_event(struct ibrc_qp *qp,
			     const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		rep_received(qp, event);
		break;
	case IB_CM_RTU_RECEIVED:
		check_private(qp, IBRC_RTU, event->private_data);
		set_cm_state(qp, IBRC_CM_ESTABLISHED);
		break;
	case IB_CM_REJ_RECEIVED:
		rej_received(qp, event);
		break;
	case IB_CM_DREQ_RECEIVED:
		dreq_received(qp, event);
		break;
	case IB_CM_DREP_RECEIVED:
		drep_received(qp, event);
		break;
	case IB_CM_DREQ_ERROR:
		set_cm_state(qp, IBRC_CM_UNANSWERED);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
		set_cm_state(qp, IBRC_CM_FAILED);
		break;
	default:
		break;
	}
}

static void count_cm_event(struct ibrc_end *end,
			   const struct ib_cm_event *event)
{
	if (event->event < IBRC_NUM_CM_EVENTS)
		atomic_inc(&end->run->result->cm_events[event->event]);
}

/* The ID of a new request has the context of the listener, which is its end */
static int cm_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	struct ibrc_qp *qp;

	if (event->event == IB_CM_REQ_RECEIVED) {
		count_cm_event(cm_id->context, event);
		return req_received(cm_id->context, cm_id, event);
	}
	qp = cm_id->context;
	count_cm_event(qp->end, event);
	connection_event(qp, event);
	return 0;
}

/* The connecting end */

static void path_done(int status, struct sa_path_rec *path, compat_sa_count_t num_paths,
		      void *context)
{
	struct ibrc_run *run = context;

	if (!status)
		run->path = *path;
	WRITE_ONCE(run->path_status, status);
	wake_up(&ibrc_wait);
}

static bool path_known(const struct ibrc_run *run)
{
	return READ_ONCE(run->path_status) <= 0;
}

static int query_path_once(struct ibrc_run *run)
{
	struct ibrc_end *from = &run->ends[0];
	struct sa_path_rec path = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.sgid = from->gid,
		.dgid = run->ends[1].gid,
		.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL),
		.numb_path = 1,
		.reversible = 1,
	};
	struct ib_sa_query *query;
	int id;

	run->path_status = 1;
	id = ib_sa_path_rec_get(&sa_client, from->ibdev, IBRC_PORT, &path,
				IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
				IB_SA_PATH_REC_PKEY |
				IB_SA_PATH_REC_REVERSIBLE |
				IB_SA_PATH_REC_NUMB_PATH,
				IBRC_PATH_TIMEOUT, GFP_KERNEL, path_done, run,
				&query);
	if (id < 0)
		return id;
	wait_event_idle(ibrc_wait, path_known(run) || ibrc_gone(run));
	/* path_done() is called even if the query is cancelled, and uses the run */
	if (!path_known(run)) {
		ib_sa_cancel_query(id, query);
		wait_event_idle(ibrc_wait, path_known(run));
	}
	return run->path_status;
}

static int query_path(struct ibrc_run *run)
{
	int ret = -EAGAIN, tries;

	ibrc_stage(run, "path");
	for (tries = 0; ret && tries < IBRC_PATH_TRIES; tries++) {
		if (ibrc_gone(run))
			return -ENODEV;
		ret = query_path_once(run);
		if (ret)
			msleep(IBRC_PATH_PAUSE);
	}
	if (!ret && run->params.mtu)
		run->path.mtu = ib_mtu_int_to_enum(run->params.mtu);
	return ret;
}

static int create_id(struct ibrc_end *end, void *context, struct ib_cm_id **to)
{
	struct ib_cm_id *cm_id = ib_create_cm_id(end->ibdev, cm_handler, context);

	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	*to = cm_id;
	return 0;
}

static int send_req(struct ibrc_qp *qp, __be64 service_id)
{
	struct ibrc_run *run = qp->end->run;
	u8 private[IB_CM_REQ_PRIVATE_DATA_SIZE];
	struct ib_cm_req_param req = {
		.primary_path = &run->path,
		.service_id = service_id,
		.qp_num = qp->ib->qp_num,
		.qp_type = ibrc_type(run),
		.starting_psn = qp->peer->psn,
		.private_data = private,
		.private_data_len = sizeof(private),
		.responder_resources = 1,
		.initiator_depth = 1,
		.remote_cm_response_timeout = IBRC_CM_TIMEOUT,
		.local_cm_response_timeout = IBRC_CM_TIMEOUT,
		.flow_control = 1,
		.retry_count = run->params.retry,
		.rnr_retry_count = run->params.rnr,
		.max_cm_retries = IBRC_CM_RETRIES,
		.srq = run->params.srq,
	};
	int ret;

	make_private(qp, IBRC_REQ, private);
	ret = create_id(qp->end, qp, &qp->cm_id);
	return ret ?: ib_send_cm_req(qp->cm_id, &req);
}

static int listen_to(struct ibrc_run *run, u64 service_id)
{
	int ret;

	ibrc_stage(run, "listen");
	run->service_id = cpu_to_be64(service_id);
	ret = create_id(&run->ends[1], &run->ends[1], &run->listener);
	return ret ?: ib_cm_listen(run->listener, run->service_id);
}

/* Each run has a service ID of its own, so that a REQ which is repeated late is not taken for one
 * of the next run
 */
static int start_listening(struct ibrc_run *run)
{
	static atomic_t serial;

	return listen_to(run, IBRC_SERVICE | atomic_inc_return(&serial));
}

static int wait_established(struct ibrc_qp *qp)
{
	wait_leaving(qp, IBRC_CM_IDLE);
	if (READ_ONCE(qp->cm_state) == IBRC_CM_ESTABLISHED)
		return 0;
	return ibrc_gone(qp->end->run) ? -ENODEV : -ECONNREFUSED;
}

static int request_all(struct ibrc_run *run)
{
	u32 i;
	int ret;

	for (i = 0; i < run->params.qps; i++) {
		ret = send_req(&run->ends[0].qps[i], run->service_id);
		if (ret)
			return ret;
	}
	return 0;
}

static bool has_manager(const struct ibrc_end *end)
{
	return rdma_cap_ib_cm(end->ibdev, IBRC_PORT) &&
	       rdma_cap_ib_sa(end->ibdev, IBRC_PORT);
}

/**
 * ibrc_cm_connect() - Connect all QPs of a run with the connection manager.
 * @run: the run; its QPs are in RESET
 *
 * Context: the run.
 * Return: 0, -EOPNOTSUPP for ports without an SA, -ECONNREFUSED, or another error.
 */
int ibrc_cm_connect(struct ibrc_run *run)
{
	u32 i;
	int ret;

	if (!has_manager(&run->ends[0]) || !has_manager(&run->ends[1]))
		return -EOPNOTSUPP;
	ret = query_path(run) ?:
	      start_listening(run);
	if (ret)
		return ret;
	ibrc_stage(run, "cm");
	ret = request_all(run);
	for (i = 0; i < run->params.qps && !ret; i++) {
		ret = wait_established(&run->ends[0].qps[i]) ?:
		      wait_established(&run->ends[1].qps[i]);
	}
	return ret;
}

static void destroy_id(struct ibrc_qp *qp)
{
	if (qp->cm_id)
		ib_destroy_cm_id(qp->cm_id);
	qp->cm_id = NULL;
}

static void expect_disconnected(struct ibrc_qp *qp)
{
	wait_leaving(qp, IBRC_CM_ESTABLISHED);
	ibrc_expect_is(qp->end->run, READ_ONCE(qp->cm_state), IBRC_CM_DISCONNECTED,
		       "connection's state at end %u", (u32)(qp->end - qp->end->run->ends));
}

/* Disconnects a QP. The peer's ID is destroyed as soon as the peer has replied. If the DREP is lost
 * and the DREQ comes again, ib_cm replies if there is no such connection any more, but not if it is
 * in time-wait.
 */
static void part(struct ibrc_qp *qp)
{
	u8 private[IB_CM_DREQ_PRIVATE_DATA_SIZE];
	int ret;

	make_private(qp, IBRC_DREQ, private);
	ret = ib_send_cm_dreq(qp->cm_id, private, sizeof(private));
	ibrc_expect_error(qp->end->run, ret, 0, "DREQ");
	if (ret)
		return;
	expect_disconnected(qp->peer);
	destroy_id(qp->peer);
	expect_disconnected(qp);
}

/**
 * ibrc_cm_disconnect() - Disconnect all QPs that ibrc_cm_connect() has connected.
 * @run: the run
 *
 * Context: the run.
 */
void ibrc_cm_disconnect(struct ibrc_run *run)
{
	struct ibrc_qp *qp;
	u32 i;

	for (i = 0; i < run->params.qps; i++) {
		qp = &run->ends[0].qps[i];
		if (READ_ONCE(qp->cm_state) == IBRC_CM_ESTABLISHED)
			part(qp);
	}
}

/**
 * ibrc_cm_destroy() - Destroy all IDs of a run.
 * @run: the run. On return, no handler is running.
 *
 * Context: the run, before its QPs are destroyed.
 */
void ibrc_cm_destroy(struct ibrc_run *run)
{
	u32 i;

	if (run->listener)
		ib_destroy_cm_id(run->listener);
	for (i = 0; i < run->params.qps; i++) {
		destroy_id(&run->ends[0].qps[i]);
		destroy_id(&run->ends[1].qps[i]);
	}
}

/* Scenarios */

static int refused(struct ibrc_run *run, __be64 service_id,
		   enum ib_cm_rej_reason reason)
{
	struct ibrc_qp *qp = &run->ends[0].qps[0];
	int ret;

	ibrc_stage(run, "cm");
	ret = send_req(qp, service_id);
	if (ret)
		return ret;
	wait_leaving(qp, IBRC_CM_IDLE);
	ibrc_expect_is(run, qp->cm_state, IBRC_CM_REJECTED, "state");
	ibrc_expect_is(run, qp->reason, reason, "reason");
	return 0;
}

/**
 * ibrc_cm_reject() - Scenario: the listener rejects the request, with private data.
 * @run: the run, not connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_cm_reject(struct ibrc_run *run)
{
	run->reject = true;
	return query_path(run) ?:
	       start_listening(run) ?:
	       refused(run, run->service_id, IB_CM_REJ_CONSUMER_DEFINED);
}

/**
 * ibrc_cm_no_service() - Scenario: nobody listens on the service ID (12.6.7).
 * @run: the run, not connected
 *
 * Context: the run.
 * Return: 0 or an error.
 */
int ibrc_cm_no_service(struct ibrc_run *run)
{
	return query_path(run) ?:
	       refused(run, cpu_to_be64(IBRC_NO_SERVICE), IB_CM_REJ_INVALID_SERVICE_ID);
}

/**
 * ibrc_cm_occupy() - Scenario: listen where an IPoIB interface does, for linger milliseconds or
 *		      until the process gets a signal.
 * @run: the run, not connected
 *
 * Context: the run.
 * Return: 0, -ENODEV if the HCA is being removed, or another error.
 */
int ibrc_cm_occupy(struct ibrc_run *run)
{
	int ret = listen_to(run, IBRC_IPOIB_SERVICE | run->params.qpn);

	if (ret)
		return ret;
	wait_event_interruptible_timeout(ibrc_wait, ibrc_gone(run),
					 msecs_to_jiffies(run->params.linger));
	return ibrc_gone(run) ? -ENODEV : 0;
}

/**
 * ibrc_cm_init() - Register as a client of ib_sa, before the first run.
 *
 * Context: module load.
 */
void ibrc_cm_init(void)
{
	ib_sa_register_client(&sa_client);
}

/**
 * ibrc_cm_exit() - Unregister from ib_sa, after the last run.
 *
 * Context: module unload.
 */
void ibrc_cm_exit(void)
{
	ib_sa_unregister_client(&sa_client);
}
