// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of packets: each CPU keeps some that were freed on it, to use them again
 * at once. The slab allocator would clear every octet of a frame that is about to
 * be filled, and leave its fast path where more are under way than a slab holds.
 */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "ibfab.h"

#define POOL_CLASSES	4

/* KASAN sees the use of what was freed only if it is freed */
#define POOL_KEPT	(IS_ENABLED(CONFIG_KASAN) ? 0 : 128)

struct pool_class {
	const char *name;
	unsigned int size;
};

/* Packets' descriptions, MADs and small datagrams, and frames of two MTUs */
static const struct pool_class classes[POOL_CLASSES] = {
	{ "ibfab_pool_pkt", sizeof(struct ibfab_pkt) },
	{ "ibfab_pool_small", 384 },
	{ "ibfab_pool_2048", 2048 + 128 },
	{ "ibfab_pool_4096", 4096 + 128 },
};

/* What a free object holds */
struct pool_link {
	struct pool_link *next;
};

/* The freed objects that a CPU keeps; used with interrupts off */
struct pool {
	struct pool_link *first[POOL_CLASSES];
	unsigned int kept[POOL_CLASSES];
};

static DEFINE_PER_CPU(struct pool, pools);
static struct kmem_cache *caches[POOL_CLASSES];

static unsigned int class_of(unsigned int bytes)
{
	unsigned int i = 0;

	while (i < POOL_CLASSES && bytes > classes[i].size)
		i++;
	return i;
}

/**
 * ibfab_pool_init() - Make the pools.
 *
 * Context: process.
 * Return: 0, or -ENOMEM, and ibfab_pool_exit() is to be called.
 */
int ibfab_pool_init(void)
{
	unsigned int i;

	for (i = 0; i < POOL_CLASSES; i++) {
		caches[i] = kmem_cache_create(classes[i].name, classes[i].size,
					      0, SLAB_HWCACHE_ALIGN, NULL);
		if (!caches[i])
			return -ENOMEM;
	}
	return 0;
}

static void empty_class(struct pool *pool, unsigned int i)
{
	struct pool_link *link;

	while ((link = pool->first[i])) {
		pool->first[i] = link->next;
		kmem_cache_free(caches[i], link);
	}
	pool->kept[i] = 0;
}

/**
 * ibfab_pool_exit() - Free the pools.
 *
 * Context: process; every object was put back.
 */
void ibfab_pool_exit(void)
{
	unsigned int i;
	int cpu;

	for (i = 0; i < POOL_CLASSES; i++) {
		for_each_possible_cpu(cpu)
			empty_class(per_cpu_ptr(&pools, cpu), i);
		kmem_cache_destroy(caches[i]);
		caches[i] = NULL;
	}
}

/**
 * ibfab_pool_get() - Get memory.
 * @bytes: how much
 *
 * Context: any.
 * Return: it, not cleared; NULL without memory, or for more than a frame needs.
 */
void *ibfab_pool_get(unsigned int bytes)
{
	unsigned int i = class_of(bytes);
	struct pool_link *link;
	unsigned long flags;
	struct pool *pool;

	if (i == POOL_CLASSES)
		return NULL;
	local_irq_save(flags);
	pool = this_cpu_ptr(&pools);
	link = pool->first[i];
	if (link) {
		pool->first[i] = link->next;
		pool->kept[i]--;
	}
	local_irq_restore(flags);
	return link ?: kmem_cache_alloc(caches[i], GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * ibfab_pool_put() - Give memory back.
 * @object: from ibfab_pool_get()
 * @bytes: as then
 *
 * Context: any.
 */
void ibfab_pool_put(void *object, unsigned int bytes)
{
	unsigned int i = class_of(bytes);
	struct pool_link *link = object;
	unsigned long flags;
	struct pool *pool;

	local_irq_save(flags);
	pool = this_cpu_ptr(&pools);
	if (pool->kept[i] < POOL_KEPT) {
		link->next = pool->first[i];
		pool->first[i] = link;
		pool->kept[i]++;
		link = NULL;
	}
	local_irq_restore(flags);
	if (link)
		kmem_cache_free(caches[i], link);
}
