# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What this driver and the in-tree driver put on the wire in the same scenario, decoded by
# tshark, differs only as wire-compare.expected says, and is not malformed.
# runs: host
# timeout: 1000

work=$1
cases=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
qemu=$cases/../qemu

# Host h1 is observed: h0 is beside the SM, so its requests cross no cable.
scenario()
{
	cat <<-'E'
	. /cases/lib.sh

	# Packets that depend on timers must not differ between the runs
	no_timers()
	{
		for _family in ipv4 ipv6; do
			on "$1" sh -c "echo 3600 >/proc/sys/net/$_family/neigh/$2/delay_first_probe_time"
		done
		on "$1" sh -c "echo 0 >/proc/sys/net/ipv6/conf/$2/router_solicitations"
		# The delay of DAD is random, and less than this
		on "$1" sh -c "echo 0 >/proc/sys/net/ipv6/conf/$2/router_solicitation_delay"
	}

	# link_local HOST DEVICE MODE: waits until it has a link-local address. The in-tree
	# driver loses packets that are sent while its carrier comes up, and DAD with them.
	link_local()
	{
		on "$1" sh -c "echo $3 >/proc/sys/net/ipv6/conf/$2/addr_gen_mode"
	}

	# has_group DEVICE REGEX: the driver has such a group, and has joined all of its groups.
	has_group()
	{
		file_says "$2" "/sys/kernel/debug/ipoib/$1_mcg" &&
			not file_says 'complete: *no' "/sys/kernel/debug/ipoib/$1_mcg"
	}

	has_addresses()
	{
		not says tentative ip -n "$1" -6 address show dev "$2"
	}

	# listen HOST DEVICE GROUP4 GROUP6: writes received datagrams to /run/HOST.4 and
	# /run/HOST.6
	listen()
	{
		traffic_start "listen4.$1" on "$1" socat -u \
			"UDP4-RECV:5000,ip-add-membership=$3:$2" "OPEN:/run/$1.4,creat,append"
		traffic_start "listen6.$1" on "$1" socat -u \
			"UDP6-RECV:5001,ipv6-join-group=[$4]:$2" "OPEN:/run/$1.6,creat,append"
	}

	# hears FILE HOST SOCAT-ADDRESS: a datagram from HOST arrives. The first packet to a group goes
	# to the broadcast group with this driver, so there are two.
	hears()
	{
		: >"$1"
		for _ in 1 2; do
			echo probe | on "$2" socat -u - "$3"
			sleep 0.2
		done
		[ "$(grep -c probe "$1")" -eq 2 ]
	}

	# tells LISTENER HOST DEVICE GROUP4 GROUP6
	tells()
	{
		wait_for 20 hears "/run/$1.4" "$2" \
			"UDP4-DATAGRAM:$4:5000,so-bindtodevice=$3"
		wait_for 20 hears "/run/$1.6" "$2" \
			"UDP6-DATAGRAM:[$5]:5001,so-bindtodevice=$3"
	}

	# left DEVICE MGID-REGEX: the driver has no such groups any more
	left()
	{
		not file_says "$2" "/sys/kernel/debug/ipoib/$1_mcg"
	}

	no_member()
	{
		not says ":$1" saquery -C ibfab0 -m
	}

	sent()
	{
		echo "$(netdev_counter h0 "$dev0" tx_packets) $(netdev_counter h1 "$dev1" tx_packets)"
	}

	# is_quiet: nothing was sent for longer than the interval between announcements
	is_quiet()
	{
		_before=$(sent)
		sleep 5
		[ "$(sent)" = "$_before" ]
	}

	fabric_start hcas=2
	opensm_start
	# Makes the hosts' QPNs differ
	module_insert /modules/ibraw.ko
	raw_listen ibfab0 qkey=0x1bfa
	# No group may be left because it was idle
	echo 3600 >/proc/sys/net/ipv4/neigh/default/gc_interval
	if [ "$DRIVER" = ipoib ]; then
		# Both drivers have to query each path
		ipoib_load learn_paths=0
		echo 0 >/sys/module/ib_ipoib/parameters/sendonly_idle
	else
		intree_load
	fi
	for n in 0 1; do
		wait_for 10 netdev_of "ibfab$n"
		dev=$(netdev_of "ibfab$n")
		ip netns add "h$n"
		ip -n "h$n" link set lo up
		ip link set "$dev" netns "h$n"
		no_timers "h$n" "$dev"
		link_local "h$n" "$dev" 1
	done
	dev0=$(dev_of h0) dev1=$(dev_of h1)

	step "Up, with DAD"
	for n in 0 1; do
		eval "dev=\$dev$n"
		ip -n "h$n" link set "$dev" up
		wait_for 30 has_carrier "h$n" "$dev"
		# Addresses in the solicited-node groups of those below, as with this driver DAD is sent
		# to the broadcast group if it comes before its own group
		for last in "$(printf %x $((256 * n + 1)))" $((n + 1)); do
			ip -n "h$n" address replace "fd01::$last/64" dev "$dev" nodad
			wait_for 10 has_group "$dev" ":ff00:$last\$"
		done
		link_local "h$n" "$dev" 0
		ip -n "h$n" address add "10.0.0.$((n + 1))/24" dev "$dev"
		ip -n "h$n" address add "fd00::$((n + 1))/64" dev "$dev"
		wait_for 20 has_addresses "h$n" "$dev"
		ip -n "h$n" route add 239.0.0.0/8 dev "$dev"
		echo "fact lid$n $(lid_of "ibfab$n")"
		echo "fact address$n $(on "h$n" cat "/sys/class/net/$dev/address")"
	done

	# An announcement that arrives during resolution would be taken for the answer
	wait_for 20 is_quiet

	step "ARP, ND and ping, begun by each, twice"
	for n in 0 1 0 1; do
		wait_for 10 on "h$n" ping -q -c 1 -W 1 "10.0.0.$((2 - n))"
		wait_for 10 on "h$n" ping -q -c 1 -W 1 "fd00::$((2 - n))"
		ip -n h0 neigh flush dev "$dev0"
		ip -n h1 neigh flush dev "$dev1"
	done

	step "Groups: each host is a member of two and sends to all"
	listen h0 "$dev0" 239.4.5.6 ff15::4:5:6
	listen h1 "$dev1" 239.1.2.3 ff15::1:2:3
	tells h1 h0 "$dev0" 239.1.2.3 ff15::1:2:3
	tells h0 h1 "$dev1" 239.4.5.6 ff15::4:5:6
	tells h1 h1 "$dev1" 239.1.2.3 ff15::1:2:3

	step "Left"
	# IGMP reports each change twice, within a second each. The two reports of a join may both come
	# before this host has joined the group for reports; those of h0's leave do not
	traffic_stop listen4.h0
	sleep 2
	traffic_stop listen4.h1
	traffic_stop listen6.h1
	wait_for 20 left "$dev1" ':f01:203$|:1:2:3$'

	step "Down, and the module gone"
	ip -n h1 link set "$dev1" down
	wait_for 20 no_member "$(port_guid ibfab1 | sed 's/.*\(...\)$/\1/')"
	rmmod ib_ipoib
	E
}

