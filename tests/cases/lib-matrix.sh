# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# What two hosts, one in each guest of a trunk, must be able to do with either driver. The
# case is a call of `matrix DRIVER-OF-A DRIVER-OF-B` in both guests.
#
# Each host, h0, has the HCA's own netdevice and four children. A net is identified by a
# number: 0 is the net of the HCA's own netdevice, 1 to 4 are those of the P_Keys 0x8001 to
# 0x8004. Addresses are 10.NET.0.PART and fd0NET::PART. In net 1 both ports are full members,
# in net 2 guest b's is a limited member, in net 3 guest a's, in net 4 both.

# shellcheck source=lib-trunk.sh
. /cases/lib-trunk.sh

nets="0 1 2 3 4"

# partitions_write MTU: writes partitions with this MTU code of OpenSM; 4 is 2048, 5 is 4096.
partitions_write()
{
	_a=0x021bfa0100010001 _b=0x021bfa0100020001
	cat >/run/partitions.conf <<-CONF
		Default=0x7fff, ipoib, mtu=$1 : ALL=full;
		both=0x1, ipoib, mtu=$1 : $_a=full, $_b=full;
		left=0x2, ipoib, mtu=$1 : $_a=full, $_b=limited;
		right=0x3, ipoib, mtu=$1 : $_a=limited, $_b=full;
		none=0x4, ipoib, mtu=$1 : $_a=limited, $_b=limited;
	CONF
}

# took WHAT: notes how long WHAT has taken, and restarts the clock; only for the transcript.
took()
{
	now_ms
	note "$1: $(((now_ms - took_since) / 1000)) s"
	took_since=$now_ms
}
took_since=0

# ---- The host ----

dev_in()
{
	if [ "$1" -eq 0 ]; then
		echo "$dev"
	else
		echo "$dev.800$1"
	fi
}

there4()
{
	echo "10.$1.0.$other_part"
}

there6()
{
	echo "fd0$1::$other_part"
}

# driver_load: loads this guest's driver, out of tree or in tree.
driver_load()
{
	"${driver}_load"
	case $driver in
	ipoib) _taint=OE ;;
	intree) _taint= ;;
	esac
	assert_eq "taint of ib_ipoib" "$(cat /sys/module/ib_ipoib/taint)" "$_taint"
}

child_make()
{
	_child=$(dev_in "$1")
	ip -n h0 link add link "$dev" name "$_child" type ipoib pkey "0x800$1"
	ip -n h0 address add "10.$1.0.$part/24" dev "$_child"
	ip -n h0 address add "fd0$1::$part/64" dev "$_child" nodad
	ip -n h0 link set "$_child" up
}

# children_make: makes the children, and sets $dev to their parent.
children_make()
{
	dev=$(dev_of h0)
	for _net in 1 2 3 4; do
		child_make "$_net"
	done
}

carriers()
{
	for _net in $nets; do
		has_carrier h0 "$(dev_in "$_net")" || return 1
	done
}

mtus_are()
{
	for _net in $nets; do
		[ "$(on h0 cat "/sys/class/net/$(dev_in "$_net")/mtu")" -eq "$1" ] ||
			return 1
	done
}

# no_errors NAME...: the netdevices have counted none of these. After a reload of the driver they
# count anew.
no_errors()
{
	for _net in $nets; do
		for _name; do
			assert_eq "$_name of $(dev_in "$_net")" \
				"$(netdev_counter h0 "$(dev_in "$_net")" "$_name")" 0
		done
	done
}

# ---- Unicast ----

answers()
{
	on h0 ping -q -c 1 -W 1 "$1"
}

# neighbour ADDRESS: prints the link-layer address in the neighbour's entry.
neighbour()
{
	ip -n h0 neigh show "$1" | sed -n 's/.* lladdr \([^ ]*\) .*/\1/p'
}

neighbour_is()
{
	[ "$(neighbour "$1")" = "$2" ]
}

# lladdrs_swap: exchanges link-layer addresses; those of the other guest's netdevices go to
# /run/there.NET.
lladdrs_swap()
{
	swaps=$((swaps + 1))
	for _net in $nets; do
		pair_put "lladdr.$swaps.$_net" \
			"$(on h0 cat "/sys/class/net/$(dev_in "$_net")/address")"
	done
	for _net in $nets; do
		pair_get "lladdr.$swaps.$_net" >"/run/there.$_net"
	done
}
swaps=0

