# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-streams.sh
# IPsec with manual keys over IPoIB: ESP in transport and tunnel mode, ESP in UDP, AH, and
# xfrm interfaces. All sizes and a stream arrive unchanged, and nothing is sent in clear text.
# timeout: 300
# soak: 1500
# when: soak

. /cases/lib-streams.sh

# address FAMILY N
address()
{
	case $1 in
	4) echo "10.0.0.$2" ;;
	6) echo "fd00::$2" ;;
	esac
}

# Algorithms, in words of `ip xfrm`: one that the kernel does in one pass, and a pair that
# takes two
gcm() { echo "aead rfc4106(gcm(aes)) 0x$(hex_pad 40 "$1") 128"; }
cbc()
{
	echo "enc cbc(aes) 0x$(hex_pad 32 "$1") auth-trunc hmac(sha256) 0x$(hex_pad 64 "$1") 128"
}
sha() { echo "auth-trunc hmac(sha256) 0x$(hex_pad 64 "$1") 128"; }

# state FAMILY PROTOCOL MODE ALGORITHM [WORDS]: adds the states for both directions between $n
# and $m, at one end.
state()
{
	_family=$1 _proto=$2 _mode=$3 _algorithm=$4
	shift 4
	for _way in "$n $m" "$m $n"; do
		_from=${_way% *} _to=${_way#* }
		# shellcheck disable=SC2046  # its words
		here xfrm state add src "$(address "$_family" "$_from")" \
			dst "$(address "$_family" "$_to")" proto "$_proto" \
			spi "0x100$_from$_to" reqid 7 mode "$_mode" replay-window 32 \
			$("$_algorithm" "$_from$_to") "$@"
	done
}

# policy FAMILY PROTOCOL MODE SELECTOR-OF-N SELECTOR-OF-M [WORDS]: adds the policies for both
# directions, at one end.
policy()
{
	_family=$1 _proto=$2 _mode=$3 _ours=$4 _theirs=$5
	shift 5
	_tmpl="reqid 7 mode $_mode"
	_n=$(address "$_family" "$n") _m=$(address "$_family" "$m")
	# shellcheck disable=SC2086  # its words
	{
		here xfrm policy add dir out src "$_ours" dst "$_theirs" "$@" \
			tmpl src "$_n" dst "$_m" proto "$_proto" $_tmpl
		here xfrm policy add dir in src "$_theirs" dst "$_ours" "$@" \
			tmpl src "$_m" dst "$_n" proto "$_proto" $_tmpl
	}
}

flush()
{
	here xfrm policy flush
	here xfrm state flush
}

transport()
{
	state "$1" "$2" transport "$3"
	policy "$1" "$2" transport "$(address "$1" "$n")" "$(address "$1" "$m")"
}

# tunnel FAMILY ALGORITHM: sets up a tunnel for 10.8.N.1 and fd08:N::1; FAMILY is that of the
# outer header.
tunnel()
{
	state "$1" esp tunnel "$2" flag af-unspec
	policy "$1" esp tunnel "10.8.$n.0/24" "10.8.$m.0/24"
	policy "$1" esp tunnel "fd08:$n::/64" "fd08:$m::/64"
	here address replace "10.8.$n.1/32" dev lo
	here address replace "fd08:$n::1/128" dev lo
	here route replace "10.8.$m.0/24" dev "$under" via "10.0.0.$m" src "10.8.$n.1"
	here route replace "fd08:$m::/64" dev "$under" via "fd00::$m" src "fd08:$n::1"
}

# The policies are for ICMP and TCP only, as policies for UDP would drop the encapsulated ESP
in_udp()
{
	state 4 esp transport gcm encap espinudp 4500 4500 0.0.0.0
	for _protocol in icmp tcp; do
		policy 4 esp transport "10.0.0.$n" "10.0.0.$m" proto $_protocol
	done
}

# The kernel accepts ESP in UDP for a socket with UDP_ENCAP. socat sets this option only on a
# connected socket.
udp_socket()
{
	traffic_start "encap.h$n" on "h$((n - 1))" socat -u \
		"UDP4:10.0.0.$m:4500,bind=10.0.0.$n:4500,setsockopt-int=17:100:2" OPEN:/dev/null
	wait_for 10 connected "h$((n - 1))"
}

connected()
{
	in_netns "$1" ss -Hnu "sport = :4500" | grep .
}

interface()
{
	here link add ipsec0 type xfrm dev "$under" if_id 9
	state 4 esp tunnel gcm if_id 9 flag af-unspec
	policy 4 esp tunnel 0.0.0.0/0 0.0.0.0/0 if_id 9
	policy 4 esp tunnel ::/0 ::/0 if_id 9
	here address add "10.9.0.$n/24" dev ipsec0
	here address add "fd09::$n/64" dev ipsec0 nodad
	here link set ipsec0 up
}

# ---- What is on the wire ----

# clear_rules: h$((n - 1)) counts what it sends and receives over IPoIB: IPsec packets, and
# others except for ND and MLD.
clear_rules()
{
	in_netns "h$((n - 1))" nft -f - <<-RULES
		table netdev wire {
			counter sealed {}
			counter large {}
			counter clear {}
			chain out {
				type filter hook egress device "$under" priority 0
				meta length > 3000 counter name large
				meta l4proto { esp, ah } counter name sealed accept
				frag nexthdr { esp, ah } counter name sealed accept
				udp dport 4500 counter name sealed accept
				ip frag-off & 0x1fff != 0 ip protocol udp counter name sealed accept
				meta protocol arp accept
				icmpv6 type { 130-137, 143 } accept
				counter name clear
			}
		}
	RULES
}

counted()
{
	in_netns "h$((n - 1))" nft -j list counter netdev wire "$1" |
		jq '.nftables[] | .counter.packets // empty'
}

counters_reset()
{
	in_netns "h$((n - 1))" nft reset counters >/run/nft.log
}

all_sealed()
{
	assert_eq "packets of host $n in clear" "$(counted clear)" 0
	assert test "$(counted sealed)" -gt 10
}

none_large()
{
	assert_eq "large packets of host $n" "$(counted large)" 0
}

some_large()
{
	assert test "$(counted large)" -gt 5
}

# no_errors: since errors_keep, the kernel's IPsec has counted no errors
# (CONFIG_XFRM_STATISTICS). errors_keep is needed because packets under way when the last
# step's keys are removed count as errors.
errors_keep()
{
	in_netns "h$((n - 1))" cat /proc/net/xfrm_stat >"/run/xfrm_stat.$n"
}

no_errors()
{
	in_netns "h$((n - 1))" cat /proc/net/xfrm_stat >/run/xfrm_stat
	diff "/run/xfrm_stat.$n" /run/xfrm_stat || fail "errors of IPsec at host $n"
}

# passes ADDRESS4|- ADDRESS6|-: pings and a stream arrive, and each packet is encrypted or
# authenticated.
passes()
{
	_from=h$((a - 1))
	both counters_reset
	both errors_keep
	for _to; do
		case $_to in
		-) continue ;;
		*:*) _url="[$_to]" ;;
		*) _url=$_to ;;
		esac
		echoes "$_from" "$_to" 1900
		echoes "$_from" "$_to" 5000
		stream_over "$_from" "$(dev_of "$_from")" "$_url"
	done
	both all_sealed
	both no_errors
}

