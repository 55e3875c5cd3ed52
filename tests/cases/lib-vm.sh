# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# A virtual machine in the guest: QEMU emulates it, with Debian's kernel, busybox, and a virtio
# network device whose other end is a tap of a host. It takes commands from its serial port. For
# cases with "root: vm", which source this after lib.sh.

vm_dir=/run/vm

# vm_image: makes the initial root file system of the virtual machine.
vm_image()
{
	_root=$vm_dir/root
	mkdir -p "$_root/modules" "$_root/dev" "$_root/proc" "$_root/sys" "$_root/run" \
		"$_root/usr/bin" "$_root/usr/lib64" "$_root/usr/lib/x86_64-linux-gnu"
	for _dir in bin lib lib64; do
		ln -s "usr/$_dir" "$_root/$_dir"
	done
	cp -r /busybox "$_root/"
	cp /usr/bin/busybox "$_root/usr/bin/"
	cp /usr/lib64/ld-linux-x86-64.so.2 "$_root/usr/lib64/"
	cp /usr/lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libresolv.so.2 \
		"$_root/usr/lib/x86_64-linux-gnu/"
	modprobe -a --show-depends virtio_mmio virtio_net | sed -n 's/^insmod \([^ ]*\).*/\1/p' |
		awk '!seen[$0]++' >"$vm_dir/modules"
	assert grep -q virtio_net "$vm_dir/modules"
	while read -r _file; do
		cp "$_file" "$_root/modules/"
		echo "insmod /modules/${_file##*/}"
	done <"$vm_dir/modules" >"$_root/modules/insert"
	vm_init >"$_root/init"
	vm_lease >"$_root/lease"
	chmod 755 "$_root/init" "$_root/lease"
	(cd "$_root" && find . | cpio --quiet -o -H newc) >"$vm_dir/initrd"
}

# vm_init: prints the first process of the virtual machine.
vm_init()
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
		sh -e /modules/insert
		ip link set lo up
		echo "the virtual machine is ready"
		while read -r number line; do
			eval "$line"
			echo "status.$number $?"
		done
	INIT
}

# vm_lease: prints the script that sets the address which the DHCP client has got.
vm_lease()
{
	cat <<-'LEASE'
		#!/busybox/sh
		[ "$1" = bound ] || exit 0
		exec ip address add "$ip/$mask" dev "$interface"
	LEASE
}

# vm_start HOST NAME MAC MTU [ARGUMENT...]: starts QEMU on that host, where the network device of
# the virtual machine is joined to the tap "vnet0". NAME is that of this QEMU. Arguments are QEMU's.
# When the virtual machine has been moved, it says nothing by itself, so only QEMU announces it, by
# RARP.
vm_start()
{
	_host=$1 _vm=$vm_dir/$2 _mac=$3 _mtu=$4
	shift 4
	# The clock has the frequency that this guest was told, see machine.sh
	_words="console=ttyS0 quiet mitigations=off norandmaps no_timer_check cryptomgr.notests"
	_words="$_words tsc=reliable $(grep -oE 'tsc_early_khz=[0-9]+' /proc/cmdline)"
	mkfifo "$_vm.in" "$_vm.out"
	cat "$_vm.out" >"$_vm.log" &
	traffic_start "vm.${_vm##*/}" on "$_host" qemu-system-x86_64 -M microvm \
		-accel tcg -cpu qemu64,+rdrand -m 96 -nodefaults -display none -no-reboot \
		-kernel /boot/vmlinux -initrd "$vm_dir/initrd" -append "$_words" \
		-serial "pipe:$_vm" -monitor "unix:$_vm.monitor,server=on,wait=off" \
		-netdev tap,id=net0,ifname=vnet0,script=no,downscript=no,vhost=on \
		-device "virtio-net-device,netdev=net0,mac=$_mac,host_mtu=$_mtu,guest_announce=off" "$@"
	wait_for 20 test -S "$_vm.monitor"
}

vm_is_ready()
{
	grep -q 'the virtual machine is ready' "$vm_dir/$1.log"
}

# vm_monitor NAME COMMAND...: a command for QEMU's monitor; prints the answer.
vm_monitor()
{
	_vm=$vm_dir/$1
	shift
	echo "$*" | socat -t 5 - "UNIX-CONNECT:$_vm.monitor" | sed '1d; /^(qemu)/d'
}

# vm_do NAME COMMAND...: the virtual machine runs a line of shell commands; prints their output. The
# status is theirs.
vm_do()
{
	_vm=$vm_dir/$1 _number=$(($(cat $vm_dir/number) + 1))
	shift
	echo "$_number" >$vm_dir/number
	_begin=$(($(wc -c <"$_vm.log") + 1))
	echo "$_number $*" >"$_vm.in"
	wait_for 60 grep -q "^status\.$_number " "$_vm.log"
	tail -c "+$_begin" "$_vm.log" | sed "/^status\.$_number /d"
	return "$(sed -n "s/^status\.$_number \([0-9]*\).*/\1/p" "$_vm.log")"
}

mkdir -p $vm_dir
echo 0 >$vm_dir/number
