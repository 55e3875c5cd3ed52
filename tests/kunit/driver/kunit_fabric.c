// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabric services for the suites. As the test says they keep the driver's
 * requests until the test answers them, answer at once, or refuse.
 */
#include "kunit.h"

static struct fabric *to_fabric(const struct ipoib_dev *priv)
{
	return container_of(priv->port->fabric, struct fabric, ops);
}

static int fabric_start(struct ipoib_port *port)
{
	atomic_inc(&container_of(port->fabric, struct fabric, ops)->started);
	return 0;
}

static void fabric_stop(struct ipoib_port *port)
{
	atomic_dec(&container_of(port->fabric, struct fabric, ops)->started);
}

static int fabric_join(struct ipoib_group *group)
{
	struct fabric *fabric = to_fabric(group->priv);

	atomic_inc(&fabric->joins);
	if (xchg(&fabric->again, false))
		return -EAGAIN;
	if (fabric->refusal)
		return fabric->refusal;
	group->membership = fabric;
	if (fabric->answers)
		ipoib_group_answer(group, fabric->status, &fabric->params);
	return 0;
}

static void fabric_leave(struct ipoib_group *group)
{
	atomic_inc(&to_fabric(group->priv)->leaves);
}

static bool fabric_is_joined(struct ipoib_dev *priv, union ib_gid *mgid)
{
	return to_fabric(priv)->taken;
}

static int fabric_group_attr(struct ipoib_group *group, struct rdma_ah_attr *attr)
{
	fabric_attr(attr, group->priv->port->number, group->params.mlid);
	return to_fabric(group->priv)->attr_error;
}

static void fabric_report(struct ipoib_dev *priv, enum ipoib_reports reports)
{
	WRITE_ONCE(to_fabric(priv)->reports, reports);
}

static int fabric_list(struct ipoib_dev *priv)
{
	struct fabric *fabric = to_fabric(priv);

	atomic_inc(&fabric->lists);
	return fabric->list_error;
}

static void answer_query(struct ipoib_path_query *query, int status)
{
	if (!status)
		fabric_attr(&query->attr, query->priv->port->number, query->path->dest.gid.raw[15]);
	ipoib_path_answer(query, status);
}

static int fabric_resolve(struct ipoib_path_query *query)
{
	struct fabric *fabric = to_fabric(query->priv);
	int i;

	atomic_inc(&fabric->resolves);
	if (fabric->refusal)
		return fabric->refusal;
	if (fabric->answers) {
		answer_query(query, fabric->status);
		return 0;
	}
	for (i = 0; i < FABRIC_LOG; i++) {
		if (fabric->queries[i])
			continue;
		WRITE_ONCE(fabric->queries[i], query);
		return 0;
	}
	return -EBUSY;
}

static int fabric_heard_attr(struct ipoib_dev *priv, const union ib_gid *gid,
			     const struct ipoib_heard *heard, struct rdma_ah_attr *attr)
{
	fabric_attr(attr, priv->port->number, heard->lid);
	rdma_ah_set_sl(attr, heard->sl);
	return to_fabric(priv)->attr_error;
}

static void late_work(struct work_struct *work)
{
	struct fabric *fabric = container_of(work, struct fabric, late.work);

	answer_query(fabric->late_query, 0);
}

static void fabric_cancel(struct ipoib_path_query *query)
{
	struct fabric *fabric = to_fabric(query->priv);
	int i;

	atomic_inc(&fabric->cancels);
	for (i = 0; i < FABRIC_LOG; i++)
		if (fabric->queries[i] == query)
			WRITE_ONCE(fabric->queries[i], NULL);
	if (!fabric->cancel_late) {
		answer_query(query, -EINTR);
		return;
	}
	fabric->late_query = query;
	schedule_delayed_work(&fabric->late, HZ / 20);
}

/**
 * fabric_attr() - fill in the attributes of an AH
 * @attr: filled in
 * @port: the port number
 * @dlid: the DLID
 *
 * Context: any.
 */
void fabric_attr(struct rdma_ah_attr *attr, u32 port, u16 dlid)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_port_num(attr, port);
	rdma_ah_set_dlid(attr, dlid);
	rdma_ah_set_sl(attr, 3);
}

/**
 * fabric_init() - set up a fabric that answers all requests at once, with success
 * @fabric: filled in
 *
 * Context: any.
 */
void fabric_init(struct fabric *fabric)
{
	*fabric = (struct fabric) {
		.answers = true,
		.params = { .qkey = 0xb1b, .mlid = 0xc000, .mtu = IB_MTU_2048 },
		.ops = {
			.partitions = true,
			.routes_late = true,
			.start = fabric_start,
			.stop = fabric_stop,
			.port_ready = ipoib_sa_ops.port_ready,
			.speed = ipoib_sa_ops.speed,
			.join = fabric_join,
			.leave = fabric_leave,
			.is_joined = fabric_is_joined,
			.group_attr = fabric_group_attr,
			.report = fabric_report,
			.list = fabric_list,
			.resolve = fabric_resolve,
			.cancel = fabric_cancel,
			.heard_attr = fabric_heard_attr,
		},
	};
	INIT_DELAYED_WORK(&fabric->late, late_work);
}

/**
 * fabric_answer() - answer an outstanding path query
 * @fabric: the fabric
 * @gid: the GID that the query is for
 * @status: the status of the answer
 *
 * Context: may sleep.
 * Return: false if there is no such query.
 */
bool fabric_answer(struct fabric *fabric, const union ib_gid *gid, int status)
{
	struct ipoib_path_query *query;
	int i;

	for (i = 0; i < FABRIC_LOG; i++) {
		query = READ_ONCE(fabric->queries[i]);
		if (!query || memcmp(&query->path->dest.gid, gid, sizeof(*gid)))
			continue;
		WRITE_ONCE(fabric->queries[i], NULL);
		answer_query(query, status);
		return true;
	}
	return false;
}

/**
 * fabric_pending() - count the outstanding path queries
 * @fabric: the fabric
 *
 * Context: any.
 * Return: their number.
 */
u32 fabric_pending(struct fabric *fabric)
{
	u32 n = 0;
	int i;

	for (i = 0; i < FABRIC_LOG; i++)
		n += !!READ_ONCE(fabric->queries[i]);
	return n;
}
