// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Slots into which HCAs are plugged. The slot is the device whose DMA mappings the kernel accounts.
 * It stays when the HCA is unplugged, so a mapping that still exists then has leaked. The bus of
 * the slots reports how many virtual functions an HCA has.
 */
#include <linux/device.h>
#include <linux/device/bus.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "ibfab.h"
#include "ibfab_slot.h"

/**
 * struct ibfab_slot - A slot
 * @dev: parent of the HCA in the slot
 * @dma_mask: allows all addresses
 * @dma_parms: allows mappings of any length
 */
struct ibfab_slot {
	struct device dev;
	u64 dma_mask;
	struct device_dma_parameters dma_parms;
};

static struct ibfab_slot *slots[IBFAB_MAX_HCAS];

static int slot_num_vf(struct device *dev)
{
	return ibfab_vf_num();
}

static struct bus_type slot_bus = {
	.name = KBUILD_MODNAME,
	.num_vf = slot_num_vf,
};

static void slot_release(struct device *dev)
{
	kfree(container_of(dev, struct ibfab_slot, dev));
}

static int slot_create(unsigned int index)
{
	struct ibfab_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);
	struct device *dev;
	int ret;

	if (!slot)
		return -ENOMEM;
	dev = &slot->dev;
	dev->bus = &slot_bus;
	dev->release = slot_release;
	dev->dma_mask = &slot->dma_mask;
	dev->dma_parms = &slot->dma_parms;
	dma_set_max_seg_size(dev, UINT_MAX);
	device_initialize(dev);
	ret = dev_set_name(dev, KBUILD_MODNAME ".%u", index) ?:
	      dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)) ?:
	      device_add(dev);
	if (ret) {
		put_device(dev);
		return ret;
	}
	slots[index] = slot;
	return 0;
}

/**
 * ibfab_slots_init() - Create the slots.
 * @num: how many
 *
 * Context: process.
 * Return: 0, or a negative errno if nothing was created.
 */
int ibfab_slots_init(unsigned int num)
{
	unsigned int i;
	int ret;

	ret = bus_register(&slot_bus);
	if (ret)
		return ret;
	for (i = 0; i < num; i++) {
		ret = slot_create(i);
		if (ret) {
			ibfab_slots_exit();
			return ret;
		}
	}
	return 0;
}

/**
 * ibfab_slots_exit() - Remove the slots.
 *
 * Context: process; nothing is plugged in.
 */
void ibfab_slots_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		if (slots[i])
			device_unregister(&slots[i]->dev);
		slots[i] = NULL;
	}
	bus_unregister(&slot_bus);
}

/**
 * ibfab_slot() - Get the device of a slot.
 * @index: index of its HCA
 *
 * Context: any.
 * Return: the device.
 */
struct device *ibfab_slot(unsigned int index)
{
	return &slots[index]->dev;
}

/**
 * ibfab_slot_is() - Whether a device is a slot.
 * @dev: any device, or NULL
 *
 * Context: any.
 * Return: whether it is.
 */
bool ibfab_slot_is(const struct device *dev)
{
	return dev && dev->bus == &slot_bus;
}
