#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs all static checks of the tree. Each must have no output; if one has, it is shown, and
# the exit status is 1.

. "$(dirname "$0")/qemu/common.sh"

names=() findings=0

# check NAME CMD...: starts a check. It passes if CMD succeeds without output.
check()
{
	local n=${#names[@]}

	names+=("$1")
	progress_event plan "lint: $1" 60 1
	progress_event begin "lint: $1"
	(
		status=0
		"${@:2}" >"$work/$n.output" 2>&1 || status=$?
		echo "$status" >"$work/$n.status"
		passed "$n" && verdict=pass || verdict=FAIL
		progress_event end "lint: $1" "$verdict"
	) &
}

# passed N: whether the check of this number has ended well.
passed()
{
	[ ! -s "$work/$1.output" ] && [ "$(cat "$work/$1.status")" = 0 ]
}

# report: shows the results of the checks that were started, in that order.
report()
{
	local n

	wait
	for n in "${!names[@]}"; do
		progress_aside show "$n"
		passed "$n" || findings=$((findings + 1))
	done
	rm "$work"/*
	names=()
}

# show N: shows the result of the check of this number.
show()
{
	if passed "$1"; then
		echo "ok    ${names[$1]}"
	else
		echo "FAIL  ${names[$1]} (status $(cat "$work/$1.status"))"
		cat "$work/$1.output"
	fi
}

# files GLOB...: prints the names of the tree's files that match, tracked or not yet added.
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

# compiled_key: prints a hash of all C sources and of what compiles and checks them.
compiled_key()
{
	{
		files '*.c' '*.h' '*Kbuild' '*.mk' Makefile tests/lint.sh tests/call_graph.py \
			tests/cache_lines 'tools/*.8' | xargs sha256sum &&
			dpkg-query -W gcc gcc-12 binutils sparse pahole linux-headers-amd64 \
				linux-kbuild-6.1 libc6-dev libmnl-dev libjson-c-dev &&
			echo "$release $headers ${CC:-} ${CPPFLAGS:-} ${CFLAGS:-} ${LDFLAGS:-}" \
				"${KCPPFLAGS:-} ${KCFLAGS:-} ${LLVM:-} ${CROSS_COMPILE:-}"
	} | hash_of -
}

# find_compiled: sets $compiled to the note that these sources have passed, and $passed_before if it
# exists. What is in another KDIR may change at any time.
find_compiled()
{
	local key

	key=$(compiled_key)
	compiled=$cache/lint/compiled-$key passed_before=
	[ -n "${KDIR:-}" ] || [ ! -e "$compiled" ] || passed_before=yes
}

# check_compiled NAME CMD...: like check, except that it knows the result if the sources are the same
# as those in which all such checks found nothing before.
check_compiled()
{
	[ -z "$passed_before" ] || set -- "$1" true
	check "$@"
}

# note_compiled: all of these checks have found nothing. If the sources have changed meanwhile, it is
# not known in which. The last twenty such notes are kept.
note_compiled()
{
	local key

	key=$(compiled_key)
	[ -z "${KDIR:-}" ] && [ "$compiled" = "$cache/lint/compiled-$key" ] || return 0
	touch "$compiled"
	find "$cache/lint" -maxdepth 1 -name 'compiled-*' -printf '%T@ %p\n' | sort -rn |
		sed '1,20d; s/^[^ ]* //' | xargs -r rm -f
}

# strict_make KDIR TARGET...: an object exists only if it was compiled without a warning, and
# sparse checks it again. What modpost and the tools' compiler warn of is not repeated, so what
# they made is removed before.
strict_make()
{
	make -k -s -C "$top" KDIR="$1" JOBS="$(nproc)" STRICT=1 C=2 CF=-D__CHECK_ENDIAN__ "${@:2}"
}

# Where make check builds for that kernel.
compile_strictly()
{
	rm -rf "$top"/build/{tools,tools.obj,test-tools} "$top/build/$release"/*/Module.symvers
	strict_make "${KDIR:-/lib/modules/$release/build}" \
		driver ats eth fabric probes tools test-tools
}

compiler_and_sparse()
{
	with_lock "$(build_lock)" compile_strictly
}

# In a folder of their own, and with debugging information for cache_lines. The suites only require
# the headers of a kernel with KUnit.
compiler_and_sparse_of_suites()
{
	strict_make "$headers" BUILD="$top/build/lint" KCFLAGS=-g kunit-objects
}

# checkpatch.pl with its word lists, and kernel-doc, from Debian's kernel source.
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
	files '*.c' '*.h' | tests/lint_new.sh checkpatch "$(basename "$scripts")" \
		perl "$scripts/checkpatch.pl" \
		--strict --no-tree --no-summary --quiet --show-types --file
}

kernel_doc()
{
	files '*.c' '*.h' | xargs perl "$scripts/kernel-doc" -none
}

# Exceptions: nd is Neighbour Discovery, the others are invalid test data, a kernel message,
# and nftables' "iif".
spelling()
{
	files '*' | xargs codespell -L nd,iif,sise,inflight,tha
}

shell_scripts()
{
	local sourced

	# The result for a script also depends on those that it sources
	sourced=$(scripts | grep -E '^tests/(cases/lib|qemu/|bench/common)' |
		xargs cat .shellcheckrc | sha256sum)
	scripts | tests/lint_new.sh shellcheck "$(shellcheck --version) $sourced" shellcheck
}

manuals()
{
	files '*.[48]' | xargs -r mandoc -T lint -W warning
}

# Whether the documents and manuals can be built, and say what the sources say
documents()
{
	tests/docs.sh
}