# neighbours_right NET: the neighbour entries of both families have all 20 octets of the other
# guest's address.
neighbours_right()
{
	_lladdr=$(cat "/run/there.$1")
	assert_match "link-layer address in net $1" "$_lladdr" \
		"^([0-9a-f]{2}:){4}fe:80(:00){6}:02:1b:fa:01:00:0$other_part:00:01\$"
	for _address in "$(there4 "$1")" "$(there6 "$1")"; do
		assert_eq "neighbour $_address" "$(neighbour "$_address")" "$_lladdr"
	done
}

# fits ADDRESS HEADERS: a packet of the MTU's size is answered, one that is an octet longer is
# refused.
fits()
{
	pings_all h0 3 "$1" -M "do" -s $((mtu - $2))
	refute on h0 ping -c 1 -W 1 -M "do" -s $((mtu - $2 + 1)) "$1" >/run/ping 2>&1
	assert_match "what ping says" "$(cat /run/ping)" 'essage too long'
}

# net_works NET SIZE...: the other guest answers pings of these sizes.
net_works()
{
	_works=$1
	shift
	wait_for 20 answers "$(there4 "$_works")"
	wait_for 20 answers "$(there6 "$_works")"
	for _size; do
		pings_all h0 3 "$(there4 "$_works")" -s "$_size"
		pings_all h0 3 "$(there6 "$_works")" -s "$_size"
	done
	neighbours_right "$_works"
	fits "$(there4 "$_works")" 28
	fits "$(there6 "$_works")" 48
}

# net_apart NET: two limited members cannot reach each other, neither by ARP or ND nor with a
# permanent neighbour entry; the ports count P_Key mismatches.
net_apart()
{
	_refused=$(fabric_counter ibfab0 port1.drop.rx_pkey)
	pair_barrier apart
	ip -n h0 neigh replace "$(there4 "$1")" dev "$(dev_in "$1")" \
		lladdr "$(cat "/run/there.$1")" nud permanent
	for _address in "$(there4 "$1")" "$(there6 "$1")"; do
		refute on h0 ping -q -c 2 -i 0.2 -W 1 "$_address"
	done
	ip -n h0 neigh flush "$(there4 "$1")" nud permanent
	wait_for 20 counter_reaches ibfab0 port1.drop.rx_pkey $((_refused + 1))
	pair_barrier refused
}

# ---- Multicast ----
#
# A group is identified by its family (4 or 6), its net, and its member: `all` if both guests
# listen, or the part that only sends. Each round uses other groups.

group_address()
{
	case $3 in
	all) _last=9 ;;
	*) _last=$3 ;;
	esac
	case $1 in
	4) echo "239.$round.$2.$_last" ;;
	6) echo "ff15::$round:$2:$_last" ;;
	esac
}
round=0

# group_mgid FAMILY NET MEMBER: prints the MGID in the format of saquery.
group_mgid()
{
	_pkey=ffff
	[ "$2" -eq 0 ] || _pkey=800$2
	_group=$(group_address "$@")
	case $1 in
	4) echo "ff12:401b:$_pkey::$(printf 'f%02x:%x' "$round" $(($2 * 256 + ${_group##*.})))" ;;
	6) echo "ff12:601b:$_pkey::${_group#ff15::}" ;;
	esac
}

# each_group CMD MEMBER NET...: runs CMD FAMILY NET MEMBER for both families of each net.
each_group()
{
	_each=$1 _member=$2
	shift 2
	for _group_net; do
		for _family in 4 6; do
			$_each "$_family" "$_group_net" "$_member" || return 1
		done
	done
}

listener()
{
	_group=$(group_address "$@") _in=$(dev_in "$2")
	case $1 in
	4) _from="UDP4-RECV:5004,bind=$_group,reuseaddr,ip-add-membership=$_group:$_in" ;;
	6) _from="UDP6-RECV:5004,bind=[$_group],reuseaddr,ipv6-join-group=[$_group]:$_in" ;;
	esac
	on h0 socat -u "$_from" "OPEN:$(heard_file "$@"),creat,append" &
}

# heard_file FAMILY NET MEMBER: prints the name of the file with what was received from that group.
heard_file()
{
	echo "/run/heard.$round.$1.$2.$3"
}

# talk NAME TARGET: sends datagrams until the other guest has received one, then 20 more.
talk()
{
	pair_talk "$1" "$said from part $part" 0.5 | on h0 socat -u STDIN "$2"
}

sender()
{
	_group=$(group_address "$@") _way=so-bindtodevice=$(dev_in "$2")
	[ "$1" -eq 4 ] || _group=[$_group]
	talk "$said.$1.$2.$3" "UDP$1-DATAGRAM:$_group:5004,$_way" &
	talkers="$talkers $!"
}
talkers=

