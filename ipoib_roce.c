// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabric services on RoCE ports, which have no subnet administrator.
 *
 * A RoCE v2 packet is a UDP packet whose IPv6 addresses are the GIDs. Hence a group
 * is joined by joining the IPv6 multicast group whose address equals the MGID, on the
 * port's Ethernet netdevice. Otherwise its packets would not be passed to the HCA's
 * driver, nor forwarded by switches with MLD snooping. A path is found by neighbour
 * discovery. The group parameters that an SA would provide are the same at all ports
 * by convention: they come from the module parameters and the Ethernet's MTU.
 *
 * The port's GID must be an IPv6 address of the Ethernet netdevice, because peers
 * cannot resolve other addresses. The default GID, which is made from the MAC
 * address, often is such an address, but not if link-local addresses are generated
 * in another way.
 */
#include <linux/ethtool.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "ipoib.h"

/* Timeout of neighbour discovery */
#define ROCE_PATH_TIMEOUT_MS	4000

/* The Q_Key that OpenSM assigns to the broadcast groups of IPoIB */
#define ROCE_QKEY_DEFAULT	0xb1b

static char *roce = "rxe";
module_param(roce, charp, 0444);
MODULE_PARM_DESC(roce, "RoCE ports for which an interface is created: off, rxe (default), or all");

static unsigned int roce_qkey = ROCE_QKEY_DEFAULT;
module_param(roce_qkey, uint, 0444);
MODULE_PARM_DESC(roce_qkey, "Q_Key of RoCE ports, the same on all hosts (default 0xb1b)");

static unsigned int roce_sl;
module_param(roce_sl, uint, 0444);
MODULE_PARM_DESC(roce_sl, "Service level, 0 to 7, of packets sent by RoCE ports (default 0)");

enum roce_mode {
	ROCE_OFF,
	ROCE_RXE,
	ROCE_ALL,
};

static const char * const roce_modes[] = {
	[ROCE_OFF] = "off",
	[ROCE_RXE] = "rxe",
	[ROCE_ALL] = "all",
};

static enum roce_mode roce_mode;

/* State of a RoCE port: ipoib_port.fabric_own */
struct roce_port {
	struct list_head node;		/* in roce_ports */
	struct ipoib_port *port;
	const struct net_device *ethernet;	/* only compared, as it is not held */
	bool running;			/* the Ethernet netdevice runs; control path only */
};

/* The membership of the Ethernet netdevice in a group */
struct roce_membership {
	struct list_head node;		/* in roce_memberships */
	struct list_head todo;		/* in roce_todo */
	struct ipoib_group *group;	/* NULL after the group has been left */
	struct net_device *ethernet;
	netdevice_tracker tracker;
	struct in6_addr address;
	bool listening;			/* used by roce_work only */
};

/* The RoCE part of a path query: ipoib_path_query.own */
struct roce_query {
	struct rdma_dev_addr addr;	/* its sgid_attr is held until the answer */
	struct ipoib_path_query *query;
};

/* Guards the lists and roce_membership.group. After the group has been set to NULL, no answer is
 * delivered. Taken with BHs disabled; ipoib_dests.lock and ipoib_port.lock nest inside.
 */
static DEFINE_SPINLOCK(roce_lock);
static LIST_HEAD(roce_ports);
static LIST_HEAD(roce_memberships);
static LIST_HEAD(roce_todo);

/* For IPv6 multicast memberships, which need rtnl: a device's workqueue must not wait for rtnl */
static struct workqueue_struct *roce_wq;

/* Returns the netdevice of a GID, with a reference, or NULL */
static struct net_device *ethernet_of(const struct ib_gid_attr *attr)
{
	struct net_device *ethernet;

	rcu_read_lock();
	ethernet = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ethernet))
		ethernet = NULL;
	dev_hold(ethernet);
	rcu_read_unlock();
	return ethernet;
}

/* Returns the GID table's entry of the device's GID, with a reference, or an ERR_PTR */
static const struct ib_gid_attr *local_attr(const struct ipoib_dev *priv)
{
	return rdma_find_gid_by_port(priv->ibdev, &priv->local_gid, IB_GID_TYPE_ROCE_UDP_ENCAP,
				     priv->port->number, NULL);
}

