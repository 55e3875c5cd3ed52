// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Generic XDP: a program of a few instructions, which counts packets and does one thing
 * with them. It is put together here, so that no compiler for it is needed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>

#include "ibhooks.h"

/* Where the type of ICMP, or the first octet of TCP, is */
#define TRANSPORT	(LL_HEADER_LEN + IP_HEADER_LEN)
#define ICMP_REQUEST	8

#define LOG_SIZE	65536

#define INSN(insn_code, dst, src, offset, immediate) \
	((struct bpf_insn) { .code = (insn_code), .dst_reg = (dst), .src_reg = (src), \
			     .off = (offset), .imm = (immediate) })
#define LOAD(size, dst, src, offset)	INSN(BPF_LDX | BPF_MEM | (size), dst, src, offset, 0)
#define MOVE(dst, src)			INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define SET(dst, value)			INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value)
#define ADD(dst, value)			INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value)
#define JUMP(op, reg, value, offset)	INSN(BPF_JMP | (op) | BPF_K, reg, 0, offset, value)
#define EXIT				INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* The last but one instruction of the program, where a packet is passed on */
#define PASS_AT		22
#define TO_PASS(at)	(PASS_AT - (at) - 1)

static const struct {
	const char *name;
	int action;
} actions[] = {
	{ "pass", XDP_PASS },
	{ "drop", XDP_DROP },
	{ "tx", XDP_TX },
};

static const struct {
	const char *name;
	int protocol;
	int skips_unless;		/* how the first octet behind the IP header is compared */
	int octet;
} filters[] = {
	{ "icmp", 1, BPF_JNE, ICMP_REQUEST },
	{ "tcp", 6, BPF_JGT, 0xff },	/* any will do */
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int map_create(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint64_t),
		.max_entries = 1,
	};
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0)
		err(1, "no map");
	return map;
}

static int program_load(int map, size_t action, size_t filter)
{
	static char log[LOG_SIZE];
	struct bpf_insn program[] = {
		LOAD(BPF_W, 2, 1, offsetof(struct xdp_md, data_end)),
		LOAD(BPF_W, 3, 1, offsetof(struct xdp_md, data)),
		MOVE(4, 3),
		ADD(4, TRANSPORT + 1),
		INSN(BPF_JMP | BPF_JGT | BPF_X, 4, 2, TO_PASS(4), 0),
		LOAD(BPF_H, 5, 3, LL_ETHERTYPE),
		JUMP(BPF_JNE, 5, htons(ETH_P_IP), TO_PASS(6)),
		LOAD(BPF_B, 5, 3, LL_HEADER_LEN + IP_HEADER_PROTOCOL),
		JUMP(BPF_JNE, 5, filters[filter].protocol, TO_PASS(8)),
		LOAD(BPF_B, 5, 3, TRANSPORT),
		JUMP(filters[filter].skips_unless, 5, filters[filter].octet, TO_PASS(10)),
		/* One more in the map's only entry */
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		MOVE(2, 10),
		ADD(2, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		JUMP(BPF_JEQ, 0, 0, TO_PASS(17)),
		SET(1, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD),
		SET(0, actions[action].action),
		EXIT,
		/* PASS_AT */
		SET(0, XDP_PASS),
		EXIT,
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)program,
		.insn_cnt = ARRAY_SIZE(program),
		.license = (uintptr_t)"Dual BSD/GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		err(1, "the program is refused: %s", log);
	return fd;
}

/* It stays attached as long as the link is open */
static void program_attach(int program, const char *device)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd = program,
			.target_ifindex = if_nametoindex(device),
			.attach_type = BPF_XDP,
			.flags = XDP_FLAGS_SKB_MODE,
		},
	};

	if (!attr.link_create.target_ifindex || bpf(BPF_LINK_CREATE, &attr) < 0)
		err(1, "cannot attach to %s", device);
}

static uint64_t count_read(int map)
{
	uint32_t key = 0;
	uint64_t count;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)&count,
	};

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		err(1, "cannot read the count");
	return count;
}

static void wait_for_end(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		err(1, "cannot block SIGTERM");
	print_ready();
	if (sigwait(&set, &signal))
		errx(1, "cannot wait");
}

void xdp_main(int argc, char **argv)
{
	size_t action, filter;
	int map;

	if (argc != 3)
		usage();
	for (action = 0; action < ARRAY_SIZE(actions); action++)
		if (!strcmp(argv[1], actions[action].name))
			break;
	for (filter = 0; filter < ARRAY_SIZE(filters); filter++)
		if (!strcmp(argv[2], filters[filter].name))
			break;
	if (action == ARRAY_SIZE(actions) || filter == ARRAY_SIZE(filters))
		usage();
	map = map_create();
	program_attach(program_load(map, action, filter), argv[0]);
	wait_for_end();
	printf("count=%llu", (unsigned long long)count_read(map));
	print_end();
}
