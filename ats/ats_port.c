// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One port of an HCA. Its work owns what netdevices have there, the sets that make up
 * of that, and the engine that registers them; messages for it are left in the inbox,
 * in the bits of events and in the SA's list of answers.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "ats.h"

/* How often an SM is looked for that no event told of */
#define ATS_SM_POLL		(5 * HZ)
/* When a view that there was no memory for is tried again */
#define ATS_VIEW_RETRY		HZ
/* While the SA is away for longer than that, what is registered stays so */
#define ATS_LEAVE_TROUBLE	2

static const u64 rid_mask = ATS_MASK_SID | ATS_MASK_GID | ATS_MASK_PKEY;
static const u64 set_mask = rid_mask | ATS_MASK_LEASE | ATS_MASK_KEY | ATS_MASK_NAME |
			    ATS_MASK_DATA8;
static const u64 read_mask = ATS_MASK_GID | ATS_MASK_PKEY | ATS_MASK_NAME;

static struct ats_port *port_of_sa(struct ats_sa *sa)
{
	return container_of(sa, struct ats_port, sa);
}

static struct ats_port *port_of_engine(struct ats_engine *engine)
{
	return container_of(engine, struct ats_port, engine);
}

/**
 * ats_port_kick() - have the port's work run soon
 * @port: the port
 *
 * Context: any.
 */
void ats_port_kick(struct ats_port *port)
{
	mod_delayed_work(port->wq, &port->work, 0);
}

static void port_wake(struct ats_sa *sa)
{
	ats_port_kick(port_of_sa(sa));
}

static void port_event(struct ats_port *port, enum ats_event event)
{
	set_bit(event, &port->events);
	ats_port_kick(port);
}

/* ---- What the engine needs: requests to the SA ---- */

static void port_answered(struct ats_sa *sa, struct ats_request *request,
			  enum ats_result result)
{
	struct ats_port *port = port_of_sa(sa);

	ats_engine_answer(&port->engine, request->set, request->slot, result, jiffies);
	port->dirty = true;
}

static void port_read_each(void *context, const struct ats_record *record)
{
	ats_engine_read_record(context, record);
}

static void port_read(struct ats_sa *sa, struct ats_request *request, enum ats_result result)
{
	struct ats_port *port = port_of_sa(sa);

	if (result == ATS_RESULT_OK &&
	    ats_table_each(request->answer, port_read_each, request->set) < 0)
		result = ATS_RESULT_REFUSED;
	ats_engine_read_end(&port->engine, request->set, result, jiffies);
	port->dirty = true;
}

static struct ats_request *request_create(struct ats_set *set, unsigned int slot,
					  void (*done)(struct ats_sa *sa,
						       struct ats_request *request,
						       enum ats_result result))
{
	struct ats_request *request = kzalloc(sizeof(*request), GFP_KERNEL);

	if (!request)
		return NULL;
	request->set = set;
	request->slot = slot;
	request->done = done;
	return request;
}

/*
 * OpenSM refuses what names a P_Key that the port does not have, also the deletion of
 * a record from when it had it; but not if only the record has the P_Key, and not the mask.
 */
static u64 delete_mask(const struct ats_slot *slot)
{
	return slot->refusals % 2 ? rid_mask & ~ATS_MASK_PKEY : rid_mask;
}

static int sa_send(struct ats_engine *engine, struct ats_set *set, unsigned int index)
{
	struct ats_slot *slot = &set->slot[index];
	struct ats_record record = {
		.key = set->key,
		.sid = ats_slot_sid(index),
		.lease = ATS_LEASE_INFINITE,
	};
	struct ats_wire_record wire;
	struct ats_request *request = request_create(set, index, port_answered);

	if (!request)
		return -ENOMEM;
	if (slot->op == ATS_OP_SET)
		record.addr = slot->sent;
	ats_record_encode(&wire, &record);
	if (slot->op == ATS_OP_SET)
		return ats_sa_post(&port_of_engine(engine)->sa, request, IB_MGMT_METHOD_SET,
				   set_mask, &wire);
	return ats_sa_post(&port_of_engine(engine)->sa, request, IB_SA_METHOD_DELETE,
			   delete_mask(slot), &wire);
}

