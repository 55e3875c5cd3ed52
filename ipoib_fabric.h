/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The services that the driver needs from the fabric that a port is connected to.
 */
#ifndef _IPOIB_FABRIC_H
#define _IPOIB_FABRIC_H

#include "ipoib_groups.h"
#include "ipoib_path.h"
#include "ipoib_port.h"

/*
 * Fabric services: the operations that depend on the kind of fabric (InfiniBand
 * or RoCE). Every function that takes a device is called on the device's ordered
 * workqueue and may sleep, except @speed, which is called with rtnl held.
 *
 * @partitions:	whether the fabric has P_Keys besides the default one
 * @routes_late: whether @join is answered before packets to a new group are forwarded
 * @start:	prepare a port, before its first netdevice is created; may sleep
 * @stop:	undo @start, after the port's last netdevice is gone; may sleep
 * @reports_void: the fabric may have lost the subscriptions that @report made. Called in
 *		any context but hard interrupt. NULL if @report is NULL
 * @port_ready:	return IPOIB_REASON_NONE if the port can carry packets now, else the reason why
 *		not. In either case, store the port's GID if it differs from the one passed in
 * @speed:	get the port's speed in Mbit/s; rtnl held
 * @join:	request the membership that the group's role needs. If this returns 0,
 *		ipoib_group_answer() is called, possibly before @join returns. It is
 *		called again with -ENETRESET when the fabric revokes the membership.
 *		-EAGAIN: an earlier membership is still being given up
 * @leave:	give up the membership or cancel the request for it. No answer is
 *		delivered after this returns
 * @is_joined:	whether this port is already a member of a group, through any user
 * @group_attr:	fill in the AH attributes for sending to a joined group; the caller
 *		destroys them with rdma_destroy_ah_attr()
 * @report:	select the reports that are delivered by ipoib_group_report(). After
 *		IPOIB_REPORTS_NONE neither a report nor the answer to @list is delivered.
 *		@report and @list are NULL if the fabric keeps no record of groups
 * @list:	request the list of all groups of the P_Key. If this returns 0,
 *		ipoib_groups_listed() is called once
 * @resolve:	query a path. If this returns 0, ipoib_path_answer() is called once
 * @cancel:	have an outstanding path query answered soon, with an error
 * @heard_attr:	fill in the AH attributes, with a GRH, for sending to a GID that a packet
 *		came from. NULL if received packets do not identify their sender. The
 *		caller destroys the attributes with rdma_destroy_ah_attr()
 */
struct ipoib_fabric_ops {
	bool partitions;
	bool routes_late;
	int (*start)(struct ipoib_port *port);
	void (*stop)(struct ipoib_port *port);
	void (*reports_void)(struct ipoib_port *port);
	enum ipoib_reason (*port_ready)(struct ipoib_dev *priv, union ib_gid *gid);
	int (*speed)(struct ipoib_dev *priv, u32 *mbps);
	int (*join)(struct ipoib_group *group);
	void (*leave)(struct ipoib_group *group);
	bool (*is_joined)(struct ipoib_dev *priv, union ib_gid *mgid);
	int (*group_attr)(struct ipoib_group *group, struct rdma_ah_attr *attr);
	void (*report)(struct ipoib_dev *priv, enum ipoib_reports reports);
	int (*list)(struct ipoib_dev *priv);
	int (*resolve)(struct ipoib_path_query *query);
	void (*cancel)(struct ipoib_path_query *query);
	int (*heard_attr)(struct ipoib_dev *priv, const union ib_gid *gid,
			  const struct ipoib_heard *heard, struct rdma_ah_attr *attr);
};

/* ipoib_sa.c: fabric services on InfiniBand ports */
extern const struct ipoib_fabric_ops ipoib_sa_ops;
void ipoib_sa_init(void);
void ipoib_sa_exit(void);

/* ipoib_roce.c: fabric services on RoCE ports */
extern const struct ipoib_fabric_ops ipoib_roce_ops;
bool ipoib_roce_wants(const struct ib_device *ibdev, u32 port);
int ipoib_roce_init(void);
void ipoib_roce_exit(void);

#endif /* _IPOIB_FABRIC_H */
