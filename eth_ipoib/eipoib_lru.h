/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which entry of a table that is full is given up.
 *
 * The entries of a table stand in a queue, the next victim first. Use of an entry is only noted in
 * it, without a lock. An entry that has been used since it was put into the queue goes to the end
 * when its turn comes.
 */
#ifndef _EIPOIB_LRU_H
#define _EIPOIB_LRU_H

#include <linux/jiffies.h>
#include <linux/list.h>

struct eipoib_lru {
	struct list_head node;		/* guarded by the table's lock */
	bool in_use;			/* since it was put at the end */
	unsigned long used;		/* jiffies of the last use */
};

/* Puts an entry that is in use now at the end of the queue */
static inline void eipoib_lru_add(struct list_head *queue, struct eipoib_lru *lru)
{
	lru->used = jiffies;
	lru->in_use = false;
	list_add_tail(&lru->node, queue);
}

/* Notes a use, but the time at most once per second, so that the cache line stays shared */
static inline void eipoib_lru_use(struct eipoib_lru *lru)
{
	if (unlikely(!READ_ONCE(lru->in_use)))
		WRITE_ONCE(lru->in_use, true);
	if (time_after(jiffies, READ_ONCE(lru->used) + HZ))
		WRITE_ONCE(lru->used, jiffies);
}

/* Returns the jiffies since the last use */
static inline unsigned long eipoib_lru_age(const struct eipoib_lru *lru)
{
	return jiffies - READ_ONCE(lru->used);
}

struct eipoib_lru *eipoib_lru_victim(struct list_head *queue);

#endif /* _EIPOIB_LRU_H */
