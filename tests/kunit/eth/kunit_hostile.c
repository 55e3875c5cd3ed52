// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of what hostile hosts of both sides try: addresses of others, addresses that are none, and
 * queries that nobody answers.
 */
#include <linux/delay.h>
#include <linux/icmpv6.h>
#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ipv6.h>

#include "kunit.h"

/* A query of IGMPv2 about all groups, or one, with a router alert option */
struct igmp_packet {
	struct iphdr ip;
	u8 router_alert[4];
	u8 type;
	u8 time;
	__sum16 checksum;
	__be32 group;
} __packed;

/* The same of MLDv1 */
struct mld_packet {
	struct ipv6hdr ip;
	u8 hop_by_hop[8];
	u8 type;
	u8 code;
	__sum16 checksum;
	__be16 time;
	__be16 reserved;
	struct in6_addr group;
} __packed;

static const struct igmp_packet igmp_good = {
	.ip = { .version = 4, .ihl = 6, .ttl = 1, .protocol = IPPROTO_IGMP,
		.tot_len = cpu_to_be16(sizeof(struct igmp_packet)),
		.daddr = cpu_to_be32(INADDR_ALLHOSTS_GROUP) },
	.router_alert = { 0x94, 4, 0, 0 },
	.type = 0x11,
	.time = 100,
};

static const struct mld_packet mld_good = {
	.ip = { .version = 6, .hop_limit = 1, .nexthdr = NEXTHDR_HOP,
		.payload_len = cpu_to_be16(sizeof(struct mld_packet) - sizeof(struct ipv6hdr)),
		.saddr = { .s6_addr = { 0xfe, 0x80, [15] = 9 } },
		.daddr = { .s6_addr = { 0xff, 0x02, [15] = 1 } } },
	.hop_by_hop = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 },
	.type = ICMPV6_MGM_QUERY,
	.time = cpu_to_be16(10000),
};

static struct in6_addr ip(u32 number)
{
	return eipoib_ip4(htonl(0x0a000000 + number));
}

static bool learn(struct fixture *fx, u32 number, const u8 *mac)
{
	struct in6_addr address = ip(number);
	bool may;

	local_bh_disable();
	may = eipoib_learn_local(fx->eth, &address, mac);
	local_bh_enable();
	return may;
}

static void receive(struct fixture *fx, u16 ethertype, const void *packet, u32 len, u8 pkt_type)
{
	struct eipoib_lladdr peer = fixture_peer(9);

	fixture_receive(fx, fixture_packet(fx, &peer, ethertype, packet, len), pkt_type);
	fixture_settle(fx);
	skb_queue_purge(&fx->received);
}

/* Nobody has the address of a group; a broadcast would be taken for a packet to a local host */
static void source_is_a_group(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u8 mac[ETH_ALEN];

	eth_broadcast_addr(mac);
	KUNIT_EXPECT_FALSE(test, learn(fx, 1, mac));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_has_mac(&fx->eth->local, mac));
}

/* The MAC address of an interface that is not known at the moment is taken by a guest: when the
 * interface says something again, it gets another one, by which it is reached.
 */
static void claimed_before(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr peer = fixture_peer(7);
	struct eipoib_arp_eth arp = {
		.head = { .ar_hrd = htons(ARPHRD_ETHER), .ar_pro = htons(ETH_P_IP),
			  .ar_hln = ETH_ALEN, .ar_pln = 4, .ar_op = htons(ARPOP_REPLY) },
		.spa = htonl(0x0a000002), .tpa = htonl(0x0a000003),
	};
	u8 mac[ETH_ALEN], claimed[ETH_ALEN];

	eipoib_remote_mac_of(&peer, claimed);
	KUNIT_EXPECT_TRUE(test, learn(fx, 1, claimed));
	eipoib_remote_mac(&fx->eth->remotes, &peer, mac);
	KUNIT_EXPECT_FALSE(test, ether_addr_equal(mac, claimed));
	ether_addr_copy(arp.sha, guest_mac);
	ether_addr_copy(arp.tha, mac);
	fixture_xmit(fx, fixture_frame(fx, mac, guest_mac, ETH_P_ARP, &arp, sizeof(arp)));
	kfree_skb(fixture_sent(fx, ETH_P_ARP));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "tx_local"), 0ull);
	/* That one cannot be learned */
	KUNIT_EXPECT_TRUE(test, learn(fx, 4, mac));
	KUNIT_EXPECT_FALSE(test, eipoib_ip_is(&fx->eth->local, &(struct in6_addr) { }, mac));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "local_refused"), 1ull);
}

