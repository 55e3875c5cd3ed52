// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DHCP for IPv4. A client that has no address yet gets its answers by unicast to its MAC address,
 * unless it asks for broadcasts. A server on IPoIB cannot send them: a MAC address is not a
 * link-layer address there. So the requests of clients on the Ethernet side are changed, as the
 * netdevice's configuration says (enum eipoib_dhcp_mode): in the default mode they ask for
 * broadcasts; or they get the form that RFC 4390 defines for clients on IPoIB.
 *
 * The requests are remembered. The answers go to their clients only; and the address that a client
 * has requested and is given is known to be on the Ethernet side, before it sends any ARP.
 *
 * What a relay forwards is not changed, nor is DHCPv6, which has its own identifiers.
 */
#include <linux/if_arp.h>

#include "eipoib.h"
#include "eipoib_dhcp.h"
#include "eipoib_dhcp_msg.h"

/* Finds the message in a packet. Returns false if the packet passes as it is. */
static bool parse(struct eipoib_dev *eth, struct sk_buff *skb, struct eipoib_dhcp_msg *msg)
{
	if (READ_ONCE(eth->config.dhcp) == EIPOIB_DHCP_OFF)
		return false;
	if (eipoib_dhcp_parse(skb, msg))
		return true;
	eipoib_count(eth, EIPOIB_STAT_DHCP_BAD);
	return false;
}

static bool has_mac(const struct eipoib_bootp *bootp)
{
	return bootp->htype == ARPHRD_ETHER && bootp->hlen == ETH_ALEN &&
	       is_valid_ether_addr(bootp->chaddr);
}

/* Notes a request, unless somebody else has sent it: nobody's entries are to be replaced by others.
 * Returns whether it is to be rewritten.
 */
static bool remember(struct eipoib_dev *eth, const struct eipoib_dhcp_msg *msg,
		     const struct ethhdr *ether)
{
	struct eipoib_dhcp_asked asked = {
		.xid = msg->bootp->xid,
		.wanted = eipoib_dhcp_wanted(msg),
		.rewritten = READ_ONCE(eth->config.dhcp) == EIPOIB_DHCP_RFC4390,
		.id_added = !eipoib_dhcp_has_id(msg),
	};

	if (!has_mac(msg->bootp) || !ether_addr_equal(msg->bootp->chaddr, ether->h_source))
		return false;
	ether_addr_copy(asked.mac, msg->bootp->chaddr);
	if (eipoib_dhcp_remember(&eth->domain->dhcp, &asked))
		return asked.rewritten;
	eipoib_count(eth, EIPOIB_STAT_DHCP_REFUSED);
	return false;
}

static void xmit_request(struct eipoib_dev *eth, struct sk_buff *skb, struct eipoib_dhcp_msg *msg,
			 const struct ethhdr *ether)
{
	if (msg->bootp->giaddr)
		return;
	if (remember(eth, msg, ether) && eipoib_dhcp_to_ib(skb, msg, READ_ONCE(eth->lower->mtu)))
		eipoib_count(eth, EIPOIB_STAT_DHCP_REWRITTEN);
	else if (eipoib_dhcp_set_broadcast(msg))
		eipoib_count(eth, EIPOIB_STAT_DHCP_FLAGGED);
}

/* Handles the answer of a server on the Ethernet side to a client's MAC address that is not one of
 * this side's view: the client is behind another Ethernet netdevice over IPoIB. All get it then.
 * Returns whether the packet is consumed.
 */
