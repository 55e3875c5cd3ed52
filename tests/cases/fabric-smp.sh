# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Directed routes with LID-routed parts; SLtoVL, VLArb and GUIDInfo are stored and take
# effect; all of PortCountersExtended.
# timeout: 600

. /cases/lib.sh

node_info=0x11 guid_info=0x14 sl2vl=0x17 vl_arb=0x18
get=1 set=2

# switch_lid ROUTE: prints the LID of the switch at this route from ibfab0.
switch_lid()
{
	smpquery -C ibfab0 -D portinfo "$1" 0 | sed -n 's/^Lid:\.*//p'
}

# answered_by: prints the node GUID in the answer to a Get(NodeInfo).
answered_by()
{
	hex_at "$answer" 76 8
}

status()
{
	hex_at "$answer" 4 2
}

# HCA n is on switch n mod 3: ibfab0 and ibfab3 are on switch0, whose port 4 leads to switch1,
# whose port 4 leads to switch2.
fabric_start hcas=5 switches=3
module_insert /modules/ibraw.ko
module_insert /modules/ibrawmad.ko
opensm_start
switch0=$(switch_lid 0,1)
switch1=$(switch_lid 0,1,4)
switch2=$(switch_lid 0,1,4,4)

step "By LID to switch1, then by directed route"
lid=$(lid_of ibfab0)
assert smp_send ibfab0 "$switch1" $get $node_info 0 "drslid=$lid" path=0,1
assert_eq "the node behind its port 1" "$(answered_by)" 021bfa0100000100
assert smp_send ibfab0 "$switch1" $get $node_info 0 "drslid=$lid" path=0,4,1
assert_eq "the node two hops on" "$(answered_by)" 021bfa0100000200
assert smp_send ibfab0 "$switch2" $get $node_info 0 "drslid=$lid" path=0
assert_eq "the switch itself" "$(answered_by)" 021bfa0500000200
assert_match "smpquery -c" \
	"$(smpquery -C ibfab0 -c nodedesc "$switch1" 0,3,1)" 'ibfab0$'

step "By directed route to switch0 or switch1, then by LID"
to=$(lid_of ibfab2)
for route in 0,1 0,1,4; do
	assert smp_send ibfab0 0xffff $get $node_info 0 "drdlid=$to" "path=$route"
	assert_eq "who answered" "$(answered_by)" 021bfa0100000200
	assert smp_send ibfab0 0xffff $get $node_info 0 "drdlid=$switch2" \
		"path=$route"
	assert_eq "who answered" "$(answered_by)" 021bfa0500000200
done
assert smp_send ibfab0 0xffff $get $node_info 0 "drdlid=$switch1" path=0,1,4
assert_eq "who answered" "$(answered_by)" 021bfa0500000100

step "By LID, directed route, and LID"
assert smp_send ibfab0 "$switch0" $get $node_info 0 "drslid=$lid" \
	"drdlid=$(lid_of ibfab1)" path=0,4,4
assert_eq "who answered" "$(answered_by)" 021bfa0100000100

step "A directed part with an invalid port is counted at that switch"
was=$(fabric_counter switch1 port3.drop.smp_route)
refute smp_send ibfab0 "$switch1" $get $node_info 0 "drslid=$lid" path=0,9
assert_eq "dropped at switch1" "$(fabric_counter switch1 port3.drop.smp_route)" \
	$((was + 1))
refute smp_send ibfab0 0xffff $get $node_info 0 drdlid=4000 path=0,1

step "SLtoVL: stored at HCA and switch, and an SL without a VL is not sent with"
map=01234567abcdef89
to=$(lid_of ibfab1)
assert smp_send ibfab0 "$to" $set $sl2vl 0 "data=$map"
assert smp_send ibfab0 "$switch1" $set $sl2vl 0x0201 "data=$map"
assert smp_send ibfab0 "$switch1" $get $sl2vl 0x0201
assert_eq "the switch's table" "$(hex_at "$answer" 64 8)" "$map"
assert smp_send ibfab0 "$switch1" $get $sl2vl 0x0102
assert_eq "its neighbour's" "$(hex_at "$answer" 64 8)" 0123456701234567
smpquery -C ibfab0 sl2vl "$to" | tail -n 1
assert_match "smpquery" "$(smpquery -C ibfab0 sl2vl "$to")" \
	'\| 0\| 1\| 2\| 3\| 4\| 5\| 6\| 7\|10\|11\|12\|13\|14\|15\| 8\| 9\|'
assert smp_send ibfab0 "$switch1" $get $sl2vl 0x0701
assert_eq "status of an input port that is not there" "$(status)" 001c
raw_listen ibfab2 "qkey=0x1bfa"
echo "dlid=$(lid_of ibfab2) qpn=$qpn qkey=0x1bfa sl=14" >"$raw/ibfab1/send"
wait_for 5 raw_is ibfab2 packets 1
# SL 13 is mapped to VL15
echo "dlid=$(lid_of ibfab2) qpn=$qpn qkey=0x1bfa sl=13 count=5" >"$raw/ibfab1/send"
assert_eq "drops" "$(fabric_counter ibfab1 port1.drop.tx_sl)" 5
assert raw_is ibfab2 packets 1