# run_scenario DRIVER: boots a guest, which leaves the capture.
run_scenario()
{
	"$qemu/guest.sh" --timeout 450 --capture --append "DRIVER=$1" \
		--modules "$modules/driver" --modules "$modules/fabric" \
		--modules "$modules/probes" \
		"$work/scenario.sh" "$work/$1" || {
		cat "$work/$1/result" "$work/$1/transcript.log"
		exit 1
	}
}

# read_capture DRIVER FILTER FIELD...: prints a line for each packet, separated by tabs.
read_capture()
{
	local driver=$1 filter=$2 field words=()

	shift 2
	for field; do
		words+=(-e "$field")
	done
	tshark -r "$work/$driver/capture.erf" -o ip.check_checksum:TRUE \
		-o udp.check_checksum:TRUE -Y "$filter" -T fields \
		-E separator=/t -E occurrence=a "${words[@]}" \
		2>"$work/$driver/tshark.log"
}

tell()
{
	sed -n "s/^fact $2 //p" "$work/$1/transcript.log" | tr -d '\r'
}

mad_fields=(
	infiniband.lrh.slid infiniband.lrh.dlid infiniband.mad.transactionid
	infiniband.mad.method infiniband.mad.attributeid
	infiniband.mcmemberrecord.mgid infiniband.mcmemberrecord.mlid
	infiniband.mcmemberrecord.joinstate
	infiniband.pathrecord.dgid
	infiniband.lrh.{vl,sl,lnh}
	infiniband.bth.{opcode,se,m,p_key,destqp} infiniband.deth.{q_key,srcqp}
	infiniband.mad.{baseversion,mgmtclass,classversion,status,attributemodifier}
	infiniband.sa.{smkey,componentmask}
	infiniband.mcmemberrecord.{portgid,q_key,mtuselector,mtu,tclass,p_key}
	infiniband.mcmemberrecord.{rateselector,rate,packetlifetimeselector}
	infiniband.mcmemberrecord.{packetlifetime,sl,flowlabel,hoplimit,scope}
	infiniband.mcmemberrecord.proxyjoin
	infiniband.pathrecord.{sgid,dlid,slid,rawtraffic,flowlabel,hoplimit,tclass}
	infiniband.pathrecord.{reversible,numbpath,p_key,sl,mtuselector,mtu}
	infiniband.pathrecord.{rateselector,rate,packetlifetimeselector}
	infiniband.pathrecord.{packetlifetime,preference}
)

