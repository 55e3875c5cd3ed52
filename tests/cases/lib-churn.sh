# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases that repeat an action many times under traffic, and check that no object is left
# over. Uses two hosts. Sources lib.sh.

# shellcheck source=lib.sh
. /cases/lib.sh

# churn_start: makes hosts h0 and h1, with partitions 1 to 8 beside the default one.
churn_start()
{
	partitions_write 8
	fabric_start hcas=2
	opensm_start -P /run/partitions.conf
	ipoib_load
	hosts_make 2
	wait_for 20 churn_pings
}

# churn_pings: pings in both directions and both families.
churn_pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2 && on h1 ping -q -c 1 -W 1 10.0.0.1 &&
		on h0 ping -q -c 1 -W 1 fd00::2 && on h1 ping -q -c 1 -W 1 fd00::1
}

# churn_works: waits for the carriers, then for all pings to be answered.
churn_works()
{
	for _host in h0 h1; do
		wait_for 60 has_carrier $_host "$(dev_of $_host)"
	done
	wait_for 60 churn_pings
}

# storm_start: starts flood pings in both directions, which survive the loss of interfaces. On
# the debug kernel a flood would leave no time for anything else, so it is 50 packets per
# second there.
storm_start()
{
	_pace=-f
	! on_debug_kernel || _pace=-i0.02
	# shellcheck disable=SC2016  # for the inner shell to expand
	traffic_start storm sh -c 'while :; do
		ip netns exec h0 ping "$0" -q -c 100 -w 2 10.0.0.2
		ip netns exec h1 ping "$0" -q -c 100 -w 2 fd00::1
		sleep 0.05
	done' $_pace
}

# links_of HOST: prints the hardware types of its interfaces, as a device that returns may
# have another name.
links_of()
{
	on "$1" sh -c 'cat /sys/class/net/*/type' | sort
}

