# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# systemd-networkd, by its own files and by those that netplan writes, configures an interface and a
# P_Key child in the same way with the in-tree driver and with this one.
# timeout: 240
# root: daemons
# soak: 240
# when: soak

. /cases/lib.sh
. /cases/lib-daemons.sh
driver=''

etc=/etc/systemd/network
mkdir -p $etc /run/systemd/network /etc/netplan /etc/udev/rules.d

files_write()
{
cat >$etc/10-ib0.8001.netdev <<'CONF'
[NetDev]
Name=ib0.8001
Kind=ipoib
MACAddress=none

[IPoIB]
PartitionKey=0x8001
Mode=datagram
CONF

cat >$etc/20-ib0.network <<'CONF'
[Match]
Name=ib0

[Link]
MTUBytes=2000

[Network]
Address=10.0.0.2/24
Address=fd00::2/64
IPv6AcceptRA=no
IPoIB=ib0.8001
CONF

cat >$etc/30-ib0.8001.network <<'CONF'
[Match]
Name=ib0.8001

[Network]
Address=10.1.0.2/24
Address=fd01::2/64
IPv6AcceptRA=no
CONF
}

# This version of networkd does not set the mode of interfaces that it has not made.
mode_rule_write()
{
cat >/etc/udev/rules.d/70-ipoib-mode.rules <<'CONF'
ACTION=="add", SUBSYSTEM=="net", KERNEL=="ib0", RUN+="/bin/sh -c 'echo connected >/sys/class/net/ib0/mode'"
CONF
}

# netplan knows no P_Key children: a file for networkd makes the child, and one that adds to what
# netplan writes for ib0 makes it a child of ib0. Its addresses are netplan's again.
netplan_write()
{
cat >/etc/netplan/50-infiniband.yaml <<'CONF'
network:
  version: 2
  renderer: networkd
  ethernets:
    ib0:
      mtu: 2000
      accept-ra: false
      addresses: [10.0.0.2/24, 'fd00::2/64']
    ib0.8001:
      accept-ra: false
      addresses: [10.1.0.2/24, 'fd01::2/64']
CONF

mkdir -p $etc/10-netplan-ib0.network.d
cat >$etc/10-netplan-ib0.network.d/children.conf <<'CONF'
[Network]
IPoIB=ib0.8001
CONF
}

networkd_start()
{
	traffic_start networkd env SYSTEMD_LOG_LEVEL=info /usr/lib/systemd/systemd-networkd
	wait_for 10 networkctl list ib0
}

# listed DEVICE: what networkctl lists of it: type and states.
listed()
{
	networkctl list --no-legend "$1" | awk '{ print $2, $3, $4, $5 }'
}

listed_routable()
{
	[ "$(listed "$1")" = "$1 infiniband routable configured" ]
}

all_there()
{
	for _dev in ib0 ib0.8001; do
		wait_for 20 test -e /sys/class/net/$_dev
		wait_for 20 listed_routable $_dev
	done
	both_work
}

networkd_goes()
{
	step "$driver: networkd's own files"
	files_write
	networkd_start
	all_there
	links_show | same_with_both networkd
	listed ib0.8001

	step "$driver: another MTU, by a changed file"
	sed -i 's/^MTUBytes=.*/MTUBytes=1800/' $etc/20-ib0.network
	networkctl reload
	wait_for 20 says ' mtu 1800 ' ip link show dev ib0
	all_there
	links_show | same_with_both networkd-reload
	traffic_stop networkd
	ip link delete ib0.8001
	ip link set ib0 down

	step "$driver: connected mode, by a rule of udev"
	mode_rule_write
	udev_adds /sys/class/net/ib0
	assert_eq "mode" "$(cat /sys/class/net/ib0/mode)" connected
	sed -i 's/^MTUBytes=.*/MTUBytes=65520/' $etc/20-ib0.network
	networkd_start
	wait_for 20 says ' mtu 65520 ' ip link show dev ib0
	all_there
	links_show | same_with_both networkd-connected
	traffic_stop networkd
	ip link delete ib0.8001
	ip link set ib0 down
	rm /etc/udev/rules.d/70-ipoib-mode.rules $etc/20-ib0.network $etc/30-ib0.8001.network
	udevadm control --reload
	echo datagram >/sys/class/net/ib0/mode

	step "$driver: netplan's files"
	netplan_write
	/usr/libexec/netplan/generate
	networkd_start
	all_there
	links_show | same_with_both netplan
	traffic_stop networkd
	rm -r /run/systemd/network/* /etc/systemd/network/*
}

trap 'tail -n 40 /run/traffic.networkd.log >&7' EXIT
networkd_user
bus_start
udev_start
with_each_driver networkd_goes
