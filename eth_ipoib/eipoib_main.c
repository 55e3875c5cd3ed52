// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ethernet over IPoIB: the module, and what happens to lower netdevices.
 *
 * A bridge, a virtual machine or a container needs an Ethernet netdevice, with addresses of six
 * octets and any number of hosts behind it. An IPoIB one has addresses of twenty octets, and one
 * host. This module puts the former on top of the latter, of any driver: the Ethernet header is
 * removed and made again, and the addresses in ARP and ND are exchanged. On the link, it is plain
 * IPoIB.
 *
 * All hosts behind the netdevice have the link-layer address of the lower one. Which of them a
 * packet is for is told by its IP address.
 */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "eipoib.h"
#include "version.h"

static void lower_mtu_changed(struct eipoib_dev *eth)
{
	if (eth->netdev->mtu > eth->lower->mtu)
		dev_set_mtu(eth->netdev, eth->lower->mtu);
}

static void lower_state_changed(const struct eipoib_dev *eth)
{
	if (eth == eipoib_priv(eth->netdev))
		netif_stacked_transfer_operstate(eth->lower, eth->netdev);
}

static void lower_gone(struct eipoib_dev *eth)
{
	LIST_HEAD(list);

	if (eth != eipoib_priv(eth->netdev)) {
		eipoib_slave_del(eth->netdev, eth->lower);
		return;
	}

	eipoib_link_ops.dellink(eth->netdev, &list);
	unregister_netdevice_many(&list);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *lower = netdev_notifier_info_to_dev(info);
	struct eipoib_dev *eth = eipoib_of_lower(lower);

	if (!eth)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		lower_state_changed(eth);
		break;
	case NETDEV_CHANGEMTU:
		lower_mtu_changed(eth);
		break;
	case NETDEV_CHANGEADDR:
		eipoib_follow_address(eth);
		eipoib_announce_all(eth);
		break;
	case NETDEV_NOTIFY_PEERS:
		eipoib_announce_again(eth);
		break;
	case NETDEV_REGISTER:
		/* It is in another network namespace now, and has left all groups */
		eipoib_groups_rejoin(eth);
		if (eth->domain == eth)
			eipoib_members_rejoin(eth);
		break;
	case NETDEV_FEAT_CHANGE:
		netdev_update_features(eth->netdev);
		break;
	case NETDEV_UNREGISTER:
		/* Not if it only moves to another network namespace */
		if (lower->reg_state == NETREG_UNREGISTERING)
			lower_gone(eth);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		return NOTIFY_BAD;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };

static int __init eipoib_module_init(void)
{
	int err;

	err = eipoib_netlink_init();
	if (err)
		return err;
	err = register_netdevice_notifier(&netdev_nb);
	if (err)
		goto err_netlink;
	err = rtnl_link_register(&eipoib_link_ops);
	if (err)
		goto err_notifier;
	return 0;

err_notifier:
	unregister_netdevice_notifier(&netdev_nb);
err_netlink:
	eipoib_netlink_exit();
	return err;
}

static void __exit eipoib_module_exit(void)
{
	rtnl_link_unregister(&eipoib_link_ops);
	unregister_netdevice_notifier(&netdev_nb);
	eipoib_netlink_exit();
}

module_init(eipoib_module_init);
module_exit(eipoib_module_exit);

MODULE_ALIAS_RTNL_LINK(EIPOIB_KIND);
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_DESCRIPTION("Ethernet over IPoIB");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IB_IPOIB_VERSION);
