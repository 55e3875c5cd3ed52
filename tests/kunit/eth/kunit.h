/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An Ethernet netdevice over a simulated IPoIB one, for the suites. What is sent by the latter, and
 * what is received by the former, is kept for the test.
 */
#ifndef _EIPOIB_KUNIT_H
#define _EIPOIB_KUNIT_H

#include <kunit/test.h>
#include <linux/skbuff.h>

#include "eipoib.h"

#define FIXTURE_STATS	128	/* counters that ethtool may have */

struct fixture {
	struct kunit *test;
	struct net_device *lower;
	struct net_device *netdev;
	struct eipoib_dev *eth;
	int own_groups;			/* of the lower netdevice itself */
	struct sk_buff_head sent;	/* by the lower netdevice; data begins with its header */
	struct sk_buff_head received;	/* data begins with the Ethernet header */
	struct completion marker;	/* it has been received, see fixture_settle() */
	/* When fixture_dropped() was called last: all counters, and the packets dropped */
	u64 counts[FIXTURE_STATS];
	u64 drops;
};

/* kunit_main.c */
int suite_begin(struct kunit_suite *suite);
void suite_end(struct kunit_suite *suite);

/* kunit_fixture.c */
extern const u8 guest_mac[ETH_ALEN];
extern const u8 other_mac[ETH_ALEN];
int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);
struct eipoib_lladdr fixture_peer(u8 number);
void fixture_peer_mac(struct fixture *fx, u8 number, u8 *mac);
struct sk_buff *fixture_frame(struct fixture *fx, const u8 *to, const u8 *from, u16 ethertype,
			      const void *payload, u32 len);
struct sk_buff *fixture_packet(struct fixture *fx, const struct eipoib_lladdr *from,
			       u16 ethertype, const void *payload, u32 len);
struct sk_buff *fixture_scatter(struct fixture *fx, struct sk_buff *skb, u32 linear);
void fixture_xmit(struct fixture *fx, struct sk_buff *skb);
void fixture_receive(struct fixture *fx, struct sk_buff *skb, u8 pkt_type);
void fixture_settle(struct fixture *fx);
u64 fixture_count(struct fixture *fx, const char *name);
void fixture_dropped(struct fixture *fx, const char *name);
struct sk_buff *fixture_sent(struct fixture *fx, u16 ethertype);
struct sk_buff *fixture_received(struct fixture *fx, u16 ethertype);
void fixture_nothing(struct fixture *fx);
void fixture_finish(u16 ethertype, void *packet, u32 len);
struct eipoib_arp_eth fixture_arp(u16 op, const u8 *sha, __be32 spa, const u8 *tha, __be32 tpa);
bool fixture_joined(struct fixture *fx, const struct in6_addr *group);

#endif /* _EIPOIB_KUNIT_H */
