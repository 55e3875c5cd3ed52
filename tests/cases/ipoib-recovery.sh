# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Limits for recovery times, in milliseconds of guest time: of ports, SMs, LIDs, P_Keys, QPs
# and peers. The long form also shows the in-tree driver's times.
# timeout: 240
# soak: 900
# icount: yes

. /cases/lib.sh

# The limits for the driver, from when the cause is removed until the first ping is answered;
# for SMs, from when the new one reports that the subnet is up until the ports have joined the
# broadcast group again. If the SM has to sweep first, that time is not included. Joins are
# spread over 125 ms, and if the new SM does not answer the first one, the next one follows
# within 312 ms; and a ping that is not answered takes 115 ms. The times do not depend on the host's
# load, as an instruction takes a nanosecond here.
limits()
{
	cat <<-'E2'
	port-bounce	600
	sm-restart	500
	sm-handover	500
	lid-change	200
	pkey-return	600
	qp-error	100
	cq-overrun	300
	announce-lost	300
	post-failed	300
	peer-reboot	200
	E2
}

pings()
{
	on h0 ping -q -c 1 -W 0.1 10.0.0.2
}

# measure NAME CMD...: notes how many milliseconds it takes until CMD succeeds, or "never".
measure()
{
	_what=$1
	shift
	now_ms
	_begin=$now_ms
	until "$@" >/run/measure.log 2>&1; do
		now_ms
		if [ $((now_ms - _begin)) -gt 60000 ]; then
			echo "$_what never" >>"/run/took.$driver"
			return
		fi
		sleep 0.01
	done
	now_ms
	echo "$_what $((now_ms - _begin))" >>"/run/took.$driver"
}

silent()
{
	not pings
}

subnet_up()
{
	grep -q 'SUBNET UP' "$1"
}

# members COUNT: COUNT ports are in the broadcast group.
members()
{
	_list=$(saquery -C ibfab0 --smkey 1 -m "$mlid") || return
	[ "$(echo "$_list" | grep -c 'PortGid')" -eq "$1" ]
}

# until_active HCA: waits until the SM has found the port, which does not depend on the driver.
until_active()
{
	until grep -q ACTIVE "$ib/$1/ports/1/state"; do
		sleep 0.01
	done
}

port_bounce()
{
	echo "switch0 2 down" >"$ibfab/cable"
	wait_for 10 silent
	echo "switch0 2 up" >"$ibfab/cable"
	until_active ibfab1
	measure port-bounce pings
}

sm_restart()
{
	opensm_kill
	rm /var/log/opensm.log
	opensm_start -P /run/partitions.conf
	wait_for 20 subnet_up /var/log/opensm.log
	measure sm-restart members 2
}

# A second SM of the same priority takes over; in the end the first one runs again
sm_handover()
{
	sm_start ibfab2 0 -P /run/partitions.conf -F /run/opensm.conf
	_second=$sm_pid
	wait_for 20 grep -q 'STANDBY' /run/sm.ibfab2/log
	opensm_kill
	wait_for 120 served_by ibfab2
	wait_for 20 subnet_up /run/sm.ibfab2/log
	measure sm-handover members 2
	opensm_kill "$_second"
	rm -r /run/sm.ibfab2
	opensm_start -P /run/partitions.conf
	wait_for 20 members 2
}

lid_change()
{
	echo "1 lid 0x4d" >"$ibfab/ibfab1/change"
	wait_for 10 silent
	kill -HUP "$opensm_pid"
	measure lid-change pings
}

