// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory for packets. Each CPU keeps some packets that were freed on it, and reuses them. The slab
 * allocator would clear each frame, which is about to be filled anyway, and would leave its fast
 * path if there are more packets than a slab holds.
 */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "ibfab.h"

#define POOL_CLASSES	4

/* KASAN detects a use after free only if objects are really freed */
#define POOL_KEPT	(IS_ENABLED(CONFIG_KASAN) ? 0 : 128)

struct pool_class {
	const char *name;
	unsigned int size;
};

/* For struct ibfab_pkt, for MADs and small datagrams, and for the frames of two MTUs */
static const struct pool_class classes[POOL_CLASSES] = {
	{ "ibfab_pool_pkt", sizeof(struct ibfab_pkt) },
	{ "ibfab_pool_small", 384 },
	{ "ibfab_pool_2048", 2048 + 128 },
	{ "ibfab_pool_4096", 4096 + 128 },
};

/* The contents of an object that is kept */
struct pool_link {
	struct pool_link *next;
};

/* The freed objects that a CPU keeps, accessed with interrupts off */
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
 * ibfab_pool_init() - Create the pools.
 *
 * Context: process.
 * Return: 0, or -ENOMEM, after which ibfab_pool_exit() must be called.
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
 * Context: process; all objects have been given back.
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
 * ibfab_pool_get() - Allocate memory.
 * @bytes: how much, at most as much as the largest frame
 *
 * Context: any.
 * Return: the memory, which is not cleared, or NULL if there is none or @bytes is too large.
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
 * ibfab_pool_put() - Free memory.
 * @object: memory from ibfab_pool_get()
 * @bytes: the size that was passed to ibfab_pool_get()
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
