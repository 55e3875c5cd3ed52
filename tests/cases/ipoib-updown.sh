# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Down and up many times under traffic; afterwards the slab caches have no more objects than
# before.
# timeout: 600
# soak: 600
# smp: 2
# append: slub_debug=F
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh

times=$(full_or 40 100)
! on_debug_kernel || times=20

cycle()
{
	ip -n h1 link set "$dev" down
	ip -n h1 link set "$dev" up
	ip -n h1 address replace fd00::2/64 dev "$dev" nodad
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h1)
address=$(on h1 cat "/sys/class/net/$dev/address")

traffic_start ping4 on h0 ping -f -q 10.0.0.2
traffic_start ping6 on h0 ping -f -q fd00::2

step "A few rounds first, to fill the caches"
for _ in $(seq 10); do
	cycle
done
wait_for 20 has_carrier h1 "$dev"
slabs /run/slabs.before

step "$times times down and up"
for n in $(seq "$times"); do
	cycle
	# Down in every state: mostly at once, sometimes with carrier and traffic.
	if [ $((n % 10)) -eq 0 ]; then
		wait_for 20 has_carrier h1 "$dev"
		sleep 0.3
	fi
done

step "Traffic goes on, by the same address"
wait_for 20 has_carrier h1 "$dev"
traffic_stop ping4
traffic_stop ping6
for n in 4 6; do
	assert test "$(pings_answered /run/traffic.ping$n.log)" -ge "$times"
done
pings_all h0 5 10.0.0.2
pings_all h0 5 fd00::2
assert_eq "the address" "$(on h1 cat "/sys/class/net/$dev/address")" "$address"

step "Nothing is left behind"
slabs_settle /run/slabs.before "$times"
