// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packet sockets, read by recvfrom() and by the memory-mapped rings of each
 * version. In a ring the sender's address is directly in front of the frame,
 * with room for 8 octets and the padding for alignment.
 */
#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "ibhooks.h"

#define BLOCK_SIZE	65536
#define BLOCKS		8
#define FRAME_SIZE	4096
#define FRAMES		(BLOCKS * BLOCK_SIZE / FRAME_SIZE)
#define RETIRE_MS	20

struct reader {
	int fd;
	int type;			/* socket type: SOCK_RAW or SOCK_DGRAM */
	unsigned int header_len;	/* of the frames */
	unsigned long left;		/* echoes to come */
	uint8_t *ring;
	unsigned char last_pkttype;
	size_t last_len;
	uint8_t last[FRAME_SIZE];	/* the frame received before */
};

/* The socket gets a packet that has to wait for its path twice, because the
 * packet leaves the network stack a second time.
 */
static bool is_repeated(struct reader *reader, const struct sockaddr_ll *from,
			const uint8_t *frame, size_t len)
{
	if (len == reader->last_len && from->sll_pkttype == reader->last_pkttype &&
	    !memcmp(frame, reader->last, len))
		return true;
	if (len > sizeof(reader->last))
		errx(1, "a frame of %zu octets", len);
	reader->last_pkttype = from->sll_pkttype;
	reader->last_len = len;
	memcpy(reader->last, frame, len);
	return false;
}

/* Processes a frame and the address that was received with it */
static void take(struct reader *reader, const struct sockaddr_ll *from, const uint8_t *frame,
		 size_t len)
{
	const uint8_t *packet = frame + reader->header_len;

	if (len < reader->header_len)
		errx(1, "a frame of %zu octets", len);
	if (!reader->left || !packet_is_echo(packet, len - reader->header_len) ||
	    is_repeated(reader, from, frame, len))
		return;
	len -= reader->header_len;
	printf("%s halen=%u hatype=%u pkttype=%u protocol=%04x ifindex=%d",
	       packet_kind(packet, len), from->sll_halen, from->sll_hatype, from->sll_pkttype,
	       ntohs(from->sll_protocol), from->sll_ifindex);
	print_octets("header", frame, reader->header_len);
	print_octets("packet", packet, len);
	print_end();
	reader->left--;
}

static void wait_readable(const struct reader *reader)
{
	struct pollfd pollfd = { .fd = reader->fd, .events = POLLIN };

	if (poll(&pollfd, 1, WAIT_SECONDS * 1000) != 1)
		errx(1, "%lu echoes did not come", reader->left);
}

/* ---- recvfrom() ---- */

static void recv_run(struct reader *reader)
{
	static uint8_t frame[BLOCK_SIZE];
	struct sockaddr_storage from;
	socklen_t from_len;
	ssize_t len;

	while (reader->left) {
		wait_readable(reader);
		from_len = sizeof(from);
		len = recvfrom(reader->fd, frame, sizeof(frame), 0, (struct sockaddr *)&from,
			       &from_len);
		if (len < 0)
			err(1, "cannot receive");
		if (from_len < sizeof(struct sockaddr_ll))
			errx(1, "an address of %u octets", from_len);
		take(reader, (struct sockaddr_ll *)&from, frame, len);
	}
}

/* ---- Rings ---- */

/* In a ring's frame the address follows the header at an aligned offset */
static const struct sockaddr_ll *ring_address(const void *header, size_t header_len)
{
	return (const void *)((const uint8_t *)header + TPACKET_ALIGN(header_len));
}

/* The kernel reports where the network header begins */
static void ring_take(struct reader *reader, const void *header, size_t header_len,
		      unsigned int mac, unsigned int net, unsigned int len)
{
	if (net - mac != reader->header_len)
		errx(1, "a link-layer header of %u octets", net - mac);
	take(reader, ring_address(header, header_len), (const uint8_t *)header + mac, len);
}

