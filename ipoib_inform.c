// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reports of the subnet administrator that a multicast group was created (trap 66) or
 * deleted (trap 67), and the list of the groups that exist.
 *
 * The SA sends Reports to ports that have subscribed (InformInfo, IBA 13.4.11). A port
 * subscribes once per trap, however many interfaces it has. The SA repeats a Report that
 * is not answered. It loses the subscriptions when it restarts or when the LID of the port
 * changes; then they are made again. ib_sa does not support any of this, so a port on
 * which an interface wants reports has its own MAD agent. Only one agent of a port can
 * receive the SA's Reports. If another agent receives them, there are no reports, but the
 * list can still be read.
 *
 * Any host can send MADs to QP1. A MAD is accepted as the SA's if it comes from QP1 of the
 * port at which the subnet manager is. Neither a QP of user space nor another host can
 * forge this, since the HCA writes the source LID and QPN. Other MADs are counted and not
 * answered.
 *
 * The work of each port brings the subscriptions in line with what the interfaces want.
 * Only this work opens and closes the agent and sends requests. Answers and Reports arrive
 * in callbacks, which record them and queue the work.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <rdma/ib_mad.h>

#include "ipoib.h"

#define INFORM_TIMEOUT_MS	1000
#define INFORM_RETRIES		2

/* How long the HCA is not asked again for the SM's address when MADs come from another one */
#define INFORM_LOOK		HZ

enum inform_trap_index {
	INFORM_CREATED,
	INFORM_DELETED,
	INFORM_TRAPS
};

static const u16 inform_trap_numbers[INFORM_TRAPS] = {
	[INFORM_CREATED] = IPOIB_TRAP_GROUP_CREATED,
	[INFORM_DELETED] = IPOIB_TRAP_GROUP_DELETED,
};

struct inform_trap {
	struct ipoib_inform_request request;
	bool subscribe;			/* the request is to subscribe, not to unsubscribe */
	bool subscribed;		/* the SA has confirmed the subscription */
	bool stale;			/* the result of the outstanding request is void */
	u8 failures;			/* consecutive failures */
	unsigned long retry_at;		/* jiffies before which no request is sent */
};

/* State of a port: ipoib_port.fabric_own */
struct inform {
	struct ipoib_port *port;
	atomic_t tid;
	struct delayed_work work;
	/* Serializes sending, and keeps watchers from being removed meanwhile. Its holder may
	 * sleep while it waits for the HCA, but must not wait for any device's work.
	 */
	struct mutex serving;
	struct ib_mad_agent *agent;	/* guarded by the mutex, as is the next member */
	bool hears;			/* the agent receives Reports */

	spinlock_t lock;		/* guards the rest; ipoib_group_news.lock nests in it */
	u32 sm_lid;			/* 0 if it is not known */
	u8 lmc;				/* the port's LMC, also taken for that of the SM's port */
	bool sm_stale;			/* the SM may have changed */
	unsigned long sm_looked;	/* jiffies when the HCA was asked for it last */
	struct list_head watchers;	/* interfaces that want reports */
	struct inform_trap traps[INFORM_TRAPS];
};

static void inform_kick(struct inform *inform)
{
	mod_delayed_work(ipoib_netdev_wq, &inform->work, 0);
}

/* Returns whether any interface wants Reports of this trap */
static bool trap_wanted(const struct inform *inform, enum inform_trap_index index)
{
	enum ipoib_reports least = index == INFORM_DELETED ? IPOIB_REPORTS_DELETED :
							     IPOIB_REPORTS_ALL;
	const struct ipoib_watcher *watcher;

	lockdep_assert_held(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node)
		if (watcher->reports >= least)
			return true;
	return false;
}

static bool watcher_is_served(const struct inform *inform, const struct ipoib_watcher *watcher)
{
	const struct inform_trap *traps = inform->traps;

	return traps[INFORM_DELETED].subscribed &&
	       (watcher->reports < IPOIB_REPORTS_ALL || traps[INFORM_CREATED].subscribed);
}

/* Tells the interfaces that wait for subscriptions when all that they need are confirmed */
static void watchers_tell(struct inform *inform)
{
	struct ipoib_watcher *watcher;

	lockdep_assert_held(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node) {
		if (watcher->told || !watcher_is_served(inform, watcher))
			continue;
		watcher->told = true;
		ipoib_groups_reported(watcher->priv, 0);
	}
}

