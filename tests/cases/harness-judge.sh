# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The judge fails each kind of bad guest for the right reason, and passes a good one.
# runs: host
# timeout: 300

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

# boots NAME TIMEOUT: runs the script on standard input in a guest, and prints its verdict and the
# reasons. The guests continue from one snapshot, except for the good one, which boots.
boots()
{
	local name=$1 timeout=$2 verdict=passed continues=(--snapshots "$work/snapshots")

	[ "$name" != good ] || continues=()
	{ echo '. /cases/lib.sh' && cat; } >"$work/$name.sh"
	"$qemu/guest.sh" --timeout "$timeout" "${continues[@]}" "$work/$name.sh" \
		"$work/$name" || verdict=failed
	echo "$verdict"
	cat "$work/$name/result"
}

# wanted WHAT TEXT REGEX
wanted()
{
	if ! grep -qE "$3" <<<"$2"; then
		echo "$1: wanted '$3', got: $2"
		exit 1
	fi
	echo "$1: as wanted: $(grep -m1 -E "$3" <<<"$2")"
}

good=$(boots good 60 <<-'E'
	assert true
	assert_eq one 1 1
	assert_match two abc '^a.c$'
	wait_for 1 true
	E
)
wanted "a good script" "$good" '^passed$'
wanted "a good script" "$good" '^pass$'

# init gets a signal for each orphan, also while it hands over the verdict
orphans=$(boots orphans 60 <<-'E'
	setsid sh -c 'while :; do (sleep 0.01 &) ; done' &
	sleep 0.2
	E
)
wanted "a script that leaves orphans" "$orphans" '^passed$'

warns=$(boots warns 60 <<<'echo "WARNING: as if from a driver" >/dev/kmsg')
wanted "a warning" "$warns" '^failed$'
wanted "a warning" "$warns" '^kernel log: .*WARNING: as if from a driver'

exits=$(boots exits 60 <<<'sh -c "exit 3"; echo not reached')
wanted "an error" "$exits" '^failed$'
wanted "an error" "$exits" "^the script's exit status is 3$"

asserts=$(boots asserts 60 <<<'assert_eq "a number" 1 2; echo not reached')
wanted "an assertion" "$asserts" '^failed$'
wanted "an assertion" "$(cat "$work/asserts/transcript.log")" \
	"^FAILED: a number is '1', wanted '2'"

waits=$(boots waits 60 <<<'wait_for 1 false; echo not reached')
wanted "a wait" "$waits" '^failed$'
wanted "a wait" "$(cat "$work/waits/transcript.log")" \
	'^FAILED: not in time: false'

if grep -H 'not reached' "$work"/*/transcript.log; then
	echo "a script went on after its failure"
	exit 1
fi

panics=$(boots panics 60 <<<'echo c >/proc/sysrq-trigger; sleep 60')
wanted "a crash" "$panics" '^failed$'
wanted "a crash" "$panics" '^no verdict'
wanted "a crash" "$panics" '^kernel log: .*Kernel panic'

hangs=$(boots hangs 8 <<<'sleep 1000')
wanted "a hang" "$hangs" '^failed$'
wanted "a hang" "$hangs" '^ended at its limit of 8 s$'
