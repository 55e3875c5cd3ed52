// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * IP addresses on the Ethernet side as entries of the netdevice's forwarding database: `bridge fdb
 * add MAC dev eth5 self dst IP`. Entries without an IP address are those that any netdevice has:
 * addresses to be received.
 */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "eipoib.h"

/* The stack numbers the entries of a dump, and says which one is the next. The numbers of IP
 * addresses begin here, behind those of what any netdevice has.
 */
#define FIRST_IP	((int)BIT(24))
static_assert(FIRST_IP + EIPOIB_NUMBER_MAX < INT_MAX);

static int ip_of_attr(const struct nlattr *attr, struct in6_addr *ip,
		      struct netlink_ext_ack *extack)
{
	switch (nla_len(attr)) {
	case sizeof(__be32):
		*ip = eipoib_ip4(nla_get_in_addr(attr));
		return 0;
	case sizeof(struct in6_addr):
		*ip = nla_get_in6_addr(attr);
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, attr, "Give an IPv4 or IPv6 address after dst");
	return -EINVAL;
}

/* Gets the IP address of an entry, which must have nothing that other kinds of netdevices have */
static int entry_parse(struct nlattr *tb[], u16 vid, struct in6_addr *ip,
		       struct netlink_ext_ack *extack)
{
	if (vid || tb[NDA_PORT] || tb[NDA_VNI] || tb[NDA_SRC_VNI] || tb[NDA_IFINDEX] ||
	    tb[NDA_NH_ID]) {
		NL_SET_ERR_MSG(extack, "Only dst can be given, but no VLAN, VNI, port or via");
		return -EINVAL;
	}
	return ip_of_attr(tb[NDA_DST], ip, extack);
}

/**
 * eipoib_fdb_add() - ndo_fdb_add
 * @ndm: the request's header
 * @tb: its attributes
 * @netdev: the netdevice
 * @mac: the MAC address
 * @vid: the VLAN ID, or 0
 * @flags: those of the netlink message
 * @notified: not set, so that the stack sends notifications
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int eipoib_fdb_add(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *netdev,
		   const unsigned char *mac, u16 vid, u16 flags, bool *notified,
		   struct netlink_ext_ack *extack)
{
	struct eipoib_dev *eth = eipoib_priv(netdev);
	struct in6_addr ip;
	int err;

	if (!tb[NDA_DST])
		return ndo_dflt_fdb_add(ndm, tb, netdev, mac, vid, flags);
	err = entry_parse(tb, vid, &ip, extack);
	if (err)
		return err;
	if (!(ndm->ndm_state & (NUD_PERMANENT | NUD_NOARP))) {
		NL_SET_ERR_MSG(extack, "An entry with dst is permanent; dynamic ones are learned");
		return -EINVAL;
	}
	if (flags & NLM_F_REPLACE)
		return eipoib_static_replace(eth, &ip, mac, extack);
	return eipoib_static_add(eth, &ip, mac, extack);
}

/**
 * eipoib_fdb_del() - ndo_fdb_del
 * @ndm: the request's header
 * @tb: its attributes
 * @netdev: the netdevice
 * @mac: the MAC address
 * @vid: the VLAN ID, or 0
 * @notified: not set, so that the stack sends notifications
 * @extack: for a sentence that says what is wrong
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int eipoib_fdb_del(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *netdev,
		   const unsigned char *mac, u16 vid, bool *notified,
		   struct netlink_ext_ack *extack)
{
	struct in6_addr ip;
	int err;

	if (!tb[NDA_DST])
		return ndo_dflt_fdb_del(ndm, tb, netdev, mac, vid);
	err = entry_parse(tb, vid, &ip, extack);
	if (err)
		return err;
	return eipoib_static_delete(eipoib_priv(netdev), &ip, mac, extack);
}

struct fdb_dump {
	struct sk_buff *skb;
	const struct netlink_callback *cb;
	const struct net_device *netdev;
	int *idx;			/* set to the number of an entry that did not fit */
	int err;
};

static bool put_ip(struct sk_buff *skb, const struct in6_addr *ip)
{
	if (ipv6_addr_v4mapped(ip))
		return nla_put_in_addr(skb, NDA_DST, ip->s6_addr32[3]);
	return nla_put_in6_addr(skb, NDA_DST, ip);
}

static bool put_entry(struct sk_buff *skb, const struct eipoib_ip_info *info)
{
	struct nda_cacheinfo cache = {
		.ndm_used = jiffies_to_clock_t(info->age),
		.ndm_updated = jiffies_to_clock_t(info->age),
	};

	return nla_put(skb, NDA_LLADDR, ETH_ALEN, info->mac) || put_ip(skb, &info->ip) ||
	       nla_put(skb, NDA_CACHEINFO, sizeof(cache), &cache);
}

static bool entry_visit(void *context, const struct eipoib_ip_info *info)
{
	struct fdb_dump *dump = context;
	const struct netlink_callback *cb = dump->cb;
	struct nlmsghdr *message;
	struct ndmsg *ndm;

	message = nlmsg_put(dump->skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			    RTM_NEWNEIGH, sizeof(*ndm), NLM_F_MULTI);
	if (!message)
		goto full;
	ndm = nlmsg_data(message);
	*ndm = (struct ndmsg) {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = dump->netdev->ifindex,
		.ndm_state = info->is_static ? NUD_PERMANENT : NUD_REACHABLE,
		.ndm_flags = NTF_SELF,
	};
	if (put_entry(dump->skb, info)) {
		nlmsg_cancel(dump->skb, message);
		goto full;
	}
	nlmsg_end(dump->skb, message);
	return true;

full:
	*dump->idx = FIRST_IP + info->number;
	dump->err = -EMSGSIZE;
	return false;
}

/**
 * eipoib_fdb_dump() - ndo_fdb_dump
 * @skb: the message
 * @cb: the dump
 * @netdev: the netdevice
 * @filter_dev: unused
 * @idx: number of the next entry
 *
 * Context: rtnl held.
 * Return: 0, or -EMSGSIZE if the message has no room for the entry @idx.
 */
int eipoib_fdb_dump(struct sk_buff *skb, struct netlink_callback *cb, struct net_device *netdev,
		    struct net_device *filter_dev, int *idx)
{
	struct fdb_dump dump = { .skb = skb, .cb = cb, .netdev = netdev, .idx = idx };
	int err, first = compat_fdb_dump_idx(cb);

	if (first < FIRST_IP) {
		err = ndo_dflt_fdb_dump(skb, cb, netdev, filter_dev, idx);
		if (err)
			return err;
		first = FIRST_IP;
	}
	eipoib_ip_walk(&eipoib_priv(netdev)->local, first - FIRST_IP, entry_visit, &dump);
	return dump.err;
}
