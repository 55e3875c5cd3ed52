# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib.sh
# Sends gcov's counters of this project's modules to the host, including those of unloaded
# modules. Files in debugfs have no size, so archives are made from copies.

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
