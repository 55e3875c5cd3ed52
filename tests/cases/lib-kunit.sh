# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Runs KUnit suites in a guest. A module's suites run when it is loaded, and print KTAP to the
# kernel log. Sourced after lib.sh, by cases on the debug kernel.

faults=/sys/kernel/debug

# fault_injection_allow: allocations fail if a test requests it (fail_nth), also those of any
# size and those that may sleep, without messages.
fault_injection_allow()
{
	echo N >"$faults/failslab/ignore-gfp-wait"
	echo N >"$faults/fail_page_alloc/ignore-gfp-wait"
	echo N >"$faults/fail_page_alloc/ignore-gfp-highmem"
	echo 0 >"$faults/fail_page_alloc/min-order"
	echo 0 >"$faults/failslab/verbose"
	echo 0 >"$faults/fail_page_alloc/verbose"
}

# kunit_run MODULE [PARAMETER...]: loads it, and judges the results of its suites. The module stays
# loaded. SUITE=suite.test, two patterns, selects tests; SUITE=suite selects all tests of a suite.
kunit_run()
{
	_suite=${SUITE:-*}
	case $_suite in
	*.*) _test=${_suite#*.} ;;
	*) _test='*' ;;
	esac
	module_insert /modules/kunit_filter.ko "suite=${_suite%%.*}" "test=$_test"
	_kunit_run=$((${_kunit_run:-0} + 1))
	echo "kunit: run $_kunit_run begins" >/dev/kmsg
	_kunit_module=$1
	shift
	module_insert "/modules/$_kunit_module.ko" "$@"
	rmmod kunit_filter
	dmesg | sed -n "s/^\[[^]]*\] //; /^kunit: run $_kunit_run begins/,\$p" >/run/kunit.log
	kunit_judge /run/kunit.log
	assert_eq "suites that ended" \
		"$(grep -cE '^(not )?ok [0-9]+ ' /run/kunit.log)" \
		"$(find /sys/kernel/debug/kunit -mindepth 1 -type d | wc -l)"
}

# kunit_judge LOG: prints each test that failed with its messages, and the number of tests.
# Every suite that has begun must have ended, with all of its tests.
kunit_judge()
{
	awk '
		function problem(text) { print "    " text; bad++ }
		/^    # Subtest: / { suite = $3; begun++; in_suite = 1; ran = 0; said = ""; next }
		!in_suite && !/^(not )?ok / { next }
		/^    1\.\.[0-9]+$/ { planned = substr($1, 4) + 0; next }
		/^    not ok / { ran++; failed++; problem("not ok: " suite ": " $4 "\n" said); said = ""; next }
		/^    ok .* # SKIP/ { problem("skipped: " suite ": " $3); ran++; next }
		/^    ok / { ran++; passed++; said = ""; next }
		/^(not )?ok [0-9]+ / {
			ended++; in_suite = 0
			if (/^not ok/) problem("suite " suite " failed")
			if (ran != planned) problem(suite ": " ran " of " planned " tests ran")
			next
		}
		{ said = said "        " $0 "\n" }
		END {
			if (begun != ended) problem("suite " suite " did not end")
			if (!passed) problem("no test ran")
			printf "    %d tests of %d suites passed, %d failed\n", passed, ended, failed
			exit bad ? 1 : 0
		}' "$1" || fail "KUnit"
}
