# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# M_Keys: protect bits, violations and trap 256, the lease, and OpenSM with a key of its own.
# timeout: 180

. /cases/lib.sh

key=0x1234567890abcdef

# get_port_info HCA MKEY: reads PortInfo by directed route; sets $answer.
get_port_info()
{
	smp_send ibfab0 0xffff 1 0x15 1 "mkey=$2" "path=0,1,$(($1 + 1))"
}

# set_port_info HCA MKEY NEW-KEY PROTECT LEASE: keeps the other fields.
set_port_info()
{
	get_port_info "$1" "$2" || return
	# PortInfo begins at octet 64. PortState and PortPhysicalState are 0 (no change).
	_new=$(printf '%016x' "$3")$(hex_at "$answer" 72 18)$(printf '%04x' "$5")
	_new=$_new$(hex_at "$answer" 92 4)0000$(printf '%02x' $(($4 << 6)))
	_new=$_new$(hex_at "$answer" 99 29)
	smp_send ibfab0 0xffff 2 0x15 1 "mkey=$2" "data=$_new" \
		"path=0,1,$(($1 + 1))"
}

# violations HCA: prints M_KeyViolations, at octet 44 of PortInfo.
violations()
{
	get_port_info "$1" "$key"
	printf '%d' "0x$(hex_at "$answer" $((64 + 44)) 2)"
}

shown_key()
{
	hex_at "$answer" 64 8
}

# guarded ROUTE: requests without the key are not answered there.
guarded()
{
	smpquery -C ibfab0 -t 100 -D nodedesc "$1" >/run/guarded 2>&1 && return 1
	file_says 'recv failed: Connection timed out' /run/guarded
}

fabric_start hcas=3
module_insert /modules/ibrawmad.ko
opensm_start
# Without the key, OpenSM's Sets and TrapRepresses would be refused
opensm_stop

step "Protect bits 0: everyone may read, the key too; only holders of the key may set"
assert set_port_info 1 0 "$key" 0 0
assert get_port_info 1 0
assert_eq "the key shown" "$(shown_key)" "${key#0x}"
was=$(violations 1)
refute set_port_info 1 0 0x1 0 0
assert_eq "M_KeyViolations" "$(violations 1)" $((was + 1))
wait_for 5 counter_reaches ibfab1 port1.trap256.sent 1

step "1: everyone may read, but not the key"
assert set_port_info 1 "$key" "$key" 1 0
assert get_port_info 1 0
assert_eq "the key shown" "$(shown_key)" 0000000000000000
assert get_port_info 1 "$key"
assert_eq "the key shown to who knows it" "$(shown_key)" "${key#0x}"

step "2 and 3: others may neither read nor set"
for protect in 2 3; do
	assert set_port_info 1 "$key" "$key" "$protect" 0
	was=$(violations 1)
	dropped=$(fabric_counter ibfab1 port1.drop.smp_mkey)
	refute get_port_info 1 0
	refute get_port_info 1 0x4711
	must_fail smpquery -C ibfab0 -t 100 -D nodeinfo 0,1,2
	# smpquery retries
	assert_between "M_KeyViolations" "$(violations 1)" $((was + 3)) \
		$((was + 12))
	assert_eq "drops" $(($(fabric_counter ibfab1 port1.drop.smp_mkey) - dropped)) \
		$(($(violations 1) - was))
	assert get_port_info 1 "$key"
	assert smpquery -C ibfab0 -y "$key" -D nodedesc 0,1,2
done

step "The lease: 3 s after the first refused SMP all may read; the key stays"
assert set_port_info 1 "$key" "$key" 2 3
refute get_port_info 1 0
# A request with the key ends the lease period
assert get_port_info 1 "$key"
sleep 3.2
refute get_port_info 1 0
sleep 3.2
assert get_port_info 1 0
assert_eq "the key shown" "$(shown_key)" "${key#0x}"
refute set_port_info 1 0 0x1 0 0
assert set_port_info 1 "$key" 0 0 0

step "OpenSM with an M_Key: it sweeps, represses traps, others are refused"
opensm -c /run/opensm.conf >/run/opensm.default
sed -i "s/^m_key .*/m_key $key/; s/^m_key_protection_level .*/m_key_protection_level 2/; s/^m_key_lease_period .*/m_key_lease_period 60/" \
	/run/opensm.conf
opensm_start -s 0 -D 0x03 -F /run/opensm.conf
for route in 0,1 0,1,2 0,1,3; do
	wait_for 10 guarded "$route"
	smpquery -C ibfab0 -y "$key" -D nodedesc "$route"
done
assert_between "SMPs refused by the switch" \
	"$(fabric_counter switch0 port1.drop.smp_mkey)" 1 99
wait_for 5 counter_reaches ibfab1 port1.trap256.repressed 1
wait_for 5 grep -q 'Bad M_Key.*Method 0x1, Attribute 0x11' /var/log/opensm.log
echo "ibfab2 1 down" >"$ibfab/cable"
wait_for 5 counter_reaches switch0 port0.trap128.repressed 1
echo "ibfab2 1 up" >"$ibfab/cable"
wait_for 10 grep -q ACTIVE "$ib/ibfab2/ports/1/state"
