// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Instances of the tracepoints, and the module parameters for debug messages. */
#include <linux/module.h>

#include "ipoib.h"
#define CREATE_TRACE_POINTS
#include "ipoib_trace.h"

int ipoib_debug_level;
module_param_named(debug_level, ipoib_debug_level, int, 0644);
MODULE_PARM_DESC(debug_level, "Log debug messages about links and paths if > 0 (default 0)");

int ipoib_mcast_debug_level;
module_param_named(mcast_debug_level, ipoib_mcast_debug_level, int, 0644);
MODULE_PARM_DESC(mcast_debug_level, "Log debug messages about multicast groups if > 0 (default 0)");
