// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One port of an HCA. Its work owns the addresses that netdevices have there, the sets that
 * are made from them, and the engine that registers the sets.
 */
#include <linux/random.h>

#include "ats.h"

/* A port that is left does not wait for an SA that failed so often: its records stay there */
#define ATS_LEAVE_TROUBLE	2

static const u64 rid_mask = ATS_MASK_SID | ATS_MASK_GID | ATS_MASK_PKEY;
static const u64 set_mask = rid_mask | ATS_MASK_LEASE | ATS_MASK_KEY | ATS_MASK_NAME |
			    ATS_MASK_DATA8;

static struct ats_port *port_of_engine(struct ats_engine *engine)
{
	return container_of(engine, struct ats_port, engine);
}

/* ---- Requests to the SA, for the engine ---- */

static void port_answered(struct ats_port *port, struct ats_request *request,
			  enum ats_result result)
{
	if (result == ATS_RESULT_REFUSED)
		request->set->slot[request->slot].refusal =
			be16_to_cpu(request->answer->recv_buf.mad->mad_hdr.status);
	ats_engine_answer(&port->engine, request->set, request->slot, result, jiffies);
	port->dirty = true;
}

static void port_read(struct ats_port *port, struct ats_request *request, enum ats_result result)
{
	if (result == ATS_RESULT_OK &&
	    ats_table_each(request->answer, ats_engine_read_record, request->set) < 0)
		result = ATS_RESULT_REFUSED;
	ats_engine_read_end(&port->engine, request->set, result, jiffies);
	port->dirty = true;
}

static int sa_send(struct ats_engine *engine, struct ats_set *set, unsigned int index)
{
	struct ats_slot *slot = &set->slot[index];
	struct ats_record record = {
		.key = set->key,
		.sid = ats_slot_sid(index),
		.lease = ats_lease ?: ATS_LEASE_INFINITE,
	};
	struct ats_request request = {
		.method = slot->method,
		.mask = rid_mask,
		.set = set,
		.slot = index,
		.done = port_answered,
	};

	if (slot->method == IB_MGMT_METHOD_SET) {
		request.mask = set_mask;
		record.addr = slot->sent;
	} else if (slot->refusals % 2) {
		/* OpenSM refuses a request whose ComponentMask includes a P_Key that the port does
		 * not have, even the deletion of a record from the time when the port had it. It
		 * accepts the request if the mask leaves the P_Key out. Every other attempt
		 * therefore leaves it out.
		 */
		request.mask &= ~ATS_MASK_PKEY;
	}
	ats_record_encode(&request.record, &record);
	return PTR_ERR_OR_ZERO(ats_sa_post(port_of_engine(engine), &request));
}

static int sa_read(struct ats_engine *engine, struct ats_set *set)
{
	struct ats_request request = {
		.method = IB_SA_METHOD_GET_TABLE,
		.mask = ATS_MASK_GID | ATS_MASK_PKEY | ATS_MASK_NAME,
		.set = set,
		.done = port_read,
	};

	ats_record_init(&request.record, &set->key);
	return PTR_ERR_OR_ZERO(ats_sa_post(port_of_engine(engine), &request));
}

/* ---- The work ---- */

static void set_update(struct ats_port *port, struct ats_set *set, unsigned long now,
		       unsigned long *next)
{
	unsigned int refused;

	ats_set_expire(set, port->leaving ? now + MAX_JIFFY_OFFSET / 2 : now, next);
	refused = ats_set_assign(set);
	if (!refused)
		return;
	port->engine.count[IB_ATS_COUNTER_OVERFLOWS] += refused;
	if (set->told_full)
		return;
	set->told_full = true;
	dev_warn(&port->ibdev->dev,
		 "port %u, P_Key 0x%04x: more than %u IP addresses, the others are not registered\n",
		 port->port, set->key.pkey, ATS_SIDS);
}

static bool port_idle(const struct ats_port *port)
{
	const struct ats_engine *engine = &port->engine;
	const struct ats_set *set;

	if (!port->leaving)
		return false;
	if (!engine->online || engine->trouble >= ATS_LEAVE_TROUBLE)
		return true;
	list_for_each_entry(set, &engine->sets, list)
		if (!ats_set_settled(set))
			return false;
	return true;
}

/* Returns the events */
static unsigned long port_read_events(struct ats_port *port, unsigned long now)
{
	unsigned long events = xchg(&port->events, 0);

	if (events & ~BIT(ATS_EVENT_HURRY))
		port->dirty = true;
	if (events & BIT(ATS_EVENT_LEAVE)) {
		port->leaving = true;
		ats_local_drop_all(port);
	}
	if (events & BIT(ATS_EVENT_STOP))
		port->stopped = true;
	if (events & (BIT(ATS_EVENT_SM) | BIT(ATS_EVENT_FORGET)))
		ats_sa_lose_sm(port);
	if (events & BIT(ATS_EVENT_FORGET)) {
		/* Whatever its address is, this may be a new SM */
		rdma_ah_set_dlid(&port->sa.sm, 0);
		ats_engine_forget(&port->engine, now);
		ats_audit_contact(port, now);
	}
	if (events & BIT(ATS_EVENT_AUDIT))
		port->audit.wished = true;
	return events;
}

