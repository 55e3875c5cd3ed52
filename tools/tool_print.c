// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints rows as tables, for people, and as JSON, for programs.
 */
#include <string.h>

#include "tool.h"

#define COLUMNS_MAX	16

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

/**
 * age_text() - the text of a time, for people
 * @ms: the time in milliseconds
 * @text: set to the text, in the largest unit of which there are two
 * @size: the size of @text
 */
void age_text(__u64 ms, char *text, size_t size)
{
	static const struct {
		__u64 seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	__u64 seconds = ms / 1000;
	unsigned int i = 0;

	/* "119s" and then "2m" */
	while (i < ARRAY_SIZE(units) - 1 && seconds < 2 * units[i].seconds)
		i++;
	snprintf(text, size, "%llu%c", (unsigned long long)(seconds / units[i].seconds),
		 units[i].letter);
}

/* ---- Rows ---- */

/* Returns 0 if the column is empty in all rows */
static int column_width(struct json_object *rows, const char *column, cell_writer write)
{
	size_t i, len, width = 0;
	char cell[CELL_MAX];

	for (i = 0; i < json_object_array_length(rows); i++) {
		write(json_object_array_get_idx(rows, i), column, cell, sizeof(cell));
		len = strlen(cell);
		if (len > width)
			width = len;
	}
	return width && width < strlen(column) ? strlen(column) : width;
}

/* Blanks are printed before the next cell, so that a line has none at its end */
static void line_print(struct json_object *row, const char *const *columns, const int *widths,
		       cell_writer write)
{
	char cell[CELL_MAX];
	unsigned int k;
	int blanks = 0;

	for (k = 0; columns[k]; k++) {
		if (!widths[k])
			continue;
		if (row)
			write(row, columns[k], cell, sizeof(cell));
		else
			snprintf(cell, sizeof(cell), "%s", columns[k]);
		if (!cell[0])
			continue;
		printf("%*s%s", blanks, "", cell);
		blanks = widths[k] - (int)strlen(cell) + 2;
	}
	putchar('\n');
}

static void table_print(struct json_object *rows, const char *const *columns, cell_writer write)
{
	size_t i, count = json_object_array_length(rows);
	int widths[COLUMNS_MAX] = {};
	unsigned int k;

	if (!count)
		return;
	for (k = 0; columns[k]; k++)
		widths[k] = column_width(rows, columns[k], write);
	line_print(NULL, columns, widths, write);
	for (i = 0; i < count; i++)
		line_print(json_object_array_get_idx(rows, i), columns, widths, write);
}

/**
 * table_show() - print a table with a heading, if there are rows and JSON is not wanted
 * @session: this run of the tool, with its rows
 * @columns: the columns of the table, terminated by NULL
 * @write: writes what a row has in a column
 */
void table_show(const struct session *session, const char *const *columns, cell_writer write)
{
	if (!session->options.json)
		table_print(session->rows, columns, write);
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
