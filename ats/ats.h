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
 * is queued again by the answer, or by its own timer. It holds ats_port.mutex while it
 * runs, so that others can read what is the port's.
 *
 * Lock order: rtnl, then ats_hca.c's mutex, then ats_port.mutex, then ats_netlink.c's
 * mutex, then spinlocks: ats_ask.lock, ats_port.lock, ats_netdev.c's.
 */
#ifndef _ATS_H
#define _ATS_H

#include <linux/completion.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "ats_wire.h"
#include "ib_ats.h"

/* The full-member bit of a P_Key */
#define ATS_PKEY_FULL		0x8000

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
	unsigned int host_refs;		/* of these, those of the HCA's own namespace */
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
	ATS_RESULT_BUSY,		/* not now; or it could not be sent */
	ATS_RESULT_NOBODY,		/* there is no SA where one was asked */
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
	u16 refusal;			/* the SA's status in the last of them */
	bool renew;			/* a lease is to be begun again */
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

struct ats_engine;
struct ats_port;
struct genl_family;
struct genl_info;

/**
 * struct ats_engine_ops - how the engine reaches an SA
 * @send: register ats_slot.sent, or delete the slot's record; on 0 answered once by
 *	ats_engine_answer(), possibly before it returns
 * @read: read back all records of a set; on 0 answered by ats_engine_read_record() for
 *	each and ats_engine_read_end()
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
	u64 count[IB_ATS_COUNTER_PAD];	/* by enum ib_ats_counter: what the port did */
};

/* An address of a netdevice, and what others were last told of it */
struct ats_local {
	struct in6_addr ip;
	bool held;			/* in its set; else a quota or want of memory forbids */
	bool told;			/* what follows is true of it, and was told */
	bool chosen;			/* to be the primary one, and is */
	bool has_rival;
	int slot;			/* -1: none */
	enum ib_ats_record_state state;
	unsigned long since;		/* jiffies; in that state */
	u16 refusal;			/* the SA's status, if it is refused */
	unsigned int round;		/* the audit that last looked for a rival */
	union ib_gid rival;		/* another host's that has the address, too */
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
	unsigned int chosen_at;		/* of ats_port.choices */
	unsigned int count;
	struct ats_local local[];
};

/* Called for an address of a port; other than 0 ends that */
typedef int (*ats_view_visit)(struct ats_port *port, const struct ats_source *source,
			      const struct ats_local *local, void *arg);

/* Called for an address of a port whose record has changed; by the port's work, may sleep */
typedef void (*ats_view_listener)(const struct ats_port *port, const struct ats_source *source,
				  const struct ats_local *local);

/*
 * Brings what a netdevice has to the port that it is on: ats_route(). @parent is its
 * parent device or NULL, @dev_port the number of its port or 0.
 */
typedef void (*ats_netdev_route)(struct device *parent, u32 dev_port, struct ats_source *source,
				 u64 *port_id);

struct ats_sa;

/* A MAD to the SA and its answer */
struct ats_request {
	struct list_head list;		/* in ats_sa.done */
	struct ib_mad_send_buf *mad;
	struct ib_mad_recv_wc *answer;
	enum ib_wc_status status;
	struct ats_sm *sm;
	unsigned int timeout_ms;	/* the user's, as is what follows; 0: the usual one */
	const struct ats_wire_path *path;	/* a path is asked for; NULL: records */
	struct ats_set *set;
	unsigned int slot;
	struct ats_query *query;
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
	ATS_EVENT_HURRY,		/* some queries need wait no longer */
	ATS_EVENT_LEAVE,		/* nothing is wanted any more */
	ATS_EVENT_STOP,			/* and nothing may be sent any more */
};

/* What an audit has still to look for, one request at a time; ats_audit.c's */
struct ats_audit {
	unsigned long at;		/* jiffies; when the next is due */
	unsigned long last;		/* jiffies; when one began */
	unsigned long wait_until;	/* jiffies; after a request that failed */
	bool busy;			/* a request is under way */
	bool stale;			/* whose answer says nothing about the SA of now */
	bool table;			/* of the rival's address there is more than one record */
	int gid_index;			/* leftovers of that GID of the port come next */
	unsigned int round;		/* addresses of an earlier one come after them */
	struct ats_key key;		/* whose rivals are being looked for */
	struct in6_addr ip;
	bool has_rival;
	union ib_gid rival;
};

/*
 * struct ats_port - a port of an HCA
 * @lock: guards inbox and inquiries
 * @mutex: guards all from there on; held by the work while it runs
 */
