# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A port's P_Key table, LID and GID prefix change under its users; cables count their pulls; completions come late, and CQs overrun.
# timeout: 90

. /cases/lib.sh

raw=/sys/kernel/debug/ibraw

received()
{
	awk -v name="$1" '$1 == name { print $2 }' "$raw/ibfab1/received"
}

listen()
{
	echo "qkey=0x1bfa posted=100" >"$raw/ibfab1/listen"
	qpn=$(received qpn)
}

# send DLID [WORDS]
send()
{
	_dlid=$1
	shift
	echo "dlid=$_dlid qpn=$qpn qkey=0x1bfa $*" >"$raw/ibfab0/send"
}

change()
{
	_node=$1
	shift
	echo "1 $*" >"$ibfab/$_node/change"
}

# What ib_core remembers, which events have it look at again.
pkey_is()
{
	[ "$(cat "$ib/$1/ports/1/pkeys/$2")" = "$3" ]
}

lid_is()
{
	[ "$(cat "$ib/$1/ports/1/lid")" = "$(printf '0x%x' "$2")" ]
}

prefix_is()
{
	[ "$(cut -d: -f1-4 "$ib/$1/ports/1/gids/0")" = "$2" ]
}

age_ms()
{
	read -r ms _ </proc/uptime
	ms=$(printf %s "$ms" | tr -d .)0
}

late()
{
	awk -v name="$1" '$1 == name { print $2 }' "$ibfab/ibfab0/completions"
}

overruns()
{
	awk '$1 == "overrun" { print $2 }' "$ibfab/ibfab1/completions"
}

fabric_start hcas=2
module_insert /modules/ibraw.ko
opensm_start
lid=$(printf '%d' "$(cat "$ib/ibfab1/ports/1/lid")")

step "P_Key table: each entry moves on; a QP by its index is in no partition"
listen
send "$lid"
wait_for 5 grep -qx 'packets 1' "$raw/ibfab1/received"
change ibfab1 rotate_pkeys 3
wait_for 5 pkey_is ibfab1 3 0xffff
assert pkey_is ibfab1 0 0x0000
assert_eq "fault.pkey_table" "$(fabric_counter ibfab1 port1.fault.pkey_table)" 1
refused=$(fabric_counter ibfab1 port1.drop.rx_pkey)
send "$lid"
wait_for 5 counter_reaches ibfab1 port1.drop.rx_pkey $((refused + 1))
echo "qkey=0x1bfa pkey_index=3" >"$raw/ibfab1/listen"
qpn=$(received qpn)
send "$lid"
wait_for 5 grep -qx 'packets 1' "$raw/ibfab1/received"
change ibfab1 rotate_pkeys 29
wait_for 5 pkey_is ibfab1 0 0xffff

step "LID: the old one does not reach it, and OpenSM's next sweep puts it right"
listen
change ibfab1 lid 0x4d
wait_for 5 lid_is ibfab1 0x4d
assert_eq "fault.lid" "$(fabric_counter ibfab1 port1.fault.lid)" 1
refused=$(fabric_counter ibfab1 port1.drop.rx_dlid)
send "$lid"
wait_for 5 counter_reaches ibfab1 port1.drop.rx_dlid $((refused + 1))
assert_eq "packets received" "$(received packets)" 0
kill -HUP "$opensm_pid"
wait_for 10 lid_is ibfab1 "$lid"
send "$lid"
wait_for 5 grep -qx 'packets 1' "$raw/ibfab1/received"

step "GID prefix: the old GID is not the port's any more"
gid=$(cat "$ib/ibfab1/ports/1/gids/0")
send "$lid" "dgid=$gid"
wait_for 5 grep -qx 'packets 2' "$raw/ibfab1/received"
change ibfab1 gid_prefix 0xfec0000000000001
wait_for 5 prefix_is ibfab1 fec0:0000:0000:0001
assert_eq "fault.gid_prefix" "$(fabric_counter ibfab1 port1.fault.gid_prefix)" 1
refused=$(fabric_counter ibfab1 port1.drop.rx_dgid)
send "$lid" "dgid=$gid"
wait_for 5 counter_reaches ibfab1 port1.drop.rx_dgid $((refused + 1))
send "$lid" "dgid=fec0:0000:0000:0001:${gid#fe80:0000:0000:0000:}"
wait_for 5 grep -qx 'packets 3' "$raw/ibfab1/received"
change ibfab1 gid_prefix 0xfe80000000000000
wait_for 5 prefix_is ibfab1 fe80:0000:0000:0000

step "Cable"
echo "ibfab1 1 down" >"$ibfab/cable"
echo "ibfab1 1 up" >"$ibfab/cable"
echo "ibfab1 1 down" >"$ibfab/cable"
assert_eq "fault.cable_down" "$(fabric_counter ibfab1 port1.fault.cable_down)" 2
assert_eq "fault.cable_up" "$(fabric_counter ibfab1 port1.fault.cable_up)" 1
assert_match "the port's state" "$(cat "$ib/ibfab1/ports/1/state")" DOWN
echo "ibfab1 1 up" >"$ibfab/cable"
wait_for 10 fabric_ports_active

step "Late completions: each send takes 200 ms, and arrives at once"
listen
echo "late 200" >"$ibfab/ibfab0/completions"
age_ms
begin=$ms
send "$lid" count=5
age_ms
assert_between "milliseconds of five sends" $((ms - begin)) 990 4000
assert_eq "packets received" "$(received packets)" 5
assert_between "late completions" "$(late late)" 5 1000
echo "late 0" >"$ibfab/ibfab0/completions"
count=$(late late)
age_ms
begin=$ms
send "$lid" count=5
age_ms
assert_between "milliseconds of five sends" $((ms - begin)) 0 500
assert_eq "late completions" "$(late late)" "$count"

step "A CQ overruns: the next completion and all after it are lost"
listen
echo "overrun $qpn recv" >"$ibfab/ibfab1/completions"
assert_eq overruns "$(overruns)" 1
got=$(fabric_counter ibfab1 port1.unicast_rcv_packets)
send "$lid" count=3
wait_for 5 counter_reaches ibfab1 port1.unicast_rcv_packets $((got + 3))
assert_eq "packets received" "$(received packets)" 0
refute sh -c "echo 'overrun 0xabcdef recv' >$ibfab/ibfab1/completions"
refute sh -c "echo 'overrun $qpn both' >$ibfab/ibfab1/completions"

step "Changes that make no sense"
for words in '1 lid 0xc000' '1 lid 0' '2 lid 5' '1 rotate_pkeys 32' '1 mtu 3' 1; do
	refute sh -c "echo '$words' >$ibfab/ibfab1/change"
done