heard()
{
	grep -qx "$said from part $other_part" "$(heard_file "$@")"
}

# hears FAMILY NET MEMBER: waits for a datagram and tells the other guest; from then on none
# may be lost.
hears()
{
	wait_for 20 heard "$@"
	pair_put "heard.$said.$1.$2.$3" yes
	wait_for 10 pair_heard_twenty "$said from part $other_part" "$(heard_file "$@")"
}

talkers_end()
{
	# shellcheck disable=SC2086  # a word for each
	wait $talkers
	talkers=
}

# members_read: writes "MGID PART JOINSTATE" of each membership to /run/members.
members_read()
{
	saquery -C ibfab0 --smkey 1 MCMR >/run/records
	awk -F '\\.\\.+' '
		/MGID/ { mgid = $2 }
		/PortGid/ { n = split($2, gid, ":"); part = gid[n - 1] }
		/JoinState/ { print mgid, part, $2 }' /run/records >/run/members
}

# joined_as MGID PART: prints the JoinState. It is called often, so it starts no process.
joined_as()
{
	while read -r _in _who _state; do
		[ "$_in $_who" != "$1 $2" ] || echo "$_state"
	done </run/members
}

# both_listen FAMILY NET MEMBER: both ports are full members at the SA.
both_listen()
{
	_mgid=$(group_mgid "$@")
	_states="$(joined_as "$_mgid" 1) $(joined_as "$_mgid" 2)"
	echo "$_mgid: JoinState of parts 1, 2: $_states"
	[ "$_states" = "0x1 0x1" ]
}

# one_sends FAMILY NET MEMBER: MEMBER is a SendOnlyFullMember or SendOnlyNonMember at the SA,
# and the other guest a full member.
one_sends()
{
	_mgid=$(group_mgid "$@")
	_states="$(joined_as "$_mgid" "$3") $(joined_as "$_mgid" $((3 - $3)))"
	echo "$_mgid: JoinState of parts $3, $((3 - $3)): $_states"
	[ "$_states" = "0x8 0x1" ] || [ "$_states" = "0x4 0x1" ]
}

# not_listening FAMILY NET MEMBER: the IP layer has not joined the group.
not_listening()
{
	ip -n h0 maddress show dev "$(dev_in "$2")" >/run/maddress
	refute grep -qw "$(group_address "$@")" /run/maddress
}

# one_is_there FAMILY NET MEMBER: MEMBER is the group's only member.
one_is_there()
{
	_mgid=$(group_mgid "$@")
	[ "$(grep -c "^$_mgid " /run/members)" -eq 1 ] &&
		[ -n "$(joined_as "$_mgid" "$3")" ]
}

# sa_has STATE MEMBER NET...: both_listen, one_sends and so on hold for each group. To be
# polled, as the SA's records may lag behind.
sa_has()
{
	members_read
	each_group "$@"
}

# new_round: switches to unused groups.
new_round()
{
	round=$((round + 1))
	said=round$round
}

# one_only_sends NET...: this guest is only a sender in the groups of which it is the member.
one_only_sends()
{
	each_group not_listening "$part" "$@"
	wait_for 20 sa_has one_sends "$part" "$@"
	note "$(one_sends 4 0 "$part")"
}

# groups_work NET...: both directions at once, to groups where both guests listen, and to
# groups to which the sender does not listen.
groups_work()
{
	new_round
	for _who in all "$other_part"; do
		each_group listener "$_who" "$@"
	done
	pair_barrier listening
	for _who in all "$part"; do
		each_group sender "$_who" "$@"
	done
	for _who in all "$other_part"; do
		each_group hears "$_who" "$@"
	done
	talkers_end
	wait_for 20 sa_has both_listen all "$@"
	one_only_sends "$@"
	pair_barrier heard
}

# listeners_late NET...: listeners join groups to which packets are already sent.
listeners_late()
{
	new_round
	each_group sender "$part" "$@"
	wait_for 20 sa_has one_is_there "$part" "$@"
	pair_barrier sending
	each_group listener "$other_part" "$@"
	each_group hears "$other_part" "$@"
	talkers_end
	one_only_sends "$@"
	pair_barrier heard
}

# groups_work_still NET...: the groups of the last round where both guests listen still work.
groups_work_still()
{
	said=again.$said
	each_group sender all "$@"
	each_group hears all "$@"
	talkers_end
	wait_for 20 sa_has both_listen all "$@"
	pair_barrier heard
}

# ---- Restarts ----

# watch_begin: starts to ping the other guest's addresses ten times a second.
watch_begin()
{
	traffic_start watch4 on h0 ping -n -D -i 0.1 "$(there4 0)"
	traffic_start watch6 on h0 ping -n -D -i 0.1 "$(there6 0)"
	wait_for 20 watch_answered 3
}

