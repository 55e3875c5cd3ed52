// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MADs to the SA of one port, and their answers. The port has a MAD agent of its own, since
 * ib_sa does not support ServiceRecords. All functions are called by the port's work, except
 * the two MAD handlers and ats_sa_start().
 *
 * A request is sent once and not repeated here: the caller knows best what to send next.
 */
#include <linux/random.h>

#include "ats.h"

#define ATS_SA_QPN		1
/* How often an SM is looked for if no event has reported one */
#define ATS_SM_POLL		(5 * HZ)
/* A table comes in many packets, so its timeout is longer */
#define ATS_SA_TABLE_TIMEOUTS	4

static void sa_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ats_request *request = wc->send_buf->context[0];
	struct ats_port *port = agent->context;

	request->status = wc->status;
	llist_add(&request->node, &port->sa.done);
	ats_port_kick(port);
}

/* Returns whether an answer comes from the SA that was asked, which uses QP1 of the SM's port (IBA
 * 15.4.2). The MAD layer compares little more than the transaction.
 */
static bool is_of_sa(const struct ats_request *request, const struct ib_wc *wc)
{
	return wc->src_qp == ATS_SA_QPN && !((wc->slid ^ request->sm_lid) >> request->lmc);
}

/* Called before sa_sent() of the same request. If the answer is forged, there is no other one. */
static void sa_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *mad,
			struct ib_mad_recv_wc *wc)
{
	struct ats_request *request = mad ? mad->context[0] : NULL;
	struct ats_port *port = agent->context;

	if (request && !request->answer && is_of_sa(request, wc->wc)) {
		request->answer = wc;
		return;
	}
	if (request)
		dev_warn_ratelimited(&port->ibdev->dev,
				     "port %u: an answer of LID %#x, QP %#x, which is not the SA, is ignored\n",
				     port->port, wc->wc->slid, wc->wc->src_qp);
	ib_free_recv_mad(wc);
}

/**
 * ats_sa_start() - start to use a port's SA
 * @port: the port; nothing else uses its ->sa yet
 *
 * To stop, unregister ats_sa.agent. That cancels the requests under way, and waits until
 * ats_sa_finish() has ended them, so the work that calls ats_sa_finish() must not do it.
 *
 * Context: may sleep.
 * Return: 0, or the negative error of ib_register_mad_agent().
 */
int ats_sa_start(struct ats_port *port)
{
	init_llist_head(&port->sa.done);
	port->sa.tid = get_random_u32();
	ats_sa_lose_sm(port);
	port->sa.agent = ib_register_mad_agent(port->ibdev, port->port, IB_QPT_GSI, NULL,
					       IB_MGMT_RMPP_VERSION, sa_sent, sa_received, port, 0);
	return PTR_ERR_OR_ZERO(port->sa.agent);
}

/**
 * ats_sa_lose_sm() - have the SM's address looked up again
 * @port: the port; something has happened by which the SM may be at another address
 *
 * Context: the port's work, or its creation.
 */
void ats_sa_lose_sm(struct ats_port *port)
{
	port->sa.found = false;
	port->sa.look_at = jiffies;
}

/**
 * ats_sa_find_sm() - look up the SM's address, unless ats_sa.found says that it is known
 * @port: the port
 *
 * The HCA is asked at ats_sa.look_at, and not before, whoever may wish to send something. If the SM
 * has moved, it may be another one that has no records, of which not every HCA notifies: this
 * causes ATS_EVENT_FORGET.
 *
 * Context: the port's work; may sleep.
 * Return: true if the address is known; false if the port is not ACTIVE or has no SM, or was so
 * when the HCA was asked.
 */
bool ats_sa_find_sm(struct ats_port *port)
{
	struct rdma_ah_attr *sm = &port->sa.sm;
	u32 former = rdma_ah_get_dlid(sm);
	struct ib_port_attr attr;

	if (port->sa.found || time_before(jiffies, port->sa.look_at))
		return port->sa.found;
	port->sa.look_at = jiffies + ATS_SM_POLL;
	if (ib_query_port(port->ibdev, port->port, &attr) || attr.state != IB_PORT_ACTIVE ||
	    !attr.sm_lid)
		return false;
	memset(sm, 0, sizeof(*sm));
	sm->type = rdma_ah_find_type(port->ibdev, port->port);
	rdma_ah_set_dlid(sm, attr.sm_lid);
	rdma_ah_set_sl(sm, attr.sm_sl);
	rdma_ah_set_port_num(sm, port->port);
	port->sa.lmc = attr.lmc;
	if (rdma_is_grh_required(port->ibdev, port->port)) {
		rdma_ah_set_ah_flags(sm, IB_AH_GRH);
		rdma_ah_set_subnet_prefix(sm, cpu_to_be64(attr.subnet_prefix));
		rdma_ah_set_interface_id(sm, cpu_to_be64(IB_SA_WELL_KNOWN_GUID));
	}
	port->sa.found = true;
	if (former && former != attr.sm_lid)
		ats_port_event(port, ATS_EVENT_FORGET);
	return true;
}

