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
#include <linux/rtnetlink.h>
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

/* A question to the SA */
struct inform_request {
	struct ib_mad_send_buf *buf;	/* not NULL: under way */
	int status;			/* its answer's, as is the rest */
	int count;
	union ib_gid *mgids;		/* kvfree() */
};

struct inform_trap {
	struct inform_request request;
	bool subscribe;			/* what is asked for */
	bool subscribed;		/* the SA has said so */
	bool stale;			/* what is under way will count for nothing */
	u8 failures;			/* since the last success */
	unsigned long retry_at;		/* jiffies */
};

/* One port; all its interfaces share it */
struct inform_port {
	struct list_head node;		/* in inform_ports */
	unsigned int users;		/* rtnl */
	struct ib_device *ibdev;
	u32 port;
	atomic_t tid;
	struct delayed_work work;
	struct mutex serving;		/* one at a time sends; watchers stay meanwhile */
	struct ib_mad_agent *agent;	/* guarded by it, as is this */
	bool hears;			/* the agent gets Reports */

	spinlock_t lock;		/* guards the rest; ipoib_group_news.lock nests inside */
	u32 sm_lid;			/* 0: not known */
	u8 lmc;				/* the port's, as the SM's */
	bool sm_stale;			/* the SM may be another one now */
	struct list_head watchers;
	struct inform_trap traps[INFORM_TRAPS];
};

/* One interface: ipoib_dev.fabric_port */
struct inform_watcher {
	struct list_head node;		/* in inform_port.watchers */
	struct inform_port *port;
	struct ipoib_dev *priv;
	enum ipoib_reports reports;
	bool told;			/* that they come */
	bool list_wanted;
	struct inform_request list;
};

static LIST_HEAD(inform_ports);		/* rtnl */

static void port_kick(struct inform_port *port)
{
	mod_delayed_work(system_wq, &port->work, 0);
}

/* Does anybody want Reports of this trap? */
static bool trap_wanted(const struct inform_port *port, enum inform_trap_index index)
{
	enum ipoib_reports least = index == INFORM_DELETED ? IPOIB_REPORTS_DELETED :
							     IPOIB_REPORTS_ALL;
	const struct inform_watcher *watcher;

	lockdep_assert_held(&port->lock);
	list_for_each_entry(watcher, &port->watchers, node)
		if (watcher->reports >= least)
			return true;
	return false;
}

static bool watcher_is_served(const struct inform_watcher *watcher)
{
	const struct inform_trap *traps = watcher->port->traps;

	return traps[INFORM_DELETED].subscribed &&
	       (watcher->reports < IPOIB_REPORTS_ALL || traps[INFORM_CREATED].subscribed);
}

/* Tells those who have waited for the subscriptions that they are there */
static void watchers_tell(struct inform_port *port)
{
	struct inform_watcher *watcher;

	lockdep_assert_held(&port->lock);
	list_for_each_entry(watcher, &port->watchers, node) {
		if (!watcher->reports || watcher->told || !watcher_is_served(watcher))
			continue;
		watcher->told = true;
		ipoib_groups_reported(watcher->priv, 0);
	}
}

static void watchers_tell_failure(struct inform_port *port, int status)
{
	struct inform_watcher *watcher;

	lockdep_assert_held(&port->lock);
	list_for_each_entry(watcher, &port->watchers, node)
		if (watcher->reports && !watcher->told)
			ipoib_groups_reported(watcher->priv, status);
}

static void trap_failed(struct inform_port *port, struct inform_trap *trap, int status)
{
	trap->retry_at = ipoib_retry_at(&trap->failures);
	watchers_tell_failure(port, status);
}

/* A request to subscribe, or to end it, is over. Whether the SA has heard of the end
 * is its own concern: a Report that nobody answers tells it the same.
 */
static void trap_done(struct inform_port *port, struct inform_trap *trap)
{
	const struct inform_request *request = &trap->request;
	bool stale = trap->stale;

	trap->stale = false;
	if (!trap->subscribe) {
		trap->subscribed = false;
		return;
	}
	if (request->status) {
		trap_failed(port, trap, request->status);
		return;
	}
	trap->failures = 0;
	trap->subscribed = !stale;
	watchers_tell(port);
}

/* Passes the list on, and with it its memory, to one who still wants it */
static void list_done(struct inform_watcher *watcher)
{
	struct inform_request *request = &watcher->list;

	if (watcher->reports)
		ipoib_groups_listed(watcher->priv, request->status ?: request->count,
				    request->mgids);
	else
		kvfree(request->mgids);
	request->mgids = NULL;
}

