// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Children: further netdevices of a port, in any of its partitions. They are created and
 * deleted by rtnetlink (kind "ipoib") or by the older interface, the parent's sysfs files
 * create_child and delete_child.
 *
 * Any number of children created by rtnetlink may share a P_Key, even that of the parent,
 * since they are deleted by name. The sysfs files identify a child by its P_Key only.
 * Therefore the children created by them have P_Keys that differ from each other and from
 * the parent's, and the files cannot delete children created by rtnetlink.
 *
 * A child has its own QP, groups and paths. Its parent is the port's own netdevice. The
 * list of children is guarded by rtnl, and may be read under RCU.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include "ipoib.h"

static const struct nla_policy child_policy[IFLA_IPOIB_MAX + 1] = {
	[IFLA_IPOIB_PKEY] = { .type = NLA_U16 },
	[IFLA_IPOIB_MODE] = NLA_POLICY_MAX(NLA_U16, IPOIB_MODE_CONNECTED),
	[IFLA_IPOIB_UMCAST] = { .type = NLA_U16 },
};

/* Checks that a child may have this P_Key. Apart from the membership bit, a P_Key must not be zero
 * (IBA 10.9.1.2).
 */
static int pkey_check(const struct ipoib_port *port, u16 pkey, struct netlink_ext_ack *extack)
{
	if (!port->fabric->partitions) {
		NL_SET_ERR_MSG(extack, "RoCE: the default P_Key 0xffff only, no children");
		return -EOPNOTSUPP;
	}
	if (!(pkey & ~IPOIB_PKEY_FULL)) {
		NL_SET_ERR_MSG(extack, "P_Keys 0 and 0x8000 are invalid, use 0x8001 to 0xffff");
		return -EINVAL;
	}
	return 0;
}

/* A GUID that was chosen for the parent also applies to its children */
static void child_inherit_guid(struct ipoib_dev *priv)
{
	priv->admin_guid = priv->port->own->admin_guid;
	if (priv->admin_guid)
		priv->local_gid.global.interface_id = priv->admin_guid;
}

static int child_bind(struct ipoib_dev *priv, struct ipoib_port *port, u16 pkey,
		      struct netlink_ext_ack *extack)
{
	int err;

	ASSERT_RTNL();
	err = pkey_check(port, pkey, extack);
	if (err)
		return err;
	if (port->children_count >= IPOIB_CHILDREN_MAX) {
		NL_SET_ERR_MSG(extack, "The limit of 1024 children is reached: delete some");
		return -ENOSPC;
	}
	priv->parent = port->own->netdev;
	priv->netdev->rtnl_link_ops = &ipoib_link_ops;
	priv->pkey = pkey | IPOIB_PKEY_FULL;
	err = ipoib_bind(priv, port);
	if (err) {
		NL_SET_ERR_MSG(extack, "The HCA does not answer");
		return err;
	}
	child_inherit_guid(priv);
	return 0;
}

/* Returns the child with this P_Key that was created through sysfs, or NULL */
static struct ipoib_dev *child_of_sysfs(const struct ipoib_port *port, u16 pkey)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &port->children, sibling)
		if (child->origin != IPOIB_CHILD_OF_RTNETLINK &&
		    child->pkey == (pkey | IPOIB_PKEY_FULL))
			return child;
	return NULL;
}

/* The reference is put before rtnl is released, since rtnl_unlock() waits until nobody holds the
 * netdevice any more. Then it also frees the work.
 */
static void child_delete_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, delete_work);

	rtnl_lock();
	if (priv->netdev->reg_state == NETREG_REGISTERED)
		unregister_netdevice(priv->netdev);
	dev_put(priv->netdev);
	rtnl_unlock();
}

/**
 * ipoib_child_create() - create a child for sysfs, named after its parent and P_Key
 * @parent: the port's own device
 * @pkey: P_Key of the child, with or without the full-member bit
 *
 * Context: rtnl held, may sleep; a system call.
 * Return: 0; -EINVAL if the P_Key is invalid; -ENOTUNIQ if it is that of the parent or of
 * another child created through sysfs; -ERESTARTNOINTR if such a child is being deleted: the
 * system call is repeated; or another negative error.
 */
