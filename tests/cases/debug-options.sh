# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The debug kernel has all options that it was built for, and each is active.
# kernel: debug
# timeout: 60

. /cases/lib.sh

debug=/sys/kernel/debug

step "Its configuration"
zcat /proc/config.gz >/run/config
for option in KASAN KASAN_GENERIC KASAN_VMALLOC SLUB SLUB_DEBUG \
	UBSAN UBSAN_BOUNDS UBSAN_SHIFT UBSAN_BOOL UBSAN_ENUM \
	PROVE_LOCKING PROVE_RCU DEBUG_ATOMIC_SLEEP DEBUG_PREEMPT DEBUG_KMEMLEAK \
	DEBUG_OBJECTS DEBUG_OBJECTS_FREE DEBUG_OBJECTS_TIMERS \
	DEBUG_OBJECTS_WORK DEBUG_OBJECTS_RCU_HEAD \
	DEBUG_OBJECTS_PERCPU_COUNTER DEBUG_LIST DMA_API_DEBUG PAGE_POISONING \
	FAULT_INJECTION FAILSLAB FAIL_FUNCTION KUNIT GCOV_KERNEL; do
	assert grep -qx "CONFIG_$option=y" /run/config
done

step "Lockdep, kmemleak and debug objects watch"
assert grep -qE '^ *debug_locks: *1$' /proc/lockdep_stats
assert grep -qE '^ *dependency chains: *[1-9]' /proc/lockdep_stats
assert test -w "$debug/kmemleak"
assert_eq "the DMA API's checks are off" "$(cat "$debug/dma-api/disabled")" N
assert grep -qE '^pool_used *:[1-9]' "$debug/debug_objects/stats"

# wrong_says WORD TEXT: ibwrong commits a fault, and the log has this text
wrong_says()
{
	echo "$1" >"$debug/ibwrong/do"
	dmesg | tail -n 5 | grep "ibwrong: $2\$"
}

step "A freed page is poisoned"
module_insert /modules/ibwrong.ko
wrong_says freed-page 'a freed page holds 0xaa'

# on_order FOLDER: faults are injected as often as requested, without a stack trace for each
on_order()
{
	echo 0 >"$1/verbose"
	echo "$2" >"$1/times"
	echo 100 >"$1/probability"
}

step "Allocations fail on request"
echo N >"$debug/failslab/ignore-gfp-wait"
echo Y >"$debug/failslab/task-filter"
on_order "$debug/failslab" -1
echo 'echo 1 >/proc/self/make-it-fail; exec 3</proc/version' >/run/fails
must_fail sh -e /run/fails 2>/run/failed
assert_match "what fails" "$(cat /run/failed)" '[Oo]ut of memory|allocate memory'
assert sh -c 'exec 3</proc/version'
echo 0 >"$debug/failslab/probability"

step "Functions fail on request"
assert grep -q '^ibwrong_fallible' "$debug/error_injection/list"
echo ibwrong_fallible >"$debug/fail_function/inject"
echo 0xfffffffffffffff4 >"$debug/fail_function/ibwrong_fallible/retval"
on_order "$debug/fail_function" 1
wrong_says call "the function's status is -12"
wrong_says call "the function's status is 0"
echo >"$debug/fail_function/inject"
rmmod ibwrong

step "Unit tests, and gcov for modules that are built for it"
assert test -d "$debug/kunit"
dmesg >/run/dmesg
refute grep 'kunit: disabled' /run/dmesg
module_insert /modules/ib_ipoib.ko
assert test -d "$debug/gcov"
