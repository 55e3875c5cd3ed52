# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# One of two guests appears dead, and the other takes over its address. Without a lease the SA
# has both records until the dead one returns, with a lease until that has expired. A guest
# that is shut down deletes its records.
# guests: 2
# timeout: 300

. /cases/lib-trunk.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

# Guest a has the SM and 10.0.0.1, guest b 10.0.0.2
trunk_start hcas=1
ipv6_off
subnet_up a
ipoib_load
wait_for 20 netdev_of ibfab0
dev=$(netdev_of ibfab0)
ip address add "10.0.0.$part/24" dev "$dev"
ip link set "$dev" up

# known ADDRESS NUMBER: the SA has NUMBER records of it.
known()
{
	ibats -j resolve "$1" >/run/known || [ $? = 1 ] || return 2
	[ "$(jq length /run/known)" = "$2" ]
}

conflicts_are()
{
	[ "$(ibats -j stats | jq '.[0].conflicts')" = "$1" ]
}

# life [PARAMETER...]: loads the modules; both guests have their records.
life()
{
	ats_load sa_timeout_ms=500 "$@"
	for _n in 1 2; do
		wait_for 30 known "10.0.0.$_n" 1
	done
	pair_barrier alive
}

# death: guest b does not respond any more, and appears dead.
death()
{
	if pair_here b; then
		ip link set "$trunk" down
	fi
	wait_for 20 trunk_is down
	pair_barrier dead
}

# birth: guest b's modules are loaded anew, as after a reboot. The old ones are unloaded while
# they cannot reach the SA, so that they leave their records.
birth()
{
	pair_here a || rmmod ib_ats
	pair_barrier forgotten
	if pair_here b; then
		ip link set "$trunk" up
	fi
	wait_for 20 trunk_is up
	wait_for 30 links_are ACTIVE
	pair_barrier born
}

step "b dies, and a takes its address over: the SA has both, and an audit says so"
life
death
if pair_here a; then
	ip address add 10.0.0.2/24 dev "$dev"
	wait_for 20 known 10.0.0.2 2
	ibats audit
	wait_for 20 conflicts_are 1
	assert_eq "the rival" \
		"$(ibats -j list | jq -r '.[] | select(.address == "10.0.0.2").rival')" \
		"$(jq -r '.[].gid' /run/known | grep -v "$(ibats -j list | jq -r '.[0].gid')")"
	ip address delete 10.0.0.2/24 dev "$dev"
	wait_for 20 known 10.0.0.2 1
fi

step "b is back without its address: the record that it left is deleted"
pair_here a || ip address delete 10.0.0.2/24 dev "$dev"
birth
! pair_here a || assert known 10.0.0.2 1
pair_barrier seen
pair_here a || ats_load sa_timeout_ms=500
wait_for 30 known 10.0.0.2 0
pair_barrier gone
rmmod ib_ats
pair_barrier again

step "With a lease b's record ends by itself, and a's does not"
pair_here a || ip address add 10.0.0.2/24 dev "$dev"
life lease=30 audit_interval=0
death
if pair_here a; then
	ip address add 10.0.0.2/24 dev "$dev"
	wait_for 20 known 10.0.0.2 2
	wait_for 70 known 10.0.0.2 1
	assert_eq "who has it" "$(jq -r '.[].gid' /run/known)" \
		"$(ibats -j list | jq -r '.[0].gid')"
	ip address delete 10.0.0.2/24 dev "$dev"
	wait_for 20 known 10.0.0.2 0
	assert known 10.0.0.1 1
	rmmod ib_ats
fi
birth

step "b is shut down: its records go before it does"
life
if pair_here a; then
	wait_for 60 test -e "$pair/ended"
	wait_for 10 known 10.0.0.2 0
	assert known 10.0.0.1 1
else
	pair_leave
fi
