# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# Guest b's in-tree driver in connected mode opens a connection to this driver in guest a, and sends
# by it: both families, all sizes, TCP, ND. It ends with the interface, the module, and either host,
# and comes back.
# guests: 2
# timeout: 400
# soak: 400

. /cases/lib-trunk.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# begin: loads this guest's driver, and switches to connected mode in guest b.
begin()
{
	drivers_load
	pair_here a || mode_set h0 connected
	pair_here a || ip -n h0 link set "$dev" mtu 65520
}

# by_connection SIZE...: guest b pings guest a with these sizes, over the connection.
by_connection()
{
	if pair_here b; then
		wait_for 20 pings h0 10.0.0.1
		wait_for 20 pings h0 fd00::1
		# The first packets may still be datagrams
		wait_for 20 pings h0 -M "do" -s 60000 10.0.0.1
		for _size; do
			pings_all h0 3 -M "do" -s "$_size" 10.0.0.1
			pings_all h0 3 -M "do" -s "$_size" fd00::1
		done
	fi
	pair_barrier "pinged.$round"
	if pair_here a; then
		conns h0
		assert conns_are h0 1
		assert_match "the peer" "$(conns h0)" '^GID: fe80:0:0:0:21b:fa01:2:1$'
		assert_match "the service" "$(conns h0)" '^  service ID: 0x1000000000[0-9a-f]{6}$'
		assert_match "the MTU" "$(conns h0)" '^  receive MTU: +65524$'
		assert_match "the state" "$(conns h0)" '^  state: +live$'
	fi
	pair_barrier "checked.$round"
	round=$((round + 1))
}
round=0

# The long form is for HCAs without shared receive queues
trunk_start hcas=1 ${SOAK:+srq=0}
subnet_up a
ip netns add h0
ip -n h0 link set lo up
begin
pair_barrier begun

step "The address says that connections are accepted"
if pair_here a; then
	assert_match "the address" "$(on h0 cat "/sys/class/net/$dev/address")" '^80:'
fi

# The in-tree driver has it wait until the connection is there. Its QP would acknowledge, and drop,
# a first message with a PSN before the one that it expects.
step "The packet for which the peer connects arrives"
pair_here a || on h0 ping -n -q -c 1 -W 20 10.0.0.1 >/run/ping.log ||
	fail "no answer: $(cat /run/ping.log)"
pair_barrier first

step "Messages of all sizes"
by_connection 0 56 200 232 300 2016 4000 4040 4100 8100 60000 65464
if pair_here a; then
	assert_eq "connections" "$(stat_of h0 conns_accepted)" 1
	assert_eq "refused" "$(stat_of h0 conns_refused)" 0
	for name in rx_short rx_no_memory rx_forged; do
		assert_eq "$name" "$(stat_of h0 $name)" 0
	done
	assert_eq "rx_errors" "$(netdev_counter h0 "$dev" rx_errors)" 0
	assert_eq "rx_dropped" "$(netdev_counter h0 "$dev" rx_dropped)" 0
fi
pair_barrier counted

step "A file each way"
file_crosses 4 10.0.0.2
file_crosses 4 10.0.0.1 b

step "The interface goes down: the connection ends; and up"
if pair_here a; then
	now_ms
	begin=$now_ms
	ip -n h0 link set "$dev" down
	now_ms
	note "down in $((now_ms - begin)) ms"
	ip -n h0 link set "$dev" up
	wait_for 20 has_carrier h0 "$dev"
	ip -n h0 address replace fd00::1/64 dev "$dev" nodad
fi
pair_barrier up
by_connection 56 60000

step "The module is unloaded, and loaded again"
if pair_here a; then
	rmmod ib_ipoib || fail "cannot remove the driver"
	begin
fi
pair_barrier reloaded
by_connection 56 60000

step "The peer is unloaded: the connection ends"
if pair_here b; then
	intree_unload h0
fi
pair_barrier unloaded
! pair_here a || wait_for 20 conns_are h0 0
pair_here a || begin
# The in-tree driver does not announce its new address
! pair_here a || ip -n h0 neigh flush dev "$dev"
pair_barrier again
by_connection 56 60000

step "The HCA is unplugged with a connection"
! pair_here a || unplug ibfab0
pair_barrier end
