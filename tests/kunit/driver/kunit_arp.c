// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suites of the life of a path: the steps in Documentation/ipoib.rst and events
 * between them.
 */
#include "ipoib_arp.c"
#include "kunit.h"

static struct ipoib_path *path_find(struct fixture *fx, u8 last)
{
	union ib_gid gid;

	fixture_gid(&gid, last);
	return path_by_gid(fx->priv, &gid);
}

/* Lets the back-off of the path expire */
static void time_is_up(struct fixture *fx, struct ipoib_path *path)
{
	path->dest.retry_at = jiffies;
	fx->priv->paths.dests.retry_at = jiffies;
	path_kick(fx->priv);
	fixture_settle(fx);
}

/* No query is outstanding or due */
static void expect_settled(struct kunit *test, const struct ipoib_path *path)
{
	KUNIT_EXPECT_FALSE(test, path->ask);
	KUNIT_EXPECT_EQ(test, (int)path->dest.request, (int)IPOIB_REQUEST_NONE);
	KUNIT_EXPECT_TRUE(test, list_empty(&path->dest.busy));
	KUNIT_EXPECT_TRUE(test, list_empty(&path->dest.waits));
}

static u32 list_count(const struct list_head *list)
{
	const struct list_head *entry;
	u32 count = 0;

	list_for_each(entry, list)
		count++;
	return count;
}

/* Answers the request for a path as if it had been sent just now, however slow the machine is */
static void answer_soon(struct kunit *test, u8 guid, int status)
{
	struct fixture *fx = test->priv;

	path_find(fx, guid)->dest.asked_at = jiffies + 60 * HZ;
	fixture_answer(test, guid, status);
}

static struct ipoib_path *path_resolved(struct kunit *test, u8 last)
{
	struct ipoib_path *path;

	fixture_send_to(test, last);
	answer_soon(test, last, 0);
	path = path_find(test->priv, last);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	KUNIT_ASSERT_NOT_NULL(test, rcu_access_pointer(path->dest.ah));
	return path;
}

static void path_none_to_asked(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fixture_send_to(test, 9);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	KUNIT_EXPECT_EQ(test, (int)path->dest.request, (int)IPOIB_REQUEST_SENT);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(path->dest.ah));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&path->dest.queue), 1u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATH_QUERIES), 1ull);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
	fixture_answer(test, 9, 0);
}

static void path_asked_to_resolved(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fixture_send_to(test, 9);
	fixture_send_to(test, 9);
	fixture_answer(test, 9, 0);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	expect_settled(test, path);
	KUNIT_EXPECT_EQ(test, fx->priv->paths.dests.asked, 0u);
	KUNIT_ASSERT_EQ(test, fx->hca->logged, 2u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 9);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->qpn, 0xabcdefu);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->qkey, 0xb1bu);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->length, 104u);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 3u);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 1);
}

static void path_asked_to_waiting(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;
	long wait;

	fixture_send_to(test, 9);
	fixture_answer(test, 9, -ETIMEDOUT);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	wait = path->dest.retry_at - jiffies;
	KUNIT_EXPECT_LE(test, wait, (long)HZ / 4 + HZ / 16 + 1);
	KUNIT_EXPECT_EQ(test, path->dest.failures, 1);
	KUNIT_EXPECT_TRUE(test, path->ask);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&path->dest.queue), 0u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATH_FAILURES), 1ull);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_FAILED), 1ull);
}

/* A failed query is repeated as long as there are packets to send */
static void path_waiting_to_asked(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;
	int i;

	fixture_send_to(test, 9);
	for (i = 1; i <= 3; i++) {
		fixture_answer(test, 9, -ETIMEDOUT);
		fixture_send_to(test, 9);
		path = path_find(fx, 9);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
		KUNIT_EXPECT_EQ(test, path->dest.failures, i);
		time_is_up(fx, path);
		KUNIT_EXPECT_EQ(test, (int)path->dest.request, (int)IPOIB_REQUEST_SENT);
	}
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path->dest.failures, 0);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
}

