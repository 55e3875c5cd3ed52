# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# Library of the scripts that run in the guest, which source it at their top. Any command that
# fails ends the script with a status that is not 0.

ib=/sys/class/infiniband

# ---- Transcript and verdict ----

# The transcript. It is open already if a child of the script sources this library again.
true 2>/dev/null >&7 || exec 7>&1

note()
{
	printf '    %s\n' "$*"
}

# step WHAT: begins a step. Prints what comes next, and the guest's uptime in seconds.
step()
{
	uptime_s
	printf '\n==> %s (%s s)\n' "$*" "$uptime_s"
}

# not_zero NAME: prints the lines of standard input whose second word is a number other than 0.
not_zero()
{
	awk -v name="$1" '$2 + 0 { line = line " " $1 " " $2 }
		END { if (line) print "    " name ":" line }'
}

# figures_show: prints counters of the first hosts' IP layer and netdevices, of the first HCAs, and
# of the trunk; and the end of what the traffic has printed.
figures_show()
{
	for _log in /run/traffic.*.log; do
		[ ! -s "$_log" ] || tail -n 3 "$_log" | sed "s|^|    ${_log##*/}: |"
	done
	for _host in $(ip netns list | cut -d ' ' -f 1 | sort | head -n 4); do
		in_netns "$_host" nstat -as |
			grep -E '^Ip[^E]|Echo|Err|Discard' | not_zero "$_host"
		for _name in $(ip -n "$_host" -o link show up |
			awk -F '[:@ ]+' '/link\/infiniband/ { print $2 }' | head -n 5); do
			ip netns exec "$_host" ethtool -S "$_name" | not_zero "$_host $_name"
		done
	done
	for _what in ibfab0/counters ibfab1/counters ibfab2/counters ibfab3/counters trunk; do
		[ ! -e "/sys/kernel/debug/ibfab/$_what" ] ||
			not_zero "${_what%/*}" <"/sys/kernel/debug/ibfab/$_what"
	done
}

# fail WHY: ends the script, with the reason in the transcript even if the output is
# redirected. The first failure also prints counters that may help.
fail()
{
	printf 'FAILED: %s\n' "$*" >&7
	if mkdir /run/failed 2>/dev/null; then
		figures_show >&7
	fi
	exit 1
}

assert()
{
	"$@" || fail "$*"
}

# refute CMD...: CMD must answer "no", i.e. end with status 1. Any other status is an error of
# the tool.
refute()
{
	_no=0
	"$@" || _no=$?
	[ "$_no" -ne 0 ] || fail "true, but must not be: $*"
	[ "$_no" -eq 1 ] || fail "no answer, status $_no: $*"
}

# must_fail CMD...: CMD must be refused. It is an error if its program is not found or is killed.
must_fail()
{
	_no=0
	"$@" || _no=$?
	[ "$_no" -ne 0 ] || fail "succeeded, but must fail: $*"
	[ "$_no" -lt 126 ] || [ "$_no" -eq 255 ] || fail "was not refused, status $_no: $*"
}

# not CMD...: the negation of CMD like refute, for use in polls.
not()
{
	"$@" && return 1
	[ $? -eq 1 ]
}

# says REGEX CMD...: whether a line of CMD's output matches. Status 1 is "no", 2 is a failure
# of CMD.
says()
{
	_regex=$1
	shift
	_said=$("$@") || return 2
	grep -E -- "$_regex" <<-SAID
	$_said
	SAID
}

# differs WAS CMD...: whether CMD's output is not empty and differs from WAS.
differs()
{
	_was=$1
	shift
	_said=$("$@") || return 2
	[ -n "$_said" ] || return 2
	[ "$_said" != "$_was" ]
}

# assert_none WHAT CMD...: CMD must succeed without output.
assert_none()
{
	_what=$1
	shift
	_said=$("$@") || fail "$_what: status $? of $*"
	[ -z "$_said" ] || fail "$_what: $_said"
}

# file_says REGEX FILE: like says, for a file. Status 2 if the file cannot be read.
file_says()
{
	grep -E -- "$1" "$2"
}

# assert_eq WHAT GOT WANTED
assert_eq()
{
	[ "$2" = "$3" ] || fail "$1 is '$2', wanted '$3'"
}

# assert_match WHAT TEXT EXTENDED-REGEX
assert_match()
{
	printf '%s\n' "$2" | grep -qE -- "$3" ||
		fail "$1 does not match '$3': $2"
}

