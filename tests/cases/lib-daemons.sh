# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The library of the daemons-* cases: the same configuration files, and the same daemons, with the
# in-tree driver and then with this one, on the same fabric. The interface of ibfab0 is left for the
# daemons. The peer h1 has 10.0.0.1 and fd00::1 in the default partition, 10.1.0.1 and
# fd01::1 in partition 0x8001.

. /cases/lib.sh
. /cases/lib-selftests.sh

# with_each_driver FUNCTION [NAME]: calls FUNCTION with each of the drivers, whose name is in
# $driver. NAME is what the interface of ibfab0 is called when udev has named it.
with_each_driver()
{
	: >/run/differ
	fabric_start hcas=2
	partitions_write 1
	opensm_start -P /run/partitions.conf
	for driver in intree ipoib; do
		step "The driver $driver"
		"${driver}_load"
		peer_make "${2:-ib0}"
		"$1"
		peer_remove
		rmmod ib_ipoib || fail "cannot unload the driver $driver"
	done
	assert_none "what differs" cat /run/differ
}

# peer_make NAME: NAME is that of the interface of ibfab0.
peer_make()
{
	wait_for 10 test -e "/sys/class/net/$1"
	assert_eq "the netdevice of ibfab0" "$(netdev_of ibfab0)" "$1"
	host_make h1 ibfab1 1
	dev1=$(dev_of h1)
	peer_child_make h1 "$dev1"
}

# peer_remove: removes the namespace, whose interfaces the driver's unloading then finds here.
peer_remove()
{
	ip -n h1 link delete "$dev1.8001"
	ip -n h1 link set "$dev1" down netns 1
	ip netns delete h1
}

# same_with_both NAME: the standard input is kept as what NAME shows with the in-tree driver; with
# this driver it must be the same. All differences are reported at the end.
same_with_both()
{
	cat >"/run/$1.$driver"
	assert [ -s "/run/$1.$driver" ]
	[ "$driver" = intree ] || diff -u "/run/$1.intree" "/run/$1.ipoib" || echo "$1" >>/run/differ
}

# links_show: prints what users see of each InfiniBand interface here: name, flags, MTU, state, what
# is particular to IPoIB, and addresses, without indices and QPNs.
links_show()
{
	for _dev in /sys/class/net/*; do
		[ "$(cat "$_dev/type")" = 32 ] || continue
		_dev=${_dev##*/}
		echo "$_dev"
		ip -d -o link show dev "$_dev" |
			grep -oE '<.*>|mtu [0-9]+ qdisc|state [A-Z]+|ipoib pkey.*umcast [0-9x]+'
		ip -o address show dev "$_dev" scope global | awk '{ print $3, $4 }'
	done
}

# udev_adds DEVICE: lets udev do what it does with a new device.
udev_adds()
{
	udevadm control --reload
	udevadm trigger --action=add "$1"
	udevadm settle
}

# udev_renames DEVICE COMMAND...: the same, until COMMAND says that the device has its new name.
# With either driver, the former name was seen after udev had settled, in about one of fifty runs.
udev_renames()
{
	_device=$1
	shift
	must_fail "$@"
	wait_for 10 udev_has_renamed "$@"
}

udev_has_renamed()
{
	"$@" || { udev_adds "$_device" && "$@"; }
}

# interface_works DEVICE NET4 NET6: it is up, has the second address of each network, and reaches
# the first one, which is the peer's.
interface_works()
{
	wait_for 20 up_and_running "$1"
	wait_for 10 has_address "$1" "$2.2/24"
	wait_for 10 has_address "$1" "$3::2/64"
	reaches "$1" "$2.1" "$3::1"
}

# both_work: so it is with the interface and its child.
both_work()
{
	interface_works ib0 10.0.0 fd00
	interface_works ib0.8001 10.1.0 fd01
}
