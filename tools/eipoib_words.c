// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The words of a command: pairs of a key and its value, such as "dev eth5".
 */
#include <ctype.h>
#include <stdlib.h>

#include "eipoib.h"

#define VLAN_MAX	4094

static bool pair_wrong(const char *command, const char *key, const char *what)
{
	fprintf(stderr, "%s: '%s %s' %s; see '%s %s help'\n", program.name, command, key, what,
		program.name, command);
	return false;
}

/**
 * pairs_parse() - parse pairs of words
 * @command: the command that they are of, for error messages
 * @keys: all keys, terminated by NULL
 * @arguments: the words, terminated by NULL
 * @values: set to the value of each of @keys; unchanged for those that are not given
 *
 * Prints an error message if a word is wrong.
 *
 * Return: whether all words are right.
 */
bool pairs_parse(const char *command, const char *const *keys, char **arguments,
		 const char **values)
{
	char what[48], help[32];
	int key;

	snprintf(what, sizeof(what), "a word that '%s' takes", command);
	snprintf(help, sizeof(help), "%s help", command);
	for (; arguments[0]; arguments += 2) {
		key = word_find(keys, arguments[0], what, help);
		if (key < 0)
			return false;
		if (!arguments[1])
			return pair_wrong(command, keys[key], "needs a value");
		if (values[key])
			return pair_wrong(command, keys[key], "is given twice");
		values[key] = arguments[1];
	}
	return true;
}

/**
 * pair_needed() - check that a pair was given
 * @command: the command, for the error message
 * @key: the key
 * @value: its value, or NULL
 *
 * Return: false after an error message if it was not given.
 */
bool pair_needed(const char *command, const char *key, const char *value)
{
	return value || pair_wrong(command, key, "is missing");
}

/**
 * dev_parse() - parse the words of a command that takes "dev" and an interface, or nothing
 * @command: the command
 * @arguments: the words, terminated by NULL
 * @dev: set to the name of the interface, or NULL
 * @index: set to its number, or 0
 *
 * Return: STATUS_FOUND, or the exit status of the tool after an error message.
 */
enum status dev_parse(const char *command, char **arguments, const char **dev,
		      unsigned int *index)
{
	static const char *const keys[] = { "dev", NULL };

	*dev = NULL;
	*index = 0;
	if (!pairs_parse(command, keys, arguments, dev))
		return STATUS_USAGE;
	if (!*dev)
		return STATUS_FOUND;
	*index = interface_find(*dev);
	return *index ? STATUS_FOUND : STATUS_NOT_FOUND;
}

/**
 * parse_vlan() - parse the id of a VLAN
 * @text: a number from 1 to 4094
 * @vlan: set to the id
 *
 * Return: false after an error message if the text is not valid.
 */
bool parse_vlan(const char *text, __u16 *vlan)
{
	__u64 number;

	if (!parse_number(text, VLAN_MAX, &number) || !number) {
		misused(text, "not the number of a VLAN, which is from 1 to 4094");
		return false;
	}
	*vlan = number;
	return true;
}

/**
 * parse_mac() - parse a MAC address
 * @text: six hexadecimal numbers with colons between them
 * @mac: set to the address
 *
 * Return: whether the text is valid.
 */
bool parse_mac(const char *text, unsigned char *mac)
{
	unsigned int i;
	char *end;

	for (i = 0; i < MAC_LEN; i++) {
		if (!isxdigit((unsigned char)*text))
			return false;
		mac[i] = strtoul(text, &end, 16);
		if (end - text > 2 || *end != (i < MAC_LEN - 1 ? ':' : '\0'))
			return false;
		text = end + 1;
	}
	return true;
}
