// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The Ethernet netdevice: `ip link add link ib0 name eth5 type eipoib`. It takes over the lower
 * netdevice by its RX handler, of which there is one, so there is one of these over each.
 */
#include <linux/if_arp.h>
#include <net/rtnetlink.h>

#include "eipoib.h"

#define EIPOIB_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | NETIF_F_HW_CSUM | \
			 NETIF_F_RXCSUM | NETIF_F_GSO_SOFTWARE)

static int eipoib_init(struct net_device *netdev)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	int err;

	netdev_lockdep_set_classes(netdev);
	netdev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!netdev->tstats)
		return -ENOMEM;
	eth->stats = alloc_percpu(struct eipoib_pcpu_stats);
	err = eth->stats ? eipoib_tables_init(eth) : -ENOMEM;
	if (err) {
		free_percpu(eth->stats);
		free_percpu(netdev->tstats);
		return err;
	}
	eipoib_config_init(eth);
	dev_hold(eth->lower);
	return 0;
}

static void eipoib_destructor(struct net_device *netdev)
{
	dev_put(eipoib_priv(netdev)->lower);
}

/* Nothing is sent or received any more */
static void eipoib_uninit(struct net_device *netdev)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);

	eipoib_tables_destroy(eth);
	free_percpu(eth->stats);
	free_percpu(netdev->tstats);
}

/* The hosts of the Ethernet side need what is sent to all nodes, which nobody reports (RFC 4541
 * section 3), even if this host does not use IPv6. The kernel joins that group of IPv4 in any case.
 */
static const u8 all_nodes[ETH_ALEN] = { 0x33, 0x33, [5] = 1 };

static int eipoib_open(struct net_device *netdev)
{
	const struct eipoib_dev *eth = eipoib_priv(netdev);
	int err;

	err = dev_mc_add(netdev, all_nodes);
	if (err)
		return err;
	netif_stacked_transfer_operstate(eth->lower, netdev);
	return 0;
}

static int eipoib_stop(struct net_device *netdev)
{
	dev_mc_del(netdev, all_nodes);
	eipoib_groups_leave(eipoib_priv(netdev));
	netif_carrier_off(netdev);
	return 0;
}

static int eipoib_change_mtu(struct net_device *netdev, int mtu)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	struct eipoib_slave *slave;

	if (mtu > READ_ONCE(eth->lower->mtu))
		return -EINVAL;
	list_for_each_entry(slave, &eth->slaves.list, node)
		if (mtu > READ_ONCE(eipoib_of_slave(slave)->lower->mtu))
			return -EINVAL;
	WRITE_ONCE(netdev->mtu, mtu);
	return 0;
}

static netdev_features_t of_lower(netdev_features_t features, const struct eipoib_dev *eth)
{
	return netdev_intersect_features(features, eth->lower->features | NETIF_F_RXCSUM);
}

/* What a lower netdevice cannot do, the stack does when it is sent by it */
static netdev_features_t eipoib_fix_features(struct net_device *netdev, netdev_features_t features)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	netdev_features_t wanted = features;
	struct eipoib_slave *slave;

	features = of_lower(features, eth);
	list_for_each_entry(slave, &eth->slaves.list, node)
		features = of_lower(features, eipoib_of_slave(slave));
	return features | (wanted & (NETIF_F_SOFT_FEATURES | NETIF_F_GSO_SOFTWARE)) |
	       (wanted & (COMPAT_NETIF_F_LLTX | NETIF_F_HW_VLAN_CTAG_TX));
}

static int eipoib_get_iflink(const struct net_device *netdev)
{
	return READ_ONCE(eipoib_priv(netdev)->lower->ifindex);
}

static struct net *eipoib_get_link_net(const struct net_device *netdev)
{
	return dev_net(eipoib_priv(netdev)->lower);
}

COMPAT_DEFINE_FDB_ADD(eipoib_fdb_add)
COMPAT_DEFINE_FDB_DEL(eipoib_fdb_del)

static const struct net_device_ops netdev_ops = {
	.ndo_init = eipoib_init,
	.ndo_uninit = eipoib_uninit,
	.ndo_open = eipoib_open,
	.ndo_stop = eipoib_stop,
	.ndo_start_xmit = eipoib_xmit,
	.ndo_set_rx_mode = eipoib_groups_sync,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = eipoib_change_mtu,
	.ndo_fix_features = eipoib_fix_features,
	.ndo_add_slave = eipoib_slave_add,
	.ndo_del_slave = eipoib_slave_del,
	.ndo_get_stats64 = eipoib_get_stats64,
	.ndo_get_iflink = eipoib_get_iflink,
	.ndo_fdb_add = COMPAT_FDB_ADD(eipoib_fdb_add),
	.ndo_fdb_del = COMPAT_FDB_DEL(eipoib_fdb_del),
	.ndo_fdb_dump = eipoib_fdb_dump,
	.ndo_features_check = passthru_features_check,
};

static void eipoib_setup(struct net_device *netdev)
{
	ether_setup(netdev);
	netdev->netdev_ops = &netdev_ops;
	netdev->ethtool_ops = &eipoib_ethtool_ops;
	netdev->needs_free_netdev = true;
	netdev->priv_destructor = eipoib_destructor;
	/* All unicast addresses are received in any case, and the address may change at any time */
	netdev->priv_flags |= IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE | IFF_NO_QUEUE |
			      IFF_DISABLE_NETPOLL;
	netdev->priv_flags &= ~IFF_TX_SKB_SHARING;
	/* The limit is the MTU of the lower netdevices, which may change */
	netdev->max_mtu = ETH_MAX_MTU;
	netdev->hw_features = EIPOIB_FEATURES;
	netdev->features = EIPOIB_FEATURES | NETIF_F_HW_VLAN_CTAG_TX;
	netdev->vlan_features = EIPOIB_FEATURES;
	compat_netdev_set_lltx(netdev);
	/* The lower netdevice tells the routing of packets that are too long for a peer */
	netif_keep_dst(netdev);
}