static int sa_read(struct ats_engine *engine, struct ats_set *set)
{
	struct ats_request *request = request_create(set, 0, port_read);
	struct ats_wire_record wire;

	if (!request)
		return -ENOMEM;
	ats_record_init(&wire, &set->key);
	return ats_sa_post(&port_of_engine(engine)->sa, request, IB_SA_METHOD_GET_TABLE,
			   read_mask, &wire);
}

static const struct ats_engine_ops sa_ops = {
	.send = sa_send,
	.read = sa_read,
};

/* A port without an SA, ATS section 5.1: the records are there, for this host alone */
static int alone_send(struct ats_engine *engine, struct ats_set *set, unsigned int slot)
{
	ats_engine_answer(engine, set, slot, ATS_RESULT_OK, jiffies);
	return 0;
}

static int alone_read(struct ats_engine *engine, struct ats_set *set)
{
	return -EOPNOTSUPP;
}

static const struct ats_engine_ops alone_ops = {
	.send = alone_send,
	.read = alone_read,
};

/**
 * ats_port_is_local() - whether a port is of a kind that has no SA
 * @port: the port
 *
 * Context: any.
 * Return: whether it is.
 */
bool ats_port_is_local(const struct ats_port *port)
{
	return port->engine.ops == &alone_ops;
}

/* ---- What netdevices have ---- */

static void port_read_inbox(struct ats_port *port)
{
	struct ats_source *source, *next;
	LIST_HEAD(inbox);

	spin_lock_irq(&port->lock);
	list_splice_init(&port->inbox, &inbox);
	spin_unlock_irq(&port->lock);
	list_for_each_entry_safe(source, next, &inbox, list) {
		list_del(&source->list);
		ats_source_replace(port, source);
		port->dirty = true;
	}
}

/**
 * ats_port_submit() - leave what a netdevice has at its port
 * @port: the port
 * @source: what it has; this function's from here on
 *
 * Context: process.
 */
