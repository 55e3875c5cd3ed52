# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../cases/lib-perf.sh
# The guest's part of bench.sh: one driver's figures. DRIVER is ours, intree or veth,
# PART which figures. Prints a line "figure NAME VALUE" each.

. /cases/lib-perf.sh

driver=${DRIVER:?} part=${PART:?}

driver_load()
{
	case $driver in
	ours) ipoib_load ;;
	intree) intree_load ;;
	esac
}

# link_start IB_MTU OFFLOAD: two hosts. IB_MTU is 4 (2048 octets) or 5 (4096).
link_start()
{
	if [ "$driver" = veth ]; then
		link_of_veth $((128 << $1))
		return
	fi
	echo "Default=0x7fff, ipoib, mtu=$1 : ALL=full;" >/run/partitions.conf
	fabric_start hcas=2 offload="$2"
	opensm_start -P /run/partitions.conf
	driver_load
	hosts_make 2
	for _host in h0 h1; do
		ip -n "$_host" link set "$(dev_of "$_host")" mtu $(((128 << $1) - 4))
	done
	wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2
	# It must not sweep while something is measured, and numbers at random are dear
	# as long as the kernel lacks entropy
	sleep 5
	head -c 1 /dev/random >/dev/null
	opensm_stop
}

link_of_veth()
{
	for _k in 0 1; do
		ip netns add "h$_k"
		ip -n "h$_k" link set lo up
	done
	ip link add veth0 netns h0 mtu $(($1 - 4)) type veth peer veth1 netns h1 mtu $(($1 - 4))
	for _k in 0 1; do
		ip -n "h$_k" address add "10.0.0.$((_k + 1))/24" dev "veth$_k"
		ip -n "h$_k" link set "veth$_k" up
	done
	wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2
	head -c 1 /dev/random >/dev/null
}

link_stop()
{
	if [ "$driver" = veth ]; then
		ip -n h0 link delete veth0
	else
		wait_for 20 rmmod ib_ipoib
		fabric_stop
	fi
	for _host in $(ip netns list | awk '{ print $1 }'); do
		ip netns delete "$_host"
	done
}

# measure NAME ARGUMENT...: of ibbench; instructions for each of what it counts.
measure()
{
	_what=$1
	shift
	/bench/ibbench "$@" >/run/ibbench.out 2>/run/ibbench.err ||
		fail "$_what: $(tail -n 3 /run/ibbench.err)"
	awk -v what="$_what" '{ printf "figure %s %.4f\n", what, $6 / $2 }' /run/ibbench.out
}

# figure NAME MODE COUNT [SIZE [STREAMS]]: between the hosts.
figure()
{
	_figure=$1
	shift
	measure "$_figure" h0 h1 10.0.0.2 "$@"
}

# MTU and OFFLOAD are part of the names.
streams()
{
	figure "tcp.$1" tcp $((24 << 20))
	figure "tcp8.$1" tcp $((24 << 20)) 65536 8
}

datagrams()
{
	figure udp64 udp 8000 64
	figure udp1400 udp 8000 1400
	figure rr rr 4000 1
	measure ping run 3000 ip netns exec h0 ping -f -q -c 3000 10.0.0.2
}

free_kb()
{
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}

# memory_of NAME COUNT CMD...: what it takes, of each of COUNT.
memory_of()
{
	_what=$1 _count=$2 _before=$(free_kb)
	shift 2
	"$@"
	_after=$(free_kb)
	echo "figure $_what $(((_before - _after) * 1024 / _count))"
}

interfaces_up()
{
	for _k in $(seq 0 15); do
		ip link set "$(netdev_of "ibfab$_k")" up
	done
	for _k in $(seq 0 15); do
		wait_for 60 is_up "$(netdev_of "ibfab$_k")"
	done
}

is_up()
{
	ip -o link show dev "$1" | grep -q LOWER_UP
}

children_up()
{
	for _k in $(seq 24); do
		_pkey=$(printf '0x80%02x' "$_k")
		ip link add link "$1" name "child$_k" type ipoib pkey "$_pkey"
		ip link set "child$_k" up
	done
	for _k in $(seq 24); do
		wait_for 60 is_up "child$_k"
	done
}

# profile WHAT MODE COUNT [SIZE [STREAMS]]: in which functions they are spent.
profile()
{
	step "Profile of $1"
	echo "profile $driver, $1:"
	shift
	perf_profile 40 /bench/ibbench h0 h1 10.0.0.2 "$@"
}

case $part in
traffic)
	link_start 4 none
	streams 2044
	datagrams
	[ "$driver" != ours ] || figure gso gso 300 63000 2000
	link_stop
	link_start 5 none
	streams 4092
	link_stop
	;;
offload)
	link_start 4 csum
	streams 2044.csum
	figure gso.csum gso 300 63000 2000
	link_stop
	link_start 4 csum+lso
	streams 2044.lso
	link_stop
	;;
memory)
	echo 'Default=0x7fff, ipoib : ALL=full;' >/run/partitions.conf
	for k in $(seq 24); do
		echo "p$k=$k, ipoib : ALL=full;"
	done >>/run/partitions.conf
	fabric_start hcas=16
	opensm_start -P /run/partitions.conf
	# What only the first of each kind needs is not counted
	driver_load
	memory_of memory.interface 16 interfaces_up
	memory_of memory.child 24 children_up "$(netdev_of ibfab0)"
	opensm_stop
	;;
profile)
	link_start 4 none
	# shellcheck disable=SC2046  # words
	profile "${WHAT:?}" $(echo "$WHAT" | tr , ' ')
	link_stop
	;;
*)
	fail "no such part: $part"
	;;
esac
