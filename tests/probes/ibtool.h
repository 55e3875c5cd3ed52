/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the modules share that read lines from debugfs files: the probes and, for faults, the
 * fabric. The functions are in a header because each module is built separately.
 */
#ifndef _IBTOOL_H
#define _IBTOOL_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

#define IBTOOL_MAX_LINE	SZ_16K

/**
 * struct ibtool_word - A word that a line may have: NAME=VALUE
 * @name: the name before the "="
 * @offset: offset of the member that the word sets, in the struct passed to
 *	ibtool_read_line()
 * @read: reads the value and sets the member
 * @choices: the values that the word may have, if it is one of a few; then the member is a
 *	u32, which is set to the value's index
 * @num_choices: number of choices
 */
struct ibtool_word {
	const char *name;
	size_t offset;
	int (*read)(const char *value, void *to);
	const char * const *choices;
	size_t num_choices;
};

/* A word that sets the member of the same name: IBTOOL_WORD(struct params, port, u32) */
#define IBTOOL_WORD(type, member, kind)	\
	{ #member, offsetof(type, member), ibtool_read_##kind }

static inline int ibtool_read_u16(const char *value, void *to)
{
	return kstrtou16(value, 0, to);
}

static inline int ibtool_read_u32(const char *value, void *to)
{
	return kstrtou32(value, 0, to);
}

static inline int ibtool_read_ip4(const char *value, void *to)
{
	return in4_pton(value, -1, to, -1, NULL) ? 0 : -EINVAL;
}

/* Also reads GIDs */
static inline int ibtool_read_ip6(const char *value, void *to)
{
	return in6_pton(value, -1, to, -1, NULL) ? 0 : -EINVAL;
}

/* Reads a device name; the member has IB_DEVICE_NAME_MAX bytes */
static inline int ibtool_read_name(const char *value, void *to)
{
	return strscpy(to, value, IB_DEVICE_NAME_MAX) < 0 ? -EINVAL : 0;
}

/* Sets a pointer to the value in the line, which must stay allocated */
static inline int ibtool_read_text(const char *value, void *to)
{
	*(const char **)to = value;
	return 0;
}

/**
 * ibtool_read_hex() - Read bytes in hexadecimal.
 * @value: two digits for each byte
 * @to: where the bytes are written
 * @max: how many bytes there is room for
 *
 * Context: any.
 * Return: the number of bytes, or -EINVAL.
 */
static inline int ibtool_read_hex(const char *value, u8 *to, size_t max)
{
	size_t digits = strlen(value);

	if (digits % 2 || digits / 2 > max || hex2bin(to, value, digits / 2))
		return -EINVAL;
	return digits / 2;
}

/**
 * ibtool_show_hex() - Print bytes in hexadecimal as a line.
 * @m: the file
 * @octets: the bytes
 * @len: number of bytes
 *
 * Context: process.
 */
static inline void ibtool_show_hex(struct seq_file *m, const u8 *octets, u32 len)
{
	u32 at;

	/* The format prints at most 64 bytes */
	for (at = 0; at < len; at += 64)
		seq_printf(m, "%*phN", (int)min(len - at, 64U), octets + at);
	seq_putc(m, '\n');
}

static inline int ibtool_read_value(const struct ibtool_word *word, const char *value, void *to)
{
	int choice;

	if (!word->choices)
		return word->read(value, to);
	choice = match_string(word->choices, word->num_choices, value);
	if (choice < 0)
		return choice;
	*(u32 *)to = choice;
	return 0;
}

/**
 * ibtool_find() - Find an entry of a table by its name.
 * @name: the name to look for
 * @table: an array of structs, each of which begins with a pointer to its name
 * @num: how many entries the array has
 * @size: the size of an entry in bytes
 *
 * Context: any.
 * Return: the entry, or NULL if there is none.
 */
static inline const void *ibtool_find(const char *name, const void *table, size_t num, size_t size)
{
	const void *entry;

	for (entry = table; entry < table + num * size; entry += size)
		if (!strcmp(*(const char * const *)entry, name))
			return entry;
	return NULL;
}

static inline int ibtool_read_word(char *text, const struct ibtool_word *words, size_t num,
				   void *to)
{
	const char *name = strsep(&text, "=");
	const struct ibtool_word *word = ibtool_find(name, words, num, sizeof(*words));

	if (!text || !word)
		return -EINVAL;
	return ibtool_read_value(word, text, to + word->offset);
}

/**
 * ibtool_read_line() - Read the words of a line.
 * @line: words separated by spaces; modified
 * @words: the words that the line may have
 * @num: number of these
 * @to: the struct whose members the words set
 *
 * Context: process.
 * Return: 0, or a negative errno for the first word that is invalid.
 */
static inline int ibtool_read_line(char *line, const struct ibtool_word *words, size_t num,
				   void *to)
{
	char *text;
	int ret;

	while ((text = strsep(&line, "\n "))) {
		if (!*text)
			continue;
		ret = ibtool_read_word(text, words, num, to);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ibtool_line_write() - Process a line that was written to a file.
 * @file: the file
 * @from: the line
 * @count: the length of the line; one write is one line
 * @act: processes the line, which it may modify, with the data with which the file was
 *	created
 *
 * Context: process.
 * Return: @count, or a negative errno: that of @act, -EINVAL if the line is too long, -EFAULT or
 * -ENOMEM.
 */
static inline ssize_t ibtool_line_write(struct file *file, const char __user *from, size_t count,
					int (*act)(void *of, char *line))
{
	char *line;
	int ret;

	if (count > IBTOOL_MAX_LINE)
		return -EINVAL;
	line = memdup_user_nul(from, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = act(file_inode(file)->i_private, line);
	kfree(line);
	return ret ?: count;
}

/* The write function of a debugfs file that takes lines. It passes a line to a function of the
 * file, with the data with which the file was created:
 *
 *	static int NAME_line(void *of, char *line);
 */
#define IBTOOL_LINE_WRITE(name)						\
static ssize_t name##_write(struct file *file, const char __user *from,	\
			    size_t count, loff_t *pos)			\
{									\
	return ibtool_line_write(file, from, count, name##_line);	\
}

/* Defines NAME_fops for a file that is only written */
#define DEFINE_IBTOOL_LINES(name)					\
IBTOOL_LINE_WRITE(name)							\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = simple_open,						\
	.write = name##_write,						\
}

/* Defines NAME_fops for a file that is also read: NAME_show(m, v) has the file's data in m->private
 */
#define DEFINE_IBTOOL_SHOW_LINES(name)					\
IBTOOL_LINE_WRITE(name)							\
									\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, inode->i_private);	\
}									\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.write = name##_write,						\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

#endif /* _IBTOOL_H */
