// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The generic netlink family: user space lists the tables of its namespace's netdevices, makes and
 * removes entries, and hears of IP addresses on the Ethernet side that change.
 */
#include <linux/if_vlan.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "eipoib.h"

enum netlink_group {
	GROUP_LOCALS,
};

static struct genl_family eipoib_family;

/* ---- Dumps ---- */

/* Where a dump is, in its callback's context: the next entry to be sent. What follows the number of
 * a netdevice may be larger than any number that one may have.
 */
struct position {
	u32 ifindex;
	u16 vlan;			/* of the partition that has the tables, or 0 */
	unsigned long number;
};

/* One message of a dump */
struct dump {
	struct sk_buff *skb;
	const struct netlink_callback *cb;
	struct position *at;
	u8 cmd;
	bool full;			/* there is no room for the next entry */
};

/* Lists the entries of a table from the position on */
typedef void (*lister)(struct dump *dump, struct eipoib_dev *eth);

static bool put_netdev(struct sk_buff *skb, int ifindex, u16 vlan)
{
	return nla_put_s32(skb, EIPOIB_ATTR_IFINDEX, ifindex) ||
	       (vlan && nla_put_u16(skb, EIPOIB_ATTR_VLAN, vlan));
}

static void *entry_begin(const struct dump *dump)
{
	void *header = genlmsg_put(dump->skb, NETLINK_CB(dump->cb->skb).portid,
				   dump->cb->nlh->nlmsg_seq, &eipoib_family, NLM_F_MULTI,
				   dump->cmd);

	if (!header || !put_netdev(dump->skb, dump->at->ifindex, dump->at->vlan))
		return header;
	genlmsg_cancel(dump->skb, header);
	return NULL;
}

/* Ends an entry of this number, whose attributes have not all got room if @failed. Returns whether
 * to go on.
 */
static bool entry_end(struct dump *dump, void *header, bool failed, unsigned long number)
{
	if (failed) {
		genlmsg_cancel(dump->skb, header);
		dump->full = true;
		return false;
	}
	genlmsg_end(dump->skb, header);
	dump->at->number = number + 1;
	return true;
}

static bool put_age(struct sk_buff *skb, unsigned long age)
{
	return nla_put_u64_64bit(skb, EIPOIB_ATTR_AGE, jiffies64_to_msecs(age), EIPOIB_ATTR_PAD);
}

static bool put_ip(struct sk_buff *skb, const struct eipoib_ip_info *info)
{
	return nla_put_in6_addr(skb, EIPOIB_ATTR_ADDR, &info->ip) ||
	       nla_put(skb, EIPOIB_ATTR_MAC, ETH_ALEN, info->mac) ||
	       (info->is_static && nla_put_flag(skb, EIPOIB_ATTR_IS_STATIC));
}

static bool ip_visit(void *context, const struct eipoib_ip_info *info)
{
	struct dump *dump = context;
	void *header = entry_begin(dump);

	return entry_end(dump, header, !header || put_ip(dump->skb, info) ||
			 put_age(dump->skb, info->age), info->number);
}

static bool remote_visit(void *context, const struct eipoib_remote_info *info)
{
	struct dump *dump = context;
	void *header = entry_begin(dump);

	return entry_end(dump, header, !header ||
			 nla_put(dump->skb, EIPOIB_ATTR_MAC, ETH_ALEN, info->mac) ||
			 nla_put(dump->skb, EIPOIB_ATTR_LLADDR, sizeof(info->lladdr),
				 &info->lladdr) ||
			 put_age(dump->skb, info->age), info->number);
}

static bool member_visit(void *context, const struct eipoib_member_info *info)
{
	struct dump *dump = context;
	void *header = entry_begin(dump);

	return entry_end(dump, header, !header ||
			 nla_put_in6_addr(dump->skb, EIPOIB_ATTR_ADDR, &info->ip) ||
			 nla_put(dump->skb, EIPOIB_ATTR_MAC, ETH_ALEN, info->mac) ||
			 put_age(dump->skb, info->age), info->number);
}

static void local_list(struct dump *dump, struct eipoib_dev *eth)
{
	eipoib_ip_walk(&eth->local, dump->at->number, ip_visit, dump);
}

static void heard_list(struct dump *dump, struct eipoib_dev *eth)
{
	eipoib_ip_walk(&eth->heard, dump->at->number, ip_visit, dump);
}

