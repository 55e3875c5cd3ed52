/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibats, the command line tool of the Address Translation Service: each file's interface.
 */
#ifndef _IBATS_H
#define _IBATS_H

#include "../uapi/ib_ats_netlink.h"
#include "tool.h"

/* ibats_rows.c: turns messages into rows */
struct json_object *row_parse(const struct nlmsghdr *message);

/* ibats_print.c: prints rows as tables and lines */
void cell_text(struct json_object *row, const char *column, char *cell, size_t size);
void row_print_line(struct json_object *row);

/* ibats_options.c: which records are wanted */
extern const struct option_words filter_options[];
extern const unsigned int filter_option_count;
const char *filter_take(int letter, const char *text);
void filter_put_port(struct nlmsghdr *message);
void filter_put_pkey(struct nlmsghdr *message);
__u32 filter_timeout_ms(void);

/* ibats_ask.c: commands about other hosts. Each returns the exit status of the tool */
enum status run_resolve(struct session *session, char **arguments);
enum status run_reverse(struct session *session, char **arguments);
enum status run_sid(struct session *session, char **arguments);

/* ibats_host.c: commands about this host; likewise */
enum status run_list(struct session *session, char **arguments);
enum status run_stats(struct session *session, char **arguments);
enum status run_primary(struct session *session, char **arguments);
enum status run_audit(struct session *session, char **arguments);

/* ibats_monitor.c: prints records whenever they change */
enum status run_monitor(struct session *session, char **arguments);

#endif /* _IBATS_H */
