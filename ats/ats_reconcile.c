// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine that makes an SA's records those that are wanted. It knows what is wanted
 * in each slot and what the SA was last known to have there, and sends what makes the
 * one the other: so of any number of changes while the SA is away only the outcome is
 * sent. At most one request a slot is under way.
 *
 * An SA that does not answer, or is busy, is left alone for a while, longer each time,
 * and then asked one thing only until it answers. A request that it refuses does not
 * hold up others. After a request without an answer the set is read back, since the SA
 * may have done it, or may do it yet.
 */
#include <linux/random.h>

#include "ats.h"

#define ATS_BACKOFF_MIN		(HZ / 2)
#define ATS_BACKOFF_MAX		(32 * HZ)
#define ATS_BACKOFF_STEPS	6
#define ATS_REREGISTER_JITTER	(HZ / 4)
#define ATS_IDLE		(60 * HZ)

/* For so many refusals other records of the set wait that depend on this one */
#define ATS_REFUSALS_WAIT	3
/* A record that nobody wants and that the SA does not delete is left to it */
#define ATS_REFUSALS_MAX	12

/* What is to be done about a slot now */
enum slot_need {
	SLOT_SETTLED,
	SLOT_UNDER_WAY,
	SLOT_DUE,
	SLOT_BLOCKED,			/* it has the only record of an address that is wanted */
	SLOT_WAITS,			/* after a refusal */
};

/* Random, so that the hosts of a fabric do not ask all at once */
static unsigned long backoff(unsigned int times)
{
	unsigned long span = ATS_BACKOFF_MIN << min_t(unsigned int, times - 1, ATS_BACKOFF_STEPS);

	span = min_t(unsigned long, span, ATS_BACKOFF_MAX);
	return span / 2 + get_random_u32_below(span / 2 + 1);
}

/**
 * ats_engine_init() - an engine without sets
 * @engine: the engine
 * @ops: its way to the SA
 * @max_in_flight: requests that may be under way at once
 *
 * Context: any.
 */
void ats_engine_init(struct ats_engine *engine, const struct ats_engine_ops *ops,
		     unsigned int max_in_flight)
{
	memset(engine, 0, sizeof(*engine));
	engine->ops = ops;
	engine->max_in_flight = max_in_flight;
	INIT_LIST_HEAD(&engine->sets);
}

/**
 * ats_engine_find() - the set of a GID and P_Key
 * @engine: the engine
 * @key: of which
 *
 * Context: that of the engine's owner.
 * Return: the set, or NULL.
 */
struct ats_set *ats_engine_find(struct ats_engine *engine, const struct ats_key *key)
{
	struct ats_set *set;

	list_for_each_entry(set, &engine->sets, list)
		if (ats_key_same(&set->key, key))
			return set;
	return NULL;
}

static bool slot_has(const struct ats_slot *slot, const struct in6_addr *ip)
{
	return slot->known == ATS_PRESENT && !memcmp(&slot->has, ip, sizeof(*ip));
}

/* The SA has what is wanted, a lease apart */
static bool slot_right(const struct ats_slot *slot)
{
	if (!slot->want)
		return slot->known == ATS_ABSENT;
	return slot_has(slot, &slot->want->ip);
}

static bool slot_settled(const struct ats_slot *slot)
{
	return slot->op == ATS_OP_NONE && slot_right(slot) && !(slot->want && slot->renew);
}

/* Would an address that is wanted elsewhere be without any record for a while? */
static bool slot_blocked(const struct ats_set *set, const struct ats_slot *slot)
{
	const struct ats_slot *other;
	struct ats_addr *addr;

	if (slot->known != ATS_PRESENT)
		return false;
	addr = ats_set_find(set, &slot->has);
	if (!addr || addr->slot < 0)
		return false;
	other = &set->slot[addr->slot];
	return other != slot && !slot_has(other, &addr->ip) &&
	       other->refusals < ATS_REFUSALS_WAIT;
}

