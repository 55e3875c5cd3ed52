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
	show ip -n "$1" link set vnet0 master br0
	show ip -n "$1" link set br0 up
	wait_for 10 has_carrier "$1" eth5
}

tap_make()
{
	ip -n "$1" tuntap add vnet0 mode tap
	ip -n "$1" link set vnet0 mtu 2044 up
}

modprobe tun
modprobe vhost_net
vm_image

step "A virtual machine begins to boot on a tap of h0: QEMU, with virtio and vhost"
ip netns add h0
tap_make h0
vm_start h0 a 52:54:00:00:00:61 2044

step "Meanwhile, three hosts on an InfiniBand subnet, each with an IPoIB device"
fabric_start hcas=3
opensm_start
ipoib_load
host_give h0 ibfab0 1
host_make h1 ibfab1 2
host_make h2 ibfab2 3
tap_make h2
for host in h0 h1 h2; do
	wait_for 30 has_carrier $host "$(dev_of $host)"
done
module_insert /modules/eth_ipoib.ko
traffic_start dhcp on h1 dnsmasq --keep-in-foreground --port=0 --conf-file=/dev/null \
	--user=root --group=root --pid-file --interface="$(dev_of h1)" --bind-interfaces \
	--log-facility=- --no-ping --dhcp-leasefile=/run/leases --dhcp-range=10.0.0.100,10.0.0.100,10m

step "h0 and h2 get an Ethernet device over IPoIB, in a bridge with a tap"
bridged h0
bridged h2
show ip -n h0 -d link show eth5

step "The virtual machine asks for an address by DHCP; the server is h1, a plain IPoIB host"
wait_for 100 vm_is_ready a
in_vm a 'uname -sr && cat /sys/class/net/eth0/address'
in_vm a 'ip link set eth0 up && udhcpc -B -n -q -i eth0 -s /lease'
in_vm a 'ping -c 3 10.0.0.2 && ip neigh'
show ip -n h1 neigh show 10.0.0.100
assert_match "the link-layer address" "$shown" "$(on h0 cat "/sys/class/net/$(dev_of h0)/address")"

step "It is moved to h2, while h1 pings it ten times a second"
vm_start h2 b 52:54:00:00:00:61 2044 -incoming "unix:$vm_dir/move"
traffic_start ping on h1 ping -n -i 0.1 10.0.0.100
printf '\n(qemu) migrate unix:%s/move\n' $vm_dir
vm_monitor a "migrate unix:$vm_dir/move"
in_vm b 'ping -c 3 10.0.0.2'
traffic_stop ping
show ip -n h1 neigh show 10.0.0.100
assert_match "the link-layer address" "$shown" "$(on h2 cat "/sys/class/net/$(dev_of h2)/address")"
