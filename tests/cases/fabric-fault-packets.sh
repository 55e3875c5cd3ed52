# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Each rule for packets has its effect, according to its counters and to what arrives.
# timeout: 90

. /cases/lib.sh

# send N [WORDS]: sends N datagrams from ibfab0 to the receiver at ibfab1.
send()
{
	_n=$1
	shift
	echo "dlid=$lid qpn=$qpn qkey=0x1bfa count=$_n $*" >"$raw/ibfab0/send"
}

# listen: creates a receiver, with all counters 0; sets $qpn.
listen()
{
	raw_listen ibfab1 "qkey=0x1bfa posted=1000"
}

fabric_start hcas=2
module_insert /modules/ibraw.ko
opensm_start
lid=$(lid_of ibfab1)

step "Drop: every 3rd of 30 that come in, then only the first 4"
listen
rule ibfab1 what=data do=drop every=3
send 30
wait_for 5 raw_reaches ibfab1 packets 20
assert_eq "packets received" "$(raw_received ibfab1 packets)" 20
assert_eq seen "$(rule_figure ibfab1 seen)" 30
assert_eq hits "$(rule_figure ibfab1 hits)" 10
assert_eq "fault.drop" "$(fabric_counter ibfab1 port1.fault.drop)" 10
assert_eq "drop.fault" "$(fabric_counter ibfab1 port1.drop.fault)" 10
rules_clear ibfab1
rule ibfab1 what=data do=drop count=4
send 10
wait_for 5 raw_reaches ibfab1 packets 26
assert_eq hits "$(rule_figure ibfab1 hits)" 4
rules_clear ibfab1
send 10
wait_for 5 raw_reaches ibfab1 packets 36
assert_none "rules left" cat "$ibfab/ibfab1/rules"

step "Drop: 100000 of a million, at a switch's port on the way out"
listen
before=$(fabric_counter switch0 port2.fault.drop)
rule switch0 port=2 dir=out do=drop ppm=100000 what=data
send 2000
hits=$(rule_figure switch0 hits)
wait_for 10 raw_reaches ibfab1 packets $((2000 - hits))
assert_between "hits in 2000" "$hits" 140 260
assert_eq "packets received" "$(raw_received ibfab1 packets)" $((2000 - hits))
assert_eq "fault.drop" "$(fabric_counter switch0 port2.fault.drop)" \
	$((before + hits))
note "$hits of 2000 dropped"
rules_clear switch0

step "Duplicate: every 5th of 20"
listen
rule ibfab0 dir=out what=data do=duplicate every=5
send 20
wait_for 5 raw_reaches ibfab1 packets 24
assert_eq "packets received" "$(raw_received ibfab1 packets)" 24
assert_eq "fault.duplicate" "$(fabric_counter ibfab0 port1.fault.duplicate)" 4
rules_clear ibfab0

step "Delay: 400 ms"
listen
rule ibfab1 what=data do=delay ms=400
now_ms
begin=$now_ms
send 3
assert_eq "packets received" "$(raw_received ibfab1 packets)" 0
wait_for 5 raw_reaches ibfab1 packets 3
now_ms
assert_between "milliseconds till all came" $((now_ms - begin)) 390 3000
assert_eq "fault.delay" "$(fabric_counter ibfab1 port1.fault.delay)" 3
assert_eq held "$(rule_figure ibfab1 held)" 0
rules_clear ibfab1

step "Delay: what is held when the rule goes arrives"
rule ibfab1 what=data do=delay ms=60000
send 5
wait_for 5 counter_reaches ibfab1 port1.fault.delay 8
assert_eq held "$(rule_figure ibfab1 held)" 5
rules_clear ibfab1
wait_for 5 raw_reaches ibfab1 packets 8

