# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Connected mode of the in-tree driver: packets that a connection refuses, lost packets, no
# SRQ, no HCA.
# timeout: 300
# when: soak
# soak: 400
# allow: debugfs: File 'ib[0-9]*_(mcg|path)' in directory 'ipoib' already present

. /cases/lib.sh

raw=/sys/kernel/debug/ibraw

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

big_pings()
{
	on h0 ping -q -c 1 -W 1 -M "do" -s 60000 10.0.0.2
}

# connect HOST: switches its netdevice to connected mode with the largest MTU.
connect()
{
	_dev=$(dev_of "$1")
	on "$1" sh -ec "echo connected >/sys/class/net/$_dev/mode"
	ip -n "$1" link set "$_dev" mtu 65520
}

# rc HCA COUNTER
rc()
{
	fabric_counter "$1" "port1.rc.$2"
}

traffic_end()
{
	kill -s KILL -- "-$(cat "/run/traffic.$1.pid")" 2>/run/kill.log ||
		note "$1 had ended: $(tail -n 1 "/run/traffic.$1.log")"
}

fabric_start hcas=3
opensm_start
module_insert /modules/ibraw.ko

step "An SRQ cannot be created: the driver works without one"
verb_fails ibfab1 create_srq 1
intree_load
hosts_make 2
assert_eq "create_srq failed" "$(verb_failed ibfab1 create_srq)" 1
connect h0
connect h1
wait_for 60 big_pings

step "A connection's QP refuses datagrams, and packets that are not from its peer"
qpn=$(connection_of ibfab1)
assert [ "$qpn" -gt 1 ]
datagram="dlid=$(cat "$ib/ibfab1/ports/1/lid") qpn=$qpn qkey=0x1 payload=00"
was=$(fabric_counter ibfab1 port1.drop.rx_opcode)
echo "$datagram" >"$raw/ibfab0/send"
wait_for 10 counter_reaches ibfab1 port1.drop.rx_opcode $((was + 1))
was=$(fabric_counter ibfab1 port1.drop.rx_peer)
rule ibfab1 what=data opcode=0x64 do=opcode value=0x04
echo "$datagram" >"$raw/ibfab2/send"
wait_for 10 counter_reaches ibfab1 port1.drop.rx_peer $((was + 1))
rules_clear ibfab1
wait_for 60 big_pings

step "A connection's packets with another P_Key are refused"
was=$(fabric_counter ibfab1 port1.drop.rx_pkey)
rule ibfab1 what=data do=pkey value=0x8abc
refute big_pings
counter_reaches ibfab1 port1.drop.rx_pkey $((was + 1)) ||
	fail "no packet was refused by its P_Key"
rules_clear ibfab1
wait_for 60 big_pings

step "A lost packet ends a connection, as this driver requests no retries; it makes another"
rule ibfab1 what=data opcode=4 do=drop count=1
rule ibfab1 what=data opcode=0 do=drop count=1
wait_for 60 big_pings
wait_for 60 pings h1 10.0.0.1
rules_clear ibfab1
lost=$(fabric_counter ibfab1 port1.drop.fault)
rule ibfab1 what=data do=drop every=400
rule ibfab0 what=data do=drop every=300
iperf_server h1
on h0 timeout 200 iperf3 -J -n 4M -c 10.0.0.2 >/run/iperf.json
assert [ "$(jq .end.sum_sent.bytes /run/iperf.json)" -ge 4194304 ]
rules_clear ibfab1
rules_clear ibfab0
traffic_stop iperf.h1 >/run/iperf.end
assert [ "$(fabric_counter ibfab1 port1.drop.fault)" -gt "$lost" ]
wait_for 60 big_pings

step "The HCA is unplugged under traffic, and plugged in again"
traffic_start flood on h1 ping -q -f -s 30000 10.0.0.1
iperf_server h1
traffic_start iperf on h0 iperf3 -t 60 -c 10.0.0.2
sleep 1
unplug ibfab1
refute says link/infiniband ip -n h1 -o link show
for traffic in flood iperf iperf.h1; do
	traffic_end "$traffic"
done

plug ibfab1
wait_for 20 netdev_of ibfab1
_ib=$(netdev_of ibfab1)
ip link set "$_ib" netns h1
ip -n h1 link set "$_ib" up
ip -n h1 address add 10.0.0.2/24 dev "$_ib"
connect h1
wait_for 120 big_pings
wait_for 120 pings h1 10.0.0.1

step "Receives cannot be posted: the sender's connection ends, and others are made"
posted=$(verb_failed ibfab0 post_srq_recv)
verb_fails ibfab0 post_srq_recv 3
for _try in 1 2 3; do
	pings h1 10.0.0.1 || :
done
assert [ "$(verb_failed ibfab0 post_srq_recv)" -gt "$posted" ]
verb_fails ibfab0 post_srq_recv 0
wait_for 60 big_pings
note "$(grep 'rc\.' "$ibfab/ibfab1/counters" | tr '\n' ' ')"
intree_unload h0 h1
fabric_stop
