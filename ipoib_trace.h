/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints of packets, paths, groups and the link. See
 * Documentation/reference.rst.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ipoib

#if !defined(_IPOIB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _IPOIB_TRACE_H

#include <linux/tracepoint.h>

#include "ipoib.h"

TRACE_DEFINE_ENUM(IPOIB_LINK_DOWN);
TRACE_DEFINE_ENUM(IPOIB_LINK_WAIT_PORT);
TRACE_DEFINE_ENUM(IPOIB_LINK_WAIT_JOIN);
TRACE_DEFINE_ENUM(IPOIB_LINK_RUNNING);

#define show_link_state(state)						\
	__print_symbolic(state,						\
			 { IPOIB_LINK_DOWN, "DOWN" },			\
			 { IPOIB_LINK_WAIT_PORT, "WAIT_PORT" },		\
			 { IPOIB_LINK_WAIT_JOIN, "WAIT_JOIN" },		\
			 { IPOIB_LINK_RUNNING, "RUNNING" })

TRACE_DEFINE_ENUM(IPOIB_EVENT_CHECK);
TRACE_DEFINE_ENUM(IPOIB_EVENT_LIGHT);
TRACE_DEFINE_ENUM(IPOIB_EVENT_NORMAL);
TRACE_DEFINE_ENUM(IPOIB_EVENT_HEAVY);
TRACE_DEFINE_ENUM(IPOIB_EVENT_ADDRESS);

#define show_link_events(events)					\
	__print_flags(events, "|",					\
		      { BIT(IPOIB_EVENT_CHECK), "check" },		\
		      { BIT(IPOIB_EVENT_LIGHT), "light" },		\
		      { BIT(IPOIB_EVENT_NORMAL), "normal" },		\
		      { BIT(IPOIB_EVENT_HEAVY), "heavy" },		\
		      { BIT(IPOIB_EVENT_ADDRESS), "address" })

TRACE_DEFINE_ENUM(IPOIB_GROUP_SEND_ONLY);
TRACE_DEFINE_ENUM(IPOIB_GROUP_ROUTER);
TRACE_DEFINE_ENUM(IPOIB_GROUP_MEMBER);
TRACE_DEFINE_ENUM(IPOIB_GROUP_BROADCAST);

#define show_group_role(role)						\
	__print_symbolic(role,						\
			 { IPOIB_GROUP_SEND_ONLY, "send-only" },	\
			 { IPOIB_GROUP_ROUTER, "router" },		\
			 { IPOIB_GROUP_MEMBER, "member" },		\
			 { IPOIB_GROUP_BROADCAST, "broadcast" })

TRACE_DEFINE_ENUM(IPOIB_CONN_REQUESTED);
TRACE_DEFINE_ENUM(IPOIB_CONN_WANTED);
TRACE_DEFINE_ENUM(IPOIB_CONN_ASKED);
TRACE_DEFINE_ENUM(IPOIB_CONN_LIVE);
TRACE_DEFINE_ENUM(IPOIB_CONN_DRAINING);
TRACE_DEFINE_ENUM(IPOIB_CONN_GONE);

#define show_conn_state(state)						\
	__print_symbolic(state,						\
			 { IPOIB_CONN_REQUESTED, "REQUESTED" },		\
			 { IPOIB_CONN_WANTED, "WANTED" },		\
			 { IPOIB_CONN_ASKED, "ASKED" },			\
			 { IPOIB_CONN_LIVE, "LIVE" },			\
			 { IPOIB_CONN_DRAINING, "DRAINING" },		\
			 { IPOIB_CONN_GONE, "GONE" })

/* A packet is put on the send ring; hwaddr is its destination */
TRACE_EVENT(ipoib_tx,
	    TP_PROTO(const struct ipoib_txq *tx, const struct sk_buff *skb,
		     const struct ipoib_hwaddr *hwaddr),
	    TP_ARGS(tx, skb, hwaddr),
	    TP_STRUCT__entry(__string(name, tx->priv->netdev->name)
			__field(const void *, skbaddr)
			__field(u32, queue)
			__field(u32, slot)
			__field(u32, len)
			__field(u32, qpn)
			__array(u8, gid, 16)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, tx->priv->netdev->name);
			__entry->skbaddr = skb;
			__entry->queue = tx->index;
			__entry->slot = tx->sq.head;
			__entry->len = skb->len;
			__entry->qpn = ipoib_hwaddr_qpn(hwaddr);
			memcpy(__entry->gid, hwaddr->gid, sizeof(__entry->gid));
	    ),
	    TP_printk("%s skbaddr=%p queue=%u slot=%u len=%u qpn=%u gid=%pI6", __get_str(name),
		      __entry->skbaddr, __entry->queue, __entry->slot, __entry->len,
		      __entry->qpn, __entry->gid)
);

