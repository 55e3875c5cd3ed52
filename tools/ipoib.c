// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ipoib tells why an IPoIB interface has no carrier. Its manual page, ipoib(8), describes it.
 */
#include "ipoib.h"

static const struct command commands[] = {
	{ "why", "[DEV]", "why an interface has no carrier, and what to do", 0, 1,
	  "jp", .run = run_why },
	{ "help", "[COMMAND]", "the arguments and options of a command", 0, 1,
	  "jp", .run = run_help },
};

int main(int argc, char **argv)
{
	const struct tool tool = {
		.commands = commands,
		.command_count = ARRAY_SIZE(commands),
		.help = "The exit status is 0 if each\n"
			"interface has carrier, 1 if one has not or if there is none, 2 for wrong usage,\n"
			"and 4 for anything else. See ipoib(8).",
	};

	return tool_run(&tool, argc, argv);
}
