# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Hosts whose ports share a LID, one physical and two virtual: they reach each other and a
# host elsewhere in both families, by groups, and in a partition; also after events of the
# port, the link and the SM.
# timeout: 400

. /cases/lib.sh

hosts="0 1 2 3"

# everybody_pings COUNT NET: each host pings all others in both families; all pings are answered.
everybody_pings()
{
	for from in $hosts; do
		others='' count=0
		for to in $hosts; do
			[ "$from" != "$to" ] || continue
			others="$others 10.0.$2.$((to + 1)) fd00:$2::$((to + 1))"
			count=$((count + 2))
		done
		# shellcheck disable=SC2086  # words
		on h"$from" fping -q -c "$1" -p 100 -t 10000 $others >/run/fping 2>&1 ||
			fail "h$from: $(cat /run/fping)"
		assert_eq "addresses that answer h$from" "$(grep -c "= $1/$1/0%" /run/fping)" $count
	done
}

all_reach_all()
{
	for from in $hosts; do
		on h"$from" fping -q -r 1 -t 300 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 || return
	done
}

# received N: prints the unicast packets received by the virtual port's HCA, or by the
# interface of the physical ports.
received()
{
	case $1 in
	0 | 1) netdev_counter "h$1" "$(dev_of "h$1")" rx_packets ;;
	*) fabric_counter "ibfab$1" port1.unicast_rcv_packets ;;
	esac
}

# path_grh HOST PEER: prints whether the host's packets to the peer have a GRH.
path_grh()
{
	awk -v gid="fe80:0:0:0:21b:fa01:0:$(printf %x $((0x100 * $2 + 1)))" '$1 == "GID:" { found = $2 == gid }
		found && $1 == "GRH:" { print $2 }' "/sys/kernel/debug/ipoib/ib$1_path"
}

grhs_right()
{
	for from in $hosts; do
		for to in $hosts; do
			[ "$from" != "$to" ] || continue
			case $from$to in
			01 | 10) wanted=no ;;
			*) wanted=yes ;;
			esac
			got=$(path_grh "$from" "$to")
			[ "$got" = $wanted ] || {
				echo "from $from to $to: $got"
				cat "/sys/kernel/debug/ipoib/ib${from}_path"
				return 1
			}
		done
	done
}

# groups_work: each host sends five datagrams to a group, and each of the others receives five.
groups_work()
{
	for speaker in $hosts; do
		for n in $hosts; do
			: >"/run/heard.$n"
		done
		for _ in 1 2 3 4 5; do
			echo "from$speaker"
			sleep 0.05
		done | on h"$speaker" socat -u STDIN "UDP4-DATAGRAM:239.1.2.3:5000,ip-multicast-if=10.0.0.$((speaker + 1))"
		sleep 0.2
		for n in $hosts; do
			[ "$n" = "$speaker" ] ||
				assert_eq "what h$n hears of h$speaker" "$(grep -c "from$speaker" /run/heard."$n")" 5
		done
	done
}

sockets_hold 4
fabric_start hcas=4 vport=2:1,3:1
module_insert /modules/ibraw.ko
partitions_write 1
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 4
for n in 2 3; do
	assert_eq "LID of ibfab$n" "$(lid_of ibfab$n)" "$(lid_of ibfab1)"
done

step "All reach all from the first packet on, and none is lost"
everybody_pings 5 0
wait_for 10 grhs_right

# The stack asks for neighbours again, five seconds after it has used them for the first time
sleep 7
step "Each receives its own packets, and no others"
for to in $hosts; do
	for n in $hosts; do
		eval "was_$n=$(received "$n")"
	done
	from=$(((to + 1) % 4))
	pings_all h$from 50 -i 0.01 10.0.0.$((to + 1))
	for n in $hosts; do
		eval "was=\$was_$n"
		had=$(($(received "$n") - was))
		if [ "$n" = "$to" ] || [ "$n" = $from ]; then
			assert_between "to $to, at $n" "$had" 50 60
		else
			assert_between "to $to, at $n" "$had" 0 6
		fi
	done
