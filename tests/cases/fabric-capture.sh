# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What a guest captures of its fabric during bring-up and of the in-tree IPoIB driver is what
# tshark decodes, field by field.
# runs: host
# timeout: 400

work=$1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

# Prints the values that the packets must have, from sysfs, ip and saquery.
guest_script()
{
	cat <<-'E'
	. /cases/lib.sh

	fact()
	{
		echo "fact $1 $2"
	}

	fabric_start hcas=2
	module_insert /modules/ibrawmad.ko
	opensm_start
	intree_load
	hosts_make 2
	pings_all h0 2 -s 100 10.0.0.2
	pings_all h0 2 -s 100 fd00::2
	wait_for 5 on h0 ip neigh show

	for n in 0 1; do
		fact "lid$n" "$(printf %d "$(cat "$ib/ibfab$n/ports/1/lid")")"
		fact "node$n" "0x$(tr -d : <"$ib/ibfab$n/node_guid")"
		fact "guid$n" "0x$(port_guid "ibfab$n")"
		fact "gid$n" "$(cat "$ib/ibfab$n/ports/1/gids/0")"
		fact "address$n" "$(on "h$n" cat "/sys/class/net/$(dev_of "h$n")/address")"
	done
	fact lidsw "$(smpquery -C ibfab0 -D portinfo 0,1 0 | sed -n 's/^Lid:\.*//p')"
	fact fdbcap "$(smpquery -C ibfab0 -D switchinfo 0,1 | sed -n 's/^LinearFdbCap:\.*//p')"
	saquery -C ibfab0 MCMR --mgid ff12:401b:ffff::ffff:ffff |
		sed -n 's/^\t*\([A-Za-z_]*\)\.\.\.*/\1 /p' >/run/group
	for field in qkey mlid mtu rate pkey; do
		fact "group_$field" "$(awk -v f="$field" 'tolower($1) == f {
			print $2; exit }' /run/group)"
	done

	# A CM REQ for a service that does not exist
	lid=$(printf %d "$(cat "$ib/ibfab1/ports/1/lid")")
	gids=$(cat "$ib/ibfab0/ports/1/gids/0" "$ib/ibfab1/ports/1/gids/0" |
		tr -d ':\n')
	req=010702030000000000000000000000000010000000000000
	req=$req\1bfa00020000000010001bfa00000099$(port_guid ibfab0)
	req=$req\000000000000000000abcd0500000004000000a10123456d
	req=$req\ffff53f8$(printf %04x 1 "$lid")$gids
	req=$req\0000000300400098
	echo "qp=1 dlid=$lid timeout=300 mad=$req" >/run/req
	must_fail sh -c "cat /run/req >/sys/kernel/debug/ibrawmad/ibfab0/send"

	# A connection with three messages of two packets each
	module_insert /modules/ibrc.ko
	assert rc_run from=ibfab0 to=ibfab1 cm=1 size=5000 count=3 imm=1 \
		psn=0x123456 retry=5 rnr=3
	rc_whole
	fact records "$(awk '/packets/ { print $2 }' "$ibfab/captured")"
	fact lost "$(awk '/lost/ { print $2 }' "$ibfab/captured")"
	E
}

# tell WHAT: prints a value that the guest has reported.
tell()
{
	local value

	value=$(sed -n "s/^fact $1 //p" "$work/guest/transcript.log" | tr -d '\r')
	[ -n "$value" ] || {
		echo "the guest told nothing of $1" >&2
		return 1
	}
	echo "$value"
}

# fields FILTER FIELD...: prints the distinct rows of these fields, separated by spaces.
fields()
{
	local filter=$1 field words=()

	shift
	for field; do
		words+=(-e "$field")
	done
	tshark -r "$work/guest/capture.erf" -o ip.check_checksum:TRUE \
		-Y "$filter" -T fields -E separator=' ' "${words[@]}" \
		2>"$work/tshark.log" | sort -u
}

failed=0 checked=0