/* Without packets the path is removed, and a later packet creates it again */
static void path_waiting_to_none(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fixture_send_to(test, 9);
	fixture_answer(test, 9, -EINVAL);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	path->dest.used = jiffies - IPOIB_PATH_WANTED - 1;
	time_is_up(fx, path);
	KUNIT_EXPECT_NULL(test, path_find(fx, 9));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATH_QUERIES), 1ull);
	path_resolved(test, 9);
}

/* A query that the fabric does not accept counts as one that is not answered */
static void path_refused(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fx->fabric.refusal = -EAGAIN;
	fixture_send_to(test, 9);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	KUNIT_EXPECT_GT(test, path->dest.failures, 0);
	KUNIT_EXPECT_NULL(test, path->query);
	KUNIT_EXPECT_EQ(test, fx->priv->paths.dests.asked, 0u);
	fx->fabric.refusal = 0;
	time_is_up(fx, path);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(path->dest.ah));
}

static void path_refreshed(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path = path_resolved(test, 9);
	struct ipoib_ah *old = rcu_access_pointer(path->dest.ah);

	ipoib_link_event(fx->priv, IPOIB_EVENT_LIGHT);
	fixture_settle(fx);
	time_is_up(fx, path);
	KUNIT_EXPECT_EQ(test, (int)path->dest.request, (int)IPOIB_REQUEST_SENT);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(path->dest.ah), old);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_PTR_NE(test, rcu_access_pointer(path->dest.ah), old);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 3u);
}

/* When a refresh fails, the old AH stays in use until a query succeeds */
static void path_refresh_fails(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path = path_resolved(test, 9);
	struct ipoib_ah *old = rcu_access_pointer(path->dest.ah);

	ipoib_paths_refresh(fx->priv);
	time_is_up(fx, path);
	fixture_answer(test, 9, -ETIMEDOUT);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(path->dest.ah), old);
	KUNIT_EXPECT_TRUE(test, path->ask);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 2u);
	time_is_up(fx, path);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_PTR_NE(test, rcu_access_pointer(path->dest.ah), old);
	expect_settled(test, path);
}

/* An answer is a failure if no AH can be created from it */
static void path_no_ah(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fixture_send_to(test, 9);
	atomic_set(&fx->hca->fail_in, 1);
	fixture_answer(test, 9, 0);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(path->dest.ah));
	KUNIT_EXPECT_EQ(test, path->dest.failures, 1);
	time_is_up(fx, path);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(path->dest.ah));
}

static void path_flushed_while_asked(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send_to(test, 9);
	ipoib_link_event(fx->priv, IPOIB_EVENT_NORMAL);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.cancels), 1);
	KUNIT_EXPECT_NULL(test, path_find(fx, 9));
	KUNIT_EXPECT_EQ(test, fx->priv->paths.dests.asked, 0u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_FAILED), 1ull);
}

/* When a successful answer arrives for a path that was removed, its AH is not leaked */
static void path_late_answer(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send_to(test, 9);
	fx->fabric.cancel_late = true;
	ipoib_link_event(fx->priv, IPOIB_EVENT_NORMAL);
	fixture_settle(fx);
	KUNIT_EXPECT_NULL(test, path_find(fx, 9));
	KUNIT_EXPECT_EQ(test, fx->priv->paths.dests.asked, 0u);
	fixture_grace(fx);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->priv->ahs.dead));
}

static void path_queue_is_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	union ib_gid gid;
	int i;

	fixture_gid(&gid, 9);
	for (i = 0; i < IPOIB_PATH_QUEUE_MAX + 3; i++)
		fixture_send(fx, fixture_packet(test, gid.raw, 1), false);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_FULL), 3ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 1);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, (u32)IPOIB_PATH_QUEUE_MAX);
}

