// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The capabilities of each HCA. A profile has the limits of one kind of HCA, and module parameters
 * change some of them. Each parameter is a list with a value for each HCA. If there are more HCAs
 * than values, the last value applies to the remaining HCAs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/moduleparam.h>

#include "ibfab.h"
#include "ibtool.h"

/**
 * struct profile - A kind of HCA
 * @name: the word that the module parameter has for it
 * @caps: what it can do
 */
struct profile {
	const char *name;
	struct ibfab_caps caps;
};

static const struct profile profiles[] = {
	/* Not modelled on hardware: limits so large that they are no obstacle */
	{ "virtual", {
		.mtu = IB_MTU_4096,
		.max_send_sge = 32,
		.max_recv_sge = 32,
		.max_inline = 256,
		.srq = true,
		.uc = true,
		.mcast_block = true,
		.max_qp = 65536,
		.max_qp_wr = 32768,
		.max_cqe = 1048576,
		.vectors = 1,
	} },
	/* What mlx4_ib reports of a ConnectX-3: kernel QPs have no inline data */
	{ "connectx3", {
		.mtu = IB_MTU_4096,
		.max_send_sge = 32,
		.max_recv_sge = 32,
		.srq = true,
		.uc = true,
		.mcast_block = true,
		.offload = IBFAB_OFFLOAD_CSUM | IBFAB_OFFLOAD_LSO,
		.max_qp = 393144,
		.max_qp_wr = 16351,
		.max_cqe = 4194303,
		.vectors = 4,
	} },
	/* What mlx5_ib reports of a ConnectX-4 or 5 whose netdevice offloads for itself */
	{ "connectx5", {
		.mtu = IB_MTU_4096,
		.max_send_sge = 30,
		.max_recv_sge = 32,
		.max_inline = 400,
		.srq = true,
		.uc = true,
		.mcast_block = true,
		.offload = IBFAB_OFFLOAD_CSUM | IBFAB_OFFLOAD_CSUM_LSO_QP,
		.max_qp = 262144,
		.max_qp_wr = 32768,
		.max_cqe = 4194303,
		.wqe_block = 64,
		.wqe_max = 512,
		.max_cq_period = 4095,
		.vectors = 4,
	} },
	/* Not modelled on hardware: the smallest limits with which ib_mad works, and few QPs */
	{ "small", {
		.mtu = IB_MTU_4096,
		.max_send_sge = 2,
		.max_recv_sge = 1,
		.max_qp = 16,
		.max_qp_wr = 512,
		.max_cqe = 2048,
		.vectors = 1,
	} },
};

static char *profile[IBFAB_MAX_HCAS] = { "virtual" };
static unsigned int num_profile = 1;
module_param_array(profile, charp, &num_profile, 0444);
MODULE_PARM_DESC(profile, "kind of each HCA: virtual, connectx3, connectx5 or small (default virtual)");

struct caps_param {
	const char *name;
	const unsigned int *values;
	const unsigned int *num;
	unsigned int min;
	unsigned int max;
};

/* Defines a module parameter and NAME_param, which describes it. An HCA for which the parameter has
 * no value keeps its profile's.
 */
#define DEFINE_CAPS_PARAM(_name, _min, _max)				\
static unsigned int _name##_values[IBFAB_MAX_HCAS];			\
static unsigned int _name##_num;					\
module_param_array_named(_name, _name##_values, uint, &_name##_num, 0444); \
static const struct caps_param _name##_param = {			\
	.name = #_name,							\
	.values = _name##_values,					\
	.num = &_name##_num,						\
	.min = _min,							\
	.max = _max,							\
}

DEFINE_CAPS_PARAM(mtu, 256, 4096);
MODULE_PARM_DESC(mtu, "largest IB MTU of each HCA (256 to 4096, default its profile's)");

/* ib_mad sends with two SGEs */
DEFINE_CAPS_PARAM(max_sge, 2, 32);
MODULE_PARM_DESC(max_sge, "scatter/gather entries of each HCA, to send and to receive (2 to 32, default its profile's)");

DEFINE_CAPS_PARAM(max_inline, 0, 1024);
MODULE_PARM_DESC(max_inline, "bytes of inline data of each HCA (0 to 1024, default its profile's)");

DEFINE_CAPS_PARAM(srq, 0, 1);
MODULE_PARM_DESC(srq, "whether each HCA has shared receive queues (0 or 1, default its profile's)");

DEFINE_CAPS_PARAM(uc, 0, 1);
MODULE_PARM_DESC(uc, "whether each HCA has unreliable connections (0 or 1, default its profile's)");

