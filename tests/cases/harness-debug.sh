# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The debug kernel notices each kind of bug, and the judge fails the guest for it; cases choose their kernels.
# runs: host
# kernel: debug
# timeout: 120
# when: soak
# soak: 600

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)
modules=$("$qemu/build.sh" debug)

# commits BUG...: a guest that has them must fail.
commits()
{
	local run=$work/$1

	cat >"$work/$1.sh" <<-E
		. /cases/lib.sh
		module_insert /modules/ibwrong.ko
		for bug in $*; do
			echo "\$bug" >/sys/kernel/debug/ibwrong/do
		done
	E
	if "$qemu/guest.sh" --kernel debug --timeout 120 \
		--append kasan_multi_shot --modules "$modules/fabric" \
		"$work/$1.sh" "$run"; then
		echo "passed with $*"
		exit 1
	fi
	cat "$run/result"
}

# wanted RESULT REGEX...
wanted()
{
	local result=$work/$1/result regex

	shift
	for regex; do
		grep -qE "$regex" "$result" || {
			echo "$result lacks '$regex'"
			exit 1
		}
	done
}

commits inversion sleep shift list-twice
commits rcu leak free-timer
commits read-freed read-beyond

wanted inversion 'possible circular locking' \
	'sleeping function called from invalid context' \
	'UBSAN: shift-out-of-bounds' 'WARNING: .* __list_add_valid' \
	"the script's exit status is 1"
wanted rcu 'suspicious RCU usage' 'unreferenced object .*size 64' \
	'ODEBUG: free active'
wanted read-freed 'KASAN: (slab-)?use-after-free in ibwrong_' \
	'KASAN: slab-out-of-bounds in ibwrong_'

# Without lockdep the rest of the run has shown nothing about locks
grep -q '^FAILED: .*debug_locks' "$work/inversion/transcript.log"

# A case of both kernels is two runs; on the debug kernel it may take longer
mkdir "$work/cases"
printf '# runs: host\n# kernel: both\n# timeout: 3\nsleep 5\n' \
	>"$work/cases/slow.sh"
printed=$("$qemu/check.sh" --jobs 2 --cases "$work/cases" \
	--results "$work/results") || :
echo "$printed"
grep -q '^FAIL  slow  ' <<<"$printed"
grep -q '^pass  slow@debug  ' <<<"$printed"
grep -qx '1 passed, 1 failed' <<<"$printed"
