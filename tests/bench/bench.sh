#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs the same traffic with this driver, with the in-tree driver and over veth (the stack
# alone), in guests in which an instruction takes a nanosecond, and prints a table of the
# costs. build/bench also has the results as JSON, as a table for plots.sh, and as plots.
#
# Usage: bench.sh [--short FOLDER | --part PART | --profile|--exact [WHAT [LINK]]]
#
# A figure that is worse than its bar in the file "bars" fails the run. --short measures only
# four figures, and writes all files to FOLDER. --part measures one part of the figures, of both
# drivers, and compares only those with their bars whose bars are relative to a figure of that part.
#
# --profile and --exact print the functions in which each driver spends a run of ibbench
# instead. WHAT has the arguments of ibbench separated by commas, as in tcp,25000000; LINK is
# the code of the IB MTU and the HCA's offload, as in 5,csum, or 4,none,-,connected. With --profile perf takes samples,
# which is fast, but sees nothing while interrupts are disabled; with --exact QEMU logs each
# instruction.

. "$(dirname "$0")/common.sh"

run=$top/build/bench mode=${1:-} what=tcp,25000000 link=4,none
case $mode in
--short) run=$2 ;;
*) what=${2:-$what} link=${3:-$link} ;;
esac

# The names of the figures and their descriptions. A figure that a driver does not have is "-".
lines()
{
	cat <<-'E'
	tcp.2044	TCP bulk, MTU 2044, one stream: instructions/octet
	tcp8.2044	TCP bulk, MTU 2044, eight streams
	tcp.4092	TCP bulk, MTU 4092, one stream
	tcp8.4092	TCP bulk, MTU 4092, eight streams
	tcp.2044.csum	TCP bulk, MTU 2044, HCA computes checksums
	tcp8.2044.csum	... eight streams
	tcp.2044.lso	TCP bulk, MTU 2044, HCA segments
	tcp8.2044.lso	... eight streams
	udp64	UDP, 64 octets: instructions/packet
	udp1400	UDP, 1400 octets
	tcp.2044.dma	TCP bulk, MTU 2044, bounce buffers: instructions/octet
	tcp8.2044.dma	... eight streams
	udp64.dma	UDP, 64 octets, bounce buffers: instructions/packet
	udp1400.dma	UDP, 1400 octets, bounce buffers
	rr.dma	TCP request and response of 1 octet, bounce buffers
	ping.dma	ping flood, bounce buffers
	gso	UDP GSO, 63000 octets in segments of 2000: instructions/send
	gso.csum	... HCA computes checksums
	rr	TCP request and response of 1 octet: instructions/round trip
	ping	ping flood
	forward	forwarding of UDP, 64 octets: instructions/packet
	first.learned	first ping to a new peer: microseconds
	first.asked	... without learned paths
	queries.learned	SA queries for it
	queries.asked	... without learned paths
	groups	joining 500 groups: milliseconds
	up.one	setting an interface up, until carrier: milliseconds
	up.children	64 children created and set up: milliseconds
	wall.tcp	noisy: TCP, 2 CPUs, Mbit/s, median of five: more is better
	wall.tcp8	noisy: ... eight streams
	wall.udp	noisy: UDP, 1400 octets
	wall.two	noisy: TCP, two senders, Mbit/s
	wall.two.queues	noisy: ... each with a send queue (ethtool -L ib0 tx 2)
	memory.interface	memory of an interface that is up: octets
	memory.child	memory of a child that is up
	memory.neighbour	memory of a neighbour, with the kernel's own entry
	tcp.connected	TCP bulk, connected mode, MTU 65520, one stream: instructions/octet
	tcp8.connected	... eight streams
	udp60000	UDP, 60000 octets, connected mode: instructions/packet
	ping.connected	ping flood, connected mode
	tcp.connected.host	TCP bulk, connected mode, without the instructions of the virtual HCAs
	tcp8.connected.host	... eight streams
	udp60000.host	UDP, 60000 octets, connected mode, without those
	ping.connected.host	ping flood, connected mode, without those
	tcp.unsummed	TCP bulk, connected mode, omit_checksums=1: instructions/octet
	tcp8.unsummed	... eight streams
	udp60000.unsummed	UDP, 60000 octets, connected mode, omit_checksums=1: instructions/packet
	tcp.unsummed.host	TCP bulk, omit_checksums=1, without the instructions of the virtual HCAs
	tcp8.unsummed.host	... eight streams
	udp60000.unsummed.host	UDP, 60000 octets, omit_checksums=1, without those
	tcp.plain	TCP bulk, MTU 2044, one stream, for comparison with the following
	tcp.bridge	... through a bridge and an Ethernet device over IPoIB, at both hosts
	tcp.veth	... from a network namespace behind that bridge to another one
	tcp.vxlan	... through a bridge and VXLAN over IPoIB, at both hosts
	tcp.vxlan.veth	... from a network namespace behind that bridge to another one
	memory.connected	memory of 8 children with a connection each way: octets
	E
}

