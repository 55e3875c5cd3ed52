#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Breaks the driver in one way at a time, and runs the test that must notice it.
#
# Usage: mutants.sh [--jobs N] [--sample N] [--owed] [PATTERN]
#        mutants.sh --keep: copies the last run's results to results.csv, for Documentation/testing.rst
#
# Each NAME.patch beside this script is a mutant. Its first lines are
#   Breaks: what the mutant does wrong
#   Noticed-by: kunit SUITE, or case CASE[@debug]
#   Survives: why that test does not notice it, if it does not
# The tests must first pass without mutants. Then a line is printed for each mutant: "noticed",
# with the test that failed or the kernel's message; "survived"; or "broken", if it does not
# apply or compile. --sample N tries N of them, which differ from day to day; --owed those that
# have no result in results.csv, or whose patch has changed since. The last line is "N noticed,
# N not", which determines the exit status; the logs are in build/mutants.

. "$(dirname "$0")/../qemu/common.sh"

dir=$top/tests/mutants out=$top/build/mutants
export MODULES_UNCACHED=yes
kept=$dir/results.csv
jobs=$(nproc) sample='' owed='' keep=''
while [ $# -gt 0 ]; do
	case $1 in
	--jobs) jobs=$2 && shift 2 ;;
	--sample) sample=$2 && shift 2 ;;
	--owed) owed=yes && shift ;;
	--keep) keep=yes && shift ;;
	*) break ;;
	esac
done
pattern=${1:-*}

# field MUTANT NAME: prints a field of its header.
field()
{
	sed -n "s/^$2: *//p; /^diff /q" "$dir/$1.patch"
}

# form MUTANT: prints a checksum of what it changes, without the context.
form()
{
	sed -n '/^@@ /,$p' "$dir/$1.patch" | grep '^[-+]' | sha1sum | cut -c 1-8
}

# is_owed MUTANT: succeeds if no result of its present form is kept.
is_owed()
{
	! grep -qE "^$1\|.*\|$(form "$1")$" "$kept"
}

# Prints the requested mutants. A sample is a sequence of mutants that begins at a place which
# depends on the day.
select_mutants()
{
	local names=() name day count

	for name in "$dir"/*.patch; do
		name=$(basename "$name" .patch)
		# shellcheck disable=SC2053  # a pattern, not a text
		[[ $name == $pattern ]] || continue
		[ -z "$owed" ] || is_owed "$name" || continue
		names+=("$name")
	done
	count=${#names[@]}
	[ "$count" -gt 0 ] || die "no mutant is named $pattern"
	if [ -z "$sample" ]; then
		printf '%s\n' "${names[@]}"
		return
	fi
	day=$(($(date +%s) / 86400))
	for ((k = 0; k < sample && k < count; k++)); do
		echo "${names[(day * sample + k) % count]}"
	done
}

# ---- Trees for the mutants ----

# tree_prepare TREE: copies this tree there. Only files that differ are copied, so that only
# these are built again.
tree_prepare()
{
	local tree=$1 file files

	files=$(git -C "$top" ls-files)
	if [ -e "$tree.files" ] && [ "$files" != "$(cat "$tree.files")" ]; then
		rm -rf "$tree"
	fi
	mkdir -p "$tree"
	while read -r file; do
		! cmp -s "$top/$file" "$tree/$file" || continue
		mkdir -p "$(dirname "$tree/$file")"
		cp "$top/$file" "$tree/$file"
	done <<<"$files"
	echo "$files" >"$tree.files"
}

# files_of MUTANT: prints the files that it changes.
files_of()
{
	sed -n 's|^+++ b/||p' "$dir/$1.patch"
}

mend()
{
	local file

	for file in $(files_of "$2"); do
		cp "$top/$file" "$1/$file"
	done
}

# ---- Tests ----

# check TREE LOG GUESTS PATTERN [WORDS]
check()
{
	local tree=$1 log=$2 guests=$3 cases=$4

	shift 4
	timeout 1800 make -C "$tree" check T="$cases" JOBS="$guests" "$@" >"$log" 2>&1
}

# case_of_suite SUITE: prints the case that runs it, which is that of its module.
case_of_suite()
{
	case $1 in
	ats_*) echo ats-kunit ;;
	eipoib_*) echo eipoib-kunit ;;
	*) echo kunit ;;
	esac
}

# judge TREE LOG SUITE|CASE: runs the test.
judge()
{
	local tree=$1 log=$2 kind=$3 name=$4 kernel=stock

	case $kind in
	kunit) check "$tree" "$log" 1 "$(case_of_suite "$name")" SUITE="$name" ;;
	case)
		[[ $name != *@debug ]] || kernel=debug
		check "$tree" "$log" 1 "${name%@debug}" KERNEL="$kernel"
		;;
	*) die "unknown kind of test: $kind" ;;
	esac
}

# why LOG: prints the first KUnit test that failed, else the kernel's message, the case's
# failure, or the first reason from the runner.
why()
{
	tr -d '\r' <"$1" | sed -n -E \
		-e 's/.*\] *not ok [0-9]* ([a-z0-9_]*)$/1 \1/p' \
		-e 's/^ *kernel log: \[[^]]*\] ((BUG|WARNING).*|DMA-API: leaked).*/2 \1/p' \
		-e 's/^FAILED: /3 /p' \
		-e '/^FAIL /{n;s/^ */4 /p}' |
		sort -s -n -k 1,1 | sed -E -e 's/^. //; s/( CPU:| at \/| in [^ ]*\+0x|: PING|: PID).*//; q' | cut -c 1-80
}

