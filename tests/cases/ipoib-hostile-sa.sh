# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Answers of the SA that cannot be are believed neither of groups nor of paths, a busy SA is not besieged, and once it is well again so is the interface.
# timeout: 300
# soak: 600
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh

# lie ATTRIBUTE OCTET SIZE VALUE: in all that ibfab1 is told of such records these octets are others.
# IBA 15.2.5.16, 15.2.5.17: octet 0 is the record's first.
lie()
{
	rules_clear ibfab1
	rule ibfab1 what=sa_answer method=0x81 "attr=$1" do=put "at=$((56 + $2))" "size=$3" "value=$4"
}

bounce()
{
	ip -n h1 link set "$dev" down
	ip -n h1 link set "$dev" up
}

# group_refused OCTET SIZE VALUE: no carrier by a broadcast group like that.
group_refused()
{
	note "MCMemberRecord, octet $1: $3"
	_failures=$(stat_of h1 group_failures)
	lie 0x38 "$@"
	bounce
	wait_for 10 stat_reaches h1 group_failures $((_failures + 1))
	assert_between "lies" "$(rule_figure ibfab1 hits)" 1 100
	refute has_carrier h1 "$dev"
}

pings()
{
	on h1 ping -q -c 1 -W 1 "$@"
}

# path_refused OCTET SIZE VALUE: nothing is sent by a path like that, and none is lost but on purpose.
path_refused()
{
	note "PathRecord, octet $1: $3"
	_failures=$(stat_of h1 path_failures)
	lie 0x35 "$@"
	bounce
	wait_for 20 has_carrier h1 "$dev"
	refute pings 10.0.0.1
	wait_for 10 stat_reaches h1 path_failures $((_failures + 1))
	assert_between "lies" "$(rule_figure ibfab1 hits)" 1 100
}

# all_well: what is there recovers by itself.
all_well()
{
	rules_clear ibfab1
	wait_for 25 has_carrier h1 "$dev"
	wait_for 25 pings 10.0.0.1
	pings_all h1 5 10.0.0.1
	pings_all h1 5 fd00::1
}

# busy ATTRIBUTE: for a while the SA says that it is. Sets $questions, how often it was asked.
busy()
{
	rules_clear ibfab1
	rule ibfab1 what=sa_answer method=0x81 "attr=$1" do=status value=1
	bounce
	_end=$(($(date +%s) + $(full_or 20 120)))
	while [ "$(date +%s)" -lt "$_end" ]; do
		pings 10.0.0.1 >/run/ping.log && fail "a ping is answered: $(cat /run/ping.log)"
		sleep 0.2
	done
	questions=$(rule_figure ibfab1 hits)
}

fabric_start hcas=2
opensm_start
# A peer that has spoken would need no answer
ipoib_load learn_paths=0
hosts_make 2
dev=$(dev_of h1)
on h1 sysctl -q -w "net.ipv6.conf.$dev.keep_addr_on_down=1"
pings 10.0.0.1

step "The broadcast group: MTU codes that are none, rates that are unknown, LIDs that are no group's"
for code in 0 6 7 0x1f 0x3f; do
	group_refused 38 1 $((0x80 | code))
done
for code in 0 1 0x20 0x3f; do
	group_refused 42 1 $((0x80 | code))
done
for mlid in 0 1 0xbfff 0xffff; do
	group_refused 36 2 $mlid
done

step "The answer is about another group"
group_refused 12 4 0xfffffffe
all_well

step "Paths: LIDs that are no port's, rates that are unknown, somebody else's GID"
for dlid in 0 0xc000 0xfffe 0xffff; do
	path_refused 40 2 $dlid
done
for code in 0 1 0x20 0x3f; do
	path_refused 55 1 $((0x80 | code))
done
path_refused 20 4 0x12345678
all_well

step "The answer is to a question that nobody asked"
asked=$(stat_of h1 path_queries)
rules_clear ibfab1
# Of a MAD the transaction ID's lower half
rule ibfab1 what=sa_answer method=0x81 attr=0x35 do=put at=12 size=4 value=0
bounce
wait_for 20 has_carrier h1 "$dev"
refute pings 10.0.0.1
assert stat_reaches h1 path_queries $((asked + 1))
assert_between "answers to nobody's questions" "$(rule_figure ibfab1 hits)" 1 20
all_well

step "An SA that is busy when asked for paths"
busy 0x35
note "questions: $questions"
assert_between "questions" "$questions" 4 "$(full_or 20 60)"
all_well

step "And when asked for groups: that is, for some ten at once"
busy 0x38
note "questions: $questions"
refute has_carrier h1 "$dev"
assert_between "questions" "$questions" 4 "$(full_or 40 120)"
all_well
