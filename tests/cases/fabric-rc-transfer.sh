# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Messages of all sizes cross reliable connections unchanged and in order: connected by hand
# and by CM, in one direction and both, with and without SRQs.
# timeout: 300

. /cases/lib.sh

# whole WORDS: all messages from ibfab0 to ibfab1 arrive.
whole()
{
	rc_run from=ibfab0 to=ibfab1 "$@" || fail "$*"
	rc_whole
	note "$*: $(rc_result bytes) octets, $(($(rc_result ns) / 1000000)) ms"
}

# received_some N: the run in progress has received N messages.
received_some()
{
	[ "$(rc_result received)" -ge "$1" ]
}

ten_arrive()
{
	rc_run from=ibfab0 to=ibfab1 count=10 "$@"
}

# Messages may be longer than the largest bounce buffer
fabric_start hcas=3 switches=2 srq=1,1,0 dma=0
module_insert /modules/ibrc.ko
opensm_start

step "Sizes about each multiple of the path MTU, by hand"
for mtu in 256 1024 4096; do
	for size in 0 1 3 $((mtu - 1)) "$mtu" $((mtu + 1)) $((3 * mtu)); do
		whole "mtu=$mtu size=$size count=20 imm=1 sge=3"
	done
done

step "As many packets as the path MTU asks for"
before=$(fabric_counter ibfab0 port1.xmit_packets)
whole size=100001 mtu=256 count=10
sent=$(($(fabric_counter ibfab0 port1.xmit_packets) - before))
assert_between "packets sent" "$sent" $((10 * 391)) $((10 * 391 + 400))

step "Up to 1 MiB, by hand and by the connection manager"
whole size=1048576 count=8 depth=4 sge=32
for cm in 0 1; do
	whole "cm=$cm size=random count=200 sge=5 imm=1"
	whole "cm=$cm size=random count=100 sge=5 imm=1 bidir=1 signal=5 mtu=512"
done

step "The connection manager's messages, and what they carry"
whole cm=1 qps=3 count=20
assert_eq "DREPs without private data" "$(rc_result cm_bare)" 0
for event in REQ REP RTU DREQ DREP; do
	assert_eq "$event" "$(rc_result "cm.${event}_RECEIVED")" 3
done
for scenario in reject no_service; do
	rc_run from=ibfab0 to=ibfab1 "do=$scenario" || fail "$scenario"
	assert_eq "REJs" "$(rc_result cm.REJ_RECEIVED)" 1
	assert_eq "spoilt private data" "$(rc_result cm_spoilt)" 0
done

step "Many connections of one HCA, with and without SRQs"
for srq in 0 1; do
	whole "cm=1 srq=$srq size=random max=65536 qps=16 count=40 bidir=1 sge=2"
	whole "srq=$srq size=random max=20000 qps=4 count=100 bidir=1 imm=1"
done

step "Inline data, unsignaled sends, GRHs, PSNs that wrap"
whole size=random max=256 inline=256 sge=4 count=300 signal=16 bidir=1
whole size=random max=10000 grh=1 count=100 bidir=1
whole size=5000 mtu=256 psn=0xfffff8 count=20 bidir=1
whole cm=1 size=random max=20000 mtu=256 psn=0xffffff count=50

step "A receiver that is often not ready holds the sender up, and loses nothing"
whole size=random max=9000 credits=0 depth=8 count=200 bidir=1
whole size=100 credits=0 depth=64 qps=4 srq=1 count=300

step "Within one HCA, and to the one without SRQs"
rc_run from=ibfab0 to=ibfab0 size=random max=20000 count=100 bidir=1
rc_whole
rc_run from=ibfab2 to=ibfab0 cm=1 size=random max=20000 count=100 bidir=1
rc_whole

step "The tester detects errors: one octet is wrong"
refute rc_run from=ibfab0 to=ibfab1 size=9000 sge=3 flaw=5 count=10
assert_eq "spoilt contents" "$(rc_result spoilt.contents)" 1
assert_eq "spoilt" "$(rc_result spoilt)" 1

step "The HCA is removed while messages are under way; the tester releases it"
for cm in 0 1; do
	echo "from=ibfab0 to=ibfab1 cm=$cm qps=4 bidir=1 count=1000000" >/run/endless
	(cat /run/endless >"$rc/run") 2>/run/endless.log &
	writer=$!
	wait_for 60 received_some 200
	unplug ibfab1
	must_fail wait "$writer"
	assert test "$(rc_result received)" -ge 200
	assert_eq spoilt "$(rc_result spoilt)" 0
	plug ibfab1
	wait_for 60 fabric_ports_active
	wait_for 60 ten_arrive "cm=$cm"
	rc_whole
done
rmmod ibrc
