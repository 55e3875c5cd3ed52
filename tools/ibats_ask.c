// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The commands resolve, reverse and sid, which show the registrations of other hosts. The
 * kernel queries the subnet administrators, and sends one message for each record found.
 */
#define _GNU_SOURCE			/* EAI_NODATA */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "ibats.h"

/* The kernel's default */
#define TIMEOUT_MS	5000

/* The answer to one question */
struct answer {
	struct json_object *rows;
	int err;
};

/* The addresses of a host */
struct host {
	struct in6_addr *ip;
	unsigned int count;
};

static const char *const columns[] = {
	"address", "gid", "pkey", "sid", "primary", "device/port", NULL
};

/* ---- Questions ---- */

/* The last message has no record, but the result of the question */
static bool answer_take(void *context, const struct nlmsghdr *message)
{
	struct answer *answer = context;
	const struct nlattr *attr;

	if (message_command(message) != IB_ATS_CMD_RESOLVE_NTF)
		return false;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != IB_ATS_ATTR_ERROR ||
		    mnl_attr_validate(attr, MNL_TYPE_U32))
			continue;
		answer->err = (int)mnl_attr_get_u32(attr);
		return true;
	}
	json_object_array_add(answer->rows, row_parse(message));
	return false;
}

static struct nlmsghdr *question_begin(struct session *session, enum ib_ats_kind kind)
{
	struct nlmsghdr *message = nl_begin(&session->nl, IB_ATS_CMD_RESOLVE, NLM_F_ACK);

	mnl_attr_put_u32(message, IB_ATS_ATTR_KIND, kind);
	filter_put_port(message);
	filter_put_pkey(message);
	if (filter_timeout_ms())
		mnl_attr_put_u32(message, IB_ATS_ATTR_TIMEOUT, filter_timeout_ms());
	return message;
}

/* Sends the question that was begun. Returns 0 or a negative error */
static int question_ask(struct session *session)
{
	struct answer answer = { .rows = session->rows };
	int err = nl_ask(&session->nl, filter_timeout_ms() ?: TIMEOUT_MS, answer_take, &answer);

	return err ?: answer.err;
}

/* Asks one question, and prints the answer. @what: the subject, for error messages */
static enum status question_run(struct session *session, const char *what, enum ib_ats_kind kind,
				enum ib_ats_attr type, size_t len, const void *subject)
{
	int err = nl_open(&session->nl);

	if (err)
		return failed(&session->nl, what, err);
	mnl_attr_put(question_begin(session, kind), type, len, subject);
	err = question_ask(session);
	table_show(session, columns, cell_text);
	nl_close(&session->nl);
	return failed(&session->nl, what, err);
}

/* ---- Addresses of hosts ---- */

static enum status host_create(struct host *host, unsigned int count)
{
	host->count = 0;
	host->ip = calloc(count, sizeof(*host->ip));
	if (host->ip)
		return STATUS_FOUND;
	fputs("ibats: there is not enough memory\n", stderr);
	return STATUS_FAILED;
}

static void host_add(struct host *host, const struct in6_addr *ip)
{
	unsigned int i;

	for (i = 0; i < host->count; i++)
		if (IN6_ARE_ADDR_EQUAL(&host->ip[i], ip))
			return;
	host->ip[host->count++] = *ip;
}

static void host_add_info(struct host *host, const struct addrinfo *info)
{
	struct in6_addr ip = {};

	if (info->ai_family == AF_INET6) {
		ip = ((const struct sockaddr_in6 *)info->ai_addr)->sin6_addr;
	} else if (info->ai_family == AF_INET) {
		ip.s6_addr[10] = 0xff;
		ip.s6_addr[11] = 0xff;
		memcpy(&ip.s6_addr[12], &((const struct sockaddr_in *)info->ai_addr)->sin_addr, 4);
	} else {
		return;
	}
	host_add(host, &ip);
}

static enum status host_unknown(const char *name, int err)
{
	const char *text = err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err);

	/* An unknown name, and a name without an address, are two different errors */
	if (err == EAI_NONAME || err == EAI_NODATA) {
		say(name, "no host of that name has an address");
		return STATUS_NOT_FOUND;
	}
	say(name, text);
	return STATUS_FAILED;
}

