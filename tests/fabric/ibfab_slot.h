/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Slots, and the virtual functions of the HCAs in them.
 */
#ifndef _IBFAB_SLOT_H
#define _IBFAB_SLOT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ibfab_hca;

/* ibfab_slot.c */
int ibfab_slots_init(unsigned int num);
void ibfab_slots_exit(void);
struct device *ibfab_slot(unsigned int index);
bool ibfab_slot_is(const struct device *dev);

/**
 * struct ibfab_vf - A virtual function of a port
 * @node_guid: its node GUID, as it was set
 * @port_guid: its port GUID, as it was set
 * @link_state: IFLA_VF_LINK_STATE_*
 */
struct ibfab_vf {
	u64 node_guid;
	u64 port_guid;
	int link_state;
};

/* ibfab_vf.c */
int ibfab_vf_init(void);
unsigned int ibfab_vf_num(void);
int ibfab_vf_alloc(struct ibfab_hca *hca);
void ibfab_vf_free(struct ibfab_hca *hca);
int ibfab_set_vf_link_state(struct ib_device *ibdev, int vf, u32 port, int state);
int ibfab_get_vf_config(struct ib_device *ibdev, int vf, u32 port, struct ifla_vf_info *info);
int ibfab_get_vf_stats(struct ib_device *ibdev, int vf, u32 port, struct ifla_vf_stats *stats);
int ibfab_get_vf_guid(struct ib_device *ibdev, int vf, u32 port, struct ifla_vf_guid *node,
		      struct ifla_vf_guid *guid);
int ibfab_set_vf_guid(struct ib_device *ibdev, int vf, u32 port, u64 guid, int type);

#endif /* _IBFAB_SLOT_H */
