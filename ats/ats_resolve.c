// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Questions about who has which address, of other modules and of user space. A query is
 * given to a port, whose work asks the SA, again if need be, and calls back. A port
 * without an SA answers from what is registered there.
 *
 * Many may wait while few are under way, and the work runs for each answer: so it does
 * not look at those that wait, but for when the first of them has waited long enough.
 */
#include <linux/completion.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <net/ipv6.h>
#include <rdma/ib_sa.h>

#include "ats.h"

#define ATS_QUERY_TIMEOUT_MS	5000
#define ATS_QUERY_RETRY		(HZ / 4)
#define ATS_QUERY_RETRIES_MAX	5

/* A question under way; ib_ats_free() alone frees it */
struct ib_ats_query {
	struct list_head list;		/* in a list of ats_port, or in none: under way */
	struct list_head cancel;	/* in ats_port.cancels; guarded by queries_lock */
	struct ats_port *port;		/* guarded by queries_lock; NULL: it has ended */
	struct ib_ats_question question;	/* but for its ibdev and net */
	u64 net_cookie;			/* of the namespace it is for; 0: all */
	char device[IB_DEVICE_NAME_MAX];	/* the port's, as is this */
	u32 number;
	ib_ats_done done;
	void *context;
	struct completion ended;

	/* the port's work's own */
	struct ats_request *request;	/* under way */
	unsigned int tries;
	unsigned long retry_at;		/* jiffies */
	unsigned long deadline;		/* jiffies */
	bool cancelled;
	bool table;			/* there is more than one record */
	bool mapped;			/* the address is asked for as ::ffff:a.b.c.d */
	int err;
	struct ib_ats_answer *answers;
	unsigned int count;
	unsigned int room;
};

static DEFINE_SPINLOCK(queries_lock);	/* guards who is cancelled, and whether it can be */

static void query_end(struct ib_ats_query *query, int err)
{
	list_del_init(&query->list);
	spin_lock_irq(&queries_lock);
	query->port = NULL;
	list_del_init(&query->cancel);
	spin_unlock_irq(&queries_lock);
	query->done(query->context, err, query->answers, err ? 0 : query->count);
	kvfree(query->answers);
	query->answers = NULL;
	complete(&query->ended);
}

/* ---- Answers ---- */

static void query_add(void *context, const struct ats_record *record)
{
	struct ib_ats_query *query = context;
	struct ib_ats_answer *answers, *answer;
	unsigned int room = query->room * 2 + 4;

	if (query->count == query->room) {
		answers = kvmalloc_array(room, sizeof(*answers), GFP_KERNEL);
		if (!answers) {
			query->err = -ENOMEM;
			return;
		}
		if (query->count)
			memcpy(answers, query->answers,
			       array_size(query->count, sizeof(*answers)));
		kvfree(query->answers);
		query->answers = answers;
		query->room = room;
	}
	answer = &query->answers[query->count++];
	answer->gid = record->key.gid;
	answer->addr = record->addr;
	ats_addr_to_mapped(&answer->addr);
	answer->sid = record->sid;
	answer->pkey = record->key.pkey;
	answer->primary = record->sid == ATS_SID_PRIMARY;
}

static int answer_cmp(const void *a, const void *b)
{
	const struct ib_ats_answer *one = a, *other = b;

	if (one->primary != other->primary)
		return one->primary ? -1 : 1;
	return memcmp(&one->gid, &other->gid, sizeof(one->gid)) ?:
	       ats_sid_slot(one->sid) - ats_sid_slot(other->sid);
}

static void query_answered(struct ib_ats_query *query)
{
	if (!query->err && !query->count)
		query->err = -ENOENT;
	if (query->count)
		sort(query->answers, query->count, sizeof(*query->answers), answer_cmp, NULL);
	query_end(query, query->err);
}

static bool question_fits(const struct ib_ats_question *question,
			  const struct ats_record *record, const struct in6_addr *addr)
{
	if (question->pkey && question->pkey != record->key.pkey)
		return false;
	if (question->kind == IB_ATS_BY_ADDR)
		return !memcmp(&record->addr, addr, sizeof(*addr));
	if (question->kind == IB_ATS_BY_SID)
		return record->sid == question->sid;
	if (question->kind == IB_ATS_PRIMARY && record->sid != ATS_SID_PRIMARY)
		return false;
	return !memcmp(&record->key.gid, &question->gid, sizeof(question->gid));
}

