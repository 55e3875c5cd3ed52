# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Debian's ifupdown sets an interface and its P_Key children up and down by
# /etc/network/interfaces: children that it makes itself by create_child, and those made with
# `ip link`.
# timeout: 200
# soak: 200
# when: soak

. /cases/lib.sh
. /cases/lib-selftests.sh
dev1=''

# interfaces_write: writes /etc/network/interfaces. ifupdown takes a name with a dot and
# digits for a VLAN or, on InfiniBand, for a P_Key, and makes it by create_child. An interface
# with any other name is made by commands.
interfaces_write()
{
	mkdir -p /etc/network /run/network
	cat >/etc/network/interfaces <<-CONF
		auto $dev1
		iface $dev1 inet static
			address 10.0.0.2/24
			pre-up echo datagram >/sys/class/net/$dev1/mode
			mtu 2000
		iface $dev1 inet6 static
			address fd00::2/64

		auto $dev1.8001
		iface $dev1.8001 inet static
			address 10.1.0.2/24
		iface $dev1.8001 inet6 static
			address fd01::2/64

		iface storage inet static
			pre-up ip link add link $dev1 name storage type ipoib pkey 0x8001
			address 10.1.0.3/24
			post-down ip link delete storage
	CONF
}

all_there()
{
	for _dev in "$dev1" "$dev1.8001"; do
		wait_for 20 up_and_running "$_dev"
	done
	wait_for 10 has_address "$dev1" 10.0.0.2/24
	wait_for 10 has_address "$dev1" fd00::2/64
	wait_for 10 has_address "$dev1.8001" 10.1.0.2/24
	wait_for 10 has_address "$dev1.8001" fd01::2/64
	reaches "$dev1" 10.0.0.1 fd00::1
	reaches "$dev1.8001" 10.1.0.1 fd01::1
}

peer_start
interfaces_write
applets_give

step "All interfaces marked auto"
ifup -a
all_there
shows "$dev1" 'mtu 2000'
shows "$dev1.8001" 'ipoib pkey +0x8001 mode +datagram'
assert_match "what is up" "$(ifquery --state)" "$dev1.8001"

step "One of them down and up"
ifdown "$dev1.8001"
assert link_gone "$dev1.8001"
reaches "$dev1" 10.0.0.1
ifup "$dev1.8001"
all_there

step "All down, and up again"
ifdown -a
assert link_gone "$dev1.8001"
assert link_down "$dev1"
refute has_address "$dev1" 10.0.0.2/24
refute says "^$dev1" ifquery --state
ifup -a
all_there

step "A child with a name of its own"
ifdown "$dev1.8001"
assert link_gone "$dev1.8001"
ifup storage
wait_for 20 up_and_running storage
wait_for 10 has_address storage 10.1.0.3/24
reaches storage 10.1.0.1
ifdown storage
assert link_gone storage

step "Connected mode"
sed -i 's/echo datagram/echo connected/' /etc/network/interfaces
ifdown "$dev1"
ifup "$dev1"
wait_for 20 up_and_running "$dev1"
assert_eq "mode" "$(cat "/sys/class/net/$dev1/mode")" connected
ifdown "$dev1"
sed -i 's/echo connected/echo datagram/' /etc/network/interfaces
ifup -a
all_there
ifdown -a
