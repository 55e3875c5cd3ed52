# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Unreliable connections: messages of all sizes cross them unchanged. Whoever loses one packet of a
# message loses the message, and nothing else; nobody acknowledges anything. The tester finds no
# error in those of the kernel's software RoCE either. An HCA may have none.
# timeout: 180

. /cases/lib.sh

# whole WORDS: all messages from ibfab0 to ibfab1 arrive.
whole()
{
	rc_run from=ibfab0 to=ibfab1 uc=1 "$@" || fail "$*"
	rc_whole
	assert_eq "lost" "$(rc_result lost)" 0
}

# partial LOST WORDS: all messages but so many arrive, and nothing more.
partial()
{
	_lost=$1
	shift
	rc_run from=ibfab0 to=ibfab1 uc=1 credits=0 count=12 depth=12 linger=300 "lost=$_lost" "$@" ||
		fail "$*"
	assert_eq completed "$(rc_result completed)" 12
	assert_eq received "$(rc_result received)" $((12 - _lost))
	assert_eq lost "$(rc_result lost)" "$_lost"
}

# loses WORDS...: the packet that the rule matches first is lost, and one message with it.
loses()
{
	rule ibfab0 dir=out do=drop "$@"
	partial 1 size=9000 mtu=1024
	assert_eq hits "$(rule_figure ibfab0 hits)" 1
	rules_clear ibfab0
}

# The opcodes of unreliable connections (9.2)
send_first=0x20 send_middle=0x21 send_last=0x22 send_only=0x24

fabric_start hcas=3 uc=1,1,0 dma=0
rxe_start
module_insert /modules/ibrc.ko
opensm_start

step "The tester finds no error in another implementation"
for words in 'size=0 imm=1' 'size=5000 sge=4 imm=1' 'size=random sge=5 bidir=1' \
	'size=random max=65536 qps=3 signal=4 bidir=1 srq=1'; do
	rc_run from=rxe0 to=rxe0 uc=1 count=100 "$words" || fail "rxe: $words"
	rc_whole
done

step "Messages of all kinds arrive as they were sent"
for mtu in 256 4096; do
	for size in 0 1 $((mtu - 1)) "$mtu" $((mtu + 1)) $((3 * mtu)); do
		whole "mtu=$mtu" "size=$size" count=20 imm=1 sge=3
	done
done
whole size=random max=65536 count=100 sge=5 imm=1 bidir=1 signal=4 srq=1 qps=3
whole size=random max=64 inline=64 signal=16
whole psn=0xfffff8 size=9000 mtu=1024 grh=1
whole cm=1 qps=3 size=random max=65536 bidir=1 srq=1

step "Nothing is acknowledged, and nothing is sent again"
for hca in ibfab0 ibfab1; do
	for counter in acks_sent acks_received rnr_naks_sent sequence_naks_sent retransmits timeouts \
			gaps dropped; do
		assert_eq "$hca $counter" "$(fabric_counter "$hca" "port1.rc.$counter")" 0
	done
done

step "A lost packet loses its message, wherever it belongs to it"
loses "opcode=$send_first" every=3 count=1
loses "opcode=$send_middle" every=10 count=1
loses "opcode=$send_last" every=3 count=1
rule ibfab0 dir=out do=drop "opcode=$send_only" every=3 count=2
partial 2 size=1000
rules_clear ibfab0
assert test "$(fabric_counter ibfab1 port1.rc.gaps)" -gt 0
assert test "$(fabric_counter ibfab1 port1.rc.dropped)" -gt 0

step "A packet that comes twice, or too late, loses its message"
rule ibfab0 dir=out do=duplicate "opcode=$send_middle" every=10 count=1
partial 1 size=9000 mtu=1024
rules_clear ibfab0
rule ibfab0 dir=out do=reorder "opcode=$send_middle" every=10 count=1 by=1 ms=30
partial 1 size=9000 mtu=1024
rules_clear ibfab0

step "A WR that cannot hold a message is an error of its owner"
refute rc_run from=ibfab0 to=ibfab1 uc=1 size=3000 recv=2000 count=3
assert_eq "receives" "$(rc_result recv.LOC_LEN_ERR)" 1
assert_eq "sends that failed" "$(rc_result send.RETRY_EXC_ERR)" 0

step "A peer that is gone is not noticed"
rule ibfab0 dir=out what=data do=drop
refute rc_run from=ibfab0 to=ibfab1 uc=1 credits=0 size=3000 count=10 stall=1
assert_eq stage "$(rc_word stage)" stalled
assert_eq completed "$(rc_result completed)" 10
assert_eq received "$(rc_result received)" 0
rules_clear ibfab0

step "An HCA without unreliable connections"
refute rc_run from=ibfab0 to=ibfab2 uc=1
assert_eq stage "$(rc_word stage)" create_qp
rc_run from=ibfab0 to=ibfab2 || fail "reliable connections"
rc_whole
rmmod ibrc
