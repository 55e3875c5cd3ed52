/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types of the Address Translation Service, and each file's interface, grouped by file.
 *
 * Contexts. Each port has an ordered workqueue with one work, that of ats_port.c. It owns
 * the whole state of the port: its sets, their slots, and the requests that are under way
 * to the SA, and holds ats_port.mutex while it runs. All other code queues this work after it
 * has left something to do:
 *
 *  - notifiers of the network stack (some with rtnl held, some atomic) only queue the work of
 *    ats_netdev.c, which reads the addresses of all netdevices with rtnl held and then, without
 *    it, passes them to the ports under ats_port.mutex, as questions pass their queries;
 *  - events of the port set a bit;
 *  - MAD handlers put the answered request into a list.
 *
 * Only that work waits for the SA, and it does not sleep for it: the answer, or its own
 * timer, queues it again.
 *
 * Lock order: ats_hca.c's mutex, then ats_port.mutex, then ats_ask.lock and ats_netlink.c's mutex,
 * then ats_ask.c's spinlock. None of these is taken with rtnl held: callbacks of other modules,
 * which are called with ats_port.mutex held, may take rtnl.
 */
#ifndef _ATS_H
#define _ATS_H

#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "ats_wire.h"
#include "compat.h"
#include "ib_ats.h"

/* The full-member bit of a P_Key */
#define ATS_PKEY_FULL		0x8000

/* The owner of a set of addresses */
struct ats_key {
	union ib_gid gid;
	u16 pkey;			/* with the full-member bit */
};

/* The content of a ServiceRecord */
struct ats_record {
	struct ats_key key;
	u64 sid;
	u32 lease;
	struct in6_addr addr;		/* an IPv4 address is ::a.b.c.d */
};

/* One address of a set */
struct ats_addr {
	struct list_head order;		/* in ats_set.order */
	struct in6_addr ip;
	unsigned int refs;		/* netdevices that have it */
	unsigned int host_refs;		/* of these, those of the HCA's own namespace */
	unsigned long expires;		/* jiffies; valid if refs is 0 */
	int slot;			/* -1: it has none */
	bool refused;			/* counted as an address without a free slot */
};

/* What is known about the SA's record of a slot */
enum ats_known {
	ATS_ABSENT,			/* the SA has no record */
	ATS_PRESENT,			/* it has one, of the address ats_slot.has */
	ATS_DOUBT,			/* unknown */
};

/* How a request to the SA ended */
enum ats_result {
	ATS_RESULT_OK,
	ATS_RESULT_NO_RECORD,		/* the SA has no such record */
	ATS_RESULT_REFUSED,		/* the SA refuses the request */
	ATS_RESULT_TOO_MANY,		/* one record was requested, and there are more */
	ATS_RESULT_BUSY,		/* the SA is busy, or the request could not be sent */
	ATS_RESULT_NOBODY,		/* there is no SA at the address that was queried */
	ATS_RESULT_TIMEOUT,		/* no answer: the SA may have acted or not */
	ATS_RESULT_CANCELLED,		/* by this side */
};

/* One Service ID of a set: the record that is wanted, and the one that the SA has */
struct ats_slot {
	struct ats_addr *want;		/* NULL: no record */
	enum ats_known known;
	u8 method;			/* under way: SubnAdmSet or SubnAdmDelete; 0: nothing */
	struct in6_addr has;		/* address of the SA's record, if it is known */
	struct in6_addr sent;		/* address that is registered by it */
	unsigned long retry_at;		/* jiffies; valid if refusals is not 0 */
	u8 refusals;			/* in a row */
	u16 refusal;			/* the SA's status in the last of them */
	bool renew;			/* the lease has to be renewed */
	bool stale;			/* its result does not apply to the SA any more */
	enum ats_known found;		/* while the set is read back: ATS_DOUBT: a wrong lease */
	struct in6_addr found_ip;	/* the address that was found */
};

