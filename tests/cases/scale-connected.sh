# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-scale.sh
# A host in connected mode with a connection to each of many peers: time, memory, queries to the SA,
# and how long the interface takes to go down; this driver and the in-tree driver.
# timeout: 300
# mem: 12288
# when: soak
# soak: 1500

. /cases/lib-scale.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# The SM has an HCA of its own
peers=${HOSTS:-$(full_or 32 254)}

address()
{
	echo "10.0.$(($1 / 200)).$(($1 % 200 + 1))"
}

# available: prints KiB of memory that are not in use.
available()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemAvailable:/ { print $2 }' /proc/meminfo
}

# hosts_up: makes the hub, h0 with ibfab1, and the peers, and waits until all have carrier.
hosts_up()
{
	for _k in $(seq 0 "$peers"); do
		ip netns add "h$_k"
		wait_for 30 netdev_of "ibfab$((_k + 1))"
		_ib=$(netdev_of "ibfab$((_k + 1))")
		ip link set "$_ib" netns "h$_k"
		in_netns "h$_k" sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
		ip -n "h$_k" address add "$(address "$_k")/16" dev "$_ib"
		mode_set "h$_k" connected
		ip -n "h$_k" link set "$_ib" up
	done
	for _k in $(seq 0 "$peers"); do
		wait_for 60 has_carrier "h$_k" "$(dev_of "h$_k")"
	done
}

# connected COUNT: all answer packets that are too long for datagram mode, and the hub has so many
# connections. (The in-tree driver sends such packets by connections only.)
connected()
{
	on h0 fping -q -r 9 -t 3000 -i 5 -b 9000 -f /run/everybody >/dev/null || return
	[ "$driver" = intree ] || opened_is h0 "$1"
}

through()
{
	driver=$1
	step "With $driver"
	# A switch has cables for 252 HCAs
	fabric_start "hcas=$((peers + 2))" switches=2 dma=0 garbage=0
	opensm_start
	_before=$(available)
	"$2"
	hosts_up
	_idle=$(available)
	slab_list /run/slab.before
	sa_count_begin
	now_ms
	_begin=$now_ms
	wait_for 120 connected "$peers"
	now_ms
	_took=$((now_ms - _begin))
	_asked=$(sa_asked_paths)
	note "$driver: $peers peers connected, and all answer 9000 octets, after $_took ms;" \
		"$_asked path queries of all hosts"
	slab_list /run/slab.after
	note "$driver: KiB of memory of each of $((peers + 1)) interfaces: when up" \
		"$(((_before - _idle) / (peers + 1))), with the connections" \
		"$(((_before - $(available)) / (peers + 1)))"
	_slabs=$(slab_growth /run/slab.before /run/slab.after)
	note "$driver: slabs of the connections: $((_slabs / 1024)) KiB," \
		"of them $(slab_growth_by /run/slab.before /run/slab.after "$peers")"
	now_ms
	_begin=$now_ms
	ip -n h0 link set "$(dev_of h0)" down
	now_ms
	_down=$((now_ms - _begin))
	note "$driver: the interface goes down in $_down ms"
	if [ "$driver" = ours ]; then
		assert test "$_down" -lt 1000
		assert test "$_asked" -le $((2 * peers))
		assert_eq "failed" "$(stat_of h0 conns_failed)" 0
	fi
	for _k in $(seq 0 "$peers"); do
		ip netns delete "h$_k"
	done
	rules_clear ibfab0
	wait_for 60 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

neighbours_unbounded
for k in $(seq "$peers"); do
	address "$k"
done >/run/everybody
through ours ipoib_load
# The in-tree driver takes longer to leave its namespaces
echo 120 >/proc/sys/kernel/hung_task_timeout_secs
through intree intree_load