static void v1_run(struct reader *reader)
{
	unsigned int next = 0;

	while (reader->left) {
		struct tpacket_hdr *frame = (void *)(reader->ring + next * FRAME_SIZE);
		unsigned long *status = &frame->tp_status;

		if (!(__atomic_load_n(status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
			wait_readable(reader);
			continue;
		}
		ring_take(reader, frame, sizeof(*frame), frame->tp_mac, frame->tp_net,
			  frame->tp_snaplen);
		__atomic_store_n(status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		next = (next + 1) % FRAMES;
	}
}

static void v2_run(struct reader *reader)
{
	unsigned int next = 0;

	while (reader->left) {
		struct tpacket2_hdr *frame = (void *)(reader->ring + next * FRAME_SIZE);
		uint32_t *status = &frame->tp_status;

		if (!(__atomic_load_n(status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
			wait_readable(reader);
			continue;
		}
		ring_take(reader, frame, sizeof(*frame), frame->tp_mac, frame->tp_net,
			  frame->tp_snaplen);
		__atomic_store_n(status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		next = (next + 1) % FRAMES;
	}
}

static void v3_block(struct reader *reader, const struct tpacket_block_desc *block)
{
	const uint8_t *at = (const uint8_t *)block + block->hdr.bh1.offset_to_first_pkt;
	const struct tpacket3_hdr *frame;
	unsigned int i;

	for (i = 0; i < block->hdr.bh1.num_pkts; i++) {
		frame = (const void *)at;
		ring_take(reader, frame, sizeof(*frame), frame->tp_mac, frame->tp_net,
			  frame->tp_snaplen);
		at += frame->tp_next_offset;
	}
}

static void v3_run(struct reader *reader)
{
	unsigned int next = 0;

	while (reader->left) {
		struct tpacket_block_desc *block = (void *)(reader->ring + next * BLOCK_SIZE);
		uint32_t *status = &block->hdr.bh1.block_status;

		if (!(__atomic_load_n(status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
			wait_readable(reader);
			continue;
		}
		v3_block(reader, block);
		__atomic_store_n(status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		next = (next + 1) % BLOCKS;
	}
}

static void ring_open(struct reader *reader, int version)
{
	struct tpacket_req3 req = {
		.tp_block_size = BLOCK_SIZE,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = FRAME_SIZE,
		.tp_frame_nr = FRAMES,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	socklen_t len = version == TPACKET_V3 ? sizeof(req) : sizeof(struct tpacket_req);

	if (setsockopt(reader->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(reader->fd, SOL_PACKET, PACKET_RX_RING, &req, len))
		err(1, "no ring");
	reader->ring = mmap(NULL, BLOCKS * BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    reader->fd, 0);
	if (reader->ring == MAP_FAILED)
		err(1, "no memory of the ring");
}

/* ---- The ways of reading ---- */

static const struct {
	const char *name;
	int version;			/* version of the ring; -1: no ring */
	void (*run)(struct reader *reader);
} ways[] = {
	{ "recv", -1, recv_run },
	{ "v1", TPACKET_V1, v1_run },
	{ "v2", TPACKET_V2, v2_run },
	{ "v3", TPACKET_V3, v3_run },
};

static void reader_open(struct reader *reader, const char *type)
{
	if (!strcmp(type, "raw")) {
		reader->type = SOCK_RAW;
		reader->header_len = LL_HEADER_LEN;
	} else if (!strcmp(type, "dgram")) {
		reader->type = SOCK_DGRAM;
		reader->header_len = 0;
	} else {
		usage();
	}
	reader->fd = socket(AF_PACKET, reader->type, 0);
	if (reader->fd < 0)
		err(1, "no packet socket");
}

static void reader_bind(const struct reader *reader, const char *device)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(device),
	};

	if (!address.sll_ifindex)
		err(1, "%s", device);
	if (bind(reader->fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "cannot bind to %s", device);
}

void packet_main(int argc, char **argv)
{
	static struct reader reader;
	size_t i;

	if (argc != 4)
		usage();
	for (i = 0; i < ARRAY_SIZE(ways) && strcmp(argv[2], ways[i].name); i++)
		;
	if (i == ARRAY_SIZE(ways))
		usage();
	reader_open(&reader, argv[1]);
	reader.left = strtoul(argv[3], NULL, 10);
	if (ways[i].version >= 0)
		ring_open(&reader, ways[i].version);
	reader_bind(&reader, argv[0]);
	print_ready();
	ways[i].run(&reader);
}
