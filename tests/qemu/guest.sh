#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Boots a guest that runs one script, and judges the result.
#
# Usage: guest.sh [OPTION]... SCRIPT RUN-FOLDER [-- QEMU-ARGUMENT...]
#   --timeout S     ends the guest after S seconds (default 120)
#   --smp N         virtual CPUs (default 2)
#   --mem M         MiB of memory (default 1024)
#   --append TEXT   additional kernel parameters
#   --live          also shows the transcript on the terminal
#   --interactive   connects the transcript's port to the terminal
#   --capture       writes what crosses the fabric's cables to capture.erf
#   --coverage      writes the coverage of this project's modules to coverage.tar
#   --icount        one CPU on which an instruction takes a nanosecond of guest
#                   time, for counting instructions
#   --add CPIO      an archive with additional files for the guest's root
#   --root GROUP    the guest's programs: base (default) or apps, see rootfs.sh
#   --kernel KIND   stock (default) or another, see kernel.sh
#   --modules DIR   folder with modules of this project; may be repeated
#   --peer-kernel KIND, --peer-modules DIR   these instead, if --role is b
#   --tools DIR     folder with programs of this project, for PATH; may be repeated
#   --role a|b      which of two guests this is, see pair.sh
#   --link F,W      file descriptors of sockets to the other guest, one for frames
#                   and one for words
#
# RUN-FOLDER receives console.log (of the kernel), transcript.log (of the
# script), qemu.log, result (see judge.sh) and capture.erf. Exit status 0 is a pass.

. "$(dirname "$0")/common.sh"

limit=120 smp=2 mem=1024 append='' kernel=stock root=base transcript=file icount=no
peer_kernel='' peer_dirs=() module_dirs=() tool_dirs=() capture=() coverage=() archives=() role='' link=''

while [ $# -gt 0 ]; do
	case $1 in
	--timeout) limit=$2 && shift 2 ;;
	--smp) smp=$2 && shift 2 ;;
	--mem) mem=$2 && shift 2 ;;
	--append) append=$2 && shift 2 ;;
	--kernel) kernel=$2 && shift 2 ;;
	--root) root=$2 && shift 2 ;;
	--modules) module_dirs+=("$2") && shift 2 ;;
	--peer-kernel) peer_kernel=$2 && shift 2 ;;
	--peer-modules) peer_dirs+=("$2") && shift 2 ;;
	--tools) tool_dirs+=("$2") && shift 2 ;;
	--capture) capture=(CAPTURE=1) && shift ;;
	--coverage) coverage=(COVERAGE=1) && shift ;;
	--icount) icount=yes smp=1 && shift ;;
	--role) role=$2 && shift 2 ;;
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
if [ "$role" = b ] && [ -n "$peer_kernel" ]; then
	kernel=$peer_kernel
	module_dirs=("${peer_dirs[@]}")
fi

# Guests hang if /dev/kvm can be opened on a CPU without the virtualization flags. Without
# KVM, the emulated CPU must not offer ERMS: the kernel would copy by `rep movsb`, which QEMU
# interprets byte by byte, several times slower.
accelerator()
{
	if [ "$icount" = yes ]; then
		echo -accel tcg,thread=single -icount shift=0,sleep=off \
			-cpu qemu64
	elif grep -qwE 'vmx|svm' /proc/cpuinfo && : 2>/dev/null <>/dev/kvm; then
		echo -accel kvm -cpu host
	else
		echo -accel tcg,thread=multi -cpu qemu64
	fi
}

# Prints the frequency of the host's time stamp counter in kHz.
tsc_khz()
{
	local program

	program=$cache/tsc_khz-$(hash_of "$qemu_dir/tsc_khz.c")
	[ -x "$program" ] || {
		gcc -O2 -o "$program.$$" "$qemu_dir/tsc_khz.c"
		mv "$program.$$" "$program"
	}
	"$program"
}