/* All addresses of one port GID and P_Key */
struct ats_set {
	struct list_head list;		/* in ats_engine.sets */
	struct ats_key key;
	struct list_head order;		/* addresses, in the order in which they were added */
	struct in6_addr choice;		/* the administrator's primary address; ::, if none */
	bool told_full;			/* the warning about a full set is in the log */
	unsigned int in_flight;		/* requests for its slots */
	bool verify;			/* to be read back when it has settled, also once more */
	bool reading;			/* is being read back */
	u8 read_refusals;		/* in a row */
	unsigned long verify_at;	/* jiffies; valid if read_refusals is not 0 */
	struct ats_slot slot[ATS_SIDS];
};

struct ats_port;

/*
 * Turns the SA's records into the wanted ones; one per port
 * @send: registers ats_slot.sent, or deletes the slot's record. If it returns 0,
 *	ats_engine_answer() is called once, possibly before it returns
 * @read: reads back all records of a set. If it returns 0, ats_engine_read_record() is called
 *	for each record, and then ats_engine_read_end()
 */
struct ats_engine {
	int (*send)(struct ats_engine *engine, struct ats_set *set, unsigned int slot);
	int (*read)(struct ats_engine *engine, struct ats_set *set);
	struct list_head sets;
	bool online;			/* there is an SA that can be queried */
	unsigned int in_flight;
	unsigned int trouble;		/* times in a row that the SA was away or busy */
	unsigned long quiet_until;	/* jiffies; valid if trouble is not 0 */
	u64 count[IB_ATS_COUNTER_PAD];	/* by enum ib_ats_counter: counters of the port */
};

/* An address of a netdevice, and its state as it was last reported to others */
struct ats_local {
	struct list_head list;		/* in ats_port.locals, or of a scan */
	struct hlist_node node;		/* in ats_port.by_ip */
	u64 net_cookie;			/* of the namespace that the netdevice is in */
	int ifindex;			/* in that namespace */
	const struct device *parent;	/* of the netdevice, or NULL; not used after the scan */
	u32 dev_port;			/* port of its HCA; 0: only its GID determines the port */
	struct ats_key key;
	struct in6_addr ip;
	u64 choice;			/* number of the administrator's choice; 0: it is none */
	struct ats_set *set;		/* valid if held is not NULL */
	struct ats_addr *held;		/* in its set; NULL: the quota or memory is exhausted */
	bool told;			/* the following members are valid and were reported */
	bool chosen;			/* it was chosen to be the primary one, and is */
	int slot;			/* -1: none */
	enum ib_ats_record_state state;
	unsigned long since;		/* jiffies when it entered that state */
	u16 refusal;			/* the SA's status, if it is refused */
	unsigned int round;		/* the audit that last looked for a rival */
	union ib_gid rival;		/* GID of another host that has it, too; or zero */
};

/* A request to the SA. The caller of ats_sa_post() fills in the first members; the rest is zero */
struct ats_request {
	u8 method;
	bool is_path;			/* .record has a path instead, which is shorter */
	u64 mask;			/* ComponentMask */
	struct ats_wire_record record;
	unsigned int timeout_ms;	/* 0: the usual one */
	struct ats_set *set;
	unsigned int slot;
	struct ats_query *query;
	void (*done)(struct ats_port *port, struct ats_request *request, enum ats_result result);
	/* Owned by ats_sa.c */
	struct llist_node node;		/* in ats_sa.done */
	struct ib_mad_send_buf *mad;
	struct ib_mad_recv_wc *answer;
	u32 sm_lid;			/* where it goes to, and the answer comes from */
	u8 lmc;
	enum ib_wc_status status;
};