TRACE_EVENT(ipoib_tx_complete,
	    TP_PROTO(const struct ipoib_txq *tx, u32 slot, enum ib_wc_status status),
	    TP_ARGS(tx, slot, status),
	    TP_STRUCT__entry(__string(name, tx->priv->netdev->name)
			__field(u32, queue)
			__field(u32, slot)
			__field(u32, status)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, tx->priv->netdev->name);
			__entry->queue = tx->index;
			__entry->slot = slot;
			__entry->status = status;
	    ),
	    TP_printk("%s queue=%u slot=%u status=%u", __get_str(name), __entry->queue,
		      __entry->slot, __entry->status)
);

TRACE_EVENT(ipoib_rx,
	    TP_PROTO(const struct ipoib_dev *priv, const struct ib_wc *wc),
	    TP_ARGS(priv, wc),
	    TP_STRUCT__entry(__string(name, priv->netdev->name)
			__field(u64, slot)
			__field(u32, status)
			__field(u32, len)
			__field(u32, src_qp)
			__field(u16, slid)
			__field(u8, sl)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, priv->netdev->name);
			__entry->slot = wc->wr_id;
			__entry->status = wc->status;
			__entry->len = wc->byte_len;
			__entry->src_qp = wc->src_qp;
			__entry->slid = wc->slid;
			__entry->sl = wc->sl;
	    ),
	    TP_printk("%s slot=%llu status=%u len=%u src_qp=%u slid=%u sl=%u", __get_str(name),
		      __entry->slot, __entry->status, __entry->len, __entry->src_qp,
		      __entry->slid, __entry->sl)
);

/* A path was queried (err is -EINPROGRESS), resolved (0), or could not be resolved (an error) */
TRACE_EVENT(ipoib_path_state,
	    TP_PROTO(const struct ipoib_dev *priv, const struct ipoib_path *path, int err),
	    TP_ARGS(priv, path, err),
	    TP_STRUCT__entry(__string(name, priv->netdev->name)
			__array(u8, gid, 16)
			__field(bool, usable)
			__field(u8, failures)
			__field(int, err)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, priv->netdev->name);
			memcpy(__entry->gid, path->dest.gid.raw, sizeof(__entry->gid));
			__entry->usable = rcu_access_pointer(path->dest.ah);
			__entry->failures = path->dest.failures;
			__entry->err = err;
	    ),
	    TP_printk("%s gid=%pI6 usable=%d failures=%u err=%d", __get_str(name), __entry->gid,
		      __entry->usable, __entry->failures, __entry->err)
);

/* A group is being joined (err is -EINPROGRESS), was joined (0), or could not be (an error) */
TRACE_EVENT(ipoib_group_state,
	    TP_PROTO(const struct ipoib_group *group, int err),
	    TP_ARGS(group, err),
	    TP_STRUCT__entry(__string(name, group->priv->netdev->name)
			__array(u8, mgid, 16)
			__field(u32, role)
			__field(bool, usable)
			__field(u16, mlid)
			__field(u8, failures)
			__field(int, err)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, group->priv->netdev->name);
			memcpy(__entry->mgid, group->dest.gid.raw, sizeof(__entry->mgid));
			__entry->role = group->role;
			__entry->usable = rcu_access_pointer(group->dest.ah);
			__entry->mlid = group->params.mlid;
			__entry->failures = group->dest.failures;
			__entry->err = err;
	    ),
	    TP_printk("%s mgid=%pI6 role=%s usable=%d mlid=0x%04x failures=%u err=%d",
		      __get_str(name), __entry->mgid, show_group_role(__entry->role),
		      __entry->usable, __entry->mlid, __entry->failures, __entry->err)
);

