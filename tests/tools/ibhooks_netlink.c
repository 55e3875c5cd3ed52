// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * NFLOG and NFQUEUE: packets that netfilter rules pass to user space. Both
 * report the sender's link-layer address in a structure with room for 8 octets.
 */
#include <arpa/inet.h>
#include <err.h>
#include <libmnl/libmnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netfilter/nfnetlink_queue.h>

#include "ibhooks.h"

#define NL_BUFFER	65536
#define COPY_RANGE	65535

struct listener {
	struct mnl_socket *nl;
	uint16_t number;		/* of the group or the queue */
	uint32_t verdict;
	unsigned long left;		/* packets to come */
	uint8_t buffer[NL_BUFFER];
};

static struct listener listener;

static struct nlmsghdr *message_begin(void *buffer, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct nfgenmsg *head;

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = time(NULL);
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->nfgen_family = AF_UNSPEC;
	head->version = NFNETLINK_V0;
	head->res_id = htons(listener.number);
	return message;
}

static void message_send(const struct nlmsghdr *message)
{
	if (mnl_socket_sendto(listener.nl, message, message->nlmsg_len) < 0)
		err(1, "cannot ask the kernel");
}

/* Sends a request and receives the kernel's answer, which comes before any packet */
static void message_confirm(const struct nlmsghdr *message)
{
	ssize_t len;

	message_send(message);
	len = mnl_socket_recvfrom(listener.nl, listener.buffer, sizeof(listener.buffer));
	if (len < 0 || mnl_cb_run(listener.buffer, len, message->nlmsg_seq,
				  mnl_socket_get_portid(listener.nl), NULL, NULL) < 0)
		err(1, "the kernel refuses");
}

