# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# P_Key children by netlink and by sysfs: created, listed, refused, renamed, moved, deleted,
# and removed with their parent; limited P_Keys, and P_Keys that appear late.
# kernel: stock 6.12 newest
# soak-kernel: debug
# timeout: 400
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

# child_add HOST P_KEY [WORD...]: makes a child of the host's first netdevice.
child_add()
{
	_host=$1 _pkey=$2
	shift 2
	ip -n "$_host" link add link ib "name" "ib.$_pkey" type ipoib \
		pkey "0x$_pkey" "$@"
}

# child_up HOST DEVICE ADDRESS
child_up()
{
	ip -n "$1" link set "$2" up
	ip -n "$1" address add "$3/24" dev "$2"
}

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

pkey_there()
{
	grep -qx "$2" "$ib/$1"/ports/1/pkeys/*
}

# refused SENTENCE CMD...: CMD fails with this message of the kernel.
refused()
{
	_sentence=$1
	shift
	_said=$("$@" 2>&1) && fail "succeeded, but must fail: $*"
	assert_match "what the kernel says" "$_said" "$_sentence"
	note "$_said"
}

# shows HOST DEVICE PATTERN
shows()
{
	assert_match "$1 $2" "$(ip -n "$1" -d link show dev "$2")" "$3"
}

fabric_start hcas=3
guids="0x021bfa0100000001 0x021bfa0100000101 0x021bfa0100000201"
# shellcheck disable=SC2086  # a word for each
set -- $guids
cat >/run/partitions.conf <<CONF
Default=0x7fff, ipoib : ALL=full;
full=0x1, ipoib : $1=full, $2=full, $3=full;
mixed=0x2, ipoib : $1=full, $2=limited, $3=limited;
other=0x3, ipoib, mtu=5 : $1=full, $2=full;
CONF
opensm_start -P /run/partitions.conf
wait_for 20 pkey_there ibfab2 0x0002
ipoib_load
hosts_make 3
for n in 0 1 2; do
	ip -n "h$n" link set "$(dev_of "h$n")" down
	ip -n "h$n" link set "$(dev_of "h$n")" name ib
	ip -n "h$n" link set ib up
	wait_for 20 has_carrier "h$n" ib
	ip -n "h$n" address replace "fd00::$((n + 1))/64" dev ib nodad
done

step "By netlink and by sysfs, and how it is shown"
child_add h0 8001
on h1 sh -ec 'echo 0x8001 >/sys/class/net/ib/create_child'
shows h0 ib.8001 'ib.8001@ib: '
shows h0 ib.8001 'ipoib pkey +0x8001 mode +datagram umcast +0000'
shows h0 ib 'ipoib pkey +0xffff mode +datagram umcast +0000'
shows h1 ib.8001 'pkey +0x8001'
for host in h0 h1; do
	dir=/sys/class/net/ib.8001
	assert_eq "mode" "$(on $host cat $dir/mode)" datagram
	assert_eq "umcast" "$(on $host cat $dir/umcast)" 0
	assert_eq "pkey" "$(on $host cat $dir/pkey)" 0x8001
	assert_eq "parent" "$(on $host cat $dir/parent)" ib
	assert_eq "dev_id" "$(on $host cat $dir/dev_id)" 0x0
	assert_eq "broadcast" "$(on $host cat $dir/broadcast)" \
		00:ff:ff:ff:ff:12:40:1b:80:01:00:00:00:00:00:00:ff:ff:ff:ff
	refute on $host test -e $dir/create_child
	refute on $host test -e /sys/class/net/ib/parent
	assert_eq "the parent's port id" \
		"$(on $host cat $dir/phys_port_id)" \
		"$(on $host cat /sys/class/net/ib/phys_port_id)"
done
assert_eq "phys_port_id" "$(on h0 cat /sys/class/net/ib/phys_port_id)" \
	"$(port_guid ibfab0)"
child_up h0 ib.8001 10.1.0.1
child_up h1 ib.8001 10.1.0.2
wait_for 20 has_carrier h0 ib.8001
wait_for 20 has_carrier h1 ib.8001
wait_for 20 pings h0 10.1.0.2
wait_for 20 pings h1 10.1.0.1

step "A packet socket's broadcast needs no P_Key: it gets the link's"
own=$(on h1 cat /sys/class/net/ib.8001/address | tr -d :)
broadcast=00ffffffff12401b0000000000000000ffffffff
arp=0020080014040001${own}0a010063$(printf '%040d' 0)0a010001
printf '%s08060000%s' "$broadcast" "$arp" | xxd -r -p >/run/frame
learnt()
{
	on h1 socat -u OPEN:/run/frame INTERFACE:ib.8001
	ip -n h0 neigh show dev ib.8001 10.1.0.99 | tr -d : | grep -q "$own"
}
wait_for 10 learnt

step "Names, options, and an MTU of its own"
child_add h0 8003 umcast 1 mode datagram
shows h0 ib.8003 'umcast +0001'
on h0 sh -ec 'echo 0 >/sys/class/net/ib.8003/umcast'
shows h0 ib.8003 'umcast +0000'
ip -n h0 link set ib.8003 type ipoib umcast 1
assert_eq "umcast" "$(on h0 cat /sys/class/net/ib.8003/umcast)" 1
ip -n h0 link set ib.8003 name storage
ip -n h0 link set storage up
wait_for 20 has_carrier h0 storage
assert_eq "the MTU of a group of 4096" \
	"$(on h0 cat /sys/class/net/storage/mtu)" 4092
assert_eq "the parent's" "$(on h0 cat /sys/class/net/ib/mtu)" 2044
ip -n h0 link delete storage
refute ip -n h0 link show storage

step "What is refused, and why"
refused 'invalid' child_add h0 0000
refused 'invalid' child_add h0 8000
refused 'child itself' ip -n h0 link add link ib.8001 name x type ipoib pkey 0x8002
refused 'not an interface of this driver' \
	ip -n h0 link add link lo name x type ipoib pkey 0x8002
refused 'keeps its P_Key' ip -n h0 link set ib.8001 type ipoib pkey 0x8002
refused 'beyond' ip -n h0 link add link ib name x mtu 65520 type ipoib pkey 0x8002
for pkey in 0x8001 0x0001 32769 1; do
	must_fail on h1 sh -ec "echo $pkey >/sys/class/net/ib/create_child"
done
must_fail on h1 sh -ec 'echo 0xffff >/sys/class/net/ib/create_child'
# A child made by `ip link add` can only be deleted by its name
must_fail on h0 sh -ec 'echo 0x8001 >/sys/class/net/ib/delete_child'
must_fail on h0 sh -ec 'echo 0x8000 >/sys/class/net/ib/create_child'
must_fail on h0 sh -ec 'echo 0 >/sys/class/net/ib/create_child'
must_fail on h0 sh -ec 'echo 0x8777 >/sys/class/net/ib/delete_child'
must_fail on h0 sh -ec 'echo x >/sys/class/net/ib/mode'
ip -n h0 link set ib.8001 type ipoib umcast 1 mode connected
shows h0 ib.8001 'mode +connected umcast +0001'
ip -n h0 link set ib.8001 type ipoib umcast 0 mode datagram
shows h0 ib.8001 'mode +datagram umcast +0000'
# Like the in-tree driver: this has no effect
ip -n h0 link delete ib
ip -n h0 link show ib >/run/log
assert_eq "interfaces of h0" "$(on h0 sh -c 'ls -d /sys/class/net/ib*' | wc -l)" 2

step "What create_child and delete_child read"
for word in -1 0x10000 65536 x '' 0 0x8000; do
	must_fail on h0 sh -ec "echo $word >/sys/class/net/ib/create_child"
done
for word in 0x8005 32774 0100007 '0x8008 and more'; do
	on h0 sh -ec "echo $word >/sys/class/net/ib/create_child"
done
assert_eq "children" "$(on h0 sh -c 'ls -d /sys/class/net/ib.*' | sed 's/.*\.//' | tr '\n' ' ')" \
	"8001 8005 8006 8007 8008 "
assert_match "a name that nobody chose has no type" \
	"$(on h0 cat /sys/class/net/ib.8005/name_assign_type 2>&1)" 'Invalid argument'
# child_gone HOST NAME: the host does not have the interface any more.
child_gone()
{
	on "$1" sh -c "[ ! -e /sys/class/net/$2 ]"
}
for word in 32773 0x0006 0x8007 0x8008; do
	on h0 sh -ec "echo $word >/sys/class/net/ib/delete_child"
done
for word in 8005 8006 8007 8008; do
	wait_for 10 child_gone h0 "ib.$word"
done
assert_eq "interfaces of h0" "$(on h0 sh -c 'ls -d /sys/class/net/ib*' | wc -l)" 2
# What is about to go is not in the way of what comes
on h0 sh -ec 'cd /sys/class/net/ib
	for k in 1 2 3 4 5 6 7 8; do echo 0x8005 >create_child; echo 0x8005 >delete_child; done'
wait_for 10 child_gone h0 ib.8005

step "Names of children tell their P_Keys, however long the parent's is"
# renamed FROM TO: renames a netdevice of h0, which is down meanwhile.
renamed()
{
	ip -n h0 link set "$1" down
	ip -n h0 link set "$1" name "$2"
	ip -n h0 link set "$2" up
	wait_for 20 has_carrier h0 "$2"
	ip -n h0 address replace fd00::1/64 dev "$2" nodad
}
renamed ib ibp193s0f0d1
for word in 0x8005 0x8006; do
	on h0 sh -ec "echo $word >/sys/class/net/ibp193s0f0d1/create_child"
done
for word in 8005 8006; do
	shows h0 "ibp193s0f0.$word" "pkey +0x$word"
	on h0 sh -ec "echo 0x$word >/sys/class/net/ibp193s0f0d1/delete_child"
	wait_for 10 child_gone h0 "ibp193s0f0.$word"
done
renamed ibp193s0f0d1 ib

step "Owning the files is not sufficient"
# by_user CMD: runs CMD in h0 as a user without capabilities.
by_user()
{
	on h0 start-stop-daemon --start --pidfile /run/none --chuid 1000:1000 \
		--startas /bin/sh -- -ec "$1"
}
as_user sh -c :
for file in create_child delete_child umcast mode; do
	on h0 chown 1000 "/sys/class/net/ib/$file"
	word=0x8005
	[ "$file" != mode ] || word=datagram
	said=$(by_user "echo $word | dd of=/sys/class/net/ib/$file status=none" 2>&1) &&
		fail "$file was written"
	assert_match "$file" "$said" 'Operation not permitted'
	on h0 chown 0 "/sys/class/net/ib/$file"
done
assert_eq "interfaces of h0" "$(on h0 sh -c 'ls -d /sys/class/net/ib*' | wc -l)" 2

step "A limited member, and a P_Key that comes late"
for n in 0 1 2; do
	child_add "h$n" 8002
	child_up "h$n" ib.8002 "10.2.0.$((n + 1))"
	wait_for 20 has_carrier "h$n" ib.8002
done
wait_for 20 pings h0 10.2.0.2
wait_for 20 pings h2 10.2.0.1
refused=$(fabric_counter ibfab2 port1.drop.rx_pkey)
refute on h1 ping -q -c 2 -i 0.2 -W 1 10.2.0.3
assert counter_reaches ibfab2 port1.drop.rx_pkey $((refused + 1))
child_add h2 8003
child_up h2 ib.8003 10.3.0.3
child_add h0 8003
child_up h0 ib.8003 10.3.0.1
sleep 1
assert_eq "carrier without a P_Key" "$(on h2 cat /sys/class/net/ib.8003/carrier)" 0
sed -i "s/^other.*/other=0x3, ipoib, mtu=5 : ALL=full;/" /run/partitions.conf
kill -HUP "$opensm_pid"
wait_for 30 has_carrier h2 ib.8003
wait_for 20 pings h0 10.3.0.3
note "the P_Key came, and carrier with it"

step "Without its P_Key there is no carrier; it is back with the P_Key"
sed -i "s/^other.*/other=0x3, ipoib, mtu=5 : $1=full;/" /run/partitions.conf
kill -HUP "$opensm_pid"
wait_for 30 not has_carrier h2 ib.8003
assert has_carrier h0 ib.8003
sed -i "s/^other.*/other=0x3, ipoib, mtu=5 : ALL=full;/" /run/partitions.conf
kill -HUP "$opensm_pid"
wait_for 30 has_carrier h2 ib.8003
wait_for 20 pings h0 10.3.0.3

step "Up and down with the parent"
ip -n h1 link set ib down
assert_match "the child" "$(on h1 cat /sys/class/net/ib.8001/flags)" '0x100[02]$'
ip -n h1 link set ib up
wait_for 20 has_carrier h1 ib.8001
wait_for 20 pings h0 10.1.0.2

step "To another namespace, and back when that ends"
ip netns add other
ip -n h1 link set ib.8001 netns other
child_up other ib.8001 10.1.0.22
wait_for 20 has_carrier other ib.8001
wait_for 20 pings h0 10.1.0.22
assert_eq "its parent" "$(on other cat /sys/class/net/ib.8001/parent)" ib
ip netns delete other
wait_for 10 test -e /sys/class/net/ib.8001
ip link set ib.8001 netns h1
child_up h1 ib.8001 10.1.0.2
wait_for 20 has_carrier h1 ib.8001
wait_for 20 pings h0 10.1.0.2

step "To the namespace of a user without capabilities, who owns its files there, and back"
user_netns_start
ip -n h1 link set ib.8001 netns "$user_netns"
in_user_netns ip address add 10.1.0.22/24 dev ib.8001
in_user_netns ip link set ib.8001 up
wait_for 20 pings h0 10.1.0.22
must_fail in_user_netns ip link add link ib.8001 name more type ipoib pkey 0x8002
must_fail in_user_netns ip link add link ib.8001 name more type ipoib
in_user_netns ip link set ib.8001 type ipoib umcast 1
assert_match "in the user's namespace" "$(in_user_netns ip -d link show dev ib.8001)" 'umcast +0001'
shows h1 ib 'umcast +0000'
kill "$user_netns"
wait_for 10 test -e /sys/class/net/ib.8001
ip link set ib.8001 netns h1
child_up h1 ib.8001 10.1.0.2
wait_for 20 has_carrier h1 ib.8001

step "Only the administrator of the parent's namespace can make children"
rm -r /run/user_netns
user_netns_start
ip -n h2 link set ib netns "$user_netns"
# by_owner CMD: runs CMD as the namespace's administrator, with sysfs of that namespace.
by_owner()
{
	in_user_netns unshare -m sh -ec "mount -t sysfs none /sys; $1"
}
by_owner 'echo 0x8006 | dd status=none of=/sys/class/net/ib/create_child'
in_user_netns ip -d link show ib.8006 | grep 'ipoib pkey' || fail "no child"
by_owner 'echo 0x8006 | dd status=none of=/sys/class/net/ib/delete_child'
# The owner's namespace does not have the child any more.
owner_lacks_child()
{
	in_user_netns ip -o link show >/run/owner && not file_says ib.8006 /run/owner
}
wait_for 10 owner_lacks_child
kill "$user_netns"

step "Deleted by sysfs, made again, and under traffic gone with the parent"
on h1 sh -ec 'echo 0x8001 >/sys/class/net/ib/delete_child'
wait_for 10 child_gone h1 ib.8001
child_add h1 8001
child_up h1 ib.8001 10.1.0.2
wait_for 20 has_carrier h1 ib.8001
# It has another QP, so another link-layer address.
ip -n h0 neighbour flush dev ib.8001
wait_for 20 pings h0 10.1.0.2
traffic_start ping on h0 ping -f -q 10.1.0.2
sleep 1
unplug ibfab1
refute says link/infiniband ip -n h1 -o link show
traffic_stop ping
rmmod ib_ipoib
refute says link/infiniband ip -n h0 -o link show
