/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults on purpose: types, and each file's interface. The data path pays for
 * them a look at one number.
 */
#ifndef _IBFAB_FAULT_H
#define _IBFAB_FAULT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct dentry;
struct ibfab_cq;
struct ibfab_hca;
struct ibfab_node;
struct ibfab_pkt;
struct ibfab_port;

/* What can be done to a port, or to a packet at it; one counter each */
enum ibfab_fault {
	IBFAB_FAULT_DROP,
	IBFAB_FAULT_DUPLICATE,
	IBFAB_FAULT_DELAY,
	IBFAB_FAULT_REORDER,
	IBFAB_FAULT_PKEY,
	IBFAB_FAULT_QKEY,
	IBFAB_FAULT_SGID,
	IBFAB_FAULT_OPCODE,
	IBFAB_FAULT_STATUS,	/* a MAD's answer */
	IBFAB_FAULT_TRUNCATE,
	IBFAB_FAULT_GARBLE,
	IBFAB_FAULT_PUT,
	IBFAB_FAULT_RULES,	/* those above are rules for packets */
	IBFAB_FAULT_CABLE_DOWN = IBFAB_FAULT_RULES,
	IBFAB_FAULT_CABLE_UP,
	IBFAB_FAULT_PKEY_TABLE,
	IBFAB_FAULT_LID,
	IBFAB_FAULT_GID_PREFIX,
	IBFAB_FAULT_NUM,
};

/* A verb's number: its place among a device's */
#define IBFAB_VERB(name)	(offsetof(const struct ib_device_ops, name) / sizeof(void *))
#define IBFAB_VERBS		(sizeof(const struct ib_device_ops) / sizeof(void *))

/**
 * struct ibfab_port_faults - A port's part
 * @rules: for the packets that leave and come in; RCU
 * @count: how often each fault happened
 */
struct ibfab_port_faults {
	struct list_head rules;
	atomic64_t count[IBFAB_FAULT_NUM];
};

/**
 * struct ibfab_verb_fault - What is to become of a verb
 * @skip: calls that still succeed
 * @left: calls after them that fail
 * @error: how, a negative errno
 * @failed: how often it did
 */
struct ibfab_verb_fault {
	atomic_t skip;
	atomic_t left;
	int error;
	atomic64_t failed;
};

/**
 * struct ibfab_hca_faults - An HCA's part
 * @ops: the device's verbs as they were
 * @verb: what is to become of each
 * @late_ms: completions appear so much later
 * @late: CQs that have some which do not show yet; the engine's
 * @late_timer: kicks the engine when the first are to show
 * @late_count: completions that came late
 * @overrun_count: CQs made to overrun
 * @error_count: QPs that went to ERR without an event
 */
struct ibfab_hca_faults {
	const struct ib_device_ops *ops;
	struct ibfab_verb_fault verb[IBFAB_VERBS];
	u32 late_ms;
	struct list_head late;
	struct timer_list late_timer;
	atomic64_t late_count;
	atomic64_t overrun_count;
	atomic64_t error_count;
};

/* How many faults that are set. No static key: to patch code that runs on another CPU hangs QEMU's
 * TCG now and then.
 */
extern atomic_t ibfab_fault_users;

/**
 * ibfab_fault_any() - Whether the data path must look for faults at all.
 *
 * Return: false as long as no fault is set anywhere.
 */
static inline bool ibfab_fault_any(void)
{
	return unlikely(atomic_read(&ibfab_fault_users));
}

/* ibfab_fault.c */
void ibfab_fault_cross(struct ibfab_port *out, struct ibfab_port *in,
		       struct ibfab_pkt *pkt, struct list_head *work);
void ibfab_fault_clear(struct ibfab_node *node);
void ibfab_fault_add_node(struct ibfab_node *node, struct dentry *dir);

/* ibfab_fault_port.c */
extern const char * const ibfab_fault_names[IBFAB_FAULT_NUM];
void ibfab_fault_count(struct ibfab_port *port, enum ibfab_fault fault);
void ibfab_fault_add_ports(struct ibfab_node *node, struct dentry *dir);

/* ibfab_fault_verbs.c */
int ibfab_fault_verbs_init(struct ibfab_hca *hca);
void ibfab_fault_verbs_free(struct ibfab_hca *hca);
void ibfab_fault_add_verbs(struct ibfab_hca *hca, struct dentry *dir);

/* ibfab_fault_cq.c */
void ibfab_late_init(struct ibfab_hca *hca);
void ibfab_late_stop(struct ibfab_hca *hca);
bool ibfab_late_hide(struct ibfab_cq *cq, bool urgent);
void ibfab_late_show(struct ibfab_hca *hca);
void ibfab_fault_add_cqs(struct ibfab_hca *hca, struct dentry *dir);

/* ibfab_hotplug.c */
void ibfab_hotplug_init(struct dentry *root);
void ibfab_hotplug_exit(void);

#endif /* _IBFAB_FAULT_H */
