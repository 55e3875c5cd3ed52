// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which entry of a table that is full is given up.
 */
#include "eipoib_lru.h"

/* How many entries that are in use are passed over before one is given up nevertheless */
#define VICTIM_TRIES	16

/**
 * eipoib_lru_victim() - choose the entry to be given up
 * @queue: the queue of the table's entries, whose lock is held
 *
 * Context: any.
 * Return: the entry, which is still in the queue; or NULL if that is empty.
 */
struct eipoib_lru *eipoib_lru_victim(struct list_head *queue)
{
	struct eipoib_lru *lru = NULL;
	int i;

	for (i = 0; i < VICTIM_TRIES; i++) {
		lru = list_first_entry_or_null(queue, struct eipoib_lru, node);
		if (!lru || !READ_ONCE(lru->in_use))
			break;
		WRITE_ONCE(lru->in_use, false);
		list_move_tail(&lru->node, queue);
	}
	return lru;
}