static struct inform_trap *trap_of(struct inform_port *port, const struct ib_mad_send_buf *buf)
{
	int i;

	for (i = 0; i < INFORM_TRAPS; i++)
		if (port->traps[i].request.buf == buf)
			return &port->traps[i];
	return NULL;
}

static struct inform_watcher *watcher_of(struct inform_port *port,
					 const struct ib_mad_send_buf *buf)
{
	struct inform_watcher *watcher;

	list_for_each_entry(watcher, &port->watchers, node)
		if (watcher->list.buf == buf)
			return watcher;
	return NULL;
}

/* The request that a send buffer is of; NULL if nobody waits for it any more */
static struct inform_request *request_of(struct inform_port *port,
					 const struct ib_mad_send_buf *buf)
{
	struct inform_trap *trap = trap_of(port, buf);
	struct inform_watcher *watcher;

	if (trap)
		return &trap->request;
	watcher = watcher_of(port, buf);
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
	struct inform_port *port = agent->context;
	struct ib_mad_send_buf *buf = wc->send_buf;
	struct inform_watcher *watcher;
	struct inform_request *request;
	struct inform_trap *trap;

	spin_lock_bh(&port->lock);
	request = request_of(port, buf);
	trap = trap_of(port, buf);
	watcher = watcher_of(port, buf);
	if (request) {
		if (wc->status != IB_WC_SUCCESS)
			request->status = -ETIMEDOUT;
		request->buf = NULL;
	}
	if (trap)
		trap_done(port, trap);
	if (watcher)
		list_done(watcher);
	spin_unlock_bh(&port->lock);
	buf_free(buf);
	port_kick(port);
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

/* IBA 15.4.2: the SA is at a LID of the SM, on QP1. Where ports share a LID they are told
 * apart by the GRH, which the SA must have written to reach this one.
 */
static bool mad_is_of_sa(struct inform_port *port, const struct ib_wc *wc)
{
	bool sm;

	spin_lock_bh(&port->lock);
	sm = port->sm_lid && !((wc->slid ^ port->sm_lid) >> port->lmc);
	spin_unlock_bh(&port->lock);
	return sm && wc->src_qp == 1 &&
	       (wc->wc_flags & IB_WC_GRH || !rdma_is_grh_required(port->ibdev, port->port));
}

static void forgery_count(struct inform_port *port)
{
	struct inform_watcher *watcher;

	spin_lock_bh(&port->lock);
	list_for_each_entry(watcher, &port->watchers, node)
		if (watcher->reports)
			ipoib_count(watcher->priv, IPOIB_STAT_REPORTS_FORGED);
	spin_unlock_bh(&port->lock);
}

static void report_deliver(struct inform_port *port, const struct ib_sa_mad *mad)
{
	struct inform_watcher *watcher;
	union ib_gid mgid;
	bool exists;

	if (!ipoib_report_parse(mad, &mgid, &exists))
		return;
	spin_lock_bh(&port->lock);
	list_for_each_entry(watcher, &port->watchers, node)
		if (watcher->reports)
			ipoib_group_report(watcher->priv, &mgid, exists);
	spin_unlock_bh(&port->lock);
}

/* Notes an answer; inform_sent(), which follows, acts on it */
static void answer_take(struct inform_port *port, const struct ib_mad_send_buf *buf,
			const struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *hdr = &wc->recv_buf.mad->mad_hdr;
	struct inform_request *request, answer = {};

	if (hdr->status) {
		answer.status = hdr->status & cpu_to_be16(IB_MGMT_MAD_STATUS_BUSY) ? -EBUSY :
										     -EINVAL;
	} else if (hdr->method == IB_SA_METHOD_GET_TABLE_RESP) {
		answer.mgids = ipoib_list_parse(wc, &answer.count);
		answer.status = PTR_ERR_OR_ZERO(answer.mgids);
		if (answer.status)
			answer.mgids = NULL;
	}
	spin_lock_bh(&port->lock);
	request = request_of(port, buf);
	if (request) {
		request->status = answer.status;
		request->count = answer.count;
		swap(request->mgids, answer.mgids);
	}
	spin_unlock_bh(&port->lock);
	kvfree(answer.mgids);
}

static void inform_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	struct inform_port *port = agent->context;

	/* An answer that is not taken leaves its question without one */
	if (!mad_is_of_sa(port, wc->wc)) {
		forgery_count(port);
	} else if (buf) {
		answer_take(port, buf, wc);
	} else {
		report_deliver(port, (const void *)wc->recv_buf.mad);
		report_respond(agent, wc);
	}
	ib_free_recv_mad(wc);
}

