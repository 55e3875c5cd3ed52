// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine that turns the SA's records into the wanted ones. It knows which record is
 * wanted in each slot and which one the SA was last known to have there, and sends only the
 * requests that turn one into the other. However many changes there are while the SA is
 * away, only their outcome is sent. At most one request of each slot is under way.
 *
 * If an SA does not answer, or is busy, the engine pauses, longer each time, and then sends
 * only one request until the SA answers. A request that the SA refuses does not delay
 * others. After a request without an answer the set is read back, since the SA may have
 * acted on the request, or may still do so.
 */
#include <linux/random.h>

#include "ats.h"

#define ATS_BACKOFF_MIN		(HZ / 2)
#define ATS_BACKOFF_STEPS	6	/* up to 32 s */
#define ATS_REREGISTER_JITTER	(HZ / 4)
#define ATS_IDLE		(60 * HZ)

/* A slot delays other slots that depend on it for at most this many refusals */
#define ATS_REFUSALS_WAIT	3
/* After this many refusals, the deletion of an unwanted record is given up */
#define ATS_REFUSALS_MAX	12

/* Random, so that the hosts of a fabric do not send all at once */
static unsigned long backoff(unsigned int times)
{
	unsigned long span = ATS_BACKOFF_MIN << min_t(unsigned int, times - 1, ATS_BACKOFF_STEPS);

	return span / 2 + get_random_u32_below(span / 2 + 1);
}

/**
 * ats_engine_find() - find the set of a GID and P_Key
 * @engine: the engine
 * @key: the GID and P_Key
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

/* Whether the SA has the wanted record, regardless of its lease */
static bool slot_right(const struct ats_slot *slot)
{
	return slot->want ? slot_has(slot, &slot->want->ip) : slot->known == ATS_ABSENT;
}

static bool slot_settled(const struct ats_slot *slot)
{
	return !slot->method && slot_right(slot) && !(slot->want && slot->renew);
}

/* Whether sending now would leave a wanted address without any record for a while */
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

static void slot_send(struct ats_engine *engine, struct ats_set *set, struct ats_slot *slot,
		      unsigned long now)
{
	unsigned int index = slot - set->slot;

	slot->stale = false;
	slot->method = slot->want ? IB_MGMT_METHOD_SET : IB_SA_METHOD_DELETE;
	if (slot->want)
		slot->sent = slot->want->ip;
	set->in_flight++;
	engine->in_flight++;
	engine->count[slot->want ? IB_ATS_COUNTER_SETS : IB_ATS_COUNTER_DELETES]++;
	if (engine->send(engine, set, index))
		ats_engine_answer(engine, set, index, ATS_RESULT_BUSY, now);
}

static bool engine_full(const struct ats_engine *engine)
{
	return engine->in_flight >= (engine->trouble ? 1 : ats_max_in_flight);
}

static bool engine_quiet(const struct ats_engine *engine, unsigned long now)
{
	return engine->trouble && time_before(now, engine->quiet_until);
}

static void set_read(struct ats_engine *engine, struct ats_set *set, unsigned long now)
{
	int i;

	for (i = 0; i < ATS_SIDS; i++)
		set->slot[i].found = ATS_ABSENT;
	set->reading = true;
	set->verify = false;
	engine->in_flight++;
	if (engine->read(engine, set))
		ats_engine_read_end(engine, set, ATS_RESULT_BUSY, now);
	else
		engine->count[IB_ATS_COUNTER_READS]++;
}

/* Waits until the set has settled, so that it is certain which state was read */
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
 * In a full set whose addresses swap places, all remaining slots may wait for each other.
 * Then one of them is sent although it is blocked. A slot that the SA may refuse for ever
 * does not delay that.
 */
static void set_run(struct ats_engine *engine, struct ats_set *set, unsigned long now,
		    unsigned long *next)
{
	struct ats_slot *slot, *blocked = NULL;
	bool waits = false;

	for (slot = set->slot; slot < set->slot + ATS_SIDS; slot++) {
		if (engine_full(engine) || engine_quiet(engine, now))
			return;
		if (slot->method || slot_settled(slot))
			continue;
		if (slot->refusals && time_before(now, slot->retry_at)) {
			waits |= slot->refusals < ATS_REFUSALS_WAIT;
			*next = ats_earlier(*next, slot->retry_at);
		} else if (slot_blocked(set, slot)) {
			blocked = blocked ?: slot;
		} else {
			slot_send(engine, set, slot, now);
		}
	}
	if (blocked && !set->in_flight && !waits)
		slot_send(engine, set, blocked, now);
	else
		set_verify(engine, set, now, next);
}

/**
 * ats_engine_run() - send all requests that may be sent now
 * @engine: the engine
 * @now: jiffies
 *
 * To be called after each change of what is wanted or known.
 *
 * Context: that of the engine's owner; may sleep.
 * Return: jiffies when it has to be called again, if nothing happens before.
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

/* Updates what is known about the SA's condition, from a result or a missing answer */
static void engine_heard(struct ats_engine *engine, enum ats_result result, unsigned long now)
{
	if (result == ATS_RESULT_CANCELLED)
		return;
	if (result == ATS_RESULT_REFUSED)
		engine->count[IB_ATS_COUNTER_REFUSALS]++;
	/* If there is no SA at the moment, there may be one soon: that is like a busy one */
	if (result != ATS_RESULT_TIMEOUT && result != ATS_RESULT_BUSY &&
	    result != ATS_RESULT_NOBODY) {
		engine->trouble = 0;
		return;
	}
	engine->count[result == ATS_RESULT_TIMEOUT ? IB_ATS_COUNTER_TIMEOUTS :
						     IB_ATS_COUNTER_BUSY]++;
	/* Requests that were under way together count as one failure */
	if (engine_quiet(engine, now))
		return;
	engine->trouble++;
	engine->quiet_until = now + backoff(engine->trouble);
}

