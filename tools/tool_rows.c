// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Turns attributes of the kernel's messages into values of rows: JSON objects, in the form that
 * programs get. The manual page of each tool lists their keys.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "tool.h"

/* As many interfaces are remembered by their names */
#define SEEN	1024

/* ---- Values ---- */

/**
 * text_clean() - replace the octets of a text that are not printable ASCII characters, by '?'
 * @text: the text
 *
 * The names of interfaces may be anybody's choice. A terminal would obey some of them, and others
 * are no UTF-8, which JSON has to be.
 */
void text_clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/**
 * add_text() - add a text to a row
 * @row: the row
 * @key: the key
 * @text: the text, of which text_clean() is added
 */
void add_text(struct json_object *row, const char *key, const char *text)
{
	char *clean = strdup(text);

	if (!clean)
		return;
	text_clean(clean);
	json_object_object_add(row, key, json_object_new_string(clean));
	free(clean);
}

/**
 * add_bool() - add a truth value to a row
 * @row: the row
 * @key: the key
 * @value: the value
 */
void add_bool(struct json_object *row, const char *key, bool value)
{
	json_object_object_add(row, key, json_object_new_boolean(value));
}

/**
 * add_string() - add a string of a message to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute
 */
void add_string(struct json_object *row, const char *key, const struct nlattr *attr)
{
	add_text(row, key, mnl_attr_get_str(attr));
}

/**
 * add_flag() - add to a row that a flag is set
 * @row: the row
 * @key: the key
 * @attr: the attribute
 */
void add_flag(struct json_object *row, const char *key, const struct nlattr *attr)
{
	(void)attr;
	add_bool(row, key, true);
}

/**
 * add_u32() - add a number of 32 bits to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute
 */
void add_u32(struct json_object *row, const char *key, const struct nlattr *attr)
{
	json_object_object_add(row, key, json_object_new_uint64(mnl_attr_get_u32(attr)));
}

/**
 * add_u64() - add a number of 64 bits to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute
 */
void add_u64(struct json_object *row, const char *key, const struct nlattr *attr)
{
	json_object_object_add(row, key, json_object_new_uint64(mnl_attr_get_u64(attr)));
}

/**
 * add_hex() - add a number of 16 or 64 bits to a row, as a hexadecimal one
 * @row: the row
 * @key: the key
 * @attr: the attribute
 *
 * It is a text, since JSON has no hexadecimal numbers and many programs have no 64-bit numbers.
 */
void add_hex(struct json_object *row, const char *key, const struct nlattr *attr)
{
	bool wide = mnl_attr_get_payload_len(attr) == sizeof(__u64);
	char text[24];

	if (wide)
		snprintf(text, sizeof(text), "0x%016llx",
			 (unsigned long long)mnl_attr_get_u64(attr));
	else
		snprintf(text, sizeof(text), "0x%04x", mnl_attr_get_u16(attr));
	add_text(row, key, text);
}

/**
 * add_gid() - add a GID, or an IPv6 address, to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute
 */
void add_gid(struct json_object *row, const char *key, const struct nlattr *attr)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, mnl_attr_get_payload(attr), text, sizeof(text));
	add_text(row, key, text);
}

/**
 * add_address() - add an IP address to a row
 * @row: the row
 * @key: the key
 * @attr: the attribute; an IPv4 address is ::ffff:a.b.c.d
 */
void add_address(struct json_object *row, const char *key, const struct nlattr *attr)
{
	const struct in6_addr *ip = mnl_attr_get_payload(attr);
	char text[INET6_ADDRSTRLEN];

	if (!IN6_IS_ADDR_V4MAPPED(ip)) {
		add_gid(row, key, attr);
		return;
	}
	inet_ntop(AF_INET, &ip->s6_addr[12], text, sizeof(text));
	add_text(row, key, text);
}

/**
 * add_name() - add the name of a number to a row
 * @row: the row
 * @key: the key
 * @names: the names by number
 * @count: the number of @names
 * @number: the number. A newer kernel may have one without a name: it is shown as it is.
 */
void add_name(struct json_object *row, const char *key, const char *const *names,
	      unsigned int count, __u32 number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	add_text(row, key, number < count && names[number] ? names[number] : text);
}

/* Returns the name of an interface, or the last one that was seen here if it has been removed; NULL
 * if none was. It is valid until the next call.
 */
static const char *name_of(unsigned int index)
{
	static struct {
		unsigned int index;
		char name[IF_NAMESIZE];
	} seen[SEEN], *last;
	char name[IF_NAMESIZE];

	last = &seen[index % SEEN];
	if (if_indextoname(index, name)) {
		last->index = index;
		memcpy(last->name, name, sizeof(name));
	}
	return index && last->index == index ? last->name : NULL;
}

/**
 * add_interface() - add the number of an interface, and its name as "interface", to a row
 * @row: the row
 * @key: the key of the number
 * @attr: the attribute
 *
 * An interface that has been removed is shown with its last known name, or without one.
 */
void add_interface(struct json_object *row, const char *key, const struct nlattr *attr)
{
	const char *name = name_of(mnl_attr_get_u32(attr));

	add_u32(row, key, attr);
	if (name)
		add_text(row, "interface", name);
}

/* ---- Messages ---- */

/* Unknown and malformed attributes are left out */
static void row_add(struct json_object *row, const struct nlattr *attr,
		    const struct field *fields, unsigned int count)
{
	unsigned int type = mnl_attr_get_type(attr);
	const struct field *field;

	if (type >= count || !fields[type].add)
		return;
	field = &fields[type];
	if (!mnl_attr_validate2(attr, field->type, field->len))
		field->add(row, field->key, attr);
}

/**
 * row_is() - whether a row has a value
 * @row: the row
 * @key: the key of the value
 *
 * Return: true if the row has a value of that key, and it is not false.
 */
bool row_is(struct json_object *row, const char *key)
{
	return json_object_get_boolean(json_object_object_get(row, key));
}

/**
 * row_add_fields() - add the attributes of a message to a row
 * @row: the row
 * @message: the message
 * @offset: the length of the header between the message's and the attributes
 * @fields: how they are added, by the attributes' types
 * @count: the number of @fields
 */
void row_add_fields(struct json_object *row, const struct nlmsghdr *message, size_t offset,
		    const struct field *fields, unsigned int count)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, offset)
		row_add(row, attr, fields, count);
}

/**
 * message_command() - the command of a message within its family
 * @message: the message
 *
 * Return: the command's number.
 */
uint8_t message_command(const struct nlmsghdr *message)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(message);

	return genl->cmd;
}
