// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Questions of other modules and of user space about who has which address. A question is
 * passed to every port that the asker may use, each as a query (ats_query.c), and ends when
 * all queries have ended. Once one of them has found something, the others end as soon as
 * they have no request under way. A port without an SA thus does not delay the answer of
 * another port.
 *
 * The work of a question runs twice: first to pass it to the ports, then to call back.
 * Questions of users have a workqueue of their own that runs one work at a time, so that
 * any number of them delays a module's question by no more than the time of one.
 */
#include <linux/sort.h>
#include <linux/xarray.h>

#include "ats.h"

#define ATS_QUESTION_TIMEOUT_MS	5000

/* By ID: questions that have not called back. Its lock is taken in any context */
static DEFINE_XARRAY_FLAGS(asks, XA_FLAGS_LOCK_IRQ);
static unsigned long last_id;		/* guarded by that lock */
static DECLARE_WAIT_QUEUE_HEAD(ask_gone);

static struct workqueue_struct *ask_wq, *ask_user_wq;

/* ---- The end of a question ---- */

static int answer_cmp(const void *a, const void *b)
{
	const struct ib_ats_answer *one = a, *other = b;

	if (one->primary != other->primary)
		return one->primary ? -1 : 1;
	return memcmp(&one->gid, &other->gid, sizeof(one->gid)) ?:
	       ats_sid_slot(one->sid) - ats_sid_slot(other->sid) ?:
	       strcmp(one->device, other->device) ?: (int)one->port - (int)other->port;
}

static void ask_end(struct ats_ask *ask)
{
	int err = ask->cancelled ? -ECANCELED : ask->err ?: ask->count ? 0 : ask->worst;

	sort(ask->answers, ask->count, sizeof(*ask->answers), answer_cmp, NULL);
	ask->done(ask->context, err, ask->answers, err ? 0 : ask->count);
	kvfree(ask->answers);
	xa_erase_irq(&asks, ask->id);
	kfree(ask);
	wake_up_all(&ask_gone);
}

/* ---- Its queries ---- */

static bool port_fits(const struct ats_port *port, const struct ib_ats_question *question)
{
	return (!question->ibdev || question->ibdev == port->ibdev) &&
	       (!*question->device || !strcmp(question->device, dev_name(&port->ibdev->dev))) &&
	       (!question->port || question->port == port->port);
}

/* A query in the list has not ended, so its port still exists. The lock is held */
static void ask_hurry(struct ats_ask *ask)
{
	struct ats_query *query;

	list_for_each_entry(query, &ask->open, part)
		ats_port_event(query->port, ATS_EVENT_HURRY);
}

/*
 * Called by a port's work: a query of the question has ended. If no query finds anything, the
 * worst error counts. A port that was removed meanwhile (-ENODEV) counts as little as one that was
 * removed before.
 */
static void ask_query_ended(struct ats_query *query, int err)
{
	struct ats_ask *ask = query->ask;

	xa_lock_irq(&asks);
	list_del(&query->part);
	if (!err)
		ask_hurry(ask);
	if (err == -ENOMEM || (err != -ENODEV && (ask->worst == -ENODEV || ask->worst == -ENOENT)))
		ask->worst = err;
	xa_unlock_irq(&asks);
	kfree(query);
	if (refcount_dec_and_test(&ask->pending))
		queue_work(ask->user ? ask_user_wq : ask_wq, &ask->work);
}

static int ask_port(struct ats_port *port, void *arg)
{
	struct ats_ask *ask = arg;
	struct ats_query *query;
	u64 guest = ats_foreign_partitions ? 0 : ats_local_guest(port, ask->question.net);

	if (!port_fits(port, &ask->question) ||
	    !ats_local_on_port(port, guest, ask->question.pkey))
		return 0;
	query = kzalloc(sizeof(*query), GFP_KERNEL);
	if (!query)
		return -ENOMEM;
	query->ask = ask;
	query->port = port;
	query->ended = ask_query_ended;
	query->guest = guest;
	refcount_inc(&ask->pending);
	xa_lock_irq(&asks);
	list_add_tail(&query->part, &ask->open);
	xa_unlock_irq(&asks);
	ats_query_submit(query);
	return 0;
}

static void ask_work(struct work_struct *work)
{
	struct ats_ask *ask = container_of(work, struct ats_ask, work);

	if (!ask->put) {
		ask->put = true;
		if (ats_each_port(ask->question.net, ask_port, ask))
			ask->err = -ENOMEM;
		if (ask->question.net)
			put_net(ask->question.net);
		if (!refcount_dec_and_test(&ask->pending))
			return;
	}
	ask_end(ask);
}

/* ---- For other files, and other modules ---- */

