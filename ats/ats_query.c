// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The query that one port makes for a question. The port's work sends requests to the SA,
 * repeatedly if necessary, until the question's deadline. If there is no SA, the query waits,
 * since an SA may come; at the deadline it is answered from what this host knows (ATS section
 * 5.1).
 *
 * Many queries may wait while few are under way, and the work runs for each answer. It
 * therefore examines the waiting ones only when the first of them is due, or when
 * ATS_EVENT_HURRY says that some need not wait any longer.
 */
#include <linux/random.h>

#include "ats.h"

#define ATS_QUERY_RETRY		(HZ / 4)
#define ATS_QUERY_RETRIES_MAX	5
/* Jiffies; upper bound of the timeout of a request */
#define ATS_QUERY_LONGEST	(3600 * HZ)

static void query_end(struct ats_query *query, int err)
{
	list_del(&query->list);
	query->ended(query, err);
}

/* ---- Answers ---- */

static bool query_may_see(const struct ats_query *query, u16 pkey)
{
	return !query->guest || (pkey && ats_local_in_partition(query->port, query->guest, pkey));
}

/* Context: ask->lock held */
static int ask_grow(struct ats_ask *ask)
{
	unsigned int room = ask->room * 2 + 4;
	struct ib_ats_answer *answers = kvmalloc_array(room, sizeof(*answers), GFP_KERNEL);

	if (!answers)
		return -ENOMEM;
	if (ask->count)
		memcpy(answers, ask->answers, array_size(ask->count, sizeof(*answers)));
	kvfree(ask->answers);
	ask->answers = answers;
	ask->room = room;
	return 0;
}

static void query_add(void *context, const struct ats_record *record)
{
	struct ats_query *query = context;
	struct ats_ask *ask = query->ask;

	if (!query_may_see(query, record->key.pkey))
		return;
	query->found = true;
	mutex_lock(&ask->lock);
	if (ask->count == ask->room && ask_grow(ask))
		ask->err = -ENOMEM;
	else
		ats_record_answer(record, query->port, &ask->answers[ask->count++]);
	mutex_unlock(&ask->lock);
}

static void query_answered(struct ats_query *query)
{
	query_end(query, query->found ? 0 : -ENOENT);
}

static bool question_fits(const struct ats_ask *ask, const struct ats_record *record)
{
	const struct ib_ats_question *question = &ask->question;

	if (question->pkey && question->pkey != record->key.pkey)
		return false;
	switch (question->kind) {
	case IB_ATS_KIND_ADDR:
		return ipv6_addr_equal(&record->addr, &ask->addr);
	case IB_ATS_KIND_SID:
		return record->sid == question->sid;
	case IB_ATS_KIND_PRIMARY:
		if (record->sid != ATS_SID_PRIMARY)
			return false;
		fallthrough;
	default:
		return !memcmp(&record->key.gid, &question->gid, sizeof(question->gid));
	}
}

/* Adds matching records of this host, whether or not an SA has them */
static void query_add_own(struct ats_query *query)
{
	struct ats_record record = { .lease = ATS_LEASE_INFINITE };
	const struct ats_addr *addr;
	const struct ats_set *set;

	list_for_each_entry(set, &query->port->engine.sets, list) {
		record.key = set->key;
		list_for_each_entry(addr, &set->order, order) {
			if (addr->slot < 0)
				continue;
			record.sid = ats_slot_sid(addr->slot);
			record.addr = addr->ip;
			if (question_fits(query->ask, &record))
				query_add(query, &record);
		}
	}
}

/*
 * ATS section 5.1: the IP address of a port, also of another host, may be its GID. This is
 * only assumed for the subnet prefix of the port that queries.
 */
static bool query_is_of_gid(struct ats_query *query)
{
	const struct ib_ats_question *question = &query->ask->question;

	return question->kind != IB_ATS_KIND_SID &&
	       !rdma_query_gid(query->port->ibdev, query->port->port, 0, &query->own) &&
	       query->own.global.subnet_prefix == question->gid.global.subnet_prefix;
}

