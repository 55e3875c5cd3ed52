// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The setup of the module that all suites need, because KUnit runs the suites before the module's
 * own init function.
 */
#include "eipoib_main.c"
#include "kunit.h"

/**
 * suite_begin() - a suite's init: do what the module's init does
 * @suite: the suite
 *
 * Context: may sleep; the module is being loaded, and has its init functions still.
 * Return: 0 or a negative error.
 */
int __ref suite_begin(struct kunit_suite *suite)
{
	return eipoib_module_init();
}

/**
 * suite_end() - a suite's exit
 * @suite: the suite
 *
 * Context: may sleep.
 */
void __ref suite_end(struct kunit_suite *suite)
{
	if (!suite->suite_init_err)
		eipoib_module_exit();
}