/* Where is the SM now? Asks the HCA, and keeps the answer for those who must not sleep */
static int sm_look(struct inform_port *port, struct ib_port_attr *state)
{
	int err;

	spin_lock_bh(&port->lock);
	port->sm_stale = false;
	spin_unlock_bh(&port->lock);
	err = ib_query_port(port->ibdev, port->port, state);
	if (!err && !state->sm_lid)
		err = -ENETUNREACH;
	spin_lock_bh(&port->lock);
	port->sm_lid = err ? 0 : state->sm_lid;
	port->lmc = state->lmc;
	spin_unlock_bh(&port->lock);
	return err;
}

/* After an event, before anything is asked: the new SM's Reports are its own */
static void sm_follow(struct inform_port *port)
{
	struct ib_port_attr state = {};
	bool stale;

	spin_lock_bh(&port->lock);
	stale = port->sm_stale;
	spin_unlock_bh(&port->lock);
	if (stale)
		sm_look(port, &state);
}

static struct ib_ah *sa_ah_create(struct inform_port *port)
{
	struct rdma_ah_attr attr = { .type = rdma_ah_find_type(port->ibdev, port->port) };
	struct ib_port_attr state = {};
	int err;

	err = sm_look(port, &state);
	if (err)
		return ERR_PTR(err);
	rdma_ah_set_dlid(&attr, state.sm_lid);
	rdma_ah_set_sl(&attr, state.sm_sl);
	rdma_ah_set_port_num(&attr, port->port);
	if (rdma_is_grh_required(port->ibdev, port->port)) {
		rdma_ah_set_ah_flags(&attr, IB_AH_GRH);
		rdma_ah_set_subnet_prefix(&attr, cpu_to_be64(state.subnet_prefix));
		rdma_ah_set_interface_id(&attr, cpu_to_be64(IB_SA_WELL_KNOWN_GUID));
	}
	return rdma_create_ah(port->agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* A request to the SA, but for what is asked */
static struct ib_mad_send_buf *request_create(struct inform_port *port, u8 method,
					      u16 attribute)
{
	struct ib_mad_send_buf *buf;
	struct ib_sa_mad *mad;
	struct ib_ah *ah;
	u16 index = 0;

	ib_find_pkey(port->ibdev, port->port, IB_DEFAULT_PKEY_FULL, &index);
	ah = sa_ah_create(port);
	if (IS_ERR(ah))
		return ERR_CAST(ah);
	buf = ib_create_send_mad(port->agent, 1, index, 0, IB_MGMT_SA_HDR,
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
	mad->mad_hdr.tid = cpu_to_be64((u64)port->agent->hi_tid << 32 |
				       (u32)atomic_inc_return(&port->tid));
	return buf;
}

/* Notes the request before it goes, as its answer may be faster than the return */
static int request_send(struct inform_port *port, struct inform_request *request,
			struct ib_mad_send_buf *buf)
{
	int err;

	spin_lock_bh(&port->lock);
	request->status = -EPROTO;
	request->count = 0;
	request->buf = buf;
	spin_unlock_bh(&port->lock);
	err = ib_post_send_mad(buf, NULL);
	if (!err)
		return 0;
	spin_lock_bh(&port->lock);
	request->buf = NULL;
	spin_unlock_bh(&port->lock);
	buf_free(buf);
	return err;
}

static int trap_send(struct inform_port *port, enum inform_trap_index index)
{
	struct inform_trap *trap = &port->traps[index];
	struct ib_mad_send_buf *buf;

	buf = request_create(port, IB_MGMT_METHOD_SET, IB_SA_ATTR_INFORM_INFO);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ipoib_inform_fill(buf->mad, inform_trap_numbers[index], trap->subscribe);
	return request_send(port, &trap->request, buf);
}

/* What the SA is to be told, if anything: true, and in inform_trap.subscribe */
static bool trap_decide(struct inform_port *port, enum inform_trap_index index,
			unsigned long *wait)
{
	struct inform_trap *trap = &port->traps[index];
	bool differs, wanted;
	long left;

	spin_lock_bh(&port->lock);
	wanted = trap_wanted(port, index);
	differs = wanted != trap->subscribed && !trap->request.buf;
	if (differs)
		trap->subscribe = wanted;
	left = wanted ? trap->retry_at - jiffies : 0;
	spin_unlock_bh(&port->lock);
	if (differs && left > 0)
		*wait = min_t(unsigned long, *wait, left);
	return differs && left <= 0;
}

static void trap_serve(struct inform_port *port, enum inform_trap_index index,
		       unsigned long *wait)
{
	struct inform_trap *trap = &port->traps[index];
	int err = -EADDRINUSE;

	if (!trap_decide(port, index, wait))
		return;
	if (port->hears)
		err = trap_send(port, index);
	if (!err)
		return;
	spin_lock_bh(&port->lock);
	trap->request.status = err;
	trap_done(port, trap);
	spin_unlock_bh(&port->lock);
	port_kick(port);
}

static int list_send(struct inform_port *port, struct inform_watcher *watcher)
{
	struct ib_mad_send_buf *buf;

	buf = request_create(port, IB_SA_METHOD_GET_TABLE, IB_SA_ATTR_MC_MEMBER_REC);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ipoib_list_fill(buf->mad, watcher->priv->pkey);
	return request_send(port, &watcher->list, buf);
}

static struct inform_watcher *watcher_next_list(struct inform_port *port)
{
	struct inform_watcher *watcher, *found = NULL;

	spin_lock_bh(&port->lock);
	list_for_each_entry(watcher, &port->watchers, node) {
		if (!watcher->list_wanted || watcher->list.buf)
			continue;
		watcher->list_wanted = false;
		found = watcher;
		break;
	}
	spin_unlock_bh(&port->lock);
	return found;
}

static void lists_serve(struct inform_port *port)
{
	struct inform_watcher *watcher;
	int err;

	while ((watcher = watcher_next_list(port))) {
		err = port->agent ? list_send(port, watcher) : -ENODEV;
		if (!err)
			continue;
		spin_lock_bh(&port->lock);
		if (watcher->reports)
			ipoib_groups_listed(watcher->priv, err, NULL);
		spin_unlock_bh(&port->lock);
	}
}

static struct ib_mad_agent *agent_register(struct inform_port *port, struct ib_mad_reg_req *req)
{
	return ib_register_mad_agent(port->ibdev, port->port, IB_QPT_GSI, req,
				     IB_MGMT_RMPP_VERSION, inform_sent, inform_received, port,
				     0);
}

/* What is under way fails */
static void agent_close(struct inform_port *port)
{
	if (port->agent)
		ib_unregister_mad_agent(port->agent);
	port->agent = NULL;
	port->hears = false;
}

static void agent_open_deaf(struct inform_port *port)
{
	struct ib_mad_agent *agent = agent_register(port, NULL);

	if (IS_ERR(agent))
		return;
	port->agent = agent;
	dev_warn(&port->ibdev->dev,
		 "port %u: the SA's reports go to somebody else, groups are found late\n",
		 port->port);
}

/* With Reports if they are to be had, and if not now, later */
static void agent_open(struct inform_port *port)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM,
		.mgmt_class_version = IB_SA_CLASS_VERSION,
	};
	struct ib_mad_agent *agent;

	if (port->hears)
		return;
	__set_bit(IB_MGMT_METHOD_REPORT, req.method_mask);
	agent = agent_register(port, &req);
	if (!IS_ERR(agent)) {
		agent_close(port);
		port->agent = agent;
		port->hears = true;
	} else if (!port->agent) {
		agent_open_deaf(port);
	}
}

static bool port_is_wanted(struct inform_port *port)
{
	bool wanted;

	spin_lock_bh(&port->lock);
	wanted = trap_wanted(port, INFORM_DELETED);
	spin_unlock_bh(&port->lock);
	return wanted;
}

static bool port_is_idle(struct inform_port *port)
{
	bool idle = true;
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < INFORM_TRAPS; i++)
		idle &= !port->traps[i].subscribed && !port->traps[i].request.buf;
	spin_unlock_bh(&port->lock);
	return idle;
}

