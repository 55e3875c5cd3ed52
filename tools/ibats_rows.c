// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Turns the kernel's messages into rows: JSON objects, in the form that programs get. The
 * manual page, ibats(8), lists their keys.
 */
#include <linux/genetlink.h>

#include "ibats.h"

/* The status of a MAD. InfiniBand's specification, 13.4.7 and 15.2.5 */
#define MAD_BUSY		0x0001
#define MAD_INVALID(status)	((status) >> 2 & 7)
#define MAD_SPECIFIC(status)	((status) >> 8)

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

/* Status of the class SubnAdm, in the upper octet */
static const char *const refusals[] = {
	[1] = "no resources",
	[2] = "the request is invalid",
	[3] = "no records",
	[4] = "too many records",
	[5] = "invalid GID",
	[6] = "insufficient components",
	[7] = "denied",
};

/* Status of all classes, in bits 2 to 4 */
static const char *const invalid_fields[] = {
	[1] = "bad version",
	[2] = "method not supported",
	[3] = "method and attribute not supported together",
	[7] = "invalid attribute or modifier",
};

/* ---- Values ---- */

static const char *text_at(const char *const *texts, unsigned int count, unsigned int number)
{
	return number < count ? texts[number] : NULL;
}

static void refusal_text(__u16 status, char *text, size_t size)
{
	const char *why = NULL;

	if (MAD_SPECIFIC(status))
		why = text_at(refusals, ARRAY_SIZE(refusals), MAD_SPECIFIC(status));
	else if (MAD_INVALID(status))
		why = text_at(invalid_fields, ARRAY_SIZE(invalid_fields), MAD_INVALID(status));
	else if (status & MAD_BUSY)
		why = "busy";
	snprintf(text, size, "%s", why ?: "unknown reason");
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

	row_add_fields(row, message, sizeof(struct genlmsghdr), fields, ARRAY_SIZE(fields));
	if (row_is(row, "address"))
		add_bool(row, "primary", row_is(row, "primary"));
	if (row_is(row, "state"))
		add_bool(row, "chosen", row_is(row, "chosen"));
	return row;
}