/* The fabric reported that a group of this link was created or deleted */
TRACE_EVENT(ipoib_group_report,
	    TP_PROTO(const struct ipoib_dev *priv, const union ib_gid *mgid, bool exists),
	    TP_ARGS(priv, mgid, exists),
	    TP_STRUCT__entry(__string(name, priv->netdev->name)
			__array(u8, mgid, 16)
			__field(bool, exists)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, priv->netdev->name);
			memcpy(__entry->mgid, mgid->raw, sizeof(__entry->mgid));
			__entry->exists = exists;
	    ),
	    TP_printk("%s mgid=%pI6 %s", __get_str(name), __entry->mgid,
		      __entry->exists ? "created" : "deleted")
);

/* The fabric accepted a subscription to reports (err is 0) or refused it */
TRACE_EVENT(ipoib_subscription,
	    TP_PROTO(const struct ipoib_dev *priv, int err),
	    TP_ARGS(priv, err),
	    TP_STRUCT__entry(__string(name, priv->netdev->name)
			__field(int, err)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, priv->netdev->name);
			__entry->err = err;
	    ),
	    TP_printk("%s err=%d", __get_str(name), __entry->err)
);

TRACE_EVENT(ipoib_port_event,
	    TP_PROTO(const struct ipoib_port *port, enum ib_event_type event),
	    TP_ARGS(port, event),
	    TP_STRUCT__entry(__string(name, dev_name(&port->ibdev->dev))
			__string(event, ib_event_msg(event))
			__field(u32, port)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, dev_name(&port->ibdev->dev));
			COMPAT_ASSIGN_STR(event, ib_event_msg(event));
			__entry->port = port->number;
	    ),
	    TP_printk("%s port=%u event=%s", __get_str(name), __entry->port, __get_str(event))
);

/* A connection's state changes. Its netdevice, which may be gone, has the UD QP of that number. */
TRACE_EVENT(ipoib_conn_state,
	    TP_PROTO(const struct ipoib_conn *conn, enum ipoib_conn_state to),
	    TP_ARGS(conn, to),
	    TP_STRUCT__entry(__string(name, dev_name(&conn->conns->ibdev->dev))
			__array(u8, gid, 16)
			__field(u64, service)
			__field(u32, ud_qpn)
			__field(u32, peer_qpn)
			__field(u32, from)
			__field(u32, to)
			__field(u32, refusal)
			__field(bool, opened)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, dev_name(&conn->conns->ibdev->dev));
			memcpy(__entry->gid, conn->peer.gid, sizeof(__entry->gid));
			__entry->service = be64_to_cpu(conn->service_id);
			__entry->ud_qpn = conn->qpn;
			__entry->peer_qpn = ipoib_hwaddr_qpn(&conn->peer);
			__entry->from = conn->state;
			__entry->to = to;
			__entry->refusal = conn->refusal;
			__entry->opened = conn->opened;
	    ),
	    TP_printk("%s ud_qpn=%u peer_qpn=%u gid=%pI6 service=%#llx opened=%d %s -> %s refusal=%u",
		      __get_str(name), __entry->ud_qpn, __entry->peer_qpn, __entry->gid,
		      __entry->service, __entry->opened, show_conn_state(__entry->from),
		      show_conn_state(__entry->to), __entry->refusal)
);

/* The link's work ran: the events it was queued for, and the state that it found */
TRACE_EVENT(ipoib_flush,
	    TP_PROTO(const struct ipoib_dev *priv, unsigned long events, bool active, bool pkey),
	    TP_ARGS(priv, events, active, pkey),
	    TP_STRUCT__entry(__string(name, priv->netdev->name)
			__field(unsigned long, events)
			__field(bool, active)
			__field(bool, pkey)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, priv->netdev->name);
			__entry->events = events;
			__entry->active = active;
			__entry->pkey = pkey;
	    ),
	    TP_printk("%s events=%s port_active=%d pkey_present=%d", __get_str(name),
		      show_link_events(__entry->events), __entry->active, __entry->pkey)
);

TRACE_EVENT(ipoib_link_state,
	    TP_PROTO(const struct ipoib_dev *priv, enum ipoib_link_state to),
	    TP_ARGS(priv, to),
	    TP_STRUCT__entry(__string(name, priv->netdev->name)
			__field(u32, from)
			__field(u32, to)
	    ),
	    TP_fast_assign(COMPAT_ASSIGN_STR(name, priv->netdev->name);
			__entry->from = priv->link.state;
			__entry->to = to;
	    ),
	    TP_printk("%s %s -> %s", __get_str(name), show_link_state(__entry->from),
		      show_link_state(__entry->to))
);

#endif /* _IPOIB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE ipoib_trace
#include <trace/define_trace.h>