struct ats_port {
	struct ib_device *ibdev;
	u32 port;
	u64 id;				/* of all ports that ever were */
	u64 host_cookie;		/* of the namespace that the HCA is in */
	struct ib_event_handler event_handler;
	unsigned long events;		/* atomic bits, enum ats_event */
	spinlock_t lock;
	struct list_head inbox;
	struct list_head inquiries;
	struct workqueue_struct *wq;
	struct delayed_work work;
	wait_queue_head_t idle_wait;
	bool idle;			/* nothing wanted, nothing registered */

	struct mutex mutex;		/* guards what follows, for whoever reads it */
	struct ats_engine engine;
	struct ats_sa sa;
	struct ats_audit audit;
	struct list_head sources;
	unsigned int choices;		/* of primary addresses, made so far */
	struct list_head queries[2];	/* to be sent, in this order; [true]: users' */
	struct list_head queries_sent;	/* under way */
	struct list_head retries;	/* to be sent again after a while */
	unsigned long queries_at;	/* jiffies; no later than one that waits is due */
	unsigned int queries_in_flight[2];
	bool dirty;			/* records are to be looked at */
	unsigned long records_at;	/* jiffies; if not before */
	bool leaving;
	bool stopped;
};

/* A question, and what its ports say; ats_ask.c's */
struct ats_ask {
	struct work_struct work;	/* puts it to the ports, then calls back */
	struct kref refs;
	struct ib_ats_question question;
	bool user;			/* it is a user's */
	bool put;			/* to the ports */
	struct hlist_node hash;		/* in ats_ask.c's table */
	u64 id;
	ib_ats_done done;
	void *context;
	unsigned long deadline;		/* jiffies */
	int err;			/* of putting it */
	struct completion ended_all;	/* it has called back */
	spinlock_t lock;		/* guards what follows */
	unsigned int pending;		/* queries, and one while it is being put */
	struct list_head open;		/* queries that have not ended */
	struct list_head ended;
	bool found;			/* one of them did */
	bool cancelled;
};