static void watchers_tell_failure(struct inform *inform, int status)
{
	struct ipoib_watcher *watcher;

	lockdep_assert_held(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node)
		if (!watcher->told)
			ipoib_groups_reported(watcher->priv, status);
}

static void trap_failed(struct inform *inform, struct inform_trap *trap, int status)
{
	trap->retry_at = ipoib_retry_at(&trap->failures);
	watchers_tell_failure(inform, status);
}

/* A request to subscribe or to unsubscribe is finished. It does not matter whether a request to
 * unsubscribe succeeded, because the SA also ends the subscription when Reports are not answered.
 */
static void trap_done(struct inform *inform, struct inform_trap *trap)
{
	const struct ipoib_inform_request *request = &trap->request;
	bool stale = trap->stale;

	trap->stale = false;
	if (!trap->subscribe) {
		trap->subscribed = false;
		return;
	}
	if (request->status) {
		trap_failed(inform, trap, request->status);
		return;
	}
	trap->failures = 0;
	trap->subscribed = !stale;
	watchers_tell(inform);
}

/* Passes the list on, and the ownership of its memory */
static void list_done(struct ipoib_watcher *watcher)
{
	struct ipoib_inform_request *request = &watcher->list;

	ipoib_groups_listed(watcher->priv, request->status ?: request->count, request->mgids);
	request->mgids = NULL;
}

static struct inform_trap *trap_of(struct inform *inform, const struct ib_mad_send_buf *buf)
{
	int i;

	for (i = 0; i < INFORM_TRAPS; i++)
		if (inform->traps[i].request.buf == buf)
			return &inform->traps[i];
	return NULL;
}

static struct ipoib_watcher *watcher_of(struct inform *inform,
					const struct ib_mad_send_buf *buf)
{
	struct ipoib_watcher *watcher;

	list_for_each_entry(watcher, &inform->watchers, node)
		if (watcher->list.buf == buf)
			return watcher;
	return NULL;
}

/* Returns the request that a send buffer belongs to, or NULL if its result is no longer wanted */
static struct ipoib_inform_request *request_of(struct inform *inform,
					       const struct ib_mad_send_buf *buf)
{
	struct inform_trap *trap = trap_of(inform, buf);
	struct ipoib_watcher *watcher;

	if (trap)
		return &trap->request;
	watcher = watcher_of(inform, buf);
	return watcher ? &watcher->list : NULL;
}

static void buf_free(struct ib_mad_send_buf *buf)
{
	rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(buf);
}

/* The MAD layer has finished with a request. If an answer came, inform_received() was called
 * before.
 */
static void inform_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct inform *inform = agent->context;
	struct ib_mad_send_buf *buf = wc->send_buf;
	struct ipoib_watcher *watcher;
	struct ipoib_inform_request *request;
	struct inform_trap *trap;

	spin_lock_bh(&inform->lock);
	request = request_of(inform, buf);
	trap = trap_of(inform, buf);
	watcher = watcher_of(inform, buf);
	if (request) {
		if (wc->status != IB_WC_SUCCESS)
			request->status = -ETIMEDOUT;
		request->buf = NULL;
	}
	if (trap)
		trap_done(inform, trap);
	if (watcher)
		list_done(watcher);
	spin_unlock_bh(&inform->lock);
	buf_free(buf);
	inform_kick(inform);
}

/* Builds the ReportResp, which repeats the contents of the Report (IBA 13.4.10) */
static struct ib_mad_send_buf *report_answer(struct ib_mad_agent *agent,
					     const struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf;
	struct ib_sa_mad *mad;

	buf = ib_create_send_mad(agent, wc->wc->src_qp, wc->wc->pkey_index, 0, IB_MGMT_SA_HDR,
				 IB_MGMT_SA_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	buf->ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh,
				       agent->port_num);
	if (IS_ERR(buf->ah)) {
		void *err = buf->ah;

		ib_free_send_mad(buf);
		return err;
	}
	mad = buf->mad;
	memcpy(mad, wc->recv_buf.mad, sizeof(*mad));
	mad->mad_hdr.method = IB_MGMT_METHOD_REPORT_RESP;
	mad->mad_hdr.status = 0;
	return buf;
}

/* Answers a Report, which the SA would repeat otherwise. Errors need no handling, as the next
 * repetition is answered again.
 */
static void report_respond(struct ib_mad_agent *agent, const struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf = report_answer(agent, wc);

	if (!IS_ERR(buf) && ib_post_send_mad(buf, NULL))
		buf_free(buf);
}

