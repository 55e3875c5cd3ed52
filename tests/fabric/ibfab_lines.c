// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lines that are written to files of debugfs.
 */
#include "ibfab_lines.h"
#include "ibtool.h"

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
	return ibtool_line_write(from, count, MAX_LINE, act,
				 file_inode(file)->i_private);
}