/* What one port is asked of a question; ats_query.c's */
struct ats_query {
	struct list_head list;		/* in a list of ats_port */
	struct list_head part;		/* in ats_ask.open or .ended */
	struct ats_ask *ask;
	struct ats_port *port;		/* there until the query has ended */
	void (*ended)(struct ats_query *query);	/* the port's work calls it */
	u64 net_cookie;			/* of the guest it is for; 0: may see all */
	struct ats_request *request;	/* under way */
	unsigned int tries;
	unsigned long retry_at;		/* jiffies; if it is in ats_port.retries */
	bool table;			/* there is more than one record */
	bool mapped;			/* the address is asked for as ::ffff:a.b.c.d */
	bool path;			/* nobody registered it: is it the GID of a port? */
	bool nobody;			/* no SA was where one was asked */
	bool sent;			/* the SA was asked at least once */
	int err;
	struct ib_ats_answer *answers;
	unsigned int count;
	unsigned int room;
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
void ats_record_answer(const struct ats_record *record, const struct ats_port *port,
		       struct ib_ats_answer *answer);

/* ats_set.c: the addresses of one GID and P_Key */
struct ats_set *ats_set_create(const struct ats_key *key);
void ats_set_destroy(struct ats_set *set);
struct ats_addr *ats_set_find(const struct ats_set *set, const struct in6_addr *ip);
int ats_set_get(struct ats_set *set, const struct in6_addr *ip, bool host);
void ats_set_put(struct ats_set *set, const struct in6_addr *ip, bool host, unsigned long until);
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
void ats_engine_renew(struct ats_engine *engine);
bool ats_set_settled(const struct ats_set *set);
enum ib_ats_record_state ats_set_state(const struct ats_set *set, const struct ats_addr *addr);
void ats_engine_reap(struct ats_engine *engine);

/* ats_sa.c: MADs to the SA of a port */
int ats_sa_start(struct ats_sa *sa, struct ib_device *ibdev, u32 port,
		 void (*wake)(struct ats_sa *sa));
void ats_sa_stop(struct ats_sa *sa);
int ats_sa_find_sm(struct ats_sa *sa);
void ats_sa_forget_sm(struct ats_sa *sa);
void ats_sa_wake(struct ats_sa *sa);
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
void ats_port_hurry(struct ats_port *port);
void ats_port_audit(struct ats_port *port);
void ats_port_submit(struct ats_port *port, struct ats_source *source);

/* ats_audit.c: what the SA has that it should not have */
void ats_audit_init(struct ats_port *port);
void ats_audit_contact(struct ats_port *port, unsigned long now);
void ats_audit_wish(struct ats_port *port);
void ats_audit_run(struct ats_port *port, unsigned long now, unsigned long *next);

/* ats_source.c: what netdevices have on a port, and what that permits */
bool ats_source_is_guest(const struct ats_port *port, const struct net *net);
bool ats_source_in_partition(const struct ats_port *port, u64 net_cookie, u16 pkey);
bool ats_source_may_ask(struct ats_port *port, const struct net *net, u16 pkey);
struct ats_source *ats_source_find(struct list_head *sources, const void *owner);
void ats_source_find_leftover(struct ats_port *port, const struct ats_key *key);
void ats_source_replace(struct ats_port *port, struct ats_source *source);
void ats_source_drop_all(struct ats_port *port);

/* ats_view.c: what others see of a port, and are told of it */
void ats_view_listen(ats_view_listener tell);
void ats_view_update(struct ats_port *port);
void ats_view_tell(struct ats_port *port, const struct ats_source *source,
		   const struct ats_local *local);
void ats_view_tell_gone(struct ats_port *port, const struct ats_source *source);
unsigned int ats_view_version(void);
int ats_view_each(struct ats_port *port, u64 net_cookie, ats_view_visit visit, void *arg);
void ats_view_record(const struct ats_port *port, const struct ats_source *source,
		     const struct ats_local *local, struct ib_ats_answer *record);
enum ib_ats_sa_state ats_view_sa(const struct ats_port *port);

/* ats_query.c: questions put to a port */
struct ats_query *ats_query_create(struct ats_ask *ask, struct ats_port *port,
				   void (*ended)(struct ats_query *query));
void ats_query_submit(struct ats_query *query);
void ats_query_free(struct ats_query *query);
void ats_query_init(struct ats_port *port);
void ats_query_run(struct ats_port *port, bool hurry, unsigned long now, unsigned long *next);

/* ats_ask.c: questions; and include/ib_ats.h */
int ats_ask_init(void);
void ats_ask_exit(void);
int ats_ask(const struct ib_ats_question *question, gfp_t gfp, bool user, ib_ats_done done,
	    void *context, u64 *id);
void ats_ask_cancel(u64 id);
void ats_ask_flush_users(void);

/* ats_netdev.c: which addresses there are */
int ats_netdev_init(ats_netdev_route to);
void ats_netdev_stop(void);
void ats_netdev_exit(void);
void ats_netdev_rescan(void);
int ats_netdev_choose(struct net *net, int ifindex, const struct in6_addr *ip);
bool ats_netdev_has_gid(const union ib_gid *gid);

/* ats_netlink.c: user space sees records, and has a say */
int ats_netlink_init(void);
void ats_netlink_exit(void);

/* ats_nl_put.c: what messages to user space have in common */
int ats_nl_end(struct sk_buff *skb, void *hdr, bool failed);
bool ats_nl_put_port(struct sk_buff *skb, const char *device, u32 port);
bool ats_nl_put_record(struct sk_buff *skb, const struct ib_ats_answer *record);

/* ats_nl_resolve.c: user space asks */
int ats_nl_resolve(struct sk_buff *skb, struct genl_info *info);
int ats_nl_resolve_init(struct genl_family *family);
void ats_nl_resolve_exit(void);

/* ats_hca.c: HCAs, and which port a netdevice is on */
int ats_hca_init(void);
void ats_hca_exit(unsigned long until);
void ats_hcas_leave(void);
void ats_hcas_wait_idle(unsigned long until);
unsigned int ats_ports_version(void);
int ats_each_port(struct net *net, int (*act)(struct ats_port *port, void *arg), void *arg);
void ats_route(struct device *parent, u32 dev_port, struct ats_source *source, u64 *port_id);

/* ats_param.c: the module's parameters */
extern unsigned int ats_max_in_flight;
extern unsigned int ats_max_queries;
extern unsigned int ats_max_user_queries;
extern unsigned int ats_max_questions;
extern unsigned int ats_max_user_questions;
extern unsigned int ats_netns_records;
extern bool ats_foreign_partitions;
extern unsigned int ats_linger_ms;
extern unsigned int ats_audit_interval;
extern unsigned int ats_lease;
extern unsigned int ats_sa_timeout_ms;

#endif /* _ATS_H */