# watch_answers FILE: prints the number of answers, and the longest time between two, in ms.
watch_answers()
{
	awk '/ bytes from / {
		at = substr($1, 2) + 0
		if (n++ && at - last > gap)
			gap = at - last
		last = at
	} END { printf "%d %d\n", n, gap * 1000 }' "/run/traffic.$1.log"
}

# watch_answered LEAST: both families have had so many answers.
watch_answered()
{
	for _watch in watch4 watch6; do
		read -r _answers _ <<-E
			$(watch_answers "$_watch")
		E
		[ "$_answers" -ge "$1" ] || return 1
	done
}

watch_mark()
{
	for _watch in watch4 watch6; do
		watch_answers "$_watch" >"/run/$_watch.mark"
	done
}

# watch_goes_on: both families have had answers since the mark.
watch_goes_on()
{
	for _watch in watch4 watch6; do
		read -r _then _ <"/run/$_watch.mark"
		[ "$(watch_answers "$_watch" | cut -d ' ' -f 1)" -gt $((_then + 5)) ] ||
			return 1
	done
}

# watch_end MS: answers must come again without help, and no gap may have been longer than MS.
watch_end()
{
	watch_mark
	wait_for 60 watch_goes_on
	for _watch in watch4 watch6; do
		_silence=$(watch_answers "$_watch" | cut -d ' ' -f 2)
		note "$_watch: $_silence ms without an answer"
		assert_between "ms without an answer" "$_silence" 0 "$1"
		traffic_stop "$_watch" >"/run/$_watch.end"
	done
}

# neighbours_kept MS: sets how long neighbour entries are valid.
neighbours_kept()
{
	ip -n h0 neigh flush dev "$dev"
	for _family in ipv4 ipv6; do
		on h0 sysctl -qw "net.$_family.neigh.$dev.base_reachable_time_ms=$1" \
			"net.$_family.neigh.$dev.delay_first_probe_time=1"
	done
}

neighbours_follow()
{
	neighbour_is "$(there4 0)" "$(cat /run/there.0)" &&
		neighbour_is "$(there6 0)" "$(cat /run/there.0)"
}

reload()
{
	rmmod ib_ipoib || fail "cannot remove the driver"
	driver_load
	host_give h0 ibfab0 "$part"
	children_make
	wait_for 20 carriers
	lladdrs_swap
}

# peer_reloads MS: the view of the guest that does not reload its driver. This driver
# announces its new link-layer address to its peers; with the in-tree driver the peers'
# neighbour entries have to expire.
peer_reloads()
{
	_was=$(cat /run/there.0)
	lladdrs_swap
	assert differs "$_was" cat /run/there.0
	wait_for 60 neighbours_follow
	watch_end "$1"
}

restart()
{
	step "Guest $1's driver ($2) is unloaded, and loaded again"
	if pair_here "$1"; then
		no_errors rx_errors tx_errors tx_carrier_errors
		pair_barrier watched
		reload
	else
		_kept=3600000 _limit=20000
		[ "$2" = ipoib ] || { _kept=3000 && _limit=60000; }
		neighbours_kept "$_kept"
		watch_begin
		pair_barrier watched
		peer_reloads "$_limit"
	fi
	pair_barrier restarted
	net_works 0 56
	net_works 1 56
	took "restart of guest $1"
}

bounce()
{
	step "Guest $1's port loses its link, and gets it back"
	pair_here "$1" || watch_begin
	pair_barrier watched
	if pair_here "$1"; then
		echo "ibfab0 1 down" >"$ibfab/cable"
		wait_for 20 not has_carrier h0 "$dev"
		echo "ibfab0 1 up" >"$ibfab/cable"
		wait_for 30 carriers
	fi
	pair_barrier bounced
	pair_here "$1" || watch_end 20000
	pair_barrier watched
	net_works 0 56
	took "bounce of guest $1"
}

# ---- The matrix ----

begin()
{
	step "Guest a: $1. Guest b: $2."
	if pair_here a; then
		driver=$1
	else
		driver=$2
	fi
	trunk_start hcas=1
	driver_load
	host_make h0 ibfab0 "$part"
}

# sm_starts a|b IB-MTU MTU: starts OpenSM in that guest.
sm_starts()
{
	step "The SM in guest $1, MTU $3"
	mtu=$3
	partitions_write "$2"
	# OpenSM may handle a trap that arrives during a sweep only in its next sweep
	subnet_up "$1" -s 5 -P /run/partitions.conf
	[ -n "${dev:-}" ] || children_make
	wait_for 30 mtus_are "$mtu"
	wait_for 30 carriers
	lladdrs_swap
	took "start"
}

