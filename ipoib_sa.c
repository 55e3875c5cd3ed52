// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabric services on InfiniBand ports: group memberships and paths are requested
 * from the subnet administrator, by means of ib_sa.
 */
#include <linux/ethtool.h>

#include "ipoib.h"
#include "ipoib_trace.h"

/* Timeout of a path query. ib_sa sends it up to ten times within this time. */
#define SA_PATH_TIMEOUT_MS	4000

/* Bits of JoinState (IBA 15.2.5.17) */
#define SA_JOIN_FULL_MEMBER	BIT(FULLMEMBER_JOIN)
#define SA_JOIN_NON_MEMBER	BIT(NONMEMBER_JOIN)
#define SA_JOIN_SEND_ONLY	BIT(SENDONLY_NONMEBER_JOIN)
#define SA_JOIN_SEND_ONLY_FULL	BIT(SENDONLY_FULLMEMBER_JOIN)

/* Memberships that create a group and keep it alive, and memberships that do not */
#define SA_JOIN_KEEPING		(SA_JOIN_FULL_MEMBER | SA_JOIN_SEND_ONLY_FULL)
#define SA_JOIN_FLEETING	(SA_JOIN_NON_MEMBER | SA_JOIN_SEND_ONLY)

/* This driver as a client of ib_sa. The module cannot be unloaded while queries are outstanding,
 * because unregistering the client waits for them.
 */
static struct ib_sa_client sa_client;

static const ib_sa_comp_mask sa_join_mask =
	IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
	IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_JOIN_STATE;

/* Further components that a join must contain if it may have to create the group */
static const ib_sa_comp_mask sa_create_mask =
	IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_MTU_SELECTOR |
	IB_SA_MCMEMBER_REC_MTU | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
	IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE |
	IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL |
	IB_SA_MCMEMBER_REC_HOP_LIMIT;

static const ib_sa_comp_mask sa_path_mask =
	IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_NUMB_PATH |
	IB_SA_PATH_REC_TRAFFIC_CLASS | IB_SA_PATH_REC_PKEY;

/* If the port was not ACTIVE at the last event, the HCA is asked again for each netdevice that
 * waits for it: a port reports no event when it goes from DOWN to INIT or back.
 */
static enum ipoib_reason sa_port_ready(struct ipoib_dev *priv, union ib_gid *gid)
{
	if (rdma_query_gid(priv->ibdev, priv->port->number, 0, gid))
		return IPOIB_REASON_NO_GID;
	if (ipoib_port_state(priv->port) == IB_PORT_ACTIVE)
		return IPOIB_REASON_NONE;
	return READ_ONCE(priv->admin_up) ? ipoib_reason_of_idle(priv) : IPOIB_REASON_PORT_DOWN;
}

/* Speed of one lane in Mbit/s, as ethtool expects it, by the number of the bit that is set in
 * LinkSpeedActive and its extensions (IBA 14.2.5.6)
 */
static const int lane_speeds[] = {
	SPEED_2500,	/* SDR */
	SPEED_5000,	/* DDR */
	SPEED_10000,	/* QDR */
	SPEED_10000,	/* FDR10 */
	SPEED_14000,	/* FDR */
	SPEED_25000,	/* EDR */
	SPEED_50000,	/* HDR */
	SPEED_100000,	/* NDR */
	SPEED_200000,	/* XDR */
};

static int lane_mbps(u16 active_speed)
{
	int bit = ffs(active_speed) - 1;

	if (!is_power_of_2(active_speed) || bit >= ARRAY_SIZE(lane_speeds))
		return SPEED_UNKNOWN;
	return lane_speeds[bit];
}

static int sa_speed(struct ipoib_dev *priv, u32 *mbps)
{
	struct ib_port_attr attr;
	int lane, lanes, err;

	err = ib_query_port(priv->ibdev, priv->port->number, &attr);
	if (err)
		return err;
	lane = lane_mbps(attr.active_speed);
	lanes = ib_width_enum_to_int(attr.active_width);
	*mbps = lane == SPEED_UNKNOWN || lanes < 1 ? SPEED_UNKNOWN : lane * lanes;
	return 0;
}

