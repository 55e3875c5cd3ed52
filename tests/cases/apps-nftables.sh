# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-streams.sh
# nftables on a router between Ethernet and two partitions: NAT, flow tables, hooks of the
# families inet, netdev and arp, duplication, and forwarding by netfilter itself.
# timeout: 300
# soak: 900

. /cases/lib-streams.sh

# ---- Hosts ----

# h0 and the router h1 are in one partition, h1 and h2 in another. The host inner is on h1's
# Ethernet. Only h1 has routes to all of them.
ethernet_make()
{
	ip netns add inner
	# The same MTU as that of IPoIB, as discovering a smaller MTU costs a packet
	ip -n h1 link add eth1 mtu 2044 type veth peer name eth0 mtu 2044 netns inner
	ip -n h1 address add 192.168.5.1/24 dev eth1
	ip -n h1 address add fd05::1/64 dev eth1 nodad
	ip -n h1 link set eth1 up
	ip -n inner address add 192.168.5.2/24 dev eth0
	ip -n inner address add fd05::2/64 dev eth0 nodad
	ip -n inner link set eth0 up
	ip -n inner link set lo up
	ip -n inner route add default via 192.168.5.1
	ip -n inner route add default via fd05::1
}

partition_make()
{
	for _n in 1 2; do
		ip -n h$_n link add link "$(dev_of h$_n)" name part type ipoib pkey 0x8001
		ip -n h$_n address add "10.0.1.$((_n + 1))/24" dev part
		ip -n h$_n address add "fd01::$((_n + 1))/64" dev part nodad
		ip -n h$_n link set part up
	done
	for _n in 1 2; do
		wait_for 20 has_carrier h$_n part
	done
}

routes_make()
{
	on h1 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
	ip -n h0 route add 10.0.1.0/24 via 10.0.0.2
	ip -n h0 route add fd01::/64 via fd00::2
}

# ---- Rules ----

# rules HOST: adds the rules on standard input.
rules()
{
	in_netns "$1" nft -f - || fail "nft refuses the rules"
}

# packets HOST FAMILY TABLE COUNTER
packets()
{
	in_netns "$1" nft -j list counter "$2" "$3" "$4" |
		jq '.nftables[] | .counter.packets // empty'
}

# counted HOST FAMILY TABLE COUNTER LEAST: whether the counter has at least LEAST packets.
counted()
{
	[ "$(packets "$1" "$2" "$3" "$4")" -ge "$5" ]
}

# translated REGEX: a connection in the router's conntrack table matches.
translated()
{
	in_netns h1 conntrack -L >/run/conntrack 2>/run/conntrack.log
	in_netns h1 conntrack -L -f ipv6 >>/run/conntrack 2>>/run/conntrack.log
	assert_match "the router's connections" "$(cat /run/conntrack)" "$1"
}

nat()
{
	rules h1 <<-RULES
		table inet nat {
			chain pre {
				type nat hook prerouting priority dstnat
				iifname "$ib" meta nfproto ipv4 tcp dport 8080 dnat ip to 192.168.5.2:7000
				iifname "$ib" meta nfproto ipv6 tcp dport 8080 dnat ip6 to [fd05::2]:7000
			}
			chain post {
				type nat hook postrouting priority srcnat
				oifname { "$ib", part } masquerade
			}
		}
	RULES
}

flow_table()
{
	rules h1 <<-RULES
		table inet fast {
			counter slow {}
			flowtable f {
				hook ingress priority 0; devices = { "$ib", eth1, part }
				counter
			}
			chain forward {
				type filter hook forward priority 0
				counter name slow
				meta l4proto { tcp, udp } flow add @f
			}
		}
	RULES
}

# by_flow HOST ADDRESS: most packets of a stream bypass the forward chain.
by_flow()
{
	in_netns h1 nft reset counters >/run/nft.log
	_before=$(netdev_counter h1 "$ib" tx_packets)
	stream "$1" "$2"
	_slow=$(packets h1 inet fast slow)
	_all=$(($(netdev_counter h1 "$ib" tx_packets) - _before))
	note "$_slow packets went through the chain; $ib sent $_all"
	assert_between "packets through the chain" "$_slow" 3 $((_all / 2))
}

# datagrams HOST ADDRESS: small UDP datagrams in both directions; none is lost.
datagrams()
{
	for _way in '' -R; do
		# shellcheck disable=SC2086  # perhaps no word
		on "$1" iperf3 -J -u -l 64 -b 400k -k 150 -c "$2" $_way >/run/iperf.json ||
			fail "$(cat /run/iperf.json)"
		assert_eq "lost, of 150 or more" \
			"$(jq -c "[.end.sum.lost_packets, .end.sum.packets >= 150]" /run/iperf.json)" \
			"[0,true]"
	done
}

# answered HOST ADDRESS COUNT OF-THEM [OPTION...]: of OF-THEM pings, COUNT are answered.
answered()
{
	_from=$1 _to=$2 _sent=$3 _got=$4
	shift 4
	_status=0
	_out=$(on "$_from" ping -n -c "$_sent" -i 0.1 -W 1 "$@" "$_to") || _status=$?
	assert_between "status of ping" "$_status" 0 1
	assert_match "pings to $_to" "$_out" "$_sent packets transmitted, $_got received"
}

