# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The kernel's own selftests over IPoIB: zero-copy sends, time stamps, large UDP packets both
# ways, transmit times; and ptp4l synchronizes with such time stamps.
# timeout: 300
# soak: 300
# when: soak

. /cases/lib.sh

# address_of FAMILY HOST: prints the address of the host.
address_of()
{
	if [ "$1" = 4 ]; then
		echo "10.0.0.$((${2#h} + 1))"
	else
		echo "fd00::$((${2#h} + 1))"
	fi
}

# value NAME FILE: prints the last VALUE of "NAME=VALUE" in a program's output.
value()
{
	sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" "$2" | tail -n 1
}

# ---- Zero-copy ----

# zerocopy_begin FROM TO FAMILY RX-PROTOCOL PROGRAM...: starts receiver and sender. The
# receiver verifies the contents of datagrams.
zerocopy_begin()
{
	_from=$1 _to=$2 _family=$3 _protocol=$4
	shift 4
	_address=$(address_of "$_family" "$_to")
	on "$_to" msg_zerocopy "-$_family" -r -t 2 -D "$_address" ${size:+-s $size} \
		"$_protocol" 2>"/run/rx.$_family" &
	eval "receiver$_family=$!"
	if [ "$_protocol" = udp ]; then
		wait_for 10 listening "$_to" 8000 u
	else
		wait_for 10 listening "$_to" 8000
	fi
	on "$_from" "$@" "-$_family" -D "$_address" ${size:+-s $size} \
		"$_protocol" >"/run/tx.$_family" 2>&1 &
	eval "sender$_family=$!"
}

# zerocopy_end FAMILY: both programs succeed, and something was received.
zerocopy_end()
{
	eval "wait \"\$sender$1\"" || fail "the sender: $(cat "/run/tx.$1")"
	eval "wait \"\$receiver$1\"" || fail "the receiver: $(cat "/run/rx.$1")"
	note "IPv$1: $(grep tx= "/run/tx.$1" | tr '\n' ' ')$(grep rx= "/run/rx.$1")"
	assert [ "$(value rx "/run/rx.$1")" -gt 0 ]
}

# zerocopy PROTOCOL PROGRAM...: sends IPv4 from h1, whose HCA computes checksums, and IPv6
# from h0, where the driver does.
zerocopy()
{
	sent0=$(netdev_counter h0 "$dev0" tx_packets)
	sent1=$(netdev_counter h1 "$dev1" tx_packets)
	zerocopy_begin h1 h0 4 "$@"
	zerocopy_begin h0 h1 6 "$@"
	zerocopy_end 4
	zerocopy_end 6
	sent0=$(($(netdev_counter h0 "$dev0" tx_packets) - sent0))
	sent1=$(($(netdev_counter h1 "$dev1" tx_packets) - sent1))
}

# completed WANTED: every send is completed; WANTED is y if no octet was copied for IPv4. The
# kernel copies pages that others may write to before the driver computes their checksum
# (skb_checksum_help()).
completed()
{
	for _family in 4 6; do
		refute grep -q missing "/run/tx.$_family"
		assert_eq "completions" "$(value txc "/run/tx.$_family")" \
			"$(value tx "/run/tx.$_family")"
	done
	assert_eq "not copied of IPv4" "$(value zc /run/tx.4)" "$1"
}

# all_came: the same number of MB was sent and received by TCP.
all_came()
{
	for _family in 4 6; do
		_sent=$(sed -n 's/^tx=.*(\([0-9]*\) MB).*/\1/p' "/run/tx.$_family")
		_came=$(sed -n 's/^rx=.*(\([0-9]*\) MB).*/\1/p' "/run/rx.$_family")
		assert [ "$_sent" -gt 0 ]
		assert_eq "MB that came by IPv$_family" "$_came" "$_sent"
	done
}

# datagrams_crossed: at least as many packets were sent as datagrams received.
datagrams_crossed()
{
	assert_between "packets of h0" "$sent0" "$(value rx /run/rx.6)" 1000000
	assert_between "packets of h1" "$sent1" "$(value rx /run/rx.4)" 1000000
}

