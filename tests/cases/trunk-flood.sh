# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# UDP floods in both directions cross the trunk without loss, with both IPoIB MTUs, in
# Ethernet frames of all sizes, also if the Ethernet link is slow, refuses frames or loses
# some.
# guests: 2
# timeout: 900
# when: soak
# soak: 900
# mem: 4096

. /cases/lib-trunk.sh

port=5001

# managed MTU: starts an OpenSM that gives IPoIB this IB MTU (4 is 2048, 5 is 4096).
managed()
{
	echo "Default=0x7fff, ipoib, mtu=$1 : ALL=full;" >/run/partitions.conf
	subnet_up a -P /run/partitions.conf
}

ipoib_mtu_is()
{
	[ "$(on h0 cat "/sys/class/net/$(dev_of h0)/mtu")" = "$1" ]
}

# ethernet MTU [QDISC...]: configures this end.
ethernet()
{
	ip link set "$trunk" mtu "$1"
	shift
	if [ $# -gt 0 ]; then
		tc qdisc replace dev "$trunk" root "$@"
	else
		tc qdisc replace dev "$trunk" root pfifo limit 2000
	fi
}

# flood LENGTH COUNT: sends datagrams to the other guest's h0.
flood()
{
	on h0 socat -u -b "$1" "OPEN:/dev/zero,readbytes=$(($1 * $2))" \
		"UDP4-SENDTO:10.0.0.$other_part:$port"
}

# lost: prints the drop counters of this guest's nodes, except for datagrams without a posted
# receive and multicasts without a listener, which real links drop as well.
lost()
{
	grep -H '\.drop\.' "$ibfab"/*/counters "$ibfab/trunk" >/run/drops || return 2
	awk '$1 !~ /drop\.(rx_no_wr|rx_no_group|fwd_no_route)$/ && $2 != 0' /run/drops
}

# round TEXT LENGTH COUNT: floods in both directions at once. Everything that was sent arrives.
round()
{
	pair_barrier begin
	figures >/run/before
	pair_barrier round
	flood "$2" "$3"
	pair_barrier flooded
	trunk_agrees
	figures >/run/after
	grown >/run/grown
	note "$1: $(tr '\n' ' ' </run/grown)"
	assert_none "dropped" lost
	# Drops of the sender's own network stack are not the fabric's
	assert_between "packets sent" "$(by packets_sent)" $(($3 / 2)) 10000000
	# Neighbour probes may have been sent since
	assert_between "xmit_packets of the port" \
		"$(trunk_counter xmit_packets)" "$sent" $((sent + 100))
	assert_between "rcv_packets of the port" \
		"$(trunk_counter rcv_packets)" "$received" $((received + 100))
}

figures()
{
	for _name in packets_sent packets_received packets_resent timeouts \
		naks_sent credit_waits credit_wait_us held_back refused \
		senders_stopped; do
		echo "$_name $(trunk_figure $_name)"
	done
}

grown()
{
	awk 'NR == FNR { was[$1] = $2; next } { print $1, $2 - was[$1] }' \
		/run/before /run/after
}

# fill_hca: sends large packets, each of many segments, from ibfab1 until ibfab0 has no room
# for packets from the trunk.
fill_hca()
{
	_ip=86dd00006000000000000640fd000000000000000000000000000001
	_tcp=04d2162efffffff8000000015010040000000000
	_line="dlid=$lid qpn=$qpn qkey=0x1bfa hlen=64 mss=16"
	_line="$_line payload=${_ip}fd000000000000000000000000000002$_tcp"
	printf '%s%015000d\n' "$_line" 0 >/run/large
	while ! trunk_reaches held_back $((held_back + 1)); do
		cat /run/large >"$raw/ibfab1/send"
	done
}

# feed_hca: sends datagrams over the trunk to guest b's HCA until it has no room.
feed_hca()
{
	while [ ! -e "$pair/value.full" ]; do
		echo "dlid=$lid qpn=$qpn qkey=0x1bfa length=2000 count=500" \
			>"$raw/ibfab0/send"
	done
}

# by NAME: prints the growth of the counter.
by()
{
	awk -v name="$1" '$1 == name { print $2 }' /run/grown
}

step "One subnet, the kernel's own driver, MTU 2044"
trunk_start hcas=2 offload=csum+lso
module_insert /modules/ibraw.ko
managed 4
intree_load recv_queue_size=2048 send_queue_size=512
host_make h0 ibfab0 "$part"
wait_for 20 has_carrier h0 "$(dev_of h0)"
wait_for 20 ipoib_mtu_is 2044
pair_barrier hosts
wait_for 20 on h0 ping -q -c 1 -W 1 "10.0.0.$other_part"
on h0 socat -u "UDP4-RECV:$port,rcvbuf=8388608" OPEN:/dev/null &
pair_barrier listening

step "Floods"
ethernet 1500
round "Ethernet's MTU 1500" 1400 6000
ethernet 9000
round "9000" 1400 6000

step "Slow Ethernet: data and senders wait for credit"
ethernet 1500 tbf rate 40mbit burst 32k limit 4m
round "40 Mbit/s" 1400 4000
assert test "$(by credit_waits)" -gt 0
assert test "$(by credit_wait_us)" -gt 100000
assert test "$(by senders_stopped)" -gt 0
assert test "$(trunk_counter xmit_wait)" -gt 0

step "A device queue that is too short for the credit: frames are refused, none is lost"
ethernet 1500 tbf rate 40mbit burst 32k limit 40k
round "a short queue" 1400 2000
assert test "$(by refused)" -gt 0

step "Frames of 68 octets, the minimum: about 50 per packet"
ethernet 68
round "68 octets" 1400 200

step "Ethernet that loses 1 % in each direction: everything is sent again, and nothing is lost"
ethernet 1500 netem loss 1% limit 4000
round "1 % lost" 1400 6000
assert test "$(by packets_resent)" -gt 0
assert test "$(by naks_sent)" -gt 0
tc -s qdisc show dev "$trunk" | grep dropped

step "MTU 4092, in frames of 1500 and of 9000 octets, and with loss"
ip -n h0 link set "$(dev_of h0)" down
pair_barrier down
! pair_here a || opensm_stop
managed 5
ip -n h0 link set "$(dev_of h0)" up
wait_for 20 has_carrier h0 "$(dev_of h0)"
wait_for 20 ipoib_mtu_is 4092
pair_barrier mtu-4092
wait_for 20 on h0 ping -q -c 1 -W 1 "10.0.0.$other_part"
ethernet 1500
round "1500" 3400 3000
ethernet 9000
round "9000" 3400 3000
ethernet 1500 netem loss 1% limit 4000
round "1 % lost" 3400 3000
assert test "$(by packets_resent)" -gt 0

step "An HCA of guest b has no room: the trunk holds its packets back"
if pair_here b; then
	raw_listen ibfab0 "qkey=0x1bfa posted=1024"
	lid=$(lid_of ibfab0)
	held_back=$(trunk_figure held_back)
	pair_put lid "$lid"
	pair_put qpn "$qpn"
	fill_hca
	pair_put full yes
	note "held_back $(trunk_figure held_back), $(trunk_figure held_back_us) us"
else
	lid=$(pair_get lid)
	qpn=$(pair_get qpn)
	feed_hca
fi
pair_barrier full
trunk_agrees
assert_none "dropped" lost

assert_eq "frames that were malformed, foreign or too many" \
	"$(($(trunk_figure malformed) + $(trunk_figure foreign) + $(trunk_figure overrun)))" 0
assert_eq "link_up" "$(trunk_figure link_up)" 1
pair_barrier end
