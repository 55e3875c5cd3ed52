// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * By which of the lower netdevices a packet is sent, and which link-layer addresses are this
 * host's.
 */
#include "eipoib.h"

/**
 * eipoib_slave_of_vlan() - find the lower netdevice of a VLAN
 * @base: the Ethernet netdevice
 * @vlan: the VLAN's id
 *
 * Context: RCU read side, or rtnl held.
 * Return: what sends and receives by it, or NULL if there is none.
 */
struct eipoib_dev *eipoib_slave_of_vlan(const struct eipoib_dev *base, u16 vlan)
{
	struct eipoib_slave *slave;

	hlist_for_each_entry_rcu(slave, &base->slaves.by_vlan[vlan % EIPOIB_SLAVE_BUCKETS],
				 key_node, lockdep_rtnl_is_held())
		if (slave->vlan == vlan)
			return eipoib_of_slave(slave);
	return NULL;
}

/**
 * eipoib_slave_of_mac() - find the lower netdevice of a MAC address on the Ethernet side
 * @base: the Ethernet netdevice
 * @mac: the MAC address
 *
 * Context: RCU read side, or rtnl held.
 * Return: what sends and receives by it: the first lower netdevice if it has none of its own.
 */
struct eipoib_dev *eipoib_slave_of_mac(struct eipoib_dev *base, const u8 *mac)
{
	struct eipoib_slave *slave;

	if (likely(!READ_ONCE(base->slaves.dedicated)))
		return base;
	hlist_for_each_entry_rcu(slave, &base->slaves.by_mac[eipoib_slave_bucket(mac)], key_node,
				 lockdep_rtnl_is_held())
		if (ether_addr_equal(slave->mac, mac))
			return eipoib_of_slave(slave);
	return base;
}

/**
 * eipoib_lladdr_is_own() - tell whether a link-layer address is one of this host's on a link
 * @eth: any of those who send and receive on the link
 * @lladdr: the link-layer address
 *
 * Context: RCU read side.
 * Return: true if it is.
 */
bool eipoib_lladdr_is_own(const struct eipoib_dev *eth, const struct eipoib_lladdr *lladdr)
{
	const struct eipoib_dev *domain = eth->domain, *other;
	struct eipoib_slave *slave;

	if (eipoib_lladdr_equal(eipoib_own_lladdr(domain), lladdr))
		return true;
	if (likely(!READ_ONCE(domain->slaves.dedicated)))
		return false;
	list_for_each_entry_rcu(slave, &domain->slaves.list, node) {
		other = eipoib_of_slave(slave);
		if (other->domain == domain &&
		    eipoib_lladdr_equal(eipoib_own_lladdr(other), lladdr))
			return true;
	}
	return false;
}
