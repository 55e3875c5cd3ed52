# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases that send random frames and spoil the SA's answers. Sources lib.sh.

# shellcheck source=lib.sh
. /cases/lib.sh

seed=${SEED:-1}
fuzz=/sys/kernel/debug/ibfuzz

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

# sent NAME: prints a number of the last report of ibfuzz.
sent()
{
	awk -v name="$1" '$1 == name { print $2 }' "$fuzz/ibfab2/sent"
}

# frames WORDS: sends frames to h1 from ibfab2, which pretend to be from h0.
frames()
{
	echo "$target $*" >"$fuzz/ibfab2/send" || fail "no frames: $target $*"
}

# metered DIR: prints the number of packets other than MADs that crossed the cable of ibfab1
# in that direction.
metered()
{
	awk -v dir="dir=$1" '$2 == dir { for (i = 1; i < NF; i++)
		if ($i == "seen") print $(i + 1) }' "$ibfab/ibfab1/rules"
}

# dropped: prints the number of packets other than MADs that h1's HCA did not deliver to a QP.
dropped()
{
	awk '/^port1\.drop\.rx_/ { n += $2 }
		/^port1\.(drop\.rx_vl15_full|qp1_dropped)/ { n -= $2 }
		END { print n + 0 }' "$ibfab/ibfab1/counters"
}

# taken: prints the number of packets that the interface has received, good or bad, without
# its own multicasts, which the HCA loops back without a cable.
taken()
{
	on h1 ethtool -S "$dev" | awk '
		$1 ~ /^rx_(packets|short|too_long|completion_error|no_memory|no_carrier|forged_dropped):/ {
			n += $2
		} END { print n }'
}

# figures: sets $in and $out to the counters of the HCA and the interface.
figures()
{
	in=$(($(taken) + $(dropped))) out=$(netdev_counter h1 "$dev" tx_packets)
}

# no_loss: each packet that crossed the cable, or that h1 sent to its own LID (which crosses
# no cable), is in exactly one counter.
no_loss()
{
	figures
	_came=$(($(metered in) + out - out_before - $(metered out)))
	echo "came $_came, counted $((in - in_before))"
	[ "$_came" -eq $((in - in_before)) ]
}

# meter: starts to count, while no packet is on its way.
meter()
{
	figures
	while :; do
		in_before=$in out_before=$out
		rule ibfab1 what=data do=drop every=4294967295
		rule ibfab1 what=data dir=out do=drop every=4294967295
		sleep 0.2
		figures
		[ "$in $out" != "$in_before $out_before" ] || return 0
		rules_clear ibfab1
	done
}

# all_ping: waits for all pings to be answered. What h0 and h2 know of h1, and h1 of them, may
# be wrong at first, and must recover without help.
all_ping()
{
	wait_for 60 pings h0 10.0.0.2
	wait_for 60 pings h0 fd00::2
	wait_for 60 pings h1 10.0.0.1
	wait_for 60 pings h1 fd00::1
	wait_for 60 pings h1 10.0.0.3
}

# next_rule: sets $words to a rule for the SA's answers to ibfab1. The kinds alternate, and
# the seed determines the values. An answer is truncated after the record's MGID (octets 56 to
# 71) or before the end of the transaction ID (octets 8 to 15). An answer truncated in between
# would be accepted with the MGID that the buffer happens to hold, and if the answers to two
# joins name the same group, ib_core corrupts its tree of groups (join_handler()).
next_rule()
{
	chaos=$(((chaos * 1103515245 + 12345) % 2147483648))
	turns=$((turns + 1))
	_value=$((1 + chaos / 524288 % 255))
	case $((turns % 6)) in
	0) words="do=truncate value=$((72 + _value % 184))" ;;
	1) words="do=status value=$((_value * 256))" ;;
	2) words="do=truncate value=$((1 + _value % 8))" ;;
	3) words="do=delay ms=$((_value * 16))" ;;
	4) words="do=drop" ;;
	5) words="do=duplicate" ;;
	esac
	words="$words every=$((1 + chaos / 1048576 % 3))"
}

# spoilt ACTION: prints the number of answers that were spoilt this way.
spoilt()
{
	fabric_counter ibfab1 "port1.fault.$1"
}

# rejoin: makes h1 join all its groups again.
rejoin()
{
	echo "switch0 2 down" >"$ibfab/cable"
	echo "switch0 2 up" >"$ibfab/cable"
}

no_fragments()
{
	_frags=$(on h1 cat /proc/net/sockstat /proc/net/sockstat6) || return
	[ "$(echo "$_frags" | grep -c '^FRAG6*: inuse 0 ')" -eq 2 ]
}

# rule_hits: the rule has matched.
rule_hits()
{
	[ "$(rule_figure ibfab1 hits)" -ge 1 ]
}

# spoil_surely: adds the next rule, and waits until it has spoilt an answer to a request of h1.
spoil_surely()
{
	next_rule
	rule ibfab1 what=sa_answer "$words"
	rejoin
	wait_for 20 rule_hits
	rules_clear ibfab1
}

