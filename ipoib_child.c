// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Children: further netdevices of a port, in any of its partitions. They are made and
 * removed by rtnetlink (kind "ipoib") and, as of old, by the parent's sysfs files
 * create_child and delete_child.
 *
 * Any number of rtnetlink's may share a P_Key, also the parent's: each has a name to
 * remove it by. The files know a child by its P_Key only, so the P_Keys of theirs differ
 * from each other and from the parent's, and they do not remove rtnetlink's.
 *
 * A child has a QP, groups and paths of its own. Its parent is the port's first
 * netdevice, whose list of children rtnl guards, and RCU readers may follow.
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

/* 10.9.1.2: a P_Key without its membership bit must not be zero */
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

/* An address that was chosen for the parent is the children's, too */
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

/* The child that sysfs made with this P_Key, or NULL */
static struct ipoib_dev *child_of_sysfs(const struct ipoib_port *port, u16 pkey)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &port->children, sibling)
		if (child->of_sysfs && child->pkey == (pkey | IPOIB_PKEY_FULL))
			return child;
	return NULL;
}

/**
 * ipoib_child_create() - make a child for sysfs, named after its parent and P_Key
 * @parent: the device
 * @pkey: with or without the full-member bit
 *
 * Context: rtnl held, may sleep.
 * Return: 0, -EINVAL for a P_Key that there cannot be, -ENOTUNIQ for that of the parent or
 * of another such child, or another negative error.
 */
int ipoib_child_create(struct ipoib_dev *parent, u16 pkey)
{
	struct net_device *netdev;
	struct ipoib_dev *priv;
	char name[IFNAMSIZ];
	int err;

	if (parent->pkey == (pkey | IPOIB_PKEY_FULL) || child_of_sysfs(parent->port, pkey))
		return -ENOTUNIQ;
	/* The P_Key must stay whole, or two children have one name */
	snprintf(name, sizeof(name), "%.10s.%04x", parent->netdev->name, pkey);
	netdev = alloc_netdev_mqs(sizeof(*parent), name, NET_NAME_UNKNOWN, ipoib_setup,
				  ipoib_queues_max(), 1);
	if (!netdev)
		return -ENOMEM;
	dev_net_set(netdev, dev_net(parent->netdev));
	priv = ipoib_priv(netdev);
	priv->of_sysfs = true;
	err = child_bind(priv, parent->port, pkey, NULL);
	if (!err)
		err = register_netdevice(netdev);
	if (err)
		free_netdev(netdev);
	return err;
}

/**
 * ipoib_child_delete() - remove a child that ipoib_child_create() made
 * @parent: the device
 * @pkey: the child's, with or without the full-member bit
 *
 * Context: rtnl held, may sleep.
 * Return: 0, or -ENODEV if there is no such child.
 */
int ipoib_child_delete(struct ipoib_dev *parent, u16 pkey)
{
	struct ipoib_dev *child = child_of_sysfs(parent->port, pkey);

	if (!child)
		return -ENODEV;
	unregister_netdevice(child->netdev);
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
 * ipoib_set_mode() - choose between datagram and connected mode
 * @priv: the device
 * @mode: IPOIB_MODE_DATAGRAM
 * @extack: told why not, may be NULL
 *
 * Context: rtnl held.
 * Return: 0 or -EOPNOTSUPP.
 */
int ipoib_set_mode(struct ipoib_dev *priv, u16 mode, struct netlink_ext_ack *extack)
{
	if (mode == IPOIB_MODE_DATAGRAM)
		return 0;
	NL_SET_ERR_MSG(extack, "Only datagram mode is supported");
	if (net_ratelimit())
		netdev_warn(priv->netdev, "connected mode is not supported, staying in datagram mode\n");
	return -EOPNOTSUPP;
}

/**
 * ipoib_set_umcast() - leave to user space the groups that it joined, or not
 * @priv: the device
 * @umcast: whether
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
	/* What may be refused comes first, so that nothing is done by halves */
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

static int link_new(struct net *net, struct net_device *netdev, struct nlattr *tb[],
		    struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct ipoib_dev *parent = link_parent(net, tb, extack);
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	if (IS_ERR(parent))
		return PTR_ERR(parent);
	err = child_bind(priv, parent->port, link_pkey(data, parent), extack);
	if (err)
		return err;
	err = link_set_mtu(priv, tb, extack);
	if (err)
		return err;
	err = link_set_options(priv, data, extack);
	return err ?: register_netdevice(netdev);
}

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

/* The port's own netdevice stays as long as the port does */
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
	    nla_put_u16(skb, IFLA_IPOIB_MODE, IPOIB_MODE_DATAGRAM) ||
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
	/* A namespace that ends gives the port back, with its children */
	.netns_refund = true,
	.maxtype = IFLA_IPOIB_MAX,
	.policy = child_policy,
	.priv_size = sizeof(struct ipoib_dev),
	.setup = ipoib_setup,
	.get_num_tx_queues = ipoib_queues_max,
	.newlink = link_new,
	.changelink = link_change,
	.dellink = link_del,
	.get_size = link_get_size,
	.fill_info = link_fill_info,
	.get_link_net = link_get_net,
};

MODULE_ALIAS_RTNL_LINK("ipoib");