/* As it is in a record */
static struct in6_addr question_addr(const struct ib_ats_question *question)
{
	struct in6_addr addr = question->addr;

	ats_addr_from_mapped(&addr);
	return addr;
}

static bool source_has(const struct ats_source *source, const struct in6_addr *ip)
{
	unsigned int i;

	for (i = 0; i < source->count; i++)
		if (ats_ip_same(&source->ip[i], ip))
			return true;
	return false;
}

/* A namespace is told of its own interfaces' addresses only */
static bool query_may_see(const struct ib_ats_query *query, const struct ats_port *port,
			  const struct ats_record *record)
{
	const struct ats_source *source;

	if (!query->net_cookie)
		return true;
	list_for_each_entry(source, &port->sources, list)
		if (source->net_cookie == query->net_cookie &&
		    ats_key_same(&source->key, &record->key) &&
		    source_has(source, &record->addr))
			return true;
	return false;
}

static void answer_from_set(struct ib_ats_query *query, const struct ats_port *port,
			    const struct ats_set *set)
{
	struct ats_record record = { .key = set->key, .lease = ATS_LEASE_INFINITE };
	struct in6_addr wanted = question_addr(&query->question);
	const struct ats_addr *addr;

	list_for_each_entry(addr, &set->order, order) {
		if (addr->slot < 0)
			continue;
		record.sid = ats_slot_sid(addr->slot);
		record.addr = addr->ip;
		if (question_fits(&query->question, &record, &wanted) &&
		    query_may_see(query, port, &record))
			query_add(query, &record);
	}
}

/* ATS section 5.1: without an SA, a GID is an IP address, too */
static void answer_gid(struct ib_ats_query *query, struct ats_port *port)
{
	struct ats_record record = {
		.key.pkey = query->question.pkey ?: IB_DEFAULT_PKEY_FULL,
		.sid = ATS_SID_PRIMARY,
	};

	if (query->count || query->question.kind != IB_ATS_BY_ADDR)
		return;
	record.addr = query->question.addr;
	memcpy(&record.key.gid, &record.addr, sizeof(record.key.gid));
	if (ats_port_has_gid(port, &record.key.gid, query->net_cookie))
		query_add(query, &record);
}

static void answer_locally(struct ib_ats_query *query, struct ats_port *port)
{
	const struct ats_set *set;

	/* Of an SA that did not answer when there was one */
	query->err = 0;
	list_for_each_entry(set, &port->engine.sets, list)
		answer_from_set(query, port, set);
	answer_gid(query, port);
	if (!query->count)
		query->err = query->err ?: -ENETUNREACH;
	query_answered(query);
}

/* ---- Questions to the SA ---- */

/* When it is to be looked at again, if nothing happens before */
static void query_note(struct ib_ats_query *query, struct ats_port *port, unsigned long at)
{
	at = ats_earlier(at, query->deadline);
	port->queries_at = ats_earlier(port->queries_at, at);
}

static void query_failed(struct ib_ats_query *query, struct ats_port *port, int err,
			 unsigned long now)
{
	unsigned int doublings = min_t(unsigned int, query->tries++, ATS_QUERY_RETRIES_MAX);
	unsigned long span = ATS_QUERY_RETRY << doublings;

	if (query->cancelled) {
		query_end(query, -ECANCELED);
		return;
	}
	query->err = err;
	query->retry_at = now + span / 2 + get_random_u32_below(span / 2 + 1);
	list_move_tail(&query->list, &port->retries);
	query_note(query, port, query->retry_at);
}

/* Older peers registered an IPv4 address so */
static bool query_other_form(struct ib_ats_query *query, struct ats_port *port)
{
	if (query->count || query->err || query->mapped || query->cancelled ||
	    query->question.kind != IB_ATS_BY_ADDR || !ipv6_addr_v4mapped(&query->question.addr))
		return false;
	query->mapped = true;
	list_move(&query->list, &port->queries);
	return true;
}

