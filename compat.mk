# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Feature probes for compat.h, included by each Kbuild: COMPAT_HAVE_NAME is defined if
# a header of the kernel matches a regular expression. Stable and distribution kernels
# carry backports, so a version would tell nothing. What is a macro needs no probe here.
# `make compat` prints what the probes find; tests/compat has what they should.
#
# $(call header,NAME,HEADER): whether there is a header.
# $(call probe,NAME,HEADER,REGEX): whether a header, as one line, matches a Perl regular
# expression, which has no comma.
header = $(if $(wildcard $(srctree)/include/$(2)),-DCOMPAT_HAVE_$(1))
probe = $(if $(shell grep -Pzqs '(?m)$(3)' $(srctree)/include/$(2) && echo y),-DCOMPAT_HAVE_$(1))

compat_flags := \
	$(call header,GSO_HEADER,net/gso.h) \
	$(call header,HEX_HEADER,linux/hex.h) \
	$(call header,NETDEV_LOCK_HEADER,net/netdev_lock.h) \
	$(call header,PAGE_POOL_HELPERS,net/page_pool/helpers.h) \
	$(call header,UNALIGNED_HEADER,linux/unaligned.h) \
	$(call probe,ASSIGN_STR_SHORT,trace/stages/stage6_event_callback.h,define __assign_str\(dst\)) \
	$(call probe,CREATE_CQ_ATTRS,rdma/ib_verbs.h,\(\*create_cq\)[^;]*uverbs_attr_bundle) \
	$(call probe,FDB_DUMP_CONTEXT,linux/rtnetlink.h,^struct ndo_fdb_dump_context {) \
	$(call probe,FDB_NOTIFIED,linux/netdevice.h,\(\*ndo_fdb_add\)[^;]*notified) \
	$(call probe,GENL_INFO_DUMP,net/genetlink.h,^genl_info_dump\b) \
	$(call probe,GRO_NODE,linux/netdevice.h,^struct gro_node {) \
	$(call probe,HRTIMER_SETUP,linux/hrtimer.h,void hrtimer_setup\b) \
	$(call probe,MODULE_ARGS,linux/module.h,^\tchar \*args;) \
	$(call probe,NET_DIM_POINTER,linux/dim.h,void net_dim\b[^;]*\*[^;]*\*) \
	$(call probe,NAPI_CONFIG,linux/netdevice.h,^netif_napi_add_config\b) \
	$(call probe,NETDEV_DUMMY,linux/netdevice.h,^struct net_device \*alloc_netdev_dummy\b) \
	$(call probe,NETDEV_STAT_OPS,net/netdev_queues.h,^struct netdev_stat_ops {) \
	$(call probe,NEWLINK_PARAMS,net/rtnetlink.h,^struct rtnl_newlink_params {) \
	$(call probe,PAGE_POOL_NETDEV,net/page_pool/types.h,^\t\tstruct net_device \*netdev;) \
	$(call probe,QUEUE_NAPI,linux/netdevice.h,^void netif_queue_set_napi\b) \
	$(call probe,RCU_GP_OLDSTATE,linux/rcutree.h,^struct rcu_gp_oldstate {) \
	$(call probe,REG_USER_MR_DMAH,rdma/ib_verbs.h,\(\*reg_user_mr\)[^;]*ib_dmah) \
	$(call probe,SA_PATH_COUNT,rdma/ib_sa.h,unsigned int num_prs)

ccflags-y += $(compat_flags)