/* A static entry stands whoever says otherwise, also by the MAC address of the other side */
static void static_stands(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr peer = fixture_peer(7);
	struct in6_addr address = ip(1);
	u8 mac[ETH_ALEN];

	eipoib_remote_mac(&fx->eth->remotes, &peer, mac);
	KUNIT_EXPECT_EQ(test, eipoib_learn_static(fx->eth, &address, guest_mac), 0);
	KUNIT_EXPECT_TRUE(test, learn(fx, 1, guest_mac));
	KUNIT_EXPECT_FALSE(test, learn(fx, 1, other_mac));
	KUNIT_EXPECT_FALSE(test, learn(fx, 1, mac));
	KUNIT_EXPECT_FALSE(test, eipoib_learn_permits(fx->eth, &address, mac));
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, eipoib_learn_heard(fx->eth, &address, mac));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, eipoib_ip_is(&fx->eth->local, &address, guest_mac));
}

/* What was learned before is not known any more */
static void learning_ends(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr address = ip(1), other = ip(2);

	learn(fx, 1, guest_mac);
	KUNIT_EXPECT_EQ(test, eipoib_learn_static(fx->eth, &other, other_mac), 0);
	rtnl_lock();
	eipoib_config_set_learning(fx->eth, false);
	rtnl_unlock();
	KUNIT_EXPECT_FALSE(test, eipoib_ip_is(&fx->eth->local, &address, guest_mac));
	KUNIT_EXPECT_FALSE(test, learn(fx, 1, guest_mac));
	KUNIT_EXPECT_TRUE(test, learn(fx, 2, other_mac));
	KUNIT_EXPECT_FALSE(test, learn(fx, 2, guest_mac));
}

/* IPv6 packets with IPv4 addresses, which the tables would take for those of IPv4 */
static void mapped_addresses(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipv6hdr packet = { .version = 6, .nexthdr = IPPROTO_UDP, .hop_limit = 64,
				  .saddr = { .s6_addr = { 0xfd, [15] = 1 } } };
	int n;

	packet.daddr = ip(1);
	for (n = 0; n < 2; n++) {
		fixture_xmit(fx, fixture_frame(fx, other_mac, guest_mac, ETH_P_IPV6, &packet,
					       sizeof(packet)));
		fixture_dropped(fx, "tx_bad_ip");
		receive(fx, ETH_P_IPV6, &packet, sizeof(packet), PACKET_HOST);
		fixture_dropped(fx, "rx_bad_ip");
		swap(packet.saddr, packet.daddr);
	}
}

/* Expects that a packet counts as a query, or does not */
static void query(struct fixture *fx, u16 ethertype, const void *packet, u32 len, bool counts)
{
	bool *any = ethertype == ETH_P_IP ? &fx->eth->members.igmp.any :
					    &fx->eth->members.mld.any;

	*any = false;
	receive(fx, ethertype, packet, len, PACKET_MULTICAST);
	KUNIT_EXPECT_EQ(fx->test, *any, counts);
}

static void igmp_query(struct fixture *fx, struct igmp_packet packet, bool counts)
{
	fixture_finish(ETH_P_IP, &packet, sizeof(packet));
	query(fx, ETH_P_IP, &packet, sizeof(packet), counts);
	packet.checksum = (__force __sum16)~(__force u16)packet.checksum;
	query(fx, ETH_P_IP, &packet, sizeof(packet), false);
}

