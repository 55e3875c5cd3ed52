# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Why there is no carrier: each reason is made, and then told by `ipoib why` in a sentence and as
# JSON, by sysfs, by ethtool and in the kernel's log, and its exit status; then the carrier is back.
# The tool also answers for the in-tree driver, and without any driver, device or interface.
# kernel: stock
# soak-kernel: debug 6.12 newest
# soak: 300
# timeout: 300

. /cases/lib.sh
# shellcheck disable=SC2034  # for lib-tool.sh
program=ipoib
# shellcheck source=lib-tool.sh
. /cases/lib-tool.sh

# reason_is DEV REASON: the tool's reason, for polls.
reason_is()
{
	ipoib -j why "$1" >/run/reason || [ $? -eq 1 ] || return 2
	jq -e --arg reason "$2" '.[0].reason == $reason' /run/reason >/run/verdict
}

# json FILTER: the filter is true for the output of the last run.
json()
{
	jq -e "$1" /run/out >/run/verdict || fail "$1: $(cat /run/out)"
}

# out_matches REGEX: the last run has printed that, possibly on several lines.
out_matches()
{
	assert_match "what it prints" "$(tr -s '\n ' '  ' </run/out)" "$1"
}

# printable FILE: it has nothing that a terminal would obey, and that JSON cannot have.
printable()
{
	assert_eq "octets that are not printable" "$(LC_ALL=C tr -d '\n -~' <"$1" | od -An -tx1)" ""
}

# told DEV REASON FROM SENTENCE ADVICE: waits for the reason, which is known FROM the driver or sysfs.
# The last two are extended regexes.
told()
{
	wait_for 20 reason_is "$1" "$2"
	ends 1 ipoib why "$1"
	out_matches "^$1 $4"
	out_matches "$5"
	ends 1 ipoib -j why "$1"
	json ".[0] | .interface == \"$1\" and .carrier == false and .reason_from == \"$3\""
	json '.[0] | (.text | length > 10) and (.advice | length > 20)'
	note "$(jq -r '.[0] | "\(.interface) \(.text)."' /run/out)"
}

# reason REASON SENTENCE ADVICE [DEV]: the driver's reason, which its file in sysfs also has.
reason()
{
	told "${4:-$dev}" "$1" driver "$2" "$3"
	assert_eq "no_carrier_reason" "$(cat "/sys/class/net/${4:-$dev}/no_carrier_reason")" "$1"
}

# carrier [DEV]: the carrier comes, and nothing is to be done.
carrier()
{
	wait_for 30 reason_is "${1:-$dev}" none
	ends 0 ipoib why "${1:-$dev}"
	out_matches "^${1:-$dev} has carrier"
	ends 0 ipoib -j why "${1:-$dev}"
	json '.[0] | .carrier and .reason == "none"'
	wait_for 5 grep -qx none "/sys/class/net/${1:-$dev}/no_carrier_reason"
}

# logged TEXT: the kernel's log has this reason.
logged()
{
	says "$dev: no carrier: $1" dmesg >/run/logged || fail "not in the kernel's log: $1"
}

bounce()
{
	ip link set "${1:-$dev}" down
	ip link set "${1:-$dev}" up
}

# ethtool_says REGEX: what ethtool shows of the link.
ethtool_says()
{
	assert_match "ethtool" "$(ethtool "$dev")" "Link detected: $1\$"
}

# child_add P_KEY: makes the child $dev.P_KEY; what ip says is in /run/log.
child_add()
{
	ip link add link "$dev" name "$dev.$1" type ipoib pkey "0x$1" >/run/log 2>&1 ||
		fail "$(cat /run/log)"
	ip link set "$dev.$1" up
}

# partitions_make [LINE]: writes the partitions: one without IPoIB, and one with a limited member.
partitions_make()
{
	cat >/run/partitions.conf <<-CONF
	Default=0x7fff, ipoib : ALL=full;
	bare=0x1 : ALL=full;
	mixed=0x3, ipoib : 0x021bfa0100000001=full, 0x021bfa0100000101=limited;
	$*
	CONF
}

step "Without a device, without the driver, and without an interface"
ends 1 ipoib why
err_matches 'no InfiniBand device'
ends 1 ipoib -j why
json '. == []'
fabric_start hcas=2
ends 1 ipoib why
err_matches 'modprobe ib_ipoib'
ipoib_load
wait_for 10 netdev_of ibfab1
dev=$(netdev_of ibfab1)
ip netns add empty
ends 1 ip netns exec empty ipoib why
err_matches 'no IPoIB interface here'
ip link add dummy0 type dummy
ends 2 ipoib why dummy0
err_matches 'no IPoIB interface'
ends 4 ipoib why ib99
err_matches 'no such interface'
ends 2 ipoib why "$dev" more
ends 2 ipoib whatever