static struct net_device *local_ethernet(const struct ipoib_dev *priv)
{
	const struct ib_gid_attr *attr = local_attr(priv);
	struct net_device *ethernet;

	if (IS_ERR(attr))
		return NULL;
	ethernet = ethernet_of(attr);
	rdma_put_gid_attr(attr);
	return ethernet;
}

static void port_note_ethernet(struct roce_port *port, const struct net_device *ethernet)
{
	spin_lock_bh(&roce_lock);
	port->ethernet = ethernet;
	spin_unlock_bh(&roce_lock);
	port->running = netif_running(ethernet) && netif_carrier_ok(ethernet);
}

/* Returns whether the GID is an IPv6 address of its Ethernet netdevice. If so, notes the latter. */
static bool gid_is_usable(struct ipoib_dev *priv, const struct ib_gid_attr *attr)
{
	const struct in6_addr *address = (const struct in6_addr *)attr->gid.raw;
	struct net_device *ethernet;
	bool usable;

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP || ipv6_addr_v4mapped(address))
		return false;
	ethernet = ethernet_of(attr);
	if (!ethernet)
		return false;
	usable = ipv6_chk_addr_and_flags(dev_net(ethernet), address, ethernet, false, 0, 0);
	if (usable)
		port_note_ethernet(priv->port->fabric_own, ethernet);
	dev_put(ethernet);
	return usable;
}

/* Returns whether the current GID is still usable. It is not changed before, since peers know the
 * device by its GID.
 */
static bool gid_stays(struct ipoib_dev *priv)
{
	const struct ib_gid_attr *attr = local_attr(priv);
	bool stays;

	if (IS_ERR(attr))
		return false;
	stays = gid_is_usable(priv, attr);
	rdma_put_gid_attr(attr);
	return stays;
}

static int gid_choose(struct ipoib_dev *priv, union ib_gid *gid)
{
	const struct ib_gid_attr *attr;
	bool usable = false;
	int i;

	for (i = 0; !usable; i++) {
		attr = rdma_get_gid_attr(priv->ibdev, priv->port->number, i);
		if (PTR_ERR(attr) == -EINVAL)
			return -EADDRNOTAVAIL;	/* end of the table */
		if (IS_ERR(attr))
			continue;
		usable = gid_is_usable(priv, attr);
		if (usable)
			*gid = attr->gid;
		rdma_put_gid_attr(attr);
	}
	return 0;
}

/* Derives the port's state from the Ethernet netdevice. Querying the HCA's driver may take rtnl,
 * and ib_core's cache may be outdated, if two of its updates overlapped.
 */
static enum ipoib_reason roce_port_ready(struct ipoib_dev *priv, union ib_gid *gid)
{
	const struct roce_port *port = priv->port->fabric_own;

	if (!gid_stays(priv) && gid_choose(priv, gid))
		return IPOIB_REASON_NO_ADDRESS;
	return port->running ? IPOIB_REASON_NONE : IPOIB_REASON_ETHERNET_DOWN;
}

static int roce_speed(struct ipoib_dev *priv, u32 *mbps)
{
	struct net_device *ethernet = local_ethernet(priv);
	struct ethtool_link_ksettings settings;
	int err;

	if (!ethernet)
		return -ENODEV;
	err = __ethtool_get_link_ksettings(ethernet, &settings);
	if (!err)
		*mbps = settings.base.speed;
	dev_put(ethernet);
	return err;
}

static int roce_start(struct ipoib_port *port)
{
	struct roce_port *own = kzalloc(sizeof(*own), GFP_KERNEL);

	if (!own)
		return -ENOMEM;
	own->port = port;
	port->fabric_own = own;
	spin_lock_bh(&roce_lock);
	list_add_tail(&own->node, &roce_ports);
	spin_unlock_bh(&roce_lock);
	return 0;
}

static void roce_stop(struct ipoib_port *port)
{
	struct roce_port *own = port->fabric_own;

	spin_lock_bh(&roce_lock);
	list_del(&own->node);
	spin_unlock_bh(&roce_lock);
	kfree(own);
}

