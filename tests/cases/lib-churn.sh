# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases that do the same many times: two hosts, traffic meanwhile, and nothing
# left over behind it. Sources lib.sh.

# shellcheck source=lib.sh
. /cases/lib.sh

# churn_start: hosts h0 and h1, with the SM's partitions 1 to 8 beside the default.
churn_start()
{
	partitions_write 8
	fabric_start hcas=2
	opensm_start -P /run/partitions.conf
	ipoib_load
	hosts_make 2
	wait_for 20 churn_pings
}

# churn_pings: both ways, both families.
churn_pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2 && on h1 ping -q -c 1 -W 1 10.0.0.1 &&
		on h0 ping -q -c 1 -W 1 fd00::2 && on h1 ping -q -c 1 -W 1 fd00::1
}

# churn_works: after whatever was done, with the carrier back.
churn_works()
{
	for _host in h0 h1; do
		wait_for 60 has_carrier $_host "$(dev_of $_host)"
	done
	wait_for 60 churn_pings
}

# storm_start: floods both ways, whatever becomes of the interfaces. The debug kernel
# would do nothing else: fifty packets a second are enough for it.
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

# links_of HOST: their kinds of address; a device that returns may have another name.
links_of()
{
	on "$1" sh -c 'cat /sys/class/net/*/type' | sort
}

# held: what may be left over: namespaces, interfaces, objects of verbs (but not
# the devices' numbers), users of the driver.
held()
{
	for _host in $(ip netns list | awk '{ print $1 }' | sort); do
		echo "$_host" "$(links_of "$_host")"
	done
	cat /sys/class/net/*/type | sort
	rdma resource show | sed 's/^[0-9]*: //'
	module_users ib_ipoib
}

held_is_back()
{
	held >/run/held.now
	diff "$1" /run/held.now
}

# churn_begin WHAT: with traffic, and noting what there is.
churn_begin()
{
	step "$1"
	held >/run/held.before
	cat /run/held.before
	storm_start
}

# churn_end: all works, and there is as much as there was.
churn_end()
{
	traffic_stop storm
	churn_works
	wait_for 20 held_is_back /run/held.before
}