/* The packets that wait for all paths together are limited as well */
static void path_queues_are_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *priv = fx->priv;
	const u32 others = IPOIB_PATHS_QUEUED_MAX - 1;
	u32 one;

	fixture_send_to(test, 9);
	one = priv->paths.dests.queued;
	KUNIT_EXPECT_GE(test, one, IPOIB_HARD_LEN + 100);
	fixture_send_to(test, 10);
	KUNIT_EXPECT_EQ(test, priv->paths.dests.queued, 2 * one);
	priv->paths.dests.queued += others;
	fixture_send_to(test, 11);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_FULL), 1ull);
	priv->paths.dests.queued -= others;
	fixture_send_to(test, 11);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, priv->paths.dests.queued, 2 * one);
	fixture_answer(test, 10, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, priv->paths.dests.queued, one);
	fixture_down(fx);
	KUNIT_EXPECT_EQ(test, priv->paths.dests.queued, 0u);
}

static void path_window(struct kunit *test)
{
	struct fixture *fx = test->priv;
	int i;

	for (i = 1; i <= paths_pace.first + 2; i++)
		fixture_send_to(test, i);
	KUNIT_EXPECT_EQ(test, fabric_pending(&fx->fabric), paths_pace.first);
	KUNIT_EXPECT_EQ(test, fx->priv->paths.dests.asked, paths_pace.first);
	fx->priv->paths.dests.window--;	/* undoes the growth by an answer */
	answer_soon(test, 1, 0);
	fx->priv->paths.dests.window--;
	answer_soon(test, 2, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fabric_pending(&fx->fabric), paths_pace.first);
	answer_soon(test, paths_pace.first + 1, 0);
	answer_soon(test, paths_pace.first + 2, 0);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 3u);
}

/* Paths that wait, for room in the window or for their back-off, are not checked again when the
 * state of another path changes.
 */
static void path_waits_unseen(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *priv = fx->priv;
	int i;

	for (i = 1; i <= 3 * paths_pace.first; i++)
		fixture_send_to(test, i);
	fixture_answer(test, 1, -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, list_empty(&priv->paths.dests.busy));
	KUNIT_EXPECT_EQ(test, priv->paths.dests.asked + list_count(&priv->paths.dests.waiting) +
			list_count(&priv->paths.dests.failing), 3 * paths_pace.first);
	KUNIT_EXPECT_GE(test, list_count(&priv->paths.dests.waiting), paths_pace.first);
	priv->paths.dests.window = 4 * paths_pace.max;
	fixture_answer(test, 2, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&priv->paths.dests.busy));
	KUNIT_EXPECT_TRUE(test, list_empty(&priv->paths.dests.waiting));
}

/* Each answer that comes soon enlarges the window by one; one that comes late halves it */
static void path_pace(struct kunit *test)
{
	struct fixture *fx = test->priv;
	u32 *window = &fx->priv->paths.dests.window;
	int i;

	for (i = 1; i <= paths_pace.max + 5; i++) {
		path_resolved(test, i);
		KUNIT_EXPECT_EQ(test, *window,
				min(paths_pace.first + i, paths_pace.max));
	}
	for (i = 100; i < 110; i++) {
		fixture_send_to(test, i);
		path_find(fx, i)->dest.asked_at -= HZ / 4 + 1;
		fixture_answer(test, i, 0);
		KUNIT_EXPECT_EQ(test, *window, max_t(u32, paths_pace.max >> (i - 99), 1));
	}
}

static void path_idle_goes(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *idle = path_resolved(test, 9);

	path_resolved(test, 10);
	WRITE_ONCE(idle->dest.used, jiffies - IPOIB_PATH_IDLE - 2);
	mod_delayed_work(fx->priv->wq, &fx->priv->paths.expire_work, 0);
	fixture_settle(fx);
	KUNIT_EXPECT_NULL(test, path_find(fx, 9));
	KUNIT_EXPECT_NOT_NULL(test, path_find(fx, 10));
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 3);
	fixture_answer(test, 9, 0);
}

/* A sender has found the path just before it is removed */
static void path_dead(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path path = { .dest.dead = true };
	struct sk_buff *skb;
	union ib_gid gid;

	fixture_gid(&gid, 9);
	__skb_queue_head_init(&path.dest.queue);
	skb = fixture_packet(test, gid.raw, 1);
	spin_lock_bh(&fx->priv->paths.dests.lock);
	path_queue(fx->priv, &path, skb);
	spin_unlock_bh(&fx->priv->paths.dests.lock);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&path.dest.queue), 0u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_FAILED), 1ull);
}

