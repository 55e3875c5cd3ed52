# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# Frames that are invalid, duplicated, too early, or from a third end or an earlier link are
# counted by kind, and do not disturb the trunk.
# guests: 2
# timeout: 400

. /cases/lib-trunk.sh

# frame MAC HEX: broadcasts a frame of the trunk's protocol from that Ethernet address.
frame()
{
	printf 'ffffffffffff%s88b5%s' "$1" "$2" | xxd -r -p |
		socat -u STDIN "INTERFACE:$trunk"
}

# header FLAGS [FROM [TO [ACK]]]: prints a header, by default that of the current link. Its
# credit is what guest b has already.
header()
{
	printf '01%s0000%s%s%s00000080' "$1" "${2:-$instance}" "${3:-$peer}" "${4:-00000000}"
}

# part SEQ TOTAL OFFSET LENGTH: prints what follows the header of a frame with data.
part()
{
	printf '%08x%04x%04x%04x0100%0120d' $(($1 & 0xffffffff)) "$2" "$3" "$4" 0
}

# counts NAME MAC HEX: guest b counts this frame once under NAME.
counts()
{
	if pair_here a; then
		pair_get "ready.$turn" >/run/ready
		frame "$2" "$3"
	else
		_was=$(trunk_figure "$1")
		pair_put "ready.$turn" yes
		wait_for 20 trunk_reaches "$1" $((_was + 1))
		note "$1 $((_was + 1))"
		wait_for 20 trunk_is up
	fi
	turn=$((turn + 1))
	pair_barrier counted
}
turn=0

# Without an SM no other packet crosses the trunk, so the first sequence number is still unused
trunk_start hcas=1
mac=52540000000a
instance=$(trunk_figure instance)
peer=$(trunk_figure peer)
next=0

step "No header, a strange version, no instance"
counts malformed $mac 01
counts malformed $mac "02$(header 01 | cut -c 3-)"
counts malformed $mac "$(header 01 0000000000000000)"

step "A third end, which uses another link's instances"
counts foreign 52540000000c "$(header 01 1111111111111111 0000000000000000)"
counts foreign 52540000000c "$(header 05 "$instance" "$peer")$(part "$next" 100 0 60)"

step "A former link's data"
counts stale $mac "$(header 05 "$instance" 2222222222222222)$(part "$next" 100 0 60)"

step "An acknowledgment of what was not sent"
counts malformed $mac "$(header 01 "$instance" "$peer" 7fffffff)"

step "Parts: none, empty, beyond the packet, the frame, or the largest packet"
data=$(header 05 "$instance" "$peer")
counts malformed $mac "$data"
counts malformed $mac "$data$(part "$next" 100 0 0)"
counts malformed $mac "$data$(part "$next" 100 60 60)"
counts malformed $mac "$data$(part "$next" 1000 0 900)"
counts malformed $mac "$data$(part "$next" 60000 0 60)"
counts malformed $mac "$data$(part "$next" 8 0 8)"

step "Too early, and received before"
counts out_of_order $mac "$data$(part $((next + 1)) 100 0 60)"
counts out_of_order $mac "$data$(part "$next" 100 40 60)"
counts duplicate $mac "$data$(part $((next - 1)) 100 0 60)"

step "The first half of a packet, then a second half of another"
if pair_here a; then
	frame $mac "$data$(part "$next" 100 0 60)"
fi
counts malformed $mac "$data$(part "$next" 110 60 40)"

step "The trunk still works, also when that sequence number is used again"
assert_eq "packets so far" "$(trunk_figure packets_received)" 0
subnet_up a
assert_eq "instance" "$(trunk_figure instance)" "$instance"
assert_eq "link_down" "$(trunk_figure link_down)" 0
saquery -C ibfab0 NR >/run/nodes
assert_eq "nodes" "$(grep -c NodeDescription /run/nodes)" 4
pair_barrier end