static enum slot_need slot_need(const struct ats_set *set, const struct ats_slot *slot,
				unsigned long now)
{
	if (slot->op != ATS_OP_NONE)
		return SLOT_UNDER_WAY;
	if (slot_settled(slot))
		return SLOT_SETTLED;
	if (slot->refusals && time_before(now, slot->retry_at))
		return SLOT_WAITS;
	return slot_blocked(set, slot) ? SLOT_BLOCKED : SLOT_DUE;
}

static void slot_send(struct ats_engine *engine, struct ats_set *set, struct ats_slot *slot,
		      unsigned long now)
{
	unsigned int index = slot - set->slot;

	slot->stale = false;
	slot->op = slot->want ? ATS_OP_SET : ATS_OP_DELETE;
	if (slot->want)
		slot->sent = slot->want->ip;
	set->in_flight++;
	engine->in_flight++;
	if (slot->want)
		engine->count[IB_ATS_COUNTER_SETS]++;
	else
		engine->count[IB_ATS_COUNTER_DELETES]++;
	if (engine->ops->send(engine, set, index))
		ats_engine_answer(engine, set, index, ATS_RESULT_BUSY, now);
}

static bool engine_full(const struct ats_engine *engine)
{
	return engine->in_flight >= (engine->trouble ? 1 : engine->max_in_flight);
}

static bool engine_quiet(const struct ats_engine *engine, unsigned long now)
{
	return engine->trouble && time_before(now, engine->quiet_until);
}

static void set_read(struct ats_engine *engine, struct ats_set *set, unsigned long now)
{
	int i, err;

	for (i = 0; i < ATS_SIDS; i++)
		set->slot[i].seen = false;
	set->reading = true;
	set->read_stale = false;
	engine->in_flight++;
	err = engine->ops->read(engine, set);
	if (!err) {
		engine->count[IB_ATS_COUNTER_READS]++;
		return;
	}
	ats_engine_read_end(engine, set, ATS_RESULT_BUSY, now);
}

/* Once it has settled, so that there is no doubt about when it was read */
static void set_verify(struct ats_engine *engine, struct ats_set *set, unsigned long now,
		       unsigned long *next)
{
	if (!set->verify || set->in_flight || engine_full(engine) || engine_quiet(engine, now))
		return;
	if (set->read_refusals && time_before(now, set->verify_at))
		*next = ats_earlier(*next, set->verify_at);
	else
		set_read(engine, set, now);
}

/*
 * Where all that is left waits for each other, in a full set whose addresses change
 * places, one goes first all the same.
 */
static void set_run(struct ats_engine *engine, struct ats_set *set, unsigned long now,
		    unsigned long *next)
{
	struct ats_slot *slot, *blocked = NULL;
	bool waits = false;

	for (slot = set->slot; slot < set->slot + ATS_SIDS; slot++) {
		if (engine_full(engine) || engine_quiet(engine, now))
			return;
		switch (slot_need(set, slot, now)) {
		case SLOT_DUE:
			slot_send(engine, set, slot, now);
			break;
		case SLOT_BLOCKED:
			blocked = blocked ?: slot;
			break;
		case SLOT_WAITS:
			waits = true;
			*next = ats_earlier(*next, slot->retry_at);
			break;
		case SLOT_SETTLED:
		case SLOT_UNDER_WAY:
			break;
		}
	}
	if (blocked && !set->in_flight && !waits)
		slot_send(engine, set, blocked, now);
	else
		set_verify(engine, set, now, next);
}

/**
 * ats_engine_run() - send what there is to be sent
 * @engine: the engine
 * @now: jiffies
 *
 * To be called after everything that changes what is wanted or known.
 *
 * Context: that of the engine's owner; may sleep.
 * Return: jiffies when it is to be called again, if nothing happens before.
 */
unsigned long ats_engine_run(struct ats_engine *engine, unsigned long now)
{
	unsigned long next = now + ATS_IDLE;
	struct ats_set *set;

	if (!engine->online)
		return next;
	list_for_each_entry(set, &engine->sets, list)
		if (!set->reading)
			set_run(engine, set, now, &next);
	if (engine_quiet(engine, now))
		next = ats_earlier(next, engine->quiet_until);
	return next;
}

