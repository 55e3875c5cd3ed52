// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints the records of this namespace's interfaces: first all, then each that changes.
 *
 * If the output is not read fast enough, changes are lost. The monitor then prints a message,
 * lists all records again, and prints as gone those that are not in the list any more. It
 * does the same when the module ib_ats is unloaded, and when it is loaded again. The last
 * line about a record therefore always shows its present state.
 */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>

#include "ibats.h"

struct monitor {
	struct nl nl;			/* has joined both groups; no requests are sent by it */
	bool json;
	bool loaded;			/* the kernel has the family */
	struct json_object *now;	/* rows that were printed and are not gone, by key_of() */
	struct json_object *before;	/* likewise, of an earlier list, not found again yet */
};

/* ---- Rows ---- */

static bool row_is_gone(struct json_object *row)
{
	return !strcmp(row_text(row, "state"), "gone");
}

/* The details of the last state are not printed for a record that is gone */
static void row_print(const struct monitor *monitor, struct json_object *row)
{
	static const char *const stale[] = { "age_ms", "refusal", "refusal_reason", "rival" };
	unsigned int i;

	for (i = 0; row_is_gone(row) && i < ARRAY_SIZE(stale); i++)
		json_object_object_del(row, stale[i]);
	if (monitor->json)
		json_print(row, false);
	else
		row_print_line(row);
	fflush(stdout);
}

/* By its number, since an interface may have been renamed */
static void key_of(struct json_object *row, char *key, size_t size)
{
	snprintf(key, size, "%s %s %s %s", row_text(row, "ifindex"), row_text(row, "address"),
		 row_text(row, "pkey"), row_text(row, "gid"));
}

static void row_take(struct monitor *monitor, struct json_object *row)
{
	char key[160];

	row_print(monitor, row);
	key_of(row, key, sizeof(key));
	json_object_object_del(monitor->before, key);
	if (row_is_gone(row))
		json_object_object_del(monitor->now, key);
	else
		json_object_object_add(monitor->now, key, json_object_get(row));
}

/* Rows that are not found again in the next list are gone */
static void rows_doubt(struct monitor *monitor)
{
	json_object_object_foreach(monitor->now, key, row)
		json_object_object_add(monitor->before, key, json_object_get(row));
	json_object_put(monitor->now);
	monitor->now = json_object_new_object();
}

static void rows_print_gone(struct monitor *monitor)
{
	json_object_object_foreach(monitor->before, key, row) {
		(void)key;
		json_object_object_add(row, "state", json_object_new_string("gone"));
		row_print(monitor, row);
	}
	json_object_put(monitor->before);
	monitor->before = json_object_new_object();
}

/* ---- Listing ---- */

static void all_gone(struct monitor *monitor)
{
	fputs("ibats: the kernel's module ib_ats is gone; waiting for it to be loaded again\n",
	      stderr);
	monitor->loaded = false;
	rows_doubt(monitor);
	rows_print_gone(monitor);
}

/*
 * Uses another socket, which receives only the reply. While records keep changing, the list is
 * requested again until it is consistent, since a row that is missing is taken for gone.
 */
static int list_take(struct monitor *monitor, struct nl *other)
{
	struct json_object *rows = json_object_new_array();
	size_t i;
	int err;

	nl_begin(other, IB_ATS_CMD_RECORD_GET, NLM_F_DUMP);
	do
		err = nl_dump(other, rows, row_parse);
	while (err == -EINTR);
	for (i = 0; !err && i < json_object_array_length(rows); i++)
		row_take(monitor, json_object_array_get_idx(rows, i));
	json_object_put(rows);
	memcpy(monitor->nl.error, other->error, sizeof(other->error));
	return err;
}

static int list_all(struct monitor *monitor)
{
	struct nl other;
	int err = nl_open(&other);

	if (err)
		return err;
	if (!monitor->loaded)
		fputs("ibats: the kernel's module ib_ats is loaded again; the records are now:\n",
		      stderr);
	monitor->loaded = true;
	monitor->nl.family = other.family;
	monitor->nl.group = other.group;
	rows_doubt(monitor);
	err = nl_join_group(&monitor->nl) ?: list_take(monitor, &other);
	if (!err)
		rows_print_gone(monitor);
	nl_close(&other);
	return err;
}

/*
 * Notifications from before the listing are dropped. Those of changes during the listing are
 * read after it.
 */
static int list_again(struct monitor *monitor)
{
	int err = nl_drain(&monitor->nl) ?: list_all(monitor);

	if (err != -ENOPKG)
		return err;
	if (monitor->loaded)
		all_gone(monitor);
	return 0;
}

/* ---- Changes ---- */

/* Returns whether the family may be present. One that was removed may be back already */
static bool family_take(struct monitor *monitor, const struct nlmsghdr *message)
{
	uint8_t command = message_command(message);

	if (strcmp(nl_family_name(message), IB_ATS_GENL_NAME))
		return false;
	if (command == CTRL_CMD_DELFAMILY && monitor->loaded)
		all_gone(monitor);
	return !monitor->loaded;
}

static bool change_take(void *context, const struct nlmsghdr *message)
{
	struct monitor *monitor = context;
	struct json_object *row;

	if (message->nlmsg_type == GENL_ID_CTRL)
		return family_take(monitor, message);
	if (message_command(message) != IB_ATS_CMD_RECORD_NTF)
		return false;
	row = row_parse(message);
	row_take(monitor, row);
	json_object_put(row);
	return ferror(stdout);
}

static int changes_take(struct monitor *monitor)
{
	int err = nl_listen(&monitor->nl, change_take, monitor);

	if (err == -ENOBUFS) {
		fputs("ibats: changes were lost; the records are now:\n", stderr);
		err = 0;
	}
	return err ?: list_again(monitor);
}

/* ---- The command ---- */

static int monitor_watch(struct monitor *monitor)
{
	int err = nl_join_families(&monitor->nl) ?: list_all(monitor);

	/* If printing fails, tool_run() prints the error message */
	while (!err && !ferror(stdout))
		err = changes_take(monitor);
	return err;
}

/**
 * run_monitor() - print all records, and then each that changes, until an error
 * @session: this run of the tool
 * @arguments: none
 *
 * Return: the exit status of the tool.
 */
enum status run_monitor(struct session *session, char **arguments)
{
	struct monitor monitor = {
		.json = session->options.json,
		.loaded = true,
		.now = json_object_new_object(),
		.before = json_object_new_object(),
	};
	int err = nl_open(&monitor.nl);

	(void)arguments;
	if (!err) {
		err = monitor_watch(&monitor);
		nl_close(&monitor.nl);
	}
	json_object_put(monitor.now);
	json_object_put(monitor.before);
	return failed(&monitor.nl, "monitor", err);
}
