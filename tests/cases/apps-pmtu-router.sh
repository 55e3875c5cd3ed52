# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Two routers join links of MTU 4092 by one of 2044. Senders find the path MTU in both
# families, also where ICMP is lost or the MTU shrinks, and routers segment large packets that
# GRO has merged.
# timeout: 400
# soak: 400
# when: soak

. /cases/lib.sh

# h0 --- 4092, partition 1 --- h1 --- 2044 --- h2 --- 4092, partition 2 --- h3
# h1's HCA has TSO, h2's does not
size=$((8 << 20))
far4=10.2.0.4 far6=fd02::4 near4=10.1.0.1 near6=fd01::1

# child_make HOST P_KEY NUMBER NET: makes a child with MTU 4092, 10.NET.0.NUMBER and
# fd0NET::NUMBER. Its ifindex puts it behind its parent in all lists, so that dev_of still
# finds the parent.
child_make()
{
	ip -n "$1" link add link "$(dev_of "$1")" name wide index 100 type ipoib pkey "$2"
	ip -n "$1" address add "10.$4.0.$3/24" dev wide
	ip -n "$1" address add "fd0$4::$3/64" dev wide nodad
	ip -n "$1" link set wide up
}

# route_by HOST GATEWAY4 GATEWAY6: adds routes for all remote links.
route_by()
{
	ip -n "$1" route add default via "$2"
	ip -n "$1" -6 route add default via "$3"
	on "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
}

# forget: deletes what all hosts have learned about paths.
forget()
{
	for _host in h0 h1 h2 h3; do
		ip -n "$_host" route flush cache
		ip -n "$_host" -6 route flush cache
		ip -n "$_host" tcp_metrics flush
	done
}

pings()
{
	on h0 ping -q -c 1 -W 1 "$far4" && on h0 ping -q -c 1 -W 1 "$far6"
}

# knows HOST ADDRESS MTU: whether the host has this path MTU for the address.
knows()
{
	ip -n "$1" route get "$(echo "$2" | tr -d '[]')" >/run/route || return 2
	grep -q "mtu $3 " /run/route
}

# finds HOST ADDRESS ROUTER MTU: learns the MTU from one packet of 3000 octets that must not
# be fragmented; the next one is not even sent.
finds()
{
	_status=0
	_out=$(on "$1" ping -M "do" -c 1 -W 5 -s 3000 "$2") || _status=$?
	assert_eq "ping's status" "$_status" 1
	assert_match "ping's words" "$_out" \
		"From $3 icmp_seq=1 (Frag needed and DF set|Packet too big:?).*mtu ?= ?$4"
	assert knows "$1" "$2" "$4"
	_status=0
	_out=$(on "$1" ping -M "do" -c 1 -W 5 -s 3000 "$2" 2>&1) || _status=$?
	assert_match "ping's words" "$_out" "[Mm]essage too long.*mtu[:=] ?$4"
}

# same_size FILE FILE
same_size()
{
	[ "$(stat -c %s "$1")" -eq "$(stat -c %s "$2")" ]
}

# stream_begin FROM TO 4|6 ADDRESS FILE
stream_begin()
{
	traffic_start sink on "$2" socat -u "TCP$3-LISTEN:6000,reuseaddr" OPEN:/run/got,creat,trunc
	wait_for 10 listening "$2" 6000
	traffic_start source on "$1" socat -u "OPEN:$5" "TCP$3:$4:6000"
}

# stream_end: what arrived equals what was sent.
stream_end()
{
	for _end in source sink; do
		wait "$(cat "/run/traffic.$_end.pid")" ||
			fail "the connection broke: $(cat "/run/traffic.$_end.log")"
	done
	assert same_file /run/sent /run/got
}

# stream FROM TO 4|6 ADDRESS
stream()
{
	stream_begin "$@" /run/sent
	stream_end
}

