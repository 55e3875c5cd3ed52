# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Settings of an HCA's virtual functions by `ip link` reach the HCA and are shown, as with the
# in-tree driver.
# timeout: 60

. /cases/lib.sh

# vfs_set DEVICE
vfs_set()
{
	ip link set "$1" vf 0 node_guid 02:1b:fa:00:00:00:00:0a
	ip link set "$1" vf 0 port_guid 02:1b:fa:00:00:00:00:0b
	ip link set "$1" vf 1 port_guid 02:1b:fa:00:00:00:00:0c
	ip link set "$1" vf 1 state disable
}

# vfs_shown DEVICE: prints a line for each, without the QPN at the beginning of the port's
# hardware address.
vfs_shown()
{
	ip link show "$1" | sed -n '/^ *vf /s/\(infiniband\) \(..:\)\{4\}/\1 /p'
}

fabric_start hcas=2 vfs=2
opensm_start

step "This driver"
ipoib_load
wait_for 10 netdev_of ibfab1
dev=$(netdev_of ibfab1)
vfs_set "$dev"
vfs_shown "$dev" | tee /run/ours
assert_match "vf 0" "$(cat /run/ours)" 'vf 0 .*NODE_GUID 02:1b:fa:00:00:00:00:0a, PORT_GUID 02:1b:fa:00:00:00:00:0b'
assert_match "vf 1" "$(cat /run/ours)" 'vf 1 .*PORT_GUID 02:1b:fa:00:00:00:00:0c.* link-state disable'
assert_eq "functions" "$(wc -l </run/ours)" 2
# The other HCA has its own settings
none=00:00:00:00:00:00:00:00
assert_eq "those of the other HCA that have no GUIDs" \
	"$(vfs_shown "$(netdev_of ibfab0)" | grep -c "NODE_GUID $none, PORT_GUID $none")" 2
must_fail ip link set "$dev" vf 2 node_guid 02:1b:fa:00:00:00:00:0d
ip link add link "$dev" name child type ipoib
must_fail ip link set child vf 0 node_guid 02:1b:fa:00:00:00:00:0d
assert_eq "after what is refused" "$(vfs_shown "$dev")" "$(cat /run/ours)"
rmmod ib_ipoib

step "The in-tree driver finds the same settings, and shows them alike"
intree_load
wait_for 10 netdev_of ibfab1
vfs_shown "$(netdev_of ibfab1)" >/run/intree
assert cmp /run/ours /run/intree
