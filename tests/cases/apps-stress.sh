# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# stress-ng's network stressors run on an interface while children come and go, rings and
# queues change, and finally the interface itself goes down and up.
# timeout: 240
# soak: 900
# smp: 2
# when: soak
# mem: 1536

. /cases/lib.sh

# hairpin: h1 sends back what h0 sends to its own address. rawudp needs this, as its client
# and server have one address. Other stressors use the loopback device and only query the
# interface, so iperf3 runs beside them.
hairpin()
{
	on h1 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 0 >/proc/sys/net/ipv4/conf/all/send_redirects' /sys
	on h1 sh -c "echo 0 >/proc/sys/net/ipv4/conf/$dev1/send_redirects"
	on h0 sh -c "echo 1 >/proc/sys/net/ipv4/conf/$dev0/accept_local"
	ip -n h0 route add default via 10.0.0.2 dev "$dev0" src 10.0.0.1 table 100
	ip -n h0 rule add pref 5 iif lo to 10.0.0.1 lookup 100
	ip -n h0 rule add pref 10 lookup local
	ip -n h0 rule delete pref 0
}

# children_churn DEVICE: creates children of two other partitions and of the device's own,
# sets them up, and deletes them.
children_churn()
{
	while [ ! -e /run/enough ]; do
		for _pkey in 8001 8002; do
			ip -n h0 link add link "$1" name "$1.$_pkey" type ipoib pkey "0x$_pkey"
			ip -n h0 link set "$1.$_pkey" up
		done
		ip -n h0 link add link "$1" name twin type ipoib
		ip -n h0 link set twin addrgenmode random
		ip -n h0 link set twin up
		ip -n h0 link set "$1.8001" down
		ip -n h0 link set "$1.8001" mtu 1500 up
		sleep 0.2
		for _child in "$1.8001" "$1.8002" twin; do
			ip -n h0 link delete "$_child"
		done
		echo "children"
	done
}

# settings_churn DEVICE: changes settings under traffic.
settings_churn()
{
	while [ ! -e /run/enough ]; do
		ip -n h0 link set "$1" mtu 1800
		ip -n h0 link set "$1" promisc on
		ip -n h0 link set "$1" allmulticast on
		on h0 ethtool -K "$1" tso off gro off
		on h0 ethtool -K "$1" tso on gro on
		ip -n h0 link set "$1" promisc off
		ip -n h0 link set "$1" allmulticast off
		ip -n h0 link set "$1" mtu 2044
		echo "settings"
		sleep 0.3
	done
}

# link_churn DEVICE: sets the device down and up, and changes the rings and the number of queues.
link_churn()
{
	while [ ! -e /run/enough ]; do
		ip -n h0 link set "$1" down
		ip -n h0 link set "$1" up
		# Setting it down has removed the route
		ip -n h0 route replace default via 10.0.0.2 dev "$1" src 10.0.0.1 table 100
		sleep 0.5
		on h0 ethtool -G "$1" rx 256 tx 128
		sleep 0.5
		on h0 ethtool -L "$1" tx 2
		sleep 0.5
		on h0 ethtool -L "$1" tx 1
		on h0 ethtool -G "$1" rx 512 tx 256
		sleep 0.5
		echo "link"
	done
}

# stress SECONDS STRESSOR...: runs the stressors; each must have done something.
stress()
{
	_seconds=$1
	shift
	_words=''
	for _stressor; do
		case $_stressor in
		*:if) _words="$_words --${_stressor%:if} 1 --${_stressor%:if}-if $dev0" ;;
		*) _words="$_words --$_stressor 1" ;;
		esac
	done
	# shellcheck disable=SC2086  # a word for each
	on h0 stress-ng --temp-path /tmp -t "$_seconds" --metrics-brief --oomable $_words \
		>/run/stress.log 2>&1 || stress_status=$?
	for _stressor; do
		_done=$(awk -v name="${_stressor%:if}" '$1 == "stress-ng:" && $4 == name { print $5; exit }' \
			/run/stress.log)
		note "${_stressor%:if}: ${_done:-nothing}"
		[ "${_done:-0}" -gt 0 ] || fail "${_stressor%:if}: $(cat /run/stress.log)"
	done
}

# churn_start FUNCTION ARGUMENT...: runs the function repeatedly until churn_stop; all of its
# commands must succeed.
churn_start()
{
	rm -f /run/enough
	"$@" >"/run/$1.log" 2>&1 &
	eval "$1=$!"
}

# churn_stop FUNCTION WORD: stops it; it must have printed the word at least once.
churn_stop()
{
	: >/run/enough
	eval "wait \"\$$1\"" || fail "$1: $(cat "/run/$1.log")"
	note "$1: $(grep -c "^$2\$" "/run/$1.log") times"
	assert grep -qx "$2" "/run/$1.log"
}

fabric_start hcas=2
partitions_write 2
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 2
dev0=$(dev_of h0) dev1=$(dev_of h1)
modprobe sctp
hairpin
pings_all h0 3 10.0.0.1
assert_match "pings by the peer" "$(on h0 ping -c 1 -W 5 10.0.0.1)" 'ttl=63'

step "Sockets, while children and settings change"
stress_status=0
packets=$(netdev_counter h1 "$dev1" rx_packets)
churn_start children_churn "$dev0"
churn_start settings_churn "$dev0"
iperf_server h1
traffic_start stream on h0 iperf3 -c fd00::2 -b 20M -t 1000
stress "$(full_or 8 240)" sock:if sockmany:if udp-flood:if rawudp:if sctp:if netdev
cat /run/stress.log
assert_eq "status of stress-ng" "$stress_status" 0
packets=$(($(netdev_counter h1 "$dev1" rx_packets) - packets))
note "$packets packets by the peer"
assert [ "$packets" -gt 1000 ]
traffic_stop stream
traffic_stop iperf.h1
churn_stop children_churn children
churn_stop settings_churn settings

step "Datagrams, netlink and ioctls, while the interface goes down and up"
churn_start link_churn "$dev0"
# Send errors during that time are reported by the stressor itself
stress "$(full_or 8 240)" udp-flood:if rawudp:if netdev netlink-task
churn_stop link_churn link

step "All as before"
ip -n h0 link set "$dev0" up
wait_for 20 has_carrier h0 "$dev0"
ip -n h0 route replace default via 10.0.0.2 dev "$dev0" src 10.0.0.1 table 100
for address in 10.0.0.1 10.0.0.2; do
	pings_all h0 5 $address
done
for host in h0 h1; do
	for name in tx_timeouts tx_post_failed tx_completion_error rx_completion_error; do
		assert_eq "$name of $host" "$(stat_of $host $name)" 0
	done
done
# With other rings h0 has a new QP, and thus another link-layer address. ARP and ND packets
# that waited in the qdisc still carry the old one; the announcement of the new one corrects
# that at once.
assert_eq "rx_forged of h0" "$(stat_of h0 rx_forged)" 0
assert_between "rx_forged of h1" "$(stat_of h1 rx_forged)" 0 \
	"$(grep -c '^link$' /run/link_churn.log)"
