# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib-demo.sh
# The demonstration of Ethernet over IPoIB: a virtual machine in a bridge gets an address across an
# InfiniBand link, and is moved to another host. Each step is shown and verified.

. /cases/lib-demo.sh
# shellcheck source=../../cases/lib-vm.sh
. /cases/lib-vm.sh

# in_vm QEMU LINE: shows a line of shell commands in the virtual machine, and their output.
in_vm()
{
	printf '\nvirtual machine# %s\n' "$2"
	vm_do "$1" "$2" || fail "status $? in the virtual machine: $2"
}

# bridged HOST: shows how a host gets a bridge with an Ethernet device over its IPoIB one, and a tap.
bridged()
{
	_dev=$(dev_of "$1")
	ip -n "$1" address flush dev "$_dev"
	show ip -n "$1" link add link "$_dev" name eth5 type eipoib
	show ip -n "$1" link add br0 mtu 2044 type bridge
	show ip -n "$1" link set eth5 master br0 up
	show ip -n "$1" tuntap add vnet0 mode tap
	show ip -n "$1" link set vnet0 mtu 2044 master br0 up
	show ip -n "$1" link set br0 up
	wait_for 10 has_carrier "$1" eth5
}

step "Three hosts on an InfiniBand subnet, each with an IPoIB device"
fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
module_insert /modules/eth_ipoib.ko
modprobe tun
modprobe vhost_net

step "h0 and h2 get an Ethernet device over IPoIB, in a bridge with a tap"
bridged h0
bridged h2
show ip -n h0 -d link show eth5

step "A virtual machine, which has booted before, wakes on the tap of h0: QEMU, virtio and vhost"
vm_start h0 a
in_vm a 'uname -sr && cat /sys/class/net/eth0/address'

step "It asks for an address by DHCP; the server is h1, a plain IPoIB host"
traffic_start dhcp on h1 dnsmasq --keep-in-foreground --port=0 --conf-file=/dev/null \
	--user=root --group=root --pid-file --interface="$(dev_of h1)" --bind-interfaces \
	--log-facility=- --no-ping --dhcp-leasefile=/run/leases --dhcp-range=10.0.0.100,10.0.0.100,10m
wait_for 10 grep -q 'DHCP, IP range' /run/traffic.dhcp.log
in_vm a 'ip link set eth0 up && udhcpc -n -q -i eth0 -s /lease'
in_vm a 'ping -c 3 10.0.0.2 && ip neigh'
show ip -n h1 neigh show 10.0.0.100
assert_match "the link-layer address" "$shown" "$(on h0 cat "/sys/class/net/$(dev_of h0)/address")"

step "QEMU moves it to h2, while it pings h1"
vm_receive h2 b
in_vm a 'ping -c 50 -i 0.2 10.0.0.2 >/run/pings &'
printf '\n(qemu) migrate unix:%s/move\n' $vm_dir
vm_move a b
in_vm b 'wait && tail -n 3 /run/pings'
show ip -n h1 neigh show 10.0.0.100
assert_match "the link-layer address" "$shown" "$(on h2 cat "/sys/class/net/$(dev_of h2)/address")"
