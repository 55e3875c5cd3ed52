// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints the frequency of this machine's time stamp counter in kHz, which the
 * CPUs that QEMU emulates use as their own.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	100

struct reading {
	unsigned long long tsc;
	long long ns;
};

/* Reads both clocks; of many readings, the one with the least time in between */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	unsigned long long least = ~0ULL;
	int i;

	for (i = 0; i < TRIES; i++) {
		unsigned long long before = __rdtsc(), after;
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		best.tsc = before + least / 2;
		best.ns = ts.tv_sec * 1000000000LL + ts.tv_nsec;
	}
	return best;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	struct reading from = read_both(), to;

	nanosleep(&pause, NULL);
	to = read_both();
	printf("%llu\n", (unsigned long long)((to.tsc - from.tsc) * 1e6 / (to.ns - from.ns) + 0.5));
	return 0;
}