# ---- Time stamps ----

# delayed FAMILY ARGUMENT...: the time stamps of sending to the HCA are after netem's delay,
# those of queueing are not, and the IDs of packets increase by one.
delayed()
{
	_family=$1
	shift
	on h0 txtimestamp "-$_family" -v 20000 -V 20000 -t 400000 "$@" \
		"$(address_of "$_family" h1)" >"/run/txtimestamp" 2>&1 ||
		fail "txtimestamp -$_family $*: $(cat /run/txtimestamp)"
	refute grep -q ERROR /run/txtimestamp
	# Four for each test that requests them: see do_main() of txtimestamp
	assert_eq "time stamps of txtimestamp -$_family $*" \
		"$(grep -c ' SND:' /run/txtimestamp) $(grep -c ' ENQ:' /run/txtimestamp)" "$stamps"
	_queued=$(sed -n 's/.* USR-ENQ: .*avg=\([0-9]*\) us.*/\1/p' /run/txtimestamp | head -n 1)
	note "IPv$_family $*: $(sed -n 's/ *USR-\(ENQ\|SND\): count=\([0-9]*\), avg=/\1 +/p' \
		/run/txtimestamp | tail -n 2 | tr '\n' ' ')"
}

# ---- UDP, large ----

# large_audit FAMILY FROM TO: each large send gets a time stamp and a completion.
large_audit()
{
	on "$3" udpgso_bench_rx -v -C 5000 -R 500 2>/run/rx &
	_receiver=$!
	wait_for 10 listening "$3" 8000 u
	_segments=$(stat_of "$2" tx_segmented)
	_came=$(netdev_counter "$3" "$(dev_of "$3")" rx_packets)
	on "$2" udpgso_bench_tx "-$1" -l 1 -D "$(address_of "$1" "$3")" -S 0 -z -T -a \
		>/run/tx 2>&1 || fail "udpgso_bench_tx -$1: $(cat /run/tx)"
	# It ends half a second after the last packet, or on an error
	wait "$_receiver" || fail "udpgso_bench_rx: $(cat /run/rx)"
	cat /run/tx /run/rx
	segmented=$(($(stat_of "$2" tx_segmented) - _segments))
	_came=$(($(netdev_counter "$3" "$(dev_of "$3")" rx_packets) - _came))
	note "$segmented large ones cut by the driver, $_came came"
	assert [ "$_came" -gt 200 ]
	assert [ "$segmented" -gt 10 ]
}

# merged FAMILY SIZE SEGMENT: a large send that crosses as datagrams is received as a single
# packet.
merged()
{
	on h1 udpgso_bench_rx -v -G -C 5000 -R 500 -n 1 -l "$2" -S "$3" >/run/rx 2>&1 &
	_receiver=$!
	wait_for 10 listening h1 8000 u
	_before=$(netdev_counter h1 "$dev1" rx_packets)
	on h0 udpgso_bench_tx "-$1" -l 4 -D "$(address_of "$1" h1)" -M 1 -s "$2" -S "$3" \
		>/run/tx 2>&1 || fail "udpgso_bench_tx: $(cat /run/tx)"
	wait "$_receiver" || fail "IPv$1, $2 octets by $3: $(cat /run/rx)"
	_datagrams=$(($(netdev_counter h1 "$dev1" rx_packets) - _before))
	assert_between "datagrams" "$_datagrams" $((($2 + $3 - 1) / $3)) $((($2 + $3 - 1) / $3 + 9))
}

# single FAMILY: a receiver that has not enabled GRO gets ten separate datagrams.
single()
{
	on h1 udpgso_bench_rx -v -C 5000 -R 500 -n 10 -l 1400 -S -1 >/run/rx 2>&1 &
	_receiver=$!
	wait_for 10 listening h1 8000 u
	on h0 udpgso_bench_tx "-$1" -l 4 -D "$(address_of "$1" h1)" -M 10 -s 1400 \
		>/run/tx 2>&1 || fail "udpgso_bench_tx: $(cat /run/tx)"
	wait "$_receiver" || fail "IPv$1, one by one: $(cat /run/rx)"
}