# assert_between WHAT GOT LEAST MOST
assert_between()
{
	{ [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; } || fail "$1 is '$2', wanted $3 to $4"
}

# same_file FILE FILE: compares checksums, as busybox's cmp takes several times as long.
same_file()
{
	[ "$(md5sum <"$1")" = "$(md5sum <"$2")" ]
}

# uptime_s: sets $uptime_s to the guest's uptime in seconds.
uptime_s()
{
	read -r uptime_s _ </proc/uptime
	uptime_s=${uptime_s%%.*}
}

# now_ms: sets $now_ms to the guest's uptime in milliseconds.
now_ms()
{
	read -r now_ms _ </proc/uptime
	now_ms=${now_ms%.*}${now_ms#*.}0
}

# field_of NAME [FILE [NUMBER]]: prints the second (or NUMBERth) word of the line that begins
# with NAME. Fails if there is no such line.
field_of()
{
	awk -v name="$1" -v number="${3:-2}" '
		$1 == name { print $number; found = 1 }
		END { exit !found }' ${2:+"$2"}
}

# repeat TIMES CMD...
repeat()
{
	_times=$1
	shift
	while [ "$_times" -gt 0 ]; do
		"$@"
		_times=$((_times - 1))
	done
}

# brief: whether this is a run on a further kernel, which leaves out what would hardly differ there.
brief()
{
	[ -n "${BRIEF:-}" ]
}

# full_or COUNT FULL: prints FULL for `make soak`, else COUNT.
full_or()
{
	if [ -n "${SOAK:-}" ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

# on_debug_kernel: whether this is the debug kernel, which is slower and has other checks.
on_debug_kernel()
{
	[ -e /sys/kernel/debug/kmemleak ]
}

slowness=10
! on_debug_kernel || slowness=40

# The guest's uptime at which the host is about to end the guest.
uptime_s
end_s=$((uptime_s + END - $(date +%s) - 10))

# wait_for SECONDS CMD...: polls until CMD succeeds. CMD may sleep itself. SECONDS is the
# limit for an idle machine. It is multiplied by $slowness, but ends before the host ends the
# guest, so that the failure can be reported. On failure the output of CMD is shown. wait_for
# is called often, so it starts no process but sleep.
wait_for()
{
	local _until

	uptime_s
	_until=$((uptime_s + slowness * $1))
	[ "$_until" -le "$end_s" ] || _until=$end_s
	shift
	while ! "$@" >/dev/null 2>&1; do
		uptime_s
		if [ "$uptime_s" -gt "$_until" ]; then
			"$@" || fail "not in time: $*"
			return
		fi
		sleep 0.1
	done
}

# ---- Modules ----

# module_insert FILE [PARAMETER...]: loads a module of this project, after the modules that it
# needs.
module_insert()
{
	_file=$1
	shift
	for _needed in $(modinfo -F depends "$_file" | tr , ' '); do
		[ -e "/sys/module/$_needed" ] || modprobe "$_needed" ||
			fail "modprobe $_needed"
	done
	insmod "$_file" "$@" || fail "insmod $_file $*"
}

intree_load()
{
	modprobe ib_ipoib "$@" || fail "modprobe ib_ipoib $*"
}

# intree_unload HOST...: unloads the in-tree driver after its connections are gone. The driver
# destroys their CQs without waiting for the work that destroys the QPs.
intree_unload()
{
	for _host; do
		ip -n "$_host" link set "$(dev_of "$_host")" down
	done
	wait_for 20 rc_qps_gone
	rmmod ib_ipoib
}

rc_qps_gone()
{
	not says 'type RC' rdma resource show qp
}

ipoib_load()
{
	module_insert /modules/ib_ipoib.ko "$@"
}

# module_users NAME: prints the reference count of a module.
module_users()
{
	cat "/sys/module/$1/refcnt"
}

# ---- Fabric ----

# fabric_start [hcas=N ...]: loads ibfab with these parameters.
fabric_start()
{
	_hcas=2
	for _word; do
		case $_word in
		hcas=*) _hcas=${_word#hcas=} ;;
		esac
	done
	# If a parameter is given twice, the last value counts
	module_insert /modules/ibfab.ko ${PROFILE:+"profile=$PROFILE"} "$@"
	[ -z "${CAPTURE:-}" ] || capture_start
	modprobe ib_umad || fail "modprobe ib_umad"
	wait_for 30 test -e "$ib/ibfab$((_hcas - 1))"
	wait_for 30 test -e "/dev/infiniband/umad$((_hcas - 1))"
}

# fabric_plain WORDS...: like fabric_start, but the HCAs use kernel virtual addresses and do
# not write garbage to unused memory, so that measurements do not include the work of the
# fabric's checks.
fabric_plain()
{
	fabric_start "$@" dma=0 garbage=0
}

# fabric_stop: unloads ibfab.
fabric_stop()
{
	[ -z "${CAPTURE:-}" ] || capture_stop
	rmmod ibfab || fail "cannot remove ibfab"
}

# vport_of NAME: prints the device file of QEMU's serial port with this name.
vport_of()
{
	for _vport in /sys/class/virtio-ports/*; do
		if [ "$(cat "$_vport/name")" = "$1" ]; then
			echo "/dev/${_vport##*/}"
			return
		fi
	done
	return 1
}

# vport_start NAME: loads the driver of QEMU's serial ports, and waits for this one.
vport_start()
{
	modprobe virtio_pci
	modprobe virtio_console
	wait_for 10 vport_of "$1"
}

# capture_start: sends all packets that cross cables to the host. When the module is loaded
# again, records are appended to the same file.
capture_start()
{
	vport_start capture
	_capture=$(vport_of capture)
	echo on >"$ibfab/all.erf"
	rm -f /run/capture.status
	(
		_status=0
		cat "$ibfab/all.erf" >"$_capture" || _status=$?
		echo "$_status" >/run/capture.status
	) &
	: >/run/capture.begun
}

# capture_stop: ends the capture, if one was begun, after its last records are sent.
capture_stop()
{
	[ -e /run/capture.begun ] || return 0
	rm /run/capture.begun
	echo off >"$ibfab/all.erf"
	wait_for 60 test -s /run/capture.status
	assert_eq "status of the capture" "$(cat /run/capture.status)" 0
	note "captured: $(tr '\n' ' ' <"$ibfab/captured")"
}

fabric_ports_active()
{
	not grep -v ACTIVE "$ib"/ibfab*/ports/*/state
}

# partitions_write COUNT: writes the default partition and COUNT others, with all ports as
# full members, to /run/partitions.conf.
partitions_write()
{
	echo 'Default=0x7fff, ipoib : ALL=full;' >/run/partitions.conf
	for _k in $(seq "$1"); do
		printf 'p%d=0x%x, ipoib : ALL=full;\n' "$_k" "$_k"
	done >>/run/partitions.conf
}

# opensm_start [ARGUMENT...]: starts OpenSM on the first port of the first HCA.
opensm_start()
{
	opensm -g "$(ibstat -p ibfab0 | head -n 1)" -f /var/log/opensm.log \
		"$@" >/var/log/opensm.out 2>&1 &
	opensm_pid=$!
	wait_for 60 fabric_ports_active
}

opensm_stop()
{
	kill "$opensm_pid" || fail "OpenSM had ended: $(cat /var/log/opensm.out)"
	# The status after a signal does not matter
	wait "$opensm_pid" || :
}

# opensm_kill [PID]: kills OpenSM, so that it cannot save its state.
opensm_kill()
{
	kill -KILL "${1:-$opensm_pid}" || fail "OpenSM had ended"
	# The status after a signal does not matter
	wait "${1:-$opensm_pid}" || :
}

# sm_start HCA PRIORITY [ARGUMENT...]: starts one of several OpenSMs. Sets $sm_pid.
sm_start()
{
	_hca=$1 _priority=$2
	shift 2
	mkdir -p "/run/sm.$_hca"
	OSM_CACHE_DIR=/run/sm.$_hca OSM_TMP_DIR=/run/sm.$_hca \
		opensm -g "$(ibstat -p "$_hca" | head -n 1)" -p "$_priority" \
		-f "/run/sm.$_hca/log" "$@" >"/run/sm.$_hca/out" 2>&1 &
	# shellcheck disable=SC2034  # the caller's
	sm_pid=$!
}

# sm_conf_brisk: writes /run/opensm.conf, with which a standby detects the loss of its master
# within seconds.
sm_conf_brisk()
{
	opensm -c /run/opensm.conf >/run/opensm.default
	sed -i 's/^sminfo_polling_timeout .*/sminfo_polling_timeout 500/; s/^polling_retry_number .*/polling_retry_number 2/' \
		/run/opensm.conf
}

# served_by HCA: whether every port has this HCA's LID as its SM LID.
served_by()
{
	[ "$(sort -u "$ib"/ibfab*/ports/1/sm_lid)" = "$(cat "$ib/$1/ports/1/lid")" ]
}

# lid_of HCA [PORT]: prints the LID in decimal.
lid_of()
{
	printf '%d' "$(cat "$ib/$1/ports/${2:-1}/lid")"
}

# sa_knows NODE: whether the SA has a node whose description matches this regex.
sa_knows()
{
	says "NodeDescription\.*$1\$" saquery -C ibfab0 NR
}

# sa_has_group MGID: whether the SA has a group whose MGID matches this regex.
sa_has_group()
{
	says "$1" saquery -C ibfab0 -g
}

# subscribed_to TRAPS: whether these are all subscriptions at the SA: trap numbers, sorted,
# each followed by a space.
subscribed_to()
{
	saquery -C ibfab0 IIR >/run/informs || return 2
	[ "$(sed -n 's/.*trap_num\.*//p' /run/informs | sort | tr '\n' ' ')" = "$1" ]
}

# links_are STATE: whether both ends of every cable are in this state. Fails if there is no cable.
links_are()
{
	awk -v state="$1" 'NF == 13 { n++; others += $8 != state }
		END { exit !n || others }' "$ibfab/topology"
}

# table_cables: prints "NODE PORT PEER PORT" for each end of each cable, from the fabric's
# topology table.
table_cables()
{
	awk 'NF == 13 { print $1, $3, $9, $11 }' "$ibfab/topology" | sort
}

# found_cables: the same, as discovered by directed-route SMPs.
found_cables()
{
	ibnetdiscover -C ibfab0 -p |
		sed -n "s/^.. *[0-9]* *\([0-9]*\) 0x[0-9a-f]* 4x EDR - .. *[0-9]* *\([0-9]*\) 0x[0-9a-f]* ( '\(.*\)' - '\(.*\)' )$/\3 \1 \4 \2/p" |
		sed 's/ibfab switch/switch/g' | sort
}

# ---- Datagrams, through ibraw ----

raw=/sys/kernel/debug/ibraw

# raw_listen HCA WORDS: creates a receiver, with all counters 0. Sets $qpn.
raw_listen()
{
	echo "$2" >"$raw/$1/listen" || fail "no receiver at $1: $2"
	# shellcheck disable=SC2034  # the caller's
	qpn=$(raw_received "$1" qpn)
}

# raw_received HCA NAME: prints a field of the receiver, such as packets or last.payload.
raw_received()
{
	field_of "$2" "$raw/$1/received"
}

# raw_is HCA NAME VALUE
raw_is()
{
	[ "$(raw_received "$1" "$2")" = "$3" ]
}

# raw_reaches HCA NAME LEAST
raw_reaches()
{
	[ "$(raw_received "$1" "$2")" -ge "$3" ]
}

# ---- Raw MADs, through ibrawmad ----

rawmad=/sys/kernel/debug/ibrawmad

# mad_send HCA WORDS: sends a MAD, see ibrawmad.c, and sets $answer to the answer in hexadecimal.
# Status 1 if there is none, 2 if the MAD cannot be sent.
mad_send()
{
	_rawmad=$rawmad/$1
	shift
	echo "$*" >/run/mad
	# Not echo, as the shell would repeat a write that has failed
	if cat /run/mad 2>/run/mad.log >"$_rawmad/send"; then
		# shellcheck disable=SC2034  # the caller's
		read -r answer <"$_rawmad/answer"
		return
	fi
	grep -q 'timed out' /run/mad.log && return 1
	note "cannot send a MAD: $(cat /run/mad.log)"
	return 2
}

# hex_pad DIGITS HEX: prints HEX, padded with zeros on the right.
hex_pad()
{
	printf "%s%0$(($1 - ${#2}))d" "$2" 0 | cut -c "1-$1"
}

# hex_at HEX OFFSET BYTES: prints the digits of these bytes.
hex_at()
{
	printf '%s' "$1" | cut -c "$((2 * $2 + 1))-$((2 * ($2 + $3)))"
}

# path_hex 0,1,4: prints a directed route in the format of SMPs.
path_hex()
{
	for _hop in $(echo "$1" | tr , ' '); do
		printf '%02x' "$_hop"
	done
}

# smp_send HCA DLID METHOD ATTRIBUTE MODIFIER [mkey=N] [data=HEX] [drslid=N] [drdlid=N]
# [path=0,1,4]: sends an SMP from QP0, by directed route if there is a path. Otherwise like mad_send.
smp_send()
{
	_hca=$1 _dlid=$2 _method=$3 _attr=$4 _mod=$5
	mkey=0 data='' drslid=0xffff drdlid=0xffff path='' _class=0x01 _hops=0
	shift 5
	for _word; do
		eval "${_word%%=*}=\${_word#*=}"
	done
	if [ -n "$path" ]; then
		_class=0x81
		_hops=$(($(echo "$path" | tr -cd , | wc -c)))
	fi
	_mad=$(printf '01%02x01%02x000000%02x%016x%04x0000%08x%016x%04x%04x' \
		"$_class" "$_method" "$_hops" 0 "$_attr" "$_mod" "$mkey" \
		"$drslid" "$drdlid")
	_mad=$(hex_pad 128 "$_mad")$(hex_pad 128 "$data")
	if [ -n "$path" ]; then
		_mad=$_mad$(path_hex "$path")
	fi
	mad_send "$_hca" qp=0 "dlid=$_dlid" timeout=300 "mad=$_mad"
}

# ---- Counters and faults of the fabric ----

ibfab=/sys/kernel/debug/ibfab

# fabric_counter NODE NAME
fabric_counter()
{
	field_of "$2" "$ibfab/$1/counters"
}

# dma_do HCA WAY [rate=CODE]: lets the HCA send a datagram to itself, see ibdma.c. dma_result
# NAME: prints a field of the result.
dma_do()
{
	echo "hca=$1 way=$2 ${3:-}" >/sys/kernel/debug/ibdma/do
}
dma_result()
{
	field_of "$1" /sys/kernel/debug/ibdma/result
}

# counter_reaches NODE NAME LEAST
counter_reaches()
{
	[ "$(fabric_counter "$1" "$2")" -ge "$3" ]
}

# counter_is NODE NAME VALUE
counter_is()
{
	[ "$(fabric_counter "$1" "$2")" -eq "$3" ]
}

# pma LID PORT FIELD: prints a field of PortCountersExtended.
pma()
{
	perfquery -C ibfab0 -x "$1" "$2" | sed -n "s/^$3:\.*//p"
}

# rule NODE WORDS: adds a rule for packets at this node.
rule()
{
	_node=$1
	shift
	echo "$*" >"$ibfab/$_node/rules" || fail "no rule for $_node: $*"
}

rules_clear()
{
	echo clear >"$ibfab/$1/rules"
}

# rule_figure NODE NAME [N]: prints a counter (seen, hits, held) of the node's first (or Nth) rule.
rule_figure()
{
	awk -v name="$2" -v n="${3:-1}" 'NR == n { for (i = 1; i < NF; i++)
		if ($i == name) print $(i + 1) }' "$ibfab/$1/rules"
}

# verb_fails HCA VERB COUNT [ERRNO [SKIP]]: the next COUNT calls of the verb fail, after SKIP
# others.
verb_fails()
{
	_hca=$1
	shift
	echo "$*" >"$ibfab/$_hca/verbs"
}

# verb_failed HCA VERB: prints how often it has failed.
verb_failed()
{
	field_of "$2" "$ibfab/$1/verbs" 3
}

unplug()
{
	echo "$1 unplug" >"$ibfab/hotplug" || fail "cannot unplug $1"
}

# hcas_unplug: unplugs all HCAs, which removes everything that uses them.
hcas_unplug()
{
	for _hca in "$ib"/ibfab*; do
		[ ! -e "$_hca" ] || unplug "${_hca##*/}"
	done
}

plug()
{
	echo "$1 plug" >"$ibfab/hotplug" || fail "cannot plug $1"
}

# ---- Reliable connections, through ibrc ----

rc=/sys/kernel/debug/ibrc

# rxe_start: makes rxe0, a device of the kernel's software RoCE that only reaches itself.
rxe_start()
{
	modprobe rdma_rxe
	ip link add name roce0 mtu 9000 type dummy
	ip link set roce0 up
	rdma link add rxe0 type rxe netdev roce0
	wait_for 20 grep -q ACTIVE "$ib/rxe0/ports/1/state"
	wait_for 20 grep -q '^fe80:.*[1-9a-f]' "$ib/rxe0/ports/1/gids/0"
}

# rc_run WORDS: runs a command of ibrc. Errors of the write are in /run/rc.log.
rc_run()
{
	# Not echo, as the shell would repeat a write that has failed
	echo "$*" >/run/rc.line
	dd if=/run/rc.line of="$rc/run" bs=4k status=none 2>/run/rc.log && return
	note "$*: $(cat /run/rc.log) $(tr '\n' ' ' <"$rc/result")"
	return 1
}

# rc_result NAME: prints a number of the last run's result; 0 if it is not listed.
rc_result()
{
	awk -v name="$1" '$1 == name { got = $2 } END { print got + 0 }' \
		"$rc/result"
}

# rc_word NAME: the same for a word that is not a number.
rc_word()
{
	awk -v name="$1" '$1 == name { print $2 }' "$rc/result"
}

# rc_whole: in the last run, all that was sent has arrived, and there was no error or event.
rc_whole()
{
	assert_eq "stage" "$(rc_word stage)" "done"
	assert test "$(rc_result sent)" -gt 0
	assert_eq completed "$(rc_result completed)" "$(rc_result sent)"
	assert_eq received "$(rc_result received)" "$(rc_result sent)"
	assert_eq "other receive completions" "$(rc_result recv.SUCCESS)" \
		"$(rc_result received)"
	for _finding in spoilt cm_spoilt wrong event.QP_FATAL event.QP_REQ_ERR \
		event.QP_ACCESS_ERR event.CQ_ERR event.SRQ_ERR; do
		assert_eq "$_finding" "$(rc_result "$_finding")" 0
	done
}

# ---- Hosts ----

# port_guid HCA [PORT]: prints the 16 hexadecimal digits.
port_guid()
{
	cut -d: -f5-8 "$ib/$1/ports/${2:-1}/gids/0" | tr -d :
}

# netdev_of HCA [PORT]: prints the port's netdevice with the default P_Key. Its 20-octet
# address ends with the port's GUID.
netdev_of()
{
	_guid=$(port_guid "$@" | sed 's/../:&/g')
	[ -n "$_guid" ] || return 2
	_dev=$(grep -sl "^.\{35\}$_guid\$" /sys/class/net/*/address | head -n 1)
	_dev=${_dev%/address}
	[ -n "$_dev" ] && echo "${_dev##*/}"
}

# in_netns HOST CMD...: runs CMD in the host's network namespace, with the current /sys and
# debugfs.
in_netns()
{
	_ns=$1
	shift
	nsenter --net="/run/netns/$_ns" "$@"
}

# on HOST CMD...: runs CMD in the host's network namespace. /sys shows that namespace only if
# CMD mentions /sys, as the mounts of `ip netns exec` take longer than most commands, and half
# a second on the debug kernel.
on()
{
	case "$*" in
	*/sys*) ip netns exec "$@" ;;
	*) in_netns "$@" ;;
	esac
}

