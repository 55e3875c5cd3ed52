#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Boots two guests at once, a and b, that run the same script, and judges both.
#
# Usage: pair.sh [OPTION]... SCRIPT RUN-FOLDER
# The options are those of guest.sh, and apply to both guests.
#
# The guests are joined by two pairs of sockets: one carries the Ethernet frames of
# their netdevices trunk0, the other the messages of the functions in
# tests/cases/lib-pair.sh.
#
# RUN-FOLDER/a and RUN-FOLDER/b receive the files of guest.sh for each guest,
# RUN-FOLDER/result the verdict on both: `pass`, or the reasons of each guest that
# failed, beginning with the one that failed first. Exit status 0 is a pass.

. "$(dirname "$0")/common.sh"

# bash cannot make socket pairs. Both ends of the one for frames come first.
with_sockets()
{
	# shellcheck disable=SC2016  # Perl's variables
	exec perl -MSocket -e '
		$^F = 255;
		for (0, 1) {
			socketpair(my $one, my $two, AF_UNIX, SOCK_STREAM, 0)
				or die "no sockets: $!\n";
			push @ends, $one, $two;
		}
		$ENV{PAIR_SOCKETS} = join " ", map { fileno($_) } @ends;
		exec @ARGV or die "$ARGV[0]: $!\n";' "$0" "$@"
}

# Closes the other guest's ends, as otherwise this guest would not notice when they are closed.
boot_a()
{
	exec {frames_b}>&- {words_b}>&-
	exec "$qemu_dir/guest.sh" "${options[@]}" --role a \
		--link "$frames_a,$words_a" "$script" "$run/a"
}

boot_b()
{
	exec {frames_a}>&- {words_a}>&-
	exec "$qemu_dir/guest.sh" "${options[@]}" --role b \
		--link "$frames_b,$words_b" "$script" "$run/b"
}

# judged ROLE REGEX: whether a line of the guest's result begins like this.
judged()
{
	grep -q "^$2" "$run/$1/result" 2>/dev/null
}

# A guest that was stopped has failed because of the other one.
reasons()
{
	local role order=(a b)

	! judged a 'stopped:' || order=(b a)
	for role in "${order[@]}"; do
		if [ ! -e "$run/$role/result" ]; then
			echo "$role: the harness ended without a result"
		elif ! judged "$role" 'pass$'; then
			sed "s/^/$role: /" "$run/$role/result"
		fi
	done
}

[ -n "${PAIR_SOCKETS:-}" ] || with_sockets "$@"
read -r frames_a frames_b words_a words_b <<<"$PAIR_SOCKETS"
unset PAIR_SOCKETS
[ $# -ge 2 ] || die "usage: pair.sh [OPTION]... SCRIPT RUN-FOLDER"
options=("${@:1:$#-2}")
script=${*: -2:1} run=${*: -1}
rm -rf "$run"
mkdir -p "$run"

boot_a &
boot_b &
exec {frames_a}>&- {frames_b}>&- {words_a}>&- {words_b}>&-
wait
reasons >"$run/result"
[ ! -s "$run/result" ] || exit 1
echo pass >"$run/result"