static void remote_list(struct dump *dump, struct eipoib_dev *eth)
{
	eipoib_remotes_walk(&eth->remotes, dump->at->number, remote_visit, dump);
}

static void group_list(struct dump *dump, struct eipoib_dev *eth)
{
	eipoib_members_walk(eth, dump->at->number, member_visit, dump);
}

static bool put_count(struct sk_buff *skb, enum eipoib_attr type, u32 entries, u32 limit)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest || nla_put_u32(skb, EIPOIB_COUNT_ENTRIES, entries) ||
	    nla_put_u32(skb, EIPOIB_COUNT_LIMIT, limit))
		return true;
	nla_nest_end(skb, nest);
	return false;
}

static bool put_ip_count(struct sk_buff *skb, enum eipoib_attr type,
			 const struct eipoib_ip_table *table)
{
	return put_count(skb, type, eipoib_ip_count(table), READ_ONCE(table->max));
}

/* In another network namespace, its number says nothing */
static bool put_lower(struct sk_buff *skb, const struct eipoib_dev *eth)
{
	return net_eq(dev_net(eth->lower), dev_net(eth->netdev)) &&
	       nla_put_s32(skb, EIPOIB_ATTR_LOWER, READ_ONCE(eth->lower->ifindex));
}

static void dev_list(struct dump *dump, struct eipoib_dev *eth)
{
	struct sk_buff *skb = dump->skb;
	void *header = entry_begin(dump);

	entry_end(dump, header, !header || put_lower(skb, eth) ||
		  put_ip_count(skb, EIPOIB_ATTR_LOCALS, &eth->local) ||
		  put_ip_count(skb, EIPOIB_ATTR_HEARD, &eth->heard) ||
		  put_count(skb, EIPOIB_ATTR_REMOTES, eipoib_remotes_count(&eth->remotes),
			    EIPOIB_REMOTES_MAX) ||
		  put_count(skb, EIPOIB_ATTR_GROUPS, eipoib_members_count(eth),
			    eipoib_members_limit()), 0);
}

static bool is_eipoib(const struct net_device *netdev)
{
	return netdev->netdev_ops->ndo_start_xmit == eipoib_xmit;
}

/* Finds the netdevice of the lowest number from @first on, or that of the number @only. RCU read
 * side, during which it keeps its tables.
 */
static struct net_device *next_netdev(struct net *net, u32 first, const struct nlattr *only)
{
	struct net_device *netdev, *next = NULL;

	if (only) {
		netdev = dev_get_by_index_rcu(net, nla_get_s32(only));
		return netdev && is_eipoib(netdev) && netdev->ifindex >= first ? netdev : NULL;
	}
	for_each_netdev_rcu(net, netdev)
		if (is_eipoib(netdev) && netdev->ifindex >= first &&
		    (!next || netdev->ifindex < next->ifindex))
			next = netdev;
	return next;
}

/* Finds the tables of the lowest VLAN from @at on, where 0 stands for those of the first lower
 * netdevice, and sets @at to it. A VLAN may be given another id meanwhile. RCU read side.
 */
static struct eipoib_dev *next_tables(struct eipoib_dev *base, u16 *at)
{
	struct eipoib_dev *next = NULL, *eth;
	struct eipoib_slave *slave;
	u16 vlan, lowest = *at;

	if (!*at)
		return base;
	list_for_each_entry_rcu(slave, &base->slaves.list, node) {
		eth = eipoib_of_slave(slave);
		vlan = READ_ONCE(slave->vlan);
		if (eth->domain != eth || vlan < *at || (next && vlan >= lowest))
			continue;
		lowest = vlan;
		next = eth;
	}
	*at = lowest;
	return next;
}

/* Lists the entries of all tables of a netdevice until the message is full */
static void tables_list(struct dump *dump, lister list, struct eipoib_dev *base)
{
	struct position *at = dump->at;
	u16 vlan = at->vlan;
	struct eipoib_dev *eth;

	while ((eth = next_tables(base, &vlan)) != NULL) {
		/* The VLAN that the dump was at may be gone */
		if (vlan != at->vlan) {
			at->vlan = vlan;
			at->number = 0;
		}
		list(dump, eth);
		if (dump->full)
			break;
		at->vlan = ++vlan;
		at->number = 0;
	}
}

/* Lists the netdevices' entries until the message is full. Returns whether there was any netdevice.
 */
