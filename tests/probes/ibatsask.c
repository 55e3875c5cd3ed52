// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibatsask: sends queries to the Address Translation Service, as other modules do. For tests, by
 * files in /sys/kernel/debug/ibatsask/:
 *
 *  ask       addr=IP, gid=GID, primary=GID or sid=NUMBER, then
 *            [hca=NAME] [pkey=N] [timeout=MS] [times=N] [turns=N] [cancel=1]
 *            times is the number of queries that are sent at once, turns the number of
 *            queries that are sent one after the other. With cancel, queries are cancelled as
 *            soon as they are sent. The write returns when all queries have ended, with the
 *            error of the last one that failed.
 *  answer    a line for each record of the first answer, or of the last turn's: GID P_KEY SID
 *            ADDRESS HCA/PORT [primary]; the first line is
 *            "asked N found N failed N canceled N odd N us N". canceled is the number of
 *            queries that ended with ECANCELED, failed that of other errors, and odd is how
 *            many of those found had other records than the first one.
 *  asked     the number of queries that were sent, also while some have not ended
 *  family    each read registers and unregisters a generic netlink family, and prints how
 *            many microseconds that took
 *  changes   how often the service reported a changed record, and the last change:
 *            state ADDRESS
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "ibdevice.h"
#include "ib_ats.h"
#include "ibtool.h"

#define ASK_MAX_TIMES	100000

struct ask_line {
	struct ib_ats_question question;
	u32 times;
	u32 turns;
	u32 cancel;
};

static DEFINE_MUTEX(lock);		/* serializes lines; protects the following variables */
static struct dentry *root;
static u32 asked;			/* its file is read without the lock */
static s64 took_us;
static int last_err;
static atomic_t found;
static atomic_t failed;
static atomic_t canceled;
static atomic_t under_way;		/* queries not ended yet, plus one while sending */
static DECLARE_WAIT_QUEUE_HEAD(all_ended);
static DEFINE_MUTEX(answer_lock);	/* protects the following variables; taken in lock */
static struct ib_ats_answer *answers;
static unsigned int answer_count;
static u32 odd;
static DEFINE_SPINLOCK(change_lock);	/* protects the following variables */
static struct ib_ats_change last_change;
static u32 changes;

static int read_addr(const char *value, void *to)
{
	__be32 ipv4;

	if (ibtool_read_ip4(value, &ipv4))
		return ibtool_read_ip6(value, to);
	ipv6_addr_set_v4mapped(ipv4, to);
	return 0;
}

static int read_gid(const char *value, void *of)
{
	struct ib_ats_question *question = of;

	question->kind = IB_ATS_KIND_GID;
	return ibtool_read_ip6(value, &question->gid);
}

static int read_primary(const char *value, void *of)
{
	struct ib_ats_question *question = of;

	question->kind = IB_ATS_KIND_PRIMARY;
	return ibtool_read_ip6(value, &question->gid);
}

static int read_sid(const char *value, void *of)
{
	struct ib_ats_question *question = of;

	question->kind = IB_ATS_KIND_SID;
	return kstrtou64(value, 0, &question->sid);
}

/* A query holds no reference to the HCA. It only compares the pointer. */
static int read_hca(const char *value, void *of)
{
	struct ib_device *ibdev = ibdevice_get(value);
	struct ib_ats_question *question = of;

	if (!ibdev)
		return -ENODEV;
	question->ibdev = ibdev;
	ib_device_put(ibdev);
	return 0;
}

#define WORD(member)			IBTOOL_WORD(struct ask_line, member, u32)
#define WORD_OF(name, member, read)	{ name, offsetof(struct ask_line, member), read }

static const struct ibtool_word words[] = {
	WORD(times), WORD(turns), WORD(cancel),
	WORD_OF("addr", question.addr, read_addr), WORD_OF("gid", question, read_gid),
	WORD_OF("primary", question, read_primary), WORD_OF("sid", question, read_sid),
	WORD_OF("hca", question, read_hca), WORD_OF("pkey", question.pkey, ibtool_read_u16),
	WORD_OF("timeout", question.timeout_ms, ibtool_read_u32),
};