# logged PATTERN: the kernel log has a line that contains PATTERN.
logged()
{
	dmesg | grep -F "$1"
}

# refused TCP|UDP ADDRESS: the connection is refused at once, by a reply packet.
refused()
{
	case $1 in
	TCP) echo | on h0 socat -u - "TCP:$2:7100,connect-timeout=20" 2>/run/refused && fail "$1" ;;
	UDP) (echo; sleep 1; echo) | on h0 socat -u - "UDP:$2:7100" 2>/run/refused && fail "$1" ;;
	esac
	assert_match "what is said of $2" "$(cat /run/refused)" 'Connection refused'
}

# sends HOST SOCAT-ADDRESS OCTETS: sends three datagrams.
sends()
{
	for _k in 1 2 3; do
		head -c "$3" /dev/zero | on "$1" socat -u - "$2" || fail "cannot send to $2"
	done
}

# arped COUNT: h0 sends COUNT ARP requests, and each is answered.
arped()
{
	on h0 arping -c "$1" -w "$1" -I "$(dev_of h0)" 10.0.0.2 >/run/arping &&
		grep "Received $1 response" /run/arping
}

# ---- What is shown ----

fabric_start hcas=3
partitions_write 1
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 3
ib=$(dev_of h1)
modprobe nf_log_syslog
echo 1 >/proc/sys/net/netfilter/nf_log_all_netns
ethernet_make
partition_make
routes_make
stream_prepare "$(full_or 1000000 50000000)" h0 h2 inner

step "Masquerade: from Ethernet to IPoIB"
nat
for to in 10.0.0.1 fd00::1; do
	for size in 16 1996 5000; do
		echoes inner $to $size
	done
done
stream_over inner eth0 10.0.0.1
translated 'tcp .*src=192.168.5.2 dst=10.0.0.1 .*src=10.0.0.1 dst=10.0.0.2 .*ASSURED'
stream_over inner eth0 '[fd00::1]'
translated 'tcp .*src=fd05::2 dst=fd00::1 .*src=fd00::1 dst=fd00::2 .*ASSURED'

step "Masquerade: from partition to partition"
for to in 10.0.1.3 fd01::3; do
	for size in 16 1996 5000; do
		echoes h0 $to $size
	done
done
stream_over h0 "$(dev_of h0)" 10.0.1.3
translated 'tcp .*src=10.0.0.1 dst=10.0.1.3 .*src=10.0.1.3 dst=10.0.1.2 .*ASSURED'
stream_over h0 "$(dev_of h0)" '[fd01::3]'
translated 'tcp .*src=fd00::1 dst=fd01::3 .*src=fd01::3 dst=fd01::2 .*ASSURED'

step "Destination NAT: from IPoIB to Ethernet"
stream_over h0 "$(dev_of h0)" 10.0.0.2 8080
translated 'tcp .*src=10.0.0.1 dst=10.0.0.2 .*dport=8080 src=192.168.5.2 dst=10.0.0.1'
stream_over h0 "$(dev_of h0)" '[fd00::2]' 8080
translated 'tcp .*src=fd00::1 dst=fd00::2 .*dport=8080 src=fd05::2 dst=fd00::1'

step "A flow table of all three interfaces"
flow_table
by_flow inner 10.0.0.1
by_flow inner '[fd00::1]'
by_flow h0 10.0.1.3
by_flow h0 '[fd01::3]'
iperf_server h0
datagrams inner 10.0.0.1
datagrams inner fd00::1
traffic_stop iperf.h0
in_netns h1 nft delete table inet fast
nothing_lost h0 h1 h2

step "Families netdev and inet, as packets come: verdicts, limits, the log"
rules h1 <<-RULES
	table netdev in {
		counter passed {}
		counter dropped {}
		chain in {
			type filter hook ingress device "$ib" priority 0
			ip saddr 10.0.0.1 icmp type echo-request icmp sequence 2 \
				log prefix "apps-in: " counter name dropped drop
			ip6 saddr fd00::1 icmpv6 type echo-request icmpv6 sequence 2 \
				counter name dropped drop
			meta l4proto { icmp, icmpv6 } counter name passed
		}
	}
RULES
answered h0 10.0.0.2 4 3
answered h0 fd00::2 4 3
assert_eq "packets dropped" "$(packets h1 netdev in dropped)" 2
# ND packets are ICMPv6 packets, too
assert counted h1 netdev in passed 6
# What is heard of a sender does not include the flags in the first octet
_mac=00$(on h0 cut -c 3- "/sys/class/net/$(dev_of h0)/address")
wait_for 5 logged "apps-in: IN=$ib OUT= MAC=$_mac:08:00:00:00 SRC=10.0.0.1 DST=10.0.0.2"
in_netns h1 nft delete table netdev in

