# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# What newer kernels tell by the netlink family "netdev": NAPI contexts, the queues that they serve, statistics of queues, page pools; and NAPI in threads.
# kernel: 6.12 newest
# without: stock
# smp: 4

. /cases/lib.sh

# said KIND [FIELD=VALUE...]: prints the lines of h0's netdevice that have these.
said()
{
	on h0 netdevq "$dev" >/run/netdevq || fail "netdevq"
	_lines=$(grep "^$1 " /run/netdevq)
	shift
	for _field; do
		_lines=$(echo "$_lines" | grep -w -- "$_field")
	done
	[ -z "$_lines" ] || echo "$_lines"
}

# of FIELD: prints the field of each line.
of()
{
	sed -n "s/.* $1=\([0-9]*\).*/\1/p"
}

sum()
{
	awk '{ sum += $1 } END { print sum + 0 }'
}

# counts_agree: the queues' counters add up to those of the netdevice.
counts_agree()
{
	[ "$(said stats type=0 | of rx_packets | sum)" -eq "$(netdev_counter h0 "$dev" rx_packets)" ] &&
		[ "$(said stats type=1 | of tx_packets | sum)" -eq \
			"$(netdev_counter h0 "$dev" tx_packets)" ]
}

# each_queue_has_napi: a context for each TX queue, and the first one also for the RX queue.
each_queue_has_napi()
{
	said queue type=1 | of napi | sort -n >/run/tx.napi
	said napi | of id | sort -n >/run/napi
	cat /run/netdevq
	assert test -s /run/napi
	assert_eq "NAPI contexts" "$(cat /run/napi)" "$(sort -nu /run/tx.napi)"
	assert_eq "that of the RX queue" "$(said queue type=0 id=0 | of napi)" \
		"$(said queue type=1 id=0 | of napi)"
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h0)
wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2

step "One queue each way, served by one NAPI context, with a page pool"
each_queue_has_napi
assert_eq "TX queues" "$(said queue type=1 | wc -l)" 1
assert_eq "page pools" "$(said pool | wc -l)" 1
pings_all h0 50 -i 0.02 10.0.0.2
wait_for 20 counts_agree
first=$(cat /run/napi)

step "Four TX queues"
on h0 ethtool -L "$dev" tx 4
wait_for 20 has_carrier h0 "$dev"
each_queue_has_napi
assert_eq "TX queues" "$(said queue type=1 | wc -l)" 4
assert_eq "NAPI contexts" "$(wc -l </run/napi)" 4
assert_eq "page pools" "$(said pool | wc -l)" 1
for size in 100 200 300 400; do
	pings_all h0 20 -i 0.02 -s "$size" 10.0.0.2
done
wait_for 20 counts_agree

step "One again"
on h0 ethtool -L "$dev" tx 1
wait_for 20 has_carrier h0 "$dev"
each_queue_has_napi
assert_eq "TX queues" "$(said queue type=1 | wc -l)" 1
note "the first context's id was $first, and is $(cat /run/napi)"

step "NAPI in threads, which resizing keeps"
echo 1 | on h0 tee "/sys/class/net/$dev/threaded"
pings_all h0 20 -i 0.02 10.0.0.2
pgrep -f "napi/$dev-" >/run/threads || fail "no thread"
on h0 ethtool -L "$dev" tx 2
wait_for 20 has_carrier h0 "$dev"
assert_eq "threads" "$(pgrep -f "napi/$dev-" | wc -l)" 2
pings_all h0 20 -i 0.02 10.0.0.2
echo 0 | on h0 tee "/sys/class/net/$dev/threaded"
pings_all h0 20 -i 0.02 10.0.0.2

step "The interface down and up, and the module away"
on h0 ip link set "$dev" down
on h0 ip link set "$dev" up
wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2
each_queue_has_napi
rmmod ib_ipoib
refute test -e /sys/module/ib_ipoib
