# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# Under traffic the HCA is pulled out and plugged in, and the driver is unloaded and loaded, again and again.
# kernel: debug
# timeout: 150
# when: soak
# soak: 1500

. /cases/lib-churn.sh

unplug_round()
{
	unplug ibfab1
	assert_eq "devices of h1" "$(dev_of h1)" ""
	plug ibfab1
	# OpenSM ignores the eleventh trap in a row; this has it sweep
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

# rounds TIMES EVERY CMD: each EVERY-th comes when all works, the others sooner.
rounds()
{
	for _turn in $(seq "$1"); do
		"$3"
		[ $((_turn % $2)) -ne 0 ] || churn_works
	done
}

churn_start

times=$(full_or 6 100)
churn_begin "$times times: an HCA out and in"
rounds "$times" 3 unplug_round
assert_match hotplug "$(cat "$ibfab/hotplug")" "^ibfab1 in unplugged $times\$"
churn_end

times=$(full_or 4 50)
churn_begin "$times times: rmmod and insmod"
rounds "$times" 2 load_round
churn_end

step "Away with all of it"
rmmod ib_ipoib
rdma resource show
assert_eq "interfaces" "$(ip -n h0 -o link show | wc -l) $(ip -n h1 -o link show | wc -l)" "1 1"
opensm_stop
fabric_stop
