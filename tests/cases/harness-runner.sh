# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The runner counts passed and failed cases, and fails if one failed or there was none; long
# forms and seeds reach the guest.
# runs: host
# timeout: 300

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

# runner PATTERN: prints the output of check.sh, and its exit status.
runner()
{
	local status=0

	"$qemu/check.sh" --jobs 2 --cases "$work/cases" --snapshots "$work/snapshots" \
		--results "$work/results" "$1" 2>&1 || status=$?
	echo "status $status"
}

# ends_in TEXT LINE LINE: TEXT's last two lines.
ends_in()
{
	local got

	got=$(tail -n 2 <<<"$1")
	if [ "$got" != "$2"$'\n'"$3" ]; then
		printf 'wanted:\n%s\n%s\ngot:\n%s\n' "$2" "$3" "$1"
		exit 1
	fi
}

mkdir -p "$work/cases"
echo '. /cases/lib.sh' >"$work/cases/lib.sh"
echo 'true' >"$work/cases/one-good.sh"
printf '# runs: host\nexit 0\n' >"$work/cases/two-good.sh"
printf 'echo it was here\nfalse\n' >"$work/cases/one-bad.sh"
printf '# runs: host\n# timeout: 1\nsleep 30\n' >"$work/cases/two-bad.sh"

all=$(runner '*')
ends_in "$all" "2 passed, 2 failed" "status 1"
grep -q '^FAIL  one-bad ' <<<"$all"
grep -q '^FAIL  two-bad ' <<<"$all"
grep -q '^pass  one-good ' <<<"$all"
grep -q '^it was here$' <<<"$all"
# Failed cases are repeated at the end, where they are found in a long log
grep -q '^    . it was here$' <<<"$all"
ends_in "$(runner 'two-good')" "1 passed, 0 failed" "status 0"
ends_in "$(runner 'no-such-case')" "0 passed, 0 failed" "status 1"

# A guest that ends before its script begins is started once more, without the snapshot, but not a
# second time. The snapshot is made anew for the next guest
mkdir "$work/bin"
cat >"$work/bin/qemu-system-x86_64" <<E
#!/bin/sh
echo started >>"$work/starts"
case \$CRASHES:\$* in
exits:*-incoming*) exit 0 ;;
aborts:*-incoming*) kill -s ABRT \$\$ ;;
[0-9]*) [ "\$(wc -l <"$work/starts")" -gt "\$CRASHES" ] || exit 0 ;;
esac
exec $(command -v qemu-system-x86_64) "\$@"
E
chmod 755 "$work/bin/qemu-system-x86_64"
# crashing HOW STARTS: sets $got to the output of a good case. HOW is the number of starts that fail
# first, or how QEMU ends when it continues a snapshot. It has to be started STARTS times.
crashing()
{
	rm -f "$work/starts"
	got=$(CRASHES=$1 PATH=$work/bin:$PATH runner one-good)
	[ "$(wc -l <"$work/starts")" -eq "$2" ]
}
# recovers SAID: whether that case passed, and check.sh said what had failed before.
recovers()
{
	ends_in "$got" "1 passed, 0 failed" "status 0"
	grep -q "$1" <<<"$got"
}
crashing 2 2
ends_in "$got" "0 passed, 1 failed" "status 1"
grep -q 'no verdict: the guest ended early' <<<"$got"
# One start more, which makes the snapshot
for how in exits aborts; do
	crashing "$how" 3
	recovers "one-good.sh: the guest ended before its script began"
done
crashing 1 3
recovers "a guest ended before it could be saved"

# A case for several HCA profiles runs on the first one, or on the one that was requested; a
# soak runs it on all, in its short form. Only cases with a long form are part of a soak
mkdir "$work/kinds"
cp "$work/cases/lib.sh" "$work/cases/one-bad.sh" "$work/kinds"
cat >"$work/kinds/any-hca.sh" <<'E'
# profiles: small connectx3
# soak: 60
. /cases/lib.sh
echo "on ${PROFILE:-none} ${SOAK:-short}"
E
cat >"$work/kinds/long.sh" <<'E'
# soak: 60
. /cases/lib.sh
echo "on $SOAK $SEED $SECONDS"
E
# runs_print ARGUMENT...: prints what the runs have printed, in the order of their names, after the
# status if not all have passed.
runs_print()
{
	local run

	rm -rf "$work/results"
	"$qemu/check.sh" --cases "$work/kinds" --snapshots "$work/snapshots" \
		--results "$work/results" "$@" >&2 || echo "status $?"
	for run in "$work"/results/*; do
		echo "${run##*/}: $(tr -d '\r' <"$run/transcript.log" | grep '^on ')"
	done
}
[ "$(runs_print any-hca)" = "any-hca: on small short" ]
[ "$(runs_print --profile virtual any-hca)" = "any-hca: on virtual short" ]
[ "$(runs_print --soak --seed 7 --seconds 5)" = "any-hca: on small 1
any-hca+connectx3: on connectx3 short
any-hca+small: on small short
long: on 1 7 5" ]
