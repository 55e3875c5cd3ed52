# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A RoCE port has no SA: the Address Translation Service answers from what its interface has, and takes a GID for an address, in its namespace alone; the device goes.
# timeout: 90

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

unknown()
{
	not ask "$@" && grep -q 'Network is unreachable' /run/ask.log
}

# lists LINE...: what ibats says of the interface's addresses.
lists()
{
	ibats -j list | jq -r '.[] | "\(.address) \(.state) \(.primary)"' >/run/list
	printf '%s\n' "$@" | diff - /run/list
}

# has_own_address DEVICE: a link-local one, that is no other's.
has_own_address()
{
	ip -6 -o address show dev "$1" scope link -tentative | grep -q fe80
}

modprobe rdma_rxe
ip link add v0 type veth peer name v1
ip link set v0 addrgenmode eui64 address 52:54:00:00:00:01 mtu 4200 up
ip link set v1 mtu 4200 up
wait_for 20 has_own_address v0
rdma link add rxe0 type rxe netdev v0 || fail "no rxe device"
ipoib_load
insmod /modules/ib_ats.ko
insmod /modules/ibatsask.ko
wait_for 10 test -e /sys/class/net/roce0
ip link set roce0 up
ip address add 10.0.0.1/24 dev roce0
ip address add 10.0.0.2/24 dev roce0
gid=fe80::5054:ff:fe00:1
sid=0x10000ce1004154

step "What the interface has is known"
wait_for 10 ask hca=rxe0 addr=10.0.0.2
answered "$gid 0xffff ${sid}54 10.0.0.2"
ask "gid=$gid"
answered "$gid 0xffff ${sid}53 10.0.0.1 primary" "$gid 0xffff ${sid}54 10.0.0.2"
ask "primary=$gid" pkey=0xffff
answered "$gid 0xffff ${sid}53 10.0.0.1 primary"
ask "addr=$gid"
answered "$gid 0xffff ${sid}53 $gid primary"
assert unknown addr=10.0.0.3
assert unknown addr=10.0.0.1 pkey=0x8001

step "User space sees it, in the interface's own namespace alone"
ip netns add h1
wait_for 10 lists '10.0.0.1 local true' '10.0.0.2 local false'
assert_eq "the SA" "$(ibats -j stats | jq -r '.[].sa')" none
for what in "resolve 10.0.0.2" "resolve $gid" "reverse $gid" "reverse --primary $gid" \
	"sid ${sid}53"; do
	# shellcheck disable=SC2086  # words
	assert ibats $what
	status=0
	# shellcheck disable=SC2086  # words
	on h1 ibats $what || status=$?
	assert_eq "another namespace's status of $what" "$status" 3
done
assert_eq "another namespace's list" "$(on h1 ibats -j list)" '[]'
on h1 ibats --json monitor >/run/monitor &
monitor=$!
ibats primary roce0 10.0.0.2
wait_for 10 lists '10.0.0.1 local false' '10.0.0.2 local true'
ibats primary roce0
wait_for 10 lists '10.0.0.1 local true' '10.0.0.2 local false'
kill "$monitor"
status=0
wait "$monitor" || status=$?
assert_eq "the monitor's status, of who was killed" "$status" 143
refute test -s /run/monitor

step "What it has no more is not"
ip address delete 10.0.0.1/24 dev roce0
wait_for 10 unknown addr=10.0.0.1

step "The device goes, and comes"
rdma link delete rxe0
refute ask hca=rxe0 addr=10.0.0.2
rdma link add rxe0 type rxe netdev v0
wait_for 10 test -e /sys/class/net/roce0
ip link set roce0 up
ip address add 10.0.0.5/24 dev roce0
wait_for 10 ask hca=rxe0 addr=10.0.0.5
rmmod ibatsask
rmmod ib_ats
