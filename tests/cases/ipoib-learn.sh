# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Packets tell where peers are: no SA query to answer, wrong knowledge mends, true senders are shown, forged ARP and ND can be dropped.
# timeout: 180

. /cases/lib.sh

flag()
{
	on "$1" ethtool --set-priv-flags "$(dev_of "$1")" "$2" "$3"
}

pings()
{
	on "$1" ping -q -c 1 -W 2 "$2"
}

queries()
{
	echo "$(($(stat_of h0 path_queries) + $(stat_of h1 path_queries) + $(stat_of h2 path_queries)))"
}

address_of()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/address"
}

# forget HOST: its neighbours and paths.
forget()
{
	ip -n "$1" link set "$(dev_of "$1")" down
	ip -n "$1" link set "$(dev_of "$1")" up
	wait_for 20 has_carrier "$1" "$(dev_of "$1")"
	ip -n "$1" address replace "fd00::$((${1#h} + 1))/64" dev "$(dev_of "$1")" nodad
}

neighbour()
{
	ip -n "$1" neigh show "$2" dev "$(dev_of "$1")" | awk '{ print $3 }'
}

# h0 and h2 are on one switch, h1 on the other
fabric_start hcas=3 switches=2
opensm_start
ipoib_load
module_insert /modules/ibraw.ko
module_insert /modules/ibrawmad.ko
hosts_make 3

step "The switches, one per interface"
assert_match "flags" "$(on h0 ethtool --show-priv-flags "$(dev_of h0)")" 'learn-paths *: on'
assert_match "flags" "$(on h0 ethtool --show-priv-flags "$(dev_of h0)")" 'arp-verify *: off'

step "Who has just spoken is answered, and talked to, without a question to the SA"
before=$(queries)
for family in 10.0.0.2 fd00::2; do
	on h0 ping -q -c 3 -i 0.2 -W 2 $family
done
assert_eq "queries for paths" "$(queries)" "$before"
assert test "$(stat_of h0 paths_learned)" -ge 1
assert test "$(stat_of h1 paths_learned)" -ge 1

step "What is in use is confirmed later"
on h0 ping -q -i 0.1 -w 30 10.0.0.2 >/run/ping.confirm &
wait_for 5 stat_reaches h0 path_queries 1
assert_eq "corrections" "$(stat_of h0 paths_corrected)" 0
kill -INT $!
wait $! || fail "packets were lost: $(cat /run/ping.confirm)"
assert_match "pings" "$(cat /run/ping.confirm)" ' 0% packet loss'

step "Switched off: the SA is asked, and nothing is sent before"
for host in h0 h1; do
	flag $host learn-paths off
	ip -n $host link set "$(dev_of $host)" down
done
before=$(stat_of h0 path_queries)
# Once both are up either may speak, and h0 ask, before it is told to
for host in h0 h1; do
	forget $host
done
wait_for 10 pings h0 10.0.0.2
assert test "$(stat_of h0 path_queries)" -gt "$before"
learned=$(stat_of h0 paths_learned)
wait_for 10 pings h0 10.0.0.3
assert_eq "paths learned" "$(stat_of h0 paths_learned)" "$learned"
for host in h0 h1; do
	flag $host learn-paths on
	forget $host
done

step "Who sent it: by the GRH, or by what is known of its LID and QPN"
# sent_by HOST ADDRESS: how many packets h1 has had whose pseudo header, which ends at the
# network layer's, says that HOST sent them.
sent_by()
{
	tc -n h1 -s filter show dev "$(dev_of h1)" ingress pref "$1" |
		awk '$1 == "Sent" { print $4; exit }'
}
filter_sender()
{
	_sender=$(address_of "$2" | tr -d :)
	tc -n h1 filter add dev "$(dev_of h1)" ingress pref "$1" protocol ip u32 \
		match u32 "0x$(echo "$_sender" | cut -c1-8)" 0xffffffff at -24 \
		match u32 "0x$(echo "$_sender" | cut -c9-16)" 0xffffffff at -20 \
		match u32 "0x$(echo "$_sender" | cut -c17-24)" 0xffffffff at -16 \
		match u32 "0x$(echo "$_sender" | cut -c25-32)" 0xffffffff at -12 \
		match u32 "0x$(echo "$_sender" | cut -c33-40)" 0xffffffff at -8 \
		action gact ok
}
tc -n h1 qdisc add dev "$(dev_of h1)" clsact
filter_sender 1 h0
filter_sender 2 h2
# is_told FILTER HOST: the SA has to be asked first if it has sent h1 no multicast
is_told()
{
	_was=$(sent_by "$1")
	pings "$2" 10.0.0.2 && [ "$(sent_by "$1")" -gt "$_was" ]
}
wait_for 15 is_told 1 h0
wait_for 15 is_told 2 h2
was0=$(sent_by 1) was2=$(sent_by 2)
on h0 ping -q -c 5 -i 0.2 -W 2 10.0.0.2
assert_eq "packets that h0 sent" $(($(sent_by 1) - was0)) 5
assert_eq "packets that h2 sent" $(($(sent_by 2) - was2)) 0
# What tcpdump keeps of a link-layer address is its length and first 8 octets
on h1 tcpdump -Z root -n -i "$(dev_of h1)" -c 1 -w /run/senders.pcap icmp 2>/run/tcpdump.log &
dump=$!
wait_for 10 grep -q "listening on" /run/tcpdump.log
on h0 ping -q -c 1 -W 2 10.0.0.2
wait $dump
assert_match "the capture" "$(od -An -v -tx1 /run/senders.pcap | tr -d ' \n')" \
	"000000200014$(address_of h0 | tr -d : | cut -c1-16)0800"

