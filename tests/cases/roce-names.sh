# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Interfaces of RoCE ports have a name prefix of their own, so those of InfiniBand ports are
# ib0 and ib1, whatever existed before.
# timeout: 90

. /cases/lib.sh

# names: prints the names of all IPoIB interfaces.
names()
{
	grep -lx 32 /sys/class/net/*/type | cut -d/ -f5 | sort | tr '\n' ' '
}

named()
{
	[ "$(names)" = "$1" ]
}

modprobe rdma_rxe
ip link add v0 type veth peer name v1
ip link set v0 mtu 4200 up
ip link set v1 mtu 4200 up
rdma link add rxe0 type rxe netdev v0 || fail "no rxe device"
rdma link add rxe1 type rxe netdev v1 || fail "no rxe device"

step "RoCE ports first, then an HCA's"
ipoib_load
wait_for 10 named 'roce0 roce1 '
fabric_start hcas=2
wait_for 10 named 'ib0 ib1 roce0 roce1 '
for k in 0 1; do
	assert_eq "the interface of ibfab$k" "$(netdev_of "ibfab$k")" "ib$k"
done

step "The HCA is plugged in again, and the module is reloaded"
unplug ibfab0
wait_for 10 named 'ib1 roce0 roce1 '
plug ibfab0
wait_for 10 named 'ib0 ib1 roce0 roce1 '
rmmod ib_ipoib
ipoib_load
wait_for 10 named 'ib0 ib1 roce0 roce1 '
rdma link delete rxe0
rdma link delete rxe1
wait_for 10 named 'ib0 ib1 '
