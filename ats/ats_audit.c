// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Finds records that the SA should not have: leftovers, which this host registered under
 * the port's own GIDs before a restart, in whatever partition, and rivals, which are other
 * hosts' GIDs with an address of this host. At the first contact with an SA only leftovers
 * are looked for, since a whole fabric may be starting. From time to time, and when the
 * administrator requests it, there is an audit, which also reads the sets back and renews
 * leases.
 *
 * One request of this kind is under way at a time.
 */
#include <linux/random.h>

#include "ats.h"

/* Minimum time between an audit and the next one that an administrator requests */
#define ATS_AUDIT_WISH		(2 * HZ)
#define ATS_AUDIT_RETRY		(5 * HZ)
/* A lease is renewed this many times before it ends */
#define ATS_AUDIT_LEASE_PARTS	3

/* Jiffies until the next audit; random, so that not all hosts send at once */
static unsigned long audit_delay(void)
{
	unsigned int seconds = ats_audit_interval ?: UINT_MAX;
	unsigned long span;

	if (ats_lease)
		seconds = min(seconds, ats_lease / ATS_AUDIT_LEASE_PARTS);
	if (seconds == UINT_MAX)
		return MAX_JIFFY_OFFSET / 2;
	span = max(seconds, 1U) * (unsigned long)HZ;
	return span - span / 8 + get_random_u32_below(span / 4 + 1);
}

/* Returns whether the SA has answered; if not, the request is repeated after a while */
static bool audit_answered(struct ats_port *port, enum ats_result result)
{
	bool answered = result == ATS_RESULT_OK || result == ATS_RESULT_NO_RECORD ||
			result == ATS_RESULT_REFUSED;

	port->audit.busy = false;
	port->dirty = true;
	if (answered)
		port->engine.trouble = 0;
	else
		port->audit.wait_until = jiffies + ATS_AUDIT_RETRY;
	return answered;
}

/* ---- Leftovers ---- */

/* All records of a set that is created here are deleted, so it must not be another host's */
static void leftover_each(void *context, const struct ats_record *record)
{
	struct ats_port *port = context;

	if (!memcmp(&record->key.gid, &port->audit.key.gid, sizeof(record->key.gid)) &&
	    !ats_engine_find(&port->engine, &record->key) && ats_local_set(port, &record->key))
		port->engine.count[IB_ATS_COUNTER_LEFTOVERS]++;
}

static void leftovers_done(struct ats_port *port, struct ats_request *request,
			   enum ats_result result)
{
	bool stale = port->audit.stale;

	port->audit.stale = false;
	if (!audit_answered(port, result) || stale)
		return;
	port->audit.gid_index++;
	if (result == ATS_RESULT_OK)
		ats_table_each(request->answer, leftover_each, port);
}

static int port_gids(const struct ats_port *port)
{
	return port->ibdev->port_data[port->port].immutable.gid_tbl_len;
}

/* Returns whether a request was sent */
static bool leftovers_ask(struct ats_port *port)
{
	struct ats_audit *audit = &port->audit;
	struct ats_request request = {
		.method = IB_SA_METHOD_GET_TABLE,
		.mask = ATS_MASK_GID | ATS_MASK_NAME,
		.done = leftovers_done,
	};

	audit->key.pkey = 0;
	for (; audit->gid_index < port_gids(port); audit->gid_index++) {
		if (rdma_query_gid(port->ibdev, port->port, audit->gid_index, &audit->key.gid) ||
		    !audit->key.gid.global.interface_id)
			continue;
		ats_record_init(&request.record, &audit->key);
		return !IS_ERR(ats_sa_post(port, &request));
	}
	return false;
}

/* ---- Rivals ---- */

static void rival_each(void *context, const struct ats_record *record)
{
	struct ats_audit *audit = context;

	if (!ipv6_addr_equal(&record->addr, &audit->ip) ||
	    ats_key_same(&record->key, &audit->key) || ats_netdev_has_gid(&record->key.gid))
		return;
	audit->rival = record->key.gid;
}

static void rival_tell(struct ats_port *port, struct ats_local *local)
{
	const struct ats_audit *audit = &port->audit;
	bool news = memcmp(&audit->rival, &local->rival, sizeof(audit->rival));
	struct in6_addr ip = local->ip;

	local->rival = audit->rival;
	if (!news)
		return;
	ats_addr_to_mapped(&ip);
	if (!rdma_is_zero_gid(&local->rival)) {
		port->engine.count[IB_ATS_COUNTER_CONFLICTS]++;
		dev_warn_ratelimited(&port->ibdev->dev,
				     "port %u, P_Key 0x%04x: %pI6c is registered by %pI6c, too\n",
				     port->port, local->key.pkey, &ip, local->rival.raw);
	}
	ats_view_tell(port, local);
}

