# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# debugfs lists paths and groups in the format that scripts expect; its files follow names and
# namespaces.
# timeout: 90
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh
# shellcheck source=lib-groups.sh
. /cases/lib-groups.sh

files=/sys/kernel/debug/ipoib

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2
}

# logged PATTERN: whether the kernel log has a line that matches.
logged()
{
	says "$1" dmesg
}

fabric_start hcas=2
opensm_start
ipoib_load
wait_for 10 netdev_of ibfab1
for dev in ib0 ib1; do
	assert test -e "$files/${dev}_path"
	assert test -e "$files/${dev}_mcg"
done
hosts_make 2
dev=$(dev_of h0)
wait_for 20 pings

step "A path: GID, DLID, SL and rate"
gid=fe80:0:0:0:21b:fa01:0:101
lid=$(cat "$ib/ibfab1/ports/1/lid")
debugfs_entry "${dev}_path" "$gid" | tee /run/path
assert_match "complete" "$(cat /run/path)" '^  complete:    yes$'
assert_match "DLID" "$(cat /run/path)" "^  DLID:     $(printf '0x%04x' "$lid")\$"
assert_match "SL" "$(cat /run/path)" '^  SL: {12}0$'
assert_match "rate" "$(cat /run/path)" '^  rate: +[0-9]+\.[0-9]+ Gb/sec$'

step "Groups, and which of them are send-only"
ip -n h0 route add 239.0.0.0/8 dev "$dev"
on h0 ping -q -c 1 -W 1 239.1.2.3 || :
debugfs_entry "${dev}_mcg" ff12:401b:ffff:0:0:0:ffff:ffff | tee /run/broadcast
assert_match "created" "$(cat /run/broadcast)" '^  created: +[0-9]+$'
assert_match "queuelen" "$(cat /run/broadcast)" '^  queuelen: {9}0$'
assert_match "complete" "$(cat /run/broadcast)" '^  complete: {7}yes$'
assert_match "send_only" "$(cat /run/broadcast)" '^  send_only: {7}no$'
assert_match "send_only" "$(debugfs_entry "${dev}_mcg" ff12:401b:ffff:0:0:0:f01:203)" \
	'^  send_only: {6}yes$'

step "debug_level, mcast_debug_level: the log tells what paths, links and groups do"
parameters=/sys/module/ib_ipoib/parameters
assert_eq "max_nonsrq_conn_qp" "$(cat "$parameters/max_nonsrq_conn_qp")" 128
# Nothing was logged before
refute logged 'link runs|asking for a path|joined ff12'
echo 1 >"$parameters/debug_level"
ip -n h0 link set "$dev" down
ip -n h0 link set "$dev" up
wait_for 10 logged "$dev: link runs"
wait_for 20 pings
assert logged "$dev: path to fe80:0000:0000:0000:021b:fa01:0000:0101: LID $(printf '%#x' "$lid")"
refute logged 'joined ff12'
echo 1 >"$parameters/mcast_debug_level"
ip -n h0 route add 239.0.0.0/8 dev "$dev"
on h0 ping -q -c 1 -W 1 239.1.2.4 || :
wait_for 10 logged "$dev: joined ff12:401b:ffff:0000:0000:0000:0f01:0204: MLID 0xc"
echo 0 >"$parameters/debug_level"
echo 0 >"$parameters/mcast_debug_level"

step "The files follow the interface"
ip -n h0 link set "$dev" down
ip -n h0 link set "$dev" name fabric0
refute test -e "$files/${dev}_path"
assert test -e "$files/fabric0_path"
# A netdevice with the same name in another namespace
ip -n h1 link set "$(dev_of h1)" down
ip -n h1 link set "$(dev_of h1)" name fabric0
assert_eq "files" "$(find "$files" -name 'fabric0*_mcg' | wc -l)" 2
ip -n h0 link add link fabric0 name child type ipoib pkey 0x8001
assert test -e "$files/child_mcg"
ip -n h0 link delete child
refute test -e "$files/child_mcg"

step "... and are removed with it"
rmmod ib_ipoib
refute test -e "$files"
