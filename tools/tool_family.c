// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets of the program's family, and of rtnetlink. The kernel's generic netlink controller
 * returns the numbers of the family and of its notification group, and notifies when families are
 * added and removed, which happens when their modules are loaded and unloaded.
 */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>

#include "tool.h"

/* A family to be looked up, and one of its groups */
struct family {
	const char *name;
	const char *group_name;
	__u16 id;
	__u32 group;
};

/* Whether it has this type, and a value that is valid for it */
static bool attr_is(const struct nlattr *attr, __u16 type, enum mnl_attr_data_type value)
{
	return mnl_attr_get_type(attr) == type && !mnl_attr_validate(attr, value);
}

static void take_group(struct family *family, const struct nlattr *group)
{
	const struct nlattr *attr;
	const char *name = "";
	__u32 id = 0;

	mnl_attr_for_each_nested(attr, group) {
		if (attr_is(attr, CTRL_ATTR_MCAST_GRP_NAME, MNL_TYPE_NUL_STRING))
			name = mnl_attr_get_str(attr);
		if (attr_is(attr, CTRL_ATTR_MCAST_GRP_ID, MNL_TYPE_U32))
			id = mnl_attr_get_u32(attr);
	}
	if (!strcmp(name, family->group_name))
		family->group = id;
}

static bool take_family(void *context, const struct nlmsghdr *message)
{
	const struct nlattr *attr, *group;
	struct family *family = context;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (attr_is(attr, CTRL_ATTR_FAMILY_ID, MNL_TYPE_U16))
			family->id = mnl_attr_get_u16(attr);
		if (mnl_attr_get_type(attr) != CTRL_ATTR_MCAST_GROUPS)
			continue;
		mnl_attr_for_each_nested(group, attr)
			take_group(family, group);
	}
	return false;
}

/* The request goes to the controller, regardless of the socket's family */
static int family_find(struct nl *nl, struct family *family)
{
	struct nlmsghdr *message = nl_begin(nl, CTRL_CMD_GETFAMILY, NLM_F_ACK);

	message->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, family->name);
	return nl_talk(nl, take_family, family);
}

static int join(struct nl *nl, __u32 group)
{
	if (mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
		return -errno;
	return 0;
}

/**
 * nl_join_group() - subscribe to the family's notifications
 * @nl: the socket
 *
 * Return: 0 or a negative error.
 */
int nl_join_group(struct nl *nl)
{
	return join(nl, nl->group);
}

/**
 * nl_join_families() - subscribe to the addition and removal of families
 * @nl: the socket
 *
 * Return: 0 or a negative error.
 */
int nl_join_families(struct nl *nl)
{
	struct family controller = { .name = "nlctrl", .group_name = "notify" };

	return family_find(nl, &controller) ?: join(nl, controller.group);
}

/**
 * nl_family_name() - the name of the family that a message of nl_join_families() is about
 * @message: the message
 *
 * Return: the name, valid as long as the message is.
 */
const char *nl_family_name(const struct nlmsghdr *message)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (attr_is(attr, CTRL_ATTR_FAMILY_NAME, MNL_TYPE_NUL_STRING))
			return mnl_attr_get_str(attr);
	return "";
}

static int socket_bind(struct nl *nl)
{
	int on = 1;

	if (mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	/* Older kernels do not know these, and give less information */
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return 0;
}

static int family_bind(struct nl *nl)
{
	struct family family = { .name = program.family, .group_name = program.group };
	int err = family_find(nl, &family);

	nl->family = family.id;
	nl->group = family.group;
	return err == -ENOENT ? -ENOPKG : err;
}

static int socket_open(struct nl *nl, int bus)
{
	int err;

	memset(nl, 0, sizeof(*nl));
	nl->socket = mnl_socket_open(bus);
	if (!nl->socket)
		return -errno;
	err = socket_bind(nl);
	if (err)
		nl_close(nl);
	return err;
}

/**
 * nl_open() - open a socket of the family
 * @nl: filled in
 *
 * Return: 0, -ENOPKG if the kernel does not have the family, or another negative error.
 */
int nl_open(struct nl *nl)
{
	int err = socket_open(nl, NETLINK_GENERIC);

	if (err)
		return err;
	err = family_bind(nl);
	if (err)
		nl_close(nl);
	return err;
}

/**
 * nl_open_route() - open a socket of rtnetlink
 * @nl: filled in
 *
 * Return: 0 or a negative error.
 */
int nl_open_route(struct nl *nl)
{
	return socket_open(nl, NETLINK_ROUTE);
}

/**
 * nl_close() - close a socket
 * @nl: the socket
 */
void nl_close(struct nl *nl)
{
	mnl_socket_close(nl->socket);
}
