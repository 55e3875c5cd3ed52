# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Invalid answers of the SA are not used, neither for groups nor for paths; a busy SA is not
# flooded with requests; and the interface recovers with the SA.
# timeout: 300
# soak: 600
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh

# lie ATTRIBUTE OCTET SIZE VALUE: replaces these octets in all such records that are sent to
# ibfab1. Octet 0 is the record's first (IBA 15.2.5.16, 15.2.5.17).
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

# group_refused OCTET SIZE VALUE: there is no carrier with such a record of the broadcast group.
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

# path_refused OCTET SIZE VALUE: no packet is sent with such a path, and only the expected
# failures are counted.
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

# all_well: the interface recovers without help.
all_well()
{
	rules_clear ibfab1
	wait_for 25 has_carrier h1 "$dev"
	wait_for 25 pings 10.0.0.1
	pings_all h1 5 10.0.0.1
	pings_all h1 5 fd00::1
}

# busy ATTRIBUTE: the SA returns "busy" for a while. Sets $questions to the number of requests.
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
# Otherwise the path would be learned from the peer's packets
ipoib_load learn_paths=0
hosts_make 2
dev=$(dev_of h1)
on h1 sysctl -q -w "net.ipv6.conf.$dev.keep_addr_on_down=1"
pings 10.0.0.1

step "The broadcast group: invalid MTU codes, unknown rates, LIDs that are not multicast"
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

step "Paths: LIDs that are not unicast, unknown rates, another GID"
for dlid in 0 0xc000 0xfffe 0xffff; do
	path_refused 40 2 $dlid
done
for code in 0 1 0x20 0x3f; do
	path_refused 55 1 $((0x80 | code))
done
path_refused 20 4 0x12345678
all_well

step "The answer has the transaction ID of no request"
asked=$(stat_of h1 path_queries)
rules_clear ibfab1
# Replaces the lower half of the MAD's transaction ID
rule ibfab1 what=sa_answer method=0x81 attr=0x35 do=put at=12 size=4 value=0
bounce
wait_for 20 has_carrier h1 "$dev"
refute pings 10.0.0.1
assert stat_reaches h1 path_queries $((asked + 1))
assert_between "answers to nobody's questions" "$(rule_figure ibfab1 hits)" 1 20
all_well

step "An SA that is busy for path queries"
busy 0x35
note "questions: $questions"
assert_between "questions" "$questions" 4 "$(full_or 20 60)"
all_well

step "And for joins, of some ten groups at once"
busy 0x38
note "questions: $questions"
refute has_carrier h1 "$dev"
assert_between "questions" "$questions" 4 "$(full_or 40 120)"
all_well