rules h1 <<-'RULES'
	table inet in {
		counter over {}
		chain in {
			type filter hook input priority 0
			icmp type echo-request limit rate over 1/hour burst 3 packets \
				counter name over drop
			icmpv6 type echo-request ct state new limit rate over 1/hour burst 3 packets drop
			tcp dport 7100 reject with tcp reset
			udp dport 7100 reject
			ct state invalid drop
		}
	}
RULES
answered h0 10.0.0.2 10 3
assert_eq "packets over the limit" "$(packets h1 inet in over)" 7
answered h0 fd00::2 5 5
for address in 10.0.0.2 '[fd00::2]'; do
	refused TCP "$address"
	refused UDP "$address"
done
in_netns h1 nft delete table inet in

step "Family netdev, as packets leave"
rules h1 <<-RULES
	table netdev out {
		counter passed {}
		chain out {
			type filter hook egress device "$ib" priority 0
			ip daddr 10.0.0.1 icmp type echo-reply icmp sequence 3 drop
			icmpv6 type echo-reply icmpv6 sequence { 1, 2 } drop
			tcp sport 8080 counter name passed
		}
	}
RULES
answered h0 10.0.0.2 4 3
answered h0 fd00::2 4 2
# Sent by inner, after destination NAT
stream h0 10.0.0.2 8080
assert counted h1 netdev out passed 10
in_netns h1 nft delete table netdev out

step "Family netdev: a second copy elsewhere"
ip -n h1 link add copies type dummy
ip -n h1 link set copies up mtu 4000
_before=$(netdev_counter h1 copies tx_packets)
_octets=$(netdev_counter h1 copies tx_bytes)
rules h1 <<-RULES
	table netdev copied {
		chain in {
			type filter hook ingress device "$ib" priority 0
			icmp type echo-request dup to copies
		}
		chain out {
			type filter hook egress device "$ib" priority 0
			icmp type echo-reply dup to copies
		}
	}
RULES
answered h0 10.0.0.2 5 5 -s 1000
assert_eq "copies" "$(($(netdev_counter h1 copies tx_packets) - _before))" 10
# Copies include the pseudo header
assert_eq "their octets" "$(($(netdev_counter h1 copies tx_bytes) - _octets))" \
	$((10 * (24 + 28 + 1000)))
in_netns h1 nft delete table netdev copied

step "Family netdev: forwarded to a neighbour, past all routing"
for to in h0 h2 inner; do
	rules $to <<-'RULES'
		table inet heard {
			counter datagrams {}
			chain in {
				type filter hook prerouting priority 0
				udp dport 9 counter name datagrams drop
			}
		}
	RULES
done
rules h1 <<-RULES
	table netdev onward {
		chain from_ethernet {
			type filter hook ingress device eth1 priority 0
			ip daddr 192.0.2.1 udp dport 9 fwd ip to 10.0.0.1 device "$ib"
			ip6 daddr 2001:db8::1 udp dport 9 fwd ip6 to fd00::1 device "$ib"
		}
		chain from_partition {
			type filter hook ingress device "$ib" priority 0
			ip daddr 192.0.2.2 udp dport 9 fwd ip to 10.0.1.3 device part
			ip6 daddr 2001:db8::2 udp dport 9 fwd ip6 to fd01::3 device part
			ip daddr 192.0.2.3 udp dport 9 fwd ip to 192.168.5.2 device eth1
		}
	}
RULES
ip -n h0 route add 192.0.2.0/24 via 10.0.0.2
ip -n h0 route add 2001:db8::/32 via fd00::2
sends inner UDP4-SENDTO:192.0.2.1:9 1
sends inner 'UDP6-SENDTO:[2001:db8::1]:9' 1400
wait_for 5 counted h0 inet heard datagrams 6
sends h0 UDP4-SENDTO:192.0.2.2:9 1400
sends h0 'UDP6-SENDTO:[2001:db8::2]:9' 1
wait_for 5 counted h2 inet heard datagrams 6
sends h0 UDP4-SENDTO:192.0.2.3:9 1
wait_for 5 counted inner inet heard datagrams 3
in_netns h1 nft delete table netdev onward

step "Family arp"
rules h1 <<-'RULES'
	table arp a {
		counter requests {}
		counter replies {}
		counter as_ethernet {}
		counter as_infiniband {}
		chain in {
			type filter hook input priority 0
			arp htype 32 arp hlen 20 arp plen 4 arp operation request counter name requests
			# nft assumes that addresses have 6 octets
			arp operation request arp saddr ip 10.0.0.1 counter name as_ethernet
			arp operation request @nh,224,32 0x0a000001 counter name as_infiniband
		}
		chain out {
			type filter hook output priority 0
			arp htype 32 arp operation reply counter name replies
		}
	}
RULES
arped 5
assert_eq "what arp's rules count" "$(for counter in requests replies as_ethernet as_infiniband; do
	packets h1 arp a $counter
done | tr '\n' ' ')" "5 5 0 5 "
rules h1 <<-'RULES'
	add rule arp a in arp operation request @nh,224,32 0x0a000001 drop
RULES
refute arped 2
assert_match "who asks" "$(cat /run/arping)" 'Received 0 response'
in_netns h1 nft delete table arp a
arped 2
nothing_lost h0 h1 h2
