# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# For what measures in guests whose instructions are counted: archives with more files
# for them. Sourced; $run is the measurement's own folder.

. "$(dirname "${BASH_SOURCE[0]}")/../qemu/common.sh"

# shellcheck disable=SC2034  # for those who source it
bench_dir=$top/tests/bench

# archive NAME TREE: for guest.sh's --add, $run/NAME.cpio; the tree goes.
# shellcheck disable=SC2154  # the folder of who sources this
archive()
{
	(cd "$2" && find . -mindepth 1 -print0 |
		cpio --quiet --null -o -H newc -R 0:0) >"$run/$1.cpio"
	rm -rf "$2"
}

# perf and the libraries that it needs, out of the host's packages. The guest's
# own libraries, of the same Debian, are not replaced: its archive comes first
# and holds the same files.
perf_archive()
{
	local tree=$run/tree file

	mkdir -p "$tree/usr/bin" "$tree/perf"
	cp /usr/bin/perf "$tree/usr/bin/"
	ldd /usr/bin/perf | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' >"$run/libraries"
	[ -s "$run/libraries" ] || die "perf needs no library?"
	while read -r file; do
		cp "$file" "$tree/perf/"
	done <"$run/libraries"
	archive perf "$tree"
}
