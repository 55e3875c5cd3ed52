# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Debian's ifupdown configures an interface and two P_Key children in the same way with the in-tree
# driver and with this one.
# timeout: 240
# root: daemons

. /cases/lib.sh
. /cases/lib-daemons.sh
driver=''

mkdir -p /etc/network /run/network
cat >/etc/network/interfaces <<'CONF'
auto ib0
iface ib0 inet static
    address 10.0.0.2/24
    pre-up echo datagram >/sys/class/net/ib0/mode
    mtu 2000
iface ib0 inet6 static
    address fd00::2/64

# ifupdown makes the child itself, by create_child: the digits are the P_Key
auto ib0.8001
iface ib0.8001 inet static
    address 10.1.0.2/24
iface ib0.8001 inet6 static
    address fd01::2/64

# A child with a name of its own
iface storage inet static
    pre-up ip link add link ib0 name storage type ipoib pkey 0x8001 mode datagram
    address 10.1.0.3/24
    post-down ip link delete storage
CONF

ifupdown_goes()
{
	step "$driver: the interfaces marked auto"
	ifup -a
	both_work
	{
		links_show
		ifquery --state
	} | same_with_both ifupdown

	step "$driver: the child with a name of its own"
	ifdown ib0.8001
	wait_for 10 link_gone ib0.8001
	ifup storage
	wait_for 20 up_and_running storage
	reaches storage 10.1.0.1
	links_show | same_with_both ifupdown-storage
	ifdown storage
	assert link_gone storage

	step "$driver: connected mode"
	ifdown ib0
	assert link_down ib0
	sed -i 's/echo datagram/echo connected/; s/mtu 2000/mtu 65520/' /etc/network/interfaces
	ifup ib0
	wait_for 20 up_and_running ib0
	reaches ib0 10.0.0.1
	links_show | same_with_both ifupdown-connected
	ifdown -a
	sed -i 's/echo connected/echo datagram/; s/mtu 65520/mtu 2000/' /etc/network/interfaces
	assert_none "what is up" ifquery --state
}

applets_give
with_each_driver ifupdown_goes
