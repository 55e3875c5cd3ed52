# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Unreliable connections: only with unreliable_connections=1, and only with peers whose address says
# so. What a lost packet costs, how a peer that has lost its end is found out, and that replacing a
# connection now and then costs nothing.
# timeout: 300

. /cases/lib.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# types HOST: prints the types of the connections that the host has opened.
types()
{
	conns "$1" >/run/conns || return 2
	awk '/type:/ { type = $2 } /opened by:/ && $3 == "self" { print type }' /run/conns | sort -u
}

# conn_of HOST: prints what tells the connection that it has opened from a later one.
conn_of()
{
	stat_of "$1" conns_opened
}

fabric_start hcas=3 uc=1,1,0
opensm_start

step "By default nobody says that unreliable connections are accepted"
ipoib_load
hosts_make 2
assert_eq "flags" "$(address_flags h0)" 80
ip netns delete h0
ip netns delete h1
rmmod ib_ipoib

step "With unreliable_connections=1 an HCA that has them does"
ipoib_load unreliable_connections=1
hosts_make 3
assert_eq "flags of h0" "$(address_flags h0)" c0
assert_eq "flags of h1" "$(address_flags h1)" c0
assert_eq "flags of h2" "$(address_flags h2)" 80
assert says "ibfab2 has no unreliable connections" dmesg
for host in h0 h1 h2; do
	mode_set $host connected
done

step "Packets of all sizes by an unreliable connection"
connect h0 1 10.0.0.2
assert_eq "type" "$(types h0)" UC
for size in 0 2016 9000 65464; do
	pings_all h0 5 -M "do" -s $size 10.0.0.2
done
connect h1 1 10.0.0.1
assert_eq "type" "$(types h1)" UC
assert_eq "packets acknowledged" "$(fabric_counter ibfab1 port1.rc.acks_sent)" 0

step "A reliable one to a peer that has no others"
connect h0 2 10.0.0.3
assert_eq "types" "$(types h0 | tr '\n' ' ')" "RC UC "
connect h2 1 10.0.0.1
assert_eq "type" "$(types h2)" RC
pings_all h0 5 -s 20000 10.0.0.3
assert test "$(fabric_counter ibfab2 port1.rc.acks_sent)" -gt 0

step "A lost packet costs its message, and neither others nor the connection"
before=$(conn_of h0)
rule ibfab0 dir=out do=drop opcode=0x21 every=20 count=3
assert_eq "answered" "$(pings_count h0 60 -i 0.05 -s 20000 10.0.0.2)" 57
assert_eq hits "$(rule_figure ibfab0 hits)" 3
rules_clear ibfab0
assert_eq "opened since" "$(conn_of h0)" "$before"
assert_eq "failed" "$(stat_of h0 conns_failed)" 0

step "TCP goes on while packets are lost"
rule ibfab0 dir=out what=data do=drop every=500
dd if=/dev/urandom of=/run/sent bs=1M count=4 status=none
traffic_start sink on h1 socat -u TCP-LISTEN:6000,reuseaddr OPEN:/run/got,creat,trunc
wait_for 10 listening h1 6000
on h0 socat -u OPEN:/run/sent TCP:10.0.0.2:6000 || fail "the transfer broke"
wait_for 30 cmp -s /run/sent /run/got
assert test "$(rule_figure ibfab0 hits)" -gt 0
rules_clear ibfab0

step "A connection is replaced after half a minute under traffic, and no packet is lost"
before=$(conn_of h0)
failed=$(stat_of h0 conns_failed)
lost=$(stat_of h0 tx_conn_lost)
assert_eq "answered" "$(pings_count h0 3500 -i 0.01 -s 20000 10.0.0.2)" 3500
assert test "$(conn_of h0)" -gt "$before"
# The time of the next one may have passed as well, and it is replaced only if there is traffic
connect h0 2 10.0.0.2
assert_eq "failed" "$(stat_of h0 conns_failed)" "$failed"
assert_eq "lost" "$(stat_of h0 tx_conn_lost)" "$lost"

step "A peer that has lost its end without a word gets another connection"
# The connection must be young: before one is replaced, and until there is another, datagrams are sent
mode_set h0 datagram
wait_for 10 opened_is h0 0
mode_set h0 connected
connect h0 1 10.0.0.2
connect h0 2 10.0.0.3
before=$(conn_of h0)
rule ibfab1 dir=out class=0x07 do=drop
ip -n h1 link set "$(dev_of h1)" down
ip -n h1 link set "$(dev_of h1)" up
wait_for 10 on h1 ping -n -q -c 1 -W 1 10.0.0.3
refute pings h0 10.0.0.2
rules_clear ibfab1
wait_for 5 pings h0 10.0.0.2
connect h0 2 10.0.0.2
assert test "$(conn_of h0)" -gt "$before"

step "The peer's HCA is unplugged, and plugged in"
unplug ibfab1
plug ibfab1
host_give h1 ibfab1 2
mode_set h1 connected
wait_for 20 pings h0 10.0.0.2
connect h1 1 10.0.0.1
assert_eq "type" "$(types h1)" UC

step "An interface that goes down closes its connections"
for host in h0 h1 h2; do
	ip -n $host link set "$(dev_of $host)" down
done
wait_for 20 conns_are h0 0
wait_for 20 conns_are h1 0
rmmod ib_ipoib
all_drained
