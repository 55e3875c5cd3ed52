# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# For measurements in guests whose instructions are counted: archives with additional files
# for the guests. Sourced; $run is the folder of the measurement.

. "$(dirname "${BASH_SOURCE[0]}")/../qemu/common.sh"

# shellcheck disable=SC2034  # for those who source it
bench_dir=$top/tests/bench

# archive NAME TREE: packs TREE into $run/NAME.cpio, for guest.sh's --add, and removes it.
# shellcheck disable=SC2154  # the folder of who sources this
archive()
{
	(cd "$2" && find . -mindepth 1 -print0 |
		cpio --quiet --null -o -H newc -R 0:0) >"$run/$1.cpio"
	rm -rf "$2"
}

# perf and the libraries that it needs, from the host's packages. The guest's own libraries,
# of the same Debian release, are not replaced: perf uses those in its own folder.
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
