// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Turns the kernel's messages into rows: JSON objects, in the form that programs get. The manual
 * page, eipoib(8), lists their keys. And the texts of their values, for people.
 */
#include <string.h>

#include <linux/genetlink.h>

#include "eipoib.h"

static const char *const event_names[] = {
	[EIPOIB_EVENT_NEW] = "new",
	[EIPOIB_EVENT_MOVED] = "moved",
	[EIPOIB_EVENT_LEFT] = "left",
	[EIPOIB_EVENT_EXPIRED] = "expired",
	[EIPOIB_EVENT_EVICTED] = "evicted",
	[EIPOIB_EVENT_DELETED] = "deleted",
};

/**
 * add_octets() - add a MAC address or another link-layer address to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute
 */
void add_octets(struct json_object *row, const char *key, const struct nlattr *attr)
{
	const unsigned char *octets = mnl_attr_get_payload(attr);
	unsigned int i, len = mnl_attr_get_payload_len(attr);
	char text[3 * 20 + 1] = "";

	for (i = 0; i < len && i < 20; i++)
		snprintf(text + 3 * i, 4, "%02x:", octets[i]);
	text[3 * i - 1] = '\0';
	add_text(row, key, text);
}

/**
 * add_vlan() - add the id of a VLAN to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute, of 16 bits
 */
void add_vlan(struct json_object *row, const char *key, const struct nlattr *attr)
{
	json_object_object_add(row, key, json_object_new_int(mnl_attr_get_u16(attr)));
}

static void add_event(struct json_object *row, const char *key, const struct nlattr *attr)
{
	add_name(row, key, event_names, ARRAY_SIZE(event_names), mnl_attr_get_u32(attr));
}

static void add_count(struct json_object *row, const char *key, const struct nlattr *nest)
{
	static const char *const names[] = {
		[EIPOIB_COUNT_ENTRIES] = "entries",
		[EIPOIB_COUNT_LIMIT] = "limit",
	};
	struct json_object *count = json_object_new_object();
	const struct nlattr *attr;
	unsigned int type;

	mnl_attr_for_each_nested(attr, nest) {
		type = mnl_attr_get_type(attr);
		if (type < ARRAY_SIZE(names) && names[type] &&
		    !mnl_attr_validate(attr, MNL_TYPE_U32))
			add_u32(count, names[type], attr);
	}
	json_object_object_add(row, key, count);
}

static const struct field fields[] = {
	[EIPOIB_ATTR_IFINDEX] = { "ifindex", MNL_TYPE_U32, 4, add_interface },
	[EIPOIB_ATTR_VLAN] = { "vlan", MNL_TYPE_U16, 2, add_vlan },
	[EIPOIB_ATTR_ADDR] = { "address", MNL_TYPE_BINARY, 16, add_address },
	[EIPOIB_ATTR_MAC] = { "mac", MNL_TYPE_BINARY, 6, add_octets },
	[EIPOIB_ATTR_LLADDR] = { "lladdr", MNL_TYPE_BINARY, 20, add_octets },
	[EIPOIB_ATTR_IS_STATIC] = { "static", MNL_TYPE_FLAG, 0, add_flag },
	[EIPOIB_ATTR_AGE] = { "age_ms", MNL_TYPE_U64, 8, add_u64 },
	[EIPOIB_ATTR_EVENT] = { "event", MNL_TYPE_U32, 4, add_event },
	[EIPOIB_ATTR_LOWER] = { "lower_ifindex", MNL_TYPE_U32, 4, add_u32 },
	[EIPOIB_ATTR_LOCALS] = { "local", MNL_TYPE_NESTED, 0, add_count },
	[EIPOIB_ATTR_HEARD] = { "heard", MNL_TYPE_NESTED, 0, add_count },
	[EIPOIB_ATTR_REMOTES] = { "remote", MNL_TYPE_NESTED, 0, add_count },
	[EIPOIB_ATTR_GROUPS] = { "group", MNL_TYPE_NESTED, 0, add_count },
};

/**
 * row_parse() - turn a message of the family into a row
 * @message: the message
 *
 * A message contains only flags that are set; the row of a local IP address also contains one
 * that is not.
 *
 * Return: an object, which the caller releases by json_object_put().
 */
struct json_object *row_parse(const struct nlmsghdr *message)
{
	struct json_object *row = json_object_new_object();
	uint8_t command = message_command(message);

	row_add_fields(row, message, sizeof(struct genlmsghdr), fields, ARRAY_SIZE(fields));
	if (command == EIPOIB_CMD_LOCAL_GET || command == EIPOIB_CMD_LOCAL_NTF)
		add_bool(row, "static", row_is(row, "static"));
	return row;
}

static void cell_count(struct json_object *count, char *cell, size_t size)
{
	snprintf(cell, size, "%s/%s", row_text(count, "entries"), row_text(count, "limit"));
}

/**
 * cell_text() - write what a row has in a column, for people
 * @row: the row
 * @column: the column
 * @cell: set to the text
 * @size: the size of @cell
 */
void cell_text(struct json_object *row, const char *column, char *cell, size_t size)
{
	struct json_object *value;

	if (!strcmp(column, "age"))
		column = "age_ms";
	if (!json_object_object_get_ex(row, column, &value))
		snprintf(cell, size, "-");
	else if (!strcmp(column, "interface") && row_is(row, "vlan"))
		snprintf(cell, size, "%s vlan %s", row_text(row, column), row_text(row, "vlan"));
	else if (!strcmp(column, "age_ms"))
		age_text(json_object_get_uint64(value), cell, size);
	else if (!strcmp(column, "learning") || !strcmp(column, "querier"))
		snprintf(cell, size, "%s", json_object_get_boolean(value) ? "on" : "off");
	else if (json_object_is_type(value, json_type_object))
		cell_count(value, cell, size);
	else
		snprintf(cell, size, "%s", row_text(row, column));
}