/* The connection of a port to its SA */
struct ats_sa {
	struct ib_mad_agent *agent;
	struct llist_head done;		/* requests that have ended, the last one first */
	/* Owned by the port's work */
	bool found;			/* the SM's address is known */
	unsigned long look_at;		/* jiffies when the HCA is asked for it, if it is not */
	struct rdma_ah_attr sm;
	u8 lmc;				/* of the subnet: the SA may answer from several LIDs */
	u32 tid;			/* of the last request; the first one is random */
};

/* Bits of ats_port.events */
enum ats_event {
	ATS_EVENT_FORGET,		/* the SA may have lost all records */
	ATS_EVENT_SM,			/* the SM's address may have changed */
	ATS_EVENT_AUDIT,		/* read everything back */
	ATS_EVENT_HURRY,		/* some queries need not wait any longer */
	ATS_EVENT_LEAVE,		/* no record is wanted any more */
	ATS_EVENT_STOP,			/* and nothing may be sent any more */
};

/* Progress of an audit, which sends one request at a time; owned by ats_audit.c */
struct ats_audit {
	unsigned long at;		/* jiffies when the next regular one is due */
	unsigned long last;		/* jiffies when the last one began */
	unsigned long wait_until;	/* jiffies; after a request that failed */
	bool ready;			/* the addresses are known: other records are leftovers */
	bool wished;			/* one was requested */
	bool busy;			/* a request is under way */
	bool stale;			/* its answer does not apply to the SA any more */
	bool table;			/* the address being checked has several records */
	int gid_index;			/* the port's GID whose leftovers are requested next */
	unsigned int round;		/* then addresses with another round are checked */
	struct ats_key key;		/* of the GID or address being asked about */
	struct in6_addr ip;
	union ib_gid rival;		/* as ats_local.rival */
};

/*
 * struct ats_port - a port of an HCA
 * @mutex: guards all members after it; held by the work while it runs
 */
struct ats_port {
	struct list_head list;		/* owned by ats_hca.c */
	struct ib_device *ibdev;
	u32 port;
	u64 host_cookie;		/* of the namespace that the HCA is in */
	struct ib_event_handler event_handler;
	unsigned long events;		/* atomic bits, enum ats_event */
	struct workqueue_struct *wq;
	struct delayed_work work;
	struct completion idle;		/* nothing wanted, nothing registered */

	struct mutex mutex;		/* guards what follows */
	struct ats_engine engine;
	struct ats_sa sa;
	struct ats_audit audit;
	struct list_head locals;
	DECLARE_HASHTABLE(by_ip, 12);	/* the same, by their address */
	u32 hash_seed;			/* of that table: guests choose their addresses */
	struct list_head queries[2];	/* to be sent, in this order; [true]: those of users */
	struct list_head queries_sent;	/* under way */
	struct list_head retries;	/* to be sent again after a while */
	unsigned long queries_at;	/* jiffies; not after the first waiting one is due */
	unsigned int queries_in_flight[2];
	bool dirty;			/* the records need another look */
	unsigned long records_at;	/* jiffies when they need one in any case */
	bool leaving;
	bool stopped;
};

/* A question, and the answers of its ports; owned by ats_ask.c */
struct ats_ask {
	struct work_struct work;	/* passes it to the ports, then calls back */
	struct ib_ats_question question;
	struct in6_addr addr;		/* that of the question, in the form that records have */
	bool user;			/* from user space */
	bool put;			/* it was passed to the ports */
	unsigned long id;
	ib_ats_done done;
	void *context;
	unsigned long deadline;		/* jiffies */
	int err;			/* -ENOMEM: for a query or an answer */
	refcount_t pending;		/* queries, plus one while it is passed to the ports */
	/* Guarded by a lock of ats_ask.c */
	struct list_head open;		/* queries that have not ended */
	int worst;			/* error of those that have ended */
	bool cancelled;
	struct mutex lock;		/* guards what follows */
	struct ib_ats_answer *answers;
	unsigned int count;
	unsigned int room;
};

