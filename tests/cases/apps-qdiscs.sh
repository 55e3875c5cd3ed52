# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-streams.sh
# Every queueing discipline of the kernel on IPoIB, with classes, filters and actions: each
# has its effect, all other packets arrive unchanged, and none loses its destination.
# timeout: 400
# soak: 900
# smp: 2

. /cases/lib-streams.sh

# ---- Queueing disciplines of h0 ----

root()
{
	# The handle cannot be given to a discipline of another kind while it exists
	on h0 tc qdisc del dev "$dev" root 2>/run/tc.log || :
	on h0 tc qdisc replace dev "$dev" root handle 1: "$@" || fail "$*"
}

class()
{
	on h0 tc class add dev "$dev" "$@" || fail "$*"
}

filter()
{
	on h0 tc filter add dev "$dev" "$@" || fail "$*"
}

root_end()
{
	on h0 tc qdisc del dev "$dev" root
}

# sent_by KIND: prints "OCTETS PACKETS DROPPED" of the first discipline of this kind.
sent_by()
{
	on h0 tc -s qdisc show dev "$dev" | awk -v kind="$1" '
		$1 == "qdisc" { ours = $2 == kind }
		ours && $1 == "Sent" { print $2, $4, $7 + 0; exit }'
}

# class_octets CLASS
class_octets()
{
	on h0 tc -s class show dev "$dev" | awk -v id="$1" '
		$1 == "class" { ours = $3 == id }
		ours && $1 == "Sent" { print $2; exit }'
}

# passes KIND: pings and a stream arrive through this discipline, and it counts them.
# Disciplines with short queues may drop packets of the stream.
passes()
{
	_kind=$1
	on h0 tc qdisc show dev "$dev" root | grep -q "^qdisc $_kind " || fail "no $_kind"
	echoes h0 10.0.0.2 5000
	echoes h0 fd00::2 16
	stream_over h0 "$dev" 10.0.0.2
	# shellcheck disable=SC2046  # three words
	set -- $(sent_by "$_kind")
	note "$_kind: $1 octets, $2 packets, $3 dropped"
	assert test "$1" -gt "$stream_size"
	assert test "$2" -gt 20
	case $_kind in
	*codel | *pie | cake | red | choke | sfb) ;;
	*) assert_eq "packets dropped" "$3" 0 ;;
	esac
}

classless()
{
	step "$*"
	root "$@"
	passes "$1"
}

# round_trip: prints the shortest time of some pings, in milliseconds.
round_trip()
{
	on h0 ping -n -q -c 3 -i 0.05 -W 30 10.0.0.2 | sed -n 's,^rtt [^=]*= \([0-9]*\).*,\1,p'
}

# keeps_rate: a stream takes at least four fifths of the time that it needs at 4 Mbit/s.
keeps_rate()
{
	now_ms
	_since=$now_ms
	stream h0 10.0.0.2
	now_ms
	note "$stream_size octets took $((now_ms - _since)) ms"
	assert test $((now_ms - _since)) -ge $((stream_size * 8 * 4 / 5 / 4000))
}

# answered LEAST MOST: the number of answers to 100 pings.
answered()
{
	_status=0
	_out=$(on h0 ping -n -q -f -c 100 -W 1 10.0.0.2) || _status=$?
	assert_between "status of ping" "$_status" 0 1
	_count=$(printf '%s\n' "$_out" | sed -n 's/.* \([0-9]*\) received.*/\1/p')
	assert_between "pings answered" "$_count" "$1" "$2"
}

# by_class CLASS: packets to the stream's port go through that class.
by_class()
{
	stream h0 10.0.0.2
	assert test "$(class_octets "$1")" -gt "$stream_size"
}

# ---- Filters ----

# hits HOST DEVICE ingress|egress: prints the number of packets that reached the actions there.
hits()
{
	on "$1" tc -s filter show dev "$2" "$3" |
		awk '$1 == "Sent" { print $4; exit }'
}

# hits_are N HOST DEVICE ingress|egress
hits_are()
{
	_wanted=$1
	shift
	_hits=$(hits "$@") && [ "$_hits" -eq "$_wanted" ]
}

# at SIDE FILTER...: adds a filter to h1's interface.
at()
{
	_side=$1
	shift
	step "$_side: $*"
	on h1 tc filter add dev "$dev1" "$_side" "$@"
}

at_end()
{
	on h1 tc filter del dev "$dev1" "$1"
}

# pinged COUNT: COUNT of three pings are answered. Sets $ttl to their TTL.
pinged()
{
	_status=0
	on h0 ping -n -c 3 -i 0.1 -W 1 -s 500 10.0.0.2 >/run/pings || _status=$?
	assert_between "status of ping" "$_status" 0 1
	assert_match "pings" "$(cat /run/pings)" "3 packets transmitted, $1 received"
	ttl=$(sed -n 's/.* ttl=\([0-9]*\) .*/\1/p' /run/pings | sort -u)
}

