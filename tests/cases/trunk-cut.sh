# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# Whatever breaks the trunk's link, both ends go down and report it, no packet is lost
# uncounted, and both become ACTIVE again: an unplugged cable, a disabled port, a reloaded
# module, a device that is down, deaf, or gone.
# guests: 2
# timeout: 600

. /cases/lib-trunk.sh

# Guest a has the SM, which learns of changes at b's end by the trap of a's switch. If a sweep
# finds that nobody answers at b's end, the SM disables the port itself, and there is no trap.
traps_raised()
{
	fabric_counter "$trunk_switch" port0.trap128.raised
}

# traps_heeded: the SM has answered each trap of this end's switch that it could receive.
traps_heeded()
{
	_pending=$(traps_raised)
	for _how in no_sm replaced repressed; do
		_pending=$((_pending - $(fabric_counter "$trunk_switch" "port0.trap128.$_how")))
	done
	[ "$_pending" -eq 0 ]
}

# link_is_down: this end has lost the link, and the SM knows that.
link_is_down()
{
	wait_for 20 trunk_state_is DOWN
	if pair_here a; then
		wait_for 20 traps_heeded
		wait_for 20 not sa_knows 'ibfab0 part 2'
	fi
	pair_barrier down
}

# link_is_back: the link is up, the SM has found it, and datagrams cross it in both directions.
link_is_back()
{
	wait_for 20 trunk_is up
	wait_for 20 trunk_state_is ACTIVE
	wait_for 20 links_are ACTIVE
	! pair_here a || wait_for 20 sa_knows 'ibfab0 part 2'
	pair_barrier back
	raw_listen ibfab0 "qkey=0x1bfa posted=1024"
	lid_and_qpn
	pair_barrier listening
	send 20
	wait_for 20 raw_is ibfab0 packets 20
	# And until the SM's sweep is over
	wait_for 20 traps_heeded
	pair_barrier heeded
	sleep 1
	note "link_up $(trunk_figure link_up), link_down $(trunk_figure link_down)"
	last_downs=$downs last_peer=$peer
	downs=$(trunk_figure link_down)
	peer=$(trunk_figure peer)
	silent=$(trunk_figure silent)
	raised=$(traps_raised)
	# The other guest must not continue before this
	pair_barrier crossed
}

# lid_and_qpn: sets $lid and $qpn to those of the other guest's receiver.
lid_and_qpn()
{
	exchanged=$((exchanged + 1))
	pair_put "to.$exchanged" "$(lid_of ibfab0) $qpn"
	read -r lid qpn <<-E
		$(pair_get "to.$exchanged")
	E
}
exchanged=0

send()
{
	echo "dlid=$lid qpn=$qpn qkey=0x1bfa length=200 count=$1" >"$raw/ibfab0/send"
}

begin()
{
	trunk_start hcas=1
	module_insert /modules/ibraw.ko
}

# OpenSM may handle a trap that arrives during a sweep only in its next sweep
begin
! pair_here a || opensm_start -s 5
wait_for 20 links_are ACTIVE
pair_barrier active
downs=0 peer=none
link_is_back

step "The cable pulled in guest a, and plugged in"
! pair_here a || echo "$trunk_switch $trunk_num down" >"$ibfab/cable"
link_is_down
if pair_here b; then
	# Packets cannot leave the port, and are counted
	lost=$(trunk_counter drop.tx_inactive)
	send 7
	wait_for 10 counter_reaches "$trunk_switch" \
		"port$trunk_num.drop.tx_inactive" $((lost + 7))
fi
pair_barrier sent
assert_eq "fault" "$(trunk_counter fault.cable_down)" \
	"$(pair_here a && echo 1 || echo 0)"
! pair_here a || echo "$trunk_switch $trunk_num up" >"$ibfab/cable"
link_is_back
assert differs "$last_peer" echo "$peer"

step "The same in guest b"
! pair_here b || echo "$trunk_switch $trunk_num down" >"$ibfab/cable"
link_is_down
! pair_here b || echo "$trunk_switch $trunk_num up" >"$ibfab/cable"
link_is_back

step "The SM disables the port in guest a, and enables it"
! pair_here a || near=$(saquery -C ibfab0 NR | tr -d '\t' | awk '
	/^lid\./ { lid = $1; sub(/^lid\.*/, "", lid) }
	/^NodeDescription\.*ibfab switch0 part 1$/ { print lid }')
! pair_here a || ibportstate -C ibfab0 "$near" "$trunk_num" disable >/run/disable
wait_for 20 trunk_state_is DOWN
pair_barrier disabled
! pair_here a || ibportstate -C ibfab0 "$near" "$trunk_num" enable >/run/enable
link_is_back

step "Guest b's module is reloaded, and announces that"
if pair_here b; then
	rmmod ibraw
	fabric_stop
fi
if pair_here a; then
	wait_for 20 trunk_state_is DOWN
	assert_eq "links that silence ended" "$(trunk_figure silent)" "$silent"
fi
pair_barrier unloaded
! pair_here a || wait_for 20 not sa_knows 'ibfab0 part 2'
pair_barrier forgotten
! pair_here b || begin
link_is_back
! pair_here a || assert_eq "link_down" "$downs" $((last_downs + 1))

step "Reloaded without an announcement: the first frame of the new instance reveals it"
if pair_here b; then
	ip link set "$trunk" down
	rmmod ibraw
	fabric_stop
	module_insert /modules/ibfab.ko hcas=1 "trunk=$trunk" subnet_part=2
	ip link set "$trunk" up
	wait_for 20 trunk_is up
	module_insert /modules/ibraw.ko
fi
! pair_here a || wait_for 20 trunk_reaches link_down $((downs + 1))
pair_barrier reloaded
link_is_back

step "Guest b's device down and up: guest a receives nothing any more"
! pair_here b || ip link set "$trunk" down
link_is_down
if pair_here a; then
	by_silence=0
	[ "$(traps_raised)" -eq "$raised" ] || by_silence=1
	assert_eq "links that silence ended" "$(trunk_figure silent)" $((silent + by_silence))
fi
! pair_here b || ip link set "$trunk" up
link_is_back

step "Guest b's device gone, and another of that name"
if pair_here b; then
	device=$(basename "$(readlink -f "/sys/class/net/$trunk/device")")
	echo "$device" >/sys/bus/virtio/drivers/virtio_net/unbind
	refute test -e "/sys/class/net/$trunk"
fi
link_is_down
if pair_here b; then
	echo "$device" >/sys/bus/virtio/drivers/virtio_net/bind
	wait_for 20 test -e /sys/class/net/eth0
	ip link set eth0 name "$trunk"
	ip link set "$trunk" addrgenmode none up
fi
link_is_back

step "Guest a's frames all lost: guest b calls it gone, and what was on its way is counted"
if pair_here a; then
	lost=$(trunk_counter drop.trunk_down)
	tc qdisc replace dev "$trunk" root netem loss 100%
	send 9
fi
wait_for 20 trunk_reaches link_down $((downs + 1))
! pair_here b || assert_eq "links that silence ended" "$(trunk_figure silent)" $((silent + 1))
if pair_here a; then
	lost=$(($(trunk_counter drop.trunk_down) - lost))
	note "$lost packets lost"
	assert_between "packets lost" "$lost" 9 100
	assert raw_is ibfab0 packets 20
fi
link_is_down
! pair_here a || tc qdisc replace dev "$trunk" root pfifo limit 2000
link_is_back

# A sweep may have taken the place of some traps, but not of all eight
! pair_here a || assert [ "$raised" -ge 4 ]
pair_barrier end
