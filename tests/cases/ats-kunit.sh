# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The Address Translation Service's KUnit suites: Service IDs, records, primary addresses,
# lists, queries, and an SA that fails in every possible way.
# kernel: debug
# timeout: 60

. /cases/lib.sh
. /cases/lib-kunit.sh

echo 120 >/proc/sys/kernel/hung_task_timeout_secs
now_ms
begin=$now_ms
kunit_run ib_ats_kunit
now_ms
note "$((now_ms - begin)) ms"
rmmod ib_ats_kunit

step "One suite alone, and one test of it"
export SUITE='ats_re*d'
kunit_run ib_ats_kunit
assert_eq "suites" "$(grep "^ok " /run/kunit.log)" "ok 1 ats_record"
assert test "$(grep -c '^    ok ' /run/kunit.log)" -gt 1
rmmod ib_ats_kunit
SUITE=ats_record.record_sids
kunit_run ib_ats_kunit
assert_eq "tests" "$(grep -c '^    ok ' /run/kunit.log)" 1
rmmod ib_ats_kunit
