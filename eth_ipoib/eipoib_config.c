// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Settings of an Ethernet netdevice, by rtnetlink.
 */
#include "eipoib.h"

/* Limits of the IP addresses on the Ethernet side, unless they are set */
#define MAX_IPS		16384
#define MAX_IPS_PER_MAC	1024

/* The largest limit that can be set: more would take hundreds of megabytes */
#define MAX_LIMIT	BIT(20)

static struct netlink_range_validation limit_range = { .min = 1, .max = MAX_LIMIT };

const struct nla_policy eipoib_config_policy[IFLA_EIPOIB_MAX + 1] = {
	[IFLA_EIPOIB_LEARNING]		= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_EIPOIB_DHCP]		= NLA_POLICY_MAX(NLA_U8, EIPOIB_DHCP_MAX),
	[IFLA_EIPOIB_QUERIER]		= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_EIPOIB_MAX_IPS]		= NLA_POLICY_FULL_RANGE(NLA_U32, &limit_range),
	[IFLA_EIPOIB_MAX_IPS_PER_MAC]	= NLA_POLICY_FULL_RANGE(NLA_U32, &limit_range),
};

/**
 * eipoib_config_init() - set what is so unless it is set
 * @eth: the netdevice
 *
 * Context: rtnl held.
 */
void eipoib_config_init(struct eipoib_dev *eth)
{
	eth->config.learning = true;
	eth->config.dhcp = EIPOIB_DHCP_FLAG;
	eipoib_ip_set_limits(&eth->local, MAX_IPS, MAX_IPS_PER_MAC);
}

/**
 * eipoib_config_set_learning() - have addresses be learned, or not
 * @eth: the netdevice, or what sends and receives by a further lower netdevice
 * @learning: whether they are; if not, what has been learned is forgotten
 *
 * Context: rtnl held.
 */
void eipoib_config_set_learning(struct eipoib_dev *eth, bool learning)
{
	WRITE_ONCE(eth->config.learning, learning);
	if (learning || eth->domain != eth)
		return;
	/* Those who saw the former setting have gone then, and learn nothing any more */
	synchronize_net();
	eipoib_ip_expire(&eth->local, 0);
}

/**
 * eipoib_config_change() - change settings
 * @eth: the netdevice
 * @data: the attributes, which the policy has checked; may be NULL
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held.
 * Return: 0 or -EINVAL.
 */
int eipoib_config_change(struct eipoib_dev *eth, struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	u32 max = eth->local.max, max_per_mac = eth->local.max_per_mac;

	if (!data)
		return 0;
	if (data[IFLA_EIPOIB_MAX_IPS])
		max = nla_get_u32(data[IFLA_EIPOIB_MAX_IPS]);
	if (data[IFLA_EIPOIB_MAX_IPS_PER_MAC])
		max_per_mac = nla_get_u32(data[IFLA_EIPOIB_MAX_IPS_PER_MAC]);
	/* That of all may be lowered for a while without changing this one */
	if (data[IFLA_EIPOIB_MAX_IPS_PER_MAC] && max_per_mac > max) {
		NL_SET_ERR_MSG(extack, "The limit of one MAC address is larger than that of all");
		return -EINVAL;
	}
	eipoib_ip_set_limits(&eth->local, max, max_per_mac);
	if (data[IFLA_EIPOIB_LEARNING])
		eipoib_config_set_learning(eth, nla_get_u8(data[IFLA_EIPOIB_LEARNING]));
	if (data[IFLA_EIPOIB_DHCP])
		WRITE_ONCE(eth->config.dhcp, nla_get_u8(data[IFLA_EIPOIB_DHCP]));
	if (data[IFLA_EIPOIB_QUERIER])
		WRITE_ONCE(eth->config.querier, nla_get_u8(data[IFLA_EIPOIB_QUERIER]));
	eipoib_members_query(eth);
	return 0;
}

/**
 * eipoib_config_size() - get the size of the attributes that eipoib_config_fill() writes
 * @netdev: the netdevice
 *
 * Context: rtnl held.
 * Return: that size in octets.
 */
size_t eipoib_config_size(const struct net_device *netdev)
{
	return 3 * nla_total_size(sizeof(u8)) + 2 * nla_total_size(sizeof(u32));
}

/**
 * eipoib_config_fill() - write the settings as attributes
 * @skb: the message
 * @netdev: the netdevice
 *
 * Context: rtnl held.
 * Return: 0 or -EMSGSIZE.
 */
int eipoib_config_fill(struct sk_buff *skb, const struct net_device *netdev)
{
	const struct eipoib_dev *eth = eipoib_priv(netdev);

	if (nla_put_u8(skb, IFLA_EIPOIB_LEARNING, READ_ONCE(eth->config.learning)) ||
	    nla_put_u8(skb, IFLA_EIPOIB_DHCP, READ_ONCE(eth->config.dhcp)) ||
	    nla_put_u8(skb, IFLA_EIPOIB_QUERIER, READ_ONCE(eth->config.querier)) ||
	    nla_put_u32(skb, IFLA_EIPOIB_MAX_IPS, READ_ONCE(eth->local.max)) ||
	    nla_put_u32(skb, IFLA_EIPOIB_MAX_IPS_PER_MAC, READ_ONCE(eth->local.max_per_mac)))
		return -EMSGSIZE;
	return 0;
}
