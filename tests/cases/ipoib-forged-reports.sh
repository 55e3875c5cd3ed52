# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Reports about groups that are not from the SA are neither believed nor answered; the SA's
# own Report that the broadcast group was deleted is checked against its list of groups.
# timeout: 150
# profiles: virtual connectx3 connectx5 small

. /cases/lib.sh

broadcast=ff12401bffff000000000000ffffffff

# report TRAP MGID: prints a Report as the SA sends it (IBA 13.4.8.2): the notice is generic,
# of type 3, from a class manager.
report()
{
	_mad=$(printf '0103020600000000%016x0002000000000000' 1)
	printf '%s83000004%04x%04x0000%012d%s' "$(hex_pad 112 "$_mad")" "$1" "$(lid_of ibfab0)" 0 "$2"
}

# report_qp1 HCA TRAP MGID: sends a Report to h1 from this HCA's QP1. Status 1 if it is not answered.
report_qp1()
{
	mad_send "$1" qp=1 "dlid=$(lid_of ibfab1)" timeout=300 "mad=$(report "$2" "$3")"
}

# report_user HCA TRAP MGID: sends a Report to QP1 of h1 from a UD QP of this HCA, which any
# user may have.
report_user()
{
	echo "dlid=$(lid_of ibfab1) qpn=1 qkey=0x80010000 own_qkey=0x80010000" \
		"payload=$(hex_pad 512 "$(report "$2" "$3")")" >"$raw/$1/send" || fail "cannot send"
}

# mgid N: prints the MGID of 239.7.7.N.
mgid()
{
	printf 'ff12401bffff0000000000000f0707%02x' "$1"
}

# asked N: prints how often h1 has sent the Nth of the requests below since asked_begin.
asked_begin()
{
	rules_clear ibfab1
	# Reading the list, including acknowledgments; a join; a leave
	for _method in 0x12 0x02 0x15; do
		rule ibfab1 dir=out what=gmp class=0x03 attr=0x38 method=$_method do=drop every=4294967295
	done
}

asked()
{
	rule_figure ibfab1 seen "$1"
}

asked_for()
{
	[ "$(asked "$1")" -gt 0 ]
}

# joins_nothing: whether nothing is joined for a second.
joins_nothing()
{
	_asked=$(stat_of h1 group_joins)
	sleep 1
	[ "$(stat_of h1 group_joins)" -eq "$_asked" ]
}

# asked_by_all HOST ADDRESS: all of five ARP requests, which are broadcasts, are answered.
asked_by_all()
{
	on "$1" arping -b -c 5 -w 10 -I "$(dev_of "$1")" "$2" >/run/arping || fail "$(cat /run/arping)"
	assert grep 'Received 5 response' /run/arping
}

broadcasts_arrive()
{
	asked_by_all h1 10.0.0.3
	asked_by_all h2 10.0.0.2
}

# Fewer groups, so that only the Reports can cause requests to the SA
ipv6_off
fabric_start hcas=3
module_insert /modules/ibraw.ko
module_insert /modules/ibrawmad.ko
opensm_start
ipoib_load
hosts_make 3
ip -n h1 link set "$(dev_of h1)" allmulticast on
wait_for 20 subscribed_to "66 67 "
wait_for 20 joins_nothing
forged=$(stat_of h1 reports_forged) created=$(stat_of h1 reports_created)
assert_eq "Reports forged before" "$forged" 0

step "66 and 67 from another host's QP1: no answer, and h1 does not query the SA"
asked_begin
for n in 1 2 3 4 5; do
	refute report_qp1 ibfab2 66 "$(mgid 1$n)"
	refute report_qp1 ibfab2 67 $broadcast
done
sleep 1
assert_eq "Reports forged" "$(stat_of h1 reports_forged)" 10
assert_eq "lists, joins, leaves" "$(asked 1) $(asked 2) $(asked 3)" "0 0 0"

step "The same from a user's QP, of another host and of the SM's own"
for n in 1 2 3 4 5; do
	for hca in ibfab0 ibfab2; do
		report_user $hca 66 "$(mgid 2$n)"
		report_user $hca 67 $broadcast
	done
done
wait_for 5 stat_reaches h1 reports_forged 30
sleep 1
assert_eq "Reports forged" "$(stat_of h1 reports_forged)" 30
assert_eq "lists, joins, leaves" "$(asked 1) $(asked 2) $(asked 3)" "0 0 0"
assert_eq "Reports taken" "$(stat_of h1 reports_created) $(stat_of h1 reports_deleted)" \
	"$created 0"
broadcasts_arrive

step "From the SM's QP1 they are answered and accepted: a group is joined"
assert report_qp1 ibfab0 66 "$(mgid 31)"
wait_for 5 stat_reaches h1 reports_created $((created + 1))
wait_for 10 stat_reaches h1 group_failures 1
assert asked_for 2

step "The group is not in the SA's list, so it is left"
no_such_group()
{
	not file_says f07:71f "/sys/kernel/debug/ipoib/$(dev_of h1)_mcg"
}
wait_for 20 no_such_group

step "A false Report that the broadcast group is gone: the list is read, h1 stays a member"
wait_for 20 joins_nothing
asked_begin
assert report_qp1 ibfab0 67 $broadcast
wait_for 10 asked_for 1
sleep 1
assert_eq "joins, leaves" "$(asked 2) $(asked 3)" "0 0"
assert has_carrier h1 "$(dev_of h1)"
broadcasts_arrive
assert_eq "Reports forged" "$(stat_of h1 reports_forged)" 30

step "A hand-over: the new SM's Reports are accepted, the old one's are not"
rules_clear ibfab1
created=$(stat_of h1 reports_created)
opensm_kill
sm_start ibfab2 5
wait_for 60 served_by ibfab2
wait_for 30 stat_reaches h1 subscriptions 2
wait_for 20 joins_nothing
traffic_start listen on h0 socat -u \
	"UDP4-RECV:5000,ip-add-membership=239.7.7.41:$(dev_of h0)" OPEN:/run/heard,creat
wait_for 20 stat_reaches h1 reports_created $((created + 1))
forged=$(stat_of h1 reports_forged)
refute report_qp1 ibfab0 66 "$(mgid 42)"
assert_eq "Reports forged" "$(stat_of h1 reports_forged)" $((forged + 1))
traffic_stop listen
