#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs cases, each in a guest of its own, and counts the results. The last line printed is
# "N passed, N failed", which determines the exit status.
#
# Usage: check.sh [--jobs N] [--cases DIR] [--results DIR] [--capture]
#                 [--coverage] [--kernel KIND] [--matrix] [--soak] [--seed N] [--seconds S]
#                 [--hosts N] [--suite PATTERN] [--profile NAME] [--snapshots DIR] [PATTERN]
# --kernel runs every case that runs in a guest on that kind of kernel, whatever its
# header says. --matrix runs all but those for the debug kernel on each of Debian's kernels,
# and prints a table of cases and kernels. --soak runs the longer forms of cases that have
# one, and the cases for several HCA profiles on each of these, as CASE+PROFILE. SEED=N and
# SECONDS=S are set for cases that are random, and each limit is S seconds longer; HOSTS=N is
# for the scale-* cases, SUITE=PATTERN selects KUnit suites and, after a dot, tests of them.
# PROFILE=NAME overrides the HCA profile in the header, unless the case chooses its own. With
# --snapshots, guests that have booted are kept in DIR, for further runs with the same modules.
#
# A case's first comment lines may set, as "# name: value":
#   timeout  seconds (default 120), if no more runs than CPUs are active at once
#   smp      virtual CPUs (default: 1; 2 for longer forms and on the debug kernel). Emulated CPUs
#            that run at once cost a third more, so in a check only cases in which something happens
#            at the same time have several.
#   mem      MiB (default 1024)
#   append   additional kernel parameters
#   icount   yes: one virtual CPU, on which an instruction takes a nanosecond of the
#            guest's time, so that figures do not depend on the machine
#   profiles the HCA profiles that it supports: it runs on the first, or with --soak
#            on each (default: what the case chooses itself)
#   runs     guest (default) or host: a bash script that runs on this machine, with
#            its run folder as the argument
#   guests   1 (default) or 2: the script runs in two guests at once that are joined
#            by a link, see lib-pair.sh. They count as one job, because one of them
#            waits for the other most of the time.
#   peer     of two guests, the kind of kernel of guest b, if it is another
#   kernel   the kinds of kernels that it runs on, see kernel.sh (default: stock; both:
#            stock and debug). On other kinds BRIEF=1 is set, unless --kernel, --matrix or
#            --soak is given. A run on another kind than stock is named CASE@KIND. On
#            the debug kernel the limit is $slowness times as long plus $boot_time, as
#            booting and looking for leaks take longer there.
#   without  the kinds of kernels that lack what the case is about: --matrix leaves them out
#   soak     the timeout of the case's longer form, if it has one, for which SOAK=1 is set
#   soak-kernel  the kinds of kernels that it runs on with --soak, if they are others
#   allow    a regex of lines in the kernel log that the case provokes, see judge.sh;
#            there may be more than one
#   when     check (default), or soak: without --soak it runs only if PATTERN names it
#   root     the guest's further programs, a group of rootfs.sh (default: none, and apps for cases
#            named apps-*, which also have those of selftests.sh)

. "$(dirname "$0")/common.sh"

jobs=$(($(nproc) * 2)) cases=$top/tests/cases results=$top/build/check
guest_options=() profile='' kernel='' slowness=4 boot_time=200 soak='' matrix='' coverage='' extra=0
words=() snapshots='' debian_kernels='stock 6.12 newest'
while [ $# -gt 0 ]; do
	case $1 in
	--jobs) jobs=$2 && shift 2 ;;
	--cases) cases=$2 && shift 2 ;;
	--capture) guest_options+=(--capture) && shift ;;
	--coverage) coverage=coverage guest_options+=(--coverage) && shift ;;
	--results) results=$2 && shift 2 ;;
	--kernel) kernel=$("$qemu_dir/kernel.sh" kind "$2") || exit && shift 2 ;;
	--matrix) matrix=yes && shift ;;
	--soak) soak=yes && shift ;;
	--seed) words+=("SEED=$2") && shift 2 ;;
	--seconds) extra=$2 && words+=("SECONDS=$2") && shift 2 ;;
	--hosts) words+=("HOSTS=$2") && shift 2 ;;
	--profile) profile=$2 && shift 2 ;;
	--snapshots) snapshots=$2 && shift 2 ;;
	--suite) words+=("SUITE=$2") && shift 2 ;;
	*) break ;;
	esac
