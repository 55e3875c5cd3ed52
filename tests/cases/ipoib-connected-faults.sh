# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Connections when the fabric, the communication manager or an HCA fails: lost packets, lost
# messages of the handshake, a peer that stops to acknowledge, a LID change, an HCA without SRQ or
# unplugged, and connections that are made and closed under traffic.
# timeout: 600
# kernel: stock
# soak-kernel: debug
# soak: 900
# smp: 2

. /cases/lib.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# again: h0 closes all its connections.
again()
{
	mode_set h0 datagram
	wait_for 10 opened_is h0 0
	mode_set h0 connected
}

drops()
{
	fabric_counter "$1" port1.drop.fault
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
for host in h0 h1 h2; do
	mode_set $host connected
done
wait_for 10 pings h0 10.0.0.2
wait_for 10 pings h0 10.0.0.3

step "An SRQ cannot be created: datagrams are sent, and it is tried again"
verb_fails ibfab0 create_srq 1
failed=$(stat_of h0 conns_failed)
pings_all h0 20 10.0.0.2
wait_for 10 stat_reaches h0 conns_failed $((failed + 1))
assert_eq "create_srq failed" "$(verb_failed ibfab0 create_srq)" 1
pings_all h0 5 10.0.0.2
wait_for 20 opens h0 1 10.0.0.2
wait_for 20 opens h0 2 10.0.0.3

step "The HCA refuses QPs with inline data and so many pieces in a WR: with fewer, packets are copied"
again
copied=$(stat_of h0 tx_linearized) refused=$(verb_failed ibfab0 create_qp)
verb_fails ibfab0 create_qp 6 -22
wait_for 20 opens h0 1 10.0.0.2
assert_eq "create_qp failed" $(($(verb_failed ibfab0 create_qp) - refused)) 6
pings_all h0 5 -s 40 10.0.0.2
pings_all h0 5 -s 20000 10.0.0.2
assert [ "$(stat_of h0 tx_linearized)" -gt "$copied" ]
again
wait_for 20 opens h0 1 10.0.0.2
wait_for 20 opens h0 2 10.0.0.3

step "Lost packets are repeated, and no connection ends"
failed=$(stat_of h0 conns_failed) lost=$(drops ibfab1)
rule ibfab1 what=data opcode=1 do=drop every=100
rule ibfab0 what=data opcode=0x11 do=drop every=20
dd if=/dev/urandom of=/run/sent bs=1M count=4 status=none
traffic_start sink on h1 socat -u TCP4-LISTEN:6000 OPEN:/run/got,creat,trunc
wait_for 10 listening h1 6000
on h0 socat -u OPEN:/run/sent TCP:10.0.0.2:6000 || fail "the transfer broke"
wait_for 20 cmp -s /run/sent /run/got
assert [ "$(rule_figure ibfab0 hits)" -gt 0 ]
rules_clear ibfab1
rules_clear ibfab0
assert [ "$(drops ibfab1)" -gt "$lost" ]
assert_eq "failed" "$(stat_of h0 conns_failed)" "$failed"
assert_eq "lost" "$(stat_of h0 tx_conn_lost)" 0

step "The peer's SRQ runs dry: messages are repeated, and none is lost"
failed=$(stat_of h0 conns_failed) refused=$(fabric_counter ibfab1 port1.rc.rnr_naks_sent)
# Of 200 octets, more than there are WRs
head -c 60000 /run/sent >/run/burst
echo 8388608 >/proc/sys/net/core/rmem_max
traffic_start drain on h1 socat -u UDP4-RECV:6001,rcvbuf=4194304 OPEN:/run/drained,creat,trunc
wait_for 10 listening h1 6001 u
echo "late 400" >"$ibfab/ibfab1/completions"
on h0 socat -u -b 200 OPEN:/run/burst UDP4:10.0.0.2:6001
wait_for 10 cmp -s /run/burst /run/drained
echo "late 0" >"$ibfab/ibfab1/completions"
traffic_stop drain
assert [ "$(fabric_counter ibfab1 port1.rc.rnr_naks_sent)" -gt "$refused" ]
assert_eq "failed" "$(stat_of h0 conns_failed)" "$failed"
assert_eq "lost" "$(stat_of h0 tx_conn_lost)" 0

step "It stays dry: the connection is closed, although nothing else is sent by it"
traffic_start drain on h1 socat -u UDP4-RECV:6001,rcvbuf=4194304 OPEN:/run/drained,creat,trunc
wait_for 10 listening h1 6001 u
echo "late 60000" >"$ibfab/ibfab1/completions"
on h0 socat -u -b 200 OPEN:/run/burst UDP4:10.0.0.2:6001
wait_for 2 stat_reaches h0 conns_failed $((failed + 1))
echo "late 0" >"$ibfab/ibfab1/completions"
traffic_stop drain
wait_for 30 opens h0 2 10.0.0.2
wait_for 30 opens h1 1 10.0.0.1

step "The CQ of a port's connections overruns: it is replaced, and TCP goes on"
failed=$(stat_of h0 conns_failed)
rm /run/got
traffic_start sink on h1 socat -u TCP4-LISTEN:6000 OPEN:/run/got,creat,trunc
wait_for 10 listening h1 6000
traffic_start source on h0 socat -u OPEN:/run/sent TCP:10.0.0.2:6000
qpn=$(connection_of ibfab0)
echo "overrun $qpn recv" >"$ibfab/ibfab0/completions"
wait_for 30 cmp -s /run/sent /run/got
assert says 'ibfab0: CQ of connections: CQ error' dmesg
# Both connections are made anew, long before QPs that are not drained would be given up
wait_for 20 opens h0 1 10.0.0.2
wait_for 20 opens h0 2 10.0.0.3
wait_for 20 opens h1 1 10.0.0.1
all_drained
assert_eq "failed" "$(stat_of h0 conns_failed)" $((failed + 2))
pings_all h0 20 -s 20000 10.0.0.2
pings_all h1 20 -s 20000 10.0.0.1

step "A peer that does not acknowledge loses its connection, and costs the others nothing"
failed=$(stat_of h0 conns_failed) lost=$(stat_of h0 tx_conn_lost)
lid1=$(lid_of ibfab1)
note "the peer has LID $lid1"
rule ibfab1 dir=out what=data opcode=0x11 do=drop
traffic_start stuck on h0 ping -n -q -i 0.05 -s 1000 10.0.0.2
pings_all h0 20 -s 5000 10.0.0.3
wait_for 20 stat_reaches h0 conns_failed $((failed + 1))
assert [ "$(stat_of h0 tx_conn_lost)" -gt "$lost" ]
# By datagrams, before the next connection fails as well
wait_for 10 pings h0 10.0.0.2
assert connected_to h0 ibfab2
rules_clear ibfab1
wait_for 30 opened_is h0 2
traffic_stop stuck
pings_all h0 5 -s 20000 10.0.0.2

step "Messages of the handshake are lost: REQ, REP, RTU; and DREQ"
for attr in 0x10 0x13 0x14; do
	again
	node=ibfab1
	[ "$attr" != 0x13 ] || node=ibfab0
	rule $node what=gmp class=7 attr=$attr do=drop count=1
	wait_for 20 opens h0 1 10.0.0.2
	assert_eq "hits" "$(rule_figure $node hits)" 1
	rules_clear $node
	pings_all h0 3 -s 20000 10.0.0.2
done
# The DREQ is repeated, so the peer's end is closed, too
parts()
{
	[ "$(rule_figure ibfab1 hits)" -eq 1 ]
}
wait_for 20 accepted_is h1 1
rule ibfab1 what=gmp class=7 attr=0x15 do=drop count=1
mode_set h0 datagram
wait_for 10 parts
wait_for 20 accepted_is h1 0
rules_clear ibfab1
mode_set h0 connected
wait_for 20 opens h0 1 10.0.0.2

step "A peer that refuses: datagrams, and no MTU is told meanwhile"
again
rule ibfab1 what=gmp class=7 attr=0x10 do=drop
refute opens h0 1 10.0.0.2
pings_all h0 5 -M dont -s 20000 10.0.0.2
assert_eq "told" "$(stat_of h0 tx_too_long)" 0
refute pings h0 -M "do" -s 20000 10.0.0.2
assert_eq "told" "$(stat_of h0 tx_too_long)" 0
assert [ "$(stat_of h0 tx_conn_awaited)" -gt 0 ]
rules_clear ibfab1
wait_for 30 opens h0 1 10.0.0.2
pings_all h0 3 -M "do" -s 20000 10.0.0.2

step "No connection can be made for long: the MTU is told, and forgotten as usual"
again
verb_fails ibfab0 create_qp 1000
before=$(stat_of h0 tx_too_long)
# No such ping is answered meanwhile
told()
{
	not pings h0 -M "do" -s 20000 10.0.0.2 || fail "answered, or ping has failed"
	stat_reaches h0 tx_too_long $((before + 1))
}
wait_for 60 told
assert_match "the route" "$(ip -n h0 route get 10.0.0.2)" 'mtu 2044'
verb_fails ibfab0 create_qp 0
ip -n h0 route flush cache
wait_for 60 opens h0 1 10.0.0.2
pings_all h0 3 -M "do" -s 20000 10.0.0.2

step "Another program listens to a peer's Service ID until it has ended"
module_insert /modules/ibrc.ko
mode_set h0 datagram
wait_for 10 opened_is h0 0
dev1=$(dev_of h1)
ip -n h1 link set "$dev1" down
printf 'from=ibfab0 to=ibfab1 do=occupy qpn=%d linger=60000\n' "$(qpn_of h1 "$dev1")" >/run/occupy
cat /run/occupy >/sys/kernel/debug/ibrc/run &
occupier=$!
wait_for 10 says '^State:.S' cat "/proc/$occupier/status"
now_ms
begin=$now_ms
ip -n h1 link set "$dev1" up
wait_for 10 says "ibfab1: QP $(qpn_of h1 "$dev1") cannot listen" dmesg
kill "$occupier"
ended=0
wait "$occupier" || ended=$?
assert_eq "the occupier's status, by SIGTERM" "$ended" 143
# The pauses between tries double, so the next one is hardly later than all that has passed. Until
# then a peer is refused, and takes the other Service ID
now_ms
sleep $(((now_ms - begin) / 1000 + 4))
mode_set h0 connected
wait_for 30 opens h0 1 10.0.0.2
assert_match "its Service ID" "$(opened_to h0 ibfab1)" '^live 0x0100000000[0-9a-f]{6}$'
rmmod ibrc

step "The peer's LID changes, until the SM corrects it: it gives up its connections"
wait_for 10 opens h1 1 10.0.0.1
was=$(stat_of h0 conns_opened) was1=$(stat_of h1 conns_opened)
echo "1 lid 0x4d" >"$ibfab/ibfab1/change"
wait_for 10 opened_is h1 0
kill -HUP "$opensm_pid"
wait_for 30 opens h0 1 10.0.0.2
wait_for 30 opens h1 1 10.0.0.1
pings_all h0 5 -s 20000 10.0.0.2
pings_all h1 5 -s 20000 10.0.0.1
assert [ "$(stat_of h0 conns_opened)" -gt "$was" ]
assert [ "$(stat_of h1 conns_opened)" -gt "$was1" ]

step "The peer's HCA is unplugged under traffic, and plugged in"
traffic_start stream on h0 ping -n -q -i 0.02 -s 3000 10.0.0.2
sleep 0.5
wait_for 10 accepted_is h1 1
now_ms
begun=$now_ms
unplug ibfab1 &
unplugging=$!
# Linux 7.3 sometimes waits until its own requests to leave groups time out, which the dead HCA cannot
# send
waited=0
while state=$(cat "/proc/$unplugging/status" "/proc/$unplugging/stack" 2>/dev/null); do
	case $state in
	*State:?Z*) break ;;
	*mcast_remove_one*) waited=$((waited + 100)) ;;
	esac
	sleep 0.1
