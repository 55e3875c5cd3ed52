# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# rmmod and insmod many times under traffic; afterwards the slab caches have no more objects
# than before.
# timeout: 900
# soak: 900
# smp: 2
# append: slub_debug=F
# profiles: small connectx3 connectx5 virtual
# kernel: stock 6.12 newest

. /cases/lib.sh

times=$(full_or 10 50)
! on_debug_kernel || times=10

load()
{
	ipoib_load
	for k in 0 1; do
		dev=$(netdev_of ibfab$k)
		ip link set "$dev" netns h$k
		ip -n h$k link set "$dev" up
		ip -n h$k address add 10.0.0.$((k + 1))/24 dev "$dev"
		ip -n h$k address add fd00::$((k + 1))/64 dev "$dev" nodad
	done
}

reload()
{
	rmmod ib_ipoib
	load
}

fabric_start hcas=2
opensm_start
for k in 0 1; do
	ip netns add h$k
	ip -n h$k link set lo up
done
load
setsid sh -c '. /cases/lib.sh; while :; do
	ip netns exec h0 ping -f -q -c 200 -w 2 10.0.0.2
	ip netns exec h1 ping -f -q -c 200 -w 2 fd00::1
	sleep 0.05
done' >/run/storm.log 2>&1 &
storm=$!

step "A few rounds first, to fill the caches"
for _ in $(seq 5); do
	reload
done
wait_for 20 has_carrier h1 "$(dev_of h1)"
slabs /run/slabs.before

step "$times times rmmod and insmod"
for n in $(seq "$times"); do
	reload
	if [ $((n % 5)) -eq 0 ]; then
		wait_for 20 has_carrier h0 "$(dev_of h0)"
		wait_for 20 has_carrier h1 "$(dev_of h1)"
		wait_for 10 on h0 ping -q -c 1 -W 1 10.0.0.2
	fi
done

step "Traffic goes on"
kill -s TERM -- -$storm
assert test "$(pings_answered /run/storm.log)" -ge $((times * 4))
wait_for 20 has_carrier h0 "$(dev_of h0)"
wait_for 20 has_carrier h1 "$(dev_of h1)"
pings_all h0 5 10.0.0.2
pings_all h0 5 fd00::2

step "Nothing is left behind"
slabs_settle /run/slabs.before "$times"
rmmod ib_ipoib
refute test -e /sys/module/ib_ipoib
