// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Follows the IPoIB netdevices of every network namespace, whichever driver created them,
 * and their IP addresses.
 *
 * Notifiers are called with rtnl held, those of IPv6 in any context, so they only mark the
 * netdevice, and a work reads its addresses. There is no notifier for an address that has
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
#define ATS_SCAN_ROOM		16
/* Four times as many as can be registered; further addresses are ignored */
#define ATS_SCAN_MAX		1024

/* RFC 4391 section 9.1.1 */
#define ATS_HWADDR_GID		4

/* RFC 4861 section 4.6.2: a lifetime in seconds */
#define ATS_LIFETIME_INFINITE	0xffffffff

/* A netdevice; freed only by the work */
struct ats_netdev {
	struct list_head list;		/* in netdevs */
	struct net_device *dev;		/* NULL: it is gone */
	u64 net_cookie;			/* in another namespace it is another ats_netdev */
	int ifindex;
	u16 pkey;			/* of the partition that it is in; 0: none */
	u32 dev_port;			/* port of its HCA; 0: only its GID determines the port */
	struct in6_addr choice;		/* the administrator's primary address; ::, if none */
	unsigned long look_at;		/* jiffies when the work looks at it */
	u64 port_id;			/* the port that has its addresses; 0: none; the work's */
};

static DEFINE_SPINLOCK(netdevs_lock);	/* guards the list, and all that the work does not own */
static LIST_HEAD(netdevs);

static void scan_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(scan, scan_work);
static struct workqueue_struct *scan_wq;
static ats_netdev_route route;

/* ---- Notifiers ---- */

static struct ats_netdev *netdev_find(const struct net_device *dev)
{
	struct ats_netdev *netdev;

	list_for_each_entry(netdev, &netdevs, list)
		if (netdev->dev == dev)
			return netdev;
	return NULL;
}

/* Context: netdevs_lock held */
static void netdev_look(struct ats_netdev *netdev)
{
	netdev->look_at = jiffies;
	mod_delayed_work(scan_wq, &scan, 0);
}

static void netdev_mark(const struct net_device *dev)
{
	struct ats_netdev *netdev;

	spin_lock_bh(&netdevs_lock);
	netdev = netdev_find(dev);
	if (netdev)
		netdev_look(netdev);
	spin_unlock_bh(&netdevs_lock);
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

/* Begins to follow a netdevice, or notes where it is now. Context: rtnl held */
static void netdev_place(struct net_device *dev)
{
	struct ats_netdev *netdev, *new = kzalloc(sizeof(*new), GFP_KERNEL);
	u32 dev_port = dev_hca_port(dev);
	u16 pkey = dev_pkey(dev);

	spin_lock_bh(&netdevs_lock);
	netdev = netdev_find(dev);
	if (!netdev && new) {
		netdev = new;
		new = NULL;
		netdev->dev = dev;
		netdev->net_cookie = dev_net(dev)->net_cookie;
		netdev->ifindex = dev->ifindex;
		list_add_tail(&netdev->list, &netdevs);
	}
	if (netdev) {
		netdev->pkey = pkey;
		netdev->dev_port = dev_port;
		netdev_look(netdev);
	}
	spin_unlock_bh(&netdevs_lock);
	kfree(new);
}

static void netdev_untrack(const struct net_device *dev)
{
	struct ats_netdev *netdev;

	spin_lock_bh(&netdevs_lock);
	netdev = netdev_find(dev);
	if (netdev) {
		netdev->dev = NULL;
		netdev_look(netdev);
	}
	spin_unlock_bh(&netdevs_lock);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	switch (event) {
	/* Whatever type it has now: a bond that failed to take over an interface had this type
	 * for a moment, and notified only of that change
	 */
	case NETDEV_UNREGISTER:
	case NETDEV_PRE_TYPE_CHANGE:
		netdev_untrack(dev);
		break;
	case NETDEV_REGISTER:
	case NETDEV_POST_TYPE_CHANGE:
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEADDR:
		/* A bond releases its interfaces after it has notified of its own unregistration */
		if (dev->reg_state != NETREG_REGISTERED || dev->type != ARPHRD_INFINIBAND ||
		    dev->addr_len != INFINIBAND_ALEN)
			break;
		netdev_place(dev);
		break;
	}
	return NOTIFY_DONE;
}

static int inetaddr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	netdev_mark(ifa->ifa_dev->dev);
	return NOTIFY_DONE;
}

