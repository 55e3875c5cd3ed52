# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# HCAs that are unplugged under traffic and plugged in again, many times, leave nothing behind
# and come back as they were.
# timeout: 600
# smp: 2
# append: slub_debug=F

. /cases/lib.sh

listen()
{
	wait_for 10 test -e "$raw/ibfab1/listen"
	echo "qkey=0x1bfa posted=500" >"$raw/ibfab1/listen"
}

round()
{
	unplug ibfab1
	refute test -e "$ib/ibfab1"
	refute test -e "$ibfab/ibfab1"
	plug ibfab1
	# OpenSM ignores the eleventh of successive traps; SIGHUP makes it sweep
	kill -HUP "$opensm_pid"
	wait_for 10 fabric_ports_active
	listen
	wait_for 10 raw_reaches ibfab1 packets 20
}

fabric_start hcas=3
module_insert /modules/ibraw.ko
opensm_start
guid=$(port_guid ibfab1)
lid=$(lid_of ibfab1)
listen
qpn=$(raw_received ibfab1 qpn)
# Sends to an HCA that is gone succeed, like all datagrams.
# shellcheck disable=SC2016  # for the inner shell to expand
traffic_start raw sh -ec 'while :; do echo "$1" >"$2"; done' sh \
	"dlid=$lid qpn=$qpn qkey=0x1bfa length=2000 count=100" "$raw/ibfab0/send"
wait_for 10 raw_reaches ibfab1 packets 100

step "Out: its device is gone, and its place in the fabric"
assert sa_knows ibfab1
unplug ibfab1
refute test -e "$ib/ibfab1"
assert_match "hotplug" "$(cat "$ibfab/hotplug")" '^ibfab1 out unplugged 1$'
assert_match "the topology" "$(cat "$ibfab/topology")" '^switch0 .* 2 lid 0 lmc 0 DOWN -$'
wait_for 10 not sa_knows ibfab1
must_fail sh -c "echo 'ibfab1 unplug' >$ibfab/hotplug"

step "In again: GUID and LID are what they were, and the traffic arrives"
plug ibfab1
must_fail sh -c "echo 'ibfab1 plug' >$ibfab/hotplug"
wait_for 10 fabric_ports_active
assert_eq GUID "$(port_guid ibfab1)" "$guid"
assert_eq LID "$(lid_of ibfab1)" "$lid"
listen
assert_eq QPN "$(raw_received ibfab1 qpn)" "$qpn"
wait_for 10 raw_reaches ibfab1 packets 100

step "Twelve times, with rules that hold packets and completions that come late"
repeat 3 round
slabs /run/before
repeat 12 round
slabs_settle /run/before 12
rule switch0 port=2 dir=out what=data do=delay every=3 ms=300
echo "late 50" >"$ibfab/ibfab1/completions"
rule ibfab1 what=data do=delay every=2 ms=400
wait_for 10 counter_reaches ibfab1 port1.fault.delay 5
repeat 2 round
rules_clear switch0
traffic_stop raw

step "Invalid HCAs and words"
must_fail sh -c "echo 'ibfab3 unplug' >$ibfab/hotplug"
must_fail sh -c "echo 'ibfab1 away' >$ibfab/hotplug"

step "The module is removed while one is out"
unplug ibfab2
rmmod ibraw
opensm_stop
fabric_stop
