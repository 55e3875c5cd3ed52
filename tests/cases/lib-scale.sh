# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases that print what many of something cost. Sources lib.sh. The SM has an HCA
# to itself, ibfab0, so that every question to it crosses its cable.

# shellcheck source=lib.sh
. /cases/lib.sh

# neighbours_unbounded: otherwise there is room for 1024 in the whole guest.
neighbours_unbounded()
{
	for _family in ipv4 ipv6; do
		echo 200000 >"/proc/sys/net/$_family/neigh/default/gc_thresh3"
		echo 100000 >"/proc/sys/net/$_family/neigh/default/gc_thresh2"
	done
}

# sa_count_begin: from now on the MADs to the SA are counted, by no other rule than these.
# The second rule, of the questions for paths, sees what the first lets pass.
sa_count_begin()
{
	rules_clear ibfab0
	rule ibfab0 what=gmp class=0x03 do=drop every=4294967295
	rule ibfab0 what=gmp class=0x03 attr=0x35 do=drop every=4294967295
}

# sa_asked: prints how many there were.
sa_asked()
{
	rule_figure ibfab0 seen 1
}

# sa_asked_paths: of these for paths.
sa_asked_paths()
{
	rule_figure ibfab0 seen 2
}

# slab_list FILE: "CACHE OBJECTS SIZE", without what can be given back at once, and
# without the fabric's pools of packets.
slab_list()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk 'NR > 2 && $1 !~ /^ibfab_pool_/ { print $1, $2, $4 }' /proc/slabinfo >"$1"
}

# slab_growth BEFORE AFTER: octets.
slab_growth()
{
	awk 'NR == FNR { was[$1] = $2; next }
		{ sum += ($2 - was[$1]) * $3 } END { printf "%d\n", sum }' "$1" "$2"
}

# slab_growth_by BEFORE AFTER COUNT: the caches that hold COUNT objects more, or almost.
slab_growth_by()
{
	awk -v count="$3" 'NR == FNR { was[$1] = $2; next }
		$2 - was[$1] >= count * 9 / 10 { printf "%s +%d, ", $1, $2 - was[$1] }' "$1" "$2"
}

# slab_returned BEFORE OCTETS: not so many more are left.
slab_returned()
{
	slab_list /run/slab.now
	slab_growth_by "$1" /run/slab.now 20
	[ "$(slab_growth "$1" /run/slab.now)" -lt "$2" ]
}
