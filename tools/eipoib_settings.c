// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The settings of a netdevice, as words and as attributes of rtnetlink.
 */
#include <linux/rtnetlink.h>

#include "eipoib.h"

static const char *const switch_words[] = { "off", "on", NULL };
static const char *const dhcp_words[] = { "off", "flag", "rfc4390", NULL };

/* By their place in setting_keys[] */
static const struct setting {
	__u16 type;
	const char *const *words;	/* of a number of 8 bits; NULL: one of 32 bits */
} settings[SETTINGS] = {
	{ IFLA_EIPOIB_LEARNING, switch_words },
	{ IFLA_EIPOIB_DHCP, dhcp_words },
	{ IFLA_EIPOIB_QUERIER, switch_words },
	{ IFLA_EIPOIB_MAX_IPS, NULL },
	{ IFLA_EIPOIB_MAX_IPS_PER_MAC, NULL },
};

const char *const setting_keys[SETTINGS + 1] = {
	"learning", "dhcp", "querier", "max_ips", "max_ips_per_mac", NULL
};

static bool setting_put(struct nlmsghdr *message, unsigned int i, const char *value)
{
	const struct setting *setting = &settings[i];
	char what[48];
	__u64 number;
	int word;

	if (!setting->words) {
		if (!parse_number(value, UINT32_MAX, &number)) {
			misused(value, "not a number");
			return false;
		}
		mnl_attr_put_u32(message, setting->type, number);
		return true;
	}
	snprintf(what, sizeof(what), "a value of '%s'", setting_keys[i]);
	word = word_find(setting->words, value, what, "set help");
	if (word >= 0)
		mnl_attr_put_u8(message, setting->type, word);
	return word >= 0;
}

/**
 * settings_put() - add settings to a request
 * @message: the request
 * @values: the values in the order of setting_keys[], NULL for those that are not given
 *
 * Return: false after an error message if a value is wrong.
 */
bool settings_put(struct nlmsghdr *message, const char *const *values)
{
	struct nlattr *info = mnl_attr_nest_start(message, IFLA_LINKINFO), *data;
	unsigned int i;

	mnl_attr_put_strz(message, IFLA_INFO_KIND, "eipoib");
	data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
	for (i = 0; i < SETTINGS; i++)
		if (values[i] && !setting_put(message, i, values[i]))
			return false;
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	return true;
}

static void setting_add(struct json_object *row, unsigned int i, const struct nlattr *attr)
{
	const struct setting *setting = &settings[i];
	unsigned int number;

	if (!setting->words) {
		if (!mnl_attr_validate(attr, MNL_TYPE_U32))
			add_u32(row, setting_keys[i], attr);
		return;
	}
	if (mnl_attr_validate(attr, MNL_TYPE_U8))
		return;
	number = mnl_attr_get_u8(attr);
	if (setting->words == switch_words)
		add_bool(row, setting_keys[i], number);
	else
		add_name(row, setting_keys[i], setting->words, ARRAY_SIZE(dhcp_words), number);
}

/**
 * settings_add() - add settings of a netdevice to its row
 * @row: the row
 * @data: the attribute IFLA_INFO_DATA
 */
void settings_add(struct json_object *row, const struct nlattr *data)
{
	const struct nlattr *attr;
	unsigned int i;

	mnl_attr_for_each_nested(attr, data)
		for (i = 0; i < SETTINGS; i++)
			if (mnl_attr_get_type(attr) == settings[i].type)
				setting_add(row, i, attr);
}
