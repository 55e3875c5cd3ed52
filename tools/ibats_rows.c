// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the kernel says, message by message, becomes rows: JSON objects. Programs get
 * them as they are, people as a table of some of their values.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>

#include "ibats.h"

static const char *const state_names[] = {
	[IB_ATS_RECORD_PENDING] = "pending",
	[IB_ATS_RECORD_REGISTERED] = "registered",
	[IB_ATS_RECORD_REFUSED] = "refused",
	[IB_ATS_RECORD_NO_SID] = "no-sid",
	[IB_ATS_RECORD_LOCAL] = "local",
	[IB_ATS_RECORD_GONE] = "gone",
};

static const char *const sa_names[] = {
	[IB_ATS_SA_NONE] = "none",
	[IB_ATS_SA_AWAY] = "away",
	[IB_ATS_SA_TROUBLE] = "trouble",
	[IB_ATS_SA_ONLINE] = "online",
};

static const char *const counter_names[] = {
	[IB_ATS_COUNTER_SETS] = "sets",
	[IB_ATS_COUNTER_DELETES] = "deletes",
	[IB_ATS_COUNTER_READS] = "reads",
	[IB_ATS_COUNTER_QUERIES] = "queries",
	[IB_ATS_COUNTER_TIMEOUTS] = "timeouts",
	[IB_ATS_COUNTER_BUSY] = "busy",
	[IB_ATS_COUNTER_REFUSALS] = "refusals",
	[IB_ATS_COUNTER_REPAIRS] = "repairs",
	[IB_ATS_COUNTER_ABANDONED] = "abandoned",
	[IB_ATS_COUNTER_OVERFLOWS] = "overflows",
};

/* ---- Messages ---- */

static void row_add(struct json_object *row, const char *key, const char *text)
{
	json_object_object_add(row, key, json_object_new_string(text));
}

/* A newer kernel may have more names than are known here */
static void row_add_name(struct json_object *row, const char *key, const char *const *names,
			 unsigned int count, __u32 number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	row_add(row, key, number < count && names[number] ? names[number] : text);
}

/* JSON knows no numbers of 64 bits, nor hexadecimal ones */
static void row_add_hex(struct json_object *row, const char *key, int digits, __u64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%0*llx", digits, (unsigned long long)number);
	row_add(row, key, text);
}

static void row_add_ip(struct json_object *row, const char *key, const struct nlattr *attr,
		       bool may_be_ipv4)
{
	const struct in6_addr *ip = mnl_attr_get_payload(attr);
	char text[INET6_ADDRSTRLEN];

	if (mnl_attr_get_payload_len(attr) != sizeof(*ip))
		return;
	if (may_be_ipv4 && IN6_IS_ADDR_V4MAPPED(ip))
		inet_ntop(AF_INET, &ip->s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, ip, text, sizeof(text));
	row_add(row, key, text);
}

/* An interface that is gone has the name that it had */
static void row_add_interface(struct json_object *row, unsigned int index)
{
	static struct json_object *seen;
	struct json_object *was;
	char name[IF_NAMESIZE];
	char key[16];

	if (!seen)
		seen = json_object_new_object();
	snprintf(key, sizeof(key), "if%u", index);
	if (if_indextoname(index, name)) {
		row_add(row, "interface", name);
		row_add(seen, key, name);
		return;
	}
	if (json_object_object_get_ex(seen, key, &was))
		row_add(row, "interface", json_object_get_string(was));
	else
		row_add(row, "interface", key);
}

static void row_add_counters(struct json_object *row, const struct nlattr *nest)
{
	const struct nlattr *attr;
	unsigned int type;

	mnl_attr_for_each_nested(attr, nest) {
		type = mnl_attr_get_type(attr);
		if (type < ARRAY_SIZE(counter_names) && counter_names[type])
			json_object_object_add(row, counter_names[type],
					       json_object_new_uint64(mnl_attr_get_u64(attr)));
	}
}

static void row_add_attr(struct json_object *row, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case IB_ATS_ATTR_DEVICE:
		row_add(row, "device", mnl_attr_get_str(attr));
		break;
	case IB_ATS_ATTR_PORT:
		json_object_object_add(row, "port", json_object_new_int(mnl_attr_get_u32(attr)));
		break;
	case IB_ATS_ATTR_IFINDEX:
		row_add_interface(row, mnl_attr_get_u32(attr));
		break;
	case IB_ATS_ATTR_GID:
		row_add_ip(row, "gid", attr, false);
		break;
	case IB_ATS_ATTR_PKEY:
		row_add_hex(row, "pkey", 4, mnl_attr_get_u16(attr));
		break;
	case IB_ATS_ATTR_ADDR:
		row_add_ip(row, "address", attr, true);
		json_object_object_add(row, "primary", json_object_new_boolean(false));
		break;
	case IB_ATS_ATTR_SID:
		row_add_hex(row, "sid", 16, mnl_attr_get_u64(attr));
		break;
	case IB_ATS_ATTR_IS_PRIMARY:
		json_object_object_add(row, "primary", json_object_new_boolean(true));
		break;
	case IB_ATS_ATTR_STATE:
		row_add_name(row, "state", state_names, ARRAY_SIZE(state_names),
			     mnl_attr_get_u32(attr));
		break;
	case IB_ATS_ATTR_SA:
		row_add_name(row, "sa", sa_names, ARRAY_SIZE(sa_names),
			     mnl_attr_get_u32(attr));
		break;
	case IB_ATS_ATTR_COUNTERS:
		row_add_counters(row, attr);
		break;
	}
}

/**
 * row_parse() - what a message of the family says
 * @message: the message
 *
 * Return: an object, for json_object_put().
 */
struct json_object *row_parse(const struct nlmsghdr *message)
{
	struct json_object *row = json_object_new_object();
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		row_add_attr(row, attr);
	return row;
}

/* ---- Tables ---- */

/**
 * row_text() - a value as people get it
 * @row: the row
 * @key: of the value
 *
 * Return: the text, for as long as there is the row.
 */
const char *row_text(struct json_object *row, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(row, key, &value))
		return "-";
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? key : "-";
	return json_object_get_string(value);
}

static int column_width(struct json_object *rows, const char *key)
{
	size_t i, len, width = strlen(key);

	for (i = 0; i < json_object_array_length(rows); i++) {
		len = strlen(row_text(json_object_array_get_idx(rows, i), key));
		if (len > width)
			width = len;
	}
	return width;
}

static void cell_print(const char *text, int width, bool last)
{
	if (last)
		printf("%s\n", text);
	else
		printf("%-*s  ", width, text);
}

/**
 * rows_print_table() - a table with a heading
 * @rows: an array of rows
 * @keys: what the columns are; NULL ends them
 */
void rows_print_table(struct json_object *rows, const char *const *keys)
{
	size_t i, count = json_object_array_length(rows);
	int widths[16] = {};
	unsigned int k;

	if (!count)
		return;
	for (k = 0; keys[k]; k++) {
		widths[k] = column_width(rows, keys[k]);
		cell_print(keys[k], widths[k], !keys[k + 1]);
	}
	for (i = 0; i < count; i++)
		for (k = 0; keys[k]; k++)
			cell_print(row_text(json_object_array_get_idx(rows, i), keys[k]),
				   widths[k], !keys[k + 1]);
}

/**
 * rows_print_json() - one line for programs
 * @rows: an array of rows, or one of them
 */
void rows_print_json(struct json_object *rows)
{
	puts(json_object_to_json_string_ext(rows, JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
}
