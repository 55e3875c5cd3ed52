// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Asks rtnetlink, which always answers for the network namespace of the process.
 */
#include <errno.h>
#include <string.h>

#include <linux/rtnetlink.h>

#include "ipoib.h"

/* The link-layer address of an interface, as text; empty if it has none */
struct address {
	char text[3 * 32 + 1];
};

static bool address_take(void *context, const struct nlmsghdr *message)
{
	struct address *address = context;
	const unsigned char *octets;
	const struct nlattr *attr;
	unsigned int i, len;

	mnl_attr_for_each(attr, message, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) != IFLA_ADDRESS)
			continue;
		octets = mnl_attr_get_payload(attr);
		len = mnl_attr_get_payload_len(attr);
		for (i = 0; i < len && i < 32; i++)
			snprintf(address->text + 3 * i, 4, "%02x:", octets[i]);
		if (i)
			address->text[3 * i - 1] = '\0';
	}
	return false;
}

static int address_get(unsigned int index, struct address *address)
{
	struct nl nl;
	int err = nl_open_route(&nl);

	if (err)
		return err;
	nl_begin_route(&nl, RTM_GETLINK, 0, index);
	err = nl_talk(&nl, address_take, address);
	nl_close(&nl);
	return err;
}

/**
 * net_has_address() - whether an interface has a link-layer address
 * @index: the interface's number
 * @address: the address, as text, as /sys shows it; empty: none
 *
 * Return: false if it has another one or is gone; true also if it is not known.
 */
bool net_has_address(unsigned int index, const char *address)
{
	struct address got = {};
	int err = address_get(index, &got);

	return err ? err != -ENODEV : !strcmp(got.text, address);
}