/* The SA has more records than go into a single packet */
static void query_as_table(struct ib_ats_query *query, struct ats_port *port)
{
	if (query->cancelled) {
		query_end(query, -ECANCELED);
		return;
	}
	query->table = true;
	list_move(&query->list, &port->queries);
}

static void query_received(struct ib_ats_query *query, struct ats_port *port,
			   const struct ib_mad_recv_wc *answer)
{
	query->err = 0;
	if (ats_table_each(answer, query_add, query) < 0)
		query->err = -EREMOTEIO;
	if (!query_other_form(query, port))
		query_answered(query);
}

static void query_done(struct ats_sa *sa, struct ats_request *request, enum ats_result result)
{
	struct ats_port *port = container_of(sa, struct ats_port, sa);
	struct ib_ats_query *query = request->query;

	query->request = NULL;
	port->queries_in_flight--;
	switch (result) {
	case ATS_RESULT_OK:
		query_received(query, port, request->answer);
		break;
	case ATS_RESULT_NO_RECORD:
		query->err = 0;
		if (!query_other_form(query, port))
			query_answered(query);
		break;
	case ATS_RESULT_TOO_MANY:
		query_as_table(query, port);
		break;
	case ATS_RESULT_REFUSED:
		query_end(query, -EREMOTEIO);
		break;
	case ATS_RESULT_CANCELLED:
		query_end(query, query->cancelled ? -ECANCELED : -ENODEV);
		break;
	default:
		query_failed(query, port, -ETIMEDOUT, jiffies);
		break;
	}
}

static u64 query_fill(const struct ib_ats_query *query, struct ats_wire_record *wire)
{
	const struct ib_ats_question *question = &query->question;
	struct ats_key key = { .pkey = question->pkey };
	u64 mask = ATS_MASK_NAME;
	struct in6_addr addr;

	if (question->pkey)
		mask |= ATS_MASK_PKEY;
	if (question->kind == IB_ATS_BY_GID || question->kind == IB_ATS_PRIMARY) {
		key.gid = question->gid;
		mask |= ATS_MASK_GID;
	}
	ats_record_init(wire, &key);
	if (question->kind == IB_ATS_PRIMARY || question->kind == IB_ATS_BY_SID) {
		wire->service_id = cpu_to_be64(question->kind == IB_ATS_BY_SID ?
					       question->sid : ATS_SID_PRIMARY);
		mask |= ATS_MASK_SID;
	}
	if (question->kind == IB_ATS_BY_ADDR) {
		addr = query->mapped ? question->addr : question_addr(question);
		memcpy(wire->data8, &addr, sizeof(wire->data8));
		mask |= ATS_MASK_DATA8;
	}
	return mask;
}

/*
 * Most addresses have one GID: that comes in a single packet. A table's last packet is
 * acknowledged by another one, and the MAD layer knows for ten seconds that it had it, in
 * a list that each packet of the next is looked for in.
 */
static u8 query_method(const struct ib_ats_query *query)
{
	enum ib_ats_kind kind = query->question.kind;

	return query->table || kind == IB_ATS_BY_GID || kind == IB_ATS_BY_SID ?
		       IB_SA_METHOD_GET_TABLE : IB_MGMT_METHOD_GET;
}

static int query_post(struct ib_ats_query *query, struct ats_port *port)
{
	struct ats_request *request = kzalloc(sizeof(*request), GFP_KERNEL);
	struct ats_wire_record wire;
	u64 mask;
	int err;

	if (!request)
		return -ENOMEM;
	mask = query_fill(query, &wire);
	request->query = query;
	request->done = query_done;
	err = ats_sa_post(&port->sa, request, query_method(query), mask, &wire);
	if (!err)
		query->request = request;
	return err;
}

static void query_send(struct ib_ats_query *query, struct ats_port *port, unsigned long now)
{
	int err = query_post(query, port);

	if (err) {
		query_failed(query, port, err, now);
		return;
	}
	list_del_init(&query->list);
	port->queries_in_flight++;
	port->engine.count.queries++;
}

/* ---- Those that wait ---- */