static bool netdevs_list(struct dump *dump, lister list, const struct nlattr *only)
{
	struct net *net = sock_net(dump->cb->skb->sk);
	struct position *at = dump->at;
	struct net_device *netdev;
	bool found = at->ifindex;

	while ((netdev = next_netdev(net, at->ifindex, only)) != NULL) {
		found = true;
		/* The one that the dump was at may be gone */
		if ((u32)netdev->ifindex != at->ifindex)
			*at = (struct position) { .ifindex = netdev->ifindex };
		tables_list(dump, list, eipoib_priv(netdev));
		if (dump->full)
			break;
		*at = (struct position) { .ifindex = (u32)netdev->ifindex + 1 };
	}
	return found;
}

static int tables_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, lister list)
{
	const struct nlattr *only = genl_info_dump(cb)->attrs[EIPOIB_ATTR_IFINDEX];
	struct dump dump = { .skb = skb, .cb = cb, .at = (void *)cb->ctx, .cmd = cmd };
	bool found;

	BUILD_BUG_ON(sizeof(struct position) > sizeof(cb->ctx));
	rcu_read_lock();
	found = netdevs_list(&dump, list, only);
	rcu_read_unlock();
	if (found || !only)
		return skb->len;
	NL_SET_ERR_MSG(cb->extack, "This is not an interface of eth_ipoib here");
	return -ENODEV;
}

static int dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return tables_dump(skb, cb, EIPOIB_CMD_DEV_GET, dev_list);
}

static int local_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return tables_dump(skb, cb, EIPOIB_CMD_LOCAL_GET, local_list);
}

static int heard_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return tables_dump(skb, cb, EIPOIB_CMD_HEARD_GET, heard_list);
}

static int remote_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return tables_dump(skb, cb, EIPOIB_CMD_REMOTE_GET, remote_list);
}

static int group_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return tables_dump(skb, cb, EIPOIB_CMD_GROUP_GET, group_list);
}

/* ---- Requests of the administrator ---- */

/* A change of the local IP addresses. @mac may be NULL. */
typedef int (*changer)(struct eipoib_dev *eth, const struct in6_addr *ip, const u8 *mac,
		       struct netlink_ext_ack *extack);

/* Finds what a request is about. Rtnl is held. */
static struct eipoib_dev *tables_find(struct genl_info *info)
{
	const struct nlattr *ifindex = info->attrs[EIPOIB_ATTR_IFINDEX];
	const struct nlattr *vlan = info->attrs[EIPOIB_ATTR_VLAN];
	struct net_device *netdev;
	struct eipoib_dev *eth;

	netdev = __dev_get_by_index(genl_info_net(info), nla_get_s32(ifindex));
	if (!netdev || !is_eipoib(netdev)) {
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex,
				    "This is not an interface of eth_ipoib here");
		return ERR_PTR(-ENODEV);
	}
	eth = eipoib_priv(netdev);
	if (vlan)
		eth = eipoib_slave_of_vlan(eth, nla_get_u16(vlan));
	if (eth)
		return eth;
	NL_SET_ERR_MSG_ATTR(info->extack, vlan, "This interface has no partition for that VLAN");
	return ERR_PTR(-ENOENT);
}

static int change(struct genl_info *info, changer make)
{
	struct in6_addr ip = nla_get_in6_addr(info->attrs[EIPOIB_ATTR_ADDR]);
	const struct nlattr *mac = info->attrs[EIPOIB_ATTR_MAC];
	struct eipoib_dev *eth = tables_find(info);

	if (IS_ERR(eth))
		return PTR_ERR(eth);
	return make(eth, &ip, mac ? nla_data(mac) : NULL, info->extack);
}

static int change_locked(struct genl_info *info, changer make)
{
	int err;

	if (GENL_REQ_ATTR_CHECK(info, EIPOIB_ATTR_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, EIPOIB_ATTR_ADDR)) {
		NL_SET_ERR_MSG(info->extack, "Give the interface, IFINDEX, and the address, ADDR");
		return -EINVAL;
	}
	rtnl_lock();
	err = change(info, make);
	rtnl_unlock();
	return err;
}

static int add_do(struct sk_buff *skb, struct genl_info *info)
{
	if (!GENL_REQ_ATTR_CHECK(info, EIPOIB_ATTR_MAC))
		return change_locked(info, eipoib_static_add);
	NL_SET_ERR_MSG(info->extack, "Give the MAC address, MAC");
	return -EINVAL;
}

static int del_do(struct sk_buff *skb, struct genl_info *info)
{
	return change_locked(info, eipoib_static_delete);
}