static int inet6addr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	netdev_mark(ifa->idev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block inetaddr_nb = { .notifier_call = inetaddr_event };
static struct notifier_block inet6addr_nb = { .notifier_call = inet6addr_event };

/* ---- Addresses of a netdevice ---- */

/* The same IPv4 address may be present more than once, with different prefixes */
static void collect(struct ats_source *source, const struct in6_addr *ip)
{
	unsigned int i;

	if (source->count >= ATS_SCAN_MAX)
		return;
	for (i = 0; i < min(source->count, source->room); i++)
		if (ipv6_addr_equal(&source->local[i].ip, ip))
			return;
	if (source->count < source->room)
		source->local[source->count].ip = *ip;
	source->count++;
}

/* Also notes when the lifetime ends. A permanent address may still have an old lifetime */
static bool is_preferred(struct ats_source *source, u32 flags, u32 lifetime, unsigned long since)
{
	unsigned long passed = (jiffies - since) / HZ;

	if (flags & IFA_F_DEPRECATED)
		return false;
	if (flags & IFA_F_PERMANENT || lifetime == ATS_LIFETIME_INFINITE)
		return true;
	if (passed >= lifetime)
		return false;
	if (lifetime - passed < ATS_SCAN_ALL / HZ)
		source->look_at = ats_earlier(source->look_at,
					      since + lifetime * (unsigned long)HZ);
	return true;
}

static bool ipv4_is_global(const struct in_ifaddr *ifa)
{
	return ifa->ifa_scope < RT_SCOPE_LINK && !ipv4_is_zeronet(ifa->ifa_local) &&
	       !ipv4_is_loopback(ifa->ifa_local) && !ipv4_is_multicast(ifa->ifa_local) &&
	       !ipv4_is_linklocal_169(ifa->ifa_local) && !ipv4_is_lbcast(ifa->ifa_local);
}

static void collect_ipv4(struct ats_source *source, const struct net_device *dev)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;
	struct in6_addr ip;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		/* For IPv4, the kernel represents an infinite lifetime by 0 */
		if (!ipv4_is_global(ifa) ||
		    !is_preferred(source, ifa->ifa_flags,
				  ifa->ifa_preferred_lft ?: ATS_LIFETIME_INFINITE,
				  ifa->ifa_tstamp))
			continue;
		ipv6_addr_set(&ip, 0, 0, 0, ifa->ifa_local);
		collect(source, &ip);
	}
}

/* In a record, an address that embeds an IPv4 address would look like the latter */
static bool ipv6_is_global(const struct in6_addr *ip)
{
	if (ats_addr_is_ipv4(ip) || ipv6_addr_v4mapped(ip))
		return false;
	return !ipv6_addr_is_multicast(ip) && !(ipv6_addr_type(ip) & IPV6_ADDR_LINKLOCAL);
}

/* The kernel's list begins with the newest address */
static void collect_ipv6(struct ats_source *source, const struct net_device *dev)
{
	unsigned long soon = netif_carrier_ok(dev) ? ATS_SCAN_TENTATIVE : ATS_SCAN_ALL;
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
			source->look_at = ats_earlier(source->look_at, jiffies + soon);
		else if (is_preferred(source, ifa->flags, ifa->prefered_lft, ifa->tstamp))
			collect(source, &ifa->addr);
	}
	read_unlock_bh(&idev->lock);
}

/* Repeated with more room if there were too many addresses; more may be added meanwhile */
static struct ats_source *source_read(const struct net_device *dev)
{
	unsigned int room = ATS_SCAN_ROOM;
	struct ats_source *source;

	for (;;) {
		source = kvzalloc(struct_size(source, local, room), GFP_KERNEL);
		if (!source)
			return NULL;
		source->room = room;
		source->look_at = jiffies + ATS_SCAN_ALL;
		source->key.gid = *dev_gid(dev);
		rcu_read_lock();
		if (dev->flags & IFF_UP) {
			collect_ipv4(source, dev);
			collect_ipv6(source, dev);
		}
		rcu_read_unlock();
		if (source->count <= room)
			return source;
		room = source->count + ATS_SCAN_ROOM;
		kvfree(source);
	}
}

/* ---- The work ---- */

/*
 * Addresses that were read while the netdevice moved to another namespace may be those that
 * it has there. Another struct ats_netdev is responsible for those.
 */
static void netdev_scan(struct ats_netdev *netdev, struct net_device *dev)
{
	struct ats_source *source = source_read(dev);
	u32 dev_port;
	bool gone;

	if (!source)
		return;
	spin_lock_bh(&netdevs_lock);
	gone = !netdev->dev;
	netdev->look_at = ats_earlier(netdev->look_at, source->look_at);
	dev_port = netdev->dev_port;
	source->key.pkey = netdev->pkey;
	if (!netdev->pkey)
		source->count = 0;
	source->owner = netdev;
	source->net_cookie = netdev->net_cookie;
	source->ifindex = netdev->ifindex;
	source->choice = netdev->choice;
	spin_unlock_bh(&netdevs_lock);
	if (gone)
		kvfree(source);
	else
		route(dev->dev.parent, dev_port, netdev, source, &netdev->port_id);
}

static void netdev_forget(struct ats_netdev *netdev)
{
	route(NULL, 0, netdev, NULL, &netdev->port_id);
	spin_lock_bh(&netdevs_lock);
	list_del(&netdev->list);
	spin_unlock_bh(&netdevs_lock);
	kfree(netdev);
}

/*
 * Returns a netdevice that is due, and holds its struct net_device if it is not gone. If none is
 * due, sets *next to the time, in jiffies, when the next one will be.
 */
