// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lines that are written to files of debugfs.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ibfab_lines.h"

#define MAX_LINE 255

/**
 * ibfab_line_write() - Do what a line says that was written to a file.
 * @file: the file
 * @from: the line
 * @count: its length; one write is one line
 * @act: does it, with what the file is of. It may take the line apart.
 *
 * Context: process.
 * Return: @count, or a negative errno: @act's, -EINVAL for a line that is too
 * long, -EFAULT, -ENOMEM.
 */
ssize_t ibfab_line_write(struct file *file, const char __user *from,
			 size_t count, int (*act)(void *of, char *line))
{
	char *line;
	int ret;

	if (count > MAX_LINE)
		return -EINVAL;
	line = memdup_user_nul(from, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = act(file_inode(file)->i_private, line);
	kfree(line);
	return ret ?: count;
}
