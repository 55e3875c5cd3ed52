# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-services.sh
# Services that need multicast, gratuitous ARP or time stamps: keepalived moves virtual
# addresses and announces them to peers; chrony synchronizes by both families.
# timeout: 300
# soak: 300

. /cases/lib-services.sh

# ---- VRRP ----

# vrrp_conf HOST PRIORITY: writes keepalived.conf. The virtual addresses are 10.0.0.100 and
# fd00::100. The latter is set by a script: to send an unsolicited neighbour advertisement
# keepalived 2.2.7 copies 20 octets into the room for an Ethernet address, and aborts (its
# issue 2100, fixed in 2.2.8). With ndisc_notify the kernel sends one for a new address after
# DAD.
vrrp_conf()
{
	_dev=$(dev_of "$1")
	on "$1" sh -c "echo 1 >/proc/sys/net/ipv6/conf/$_dev/ndisc_notify"
	# The previous master must have removed the address
	cat >/etc/keepalived/address.sh <<-'SCRIPT'
		#!/bin/sh
		if [ "$4" = MASTER ]; then
			sleep 1
			exec ip address replace fd00::100/64 dev "$1"
		fi
		ip address delete fd00::100/64 dev "$1"
	SCRIPT
	chmod 755 /etc/keepalived/address.sh
	cat >"/etc/keepalived/$1.conf" <<-CONF
		global_defs {
			router_id $1
			script_user root
			enable_script_security
			vrrp_garp_master_repeat 2
			vrrp_garp_master_delay 1
		}
		vrrp_instance four {
			interface $_dev
			virtual_router_id 51
			priority $2
			advert_int 1
			virtual_ipaddress {
				10.0.0.100/24 dev $_dev
			}
			notify "/etc/keepalived/address.sh $_dev"
		}
	CONF
}

vrrp_start()
{
	service_start "keepalived.$1" "$1" keepalived -n -l -D --vrrp -f "/etc/keepalived/$1.conf"
}

# is_master HOST: whether it has both virtual addresses.
is_master()
{
	ip -n "$1" address show dev "$(dev_of "$1")" >/run/addresses || return 2
	grep -q ' 10\.0\.0\.100/24 ' /run/addresses && grep -q ' fd00::100/' /run/addresses
}

is_no_master()
{
	not is_master "$1"
}

# peer_has HOST ADDRESS: whether the client's neighbour entry for the address has this host's
# link-layer address.
peer_has()
{
	ip -n h2 neigh show dev "$(dev_of h2)" "$2" >/run/neigh
	cat /run/neigh
	grep -qF "lladdr $(on "$1" cat "/sys/class/net/$(dev_of "$1")/address")" /run/neigh
}

# goes_to HOST: the virtual addresses move there, and the client learns it.
goes_to()
{
	wait_for 20 is_master "$1"
	wait_for 20 peer_has "$1" 10.0.0.100
	wait_for 20 peer_has "$1" fd00::100
	wait_for 20 pings h2 10.0.0.100
	wait_for 20 pings h2 fd00::100
}

vrrp()
{
	step "VRRP: one of two has the virtual addresses"
	# The client's entries stay valid for an hour, so only announcements can change them
	on h2 sh -c "for family in 4 6; do
		echo 3600000 >/proc/sys/net/ipv\$family/neigh/$(dev_of h2)/base_reachable_time_ms
	done"
	vrrp_conf h0 150
	vrrp_conf h1 100
	vrrp_start h1
	wait_for 20 pings h2 10.0.0.100
	wait_for 20 pings h2 fd00::100
	goes_to h1

	step "VRRP: a host with a higher priority starts"
	vrrp_start h0
	goes_to h0
	assert is_no_master h1
	wait_for 10 sa_has_group ff12:401b:ffff::12

	step "VRRP: the master loses its cable, and later takes the addresses back"
	cable h0 down
	goes_to h1
	cable h0 up
	goes_to h0
	wait_for 10 is_no_master h1

	step "VRRP: the master ends"
	traffic_stop keepalived.h0
	goes_to h1
	assert test "$(said keepalived.h1 "Entering MASTER STATE" | wc -l)" -ge 3
	traffic_stop keepalived.h1
}

# ---- Time ----

# chrony HOST CONFIGURATION: starts chrony, which must not adjust the clock, as all hosts share it.
chrony()
{
	{
		cat
		printf 'pidfile /run/chronyd.pid\nhwtimestamp *\n'
		echo "bindcmdaddress /tmp/chrony.$1/socket"
	} >"/etc/chrony/$1.conf"
	service_start "chronyd.$1" "$1" chronyd -d -x -u root -f "/etc/chrony/$1.conf"
}

# chronyc HOST CMD...
chronyc()
{
	_host=$1
	shift
	on "$_host" /usr/bin/chronyc -h "/tmp/chrony.$_host/socket" -n -m "$@"
}

# source_is ADDRESS PATTERN: h1's state of this source matches.
source_is()
{
	chronyc h1 sources >/run/sources
	cat /run/sources
	grep -E "^.$2 +$1 " /run/sources
}

both_reached()
{
	source_is 10.0.0.1 '[*+-]' && source_is fd00::1 '[*+-]' &&
		chronyc h1 tracking | grep -E '^Stratum +: 9$'
}

time_served()
{
	step "chrony: a client finds its server by both families, and takes the kernel's timestamps"
	chrony h0 <<-CONF
		local stratum 8
		allow
	CONF
	chrony h1 <<-CONF
		server 10.0.0.1 iburst minpoll 0 maxpoll 0 xleave
		server fd00::1 iburst minpoll 0 maxpoll 0 xleave
	CONF
	wait_for 40 both_reached
	cat /run/sources
	chronyc h1 tracking
	for _address in 10.0.0.1 fd00::1; do
		_data=$(chronyc h1 "ntpdata $_address")
		note "$_data"
		# Transmit time stamps come with the packet, in which chrony expects an
		# Ethernet header
		assert_match "timestamps of what comes" "$_data" '^RX timestamping +: Kernel'
		assert_match "packets that were right" "$_data" '^Total valid RX +: [1-9]'
	done
	traffic_stop chronyd.h1
	traffic_stop chronyd.h0
}

fabric_start hcas=3
# At the client's port, whose cable stays: without an SM the new master joins no groups
sm_start ibfab2 0
wait_for 60 fabric_ports_active
ipoib_load
hosts_make 3
vrrp
time_served
for host in h0 h1 h2; do
	netdev_has_none $host rx_errors tx_errors
done
