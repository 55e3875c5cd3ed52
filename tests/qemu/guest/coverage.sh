# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib.sh
# Which lines of our modules have run goes to the host: gcov's counters, also those
# of modules that are gone. debugfs tells no sizes, so archives are made of copies.

. /cases/lib.sh

step "Coverage"
vport_start coverage
cd /sys/kernel/debug/gcov || exit
find . -name '*.gcda' | while read -r file; do
	mkdir -p "/run/gcov/${file%/*}"
	cat "$file" >"/run/gcov/$file"
done
assert test -d /run/gcov
tar -c -C /run/gcov . >"$(vport_of coverage)"