# lids_swap LID LID PATH: in a switch's forwarding table, whose first block has a port for
# each of 64 LIDs, and is octets 64 to 127 of the SMP.
lids_swap()
{
	smp_send ibfab0 65535 1 0x19 0 "path=$3"
	_swapped=$(echo "$answer" | cut -c129-256 | awk -v a="$1" -v b="$2" '{
		pa = substr($0, 2 * a + 1, 2); pb = substr($0, 2 * b + 1, 2)
		for (i = 0; i < 64; i++) {
			p = substr($0, 2 * i + 1, 2)
			printf "%s", i == a ? pb : i == b ? pa : p
		}
	}')
	smp_send ibfab0 65535 2 0x19 0 "path=$3" data="$_swapped"
}

step "GIDs that move to others' LIDs, across switches, while there is no SM: the next broadcasts tell"
wait_for 10 pings h0 10.0.0.3
wait_for 5 stat_reaches h0 path_queries $((before + 1))
opensm_stop
lid1=$(lid_of ibfab1) lid2=$(lid_of ibfab2)
lids_swap "$lid1" "$lid2" 0,1
lids_swap "$lid1" "$lid2" 0,1,4
echo "1 lid $lid2" >"$ibfab/ibfab1/change"
echo "1 lid $lid1" >"$ibfab/ibfab2/change"
learned=$(stat_of h0 paths_learned)
on h1 arping -q -c 1 -w 1 -I "$(dev_of h1)" 10.0.0.77 || :
on h2 arping -q -c 1 -w 1 -I "$(dev_of h2)" 10.0.0.77 || :
wait_for 5 stat_reaches h0 paths_learned $((learned + 2))
wait_for 10 pings h0 10.0.0.2
wait_for 10 pings h0 10.0.0.3
opensm_start
wait_for 30 pings h0 10.0.0.2

# forge QPN GID: an ARP reply to h0 from h2's HCA: 10.0.0.2 is at the address made of these.
forge()
{
	_to=$(address_of h0)
	_frame=080600000020080014040002$(printf '00%06x%s' "$1" "$2")0a000002
	_frame=$_frame$(echo "$_to" | tr -d :)0a000001
	echo "dlid=$(lid_of ibfab0) qpn=0x$(echo "$_to" | cut -d: -f2-4 | tr -d :) qkey=0xb1b payload=$_frame" \
		>/sys/kernel/debug/ibraw/ibfab2/send || fail "cannot send"
}

step "A forged ARP reply is counted, and believed: arp-verify is off"
wait_for 10 pings h0 10.0.0.2
true_address=$(address_of h1)
assert_eq "neighbour" "$(neighbour h0 10.0.0.2)" "$true_address"
gid=$(echo "$true_address" | cut -d: -f5- | tr -d :)
forged=$(stat_of h0 rx_forged)
forge 0x123456 "$gid"
wait_for 5 stat_reaches h0 rx_forged $((forged + 1))
is_forged()
{
	[ "$(neighbour h0 10.0.0.2)" != "$true_address" ]
}
# The kernel believes no second address within a second of the first (locktime)
poison()
{
	forge 0x123456 "$gid"
	is_forged
}
wait_for 10 poison
refute pings h0 10.0.0.2

step "arp-verify on: dropped and counted, the neighbour stays"
flag h0 arp-verify on
forget h0
wait_for 10 pings h0 10.0.0.2
forged=$(stat_of h0 rx_forged)
dropped=$(netdev_counter h0 "$(dev_of h0)" rx_dropped)
for n in 1 2 3 4 5 6; do
	forge 0x123456 "$gid"
	sleep 0.5
done
wait_for 5 stat_reaches h0 rx_forged $((forged + 6))
assert_eq "rx_dropped" "$(netdev_counter h0 "$(dev_of h0)" rx_dropped)" $((dropped + 6))
assert_eq "neighbour" "$(neighbour h0 10.0.0.2)" "$true_address"
on h0 ping -q -c 2 -i 0.2 -W 2 10.0.0.2

step "Honest ARP and ND pass, with all switches on"
for host in h0 h1 h2; do
	flag $host arp-verify on
	forget $host
done
forged=$(stat_of h0 rx_forged)
for host in h0 h1 h2; do
	for n in 1 2 3; do
		wait_for 10 pings $host 10.0.0.$n
		wait_for 10 pings $host fd00::$n
	done
done
assert_eq "forged" "$(stat_of h0 rx_forged)" "$forged"
