#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The virtual machine for guests that have the programs "vm" (rootfs.sh). In a guest, which is
# emulated itself, it would take a minute to boot. So it boots here, and is saved into the cache when
# it waits for commands: Debian's kernel, and busybox, without a driver for its network device yet.
# Prints the folder with its state, and QEMU's arguments for the machine.

. "$(dirname "$0")/common.sh"
. "$qemu_dir/machine.sh"
. "$qemu_dir/snapshot.sh"

# With KVM, microvm lacks the first three devices unless they are requested
machine=(-M "microvm,rtc=on,pic=on,pit=on" -cpu "qemu64,+rdrand" -m 96 -nodefaults -display none -no-reboot
	-device "virtio-net-device,netdev=net0,mac=52:54:00:00:00:61,host_mtu=2044,guest_announce=off")
modules=(virtio_ring virtio virtio_mmio failover net_failover virtio_net)

# The first process of the virtual machine.
init()
{
	cat <<-'INIT'
		#!/busybox/sh
		export PATH=/busybox
		mount -t devtmpfs dev /dev
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t tmpfs run /run
		exec </dev/ttyS0 >/dev/ttyS0 2>&1
		stty raw -echo
		ip link set lo up
		sleep 3
		echo "the virtual machine is ready"
		while read -r number line; do
			eval "$line"
			echo "status.$number $?"
		done
	INIT
}

# The script that sets the address which the DHCP client has got.
lease()
{
	cat <<-'LEASE'
		#!/busybox/sh
		[ "$1" = bound ] || exit 0
		exec ip address add "$ip/$mask" dev "$interface"
	LEASE
}

# make_root TREE: the contents of its root file system, from those of guests.
make_root()
{
	local tree=$1 dir module

	mkdir -p "$tree"/{dev,proc,sys,run,modules}
	for dir in bin lib lib64; do
		ln -s "usr/$dir" "$tree/$dir"
	done
	(cd "$tree" && cpio -i --quiet -d <"$base" 'busybox/*' usr/bin/busybox \
		usr/lib64/ld-linux-x86-64.so.2 \
		'usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2' \
		'usr/lib/x86_64-linux-gnu/lib[cr]*.so.[26]')
	mkdir "$work/modules"
	(cd "$work/modules" && cpio -i --quiet -d '*.ko' <"$kernel_dir/modules.cpio")
	for module in "${modules[@]}"; do
		find "$work/modules" -name "$module.ko" -exec cp {} "$tree/modules/" \;
		echo "insmod /modules/$module.ko"
	done >"$tree/modules/insert"
	init >"$tree/init"
	lease >"$tree/lease"
	chmod 755 "$tree/init" "$tree/lease"
}

# save: boots it, and saves its state.
save()
{
	local ended words="console=ttyS0 quiet mitigations=off norandmaps no_timer_check"

	words+=" cryptomgr.notests tsc=reliable tsc_early_khz=$(tsc_khz)"
	coproc timeout 120 qemu-system-x86_64 "${machine[@]}" -accel tcg -netdev hubport,id=net0,hubid=0 \
		-kernel "$kernel_dir/vmlinux" -initrd "$work/initrd" -append "$words" \
		-serial "file:$work/serial" -qmp stdio 2>"$work/qemu.log"
	until grep -q 'machine is ready' "$work/serial" 2>/dev/null; do
		kill -0 "$COPROC_PID" || die "the virtual machine does not boot"
		sleep 0.05
	done
	qmp qmp_capabilities
	qmp migrate-set-capabilities '"capabilities": [{"capability": "events", "state": true}]'
	qmp migrate-set-parameters '"max-bandwidth": 17179869184'
	qmp migrate "\"uri\": \"exec:cat >'$work/out/state'\""
	ended=$(grep -m 1 -oE '"status": "(completed|failed)"' <&"${COPROC[0]}")
	qmp quit
	wait "$COPROC_PID"
	[[ $ended == *completed* ]] || die "the virtual machine was not saved"
}

prepare()
{
	[ ! -e "$folder" ] || return 0
	say "preparing the guests' virtual machine"
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/out"
	make_root "$work/tree"
	(cd "$work/tree" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0) >"$work/initrd"
	printf '%s ' "${machine[@]}" >"$work/out/args"
	save
	mv "$work/out" "$folder"
}

"$qemu_dir/kernel.sh" prepare stock
kernel_dir=$("$qemu_dir/kernel.sh" dir stock)
base=$("$qemu_dir/rootfs.sh")
# The frequency of the clock is measured, and is a little different each time
key=$({ echo "$kernel_dir $base $(($(tsc_khz) / 10000))" && qemu-system-x86_64 --version && cat "$0"; } |
	hash_of -)
folder=$cache/vm-$key
with_lock vm prepare
echo "$folder"