/* The GID and the IP address are the same octets, at the same place of the question */
static void query_add_gid(struct ats_query *query)
{
	const struct ib_ats_question *question = &query->ask->question;
	struct ats_record record = {
		.key = {
			.gid = question->gid,
			.pkey = question->pkey ?: IB_DEFAULT_PKEY_FULL,
		},
		.addr = question->addr,
		.sid = ATS_SID_PRIMARY,
	};

	query_add(query, &record);
}

static void query_answer_alone(struct ats_query *query)
{
	query_add_own(query);
	if (!query->found && query_is_of_gid(query))
		query_add_gid(query);
	query_end(query, query->found ? 0 : -ENETUNREACH);
}

/* ---- Requests to the SA ---- */

/* Makes the work check the query at that time, in jiffies, if nothing happens before */
static void query_note(struct ats_query *query, unsigned long at)
{
	struct ats_port *port = query->port;

	query->look_at = ats_earlier(at, query->ask->deadline);
	port->queries_at = ats_earlier(port->queries_at, query->look_at);
}

/* The queries of its class that are to be sent */
static struct list_head *query_class(const struct ats_query *query)
{
	return &query->port->queries[query->ask->user];
}

/* Another port has found something, and this one has sent a request or has no SA */
static bool query_given_up(const struct ats_query *query)
{
	return READ_ONCE(query->ask->cancelled) ||
	       (READ_ONCE(query->ask->count) && (query->sent || !query->port->engine.online));
}

static void query_failed(struct ats_query *query, int err, unsigned long now)
{
	unsigned int doublings = min_t(unsigned int, query->tries++, ATS_QUERY_RETRIES_MAX);
	unsigned long span = ATS_QUERY_RETRY << doublings;

	if (query_given_up(query)) {
		query_end(query, -ECANCELED);
		return;
	}
	query->err = err;
	list_move_tail(&query->list, &query->port->retries);
	query_note(query, now + span / 2 + get_random_u32_below(span / 2 + 1));
}

/* Sends the query once more, in another form */
static void query_again(struct ats_query *query)
{
	if (READ_ONCE(query->ask->cancelled)) {
		query_end(query, -ECANCELED);
		return;
	}
	list_move(&query->list, query_class(query));
	query_note(query, query->ask->deadline);
}

/*
 * Older implementations registered an IPv4 address as ::ffff:a.b.c.d, so that form is
 * queried as well. ATS section 5.1: a GID is an IP address of its port also where there is an
 * SA, so the SA is then asked for a path, to find out whether that port exists.
 */
static void query_found_none(struct ats_query *query)
{
	const struct ib_ats_question *question = &query->ask->question;

	query->err = 0;
	if (!query->mapped && question->kind == IB_ATS_KIND_ADDR &&
	    ipv6_addr_v4mapped(&question->addr)) {
		query->mapped = true;
		query_again(query);
	} else if (!query->path && query_is_of_gid(query)) {
		query->path = true;
		query_again(query);
	} else {
		query_answered(query);
	}
}

static void query_received(struct ats_query *query, const struct ib_mad_recv_wc *answer)
{
	int count = ats_table_each(answer, query_add, query);

	if (count < 0)
		query_end(query, -EREMOTEIO);
	else if (count)
		query_answered(query);
	else
		query_found_none(query);
}

