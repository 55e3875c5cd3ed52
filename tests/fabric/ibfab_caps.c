// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Capabilities: what each HCA can do, as module parameters say. Each is a list, a
 * value for each HCA; the last value is that of all further HCAs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/moduleparam.h>

#include "ibfab.h"

#define IBFAB_MIN_SGE		2	/* ib_mad sends from two */
#define IBFAB_MAX_SGE		32
#define IBFAB_MAX_INLINE	1024

static unsigned int mtu[IBFAB_MAX_HCAS] = { 4096 };
static unsigned int num_mtu = 1;
module_param_array(mtu, uint, &num_mtu, 0444);
MODULE_PARM_DESC(mtu, "largest IB MTU of each HCA (256 to 4096, default 4096)");

static unsigned int max_sge[IBFAB_MAX_HCAS] = { 32 };
static unsigned int num_max_sge = 1;
module_param_array(max_sge, uint, &num_max_sge, 0444);
MODULE_PARM_DESC(max_sge, "scatter/gather entries of each HCA (2 to 32, default 32)");

static unsigned int max_inline[IBFAB_MAX_HCAS] = { 256 };
static unsigned int num_max_inline = 1;
module_param_array(max_inline, uint, &num_max_inline, 0444);
MODULE_PARM_DESC(max_inline, "bytes of inline data of each HCA (0 to 1024, default 256)");

static unsigned int srq[IBFAB_MAX_HCAS] = { 1 };
static unsigned int num_srq = 1;
module_param_array(srq, uint, &num_srq, 0444);
MODULE_PARM_DESC(srq, "whether each HCA has shared receive queues (0 or 1, default 1)");

static unsigned int mcast_block[IBFAB_MAX_HCAS] = { 1 };
static unsigned int num_mcast_block = 1;
module_param_array(mcast_block, uint, &num_mcast_block, 0444);
MODULE_PARM_DESC(mcast_block, "whether each HCA's QPs can block their own multicasts (0 or 1, default 1)");

struct caps_param {
	const char *name;
	const unsigned int *values;
	const unsigned int *num;
	unsigned int min;
	unsigned int max;
};

static const struct caps_param params[] = {
	{ "mtu", mtu, &num_mtu, 256, 4096 },
	{ "max_sge", max_sge, &num_max_sge, IBFAB_MIN_SGE, IBFAB_MAX_SGE },
	{ "max_inline", max_inline, &num_max_inline, 0, IBFAB_MAX_INLINE },
	{ "srq", srq, &num_srq, 0, 1 },
	{ "mcast_block", mcast_block, &num_mcast_block, 0, 1 },
};

static bool param_valid(const struct caps_param *param)
{
	unsigned int i, value;

	for (i = 0; i < *param->num; i++) {
		value = param->values[i];
		if (value < param->min || value > param->max) {
			pr_err("%s=%u is not between %u and %u\n", param->name,
			       value, param->min, param->max);
			return false;
		}
	}
	return true;
}

static bool mtus_valid(void)
{
	unsigned int i;

	for (i = 0; i < num_mtu; i++) {
		if (!is_power_of_2(mtu[i])) {
			pr_err("mtu=%u is not a power of two\n", mtu[i]);
			return false;
		}
	}
	return true;
}

/**
 * ibfab_caps_init() - Check the parameters.
 *
 * Context: process, before all else of this file.
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_caps_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (!param_valid(&params[i]))
			return -EINVAL;
	return mtus_valid() ? ibfab_offload_init() : -EINVAL;
}

static unsigned int value_of(const unsigned int *values, unsigned int num,
			     unsigned int index)
{
	return values[min(index, num - 1)];
}

/**
 * ibfab_caps_get() - What an HCA can do.
 * @index: which HCA
 * @caps: filled in
 *
 * Context: any.
 */
void ibfab_caps_get(unsigned int index, struct ibfab_caps *caps)
{
	caps->mtu = ib_mtu_int_to_enum(value_of(mtu, num_mtu, index));
	caps->max_sge = value_of(max_sge, num_max_sge, index);
	caps->max_inline = value_of(max_inline, num_max_inline, index);
	caps->srq = value_of(srq, num_srq, index);
	caps->mcast_block = value_of(mcast_block, num_mcast_block, index);
	caps->offload = ibfab_offload_caps(index);
}
