// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Error messages: errors of the kernel, and wrong usage.
 */
#include <errno.h>
#include <string.h>

#include "tool.h"

/* The longest message; the rest is left out */
#define LINE_SIZE	512

/**
 * say() - print an error message
 * @what: what it is about, such as the name of an interface
 * @text: what is wrong with it
 *
 * It goes to a terminal, so text_clean() of it is printed.
 */
void say(const char *what, const char *text)
{
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "%s: %s: %s", program.name, what, text);
	text_clean(line);
	fprintf(stderr, "%s\n", line);
}

/* Returns the last one, which has no text, if the error has no meaning of its own */
static const struct meaning *meaning_of(int number)
{
	const struct meaning *meaning = program.errors;

	while (meaning->number && meaning->number != number)
		meaning++;
	return meaning;
}

/**
 * failed() - print an error message, if there was an error
 * @nl: the socket of the request
 * @what: the subject of the request
 * @err: 0 or a negative error
 *
 * The kernel's own message, if there is one, is preferred, since it is more exact. A missing
 * module is not attributed to @what.
 *
 * Return: the exit status of the tool.
 */
enum status failed(const struct nl *nl, const char *what, int err)
{
	const struct meaning *meaning = meaning_of(-err);
	const char *text = meaning->text ?: strerror(-err);

	if (!err)
		return STATUS_FOUND;
	if (nl->error[0] && err != -ENOPKG)
		text = nl->error;
	if (err == -ENOPKG)
		fprintf(stderr, "%s: %s\n", program.name, text);
	else
		say(what, text);
	return meaning->number ? meaning->status : STATUS_FAILED;
}

/**
 * misused() - print an error message about the command line
 * @what: a word of the command line
 * @text: what is wrong with it
 *
 * Return: the exit status of the tool.
 */
enum status misused(const char *what, const char *text)
{
	say(what, text);
	return STATUS_USAGE;
}
