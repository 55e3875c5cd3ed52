# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A RoCE port has no SA: the Address Translation Service ignores it, whatever addresses its
# interface has, and queries do, too.
# timeout: 90

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

modprobe rdma_rxe
ip link add v0 type veth peer name v1
ip link set v0 mtu 4200 up
ip link set v1 mtu 4200 up
rdma link add rxe0 type rxe netdev v0 || fail "no rxe device"
ipoib_load
insmod /modules/ib_ats.ko
insmod /modules/ibatsask.ko
wait_for 10 test -e /sys/class/net/roce0
ip link set roce0 up
ip address add 10.0.0.1/24 dev roce0
ip address add 10.0.0.2/24 dev v0

step "Nothing is registered, and queries fail"
# By then all interfaces have been checked twice
sleep 11
assert_eq "records" "$(ibats -j list)" '[]'
assert_eq "ports" "$(ibats -j stats)" '[]'
refute ask hca=rxe0 addr=10.0.0.1
assert_match "the error" "$(cat /run/ask.log)" 'No such device'
status=0
ibats resolve 10.0.0.1 || status=$?
assert_eq "status of a question" "$status" 3

step "The device goes, and comes"
rdma link delete rxe0
rdma link add rxe0 type rxe netdev v0
wait_for 10 test -e /sys/class/net/roce0
assert_eq "ports" "$(ibats -j stats)" '[]'
rmmod ibatsask
rmmod ib_ats
