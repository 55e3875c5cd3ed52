# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Transports other than TCP and UDP: TIPC on the interfaces' own addresses; SCTP and MPTCP by
# two interfaces at once, one of which loses its cable meanwhile.
# timeout: 600
# soak: 600

. /cases/lib.sh

size=$((12 << 20))

# ---- Hosts of two interfaces ----

# host_give_second HOST HCA NUMBER: gives it a second interface, with addresses of another subnet.
host_give_second()
{
	_ib=$(netdev_of "$2")
	ip link set "$_ib" netns "$1"
	ip -n "$1" address add "10.1.0.$3/24" dev "$_ib"
	ip -n "$1" address add "fd01::$3/64" dev "$_ib" nodad
	# Both interfaces are in one partition, so each must answer ARP only for its own addresses
	on "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
		echo 2 >/proc/sys/net/ipv4/conf/all/arp_announce'
	ip -n "$1" link set "$_ib" up
	wait_for 20 has_carrier "$1" "$_ib"
}

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

# cable HOST DEVICE PORT up|down: plugs or unplugs the HCA's cable at the switch, and waits
# until the host has noticed.
cable()
{
	echo "switch0 $3 $4" >"$ibfab/cable"
	if [ "$4" = up ]; then
		wait_for 60 has_carrier "$1" "$2"
	else
		wait_for 10 not has_carrier "$1" "$2"
	fi
}

# ---- A stream that is written in three parts ----

# part N: prints the Nth part of the data to be sent.
part()
{
	tail -c "+$((($1 - 1) * size / 3 + 1))" /run/sent | head -c $((size / 3))
}

# got LEAST: whether at least LEAST octets have arrived.
got()
{
	[ "$(stat -c %s /run/got)" -ge "$1" ]
}

# stream_begin FROM TO CONNECT LISTEN [WRAPPER...]: CONNECT and LISTEN are socat addresses.
# Waits for the first part.
stream_begin()
{
	_from=$1 _to=$2 _connect=$3 _listen=$4
	shift 4
	rm -f /run/got /run/fifo
	mkfifo /run/fifo
	# The socket must keep listening for further subflows of MPTCP
	traffic_start stream on "$_to" "$@" socat -u "$_listen,reuseaddr,fork" \
		OPEN:/run/got,creat,trunc
	wait_for 10 "$listens" "$_to"
	on "$_from" "$@" socat -u OPEN:/run/fifo "$_connect" 2>/run/connect.log &
	pid_connect=$!
	exec 3>/run/fifo
	part 1 >&3
	wait_for 30 got $((size / 3))
}

# stream_end: the last part arrives, and nothing is missing.
stream_end()
{
	part 3 >&3
	exec 3>&-
	wait "$pid_connect" || fail "the sender: $(cat /run/connect.log)"
	wait_for 30 got "$size"
	traffic_stop stream
	assert same_file /run/sent /run/got
}

# stream_cut: h1's first interface loses its cable while the second part is on its way; the
# third part is sent after that.
stream_cut()
{
	_second=$(netdev_counter h1 ib4 rx_bytes)
	part 2 >&3 &
	cable h1 ib1 2 down
	_first=$(netdev_counter h1 ib1 rx_bytes)
	wait "$!"
	stream_end
	_second=$(($(netdev_counter h1 ib4 rx_bytes) - _second))
	note "by the second interface: $_second octets"
	assert test "$_second" -gt $((size / 3))
	assert_eq "what came by the first" "$(netdev_counter h1 ib1 rx_bytes)" "$_first"
	cable h1 ib1 2 up
	wait_for 30 pings h0 10.0.0.2
	wait_for 30 pings h0 fd00::2
}

# ---- TIPC ----

# socat's address of all sockets with instance 7 of service 18888: address type, scope, three
# numbers
tipc_range()
{
	echo x0102i18888i7i7
}

# tipc_links HOST N: whether it has links to N other nodes.
tipc_links()
{
	on "$1" tipc link list >/run/links
	cat /run/links
	[ "$(grep -c "^[^ ]*:ib[0-9]-h[0-9]:ib[0-9]: up" /run/links)" -eq "$2" ]
}

tipc_all_linked()
{
	tipc_links h0 2 && tipc_links h1 2 && tipc_links h2 2
}

# tipc_published HOST N: whether it knows N services.
tipc_published()
{
	[ "$(on "$1" tipc nametable show | grep -c '^18888 *7 *7 ')" -eq "$2" ]
}

tipc_heard()
{
	for _host; do
		cmp /run/said "/run/heard.$_host" || return
	done
}