/* The query that one port sends for a question; owned by ats_query.c */
struct ats_query {
	struct list_head list;		/* in a list of ats_port */
	struct list_head part;		/* in ats_ask.open */
	struct ats_ask *ask;
	struct ats_port *port;		/* valid until the query has ended */
	void (*ended)(struct ats_query *query, int err);	/* called by the port's work */
	u64 guest;			/* cookie of the namespace that asks; 0: may see all */
	struct ats_request *request;	/* valid in ats_port.queries_sent */
	unsigned int tries;
	unsigned long look_at;		/* jiffies when it is due, or repeated */
	bool table;			/* there is more than one record */
	union ib_gid own;		/* of the port, if the subject may be a GID */
	bool mapped;			/* the address is queried as ::ffff:a.b.c.d */
	bool path;			/* no record: a path is queried instead */
	bool nobody;			/* there was no SA at the address that was queried */
	bool sent;			/* the SA was queried at least once */
	bool found;			/* it has added answers */
	int err;
};

/* Makes the work of a port run; any context */
static inline void ats_port_kick(struct ats_port *port)
{
	mod_delayed_work(port->wq, &port->work, 0);
}

/*
 * Makes the work of a port handle an event; any context. After ATS_EVENT_LEAVE,
 * ats_port.idle is completed when all records are deleted.
 */
static inline void ats_port_event(struct ats_port *port, enum ats_event event)
{
	set_bit(event, &port->events);
	ats_port_kick(port);
}

