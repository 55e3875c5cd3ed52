# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Containers with interfaces of the host's GID: none can register in a partition that its
# interface is not in, exceed its quota of records, choose the primary address that it shares
# with the host, or see partitions that it is not in.
# kernel: debug
# timeout: 150

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

fabric_start hcas=3
cat >/run/partitions.conf <<'E'
Default=0x7fff, ipoib : ALL=full;
other=0x1, ipoib : ALL=full;
E
ats_sm_start
ipv6_off
ipoib_load
module_insert /modules/ib_ats.ko netns_records=4 sa_timeout_ms=500
wait_for 20 netdev_of ibfab0
dev=$(netdev_of ibfab0)
ip link set "$dev" up
for guest in g1 g2; do
	ip netns add $guest
	on $guest sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
done

# guest_interface GUEST NAME PKEY: makes a child of the host's interface, as a container
# plug-in does.
guest_interface()
{
	ip link add link "$dev" name passing netns "$1" type ipoib pkey "$3"
	ip -n "$1" link set passing name "$2" up
}

# states_are GUEST WORDS: the number of its records in each state.
states_are()
{
	[ "$(on "$1" ibats -j list |
		jq -r '[group_by(.state)[] | "\(.[0].state) \(length)"] | join(" ")')" = "$2" ]
}

# ends STATUS GUEST ARGUMENT...: ibats there ends with this status; its output is in /run/out.
ends()
{
	_wanted=$1 _status=0
	shift
	on "$@" >/run/out 2>/run/err || _status=$?
	[ "$_status" = "$_wanted" ] ||
		fail "$*: status $_status, wanted $_wanted: $(cat /run/out /run/err)"
}

step "A quota: four records for a container, on all its interfaces of the port"
guest_interface g1 ib 0x7fff
guest_interface g1 other 0x8001
for n in 1 2 3; do
	ip -n g1 address add "10.0.0.10$n/24" dev ib
	ip -n g1 address add "10.1.0.10$n/24" dev other
done
wait_for 20 states_are g1 'quota 2 registered 4'
assert sr_count 1 4

step "Removed addresses make room for others"
ip -n g1 address delete 10.0.0.102/24 dev ib
wait_for 20 states_are g1 'quota 1 registered 4'
ip -n g1 address flush dev other
wait_for 20 states_are g1 'registered 2'
wait_for 10 sr_count 1 2
assert sr_has '53 1 0xFFFF 10.0.0.101'

step "A container that has a set for itself chooses the primary address"
on g1 ibats primary set ib 10.0.0.103
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.103'

step "The host comes: its own address is the primary one, whatever the container chose"
ip address add 10.0.0.1/24 dev "$dev"
ip address add 10.0.0.2/24 dev "$dev"
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.1'
on g1 ibats primary set ib 10.0.0.101
sleep 1
assert sr_has '53 1 0xFFFF 10.0.0.1'
ibats primary set "$dev" 10.0.0.2
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.2'
ibats primary clear "$dev"
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.1'

step "A container may write the broadcast address, but this does not change the partition"
brd=$(ip -n g1 -o link show dev ib | sed -n 's/.* brd \([0-9a-f:]*\).*/\1/p')
assert_match "the broadcast address" "$brd" '^00:ff:ff:ff:ff:12:40:1b:ff:ff:'
other=$(echo "$brd" | sed 's/:40:1b:ff:ff:/:40:1b:80:01:/')
ip -n g1 link set ib broadcast "$other"
assert_match "the broadcast address" "$(ip -n g1 link show dev ib)" "brd $other"
ip -n g1 address add 10.0.0.104/24 dev ib
wait_for 10 state_is g1 10.0.0.104 registered
assert sr_has '[0-9a-f]* 1 0xFFFF 10.0.0.104'
refute file_says 0x8001 /run/sr
ip -n g1 link set ib broadcast "$brd"

step "Queries of a container: in its own partitions, by ports that it is on"
ip link add link "$dev" name other type ipoib pkey 0x8001
ip address add 10.1.0.1/24 dev other
ip link set other up
wait_for 20 sr_has '53 1 0x8001 10.1.0.1'
ends 0 g1 ibats resolve 10.0.0.1
ip -n g1 link delete other
ends 1 g1 ibats resolve 10.1.0.1
ends 3 g1 ibats -k 0x8001 resolve 10.1.0.1
ends 3 g1 ibats -d ibfab1 resolve 10.0.0.1
ends 0 g1 ibats -j reverse fe80::21b:fa01:0:1
refute file_says 10.1.0.1 /run/out
assert file_says 10.0.0.2 /run/out
ends 3 g2 ibats resolve 10.0.0.1
ibats -k 0x8001 resolve 10.1.0.1
ibats -j reverse fe80::21b:fa01:0:1 >/run/out
assert file_says 10.1.0.1 /run/out

step "The administrator may permit other partitions"
echo 1 >/sys/module/ib_ats/parameters/foreign_partitions
ends 0 g1 ibats resolve 10.1.0.1
ends 0 g2 ibats -k 0x8001 resolve 10.1.0.1
ends 3 g2 ibats audit
echo 0 >/sys/module/ib_ats/parameters/foreign_partitions
ends 3 g2 ibats resolve 10.1.0.1

step "An audit needs an address on the port, and at most one runs in two seconds"
ends 3 g2 ibats audit
reads=$(ibats -j stats | jq '.[0].reads')
now_ms
begin=$now_ms
# In one process, as slow ones would leave time for as many audits as there are requests
# shellcheck disable=SC2016  # for the inner shell to expand
on g1 sh -euc 'for _ in $(seq 12); do ibats audit; done'
sleep 1
again=$(($(ibats -j stats | jq '.[0].reads') - reads))
now_ms
audits=$(((now_ms - begin) / 2000 + 2))
note "$again sets read back for twelve audits, of which there can have been $audits"
# The host has two sets there, and the container has one of these
assert_between "sets read back" "$again" 1 $((2 * audits))
rmmod ib_ats
opensm_stop