static void sa_params_from_rec(const struct ib_sa_mcmember_rec *rec,
			       struct ipoib_group_params *params)
{
	params->qkey = be32_to_cpu(rec->qkey);
	params->flow_label = be32_to_cpu(rec->flow_label);
	params->mlid = be16_to_cpu(rec->mlid);
	params->mtu = rec->mtu;
	params->rate = rec->rate;
	params->sl = rec->sl;
	params->traffic_class = rec->traffic_class;
	params->hop_limit = rec->hop_limit;
}

static void sa_rec_from_params(const struct ipoib_group_params *params,
			       struct ib_sa_mcmember_rec *rec)
{
	rec->qkey = cpu_to_be32(params->qkey);
	rec->flow_label = cpu_to_be32(params->flow_label);
	rec->mlid = cpu_to_be16(params->mlid);
	rec->mtu_selector = IB_SA_EQ;
	rec->mtu = params->mtu;
	rec->rate_selector = IB_SA_EQ;
	rec->rate = params->rate;
	rec->sl = params->sl;
	rec->traffic_class = params->traffic_class;
	rec->hop_limit = params->hop_limit;
}

/* The last code that is defined, 1600 Gbit/s. Older kernels do not know all of them. */
#define SA_RATE_LAST	25

static bool sa_rate_valid(u8 rate)
{
	return rate >= IB_RATE_2_5_GBPS && rate <= SA_RATE_LAST;
}

/* Returns the rate to pass to the HCA. For a code that the kernel does not know, the behaviour of
 * the HCA's driver is undefined. The rate is higher than all that it knows then, so the port need
 * not be slowed down.
 */
static u8 sa_static_rate(u8 rate)
{
	return ib_rate_to_mbps(rate) > 0 ? rate : IB_RATE_PORT_CURRENT;
}

/* Returns whether the record is about this group and its parameters are possible. The size of
 * buffers depends on the MTU, the rate is passed to the HCA, and packets are sent to the MLID. All
 * values that fit into the record's SL, flow label and the like are valid. Any Q_Key is valid: if
 * its highest bit is set, the HCA uses the QP's Q_Key instead (IBA 10.2.5), which is the group's,
 * and a QP of the kernel may have such a Q_Key.
 */
static bool sa_params_valid(const struct ipoib_group *group, const struct ib_sa_mcmember_rec *rec,
			    const struct ipoib_group_params *params)
{
	const struct ipoib_dev *priv = group->priv;

	return !memcmp(&rec->mgid, &group->dest.gid, sizeof(rec->mgid)) &&
	       params->mtu >= IB_MTU_256 && params->mtu <= priv->port->max_mtu &&
	       sa_rate_valid(params->rate) &&
	       params->mlid >= be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       params->mlid != be16_to_cpu(IB_LID_PERMISSIVE);
}

static void sa_warn_of_params(const struct ipoib_group *group, const union ib_gid *mgid,
			      const struct ipoib_group_params *params)
{
	if (net_ratelimit())
		netdev_warn(group->priv->netdev,
			    "the SA's group %pI6 cannot be: MGID %pI6, MTU code %u (at most %u), rate code %u, MLID %#x\n",
			    group->dest.gid.raw, mgid->raw, params->mtu, group->priv->port->max_mtu,
			    params->rate, params->mlid);
}

static int sa_joined(int status, struct ib_sa_multicast *membership)
{
	struct ipoib_group *group = membership->context;
	struct ipoib_group_params params;

	sa_params_from_rec(&membership->rec, &params);
	if (!status && !sa_params_valid(group, &membership->rec, &params)) {
		sa_warn_of_params(group, &membership->rec.mgid, &params);
		status = -EPROTO;
	}
	params.fleeting = !(membership->rec.join_state & SA_JOIN_KEEPING);
	ipoib_group_answer(group, status, &params);
	/* With 0, ib_sa leaves it to sa_leave() to free the membership, also after an error */
	return 0;
}

