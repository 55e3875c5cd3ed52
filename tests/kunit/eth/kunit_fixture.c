// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fixture: a simulated IPoIB netdevice, and an Ethernet one over it. Packets pass through the
 * network stack: those that are sent end in the ndo_start_xmit of the lower netdevice, and those
 * that are received in an RX handler of the Ethernet one.
 */
#include <linux/icmpv6.h>
#include <linux/if_arp.h>
#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <net/ip6_checksum.h>
#include <net/rtnetlink.h>

#include "kunit.h"

#define MARKER	ETH_P_802_EX1	/* of packets by which fixture_settle() waits for others */

const u8 guest_mac[ETH_ALEN] = { 0x52, 0x54, 0x00, 0x00, 0x00, 0x01 };
const u8 other_mac[ETH_ALEN] = { 0x52, 0x54, 0x00, 0x00, 0x00, 0x02 };

static const u8 lower_address[INFINIBAND_ALEN] = {
	0x80, 0x00, 0x04, 0x01, 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
	0x00, 0x02, 0xc9, 0x03, 0x00, 0x4b, 0xda, 0x63
};

static const u8 lower_broadcast[INFINIBAND_ALEN] = {
	0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0,
	0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff
};

static struct fixture *fixture_of(const struct net_device *lower)
{
	return *(struct fixture **)netdev_priv(lower);
}

/* Like the drivers of IPoIB: the receiver's address, and the encapsulation */
static int lower_header(struct sk_buff *skb, struct net_device *lower, unsigned short type,
			const void *daddr, const void *saddr, unsigned int len)
{
	struct eipoib_header *header = skb_push(skb, sizeof(*header));

	memcpy(&header->from, daddr, sizeof(header->from));
	header->ethertype = htons(type);
	header->reserved = 0;
	return sizeof(*header);
}

static const struct header_ops lower_header_ops = { .create = lower_header };

