// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The commands local, heard, remote and group, which show the tables of netdevices, and change that
 * of local IP addresses.
 */
#include "eipoib.h"

static const char *const local_columns[] = {
	"interface", "address", "mac", "static", "age", NULL
};

static const char *const heard_columns[] = { "interface", "address", "mac", "age", NULL };

static const char *const remote_columns[] = { "interface", "mac", "lladdr", "age", NULL };

static const char *const group_columns[] = { "interface", "address", "mac", "age", NULL };

/* ---- Tables ---- */

/**
 * table_get() - get rows of a table
 * @session: this run of the tool, to whose rows they are added
 * @command: the command that dumps it
 * @index: index of a netdevice, or 0 for all
 *
 * Return: 0 or a negative error.
 */
int table_get(struct session *session, uint8_t command, unsigned int index)
{
	struct nlmsghdr *message;
	int err = nl_open(&session->nl);

	if (err)
		return err;
	message = nl_begin(&session->nl, command, NLM_F_DUMP);
	if (index)
		mnl_attr_put_u32(message, EIPOIB_ATTR_IFINDEX, index);
	err = nl_dump(&session->nl, session->rows, row_parse);
	nl_close(&session->nl);
	return err;
}

/* name: that of the command */
static enum status show(struct session *session, const char *name, uint8_t command,
			const char *const *columns, char **arguments)
{
	unsigned int index;
	enum status status;
	const char *dev;
	int err;

	status = dev_parse(name, arguments, &dev, &index);
	if (status)
		return status;
	err = table_get(session, command, index);
	table_show(session, columns, cell_text);
	return failed(&session->nl, dev ?: name, err);
}

/* Whether a word is an abbreviation of "show" */
static bool is_show(const char *word)
{
	static const char show_word[] = "show";
	unsigned int i;

	for (i = 0; word[i]; i++)
		if (word[i] != show_word[i])
			return false;
	return i;
}

static enum status show_only(struct session *session, const char *name, uint8_t command,
			     const char *const *columns, char **arguments)
{
	if (arguments[0] && is_show(arguments[0]))
		arguments++;
	return show(session, name, command, columns, arguments);
}

/**
 * run_heard() - print the IP addresses that were heard of on the IPoIB side
 * @session: this run of the tool
 * @arguments: optionally "show", and optionally "dev" and the name of an interface
 *
 * Return: the exit status of the tool.
 */
enum status run_heard(struct session *session, char **arguments)
{
	return show_only(session, "heard", EIPOIB_CMD_HEARD_GET, heard_columns, arguments);
}

/**
 * run_remote() - print the interfaces on the IPoIB side
 * @session: this run of the tool
 * @arguments: as for run_heard()
 *
 * Return: the exit status of the tool.
 */
enum status run_remote(struct session *session, char **arguments)
{
	return show_only(session, "remote", EIPOIB_CMD_REMOTE_GET, remote_columns, arguments);
}

/**
 * run_group() - print the groups that hosts on the Ethernet side have reported
 * @session: this run of the tool
 * @arguments: as for run_heard()
 *
 * Return: the exit status of the tool.
 */
enum status run_group(struct session *session, char **arguments)
{
	return show_only(session, "group", EIPOIB_CMD_GROUP_GET, group_columns, arguments);
}

/* ---- Local IP addresses ---- */

/* What a change is about. The MAC address is that of one interface only if has_mac is set. */
struct change {
	struct in6_addr ip;
	unsigned int index;
	__u16 vlan;			/* 0: none */
	unsigned char mac[MAC_LEN];
	bool has_mac;
};

/* The words are an IP address, and pairs */
static enum status change_parse(struct change *change, char **arguments)
{
	static const char *const keys[] = { "dev", "lladdr", "vlan", NULL };
	const char *values[3] = {};

	change->vlan = 0;
	if (!arguments[0]) {
		fprintf(stderr, "eipoib: there is no IP address; see 'eipoib local help'\n");
		return STATUS_USAGE;
	}
	if (!parse_ip(arguments[0], &change->ip))
		return misused(arguments[0], "not an IP address");
	if (!pairs_parse("local", keys, arguments + 1, values) ||
	    !pair_needed("local", "dev", values[0]))
		return STATUS_USAGE;
	change->has_mac = values[1];
	if (values[1] && !parse_mac(values[1], change->mac))
		return misused(values[1], "not a MAC address");
	if (values[2] && !parse_vlan(values[2], &change->vlan))
		return STATUS_USAGE;
	change->index = interface_find(values[0]);
	return change->index ? STATUS_FOUND : STATUS_NOT_FOUND;
}

static enum status change_make(struct session *session, uint8_t command,
			       const struct change *change, const char *what)
{
	struct nlmsghdr *message;
	int err = nl_open(&session->nl);

	if (!err) {
		message = nl_begin(&session->nl, command, NLM_F_ACK);
		mnl_attr_put_u32(message, EIPOIB_ATTR_IFINDEX, change->index);
		mnl_attr_put(message, EIPOIB_ATTR_ADDR, sizeof(change->ip), &change->ip);
		if (change->vlan)
			mnl_attr_put_u16(message, EIPOIB_ATTR_VLAN, change->vlan);
		if (change->has_mac)
			mnl_attr_put(message, EIPOIB_ATTR_MAC, sizeof(change->mac), change->mac);
		err = nl_talk(&session->nl, NULL, NULL);
		nl_close(&session->nl);
	}
	return failed(&session->nl, what, err);
}

static enum status local_show(struct session *session, char **arguments)
{
	return show(session, "local", EIPOIB_CMD_LOCAL_GET, local_columns, arguments);
}

static enum status local_add(struct session *session, char **arguments)
{
	struct change change;
	enum status status = change_parse(&change, arguments);

	if (status)
		return status;
	if (!change.has_mac) {
		pair_needed("local", "lladdr", NULL);
		return STATUS_USAGE;
	}
	return change_make(session, EIPOIB_CMD_LOCAL_ADD, &change, arguments[0]);
}

static enum status local_del(struct session *session, char **arguments)
{
	struct change change;
	enum status status = change_parse(&change, arguments);

	return status ?: change_make(session, EIPOIB_CMD_LOCAL_DEL, &change, arguments[0]);
}

/**
 * run_local() - print, enter or remove IP addresses on the Ethernet side
 * @session: this run of the tool
 * @arguments: the sub-command and its arguments
 *
 * Return: the exit status of the tool.
 */
enum status run_local(struct session *session, char **arguments)
{
	static const char *const words[] = { "show", "add", "delete", "dev", NULL };
	static enum status (*const run[])(struct session *session, char **arguments) = {
		local_show, local_add, local_del,
	};
	int word;

	if (!arguments[0])
		return local_show(session, arguments);
	word = word_find(words, arguments[0], "what 'local' takes", "local help");
	if (word < 0)
		return STATUS_USAGE;
	/* "dev DEV" is short for "show dev DEV" */
	if ((unsigned int)word >= ARRAY_SIZE(run))
		return local_show(session, arguments);
	return run[word](session, arguments + 1);
}