# All tests must pass without a mutant, or their failure proves nothing.
baseline()
{
	local name kind what stock='' debug=''

	for name in "${names[@]}"; do
		read -r kind what < <(field "$name" Noticed-by)
		case $kind in
		kunit)
			grep -q "\.name = \"$what\"" "$top"/tests/kunit/*/*.c ||
				die "$name: there is no suite $what"
			debug+="|$(case_of_suite "$what")"
			;;
		case)
			[ -e "$top/tests/cases/${what%@debug}.sh" ] ||
				die "$name: there is no case $what"
			case $what in
			*@debug) debug+="|${what%@debug}" ;;
			*) stock+="|$what" ;;
			esac
			;;
		*) die "$name: noticed by nobody" ;;
		esac
	done
	[ -z "$stock" ] || baseline_of "@(${stock#|})" KERNEL=stock
	[ -z "$debug" ] || baseline_of "@(${debug#|})" KERNEL=debug
}

# baseline_of PATTERN WORDS
baseline_of()
{
	say "without mutants: $*"
	check "$out/tree.0" "$out/baseline.log" "$jobs" "$@" ||
		{ cat "$out/baseline.log" && die "no mutant was tried: a test fails without one"; }
}

# ---- One mutant ----

# What the runner says about a case if neither the case nor the kernel has failed.
no_result="^ *(the harness ended without a result|qemu's exit status is )"

# try TREE MUTANT: prints its line; succeeds if it was noticed, or survived as expected.
try()
{
	local tree=$1 name=$2 log=$out/$2.log begin=$SECONDS kind what verdict note

	read -r kind what < <(field "$name" Noticed-by)
	verdict=broken note='the patch does not apply'
	if patch -p1 -F0 -s -d "$tree" <"$dir/$name.patch" >"$log" 2>&1; then
		if judge "$tree" "$log" "$kind" "$what"; then
			verdict=survived note=$(field "$name" Survives)
		elif grep -qE "$no_result" "$log"; then
			note='the harness failed'
		elif grep -q '^FAIL ' "$log"; then
			verdict=noticed note=$(why "$log")
		else
			note='it does not compile'
		fi
	fi
	find "$tree" -maxdepth 1 -name '*.orig' -delete -o -name '*.rej' -delete
	mend "$tree" "$name"
	printf '%-9s %-28s %4d s  %s: %s\n' "$verdict" "$name" $((SECONDS - begin)) "$what" "$note"
	echo "$verdict|$name|$what|$note" >>"$out/results"
	[ "$verdict" = noticed ] || [ "$verdict:${note:+explained}" = survived:explained ]
}

# worker NUMBER: tries every mutant whose index is NUMBER modulo the number of workers.
worker()
{
	local k tree=$out/tree.$1

	for ((k = $1; k < ${#names[@]}; k += jobs)); do
		try "$tree" "${names[k]}" || echo "${names[k]}" >>"$out/not"
	done
}

# Prints the results of the last run, and the kept ones of other mutants.
results_merged()
{
	local verdict name what note

	while IFS='|' read -r verdict name what note; do
		[ "$verdict" = noticed ] || note="$verdict: $note"
		echo "$name|$(field "$name" Breaks)|\`\`$what\`\`: $note|$(form "$name")"
	done <"$out/results"
	while IFS='|' read -r name note; do
		[ ! -e "$dir/$name.patch" ] || grep -q "^[a-z]*|$name|" "$out/results" ||
			echo "$name|$note"
	done <"$kept"
}

results_keep()
{
	results_merged | LC_ALL=C sort >"$kept.new"
	mv "$kept.new" "$kept"
}

if [ -n "$keep" ]; then
	results_keep
	exit
fi
mapfile -t names < <(select_mutants)
[ ${#names[@]} -gt 0 ] || exit 1
mkdir -p "$out"
rm -f "$out"/*.log "$out/not"
: >"$out/results"
for ((worker = 0; worker < jobs; worker++)); do
	tree_prepare "$out/tree.$worker"
done
baseline
for ((worker = 0; worker < jobs; worker++)); do
	worker "$worker" &
done
wait
[ "$(wc -l <"$out/results")" -eq ${#names[@]} ] || die "not every mutant was tried"
touch "$out/not"
missed=$(wc -l <"$out/not")
echo "$((${#names[@]} - missed)) noticed, $missed not"
[ "$missed" -eq 0 ]