static void queries_take(struct ats_port *port)
{
	struct ib_ats_query *query;
	LIST_HEAD(inquiries);

	spin_lock_irq(&port->lock);
	list_splice_init(&port->inquiries, &inquiries);
	spin_unlock_irq(&port->lock);
	list_for_each_entry(query, &inquiries, list)
		query_note(query, port, query->deadline);
	list_splice_tail(&inquiries, &port->queries);
}

/* Who is cancelled is found in the inquiries, if nowhere else: they are taken last */
static void queries_cancel(struct ats_port *port)
{
	struct ib_ats_query *query, *other;
	LIST_HEAD(cancels);

	spin_lock_irq(&queries_lock);
	list_splice_init(&port->cancels, &cancels);
	spin_unlock_irq(&queries_lock);
	queries_take(port);
	list_for_each_entry_safe(query, other, &cancels, cancel) {
		list_del_init(&query->cancel);
		query->cancelled = true;
		if (query->request)
			ats_sa_cancel(query->request);
		else
			query_end(query, -ECANCELED);
	}
}

/* No SA is to be asked any more, or there is none: each has its answer */
static void queries_end(struct list_head *queries, struct ats_port *port)
{
	struct ib_ats_query *query, *other;

	list_for_each_entry_safe(query, other, queries, list) {
		if (port->stopped)
			query_end(query, -ENODEV);
		else
			answer_locally(query, port);
	}
}

static void retries_run(struct ats_port *port, unsigned long now)
{
	struct ib_ats_query *query, *other;

	list_for_each_entry_safe(query, other, &port->retries, list) {
		if (time_after_eq(now, query->deadline))
			query_end(query, query->err);
		else if (time_after_eq(now, query->retry_at))
			list_move_tail(&query->list, &port->queries);
		else
			query_note(query, port, query->retry_at);
	}
}

/* There was no room for these: each would have been sent once whatever its deadline */
static void queries_expire(struct ats_port *port, unsigned long now)
{
	struct ib_ats_query *query, *other;

	list_for_each_entry_safe(query, other, &port->queries, list) {
		if (time_after_eq(now, query->deadline))
			query_end(query, query->err ?: -ETIMEDOUT);
		else
			query_note(query, port, query->deadline);
	}
}

static void queries_send(struct ats_port *port, unsigned long now)
{
	while (!list_empty(&port->queries) && port->queries_in_flight < ats_max_queries)
		query_send(list_first_entry(&port->queries, struct ib_ats_query, list), port, now);
}

/**
 * ats_resolve_init() - a port without queries
 * @port: the port
 *
 * Context: any.
 */
void ats_resolve_init(struct ats_port *port)
{
	INIT_LIST_HEAD(&port->inquiries);
	INIT_LIST_HEAD(&port->cancels);
	INIT_LIST_HEAD(&port->queries);
	INIT_LIST_HEAD(&port->retries);
	port->queries_at = jiffies;
}

/**
 * ats_resolve_run() - do what there is to be done about a port's queries
 * @port: the port
 * @now: jiffies
 * @next: made earlier if this is to be called again before it
 *
 * Context: the port's work; may sleep.
 */
void ats_resolve_run(struct ats_port *port, unsigned long now, unsigned long *next)
{
	bool due = time_after_eq(now, port->queries_at);

	queries_cancel(port);
	if (port->stopped || !port->engine.online || !port->sa.agent) {
		queries_end(&port->queries, port);
		queries_end(&port->retries, port);
		return;
	}
	if (due) {
		port->queries_at = now + MAX_JIFFY_OFFSET / 2;
		retries_run(port, now);
	}
	queries_send(port, now);
	if (due)
		queries_expire(port, now);
	*next = ats_earlier(*next, port->queries_at);
}

/* ---- For other modules ---- */

static bool question_valid(const struct ib_ats_question *question)
{
	if (question->kind == IB_ATS_BY_SID)
		return ats_sid_slot(question->sid) >= 0;
	if (question->kind == IB_ATS_BY_ADDR)
		return !ipv6_addr_any(&question->addr);
	return question->kind == IB_ATS_BY_GID || question->kind == IB_ATS_PRIMARY;
}

static void query_submit(struct ats_port *port, void *arg)
{
	struct ib_ats_query *query = arg;

	query->port = port;
	strscpy(query->device, dev_name(&port->ibdev->dev), sizeof(query->device));
	query->number = port->port;
	spin_lock_irq(&port->lock);
	list_add_tail(&query->list, &port->inquiries);
	spin_unlock_irq(&port->lock);
	ats_port_kick(port);
}

