# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# This driver in guest a, in connected mode, opens a connection to the in-tree driver in guest b, in
# both of its modes: all sizes, both families, files, multicast, loss, and either end that goes.
# guests: 2
# timeout: 400
# soak: 400

. /cases/lib-trunk.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# begin: loads this guest's driver, and switches to connected mode in guest a.
begin()
{
	drivers_load
	! pair_here a || mode_set h0 connected
}

# crosses: packets of all sizes, those of guest a by a connection.
crosses()
{
	if pair_here a; then
		wait_for 20 pings h0 10.0.0.2
		wait_for 20 pings h0 fd00::2
		wait_for 20 opens h0 1 10.0.0.2
		for _size; do
			pings_all h0 3 -s "$_size" 10.0.0.2
			pings_all h0 3 -s "$_size" fd00::2
		done
		conns h0
		assert_match "the service" "$(conns h0)" \
			'^  service ID: 0x1000000000[0-9a-f]{6}$'
	fi
	pair_barrier "crossed.$round"
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

step "The in-tree driver in datagram mode receives by the connection, and sends datagrams"
crosses 0 56 2016 2017 4100 60000 65464
if pair_here a; then
	# It does not listen to the Service ID of RFC 4755, which is not tried without SRQs
	assert_eq "requests refused" "$(stat_of h0 conns_failed)" $((${SOAK:-0} ? 0 : 1))
	assert_eq "opened" "$(stat_of h0 conns_opened)" 1
	assert_eq "accepted" "$(stat_of h0 conns_accepted)" 0
	for name in tx_conn_lost tx_conn_queue_full; do
		assert_eq "$name" "$(stat_of h0 $name)" 0
	done
fi
pair_barrier counted
file_crosses 4 10.0.0.2
file_crosses 4 10.0.0.1 b

step "And in connected mode, it opens a connection of its own"
if pair_here b; then
	mode_set h0 connected
	ip -n h0 link set "$dev" mtu 65520
	wait_for 20 pings h0 -M "do" -s 60000 10.0.0.1
fi
pair_barrier both
crosses 56 2017 60000 65464
if pair_here a; then
	assert_eq "accepted" "$(stat_of h0 conns_accepted)" 1
	assert_eq "opened" "$(stat_of h0 conns_opened)" 1
	for size in 60000 65463 65464; do
		pings_all h0 3 -M "do" -s $size 10.0.0.2
		pings_all h0 3 -M "do" -s $size fd00::2
	done
fi
pair_barrier whole
file_crosses 8 10.0.0.2
file_crosses 8 10.0.0.1 b

step "A UDP datagram of 60000 octets to a group arrives at the in-tree driver in fragments"
group_came()
{
	[ "$(stat -c %s /run/group)" -ge 60000 ]
}
if pair_here b; then
	traffic_start group on h0 socat -u -b 65536 \
		"UDP4-RECV:6002,rcvbuf=400000,ip-add-membership=239.1.2.3:$dev" \
		OPEN:/run/group,creat,trunc
	wait_for 10 listening h0 6002 u
	pair_barrier listening
	wait_for 20 group_came
	pair_put group "$(head -c 60000 /run/group | sha256sum)"
	traffic_stop group
else
	pair_barrier listening
	dd if=/dev/urandom of=/run/group bs=60000 count=1 status=none
	ip -n h0 route replace 239.0.0.0/8 dev "$dev"
	traffic_start group on h0 sh -c 'while :; do
		socat -u -b 60000 OPEN:/run/group \
			UDP4-DATAGRAM:239.1.2.3:6002,ip-multicast-if=10.0.0.1,sndbuf=400000
		sleep 0.5
	done'
	assert_eq "what arrived" "$(pair_get group)" "$(sha256sum </run/group)"
	traffic_stop group
fi
pair_barrier grouped

# ends: prints the figures that say whether a connection of guest a has ended.
ends()
{
	echo "$(stat_of h0 conns_opened) $(stat_of h0 conns_failed) $(stat_of h0 tx_conn_lost)"
}

step "A trunk that loses frames: nothing is lost to the connection"
! pair_here a || was=$(ends)
ip link set "$trunk" mtu 1500
tc qdisc replace dev "$trunk" root netem loss 1% limit 4000
pair_barrier lossy
file_crosses 4 10.0.0.2
tc qdisc replace dev "$trunk" root pfifo limit 2000
if pair_here a; then
	assert [ "$(trunk_figure packets_resent)" -gt 0 ]
	assert_eq "opened, failed, lost" "$(ends)" "$was"
fi
pair_barrier lossless

step "The peer's interface goes down under a stream of pings, and comes back"
if pair_here a; then
	traffic_start stream on h0 ping -i 0.05 -s 3000 10.0.0.2
	pair_barrier streaming
	wait_for 30 opened_is h0 0
else
	pair_barrier streaming
	ip -n h0 link set "$dev" down
fi
pair_barrier gone
if pair_here b; then
	ip -n h0 link set "$dev" up
	wait_for 20 has_carrier h0 "$dev"
	ip -n h0 address replace fd00::2/64 dev "$dev" nodad
fi
pair_barrier up
crosses 56 60000
! pair_here a || traffic_stop stream

step "The peer is unloaded, and loaded again: another address"
if pair_here b; then
	intree_unload h0
	begin
fi
pair_barrier reloaded
! pair_here a || ip -n h0 neigh flush dev "$dev"
crosses 56 60000

step "This module is unloaded with connections"
! pair_here a || rmmod ib_ipoib || fail "cannot remove the driver"
pair_barrier end
