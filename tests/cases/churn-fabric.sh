# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# Under traffic the P_Key table is rewritten, and the SM killed and started, again and again.
# kernel: debug
# timeout: 150
# when: soak
# soak: 900

. /cases/lib-churn.sh

reset_more()
{
	[ "$(stat_of h1 qp_resets)" -gt "$1" ]
}

joined_more()
{
	[ "$(stat_of h1 group_joins)" -gt "$1" ]
}

churn_start

times=$(full_or 60 500)
churn_begin "$times times: the P_Keys of both ports are others' places"
# Most come while the one before is still being followed, but not all.
for n in $(seq "$times"); do
	resets=$(stat_of h1 qp_resets)
	echo "1 rotate_pkeys 1" >"$ibfab/ibfab0/change"
	echo "1 rotate_pkeys 1" >"$ibfab/ibfab1/change"
	[ $((n % 10)) -ne 0 ] || wait_for 20 reset_more "$resets"
done
# The table has 32 places
rest=$((31 - (times - 1) % 32))
for hca in ibfab0 ibfab1; do
	[ $rest -eq 0 ] || echo "1 rotate_pkeys $rest" >"$ibfab/$hca/change"
	assert_eq "the first P_Key of $hca" "$(cat "$ib/$hca/ports/1/pkeys/0")" 0xffff
done
churn_end
note "QP resets for $((times * 2)) changes: $(stat_of h0 qp_resets), $(stat_of h1 qp_resets)"

times=$(full_or 3 20)
churn_begin "$times times: the SM is killed, and another one starts"
for _ in $(seq "$times"); do
	joins=$(stat_of h1 group_joins)
	kill -KILL "$opensm_pid"
	wait "$opensm_pid" || :
	opensm_start -P /run/partitions.conf
	wait_for 30 joined_more "$joins"
done
churn_end