static void path_without_carrier(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_down(fx);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_NULL(test, path_find(fx, 9));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_NO_CARRIER), 1ull);
}

/* An AH that was replaced is not destroyed while a WR may refer to it */
static void ah_outlives_its_sends(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path = path_resolved(test, 9);
	atomic_t *ahs = &fx->hca->objects[HCA_AH];
	int before = atomic_read(ahs);

	fx->hca->hold = true;
	fixture_send_to(test, 9);
	ipoib_paths_refresh(fx->priv);
	time_is_up(fx, path);
	fixture_answer(test, 9, 0);
	fixture_grace(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(ahs), before + 1);
	hca_complete(fx->hca, 1, IB_WC_SUCCESS);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(ahs), before);
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(path_none_to_asked),
	KUNIT_CASE(path_asked_to_resolved),
	KUNIT_CASE(path_asked_to_waiting),
	KUNIT_CASE(path_waiting_to_asked),
	KUNIT_CASE(path_waiting_to_none),
	KUNIT_CASE(path_refused),
	KUNIT_CASE(path_refreshed),
	KUNIT_CASE(path_refresh_fails),
	KUNIT_CASE(path_no_ah),
	KUNIT_CASE(path_flushed_while_asked),
	KUNIT_CASE(path_late_answer),
	KUNIT_CASE(path_queue_is_bounded),
	KUNIT_CASE(path_queues_are_bounded),
	KUNIT_CASE(path_window),
	KUNIT_CASE(path_waits_unseen),
	KUNIT_CASE(path_pace),
	KUNIT_CASE(path_idle_goes),
	KUNIT_CASE(path_dead),
	KUNIT_CASE(path_without_carrier),
	KUNIT_CASE(ah_outlives_its_sends),
	{}
};

static struct kunit_suite path_suite = {
	.name = "ipoib_path",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_unanswered,
	.exit = fixture_exit,
	.test_cases = path_cases,
};

/* Receives a packet of the peer; a GRH proves the peer's GID */
static void hear(struct kunit *test, u8 last, u16 lid, int flags)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = { .src_qp = last, .slid = lid, .sl = 5, .wc_flags = flags };
	struct {
		struct ib_grh grh;
		struct ipoib_encap encap;
		u8 arp[8];
		struct ipoib_hwaddr sender;
	} __packed packet = {
		.encap.ethertype = htons(ETH_P_ARP),
		.arp = { 0, 32, 8, 0, INFINIBAND_ALEN, 4, 0, 2 },
	};

	fixture_gid(&packet.grh.sgid, last);
	ipoib_hwaddr_build(&packet.sender, last, &packet.grh.sgid);
	KUNIT_ASSERT_EQ(test, hca_receive(fx->hca, &packet, sizeof(packet), &wc), 0);
	fixture_settle(fx);
}

static void hear_proof(struct kunit *test, u8 last, u16 lid)
{
	hear(test, last, lid, IB_WC_GRH);
}

static void hear_claim(struct kunit *test, u8 last, u16 lid)
{
	hear(test, last, lid, 0);
}

/* The DLID of the path; 0 if there is no AH */
static u32 path_lid(struct kunit *test, u8 last)
{
	struct ipoib_path *path = path_find(test->priv, last);
	struct ipoib_ah *ah = path ? rcu_dereference_protected(path->dest.ah, true) : NULL;

	return ah ? ah->dlid : 0;
}

static int queries(struct kunit *test)
{
	struct fixture *fx = test->priv;

	return atomic_read(&fx->fabric.resolves);
}

/* A path with a stopgap AH, learned from a packet, while its query is outstanding */
static struct ipoib_path *path_learned(struct kunit *test, u8 last, u16 lid)
{
	struct ipoib_path *path;

