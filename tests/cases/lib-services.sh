# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The library of cases that run services: daemons, of which each host has its own.

. /cases/lib.sh

# service_start NAME HOST CMD...: starts a daemon, to be stopped by `traffic_stop NAME`. It
# has its own /run, because a PID or lock file there would tell daemons of the same kind that
# one is already running.
service_start()
{
	_name=$1 _host=$2
	shift 2
	# shellcheck disable=SC2016  # for the inner shell to expand
	traffic_start "$_name" in_netns "$_host" unshare -m sh -c \
		'mount -t tmpfs run /run && exec "$@"' sh "$@"
}

# said NAME REGEX: whether the service's output matches.
said()
{
	grep -E "$2" "/run/traffic.$1.log"
}

# user_add NAME ID: adds a user, which some services need.
user_add()
{
	echo "$1:x:$2:$2:$1:/:/bin/sh" >>/etc/passwd
	echo "$1:x:$2:" >>/etc/group
}

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

# cable HOST down|up: unplugs or plugs the cable of hN, at port N + 1 of the switch, and waits
# until the host has noticed.
cable()
{
	echo "switch0 $((${1#h} + 1)) $2" >"$ibfab/cable"
	if [ "$2" = up ]; then
		wait_for 60 has_carrier "$1" "$(dev_of "$1")"
	else
		wait_for 10 not has_carrier "$1" "$(dev_of "$1")"
	fi
}
