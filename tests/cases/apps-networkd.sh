# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# systemd-networkd configures an interface, makes a P_Key child as a netdev of kind ipoib,
# gets a lease for it, and applies changes of its files.
# timeout: 200
# soak: 200

. /cases/lib.sh
. /cases/lib-selftests.sh
dev1=''

networks=/run/systemd/network

# files_write ADDRESS: writes the configuration; ADDRESS is that of the port's interface.
files_write()
{
	mkdir -p $networks
	cat >$networks/10-child.netdev <<-CONF
		[NetDev]
		Name=$dev1.8001
		Kind=ipoib
		[IPoIB]
		PartitionKey=0x8001
		Mode=datagram
		IgnoreUserspaceMulticastGroups=yes
	CONF
	cat >$networks/10-child.network <<-CONF
		[Match]
		Name=$dev1.8001
		[Network]
		DHCP=ipv4
		Address=fd01::2/64
		IPv6AcceptRA=no
	CONF
	cat >$networks/20-port.network <<-CONF
		[Match]
		Type=infiniband
		[Link]
		MTUBytes=2000
		[Network]
		IPoIB=$dev1.8001
		Address=$1/24
		Address=fd00::2/64
		IPv6AcceptRA=no
	CONF
}

networkd_start()
{
	traffic_start networkd env SYSTEMD_LOG_LEVEL=info /usr/lib/systemd/systemd-networkd
	wait_for 10 told NamespaceId
}

# networkd PATH METHOD...: calls a D-Bus method of networkd.
networkd()
{
	busctl call org.freedesktop.network1 /org/freedesktop/network1 \
		org.freedesktop.network1.Manager "$@"
}

# told PROPERTY: prints a property from the output of networkd.
told()
{
	busctl get-property org.freedesktop.network1 /org/freedesktop/network1 \
		org.freedesktop.network1.Manager "$1"
}

# state_is PROPERTY VALUE
state_is()
{
	[ "$(told "$1")" = "s \"$2\"" ]
}

all_there()
{
	wait_for 20 has_address "$dev1" "$1/24"
	wait_for 10 has_address "$dev1" fd00::2/64
	wait_for 20 leased "$dev1.8001"
	wait_for 10 has_address "$dev1.8001" fd01::2/64
	reaches "$dev1" 10.0.0.1 fd00::1
	reaches "$dev1.8001" 10.1.0.1 fd01::1
	wait_for 10 state_is OperationalState routable
}

peer_start
dhcp_serve
files_write 10.0.0.2
networkd_user
bus_start
udev_start

step "The interface is set up, the child made"
networkd_start
all_there 10.0.0.2
shows "$dev1" 'mtu 2000'
shows "$dev1.8001" "$dev1.8001@$dev1: "
shows "$dev1.8001" 'ipoib pkey +0x8001 mode +datagram umcast +0001'

step "Another address"
files_write 10.0.0.22
networkd Reload
wait_for 20 has_address "$dev1" 10.0.0.22/24
refute has_address "$dev1" 10.0.0.2/24
all_there 10.0.0.22

# The daemon removes the port's IPv4 address and adds it again, so a ping may be lost; the
# link stays up
step "The daemon is restarted: no link goes down"
qpn=$(cut -c 1-11 "/sys/class/net/$dev1.8001/address")
changes=$(cat "/sys/class/net/$dev1/carrier_changes" "/sys/class/net/$dev1.8001/carrier_changes")
traffic_stop networkd
reaches "$dev1" 10.0.0.1
reaches "$dev1.8001" fd01::1
networkd_start
all_there 10.0.0.22
assert_eq "the child's QPN" "$(cut -c 1-11 "/sys/class/net/$dev1.8001/address")" "$qpn"
assert_eq "changes of carrier" "$(cat "/sys/class/net/$dev1/carrier_changes" \
	"/sys/class/net/$dev1.8001/carrier_changes")" "$changes"

step "A deleted child is created again when the daemon is restarted"
traffic_stop networkd
ip link delete "$dev1.8001"
networkd_start
all_there 10.0.0.22

step "The port goes down and up"
ip link set "$dev1" down
wait_for 10 state_is OperationalState off
ip link set "$dev1" up
all_there 10.0.0.22
traffic_stop networkd
