/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports about multicast groups from the subnet administrator: the state of each interface.
 */
#ifndef _IPOIB_INFORM_H
#define _IPOIB_INFORM_H

#include <linux/list.h>
#include <rdma/ib_mad.h>

struct ipoib_dev;
struct ipoib_port;

/* Which reports about groups that other hosts create and delete a device receives */
enum ipoib_reports {
	IPOIB_REPORTS_NONE,
	IPOIB_REPORTS_DELETED,
	IPOIB_REPORTS_ALL,
};

/* A request to the SA */
struct ipoib_inform_request {
	struct ib_mad_send_buf *buf;	/* NULL if no request is outstanding */
	int status;			/* of the answer: 0 or a negative error */
	int count;			/* entries of mgids */
	union ib_gid *mgids;		/* list in the answer; kvfree() */
};

/* An interface that receives reports; guarded by the port's lock in ipoib_inform.c */
struct ipoib_watcher {
	struct list_head node;		/* in the port's list, if the interface wants reports */
	struct ipoib_dev *priv;
	enum ipoib_reports reports;
	bool told;			/* the interface knows that reports are delivered */
	bool list_wanted;
	struct ipoib_inform_request list;
};

/* ipoib_inform_mad.c: builds and parses the SA MADs about groups */
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
