#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Every static check of the tree. Each must be silent; whatever one of them
# says is shown, and the exit status is then 1.

. "$(dirname "$0")/qemu/common.sh"

names=() findings=0

# check NAME CMD...: begins a check, which passes when it prints nothing and succeeds.
check()
{
	local n=${#names[@]}

	names+=("$1")
	shift
	(
		status=0
		"$@" >"$work/$n.output" 2>&1 || status=$?
		echo "$status" >"$work/$n.status"
	) &
}

# report: what came of the checks that were begun, in that order.
report()
{
	local n status

	wait
	for n in "${!names[@]}"; do
		status=$(cat "$work/$n.status") || status=unknown
		if [ ! -s "$work/$n.output" ] && [ "$status" = 0 ]; then
			echo "ok    ${names[n]}"
			continue
		fi
		echo "FAIL  ${names[n]} (status $status)"
		cat "$work/$n.output"
		findings=$((findings + 1))
	done
	rm "$work"/*
	names=()
}

# files GLOB...: the tree's files by name, tracked or about to be.
files()
{
	git -C "$top" ls-files --cached --others --exclude-standard -- "$@" |
		sort -u | while read -r file; do
			[ ! -f "$top/$file" ] || echo "$file"
		done
}

scripts()
{
	local file

	files '*.sh' '*.bash-completion'
	files | while read -r file; do
		[[ $file != *.sh ]] || continue
		! head -n 1 "$top/$file" | grep -qE '^#!.*/(ba|da)?sh' ||
			echo "$file"
	done
}

# In a build folder of its own, so that everything is compiled again.
compiler_and_sparse()
{
	rm -rf "$top/build/lint"
	make -s -C "$top" BUILD="$top/build/lint" \
		KDIR="${KDIR:-/lib/modules/$release/build}" JOBS="$(nproc)" \
		W=1 C=2 CF=-D__CHECK_ENDIAN__ driver ats fabric probes tools test-tools
}

# The suites need a kernel with KUnit, of which there need be no more than headers.
compiler_and_sparse_of_suites()
{
	make -s -C "$top" BUILD="$top/build/lint" JOBS="$(nproc)" KDIR="$headers" \
		W=1 C=2 CF=-D__CHECK_ENDIAN__ kunit-objects
}

# checkpatch.pl with its word lists, and kernel-doc, out of Debian's kernel source.
prepare_scripts()
{
	local source=linux-source-6.1 version work

	version=$(dpkg-query -W -f '${Version}' "$source")
	scripts=$cache/scripts-$version
	[ ! -e "$scripts/complete" ] || return 0
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	tar -xJf "/usr/src/$source.tar.xz" -C "$work" --strip-components=2 \
		"$source"/scripts/{checkpatch.pl,spelling.txt,kernel-doc} \
		"$source/scripts/const_structs.checkpatch"
	touch "$work/complete"
	rm -rf "$scripts"
	mv "$work" "$scripts"
}

checkpatch()
{
	files '*.c' '*.h' | xargs -n 8 -P "$(nproc)" perl "$scripts/checkpatch.pl" \
		--strict --no-tree --no-summary --quiet --show-types --file
}

kernel_doc()
{
	files '*.c' '*.h' | xargs perl "$scripts/kernel-doc" -none
}

# Words that are none are what a test sends wrong, a kernel's message, and nftables' "iif".
# Neighbour Discovery is ND.
spelling()
{
	files '*' | xargs codespell -L nd,iif,sise,inflight
}

shell_scripts()
{
	scripts | xargs -n 8 -P "$(nproc)" shellcheck
}

manuals()
{
	files '*.8' | xargs -r mandoc -T lint -W warning
}

# What docutils finds wrong, as a table of which a cell is too wide
documentation()
{
	files 'Documentation/*.rst' | while read -r file; do
		rst2pseudoxml --report=warning --exit-status=warning "$file" /dev/null ||
			echo "$file: status $?"
	done
}

netlink_specs()
{
	local rules='{line-length: {max: 100}, document-start: disable}'

	files '*.yaml' | xargs yamllint -s -f parsable -d "{extends: default, rules: $rules}"
	files 'Documentation/netlink/specs/*.yaml' | while read -r file; do
		python3 tests/netlink_spec.py "$file" uapi
	done
}

licence_lines()
{
	local file tag

	files ':!LICENSES/*' ':!*.md' | while read -r file; do
		tag='SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause'
		# What programs include does not make them the kernel's; the kernel's ynl takes
		# specifications with that licence only
		[[ $file != @(uapi|Documentation/netlink)/* ]] ||
			tag='SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)'
		head -n 2 "$file" | grep -qF "$tag" || echo "$file: no $tag"
	done
}

long_files()
{
	files '*.c' '*.h' | xargs wc -l |
		awk '$2 != "total" && $1 > 900 { print $2 ": " $1 " lines" }'
}

# What every packet needs lies together: see tests/cache_lines.
cache_lines()
{
	local structure member line offset

	while read -r structure member line; do
		offset=$(pahole -C "$structure" \
			"$top/build/lint/$release/driver/ib_ipoib.ko" |
			sed -nE "s,^.*[ *]$member(\[[0-9]+\])?(;| __attr.*;) +/\* +([0-9]+) .*,\3,p")
		[ "$((${offset:--64} / 64))" -eq "$line" ] ||
			echo "$structure.$member is at ${offset:-no offset}," \
				"and belongs into cache line $line"
	done < <(grep -v '^#' tests/cache_lines)
}

# Differences between kernels belong in compat.h.
conditional_compilation()
{
	files '*.c' | xargs grep -nE '^[[:space:]]*#[[:space:]]*if' /dev/null ||
		[ $? -eq 123 ]
}

# "! COMMAND" is true of a tool that failed, too: cases have refute, must_fail and not.
negations()
{
	files 'tests/cases/*.sh' 'tests/qemu/guest/*' |
		xargs grep -nE '^[[:space:]]*! [^|]*(\|[^|]+)*$' /dev/null || [ $? -eq 123 ]
}

# A part of a device has one owner: see tests/parts.
parts()
{
	local members owners

	while IFS=$'\t' read -r members owners; do
		files ':(glob)*.c' | grep -vxFf <(tr ' ' '\n' <<<"$owners") |
			xargs grep -nE -- "$members" /dev/null |
			sed "s/\$/   (only for $owners)/" || [ $? -eq 123 ]
	done < <(grep -v '^#' tests/parts)
}

# objects FOLDER BUILT: what has been compiled there of the tree's folder
objects()
{
	files ":(glob)$1*.c" | sed -E "s,^$1(.*)\.c\$,$2/\1.o,"
}

# A mutant that cannot be made any more proves nothing.
mutants_apply()
{
	files 'tests/mutants/*.patch' | while read -r file; do
		git -C "$top" apply --check "$file" || echo "$file: status $?"
	done
}

# Files that call each other in a circle cannot be understood, or tested, one at a time.
call_circles()
{
	local built=$top/build/lint

	objects '' "$built/$release/driver" | xargs "$top/tests/call_graph.py" --circles
	objects ats/ "$built/$release/ats" | xargs "$top/tests/call_graph.py" --circles
	objects tools/ "$built/tools.obj" | xargs "$top/tests/call_graph.py" --circles
}

cd "$top"
"$qemu_dir/deps.sh" build lint debug
headers=$("$qemu_dir/kernel.sh" headers debug)
release=$("$qemu_dir/kernel.sh" release)
prepare_scripts

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The longest ones first
check "checkpatch --strict" checkpatch
check "compiler (W=1) and sparse (C=2)" compiler_and_sparse
check "kernel-doc" kernel_doc
check "spelling" spelling
check "shellcheck" shell_scripts
check "manuals" manuals
check "documentation" documentation
check "netlink specifications" netlink_specs
check "licence lines" licence_lines
check "at most 900 lines a file" long_files
check "no conditional compilation in .c files" conditional_compilation
check "no bare negations in cases" negations
check "mutants apply" mutants_apply
check "parts and their owners" parts
report
# Of what has been compiled, or into the same folder
check "compiler and sparse of the KUnit suites" compiler_and_sparse_of_suites
check "cache lines" cache_lines
check "no circles of calls" call_circles
report
[ "$findings" -eq 0 ] || die "$findings checks failed"