# unicast: pings in all nets, with all sizes in the first one.
unicast()
{
	net_works 0 0 56 $((mtu - 28 + 1)) 8000
	for net in 1 2 3; do
		net_works $net 56
	done
	net_apart 4
	took "pings"
}

# tcp_both ARGUMENT...: guest a sends by IPv4 and guest b by IPv6, both at once, for at most five
# minutes. The client's report is in /run/iperf.json.
tcp_both()
{
	iperf_server h0
	pair_barrier servers
	_server=$(there6 0)
	! pair_here a || _server=$(there4 0)
	on h0 timeout 300 iperf3 -J -c "$_server" "$@" >/run/iperf.json ||
		fail "iperf3: $(jq -r .error /run/iperf.json)"
	pair_barrier over
	traffic_stop iperf.h0 >/run/iperf.end
	note "to $_server: $(jq '.end.sum_received.bits_per_second / 1e6 | floor' \
		/run/iperf.json) Mbit/s, $(jq .end.sum_sent.retransmits /run/iperf.json) retransmissions"
}

# tcp_runs SECONDS: the speed does not matter, only that TCP never stalls: with two guests and two
# busy loops on two CPUs a direction has transferred as little as 8 MiB in an interval, but one that
# stalls transfers nothing.
tcp_runs()
{
	_interval=$(($1 < 10 ? $1 : 10))
	step "TCP both ways at once, for $1 s"
	tcp_both -t "$1" -i "$_interval"
	jq -r --argjson least $((_interval / 2)) \
		'.intervals[].sum | select(.seconds > $least) | .bytes' /run/iperf.json >/run/bytes
	note "MiB in each $_interval s: $(awk '{ printf "%d ", $1 / 1048576 }' /run/bytes)"
	assert test "$(wc -l </run/bytes)" -ge $(($1 > 10 ? $1 / 10 - 1 : 1))
	# shellcheck disable=SC2016  # awk's
	assert_none "intervals of less than 1 MiB" awk '$1 < 1048576' /run/bytes
	took "TCP"
}

# tcp_transfers MIB: that much crosses. How fast does not matter, but a direction that stalls fails
# after the five minutes of tcp_both.
tcp_transfers()
{
	step "TCP both ways at once, $1 MiB each"
	tcp_both -n "$1M"
	# iperf3 ends when the client's socket has taken all, which the server may not have read yet
	assert test "$(jq .end.sum_received.bytes /run/iperf.json)" -ge $(($1 << 19))
	took "TCP"
}

finish()
{
	step "No errors, and the trunk is up"
	# A packet may be sent while a port that has lost its link is noticed: a tx_carrier_error
	no_errors rx_errors tx_errors
	# The trunk goes down if a guest gets no CPU for 4 s, which is not the driver's fault
	note "link_down $(trunk_figure link_down), link_up $(trunk_figure link_up)"
	wait_for 20 trunk_is up
	pair_barrier end
}

# matrix DRIVER DRIVER SECONDS: the drivers (ipoib or intree) of guest a and guest b, and how
# long TCP runs.
matrix()
{
	begin "$@"
	sm_starts a 4 2044
	unicast
	# shellcheck disable=SC2046  # words
	groups_work $(full_or "0 1" "0 1 2 3")
	took "groups"
	listeners_late 0 1
	took "late listeners"
	groups_work 0
	! pair_here a || opensm_stop
	pair_barrier no-sm
	sm_starts b 5 4092
	unicast
	groups_work_still 0
	groups_work 0 1
	listeners_late 0
	took "groups"
	restart a "$1"
	restart b "$2"
	bounce a
	bounce b
	tcp_runs "$3"
	file_crosses 4 "$(there4 0)"
	finish
}

# matrix_short DRIVER-OF-A DRIVER-OF-B: a part of that, for kernels that are expected to differ
# in nothing that the whole would show.
matrix_short()
{
	begin "$@"
	sm_starts a 4 2044
	unicast
	groups_work 0 1
	took "groups"
	restart a "$1"
	restart b "$2"
	tcp_transfers 8
	file_crosses 2 "$(there4 0)"
	finish
}

# kernels_differ: fails unless the two guests have different kernels.
kernels_differ()
{
	step "Kernel $(uname -r)"
	pair_put kernel "$(uname -r)"
	_other=$(pair_get kernel)
	note "the other guest: $_other"
	differs "$_other" uname -r || fail "both guests have the same kernel"
}
