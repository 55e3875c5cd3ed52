// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: what a scenario expects.
 */
#include "ibrc.h"

__printf(4, 0)
static void note(struct ibrc_run *run, u64 got, u64 wanted, const char *what, va_list args)
{
	char *why = run->result->why;
	int n;

	if (run->result->wrong++)
		return;
	n = scnprintf(why, IBRC_WHY, " got %llu, wanted %llu: ", got, wanted);
	vscnprintf(why + n, IBRC_WHY - n, what, args);
}

/**
 * ibrc_expect() - Note what is not as it must be.
 * @run: the run
 * @holds: it is
 * @got: what it is
 * @wanted: what it must be
 * @what: a format: what it is about
 *
 * Context: the run.
 */
void ibrc_expect(struct ibrc_run *run, bool holds, u64 got, u64 wanted,
		 const char *what, ...)
{
	va_list args;

	if (holds)
		return;
	va_start(args, what);
	note(run, got, wanted, what, args);
	va_end(args);
}

/**
 * ibrc_expect_is() - Note a figure that is not the one it must be.
 * @run: the run
 * @got: what it is
 * @wanted: what it must be
 * @what: a format: what it is about
 *
 * Context: the run.
 */
void ibrc_expect_is(struct ibrc_run *run, u64 got, u64 wanted, const char *what, ...)
{
	va_list args;

	if (got == wanted)
		return;
	va_start(args, what);
	note(run, got, wanted, what, args);
	va_end(args);
}

/**
 * ibrc_expect_least() - Note a figure that is less than it may be.
 * @run: the run
 * @got: what it is
 * @least: what it must be at least
 * @what: what it is about
 *
 * Context: the run.
 */
void ibrc_expect_least(struct ibrc_run *run, u64 got, u64 least, const char *what)
{
	ibrc_expect(run, got >= least, got, least, "%s", what);
}

/**
 * ibrc_expect_error() - Note what does not end as it must.
 * @run: the run
 * @ret: how it did, 0 or a negative errno
 * @wanted: 0, or the errno that it must be
 * @what: what did
 *
 * Context: the run.
 */
void ibrc_expect_error(struct ibrc_run *run, int ret, int wanted, const char *what)
{
	ibrc_expect_is(run, -ret, wanted, "%s: error", what);
}

/**
 * ibrc_expect_events() - Wait for so many events, and note if there were others.
 * @run: the run
 * @type: of which type
 * @n: how many since the run began
 * @ms: how long none may follow
 *
 * Context: the run.
 * Return: 0 or -ENODEV.
 */
int ibrc_expect_events(struct ibrc_run *run, enum ib_event_type type, u64 n, u32 ms)
{
	const atomic_t *events = &run->result->events[type];

	wait_event_idle_timeout(ibrc_wait, atomic_read(events) >= n || ibrc_gone(run),
				run->params.stall * HZ);
	ibrc_settle(run, ms);
	ibrc_expect_is(run, atomic_read(events), n, "events %u", type);
	return ibrc_gone(run) ? -ENODEV : 0;
}