static void listener_open(uint16_t number, unsigned long count)
{
	struct timeval wait = { .tv_sec = WAIT_SECONDS };

	listener.number = number;
	listener.left = count;
	listener.nl = mnl_socket_open(NETLINK_NETFILTER);
	if (!listener.nl || mnl_socket_bind(listener.nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err(1, "no socket of netlink");
	if (setsockopt(mnl_socket_get_fd(listener.nl), SOL_SOCKET, SO_RCVTIMEO, &wait,
		       sizeof(wait)))
		err(1, "no time limit");
}

static void listener_run(mnl_cb_t take)
{
	ssize_t len;

	print_ready();
	while (listener.left) {
		len = mnl_socket_recvfrom(listener.nl, listener.buffer, sizeof(listener.buffer));
		if (len < 0)
			err(1, "%lu packets did not come", listener.left);
		if (mnl_cb_run(listener.buffer, len, 0, 0, take, NULL) < 0)
			err(1, "cannot read what came");
	}
}

/* ---- Attributes of a packet ---- */

struct attributes {
	const struct nlattr *of[64];
};

static int attribute_keep(const struct nlattr *attribute, void *data)
{
	struct attributes *attributes = data;

	if (mnl_attr_get_type(attribute) < ARRAY_SIZE(attributes->of))
		attributes->of[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

static void attributes_read(struct attributes *attributes, const struct nlmsghdr *message)
{
	memset(attributes, 0, sizeof(*attributes));
	if (mnl_attr_parse(message, sizeof(struct nfgenmsg), attribute_keep, attributes) < 0)
		err(1, "a message that makes no sense");
}

static void print_attribute(const char *name, const struct nlattr *attribute)
{
	print_octets(name, attribute ? mnl_attr_get_payload(attribute) : NULL,
		     attribute ? mnl_attr_get_payload_len(attribute) : 0);
}

static void print_kind(const struct nlattr *payload)
{
	if (!payload)
		errx(1, "a packet without its octets");
	fputs(packet_kind(mnl_attr_get_payload(payload), mnl_attr_get_payload_len(payload)),
	      stdout);
}

/* ---- NFLOG ---- */

static int nflog_take(const struct nlmsghdr *message, void *data)
{
	struct attributes attributes;

	(void)data;
	if (message->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) || !listener.left)
		return MNL_CB_OK;
	attributes_read(&attributes, message);
	print_kind(attributes.of[NFULA_PAYLOAD]);
	print_attribute("hwaddr", attributes.of[NFULA_HWADDR]);
	print_attribute("hwtype", attributes.of[NFULA_HWTYPE]);
	print_attribute("hwlen", attributes.of[NFULA_HWLEN]);
	print_attribute("header", attributes.of[NFULA_HWHEADER]);
	print_attribute("packet", attributes.of[NFULA_PAYLOAD]);
	print_end();
	listener.left--;
	return MNL_CB_OK;
}

static void nflog_bind(void)
{
	struct nfulnl_msg_config_mode mode = {
		.copy_range = htonl(COPY_RANGE),
		.copy_mode = NFULNL_COPY_PACKET,
	};
	struct nfulnl_msg_config_cmd bind = { .command = NFULNL_CFG_CMD_BIND };
	uint8_t buffer[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message;

	message = message_begin(buffer, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG, NLM_F_ACK);
	mnl_attr_put(message, NFULA_CFG_CMD, sizeof(bind), &bind);
	mnl_attr_put(message, NFULA_CFG_MODE, sizeof(mode), &mode);
	mnl_attr_put_u32(message, NFULA_CFG_QTHRESH, htonl(1));
	message_confirm(message);
}

void nflog_main(int argc, char **argv)
{
	if (argc != 2)
		usage();
	listener_open(atoi(argv[0]), strtoul(argv[1], NULL, 10));
	nflog_bind();
	listener_run(nflog_take);
}

/* ---- NFQUEUE ---- */

static void nfqueue_answer(uint32_t id)
{
	struct nfqnl_msg_verdict_hdr verdict = {
		.verdict = htonl(listener.verdict),
		.id = id,
	};
	uint8_t buffer[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message;

	message = message_begin(buffer, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_VERDICT, 0);
	mnl_attr_put(message, NFQA_VERDICT_HDR, sizeof(verdict), &verdict);
	message_send(message);
}

static int nfqueue_take(const struct nlmsghdr *message, void *data)
{
	const struct nfqnl_msg_packet_hdr *packet;
	struct attributes attributes;

	(void)data;
	if (message->nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET) || !listener.left)
		return MNL_CB_OK;
	attributes_read(&attributes, message);
	if (!attributes.of[NFQA_PACKET_HDR])
		errx(1, "a packet without a number");
	packet = mnl_attr_get_payload(attributes.of[NFQA_PACKET_HDR]);
	print_kind(attributes.of[NFQA_PAYLOAD]);
	print_attribute("hwaddr", attributes.of[NFQA_HWADDR]);
	print_attribute("packet", attributes.of[NFQA_PAYLOAD]);
	print_end();
	nfqueue_answer(packet->packet_id);
	listener.left--;
	return MNL_CB_OK;
}

static void nfqueue_bind(void)
{
	struct nfqnl_msg_config_params params = {
		.copy_range = htonl(COPY_RANGE),
		.copy_mode = NFQNL_COPY_PACKET,
	};
	struct nfqnl_msg_config_cmd bind = { .command = NFQNL_CFG_CMD_BIND };
	uint8_t buffer[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message;

	message = message_begin(buffer, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG, NLM_F_ACK);
	mnl_attr_put(message, NFQA_CFG_CMD, sizeof(bind), &bind);
	mnl_attr_put(message, NFQA_CFG_PARAMS, sizeof(params), &params);
	message_confirm(message);
}

void nfqueue_main(int argc, char **argv)
{
	if (argc != 3)
		usage();
	if (!strcmp(argv[1], "accept"))
		listener.verdict = NF_ACCEPT;
	else if (!strcmp(argv[1], "drop"))
		listener.verdict = NF_DROP;
	else
		usage();
	listener_open(atoi(argv[0]), strtoul(argv[2], NULL, 10));
	nfqueue_bind();
	listener_run(nfqueue_take);
}
