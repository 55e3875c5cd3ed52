# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# udev with the rules of systemd and rdma-core knows the same of an interface with the in-tree
# driver and with this one. An interface gets its name by a rule or by a link file, an HCA by
# rdma-core's rule, under which the interfaces and children go on.
# timeout: 240
# root: daemons

. /cases/lib.sh
. /cases/lib-daemons.sh
driver=''

mkdir -p /etc/udev/rules.d /etc/systemd/network

# The address of an interface ends with the GUID of its port, and so do those of its P_Key children.
rule_write()
{
cat >/etc/udev/rules.d/70-persistent-ipoib.rules <<'CONF'
ACTION=="add", SUBSYSTEM=="net", KERNEL!="*.*", ATTR{type}=="32", \
  ATTR{address}=="*:02:1b:fa:01:00:00:00:01", NAME="storage0"
CONF
}

# The first four octets of the whole address are flags and the QPN, which may be another one the
# next time.
link_file_write()
{
	cat >/etc/systemd/network/10-storage.link <<-CONF
		[Match]
		Type=infiniband
		MACAddress=$(cat /sys/class/net/storage0/address)

		[Link]
		Name=storage1
	CONF
}

# Without it, rdma-core names the HCA after its place on the PCI bus, if it has one.
hca_rule_write()
{
cat >/etc/udev/rules.d/60-rdma-persistent-naming.rules <<'CONF'
ACTION=="add", SUBSYSTEM=="infiniband", ATTR{node_guid}=="021b:fa01:0000:0000", \
  PROGRAM="rdma_rename %k NAME_FIXED storage"
CONF
}

# attributes DEVICE NAME|NAME...: prints what rules can match: these attributes, and the parent
# devices.
attributes()
{
	udevadm info --attribute-walk "$1" |
		grep -E "looking at|KERNEL|SUBSYSTEM|DRIVER|ATTR\{($2)\}"
}

# known DEVICE: prints what udev knows of it, without indices and times.
known()
{
	udevadm info --query=property "$1" | grep -vE '^(IFINDEX|USEC_INITIALIZED)=' | sort
}

udev_goes()
{
	step "$driver: a rule has named the interface when the driver was loaded"
	udevadm settle
	known /sys/class/net/storage0 | same_with_both udev-net
	cat "/run/udev-net.$driver"
	known /sys/class/infiniband/ibfab0 | same_with_both udev-hca
	cat "/run/udev-hca.$driver"
	attributes /sys/class/net/storage0 'addr_len|dev_id|dev_port|type|mode|umcast|pkey' |
		same_with_both udev-attributes

	step "$driver: children keep their names, also with rules that match the HCA's device instead"
	sed 's/KERNEL!="[^"]*"/SUBSYSTEMS=="ibfab"/' /etc/udev/rules.d/70-persistent-ipoib.rules \
		>/etc/udev/rules.d/71-parent.rules
	grep -q 'SUBSYSTEMS=="ibfab"' /etc/udev/rules.d/71-parent.rules
	udevadm control --reload
	ip link add link storage0 name storage0.8001 type ipoib pkey 0x8001
	echo 0x8002 >/sys/class/net/storage0/create_child
	udevadm settle
	assert test -e /sys/class/net/storage0.8001 -a -e /sys/class/net/storage0.8002
	# With the in-tree driver, children made by netlink lack the files of those made by
	# create_child
	attributes /sys/class/net/storage0.8001 'addr_len|dev_id|dev_port|type' |
		same_with_both udev-child
	attributes /sys/class/net/storage0.8002 'addr_len|dev_id|dev_port|type|mode|umcast|pkey|parent' |
		same_with_both udev-created-child
	known /sys/class/net/storage0.8001 | same_with_both udev-child-properties
	known /sys/class/net/storage0.8002 | same_with_both udev-created-child-properties
	cat "/run/udev-child.$driver"

	step "$driver: net_id knows no place of an HCA that is on no PCI bus"
	udevadm test-builtin net_id /sys/class/net/storage0 2>/run/net_id.log | same_with_both net_id
	cat "/run/net_id.$driver" /run/net_id.log

	step "$driver: the HCA gets another name while its interfaces are up"
	ip address add 10.0.0.2/24 dev storage0
	ip address add 10.1.0.2/24 dev storage0.8001
	ip link set storage0 up
	ip link set storage0.8001 up
	wait_for 20 up_and_running storage0.8001
	reaches storage0 10.0.0.1
	hca_rule_write
	udev_renames /sys/class/infiniband/ibfab0 rdma dev show storage
	reaches storage0 10.0.0.1
	reaches storage0.8001 10.1.0.1
	echo 0x8002 >/sys/class/net/storage0/delete_child
	ip link delete storage0.8001
	ip link add link storage0 name storage0.8001 type ipoib pkey 0x8001
	ip address add 10.1.0.2/24 dev storage0.8001
	ip link set storage0.8001 up
	wait_for 20 up_and_running storage0.8001
	reaches storage0.8001 10.1.0.1
	rm /etc/udev/rules.d/60-rdma-persistent-naming.rules
	udevadm control --reload
	rdma dev set storage name ibfab0
	ip link delete storage0.8001

	step "$driver: a link file with the whole address"
	link_file_write
	rm /etc/udev/rules.d/7?-*.rules
	ip link set storage0 down
	udev_renames /sys/class/net/storage0 test -e /sys/class/net/storage1
	rm /etc/systemd/network/10-storage.link
	rule_write
	udevadm control --reload
}

rule_write
udev_start
with_each_driver udev_goes storage0
