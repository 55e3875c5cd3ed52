# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Readers of link-layer headers get the correct octets and overwrite nothing: NFLOG, NFQUEUE,
# netfilter's and conntrack's log, packet sockets and their rings, tcpdump -e, generic XDP; on
# an interface and on a bond of two.
# timeout: 400
# smp: 2
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh

# ---- Listeners ----

# is_ready NAME: whether the listener is ready.
is_ready()
{
	cat "/run/$1.log"
	grep -q "^ready\$" "/run/$1" || grep -q "listening on" "/run/$1.log"
}

# listen NAME HOST CMD...: starts a listener, whose output goes to /run/NAME.
listen()
{
	_name=$1 _host=$2
	shift 2
	# Output of an earlier listener with this name must not be taken for this one's
	: >"/run/$_name"
	: >"/run/$_name.log"
	on "$_host" "$@" >"/run/$_name" 2>"/run/$_name.log" &
	eval "pid_$_name=\$!"
	wait_for 10 is_ready "$_name"
}

# heard NAME: waits until the listener has received everything that it waits for.
heard()
{
	eval "wait \$pid_$1" || fail "$1: $(cat "/run/$1.log")"
	cut -c 1-160 "/run/$1"
}

# word NAME KIND WORD: prints a word of the listener's first packet of that kind.
word()
{
	awk -v kind="$2" -v name="$3" '$1 == kind {
		for (i = 2; i <= NF; i++)
			if (sub("^" name "=", "", $i)) {
				print $i
				exit
			}
	}' "/run/$1"
}

# count NAME KIND: prints the number of its packets of that kind.
count()
{
	grep -c "^$2 " "/run/$1" || [ $? -eq 1 ]
}

# ---- What is sent, and what must be shown ----

hex_address()
{
	on "$1" cat "/sys/class/net/$2/address" | tr -d :
}

# ping_h1 OPTION...: pings with long packets that contain a unique pattern.
ping_h1()
{
	on h0 ping -q -s 1000 -p 5ac3 "$@" 10.0.0.2
}

# answered COUNT: COUNT of three pings are answered.
answered()
{
	_status=0
	_out=$(ping_h1 -c 3 -i 0.2 -W 2) || _status=$?
	assert_between "the status of ping" "$_status" 0 1
	assert_match "pings" "$_out" "3 packets transmitted, $1 received"
}

# send: sends one ping. /run/sent has h0's view of it and of its answer.
send()
{
	listen sent h0 ibhooks packet "$dev0" raw recv 2
	_out=$(ping_h1 -c 1 -W 20) || fail "$_out"
	heard sent
}

# same_packet NAME KIND: the listener's packet has the same octets as in h0's view.
same_packet()
{
	assert_match "h0's $2" "$(word sent "$2" packet)" '^45.*5ac35ac35ac3'
	assert_eq "$1's $2" "$(word "$1" "$2" packet)" "$(word sent "$2" packet)"
}

# encapsulated ADDRESS: prints the pseudo header of an IPv4 packet with that address.
encapsulated()
{
	echo "${1}08000000"
}

# told: sends broadcasts, after which each host knows the other's whole link-layer address
told()
{
	on h0 arping -q -c 1 -w 2 -I "$dev0" 10.0.0.2 &&
		on h1 arping -q -c 1 -w 2 -I "$dev" 10.0.0.1
}

# rules TEXT: sets the rules of h1's only table, which is for both families.
rules()
{
	printf 'table inet readers {\n%s\n}\n' "$1" >/run/rules
	on h1 nft -f /run/rules
}

rules_end()
{
	on h1 nft delete table inet readers
}

input='chain input { type filter hook input priority 0; icmp type echo-request'
output='chain output { type filter hook output priority 0; icmp type echo-reply'

# logged PATTERN: whether the kernel log has a line that matches.
logged()
{
	dmesg | grep -E "$1"
}

invalid_came()
{
	on h1 nft list chain inet readers tracked | grep 'invalid counter packets 1 '
}

# ---- The readers ----

nflog()
{
	step "$dev: NFLOG"
	rules "$input log group 5; }
		$output log group 5; }"
	listen got h1 ibhooks nflog 5 2
	send
	heard got
	same_packet got request
	same_packet got reply
	assert_eq "the address with room for 8 octets" "$(word got request hwaddr)" -
	assert_eq "the type" "$(word got request hwtype)" 0020
	assert_eq "the header's length" "$(word got request hwlen)" 0018
	assert_eq "the header" "$(word got request header)" "$(encapsulated "$heard0")"
	assert_eq "the header of what leaves" "$(word got reply header)" -

	listen got h1 tcpdump -Z root -l -n -i nflog:5 -c 2
	send
	heard got
	assert_match "what tcpdump says" "$(cat /run/got)" \
		'10\.0\.0\.1 > 10\.0\.0\.2: ICMP echo request'
	rules_end
}

