# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# One packet in ten is lost in each direction, and others are duplicated, late or out of
# order: reliable connections deliver everything.
# timeout: 400
# when: soak
# soak: 400

. /cases/lib.sh

# grown HCA NAME: prints the growth of the counter since mark.
grown()
{
	echo $(($(fabric_counter "$1" "port1.$2") -
		$(awk -v name="port1.$2" '$1 == name { print $2 }' "/run/mark.$1")))
}

mark()
{
	for _hca in ibfab0 ibfab1; do
		cat "$ibfab/$_hca/counters" >"/run/mark.$_hca"
	done
}

# whole WORDS: all messages from ibfab0 to ibfab1 arrive.
whole()
{
	rc_run from=ibfab0 to=ibfab1 timeout=15 "$@" || fail "$*"
	rc_whole
	note "$*: $(rc_result bytes) octets, $(($(rc_result ns) / 1000000)) ms," \
		"$(grown ibfab0 rc.retransmits) sent again," \
		"$(grown ibfab0 rc.timeouts) timeouts"
}

# both WORDS: adds a rule for outgoing packets of both HCAs.
both()
{
	for _hca in ibfab0 ibfab1; do
		rule "$_hca" dir=out "$@"
	done
}

# all_hit: each rule of both HCAs has matched; then they are removed.
all_hit()
{
	for _hca in ibfab0 ibfab1; do
		assert grep -q ' hits ' "$ibfab/$_hca/rules"
		note "$_hca: $(awk '{ for (i = 1; i < NF; i++)
			if ($i == "hits") printf "%s ", $(i + 1) }' "$ibfab/$_hca/rules")hits"
		assert_eq "rules of $_hca without a hit" \
			"$(grep -c ' hits 0 ' "$ibfab/$_hca/rules")" 0
		rules_clear "$_hca"
	done
}

# grew NAME HCA...: the counter has grown.
grew()
{
	_name=$1
	shift
	for _hca; do
		[ "$(grown "$_hca" "$_name")" -gt 0 ] || fail "$_hca: $_name has not grown"
	done
}

fabric_start hcas=2
module_insert /modules/ibrc.ko
opensm_start

step "Nothing is lost, and nothing is sent again"
mark
whole size=20000 count=50 mtu=256 bidir=1
assert_eq "gaps" "$(grown ibfab1 rc.gaps)" 0

step "One in ten is lost, requests and answers"
for mtu in 256 4096; do
	mark
	both what=data do=drop ppm=100000
	whole "mtu=$mtu" size=20000 count=20 sge=3 imm=1
	whole "mtu=$mtu" size=random max=65536 count=60 sge=4 bidir=1 signal=3
	whole "mtu=$mtu" size=random max=3000 count=100 qps=4 bidir=1 srq=1
	grew rc.retransmits ibfab0 ibfab1
	grew rc.timeouts ibfab0
	grew rc.gaps ibfab0 ibfab1
	grew rc.sequence_naks_sent ibfab1
	grew fault.drop ibfab0 ibfab1
	all_hit
done

step "A message of one packet is lost several times, and arrives"
mark
rule ibfab0 dir=out what=data do=drop count=5
whole size=100 count=1
assert_eq hits "$(rule_figure ibfab0 hits)" 5
assert [ "$(grown ibfab0 rc.retransmits)" -ge 5 ]
assert [ "$(grown ibfab0 rc.timeouts)" -ge 5 ]
rules_clear ibfab0

step "Its ACK is lost: it is sent again, and not delivered twice"
mark
rule ibfab1 dir=out what=data do=drop count=3
whole size=100 count=1
assert_eq hits "$(rule_figure ibfab1 hits)" 3
assert [ "$(grown ibfab1 rc.duplicates)" -ge 3 ]
rules_clear ibfab1

step "Lost once more than the retries allow"
rule ibfab0 dir=out what=data do=drop count=4
refute rc_run from=ibfab0 to=ibfab1 timeout=12 retry=3 size=100 count=1
assert_eq "sends" "$(rc_result send.RETRY_EXC_ERR)" 1
assert_eq hits "$(rule_figure ibfab0 hits)" 4
rules_clear ibfab0
rule ibfab0 dir=out what=data do=drop count=3
whole timeout=18 retry=3 size=100 count=1
rules_clear ibfab0

step "Every third comes twice"
mark
both what=data do=duplicate every=3
whole mtu=256 size=20000 count=40 bidir=1 linger=100
whole mtu=4096 size=random max=65536 count=60 bidir=1 srq=1
grew rc.duplicates ibfab0 ibfab1
all_hit

step "Some are overtaken"
mark
both what=data do=reorder every=7 by=3 ms=30
whole mtu=256 size=20000 count=40 bidir=1
whole mtu=4096 size=random max=65536 count=60 bidir=1 qps=2
grew rc.gaps ibfab0 ibfab1
all_hit

step "Some come after those that were sent again in their place"
mark
both what=data do=delay every=97 ms=200
whole mtu=512 size=20000 count=30 bidir=1 linger=500
whole mtu=4096 size=random max=65536 count=60 bidir=1 linger=500
grew rc.duplicates ibfab0 ibfab1
all_hit

step "All of it at once, with P_Keys spoilt"
mark
both what=data do=drop ppm=50000
both what=data do=duplicate every=11
both what=data do=reorder every=13 by=2 ms=20
both what=data do=delay every=101 ms=150
both what=data do=pkey value=0x1234 every=37
whole mtu=256 size=random max=30000 count=60 bidir=1 sge=3 imm=1
whole mtu=4096 size=random max=100000 count=60 bidir=1 qps=3 srq=1 credits=0
grew drop.rx_pkey ibfab0 ibfab1
all_hit

# The SA is on ibfab0's side, so its answers to ibfab1 cross a cable.
step "The connection manager's messages are lost, and an answer of the SA"
both class=0x07 do=drop every=3
rule ibfab1 what=sa_answer do=drop count=1
rc_run from=ibfab1 to=ibfab0 cm=1 qps=3 count=5 || fail "connections"
rc_whole
for event in REQ REP DREQ; do
	assert_eq "$event" "$(rc_result "cm.${event}_RECEIVED")" 3
done
all_hit

step "Afterwards nothing is lost any more"
mark
whole cm=1 size=20000 count=50 mtu=256 bidir=1
assert_eq "gaps" "$(grown ibfab1 rc.gaps)" 0
rmmod ibrc
