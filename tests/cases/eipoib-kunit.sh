# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# KUnit suites of Ethernet over IPoIB: tables, packets that wait, and what becomes of each kind of
# packet on its way to the other side.
# kernel: debug
# timeout: 120
# soak: 2400

. /cases/lib.sh
. /cases/lib-kunit.sh

# No message is rate-limited, so that KASAN checks what all messages read
echo 0 >/proc/sys/net/core/message_cost
# Netdevices that a test sets up must send only what the test sends
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
echo 1 >/sys/kernel/rcu_expedited
# insmod waits for all tests
echo 120 >/proc/sys/kernel/hung_task_timeout_secs
step "The suites"
now_ms
begin=$now_ms
kunit_run eth_ipoib_kunit "fuzz_seed=${SEED:-1}" fuzz_frames=1000
now_ms
note "$((now_ms - begin)) ms"

# KUnit stops a test after five minutes
SUITE=${SUITE:-eipoib_fuzz}
for seed in $(seq "$(full_or 0 17)"); do
	step "20,000 random packets for each test of $SUITE, seed $seed"
	rmmod eth_ipoib_kunit
	kunit_run eth_ipoib_kunit "fuzz_seed=$seed" fuzz_frames=20000
done

step "The module is the whole one; it is unloaded"
ip link add dummy0 type dummy
must_fail ip link add link dummy0 name eth5 type eipoib
rmmod eth_ipoib_kunit
