// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packet capture. Packets that cross one port, or any cable, are written to a ring as ERF records
 * of type InfiniBand. A debugfs file empties the ring. Packets for which the ring has no room are
 * counted, and the next record tells how many were lost.
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "ibfab.h"
#include "ibtool.h"

#define ERF_TYPE_INFINIBAND	21
#define ERF_VARYING_LENGTH	0x04	/* flag: records have different lengths */
#define VCRC_BYTES		2
#define MIN_KB			16
#define MAX_KB			(256 * 1024)

static unsigned int capture_kb = 8192;
module_param(capture_kb, uint, 0644);
MODULE_PARM_DESC(capture_kb, "KiB of memory for each capture that is switched on (default 8192)");

/* Extensible Record Format: a record's header */
struct erf_header {
	__le64 ts;	/* seconds, and 32 bits of fraction */
	u8 type;
	u8 flags;	/* interface: 1..0 */
	__be16 rlen;	/* length of the record, including this header */
	__be16 lost;	/* records lost before this one */
	__be16 wlen;	/* length on the wire */
} __packed;
static_assert(sizeof(struct erf_header) == 16);

atomic_t ibfab_capture_users __read_mostly = ATOMIC_INIT(0);

/* Captures each packet once on each cable, where it is sent */
static struct ibfab_tap tap_all;

static void ring_put(struct ibfab_tap *tap, const void *data, size_t len)
{
	size_t at = tap->head % tap->size;
	size_t part = min(len, tap->size - at);

	memcpy(tap->ring + at, data, part);
	memcpy(tap->ring, data + part, len - part);
	tap->head += len;
}

static __le64 erf_time(void)
{
	u64 secs, fraction;
	u32 ns;

	secs = div_u64_rem(ktime_get_real_ns(), NSEC_PER_SEC, &ns);
	fraction = div_u64((u64)ns << 32, NSEC_PER_SEC);
	return cpu_to_le64(secs << 32 | fraction);
}

/* Called with the lock held. These links have no VCRC, so the record has zeroes in its place. */
static void put_record(struct ibfab_tap *tap, const struct ibfab_frame *frame,
		       enum ibfab_capture_dir dir)
{
	static const u8 vcrc[VCRC_BYTES];
	u16 wlen = frame->len + VCRC_BYTES;
	struct erf_header header = {
		.ts = erf_time(),
		.type = ERF_TYPE_INFINIBAND,
		.flags = ERF_VARYING_LENGTH | dir,
		.rlen = cpu_to_be16(sizeof(header) + wlen),
		.lost = cpu_to_be16(min_t(u32, tap->untold, U16_MAX)),
		.wlen = cpu_to_be16(wlen),
	};

	ring_put(tap, &header, sizeof(header));
	ring_put(tap, frame->data, frame->len);
	ring_put(tap, vcrc, sizeof(vcrc));
	tap->packets++;
	tap->untold = 0;
}

static void tap_packet(struct ibfab_tap *tap, const struct ibfab_pkt *pkt,
		       enum ibfab_capture_dir dir)
{
	size_t need = sizeof(struct erf_header) + pkt->frame->len + VCRC_BYTES;
	unsigned long flags;

	spin_lock_irqsave(&tap->lock, flags);
	if (!tap->on) {
		spin_unlock_irqrestore(&tap->lock, flags);
		return;
	}
	if (need <= tap->size - (tap->head - tap->tail)) {
		put_record(tap, pkt->frame, dir);
	} else {
		tap->lost++;
		tap->untold++;
	}
	spin_unlock_irqrestore(&tap->lock, flags);
	wake_up(&tap->wait);
}

/**
 * ibfab_capture_packet() - Capture a packet that crosses a port.
 * @port: the port
 * @pkt: the packet
 * @dir: whether the port receives or sends it
 *
 * Context: softirq.
 */
void ibfab_capture_packet(struct ibfab_port *port, const struct ibfab_pkt *pkt,
			  enum ibfab_capture_dir dir)
{
	if (READ_ONCE(port->tap.on))
		tap_packet(&port->tap, pkt, dir);
	if (dir == IBFAB_CAPTURE_XMIT && READ_ONCE(tap_all.on))
		tap_packet(&tap_all, pkt, dir);
}

/* Called with tap->reader held. The ring is kept when the capture is switched off, because it may
 * hold records that nobody has read yet.
 */
static int make_ring(struct ibfab_tap *tap)
{
	unsigned int kb = READ_ONCE(capture_kb);

	if (tap->ring)
		return 0;
	if (kb < MIN_KB || kb > MAX_KB)
		return -EINVAL;
	tap->ring = kvmalloc(kb * SZ_1K, GFP_KERNEL);
	if (!tap->ring)
		return -ENOMEM;
	tap->size = kb * SZ_1K;
	return 0;
}

static int tap_on(struct ibfab_tap *tap)
{
	int ret;

	if (tap->on)
		return 0;
	if (tap->gone)
		return -ENODEV;
	ret = make_ring(tap);
	if (ret)
		return ret;
	spin_lock_irq(&tap->lock);
	tap->on = true;
	spin_unlock_irq(&tap->lock);
	atomic_inc(&ibfab_capture_users);
	return 0;
}

static void tap_off(struct ibfab_tap *tap)
{
	if (!tap->on)
		return;
	spin_lock_irq(&tap->lock);
	tap->on = false;
	spin_unlock_irq(&tap->lock);
	wake_up_all(&tap->wait);
	atomic_dec(&ibfab_capture_users);
}