/* Sets the parameters that the creator of a broadcast group chooses (RFC 4391 section 5).
 * @ethernet may be NULL for a send-only group, whose MTU does not matter.
 */
static void params_make(const struct ipoib_dev *priv, const struct net_device *ethernet,
			struct ipoib_group_params *params)
{
	*params = (struct ipoib_group_params) {
		.qkey = roce_qkey,
		.mtu = priv->port->max_mtu,
		.rate = IB_RATE_PORT_CURRENT,
		.sl = roce_sl,
		.hop_limit = IPV6_DEFAULT_MCASTHOPS,
	};
	if (ethernet)
		params->mtu = min(priv->port->max_mtu, iboe_get_mtu(READ_ONCE(ethernet->mtu)));
}

static void membership_answer(struct roce_membership *membership, int status)
{
	struct ipoib_group_params params;
	struct ipoib_group *group;

	spin_lock_bh(&roce_lock);
	group = membership->group;
	if (group) {
		params_make(group->priv, membership->ethernet, &params);
		if (!status && !params.mtu)
			status = -EMSGSIZE;
		ipoib_group_answer(group, status, &params);
	}
	spin_unlock_bh(&roce_lock);
}

static void membership_free(struct roce_membership *membership)
{
	/* Does no harm if the address is gone already, as IPv6 was shut down on the netdevice */
	if (membership->listening)
		ipv6_dev_mc_dec(membership->ethernet, &membership->address);
	netdev_put(membership->ethernet, &membership->tracker);
	kfree(membership);
}

static void membership_listen(struct roce_membership *membership)
{
	int err;

	err = ipv6_dev_mc_inc(membership->ethernet, &membership->address);
	membership->listening = !err;
	membership_answer(membership, err);
}

/* Takes a membership off the list, and reads whether it is wanted at that moment. If it is left
 * later, it is on the list again, and must not be freed before it is taken off once more.
 */
static struct roce_membership *membership_next(bool *wanted)
{
	struct roce_membership *membership;

	spin_lock_bh(&roce_lock);
	membership = list_first_entry_or_null(&roce_todo, struct roce_membership, todo);
	if (membership) {
		list_del_init(&membership->todo);
		*wanted = membership->group;
	}
	spin_unlock_bh(&roce_lock);
	return membership;
}

static void roce_work_serve(struct work_struct *work)
{
	struct roce_membership *membership;
	bool wanted;

	rtnl_lock();
	while ((membership = membership_next(&wanted))) {
		if (wanted)
			membership_listen(membership);
		else
			membership_free(membership);
	}
	rtnl_unlock();
}

static DECLARE_WORK(roce_work, roce_work_serve);

static int roce_join_member(struct ipoib_group *group)
{
	struct roce_membership *membership = kzalloc(sizeof(*membership), GFP_KERNEL);
	struct net_device *ethernet;

	if (!membership)
		return -ENOMEM;
	ethernet = local_ethernet(group->priv);
	if (!ethernet) {
		kfree(membership);
		return -ENODEV;
	}
	membership->ethernet = ethernet;
	netdev_hold(ethernet, &membership->tracker, GFP_KERNEL);
	dev_put(ethernet);
	membership->group = group;
	membership->address = *(const struct in6_addr *)group->dest.gid.raw;
	group->membership = membership;
	spin_lock_bh(&roce_lock);
	list_add_tail(&membership->node, &roce_memberships);
	list_add_tail(&membership->todo, &roce_todo);
	spin_unlock_bh(&roce_lock);
	queue_work(roce_wq, &roce_work);
	return 0;
}

/* Sending to an Ethernet group needs no membership */
static int roce_join(struct ipoib_group *group)
{
	struct ipoib_group_params params;

	if (group->role != IPOIB_GROUP_SEND_ONLY)
		return roce_join_member(group);
	params_make(group->priv, NULL, &params);
	ipoib_group_answer(group, 0, &params);
	return 0;
}

static void roce_leave(struct ipoib_group *group)
{
	struct roce_membership *membership = group->membership;

	spin_lock_bh(&roce_lock);
	membership->group = NULL;
	list_del(&membership->node);
	if (list_empty(&membership->todo))
		list_add_tail(&membership->todo, &roce_todo);
	spin_unlock_bh(&roce_lock);
	queue_work(roce_wq, &roce_work);
}

