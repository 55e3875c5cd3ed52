// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What eipoib is called, what it talks to, and what the errors of that mean.
 */
#include <errno.h>

#include "eipoib.h"

static const struct meaning errors[] = {
	{ ENOENT, STATUS_NOT_FOUND, "there is no such entry" },
	{ ENODEV, STATUS_NOT_FOUND, "there is no such interface of eth_ipoib" },
	{ EINVAL, STATUS_USAGE, NULL },
	{ ERANGE, STATUS_USAGE, NULL },
	{ EADDRNOTAVAIL, STATUS_USAGE, NULL },
	{ EOPNOTSUPP, STATUS_USAGE,
	  "this is no interface of eth_ipoib, or the kernel's module cannot do that" },
	{ EEXIST, STATUS_FAILED, "there is one already" },
	{ ENOSPC, STATUS_FAILED, "the table is full" },
	{ EPERM, STATUS_FAILED, "needs CAP_NET_ADMIN" },
	{ ENOPKG, STATUS_FAILED,
	  "the kernel's module eth_ipoib is not loaded; load it with 'modprobe eth_ipoib'" },
	{ ESTALE, STATUS_FAILED,
	  "the kernel's module eth_ipoib has been loaded again; start the monitor again" },
	{ ENOBUFS, STATUS_FAILED, "the socket has no room for all answers, so some are missing" },
	{ ETIME, STATUS_FAILED, "the kernel does not answer" },
	{ EINTR, STATUS_FAILED,
	  "the table changed each time it was read, so entries may be missing; try again later" },
	{ }
};

const struct program program = {
	.name = "eipoib",
	.family = EIPOIB_GENL_NAME,
	.version = EIPOIB_GENL_VERSION,
	.group = EIPOIB_GENL_LOCALS,
	.errors = errors,
};
