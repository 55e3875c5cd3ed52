// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Finds network interfaces by their names.
 */
#include <net/if.h>
#include <string.h>

#include <linux/rtnetlink.h>

#include "tool.h"

static bool index_take(void *context, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	unsigned int *index = context;

	*index = info->ifi_index;
	return false;
}

/* The C library finds no name of more than 15 characters, which only an alternative one has */
static unsigned int index_of_long(const char *name)
{
	struct nlmsghdr *message;
	unsigned int index = 0;
	struct nl nl;

	if (nl_open_route(&nl))
		return 0;
	message = nl_begin_route(&nl, RTM_GETLINK, 0, 0);
	if (mnl_attr_put_strz_check(message, sizeof(nl.request), IFLA_ALT_IFNAME, name))
		nl_talk(&nl, index_take, &index);
	nl_close(&nl);
	return index;
}

/**
 * interface_find() - find a network interface
 * @name: its name, or an alternative one
 *
 * Return: its number, or 0 after an error message.
 */
unsigned int interface_find(const char *name)
{
	/* The kernel would leave out a colon, which no name has, and what follows it */
	unsigned int index = strchr(name, ':') ? 0 : if_nametoindex(name);

	if (!index && strlen(name) >= IF_NAMESIZE)
		index = index_of_long(name);
	if (!index)
		say(name, "there is no such interface");
	return index;
}