done
pattern=${1:-*}
passed=0 failed=0
# How many runs share a CPU, and thus how many times as long each may take
crowd=$(((jobs + $(nproc) - 1) / $(nproc)))

# header CASE NAME DEFAULT. There are thousands of these calls, so no program is started.
header()
{
	local line value=''

	while read -r line && [[ $line == '#'* ]]; do
		[[ $line == "# $2:"* ]] || continue
		read -r value <<<"${line#"# $2:"}"
		break
	done <"$1"
	echo "${value:-$3}"
}

guests_of()
{
	header "$1" guests 1
}

# root_of SCRIPT: prints the group of programs in its guest's root file system.
root_of()
{
	local group=base

	[[ ${1##*/} != apps-* ]] || group=apps
	header "$1" root "$group"
}

# script_of RUN: prints the script. RUN is CASE, CASE@KIND, CASE+PROFILE or CASE@KIND+PROFILE.
script_of()
{
	echo "$cases/${1%%[@+]*}.sh"
}

kernel_of()
{
	local run=${1%%+*}

	[[ $run != *@* ]] && echo stock || echo "${run#*@}"
}

# profile_of RUN: prints the HCA profile, or nothing if the case chooses it itself.
profile_of()
{
	local profiles

	if [[ $1 == *+* ]]; then
		echo "${1#*+}"
	elif [ -n "$profile" ]; then
		echo "$profile"
	else
		profiles=$(header "$(script_of "$1")" profiles '')
		echo "${profiles%% *}"
	fi
}

# is_long RUN: whether this is the longer form of its case.
is_long()
{
	[ -n "$soak" ] && [[ $1 != *+* ]]
}

# is_brief KIND: whether a case leaves out what hardly depends on the kernel: on kernels other than
# stock and debug, unless they were chosen.
is_brief()
{
	[[ -z $kernel$matrix$soak && $1 != @(stock|debug) ]]
}

limit_of()
{
	local limit limits=timeout

	! is_long "$1" || limits=soak
	limit=$(header "$(script_of "$1")" "$limits" 120)
	[ "$(kernel_of "$1")" != debug ] || limit=$((limit * slowness + boot_time))
	echo $(((limit + extra) * crowd))
}

# cpus_of RUN: prints how many virtual CPUs its guest has.
cpus_of()
{
	local cpus=1

	[ "$(kernel_of "$1")" != debug ] && ! is_long "$1" || cpus=2
	header "$(script_of "$1")" smp "$cpus"
}

# kernels_of_matrix SCRIPT: prints all kinds but those that lack what the case is about, and that of
# guest b, if it has another kernel.
kernels_of_matrix()
{
	local peer without kind

	peer=$(header "$1" peer '')
	without=$(header "$1" without '')
	for kind in $debian_kernels; do
		[[ $kind == "$peer" || " $without " == *" $kind "* ]] || echo "$kind"
	done
}

# kernels_of SCRIPT: prints the kinds of kernels that it runs on.
kernels_of()
{
	local kinds

	kinds=$(header "$1" kernel stock)
	[ -z "$soak" ] || kinds=$(header "$1" soak-kernel "$kinds")
	kinds=${kinds/both/stock debug}
	if [ "$(header "$1" runs guest)" = guest ]; then
		[ -z "$kernel" ] || kinds=$kernel
		[ -z "$matrix" ] || [ "$kinds" = debug ] || kinds=$(kernels_of_matrix "$1")
	fi
	echo "$kinds"
}

run_on_host()
{
	local script=$1 run=$2 limit=$3 name=$5 status=0 own=()

	! is_long "$name" || own=(SOAK=1)
	mkdir -p "$run"
	env -u progress "${own[@]}" timeout --foreground -k 5 "$limit" \
		bash -eu -o pipefail "$script" "$run" \
		</dev/null >"$run/transcript.log" 2>&1 || status=$?
	[ "$status" -ne 0 ] || return 0
	echo "exit status $status (124 is its limit of $limit s)" \
		>"$run/result"
	return 1
}

# peer_options KIND: prints the options for guest b if it has another kernel, one per line.
peer_options()
{
	local built set

	[ -n "$1" ] || return 0
	built=$(cat "$state/modules.$1")
	printf '%s\n' --peer-kernel "$1"
	for set in driver fabric ats eth probes; do
		printf '%s\n' --peer-modules "$built/$set"
	done
}

run_on_guest()
{
	local script=$1 run=$2 limit=$3 kind=$4 name=$5 boots=guest.sh built suites=()
	local counted=() own=("PROFILE=$(profile_of "$5")") root others=() peer=() variable

	root=$(root_of "$script")
	[ "$root" != apps ] || others=(--tools "$(cat "$state/selftests")")
	[ "$(guests_of "$script")" -eq 1 ] || boots=pair.sh
	built=$(cat "$state/modules.$kind")
	[ "$kind" != debug ] ||
		suites=(--modules "$built/kunit" --modules "$built/kunit-ats"
			--modules "$built/kunit-eth")
	[ "$(header "$script" icount no)" = no ] || counted=(--icount)
	! is_long "$name" || own+=(SOAK=1)
	! is_brief "$kind" || own+=(BRIEF=1)
	for variable in "${own[@]}" "${words[@]}"; do
		others+=(--set "$variable")
	done
	[ -z "$snapshots" ] || others+=(--snapshots "$snapshots")
	mapfile -t peer < <(peer_options "$(header "$script" peer '')")
	"$qemu_dir/$boots" "${guest_options[@]}" \
		--kernel "$kind" --timeout "$limit" \
		--root "$root" \
		--smp "$(cpus_of "$name")" "${counted[@]}" \
		--mem "$(header "$script" mem 1024)" \
		--append "$(header "$script" append '')" \
		--modules "$built/driver" --modules "$built/fabric" \
		--modules "$built/ats" --modules "$built/eth" --modules "$built/probes" \
		--tools "$top/build/tools" --tools "$top/build/test-tools" \
		"${others[@]}" "${suites[@]}" "${peer[@]}" \
		"$script" "$run"
}

# Writes the verdict, the elapsed seconds and the CPU seconds to a file, which report prints.
run_case()
{
	local script run=$results/$1 begin=$SECONDS verdict=pass TIMEFORMAT='%U %S'

	script=$(script_of "$1")
	rm -rf "$run"
	mkdir -p "$run"
	{
		time "run_on_$(header "$script" runs guest)" "$script" "$run" "$(limit_of "$1")" \
			"$(kernel_of "$1")" "$1" 2>&3 || verdict=FAIL
	} 3>&2 2>"$state/$1.time"
	[ "$verdict" = pass ] || [ -e "$run/result" ] ||
		echo "the harness ended without a result" >"$run/result"
	printf '%s  %-32s %4d s, %4d of a processor\n' "$verdict" "$1" $((SECONDS - begin)) \
		"$(awk '{ printf "%d", $1 + $2 + 0.5 }' "$state/$1.time")" >"$state/$1.judged"
	mv "$state/$1.judged" "$state/$1.verdict"
}

# Shows the reasons, the transcript, and the kernel log since the script began.
show_failure()
{
	local run=$results/$1 folder

	sed 's/^/      /' "$run/result"
	for folder in "$run" "$run"/[ab]; do
		show_log "$folder/transcript.log" cat
		show_log "$folder/console.log" since_script
	done
	echo "----"
}

since_script()
{
	sed -n '/ib-ipoib: .* begins/,$p' "$1"
}

# show_log FILE FILTER: shows its end, if it exists.
show_log()
{
	[ -e "$1" ] || return 0
	echo "---- ${1#"$top"/}, its end ----"
	"$2" "$1" | tail -n 100 | tr -d '\r'
}

# Prints the runs that have ended since the last call.
report()
{
	local file name verdict

	for file in "$state"/*.verdict; do
		[ -e "$file" ] || continue
		name=${file##*/} name=${name%.verdict}
		verdict=$(cat "$file")
		rm "$file"
		progress_event end "$name" "${verdict%% *}"
		echo "$verdict"
		echo "$verdict" >>"$state/verdicts"
		case $verdict in
		pass*) passed=$((passed + 1)) ;;
		*)
			failed=$((failed + 1))
			show_failure "$name"
			;;
		esac
	done
}

