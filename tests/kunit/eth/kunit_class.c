// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of what cannot pass from one side to the other. Each class of packets has a counter.
 */
#include <linux/if_vlan.h>

#include "kunit.h"

/* Behind an ethertype of VLANs, it is in VLAN 5 */
static const u8 payload[64] = { 0x00, 0x05 };

/* Sends a frame to another host of the Ethernet side */
static void frame_is_dropped(struct kunit *test, u16 ethertype, const char *counter)
{
	struct fixture *fx = test->priv;

	fixture_xmit(fx, fixture_frame(fx, other_mac, guest_mac, ethertype, payload,
				       sizeof(payload)));
	fixture_dropped(fx, counter);
}

static void no_vlan(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct sk_buff *skb;

	frame_is_dropped(test, ETH_P_8021Q, "tx_vlan");
	frame_is_dropped(test, ETH_P_8021AD, "tx_vlan");
	/* In a field of the packet, as after a bridge that filters */
	skb = fixture_frame(fx, other_mac, guest_mac, ETH_P_IP, payload, sizeof(payload));
	__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), 5);
	fixture_xmit(fx, skb);
	fixture_dropped(fx, "tx_vlan");
}

static void no_llc(struct kunit *test)
{
	frame_is_dropped(test, 38, "tx_llc");
	frame_is_dropped(test, ETH_P_802_3_MIN - 1, "tx_llc");
	frame_is_dropped(test, 0, "tx_llc");
}

static void no_link_protocols(struct kunit *test)
{
	frame_is_dropped(test, ETH_P_LLDP, "tx_link_protocol");
	frame_is_dropped(test, ETH_P_SLOW, "tx_link_protocol");
	frame_is_dropped(test, ETH_P_PAE, "tx_link_protocol");
	frame_is_dropped(test, ETH_P_1588, "tx_link_protocol");
	frame_is_dropped(test, ETH_P_MACSEC, "tx_link_protocol");
	frame_is_dropped(test, ETH_P_PPP_DISC, "tx_link_protocol");
	frame_is_dropped(test, ETH_P_PPP_SES, "tx_link_protocol");
}

static void no_other_protocols(struct kunit *test)
{
	frame_is_dropped(test, ETH_P_MPLS_UC, "tx_protocol");
	frame_is_dropped(test, ETH_P_TIPC, "tx_protocol");
	frame_is_dropped(test, ETH_P_802_3_MIN, "tx_protocol");
	frame_is_dropped(test, 0xffff, "tx_protocol");
}

static void no_header(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_xmit(fx, fixture_frame(fx, other_mac, guest_mac, ETH_P_IP, payload,
				       sizeof(struct iphdr) - 1));
	fixture_dropped(fx, "tx_short");
	fixture_xmit(fx, fixture_frame(fx, other_mac, guest_mac, ETH_P_IPV6, payload,
				       sizeof(struct ipv6hdr) - 1));
	fixture_dropped(fx, "tx_short");
}

/* What comes from the IPoIB side */
static void packet_is_dropped(struct kunit *test, u16 ethertype, u32 len, const char *counter)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr from = fixture_peer(1);

	fixture_receive(fx, fixture_packet(fx, &from, ethertype, payload, len), PACKET_HOST);
	fixture_dropped(fx, counter);
}

static void received_other_protocols(struct kunit *test)
{
	packet_is_dropped(test, ETH_P_RARP, sizeof(payload), "rx_protocol");
	packet_is_dropped(test, ETH_P_8021Q, sizeof(payload), "rx_protocol");
	packet_is_dropped(test, 0, sizeof(payload), "rx_protocol");
}

/* The stack takes an 802.1Q header off before the module sees the packet. Passed on with this tag,
 * it would get into a VLAN of the bridge that the sender chooses.
 */
static void received_vlan(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr from = fixture_peer(1);
	struct {
		__be16 tag;
		__be16 ethertype;
		struct iphdr ip;
	} __packed tagged = {
		.tag = htons(5),
		.ethertype = htons(ETH_P_IP),
		.ip = { .version = 4, .ihl = 5, .daddr = htonl(0xffffffff) },
	};

	fixture_receive(fx, fixture_packet(fx, &from, ETH_P_8021Q, &tagged, sizeof(tagged)),
			PACKET_BROADCAST);
	fixture_dropped(fx, "rx_protocol");
	fixture_receive(fx, fixture_packet(fx, &from, ETH_P_8021AD, &tagged, sizeof(tagged)),
			PACKET_BROADCAST);
	fixture_dropped(fx, "rx_protocol");
}

static void received_short(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct eipoib_lladdr from = fixture_peer(1);
	struct sk_buff *skb;

	packet_is_dropped(test, ETH_P_IP, sizeof(struct iphdr) - 1, "rx_short");
	packet_is_dropped(test, ETH_P_IPV6, sizeof(struct ipv6hdr) - 1, "rx_short");
	packet_is_dropped(test, ETH_P_IP, 0, "rx_short");
	/* A driver that has another header in front of it */
	skb = fixture_packet(fx, &from, ETH_P_IP, payload, sizeof(payload));
	skb_set_mac_header(skb, -4);
	fixture_receive(fx, skb, PACKET_HOST);
	fixture_dropped(fx, "rx_short");
}

static void received_while_down(struct kunit *test)
{
	struct fixture *fx = test->priv;

	rtnl_lock();
	dev_close(fx->netdev);
	rtnl_unlock();
	packet_is_dropped(test, ETH_P_IP, sizeof(payload), "rx_down");
	packet_is_dropped(test, ETH_P_ARP, sizeof(payload), "rx_down");
}

static struct kunit_case class_cases[] = {
	KUNIT_CASE(no_vlan),
	KUNIT_CASE(no_llc),
	KUNIT_CASE(no_link_protocols),
	KUNIT_CASE(no_other_protocols),
	KUNIT_CASE(no_header),
	KUNIT_CASE(received_other_protocols),
	KUNIT_CASE(received_vlan),
	KUNIT_CASE(received_short),
	KUNIT_CASE(received_while_down),
	{}
};

static struct kunit_suite class_suite = {
	.name = "eipoib_class",
	.suite_init = suite_begin,
	.suite_exit = suite_end,
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = class_cases,
};

kunit_test_suite(class_suite);
