# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases of two guests ("guests: 2"), sourced after lib.sh. The same script runs in both
# guests, whose netdevices trunk0 are the two ends of an Ethernet link. The functions below do
# not use that link. If the script of one guest fails, the other one's is stopped; a guest
# whose script has passed waits for the other.

# shellcheck disable=SC2034  # the caller's
trunk=trunk0
pair=/run/pair

# pair_here a|b: whether this is guest a or b.
pair_here()
{
	[ "$ROLE" = "$1" ]
}

# pair_seconds_left: prints the time until the host ends both guests.
pair_seconds_left()
{
	echo $((END - $(date +%s)))
}

# pair_leave: this guest shuts down as soon as its script ends, without waiting for the other.
pair_leave()
{
	echo "by its own wish" >"$pair/ended"
}

# pair_say WORD NAME [VALUE]
pair_say()
{
	case $2 in
	'' | *[!A-Za-z0-9._-]*) fail "not a name: '$2'" >&2 ;;
	esac
	printf '%s\n' "$*" >&9
}

# pair_wait WHAT CMD...: waits until CMD succeeds, which depends on the other guest's messages. This
# guest needs little of a processor meanwhile: after a second it looks only five times a second.
pair_wait()
{
	_what=$1 _turns=0 _pause=0.05
	shift
	while ! "$@"; do
		if [ -e "$pair/ended" ] && ! "$@"; then
			fail "the other guest ended before $_what" >&2
		fi
		_turns=$((_turns + 1))
		if [ $((_turns % 20)) -eq 0 ]; then
			_pause=0.2
			[ "$(pair_seconds_left)" -gt 15 ] ||
				fail "not in time: the other guest's $_what" >&2
		fi
		sleep "$_pause"
	done
}

# pair_came BARRIER TIMES: the other guest has reached the barrier this often. It starts no process.
pair_came()
{
	_came=0
	[ -e "$pair/came.$1" ] || return 1
	while read -r _; do
		_came=$((_came + 1))
	done <"$pair/came.$1"
	[ "$_came" -ge "$2" ]
}

# pair_barrier NAME: waits until the other guest has reached this barrier, too. A name may be
# used again.
pair_barrier()
{
	pair_say came "$1"
	echo >>"$pair/reached.$1"
	pair_wait "barrier $1" pair_came "$1" "$(wc -l <"$pair/reached.$1")"
}

# pair_put NAME VALUE: sends a line of text to the other guest. A name may be used only once.
pair_put()
{
	[ ! -e "$pair/put.$1" ] || fail "was put before: $1"
	pair_say put "$@"
	: >"$pair/put.$1"
}

# pair_talk NAME WORDS PAUSE: prints the words every PAUSE seconds until the other guest has
# put heard.NAME, then 20 times more with a number in front.
pair_talk()
{
	talker "$2" "$3" "$pair/value.heard.$1"
}

# pair_heard_twenty WORDS FILE: all 20 numbered lines are in the file.
pair_heard_twenty()
{
	[ "$(grep -cx "[0-9]* $1" "$2")" -eq 20 ]
}

# pair_get NAME: waits until the other guest has put the value, and prints it.
pair_get()
{
	pair_wait "value $1" test -e "$pair/value.$1"
	cat "$pair/value.$1"
}
