# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases that print the cost of large numbers of objects. Sources lib.sh. The SM has an HCA
# of its own, ibfab0, so that every request to it crosses that HCA's cable.

# shellcheck source=lib.sh
. /cases/lib.sh

# neighbours_unbounded: removes the limit of 1024 neighbour entries per guest.
neighbours_unbounded()
{
	for _family in ipv4 ipv6; do
		echo 200000 >"/proc/sys/net/$_family/neigh/default/gc_thresh3"
		echo 100000 >"/proc/sys/net/$_family/neigh/default/gc_thresh2"
	done
}

# sa_count_begin: starts to count MADs to the SA, replacing all other rules. The second rule,
# for path queries, sees the packets that the first one passes on.
sa_count_begin()
{
	rules_clear ibfab0
	rule ibfab0 what=gmp class=0x03 do=drop every=4294967295
	rule ibfab0 what=gmp class=0x03 attr=0x35 do=drop every=4294967295
}

# sa_asked: prints the number of these MADs.
sa_asked()
{
	rule_figure ibfab0 seen 1
}

# sa_asked_paths: prints the number of path queries among them.
sa_asked_paths()
{
	rule_figure ibfab0 seen 2
}

# groups_joined PATTERN FILE...: prints the number of joined groups whose MGID matches; the
# files are the interfaces' lists of groups in debugfs.
groups_joined()
{
	_pattern=$1
	shift
	awk -v pattern="$_pattern" '$1 == "GID:" { ours = $2 ~ pattern }
		ours && $1 == "complete:" && $2 == "yes" { n++ } END { print n + 0 }' "$@"
}

# slab_list FILE: writes "CACHE OBJECTS SIZE" of each cache, after flushing memory that can be
# reclaimed at once, and without the fabric's packet pools.
slab_list()
{
	echo 3 >/proc/sys/vm/drop_caches
	# What CPUs keep for themselves is counted as in use. Other names of a cache are links
	for _cache in /sys/kernel/slab/*; do
		[ -L "$_cache" ] || echo 1 >"$_cache/shrink"
	done
	awk 'NR > 2 && $1 !~ /^ibfab_pool_/ { print $1, $2, $4 }' /proc/slabinfo >"$1"
}

# slab_growth BEFORE AFTER: prints the growth in octets.
slab_growth()
{
	awk 'NR == FNR { was[$1] = $2; next }
		{ sum += ($2 - was[$1]) * $3 } END { printf "%d\n", sum }' "$1" "$2"
}

# slab_growth_by BEFORE AFTER COUNT: prints the caches that have grown by about COUNT objects
# or more.
slab_growth_by()
{
	awk -v count="$3" 'NR == FNR { was[$1] = $2; next }
		$2 - was[$1] >= count * 9 / 10 { printf "%s +%d, ", $1, $2 - was[$1] }' "$1" "$2"
}

# slab_returned BEFORE OCTETS: whether the growth is less than OCTETS.
slab_returned()
{
	slab_list /run/slab.now || return 2
	slab_growth_by "$1" /run/slab.now 20
	[ "$(slab_growth "$1" /run/slab.now)" -lt "$2" ]
}

# ---- Any number of peers: ibfab2 sends frames in their name to h1, through ibraw ----

# send COUNT PAYLOAD VARY [WORD...]: sends frames from ibfab2 to the host.
send()
{
	_count=$1 _payload=$2 _vary=$3
	shift 3
	_to=$(on h1 cat "/sys/class/net/$(dev_of h1)/address" | cut -d: -f2-4 | tr -d :)
	echo "dlid=$(lid_of ibfab1) qpn=0x$_to qkey=0xb1b from_listener=1" \
		"count=$_count payload=$_payload vary=$_vary $*" \
		>/sys/kernel/debug/ibraw/ibfab2/send ||
		fail "cannot send"
}

# say COUNT GID VARY [WORD...]: sends ARP requests of COUNT peers, each with its own IP
# address and, depending on VARY, its own QPN (12) or GID (28).
say()
{
	_arp=0020080014040001$(printf '00%06x' "$qpn")${2}0a010101
	_times=$1 _which=$3
	shift 3
	send "$_times" "08060000$_arp$(printf '%040d' 0)0a010001" "$_which,32" "$@"
}

# say_qpns COUNT: the peers are QPs of a port that the SA knows.
say_qpns()
{
	say "$1" "fe80000000000000$(port_guid ibfab2)" 12
}

neighbours_are()
{
	[ "$(ip -n h1 neigh show | wc -l)" -ge "$1" ]
}
