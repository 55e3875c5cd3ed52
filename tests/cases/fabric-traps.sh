# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Traps reach OpenSM at once and are repeated until they are repressed; notices are forwarded
# to a subscriber.
# timeout: 180

. /cases/lib.sh

# log_has TEXT: whether OpenSM's log, which is written after the TrapRepress is sent, has TEXT.
log_has()
{
	grep -qE "$1" /var/log/opensm.log
}

# subscribe TRAP: ibfab1 subscribes at the SA by Set(InformInfo) to a generic notice of any
# type, LID and producer. Security traps require the SM_Key, 1 by default.
subscribe()
{
	_mad=$(printf '0103020200000000%016x0003000000000000%024x%016x' 0 0 1)
	_info=$(printf '%032xffff000000000101ffff%04x0000010000ffffff' 0 "$1")
	assert mad_send ibfab1 qp=1 dlid=1 "mad=$(hex_pad 112 "$_mad")$_info"
	assert_eq "method and status of InformInfo" \
		"$(hex_at "$answer" 3 3)" 810000
}

# reported TRAP: prints the number of Reports of this trap that arrived at ibfab1. The notice
# begins at octet 56; the trap number is 4 octets further.
reported()
{
	cut -c 121-124 "$rawmad/ibfab1/reports" | grep -cix "$(printf '%04x' "$1")"
}

has_report()
{
	[ "$(reported "$1")" -ge "$2" ]
}

# Without periodic sweeps OpenSM learns of changes only by traps.
fabric_start hcas=4 switches=2
module_insert /modules/ibraw.ko
module_insert /modules/ibrawmad.ko
opensm_start -s 0 -D 0x03
assert sa_knows ibfab3

step "Trap 128: a pulled cable, and plugged in again"
now_ms
begin=$now_ms
echo "ibfab3 1 down" >"$ibfab/cable"
wait_for 5 not sa_knows ibfab3
now_ms
note "the SA forgot the HCA after $((now_ms - begin)) ms"
assert_between "milliseconds" $((now_ms - begin)) 0 3000
wait_for 5 counter_reaches switch1 port0.trap128.repressed 1
now_ms
begin=$now_ms
echo "ibfab3 1 up" >"$ibfab/cable"
wait_for 10 grep -q ACTIVE "$ib/ibfab3/ports/1/state"
now_ms
note "ACTIVE again after $((now_ms - begin)) ms"
wait_for 5 counter_reaches switch1 port0.trap128.repressed 2
assert_eq "traps 128 sent" "$(fabric_counter switch1 port0.trap128.sent)" 2
wait_for 5 log_has 'Received Generic Notice type:1 num:128 .*Producer:2'

step "Repeated at intervals of SubnetTimeOut (1.07 s) until it is repressed"
kill -STOP "$opensm_pid"
sent=$(fabric_counter switch1 port0.trap128.sent)
echo "ibfab3 1 down" >"$ibfab/cable"
sleep 5
again=$(($(fabric_counter switch1 port0.trap128.sent) - sent))
note "$again traps in 5 s"
assert_between "traps in 5 s" "$again" 4 6
repressed=$(fabric_counter switch1 port0.trap128.repressed)
kill -CONT "$opensm_pid"
wait_for 5 counter_reaches switch1 port0.trap128.repressed $((repressed + 1))
sent=$(fabric_counter switch1 port0.trap128.sent)
sleep 2
assert_eq "traps 128 after the TrapRepress" \
	"$(fabric_counter switch1 port0.trap128.sent)" "$sent"
note "$(fabric_counter switch1 port0.trap.stray_represses) TrapRepresses for the others"
echo "ibfab3 1 up" >"$ibfab/cable"
wait_for 10 grep -q ACTIVE "$ib/ibfab3/ports/1/state"

step "Trap 144: NodeDescription of an HCA, also of OpenSM's own"
echo "renamed" >"$ib/ibfab2/node_desc"
wait_for 5 sa_knows 'renamed *'
echo "renamed too" >"$ib/ibfab0/node_desc"
wait_for 5 sa_knows 'renamed too *'
wait_for 5 counter_reaches ibfab0 port1.trap144.repressed 1

step "Trap 144: CapabilityMask"
exec 3</dev/infiniband/issm2
wait_for 5 counter_reaches ibfab2 port1.trap144.repressed 2
wait_for 5 log_has "LID $(lid_of ibfab2), GUID 0x021bfa0100000201, new CapabilityMask 0x[0-9a-f]*[2367abef]\$"
exec 3<&-
wait_for 5 counter_reaches ibfab2 port1.trap144.repressed 3

step "A subscriber: traps are forwarded, and the SA reports groups and GIDs"
for trap in 128 258 66 67 64 65; do
	subscribe "$trap"
done
ipv6_off
intree_load
wait_for 10 netdev_of ibfab2
dev=$(netdev_of ibfab2)
ip link set "$dev" up
wait_for 10 has_report 66 1
ip link set "$dev" down
wait_for 10 has_report 67 1
note "traps 66, 67: $(reported 66) groups created, $(reported 67) deleted"
echo "ibfab3 1 down" >"$ibfab/cable"
wait_for 10 has_report 65 1
wait_for 10 has_report 128 1
echo "ibfab3 1 up" >"$ibfab/cable"
wait_for 10 has_report 64 1
gid=$(cut -c 145-176 "$rawmad/ibfab1/reports" | tail -n 1)
note "$(wc -l <"$rawmad/ibfab1/reports") Reports, the last one's GID $gid"

step "Traps 257 and 258: bad P_Key, bad Q_Key"
raw_listen ibfab2 "qkey=0x1bfa"
echo "dlid=$(lid_of ibfab2) qpn=$qpn qkey=0xbad count=3" >"$raw/ibfab1/send"
wait_for 5 counter_reaches ibfab2 port1.trap258.repressed 1
assert_eq "Q_Key violations" "$(fabric_counter ibfab2 port1.trap258.raised)" 3
wait_for 5 has_report 258 1
report=$(grep -i '^.\{120\}0102' "$rawmad/ibfab1/reports" | head -n 1)
# The notice's details begin at octet 66: LIDADDR1 at 68, LIDADDR2 at 70, KEY at 72, QP2 at 80
assert_eq "LIDADDR1" "0x$(hex_at "$report" 68 2)" \
	"$(printf '0x%04x' "$(lid_of ibfab1)")"
assert_eq "LIDADDR2" "0x$(hex_at "$report" 70 2)" \
	"$(printf '0x%04x' "$(lid_of ibfab2)")"
assert_eq "KEY" "$(hex_at "$report" 72 4)" 00000bad
assert_eq "QP2" "0x$(hex_at "$report" 80 4)" "$(printf '0x%08x' "$qpn")"
# From QP1, whose sender chooses the P_Key index, with an empty entry of the table
echo "dlid=$(lid_of ibfab2) qpn=$qpn qkey=0x1bfa pkey_index=7" >"$raw/ibfab1/send"
wait_for 5 counter_reaches ibfab2 port1.trap257.repressed 1
wait_for 5 log_has 'num:257 '