step "Not set up; no subnet manager; a cable that is pulled"
reason admin-down 'is not set up' "ip link set $dev up"
ip link set "$dev" up
reason port-init 'waits for a subnet manager: .* port ibfab1/1' 'Start a subnet manager'
logged 'no subnet manager has configured the port'
json '.[0] | .device == "ibfab1" and .port == 1 and .state == "INIT" and .pkey == "0xffff"'
ethtool_says no
echo "switch0 2 down" >"$ibfab/cable"
reason port-down 'has no link: the port ibfab1/1 is down \(Polling\)' 'Check that the cable'
ethtool_says 'no \(Autoneg, No partner detected\)'
echo "switch0 2 up" >"$ibfab/cable"
reason port-init 'waits for a subnet manager' 'Start a subnet manager'

step "A subnet manager: carrier, which any user may ask for, here and in another namespace"
partitions_make
opensm_start -P /run/partitions.conf
carrier
ends 0 as_user ipoib why "$dev"
ethtool_says yes
ends 1 ipoib -j why
json 'length == 2 and ([.[] | .carrier] | sort == [false, true])'
ip netns add other
ip link set "$dev" netns other
ip -n other link set "$dev" up
wait_for 20 has_carrier other "$dev"
ends 0 ip netns exec other ipoib why
out_matches "^$dev has carrier"
ends 4 in_netns other ipoib why "$dev"
err_matches "use 'ip netns exec'"
ends 4 in_netns other ipoib why
ip -n other link set "$dev" netns 1
ip link set "$dev" up
carrier

step "Alternative names, one of them a long one, and a name that a terminal would obey"
for name in ibalt an-alternative-name-of-ipoib; do
	ip link property add dev "$dev" altname $name
	ends 0 ipoib why $name
	out_matches "^$dev has carrier"
	ip link property del dev "$dev" altname $name
	ends 4 ipoib why $name
	err_matches 'no such interface'
done
dev0=$(netdev_of ibfab0)
wild=$(printf 'x\033[31m\377')
ip link set "$dev0" name "$wild"
for option in '' -j; do
	# shellcheck disable=SC2086  # none, or a word
	ends 1 ipoib $option why
	printable /run/out
done
json 'any(.interface == "x?[31m?")'
ip link set "$wild" name "$dev0"

step "Other namespaces: an interface of the same name and number, and one of the parent's name"
ip netns add twin
ip -n twin link add "$wild" type dummy
ends 4 in_netns twin ipoib why
printable /run/err
ip -n twin link delete "$wild"
ip -n twin link add "$dev" index "$(cat "/sys/class/net/$dev/ifindex")" type dummy
for words in why "why $dev"; do
	# shellcheck disable=SC2086  # words
	ends 4 in_netns twin ipoib $words
	err_matches "^ipoib: $dev: .* use 'ip netns exec'"
done
ip netns delete twin
child_add 8003
carrier "$dev.8003"
ip link set "$dev.8003" netns other
ip link set "$dev0" netns other name "$dev"
ends 1 ip netns exec other ipoib -j why "$dev.8003"
json '.[0] | .device == "ibfab1" and .membership == "limited" and .reason == "admin-down"'
json '.[0].advice | contains("parent") | not'
ip -n other link set "$dev" netns 1 name "$dev0"
ip -n other link delete "$dev.8003"

step "A cable that is pulled while there is carrier"
echo "switch0 2 down" >"$ibfab/cable"
reason port-down 'has no link: the port ibfab1/1 is down \(Polling\)' 'Check that the cable'
logged 'the port is down'
echo "switch0 2 up" >"$ibfab/cable"
carrier

step "A partition that the port is not in, which ip also says; one without IPoIB; a limited member"
child_add 8002
assert_match "what ip says" "$(cat /run/log)" 'Warning: .*No carrier until'
reason no-pkey 'is not allowed here: .* P_Key 0x8002' \
	'GUID 021bfa0100000101 to partition 0x0002' "$dev.8002"
json '.[0] | .membership == "none" and .parent != null'
child_add 8001
assert_eq "what ip says" "$(cat /run/log)" ""
reason refused 'was refused: the host of the subnet manager .* partition 0x8001' \
	"the word 'ipoib'" "$dev.8001"