step "VL arbitration: four blocks a port"
for block in 1 2 3 4; do
	assert smp_send ibfab0 "$switch1" $set $vl_arb $((block << 16 | 2)) \
		"data=0${block}ff"
done
for block in 1 2 3 4; do
	assert smp_send ibfab0 "$switch1" $get $vl_arb $((block << 16 | 2))
	assert_eq "block $block" "$(hex_at "$answer" 64 4)" "0${block}ff0000"
done
assert smp_send ibfab0 "$switch1" $get $vl_arb $((5 << 16 | 2))
assert_eq "status of block 5" "$(status)" 001c
assert_match "smpquery" "$(smpquery -C ibfab0 vlarb "$switch1" 2)" \
	'WEIGHT: *\|0xFF'

step "GUIDInfo: the first stays, the others become GIDs"
assert smp_send ibfab0 "$to" $set $guid_info 0 data=00000000000000aa00000000000000bb
assert smp_send ibfab0 "$to" $get $guid_info 0
assert_eq "the table" "$(hex_at "$answer" 64 24)" \
	021bfa010000010100000000000000bb0000000000000000
wait_for 5 grep -qx fe80:0000:0000:0000:0000:0000:0000:00bb \
	"$ib/ibfab1/ports/1/gids/1"
echo "dlid=$to qpn=1 qkey=0x80010000 dgid=fe80::cc length=256" >"$raw/ibfab2/send"
assert_eq "drops of an unknown GID" "$(fabric_counter ibfab1 port1.drop.rx_dgid)" 1

step "GUIDInfo: four blocks of eight, each by itself, up to the last GID"
for block in 1 2 3; do
	assert smp_send ibfab0 "$to" $set $guid_info "$block" \
		"data=$(printf '%016x' $((0xb0 + block)))"
done
last=021bfaffffffff1f
assert smp_send ibfab0 "$to" $set $guid_info 3 "data=$(hex_pad 112 b3)$last"
for block in 1 2; do
	assert smp_send ibfab0 "$to" $get $guid_info "$block"
	assert_eq "block $block" "$(hex_at "$answer" 64 64)" \
		"$(hex_pad 128 "$(printf '%016x' $((0xb0 + block)))")"
done
assert smp_send ibfab0 "$to" $get $guid_info 4
assert_eq "status of a block that is not there" "$(status)" 001c
assert_match PortInfo "$(smpquery -C ibfab0 portinfo "$to" 1)" '^GuidCap:\.+32$'
assert_match "smpquery" "$(smpquery -C ibfab0 guidinfo "$to" 1)" \
	'0x021bfaffffffff1f *$'
assert_eq GIDs "$(echo "$ib"/ibfab1/ports/1/gids/* | wc -w)" 32
wait_for 5 grep -qx fe80:0000:0000:0000:021b:faff:ffff:ff1f \
	"$ib/ibfab1/ports/1/gids/31"
raw_listen ibfab1 "qkey=0x1bfa"
echo "dlid=$to qpn=$qpn qkey=0x1bfa dgid=fe80::21b:faff:ffff:ff1f" >"$raw/ibfab2/send"
wait_for 5 raw_is ibfab1 packets 1
qpn=$(raw_received ibfab2 qpn)

step "PortCountersExtended has the error counters too"
relay=$(pma "$switch1" 1 PortRcvSwitchRelayErrors)
discards=$(pma "$switch1" 1 PortXmitDiscards)
echo "dlid=4000 qpn=$qpn qkey=0x1bfa count=300" >"$raw/ibfab1/send"
assert_eq PortRcvSwitchRelayErrors \
	"$(pma "$switch1" 1 PortRcvSwitchRelayErrors)" $((relay + 300))
# OpenSM must not remove the route
kill -STOP "$opensm_pid"
downed=$(pma "$switch1" 1 LinkDownedCounter)
echo "switch1 1 down" >"$ibfab/cable"
assert_eq LinkDownedCounter "$(pma "$switch1" 1 LinkDownedCounter)" \
	$((downed + 1))
echo "dlid=$to qpn=$qpn qkey=0x1bfa count=300" >"$raw/ibfab0/send"
assert_eq PortXmitDiscards "$(pma "$switch1" 1 PortXmitDiscards)" \
	$((discards + 300))
note "$(perfquery -C ibfab0 -x "$switch1" 1 | grep -c ':\.')" fields
assert perfquery -C ibfab0 -x -R "$switch1" 1
assert_eq PortXmitDiscards "$(pma "$switch1" 1 PortXmitDiscards)" 0
kill -CONT "$opensm_pid"
