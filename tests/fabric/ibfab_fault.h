/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fault injection: types, and the interface of each file. As long as no fault is set, the data path
 * only reads one counter.
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

/* The faults of a port and of the packets that cross it. There is one counter for each. */
enum ibfab_fault {
	IBFAB_FAULT_DROP,
	IBFAB_FAULT_DUPLICATE,
	IBFAB_FAULT_DELAY,
	IBFAB_FAULT_REORDER,
	IBFAB_FAULT_PKEY,
	IBFAB_FAULT_QKEY,
	IBFAB_FAULT_SGID,
	IBFAB_FAULT_OPCODE,
	IBFAB_FAULT_STATUS,	/* the status of a MAD that is a response */
	IBFAB_FAULT_TRUNCATE,
	IBFAB_FAULT_GARBLE,
	IBFAB_FAULT_PUT,
	IBFAB_FAULT_RULES,	/* the faults above are rules for packets */
	IBFAB_FAULT_CABLE_DOWN = IBFAB_FAULT_RULES,
	IBFAB_FAULT_CABLE_UP,
	IBFAB_FAULT_PKEY_TABLE,
	IBFAB_FAULT_LID,
	IBFAB_FAULT_GID_PREFIX,
	IBFAB_FAULT_NUM,
};

/* The number of a verb: its position in struct ib_device_ops */
#define IBFAB_VERB(name)	(offsetof(const struct ib_device_ops, name) / sizeof(void *))
#define IBFAB_VERBS		(sizeof(const struct ib_device_ops) / sizeof(void *))

/**
 * struct ibfab_port_faults - The faults of a port
 * @rules: rules for packets that leave or come in; readers use RCU
 * @count: how often each fault happened
 */
struct ibfab_port_faults {
	struct list_head rules;
	atomic64_t count[IBFAB_FAULT_NUM];
};

/**
 * struct ibfab_verb_fault - Whether calls of a verb fail
 * @skip: how many calls still succeed
 * @left: how many calls after them fail
 * @error: the negative errno that they return
 * @failed: how many calls have failed
 */
struct ibfab_verb_fault {
	atomic_t skip;
	atomic_t left;
	int error;
	atomic64_t failed;
};

/**
 * struct ibfab_hca_faults - The faults of an HCA
 * @ops: the original verbs of the device
 * @verb: whether calls of each verb fail
 * @late_ms: by how many milliseconds completions are delayed
 * @late: CQs with completions that are not visible yet; used by the engine only
 * @late_timer: kicks the engine when the first of these completions are due
 * @late_count: completions that were delayed
 * @overrun_count: CQs that were made to overrun
 * @error_count: QPs that were taken to ERR without an event
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

/* The number of faults that are set. This is not a static key, because patching code that runs on
 * another CPU sometimes hangs QEMU's TCG.
 */
extern atomic_t ibfab_fault_users;

/**
 * ibfab_fault_any() - Whether any fault is set.
 *
 * Return: false if no fault is set anywhere, so that the data path need not look further.
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