# echoes_of HOST: prints how many answers to pings the host has received.
echoes_of()
{
	in_netns "$1" cat /proc/net/snmp /proc/net/snmp6 | awk '
		$1 == "Icmp:" && n { sum += $n }
		$1 == "Icmp:" && !n { for (n = 2; $n != "InEchoReps" && n < NF; n++) ; }
		$1 == "Icmp6InEchoReplies" { sum += $2 }
		END { print sum + 0 }'
}

# pings_late HOST COUNT BEFORE TEXT: of COUNT pings, all are answered, although ping has written
# TEXT, when the host had received BEFORE answers before. If ping has had an answer, it waits for the
# others only as long as one interval, or two times what the slowest answer took.
pings_late()
{
	case $4 in
	*DUP* | *duplicates* | *errors* | *' 0 received'*) fail "$1: ping: $4" ;;
	*"$2 packets transmitted, "*) ;;
	*) fail "$1: ping: $4" ;;
	esac
	sleep 1
	assert_eq "answers, with late ones, to $4" "$(($(echoes_of "$1") - $3))" "$2"
	note "$1: an answer came after the end of ping"
}

# pings_count HOST COUNT [OPTION...] ADDRESS: prints how many of the pings are answered, possibly late,
# and none of them twice.
pings_count()
{
	_host=$1 _count=$2
	shift 2
	_echoes=$(echoes_of "$_host")
	on "$_host" ping -n -q -c "$_count" -W 10 "$@" >/run/ping.log || return
	refute grep -q duplicates /run/ping.log
	sleep 1
	echo $(($(echoes_of "$_host") - _echoes))
}

