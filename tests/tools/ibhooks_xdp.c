// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Generic XDP: a program of a few instructions that counts packets and treats
 * them in one way. The program is assembled here, so no BPF compiler is needed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>

#include "ibhooks.h"

#define ICMP_REPLY	0
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

#define STORE(dst, offset, octet)	INSN(BPF_ST | BPF_MEM | BPF_B, dst, 0, offset, octet)
#define CALL(helper)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define EXIT				INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* The program jumps over these two instructions at its beginning. They pass the
 * packet on, and are the target for packets that are not treated.
 */
#define PASS_AT		1

/* Registers that calls preserve, and one for the address of the packet's first octet */
#define CONTEXT		BPF_REG_6
#define PACKET		BPF_REG_3

struct program {
	struct bpf_insn insns[128];
	size_t len;
};

/* The treatment of a packet, and its arguments */
struct treatment {
	int map;			/* the CPU map, if another CPU receives the packet */
	int to;				/* index of the netdevice to which it is redirected */
	size_t old_len;			/* length of the present header */
	size_t header_len;		/* length of the new header */
	uint8_t header[LL_HEADER_LEN];
};

static void emit(struct program *p, struct bpf_insn insn)
{
	if (p->len == ARRAY_SIZE(p->insns))
		errx(1, "too long a program");
	p->insns[p->len++] = insn;
}

/* Emits a conditional jump to the instructions that pass the packet on */
static void emit_pass_if(struct program *p, struct bpf_insn jump)
{
	jump.off = PASS_AT - (int)p->len - 1;
	emit(p, jump);
}

static void emit_map(struct program *p, int reg, int map)
{
	emit(p, INSN(BPF_LD | BPF_DW | BPF_IMM, reg, BPF_PSEUDO_MAP_FD, 0, map));
	emit(p, INSN(0, 0, 0, 0, 0));
}

/* Loads PACKET; passes packets that are shorter than this on */
static void emit_bounds(struct program *p, size_t octets)
{
	emit(p, LOAD(BPF_W, 2, CONTEXT, offsetof(struct xdp_md, data_end)));
	emit(p, LOAD(BPF_W, PACKET, CONTEXT, offsetof(struct xdp_md, data)));
	emit(p, MOVE(4, PACKET));
	emit(p, ADD(4, octets));
	emit_pass_if(p, INSN(BPF_JMP | BPF_JGT | BPF_X, 4, 2, 0, 0));
}

static void emit_end(struct program *p, int action)
{
	emit(p, SET(0, action));
	emit(p, EXIT);
}

/* Changes the flags in the sender's address to those of the own address. As all QPNs are the
 * same, the first six octets are those of its own address then, which is what the stack compares
 * of an Ethernet header.
 */
static void do_stain(struct program *p, const struct treatment *what)
{
	emit_bounds(p, what->old_len);
	emit(p, STORE(PACKET, 0, 0x80));
	emit_end(p, XDP_PASS);
}

static void do_cpu(struct program *p, const struct treatment *what)
{
	emit_map(p, 1, what->map);
	emit(p, SET(2, 0));
	emit(p, SET(3, XDP_PASS));
	emit(p, CALL(BPF_FUNC_redirect_map));
	emit(p, EXIT);
}

/* Replaces the header by another one, possibly of a different length */
static void do_gate(struct program *p, const struct treatment *what)
{
	size_t i;

	emit(p, MOVE(1, CONTEXT));
	emit(p, SET(2, (int)what->old_len - (int)what->header_len));
	emit(p, CALL(BPF_FUNC_xdp_adjust_head));
	emit_pass_if(p, JUMP(BPF_JNE, 0, 0, 0));
	emit_bounds(p, what->header_len);
	for (i = 0; i < what->header_len; i++)
		emit(p, STORE(PACKET, i, what->header[i]));
	emit(p, SET(1, what->to));
	emit(p, SET(2, 0));
	emit(p, CALL(BPF_FUNC_redirect));
	emit(p, EXIT);
}

static const struct {
	const char *name;
	uint32_t flags;
	int action;
	void (*emit)(struct program *p, const struct treatment *what);	/* instead of the result */
} actions[] = {
	{ "pass", XDP_FLAGS_SKB_MODE, XDP_PASS, NULL },
	{ "native", XDP_FLAGS_DRV_MODE, XDP_PASS, NULL },
	{ "drop", XDP_FLAGS_SKB_MODE, XDP_DROP, NULL },
	{ "tx", XDP_FLAGS_SKB_MODE, XDP_TX, NULL },
	{ "stain", XDP_FLAGS_SKB_MODE, XDP_PASS, do_stain },
	{ "cpu", XDP_FLAGS_SKB_MODE, XDP_REDIRECT, do_cpu },
	{ "gate", XDP_FLAGS_SKB_MODE, XDP_REDIRECT, do_gate },
};

