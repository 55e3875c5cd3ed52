// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MADs to the SA of one port, and their answers. The port has a MAD agent of its own, since
 * ib_sa does not support ServiceRecords. All functions are called by the port's work, except
 * the two MAD handlers, ats_sa_start(), ats_sa_stop() and ats_sa_wake().
 *
 * A request is sent once and not repeated here: the caller knows best what to send next.
 */
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "ats.h"

#define ATS_SA_QPN		1
/* A table comes in many packets, so its timeout is longer */
#define ATS_SA_TABLE_TIMEOUTS	4

static void sa_finished(struct ats_sa *sa, struct ats_request *request)
{
	unsigned long flags;

	spin_lock_irqsave(&sa->lock, flags);
	list_add_tail(&request->list, &sa->done);
	spin_unlock_irqrestore(&sa->lock, flags);
	sa->wake(sa);
}

static void sa_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ats_request *request = wc->send_buf->context[0];

	request->status = wc->status;
	sa_finished(agent->context, request);
}

/* Called before sa_sent() of the same request */
static void sa_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *mad,
			struct ib_mad_recv_wc *wc)
{
	struct ats_request *request = mad ? mad->context[0] : NULL;

	if (!request || request->answer)
		ib_free_recv_mad(wc);
	else
		request->answer = wc;
}

/**
 * ats_sa_start() - start to use a port's SA
 * @sa: filled in
 * @ibdev: the HCA
 * @port: its port
 * @wake: queues the work that calls ats_sa_finish(); called in any context
 *
 * Context: may sleep.
 * Return: 0, or the negative error of ib_register_mad_agent().
 */
