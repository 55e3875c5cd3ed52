/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types of the Address Translation Service, and each file's interface, grouped by file.
 *
 * Contexts. Each port has an ordered workqueue with one work, ats_port.c's, which owns
 * all that there is of the port: its sets, their slots, what is under way to the SA.
 * Everything else leaves a message for it and queues it:
 *
 *  - notifiers of the network stack (some with rtnl held, some atomic) only mark a
 *    netdevice; ats_netdev.c's work then reads its addresses, without rtnl, and leaves
 *    them at the port;
 *  - events of the port set a bit;
 *  - MAD handlers put the answered request into a list.
 *
 * So nothing waits for the SA but that one work, which does not sleep for it either: it
 * is queued again by the answer, or by its own timer.
 *
 *
 * What others may see of it, the port's work leaves as a view and as a copy of its
 * counters (ats_view.c): whoever asks reads those, and never waits for the work.
 *
 * Lock order: rtnl, then ats_main.c's mutex, then ats_port.lock.
 */
#ifndef _ATS_H
#define _ATS_H

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "ats_wire.h"
#include "ib_ats.h"
#include "ib_ats_netlink.h"

/* What owns a set of addresses */
struct ats_key {
	union ib_gid gid;
	u16 pkey;			/* with the full-member bit */
};

/* What a ServiceRecord says */
struct ats_record {
	struct ats_key key;
	u64 sid;
	u32 lease;
	struct in6_addr addr;		/* an IPv4 address is ::a.b.c.d */
};

/* One address of a set */
struct ats_addr {
	struct rb_node node;		/* in ats_set.addrs */
	struct list_head order;		/* in ats_set.order */
	struct in6_addr ip;
	unsigned int refs;		/* netdevices that have it */
	unsigned long expires;		/* jiffies; when refs is 0 */
	int slot;			/* -1: there is none for it */
	bool refused;			/* for that */
};

/* What the SA is known to have in a slot */
enum ats_known {
	ATS_ABSENT,			/* no record */
	ATS_PRESENT,			/* one, with ats_slot.has */
	ATS_DOUBT,			/* may be anything */
};

enum ats_op {
	ATS_OP_NONE,
	ATS_OP_SET,
	ATS_OP_DELETE,
};

/* How a request to the SA ended */
enum ats_result {
	ATS_RESULT_OK,
	ATS_RESULT_NO_RECORD,		/* the SA has none such */
	ATS_RESULT_REFUSED,		/* it will not do that */
	ATS_RESULT_TOO_MANY,		/* one was asked for, and there are more */
	ATS_RESULT_BUSY,		/* not now; nobody is there; or it could not be sent */
	ATS_RESULT_TIMEOUT,		/* no answer: it may have been done or not */
	ATS_RESULT_CANCELLED,		/* by this side */
};

/* One Service ID of a set: what is wanted there, and what the SA has */
struct ats_slot {
	struct ats_addr *want;		/* NULL: no record */
	enum ats_known known;
	enum ats_op op;			/* under way */
	struct in6_addr has;
	struct in6_addr sent;		/* by op */
	unsigned long retry_at;		/* jiffies; when refusals is not 0 */
	u8 refusals;			/* in a row */
	bool stale;			/* op's outcome says nothing about the SA of now */
	bool seen;			/* while the set is read */
	bool odd;			/* seen, but not as it should be */
	struct in6_addr found;		/* seen */
};

/* All addresses of one port GID and P_Key */
struct ats_set {
	struct list_head list;		/* in ats_engine.sets */
	struct ats_key key;
	struct rb_root addrs;		/* by address */
	struct list_head order;		/* the same, as they came */
	struct in6_addr choice;		/* the administrator's primary address */
	bool has_choice;
	bool told_full;			/* the log knows */
	unsigned int in_flight;
	bool verify;			/* to be read back once settled */
	bool reading;
	bool read_stale;		/* what is being read is of no use any more */
	u8 read_refusals;		/* in a row */
	unsigned long verify_at;	/* jiffies; when read_refusals is not 0 */
	struct ats_slot slot[ATS_SIDS];
};