static int eipoib_validate(struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN) {
		NL_SET_ERR_MSG(extack, "The address of an Ethernet device has six octets");
		return -EINVAL;
	}
	if (is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS])))
		return 0;
	NL_SET_ERR_MSG(extack, "The address must be that of one station, and not zero");
	return -EADDRNOTAVAIL;
}

/* The MAC address is made from the port's GUID, as users of Ethernet over IPoIB know it: 0002:c903:
 * 004b:da63 becomes 02:02:c9:4b:da:63. In other partitions than the default one, the P_Key
 * changes two octets, so that the netdevices of one port can be in the same bridge.
 */
static void default_mac(const struct net_device *lower, u8 *mac)
{
	const u8 *guid = lower->dev_addr + 12, *pkey = lower->broadcast + 8;

	mac[0] = (guid[0] | 0x02) & ~0x01;
	mac[1] = guid[1];
	mac[2] = guid[2];
	mac[3] = guid[5] ^ (~pkey[0] & 0x7f);
	mac[4] = guid[6] ^ (u8)~pkey[1];
	mac[5] = guid[7];
}

static void follow_lower(struct net_device *netdev, const struct net_device *lower,
			 struct nlattr *tb[])
{
	u8 mac[ETH_ALEN];

	if (!tb[IFLA_ADDRESS]) {
		default_mac(lower, mac);
		eth_hw_addr_set(netdev, mac);
	}
	if (!tb[IFLA_MTU])
		netdev->mtu = lower->mtu;
	netdev->needed_headroom = LL_RESERVED_SPACE(lower) - ETH_HLEN;
	netif_inherit_tso_max(netdev, lower);
}

static struct net_device *find_lower(struct net *net, struct nlattr *tb[],
				     struct netlink_ext_ack *extack)
{
	struct net_device *lower;

	lower = tb[IFLA_LINK] ? __dev_get_by_index(net, nla_get_u32(tb[IFLA_LINK])) : NULL;
	if (!lower) {
		NL_SET_ERR_MSG(extack, "Give an IPoIB device, as in: link ib0");
		return ERR_PTR(tb[IFLA_LINK] ? -ENODEV : -EINVAL);
	}
	if (lower->type != ARPHRD_INFINIBAND) {
		NL_SET_ERR_MSG(extack, "The lower device must be an IPoIB device");
		return ERR_PTR(-EINVAL);
	}
	if (netdev_is_rx_handler_busy(lower)) {
		NL_SET_ERR_MSG(extack, "The lower device is in use; use a child of it");
		return ERR_PTR(-EBUSY);
	}
	if (tb[IFLA_MTU] && nla_get_u32(tb[IFLA_MTU]) > lower->mtu) {
		NL_SET_ERR_MSG(extack, "The MTU is larger than that of the lower device");
		return ERR_PTR(-EINVAL);
	}
	return lower;
}

static int eipoib_newlink(struct net_device *netdev, struct rtnl_newlink_params *params,
			  struct netlink_ext_ack *extack)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	struct net_device *lower;
	int err;

	lower = find_lower(rtnl_newlink_link_net(params), params->tb, extack);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	eth->netdev = netdev;
	eth->lower = lower;
	eipoib_slaves_init(eth);
	follow_lower(netdev, lower, params->tb);
	eipoib_follow_address(eth);
	err = register_netdevice(netdev);
	if (err)
		return err;
	err = eipoib_config_change(eth, params->data, extack);
	if (err)
		goto err_register;
	err = netdev_upper_dev_link(lower, netdev, extack);
	if (err)
		goto err_register;
	err = netdev_rx_handler_register(lower, eipoib_receive, eth);
	if (err)
		goto err_link;
	netif_stacked_transfer_operstate(lower, netdev);
	return 0;

err_link:
	netdev_upper_dev_unlink(lower, netdev);
err_register:
	unregister_netdevice(netdev);
	return err;
}

COMPAT_DEFINE_NEWLINK(eipoib_newlink)

static int eipoib_changelink(struct net_device *netdev, struct nlattr *tb[], struct nlattr *data[],
			     struct netlink_ext_ack *extack)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	int err;

	err = eipoib_config_change(eth, data, extack);
	if (err)
		return err;
	eipoib_slaves_configure(eth);
	return 0;
}

static void eipoib_dellink(struct net_device *netdev, struct list_head *head)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);

	eipoib_slaves_remove(eth);
	eipoib_groups_leave(eth);
	netdev_rx_handler_unregister(eth->lower);
	netdev_upper_dev_unlink(eth->lower, netdev);
	unregister_netdevice_queue(netdev, head);
}

struct rtnl_link_ops eipoib_link_ops = {
	.kind = EIPOIB_KIND,
	.priv_size = sizeof(struct eipoib_dev),
	.maxtype = IFLA_EIPOIB_MAX,
	.policy = eipoib_config_policy,
	.setup = eipoib_setup,
	.validate = eipoib_validate,
	.newlink = COMPAT_NEWLINK(eipoib_newlink),
	.changelink = eipoib_changelink,
	.dellink = eipoib_dellink,
	.get_size = eipoib_config_size,
	.fill_info = eipoib_config_fill,
	.slave_maxtype = IFLA_EIPOIB_SLAVE_MAX,
	.slave_policy = eipoib_slave_policy,
	.slave_changelink = eipoib_slave_changelink,
	.get_slave_size = eipoib_slave_size,
	.fill_slave_info = eipoib_slave_fill,
	.get_link_net = eipoib_get_link_net,
};