/**
 * ib_ats_ask() - ask who has an address, or which addresses somebody has
 * @question: what is asked
 * @done: called once, from a workqueue, unless this returns an error
 * @context: for @done
 *
 * Context: may sleep; not while something is held that an HCA's removal waits for.
 * Return: the query, for ib_ats_free(); or an error pointer: -EINVAL, -ENODEV (there is no
 * such HCA), -ENOMEM.
 */
struct ib_ats_query *ib_ats_ask(const struct ib_ats_question *question, ib_ats_done done,
				void *context)
{
	u32 timeout_ms = question->timeout_ms ?: ATS_QUERY_TIMEOUT_MS;
	struct ib_ats_query *query;
	int err;

	if (!question_valid(question))
		return ERR_PTR(-EINVAL);
	query = kzalloc(sizeof(*query), GFP_KERNEL);
	if (!query)
		return ERR_PTR(-ENOMEM);
	query->question = *question;
	query->question.ibdev = NULL;
	query->question.net = NULL;
	query->net_cookie = question->net ? question->net->net_cookie : 0;
	query->done = done;
	query->context = context;
	query->deadline = jiffies + msecs_to_jiffies(timeout_ms);
	INIT_LIST_HEAD(&query->cancel);
	init_completion(&query->ended);
	err = ats_with_port(question, query_submit, query);
	if (!err)
		return query;
	kfree(query);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(ib_ats_ask);

/**
 * ib_ats_free() - let go of a query
 * @query: from ib_ats_ask(); may have ended or not
 *
 * One that has not is cancelled. When this returns, its function has been called and
 * has returned.
 *
 * Context: may sleep.
 */
void ib_ats_free(struct ib_ats_query *query)
{
	spin_lock_irq(&queries_lock);
	if (query->port) {
		list_add_tail(&query->cancel, &query->port->cancels);
		ats_port_kick(query->port);
	}
	spin_unlock_irq(&queries_lock);
	wait_for_completion(&query->ended);
	kfree(query);
}
EXPORT_SYMBOL_GPL(ib_ats_free);

/**
 * ats_query_device() - by which port a query asks
 * @query: from ib_ats_ask()
 * @port: where the port's number is to be
 *
 * Context: any.
 * Return: the HCA's name.
 */
const char *ats_query_device(const struct ib_ats_query *query, u32 *port)
{
	*port = query->number;
	return query->device;
}

/* One who waits */
struct waiter {
	struct completion ended;
	struct ib_ats_answer *answers;
	int result;
};

static void waiter_done(void *context, int err, const struct ib_ats_answer *answers,
			unsigned int count)
{
	struct waiter *waiter = context;

	waiter->result = err;
	if (!err) {
		waiter->answers = kmemdup(answers, array_size(count, sizeof(*answers)),
					  GFP_KERNEL);
		waiter->result = waiter->answers ? count : -ENOMEM;
	}
	complete(&waiter->ended);
}

/**
 * ib_ats_ask_wait() - ask, and wait for the answer
 * @question: what is asked
 * @answers: filled in with the records, those of primary addresses first, for kfree();
 *	only if there are any
 *
 * Context: may sleep, as long as the question's timeout; a signal ends that.
 * Return: the number of records, or an error: as ib_ats_ask(), as its function gets, or
 * -ERESTARTSYS.
 */
int ib_ats_ask_wait(const struct ib_ats_question *question, struct ib_ats_answer **answers)
{
	struct waiter waiter = {};
	struct ib_ats_query *query;
	int err;

	init_completion(&waiter.ended);
	query = ib_ats_ask(question, waiter_done, &waiter);
	if (IS_ERR(query))
		return PTR_ERR(query);
	err = wait_for_completion_interruptible(&waiter.ended);
	ib_ats_free(query);
	if (err) {
		kfree(waiter.answers);
		return err;
	}
	if (waiter.result > 0)
		*answers = waiter.answers;
	return waiter.result;
}
EXPORT_SYMBOL_GPL(ib_ats_ask_wait);
