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

#include "tool.h"

/* The options of a tool */
#define OPTIONS_MAX	16

static const struct option_words common[] = {
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

/* ---- Options ---- */

static unsigned int known_count(const struct tool *tool)
{
	return tool->option_count + ARRAY_SIZE(common);
}

static const struct option_words *known_at(const struct tool *tool, unsigned int i)
{
	return i < tool->option_count ? &tool->options[i] : &common[i - tool->option_count];
}

/* Returns an error message, or NULL */
static const char *option_take(const struct tool *tool, struct options *options, int letter,
			       const char *text)
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
	default:
		return tool->option_take(letter, text);
	}
}

/* Fills in the arguments of getopt_long(): @letters has room for two characters per option */
static void known_fill(const struct tool *tool, struct option *longs, char *letters)
{
	const struct option_words *known;
	unsigned int i;

	for (i = 0; i < known_count(tool); i++) {
		known = known_at(tool, i);
		longs[i].name = known->name;
		longs[i].has_arg = known->argument ? required_argument : no_argument;
		longs[i].val = known->letter;
		*letters++ = known->letter;
		if (known->argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

/**
 * options_parse() - parse the options, and move the other words behind them
 * @tool: the tool
 * @options: filled in
 * @argc: the number of words of the command line
 * @argv: the words; afterwards optind is the index of the first one that is not an option
 *
 * Prints a message for each invalid option, and continues, so that --json has its effect on
 * the output in any case.
 *
 * Return: whether all options are valid.
 */
bool options_parse(const struct tool *tool, struct options *options, int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 1] = {};
	char letters[2 * OPTIONS_MAX + 1];
	const char *wrong;
	bool good = true;
	int letter;

	known_fill(tool, longs, letters);
	while ((letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (letter == '?') {
			good = false;
			continue;
		}
		wrong = option_take(tool, options, letter, optarg);
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
 * @tool: the tool
 * @options: the options that were given
 * @command: the command
 *
 * Prints an error message if it does not take one of them.
 *
 * Return: whether it takes all of them.
 */
bool options_fit(const struct tool *tool, const struct options *options,
		 const struct command *command)
{
	const struct option_words *known;
	unsigned int i;

	for (i = 0; i < known_count(tool); i++) {
		known = known_at(tool, i);
		if (!strchr(options->given, known->letter) ||
		    strchr(command->options, known->letter))
			continue;
		fprintf(stderr, "%s: '%s' does not take the option --%s; see '%s %s help'\n",
			program.name, command->name, known->name, program.name, command->name);
		return false;
	}
	return true;
}

/**
 * options_print() - print the help text of options
 * @tool: the tool
 * @letters: the letters of the options; NULL: all
 */
void options_print(const struct tool *tool, const char *letters)
{
	const struct option_words *known;
	char words[32];
	unsigned int i;

	for (i = 0; i < known_count(tool); i++) {
		known = known_at(tool, i);
		if (letters && !strchr(letters, known->letter))
			continue;
		snprintf(words, sizeof(words), "--%s%s%s", known->name,
			 known->argument ? " " : "", known->argument ?: "");
		printf("  -%c, %-20s %s\n", known->letter, words, known->help);
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
 * @help: the arguments of the tool that print the help text, for the error message
 *
 * Return: its index, or -1 after an error message.
 */
int word_find(const char *const *words, const char *given, const char *what, const char *help)
{
	char text[64];
	unsigned int count;
	int found = -1;

	count = *given ? words_count(words, given, &found) : 0;
	if (count == 1)
		return found;
	snprintf(text, sizeof(text), "%s", given);
	text_clean(text);
	if (count)
		fprintf(stderr, "%s: '%s' may mean more than one word; see '%s %s'\n",
			program.name, text, program.name, help);
	else
		fprintf(stderr, "%s: '%s' is not %s; see '%s %s'\n", program.name, text, what,
			program.name, help);
	return -1;
}
