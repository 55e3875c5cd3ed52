# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-roce.sh
# Two hosts with RoCE (rxe) ports: both families, all sizes, TCP, UDP, multicast, down and up,
# a changed MTU or GID of the Ethernet netdevice, and removal of the port under traffic.
# guests: 2
# timeout: 400
# smp: 1
# mem: 768
# kernel: stock 6.12 newest

. /cases/lib-roce.sh

other4=10.0.0.$other_part other6=fd00::$other_part
if pair_here a; then other_role=b; else other_role=a; fi
# As in /proc/net/igmp6
broadcast_group=ff12401bffff000000000000ffffffff
other_gid=fe80:00:00:00:00:00:00:50:54:00:ff:fe:00:00:0$other_role

# each_pings [ARGUMENT...]: both guests ping each other in both families.
each_pings()
{
	pair_barrier pinging
	for _address in "$other4" "$other6"; do
		wait_for 20 pings "$_address" "$@"
		pings_all h0 5 "$@" "$_address"
	done
	pair_barrier pinged
}

mtu_is()
{
	[ "$(on h0 cat /sys/class/net/roce0/mtu)" -eq "$1" ]
}

gone()
{
	not ip -n h0 link show roce0
}

# received LEAST: the interface has received at least LEAST packets.
received()
{
	[ "$(netdev_counter h0 roce0 rx_packets)" -ge "$1" ]
}

# heard FILE: datagrams of the other guest were received, and none of this guest itself.
heard()
{
	grep -qx "from part $other_part" "$1"
}

# say NAME TARGET: sends until the other guest has received a datagram, and twenty times more.
say()
{
	pair_talk "$1" "from part $part" 0.5 | on h0 socat -u STDIN "$2"
}

# multicast NAME LISTENER TARGET: both guests listen and send at once.
multicast()
{
	: >"/run/heard.$1"
	on h0 socat -u "$2" "OPEN:/run/heard.$1,append" &
	pair_barrier "listening-$1"
	say "$1" "$3" &
	_talker=$!
	wait_for 20 heard "/run/heard.$1"
	pair_put "heard.$1" yes
	wait "$_talker"
	wait_for 10 pair_heard_twenty "from part $other_part" "/run/heard.$1"
}

iperf()
{
	on h0 iperf3 -J -t 1 -c "$other4" "$@" >/run/iperf.json ||
		fail "iperf3: $(jq -r .error /run/iperf.json)"
}

refused()
{
	_sentence=$1
	shift
	_said=$("$@" 2>&1) && fail "succeeded, but must fail: $*"
	assert_match "what the kernel says" "$_said" "$_sentence"
}

step "A netdevice for the rxe port, its address made of the port's GID"
roce_start 4500
assert_match "the address" "$(ip -n h0 link show roce0)" \
	"link/infiniband 00:[0-9a-f:]{8}:fe:80:00:00:00:00:00:00:50:54:00:ff:fe:00:00:0$ROLE brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff"
assert mtu_is 4092
assert_match "the Ethernet's groups" "$(ip maddress show dev "$trunk")" \
	'inet6 ff12:401b:ffff::ffff:ffff'
refused "default P_Key 0xffff only" ip -n h0 link add link roce0 name child type ipoib pkey 0x8001

step "Both families, all sizes; the neighbour table has 20-byte addresses"
each_pings
for size in 0 1000 4064 20000; do
	each_pings -s "$size"
done
assert_match "the neighbour" "$(ip -n h0 neigh show "$other4")" \
	"lladdr 00:[0-9a-f:]{8}:$(echo "$other_gid" | sed 's/fe80:/fe:80:/') "
assert_match "the path" "$(cat /sys/kernel/debug/ipoib/roce0*_path)" 'complete: +yes'

step "Multicast each way, both families"
on h0 ip route add 239.0.0.0/8 dev roce0
on h0 ip -6 route add ff15::/16 dev roce0 table local
multicast v4 "UDP4-RECV:5004,ip-add-membership=239.1.2.3:10.0.0.$part" \
	"UDP4-SENDTO:239.1.2.3:5004,ip-multicast-if=10.0.0.$part,ip-multicast-loop=0"
