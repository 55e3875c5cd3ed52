// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Further lower netdevices of an Ethernet netdevice: `ip link set ib0.8001 master eth5`.
 *
 * One in another partition is a link of its own, with tables of its own. Its packets have a VLAN id
 * on the Ethernet side.
 *
 * One in the partition of the first lower netdevice is on the same link, and gives a QPN to one MAC
 * address. So the host that has it is told from others by more than its IP address: it may route,
 * or have IP addresses that it has never said anything about. What everybody receives is taken from
 * the first lower netdevice alone.
 */
#include <linux/if_vlan.h>

#include "eipoib.h"

/* How many there may be: each costs an HCA a QP, and its groups */
#define SLAVES_MAX	512

const struct nla_policy eipoib_slave_policy[IFLA_EIPOIB_SLAVE_MAX + 1] = {
	[IFLA_EIPOIB_SLAVE_VLAN]	= NLA_POLICY_RANGE(NLA_U16, 1, VLAN_N_VID - 2),
	[IFLA_EIPOIB_SLAVE_MAC]		= NLA_POLICY_EXACT_LEN(ETH_ALEN),
};

/**
 * eipoib_slaves_init() - prepare the list of further lower netdevices
 * @base: the Ethernet netdevice
 *
 * Context: any.
 */
void eipoib_slaves_init(struct eipoib_dev *base)
{
	INIT_LIST_HEAD(&base->slaves.list);
}

static u16 pkey_of(const struct net_device *lower)
{
	return (lower->broadcast[8] << 8 | lower->broadcast[9]) & 0x7fff;
}

/* Chooses the VLAN id that a partition has until another one is set: the P_Key, as far as it goes.
 * Returns 0 if all are taken.
 */
static u16 vlan_choose(const struct eipoib_dev *base, const struct net_device *lower)
{
	u16 vlan = pkey_of(lower) & VLAN_VID_MASK;

	if (vlan && vlan < VLAN_VID_MASK && !eipoib_slave_of_vlan(base, vlan))
		return vlan;
	for (vlan = 1; vlan < VLAN_VID_MASK; vlan++)
		if (!eipoib_slave_of_vlan(base, vlan))
			return vlan;
	return 0;
}

static struct hlist_head *bucket_of(struct eipoib_dev *base, const struct eipoib_slave *slave)
{
	if (slave->vlan)
		return &base->slaves.by_vlan[slave->vlan % EIPOIB_SLAVE_BUCKETS];
	return &base->slaves.by_mac[eipoib_slave_bucket(slave->mac)];
}

/* Has packets find it by its VLAN id or MAC address */
static void key_set(struct eipoib_dev *base, struct eipoib_slave *slave)
{
	if (slave->vlan || !is_zero_ether_addr(slave->mac))
		hlist_add_head_rcu(&slave->key_node, bucket_of(base, slave));
}

static void key_unset(struct eipoib_slave *slave)
{
	if (!hlist_unhashed(&slave->key_node))
		hlist_del_init_rcu(&slave->key_node);
}

static int may_add(const struct eipoib_dev *base, struct net_device *lower,
		   struct netlink_ext_ack *extack)
{
	if (lower->type != ARPHRD_INFINIBAND) {
		NL_SET_ERR_MSG(extack, "Only an IPoIB device can be put under an eipoib device");
		return -EINVAL;
	}
	if (netdev_is_rx_handler_busy(lower)) {
		NL_SET_ERR_MSG(extack, "The IPoIB device is in use; use another child");
		return -EBUSY;
	}
	if (base->slaves.count >= SLAVES_MAX) {
		NL_SET_ERR_MSG(extack, "There are as many lower devices as there may be, 512");
		return -ENOSPC;
	}
	return 0;
}

/* Returns whether two netdevices are those of the same port and partition. Of two ports it is not
 * known whether they are on the same fabric.
 */
