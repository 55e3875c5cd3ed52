// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The Ethernet device of the trunk, which is found by its name whenever it appears, and the frames
 * that it sends and receives.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "ibfab_trunk.h"

#define MAX_WAITING	4096	/* frames that the engine has not read yet */

static char *trunk = "";
module_param(trunk, charp, 0444);
MODULE_PARM_DESC(trunk, "Ethernet device that leads to another kernel's fabric (default none)");

static struct net_device __rcu *trunk_dev; /* changes under RTNL */
static netdevice_tracker trunk_tracker;

/**
 * ibfab_trunk_wanted() - Whether there is a trunk.
 *
 * Return: true if its parameter is set.
 */
bool ibfab_trunk_wanted(void)
{
	return *trunk;
}

/**
 * ibfab_trunk_dev_name() - The name of the device.
 *
 * Return: the value of the module parameter. The device need not exist.
 */
const char *ibfab_trunk_dev_name(void)
{
	return trunk;
}

/**
 * ibfab_trunk_dev_check() - Check the module parameter.
 *
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_trunk_dev_check(void)
{
	if (!ibfab_trunk_wanted() || dev_valid_name(trunk))
		return 0;
	pr_err("trunk=%s is no name of a network device\n", trunk);
	return -EINVAL;
}

static int receive(struct sk_buff *skb, struct net_device *dev,
		   struct packet_type *type, struct net_device *orig)
{
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		ibfab_trunk_count(IBFAB_TRUNK_NO_MEMORY);
		return NET_RX_DROP;
	}
	if (skb->pkt_type == PACKET_OTHERHOST) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	if (skb_queue_len_lockless(&ibfab_trunk.frames) >= MAX_WAITING) {
		ibfab_trunk_count(IBFAB_TRUNK_OVERRUN);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb_queue_tail(&ibfab_trunk.frames, skb);
	ibfab_trunk_kick();
	return NET_RX_SUCCESS;
}

static struct packet_type trunk_packets = {
	.type = cpu_to_be16(IBFAB_TRUNK_ETHERTYPE),
	.func = receive,
};

static bool is_ours(const struct net_device *dev)
{
	return net_eq(dev_net(dev), &init_net) && dev->type == ARPHRD_ETHER &&
	       !strcmp(dev->name, trunk);
}

static void attach(struct net_device *dev)
{
	if (rtnl_dereference(trunk_dev) || !is_ours(dev))
		return;
	netdev_hold(dev, &trunk_tracker, GFP_KERNEL);
	trunk_packets.dev = dev;
	dev_add_pack(&trunk_packets);
	rcu_assign_pointer(trunk_dev, dev);
	ibfab_trunk_kick();
}

/* On return, the engine does not use the device any more */
static void detach(struct net_device *dev)
{
	if (rtnl_dereference(trunk_dev) != dev)
		return;
	RCU_INIT_POINTER(trunk_dev, NULL);
	dev_remove_pack(&trunk_packets);
	synchronize_rcu();
	netdev_put(dev, &trunk_tracker);
	ibfab_trunk_lose();
}

static int netdev_event(struct notifier_block *block, unsigned long event,
			void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		attach(dev);
		break;
	case NETDEV_UNREGISTER:
		detach(dev);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_DOWN:
		if (dev == rtnl_dereference(trunk_dev))
			ibfab_trunk_kick();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * ibfab_trunk_dev_start() - Begin to use the device, whenever it exists.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ibfab_trunk_dev_start(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

/**
 * ibfab_trunk_dev_stop() - Stop using the device.
 *
 * Context: process; after ibfab_trunk_dev_start() succeeded.
 */
void ibfab_trunk_dev_stop(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}

/**
 * ibfab_trunk_dev_running() - Whether frames can be sent.
 *
 * Context: the engine.
 * Return: true if the device exists, is up and has a carrier.
 */
bool ibfab_trunk_dev_running(void)
{
	const struct net_device *dev = rcu_dereference(trunk_dev);

	return dev && netif_running(dev) && netif_carrier_ok(dev);
}

/**
 * ibfab_trunk_dev_mtu() - How much fits into a frame.
 *
 * Context: the engine.
 * Return: bytes after the Ethernet header, more than IBFAB_TRUNK_OVERHEAD.
 */
unsigned int ibfab_trunk_dev_mtu(void)
{
	const struct net_device *dev = rcu_dereference(trunk_dev);
	unsigned int mtu = dev ? READ_ONCE(dev->mtu) : 0;

	return max_t(unsigned int, mtu, ETH_MIN_MTU);
}

/**
 * ibfab_trunk_dev_alloc() - Allocate a frame.
 * @len: bytes after the Ethernet header
 *
 * Context: the engine.
 * Return: the frame, which is empty, or NULL if the device is not up or there is no memory. A lack
 * of memory is counted.
 */
struct sk_buff *ibfab_trunk_dev_alloc(unsigned int len)
{
	struct net_device *dev = rcu_dereference(trunk_dev);
	struct sk_buff *skb;
	unsigned int head;

	if (!dev || !netif_running(dev))
		return NULL;
	head = LL_RESERVED_SPACE(dev);
	skb = alloc_skb(head + len + dev->needed_tailroom,
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		ibfab_trunk_count(IBFAB_TRUNK_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, head);
	skb->dev = dev;
	return skb;
}

/**
 * ibfab_trunk_dev_send() - Send a frame.
 * @skb: a frame from ibfab_trunk_dev_alloc(), which is consumed
 * @mac: MAC address of its destination
 *
 * Context: the engine.
 * Return: whether the device accepted it; otherwise, this is counted.
 */
bool ibfab_trunk_dev_send(struct sk_buff *skb, const u8 *mac)
{
	int ret;

	skb->protocol = cpu_to_be16(IBFAB_TRUNK_ETHERTYPE);
	skb_reset_network_header(skb);
	ret = dev_hard_header(skb, skb->dev, IBFAB_TRUNK_ETHERTYPE, mac, NULL,
			      skb->len);
	if (ret < 0) {
		kfree_skb(skb);
	} else {
		ret = dev_queue_xmit(skb);
		if (!net_xmit_eval(ret))
			return true;
	}
	ibfab_trunk_count(IBFAB_TRUNK_REFUSED);
	return false;
}
