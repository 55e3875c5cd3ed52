# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Kernel messages about errors each fail a run; ordinary messages do not.
# runs: host
# timeout: 60

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

# judged LINE [SCRIPT]: prints the verdict on a run whose kernel log has LINE.
judged()
{
	mkdir -p "$work/run"
	{
		echo '[    1.000000] ib-ipoib: /cases/x.sh begins'
		printf '[    2.000000] %s\n' "$1"
		echo '[    3.000000] ib-ipoib: /cases/x.sh ends with 0'
	} >"$work/run/console.log"
	echo 0 >"$work/run/qemu.status"
	echo 'status 0' >"$work/run/verdict"
	"$qemu/judge.sh" "$work/run" 60 "${@:2}"
}

# must_fail WHAT CMD...
must_fail()
{
	local what=$1

	shift
	! "$@" || { echo "passed, but must fail: $what" && bad=1; }
}

bad=0
while read -r line; do
	must_fail "$line" judged "$line"
done <<-'E'
	WARNING: CPU: 0 PID: 1 at net/core/dev.c:10 f+0x1/0x2
	WARNING: possible circular locking dependency detected
	WARNING: possible recursive locking detected
	WARNING: inconsistent lock state
	WARNING: suspicious RCU usage
	BUG: kernel NULL pointer dereference, address: 0000000000000008
	BUG: unable to handle page fault for address: ffffffffc0a01000
	BUG: sleeping function called from invalid context at mm/slab.h:1
	BUG: scheduling while atomic: sh/1/0x00000002
	BUG: KASAN: use-after-free in f+0x1/0x2
	BUG: KFENCE: out-of-bounds read in f+0x1/0x2
	BUG: spinlock bad magic on CPU#0, sh/1
	kernel BUG at lib/list_debug.c:10!
	list_add corruption. prev->next should be next
	UBSAN: shift-out-of-bounds in a.c:1:2
	INFO: possible irq lock inversion dependency detected
	INFO: trying to register non-static key.
	INFO: lockdep is turned off.
	INFO: task kworker/0:1:7 blocked for more than 20 seconds.
	watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [sh:1]
	rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
	rcu: INFO: rcu_preempt self-detected stall on CPU
	refcount_t: underflow; use-after-free.
	Oops: 0000 [#1] PREEMPT SMP NOPTI
	general protection fault, probably for non-canonical address 0xdead000000000108
	unreferenced object 0xffff888003a1b000 (size 64):
	kmemleak: Kernel memory leak detector disabled
	BUG: MAX_LOCKDEP_CHAINS too low!
	turning off the locking correctness validator.
	BUG kmalloc-64 (Tainted: G O): Right Redzone overwritten
	pagealloc: memory corruption
	page_pool_release_retry() stalled pool shutdown 1 inflight 60 sec
	ref_tracker: leaked reference.
	ODEBUG: free active (active state 0) object type: timer_list hint: f
	unregister_netdevice: waiting for ib0 to become free. Usage count = 2
	BUG x (Not tainted): Objects remaining in x on __kmem_cache_shutdown()
	Virtual device ib1 asks to queue packet!
	ib0: Driver has suspect GRO implementation, TCP performance may be compromised.
	protocol 0800 is buggy, dev ib0
	NAPI poll function ipoib_poll returned 65, exceeding its budget of 64.
	ib0: NETDEV WATCHDOG: CPU: 1: transmit queue 0 timed out 5672 ms
	huh, entered softirq 3 NET_RX 0000 with preempt_count 00000100, exited with 00000000?
	Dead loop on virtual device gre0, fix it urgently!
	debugfs: File 'ib0_path' in directory 'ipoib' already present!
	ibats[71]: segfault at 0 ip 0000555555555131 sp 00007fffffffe5e0 error 4 in ibats
	traps: ibats[71] trap invalid opcode ip:555555555131 sp:7fffffffe5e0 error:0
	traps: ibats[71] trap divide error ip:555555555131 sp:7fffffffe5e0 error:0
	BUG: Bad page state in process sh  pfn:03a1b
	BUG: Bad rss-counter state mm:(____ptrval____) type:MM_ANONPAGES val:1
	irq 11: nobody cared (try booting with the "irqpoll" option)
	---[ end trace 0000000000000000 ]---
	** 12 printk messages dropped **
	Call Trace:
	Kernel panic - not syncing: Fatal exception
	E

while read -r line; do
	if ! judged "$line"; then
		echo "failed, but must pass: $line: $(cat "$work/run/result")"
		bad=1
	fi
done <<-'E'
	ib_ipoib: loading out-of-tree module taints kernel.
	IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready
	kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
	rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.
	E

# A case may allow the kernel messages that it provokes, and no others
cat >"$work/case.sh" <<-'E'
	# A case.
	# allow: ib1: NETDEV WATCHDOG
	# allow: File 'ib[0-9]_(mcg|path)' .* already present

	# allow: WARNING
	E
for line in 'ib1: NETDEV WATCHDOG: CPU: 1: timed out' \
	"debugfs: File 'ib0_path' in directory 'ipoib' already present!"; do
	if ! judged "$line" "$work/case.sh"; then
		echo "allowed, and failed: $line"
		bad=1
	fi
done
for line in 'ib0: NETDEV WATCHDOG: CPU: 1: timed out' 'WARNING: CPU: 0 PID: 1 at net/core/dev.c:10'; do
	must_fail "not allowed: $line" judged "$line" "$work/case.sh"
done

# A log that ends early, or that reports a failure of the script, is not clean.
judged 'nothing'
sed -i 's/ends with 0/ends with 1/' "$work/run/console.log"
must_fail "a log of a script that failed" "$qemu/judge.sh" "$work/run" 60
echo '[    1.000000] ib-ipoib: /cases/x.sh begins' >"$work/run/console.log"
must_fail "half a log" "$qemu/judge.sh" "$work/run" 60
exit "$bad"
