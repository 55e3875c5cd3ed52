# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A port's P_Key table, LID and GID prefix change while they are used; the counters of cables;
# late completions, and CQ overruns.
# timeout: 90

. /cases/lib.sh

listen()
{
	raw_listen ibfab1 "qkey=0x1bfa posted=100"
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

# pkey_is INDEX P_KEY: the entry in ib_core's cache, which events make it update.
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
lid=$(lid_of ibfab1)

step "P_Key table: each entry moves on; a QP by its index is in no partition"
listen
send "$lid"
wait_for 5 raw_is ibfab1 packets 1
change ibfab1 rotate_pkeys 3
wait_for 5 pkey_is ibfab1 3 0xffff
assert pkey_is ibfab1 0 0x0000
assert_eq "fault.pkey_table" "$(fabric_counter ibfab1 port1.fault.pkey_table)" 1
refused=$(fabric_counter ibfab1 port1.drop.rx_pkey)
send "$lid"
wait_for 5 counter_reaches ibfab1 port1.drop.rx_pkey $((refused + 1))
raw_listen ibfab1 "qkey=0x1bfa pkey_index=3"
send "$lid"
wait_for 5 raw_is ibfab1 packets 1
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
assert_eq "packets received" "$(raw_received ibfab1 packets)" 0
kill -HUP "$opensm_pid"
wait_for 10 lid_is ibfab1 "$lid"
send "$lid"
wait_for 5 raw_is ibfab1 packets 1

step "GID prefix: the old GID is not the port's any more"
gid=$(cat "$ib/ibfab1/ports/1/gids/0")
send "$lid" "dgid=$gid"
wait_for 5 raw_is ibfab1 packets 2
change ibfab1 gid_prefix 0xfec0000000000001
wait_for 5 prefix_is ibfab1 fec0:0000:0000:0001
assert_eq "fault.gid_prefix" "$(fabric_counter ibfab1 port1.fault.gid_prefix)" 1
refused=$(fabric_counter ibfab1 port1.drop.rx_dgid)
send "$lid" "dgid=$gid"
wait_for 5 counter_reaches ibfab1 port1.drop.rx_dgid $((refused + 1))
send "$lid" "dgid=fec0:0000:0000:0001:${gid#fe80:0000:0000:0000:}"
wait_for 5 raw_is ibfab1 packets 3
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
now_ms
begin=$now_ms
send "$lid" count=5
now_ms
assert_between "milliseconds of five sends" $((now_ms - begin)) 990 4000
assert_eq "packets received" "$(raw_received ibfab1 packets)" 5
assert_between "late completions" "$(late late)" 5 1000
echo "late 0" >"$ibfab/ibfab0/completions"
count=$(late late)
now_ms
begin=$now_ms
send "$lid" count=5
now_ms
assert_between "milliseconds of five sends" $((now_ms - begin)) 0 500
assert_eq "late completions" "$(late late)" "$count"

step "A CQ overruns: the next completion and all after it are lost"
listen
echo "overrun $qpn recv" >"$ibfab/ibfab1/completions"
assert_eq overruns "$(overruns)" 1
got=$(fabric_counter ibfab1 port1.unicast_rcv_packets)
send "$lid" count=3
wait_for 5 counter_reaches ibfab1 port1.unicast_rcv_packets $((got + 3))
assert_eq "packets received" "$(raw_received ibfab1 packets)" 0
must_fail sh -c "echo 'overrun 0xabcdef recv' >$ibfab/ibfab1/completions"
must_fail sh -c "echo 'overrun $qpn both' >$ibfab/ibfab1/completions"

step "Invalid changes"
for words in '1 lid 0xc000' '1 lid 0' '2 lid 5' '1 rotate_pkeys 32' '1 mtu 3' 1; do
	must_fail sh -c "echo '$words' >$ibfab/ibfab1/change"
done
