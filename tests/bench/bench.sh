#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The same traffic with this driver, with the kernel's own and over veth (the stack
# alone), in guests in which an instruction takes a nanosecond: a table of what each
# costs. build/bench has it as JSON and as a plot, too.
#
# Usage: bench.sh [--short FOLDER | --profile|--exact [WHAT [LINK]]]
#
# A figure that is worse than its bar in the file "bars" fails the run. --short, which leaves
# all in FOLDER, is of four figures only.
#
# WHAT, the words of one run of ibbench with commas as in tcp,25000000: prints in which
# functions each driver spends it, instead. LINK is the IB MTU's code and what the HCA
# does, as in 5,csum. With --profile perf takes samples, quick, and blind where
# interrupts are off; with --exact QEMU logs each instruction.

. "$(dirname "$0")/common.sh"

run=$top/build/bench mode=${1:-} what=tcp,25000000 link=4,none
case $mode in
--short) run=$2 ;;
*) what=${2:-$what} link=${3:-$link} ;;
esac

# Names of figures, and what they are. One that a driver does not have is "-".
lines()
{
	cat <<-'E'
	tcp.2044	TCP bulk, MTU 2044, one stream: instructions/octet
	tcp8.2044	TCP bulk, MTU 2044, eight streams
	tcp.4092	TCP bulk, MTU 4092, one stream
	tcp8.4092	TCP bulk, MTU 4092, eight streams
	tcp.2044.csum	TCP bulk, MTU 2044, HCA makes checksums
	tcp8.2044.csum	... eight streams
	tcp.2044.lso	TCP bulk, MTU 2044, HCA cuts
	tcp8.2044.lso	... eight streams
	udp64	UDP, 64 octets: instructions/packet
	udp1400	UDP, 1400 octets
	tcp.2044.dma	TCP bulk, MTU 2044, all DMA by bounce buffers: instructions/octet
	tcp8.2044.dma	... eight streams
	udp64.dma	UDP, 64 octets, bounce buffers: instructions/packet
	udp1400.dma	UDP, 1400 octets, bounce buffers
	rr.dma	TCP request and response of 1 octet, bounce buffers
	ping.dma	ping flood, bounce buffers
	gso	UDP, 63000 octets a send, cut to 2000: instructions/send
	gso.csum	... HCA makes checksums
	rr	TCP request and response of 1 octet: instructions/round trip
	ping	ping flood
	forward	forwarding of UDP, 64 octets: instructions/packet
	first.learned	first ping to a new peer: microseconds
	first.asked	... without learned paths
	queries.learned	questions to the SA for that
	queries.asked	... without learned paths
	groups	500 groups joined: milliseconds
	up.one	an interface until it has carrier: milliseconds
	up.children	64 children made and up: milliseconds
	wall.tcp	noisy: TCP, 2 CPUs, Mbit/s, median of five: more is better
	wall.tcp8	noisy: ... eight streams
	wall.udp	noisy: UDP, 1400 octets
	wall.two	noisy: TCP, two senders, Mbit/s
	wall.two.queues	noisy: ... each with a send queue (ethtool -L ib0 tx 2)
	memory.interface	memory of an interface that is up: octets
	memory.child	memory of a child that is up
	memory.neighbour	memory of a neighbour, with the kernel's own entry
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

# guest DRIVER PART [ARCHIVE...]: with $qemu, an array, for QEMU.
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
		--modules "$modules/probes" \
		"${add[@]}" "$bench_dir/guest-bench.sh" "$dir" -- "${qemu[@]}" || {
		tail -n 30 "$dir/transcript.log" "$dir/result" >&2
		die "the guest failed: $driver, $part"
	}
}

# figures DRIVER PART: leaves the lines "name value" in DRIVER.PART.figures.
figures()
{
	local dir=$run/$1.$2

	guest "$1" "$2" ibbench
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

# exact DRIVER: the guest itself has QEMU's monitor start and stop the log, which is read
# as it is written.
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

# wait_for_guests PID...: also for those that have ended already, whose status "wait -n"
# would not tell.
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

# has_part DRIVER PART: all that veth has is traffic.
has_part()
{
	[ "$1" != veth ] || [[ $2 == @(traffic|offload|forward|wall) ]]
}

# measure_all: as many guests at once as there are CPUs; time does not matter to them, but
# for the last.
measure_all()
{
	local driver part guests=()

	for part in traffic dma offload control forward memory neighbours; do
		for driver in intree ours veth; do
			has_part "$driver" "$part" || continue
			while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
				wait -n || die "a guest failed"
			done
			figures "$driver" "$part" &
			guests+=($!)
		done
	done
	wait_for_guests "${guests[@]}"
	for driver in intree ours veth; do
		figures "$driver" wall
	done
	cat "$run"/intree.*.figures >"$run/intree"
	cat "$run"/ours.*.figures >"$run/ours"
	cat "$run"/veth.*.figures >"$run/veth"
}

# measure_short: by both drivers at once.
measure_short()
{
	local driver guests=()

	for driver in intree ours; do
		figures "$driver" short &
		guests+=($!)
	done
	wait_for_guests "${guests[@]}"
	for driver in intree ours; do
		mv "$run/$driver.short.figures" "$run/$driver"
	done
	: >"$run/veth"
}

# hold_bars NAME...: fails if one of these is worse than its bar, or is missing.
hold_bars()
{
	awk -v "names=$*" -f "$bench_dir/bars.awk" "$bench_dir/bars" "$run/table"
}

bar_names()
{
	awk '$1 !~ /^#/ { print $1 }' "$bench_dir/bars"
}

# table: tab-separated name, ours, in-tree, ratio, the stack alone, text.
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
			printf "%-16s %12s %12s %6s %12s  %s\n", "", "ours",
				"in-tree", "ratio", "stack alone", "what"
		}
		{ printf "%-16s %12s %12s %6s %12s  %s\n", $1, $2, $3, $4, $5, $6 }'
}

json()
{
	jq -R -n 'def figure: tonumber? // null;
		[inputs | split("\t") | {
			name: .[0], ours: (.[1] | figure), intree: (.[2] | figure),
			ratio: (.[3] | figure), stack: (.[4] | figure), what: .[5] }]'
}

# plot FORMAT FILE: how much of the in-tree driver's each line takes.
plot()
{
	gnuplot <<-E
	set terminal $1 size 900,500
	set output "$2"
	set datafile separator "\t"
	set style fill solid
	set boxwidth 0.7
	set grid y
	set yrange [0:1.2]
	set ylabel "of the in-tree driver's"
	set xtics rotate by -40
	plot "$run/table" using (\$0):4:xtic(1) with boxes notitle, 1 notitle
	E
}

rm -rf "$run"
mkdir -p "$run"
if [ "$mode" = --short ]; then
	"$qemu_dir/deps.sh" build guest
else
	"$qemu_dir/deps.sh" build guest bench
fi
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
	measure_short
	table >"$run/table"
	grep -v '	-	-	' "$run/table" | show
	hold_bars tcp.2044 tcp8.2044 udp1400 ping
	exit
fi
measure_all
table >"$run/table"
show <"$run/table"
json <"$run/table" >"$run/bench.json"
plot svg "$run/bench.svg"
# As Documentation/performance.svg it is a file of this tree, all of which have this line
sed -i '1a <!-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause -->' "$run/bench.svg"
plot png "$run/bench.png"
mapfile -t names < <(bar_names)
hold_bars "${names[@]}"
