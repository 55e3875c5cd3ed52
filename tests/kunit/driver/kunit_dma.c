// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A DMA device for the suites' HCA. What it writes becomes visible to the CPU
 * only when the driver syncs or unmaps the memory, and it must not write again
 * before the memory is synced for the device. Kprobes intercept the driver's
 * calls of the DMA API, most of which do nothing on x86.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/platform_device.h>

#include "kunit.h"

#define DMA_RANGES 512

struct dma_range {
	u64 addr;
	u32 len;
};

static struct {
	struct platform_device *pdev;
	spinlock_t lock;		/* protects the members below */
	u32 maps;
	u32 to_device;
	u32 wrong;
	struct dma_range written;	/* what the device wrote, not synced yet; its octets: */
	u8 octets[SZ_8K];
	struct dma_range cpus[DMA_RANGES];	/* memory synced for the CPU; length 0: unused */
} dma = {
	.lock = __SPIN_LOCK_UNLOCKED(dma.lock),
};

static bool is_within(const struct dma_range *range, u64 addr, u64 len)
{
	return range->len && range->addr >= addr && range->addr < addr + len;
}

/* Makes what the device wrote there visible in memory */
static void show(u64 addr, u64 len)
{
	if (!is_within(&dma.written, addr, len))
		return;
	memcpy(phys_to_virt(dma.written.addr), dma.octets,
	       min_t(u64, dma.written.len, addr + len - dma.written.addr));
	dma.written.len = 0;
}

static void cpu_takes(u64 addr, u32 len)
{
	int i;

	for (i = 0; i < DMA_RANGES; i++) {
		if (dma.cpus[i].len)
			continue;
		dma.cpus[i] = (struct dma_range) { .addr = addr, .len = len };
		return;
	}
	dma.wrong++;
}

static void cpu_gives(u64 addr, u64 len)
{
	int i;

	for (i = 0; i < DMA_RANGES; i++)
		if (is_within(&dma.cpus[i], addr, len))
			dma.cpus[i].len = 0;
}

static bool is_ours(struct pt_regs *regs)
{
	return dma.pdev && regs_get_kernel_argument(regs, 0) == (unsigned long)&dma.pdev->dev;
}

static int seen_map(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long flags;

	if (!is_ours(regs))
		return 0;
	spin_lock_irqsave(&dma.lock, flags);
	dma.maps++;
	dma.to_device += regs_get_kernel_argument(regs, 4) == DMA_TO_DEVICE;
	spin_unlock_irqrestore(&dma.lock, flags);
	return 0;
}

static int seen_unmap(struct kprobe *probe, struct pt_regs *regs)
{
	u64 addr = regs_get_kernel_argument(regs, 1), len = regs_get_kernel_argument(regs, 2);
	unsigned long flags;

	if (!is_ours(regs))
		return 0;
	spin_lock_irqsave(&dma.lock, flags);
	show(addr, len);
	cpu_gives(addr, len);
	spin_unlock_irqrestore(&dma.lock, flags);
	return 0;
}

static int seen_for_cpu(struct kprobe *probe, struct pt_regs *regs)
{
	u64 addr = regs_get_kernel_argument(regs, 1), len = regs_get_kernel_argument(regs, 2);
	unsigned long flags;

	if (!is_ours(regs))
		return 0;
	spin_lock_irqsave(&dma.lock, flags);
	show(addr, len);
	cpu_takes(addr, len);
	spin_unlock_irqrestore(&dma.lock, flags);
	return 0;
}

static int seen_for_device(struct kprobe *probe, struct pt_regs *regs)
{
	u64 addr = regs_get_kernel_argument(regs, 1), len = regs_get_kernel_argument(regs, 2);
	unsigned long flags;

	if (!is_ours(regs))
		return 0;
	spin_lock_irqsave(&dma.lock, flags);
	cpu_gives(addr, len);
	spin_unlock_irqrestore(&dma.lock, flags);
	return 0;
}

static struct kprobe map_probe = {
	.symbol_name = "dma_map_page_attrs",
	.pre_handler = seen_map,
};

static struct kprobe unmap_probe = {
	.symbol_name = "dma_unmap_page_attrs",
	.pre_handler = seen_unmap,
};

static struct kprobe for_cpu_probe = {
	.symbol_name = "dma_sync_single_for_cpu",
	.pre_handler = seen_for_cpu,
};

static struct kprobe for_device_probe = {
	.symbol_name = "dma_sync_single_for_device",
	.pre_handler = seen_for_device,
};

static struct kprobe *probes[] = {
	&map_probe, &unmap_probe, &for_cpu_probe, &for_device_probe,
};

/* After unregistering, these fields must be cleared before a kprobe can be registered again */
static int probes_register(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		probes[i]->addr = NULL;
		probes[i]->flags = 0;
	}
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

/**
 * dma_begin() - create the device
 *
 * Context: may sleep.
 * Return: the device, for hca_register_with(), to be removed by dma_end(); or an ERR_PTR.
 */
struct device *dma_begin(void)
{
	struct platform_device *pdev;
	int err;

	err = probes_register();
	if (err)
		return ERR_PTR(err);
	pdev = platform_device_register_simple("ipoibkunit", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pdev)) {
		unregister_kprobes(probes, ARRAY_SIZE(probes));
		return ERR_CAST(pdev);
	}
	dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	memset(dma.cpus, 0, sizeof(dma.cpus));
	dma.written.len = 0;
	dma.maps = 0;
	dma.to_device = 0;
	dma.wrong = 0;
	dma.pdev = pdev;
	return &pdev->dev;
}

/**
 * dma_end() - remove the device, if there is one
 *
 * Context: may sleep; its HCA has been unregistered.
 */
void dma_end(void)
{
	if (!dma.pdev)
		return;
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	platform_device_unregister(dma.pdev);
	dma.pdev = NULL;
}

/**
 * dma_write() - let the device write to memory
 * @addr: the DMA address
 * @octets: the data
 * @len: the length of the data
 *
 * Until the memory is synced it holds other data. If the memory is synced for the CPU, the write
 * is an error, which dma_wrong() counts.
 *
 * Context: process.
 */
void dma_write(u64 addr, const void *octets, u32 len)
{
	unsigned long flags;
	int i;

	spin_lock_irqsave(&dma.lock, flags);
	for (i = 0; i < DMA_RANGES; i++)
		dma.wrong += is_within(&dma.cpus[i], addr, len);
	memset(phys_to_virt(addr), 0x11, len);
	memcpy(dma.octets, octets, min_t(u32, len, sizeof(dma.octets)));
	dma.written = (struct dma_range) { .addr = addr, .len = len };
	spin_unlock_irqrestore(&dma.lock, flags);
}

/**
 * dma_maps() - count the mappings that were made for the device
 *
 * Context: any.
 * Return: the number of calls since dma_begin().
 */
u32 dma_maps(void)
{
	return READ_ONCE(dma.maps);
}

/**
 * dma_maps_to_device() - count the mappings that were made for the device to read
 *
 * Context: any.
 * Return: the number of calls since dma_begin().
 */
u32 dma_maps_to_device(void)
{
	return READ_ONCE(dma.to_device);
}

/**
 * dma_wrong() - count the writes of the device to memory that was synced for the CPU
 *
 * Context: any.
 * Return: the number since dma_begin(), 0 if the driver is correct.
 */
u32 dma_wrong(void)
{
	return READ_ONCE(dma.wrong);
}