stop()
{
	local job

	progress_stop
	for job in $(jobs -pr); do
		kill -- "-$job"
	done
	rm -rf "$state"
}

# kernels_needed RUN...: prints the kinds of kernels that these runs need.
kernels_needed()
{
	local name

	for name; do
		kernel_of "$name"
		header "$(script_of "$name")" peer ''
	done | sed '/^$/d' | sort -ru
}

# guests: prints the runs that are not on this machine.
guests()
{
	local name

	for name in "${names[@]}"; do
		[ "$(header "$(script_of "$name")" runs guest)" != guest ] || echo "$name"
	done
}

# roots_needed: prints the groups of programs that the runs need.
roots_needed()
{
	local name

	for name in "${names[@]}"; do
		root_of "$(script_of "$name")"
	done | sort -u
}

# Prepares kernels, modules and root file systems. If this fails, all cases fail. A case that runs on
# this machine builds what it needs itself.
prepare()
{
	local kind kinds root roots

	# shellcheck disable=SC2046  # words
	kinds=$(kernels_needed $(guests)) roots=$(roots_needed)
	progress_event steps $((1 + $(wc -w <<<"$roots") + 2 * $(wc -w <<<"$kinds")))
	progress_event step "Debian packages"
	# shellcheck disable=SC2046  # words
	"$qemu_dir/deps.sh" build guest $(kernels_needed "${names[@]}") || return
	for root in $roots; do
		progress_event step "programs for guests ($root)"
		"$qemu_dir/rootfs.sh" "$root" >"$state/rootfs" || return
		[ "$root" != apps ] || prepare_others || return
	done
	for kind in $kinds; do
		progress_event step "kernel $kind"
		"$qemu_dir/kernel.sh" prepare "$kind" &&
			progress_event step "modules for kernel $kind" &&
			"$qemu_dir/build.sh" "$kind" ${coverage:+"$coverage"} >"$state/modules.$kind" ||
			return
	done
}