# ---- Transmit times ----

# timed_once FAMILY CLOCK SENT EXPECTED: times are in milliseconds after a moment that both
# ends know.
timed_once()
{
	_start=$(($(date +%s) + 2))000000000
	_from=$(address_of "$1" h0) _to=$(address_of "$1" h1)
	on h1 so_txtime "-$1" -c "$2" -t "$_start" -S "$_from" -D "$_to" -r "$4" 2>/run/rx &
	_receiver=$!
	# The program's sender uses its source argument as the destination
	on h0 so_txtime "-$1" -c "$2" -t "$_start" -S "$_to" -D "$_to" "$3" >/run/tx 2>&1 ||
		fail "so_txtime: $(cat /run/tx)"
	wait "$_receiver"
}

# timed: like timed_once, with six attempts, as the host may delay a guest.
timed()
{
	for _try in 1 2 3 4 5 6; do
		if timed_once "$@"; then
			note "IPv$1, $2: $(tr '\n' ' ' </run/rx)"
			return
		fi
		note "once more: $(tr '\n' ' ' </run/rx) $(tr '\n' ' ' </run/tx)"
	done
	fail "IPv$1, $2, $3"
}

# ---- Precision Time Protocol ----

# ptp_start HOST PRIORITY: starts ptp4l. Both hosts have the same clock, which ptp4l does not
# adjust. It derives its identity from the GUID, which it reads from the host's /sys.
ptp_start()
{
	printf '[global]\nfree_running 1\npriority1 %s\nlogSyncInterval -3\n' "$2" >"/run/ptp.$1.conf"
	traffic_start "ptp.$1" ip netns exec "$1" ptp4l -4 -S -m -q -l 7 -f "/run/ptp.$1.conf" \
		-i "$(dev_of "$1")" --summary_interval 0 --uds_address "/run/ptp.$1"
}

# ptp_delays: prints the delays that the slave has measured with time stamps at both ends, in
# nanoseconds.
ptp_delays()
{
	sed -n 's/.*delay  *filtered .* raw  *\([0-9]*\)$/\1/p' /run/traffic.ptp.h1.log
}

# ptp_identity HOST: prints the EUI-64 of its interface, in the format of a clock identity.
ptp_identity()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/address" | cut -d : -f 13-20 | tr -d :
}

ptp_serves()
{
	[ "$(ptp_delays | wc -l)" -ge 3 ]
}

fabric_start hcas=2 offload=none,csum+lso
opensm_start
ipoib_load
hosts_make 2
dev0=$(dev_of h0) dev1=$(dev_of h1)
echo 1000000 >/proc/sys/net/core/optmem_max

step "Zero-copy: TCP, UDP, UDP of several pieces"
size=''
zerocopy tcp msg_zerocopy -t 1 -z
completed y
all_came
size=1400
zerocopy udp msg_zerocopy -t 0 -z
completed y
datagrams_crossed
assert_eq "not copied of IPv6" "$(value zc /run/tx.6)" n
zerocopy udp msg_zerocopy -t 0 -z -c 4
completed n
datagrams_crossed

step "Zero-copy by io_uring, with memory that is registered"
for mode in 1 2; do
	zerocopy udp io_uring_zerocopy_tx -m $mode -t 1
	datagrams_crossed
done
size=''
zerocopy tcp io_uring_zerocopy_tx -m 3 -t 1

step "The kernel copies packets that a packet socket receives"
traffic_start tcpdump on h1 tcpdump -Z root -n -i "$dev1" -w /dev/null
wait_for 10 grep -q 'listening on' /run/traffic.tcpdump.log
size=1400
zerocopy_begin h1 h0 4 udp msg_zerocopy -t 0 -z
zerocopy_end 4
assert_eq "not copied" "$(value zc /run/tx.4)" n
traffic_stop tcpdump