/* How the SA is, by an answer of it or the lack of one */
static void engine_heard(struct ats_engine *engine, enum ats_result result, unsigned long now)
{
	if (result == ATS_RESULT_CANCELLED)
		return;
	if (result == ATS_RESULT_REFUSED)
		engine->count[IB_ATS_COUNTER_REFUSALS]++;
	if (result != ATS_RESULT_TIMEOUT && result != ATS_RESULT_BUSY) {
		engine->trouble = 0;
		return;
	}
	if (result == ATS_RESULT_TIMEOUT)
		engine->count[IB_ATS_COUNTER_TIMEOUTS]++;
	else
		engine->count[IB_ATS_COUNTER_BUSY]++;
	/* Those that were under way together are one trouble */
	if (engine_quiet(engine, now))
		return;
	engine->trouble++;
	engine->quiet_until = now + backoff(engine->trouble);
}

static void slot_refused(struct ats_engine *engine, struct ats_slot *slot, enum ats_op op,
			 unsigned long now)
{
	slot->known = ATS_DOUBT;
	slot->refusals = min(slot->refusals + 1, U8_MAX);
	slot->retry_at = now + backoff(slot->refusals);
	if (op != ATS_OP_DELETE || slot->want || slot->refusals < ATS_REFUSALS_MAX)
		return;
	slot->known = ATS_ABSENT;
	slot->refusals = 0;
	engine->count[IB_ATS_COUNTER_ABANDONED]++;
}

static void slot_done(struct ats_slot *slot, enum ats_op op)
{
	slot->refusals = 0;
	slot->renew = false;
	slot->known = op == ATS_OP_SET ? ATS_PRESENT : ATS_ABSENT;
	slot->has = slot->sent;
}

/**
 * ats_engine_answer() - a slot's request has ended
 * @engine: the engine
 * @set: the set
 * @index: the slot
 * @result: how it ended
 * @now: jiffies
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_answer(struct ats_engine *engine, struct ats_set *set, unsigned int index,
		       enum ats_result result, unsigned long now)
{
	struct ats_slot *slot = &set->slot[index];
	enum ats_op op = slot->op;

	slot->op = ATS_OP_NONE;
	set->in_flight--;
	engine->in_flight--;
	engine_heard(engine, result, now);
	if (result == ATS_RESULT_OK || (result == ATS_RESULT_NO_RECORD && op == ATS_OP_DELETE))
		slot_done(slot, op);
	else if (result == ATS_RESULT_REFUSED || result == ATS_RESULT_NO_RECORD)
		slot_refused(engine, slot, op, now);
	else
		slot->known = ATS_DOUBT;
	if (result == ATS_RESULT_TIMEOUT)
		set->verify = true;
	if (slot->stale)
		slot->known = ATS_DOUBT;
}

/**
 * ats_engine_read_record() - a record that the SA has of a set that is being read
 * @set: the set
 * @record: the record
 *
 * Context: that of the engine's owner.
 */
void ats_engine_read_record(struct ats_set *set, const struct ats_record *record)
{
	int index = ats_sid_slot(record->sid);
	struct ats_slot *slot;

	if (index < 0 || !ats_key_same(&record->key, &set->key))
		return;
	slot = &set->slot[index];
	slot->seen = true;
	slot->odd = (record->lease == ATS_LEASE_INFINITE) == !!ats_lease;
	slot->found = record->addr;
}

/* Returns whether the SA had something else than it was believed to have */
static bool slot_found(struct ats_slot *slot)
{
	bool believed = slot->known != ATS_DOUBT, was = slot->known == ATS_PRESENT;
	bool differs = slot->seen != was;

	if (slot->seen && was)
		differs = slot->odd || memcmp(&slot->has, &slot->found, sizeof(slot->has));
	slot->known = slot->seen ? ATS_PRESENT : ATS_ABSENT;
	slot->has = slot->found;
	if (slot->seen && slot->odd)
		slot->known = ATS_DOUBT;
	return believed && differs;
}

