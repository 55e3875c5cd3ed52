// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: the expectations of scenarios.
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
 * ibrc_expect() - Note an expectation that fails.
 * @run: the run
 * @holds: whether it holds
 * @got: the actual value
 * @wanted: the expected value
 * @what: a format that names the value
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
 * ibrc_expect_is() - Expect a value.
 * @run: the run
 * @got: the actual value
 * @wanted: the expected value
 * @what: a format that names the value
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
 * ibrc_expect_least() - Expect at least a value.
 * @run: the run
 * @got: the actual value
 * @least: the minimum
 * @what: the name of the value
 *
 * Context: the run.
 */
void ibrc_expect_least(struct ibrc_run *run, u64 got, u64 least, const char *what)
{
	ibrc_expect(run, got >= least, got, least, "%s", what);
}

/**
 * ibrc_expect_error() - Expect an error, or success.
 * @run: the run
 * @ret: the result, 0 or a negative errno
 * @wanted: the errno that is expected, or 0
 * @what: the name of the operation
 *
 * Context: the run.
 */
void ibrc_expect_error(struct ibrc_run *run, int ret, int wanted, const char *what)
{
	ibrc_expect_is(run, -ret, wanted, "%s: error", what);
}

/**
 * ibrc_expect_events() - Wait for a number of events, and expect no more.
 * @run: the run
 * @type: type of the events
 * @n: how many since the run began
 * @ms: for how long no more may come
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
