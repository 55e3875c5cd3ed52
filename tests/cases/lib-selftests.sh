# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Shared by cases in which daemons configure interfaces: a peer h0 with addresses in two
# partitions, and the interface of ibfab1, left for the daemon as the driver has made it.

# peer_child_make HOST DEVICE: makes the peer's child in partition 0x8001.
peer_child_make()
{
	ip -n "$1" link add link "$2" name "$2.8001" type ipoib pkey 0x8001
	ip -n "$1" address add 10.1.0.1/24 dev "$2.8001"
	ip -n "$1" address add fd01::1/64 dev "$2.8001" nodad
	ip -n "$1" link set "$2.8001" up
	wait_for 30 has_carrier "$1" "$2.8001"
}

# peer_start: starts the fabric and h0; sets $dev1, and $dev0 for the interface of h0.
peer_start()
{
	fabric_start hcas=2
	partitions_write 1
	opensm_start -P /run/partitions.conf
	ipoib_load
	host_make h0 ibfab0 1
	dev0=$(dev_of h0)
	peer_child_make h0 "$dev0"
	wait_for 10 netdev_of ibfab1
	# shellcheck disable=SC2034  # the caller's
	dev1=$(netdev_of ibfab1)
}

# bus_start: starts D-Bus, through which daemons are controlled.
bus_start()
{
	echo 'messagebus:x:997:997::/:/bin/sh' >>/etc/passwd
	echo 'messagebus:x:997:' >>/etc/group
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	mkdir -p /run/dbus /var/lib/dbus
	ln -sfn /run /var/run
	traffic_start bus dbus-daemon --system --nofork --nopidfile
	wait_for 10 test -S /run/dbus/system_bus_socket
}

# networkd_user: the user and the folders of systemd-networkd, which systemd would make.
networkd_user()
{
	echo 'systemd-network:x:998:998::/:/bin/sh' >>/etc/passwd
	echo 'systemd-network:x:998:' >>/etc/group
	for _dir in links leases lldp; do
		mkdir -p /run/systemd/netif/$_dir
	done
	chown -R systemd-network:systemd-network /run/systemd/netif
}

# udev_start: starts udev, without which daemons do not use an interface. It does not rename
# interfaces here, as the fabric's HCAs are on no bus.
udev_start()
{
	ln -sf /usr/bin/udevadm /run/systemd-udevd
	traffic_start udev /run/systemd-udevd
	wait_for 10 test -S /run/udev/control
	udevadm trigger --subsystem-match=net --action=add
	udevadm settle
}

# has_address DEVICE ADDRESS/LENGTH: whether it has the address, ready for use.
has_address()
{
	says " $2 " ip -o address show dev "$1" -tentative
}

# link_gone DEVICE
link_gone()
{
	not test -e "/sys/class/net/$1"
}

# link_down DEVICE
link_down()
{
	_shown=$(ip -o link show dev "$1") || return
	case $_shown in
	*[\<,]UP[,\>]*) return 1 ;;
	esac
}

# up_and_running DEVICE
up_and_running()
{
	says LOWER_UP ip -o link show dev "$1"
}

# moved DEVICE STATISTIC LEAST
moved()
{
	[ "$(cat "/sys/class/net/$1/statistics/$2")" -ge "$3" ]
}

# reaches DEVICE ADDRESS...: pings are answered, and the device counts both requests and answers.
reaches()
{
	_dev=$1
	shift
	_tx=$(cat "/sys/class/net/$_dev/statistics/tx_packets")
	_rx=$(cat "/sys/class/net/$_dev/statistics/rx_packets")
	_n=0
	for _address; do
		ping -q -c 3 -i 0.2 -W 5 "$_address" >/run/ping.log || fail "$(cat /run/ping.log)"
		assert_match "pings of $_address" "$(cat /run/ping.log)" ' 3 received, 0% packet loss'
		_n=$((_n + 3))
	done
	# The driver counts a send on completion, which may be after the peer has received the
	# packet
	wait_for 5 moved "$_dev" tx_packets $((_tx + _n))
	wait_for 5 moved "$_dev" rx_packets $((_rx + _n))
}

# shows DEVICE PATTERN: whether the output of `ip -d link` matches.
shows()
{
	assert_match "$1" "$(ip -d link show dev "$1")" "$2"
}

# dhcp_serve: serves leases of 10.1.0.200 to 210 on h0's child.
dhcp_serve()
{
	traffic_start dhcp on h0 dnsmasq --keep-in-foreground --port=0 --conf-file=/dev/null \
		--user=root --group=root --pid-file --interface="$dev0.8001" --bind-interfaces \
		--log-facility=- --log-dhcp --no-ping --dhcp-leasefile=/run/leases \
		--dhcp-range=10.1.0.200,10.1.0.210,2m
}

# leased DEVICE: whether it has an address that the server has leased.
leased()
{
	_lease=$(ip -4 -o address show dev "$1" | sed -n 's,.* inet \(10\.1\.0\.2[01][0-9]\)/24.*,\1,p')
	[ -n "$_lease" ] && grep -q " $_lease " /run/leases
}

# applets_give: links busybox's applets into the fixed PATH of ifup's scripts, which expect
# coreutils.
applets_give()
{
	mkdir -p /usr/local/bin
	for _applet in cat grep sed seq sleep test wc; do
		ln -s /usr/bin/busybox "/usr/local/bin/$_applet"
	done
}
