# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# For cases of two guests whose fabrics are connected by a trunk; sources the other libraries.
# Guest a is part 1 of the subnet, guest b part 2.

# shellcheck source=lib.sh
. /cases/lib.sh
# shellcheck source=lib-pair.sh
. /cases/lib-pair.sh

# shellcheck disable=SC2034  # the caller's
if pair_here a; then
	part=1 other_part=2
else
	part=2 other_part=1
fi

# trunk_figure NAME
trunk_figure()
{
	field_of "$1" "$ibfab/trunk"
}

# trunk_is up|heard|down
trunk_is()
{
	[ "$(trunk_figure state)" = "$1" ]
}

# trunk_reaches NAME LEAST
trunk_reaches()
{
	[ "$(trunk_figure "$1")" -ge "$2" ]
}

# trunk_port: sets $trunk_switch and $trunk_num to the switch and port of the trunk's cable.
trunk_port()
{
	read -r trunk_switch trunk_num <<-E
		$(sed -n 's/^port \([a-z0-9]* [0-9]*\)$/\1/p' "$ibfab/trunk")
	E
}

# trunk_counter NAME: prints a counter of that switch port.
trunk_counter()
{
	fabric_counter "$trunk_switch" "port$trunk_num.$1"
}

# trunk_start [PARAMETER...]: starts this guest's part of the subnet.
trunk_start()
{
	fabric_start "trunk=$trunk" "subnet_part=$part" "$@"
	wait_for 20 trunk_is up
	trunk_port
}

# subnet_up a|b [ARGUMENT...]: starts OpenSM in that guest, and waits until all cabled ports
# of both guests are ACTIVE.
subnet_up()
{
	_role=$1
	shift
	pair_barrier subnet
	! pair_here "$_role" || opensm_start "$@"
	wait_for 30 links_are ACTIVE
	pair_barrier active
}

# drivers_load: loads this driver in guest a, the in-tree driver in guest b, and gives the existing
# host h0 the netdevice, $dev.
drivers_load()
{
	if pair_here a; then
		ipoib_load
	else
		intree_load
	fi
	host_give h0 ibfab0 "$part"
	dev=$(dev_of h0)
	wait_for 20 has_carrier h0 "$dev"
}

# trunk_state_is STATE: whether that switch port is in this state.
trunk_state_is()
{
	[ "$(awk -v name="$trunk_switch" -v port="$trunk_num" \
		'$1 == name && $3 == port { print $8 }' "$ibfab/topology")" = "$1" ]
}

# trunk_quiet: whether no packet is in the trunk or waits for it at this end.
trunk_quiet()
{
	for _name in waiting unacknowledged held; do
		[ "$(trunk_figure $_name)" -eq 0 ] || return 1
	done
}

# trunk_agrees: waits until each end has received all that the other has sent. To be called in
# both guests when nothing is sent any more; the counts are in $sent and $received.
trunk_agrees()
{
	_turn=0
	while :; do
		_turn=$((_turn + 1))
		wait_for 30 trunk_quiet
		sent=$(trunk_figure packets_sent)
		received=$(trunk_figure packets_received)
		pair_put "sent.$trunk_round.$_turn" "$sent $received"
		_there=$(pair_get "sent.$trunk_round.$_turn")
		[ "$_there" != "$received $sent" ] || break
		[ "$_turn" -lt 60 ] || fail "$sent sent, $received received; there $_there"
		sleep 0.2
	done
	trunk_round=$((trunk_round + 1))
}
trunk_round=0

# file_crosses MIB ADDRESS [a|b]: sends a file of this size from guest a's h0 (or b's) to the other
# guest's, which has that IPv4 address, and compares the contents. To be called in both guests.
file_crosses()
{
	if pair_here "${3:-a}"; then
		dd if=/dev/urandom of=/run/file bs=1M "count=$1" status=none
		pair_put "sum.$files_crossed" "$(sha256sum </run/file)"
		pair_barrier ready
		on h0 socat -u OPEN:/run/file "TCP4:$2:5010"
	else
		on h0 socat -u TCP4-LISTEN:5010 OPEN:/run/file,creat,trunc &
		_receiver=$!
		wait_for 10 listening h0 5010
		pair_barrier ready
		wait "$_receiver"
		assert_eq "the file" "$(sha256sum </run/file)" "$(pair_get "sum.$files_crossed")"
	fi
	files_crossed=$((files_crossed + 1))
	pair_barrier file
}
files_crossed=0