# held: prints what might be left over: namespaces, interfaces, verbs objects (without the
# device numbers), and the driver's reference count.
held()
{
	ip netns list >/run/held.netns || return 2
	sort /run/held.netns | while read -r _host _; do
		echo "$_host" "$(links_of "$_host")"
	done
	cat /sys/class/net/*/type | sort
	rdma resource show >/run/held.rdma || return 2
	sed 's/^[0-9]*: //' /run/held.rdma
	module_users ib_ipoib
}

held_is_back()
{
	held >/run/held.now || return 2
	diff "$1" /run/held.now
}

# churn_begin WHAT: begins a step: notes what there is, and starts traffic.
churn_begin()
{
	step "$1"
	held >/run/held.before
	cat /run/held.before
	assert grep -q ibfab /run/held.before
	storm_start
}

# storm_goes_on: waits until pings, and then the traffic, are answered again.
storm_goes_on()
{
	churn_works
	_answered=$(pings_answered /run/traffic.storm.log)
	wait_for 20 storm_answered $((_answered + 1))
}

storm_answered()
{
	[ "$(pings_answered /run/traffic.storm.log)" -ge "$1" ]
}

# churn_end: waits until everything works and the same objects exist as at the beginning.
churn_end()
{
	storm_goes_on
	traffic_stop storm
	churn_works
	wait_for 20 held_is_back /run/held.before
}

# ---- Repeated actions; the first argument is how often ----

unplug_round()
{
	unplug ibfab1
	refute says link/infiniband ip -n h1 -o link show
	plug ibfab1
	# OpenSM ignores the eleventh of successive traps; SIGHUP makes it sweep
	kill -HUP "$opensm_pid"
	host_give h1 ibfab1 2
}

load_round()
{
	rmmod ib_ipoib
	ipoib_load
	host_give h0 ibfab0 1
	host_give h1 ibfab1 2
}

# rounds TIMES EVERY CMD: runs CMD TIMES times, and waits until everything works after each
# EVERYth.
rounds()
{
	for _turn in $(seq "$1"); do
		"$3"
		[ $((_turn % $2)) -ne 0 ] || storm_goes_on
	done
}

churn_unplug()
{
	churn_begin "$1 times: an HCA out and in"
	rounds "$1" 3 unplug_round
	assert_match hotplug "$(cat "$ibfab/hotplug")" "^ibfab1 in unplugged $1\$"
	churn_end
}

churn_load()
{
	churn_begin "$1 times: rmmod and insmod"
	rounds "$1" 2 load_round
	churn_end
}

churn_pkeys()
{
	churn_begin "$1 times: the P_Keys of both ports move in their tables"
	# Most rotations come while the driver still handles the one before; each tenth is
	# waited for
	for _n in $(seq "$1"); do
		_resets=$(stat_of h1 qp_resets)
		echo "1 rotate_pkeys 1" >"$ibfab/ibfab0/change"
		echo "1 rotate_pkeys 1" >"$ibfab/ibfab1/change"
		[ $((_n % 10)) -ne 0 ] || wait_for 20 stat_reaches h1 qp_resets $((_resets + 1))
	done
	# The table has 32 entries
	_rest=$((31 - ($1 - 1) % 32))
	for _hca in ibfab0 ibfab1; do
		[ $_rest -eq 0 ] || echo "1 rotate_pkeys $_rest" >"$ibfab/$_hca/change"
		assert_eq "the first P_Key of $_hca" "$(cat "$ib/$_hca/ports/1/pkeys/0")" 0xffff
	done
	churn_end
	note "QP resets for $(($1 * 2)) changes: $(stat_of h0 qp_resets), $(stat_of h1 qp_resets)"
}

churn_sm()
{
	churn_begin "$1 times: the SM is killed, and another one starts"
	for _ in $(seq "$1"); do
		_joins=$(stat_of h1 group_joins)
		opensm_kill
		opensm_start -P /run/partitions.conf
		wait_for 30 stat_reaches h1 group_joins $((_joins + 1))
	done
	churn_end
}

# child_of HOST P_KEY TURN: creates a child, sets it up, and deletes it, by netlink or sysfs
# in turn.
child_of()
{
	if [ $(($3 % 3)) -eq 0 ]; then
		on "$1" sh -c "echo 0x$2 >/sys/class/net/$parent/create_child" || return
	else
		ip -n "$1" link add link "$parent" name "$parent.$2" type ipoib \
			pkey "0x$2" || return
	fi
	ip -n "$1" link set "$parent.$2" up || return
	# delete_child removes only children that create_child has made
	if [ $(($3 % 6)) -eq 0 ]; then
		on "$1" sh -c "echo 0x$2 >/sys/class/net/$parent/delete_child"
	else
		ip -n "$1" link delete "$parent.$2"
	fi
}

# maker N TIMES: every second child has a P_Key that only this process uses, which must
# succeed. The P_Key of the others is the same for all processes, so that some are refused.
maker()
{
	parent=$(dev_of h0)
	for _turn in $(seq "$2"); do
		if [ $((_turn % 2)) -eq 0 ]; then
			child_of h0 "800$1" $((_turn / 2)) || return
		else
			child_of h0 8005 $((_turn / 2)) && echo made
		fi
	done
	echo "ends after $2"
}

churn_children()
{
	churn_begin "$1 children, by four processes at once"
	for _n in 1 2 3 4; do
		maker $_n $(($1 / 4)) >"/run/maker.$_n" 2>&1 &
		eval "maker_$_n=$!"
	done
	for _n in 1 2 3 4; do
		eval "wait \$maker_$_n" || fail "maker $_n: $(tail -n 5 /run/maker.$_n)"
		assert grep -qx "ends after $(($1 / 4))" /run/maker.$_n
	done
	note "of $(($1 / 2)) that all wanted: $(cat /run/maker.* | grep -cx made) made"
	assert grep -qx made /run/maker.*
	churn_end
}

# back DEVICE: the interface is in the first namespace, where it goes when its own ends.
back()
{
	test -e "/sys/class/net/$1"
}

churn_namespaces()
{
	churn_begin "$1 times: a namespace ends with an interface and its child in it"
	_dev=$(dev_of h1)
	for _ in $(seq "$1"); do
		ip netns add ends
		ip -n h1 link set "$_dev" netns ends
		ip -n ends link set "$_dev" up
		ip -n ends link add link "$_dev" name child type ipoib pkey 0x8001
		ip -n ends link set child up
		ip -n ends address add 10.0.0.2/24 dev "$_dev"
		ip netns delete ends
		wait_for 20 back "$_dev"
		wait_for 20 back child
		ip link delete child
		host_give h1 ibfab1 2
	done
	churn_end
}

# churn_away: unloads everything; no interface may be left.
churn_away()
{
	step "Unload everything"
	rmmod ib_ipoib
	rdma resource show
	assert_eq "interfaces" \
		"$(ip -n h0 -o link show | wc -l) $(ip -n h1 -o link show | wc -l)" "1 1"
	opensm_stop
	fabric_stop
}
