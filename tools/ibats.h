/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibats, the command line tool of the Address Translation Service: each file's interface.
 */
#ifndef _IBATS_H
#define _IBATS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>
#include <libmnl/libmnl.h>
#include <linux/types.h>

#include "../uapi/ib_ats_netlink.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* The exit status of the tool */
enum status {
	STATUS_FOUND,
	STATUS_NOT_FOUND,
	STATUS_USAGE,
	STATUS_NO_SA,
	STATUS_FAILED,
};

/* The options of the command line */
struct options {
	bool json;
	bool pretty;
	bool help;
	bool version;
	char device[64];		/* empty: any */
	__u32 port;			/* 0: any */
	__u16 pkey;			/* 0: any */
	__u32 timeout_ms;		/* 0: the kernel's default */
	char given[16];			/* the letters of the options that were given */
};

/* A socket of the family ib_ats */
struct nl {
	struct mnl_socket *socket;
	__u16 family;
	__u32 group;			/* of notifications about records */
	__u32 seq;
	char request[512];
	char error[256];		/* the kernel's message about the last request */
};

/* One run of the tool */
struct session {
	struct options options;
	struct nl nl;
	struct json_object *rows;	/* printed by main() at the end, if JSON is wanted */
	bool printed;			/* the command has printed its own output instead */
};

/*
 * Called for each received message of the family.
 * Returns true if no further messages are wanted.
 */
typedef bool (*nl_each)(void *context, const struct nlmsghdr *message);

/* ibats_nl.c: talks to the kernel. Errors are -errno; -ENOPKG: the module is not loaded */
struct nlmsghdr *nl_begin(struct nl *nl, uint8_t command, __u16 flags);
int nl_talk(struct nl *nl, nl_each each, void *context);
int nl_ask(struct nl *nl, int wait_ms, nl_each each, void *context);
int nl_dump(struct nl *nl, struct json_object *rows);
int nl_listen(struct nl *nl, nl_each each, void *context);
int nl_drain(struct nl *nl);

/* ibats_family.c: sockets of the family; errors as above */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);
int nl_join_records(struct nl *nl);
int nl_join_families(struct nl *nl);

/* ibats_rows.c: turns messages into rows, which are JSON objects */
uint8_t message_command(const struct nlmsghdr *message);
struct json_object *row_parse(const struct nlmsghdr *message);
bool row_is(struct json_object *row, const char *key);

/* ibats_print.c: prints rows as tables, lines or JSON text */
void rows_show(const struct session *session, const char *const *columns);
void row_print_line(struct json_object *row);
void json_print(struct json_object *json, bool pretty);
const char *row_text(struct json_object *row, const char *key);

/* ibats_say.c: error messages */
enum status failed(const struct nl *nl, const char *what, int err);
enum status misused(const char *what, const char *text);
void refusal_text(__u16 status, char *text, size_t size);

/* ibats_options.c: the command line */
bool options_parse(struct options *options, int argc, char **argv);
bool options_fit(const struct options *options, const char *command, const char *letters);
void options_put_port(const struct options *options, struct nlmsghdr *message);
void options_print(FILE *to, const char *letters);
bool parse_ip(const char *text, struct in6_addr *ip);
bool parse_number(const char *text, __u64 most, __u64 *number);
int word_find(const char *const *words, const char *given, const char *what, const char *help);

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
