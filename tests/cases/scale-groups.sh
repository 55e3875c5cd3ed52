# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-scale.sh
# 1,000 multicast groups, IPv4 and IPv6, are joined and left: the time and the MADs; all are
# at the SA, and none is left over; with this driver and the in-tree driver.
# timeout: 200
# soak: 400
# append: slub_debug=F

. /cases/lib-scale.sh

each=$(full_or 100 500)

# of_ours: prints how many of the groups below the SA has.
of_ours()
{
	saquery -C ibfab0 -g >/run/sa.groups || return
	awk '/MGID\.*ff12:(401b:ffff::f10:|601b:ffff::[0-9a-f]*:77:1$)/ { n++ }
		END { print n + 0 }' /run/sa.groups
}

ours_at_sa()
{
	[ "$(of_ours)" -eq "$1" ]
}

# joined COUNT: the interface has joined COUNT of them.
joined()
{
	[ "$(groups_joined ':f10:[0-9a-f]*$|:77:1$' "/sys/kernel/debug/ipoib/${dev}_mcg")" -eq "$1" ]
}

# change VERB: adds or deletes all of them, as a program that listens does.
change()
{
	for _n in $(seq "$each"); do
		echo "address $1 239.16.$((_n / 250)).$((_n % 250 + 1))/32 dev $dev autojoin"
		# All of them have the same solicited-node group
		echo "address $1 ff02::$(printf %x "$_n"):77:1/128 dev $dev nodad autojoin"
	done >/run/batch
	now_ms
	_begin=$now_ms
	ip -n h1 -batch /run/batch
}

# took WHAT: notes the time and the MADs since the change.
took()
{
	now_ms
	_asked=$(sa_asked)
	note "$1 in $((now_ms - _begin)) ms, $_asked MADs to the SA"
	# One MAD for each group of both families, and one for the shared solicited-node group
	assert_between "MADs to the SA" "$_asked" $((2 * each)) $((2 * each * 11 / 10 + 20))
}

# slabs_note BEFORE LEAST: notes what is left.
slabs_note()
{
	sleep 5
	slabs /run/slabs.now
	_left=$(slabs_grown "$1" /run/slabs.now "$2")
	note "what is left of them: ${_left:-nothing}"
}

# through WHAT SETTLES LOAD...
through()
{
	step "$1"
	_what=$1 _settles=$2
	shift 2
	fabric_start hcas=2 dma=0
	opensm_start
	"$@"
	host_make h1 ibfab1 1
	on h1 sh -c 'echo 10000 >/proc/sys/net/ipv4/igmp_max_memberships'
	dev=$(dev_of h1)
	wait_for 20 has_carrier h1 "$dev"
	assert_eq "groups at the SA" "$(of_ours)" 0
	# One of each first, so that everything that is allocated once exists
	_all=$each each=1
	change add
	wait_for 10 ours_at_sa 2
	change delete
	wait_for 10 ours_at_sa 0
	each=$_all
	# The former has the kernel allocate something for each cache
	slab_list /run/slab.before
	slabs /run/slabs.before

	sa_count_begin
	change add
	wait_for 60 joined $((2 * each))
	took "$_what: $((2 * each)) groups joined"
	wait_for 20 ours_at_sa $((2 * each))
	slab_list /run/slab.after
	_bytes=$(slab_growth /run/slab.before /run/slab.after)
	note "$_what: $((_bytes / 2 / each)) octets each, with the IP layer's, ib_core's and the HCA's"

	sa_count_begin
	change delete
	wait_for 60 ours_at_sa 0
	took "$_what: $((2 * each)) groups left"
	"$_settles" /run/slabs.before $((2 * each))
	ip netns del h1
	wait_for 20 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

# The kernel's internal socket needs option memory for each IPv6 group
echo 1000000 >/proc/sys/net/core/optmem_max

through "this driver" slabs_settle ipoib_load
case $(uname -r) in
6.*)
	through "in-tree driver" slabs_settle intree_load
	;;
*)
	# It leaves two objects of 128 octets for each group on Linux 7.3
	through "in-tree driver" slabs_note intree_load
	;;
esac
