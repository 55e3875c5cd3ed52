# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Every payload from nothing to the MTU, and one beyond (fragmented), arrives unharmed, over IPv4; over IPv6 every one near the ends, and every sixth between, in the long form all.
# timeout: 900
# soak: 900

. /cases/lib.sh

# sweep HOST ADDRESS FIRST LAST EVERY: prints the sizes whose echo did not come back
# as it was sent; ping itself compares the contents. All within 100 of the ends, and
# EVERY-th between. How many there were is in /run/pinged.HOST then.
sweep()
{
	# shellcheck disable=SC2016  # for the inner shell to expand
	on "$1" sh -c 'count=0
	for size in $(seq "$2" "$3"); do
		[ $((size % $4)) -eq 0 ] || [ $((size - $2)) -lt 100 ] ||
			[ $(($3 - size)) -lt 100 ] || continue
		count=$((count + 1))
		out=$(ping -q -n -c 1 -W 2 -p 5aa5c33c -s "$size" "$1" 2>&1) ||
			echo "$size"
		case $out in
		*"wrong data"*) echo "$size" ;;
		esac
	done
	echo "$count" >"$5"' sh "$2" "$3" "$4" "$5" "/run/pinged.$1"
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h0)
mtu=$(on h0 cat "/sys/class/net/$dev/mtu")
before=$(netdev_counter h1 "$(dev_of h1)" rx_packets)

step "IPv6 in the background: 0 to $((mtu - 48)) octets whole, $((mtu - 47)) in two fragments"
sweep h1 fd00::1 0 $((mtu - 47)) "$(full_or 6 1)" >/run/sweep6.lost 2>&1 &
sweep6=$!

step "IPv4: 0 to $((mtu - 28)) octets whole, $((mtu - 27)) in two fragments"
sweep h0 10.0.0.2 0 $((mtu - 27)) 1 >/run/sweep4.lost 2>&1
wait $sweep6
for family in 4 6; do
	assert_eq "the sizes lost or harmed, IPv$family" "$(cat /run/sweep$family.lost)" ""
done

step "The largest whole ones are not fragmented, the next size is"
on h0 ping -q -c 1 -W 2 -M "do" -s $((mtu - 28)) 10.0.0.2
refute on h0 ping -q -c 1 -W 1 -M "do" -s $((mtu - 27)) 10.0.0.2

step "The receiver has counted them all, and dropped none"
after=$(netdev_counter h1 "$(dev_of h1)" rx_packets)
pinged=$(($(cat /run/pinged.h0) + $(cat /run/pinged.h1)))
note "$pinged pings"
assert test "$pinged" -ge $((mtu + mtu / 6 + 100))
assert test $((after - before)) -ge "$pinged"
for host in h0 h1; do
	netdev_has_none $host rx_errors rx_dropped tx_errors tx_dropped
done
