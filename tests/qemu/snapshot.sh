# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what guest.sh sets
# Snapshots of guests that have booted and wait for their script, for guest.sh. Booting takes more
# of a processor than many cases do themselves. Sourced, never run.
#
# A folder of snapshots is for one set of modules and tools. The first guest of a kind makes the
# snapshot, and others of that kind wait for it. The kernel log of the boot becomes the beginning
# of each guest's log, so that every guest is also judged by that.
#
# A snapshot consists of the state of the devices and of a file that was the guest's memory. A guest
# that continues maps this file, and copies a page when it writes to it. If QEMU read the memory, it
# would clear all of it before, which takes longer than the rest of a short case.

# snapshot_fits: whether the guest differs from others of its kind in nothing but its script
# and that script's variables. Both of two guests are of one kind.
snapshot_fits()
{
	[ -n "$snapshots" ] && [ "$transcript$icount" = fileno ] && [ "$capture$coverage" = nono ] &&
		[ -z "${archives[*]}${extra[*]}" ]
}

# snapshot_prepare: sets $snapshot, and makes it if it does not exist.
snapshot_prepare()
{
	snapshot=$snapshots/$kernel-$root-$smp-$mem-$(hash_of - <<<"${link:+linked} $append")
	mkdir -p "$snapshots"
	(
		flock 9
		[ -e "$snapshot" ] || snapshot_make || {
			say "a guest ended before it could be saved, and another one is booted"
			snapshot_make
		}
	) 9>"$snapshot.lock" || die "cannot make a snapshot"
}

# snapshot_make: boots a guest, and saves it while it waits.
snapshot_make()
{
	local ended devices memory qemu

	make_initrd
	choose_devices null hubport,hubid=0
	# QEMU would keep what is in the file
	rm -f "$snapshot.memory" "$snapshot.new"
	map_memory on
	: >"$snapshot.log"
	# shellcheck disable=SC2094  # the answers are read by another process
	coproc timeout --foreground -k 5 "$limit" "${machine[@]}" \
		"${memory[@]}" \
		-kernel "$kernel_dir/vmlinux" -initrd "$run/initrd" -append "$(kernel_parameters)" \
		-chardev "file,id=console,path=$snapshot.log" \
		-chardev "file,id=transcript,path=$run/transcript.log" \
		-chardev "file,id=verdict,path=$run/verdict" \
		"${ports[@]}" "${devices[@]}" -qmp stdio 2>"$run/qemu.log" 9>&-
	# The shell unsets its own variable when QEMU has ended
	qemu=$COPROC_PID
	until [[ -e $run/verdict && $(<"$run/verdict") == *ready* ]]; do
		kill -0 "$qemu" || return
		sleep 0.1
	done
	qmp qmp_capabilities
	qmp migrate-set-capabilities "$without_memory"
	qmp migrate "\"uri\": \"exec:cat >'$snapshot.new'\""
	ended=$(grep -m 1 -oE '"status": "(completed|failed)"' <&"${COPROC[0]}")
	qmp quit
	wait "$qemu"
	rm "$run/initrd" "$run/verdict" "$run/transcript.log"
	[[ $ended == *completed* ]] && mv "$snapshot.new" "$snapshot"
}

# map_memory SHARED: sets $memory, the options for memory in the snapshot's file. What is written to
# it goes to the file only if SHARED is "on".
map_memory()
{
	memory=(-machine memory-backend=ram
		-object "memory-backend-file,id=ram,size=${mem}M,mem-path=$snapshot.memory,share=$1")
}

# The memory that is in a file is not part of the state. "events" reports how saving ends.
without_memory='"capabilities": [{"capability": "events", "state": true},
	{"capability": "x-ignore-shared", "state": true}]'

# snapshot_load: prints what QEMU has to be told to continue the snapshot.
snapshot_load()
{
	qmp_words qmp_capabilities
	qmp_words migrate-set-capabilities "$without_memory"
	qmp_words migrate-incoming "\"uri\": \"exec:cat '$snapshot'\""
}

# qmp COMMAND [ARGUMENTS]: tells it to the QEMU that is the coprocess.
qmp()
{
	qmp_words "$@" >&"${COPROC[1]}"
}

qmp_words()
{
	echo "{\"execute\": \"$1\", \"arguments\": {${2:-}}}"
}
