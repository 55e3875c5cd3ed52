/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one place for differences between kernel versions, from 6.1 on. The sources are written for
 * the newest kernel; what an older one lacks or names otherwise is defined here. Gates are on the
 * feature itself, by a macro of the kernel's or by a probe of compat.mk, and not on a version
 * number, because stable and distribution kernels carry backports.
 */
#ifndef _IPOIB_COMPAT_H
#define _IPOIB_COMPAT_H

#include <linux/dim.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>
#include <net/genetlink.h>
#include <net/rtnetlink.h>
#include <rdma/ib_verbs.h>

#ifdef COMPAT_HAVE_HEX_HEADER
#include <linux/hex.h>
#endif
#ifdef COMPAT_HAVE_UNALIGNED_HEADER
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
#ifdef COMPAT_HAVE_GSO_HEADER
#include <net/gso.h>
#endif
#ifdef COMPAT_HAVE_NETDEV_LOCK_HEADER
#include <net/netdev_lock.h>
#endif
#ifdef COMPAT_HAVE_PAGE_POOL_HELPERS
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

/* ---- Timers ---- */

#ifndef timer_container_of
#define timer_container_of	from_timer
#endif

#ifndef COMPAT_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/* ---- Modules ---- */

/* The text of a module's parameters, for what runs before they are set: KUnit's suites do, on
 * kernels that keep it.
 */
#ifdef COMPAT_HAVE_MODULE_ARGS
#define compat_module_args(module)	((const char *)(module)->args)
#else
#define compat_module_args(module)	((const char *)"")
#endif

/* ---- RCU ---- */

#ifdef COMPAT_HAVE_RCU_GP_OLDSTATE
#define compat_gp_state		rcu_gp_oldstate
#else
#define compat_gp_state		rcu_gp_seq
#endif

/* ---- Network devices ---- */

/* Since page pools hand out fragments from any pool */
#ifndef PP_FLAG_PAGE_FRAG
#define PP_FLAG_PAGE_FRAG	0
#endif

#ifndef COMPAT_HAVE_NET_DIM_POINTER
#define net_dim(dim, sample)	net_dim(dim, *(sample))
#endif

/* A netdevice whose ndo_start_xmit needs no lock. This was a feature until 6.12. */
#ifdef NETIF_F_LLTX
#define COMPAT_NETIF_F_LLTX	NETIF_F_LLTX

static inline void compat_netdev_set_lltx(struct net_device *netdev)
{
	netdev->features |= NETIF_F_LLTX;
}
#else
#define COMPAT_NETIF_F_LLTX	0

static inline void compat_netdev_set_lltx(struct net_device *netdev)
{
	netdev->lltx = true;
}
#endif

/* A netdevice that is never registered, for NAPI contexts */
#ifdef COMPAT_HAVE_NETDEV_DUMMY
static inline void compat_free_netdev_dummy(struct net_device *netdev)
{
	free_netdev(netdev);
}
#else
static inline struct net_device *alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *netdev = kzalloc(sizeof(*netdev) + sizeof_priv, GFP_KERNEL);

	if (netdev)
		init_dummy_netdev(netdev);
	return netdev;
}

static inline void compat_free_netdev_dummy(struct net_device *netdev)
{
	kfree(netdev);
}
#endif

/* Kernels with NAPI_CONFIG keep the settings of a NAPI context for its successor of this index */
#ifndef COMPAT_HAVE_NAPI_CONFIG
#define netif_napi_add_config(netdev, napi, poll, index)	netif_napi_add(netdev, napi, poll)
#endif

/* Shows in netlink which NAPI context serves a queue */
#ifndef COMPAT_HAVE_QUEUE_NAPI
enum netdev_queue_type {
	NETDEV_QUEUE_TYPE_RX,
	NETDEV_QUEUE_TYPE_TX,
};

static inline void netif_queue_set_napi(struct net_device *netdev, unsigned int queue,
					enum netdev_queue_type type, struct napi_struct *napi)
{
}
#endif

/* Shows a page pool in netlink as one of a netdevice */
static inline void compat_page_pool_set_netdev(struct page_pool_params *params,
					       struct net_device *netdev)
{
#ifdef COMPAT_HAVE_PAGE_POOL_NETDEV
	params->netdev = netdev;
#endif
}

/**
 * ipoib_gro_holds() - whether packets of a NAPI context wait in GRO
 * @napi: the context
 *
 * Context: softirq, its poll.
 */
static inline bool ipoib_gro_holds(const struct napi_struct *napi)
{
#ifdef COMPAT_HAVE_GRO_NODE
	return napi->gro.bitmask || napi->gro.rx_count;
#else
	return napi->gro_bitmask || napi->rx_count;
#endif
}

/* ---- Netlink ---- */

