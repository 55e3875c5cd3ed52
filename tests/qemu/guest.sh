#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Boots a guest that runs one script, and judges the result.
#
# Usage: guest.sh [OPTION]... SCRIPT RUN-FOLDER [-- QEMU-ARGUMENT...]
#   --timeout S     ends the guest after S seconds (default 120)
#   --smp N         virtual CPUs (default 2)
#   --mem M         MiB of memory (default 1024)
#   --append TEXT   additional kernel parameters
#   --set NAME=VALUE   a variable for the script, without blanks; may be repeated
#   --snapshots DIR   continues a guest that has booted, from a snapshot in this folder, or
#                   makes one, if this guest is of the common kind: see snapshot.sh
#   --live          also shows the transcript on the terminal
#   --interactive   connects the transcript's port to the terminal
#   --capture       writes what crosses the fabric's cables to capture.erf
#   --coverage      writes the coverage of this project's modules to coverage.tar
#   --icount        one CPU on which an instruction takes a nanosecond of guest
#                   time, for counting instructions
#   --add CPIO      an archive with additional files for the guest's root
#   --root GROUP    the guest's programs: base (default) or others, see rootfs.sh
#   --kernel KIND   stock (default) or another, see kernel.sh
#   --modules DIR   folder with modules of this project; may be repeated
#   --peer-kernel KIND, --peer-modules DIR   these instead, if --role is b
#   --tools DIR     folder with programs of this project, for PATH; may be repeated
#   --role a|b      which of two guests this is, see pair.sh
#   --link F,W      file descriptors of sockets to the other guest, one for frames
#                   and one for words
#
# RUN-FOLDER receives console.log (of the kernel), transcript.log (of the
# script), qemu.log, result (see judge.sh) and capture.erf. Exit status 0 is a pass. A guest that ends
# before its script begins is started once more; console.first.log is the kernel's log until then.

. "$(dirname "$0")/common.sh"
. "$qemu_dir/machine.sh"
. "$qemu_dir/snapshot.sh"

limit=120 smp=2 mem=1024 append='' kernel=stock root=base transcript=file icount=no
peer_kernel='' peer_dirs=() module_dirs=() tool_dirs=() capture=no coverage=no archives=() role='' link=''
variables=() snapshots='' ports=(-device "isa-serial,chardev=console"
	-device "isa-serial,chardev=transcript" -device "isa-serial,chardev=verdict")

while [ $# -gt 0 ]; do
	case $1 in
	--timeout) limit=$2 && shift 2 ;;
	--smp) smp=$2 && shift 2 ;;
	--mem) mem=$2 && shift 2 ;;
	--append) append=$2 && shift 2 ;;
	--set) variables+=("$2") && shift 2 ;;
	--snapshots) snapshots=$2 && shift 2 ;;
	--kernel) kernel=$2 && shift 2 ;;
	--root) root=$2 && shift 2 ;;
	--modules) module_dirs+=("$2") && shift 2 ;;
	--peer-kernel) peer_kernel=$2 && shift 2 ;;
	--peer-modules) peer_dirs+=("$2") && shift 2 ;;
	--tools) tool_dirs+=("$2") && shift 2 ;;
	--capture) capture=yes variables+=(CAPTURE=1) && shift ;;
	--coverage) coverage=yes variables+=(COVERAGE=1) && shift ;;
	--icount) icount=yes smp=1 && shift ;;
	--role) role=$2 variables+=("ROLE=$2") && shift 2 ;;
	--link) link=$2 && shift 2 ;;
	--add) archives+=("$2") && shift 2 ;;
	--live) transcript=live && shift ;;
	--interactive) transcript=interactive && shift ;;
	-*) die "no such option: $1" ;;
	*) break ;;
	esac
done
[ $# -ge 2 ] || die "usage: guest.sh [OPTION]... SCRIPT RUN-FOLDER"
script=$1 run=$2
shift 2
[ "${1:-}" != -- ] || shift
extra=("$@")
# The ends of the link to the other guest
words=socket,fd=${link#*,} frames=stream,addr.type=fd,addr.str=${link%,*}
if [ "$role" = b ] && [ -n "$peer_kernel" ]; then
	kernel=$peer_kernel
	module_dirs=("${peer_dirs[@]}")
fi

chardev()
{
	local log=$run/transcript.log

	case $transcript in
	file) echo "file,id=transcript,path=$log" ;;
	live) echo "stdio,id=transcript,signal=on,logfile=$log" ;;
	interactive) echo "stdio,id=transcript,signal=off,logfile=$log" ;;
	esac
}