void ats_port_submit(struct ats_port *port, struct ats_source *source)
{
	struct ats_source *old;

	spin_lock_irq(&port->lock);
	old = ats_source_find(&port->inbox, source->owner);
	if (old)
		list_del(&old->list);
	list_add_tail(&source->list, &port->inbox);
	spin_unlock_irq(&port->lock);
	kfree(old);
	ats_port_kick(port);
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
	port->engine.count.overflows += refused;
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

static void port_read_events(struct ats_port *port, unsigned long now)
{
	unsigned long events = xchg(&port->events, 0);

	if (events)
		port->dirty = true;
	if (events & BIT(ATS_EVENT_LEAVE)) {
		port->leaving = true;
		ats_source_drop_all(port);
	}
	if (events & BIT(ATS_EVENT_STOP))
		port->stopped = true;
	if (events & (BIT(ATS_EVENT_SM) | BIT(ATS_EVENT_FORGET)))
		ats_sa_forget_sm(&port->sa);
	if (events & BIT(ATS_EVENT_FORGET))
		ats_engine_forget(&port->engine, now);
	if (events & BIT(ATS_EVENT_AUDIT))
		ats_engine_verify(&port->engine);
}

/* Not all hosts at once */
static unsigned long audit_delay(void)
{
	unsigned long span = ats_audit_interval * (unsigned long)HZ;

	return span - span / 8 + get_random_u32_below(span / 4 + 1);
}

static void port_audit(struct ats_port *port, unsigned long now, unsigned long *next)
{
	if (!ats_audit_interval)
		return;
	if (time_after_eq(now, port->audit_at)) {
		port->audit_at = now + audit_delay();
		ats_engine_verify(&port->engine);
	}
	*next = ats_earlier(*next, port->audit_at);
}

static void port_find_sa(struct ats_port *port, unsigned long now, unsigned long *next)
{
	struct ats_engine *engine = &port->engine;
	bool was = engine->online;

	engine->online = ats_port_is_local(port) ||
			 (!port->stopped && !ats_sa_find_sm(&port->sa));
	if (engine->online != was)
		port->dirty = true;
	if (!engine->online)
		*next = ats_earlier(*next, now + ATS_SM_POLL);
}

static void port_tell_idle(struct ats_port *port)
{
	if (!port_idle(port))
		return;
	WRITE_ONCE(port->idle, true);
	wake_up_all(&port->idle_wait);
}

static void port_records(struct ats_port *port, unsigned long now)
{
	unsigned long next = now + MAX_JIFFY_OFFSET / 2;
	struct ats_set *set;

	port->dirty = false;
	port_audit(port, now, &next);
	list_for_each_entry(set, &port->engine.sets, list)
		set_update(port, set, now, &next);
	next = ats_earlier(next, ats_engine_run(&port->engine, now));
	port_tell_idle(port);
	ats_engine_reap(&port->engine);
	if (!ats_view_update(port))
		next = ats_earlier(next, now + ATS_VIEW_RETRY);
	port->records_at = next;
}

/* Most runs are for an answer to a query: that leaves the records as they are */
static void port_work(struct work_struct *work)
{
	struct ats_port *port = container_of(to_delayed_work(work), struct ats_port, work);
	unsigned long now = jiffies, next = now + MAX_JIFFY_OFFSET / 2;

	ats_sa_finish(&port->sa);
	port_read_events(port, now);
	port_read_inbox(port);
	port_find_sa(port, now, &next);
	if (port->dirty || time_after_eq(now, port->records_at))
		port_records(port, now);
	next = ats_earlier(next, port->records_at);
	ats_resolve_run(port, now, &next);
	ats_view_set_status(port);
	/* Whoever kicked it meanwhile wants it earlier: then this does nothing */
	if (!port->stopped)
		queue_delayed_work(port->wq, &port->work,
				   time_after(next, now) ? next - now : 0);
}

/**
 * ats_port_audit() - have everything of a port read back, and repaired
 * @port: the port
 *
 * Context: any.
 */
void ats_port_audit(struct ats_port *port)
{
	port_event(port, ATS_EVENT_AUDIT);
}

static void port_ib_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct ats_port *port = container_of(handler, struct ats_port, event_handler);

	if (event->element.port_num != port->port)
		return;
	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		port_event(port, ATS_EVENT_FORGET);
		ats_netdev_rescan();
		break;
	case IB_EVENT_GID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PORT_ERR:
		port_event(port, ATS_EVENT_SM);
		ats_netdev_rescan();
		break;
	default:
		break;
	}
}

/* A RoCE port's GIDs are IP addresses of Ethernet netdevices */
static bool gid_shown(const struct ats_port *port, const struct ib_gid_attr *attr, u64 net_cookie)
{
	struct net_device *ndev;
	bool shown;

	if (!net_cookie || !rdma_protocol_roce(port->ibdev, port->port))
		return true;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	shown = !IS_ERR(ndev) && dev_net(ndev)->net_cookie == net_cookie;
	rcu_read_unlock();
	return shown;
}

/**
 * ats_port_has_gid() - whether a GID is one of the port's
 * @port: the port
 * @gid: the GID
 * @net_cookie: not if it is an address of another namespace than this one; 0: of any
 *
 * Context: may sleep.
 * Return: whether it is.
 */
bool ats_port_has_gid(struct ats_port *port, const union ib_gid *gid, u64 net_cookie)
{
	int i, len = port->ibdev->port_data[port->port].immutable.gid_tbl_len;
	const struct ib_gid_attr *attr;
	bool found = false;

	for (i = 0; i < len && !found; i++) {
		attr = rdma_get_gid_attr(port->ibdev, port->port, i);
		if (IS_ERR(attr))
			continue;
		found = !memcmp(&attr->gid, gid, sizeof(*gid)) &&
			gid_shown(port, attr, net_cookie);
		rdma_put_gid_attr(attr);
	}
	return found;
}

