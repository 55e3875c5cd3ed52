/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the driver needs from the kind of fabric that a port is on.
 */
#ifndef _IPOIB_FABRIC_H
#define _IPOIB_FABRIC_H

#include "ipoib_groups.h"
#include "ipoib_path.h"
#include "ipoib_port.h"

/*
 * Fabric services: all that the driver needs from the kind of fabric that its
 * port is on. Every function that is given a device is called from its ordered
 * workqueue, but for speed (rtnl held), and may sleep.
 *
 * @partitions:	there are P_Keys besides the default one
 * @start:	a port that has no netdevice yet; may sleep
 * @stop:	a port that has none any more; may sleep
 * @reports_void: what was asked for by @report may have been forgotten; NULL where
 *		@report is. Any context but hard interrupt
 * @port_ready:	0 if packets can pass the port now; in any case its GID is filled
 *		in if there is another one than the caller knows
 * @speed:	the port's, in Mbit/s; rtnl held
 * @join:	ask for membership as the group's role says; on 0, answered by
 *		ipoib_group_answer(), possibly before it returns and, when the
 *		fabric takes the membership back, again later (-ENETRESET). -EAGAIN:
 *		an earlier membership is still being given up
 * @leave:	give the membership up, or the request for it; no answer comes
 *		after its return
 * @is_joined:	whether somebody on this port is a member of a group already
 * @group_attr:	fill in the AH attributes to send to a joined group; the caller
 *		destroys them with rdma_destroy_ah_attr()
 * @report:	choose which news come by ipoib_group_report(); after
 *		IPOIB_REPORTS_NONE none do, nor does the answer to @list. NULL, as
 *		@list is then, where the fabric keeps no record of groups
 * @list:	ask for all groups of the P_Key; on 0, answered once by
 *		ipoib_groups_listed()
 * @resolve:	ask for a path; on 0, answered once by ipoib_path_answer()
 * @cancel:	have an unanswered query answered soon, with an error
 * @heard_attr:	fill in the AH attributes to answer a packet of the GID's, with a GRH;
 *		NULL if packets do not tell. The caller destroys them with
 *		rdma_destroy_ah_attr()
 */
struct ipoib_fabric_ops {
	bool partitions;
	int (*start)(struct ipoib_port *port);
	void (*stop)(struct ipoib_port *port);
	void (*reports_void)(struct ipoib_port *port);
	int (*port_ready)(struct ipoib_dev *priv, union ib_gid *gid);
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
