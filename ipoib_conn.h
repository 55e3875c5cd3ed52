/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections of connected mode (RFC 4755).
 */
#ifndef _IPOIB_CONN_H
#define _IPOIB_CONN_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "ipoib_csq.h"
#include "ipoib_wire.h"

/* Connections that a port accepts, those that are being closed included */
#define IPOIB_CONNS_PORT_MAX	4096

/* Those that it accepts from one port: the virtual functions of an HCA may share its LIDs */
#define IPOIB_CONNS_PEER_MAX	128

/* Connections of a port that this driver has opened: they also need CQEs for what they send */
#define IPOIB_CONNS_OPENED_MAX	512

struct ipoib_dev;
struct ipoib_port;
struct ipoib_srq;
struct ipoib_srq_ring;

/* See ipoib_conn.c for the transitions */
enum ipoib_conn_state {
	IPOIB_CONN_REQUESTED,		/* a REQ was received, and there is no QP yet */
	IPOIB_CONN_WANTED,		/* a REQ is to be sent, and there is no QP yet */
	IPOIB_CONN_ASKED,		/* the REQ was sent */
	IPOIB_CONN_LIVE,		/* the QP receives, and may send as well */
	IPOIB_CONN_DRAINING,		/* the QP is in the error state, and returns its WRs */
	IPOIB_CONN_GONE,		/* only a peer's entry refers to it */
};

/* What has happened to a connection: bits of ipoib_conn.events. They are never cleared. */
enum ipoib_conn_event {
	IPOIB_CONN_CLOSE,		/* it is to be closed */
	IPOIB_CONN_LAST_WQE,		/* its QP takes no more receive WRs of the SRQ */
	IPOIB_CONN_DRAINED,		/* all its completions have been polled */
	IPOIB_CONN_REPLIED,		/* a REP was received */
	IPOIB_CONN_BROKEN,		/* a packet was not acknowledged */
	IPOIB_CONN_PARTED,		/* the peer knows that it is closed, or cannot be told */
	IPOIB_CONN_HEARD,		/* the peer that has opened it has got the reply */
};

/* The connections of a port */
struct ipoib_conns {
	struct ib_device *ibdev;
	u32 port;			/* its number */
	u32 lid;			/* its LID, as of ipoib_conns_relocate() */
	struct workqueue_struct *wq;	/* ordered; runs every change of a connection */
	spinlock_t lock;		/* guards list, and ipoib_conn.priv against changes */
	struct list_head list;		/* ipoib_conn.node */
	atomic_t alive;			/* connections that are not gone yet */
	wait_queue_head_t gone;		/* woken when none is left */
	struct mutex srq_mutex;		/* guards srq for those that are not on wq; rtnl nests
					 * outside
					 */
	struct ipoib_srq *srq;		/* NULL before the first REQ; written on wq */
	struct work_struct srq_work;	/* runs on wq when srq has failed */
	bool hca_died;			/* QPs may not be drained any more; never cleared */
};

struct ipoib_conn {
	/* read for every packet */
	struct ipoib_dev __rcu *priv;	/* NULL when its netdevice has let go of it */
	struct ipoib_hwaddr peer;	/* the peer's link-layer address, without flags */
	unsigned long used;		/* jiffies of the last packet */
	struct ipoib_csq sq;		/* unused if a peer has opened the connection */
	u32 send_max;			/* octets of the longest message for the peer; valid when
					 * sq is open
					 */
	bool unsummed;			/* packets may come without checksums; written before the
					 * QP is connected
					 */