int ats_sa_start(struct ats_sa *sa, struct ib_device *ibdev, u32 port,
		 void (*wake)(struct ats_sa *sa))
{
	struct ib_mad_agent *agent;

	memset(sa, 0, sizeof(*sa));
	sa->ibdev = ibdev;
	sa->port = port;
	sa->wake = wake;
	spin_lock_init(&sa->lock);
	INIT_LIST_HEAD(&sa->done);
	agent = ib_register_mad_agent(ibdev, port, IB_QPT_GSI, NULL, IB_MGMT_RMPP_VERSION,
				      sa_sent, sa_received, sa, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	sa->agent = agent;
	return 0;
}

/**
 * ats_sa_wake() - queue the work that owns a port's SA
 * @sa: the port's SA
 *
 * Context: any.
 */
void ats_sa_wake(struct ats_sa *sa)
{
	sa->wake(sa);
}

static void sm_put(struct ats_sm *sm)
{
	if (--sm->refs)
		return;
	rdma_destroy_ah(sm->ah, RDMA_DESTROY_AH_SLEEPABLE);
	kfree(sm);
}

/**
 * ats_sa_forget_sm() - forget the SM's address, since it may have changed
 * @sa: the port's SA
 *
 * Context: the port's work; may sleep.
 */
void ats_sa_forget_sm(struct ats_sa *sa)
{
	if (sa->sm)
		sm_put(sa->sm);
	sa->sm = NULL;
}

/**
 * ats_sa_stop() - stop using a port's SA
 * @sa: the port's SA; nothing is posted any more
 *
 * Cancels the requests under way, and waits until ats_sa_finish() has ended them. The work
 * that calls ats_sa_finish() must therefore not call this.
 *
 * Context: may sleep.
 */
void ats_sa_stop(struct ats_sa *sa)
{
	if (sa->agent)
		ib_unregister_mad_agent(sa->agent);
}

static struct ib_ah *sm_ah(struct ats_sa *sa, const struct ib_port_attr *attr)
{
	struct rdma_ah_attr ah_attr = {};

	ah_attr.type = rdma_ah_find_type(sa->ibdev, sa->port);
	rdma_ah_set_dlid(&ah_attr, attr->sm_lid);
	rdma_ah_set_sl(&ah_attr, attr->sm_sl);
	rdma_ah_set_port_num(&ah_attr, sa->port);
	if (rdma_is_grh_required(sa->ibdev, sa->port)) {
		rdma_ah_set_ah_flags(&ah_attr, IB_AH_GRH);
		rdma_ah_set_subnet_prefix(&ah_attr, cpu_to_be64(attr->subnet_prefix));
		rdma_ah_set_interface_id(&ah_attr, cpu_to_be64(IB_SA_WELL_KNOWN_GUID));
	}
	return rdma_create_ah(sa->agent->qp->pd, &ah_attr, RDMA_CREATE_AH_SLEEPABLE);
}

/**
 * ats_sa_find_sm() - look up the SM's address
 * @sa: the port's SA
 *
 * Context: the port's work; may sleep.
 * Return: 0 if the address is known, -ENETUNREACH if the port is not ACTIVE or has no SM, or
 * another negative error.
 */
int ats_sa_find_sm(struct ats_sa *sa)
{
	struct ib_port_attr attr;
	struct ats_sm *sm;
	int err;

	if (sa->sm)
		return 0;
	err = ib_query_port(sa->ibdev, sa->port, &attr);
	if (err)
		return err;
	if (attr.state != IB_PORT_ACTIVE || !attr.sm_lid)
		return -ENETUNREACH;
	sm = kmalloc(sizeof(*sm), GFP_KERNEL);
	if (!sm)
		return -ENOMEM;
	sm->refs = 1;
	sm->ah = sm_ah(sa, &attr);
	if (IS_ERR(sm->ah)) {
		err = PTR_ERR(sm->ah);
		kfree(sm);
		return err;
	}
	sa->sm = sm;
	return 0;
}

static void sa_fill_mad(struct ats_sa *sa, const struct ats_request *request, u8 method,
			u64 mask, const struct ats_wire_record *wire)
{
	struct ib_mad_send_buf *buf = request->mad;
	struct ib_sa_mad *mad = buf->mad;
	struct ib_mad_hdr *hdr = &mad->mad_hdr;

	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	hdr->class_version = IB_SA_CLASS_VERSION;
	hdr->method = method;
	hdr->attr_id = cpu_to_be16(request->path ? IB_SA_ATTR_PATH_REC : IB_SA_ATTR_SERVICE_REC);
	hdr->tid = cpu_to_be64((u64)sa->agent->hi_tid << 32 | ++sa->tid);
	mad->sa_hdr.comp_mask = (__force ib_sa_comp_mask)cpu_to_be64(mask);
	if (request->path)
		memcpy(mad->data, request->path, sizeof(*request->path));
	else
		memcpy(mad->data, wire, sizeof(*wire));
	buf->timeout_ms = ats_sa_timeout_ms;
	if (method == IB_SA_METHOD_GET_TABLE)
		buf->timeout_ms *= ATS_SA_TABLE_TIMEOUTS;
	if (request->timeout_ms)
		buf->timeout_ms = min_t(unsigned int, buf->timeout_ms, request->timeout_ms);
}

static void request_free(struct ats_request *request)
{
	if (request->mad)
		ib_free_send_mad(request->mad);
	if (request->answer)
		ib_free_recv_mad(request->answer);
	if (request->sm)
		sm_put(request->sm);
	kfree(request);
}

/**
 * ats_sa_post() - send a request
 * @sa: the port's SA
 * @request: zero except for the caller's members; it belongs to this file from now on, also
 *	if an error is returned
 * @method: the method of the MAD
 * @mask: its ComponentMask
 * @wire: its record; NULL: the request is for @request->path, which is not used any more
 *	after the return
 *
 * Context: the port's work; may sleep.
 * Return: 0 if ats_sa_finish() will call the request's done() once, or a negative error.
 */
int ats_sa_post(struct ats_sa *sa, struct ats_request *request, u8 method, u64 mask,
		const struct ats_wire_record *wire)
{
	struct ib_mad_send_buf *mad;
	u16 pkey_index;
	int err;

	err = ats_sa_find_sm(sa);
	if (!err)
		err = ib_find_cached_pkey(sa->ibdev, sa->port, IB_DEFAULT_PKEY_FULL,
					  &pkey_index);
	if (err)
		goto free;
	mad = ib_create_send_mad(sa->agent, ATS_SA_QPN, pkey_index, 0, IB_MGMT_SA_HDR,
				 IB_MGMT_SA_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	err = PTR_ERR_OR_ZERO(mad);
	if (err)
		goto free;
	request->mad = mad;
	sa_fill_mad(sa, request, method, mask, wire);
	request->sm = sa->sm;
	request->sm->refs++;
	mad->ah = request->sm->ah;
	mad->context[0] = request;
	err = ib_post_send_mad(mad, NULL);
	if (!err)
		return 0;
free:
	request_free(request);
	return err;
}

/**
 * ats_sa_cancel() - make a request end soon
 * @request: a request that was posted and has not ended
 *
 * Context: the port's work; may sleep.
 */
void ats_sa_cancel(struct ats_request *request)
{
	ib_cancel_mad(request->mad);
}

static u8 request_method(const struct ats_request *request)
{
	const struct ib_mad_hdr *hdr = request->mad->mad;

	return hdr->method;
}

/*
 * IBA 13.4.7: a node on which no SA listens answers in this way, for example while its SM is
 * being restarted; so does an SA that does not support ServiceRecords.
 */
static bool status_is_nobody(u16 status)
{
	u16 invalid = status & ATS_STATUS_INVALID;

	return invalid == IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD ||
	       invalid == IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
}

static enum ats_result answer_result(const struct ats_request *request)
{
	u16 status = be16_to_cpu(request->answer->recv_buf.mad->mad_hdr.status);

	if (!status)
		return ATS_RESULT_OK;
	if (status_is_nobody(status))
		return ATS_RESULT_NOBODY;
	if (status & ATS_STATUS_BUSY)
		return ATS_RESULT_BUSY;
		/* It may have room for an answer later. A refused record must not delay others */
	if (status == ATS_STATUS_NO_RESOURCES && request_method(request) != IB_MGMT_METHOD_SET)
		return ATS_RESULT_BUSY;
	if (status == ATS_STATUS_TOO_MANY && request_method(request) == IB_MGMT_METHOD_GET)
		return ATS_RESULT_TOO_MANY;
	return status == ATS_STATUS_NO_RECORDS ? ATS_RESULT_NO_RECORD : ATS_RESULT_REFUSED;
}

static enum ats_result request_result(const struct ats_request *request)
{
	if (request->status == IB_WC_SUCCESS && request->answer)
		return answer_result(request);
	return request->status == IB_WC_WR_FLUSH_ERR ? ATS_RESULT_CANCELLED :
						       ATS_RESULT_TIMEOUT;
}

/**
 * ats_sa_finish() - call done() of the requests that have ended, and free them
 * @sa: the port's SA
 *
 * Context: the port's work; may sleep.
 */
void ats_sa_finish(struct ats_sa *sa)
{
	struct ats_request *request, *next;
	LIST_HEAD(done);

	spin_lock_irq(&sa->lock);
	list_splice_init(&sa->done, &done);
	spin_unlock_irq(&sa->lock);
	list_for_each_entry_safe(request, next, &done, list) {
		list_del(&request->list);
		request->done(sa, request, request_result(request));
		request_free(request);
	}
}
