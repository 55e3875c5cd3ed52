#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Judges a guest's run folder. Usage: judge.sh RUN-FOLDER LIMIT [SCRIPT]
# Writes `pass`, or the reasons for failure, one per line, to RUN-FOLDER/result; the exit
# status agrees. "# allow: REGEX" in the script's first comment lines, possibly more than
# once, excepts lines of the kernel log, which the case provokes.

. "$(dirname "$0")/common.sh"

run=$1 limit=$2 script=${3:-/dev/null}

# Kernel messages about errors. Names of features that the kernel switches on or off do not
# match ("lockdep is turned off").
patterns=(
	'WARNING:'
	'BUG:'
	'kernel BUG at'
	'possible circular locking'
	'INFO: possible'
	'INFO: suspicious RCU usage'
	'suspicious RCU usage'
	'inconsistent lock state'
	'possible recursive locking'
	'lock held when returning'
	'possible irq lock inversion'
	'possible unsafe locking scenario'
	'INFO: trying to register non-static key'
	'INFO: lockdep is turned off'
	'DEBUG_LOCKS_WARN_ON'
	'KASAN:'
	'KFENCE:'
	'KCSAN:'
	'UBSAN:'
	'unreferenced object'
	'[Mm]emory leak detector disabled'
	'turning off the locking correctness validator'
	'ref_tracker:'
	'(Poison|Redzone|[Pp]adding) overwritten'
	'pagealloc:'
	'stalled pool shutdown'
	'blocked for more than'
	'soft lockup'
	'hard LOCKUP'
	'rcu.*detected.*stall'
	'rcu.*kthread starved'
	'refcount_t:'
	'Call Trace'
	'Oops'
	'general protection fault'
	'Kernel panic'
	'Unable to handle kernel'
	'unable to handle page fault'
	'scheduling while atomic'
	'sleeping function called from invalid context'
	'ODEBUG:'
	'DMA-API: leaked'
	'DMA-API: debugging (out of memory|disabled)'
	'swiotlb buffer is full'
	'list_(add|del) corruption'
	'waiting for .* to become free'
	'Objects remaining in'
	'Slab cache still has objects'
	'page allocation failure'
	'asks to queue packet'
	'suspect GRO implementation'
	'protocol [0-9a-f]+ is buggy'
	'NAPI poll function .* returned'
	'NETDEV WATCHDOG'
	'huh, entered'
	'Dead loop on virtual device'
	'debugfs: .* already present'
	'segfault at'
	'trap (invalid opcode|divide error|int3)'
	'Bad (page (state|map)|rss-counter)'
	'nobody cared'
	'end trace'
	'printk messages dropped'
)

# allowed: prints the regexes that the script allows, one per line.
allowed()
{
	sed -n '/^[^#]/q; /^$/q; s/^# allow: *\(..*\)/\1/p' "$script"
}

# matching OPTION... FILE: grep, whose status 1 only means that there is no match.
matching()
{
	grep -aE "$@" || [ $? -eq 1 ]
}

# The script's beginning and end are logged. Without those lines the log is incomplete. The
# script's status must agree in both places.
console_reasons()
{
	local log=$run/console.log mark status spared

	spared=$(allowed)
	for mark in begins ends; do
		grep -aqE "ib-ipoib: .* $mark" "$log" ||
			echo "kernel log: no line where the script $mark"
	done
	status=$(sed -n 's/^status \([0-9]*\).*/\1/p' "$run/verdict")
	[ "$status" != 0 ] || matching 'ib-ipoib: .* ends with [1-9]' "$log"
	matching "$(printf '%s\n' "${patterns[@]}")" "$log" |
		matching -v "${spared:-^$}" >"$run/suspect"
	head -n 20 "$run/suspect" | tr -d '\r' | sed 's/^/kernel log: /'
	rm "$run/suspect"
}

verdict_reasons()
{
	local status stopped

	stopped=$(sed -n 's/^stopped //p' "$run/verdict" | tr -d '\r')
	if [ -n "$stopped" ]; then
		echo "stopped: $stopped"
		return
	fi
	status=$(sed -n 's/^status \([0-9]*\).*/\1/p' "$run/verdict")
	case $status in
	0) ;;
	'') echo "no verdict: the guest ended early, or hung" ;;
	*) echo "the script's exit status is $status" ;;
	esac
}

qemu_reasons()
{
	local status

	status=$(cat "$run/qemu.status")
	case $status in
	0) ;;
	124 | 137) echo "ended at its limit of $limit s" ;;
	*) echo "qemu's exit status is $status: $(tail -n 3 "$run/qemu.log")" ;;
	esac
}

{
	qemu_reasons
	verdict_reasons
	console_reasons
} >"$run/result.new"
if [ -s "$run/result.new" ]; then
	mv "$run/result.new" "$run/result"
	exit 1
fi
rm "$run/result.new"
echo pass >"$run/result"