static netdev_tx_t lower_xmit(struct sk_buff *skb, struct net_device *lower)
{
	struct fixture *fx = fixture_of(lower);

	skb_queue_tail(&fx->sent, skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops lower_ops = { .ndo_start_xmit = lower_xmit };

static void lower_setup(struct net_device *lower)
{
	lower->netdev_ops = &lower_ops;
	lower->header_ops = &lower_header_ops;
	lower->type = ARPHRD_INFINIBAND;
	lower->addr_len = INFINIBAND_ALEN;
	lower->hard_header_len = sizeof(struct eipoib_header);
	lower->mtu = 2044;
	lower->max_mtu = 65520;
	lower->flags = IFF_BROADCAST | IFF_MULTICAST;
	lower->priv_flags |= IFF_NO_QUEUE;
	lower->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | NETIF_F_HW_CSUM |
			  NETIF_F_GSO_SOFTWARE;
	compat_netdev_set_lltx(lower);
	memcpy(lower->broadcast, lower_broadcast, sizeof(lower_broadcast));
	dev_addr_set(lower, lower_address);
}

static struct net_device *lower_make(struct fixture *fx)
{
	struct net_device *lower;
	int err;

	lower = alloc_netdev(sizeof(fx), "lower%d", NET_NAME_ENUM, lower_setup);
	if (!lower)
		return ERR_PTR(-ENOMEM);
	*(struct fixture **)netdev_priv(lower) = fx;
	err = register_netdev(lower);
	if (!err)
		return lower;
	free_netdev(lower);
	return ERR_PTR(err);
}

/* The RX handler of the Ethernet netdevice */
static rx_handler_result_t keep_received(struct sk_buff **pskb)
{
	struct fixture *fx = rcu_dereference((*pskb)->dev->rx_handler_data);
	struct sk_buff *skb = *pskb;

	if (skb->protocol == htons(MARKER)) {
		kfree_skb(skb);
		complete(&fx->marker);
		return RX_HANDLER_CONSUMED;
	}
	skb_push(skb, ETH_HLEN);
	skb_queue_tail(&fx->received, skb);
	return RX_HANDLER_CONSUMED;
}

/* Like `ip link add link ... type eipoib`, and `ip link set ... up`. rtnl is held. */
static int eth_make(struct fixture *fx)
{
	struct { struct nlattr head; u32 ifindex; } link = {
		.head = { .nla_len = nla_attr_size(sizeof(u32)), .nla_type = IFLA_LINK },
		.ifindex = fx->lower->ifindex
	};
	struct nlattr *tb[IFLA_MAX + 1] = { [IFLA_LINK] = &link.head };
	struct netlink_ext_ack extack = { };
	struct net_device *netdev;
	int err;

	netdev = rtnl_create_link(&init_net, "eth%d", NET_NAME_ENUM, &eipoib_link_ops, tb, &extack);
	if (IS_ERR(netdev))
		return PTR_ERR(netdev);
	err = compat_call_newlink(&eipoib_link_ops, netdev, tb, NULL, &extack);
	if (err) {
		free_netdev(netdev);
		return err;
	}
	fx->netdev = netdev;
	fx->eth = eipoib_priv(netdev);
	err = netdev_rx_handler_register(netdev, keep_received, fx);
	return err ?: dev_open(netdev, NULL);
}

/**
 * fixture_init() - a test's init: create a fixture whose netdevices are up, as test->priv
 * @test: the test
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int fixture_init(struct kunit *test)
{
	struct fixture *fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	int err;

	if (!fx)
		return -ENOMEM;
	fx->test = test;
	skb_queue_head_init(&fx->sent);
	skb_queue_head_init(&fx->received);
	init_completion(&fx->marker);
	fx->lower = lower_make(fx);
	if (IS_ERR(fx->lower))
		return PTR_ERR(fx->lower);
	test->priv = fx;
	rtnl_lock();
	err = dev_open(fx->lower, NULL);
	fx->own_groups = netdev_mc_count(fx->lower);
	if (!err)
		err = eth_make(fx);
	rtnl_unlock();
	return err;
}

/**
 * fixture_exit() - a test's exit: destroy the fixture
 * @test: the test
 *
 * Context: may sleep.
 */
void fixture_exit(struct kunit *test)
{
	struct fixture *fx = test->priv;

	if (!fx)
		return;
	rtnl_lock();
	if (fx->netdev)
		netdev_rx_handler_unregister(fx->netdev);
	/* The Ethernet one goes with it */
	unregister_netdevice(fx->lower);
	rtnl_unlock();
	free_netdev(fx->lower);
	skb_queue_purge(&fx->sent);
	skb_queue_purge(&fx->received);
}

/**
 * fixture_peer() - get the link-layer address of an interface of the link
 * @number: which one
 *
 * Context: any.
 * Return: the address.
 */
struct eipoib_lladdr fixture_peer(u8 number)
{
	return (struct eipoib_lladdr) {
		.qpn = { 0x00, 0x10, number },
		.gid = { 0xfe, 0x80, [8] = 0x02, [15] = number },
	};
}

/**
 * fixture_peer_mac() - get the MAC address that an interface of the link has
 * @fx: the fixture
 * @number: which one
 * @mac: filled in
 *
 * Context: any.
 */
void fixture_peer_mac(struct fixture *fx, u8 number, u8 *mac)
{
	struct eipoib_lladdr lladdr = fixture_peer(number);

	KUNIT_ASSERT_TRUE(fx->test, eipoib_remote_mac(&fx->eth->remotes, &lladdr, mac));
}

/* Makes a packet with room for the headers of both sides */
static struct sk_buff *make(struct fixture *fx, u32 len)
{
	struct sk_buff *skb = alloc_skb(64 + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(fx->test, skb);
	skb_reserve(skb, 64);
	return skb;
}

/**
 * fixture_frame() - make a frame of the Ethernet side
 * @fx: the fixture
 * @to: MAC address of the receiver
 * @from: MAC address of the sender
 * @ethertype: what the Ethernet header says
 * @payload: what follows it
 * @len: octets of that
 *
 * Context: may sleep.
 * Return: the frame.
 */
struct sk_buff *fixture_frame(struct fixture *fx, const u8 *to, const u8 *from, u16 ethertype,
			      const void *payload, u32 len)
{
	struct sk_buff *skb = make(fx, ETH_HLEN + len);
	struct ethhdr *ether = skb_put(skb, sizeof(*ether));

	ether_addr_copy(ether->h_dest, to);
	ether_addr_copy(ether->h_source, from);
	ether->h_proto = htons(ethertype);
	skb_put_data(skb, payload, len);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = ether->h_proto;
	skb->dev = fx->netdev;
	return skb;
}

/**
 * fixture_packet() - make a packet of the IPoIB side
 * @fx: the fixture
 * @from: link-layer address of the sender; NULL: the driver does not tell
 * @ethertype: what the encapsulation says
 * @payload: what follows it
 * @len: octets of that
 *
 * Context: may sleep.
 * Return: the packet, whose data begins with the payload.
 */
struct sk_buff *fixture_packet(struct fixture *fx, const struct eipoib_lladdr *from,
			       u16 ethertype, const void *payload, u32 len)
{
	struct sk_buff *skb = make(fx, sizeof(struct eipoib_header) + len);
	struct eipoib_header *header = skb_put_zero(skb, sizeof(*header));

	if (from)
		header->from = *from;
	header->ethertype = htons(ethertype);
	skb_put_data(skb, payload, len);
	skb_reset_mac_header(skb);
	skb_pull(skb, sizeof(*header));
	skb->protocol = header->ethertype;
	skb->dev = fx->lower;
	return skb;
}

/**
 * fixture_scatter() - have a packet be in several pages
 * @fx: the fixture
 * @skb: the packet; consumed
 * @linear: how many of its octets stay in front of the pages
 *
 * Context: may sleep.
 * Return: the packet, whose other octets are in two pages.
 */
struct sk_buff *fixture_scatter(struct fixture *fx, struct sk_buff *skb, u32 linear)
{
	u32 len = skb->len - linear, first = len / 2;
	struct page *page;
	u32 n, part;

	KUNIT_ASSERT_EQ(fx->test, skb_unclone(skb, GFP_KERNEL), 0);
	for (n = 0; n < 2; n++) {
		part = n ? len - first : first;
		page = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(max(part, 1u)));
		KUNIT_ASSERT_NOT_ERR_OR_NULL(fx->test, page);
		memcpy(page_address(page), skb->data + linear + (n ? first : 0), part);
		skb_add_rx_frag(skb, n, page, 0, part, PAGE_SIZE << get_order(max(part, 1u)));
	}
	/* The octets that were copied leave the linear part */
	skb->len -= len;
	skb->tail -= len;
	return skb;
}

/**
 * fixture_settle() - wait until the Ethernet netdevice has received what it is about to receive
 * @fx: the fixture
 *
 * Context: may sleep; on the CPU that had it receive.
 */
void fixture_settle(struct fixture *fx)
{
	struct sk_buff *skb;

	if (!netif_running(fx->netdev))
		return;
	skb = fixture_frame(fx, guest_mac, other_mac, MARKER, NULL, 0);
	skb->protocol = eth_type_trans(skb, fx->netdev);
	reinit_completion(&fx->marker);
	/* A queue of this CPU, behind all others */
	netif_rx(skb);
	KUNIT_ASSERT_NE(fx->test, wait_for_completion_timeout(&fx->marker, 30 * HZ), 0ul);
}

/**
 * fixture_xmit() - send a frame by the Ethernet netdevice
 * @fx: the fixture
 * @skb: the frame; consumed
 *
 * Context: may sleep.
 */
void fixture_xmit(struct fixture *fx, struct sk_buff *skb)
{
	migrate_disable();
	dev_queue_xmit(skb);
	fixture_settle(fx);
	migrate_enable();
}

/**
 * fixture_receive() - receive a packet by the lower netdevice
 * @fx: the fixture
 * @skb: the packet; consumed
 * @pkt_type: PACKET_HOST, PACKET_BROADCAST or PACKET_MULTICAST
 *
 * Context: may sleep.
 */
void fixture_receive(struct fixture *fx, struct sk_buff *skb, u8 pkt_type)
{
	skb->pkt_type = pkt_type;
	migrate_disable();
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
	fixture_settle(fx);
	migrate_enable();
}

/* Reads all counters, and returns how many there are and their names */
static int counts_read(struct fixture *fx, u64 *counts, char (**names)[ETH_GSTRING_LEN])
{
	const struct ethtool_ops *ops = fx->netdev->ethtool_ops;
	int count = ops->get_sset_count(fx->netdev, ETH_SS_STATS);

	KUNIT_ASSERT_LE(fx->test, count, FIXTURE_STATS);
	*names = kunit_kzalloc(fx->test, count * ETH_GSTRING_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fx->test, *names);
	ops->get_strings(fx->netdev, ETH_SS_STATS, (u8 *)*names);
	ops->get_ethtool_stats(fx->netdev, NULL, counts);
	return count;
}

/**
 * fixture_count() - read a counter of the Ethernet netdevice
 * @fx: the fixture
 * @name: as ethtool shows it
 *
 * Context: may sleep.
 * Return: its value.
 */
u64 fixture_count(struct fixture *fx, const char *name)
{
	char (*names)[ETH_GSTRING_LEN];
	u64 counts[FIXTURE_STATS];
	int n, count = counts_read(fx, counts, &names);

	for (n = 0; n < count; n++)
		if (!strcmp(names[n], name))
			return counts[n];
	KUNIT_FAIL(fx->test, "no counter %s", name);
	return 0;
}

/**
 * fixture_dropped() - expect that one packet has been dropped for a reason
 * @fx: the fixture
 * @name: the counter of this reason; NULL: no packet has been dropped
 *
 * Since this was called last, that counter has increased by one, no other counter of the
 * netdevice's drops has, and neither has anything been sent or received.
 *
 * Context: may sleep.
 */
void fixture_dropped(struct fixture *fx, const char *name)
{
	struct rtnl_link_stats64 stats = { };
	char (*names)[ETH_GSTRING_LEN];
	u64 counts[FIXTURE_STATS];
	int n, count = counts_read(fx, counts, &names);
	bool found = false;

	for (n = 0; n < count; n++) {
		if (!name || strcmp(names[n], name))
			continue;
		found = true;
		KUNIT_EXPECT_EQ_MSG(fx->test, counts[n], fx->counts[n] + 1, "%s", name);
	}
	KUNIT_EXPECT_EQ_MSG(fx->test, found, !!name, "no counter %s", name);
	fx->netdev->netdev_ops->ndo_get_stats64(fx->netdev, &stats);
	KUNIT_EXPECT_EQ_MSG(fx->test, stats.tx_dropped + stats.rx_dropped, fx->drops + !!name,
			    "drops, wanted one of %s", name ?: "none");
	fx->drops = stats.tx_dropped + stats.rx_dropped;
	memcpy(fx->counts, counts, sizeof(counts));
	fixture_nothing(fx);
}

static struct sk_buff *take(struct fixture *fx, struct sk_buff_head *queue, const char *what)
{
	struct sk_buff *skb = skb_dequeue(queue);

	KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(fx->test, skb, "nothing was %s", what);
	KUNIT_ASSERT_EQ(fx->test, skb_linearize(skb), 0);
	return skb;
}

/**
 * fixture_sent() - take the oldest packet that the lower netdevice has sent
 * @fx: the fixture
 * @ethertype: expected in its encapsulation
 *
 * Context: may sleep.
 * Return: the packet, linear, whose data begins with the lower netdevice's header.
 */
struct sk_buff *fixture_sent(struct fixture *fx, u16 ethertype)
{
	struct sk_buff *skb = take(fx, &fx->sent, "sent");
	const struct eipoib_header *header = (struct eipoib_header *)skb->data;

	KUNIT_EXPECT_EQ(fx->test, ntohs(header->ethertype), ethertype);
	KUNIT_EXPECT_EQ(fx->test, ntohs(skb->protocol), ethertype);
	KUNIT_EXPECT_EQ(fx->test, ntohs(header->reserved), 0);
	return skb;
}

/**
 * fixture_received() - take the oldest packet that the Ethernet netdevice has received
 * @fx: the fixture
 * @ethertype: expected in its Ethernet header
 *
 * Context: may sleep.
 * Return: the packet, linear, whose data begins with the Ethernet header.
 */
struct sk_buff *fixture_received(struct fixture *fx, u16 ethertype)
{
	struct sk_buff *skb = take(fx, &fx->received, "received");

	KUNIT_EXPECT_EQ(fx->test, ntohs(((struct ethhdr *)skb->data)->h_proto), ethertype);
	KUNIT_EXPECT_EQ(fx->test, ntohs(skb->protocol), ethertype);
	KUNIT_EXPECT_PTR_EQ(fx->test, skb->dev, fx->netdev);
	return skb;
}

/**
 * fixture_nothing() - expect that nothing is left that was sent or received
 * @fx: the fixture
 *
 * Context: any.
 */
void fixture_nothing(struct fixture *fx)
{
	KUNIT_EXPECT_EQ(fx->test, skb_queue_len(&fx->sent), 0u);
	KUNIT_EXPECT_EQ(fx->test, skb_queue_len(&fx->received), 0u);
}

static void finish4(void *packet, u32 len)
{
	struct iphdr *ip = packet;
	u32 head = ip->ihl * 4;
	struct igmphdr *igmp = packet + head;

	if (head < sizeof(*ip) || head > len)
		return;
	ip->tot_len = htons(len);
	ip->check = 0;
	ip->check = ip_compute_csum(ip, head);
	if (ip->protocol != IPPROTO_IGMP || len - head < sizeof(*igmp))
		return;
	igmp->csum = 0;
	igmp->csum = ip_compute_csum(igmp, len - head);
}

static void finish6(void *packet, u32 len)
{
	struct ipv6hdr *ip = packet;
	struct ipv6_opt_hdr *hop = packet + sizeof(*ip);
	struct icmp6hdr *icmp;
	u32 at = sizeof(*ip);
	u8 next = ip->nexthdr;

	ip->payload_len = htons(len - at);
	if (next == NEXTHDR_HOP && len >= at + sizeof(*hop)) {
		next = hop->nexthdr;
		at += ipv6_optlen(hop);
	}
	if (next != IPPROTO_ICMPV6 || len < at + sizeof(*icmp))
		return;
	icmp = packet + at;
	icmp->icmp6_cksum = 0;
	icmp->icmp6_cksum = csum_ipv6_magic(&ip->saddr, &ip->daddr, len - at, IPPROTO_ICMPV6,
					    csum_partial(icmp, len - at, 0));
}

/**
 * fixture_finish() - write the lengths and checksums that belong to the octets of a packet
 * @ethertype: the packet's protocol; only IPv4 and IPv6 have any
 * @packet: the packet, from its IP header on; IGMP and ICMPv6 get their checksums, too
 * @len: its length
 *
 * Context: any.
 */
void fixture_finish(u16 ethertype, void *packet, u32 len)
{
	if (ethertype == ETH_P_IP && len >= sizeof(struct iphdr))
		finish4(packet, len);
	else if (ethertype == ETH_P_IPV6 && len >= sizeof(struct ipv6hdr))
		finish6(packet, len);
}

/**
 * fixture_joined() - tell whether the lower netdevice is in a group
 * @fx: the fixture
 * @group: the group's IP address
 *
 * Context: any but hard interrupt.
 * Return: true if it is.
 */
bool fixture_joined(struct fixture *fx, const struct in6_addr *group)
{
	struct netdev_hw_addr *entry;
	struct eipoib_lladdr lladdr;
	bool found = false;

	eipoib_group_lladdr(fx->eth, group, &lladdr);
	netif_addr_lock_bh(fx->lower);
	netdev_for_each_mc_addr(entry, fx->lower)
		found |= !memcmp(entry->addr, &lladdr, sizeof(lladdr));
	netif_addr_unlock_bh(fx->lower);
	return found;
}

/**
 * fixture_arp() - make an ARP or RARP message of the Ethernet side
 * @op: operation, such as ARPOP_REQUEST
 * @sha: the sender's MAC address
 * @spa: the sender's IP address
 * @tha: the target's MAC address
 * @tpa: the target's IP address
 *
 * Context: any.
 * Return: the message.
 */
struct eipoib_arp_eth fixture_arp(u16 op, const u8 *sha, __be32 spa, const u8 *tha, __be32 tpa)
{
	struct eipoib_arp_eth arp = {
		.head = {
			.ar_hrd = htons(ARPHRD_ETHER),
			.ar_pro = htons(ETH_P_IP),
			.ar_hln = ETH_ALEN,
			.ar_pln = sizeof(__be32),
			.ar_op = htons(op),
		},
		.spa = spa,
		.tpa = tpa,
	};

	ether_addr_copy(arp.sha, sha);
	ether_addr_copy(arp.tha, tha);
	return arp;
}