ip_fields=(
	infiniband.lrh.slid infiniband.lrh.dlid infiniband.grh.dgid
	infiniband.bth.destqp infiniband.deth.srcqp
	infiniband.rwh.etype arp.opcode icmp.type icmpv6.type igmp.type udp.dstport
	ipv6.src arp.src.hw arp.dst.hw icmpv6.opt.linkaddr
	infiniband.lrh.{vl,lver,sl,lnh}
	infiniband.grh.{ipver,tclass,flowlabel,nxthdr,hoplmt,sgid}
	infiniband.bth.{opcode,se,m,tver,p_key,a,reserved7}
	infiniband.deth.q_key infiniband.reserved
	arp.hw.{type,size} arp.proto.{type,size}
)

# Replaces values by names that do not depend on the run, according to what earlier rows have
# shown.
# shellcheck disable=SC2016  # awk's
awk_names='
	BEGIN {
		FS = "\t"
		split(names, name, " ")
		host[lid0] = "h0"
		host[lid1] = "h1"
	}
	function hex(digits,	n, i) {
		n = 0
		digits = tolower(digits)
		sub(/^0x/, "", digits)
		for (i = 1; i <= length(digits); i++)
			n = 16 * n + index("0123456789abcdef", substr(digits, i, 1)) - 1
		return n
	}
	# A QPN and its owner
	function qp(value) {
		if (hex(value) == hex(qpn0))
			return "qp-of-h0"
		if (hex(value) == hex(qpn1))
			return "qp-of-h1"
		return value
	}
	# 20 octets, possibly with the two octets of padding that ND puts in front
	function hwaddr(value,	pad) {
		gsub(/:/, "", value)
		pad = length(value) == 44 ? substr(value, 1, 4) "-" : ""
		value = substr(value, length(value) - 39)
		if (length(value) < 40)
			return value
		return pad substr(value, 1, 2) "-" qp(substr(value, 3, 6)) "-" \
			substr(value, 9)
	}
	function row_facts(class, first,	i) {
		for (i = first; i <= NF; i++)
			if ($i != "")
				print class ": " name[i] "=" $i
	}'

