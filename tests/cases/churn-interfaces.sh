# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# Under traffic four processes make and delete children at once, and namespaces end with interfaces in them, again and again.
# kernel: debug
# timeout: 150
# when: soak
# soak: 300

. /cases/lib-churn.sh

# child_of HOST P_KEY: made, up for a moment, deleted; by turns netlink and sysfs.
child_of()
{
	if [ $(($3 % 3)) -eq 0 ]; then
		on "$1" sh -c "echo 0x$2 >/sys/class/net/$parent/create_child" || return
	else
		ip -n "$1" link add link "$parent" name "$parent.$2" type ipoib \
			pkey "0x$2" || return
	fi
	ip -n "$1" link set "$parent.$2" up || return
	if [ $(($3 % 2)) -eq 0 ]; then
		on "$1" sh -c "echo 0x$2 >/sys/class/net/$parent/delete_child"
	else
		ip -n "$1" link delete "$parent.$2"
	fi
}

# maker N TIMES: every other child has a P_Key that is this process's own, which
# must succeed; the others have the same one in all, and some are refused.
maker()
{
	parent=$(dev_of h0)
	for _turn in $(seq "$2"); do
		if [ $((_turn % 2)) -eq 0 ]; then
			child_of h0 "800$1" $((_turn / 2)) || return
		else
			child_of h0 8005 $((_turn / 2)) && echo made
		fi
	done
	echo "ends after $2"
}

churn_start

times=$(full_or 60 500)
churn_begin "$times children, by four processes at once"
for n in 1 2 3 4; do
	maker $n $((times / 4)) >"/run/maker.$n" 2>&1 &
	eval "maker_$n=$!"
done
for n in 1 2 3 4; do
	eval "wait \$maker_$n" || fail "maker $n: $(tail -n 5 /run/maker.$n)"
	assert grep -qx "ends after $((times / 4))" /run/maker.$n
done
note "of $((times / 2)) that all wanted: $(cat /run/maker.* | grep -cx made) made"
assert grep -qx made /run/maker.*
churn_end

# A namespace that ends hands its interfaces to the first one.
back()
{
	test -e "/sys/class/net/$1"
}

times=$(full_or 6 50)
churn_begin "$times times: a namespace ends with an interface and its child in it"
dev=$(dev_of h1)
for _ in $(seq "$times"); do
	ip netns add ends
	ip -n h1 link set "$dev" netns ends
	ip -n ends link set "$dev" up
	ip -n ends link add link "$dev" name child type ipoib pkey 0x8001
	ip -n ends link set child up
	ip -n ends address add 10.0.0.2/24 dev "$dev"
	ip netns delete ends
	wait_for 20 back "$dev"
	wait_for 20 back child
	ip link delete child
	host_give h1 ibfab1 2
done
churn_end
