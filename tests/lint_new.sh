#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs a check of single files on those whose contents have not passed it yet, and remembers those
# that pass, which are those for which it succeeds without output. The result must depend on
# nothing but a file's name and contents, and the check's version.
#
# Usage: lint_new.sh CHECK VERSION CMD... <NAMES; CMD gets up to eight files at a time. The exit
# status is 0 if all pass.

. "$(dirname "$0")/qemu/common.sh"

check=$1 version=$2
shift 2
export passed
passed=$cache/lint/$check-$(hash_of <(echo "$version" "$@"))

# to_check: prints those that have not passed, each with the name of the file that would tell.
to_check()
{
	local sum name

	xargs -r sha256sum | while read -r sum name; do
		mark=$sum-${name//\//%}
		if [ -e "$passed/$mark" ]; then
			touch "$passed/$mark"
		else
			echo "$mark $name"
		fi
	done
}

# batch CMD... -- MARK NAME...
batch()
{
	local cmd=() marks=() names=() status=0 output

	while [ "$1" != -- ]; do
		cmd+=("$1")
		shift
	done
	shift
	while [ $# -gt 0 ]; do
		marks+=("$passed/$1")
		names+=("$2")
		shift 2
	done
	output=$("${cmd[@]}" "${names[@]}" 2>&1) || status=$?
	if [ "$status" -eq 0 ] && [ -z "$output" ]; then
		touch "${marks[@]}"
	else
		echo "$output"
		return 1
	fi
}
export -f batch

mkdir -p "$passed"
find "$passed" -type f -mtime +30 -delete
to_check | xargs -r -n 16 -P "$(nproc)" bash -c 'batch "$@"' batch "$@" --
