/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packet capture: types and interface. The data path pays for it a look at one number.
 */
#ifndef _IBFAB_CAPTURE_H
#define _IBFAB_CAPTURE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct dentry;
struct ibfab_node;
struct ibfab_pkt;
struct ibfab_port;
struct seq_file;

/* As the record's interface number */
enum ibfab_capture_dir {
	IBFAB_CAPTURE_RCV,
	IBFAB_CAPTURE_XMIT,
};

/**
 * struct ibfab_tap - One capture
 * @lock: guards what follows, up to @untold. A leaf.
 * @ring: bytes, NULL if it was never on
 * @size: of @ring
 * @head: bytes ever put in
 * @tail: bytes ever taken out
 * @on: packets are put in
 * @gone: it will not be on again
 * @packets: records put in
 * @lost: records that found no room
 * @untold: of them those that no record told of yet
 * @reader: one reads, or switches on or off, at a time
 * @wait: readers wait here for something to read
 */
struct ibfab_tap {
	spinlock_t lock;	/* guards what follows, up to untold */
	u8 *ring;
	size_t size;
	u64 head;
	u64 tail;
	bool on;
	bool gone;
	u64 packets;
	u64 lost;
	u32 untold;
	struct mutex reader;	/* one at a time */
	wait_queue_head_t wait;
};

/* How many captures that are on. No static key: to patch code that runs on another CPU hangs QEMU's
 * TCG now and then.
 */
extern atomic_t ibfab_capture_users;

/**
 * ibfab_capture_any() - Whether the data path must look for captures at all.
 *
 * Return: false as long as nothing is captured anywhere.
 */
static inline bool ibfab_capture_any(void)
{
	return unlikely(atomic_read(&ibfab_capture_users));
}

/* ibfab_capture.c */
void ibfab_capture_packet(struct ibfab_port *port, const struct ibfab_pkt *pkt,
			  enum ibfab_capture_dir dir);
void ibfab_tap_init(struct ibfab_tap *tap);
void ibfab_tap_free(struct ibfab_tap *tap);
void ibfab_tap_show(struct seq_file *m, const char *prefix,
		    struct ibfab_tap *tap);
void ibfab_capture_init(struct dentry *root);
void ibfab_capture_exit(void);
void ibfab_capture_add_node(struct ibfab_node *node, struct dentry *dir);
void ibfab_capture_remove_node(struct ibfab_node *node);

#endif /* _IBFAB_CAPTURE_H */
