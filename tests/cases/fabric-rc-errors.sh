# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Each failure of a reliable connection causes the required statuses, counts, order and events.
# timeout: 300

. /cases/lib.sh

# does WORDS: the scenario ends as required.
does()
{
	rc_run from=ibfab0 to=ibfab1 "$@" || fail "$*"
	assert_eq wrong "$(rc_result wrong)" 0
	assert_eq spoilt "$(rc_result spoilt)" 0
	note "$*: $(awk '/^(send|recv|event|cm)\./' "$rc/result" | tr '\n' ' ')"
}

# fails STATUS WORDS: the same; one send has this status, and all others are flushed.
fails()
{
	_status=$1
	shift
	does "$@"
	assert_eq "sends with $_status" "$(rc_result "send.$_status")" 1
	assert_eq "sends flushed" "$(rc_result send.WR_FLUSH_ERR)" 15
	assert_eq "sends that succeeded" "$(rc_result send.SUCCESS)" 0
	assert_eq received "$(rc_result received)" 0
}

grown=0

# figure HCA NAME: sets $grown to the growth of the counter since the last call.
figure()
{
	_now=$(fabric_counter "$1" "$2")
	eval "grown=\$((_now - \${last_$1_${2##*.}:-0})) last_$1_${2##*.}=$_now"
}

# Messages may be longer than the largest bounce buffer
fabric_start hcas=3 srq=1,1,0 dma=0
module_insert /modules/ibrc.ko
opensm_start

step "No receive: the given number of retries, or an unlimited one"
for rnr in 0 1 6; do
	figure ibfab0 port1.rc.rnr_naks_received
	fails RNR_RETRY_EXC_ERR "do=rnr rnr=$rnr rnr_timer=14 timeout=20"
	figure ibfab0 port1.rc.rnr_naks_received
	assert_eq "RNR NAKs" "$grown" $((rnr + 1))
done
for cm in 0 1; do
	does "do=rnr cm=$cm size=9000 mtu=512"
	figure ibfab0 port1.rc.rnr_naks_received
	assert test "$grown" -gt 0
done
does do=rnr srq=1

step "A receive that is too short, in the first packet and in a later one"
for cm in 0 1; do
	for words in 'size=1024 recv=1023' 'size=9000 recv=8000 sge=3' \
		'size=1 recv=0' 'size=9000 mtu=256 recv=8999'; do
		fails REM_INV_REQ_ERR do=short "cm=$cm" "$words"
		assert_eq "receives too short" \
			"$(rc_result recv.LOC_LEN_ERR)" 1
		assert_eq "receives flushed" \
			"$(rc_result recv.WR_FLUSH_ERR)" 15
	done
done
# The QPs of both ends fail, and both use a SRQ.
fails REM_INV_REQ_ERR do=short recv=100 srq=1
assert_eq "last WQE" "$(rc_result event.QP_LAST_WQE_REACHED)" 2

step "Wrong L_Keys"
fails LOC_PROT_ERR do=lkey
fails LOC_PROT_ERR do=lkey size=20000 sge=4
fails REM_OP_ERR do=recv_lkey
assert_eq "receives" "$(rc_result recv.LOC_PROT_ERR)" 1
fails REM_OP_ERR do=recv_lkey srq=1
assert_eq "last WQE" "$(rc_result event.QP_LAST_WQE_REACHED)" 2

step "A peer that is gone: the number of retries and their time"
figure ibfab0 port1.rc.timeouts
for words in 'retry=0 timeout=14' 'retry=3 timeout=12' 'retry=7 timeout=10'; do
	for peer in reset error destroyed; do
		fails RETRY_EXC_ERR "do=gone $words peer=$peer"
		retry=${words#retry=}
		figure ibfab0 port1.rc.timeouts
		assert_eq "timeouts" "$grown" $((${retry%% *} + 1))
	done
done
does do=gone timeout=0
figure ibfab0 port1.rc.timeouts
assert_eq "timeouts" "$grown" 0

step "Work that is outstanding flushes, drains, or goes with its QP"
for words in '' 'cm=1' 'srq=1' 'size=20000 sge=3' 'depth=512 count=512'; do
	does "do=flush $words"
	does "do=drain $words"
	does "do=destroy $words"
done
does do=destroy size=1000000 depth=8

step "SQD, and the first message in RTR"
does do=sqd
does do=sqd size=20000 depth=8
does do=comm_est
assert_eq "event" "$(rc_result event.COMM_EST)" 1
does do=comm_est size=20000

step "SRQ: the limit event, the last WQE event, its attributes"
does do=srq_limit srq=1
does do=srq_limit srq=1 depth=4
for cm in 0 1; do
	does "do=last_wqe srq=1 qps=5 cm=$cm"
done
does do=srq_attrs srq=1 sge=3 depth=100
rc_run from=ibfab2 to=ibfab0 do=create || fail "create"

step "Full queues, and too much in one work request"
for words in depth=3 depth=64 'depth=100 srq=1 qps=2'; do
	does "do=full $words"
done
for words in sge=1 'sge=32 inline=256' 'srq=1 sge=5' 'inline=17'; do
	does "do=too_large depth=16 $words"
done

step "Attributes and transitions"
does do=attrs retry=3 rnr=2 rnr_timer=9 timeout=17 mtu=512 psn=0xfffffe
does do=attrs grh=1 sge=4 inline=100 depth=33
does do=attrs srq=1
does do=transitions
does do=transitions srq=1
does do=create

step "Requests that are refused"
does do=reject
does do=no_service

step "The tester detects errors: no scenario accepts the outcome of another"
refute rc_run from=ibfab0 to=ibfab1 do=short recv=1024 size=1024 stall=5
refute rc_run from=ibfab0 to=ibfab1 do=last_wqe srq=0
assert_eq "reason" "$(grep -c 'Invalid argument' /run/rc.log)" 1

step "It detects private data that was changed on its way, and a DREQ that nobody replies to"
# In octets 164 to 255 of the REQ
rule ibfab1 what=gmp class=0x07 attr=0x10 do=put at=200 size=4 value=0x1bfa
refute rc_run from=ibfab0 to=ibfab1 cm=1
assert_eq "private data spoilt" "$(rc_result cm_spoilt)" 1
assert_eq wrong "$(rc_result wrong)" 0
rules_clear ibfab1
rule ibfab1 dir=out what=gmp class=0x07 attr=0x16 do=drop
refute rc_run from=ibfab0 to=ibfab1 cm=1 stall=5
assert_eq "stage" "$(rc_word stage)" "done"
assert_eq "ends not disconnected" "$(rc_result wrong)" 1
rules_clear ibfab1

step "Finally messages cross, and all objects can be destroyed"
rc_run from=ibfab0 to=ibfab1 cm=1 size=random max=65536 bidir=1 qps=4 srq=1
rc_whole
rmmod ibrc
