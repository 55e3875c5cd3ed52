# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Typical configurations of an interface: a bond that fails over, VRF, tc, packet sockets in
# both directions, and addresses derived from the GUID.
# timeout: 180
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

active_slave()
{
	on hb cat /sys/class/net/bond0/bonding/active_slave
}

active_is()
{
	[ "$(active_slave)" = "$1" ]
}

# peer_follows: whether h3 has the slave's address for that of the bond.
peer_follows()
{
	says " lladdr $(on hb cat /sys/class/net/port1/address) " ip -n h3 neigh show 10.0.0.1
}

fabric_start hcas=4
opensm_start
ipoib_load
for n in 1 2 3; do
	wait_for 10 netdev_of "ibfab$n"
done

step "Addresses derived from the GUID"
host_make h3 ibfab3 3
dev=$(dev_of h3)
wait_for 20 has_carrier h3 "$dev"
assert_match "the link-local address" "$(ip -n h3 -6 address show dev "$dev" scope link)" \
	'fe80::21b:fa01:0:301/64'

step "A bond of two HCAs, active-backup"
ip netns add hb
ip -n hb link set lo up
ip -n hb link add bond0 type bond mode active-backup fail_over_mac active miimon 100
for n in 1 2; do
	dev=$(netdev_of "ibfab$n")
	ip link set "$dev" down
	ip link set "$dev" netns hb
	ip -n hb link set "$dev" name "port$n"
	ip -n hb link set "port$n" master bond0
done
ip -n hb link set bond0 up
ip -n hb address add 10.0.0.1/24 dev bond0
ip -n hb address add fd00::1/64 dev bond0 nodad
ip -n hb link set bond0 type bond active_slave port1
wait_for 30 active_is port1
wait_for 30 pings h3 10.0.0.1
wait_for 30 pings h3 fd00::1
assert_eq "the bond's address" "$(on hb cat /sys/class/net/bond0/address)" \
	"$(on hb cat /sys/class/net/port1/address)"

step "A slave whose QP is replaced: the bond and its peers follow"
slave_was=$(on hb cat /sys/class/net/port1/address)
# The bond looks at its slaves seldom, so that it does not notice the moment without carrier
ip -n hb link set bond0 type bond miimon 5000
sleep 0.3
on hb ethtool -G port1 tx 128
wait_for 30 has_carrier hb port1
assert active_is port1
refute [ "$(on hb cat /sys/class/net/port1/address)" = "$slave_was" ]
assert_eq "the bond's address" "$(on hb cat /sys/class/net/bond0/address)" \
	"$(on hb cat /sys/class/net/port1/address)"
wait_for 10 peer_follows
ip -n h3 neigh flush all
wait_for 10 pings h3 10.0.0.1
wait_for 10 pings h3 fd00::1
assert peer_follows
ip -n hb link set bond0 type bond miimon 100

step "It fails over, and peers follow"
iperf_server hb
traffic_start stream on h3 iperf3 -c 10.0.0.1 -t 3600 -b 10M
echo "switch0 2 down" >"$ibfab/cable"
wait_for 30 active_is port2
wait_for 30 pings h3 10.0.0.1
wait_for 30 pings h3 fd00::1
assert_eq "the bond's address" "$(on hb cat /sys/class/net/bond0/address)" \
	"$(on hb cat /sys/class/net/port2/address)"
echo "switch0 2 up" >"$ibfab/cable"
wait_for 30 has_carrier hb port1
echo "switch0 3 down" >"$ibfab/cable"
wait_for 30 active_is port1
wait_for 30 pings h3 10.0.0.1
echo "switch0 3 up" >"$ibfab/cable"
wait_for 30 has_carrier hb port2
_got=$(netdev_counter hb bond0 rx_bytes)
grown()
{
	[ "$(netdev_counter hb bond0 rx_bytes)" -gt $((_got + 100000)) ]
}
wait_for 60 grown
traffic_stop stream
traffic_stop iperf.hb

step "The bond is removed"
ip -n hb link delete bond0
for n in 1 2; do
	ip -n hb link set "port$n" up
	wait_for 30 has_carrier hb "port$n"
done
ip -n hb address add 10.0.0.1/24 dev port1
# It would answer ARP for the other one's address as well, and h3's entry would stay wrong
ip -n hb link set port2 down
ip -n h3 neighbour flush dev "$(dev_of h3)"
wait_for 30 pings h3 10.0.0.1

step "VRF"
ip -n hb link add blue type vrf table 10
ip -n hb link set blue up
ip -n hb link set port1 master blue
wait_for 30 pings h3 10.0.0.1
assert_match "pings" "$(on hb ip vrf exec blue ping -q -c 2 -i 0.2 -W 10 10.0.0.3)" \
	'2 packets transmitted, 2 received, 0% packet loss'
pings_all hb 2 -I blue 10.0.0.3
must_fail on hb ping -q -c 1 -W 1 10.0.0.3
ip -n hb link delete blue
wait_for 30 pings h3 10.0.0.1

step "tc: a filter that drops incoming packets, and a queue that delays outgoing ones"
dev=$(dev_of h3)
on h3 tc qdisc add dev "$dev" clsact
on h3 tc filter add dev "$dev" ingress protocol ip flower ip_proto icmp action drop
refute pings h3 10.0.0.1
assert_match "packets dropped" "$(on h3 tc -s filter show dev "$dev" ingress)" \
	'dropped [1-9]'
on h3 tc qdisc del dev "$dev" clsact
wait_for 10 pings h3 10.0.0.1
on h3 tc qdisc replace dev "$dev" root netem delay 200ms
out=$(on h3 ping -c 3 -i 0.3 -W 3 10.0.0.1)
assert_match "the time" "$out" 'time=[2-9][0-9][0-9]'
on h3 tc qdisc replace dev "$dev" root fq
wait_for 10 pings h3 10.0.0.1
on h3 tc qdisc del dev "$dev" root
wait_for 10 pings h3 10.0.0.1

step "Packet sockets: they receive packets that are sent, and send packets"
on h3 tcpdump -Z root -l -n -e -i "$dev" -c 4 icmp >/run/seen 2>/run/tcpdump.log &
tcpdump=$!
tcpdump_ready()
{
	cat /run/tcpdump.log
	grep -q "listening on" /run/tcpdump.log
}
wait_for 10 tcpdump_ready
pings h3 10.0.0.1
pings hb 10.0.0.3
wait "$tcpdump" || fail "tcpdump: $(cat /run/tcpdump.log)"
cat /run/seen
assert_eq "requests and replies" "$(grep -cE 'ICMP echo re(quest|ply)' /run/seen)" 4
ip -n h3 neighbour flush dev "$dev"
out=$(on h3 arping -c 2 -w 10 -I "$dev" 10.0.0.1) || fail "arping: $out"
note "$out"
assert_match "the answer" "$(echo "$out" | tr -d : | tr '[:upper:]' '[:lower:]')" \
	"$(on hb cat /sys/class/net/port1/address | tr -d :)"