nfqueue()
{
	step "$dev: NFQUEUE, and its verdicts"
	rules "$input queue num 7; }"
	listen got h1 ibhooks nfqueue 7 accept 1
	send
	heard got
	same_packet got request
	assert_eq "the address with room for 8 octets" "$(word got request hwaddr)" -
	listen got h1 ibhooks nfqueue 7 accept 3
	answered 3
	heard got
	assert_eq "packets accepted" "$(count got request)" 3
	listen got h1 ibhooks nfqueue 7 drop 3
	answered 0
	heard got
	assert_eq "packets dropped" "$(count got request)" 3
	rules_end
	answered 3
}

netfilter_log()
{
	step "$dev: netfilter's log, conntrack's, and a match on the header"
	_mac=$(encapsulated "$heard0" | sed 's/../:&/g')
	rules "$input log prefix \"hooks-$dev: \" flags all; }
		chain tracked {
			type filter hook input priority 1; ct state invalid counter
			@ll,96,64 0x$(echo "$address0" | cut -c25-40) icmp type echo-request counter
		}"
	send
	wait_for 5 logged "hooks-$dev: IN=$dev OUT= MAC=${_mac#:} SRC=10.0.0.1 DST=10.0.0.2 LEN=1028"
	assert_match "packets from that GUID" "$(on h1 nft list chain inet readers tracked)" \
		'echo-request counter packets 1 '

	# TCP from port 9 to port 9, without any flag, which conntrack considers invalid
	on h1 sh -c 'echo 255 >/proc/sys/net/netfilter/nf_conntrack_log_invalid
		echo nf_log_ipv4 >/proc/sys/net/netfilter/nf_log/2'
	printf '\0\11\0\11\0\0\0\0\0\0\0\0\120\0\0\0\0\0\0\0' >/run/invalid
	on h0 socat -u OPEN:/run/invalid IP4-SENDTO:10.0.0.2:6
	wait_for 5 invalid_came
	wait_for 5 logged "nf_ct_proto_6: .*IN=$dev OUT= MAC=${_mac#:} SRC=10.0.0.1 DST=10.0.0.2"

	on h1 sh -c 'echo nfnetlink_log >/proc/sys/net/netfilter/nf_log/2'
	listen got h1 ibhooks nflog 0 1
	on h0 socat -u OPEN:/run/invalid IP4-SENDTO:10.0.0.2:6
	heard got
	assert_match "conntrack's packet" "$(word got other packet)" \
		"0a0000010a000002$(od -An -v -tx1 /run/invalid | tr -d ' \n')\$"
	assert_eq "its header" "$(word got other header)" "$(encapsulated "$heard0")"
	on h1 sh -c 'echo 0 >/proc/sys/net/netfilter/nf_conntrack_log_invalid'
	rules_end
}

# from_is KIND PKTTYPE: the packet type in the address that recvfrom() returned.
from_is()
{
	assert_eq "$1's address" "$(word got "$1" halen) $(word got "$1" hatype) \
$(word got "$1" pkttype) $(word got "$1" protocol) $(word got "$1" ifindex)" \
		"0 32 $2 0800 $(on h1 cat "/sys/class/net/$dev/ifindex")"
}

packet_sockets()
{
	for way in recv v1 v2 v3; do
		step "$dev: packet sockets, $way"
		listen got h1 ibhooks packet "$dev" raw $way 2
		send
		heard got
		same_packet got request
		same_packet got reply
		from_is request 0
		from_is reply 4
		assert_eq "the header of what came" "$(word got request header)" \
			"$(encapsulated "$heard0")"
		assert_eq "the header of what left" "$(word got reply header)" \
			"$(encapsulated "$address0")"
		assert_eq "the header of what h0 sent" "$(word sent request header)" \
			"$(encapsulated "$(hex_address h1 "$dev")")"

		listen got h1 ibhooks packet "$dev" dgram $way 2
		send
		heard got
		same_packet got request
		same_packet got reply
		from_is request 0
		from_is reply 4
	done
}

tcpdump_e()
{
	step "$dev: tcpdump -e, and what it writes"
	listen got h1 tcpdump -Z root -l -n -e -i "$dev" -c 2 icmp
	send
	heard got
	cat /run/got
	assert_match "what came" "$(cat /run/got)" \
		'In .*IPv4.*10\.0\.0\.1 > 10\.0\.0\.2: ICMP echo request'
	assert_match "what left" "$(cat /run/got)" \
		'Out .*IPv4.*10\.0\.0\.2 > 10\.0\.0\.1: ICMP echo reply'
	listen got h1 tcpdump -Z root -n -i "$dev" -c 1 -w /run/got.pcap 'icmp[0] == 8'
	send
	heard got
	# Linux cooked header: incoming (0), ARPHRD 32, an address of no octets, with room for 8
	assert_match "the file" "$(od -An -v -tx1 /run/got.pcap | tr -d ' \n')" \
		"000000200000.{16}0800$(word sent request packet)\$"
}

# xdp_begin DO WHAT: starts an XDP program.
xdp_begin()
{
	listen xdp h1 ibhooks xdp "$dev" "$1" "$2"
}

