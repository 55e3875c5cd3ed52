# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../cases/lib.sh
# The guest's part of bench.sh: one driver's figures. DRIVER is ours, intree or veth,
# PART which figures. Prints a line "figure NAME VALUE" each.

. /cases/lib.sh

driver=${DRIVER:?} part=${PART:?}

driver_load()
{
	case $driver in
	ours) ipoib_load "$@" ;;
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
		ip -n $_host link set "$(dev_of $_host)" mtu $(((128 << $1) - 4))
	done
	wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2
	# It must not sweep while something is measured
	sleep 5
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
}

link_stop()
{
	if [ "$driver" = veth ]; then
		ip -n h0 link delete veth0
	else
		wait_for 20 rmmod ib_ipoib
		fabric_stop
	fi
	for _host in h0 h1; do
		ip netns delete $_host
	done
}

# figure NAME MODE COUNT [SIZE [STREAMS]]: instructions for each of COUNT.
figure()
{
	_what=$1
	shift
	/bench/ibbench h0 h1 10.0.0.2 "$@" >/run/ibbench.out ||
		fail "$_what: $(cat /run/ibbench.out)"
	awk -v what="$_what" '{ printf "figure %s %.4f\n", what, $6 / $2 }' /run/ibbench.out
}

# MTU and OFFLOAD are part of the names.
streams()
{
	figure "tcp.$1" tcp $((24 << 20))
	figure "tcp8.$1" tcp $((24 << 20)) 65536 8
}

datagrams()
{
	figure "udp64.$1" udp 8000 64
	figure "udp1400.$1" udp 8000 1400
	figure "rr.$1" rr 4000 1
}

# profile WHAT MODE COUNT [SIZE [STREAMS]]: in which functions they are spent. Samples
# fall where interrupts are on: what runs with them off is counted where they are
# switched on again.
profile()
{
	_what=$1
	shift
	step "Profile of $_what"
	LD_LIBRARY_PATH=/perf perf record -q -e cpu-clock -F 20000 -a \
		-o /run/perf.data -- /bench/ibbench h0 h1 10.0.0.2 "$@"
	echo "profile $driver, $_what:"
	LD_LIBRARY_PATH=/perf perf report -i /run/perf.data --stdio --no-children \
		--sort symbol 2>/run/perf.log |
		awk '/^ +[0-9.]+%/ { printf "profile   %7s  %s\n", $1, $3 }' |
		head -n "${LINES:-40}"
}

case $part in
profile)
	link_start 4 none
	# shellcheck disable=SC2046  # words
	profile "$WHAT" $(echo "$WHAT" | tr , ' ')
	link_stop
	;;
traffic)
	link_start 4 none
	streams 2044
	datagrams 2044
	link_stop
	link_start 5 none
	streams 4092
	link_stop
	;;
offload)
	link_start 4 csum
	streams 2044.csum
	figure gso.2044.csum gso 300 63000 2000
	link_stop
	link_start 4 csum+lso
	streams 2044.lso
	link_stop
	;;
*)
	fail "no such part: $part"
	;;
esac