/* COMPAT_DEFINE_NEWLINK(name) makes an rtnl_link_ops.newlink of a function that has the newest
 * kernel's type, COMPAT_NEWLINK(name) is a pointer to it, and compat_call_newlink() calls one.
 */
#ifdef COMPAT_HAVE_NEWLINK_PARAMS
#define COMPAT_DEFINE_NEWLINK(name)
#define COMPAT_NEWLINK(name)	name

static inline int compat_call_newlink(const struct rtnl_link_ops *ops, struct net_device *netdev,
				      struct nlattr *tb[], struct nlattr *data[],
				      struct netlink_ext_ack *extack)
{
	struct rtnl_newlink_params params = {
		.src_net = dev_net(netdev),
		.tb = tb,
		.data = data,
	};

	return ops->newlink(netdev, &params, extack);
}
#else
struct rtnl_newlink_params {
	struct net *src_net;
	struct nlattr **tb;
	struct nlattr **data;
};

static inline struct net *rtnl_newlink_link_net(const struct rtnl_newlink_params *params)
{
	return params->src_net;
}

#define COMPAT_DEFINE_NEWLINK(name)							\
static int compat_##name(struct net *net, struct net_device *netdev, struct nlattr *tb[],	\
			 struct nlattr *data[], struct netlink_ext_ack *extack)		\
{											\
	struct rtnl_newlink_params params = { .src_net = net, .tb = tb, .data = data };	\
											\
	return name(netdev, &params, extack);						\
}

#define COMPAT_NEWLINK(name)	compat_##name

static inline int compat_call_newlink(const struct rtnl_link_ops *ops, struct net_device *netdev,
				      struct nlattr *tb[], struct nlattr *data[],
				      struct netlink_ext_ack *extack)
{
	return ops->newlink(dev_net(netdev), netdev, tb, data, extack);
}
#endif

/* Likewise for ndo_fdb_add and ndo_fdb_del */
#ifdef COMPAT_HAVE_FDB_NOTIFIED
#define COMPAT_DEFINE_FDB_ADD(name)
#define COMPAT_DEFINE_FDB_DEL(name)
#define COMPAT_FDB_ADD(name)	name
#define COMPAT_FDB_DEL(name)	name
#else
#define COMPAT_DEFINE_FDB_ADD(name)							\
static int compat_##name(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *netdev,	\
			 const unsigned char *addr, u16 vid, u16 flags,				\
			 struct netlink_ext_ack *extack)					\
{												\
	bool notified;										\
												\
	return name(ndm, tb, netdev, addr, vid, flags, &notified, extack);			\
}

#define COMPAT_DEFINE_FDB_DEL(name)							\
static int compat_##name(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *netdev,	\
			 const unsigned char *addr, u16 vid, struct netlink_ext_ack *extack)	\
{												\
	bool notified;										\
												\
	return name(ndm, tb, netdev, addr, vid, &notified, extack);				\
}

#define COMPAT_FDB_ADD(name)	compat_##name
#define COMPAT_FDB_DEL(name)	compat_##name
#endif

/* Returns the number of the entry that a dump of a forwarding database is to go on with */
static inline int compat_fdb_dump_idx(const struct netlink_callback *cb)
{
#ifdef COMPAT_HAVE_FDB_DUMP_CONTEXT
	return ((const struct ndo_fdb_dump_context *)cb->ctx)->fdb_idx;
#else
	return cb->args[2];
#endif
}

#ifndef COMPAT_HAVE_GENL_INFO_DUMP
static inline const struct genl_dumpit_info *genl_info_dump(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb);
}
#endif

/* ---- Tracing ---- */

#ifdef COMPAT_HAVE_ASSIGN_STR_SHORT
#define COMPAT_ASSIGN_STR(dst, src)	__assign_str(dst)
#else
#define COMPAT_ASSIGN_STR(dst, src)	__assign_str(dst, src)
#endif

/* ---- RDMA ---- */

/* The number of records that ib_sa_path_rec_get() passes on */
#ifdef COMPAT_HAVE_SA_PATH_COUNT
#define compat_sa_count_t	unsigned int
#else
#define compat_sa_count_t	int
#endif

/* The last argument of the verb create_cq */
#ifdef COMPAT_HAVE_CREATE_CQ_ATTRS
#define compat_cq_udata		uverbs_attr_bundle
#else
#define compat_cq_udata		ib_udata
#endif

/* For devices without memory regions of user space: ib_core takes one without this verb for a
 * device that no ULP can use.
 */
#ifdef COMPAT_HAVE_REG_USER_MR_DMAH
static inline struct ib_mr *compat_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
					       u64 virt, int access, struct ib_dmah *dmah,
					       struct ib_udata *udata)
#else
static inline struct ib_mr *compat_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
					       u64 virt, int access, struct ib_udata *udata)
#endif
{
	return ERR_PTR(-EOPNOTSUPP);
}

#endif /* _IPOIB_COMPAT_H */
