# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Multicast reaches each attached QP once, over several switches, and needs a GRH.
# timeout: 90

. /cases/lib.sh

mgid=ff12:401b:ffff::ffff:ffff
qkey=0xb1b

# mcast_send HCA WORDS: sends to all members of the group.
mcast_send()
{
	_hca=$1
	shift
	echo "dlid=0xc000 qpn=0xffffff qkey=$qkey $*" >"$raw/$_hca/send"
}

has_carrier_of()
{
	[ "$(cat "/sys/class/net/$(netdev_of "$1")/carrier")" = 1 ]
}

# The in-tree IPoIB driver joins the broadcast group for each port, so that OpenSM writes the
# switches' multicast tables. Without IPv6 it sends nothing.
fabric_start hcas=4 switches=3
module_insert /modules/ibraw.ko
opensm_start
ipv6_off
intree_load
for hca in ibfab0 ibfab1 ibfab2 ibfab3; do
	wait_for 10 netdev_of "$hca"
	ip link set "$(netdev_of "$hca")" up
	wait_for 10 has_carrier_of "$hca"
done

step "The switches' tables have the group"
table=$(ibroute -C ibfab0 -M "$(smpquery -C ibfab0 -D portinfo 0,1 0 |
	sed -n 's/^Lid:\.*//p')")
assert_match "the first switch's table" "$table" '^0xc000 .*x'
for hca in ibfab0 ibfab1 ibfab2 ibfab3; do
	echo "qkey=$qkey mgid=$mgid mlid=0xc000 posted=1024" >"$raw/$hca/listen"
done

# The payload is so short that IPoIB ignores it. switch0 has ibfab0 and ibfab3, switch1
# ibfab1, switch2 ibfab2.
step "500 from ibfab0: one each, and one over each cable between switches"
between=$(fabric_counter switch0 port4.multicast_xmit_packets)
further=$(fabric_counter switch1 port4.multicast_xmit_packets)
own=$(fabric_counter switch0 port1.multicast_xmit_packets)
mcast_send ibfab0 "dgid=$mgid length=3 count=500"
for hca in ibfab0 ibfab1 ibfab2 ibfab3; do
	wait_for 10 raw_is "$hca" packets 500
done
assert_eq "packets from switch0 to switch1" \
	$(($(fabric_counter switch0 port4.multicast_xmit_packets) - between)) 500
assert_eq "packets from switch1 to switch2" \
	$(($(fabric_counter switch1 port4.multicast_xmit_packets) - further)) 500
assert_eq "packets sent back to ibfab0" \
	$(($(fabric_counter switch0 port1.multicast_xmit_packets) - own)) 0
for hca in ibfab1 ibfab2 ibfab3; do
	assert_match "what $hca got" "$(cat "$raw/$hca/received")" \
		'last.payload 000102$'
done

step "Without a GRH: dropped and counted at each receiver"
mcast_send ibfab0 "length=3"
for hca in ibfab1 ibfab2 ibfab3; do
	wait_for 5 counter_is "$hca" port1.drop.rx_no_grh 1
	assert raw_is "$hca" packets 500
done

step "To a group to which no QP is attached"
before=$(fabric_counter ibfab2 port1.drop.rx_no_group)
mcast_send ibfab0 "dgid=ff12:401b:ffff::1:2 length=3"
wait_for 5 counter_is ibfab2 port1.drop.rx_no_group $((before + 1))
assert raw_is ibfab2 packets 500

step "With the wrong Q_Key"
before=$(fabric_counter ibfab2 port1.drop.rx_qkey)
echo "dlid=0xc000 qpn=0xffffff qkey=0xbad dgid=$mgid length=3" >"$raw/ibfab0/send"
# Two QPs are attached there, that of IPoIB and the receiver
wait_for 5 counter_is ibfab2 port1.drop.rx_qkey $((before + 2))
assert raw_is ibfab2 packets 500

step "A sender receives its own packets, unless it blocks that"
mcast_send ibfab3 "from_listener=1 dgid=$mgid length=3"
wait_for 5 raw_is ibfab3 packets 501
wait_for 5 raw_is ibfab0 packets 501
echo "qkey=$qkey mgid=$mgid mlid=0xc000 block_loopback=1" >"$raw/ibfab3/listen"
mcast_send ibfab3 "from_listener=1 dgid=$mgid length=3 count=5"
wait_for 5 raw_is ibfab0 packets 506
assert raw_is ibfab3 packets 0
mcast_send ibfab0 "dgid=$mgid length=3"
wait_for 5 raw_is ibfab3 packets 1

step "A MLID that no switch knows"
relay=$(fabric_counter switch0 port1.rcv_switch_relay_errors)
echo "dlid=0xc123 qpn=0xffffff qkey=$qkey dgid=$mgid length=3" >"$raw/ibfab0/send"
wait_for 5 counter_is switch0 port1.rcv_switch_relay_errors $((relay + 1))
