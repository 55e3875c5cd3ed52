/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A meter of the work of the virtual HCAs.
 */
#ifndef _IBFAB_METER_H
#define _IBFAB_METER_H

#include <linux/jump_label.h>
#include <linux/timex.h>

struct dentry;
struct ib_device;

DECLARE_STATIC_KEY_FALSE(ibfab_metered);

void ibfab_meter_add(cycles_t cycles);

/**
 * ibfab_meter_now() - The beginning of what is counted, or is not to be counted.
 *
 * Context: interrupts or BHs disabled.
 * Return: cycles, or 0 if the meter is off.
 */
static inline cycles_t ibfab_meter_now(void)
{
	return static_branch_unlikely(&ibfab_metered) ? get_cycles() : 0;
}

/**
 * ibfab_meter_count() - Count the cycles since then.
 * @begin: from ibfab_meter_now()
 *
 * Context: interrupts or BHs disabled, as at that time.
 */
static inline void ibfab_meter_count(cycles_t begin)
{
	if (static_branch_unlikely(&ibfab_metered))
		ibfab_meter_add(get_cycles() - begin);
}

/**
 * ibfab_meter_except() - Do not count the cycles since then, which are part of what is counted.
 * @begin: from ibfab_meter_now()
 *
 * Context: interrupts or BHs disabled, as at that time.
 */
static inline void ibfab_meter_except(cycles_t begin)
{
	if (static_branch_unlikely(&ibfab_metered))
		ibfab_meter_add(begin - get_cycles());
}

/* ibfab_meter.c */
void ibfab_meter_init(void);
void ibfab_meter_add_verbs(struct ib_device *ibdev);
void ibfab_meter_add_file(struct dentry *root);

#endif /* _IBFAB_METER_H */
