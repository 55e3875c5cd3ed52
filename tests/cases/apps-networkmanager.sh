# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# NetworkManager configures an interface in datagram mode, makes P_Key children by
# create_child and deletes them, gets a lease, and reports failures.
# timeout: 240
# soak: 240
# when: soak

. /cases/lib.sh
. /cases/lib-selftests.sh
dev1=''

manager_start()
{
	traffic_start manager NetworkManager --no-daemon --log-level=INFO
	wait_for 20 nmcli -t -f RUNNING general
	wait_for 20 managed
}

managed()
{
	nmcli -t -f DEVICE,TYPE,STATE device | grep -E "^$dev1:infiniband:(connected|disconnected)"
}

# device_is DEVICE STATE
device_is()
{
	nmcli -t -f DEVICE,STATE device | grep -qx "$1:$2"
}

# no_device DEVICE: the manager does not list it, not even as a device that it could make.
no_device()
{
	_devices=$(nmcli -t -f DEVICE,STATE device) || return
	case "
$_devices" in
	*"
$1:connected"* | *"
$1:disconnected"*) return 1 ;;
	esac
}

export NO_COLOR=1
peer_start
dhcp_serve
mkdir -p /etc/NetworkManager/system-connections /var/lib/NetworkManager /run/NetworkManager
cat >/etc/NetworkManager/NetworkManager.conf <<'CONF'
[main]
plugins=keyfile
dhcp=internal
dns=none
rc-manager=unmanaged
auth-polkit=false
no-auto-default=*
CONF
bus_start
udev_start
manager_start

step "The devices that it lists"
nmcli device
nmcli -t -f GENERAL.TYPE,GENERAL.HWADDR device show "$dev1"
assert_match "the address" "$(nmcli -e no -g GENERAL.HWADDR device show "$dev1")" \
	"$(tr a-f A-F <"/sys/class/net/$dev1/address")"

step "The interface"
nmcli connection add type infiniband con-name port ifname "$dev1" autoconnect no \
	infiniband.transport-mode datagram infiniband.mtu 2000 \
	ipv4.method manual ipv4.addresses 10.0.0.2/24 ipv6.method manual ipv6.addresses fd00::2/64
nmcli -w 30 connection up port
wait_for 10 device_is "$dev1" connected
wait_for 10 has_address "$dev1" 10.0.0.2/24
wait_for 10 has_address "$dev1" fd00::2/64
wait_for 20 up_and_running "$dev1"
reaches "$dev1" 10.0.0.1 fd00::1
shows "$dev1" 'mtu 2000'

step "A child in a partition"
nmcli connection add type infiniband con-name child autoconnect no \
	infiniband.p-key 0x8001 infiniband.parent "$dev1" infiniband.transport-mode datagram \
	ipv4.method manual ipv4.addresses 10.1.0.2/24 ipv6.method manual ipv6.addresses fd01::2/64
nmcli -w 30 connection up child
wait_for 10 device_is "$dev1.8001" connected
wait_for 10 has_address "$dev1.8001" 10.1.0.2/24
wait_for 10 has_address "$dev1.8001" fd01::2/64
wait_for 20 up_and_running "$dev1.8001"
shows "$dev1.8001" 'ipoib pkey +0x8001 mode +datagram'
reaches "$dev1.8001" 10.1.0.1 fd01::1
nmcli device

step "By DHCP"
nmcli connection modify child ipv4.method auto ipv4.addresses ''
nmcli -w 60 connection up child
wait_for 20 leased "$dev1.8001"
reaches "$dev1.8001" 10.1.0.1 fd01::1

step "The child is removed with its connection, and created again"
nmcli -w 30 connection down child
wait_for 10 no_device "$dev1.8001"
wait_for 10 link_gone "$dev1.8001"
reaches "$dev1" 10.0.0.1
nmcli -w 60 connection up child
wait_for 20 leased "$dev1.8001"
reaches "$dev1.8001" 10.1.0.1

step "The manager is restarted without effects"
qpn=$(cut -c 1-11 "/sys/class/net/$dev1.8001/address")
ping -i 0.2 10.0.0.1 >/run/ping.long &
pinger=$!
traffic_stop manager
reaches "$dev1.8001" fd01::1
manager_start
wait_for 20 device_is "$dev1" connected
wait_for 20 device_is "$dev1.8001" connected
assert_eq "the child's QPN" "$(cut -c 1-11 "/sys/class/net/$dev1.8001/address")" "$qpn"
reaches "$dev1.8001" 10.1.0.1 fd01::1
kill -INT $pinger
wait $pinger
assert_match "pings meanwhile" "$(cat /run/ping.long)" ' 0% packet loss'

# After its restart the manager does not know the P_Key of a child that existed already, and
# cannot delete it. This is the case with any driver.
step "The child is deleted by another program"
nmcli connection modify child connection.autoconnect no
ip link delete "$dev1.8001"
wait_for 10 no_device "$dev1.8001"
nmcli connection delete child
reaches "$dev1" 10.0.0.1

step "Connected mode"
nmcli connection modify port infiniband.transport-mode connected
nmcli -w 30 connection up port
assert_eq "mode" "$(cat "/sys/class/net/$dev1/mode")" connected
nmcli connection modify port infiniband.transport-mode datagram
nmcli -w 30 connection up port
wait_for 10 has_address "$dev1" 10.0.0.2/24
# Until the address can be used, pings would be sent from ::1
wait_for 10 has_address "$dev1" fd00::2/64
reaches "$dev1" 10.0.0.1 fd00::1

step "Down"
nmcli -w 30 connection down port
wait_for 10 device_is "$dev1" disconnected
refute has_address "$dev1" 10.0.0.2/24
refute has_address "$dev1" fd00::2/64
nmcli connection delete port
traffic_stop manager
