// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ipoib is called. It reads /sys, and has no family of generic netlink.
 */
#include "ipoib.h"

static const struct meaning errors[] = {
	{ }
};

const struct program program = {
	.name = "ipoib",
	.errors = errors,
};
