/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A port for the suites, without an HCA. The test plays the SA and controls the
 * clock. Requests to the SA and notifications to user space are recorded.
 */
#ifndef _ATS_KUNIT_H
#define _ATS_KUNIT_H

#include <kunit/test.h>
#include <linux/workqueue.h>

#include "ats.h"

#define FAKE_LOG	32	/* requests or notifications that are recorded */
#define FAKE_SEGMENTS	4	/* of an answer */
#define FAKE_HOST	1001	/* the namespace of the HCA */
#define FAKE_GUEST	1002	/* another namespace, as are the numbers that follow */
#define FAKE_GIDS	2	/* of the port */
#define FAKE_DEVS	4	/* netdevices */
#define FAKE_IFINDEX	7	/* of the first netdevice; others follow */
/* IBA 15.2.5.16: offsets in a PathRecord */
#define FAKE_PATH_DGID	8
#define FAKE_PATH_SGID	24
#define FAKE_PATH_PKEY	50

/* A request as it was posted */
struct fake_posted {
	struct ats_request *request;	/* NULL: it has ended */
	struct ats_request sent;
	bool cancelled;
};

/* An SA's answer in the form of the MAD layer */
struct fake_answer {
	struct ib_mad_recv_wc wc;
	struct ib_mad_recv_buf more[FAKE_SEGMENTS - 1];
	struct ib_sa_mad mad[FAKE_SEGMENTS];
};

/* What a scan finds of a netdevice; its index in the table distinguishes it from others */
struct fake_dev {
	u64 net_cookie;			/* FAKE_HOST at first */
	u8 guid;			/* as for fake_key() */
	unsigned int first;		/* of its addresses, as for fake_ip() */
	unsigned int count;		/* of its addresses */
	unsigned int choice;		/* the address that its administrator prefers; 0: none */
	unsigned int chosen_at;		/* number of choices, until then */
};

struct fake_port {
	struct kunit *test;
	struct ats_port port;
	struct ib_device ibdev;
	struct ib_port_data port_data[2];	/* by port number */
	struct ib_mad_agent agent;
	struct ib_qp qp;
	struct ib_ah ah;
	u16 sm_lid;
	unsigned int port_queries;	/* how often the HCA was asked about the port */
	unsigned long now;
	unsigned long next;		/* when the port's work has to run again */
	int post_error;
	struct fake_posted posted[FAKE_LOG];
	unsigned int posted_count;
	struct ats_local told[FAKE_LOG];
	unsigned int told_count;
	struct fake_dev devs[FAKE_DEVS];
	unsigned int choices;		/* made so far, by all netdevices */
	union ib_gid gids[FAKE_GIDS];
	unsigned int ports;		/* how often ats_each_port() visits this one */
	bool threaded;			/* the port's work runs when it is queued */
};

/* kunit_port.c */
int fake_port_init(struct kunit *test);
void fake_port_exit(struct kunit *test);
void fake_run(struct fake_port *fake);
size_t fake_waiting(struct fake_port *fake);
void fake_end(struct fake_port *fake, unsigned int number, enum ats_result result,
	      struct fake_answer *answer);
void fake_answer_init(struct fake_answer *answer, unsigned int records);
struct fake_answer *fake_answer_create(struct kunit *test, unsigned int records);
void fake_answer_put(struct fake_answer *answer, unsigned int offset,
		     const struct ats_record *record);
struct in6_addr fake_ip(unsigned int number);
struct ats_key fake_key(u8 guid);
void fake_scan(struct fake_port *fake);
void fake_has(struct fake_port *fake, unsigned int dev, u8 guid, unsigned int first,
	      unsigned int count);
struct ats_local *fake_local(struct fake_port *fake, unsigned int number);
struct ats_set *fake_set(struct fake_port *fake, u8 guid);

#endif /* _ATS_KUNIT_H */
