// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends echo requests of many sizes from one process, as ping would have to be started for each.
 *
 * Usage: ibecho ADDRESS FIRST LAST
 *
 * Sends echo requests of each size from FIRST to LAST octets to an IPv4 or IPv6 address, one
 * after the other, and waits for each answer. Prints the sizes that were not answered within
 * two seconds, or with other octets than those sent.
 */
#include <assert.h>
#include <err.h>
#include <netdb.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MAX	65536
#define PATIENCE_MS	2000

/* ICMP and ICMPv6 have the same header here */
struct echo {
	uint8_t type;
	uint8_t code;
	uint16_t checksum;
	uint16_t id;
	uint16_t sequence;
	uint8_t data[];
};

static_assert(sizeof(struct echo) == 8, "RFC 792 and RFC 4443 section 4.1");

struct family {
	int protocol;
	uint8_t request;
	uint8_t reply;
};

static const struct family ipv4 = { IPPROTO_ICMP, ICMP_ECHO, ICMP_ECHOREPLY };
static const struct family ipv6 = { IPPROTO_ICMPV6, ICMP6_ECHO_REQUEST, ICMP6_ECHO_REPLY };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* The checksum of RFC 1071; the kernel computes that of ICMPv6 */
static uint16_t checksum(const void *data, size_t len)
{
	const uint8_t *octet = data;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += (uint32_t)octet[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

static void echo_fill(const struct family *family, struct echo *echo, unsigned int size)
{
	unsigned int i;

	*echo = (struct echo) {
		.type = family->request,
		.id = htons(getpid() & 0xffff),
		.sequence = htons(size & 0xffff),
	};
	for (i = 0; i < size; i++)
		echo->data[i] = i * 7 + size;
	if (family == &ipv4)
		echo->checksum = checksum(echo, sizeof(*echo) + size);
}

/* Is the received packet the correct answer? A raw IPv4 socket also receives the IP header. */
static bool echo_answers(const struct family *family, const struct echo *sent,
			 unsigned int size, const uint8_t *packet, ssize_t len)
{
	ssize_t skip = family == &ipv4 ? ((const struct iphdr *)packet)->ihl * 4 : 0;
	const struct echo *echo = (const struct echo *)(packet + skip);

	return len == skip + (ssize_t)(sizeof(*echo) + size) &&
	       echo->type == family->reply && echo->id == sent->id &&
	       echo->sequence == sent->sequence && !memcmp(echo->data, sent->data, size);
}

static bool echo_once(const struct family *family, int fd, unsigned int size)
{
	static uint8_t request[PACKET_MAX], packet[PACKET_MAX];
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct echo *echo = (struct echo *)request;
	int64_t until = now_ms() + PATIENCE_MS, left;
	ssize_t len;

	echo_fill(family, echo, size);
	if (send(fd, request, sizeof(*echo) + size, 0) < 0)
		return false;
	while ((left = until - now_ms()) > 0 && poll(&readable, 1, left) > 0) {
		len = recv(fd, packet, sizeof(packet), 0);
		if (len > 0 && echo_answers(family, echo, size, packet, len))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_RAW };
	const struct family *family;
	struct addrinfo *to;
	unsigned long size, last;
	int fd, error;

	if (argc != 4)
		errx(2, "usage: ibecho ADDRESS FIRST LAST");
	error = getaddrinfo(argv[1], NULL, &hints, &to);
	if (error)
		errx(2, "%s: %s", argv[1], gai_strerror(error));
	last = strtoul(argv[3], NULL, 0);
	if (last > PACKET_MAX - 1024)
		errx(2, "%lu octets are too many", last);
	family = to->ai_family == AF_INET6 ? &ipv6 : &ipv4;
	fd = socket(to->ai_family, SOCK_RAW, family->protocol);
	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "%s", argv[1]);
	for (size = strtoul(argv[2], NULL, 0); size <= last; size++)
		if (!echo_once(family, fd, size))
			printf("%lu\n", size);
	return 0;
}