# tipc_says FROM TO...: sends a megabyte over the broadcast link, in messages of 60000 octets
# that TIPC fragments. Unicasts would not cross the fabric, as TIPC recognizes that the other
# node is a network namespace of the same machine.
tipc_says()
{
	_from=$1
	shift
	for _host; do
		traffic_start "tipc.$_host" on "$_host" socat -u -b 70000 \
			"SOCKET-RECV:30:2:0:$(tipc_range)" "OPEN:/run/heard.$_host,creat,trunc"
		eval "came_$_host=\$(stat_of $_host rx_multicast)"
	done
	wait_for 10 tipc_published "$_from" $#
	on "$_from" tipc link set broadcast BROADCAST
	on "$_from" socat -u -b 60000 OPEN:/run/said "SOCKET-SENDTO:30:2:0:$(tipc_range)"
	wait_for 20 tipc_heard "$@"
	for _host; do
		traffic_stop "tipc.$_host"
		eval "_came=\$((\$(stat_of $_host rx_multicast) - came_$_host))"
		# shellcheck disable=SC2154  # of the line above
		note "$_from to $_host: $_came multicasts"
		assert test "$_came" -gt $(($(stat -c %s /run/said) / 2044))
		rm "/run/heard.$_host"
	done
}

tipc()
{
	step "TIPC: three nodes find each other by broadcasts to the interfaces' own broadcast address"
	modprobe tipc
	head -c 1000000 /run/sent >/run/said
	for n in 0 1 2; do
		on h$n tipc node set identity h$n
		on h$n tipc bearer enable media ib device ib$n
	done
	wait_for 30 tipc_all_linked
	on h0 tipc link list

	step "TIPC: messages to several"
	tipc_says h0 h1 h2
	tipc_says h2 h0 h1

	step "TIPC: a cable goes, and so does the link; both come back"
	cable h1 ib1 2 down
	wait_for 20 tipc_links h0 1
	tipc_says h0 h2
	cable h1 ib1 2 up
	wait_for 30 tipc_all_linked
	tipc_says h1 h0 h2

	step "TIPC: an interface gets another link-layer address"
	_address=$(on h1 cat /sys/class/net/ib1/address)
	on h1 ethtool -G ib1 rx 1024
	assert differs "$_address" on h1 cat /sys/class/net/ib1/address
	wait_for 60 tipc_all_linked
	tipc_says h0 h1 h2
	tipc_says h1 h0 h2
	for n in 0 1 2; do
		on h$n tipc bearer disable media ib device ib$n
	done
}

# ---- SCTP ----

sctp_at()
{
	on "$1" ss -HlSn "sport = :7000" | grep -q .
}

# sctp_sends TO4|TO6 ADDRESS ADDRESSES: a stream by an association that uses all addresses of
# the hosts.
sctp_sends()
{
	step "SCTP to $2, and to h1's other addresses when these cannot be reached"
	listens=sctp_at
	stream_begin h0 h1 "SCTP$1-CONNECT:$2:7000" "SCTP$1-LISTEN:7000"
	_remote=$(on h0 cat /proc/net/sctp/assocs)
	note "$_remote"
	for _address in $3; do
		assert_match "the association" "$_remote" "[<> *]$_address([ \t]|\$)"
	done
	stream_cut
}

# ---- MPTCP ----

mptcp_at()
{
	listening "$1" 7000
}

mptcp_prepare()
{
	on h0 ip mptcp limits set subflows 2 add_addr_accepted 2
	on h1 ip mptcp limits set subflows 2
}

# subflows N: whether the connection has N subflows.
subflows()
{
	on h0 ss -Htn state established "dport = :7000" >/run/subflows
	[ "$(wc -l </run/subflows)" -eq "$1" ]
}

# mptcp_sends 4|6 ADDRESS ADDRESS: the addresses of h1's first and second interface.
mptcp_sends()
{
	step "MPTCP to $2, which tells of $3: by both interfaces, and by one when the other loses its cable"
	_told=${3#[}
	on h1 ip mptcp endpoint flush
	on h1 ip mptcp endpoint add "${_told%]}" dev ib4 signal
	listens=mptcp_at
	stream_begin h0 h1 "TCP$1:$2:7000" "TCP$1-LISTEN:7000" mptcpize run
	wait_for 20 subflows 2
	cat /run/subflows
	for _address in "$2" "$3"; do
		grep -qF "$_address:7000" /run/subflows || fail "no subflow to $_address"
	done
	assert_match "the connection" "$(on h0 ss -HMn state established)" ':7000 *$'
	stream_cut
}

fabric_start hcas=5
opensm_start
ipoib_load
hosts_make 3
host_give_second h0 ibfab3 1
host_give_second h1 ibfab4 2
head -c "$size" /dev/urandom >/run/sent

tipc
modprobe sctp
for n in 0 1; do
	on h$n sh -c 'cd /proc/sys/net/sctp
		echo 1000 >rto_max; echo 1 >path_max_retrans; echo 1000 >hb_interval'
done
sctp_sends 4 10.0.0.2 '10.0.0.2 10.1.0.2'
zeros=0000:0000:0000:0000:0000:0000
sctp_sends 6 '[fd00::2]' "fd00:$zeros:0002 fd01:$zeros:0002"
mptcp_prepare
mptcp_sends 4 10.0.0.2 10.1.0.2
mptcp_sends 6 '[fd00::2]' '[fd01::2]'
# rx_dropped also counts TIPC packets to a node that has no bearer any more
for n in 0 1 2; do
	netdev_has_none h$n rx_errors tx_errors
	assert_eq "packets without memory" "$(stat_of h$n rx_no_memory)" 0
done