/* ---- Life ---- */

static int port_start_sa(struct ats_port *port)
{
	bool has_sa = rdma_cap_ib_sa(port->ibdev, port->port);

	ats_engine_init(&port->engine, has_sa ? &sa_ops : &alone_ops, ats_max_in_flight);
	if (has_sa)
		return ats_sa_start(&port->sa, port->ibdev, port->port, port_wake);
	spin_lock_init(&port->sa.lock);
	INIT_LIST_HEAD(&port->sa.done);
	return 0;
}

static void port_init(struct ats_port *port, struct ib_device *ibdev, u32 number)
{
	static atomic64_t last_id;

	port->ibdev = ibdev;
	port->port = number;
	port->id = atomic64_inc_return(&last_id);
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->inbox);
	INIT_LIST_HEAD(&port->sources);
	ats_resolve_init(port);
	init_waitqueue_head(&port->idle_wait);
	INIT_DELAYED_WORK(&port->work, port_work);
	port->audit_at = jiffies + audit_delay();
	port->records_at = jiffies;
	INIT_IB_EVENT_HANDLER(&port->event_handler, ibdev, port_ib_event);
}

/**
 * ats_port_create() - begin to serve a port
 * @ibdev: its HCA
 * @number: of the port
 *
 * Context: may sleep.
 * Return: the port, or an error pointer.
 */
struct ats_port *ats_port_create(struct ib_device *ibdev, u32 number)
{
	struct ats_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int err = -ENOMEM;

	if (!port)
		return ERR_PTR(err);
	port_init(port, ibdev, number);
	port->wq = alloc_ordered_workqueue("ib_ats/%s/%u", WQ_MEM_RECLAIM,
					   dev_name(&ibdev->dev), number);
	if (!port->wq)
		goto free;
	err = port_start_sa(port);
	if (err)
		goto destroy_wq;
	ib_register_event_handler(&port->event_handler);
	ats_port_kick(port);
	return port;

destroy_wq:
	destroy_workqueue(port->wq);
free:
	kfree(port);
	return ERR_PTR(err);
}

/**
 * ats_port_leave() - have all records of a port deleted
 * @port: the port
 *
 * It registers nothing any more. ats_port_wait_idle() waits for the end of it.
 *
 * Context: any.
 */
void ats_port_leave(struct ats_port *port)
{
	port_event(port, ATS_EVENT_LEAVE);
}

/**
 * ats_port_wait_idle() - wait until the records of a port that is left are deleted
 * @port: the port
 * @until: jiffies; not longer than that
 *
 * Nor does it wait for an SA that does not answer.
 *
 * Context: may sleep.
 */
void ats_port_wait_idle(struct ats_port *port, unsigned long until)
{
	long left = until - jiffies;

	wait_event_timeout(port->idle_wait, READ_ONCE(port->idle), max(left, 0L));
}

/**
 * ats_port_destroy() - the end of a port
 * @port: the port; nobody submits anything to it any more
 *
 * What is still registered stays so.
 *
 * Context: may sleep.
 */
void ats_port_destroy(struct ats_port *port)
{
	struct ats_source *source, *next_source;
	unsigned long next = jiffies;
	struct ats_set *set, *next_set;

	ib_unregister_event_handler(&port->event_handler);
	port_event(port, ATS_EVENT_STOP);
	flush_delayed_work(&port->work);
	/* The work still ends the requests that this cancels */
	ats_sa_stop(&port->sa);
	cancel_delayed_work_sync(&port->work);
	destroy_workqueue(port->wq);
	ats_sa_finish(&port->sa);
	ats_resolve_run(port, next, &next);
	ats_sa_forget_sm(&port->sa);
	ats_view_destroy(port);
	list_for_each_entry_safe(source, next_source, &port->inbox, list)
		kfree(source);
	list_for_each_entry_safe(source, next_source, &port->sources, list)
		kfree(source);
	list_for_each_entry_safe(set, next_set, &port->engine.sets, list)
		ats_set_destroy(set);
	kfree(port);
}