/* A query of IGMPv3, with room for one source */
static void igmp3_query(struct fixture *fx, u16 sources, u32 len, bool counts)
{
	struct {
		struct igmp_packet igmp;
		u8 qrv;
		u8 qqic;
		__be16 sources;
		__be32 source;
	} __packed packet = { .igmp = igmp_good, .sources = htons(sources) };

	fixture_finish(ETH_P_IP, &packet, len);
	query(fx, ETH_P_IP, &packet, len, counts);
}

/* Only what all hosts of the link answer within the time that is waited for counts as a query */
static void igmp_queries(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct igmp_packet packet = igmp_good;

	igmp_query(fx, packet, true);
	packet.ip.ttl = 64;
	igmp_query(fx, packet, false);
	packet = igmp_good;
	packet.ip.daddr = htonl(0xe0000016);
	igmp_query(fx, packet, false);
	packet = igmp_good;
	packet.time = 255;
	igmp_query(fx, packet, false);
	packet = igmp_good;
	packet.group = htonl(0xef010001);
	igmp_query(fx, packet, false);
	packet.group = htonl(0x0a000001);
	igmp_query(fx, packet, false);
	igmp3_query(fx, 0, sizeof(packet) + 4, true);
	igmp3_query(fx, 1, sizeof(packet) + 8, false);
	igmp3_query(fx, 0, sizeof(packet) + 3, false);
	packet = igmp_good;
	fixture_finish(ETH_P_IP, &packet, sizeof(packet));
	/* From the Ethernet side, whose bridges keep the answers to themselves */
	fx->eth->members.igmp.any = false;
	fixture_xmit(fx, fixture_frame(fx, (u8[]) { 1, 0, 0x5e, 0, 0, 1 }, guest_mac, ETH_P_IP,
				       &packet, sizeof(packet)));
	kfree_skb(fixture_sent(fx, ETH_P_IP));
	KUNIT_EXPECT_FALSE(test, fx->eth->members.igmp.any);
}

static void mld_query(struct fixture *fx, struct mld_packet packet, bool counts)
{
	fixture_finish(ETH_P_IPV6, &packet, sizeof(packet));
	query(fx, ETH_P_IPV6, &packet, sizeof(packet), counts);
	packet.checksum = (__force __sum16)~(__force u16)packet.checksum;
	query(fx, ETH_P_IPV6, &packet, sizeof(packet), false);
}

/* A query of MLDv2, with room for one source */
static void mld2_query(struct fixture *fx, u16 sources, u32 len, bool counts)
{
	struct {
		struct mld_packet mld;
		u8 qrv;
		u8 qqic;
		__be16 sources;
		struct in6_addr source;
	} __packed packet = { .mld = mld_good, .sources = htons(sources) };

	fixture_finish(ETH_P_IPV6, &packet, len);
	query(fx, ETH_P_IPV6, &packet, len, counts);
}

static void mld_queries(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct mld_packet packet = mld_good;

	mld_query(fx, packet, true);
	packet.ip.hop_limit = 2;
	mld_query(fx, packet, false);
	packet = mld_good;
	packet.ip.saddr.s6_addr[0] = 0x20;
	mld_query(fx, packet, false);
	packet = mld_good;
	packet.ip.daddr.s6_addr[15] = 2;
	mld_query(fx, packet, false);
	packet = mld_good;
	packet.time = htons(60000);
	mld_query(fx, packet, false);
	packet = mld_good;
	packet.group = packet.ip.daddr;
	mld_query(fx, packet, false);
	packet.group = packet.ip.saddr;
	mld_query(fx, packet, false);
	/* Without the router alert option, or with one that is not about MLD */
	packet = mld_good;
	memset(&packet.hop_by_hop[2], 0, 6);
	mld_query(fx, packet, false);
	packet = mld_good;
	packet.hop_by_hop[5] = 1;
	mld_query(fx, packet, false);
	mld2_query(fx, 0, sizeof(packet) + 4, true);
	mld2_query(fx, 1, sizeof(packet) + 20, false);
	mld2_query(fx, 0, sizeof(packet) + 3, false);
}

