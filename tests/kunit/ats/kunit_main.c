// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The module of the Address Translation Service's KUnit suites. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of the Address Translation Service");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");