static bool inform_needs_grh(const struct inform *inform)
{
	return rdma_is_grh_required(inform->port->ibdev, inform->port->number);
}

/* Returns whether a MAD comes from the SA, which uses QP1 of the SM's port (IBA 15.4.2). If this
 * port shares its LID with others, a MAD without a GRH cannot be meant for it.
 */
static bool mad_is_of_sa(struct inform *inform, const struct ib_wc *wc)
{
	bool sm;

	spin_lock_bh(&inform->lock);
	sm = inform->sm_lid && !((wc->slid ^ inform->sm_lid) >> inform->lmc);
	spin_unlock_bh(&inform->lock);
	return sm && wc->src_qp == 1 &&
	       (wc->wc_flags & IB_WC_GRH || !inform_needs_grh(inform));
}

/* Counts a MAD that does not come from the SA. Not every HCA reports that the SM has moved, so the
 * HCA is asked for the SM's address, but not for each forged MAD.
 */
static void mad_refuse(struct inform *inform)
{
	struct ipoib_watcher *watcher;
	bool look;

	spin_lock_bh(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node)
		ipoib_count(watcher->priv, IPOIB_STAT_REPORTS_FORGED);
	look = time_after(jiffies, inform->sm_looked + INFORM_LOOK);
	inform->sm_stale |= look;
	spin_unlock_bh(&inform->lock);
	if (look)
		inform_kick(inform);
}

static void report_deliver(struct inform *inform, const struct ib_sa_mad *mad)
{
	struct ipoib_watcher *watcher;
	union ib_gid mgid;
	bool exists;

	if (!ipoib_report_parse(mad, &mgid, &exists))
		return;
	spin_lock_bh(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node)
		ipoib_group_report(watcher->priv, &mgid, exists);
	spin_unlock_bh(&inform->lock);
}

/* Records an answer. The MAD layer calls inform_sent() next, which processes it. */
static void answer_take(struct inform *inform, const struct ib_mad_send_buf *buf,
			const struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *hdr = &wc->recv_buf.mad->mad_hdr;
	struct ipoib_inform_request *request, answer = {};

	if (hdr->status) {
		answer.status = hdr->status & cpu_to_be16(IB_MGMT_MAD_STATUS_BUSY) ? -EBUSY :
										     -EINVAL;
	} else if (hdr->method == IB_SA_METHOD_GET_TABLE_RESP) {
		answer.mgids = ipoib_list_parse(wc, &answer.count);
		answer.status = PTR_ERR_OR_ZERO(answer.mgids);
		if (answer.status)
			answer.mgids = NULL;
	}
	spin_lock_bh(&inform->lock);
	request = request_of(inform, buf);
	if (request) {
		request->status = answer.status;
		request->count = answer.count;
		swap(request->mgids, answer.mgids);
	}
	spin_unlock_bh(&inform->lock);
	kvfree(answer.mgids);
}

static void inform_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	struct inform *inform = agent->context;

	/* If a forged answer is dropped here, the request fails as if it had none */
	if (!mad_is_of_sa(inform, wc->wc)) {
		mad_refuse(inform);
	} else if (buf) {
		answer_take(inform, buf, wc);
	} else {
		report_deliver(inform, (const void *)wc->recv_buf.mad);
		report_respond(agent, wc);
	}
	ib_free_recv_mad(wc);
}

/* Queries the HCA for the SM's address, and stores it for callbacks, which must not sleep */
static int sm_look(struct inform *inform, struct ib_port_attr *state)
{
	int err;

	spin_lock_bh(&inform->lock);
	inform->sm_stale = false;
	inform->sm_looked = jiffies;
	spin_unlock_bh(&inform->lock);
	err = ib_query_port(inform->port->ibdev, inform->port->number, state);
	if (!err && !state->sm_lid)
		err = -ENETUNREACH;
	spin_lock_bh(&inform->lock);
	inform->sm_lid = err ? 0 : state->sm_lid;
	inform->lmc = state->lmc;
	spin_unlock_bh(&inform->lock);
	return err;
}

/* Updates the SM's address after an event. This is not left to the next request, since Reports of
 * a new SM have to be accepted before.
 */
static void sm_follow(struct inform *inform)
{
	struct ib_port_attr state = {};
	bool stale;

	spin_lock_bh(&inform->lock);
	stale = inform->sm_stale;
	spin_unlock_bh(&inform->lock);
	if (stale)
		sm_look(inform, &state);
}

