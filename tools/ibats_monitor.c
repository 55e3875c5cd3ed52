// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The records of this namespace's interfaces: first all, then each that changes.
 *
 * Who does not read fast enough loses changes. He is told so, and all are listed again;
 * those that went meanwhile are said to be gone. So the last line about a record is
 * always how it is.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>

#include "ibats.h"

struct monitor {
	bool json;
	struct json_object *now;	/* what has been printed and is not gone, by key_of() */
	struct json_object *before;	/* likewise, of that what is not listed again yet */
};

static void row_print(const struct monitor *monitor, struct json_object *row)
{
	if (monitor->json)
		rows_print_json(row);
	else
		printf("%s %s %s %s sid %s pkey %s gid %s\n", row_text(row, "interface"),
		       row_text(row, "address"), row_text(row, "state"),
		       row_text(row, "primary"), row_text(row, "sid"), row_text(row, "pkey"),
		       row_text(row, "gid"));
	fflush(stdout);
}

/* An interface may have another name by now, but not another number */
static void key_of(const struct nlmsghdr *message, struct json_object *row, char *key, size_t size)
{
	const struct nlattr *attr;
	__u32 ifindex = 0;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == IB_ATS_ATTR_IFINDEX)
			ifindex = mnl_attr_get_u32(attr);
	snprintf(key, size, "%u %s %s %s", ifindex, row_text(row, "address"),
		 row_text(row, "pkey"), row_text(row, "gid"));
}

static void change_take(void *context, const struct nlmsghdr *message)
{
	struct json_object *row = row_parse(message);
	struct monitor *monitor = context;
	char key[160];

	row_print(monitor, row);
	key_of(message, row, key, sizeof(key));
	json_object_object_del(monitor->before, key);
	if (!strcmp(row_text(row, "state"), "gone")) {
		json_object_object_del(monitor->now, key);
		json_object_put(row);
	} else {
		json_object_object_add(monitor->now, key, row);
	}
}

/* What changes while the records are listed comes after them */
static int list_take(struct nl *nl, struct monitor *monitor)
{
	struct nl other;
	int err = nl_open(&other);

	if (err)
		return err;
	nl_begin(&other, IB_ATS_CMD_LIST, NLM_F_DUMP);
	err = nl_talk(&other, change_take, monitor);
	memcpy(nl->error, other.error, sizeof(nl->error));
	nl_close(&other);
	return err;
}

static void gone_print(struct monitor *monitor)
{
	json_object_object_foreach(monitor->before, key, row) {
		(void)key;
		json_object_object_add(row, "state", json_object_new_string("gone"));
		row_print(monitor, row);
	}
}

static int list_again(struct nl *nl, struct monitor *monitor)
{
	int err;

	fputs("ibats: changes were lost; this is how it is now:\n", stderr);
	err = nl_drain(nl);
	if (err)
		return err;
	json_object_put(monitor->before);
	monitor->before = monitor->now;
	monitor->now = json_object_new_object();
	err = list_take(nl, monitor);
	if (!err)
		gone_print(monitor);
	return err;
}

/**
 * monitor_run() - print all records, and each that changes, for ever
 * @nl: the socket
 * @json: as programs have it
 *
 * Return: a negative error, which nl->error may say more of.
 */
int monitor_run(struct nl *nl, bool json)
{
	struct monitor monitor = {
		.json = json,
		.now = json_object_new_object(),
		.before = json_object_new_object(),
	};
	int err = nl_join(nl);

	if (!err)
		err = list_take(nl, &monitor);
	while (!err) {
		err = nl_listen(nl, change_take, &monitor);
		if (err == -ENOBUFS)
			err = list_again(nl, &monitor);
	}
	json_object_put(monitor.now);
	json_object_put(monitor.before);
	return err;
}
