// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Parameters that several files use, or KUnit suites set. Documentation/ats.rst has all of them. */
#include <linux/module.h>

#include "ats.h"

unsigned int ats_max_in_flight = 8;
module_param_named(max_in_flight, ats_max_in_flight, uint, 0444);
MODULE_PARM_DESC(max_in_flight, "Registrations of a port that may be under way to an SA at once");

unsigned int ats_max_queries = 32;
module_param_named(max_queries, ats_max_queries, uint, 0444);
MODULE_PARM_DESC(max_queries, "Queries of modules that may be under way at once, for each port");

unsigned int ats_max_user_queries = 2;
module_param_named(max_user_queries, ats_max_user_queries, uint, 0444);
MODULE_PARM_DESC(max_user_queries, "Queries of user space under way at once, for each port");

unsigned int ats_netns_records = 64;
module_param_named(netns_records, ats_netns_records, uint, 0644);
MODULE_PARM_DESC(netns_records, "Addresses of a guest, another namespace, registered on a port");

bool ats_foreign_partitions;
module_param_named(foreign_partitions, ats_foreign_partitions, bool, 0644);
MODULE_PARM_DESC(foreign_partitions, "Let guests see partitions that they have no interface in");

unsigned int ats_lease;
module_param_named(lease, ats_lease, uint, 0444);
MODULE_PARM_DESC(lease, "Seconds after which the SA drops a record that is not renewed (0: never)");

unsigned int ats_linger_ms = 500;
module_param_named(linger_ms, ats_linger_ms, uint, 0644);
MODULE_PARM_DESC(linger_ms, "Milliseconds until a removed address is deleted, unless it has moved");

unsigned int ats_audit_interval = 600;
module_param_named(audit_interval, ats_audit_interval, uint, 0444);
MODULE_PARM_DESC(audit_interval, "Seconds between audits, approximately (0: only on request)");

unsigned int ats_sa_timeout_ms = 1000;
module_param_named(sa_timeout_ms, ats_sa_timeout_ms, uint, 0444);
MODULE_PARM_DESC(sa_timeout_ms, "Milliseconds that an SA may take to answer");