static void slot_refused(struct ats_engine *engine, struct ats_slot *slot, u8 method,
			 unsigned long now)
{
	slot->known = ATS_DOUBT;
	slot->refusals = min(slot->refusals + 1, U8_MAX);
	slot->retry_at = now + backoff(slot->refusals);
	if (method != IB_SA_METHOD_DELETE || slot->want || slot->refusals < ATS_REFUSALS_MAX)
		return;
	slot->known = ATS_ABSENT;
	slot->refusals = 0;
	engine->count[IB_ATS_COUNTER_ABANDONED]++;
}

static void slot_done(struct ats_slot *slot, u8 method)
{
	slot->refusals = 0;
	slot->renew = false;
	slot->known = method == IB_MGMT_METHOD_SET ? ATS_PRESENT : ATS_ABSENT;
	slot->has = slot->sent;
}

/**
 * ats_engine_answer() - the request of a slot has ended
 * @engine: the engine
 * @set: the set
 * @index: the slot's number
 * @result: how it ended
 * @now: jiffies
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_answer(struct ats_engine *engine, struct ats_set *set, unsigned int index,
		       enum ats_result result, unsigned long now)
{
	struct ats_slot *slot = &set->slot[index];
	u8 method = slot->method;

	slot->method = 0;
	set->in_flight--;
	engine->in_flight--;
	engine_heard(engine, result, now);
	if (result == ATS_RESULT_OK ||
	    (result == ATS_RESULT_NO_RECORD && method == IB_SA_METHOD_DELETE))
		slot_done(slot, method);
	else if (result == ATS_RESULT_REFUSED || result == ATS_RESULT_NO_RECORD)
		slot_refused(engine, slot, method, now);
	else
		slot->known = ATS_DOUBT;
	if (result == ATS_RESULT_TIMEOUT)
		set->verify = true;
	if (slot->stale)
		slot->known = ATS_DOUBT;
}

/**
 * ats_engine_read_record() - process a record of a set that is being read back
 * @of: the set, for ats_table_each()
 * @record: the record; ignored if it belongs to another set
 *
 * Context: that of the engine's owner.
 */
void ats_engine_read_record(void *of, const struct ats_record *record)
{
	int index = ats_sid_slot(record->sid);
	struct ats_set *set = of;
	struct ats_slot *slot;

	if (index < 0 || !ats_key_same(&record->key, &set->key))
		return;
	slot = &set->slot[index];
	slot->found = (record->lease == ATS_LEASE_INFINITE) == !ats_lease ? ATS_PRESENT : ATS_DOUBT;
	slot->found_ip = record->addr;
}

/*
 * Returns whether the SA's record differs from what it was known to be. An SA that refuses
 * requests about a record, since the port has lost the P_Key, may also hide it.
 */
static bool slot_found(struct ats_slot *slot)
{
	bool same = slot->known == ATS_DOUBT ||
		    (slot->known == slot->found &&
		     (slot->found == ATS_ABSENT || slot_has(slot, &slot->found_ip)));

	slot->known = slot->found == ATS_ABSENT && slot->refusals ? ATS_DOUBT : slot->found;
	slot->has = slot->found_ip;
	return !same;
}

/**
 * ats_engine_read_end() - the read of a set has ended
 * @engine: the engine
 * @set: the set
 * @result: how it ended
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
	set->verify |= result != ATS_RESULT_OK && result != ATS_RESULT_NO_RECORD;
	/* Without an answer, or with one from before the SA changed */
	if (set->verify)
		return;
	set->read_refusals = 0;
	for (i = 0; i < ATS_SIDS; i++)
		engine->count[IB_ATS_COUNTER_REPAIRS] += slot_found(&set->slot[i]);
}

/**
 * ats_engine_forget() - the SA has changed, or has lost its records
 * @engine: the engine
 * @now: jiffies
 *
 * Everything is registered again, after a short random delay, since all hosts of the fabric
 * do so.
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_forget(struct ats_engine *engine, unsigned long now)
{
	struct ats_slot *slot;
	struct ats_set *set;

	list_for_each_entry(set, &engine->sets, list) {
		for (slot = set->slot; slot < set->slot + ATS_SIDS; slot++) {
			slot->stale = true;
			slot->refusals = 0;
			if (slot->known == ATS_PRESENT)
				slot->known = ATS_DOUBT;
		}
		set->read_refusals = 0;
		set->verify = true;
	}
	engine->trouble = 1;
	engine->quiet_until = now + get_random_u32_below(ATS_REREGISTER_JITTER);
}

/**
 * ats_engine_verify() - read all sets back
 * @engine: the engine
 *
 * Those that are being read back already are not read once more.
 *
 * Context: that of the engine's owner, who calls ats_engine_run() next.
 */
void ats_engine_verify(struct ats_engine *engine)
{
	struct ats_set *set;

	list_for_each_entry(set, &engine->sets, list)
		set->verify |= !set->reading;
}

/**
 * ats_engine_renew() - renew the leases of all records
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
 * ats_set_settled() - whether the SA has the wanted records, as far as is known
 * @set: the set
 *
 * Context: that of the set's owner.
 * Return: true if it has, and no request is under way.
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
 * ats_set_state() - the state of the record of an address
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
 * ats_engine_reap() - free the sets that are not needed any more
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
		/* Leftovers still have to be found, if there is an SA to query */
		if (set->verify && engine->online)
			continue;
		list_del(&set->list);
		ats_set_destroy(set);
	}
}