# The configuration files that the documentation recommends are those that cases use.
quoted_files()
{
	# shellcheck disable=SC2016  # for awk to expand
	files 'tests/cases/daemons-*.sh' | xargs awk '
		FNR == NR { text = text $0 "\n"; next }
		$0 == "CONF" {
			if (!index(text, quote))
				print FILENAME ":" begin ": differs from Documentation/conventions.rst"
			quoting = 0
		}
		quoting { quote = quote ($0 == "" ? "" : "    ") $0 "\n" }
		/<<.CONF.$/ { quoting = 1; quote = ""; begin = FNR }' Documentation/conventions.rst
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

	# The formats of these files do not allow such a line
	files ':!LICENSES/*' ':!*.md' ':!*.csv' ':!debian/changelog' ':!debian/copyright' \
		':!debian/source/format' ':!debian/*.dkms' | while read -r file; do
		tag='SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause'
		# Programs may include uapi headers without becoming GPL, and the kernel's ynl
		# only accepts specifications with this licence
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

# A Markdown table's row is a line, so these are limited, too.
wide_lines()
{
	files '*.md' 'Documentation/*.rst' | xargs awk '
		length > 120 { print FILENAME ":" FNR ": " length " columns" }'
}

# Members that every packet uses must be in the same cache lines: see tests/cache_lines.
cache_lines()
{
	local structure member line offset suite

	suite=$top/build/lint/$("$qemu_dir/kernel.sh" release debug)/kunit/kunit_rx.o
	while read -r structure member line; do
		offset=$(pahole -C "$structure" "$suite" |
			sed -nE "s,^.*[ *]$member(\[[0-9]+\])?(;| __attr.*;) +/\* +([0-9]+) .*,\3,p")
		[ "$((${offset:--64} / 64))" -eq "$line" ] ||
			echo "$structure.$member is at ${offset:-no offset}," \
				"and belongs into cache line $line"
	done < <(grep -v '^#' tests/cache_lines)
}

# Differences between kernel versions belong in compat.h.
conditional_compilation()
{
	files '*.c' | xargs grep -nE '^[[:space:]]*#[[:space:]]*if' /dev/null ||
		[ $? -eq 123 ]
}

# "! COMMAND" is also true if the tool failed, so cases use refute, must_fail and not.
negations()
{
	files 'tests/cases/*.sh' 'tests/qemu/guest/*' |
		xargs grep -nE '^[[:space:]]*! [^|]*(\|[^|]+)*$' /dev/null || [ $? -eq 123 ]
}

# All files that state a version state that of version.h.
versions()
{
	packaging/versions.sh
}

# Each part of struct ipoib_dev has files that own it: see tests/parts.
parts()
{
	local members owners

	while IFS=$'\t' read -r members owners; do
		files ':(glob)*.c' | grep -vxFf <(tr ' ' '\n' <<<"$owners") |
			xargs grep -nE -- "$members" /dev/null |
			sed "s/\$/   (only for $owners)/" || [ $? -eq 123 ]
	done < <(grep -v '^#' tests/parts)
}

# A mutant that does not apply any more tests nothing.
mutants_apply()
{
	files 'tests/mutants/*.patch' | while read -r file; do
		git -C "$top" apply --check "$file" || echo "$file: status $?"
	done
}

# objects_of_module FOLDER MODULE: prints the object files that the module is linked of.
objects_of_module()
{
	sed "s,.*/,$1/," "$1/$2.mod"
}

# Files with circular calls cannot be understood, or tested, one at a time.
call_circles()
{
	local built=$top/build tool

	objects_of_module "$built/$release/driver" ib_ipoib |
		xargs "$top/tests/call_graph.py" --circles
	objects_of_module "$built/$release/ats" ib_ats | xargs "$top/tests/call_graph.py" --circles
	objects_of_module "$built/$release/eth" eth_ipoib | xargs "$top/tests/call_graph.py" --circles
	files 'tools/*.8' | while read -r tool; do
		tool=$(basename "$tool" .8)
		find "$built/tools.obj" \( -name 'tool_*.o' -o -name "$tool.o" -o -name "${tool}_*.o" \) \
			-exec "$top/tests/call_graph.py" --circles {} +
	done
}

cd "$top"
work=$(mktemp -d)
trap 'progress_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
progress_start "$(nproc)"
progress_event steps 1
progress_event step "what the checks need"
"$qemu_dir/deps.sh" build lint debug docs
headers=$("$qemu_dir/kernel.sh" headers debug)
release=$("$qemu_dir/kernel.sh" release)
prepare_scripts
mkdir -p "$cache/lint"
find_compiled

# The longest checks first
check "checkpatch --strict" checkpatch
check_compiled "compiler (W=1) and sparse (C=2)" compiler_and_sparse
check "kernel-doc" kernel_doc
check "spelling" spelling
check "shellcheck" shell_scripts
check "manuals" manuals
check "documents" documents
check "quoted files" quoted_files
check "netlink specifications" netlink_specs
check "licence lines" licence_lines
check "versions" versions
check "at most 900 lines a file" long_files
check "at most 120 columns in documents" wide_lines
check "no conditional compilation in .c files" conditional_compilation
check "no bare negations in cases" negations
check "mutants apply" mutants_apply
check "parts and their owners" parts
report
# Checks of what was compiled above, or that would compete with the compiler
check_compiled "compiler and sparse of the KUnit suites" compiler_and_sparse_of_suites
report
check_compiled "cache lines" cache_lines
check_compiled "no circles of calls" call_circles
report
[ "$findings" -eq 0 ] || die "$findings checks failed"
note_compiled