/* What a port did; written by its work, read by anyone */
struct ats_counters {
	u64 sets;			/* records registered, or again */
	u64 deletes;
	u64 reads;			/* sets read back */
	u64 queries;			/* of the resolver */
	u64 timeouts;
	u64 busy;
	u64 refusals;			/* by the SA */
	u64 repairs;			/* records that were not as believed */
	u64 abandoned;			/* deletions refused too often */
	u64 overflows;			/* addresses without a Service ID */
};

struct ats_engine;

/**
 * struct ats_engine_ops - how the engine reaches an SA
 * @send: register ats_slot.sent, or delete the slot's record; on 0 answered once by
 *	ats_engine_answer(), possibly before it returns
 * @read: read back all records of a set; on 0 answered by ats_engine_read_record() for
 *	each and ats_engine_read_end(). -EOPNOTSUPP: there is nothing to be read
 */
struct ats_engine_ops {
	int (*send)(struct ats_engine *engine, struct ats_set *set, unsigned int slot);
	int (*read)(struct ats_engine *engine, struct ats_set *set);
};

/* What makes the SA's records those that are wanted; one a port */
struct ats_engine {
	const struct ats_engine_ops *ops;
	struct list_head sets;
	bool online;			/* there is an SA to be asked */
	unsigned int in_flight;
	unsigned int max_in_flight;
	unsigned int trouble;		/* times in a row that the SA was away or busy */
	unsigned long quiet_until;	/* jiffies; when trouble is not 0 */
	struct ats_counters count;
};

/* What a netdevice has: a message to its port, which keeps the newest of each */
struct ats_source {
	struct list_head list;		/* in ats_port.inbox, then .sources */
	const void *owner;
	u64 net_cookie;			/* of the namespace that it is in */
	int ifindex;			/* there */
	struct ats_key key;
	struct in6_addr choice;		/* the administrator's primary address */
	bool has_choice;
	unsigned int count;
	struct in6_addr ip[];
};

/* An address of a netdevice, as others may see it */
struct ats_local {
	u64 net_cookie;
	int ifindex;
	struct ats_key key;
	struct in6_addr ip;
	int slot;			/* -1: none */
	enum ib_ats_record_state state;
};

/* All of a port; it does not change any more once it is published */
struct ats_view {
	refcount_t refs;
	unsigned int count;
	struct ats_local local[];
};

/* What a port did and how it stands, as others may see it */
struct ats_status {
	struct ats_counters count;
	enum ib_ats_sa_state sa;
};

struct ats_sa;

/* A MAD to the SA and its answer */
struct ats_request {
	struct list_head list;		/* in ats_sa.done */
	struct ib_mad_send_buf *mad;
	struct ib_mad_recv_wc *answer;
	enum ib_wc_status status;
	struct ats_sm *sm;
	struct ats_set *set;		/* the user's, as are these */
	unsigned int slot;
	struct ib_ats_query *query;
	void (*done)(struct ats_sa *sa, struct ats_request *request,
		     enum ats_result result);
};

/* An address handle to the SM */
struct ats_sm {
	struct ib_ah *ah;
	unsigned int refs;
};

/* One port's way to its SA */
struct ats_sa {
	struct ib_device *ibdev;
	u32 port;
	struct ib_mad_agent *agent;
	void (*wake)(struct ats_sa *sa);	/* something is done; any context */
	spinlock_t lock;		/* guards done */
	struct list_head done;
	struct ats_sm *sm;		/* NULL: to be looked up; the port's work's */
	u32 tid;
};