static bool has_pkey(struct ipoib_dev *other, const void *pkey)
{
	return other->pkey == *(const u16 *)pkey;
}

/* Returns whether other interfaces of the port may be members of the group, too. To the SA, they
 * and this one are one member. OpenSM keeps a group, with its MLID, for ever whose last member
 * leaves it as a FullMember, and is still a SendOnlyFullMember. Hence all are FullMembers then.
 */
static bool sa_shares_member(const struct ipoib_group *group)
{
	return ipoib_port_any_other(group->priv, has_pkey, &group->priv->pkey);
}

/*
 * Returns the kind of membership to request. A SendOnlyFullMember keeps its group,
 * and thus the MLID that it sends to, alive when the last listener leaves. A
 * SendOnlyNonMember does not, and might continue to send to an MLID that has been
 * assigned to another group. Older SAs only support the second kind, so after each
 * refusal the respective other kind is requested. A timeout is no refusal: a busy SA
 * has thousands of hosts wait. A router receives as a NonMember (RFC 4392), in order
 * not to keep groups alive that have no listeners. It may also receive from groups
 * that it sends to.
 */
static u8 sa_join_state(const struct ipoib_group *group)
{
	if (group->role == IPOIB_GROUP_ROUTER)
		return SA_JOIN_NON_MEMBER;
	if (group->role != IPOIB_GROUP_SEND_ONLY || (!group->refused && sa_shares_member(group)))
		return SA_JOIN_FULL_MEMBER;
	if (ipoib_groups_routing(group->priv))
		return SA_JOIN_NON_MEMBER | (group->refused ? 0 : SA_JOIN_SEND_ONLY_FULL);
	return group->refused ? SA_JOIN_SEND_ONLY : SA_JOIN_SEND_ONLY_FULL;
}

/* Fills in the record of a join, and returns its component mask. A group is created with the
 * broadcast group's parameters (RFC 4391 section 5). The broadcast group itself has to be created
 * by the administrator of the fabric.
 */
static ib_sa_comp_mask sa_join_rec(struct ipoib_group *group, struct ib_sa_mcmember_rec *rec)
{
	struct ipoib_dev *priv = group->priv;

	rec->mgid = group->dest.gid;
	rec->port_gid = priv->local_gid;
	rec->pkey = cpu_to_be16(priv->pkey);
	rec->join_state = sa_join_state(group);
	if (group->role == IPOIB_GROUP_BROADCAST || !(rec->join_state & SA_JOIN_KEEPING))
		return sa_join_mask;
	sa_rec_from_params(ipoib_groups_link_params(priv), rec);
	return sa_join_mask | sa_create_mask;
}

/* Returns whether an earlier membership of the same kind is still being given up. While the port
 * has such a membership, ib_core answers a join itself, without the SA. If the group was deleted in
 * the meantime, the answer would contain the old MLID. The only other users in the kernel that
 * request memberships of these kinds are this driver's further netdevices with the same P_Key.
 * While one of these is a member, its MLID is the current one.
 */
static bool sa_is_leaving(struct ipoib_group *group, u8 join_state)
{
	struct ipoib_dev *priv = group->priv;
	struct ib_sa_mcmember_rec rec;

	return !ib_sa_get_mcmember_rec(priv->ibdev, priv->port->number, &group->dest.gid, &rec) &&
	       (rec.join_state & join_state & SA_JOIN_FLEETING) &&
	       !ipoib_group_is_of_sibling(priv, &group->dest.gid);
}

static int sa_join(struct ipoib_group *group)
{
	struct ipoib_dev *priv = group->priv;
	struct ib_sa_mcmember_rec rec = {};
	struct ib_sa_multicast *membership;
	ib_sa_comp_mask mask;

	mask = sa_join_rec(group, &rec);
	if (sa_is_leaving(group, rec.join_state))
		return -EAGAIN;
	membership = ib_sa_join_multicast(&sa_client, priv->ibdev, priv->port->number, &rec,
					  mask, GFP_KERNEL, sa_joined, group);
	if (IS_ERR(membership))
		return PTR_ERR(membership);
	group->membership = membership;
	return 0;
}

