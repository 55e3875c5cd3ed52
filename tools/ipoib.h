/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ipoib, the command line tool of IP over InfiniBand: each file's interface.
 */
#ifndef _IPOIB_TOOL_H
#define _IPOIB_TOOL_H

#include "tool.h"

/* An InfiniBand or RoCE port, as /sys shows it. Texts are empty if there is nothing to read. */
struct port {
	char device[64];
	unsigned int number;		/* starting at 1 */
	char state[32];			/* INIT, ACTIVE, ... */
	char physical[32];		/* Polling, LinkUp, ... */
	char layer[32];			/* InfiniBand, Ethernet */
	char rate[64];
	unsigned long sm_lid;		/* 0: no SM has said that it serves the port */
	char guid[32];			/* of its first GID */
};

/* Whether and how a port is in a partition */
enum membership {
	MEMBER_UNKNOWN,			/* the table of P_Keys cannot be read */
	MEMBER_NOT,
	MEMBER_LIMITED,
	MEMBER_FULL,
};

/* An IPoIB interface, likewise */
struct link {
	const char *name;
	bool up;			/* set up by the administrator */
	bool carrier;
	char reason[32];		/* the driver's, see ipoib_reason.c; empty: it tells none */
	char parent[32];		/* of a child */
	bool parent_down;		/* the parent is here, and is not set up */
	unsigned long pkey;
	enum membership membership;
	struct port port;
};

/* ipoib_net.c: asks rtnetlink */
bool net_has_address(unsigned int index, const char *address);

/* ipoib_sys.c: reads /sys */
bool sys_is_mounted(void);
bool sys_has_devices(void);
bool sys_has_driver(void);
bool sys_is_of_namespace(const char *name, unsigned int index);
bool sys_is_ipoib(const char *name);
void sys_read_link(const char *name, struct link *link);

/* ipoib_reason.c: why an interface has no carrier, and what to do */
const char *reason_of(const struct link *link);
void reason_text(const struct link *link, const char *reason, char *text, size_t size);
void reason_advice(const struct link *link, const char *reason, char *text, size_t size);

/* ipoib_why.c: the command */
enum status run_why(struct session *session, char **arguments);

#endif /* _IPOIB_TOOL_H */
