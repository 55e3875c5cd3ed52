# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Checksums and large sends are left to HCAs that have them, what arrives is right to the last octet, and ethtool switches them.
# timeout: 180

. /cases/lib.sh

size=$((24 << 20))

# offloaded HCA NAME
offloaded()
{
	fabric_counter "$1" "port1.offload.$2"
}

feature()
{
	on "$1" ethtool -k "$(dev_of "$1")" | awk -v name="$2:" '$1 == name { print $2 }'
}

# transfer FROM TO ADDRESS: a file, and its sum.
transfer()
{
	traffic_start "sink.$2" on "$2" socat -u "TCP6-LISTEN:6000,reuseaddr,ipv6only=0" OPEN:/run/got,creat,trunc
	wait_for 10 listening "$2" 6000
	on "$1" socat -u OPEN:/run/sent "TCP:$3:6000" || fail "the transfer broke"
	wait_for 20 same_size
	assert_eq "what arrived" "$(sha256sum </run/got)" "$(sha256sum </run/sent)"
}

same_size()
{
	[ "$(stat -c %s /run/got)" -eq "$size" ]
}

fabric_start hcas=3 offload=csum+lso,csum+lso,none
opensm_start
ipoib_load
hosts_make 3
head -c "$size" /dev/urandom >/run/sent

step "What the interfaces say they have"
for name in tx-checksum-ipv4 rx-checksumming tx-tcp-segmentation scatter-gather; do
	assert_eq "h0's $name" "$(feature h0 $name)" on
done
assert_match "h2's tx-checksum-ipv4" "$(feature h2 tx-checksum-ipv4)" off
assert_match "h2's tx-tcp-segmentation" "$(feature h2 tx-tcp-segmentation)" off

step "Between two that have them"
lso=$(offloaded ibfab0 tx_lso) segments=$(offloaded ibfab0 tx_lso_segments)
good=$(offloaded ibfab1 rx_csum_ok)
transfer h0 h1 10.0.0.2
lso=$(($(offloaded ibfab0 tx_lso) - lso))
segments=$(($(offloaded ibfab0 tx_lso_segments) - segments))
note "$lso large sends became $segments segments"
assert [ "$segments" -gt $((size * 9 / 20440)) ]
assert [ "$lso" -lt $((segments / 4)) ]
assert [ $(($(offloaded ibfab1 rx_csum_ok) - good)) -ge "$segments" ]
assert_eq "bad checksums" "$(offloaded ibfab1 rx_csum_bad)" 0

step "To one and from one that has none"
transfer h0 h2 10.0.0.3
transfer h2 h0 10.0.0.1
assert_eq "bad checksums" "$(offloaded ibfab0 rx_csum_bad)" 0

step "IPv6 and UDP"
transfer h0 h1 '[fd00::2]'
iperf_server h1
on h0 iperf3 -u -b 50M -c 10.0.0.2 -t 2 -l 1400 >/run/udp || fail "$(cat /run/udp)"
tail -n 3 /run/udp
traffic_stop iperf.h1
refute [ "$(offloaded ibfab0 tx_csum)" -eq 0 ]
assert_eq "bad checksums" "$(offloaded ibfab1 rx_csum_bad)" 0

step "Switched off"
on h0 ethtool -K "$(dev_of h0)" tso off
lso=$(offloaded ibfab0 tx_lso)
transfer h0 h1 10.0.0.2
assert_eq "large sends" "$(offloaded ibfab0 tx_lso)" "$lso"
on h0 ethtool -K "$(dev_of h0)" tx off rx off
made=$(offloaded ibfab0 tx_csum)
transfer h0 h1 10.0.0.2
transfer h1 h0 10.0.0.1
assert_eq "checksums made" "$(offloaded ibfab0 tx_csum)" "$made"
on h0 ethtool -K "$(dev_of h0)" tx on rx on tso on
transfer h0 h1 10.0.0.2
refute [ "$(offloaded ibfab0 tx_lso)" -eq "$lso" ]