has_pkey()
{
	cat "$ib"/ibfab1/ports/1/pkeys/* | grep -qx 0x8001
}

lacks_pkey()
{
	_keys=$(cat "$ib"/ibfab1/ports/1/pkeys/*) || return
	case $_keys in
	*0x8001*) return 1 ;;
	esac
}

child_pings()
{
	on h0 ping -q -c 1 -W 0.1 10.1.0.2
}

child_silent()
{
	not child_pings
}

# children_make: makes children of both hosts in a partition of their own.
children_make()
{
	for _k in 1 2; do
		_host=h$((_k - 1))
		ip -n "$_host" link add link "$(dev_of "$_host")" name child type ipoib pkey 0x8001
		ip -n "$_host" address add "10.1.0.$_k/24" dev child
		ip -n "$_host" link set child up
	done
	wait_for 20 child_pings
}

# The SM removes the P_Key of one of the two ports, and restores it
pkey_return()
{
	partitions_write 0
	echo "p1=0x1, ipoib : $(ibstat -p ibfab0 | head -n 1)=full;" >>/run/partitions.conf
	kill -HUP "$opensm_pid"
	wait_for 20 lacks_pkey
	wait_for 10 child_silent
	partitions_write 1
	kill -HUP "$opensm_pid"
	until has_pkey; do
		sleep 0.01
	done
	measure pkey-return child_pings
}

qp_error()
{
	echo "error $(qpn_of h1 "$dev1")" >"$ibfab/ibfab1/completions"
	measure qp-error pings
	# The in-tree driver does not recover by itself
	ip -n h1 link set "$dev1" down
	ip -n h1 link set "$dev1" up
	wait_for 20 pings
}

# cq_overrun, announce_lost, post_failed: the in-tree driver recovers from neither fault, and the
# next measurements would fail
cq_overrun()
{
	[ "$driver" = ours ] || return 0
	echo "overrun $(qpn_of h1 "$dev1") recv" >"$ibfab/ibfab1/completions"
	measure cq-overrun pings
}

# The first announcement of a new address is lost, which is possible while the SM has answered the
# join but not changed the switches. It is lost where it is sent, so that no other can be lost by
# the SM. At octet 52 an ARP packet with addresses of 20 octets has the IP address that it asks for.
announce_lost()
{
	[ "$driver" = ours ] || return 0
	on h1 nft -f - <<-E2
		table netdev lost {
			chain out {
				type filter hook egress device "$dev1" priority 0
				meta protocol arp @nh,416,32 0x0a000002 limit rate 1/day burst 1 packets counter drop
			}
		}
	E2
	echo "overrun $(qpn_of h1 "$dev1") recv" >"$ibfab/ibfab1/completions"
	measure announce-lost pings
	assert_match "announcements that were lost" "$(on h1 nft list table netdev lost)" \
		'counter packets 1 '
	on h1 nft delete table netdev lost
}

post_failed()
{
	[ "$driver" = ours ] || return 0
	verb_fails ibfab1 post_send 1 -12
	measure post-failed pings
	assert_eq "sends that failed" "$(verb_failed ibfab1 post_send)" 1
}

peer_reboot()
{
	unplug ibfab1
	plug ibfab1
	wait_for 20 grep -q ACTIVE "$ib/ibfab1/ports/1/state"
	host_give h1 ibfab1 2
	measure peer-reboot pings
}

# all_of DRIVER LOAD: makes all measurements with that driver.
all_of()
{
	driver=$1
	step "With $driver"
	"$2"
	hosts_make 2
	wait_for 20 pings
	# Before there are children, whose ifindex may be lower
	dev1=$(dev_of h1)
	children_make
	mlid=$(saquery -C ibfab0 -g | awk -F '[. \t]+' '$2 == "Mlid" { print $3; exit }')
	for _event in port_bounce sm_restart sm_handover lid_change pkey_return qp_error \
			cq_overrun announce_lost post_failed peer_reboot; do
		"$_event"
		tail -n 1 "/run/took.$driver"
		wait_for 20 pings
		# The SM may still sweep, and the ports join again
		sleep 1
	done
	ip netns delete h0
	ip netns delete h1
	rmmod ib_ipoib
}

ipv6_off
fabric_start hcas=3
sm_conf_brisk
partitions_write 1
opensm_start -P /run/partitions.conf
all_of ours ipoib_load
[ -z "${SOAK:-}" ] || all_of intree intree_load

step "In milliseconds: this driver, the limit, the in-tree driver"
late=""
: >>/run/took.intree
while read -r name limit; do
	took=$(awk -v name="$name" '$1 == name { print $2 }' /run/took.ours)
	printf '%-14s %6s %6s %6s\n' "$name" "$took" "$limit" \
		"$(awk -v name="$name" '$1 == name { print $2 }' /run/took.intree)"
	[ "$took" != never ] && [ "$took" -le "$limit" ] || late="$late $name:$took"
done <<-E2
$(limits)
E2
assert_eq "what took too long" "$late" ""
