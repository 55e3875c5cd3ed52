# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For guests with perf, see tests/bench/common.sh. Sources lib.sh.

# shellcheck source=lib.sh
. /cases/lib.sh

# perf_profile LINES CMD...: profiles the machine while CMD runs, and prints the top functions
# on LINES lines that begin with "profile". Samples are only taken while interrupts are
# enabled: time with interrupts disabled is attributed to where they are enabled again.
perf_profile()
{
	_lines=$1
	shift
	LD_LIBRARY_PATH=/perf perf record -q -e cpu-clock -F 20000 -a -o /run/perf.data -- "$@"
	LD_LIBRARY_PATH=/perf perf report -i /run/perf.data --stdio --no-children \
		--sort symbol 2>/run/perf.log |
		awk '/^ +[0-9.]+%/ { printf "profile  %7s  %s\n", $1, $3 }' >/run/perf.report
	assert test "$(wc -l </run/perf.report)" -ge "$_lines"
	head -n "$_lines" /run/perf.report
}