static void one_ended(void)
{
	if (atomic_dec_and_test(&under_way))
		wake_up(&all_ended);
}

static bool same_record(const struct ib_ats_answer *a, const struct ib_ats_answer *b)
{
	return !strcmp(a->device, b->device) && a->port == b->port && a->sid == b->sid &&
	       a->pkey == b->pkey && a->primary == b->primary &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid)) && ipv6_addr_equal(&a->addr, &b->addr);
}

/* Called with answer_lock held */
static bool is_first_answer(const struct ib_ats_answer *records, unsigned int count)
{
	unsigned int i;

	if (count != answer_count)
		return false;
	for (i = 0; i < count; i++)
		if (!same_record(&records[i], &answers[i]))
			return false;
	return true;
}

/* Called with answer_lock held */
static int keep_answer(const struct ib_ats_answer *records, unsigned int count)
{
	answers = kvmalloc_array(count, sizeof(*answers), GFP_KERNEL);
	if (!answers)
		return -ENOMEM;
	memcpy(answers, records, array_size(count, sizeof(*answers)));
	answer_count = count;
	return 0;
}

/* Keeps the first answer, with which the others are compared */
static int found_records(const struct ib_ats_answer *records, unsigned int count)
{
	int err = 0;

	mutex_lock(&answer_lock);
	if (!answers)
		err = keep_answer(records, count);
	else if (!is_first_answer(records, count))
		odd++;
	mutex_unlock(&answer_lock);
	return err;
}

static void answered(void *context, int err, const struct ib_ats_answer *records,
		     unsigned int count)
{
	if (!err)
		err = found_records(records, count);
	if (err)
		*(int *)context = err;
	if (!err)
		atomic_inc(&found);
	else
		atomic_inc(err == -ECANCELED ? &canceled : &failed);
	one_ended();
}

static void forget_answers(void)
{
	mutex_lock(&answer_lock);
	kvfree(answers);
	answers = NULL;
	answer_count = 0;
	odd = 0;
	mutex_unlock(&answer_lock);
}

static void forget(void)
{
	forget_answers();
	atomic_set(&found, 0);
	atomic_set(&failed, 0);
	atomic_set(&canceled, 0);
}

/* A query is counted when it ends, whether it was cancelled or not */
static int ask_many(const struct ask_line *line)
{
	u64 *ids = kvcalloc(line->times, sizeof(*ids), GFP_KERNEL);
	int err;
	u32 i;

	if (!ids)
		return -ENOMEM;
	last_err = 0;
	asked = 0;
	atomic_set(&under_way, 1);
	for (i = 0; i < line->times; i++) {
		atomic_inc(&under_way);
		err = ib_ats_ask(&line->question, GFP_KERNEL, answered, &last_err, &ids[i]);
		if (err) {
			last_err = err;
			one_ended();
			break;
		}
		WRITE_ONCE(asked, i + 1);
	}
	one_ended();
	if (!line->cancel)
		wait_event_idle(all_ended, !atomic_read(&under_way));
	/* After ib_ats_cancel(), answered() is not running for this query any more */
	while (i--)
		ib_ats_cancel(ids[i]);
	kvfree(ids);
	return last_err;
}

static int ask_one(const struct ask_line *line)
{
	int err;
	u64 id;

	forget_answers();
	last_err = 0;
	atomic_set(&under_way, 1);
	err = ib_ats_ask(&line->question, GFP_KERNEL, answered, &last_err, &id);
	if (err)
		return err;
	asked++;
	wait_event_interruptible(all_ended, !atomic_read(&under_way));
	/* Also after a signal: answered() is not running any more when ib_ats_cancel() returns */
	ib_ats_cancel(id);
	return last_err;
}