static bool is_same_link(const struct net_device *a, const struct net_device *b)
{
	const struct eipoib_lladdr *of_a = (const struct eipoib_lladdr *)a->dev_addr;
	const struct eipoib_lladdr *of_b = (const struct eipoib_lladdr *)b->dev_addr;

	return !memcmp(of_a->gid, of_b->gid, sizeof(of_a->gid)) && pkey_of(a) == pkey_of(b);
}

/* Prepares what a partition of its own needs, or shares that of the first lower netdevice */
static int tables_get(struct eipoib_dev *base, struct eipoib_dev *eth,
		      struct netlink_ext_ack *extack)
{
	int err;

	if (is_same_link(eth->lower, base->lower)) {
		eth->domain = base;
		return 0;
	}
	eth->slave.vlan = vlan_choose(base, eth->lower);
	if (!eth->slave.vlan) {
		NL_SET_ERR_MSG(extack, "All VLAN ids are in use");
		return -ENOSPC;
	}
	err = eipoib_tables_init(eth);
	if (err)
		return err;
	eipoib_ip_set_limits(&eth->local, base->local.max, base->local.max_per_mac);
	return 0;
}

static void tables_put(struct eipoib_dev *eth)
{
	if (eth->domain == eth)
		eipoib_tables_destroy(eth);
}

static struct eipoib_dev *slave_make(struct eipoib_dev *base, struct net_device *lower,
				     struct netlink_ext_ack *extack)
{
	struct eipoib_dev *eth = kzalloc(sizeof(*eth), GFP_KERNEL);
	int err;

	if (!eth)
		return ERR_PTR(-ENOMEM);
	eth->netdev = base->netdev;
	eth->lower = lower;
	eth->stats = base->stats;
	eipoib_slaves_init(eth);
	eipoib_follow_address(eth);
	eth->config = base->config;
	err = tables_get(base, eth, extack);
	if (err) {
		kfree(eth);
		return ERR_PTR(err);
	}
	dev_hold(lower);
	return eth;
}

/* Frees what nobody sends or receives by any more */
static void slave_free(struct eipoib_dev *eth)
{
	tables_put(eth);
	dev_put(eth->lower);
	kfree(eth);
}

/* Has packets be sent by it, and joins the groups of the netdevice's list. The lock of that list is
 * held, so that each group is joined once.
 */
static void slave_enlist(struct eipoib_dev *base, struct eipoib_dev *eth)
{
	netif_addr_lock_bh(base->netdev);
	list_add_tail_rcu(&eth->slave.node, &base->slaves.list);
	key_set(base, &eth->slave);
	base->slaves.count++;
	if (eth->domain == base)
		WRITE_ONCE(base->slaves.dedicated, base->slaves.dedicated + 1);
	eipoib_groups_join_listed(eth);
	netif_addr_unlock_bh(base->netdev);
}

static void slave_delist(struct eipoib_dev *base, struct eipoib_dev *eth)
{
	netif_addr_lock_bh(base->netdev);
	list_del_rcu(&eth->slave.node);
	key_unset(&eth->slave);
	base->slaves.count--;
	if (eth->domain == base)
		WRITE_ONCE(base->slaves.dedicated, base->slaves.dedicated - 1);
	eipoib_groups_leave_listed(eth);
	netif_addr_unlock_bh(base->netdev);
	synchronize_net();
}