# datagrams FROM TO 4|6 ADDRESS SIZE [OPTION [AT-ONCE]]: 40 datagrams of SIZE arrive. OPTION
# is one of socat; AT-ONCE is how many octets each write passes to the kernel.
datagrams()
{
	head -c $(($5 * 40)) /run/sent >/run/sent.udp
	traffic_start "udp.$2" on "$2" socat -u -b 65536 "UDP$3-RECV:6001,rcvbuf=4000000" \
		OPEN:/run/got.udp,creat,trunc
	wait_for 10 listening "$2" 6001 u
	on "$1" socat -u -b "${7:-$5}" OPEN:/run/sent.udp "UDP$3-SENDTO:$4:6001${6:+,$6}" || return
	wait_for 10 same_size /run/sent.udp /run/got.udp
	cmp /run/sent.udp /run/got.udp
	traffic_stop "udp.$2"
}

# ---- The steps ----

found()
{
	step "A packet that must not be fragmented: the router reports the MTU"
	wait_for 20 pings
	finds h0 $far4 10.1.0.2 2044
	finds h0 $far6 fd01::2 2044
	finds h3 $near4 10.2.0.3 2044
	finds h3 $near6 fd02::3 2044
}

cut_by_router()
{
	step "Fragmentation: IPv4 by the router, IPv6 by the sender"
	forget
	_cut=$(nstat_of h1 IpFragOKs) _joined=$(nstat_of h3 IpReasmOKs)
	datagrams h0 h3 4 $far4 3000 ip-mtu-discover=0
	assert test $(($(nstat_of h1 IpFragOKs) - _cut)) -ge 40
	assert test $(($(nstat_of h3 IpReasmOKs) - _joined)) -ge 40
	_cut=$(nstat_of h2 IpFragOKs)
	datagrams h3 h0 4 $near4 4064 ip-mtu-discover=0
	assert test $(($(nstat_of h2 IpFragOKs) - _cut)) -ge 40
	# The first one is lost, and its sender learns the MTU
	refute knows h0 $far6 2044
	refute on h0 ping -q -c 1 -W 1 -s 3000 $far6
	wait_for 10 knows h0 $far6 2044
	_cut=$(nstat_of h0 Ip6FragOKs) _joined=$(nstat_of h3 Ip6ReasmOKs)
	datagrams h0 h3 6 "[$far6]" 3000
	assert test $(($(nstat_of h0 Ip6FragOKs) - _cut)) -ge 40
	assert test $(($(nstat_of h3 Ip6ReasmOKs) - _joined)) -ge 40
	assert_eq "IPv6 cut by the router" "$(nstat_of h1 Ip6FragOKs)" 0
}

udp_that_may_not()
{
	step "UDP that must not be fragmented: the sender gets an error, later sends are refused"
	forget
	_told=$(nstat_of h0 IcmpInDestUnreachs)
	head -c 3000 /run/sent >/run/datagram
	on h0 socat -u OPEN:/run/datagram "UDP4-SENDTO:$far4:6009,ip-mtu-discover=2"
	wait_for 10 knows h0 $far4 2044
	assert test "$(nstat_of h0 IcmpInDestUnreachs)" -gt "$_told"
	_out=$(on h0 socat -u OPEN:/run/datagram "UDP4-SENDTO:$far4:6009,ip-mtu-discover=2" 2>&1) &&
		fail "3000 octets went where 2044 go"
	assert_match "what socat says" "$_out" "Message too long"
}

# large_sends: prints the number of large sends that left h1, segmented by its HCA or, for
# IPv6, by the driver.
large_sends()
{
	if [ "$_family" = 4 ]; then
		fabric_counter ibfab1 port1.offload.tx_lso
	else
		stat_of h1 tx_segmented
	fi
}

streams()
{
	step "Streams in both directions find it too; routers merge with GRO, and segment again"
	for _family in 4 6; do
		eval "_far=\$far$_family _near=\$near$_family"
		[ $_family = 4 ] || _far="[$_far]" _near="[$_near]"
		forget
		_lso=$(large_sends)
		stream h0 h3 $_family "$_far"
		_lso=$(($(large_sends) - _lso))
		assert knows h0 "$_far" 2044
		_cut=$(stat_of h2 tx_segmented)
		stream h3 h0 $_family "$_near"
		_cut=$(($(stat_of h2 tx_segmented) - _cut))
		note "IPv$_family: large packets h1 sent: $_lso, h2: $_cut"
		assert test "$_lso" -gt 20
		assert test "$_cut" -gt 20
	done
}

