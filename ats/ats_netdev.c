// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Follows the IPoIB netdevices of every network namespace, whichever driver created them,
 * and their IP addresses.
 *
 * Notifiers are called with rtnl held, those of IPv6 in any context, so they queue a work, which
 * reads the addresses of all netdevices. There is no notifier for an address that has
 * passed duplicate address detection, has become deprecated, or has been given other
 * lifetimes, and not every driver notifies of a changed link-layer address. The work
 * therefore also runs periodically.
 */
#include <linux/if_arp.h>
#include <linux/if_infiniband.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/rtnetlink.h>

#include "ats.h"

#define ATS_SCAN_ALL		(5 * HZ)
#define ATS_SCAN_TENTATIVE	(HZ / 5)
/* Of a namespace, on all its netdevices; further addresses are ignored */
#define ATS_SCAN_MAX		16384

/* RFC 4391 section 9.1.1 */
#define ATS_HWADDR_GID		4

/* The addresses of netdevices, and what those of the present netdevice have in common */
struct scan {
	struct list_head locals;
	struct ats_local like;
	const struct ats_choice *choice;
	unsigned int count;		/* of those of the present namespace */
	bool tentative;			/* there are some that can be used soon */
	int err;
};

/* The primary address of a netdevice that its administrator has chosen */
struct ats_choice {
	struct in6_addr ip;
	u64 number;			/* of choices, until then */
};

static DEFINE_XARRAY(choices);		/* by netdevice; guarded by rtnl */

static void scan_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(scan_dwork, scan_work);
static struct workqueue_struct *scan_wq;
static unsigned long scan_next = INITIAL_JIFFIES;	/* no scan begins before */
static void (*route)(struct list_head *locals);

/* ---- Netdevices ---- */

static bool dev_is_followed(const struct net_device *dev)
{
	return dev->type == ARPHRD_INFINIBAND && dev->addr_len == INFINIBAND_ALEN;
}

static const union ib_gid *dev_gid(const struct net_device *dev)
{
	return (const union ib_gid *)(dev->dev_addr + ATS_HWADDR_GID);
}

static bool dev_is_ipoib(const struct net_device *dev)
{
	const struct rtnl_link_ops *ops = dev->rtnl_link_ops;

	return ops && ops->fill_info && !strcmp(ops->kind, "ipoib");
}

/*
 * The P_Key of the interface's queue pair, as the driver reports it to rtnetlink. The
 * broadcast address is not used, since whoever may set it could make it name any P_Key.
 * Returns 0 for a netdevice that does not belong to an IPoIB driver.
 */
static u16 dev_own_pkey(const struct net_device *dev)
{
	const struct nlattr *attr;
	struct sk_buff *skb;
	u16 pkey = 0;

	if (!dev_is_ipoib(dev))
		return 0;
	skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return 0;
	if (!dev->rtnl_link_ops->fill_info(skb, dev)) {
		attr = nla_find((struct nlattr *)skb->data, skb->len, IFLA_IPOIB_PKEY);
		if (attr)
			pkey = nla_get_u16(attr) | ATS_PKEY_FULL;
	}
	nlmsg_free(skb);
	return pkey;
}

/* A bond has the address of one of its interfaces, and is in that interface's partition */
static u16 dev_pkey(struct net_device *dev)
{
	struct net_device *lower;
	struct list_head *iter;
	u16 pkey = dev_own_pkey(dev);

	if (pkey)
		return pkey;
	netdev_for_each_lower_dev(dev, lower, iter)
		if (!pkey && lower->type == ARPHRD_INFINIBAND &&
		    !memcmp(dev_gid(lower), dev_gid(dev), sizeof(union ib_gid)))
			pkey = dev_own_pkey(lower);
	return pkey;
}

/* dev_port is 0 for the first port and, with the kernel's own driver, for all children */
static u32 dev_hca_port(const struct net_device *dev)
{
	return dev_is_ipoib(dev) && dev->dev_port ? dev->dev_port + 1 : 0;
}

/* ---- Notifiers ---- */

/**
 * ats_netdev_rescan() - read the addresses of all netdevices again
 *
 * A pause of four times its duration follows each scan, so that containers cannot keep this host
 * busy. The first change after the pause does not wait.
 *
 * Context: any.
 */
void ats_netdev_rescan(void)
{
	long wait = READ_ONCE(scan_next) - jiffies;

	mod_delayed_work(scan_wq, &scan_dwork, max(wait, 0L));
}

static void dev_changed(const struct net_device *dev)
{
	if (dev_is_followed(dev))
		ats_netdev_rescan();
}

