# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Connected mode between hosts of this driver: the mode and the MTU, connections that are opened for
# traffic, packets of all sizes, peers without connections and groups, a peer that goes away, and
# one that refuses.
# timeout: 300
# smp: 2
# kernel: stock newest

. /cases/lib.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

mode()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/mode"
}

mtu()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/mtu"
}

address_of()
{
	ip -n "$1" -o link show "$(dev_of "$1")" |
		sed -n 's/.*link\/infiniband \([0-9a-f:]*\) .*/\1/p'
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
tracing=/sys/kernel/tracing
[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
echo 1 >"$tracing/events/ipoib/ipoib_conn_state/enable"

step "The mode is datagram, and its MTU that of the broadcast group"
assert_eq "mode" "$(mode h0)" datagram
assert_eq "MTU" "$(mtu h0)" 2044
must_fail ip -n h0 link set "$(dev_of h0)" mtu 65520
wait_for 10 pings h0 10.0.0.2
pings_all h0 20 10.0.0.2
assert conns_are h0 0

step "Connected mode has the MTU of connections, and says so"
for host in h0 h1; do
	mode_set $host connected
	assert_eq "mode" "$(mode $host)" connected
	assert_eq "MTU" "$(mtu $host)" 65520
	assert_match "ip -d link" "$(ip -n $host -d link show "$(dev_of $host)")" 'mode +connected'
done
assert_eq "the other's MTU" "$(mtu h2)" 2044

step "A connection is opened when eight packets were sent"
wait_for 10 pings h0 10.0.0.2
was=$(stat_of h0 conns_opened)
pings_all h0 20 10.0.0.2
assert opened_is h0 1
assert_eq "opened" $(($(stat_of h0 conns_opened) - was)) 1
assert_match "its peer's address" "$(conns h0)" 'service ID: 0x0100000000[0-9a-f]{6}'
wait_for 10 opened_is h1 1
conns h0
for change in "opened=1 WANTED -> ASKED" "opened=1 ASKED -> LIVE" "opened=0 REQUESTED -> LIVE"; do
	says "ipoib_conn_state: ibfab[01] ud_qpn=.* service=0x100000000.* $change refusal=0" \
		cat "$tracing/trace" || fail "no change $change in: $(tail -n 20 "$tracing/trace")"
done

step "Packets of all sizes, none lost"
for size in 0 56 212 213 2016 2017 4000 8100 30000 65463 65464; do
	pings_all h0 2 -M "do" -s $size 10.0.0.2
	pings_all h1 2 -M "do" -s $size fd00::1
done
assert_eq "fragmented" "$(stat_of h0 tx_fragmented)" 0
for name in tx_conn_lost tx_conn_queue_full tx_too_long conns_failed; do
	assert_eq "$name" "$(stat_of h0 $name)" 0
	assert_eq "$name" "$(stat_of h1 $name)" 0
done

step "A burst of messages gets more receive buffers"
buffers()
{
	conns "$1" >/run/conns || return 2
	sed -n 's/^receive buffers: *//p' /run/conns
}
assert_eq "receive buffers" "$(buffers h1)" 64
# The HCA shows its completions together, so that one poll finds many
echo "late 50" >"$ibfab/ibfab1/completions"
# Each request must arrive. Of the answers, the stack drops those that its own socket has no room for.
was=$(nstat_of h1 IcmpInEchos)
on h0 ping -n -q -f -l 200 -c 400 -s 9000 10.0.0.2
arrived()
{
	[ $(($(nstat_of h1 IcmpInEchos) - was)) -eq 400 ]
}
wait_for 10 arrived
echo "late 0" >"$ibfab/ibfab1/completions"
assert [ "$(buffers h1)" -gt 64 ]
assert [ "$(buffers h1)" -le 256 ]

step "A file each way, by messages of more than a datagram"
dd if=/dev/urandom of=/run/sent bs=1M count=8 status=none
before=$(netdev_counter h0 "$(dev_of h0)" tx_packets)
transfer h0 h1 10.0.0.2
sent=$(($(netdev_counter h0 "$(dev_of h0)" tx_packets) - before))
note "$sent packets"
assert [ "$sent" -lt $(($(stat -c %s /run/sent) / 8000)) ]
transfer h1 h0 "[fd00::1]"

step "A group's packets are fragments: 60000 octets reach both others"
for host in h1 h2; do
	traffic_start "group.$host" on $host socat -u -b 65536 \
		"UDP4-RECV:6002,rcvbuf=400000,ip-add-membership=239.1.2.3:$(dev_of $host)" \
		"OPEN:/run/group.$host,creat,trunc"
	wait_for 10 listening $host 6002 u
done
head -c 60000 /run/sent >/run/sent.group
sleep 1
group_arrived()
{
	on h0 socat -u -b 60000 OPEN:/run/sent.group \
		"UDP4-DATAGRAM:239.1.2.3:6002,ip-multicast-if=10.0.0.1,sndbuf=400000"
	sleep 0.2
	[ "$(stat -c %s /run/group.h1)" -ge 60000 ] && [ "$(stat -c %s /run/group.h2)" -ge 60000 ]
}
on h0 ip route replace 239.0.0.0/8 dev "$(dev_of h0)"
wait_for 10 group_arrived
for host in h1 h2; do
	head -c 60000 /run/group.$host | cmp - /run/sent.group || fail "$host got other data"
	traffic_stop "group.$host"
done
assert [ "$(stat_of h0 tx_fragmented)" -gt 0 ]

step "A peer in datagram mode accepts connections"
mode_set h2 datagram
connect h0 2 10.0.0.3
assert opened_is h2 0
# It receives any size, and answers in fragments of its own MTU
pings_all h0 3 -s 60000 10.0.0.3

step "A peer whose address has no flags gets datagrams: cut, fragmented, or refused"
plain=$(address_of h2 | sed 's/^../00/')
ip -n h0 neigh replace 10.0.0.3 lladdr "$plain" dev "$(dev_of h0)" nud permanent
ip -n h0 neigh replace fd00::3 lladdr "$plain" dev "$(dev_of h0)" nud permanent
fragmented=$(stat_of h0 tx_fragmented)
pings_all h0 3 -M dont -s 60000 10.0.0.3
assert_eq "fragmented" $(($(stat_of h0 tx_fragmented) - fragmented)) 3
transfer h0 h2 10.0.0.3
transfer h0 h2 "[fd00::3]"
assert_eq "fragmented, by TCP" $(($(stat_of h0 tx_fragmented) - fragmented)) 3
for address in 10.0.0.3 fd00::3; do
	told=$(must_fail on h0 ping -n -c 2 -W 2 -M "do" -s 60000 $address 2>&1)
	assert_match "what ping is told" "$told" 'mtu ?= ?2044'
done
assert_match "the route" "$(ip -n h0 route get 10.0.0.3)" 'mtu 2044'
assert [ "$(stat_of h0 tx_too_long)" -gt 0 ]
assert opened_is h0 2

step "A peer that goes down and comes back: TCP goes on by what there is"
traffic_start stream on h1 socat -u TCP4-LISTEN:6005 "OPEN:/run/stream,creat,trunc"
wait_for 10 listening h1 6005
traffic_start source on h0 sh -c \
	"while :; do echo 0123456789; sleep 0.01; done | socat -u - TCP4:10.0.0.2:6005"
wait_for 10 test -s /run/stream
ip -n h1 link set "$(dev_of h1)" down
wait_for 10 opened_is h0 1
ip -n h1 link set "$(dev_of h1)" up
ip -n h1 address replace fd00::2/64 dev "$(dev_of h1)" nodad
wait_for 20 has_carrier h1 "$(dev_of h1)"
had=$(stat -c %s /run/stream)
longer()
{
	[ "$(stat -c %s /run/stream)" -gt $((had + 1000)) ]
}
wait_for 20 longer
wait_for 20 opened_is h0 2
traffic_stop source

step "Datagram mode again: connections are closed, and the MTU is that of datagrams"
mode_set h0 datagram
assert_eq "mode" "$(mode h0)" datagram
assert_eq "MTU" "$(mtu h0)" 2044
wait_for 10 opened_is h0 0
pings_all h0 5 -s 8000 10.0.0.2

step "By netlink; and the host's interface goes down with connections"
ip -n h0 link set "$(dev_of h0)" type ipoib mode connected
assert_eq "mode" "$(mode h0)" connected
connect h0 1 10.0.0.2
ip -n h0 link set "$(dev_of h0)" down
assert conns_are h0 0
ip -n h0 link set "$(dev_of h0)" up
wait_for 20 has_carrier h0 "$(dev_of h0)"
connect h0 1 10.0.0.2
ip -n h0 link add link "$(dev_of h0)" name child0 type ipoib mode connected
assert_match "the child" "$(ip -n h0 -d link show child0)" 'mode connected'
assert_eq "its MTU" "$(on h0 cat /sys/class/net/child0/mtu)" 65520
ip -n h0 link delete child0

step "With connected=0 nobody connects, and the mode is refused"
rmmod ib_ipoib
all_drained
ipoib_load connected=0
host_give h0 ibfab0 1
assert_match "the address" "$(on h0 cat "/sys/class/net/$(dev_of h0)/address")" '^00:'
said=$(echo connected | on h0 dd of="/sys/class/net/$(dev_of h0)/mode" status=none 2>&1) &&
	fail "connected mode"
assert_match "what the kernel says" "$said" 'not supported'
dmesg | grep 'connected mode is not possible: the HCA or port has no connections, or connected=0' ||
	fail "no line in the log"
said=$(must_fail ip -n h0 link set "$(dev_of h0)" type ipoib mode connected 2>&1)
assert_match "what ip says" "$said" 'connected=0'
assert_eq "mode" "$(mode h0)" datagram