/* Finds the next address to check; after a request, that is the address it was about */
static struct ats_local *rival_next(struct ats_port *port)
{
	struct ats_local *local;

	list_for_each_entry(local, &port->locals, list)
		if (local->round != port->audit.round && local->held)
			return local;
	return NULL;
}

static void rival_done(struct ats_port *port, struct ats_request *request, enum ats_result result)
{
	bool answered = audit_answered(port, result);
	struct ats_local *local;

	if (result == ATS_RESULT_TOO_MANY) {
		port->audit.table = true;
		port->audit.wait_until = jiffies;
		return;
	}
	port->audit.table = false;
	local = rival_next(port);
	if (!local || !ipv6_addr_equal(&local->ip, &port->audit.ip) ||
	    !ats_key_same(&local->key, &port->audit.key))
		return;
	/* Without an answer, the address is checked by the next audit */
	local->round = port->audit.round;
	if (result == ATS_RESULT_OK)
		ats_table_each(request->answer, rival_each, &port->audit);
	if (answered && result != ATS_RESULT_REFUSED)
		rival_tell(port, local);
}

/* Most addresses have only this host's record, which comes in a single packet */
static bool rival_ask(struct ats_port *port)
{
	struct ats_audit *audit = &port->audit;
	struct ats_request request = {
		.method = audit->table ? IB_SA_METHOD_GET_TABLE : IB_MGMT_METHOD_GET,
		.mask = ATS_MASK_PKEY | ATS_MASK_NAME | ATS_MASK_DATA8,
		.done = rival_done,
	};
	struct ats_local *local = rival_next(port);

	if (!local)
		return false;
	audit->key = local->key;
	audit->ip = local->ip;
	memset(&audit->rival, 0, sizeof(audit->rival));
	ats_record_init(&request.record, &local->key);
	memcpy(request.record.data8, &local->ip, sizeof(request.record.data8));
	return !IS_ERR(ats_sa_post(port, &request));
}

/* ---- Schedule ---- */

/**
 * ats_audit_init() - prepare a port for audits
 * @port: the port
 *
 * Context: any.
 */
void ats_audit_init(struct ats_port *port)
{
	port->audit.last = jiffies - ATS_AUDIT_WISH;
	port->audit.at = jiffies + audit_delay();
	port->audit.wait_until = jiffies;
}

/**
 * ats_audit_contact() - the SA may have changed: look for leftovers
 * @port: the port
 * @now: jiffies
 *
 * Context: the port's work.
 */
void ats_audit_contact(struct ats_port *port, unsigned long now)
{
	port->audit.gid_index = 0;
	port->audit.stale = port->audit.busy;
	port->audit.wait_until = now;
}

static void audit_begin(struct ats_port *port, unsigned long now)
{
	port->audit.wished = false;
	port->audit.last = now;
	port->audit.round++;
	ats_audit_contact(port, now);
	ats_engine_verify(&port->engine);
}

/**
 * ats_audit_run() - begin an audit that is due, and send its next request
 * @port: the port
 * @now: jiffies
 * @next: set to an earlier time, in jiffies, if this has to be called again before it
 *
 * One that was requested by ats_audit.wished begins when the last one has ended, so that even if
 * there are requests all the time each address is checked. A regular audit does not wait for that.
 *
 * Context: the port's work; may sleep.
 */
void ats_audit_run(struct ats_port *port, unsigned long now, unsigned long *next)
{
	struct ats_audit *audit = &port->audit;
	unsigned long wait_until;

	/* Only these audits renew leases, which suffices; requested ones do not put them off */
	if (time_after_eq(now, audit->at)) {
		audit->at = now + audit_delay();
		audit_begin(port, now);
		if (ats_lease)
			ats_engine_renew(&port->engine);
	}
	*next = ats_earlier(*next, audit->at);
	if (!audit->ready || audit->busy || port->leaving || !port->engine.online)
		return;
	wait_until = audit->wait_until;
	if (port->engine.trouble && time_after(port->engine.quiet_until, wait_until))
		wait_until = port->engine.quiet_until;
	if (time_before(now, wait_until)) {
		*next = ats_earlier(*next, wait_until);
		return;
	}
	audit->busy = leftovers_ask(port) || rival_ask(port);
	if (!audit->wished || audit->gid_index < port_gids(port) || rival_next(port))
		return;
	wait_until = audit->last + ATS_AUDIT_WISH;
	if (time_after_eq(now, wait_until)) {
		audit_begin(port, now);
		wait_until = now;
	}
	*next = ats_earlier(*next, wait_until);
}
