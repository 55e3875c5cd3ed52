// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives packets by those interfaces of the kernel that show the link-layer header, and
 * prints what they returned, so that a script can compare it with what was sent.
 *
 * Usage: ibhooks nflog GROUP COUNT
 *        ibhooks nfqueue QUEUE accept|drop COUNT
 *        ibhooks packet DEVICE raw|dgram recv|v1|v2|v3 COUNT
 *        ibhooks xdp DEVICE pass|native|drop|tx|stain|cpu icmp|reply|tcp
 *        ibhooks xdp DEVICE gate icmp|reply|tcp DEVICE HEADER
 *
 * The first line is "ready". There is a line for each packet: "request", "reply" (ICMP echo) or
 * "other", followed by NAME=VALUE words; octets are in hexadecimal, and "-" means none. All
 * subcommands except xdp end after COUNT packets. packet only counts ICMP echoes.
 *
 * xdp counts and treats ICMP echo requests, their replies, or TCP, and passes all other packets;
 * on SIGTERM it prints "count=N" and ends. stain changes the header and passes the packet, cpu
 * lets the first CPU receive it, and gate redirects it to another device, with the octets HEADER
 * as its header. native requests native XDP, which requires support by the driver.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibhooks.h"

#define ICMP_PROTOCOL	1
#define ICMP_REPLY	0
#define ICMP_REQUEST	8

static const struct {
	const char *name;
	void (*main)(int argc, char **argv);
} commands[] = {
	{ "nflog", nflog_main },
	{ "nfqueue", nfqueue_main },
	{ "packet", packet_main },
	{ "xdp", xdp_main },
};

/* packet_kind() - the first word of a packet's line; @packet begins with the IP header */
const char *packet_kind(const uint8_t *packet, size_t len)
{
	size_t header_len;

	if (len < IP_HEADER_LEN || packet[0] >> 4 != 4 ||
	    packet[IP_HEADER_PROTOCOL] != ICMP_PROTOCOL)
		return "other";
	header_len = 4 * (packet[0] & 0xf);
	if (len <= header_len)
		return "other";
	switch (packet[header_len]) {
	case ICMP_REQUEST:
		return "request";
	case ICMP_REPLY:
		return "reply";
	default:
		return "other";
	}
}

bool packet_is_echo(const uint8_t *packet, size_t len)
{
	return strcmp(packet_kind(packet, len), "other");
}

void print_octets(const char *name, const void *octets, size_t len)
{
	const uint8_t *octet = octets;
	size_t i;

	printf(" %s=%s", name, len ? "" : "-");
	for (i = 0; i < len; i++)
		printf("%02x", octet[i]);
}

void print_end(void)
{
	if (putchar('\n') == EOF || fflush(stdout))
		err(1, "cannot write");
}

void print_ready(void)
{
	fputs("ready", stdout);
	print_end();
}

void usage(void)
{
	errx(2, "wrong words: see the head of ibhooks.c");
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2)
		usage();
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		commands[i].main(argc - 2, argv + 2);
		return 0;
	}
	usage();
}
