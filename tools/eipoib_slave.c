// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The command slave, which shows and sets what further IPoIB netdevices of an Ethernet one are for:
 * a VLAN, or a MAC address. They are added and removed by `ip link set DEV master ETH`.
 */
#include <string.h>

#include <linux/rtnetlink.h>

#include "eipoib.h"

static const char *const slave_columns[] = { "interface", "master", "vlan", "mac", NULL };

/* ---- Show ---- */

static void data_add(struct json_object *row, const struct nlattr *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, data) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_EIPOIB_SLAVE_VLAN:
			if (!mnl_attr_validate(attr, MNL_TYPE_U16))
				add_vlan(row, "vlan", attr);
			break;
		case IFLA_EIPOIB_SLAVE_MAC:
			if (mnl_attr_get_payload_len(attr) == MAC_LEN)
				add_octets(row, "mac", attr);
			break;
		}
	}
}

/* Adds what the netdevice is for. Returns whether it is one of an Ethernet netdevice over IPoIB. */
static bool linkinfo_add(struct json_object *row, const struct nlattr *linkinfo)
{
	const struct nlattr *attr;
	bool is_slave = false;

	mnl_attr_for_each_nested(attr, linkinfo) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_INFO_SLAVE_KIND:
			is_slave = !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
				   !strcmp(mnl_attr_get_str(attr), "eipoib");
			break;
		case IFLA_INFO_SLAVE_DATA:
			data_add(row, attr);
			break;
		}
	}
	return is_slave;
}

static struct json_object *slave_parse(const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct json_object *row = json_object_new_object();
	char name[IF_NAMESIZE];
	const struct nlattr *attr;
	bool is_slave = false;

	if (if_indextoname(info->ifi_index, name))
		add_text(row, "interface", name);
	json_object_object_add(row, "ifindex", json_object_new_int(info->ifi_index));
	mnl_attr_for_each(attr, message, sizeof(*info)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_MASTER:
			if (!mnl_attr_validate(attr, MNL_TYPE_U32) &&
			    if_indextoname(mnl_attr_get_u32(attr), name))
				add_text(row, "master", name);
			break;
		case IFLA_LINKINFO:
			is_slave = linkinfo_add(row, attr);
			break;
		}
	}
	if (is_slave)
		return row;
	json_object_put(row);
	return NULL;
}

static enum status slaves_show(struct session *session)
{
	int err = nl_open_route(&session->nl);

	if (err)
		return failed(&session->nl, "slave", err);
	nl_begin_route(&session->nl, RTM_GETLINK, NLM_F_DUMP, 0);
	err = nl_dump(&session->nl, session->rows, slave_parse);
	nl_close(&session->nl);
	table_show(session, slave_columns, cell_text);
	return failed(&session->nl, "slave", err);
}

/* ---- Set ---- */

#define NO_SLAVE	"not a further interface under one of eth_ipoib; " \
			"put it there by 'ip link set DEV master ETH'"

/* The words of the command */
enum slave_word {
	SLAVE_DEV,
	SLAVE_VLAN,
	SLAVE_MAC,
	SLAVE_WORDS,
};

/* Adds what the netdevice is to be for. Returns false after an error message if that is wrong. */
static bool data_put(struct nlmsghdr *message, const char *const *values)
{
	unsigned char mac[MAC_LEN];
	__u16 vlan;

	if (values[SLAVE_VLAN]) {
		if (!parse_vlan(values[SLAVE_VLAN], &vlan))
			return false;
		mnl_attr_put_u16(message, IFLA_EIPOIB_SLAVE_VLAN, vlan);
	}
	if (values[SLAVE_MAC]) {
		if (!parse_mac(values[SLAVE_MAC], mac)) {
			misused(values[SLAVE_MAC], "not a MAC address");
			return false;
		}
		mnl_attr_put(message, IFLA_EIPOIB_SLAVE_MAC, sizeof(mac), mac);
	}
	return true;
}

static bool slave_take(void *context, const struct nlmsghdr *message)
{
	struct json_object *row = slave_parse(message);
	bool *is_slave = context;

	*is_slave = row;
	json_object_put(row);
	return false;
}

/* The kernel has the driver of whatever is the master take the attributes, whose numbers mean
 * something else to a bridge or a bond.
 */
static enum status slave_check(struct session *session, const char *dev, unsigned int index)
{
	bool is_slave = false;
	int err;

	nl_begin_route(&session->nl, RTM_GETLINK, 0, index);
	err = nl_talk(&session->nl, slave_take, &is_slave);
	if (err)
		return failed(&session->nl, dev, err);
	if (!is_slave)
		return misused(dev, NO_SLAVE);
	return STATUS_FOUND;
}

static enum status slave_set(struct session *session, const char *const *values)
{
	unsigned int index = interface_find(values[SLAVE_DEV]);
	struct nlmsghdr *message;
	struct nlattr *info, *data;
	enum status status;

	if (!index)
		return STATUS_NOT_FOUND;
	status = slave_check(session, values[SLAVE_DEV], index);
	if (status)
		return status;
	message = nl_begin_route(&session->nl, RTM_NEWLINK, 0, index);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_SLAVE_KIND, "eipoib");
	data = mnl_attr_nest_start(message, IFLA_INFO_SLAVE_DATA);
	if (!data_put(message, values))
		return STATUS_USAGE;
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	return failed(&session->nl, values[SLAVE_DEV], nl_talk(&session->nl, NULL, NULL));
}

/**
 * run_slave() - show or set what further IPoIB netdevices of an Ethernet one are for
 * @session: this run of the tool
 * @arguments: none to show all; or "dev" and an IPoIB netdevice, and "vlan" and its id or "mac" and
 *	the MAC address
 *
 * Return: the exit status of the tool.
 */
enum status run_slave(struct session *session, char **arguments)
{
	static const char *const keys[] = { "dev", "vlan", "mac", NULL };
	const char *values[SLAVE_WORDS] = {};
	enum status status;
	int err;

	if (!arguments[0])
		return slaves_show(session);
	if (!pairs_parse("slave", keys, arguments, values) ||
	    !pair_needed("slave", "dev", values[SLAVE_DEV]))
		return STATUS_USAGE;
	if (!arguments[2])
		return misused(values[SLAVE_DEV], "give a vlan or a mac; see 'eipoib slave help'");
	if (values[SLAVE_VLAN] && values[SLAVE_MAC])
		return misused(values[SLAVE_DEV], "give a vlan or a mac, and not both");
	err = nl_open_route(&session->nl);
	if (err)
		return failed(&session->nl, values[SLAVE_DEV], err);
	status = slave_set(session, values);
	nl_close(&session->nl);
	return status;
}
