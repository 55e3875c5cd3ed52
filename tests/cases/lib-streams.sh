# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# For cases that check whether data arrive unchanged through whatever is on the way: pings of
# given sizes, and a file by TCP in both directions.

. /cases/lib.sh

# ---- The two ends ----

# between A B: sets which hosts the functions below use. $a and $b count from 1, as in addresses.
between()
{
	a=$1 b=$2
}

# both CMD...: runs CMD for each end in turn; $n is that end, $m the other, $under its IPoIB
# interface.
# shellcheck disable=SC2034  # they are for the command
both()
{
	n=$a m=$b
	under=$(under_of "$n")
	"$@"
	n=$b m=$a
	under=$(under_of "$n")
	"$@"
}

# under_of N: prints the host's IPoIB interface, which is its child if $child is set.
child=''
under_of()
{
	echo "${child:-$(dev_of "h$(($1 - 1))")}"
}

here()
{
	ip -n "h$((n - 1))" "$@"
}

# ---- What comes through ----

# stream_prepare OCTETS HOST...: makes the file, and starts a server on each host that sends
# it back.
stream_prepare()
{
	stream_size=$1
	shift
	head -c "$stream_size" /dev/urandom >/run/stream.sent
	for _host; do
		traffic_start "echo.$_host" on "$_host" socat -t 60 \
			TCP6-LISTEN:7000,fork,reuseaddr,ipv6only=0 EXEC:cat
	done
	for _host; do
		wait_for 10 listening "$_host" 7000
	done
}

# stream HOST ADDRESS [PORT]: the whole file goes there and comes back.
stream()
{
	on "$1" socat -t 60 - "TCP:$2:${3:-7000},connect-timeout=60" \
		</run/stream.sent >/run/stream.got || fail "the stream to $2 broke"
	same_file /run/stream.sent /run/stream.got || fail "not what was sent to $2"
}

# stream_over HOST DEVICE ADDRESS [PORT]: the same, and this device must have counted it both ways.
stream_over()
{
	_out=$(netdev_counter "$1" "$2" tx_bytes)
	_in=$(netdev_counter "$1" "$2" rx_bytes)
	stream "$1" "$3" "${4:-7000}"
	# The driver counts sends when it polls the send ring, which may be a little later
	wait_for 5 counter_grown "$1" "$2" tx_bytes $((_out + stream_size))
	wait_for 5 counter_grown "$1" "$2" rx_bytes $((_in + stream_size))
}

# counter_grown HOST DEVICE NAME LEAST
counter_grown()
{
	[ "$(netdev_counter "$1" "$2" "$3")" -ge "$4" ]
}

# answers_whole OUTPUT: whether ping has received all answers unchanged. It compares the
# octets, but reports differences only in its output.
answers_whole()
{
	case $1 in
	*'wrong data'* | *truncated* | *DUP*) fail "$1" ;;
	esac
}

# echoes HOST ADDRESS SIZE [OPTION...]: two pings of this size come back unchanged.
echoes()
{
	_host=$1 _address=$2 _size=$3
	shift 3
	_echoes=$(echoes_of "$_host")
	_out=$(on "$_host" ping -n -c 2 -i 0.05 -W 30 -s "$_size" "$@" "$_address") ||
		fail "$_host to $_address, $_size octets: $_out"
	answers_whole "$_out"
	case $_out in
	*'2 packets transmitted, 2 received,'*) ;;
	*) pings_late "$_host" 2 "$_echoes" "$_out" ;;
	esac
}

# nothing_lost HOST...: their netdevices have counted no errors or drops.
nothing_lost()
{
	for _host; do
		netdev_has_none "$_host" rx_errors rx_dropped rx_length_errors \
			tx_errors tx_dropped
	done
}
