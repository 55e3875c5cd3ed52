// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ynlats IPV4-ADDRESS: communicates with the Address Translation Service using only code that
 * the kernel's ynl-gen-c.py has generated from the family's specification. For tests; prints
 *
 *  found DEVICE/PORT P_KEY [primary]	a record of that address
 *  ended ERROR				the result of the query
 *  record IFINDEX ADDRESS STATE SID	a record of a local interface, from a dump
 *  same				if a request for the first of these has the same result
 *  port DEVICE/PORT STATE SETS		the state of a port, and the number of its registrations
 */
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>

#include "ib_ats-user.h"
#include "ynl.h"

#define ANSWER_TIMEOUT_MS	10000

static void check(struct ynl_sock *ys, int failed, const char *what)
{
	if (failed)
		errx(1, "%s: %s", what, ys->err.msg);
}

static void wait_for_message(struct ynl_sock *ys)
{
	struct pollfd pollfd = { .fd = ynl_socket_get_fd(ys), .events = POLLIN };

	if (poll(&pollfd, 1, ANSWER_TIMEOUT_MS) <= 0)
		errx(1, "no answer");
	check(ys, ynl_ntf_check(ys), "answer");
}

/* Returns whether this was the last message */
static int print_answer(const struct ib_ats_resolve_ntf_rsp *answer)
{
	if (answer->_present.error) {
		printf("ended %d\n", answer->error);
		return 1;
	}
	printf("found %s/%u 0x%04x%s\n", answer->device, answer->port, answer->pkey,
	       answer->_present.is_primary ? " primary" : "");
	return 0;
}

static void resolve(struct ynl_sock *ys, const void *addr)
{
	struct ib_ats_resolve_req *req = ib_ats_resolve_req_alloc();
	struct ynl_ntf_base_type *ntf;
	int ended = 0;

	ib_ats_resolve_req_set_kind(req, IB_ATS_KIND_ADDR);
	ib_ats_resolve_req_set_addr(req, addr, sizeof(struct in6_addr));
	check(ys, ib_ats_resolve(ys, req), "resolve");
	ib_ats_resolve_req_free(req);
	while (!ended) {
		if (!ynl_has_ntf(ys))
			wait_for_message(ys);
		while ((ntf = ynl_ntf_dequeue(ys))) {
			if (ntf->cmd == IB_ATS_CMD_RESOLVE_NTF)
				ended |= print_answer(&((struct ib_ats_resolve_ntf *)ntf)->obj);
			ynl_ntf_free(ntf);
		}
	}
}

static void record_alone(struct ynl_sock *ys, const struct ib_ats_record_get_rsp *record)
{
	struct ib_ats_record_get_req *req = ib_ats_record_get_req_alloc();
	struct ib_ats_record_get_rsp *alone;

	ib_ats_record_get_req_set_ifindex(req, record->ifindex);
	ib_ats_record_get_req_set_addr(req, record->addr, record->_present.addr_len);
	alone = ib_ats_record_get(ys, req);
	check(ys, !alone, "one record");
	if (alone->state != record->state || alone->sid != record->sid)
		errx(1, "a record is another one than in the dump");
	puts("same");
	ib_ats_record_get_rsp_free(alone);
	ib_ats_record_get_req_free(req);
}

static void print_records(struct ynl_sock *ys)
{
	struct ib_ats_record_get_req_dump *req = ib_ats_record_get_req_dump_alloc();
	struct ib_ats_record_get_list *list = ib_ats_record_get_dump(ys, req);
	char text[INET6_ADDRSTRLEN];
	int first = 1;

	check(ys, !list, "dump of records");
	ynl_dump_foreach(list, record) {
		inet_ntop(AF_INET6, record->addr, text, sizeof(text));
		printf("record %d %s %s 0x%016llx\n", record->ifindex, text,
		       ib_ats_record_state_str(record->state), record->sid);
		if (first)
			record_alone(ys, record);
		first = 0;
	}
	ib_ats_record_get_list_free(list);
	ib_ats_record_get_req_dump_free(req);
}

static void print_stats(struct ynl_sock *ys)
{
	struct ib_ats_stats_get_req_dump *req = ib_ats_stats_get_req_dump_alloc();
	struct ib_ats_stats_get_rsp_list *list = ib_ats_stats_get_dump(ys, req);

	check(ys, !list, "dump of stats");
	ynl_dump_foreach(list, port)
		printf("port %s/%u %s %llu\n", port->device, port->port,
		       ib_ats_sa_state_str(port->sa), port->counters.sets);
	ib_ats_stats_get_rsp_list_free(list);
	ib_ats_stats_get_req_dump_free(req);
}

int main(int argc, char **argv)
{
	struct in6_addr addr = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	struct ynl_error error;
	struct ynl_sock *ys;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &addr.s6_addr[12]) != 1)
		errx(2, "usage: ynlats IPV4-ADDRESS");
	ys = ynl_sock_create(&ynl_ib_ats_family, &error);
	if (!ys)
		errx(1, "%s", error.msg);
	resolve(ys, &addr);
	print_records(ys);
	print_stats(ys);
	ynl_sock_destroy(ys);
	return 0;
}
