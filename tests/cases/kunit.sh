# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The driver's KUnit suites: addresses, MGIDs, P_Keys, the states of links, paths and groups,
# rings, and error paths.
# kernel: debug
# timeout: 120

. /cases/lib.sh
. /cases/lib-kunit.sh

# has_own_address DEVICE: whether it has a link-local address for which DAD has found no duplicate.
has_own_address()
{
	ip -6 -o address show dev "$1" scope link -tentative | grep -q fe80
}

# For the suite of rxe devices: two on the ends of a veth pair
modprobe rdma_rxe
ip link add v0 type veth peer name v1
for k in 0 1; do
	ip link set "v$k" addrgenmode eui64 mtu 4200
	ip link set "v$k" up
done
for k in 0 1; do
	wait_for 20 has_own_address "v$k"
	rdma link add "rxe$k" type rxe netdev "v$k" || fail "no rxe device"
done

# No message is rate-limited, so that KASAN checks what all messages read
echo 0 >/proc/sys/net/core/message_cost
# Interfaces that a test sets up must send only what the test sends
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
echo 1 >/sys/kernel/rcu_expedited
# insmod waits for all tests
echo 120 >/proc/sys/kernel/hung_task_timeout_secs
fault_injection_allow
rdma resource show >/run/resources
step "The suites"
now_ms
begin=$now_ms
kunit_run ib_ipoib_kunit
now_ms
note "$((now_ms - begin)) ms"

step "The module is the whole driver; it is unloaded, and no object of the HCAs is left"
wait_for 10 test -e /sys/class/net/roce1
wait_for 10 rmmod ib_ipoib_kunit
rdma resource show | diff /run/resources -