static inline bool ats_key_same(const struct ats_key *a, const struct ats_key *b)
{
	return a->pkey == b->pkey && !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static inline unsigned long ats_earlier(unsigned long a, unsigned long b)
{
	return time_before(a, b) ? a : b;
}

/* ats_record.c: Service IDs and records on the wire */
u64 ats_slot_sid(unsigned int slot);
int ats_sid_slot(u64 sid);
bool ats_addr_is_ipv4(const struct in6_addr *addr);
void ats_addr_from_mapped(struct in6_addr *addr);
void ats_addr_to_mapped(struct in6_addr *addr);
void ats_record_init(struct ats_wire_record *wire, const struct ats_key *key);
void ats_record_encode(struct ats_wire_record *wire, const struct ats_record *record);
int ats_record_decode(struct ats_record *record, const struct ats_wire_record *wire);
void ats_record_answer(const struct ats_record *record, const struct ats_port *port,
		       struct ib_ats_answer *answer);
int ats_table_each(const struct ib_mad_recv_wc *answer,
		   void (*each)(void *context, const struct ats_record *record), void *context);

/* ats_set.c: the addresses of one GID and P_Key */
struct ats_set *ats_set_create(const struct ats_key *key);
void ats_set_destroy(struct ats_set *set);
struct ats_addr *ats_set_find(const struct ats_set *set, const struct in6_addr *ip);
struct ats_addr *ats_set_get(struct ats_set *set, const struct in6_addr *ip, bool host);
void ats_set_put(struct ats_addr *addr, bool host, unsigned long until);
void ats_set_expire(struct ats_set *set, unsigned long now, unsigned long *next);
unsigned int ats_set_assign(struct ats_set *set);

/* ats_reconcile.c: turns the SA's records into the wanted ones */
struct ats_set *ats_engine_find(struct ats_engine *engine, const struct ats_key *key);
unsigned long ats_engine_run(struct ats_engine *engine, unsigned long now);
void ats_engine_answer(struct ats_engine *engine, struct ats_set *set, unsigned int slot,
		       enum ats_result result, unsigned long now);
void ats_engine_read_record(void *of, const struct ats_record *record);
void ats_engine_read_end(struct ats_engine *engine, struct ats_set *set,
			 enum ats_result result, unsigned long now);
void ats_engine_forget(struct ats_engine *engine, unsigned long now);
void ats_engine_verify(struct ats_engine *engine);
void ats_engine_renew(struct ats_engine *engine);
bool ats_set_settled(const struct ats_set *set);
enum ib_ats_record_state ats_set_state(const struct ats_set *set, const struct ats_addr *addr);
void ats_engine_reap(struct ats_engine *engine);

/* ats_sa.c: MADs to the SA of a port */
int ats_sa_start(struct ats_port *port);
void ats_sa_lose_sm(struct ats_port *port);
bool ats_sa_find_sm(struct ats_port *port);
struct ats_request *ats_sa_post(struct ats_port *port, const struct ats_request *from);
void ats_sa_finish(struct ats_port *port);

/* ats_port.c: the state of a port, owned by its work */
struct ats_port *ats_port_create(struct ib_device *ibdev, u32 port);
void ats_port_destroy(struct ats_port *port);

/* ats_audit.c: finds records that the SA should not have */
void ats_audit_init(struct ats_port *port);
void ats_audit_contact(struct ats_port *port, unsigned long now);
void ats_audit_run(struct ats_port *port, unsigned long now, unsigned long *next);

/* ats_local.c: addresses of netdevices on a port, and what they permit */
u64 ats_local_guest(const struct ats_port *port, const struct net *net);
bool ats_local_in_partition(const struct ats_port *port, u64 guest, u16 pkey);
bool ats_local_on_port(struct ats_port *port, u64 guest, u16 pkey);
struct ats_set *ats_local_set(struct ats_port *port, const struct ats_key *key);
void ats_local_update(struct ats_port *port, struct list_head *locals);
void ats_local_drop_all(struct ats_port *port);
void ats_local_free(struct list_head *locals);

/* ats_view.c: shows the addresses of a port to others, and notifies them of changes */
/* Called for an address whose record has changed, with port->mutex held; may sleep */
extern void (*ats_view_notify_user)(const struct ats_port *port, const struct ats_local *local);
void ats_view_update(struct ats_port *port);
void ats_view_tell(struct ats_port *port, const struct ats_local *local);
extern atomic_t ats_view_version;
void ats_view_record(const struct ats_port *port, const struct ats_local *local,
		     struct ib_ats_answer *record);
enum ib_ats_sa_state ats_view_sa(const struct ats_port *port);

/* ats_query.c: queries of a port */
void ats_query_submit(struct ats_query *query);
void ats_query_init(struct ats_port *port);
void ats_query_run(struct ats_port *port, bool hurry, unsigned long now, unsigned long *next);

/* ats_ask.c: questions; also functions of include/ib_ats.h */
int ats_ask_init(void);
void ats_ask_exit(void);
int ats_ask(const struct ib_ats_question *question, gfp_t gfp, bool user, ib_ats_done done,
	    void *context, u64 *id);
void ats_ask_cancel(u64 id);

/* ats_netdev.c: follows the netdevices and their addresses */
int ats_netdev_init(void (*to)(struct list_head *locals));
void ats_netdev_exit(void);
void ats_netdev_rescan(void);
int ats_netdev_choose(struct net *net, int ifindex, const struct in6_addr *ip);
bool ats_netdev_has_gid(const union ib_gid *gid);

/* ats_netlink.c: the interface for user space */
int ats_netlink_init(void);
void ats_netlink_exit(void);

/* ats_hca.c: HCAs, and the port that a netdevice is on */
int ats_hca_init(void);
void ats_hca_exit(unsigned long until);
void ats_hcas_leave(unsigned long until);
int ats_each_port(struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg);
void ats_route(struct list_head *locals);

/* ats_param.c: the module's parameters */
extern unsigned int ats_max_in_flight;
extern unsigned int ats_max_queries;
extern unsigned int ats_max_user_queries;
extern unsigned int ats_netns_records;
extern bool ats_foreign_partitions;
extern unsigned int ats_linger_ms;
extern unsigned int ats_audit_interval;
extern unsigned int ats_lease;
extern unsigned int ats_sa_timeout_ms;

#endif /* _ATS_H */
