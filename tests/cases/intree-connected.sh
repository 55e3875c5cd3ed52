# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The in-tree driver in connected mode: MTU 65520 in both directions over HCAs with and
# without SRQs, and back to datagram mode.
# timeout: 180

. /cases/lib.sh

# mode_set HOST MODE
mode_set()
{
	on "$1" sh -ec "echo $2 >/sys/class/net/$(dev_of "$1")/mode"
	assert_eq "mode of $1" \
		"$(on "$1" cat "/sys/class/net/$(dev_of "$1")/mode")" "$2"
}

mtu_of()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/mtu"
}

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

# rc HCA COUNTER
rc()
{
	fabric_counter "$1" "port1.rc.$2"
}

# rises HCA COUNTER LEAST CMD...
rises()
{
	_rhca=$1 _rname=$2 _rleast=$3 _was=$(rc "$1" "$2")
	shift 3
	assert "$@"
	_now=$(rc "$_rhca" "$_rname")
	[ $((_now - _was)) -ge "$_rleast" ] ||
		fail "$_rname of $_rhca went from $_was to $_now"
}

# sum_of REPORT sent|received: prints the octets. Some are received after the report.
sum_of()
{
	jq ".end.sum_$2.bytes" "$1"
}

fabric_start hcas=2 srq=0,1
opensm_start
intree_load
hosts_make 2

step "To connected mode: an MTU of 65520 may be set"
for host in h0 h1; do
	mode_set "$host" connected
	ip -n "$host" link set "$(dev_of "$host")" mtu 65520
	assert_eq "MTU of $host" "$(mtu_of "$host")" 65520
done
wait_for 30 pings h0 10.0.0.2
wait_for 30 pings h0 fd00::2

step "Each host has a connection to the other, and sends whole packets over it"
for size in 0 56 2044 4096 60000 65484; do
	note "IPv4, $size octets"
	rises ibfab1 acks_sent 3 \
		pings_all h0 3 -M "do" -s "$size" 10.0.0.2
	rises ibfab0 acks_sent 3 \
		pings_all h1 3 -M "do" -s "$size" 10.0.0.1
done
for size in 56 60000 65464; do
	note "IPv6, $size octets"
	rises ibfab1 acks_sent 3 \
		pings_all h0 3 -M "do" -s "$size" fd00::2
	rises ibfab0 acks_sent 3 \
		pings_all h1 3 -M "do" -s "$size" fd00::1
done
refute on h0 ping -q -c 1 -W 2 -M "do" -s 65500 10.0.0.2

step "TCP both ways at once"
for host in h0 h1; do
	iperf_server "$host"
done
on h0 iperf3 -J -n 64M -c 10.0.0.2 >/run/iperf.there.json &
there=$!
on h1 iperf3 -J -n 64M -c fd00::1 >/run/iperf.back.json &
back=$!
assert wait "$there"
assert wait "$back"
for way in there back; do
	note "$way: $(jq '.end.sum_received.bits_per_second / 1e6 | floor' \
		"/run/iperf.$way.json") Mbit/s"
	assert [ "$(sum_of "/run/iperf.$way.json" sent)" -ge 67108864 ]
	assert [ "$(sum_of "/run/iperf.$way.json" received)" -ge 50000000 ]
done
for host in h0 h1; do
	traffic_stop "iperf.$host" >/run/iperf.end
done

step "Nothing was lost or sent twice: these links lose nothing"
for hca in ibfab0 ibfab1; do
	note "$hca: $(grep 'rc\.' "$ibfab/$hca/counters" | tr '\n' ' ')"
	assert_eq "gaps of $hca" "$(rc "$hca" gaps)" 0
	assert_eq "NAKs of $hca" "$(rc "$hca" sequence_naks_sent)" 0
done

step "A connection that is lost with its cable is made again"
echo "ibfab1 1 down" >"$ibfab/cable"
refute pings h0 10.0.0.2
echo "ibfab1 1 up" >"$ibfab/cable"
wait_for 60 pings h0 10.0.0.2
wait_for 60 pings h1 10.0.0.1
rises ibfab1 acks_sent 1 on h0 ping -q -c 1 -W 10 -M "do" -s 60000 10.0.0.2

step "Back to datagram mode"
for host in h0 h1; do
	mode_set "$host" datagram
	assert_eq "MTU of $host" "$(mtu_of "$host")" 2044
done
wait_for 30 pings h0 10.0.0.2
wait_for 30 pings h0 fd00::2
acks=$(rc ibfab1 acks_sent)
pings_all h0 3 -s 60000 10.0.0.2
assert_eq "ACKs of ibfab1" "$(rc ibfab1 acks_sent)" "$acks"

step "The module is unloaded with its connections"
mode_set h0 connected
mode_set h1 connected
wait_for 30 pings h0 10.0.0.2
intree_unload h0 h1
refute netdev_of ibfab0
fabric_stop
