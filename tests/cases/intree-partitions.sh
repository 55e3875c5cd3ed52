# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The in-tree driver has children made by netlink and by sysfs; full and limited members of a
# partition communicate, two limited members do not.
# timeout: 90
# mem: 2048

. /cases/lib.sh

# child_up HOST DEVICE ADDRESS
child_up()
{
	ip -n "$1" link set "$2" up
	ip -n "$1" address add "$3/24" dev "$2"
	wait_for 20 has_carrier "$1" "$2"
}

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

pkey_there()
{
	grep -qx "$2" "$ib/$1"/ports/1/pkeys/*
}

# pkey_at HCA INDEX P_KEY
pkey_at()
{
	[ "$(cat "$ib/$1/ports/1/pkeys/$2")" = "$3" ]
}

fabric_start hcas=3
cat >/run/partitions.conf <<'CONF'
Default=0x7fff, ipoib : ALL=full;
full=0x1, ipoib : 0x021bfa0100000001=full, 0x021bfa0100000101=full;
mixed=0x2, ipoib : 0x021bfa0100000001=full, 0x021bfa0100000101=limited,
	0x021bfa0100000201=limited;
CONF
opensm_start -P /run/partitions.conf
wait_for 10 pkey_there ibfab1 0x8001
wait_for 10 pkey_there ibfab2 0x0002
intree_load
hosts_make 3

step "A child by netlink at one end, by sysfs at the other"
dev0=$(dev_of h0) dev1=$(dev_of h1)
ip -n h0 link add link "$dev0" name "$dev0.8001" type ipoib pkey 0x8001
on h1 sh -ec "echo 0x8001 >/sys/class/net/$dev1/create_child"
# A child made by sysfs is in the initial namespace, wherever its parent is.
ip link set "$dev1.8001" netns h1
assert_match "the child" "$(ip -n h1 -d link show "$dev1.8001")" 'pkey 0x8001'
assert_eq "its P_Key" "$(on h1 cat "/sys/class/net/$dev1.8001/pkey")" 0x8001
child_up h0 "$dev0.8001" 10.1.0.1
child_up h1 "$dev1.8001" 10.1.0.2
wait_for 10 pings h0 10.1.0.2
pings_all h0 5 10.1.0.2

step "Partitions: packets carry the P_Key, and no other child receives them"
wrong=$(fabric_counter ibfab1 port1.drop.rx_pkey)
rule ibfab1 what=data do=pkey value=0xffff
refute pings h0 10.1.0.2
rules_clear ibfab1
assert [ "$(fabric_counter ibfab1 port1.drop.rx_pkey)" -gt "$wrong" ]
wait_for 10 pings h0 10.1.0.2

step "P_Keys that move: a child finds its own again"
index=$(grep -lx 0x8001 "$ib"/ibfab1/ports/1/pkeys/* | sed 's,.*/,,')
echo "1 rotate_pkeys 5" >"$ibfab/ibfab1/change"
wait_for 5 pkey_at ibfab1 $((index + 5)) 0x8001
wait_for 20 pings h0 10.1.0.2
echo "1 rotate_pkeys 27" >"$ibfab/ibfab1/change"
wait_for 5 pkey_at ibfab1 "$index" 0x8001
wait_for 20 pings h0 10.1.0.2

step "A full member talks to limited ones"
for n in 0 1 2; do
	dev=$(dev_of "h$n")
	ip -n "h$n" link add link "$dev" name "$dev.8002" type ipoib \
		pkey 0x8002
	child_up "h$n" "$dev.8002" "10.2.0.$((n + 1))"
done
wait_for 10 pings h0 10.2.0.2
wait_for 10 pings h0 10.2.0.3
wait_for 10 pings h2 10.2.0.1

step "Two limited members do not: their ports drop the packets"
refused=$(fabric_counter ibfab2 port1.drop.rx_pkey)
refute on h1 ping -q -c 3 -i 0.2 -W 1 10.2.0.3
assert [ "$(fabric_counter ibfab2 port1.drop.rx_pkey)" -gt "$refused" ]

step "Children are deleted in the same way as they were made"
ip -n h0 link delete "$dev0.8001"
on h1 sh -ec "echo 0x8001 >/sys/class/net/$dev1/delete_child"
refute ip -n h0 link show "$dev0.8001"
refute ip -n h1 link show "$dev1.8001"
pings h0 10.2.0.2