make_program()
{
	local tree=$run/tree

	mkdir -p "$tree/bench"
	gcc -O2 -Wall -Wextra -Werror -static -o "$tree/bench/ibbench" \
		"$bench_dir/ibbench.c"
	archive ibbench "$tree"
}

# guest DRIVER PART [ARCHIVE...]: boots a guest; $qemu is an array of arguments for QEMU.
guest()
{
	local driver=$1 part=$2 dir=$run/$1.$2 name add=() clock=(--icount)

	shift 2
	for name; do
		add+=(--add "$run/$name.cpio")
	done
	[ "$part" != wall ] || clock=(--smp 2)
	"$qemu_dir/guest.sh" "${clock[@]}" --timeout 900 --mem 4096 \
		--append "DRIVER=$driver PART=$part WHAT=$what LINK=$link" \
		--modules "$modules/driver" --modules "$modules/fabric" \
		--modules "$modules/probes" --modules "$modules/eth" \
		"${add[@]}" "$bench_dir/guest-bench.sh" "$dir" -- "${qemu[@]}" || {
		tail -n 30 "$dir/transcript.log" "$dir/result" >&2
		die "the guest failed: $driver, $part"
	}
}

# figures DRIVER PART: writes lines "name value" to DRIVER.PART.figures.
figures()
{
	local dir=$run/$1.$2

	progress_event begin "bench: $1, $2"
	guest "$1" "$2" ibbench
	progress_event end "bench: $1, $2" pass
	tr -d '\r' <"$dir/transcript.log" | sed -n 's/^figure //p' >"$dir.figures"
	[ -s "$dir.figures" ] || die "the guest measured nothing: $1, $2"
}

profile()
{
	local driver

	for driver in intree ours; do
		guest "$driver" profile ibbench perf
		tr -d '\r' <"$run/$driver.profile/transcript.log" |
			sed -n 's/^profile//p'
	done
}

# exact DRIVER: the guest has QEMU's monitor start and stop the log, which is processed while
# it is written.
exact()
{
	local dir=$run/$1.exact pipe=$run/$1.pipe words reader qemu

	mkfifo "$pipe.log" "$pipe.guest.in" "$pipe.guest.out"
	ln -s "$1.pipe.guest.out" "$pipe.monitor.in"
	ln -s "$1.pipe.guest.in" "$pipe.monitor.out"
	qemu=(-D "$pipe.log" -device virtio-serial-pci
		-chardev "pipe,id=guest,path=$pipe.guest"
		-device "virtserialport,chardev=guest,name=monitor"
		-chardev "pipe,id=monitor,path=$pipe.monitor"
		-mon "chardev=monitor,mode=control")
	IFS=, read -ra words <<<"$what"
	awk -v "transcript=$dir/transcript.log" -v "count=${words[1]}" \
		-f "$bench_dir/functions.awk" "$pipe.log" >"$run/$1.functions" &
	reader=$!
	guest "$1" exact ibbench || {
		kill "$reader"
		exit 1
	}
	wait "$reader"
}

# wait_for_guests PID...: fails if one of them has failed. "wait -n" would not report those
# that have ended already.
wait_for_guests()
{
	local pid

	for pid; do
		wait "$pid" || die "a guest failed"
	done
}

exact_both()
{
	local driver guests=()

	for driver in intree ours; do
		(exact "$driver") &
		guests+=($!)
	done
	wait_for_guests "${guests[@]}"
	for driver in intree ours; do
		echo "$driver, $what, $link: instructions"
		cat "$run/$driver.functions"
	done
}

# has_part DRIVER PART: veth only has the traffic figures.
has_part()
{
	[ "$1" != veth ] || [[ $2 == @(traffic|offload|forward|wall) ]]
}

# parts: prints "DRIVER PART" of all but the wall time's, one per line.
parts()
{
	local driver part

	for part in traffic dma offload control forward memory neighbours connected eth; do
		for driver in intree ours veth; do
			! has_part "$driver" "$part" || echo "$driver $part"
		done
	done
}

# plan: reads "DRIVER PART" of the guests that will run, for the line that shows the progress.
plan()
{
	local driver part

	while read -r driver part; do
		progress_event plan "bench: $driver, $part" 900 1
	done
}

