// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ipoib is called. It only reads /sys, and talks to no module by netlink.
 */
#include "ipoib.h"

static const struct meaning errors[] = {
	{ }
};

const struct program program = {
	.name = "ipoib",
	.errors = errors,
};
