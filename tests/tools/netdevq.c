// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints what the netlink family "netdev" says of a network device, one object per line:
 * its NAPI contexts, its queues with their statistics, and its page pools.
 *
 * Usage: netdevq INTERFACE
 *
 * The numbers are those of Documentation/netlink/specs/netdev.yaml of the kernel, whose header
 * is newer than that of Debian 12.
 */
#include <err.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#define BUFFER		32768
#define ATTRS_MAX	32
#define SCOPE_QUEUE	1		/* qstats: for each queue */

/* A kind of object: the command to dump them, the attribute with the interface's index, and the
 * names of the attributes that are printed
 */
struct kind {
	const char *name;
	uint8_t command;
	uint16_t ifindex;
	const char *attrs[ATTRS_MAX];
};

static const struct kind kinds[] = {
	{ "napi", 11, 1, { [2] = "id" } },
	{ "queue", 10, 2, { [1] = "id", [3] = "type", [4] = "napi" } },
	{ "stats", 12, 1, { [2] = "type", [3] = "id", [8] = "rx_packets", [9] = "rx_bytes",
			    [10] = "tx_packets", [11] = "tx_bytes" } },
	{ "pool", 5, 2, { [1] = "id", [4] = "inflight" } },
};

#define QSTATS_COMMAND	12
#define QSTATS_SCOPE	4

struct walk {
	const struct kind *kind;
	uint32_t ifindex;
};

/* Integers of netlink have as many octets as they need */
static uint64_t attr_number(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 2:
		return mnl_attr_get_u16(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	case 8:
		return mnl_attr_get_u64(attr);
	default:
		return 0;
	}
}

static int object_print(const struct nlmsghdr *message, void *arg)
{
	const struct walk *walk = arg;
	const struct nlattr *attrs[ATTRS_MAX] = {}, *attr;
	unsigned int i;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) < ATTRS_MAX)
			attrs[mnl_attr_get_type(attr)] = attr;
	if (!attrs[walk->kind->ifindex] ||
	    attr_number(attrs[walk->kind->ifindex]) != walk->ifindex)
		return MNL_CB_OK;
	printf("%s", walk->kind->name);
	for (i = 0; i < ATTRS_MAX; i++)
		if (walk->kind->attrs[i] && attrs[i])
			printf(" %s=%llu", walk->kind->attrs[i],
			       (unsigned long long)attr_number(attrs[i]));
	putchar('\n');
	return MNL_CB_OK;
}

static struct nlmsghdr *request_begin(char *buffer, uint16_t type, uint16_t flags,
				      uint8_t command)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return message;
}

static void request_run(struct mnl_socket *socket, struct nlmsghdr *message, mnl_cb_t callback,
			void *arg)
{
	char buffer[BUFFER];
	ssize_t len;
	int ret = MNL_CB_OK;

	if (mnl_socket_sendto(socket, message, message->nlmsg_len) < 0)
		err(1, "cannot send a request");
	while (ret > MNL_CB_STOP) {
		len = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (len < 0)
			err(1, "no answer");
		ret = mnl_cb_run(buffer, len, 0, 0, callback, arg);
	}
	if (ret < 0)
		err(1, "the kernel refuses");
}

static int family_read(const struct nlmsghdr *message, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static void kind_dump(struct mnl_socket *socket, uint16_t family, struct walk *walk)
{
	char buffer[BUFFER];
	struct nlmsghdr *message = request_begin(buffer, family, NLM_F_DUMP, walk->kind->command);

	if (walk->kind->command == QSTATS_COMMAND)
		mnl_attr_put_u32(message, QSTATS_SCOPE, SCOPE_QUEUE);
	request_run(socket, message, object_print, walk);
}

int main(int argc, char **argv)
{
	struct mnl_socket *socket = mnl_socket_open(NETLINK_GENERIC);
	struct walk walk = {};
	char buffer[BUFFER];
	struct nlmsghdr *message;
	uint16_t family = 0;
	unsigned int i;

	if (argc != 2)
		errx(2, "usage: netdevq INTERFACE");
	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		err(1, "no netlink socket");
	walk.ifindex = if_nametoindex(argv[1]);
	if (!walk.ifindex)
		err(1, "%s", argv[1]);
	message = request_begin(buffer, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, "netdev");
	request_run(socket, message, family_read, &family);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		walk.kind = &kinds[i];
		kind_dump(socket, family, &walk);
	}
	mnl_socket_close(socket);
	return 0;
}
