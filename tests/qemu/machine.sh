# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what guest.sh sets
# The emulated machine of a guest, and what it boots, for guest.sh and snapshot.sh. Sourced,
# never run.

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
		# With RDRAND, the kernel's random numbers are ready before other CPUs run. Otherwise it
		# changes its code at that time, which this emulation does not always do atomically. With
		# NPT, a virtual machine in the guest runs by KVM almost as fast as the guest itself
		echo -accel tcg,thread=multi -cpu qemu64,+rdrand,+npt
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

# make_initrd [SCRIPT]: with init, the libraries, the script, our modules and tools. Debug sections
# of modules are stripped: they are four fifths of the size, and take each guest a second to
# unpack.
make_initrd()
{
	local tree=$run/tree roots dir module vm

	mkdir -p "$tree/cases" "$tree/modules"
	install -m 755 "$qemu_dir/guest/init" "$tree/init"
	cp "$qemu_dir/guest/pair.sh" "$qemu_dir/guest/debug.sh" \
		"$qemu_dir/guest/coverage.sh" "$tree/"
	cp "$top"/tests/cases/lib*.sh "$@" "$tree/cases/"
	for dir in "${module_dirs[@]}"; do
		for module in "$dir"/*.ko; do
			strip --strip-debug -o "$tree/modules/${module##*/}" "$module"
		done
	done
	for dir in "${tool_dirs[@]}"; do
		install -D -t "$tree/usr/sbin" "$dir"/*
	done
	if [ "$root" = vm ]; then
		vm=$("$qemu_dir/vm.sh")
		cp -r "$vm" "$tree/vm"
	fi
	(cd "$tree" && find . -mindepth 1 -print0 |
		cpio --quiet --null -o -H newc -R 0:0) >"$run/own.cpio"
	mapfile -t roots < <("$qemu_dir/rootfs.sh" "$root")
	cat "${roots[@]}" "$kernel_dir/modules.cpio" "$run/own.cpio" \
		"${archives[@]}" >"$run/initrd"
	rm -rf "$tree" "$run/own.cpio"
}

# kernel_parameters: prints them, except for the script's variables.
kernel_parameters()
{
	local words="console=ttyS0 loglevel=8 panic=-1 oops=panic slab_nomerge rdinit=/init"

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
	echo "$words $append"
}

# Sets $machine: QEMU with the machine, except for what it boots, the serial ports and devices.
make_machine()
{
	local accel

	read -ra accel < <(accelerator)
	# shellcheck disable=SC2034  # for guest.sh and snapshot.sh
	machine=(qemu-system-x86_64 -M q35 "${accel[@]}" -smp "$smp" -m "$mem"
		-nodefaults -display none -no-reboot)
}
