/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packet capture: types and interface. As long as nothing is captured, the data path only reads one
 * counter.
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

/* Also the interface number of a record */
enum ibfab_capture_dir {
	IBFAB_CAPTURE_RCV,
	IBFAB_CAPTURE_XMIT,
};

/**
 * struct ibfab_tap - One capture
 * @lock: protects the fields up to @untold; no other lock is taken under it
 * @ring: the ring, NULL until the capture is switched on for the first time
 * @size: size of @ring in bytes
 * @head: total number of bytes written to @ring
 * @tail: total number of bytes read from @ring
 * @on: packets are captured
 * @gone: the node is going away, and the capture cannot be switched on again
 * @packets: records written
 * @lost: records for which there was no room
 * @untold: lost records that no later record has reported yet
 * @reader: serializes readers and switching on or off
 * @wait: readers wait here for records
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

/* The number of captures that are on. This is not a static key, because patching code that runs on
 * another CPU sometimes hangs QEMU's TCG.
 */
extern atomic_t ibfab_capture_users;

/**
 * ibfab_capture_any() - Whether any capture is on.
 *
 * Return: false if nothing is captured anywhere, so that the data path need not look further.
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
