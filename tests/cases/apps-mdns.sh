# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-services.sh
# Multicast DNS: avahi on two hosts publishes names and services, and each host finds those of
# the other in both families.
# timeout: 240
# soak: 240
# when: soak

. /cases/lib-services.sh

# avahi HOST: starts avahi, which publishes HOST.local.
avahi()
{
	cat >"/etc/avahi/$1.conf" <<-CONF
		[server]
		host-name=name-$1
		use-ipv4=yes
		use-ipv6=yes
		enable-dbus=yes
		[publish]
		publish-addresses=yes
		publish-workstation=yes
		publish-aaaa-on-ipv4=no
		publish-a-on-ipv6=no
		[wide-area]
		enable-wide-area=no
	CONF
	cat >"/etc/dbus-1/$1.conf" <<-CONF
		<busconfig><type>session</type><listen>unix:path=/tmp/dbus.$1</listen>
		<auth>EXTERNAL</auth><policy context="default"><allow own="*"/>
		<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
		</policy></busconfig>
	CONF
	service_start "dbus.$1" "$1" dbus-daemon --nofork "--config-file=/etc/dbus-1/$1.conf"
	wait_for 10 test -e "/tmp/dbus.$1"
	service_start "avahi.$1" "$1" sh -c "mkdir /run/avahi-daemon &&
		DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/dbus.$1 exec avahi-daemon \
		--no-drop-root --no-chroot --no-rlimits -f /etc/avahi/$1.conf"
	wait_for 30 said "avahi.$1" 'startup complete'
}

# at_avahi HOST CMD...: runs CMD as a client of the host's avahi.
at_avahi()
{
	_host=$1
	shift
	on "$_host" env "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/dbus.$_host" timeout 20 "$@"
}

# browsed HOST OTHER PROTOCOL ADDRESS: HOST has found OTHER's service.
browsed()
{
	at_avahi "$1" avahi-browse -p -t -r _ibtest._tcp >/run/browsed
	cat /run/browsed
	grep -E "^=;$(dev_of "$1");$3;name-$2;_ibtest._tcp;local;name-$2\.local;$4;7777;\"what=$2\"" \
		/run/browsed
}

resolved()
{
	[ "$(at_avahi "$1" avahi-resolve "$2" -n "name-$3.local" | tr '\t' ' ')" = \
		"name-$3.local $4" ]
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
user_add avahi 202

step "avahi: each of two finds the other's name and service, by both families"
for _host in h0 h1; do
	avahi $_host
	traffic_start "publish.$_host" on "$_host" env \
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/dbus.$_host" avahi-publish -s \
		"name-$_host" _ibtest._tcp 7777 "what=$_host"
done
wait_for 30 browsed h0 h1 IPv4 10.0.0.2
wait_for 30 browsed h0 h1 IPv6 '(fd00::2|fe80:[0-9a-f:]*)'
wait_for 30 browsed h1 h0 IPv4 10.0.0.1
cat /run/browsed
wait_for 30 resolved h0 -4 h1 10.0.0.2
wait_for 30 resolved h1 -4 h0 10.0.0.1
sa_has_group ff12:401b:ffff::fb
sa_has_group ff12:601b:ffff::fb
assert test "$(stat_of h0 rx_multicast)" -gt 5
for _host in h0 h1; do
	traffic_stop "publish.$_host"
	traffic_stop "avahi.$_host"
	traffic_stop "dbus.$_host"
done
for host in h0 h1; do
	netdev_has_none $host rx_errors tx_errors
done
