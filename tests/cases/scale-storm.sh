# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-scale.sh
# After a power failure all hosts query at once an SA that takes 50 ms for an answer and loses
# one in 20. All come up, with no more MADs than the in-tree driver sends for that.
# timeout: 200
# mem: 6144
# when: soak
# soak: 900

. /cases/lib-scale.sh

hosts=${HOSTS:-$(full_or 16 128)}

# broadcasts: prints how many interfaces have joined the broadcast group.
broadcasts()
{
	# shellcheck disable=SC2086  # a word each
	groups_joined '401b.*ffff:ffff$' $files
}

all_are_up()
{
	[ "$(broadcasts)" -eq "$hosts" ]
}

# all_groups: no interface waits for any group.
all_groups()
{
	# shellcheck disable=SC2086  # a word each
	not grep -q 'complete: *no$' $files
}

all_have_carrier()
{
	[ "$(for _k in $(seq "$hosts"); do has_carrier "h$_k" "$(dev_of "h$_k")" && echo yes; done | wc -l)" -eq "$hosts" ]
}

# members: prints the number of ports in the broadcast group at the SA.
members()
{
	saquery -C ibfab0 --smkey 1 MCMR --mgid ff12:401b:ffff::ffff:ffff >/run/records || return 2
	grep -c PortGid /run/records
}

members_are()
{
	[ "$(members)" -eq "$1" ]
}

# everyone_answers: all hosts answer h1
everyone_answers()
{
	on h1 fping -q -r 9 -t 3000 -i 1 -f /run/everybody
}

# through WHAT LOAD...
through()
{
	step "$1"
	_what=$1
	shift
	fabric_start "hcas=$((hosts + 1))" dma=0
	"$@"
	for _k in $(seq "$hosts"); do
		host_make "h$_k" "ibfab$_k" "$_k"
	done
	files=$(for _k in $(seq "$hosts"); do
		echo "/sys/kernel/debug/ipoib/$(dev_of "h$_k")_mcg"
	done)
	sa_count_begin
	rule ibfab0 dir=out what=sa_answer do=drop ppm=50000
	rule ibfab0 dir=out what=sa_answer do=delay ms=50
	now_ms
	_begin=$now_ms
	opensm_start
	now_ms
	note "$_what: all ports ACTIVE after $((now_ms - _begin)) ms"
	wait_for 60 all_are_up
	now_ms
	note "$_what: all $hosts hosts up after $((now_ms - _begin)) ms, $(sa_asked) MADs to the SA"
	wait_for 60 all_groups
	now_ms
	asked=$(sa_asked)
	note "$_what: in all their groups after $((now_ms - _begin)) ms, $asked MADs to the SA," \
		"of whose answers $(rule_figure ibfab0 hits 3) were lost"
	assert test "$(rule_figure ibfab0 hits 3)" -gt 0
	wait_for 30 all_have_carrier
	wait_for 30 members_are "$hosts"
	wait_for 60 everyone_answers
	note "$_what: everyone answers"
	for _k in $(seq "$hosts"); do
		ip netns del "h$_k"
	done
	rules_clear ibfab0
	wait_for 30 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

neighbours_unbounded
seq "$hosts" | sed 's/^/10.0.0./' >/run/everybody
through "this driver" ipoib_load
ours=$asked
through "in-tree driver" intree_load
assert_between "MADs to the SA with this driver" "$ours" 1 "$asked"
