# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The debug kernel detects each kind of bug, and the verdict on the guest is failure; cases
# choose their kernels.
# runs: host
# kernel: debug
# timeout: 400
# soak: 600

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)
modules=$("$qemu/build.sh" debug)

# guest_fails NAME: a guest that runs the script on standard input must fail.
guest_fails()
{
	local run=$work/$1

	{ echo '. /cases/lib.sh' && cat; } >"$work/$1.sh"
	if "$qemu/guest.sh" --kernel debug --timeout 400 \
		--append kasan_multi_shot \
		--modules "$modules/fabric" --modules "$modules/probes" \
		"$work/$1.sh" "$run"; then
		echo "passed: $1"
		exit 1
	fi
	cat "$run/result"
}

# commits BUG...: a guest that commits these bugs must fail.
commits()
{
	guest_fails "$1" < <(commit "$@")
}

# commit BUG...: prints the script that commits them.
commit()
{
	cat <<-E
		module_insert /modules/ibwrong.ko
		for bug in $*; do
			echo "\$bug" >/sys/kernel/debug/ibwrong/do
		done
	E
}

# Memory that is mapped for an HCA is never unmapped
unmap_not()
{
	cat <<-'E'
		fabric_start hcas=1
		module_insert /modules/ibdma.ko
		dma_do ibfab0 leak
	E
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

# The short form commits one bug for each tool, all in one guest. The long form commits all
# bugs, in several guests, as lockdep reports only one problem per boot.
if [ -z "${SOAK:-}" ]; then
	guest_fails inversion < <(commit inversion sleep shift list-twice leak free-timer \
		read-freed && unmap_not)
	wanted inversion 'possible circular locking' \
		'sleeping function called from invalid context' \
		'UBSAN: shift-out-of-bounds' 'WARNING: .* __list_add_valid' \
		'unreferenced object .*size 64' 'ODEBUG: free active' \
		'KASAN: (slab-)?use-after-free in ibwrong_' \
		'DMA-API: leaked: ibfab\.0 .*DMA_FROM_DEVICE' \
		"the script's exit status is 1"
else
	commits inversion sleep shift list-twice
	commits rcu leak free-timer
	commits read-freed read-beyond
	guest_fails unmapped < <(unmap_not)
	wanted inversion 'possible circular locking' \
		'sleeping function called from invalid context' \
		'UBSAN: shift-out-of-bounds' 'WARNING: .* __list_add_valid' \
		"the script's exit status is 1"
	wanted rcu 'suspicious RCU usage' 'unreferenced object .*size 64' \
		'ODEBUG: free active'
	wanted read-freed 'KASAN: (slab-)?use-after-free in ibwrong_' \
		'KASAN: slab-out-of-bounds in ibwrong_'
	wanted unmapped 'DMA-API: leaked: ibfab\.0 .*DMA_FROM_DEVICE'
fi

# After lockdep has turned itself off the rest of the run proves nothing about locks
grep -q '^FAILED: .*debug_locks' "$work/inversion/transcript.log"

# A case for both kernels runs twice; its timeout is longer on the debug kernel
mkdir "$work/cases"
printf '# runs: host\n# kernel: both\n# timeout: 3\nsleep 5\n' \
	>"$work/cases/slow.sh"
printed=$("$qemu/check.sh" --jobs 1 --cases "$work/cases" \
	--results "$work/results") || :
echo "$printed"
grep -q '^FAIL  slow  ' <<<"$printed"
grep -q '^pass  slow@debug  ' <<<"$printed"
grep -qx '1 passed, 1 failed' <<<"$printed"
