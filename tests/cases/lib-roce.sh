# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# For cases of two guests with RoCE (rxe) ports on one Ethernet link; sources the other
# libraries. The IPoIB netdevice roce0 goes to the namespace h0; the Ethernet netdevice stays
# where rxe needs it.

# shellcheck source=lib.sh
. /cases/lib.sh
# shellcheck source=lib-pair.sh
. /cases/lib-pair.sh

# shellcheck disable=SC2034  # the caller's
if pair_here a; then
	part=1 other_part=2
else
	part=2 other_part=1
fi
mac=52:54:00:00:00:0$ROLE

# ethernet_has PATTERN: whether one of its IPv6 addresses matches.
ethernet_has()
{
	ip -6 -o address show dev "$trunk" | grep -q "$1"
}

# ethernet_up MTU: sets it up, with the link-local address derived from the MAC address.
ethernet_up()
{
	ip link set dev "$trunk" down
	ip link set dev "$trunk" addrgenmode eui64 mtu "$1" address "$mac"
	ip link set dev "$trunk" up
	wait_for 20 ethernet_has fe80::5054:ff:fe00:
}

# rxe_up: adds the rxe device, and waits for the driver's netdevice.
rxe_up()
{
	modprobe rdma_rxe
	rdma link add rxe0 type rxe netdev "$trunk" || fail "no rxe device"
	wait_for 10 test -e /sys/class/net/roce0
}

# roce0_up: moves it to its namespace, with addresses, and waits for the carrier.
roce0_up()
{
	ip link set roce0 netns h0
	ip -n h0 link set roce0 up
	ip -n h0 address add "10.0.0.$part/24" dev roce0
	ip -n h0 -6 address add "fd00::$part/64" dev roce0 nodad
	wait_for 20 has_carrier h0 roce0
}

# roce_start MTU [PARAMETER...]: sets everything up, in both guests.
roce_start()
{
	ethernet_up "$1"
	shift
	ipoib_load "$@"
	ip netns add h0
	ip -n h0 link set lo up
	rxe_up
	roce0_up
	pair_barrier roce
}

# pings ADDRESS [ARGUMENT...]: whether a ping is answered.
pings()
{
	on h0 ping -q -c 1 -W 1 "$@"
}