/* Always false: memberships are shared with other users, since IPv6 counts references */
static bool roce_is_joined(struct ipoib_dev *priv, union ib_gid *mgid)
{
	return false;
}

/* Consumes the reference to @sgid_attr */
static void attr_make(const struct ipoib_dev *priv, const union ib_gid *dgid, u8 hop_limit,
		      const struct ib_gid_attr *sgid_attr, struct rdma_ah_attr *attr)
{
	union ib_gid gid = *dgid;

	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, priv->port->number);
	rdma_ah_set_sl(attr, roce_sl);
	rdma_ah_set_static_rate(attr, IB_RATE_PORT_CURRENT);
	rdma_move_grh_sgid_attr(attr, &gid, 0, hop_limit, 0, sgid_attr);
}

static int roce_group_attr(struct ipoib_group *group, struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr = local_attr(group->priv);

	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	attr_make(group->priv, &group->dest.gid, group->params.hop_limit, sgid_attr, attr);
	ipv6_eth_mc_map((const struct in6_addr *)group->dest.gid.raw, attr->roce.dmac);
	return 0;
}

static void roce_resolved(int status, struct sockaddr *source, struct rdma_dev_addr *addr,
			  void *context)
{
	struct roce_query *own = context;
	struct ipoib_path_query *query = own->query;

	if (status) {
		rdma_put_gid_attr(addr->sgid_attr);
	} else {
		attr_make(query->priv, &query->path->dest.gid, addr->hoplimit, addr->sgid_attr,
			  &query->attr);
		memcpy(query->attr.roce.dmac, addr->dst_dev_addr, ETH_ALEN);
	}
	ipoib_path_answer(query, status);
}

static int roce_ask(struct roce_query *own)
{
	const struct ipoib_path_query *query = own->query;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} source, destination;

	rdma_gid2ip(&source.any, &query->priv->local_gid);
	rdma_gid2ip(&destination.any, &query->path->dest.gid);
	/* ib_core identifies a query by the address of addr. A query that was just answered, and
	 * whose memory has been reused for this one, may still be on ib_core's list.
	 */
	rdma_addr_cancel(&own->addr);
	return rdma_resolve_ip(&source.any, &destination.any, &own->addr, ROCE_PATH_TIMEOUT_MS,
			       roce_resolved, true, own);
}

static int roce_resolve(struct ipoib_path_query *query)
{
	const struct ib_gid_attr *sgid_attr = local_attr(query->priv);
	struct roce_query *own;
	int err;

	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	own = kzalloc(sizeof(*own), GFP_KERNEL);
	if (!own) {
		rdma_put_gid_attr(sgid_attr);
		return -ENOMEM;
	}
	own->query = query;
	own->addr.net = &init_net;
	own->addr.sgid_attr = sgid_attr;
	query->own = own;
	err = roce_ask(own);
	if (err)
		rdma_put_gid_attr(sgid_attr);
	return err;
}

static void roce_cancel(struct ipoib_path_query *query)
{
	struct roce_query *own = query->own;

	/* On return the callback has finished, or will never be called */
	rdma_addr_cancel(&own->addr);
	if (completion_done(&query->done))
		return;
	rdma_put_gid_attr(own->addr.sgid_attr);
	ipoib_path_answer(query, -ECANCELED);
}

const struct ipoib_fabric_ops ipoib_roce_ops = {
	.start = roce_start,
	.stop = roce_stop,
	.port_ready = roce_port_ready,
	.speed = roce_speed,
	.join = roce_join,
	.leave = roce_leave,
	.is_joined = roce_is_joined,
	.group_attr = roce_group_attr,
	.resolve = roce_resolve,
	.cancel = roce_cancel,
};

/* Returns whether a change of an Ethernet netdevice may concern the port; roce_lock is held */
static bool port_is_on(const struct roce_port *port, const struct net_device *ethernet)
{
	return !port->ethernet || port->ethernet == ethernet;
}

