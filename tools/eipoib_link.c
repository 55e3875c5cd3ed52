// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The commands show, set and add, which are about netdevices themselves. Settings are attributes of
 * rtnetlink.
 */
#include <errno.h>
#include <string.h>

#include <linux/rtnetlink.h>

#include "eipoib.h"

static const char *const show_columns[] = {
	"interface", "lower", "learning", "dhcp", "querier", "max_ips_per_mac", "local", "heard",
	"remote", "group", NULL
};

/* ---- Settings ---- */

static void add_lower(struct json_object *row)
{
	struct json_object *index = json_object_object_get(row, "lower_ifindex");
	char name[IF_NAMESIZE];

	if (if_indextoname(json_object_get_int(index), name))
		add_text(row, "lower", name);
}

static bool link_take(void *context, const struct nlmsghdr *message)
{
	const struct nlattr *attr, *part;

	mnl_attr_for_each(attr, message, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) != IFLA_LINKINFO)
			continue;
		mnl_attr_for_each_nested(part, attr)
			if (mnl_attr_get_type(part) == IFLA_INFO_DATA)
				settings_add(context, part);
	}
	add_lower(context);
	return false;
}

static int link_get(struct session *session, struct json_object *row)
{
	nl_begin_route(&session->nl, RTM_GETLINK, 0,
		       json_object_get_int(json_object_object_get(row, "ifindex")));
	return nl_talk(&session->nl, link_take, row);
}

/* Adds the settings to each row. If @all are wanted, a netdevice that has been deleted meanwhile is
 * left out.
 */
static int links_get(struct session *session, bool all)
{
	int err = nl_open_route(&session->nl);
	size_t i = 0;

	if (err)
		return err;
	while (i < json_object_array_length(session->rows)) {
		err = link_get(session, json_object_array_get_idx(session->rows, i));
		if (!err) {
			i++;
			continue;
		}
		if (err != -ENODEV || !all)
			break;
		json_object_array_del_idx(session->rows, i, 1);
		err = 0;
	}
	nl_close(&session->nl);
	return err;
}

/**
 * run_show() - print the settings of netdevices, and how full their tables are
 * @session: this run of the tool
 * @arguments: optionally "dev" and the name of an interface
 *
 * Return: the exit status of the tool.
 */
enum status run_show(struct session *session, char **arguments)
{
	unsigned int index;
	enum status status;
	const char *dev;
	int err;

	status = dev_parse("show", arguments, &dev, &index);
	if (status)
		return status;
	err = table_get(session, EIPOIB_CMD_DEV_GET, index) ?: links_get(session, !dev);
	table_show(session, show_columns, cell_text);
	return failed(&session->nl, dev ?: "show", err);
}

/* ---- Changes ---- */

static enum status settings_set(struct session *session, const char *dev,
				const char *const *settings)
{
	unsigned int index = interface_find(dev);
	struct nlmsghdr *message;

	if (!index)
		return STATUS_NOT_FOUND;
	message = nl_begin_route(&session->nl, RTM_NEWLINK, 0, index);
	if (!settings_put(message, settings))
		return STATUS_USAGE;
	return failed(&session->nl, dev, nl_talk(&session->nl, NULL, NULL));
}

/**
 * run_set() - change settings of a netdevice
 * @session: this run of the tool
 * @arguments: "dev", the name of an interface, and pairs of settings and their values
 *
 * Return: the exit status of the tool.
 */
enum status run_set(struct session *session, char **arguments)
{
	const char *keys[1 + SETTINGS + 1] = { "dev" };
	const char *values[1 + SETTINGS] = {};
	enum status status;
	int err;

	memcpy(&keys[1], setting_keys, sizeof(setting_keys));
	if (!pairs_parse("set", keys, arguments, values) || !pair_needed("set", "dev", values[0]))
		return STATUS_USAGE;
	if (!arguments[2])
		return misused(values[0], "there is no setting; see 'eipoib set help'");
	err = nl_open_route(&session->nl);
	if (err)
		return failed(&session->nl, values[0], err);
	status = settings_set(session, values[0], &values[1]);
	nl_close(&session->nl);
	return status;
}

/* The words of the command add, apart from settings */
enum add_word {
	ADD_LINK,
	ADD_NAME,
	ADD_ADDRESS,
	ADD_SETTINGS,
};

static enum status link_add(struct session *session, const char *const *values)
{
	unsigned int lower = interface_find(values[ADD_LINK]);
	unsigned char mac[MAC_LEN];
	struct nlmsghdr *message;
	int err;

	if (!lower)
		return STATUS_NOT_FOUND;
	if (strlen(values[ADD_NAME]) >= IF_NAMESIZE)
		return misused(values[ADD_NAME], "too long for the name of an interface");
	if (values[ADD_ADDRESS] && !parse_mac(values[ADD_ADDRESS], mac))
		return misused(values[ADD_ADDRESS], "not a MAC address");
	message = nl_begin_route(&session->nl, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0);
	mnl_attr_put_u32(message, IFLA_LINK, lower);
	mnl_attr_put_strz(message, IFLA_IFNAME, values[ADD_NAME]);
	if (values[ADD_ADDRESS])
		mnl_attr_put(message, IFLA_ADDRESS, sizeof(mac), mac);
	if (!settings_put(message, &values[ADD_SETTINGS]))
		return STATUS_USAGE;
	err = nl_talk(&session->nl, NULL, NULL);
	/* The kernel does not know this kind, even after it has tried to load the module */
	return failed(&session->nl, values[ADD_NAME], err == -EOPNOTSUPP ? -ENOPKG : err);
}

/**
 * run_add() - make an Ethernet netdevice over an IPoIB one
 * @session: this run of the tool
 * @arguments: pairs of words: "link" and the IPoIB netdevice, "name" and the name of the new one,
 *	optionally "address" and a MAC address, and settings
 *
 * Return: the exit status of the tool.
 */
enum status run_add(struct session *session, char **arguments)
{
	const char *keys[ADD_SETTINGS + SETTINGS + 1] = { "link", "name", "address" };
	const char *values[ADD_SETTINGS + SETTINGS] = {};
	enum status status;
	int err;

	memcpy(&keys[ADD_SETTINGS], setting_keys, sizeof(setting_keys));
	if (!pairs_parse("add", keys, arguments, values) ||
	    !pair_needed("add", "link", values[ADD_LINK]) ||
	    !pair_needed("add", "name", values[ADD_NAME]))
		return STATUS_USAGE;
	err = nl_open_route(&session->nl);
	if (err)
		return failed(&session->nl, values[ADD_NAME], err);
	status = link_add(session, values);
	nl_close(&session->nl);
	return status;
}
