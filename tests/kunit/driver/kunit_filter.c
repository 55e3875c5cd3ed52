// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Selects suites and tests of modules that are loaded after this one. Before
 * Linux 6.6 KUnit's own kunit.filter_glob applies only to suites that are built
 * into the kernel.
 */

#include <kunit/test.h>
#include <linux/glob.h>
#include <linux/module.h>
#include <linux/notifier.h>

static char *filter_suite = "*";
module_param_named(suite, filter_suite, charp, 0444);
MODULE_PARM_DESC(suite, "Pattern of the suites to run (default: *)");

static char *filter_test = "*";
module_param_named(test, filter_test, charp, 0444);
MODULE_PARM_DESC(test, "Pattern of these suites' tests to run (default: *)");

/* Moves the matching tests to the front, and terminates the array after them. */
static unsigned int filter_tests(struct kunit_case *tests)
{
	unsigned int kept = 0;
	struct kunit_case *test;

	for (test = tests; test->run_case; test++)
		if (glob_match(filter_test, test->name))
			tests[kept++] = *test;
	tests[kept] = (struct kunit_case) {};
	return kept;
}

/* The suites belong to the module's memory, and KUnit has not read them yet. */
static int filter_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *module = data;
	int i, kept = 0;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	for (i = 0; i < module->num_kunit_suites; i++) {
		struct kunit_suite *suite = module->kunit_suites[i];

		if (glob_match(filter_suite, suite->name) && filter_tests(suite->test_cases))
			module->kunit_suites[kept++] = suite;
	}
	module->num_kunit_suites = kept;
	return NOTIFY_OK;
}

static struct notifier_block filter_notifier = {
	.notifier_call = filter_module,
	/* KUnit runs the suites in a notifier of priority 0, after this one */
	.priority = 1,
};

static int __init filter_init(void)
{
	return register_module_notifier(&filter_notifier);
}

static void __exit filter_exit(void)
{
	unregister_module_notifier(&filter_notifier);
}

module_init(filter_init);
module_exit(filter_exit);

MODULE_DESCRIPTION("Chooses which KUnit suites of a module run");
MODULE_LICENSE("Dual BSD/GPL");
