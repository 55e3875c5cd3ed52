// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibats finds out who has an IP address in an InfiniBand subnet, and shows and changes which
 * addresses this host registers. Its manual page, ibats(8), describes the commands.
 */
#include <getopt.h>
#include <string.h>

#include "../version.h"
#include "ibats.h"

/* A command of the command line */
struct command {
	const char *name;
	const char *arguments;
	const char *help;
	int least;			/* arguments */
	int most;
	const char *options;		/* the letters of those that it takes */
	enum status (*run)(struct session *session, char **arguments);
};

static enum status run_help(struct session *session, char **arguments);

static const struct command commands[] = {
	{ "resolve", "ADDR|HOSTNAME", "which GIDs have an IP address", 1, 1, "dktjp", run_resolve },
	{ "reverse", "GID [primary]", "which IP addresses a GID has, or its primary one", 1, 2,
	  "dktjp", run_reverse },
	{ "sid", "SID", "all records with a Service ID", 1, 1, "dktjp", run_sid },
	{ "list", "[IF]", "the records of this host's interfaces", 0, 1, "dkjp", run_list },
	{ "monitor", "", "list them, and then each that changes", 0, 0, "j", run_monitor },
	{ "stats", "", "the counters of each port", 0, 0, "djp", run_stats },
	{ "primary", "[show [IF] | set IF ADDR | clear IF]", "interfaces' primary addresses", 0, 3,
	  "jp", run_primary },
	{ "audit", "", "have the SA's records read back and repaired", 0, 0, "djp", run_audit },
	{ "help", "[COMMAND]", "the arguments and options of a command", 0, 1, "jp", run_help },
};

/* ---- Help ---- */

static void help_print_all(void)
{
	unsigned int i;

	puts("Usage: ibats [OPTION]... COMMAND [ARGUMENT]...\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-8s %-14s %s\n", commands[i].name,
		       strlen(commands[i].arguments) <= 14 ? commands[i].arguments : "...",
		       commands[i].help);
	putchar('\n');
	options_print(stdout, NULL);
	puts("\n"
	     "'ibats COMMAND help' prints the arguments and options of a command. A command may\n"
	     "be abbreviated as long as it is unambiguous. The exit status is 0 for found or\n"
	     "done, 1 for not found, 2 for wrong usage, 3 if no subnet administrator answers,\n"
	     "and 4 for anything else. See ibats(8).");
}

static void help_print(const struct command *command)
{
	if (!command) {
		help_print_all();
		return;
	}
	printf("Usage: ibats [OPTION]... %s%s%s\n\n%s: %s\n\n", command->name,
	       command->arguments[0] ? " " : "", command->arguments, command->name,
	       command->help);
	options_print(stdout, command->options);
}

/* ---- Commands ---- */

static const struct command *command_find(const char *given)
{
	const char *words[ARRAY_SIZE(commands) + 1] = {};
	unsigned int i;
	int found;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		words[i] = commands[i].name;
	found = word_find(words, given, "a command", "help");
	return found < 0 ? NULL : &commands[found];
}

static enum status run_help(struct session *session, char **arguments)
{
	const struct command *command = NULL;

	if (arguments[0]) {
		command = command_find(arguments[0]);
		if (!command)
			return STATUS_USAGE;
	}
	session->printed = true;
	help_print(command);
	return STATUS_FOUND;
}

/* ---- The command line ---- */

static enum status command_run(struct session *session, const struct command *command,
			       int count, char **arguments)
{
	/* The monitor prints JSON lines: main() must not print an array after them */
	session->printed = command->run == run_monitor;
	if (!options_fit(&session->options, command->name, command->options))
		return STATUS_USAGE;
	if (count < command->least || count > command->most) {
		fprintf(stderr, "ibats: '%s' takes %s; see 'ibats %s help'\n", command->name,
			command->arguments[0] ? command->arguments : "no argument",
			command->name);
		return STATUS_USAGE;
	}
	return command->run(session, arguments);
}

static enum status words_run(struct session *session, int count, char **words)
{
	const struct options *options = &session->options;
	const struct command *command = NULL;

	if (count) {
		command = command_find(words[0]);
		if (!command)
			return STATUS_USAGE;
	}
	if (options->help || (count > 1 && !strcmp(words[1], "help"))) {
		session->printed = true;
		help_print(command);
		return STATUS_FOUND;
	}
	if (command)
		return command_run(session, command, count - 1, words + 1);
	fputs("ibats: there is no command; see 'ibats help'\n", stderr);
	return STATUS_USAGE;
}

static enum status session_run(struct session *session, int argc, char **argv)
{
	if (!options_parse(&session->options, argc, argv))
		return STATUS_USAGE;
	if (!session->options.version)
		return words_run(session, argc - optind, argv + optind);
	session->printed = true;
	puts("ibats " IB_IPOIB_VERSION);
	return STATUS_FOUND;
}

int main(int argc, char **argv)
{
	struct session session = { .rows = json_object_new_array() };
	char name[] = "ibats";
	enum status status;

	/* Error messages of getopt_long() begin with it */
	argv[0] = name;
	status = session_run(&session, argc, argv);
	if (session.options.json && !session.printed)
		json_print(session.rows, session.options.pretty);
	json_object_put(session.rows);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("ibats: the output cannot be written\n", stderr);
		return STATUS_FAILED;
	}
	return status;
}
