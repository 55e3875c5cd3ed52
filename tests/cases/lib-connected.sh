# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# For cases of connected mode; to be sourced after lib.sh.

# pings HOST [OPTION...] ADDRESS: whether one ping is answered within a second.
pings()
{
	_from=$1
	shift
	on "$_from" ping -n -q -c 1 -W 1 "$@"
}

# mode_set HOST MODE
mode_set()
{
	on "$1" sh -c "echo $2 >/sys/class/net/$(dev_of "$1")/mode"
}

# conns HOST: prints the connections of the host's netdevice, which is one of this driver. If another
# host had a netdevice of that name before, the file has the number of the namespace in its name.
conns()
{
	_conns=/sys/kernel/debug/ipoib/$(dev_of "$1")
	_number=$(stat -L -c %i "/run/netns/$1")
	if [ -e "$_conns@${_number}_conn" ]; then
		cat "$_conns@${_number}_conn"
	else
		cat "${_conns}_conn"
	fi
}

# established HOST BY: prints how many established connections the host has that itself ("self") or
# its peers ("peer") have opened.
established()
{
	conns "$1" >/run/conns || return 2
	awk -v "wanted=$2" '/opened by:/ { by = $3 } /state:/ && by == wanted && $2 == "live" { n++ }
		END { print n + 0 }' /run/conns
}

# opened_to HOST HCA: prints the state and the Service ID of each connection that the host has opened
# to the HCA's port.
opened_to()
{
	conns "$1" >/run/conns || return 2
	awk -v "guid=$(port_guid "$2")" '
		function hex(word) { return substr("0000" word, length(word) + 1) }
		/GID:/ { split($2, w, ":"); at = hex(w[5]) hex(w[6]) hex(w[7]) hex(w[8]) == guid }
		/service ID:/ { id = $3 }
		/opened by:/ { by = $3 }
		/state:/ && at && by == "self" { print $2, id }' /run/conns
}

# connected_to HOST HCA: the host has an established connection that it has opened to the HCA's port.
connected_to()
{
	says '^live ' opened_to "$1" "$2"
}

opened_is()
{
	_opened=$(established "$1" self) || return 2
	[ "$_opened" -eq "$2" ]
}

accepted_is()
{
	_accepted=$(established "$1" peer) || return 2
	[ "$_accepted" -eq "$2" ]
}

# conns_are HOST N: the host's netdevice has so many connections, in whatever state.
conns_are()
{
	conns "$1" >/run/conns || return 2
	[ "$(grep -c '^GID:' /run/conns)" -eq "$2" ]
}

# all_drained: no connection was destroyed before its QP had returned all WRs. What waits for that
# ends with the module, and is gone from debugfs long before.
all_drained()
{
	refute says 'cannot drain' dmesg
}

# opens HOST N ADDRESS: sends a packet for which a connection is opened; whether there are N then.
opens()
{
	pings "$1" -s 9000 "$3" || :
	opened_is "$1" "$2"
}

# connect HOST N ADDRESS: has the host open its Nth connection.
connect()
{
	wait_for 10 pings "$1" "$3"
	wait_for 10 opens "$@"
}

# address_flags HOST: prints the first octet of its link-layer address.
address_flags()
{
	on "$1" cut -d : -f 1 "/sys/class/net/$(dev_of "$1")/address"
}