/* "on" or "off" */
static int tap_line(void *of, char *line)
{
	struct ibfab_tap *tap = of;
	int ret = 0;

	mutex_lock(&tap->reader);
	if (sysfs_streq(line, "on"))
		ret = tap_on(tap);
	else if (sysfs_streq(line, "off"))
		tap_off(tap);
	else
		ret = -EINVAL;
	mutex_unlock(&tap->reader);
	return ret;
}

IBTOOL_LINE_WRITE(tap)

/* Called with tap->reader held. New records never overwrite bytes that were not read yet, so the
 * ring can be copied without the lock.
 */
static ssize_t ring_take(struct ibfab_tap *tap, char __user *to, size_t count)
{
	size_t at, part;
	u64 there;

	spin_lock_irq(&tap->lock);
	there = tap->head - tap->tail;
	spin_unlock_irq(&tap->lock);
	if (!there)
		return 0;

	at = tap->tail % tap->size;
	part = min_t(u64, min(count, tap->size - at), there);
	if (copy_to_user(to, tap->ring + at, part))
		return -EFAULT;
	spin_lock_irq(&tap->lock);
	tap->tail += part;
	spin_unlock_irq(&tap->lock);
	return part;
}

static bool readable(struct ibfab_tap *tap)
{
	bool ret;

	spin_lock_irq(&tap->lock);
	ret = !tap->on || tap->head != tap->tail;
	spin_unlock_irq(&tap->lock);
	return ret;
}

/* Returns 0, the end of the file, when the capture is off and all records were read */
static ssize_t tap_read(struct file *file, char __user *to, size_t count,
			loff_t *pos)
{
	struct ibfab_tap *tap = file->private_data;
	ssize_t ret;

	if (!(file->f_flags & O_NONBLOCK)) {
		ret = wait_event_interruptible(tap->wait, readable(tap));
		if (ret)
			return ret;
	}
	mutex_lock(&tap->reader);
	ret = ring_take(tap, to, count);
	if (!ret && tap->on)
		ret = -EAGAIN;
	mutex_unlock(&tap->reader);
	return ret;
}

static const struct file_operations tap_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = tap_read,
	.write = tap_write,
};

/**
 * ibfab_tap_init() - Set up a capture that is off.
 * @tap: zeroed
 *
 * Context: process.
 */
void ibfab_tap_init(struct ibfab_tap *tap)
{
	spin_lock_init(&tap->lock);
	mutex_init(&tap->reader);
	init_waitqueue_head(&tap->wait);
}

/**
 * ibfab_tap_free() - Free a capture's memory.
 * @tap: a capture that is off and has no users
 *
 * Context: process.
 */
void ibfab_tap_free(struct ibfab_tap *tap)
{
	kvfree(tap->ring);
}

static void tap_end(struct ibfab_tap *tap)
{
	mutex_lock(&tap->reader);
	tap_off(tap);
	tap->gone = true;
	mutex_unlock(&tap->reader);
}

/**
 * ibfab_tap_show() - Print a capture's counters.
 * @m: the file
 * @prefix: what the counters' names begin with
 * @tap: the capture
 *
 * Context: process.
 */
void ibfab_tap_show(struct seq_file *m, const char *prefix,
		    struct ibfab_tap *tap)
{
	u64 packets, lost;

	spin_lock_irq(&tap->lock);
	packets = tap->packets;
	lost = tap->lost;
	spin_unlock_irq(&tap->lock);
	seq_printf(m, "%scapture.packets %llu\n%scapture.lost %llu\n", prefix,
		   packets, prefix, lost);
}

static int captured_show(struct seq_file *m, void *v)
{
	ibfab_tap_show(m, "", &tap_all);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(captured);

/**
 * ibfab_capture_init() - Create the capture of all cables.
 * @root: the fabric's debugfs folder
 *
 * Context: process.
 */
void ibfab_capture_init(struct dentry *root)
{
	ibfab_tap_init(&tap_all);
	debugfs_create_file("all.erf", 0600, root, &tap_all, &tap_fops);
	debugfs_create_file("captured", 0400, root, NULL, &captured_fops);
}

/**
 * ibfab_capture_exit() - Free the capture of all cables.
 *
 * Context: process; its files are removed, and no packet is on its way.
 */
void ibfab_capture_exit(void)
{
	tap_end(&tap_all);
	ibfab_tap_free(&tap_all);
}

/**
 * ibfab_capture_add_node() - Create the capture files of a node's ports.
 * @node: the node
 * @dir: its debugfs folder
 *
 * Context: process.
 */
void ibfab_capture_add_node(struct ibfab_node *node, struct dentry *dir)
{
	char name[16];
	unsigned int i;

	for (i = 1; i <= node->num_ports; i++) {
		snprintf(name, sizeof(name), "port%u.erf", i);
		debugfs_create_file(name, 0600, dir, &node->ports[i].tap,
				    &tap_fops);
	}
}

/**
 * ibfab_capture_remove_node() - End the captures of a node's ports.
 * @node: the node
 *
 * A reader gets the records that are left, and then the end of the file.
 *
 * Context: process.
 */
void ibfab_capture_remove_node(struct ibfab_node *node)
{
	unsigned int i;

	for (i = 1; i <= node->num_ports; i++)
		tap_end(&node->ports[i].tap);
}
