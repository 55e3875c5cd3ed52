/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What modules share that are told by lines in debugfs what to do: the probes, and the fabric
 * what is to fail. The functions are in a header because each module is built by itself.
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

#define IBTOOL_MAX_LINE	SZ_16K

/**
 * struct ibtool_word - What a line may say: NAME=VALUE
 * @name: before the "="
 * @offset: of what is set, in what is handed to ibtool_read_line()
 * @read: sets it
 * @choices: what the value may be, where it is one of these: a u32 is set to its index
 * @num_choices: how many there are
 */
struct ibtool_word {
	const char *name;
	size_t offset;
	int (*read)(const char *value, void *to);
	const char * const *choices;
	size_t num_choices;
};

/* A member, by its own name: IBTOOL_WORD(struct params, port, u32) */
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

static inline int ibtool_read_u64(const char *value, void *to)
{
	return kstrtou64(value, 0, to);
}

static inline int ibtool_read_ip4(const char *value, void *to)
{
	return in4_pton(value, -1, to, -1, NULL) ? 0 : -EINVAL;
}

/* GIDs too */
static inline int ibtool_read_ip6(const char *value, void *to)
{
	return in6_pton(value, -1, to, -1, NULL) ? 0 : -EINVAL;
}

/* An HCA's name, into IB_DEVICE_NAME_MAX octets */
static inline int ibtool_read_name(const char *value, void *to)
{
	return strscpy(to, value, IB_DEVICE_NAME_MAX) < 0 ? -EINVAL : 0;
}

/* Where the value begins in the line, which must last as long */
static inline int ibtool_read_text(const char *value, void *to)
{
	*(const char **)to = value;
	return 0;
}

/**
 * ibtool_read_hex() - Read octets.
 * @value: two digits for each
 * @to: where they are put
 * @max: room for so many
 *
 * Context: any.
 * Return: how many there were, or -EINVAL.
 */
static inline int ibtool_read_hex(const char *value, u8 *to, size_t max)
{
	size_t digits = strlen(value);

	if (digits % 2 || digits / 2 > max || hex2bin(to, value, digits / 2))
		return -EINVAL;
	return digits / 2;
}

/**
 * ibtool_show_hex() - Write octets as a line.
 * @m: where to
 * @octets: the octets
 * @len: how many
 *
 * Context: process.
 */
static inline void ibtool_show_hex(struct seq_file *m, const u8 *octets, u32 len)
{
	u32 at;

	/* The format prints 64 at most */
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
 * ibtool_read_line() - Read what a line says.
 * @line: words between spaces; is written to
 * @words: those that there may be
 * @num: how many
 * @to: what they set
 *
 * Context: process.
 * Return: 0, or a negative errno of the first word that is no good.
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
 * ibtool_line_write() - Do what a line says that was written to a file.
 * @file: the file
 * @from: the line
 * @count: its length; one write is one line
 * @act: does it, with what the file is of. It may take the line apart.
 *
 * Context: process.
 * Return: @count, or a negative errno: @act's, -EINVAL for a line that is too
 * long, -EFAULT, -ENOMEM.
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

/* Files of debugfs that take lines. Such a file is made with what it is of as its data, and a
 * function that does what a line says:
 *
 *	static int NAME_line(void *of, char *line);
 */
#define IBTOOL_LINE_WRITE(name)						\
static ssize_t name##_write(struct file *file, const char __user *from,	\
			    size_t count, loff_t *pos)			\
{									\
	return ibtool_line_write(file, from, count, name##_line);	\
}

/* NAME_fops of a file that is only written to */
#define DEFINE_IBTOOL_LINES(name)					\
IBTOOL_LINE_WRITE(name)							\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = simple_open,						\
	.write = name##_write,						\
}

/* NAME_fops of a file that is read too: NAME_show(m, v) has its data in m->private */
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