/* Bits of ats_port.events */
enum ats_event {
	ATS_EVENT_FORGET,		/* the SA may have lost everything */
	ATS_EVENT_SM,			/* its address may differ */
	ATS_EVENT_AUDIT,		/* read everything back */
	ATS_EVENT_LEAVE,		/* nothing is wanted any more */
	ATS_EVENT_STOP,			/* and nothing may be sent any more */
};

/*
 * struct ats_port - a port of an HCA
 * @lock: guards inbox, inquiries, view and status
 */
struct ats_port {
	struct ib_device *ibdev;
	u32 port;
	u64 id;				/* of all ports that ever were */
	struct ib_event_handler event_handler;
	unsigned long events;		/* atomic bits, enum ats_event */
	spinlock_t lock;
	struct list_head inbox;
	struct list_head inquiries;
	struct list_head cancels;	/* guarded by ats_resolve.c's lock */
	struct ats_view *view;
	struct ats_status status;
	struct workqueue_struct *wq;
	struct delayed_work work;
	wait_queue_head_t idle_wait;
	bool idle;			/* nothing wanted, nothing registered */

	/* the work's own */
	struct ats_engine engine;
	struct ats_sa sa;
	struct list_head sources;
	struct list_head queries;	/* to be sent, in this order */
	struct list_head retries;	/* to be sent again after a while */
	unsigned long queries_at;	/* jiffies; no later than one of these two is due */
	unsigned int queries_in_flight;
	bool dirty;			/* records are to be looked at */
	unsigned long records_at;	/* jiffies; if not before */
	unsigned long audit_at;		/* jiffies */
	bool leaving;
	bool stopped;
};

/* An HCA: the ib_client's data */
struct ats_hca {
	struct list_head list;
	struct ib_device *ibdev;
	unsigned int ports;
	struct ats_port *port[];
};

