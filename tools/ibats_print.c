// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints rows as tables and lines, for people, and as JSON, for programs.
 */
#include <string.h>

#include "ibats.h"

#define COLUMNS_MAX	16

/* The longest cell is a note about a refusal and a rival */
#define CELL_MAX	160

/* ---- One value ---- */

/**
 * row_text() - the text of a value, for people
 * @row: the row
 * @key: the key of the value
 *
 * Return: the text, "-" if the row has no such value; valid as long as the row is.
 */
const char *row_text(struct json_object *row, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(row, key, &value))
		return "-";
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? key : "-";
	return json_object_get_string(value);
}

static void age_text(__u64 ms, char *text, size_t size)
{
	static const struct {
		__u64 seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	__u64 seconds = ms / 1000;
	unsigned int i = 0;

	/* Less than two units are shown in the next smaller one: "119s" and then "2m" */
	while (i < ARRAY_SIZE(units) - 1 && seconds < 2 * units[i].seconds)
		i++;
	snprintf(text, size, "%llu%c", (unsigned long long)(seconds / units[i].seconds),
		 units[i].letter);
}

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

/* Most columns are values of the row; the note may be empty */
static void cell_text(struct json_object *row, const char *column, char *cell, size_t size)
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

/* ---- Rows ---- */

/* Returns 0 if the column is empty in all rows */
static int column_width(struct json_object *rows, const char *column)
{
	size_t i, len, width = 0;
	char cell[CELL_MAX];

	for (i = 0; i < json_object_array_length(rows); i++) {
		cell_text(json_object_array_get_idx(rows, i), column, cell, sizeof(cell));
		len = strlen(cell);
		if (len > width)
			width = len;
	}
	return width && width < strlen(column) ? strlen(column) : width;
}

/* Blanks are printed before the next cell, so that a line has none at its end */
static void line_print(struct json_object *row, const char *const *columns, const int *widths)
{
	char cell[CELL_MAX];
	unsigned int k;
	int blanks = 0;

	for (k = 0; columns[k]; k++) {
		if (!widths[k])
			continue;
		if (row)
			cell_text(row, columns[k], cell, sizeof(cell));
		else
			snprintf(cell, sizeof(cell), "%s", columns[k]);
		if (!cell[0])
			continue;
		printf("%*s%s", blanks, "", cell);
		blanks = widths[k] - (int)strlen(cell) + 2;
	}
	putchar('\n');
}

static void table_print(struct json_object *rows, const char *const *columns)
{
	size_t i, count = json_object_array_length(rows);
	int widths[COLUMNS_MAX] = {};
	unsigned int k;

	if (!count)
		return;
	for (k = 0; columns[k]; k++)
		widths[k] = column_width(rows, columns[k]);
	line_print(NULL, columns, widths);
	for (i = 0; i < count; i++)
		line_print(json_object_array_get_idx(rows, i), columns, widths);
}

/**
 * rows_show() - print a table with a heading, if there are rows and JSON is not wanted
 * @session: this run of the tool, with its rows
 * @columns: the columns of the table, terminated by NULL
 */
void rows_show(const struct session *session, const char *const *columns)
{
	if (!session->options.json)
		table_print(session->rows, columns);
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

/**
 * json_print() - print JSON
 * @json: an array of rows, or a row
 * @pretty: on several lines with indentation, instead of on one line
 */
void json_print(struct json_object *json, bool pretty)
{
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_NOSLASHESCAPE |
					    (pretty ? JSON_C_TO_STRING_PRETTY :
					     JSON_C_TO_STRING_PLAIN)));
}