static void query_done(struct ats_port *port, struct ats_request *request, enum ats_result result)
{
	struct ats_query *query = request->query;

	port->queries_in_flight[query->ask->user]--;
	/* A request that the query's deadline has cut short does not say whether an SA was there:
	 * its answer may be under way.
	 */
	if (result != ATS_RESULT_TIMEOUT || request->timeout_ms >= ats_sa_timeout_ms)
		query->nobody = result == ATS_RESULT_NOBODY;
	if (query->path && (result == ATS_RESULT_OK || result == ATS_RESULT_TOO_MANY)) {
		query_add_gid(query);
		query_answered(query);
		return;
	}
	switch (result) {
	case ATS_RESULT_OK:
		query_received(query, request->answer);
		break;
	case ATS_RESULT_NO_RECORD:
		query_found_none(query);
		break;
	case ATS_RESULT_TOO_MANY:
		query->table = true;
		query_again(query);
		break;
	case ATS_RESULT_REFUSED:
		query_end(query, query->path ? -ENOENT : -EREMOTEIO);
		break;
	case ATS_RESULT_CANCELLED:
		query_end(query, port->stopped ? -ENODEV : -ECANCELED);
		break;
	default:
		query_failed(query, -ETIMEDOUT, jiffies);
		break;
	}
}

static void request_set_record(struct ats_request *request, const struct ats_query *query)
{
	const struct ib_ats_question *question = &query->ask->question;
	struct ats_wire_record *wire = &request->record;
	struct ats_key key = { .pkey = question->pkey };

	request->mask = ATS_MASK_NAME;
	if (question->pkey)
		request->mask |= ATS_MASK_PKEY;
	if (question->kind == IB_ATS_KIND_GID || question->kind == IB_ATS_KIND_PRIMARY) {
		key.gid = question->gid;
		request->mask |= ATS_MASK_GID;
	}
	ats_record_init(wire, &key);
	if (question->kind == IB_ATS_KIND_PRIMARY || question->kind == IB_ATS_KIND_SID) {
		wire->service_id = cpu_to_be64(question->kind == IB_ATS_KIND_SID ?
					       question->sid : ATS_SID_PRIMARY);
		request->mask |= ATS_MASK_SID;
	}
	if (question->kind == IB_ATS_KIND_ADDR) {
		memcpy(wire->data8, query->mapped ? &question->addr : &query->ask->addr,
		       sizeof(wire->data8));
		request->mask |= ATS_MASK_DATA8;
	}
}

/*
 * Most addresses have one GID, which fits into a single packet (SubnAdmGet). A table costs
 * more: its last packet is acknowledged by another packet, and the MAD layer remembers it for
 * ten seconds, in a list that is searched for each packet of later tables.
 */
static u8 query_method(const struct ats_query *query)
{
	enum ib_ats_kind kind = query->ask->question.kind;

	return query->table || kind == IB_ATS_KIND_GID || kind == IB_ATS_KIND_SID ?
		       IB_SA_METHOD_GET_TABLE : IB_MGMT_METHOD_GET;
}

static void request_set_path(struct ats_request *request, const struct ats_query *query)
{
	const struct ib_ats_question *question = &query->ask->question;
	struct sa_path_rec path = {
		.dgid = question->gid,
		.sgid = query->own,
		.pkey = cpu_to_be16(question->pkey),
	};

	request->is_path = true;
	request->mask = ATS_MASK_DGID | ATS_MASK_SGID | (path.pkey ? ATS_MASK_PATH_PKEY : 0);
	ib_sa_pack_path(&path, &request->record);
}

static int query_post(struct ats_query *query, unsigned long now)
{
	long left = query->ask->deadline - now;
	struct ats_request request = {
		.method = IB_MGMT_METHOD_GET,
		.query = query,
		.done = query_done,
		.timeout_ms = jiffies_to_msecs(clamp(left, 1L, (long)ATS_QUERY_LONGEST)),
	};

	if (query->path) {
		request_set_path(&request, query);
	} else {
		request.method = query_method(query);
		request_set_record(&request, query);
	}
	query->request = ats_sa_post(query->port, &request);
	return PTR_ERR_OR_ZERO(query->request);
}