udp_merged()
{
	step "Large sends of UDP, where routers may merge what they forward"
	for _host in h1 h2; do
		for _dev in wide "$(dev_of $_host)"; do
			on $_host ethtool -K "$_dev" rx-udp-gro-forwarding on
		done
	done
	# Ten datagrams at a time: an skb of more than 17 has a frag_list, which the stack
	# segments itself
	_lso=$(stat_of h1 tx_segmented)
	datagrams h0 h3 4 $far4 1400 setsockopt-int=17:103:1400 14000
	datagrams h0 h3 6 "[$far6]" 1400 setsockopt-int=17:103:1400 14000
	_lso=$(($(stat_of h1 tx_segmented) - _lso))
	note "large packets of UDP that h1's driver cut: $_lso"
	assert test "$_lso" -gt 0
}

narrower()
{
	step "The link in the middle becomes narrower, and wide again, while a stream is on its way"
	for _family in 4 6; do
		eval "_far=\$far$_family"
		[ $_family = 4 ] || _far="[$_far]"
		forget
		rm -f /run/fifo
		mkfifo /run/fifo
		stream_begin h0 h3 $_family "$_far" /run/fifo
		exec 3>/run/fifo
		head -c $((size / 2)) /run/sent >&3
		wait_for 20 knows h0 "$_far" 2044
		ip -n h1 link set "$(dev_of h1)" mtu 1400
		ip -n h2 link set "$(dev_of h2)" mtu 1400
		tail -c $((size / 2)) /run/sent >&3
		exec 3>&-
		stream_end
		assert knows h0 "$_far" 1400
		ip -n h1 link set "$(dev_of h1)" mtu 2044
		ip -n h2 link set "$(dev_of h2)" mtu 2044
	done
}

# mute: drops the routers' ICMP messages about packets that are too big.
mute()
{
	for _host in h1 h2; do
		on $_host nft -f - <<-RULES
			table inet mute {
				chain output {
					type filter hook output priority 0
					icmp type destination-unreachable counter drop
					icmpv6 type packet-too-big counter drop
				}
			}
		RULES
	done
}

got_any()
{
	[ -s /run/got ]
}

black_hole()
{
	step "Without ICMP nothing arrives, unless TCP probes the MTU"
	mute
	for _family in 4 6; do
		eval "_far=\$far$_family"
		[ $_family = 4 ] || _far="[$_far]"
		forget
		rm -f /run/got
		stream_begin h0 h3 $_family "$_far" /run/sent
		sleep 4
		refute got_any
		refute knows h0 "$_far" 2044
		traffic_stop source
		traffic_stop sink
		on h0 sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_mtu_probing'
		stream h0 h3 $_family "$_far"
		on h0 sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_mtu_probing'
	done
	_dropped=$(on h1 nft list table inet mute)
	assert_match "what h1 did not tell" "$_dropped" 'unreachable counter packets [1-9]'
	assert_match "what h1 did not tell" "$_dropped" 'too-big counter packets [1-9]'
}

fabric_start hcas=4 offload=csum+lso,csum+lso,csum,csum+lso
cat >/run/partitions.conf <<'CONF'
Default=0x7fff, ipoib : ALL=full;
left=0x1, ipoib, mtu=5 : ALL=full;
right=0x2, ipoib, mtu=5 : ALL=full;
CONF
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 4
child_make h0 0x8001 1 1
child_make h1 0x8001 2 1
child_make h2 0x8002 3 2
child_make h3 0x8002 4 2
for host in h0 h1 h2 h3; do
	wait_for 20 has_carrier $host wide
	assert_eq "$host's MTU" "$(on $host cat /sys/class/net/wide/mtu)" 4092
done
ip -n h0 address flush dev "$(dev_of h0)"
ip -n h3 address flush dev "$(dev_of h3)"
route_by h0 10.1.0.2 fd01::2
route_by h1 10.0.0.3 fd00::3
route_by h2 10.0.0.2 fd00::2
route_by h3 10.2.0.3 fd02::3
head -c $size /dev/urandom >/run/sent

found
cut_by_router
udp_that_may_not
streams
udp_merged
narrower
black_hole
step "No packet was too long for a driver"
for host in h0 h1 h2 h3; do
	assert_eq "dropped as too long" "$(stat_of $host tx_too_long)" 0
	netdev_has_none $host rx_errors tx_errors
done
