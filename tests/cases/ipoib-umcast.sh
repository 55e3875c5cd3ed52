# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# With umcast, the driver does not join a group that another user of the port has joined;
# without umcast it joins it for the IP layer.
# kernel: stock
# soak-kernel: debug
# timeout: 120
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh
# shellcheck source=lib-groups.sh
. /cases/lib-groups.sh

mgid=ff12:401b:ffff:0:0:0:f03:303
address=239.3.3.3

# listen HOST
listen()
{
	: >"/run/heard.$1"
	traffic_start "listen.$1" on "$1" socat -u \
		"UDP4-RECV:5000,ip-add-membership=$address:$(dev_of "$1")" \
		"OPEN:/run/heard.$1,append"
	wait_for 10 on "$1" grep -q 0303 "/proc/net/igmp"
}

heard_by()
{
	: >"/run/heard.$1"
	echo probe | on h0 socat -u - "UDP4-DATAGRAM:$address:5000,ip-multicast-if=10.0.0.1" ||
		return 2
	sleep 0.2
	grep -q probe "/run/heard.$1"
}

fabric_start hcas=2
opensm_start
module_insert /modules/ibraw.ko
ipoib_load
hosts_make 2

step "Another user of h1's port joins a group at the SA"
listen h0
wait_for 10 group_has "$(dev_of h0)" "$mgid" 'complete:       yes'
echo "mgid=$mgid" >"$raw/ibfab1/join" || fail "the SA refuses"

step "With umcast, the driver leaves it alone, though the IP layer listens"
dev=$(dev_of h1)
on h1 sh -ec "echo 1 >/sys/class/net/$dev/umcast"
assert_match "shown" "$(ip -n h1 -d link show "$dev")" 'umcast +0001'
listen h1
# When a later group is there, the list has been processed
traffic_start other on h1 socat -u \
	"UDP4-RECV:5001,ip-add-membership=239.4.4.4:$dev" "OPEN:/run/other,creat"
others=/sys/kernel/debug/ipoib/${dev}_mcg
wait_for 10 grep -q ff12:401b:ffff:0:0:0:f04:404 "$others"
refute group_has "$(dev_of h1)" "$mgid" GID
for _ in 1 2 3 4 5; do
	refute heard_by h1
done

step "Without, it joins, and hears"
on h1 sh -ec "echo 0 >/sys/class/net/$dev/umcast"
wait_for 10 group_has "$(dev_of h1)" "$mgid" 'complete:       yes'
wait_for 20 heard_by h1

step "When the other user leaves, the driver's membership stays"
echo >"$raw/ibfab1/join"
for _ in 1 2 3; do
	wait_for 5 heard_by h1
done
traffic_stop listen.h1
traffic_stop other
traffic_stop listen.h0
