// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Garbage in memory that must not be read: parts of a receive buffer to which no packet was
 * written, and memory that is no longer mapped for an HCA.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-direction.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "ibfab.h"
#include "ibfab_garbage.h"
#include "ibfab_slot.h"

#define IBFAB_DMA_LINE	64	/* bytes that an HCA writes at once */
#define IBFAB_GARBAGE	0xa5

static bool garbage = true;
module_param(garbage, bool, 0644);
MODULE_PARM_DESC(garbage, "memory that nobody may look at holds garbage (default: yes)");

/* A GRH that an earlier packet might have left in the buffer. A consumer that reads it without
 * checking IB_WC_GRH takes a unicast packet for a broadcast.
 */
static const struct ib_grh stale_grh = {
	.version_tclass_flow = cpu_to_be32(IBFAB_GRH_IPVER << 28),
	.paylen = cpu_to_be16(U16_MAX),
	.next_hdr = IBFAB_GRH_NEXT_HDR,
	.hop_limit = 255,
	.sgid.raw = { 0xfe, 0x80, [8] = 0xde, 0xad, 0xbe, 0xef, 0xde, 0xad, 0xbe, 0xef },
	.dgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff, 0xff },
};

/**
 * ibfab_garbage_receive() - Write garbage where a datagram writes nothing.
 * @rwr: the receive WR that takes the datagram, with enough room for it
 * @h: the headers of the datagram
 *
 * The contents of these bytes are undefined (11.4.1.2), so they must not keep their old value.
 *
 * Context: the engine, before the datagram is written.
 */
void ibfab_garbage_receive(const struct ibfab_rwr *rwr, const struct ibfab_hdrs *h)
{
	static const u8 behind[IBFAB_DMA_LINE] = {
		[0 ... IBFAB_DMA_LINE - 1] = IBFAB_GARBAGE
	};
	unsigned int end = IB_GRH_BYTES + h->payload_len;

	if (!READ_ONCE(garbage))
		return;
	if (!h->grh)
		ibfab_scatter(rwr, 0, &stale_grh, IB_GRH_BYTES);
	ibfab_scatter(rwr, end, behind, min(-end % IBFAB_DMA_LINE, rwr->length - end));
}

/* Called at the beginning of the kernel's function with the arguments dev, address, size and
 * direction, when the bounce buffer has no other user yet. Its contents are not copied back for
 * DMA_TO_DEVICE.
 */
static int unmap_begins(struct kprobe *probe, struct pt_regs *regs)
{
	const struct device *dev = (void *)regs_get_kernel_argument(regs, 0);
	phys_addr_t address = regs_get_kernel_argument(regs, 1);
	size_t size = regs_get_kernel_argument(regs, 2);

	if (READ_ONCE(garbage) && ibfab_slot_is(dev) &&
	    (u32)regs_get_kernel_argument(regs, 3) == DMA_TO_DEVICE)
		memset(phys_to_virt(address), IBFAB_GARBAGE, size);
	return 0;
}

NOKPROBE_SYMBOL(unmap_begins);

/* Its names: from 6.11 on, and before that */
static const char * const unmap_symbols[] = {
	"__swiotlb_tbl_unmap_single", "swiotlb_tbl_unmap_single",
};

static struct kprobe unmap_probe = {
	.pre_handler = unmap_begins,
};

/**
 * ibfab_garbage_init() - Begin to write garbage to memory that is unmapped.
 *
 * If the parameter is off now, this is not done later either, because a probe costs time.
 *
 * Context: process.
 * Return: 0, or a negative errno after one line in the kernel's log.
 */
int ibfab_garbage_init(void)
{
	int i, ret = -ENOENT;

	if (!garbage)
		return 0;
	for (i = 0; i < ARRAY_SIZE(unmap_symbols) && ret == -ENOENT; i++) {
		unmap_probe.symbol_name = unmap_symbols[i];
		ret = register_kprobe(&unmap_probe);
	}
	if (ret)
		pr_err("cannot see memory being unmapped: error %d; garbage=0 does without\n", ret);
	return ret;
}

/**
 * ibfab_garbage_exit() - Stop writing garbage to memory that is unmapped.
 *
 * Context: process.
 */
void ibfab_garbage_exit(void)
{
	/* The probe has an address only if it was registered */
	if (unmap_probe.addr)
		unregister_kprobe(&unmap_probe);
}
