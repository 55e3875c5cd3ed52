/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the command line tools of this project have in common: each file's interface. A tool
 * consists of these files and of its own.
 */
#ifndef _TOOL_H
#define _TOOL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>
#include <libmnl/libmnl.h>
#include <linux/types.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* The exit status of a tool */
enum status {
	STATUS_FOUND,
	STATUS_NOT_FOUND,
	STATUS_USAGE,
	STATUS_NO_SA,
	STATUS_FAILED,
};

/* What an error of the kernel means to users, and the exit status that it leads to */
struct meaning {
	int number;			/* errno */
	enum status status;
	const char *text;		/* NULL: that of strerror() */
};

/* What a tool is called, and what it talks to. Each tool defines its own. */
struct program {
	const char *name;
	const char *family;		/* of generic netlink */
	uint8_t version;		/* of the family */
	const char *group;		/* of the family's notifications */
	const struct meaning *errors;	/* the last one has the number 0 */
};

extern const struct program program;

/* The options of the command line that all tools have */
struct options {
	bool json;
	bool pretty;
	bool help;
	bool version;
	char given[16];			/* the letters of the options that were given */
};

/* A netlink socket, of the program's family or of rtnetlink */
struct nl {
	struct mnl_socket *socket;
	__u16 family;			/* 0: rtnetlink */
	__u32 group;			/* of the family's notifications */
	__u32 seq;
	char request[512];
	char error[256];		/* the kernel's message about the last request */
};

struct tool;

/* One run of a tool */
struct session {
	const struct tool *tool;
	struct options options;
	struct nl nl;
	struct json_object *rows;	/* printed by tool_run() at the end, if JSON is wanted */
	bool printed;			/* the command has printed its own output instead */
};

/* A command of the command line */
struct command {
	const char *name;
	const char *arguments;
	const char *help;
	int least;			/* arguments */
	int most;
	const char *options;		/* the letters of those that it takes */
	enum status (*run)(struct session *session, char **arguments);
	bool prints_lines;		/* it prints JSON lines, and no array at its end */
};

struct option_words {
	char letter;
	const char *name;
	const char *argument;		/* NULL: it has none */
	const char *help;
};

/* The command line of a tool */
struct tool {
	const struct command *commands;
	unsigned int command_count;
	const struct option_words *options;	/* besides those that all tools have */
	unsigned int option_count;
	/* Takes the value of one of these. Returns an error message, or NULL. */
	const char *(*option_take)(int letter, const char *text);
	const char *help;		/* printed after the list of commands and options */
};

/*
 * Called for each received message.
 * Returns true if no further messages are wanted.
 */
typedef bool (*nl_each)(void *context, const struct nlmsghdr *message);

/* Turns a message into a row, which the caller releases by json_object_put() */
typedef struct json_object *(*row_maker)(const struct nlmsghdr *message);

/* How an attribute of a message is added to a row */
struct field {
	const char *key;
	enum mnl_attr_data_type type;
	size_t len;			/* of its value; 0: any */
	void (*add)(struct json_object *row, const char *key, const struct nlattr *attr);
};

/* Writes what a row has in a column. An empty cell is left out of its line. */
typedef void (*cell_writer)(struct json_object *row, const char *column, char *cell, size_t size);

/* The longest cell */
#define CELL_MAX	160

/* tool_nl.c: talks to the kernel. Errors are -errno; -ENOPKG: the module is not loaded */
struct nlmsghdr *nl_begin(struct nl *nl, uint8_t command, __u16 flags);
struct nlmsghdr *nl_begin_route(struct nl *nl, __u16 type, __u16 flags, unsigned int index);
int nl_talk(struct nl *nl, nl_each each, void *context);
int nl_ask(struct nl *nl, int wait_ms, nl_each each, void *context);
int nl_dump(struct nl *nl, struct json_object *rows, row_maker make);
int nl_listen(struct nl *nl, nl_each each, void *context);
int nl_drain(struct nl *nl);

/* tool_family.c: sockets of the family, and of rtnetlink; errors as above */
int nl_open(struct nl *nl);
int nl_open_route(struct nl *nl);
void nl_close(struct nl *nl);
int nl_join_group(struct nl *nl);
int nl_join_families(struct nl *nl);
const char *nl_family_name(const struct nlmsghdr *message);

/* tool_rows.c: turns attributes of messages into values of rows, which are JSON objects */
uint8_t message_command(const struct nlmsghdr *message);
void row_add_fields(struct json_object *row, const struct nlmsghdr *message, size_t offset,
		    const struct field *fields, unsigned int count);
bool row_is(struct json_object *row, const char *key);
void text_clean(char *text);
void add_text(struct json_object *row, const char *key, const char *text);
void add_bool(struct json_object *row, const char *key, bool value);
void add_name(struct json_object *row, const char *key, const char *const *names,
	      unsigned int count, __u32 number);
void add_string(struct json_object *row, const char *key, const struct nlattr *attr);
void add_flag(struct json_object *row, const char *key, const struct nlattr *attr);
void add_u32(struct json_object *row, const char *key, const struct nlattr *attr);
void add_u64(struct json_object *row, const char *key, const struct nlattr *attr);
void add_hex(struct json_object *row, const char *key, const struct nlattr *attr);
void add_gid(struct json_object *row, const char *key, const struct nlattr *attr);
void add_address(struct json_object *row, const char *key, const struct nlattr *attr);
void add_interface(struct json_object *row, const char *key, const struct nlattr *attr);

/* tool_print.c: prints rows as tables, or as JSON text */
void table_show(const struct session *session, const char *const *columns, cell_writer write);
void json_print(struct json_object *json, bool pretty);
const char *row_text(struct json_object *row, const char *key);
void age_text(__u64 ms, char *text, size_t size);

/* tool_say.c: error messages */
void say(const char *what, const char *text);
enum status failed(const struct nl *nl, const char *what, int err);
enum status misused(const char *what, const char *text);

/* tool_interface.c: network interfaces */
unsigned int interface_find(const char *name);

/* tool_options.c: the options and words of the command line */
bool options_parse(const struct tool *tool, struct options *options, int argc, char **argv);
bool options_fit(const struct tool *tool, const struct options *options,
		 const struct command *command);
void options_print(const struct tool *tool, const char *letters);
bool parse_ip(const char *text, struct in6_addr *ip);
bool parse_number(const char *text, __u64 most, __u64 *number);
int word_find(const char *const *words, const char *given, const char *what, const char *help);

/* tool_command.c: runs the command of the command line */
int tool_run(const struct tool *tool, int argc, char **argv);
enum status run_help(struct session *session, char **arguments);

#endif /* _TOOL_H */