# Builds what guests of apps-* cases need besides Debian's packages.
prepare_others()
{
	"$qemu_dir/deps.sh" selftests && "$qemu_dir/selftests.sh" >"$state/selftests"
}

# weight_of RUN: prints how many of the concurrent guests it counts as, by default. A guest with the
# debug kernel is rarely idle, and its virtual CPUs spin while they wait for each other if there are
# not CPUs for both.
weight_of()
{
	local weight=1

	[ "$(kernel_of "$1")" != debug ] || weight=2
	header "$(script_of "$1")" weight "$weight"
}

# Waits for one run, and kills processes that it has left.
finish_one()
{
	local job

	wait -n -p job
	load=$((load - ${loads[$job]}))
	! kill -- "-$job" 2>/dev/null || say "(it left processes behind)"
	progress_aside report
}

# start_one: starts the first remaining run that fits; fails if none does.
start_one()
{
	local index name

	for index in "${!left[@]}"; do
		name=${left[index]}
		[ "$load" -eq 0 ] || [ $((load + ${weights[$name]})) -le "$jobs" ] || continue
		progress_event begin "$name"
		run_case "$name" &
		loads[$!]=${weights[$name]}
		load=$((load + ${weights[$name]}))
		unset "left[$index]"
		return
	done
	return 1
}

