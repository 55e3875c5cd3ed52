// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The options that say which records are wanted, and for how long to try.
 */
#include <string.h>

#include "ibats.h"

#define TIMEOUT_MAX_MS	60000

const struct option_words filter_options[] = {
	{ 'd', "device", "HCA[/PORT]", "only through that HCA, or that port of it" },
	{ 'k', "pkey", "P_KEY", "only records of that partition" },
	{ 't', "timeout", "MS", "try for this many milliseconds, 1 to 60000" },
};

const unsigned int filter_option_count = ARRAY_SIZE(filter_options);

/* What was given; set by filter_take() only */
static struct {
	char device[64];		/* empty: any */
	__u32 port;			/* 0: any */
	__u16 pkey;			/* 0: any */
	__u32 timeout_ms;		/* 0: the kernel's default */
} filter;

static bool parse_positive(const char *text, __u64 most, __u64 *number)
{
	return parse_number(text, most, number) && *number;
}

static bool parse_device(const char *text)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	__u64 port = 0;

	if (!len || len >= sizeof(filter.device))
		return false;
	if (slash && !parse_positive(slash + 1, UINT32_MAX, &port))
		return false;
	memcpy(filter.device, text, len);
	filter.device[len] = '\0';
	filter.port = port;
	return true;
}

static bool parse_pkey(const char *text)
{
	__u64 number;

	if (!parse_positive(text, UINT16_MAX, &number))
		return false;
	filter.pkey = number;
	return true;
}

static bool parse_timeout(const char *text)
{
	__u64 number;

	if (!parse_positive(text, TIMEOUT_MAX_MS, &number))
		return false;
	filter.timeout_ms = number;
	return true;
}

/**
 * filter_take() - take the value of an option
 * @letter: the option's letter
 * @text: the value
 *
 * Return: an error message, or NULL.
 */
const char *filter_take(int letter, const char *text)
{
	switch (letter) {
	case 'd':
		return parse_device(text) ? NULL : "not an HCA, or HCA/PORT";
	case 'k':
		return parse_pkey(text) ? NULL : "not a P_Key, 1 to 0xffff";
	default:
		return parse_timeout(text) ? NULL : "not a number of milliseconds, 1 to 60000";
	}
}

/**
 * filter_put_port() - add the HCA and the port that were given to a request
 * @message: the request; nothing is added if no HCA was given
 */
void filter_put_port(struct nlmsghdr *message)
{
	if (filter.device[0])
		mnl_attr_put_strz(message, IB_ATS_ATTR_DEVICE, filter.device);
	if (filter.port)
		mnl_attr_put_u32(message, IB_ATS_ATTR_PORT, filter.port);
}

/**
 * filter_put_pkey() - add the P_Key that was given to a request
 * @message: the request; nothing is added if no P_Key was given
 */
void filter_put_pkey(struct nlmsghdr *message)
{
	if (filter.pkey)
		mnl_attr_put_u16(message, IB_ATS_ATTR_PKEY, filter.pkey);
}

/**
 * filter_timeout_ms() - for how long to try
 *
 * Return: milliseconds; 0: the kernel's default.
 */
__u32 filter_timeout_ms(void)
{
	return filter.timeout_ms;
}