# spoilt_each: answers were spoilt in each way.
spoilt_each()
{
	for _kind in status truncate delay drop duplicate; do
		[ "$(spoilt "$_kind")" -gt 0 ] || return 1
	done
}

# frames_run: whether frames are still sent.
frames_run()
{
	kill -s 0 "$(cat /run/traffic.frames.pid)" 2>/run/kill.log
}

# fuzz_for SECONDS: the whole case.
fuzz_for()
{
	seconds=$1
	fabric_start hcas=3
	cat >/run/partitions.conf <<-'CONF'
	Default=0x7fff, ipoib : ALL=full;
	alien=0x1 : 0x021bfa0100000201=full;
	CONF
	opensm_start -P /run/partitions.conf
	wait_for 20 grep -qx 0x8001 "$ib/ibfab2/ports/1/pkeys/1"
	ipoib_load
	module_insert /modules/ibfuzz.ko
	hosts_make 3
	# Incomplete fragments hold receive buffers, so they are kept for two seconds only
	on h1 sysctl -qw net.ipv4.ipfrag_time=2 net.ipv6.ip6frag_time=2
	wait_for 20 pings h0 10.0.0.2
	dev=$(dev_of h1)
	address=$(on h1 cat "/sys/class/net/$dev/address")
	target="dlid=$(lid_of ibfab1) qpn=0x$(echo "$address" | cut -d: -f2-4 | tr -d :) \
qkey=0xb1b to_gid=$(cat "$ib/ibfab1/ports/1/gids/0") mlid=0xc000 \
mgid=ff12:401b:ffff::ffff:ffff from_ip4=10.0.0.1 from_ip6=fd00::1 \
to_ip4=10.0.0.2 to_ip6=fd00::2 alien_index=1"
	note "SEED=$seed SECONDS=$seconds"

	step "The same seed sends the same frames, another seed other frames"
	frames "seed=$seed count=100"
	first=$(sent digest)
	frames "seed=$seed count=100"
	assert_eq "the digest" "$(sent digest)" "$first"
	frames "seed=$((seed + 1)) count=100"
	assert differs "$first" sent digest
	frames "seed=$seed first=60 count=1"
	assert_eq "frames" "$(sent frames)" 1
	must_fail sh -c "echo 'seed=1' >$fuzz/ibfab2/send"

	step "Frames for $((seconds / 2)) s: each one is counted, and the QP is not reset"
	resets=$(stat_of h1 qp_resets)
	meter
	frames "seed=$seed seconds=$((seconds / 2))"
	sed 's/^/    /' "$fuzz/ibfab2/sent"
	wait_for 30 no_loss
	note "$(no_loss)"
	assert test "$(metered in)" -ge "$(sent frames)"
	for reason in qkey pkey; do
		assert test "$(fabric_counter ibfab1 "port1.drop.rx_$reason")" -ge \
			"$(sent "bad_$reason")"
	done
	assert_eq "resets of the QP" "$(stat_of h1 qp_resets)" "$resets"
	rules_clear ibfab1
	all_ping

	step "Frames and an SA whose answers are refused, truncated, late, lost or doubled, for $((seconds - seconds / 2)) s"
	echo "$target seed=$((seed + 2)) rate=100 seconds=$((seconds - seconds / 2))" >/run/line
	traffic_start frames cp /run/line "$fuzz/ibfab2/send"
	echo 2 >/run/sought
	# shellcheck disable=SC2016  # for the inner shell to expand
	traffic_start seeker sh -c 'while :; do
		ip -n h1 neigh flush all
		for host in 1 3 $(cat /run/sought); do
			ip netns exec h1 ping -q -c 1 -W 1 "10.0.0.$host"
		done
	done'
	chaos=$seed
	turns=0
	while frames_run; do
		next_rule
		echo $((chaos % 200 + 20)) >/run/sought
		rule ibfab1 what=sa_answer "$words"
		[ $((turns % 4)) -ne 0 ] || rejoin
		sleep 0.5
		rules_clear ibfab1
	done
	# On a busy machine there may be no answer in the half second of a rule
	if not spoilt_each; then
		repeat 6 spoil_surely
	fi
	wait "$(cat /run/traffic.frames.pid)" ||
		fail "the frames: status $?, $(cat /run/traffic.frames.log)"
	assert test "$(sent frames)" -ge $((seconds - seconds / 2))
	traffic_stop seeker
	note "$turns rules for its answers; hit: $(spoilt status) refused, $(spoilt truncate) truncated," \
		"$(spoilt delay) late, $(spoilt drop) lost, $(spoilt duplicate) doubled"
	assert spoilt_each

	step "Everything recovers"
	rejoin
	wait_for 60 has_carrier h1 "$dev"
	all_ping
	assert_eq "transmit timeouts" "$(stat_of h1 tx_timeouts)" 0
	ip -n h1 link set "$dev" down
	ip -n h1 link set "$dev" up
	wait_for 60 has_carrier h1 "$dev"
	ip -n h1 -6 address replace fd00::2/64 dev "$dev" nodad
	all_ping
	wait_for 10 no_fragments
}
