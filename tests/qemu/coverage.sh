#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Which lines and branches of the driver and of the Address Translation Service are executed
# by the KUnit suites and by cases, all on the debug kernel. Prints a table of the files;
# build/coverage/html shows the lines. Usage: coverage.sh [--jobs N] [PATTERN] (default: the
# suites, and cases for what the suites do not test: netlink, sysfs, debugfs, ethtool, MADs)

. "$(dirname "$0")/common.sh"

jobs=$(nproc)
[ "${1:-}" != --jobs ] || { jobs=$2 && shift 2; }
pattern=${1:-'@(kunit|ipoib-@(bringup|children|debugfs|ethtool|trace)|ats-@(kunit|own|tool|resolve))'}
out=$top/build/coverage
failed=0

# Shows lcov's output only if it fails, as Debian's lcov prints warnings about its own source.
lcov()
{
	command lcov --quiet --rc lcov_branch_coverage=1 "$@" \
		>"$out/lcov.log" 2>&1 && return
	cat "$out/lcov.log" >&2
	die "lcov: $*"
}

# unpack ARCHIVE FOLDER: unpacks the counters of one run, and adds the compiler's .gcno files.
unpack()
{
	local archive=$1 dir=$2 file

	mkdir -p "$dir"
	tar -x -C "$dir" -f "$archive"
	find "$dir" -name '*.gcda' -printf '%P\n' | while read -r file; do
		cp "/${file%.gcda}.gcno" "$dir/${file%.gcda}.gcno"
	done
}

# trace_of ARCHIVE: maps a run's counters to the source files. Modules are built in folders
# with links to these, and several modules may include the same file.
trace_of()
{
	local run work

	run=${1#"$out/runs/"}
	run=$(tr / . <<<"${run%/coverage.tar}")
	work=$(mktemp -d "$out/tmp.XXXXXX")
	unpack "$1" "$work"
	lcov --capture --directory "$work" --output-file "$work/all.info" \
		--test-name "${run//[!a-z0-9]/_}" --ignore-errors gcov,source
	sed -i -E -e "s|^SF:$top/build/[^/]*/(driver\|kunit)/|SF:$top/|" \
		-e "s|^SF:$top/build/[^/]*/(ats\|kunit-ats)/|SF:$top/ats/|" "$work/all.info"
	lcov --extract "$work/all.info" "$top/ipoib*.c" "$top/ats/ats*.c" \
		--output-file "$out/$run.info"
	rm -rf "$work"
}

merge()
{
	local trace traces=()

	for trace in "$out"/*.info; do
		traces+=(--add-tracefile "$trace")
	done
	lcov "${traces[@]}" --output-file "$out/coverage.trace"
}

"$qemu_dir/deps.sh" coverage
rm -rf "$out"
mkdir -p "$out"
"$qemu_dir/check.sh" --jobs "$jobs" --kernel debug --coverage \
	--results "$out/runs" "$pattern" || failed=1
found=0
for archive in "$out"/runs/*/coverage.tar "$out"/runs/*/[ab]/coverage.tar; do
	[ -s "$archive" ] || continue
	trace_of "$archive"
	found=$((found + 1))
done
[ "$found" -gt 0 ] || die "no run left any counters"
merge
genhtml --quiet --branch-coverage --prefix "$top" --output-directory "$out/html" \
	"$out/coverage.trace"
command lcov --rc lcov_branch_coverage=1 --list "$out/coverage.trace" |
	sed '/^Reading/d' | tee "$out/coverage.txt"
say "the lines: ${out#"$top"/}/html/index.html"
[ "$failed" -eq 0 ] || die "cases failed"