/* A netdevice that moves to another namespace is unregistered in the old one */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	if (event == NETDEV_UNREGISTER)
		kfree(xa_erase(&choices, (unsigned long)dev));
	dev_changed(dev);
	return NOTIFY_DONE;
}

static int inetaddr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	dev_changed(ifa->ifa_dev->dev);
	return NOTIFY_DONE;
}

static int inet6addr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	dev_changed(ifa->idev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block inetaddr_nb = { .notifier_call = inetaddr_event };
static struct notifier_block inet6addr_nb = { .notifier_call = inet6addr_event };

/* ---- Addresses of a netdevice ---- */

/* Adds an address of the present netdevice */
static void collect(struct scan *scan, const struct in6_addr *ip, gfp_t gfp)
{
	struct ats_local *local;

	if (scan->count == ATS_SCAN_MAX)
		return;
	local = kmemdup(&scan->like, sizeof(*local), gfp);
	if (!local) {
		scan->err = -ENOMEM;
		return;
	}
	local->ip = *ip;
	if (scan->choice && ipv6_addr_equal(&scan->choice->ip, ip))
		local->choice = scan->choice->number;
	list_add_tail(&local->list, &scan->locals);
	scan->count++;
}

static bool ipv4_is_global(const struct in_ifaddr *ifa)
{
	return ifa->ifa_scope < RT_SCOPE_LINK && !ipv4_is_zeronet(ifa->ifa_local) &&
	       !ipv4_is_loopback(ifa->ifa_local) && !ipv4_is_multicast(ifa->ifa_local) &&
	       !ipv4_is_linklocal_169(ifa->ifa_local) && !ipv4_is_lbcast(ifa->ifa_local);
}

static void collect_ipv4(struct scan *scan, const struct net_device *dev)
{
	const struct in_device *in_dev = __in_dev_get_rtnl(dev);
	const struct in_ifaddr *ifa;
	struct in6_addr ip;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rtnl(ifa, in_dev) {
		if (!ipv4_is_global(ifa) || ifa->ifa_flags & IFA_F_DEPRECATED)
			continue;
		ipv6_addr_set(&ip, 0, 0, 0, ifa->ifa_local);
		collect(scan, &ip, GFP_KERNEL);
	}
}

/* In a record, an address that embeds an IPv4 address would look like the latter */
static bool ipv6_is_global(const struct in6_addr *ip)
{
	return !ats_addr_is_ipv4(ip) && !ipv6_addr_v4mapped(ip) &&
	       !(ipv6_addr_type(ip) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL));
}

/* The kernel's list begins with the newest address */
static void collect_ipv6(struct scan *scan, const struct net_device *dev)
{
	struct inet6_dev *idev = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;

	if (!idev)
		return;
	read_lock_bh(&idev->lock);
	list_for_each_entry_reverse(ifa, &idev->addr_list, if_list) {
		if (!ipv6_is_global(&ifa->addr) || ifa->flags & IFA_F_DADFAILED)
			continue;
		/* Without a carrier, an address stays tentative */
		if (ifa->flags & IFA_F_TENTATIVE)
			scan->tentative |= netif_carrier_ok(dev);
		else if (!(ifa->flags & IFA_F_DEPRECATED))
			collect(scan, &ifa->addr, GFP_ATOMIC | __GFP_NOWARN);
	}
	read_unlock_bh(&idev->lock);
}

/* Context: rtnl held */
static void dev_scan(struct scan *scan, struct net_device *dev)
{
	scan->choice = xa_load(&choices, (unsigned long)dev);
	scan->like = (struct ats_local) {
		.net_cookie = dev_net(dev)->net_cookie,
		.ifindex = dev->ifindex,
		.parent = dev->dev.parent,
		.dev_port = dev_hca_port(dev),
		.key = { .gid = *dev_gid(dev), .pkey = dev->flags & IFF_UP ? dev_pkey(dev) : 0 },
	};
	if (!scan->like.key.pkey)
		return;
	collect_ipv4(scan, dev);
	collect_ipv6(scan, dev);
}

/* ---- The work ---- */