static bool question_valid(const struct ib_ats_question *question)
{
	if (question->kind == IB_ATS_KIND_SID)
		return ats_sid_slot(question->sid) >= 0;
	if (question->kind == IB_ATS_KIND_ADDR)
		return !ipv6_addr_any(&question->addr) &&
		       !(ipv6_addr_v4mapped(&question->addr) && !question->addr.s6_addr32[3]);
	return question->kind == IB_ATS_KIND_GID || question->kind == IB_ATS_KIND_PRIMARY;
}

/**
 * ats_ask() - begin a question, of a module or of user space
 * @question: the question; copied
 * @gfp: flags for the allocation of memory
 * @user: the question is from user space; questions of modules take precedence
 * @done: called once, unless this returns an error
 * @context: argument for @done
 * @id: set to the question's ID, before @done can be called
 *
 * Context: any if @gfp is GFP_ATOMIC; may sleep if @gfp allows it.
 * Return: 0, -EINVAL if the question is not valid, or -ENOMEM.
 */
int ats_ask(const struct ib_ats_question *question, gfp_t gfp, bool user, ib_ats_done done,
	    void *context, u64 *id)
{
	struct ats_ask *ask;
	unsigned long flags;
	int err;

	if (!question_valid(question))
		return -EINVAL;
	ask = kzalloc(sizeof(*ask), gfp);
	if (!ask)
		return -ENOMEM;
	INIT_WORK(&ask->work, ask_work);
	refcount_set(&ask->pending, 1);
	INIT_LIST_HEAD(&ask->open);
	mutex_init(&ask->lock);
	ask->worst = -ENODEV;
	ask->question = *question;
	ask->addr = question->addr;
	ats_addr_from_mapped(&ask->addr);
	ask->user = user;
	ask->done = done;
	ask->context = context;
	ask->deadline = jiffies + msecs_to_jiffies(question->timeout_ms ?:
						   ATS_QUESTION_TIMEOUT_MS);
	/* To allocate memory, the lock may be released, so another ID may be the last one then */
	xa_lock_irqsave(&asks, flags);
	ask->id = ++last_id;
	err = __xa_insert(&asks, ask->id, ask, gfp);
	xa_unlock_irqrestore(&asks, flags);
	if (err) {
		kfree(ask);
		return err;
	}
	*id = ask->id;
	if (question->net)
		get_net(question->net);
	queue_work(user ? ask_user_wq : ask_wq, &ask->work);
	return 0;
}

/**
 * ib_ats_ask() - ask which GIDs have an address, or which addresses a GID has
 * @question: the question; copied
 * @gfp: flags for the allocation of memory
 * @done: called once, unless this returns an error
 * @context: argument for @done
 * @id: set to the question's ID, before @done can be called
 *
 * The question is freed after @done has returned. Before a module is unloaded, it must end
 * its questions by ib_ats_cancel().
 *
 * Context: any if @gfp is GFP_ATOMIC; may sleep if @gfp allows it.
 * Return: 0, -EINVAL if the question is not valid, or -ENOMEM.
 */
int ib_ats_ask(const struct ib_ats_question *question, gfp_t gfp, ib_ats_done done, void *context,
	       u64 *id)
{
	return ats_ask(question, gfp, false, done, context, id);
}
EXPORT_SYMBOL_GPL(ib_ats_ask);

/**
 * ats_ask_cancel() - make a question end soon, with -ECANCELED
 * @id: its ID
 *
 * Does not wait. Nothing happens if the question has ended.
 *
 * Context: process.
 */
void ats_ask_cancel(u64 id)
{
	struct ats_ask *ask;

	xa_lock_irq(&asks);
	ask = xa_load(&asks, id);
	if (ask) {
		ask->cancelled = true;
		ask_hurry(ask);
	}
	xa_unlock_irq(&asks);
}

/**
 * ib_ats_cancel() - end a question, and wait for its end
 * @id: its ID
 *
 * When this returns, the question's callback has been called and has returned, with
 * -ECANCELED if the question had not ended before.
 *
 * Context: may sleep; must not be called from that callback.
 */
void ib_ats_cancel(u64 id)
{
	ats_ask_cancel(id);
	wait_event(ask_gone, !xa_load(&asks, id));
}
EXPORT_SYMBOL_GPL(ib_ats_cancel);

/**
 * ats_ask_init() - allow questions
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ats_ask_init(void)
{
	ask_wq = alloc_workqueue("ib_ats_ask", WQ_UNBOUND, 0);
	ask_user_wq = alloc_workqueue("ib_ats_user", WQ_UNBOUND, 1);
	if (ask_wq && ask_user_wq)
		return 0;
	ats_ask_exit();
	return -ENOMEM;
}

/**
 * ats_ask_exit() - free what ats_ask_init() allocated, when the questions of user space have ended
 *
 * There are no ports any more, so each of these questions ends at once, and no new ones begin.
 * Other modules have ended theirs.
 *
 * Context: may sleep.
 */
void ats_ask_exit(void)
{
	if (ask_wq)
		destroy_workqueue(ask_wq);
	if (ask_user_wq)
		destroy_workqueue(ask_user_wq);
}