# dropping FILTER...: the filter matches three pings and nothing else, and drops them.
dropping()
{
	at ingress "$@" action drop
	pinged 0
	assert_eq "packets dropped" "$(hits h1 "$dev1" ingress)" 3
	at_end ingress
	pinged 3
}

fabric_start hcas=2 profile=connectx3,virtual
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h0) dev1=$(dev_of h1)
stream_prepare "$(full_or 300000 10000000)" h1

step "The octets that a discipline counts: those of a packet and of its pseudo header, once"
# Then the first packet waits for its path
on h0 ethtool --set-priv-flags "$dev" learn-paths off
ip -n h0 neigh replace 10.0.0.2 dev "$dev" nud permanent \
	lladdr "$(on h1 cat "/sys/class/net/$dev1/address")"
root prio
filter protocol ip parent 1: u32 match ip protocol 1 0xff classid 1:3
pinged 3
assert_eq "paths asked for" "$(stat_of h0 path_queries)" 1
assert_eq "octets of three pings" "$(class_octets 1:3)" $((3 * (24 + 20 + 8 + 500)))
root_end

classless pfifo limit 1000
classless pfifo_fast
classless fq
classless fq_codel
classless codel
classless pie
classless cake bandwidth 500mbit
classless sfq
classless red limit 400000 min 100000 max 300000 avpkt 1000 burst 170 \
	probability 0.02 bandwidth 1gbit
classless choke limit 1000 bandwidth 1gbit
classless sfb
classless hhf
classless skbprio
classless tbf rate 400mbit burst 64k latency 400ms

step "tbf, htb and cake keep a rate, of large packets too"
root tbf rate 4mbit burst 20k latency 500ms
keeps_rate
root htb default 1
class parent 1: classid 1:1 htb rate 4mbit burst 20k
keeps_rate
root cake bandwidth 4mbit
keeps_rate

step "Classes"
root htb default 2
class parent 1: classid 1:1 htb rate 300mbit
class parent 1: classid 1:2 htb rate 300mbit
filter protocol ip parent 1: flower ip_proto tcp dst_port 7000 classid 1:1
by_class 1:1
root hfsc default 2
class parent 1: classid 1:1 hfsc sc rate 300mbit ul rate 300mbit
class parent 1: classid 1:2 hfsc sc rate 300mbit ul rate 300mbit
filter protocol ip parent 1: u32 match ip dport 7000 0xffff classid 1:1
by_class 1:1
for kind in drr qfq; do
	root $kind
	class parent 1: classid 1:1 $kind
	class parent 1: classid 1:2 $kind
	filter protocol ip parent 1: prio 1 u32 match ip dport 7000 0xffff classid 1:1
	filter parent 1: protocol all prio 9 matchall classid 1:2
	by_class 1:1
done
root ets bands 3 strict 1 quanta 3000 1500
filter protocol ip parent 1: u32 match ip dport 7000 0xffff classid 1:2
by_class 1:2
# Some filters need a clsact in front of the discipline
on h0 tc qdisc add dev "$dev" clsact
root prio
on h0 tc filter add dev "$dev" egress protocol ip u32 match ip dport 7000 0xffff \
	action skbedit priority 1:3
by_class 1:3
on h0 tc filter del dev "$dev" egress
on h0 tc filter add dev "$dev" egress protocol ip u32 match ip dport 7000 0xffff \
	action skbedit mark 5
on h0 tc filter add dev "$dev" protocol ip parent 1: handle 5 fw classid 1:1
by_class 1:1
on h0 tc qdisc del dev "$dev" clsact
root_end

step "Two queues"
on h0 ethtool -L "$dev" tx 2
wait_for 20 has_carrier h0 "$dev"
root mq
passes mq
root mqprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 hw 0
passes mqprio
root multiq
passes multiq
root_end
on h0 tc qdisc add dev "$dev" clsact
on h0 tc filter add dev "$dev" egress protocol ip u32 match ip dport 7000 0xffff \
	action skbedit queue_mapping 1
_before=$(stat_of h0 tx1_bytes)
stream h0 10.0.0.2
wait_for 5 stat_reaches h0 tx1_bytes $((_before + stream_size))
on h0 tc qdisc del dev "$dev" clsact
on h0 ethtool -L "$dev" tx 1
wait_for 20 has_carrier h0 "$dev"

step "netem: delay"
root netem delay 60ms
assert_between "round trip, ms" "$(round_trip)" 60 500
passes netem
step "netem: loss"
root netem loss 100%
answered 0 0
root netem loss 30%
answered 45 90
step "netem: duplicates"
root netem duplicate 100%
_out=$(on h0 ping -n -q -c 5 -i 0.1 -W 10 10.0.0.2)
assert_match "pings" "$_out" '\+[45] duplicates'
stream h0 10.0.0.2
step "netem: another order"
root netem delay 10ms reorder 30% gap 3
iperf_server h0
_sent=$(nstat_of h0 UdpOutDatagrams)
# UdpInDatagrams would only count datagrams that a program has read, and iperf3 ends before that
on h1 tc qdisc add dev "$dev1" clsact
on h1 tc filter add dev "$dev1" ingress protocol ip flower ip_proto udp action pass
# The receiver reports reordering
on h1 iperf3 -R -J -u -l 1000 -b 4M -k 500 -c 10.0.0.1 >/run/iperf.json ||
	fail "$(cat /run/iperf.json)"
