# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# A virtual machine in the guest, by QEMU and KVM: Debian's kernel, busybox, and a virtio network
# device whose other end is a tap of a host. It has booted before (tests/qemu/vm.sh), and takes
# commands from its serial port. For cases with "root: vm", which source this after lib.sh.

vm_dir=/run/vm
# shellcheck disable=SC2034  # the caller's
vm_mac=52:54:00:00:00:61

# vm_receive HOST NAME [SOURCE]: starts QEMU on that host, where the network device of the virtual
# machine is joined to the tap "vnet0", to receive the virtual machine from another one, which
# vm_move sends. NAME is that of this QEMU. A virtual machine that has been moved does not announce
# itself, only QEMU does, by RARP.
vm_receive()
{
	_vm=$vm_dir/$2
	mkfifo "$_vm.in" "$_vm.out"
	cat "$_vm.out" >"$_vm.log" &
	# shellcheck disable=SC2046  # words
	traffic_start "vm.$2" on "$1" qemu-system-x86_64 $(cat /vm/args) -accel $vm_accel \
		-netdev tap,id=net0,ifname=vnet0,script=no,downscript=no,vhost=on \
		-serial "pipe:$_vm" -monitor "unix:$_vm.monitor,server=on,wait=off" \
		-incoming "${3:-unix:$vm_dir/move}"
	wait_for 20 test -S "$_vm.monitor"
}

# vm_start HOST NAME: the same for the virtual machine that has booted before.
vm_start()
{
	vm_receive "$1" "$2" "exec:cat /vm/state"
	wait_for 20 vm_runs "$2"
	vm_do "$2" "sh -e /modules/insert"
}

# vm_move NAME NAME: QEMU's live migration from the first to the second, which receives it.
vm_move()
{
	vm_monitor "$1" "migrate -d unix:$vm_dir/move"
	wait_for 60 vm_moved "$1"
	wait_for 20 vm_runs "$2"
}

# vm_runs NAME: whether it has received the virtual machine. What is written to its serial port
# before that is lost.
vm_runs()
{
	vm_monitor "$1" "info status" | grep 'VM status: running'
}

vm_moved()
{
	case $(vm_monitor "$1" "info migrate") in
	*'status: completed'*) ;;
	*'status: failed'*) fail "QEMU's migration: $(tail -n 3 /run/traffic.vm.*.log)" ;;
	*) return 1 ;;
	esac
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

# Guests' emulated CPUs support KVM. If they are real ones, QEMU's own emulation is fast enough
vm_accel=kvm
modprobe kvm-amd || vm_accel=tcg
mkdir -p $vm_dir
echo 0 >$vm_dir/number
