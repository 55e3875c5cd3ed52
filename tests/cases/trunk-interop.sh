# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# This driver in one guest and the kernel's own in another reach each other: IPv4, IPv6, multicast, TCP and UDP, all sizes; with the SM on either side.
# guests: 2
# timeout: 600
# mem: 768

. /cases/lib-trunk.sh

own4=10.0.0.$part other4=10.0.0.$other_part
other6=fd00::$other_part
group4=239.1.2.3 group6=ff15::123

# pings ADDRESS [ARGUMENT...]: three answers, however late on a busy machine.
pings()
{
	on h0 ping -q -c 3 -i 0.2 -w 60 "$@" >/run/ping || {
		cat /run/ping
		fail "ping $*"
	}
}

# heard WHAT: by that listener, and not from this guest itself.
heard()
{
	grep -qx "from part $other_part" "/run/heard.$1"
}

# say WHAT TARGET: till the other guest heard it.
say()
{
	while [ ! -e "$pair/value.heard.$1" ]; do
		echo "from part $part" | on h0 socat -u STDIN "$2"
		sleep 0.5
	done
}

# multicast NAME LISTENER SENDER: each way at once.
multicast()
{
	: >"/run/heard.$1"
	on h0 socat -u "$2" "OPEN:/run/heard.$1,append" &
	pair_barrier "listening-$1"
	say "$1" "$3" &
	_talker=$!
	wait_for 20 heard "$1"
	pair_put "heard.$1" yes
	wait "$_talker"
}

step "Guest a: this driver. Guest b: the kernel's own."
trunk_start hcas=1
if pair_here a; then
	ipoib_load
	assert_eq "out of tree" "$(cat /sys/module/ib_ipoib/taint)" OE
else
	intree_load
	assert_eq "out of tree" "$(cat /sys/module/ib_ipoib/taint)" ""
fi
host_make h0 ibfab0 "$part"
dev=$(dev_of h0)

for sm in a b; do
	step "The SM in guest $sm"
	subnet_up "$sm"
	wait_for 20 has_carrier h0 "$dev"
	pair_barrier "carrier-$sm"
	wait_for 20 on h0 ping -q -c 1 -W 1 "$other4"
	wait_for 20 on h0 ping -q -c 1 -W 1 "$other6"
	pair_barrier "reached-$sm"
	for size in 0 56 2016 8000; do
		pings "$other4" -s "$size"
		pings "$other6" -s "$size"
	done
	assert_match "the neighbour" "$(ip -n h0 neigh show "$other4")" \
		"lladdr .*02:1b:fa:01:00:0$other_part:00:01 "
	pair_barrier "pinged-$sm"
	if [ "$sm" = a ]; then
		! pair_here a || opensm_stop
		pair_barrier stopped
	fi
done

step "Multicast, each way: IPv4 and IPv6 groups that only the two are in"
on h0 ip route add 239.0.0.0/8 dev "$dev"
on h0 ip -6 route add ff15::/16 dev "$dev" table local
multicast v4 "UDP4-RECV:5004,ip-add-membership=$group4:$own4" \
	"UDP4-SENDTO:$group4:5004,ip-multicast-if=$own4"
multicast v6 "UDP6-RECV:5006,ipv6-join-group=[$group6]:$dev" \
	"UDP6-SENDTO:[$group6]:5006"
assert_match "the SA's groups" "$(saquery -C ibfab0 MCMR)" \
	'ff12:401b:ffff::f01:203'

step "TCP, both ways and both families"
iperf_server h0
pair_barrier servers
for turn in a b; do
	if pair_here "$turn"; then
		for address in "$other4" "$other6"; do
			on h0 iperf3 -J -t 2 -c "$address" >/run/iperf.json ||
				fail "iperf3: $(jq -r .error /run/iperf.json)"
			rate=$(jq '.end.sum_received.bits_per_second / 1e6 | floor' /run/iperf.json)
			note "to $address: $rate Mbit/s"
			assert test "$rate" -ge 1
		done
	fi
	pair_barrier "tcp-$turn"
done
traffic_stop iperf.h0 >/run/iperf.end

step "A file: its octets are those that were sent"
file_crosses 4 "$other4"

step "No errors, and the link never went"
netdev_has_none h0 rx_errors tx_errors tx_carrier_errors
assert_eq "link_down" "$(trunk_figure link_down)" 0
pair_barrier end