# pings_all HOST COUNT [OPTION...] ADDRESS: every ping must be answered exactly once, possibly
# late.
pings_all()
{
	_host=$1 _count=$2
	shift 2
	_echoes=$(echoes_of "$_host")
	_said=$(on "$_host" ping -n -q -c "$_count" -i 0.1 -W 10 "$@") ||
		fail "$_host: no answer to ping $*: $_said"
	case $_said in
	*"$_count packets transmitted, $_count received, 0% packet loss"*) ;;
	*) pings_late "$_host" "$_count" "$_echoes" "$_said" ;;
	esac
}

# pings_answered LOG: prints the number of answers, as the sum of all `ping -q` summaries in
# the log.
pings_answered()
{
	awk '/packets transmitted/ { sum += $4 } END { print sum + 0 }' "$1"
}

# dev_of HOST: prints the name of the host's IPoIB netdevice.
dev_of()
{
	ip -n "$1" -o link show | awk -F '[:@ ]+' '/link\/infiniband/ { print $2; exit }'
}

# connection_of HCA: prints the QPN of one of its connected RC QPs.
connection_of()
{
	rdma resource show qp link "$1" |
		awk '/type RC/ && /state RTS/ { for (i = 1; i < NF; i++)
			if ($i == "lqpn") { print $(i + 1); exit } }'
}