static void request_fill_mad(const struct ats_request *request, struct ats_sa *sa)
{
	struct ib_mad_send_buf *buf = request->mad;
	struct ib_sa_mad *mad = buf->mad;
	struct ib_mad_hdr *hdr = &mad->mad_hdr;

	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	hdr->class_version = IB_SA_CLASS_VERSION;
	hdr->method = request->method;
	hdr->attr_id = cpu_to_be16(request->is_path ? IB_SA_ATTR_PATH_REC :
						      IB_SA_ATTR_SERVICE_REC);
	hdr->tid = cpu_to_be64((u64)sa->agent->hi_tid << 32 | ++sa->tid);
	mad->sa_hdr.comp_mask = (__force ib_sa_comp_mask)cpu_to_be64(request->mask);
	memcpy(mad->data, &request->record, sizeof(request->record));
	buf->timeout_ms = ats_sa_timeout_ms;
	if (request->method == IB_SA_METHOD_GET_TABLE)
		buf->timeout_ms *= ATS_SA_TABLE_TIMEOUTS;
	if (request->timeout_ms)
		buf->timeout_ms = min_t(unsigned int, buf->timeout_ms, request->timeout_ms);
}

static void request_free(struct ats_request *request)
{
	if (request->answer)
		ib_free_recv_mad(request->answer);
	rdma_destroy_ah(request->mad->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(request->mad);
	kfree(request);
}

/* Creates the MAD of a request, with a reference to the SM */
static int request_make_mad(struct ats_request *request, struct ats_port *port)
{
	struct ib_mad_agent *agent = port->sa.agent;
	struct ib_mad_send_buf *mad;
	u16 pkey_index;
	int err;

	err = ib_find_cached_pkey(port->ibdev, port->port, IB_DEFAULT_PKEY_FULL, &pkey_index);
	if (err)
		return err;
	mad = ib_create_send_mad(agent, ATS_SA_QPN, pkey_index, 0, IB_MGMT_SA_HDR,
				 IB_MGMT_SA_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(mad))
		return PTR_ERR(mad);
	mad->context[0] = request;
	mad->ah = rdma_create_ah(agent->qp->pd, &port->sa.sm, RDMA_CREATE_AH_SLEEPABLE);
	request->mad = mad;
	request->sm_lid = rdma_ah_get_dlid(&port->sa.sm);
	request->lmc = port->sa.lmc;
	err = PTR_ERR_OR_ZERO(mad->ah);
	if (err)
		ib_free_send_mad(mad);
	return err;
}

/**
 * ats_sa_post() - send a request
 * @port: the port whose SA receives it
 * @from: the request; copied
 *
 * Context: the port's work, while the SM's address is known; may sleep.
 * Return: the copy, for which ats_sa_finish() will call done() once and which it then frees, or
 * an ERR_PTR.
 */
struct ats_request *ats_sa_post(struct ats_port *port, const struct ats_request *from)
{
	struct ats_request *request = kmemdup(from, sizeof(*from), GFP_KERNEL);
	int err;

	if (!request)
		return ERR_PTR(-ENOMEM);
	err = request_make_mad(request, port);
	if (err) {
		kfree(request);
		return ERR_PTR(err);
	}
	request_fill_mad(request, &port->sa);
	err = ib_post_send_mad(request->mad, NULL);
	if (!err)
		return request;
	request_free(request);
	return ERR_PTR(err);
}

static enum ats_result answer_result(const struct ats_request *request)
{
	u16 status = be16_to_cpu(request->answer->recv_buf.mad->mad_hdr.status);
	u16 invalid = status & ATS_STATUS_INVALID;

	if (!status)
		return ATS_RESULT_OK;
	/* IBA 13.4.7: a node on which no SA listens answers in this way, for example while its SM
	 * is being restarted; so does an SA that does not support ServiceRecords.
	 */
	if (invalid == IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD ||
	    invalid == IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB)
		return ATS_RESULT_NOBODY;
	if (status & IB_MGMT_MAD_STATUS_BUSY)
		return ATS_RESULT_BUSY;
	/* It may have room for an answer later. A refused record must not delay others */
	if (status == ATS_STATUS_NO_RESOURCES && request->method != IB_MGMT_METHOD_SET)
		return ATS_RESULT_BUSY;
	if (status == ATS_STATUS_TOO_MANY && request->method == IB_MGMT_METHOD_GET)
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
 * @port: the port
 *
 * If an SA does not answer, its address is looked up again, since not every HCA notifies of an
 * SM that has moved.
 *
 * Context: the port's work; may sleep.
 */
void ats_sa_finish(struct ats_port *port)
{
	struct ats_request *request, *next;
	enum ats_result result;
	struct llist_node *done;

	done = llist_reverse_order(llist_del_all(&port->sa.done));
	llist_for_each_entry_safe(request, next, done, node) {
		result = request_result(request);
		if (result == ATS_RESULT_TIMEOUT || result == ATS_RESULT_NOBODY)
			ats_sa_lose_sm(port);
		request->done(port, request, result);
		request_free(request);
	}
}
