/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of debugfs that take lines. Such a file is made with what it is of as its
 * data, and a function that does what a line says:
 *
 *	static int NAME_line(void *of, char *line);
 */
#ifndef _IBFAB_LINES_H
#define _IBFAB_LINES_H

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

ssize_t ibfab_line_write(struct file *file, const char __user *from,
			 size_t count, int (*act)(void *of, char *line));

#define IBFAB_LINE_WRITE(name)						\
static ssize_t name##_write(struct file *file, const char __user *from,	\
			    size_t count, loff_t *pos)			\
{									\
	return ibfab_line_write(file, from, count, name##_line);	\
}

/* NAME_fops of a file that is only written to */
#define DEFINE_IBFAB_LINES(name)					\
IBFAB_LINE_WRITE(name)							\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = simple_open,						\
	.write = name##_write,						\
}

/* NAME_fops of a file that is read too: NAME_show(m, v) has its data in
 * m->private
 */
#define DEFINE_IBFAB_SHOW_LINES(name)					\
IBFAB_LINE_WRITE(name)							\
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

#endif /* _IBFAB_LINES_H */
