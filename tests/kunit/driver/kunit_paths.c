// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite of paths that a slow SA is asked for: what changes while a query is
 * outstanding, what is not asked for any more, and GIDs that peers choose.
 */
#include <linux/delay.h>

#include "kunit.h"

static struct ipoib_dest *path_of(struct fixture *fx, u8 last)
{
	union ib_gid gid;

	fixture_gid(&gid, last);
	return ipoib_dest_find(&fx->priv->paths.dests, gid.raw);
}

/* The SA may have answered before the change, so it is asked again; its answer is used meanwhile */
static void path_changes_while_asked(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fixture_send_to(test, 9);
	ipoib_paths_refresh(fx->priv);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 1);
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_EQ(test, fx->hca->logged, 1u);
	/* Within a quarter of a second */
	msleep(300);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 2);
	fixture_answer(test, 9, 0);
	msleep(300);
	fixture_settle(fx);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 2);
}

/* A path that nobody uses any more when its turn comes is not asked for */
static void path_waits_too_long(struct kunit *test)
{
	struct fixture *fx = test->priv;

	fx->priv->paths.dests.window = 1;
	fixture_send_to(test, 9);
	fixture_send_to(test, 10);
	fixture_send_to(test, 11);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 1);
	KUNIT_ASSERT_NOT_NULL(test, path_of(fx, 10));
	path_of(fx, 10)->used = jiffies - 4 * HZ;
	fixture_answer(test, 9, 0);
	KUNIT_EXPECT_NULL(test, path_of(fx, 10));
	KUNIT_EXPECT_EQ(test, fixture_count(fx, IPOIB_STAT_TX_PATH_FAILED), 1ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->fabric.resolves), 2);
	fixture_answer(test, 11, 0);
}

/* GIDs that differ anywhere differ in their hash, or peers could choose many with the same */
static void path_hash_of_prefix(struct kunit *test)
{
	u32 same = 0, seed, hash, i;
	union ib_gid gid;

	for (seed = 0; seed < 4; seed++) {
		fixture_gid(&gid, 9);
		hash = ipoib_gid_hash(gid.raw, sizeof(gid), seed);
		for (i = 1; i < 64; i++) {
			fixture_gid(&gid, 9);
			gid.raw[3] ^= i;
			gid.raw[7] ^= i;
			same += ipoib_gid_hash(gid.raw, sizeof(gid), seed) == hash;
		}
	}
	KUNIT_EXPECT_LE(test, same, 1u);
}

static struct kunit_case paths_cases[] = {
	KUNIT_CASE(path_changes_while_asked),
	KUNIT_CASE(path_waits_too_long),
	KUNIT_CASE(path_hash_of_prefix),
	{}
};

static struct kunit_suite paths_suite = {
	.name = "ipoib_paths",
	.suite_init = driver_begin,
	.suite_exit = driver_end,
	.init = fixture_init_unanswered,
	.exit = fixture_exit,
	.test_cases = paths_cases,
};

kunit_test_suites(&paths_suite);