static struct ats_netdev *netdev_next_due(unsigned long now, struct net_device **dev,
					  unsigned long *next)
{
	struct ats_netdev *netdev, *found = NULL;

	*next = now + ATS_SCAN_ALL;
	spin_lock_bh(&netdevs_lock);
	list_for_each_entry(netdev, &netdevs, list) {
		*next = ats_earlier(*next, netdev->look_at);
		if (time_before(now, netdev->look_at))
			continue;
		netdev->look_at = now + ATS_SCAN_ALL;
		*dev = netdev->dev;
		dev_hold(*dev);
		found = netdev;
		break;
	}
	spin_unlock_bh(&netdevs_lock);
	return found;
}

static void scan_work(struct work_struct *work)
{
	unsigned long now = jiffies, next;
	struct ats_netdev *netdev;
	struct net_device *dev;

	while ((netdev = netdev_next_due(now, &dev, &next))) {
		if (dev)
			netdev_scan(netdev, dev);
		else
			netdev_forget(netdev);
		dev_put(dev);
	}
	queue_delayed_work(scan_wq, &scan, next - now);
}

/**
 * ats_netdev_rescan() - read the addresses of all netdevices again
 *
 * Context: any but hard interrupts.
 */
void ats_netdev_rescan(void)
{
	struct ats_netdev *netdev;

	spin_lock_bh(&netdevs_lock);
	list_for_each_entry(netdev, &netdevs, list)
		netdev_look(netdev);
	spin_unlock_bh(&netdevs_lock);
}

/**
 * ats_netdev_scan_all() - read the addresses of all netdevices, and wait until they are passed on
 *
 * Context: may sleep; no lock is held that the function given to ats_netdev_init() takes.
 */
void ats_netdev_scan_all(void)
{
	ats_netdev_rescan();
	flush_delayed_work(&scan);
}

static int dev_has(const struct net_device *dev, const struct in6_addr *ip)
{
	struct ats_source *source = source_read(dev);
	int err = -EADDRNOTAVAIL;
	unsigned int i;

	if (!source)
		return -ENOMEM;
	for (i = 0; i < source->count; i++)
		if (ipv6_addr_equal(&source->local[i].ip, ip))
			err = 0;
	kvfree(source);
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
	struct net_device *dev = dev_get_by_index(net, ifindex);
	struct ats_netdev *netdev;
	int err = 0;

	if (!dev)
		return -ENODEV;
	if (ip && dev->type == ARPHRD_INFINIBAND)
		err = dev_has(dev, ip);
	spin_lock_bh(&netdevs_lock);
	netdev = netdev_find(dev);
	if (!netdev || netdev->net_cookie != net->net_cookie) {
		err = err ?: -EOPNOTSUPP;
	} else if (!err) {
		netdev->choice = ip ? *ip : in6addr_any;
		netdev_look(netdev);
	}
	spin_unlock_bh(&netdevs_lock);
	dev_put(dev);
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
	const struct ats_netdev *netdev;
	bool found = false;

	spin_lock_bh(&netdevs_lock);
	list_for_each_entry(netdev, &netdevs, list)
		found |= netdev->dev && !memcmp(dev_gid(netdev->dev), gid, sizeof(*gid));
	spin_unlock_bh(&netdevs_lock);
	return found;
}

/**
 * ats_netdev_init() - begin to follow netdevices
 * @to: passes the addresses of each netdevice to its port
 *
 * Context: may sleep.
 * Return: 0, or a negative error.
 */
int ats_netdev_init(ats_netdev_route to)
{
	int err;

	route = to;
	scan_wq = alloc_ordered_workqueue("ib_ats", 0);
	if (!scan_wq)
		return -ENOMEM;
	/* This also notifies of all existing netdevices */
	err = register_netdevice_notifier(&netdev_nb);
	if (err) {
		ats_netdev_exit();
		return err;
	}
	/* These fail only for what is registered already */
	register_inetaddr_notifier(&inetaddr_nb);
	register_inet6addr_notifier(&inet6addr_nb);
	return 0;
}

/**
 * ats_netdev_stop() - stop following netdevices
 *
 * Context: may sleep.
 */
void ats_netdev_stop(void)
{
	unregister_inet6addr_notifier(&inet6addr_nb);
	unregister_inetaddr_notifier(&inetaddr_nb);
	/* This calls the notifier with NETDEV_UNREGISTER for all netdevices */
	unregister_netdevice_notifier(&netdev_nb);
}

/**
 * ats_netdev_exit() - free what ats_netdev_init() allocated
 *
 * Called when no port calls ats_netdev_rescan() any more.
 *
 * Context: may sleep.
 */
void ats_netdev_exit(void)
{
	struct ats_netdev *netdev, *next;
	LIST_HEAD(gone);

	/* User space may still look for netdevices, and queue the work for those that it finds */
	spin_lock_bh(&netdevs_lock);
	list_splice_init(&netdevs, &gone);
	spin_unlock_bh(&netdevs_lock);
	cancel_delayed_work_sync(&scan);
	destroy_workqueue(scan_wq);
	list_for_each_entry_safe(netdev, next, &gone, list)
		kfree(netdev);
}