static const struct {
	const char *name;
	int protocol;
	int skips_unless;		/* jump by the first octet after the IP header, to pass */
	int octet;
} filters[] = {
	{ "icmp", 1, BPF_JNE, ICMP_REQUEST },
	{ "reply", 1, BPF_JNE, ICMP_REPLY },
	{ "tcp", 6, BPF_JGT, 0xff },	/* never jumps */
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int map_create(enum bpf_map_type type, size_t value_size)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = sizeof(uint32_t),
		.value_size = value_size,
		.max_entries = 1,
	};
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0)
		err(1, "no map");
	return map;
}

/* Entry 0 is the first CPU, with a queue for packets */
static int cpu_map_create(void)
{
	int map = map_create(BPF_MAP_TYPE_CPUMAP, sizeof(uint32_t));
	uint32_t key = 0, packets = 256;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)&packets,
	};

	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		err(1, "no queue of a CPU");
	return map;
}

/* Passes packets of other kinds on, and counts those of this kind in the map's only entry */
static void emit_filter(struct program *p, int map, size_t filter, size_t header_len)
{
	size_t transport = header_len + IP_HEADER_LEN;

	emit(p, INSN(BPF_JMP | BPF_JA, 0, 0, 2, 0));
	emit_end(p, XDP_PASS);
	emit(p, MOVE(CONTEXT, 1));
	emit_bounds(p, transport + 1);
	emit(p, LOAD(BPF_H, 5, PACKET, header_len == LL_HEADER_LEN ? LL_ETHERTYPE : ETH_HLEN - 2));
	emit_pass_if(p, JUMP(BPF_JNE, 5, htons(ETH_P_IP), 0));
	emit(p, LOAD(BPF_B, 5, PACKET, header_len + IP_HEADER_PROTOCOL));
	emit_pass_if(p, JUMP(BPF_JNE, 5, filters[filter].protocol, 0));
	emit(p, LOAD(BPF_B, 5, PACKET, transport));
	emit_pass_if(p, JUMP(filters[filter].skips_unless, 5, filters[filter].octet, 0));
	emit(p, INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0));
	emit(p, MOVE(2, 10));
	emit(p, ADD(2, -4));
	emit_map(p, 1, map);
	emit(p, CALL(BPF_FUNC_map_lookup_elem));
	emit_pass_if(p, JUMP(BPF_JEQ, 0, 0, 0));
	emit(p, SET(1, 1));
	emit(p, INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD));
}

static int program_load(const struct program *p)
{
	static char log[LOG_SIZE];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)p->insns,
		.insn_cnt = p->len,
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

static int device_index(const char *device)
{
	int index = if_nametoindex(device);

	if (!index)
		err(1, "no device %s", device);
	return index;
}

/* The length of the header in front of the device's packets */
static size_t device_header_len(const char *device)
{
	struct ifreq request = {};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (strlen(device) >= sizeof(request.ifr_name))
		errx(1, "too long a name: %s", device);
	strcpy(request.ifr_name, device);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request))
		err(1, "no type of %s", device);
	close(fd);
	return request.ifr_hwaddr.sa_family == ARPHRD_ETHER ? ETH_HLEN : LL_HEADER_LEN;
}

/* The program stays attached as long as the link's file descriptor is open */
static void program_attach(int program, const char *device, uint32_t flags)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd = program,
			.target_ifindex = device_index(device),
			.attach_type = BPF_XDP,
			.flags = flags,
		},
	};

	if (bpf(BPF_LINK_CREATE, &attr) < 0)
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

static void header_read(struct treatment *what, const char *hex)
{
	unsigned int octet;

	for (; *hex; hex += 2) {
		if (what->header_len == sizeof(what->header) || !hex[1] ||
		    sscanf(hex, "%2x", &octet) != 1)
			errx(2, "no header: %s", hex);
		what->header[what->header_len++] = octet;
	}
}

void xdp_main(int argc, char **argv)
{
	struct treatment what = {};
	struct program p = {};
	size_t action, filter;
	int map;

	if (argc < 3)
		usage();
	for (action = 0; action < ARRAY_SIZE(actions); action++)
		if (!strcmp(argv[1], actions[action].name))
			break;
	for (filter = 0; filter < ARRAY_SIZE(filters); filter++)
		if (!strcmp(argv[2], filters[filter].name))
			break;
	if (action == ARRAY_SIZE(actions) || filter == ARRAY_SIZE(filters))
		usage();
	if (actions[action].emit == do_gate ? argc != 5 : argc != 3)
		usage();
	what.old_len = device_header_len(argv[0]);
	if (actions[action].emit == do_cpu)
		what.map = cpu_map_create();
	if (argc == 5) {
		what.to = device_index(argv[3]);
		header_read(&what, argv[4]);
	}
	map = map_create(BPF_MAP_TYPE_ARRAY, sizeof(uint64_t));
	emit_filter(&p, map, filter, what.old_len);
	if (actions[action].emit)
		actions[action].emit(&p, &what);
	else
		emit_end(&p, actions[action].action);
	program_attach(program_load(&p), argv[0], actions[action].flags);
	wait_for_end();
	printf("count=%llu", (unsigned long long)count_read(map));
	print_end();
}