/* Takes the port as far as it goes. Returns the jiffies until it needs another look,
 * MAX_JIFFY_OFFSET if an answer will be the occasion.
 */
static unsigned long port_serve(struct inform_port *port)
{
	unsigned long wait = MAX_JIFFY_OFFSET;
	bool wanted = port_is_wanted(port);
	int i;

	if (wanted) {
		sm_follow(port);
		agent_open(port);
	}
	for (i = 0; i < INFORM_TRAPS; i++)
		trap_serve(port, i, &wait);
	lists_serve(port);
	if (!wanted && port_is_idle(port))
		agent_close(port);
	return wait;
}

static void inform_work(struct work_struct *work)
{
	struct inform_port *port = container_of(work, struct inform_port, work.work);
	unsigned long wait;

	mutex_lock(&port->serving);
	wait = port_serve(port);
	mutex_unlock(&port->serving);
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(system_wq, &port->work, wait);
}

static struct inform_port *port_find(const struct ipoib_dev *priv)
{
	struct inform_port *port;

	ASSERT_RTNL();
	list_for_each_entry(port, &inform_ports, node)
		if (port->ibdev == priv->ibdev && port->port == priv->port)
			return port;
	return NULL;
}

static struct inform_port *port_get(const struct ipoib_dev *priv)
{
	struct inform_port *port = port_find(priv);