# qpn_of HOST [DEV]: prints the QPN of its IPoIB netdevice, as the link-layer address has it.
qpn_of()
{
	_octets=$(on "$1" cat "/sys/class/net/${2:-$(dev_of "$1")}/address" | cut -d : -f 2-4 | tr -d :)
	[ -n "$_octets" ] || return 2
	printf '%d' "0x$_octets"
}

has_carrier()
{
	_link=$(ip -n "$1" -o link show dev "$2") || return 2
	case $_link in
	*LOWER_UP*) ;;
	*) return 1 ;;
	esac
}

# sockets_hold MIB: sets the receive buffer size of new sockets. A packet, however small, is
# charged as a whole receive buffer of the driver, so the default size holds only 50 to 80
# packets, less than what arrives while a program waits half a second for a CPU. The socket of
# fping also gets the requests of others to its host.
sockets_hold()
{
	echo $(($1 << 20)) >/proc/sys/net/core/rmem_max
	echo $(($1 << 20)) >/proc/sys/net/core/rmem_default
}

# hosts_make N: makes the namespaces h0 to h(N-1), each with the netdevice of its HCA.
hosts_make()
{
	_k=0
	while [ "$_k" -lt "$1" ]; do
		host_make "h$_k" "ibfab$_k" "$((_k + 1))"
		_k=$((_k + 1))
	done
	_k=0
	while [ "$_k" -lt "$1" ]; do
		wait_for 30 has_carrier "h$_k" "$(dev_of "h$_k")"
		_k=$((_k + 1))
	done
}

