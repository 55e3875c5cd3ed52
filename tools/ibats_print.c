// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints rows as tables and lines, for people.
 */
#include <string.h>

#include "ibats.h"

/* The age is left out for a registered record, where it is of no interest */
static void cell_state(struct json_object *row, char *cell, size_t size)
{
	const char *state = row_text(row, "state");
	struct json_object *age;
	char text[24];

	if (!strcmp(state, "registered") || !json_object_object_get_ex(row, "age_ms", &age)) {
		snprintf(cell, size, "%s", state);
		return;
	}
	age_text(json_object_get_uint64(age), text, sizeof(text));
	snprintf(cell, size, "%s %s", state, text);
}

static void cell_note(struct json_object *row, char *cell, size_t size)
{
	bool rival = row_is(row, "rival");
	int len = 0;

	cell[0] = '\0';
	if (row_is(row, "refusal"))
		len = snprintf(cell, size, "SA: %s (%s)%s", row_text(row, "refusal_reason"),
			       row_text(row, "refusal"), rival ? ", " : "");
	if (rival)
		snprintf(cell + len, size - len, "also at %s", row_text(row, "rival"));
}

/**
 * cell_text() - write what a row has in a column, for people
 * @row: the row
 * @column: the column's heading; most are keys of the row
 * @cell: set to the text; the note may be empty
 * @size: the size of @cell
 */
void cell_text(struct json_object *row, const char *column, char *cell, size_t size)
{
	if (!strcmp(column, "state"))
		cell_state(row, cell, size);
	else if (!strcmp(column, "note"))
		cell_note(row, cell, size);
	else if (!strcmp(column, "device/port"))
		snprintf(cell, size, "%s/%s", row_text(row, "device"), row_text(row, "port"));
	else if (!strcmp(column, "by"))
		snprintf(cell, size, "%s", row_is(row, "chosen") ? "chosen" : "first");
	else
		snprintf(cell, size, "%s", row_text(row, column));
}

/**
 * row_print_line() - print one row, in the form of the monitor
 * @row: the row of a record
 */
void row_print_line(struct json_object *row)
{
	char note[CELL_MAX];

	cell_note(row, note, sizeof(note));
	printf("%s %s %s %s sid %s pkey %s gid %s%s%s\n", row_text(row, "interface"),
	       row_text(row, "address"), row_text(row, "state"), row_text(row, "primary"),
	       row_text(row, "sid"), row_text(row, "pkey"), row_text(row, "gid"),
	       note[0] ? " " : "", note);
}