# mad_facts DRIVER: prints facts about the MADs between h1 and the SA: the sequence for each
# group or path, and the fields of each kind of message. Retransmissions, which have the same
# transaction ID or precede an answer, are ignored.
mad_facts()
{
	read_capture "$1" "infiniband.mad.mgmtclass != 0x81 &&
		infiniband.mad.mgmtclass != 0x01 &&
		(infiniband.lrh.slid == $lid1 || infiniband.lrh.dlid == $lid1)" \
		"${mad_fields[@]}" >"$work/$1/mads"
	awk -v lid0="$lid0" -v lid1="$lid1" -v names="${mad_fields[*]}" \
		-v mlids="$work/$1/mlids" "$awk_names"'
		function role(mgid) {
			return mgid ~ /ffff:ffff$/ ? "the broadcast group" : "a group"
		}
		!seen[$1 $3 $4]++ {
			if ($4 == "0x02" && !joined++)
				print "joined first:", $6
			method = $4 == "0x02" ? "Set" : $4 == "0x15" ? "Delete" : \
				$4 == "0x01" ? "Get" : $4 == "0x81" ? "GetResp" : \
				$4 == "0x95" ? "DeleteResp" : $4
			object = $6 != "" ? $6 : $9 != "" ? $9 : $5
			what = $6 != "" ? "MCMemberRecord of " role($6) : \
				$9 != "" ? "PathRecord" : "attribute " $5
			if ($6 != "" && $4 == "0x81")
				print $6, $7 >mlids
			if ($8 != "")
				method = method "(" $8 ")"
			if (method != last[object])
				history[object] = history[object] " " method
			last[object] = method
			if ($4 != "0x81" && $4 != "0x95")
				$7 = ""
			row_facts(method " " what ", " host[$1] " to " host[$2], 10)
		}
		END {
			for (object in history)
				print "history " object ":" history[object]
		}' "$work/$1/mads"
}

# ip_facts DRIVER: prints the fields of each kind of packet between the hosts.
ip_facts()
{
	read_capture "$1" infiniband.rwh.etype "${ip_fields[@]}" \
		>"$work/$1/packets"
	awk -v lid0="$lid0" -v lid1="$lid1" -v names="${ip_fields[*]}" \
		-v qpn0="$qpn0" -v qpn1="$qpn1" "$awk_names"'
		NR == FNR {
			split($0, word, " ")
			group[hex(word[2])] = word[1]
			next
		}
		function kind() {
			if ($7 != "")
				return "ARP " ($7 == 1 ? "request" : "reply")
			if ($9 != "")
				return ($9 == 135 && $12 == "::" ? "DAD" : \
					"ICMPv6 " $9)
			return $8 != "" ? "ICMP " $8 : $10 != "" ? "IGMP" : \
				$11 != "" ? "UDP " $11 : "type " $6
		}
		{
			multicast = $2 >= 49152
			class = kind() ", " host[$1] " to " \
				(multicast ? $3 : host[$2])
			if (multicast)
				print class ": MLID of " group[$2]
			$4 = qp($4)
			$5 = qp($5)
			$13 = hwaddr($13)
			$14 = hwaddr($14)
			$15 = hwaddr($15)
			$1 = $2 = $7 = $8 = $9 = $10 = $11 = $12 = ""
			row_facts(class, 3)
		}' "$work/$1/mlids" "$work/$1/packets"
}

# facts DRIVER: writes everything that is compared to a file.
facts()
{
	local qpn0 qpn1 lid0 lid1 address

	lid0=$(tell "$1" lid0) lid1=$(tell "$1" lid1)
	address=$(tell "$1" address0 | tr -d :) && qpn0=${address:2:6}
	address=$(tell "$1" address1 | tr -d :) && qpn1=${address:2:6}
	{
		mad_facts "$1"
		ip_facts "$1"
	} | sort -u >"$work/$1.facts"
	echo "$1: $(wc -l <"$work/$1.facts") facts of" \
		"$(wc -l <"$work/$1/mads") MADs and" \
		"$(wc -l <"$work/$1/packets") packets"
}

# Prints each difference: "-" is only true of the in-tree driver, "+" only of this one.
differences()
{
	comm -23 "$work/intree.facts" "$work/ipoib.facts" | sed 's/^/-/'
	comm -13 "$work/intree.facts" "$work/ipoib.facts" | sed 's/^/+/'
}

