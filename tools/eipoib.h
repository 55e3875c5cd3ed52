/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * eipoib, the command line tool of Ethernet over IPoIB: each file's interface.
 */
#ifndef _EIPOIB_TOOL_H
#define _EIPOIB_TOOL_H

#include <net/if.h>

#include "../uapi/eipoib_netlink.h"
#include "../uapi/eipoib_genl.h"
#include "tool.h"

#define MAC_LEN		6

/* The settings of a netdevice, in the order of settings[] */
#define SETTINGS	5

/* eipoib_words.c: pairs of words, such as "dev eth5" */
bool pairs_parse(const char *command, const char *const *keys, char **arguments,
		 const char **values);
bool pair_needed(const char *command, const char *key, const char *value);
enum status dev_parse(const char *command, char **arguments, const char **dev,
		      unsigned int *index);
bool parse_vlan(const char *text, __u16 *vlan);
bool parse_mac(const char *text, unsigned char *mac);

/* eipoib_settings.c: settings, as words and as attributes of rtnetlink */
extern const char *const setting_keys[SETTINGS + 1];
bool settings_put(struct nlmsghdr *message, const char *const *values);
void settings_add(struct json_object *row, const struct nlattr *data);

/* eipoib_rows.c: turns messages into rows */
void add_octets(struct json_object *row, const char *key, const struct nlattr *attr);
void add_vlan(struct json_object *row, const char *key, const struct nlattr *attr);
struct json_object *row_parse(const struct nlmsghdr *message);
void cell_text(struct json_object *row, const char *column, char *cell, size_t size);

/* eipoib_link.c: commands about netdevices. Each returns the exit status of the tool */
enum status run_show(struct session *session, char **arguments);
enum status run_set(struct session *session, char **arguments);
enum status run_add(struct session *session, char **arguments);

/* eipoib_slave.c: the command slave; likewise */
enum status run_slave(struct session *session, char **arguments);

/* eipoib_tables.c: commands about the tables of netdevices; likewise */
int table_get(struct session *session, uint8_t command, unsigned int index);
enum status run_local(struct session *session, char **arguments);
enum status run_heard(struct session *session, char **arguments);
enum status run_remote(struct session *session, char **arguments);
enum status run_group(struct session *session, char **arguments);

/* eipoib_monitor.c: prints changes of the local IP addresses */
enum status run_monitor(struct session *session, char **arguments);

#endif /* _EIPOIB_TOOL_H */
