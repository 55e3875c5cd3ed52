/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * News of groups from the subnet administrator: what an interface has of it.
 */
#ifndef _IPOIB_INFORM_H
#define _IPOIB_INFORM_H

#include <linux/list.h>
#include <rdma/ib_mad.h>

struct ipoib_dev;
struct ipoib_port;

/* Which news of groups that others make and delete a device is to be told */
enum ipoib_reports {
	IPOIB_REPORTS_NONE,
	IPOIB_REPORTS_DELETED,
	IPOIB_REPORTS_ALL,
};

/* A question to the SA */
struct ipoib_inform_request {
	struct ib_mad_send_buf *buf;	/* not NULL: under way */
	int status;			/* its answer's, as is the rest */
	int count;
	union ib_gid *mgids;		/* kvfree() */
};

/* An interface that is told news; guarded by the port's lock of ipoib_inform.c */
struct ipoib_watcher {
	struct list_head node;		/* among the port's, unless it wants no news */
	struct ipoib_dev *priv;
	enum ipoib_reports reports;
	bool told;			/* that they come */
	bool list_wanted;
	struct ipoib_inform_request list;
};

/* ipoib_inform_mad.c: what the SA's MADs about groups say */
void ipoib_inform_fill(struct ib_sa_mad *mad, u16 trap, bool subscribe);
void ipoib_list_fill(struct ib_sa_mad *mad, u16 pkey);
bool ipoib_report_parse(const struct ib_sa_mad *mad, union ib_gid *mgid, bool *exists);
union ib_gid *ipoib_list_parse(const struct ib_mad_recv_wc *wc, int *count);

/* ipoib_inform.c */
int ipoib_inform_start(struct ipoib_port *port);
void ipoib_inform_stop(struct ipoib_port *port);
void ipoib_inform_void(struct ipoib_port *port);
void ipoib_inform_report(struct ipoib_dev *priv, enum ipoib_reports reports);
int ipoib_inform_list(struct ipoib_dev *priv);

#endif /* _IPOIB_INFORM_H */