static struct ib_ah *sa_ah_create(struct inform *inform)
{
	const struct ipoib_port *port = inform->port;
	struct rdma_ah_attr attr = { .type = rdma_ah_find_type(port->ibdev, port->number) };
	struct ib_port_attr state = {};
	int err;

	err = sm_look(inform, &state);
	if (err)
		return ERR_PTR(err);
	rdma_ah_set_dlid(&attr, state.sm_lid);
	rdma_ah_set_sl(&attr, state.sm_sl);
	rdma_ah_set_port_num(&attr, port->number);
	if (inform_needs_grh(inform)) {
		rdma_ah_set_ah_flags(&attr, IB_AH_GRH);
		rdma_ah_set_subnet_prefix(&attr, cpu_to_be64(state.subnet_prefix));
		rdma_ah_set_interface_id(&attr, cpu_to_be64(IB_SA_WELL_KNOWN_GUID));
	}
	return rdma_create_ah(inform->agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* Creates a request to the SA; the caller fills in its data */
static struct ib_mad_send_buf *request_create(struct inform *inform, u8 method,
					      u16 attribute)
{
	struct ib_mad_send_buf *buf;
	struct ib_sa_mad *mad;
	struct ib_ah *ah;
	u16 index = 0;

	ib_find_pkey(inform->port->ibdev, inform->port->number, IB_DEFAULT_PKEY_FULL, &index);
	ah = sa_ah_create(inform);
	if (IS_ERR(ah))
		return ERR_CAST(ah);
	buf = ib_create_send_mad(inform->agent, 1, index, 0, IB_MGMT_SA_HDR,
				 IB_MGMT_SA_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		return buf;
	}
	buf->ah = ah;
	buf->timeout_ms = INFORM_TIMEOUT_MS;
	buf->retries = INFORM_RETRIES;
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	mad->mad_hdr.class_version = IB_SA_CLASS_VERSION;
	mad->mad_hdr.method = method;
	mad->mad_hdr.attr_id = cpu_to_be16(attribute);
	mad->mad_hdr.tid = cpu_to_be64((u64)inform->agent->hi_tid << 32 |
				       (u32)atomic_inc_return(&inform->tid));
	return buf;
}

/* Sends a request. It is recorded before, since the answer may come before ib_post_send_mad()
 * returns. @buf is freed when the request is finished, or on error.
 */
static int request_send(struct inform *inform, struct ipoib_inform_request *request,
			struct ib_mad_send_buf *buf)
{
	int err;

	spin_lock_bh(&inform->lock);
	request->status = -EPROTO;
	request->count = 0;
	request->buf = buf;
	spin_unlock_bh(&inform->lock);
	err = ib_post_send_mad(buf, NULL);
	if (!err)
		return 0;
	spin_lock_bh(&inform->lock);
	request->buf = NULL;
	spin_unlock_bh(&inform->lock);
	buf_free(buf);
	return err;
}

static int trap_send(struct inform *inform, enum inform_trap_index index)
{
	struct inform_trap *trap = &inform->traps[index];
	struct ib_mad_send_buf *buf;

	buf = request_create(inform, IB_MGMT_METHOD_SET, IB_SA_ATTR_INFORM_INFO);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ipoib_inform_fill(buf->mad, inform_trap_numbers[index], trap->subscribe);
	return request_send(inform, &trap->request, buf);
}

/* Returns whether a request for a trap has to be sent now, and sets inform_trap.subscribe. If it is
 * too early, lowers *wait to the remaining time.
 */
static bool trap_decide(struct inform *inform, enum inform_trap_index index,
			unsigned long *wait)
{
	struct inform_trap *trap = &inform->traps[index];
	bool differs, wanted;
	long left;

	spin_lock_bh(&inform->lock);
	wanted = trap_wanted(inform, index);
	differs = wanted != trap->subscribed && !trap->request.buf;
	if (differs)
		trap->subscribe = wanted;
	left = wanted ? trap->retry_at - jiffies : 0;
	spin_unlock_bh(&inform->lock);
	if (differs && left > 0)
		*wait = min_t(unsigned long, *wait, left);
	return differs && left <= 0;
}

static void trap_serve(struct inform *inform, enum inform_trap_index index,
		       unsigned long *wait)
{
	struct inform_trap *trap = &inform->traps[index];
	int err = -EADDRINUSE;

	if (!trap_decide(inform, index, wait))
		return;
	if (inform->hears)
		err = trap_send(inform, index);
	if (!err)
		return;
	spin_lock_bh(&inform->lock);
	trap->request.status = err;
	trap_done(inform, trap);
	spin_unlock_bh(&inform->lock);
	inform_kick(inform);
}

static int list_send(struct inform *inform, struct ipoib_watcher *watcher)
{
	struct ib_mad_send_buf *buf;

	buf = request_create(inform, IB_SA_METHOD_GET_TABLE, IB_SA_ATTR_MC_MEMBER_REC);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ipoib_list_fill(buf->mad, watcher->priv->pkey);
	return request_send(inform, &watcher->list, buf);
}

static struct ipoib_watcher *watcher_next_list(struct inform *inform)
{
	struct ipoib_watcher *watcher, *found = NULL;

	spin_lock_bh(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node) {
		if (!watcher->list_wanted || watcher->list.buf)
			continue;
		watcher->list_wanted = false;
		found = watcher;
		break;
	}
	spin_unlock_bh(&inform->lock);
	return found;
}

static void lists_serve(struct inform *inform)
{
	struct ipoib_watcher *watcher;
	int err;

	while ((watcher = watcher_next_list(inform))) {
		err = inform->agent ? list_send(inform, watcher) : -ENODEV;
		if (!err)
			continue;
		spin_lock_bh(&inform->lock);
		ipoib_groups_listed(watcher->priv, err, NULL);
		spin_unlock_bh(&inform->lock);
	}
}

static struct ib_mad_agent *agent_register(struct inform *inform, struct ib_mad_reg_req *req)
{
	return ib_register_mad_agent(inform->port->ibdev, inform->port->number, IB_QPT_GSI, req,
				     IB_MGMT_RMPP_VERSION, inform_sent, inform_received, inform,
				     0);
}

/* Closes the agent; outstanding requests fail */
static void agent_close(struct inform *inform)
{
	if (inform->agent)
		ib_unregister_mad_agent(inform->agent);
	inform->agent = NULL;
	inform->hears = false;
}

static void agent_open_deaf(struct inform *inform)
{
	struct ib_mad_agent *agent = agent_register(inform, NULL);

	if (IS_ERR(agent))
		return;
	inform->agent = agent;
	dev_warn(&inform->port->ibdev->dev,
		 "port %u: the SA's reports go to somebody else, groups are found late\n",
		 inform->port->number);
}

/* Opens an agent that receives Reports. If this is not possible, opens one without Reports, and
 * tries again at each call.
 */
static void agent_open(struct inform *inform)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM,
		.mgmt_class_version = IB_SA_CLASS_VERSION,
	};
	struct ib_mad_agent *agent;