int ipoib_child_create(struct ipoib_dev *parent, u16 pkey)
{
	struct ipoib_dev *other = child_of_sysfs(parent->port, pkey);
	struct net_device *netdev;
	struct ipoib_dev *priv;
	char name[IFNAMSIZ];
	int err;

	if (other && other->origin == IPOIB_CHILD_LEAVES_SYSFS)
		return restart_syscall();
	if (other || parent->pkey == (pkey | IPOIB_PKEY_FULL))
		return -ENOTUNIQ;
	/* Shortens the parent's name, not the P_Key, so that children have different names */
	snprintf(name, sizeof(name), "%.10s.%04x", parent->netdev->name, pkey);
	netdev = alloc_netdev_mqs(sizeof(*parent), name, NET_NAME_UNKNOWN, ipoib_setup,
				  ipoib_queues_max(), 1);
	if (!netdev)
		return -ENOMEM;
	dev_net_set(netdev, dev_net(parent->netdev));
	priv = ipoib_priv(netdev);
	priv->origin = IPOIB_CHILD_OF_SYSFS;
	INIT_WORK(&priv->delete_work, child_delete_work);
	err = child_bind(priv, parent->port, pkey, NULL);
	if (!err)
		err = register_netdevice(netdev);
	if (err)
		free_netdev(netdev);
	return err;
}

/**
 * ipoib_child_delete() - delete a child created by ipoib_child_create()
 * @parent: the port's own device
 * @pkey: P_Key of the child, with or without the full-member bit
 *
 * Queues the work that deletes it. The caller uses a file of the parent, and must not wait until
 * nobody holds the child any more: whoever holds it may wait for rtnl, and rtnl may be held by the
 * removal of the parent, which waits for the users of the file.
 *
 * Context: rtnl held.
 * Return: 0, or -ENODEV if there is no such child.
 */
int ipoib_child_delete(struct ipoib_dev *parent, u16 pkey)
{
	struct ipoib_dev *child = child_of_sysfs(parent->port, pkey);

	if (!child || child->origin == IPOIB_CHILD_LEAVES_SYSFS)
		return -ENODEV;
	child->origin = IPOIB_CHILD_LEAVES_SYSFS;
	dev_hold(child->netdev);
	queue_work(ipoib_netdev_wq, &child->delete_work);
	return 0;
}

static struct ipoib_dev *link_parent(struct net *net, struct nlattr *tb[],
				     struct netlink_ext_ack *extack)
{
	struct net_device *netdev;
	struct ipoib_dev *parent;

	if (!tb[IFLA_LINK]) {
		NL_SET_ERR_MSG(extack, "A parent interface is needed: add `link ib0`");
		return ERR_PTR(-EINVAL);
	}
	netdev = __dev_get_by_index(net, nla_get_u32(tb[IFLA_LINK]));
	if (!netdev || !ipoib_is_ours(netdev)) {
		NL_SET_ERR_MSG(extack, "The parent is not an interface of this driver");
		return ERR_PTR(-ENODEV);
	}
	parent = ipoib_priv(netdev);
	if (parent->parent) {
		NL_SET_ERR_MSG(extack, "The parent is a child itself: give the port's interface");
		return ERR_PTR(-EINVAL);
	}
	return parent;
}

/**
 * ipoib_set_umcast() - choose whether groups that user space has joined are left to it
 * @priv: the device
 * @umcast: true if the device does not join such groups itself
 *
 * Context: rtnl held.
 */
void ipoib_set_umcast(struct ipoib_dev *priv, bool umcast)
{
	WRITE_ONCE(priv->umcast, umcast);
	if (priv->netdev->reg_state == NETREG_REGISTERED)
		ipoib_groups_changed(priv);
}

static int link_set_options(struct ipoib_dev *priv, struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	int err = 0;

	if (!data)
		return 0;
	/* The option that may be refused comes first, so that either all options are set or none */
	if (data[IFLA_IPOIB_MODE])
		err = ipoib_set_mode(priv, nla_get_u16(data[IFLA_IPOIB_MODE]), extack);
	if (!err && data[IFLA_IPOIB_UMCAST])
		ipoib_set_umcast(priv, nla_get_u16(data[IFLA_IPOIB_UMCAST]));
	return err;
}

static int link_set_mtu(struct ipoib_dev *priv, struct nlattr *tb[],
			struct netlink_ext_ack *extack)
{
	struct net_device *netdev = priv->netdev;
	u32 mtu;