	hear_proof(test, last, lid);
	fixture_send_to(test, last);
	path = path_find(test->priv, last);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	KUNIT_ASSERT_TRUE(test, path->stopgap);
	KUNIT_ASSERT_EQ(test, path_lid(test, last), (u32)lid);
	return path;
}

/* The packet is sent at once, and the SA is queried at once as well */
static void learned_and_asked(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path = path_learned(test, 9, 9);

	KUNIT_ASSERT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, hca_sent(fx->hca, 0)->dlid, 9);
	KUNIT_EXPECT_EQ(test, (int)rcu_dereference_protected(path->dest.ah, true)->sl, 5);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATHS_LEARNED), 1ull);
	KUNIT_EXPECT_EQ(test, queries(test), 1);
	KUNIT_EXPECT_EQ(test, (int)path->dest.request, (int)IPOIB_REQUEST_SENT);
	fixture_answer(test, 9, 0);
}

/* A connection keeps its path, so it is made with the fabric's answer, and learns of another one */
static void learned_not_for_connections(struct kunit *test)
{
	struct ipoib_dev *priv = ((struct fixture *)test->priv)->priv;
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	union ib_gid gid;

	path_learned(test, 9, 12);
	fixture_gid(&gid, 9);
	KUNIT_EXPECT_EQ(test, ipoib_path_record(priv, gid.raw, &rec), -EAGAIN);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, ipoib_path_record(priv, gid.raw, &rec), 0);
	KUNIT_EXPECT_FALSE(test, ipoib_path_differs(priv, gid.raw, 9, rec.sl));
	KUNIT_EXPECT_TRUE(test, ipoib_path_differs(priv, gid.raw, 9, rec.sl + 1));
	KUNIT_EXPECT_TRUE(test, ipoib_path_differs(priv, gid.raw, 12, rec.sl));
}

/* If learned paths are trusted, the SA is not queried */
static void learned_and_trusted(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fx->priv->trust_learned = true;
	path = path_learned(test, 9, 9);
	KUNIT_EXPECT_EQ(test, queries(test), 0);
	expect_settled(test, path);
	hear_proof(test, 9, 12);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 12u);
	KUNIT_EXPECT_EQ(test, queries(test), 0);
	/* A refresh queries the SA all the same */
	ipoib_paths_refresh(fx->priv);
	time_is_up(fx, path);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_FALSE(test, path->stopgap);
}

static void learned_not_if_off(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->priv->learn_paths = false;
	hear_proof(test, 9, 9);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, queries(test), 1);
	hear_proof(test, 9, 9);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 0u);
}

/* No path is learned if packets do not carry the necessary data, or if the AH's attributes cannot
 * be made
 */
static void learned_not_possible(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->fabric.attr_error = -EINVAL;
	hear_proof(test, 9, 9);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, queries(test), 1);
	fx->fabric.ops.heard_attr = NULL;
	hear_proof(test, 8, 8);
	fixture_send_to(test, 8);
	KUNIT_EXPECT_EQ(test, queries(test), 2);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATHS_LEARNED), 0ull);
}

/* An ARP packet without a GRH creates no path, and does not end the wait for one */
static void learned_not_by_claim(struct kunit *test)
{
	struct fixture *fx = test->priv;

	hear_claim(test, 9, 9);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 0u);
	KUNIT_EXPECT_EQ(test, queries(test), 1);
	hear_claim(test, 9, 9);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 0u);
	fixture_answer(test, 9, -EINVAL);
	hear_claim(test, 9, 9);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 0u);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 0u);
}

/* Nor does it change a path, or replace the LID from which the peer was heard */
static void learned_keeps_from_claim(struct kunit *test)
{
	struct ipoib_path *path = path_learned(test, 9, 9);
	struct fixture *fx = test->priv;

	hear_claim(test, 9, 12);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED), 1ull);
	fixture_answer(test, 9, 0);
	/* The SA is asked again, as it may have answered before the claim was true */
	fixture_answer(test, 9, 0);
	hear_claim(test, 9, 12);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED), 2ull);
	path_forget(fx->priv, path);
	hear_claim(test, 9, 12);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED), 3ull);
	fixture_send_to(test, 9);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	fixture_answer(test, 9, 0);
}