step "Reorder: the first is overtaken by two"
listen
rule ibfab1 what=data do=reorder count=1 by=2 ms=60000
send 1 payload=01
wait_for 5 counter_reaches ibfab1 port1.fault.reorder 1
send 1 payload=02
wait_for 5 raw_reaches ibfab1 packets 1
assert_eq "the last payload" "$(raw_received ibfab1 last.payload)" 02
send 1 payload=03
wait_for 5 raw_reaches ibfab1 packets 3
assert_eq "the last payload" "$(raw_received ibfab1 last.payload)" 01
rules_clear ibfab1

step "Reorder: none comes to overtake it, and it goes after its time"
listen
rule ibfab1 what=data do=reorder count=1 ms=300
send 1 payload=01
wait_for 5 raw_reaches ibfab1 packets 1
rules_clear ibfab1

step "A spoilt P_Key and Q_Key are refused as such"
listen
rule ibfab1 what=data do=pkey
refused=$(fabric_counter ibfab1 port1.drop.rx_pkey)
send 3
wait_for 5 counter_reaches ibfab1 port1.drop.rx_pkey $((refused + 3))
assert_eq "fault.pkey" "$(fabric_counter ibfab1 port1.fault.pkey)" 3
rules_clear ibfab1
rule ibfab1 what=data do=qkey every=2
refused=$(fabric_counter ibfab1 port1.drop.rx_qkey)
send 10
wait_for 5 raw_reaches ibfab1 packets 5
wait_for 5 counter_reaches ibfab1 port1.drop.rx_qkey $((refused + 5))
assert_eq "fault.qkey" "$(fabric_counter ibfab1 port1.fault.qkey)" 5
rules_clear ibfab1
rule ibfab1 what=data do=qkey value=0x1bfa
echo "dlid=$lid qpn=$qpn qkey=0x999" >"$raw/ibfab0/send"
wait_for 5 raw_reaches ibfab1 packets 6
rules_clear ibfab1

step "Truncated, and still a sound packet; the octets that are left are the first"
listen
rule ibfab1 what=data do=truncate value=5 every=2
send 2 payload=01020304050607
wait_for 5 raw_reaches ibfab1 packets 2
assert_eq "the last payload" "$(raw_received ibfab1 last.payload)" 0102030405
assert_eq octets "$(raw_received ibfab1 bytes)" 12
assert_eq "fault.truncate" "$(fabric_counter ibfab1 port1.fault.truncate)" 1
rules_clear ibfab1
listen
rule ibfab1 what=data do=truncate value=2
send 1 payload=01020304 dgid="$(cat "$ib/ibfab1/ports/1/gids/0")"
wait_for 5 raw_reaches ibfab1 packets 1
assert_eq "the last payload" "$(raw_received ibfab1 last.payload)" 0102
assert_eq GRH "$(raw_received ibfab1 last.grh)" 1
send 1 payload=
send 1 payload=0a
wait_for 5 raw_reaches ibfab1 packets 3
assert_eq "the last payload" "$(raw_received ibfab1 last.payload)" 0a
assert_eq "packets that could be cut" "$(rule_figure ibfab1 seen)" 2
rules_clear ibfab1
listen
rule switch0 port=2 dir=out what=data do=truncate
send 20 length=1000
wait_for 5 raw_reaches ibfab1 packets 20
assert_between "octets of 20000" "$(raw_received ibfab1 bytes)" 2000 18000
rules_clear switch0

step "Garbled: one octet of eight is another, or some number of them"
listen
rule ibfab1 what=data do=garble value=1
for turn in 1 2 3; do
	send 1 payload=0000000000000000
	wait_for 5 raw_reaches ibfab1 packets $turn
	got=$(raw_received ibfab1 last.payload)
	assert_match "the payload" "$got" '^[0-9a-f]{16}$'
	same=0
	for at in 0 1 2 3 4 5 6 7; do
		[ "$(hex_at "$got" $at 1)" != 00 ] || same=$((same + 1))
	done
	assert_eq "octets that are the same" $same 7