step "TCP's receiver by mmap: pages cannot be remapped, as packets are shorter than a page"
# With a terminal for its output it reports what it received at once
traffic_start mmap on h1 socat -u EXEC:"tcp_mmap -4 -s -z -H 10.0.0.2",pty,stderr STDOUT
wait_for 10 listening h1 8787
on h0 tcp_mmap -4 -z -H 10.0.0.2
wait_for 10 grep -q received /run/traffic.mmap.log
traffic_stop mmap
assert_match "tcp_mmap" "$(cat /run/traffic.mmap.log)" 'received 16(\.[0-9]*)? MB \(0 % mmap'

step "Time stamps"
on h0 ethtool -T "$dev0"
for name in software-transmit software-receive software-system-clock; do
	assert_eq "$name" "$(on h0 ethtool -T "$dev0" | grep -c "$name")" 1
done
traffic_start sink.t on h1 socat -u TCP6-LISTEN:9000,fork,ipv6only=0 OPEN:/dev/null
traffic_start sink.u on h1 socat -u UDP6-RECV:9000,ipv6only=0 OPEN:/dev/null
wait_for 10 listening h1 9000
wait_for 10 listening h1 9000 u
on h0 tc qdisc replace dev "$dev0" root netem delay 20ms
for family in 4 6; do
	stamps='16 12'
	delayed $family
	stamps='8 8'
	delayed $family -u
	delayed $family -r
	delayed $family -R -C
	delayed $family -u -n -C
done
on h0 tc qdisc del dev "$dev0" root

step "Large sends of UDP, each with zero-copy and a time stamp"
for family in 4 6; do
	large_audit $family h0 h1
done

step "Large receives of UDP"
on h1 sh -c "echo 100 >/sys/class/net/$dev1/napi_defer_hard_irqs
	echo 50000000 >/sys/class/net/$dev1/gro_flush_timeout" /sys
merged 4 14720 1472
merged 4 14720 500
merged 6 14520 1452
merged 6 14520 500
on h1 sh -c "echo 0 >/sys/class/net/$dev1/napi_defer_hard_irqs
	echo 0 >/sys/class/net/$dev1/gro_flush_timeout" /sys
single 4
single 6

step "Transmit times, with fq and with etf"
on h0 tc qdisc replace dev "$dev0" root fq
timed 4 mono a,30,b,60 a,30,b,60
# With fq the second packet of a flow does not wait for the first, but fq's timer is set for
# the first only
timed 6 mono a,60,b,30 b,60,a,60
on h0 tc qdisc replace dev "$dev0" root etf clockid CLOCK_TAI delta 5000000
timed 4 tai a,60,b,30 b,30,a,60
timed 6 tai a,60,b,30 b,30,a,60
refute timed_once 4 tai a,-1 a,-1
assert_match "the receiver" "$(cat /run/rx)" 'recv: timeout'
on h0 tc qdisc del dev "$dev0" root

step "Two clocks by PTP"
ptp_start h0 10
wait_for 20 grep -q 'assuming the grand master role' /run/traffic.ptp.h0.log
ptp_start h1 200
wait_for 20 ptp_serves
traffic_stop ptp.h1
traffic_stop ptp.h0
note "delays in ns: $(ptp_delays | tr '\n' ' ')"
assert_between "the shortest delay in ns" "$(ptp_delays | sort -n | head -n 1)" 1000 50000000
assert_match "its best master" "$(grep 'best master' /run/traffic.ptp.h1.log | tr -d .)" \
	"$(ptp_identity h0)"

step "The kernel's test of a netdevice, which tests the device named eth0"
ip -n h0 link set "$dev0" down
ip -n h0 link set "$dev0" name eth0
on h0 netdevice.sh >/run/netdevice 2>&1
cat /run/netdevice
# It sets an address of 6 octets
assert_eq "failures" "$(grep FAIL /run/netdevice)" "FAIL: eth0: Cannot set MAC address"
assert_eq "passes" "$(grep -c '^PASS' /run/netdevice)" 4