# holds WHAT FILTER [FIELD WANTED]...: there are such packets, and all of them have these
# values. "infiniband" may be omitted from the fields' names.
holds()
{
	local what=$1 filter=$2 names=() wanted=() got

	shift 2
	while [ $# -gt 0 ]; do
		names+=("${1/#./infiniband.}")
		wanted+=("$2")
		shift 2
	done
	got=$(fields "$filter" "${names[@]}")
	checked=$((checked + ${#names[@]}))
	if [ "$got" = "${wanted[*]}" ]; then
		echo "$what: ${#names[@]} fields as wanted"
		return
	fi
	failed=1
	echo "$what: of ${names[*]}"
	echo "    got    ${got:-no packet}"
	echo "    wanted ${wanted[*]}"
}

# short GID: prints it in tshark's format.
short()
{
	getent ahostsv6 "$1" | awk 'NR == 1 { print $1 }'
}

# Hexadecimal numbers in tshark's format, with 4 digits and so on.
hex4()
{
	printf '0x%04x' "$1"
}

hex8()
{
	printf '0x%08x' "$1"
}

"$qemu/deps.sh" capture
modules=$("$qemu/build.sh")
guest_script >"$work/capture.sh"
"$qemu/guest.sh" --timeout 180 --capture \
	--modules "$modules/fabric" --modules "$modules/probes" \
	"$work/capture.sh" "$work/guest" || {
	cat "$work/guest/result" "$work/guest/transcript.log"
	exit 1
}

lid0=$(tell lid0) lid1=$(tell lid1) lidsw=$(tell lidsw)
gid0=$(short "$(tell gid0)") gid1=$(short "$(tell gid1)")
address0=$(tell address0 | tr -d :) address1=$(tell address1 | tr -d :)
qpn0=$((16#${address0:2:6})) qpn1=$((16#${address1:2:6}))
group=ff12:401b:ffff::ffff:ffff

echo "The records"
holds "ERF records" frame erf.types.type 21 erf.lctr 0
records=$(tshark -r "$work/guest/capture.erf" -T fields -e frame.number \
	2>"$work/tshark.log" | wc -l)
told=$(tell records)
[ "$(tell lost)" -eq 0 ] || failed=1
# A few packets may follow after the guest has reported the number.
if [ "$records" -lt "$told" ] || [ "$records" -gt $((told + 50)) ]; then
	echo "the guest captured $told records, tshark read $records"
	failed=1
fi
malformed=$(fields _ws.malformed frame.number)
if [ -n "$malformed" ]; then
	echo "malformed: $(fields _ws.malformed frame.number _ws.col.Info)"
	failed=1
fi
echo "$records records read"

echo "SMPs"
holds "directed-route SMPs" 'infiniband.mad.mgmtclass == 0x81' \
	.lrh.vl 0x0f .lrh.dlid 65535 .lrh.slid 65535 .lrh.lnh 0x02 \
	.lrh.pktlen 72 .bth.opcode 100 .bth.p_key 65535 .bth.destqp 0x000000 \
	.deth.q_key 0x0000000000000000 .deth.srcqp 0x00000000 \
	.mad.baseversion 0x01 .mad.classversion 0x01
holds "NodeInfo of an HCA" "infiniband.mad.attributeid == 0x11 &&
	infiniband.mad.method == 0x81 && infiniband.nodeinfo.nodetype == 1" \
	.nodeinfo.nodeguid "$(tell node1)" .nodeinfo.portguid "$(tell guid1)" \
	.nodeinfo.systemimageguid "$(tell node1)" .nodeinfo.numports 0x01 \
	.nodeinfo.partitioncap 0x0020 .nodeinfo.localportnum 0x01 \
	.mad.status 0x8000
holds "SwitchInfo" "infiniband.mad.attributeid == 0x12 &&
	infiniband.mad.method == 0x81" \
	.switchinfo.linearfdbcap "$(hex4 "$(tell fdbcap)")" \
	.switchinfo.enhancedportzero 0x00
holds "Set(PortInfo) of an HCA's LID" "infiniband.mad.attributeid == 0x15 &&
	infiniband.mad.method == 0x02 &&
	infiniband.portinfo.lid == $lid1 &&
	infiniband.portinfo.portstate == 4" \
	.portinfo.guid 0xfe80000000000000 \
	.portinfo.mastersmlid "$(hex4 "$lid0")" .portinfo.lmc 0x00
holds "Set(LinearForwardingTable)" "infiniband.mad.attributeid == 0x19 &&
	infiniband.mad.method == 0x02" .mad.attributemodifier 0x00000000

echo "SA MADs"
holds "what the SA is asked" "infiniband.mad.mgmtclass == 0x03 &&
	infiniband.lrh.dlid == $lid0 && infiniband.bth.destqp == 1" \
	.lrh.slid "$lid1" .lrh.vl 0x00 .deth.q_key 0x0000000080010000 \
	.deth.srcqp 0x00000001 .bth.p_key 65535 .mad.classversion 0x02
member="infiniband.mad.attributeid == 0x38 &&
	infiniband.mcmemberrecord.mgid == $group"
holds "the join of the broadcast group" "$member && infiniband.mad.method == 2" \
	.mcmemberrecord.portgid "$gid1" .mcmemberrecord.joinstate 0x01 \
	.mcmemberrecord.p_key "$(tell group_pkey | tr A-F a-f)" \
	.lrh.slid "$lid1" .lrh.dlid "$lid0"
holds "its answer" "$member && infiniband.mad.method == 0x81" \
	.mcmemberrecord.portgid "$gid1" .mad.status 0x0000 \
	.mcmemberrecord.q_key "$(hex8 "$(tell group_qkey)")" \
	.mcmemberrecord.mlid "$(hex4 "$(tell group_mlid)")" \
	.mcmemberrecord.mtu "$(printf 0x%02x $(($(tell group_mtu) & 0x3f)))" \
	.mcmemberrecord.rate "$(printf 0x%02x $(($(tell group_rate) & 0x3f)))" \
	.lrh.slid "$lid0" .lrh.dlid "$lid1"
holds "the path that ibfab1 asks for" "infiniband.mad.attributeid == 0x35 &&
	infiniband.mad.method == 0x81" \
	.pathrecord.sgid "$gid1" .pathrecord.dgid "$gid0" \
	.pathrecord.slid "$(hex4 "$lid1")" \
	.pathrecord.dlid "$(hex4 "$lid0")" \
	.pathrecord.p_key 0xffff .mad.status 0x0000

echo "CM MADs"
holds "REQ" "infiniband.mad.mgmtclass == 0x07 &&
	infiniband.mad.attributeid == 0x10 &&
	infiniband.cm.req.serviceid == 0x10001bfa00000099" \
	.lrh.slid "$lid0" .lrh.dlid "$lid1" .mad.method 0x03 \
	.mad.classversion 0x02 .bth.destqp 0x000001 \
	.cm.req 0x1bfa0002 .cm.req.serviceid 0x10001bfa00000099 \
	.cm.req.localcaguid "$(tell guid0)" .cm.req.localqpn 0x00abcd \
	.cm.req.responderres 0x05 .cm.req.initdepth 0x04 \
	.cm.req.remoteresptout 0x14 .cm.req.startpsn 0x012345 \
	.cm.req.localresptout 0x0d .cm.req.retrcount 0x05 .cm.req.pkey 0xffff \
	.cm.req.pppmtu 0x05 .cm.req.rnrretrcount 0x03 .cm.req.maxcmretr 0x0f \
	.cm.req.srq 0x01 .cm.req.prim_locallid 1 \
	.cm.req.prim_remotelid "$lid1" \
	.cm.req.prim_localgid "$gid0" .cm.req.prim_remotegid "$gid1" \
	.cm.req.prim_hoplim 0x40 \
	.cm.req.prim_localacktout 0x13
holds "the kernel's REJ" "infiniband.mad.mgmtclass == 0x07 &&
	infiniband.mad.attributeid == 0x12" \
	.lrh.slid "$lid1" .lrh.dlid "$lid0" .mad.method 0x03 \
	.cm.rej.remotecommid 0x1bfa0002 .cm.rej.msgrej 0x00 \
	.cm.rej.reason 0x0008

# connection FILTER FIELD: prints the field of the CM messages of the connection that was made.
connection()
{
	fields "infiniband.mad.mgmtclass == 0x07 && $1" "infiniband.$2"
}

echo "A connection"
service='infiniband.cm.req.serviceid == 0x10001bfa00000001'
id0=$(connection "$service" cm.req)
id1=$(connection 'infiniband.mad.attributeid == 0x13' cm.rep)
rcqpn0=$(connection "$service" cm.req.localqpn)
rcqpn1=$(connection 'infiniband.mad.attributeid == 0x13' cm.rep.localqpn)
holds "its REQ" "$service" \
	.lrh.slid "$lid0" .lrh.dlid "$lid1" .mad.method 0x03 \
	.cm.req.localcaguid "$(tell node0)" .cm.req.startpsn 0x12345d \
	.cm.req.responderres 0x01 .cm.req.initdepth 0x01 \
	.cm.req.remoteresptout 0x10 .cm.req.localresptout 0x10 \
	.cm.req.retrcount 0x05 .cm.req.rnrretrcount 0x03 .cm.req.srq 0x00 \
	.cm.req.maxcmretr 0x0f .cm.req.pkey 0xffff .cm.req.pppmtu 0x05 \
	.cm.req.prim_locallid "$lid0" .cm.req.prim_remotelid "$lid1" \
	.cm.req.prim_localgid "$gid0" .cm.req.prim_remotegid "$gid1"
holds "REP" 'infiniband.mad.attributeid == 0x13' \
	.lrh.slid "$lid1" .lrh.dlid "$lid0" .mad.method 0x03 \
	.cm.rep.remotecommid "$id0" .cm.rep.startpsn 0x123456 \
	.cm.rep.respres 0x01 .cm.rep.initdepth 0x01 \
	.cm.rep.rnrretrcount 0x03 .cm.rep.srq 0x00 \
	.cm.rep.localcaguid "$(tell node1)"
holds "RTU" 'infiniband.mad.mgmtclass == 0x07 &&
	infiniband.mad.attributeid == 0x14' \
	.lrh.slid "$lid0" .lrh.dlid "$lid1" \
	.cm.rtu.localcommid "$id0" .cm.rtu.remotecommid "$id1"
holds "DREQ" 'infiniband.mad.mgmtclass == 0x07 &&
	infiniband.mad.attributeid == 0x15' \
	.lrh.slid "$lid0" .lrh.dlid "$lid1" .cm.dreq.localcommid "$id0" \
	.cm.dreq.remotecommid "$id1" .cm.req.remoteqpneecn "$rcqpn1"
holds "DREP" 'infiniband.mad.mgmtclass == 0x07 &&
	infiniband.mad.attributeid == 0x16' \
	.lrh.slid "$lid1" .lrh.dlid "$lid0" .cm.drsp.localcommid "$id1" \
	.cm.drsp.remotecommid "$id0"
holds "the first packet" "infiniband.lrh.slid == $lid0 &&
	infiniband.bth.opcode == 0 && infiniband.bth.psn == 0x123456" \
	.lrh.dlid "$lid1" .lrh.lnh 0x02 .bth.destqp "$rcqpn1" \
	.bth.p_key 65535 .bth.padcnt 0 .lrh.pktlen 1030
holds "the last one, with immediate data" "infiniband.lrh.slid == $lid0 &&
	infiniband.bth.opcode == 3" \
	.lrh.dlid "$lid1" .bth.destqp "$rcqpn1" \
	.bth.psn "$((0x123459))" .lrh.pktlen 233
holds "ACKs" "infiniband.lrh.slid == $lid1 &&
	infiniband.bth.opcode == 17" \
	.lrh.dlid "$lid0" .bth.destqp "$rcqpn0" .lrh.pktlen 7

echo "IPoIB"
holds "ARP requests" "arp.opcode == 1 && arp.src.proto_ipv4 == 10.0.0.1" \
	arp.hw.type 32 arp.hw.size 20 arp.proto.type 0x0800 \
	arp.src.hw "$address0" arp.dst.proto_ipv4 10.0.0.2 \
	.lrh.dlid "$(($(tell group_mlid)))" .lrh.slid "$lid0" .lrh.lnh 0x03 \
	.grh.sgid "$gid0" .grh.dgid $group .grh.paylen 84 .grh.nxthdr 27 \
	.bth.destqp 0xffffff .deth.q_key "$(printf 0x%016x "$(tell group_qkey)")" \
	.deth.srcqp "$(hex8 "$qpn0")" .lrh.pktlen 33
holds "ARP replies" "arp.opcode == 2 && arp.src.proto_ipv4 == 10.0.0.2" \
	arp.src.hw "$address1" arp.dst.hw "$address0" \
	arp.dst.proto_ipv4 10.0.0.1 .lrh.dlid "$lid0" .lrh.slid "$lid1" \
	.lrh.lnh 0x02 .bth.destqp "$(printf 0x%06x "$qpn0")" \
	.deth.srcqp "$(hex8 "$qpn1")"
holds "neighbour advertisements" "icmpv6.type == 136 &&
	icmpv6.nd.na.target_address == fd00::2" \
	icmpv6.opt.linkaddr "0000$address1" icmpv6.checksum.status 1 \
	.lrh.dlid "$lid0" .bth.destqp "$(printf 0x%06x "$qpn0")" \
	.bth.p_key 65535
holds "ICMP echo requests" "icmp.type == 8" \
	ip.src 10.0.0.1 ip.dst 10.0.0.2 ip.len 128 ip.checksum.status 1 \
	icmp.checksum.status 1 .lrh.slid "$lid0" .lrh.dlid "$lid1" \
	.bth.destqp "$(printf 0x%06x "$qpn1")" .bth.padcnt 0 \
	.deth.srcqp "$(hex8 "$qpn0")" \
	.deth.q_key "$(printf 0x%016x "$(tell group_qkey)")" .lrh.pktlen 41
holds "ICMP echo replies" "icmp.type == 0" \
	ip.src 10.0.0.2 ip.dst 10.0.0.1 icmp.checksum.status 1 \
	.lrh.slid "$lid1" .lrh.dlid "$lid0" \
	.bth.destqp "$(printf 0x%06x "$qpn0")" \
	.deth.srcqp "$(hex8 "$qpn1")"
holds "ICMPv6 echo requests" "icmpv6.type == 128" \
	ipv6.src fd00::1 ipv6.dst fd00::2 icmpv6.checksum.status 1 \
	.lrh.slid "$lid0" .lrh.dlid "$lid1" \
	.bth.destqp "$(printf 0x%06x "$qpn1")"

echo "$checked fields of $records records compared; the switch has LID $lidsw"
[ "$failed" -eq 0 ]
