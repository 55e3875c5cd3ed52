# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Each port gets a netdevice whose address, MTU, groups and parent agree with RFC 4391 and sysfs.
# timeout: 90
# profiles: virtual connectx3 connectx5 small
# kernel: stock 6.12 newest

. /cases/lib.sh

# group_members MGID-PATTERN: prints the port GIDs of a group's members at the SA. OpenSM
# requires its SM_Key for that.
group_members()
{
	saquery -C ibfab0 --smkey 1 -m >/run/records || return 2
	awk -v mgid="$1" '/MGID/ { in_it = $0 ~ mgid }
		in_it && /PortGid.*fe80::/ { print }' /run/records
}

member_count()
{
	group_members "$1" >/run/members || return 2
	[ "$(wc -l </run/members)" -eq "$2" ]
}

fabric_start hcas=2
ipoib_load

step "Without a subnet manager the interface comes up and waits, without carrier"
ip link set ib0 up
sleep 1
assert_eq "carrier" "$(cat /sys/class/net/ib0/carrier)" 0
assert_eq "the default MTU" "$(cat /sys/class/net/ib0/mtu)" 4092

step "With one it gets carrier by itself"
opensm_start
wait_for 20 grep -qx 1 /sys/class/net/ib0/carrier
ip link set ib0 down

hosts_make 2
for k in 0 1; do
	dev=$(dev_of h$k)
	step "h$k: $dev"
	dir=/sys/class/net/$dev
	assert_eq "the link type (ARPHRD_INFINIBAND)" "$(on h$k cat "$dir/type")" 32
	assert_eq "the address length" "$(on h$k cat "$dir/addr_len")" 20
	assert_eq "dev_port" "$(on h$k cat "$dir/dev_port")" 0
	assert_eq "dev_id" "$(on h$k cat "$dir/dev_id")" 0x0
	assert_eq "the MTU, the group's less 4" "$(on h$k cat "$dir/mtu")" 2044
	assert_eq "the parent device" \
		"$(on h$k readlink -f "$dir/device")" \
		"$(readlink -f "$ib/ibfab$k/device")"
	address=$(on h$k cat "$dir/address" | tr -d :)
	gid=$(tr -d : <"$ib/ibfab$k/ports/1/gids/0")
	assert_eq "the GID in the address" "${address#????????}" "$gid"
	assert_match "the flags and QPN" "${address%"$gid"}" '^80[0-9a-f]{6}$'
	refute test "${address%"$gid"}" = 80000000
	assert_eq "the broadcast address" "$(on h$k cat "$dir/broadcast")" \
		00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
done

step "An MTU beyond the port's is refused, one beyond the group's is limited to that, a smaller one is kept"
dev=$(dev_of h0)
must_fail ip -n h0 link set "$dev" mtu 4093
ip -n h0 link set "$dev" mtu 4092
assert_match "the MTU" "$(ip -n h0 link show "$dev")" ' mtu 2044 '
ip -n h0 link set "$dev" mtu 1500
ip -n h0 link set "$dev" down
must_fail ip -n h0 link set "$dev" mtu 4093
ip -n h0 link set "$dev" up
wait_for 20 has_carrier h0 "$dev"
assert_eq "the MTU" "$(on h0 cat "/sys/class/net/$dev/mtu")" 1500
ip -n h0 link set "$dev" down
ip -n h0 link set "$dev" mtu 4092
ip -n h0 link set "$dev" up
wait_for 20 has_carrier h0 "$dev"
assert_eq "the MTU" "$(on h0 cat "/sys/class/net/$dev/mtu")" 2044
ip -n h0 link set "$dev" mtu 1500
ip -n h0 link set "$dev" mtu 2044
pings_all h0 2 -s 2016 -M "do" 10.0.0.2

step "The SA has both ports in the broadcast and the all-hosts groups"
wait_for 20 member_count 'ff12:401b:ffff::ffff:ffff' 2
wait_for 20 member_count 'ff12:401b:ffff::1$' 2
wait_for 20 member_count 'ff12:601b:ffff::1$' 2

step "Groups are joined and left as the IP layer joins and leaves them"
ip -n h1 address add 239.1.2.3/32 dev "$(dev_of h1)" autojoin
wait_for 20 member_count 'ff12:401b:ffff::f01:203' 1
ip -n h1 address del 239.1.2.3/32 dev "$(dev_of h1)"
wait_for 20 member_count 'ff12:401b:ffff::f01:203' 0

step "A link taken down leaves all groups"
ip -n h1 link set "$(dev_of h1)" down
in_no_group()
{
	not says 'PortGid.*fe80::21b:fa01:0:101' saquery -C ibfab0 --smkey 1 -m
}
wait_for 20 in_no_group
wait_for 20 member_count 'ff12:401b:ffff::ffff:ffff' 1

step "The driver's name, and the counters"
info=$(on h0 ethtool -i "$dev")
assert_match "the driver" "$info" '^driver: ib_ipoib$'
stats=$(on h0 ethtool -S "$dev")
assert_match "the statistics" "$stats" 'group_joins: [1-9]'
assert_match "the statistics" "$stats" 'paths_learned: [1-9]'