done
for n in 2 3; do
	assert_eq "drops of ibfab$n" "$(awk '/port1.drop/ { n += $2 } END { print n }' "$ibfab/ibfab$n/counters")" 0
done

step "The neighbour entries have the right addresses"
for from in $hosts; do
	for to in $hosts; do
		[ "$from" != "$to" ] || continue
		assert_eq "h$to, to h$from" "$(ip -n h"$from" neigh show 10.0.0.$((to + 1)) | awk '{ print $5 }')" \
			"$(on h"$to" cat "/sys/class/net/$(dev_of h"$to")/address")"
	done
done
for n in $hosts; do
	assert_eq "forged" "$(stat_of h"$n" rx_forged)" 0
done

step "A packet without a GRH does not reach a virtual port's interface, even with the right QPN"
was=$(fabric_counter ibfab2 port1.rcv_packets)
qpn=$(on h2 cat "/sys/class/net/$(dev_of h2)/address" | cut -d: -f2-4 | tr -d :)
# send [WORDS]: sends fifty packets to h2's interface
send()
{
	echo "dlid=$(lid_of ibfab2) qpn=0x$qpn qkey=0xb1b count=50 payload=88b50000$(printf '%092d' 0) $*" \
		>"$raw/ibfab0/send" || fail "cannot send"
}
send
sleep 0.2
assert_between "packets at ibfab2" $(($(fabric_counter ibfab2 port1.rcv_packets) - was)) 0 5
was=$(fabric_counter ibfab2 port1.rcv_packets)
send "dgid=$(cat "$ib/ibfab2/ports/1/gids/0")"
wait_for 5 counter_reaches ibfab2 port1.rcv_packets $((was + 50))

step "Each member receives a group's packet once"
for n in $hosts; do
	traffic_start "listen.$n" on h"$n" socat -u \
		"UDP4-RECV:5000,ip-add-membership=239.1.2.3:10.0.0.$((n + 1))" "OPEN:/run/heard.$n,creat,append"
	wait_for 10 listening h"$n" 5000 u
done
# A listener's group is joined a little later
sleep 2
groups_work

step "A partition"
for n in $hosts; do
	ip -n h"$n" link add link "$(dev_of h"$n")" name part type ipoib pkey 0x8001
	ip -n h"$n" address add 10.0.1.$((n + 1))/24 dev part
	ip -n h"$n" address add fd00:1::$((n + 1))/64 dev part nodad
	ip -n h"$n" link set part up
done
for n in $hosts; do
	wait_for 20 has_carrier h"$n" part
done
everybody_pings 3 1

step "The cable is pulled, and plugged in again"
echo "switch0 2 down" >"$ibfab/cable"
for n in 2 3; do
	refute has_carrier h$n "$(dev_of h$n)"
done
echo "switch0 2 up" >"$ibfab/cable"
wait_for 30 all_reach_all
everybody_pings 3 0

step "The LID changes, and changes back"
echo "1 lid 0x77" >"$ibfab/ibfab1/change"
sleep 0.5
kill -HUP "$opensm_pid"
wait_for 30 all_reach_all
everybody_pings 3 0

step "A new SM"
opensm_kill
opensm_start -P /run/partitions.conf
wait_for 30 all_reach_all
everybody_pings 3 0
everybody_pings 3 1
wait_for 10 grhs_right
sleep 2
groups_work

step "A virtual port's HCA is unplugged and plugged in, without effect on the others"
unplug ibfab2
hosts="0 1 3"
everybody_pings 3 0
plug ibfab2
host_give h2 ibfab2 3
wait_for 30 has_carrier h2 "$(dev_of h2)"
hosts="0 1 2 3"
wait_for 30 all_reach_all
everybody_pings 3 0
for n in $hosts; do
	traffic_stop "listen.$n"
done
