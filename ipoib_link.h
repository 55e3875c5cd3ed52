/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The link of a netdevice: whether it can carry packets, and what may have changed that.
 */
#ifndef _IPOIB_LINK_H
#define _IPOIB_LINK_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "ipoib_reason.h"

struct ipoib_dev;
struct ipoib_group_params;

/* See ipoib_link.c for the transitions */
enum ipoib_link_state {
	IPOIB_LINK_DOWN,		/* administratively down */
	IPOIB_LINK_WAIT_PORT,		/* port not ACTIVE, P_Key missing, or QP not running */
	IPOIB_LINK_WAIT_JOIN,		/* the broadcast group is being joined */
	IPOIB_LINK_RUNNING,		/* the broadcast group is joined: the carrier is on */
};

/* What the link's work has to do: bits of ipoib_link.events */
enum ipoib_link_event {
	IPOIB_EVENT_CHECK,		/* the port, P_Key or admin state may have changed */
	IPOIB_EVENT_LIGHT,		/* query paths again, keep their AHs */
	IPOIB_EVENT_NORMAL,		/* discard and rebuild paths and groups */
	IPOIB_EVENT_HEAVY,		/* also reset the QP */
	IPOIB_EVENT_ADDRESS,		/* the port GID may have changed */
};

struct ipoib_link {
	spinlock_t lock;		/* guards state and carrier together; innermost */
	enum ipoib_link_state state;
	unsigned long events;		/* atomic bits */
	bool is_down;			/* the work has found ipoib_dev.admin_up false */
	enum ipoib_reason reason;	/* why there is no carrier; written on the control path */
	struct delayed_work work;
	/* Called on the control path when the broadcast group has been joined, and when a join
	 * has failed
	 */
	void (*joined)(struct ipoib_dev *priv, const struct ipoib_group_params *params);
	void (*not_joined)(struct ipoib_dev *priv, enum ipoib_reason reason);
};

/* ipoib_work.c */
void ipoib_link_event(struct ipoib_dev *priv, enum ipoib_link_event event);
void ipoib_link_look_later(struct ipoib_dev *priv, unsigned long delay);

/* ipoib_link.c */
void ipoib_link_carrier(struct ipoib_dev *priv);
void ipoib_link_set_guid(struct ipoib_dev *priv, __be64 guid);
void ipoib_link_flush(struct ipoib_dev *priv);
void ipoib_link_init(struct ipoib_dev *priv);
void ipoib_link_destroy(struct ipoib_dev *priv);

#endif /* _IPOIB_LINK_H */
