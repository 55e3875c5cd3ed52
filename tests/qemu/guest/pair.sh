# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib-pair.sh
# Runs a script in one of two guests: brings up the netdevice between them, receives the other
# guest's messages, and ends this guest soon after the other one has failed. Usage: sh -eu
# pair.sh SCRIPT

. /cases/lib.sh
. /cases/lib-pair.sh

# Without an IPv6 address the kernel sends nothing by itself. Both guests may continue one snapshot,
# so QEMU cannot give them different addresses.
trunk_up()
{
	modprobe virtio_pci
	modprobe virtio_net
	wait_for 30 test -e /sys/class/net/eth0
	ip link set dev eth0 name "$trunk"
	ip link set dev "$trunk" addrgenmode none mtu 65535 address "52:54:00:00:00:0$ROLE"
	ip link set dev "$trunk" up
	wait_for 30 grep -qx up "/sys/class/net/$trunk/operstate"
}

# Only one process can open the port; all others inherit descriptor 9. A write waits until the
# host's end is connected. After that, an end of file means that the other guest is gone.
channel_open()
{
	modprobe virtio_console
	wait_for 30 vport_of pair
	exec 9<>"$(vport_of pair)"
	timeout 60 sh -c 'echo hello >&9' || fail "there is no other guest"
}

# peer_ended HOW...: notes it. Unless the status was 0, this guest's script is ended, and if
# that fails the guest.
peer_ended()
{
	echo "$*" >"$pair/ended.new"
	mv "$pair/ended.new" "$pair/ended"
	[ "$*" != "with status 0" ] || return 0
	[ -e "$pair/script" ] || return 0
	: >"$pair/stopped"
	figures_show || note "not all figures could be shown"
	kill -s TERM "$(cat "$pair/script")" || return 0
	sleep 30
	[ ! -e "$pair/script" ] || reboot -f
}

listen()
{
	while read -r _word _name _value <&9; do
		case $_word in
		came) echo >>"$pair/came.$_name" ;;
		put)
			printf '%s\n' "$_value" >"$pair/value.new"
			mv "$pair/value.new" "$pair/value.$_name"
			;;
		ended) peer_ended "with status $_name" & ;;
		esac
	done
	[ -e "$pair/ended" ] || peer_ended "without a word"
}

# $pair/script has the script's process ID.
run_script()
{
	# shellcheck disable=SC2016  # for the inner shell to expand
	sh -c 'echo $$ >"$1.new" && mv "$1.new" "$1" && exec sh -eu "$2"' \
		sh "$pair/script" "$1"
}

# The link goes away with a guest, so it stays until the other guest has ended, but not until
# the host would have to end it. The other end may not be read any more.
say_end()
{
	echo "ended $1" >&9 &
	_least=10
	[ "$1" -eq 0 ] || _least=$(($(pair_seconds_left) - 30))
	while [ ! -e "$pair/ended" ] && [ "$(pair_seconds_left)" -gt "$_least" ]; do
		sleep 0.1
	done
}

mkdir -p "$pair"
trunk_up
channel_open
listen &
status=0
run_script "$1" || status=$?
rm -f "$pair/script"
say_end "$status"
if [ -e "$pair/stopped" ]; then
	echo "STOPPED: the other guest ended $(cat "$pair/ended")"
	echo "stopped the other guest ended $(cat "$pair/ended")" >/dev/ttyS2
fi
exit "$status"