	if (inform->hears)
		return;
	__set_bit(IB_MGMT_METHOD_REPORT, req.method_mask);
	agent = agent_register(inform, &req);
	if (!IS_ERR(agent)) {
		agent_close(inform);
		inform->agent = agent;
		inform->hears = true;
	} else if (!inform->agent) {
		agent_open_deaf(inform);
	}
}

static bool inform_is_wanted(struct inform *inform)
{
	bool wanted;

	spin_lock_bh(&inform->lock);
	wanted = trap_wanted(inform, INFORM_DELETED);
	spin_unlock_bh(&inform->lock);
	return wanted;
}

static bool inform_is_idle(struct inform *inform)
{
	bool idle = true;
	int i;

	spin_lock_bh(&inform->lock);
	for (i = 0; i < INFORM_TRAPS; i++)
		idle &= !inform->traps[i].subscribed && !inform->traps[i].request.buf;
	spin_unlock_bh(&inform->lock);
	return idle;
}

/* Sends the requests that are due, and opens or closes the agent. Returns the jiffies until this
 * has to be called again, or MAX_JIFFY_OFFSET if only an answer or an event requires that.
 */
static unsigned long inform_serve(struct inform *inform)
{
	unsigned long wait = MAX_JIFFY_OFFSET;
	bool wanted = inform_is_wanted(inform);
	int i;

	if (wanted) {
		sm_follow(inform);
		agent_open(inform);
	}
	for (i = 0; i < INFORM_TRAPS; i++)
		trap_serve(inform, i, &wait);
	lists_serve(inform);
	if (!wanted && inform_is_idle(inform))
		agent_close(inform);
	return wait;
}