static void sa_leave(struct ipoib_group *group)
{
	ib_sa_free_multicast(group->membership);
}

static bool sa_is_joined(struct ipoib_dev *priv, union ib_gid *mgid)
{
	struct ib_sa_mcmember_rec rec;

	return !ib_sa_get_mcmember_rec(priv->ibdev, priv->port->number, mgid, &rec);
}

static int sa_group_attr(struct ipoib_group *group, struct rdma_ah_attr *attr)
{
	struct ipoib_dev *priv = group->priv;
	struct ib_sa_mcmember_rec rec = {
		.mgid = group->dest.gid,
		.port_gid = priv->local_gid,
	};

	sa_rec_from_params(&group->params, &rec);
	rec.rate = sa_static_rate(rec.rate);
	return ib_init_ah_from_mcmember(priv->ibdev, priv->port->number, &rec, NULL, IB_GID_TYPE_IB,
					attr);
}

/* Returns whether a path record is usable. The rest of a truncated answer reads as zeroes. An AH
 * without a unicast LID would lose all packets for as long as the path is in use. An AH with the
 * LID of another GID would send them to the wrong host. For an invalid rate code, the behaviour of
 * the HCA is undefined.
 */
static bool sa_path_rec_valid(const struct ipoib_path_query *query, struct sa_path_rec *rec)
{
	u32 dlid = be32_to_cpu(sa_path_get_dlid(rec));

	return !memcmp(&rec->dgid, &query->path->dest.gid, sizeof(rec->dgid)) && dlid &&
	       (sa_path_is_opa(rec) || dlid < be16_to_cpu(IB_MULTICAST_LID_BASE)) &&
	       sa_rate_valid(rec->rate);
}

static void sa_warn_of_path(const struct ipoib_path_query *query, struct sa_path_rec *rec)
{
	if (net_ratelimit())
		netdev_warn(query->priv->netdev,
			    "the SA's path to %pI6 cannot be: to %pI6, LID %#x, rate code %u\n",
			    query->path->dest.gid.raw, rec->dgid.raw,
			    be32_to_cpu(sa_path_get_dlid(rec)), rec->rate);
}

/* Adds a GRH to a GID of this subnet. A hop limit of 0 or 1 keeps the packet in the subnet (IBA
 * 8.3.6). As in a PathRecord, 0 means that the GRH is not required. A port that shares its LID with
 * others uses 1, which tells the receiver that replies need a GRH.
 */
static int sa_add_grh(struct ipoib_dev *priv, const union ib_gid *gid, u32 flow_label,
		      u8 traffic_class, struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr;
	union ib_gid dgid = *gid;

	sgid_attr = rdma_find_gid_by_port(priv->ibdev, &priv->local_gid, IB_GID_TYPE_IB,
					  priv->port->number, NULL);
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	rdma_move_grh_sgid_attr(attr, &dgid, flow_label,
				rdma_is_grh_required(priv->ibdev, priv->port->number) ? 1 : 0,
				traffic_class, sgid_attr);
	return 0;
}

/* Makes AH attributes from a path record, and adds a GRH if one of the ports needs it. ib_core adds
 * a GRH only if the record has a hop limit. OpenSM sets the hop limit only for other subnets: it
 * knows virtual ports as alias GUIDs, but not that packets without a GRH do not reach them. Whether
 * our own port needs a GRH is known from its attributes, and for a peer's port from its packets. A
 * GRH that the SA has asked for is left alone.
 */
static int sa_path_attr(struct ipoib_dev *priv, const struct ipoib_path *path,
			struct sa_path_rec *rec, struct rdma_ah_attr *attr)
{
	int err;

