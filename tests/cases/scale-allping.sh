# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-scale.sh
# Many hosts ping each other: the time and the SA queries, with stopgaps, without, with
# trusted packets, and with the in-tree driver.
# timeout: 600
# mem: 4096
# when: soak
# soak: 1800

. /cases/lib-scale.sh

hosts=${HOSTS:-$(full_or 24 64)}

hosts_start()
{
	fabric_start hcas=$((hosts + 1)) dma=0
	opensm_start
	"$@"
	now_ms
	_begin=$now_ms
	for _k in $(seq "$hosts"); do
		host_make "h$_k" "ibfab$_k" "$_k"
	done
	for _k in $(seq "$hosts"); do
		wait_for 120 has_carrier "h$_k" "$(dev_of "h$_k")"
	done
	now_ms
	note "$hosts hosts have carrier after $((now_ms - _begin)) ms"
	# Until the switches forward packets to the last member of each group
	sleep 5
}

hosts_stop()
{
	for _k in $(seq "$hosts"); do
		ip netns del "h$_k"
	done
	wait_for 20 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

# all_ping WHAT: every host pings all others; prints time and queries.
all_ping()
{
	sa_count_begin
	: >/run/lost
	now_ms
	_begin=$now_ms
	_pids=
	seq "$hosts" | sed 's/^/10.0.0./' >/run/everybody
	for _k in $(seq "$hosts"); do
		on "h$_k" fping -q -r 9 -t 3000 -i 1 -f /run/everybody \
			>>/run/told 2>&1 &
		_pids="$_pids $!"
	done
	for _pid in $_pids; do
		wait "$_pid" || echo "a host misses others" >>/run/lost
	done
	now_ms
	took=$((now_ms - _begin))
	asked=$(sa_asked_paths)
	rules_clear ibfab0
	note "$1: $((hosts * (hosts - 1))) pairs in $took ms, $asked questions to the SA for paths"
	assert_none "lost" sort -u /run/lost
}

neighbours_unbounded

step "Stopgaps until the SA has answered"
hosts_start ipoib_load
all_ping "stopgaps"
stopgaps=$asked
hosts_stop

step "Packets are trusted"
hosts_start ipoib_load trust_learned=1
all_ping "trust_learned=1"
trusted=$asked
hosts_stop

step "Every path from the SA"
hosts_start ipoib_load learn_paths=0
all_ping "all paths from the SA"
without=$asked
hosts_stop

# With 64 hosts the in-tree driver sends ninety queries for each pair, and the time grows
# quadratically
if [ "$hosts" -le 64 ]; then
	step "The kernel's own driver"
	hosts_start intree_load
	all_ping "in-tree driver"
	hosts_stop
fi

# Each pair has two paths; the queries of the SM's own host cross no cable
pairs=$((hosts * (hosts - 1)))
assert test "$without" -ge "$pairs"
assert test "$stopgaps" -ge "$pairs"
assert test "$stopgaps" -le $((without * 5 / 4))
assert test "$trusted" -le $((without / 20))
