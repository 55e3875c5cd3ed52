// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * News of groups from the subnet administrator: that one was created (trap 66) or
 * deleted (trap 67), and the list of those that exist.
 *
 * The SA tells those who have subscribed (InformInfo, IBA 13.4.11), each port once for
 * each trap however many interfaces it has, and repeats a Report that nobody answers.
 * It forgets subscriptions when it restarts or the port gets another LID: then they are
 * made again. ib_sa does none of this, so a port on which an interface wants news has
 * a MAD agent of its own. Only one agent of a port may receive the SA's Reports; where
 * somebody has been faster there is no news, but still the list.
 *
 * Anybody can send to QP1. The SA is whoever sends from QP1 of the port that the subnet
 * manager is at, which neither a user's QP nor another host can pretend to be: the HCA
 * writes the source LID and QP. What comes from elsewhere is counted and left unanswered.
 *
 * What the SA is to know follows from what the interfaces want, step by step, in each
 * port's work: it alone opens and closes the agent and sends requests. Answers and
 * Reports come by callbacks, which note them and queue the work.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <rdma/ib_mad.h>

#include "ipoib.h"

#define INFORM_TIMEOUT_MS	1000
#define INFORM_RETRIES		2

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
	bool subscribe;			/* what is asked for */
	bool subscribed;		/* the SA has said so */
	bool stale;			/* what is under way will count for nothing */
	u8 failures;			/* since the last success */
	unsigned long retry_at;		/* jiffies */
};

/* What is kept of a port: ipoib_port.fabric_own */
struct inform {
	struct ipoib_port *port;
	atomic_t tid;
	struct delayed_work work;
	/* One at a time sends, and watchers stay meanwhile. Its holder may sleep for the HCA,
	 * but waits for no device's work.
	 */
	struct mutex serving;
	struct ib_mad_agent *agent;	/* guarded by it, as is this */
	bool hears;			/* the agent gets Reports */

	spinlock_t lock;		/* guards the rest; ipoib_group_news.lock nests inside */
	u32 sm_lid;			/* 0: not known */
	u8 lmc;				/* the port's, as the SM's */
	bool sm_stale;			/* the SM may be another one now */
	struct list_head watchers;	/* interfaces that want news */
	struct inform_trap traps[INFORM_TRAPS];
};

static void inform_kick(struct inform *inform)
{
	mod_delayed_work(system_wq, &inform->work, 0);
}

/* Does anybody want Reports of this trap? */
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

/* Tells those who have waited for the subscriptions that they are there */
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

/* A request to subscribe, or to end it, is over. Whether the SA has heard of the end
 * is its own concern: a Report that nobody answers tells it the same.
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

/* Passes the list on, and with it its memory */
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

/* The request that a send buffer is of; NULL if nobody waits for it any more */
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

/* The MAD layer is through with what we sent; an answer has been seen before */
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

/* IBA 13.4.10: the answer repeats the Report */
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

/* The SA would repeat it. What fails here is made good by the repetition. */
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

/* IBA 15.4.2: the SA is at a LID of the SM, on QP1. Where ports share a LID they are told
 * apart by the GRH, which the SA must have written to reach this one.
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

static void forgery_count(struct inform *inform)
{
	struct ipoib_watcher *watcher;

	spin_lock_bh(&inform->lock);
	list_for_each_entry(watcher, &inform->watchers, node)
		ipoib_count(watcher->priv, IPOIB_STAT_REPORTS_FORGED);
	spin_unlock_bh(&inform->lock);
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

/* Notes an answer; inform_sent(), which follows, acts on it */
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

	/* An answer that is not taken leaves its question without one */
	if (!mad_is_of_sa(inform, wc->wc)) {
		forgery_count(inform);
	} else if (buf) {
		answer_take(inform, buf, wc);
	} else {
		report_deliver(inform, (const void *)wc->recv_buf.mad);
		report_respond(agent, wc);
	}
	ib_free_recv_mad(wc);
}

/* Where is the SM now? Asks the HCA, and keeps the answer for those who must not sleep */
static int sm_look(struct inform *inform, struct ib_port_attr *state)
{
	int err;

	spin_lock_bh(&inform->lock);
	inform->sm_stale = false;
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

/* After an event, before anything is asked: the new SM's Reports are its own */
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

/* A request to the SA, but for what is asked */
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

/* Notes the request before it goes, as its answer may be faster than the return */
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

/* What the SA is to be told, if anything: true, and in inform_trap.subscribe */
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

/* What is under way fails */
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

/* With Reports if they are to be had, and if not now, later */
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

/* Takes the port as far as it goes. Returns the jiffies until it needs another look,
 * MAX_JIFFY_OFFSET if an answer will be the occasion.
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
		queue_delayed_work(system_wq, &inform->work, wait);
}

/**
 * ipoib_inform_start() - prepare a port for those of its interfaces that want news
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
	/* Answers are recognized by it, so that it must not be guessed */
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
 * @port: the port; none of its interfaces wants news
 *
 * Context: may sleep.
 */
void ipoib_inform_stop(struct ipoib_port *port)
{
	struct inform *inform = port->fabric_own;

	/* The SA is told, but its answer not waited for */
	mutex_lock(&inform->serving);
	inform_serve(inform);
	agent_close(inform);
	mutex_unlock(&inform->serving);
	/* Callbacks that queued it are over */
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
 * ipoib_inform_void() - the SA may have forgotten the port's subscriptions
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

/* An answer to the question for the list that is still to come finds nobody */
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
 * ipoib_inform_report() - choose the news that an interface is told
 * @priv: the device
 * @reports: which
 *
 * Context: control path.
 */
void ipoib_inform_report(struct ipoib_dev *priv, enum ipoib_reports reports)
{
	struct inform *inform = priv->port->fabric_own;

	/* The port's work may be sending what this interface asks for */
	mutex_lock(&inform->serving);
	watcher_want(inform, priv, reports);
	mutex_unlock(&inform->serving);
	inform_kick(inform);
}

/**
 * ipoib_inform_list() - ask for the groups that exist
 * @priv: the device; it wants reports
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
