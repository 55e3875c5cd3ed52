# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Lines as kernels write them when something is wrong each fail a run; ordinary ones do not.
# runs: host
# timeout: 60

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

# judged LINE: the verdict on a run whose kernel log has LINE in it.
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
	"$qemu/judge.sh" "$work/run" 60
}

bad=0
while read -r line; do
	if judged "$line"; then
		echo "passed, and must not: $line"
		bad=1
	fi
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
	** 12 printk messages dropped **
	Call Trace:
	Kernel panic - not syncing: Fatal exception
	E

while read -r line; do
	if ! judged "$line"; then
		echo "failed, and must not: $line: $(cat "$work/run/result")"
		bad=1
	fi
done <<-'E'
	ib_ipoib: loading out-of-tree module taints kernel.
	IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready
	kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
	rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.
	E

# A log that ends early is not a clean one.
echo '[    1.000000] ib-ipoib: /cases/x.sh begins' >"$work/run/console.log"
if "$qemu/judge.sh" "$work/run" 60; then
	echo "passed, and must not: half a log"
	bad=1
fi
exit "$bad"