/**
 * eipoib_slave_add() - ndo_add_slave: put a further IPoIB netdevice under an Ethernet one
 * @netdev: the Ethernet netdevice
 * @lower: the IPoIB netdevice
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int eipoib_slave_add(struct net_device *netdev, struct net_device *lower,
		     struct netlink_ext_ack *extack)
{
	struct eipoib_dev *base = eipoib_priv(netdev), *eth;
	int err;

	err = may_add(base, lower, extack);
	if (err)
		return err;
	eth = slave_make(base, lower, extack);
	if (IS_ERR(eth))
		return PTR_ERR(eth);
	err = netdev_master_upper_dev_link(lower, netdev, NULL, NULL, extack);
	if (err)
		goto err_make;
	err = netdev_rx_handler_register(lower, eipoib_receive, eth);
	if (err)
		goto err_link;
	slave_enlist(base, eth);
	if (netdev->mtu > lower->mtu)
		dev_set_mtu(netdev, lower->mtu);
	netdev_update_features(netdev);
	return 0;

err_link:
	netdev_upper_dev_unlink(lower, netdev);
err_make:
	slave_free(eth);
	return err;
}

static void slave_remove(struct eipoib_dev *base, struct eipoib_dev *eth)
{
	struct net_device *lower = eth->lower;

	netdev_rx_handler_unregister(lower);
	slave_delist(base, eth);
	netdev_upper_dev_unlink(lower, base->netdev);
	/* Its QPN does not lead to them any more */
	if (eipoib_is_dedicated(eth))
		eipoib_announce_mac(base, eth->slave.mac);
	slave_free(eth);
}

/**
 * eipoib_slave_del() - ndo_del_slave: take away what eipoib_slave_add() has put there
 * @netdev: the Ethernet netdevice
 * @lower: the IPoIB netdevice
 *
 * Context: rtnl held.
 * Return: 0, or -EINVAL if it is none of the netdevice's.
 */
int eipoib_slave_del(struct net_device *netdev, struct net_device *lower)
{
	struct eipoib_dev *base = eipoib_priv(netdev), *eth = eipoib_of_lower(lower);

	if (!eth || eth == base || eth->netdev != netdev)
		return -EINVAL;
	slave_remove(base, eth);
	netdev_update_features(netdev);
	return 0;
}

/**
 * eipoib_slaves_remove() - take away all further lower netdevices
 * @base: the Ethernet netdevice
 *
 * Context: rtnl held.
 */
void eipoib_slaves_remove(struct eipoib_dev *base)
{
	struct eipoib_slave *slave, *next;

	list_for_each_entry_safe(slave, next, &base->slaves.list, node)
		slave_remove(base, eipoib_of_slave(slave));
}

/**
 * eipoib_slaves_configure() - have all further lower netdevices follow the settings
 * @base: the Ethernet netdevice, whose settings have changed
 *
 * Context: rtnl held.
 */
void eipoib_slaves_configure(struct eipoib_dev *base)
{
	struct eipoib_slave *slave;
	struct eipoib_dev *eth;

	list_for_each_entry(slave, &base->slaves.list, node) {
		eth = eipoib_of_slave(slave);
		eth->config = base->config;
		eipoib_config_set_learning(eth, base->config.learning);
		if (eth->domain != eth)
			continue;
		eipoib_ip_set_limits(&eth->local, base->local.max, base->local.max_per_mac);
		eipoib_members_query(eth);
	}
}

static int vlan_change(struct eipoib_dev *base, struct eipoib_dev *eth, u16 vlan,
		       struct netlink_ext_ack *extack)
{
	if (!eth->slave.vlan) {
		NL_SET_ERR_MSG(extack, "A device of the same partition has an address, not a VLAN");
		return -EINVAL;
	}
	if (vlan == eth->slave.vlan)
		return 0;
	if (eipoib_slave_of_vlan(base, vlan)) {
		NL_SET_ERR_MSG(extack, "Another lower device has this VLAN");
		return -EEXIST;
	}
	key_unset(&eth->slave);
	synchronize_net();
	WRITE_ONCE(eth->slave.vlan, vlan);
	key_set(base, &eth->slave);
	return 0;
}

static int mac_change(struct eipoib_dev *base, struct eipoib_dev *eth, const u8 *mac,
		      struct netlink_ext_ack *extack)
{
	u8 old[ETH_ALEN];

