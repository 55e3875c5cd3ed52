# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# RDMA WRITEs of zero length succeed, longer ones are refused, as are invalid requests. Lost
# answers are requested again.
# timeout: 300

. /cases/lib.sh

# transfer WORDS: sends from ibfab0 to ibfab1, and retransmits after a tenth of a second.
transfer()
{
	rc_run from=ibfab0 to=ibfab1 count=50 timeout=14 "$@"
}

# counter HCA NAME
counter()
{
	fabric_counter "$1" "port1.$2"
}

# spoils FROM TO WORDS: the opcode of one packet is changed, and the responder refuses it.
spoils()
{
	_was=$(counter ibfab1 rc.invalid_naks_sent)
	_seen=$(counter ibfab0 rc.invalid_naks_received)
	rule ibfab1 what=data opcode="$1" do=opcode value="$2" count=1
	shift 2
	assert transfer do=invalid "$@"
	assert_eq "rule's hits" "$(rule_figure ibfab1 hits)" 1
	rules_clear ibfab1
	assert_eq "NAKs sent" "$(counter ibfab1 rc.invalid_naks_sent)" \
		$((_was + 1))
	assert_eq "NAKs received" "$(counter ibfab0 rc.invalid_naks_received)" \
		$((_seen + 1))
	assert_eq spoilt "$(rc_result spoilt)" 0
}

# survives HCA COUNTER RULE WORDS: the counter counts each hit of the rule, and nothing is lost.
survives()
{
	_hca=$1 _name=$2 _was=$(counter "$1" "$2")
	rule "$_hca" "what=data $3"
	shift 3
	assert transfer "$@"
	rc_whole
	_hits=$(rule_figure "$_hca" hits)
	rules_clear "$_hca"
	note "$_hits hits, $_name $_was -> $(counter "$_hca" "$_name")"
	assert [ "$_hits" -ge 1 ]
	assert [ "$(counter "$_hca" "$_name")" -ge $((_was + _hits)) ]
}

# Messages may be longer than the largest bounce buffer
fabric_start hcas=2 dma=0
opensm_start
module_insert /modules/ibrc.ko

step "RDMA WRITE"
assert rc_run from=ibfab0 to=ibfab1 do=write
assert rc_run from=ibfab0 to=ibfab1 do=write srq=1 size=20000
assert rc_run from=ibfab0 to=ibfab1 do=write_denied
assert_eq "access NAKs" "$(counter ibfab1 rc.access_naks_sent)" 2
assert_eq "access NAKs seen" "$(counter ibfab0 rc.access_naks_received)" 2

step "A middle without a first, a first without its length, a first in a message"
spoils 0x04 0x01 size=100
spoils 0x04 0x00 size=100
spoils 0x02 0x04 size=10000
spoils 0x01 0x00 size=20000 mtu=256 srq=1

step "RDMA READ, an atomic, a reserved opcode, an RDMA WRITE in a SEND's middle"
spoils 0x04 0x0c size=100
spoils 0x04 0x14 size=100
spoils 0x04 0x1f size=100
spoils 0x01 0x07 size=20000 mtu=256

step "Packets that are not requests are ignored, and the request is sent again"
survives ibfab1 rc.strays "opcode=0x04 do=opcode value=0x0d count=1" size=100
survives ibfab1 rc.strays "opcode=0x04 do=opcode value=0x12 count=1" size=100
survives ibfab1 drop.rx_opcode "opcode=0x04 do=opcode value=0x24 count=1" \
	size=100
survives ibfab1 drop.rx_opcode "opcode=0x04 do=opcode value=0x64 count=1" \
	size=100

step "Answers lost, doubled, late"
was=$(counter ibfab1 rc.duplicates)
survives ibfab0 rc.timeouts "opcode=0x11 do=drop count=3" size=100 depth=1
assert [ "$(counter ibfab1 rc.duplicates)" -ge $((was + 3)) ]
survives ibfab0 rc.strays "opcode=0x11 do=duplicate" size=100 depth=1
survives ibfab0 drop.fault "opcode=0x11 do=drop every=2" size=random bidir=1
survives ibfab0 fault.delay "opcode=0x11 do=delay every=5 ms=200" size=random
rmmod ibrc
fabric_stop