done
wait "$unplugging"
now_ms
# It waits for neither the peer nor the dead HCA, which is given 5 s to drain a QP
note "unplugged within $((now_ms - begun)) ms, of which ib_core waited about $waited ms"
assert [ $((now_ms - begun - waited)) -lt 4000 ]
wait_for 20 opened_is h0 0
plug ibfab1
host_give h1 ibfab1 2
wait_for 20 has_carrier h1 "$(dev_of h1)"
traffic_stop stream
mode_set h1 connected
wait_for 30 opens h0 1 10.0.0.2
pings_all h0 5 -s 20000 10.0.0.2

step "Connections are made and closed under traffic"
traffic_start there on h0 ping -n -q -i 0.01 -s 3000 10.0.0.2
traffic_start back on h1 ping -n -q -i 0.01 -s 3000 10.0.0.1
times=$(full_or 12 500)
was=$(stat_of h0 conns_opened)
for n in $(seq "$times"); do
	mode_set h$((n % 2)) datagram
	mode_set h$((n % 2)) connected
	sleep 0.1
done
traffic_stop there
traffic_stop back
note "$(($(stat_of h0 conns_opened) - was)) connections of h0 in $times changes"
assert [ "$(stat_of h0 conns_opened)" -gt $((was + times / 4)) ]
pings_all h0 5 -s 20000 10.0.0.2
rmmod ib_ipoib
all_drained