static bool xmit_reply(struct eipoib_dev *eth, struct sk_buff *skb,
		       const struct eipoib_dhcp_msg *msg, const struct ethhdr *ether)
{
	const struct eipoib_bootp *bootp = msg->bootp;
	struct eipoib_dhcp_asked asked;

	if (!has_mac(bootp) || !ether_addr_equal(bootp->chaddr, ether->h_dest) ||
	    eipoib_remote_is(&eth->domain->remotes, ether->h_dest))
		return false;
	/* The bridge has flooded it */
	if (eipoib_dhcp_asked_by(&eth->domain->dhcp, bootp->xid, bootp->chaddr, &asked)) {
		eipoib_drop(eth, skb, EIPOIB_STAT_TX_LOCAL);
		return true;
	}
	eipoib_count(eth, EIPOIB_STAT_DHCP_BROADCAST);
	eipoib_send(eth, skb, eipoib_broadcast(eth));
	return true;
}

/**
 * eipoib_dhcp_xmit() - change or send a DHCP packet of the Ethernet side
 * @eth: the netdevice
 * @skb: a packet that eipoib_dhcp_is(), whose data begins with its IP header
 * @ether: its Ethernet header
 *
 * Context: BHs disabled.
 * Return: true if the packet is consumed; else it is to be sent like any other.
 */
bool eipoib_dhcp_xmit(struct eipoib_dev *eth, struct sk_buff *skb, const struct ethhdr *ether)
{
	struct eipoib_dhcp_msg msg;

	if (!parse(eth, skb, &msg))
		return false;
	if (msg.bootp->op == EIPOIB_BOOTP_REPLY)
		return xmit_reply(eth, skb, &msg, ether);
	if (msg.bootp->op == EIPOIB_BOOTP_REQUEST)
		xmit_request(eth, skb, &msg, ether);
	return false;
}

/* Finds the request that an answer is for. One to a rewritten request has no MAC address. */
static bool recall(struct eipoib_dev *eth, const struct eipoib_bootp *bootp,
		   struct eipoib_dhcp_asked *asked)
{
	if (bootp->op != EIPOIB_BOOTP_REPLY)
		return false;
	if (has_mac(bootp))
		return eipoib_dhcp_asked_by(&eth->domain->dhcp, bootp->xid, bootp->chaddr, asked);
	return !bootp->hlen && eipoib_dhcp_asked_rewritten(&eth->domain->dhcp, bootp->xid, asked);
}

/* Learns the address that a client is given. It is the one that the client has requested: so a host
 * that sees the request cannot answer with the address of another one.
 */
static void learn(struct eipoib_dev *eth, const struct eipoib_dhcp_msg *msg,
		  const struct eipoib_dhcp_asked *asked)
{
	__be32 given = msg->bootp->yiaddr;
	struct in6_addr ip = eipoib_ip4(given);

	if (!given || given != asked->wanted || eipoib_dhcp_type(msg) != EIPOIB_DHCPACK)
		return;
	if (eipoib_learn_local(eth, &ip, asked->mac))
		eipoib_count(eth, EIPOIB_STAT_DHCP_BOUND);
}

/**
 * eipoib_dhcp_receive() - find out which client an answer of the IPoIB side is for
 * @eth: the netdevice
 * @skb: a packet that eipoib_dhcp_is(), whose data begins with its IP header. The form of RFC 4390
 *	is replaced by the one that the client expects.
 * @mac: filled in: the client's MAC address
 *
 * Context: softirq.
 * Return: false if it is not the answer to a client of the Ethernet side; then the packet is to be
 *	delivered like any other.
 */
bool eipoib_dhcp_receive(struct eipoib_dev *eth, struct sk_buff *skb, u8 *mac)
{
	struct eipoib_dhcp_asked asked;
	struct eipoib_dhcp_msg msg;

	if (!parse(eth, skb, &msg) || !recall(eth, msg.bootp, &asked))
		return false;
	if (asked.rewritten)
		eipoib_dhcp_to_eth(&msg, asked.mac);
	if (asked.rewritten && asked.id_added)
		eipoib_dhcp_remove_id(&msg, asked.mac);
	learn(eth, &msg, &asked);
	eipoib_count(eth, EIPOIB_STAT_DHCP_ANSWERED);
	ether_addr_copy(mac, asked.mac);
	return true;
}