/* With a QPN of its own, a host would be sent what is for the address of another one that it names;
 * and the settings are those of the Ethernet netdevice.
 */
static void dedicated(struct kunit *test)
{
	struct eipoib_dev *slave = kunit_kzalloc(test, sizeof(*slave), GFP_KERNEL);
	struct in6_addr theirs = ip(1), own = ip(2);
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, slave);
	slave->domain = fx->eth;
	ether_addr_copy(slave->slave.mac, guest_mac);
	slave->config.learning = true;
	KUNIT_EXPECT_EQ(test, eipoib_learn_static(fx->eth, &theirs, other_mac), 0);
	KUNIT_EXPECT_TRUE(test, eipoib_learn_permits(slave, &own, guest_mac));
	KUNIT_EXPECT_FALSE(test, eipoib_learn_permits(slave, &own, other_mac));
	KUNIT_EXPECT_FALSE(test, eipoib_learn_permits(slave, &theirs, other_mac));
	rtnl_lock();
	eipoib_config_set_learning(fx->eth, false);
	rtnl_unlock();
	KUNIT_EXPECT_FALSE(test, eipoib_learn_permits(slave, &own, guest_mac));
}

/* Makes a further lower netdevice of the fixture's link, by which packets are received instead. It
 * has tables, which are not to be used.
 */
static struct eipoib_dev *slave_make(struct kunit *test)
{
	struct eipoib_dev *slave = kunit_kzalloc(test, sizeof(*slave), GFP_KERNEL);
	struct fixture *fx = test->priv;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, slave);
	slave->netdev = fx->netdev;
	slave->lower = fx->lower;
	slave->stats = fx->eth->stats;
	slave->config.learning = true;
	KUNIT_ASSERT_EQ(test, eipoib_tables_init(slave), 0);
	slave->domain = fx->eth;
	rtnl_lock();
	netdev_rx_handler_unregister(fx->lower);
	KUNIT_EXPECT_EQ(test, netdev_rx_handler_register(fx->lower, eipoib_receive, slave), 0);
	rtnl_unlock();
	return slave;
}

static void slave_unmake(struct kunit *test, struct eipoib_dev *slave)
{
	struct fixture *fx = test->priv;

	rtnl_lock();
	netdev_rx_handler_unregister(fx->lower);
	KUNIT_EXPECT_EQ(test, netdev_rx_handler_register(fx->lower, eipoib_receive, fx->eth), 0);
	rtnl_unlock();
	slave->domain = slave;
	eipoib_tables_destroy(slave);
}

/* What a further lower netdevice that has no MAC address yet has received goes on when the host
 * says by the first one that it has the IP address
 */
static void waits_of_slave_in(struct kunit *test)
{
	struct iphdr packet = { .version = 4, .ihl = 5, .protocol = IPPROTO_UDP,
				.tot_len = htons(sizeof(packet)), .saddr = htonl(0x0a000002),
				.daddr = htonl(0x0a000001) };
	struct eipoib_dev *slave = slave_make(test);
	struct eipoib_lladdr peer = fixture_peer(9);
	struct fixture *fx = test->priv;
	struct sk_buff *skb;

	fixture_receive(fx, fixture_packet(fx, &peer, ETH_P_IP, &packet, sizeof(packet)),
			PACKET_HOST);
	migrate_disable();
	learn(fx, 1, guest_mac);
	fixture_settle(fx);
	migrate_enable();
	/* First, as a test ends where it expects a packet that is not there */
	slave_unmake(test, slave);
	kfree_skb(fixture_received(fx, ETH_P_ARP));
	skb = fixture_received(fx, ETH_P_IP);
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(skb->data, guest_mac));
	kfree_skb(skb);
	fixture_dropped(fx, NULL);
}