# ipv6_off: disables IPv6 here and in hosts that are made later, for cases that count packets
# or groups: IPv6 solicits routers and joins groups at any time.
ipv6_off()
{
	echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
}

ipv6_is_off()
{
	read -r _off </proc/sys/net/ipv6/conf/default/disable_ipv6
	[ "$_off" = 1 ]
}

# host_make HOST HCA NUMBER: makes a namespace with the HCA's netdevice, 10.0.0.NUMBER and,
# unless IPv6 is off, fd00::NUMBER.
host_make()
{
	ip netns add "$1"
	! ipv6_is_off || in_netns "$1" sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
	ip -n "$1" link set lo up
	host_give "$@"
}

# host_give HOST HCA NUMBER: gives these to an existing namespace. The addresses are added
# before the carrier is on, as network configuration at boot does it.
host_give()
{
	wait_for 10 netdev_of "$2"
	_ib=$(netdev_of "$2")
	ip link set "$_ib" netns "$1"
	ip -n "$1" address add "10.0.0.$3/24" dev "$_ib"
	ipv6_is_off || ip -n "$1" address add "fd00::$(printf %x "$3")/64" dev "$_ib" nodad
	ip -n "$1" link set "$_ib" up
}

# ring_of HOST RX|TX: prints the current size of that ring of its netdevice, in packets.
ring_of()
{
	on "$1" ethtool -g "$(dev_of "$1")" | awk -v name="$2:" '
		/^Current/ { current = 1 }
		current && $1 == name { print $2 }'
}

