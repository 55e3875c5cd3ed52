# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# KUnit results are judged: tests that fail, are skipped, or are missing are detected, and so
# is a log without tests.
# runs: host
# timeout: 20

cases=$(dirname "${BASH_SOURCE[0]}")
run=$1

# judge: judges the KTAP on standard input.
judge()
{
	cat >"$run/ktap"
	dash -euc ". '$cases/lib.sh'; . '$cases/lib-kunit.sh'; kunit_judge '$run/ktap'"
}

# suite RESULT...: prints the KTAP of a suite with the results of its three tests and of itself.
suite()
{
	printf '    KTAP version 1\n    # Subtest: a_suite\n    1..3\n'
	printf 'a driver says something\n'
	printf '    %s\n' "${@:1:$#-1}"
	printf '%s\n' "${!#}"
}

good=("ok 1 one" "ok 2 two" "ok 3 three" "ok 1 a_suite")
suite "${good[@]}" | judge
suite "        ok 1 - 7" "${good[@]}" | judge

# wrong WHAT TEXT: the KTAP on standard input must fail with this message.
wrong()
{
	local what=$1

	if judge >"$run/said" 2>&1; then
		echo "not noticed: $what"
		return 1
	fi
	grep -q "$2" "$run/said" || {
		cat "$run/said"
		echo "not said: $2"
		return 1
	}
}

suite "ok 1 one" "    # two: EXPECTATION FAILED" "not ok 2 two" "ok 3 three" "not ok 1 a_suite" |
	wrong "a test that fails" 'not ok: a_suite: two'
suite "ok 1 one" "ok 2 two # SKIP no device" "ok 3 three" "ok 1 a_suite" |
	wrong "a test that is skipped" 'skipped: a_suite: two'
suite "ok 1 one" "ok 3 three" "ok 1 a_suite" | wrong "a test that is missing" '2 of 3'
suite "ok 1 one" "ok 2 two" "" | wrong "a suite that does not end" 'did not end'
suite "${good[@]:0:3}" "not ok 1 a_suite" | wrong "a suite that fails as a whole" 'a_suite failed'
echo "kunit: disabled" | wrong "a log without tests" 'no test ran'
