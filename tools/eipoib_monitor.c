// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints each local IP address that is learned, entered, moves or leaves.
 */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>

#include "eipoib.h"

struct monitor {
	struct nl nl;
	bool json;
	unsigned int index;		/* of the interface; 0: all */
};

static void row_print(struct json_object *row)
{
	printf("%s %s dev %s", row_text(row, "event"), row_text(row, "address"),
	       row_text(row, "interface"));
	if (row_is(row, "vlan"))
		printf(" vlan %s", row_text(row, "vlan"));
	if (row_is(row, "mac"))
		printf(" lladdr %s", row_text(row, "mac"));
	puts(row_is(row, "static") ? " static" : "");
}

static void change_print(const struct monitor *monitor, const struct nlmsghdr *message)
{
	struct json_object *row = row_parse(message);
	struct json_object *index = json_object_object_get(row, "ifindex");

	if (!monitor->index || json_object_get_int64(index) == monitor->index) {
		if (monitor->json)
			json_print(row, false);
		else
			row_print(row);
		fflush(stdout);
	}
	json_object_put(row);
}

static bool change_take(void *context, const struct nlmsghdr *message)
{
	struct monitor *monitor = context;

	if (message->nlmsg_type == GENL_ID_CTRL)
		return message_command(message) == CTRL_CMD_DELFAMILY &&
		       !strcmp(nl_family_name(message), EIPOIB_GENL_NAME);
	if (message_command(message) == EIPOIB_CMD_LOCAL_NTF)
		change_print(monitor, message);
	return ferror(stdout);
}

/* Returns -ENOPKG if the module has been unloaded, and -ESTALE if it has been loaded again since,
 * which makes it another family.
 */
static int family_check(struct monitor *monitor)
{
	struct nl other;
	int err = nl_open(&other);

	if (err) {
		memcpy(monitor->nl.error, other.error, sizeof(other.error));
		return err;
	}
	nl_close(&other);
	return other.family == monitor->nl.family ? 0 : -ESTALE;
}

static int changes_take(struct monitor *monitor)
{
	int err = nl_listen(&monitor->nl, change_take, monitor);

	if (err == -ENOBUFS) {
		fputs("eipoib: changes were lost; 'eipoib local' prints what there is now\n",
		      stderr);
		err = nl_drain(&monitor->nl);
	}
	return err ?: family_check(monitor);
}

static int monitor_watch(struct monitor *monitor)
{
	int err = nl_join_families(&monitor->nl) ?: nl_join_group(&monitor->nl);

	/* The module may have been unloaded before the groups were joined, which does not fail */
	err = err ?: family_check(monitor);
	/* If printing fails, tool_run() prints the error message */
	while (!err && !ferror(stdout))
		err = changes_take(monitor);
	return err;
}

/**
 * run_monitor() - print changes of local IP addresses, until the module is unloaded
 * @session: this run of the tool
 * @arguments: optionally "dev" and the name of an interface
 *
 * Return: the exit status of the tool.
 */
enum status run_monitor(struct session *session, char **arguments)
{
	struct monitor monitor = { .json = session->options.json };
	enum status status;
	const char *dev;
	int err;

	status = dev_parse("monitor", arguments, &dev, &monitor.index);
	if (status)
		return status;
	if (dev) {
		/* Of another interface nothing would ever be printed */
		err = table_get(session, EIPOIB_CMD_DEV_GET, monitor.index);
		if (err)
			return failed(&session->nl, dev, err);
	}
	err = nl_open(&monitor.nl);
	if (!err) {
		err = monitor_watch(&monitor);
		nl_close(&monitor.nl);
	}
	return failed(&monitor.nl, "monitor", err);
}