# xdp_end: stops it, and sets $treated to the number of packets that it handled.
xdp_end()
{
	# The background process is the shell that waits for ibhooks
	pkill -f '^ibhooks xdp'
	heard xdp
	treated=$(sed -n 's/^count=//p' /run/xdp)
}

generic_xdp()
{
	step "$dev: generic XDP, passed on"
	xdp_begin pass icmp
	assert_match "the program" "$(ip -n h1 link show dev "$dev")" xdpgeneric
	answered 3
	xdp_end
	assert_eq "packets passed" "$treated" 3

	step "$dev: generic XDP, dropped"
	xdp_begin drop icmp
	answered 0
	xdp_end
	assert_eq "packets dropped" "$treated" 3
	answered 3

	step "$dev: generic XDP, sent back"
	xdp_begin tx icmp
	listen sent h0 ibhooks packet "$dev0" raw recv 6
	answered 0
	heard sent
	xdp_end
	assert_eq "packets sent back" "$treated" 3
	assert_eq "packets out and back" "$(count sent request)" 6
	awk '$4 == "pkttype=4" { print $8 }' /run/sent >/run/out
	awk '$4 == "pkttype=0" { print $8 }' /run/sent >/run/back
	assert_eq "packets back" "$(grep -c 5ac35ac3 /run/back)" 3
	assert cmp /run/out /run/back
	assert_eq "who sent them back" "$(awk '$4 == "pkttype=0" { print $7 }' /run/sent | sort -u)" \
		"header=$(encapsulated "00$(hex_address h1 "$dev" | cut -c 3-)")"

	step "$dev: generic XDP of large packets of TCP, passed on and sent back"
	iperf_server h1
	traffic_start stream on h0 iperf3 -c 10.0.0.2 -t 3600
	for do in pass tx pass; do
		xdp_begin $do tcp
		sleep 2
		xdp_end
		note "$do: $treated"
		assert test "$treated" -gt 0
	done
	_got=$(netdev_counter h1 "$dev" rx_bytes)
	wait_for 60 grown
	traffic_stop stream
	traffic_stop iperf.h1
	answered 3
}

# grown: whether the stream has made progress
grown()
{
	[ "$(netdev_counter h1 "$dev" rx_bytes)" -gt $((_got + 1000000)) ]
}

udp_listens()
{
	on h1 grep ':1776 ' /proc/net/udp6
}

all_rewritten()
{
	[ "$(wc -c </run/rewritten)" -eq 5000 ]
}

# The driver sums UDP packets that the HCA has not verified
rewritten()
{
	step "$dev: UDP over IPv6 whose header a rule rewrites"
	on h1 ethtool -K "$dev" rx off
	on h1 nft -f - <<-'RULES'
		table inet rewrites {
			chain early {
				type filter hook prerouting priority -300
				meta nfproto ipv6 udp dport 6006 counter ip6 dscp set cs1
			}
		}
	RULES
	head -c 1000 /dev/urandom >/run/thousand
	: >/run/rewritten
	traffic_start udp.h1 on h1 socat -u UDP6-RECV:6006 OPEN:/run/rewritten,append
	wait_for 10 udp_listens
	for _n in 1 2 3 4 5; do
		on h0 socat -u OPEN:/run/thousand 'UDP6-SENDTO:[fd00::2]:6006'
	done
	wait_for 10 all_rewritten
	assert_match "rewritten" "$(on h1 nft list table inet rewrites)" 'counter packets 5 '
	assert_eq "wrong sums" \
		"$(on h1 sed -n 's/^Udp6InCsumErrors[[:space:]]*//p' /proc/net/snmp6)" 0
	traffic_stop udp.h1
	on h1 nft delete table inet rewrites
	on h1 ethtool -K "$dev" rx on
}

all_readers()
{
	address0=$(hex_address h0 "$dev0")
	# What is heard of a sender does not include the flags
	heard0=00${address0#??}
	wait_for 10 told
	nflog
	nfqueue
	netfilter_log
	packet_sockets
	tcpdump_e
	generic_xdp
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 2
dev0=$(dev_of h0)
modprobe nf_log_syslog
echo 1 >/proc/sys/net/netfilter/nf_log_all_netns

dev=$(dev_of h1)
all_readers
rewritten

step "A bond of that interface and another one"
first=$dev
second=$(netdev_of ibfab2)
ip link set "$second" netns h1
ip -n h1 link add bond0 type bond mode active-backup fail_over_mac active miimon 100
for dev in "$first" "$second"; do
	ip -n h1 link set "$dev" down
	ip -n h1 address flush dev "$dev"
	ip -n h1 link set "$dev" master bond0
done
ip -n h1 link set bond0 up
ip -n h1 address add 10.0.0.2/24 dev bond0
ip -n h1 link set bond0 type bond active_slave "$first"
bond_answers()
{
	[ "$(on h1 cat /sys/class/net/bond0/bonding/active_slave)" = "$first" ] &&
		on h0 ping -q -c 1 -W 1 10.0.0.2
}
wait_for 30 bond_answers
dev=bond0
all_readers