# netdev_counter HOST DEVICE NAME: prints one of the netdevice's statistics.
netdev_counter()
{
	on "$1" cat "/sys/class/net/$2/statistics/$3"
}

# nstat_of HOST COUNTER...: prints the sum of these counters of the IP and transport layers.
nstat_of()
{
	_nstat_host=$1
	shift
	on "$_nstat_host" nstat -asz "$@" |
		awk '!/^#/ { n += $2; found = 1 } END { if (!found) exit 1; print n }'
}

# stat_of HOST NAME: prints one of the driver's own counters, for the host's netdevice.
stat_of()
{
	on "$1" ethtool -S "$(dev_of "$1")" | field_of "$2:"
}

# stat_reaches HOST NAME LEAST
stat_reaches()
{
	[ "$(stat_of "$1" "$2")" -ge "$3" ]
}

# netdev_has_none HOST NAME...: these statistics of its netdevice must be 0.
netdev_has_none()
{
	_ns=$1
	shift
	for _name; do
		assert_eq "$_name of $_ns" \
			"$(netdev_counter "$_ns" "$(dev_of "$_ns")" "$_name")" 0
	done
}

# ---- A user without capabilities ----

# as_user CMD...: runs CMD as the user.
as_user()
{
	grep -q ^user: /etc/passwd || echo 'user:x:1000:1000:user:/:/bin/sh' >>/etc/passwd
	_program=$(command -v "$1")
	shift
	start-stop-daemon --start --pidfile /run/none --chuid 1000:1000 \
		--startas "$_program" -- "$@"
}

# user_netns_start: as the user, makes a network namespace that exists as long as the process
# $user_netns, for `ip link set DEVICE netns $user_netns`.
user_netns_start()
{
	mkdir -m 777 /run/user_netns
	# shellcheck disable=SC2016  # for the inner shell to expand
	as_user sh -c 'exec unshare -U -r -n \
		sh -c "echo \$\$ >/run/user_netns/pid; exec sleep 1000"' &
	wait_for 10 test -s /run/user_netns/pid
	# shellcheck disable=SC2034  # the caller's
	user_netns=$(cat /run/user_netns/pid)
}

# in_user_netns CMD...: runs CMD there as root of its user namespace.
in_user_netns()
{
	nsenter -t "$user_netns" -U -n -S 0 "$@"
}

# ---- Traffic in the background ----

# traffic_start NAME CMD...: runs CMD in the background. CMD may be a function of this
# library. It gets a process group, so that all its processes can be stopped.
traffic_start()
{
	_name=$1
	shift
	# Removes the output of earlier traffic with this name
	: >"/run/traffic.$_name.log"
	# shellcheck disable=SC2016  # for the inner shell to expand
	setsid sh -c '. /cases/lib.sh; "$@"' sh "$@" \
		>"/run/traffic.$_name.log" 2>&1 &
	echo $! >"/run/traffic.$_name.pid"
}

