// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The commands list, stats, primary and audit, which concern the records that this host has
 * registered or is going to register.
 */
#include <errno.h>

#include "ibats.h"

static const char *const list_columns[] = {
	"interface", "address", "state", "primary", "sid", "pkey", "gid", "device/port", "note",
	NULL
};

static const char *const primary_columns[] = {
	"interface", "pkey", "address", "by", "state", "gid", "device/port", "note", NULL
};

static const char *const stats_columns[] = {
	"device/port", "sa", "sets", "deletes", "reads", "queries", "timeouts", "busy",
	"refusals", "repairs", "abandoned", "overflows", "leftovers", "conflicts", NULL
};

/* ---- Records ---- */

/* Puts the records of an interface, or of all interfaces if it is NULL, into session->rows */
static enum status records_get(struct session *session, const char *interface)
{
	unsigned int index = interface ? interface_find(interface) : 0;
	struct nlmsghdr *message;
	int err;

	if (interface && !index)
		return STATUS_NOT_FOUND;
	err = nl_open(&session->nl);
	if (!err) {
		message = nl_begin(&session->nl, IB_ATS_CMD_RECORD_GET, NLM_F_DUMP);
		if (index)
			mnl_attr_put_u32(message, IB_ATS_ATTR_IFINDEX, index);
		filter_put_pkey(message);
		filter_put_port(message);
		err = nl_dump(&session->nl, session->rows, row_parse);
		nl_close(&session->nl);
	}
	return failed(&session->nl, interface ?: "records", err);
}

/**
 * run_list() - print the records of this host's interfaces
 * @session: this run of the tool
 * @arguments: optionally the name of an interface
 *
 * Return: the exit status of the tool.
 */
enum status run_list(struct session *session, char **arguments)
{
	enum status status = records_get(session, arguments[0]);

	table_show(session, list_columns, cell_text);
	return status;
}

/* ---- Primary addresses ---- */

static void primaries_keep(struct json_object *rows)
{
	size_t i = json_object_array_length(rows);

	while (i--)
		if (!row_is(json_object_array_get_idx(rows, i), "primary"))
			json_object_array_del_idx(rows, i, 1);
}

static enum status primary_show(struct session *session, char **arguments)
{
	enum status status = records_get(session, arguments[0]);

	primaries_keep(session->rows);
	table_show(session, primary_columns, cell_text);
	return status;
}

/* ip: the address; NULL: revoke the choice */
static enum status primary_choose(struct session *session, char **arguments,
				  const struct in6_addr *ip)
{
	unsigned int index = interface_find(arguments[0]);
	struct nlmsghdr *message;
	int err;

	if (!index)
		return STATUS_NOT_FOUND;
	err = nl_open(&session->nl);
	if (!err) {
		message = nl_begin(&session->nl, IB_ATS_CMD_PRIMARY_SET, NLM_F_ACK);
		mnl_attr_put_u32(message, IB_ATS_ATTR_IFINDEX, index);
		if (ip)
			mnl_attr_put(message, IB_ATS_ATTR_ADDR, sizeof(*ip), ip);
		err = nl_talk(&session->nl, NULL, NULL);
		nl_close(&session->nl);
	}
	/* Of other commands this error is about a port */
	if (err == -ENODEV) {
		say(arguments[0], "there is no such interface");
		return STATUS_NOT_FOUND;
	}
	return failed(&session->nl, arguments[ip ? 1 : 0], err);
}

static enum status primary_set(struct session *session, char **arguments)
{
	struct in6_addr ip;

	if (!parse_ip(arguments[1], &ip))
		return misused(arguments[1], "not an IP address");
	return primary_choose(session, arguments, &ip);
}

static enum status primary_clear(struct session *session, char **arguments)
{
	return primary_choose(session, arguments, NULL);
}

static enum status sub_misused(const char *word, const char *usage)
{
	fprintf(stderr, "ibats: 'primary %s' %s; see 'ibats primary help'\n", word, usage);
	return STATUS_USAGE;
}

/**
 * run_primary() - show or choose the primary addresses of interfaces, or revoke the choice
 * @session: this run of the tool
 * @arguments: the sub-command and its arguments
 *
 * Return: the exit status of the tool.
 */
enum status run_primary(struct session *session, char **arguments)
{
	static const char *const words[] = { "show", "set", "clear", NULL };
	static const struct {
		enum status (*run)(struct session *session, char **arguments);
		unsigned int least;
		unsigned int most;
		const char *usage;
	} verbs[] = {
		{ primary_show, 0, 1, "takes at most one interface" },
		{ primary_set, 2, 2, "takes an interface and an address" },
		{ primary_clear, 1, 1, "takes an interface" },
	};
	unsigned int count = 0;
	int verb;

	if (!arguments[0])
		return primary_show(session, arguments);
	verb = word_find(words, arguments[0], "what 'primary' takes", "primary help");
	if (verb < 0)
		return STATUS_USAGE;
	while (arguments[1 + count])
		count++;
	if (count < verbs[verb].least || count > verbs[verb].most)
		return sub_misused(words[verb], verbs[verb].usage);
	return verbs[verb].run(session, arguments + 1);
}

/* ---- Ports ---- */

/**
 * run_stats() - print the counters of each port
 * @session: this run of the tool
 * @arguments: none
 *
 * Return: the exit status of the tool.
 */
enum status run_stats(struct session *session, char **arguments)
{
	int err = nl_open(&session->nl);

	(void)arguments;
	if (!err) {
		filter_put_port(nl_begin(&session->nl, IB_ATS_CMD_STATS_GET, NLM_F_DUMP));
		err = nl_dump(&session->nl, session->rows, row_parse);
		nl_close(&session->nl);
	}
	table_show(session, stats_columns, cell_text);
	return failed(&session->nl, "stats", err);
}

/**
 * run_audit() - request that the SA's records are read back and repaired
 * @session: this run of the tool
 * @arguments: none
 *
 * Return: the exit status of the tool.
 */
enum status run_audit(struct session *session, char **arguments)
{
	int err = nl_open(&session->nl);

	(void)arguments;
	if (!err) {
		filter_put_port(nl_begin(&session->nl, IB_ATS_CMD_AUDIT, NLM_F_ACK));
		err = nl_talk(&session->nl, NULL, NULL);
		nl_close(&session->nl);
	}
	return failed(&session->nl, "audit", err);
}
