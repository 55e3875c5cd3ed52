// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commits bugs for the debug kernel to detect. Each word that is written to debugfs ibwrong/do is a
 * kind of bug that a driver may have. Only a guest that is expected to fail should load this
 * module.
 */

#include <linux/debugfs.h>
#include <linux/error-injection.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

#include "ibtool.h"

#define IBWRONG_SIZE 64

static struct dentry *ibwrong_dir;

/* A module parameter, so that the compiler does not see the bug */
static int ibwrong_number = IBWRONG_SIZE;
module_param_named(number, ibwrong_number, int, 0444);

static DEFINE_MUTEX(ibwrong_first);
static DEFINE_MUTEX(ibwrong_second);
static DEFINE_SPINLOCK(ibwrong_lock);
static LIST_HEAD(ibwrong_list);
static int __rcu *ibwrong_pointer;

static void ibwrong_read_freed(void)
{
	char *octets = kzalloc(IBWRONG_SIZE, GFP_KERNEL);

	kfree(octets);
	if (octets)
		READ_ONCE(octets[0]);
}

static void ibwrong_read_beyond(void)
{
	char *octets = kzalloc(IBWRONG_SIZE, GFP_KERNEL);

	if (octets)
		READ_ONCE(octets[ibwrong_number]);
	kfree(octets);
}

static void ibwrong_shift(void)
{
	int number = READ_ONCE(ibwrong_number);

	WRITE_ONCE(ibwrong_number, 1 << number);
	WRITE_ONCE(ibwrong_number, number);
}

/* Leaks many objects: one whose address is still in a register or on a stack looks used */
static void ibwrong_leak(void)
{
	char *octets;
	int i;

	for (i = 0; i < 64; i++) {
		octets = kzalloc(IBWRONG_SIZE, GFP_KERNEL);
		if (octets)
			strscpy(octets, "leaked by ibwrong", IBWRONG_SIZE);
	}
}

static void ibwrong_take(struct mutex *outer, struct mutex *inner)
{
	mutex_lock(outer);
	mutex_lock(inner);
	mutex_unlock(inner);
	mutex_unlock(outer);
}

static void ibwrong_inversion(void)
{
	ibwrong_take(&ibwrong_first, &ibwrong_second);
	ibwrong_take(&ibwrong_second, &ibwrong_first);
}

static void ibwrong_sleep(void)
{
	spin_lock(&ibwrong_lock);
	mutex_lock(&ibwrong_first);
	mutex_unlock(&ibwrong_first);
	spin_unlock(&ibwrong_lock);
}

static void ibwrong_rcu(void)
{
	(void)rcu_dereference(ibwrong_pointer);
}

static void ibwrong_list_twice(void)
{
	static struct list_head entry;

	list_add(&entry, &ibwrong_list);
	list_add(&entry, &ibwrong_list);
	INIT_LIST_HEAD(&ibwrong_list);
}

static void ibwrong_timer_fn(struct timer_list *timer)
{
}

static void ibwrong_free_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, ibwrong_timer_fn, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	kfree(timer);
}

/* Not instrumented, because KASAN would report the access first */
static noinline __no_sanitize_address u8 ibwrong_peek(const u8 *octet)
{
	return READ_ONCE(*octet);
}

/* A freed page must have the kernel's poison instead of its old contents */
static void ibwrong_freed_page(void)
{
	u8 *page = (u8 *)__get_free_page(GFP_KERNEL);

	if (!page)
		return;
	memset(page, 0x55, PAGE_SIZE);
	preempt_disable();
	free_page((unsigned long)page);
	pr_info("ibwrong: a freed page holds %#x\n", ibwrong_peek(page + 100));
	preempt_enable();
}

/* Not a bug, but a function that fail_function can make fail */
static noinline int ibwrong_fallible(void)
{
	return 0;
}

ALLOW_ERROR_INJECTION(ibwrong_fallible, ERRNO);

static void ibwrong_call(void)
{
	pr_info("ibwrong: the function's status is %d\n", ibwrong_fallible());
}

static const struct ibwrong_bug {
	const char *word;
	void (*commit)(void);
} ibwrong_bugs[] = {
	{ "read-freed", ibwrong_read_freed },
	{ "read-beyond", ibwrong_read_beyond },
	{ "shift", ibwrong_shift },
	{ "leak", ibwrong_leak },
	{ "inversion", ibwrong_inversion },
	{ "sleep", ibwrong_sleep },
	{ "rcu", ibwrong_rcu },
	{ "list-twice", ibwrong_list_twice },
	{ "free-timer", ibwrong_free_timer },
	{ "freed-page", ibwrong_freed_page },
	{ "call", ibwrong_call },
};

static int do_line(void *of, char *word)
{
	const struct ibwrong_bug *bug;

	bug = ibtool_find(strim(word), ibwrong_bugs, ARRAY_SIZE(ibwrong_bugs),
			  sizeof(*ibwrong_bugs));
	if (!bug)
		return -EINVAL;
	bug->commit();
	return 0;
}

DEFINE_IBTOOL_LINES(do);

static int __init ibwrong_init(void)
{
	ibwrong_dir = debugfs_create_dir("ibwrong", NULL);
	debugfs_create_file("do", 0200, ibwrong_dir, NULL, &do_fops);
	return 0;
}
module_init(ibwrong_init);

static void __exit ibwrong_exit(void)
{
	debugfs_remove(ibwrong_dir);
}
module_exit(ibwrong_exit);

MODULE_DESCRIPTION("Bugs on order, to test what finds them");
MODULE_LICENSE("Dual BSD/GPL");