# expected: prints the list without the reasons, with which each block must begin.
expected()
{
	awk '/^#/ { reason = 1; next }
		/^$/ { reason = 0; next }
		!/^[-+]/ || !reason { print "no reason: " $0 >"/dev/stderr"
			exit 1 }
		{ print }' "$cases/wire-compare.expected"
}

failed=0

# never WHAT FILTER: no packet of this driver matches.
never()
{
	local found

	found=$(read_capture ipoib "$2" frame.number _ws.col.Info)
	[ -n "$found" ] || return 0
	failed=1
	printf '%s:\n%s\n' "$1" "$found"
}

# present CLASS...: there were such packets with both drivers.
present()
{
	local class driver

	for class; do
		for driver in intree ipoib; do
			grep -qF "$class: " "$work/$driver.facts" && continue
			failed=1
			echo "$driver: no $class"
		done
	done
}

"$qemu/deps.sh" capture
modules=$("$qemu/build.sh")
scenario >"$work/scenario.sh"
for driver in intree ipoib; do
	run_scenario "$driver"
	facts "$driver"
done

echo "What must have been seen"
broadcast=ff12:401b:ffff::ffff:ffff
present "Set(0x01) MCMemberRecord of the broadcast group, h1 to h0" \
	"Delete(0x01) MCMemberRecord of the broadcast group, h1 to h0" \
	"Set(0x08) MCMemberRecord of a group, h1 to h0" \
	"Delete(0x08) MCMemberRecord of a group, h1 to h0" \
	"Get PathRecord, h1 to h0" \
	"ARP request, h0 to $broadcast" "ARP request, h1 to $broadcast" \
	"ARP reply, h0 to h1" "ARP reply, h1 to h0" \
	"ICMP 8, h1 to h0" "ICMP 0, h1 to h0" \
	"DAD, h1 to ff12:601b:ffff::1:ff00:2" \
	"ICMPv6 135, h1 to ff12:601b:ffff::1:ff00:1" \
	"ICMPv6 136, h1 to h0" "ICMPv6 128, h1 to h0" "ICMPv6 129, h1 to h0" \
	"IGMP, h1 to ff12:401b:ffff::16" "ICMPv6 143, h1 to ff12:601b:ffff::16" \
	"UDP 5000, h0 to ff12:401b:ffff::f01:203" \
	"UDP 5000, h1 to ff12:401b:ffff::f01:203" \
	"UDP 5000, h1 to ff12:401b:ffff::f04:506" \
	"UDP 5001, h0 to ff12:601b:ffff::1:2:3" \
	"UDP 5001, h1 to ff12:601b:ffff::1:2:3" \
	"UDP 5001, h1 to ff12:601b:ffff::4:5:6"

echo "What tshark finds wrong, checksums too, and RFC 4391 forbids"
qkey=$(read_capture ipoib "infiniband.mcmemberrecord.mgid == $broadcast &&
	infiniband.mad.method == 0x81" infiniband.mcmemberrecord.q_key | sort -u)
never "malformed" _ws.malformed
never "noted, warned of, or an error" "_ws.expert.severity >= 4194304"
never "ARP" "arp && (arp.hw.type != 32 || arp.hw.size != 20 ||
	arp.proto.type != 0x0800 || arp.proto.size != 4)"
never "a link-layer address that ND pads wrongly" \
	"icmpv6.opt.linkaddr && icmpv6.opt.length != 3"
never "multicast without GRH, or not to the multicast QP" "infiniband.rwh.etype &&
	infiniband.lrh.dlid >= 0xc000 &&
	(infiniband.lrh.lnh != 3 || infiniband.bth.destqp != 0xffffff)"
never "not the group's Q_Key, or not our P_Key" "infiniband.rwh.etype &&
	(infiniband.deth.q_key != $qkey || infiniband.bth.p_key != 0xffff)"

echo "What differs from the kernel's driver"
expected | sort >"$work/expected"
differences | sort >"$work/differences"
diff "$work/expected" "$work/differences" || failed=1
echo "$(wc -l <"$work/differences") differences"
[ "$failed" -eq 0 ]