static inline bool ats_key_same(const struct ats_key *a, const struct ats_key *b)
{
	return a->pkey == b->pkey && !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static inline bool ats_ip_same(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline unsigned long ats_earlier(unsigned long a, unsigned long b)
{
	return time_before(a, b) ? a : b;
}

/* ats_record.c: Service IDs and records, as they go over the wire */
u64 ats_slot_sid(unsigned int slot);
int ats_sid_slot(u64 sid);
void ats_addr_from_ipv4(struct in6_addr *addr, __be32 ipv4);
bool ats_addr_is_ipv4(const struct in6_addr *addr);
void ats_addr_from_mapped(struct in6_addr *addr);
void ats_addr_to_mapped(struct in6_addr *addr);
void ats_record_init(struct ats_wire_record *wire, const struct ats_key *key);
void ats_record_encode(struct ats_wire_record *wire, const struct ats_record *record);
int ats_record_decode(struct ats_record *record, const struct ats_wire_record *wire);

/* ats_set.c: the addresses of one GID and P_Key */
struct ats_set *ats_set_create(const struct ats_key *key);
void ats_set_destroy(struct ats_set *set);
struct ats_addr *ats_set_find(const struct ats_set *set, const struct in6_addr *ip);
int ats_set_get(struct ats_set *set, const struct in6_addr *ip);
void ats_set_put(struct ats_set *set, const struct in6_addr *ip, unsigned long until);
void ats_set_expire(struct ats_set *set, unsigned long now, unsigned long *next);
unsigned int ats_set_assign(struct ats_set *set);
void ats_set_choose(struct ats_set *set, const struct in6_addr *ip);

/* ats_reconcile.c: what the SA has becomes what is wanted */
void ats_engine_init(struct ats_engine *engine, const struct ats_engine_ops *ops,
		     unsigned int max_in_flight);
struct ats_set *ats_engine_find(struct ats_engine *engine, const struct ats_key *key);
unsigned long ats_engine_run(struct ats_engine *engine, unsigned long now);
void ats_engine_answer(struct ats_engine *engine, struct ats_set *set, unsigned int slot,
		       enum ats_result result, unsigned long now);
void ats_engine_read_record(struct ats_set *set, const struct ats_record *record);
void ats_engine_read_end(struct ats_engine *engine, struct ats_set *set,
			 enum ats_result result, unsigned long now);
void ats_engine_forget(struct ats_engine *engine, unsigned long now);
void ats_engine_verify(struct ats_engine *engine);
bool ats_set_settled(const struct ats_set *set);
enum ib_ats_record_state ats_set_state(const struct ats_set *set, const struct ats_addr *addr);
void ats_engine_reap(struct ats_engine *engine);

/* ats_sa.c: MADs to the SA of a port */
int ats_sa_start(struct ats_sa *sa, struct ib_device *ibdev, u32 port,
		 void (*wake)(struct ats_sa *sa));
void ats_sa_stop(struct ats_sa *sa);
int ats_sa_find_sm(struct ats_sa *sa);
void ats_sa_forget_sm(struct ats_sa *sa);
int ats_sa_post(struct ats_sa *sa, struct ats_request *request, u8 method, u64 mask,
		const struct ats_wire_record *wire);
void ats_sa_cancel(struct ats_request *request);
void ats_sa_finish(struct ats_sa *sa);

/* ats_table.c: the records of an SA's answer */
int ats_table_each(const struct ib_mad_recv_wc *answer,
		   void (*each)(void *context, const struct ats_record *record), void *context);

/* ats_port.c: a port's state, all owned by its work */
struct ats_port *ats_port_create(struct ib_device *ibdev, u32 port);
void ats_port_leave(struct ats_port *port);
void ats_port_wait_idle(struct ats_port *port, unsigned long until);
void ats_port_destroy(struct ats_port *port);
void ats_port_kick(struct ats_port *port);
void ats_port_audit(struct ats_port *port);
void ats_port_submit(struct ats_port *port, struct ats_source *source);
bool ats_port_is_local(const struct ats_port *port);
bool ats_port_has_gid(struct ats_port *port, const union ib_gid *gid, u64 net_cookie);

/* ats_source.c: what netdevices have on a port */
struct ats_source *ats_source_find(struct list_head *sources, const void *owner);
void ats_source_replace(struct ats_port *port, struct ats_source *source);
void ats_source_drop_all(struct ats_port *port);

/* ats_view.c: what others may see of a port */
bool ats_view_update(struct ats_port *port);
void ats_view_set_status(struct ats_port *port);
struct ats_view *ats_view_get(struct ats_port *port);
void ats_view_put(struct ats_view *view);
void ats_view_destroy(struct ats_port *port);
bool ats_view_has_net(struct ats_port *port, u64 net_cookie);
struct ats_status ats_view_status(struct ats_port *port);

/* ats_resolve.c: who has which address; and include/ib_ats.h */
void ats_resolve_init(struct ats_port *port);
void ats_resolve_run(struct ats_port *port, unsigned long now, unsigned long *next);
const char *ats_query_device(const struct ib_ats_query *query, u32 *port);

/* ats_netdev.c: which addresses there are */
int ats_netdev_init(void);
void ats_netdev_stop(void);
void ats_netdev_exit(void);
void ats_netdev_rescan(void);
int ats_netdev_choose(struct net *net, int ifindex, const struct in6_addr *ip);

/* ats_netlink.c: user space's questions and wishes */
int ats_netlink_init(void);
void ats_netlink_exit(void);
void ats_netlink_notify(const struct ats_port *port, const struct ats_local *local);

/* ats_main.c: HCAs, and the module */
extern unsigned int ats_max_in_flight;
extern unsigned int ats_max_queries;
extern unsigned int ats_linger_ms;
extern unsigned int ats_audit_interval;
extern unsigned int ats_sa_timeout_ms;
int ats_with_port(const struct ib_ats_question *question,
		  void (*act)(struct ats_port *port, void *arg), void *arg);
int ats_each_port(const struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg);
void ats_route(struct device *parent, struct ats_source *source, u64 *port_id);

#endif /* _ATS_H */