static void inform_work(struct work_struct *work)
{
	struct inform *inform = container_of(work, struct inform, work.work);
	unsigned long wait;

	mutex_lock(&inform->serving);
	wait = inform_serve(inform);
	mutex_unlock(&inform->serving);
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(ipoib_netdev_wq, &inform->work, wait);
}

/**
 * ipoib_inform_start() - prepare a port for interfaces that want reports
 * @port: the port
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_inform_start(struct ipoib_port *port)
{
	struct inform *inform = kzalloc(sizeof(*inform), GFP_KERNEL);

	if (!inform)
		return -ENOMEM;
	inform->port = port;
	inform->sm_stale = true;
	/* Random, because it identifies answers, which could be forged if it were guessed */
	atomic_set(&inform->tid, get_random_u32());
	mutex_init(&inform->serving);
	spin_lock_init(&inform->lock);
	INIT_LIST_HEAD(&inform->watchers);
	INIT_DELAYED_WORK(&inform->work, inform_work);
	port->fabric_own = inform;
	return 0;
}

/**
 * ipoib_inform_stop() - undo ipoib_inform_start()
 * @port: the port; none of its interfaces wants reports
 *
 * Context: may sleep.
 */
void ipoib_inform_stop(struct ipoib_port *port)
{
	struct inform *inform = port->fabric_own;

	/* Unsubscribes, but does not wait for the SA's answer */
	mutex_lock(&inform->serving);
	inform_serve(inform);
	agent_close(inform);
	mutex_unlock(&inform->serving);
	/* No callback can queue it again, since the agent is closed */
	cancel_delayed_work_sync(&inform->work);
	kfree(inform);
}

static void trap_void(struct inform_trap *trap)
{
	trap->subscribed = false;
	trap->stale = trap->request.buf;
	trap->failures = 0;
	trap->retry_at = jiffies + get_random_u32_below(HZ / 8);
}

/**
 * ipoib_inform_void() - subscribe again, as the SA may have lost the port's subscriptions
 * @port: the port
 *
 * Context: any but hard interrupt.
 */
void ipoib_inform_void(struct ipoib_port *port)
{
	struct inform *inform = port->fabric_own;
	struct ipoib_watcher *watcher;
	int i;

	spin_lock_bh(&inform->lock);
	inform->sm_stale = true;
	for (i = 0; i < INFORM_TRAPS; i++)
		trap_void(&inform->traps[i]);
	list_for_each_entry(watcher, &inform->watchers, node)
		watcher->told = false;
	spin_unlock_bh(&inform->lock);
	inform_kick(inform);
}

/* Removes an interface. An answer to its outstanding request for the list will be ignored. */
static void watcher_remove(struct ipoib_watcher *watcher)
{
	list_del(&watcher->node);
	watcher->list_wanted = false;
	watcher->list.buf = NULL;
	kvfree(watcher->list.mgids);
	watcher->list.mgids = NULL;
}

static void watcher_want(struct inform *inform, struct ipoib_dev *priv,
			 enum ipoib_reports reports)
{
	struct ipoib_watcher *watcher = &priv->watcher;

	spin_lock_bh(&inform->lock);
	if (reports && !watcher->reports)
		list_add_tail(&watcher->node, &inform->watchers);
	if (!reports && watcher->reports)
		watcher_remove(watcher);
	watcher->priv = priv;
	watcher->reports = reports;
	watcher->told = false;
	watchers_tell(inform);
	spin_unlock_bh(&inform->lock);
}

/**
 * ipoib_inform_report() - choose the reports that an interface receives
 * @priv: the device
 * @reports: the reports. IPOIB_REPORTS_NONE also cancels a request for the list
 *
 * Context: control path, may sleep.
 */
void ipoib_inform_report(struct ipoib_dev *priv, enum ipoib_reports reports)
{
	struct inform *inform = priv->port->fabric_own;

	/* The port's work may be sending a request for this interface */
	mutex_lock(&inform->serving);
	watcher_want(inform, priv, reports);
	mutex_unlock(&inform->serving);
	inform_kick(inform);
}

/**
 * ipoib_inform_list() - request the list of existing groups
 * @priv: the device; it wants reports
 *
 * The answer is delivered by ipoib_groups_listed().
 *
 * Context: control path.
 * Return: 0.
 */
int ipoib_inform_list(struct ipoib_dev *priv)
{
	struct inform *inform = priv->port->fabric_own;

	spin_lock_bh(&inform->lock);
	priv->watcher.list_wanted = true;
	spin_unlock_bh(&inform->lock);
	inform_kick(inform);
	return 0;
}