# Makes the initrd with init, the libraries, the script, our modules and tools. Debug sections
# of modules are stripped: they are four fifths of the size, and take each guest a second to
# unpack.
make_initrd()
{
	local tree=$run/tree roots dir module

	mkdir -p "$tree/cases" "$tree/modules"
	install -m 755 "$qemu_dir/guest/init" "$tree/init"
	cp "$qemu_dir/guest/pair.sh" "$qemu_dir/guest/debug.sh" \
		"$qemu_dir/guest/coverage.sh" "$tree/"
	cp "$top"/tests/cases/lib*.sh "$script" "$tree/cases/"
	for dir in "${module_dirs[@]}"; do
		for module in "$dir"/*.ko; do
			strip --strip-debug -o "$tree/modules/${module##*/}" "$module"
		done
	done
	for dir in "${tool_dirs[@]}"; do
		install -D -t "$tree/usr/sbin" "$dir"/*
	done
	(cd "$tree" && find . -mindepth 1 -print0 |
		cpio --quiet --null -o -H newc -R 0:0) >"$run/own.cpio"
	mapfile -t roots < <("$qemu_dir/rootfs.sh" "$root")
	cat "${roots[@]}" "$kernel_dir/modules.cpio" "$run/own.cpio" \
		"${archives[@]}" >"$run/initrd"
	rm -rf "$tree" "$run/own.cpio"
}

chardev()
{
	local log=$run/transcript.log

	case $transcript in
	file) echo "file,id=transcript,path=$log" ;;
	live) echo "stdio,id=transcript,signal=on,logfile=$log" ;;
	interactive) echo "stdio,id=transcript,signal=off,logfile=$log" ;;
	esac
}

# Sets $devices: the devices besides the serial ports. Without ROMs, as nothing is booted from
# the network.
choose_devices()
{
	devices=()
	[ -z "$link" ] && [ $((${#capture[@]} + ${#coverage[@]})) -eq 0 ] ||
		devices+=(-device virtio-serial-pci)
	[ ${#coverage[@]} -eq 0 ] || devices+=(
		-chardev "file,id=coverage,path=$run/coverage.tar"
		-device "virtserialport,chardev=coverage,name=coverage")
	[ ${#capture[@]} -eq 0 ] || devices+=(
		-chardev "file,id=capture,path=$run/capture.erf"
		-device "virtserialport,chardev=capture,name=capture")
	[ -z "$link" ] || devices+=(
		-chardev "socket,id=pair,fd=${link#*,}"
		-device "virtserialport,chardev=pair,name=pair"
		-netdev "stream,id=trunk,addr.type=fd,addr.str=${link%,*}"
		-device "virtio-net-pci,netdev=trunk,mac=52:54:00:00:00:0$role,rx_queue_size=1024,romfile=")
}

boot()
{
	local words="console=ttyS0 loglevel=8 panic=-1 oops=panic slab_nomerge"
	local accel cmd devices

	# On a busy host the kernel may find that its timer does not tick. Self-tests of
	# ciphers are not needed.
	words+=" no_timer_check cryptomgr.notests"
	# Mitigations are not needed here. All emulated CPUs have the host's time stamp
	# counter, so it can be the clock. QEMU translates code only once if it is at the same
	# address in all processes. On a busy host the kernel's measurement of the counter's
	# frequency may be wrong by a factor of three, so it gets the frequency.
	[ "$icount" = yes ] ||
		words+=" mitigations=off tsc=reliable tsc_early_khz=$(tsc_khz) norandmaps"
	# While booting, the kernel patches the code of its scheduler's clock. A second CPU
	# that is online by then may hang at the patched code, so init brings it online
	words+=" maxcpus=1"
	[ "$kernel" != debug ] || words+=" kunit.enable=1"
	# All DMA uses bounce buffers: so data written by a device are not in the mapped
	# memory until it is synced or unmapped, and vice versa. They take an eighth of the
	# memory, in slots of 2 KiB
	words+=" swiotlb=$((mem * 64)),force"
	words+=" ${capture[*]} ${coverage[*]}"
	[ -z "$role" ] || words+=" ROLE=$role"
	choose_devices
	read -ra accel < <(accelerator)
	cmd=(qemu-system-x86_64 -M q35 "${accel[@]}"
		-smp "$smp" -m "$mem" -nodefaults -display none -no-reboot
		-kernel "$kernel_dir/vmlinux" -initrd "$run/initrd"
		-append "$words rdinit=/init SCRIPT=/cases/${script##*/}
			END=$(($(date +%s) + limit)) $append"
		-chardev "file,id=console,path=$run/console.log"
		-chardev "$(chardev)"
		-chardev "file,id=verdict,path=$run/verdict"
		-device "isa-serial,chardev=console"
		-device "isa-serial,chardev=transcript"
		-device "isa-serial,chardev=verdict"
		"${devices[@]}" "${extra[@]}")

	if [ "$transcript" = interactive ]; then
		"${cmd[@]}" 2>"$run/qemu.log"
	else
		timeout --foreground -k 5 "$limit" "${cmd[@]}" \
			</dev/null 2>"$run/qemu.log"
	fi
}

rm -rf "$run"
mkdir -p "$run"
run=$(cd "$run" && pwd)
"$qemu_dir/kernel.sh" prepare "$kernel"
kernel_dir=$("$qemu_dir/kernel.sh" dir "$kernel")
make_initrd
status=0
boot || status=$?
rm -f "$run/initrd"
echo "$status" >"$run/qemu.status"
exec "$qemu_dir/judge.sh" "$run" "$limit" "$script"