	struct ipoib_conns *conns;
	struct list_head node;		/* in ipoib_conns.list */
	const struct net *net;		/* namespace of its netdevice; only compared */
	enum ib_qp_type type;		/* RC or UC; does not change */
	enum ipoib_conn_state state;	/* written on ipoib_conns.wq */
	unsigned long events;		/* atomic bits, see ipoib_conn_event() */
	unsigned long until;		/* jiffies when a peer that does not answer is given up, or
					 * an HCA that does not flush
					 */
	unsigned long live_since;	/* jiffies */
	bool marked;			/* a WR was posted whose CQE is the QP's last one */
	bool started;			/* the QP was connected: it may have completions */
	bool opened;			/* this driver has opened it; does not change */
	bool lived;			/* it was established, as far as is known; written on
					 * ipoib_conns.wq
					 */
	bool proven;			/* it was established for some time; written when closed */
	u16 refusal;			/* reason of the peer's REJ; 0 if there was none */
	u32 qpn;			/* of the UD QP of the netdevice */
	u32 psn;			/* PSN of the first message */
	u32 receive_mtu;		/* of the peer, in octets with the encapsulation header */
	u32 receive_least;		/* the Receive MTU that a peer must have for a request */
	u32 lid;			/* of the peer's port */
	u32 own_lid;			/* of this port, used by the peer; 0 if not known yet */
	__be64 service_id;		/* of the side that was asked */
	struct sa_path_rec path;	/* to the peer, if this driver has opened the connection */
	struct ib_cm_id *id;
	struct ib_qp *qp;		/* NULL if there is none yet, or not any more */
	struct ipoib_srq_ring *ring;	/* its receive WRs, if the HCA has no SRQ */
	u32 posted;			/* how many of them it has; written by the poll */
	struct delayed_work work;
	refcount_t refs;		/* one of ipoib_conns.list, one of the peer's entry */
	struct rcu_head rcu;
};

/* Reports an event to a connection's work. May be called in any context. */
static inline void ipoib_conn_event(struct ipoib_conn *conn, enum ipoib_conn_event event)
{
	if (!test_and_set_bit(event, &conn->events))
		mod_delayed_work(conn->conns->wq, &conn->work, 0);
}

/* Reports that the QP is in the error state. This is a failure unless the driver has moved it
 * there. May be called in any context.
 */
static inline void ipoib_conn_qp_failed(struct ipoib_conn *conn)
{
	if (READ_ONCE(conn->state) == IPOIB_CONN_LIVE)
		set_bit(IPOIB_CONN_BROKEN, &conn->events);
	ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
}

/* Notes that a packet was sent. Writes at most once per jiffy, so that the cache line stays shared
 * between CPUs.
 */
static inline void ipoib_conn_use(struct ipoib_conn *conn)
{
	unsigned long now = jiffies;

	if (READ_ONCE(conn->used) != now)
		WRITE_ONCE(conn->used, now);
}

/* Notes that a packet was received. The first one shows that the peer has got the reply. */
static inline void ipoib_conn_hear(struct ipoib_conn *conn)
{
	ipoib_conn_use(conn);
	if (unlikely(!test_bit(IPOIB_CONN_HEARD, &conn->events)))
		ipoib_conn_event(conn, IPOIB_CONN_HEARD);
}

/* Returns whether a connection has ended or is about to. How it has ended can be read then. */
static inline bool ipoib_conn_is_over(const struct ipoib_conn *conn)
{
	/* Pairs with conn_set_state() */
	return smp_load_acquire(&conn->state) >= IPOIB_CONN_DRAINING;
}

int ipoib_conns_make_srq(struct ipoib_conns *conns);
int ipoib_conns_create(struct ipoib_port *port);
void ipoib_conns_destroy(struct ipoib_port *port);
void ipoib_conns_hca_died(struct ipoib_port *port);
void ipoib_conns_detach(struct ipoib_dev *priv);
void ipoib_conns_relocate(struct ipoib_dev *priv);
bool ipoib_conns_may_open(const struct ipoib_dev *priv);
bool ipoib_conns_may_accept(const struct ipoib_dev *priv, u32 lid);
u32 ipoib_conns_buffers(const struct ipoib_dev *priv);
void ipoib_conns_walk(struct ipoib_dev *priv,
		      void (*show)(const struct ipoib_conn *conn, void *context), void *context);
struct ipoib_conn *ipoib_conn_alloc(void);
void ipoib_conn_reject(struct ib_cm_id *id, u32 qpn, enum ib_cm_rej_reason reason);
void ipoib_conn_enter(struct ipoib_conn *conn, struct ipoib_dev *priv, struct ib_cm_id *id);
struct ipoib_conn *ipoib_conn_request(struct ipoib_dev *priv, const struct ipoib_hwaddr *peer,
				      enum ib_qp_type type, u64 service,
				      const struct sa_path_rec *path);
void ipoib_conn_put(struct ipoib_conn *conn);
void ipoib_conn_give_up(struct ipoib_conn *conn);

#endif /* _IPOIB_CONN_H */
