// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address Translation Service for InfiniBand, version 1 of the DAT Collaborative's
 * specification: keeps the SA's ServiceRecords up to date with the IP addresses of a host's
 * IPoIB interfaces. This file loads and unloads the module: it starts and stops the parts.
 */
#include <linux/module.h>
#include <linux/reboot.h>

#include "ats.h"
#include "version.h"

MODULE_DESCRIPTION("Address Translation Service for InfiniBand");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IB_IPOIB_VERSION);

/* How long unloading the module, and a reboot, wait until records are deleted */
#define ATS_EXIT_WAIT		(5 * HZ)
#define ATS_REBOOT_WAIT		(2 * HZ)
/* Seconds; a shorter lease would end while the SA is away only for a while */
#define ATS_LEASE_MIN		30

/* ATS section 2.1: records are deleted before their service goes offline */
static int reboot_event(struct notifier_block *nb, unsigned long event, void *unused)
{
	ats_hcas_leave(jiffies + ATS_REBOOT_WAIT);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_nb = { .notifier_call = reboot_event };

static int __init ats_init(void)
{
	int err;

	if (!ats_max_in_flight || !ats_max_queries || !ats_max_user_queries ||
	    !ats_sa_timeout_ms || (ats_lease && ats_lease < ATS_LEASE_MIN))
		return -EINVAL;
	err = ats_netdev_init(ats_route);
	if (err)
		return err;
	/* Its handlers use ats_netdev.c from now on, and while ats_netlink_exit() runs */
	err = ats_netlink_init();
	if (err)
		goto exit_netdev;
	err = ats_hca_init();
	if (err)
		goto exit_netlink;
	register_reboot_notifier(&reboot_nb);
	return 0;

exit_netlink:
	ats_netlink_exit();
exit_netdev:
	ats_netdev_exit();
	return err;
}

static void __exit ats_exit(void)
{
	unregister_reboot_notifier(&reboot_nb);
	ats_hca_exit(jiffies + ATS_EXIT_WAIT);
	ats_netlink_exit();
	ats_netdev_exit();
}

module_init(ats_init);
module_exit(ats_exit);