# measure_all: runs as many guests at once as there are CPUs, as wall time does not matter to
# them, except for the last ones.
measure_all()
{
	local driver part parts guests=()

	mapfile -t parts < <(parts)
	printf '%s\n' "${parts[@]}" {intree,ours,veth}" wall" | plan
	for part in "${parts[@]}"; do
		while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
			wait -n || die "a guest failed"
		done
		figures "${part% *}" "${part#* }" &
		guests+=($!)
	done
	wait_for_guests "${guests[@]}"
	for driver in intree ours veth; do
		figures "$driver" wall
	done
	cat "$run"/intree.*.figures >"$run/intree"
	cat "$run"/ours.*.figures >"$run/ours"
	cat "$run"/veth.*.figures >"$run/veth"
}

# measure_part PART: measures this part, of both drivers at once.
measure_part()
{
	local driver guests=()

	printf '%s\n' "intree $1" "ours $1" | plan
	for driver in intree ours; do
		figures "$driver" "$1" &
		guests+=($!)
	done
	wait_for_guests "${guests[@]}"
	for driver in intree ours; do
		mv "$run/$driver.$1.figures" "$run/$driver"
	done
	: >"$run/veth"
}

# hold_bars NAME...: fails if one of these figures is worse than its bar, or is missing.
hold_bars()
{
	awk -v said=1 -v "names=$*" -f "$bench_dir/bars.awk" "$bench_dir/bars" "$run/table"
}

bar_names()
{
	awk '$1 !~ /^#/ { print $1 }' "$bench_dir/bars" | uniq
}

# own_bar_names: prints the figures of the table whose bars are relative to another one of this
# driver.
own_bar_names()
{
	awk 'FNR == NR { known[$1] = $2 != "-"; next }
		$1 !~ /^#/ && $3 != "" && known[$1] { print $1 }' "$run/table" "$bench_dir/bars" | uniq
}

# table: prints, separated by tabs: name, this driver, in-tree driver, ratio, stack alone,
# description.
table()
{
	lines | awk -F '\t' -v dir="$run" '
		function read(driver,	line, word) {
			while ((getline line <(dir "/" driver)) > 0) {
				split(line, word, " ")
				value[driver, word[1]] = word[2]
			}
		}
		function figure(driver, name) {
			return (driver, name) in value ? value[driver, name] : "-"
		}
		BEGIN {
			OFS = "\t"
			read("ours")
			read("intree")
			read("veth")
		}
		{
			ours = figure("ours", $1)
			intree = figure("intree", $1)
			ratio = ours != "-" && intree > 0 ? \
				sprintf("%.3f", ours / intree) : "-"
			print $1, ours, intree, ratio, figure("veth", $1), $2
		}'
}

show()
{
	awk -F '\t' '
		BEGIN {
			printf "%-23s %12s %12s %6s %12s  %s\n", "", "ours",
				"in-tree", "ratio", "stack alone", "what"
		}
		{ printf "%-23s %12s %12s %6s %12s  %s\n", $1, $2, $3, $4, $5, $6 }'
}

json()
{
	jq -R -n 'def figure: tonumber? // null;
		[inputs | split("\t") | {
			name: .[0], ours: (.[1] | figure), intree: (.[2] | figure),
			ratio: (.[3] | figure), stack: (.[4] | figure), what: .[5] }]'
}

# results: prints the table and where it comes from, in the format of the file "results".
results()
{
	local commit

	commit=$(git -C "$top" describe --always --dirty 2>/dev/null) || commit=unknown
	echo '# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause'
	echo "# run: make bench, commit $commit ($(date -u +%F))"
	cat "$run/table"
}

rm -rf "$run"
mkdir -p "$run"
trap progress_stop EXIT
trap 'exit 1' INT TERM
progress_start "$(nproc)"
progress_event steps 2
progress_event step "Debian packages"
if [ "$mode" = --short ]; then
	"$qemu_dir/deps.sh" build guest
else
	"$qemu_dir/deps.sh" build guest bench plots
fi
progress_event step "modules"
modules=$("$qemu_dir/build.sh")
make_program
qemu=()
case $mode in
--profile)
	"$qemu_dir/deps.sh" perf
	perf_archive
	profile
	exit
	;;
--exact)
	exact_both
	exit
	;;
esac
if [ "$mode" = --short ]; then
	measure_part short
	table >"$run/table"
	grep -v '	-	-	' "$run/table" | show
	hold_bars tcp.2044 tcp8.2044 udp1400 ping
	exit
fi
if [ "$mode" = --part ]; then
	measure_part "$what"
	table >"$run/table"
	grep -v '	-	-	' "$run/table" | show
	mapfile -t names < <(own_bar_names)
	[ ${#names[@]} -eq 0 ] || hold_bars "${names[@]}"
	exit
fi
measure_all
table >"$run/table"
show <"$run/table"
json <"$run/table" >"$run/bench.json"
results >"$run/results"
"$bench_dir/plots.sh" "$run/results" "$run" "$run"
mapfile -t names < <(bar_names)
hold_bars "${names[@]}"