static void port_find_sa(struct ats_port *port, unsigned long *events, unsigned long now,
			 unsigned long *next)
{
	struct ats_engine *engine = &port->engine;
	bool was = engine->online;

	engine->online = !port->stopped && ats_sa_find_sm(port);
	if (engine->online != was) {
		port->dirty = true;
		/* Queries of questions that have found something need not wait for a lost SA */
		set_bit(ATS_EVENT_HURRY, events);
	}
	if (!engine->online)
		*next = ats_earlier(*next, port->sa.look_at);
}

static void port_records(struct ats_port *port, unsigned long now)
{
	unsigned long next = now + MAX_JIFFY_OFFSET / 2;
	struct ats_set *set;

	port->dirty = false;
	ats_audit_run(port, now, &next);
	list_for_each_entry(set, &port->engine.sets, list)
		set_update(port, set, now, &next);
	next = ats_earlier(next, ats_engine_run(&port->engine, now));
	if (port_idle(port))
		complete_all(&port->idle);
	ats_view_update(port);
	ats_engine_reap(&port->engine);
	port->records_at = next;
}

/* Most runs handle the answer to a query, which does not affect the records */
static void port_work(struct work_struct *work)
{
	struct ats_port *port = container_of(to_delayed_work(work), struct ats_port, work);
	unsigned long events, now = jiffies, next = now + MAX_JIFFY_OFFSET / 2;

	mutex_lock(&port->mutex);
	ats_sa_finish(port);
	events = port_read_events(port, now);
	port_find_sa(port, &events, now, &next);
	if (port->dirty || time_after_eq(now, port->records_at))
		port_records(port, now);
	next = ats_earlier(next, port->records_at);
	ats_query_run(port, events & BIT(ATS_EVENT_HURRY), now, &next);
	mutex_unlock(&port->mutex);
	/* If somebody has queued it meanwhile, for an earlier time, this does nothing */
	if (!port->stopped)
		queue_delayed_work(port->wq, &port->work,
				   time_after(next, now) ? next - now : 0);
}

static void port_ib_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct ats_port *port = container_of(handler, struct ats_port, event_handler);
	bool new_sm = event->event == IB_EVENT_PORT_ACTIVE || event->event == IB_EVENT_SM_CHANGE ||
		      event->event == IB_EVENT_CLIENT_REREGISTER;

	if (event->element.port_num != port->port)
		return;
	ats_port_event(port, new_sm ? ATS_EVENT_FORGET : ATS_EVENT_SM);
	ats_netdev_rescan();
}

/* ---- Creation and removal ---- */

/**
 * ats_port_create() - begin to serve a port
 * @ibdev: its HCA
 * @number: its number
 *
 * Context: may sleep.
 * Return: the port, or an ERR_PTR.
 */
struct ats_port *ats_port_create(struct ib_device *ibdev, u32 number)
{
	struct ats_port *port = kvzalloc(sizeof(*port), GFP_KERNEL);
	int err = -ENOMEM;

	if (!port)
		return ERR_PTR(err);
	port->ibdev = ibdev;
	port->port = number;
	port->host_cookie = read_pnet(&ibdev->coredev.rdma_net)->net_cookie;
	mutex_init(&port->mutex);
	INIT_LIST_HEAD(&port->locals);
	port->hash_seed = get_random_u32();
	ats_query_init(port);
	ats_audit_init(port);
	port->engine.send = sa_send;
	port->engine.read = sa_read;
	INIT_LIST_HEAD(&port->engine.sets);
	init_completion(&port->idle);
	INIT_DELAYED_WORK(&port->work, port_work);
	port->records_at = jiffies;
	INIT_IB_EVENT_HANDLER(&port->event_handler, ibdev, port_ib_event);
	port->wq = alloc_ordered_workqueue("ib_ats/%s/%u", WQ_MEM_RECLAIM,
					   dev_name(&ibdev->dev), number);
	if (!port->wq)
		goto free;
	err = ats_sa_start(port);
	if (err)
		goto destroy_wq;
	ib_register_event_handler(&port->event_handler);
	ats_port_kick(port);
	return port;

destroy_wq:
	destroy_workqueue(port->wq);
free:
	kvfree(port);
	return ERR_PTR(err);
}

/**
 * ats_port_destroy() - stop serving a port, and free it
 * @port: the port; nobody submits anything to it any more
 *
 * Records that are still registered stay at the SA.
 *
 * Context: may sleep.
 */
void ats_port_destroy(struct ats_port *port)
{
	struct ats_set *set, *next_set;

	ib_unregister_event_handler(&port->event_handler);
	ats_port_event(port, ATS_EVENT_STOP);
	flush_delayed_work(&port->work);
	/* This cancels the requests under way; the work then ends them, and their queries */
	ib_unregister_mad_agent(port->sa.agent);
	ats_port_kick(port);
	flush_delayed_work(&port->work);
	cancel_delayed_work_sync(&port->work);
	destroy_workqueue(port->wq);
	ats_local_drop_all(port);
	list_for_each_entry_safe(set, next_set, &port->engine.sets, list)
		ats_set_destroy(set);
	kvfree(port);
}
