# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib.sh
# A shell on the transcript's port, with the demonstration's fabric and hosts.

. /cases/lib.sh

fabric_start hcas=2
opensm_start
"${DRIVER:-ipoib}_load"
hosts_make 2
stty -F /dev/ttyS1 sane
cat <<-'E'
	Two hosts, h0 and h1, on an InfiniBand subnet of two HCAs and a switch:
	    on h0 ping 10.0.0.2
	    ibnetdiscover -C ibfab0
	    saquery -C ibfab0 -g
	The functions of tests/cases/lib.sh are there. Ctrl-D ends the guest.
E
# Its end hangs up the port, so the message goes to the kernel log.
setsid -c env ENV=/cases/lib.sh PS1='guest# ' sh -i \
	</dev/ttyS1 >/dev/ttyS1 2>&1 || echo "the prompt ended: $?" >/dev/kmsg