	if (!port) {
		port = kzalloc(sizeof(*port), GFP_KERNEL);
		if (!port)
			return NULL;
		port->ibdev = priv->ibdev;
		port->port = priv->port;
		port->sm_stale = true;
		/* Not to be guessed: answers are known by it */
		atomic_set(&port->tid, get_random_u32());
		mutex_init(&port->serving);
		spin_lock_init(&port->lock);
		INIT_LIST_HEAD(&port->watchers);
		INIT_DELAYED_WORK(&port->work, inform_work);
		list_add_tail(&port->node, &inform_ports);
	}
	port->users++;
	return port;
}

static void port_put(struct inform_port *port)
{
	if (--port->users) {
		port_kick(port);
		return;
	}
	/* The SA is told, but its answer not waited for */
	mutex_lock(&port->serving);
	port_serve(port);
	agent_close(port);
	mutex_unlock(&port->serving);
	/* Callbacks that queued it are over */
	cancel_delayed_work_sync(&port->work);
	list_del(&port->node);
	kfree(port);
}

/**
 * ipoib_inform_start() - make an interface one that may be told news
 * @priv: the device
 *
 * Context: rtnl held, may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_inform_start(struct ipoib_dev *priv)
{
	struct inform_watcher *watcher = kzalloc(sizeof(*watcher), GFP_KERNEL);

	if (!watcher)
		return -ENOMEM;
	watcher->port = port_get(priv);
	if (!watcher->port) {
		kfree(watcher);
		return -ENOMEM;
	}
	watcher->priv = priv;
	priv->fabric_port = watcher;
	spin_lock_bh(&watcher->port->lock);
	list_add_tail(&watcher->node, &watcher->port->watchers);
	spin_unlock_bh(&watcher->port->lock);
	return 0;
}

/**
 * ipoib_inform_stop() - undo ipoib_inform_start()
 * @priv: the device; it wants no reports
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_inform_stop(struct ipoib_dev *priv)
{
	struct inform_watcher *watcher = priv->fabric_port;
	struct inform_port *port = watcher->port;

	mutex_lock(&port->serving);
	spin_lock_bh(&port->lock);
	list_del(&watcher->node);
	spin_unlock_bh(&port->lock);
	mutex_unlock(&port->serving);
	port_put(port);
	kfree(watcher);
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
 * @priv: any device of the port; all of them are told of the event
 *
 * Context: any but hard interrupt.
 */
void ipoib_inform_void(struct ipoib_dev *priv)
{
	struct inform_watcher *watcher = priv->fabric_port;
	struct inform_port *port = watcher->port;
	int i;

	spin_lock_bh(&port->lock);
	if (list_is_first(&watcher->node, &port->watchers)) {
		port->sm_stale = true;
		for (i = 0; i < INFORM_TRAPS; i++)
			trap_void(&port->traps[i]);
		list_for_each_entry(watcher, &port->watchers, node)
			watcher->told = false;
	}
	spin_unlock_bh(&port->lock);
	port_kick(port);
}

/* Whoever has asked for the list does not want it any more: an answer finds nobody */
static union ib_gid *list_forget(struct inform_watcher *watcher)
{
	union ib_gid *mgids = watcher->list.mgids;

	watcher->list_wanted = false;
	watcher->list.buf = NULL;
	watcher->list.mgids = NULL;
	return mgids;
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
	struct inform_watcher *watcher = priv->fabric_port;
	struct inform_port *port = watcher->port;
	union ib_gid *mgids = NULL;

	spin_lock_bh(&port->lock);
	watcher->reports = reports;
	watcher->told = false;
	if (!reports)
		mgids = list_forget(watcher);
	watchers_tell(port);
	spin_unlock_bh(&port->lock);
	kvfree(mgids);
	port_kick(port);
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
	struct inform_watcher *watcher = priv->fabric_port;
	struct inform_port *port = watcher->port;

	spin_lock_bh(&port->lock);
	watcher->list_wanted = true;
	spin_unlock_bh(&port->lock);
	port_kick(port);
	return 0;
}