/**
 * ats_engine_read_end() - a set has been read, or could not be
 * @engine: the engine
 * @set: the set
 * @result: which
 * @now: jiffies
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_read_end(struct ats_engine *engine, struct ats_set *set,
			 enum ats_result result, unsigned long now)
{
	int i;

	set->reading = false;
	engine->in_flight--;
	engine_heard(engine, result, now);
	if (result == ATS_RESULT_REFUSED) {
		set->read_refusals = min(set->read_refusals + 1, U8_MAX);
		set->verify_at = now + backoff(set->read_refusals);
	}
	if ((result != ATS_RESULT_OK && result != ATS_RESULT_NO_RECORD) || set->read_stale)
		return;
	set->read_refusals = 0;
	set->verify = false;
	for (i = 0; i < ATS_SIDS; i++)
		engine->count[IB_ATS_COUNTER_REPAIRS] += slot_found(&set->slot[i]);
}

static void set_forget(struct ats_set *set)
{
	struct ats_slot *slot;

	for (slot = set->slot; slot < set->slot + ATS_SIDS; slot++) {
		slot->stale = true;
		slot->refusals = 0;
		if (slot->known == ATS_PRESENT)
			slot->known = ATS_DOUBT;
	}
	set->read_stale = true;
	set->read_refusals = 0;
	set->verify = true;
}

/**
 * ats_engine_forget() - the SA is another one, or has lost what it had
 * @engine: the engine
 * @now: jiffies
 *
 * Everything is registered again, soon: not at once, since all hosts are to do it.
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_forget(struct ats_engine *engine, unsigned long now)
{
	struct ats_set *set;

	list_for_each_entry(set, &engine->sets, list)
		set_forget(set);
	engine->trouble = 1;
	engine->quiet_until = now + get_random_u32_below(ATS_REREGISTER_JITTER);
}

/**
 * ats_engine_verify() - have everything read back
 * @engine: the engine
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_verify(struct ats_engine *engine)
{
	struct ats_set *set;

	list_for_each_entry(set, &engine->sets, list)
		set->verify = true;
}

/**
 * ats_engine_renew() - have the leases of all records begin again
 * @engine: the engine
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_renew(struct ats_engine *engine)
{
	struct ats_set *set;
	int i;

	list_for_each_entry(set, &engine->sets, list)
		for (i = 0; i < ATS_SIDS; i++)
			set->slot[i].renew = true;
}

/**
 * ats_set_settled() - whether the SA has what is wanted, as far as is known
 * @set: the set
 *
 * Context: that of the set's owner.
 * Return: whether it has.
 */
bool ats_set_settled(const struct ats_set *set)
{
	const struct ats_slot *slot;

	for (slot = set->slot; slot < set->slot + ATS_SIDS; slot++)
		if (!slot_settled(slot))
			return false;
	return true;
}

/**
 * ats_set_state() - how the record of an address stands
 * @set: the set
 * @addr: one of its addresses
 *
 * Context: that of the set's owner.
 * Return: the state.
 */
enum ib_ats_record_state ats_set_state(const struct ats_set *set, const struct ats_addr *addr)
{
	const struct ats_slot *slot;

	if (addr->slot < 0)
		return IB_ATS_RECORD_NO_SID;
	slot = &set->slot[addr->slot];
	if (slot_right(slot))
		return IB_ATS_RECORD_REGISTERED;
	return slot->refusals ? IB_ATS_RECORD_REFUSED : IB_ATS_RECORD_PENDING;
}

/**
 * ats_engine_reap() - let go of sets of which nothing is left
 * @engine: the engine
 *
 * Context: that of the engine's owner; may sleep.
 */
void ats_engine_reap(struct ats_engine *engine)
{
	struct ats_set *set, *next;

	list_for_each_entry_safe(set, next, &engine->sets, list) {
		if (!list_empty(&set->order) || set->reading || !ats_set_settled(set))
			continue;
		/* What an earlier life left is looked for, if there is anybody to ask */
		if (set->verify && engine->online)
			continue;
		list_del(&set->list);
		ats_set_destroy(set);
	}
}