static int ask_turns(const struct ask_line *line)
{
	int err = 0;
	u32 i;

	asked = 0;
	for (i = 0; i < line->turns && !err; i++)
		err = ask_one(line);
	return err;
}

static int ask_line(void *of, char *text)
{
	struct ask_line line = { .times = 1, .turns = 1 };
	ktime_t begin;
	int ret;

	ret = ibtool_read_line(text, words, ARRAY_SIZE(words), &line);
	if (!ret && (!line.times || line.times > ASK_MAX_TIMES))
		ret = -EINVAL;
	if (!ret) {
		mutex_lock(&lock);
		forget();
		begin = ktime_get();
		ret = line.times > 1 || line.cancel ? ask_many(&line) : ask_turns(&line);
		took_us = ktime_us_delta(ktime_get(), begin);
		mutex_unlock(&lock);
	}
	return ret;
}

DEFINE_IBTOOL_LINES(ask);

static int answer_show(struct seq_file *seq, void *unused)
{
	const struct ib_ats_answer *answer;

	mutex_lock(&lock);
	mutex_lock(&answer_lock);
	seq_printf(seq, "asked %u found %d failed %d canceled %d odd %u us %lld\n", asked,
		   atomic_read(&found), atomic_read(&failed), atomic_read(&canceled), odd, took_us);
	for (answer = answers; answer < answers + answer_count; answer++) {
		seq_printf(seq, "%pI6c 0x%04x 0x%016llx ", answer->gid.raw, answer->pkey,
			   answer->sid);
		if (ipv6_addr_v4mapped(&answer->addr))
			seq_printf(seq, "%pI4", &answer->addr.s6_addr32[3]);
		else
			seq_printf(seq, "%pI6c", &answer->addr);
		seq_printf(seq, " %s/%u%s\n", answer->device, answer->port,
			   answer->primary ? " primary" : "");
	}
	mutex_unlock(&answer_lock);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(answer);

static int changed(struct notifier_block *nb, unsigned long state, void *data)
{
	spin_lock(&change_lock);
	last_change = *(const struct ib_ats_change *)data;
	changes++;
	spin_unlock(&change_lock);
	return NOTIFY_OK;
}

static struct notifier_block change_nb = { .notifier_call = changed };

static int changes_show(struct seq_file *seq, void *unused)
{
	spin_lock(&change_lock);
	seq_printf(seq, "%u %d %pI6c\n", changes, last_change.state, &last_change.record.addr);
	spin_unlock(&change_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(changes);

static struct genl_family probe_family = {
	.name = KBUILD_MODNAME,
	.version = 1,
	.module = THIS_MODULE,
};

static int family_show(struct seq_file *seq, void *unused)
{
	ktime_t begin = ktime_get();
	int err;

	mutex_lock(&lock);
	err = genl_register_family(&probe_family);
	if (!err)
		genl_unregister_family(&probe_family);
	mutex_unlock(&lock);
	seq_printf(seq, "%lld\n", ktime_us_delta(ktime_get(), begin));
	return err;
}
DEFINE_SHOW_ATTRIBUTE(family);

static int __init ibatsask_init(void)
{
	int err = ib_ats_register_notifier(&change_nb);

	if (err)
		return err;
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("ask", 0200, root, NULL, &ask_fops);
	debugfs_create_file("answer", 0400, root, NULL, &answer_fops);
	debugfs_create_file("changes", 0400, root, NULL, &changes_fops);
	debugfs_create_u32("asked", 0400, root, &asked);
	debugfs_create_file("family", 0400, root, NULL, &family_fops);
	return 0;
}

static void __exit ibatsask_exit(void)
{
	debugfs_remove_recursive(root);
	ib_ats_unregister_notifier(&change_nb);
	forget();
}

module_init(ibatsask_init);
module_exit(ibatsask_exit);

MODULE_DESCRIPTION("Asks the Address Translation Service, for tests");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");