	if (!tb[IFLA_MTU])
		return 0;
	mtu = nla_get_u32(tb[IFLA_MTU]);
	if (mtu < netdev->min_mtu || mtu > netdev->max_mtu) {
		NL_SET_ERR_MSG(extack, "The MTU is beyond what the port allows");
		return -EINVAL;
	}
	priv->admin_mtu = mtu;
	netdev->mtu = mtu;
	return 0;
}

static u16 link_pkey(struct nlattr *data[], const struct ipoib_dev *parent)
{
	return data && data[IFLA_IPOIB_PKEY] ? nla_get_u16(data[IFLA_IPOIB_PKEY]) : parent->pkey;
}

/* iproute2 prints the message of a request that succeeded as a warning */
static void link_warn_of_pkey(const struct ipoib_dev *priv, struct netlink_ext_ack *extack)
{
	u16 index;

	if (ib_find_cached_pkey(priv->ibdev, priv->port->number, priv->pkey, &index))
		NL_SET_ERR_MSG(extack,
			       "No carrier until the subnet manager adds the port to this partition");
}

static int link_new(struct net_device *netdev, struct rtnl_newlink_params *params,
		    struct netlink_ext_ack *extack)
{
	struct nlattr **tb = params->tb, **data = params->data;
	struct ipoib_dev *parent = link_parent(rtnl_newlink_link_net(params), tb, extack);
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	if (IS_ERR(parent))
		return PTR_ERR(parent);
	err = child_bind(priv, parent->port, link_pkey(data, parent), extack);
	if (err)
		return err;
	/* The mode decides which MTUs are possible */
	err = link_set_options(priv, data, extack);
	if (err)
		return err;
	err = link_set_mtu(priv, tb, extack);
	if (!err)
		err = register_netdevice(netdev);
	if (!err)
		link_warn_of_pkey(priv, extack);
	return err;
}

COMPAT_DEFINE_NEWLINK(link_new)

static int link_change(struct net_device *netdev, struct nlattr *tb[], struct nlattr *data[],
		       struct netlink_ext_ack *extack)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	if (data && data[IFLA_IPOIB_PKEY] &&
	    (nla_get_u16(data[IFLA_IPOIB_PKEY]) | IPOIB_PKEY_FULL) != priv->pkey) {
		NL_SET_ERR_MSG(extack, "An interface keeps its P_Key: delete it and add another");
		return -EOPNOTSUPP;
	}
	return link_set_options(priv, data, extack);
}

/* Deletes a child. The port's own netdevice is kept, as it exists as long as the port does. */
static void link_del(struct net_device *netdev, struct list_head *list)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	if (priv->parent)
		unregister_netdevice_queue(netdev, list);
}

static size_t link_get_size(const struct net_device *netdev)
{
	return nla_total_size(sizeof(u16)) +	/* IFLA_IPOIB_PKEY */
	       nla_total_size(sizeof(u16)) +	/* IFLA_IPOIB_MODE */
	       nla_total_size(sizeof(u16));	/* IFLA_IPOIB_UMCAST */
}

static int link_fill_info(struct sk_buff *skb, const struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	if (nla_put_u16(skb, IFLA_IPOIB_PKEY, priv->pkey) ||
	    nla_put_u16(skb, IFLA_IPOIB_MODE,
			priv->connected ? IPOIB_MODE_CONNECTED : IPOIB_MODE_DATAGRAM) ||
	    nla_put_u16(skb, IFLA_IPOIB_UMCAST, READ_ONCE(priv->umcast)))
		return -EMSGSIZE;
	return 0;
}

static struct net *link_get_net(const struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	return dev_net(priv->parent ?: netdev);
}

struct rtnl_link_ops ipoib_link_ops __read_mostly = {
	.kind = "ipoib",
	/* When a namespace is destroyed, its interfaces return to the initial namespace */
	.netns_refund = true,
	.maxtype = IFLA_IPOIB_MAX,
	.policy = child_policy,
	.priv_size = sizeof(struct ipoib_dev),
	.setup = ipoib_setup,
	.get_num_tx_queues = ipoib_queues_max,
	.newlink = COMPAT_NEWLINK(link_new),
	.changelink = link_change,
	.dellink = link_del,
	.get_size = link_get_size,
	.fill_info = link_fill_info,
	.get_link_net = link_get_net,
};

MODULE_ALIAS_RTNL_LINK("ipoib");