static enum status host_look_up(struct host *host, const char *name)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *infos, *info;
	unsigned int count = 0;
	enum status status;
	int err = getaddrinfo(name, NULL, &hints, &infos);

	if (err)
		return host_unknown(name, err);
	for (info = infos; info; info = info->ai_next)
		count++;
	status = host_create(host, count);
	for (info = infos; !status && info; info = info->ai_next)
		host_add_info(host, info);
	freeaddrinfo(infos);
	return status;
}

/* Text with only digits and dots, or with a colon, is not looked up as a host name */
static bool looks_like_address(const char *text)
{
	return strchr(text, ':') || strspn(text, "0123456789.") == strlen(text);
}

static enum status host_parse(struct host *host, const char *text)
{
	enum status status;
	struct in6_addr ip;

	if (!parse_ip(text, &ip))
		return looks_like_address(text) ? misused(text, "not an IP address") :
						  host_look_up(host, text);
	status = host_create(host, 1);
	if (!status)
		host_add(host, &ip);
	return status;
}

static const char *ip_text(const struct in6_addr *ip)
{
	static char text[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_V4MAPPED(ip))
		inet_ntop(AF_INET, &ip->s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, ip, text, sizeof(text));
	return text;
}

/* A host is found if one of its addresses is found. Other errors are printed for each address */
static enum status host_ask(struct session *session, const char *what, const struct host *host)
{
	enum status status = STATUS_NOT_FOUND;
	bool found = false;
	unsigned int i;
	int err;

	for (i = 0; i < host->count; i++) {
		mnl_attr_put(question_begin(session, IB_ATS_KIND_ADDR), IB_ATS_ATTR_ADDR,
			     sizeof(host->ip[i]), &host->ip[i]);
		err = question_ask(session);
		found = found || !err;
		if (err && err != -ENOENT)
			status = failed(&session->nl, ip_text(&host->ip[i]), err);
	}
	if (found)
		return STATUS_FOUND;
	return status == STATUS_NOT_FOUND ? failed(&session->nl, what, -ENOENT) : status;
}

/* ---- Commands ---- */

/**
 * run_resolve() - print which GIDs have an IP address, or the addresses of a host
 * @session: this run of the tool
 * @arguments: the address, or the host's name
 *
 * Return: the exit status of the tool.
 */
enum status run_resolve(struct session *session, char **arguments)
{
	struct host host = {};
	enum status status = host_parse(&host, arguments[0]);
	int err;

	if (status)
		return status;
	err = nl_open(&session->nl);
	if (err) {
		status = failed(&session->nl, arguments[0], err);
	} else {
		status = host_ask(session, arguments[0], &host);
		table_show(session, columns, cell_text);
		nl_close(&session->nl);
	}
	free(host.ip);
	return status;
}

/**
 * run_reverse() - print the IP addresses of a GID, or only its primary one
 * @session: this run of the tool
 * @arguments: the GID, optionally followed by the word "primary"
 *
 * Return: the exit status of the tool.
 */
enum status run_reverse(struct session *session, char **arguments)
{
	static const char *const words[] = { "primary", NULL };
	enum ib_ats_kind kind = IB_ATS_KIND_GID;
	struct in6_addr gid;

	if (inet_pton(AF_INET6, arguments[0], &gid) != 1)
		return misused(arguments[0], "not a GID");
	if (arguments[1]) {
		if (word_find(words, arguments[1], "what 'reverse' takes", "reverse help") < 0)
			return STATUS_USAGE;
		kind = IB_ATS_KIND_PRIMARY;
	}
	return question_run(session, arguments[0], kind, IB_ATS_ATTR_GID, sizeof(gid), &gid);
}

/**
 * run_sid() - print the records of all hosts with a Service ID
 * @session: this run of the tool
 * @arguments: the Service ID
 *
 * Return: the exit status of the tool.
 */
enum status run_sid(struct session *session, char **arguments)
{
	__u64 sid;

	if (!parse_number(arguments[0], UINT64_MAX, &sid))
		return misused(arguments[0], "not a Service ID");
	return question_run(session, arguments[0], IB_ATS_KIND_SID, IB_ATS_ATTR_SID, sizeof(sid),
			    &sid);
}