# refused ADDRESS: pings are lost, and IPsec's counters give the reason.
refused()
{
	_status=0
	_out=$(on "h$((a - 1))" ping -n -q -c 3 -i 0.2 -W 1 "$1") || _status=$?
	assert_eq "status of ping" "$_status" 1
	assert_match "pings" "$_out" '3 packets transmitted, 0 received'
	assert_match "IPsec's errors" "$(in_netns "h$((b - 1))" cat /proc/net/xfrm_stat)" \
		'XfrmInStateProtoError[[:space:]]+3'
}

fabric_start hcas=4 profile=virtual,virtual,connectx3,connectx3
opensm_start
ipoib_load
hosts_make 4
stream_prepare "$(full_or 500000 50000000)" h0 h1 h2 h3
between 3 4
both clear_rules
between 1 2
both clear_rules

step "ESP, transport mode"
both transport 4 esp gcm
both transport 6 esp cbc
passes "10.0.0.$b" "fd00::$b"
both none_large
both flush

step "AH, transport mode"
both transport 4 ah sha
both transport 6 ah sha
passes "10.0.0.$b" "fd00::$b"
both flush

step "ESP, tunnel mode, both families in IPv4"
both tunnel 4 cbc
passes "10.8.$b.1" "fd08:$b::1"
both flush

step "ESP, tunnel mode, both families in IPv6"
both tunnel 6 gcm
passes "10.8.$b.1" "fd08:$b::1"
both flush

step "ESP in UDP"
both udp_socket
both in_udp
passes "10.0.0.$b" -
both flush

step "An interface of IPsec's"
both interface
passes "10.9.0.$b" "fd09::$b"
both flush

step "A key that the other end does not have: nothing comes through"
n=$a m=$b
transport 4 esp gcm
n=$b m=$a
transport 4 esp cbc
refused "10.0.0.$b"
both flush

between 3 4
step "HCAs with offloads"
both transport 4 esp gcm
both transport 6 esp gcm
passes "10.0.0.$b" "fd00::$b"
both none_large
both flush

step "Large packets: ESP's segmentation in software"
modprobe esp4_offload
modprobe esp6_offload
both transport 4 esp gcm
both transport 6 esp gcm
passes "10.0.0.$b" "fd00::$b"
both some_large
both flush
both tunnel 4 gcm
passes "10.8.$b.1" "fd08:$b::1"
both some_large
both flush

between 1 2
both transport 4 esp gcm
both transport 6 esp gcm
passes "10.0.0.$b" "fd00::$b"
both some_large

nothing_lost h0 h1 h2 h3