done
assert_eq "fault.garble" "$(fabric_counter ibfab1 port1.fault.garble)" 3
rules_clear ibfab1
rule ibfab1 what=data do=garble count=1
send 1 length=100
wait_for 5 raw_reaches ibfab1 packets 4
assert_eq "length" "$(raw_received ibfab1 last.length)" 100
rules_clear ibfab1
rule ibfab1 what=data do=garble at=7 value=1
send 1 payload=0000000000000000
wait_for 5 raw_reaches ibfab1 packets 5
assert_match "only octet 7 changes" "$(raw_received ibfab1 last.payload)" \
	'^0{14}([1-9a-f].|.[1-9a-f])$'
rules_clear ibfab1
rule ibfab1 what=data do=garble at=8
send 1 payload=0000000000000000
wait_for 5 raw_reaches ibfab1 packets 6
assert_eq "packets that end there" "$(rule_figure ibfab1 hits)" 0
rules_clear ibfab1

step "SMPs are lost, or those of one attribute"
rule ibfab1 what=smp do=drop
must_fail smpquery -C ibfab0 -t 200 -D nodeinfo 0,1,2
assert [ "$(fabric_counter ibfab1 port1.fault.drop)" -gt 10 ]
assert smpquery -C ibfab0 -t 200 -D nodeinfo 0,1
rules_clear ibfab1
rule ibfab1 do=drop class=0x81 attr=0x16
must_fail smpquery -C ibfab0 -t 200 -D pkeys 0,1,2
assert smpquery -C ibfab0 -t 200 -D nodeinfo 0,1,2
rules_clear ibfab1
assert smpquery -C ibfab0 -t 200 -D nodeinfo 0,1,2

step "GMPs are lost; datagrams and SMPs are not"
listen
rule ibfab1 what=gmp do=drop
must_fail perfquery -C ibfab0 -t 200 "$lid" 1
send 2
wait_for 5 raw_reaches ibfab1 packets 2
assert smpquery -C ibfab0 -t 200 -D nodeinfo 0,1,2
rules_clear ibfab1
assert perfquery -C ibfab0 -t 200 "$lid" 1

step "The SA's answers are refused with a status, delayed, and lost"
saquery -C ibfab1 NR >/run/records
assert_eq "node records" "$(grep -c '^NodeRecord' /run/records)" 3
rule ibfab1 what=sa_answer do=status value=0x0300
for query in NR CPI; do
	must_fail saquery -C ibfab1 "$query" >/run/refused 2>&1
	assert_match "saquery $query" "$(cat /run/refused)" '0x0300'
done
assert_eq "fault.status" "$(fabric_counter ibfab1 port1.fault.status)" \
	"$(rule_figure ibfab1 hits)"
rules_clear ibfab1
rule ibfab1 what=sa_answer do=delay ms=600
now_ms
begin=$now_ms
saquery -C ibfab1 CPI >/run/records
now_ms
assert_between "milliseconds of saquery" $((now_ms - begin)) 590 10000
rules_clear ibfab1
dropped=$(fabric_counter ibfab1 port1.fault.drop)
rule ibfab1 what=sa_answer do=drop
must_fail saquery -C ibfab1 -t 200 CPI
counter_reaches ibfab1 port1.fault.drop $((dropped + 1))
rules_clear ibfab1
saquery -C ibfab1 CPI >/run/records

step "Invalid rules"
for words in do=nothing port=1 'do=drop port=2' 'do=drop every=0' \
	'do=drop ppm=1000001' 'do=status' 'do=pkey value=0x10000' \
	'do=drop often' 'do=delay ms=60001' 'clear 99999'; do
	must_fail sh -c "echo '$words' >$ibfab/ibfab1/rules"
done
assert_none "rules left" cat "$ibfab"/*/rules

step "One rule of two is removed"
rule ibfab1 do=drop what=smp
rule ibfab1 do=duplicate what=data
id=$(awk 'NR == 1 { print $1 }' "$ibfab/ibfab1/rules")
echo "clear $id" >"$ibfab/ibfab1/rules"
assert_match "what is left" "$(cat "$ibfab/ibfab1/rules")" do=duplicate
assert smpquery -C ibfab0 -t 200 -D nodeinfo 0,1,2
rules_clear ibfab1
