# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Paths are learned from packets until the SA answers: first packets do not wait for it, its
# answer is not overridden by forged packets, the true sender is shown, and forged ARP and ND
# can be dropped.
# timeout: 400
# profiles: connectx3 connectx5 small virtual
# kernel: stock 6.12 newest

. /cases/lib.sh

flag()
{
	on "$1" ethtool --set-priv-flags "$(dev_of "$1")" "$2" "$3"
}

pings()
{
	on "$1" ping -q -c 1 -W 2 "$2"
}

address_of()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/address"
}

# forget HOST: deletes its neighbours and paths.
forget()
{
	ip -n "$1" link set "$(dev_of "$1")" down
	ip -n "$1" link set "$(dev_of "$1")" up
	wait_for 20 has_carrier "$1" "$(dev_of "$1")"
	ip -n "$1" address replace "fd00::${1#h}/64" dev "$(dev_of "$1")" nodad
}

neighbour()
{
	ip -n "$1" neigh show "$2" dev "$(dev_of "$1")" | awk '{ print $3 }'
}

# path_field HOST PEER NAME: prints a field of the path to the peer's GID, from debugfs.
path_field()
{
	_gid=$(awk -F : '{ for (i = 1; i <= NF; i++) { sub(/^0+/, "", $i)
		printf("%s%s", (i > 1) ? ":" : "", ($i == "") ? "0" : $i) } }' \
		"$ib/ibfab${2#h}/ports/1/gids/0")
	awk -v gid="$_gid" -v name="$3:" '$1 == "GID:" { found = $2 == gid }
		found && $1 == name { print $2 }' \
		"/sys/kernel/debug/ipoib/$(dev_of "$1")_path"
}

path_is()
{
	[ "$(path_field "$1" "$2" "$3")" = "$4" ]
}

# questions: prints the number of path queries sent by the hosts since sa_mute or sa_count.
questions()
{
	rule_figure ibfab0 seen
}

# sa_mute: drops and counts the path queries to the SA. sa_count: only counts them.
sa_mute()
{
	rules_clear ibfab0
	rule ibfab0 what=gmp class=0x03 attr=0x35 do=drop
}
sa_count()
{
	rules_clear ibfab0
	rule ibfab0 what=gmp class=0x03 attr=0x35 do=drop every=4294967295
}

# assert_rates HCA RATE OTHER: the requests of ten pings by h1 have this static rate. A few
# MADs may have the other one.
assert_rates()
{
	_sent=$(fabric_counter "$1" "port1.static_rate.$2")
	_other=$(fabric_counter "$1" "port1.static_rate.$3")
	pings_all h1 10 10.0.0.2
	assert_between "packets at $2" $(($(fabric_counter "$1" "port1.static_rate.$2") - _sent)) 10 40
	assert_between "packets at $3" $(($(fabric_counter "$1" "port1.static_rate.$3") - _other)) 0 4
}

# The SM has ibfab0 to itself, so that each query crosses its cable. h1 and h3 are on one
# switch, h2 on the other.
fabric_start hcas=4 switches=2
opensm_start
ipoib_load
module_insert /modules/ibraw.ko
module_insert /modules/ibrawmad.ko
for n in 1 2 3; do
	host_make h$n ibfab$n $n
done
for n in 1 2 3; do
	wait_for 30 has_carrier h$n "$(dev_of h$n)"
done

step "The switches, one per interface"
flags=$(on h1 ethtool --show-priv-flags "$(dev_of h1)")
assert_match "flags" "$flags" 'learn-paths *: on'
assert_match "flags" "$flags" 'trust-learned *: off'
assert_match "flags" "$flags" 'arp-verify *: off'

step "The first ping between two hosts does not wait for the SA, which is queried at once"
for host in h1 h2; do
	forget $host
