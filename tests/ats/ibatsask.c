// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibatsask: asks the Address Translation Service what a line says, as other modules do.
 * For tests, by files in /sys/kernel/debug/ibatsask/:
 *
 *  ask       addr=IP, gid=GID, primary=GID or sid=NUMBER, then
 *            [hca=NAME] [pkey=N] [timeout=MS] [times=N] [cancel=1]
 *            times: so many queries at once. cancel: let go of them at once.
 *            The write returns when all have ended, or fails as the last of them.
 *  answer    a line for each record of the last one: GID P_KEY SID ADDRESS [primary];
 *            before them "asked N found N failed N us N"
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/ipv6.h>

#include "ib_ats.h"
#include "ibtool.h"

#define ASK_MAX_LINE	256
#define ASK_MAX_TIMES	100000

struct ask_line {
	struct ib_ats_question question;
	u32 times;
	u32 cancel;
};

static DEFINE_MUTEX(lock);		/* one line at a time; guards what follows */
static struct dentry *root;
static struct ib_ats_answer *answers;
static unsigned int answer_count;
static u32 asked;
static s64 took_us;
static int last_err;
static atomic_t found;
static atomic_t failed;
static atomic_t under_way;		/* and one more while there come others */
static DECLARE_WAIT_QUEUE_HEAD(all_ended);

static int parse_ip(const char *value, struct in6_addr *addr)
{
	__be32 ipv4;

	if (in4_pton(value, -1, (u8 *)&ipv4, '\0', NULL)) {
		ipv6_addr_set_v4mapped(ipv4, addr);
		return 0;
	}
	return in6_pton(value, -1, addr->s6_addr, '\0', NULL) ? 0 : -EINVAL;
}

static int parse_gid(struct ib_ats_question *question, enum ib_ats_kind kind, const char *value)
{
	question->kind = kind;
	return in6_pton(value, -1, question->gid.raw, '\0', NULL) ? 0 : -EINVAL;
}

static int parse_hca(struct ib_ats_question *question, const char *value)
{
	question->ibdev = ib_device_get_by_name(value, RDMA_DRIVER_UNKNOWN);
	return question->ibdev ? 0 : -ENODEV;
}

static int parse_word(void *of, char *word)
{
	struct ask_line *line = of;
	struct ib_ats_question *question = &line->question;
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "addr"))
		return parse_ip(value, &question->addr);
	if (!strcmp(word, "gid"))
		return parse_gid(question, IB_ATS_BY_GID, value);
	if (!strcmp(word, "primary"))
		return parse_gid(question, IB_ATS_PRIMARY, value);
	if (!strcmp(word, "hca"))
		return parse_hca(question, value);
	if (!strcmp(word, "pkey"))
		return kstrtou16(value, 0, &question->pkey);
	if (!strcmp(word, "timeout"))
		return kstrtou32(value, 0, &question->timeout_ms);
	if (!strcmp(word, "times"))
		return kstrtou32(value, 0, &line->times);
	if (!strcmp(word, "cancel"))
		return kstrtou32(value, 0, &line->cancel);
	if (strcmp(word, "sid"))
		return -EINVAL;
	question->kind = IB_ATS_BY_SID;
	return kstrtou64(value, 0, &question->sid);
}

static void one_ended(void)
{
	if (atomic_dec_and_test(&under_way))
		wake_up(&all_ended);
}

static void answered(void *context, int err, const struct ib_ats_answer *records,
		     unsigned int count)
{
	if (err)
		*(int *)context = err;
	atomic_inc(err ? &failed : &found);
	one_ended();
}

static void forget(void)
{
	kfree(answers);
	answers = NULL;
	answer_count = 0;
	atomic_set(&found, 0);
	atomic_set(&failed, 0);
}

/* Cancelled or not, each is counted before it is let go of */
static int ask_many(const struct ask_line *line)
{
	struct ib_ats_query **queries;
	u32 i;

	queries = kvcalloc(line->times, sizeof(*queries), GFP_KERNEL);
	if (!queries)
		return -ENOMEM;
	last_err = 0;
	atomic_set(&under_way, 1);
	for (i = 0; i < line->times; i++) {
		atomic_inc(&under_way);
		queries[i] = ib_ats_ask(&line->question, answered, &last_err);
		if (IS_ERR(queries[i])) {
			last_err = PTR_ERR(queries[i]);
			one_ended();
			break;
		}
	}
	asked = i;
	one_ended();
	if (!line->cancel)
		wait_event_idle(all_ended, !atomic_read(&under_way));
	while (i--)
		ib_ats_free(queries[i]);
	kvfree(queries);
	return last_err;
}

static int ask_one(const struct ask_line *line)
{
	int ret = ib_ats_ask_wait(&line->question, &answers);

	asked = 1;
	if (ret < 0) {
		atomic_inc(&failed);
		return ret;
	}
	atomic_inc(&found);
	answer_count = ret;
	return 0;
}

static int ask(void *of, char *text)
{
	struct ask_line line = { .times = 1 };
	ktime_t begin;
	int ret;

	ret = ibtool_each_word(text, parse_word, &line);
	if (!ret && (!line.times || line.times > ASK_MAX_TIMES))
		ret = -EINVAL;
	if (!ret) {
		mutex_lock(&lock);
		forget();
		begin = ktime_get();
		ret = line.times > 1 || line.cancel ? ask_many(&line) : ask_one(&line);
		took_us = ktime_us_delta(ktime_get(), begin);
		mutex_unlock(&lock);
	}
	if (line.question.ibdev)
		ib_device_put(line.question.ibdev);
	return ret;
}

static ssize_t ask_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	return ibtool_line_write(from, count, ASK_MAX_LINE, ask, NULL);
}

static const struct file_operations ask_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ask_write,
};

static int answer_show(struct seq_file *seq, void *unused)
{
	const struct ib_ats_answer *answer;

	mutex_lock(&lock);
	seq_printf(seq, "asked %u found %d failed %d us %lld\n", asked, atomic_read(&found),
		   atomic_read(&failed), took_us);
	for (answer = answers; answer < answers + answer_count; answer++) {
		seq_printf(seq, "%pI6c 0x%04x 0x%016llx ", answer->gid.raw, answer->pkey,
			   answer->sid);
		if (ipv6_addr_v4mapped(&answer->addr))
			seq_printf(seq, "%pI4", &answer->addr.s6_addr32[3]);
		else
			seq_printf(seq, "%pI6c", &answer->addr);
		seq_puts(seq, answer->primary ? " primary\n" : "\n");
	}
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(answer);

static int __init ibatsask_init(void)
{
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("ask", 0200, root, NULL, &ask_fops);
	debugfs_create_file("answer", 0400, root, NULL, &answer_fops);
	return 0;
}

static void __exit ibatsask_exit(void)
{
	debugfs_remove_recursive(root);
	forget();
}

module_init(ibatsask_init);
module_exit(ibatsask_exit);

MODULE_DESCRIPTION("Asks the Address Translation Service, for tests");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");