group_ended()
{
	not kill -s 0 -- "-$1"
}

# traffic_stop NAME: stops it with SIGINT, then SIGTERM; it must still be running. The last
# lines of its output go to the transcript.
traffic_stop()
{
	_pid=$(cat "/run/traffic.$1.pid")
	kill -s INT -- "-$_pid" 2>/run/kill.log ||
		fail "$1 had ended: $(tail -n 5 "/run/traffic.$1.log")"
	_tries=20
	while [ "$_tries" -gt 0 ] && ! group_ended "$_pid" 2>/run/kill.log; do
		_tries=$((_tries - 1))
		sleep 0.1
	done
	if [ "$_tries" -eq 0 ]; then
		kill -s TERM -- "-$_pid"
	fi
	# The status after a signal does not matter
	wait "$_pid" || :
	tail -n 5 "/run/traffic.$1.log"
}

# witness_start HOST FILTER...: starts to count the packets that tcpdump sees arrive at its
# interface.
witness_start()
{
	_host=$1
	shift
	traffic_start "witness.$_host" on "$_host" tcpdump -Z root -n -p -Q in --immediate-mode \
		-i "$(dev_of "$_host")" -w /dev/null "$@"
	wait_for 10 grep -q 'listening on' "/run/traffic.witness.$_host.log"
}

# witness_stop HOST: prints the number of packets.
witness_stop()
{
	sleep 0.5
	traffic_stop "witness.$1" >/run/witness.end
	sed -n 's/^\([0-9]*\) packets* captured$/\1/p' /run/witness.end
}

# listening HOST PORT [u]: whether a TCP (with u: UDP) socket listens there.
listening()
{
	on "$1" ss -Hln"${3:-t}" "sport = :$2" | grep -q .
}

# transfer FROM TO ADDRESS: sends the file /run/sent to this address of the host TO, which must receive
# the same octets.
transfer()
{
	traffic_start "sink.$2" on "$2" socat -u "TCP6-LISTEN:6000,reuseaddr,ipv6only=0" \
		OPEN:/run/got,creat,trunc
	wait_for 10 listening "$2" 6000
	on "$1" socat -u OPEN:/run/sent "TCP:$3:6000" || fail "the transfer broke"
	wait_for 20 same_file /run/sent /run/got
}

# iperf_server HOST: starts an iperf3 server, to be stopped by `traffic_stop iperf.HOST`.
iperf_server()
{
	traffic_start "iperf.$1" on "$1" iperf3 -s
	wait_for 10 listening "$1" 5201
}

# ---- Slab caches ----

# slabs FILE: writes "CACHE OBJECTS" of each cache, after flushing memory that is freed late:
# page cache, objects that wait for RCU, and address space of vfree(), which the kernel frees
# when a module is loaded or unloaded. The counts are exact only if the caches' checks are on,
# which keeps free objects off the per-CPU slabs: the case's header must have "append:
# slub_debug=F". On the debug kernel nothing is counted: KASAN delays frees, and kmemleak
# finds leaks at the end.
slabs()
{
	if on_debug_kernel; then
		: >"$1"
		return
	fi
	grep -qx 1 /sys/kernel/slab/kmalloc-64/sanity_checks ||
		fail "slabs are counted without slub_debug=F"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	modprobe dummy
	sleep 1
	rmmod dummy
	sleep 0.5
	awk 'NR > 2 { print $1, $2; n++ } END { exit !n }' /proc/slabinfo >"$1"
}

# slabs_grown BEFORE AFTER LEAST: prints the kernel's caches that hold at least LEAST more
# objects. Caches of the fabric's pools are skipped, as they keep free packets; a leak causes
# a kernel warning when the module is unloaded. Each CPU keeps up to 64 skbs that NAPI has
# freed; a leak of skbs shows in the cache of their data. Those of VMAs and of the monitor of
# memory accesses change by themselves.
slabs_grown()
{
	awk -v least="$3" -v kept=$((64 * $(grep -c ^processor /proc/cpuinfo))) '
		NR == FNR { was[$1] = $2; next }
		$1 ~ /^ibfab_pool_/ { next }
		$1 == "maple_node" || $1 ~ /^damon_/ { next }
		{ limit = $1 == "skbuff_head_cache" ? least + kept : least }
		$2 - was[$1] >= limit { print $1, was[$1] + 0, "->", $2 }' \
		"$1" "$2"
}

slabs_are_back()
{
	slabs /run/slabs.now || return 2
	_grown=$(slabs_grown "$1" /run/slabs.now "$2") || return 2
	printf '%s\n' "$_grown"
	[ -z "$_grown" ]
}

# slabs_settle BEFORE TIMES: what was done TIMES times must not have leaked an object each
# time. Waits, as the network stack frees some objects late.
slabs_settle()
{
	wait_for 20 slabs_are_back "$1" "$2"
}
