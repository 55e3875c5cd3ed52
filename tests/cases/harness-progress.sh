# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# On a terminal, one line shows how far a check is, and disappears before any other line; otherwise
# there is nothing of it.
# runs: host
# timeout: 120

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)
width=50

# line NOW WIDTH: prints the line that belongs to the events of $work/events.
line()
{
	awk -v "times=$work/times" -v "now=$1" -v "width=$2" -f "$qemu/progress.awk" "$work/events"
}

# is WANTED GOT
is()
{
	[ "$1" = "$2" ] || {
		printf 'wanted: %s\ngot:    %s\n' "$1" "$2"
		exit 1
	}
}

# event WORD...
event()
{
	local IFS=$'\t'

	echo "$*" >>"$work/events"
}

# harness: makes a copy of the runner that has nothing to prepare, but says that it does.
harness()
{
	local script

	mkdir -p "$work/tests/qemu"
	cp "$qemu"/{check.sh,common.sh,progress.*} "$work/tests/qemu"
	for script in deps rootfs kernel build; do
		# shellcheck disable=SC2016  # for the script to expand
		printf '#!/bin/bash\n. "$(dirname "$0")/common.sh"\n' >"$work/tests/qemu/$script.sh"
		chmod +x "$work/tests/qemu/$script.sh"
	done
	printf '%s\n' 'say "preparing kernel 1.2.3"' 'sleep 2' >>"$work/tests/qemu/deps.sh"
}

# checked CMD...: prints what a check prints that CMD runs, and its exit status.
checked()
{
	local status=0 check=("$work/tests/qemu/check.sh" --jobs 1
		--cases "$work/cases" --results "$work/results")

	XDG_CACHE_HOME=$work/cache TERM=xterm "$@" "exec ${check[*]@Q}" </dev/null || status=$?
	echo "status $status"
}

# on_terminal COMMAND: runs it with a terminal of its own.
on_terminal()
{
	script -qec "stty cols $width && $1" /dev/null
}

# shown: what is to be seen on a terminal, of the characters written to it. The line that is written
# again and again also goes to $work/again. It must not fill a line of the terminal, or the cursor
# would go on to the next one.
shown()
{
	awk -v "width=$width" -v "again=$work/again" '
	{
		n = split($0, part, "\r")
		line = part[1]
		for (i = 2; i <= n; i++) {
			text = part[i]
			if (text ~ /.\033\[K$/) {
				text = substr(text, 1, length(text) - 3)
				print text >again
				line = length(text) < width ? text : "too long: " text
			} else if (sub(/^\033\[K/, "", text)) {
				line = text
			} else {
				line = text substr(line, length(text) + 1)
			}
		}
		print line
	}'
}

# common: leaves out what differs from run to run: times, and what is sorted by them.
common()
{
	sed -E 's/ +[0-9]+ s\b/ N s/g; s/ +[0-9]+ of a processor/ N of a processor/; /^    [a-z]/d'
}

# The preparation
printf 'building the kernel\t600\n' >"$work/times"
event 1000 jobs 2
event 1000 steps 4
event 1000 step 'Debian packages'
is '[1/4] Debian packages, 2 s so far' "$(line 1002 80)"
event 1010 step 'kernel debug'
event 1012 say 'building the kernel'
is '[2/4] kernel debug: building the kernel, 25 %, about 8 min left' "$(line 1162 80)"
is '[2/4] kernel debug: building the kernel, 12 min, longer than before' "$(line 1712 80)"
is '[2/4] kernel debug: ' "$(line 1162 21)"

# Cases: one that is known, one that counts twice, and those whose limits are all that is known
printf 'one\t100\n' >>"$work/times"
event 1700 plan one 900 1
event 1700 plan two 800 2
event 1700 plan three 400 1
event 1700 begin two
is '[0/3] about 4 min left: two 60 s' "$(line 1760 80)"
event 1900 end two pass
event 1900 begin one
event 1920 begin three
is '[1/3] about 80 s left: one 40 s, three 20 s' "$(line 1940 80)"
event 1940 end three FAIL
is '[2/3] 1 failed, about 30 s left: one 70 s' "$(line 1970 80)"
is '[2/3] 1 failed, longer than expected: one 2 min' "$(line 2020 80)"
event 2020 end one pass

# Failed ones have not shown how long they take
is "Debian packages 10,building the kernel 688,one 120,two 200" "$(awk -v "times=$work/times" -v keep=1 \
	-f "$qemu/progress.awk" "$work/events" | tr '\t\n' ' ,' | sed 's/,$//')"

# A whole check
harness
mkdir "$work/cases"
printf '# runs: host\n# timeout: 30\nsleep 3\n' >"$work/cases/slow.sh"
printf '# runs: host\n# timeout: 20\necho it was here\nfalse\n' >"$work/cases/bad.sh"
printf '# runs: host\n# timeout: 10\nsleep 2\n' >"$work/cases/last.sh"
checked bash -c >"$work/log" 2>&1
cat "$work/log"
is $'2 passed, 1 failed\nstatus 1' "$(tail -n 2 "$work/log")"
for text in $'\r' $'\033' '[0/3]'; do
	is 0 "$(grep -cF "$text" "$work/log" || [ $? -eq 1 ])"
done
checked on_terminal >"$work/terminal"
shown <"$work/terminal" >"$work/screen"
diff <(common <"$work/log") <(common <"$work/screen")
cat "$work/again"
grep -q '^\[1/2\] Debian packages: preparing kernel 1.2.3, ' "$work/again"
grep -qx '\[0/3\] about [0-9]* s left: slow [0-9]* s' "$work/again"
grep -qx '\[2/3\] 1 failed, about [0-9]* s left: last [0-9]* s' "$work/again"
is 'last slow' "$(grep -v preparing "$work/cache/ib-ipoib/times" | cut -f 1 | paste -s -d ' ')"
