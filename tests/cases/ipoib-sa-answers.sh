# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A truncated answer of the SA is requested again, and no path is made of it.
# timeout: 150
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh

pings()
{
	on h1 ping -q -c 1 -W 1 "$@"
}

# cut_answer OCTETS ATTRIBUTE: truncates the next answer to ibfab1; the headers have 56 octets.
cut_answer()
{
	rules_clear ibfab1
	rule ibfab1 what=sa_answer method=0x81 do=truncate "value=$1" "attr=$2" count=1
}

fabric_start hcas=2
opensm_start
# Otherwise the path would be learned from the peer's packets
ipoib_load learn_paths=0
hosts_make 2

step "A path without a LID"
failures=$(stat_of h1 path_failures)
cut_answer 56 0x35
wait_for 20 pings 10.0.0.1
assert_eq "answers cut" "$(fabric_counter ibfab1 port1.fault.truncate)" 1
assert stat_reaches h1 path_failures $((failures + 1))
