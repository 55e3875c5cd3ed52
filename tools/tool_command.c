// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Runs the command of the command line, and prints help about commands.
 */
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "../version.h"
#include "tool.h"

/* ---- Help ---- */

static void help_print_all(const struct tool *tool)
{
	const struct command *command;
	unsigned int i;

	printf("Usage: %s [OPTION]... COMMAND [ARGUMENT]...\n\n", program.name);
	for (i = 0; i < tool->command_count; i++) {
		command = &tool->commands[i];
		printf("  %-8s %-14s %s\n", command->name,
		       strlen(command->arguments) <= 14 ? command->arguments : "...",
		       command->help);
	}
	putchar('\n');
	options_print(tool, NULL);
	printf("\n"
	       "'%s COMMAND help' prints the arguments and options of a command. A command may\n"
	       "be abbreviated as long as it is unambiguous. %s\n", program.name, tool->help);
}

static void help_print(const struct tool *tool, const struct command *command)
{
	if (!command) {
		help_print_all(tool);
		return;
	}
	printf("Usage: %s [OPTION]... %s%s%s\n\n%s: %s\n\n", program.name, command->name,
	       command->arguments[0] ? " " : "", command->arguments, command->name,
	       command->help);
	options_print(tool, command->options);
}

/* ---- Commands ---- */

/* More than any tool has */
#define COMMANDS_MAX	16

static const struct command *command_find(const struct tool *tool, const char *given)
{
	const char *words[COMMANDS_MAX + 1] = {};
	unsigned int i;
	int found;

	for (i = 0; i < tool->command_count; i++)
		words[i] = tool->commands[i].name;
	found = word_find(words, given, "a command", "help");
	return found < 0 ? NULL : &tool->commands[found];
}

/**
 * run_help() - print help about all commands, or about one
 * @session: this run of the tool
 * @arguments: optionally the name of a command
 *
 * Return: the exit status of the tool.
 */
enum status run_help(struct session *session, char **arguments)
{
	const struct command *command = NULL;

	if (arguments[0]) {
		command = command_find(session->tool, arguments[0]);
		if (!command)
			return STATUS_USAGE;
	}
	session->printed = true;
	help_print(session->tool, command);
	return STATUS_FOUND;
}

/* ---- The command line ---- */

static enum status command_run(struct session *session, const struct command *command,
			       int count, char **arguments)
{
	/* tool_run() must not print an array after JSON lines */
	session->printed = command->prints_lines;
	if (!options_fit(session->tool, &session->options, command))
		return STATUS_USAGE;
	if (count < command->least || count > command->most) {
		fprintf(stderr, "%s: '%s' takes %s; see '%s %s help'\n", program.name,
			command->name, command->arguments[0] ? command->arguments : "no argument",
			program.name, command->name);
		return STATUS_USAGE;
	}
	return command->run(session, arguments);
}

static enum status words_run(struct session *session, int count, char **words)
{
	const struct options *options = &session->options;
	const struct command *command = NULL;

	if (count) {
		command = command_find(session->tool, words[0]);
		if (!command)
			return STATUS_USAGE;
	}
	if (options->help || (count > 1 && !strcmp(words[1], "help"))) {
		session->printed = true;
		help_print(session->tool, command);
		return STATUS_FOUND;
	}
	if (command)
		return command_run(session, command, count - 1, words + 1);
	fprintf(stderr, "%s: there is no command; see '%s help'\n", program.name, program.name);
	return STATUS_USAGE;
}

/* The options are wrong, but the command may still be one whose output is no array */
static enum status options_wrong(struct session *session, const char *word)
{
	const struct command *command = word ? command_find(session->tool, word) : NULL;

	session->printed = command && command->prints_lines;
	return STATUS_USAGE;
}

static enum status session_run(struct session *session, int argc, char **argv)
{
	if (!options_parse(session->tool, &session->options, argc, argv))
		return options_wrong(session, argv[optind]);
	if (!session->options.version)
		return words_run(session, argc - optind, argv + optind);
	session->printed = true;
	printf("%s " IB_IPOIB_VERSION "\n", program.name);
	return STATUS_FOUND;
}

static enum status output_failed(void)
{
	fprintf(stderr, "%s: the output cannot be written\n", program.name);
	return STATUS_FAILED;
}

/**
 * tool_run() - run a tool
 * @tool: the tool
 * @argc: the number of words of the command line
 * @argv: the words
 *
 * Return: its exit status.
 */
int tool_run(const struct tool *tool, int argc, char **argv)
{
	struct session session = { .tool = tool, .rows = json_object_new_array() };
	enum status status;
	char name[16];

	/* Otherwise a socket would get its number, and what is printed */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return output_failed();
	/* Error messages of getopt_long() begin with it */
	snprintf(name, sizeof(name), "%s", program.name);
	argv[0] = name;
	status = session_run(&session, argc, argv);
	if (session.options.json && !session.printed)
		json_print(session.rows, session.options.pretty);
	json_object_put(session.rows);
	/* Some file systems report errors only when a file is closed */
	return ferror(stdout) | fclose(stdout) ? output_failed() : status;
}