done
sa_mute
pings_all h1 3 10.0.0.2
pings_all h1 3 fd00::2
assert_between "questions to the SA" "$(questions)" 2 20
for host in h1 h2; do
	_peer=h$((3 - ${host#h}))
	assert_eq "stopgap of $host" "$(path_field $host $_peer stopgap)" yes
	assert_eq "rate of $host" "$(path_field $host $_peer rate)" "port's"
done
# The fabric has counted that the packets were sent at this rate
assert_rates ibfab1 none 103125

step "Its answer replaces the stopgap, with the SA's rate"
sa_count
wait_for 20 path_is h1 h2 stopgap no
wait_for 20 path_is h2 h1 stopgap no
assert_eq "LID" "$(($(path_field h1 h2 DLID)))" "$(lid_of ibfab2)"
assert_match "rate" "$(path_field h1 h2 rate)" '^103\.125$'
assert_rates ibfab1 103125 none
pings_all h1 5 10.0.0.2
pings_all h2 5 fd00::1

# claim_often HOST GID: ten times a second, a UD QP of h3's HCA sends an ARP packet without a
# GRH, which claims that some IP address is at this QP and that GID. /run/claims has a
# line for each packet.
claim_often()
{
	_to=$(address_of "$1" | cut -d: -f2-4 | tr -d :)
	_claim=080600000020080014040002$(printf '00%06x%s' "$qpn" "$2")0a000063
	_claim=$_claim$(printf '%040d' 0)0a000001
	_line="dlid=$(lid_of "ibfab${1#h}") qpn=0x$_to qkey=0xb1b from_listener=1 payload=$_claim"
	: >/run/claims
	while echo "$_line" >"$raw/ibfab3/send"; do
		echo sent >>/run/claims
		sleep 0.1
	done
}

# What follows is the driver's own logic, which no kernel changes
! brief || exit 0

step "Ten false claims of h2's GID a second, without a GRH, are counted; h2 is reached"
raw_listen ibfab3 "qkey=0xb1b"
gid2=$(address_of h2 | cut -d: -f5- | tr -d :)
forged=$(stat_of h1 rx_forged)
claim_often h1 "$gid2" &
claims=$!
pings_all h1 40 10.0.0.2
assert_eq "LID" "$(($(path_field h1 h2 DLID)))" "$(lid_of ibfab2)"
claimed=$(wc -l </run/claims)
assert test "$claimed" -ge 20
assert test "$(stat_of h1 rx_forged)" -ge $((forged + claimed))

step "... also while the SA does not answer, and the path is a stopgap"
sa_mute
# A peer that has a path from the SA answers without a GRH
for host in h1 h2; do
	forget $host
done
wait_for 10 pings h1 10.0.0.2
assert_eq "stopgap" "$(path_field h1 h2 stopgap)" yes
pings_all h1 40 10.0.0.2
assert_eq "stopgap" "$(path_field h1 h2 stopgap)" yes
sa_count
wait_for 30 path_is h1 h2 stopgap no

step "... and the SA is not queried for each of them"
_before=$(questions)
sleep 5
assert_between "questions in five seconds" $(($(questions) - _before)) 0 2
assert test "$(wc -l </run/claims)" -gt $((claimed + 20))
kill $claims
wait $claims || :

# lie: sends a packet from h3's HCA whose GRH has the GID of h2's port.
lie()
{
	_to=$(address_of h1)
	_gid1=$(cat "$ib/ibfab1/ports/1/gids/0")
	echo "dlid=$(lid_of ibfab1) qpn=0x$(echo "$_to" | cut -d: -f2-4 | tr -d :)" \
		"qkey=0xb1b sl=5 dgid=$_gid1 payload=86dd0000$(printf '%048d' 0)$(echo "$gid2" |
			cut -c25-32)" >"$raw/ibfab3/send" || fail "cannot send"
}

step "The SA's path is not overridden by a GRH, as an HCA may forge it"
rule ibfab3 dir=out what=data do=sgid value=28
asked=$(questions)
now_ms
begin=$now_ms
lies_doubted()
{
	lie
	[ "$(questions)" -gt "$asked" ]
}
repeat 20 lie
# The SA has been queried before, and packets cause another query only after ten seconds
wait_for 15 lies_doubted
# Includes other packets that h3 sends meanwhile
assert test "$(rule_figure ibfab3 hits)" -ge 20
assert_eq "LID" "$(($(path_field h1 h2 DLID)))" "$(lid_of ibfab2)"
assert_eq "SL" "$(path_field h1 h2 SL)" 0
assert_eq "stopgap" "$(path_field h1 h2 stopgap)" no
pings_all h1 5 10.0.0.2
now_ms
assert_between "questions to the SA, another one each ten seconds" $(($(questions) - asked)) \
	1 $((2 + (now_ms - begin) / 10000))
rules_clear ibfab3

step "A peer does not choose the SL that it is answered by"
wait_for 10 pings h1 10.0.0.3
wait_for 10 path_is h1 h3 stopgap no
repeat 20 lie
assert_eq "SL" "$(path_field h1 h3 SL)" 0
pings_all h1 3 10.0.0.3

step "learn-paths off: nothing is sent before the SA has answered"
for host in h1 h2; do
	flag $host learn-paths off
	forget $host
done
sa_mute
refute pings h1 10.0.0.2
sa_count
wait_for 20 pings h1 10.0.0.2
learned=$(stat_of h1 paths_learned)
wait_for 10 pings h1 10.0.0.3
assert_eq "paths learned" "$(stat_of h1 paths_learned)" "$learned"

step "trust-learned: for learned paths the SA is not queried"
for host in h1 h2 h3; do
	flag $host learn-paths on
	flag $host trust-learned on
	# A host that is still up would send to the others without a GRH
	ip -n $host link set "$(dev_of $host)" down
done
for host in h1 h2 h3; do
	forget $host
done
sa_count
for n in 2 3; do
	pings_all h1 3 10.0.0.$n
	pings_all h1 3 fd00::$n
done
assert_eq "questions to the SA" "$(questions)" 0
assert_eq "stopgap" "$(path_field h1 h2 stopgap)" yes

# lids_swap LID LID PATH: exchanges the routes of two LIDs in a switch's forwarding table. Its
# first block has the ports of 64 LIDs, in octets 64 to 127 of the SMP.
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

step "trust-learned: new LIDs of GIDs, without an SM, are learned from the next broadcasts"
opensm_stop
lid2=$(lid_of ibfab2) lid3=$(lid_of ibfab3)
lids_swap "$lid2" "$lid3" 0,1
lids_swap "$lid2" "$lid3" 0,1,4
echo "1 lid $lid3" >"$ibfab/ibfab2/change"
echo "1 lid $lid2" >"$ibfab/ibfab3/change"
on h2 arping -q -c 1 -w 1 -I "$(dev_of h2)" 10.0.0.77 || :
on h3 arping -q -c 1 -w 1 -I "$(dev_of h3)" 10.0.0.77 || :
path_goes_to()
{
	[ "$(($(path_field h1 "$1" DLID)))" -eq "$2" ]
}
wait_for 5 path_goes_to h2 "$lid3"
wait_for 5 path_goes_to h3 "$lid2"
for n in 2 3; do
	wait_for 10 pings h1 10.0.0.$n
done
opensm_start
for n in 2 3; do
	wait_for 30 pings h1 10.0.0.$n
done

step "... and with trust-learned off again, the SA is queried"
for host in h1 h2 h3; do
	flag $host trust-learned off
done
wait_for 30 path_is h1 h2 stopgap no

step "The sender of a packet: from the GRH, or from what is known of its LID and QPN"
# sent_by FILTER: prints the number of packets received by h2 whose pseudo header, which ends
# at the network header, has the address of the filter's host.
sent_by()
{
	tc -n h2 -s filter show dev "$(dev_of h2)" ingress pref "$1" |
		awk '$1 == "Sent" { print $4; exit }'
}
# filter_sender FILTER HOST: the address of a sender is its QPN and GID, without flags.
filter_sender()
{
	_sender=00$(address_of "$2" | tr -d : | cut -c3-)
	tc -n h2 filter add dev "$(dev_of h2)" ingress pref "$1" protocol ip u32 \
		match u32 "0x$(echo "$_sender" | cut -c1-8)" 0xffffffff at -24 \
		match u32 "0x$(echo "$_sender" | cut -c9-16)" 0xffffffff at -20 \
		match u32 "0x$(echo "$_sender" | cut -c17-24)" 0xffffffff at -16 \
		match u32 "0x$(echo "$_sender" | cut -c25-32)" 0xffffffff at -12 \
		match u32 "0x$(echo "$_sender" | cut -c33-40)" 0xffffffff at -8 \
		action gact ok
}
tc -n h2 qdisc add dev "$(dev_of h2)" clsact
filter_sender 1 h1
filter_sender 3 h3
# is_told FILTER HOST: h2 knows the sender after it has received a multicast of the host
is_told()
{
	_was=$(sent_by "$1")
	ip -n "$2" neigh flush all
	pings "$2" 10.0.0.2 && [ "$(sent_by "$1")" -gt "$_was" ]
}
wait_for 15 is_told 1 h1
wait_for 15 is_told 3 h3
was1=$(sent_by 1) was3=$(sent_by 3)
pings_all h1 5 10.0.0.2
assert_eq "packets that h1 sent" $(($(sent_by 1) - was1)) 5
assert_eq "packets that h3 sent" $(($(sent_by 3) - was3)) 0

# forge QPN GID: sends an ARP reply from h3's HCA to h1: 10.0.0.2 is at the address made of these.
forge()
{
	_to=$(address_of h1)
	_frame=080600000020080014040002$(printf '00%06x%s' "$1" "$2")0a000002
	_frame=$_frame$(echo "$_to" | tr -d :)0a000001
	echo "dlid=$(lid_of ibfab1) qpn=0x$(echo "$_to" | cut -d: -f2-4 | tr -d :) qkey=0xb1b payload=$_frame" \
		>"$raw/ibfab3/send" || fail "cannot send"
}

step "A forged ARP reply is counted, and believed: arp-verify is off"
wait_for 10 pings h1 10.0.0.2
true_address=$(address_of h2)
assert_eq "neighbour" "$(neighbour h1 10.0.0.2)" "$true_address"
forged=$(stat_of h1 rx_forged)
forge 0x123456 "$gid2"
wait_for 5 stat_reaches h1 rx_forged $((forged + 1))
# Within a second the kernel ignores further addresses for an entry (locktime)
poison()
{
	forge 0x123456 "$gid2"
	neighbour h1 10.0.0.2 | grep -q '^00:12:34:56:'
}
wait_for 10 poison
refute pings h1 10.0.0.2

step "arp-verify on: dropped and counted, the neighbour stays"
flag h1 arp-verify on
forget h1
wait_for 10 pings h1 10.0.0.2
forged=$(stat_of h1 rx_forged)
dropped=$(netdev_counter h1 "$(dev_of h1)" rx_dropped)
for n in 1 2 3 4 5 6; do
	forge 0x123456 "$gid2"
	sleep 0.5
done
wait_for 5 stat_reaches h1 rx_forged $((forged + 6))
assert_eq "rx_dropped" "$(netdev_counter h1 "$(dev_of h1)" rx_dropped)" $((dropped + 6))
assert_eq "neighbour" "$(neighbour h1 10.0.0.2)" "$true_address"
pings_all h1 2 10.0.0.2

step "Honest ARP and ND pass, with all switches on"
for host in h1 h2 h3; do
	flag $host arp-verify on
	flag $host trust-learned on
	forget $host
done
forged=$(stat_of h1 rx_forged)
for host in h1 h2 h3; do
	for n in 1 2 3; do
		wait_for 10 pings $host 10.0.0.$n
		wait_for 10 pings $host fd00::$n
	done
done
assert_eq "forged" "$(stat_of h1 rx_forged)" "$forged"