DEFINE_CAPS_PARAM(mcast_block, 0, 1);
MODULE_PARM_DESC(mcast_block, "whether each HCA's QPs can block their own multicasts (0 or 1, default its profile's)");

/* The length of each port's P_Key table */
unsigned int ibfab_pkeys = IBFAB_SMP_PKEY_BLOCK;
module_param_named(pkeys, ibfab_pkeys, uint, 0444);
MODULE_PARM_DESC(pkeys, "P_Keys of each port (32 to 128, a multiple of 32, default 32)");

static const struct caps_param * const params[] = {
	&mtu_param, &max_sge_param, &max_inline_param, &srq_param, &uc_param,
	&mcast_block_param,
};

static const struct profile *profile_find(const char *name)
{
	return ibtool_find(name, profiles, ARRAY_SIZE(profiles), sizeof(*profiles));
}

static bool profiles_valid(void)
{
	unsigned int i;

	for (i = 0; i < num_profile; i++) {
		if (!profile_find(profile[i])) {
			pr_err("profile=%s is not virtual, connectx3, connectx5 or small\n",
			       profile[i]);
			return false;
		}
	}
	return true;
}

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
 * ibfab_caps_init() - Check the module parameters.
 *
 * Context: process, before any other function of this file.
 * Return: 0, or -EINVAL after one line in the kernel's log.
 */
int ibfab_caps_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (!param_valid(params[i]))
			return -EINVAL;
	if (!profiles_valid() || !mtus_valid() || !pkeys_valid())
		return -EINVAL;
	return ibfab_offload_init();
}

/* The size of a send WR of an HCA that builds WRs from blocks: a control segment, the address of a
 * datagram or of remote memory, and then either 16 bytes for each SGE or the inline data and its
 * length.
 */
static u32 wqe_size(const struct ibfab_caps *caps, const struct ib_qp_init_attr *init)
{
	u32 header = ibfab_rc_is_connected(init->qp_type) ? 32 : 64;
	u32 data = 16 * init->cap.max_send_sge;

	if (init->create_flags & IB_QP_CREATE_IPOIB_UD_LSO)
		header += 32;
	if (init->cap.max_inline_data)
		data = max(data, init->cap.max_inline_data + 4);
	return ALIGN(header + data, caps->wqe_block);
}

static bool send_queue_fits(const struct ibfab_caps *caps, const struct ib_qp_init_attr *init)
{
	u32 size;

	if (!caps->wqe_block || !init->cap.max_send_wr)
		return true;
	size = wqe_size(caps, init);
	return size <= caps->wqe_max &&
	       roundup_pow_of_two(size * init->cap.max_send_wr) / caps->wqe_block <=
	       caps->max_qp_wr;
}

/**
 * ibfab_caps_qp_valid() - Whether an HCA's limits allow a QP's queues.
 * @caps: the limits of the HCA
 * @init: the QP's attributes
 *
 * Context: any.
 * Return: true if they do.
 */
bool ibfab_caps_qp_valid(const struct ibfab_caps *caps, const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	return cap->max_send_wr <= caps->max_qp_wr &&
	       cap->max_recv_wr <= caps->max_qp_wr &&
	       cap->max_send_sge <= caps->max_send_sge &&
	       cap->max_recv_sge <= caps->max_recv_sge &&
	       cap->max_inline_data <= caps->max_inline &&
	       send_queue_fits(caps, init);
}

/* The parameter's value for an HCA, or @otherwise if the parameter is not set */
static unsigned int value_of(const struct caps_param *param, unsigned int index,
			     unsigned int otherwise)
{
	return *param->num ? param->values[min(index, *param->num - 1)] : otherwise;
}

/**
 * ibfab_caps_get() - Get the capabilities of an HCA.
 * @index: the HCA's index
 * @caps: filled in
 *
 * Context: any.
 */
void ibfab_caps_get(unsigned int index, struct ibfab_caps *caps)
{
	*caps = profile_find(profile[min(index, num_profile - 1)])->caps;
	if (mtu_num)
		caps->mtu = ib_mtu_int_to_enum(value_of(&mtu_param, index, 0));
	caps->max_send_sge = value_of(&max_sge_param, index, caps->max_send_sge);
	caps->max_recv_sge = value_of(&max_sge_param, index, caps->max_recv_sge);
	caps->max_inline = value_of(&max_inline_param, index, caps->max_inline);
	caps->srq = value_of(&srq_param, index, caps->srq);
	caps->uc = value_of(&uc_param, index, caps->uc);
	caps->mcast_block = value_of(&mcast_block_param, index, caps->mcast_block);
	caps->offload = ibfab_offload_caps(index, caps->offload);
}