run_all()
{
	local name load=0 left=("${names[@]}")
	declare -A weights
	declare -a loads

	for name in "${names[@]}"; do
		weights[$name]=$(weight_of "$name")
		progress_event plan "$name" "$(limit_of "$name")" "${weights[$name]}"
	done
	while [ "$load" -gt 0 ] || [ ${#left[@]} -gt 0 ]; do
		start_one || finish_one
	done
}

# boot_seconds: prints how long each boot took until the script began, or until the guest waited
# for one and became a snapshot.
boot_seconds()
{
	local name waits='ib-ipoib: the guest waits'

	{
		for name in "${names[@]}"; do
			grep -L "$waits" "$results/$name"/{,a/,b/}console.log 2>/dev/null || :
		done | xargs -r cat
		[ -z "$snapshots" ] || find "$snapshots" -name '*.log' -exec cat {} +
	} | sed -nE "s/^\[ *([0-9]*\.[0-9]*)\] ($waits|ib-ipoib: .* begins).*/\1/p"
}

# said_last LOG: prints each failure of a case with its step, and the end of the log.
said_last()
{
	sed -n '/^==> /h; /^FAILED: /{x; p; x; p}' "$1" | awk 'NR <= 10'
	tail -n 4 "$1"
}

# A short summary of each failed case, at the end, because CI truncates the beginning of a
# long log.
failures()
{
	local verdict name log

	sed '/^pass/d' "$state/verdicts" | while read -r verdict name _; do
		echo "$verdict  $name"
		head -n 5 "$results/$name/result" | sed 's/^/      /'
		for log in "$results/$name"/{,a/,b/}transcript.log; do
			[ ! -e "$log" ] || said_last "$log" | tr -d '\r' | cut -c 1-160 | sed 's/^/    | /'
		done
	done
}

# If there was more than one run, shows the slowest ones, and the failures.
summary()
{
	[ ${#names[@]} -gt 1 ] || return 0
	echo "the slowest:"
	sort -k 3nr -s "$state/verdicts" | sed -n '1,10s/^[^ ]* */    /p'
	echo "those that took most of a processor:"
	sort -k 5nr -s "$state/verdicts" | sed -n '1,10s/^[^ ]* */    /p'
	awk '{ s += $3; p += $5 } END { printf "all: %d s, %d of a processor\n", s, p }' \
		"$state/verdicts"
	boot_seconds | awk '{ n++; s += $1 }
		END { printf "boots: %d, %d s in all\n", n, s }'
	failures
}

# Prints a row for each case, and a column for each kernel, of what a matrix found.
kernel_table()
{
	[ -n "$matrix" ] || return 0
	awk -v kinds="$debian_kernels" '
		{
			split($2, run, "@")
			kind = run[2] == "" ? "stock" : run[2]
			if (!(run[1] in known)) {
				known[run[1]] = 1
				cases[++n] = run[1]
			}
			verdict[run[1], kind] = $1 " " $3 " s"
		}
		END {
			columns = split(kinds, column, " ")
			printf "%-28s", "case"
			for (j = 1; j <= columns; j++)
				printf "%14s", column[j]
			print ""
			for (i = 1; i <= n; i++) {
				printf "%-28s", cases[i]
				for (j = 1; j <= columns; j++)
					printf "%14s", verdict[cases[i], column[j]]
				print ""
			}
		}' <(sort -k 2 "$state/verdicts")
}

# runs_of SCRIPT: prints the runs of a case. A check has one for each kernel; a soak has one
# for each kernel if there is a longer form, and one for each profile.
runs_of()
{
	local script=$1 kind run profile

	for kind in $(kernels_of "$script"); do
		run=${script##*/} run=${run%.sh}
		[ "$kind" = stock ] || run+=@$kind
		if [ -z "$soak" ] || [ -n "$(header "$script" soak '')" ]; then
			echo "$run"
		fi
		[ -n "$soak" ] || continue
		for profile in $(header "$script" profiles ''); do
			echo "$run+$profile"
		done
	done
}

# Prints the runs that match the pattern. Those that count as several guests come first, since later
# there is never room for one while others that count as one are left; then those with the longest
# limits, because a long run at the end would leave other CPUs idle.
select_cases()
{
	local script name

	for script in "$cases"/*.sh; do
		name=${script##*/} name=${name%.sh}
		# shellcheck disable=SC2053  # a pattern, not a text
		if [[ $name == lib* || $name != $pattern ]]; then
			continue
		fi
		[ "$soak$pattern" != '*' ] ||
			[ "$(header "$script" when check)" = check ] || continue
		runs_of "$script"
	done | while read -r name; do
		echo "$(weight_of "$name") $(limit_of "$name") $name"
	done | sort -k1,1nr -k2,2nr -s | cut -d ' ' -f 3
}

mapfile -t names < <(select_cases)
mkdir -p "$results"
state=$(mktemp -d)
[ -n "$snapshots" ] || [ ${#names[@]} -le 2 ] || snapshots=$state/snapshots
[ -z "$snapshots" ] || mkdir -p "$snapshots"
trap stop EXIT
trap 'exit 1' INT TERM
[ -z "$soak" ] || progress_times+=.soak
progress_start "$jobs"
# Each job has a process group, so that its guests end with this script.
set -m
if [ ${#names[@]} -eq 0 ]; then
	echo "no case is named $pattern"
elif prepare; then
	run_all
	progress_stop
	summary
	kernel_table
else
	progress_stop
	echo "the preparation failed"
	failed=${#names[@]}
fi
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