/* ---- Notifications ---- */

static struct sk_buff *notification(const struct eipoib_dev *eth, const struct eipoib_ip_info *info,
				    enum eipoib_event event)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	void *header;

	if (!skb)
		return NULL;
	header = genlmsg_put(skb, 0, 0, &eipoib_family, 0, EIPOIB_CMD_LOCAL_NTF);
	if (header && !put_netdev(skb, eth->netdev->ifindex, eth->slave.vlan) &&
	    !put_ip(skb, info) && !nla_put_u32(skb, EIPOIB_ATTR_EVENT, event)) {
		genlmsg_end(skb, header);
		return skb;
	}
	nlmsg_free(skb);
	return NULL;
}

/**
 * eipoib_netlink_tell() - tell those who listen that a local IP address has changed
 * @eth: the netdevice
 * @info: the entry
 * @event: what has happened to it
 *
 * Without memory, listeners get the same error as after an overrun.
 *
 * Context: any but hard interrupt.
 */
void eipoib_netlink_tell(struct eipoib_dev *eth, const struct eipoib_ip_info *info,
			 enum eipoib_event event)
{
	struct net *net = dev_net(eth->netdev);
	struct sk_buff *skb;

	if (!genl_has_listeners(&eipoib_family, net, GROUP_LOCALS))
		return;
	skb = notification(eth, info, event);
	if (skb)
		genlmsg_multicast_netns(&eipoib_family, net, skb, 0, GROUP_LOCALS, GFP_ATOMIC);
	else
		genl_set_err(&eipoib_family, net, 0, GROUP_LOCALS, -ENOBUFS);
}

/* ---- The family ---- */

static const struct nla_policy dump_policy[EIPOIB_ATTR_IFINDEX + 1] = {
	[EIPOIB_ATTR_IFINDEX] = NLA_POLICY_MIN(NLA_S32, 1),
};

static const struct nla_policy change_policy[EIPOIB_ATTR_MAC + 1] = {
	[EIPOIB_ATTR_IFINDEX] = NLA_POLICY_MIN(NLA_S32, 1),
	[EIPOIB_ATTR_VLAN] = NLA_POLICY_RANGE(NLA_U16, 1, VLAN_N_VID - 2),
	[EIPOIB_ATTR_ADDR] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[EIPOIB_ATTR_MAC] = NLA_POLICY_EXACT_LEN(ETH_ALEN),
};

#define DUMP_OP(command, function) {				\
	.cmd = (command),					\
	.policy = dump_policy,					\
	.maxattr = ARRAY_SIZE(dump_policy) - 1,			\
	.dumpit = (function),					\
}

#define CHANGE_OP(command, function) {				\
	.cmd = (command),					\
	.flags = GENL_UNS_ADMIN_PERM,				\
	.policy = change_policy,				\
	.maxattr = ARRAY_SIZE(change_policy) - 1,		\
	.doit = (function),					\
}

static const struct genl_ops eipoib_ops[] = {
	DUMP_OP(EIPOIB_CMD_DEV_GET, dev_dump),
	DUMP_OP(EIPOIB_CMD_LOCAL_GET, local_dump),
	DUMP_OP(EIPOIB_CMD_HEARD_GET, heard_dump),
	DUMP_OP(EIPOIB_CMD_REMOTE_GET, remote_dump),
	DUMP_OP(EIPOIB_CMD_GROUP_GET, group_dump),
	CHANGE_OP(EIPOIB_CMD_LOCAL_ADD, add_do),
	CHANGE_OP(EIPOIB_CMD_LOCAL_DEL, del_do),
};

static const struct genl_multicast_group eipoib_groups[] = {
	[GROUP_LOCALS] = { .name = EIPOIB_GENL_LOCALS },
};

static struct genl_family eipoib_family __ro_after_init = {
	.name = EIPOIB_GENL_NAME,
	.version = EIPOIB_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = eipoib_ops,
	.n_ops = ARRAY_SIZE(eipoib_ops),
	.mcgrps = eipoib_groups,
	.n_mcgrps = ARRAY_SIZE(eipoib_groups),
};

/**
 * eipoib_netlink_init() - register the family
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int __init eipoib_netlink_init(void)
{
	return genl_register_family(&eipoib_family);
}

/**
 * eipoib_netlink_exit() - unregister the family, when there are no netdevices any more
 *
 * Context: may sleep.
 */
void eipoib_netlink_exit(void)
{
	genl_unregister_family(&eipoib_family);
}