/* What a host sends by a further lower netdevice goes on when the first one has received the
 * answer, as when that was sent to all
 */
static void waits_of_slave_out(struct kunit *test)
{
	struct iphdr packet = { .version = 4, .ihl = 5, .protocol = IPPROTO_UDP,
				.tot_len = htons(sizeof(packet)), .saddr = htonl(0x0a000001),
				.daddr = htonl(0x0a000002) };
	struct eipoib_dev *slave = slave_make(test);
	struct in6_addr address = ip(2);
	struct fixture *fx = test->priv;
	struct eipoib_lladdr peer = fixture_peer(9);
	u8 mac[ETH_ALEN];

	ether_addr_copy(slave->slave.mac, guest_mac);
	hlist_add_head_rcu(&slave->slave.key_node,
			   &fx->eth->slaves.by_mac[eipoib_slave_bucket(guest_mac)]);
	fx->eth->slaves.dedicated = 1;
	fixture_xmit(fx, fixture_frame(fx, other_mac, guest_mac, ETH_P_IP, &packet,
				       sizeof(packet)));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&fx->sent), 1u);
	eipoib_remote_mac(&fx->eth->remotes, &peer, mac);
	local_bh_disable();
	eipoib_learn_heard(fx->eth, &address, mac);
	local_bh_enable();
	fx->eth->slaves.dedicated = 0;
	hlist_del_rcu(&slave->slave.key_node);
	synchronize_net();
	slave_unmake(test, slave);
	kfree_skb(fixture_sent(fx, ETH_P_ARP));
	kfree_skb(fixture_sent(fx, ETH_P_IP));
	fixture_dropped(fx, NULL);
}

/* Of a VLAN and an address at once one is refused, so the other must not be set either */
static void vlan_and_mac(struct kunit *test)
{
	struct { struct nlattr head; u16 vlan; } vlan = {
		.head = { .nla_len = nla_attr_size(sizeof(u16)) },
		.vlan = 6,
	};
	struct { struct nlattr head; u8 mac[ETH_ALEN]; } mac = {
		.head = { .nla_len = nla_attr_size(ETH_ALEN) },
	};
	struct nlattr *data[IFLA_EIPOIB_SLAVE_MAX + 1] = {
		[IFLA_EIPOIB_SLAVE_VLAN] = &vlan.head,
		[IFLA_EIPOIB_SLAVE_MAC] = &mac.head,
	};
	struct netlink_ext_ack extack = { };
	struct fixture *fx = test->priv;
	int err;

	ether_addr_copy(mac.mac, guest_mac);
	fx->eth->slave.vlan = 5;
	rtnl_lock();
	err = eipoib_slave_changelink(fx->netdev, fx->lower, NULL, data, &extack);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, err, -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_EQ(test, fx->eth->slave.vlan, 5);
	fx->eth->slave.vlan = 0;
}

/* How often a group is wanted on the Ethernet netdevice, or joined on the lower one */
static int group_uses(struct fixture *fx, const u8 *mac)
{
	struct netdev_hw_addr *entry;
	int uses = 0;

	netif_addr_lock_bh(fx->netdev);
	netdev_for_each_mc_addr(entry, fx->netdev)
		if (ether_addr_equal(entry->addr, mac))
			uses = entry->refcount;
	netif_addr_unlock_bh(fx->netdev);
	return uses;
}

/* What is sent to all nodes is received for the hosts behind the netdevice, whether or not IPv6 of
 * this host wants it, too
 */
static void all_nodes(struct kunit *test)
{
	static const u8 mac[ETH_ALEN] = { 0x33, 0x33, [5] = 1 };
	struct fixture *fx = test->priv;
	int uses = group_uses(fx, mac);

	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &mld_good.ip.daddr));
	rtnl_lock();
	fx->netdev->netdev_ops->ndo_stop(fx->netdev);
	KUNIT_EXPECT_LT(test, group_uses(fx, mac), uses);
	KUNIT_EXPECT_EQ(test, fx->netdev->netdev_ops->ndo_open(fx->netdev), 0);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, group_uses(fx, mac), uses);
}

