// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests to a generic netlink family, or to rtnetlink: sends them, and receives the replies
 * and the kernel's error messages.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/rtnetlink.h>

#include "tool.h"

/* The kernel puts no more than half of this into one buffer of a dump */
#define NL_BUFFER	65536

/* Receive buffer of the socket, where later answers wait until they are read */
#define NL_ROOM		(1024 * 1024)

/* The kernel answers at once, unless it is very busy */
#define NL_WAIT_MS	10000

/* How often a dump that changed while it was read is tried */
#define NL_DUMPS	5

/* How long the data may settle before the dump is tried again. Each pause is twice the last one. */
#define NL_PAUSE_MS	5

/* The receiver of the messages of a reply, and the state of the reply */
struct reply {
	struct nl *nl;
	nl_each each;
	void *context;
	__u32 seq;			/* of the request; 0: notifications are wanted */
	bool asks;			/* the acknowledgment is not the end of the reply */
	bool interrupted;		/* the dumped data changed meanwhile */
	bool lost;			/* a part of the reply is lost */
	int err;
};

/* ---- Replies ---- */

static int take_text(const struct nlattr *attr, void *data)
{
	struct nl *nl = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
		snprintf(nl->error, sizeof(nl->error), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/* The original request, or its header, precedes the text */
static bool take_error(struct reply *reply, const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	unsigned int offset = sizeof(*error);

	reply->err = error->error;
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		offset += error->msg.nlmsg_len - sizeof(error->msg);
	if (reply->err && message->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(message, offset, take_text, reply->nl);
	return reply->err || !reply->asks;
}

static bool take_done(struct reply *reply, const struct nlmsghdr *message)
{
	if (mnl_nlmsg_get_payload_len(message) >= sizeof(int))
		reply->err = *(const int *)mnl_nlmsg_get_payload(message);
	if (message->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(message, sizeof(int), take_text, reply->nl);
	return true;
}

/* Messages left over from an earlier request have another sequence number */
static bool take_message(struct reply *reply, const struct nlmsghdr *message)
{
	if (reply->seq && message->nlmsg_seq != reply->seq)
		return false;
	if (message->nlmsg_flags & NLM_F_DUMP_INTR)
		reply->interrupted = true;
	if (message->nlmsg_type == NLMSG_ERROR)
		return take_error(reply, message);
	if (message->nlmsg_type == NLMSG_DONE)
		return take_done(reply, message);
	return message->nlmsg_type >= NLMSG_MIN_TYPE && reply->each &&
	       reply->each(reply->context, message);
}

static bool take_buffer(struct reply *reply, const void *buffer, int len)
{
	const struct nlmsghdr *message;
	bool last = false;

	for (message = buffer; !last && mnl_nlmsg_ok(message, len);
	     message = mnl_nlmsg_next(message, &len))
		last = take_message(reply, message);
	return last;
}

/* Returns the number of received bytes, or a negative error; -ETIME after @wait_ms */
static int receive(const struct nl *nl, int wait_ms, void *buffer, size_t size)
{
	struct pollfd fd = { .fd = mnl_socket_get_fd(nl->socket), .events = POLLIN };
	int count, len;

	do
		count = poll(&fd, 1, wait_ms);
	while (count < 0 && errno == EINTR);
	if (count <= 0)
		return count ? -errno : -ETIME;
	len = mnl_socket_recvfrom(nl->socket, buffer, size);
	return len < 0 ? -errno : len;
}

/*
 * If a part of a reply did not fit into the socket, the rest is still read. The end of the
 * reply may be missing, too, so it is not waited for.
 */
static int reply_receive(struct reply *reply, int wait_ms)
{
	static __u64 buffer[NL_BUFFER / sizeof(__u64)];
	int len;

	do {
		len = receive(reply->nl, wait_ms, buffer, sizeof(buffer));
		if (len == -ENOBUFS && reply->seq) {
			reply->lost = true;
			wait_ms = 0;
			len = 0;
		} else if (len < 0) {
			return reply->lost ? -ENOBUFS : len;
		}
	} while (!take_buffer(reply, buffer, len));
	return reply->lost ? -ENOBUFS : reply->err;
}

/* ---- Requests ---- */

static struct nlmsghdr *request_begin(struct nl *nl, __u16 type, __u16 flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(nl->request);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = ++nl->seq;
	return message;
}

/**
 * nl_begin() - begin a request to the family
 * @nl: the socket
 * @command: the command of the family
 * @flags: additional flags of the header: NLM_F_DUMP or NLM_F_ACK
 *
 * Return: the request, for attributes to be added before it is sent.
 */
struct nlmsghdr *nl_begin(struct nl *nl, uint8_t command, __u16 flags)
{
	struct nlmsghdr *message = request_begin(nl, nl->family, flags);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));

	genl->cmd = command;
	genl->version = program.version;
	return message;
}

/**
 * nl_begin_route() - begin a request about a network interface to rtnetlink
 * @nl: the socket
 * @type: the type of the message, such as RTM_GETLINK
 * @flags: additional flags of the header
 * @index: the interface's number; 0: none, or one that is not known yet
 *
 * Return: the request, for attributes to be added before it is sent.
 */
struct nlmsghdr *nl_begin_route(struct nl *nl, __u16 type, __u16 flags, unsigned int index)
{
	struct nlmsghdr *message = request_begin(nl, type, flags | NLM_F_ACK);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(message, sizeof(*info));

	info->ifi_index = index;
	return message;
}

static int request_send(struct reply *reply)
{
	const struct nlmsghdr *message = (const struct nlmsghdr *)reply->nl->request;

	reply->seq = message->nlmsg_seq;
	reply->nl->error[0] = '\0';
	if (mnl_socket_sendto(reply->nl->socket, message, message->nlmsg_len) < 0)
		return -errno;
	return 0;
}

static int request_do(struct reply *reply, int wait_ms)
{
	const struct nlmsghdr *message = (const struct nlmsghdr *)reply->nl->request;
	int err = request_send(reply) ?: reply_receive(reply, wait_ms);

	/* Netlink itself returns this if the family was removed since it was looked up */
	if (err == -ENOENT && reply->err && !reply->nl->error[0] &&
	    message->nlmsg_type == reply->nl->family)
		return -ENOPKG;
	return err;
}

/**
 * nl_talk() - send the request, and receive the reply, which the kernel sends at once
 * @nl: the socket
 * @each: called for each message; NULL if none are expected
 * @context: argument for @each
 *
 * Return: 0 or a negative error, for which nl->error may have a message.
 */
int nl_talk(struct nl *nl, nl_each each, void *context)
{
	struct reply reply = { .nl = nl, .each = each, .context = context };

	return request_do(&reply, NL_WAIT_MS);
}

/* Enlarges the receive buffer; without CAP_NET_ADMIN, net.core.rmem_max is the limit */
static void room_make(const struct nl *nl)
{
	int fd = mnl_socket_get_fd(nl->socket), room = NL_ROOM;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

/**
 * nl_ask() - send the request, and receive the answer that comes after the acknowledgment
 * @nl: the socket
 * @wait_ms: for how many milliseconds the kernel tries to find the answer
 * @each: called for each message; returns whether it was the last one
 * @context: argument for @each
 *
 * Return: 0 if the last message was received, -ENOBUFS if messages were lost, or another
 * negative error, for which nl->error may have a message.
 */
int nl_ask(struct nl *nl, int wait_ms, nl_each each, void *context)
{
	struct reply reply = { .nl = nl, .each = each, .context = context, .asks = true };

	room_make(nl);
	return request_do(&reply, wait_ms + NL_WAIT_MS);
}

struct dump {
	struct json_object *rows;
	row_maker make;
};

static bool dump_take(void *context, const struct nlmsghdr *message)
{
	struct dump *dump = context;
	struct json_object *row = dump->make(message);

	if (row)
		json_object_array_add(dump->rows, row);
	return false;
}

/**
 * nl_dump() - send the request, and receive the rows of the reply
 * @nl: the socket
 * @rows: an empty array, to which they are added
 * @make: makes a row of a message; may return NULL if that is not wanted
 *
 * If the data changed while it was read, the request is repeated after a pause.
 *
 * Return: 0, -EINTR if the data changed each time, or another negative error, for which
 * nl->error may have a message.
 */
int nl_dump(struct nl *nl, struct json_object *rows, row_maker make)
{
	struct nlmsghdr *message = (struct nlmsghdr *)nl->request;
	struct dump dump = { .rows = rows, .make = make };
	unsigned int tries;
	int err;

	for (tries = 0; tries < NL_DUMPS; tries++) {
		struct reply reply = { .nl = nl, .each = dump_take, .context = &dump };

		json_object_array_del_idx(rows, 0, json_object_array_length(rows));
		message->nlmsg_seq = ++nl->seq;
		err = request_do(&reply, NL_WAIT_MS);
		if (err || !reply.interrupted)
			return err;
		poll(NULL, 0, NL_PAUSE_MS << tries);
	}
	return -EINTR;
}

/* ---- Notifications ---- */

/**
 * nl_listen() - receive notifications
 * @nl: a socket that has joined a group
 * @each: called for each of them; returns whether to stop
 * @context: argument for @each
 *
 * Return: 0, -ENOBUFS if some were lost: the caller then calls nl_drain(), or another
 * negative error.
 */
int nl_listen(struct nl *nl, nl_each each, void *context)
{
	struct reply reply = { .nl = nl, .each = each, .context = context };

	return reply_receive(&reply, -1);
}

/**
 * nl_drain() - discard the notifications that have been received
 * @nl: a socket that has joined a group
 *
 * After an overrun they are older than the overrun, and the kernel adds none until they are
 * read.
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
