# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Progress of long work: what is being done, how far it is, and how long it may yet take. On a
# terminal this is one line, which is written again each second. Sourced by common.sh.
#
# Whoever calls progress_start owns $progress, a folder that the scripts started from there inherit:
#   events  what has happened, see progress.awk, which makes the line out of it
#   tty     the terminal, if there is one
#   lock    is held by whoever writes to the terminal
# How long things took is kept in the cache, for the next run. Without an owner, and without a
# terminal, nothing is shown.

# shellcheck disable=SC2154  # what common.sh sets
progress_times=$cache/times

# progress_event KIND TEXT...: the time and the words are separated by tabs.
progress_event()
{
	local IFS=$'\t'

	[ -z "${progress:-}" ] || printf '%s\n' "$EPOCHSECONDS$IFS$*" >>"$progress/events"
}

# progress_terminal: whether the line is shown.
progress_terminal()
{
	[ -n "${progress:-}" ] && [ -e "$progress/tty" ]
}

# progress_aside CMD...: runs a command that may write to the terminal, without the line meanwhile.
progress_aside()
{
	local lock status=0

	if ! progress_terminal || [ -n "${progress_hidden:-}" ]; then
		"$@"
		return
	fi
	exec {lock}>"$progress/lock"
	flock "$lock"
	printf '\r\033[K' >"$(<"$progress/tty")"
	progress_hidden=yes
	"$@" || status=$?
	progress_hidden=
	exec {lock}>&-
	return "$status"
}

# progress_start JOBS: JOBS is how many cases run at once.
progress_start()
{
	progress=$(mktemp -d)
	export progress
	progress_event jobs "$1"
	if [ ! -t 1 ] || [ ! -t 2 ] || [ "${TERM:-dumb}" = dumb ]; then
		return
	fi
	tty <&2 >"$progress/tty"
	progress_paint "$$" </dev/null >/dev/null 2>&1 &
	# It is no job to wait for
	disown "$!"
}

# progress_stop: the line disappears, and the times are kept.
progress_stop()
{
	[ -n "${progress:-}" ] || return 0
	! progress_terminal || progress_aside rm "$progress/tty"
	progress_event stop
	with_lock times progress_keep
	rm -rf "$progress"
	progress=
}

# progress_keep: merges the times of this run with those of earlier ones.
progress_keep()
{
	touch "$progress_times"
	awk -v "times=$progress_times" -v keep=1 -f "$qemu_dir/progress.awk" "$progress/events" \
		>"$progress_times.new"
	mv "$progress_times.new" "$progress_times"
}

# progress_width: prints how many columns the terminal has.
progress_width()
{
	local columns

	read -r _ columns < <(stty size) || :
	[ "${columns:-0}" -gt 0 ] || columns=80
	echo "$columns"
}

# progress_paint PID: writes the line each second, until progress_stop is called or PID has ended. A
# terminal on which background processes must not write does not stop it.
progress_paint()
{
	local tty line

	trap '' TTOU
	tty=$(<"$progress/tty")
	while kill -0 "$1" && [ -e "$progress/tty" ]; do
		line=$(awk -v "times=$progress_times" -v "now=$EPOCHSECONDS" \
			-v "width=$(progress_width <"$tty")" -f "$qemu_dir/progress.awk" \
			"$progress/events")
		(
			flock 9
			[ -n "$line" ] && [ -e "$progress/tty" ] || exit 0
			printf '\r%s\033[K' "$line" >"$tty"
		) 9>"$progress/lock"
		sleep 1
	done
}
