# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Checksums that are left out on connections: what arrives is right, also behind a router, where the
# packets need checksums again; and nothing is left out by default.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# sums HOST: prints how the connections of the host are with regard to checksums.
sums()
{
	conns "$1" >/run/conns || return 2
	sed -n 's/.*checksums: *//p' /run/conns | sort -u
}

# ours OPTION...: two hosts in connected mode, with a connection each way. Behind h1 is the host
# inner, which h1 reaches by an Ethernet device that computes no checksums.
ours()
{
	ipoib_load "$@"
	hosts_make 2
	for _host in h0 h1; do
		mode_set $_host connected
		# So that the capture has the packets as they come
		on $_host ethtool -K "$(dev_of $_host)" gro off
		on $_host sysctl -q net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	done
	ip netns add inner
	ip -n h1 link add eth1 mtu 65520 type veth peer name eth0 mtu 65520 netns inner
	on h1 ethtool -K eth1 tx off >/dev/null
	on inner ethtool -K eth0 tx off >/dev/null
	ip -n h1 address add 192.168.5.1/24 dev eth1
	ip -n h1 address add fd05::1/64 dev eth1 nodad
	ip -n h1 link set eth1 up
	ip -n inner address add 192.168.5.2/24 dev eth0
	ip -n inner address add fd05::2/64 dev eth0 nodad
	ip -n inner link set eth0 up
	ip -n inner route add default via 192.168.5.1
	ip -n inner route add default via fd05::1
	ip -n h0 route add 192.168.5.0/24 via 10.0.0.2
	ip -n h0 route add fd05::/64 via fd00::2
	connect h0 1 10.0.0.2
	connect h1 1 10.0.0.1
}

# wrong HOST: prints how many packets its TCP and UDP have dropped for their checksums.
wrong()
{
	nstat_of "$1" TcpInCsumErrors UdpInCsumErrors Udp6InCsumErrors
}

# datagrams HOST ADDRESS: sends some to it, of different lengths, and reads them.
datagrams()
{
	rm -f /run/datagrams
	: >/run/datagrams.sent
	traffic_start sink on "$1" socat -u -b 65536 \
		UDP6-RECV:6001,ipv6only=0,reuseaddr OPEN:/run/datagrams,creat,append
	wait_for 10 listening "$1" 6001 u
	for _len in 1 3000 60000; do
		head -c $_len /run/sent >/run/datagram
		cat /run/datagram >>/run/datagrams.sent
		on h0 socat -u -b 65536 OPEN:/run/datagram "$2"
		wait_for 10 cmp -s /run/datagrams.sent /run/datagrams
	done
	traffic_stop sink
}

# traffic: files and datagrams to h1 and beyond.
traffic()
{
	transfer h0 h1 10.0.0.2
	transfer h0 h1 "[fd00::2]"
	transfer h1 h0 10.0.0.1
	transfer h0 inner 192.168.5.2
	transfer h0 inner "[fd05::2]"
	transfer inner h0 10.0.0.1
	datagrams h1 UDP4-SENDTO:10.0.0.2:6001
	datagrams h1 "UDP6-SENDTO:[fd00::2]:6001"
	datagrams inner UDP4-SENDTO:192.168.5.2:6001
	datagrams inner "UDP6-SENDTO:[fd05::2]:6001"
	pings_all h0 5 -s 9000 192.168.5.2
	for _host in h0 h1 inner; do
		assert_eq "wrong checksums at $_host" "$(wrong $_host)" 0
	done
	assert_eq "dropped" "$(stat_of h1 rx_no_checksum)" 0
}

# capture HOST DEVICE ADDRESS: sets $incorrect to how many of 20 packets from h0 to the address of the
# host have a wrong checksum as they arrive. All segments are long enough for it, also those of 8192
# octets, as which socat's writes leave if each is acknowledged before the next one.
capture()
{
	traffic_start capture on "$1" tcpdump -Z root -p -Q in -n -vv -i "$2" -c 20 \
		src 10.0.0.1 and tcp and greater 8000
	wait_for 10 grep -q 'listening on' /run/traffic.capture.log
	transfer h0 "$1" "$3"
	wait_for 10 grep -q '20 packets captured' /run/traffic.capture.log
	incorrect=$(grep -c incorrect /run/traffic.capture.log) || [ "$incorrect" = 0 ]
}

fabric_start
opensm_start
dd if=/dev/urandom of=/run/sent bs=1M count=4 status=none

step "By default, nothing is left out"
ours
assert_eq "checksums of h0" "$(sums h0)" computed
capture h1 "$(dev_of h1)" 10.0.0.2
assert_eq "packets without checksum" "$incorrect" 0
traffic
ip netns delete inner
ip netns delete h0
ip netns delete h1
rmmod ib_ipoib

step "With the parameter, checksums are left out, and are right where they are needed"
ours omit_checksums=1
assert_eq "checksums of h0" "$(sums h0)" omitted
assert_eq "checksums of h1" "$(sums h1)" omitted
capture h1 "$(dev_of h1)" 10.0.0.2
assert_eq "packets without checksum" "$incorrect" 20
capture inner eth0 192.168.5.2
assert_eq "packets without checksum behind the router" "$incorrect" 0
traffic

step "Packets that are sent as datagrams have checksums"
mode_set h0 datagram
opened_is h0 0 || wait_for 10 opened_is h0 0
traffic