static void query_send(struct ats_query *query, unsigned long now)
{
	int err = query_post(query, now);

	/* Whatever keeps this host from sending, no SA has said that there is no record */
	if (err) {
		query_failed(query, err == -ENOMEM ? err : -ENETUNREACH, now);
		return;
	}
	query->sent = true;
	list_move_tail(&query->list, &query->port->queries_sent);
	query->port->queries_in_flight[query->ask->user]++;
	query->port->engine.count[IB_ATS_COUNTER_QUERIES]++;
}

/* ---- Waiting queries ---- */

/**
 * ats_query_submit() - hand a query to its port
 * @query: the query
 *
 * Context: may sleep.
 */
void ats_query_submit(struct ats_query *query)
{
	struct ats_port *port = query->port;

	mutex_lock(&port->mutex);
	list_add_tail(&query->list, query_class(query));
	query_note(query, query->ask->deadline);
	if (query_given_up(query))
		query_end(query, -ECANCELED);
	mutex_unlock(&port->mutex);
	ats_port_kick(port);
}

/* Returns whether the query continues to wait; if not, it ends */
static bool query_waits(struct ats_query *query, unsigned long now)
{
	if (query_given_up(query))
		query_end(query, -ECANCELED);
	else if (query->port->stopped)
		query_end(query, -ENODEV);
	else if (time_before(now, query->ask->deadline))
		return true;
	else if (!query->port->engine.online || query->nobody)
		query_answer_alone(query);
	else
		query_end(query, query->err ?: -ETIMEDOUT);
	return false;
}

/* A query whose deadline is not over is due if it is to be repeated */
static void queries_look(struct list_head *queries, unsigned long now)
{
	struct ats_query *query, *next;

	list_for_each_entry_safe(query, next, queries, list) {
		if (!query_waits(query, now))
			continue;
		if (time_before(now, query->look_at)) {
			query_note(query, query->look_at);
		} else {
			list_move_tail(&query->list, query_class(query));
			query_note(query, query->ask->deadline);
		}
	}
}

/*
 * Of the queries under way, only those of a module are cancelled, since the module waits for
 * the end. A user's query ends by itself: a user who could cancel it could make the module
 * query the SA at any rate.
 */
static void queries_cancel(struct ats_port *port)
{
	struct ats_query *query;

	list_for_each_entry(query, &port->queries_sent, list)
		if (READ_ONCE(query->ask->cancelled) && !query->ask->user)
			ib_cancel_mad(query->request->mad);
}

static void queries_send(struct ats_port *port, bool user, unsigned int max, unsigned long now)
{
	struct list_head *queries = &port->queries[user];

	while (!list_empty(queries) && port->queries_in_flight[user] < max)
		query_send(list_first_entry(queries, struct ats_query, list), now);
}

/**
 * ats_query_init() - initialize a port's lists of queries
 * @port: the port
 *
 * Context: any.
 */
void ats_query_init(struct ats_port *port)
{
	INIT_LIST_HEAD(&port->queries[false]);
	INIT_LIST_HEAD(&port->queries[true]);
	INIT_LIST_HEAD(&port->queries_sent);
	INIT_LIST_HEAD(&port->retries);
	port->queries_at = jiffies;
}

/**
 * ats_query_run() - process the queries of a port
 * @port: the port
 * @hurry: some queries need not wait any longer
 * @now: jiffies
 * @next: set to an earlier time, in jiffies, if this has to be called again before it
 *
 * Context: the port's work; may sleep.
 */
void ats_query_run(struct ats_port *port, bool hurry, unsigned long now, unsigned long *next)
{
	if (hurry || port->stopped || time_after_eq(now, port->queries_at)) {
		port->queries_at = now + MAX_JIFFY_OFFSET / 2;
		queries_look(&port->retries, now);
		queries_look(&port->queries[false], now);
		queries_look(&port->queries[true], now);
		queries_cancel(port);
	}
	if (port->engine.online && !port->stopped) {
		queries_send(port, false, ats_max_queries, now);
		queries_send(port, true, ats_max_user_queries, now);
	}
	*next = ats_earlier(*next, port->queries_at);
}