static void ports_look(const struct net_device *ethernet)
{
	struct roce_port *port;

	spin_lock_bh(&roce_lock);
	list_for_each_entry(port, &roce_ports, node)
		if (port_is_on(port, ethernet))
			ipoib_port_tell(port->port, IPOIB_EVENT_CHECK);
	spin_unlock_bh(&roce_lock);
}

/* Revokes the memberships of an Ethernet netdevice, as an SA does that has lost them. The groups
 * are joined again, which also updates their MTU.
 */
static void memberships_void(const struct net_device *ethernet)
{
	struct roce_membership *membership;

	spin_lock_bh(&roce_lock);
	list_for_each_entry(membership, &roce_memberships, node)
		if (membership->ethernet == ethernet)
			ipoib_group_answer(membership->group, -ENETRESET, NULL);
	spin_unlock_bh(&roce_lock);
}

static int roce_netdev_event(struct notifier_block *notifier, unsigned long event, void *info)
{
	struct net_device *ethernet = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_CHANGEMTU:
		/* If the MTU is too small for IPv6, IPv6 is shut down and leaves all groups */
		memberships_void(ethernet);
		fallthrough;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEADDR:
		ports_look(ethernet);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

static int roce_inet6addr_event(struct notifier_block *notifier, unsigned long event, void *info)
{
	const struct inet6_ifaddr *address = info;

	ports_look(address->idev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block roce_netdev_notifier = {
	.notifier_call = roce_netdev_event,
};

static struct notifier_block roce_inet6addr_notifier = {
	.notifier_call = roce_inet6addr_event,
};

/**
 * ipoib_roce_wants() - tell whether an interface is created for a RoCE port
 * @ibdev: any RDMA device
 * @port: number of its port
 *
 * By default only rxe ports get an interface, as RoCE hardware already has its
 * Ethernet interface for IP. The module parameter "roce" changes that.
 *
 * Context: any.
 * Return: true if it is a RoCE v2 port that gets an interface.
 */
bool ipoib_roce_wants(const struct ib_device *ibdev, u32 port)
{
	if (!rdma_protocol_roce_udp_encap(ibdev, port))
		return false;
	return roce_mode == ROCE_ALL ||
	       (roce_mode == ROCE_RXE && ibdev->ops.driver_id == RDMA_DRIVER_RXE);
}

static int roce_check_params(void)
{
	int mode = match_string(roce_modes, ARRAY_SIZE(roce_modes), roce);

	if (mode < 0) {
		pr_err("ib_ipoib: roce is off, rxe or all, not %s\n", roce);
		return -EINVAL;
	}
	/* If the highest bit were set, the HCA would use the QP's Q_Key (IBA 10.2.5) */
	if (roce_qkey > S32_MAX || roce_sl > 7) {
		pr_err("ib_ipoib: roce_qkey is at most 0x7fffffff, roce_sl at most 7\n");
		return -EINVAL;
	}
	roce_mode = mode;
	return 0;
}

/**
 * ipoib_roce_init() - check the module parameters and register the notifiers
 *
 * Context: may sleep, takes rtnl.
 * Return: 0 or a negative error; -EINVAL if a module parameter is invalid.
 */
int ipoib_roce_init(void)
{
	int err = roce_check_params();

	if (err)
		return err;
	roce_wq = alloc_ordered_workqueue("ipoib_roce", 0);
	if (!roce_wq)
		return -ENOMEM;
	err = register_netdevice_notifier(&roce_netdev_notifier);
	if (err)
		goto err_wq;
	err = register_inet6addr_notifier(&roce_inet6addr_notifier);
	if (err)
		goto err_netdev;
	return 0;

err_netdev:
	unregister_netdevice_notifier(&roce_netdev_notifier);
err_wq:
	destroy_workqueue(roce_wq);
	return err;
}

/**
 * ipoib_roce_exit() - undo ipoib_roce_init()
 *
 * Context: may sleep, takes rtnl; no port is left.
 */
void ipoib_roce_exit(void)
{
	unregister_inet6addr_notifier(&roce_inet6addr_notifier);
	unregister_netdevice_notifier(&roce_netdev_notifier);
	destroy_workqueue(roce_wq);
}