	if (eth->slave.vlan) {
		NL_SET_ERR_MSG(extack, "A device of another partition is for a VLAN; set that");
		return -EINVAL;
	}
	if (ether_addr_equal(mac, eth->slave.mac))
		return 0;
	if (!is_valid_ether_addr(mac)) {
		NL_SET_ERR_MSG(extack, "The address must be that of one station, and not zero");
		return -EADDRNOTAVAIL;
	}
	if (eipoib_slave_of_mac(base, mac) != base) {
		NL_SET_ERR_MSG(extack, "Another lower device has this address");
		return -EEXIST;
	}
	key_unset(&eth->slave);
	synchronize_net();
	ether_addr_copy(old, eth->slave.mac);
	ether_addr_copy(eth->slave.mac, mac);
	key_set(base, &eth->slave);
	/* The IP addresses of both are reached by another lower netdevice now */
	eipoib_announce_mac(base, old);
	eipoib_announce_mac(base, mac);
	return 0;
}

/**
 * eipoib_slave_changelink() - set the VLAN or the MAC address of a further lower netdevice
 * @netdev: the Ethernet netdevice
 * @lower: the IPoIB netdevice
 * @tb: the message's attributes
 * @data: those of the slave, which the policy has checked; may be NULL
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int eipoib_slave_changelink(struct net_device *netdev, struct net_device *lower,
			    struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	struct eipoib_dev *base = eipoib_priv(netdev), *eth = eipoib_of_lower(lower);

	if (!data || !eth)
		return 0;
	/* One of them is refused, and then the other must not have been changed */
	if (data[IFLA_EIPOIB_SLAVE_VLAN] && data[IFLA_EIPOIB_SLAVE_MAC]) {
		NL_SET_ERR_MSG(extack, "Give a VLAN or an address, and not both");
		return -EINVAL;
	}
	if (data[IFLA_EIPOIB_SLAVE_VLAN])
		return vlan_change(base, eth, nla_get_u16(data[IFLA_EIPOIB_SLAVE_VLAN]), extack);
	if (data[IFLA_EIPOIB_SLAVE_MAC])
		return mac_change(base, eth, nla_data(data[IFLA_EIPOIB_SLAVE_MAC]), extack);
	return 0;
}

/**
 * eipoib_slave_size() - get the size of the attributes that eipoib_slave_fill() writes
 * @netdev: the Ethernet netdevice
 * @lower: the IPoIB netdevice
 *
 * Context: rtnl held.
 * Return: that size in octets.
 */
size_t eipoib_slave_size(const struct net_device *netdev, const struct net_device *lower)
{
	return nla_total_size(sizeof(u16)) + nla_total_size(ETH_ALEN);
}

/**
 * eipoib_slave_fill() - write the VLAN or the MAC address of a further lower netdevice
 * @skb: the message
 * @netdev: the Ethernet netdevice
 * @lower: the IPoIB netdevice
 *
 * Context: rtnl held.
 * Return: 0 or -EMSGSIZE.
 */
int eipoib_slave_fill(struct sk_buff *skb, const struct net_device *netdev,
		      const struct net_device *lower)
{
	const struct eipoib_dev *eth = eipoib_of_lower(lower);

	if (!eth)
		return 0;
	if (eth->slave.vlan)
		return nla_put_u16(skb, IFLA_EIPOIB_SLAVE_VLAN, eth->slave.vlan);
	if (!is_zero_ether_addr(eth->slave.mac))
		return nla_put(skb, IFLA_EIPOIB_SLAVE_MAC, ETH_ALEN, eth->slave.mac);
	return 0;
}

/**
 * eipoib_of_lower() - find what sends and receives by an IPoIB netdevice
 * @lower: any netdevice
 *
 * Context: rtnl held.
 * Return: that of an Ethernet netdevice, or NULL if there is none over it.
 */
struct eipoib_dev *eipoib_of_lower(const struct net_device *lower)
{
	if (rtnl_dereference(lower->rx_handler) != eipoib_receive)
		return NULL;
	return rtnl_dereference(lower->rx_handler_data);
}
