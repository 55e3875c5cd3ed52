/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one place for differences between kernel versions. Gates are on the
 * feature itself, which Kbuild probes for, not on a version number: stable and
 * distribution trees carry backports.
 */
#ifndef _IPOIB_COMPAT_H
#define _IPOIB_COMPAT_H

#ifndef CONFIG_PAGE_POOL
#error "ib_ipoib needs a kernel with CONFIG_PAGE_POOL, which most network drivers select"
#endif

#ifdef IPOIB_HAVE_PAGE_POOL_HELPERS
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#include <linux/netdevice.h>
#ifdef IPOIB_HAVE_GSO_HEADER
#include <net/gso.h>
#endif

/**
 * ipoib_gro_holds() - whether packets of a NAPI context wait in GRO
 * @napi: the context
 *
 * Context: softirq, its poll.
 */
static inline bool ipoib_gro_holds(const struct napi_struct *napi)
{
#ifdef IPOIB_HAVE_GRO_NODE
	return napi->gro.bitmask || napi->gro.rx_count;
#else
	return napi->gro_bitmask || napi->rx_count;
#endif
}

#endif /* _IPOIB_COMPAT_H */