assert_eq "who was heard" "$(sed 's/^[0-9]* //' /run/heard.v4 | sort -u)" "from part $other_part"
multicast v6 "UDP6-RECV:5006,ipv6-join-group=[ff15::123]:roce0" \
	"UDP6-SENDTO:[ff15::123]:5006"

step "TCP and UDP"
iperf_server h0
pair_barrier servers
for turn in a b; do
	if pair_here "$turn"; then
		iperf
		rate=$(jq '.end.sum_received.bits_per_second / 1e6 | floor' /run/iperf.json)
		note "TCP: $rate Mbit/s, $(jq .end.sum_sent.retransmits /run/iperf.json) retransmitted"
		assert test "$rate" -ge 1
		iperf -u -b 2M -l 1400
		note "UDP: $(jq '.end.sum.packets, .end.sum.lost_packets' /run/iperf.json | tr '\n' ' ')packets, lost"
		assert test "$(jq .end.sum.packets /run/iperf.json)" -gt 150
		assert_eq "datagrams lost" "$(jq .end.sum.lost_packets /run/iperf.json)" 0
	fi
	pair_barrier "iperf-$turn"
done

step "Down and up"
if pair_here a; then
	assert grep -q "$broadcast_group" /proc/net/igmp6
	ip -n h0 link set roce0 down
	wait_for 10 not grep -q "$broadcast_group" /proc/net/igmp6
	ip -n h0 link set roce0 up
	ip -n h0 -6 address replace "fd00::$part/64" dev roce0 nodad
	wait_for 20 has_carrier h0 roce0
fi
pair_barrier up
each_pings

! brief || exit 0

step "The Ethernet goes down: no carrier; and up"
if pair_here a; then
	ip link set "$trunk" down
	wait_for 20 not has_carrier h0 roce0
	ip link set "$trunk" up
	wait_for 20 has_carrier h0 roce0
fi
each_pings

step "The Ethernet's MTU changes: so does the interface's limit"
pair_barrier mtu
ip link set "$trunk" mtu 2500
wait_for 20 mtu_is 2044
each_pings -s 1900
pair_barrier smaller
ip link set "$trunk" mtu 4500
wait_for 20 mtu_is 4092
each_pings -s 4000

step "The Ethernet gets another link-local address: so does the interface, and peers find it"
pair_barrier gid
if pair_here a; then
	ip -6 address add fe80::aaaa/64 dev "$trunk" nodad
	ip -6 address delete fe80::5054:ff:fe00:a/64 dev "$trunk"
	has_new_gid()
	{
		ip -n h0 link show roce0 | grep -q 'fe:80:00:00:00:00:00:00:00:00:00:00:00:00:aa:aa brd'
	}
	wait_for 20 has_new_gid
	wait_for 20 has_carrier h0 roce0
fi
# The link may be taken down for a moment when the groups are joined with the new GID
for address in "$other4" "$other6"; do
	wait_for 20 on h0 sh -c "ping -q -c 5 -i 0.1 -W 1 $address | grep ', 0% packet loss'"
done
each_pings

step "The port is removed under traffic, and comes again"
if pair_here b; then
	traffic_start flood on h0 ping -q -f -s 1000 "$other4"
	before=$(netdev_counter h0 roce0 rx_packets)
	wait_for 20 received $((before + 50))
	rdma link delete rxe0 || fail "rdma link delete"
	wait_for 10 gone
	# It may have ended already, as its address is gone
	kill -s INT -- "-$(cat /run/traffic.flood.pid)" || :
	rxe_up
	roce0_up
fi
each_pings
traffic_stop iperf.h0 >/run/iperf.end

step "The module is unloaded while the port exists"
ip -n h0 link set roce0 netns 1
rmmod ib_ipoib
refute grep -q 401b /proc/net/igmp6

step "Which ports get a netdevice"
refused "Invalid param" insmod /modules/ib_ipoib.ko roce=maybe
insmod /modules/ib_ipoib.ko roce=off
refute test -e /sys/class/net/roce0
rmmod ib_ipoib
insmod /modules/ib_ipoib.ko roce=all
assert test -e /sys/class/net/roce0
rmmod ib_ipoib
rdma link delete rxe0
