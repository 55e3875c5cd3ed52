/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Virtual ports, and how the SM learns of them.
 */
#ifndef _IBFAB_VPORT_H
#define _IBFAB_VPORT_H

#include <linux/completion.h>
#include <linux/workqueue.h>

#include "ibfab.h"

/**
 * struct ibfab_vport - The additional fields of a virtual port
 * @port: the port
 * @node: in &ibfab_port.vports of its physical port; read under RCU, changed under mgmt_lock
 * @alias: index of its GUID in the physical port's GUID table
 * @announce: the work that sends its GUID to the SA
 * @answered: the SA has answered, or has not answered in time; used by @announce only
 * @status: the result, 0 or a negative errno; used by @announce only
 */
struct ibfab_vport {
	struct ibfab_port *port;
	struct list_head node;
	unsigned int alias;
	struct delayed_work announce;
	struct completion answered;
	int status;
};

/**
 * ibfab_port_shares() - Whether a port shares its LIDs with other ports.
 * @port: the port of an HCA
 *
 * Context: any.
 * Return: true for virtual ports, and for physical ports that may have virtual ones.
 */
static inline bool ibfab_port_shares(const struct ibfab_port *port)
{
	return port->vport || port->aliases;
}

/* ibfab_vport.c */
int ibfab_vport_init(void);
int ibfab_vports_create(struct ibfab_hca *hca);
void ibfab_vports_destroy(struct ibfab_hca *hca);
bool ibfab_vport_is_on(unsigned int index, const struct ibfab_hca *base);
void ibfab_vport_join(struct ibfab_port *port);
void ibfab_vport_leave(struct ibfab_port *port);
void ibfab_vports_event(struct ibfab_port *base, enum ib_event_type event);
void ibfab_vport_transmit(struct ibfab_port *port, struct ibfab_pkt *pkt);

/* ibfab_alias.c */
void ibfab_alias_init(void);
void ibfab_alias_exit(void);
void ibfab_alias_create(struct ibfab_vport *vport);
void ibfab_alias_stop(struct ibfab_vport *vport);
void ibfab_alias_event(struct ibfab_vport *vport, enum ib_event_type event);

#endif /* _IBFAB_VPORT_H */
