// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Turns the kernel's messages into rows: JSON objects, in the form that programs get. The
 * manual page, ibats(8), lists their keys.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

#include <linux/genetlink.h>

#include "ibats.h"

/* How an attribute of a message is added to a row */
struct field {
	const char *key;
	enum mnl_attr_data_type type;
	size_t len;			/* of its value; 0: any */
	void (*add)(struct json_object *row, const char *key, const struct nlattr *attr);
};

static const char *const state_names[] = {
	[IB_ATS_RECORD_PENDING] = "pending",
	[IB_ATS_RECORD_REGISTERED] = "registered",
	[IB_ATS_RECORD_REFUSED] = "refused",
	[IB_ATS_RECORD_NO_SID] = "no-sid",
	[IB_ATS_RECORD_QUOTA] = "quota",
	[IB_ATS_RECORD_GONE] = "gone",
};

static const char *const sa_names[] = {
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
	[IB_ATS_COUNTER_LEFTOVERS] = "leftovers",
	[IB_ATS_COUNTER_CONFLICTS] = "conflicts",
};

/* ---- Values ---- */

static void add_text(struct json_object *row, const char *key, const char *text)
{
	json_object_object_add(row, key, json_object_new_string(text));
}

static void add_bool(struct json_object *row, const char *key, bool value)
{
	json_object_object_add(row, key, json_object_new_boolean(value));
}

static void add_string(struct json_object *row, const char *key, const struct nlattr *attr)
{
	add_text(row, key, mnl_attr_get_str(attr));
}

static void add_flag(struct json_object *row, const char *key, const struct nlattr *attr)
{
	(void)attr;
	add_bool(row, key, true);
}

static void add_u32(struct json_object *row, const char *key, const struct nlattr *attr)
{
	json_object_object_add(row, key, json_object_new_uint64(mnl_attr_get_u32(attr)));
}

static void add_u64(struct json_object *row, const char *key, const struct nlattr *attr)
{
	json_object_object_add(row, key, json_object_new_uint64(mnl_attr_get_u64(attr)));
}

/* As text, since JSON has no hexadecimal numbers and many programs have no 64-bit numbers */
static void add_hex(struct json_object *row, const char *key, const struct nlattr *attr)
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

static void add_gid(struct json_object *row, const char *key, const struct nlattr *attr)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, mnl_attr_get_payload(attr), text, sizeof(text));
	add_text(row, key, text);
}

static void add_address(struct json_object *row, const char *key, const struct nlattr *attr)
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

/* A newer kernel may have numbers without a name here: they are shown as they are */
static void add_name(struct json_object *row, const char *key, const char *const *names,
		     unsigned int count, __u32 number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	add_text(row, key, number < count && names[number] ? names[number] : text);
}

static void add_state(struct json_object *row, const char *key, const struct nlattr *attr)
{
	add_name(row, key, state_names, ARRAY_SIZE(state_names), mnl_attr_get_u32(attr));
}

static void add_sa(struct json_object *row, const char *key, const struct nlattr *attr)
{
	add_name(row, key, sa_names, ARRAY_SIZE(sa_names), mnl_attr_get_u32(attr));
}

static void add_refusal(struct json_object *row, const char *key, const struct nlattr *attr)
{
	char text[80];

	refusal_text(mnl_attr_get_u16(attr), text, sizeof(text));
	add_hex(row, key, attr);
	add_text(row, "refusal_reason", text);
}

/* An interface that has been removed is shown with its last known name */
static void add_interface(struct json_object *row, const char *key, const struct nlattr *attr)
{
	static struct json_object *seen;
	struct json_object *was;
	char name[IF_NAMESIZE];
	char index[16];

	if (!seen)
		seen = json_object_new_object();
	add_u32(row, key, attr);
	snprintf(index, sizeof(index), "if%u", mnl_attr_get_u32(attr));
	if (if_indextoname(mnl_attr_get_u32(attr), name))
		add_text(seen, index, name);
	if (json_object_object_get_ex(seen, index, &was))
		add_text(row, "interface", json_object_get_string(was));
	else
		add_text(row, "interface", index);
}

static void add_counters(struct json_object *row, const char *key, const struct nlattr *nest)
{
	const struct nlattr *attr;
	unsigned int type;

	(void)key;
	mnl_attr_for_each_nested(attr, nest) {
		type = mnl_attr_get_type(attr);
		if (type < ARRAY_SIZE(counter_names) && counter_names[type] &&
		    !mnl_attr_validate(attr, MNL_TYPE_U64))
			add_u64(row, counter_names[type], attr);
	}
}

/* ---- Messages ---- */

static const struct field fields[] = {
	[IB_ATS_ATTR_DEVICE] = { "device", MNL_TYPE_NUL_STRING, 0, add_string },
	[IB_ATS_ATTR_PORT] = { "port", MNL_TYPE_U32, 4, add_u32 },
	[IB_ATS_ATTR_IFINDEX] = { "ifindex", MNL_TYPE_U32, 4, add_interface },
	[IB_ATS_ATTR_GID] = { "gid", MNL_TYPE_BINARY, 16, add_gid },
	[IB_ATS_ATTR_PKEY] = { "pkey", MNL_TYPE_U16, 2, add_hex },
	[IB_ATS_ATTR_ADDR] = { "address", MNL_TYPE_BINARY, 16, add_address },
	[IB_ATS_ATTR_SID] = { "sid", MNL_TYPE_U64, 8, add_hex },
	[IB_ATS_ATTR_IS_PRIMARY] = { "primary", MNL_TYPE_FLAG, 0, add_flag },
	[IB_ATS_ATTR_IS_CHOICE] = { "chosen", MNL_TYPE_FLAG, 0, add_flag },
	[IB_ATS_ATTR_STATE] = { "state", MNL_TYPE_U32, 4, add_state },
	[IB_ATS_ATTR_AGE] = { "age_ms", MNL_TYPE_U64, 8, add_u64 },
	[IB_ATS_ATTR_REFUSAL] = { "refusal", MNL_TYPE_U16, 2, add_refusal },
	[IB_ATS_ATTR_RIVAL] = { "rival", MNL_TYPE_BINARY, 16, add_gid },
	[IB_ATS_ATTR_SA] = { "sa", MNL_TYPE_U32, 4, add_sa },
	[IB_ATS_ATTR_COUNTERS] = { "counters", MNL_TYPE_NESTED, 0, add_counters },
};

/* Unknown and malformed attributes are left out */
static void row_add(struct json_object *row, const struct nlattr *attr)
{
	unsigned int type = mnl_attr_get_type(attr);
	const struct field *field;

	if (type >= ARRAY_SIZE(fields) || !fields[type].add)
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
 * row_parse() - turn a message of the family into a row
 * @message: the message
 *
 * A message contains only flags that are set; a row also contains those that are not.
 *
 * Return: an object, which the caller releases by json_object_put().
 */
struct json_object *row_parse(const struct nlmsghdr *message)
{
	struct json_object *row = json_object_new_object();
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		row_add(row, attr);
	if (row_is(row, "address"))
		add_bool(row, "primary", row_is(row, "primary"));
	if (row_is(row, "state"))
		add_bool(row, "chosen", row_is(row, "chosen"));
	return row;
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
