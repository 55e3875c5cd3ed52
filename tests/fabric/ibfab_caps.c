// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Capabilities: what each HCA can do, as module parameters say. Each is a list, a
 * value for each HCA; the last value is that of all further HCAs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/moduleparam.h>

#include "ibfab.h"

struct caps_param {
	const char *name;
	const unsigned int *values;
	const unsigned int *num;
	unsigned int min;
	unsigned int max;
};

/* A parameter, and what is known of it: NAME_param */
#define DEFINE_CAPS_PARAM(_name, _default, _min, _max)			\
static unsigned int _name##_values[IBFAB_MAX_HCAS] = { _default };	\
static unsigned int _name##_num = 1;					\
module_param_array_named(_name, _name##_values, uint, &_name##_num, 0444); \
static const struct caps_param _name##_param = {			\
	.name = #_name,							\
	.values = _name##_values,					\
	.num = &_name##_num,						\
	.min = _min,							\
	.max = _max,							\
}

DEFINE_CAPS_PARAM(mtu, 4096, 256, 4096);
MODULE_PARM_DESC(mtu, "largest IB MTU of each HCA (256 to 4096, default 4096)");

/* ib_mad sends from two */
DEFINE_CAPS_PARAM(max_sge, 32, 2, 32);
MODULE_PARM_DESC(max_sge, "scatter/gather entries of each HCA (2 to 32, default 32)");

DEFINE_CAPS_PARAM(max_inline, 256, 0, 1024);
MODULE_PARM_DESC(max_inline, "bytes of inline data of each HCA (0 to 1024, default 256)");

DEFINE_CAPS_PARAM(srq, 1, 0, 1);
MODULE_PARM_DESC(srq, "whether each HCA has shared receive queues (0 or 1, default 1)");

DEFINE_CAPS_PARAM(mcast_block, 1, 0, 1);
MODULE_PARM_DESC(mcast_block, "whether each HCA's QPs can block their own multicasts (0 or 1, default 1)");

/* Length of each port's P_Key table */
unsigned int ibfab_pkeys = IBFAB_SMP_PKEY_BLOCK;
module_param_named(pkeys, ibfab_pkeys, uint, 0444);
MODULE_PARM_DESC(pkeys, "P_Keys of each port (32 to 128, a multiple of 32, default 32)");

static const struct caps_param * const params[] = {
	&mtu_param, &max_sge_param, &max_inline_param, &srq_param,
	&mcast_block_param,
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

	for (i = 0; i < mtu_num; i++) {
		if (!is_power_of_2(mtu_values[i])) {
			pr_err("mtu=%u is not a power of two\n",
			       mtu_values[i]);
			return false;
		}
	}
	return true;
}

static bool pkeys_valid(void)
{
	if (ibfab_pkeys && ibfab_pkeys <= IBFAB_PKEY_TABLE_MAX &&
	    ibfab_pkeys % IBFAB_SMP_PKEY_BLOCK == 0)
		return true;
	pr_err("pkeys=%u is not a multiple of %u up to %u\n", ibfab_pkeys,
	       IBFAB_SMP_PKEY_BLOCK, IBFAB_PKEY_TABLE_MAX);
	return false;
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
		if (!param_valid(params[i]))
			return -EINVAL;
	if (!mtus_valid() || !pkeys_valid())
		return -EINVAL;
	return ibfab_offload_init();
}

static unsigned int value_of(const struct caps_param *param, unsigned int index)
{
	return param->values[min(index, *param->num - 1)];
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
	caps->mtu = ib_mtu_int_to_enum(value_of(&mtu_param, index));
	caps->max_sge = value_of(&max_sge_param, index);
	caps->max_inline = value_of(&max_inline_param, index);
	caps->srq = value_of(&srq_param, index);
	caps->mcast_block = value_of(&mcast_block_param, index);
	caps->offload = ibfab_offload_caps(index);
}