static void learned_to_answered(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path = path_learned(test, 9, 9);

	/* The SL that the SA's answer will have */
	rcu_dereference_protected(path->dest.ah, true)->sl = 3;
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_FALSE(test, path->stopgap);
	expect_settled(test, path);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATHS_CORRECTED), 0ull);
}

static void learned_to_corrected(struct kunit *test)
{
	struct fixture *fx = test->priv;

	path_learned(test, 9, 12);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATHS_CORRECTED), 1ull);
	/* A different SL alone is a correction, too */
	path_learned(test, 8, 8);
	fixture_answer(test, 8, 0);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_PATHS_CORRECTED), 2ull);
}

/* If the SA does not answer, is busy or has just started, the learned path stays in use */
static void learned_and_no_answer(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path = path_learned(test, 9, 12);
	int i;

	for (i = 0; i < 6; i++) {
		fixture_answer(test, 9, i % 2 ? -ETIMEDOUT : -EINVAL);
		KUNIT_EXPECT_EQ(test, path_lid(test, 9), 12u);
		KUNIT_EXPECT_TRUE(test, path->stopgap);
		KUNIT_EXPECT_TRUE(test, path->ask);
		time_is_up(fx, path);
	}
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	expect_settled(test, path);
}

/* A path from the SA is not replaced by packets with a GRH, which only cause a new query */
static void resolved_stands(struct kunit *test)
{
	struct ipoib_path *path = path_resolved(test, 9);
	int i;

	hear_proof(test, 9, 9);
	KUNIT_EXPECT_EQ(test, queries(test), 1);
	for (i = 0; i < 5; i++) {
		hear_proof(test, 9, 12 + i);
		KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
		KUNIT_EXPECT_FALSE(test, path->stopgap);
	}
	KUNIT_EXPECT_EQ(test, queries(test), 2);
	fixture_answer(test, 9, -EINVAL);
	hear_proof(test, 9, 13);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
}

/* A packet without a GRH that contradicts the path causes a query, but not too often */
static void resolved_doubts_claim(struct kunit *test)
{
	struct ipoib_path *path = path_resolved(test, 9);

	hear_claim(test, 9, 12);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_EQ(test, queries(test), 2);
	fixture_answer(test, 9, 0);
	hear_claim(test, 9, 13);
	KUNIT_EXPECT_EQ(test, queries(test), 2);
	path->doubted = jiffies - IPOIB_PATH_DOUBT;
	hear_claim(test, 9, 14);
	KUNIT_EXPECT_EQ(test, queries(test), 3);
	fixture_answer(test, 9, 0);
}

/* IBA 7.11.1: a port may send from any of its LIDs */
static void resolved_by_other_lid_of_port(struct kunit *test)
{
	struct fixture *fx = test->priv;

	path_resolved(test, 9);
	fx->hca->ibdev.port_data[1].cache.lmc = 2;
	hear_proof(test, 9, 11);
	hear_claim(test, 9, 10);
	KUNIT_EXPECT_EQ(test, queries(test), 1);
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_RX_FORGED), 0ull);
	hear_proof(test, 9, 12);
	KUNIT_EXPECT_EQ(test, queries(test), 2);
	fixture_answer(test, 9, 0);
}

/* A packet of the peer ends the wait for a path whose query has failed */
static void failing_mends_by_packet(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fixture_send_to(test, 9);
	fixture_answer(test, 9, -ETIMEDOUT);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	fixture_send_to(test, 9);
	hear_proof(test, 9, 12);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 12u);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_TRUE(test, path->ask);
	time_is_up(fx, path);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
}

/* So does a unicast without a GRH, if the GID of its sender is known from before */
static void failing_mends_by_unicast(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ib_wc wc = { .src_qp = 9, .slid = 9 };
	int i;

	hear_proof(test, 9, 9);
	fx->priv->learn_paths = false;
	fixture_send_to(test, 9);
	fixture_answer(test, 9, -EINVAL);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 0u);
	fixture_send_to(test, 9);
	fx->priv->learn_paths = true;
	for (i = 0; i < 50 && !path_lid(test, 9); i++) {
		msleep(20);
		KUNIT_ASSERT_EQ(test, hca_receive(fx->hca, NULL, 100, &wc), 0);
		fixture_settle(fx);
	}
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
}

