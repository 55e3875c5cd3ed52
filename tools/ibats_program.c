// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ibats is called, what it talks to, and what the errors of that mean.
 */
#include <errno.h>

#include "ibats.h"

static const struct meaning errors[] = {
	{ ENOENT, STATUS_NOT_FOUND, "nobody has it" },
	{ EADDRNOTAVAIL, STATUS_NOT_FOUND, NULL },
	{ EINVAL, STATUS_USAGE, NULL },
	{ ERANGE, STATUS_USAGE, NULL },
	{ EOPNOTSUPP, STATUS_USAGE, "the kernel's module ib_ats cannot do that" },
	{ ENODEV, STATUS_NO_SA, "there is no such port that this network namespace may use" },
	{ ENETUNREACH, STATUS_NO_SA, "there is no subnet administrator" },
	{ ETIMEDOUT, STATUS_NO_SA, "the subnet administrator does not answer" },
	{ EREMOTEIO, STATUS_FAILED, "the subnet administrator refuses to answer" },
	{ EDQUOT, STATUS_FAILED, "too many questions are open; try again later" },
	{ EPERM, STATUS_FAILED, "needs CAP_NET_ADMIN" },
	{ ENOPKG, STATUS_FAILED,
	  "the kernel's module ib_ats is not loaded; load it with 'modprobe ib_ats'" },
	{ ENOBUFS, STATUS_FAILED, "the socket has no room for all answers, so some are missing" },
	{ ETIME, STATUS_FAILED, "the kernel does not answer" },
	{ EINTR, STATUS_FAILED, "the records changed each time they were read; try again later" },
	{ }
};

const struct program program = {
	.name = "ibats",
	.family = IB_ATS_GENL_NAME,
	.version = IB_ATS_GENL_VERSION,
	.group = IB_ATS_GENL_RECORDS,
	.errors = errors,
};