traffic_stop iperf.h0
# iperf3's own figures are wrong, as its end message overtakes delayed packets, which it then
# takes for lost
_sent=$(($(nstat_of h0 UdpOutDatagrams) - _sent))
assert test "$_sent" -ge 500
wait_for 20 hits_are "$_sent" h1 "$dev1" ingress
on h1 tc qdisc del dev "$dev1" clsact
assert test "$(jq '.end.streams[0].udp.out_of_order' /run/iperf.json)" -gt 5
root_end

# ---- What h1's filters see, and its actions do ----

on h1 tc qdisc add dev "$dev1" clsact
_address=$(on h0 cat "/sys/class/net/$dev/address" | tr -d :)
dropping protocol ip flower ip_proto icmp src_ip 10.0.0.1
dropping protocol ip u32 match ip protocol 1 0xff match ip src 10.0.0.1
# The last octets of the sender's GUID, in the pseudo header in front of the packet
dropping protocol ip u32 match ip protocol 1 0xff \
	match u32 "0x$(echo "$_address" | cut -c 33-40)" 0xffffffff at -8
# Classic BPF: the ethertype after the address, then the protocol of the IPv4 header
dropping protocol ip bpf bytecode \
	'6,40 0 0 20,21 0 3 2048,48 0 0 4293918729,21 0 1 1,6 0 0 1,6 0 0 0'

at egress protocol ip flower ip_proto icmp action pedit ex munge ip ttl set 9 pipe csum ip
pinged 3
assert_eq "the answers' TTL" "$ttl" 9
at_end egress
at ingress protocol ip u32 match ip protocol 6 0xff action csum ip tcp
at egress protocol ip u32 match ip protocol 6 0xff action csum ip tcp
stream_over h0 "$dev" 10.0.0.2
at_end ingress
at_end egress

step "Stateless NAT: an address that does not exist"
ip -n h0 neigh replace 10.0.0.77 dev "$dev" nud permanent \
	lladdr "$(on h1 cat "/sys/class/net/$dev1/address")"
on h1 tc filter add dev "$dev1" ingress protocol ip matchall \
	action nat ingress 10.0.0.77/32 10.0.0.2
on h1 tc filter add dev "$dev1" egress protocol ip u32 match ip dst 10.0.0.1 \
	action nat egress 10.0.0.2/32 10.0.0.77
stream_over h0 "$dev" 10.0.0.77
echoes h0 10.0.0.77 1900
at_end ingress
at_end egress

at ingress protocol ip u32 match ip protocol 1 0xff action police rate 8kbit burst 1000 drop
answered 1 30
at_end ingress
at ingress protocol ip u32 match ip protocol 1 0xff action skbedit mark 7 pipe \
	action gact pass
rules_of_marks()
{
	in_netns h1 nft -f - <<-'RULES'
		table inet marks {
			chain in {
				type filter hook input priority 0
				meta mark 7 icmp type echo-request counter
			}
		}
	RULES
}
rules_of_marks
pinged 3
assert_match "packets with the mark" "$(in_netns h1 nft list table inet marks)" 'counter packets 3 '
at_end ingress

step "Mirrored, and redirected through ifb, both ways"
ip -n h1 link add copies type dummy
ip -n h1 link set copies up
ip -n h1 link add ifb0 type ifb
ip -n h1 link set ifb0 up mtu 4000
at ingress protocol ip u32 match ip protocol 1 0xff action mirred egress mirror dev copies
_before=$(netdev_counter h1 copies tx_bytes)
pinged 3
# Copies include the pseudo header
assert_eq "octets of copies" "$(($(netdev_counter h1 copies tx_bytes) - _before))" \
	$((3 * (24 + 28 + 500)))
at_end ingress
on h1 tc qdisc add dev ifb0 root netem delay 60ms
for side in ingress egress; do
	at $side protocol all matchall action mirred egress redirect dev ifb0
	assert_between "round trip, ms" "$(round_trip)" 60 500
	_before=$(netdev_counter h1 ifb0 tx_packets)
	echoes h0 fd00::2 5000
	stream_over h0 "$dev" 10.0.0.2
	assert test $(($(netdev_counter h1 ifb0 tx_packets) - _before)) -gt 20
	at_end $side
done

nothing_lost h0 h1

step "netem: a wrong bit, possibly in the destination; TCP recovers"
root netem corrupt 5%
stream h0 10.0.0.2
root netem corrupt 100%
# The corrupted bit may be in a field that is not checked
answered 0 30
root_end
answered 100 100
stream_over h0 "$dev" 10.0.0.2
