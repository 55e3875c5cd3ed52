/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibats, the user's tool of the Address Translation Service: each file's interface.
 */
#ifndef _IBATS_H
#define _IBATS_H

#include <stdbool.h>

#include <json-c/json.h>
#include <libmnl/libmnl.h>
#include <linux/types.h>

#include "../uapi/ib_ats_netlink.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* A socket of the family ib_ats */
struct nl {
	struct mnl_socket *socket;
	__u16 family;
	__u32 group;			/* of notifications */
	__u32 seq;
	char request[512];
	char error[256];		/* what the kernel says of the last one */
};

/* Called for each message of the family that comes */
typedef void (*nl_each)(void *context, const struct nlmsghdr *message);

/* ibats_nl.c: talking to the kernel. Errors are negative, -errno */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);
struct nlmsghdr *nl_begin(struct nl *nl, uint8_t command, __u16 flags);
int nl_talk(struct nl *nl, nl_each each, void *context);
int nl_join(struct nl *nl);
int nl_listen(struct nl *nl, nl_each each, void *context);
int nl_drain(struct nl *nl);

/* ibats_rows.c: messages become JSON objects, and these become tables or lines */
struct json_object *row_parse(const struct nlmsghdr *message);
const char *row_text(struct json_object *row, const char *key);
void rows_print_table(struct json_object *rows, const char *const *keys);
void rows_print_json(struct json_object *rows);

/* ibats_monitor.c: records as they change */
int monitor_run(struct nl *nl, bool json);

#endif /* _IBATS_H */
