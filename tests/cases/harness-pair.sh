# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Two guests meet and exchange values and frames; a failure in one ends both, and the verdict
# names it first.
# runs: host
# timeout: 1200
# when: soak
# soak: 1200

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

# pair NAME LIMIT: writes a case of two guests, with the script on standard input.
pair()
{
	{
		printf '# guests: 2\n# timeout: %d\n# smp: 1\n# mem: 600\n' "$2"
		echo '# append: word=both'
		printf '. /cases/lib.sh\n. /cases/lib-pair.sh\n'
		cat
	} >"$work/cases/$1.sh"
}

# runner ARGUMENT...: prints the output of check.sh, and its exit status.
runner()
{
	local status=0

	"$qemu/check.sh" --cases "$work/cases" --results "$work/results" \
		"$@" 2>&1 || status=$?
	echo "status $status"
}

# wanted NAME LINE...: the lines of the case's result match these patterns, in this order.
wanted()
{
	local name=$1 got line

	shift
	mapfile -t got <"$work/results/$name/result"
	echo "$name:" "${got[@]}"
	[ $# -eq ${#got[@]} ] || {
		echo "wanted $# lines"
		exit 1
	}
	for line in "${got[@]}"; do
		# shellcheck disable=SC2053  # a pattern, not a text
		[[ $line == $1 ]] || {
			echo "wanted '$1', got '$line'"
			exit 1
		}
		shift
	done
}

# said NAME ROLE TEXT: the script of that guest has printed TEXT.
said()
{
	grep -F -- "$3" "$work/results/$1/$2/transcript.log"
}

mkdir -p "$work/cases"

pair good 240 <<-'E'
	pair_here a && other=b || other=a
	pair_put hostname "$(hostname), of two"
	assert_eq "the other's name" "$(pair_get hostname)" "guest-$other, of two"

	assert_eq CPUs "$(nproc)" 1
	assert_between "KiB of memory" "$(awk '/^MemTotal/ { print $2 }' \
		/proc/meminfo)" 400000 600000
	assert grep -qw word=both /proc/cmdline

	pair_here a && own=1 peer=2 || own=2 peer=1
	ip address add "10.9.0.$own/24" dev "$trunk"
	assert_eq "MTU" "$(cat "/sys/class/net/$trunk/mtu")" 65535
	pair_barrier addressed
	assert_match "pings" "$(ping -q -c 2 -i 0.2 -M "do" -s 65000 "10.9.0.$peer")" \
		'2 packets transmitted, 2 received, 0% packet loss'
	pair_barrier pinged

	# These functions work without the link
	ip link set "$trunk" down
	for round in 1 2 3; do
		pair_barrier down
	done
	assert_eq "rounds" "$(wc -l </run/pair/came.down)" 3

	# A name can be used only once, and must be a valid name
	must_fail sh -euc '. /cases/lib.sh; . /cases/lib-pair.sh; pair_put hostname x'
	must_fail sh -euc '. /cases/lib.sh; . /cases/lib-pair.sh; pair_barrier "a b"'
	# The guest that ends first waits for the other
	pair_here a || sleep 3
	[ ! -e /run/pair/ended ] || grep -qx 'with status 0' /run/pair/ended
	E

pair b-fails 240 <<-'E'
	pair_barrier begun
	pair_here b && assert_eq "a number" 1 2
	sleep 1000
	E

pair b-crashes 240 <<-'E'
	pair_barrier begun
	pair_here a || echo c >/proc/sysrq-trigger
	sleep 1000
	E

pair b-warns 240 <<-'E'
	pair_here a || echo "WARNING: as if from a driver" >/dev/kmsg
	E

pair b-leaves 240 <<-'E'
	pair_here b || pair_get what-nobody-puts
	E

pair b-hangs 100 <<-'E'
	pair_here a || sleep 1000
	E

pair b-never-comes 100 <<-'E'
	pair_here a || sleep 1000
	pair_barrier never
	E

# Cases that only wait run in the meantime
runner --jobs 2 'b-[hn]*' >"$work/waiting" &
all=$(runner --jobs 2 '[!b]*' && runner --jobs 2 'b-[!hn]*')
wait
cat "$work/waiting" - <<<"$all"
grep -qx '1 passed, 0 failed' <<<"$all"
grep -qx '0 passed, 4 failed' <<<"$all"
grep -qx '0 passed, 2 failed' "$work/waiting"
grep -q '^pass  good ' <<<"$all"
wanted good pass
for role in a b; do
	grep -qx pass "$work/results/good/$role/result"
done

wanted b-fails "b: the script's exit status is 1" \
	'a: stopped: the other guest ended with status 1'
said b-fails b "FAILED: a number is '1', wanted '2'"
grep -qF "FAILED: a number is '1', wanted '2'" <<<"$all"
said b-fails a 'STOPPED: the other guest ended with status 1'

wanted b-crashes 'b: no verdict: *' 'b: kernel log: no line *' \
	'b: kernel log: *Kernel panic*' 'b: kernel log: *Call Trace:*' \
	'a: stopped: the other guest ended without a word'

wanted b-warns 'b: kernel log: *WARNING: as if from a driver'

wanted b-leaves "a: the script's exit status is 1"
said b-leaves a 'FAILED: the other guest ended before value what-nobody-puts'

wanted b-hangs 'b: ended at its limit of 100 s' 'b: no verdict: *' \
	'b: kernel log: no line where the script ends'
grep -qx pass "$work/results/b-hangs/a/result"

wanted b-never-comes "a: the script's exit status is 1" \
	'b: stopped: the other guest ended with status 1'
said b-never-comes a "FAILED: not in time: the other guest's barrier never"

# A pair takes one of two jobs: another case begins and ends meanwhile
cat >"$work/cases/good-beside.sh" <<-E
	# runs: host
	sleep 2
	[ ! -e "$work/results/good/result" ]
	E
rm -r "$work/results/good"
both=$(runner --jobs 2 'good*')
printf '%s\n' "$both"
grep -qx '2 passed, 0 failed' <<<"$both"