/* A packet of the peer arrives before the SA's answer, which then replaces what was learned */
static void asked_and_heard(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fixture_send_to(test, 9);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	hear_proof(test, 9, 12);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 12u);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	KUNIT_EXPECT_EQ(test, (int)path->dest.request, (int)IPOIB_REQUEST_SENT);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, path_lid(test, 9), 9u);
	KUNIT_EXPECT_FALSE(test, path->stopgap);
	expect_settled(test, path);
}

/* The SA has answered before the peer's packets show that it needs a GRH */
static void resolved_lacks_grh(struct kunit *test)
{
	const struct ipoib_heard heard = { .lid = 9, .needs_grh = true };
	struct fixture *fx = test->priv;
	struct ipoib_path *path;

	fx->priv->learn_paths = false;
	fixture_send_to(test, 9);
	fixture_answer(test, 9, 0);
	path = path_find(fx, 9);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path);
	KUNIT_EXPECT_FALSE(test, path->needs_grh);
	local_bh_disable();
	ipoib_path_heard(fx->priv, &path->dest.gid, &heard);
	local_bh_enable();
	fixture_settle(fx);
	KUNIT_EXPECT_TRUE(test, path->needs_grh);
	KUNIT_EXPECT_EQ(test, queries(test), 2);
	fixture_answer(test, 9, 0);
	expect_settled(test, path);
}

/* The number of paths is limited, except for peers whose GID a GRH has proven */
static void paths_are_bounded(struct kunit *test)
{
	struct fixture *fx = test->priv;
	struct ipoib_dev *priv = fx->priv;
	const int others = IPOIB_PATHS_MAX - 1;

	hear_proof(test, 5, 5);
	hear_claim(test, 6, 6);
	atomic_add(others, &priv->paths.dests.table.nelems);
	fixture_send_to(test, 7);
	KUNIT_EXPECT_NOT_NULL(test, path_find(fx, 7));
	fixture_send_to(test, 6);
	fixture_send_to(test, 8);
	KUNIT_EXPECT_NULL(test, path_find(fx, 6));
	KUNIT_EXPECT_NULL(test, path_find(fx, 8));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_LIMIT), 2ull);
	fixture_send_to(test, 5);
	KUNIT_EXPECT_EQ(test, path_lid(test, 5), 5u);
	atomic_sub(others, &priv->paths.dests.table.nelems);
	fixture_send_to(test, 8);
	KUNIT_EXPECT_NOT_NULL(test, path_find(fx, 8));
}

static struct kunit_case learned_cases[] = {
	KUNIT_CASE(learned_and_asked),
	KUNIT_CASE(learned_not_for_connections),
	KUNIT_CASE(learned_and_trusted),
	KUNIT_CASE(learned_not_if_off),
	KUNIT_CASE(learned_not_possible),
	KUNIT_CASE(learned_not_by_claim),
	KUNIT_CASE(learned_keeps_from_claim),
	KUNIT_CASE(learned_to_answered),
	KUNIT_CASE(learned_to_corrected),
	KUNIT_CASE(learned_and_no_answer),
	KUNIT_CASE(resolved_lacks_grh),
	KUNIT_CASE(resolved_stands),
	KUNIT_CASE(resolved_doubts_claim),
	KUNIT_CASE(resolved_by_other_lid_of_port),
	KUNIT_CASE(failing_mends_by_packet),
	KUNIT_CASE(failing_mends_by_unicast),
	KUNIT_CASE(asked_and_heard),
	KUNIT_CASE(paths_are_bounded),
	{}
};

static struct kunit_suite learned_suite = {
	.name = "ipoib_learned",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_unanswered,
	.exit = fixture_exit,
	.test_cases = learned_cases,
};

kunit_test_suites(&path_suite, &learned_suite);