/* Two groups are left by a host; that of which a host of the link says that it is in it stays,
 * since others have heard that and say nothing. Leaves that go on do not put this off.
 */
static void leaves(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr left = eipoib_ip4(htonl(0xef010001)), kept = eipoib_ip4(htonl(0xef010002));
	struct in6_addr third = eipoib_ip4(htonl(0xef010003));
	struct igmp_packet report = igmp_good;
	int n;

	local_bh_disable();
	eipoib_member_report(fx->eth, &left, guest_mac);
	eipoib_member_report(fx->eth, &kept, guest_mac);
	eipoib_member_leave(fx->eth, &left);
	eipoib_member_leave(fx->eth, &kept);
	local_bh_enable();
	report.type = 0x16;
	report.group = kept.s6_addr32[3];
	report.ip.daddr = report.group;
	fixture_finish(ETH_P_IP, &report, sizeof(report));
	receive(fx, ETH_P_IP, &report, sizeof(report), PACKET_MULTICAST);
	for (n = 0; n < 15; n++) {
		msleep(300);
		local_bh_disable();
		eipoib_member_report(fx->eth, &third, guest_mac);
		eipoib_member_leave(fx->eth, &third);
		local_bh_enable();
	}
	KUNIT_EXPECT_FALSE(test, fixture_joined(fx, &left));
	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &kept));
	fixture_settle(fx);
	skb_queue_purge(&fx->received);
}

/* The group by which an address is asked for, which its host does not report, is reported by
 * another host, which then leaves it; and the other way round
 */
static void leaves_required(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct in6_addr first = { .s6_addr = { 0xff, 2, [11] = 1, 0xff, 0x12, 0x34, 0x56 } };
	struct in6_addr second = { .s6_addr = { 0xff, 2, [11] = 1, 0xff, 0x12, 0x34, 0x57 } };
	struct in6_addr third = { .s6_addr = { 0xff, 2, [11] = 1, 0xff, 0x12, 0x34, 0x58 } };

	local_bh_disable();
	eipoib_member_report(fx->eth, &first, other_mac);
	eipoib_member_require(fx->eth, &first, guest_mac);
	eipoib_member_require(fx->eth, &second, guest_mac);
	eipoib_member_report(fx->eth, &second, other_mac);
	eipoib_member_report(fx->eth, &third, other_mac);
	eipoib_member_leave(fx->eth, &first);
	eipoib_member_leave(fx->eth, &second);
	eipoib_member_leave(fx->eth, &third);
	local_bh_enable();
	msleep(4000);
	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &first));
	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &second));
	KUNIT_EXPECT_FALSE(test, fixture_joined(fx, &third));
	KUNIT_EXPECT_EQ(test, READ_ONCE(fx->eth->members.count[EIPOIB_MEMBER_REPORTED]), 0u);
	KUNIT_EXPECT_EQ(test, READ_ONCE(fx->eth->members.count[EIPOIB_MEMBER_REQUIRED]), 2u);
	fixture_settle(fx);
	skb_queue_purge(&fx->received);
}

/* Two general queries that nobody has answered do not have a group be left: they may be such that
 * hosts drop them. The hosts are asked first.
 */
