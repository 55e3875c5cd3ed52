# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Checksums and large sends are correct to the last octet in the fabric's offloads, for the
# in-tree driver and for raw datagrams.
# timeout: 120
# smp: 1

. /cases/lib.sh

# With one CPU the receiver's engine only runs when the sender's has finished. So if there is
# only one receive, it gets the first segment of a large send.

# listen WORDS: creates a receiver at ibfab1; sets $qpn.
listen()
{
	raw_listen ibfab1 "qkey=0x1bfa $*"
}

# send WORDS: sends from ibfab0.
send()
{
	echo "dlid=$lid qpn=$qpn qkey=0x1bfa $*" >"$raw/ibfab0/send"
}

# csum HEX: prints the complement of the RFC 1071 sum of the octets, computed here.
csum()
{
	_rest=$1 _sum=0
	while [ -n "$_rest" ]; do
		case ${#_rest} in
		2) _rest=${_rest}00 ;;
		esac
		_tail=${_rest#????}
		_sum=$((_sum + 0x${_rest%"$_tail"}))
		_rest=$_tail
	done
	while [ "$_sum" -gt 65535 ]; do
		_sum=$(((_sum & 65535) + (_sum >> 16)))
	done
	printf '%04x' "$((_sum ^ 65535))"
}

# ip4 PROTOCOL LENGTH [FLAGS [CHECKSUM]]: prints an IPv4 header.
ip4()
{
	printf '4500%04x1234%s40%s%s%s' "$((20 + $2))" "${3:-4000}" "$1" \
		"${4:-0000}" "$addresses4"
}

ip4_right()
{
	ip4 "$1" "$2" "${3:-4000}" "$(csum "$(ip4 "$@")")"
}

# segment_is NAME HEADER-END DATA: the last received packet is an IPv6 TCP segment with this
# end of the header (sequence number, flags and so on), this data, and the right checksum.
segment_is()
{
	_tcp=$ports$2 _data=$3
	_length=$((20 + ${#_data} / 2))
	_sum=$(csum "$addresses6$(printf '%08x' "$_length")00000006${_tcp}00000000$_data")
	_ip=86dd0000600000000$(printf '%03x' "$_length")0640$addresses6
	assert_eq "$1" "$(raw_received ibfab1 last.payload)" "$_ip$_tcp${_sum}0000$_data"
}

module_insert /modules/ibraw.ko
for wrong in lso csum,bad csum-lso; do
	must_fail insmod /modules/ibfab.ko offload=$wrong
done
fabric_start hcas=3 offload=csum+lso,csum+lso,none
opensm_start
lid=$(lid_of ibfab1)
addresses4=0a0000010a000002
addresses6=fd000000000000000000000000000001fd000000000000000000000000000002
ports=04d2162e

step "Sent with IB_SEND_IP_CSUM: the checksums are those computed here"
listen
data=48656c6c6f
udp=${ports}000d
right=$(csum "${addresses4}0011000d${udp}0000$data")
send "csum=1 payload=08000000$(ip4 11 13)${udp}dead$data"
wait_for 5 raw_is ibfab1 packets 1
assert_eq "UDP over IPv4" "$(raw_received ibfab1 last.payload)" \
	"08000000$(ip4_right 11 13)$udp$right$data"
right=$(csum "${addresses6}0000000d00000011${udp}0000$data")
send "csum=1 payload=86dd000060000000000d1140$addresses6${udp}dead$data"
wait_for 5 raw_is ibfab1 packets 2
assert_eq "UDP over IPv6" "$(raw_received ibfab1 last.payload)" \
	"86dd000060000000000d1140$addresses6$udp$right$data"
assert_eq "found right by the receiver" "$(raw_received ibfab1 csum_ok)" 2

step "Without it they stay as they are; the receiver tells right from wrong"
good=08000000$(ip4_right 11 13)$udp$(csum "${addresses4}0011000d${udp}0000$data")$data
send "payload=$good"
wait_for 5 raw_is ibfab1 packets 3
assert_eq "found right" "$(raw_received ibfab1 csum_ok)" 3
bad=$(fabric_counter ibfab1 port1.offload.rx_csum_bad)
send "payload=08000000$(ip4_right 11 13)${udp}dead$data"
send "payload=08000000$(ip4 11 13)${good#08000000"$(ip4_right 11 13)"}"
send "payload=86dd000060000000000d1140$addresses6${udp}dead$data"
wait_for 5 raw_is ibfab1 packets 6
assert_eq "the last one's contents" "$(raw_received ibfab1 last.payload)" \
	"86dd000060000000000d1140$addresses6${udp}dead$data"
assert_eq "found right" "$(raw_received ibfab1 csum_ok)" 3
assert_eq rx_csum_bad "$(fabric_counter ibfab1 port1.offload.rx_csum_bad)" $((bad + 3))

step "Nothing to verify: no checksum, a fragment, other protocols, no IP"
none=$(fabric_counter ibfab1 port1.offload.rx_csum_none)
send "payload=08000000$(ip4_right 11 13)${udp}0000$data"
send "payload=08000000$(ip4_right 11 13 2000)${udp}dead$data"
send "payload=08000000$(ip4_right 01 13)${udp}dead$data"
send "payload=08060000$(ip4_right 11 13)${udp}dead$data"
send "payload=0800"
wait_for 5 raw_is ibfab1 packets 11
assert_eq "found right" "$(raw_received ibfab1 csum_ok)" 3
assert_eq rx_csum_none "$(fabric_counter ibfab1 port1.offload.rx_csum_none)" $((none + 5))
none=$(fabric_counter ibfab0 port1.offload.tx_csum_none)
send "csum=1 payload=08000000$(ip4 01 13)${udp}dead$data"
wait_for 5 raw_is ibfab1 packets 12
assert_eq "only the IPv4 header's is put in" "$(raw_received ibfab1 last.payload)" \
	"08000000$(ip4_right 01 13)${udp}dead$data"
assert_eq tx_csum_none "$(fabric_counter ibfab0 port1.offload.tx_csum_none)" $((none + 1))

step "A large send over IPv6: first, middle and last segment"
# The sequence number 0xfffffff8 wraps around; the flags are CWR, ACK, PSH and FIN.
header=86dd0000600000000000 header=${header}0640$addresses6
tcp=${ports}fffffff8000000015099040000000000
data=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324
for segment in 1 2; do
	listen "posted=$segment"
	dropped=$(fabric_counter ibfab1 port1.drop.rx_no_wr)
	send "csum=1 hlen=64 mss=16 payload=$header$tcp$data"
	wait_for 5 raw_is ibfab1 packets $segment
	assert_eq "segments without a receive" \
		"$(fabric_counter ibfab1 port1.drop.rx_no_wr)" $((dropped + 3 - segment))
	case $segment in
	1) segment_is first fffffff80000000150900400 \
		000102030405060708090a0b0c0d0e0f ;;
	2) segment_is middle 000000080000000150100400 \
		101112131415161718191a1b1c1d1e1f ;;
	esac
done
listen
segments=$(fabric_counter ibfab0 port1.offload.tx_lso_segments)
send "csum=1 hlen=64 mss=16 payload=$header$tcp$data"
wait_for 5 raw_is ibfab1 packets 3
segment_is last 000000180000000150190400 2021222324
assert_eq "found right" "$(raw_received ibfab1 csum_ok)" 3
assert_eq "segments counted" \
	"$(fabric_counter ibfab0 port1.offload.tx_lso_segments)" $((segments + 3))
send "csum=1 hlen=64 mss=37 payload=$header$tcp$data"
wait_for 5 raw_is ibfab1 packets 4
segment_is "the only one" fffffff80000000150990400 "$data"

step "Refused: no header, not TCP's, beyond the MTU, on an HCA without"
refute send "csum=1 hlen=0 mss=16 payload=$header$tcp$data"
refute send "csum=1 hlen=60 mss=16 payload=$header$tcp$data"
refute send "csum=1 hlen=52 mss=16 payload=86dd000060000000000d1140$addresses6${udp}0000$data"
refute send "hlen=64 mss=4033 length=8000"
must_fail sh -c "echo 'dlid=$lid qpn=$qpn qkey=1 csum=1' >$raw/ibfab2/send"
must_fail sh -c "echo 'dlid=$lid qpn=$qpn qkey=1 mss=16 hlen=64 payload=$header$tcp$data' \
	>$raw/ibfab2/send"

step "The kernel's own driver: the features are on where the HCA has them"
intree_load
hosts_make 3
dev=$(dev_of h0)
for feature in tx-checksum-ipv4 rx-checksumming tcp-segmentation-offload; do
	assert_match "h0 $feature" "$(on h0 ethtool -k "$dev")" "$feature: on"
	assert_match "h2 $feature" "$(on h2 ethtool -k "$(dev_of h2)")" \
		"$feature: off"
done
on h0 ethtool -k "$dev" | grep -E '^(rx-check|tx-check|tcp-seg|	tx-checksum-ipv4)'

step "A file by TCP, from large sends, with the receiver's GRO off"
on h1 ethtool -K "$(dev_of h1)" gro off
dd if=/dev/urandom of=/run/sent bs=1M count=8 status=none
large=$(fabric_counter ibfab0 port1.offload.tx_lso)
segments=$(fabric_counter ibfab0 port1.offload.tx_lso_segments)
bad=$(fabric_counter ibfab1 port1.offload.rx_csum_bad)
right=$(fabric_counter ibfab1 port1.offload.rx_csum_ok)
traffic_start capture on h1 tcpdump -Z root -i "$(dev_of h1)" -U -c 3000 \
	-w /run/capture tcp dst port 5010
wait_for 10 grep -q 'listening on' /run/traffic.capture.log
on h1 socat -u TCP4-LISTEN:5010 OPEN:/run/got,creat &
receiver=$!
wait_for 10 listening h1 5010
on h0 socat -u OPEN:/run/sent TCP4:10.0.0.2:5010
wait $receiver
assert cmp /run/sent /run/got
large=$(($(fabric_counter ibfab0 port1.offload.tx_lso) - large))
segments=$(($(fabric_counter ibfab0 port1.offload.tx_lso_segments) - segments))
right=$(($(fabric_counter ibfab1 port1.offload.rx_csum_ok) - right))
note "$large large sends became $segments segments; $right checksums right at the receiver"
assert test "$large" -gt 0
assert test "$segments" -gt $((2 * large))
assert test "$right" -ge "$segments"
assert_eq rx_csum_bad "$(fabric_counter ibfab1 port1.offload.rx_csum_bad)" "$bad"

# tcpdump verifies the checksums itself.
step "What arrived, as tcpdump reads it"
wait_for 10 group_ended "$(cat /run/traffic.capture.pid)"
tcpdump -Z root -r /run/capture -nn -vv -S >/run/capture.text
packets=$(grep -c 'cksum 0x.*(correct)' /run/capture.text)
note "$packets packets with the right TCP checksum"
assert_eq "packets captured" "$packets" 3000
refute grep -E 'incorrect|bad cksum' /run/capture.text
# A retransmitted segment begins before the end of what arrived; none may begin after it.
awk -F '[ ,)]+' '
	/^[0-9].* IP / { for (i = 1; i < NF; i++) {
		if ($i == "id") id = $(i + 1)
		if ($i == "length") ip = $(i + 1) } }
	/Flags/ { for (i = 1; i < NF; i++) if ($i == "seq") seq = $(i + 1)
		if (split(seq, ends, ":") != 2) next
		if (ip > 2044) { print "too long:", ip; bad = 1 }
		gap = (ends[1] - max + 4294967296) % 4294967296
		if (data && gap && gap < 2147483648) {
			print "sequence:", ends[1], "after", max; bad = 1 }
		if (data && id != (last_id + 1) % 65536) {
			print "id:", id, "after", last_id; bad = 1 }
		if (!data || gap == 0) max = ends[2] % 4294967296
		last_id = id
		data++ }
	/Flags \[[^]]*P/ { pushed++ }
	END { print data, "segments without a gap,", pushed, "pushed"
		exit bad || data < 2900 || !pushed || pushed > data / 2 }' \
	/run/capture.text