	rec->rate = sa_static_rate(rec->rate);
	err = ib_init_ah_attr_from_path(priv->ibdev, priv->port->number, rec, attr, NULL);
	if (err || sa_path_is_opa(rec) || rdma_ah_get_ah_flags(attr) & IB_AH_GRH)
		return err;
	if (!READ_ONCE(path->needs_grh) && !rdma_is_grh_required(priv->ibdev, priv->port->number))
		return 0;
	return sa_add_grh(priv, &path->dest.gid, be32_to_cpu(rec->flow_label), rec->traffic_class,
			  attr);
}

static void sa_resolved(int status, struct sa_path_rec *rec, compat_sa_count_t count,
			void *context)
{
	struct ipoib_path_query *query = context;
	struct ipoib_dev *priv = query->priv;

	if (!status && !sa_path_rec_valid(query, rec)) {
		sa_warn_of_path(query, rec);
		status = -EPROTO;
	}
	if (!status) {
		query->mtu = rec->mtu;
		status = sa_path_attr(priv, query->path, rec, &query->attr);
	}
	ipoib_path_answer(query, status);
}

static int sa_resolve(struct ipoib_path_query *query)
{
	struct ipoib_dev *priv = query->priv;
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.dgid = query->path->dest.gid,
		.sgid = priv->local_gid,
		.numb_path = 1,
		.pkey = cpu_to_be16(priv->pkey),
		.traffic_class = ipoib_groups_link_params(priv)->traffic_class,
	};
	struct ib_sa_query *handle;
	int id;

	id = ib_sa_path_rec_get(&sa_client, priv->ibdev, priv->port->number, &rec, sa_path_mask,
				SA_PATH_TIMEOUT_MS, GFP_KERNEL, sa_resolved, query, &handle);
	if (id < 0)
		return id;
	query->handle = handle;
	query->handle_id = id;
	return 0;
}

static void sa_cancel(struct ipoib_path_query *query)
{
	ib_sa_cancel_query(query->handle_id, query->handle);
}

/* Makes the attributes of a stopgap, which is used until the SA's answer comes. Only the SA knows
 * the rate of the path, and the broadcast group's rate would limit each flow to the slowest member,
 * so the port's own rate is used. The GRH distinguishes ports that share a LID. It also proves our
 * GID to the peer, which can then use a stopgap for its replies as well.
 */
static int sa_heard_attr(struct ipoib_dev *priv, const union ib_gid *gid,
			 const struct ipoib_heard *heard, struct rdma_ah_attr *attr)
{
	if (rdma_cap_opa_ah(priv->ibdev, priv->port->number))
		return -EOPNOTSUPP;
	*attr = (struct rdma_ah_attr) { .type = RDMA_AH_ATTR_TYPE_IB };
	rdma_ah_set_port_num(attr, priv->port->number);
	rdma_ah_set_dlid(attr, heard->lid);
	rdma_ah_set_sl(attr, heard->sl);
	rdma_ah_set_static_rate(attr, IB_RATE_PORT_CURRENT);
	return sa_add_grh(priv, gid, 0, 0, attr);
}

const struct ipoib_fabric_ops ipoib_sa_ops = {
	.partitions = true,
	.routes_late = true,
	.start = ipoib_inform_start,
	.stop = ipoib_inform_stop,
	.reports_void = ipoib_inform_void,
	.port_ready = sa_port_ready,
	.speed = sa_speed,
	.join = sa_join,
	.leave = sa_leave,
	.is_joined = sa_is_joined,
	.group_attr = sa_group_attr,
	.report = ipoib_inform_report,
	.list = ipoib_inform_list,
	.resolve = sa_resolve,
	.cancel = sa_cancel,
	.heard_attr = sa_heard_attr,
};

/**
 * ipoib_sa_init() - register as a client of ib_sa
 *
 * Context: may sleep.
 */
void ipoib_sa_init(void)
{
	ib_sa_register_client(&sa_client);
}

/**
 * ipoib_sa_exit() - unregister as a client of ib_sa
 *
 * Context: may sleep until all queries are finished; no netdevice is left.
 */
void ipoib_sa_exit(void)
{
	ib_sa_unregister_client(&sa_client);
}
