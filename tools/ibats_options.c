// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Parses the options of the command line, which may be anywhere in it, and its words, which
 * may be abbreviated.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "ibats.h"

#define TIMEOUT_MAX_MS	60000

struct option_words {
	char letter;
	const char *name;
	const char *argument;		/* NULL: it has none */
	const char *help;
};

static const struct option_words known[] = {
	{ 'd', "device", "HCA[/PORT]", "only through that HCA, or that port of it" },
	{ 'k', "pkey", "P_KEY", "only records of that partition" },
	{ 't', "timeout", "MS", "try for this many milliseconds, 1 to 60000" },
	{ 'j', "json", NULL, "print JSON, for programs" },
	{ 'p', "pretty", NULL, "with --json: print on several lines, with indentation" },
	{ 'V', "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this help, or the help of the given command" },
};

/* ---- Values ---- */

/**
 * parse_ip() - parse an IP address
 * @text: the text of an IPv4 or IPv6 address
 * @ip: set to the address; an IPv4 address is ::ffff:a.b.c.d, as the kernel expects
 *
 * Return: whether the text is valid.
 */
bool parse_ip(const char *text, struct in6_addr *ip)
{
	memset(ip, 0, sizeof(*ip));
	ip->s6_addr[10] = 0xff;
	ip->s6_addr[11] = 0xff;
	return inet_pton(AF_INET, text, &ip->s6_addr[12]) == 1 ||
	       inet_pton(AF_INET6, text, ip) == 1;
}

/**
 * parse_number() - parse a number
 * @text: the text; octal after 0, hexadecimal after 0x, otherwise decimal
 * @most: the greatest allowed value
 * @number: set to the number
 *
 * Return: whether the text is valid.
 */
bool parse_number(const char *text, __u64 most, __u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number <= most;
}

static bool parse_positive(const char *text, __u64 most, __u64 *number)
{
	return parse_number(text, most, number) && *number;
}

static bool parse_device(struct options *options, const char *text)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	__u64 port = 0;

	if (!len || len >= sizeof(options->device))
		return false;
	if (slash && !parse_positive(slash + 1, UINT32_MAX, &port))
		return false;
	memcpy(options->device, text, len);
	options->device[len] = '\0';
	options->port = port;
	return true;
}

static bool parse_pkey(struct options *options, const char *text)
{
	__u64 number;

	if (!parse_positive(text, UINT16_MAX, &number))
		return false;
	options->pkey = number;
	return true;
}

static bool parse_timeout(struct options *options, const char *text)
{
	__u64 number;

	if (!parse_positive(text, TIMEOUT_MAX_MS, &number))
		return false;
	options->timeout_ms = number;
	return true;
}

/* ---- Options ---- */

/* Returns an error message, or NULL */
static const char *parse_option(struct options *options, int letter, const char *text)
{
	switch (letter) {
	case 'j':
		options->json = true;
		return NULL;
	case 'p':
		options->pretty = true;
		return NULL;
	case 'h':
		options->help = true;
		return NULL;
	case 'V':
		options->version = true;
		return NULL;
	case 'd':
		return parse_device(options, text) ? NULL : "not an HCA, or HCA/PORT";
	case 'k':
		return parse_pkey(options, text) ? NULL : "not a P_Key, 1 to 0xffff";
	default:
		return parse_timeout(options, text) ? NULL :
		       "not a number of milliseconds, 1 to 60000";
	}
}

/* Fills in the arguments of getopt_long(): @letters has room for two characters per option */
static void known_fill(struct option *longs, char *letters)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		longs[i].name = known[i].name;
		longs[i].has_arg = known[i].argument ? required_argument : no_argument;
		longs[i].val = known[i].letter;
		*letters++ = known[i].letter;
		if (known[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

/**
 * options_parse() - parse the options, and move the other words behind them
 * @options: filled in
 * @argc: the number of words of the command line
 * @argv: the words; afterwards optind is the index of the first one that is not an option
 *
 * Prints a message for each invalid option, and continues, so that --json has its effect on
 * the output in any case.
 *
 * Return: whether all options are valid.
 */
bool options_parse(struct options *options, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(known) + 1] = {};
	char letters[2 * ARRAY_SIZE(known) + 1];
	const char *wrong;
	bool good = true;
	int letter;

	known_fill(longs, letters);
	while ((letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (letter == '?') {
			good = false;
			continue;
		}
		wrong = parse_option(options, letter, optarg);
		if (wrong) {
			misused(optarg, wrong);
			good = false;
		}
		if (!strchr(options->given, letter))
			options->given[strlen(options->given)] = letter;
	}
	return good;
}

/**
 * options_fit() - check that a command takes the options that were given
 * @options: the options that were given
 * @command: the command's name
 * @letters: the letters of the options that it takes
 *
 * Prints an error message if it does not take one of them.
 *
 * Return: whether it takes all of them.
 */
bool options_fit(const struct options *options, const char *command, const char *letters)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strchr(options->given, known[i].letter) || strchr(letters, known[i].letter))
			continue;
		fprintf(stderr, "ibats: '%s' does not take the option --%s; see 'ibats %s help'\n",
			command, known[i].name, command);
		return false;
	}
	return true;
}

/**
 * options_put_port() - add the HCA and the port that were given to a request
 * @options: the options; nothing is added if they name no HCA
 * @message: the request
 */
void options_put_port(const struct options *options, struct nlmsghdr *message)
{
	if (options->device[0])
		mnl_attr_put_strz(message, IB_ATS_ATTR_DEVICE, options->device);
	if (options->port)
		mnl_attr_put_u32(message, IB_ATS_ATTR_PORT, options->port);
}

/**
 * options_print() - print the help text of options
 * @to: the output
 * @letters: the letters of the options; NULL: all
 */
void options_print(FILE *to, const char *letters)
{
	char words[32];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (letters && !strchr(letters, known[i].letter))
			continue;
		snprintf(words, sizeof(words), "--%s%s%s", known[i].name,
			 known[i].argument ? " " : "", known[i].argument ?: "");
		fprintf(to, "  -%c, %-20s %s\n", known[i].letter, words, known[i].help);
	}
}

/* Returns how many of the NULL-terminated @words begin with @given; *found: one of them */
static unsigned int words_count(const char *const *words, const char *given, int *found)
{
	unsigned int i, count = 0;

	for (i = 0; words[i]; i++) {
		if (strncmp(words[i], given, strlen(given)))
			continue;
		*found = i;
		if (!strcmp(words[i], given))
			return 1;
		count++;
	}
	return count;
}

/**
 * word_find() - find a word by an abbreviation
 * @words: all words, terminated by NULL
 * @given: the word, or an unambiguous beginning of it
 * @what: what these words are, for the error message
 * @help: the arguments of ibats that print the help text, for the error message
 *
 * Return: its index, or -1 after an error message.
 */
int word_find(const char *const *words, const char *given, const char *what, const char *help)
{
	unsigned int count;
	int found = -1;

	count = *given ? words_count(words, given, &found) : 0;
	if (count == 1)
		return found;
	if (count)
		fprintf(stderr, "ibats: '%s' may mean more than one word; see 'ibats %s'\n",
			given, help);
	else
		fprintf(stderr, "ibats: '%s' is not %s; see 'ibats %s'\n", given, what, help);
	return -1;
}