# choose_devices WORDS FRAMES: sets $devices, the devices besides the serial ports. Those of one of
# two guests have these backends. Without ROMs, as nothing is booted from the network.
choose_devices()
{
	devices=()
	[ "$capture$coverage$link" = nono ] ||
		devices+=(-device virtio-serial-pci)
	[ "$coverage" = no ] || devices+=(
		-chardev "file,id=coverage,path=$run/coverage.tar"
		-device "virtserialport,chardev=coverage,name=coverage")
	[ "$capture" = no ] || devices+=(
		-chardev "file,id=capture,path=$run/capture.erf"
		-device "virtserialport,chardev=capture,name=capture")
	[ -z "$link" ] || devices+=(
		-chardev "$1,id=pair"
		-device "virtserialport,chardev=pair,name=pair"
		-netdev "$2,id=trunk"
		-device "virtio-net-pci,netdev=trunk,rx_queue_size=1024,romfile=")
}

# continue_guest: continues a guest that has booted already. It asks for its script, since
# what is sent to its port before it runs would be lost.
continue_guest()
{
	local status=0 feeder devices memory

	choose_devices "$words" "$frames"
	map_memory off
	cp "$snapshot.log" "$run/console.log"
	: >"$run/verdict"
	ln -s verdict "$run/port.out"
	mkfifo "$run/port.in"
	feed_script &
	feeder=$!
	timeout --foreground -k 5 "$limit" "${machine[@]}" \
		"${memory[@]}" -incoming defer -qmp stdio \
		-chardev "file,id=console,path=$run/console.log,append=on" \
		-chardev "$(chardev)" \
		-chardev "pipe,id=verdict,path=$run/port" \
		"${ports[@]}" "${devices[@]}" <<<"$(snapshot_load)" >"$run/qmp.log" \
		2>"$run/qemu.log" || status=$?
	kill "$feeder" 2>/dev/null || :
	rm "$run"/port.*
	return "$status"
}

# feed_script: sends the script's variables and the script, when the guest is ready.
feed_script()
{
	until [[ $(<"$run/verdict") == *ready* ]]; do
		sleep 0.05
	done
	{
		echo "$(script_words) NOW=$(date +%s) SIZE=$(stat -c %s "$script")" \
			"ENTROPY=$(head -c 32 /dev/urandom | base64 -w 0)"
		cat "$script"
	} >"$run/port.in"
}

# script_words: prints the script's variables.
script_words()
{
	echo "SCRIPT=/cases/${script##*/} END=$(($(date +%s) + limit)) ${variables[*]}"
}

boot()
{
	local devices cmd

	make_initrd "$script"
	choose_devices "$words" "$frames"
	# The judge reads these, also if QEMU does not start
	: >"$run/console.log"
	: >"$run/verdict"
	cmd=("${machine[@]}" -kernel "$kernel_dir/vmlinux" -initrd "$run/initrd"
		-append "$(kernel_parameters) $(script_words)"
		-chardev "file,id=console,path=$run/console.log"
		-chardev "$(chardev)"
		-chardev "file,id=verdict,path=$run/verdict"
		"${ports[@]}" "${devices[@]}" "${extra[@]}")
	if [ "$transcript" = interactive ]; then
		"${cmd[@]}" 2>"$run/qemu.log"
	else
		timeout --foreground -k 5 "$limit" "${cmd[@]}" \
			</dev/null 2>"$run/qemu.log"
	fi
}

# run_guest: boots the guest or continues one that has booted, and sets $status to QEMU's.
run_guest()
{
	status=0
	if snapshot_fits; then
		snapshot_prepare
		continue_guest || status=$?
	else
		boot || status=$?
		rm -f "$run/initrd"
	fi
}

# ended_early: whether the guest ended by itself before its script began. The kernel patches its own
# code while it boots, and an emulated CPU that runs this code meanwhile may crash. Until the script
# begins, no module of this project is loaded.
ended_early()
{
	[ "$status" -ne 124 ] && [ "$status" -ne 137 ] &&
		! grep -aqs 'ib-ipoib: .* begins' "$run/console.log"
}

rm -rf "$run"
mkdir -p "$run"
run=$(cd "$run" && pwd)
kernel_dir=$("$qemu_dir/kernel.sh" dir "$kernel")
# Preparing it may upgrade the headers, and with them the kernel
[ -e "$kernel_dir/complete" ] || {
	"$qemu_dir/kernel.sh" prepare "$kernel"
	kernel_dir=$("$qemu_dir/kernel.sh" dir "$kernel")
}
make_machine
run_guest
if [ -z "$role" ] && ended_early; then
	say "${script##*/}: the guest ended before its script began, and is started once more"
	mv "$run/console.log" "$run/console.first.log"
	# The snapshot may be the cause. This guest boots, and the next one makes it anew
	rm -f "${snapshot:-}"
	snapshots=''
	run_guest
fi
echo "$status" >"$run/qemu.status"
exec "$qemu_dir/judge.sh" "$run" "$limit" "$script"