static void queries_of_others(struct kunit *test)
{
	struct in6_addr left = eipoib_ip4(htonl(0xef010001)), kept = eipoib_ip4(htonl(0xef010002));
	struct fixture *fx = test->priv;
	struct eipoib_members *members = &fx->eth->members;

	local_bh_disable();
	eipoib_member_report(fx->eth, &left, guest_mac);
	eipoib_member_report(fx->eth, &kept, guest_mac);
	local_bh_enable();
	spin_lock_bh(&members->lock);
	members->igmp.any_before = true;
	members->igmp.before = jiffies + 1;
	members->igmp.last = jiffies - 60 * HZ;
	spin_unlock_bh(&members->lock);
	eipoib_members_query(fx->eth);
	msleep(500);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, "queries"), 2ull);
	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &left));
	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &kept));
	local_bh_disable();
	eipoib_member_report(fx->eth, &kept, other_mac);
	local_bh_enable();
	msleep(3500);
	KUNIT_EXPECT_FALSE(test, fixture_joined(fx, &left));
	KUNIT_EXPECT_TRUE(test, fixture_joined(fx, &kept));
	fixture_settle(fx);
	skb_queue_purge(&fx->received);
}

/* Returns how many of some groups by which addresses are asked for a host is refused */
static u32 required_refused(struct fixture *fx, const u8 *mac, u32 first, u32 count)
{
	struct in6_addr group = { .s6_addr = { 0xff, 2, [11] = 1, 0xff } };
	u64 before = fixture_count(fx, "group_refused");
	u32 n;

	for (n = first; n < first + count; n++) {
		group.s6_addr[15] = n;
		local_bh_disable();
		eipoib_member_require(fx->eth, &group, mac);
		local_bh_enable();
	}
	return fixture_count(fx, "group_refused") - before;
}

/* A host that names ever new IPv6 addresses does not take the groups of others */
static void required_share(struct kunit *test)
{
	struct fixture *fx = test->priv;

	eipoib_ip_set_limits(&fx->eth->local, 100, 8);
	KUNIT_EXPECT_EQ(test, required_refused(fx, guest_mac, 0, 11), 3u);
	KUNIT_EXPECT_EQ(test, required_refused(fx, guest_mac, 0, 8), 0u);
	KUNIT_EXPECT_EQ(test, required_refused(fx, other_mac, 8, 3), 0u);
	KUNIT_EXPECT_EQ(test, eipoib_members_count(fx->eth), 11u);
}

/* Addresses that a host has chosen so that their words have the same sum are not all looked for in
 * one bucket
 */
static void announced_alike(struct kunit *test)
{
	struct in6_addr address = { .s6_addr = { 0xfd } };
	struct fixture *fx = test->priv;
	struct eipoib_announce *announce = &fx->eth->announce;
	u32 n, used = 0;

	for (n = 0; n < 100; n++) {
		address.s6_addr32[2] = htonl(n);
		address.s6_addr32[3] = htonl(n);
		eipoib_ip_set(&fx->eth->local, &address, guest_mac);
	}
	eipoib_announce_mac(fx->eth, guest_mac);
	spin_lock_bh(&announce->lock);
	for (n = 0; n < ARRAY_SIZE(announce->by_ip); n++)
		used += !hlist_empty(&announce->by_ip[n]);
	spin_unlock_bh(&announce->lock);
	KUNIT_EXPECT_GT(test, used, 20u);
}

static struct kunit_case hostile_cases[] = {
	KUNIT_CASE(source_is_a_group),
	KUNIT_CASE(claimed_before),
	KUNIT_CASE(static_stands),
	KUNIT_CASE(learning_ends),
	KUNIT_CASE(mapped_addresses),
	KUNIT_CASE(igmp_queries),
	KUNIT_CASE(mld_queries),
	KUNIT_CASE(dedicated),
	KUNIT_CASE(waits_of_slave_in),
	KUNIT_CASE(waits_of_slave_out),
	KUNIT_CASE(vlan_and_mac),
	KUNIT_CASE(all_nodes),
	KUNIT_CASE(leaves),
	KUNIT_CASE(leaves_required),
	KUNIT_CASE(queries_of_others),
	KUNIT_CASE(required_share),
	KUNIT_CASE(announced_alike),
	{}
};

static struct kunit_suite hostile_suite = {
	.name = "eipoib_hostile",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = hostile_cases,
};

kunit_test_suite(hostile_suite);