/* What is passed on has to be complete: what is missing there is gone */
static void scan_work(struct work_struct *work)
{
	struct scan scan = { .locals = LIST_HEAD_INIT(scan.locals) };
	struct net_device *dev;
	unsigned long begin;
	struct net *net;

	rtnl_lock();
	begin = jiffies;
	down_read(&net_rwsem);
	for_each_net(net) {
		scan.count = 0;
		for_each_netdev(net, dev)
			if (dev_is_followed(dev))
				dev_scan(&scan, dev);
	}
	up_read(&net_rwsem);
	rtnl_unlock();
	if (!scan.err)
		route(&scan.locals);
	ats_local_free(&scan.locals);
	WRITE_ONCE(scan_next, jiffies + min(4 * (jiffies - begin), HZ + 0ul));
	queue_delayed_work(scan_wq, &scan_dwork,
			   scan.tentative || scan.err ? ATS_SCAN_TENTATIVE : ATS_SCAN_ALL);
}

static int dev_has(struct net_device *dev, const struct in6_addr *ip)
{
	struct scan scan = { .locals = LIST_HEAD_INIT(scan.locals) };
	const struct ats_local *local;
	int err = -EADDRNOTAVAIL;

	dev_scan(&scan, dev);
	list_for_each_entry(local, &scan.locals, list)
		if (ipv6_addr_equal(&local->ip, ip))
			err = 0;
	ats_local_free(&scan.locals);
	return scan.err ?: err;
}

/* Context: rtnl held */
static int dev_choose(struct net_device *dev, const struct in6_addr *ip)
{
	static u64 number;
	struct ats_choice *choice = NULL, *old;
	int err;

	if (!dev)
		return -ENODEV;
	if (!dev_is_followed(dev))
		return -EOPNOTSUPP;
	if (ip) {
		err = dev_has(dev, ip);
		if (err)
			return err;
		choice = kmalloc(sizeof(*choice), GFP_KERNEL);
		if (!choice)
			return -ENOMEM;
		choice->ip = *ip;
		choice->number = ++number;
	}
	old = xa_store(&choices, (unsigned long)dev, choice, GFP_KERNEL);
	err = xa_err(old);
	kfree(err ? choice : old);
	return err;
}

/**
 * ats_netdev_choose() - choose the primary address of a netdevice
 * @net: the namespace that the netdevice is in
 * @ifindex: the netdevice's index there
 * @ip: the address, in the form that records have; NULL: no address is preferred any more
 *
 * The choice holds whenever the netdevice has the address, for as long as the netdevice is
 * in that namespace.
 *
 * Context: may sleep.
 * Return: 0, -ENODEV if there is no such netdevice, -EOPNOTSUPP if it is not an IPoIB
 * netdevice, -EADDRNOTAVAIL if it has no such address that can be registered, or -ENOMEM.
 */
int ats_netdev_choose(struct net *net, int ifindex, const struct in6_addr *ip)
{
	int err;

	rtnl_lock();
	err = dev_choose(__dev_get_by_index(net, ifindex), ip);
	rtnl_unlock();
	if (!err)
		ats_netdev_rescan();
	return err;
}

/**
 * ats_netdev_has_gid() - whether an interface of this host has a GID
 * @gid: the GID
 *
 * Context: process.
 * Return: true if one has.
 */
bool ats_netdev_has_gid(const union ib_gid *gid)
{
	const struct net_device *dev;
	const struct net *net;
	bool found = false;

	rcu_read_lock();
	for_each_net_rcu(net)
		for_each_netdev_rcu(net, dev)
			found |= dev_is_followed(dev) && !memcmp(dev_gid(dev), gid, sizeof(*gid));
	rcu_read_unlock();
	return found;
}

/**
 * ats_netdev_init() - begin to follow netdevices
 * @to: passes the addresses of all netdevices to their ports
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int ats_netdev_init(void (*to)(struct list_head *locals))
{
	int err;

	route = to;
	scan_wq = alloc_ordered_workqueue("ib_ats", 0);
	if (!scan_wq)
		return -ENOMEM;
	/* This also notifies of all existing netdevices */
	err = register_netdevice_notifier(&netdev_nb);
	if (err) {
		destroy_workqueue(scan_wq);
		return err;
	}
	/* These fail only for what is registered already */
	register_inetaddr_notifier(&inetaddr_nb);
	register_inet6addr_notifier(&inet6addr_nb);
	return 0;
}

/**
 * ats_netdev_exit() - stop following netdevices
 *
 * Called when there are no ports any more.
 *
 * Context: may sleep.
 */
void ats_netdev_exit(void)
{
	unregister_inet6addr_notifier(&inet6addr_nb);
	unregister_inetaddr_notifier(&inetaddr_nb);
	/* This calls the notifier with NETDEV_UNREGISTER for all netdevices */
	unregister_netdevice_notifier(&netdev_nb);
	cancel_delayed_work_sync(&scan_dwork);
	destroy_workqueue(scan_wq);
}