json '.[0].membership == "full"'
child_add 8003
carrier "$dev.8003"
json '.[0] | .membership == "limited" and (.advice | contains("limited member"))'

step "Both have carrier when the subnet manager's configuration is corrected"
opensm_stop
partitions_make 'more=0x2, ipoib : ALL=full;'
sed -i 's/^bare=0x1 /bare=0x1, ipoib /' /run/partitions.conf
opensm_start -P /run/partitions.conf
carrier "$dev.8002"
carrier "$dev.8001"
for child in 8001 8002 8003; do
	ip link delete "$dev.$child"
done

step "The parent is down, too"
ip link set "$dev" down
child_add 8001
ip link set "$dev.8001" down
reason admin-down 'is not set up' 'Setting its parent up' "$dev.8001"
ip link set "$dev" up
carrier "$dev.8001"
ip link delete "$dev.8001"
carrier

step "The subnet manager's answers: a group that cannot be, and none at all"
rule ibfab1 what=sa_answer method=0x81 attr=0x38 do=put at=94 size=1 value=0x80
# Other messages, which are limited, do not suppress the reason
echo 0 >/proc/sys/net/core/message_burst
bounce
reason bad-group 'cannot use the broadcast group of partition 0xffff' 'Correct'
logged "the broadcast group's MTU"
echo 10 >/proc/sys/net/core/message_burst
rules_clear ibfab1
carrier
rule ibfab1 what=sa_answer method=0x81 attr=0x38 do=drop
bounce
reason no-answer 'waits for the subnet manager, which does not answer' 'still runs'
logged 'the subnet manager does not answer'
rules_clear ibfab1
carrier

step "A subnet manager that has ended: its host refuses what it no longer knows"
opensm_stop
bounce
reason refused 'was refused: the host of the subnet manager' "'sminfo' that the subnet manager still runs"
opensm_start -P /run/partitions.conf -s 0
carrier

step "What the HCA refuses"
verb_fails ibfab1 attach_mcast 1000
bounce
reason not-attached 'cannot use the broadcast group: the HCA of the port ibfab1/1' 'tries again'
verb_fails ibfab1 attach_mcast 0
carrier
ip link set "$dev" down
verb_fails ibfab1 modify_qp 1000
ip link set "$dev" up
reason no-qp 'cannot start: the HCA of the port ibfab1/1' 'ethtool -G'
verb_fails ibfab1 modify_qp 0
carrier

step "A GUID that the port does not have"
ip link set "$dev" down
address=$(cat "/sys/class/net/$dev/address")
ip link set "$dev" address "${address%:*}:99"
ip link set "$dev" up
reason no-guid 'has no address: .* GUID that was chosen' 'as an alias'
ip link set "$dev" down
ip link set "$dev" address "$address"
ip link set "$dev" up
carrier

step "The reason is logged once, not at each attempt"
lines=$(dmesg | grep -c "$dev: no carrier: ")
assert_between "lines of the log" "$lines" 6 30

# The debug kernel has no driver of its own
if on_debug_kernel; then
	exit
fi

step "For the in-tree driver, what the port shows"
rmmod ib_ipoib
intree_load
wait_for 10 netdev_of ibfab1
dev=$(netdev_of ibfab1)
told "$dev" admin-down sysfs 'is not set up' "ip link set $dev up"
ip link set "$dev" up
wait_for 30 reason_is "$dev" none
ends 0 ipoib why "$dev"
child_add 8004
told "$dev.8004" no-pkey sysfs 'is not allowed here: .* P_Key 0x8004' 'gives no reasons'
ip link delete "$dev.8004"
opensm_stop
bounce
told "$dev" not-joined sysfs 'has not joined the broadcast group' 'sminfo'
echo "switch0 2 down" >"$ibfab/cable"
told "$dev" port-down sysfs 'has no link: the port ibfab1/1 is down \(Polling\)' 'cable'
rmmod ib_ipoib

step "... and of the second port of an HCA, also for children, whose port this driver does not tell"
fabric_stop
fabric_start hcas=1 ports=2
intree_load
wait_for 10 netdev_of ibfab0 2
dev=$(netdev_of ibfab0 2)
child_add 8001
echo 0x8002 >"/sys/class/net/$dev/create_child"
wait_for 5 test -e "/sys/class/net/$dev.8002"
for name in "$dev" "$dev.8001" "$dev.8002"; do
	ends 1 ipoib -j why "$name"
	json '.[0] | .device == "ibfab0" and .port == 2 and .link_layer == "InfiniBand"'
done
rmmod ib_ipoib
