# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# NetworkManager, by its key files and by those that netplan writes, configures an interface and a
# P_Key child in the same way with the in-tree driver and with this one.
# timeout: 240
# root: daemons
# soak: 240
# when: soak

. /cases/lib.sh
. /cases/lib-daemons.sh
driver=''

export NO_COLOR=1
etc=/etc/NetworkManager/system-connections
mkdir -p $etc /var/lib/NetworkManager /run/NetworkManager /etc/netplan
cat >/etc/NetworkManager/NetworkManager.conf <<'CONF'
[main]
plugins=keyfile
no-auto-default=*
CONF

files_write()
{
cat >$etc/ib0.nmconnection <<'CONF'
[connection]
id=ib0
type=infiniband
interface-name=ib0

[infiniband]
transport-mode=datagram
mtu=2000

[ipv4]
method=manual
address1=10.0.0.2/24

[ipv6]
method=manual
address1=fd00::2/64
CONF

cat >$etc/ib0.8001.nmconnection <<'CONF'
[connection]
id=ib0.8001
type=infiniband
interface-name=ib0.8001

[infiniband]
transport-mode=datagram
parent=ib0
p-key=32769

[ipv4]
method=manual
address1=10.1.0.2/24

[ipv6]
method=manual
address1=fd01::2/64
CONF

chmod 600 $etc/*
}

# netplan has no word for a P_Key child: NetworkManager's own are passed through.
netplan_write()
{
cat >/etc/netplan/50-infiniband.yaml <<'CONF'
network:
  version: 2
  renderer: NetworkManager
  ethernets:
    ib0:
      infiniband-mode: connected
      mtu: 65520
      addresses: [10.0.0.2/24, 'fd00::2/64']
    ib0.8001:
      infiniband-mode: datagram
      addresses: [10.1.0.2/24, 'fd01::2/64']
      networkmanager:
        passthrough:
          infiniband.parent: ib0
          infiniband.p-key: '32769'
CONF
}

manager_start()
{
	traffic_start manager NetworkManager --no-daemon --log-level=INFO
	wait_for 20 nmcli -t -f RUNNING general
}

# device_is DEVICE STATE
device_is()
{
	nmcli -t -f DEVICE,TYPE,STATE device | grep -qx "$1:infiniband:$2"
}

port_there()
{
	wait_for 20 device_is ib0 connected
	interface_works ib0 10.0.0 fd00
}

child_there()
{
	wait_for 20 device_is ib0.8001 connected
	interface_works ib0.8001 10.1.0 fd01
}

manager_goes()
{
	step "$driver: key files, read when the manager starts"
	files_write
	manager_start
	port_there
	child_there
	nmcli device
	{
		links_show
		nmcli -t -f DEVICE,TYPE,STATE,CONNECTION device | grep infiniband
	} | same_with_both nm

	step "$driver: the child's connection down and up"
	nmcli -w 30 connection down ib0.8001
	wait_for 10 link_gone ib0.8001
	nmcli -w 30 connection up ib0.8001
	child_there

	step "$driver: connected mode"
	nmcli connection modify ib0 infiniband.transport-mode connected infiniband.mtu 65520
	nmcli -w 30 connection up ib0
	port_there
	links_show | same_with_both nm-connected
	nmcli -w 30 connection delete ib0.8001
	wait_for 10 link_gone ib0.8001
	nmcli -w 30 connection delete ib0
	wait_for 10 device_is ib0 disconnected

	step "$driver: netplan's files, in connected mode"
	echo datagram >/sys/class/net/ib0/mode
	netplan_write
	/usr/libexec/netplan/generate
	cat /run/NetworkManager/system-connections/*
	nmcli connection reload
	port_there
	child_there
	links_show | same_with_both nm-netplan
	nmcli -w 30 connection down netplan-ib0.8001
	wait_for 10 link_gone ib0.8001
	nmcli -w 30 connection down netplan-ib0
	traffic_stop manager
	rm -rf /etc/NetworkManager/system-connections/* /run/NetworkManager/* /run/systemd/network
}

trap 'tail -n 40 /run/traffic.manager.log >&7' EXIT
bus_start
udev_start
with_each_driver manager_goes
