// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends large packets of an untrusted source, like those of a virtual machine: a
 * struct virtio_net_hdr in front of each tells how to segment it, and the kernel does not
 * verify that.
 *
 * Usage: ibvnet pair A B
 *        ibvnet flood DEVICE SECONDS
 *
 * pair makes two devices, which may then be moved to two network namespaces, and forwards
 * packets between them, as a virtual machine does between its own network device and that of the
 * host. A and B are names of TUN devices; or of TAP devices, as "tap:NAME"; or files of macvtap
 * devices that exist, as "/dev/tap5". On SIGTERM or SIGINT it prints "many=N", the number of
 * packets with more than 64 segments, and ends. flood sends large TCP packets to the broadcast
 * address of an IPoIB device, by a packet socket with PACKET_QDISC_BYPASS, and prints "sent=N".
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MAX	(65536 + 1024)
#define SEGMENTS_MANY	64
#define HWADDR_LEN	20
#define FLOOD_MSS	1000
#define FLOOD_PAYLOAD	8000

/* A file descriptor that becomes readable when the program has to end */
static int end_of_program(void)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, 0);
	if (fd < 0)
		err(1, "signalfd");
	return fd;
}

/* A new device of this type, IFF_TUN or IFF_TAP */
static int device_make(const char *name, int type)
{
	struct ifreq request = { .ifr_flags = type | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR);

	if (fd < 0)
		err(1, "/dev/net/tun");
	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	if (ioctl(fd, TUNSETIFF, &request))
		err(1, "%s", name);
	return fd;
}

static int macvtap_open(const char *path)
{
	int fd = open(path, O_RDWR);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static int device_open(const char *name)
{
	int fd;

	if (name[0] == '/')
		fd = macvtap_open(name);
	else if (!strncmp(name, "tap:", 4))
		fd = device_make(name + 4, IFF_TAP);
	else
		fd = device_make(name, IFF_TUN);
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6))
		err(1, "%s: offloads", name);
	return fd;
}

/* Carries one packet; returns true if it has many segments */
static bool carry(int from, int to)
{
	static char packet[PACKET_MAX];
	struct virtio_net_hdr header;
	ssize_t len = read(from, packet, sizeof(packet));

	if (len < (ssize_t)sizeof(header))
		err(1, "read");
	/* A device that is down refuses packets with EIO */
	if (write(to, packet, len) != len && errno != EIO)
		err(1, "write");
	memcpy(&header, packet, sizeof(header));
	return header.gso_type != VIRTIO_NET_HDR_GSO_NONE &&
	       len - sizeof(header) - header.hdr_len > SEGMENTS_MANY * header.gso_size;
}

static int pair(char **argv)
{
	struct pollfd fds[3] = {
		{ .fd = device_open(argv[0]), .events = POLLIN },
		{ .fd = device_open(argv[1]), .events = POLLIN },
		{ .fd = end_of_program(), .events = POLLIN },
	};
	unsigned int many = 0;
	int i;

	while (!fds[2].revents) {
		if (poll(fds, 3, -1) < 0)
			err(1, "poll");
		for (i = 0; i < 2; i++)
			if (fds[i].revents)
				many += carry(fds[i].fd, fds[!i].fd);
	}
	printf("many=%u\n", many);
	return 0;
}

/* The frame in the driver's format: the destination's link-layer address, then
 * the encapsulation header
 */
struct link {
	uint8_t to[HWADDR_LEN];
	uint16_t protocol;
	uint16_t reserved;
};

static void link_to_broadcast(struct link *link, const char *device)
{
	char path[64], text[64];
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "/sys/class/net/%s/broadcast", device);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		err(1, "%s", path);
	fclose(file);
	for (i = 0; i < HWADDR_LEN; i++)
		link->to[i] = strtoul(text + 3 * i, NULL, 16);
	link->protocol = htons(ETH_P_IP);
}

static int packet_socket(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1;

	if (fd < 0)
		err(1, "packet socket");
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		err(1, "options of the packet socket");
	return fd;
}

struct large {
	struct link link;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t payload[FLOOD_PAYLOAD];
};

static void large_fill(struct virtio_net_hdr *header, struct large *large)
{
	header->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	header->gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	header->hdr_len = offsetof(struct large, payload);
	header->gso_size = FLOOD_MSS;
	header->csum_start = offsetof(struct large, tcp);
	header->csum_offset = offsetof(struct tcphdr, check);
	large->ip.version = 4;
	large->ip.ihl = sizeof(large->ip) / 4;
	large->ip.tot_len = htons(sizeof(*large) - sizeof(large->link));
	large->ip.protocol = IPPROTO_TCP;
	large->ip.saddr = htonl(0x0a000001);
	large->ip.daddr = htonl(0x0a0000ff);
	large->tcp.doff = sizeof(large->tcp) / 4;
}

/* While the device has no carrier sends fail, which is not an error here */
static int flood(char **argv)
{
	static struct large large;
	struct virtio_net_hdr header = {};
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(argv[0]),
	};
	struct iovec pieces[2] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = &large, .iov_len = sizeof(large) },
	};
	const struct msghdr message = {
		.msg_name = &address,
		.msg_namelen = sizeof(address),
		.msg_iov = pieces,
		.msg_iovlen = 2,
	};
	time_t until = time(NULL) + atoi(argv[1]);
	unsigned int sent = 0;
	int fd = packet_socket();

	large_fill(&header, &large);
	link_to_broadcast(&large.link, argv[0]);
	while (time(NULL) < until)
		sent += sendmsg(fd, &message, 0) > 0;
	printf("sent=%u\n", sent);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "pair"))
		return pair(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "flood"))
		return flood(argv + 2);
	errx(2, "usage: ibvnet pair A B, or ibvnet flood DEVICE SECONDS");
}
