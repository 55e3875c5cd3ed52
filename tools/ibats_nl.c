// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Talking to the generic netlink family ib_ats: its numbers are asked for, requests are
 * sent, replies are taken in until they end, and so is what the kernel says of errors.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>

#include "ibats.h"

/* What a dump puts into one message, at most */
#define NL_BUFFER	32768

/* Who takes in the messages of a reply */
struct reply {
	struct nl *nl;
	nl_each each;
	void *context;
	int err;
};

/* ---- How a reply ends ---- */

static int take_text(const struct nlattr *attr, void *data)
{
	struct nl *nl = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
		snprintf(nl->error, sizeof(nl->error), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/* The original request, or its header, comes before the text */
static int reply_error(const struct nlmsghdr *message, void *data)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	struct reply *reply = data;
	unsigned int offset = sizeof(*error);

	reply->err = error->error;
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		offset += error->msg.nlmsg_len - sizeof(error->msg);
	if (message->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(message, offset, take_text, reply->nl);
	return MNL_CB_STOP;
}

static int reply_done(const struct nlmsghdr *message, void *data)
{
	struct reply *reply = data;

	if (mnl_nlmsg_get_payload_len(message) >= sizeof(int))
		reply->err = *(const int *)mnl_nlmsg_get_payload(message);
	if (message->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(message, sizeof(int), take_text, reply->nl);
	return MNL_CB_STOP;
}

static mnl_cb_t reply_ends[NLMSG_MIN_TYPE] = {
	[NLMSG_ERROR] = reply_error,
	[NLMSG_DONE] = reply_done,
};

/* ---- A request and its reply ---- */

static int take_message(const struct nlmsghdr *message, void *data)
{
	struct reply *reply = data;

	reply->each(reply->context, message);
	return MNL_CB_OK;
}

/* seq 0 and port 0: any message */
static int reply_receive(struct reply *reply, __u32 seq, __u32 port)
{
	static __u64 buffer[NL_BUFFER / sizeof(__u64)];
	ssize_t len;
	int more;

	do {
		len = mnl_socket_recvfrom(reply->nl->socket, buffer, sizeof(buffer));
		if (len < 0)
			return -errno;
		more = mnl_cb_run2(buffer, len, seq, port, take_message, reply, reply_ends,
				   NLMSG_MIN_TYPE);
		if (more < 0)
			return -errno;
	} while (more > 0);
	return reply->err;
}

/**
 * nl_begin() - begin a request
 * @nl: the socket
 * @command: of the family
 * @flags: more of the header's: NLM_F_DUMP, or NLM_F_ACK
 *
 * Return: the request, for attributes to be put into, and then nl_talk().
 */
struct nlmsghdr *nl_begin(struct nl *nl, uint8_t command, __u16 flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(nl->request);
	struct genlmsghdr *genl;

	message->nlmsg_type = nl->family;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = ++nl->seq;
	genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	genl->cmd = command;
	genl->version = IB_ATS_GENL_VERSION;
	return message;
}

/**
 * nl_talk() - send the request, and take in the reply
 * @nl: the socket
 * @each: called for each message; NULL if there are to be none
 * @context: for @each
 *
 * Return: 0 or a negative error, which nl->error may say more of.
 */
int nl_talk(struct nl *nl, nl_each each, void *context)
{
	struct nlmsghdr *message = (struct nlmsghdr *)nl->request;
	struct reply reply = { .nl = nl, .each = each, .context = context };

	nl->error[0] = '\0';
	if (mnl_socket_sendto(nl->socket, message, message->nlmsg_len) < 0)
		return -errno;
	return reply_receive(&reply, message->nlmsg_seq, mnl_socket_get_portid(nl->socket));
}

/* ---- Notifications ---- */

/**
 * nl_join() - be told when records change
 * @nl: the socket
 *
 * Return: 0 or a negative error.
 */
int nl_join(struct nl *nl)
{
	if (mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &nl->group,
				  sizeof(nl->group)) < 0)
		return -errno;
	return 0;
}

/**
 * nl_listen() - take in notifications for ever
 * @nl: a socket that has joined
 * @each: called for each of them
 * @context: for @each
 *
 * Return: a negative error; after -ENOBUFS, some were lost, nl_drain() is to be called.
 */
int nl_listen(struct nl *nl, nl_each each, void *context)
{
	struct reply reply = { .nl = nl, .each = each, .context = context };

	return reply_receive(&reply, 0, 0);
}

/**
 * nl_drain() - let go of the notifications that have come
 * @nl: a socket that has joined
 *
 * After an overrun they are of before it, and the kernel adds none until they are read.
 *
 * Return: 0 or a negative error.
 */
int nl_drain(struct nl *nl)
{
	int fd = mnl_socket_get_fd(nl->socket);
	char octet;

	while (recv(fd, &octet, sizeof(octet), MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
	       errno == ENOBUFS || errno == EINTR)
		;
	return errno == EAGAIN ? 0 : -errno;
}

/* ---- The family's numbers ---- */

static void take_group(struct nl *nl, const struct nlattr *group)
{
	const struct nlattr *attr;
	const char *name = "";
	__u32 id = 0;

	mnl_attr_for_each_nested(attr, group) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
			name = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
			id = mnl_attr_get_u32(attr);
	}
	if (!strcmp(name, IB_ATS_GENL_RECORDS))
		nl->group = id;
}

static void take_family(void *context, const struct nlmsghdr *message)
{
	const struct nlattr *attr, *group;
	struct nl *nl = context;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			nl->family = mnl_attr_get_u16(attr);
		if (mnl_attr_get_type(attr) != CTRL_ATTR_MCAST_GROUPS)
			continue;
		mnl_attr_for_each_nested(group, attr)
			take_group(nl, group);
	}
}

static int find_family(struct nl *nl)
{
	struct nlmsghdr *message;

	nl->family = GENL_ID_CTRL;
	message = nl_begin(nl, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, IB_ATS_GENL_NAME);
	return nl_talk(nl, take_family, nl);
}

static int socket_bind(struct nl *nl)
{
	int on = 1;

	if (mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	/* Kernels that do not know these say less */
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return find_family(nl);
}

/**
 * nl_open() - a socket of the family
 * @nl: to be filled in
 *
 * Return: 0 or a negative error: -ENOENT, the kernel does not have the family.
 */
int nl_open(struct nl *nl)
{
	int err;

	memset(nl, 0, sizeof(*nl));
	nl->socket = mnl_socket_open(NETLINK_GENERIC);
	if (!nl->socket)
		return -errno;
	err = socket_bind(nl);
	if (err)
		nl_close(nl);
	return err;
}

/**
 * nl_close() - the end of a socket
 * @nl: the socket
 */
void nl_close(struct nl *nl)
{
	mnl_socket_close(nl->socket);
}
